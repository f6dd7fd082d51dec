/* SPDX-License-Identifier: Apache-2.0
 * Determined operations against arithmetic of the test's own: wider integers, long double, and
 * rules written out by hand.
 */
#include "../base/test.h"

#include "base/hash.h"
#include "oracle/det.h"
#include "oracle/portable.h"
#include <math.h>
#include <stdio.h>

static uint64_t op2(unsigned op, tw_elem elem, tw_elem to, uint64_t a, uint64_t b) {
    twi_det d = twi_det_of(op, elem, to);
    uint64_t x[3] = {a, b, 0};
    assert_non_null(d.fn);
    return twi_det_do(&d, x);
}

static uint32_t f32(float x) { return (uint32_t)twi_bits_f32(x); }

static uint64_t fop(unsigned op, float a, float b) {
    return op2(op, TW_F32, TW_F32, f32(a), f32(b));
}

static void test_min_max(void **state) {
    (void)state;
    assert_int_equal(fop(TWI_MAX, -0.0f, 0.0f), f32(0.0f));
    assert_int_equal(fop(TWI_MAX, 0.0f, -0.0f), f32(0.0f));
    assert_int_equal(fop(TWI_MIN, 0.0f, -0.0f), f32(-0.0f));
    assert_int_equal(fop(TWI_MIN, -0.0f, 0.0f), f32(-0.0f));
    assert_int_equal(fop(TWI_MAX, -0.0f, -0.0f), f32(-0.0f));
    assert_true(isnan(twi_f32_of(fop(TWI_MAX, NAN, 1.0f))));
    assert_true(isnan(twi_f32_of(fop(TWI_MAX, 1.0f, NAN))));
    assert_true(isnan(twi_f32_of(fop(TWI_MIN, INFINITY, NAN))));
    assert_true(isnan(twi_f32_of(fop(TWI_MIN, NAN, -INFINITY))));
    assert_int_equal(fop(TWI_MAX, -INFINITY, -3.0f), f32(-3.0f));
    assert_int_equal(fop(TWI_MIN, 2.0f, 3.0f), f32(2.0f));
}

static void test_floor_division(void **state) {
    (void)state;
    for (int a = -128; a < 128; a++)
        for (int b = -128; b < 128; b++) {
            int q = b == 0 ? 0 : (int)floor((double)a / (double)b); /* exact enough: 8 bits */
            int r = b == 0 ? a : a - b * q;
            uint64_t x = (uint8_t)a, y = (uint8_t)b;
            assert_int_equal(op2(TWI_IDIV, TW_I8, TW_I8, x, y), (uint8_t)q);
            assert_int_equal(op2(TWI_IMOD, TW_I8, TW_I8, x, y), (uint8_t)r);
        }
    uint64_t least = UINT64_C(1) << 63;
    assert_int_equal(op2(TWI_IDIV, TW_I64, TW_I64, least, UINT64_MAX), least);
    assert_int_equal(op2(TWI_IMOD, TW_I64, TW_I64, least, UINT64_MAX), 0);
    assert_int_equal(op2(TWI_IDIV, TW_U64, TW_U64, UINT64_MAX, 2), UINT64_MAX / 2);
    assert_int_equal(op2(TWI_IDIV, TW_I32, TW_I32, 0xfffffff9u, 2), 0xfffffffcu); /* -7 // 2 = -4 */
    assert_int_equal(op2(TWI_IMOD, TW_I32, TW_I32, 0xfffffff9u, 2), 1);
}

static void test_wrap_and_shift(void **state) {
    (void)state;
    assert_int_equal(op2(TWI_ADD, TW_I32, TW_I32, 0x7fffffffu, 1), 0x80000000u);
    assert_int_equal(op2(TWI_MUL, TW_I8, TW_I8, 100, 3), (uint8_t)300);
    assert_int_equal(op2(TWI_SUB, TW_U8, TW_U8, 3, 5), 254);
    assert_int_equal(op2(TWI_NEG, TW_I32, TW_I32, 0x80000000u, 0), 0x80000000u);
    assert_int_equal(op2(TWI_ABS, TW_I8, TW_I8, 0x80, 0), 0x80);
    assert_int_equal(op2(TWI_ABS, TW_I8, TW_I8, (uint8_t)-5, 0), 5);
    assert_int_equal(op2(TWI_SHL, TW_I32, TW_I32, 1, 33), 2);
    assert_int_equal(op2(TWI_SHR, TW_I32, TW_I32, 0x80000000u, 4), 0xf8000000u);
    assert_int_equal(op2(TWI_SHR, TW_U32, TW_U32, 0x80000000u, 36), 0x08000000u);
    assert_int_equal(op2(TWI_SHR, TW_I64, TW_I64, UINT64_MAX, 64), UINT64_MAX);
    assert_int_equal(op2(TWI_SHL, TW_U8, TW_U8, 0x81, 9), 2);
    assert_int_equal(op2(TWI_BNOT, TW_U8, TW_U8, 0x0f, 0), 0xf0);
    assert_int_equal(op2(TWI_MAX, TW_I8, TW_I8, 0xff, 1), 1);
    assert_int_equal(op2(TWI_MAX, TW_U8, TW_U8, 0xff, 1), 0xff);
    assert_int_equal(op2(TWI_LT, TW_I8, TW_BOOL, 0xff, 1), 1);
    assert_int_equal(op2(TWI_LT, TW_U8, TW_BOOL, 0xff, 1), 0);
}

static void test_compare_nan(void **state) {
    static const unsigned ops[] = {TWI_EQ, TWI_NE, TWI_LT, TWI_LE, TWI_GT, TWI_GE};
    (void)state;
    for (size_t k = 0; k < 6; k++)
        assert_int_equal(op2(ops[k], TW_F32, TW_BOOL, f32(NAN), f32(1.0f)), ops[k] == TWI_NE);
    assert_int_equal(op2(TWI_EQ, TW_F32, TW_BOOL, f32(0.0f), f32(-0.0f)), 1);
    assert_int_equal(op2(TWI_LT, TW_F64, TW_BOOL, twi_bits_f64(-1.0), twi_bits_f64(0.0)), 1);
}

static void test_casts(void **state) {
    (void)state;
    assert_int_equal(twi_det_cast(TW_F32, TW_I8, f32(300.0f)), 127);
    assert_int_equal(twi_det_cast(TW_F32, TW_I8, f32(-300.0f)), 0x80);
    assert_int_equal(twi_det_cast(TW_F32, TW_I8, f32(-1.9f)), 0xff);
    assert_int_equal(twi_det_cast(TW_F32, TW_U8, f32(-1.9f)), 0);
    assert_int_equal(twi_det_cast(TW_F32, TW_U8, f32(255.9f)), 255);
    assert_int_equal(twi_det_cast(TW_F32, TW_I32, f32(NAN)), 0);
    assert_int_equal(twi_det_cast(TW_F32, TW_I32, f32(INFINITY)), 0x7fffffff);
    assert_int_equal(twi_det_cast(TW_F32, TW_I64, f32(-INFINITY)), UINT64_C(1) << 63);
    assert_int_equal(twi_det_cast(TW_F64, TW_U64, twi_bits_f64(1.9e19)), UINT64_MAX);
    assert_int_equal(twi_det_cast(TW_I32, TW_F32, 16777217), f32(16777216.0f)); /* a tie, to even */
    assert_int_equal(twi_det_cast(TW_I64, TW_F32, (1ull << 40) + (1ull << 16) + 1),
                     f32(0x1.000002p40f));
    assert_int_equal(twi_det_cast(TW_U64, TW_F64, UINT64_MAX), twi_bits_f64(0x1p64));
    assert_int_equal(twi_det_cast(TW_I8, TW_I32, 0x80), 0xffffff80u);
    assert_int_equal(twi_det_cast(TW_I32, TW_U8, 0x1ff), 0xff);
    assert_int_equal(twi_det_cast(TW_F32, TW_BOOL, f32(-0.0f)), 0);
    assert_int_equal(twi_det_cast(TW_F32, TW_BOOL, f32(NAN)), 1);
    assert_int_equal(twi_det_cast(TW_BOOL, TW_F32, 1), f32(1.0f));
    assert_int_equal(twi_det_cast(TW_F64, TW_F32, twi_bits_f64(0x1.0000010000001p0)),
                     f32(0x1.000002p0f));
}

/* The nearest of a format's values, ties to even, found among all its finite patterns. */
static uint32_t nearest_pattern(tw_elem elem, double x, uint32_t inf) {
    uint32_t lo = 0, hi = inf; /* patterns of magnitudes grow with the value */
    double m = fabs(x);
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (twi_double_of(elem, mid) <= m)
            lo = mid;
        else
            hi = mid;
    }
    double below = twi_double_of(elem, lo);
    double above =
        hi == inf ? below + (below - twi_double_of(elem, lo - 1)) : twi_double_of(elem, hi);
    uint32_t pick = m - below < above - m   ? lo
                    : m - below > above - m ? hi
                    : (lo & 1u) == 0        ? lo
                                            : hi;
    return pick | (signbit(x) ? 0x8000u : 0u);
}

static void test_narrow(void **state) {
    static const struct {
        tw_elem elem;
        uint32_t inf;
    } formats[] = {{TW_F16, 0x7c00}, {TW_BF16, 0x7f80}};
    twi_rng rng;
    (void)state;
    twi_rng_init(&rng, 7);
    for (size_t k = 0; k < 2; k++) {
        tw_elem e = formats[k].elem;
        for (uint32_t p = 0; p < 0x10000u; p++) { /* all patterns survive f32 */
            uint64_t wide = twi_widen(e, p);
            if ((p & 0x7fffu) > formats[k].inf)
                assert_true(isnan(twi_f32_of(wide)) &&
                            (twi_narrow(e, wide) & 0x7fffu) > formats[k].inf);
            else
                assert_int_equal(twi_narrow(e, wide), p);
        }
        for (unsigned i = 0; i < 400000; i++) {
            uint32_t u = (uint32_t)twi_rng_next(&rng);
            if (i % 4 == 0) /* ties */
                u = (u & 0xffffe000u) | (k == 0 ? 0x1000u : 0u) | (k == 1 ? 0x8000u : 0u);
            if (i % 3 == 0) /* near the f16 range */
                u = (u & 0x8fffffffu) | 0x30000000u;
            float x = twi_f32_of(u);
            if (isfinite(x))
                assert_int_equal(twi_narrow(e, u), nearest_pattern(e, (double)x, formats[k].inf));
        }
        assert_int_equal(twi_narrow(e, f32(INFINITY)), formats[k].inf);
    }
    assert_int_equal(twi_narrow(TW_F16, f32(65519.0f)), 0x7bff);
    assert_int_equal(twi_narrow(TW_F16, f32(65520.0f)), 0x7c00);
    assert_int_equal(twi_narrow(TW_F16, f32(0x1p-25f)), 0);
    assert_int_equal(twi_narrow(TW_F16, f32(0x1.000002p-25f)), 1);
}

/* fma with all the bits: a 24x24-bit product and the addend on one integer grid, rounded by hand.
 */
static void test_fma(void **state) {
    twi_rng rng;
    (void)state;
    twi_rng_init(&rng, 11);
    for (unsigned i = 0; i < 200000; i++) {
        int64_t a = (int64_t)twi_rng_below(&rng, 1u << 24) - (1 << 23);
        int64_t b = (int64_t)twi_rng_below(&rng, 1u << 24) - (1 << 23);
        int64_t c = (int64_t)twi_rng_below(&rng, 1u << 24) - (1 << 23);
        unsigned shift = (unsigned)twi_rng_below(&rng, 36);
        int64_t exact = a * b + c * (INT64_C(1) << shift); /* |.| < 2^60 */
        uint64_t m = exact < 0 ? (uint64_t)-exact : (uint64_t)exact;
        unsigned drop = 0;
        while (m >> drop >= 1u << 24)
            drop++;
        uint64_t kept = m >> drop, rest = m & ((UINT64_C(1) << drop) - 1),
                 half = drop ? UINT64_C(1) << (drop - 1) : 0;
        if (drop != 0 && (rest > half || (rest == half && (kept & 1))))
            kept++;
        float want = (float)ldexp((double)kept, (int)drop);
        if (exact < 0)
            want = -want;
        float got = twi_f32_fma((float)a, (float)b, (float)ldexp((double)c, (int)shift));
        assert_true(got == want);
    }
    assert_true(isnan(twi_f32_fma(INFINITY, 0.0f, 1.0f)));
    assert_true(twi_f32_fma(0x1.fffffep127f, 2.0f, -0x1.fffffep127f) == 0x1.fffffep127f);
    assert_true(twi_f32_fma(0x1p-100f, 0x1p-50f, 0.0f) == 0.0f);
    assert_true(twi_f32_fma(0x1p-75f, 0x1.000002p-75f, 0.0f) == 0x1p-149f);
}

/* Halfway points decide: sqrt and division by exact comparison with the midpoints in long double.
 */
static void test_division_and_root(void **state) {
    twi_rng rng;
    (void)state;
    twi_rng_init(&rng, 13);
    for (unsigned i = 0; i < 100000; i++) {
        float a = 1.0f + (float)twi_rng_unit(&rng), b = 1.0f + (float)twi_rng_unit(&rng);
        float q = twi_f32_of(fop(TWI_DIV, a, b)), s = twi_f32_of(fop(TWI_SQRT, a, 0.0f));
        double qu = nextafterf(q, 9.0f), qd = nextafterf(q, 0.0f), su = nextafterf(s, 9.0f),
               sd = nextafterf(s, 0.0f);
        long double hi = ((long double)q + qu) / 2, lo = ((long double)q + qd) / 2;
        assert_true(hi * b >= a && lo * b <= a);
        hi = ((long double)s + su) / 2, lo = ((long double)s + sd) / 2;
        assert_true(hi * hi >= a && lo * lo <= a);
    }
    assert_true(isnan(twi_f32_of(fop(TWI_SQRT, -1.0f, 0.0f))));
    assert_int_equal(fop(TWI_SQRT, -0.0f, 0.0f), f32(-0.0f));
    assert_true(isinf(twi_f32_of(fop(TWI_DIV, 1.0f, 0.0f))));
    assert_true(isnan(twi_f32_of(fop(TWI_DIV, 0.0f, 0.0f))));
}

/* The statement of error, on a sample (all inputs: tests/exhaustive/portable.c). */
static void test_portable(void **state) {
    static const struct {
        float (*f)(float);
        double (*g)(double);
        double phi;
    } fn[] = {{twi_portable_exp, exp, TWI_EXP_PHI},
              {twi_portable_log, log, TWI_LOG_PHI},
              {twi_portable_tanh, tanh, TWI_TANH_PHI},
              {twi_portable_erf, erf, TWI_ERF_PHI}};
    (void)state;
    for (size_t k = 0; k < 4; k++)
        for (uint64_t u = 0; u < UINT64_C(1) << 32; u += 4099) {
            float x = twi_f32_of(u), y = fn[k].f(x);
            double want = fn[k].g((double)x);
            if (isnan(want) || isinf((float)want))
                assert_true(isnan(want) ? isnan(y) : y == (float)want);
            else
                assert_true(fabs((double)y - want) <= fn[k].phi * 0x1p-24 * fabs(want) + 0x1p-149);
        }
    assert_true(twi_portable_exp(0.0f) == 1.0f && twi_portable_exp(-INFINITY) == 0.0f);
    assert_true(twi_portable_exp(INFINITY) == INFINITY && isnan(twi_portable_exp(NAN)));
    assert_true(twi_portable_log(0.0f) == -INFINITY && twi_portable_log(-0.0f) == -INFINITY);
    assert_true(isnan(twi_portable_log(-1.0f)) && twi_portable_log(1.0f) == 0.0f);
    assert_true(signbit(twi_portable_tanh(-0.0f)) && twi_portable_tanh(-40.0f) == -1.0f);
    assert_true(signbit(twi_portable_erf(-0.0f)) && twi_portable_erf(4.0f) == 1.0f);
    assert_true(isnan(twi_portable_tanh(NAN)) && isnan(twi_portable_erf(NAN)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_min_max),
        cmocka_unit_test(test_floor_division),
        cmocka_unit_test(test_wrap_and_shift),
        cmocka_unit_test(test_compare_nan),
        cmocka_unit_test(test_casts),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_fma),
        cmocka_unit_test(test_division_and_root),
        cmocka_unit_test(test_portable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
