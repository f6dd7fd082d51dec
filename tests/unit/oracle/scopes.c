/* SPDX-License-Identifier: Apache-2.0
 * Scopes, serial regions, guarded accesses, ranges that depend on the instance, the writer map,
 * samples.
 */
#include "kernels.h"
#include "oracle/det.h"

static tw_ix row(tw_builder *b, tw_axis a) { return tw_build_ix_axis(b, a); }

/* S[r] = sum X[r, ..] in one scope, Y[r, w] = X[r, w] / S[r] in the next. */
static void test_two_scopes(void **state) {
    bench t;
    (void)state;
    open_bench(&t);
    tw_builder *b = tw_build_begin(t.ctx, "two");
    tw_ix R = tw_build_dim(b, "R", false), W = tw_build_dim(b, "W", false), dims[] = {R, W};
    tw_array X = tw_build_array(b, "X", TW_F32, TW_ROLE_IN, dims, 2),
             S = tw_build_array(b, "S", TW_F32, TW_ROLE_TEMP, dims, 1);
    tw_array Y = tw_build_array(b, "Y", TW_F32, TW_ROLE_OUT, dims, 2);
    tw_range r = {"r", 0, R, 0}, w = {"w", 0, W, 0}, q = {"q", 0, R, 0}, v = {"v", 0, W, 0};
    tw_axis ar, aw;
    tw_build_parallel(b, &r, 1, &ar);
    aw = tw_build_axis(b, &w);
    tw_ix at[] = {row(b, ar), row(b, aw)};
    tw_build_store(
        b, S, at, 1,
        tw_build_fold(b, TW_FOLD_SUM, TW_ORDER_FREE, &aw, 1, tw_build_load(b, X, at, 2, 0)), 0);
    tw_build_end(b);
    tw_build_parallel(b, &q, 1, &ar);
    aw = tw_build_axis(b, &v);
    tw_ix to[] = {row(b, ar), row(b, aw)};
    tw_build_store(b, Y, to, 2,
                   op(b, TW_OP_DIV, tw_build_load(b, X, to, 2, 0), tw_build_load(b, S, to, 1, 0)),
                   0);
    tw_build_end(b);
    finish(&t, b, (const int64_t[]){3, 40}, 2);
    const float *x = fill(&t, 1, "negative", 1);
    run(&t, NULL, 0, false);
    float y[120];
    for (size_t k = 0; k < 120; k++)
        y[k] = x[k] / sum_streams(x + k / 40 * 40, 40, 8);
    twi_verdict verdict = judge(&t, 3, y);
    assert_true(verdict.ok && !verdict.determined && verdict.covered == 120);
    y[70] *= 1.0001f;
    assert_false(judge(&t, 3, y).ok);
    close_bench(&t);
}

/* Around scopes: three doublings in place, each a scope. */
static void test_serial_around(void **state) {
    bench t;
    (void)state;
    open_bench(&t);
    tw_builder *b = tw_build_begin(t.ctx, "around");
    tw_ix N = tw_build_dim(b, "N", false);
    tw_array X = tw_build_array(b, "X", TW_F32, TW_ROLE_INOUT, &N, 1);
    tw_range s = {"t", 0, tw_build_ix(b, 3), 0}, p = {"i", 0, N, 0};
    tw_axis i;
    (void)tw_build_serial(b, &s, NULL, 0);
    tw_build_parallel(b, &p, 1, &i);
    tw_ix at = row(b, i);
    tw_build_store(b, X, &at, 1,
                   op(b, TW_OP_MUL, tw_build_load(b, X, &at, 1, 0), f32_const(b, "2")), 0);
    tw_build_end(b);
    tw_build_end_serial(b, NULL, 0, NULL);
    finish(&t, b, (const int64_t[]){5}, 1);
    static const float x[5] = {1, -2, 3, 0.5f, 7};
    float y[5];
    t.array[1] = x;
    run(&t, NULL, 0, false);
    for (size_t k = 0; k < 5; k++)
        y[k] = x[k] * 8.0f;
    assert_true(judge(&t, 1, y).ok);
    y[2] = 12.0f;
    assert_false(judge(&t, 1, y).ok);
    close_bench(&t);
}

/* Y[w] = X[w - 1] else 9, and Z[w] = X[w] when X[w] < 0 over a fill of -1. */
static void test_guards(void **state) {
    bench t;
    (void)state;
    open_bench(&t);
    tw_builder *b = tw_build_begin(t.ctx, "guards");
    tw_ix N = tw_build_dim(b, "N", false);
    tw_array X = tw_build_array(b, "X", TW_I8, TW_ROLE_IN, &N, 1),
             Y = tw_build_array(b, "Y", TW_I8, TW_ROLE_OUT, &N, 1);
    tw_array Z = tw_build_array(b, "Z", TW_I8, TW_ROLE_OUT, &N, 1);
    tw_build_fill(b, Z, tw_build_num_int(b, -1));
    tw_range p = {"i", 0, N, 4};
    tw_axis i;
    tw_build_parallel(b, &p, 1, &i);
    tw_ix at = row(b, i), before = tw_build_ix_op(b, TW_IX_SUB, at, tw_build_ix(b, 1));
    tw_value x = tw_build_load(b, X, &at, 1, 0),
             zero = tw_build_const(b, TW_I8, tw_build_num_int(b, 0));
    tw_build_store(
        b, Y, &at, 1,
        tw_build_load(b, X, &before, 1, tw_build_const(b, TW_I8, tw_build_num_int(b, 9))), 0);
    tw_build_store(b, Z, &at, 1, x, op(b, TW_OP_LT, x, zero));
    tw_build_end(b);
    finish(&t, b, (const int64_t[]){10}, 1);
    static const int8_t in[10] = {1, -2, 3, -4, 5, -128, 7, 127, -9, 0};
    int8_t y[10], z[10];
    t.array[1] = in;
    run(&t, NULL, 0, false);
    for (size_t k = 0; k < 10; k++) {
        y[k] = k == 0 ? 9 : in[k - 1];
        z[k] = in[k] < 0 ? in[k] : -1;
    }
    assert_true(judge(&t, 2, y).ok && judge(&t, 3, z).ok);
    y[9] = 0;
    z[0] = 1;
    assert_true(judge(&t, 2, y).at[0] == 9 && !judge(&t, 2, y).ok && !judge(&t, 3, z).ok);
    close_bench(&t);
}

/* c = c * 0.5 + X[r, k], untiled: a determined carry, to the bit; Y[r] = c after r + 1 trips. */
static void test_recurrence(void **state) {
    bench t;
    (void)state;
    open_bench(&t);
    tw_builder *b = tw_build_begin(t.ctx, "decay");
    tw_ix R = tw_build_dim(b, "R", false), dims[] = {R, R};
    tw_array X = tw_build_array(b, "X", TW_F32, TW_ROLE_IN, dims, 2),
             Y = tw_build_array(b, "Y", TW_F32, TW_ROLE_OUT, dims, 1);
    tw_range p = {"r", 0, R, 0};
    tw_axis r, k;
    tw_build_parallel(b, &p, 1, &r);
    tw_range s = {"k", 0, tw_build_ix_op(b, TW_IX_ADD, row(b, r), tw_build_ix(b, 1)), 0};
    tw_value zero = f32_const(b, "0"), c, last;
    k = tw_build_serial(b, &s, &zero, 1);
    tw_ix at[] = {row(b, r), row(b, k)};
    c = op(b, TW_OP_ADD, op(b, TW_OP_MUL, tw_build_carry(b, 0), f32_const(b, "0.7")),
           tw_build_load(b, X, at, 2, 0));
    tw_build_end_serial(b, &c, 1, &last);
    tw_build_store(b, Y, at, 1, last, 0);
    tw_build_end(b);
    finish(&t, b, (const int64_t[]){9}, 1);
    const float *x = fill(&t, 1, "normal", 1);
    float y[9];
    run(&t, NULL, 0, false);
    for (size_t i = 0; i < 9; i++) {
        y[i] = 0.0f;
        for (size_t j = 0; j <= i; j++) {
            float half = y[i] * 0.7f;
            y[i] = half + x[i * 9 + j];
        }
    }
    twi_verdict v = judge(&t, 2, y);
    assert_true(v.ok && v.determined);
    y[8] = nextafterf(y[8], 9.0f);
    assert_false(judge(&t, 2, y).ok);
    close_bench(&t);
}

/* Y[r] = left sum over k in 0 .. r + 1: ranges that differ by instance. */
static void test_triangle(void **state) {
    bench t;
    (void)state;
    open_bench(&t);
    tw_builder *b = tw_build_begin(t.ctx, "triangle");
    tw_ix R = tw_build_dim(b, "R", false), dims[] = {R, R};
    tw_array X = tw_build_array(b, "X", TW_F16, TW_ROLE_IN, dims, 2),
             Y = tw_build_array(b, "Y", TW_F32, TW_ROLE_OUT, dims, 1);
    tw_range p = {"r", 0, R, 0};
    tw_axis r, k;
    tw_build_parallel(b, &p, 1, &r);
    tw_range w = {"k", 0, tw_build_ix_op(b, TW_IX_ADD, row(b, r), tw_build_ix(b, 1)), 0};
    k = tw_build_axis(b, &w);
    tw_ix at[] = {row(b, r), row(b, k)};
    tw_build_store(
        b, Y, at, 1,
        tw_build_fold(b, TW_FOLD_SUM, TW_ORDER_LEFT, &k, 1, tw_build_load(b, X, at, 2, 0)), 0);
    tw_build_end(b);
    finish(&t, b, (const int64_t[]){20}, 1);
    const uint16_t *x = fill(&t, 1, "normal", 1);
    float y[20];
    run(&t, NULL, 0, false);
    for (size_t i = 0; i < 20; i++) {
        y[i] = twi_f32_of(twi_widen(TW_F16, x[i * 20]));
        for (size_t j = 1; j <= i; j++)
            y[i] += twi_f32_of(twi_widen(TW_F16, x[i * 20 + j]));
    }
    assert_true(judge(&t, 2, y).ok);
    close_bench(&t);
}

/* Programs that the proofs should have refused: what is wrong with them is said. */
static void test_writer_map(void **state) {
    static const char *const want[] = {"Y[0] is written by two instances", "Y[2] is never written",
                                       "Y[3] is written, outside the array",
                                       "Y[0] is written twice by one store"};
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        bench t;
        open_bench(&t);
        if (k < 3) {
            build_fold(&t, (fold_kind){TW_FOLD_SUM, TW_ORDER_LEFT, TW_F32, TW_F32}, 3, 4);
        } else {
            build_softmax(&t, TW_F32, 3, 4);
        }
        fill(&t, 1, "normal", 1);
        tw_ir *ir = t.ir;
        twi_access *store = &ir->access.at[ir->ins.at[find_op(ir, TWI_STORE, 0)].attr];
        if (k == 0)
            store->ix[0] = twi_ix_const(ir, 0);
        else if (k == 1)
            ir->axis.at[1].hi = twi_ix_const(ir, 2);
        else if (k == 2)
            store->ix[0] = twi_ix_make(ir, TWI_IX_ADD, store->ix[0], twi_ix_const(ir, 1));
        else
            store->ix[1] = twi_ix_const(ir, 0);
        twi_oracle_in in = {t.array, NULL};
        t.o = twi_oracle_run(&t.ctx->arena, ir, &in, NULL, 0, NULL);
        assert_non_null(twi_oracle_error(t.o));
        if (k < 3)
            assert_string_equal(twi_oracle_error(t.o), want[k]);
        else
            assert_string_equal(twi_oracle_error(t.o), "Y[0, 0] is written twice by one store");
        float y[12] = {0};
        assert_false(judge(&t, 2, y).ok);
        close_bench(&t);
    }
}

static void test_sample(void **state) {
    bench t;
    size_t n = 400, m = 64;
    float y[400];
    (void)state;
    open_bench(&t);
    build_fold(&t, (fold_kind){TW_FOLD_SUM, TW_ORDER_FREE, TW_F32, TW_F32}, (int64_t)n, (int64_t)m);
    const float *x = fill(&t, 1, "normal", 1);
    twi_oracle_in in = {t.array, NULL};
    twi_oracle_options options = {.max_ops = 4000, .seed = 3};
    t.o = twi_oracle_run(&t.ctx->arena, t.ir, &in, NULL, 0, &options);
    assert_null(twi_oracle_error(t.o));
    for (size_t r = 0; r < n; r++)
        y[r] = sum_streams(x + r * m, m, 4);
    twi_verdict v = judge(&t, 2, y);
    assert_true(v.ok && v.elements == 400 && v.covered > 5 && v.covered < 100);
    y[399] = 0.0f; /* edges are always among them */
    assert_false(judge(&t, 2, y).ok);
    close_bench(&t);
}

static void test_f64(void **state) {
    bench t;
    size_t n = 1000;
    double y[4];
    (void)state;
    open_bench(&t);
    build_fold(&t, (fold_kind){TW_FOLD_SUM, TW_ORDER_FREE, TW_F64, TW_F64}, 4, (int64_t)n);
    const double *x = fill(&t, 1, "normal", 1);
    run(&t, NULL, 0, false);
    for (size_t r = 0; r < 4; r++) {
        double acc[8] = {0};
        for (size_t k = 0; k < n; k++)
            acc[k % 8] += x[r * n + k];
        y[r] = ((acc[0] + acc[1]) + (acc[2] + acc[3])) + ((acc[4] + acc[5]) + (acc[6] + acc[7]));
    }
    twi_verdict v = judge(&t, 2, y);
    assert_true(v.ok && v.worst > 1e-5);
    y[1] = (double)(float)y[1];
    v = judge(&t, 2, y);
    assert_true(!v.ok && v.at[0] == 1);
    close_bench(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_scopes), cmocka_unit_test(test_serial_around),
        cmocka_unit_test(test_guards),     cmocka_unit_test(test_recurrence),
        cmocka_unit_test(test_triangle),   cmocka_unit_test(test_writer_map),
        cmocka_unit_test(test_sample),     cmocka_unit_test(test_f64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
