/* SPDX-License-Identifier: Apache-2.0
 * Calls of kernels: what is refused and in which words, which entry runs, recipes, scalars, fills,
 * timing. On the null target (which records launches), the CPU and the interpreter.
 */
#include "run/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROWS = 4, COLUMNS = 6 };

typedef struct {
    tw_context *ctx;
    twi_null_log log;
    twi_target *target;
    tw_kernel *kernel;
    float x[ROWS * COLUMNS], y[ROWS * COLUMNS + 8];
    int64_t shape[2];
    tw_tensor tx, ty;
    const tw_tensor *tensor[2];
    tw_scalar scalar[2];
    tw_call call;
} fixture;

static void add_array(tw_ir *ir, const char *name, twi_role role, bool has_fill) {
    twi_array a = {.name = twi_intern_str(&ir->ctx->names, name),
                   .elem = TW_F32,
                   .rank = 2,
                   .role = (uint8_t)role,
                   .has_fill = has_fill,
                   .fill = 0x40e00000 /* 7 */};
    a.dim[0] = twi_ix_const(ir, ROWS);
    a.dim[1] = twi_ix_const(ir, COLUMNS);
    twi_push(ir->arena, &ir->array, a);
}

/* scale: T = X * a + b ; Y = T (row 0 of Y stays as filled). Strides are read at run time. */
static void make_function(twi_loop *loop, const char *name, uint32_t entry, uint32_t scope) {
    twi_cursor c;
    const uint32_t f = twi_loop_func(loop, twi_intern_str(&loop->ctx->names, name), entry, scope);
    loop->func.at[f].explicit_lanes = true;
    for (uint32_t i = 1; i < 4; i++)
        if (loop->array.at[i].role != TWI_TEMP) {
            loop->func.at[f].object.at[i].dynamic = 3;
            memset(loop->func.at[f].object.at[i].stride, 0, sizeof(int64_t) * 2);
        }
    twi_cursor_init(&c, loop, f);
    const twi_lid r = twi_lb_leaf(&c, TWI_L_ID, TW_I64, 1, TWI_LV_GRID);
    if (scope == 1)
        twi_lb_if(&c, twi_lb_op(&c, TWI_GT, r, twi_lb_i64(&c, 0), 0));
    const twi_lid w = twi_lb_for(&c, twi_lb_i64(&c, 0), twi_lb_i64(&c, COLUMNS), 1);
    const twi_lid at[] = {r, w};
    twi_lid v = twi_lb_load(&c, (twi_laccess){.object = scope ? 3 : 1, .dim = 1}, at, 1, 0, 0);
    if (scope == 0) {
        v = twi_lb_op(&c, TWI_MUL, v, twi_lb_leaf(&c, TWI_L_LSCALAR, TW_F32, 1, 1), 0);
        v = twi_lb_op(&c, TWI_ADD, v,
                      twi_lb_cast(&c, TW_F32, twi_lb_leaf(&c, TWI_L_LSCALAR, TW_I32, 1, 2)), 0);
    }
    twi_lb_store(&c, (twi_laccess){.object = scope ? 2 : 3, .dim = 1}, at, v, 0);
    twi_lb_close(&c);
    if (scope == 1)
        twi_lb_close(&c);
}

static twi_loop *make_loop(tw_context *ctx, twi_arena *arena) {
    tw_ir *ir = TWI_NEW(arena, tw_ir);
    ir->ctx = ctx;
    ir->arena = arena;
    ir->kernel = twi_intern_str(&ctx->names, "scale");
    twi_push(arena, &ir->ix, (twi_ix_node){0});
    twi_push(arena, &ir->array, (twi_array){0});
    add_array(ir, "X", TWI_IN, false);
    add_array(ir, "Y", TWI_OUT, true);
    add_array(ir, "T", TWI_TEMP, false);
    twi_push(arena, &ir->scalar, (twi_scalar){0});
    twi_push(arena, &ir->scalar,
             ((twi_scalar){.name = twi_intern_str(&ctx->names, "a"),
                           .elem = TW_F32,
                           .has_default = true,
                           .bits = 0x40000000 /* 2 */}));
    twi_push(arena, &ir->scalar,
             ((twi_scalar){.name = twi_intern_str(&ctx->names, "b"),
                           .elem = TW_I32,
                           .has_default = true,
                           .bits = 1}));
    twi_loop *loop = twi_loop_new(arena, ir, 0);
    for (uint32_t e = 0; e < 2; e++) {
        twi_entry entry = {.name = twi_intern_str(&ctx->names, e ? "aligned16" : "main")};
        const twi_step_do steps[] = {{.what = TWI_DO_FILL, .array = 2},
                                     {.what = TWI_DO_LAUNCH, .func = 2 * e, .grid = ROWS},
                                     {.what = TWI_DO_LOOP, .lo = 3, .hi = 5},
                                     {.what = TWI_DO_LAUNCH, .func = 2 * e + 1, .grid = ROWS},
                                     {.what = TWI_DO_END}};
        for (unsigned i = 0; i < 5; i++)
            twi_push(arena, &entry.recipe, steps[i]);
        for (uint32_t i = 0; i < 4; i++)
            twi_push(arena, &entry.align, e && i == 1 ? 16u : 0u);
        twi_push(arena, &loop->entry, entry);
    }
    make_function(loop, "scale_main", 0, 0);
    make_function(loop, "scale_main_1", 0, 1);
    make_function(loop, "scale_aligned16", 1, 0);
    make_function(loop, "scale_aligned16_1", 1, 1);
    return loop;
}

static void fresh_call(fixture *f) {
    f->shape[0] = ROWS;
    f->shape[1] = COLUMNS;
    for (unsigned i = 0; i < ROWS * COLUMNS; i++) {
        f->x[i] = (float)i;
        f->y[i] = -1.0f;
    }
    f->tx = (tw_tensor){.data = f->x,
                        .device = {1, 0},
                        .rank = 2,
                        .dtype = tw_elem_dtype(TW_F32),
                        .shape = f->shape};
    f->ty = f->tx;
    f->ty.data = f->y;
    f->tensor[0] = &f->tx;
    f->tensor[1] = &f->ty;
    f->scalar[0].f = 0.5;
    f->scalar[1].i = -3;
    f->call = (tw_call){
        .tensor = f->tensor, .tensors = 2, .scalar = f->scalar, .scalars = 2, .threads = 1};
}

static int start_on(void **state, int which) {
    fixture *f = calloc(1, sizeof *f);
    twi_arena arena;
    twi_module *module = NULL;
    twi_caps caps;
    f->ctx = tw_context_create(NULL);
    twi_caps_default(&caps);
    f->target = which == 0   ? twi_null_open(f->ctx, &f->log)
                : which == 1 ? twi_cpu_open(f->ctx, NULL)
                             : twi_interp_open(f->ctx, &caps);
    twi_arena_init(&arena, &f->ctx->mem);
    const twi_loop *loop = make_loop(f->ctx, &arena);
    if (f->target->ops->build(f->target, &loop, 1, NULL, &module) != TW_OK)
        print_error("%s", tw_diag_text(f->ctx, false));
    f->kernel = twi_kernel_new(f->target, module, &arena);
    fresh_call(f);
    *state = f;
    return 0;
}
static int start_null(void **state) { return start_on(state, 0); }
static int start_cpu(void **state) { return start_on(state, 1); }
static int start_interp(void **state) { return start_on(state, 2); }

static int stop(void **state) {
    fixture *f = *state;
    tw_kernel_destroy(f->kernel);
    const bool balanced = f->log.releases == f->log.builds;
    f->target->ops->close(f->target);
    tw_context_destroy(f->ctx);
    free(f);
    return balanced ? 0 : -1;
}

static void describes_itself(void **state) {
    const fixture *f = *state;
    assert_int_equal(tw_kernel_arrays(f->kernel), 2); /* T is nobody's argument */
    const tw_argument y = tw_kernel_array(f->kernel, 1);
    assert_string_equal(y.name, "Y");
    assert_int_equal(y.role, TW_ROLE_OUT);
    assert_int_equal(y.rank, 2);
    assert_int_equal(y.shape[1], COLUMNS);
    assert_int_equal(tw_kernel_array(f->kernel, 2).elem, TW_NONE);
    assert_int_equal(tw_kernel_scalars(f->kernel), 2);
    assert_string_equal(tw_kernel_scalar(f->kernel, 1).name, "b");
}

static void recipe_runs_in_order(void **state) {
    fixture *f = *state;
    assert_int_equal(tw_kernel_run(f->kernel, &f->call), TW_OK);
    assert_int_equal(f->log.launches, 3);
    const uint32_t base = f->log.func[0]; /* 0 or 2, by the alignment of f->x */
    assert_true(base == ((uintptr_t)f->x % 16 == 0 && COLUMNS * 4 % 16 == 0 ? 2u : 0u));
    for (unsigned k = 1; k < 3; k++) {
        assert_int_equal(f->log.func[k], base + 1);
        assert_int_equal(f->log.grid[k], ROWS);
        assert_int_equal(f->log.trip[k], 2 + k);
    }
    for (unsigned i = 0; i < ROWS * COLUMNS; i++)
        assert_true(f->y[i] == 7.0f);
}

static void facts_pick_the_entry(void **state) {
    fixture *f = *state;
    static _Alignas(16) float wide[ROWS * 8 + 4];
    int64_t strides[] = {8, 1};
    f->tx.data = wide;
    f->tx.strides = strides;
    assert_string_equal(tw_kernel_entry(f->kernel, &f->call), "aligned16");
    f->tx.byte_offset = 4;
    assert_string_equal(tw_kernel_entry(f->kernel, &f->call), "main");
    f->tx.byte_offset = 0;
    strides[0] = 7;
    assert_string_equal(tw_kernel_entry(f->kernel, &f->call), "main");
    strides[0] = -8;
    f->tx.byte_offset = 3 * 8 * 4;
    assert_string_equal(tw_kernel_entry(f->kernel, &f->call), "aligned16");
}

static void failures_reach_the_caller(void **state) {
    fixture *f = *state;
    f->log.fail = TW_ERR_ENV;
    assert_int_equal(tw_kernel_run(f->kernel, &f->call), TW_ERR_ENV);
    assert_non_null(strstr(f->call.error, "on demand"));
    assert_int_equal(f->log.launches, 1);
}

typedef struct {
    const char *says;
    void (*spoil)(fixture *f);
} wrong;
static int64_t odd_shape[] = {ROWS, COLUMNS + 1}, zero_strides[] = {0, 1}, close_strides[] = {3, 1},
               huge_strides[] = {INT64_MAX / 4, 1};
static void too_few(fixture *f) { f->call.tensors = 1; }
static void no_tensor(fixture *f) { f->tensor[1] = NULL; }
static void other_device(fixture *f) { f->tx.device.type = 2; }
static void other_type(fixture *f) { f->tx.dtype = tw_elem_dtype(TW_I32); }
static void other_rank(fixture *f) { f->tx.rank = 1; }
static void other_shape(fixture *f) { f->tx.shape = odd_shape; }
static void no_data(fixture *f) { f->ty.data = NULL; }
static void odd_address(fixture *f) { f->ty.byte_offset = 2; }
static void same_array(fixture *f) { f->ty.data = f->x; }
static void one_shared(fixture *f) { f->ty.data = f->x + ROWS * COLUMNS - 1; }
static void repeated(fixture *f) { f->ty.strides = zero_strides; }
static void too_close(fixture *f) { f->ty.strides = close_strides; }
static void too_far(fixture *f) { f->tx.strides = huge_strides; }
static void few_scalars(fixture *f) { f->call.scalars = 1; }

static const wrong wrongs[] = {
    {"1 arrays were given; this kernel takes 2", too_few},
    {"Y was not given", no_tensor},
    {"X is on a device of type 2", other_device},
    {"X has elements of type i32; this kernel takes f32", other_type},
    {"X has rank 1; this kernel takes 2", other_rank},
    {"X has extent 7 in dimension 1; this kernel takes 6", other_shape},
    {"Y has no data", no_data},
    {"Y starts at an address", odd_address},
    {"Y is written and overlaps X", same_array},
    {"Y is written and overlaps X", one_shared},
    {"Y is written and overlaps itself", repeated},
    {"Y is written and overlaps itself", too_close},
    {"X has strides that leave", too_far},
    {"1 scalars were given; this kernel takes 2", few_scalars},
};

static void wrong_arguments(void **state) {
    fixture *f = *state;
    for (unsigned i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        fresh_call(f);
        wrongs[i].spoil(f);
        assert_int_equal(tw_kernel_run(f->kernel, &f->call), TW_ERR_INPUT);
        if (!strstr(f->call.error, wrongs[i].says))
            print_error("case %u: '%s'\n", i, f->call.error);
        assert_non_null(strstr(f->call.error, wrongs[i].says));
        assert_int_equal(f->log.launches, 0);
        for (unsigned k = 0; k < ROWS * COLUMNS; k++)
            assert_true(f->y[k] == -1.0f);
    }
}

static float result(unsigned row, float x, float a, float b) { return row == 0 ? 7.0f : x * a + b; }

static void computes(void **state) {
    fixture *f = *state;
    assert_int_equal(tw_kernel_run(f->kernel, &f->call), TW_OK);
    for (unsigned i = 0; i < ROWS * COLUMNS; i++)
        assert_true(f->y[i] == result(i / COLUMNS, (float)i, 0.5f, -3.0f));
    f->call.scalar = NULL;
    assert_int_equal(tw_kernel_run(f->kernel, &f->call), TW_OK);
    for (unsigned i = 0; i < ROWS * COLUMNS; i++)
        assert_true(f->y[i] == result(i / COLUMNS, (float)i, 2.0f, 1.0f));
}

static void strides_of_all_kinds(void **state) {
    fixture *f = *state;
    int64_t reversed[] = {-COLUMNS, -1}, columns[] = {1, ROWS}, still[] = {0, 0};
    f->tx.strides = reversed;
    f->tx.byte_offset = (ROWS * COLUMNS - 1) * 4;
    f->ty.strides = columns;
    assert_int_equal(tw_kernel_run(f->kernel, &f->call), TW_OK);
    for (unsigned r = 0; r < ROWS; r++)
        for (unsigned w = 0; w < COLUMNS; w++)
            assert_true(f->y[r + w * ROWS] ==
                        result(r, (float)(ROWS * COLUMNS - 1 - (r * COLUMNS + w)), 0.5f, -3.0f));
    f->tx.strides = still;
    assert_int_equal(tw_kernel_run(f->kernel, &f->call), TW_OK);
    assert_true(f->y[ROWS * COLUMNS - 1] ==
                result(ROWS - 1, (float)(ROWS * COLUMNS - 1), 0.5f, -3.0f));
}

static void beyond_two_gigabytes(void **state) {
    fixture *f = *state;
    const size_t row =
        (size_t)1 << 30; /* floats: offsets up to 3 * 2^30 elements, 2^33 bytes and more */
    const size_t bytes = (3 * row + COLUMNS) * 4;
    char path[] = "/tmp/tw-sparse-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_int_equal(close(fd), 0);
    assert_true(map != MAP_FAILED);
    int64_t strides[] = {(int64_t)row, 1};
    f->ty.data = map;
    f->ty.strides = strides;
    assert_int_equal(tw_kernel_run(f->kernel, &f->call), TW_OK);
    const float *y = (const void *)map;
    for (unsigned r = 0; r < ROWS; r++)
        for (unsigned w = 0; w < COLUMNS; w++)
            assert_true(y[r * row + w] == result(r, (float)(r * COLUMNS + w), 0.5f, -3.0f));
    assert_int_equal(munmap(map, bytes), 0);
}

static void timing_adds_up(void **state) {
    fixture *f = *state;
    tw_timing t;
    assert_int_equal(tw_kernel_time(f->kernel, &f->call, true, &t), TW_OK);
    assert_int_equal(t.batches, 5);
    unsigned below = 0, above = 0;
    for (int i = 0; i < t.batches; i++) {
        assert_true(t.batch_ns[i] * (double)t.calls >= 8e6 * 0.999);
        below += t.batch_ns[i] <= t.median_ns;
        above += t.batch_ns[i] >= t.median_ns;
    }
    assert_true(below >= 3 && above >= 3);
    f->tx.rank = 1;
    assert_int_equal(tw_kernel_time(f->kernel, &f->call, true, &t), TW_ERR_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(describes_itself, start_null, stop),
        cmocka_unit_test_setup_teardown(recipe_runs_in_order, start_null, stop),
        cmocka_unit_test_setup_teardown(facts_pick_the_entry, start_null, stop),
        cmocka_unit_test_setup_teardown(failures_reach_the_caller, start_null, stop),
        cmocka_unit_test_setup_teardown(wrong_arguments, start_null, stop),
        cmocka_unit_test_setup_teardown(computes, start_cpu, stop),
        cmocka_unit_test_setup_teardown(strides_of_all_kinds, start_cpu, stop),
        cmocka_unit_test_setup_teardown(beyond_two_gigabytes, start_cpu, stop),
        cmocka_unit_test_setup_teardown(timing_adds_up, start_cpu, stop),
        cmocka_unit_test_setup_teardown(computes, start_interp, stop),
        cmocka_unit_test_setup_teardown(strides_of_all_kinds, start_interp, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
