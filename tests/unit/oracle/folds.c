/* SPDX-License-Identifier: Apache-2.0
 * Folds: fixed orders to the bit, free orders within their bounds, canonical against a direct
 * recursion, special values, faults.
 */
#include "kernels.h"
#include "oracle/det.h"
#include "oracle/tree.h"

/* canonical, from its definition, over pointers to rows. */
static float canonical(const float *x, size_t n) {
    if (n == 0)
        return 0.0f;
    if (n == 1)
        return x[0];
    size_t chunks = (n + 2047) / 2048;
    float *row = malloc(chunks * sizeof *row);
    assert_non_null(row);
    for (size_t c = 0; c < chunks; c++) {
        float lane[256];
        bool there[256] = {false};
        for (size_t i = c * 2048; i < n && i < (c + 1) * 2048; i++) {
            size_t l = i % 256;
            lane[l] = there[l] ? lane[l] + x[i] : x[i];
            there[l] = true;
        }
        for (size_t bit = 1; bit <= 128; bit *= 2) {
            float next[256];
            for (size_t l = 0; l < 256; l++) {
                next[l] = there[l] ? lane[l] : 0.0f;
                if (there[l] && l + bit < 256 && there[l + bit])
                    next[l] = lane[l] + lane[l + bit];
            }
            memcpy(lane, next, sizeof lane);
        }
        row[c] = lane[0];
    }
    float y = canonical(row, chunks);
    free(row);
    return y;
}

static const int64_t lengths[] = {1,   2,   3,   7,   31,   33,   63,   65,  127,
                                  129, 255, 256, 257, 2047, 2048, 2049, 5000};
#define N_LENGTHS (sizeof lengths / sizeof *lengths)

static void test_fixed_orders(void **state) {
    (void)state;
    for (size_t k = 0; k < N_LENGTHS; k++)
        for (unsigned order = 0; order < 3; order++) {
            static const tw_order orders[] = {TW_ORDER_LEFT, TW_ORDER_LEFT, TW_ORDER_CANONICAL};
            bench t;
            size_t n = (size_t)lengths[k];
            float y[2] = {0};
            open_bench(&t);
            build_fold(&t, (fold_kind){TW_FOLD_SUM, orders[order], TW_F32, TW_F32}, 2, lengths[k]);
            if (order == 1) /* `right` has no text yet */
                t.ir->ins.at[find_op(t.ir, TWI_SUM, 0)].order = TWI_ORDER_RIGHT;
            const float *x = fill(&t, 1, "cancel", k);
            assert_true(twi_oracle_determined(t.ir, false));
            run(&t, NULL, 0, false);
            for (size_t r = 0; r < 2; r++) {
                const float *row = x + r * n;
                if (order == 2) {
                    y[r] = canonical(row, n);
                    continue;
                }
                y[r] = order == 0 ? row[0] : row[n - 1];
                for (size_t i = 1; i < n; i++)
                    y[r] += order == 0 ? row[i] : row[n - 1 - i];
            }
            twi_verdict v = judge(&t, 2, y);
            assert_true(v.ok && v.determined && v.single == 2 && v.covered == 2);
            y[1] = nextafterf(y[1], INFINITY); /* one bit off */
            v = judge(&t, 2, y);
            assert_true(!v.ok && v.wrong == 1 && v.at[0] == 1);
            close_bench(&t);
        }
}

static void test_canonical_class(void **state) {
    bench t;
    (void)state;
    open_bench(&t);
    build_fold(&t, (fold_kind){TW_FOLD_SUM, TW_ORDER_FREE, TW_F32, TW_F32}, 3, 70000);
    const float *x = fill(&t, 1, "normal", 5);
    assert_false(twi_oracle_determined(t.ir, false));
    assert_true(twi_oracle_determined(t.ir, true));
    run(&t, NULL, 0, true);
    float y[3];
    for (size_t r = 0; r < 3; r++)
        y[r] = canonical(x + r * 70000, 70000);
    twi_verdict v = judge(&t, 2, y);
    assert_true(v.ok && v.determined);
    close_bench(&t);
}

/* Bounds hold for machines that follow the descriptor, and are within a few of what happens. */
static void test_free_sums(void **state) {
    static const int64_t trees[] = {1, 4, 16, 128};
    double worst = 0.0;
    (void)state;
    for (size_t k = 0; k < N_LENGTHS; k++)
        for (size_t s = 0; s < 4; s++) {
            bench t;
            float y[16];
            size_t n = (size_t)lengths[k];
            open_bench(&t);
            build_fold(&t, (fold_kind){TW_FOLD_SUM, TW_ORDER_FREE, TW_F32, TW_F32}, 16, lengths[k]);
            const float *x = fill(&t, 1, s % 2 == 0 ? "normal" : "cancel", k * 4 + s);
            twi_order order = streams(t.ir, find_op(t.ir, TWI_SUM, 0), lengths[k], trees[s]);
            for (size_t r = 0; r < 16; r++)
                y[r] = sum_streams(x + r * n, n, (size_t)trees[s]);
            run(&t, &order, 1, false);
            twi_verdict v = judge(&t, 2, y);
            if (!v.ok)
                fail_msg("n %zu tree %d: [%d] got %s want %s bound %s", n, (int)trees[s],
                         (int)v.at[0], v.got, v.want, v.bound);
            assert_true(twi_verdict_probative(&v) && v.undecided == 0);
            if (n > 100 && s % 2 == 0)
                worst = v.worst > worst ? v.worst : worst;
            run(&t, NULL, 0, false); /* unknown order: wider, still holds */
            twi_verdict w = judge(&t, 2, y);
            assert_true(w.ok && (n < 100 || w.worst <= v.worst * 1.01));
            close_bench(&t);
        }
    assert_true(worst > 0.02 && worst <= 1.0);
}

/* A plan may cancel first what the oracle's own sum, from left to right, meets last: its reference
 * value is then off by more than the plan's sum is, and says so. */
static void test_reference_is_rounded_too(void **state) {
    static const double x[8] = {0x1p1000, 0x1p940, 1.0, 0.0, -0x1p1000, -0x1p940, 0.0, 0.0};
    const double right = 1.0;
    bench t;
    (void)state;
    open_bench(&t);
    build_fold(&t, (fold_kind){TW_FOLD_SUM, TW_ORDER_FREE, TW_F64, TW_F64}, 1, 8);
    t.array[1] = x;
    const twi_id fold = find_op(t.ir, TWI_SUM, 0);
    const twi_order o = streams(t.ir, fold, 8, 4);
    run(&t, &o, 1, false);
    twi_verdict v = judge(&t, 2, &right);
    if (!v.ok)
        fail_msg("got %s want %s bound %s", v.got, v.want, v.bound);
    close_bench(&t);
}

/* A product below the normal range is not exact because its remainder rounds to zero. */
static void test_tiny_products(void **state) {
    static const double a[2] = {0x1.8p-537, 0x1p-1074}, b[2] = {0x1p-537, 0.75};
    bench t;
    (void)state;
    open_bench(&t);
    build_gemm(&t, TW_ORDER_FREE, TW_F64, 1, 1, 2);
    t.array[1] = a;
    t.array[2] = b;
    run(&t, NULL, 0, false);
    for (int fused = 0; fused < 2; fused++) {
        const double last = a[1] * b[1], y = fused ? fma(a[0], b[0], last) : a[0] * b[0] + last;
        twi_verdict v = judge(&t, 3, &y);
        if (!v.ok)
            fail_msg("fused %d: got %s want %s bound %s", fused, v.got, v.want, v.bound);
    }
    close_bench(&t);
}

/* A dot by an atom that takes subnormals as 0: products of such operands may be 0, sums too. */
static void test_flushed_products(void **state) {
    enum { K = 4 };
    static const struct {
        float a[K], b[K], got;
        bool flushes, right;
    } list[] = {
        {{0x1p-130f, 1, 0, 0}, {1, 1, 0, 0}, 1, true, true}, /* 1 + 2^-130 is 1 in any case */
        {{0x1p-130f, 0, 0, 0}, {0x1p127f, 0, 0, 0}, 0x1p-3f, false, true},
        {{0x1p-130f, 0, 0, 0}, {0x1p127f, 0, 0, 0}, 0, false, false},
        {{0x1p-130f, 0, 0, 0}, {0x1p127f, 0, 0, 0}, 0x1p-3f, true, true},
        {{0x1p-130f, 0, 0, 0}, {0x1p127f, 0, 0, 0}, 0, true, true},
        {{0x1p-130f, 0, 0, 0}, {0x1p127f, 0, 0, 0}, -0x1p-20f, true, false},
        {{0x1p-70f, 0, 0, 0}, {0x1p-70f, 0, 0, 0}, 0, false, false}, /* a subnormal result */
        {{0x1p-70f, 0, 0, 0}, {0x1p-70f, 0, 0, 0}, 0, true, true},
        {{0x1p-70f, 0, 0, 0}, {0x1p-70f, 0, 0, 0}, 0x1p-120f, true, false},
        {{0x1p-130f, 3, 2, 1}, {INFINITY, 3, 2, 1}, INFINITY, false, true},
        {{0x1p-130f, 3, 2, 1}, {INFINITY, 3, 2, 1}, NAN, false, false},
        {{0x1p-130f, 3, 2, 1}, {INFINITY, 3, 2, 1}, NAN, true, true},
        {{5, 3, 2, 1}, {5, 3, 2, 1}, 39, true, true}, /* whole numbers stay exact */
        {{5, 3, 2, 1}, {5, 3, 2, 1}, 0x1.380002p+5f, true, false},
    };
    (void)state;
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        bench t;
        open_bench(&t);
        build_gemm(&t, TW_ORDER_FREE, TW_F32, 1, 1, K);
        t.array[1] = list[n].a;
        t.array[2] = list[n].b;
        const twi_id dot = find_op(t.ir, TWI_DOT, 0);
        const uint8_t axis = t.ir->ins.at[dot].fold[0];
        const twi_order o = {.fold = dot,
                             .n = 2,
                             .fused = 1,
                             .flushes = list[n].flushes,
                             .digit = {{axis, TWI_HOW_BACK, 1, 2}, {axis, TWI_HOW_CHAIN, 2, 2}},
                             .depth = K};
        run(&t, &o, 1, false);
        const twi_verdict v = judge(&t, 3, &list[n].got);
        if (v.ok != list[n].right)
            fail_msg("row %zu: got %s want %s bound %s", n, v.got, v.want, v.bound);
        close_bench(&t);
    }
}

/* Y[r] = dot[k](A[r, k], B[r, k], S[r]) */
static void build_dot_from(bench *t, int64_t R, int64_t K) {
    tw_builder *b = tw_build_begin(t->ctx, "dots");
    const int64_t sizes[] = {R, K};
    tw_ix r = tw_build_dim(b, "R", false), k = tw_build_dim(b, "K", false), dims[] = {r, k};
    tw_array A = tw_build_array(b, "A", TW_F32, TW_ROLE_IN, dims, 2);
    tw_array B = tw_build_array(b, "B", TW_F32, TW_ROLE_IN, dims, 2);
    tw_array S = tw_build_array(b, "S", TW_F32, TW_ROLE_IN, dims, 1);
    tw_array Y = tw_build_array(b, "Y", TW_F32, TW_ROLE_OUT, dims, 1);
    tw_range each = {"r", 0, r, 0}, over = {"k", 0, k, 0};
    tw_axis ar;
    tw_build_parallel(b, &each, 1, &ar);
    tw_axis ak = tw_build_axis(b, &over);
    tw_ix at[] = {tw_build_ix_axis(b, ar), tw_build_ix_axis(b, ak)};
    const tw_value x[] = {tw_build_load(b, A, at, 2, 0), tw_build_load(b, B, at, 2, 0)};
    const tw_value start = tw_build_load(b, S, at, 1, 0);
    tw_build_store(b, Y, at, 1, tw_build_dot(b, TW_ORDER_FREE, &ak, 1, x, start), 0);
    tw_build_end(b);
    finish(t, b, sizes, 2);
}

/* Terms that cancel leave nothing of a small start, whichever chain begins with it, though their
 * own partial sums are exact. */
static void test_start_of_a_dot(void **state) {
    enum { K = 8, ROWS = 4 };
    static const float a[ROWS][K] = {{3, -3, 0, 0, 0, 0, 0, 0},
                                     {0, 0, 0, 3, 0, -3, 0, 0},
                                     {3, -3, 5, -5, 7, -7, 9, -9},
                                     {0, 1.5f, -1.5f, 0x1p-20f, 100, 0, 0, -100}};
    static const float s[ROWS] = {0x1.555556p-9f, -0x1.e7654p-9f, 0x1.99999ap-4f, 0x1.555556p-2f};
    static const int64_t chains[] = {1, 2, 4, 8};
    float b[ROWS][K];
    (void)state;
    for (unsigned k = 0; k < ROWS * K; k++)
        b[k / K][k % K] = 1;
    for (unsigned n = 0; n < 4; n++)
        for (int64_t with = 0; with < chains[n]; with++) {
            bench t;
            float y[ROWS];
            open_bench(&t);
            build_dot_from(&t, ROWS, K);
            t.array[1] = a;
            t.array[2] = b;
            t.array[3] = s;
            const twi_order order = streams(t.ir, find_op(t.ir, TWI_DOT, 0), K, chains[n]);
            for (unsigned r = 0; r < ROWS; r++) {
                float sum[K] = {0};
                sum[with] = s[r];
                for (int64_t k = 0; k < K; k++)
                    sum[k % chains[n]] += a[r][k];
                for (int64_t w = chains[n] / 2; w > 0; w /= 2)
                    for (int64_t k = 0; k < w; k++)
                        sum[k] += sum[k + w];
                y[r] = sum[0];
            }
            run(&t, &order, 1, false);
            const twi_verdict v = judge(&t, 4, y);
            if (!v.ok)
                fail_msg("%d chains, start in %d: [%d] got %s want %s bound %s", (int)chains[n],
                         (int)with, (int)v.at[0], v.got, v.want, v.bound);
            y[2] += 1; /* an element lost shows */
            assert_false(judge(&t, 4, y).ok);
            close_bench(&t);
        }
}

/* The last of each pair comes first. */
static void test_backward_pairs(void **state) {
    const uint8_t axis = 1;
    const int64_t extent = 4;
    (void)state;
    for (unsigned back = 0; back < 2; back++) {
        const twi_order o = {.n = 2,
                             .digit = {{axis, back ? TWI_HOW_BACK : TWI_HOW_CHAIN, 1, 2},
                                       {axis, TWI_HOW_CHAIN, 2, 2}}};
        bench t;
        open_bench(&t);
        const twi_tree *tree = twi_tree_of(&t.ctx->arena, &o, &axis, &extent, 1, true);
        assert_non_null(tree);
        for (unsigned s = 0; s < 4; s++)
            assert_int_equal(tree->leaf[s], back ? s ^ 1 : s);
        assert_int_equal(tree->depth, 3);
        close_bench(&t);
    }
}

static void test_descriptors(void **state) {
    bench t;
    twi_oracle_in in;
    (void)state;
    open_bench(&t);
    build_fold(&t, (fold_kind){TW_FOLD_SUM, TW_ORDER_FREE, TW_F32, TW_F32}, 1, 100);
    fill(&t, 1, "normal", 1);
    in = (twi_oracle_in){t.array, NULL};
    twi_order o = streams(t.ir, find_op(t.ir, TWI_SUM, 0), 100, 16);
    twi_order again = o, other = streams(t.ir, o.fold, 100, 8);
    twi_order two[2] = {o, other}, turned[2] = {other, o};
    assert_true(twi_orders_key(&o, 1) == twi_orders_key(&again, 1));
    assert_true(twi_orders_key(&o, 1) != twi_orders_key(&other, 1));
    assert_true(twi_orders_key(two, 2) == twi_orders_key(turned, 2));
    other = o;
    other.flushes = 1;
    assert_true(twi_orders_key(&o, 1) != twi_orders_key(&other, 1));
    o.digit[0].extent = 3; /* 48 of 100 */
    assert_non_null(twi_oracle_error(twi_oracle_run(&t.ctx->arena, t.ir, &in, &o, 1, NULL)));
    o = again;
    o.digit[1].weight = 2; /* some twice */
    assert_non_null(twi_oracle_error(twi_oracle_run(&t.ctx->arena, t.ir, &in, &o, 1, NULL)));
    assert_null(twi_oracle_error(twi_oracle_run(&t.ctx->arena, t.ir, &in, two, 2, NULL)));
    close_bench(&t);
}

/* exact: one allowed value, so a lost, doubled or swapped element shows. */
static void test_exact_finds_missing(void **state) {
    static const tw_elem elems[] = {TW_F32, TW_F16, TW_BF16};
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        bench t;
        size_t n = 8192;
        open_bench(&t);
        build_fold(&t, (fold_kind){TW_FOLD_SUM, TW_ORDER_FREE, elems[e], elems[e]}, 4, (int64_t)n);
        const void *x = fill(&t, 1, "exact", 3);
        run(&t, NULL, 0, false);
        uint32_t y[4] = {0}, bad[4];
        float sum[4];
        for (size_t r = 0; r < 4; r++) {
            sum[r] = 0.0f;
            for (size_t i = 0; i < n; i++) {
                float v = (float)twi_double_of(elems[e], twi_load_bits(elems[e], x, r * n + i));
                assert_true(v != 0.0f);
                sum[r] += v;
            }
            twi_store_bits(elems[e], y, r, twi_narrow(elems[e], twi_bits_f32(sum[r])));
        }
        twi_verdict v = judge(&t, 2, y);
        assert_true(v.ok && v.single == 4);
        for (size_t i = 0; i < n; i += 777) {
            memcpy(bad, y, sizeof bad);
            float one = (float)twi_double_of(elems[e], twi_load_bits(elems[e], x, n + i));
            twi_store_bits(elems[e], bad, 1, twi_narrow(elems[e], twi_bits_f32(sum[1] - one)));
            v = judge(&t, 2, bad);
            assert_true(!v.ok && v.wrong == 1 && v.at[0] == 1);
            twi_store_bits(elems[e], bad, 1, twi_narrow(elems[e], twi_bits_f32(sum[1] + one)));
            assert_false(judge(&t, 2, bad).ok);
        }
        close_bench(&t);
    }
}

/* normal: accumulating in bf16 shows. */
static void test_narrow_accumulation(void **state) {
    bench t;
    size_t n = 1024;
    float y[8], bad[8];
    (void)state;
    open_bench(&t);
    build_fold(&t, (fold_kind){TW_FOLD_SUM, TW_ORDER_FREE, TW_F32, TW_F32}, 8, (int64_t)n);
    const float *x = fill(&t, 1, "normal", 9);
    run(&t, NULL, 0, false);
    for (size_t r = 0; r < 8; r++) {
        y[r] = sum_streams(x + r * n, n, 32);
        bad[r] = 0.0f;
        for (size_t i = 0; i < n; i++)
            bad[r] = twi_f32_of(
                twi_widen(TW_BF16, twi_narrow(TW_BF16, twi_bits_f32(bad[r] + x[r * n + i]))));
    }
    assert_true(judge(&t, 2, y).ok);
    assert_true(judge(&t, 2, bad).wrong >= 6);
    close_bench(&t);
}

static void test_special_sums(void **state) {
    bench t;
    size_t n = 33, rows_n = 14;
    float y[14];
    (void)state;
    open_bench(&t);
    build_fold(&t, (fold_kind){TW_FOLD_SUM, TW_ORDER_FREE, TW_F32, TW_F32}, 14, (int64_t)n);
    const float *x = fill(&t, 1, "special", 0);
    run(&t, NULL, 0, false);
    for (size_t r = 0; r < rows_n; r++)
        y[r] = sum_streams(x + r * n, n, 8);
    twi_verdict v = judge(&t, 2, y);
    if (!v.ok)
        fail_msg("[%d] got %s want %s bound %s", (int)v.at[0], v.got, v.want, v.bound);
    assert_true(isnan(y[1]) && isinf(y[3]));
    y[1] = 0.0f; /* NaN lost */
    v = judge(&t, 2, y);
    assert_true(!v.ok && v.at[0] == 1);
    y[1] = NAN;
    y[3] = 1.0f; /* inf lost */
    v = judge(&t, 2, y);
    assert_true(!v.ok && v.at[0] == 3);
    close_bench(&t);
}

static void test_order_free_folds(void **state) {
    static const tw_fold folds[] = {TW_FOLD_MAX, TW_FOLD_MIN};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        bench t;
        size_t n = 65;
        float y[14];
        open_bench(&t);
        build_fold(&t, (fold_kind){folds[k], TW_ORDER_AS_SAID, TW_F32, TW_F32}, 14, (int64_t)n);
        const float *x = fill(&t, 1, "special", 0);
        run(&t, NULL, 0, false);
        for (size_t r = 0; r < 14; r++) {
            y[r] = x[r * n];
            for (size_t i = 1; i < n; i++) {
                float a = x[r * n + i];
                bool zero = a == 0.0f && y[r] == 0.0f;
                bool take =
                    isnan(a) || (zero ? signbit(y[r]) != signbit(a) && (signbit(a) != 0) == (k == 1)
                                 : k == 0 ? a > y[r]
                                          : a < y[r]);
                y[r] = !isnan(y[r]) && take ? a : y[r];
            }
        }
        twi_verdict v = judge(&t, 2, y);
        if (!v.ok)
            fail_msg("[%d] got %s want %s bound %s", (int)v.at[0], v.got, v.want, v.bound);
        assert_true(v.determined);
        close_bench(&t);
    }
}

static void test_argmax(void **state) {
    bench t;
    (void)state;
    open_bench(&t);
    build_fold(&t, (fold_kind){TW_FOLD_ARGMAX, TW_ORDER_AS_SAID, TW_F32, TW_I64}, 4, 5);
    static const float x[4][5] = {{1, 3, 3, 2, 0},
                                  {1, NAN, 3, NAN, 0},
                                  {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY},
                                  {-0.0f, 0.0f, -1, 0, 0}}; /* -0 < +0 */
    int64_t y[4] = {1, 1, 0, 1};
    t.array[1] = x;
    run(&t, NULL, 0, false);
    assert_true(judge(&t, 2, y).ok);
    y[0] = 2; /* the last of two equal ones */
    assert_false(judge(&t, 2, y).ok);
    close_bench(&t);
}

static void test_integer_sums(void **state) {
    bench t;
    (void)state;
    open_bench(&t);
    build_fold(&t, (fold_kind){TW_FOLD_SUM, TW_ORDER_AS_SAID, TW_I32, TW_I32}, 1, 4);
    static const int32_t x[4] = {INT32_MAX, 1, -5, INT32_MAX};
    uint32_t y = 0;
    for (unsigned k = 0; k < 4; k++)
        y += (uint32_t)x[k];
    t.array[1] = x;
    run(&t, NULL, 0, false);
    assert_true(judge(&t, 2, &y).ok);
    y++;
    assert_false(judge(&t, 2, &y).ok);
    close_bench(&t);
}

static void test_empty(void **state) {
    static const struct {
        tw_fold fold;
        float want;
    } list[] = {{TW_FOLD_SUM, 0.0f},
                {TW_FOLD_PROD, 1.0f},
                {TW_FOLD_MAX, -INFINITY},
                {TW_FOLD_MIN, INFINITY}};
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        bench t;
        open_bench(&t);
        build_fold(&t, (fold_kind){list[k].fold, TW_ORDER_AS_SAID, TW_F32, TW_F32}, 2, 0);
        float y[2] = {list[k].want, list[k].want}, x = 0.0f;
        t.array[1] = &x;
        run(&t, NULL, 0, false);
        assert_true(judge(&t, 2, y).ok);
        y[1] = -5.0f;
        assert_false(judge(&t, 2, y).ok);
        close_bench(&t);
    }
}

static void test_products(void **state) {
    bench t;
    size_t n = 40;
    float y[8];
    (void)state;
    open_bench(&t);
    build_fold(&t, (fold_kind){TW_FOLD_PROD, TW_ORDER_FREE, TW_F32, TW_F32}, 8, (int64_t)n);
    const float *x = fill(&t, 1, "negative", 2);
    run(&t, NULL, 0, false);
    for (size_t r = 0; r < 8; r++) {
        y[r] = 1.0f;
        for (size_t i = 0; i < n; i++)
            y[r] *= x[r * n + (i * 7) % n];
    }
    twi_verdict v = judge(&t, 2, y);
    assert_true(v.ok && v.unbounded == 0);
    y[2] *= 1.0001f;
    assert_false(judge(&t, 2, y).ok);
    close_bench(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed_orders),
        cmocka_unit_test(test_canonical_class),
        cmocka_unit_test(test_free_sums),
        cmocka_unit_test(test_reference_is_rounded_too),
        cmocka_unit_test(test_tiny_products),
        cmocka_unit_test(test_flushed_products),
        cmocka_unit_test(test_backward_pairs),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_exact_finds_missing),
        cmocka_unit_test(test_start_of_a_dot),
        cmocka_unit_test(test_narrow_accumulation),
        cmocka_unit_test(test_special_sums),
        cmocka_unit_test(test_order_free_folds),
        cmocka_unit_test(test_argmax),
        cmocka_unit_test(test_integer_sums),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
