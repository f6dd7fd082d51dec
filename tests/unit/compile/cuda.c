/* SPDX-License-Identifier: Apache-2.0
 * The CUDA target from a program to a result, on a double of the driver (tests/double/libcuda.c)
 * whose launches call a function of the test. NVRTC is needed to build. links: front
 */
#include "target/cuda/cuda.h"
#include "device.h"
#include "target/bitprobe.h"

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

static tw_context *context(void) {
    tw_context *ctx = device_context(&driver);
    driver->kernel = scale;
    count = N;
    stray = 0;
    return ctx;
}

static tw_compiled *made(tw_context *ctx, const char *test) {
    return device_made(ctx, program, N, NULL, test);
}

static void end(tw_context *ctx, tw_compiled *c) { device_end(ctx, c, driver); }

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
    const tw_code code = tw_compiled_code(c, 0);
    assert_true(strncmp(code.name, "K_scale_", 8) == 0 && code.registers > 4 && code.code_bytes);
    assert_null(tw_compiled_code(c, 100).name);
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
        {2, 0, 0, 0, TW_ERR_MEMORY, {"cuModuleLoadDataEx", "CUDA_ERROR_OUT_OF_MEMORY"}},
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
    assert_int_equal(driver->illegal, 0);
    assert_true(t.cold_ns >= 0 && t.host_ns[4] >= 0);
    assert_int_equal(t.batches, 5);
    assert_true(t.median_ns > 2e6 / 100 * 0.999 && t.median_ns < 2e6 / 100 * 1.001);
    assert_false(t.before.known); /* no NVML */
    twi_cuda *target = (twi_cuda *)tw_compiled_kernel(c)->target;
    target->nvml_path = ctx->env.cuda; /* the double is one too */
    target->asked_nvml = false;
    assert_int_equal(tw_kernel_time(tw_compiled_kernel(c), &o.call, true, &t), TW_OK);
    assert_true(t.before.known && t.after.known && t.before.throttle == 4);
    assert_int_equal(t.before.sm_mhz, 1980);
    assert_int_equal(t.after.celsius, t.before.celsius + 1);
    target->base.caps.ceiling_launch_ns = 25000; /* a replay of 100 takes 2 ms */
    assert_int_equal(tw_kernel_time(tw_compiled_kernel(c), &o.call, true, &t), TW_ERR_ENV);
    assert_non_null(strstr(o.call.error, "took 20000 ns, less than the 25000 ns"));
    target->base.caps.ceiling_launch_ns = 21000; /* within what clocks differ by */
    assert_int_equal(tw_kernel_time(tw_compiled_kernel(c), &o.call, true, &t), TW_OK);
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
        assert_int_equal(device_compile(ctx, program, rows[k].target, N, NULL, &c), TW_ERR_ENV);
        assert_non_null(strstr(tw_diag_text(ctx, false), rows[k].said));
        tw_context_destroy(ctx);
    }
}

/* Every kernel of the ceilings is compiled, launched and timed; the text has what was found. */
static void ceilings(void **state) {
    (void)state;
    tw_context *ctx = context();
    const char *text;
    driver->kernel = NULL;
    driver->replay_ms = 100; /* 1 ms an operation */
    const tw_status status = tw_target_measured(ctx, "cuda", &text);
    if (status != TW_OK && strstr(tw_diag_text(ctx, false), "NVRTC, which compiles")) {
        print_message("SKIPPED ceilings: no NVRTC\n");
        skip();
    }
    if (status != TW_OK)
        fail_msg("%s", tw_diag_text(ctx, false));
    twi_caps caps;
    assert_true(twi_caps_parse(ctx, "measured", text, strlen(text), &caps));
    assert_true(caps.ceiling_launch_ns > 0.999e6 && caps.ceiling_launch_ns < 1.001e6);
    const double bytes = 1073741824; /* a read, and half read and half written */
    assert_true(caps.ceiling_read_byte_ns * bytes > 0.999e6);
    assert_true(caps.ceiling_read_byte_ns * bytes < 1.001e6);
    assert_true(caps.ceiling_copy_byte_ns * bytes < 1.001e6);
    const double flops = 2.0 * 8 * 2048 * 512 * 16 * 132; /* of the greatest grid */
    assert_true(caps.ceiling_flop_ns * flops > 0.999e6 && caps.ceiling_flop_ns * flops < 1.001e6);
    end(ctx, NULL);
}

/* More groups than a launch takes are several launches, each told its first group. */
static void many_groups(void **state) {
    (void)state;
    tw_context *ctx = context();
    const int64_t grid = INT64_C(4294967295);
    tw_compiled *c = device_made(ctx, program, grid * 32, "groups=4294967295", "many_groups");
    if (!c)
        skip();
    tw_kernel *k = tw_compiled_kernel(c);
    twi_cuda_module *m = (twi_cuda_module *)k->module;
    char error[TWI_ERROR_TEXT];
    void *array[3] = {0};
    int64_t numbers[3 * TWI_MAX_RANK] = {0};
    uint64_t scalar[2] = {0};
    const twi_launch args = {
        .array = array, .scalar = scalar, .stride = numbers, .shape = numbers, .trip = numbers};
    twi_cuda_visit v;
    driver->kernel = only_count;
    assert_int_equal(twi_cuda_enter(&v, m, NULL, false, error), TW_OK);
    assert_int_equal(twi_cuda_queue(&v, 0, &args), TW_OK);
    assert_int_equal(driver->launches, 3); /* of 2^31 - 1 groups at most */
    assert_true(driver->last_group == grid);
    twi_cuda_leave(&v);
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
        cmocka_unit_test(no_device), cmocka_unit_test(many_groups), cmocka_unit_test(ceilings),
        cmocka_unit_test(bit_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
