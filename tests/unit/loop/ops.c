/* SPDX-License-Identifier: Apache-2.0
 * What single operations mean: each against arithmetic written here, then legalized code against
 * the interpreter's own, bit for bit.
 *
 * links: oracle
 */
#include "support.h"

#include "base/hash.h"
#include "loop/eval.h"
#include "loop/legalize.h"
#include "loop/rows.h"
#include "loop/scalar.h"
#include "oracle/portable.h"

#include <math.h>
#include <stdlib.h>

static float as_float(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static uint32_t as_bits(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static double as_double(uint64_t u) {
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static bool same_float(float a, float b) { return (a != a && b != b) || as_bits(a) == as_bits(b); }

static bool eval(unsigned op, tw_elem elem, void *r, const void *a, const void *b, const void *c) {
    const twi_rows rows = {r, a, b, c, 1};
    return twi_eval(op, elem, elem, &rows);
}

/* ---- integers ---- */

static int64_t i8_op(unsigned op, int x, int y) {
    int q = 0;
    if (y != 0)
        q = (int)floor((double)x / (double)y);
    switch (op) {
    case TWI_ADD:
        return x + y;
    case TWI_SUB:
        return x - y;
    case TWI_MUL:
        return x * y;
    case TWI_IDIV:
        return q;
    case TWI_IMOD:
        return y ? x - y * q : x;
    case TWI_MIN:
        return x < y ? x : y;
    case TWI_MAX:
        return x > y ? x : y;
    case TWI_BAND:
        return x & y;
    case TWI_BOR:
        return x | y;
    case TWI_BXOR:
        return x ^ y;
    case TWI_SHL:
        return (int64_t)((unsigned)x << (y & 7));
    case TWI_SHR:
        return (int64_t)floor((double)x / (double)(1 << (y & 7)));
    case TWI_NEG:
        return -x;
    case TWI_ABS:
        return x < 0 ? -x : x;
    default:
        return ~x;
    }
}

static const unsigned int_ops[] = {TWI_ADD, TWI_SUB, TWI_MUL,  TWI_IDIV, TWI_IMOD,
                                   TWI_MIN, TWI_MAX, TWI_BAND, TWI_BOR,  TWI_BXOR,
                                   TWI_SHL, TWI_SHR, TWI_NEG,  TWI_ABS,  TWI_BNOT};

/* All pairs of i8 and u8. */
static void bytes(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof int_ops / sizeof *int_ops; k++)
        for (int x = 0; x < 256; x++)
            for (int y = 0; y < 256; y++) {
                uint8_t a = (uint8_t)x, b = (uint8_t)y, r = 0;
                assert_true(eval(int_ops[k], TW_U8, &r, &a, &b, NULL));
                assert_int_equal(r, (uint8_t)i8_op(int_ops[k], x, y));
                int8_t sa = (int8_t)(x - 128), sb = (int8_t)(y - 128), sr = 0;
                assert_true(eval(int_ops[k], TW_I8, &sr, &sa, &sb, NULL));
                assert_int_equal(sr, (int8_t)(uint8_t)i8_op(int_ops[k], sa, sb));
            }
}

static void wide_integers(void **state) {
    (void)state;
    static const struct {
        unsigned op;
        int64_t a, b, want;
    } list[] = {
        {TWI_ADD, INT64_MAX, 1, INT64_MIN},
        {TWI_SUB, INT64_MIN, 1, INT64_MAX},
        {TWI_MUL, INT64_C(1) << 62, 4, 0},
        {TWI_IDIV, INT64_MIN, -1, INT64_MIN},
        {TWI_IDIV, -7, 2, -4},
        {TWI_IDIV, 7, -2, -4},
        {TWI_IDIV, 5, 0, 0},
        {TWI_IMOD, -7, 2, 1},
        {TWI_IMOD, 7, -2, -1},
        {TWI_IMOD, 5, 0, 5},
        {TWI_IMOD, INT64_MIN, -1, 0},
        {TWI_ABS, INT64_MIN, 0, INT64_MIN},
        {TWI_NEG, INT64_MIN, 0, INT64_MIN},
        {TWI_SHL, 1, 65, 2},
        {TWI_SHR, -8, 1, -4},
        {TWI_SHR, INT64_MIN, 63, -1},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        int64_t r = 0;
        assert_true(eval(list[k].op, TW_I64, &r, &list[k].a, &list[k].b, NULL));
        assert_int_equal(r, list[k].want);
    }
    uint16_t a = 65535, r = 0; /* 65535^2 does not fit an int */
    assert_true(eval(TWI_MUL, TW_U16, &r, &a, &a, NULL));
    assert_int_equal(r, 1);
    uint64_t x = UINT64_MAX, y = 2, q = 0;
    assert_true(eval(TWI_IDIV, TW_U64, &q, &x, &y, NULL));
    assert_true(q == UINT64_MAX / 2);
}

/* ---- floats ---- */

static void minimum(void **state) {
    (void)state;
    const float nan = as_float(0x7fc00000u);
    static const float list[] = {-INFINITY, -1.0f, -0.0f, 0.0f, 1.0f, INFINITY}; /* ascending */
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            float r;
            assert_true(eval(TWI_MIN, TW_F32, &r, &list[i], &list[j], NULL));
            assert_int_equal(as_bits(r), as_bits(list[i < j ? i : j]));
            assert_true(eval(TWI_MAX, TW_F32, &r, &list[i], &list[j], NULL));
            assert_int_equal(as_bits(r), as_bits(list[i > j ? i : j]));
            double d, x = (double)list[i], y = (double)list[j];
            assert_true(eval(TWI_MIN, TW_F64, &d, &x, &y, NULL));
            assert_int_equal(as_bits((float)d), as_bits(list[i < j ? i : j]));
            assert_true(eval(TWI_MAX, TW_F32, &r, &list[i], &nan, NULL));
            assert_true(r != r);
            assert_true(eval(TWI_MIN, TW_F32, &r, &nan, &list[j], NULL));
            assert_true(r != r);
        }
}

/* A product that only a fused operation keeps: (1 + u)^2 - (1 + 2u) = u^2. */
static void fused(void **state) {
    (void)state;
    float u = 0x1p-20f, a = 1 + u, c = -(1 + 2 * u), r;
    assert_true(eval(TWI_FMA, TW_F32, &r, &a, &a, &c));
    assert_true(r == 0x1p-40f);
    float p, s;
    assert_true(eval(TWI_MUL, TW_F32, &p, &a, &a, NULL));
    assert_true(eval(TWI_ADD, TW_F32, &s, &p, &c, NULL));
    assert_true(s == 0);
}

static void to_integers(void **state) {
    (void)state;
    static const struct {
        float x;
        int64_t i8, u8, i32, i64;
    } list[] = {
        {NAN, 0, 0, 0, 0},
        {1e30f, 127, 255, INT32_MAX, INT64_MAX},
        {-1e30f, -128, 0, INT32_MIN, INT64_MIN},
        {-1.9f, -1, 0, -1, -1},
        {254.9f, 127, 254, 254, 254},
        {INFINITY, 127, 255, INT32_MAX, INT64_MAX},
        {2147483648.0f, 127, 255, INT32_MAX, INT64_C(2147483648)},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        int8_t b;
        uint8_t u;
        int32_t w;
        int64_t d;
        assert_true(twi_eval_cast(TW_I8, TW_F32, &b, &list[k].x, 1));
        assert_true(twi_eval_cast(TW_U8, TW_F32, &u, &list[k].x, 1));
        assert_true(twi_eval_cast(TW_I32, TW_F32, &w, &list[k].x, 1));
        assert_true(twi_eval_cast(TW_I64, TW_F32, &d, &list[k].x, 1));
        assert_int_equal(b, list[k].i8);
        assert_int_equal(u, list[k].u8);
        assert_int_equal(w, list[k].i32);
        assert_true(d == list[k].i64);
    }
    int64_t big = (INT64_C(1) << 53) + 1; /* a tie in f64; f32 from it directly */
    float f;
    assert_true(twi_eval_cast(TW_F32, TW_I64, &f, &big, 1));
    assert_true(f == 0x1p53f);
    int64_t odd = (INT64_C(1) << 54) + (INT64_C(1) << 30) + 1; /* through f64 this would be a tie */
    assert_true(twi_eval_cast(TW_F32, TW_I64, &f, &odd, 1));
    assert_true(f == 0x1p54f + 0x1p31f);
}

/* The value of a narrow float by its definition. */
static double value_of(uint32_t h, int exponent_bits, int mantissa_bits) {
    int e = (int)(h >> mantissa_bits & ((1u << exponent_bits) - 1));
    double m = (double)(h & ((1u << mantissa_bits) - 1));
    int bias = (1 << (exponent_bits - 1)) - 1;
    double sign = h >> (exponent_bits + mantissa_bits) & 1u ? -1 : 1;
    if (e == (1 << exponent_bits) - 1)
        return m != 0 ? (double)NAN : sign * (double)INFINITY;
    if (e == 0)
        return sign * ldexp(m, 1 - bias - mantissa_bits);
    return sign * ldexp(1 + ldexp(m, -mantissa_bits), e - bias);
}

/* All patterns of both; the midpoints between neighbours and the numbers beside them. */
static void narrow(tw_elem elem, int exponent_bits, int mantissa_bits) {
    uint32_t infinite = ((1u << exponent_bits) - 1) << mantissa_bits;
    for (uint32_t h = 0; h < 65536; h++) {
        uint16_t from = (uint16_t)h, back = 0;
        float x = 0;
        assert_true(twi_eval_cast(TW_F32, elem, &x, &from, 1));
        double want = value_of(h, exponent_bits, mantissa_bits);
        assert_true(want != want ? x != x : (double)x == want && !signbit(x) == !(h >> 15));
        assert_true(twi_eval_cast(elem, TW_F32, &back, &x, 1));
        if (want == want)
            assert_int_equal(back, h);
        else
            assert_true((back & infinite) == infinite && (back & ~infinite & 0x7fffu));
        if ((h & 0x7fffu) >= infinite)
            continue;
        double next = (h & 0x7fffu) + 1 == infinite
                          ? copysign(ldexp(1, 1 << (exponent_bits - 1)), want)
                          : value_of(h + 1, exponent_bits, mantissa_bits);
        double mid = (want + next) / 2; /* exact */
        double list[] = {mid, nextafter(mid, want), nextafter(mid, next)};
        uint32_t expect[] = {h & 1u ? h + 1 : h, h, h + 1};
        for (int k = 0; k < 3; k++) {
            assert_true(twi_eval_cast(elem, TW_F64, &back, &list[k], 1));
            assert_int_equal(back, expect[k]);
            float f = (float)list[k];
            if ((double)f == list[k]) {
                assert_true(twi_eval_cast(elem, TW_F32, &back, &f, 1));
                assert_int_equal(back, expect[k]);
            }
        }
    }
}

static void narrow_floats(void **state) {
    (void)state;
    narrow(TW_F16, 5, 10);
    narrow(TW_BF16, 8, 7);
}

static void portable(void **state) {
    (void)state;
    twi_rng rng;
    twi_rng_init(&rng, 11);
    for (int k = 0; k < 1000000; k++) {
        float x = as_float((uint32_t)twi_rng_next(&rng));
        if (k % 2)
            x = (float)twi_rng_normal(&rng) * 8;
        assert_true(same_float(twi_scalar_exp(x), twi_portable_exp(x)));
        assert_true(same_float(twi_scalar_log(x), twi_portable_log(x)));
        assert_true(same_float(twi_scalar_tanh(x), twi_portable_tanh(x)));
        assert_true(same_float(twi_scalar_erf(x), twi_portable_erf(x)));
    }
}

/* ---- legalized code ---- */

enum { ROW = 4096, VECTOR = 8 };

/* A module that applies one operation to ROW elements, by vectors. */
static twi_loop *apply(bench *b, twi_arena *arena, unsigned op, tw_elem from, tw_elem to) {
    twi_loop *loop = twi_loop_new(arena, NULL, twi_intern_str(&b->ctx->names, "cpu"));
    loop->ctx = b->ctx;
    twi_larray x = {.name = twi_intern_str(&b->ctx->names, "X"),
                    .elem = (uint8_t)from,
                    .rank = 1,
                    .role = TWI_IN,
                    .extent = {ROW}};
    twi_larray y = {.name = twi_intern_str(&b->ctx->names, "Y"),
                    .elem = (uint8_t)to,
                    .rank = 1,
                    .role = TWI_OUT,
                    .extent = {ROW}};
    twi_push(arena, &loop->array, x);
    twi_push(arena, &loop->array, y);
    twi_entry e = {.name = twi_intern_str(&b->ctx->names, "main")};
    twi_step_do launch = {.what = TWI_DO_LAUNCH, .grid = 1};
    twi_push(arena, &e.recipe, launch);
    twi_push(arena, &loop->entry, e);
    uint32_t id = twi_loop_func(loop, twi_intern_str(&b->ctx->names, "apply_main"), 0, 0);
    twi_func *f = &loop->func.at[id];
    f->explicit_lanes = true;
    f->lanes = VECTOR;
    twi_cursor c;
    twi_cursor_init(&c, loop, id);
    twi_lid k = twi_lb_for(&c, twi_lb_i64(&c, 0), twi_lb_i64(&c, ROW / VECTOR), 1);
    twi_lid at = twi_lb_op(&c, TWI_MUL, k, twi_lb_i64(&c, VECTOR), 0);
    twi_lid v = twi_lb_load(&c, (twi_laccess){.object = 1}, &at, VECTOR, 0, 0);
    v = op == TWI_CAST ? twi_lb_cast(&c, to, v) : twi_lb_op(&c, op, v, 0, 0);
    twi_lb_store(&c, (twi_laccess){.object = 2}, &at, v, 0);
    twi_lb_close(&c);
    return loop;
}

static void compare(bench *b, unsigned op, tw_elem from, tw_elem to, void *input) {
    static uint64_t first[ROW], second[ROW];
    twi_arena own;
    twi_arena_init(&own, &b->ctx->mem);
    twi_caps caps;
    memset(&caps, 0, sizeof caps);
    twi_loop *loop = apply(b, &own, op, from, to);
    if (!twi_loop_verify(loop))
        fail_msg("%s", tw_diag_text(b->ctx, false));
    twi_loop *legal = twi_legalize(loop, &own, &caps);
    if (!twi_loop_verify(legal))
        fail_msg("%s\n%s", tw_diag_text(b->ctx, false), text_of(b, legal));
    for (uint32_t v = 1; v < legal->func.at[0].ins.n; v++) {
        const twi_lins *i = &legal->func.at[0].ins.at[v];
        assert_true(i->op != TWI_EXP && i->op != TWI_LOG && i->op != TWI_TANH && i->op != TWI_ERF);
        assert_true(i->op != TWI_CAST || (i->elem != TW_F16 && i->elem != TW_BF16));
    }
    void *data[] = {input, first};
    twi_interp_result r = run_loop(b, loop, data, NULL);
    clean(&r);
    data[1] = second;
    r = run_loop(b, legal, data, NULL);
    clean(&r);
    size_t size = tw_elem_size(to);
    for (size_t k = 0; k < ROW; k++)
        if (memcmp((char *)first + k * size, (char *)second + k * size, size) != 0) {
            float x = ((float *)(void *)first)[k], y = ((float *)(void *)second)[k];
            if (op != TWI_CAST && x != x && y != y)
                continue; /* which NaN is not part of a value */
            fail_msg("%s %s to %s differs at %zu", twi_loop_op_name(op), tw_elem_name(from),
                     tw_elem_name(to), k);
        }
    twi_arena_fini(&own);
}

static void legal_functions(void **state) {
    bench *b = *state;
    static float x[ROW];
    static const unsigned ops[] = {TWI_EXP, TWI_LOG, TWI_TANH, TWI_ERF};
    static const uint32_t special[] = {0,           0x80000000u, 0x7f800000u, 0xff800000u,
                                       0x7fc00000u, 1,           0x80000001u, 0x007fffffu,
                                       0x00800000u, 0x7f7fffffu, 0x3f800000u};
    twi_rng rng;
    twi_rng_init(&rng, 12);
    for (int round = 0; round < 24; round++) {
        for (size_t k = 0; k < ROW; k++)
            x[k] = round % 2 ? (float)twi_rng_normal(&rng) * 20
                             : as_float((uint32_t)twi_rng_next(&rng));
        for (size_t k = 0; k < sizeof special / sizeof *special; k++)
            x[k] = as_float(special[k]);
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
            compare(b, ops[k], TW_F32, TW_F32, x);
    }
}

/* Every type to and from the narrow ones; f16 and bf16 patterns all. */
static void legal_casts(void **state) {
    bench *b = *state;
    static uint64_t x[ROW];
    static const tw_elem elems[] = {TW_BOOL, TW_I8,  TW_U8,  TW_I16, TW_U16, TW_I32, TW_U32,
                                    TW_I64,  TW_U64, TW_F32, TW_F64, TW_F16, TW_BF16};
    static const tw_elem halves[] = {TW_F16, TW_BF16};
    twi_rng rng;
    twi_rng_init(&rng, 13);
    for (size_t e = 0; e < sizeof elems / sizeof *elems; e++)
        for (size_t h = 0; h < 2; h++)
            for (uint32_t round = 0; round < 16; round++) {
                for (size_t k = 0; k < ROW; k++) {
                    uint64_t r = twi_rng_next(&rng);
                    if (elems[e] == TW_BOOL)
                        ((uint8_t *)x)[k] = r & 1;
                    else if (elems[e] == TW_F16 || elems[e] == TW_BF16)
                        ((uint16_t *)x)[k] = (uint16_t)(round * ROW + k);
                    else if (elems[e] == TW_F64)
                        ((double *)x)[k] =
                            k % 2
                                ? ldexp(as_double(r % (UINT64_C(1) << 52) + (UINT64_C(1023) << 52)),
                                        (int)(r % 61) - 30)
                                : as_double(r);
                    else if (elems[e] == TW_F32)
                        ((uint32_t *)x)[k] =
                            k % 2 ? (uint32_t)(r % (64u << 23)) + (96u << 23) : (uint32_t)r;
                    else if (tw_elem_size(elems[e]) == 8)
                        x[k] = r >> (k % 64);
                    else if (tw_elem_size(elems[e]) == 4)
                        ((uint32_t *)x)[k] = (uint32_t)r >> (k % 32);
                    else
                        ((uint16_t *)x)[k / 2] = (uint16_t)r;
                }
                compare(b, TWI_CAST, elems[e], halves[h], x);
                if (elems[e] != halves[h]) {
                    for (size_t k = 0; k < ROW; k++)
                        ((uint16_t *)x)[k] = (uint16_t)(round * ROW + k);
                    compare(b, TWI_CAST, halves[h], elems[e], x);
                }
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes),
        cmocka_unit_test(wide_integers),
        cmocka_unit_test(minimum),
        cmocka_unit_test(fused),
        cmocka_unit_test(to_integers),
        cmocka_unit_test(narrow_floats),
        cmocka_unit_test(portable),
        cmocka_unit_test_setup_teardown(legal_functions, setup, teardown),
        cmocka_unit_test_setup_teardown(legal_casts, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
