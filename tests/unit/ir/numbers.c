/* SPDX-License-Identifier: Apache-2.0
 * Untyped constants: read exactly, computed with at least 106 bits, rounded once. Expected patterns
 * are the formats' own, or come from arithmetic on powers of two written here.
 */
#include "test.h"

#include <math.h>

typedef struct {
    const char *text;
    tw_elem elem;
    uint64_t bits;
} number;

/* Halfway cases decide at the 25th (12th, 9th) bit, or at a digit far behind a double's precision.
 */
static const number numbers[] = {
    {"1", TW_F32, 0x3f800000},
    {"-0.0", TW_F32, 0x80000000},
    {"0.1", TW_F32, 0x3dcccccd},
    {"0.1", TW_F64, 0x3fb999999999999a},
    {"1e-5", TW_F32, 0x3727c5ac},
    {"inf", TW_F32, 0x7f800000},
    {"nan", TW_F32, 0x7fc00000},
    {"nan", TW_BF16, 0x7fc0},
    {"1e400", TW_F32, 0x7f800000},
    {"1e-400", TW_F32, 0},
    {"16777216", TW_F32, 0x4b800000},
    {"16777217.0", TW_F32, 0x4b800000}, /* a tie: to even */
    {"16777217.000000000000000001", TW_F32,
     0x4b800001}, /* a hair above; as a double it is the tie */
    {"16777216.999999999999999999", TW_F32, 0x4b800000},
    {"16777219.0", TW_F32, 0x4b800002},
    {"16777218.999999999999999999", TW_F32, 0x4b800001},
    {"1.00048828125", TW_F16, 0x3c00}, /* 1 + 2^-11: tie to even */
    {"1.000488281250000000000000000001", TW_F16, 0x3c01},
    {"1.00146484375", TW_F16, 0x3c02}, /* 1 + 3 * 2^-11 */
    {"65504", TW_F16, 0x7bff},
    {"65519.999", TW_F16, 0x7bff},
    {"65520.0", TW_F16, 0x7c00},
    {"5.9604644775390625e-08", TW_F16, 1},  /* 2^-24 */
    {"2.98023223876953125e-08", TW_F16, 0}, /* 2^-25: tie to even */
    {"2.980232238769531251e-08", TW_F16, 1},
    {"-2.980232238769531251e-08", TW_F16, 0x8001},
    {"6.103515625e-05", TW_F16, 0x0400}, /* least normal */
    {"1.00390625", TW_BF16, 0x3f80},     /* 1 + 2^-8: tie */
    {"1.003906250000000000001", TW_BF16, 0x3f81},
    {"3.3895313892515355e38", TW_BF16, 0x7f7f}, /* largest */
    {"3.4e38", TW_BF16, 0x7f80},
    {"448", TW_F8E4M3, 0x7e},
    {"464", TW_F8E4M3, 0x7e},
    {"464.1", TW_F8E4M3, 0x7f}, /* no infinity: NaN */
    {"57344", TW_F8E5M2, 0x7b},
    {"61440.0", TW_F8E5M2, 0x7c},
    {"1e-45", TW_F32, 1},
    {"0x1p-149", TW_F32, 1},
    {"255", TW_U8, 255},
    {"-128", TW_I8, 0x80},
    {"-1", TW_I64, UINT64_MAX},
    {"4294967295", TW_U32, UINT32_MAX},
    {"9223372036854775807", TW_I64, INT64_MAX},
    {"1", TW_BOOL, 1},
};

static tw_ir *fresh(tw_context *ctx) {
    tw_ir *ir = from_text(ctx, "kernel k order free\ndim N\nparallel {\n}\n");
    expect_fine(ctx);
    return ir;
}

static void rounding(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = fresh(ctx);
    for (int k = 0; k < COUNT(numbers); k++) {
        const number *c = &numbers[k];
        uint64_t bits = 0;
        /* 464 and so on are integers that the type lacks: they round where `nearest` allows it */
        uint32_t num = twi_num_decimal(ir, c->text, strlen(c->text));
        assert_int_not_equal(num, 0);
        assert_true(twi_num_bits(&ir->num.at[num], c->elem, true, &bits));
        if (bits != c->bits)
            fail_msg("%s as %s: %llx, not %llx", c->text, tw_elem_name(c->elem),
                     (unsigned long long)bits, (unsigned long long)c->bits);
    }
    tw_context_destroy(ctx);
}

/* Integers that a type cannot hold exactly have no value in it. */
static void exactness(void **state) {
    (void)state;
    static const struct {
        int64_t k;
        tw_elem elem;
        bool fits;
    } cases[] = {
        {16777216, TW_F32, true},   {16777217, TW_F32, false}, {-16777217, TW_F32, false},
        {33554436, TW_F32, true},   {2048, TW_F16, true},      {2049, TW_F16, false},
        {65504, TW_F16, true},      {65536, TW_F16, false},    {256, TW_BF16, true},
        {257, TW_BF16, false},      {128, TW_I8, false},       {127, TW_I8, true},
        {-128, TW_I8, true},        {-1, TW_U32, false},       {256, TW_U8, false},
        {INT64_MAX, TW_F64, false}, {INT64_MIN, TW_F64, true}, {2, TW_BOOL, false},
    };
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = fresh(ctx);
    for (int k = 0; k < COUNT(cases); k++) {
        uint64_t bits;
        uint32_t num = twi_num_int(ir, cases[k].k);
        if (twi_num_bits(&ir->num.at[num], cases[k].elem, false, &bits) != cases[k].fits)
            fail_msg("%lld in %s", (long long)cases[k].k, tw_elem_name(cases[k].elem));
    }
    tw_context_destroy(ctx);
}

/* bf16(x) rounds the numeral once: through f32 first, 1 + 2^-8 + 2^-30 would become the tie and
 * then 1. */
static void narrow_once(void **state) {
    (void)state;
    const char *text = "1.003906250931322574615478515625"; /* 1 + 2^-8 + 2^-30 */
    uint64_t bits;
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = fresh(ctx);
    uint32_t num = twi_num_decimal(ir, text, strlen(text));
    assert_true(twi_narrow_const(&ir->num.at[num], TW_BF16, &bits));
    assert_int_equal(bits, 0x3f810000);
    tw_context_destroy(ctx);
}

/* 1/3 to 106 bits: the second half of the double-double is the remainder of the first. */
static void arithmetic(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = fresh(ctx);
    uint32_t third = twi_num_make(ir, TWI_NUM_DIV, twi_num_int(ir, 1), twi_num_int(ir, 3));
    twi_num n = ir->num.at[third];
    double hi = 1.0 / 3.0, rest = fma(-3.0, hi, 1.0);
    assert_true(n.hi == hi && n.lo == rest / 3.0);
    uint32_t one = twi_num_make(ir, TWI_NUM_MUL, third, twi_num_int(ir, 3));
    n = ir->num.at[one];
    assert_true(n.hi == 1.0 && fabs(n.lo) < 0x1p-104);
    /* integers stay integers, as far as 64 bits go */
    uint32_t big =
        twi_num_make(ir, TWI_NUM_MUL, twi_num_int(ir, INT64_C(1) << 40), twi_num_int(ir, 4));
    assert_true(ir->num.at[big].integer && ir->num.at[big].whole == INT64_C(1) << 42);
    big = twi_num_make(ir, TWI_NUM_MUL, big, big);
    assert_true(!ir->num.at[big].integer && ir->num.at[big].hi == 0x1p84);
    /* 2^53 + 1 as a double-double is exact */
    uint32_t odd = twi_num_int(ir, (INT64_C(1) << 53) + 1);
    assert_true(ir->num.at[odd].hi + 0.0 == 0x1p53 && ir->num.at[odd].lo == 1.0);
    tw_context_destroy(ctx);
}

/* Index expressions: floor division and modulo, by 0 too; folding; ranges. */
static void index_arithmetic(void **state) {
    (void)state;
    assert_int_equal(twi_ix_apply(TWI_IX_DIV, -7, 2), -4);
    assert_int_equal(twi_ix_apply(TWI_IX_MOD, -7, 2), 1);
    assert_int_equal(twi_ix_apply(TWI_IX_DIV, 7, -2), -4);
    assert_int_equal(twi_ix_apply(TWI_IX_MOD, 7, -2), -1);
    assert_int_equal(twi_ix_apply(TWI_IX_DIV, 7, 0), 0);
    assert_int_equal(twi_ix_apply(TWI_IX_MOD, 7, 0), 7);
    assert_int_equal(twi_ix_apply(TWI_IX_DIV, INT64_MIN, -1), INT64_MIN);
    assert_true(twi_ix_overflows(TWI_IX_MUL, INT64_MIN, -1));
    assert_true(twi_ix_overflows(TWI_IX_ADD, INT64_MAX, 1));
    assert_true(twi_ix_overflows(TWI_IX_SUB, 0, INT64_MIN));
    assert_false(twi_ix_overflows(TWI_IX_SUB, -1, INT64_MIN));
    assert_false(twi_ix_overflows(TWI_IX_MUL, -1, INT64_MAX));
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = from_text(ctx, "kernel k order free specialised\n"
                               "parallel n: 2 .. 10, m: 0 .. 5 tile 3 {\n}\n");
    expect_fine(ctx);
    twi_ix n = twi_ix_leaf(ir, TWI_IX_AXIS, 1), m = twi_ix_leaf(ir, TWI_IX_AXIS, 2);
    twi_ix k = twi_ix_const(ir, 3);
    assert_int_equal(twi_ix_make(ir, TWI_IX_ADD, n, m), twi_ix_make(ir, TWI_IX_ADD, n, m));
    assert_int_equal(twi_ix_make(ir, TWI_IX_MUL, n, twi_ix_const(ir, 1)), n);
    int64_t v, lo, hi;
    assert_true(twi_ix_is_const(ir, twi_ix_make(ir, TWI_IX_SUB, n, n), &v) && v == 0);
    twi_ix x = twi_ix_make(ir, TWI_IX_ADD, twi_ix_make(ir, TWI_IX_MUL, n, k), m); /* 3n + m */
    assert_true(twi_ix_range(ir, x, &lo, &hi));
    assert_int_equal(lo, 6);
    assert_int_equal(hi, 27 + 4);
    x = twi_ix_make(ir, TWI_IX_SUB, twi_ix_make(ir, TWI_IX_ADD, n, m), n); /* cancels: m */
    assert_true(twi_ix_range(ir, x, &lo, &hi));
    assert_int_equal(lo, 0);
    assert_int_equal(hi, 4);
    assert_true(twi_ix_range(ir, twi_ix_make(ir, TWI_IX_MOD, n, k), &lo, &hi));
    assert_int_equal(lo, 0);
    assert_int_equal(hi, 2);
    assert_true(twi_ix_range(ir, twi_ix_make(ir, TWI_IX_DIV, n, k), &lo, &hi));
    assert_int_equal(lo, 0);
    assert_int_equal(hi, 3);
    assert_true(twi_ix_range(ir, twi_ix_leaf(ir, TWI_IX_HI, 2), &lo, &hi));
    assert_int_equal(lo, 1);
    assert_int_equal(hi, 5);
    x = twi_ix_make(ir, TWI_IX_SUB, twi_ix_make(ir, TWI_IX_MUL, k, n), twi_ix_const(ir, 7));
    x = twi_ix_make(ir, TWI_IX_ADD, x, n); /* 4n - 7 */
    twi_affine f = twi_ix_affine(ir, &ctx->arena, x);
    assert_int_equal(f.constant, -7);
    assert_int_equal(f.n, 1);
    assert_int_equal(f.term[0].atom, n);
    assert_int_equal(f.term[0].coef, 4);
    tw_context_destroy(ctx);
}

/* What is a multiple in every instance: ends of blocks, the lesser of two. */
static void index_multiples(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = from_text(ctx, "kernel k order free specialised\n"
                               "parallel n: 0 .. 12 tile 6, m: 0 .. 11 tile 6, o: 2 .. 12 {\n}\n");
    expect_fine(ctx);
    twi_ix n = twi_ix_leaf(ir, TWI_IX_HI, 1), m = twi_ix_leaf(ir, TWI_IX_HI, 2);
    twi_ix o = twi_ix_leaf(ir, TWI_IX_AXIS, 3), nine = twi_ix_const(ir, 9);
    twi_ix end =
        twi_ix_make(ir, TWI_IX_MIN, twi_ix_make(ir, TWI_IX_ADD, n, nine), twi_ix_const(ir, 12));
    assert_true(twi_ix_is_multiple(ir, n, 6));
    assert_true(twi_ix_is_multiple(ir, end, 3));
    assert_false(twi_ix_is_multiple(ir, end, 6));
    assert_false(twi_ix_is_multiple(ir, n, 4));
    assert_false(twi_ix_is_multiple(ir, m, 6)); /* the last block ends at 11 */
    assert_true(twi_ix_is_multiple(ir, twi_ix_leaf(ir, TWI_IX_LO, 2), 6));
    assert_false(twi_ix_is_multiple(ir, twi_ix_leaf(ir, TWI_IX_HI, 3), 1)); /* no blocks */
    assert_false(twi_ix_is_multiple(ir, o, 2));
    assert_true(twi_ix_is_multiple(ir, twi_ix_make(ir, TWI_IX_MUL, o, nine), 3));
    tw_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding),         cmocka_unit_test(exactness),
        cmocka_unit_test(narrow_once),      cmocka_unit_test(arithmetic),
        cmocka_unit_test(index_arithmetic), cmocka_unit_test(index_multiples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
