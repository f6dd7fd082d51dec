/* SPDX-License-Identifier: Apache-2.0
 * Whole programs: what machines compute in f32 under several orders lies within the bounds, the
 * bounds are tight, and planted faults are found.
 */
#include "kernels.h"
#include "oracle/det.h"
#include "oracle/portable.h"

static const size_t trees[] = {1, 4, 16, 64};
#define N_TREES 4

static double worst_width(const bench *t, uint32_t array, size_t n, bool relative) {
    double w = 0.0;
    for (size_t k = 0; k < n; k++) {
        twi_allowed a = twi_oracle_allowed(t->o, array, k);
        double h = fmax(a.hi - a.v, a.v - a.lo);
        if (relative)
            h /= fabs(a.v);
        if (!a.any && !a.nan && (!relative || fabs(a.v) > 1e-30))
            w = h > w ? h : w;
    }
    return w;
}

static void must_pass(bench *t, uint32_t array, const void *got, const char *what, size_t tree) {
    twi_verdict v = judge(t, array, got);
    if (!v.ok)
        fail_msg("%s, tree %zu: [%d, %d] got %s want %s bound %s (%d wrong)", what, tree,
                 (int)v.at[0], (int)v.at[1], v.got, v.want, v.bound, (int)v.wrong);
}

static void softmax(const float *x, float *y, size_t n, size_t tree) {
    float m = x[0];
    for (size_t k = 0; k < n; k++)
        m = x[k] > m ? x[k] : m;
    for (size_t k = 0; k < n; k++)
        y[k] = twi_portable_exp(x[k] - m);
    float s = sum_streams(y, n, tree);
    for (size_t k = 0; k < n; k++)
        y[k] /= s;
}

static void test_softmax(void **state) {
    size_t R = 4, W = 1024;
    (void)state;
    for (size_t s = 0; s < N_TREES; s++) {
        bench t;
        float y[4096];
        open_bench(&t);
        build_softmax(&t, TW_F32, (int64_t)R, (int64_t)W);
        const float *x = fill(&t, 1, "normal", s);
        twi_order o = streams(t.ir, find_op(t.ir, TWI_SUM, 0), (int64_t)W, (int64_t)trees[s]);
        for (size_t r = 0; r < R; r++)
            softmax(x + r * W, y + r * W, W, trees[s]);
        run(&t, &o, 1, false);
        must_pass(&t, 2, y, "softmax", trees[s]);
        if (trees[s] == 64) { /* depth 15 + 6; the running error sees half of that */
            double w = worst_width(&t, 2, R * W, true) / U;
            print_message("softmax normal: relative bound %.1f u\n", w);
            assert_true(w < 24.0);
        }
        y[5] = y[5] * 1.001f;
        assert_false(judge(&t, 2, y).ok);
        close_bench(&t);
    }
}

/* A row that is wholly -inf next to one that holds a NaN. */
static void test_softmax_special(void **state) {
    bench t;
    size_t R = 14, W = 33;
    float y[14 * 33];
    (void)state;
    open_bench(&t);
    build_softmax(&t, TW_F32, (int64_t)R, (int64_t)W);
    const float *x = fill(&t, 1, "special", 0);
    run(&t, NULL, 0, false);
    for (size_t r = 0; r < R; r++) {
        softmax(x + r * W, y + r * W, W, 4);
        for (size_t k = 0; k < W; k++) /* this test's max is no IEEE maximum: NaN by hand */
            if (isnan(x[r * W + k]))
                for (size_t j = 0; j < W; j++)
                    y[r * W + j] = NAN;
    }
    must_pass(&t, 2, y, "softmax special", 4);
    twi_verdict v = judge(&t, 2, y);
    assert_true(v.unbounded == 0 && v.undecided == 0);
    assert_true(isnan(y[5 * W]) && isnan(y[1 * W + 3]));
    y[1 * W + 3] = 0.0f;
    assert_false(judge(&t, 2, y).ok);
    close_bench(&t);
}

static void layernorm(const float *x, float *y, size_t n, size_t tree, bool twice, bool one_pass) {
    static float c[8192], q[8192];
    float count = (float)n, mean_x = sum_streams(x, n, tree) / count, var;
    for (size_t k = 0; k < n; k++)
        c[k] = x[k] - mean_x;
    if (twice) {
        float off = sum_streams(c, n, tree) / count;
        for (size_t k = 0; k < n; k++)
            c[k] -= off;
    }
    for (size_t k = 0; k < n; k++)
        q[k] = one_pass ? x[k] * x[k] : c[k] * c[k];
    var = sum_streams(q, n, tree) / count;
    if (one_pass)
        var = var - mean_x * mean_x;
    float d = (float)sqrt((double)(var + 1e-5f));
    for (size_t k = 0; k < n; k++)
        y[k] = c[k] / d;
}

static void layernorm_orders(const bench *t, twi_order *o, int64_t W, int64_t tree, unsigned sums) {
    for (unsigned k = 0; k < sums; k++)
        o[k] = streams(t->ir, find_op(t->ir, TWI_SUM, k), W, tree);
}

static void test_layernorm(void **state) {
    size_t R = 4, W = 1024;
    (void)state;
    for (size_t s = 0; s < N_TREES; s++)
        for (unsigned far = 0; far < 2; far++) {
            bench t;
            float y[4096];
            twi_order o[3];
            open_bench(&t);
            build_layernorm(&t, TW_F32, (int64_t)R, (int64_t)W, true);
            float *x = fill(&t, 1, "normal", s);
            for (size_t k = 0; k < R * W && far; k++)
                x[k] = 1000.0f + x[k];
            layernorm_orders(&t, o, (int64_t)W, (int64_t)trees[s], 3);
            for (size_t r = 0; r < R; r++)
                layernorm(x + r * W, y + r * W, W, trees[s], true, false);
            run(&t, o, 3, false);
            must_pass(&t, 2, y, far ? "layernorm 1000 + N(0,1)" : "layernorm N(0,1)", trees[s]);
            if (trees[s] == 64) {
                double w = worst_width(&t, 2, R * W, false);
                print_message("layernorm %s: worst bound %.2e\n", far ? "1000 + N(0,1)" : "N(0,1)",
                              w);
                assert_true(w < 1e-5);
            }
            for (size_t r = 0; r < R; r++)
                layernorm(x + r * W, y + r * W, W, trees[s], true, true);
            if (far) { /* one pass over squares */
                twi_verdict v = judge(&t, 2, y);
                assert_true(!v.ok && v.wrong > (int64_t)(R * W / 2));
            }
            close_bench(&t);
        }
}

static void test_gemm(void **state) {
    int64_t M = 7, N = 9, K = 130;
    (void)state;
    for (size_t s = 0; s < N_TREES; s++)
        for (unsigned fused = 0; fused < 2; fused++) {
            bench t;
            float c[63], prod[256];
            open_bench(&t);
            build_gemm(&t, TW_ORDER_FREE, TW_F32, M, N, K);
            const float *a = fill(&t, 1, "normal", s), *b = fill(&t, 2, "normal", s);
            twi_order o = streams(t.ir, find_op(t.ir, TWI_DOT, 0), K, (int64_t)trees[s]);
            o.fused = (uint8_t)fused;
            for (size_t i = 0; i < 63; i++) {
                const float *row = a + i / 9 * (size_t)K;
                for (size_t k = 0; k < (size_t)K; k++)
                    prod[k] = row[k] * b[k * 9 + i % 9];
                c[i] = sum_streams(prod, (size_t)K, trees[s]);
                if (fused && trees[s] == 1) {
                    c[i] = 0.0f;
                    for (size_t k = 0; k < (size_t)K; k++)
                        c[i] = twi_f32_fma(row[k], b[k * 9 + i % 9], c[i]);
                }
            }
            run(&t, &o, 1, false);
            must_pass(&t, 3, c, "gemm", trees[s]);
            c[11] -= a[K] * b[2]; /* one product missing */
            twi_verdict v = judge(&t, 3, c);
            assert_true(!v.ok && v.wrong == 1 && v.at[0] == 1 && v.at[1] == 2);
            close_bench(&t);
        }
}

/* canonical: one fma chain over ascending k from zero, to the bit. */
static void test_gemm_canonical(void **state) {
    bench t;
    float c[6];
    (void)state;
    open_bench(&t);
    build_gemm(&t, TW_ORDER_CANONICAL, TW_F32, 2, 3, 100);
    const float *a = fill(&t, 1, "normal", 1), *b = fill(&t, 2, "normal", 1);
    run(&t, NULL, 0, false);
    for (size_t i = 0; i < 6; i++) {
        c[i] = 0.0f;
        for (size_t k = 0; k < 100; k++)
            c[i] = fmaf(a[i / 3 * 100 + k], b[k * 3 + i % 3], c[i]);
    }
    twi_verdict v = judge(&t, 3, c);
    assert_true(v.ok && v.determined);
    c[4] = nextafterf(c[4], 0.0f);
    assert_false(judge(&t, 3, c).ok);
    close_bench(&t);
}

static void test_gemm_exact_bf16(void **state) {
    bench t;
    uint16_t c[48 * 40];
    int64_t M = 48, N = 40, K = 64;
    (void)state;
    open_bench(&t);
    build_gemm(&t, TW_ORDER_FREE, TW_BF16, M, N, K);
    const uint16_t *a = fill(&t, 1, "exact", 1), *b = fill(&t, 2, "exact", 1);
    run(&t, NULL, 0, false);
    for (size_t i = 0; i < 48 * 40; i++) {
        float s = 0.0f;
        for (size_t k = 0; k < 64; k++)
            s += twi_f32_of(twi_widen(TW_BF16, a[i / 40 * 64 + k])) *
                 twi_f32_of(twi_widen(TW_BF16, b[k * 40 + i % 40]));
        assert_true(fabsf(s) < 255.0f);
        c[i] = (uint16_t)twi_narrow(TW_BF16, twi_bits_f32(s));
    }
    twi_verdict v = judge(&t, 3, c);
    assert_true(v.ok && v.single == 48 * 40);
    close_bench(&t);
}

static void attention_machine(const float *q, const float *k, const float *v, float *out,
                              attention_size z) {
    size_t I = (size_t)z.I, J = (size_t)z.J, D = (size_t)z.D, BI = (size_t)z.BI, BJ = (size_t)z.BJ;
    bool causal = z.causal;
    for (size_t i = 0; i < I; i++) {
        float m = -INFINITY, l = 0.0f, acc[64] = {0};
        size_t top = (i / BI + 1) * BI < I ? (i / BI + 1) * BI : I,
               end = causal && top < J ? top : J;
        for (size_t j0 = 0; j0 < end; j0 += BJ) {
            float s[64], p[64], t[64], sum = 0.0f, m2 = m;
            size_t n = j0 + BJ < end ? BJ : end - j0;
            for (size_t j = 0; j < n; j++) {
                for (size_t d = 0; d < D; d++)
                    t[d] = q[i * D + d] * k[(j0 + j) * D + d];
                s[j] = sum_streams(t, D, 8) * 0.125f;
                s[j] = causal && j0 + j > i ? -INFINITY : s[j];
                m2 = s[j] > m2 ? s[j] : m2;
            }
            float base = m2 == -INFINITY ? 0.0f : m2, a = twi_portable_exp(m - base);
            for (size_t j = 0; j < n; j++)
                p[j] = twi_portable_exp(s[j] - base);
            sum = sum_streams(p, n, 4);
            l = l * a + sum;
            for (size_t e = 0; e < D; e++) {
                float c = acc[e] * a;
                for (size_t j = 0; j < n; j++)
                    c = twi_f32_fma(p[j], v[(j0 + j) * D + e], c);
                acc[e] = c;
            }
            m = m2;
        }
        for (size_t e = 0; e < D; e++)
            out[i * D + e] = l == 0.0f ? 0.0f : acc[e] / l;
    }
}

static void test_attention(void **state) {
    (void)state;
    for (unsigned causal = 0; causal < 2; causal++)
        for (unsigned scaled = 0; scaled < 2; scaled++) {
            bench t;
            size_t I = 50, D = 32;
            attention_size z = {50, 70, 32, 16, 32, causal};
            static float out[50 * 32];
            open_bench(&t);
            build_attention(&t, TW_F32, z);
            float *q = fill(&t, 1, "normal", 1);
            const float *k = fill(&t, 2, "normal", 2), *v = fill(&t, 3, "normal", 3);
            for (size_t x = 0; x < I * D && scaled; x++)
                q[x] *= 10.0f;
            run(&t, NULL, 0, false);
            attention_machine(q, k, v, out, z);
            must_pass(&t, 4, out, causal ? "causal attention" : "attention", 0);
            double w = worst_width(&t, 4, I * D, false);
            print_message("attention%s%s: worst bound %.2e\n", causal ? ", causal" : "",
                          scaled ? ", scores of 50" : "", w);
            assert_true(w < (scaled ? 1e-3 : 5e-5));
            twi_verdict verdict = judge(&t, 4, out);
            assert_true(twi_verdict_probative(&verdict) && verdict.worst > 1e-3);
            out[40] *= 1.001f;
            assert_false(judge(&t, 4, out).ok);
            close_bench(&t);
        }
}

/* Stores to bf16 accept the rounded ends and nothing else. */
static void test_narrow_store(void **state) {
    bench t;
    size_t R = 2, W = 200;
    uint16_t y[400];
    (void)state;
    open_bench(&t);
    build_softmax(&t, TW_BF16, (int64_t)R, (int64_t)W);
    const uint16_t *x = fill(&t, 1, "normal", 4);
    float wide[400], res[400];
    for (size_t k = 0; k < 400; k++)
        wide[k] = twi_f32_of(twi_widen(TW_BF16, x[k]));
    run(&t, NULL, 0, false);
    for (size_t r = 0; r < R; r++)
        softmax(wide + r * W, res + r * W, W, 4);
    for (size_t k = 0; k < 400; k++)
        y[k] = (uint16_t)twi_narrow(TW_BF16, twi_bits_f32(res[k]));
    twi_verdict v = judge(&t, 2, y);
    assert_true(v.ok && v.single > 350);
    y[7]++;
    v = judge(&t, 2, y);
    assert_true(!v.ok && v.wrong == 1 && v.at[1] == 7);
    uint16_t own[400];
    twi_oracle_values(t.o, 2, own);
    assert_true(judge(&t, 2, own).ok);
    close_bench(&t);
}

/* A comparison that rounding leaves open is reported, both branches pass, others do not. */
static void test_undecided(void **state) {
    bench t;
    (void)state;
    open_bench(&t);
    rows k = begin_rows(&t, TW_F32, TW_F32, true);
    tw_value s = tw_build_fold(k.b, TW_FOLD_SUM, TW_ORDER_FREE, &k.w, 1, k.load);
    tw_value c = op(k.b, TW_OP_LT, s, f32_const(k.b, "0.75"));
    tw_value y = tw_build_op(k.b, TW_OP_WHERE, c, f32_const(k.b, "1"), f32_const(k.b, "2"));
    end_rows(&t, &k, y, 1, 3, 4);
    static const float x[3][4] = {{0.1f, 0.2f, 0.3f, 0.15f}, {1, 2, 3, 4}, {-1, 0.1f, 0, 0}};
    t.array[1] = x;
    run(&t, NULL, 0, false);
    float got[3] = {1.0f, 2.0f, 1.0f};
    twi_verdict v = judge(&t, 2, got);
    assert_true(v.ok && v.undecided == 1 && !twi_verdict_probative(&v));
    got[0] = 2.0f;
    assert_true(judge(&t, 2, got).ok);
    got[1] = 1.0f;
    v = judge(&t, 2, got);
    assert_true(!v.ok && v.at[0] == 1);
    close_bench(&t);
}

/* argmax of sums: any index whose interval reaches the best lower bound. */
static void test_bounded_argmax(void **state) {
    bench t;
    (void)state;
    open_bench(&t);
    tw_builder *b = tw_build_begin(t.ctx, "best");
    tw_ix R = tw_build_dim(b, "R", false), W = tw_build_dim(b, "W", false), dims[] = {R, W};
    tw_array X = tw_build_array(b, "X", TW_F32, TW_ROLE_IN, dims, 2);
    tw_array Y = tw_build_array(b, "Y", TW_I64, TW_ROLE_OUT, NULL, 0);
    tw_range r = {"r", 0, R, 0}, w = {"w", 0, W, 0};
    tw_build_parallel(b, NULL, 0, NULL);
    tw_axis ar = tw_build_axis(b, &r), aw = tw_build_axis(b, &w);
    tw_ix at[] = {tw_build_ix_axis(b, ar), tw_build_ix_axis(b, aw)};
    tw_value s =
        tw_build_fold(b, TW_FOLD_SUM, TW_ORDER_FREE, &aw, 1, tw_build_load(b, X, at, 2, 0));
    tw_build_store(b, Y, NULL, 0, tw_build_fold(b, TW_FOLD_ARGMAX, TW_ORDER_AS_SAID, &ar, 1, s), 0);
    tw_build_end(b);
    finish(&t, b, (const int64_t[]){5, 3}, 2);
    static const float x[5][3] = {
        {1, 2, 3}, {0.1f, 0.2f, 9.7f}, {0.2f, 9.7f, 0.1f}, {1, 1, 1}, {9, 0.5f, 0}};
    t.array[1] = x;
    run(&t, NULL, 0, false);
    int64_t got = 1;
    twi_verdict v = judge(&t, 2, &got);
    assert_true(v.ok && v.undecided == 1);
    got = 2;
    assert_true(judge(&t, 2, &got).ok);
    for (got = 0; got < 6; got++)
        assert_true(judge(&t, 2, &got).ok == (got == 1 || got == 2));
    /* Sums of zeros may be -0 or +0, so that each of them may be the greatest. */
    static const float zero[5][3] = {
        {-1, -2, -3}, {-0.0f, 0, -0.0f}, {-1, 0, 0}, {-0.0f, 0, 0}, {-1, 0, 0}};
    t.array[1] = zero;
    run(&t, NULL, 0, false);
    for (got = 0; got < 6; got++)
        assert_true(judge(&t, 2, &got).ok == (got == 1 || got == 3));
    close_bench(&t);
}

/* A divisor whose interval holds 0: nothing is known, and that is counted. */
static void test_unbounded(void **state) {
    bench t;
    (void)state;
    open_bench(&t);
    rows k = begin_rows(&t, TW_F32, TW_F32, true);
    tw_value s = tw_build_fold(k.b, TW_FOLD_SUM, TW_ORDER_FREE, &k.w, 1, k.load);
    end_rows(&t, &k, op(k.b, TW_OP_DIV, f32_const(k.b, "1"), s), 1, 1, 3);
    static const float x[3] = {0.1f, 0.2f, -0.3f};
    t.array[1] = x;
    run(&t, NULL, 0, false);
    float got = 3.0f;
    twi_verdict v = judge(&t, 2, &got);
    assert_true(v.unbounded == 1 && !twi_verdict_probative(&v));
    close_bench(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_softmax),        cmocka_unit_test(test_softmax_special),
        cmocka_unit_test(test_layernorm),      cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_gemm_canonical), cmocka_unit_test(test_gemm_exact_bf16),
        cmocka_unit_test(test_attention),      cmocka_unit_test(test_narrow_store),
        cmocka_unit_test(test_undecided),      cmocka_unit_test(test_bounded_argmax),
        cmocka_unit_test(test_unbounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
