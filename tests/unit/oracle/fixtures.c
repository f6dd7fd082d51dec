/* SPDX-License-Identifier: Apache-2.0
 * What the fixtures promise.
 */
#include "kernels.h"
#include "oracle/det.h"

static const tw_elem elems[] = {TW_F64, TW_F32, TW_F16, TW_BF16, TW_I8,
                                TW_I32, TW_U8,  TW_U32, TW_I64,  TW_BOOL};
#define N_ELEMS (sizeof elems / sizeof *elems)

static void test_names(void **state) {
    (void)state;
    for (unsigned f = TWI_FIX_NORMAL; f < TWI_FIXTURES; f++)
        assert_int_equal(twi_fixture_named(twi_fixture_name((twi_fixture)f)), f);
    assert_int_equal(twi_fixture_named("Normal"), TWI_FIX_NONE);
    assert_int_equal(twi_fixture_named(""), TWI_FIX_NONE);
    assert_int_equal(twi_fixtures_named("zero,normal"),
                     UINT32_C(1) << TWI_FIX_ZERO | UINT32_C(1) << TWI_FIX_NORMAL);
    assert_int_equal(twi_fixtures_named("normal"), UINT32_C(1) << TWI_FIX_NORMAL);
    static const char *const wrong[] = {"", "norm", "normal,", ",normal", "normal,Zero"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        assert_int_equal(twi_fixtures_named(wrong[k]), 0);
}

/* A copy kernel: an array X of the type. */
static void build_copy(bench *t, tw_elem elem, int64_t R, int64_t W) {
    rows k = begin_rows(t, elem, elem, false);
    end_rows(t, &k, k.load, 2, R, W);
}

static void test_same_bytes(void **state) {
    (void)state;
    for (size_t e = 0; e < N_ELEMS; e++) {
        bench t;
        size_t bytes = 15 * 33 * tw_elem_size(elems[e]);
        open_bench(&t);
        build_copy(&t, elems[e], 15, 33);
        for (unsigned f = TWI_FIX_NORMAL; f < TWI_FIXTURES; f++) {
            const char *name = twi_fixture_name((twi_fixture)f);
            void *a = fill(&t, 1, name, 7), *b = fill(&t, 1, name, 7), *c = fill(&t, 1, name, 8);
            assert_memory_equal(a, b, bytes);
            if (f != TWI_FIX_ZERO)
                assert_memory_not_equal(a, c, bytes);
        }
        close_bench(&t);
    }
}

static void test_exact(void **state) {
    (void)state;
    for (size_t e = 0; e < N_ELEMS - 1; e++) { /* bools apart */
        bench t;
        double column[512] = {0};
        open_bench(&t);
        build_copy(&t, elems[e], 128, 512);
        const void *x = fill(&t, 1, "exact", 5);
        bool sign = twi_is_float(elems[e]) || twi_is_signed(elems[e]);
        for (size_t r = 0; r < 128; r++) {
            double run = 0.0, left = 0.0;
            for (size_t k = 0; k < 512; k++) {
                uint64_t bits = twi_load_bits(elems[e], x, r * 512 + k);
                double v = twi_double_of(elems[e], bits);
                if (elems[e] == TW_U64 || !sign)
                    v = (double)bits;
                assert_true(v != 0.0 && fabs(v) <= 3.0 && v != left);
                run += v;
                column[k] += v;
                left = v;
                assert_true(!sign || fabs(run) <= 200.0);
            }
        }
        for (size_t k = 0; k < 512 && sign; k++)
            assert_true(fabs(column[k]) <= 200.0);
        close_bench(&t);
    }
}

static void test_special_and_negative(void **state) {
    bench t;
    unsigned nan = 0, inf = 0, tiny = 0, minus_zero = 0, big = 0, lines_of_inf = 0;
    (void)state;
    open_bench(&t);
    build_copy(&t, TW_F32, 14, 31);
    const float *x = fill(&t, 1, "special", 3);
    for (size_t r = 0; r < 14; r++) {
        unsigned low = 0;
        for (size_t k = 0; k < 31; k++) {
            float v = x[r * 31 + k];
            nan += isnan(v) ? 1u : 0u;
            inf += isinf(v) ? 1u : 0u;
            tiny += v != 0.0f && fabsf(v) < 0x1p-126f ? 1u : 0u;
            minus_zero += v == 0.0f && signbit(v) ? 1u : 0u;
            big += fabsf(v) == 0x1.fffffep127f ? 1u : 0u;
            low += v == -INFINITY ? 1u : 0u;
        }
        lines_of_inf += low == 31 ? 1u : 0u;
    }
    assert_true(nan >= 3 && inf > 31 && tiny >= 20 && minus_zero > 5 && big == 2 &&
                lines_of_inf == 1);
    x = fill(&t, 1, "negative", 3);
    for (size_t k = 0; k < 14 * 31; k++)
        assert_true(x[k] < 0.0f);
    close_bench(&t);
}

static void test_normal_moments(void **state) {
    bench t;
    double s = 0.0, q = 0.0;
    (void)state;
    open_bench(&t);
    build_copy(&t, TW_F64, 100, 100);
    const double *x = fill(&t, 1, "normal", 3);
    for (size_t k = 0; k < 10000; k++) {
        s += x[k];
        q += x[k] * x[k];
    }
    assert_true(fabs(s / 10000) < 0.05 && fabs(q / 10000 - 1.0) < 0.06);
    close_bench(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),          cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_exact),          cmocka_unit_test(test_special_and_negative),
        cmocka_unit_test(test_normal_moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
