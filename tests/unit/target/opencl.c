/* SPDX-License-Identifier: Apache-2.0
 * The OpenCL target where no kernel of the library leads: its bits, strides below zero, no
 * elements, a loader that is none, a device that is not there, a process forked too late. Needs a
 * driver (tools/setup test installs PoCL).
 */
#include "target/opencl/opencl.h"
#include "target/bitprobe.h"
#include "target/codes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static twi_target *open_first(tw_context *ctx) {
    twi_caps caps;
    if (!twi_opencl_caps(ctx, 0, &caps)) {
        print_error("%s", tw_diag_text(ctx, false));
        fail();
    }
    return twi_opencl_open(ctx, &caps, 0);
}

static void bits(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    twi_target *t = open_first(ctx);
    const twi_probe_row *row;
    unsigned n;
    const uint32_t declared = t->caps.probe;
    const tw_status status = twi_bit_probe(t, &ctx->arena, &row, &n);
    if (status != TW_OK)
        print_error("%s", tw_diag_text(ctx, false));
    assert_int_equal(status, TW_OK);
    for (unsigned i = 0; i < n; i++)
        if (row[i].got != row[i].right)
            print_message("%s differs\n", row[i].name);
    assert_int_equal(t->caps.probe & ~declared,
                     0); /* no worse than what the driver says of itself */
    t->ops->close(t);
    tw_context_destroy(ctx);
}

/* Y[i] = X[i] + 1 over 10 elements, strides at run time. */
static twi_loop *add_one(tw_context *ctx) {
    twi_loop *loop = twi_loop_new(&ctx->arena, NULL, 0);
    loop->ctx = ctx;
    loop->kernel = twi_intern_str(&ctx->names, "add_one");
    for (unsigned k = 0; k < 2; k++) {
        const twi_larray a = {.name = twi_intern_str(&ctx->names, k ? "Y" : "X"),
                              .elem = TW_I32,
                              .rank = 1,
                              .role = k ? TWI_OUT : TWI_IN,
                              .extent = {10}};
        twi_push(loop->arena, &loop->array, a);
    }
    twi_entry entry = {.name = twi_intern_str(&ctx->names, "main")};
    const twi_step_do step = {.what = TWI_DO_LAUNCH, .grid = 5};
    twi_push(loop->arena, &entry.recipe, step);
    twi_push(loop->arena, &loop->entry, entry);
    const uint32_t f = twi_loop_func(loop, twi_intern_str(&ctx->names, "add_one_main"), 0, 0);
    loop->func.at[f].lanes = 1;
    loop->func.at[f].subs = 2;
    for (unsigned k = 1; k <= 2; k++) {
        loop->func.at[f].object.at[k].dynamic = 1;
        loop->func.at[f].object.at[k].stride[0] = 0;
    }
    twi_cursor c;
    twi_cursor_init(&c, loop, f);
    const twi_lid group = twi_lb_leaf(&c, TWI_L_ID, TW_I64, 1, TWI_LV_GRID);
    const twi_lid sub = twi_lb_leaf(&c, TWI_L_ID, TW_I64, 1, TWI_LV_SUB);
    const twi_lid at =
        twi_lb_op(&c, TWI_ADD, twi_lb_op(&c, TWI_MUL, group, twi_lb_i64(&c, 2), 0), sub, 0);
    const twi_lid x = twi_lb_load(&c, (twi_laccess){.object = 1}, &at, 1, 0, 0);
    const twi_lid y = twi_lb_op(&c, TWI_ADD, x, twi_lb_bits(&c, TW_I32, 1, 0), 0);
    twi_lb_store(&c, (twi_laccess){.object = 2}, &at, y, 0);
    return loop;
}

typedef struct {
    tw_context *ctx;
    twi_target *target;
    twi_module *module;
} fixture;

static int start(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->ctx = tw_context_create(NULL);
    f->target = open_first(f->ctx);
    const twi_loop *loop = add_one(f->ctx);
    *state = f;
    if (f->target->ops->build(f->target, &loop, 1, NULL, &f->module) == TW_OK)
        return 0;
    print_error("%s", tw_diag_text(f->ctx, false));
    return -1;
}

static int stop(void **state) {
    fixture *f = *state;
    f->target->ops->release(f->module);
    f->target->ops->close(f->target);
    tw_context_destroy(f->ctx);
    free(f);
    return 0;
}

typedef struct {
    int32_t *at; /* element 0 */
    int64_t stride;
} row;

/* Over 10 elements. */
static tw_status run(const fixture *f, row x, row y, char error[TWI_ERROR_TEXT]) {
    void *array[] = {NULL, x.at, y.at};
    int64_t shape[3 * TWI_MAX_RANK] = {0}, stride[3 * TWI_MAX_RANK] = {0};
    shape[TWI_MAX_RANK] = shape[2 * TWI_MAX_RANK] = 10;
    stride[TWI_MAX_RANK] = x.stride;
    stride[2 * TWI_MAX_RANK] = y.stride;
    const twi_launch args = {.array = array, .shape = shape, .stride = stride};
    return f->target->ops->run(f->module, 0, &args, error);
}

static void backwards_and_apart(void **state) {
    int32_t x[10], y[30];
    char error[TWI_ERROR_TEXT] = "";
    for (int i = 0; i < 30; i++)
        y[i] = -5;
    for (int i = 0; i < 10; i++)
        x[i] = 100 * i;
    const tw_status status = run(*state, (row){x + 9, -1}, (row){y + 27, -3}, error);
    assert_string_equal(error, "");
    assert_int_equal(status, TW_OK);
    for (int i = 0; i < 30; i++)
        assert_int_equal(y[i], i % 3 ? -5 : 100 * (i / 3) + 1); /* both run backwards */
}

static void too_late_to_fork(void **state) {
    const fixture *f = *state;
    int32_t x[10] = {0}, y[10];
    char error[TWI_ERROR_TEXT] = "";
    int status;
    assert_int_equal(run(f, (row){x, 1}, (row){y, 1}, error), TW_OK); /* the driver is open now */
    const pid_t child = fork();
    if (child == 0) {
        const tw_status got = run(f, (row){x, 1}, (row){y, 1}, error);
        _exit(got == TW_ERR_ENV && strstr(error, "forked") ? 7 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* Asking and building open nothing here: a child may still launch. */
static void early_enough_to_fork(void **state) {
    const fixture *f = *state;
    int32_t x[10] = {4}, y[10];
    char error[TWI_ERROR_TEXT] = "";
    int status;
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(run(f, (row){x, 1}, (row){y, 1}, error) == TW_OK && y[0] == 5 ? 7 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void refused(const char *loader, unsigned index, const char *words) {
    if (loader)
        assert_int_equal(setenv("TILEWRIGHT_OPENCL", loader, 1), 0);
    tw_context *ctx = tw_context_create(NULL);
    twi_caps caps;
    assert_false(twi_opencl_caps(ctx, index, &caps));
    assert_int_equal(tw_diag_get(ctx, 0).code, TWI_E_CL_NONE);
    if (!strstr(tw_diag_get(ctx, 0).text, words))
        print_error("%s\n", tw_diag_get(ctx, 0).text);
    assert_non_null(strstr(tw_diag_get(ctx, 0).text, words));
    tw_context_destroy(ctx);
    (void)unsetenv("TILEWRIGHT_OPENCL");
}

static void nothing_to_open(void **state) {
    (void)state;
    refused("/nowhere/libOpenCL.so", 0, "/nowhere/libOpenCL.so");
    refused("libm.so.6", 0, "no clGetPlatformIDs");
    refused(NULL, 99, "no OpenCL device 99");
}

/* The compiler's own words reach the caller. */
static void build_log(void **state) {
    fixture *f = *state;
    twi_loop *loop = add_one(f->ctx);
    twi_cursor c;
    twi_cursor_init(&c, loop, 0);
    const twi_lid zero = twi_lb_i64(&c, 0);
    const twi_lid lanes = twi_lb_lane_xor(&c, twi_lb_bits(&c, TW_I32, 1, 0), 1);
    twi_lb_store(&c, (twi_laccess){.object = 2}, &zero, lanes, 0);
    const twi_loop *bad = loop;
    twi_module *module = NULL;
    loop->func.at[0].first = zero; /* only what was added */
    assert_int_equal(f->target->ops->build(f->target, &bad, 1, NULL, &module), TW_ERR_ENV);
    assert_null(module);
    assert_int_equal(tw_diag_get(f->ctx, 0).code, TWI_E_CL_COMPILE);
    assert_non_null(strstr(tw_diag_get(f->ctx, 0).text, "add_one"));
    assert_non_null(strstr(tw_diag_get(f->ctx, 0).text, "sub_group"));
}

/* Lanes by the extension list: all three words, whole; the greatest power of two up to 16. */
static void lanes(void **state) {
    (void)state;
    static const size_t sizes[] = {8, 16, 24, 32, 64};
    const char *all =
        "cl_khr_subgroups cl_khr_subgroup_shuffle cl_intel_required_subgroup_size cl_khr_fp64";
    assert_int_equal(twi_cl_lanes(all, sizes, 5), 16);
    assert_int_equal(twi_cl_lanes(all, sizes, 1), 8);
    assert_int_equal(twi_cl_lanes(all, sizes, 0), 1);
    assert_int_equal(twi_cl_lanes(all + 1, sizes, 5), 1);
    assert_int_equal(twi_cl_lanes("cl_khr_subgroups cl_khr_subgroup_shuffle_relative "
                                  "cl_intel_required_subgroup_size",
                                  sizes, 5),
                     1);
    assert_int_equal(twi_cl_lanes("", sizes, 5), 1);
}

static const char *self;

static int print_private(void) {
    tw_context *ctx = tw_context_create(NULL);
    twi_caps caps;
    const bool found = twi_opencl_caps(ctx, 0, &caps);
    if (found)
        printf("%d %u\n", caps.unit_groups == 1, caps.group_private_bytes);
    tw_context_destroy(ctx);
    return !found;
}

/* A CPU has private arrays on the stacks of threads: asked of a process whose stacks are small. */
static void private_arrays_fit_the_stack(void **state) {
    (void)state;
    enum { STACK = 1 << 20 };
    char command[4096];
    char line[64] = "", *after = line;
    (void)snprintf(command, sizeof command, "ulimit -s %d && '%s' private", STACK / 1024, self);
    FILE *p = popen(command, "r");
    assert_non_null(p);
    assert_non_null(fgets(line, sizeof line, p));
    assert_int_equal(pclose(p), 0);
    const long cpu = strtol(line, &after, 10), bytes = strtol(after, NULL, 10);
    assert_true(after > line);
    assert_int_equal(bytes, cpu ? STACK / 2 : 0);
}

int main(int argc, char **argv) {
    self = argv[0];
    if (argc > 1 && strcmp(argv[1], "private") == 0)
        return print_private();
    const struct CMUnitTest tests[] = {
        /* first what must find OpenCL closed */
        cmocka_unit_test(private_arrays_fit_the_stack),
        cmocka_unit_test(lanes),
        cmocka_unit_test(nothing_to_open),
        cmocka_unit_test_setup_teardown(build_log, start, stop),
        cmocka_unit_test_setup_teardown(early_enough_to_fork, start, stop),
        cmocka_unit_test_setup_teardown(backwards_and_apart, start, stop),
        cmocka_unit_test_setup_teardown(too_late_to_fork, start, stop),
        cmocka_unit_test(bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
