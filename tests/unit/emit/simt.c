/* SPDX-License-Identifier: Apache-2.0
 * The SIMT dialects, a line or two a construct: heads, ids, shared and private objects, barriers,
 * lane operations, signed arithmetic that wraps, index arithmetic that need not, helpers, literals.
 * What a dialect lacks legalize takes out before: every elementwise row on every type is spoken.
 */
#include "emit/emit.h"
#include "loop/legalize.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct {
    tw_context *ctx;
    twi_loop *loop;
    twi_cursor c;
} fixture;

static void add_array(fixture *f, const char *name, tw_elem elem, twi_role role) {
    twi_larray a = {.name = twi_intern_str(&f->ctx->names, name),
                    .elem = (uint8_t)elem,
                    .rank = 1,
                    .role = (uint8_t)role,
                    .extent = {64}};
    twi_push(f->loop->arena, &f->loop->array, a);
}

/* A module of one function of 4 subgroups; arrays X Y of elem, N I64 and one i64 scalar. */
static void begin(fixture *f, tw_elem elem, unsigned lanes) {
    tw_context *ctx = f->ctx;
    f->loop = twi_loop_new(&ctx->arena, NULL, 0);
    f->loop->ctx = ctx;
    f->loop->kernel = twi_intern_str(&ctx->names, "k");
    add_array(f, "X", elem, TWI_IN);
    add_array(f, "Y", elem, TWI_OUT);
    add_array(f, "N", TW_I64, TWI_INOUT);
    const twi_lscalar s = {.name = twi_intern_str(&ctx->names, "s"), .elem = TW_I64};
    twi_push(f->loop->arena, &f->loop->scalar, s);
    twi_entry entry = {.name = twi_intern_str(&ctx->names, "main")};
    twi_push(f->loop->arena, &f->loop->entry, entry);
    const uint32_t at = twi_loop_func(f->loop, twi_intern_str(&ctx->names, "k_main"), 0, 0);
    f->loop->func.at[at].lanes = lanes;
    f->loop->func.at[at].subs = 4;
    twi_cursor_init(&f->c, f->loop, at);
}

static twi_lid id(fixture *f, unsigned level) {
    return twi_lb_leaf(&f->c, TWI_L_ID, TW_I64, 1, level);
}

static twi_lid load(fixture *f, uint32_t object, twi_lid at) {
    return twi_lb_load(&f->c, (twi_laccess){.object = object}, &at, 1, 0, 0);
}

static void store(fixture *f, uint32_t object, twi_lid at, twi_lid x) {
    twi_lb_store(&f->c, (twi_laccess){.object = object}, &at, x, 0);
}

static const char *emit(const fixture *f, const twi_dialect *d) {
    twi_sb out;
    twi_sb_init(&out, &f->ctx->arena);
    twi_emit(f->loop, d, &out);
    return twi_sb_text(&out);
}

static void has(const char *text, const char *line) {
    if (!strstr(text, line))
        print_error("not in the source: %s\n%s", line, text);
    assert_non_null(strstr(text, line));
}

static int start(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->ctx = tw_context_create(NULL);
    *state = f;
    return 0;
}

static int stop(void **state) {
    tw_context_destroy(((fixture *)*state)->ctx);
    free(*state);
    return 0;
}

/* X in lanes, its maximum over a subgroup's partner lane through shared memory to Y. */
static void exchange(fixture *f, unsigned lanes) {
    begin(f, TW_F32, lanes);
    const twi_object board = {
        .kind = TWI_OBJ_SHARED, .elem = TW_F32, .count = 1, .rank = 1, .extent = {4}};
    const twi_object odd = {
        .kind = TWI_OBJ_SHARED, .elem = TW_I8, .count = 1, .rank = 1, .extent = {3}};
    const twi_object own = {
        .kind = TWI_OBJ_PRIVATE, .elem = TW_F32, .count = 1, .rank = 1, .extent = {2}};
    const uint32_t bytes = twi_lb_object(&f->c, &odd), b = twi_lb_object(&f->c, &board);
    const uint32_t p = twi_lb_object(&f->c, &own);
    const twi_lid sub = id(f, TWI_LV_SUB), zero = twi_lb_i64(&f->c, 0);
    twi_lid x = load(f, 1, twi_lb_op(&f->c, TWI_ADD, id(f, TWI_LV_GRID), id(f, TWI_LV_LANE), 0));
    if (lanes > 1)
        x = twi_lb_op(&f->c, TWI_MAX, x, twi_lb_lane_xor(&f->c, x, 4), 0);
    store(f, p, zero, x);
    store(f, b, sub, load(f, p, zero));
    store(f, bytes, zero, twi_lb_bits(&f->c, TW_I8, 0x80, 0));
    twi_lb_barrier(&f->c, TWI_SCOPE_GROUP);
    twi_lb_barrier(&f->c, TWI_SCOPE_SUBGROUP);
    store(f, 2, sub, load(f, b, zero));
    f->loop->func.at[0].ins.at[x].name = twi_intern_str(&f->ctx->names, "float");
}

/* Atomics and shifts: instructions where a language has them, else compare and swap. */
static void atomics(void **state) {
    fixture *f = *state;
    begin(f, TW_F32, 32);
    const twi_lid at = id(f, TWI_LV_LANE), x = load(f, 1, at);
    const twi_lid up = twi_lb_lane_shift(&f->c, x, 2), down = twi_lb_lane_shift(&f->c, up, -3);
    twi_lb_store(&f->c, (twi_laccess){.object = 2, .merge = TWI_ADD}, &at, down, 0);
    twi_lb_store(&f->c, (twi_laccess){.object = 3, .merge = TWI_MIN}, &at, at, 0);
    twi_lb_store(&f->c, (twi_laccess){.object = 3, .merge = TWI_ADD}, &at, at,
                 twi_lb_op(&f->c, TWI_LT, at, twi_lb_i64(&f->c, 5), 0));
    const char *text = emit(f, &twi_dialect_cuda);
    has(text, "__shfl_up_sync(0xffffffffu, ");
    has(text, "__shfl_down_sync(0xffffffffu, ");
    has(text, "void tw_mergeadd_f32(float *p, float v)");
    has(text, "now.bits = atomicCAS((unsigned *)p, seen, next.bits);");
    has(text, "    tw_mergeadd_f32(&a_Y[lane], ");
    has(text, "    atomicMin(&a_N[lane], lane);");
    has(text, ") atomicAdd((unsigned long long *)&a_N[lane], (unsigned long long)lane);");
    f->loop->func.at[0].lanes = 1;
    text = emit(f, &twi_dialect_opencl);
    has(text, "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n");
    has(text, "void tw_mergeadd_f32(volatile __global float *p, float v)");
    has(text, "now.bits = atomic_cmpxchg((volatile __global uint *)p, seen, next.bits);");
    has(text, "now.bits = atom_cmpxchg((volatile __global ulong *)p, seen, next.bits);");
    has(text, ") atom_add(&a_N[0], 0);");
}

static void cuda_kernel(void **state) {
    fixture *f = *state;
    exchange(f, 32);
    const char *text = emit(f, &twi_dialect_cuda);
    has(text, "extern \"C\" __global__ __launch_bounds__(128)\nvoid K_k_main(");
    has(text, "const float *__restrict__ a_X,\n    float *__restrict__ a_Y,\n    long long first)");
    has(text, "const long long group = first + (long long)blockIdx.x;");
    has(text, "const long long sub = (long long)(threadIdx.x / 32);");
    has(text, "const long long lane = (long long)(threadIdx.x % 32);");
    has(text, "extern __shared__ __align__(16) unsigned char tw_shared[];");
    has(text, " = (signed char *)(tw_shared + 0);");
    has(text, " = (float *)(tw_shared + 16);"); /* 3 bytes, then the next multiple of 16 */
    has(text, "__shfl_xor_sync(0xffffffffu, ");
    has(text, "const float v_float_");
    has(text, "    __syncthreads();\n    __syncwarp();\n");
    assert_int_equal(twi_emit_shared(&f->loop->func.at[0]), 32);
    assert_null(strstr(text, "tw_not_spoken"));
}

static void opencl_kernel(void **state) {
    fixture *f = *state;
    exchange(f, 1);
    const char *text = emit(f, &twi_dialect_opencl);
    has(text, "#pragma OPENCL FP_CONTRACT OFF\n");
    has(text, "__kernel __attribute__((reqd_work_group_size(4, 1, 1)))\nvoid K_k_main(");
    has(text, "__global const float *restrict a_X,\n    __global float *restrict a_Y,\n");
    has(text, "const long group = first + (long)get_group_id(0);");
    has(text, "const long sub = (long)get_local_id(0);");
    has(text, "__local char ");
    has(text, "[3] __attribute__((aligned(16)));\n");
    has(text, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n");
    assert_null(strstr(text, "cl_khr_fp64"));
    assert_null(strstr(text, "tw_not_spoken"));
}

/* What one worker moves at once: whole where aligned, element by element at a ragged edge and in
 * its own registers. */
static void wide_accesses(void **state) {
    fixture *f = *state;
    begin(f, TW_F32, 1);
    const twi_object own = {
        .kind = TWI_OBJ_PRIVATE, .elem = TW_F32, .count = 1, .rank = 1, .extent = {8}};
    const uint32_t p = twi_lb_object(&f->c, &own);
    const twi_lid g = id(f, TWI_LV_GRID),
                  at = twi_lb_op(&f->c, TWI_MUL, g, twi_lb_i64(&f->c, 4), 0);
    const twi_lid zero = twi_lb_i64(&f->c, 0), some = load(f, 3, g);
    const twi_lid all = twi_lb_op(&f->c, TWI_LT, g, some, 0);
    twi_laccess x = {.object = 1, .align = 16}, y = {.object = 2, .align = 16};
    const twi_lid a = twi_lb_load(&f->c, x, &at, 4, 0, 0);
    twi_lb_store(&f->c, (twi_laccess){.object = p}, &zero, a, 0);
    twi_lb_store(&f->c, y, &at, twi_lb_load(&f->c, (twi_laccess){.object = p}, &zero, 4, 0, 0),
                 some);
    twi_lb_store(&f->c, y, &at, twi_lb_load(&f->c, x, &at, 4, all, 0), all);
    const char *text = emit(f, &twi_dialect_cuda);
    has(text, "typedef struct __align__(16) { float e[4]; } f32x4;\n");
    has(text, " = *(const f32x4 *)(a_X + ");
    has(text, "        *(f32x4 *)(a_Y + ");
    has(text, " = {{0}};\n    if (t");
    has(text, "            if (l_ < t");
    text = emit(f, &twi_dialect_opencl);
    has(text, "typedef struct __attribute__((aligned(16))) { float e[4]; } f32x4;\n");
    has(text, " = *(__global const f32x4 *)(a_X + ");
    has(text, "*(__global f32x4 *)(a_Y + ");
    assert_null(strstr(text, "tw_not_spoken"));
}

/* Parameters in the order of twi_emit_passed; OpenCL says where element 0 of a strided array is. */
static void parameters(void **state) {
    fixture *f = *state;
    begin(f, TW_F32, 1);
    f->loop->func.at[0].object.at[3].dynamic = 1;
    const twi_lid s = twi_lb_leaf(&f->c, TWI_L_LSCALAR, TW_I64, 1, 1);
    const twi_lid trip = twi_lb_leaf(&f->c, TWI_L_TRIP, TW_I64, 1, 0);
    store(f, 3, id(f, TWI_LV_GRID), twi_lb_op(&f->c, TWI_ADD, s, trip, 0));
    has(emit(f, &twi_dialect_opencl), "void K_k_main(__global long *restrict a_N,\n"
                                      "    long from_a_N,\n    long s1,\n    long d0_a_N,\n"
                                      "    long trip0,\n    long first)\n{\n"
                                      "    a_N += from_a_N;\n");
    has(emit(f, &twi_dialect_cuda),
        "void K_k_main(long long *__restrict__ a_N,\n    long long s1,\n");
    twi_pass *pass;
    static const uint8_t kinds[] = {TWI_PASS_ARRAY,  TWI_PASS_OFFSET, TWI_PASS_SCALAR,
                                    TWI_PASS_STRIDE, TWI_PASS_TRIP,   TWI_PASS_FIRST};
    assert_int_equal(
        twi_emit_passed(&f->loop->func.at[0], &twi_dialect_opencl, &f->ctx->arena, &pass), 6);
    for (unsigned k = 0; k < 6; k++)
        assert_int_equal(pass[k].kind, kinds[k]);
    assert_int_equal(
        twi_emit_passed(&f->loop->func.at[0], &twi_dialect_cuda, &f->ctx->arena, &pass), 5);
}

/* Signed overflow is undefined in both languages, and defined in ours. */
static void integers_wrap(void **state) {
    fixture *f = *state;
    begin(f, TW_F32, 1);
    const twi_lid g = id(f, TWI_LV_GRID), n = load(f, 3, g);
    const twi_lid sum = twi_lb_op(&f->c, TWI_ADD, n, n, 0);
    const twi_lid at = twi_lb_op(&f->c, TWI_MUL, g, g, 0);
    f->c.f->ins.at[at].flags |= TWI_FLAG_INDEX;
    store(f, 3, at, sum);
    store(f, 3, g, twi_lb_bits(&f->c, TW_I64, UINT64_C(1) << 63, 0));
    const char *text = emit(f, &twi_dialect_opencl);
    char line[80];
    (void)snprintf(line, sizeof line, "(long)((ulong)t%u + (ulong)t%u)", (unsigned)n, (unsigned)n);
    has(text, line);
    has(text, "a_N[(group * group)] = ");
    has(text, "(-9223372036854775807L - 1)");
    has(emit(f, &twi_dialect_cuda), "(-9223372036854775807LL - 1)");
}

static void literals(void **state) {
    fixture *f = *state;
    static const struct {
        uint32_t bits;
        const char *opencl, *cuda;
    } rows[] = {{0x7f800000, "(INFINITY)", "__uint_as_float(0x7f800000u)"},
                {0xff800000, "(-INFINITY)", "__uint_as_float(0xff800000u)"},
                {0x7fc00000, "as_float(0x7fc00000u)", "__uint_as_float(0x7fc00000u)"},
                {0x80000000, "(-0.0f)", "(-0.0f)"},
                {0x00000001, "0x0.000002p-126f", "0x0.000002p-126f"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        begin(f, TW_F32, 1);
        store(f, 2, id(f, TWI_LV_GRID), twi_lb_bits(&f->c, TW_F32, rows[k].bits, 0));
        has(emit(f, &twi_dialect_opencl), rows[k].opencl);
        has(emit(f, &twi_dialect_cuda), rows[k].cuda);
    }
}

/* What the rule of a row takes. */
static bool takes(const twi_op_info *row, unsigned op, tw_elem elem) {
    const bool real = elem == TW_F32 || elem == TW_F64, integer = twi_is_int(elem);
    const bool function = op >= TWI_EXP && op <= TWI_ERF;
    switch (row->rule) {
    case TWI_RULE_ARITH:
        return real || integer;
    case TWI_RULE_FLOAT:
        return elem == TW_F32 || (real && !function);
    case TWI_RULE_INT:
        return integer;
    case TWI_RULE_BOOL:
        return elem == TW_BOOL;
    case TWI_RULE_COMPARE:
        return real || integer || (elem == TW_BOOL && (op == TWI_EQ || op == TWI_NE));
    case TWI_RULE_SELECT:
    case TWI_RULE_CAST:
    case TWI_RULE_BITS:
    default:
        return false;
    }
}

static const tw_elem elems[] = {TW_BOOL, TW_I8,  TW_I32,  TW_I64, TW_U8, TW_U32,
                                TW_U64,  TW_F16, TW_BF16, TW_F32, TW_F64};
enum { ELEMS = sizeof elems / sizeof *elems };

static void show(fixture *f, twi_lid at, twi_lid y) {
    store(f, 3, at, f->c.f->ins.at[y].elem == TW_I64 ? y : twi_lb_cast(&f->c, TW_I64, y));
}

static unsigned add_all(fixture *f, tw_elem elem) {
    const twi_lid g = id(f, TWI_LV_GRID), x = load(f, 1, g);
    const twi_lid t = twi_lb_op(&f->c, TWI_LT, g, twi_lb_i64(&f->c, 7), 0);
    unsigned n = 0;
    for (unsigned op = 1; op < TWI_ELEMENTWISE_END; op++) {
        const twi_op_info *row = twi_op_row(op);
        if (!row->built || !takes(row, op, elem))
            continue;
        show(f, g, twi_lb_op(&f->c, op, x, row->arity > 1 ? x : 0, row->arity > 2 ? x : 0));
        n++;
    }
    show(f, g, twi_lb_op(&f->c, TWI_SELECT, t, x, load(f, 1, twi_lb_i64(&f->c, 1))));
    for (unsigned k = 0; k < ELEMS; k++)
        show(f, g, twi_lb_cast(&f->c, elems[k], x));
    show(f, g, twi_lb_load(&f->c, (twi_laccess){.object = 1, .mask = TWI_MASK_BOOL}, &g, 1, t, 0));
    return n;
}

/* Legalized for a target with no narrow types and no lane operations, every operation on every type
 * and every cast is spoken; what legalize must take out, is not. */
static void nothing_is_refused(void **state) {
    fixture *f = *state;
    static const twi_dialect *const dialects[] = {&twi_dialect_opencl, &twi_dialect_cuda};
    twi_caps caps;
    assert_true(twi_caps_named(f->ctx, "simt32", &caps));
    caps.f16 = caps.bf16 = caps.lane_ops = false;
    caps.lane = 1;
    unsigned operations = 0;
    for (unsigned k = 0; k < ELEMS; k++) {
        begin(f, elems[k], 1);
        operations += add_all(f, elems[k]);
        const twi_loop *raw = f->loop;
        f->loop = twi_legalize(raw, &f->ctx->arena, &caps);
        for (unsigned d = 0; d < 2; d++) {
            const char *text = emit(f, dialects[d]);
            if (strstr(text, "tw_not_spoken"))
                print_error("%s:\n%s", tw_elem_name(elems[k]), text);
            assert_null(strstr(text, "tw_not_spoken"));
        }
        twi_sb out;
        twi_sb_init(&out, &f->ctx->arena);
        twi_emit(raw, &twi_dialect_opencl, &out);
        if (elems[k] == TW_F16 || elems[k] == TW_BF16 || elems[k] == TW_F32)
            has(twi_sb_text(&out), "tw_not_spoken"); /* narrow casts, exp */
    }
    assert_true(operations > 100);
}

/* Explicit lanes alone have a word for it. */
static void scale_is_refused(void **state) {
    fixture *f = *state;
    twi_caps caps;
    assert_true(twi_caps_named(f->ctx, "simt32", &caps));
    begin(f, TW_F32, 32);
    const twi_lid at = id(f, TWI_LV_LANE), x = load(f, 1, at);
    store(f, 2, at, twi_lb_op(&f->c, TWI_SCALE, x, x, 0));
    assert_false(twi_loop_spoken(f->loop, &caps));
    has(tw_diag_text(f->ctx, false), "workers scale by products with powers of two");
}

/* Lane operations where there are none: OpenCL 1.2 says so, its caps have one lane. */
static void lanes_in_opencl(void **state) {
    fixture *f = *state;
    exchange(f, 16);
    const char *text = emit(f, &twi_dialect_opencl);
    has(text, "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n");
    has(text, "static float tw_lanexor_f32(float x, uint n)\n{\n"
              "    const uint own = get_sub_group_local_id();\n"
              "    return sub_group_shuffle(x, own ^ n);\n}\n");
    has(text, "__attribute__((intel_reqd_sub_group_size(16)))\n"
              "__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\nvoid K_k_main(");
    has(text, "const long lane = (long)get_sub_group_local_id();");
    has(text, "const long sub = (long)get_sub_group_id();");
    has(text, "    sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n");
    assert_null(strstr(text, "get_local_id"));
    assert_null(strstr(text, "tw_not_spoken"));
    begin(f, TW_F32, 16);
    const twi_lid at = id(f, TWI_LV_LANE), x = load(f, 1, at);
    const twi_lid up = twi_lb_lane_shift(&f->c, x, 2), down = twi_lb_lane_shift(&f->c, up, -3);
    const twi_lid small = twi_lb_op(&f->c, TWI_LT, down, x, 0);
    store(f, 2, at, twi_lb_lane_read(&f->c, twi_lb_op(&f->c, TWI_ADD, down, x, 0), at));
    store(f, 3, at, twi_lb_cast(&f->c, TW_I64, twi_lb_lane_xor(&f->c, small, 4)));
    text = emit(f, &twi_dialect_opencl);
    has(text, "return sub_group_shuffle(x, own < n ? own : own - n);");
    has(text, "return sub_group_shuffle(x, own + n < get_sub_group_size() ? own + n : own);");
    has(text, "tw_laneread_f32(float x, uint n)\n{\n    return sub_group_shuffle(x, n);\n}\n");
    has(text, "static bool tw_lanexor_bool(bool x, uint n)\n");
    has(text, "return sub_group_shuffle((int)x, own ^ n) != 0;");
    has(text, "tw_laneread_f32(");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cuda_kernel, start, stop),
        cmocka_unit_test_setup_teardown(atomics, start, stop),
        cmocka_unit_test_setup_teardown(opencl_kernel, start, stop),
        cmocka_unit_test_setup_teardown(wide_accesses, start, stop),
        cmocka_unit_test_setup_teardown(parameters, start, stop),
        cmocka_unit_test_setup_teardown(integers_wrap, start, stop),
        cmocka_unit_test_setup_teardown(literals, start, stop),
        cmocka_unit_test_setup_teardown(nothing_is_refused, start, stop),
        cmocka_unit_test_setup_teardown(scale_is_refused, start, stop),
        cmocka_unit_test_setup_teardown(lanes_in_opencl, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
