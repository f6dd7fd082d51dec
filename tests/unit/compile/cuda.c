/* SPDX-License-Identifier: Apache-2.0
 * The CUDA target from a program to a result, on a double of the driver (tests/double/libcuda.c)
 * whose launches call a function of the test. NVRTC is needed to build. links: front
 */
#include "target/cuda/cuda.h"
#include "double/libcuda.h"
#include "run/kernel.h"
#include "target/bitprobe.h"
#include "tilewright/compile.h"
#include "tilewright/program.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char program[] = "kernel scale(X: f32[N], out Y: f32[N], by: f32 = 2) {\n"
                              "    parallel n: N {\n"
                              "        Y[n] = X[n] * by\n"
                              "    }\n"
                              "}\n";
enum { N = 37 };
static tw_double_cuda *driver;
static int64_t count; /* elements of the kernel at hand */
static long stray;    /* an element beside Y that the kernel writes too; 0: none */
static uintptr_t seen_y;

/* What K_scale_.. does, all at once: X, Y, by, first. */
static void scale(const char *name, unsigned groups, unsigned workers, unsigned shared,
                  void **parameter) {
    const float *x = *(const float **)parameter[0];
    float *y = *(float **)parameter[1];
    const float by = *(const float *)parameter[2];
    assert_true(strncmp(name, "K_scale_", 8) == 0 && groups > 0 && workers % 32 == 0);
    assert_int_equal(shared, 0);
    for (int64_t i = 0; i < count; i++)
        y[i] = x[i] * by;
    if (stray)
        y[stray] = 1;
    seen_y = (uintptr_t)y;
}

static void only_count(const char *name, unsigned groups, unsigned workers, unsigned shared,
                       void **parameter) {
    (void)name, (void)workers, (void)shared;
    assert_true(*(const long long *)parameter[3] == driver->last_group); /* goes on there */
    driver->last_group += groups;
}

static tw_status make(tw_context *ctx, const char *target, int64_t n, const char *pin,
                      tw_compiled **c) {
    const tw_dim_value dims[] = {{"N", n}};
    tw_compile_options o = tw_compile_options_defaults();
    tw_program *p = tw_program_parse(ctx, "scale.tile", program, strlen(program));
    o.dims = dims;
    o.n_dims = 1;
    o.target = target;
    o.pins = &pin;
    o.n_pins = pin != NULL;
    return tw_compile(ctx, tw_program_build(p, 0, NULL, 0), &o, c);
}

static tw_context *context(void) {
    static const char path[] = TW_BINARY_DIR "/tests/libtw_double_cuda.so";
    tw_context *ctx = tw_context_create(NULL);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    driver = dlsym(handle, "tw_double");
    assert_non_null(driver);
    *driver = (tw_double_cuda){.devices = 1, .major = 9, .replay_ms = 0.5f, .kernel = scale};
    count = N;
    stray = 0;
    ctx->env.cuda = path;
    return ctx;
}

/* NULL: skipped, by name. */
static tw_compiled *made(tw_context *ctx, const char *test) {
    tw_compiled *c = NULL;
    if (make(ctx, "cuda", N, NULL, &c) != TW_OK) {
        if (!strstr(tw_diag_text(ctx, false), "NVRTC, which compiles"))
            fail_msg("%s", tw_diag_text(ctx, false));
        print_message("SKIPPED %s: no NVRTC\n", test);
        tw_context_destroy(ctx);
    }
    return c;
}

static void end(tw_context *ctx, tw_compiled *c) {
    tw_compiled_release(c);
    assert_int_equal(driver->modules, 0);
    assert_int_equal(driver->pushed, 0);
    assert_int_equal(driver->allocated, 0);
    assert_int_equal(driver->streams, 0);
    assert_int_equal(driver->graphs, 0);
    assert_int_equal(driver->events, 0);
    tw_context_destroy(ctx);
}

typedef struct {
    float x[N + 8], y[N + 8];
    int64_t shape[1];
    tw_tensor tx, ty;
    const tw_tensor *both[2];
    tw_call call;
} operands;

static void prepare(operands *o, unsigned shift) {
    memset(o, 0, sizeof *o);
    for (int i = 0; i < N + 8; i++)
        o->x[i] = (float)(i + 1), o->y[i] = -1;
    o->shape[0] = N;
    o->tx = (tw_tensor){.data = o->x + shift,
                        .device = {1, 0},
                        .rank = 1,
                        .dtype = tw_elem_dtype(TW_F32),
                        .shape = o->shape};
    o->ty = o->tx;
    o->ty.data = o->y + shift;
    o->both[0] = &o->tx;
    o->both[1] = &o->ty;
    o->call = (tw_call){.tensor = o->both, .tensors = 2};
}

/* Results come back, nothing else changes, and addresses keep what the host's say of alignment. */
static void runs(void **state) {
    (void)state;
    tw_context *ctx = context();
    tw_compiled *c = made(ctx, "runs");
    if (!c)
        skip();
    for (unsigned shift = 0; shift < 4; shift++) {
        operands *o = aligned_alloc(256, 1024);
        prepare(o, shift);
        assert_int_equal(tw_kernel_run(tw_compiled_kernel(c), &o->call), TW_OK);
        assert_int_equal(seen_y % 256, (uintptr_t)(o->y + shift) % 256);
        for (int i = 0; i < N + 8; i++) {
            const int at = i - (int)shift;
            assert_true(o->y[i] == (at >= 0 && at < N ? 2.0f * (float)(i + 1) : -1.0f));
        }
        free(o);
    }
    assert_int_equal(driver->launches, 4);
    assert_int_equal(driver->modules, 1);
    end(ctx, c);
}

static void faults(void **state) {
    (void)state;
    static const struct {
        int load, launch, wait;
        long stray;
        tw_status status;
        const char *said[2];
    } rows[] = {
        {0, 701, 0, 0, TW_ERR_ENV, {"K_scale_", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"}},
        {0, 0, 700, 0, TW_ERR_ENV, {"kernel scale", "CUDA_ERROR_ILLEGAL_ADDRESS"}},
        {209, 0, 0, 0, TW_ERR_ENV, {"cuModuleLoadDataEx", "no kernel image"}},
        {0, 0, 0, -1, TW_ERR_WRONG, {"wrote beside Y", ""}},
        {0, 0, 0, N, TW_ERR_WRONG, {"wrote beside Y", ""}},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        tw_context *ctx = context();
        tw_compiled *c = made(ctx, "faults");
        if (!c)
            skip();
        operands o;
        prepare(&o, 0);
        driver->load_result = rows[k].load;
        driver->launch_result = rows[k].launch;
        driver->wait_result = rows[k].wait;
        stray = rows[k].stray;
        assert_int_equal(tw_kernel_run(tw_compiled_kernel(c), &o.call), rows[k].status);
        for (unsigned i = 0; i < 2; i++)
            if (!strstr(o.call.error, rows[k].said[i]))
                fail_msg("'%s' lacks '%s'", o.call.error, rows[k].said[i]);
        end(ctx, c);
    }
}

/* A replay of 100 operations takes what the double says. */
static void timed(void **state) {
    (void)state;
    tw_context *ctx = context();
    tw_compiled *c = made(ctx, "timed");
    if (!c)
        skip();
    operands o;
    tw_timing t;
    prepare(&o, 0);
    driver->replay_ms = 2;
    assert_int_equal(tw_kernel_time(tw_compiled_kernel(c), &o.call, true, &t), TW_OK);
    assert_int_equal(driver->captured, 100);
    assert_int_equal(t.batches, 5);
    assert_true(t.median_ns > 2e6 / 100 * 0.999 && t.median_ns < 2e6 / 100 * 1.001);
    driver->replay_ms = 0; /* a clock that stands still */
    assert_int_equal(tw_kernel_time(tw_compiled_kernel(c), &o.call, true, &t), TW_ERR_ENV);
    assert_non_null(strstr(o.call.error, "clock"));
    end(ctx, c);
}

static void no_device(void **state) {
    (void)state;
    static const struct {
        const char *target;
        int init;
        const char *said;
    } rows[] = {{"cuda:5", 0, "there is no device 5: the driver sees 1"},
                {"cuda", 100, "cuInit: CUDA_ERROR_OTHER"}};
    for (size_t k = 0; k < 2; k++) {
        tw_context *ctx = context();
        tw_compiled *c;
        driver->init_result = rows[k].init;
        assert_int_equal(make(ctx, rows[k].target, N, NULL, &c), TW_ERR_ENV);
        assert_non_null(strstr(tw_diag_text(ctx, false), rows[k].said));
        tw_context_destroy(ctx);
    }
}

/* More groups than a launch takes are several launches, each told its first group. */
static void many_groups(void **state) {
    (void)state;
    tw_context *ctx = context();
    tw_compiled *c;
    const int64_t grid = INT64_C(4294967295);
    if (make(ctx, "cuda", grid * 32, "groups=4294967295", &c) != TW_OK) {
        if (!strstr(tw_diag_text(ctx, false), "NVRTC, which compiles"))
            fail_msg("%s", tw_diag_text(ctx, false));
        print_message("SKIPPED many_groups: no NVRTC\n");
        skip();
    }
    tw_kernel *k = tw_compiled_kernel(c);
    twi_cuda_module *m = (twi_cuda_module *)k->module;
    char error[TWI_ERROR_TEXT];
    void *array[3] = {0};
    int64_t numbers[3 * TWI_MAX_RANK] = {0};
    uint64_t scalar[2] = {0};
    const twi_launch args = {
        .array = array, .scalar = scalar, .stride = numbers, .shape = numbers, .trip = numbers};
    twi_cu_stream stream;
    driver->kernel = only_count;
    assert_int_equal(twi_cuda_enter(m, error), TW_OK);
    twi_cuda *t = (twi_cuda *)k->target;
    assert_int_equal(t->cu.stream_create(&stream, 1), 0);
    assert_int_equal(twi_cuda_queue(m, 0, &args, stream, error), TW_OK);
    assert_int_equal(driver->launches, 3); /* of 2^31 - 1 groups at most */
    assert_true(driver->last_group == grid);
    (void)t->cu.stream_destroy(stream);
    twi_cuda_leave(m);
    end(ctx, c);
}

/* Every operation of the bit probe is compiled, and judged by what comes back: the double computes
 * nothing, so all classes fail. */
static void bit_probe(void **state) {
    (void)state;
    tw_context *ctx = context();
    twi_caps caps;
    driver->kernel = NULL;
    assert_true(twi_caps_named(ctx, "sm_90a", &caps));
    twi_target *t = twi_cuda_open(ctx, &(twi_cuda_options){&caps, 0});
    const tw_status status = twi_bit_probe(t, &ctx->arena, NULL, NULL);
    if (status != TW_OK && strstr(tw_diag_text(ctx, false), "NVRTC, which compiles")) {
        print_message("SKIPPED bit_probe: no NVRTC\n");
        skip();
    }
    if (status != TW_OK)
        fail_msg("%s", tw_diag_text(ctx, false));
    assert_int_equal(t->caps.probe, 2 * TWI_PROBE_NARROW - 1);
    assert_int_equal(driver->launches, 1);
    t->ops->close(t);
    end(ctx, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs),      cmocka_unit_test(faults),      cmocka_unit_test(timed),
        cmocka_unit_test(no_device), cmocka_unit_test(many_groups), cmocka_unit_test(bit_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
