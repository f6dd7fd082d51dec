/* SPDX-License-Identifier: Apache-2.0
 * links: pass
 * Dims become numbers: folding, facts, extents, constants of dims; dims read off shapes; lifting
 * after it.
 */
#include "test.h"

#include "pass/pass.h"

#include <stdio.h>

static const char *const mean = "kernel mean order left\n"
                                "dim R\n"
                                "dim W\n"
                                "array X: in f32[R, W * 2]\n"
                                "array Y: out f32[R]\n"
                                "requires W % 4 == 0\n"
                                "parallel r: 0 .. R {\n"
                                "    axis w: 0 .. W * 2\n"
                                "    X: f32{w} = load X[r, w]\n"
                                "    sum.1: f32 = sum[w] left X\n"
                                "    n: f32 = const (ix(W) * 2)\n"
                                "    third: f32 = const (1 / ix(W - 1))\n"
                                "    last: i64 = ixval W * 2 - 1\n"
                                "    half: i64 = ixval r + W // 3\n"
                                "    y: f32 = div sum.1, n\n"
                                "    store Y[r] = y\n"
                                "}\n";

static void numbers(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = from_text(ctx, mean);
    expect_fine(ctx);
    int64_t dims[] = {0, 3, 4};
    tw_ir *s = twi_ir_specialise(ir, &ctx->arena, dims);
    expect_fine(ctx);
    assert_true(twi_ir_verify(s));
    assert_string_equal(tw_ir_text(ctx, s), "kernel mean order left specialised\n"
                                            "dim R = 3\n"
                                            "dim W = 4\n"
                                            "array X: in f32[3, 8]\n"
                                            "array Y: out f32[3]\n"
                                            "parallel r: 0 .. 3 {\n"
                                            "    axis w: 0 .. 8\n"
                                            "    X: f32{w} = load X[r, w]\n"
                                            "    sum.1: f32 = sum[w] left X\n"
                                            "    n: f32 = const 8\n"
                                            "    third: f32 = const 0.33333334\n" /* 1/3 to f32 */
                                            "    last: i64 = const 7\n"
                                            "    half: i64 = ixval r + 1\n"
                                            "    y: f32 = div sum.1, n\n"
                                            "    store Y[r] = y\n"
                                            "}\n");
    /* the general one is as it was */
    assert_string_equal(tw_ir_text(ctx, ir), mean);
    tw_context_destroy(ctx);
}

static void refused(void **state) {
    (void)state;
    static const struct {
        int64_t R, W;
        int code;
        const char *says;
    } cases[] = {
        {3, 6, TWI_E_FACT_FAILS, "requires W % 4 == 0: 2 == 0 is false (W = 6)"},
        {-1, 4, TWI_E_EXTENT, "dim R is -1"},
        {INT64_C(1) << 40, INT64_C(1) << 40, TWI_E_OVERFLOW,
         "X has more than 1099511627776 elements"},
    };
    tw_context *ctx = tw_context_create(NULL);
    for (int k = 0; k < COUNT(cases); k++) {
        tw_ir *ir = from_text(ctx, mean);
        expect_fine(ctx);
        int64_t dims[] = {0, cases[k].R, cases[k].W};
        assert_null(twi_ir_specialise(ir, &ctx->arena, dims));
        expect_code(ctx, cases[k].code, cases[k].says);
        if (!strstr(tw_diag_get(ctx, 0).text, cases[k].says))
            fail_msg("%s", tw_diag_text(ctx, false));
        tw_diag_clear(ctx);
    }
    /* an extent that becomes negative; a constant of dims that its type cannot hold */
    tw_ir *ir = from_text(ctx, "kernel k order free\ndim N\narray T: temp f32[N - 3]\nparallel {\n"
                               " c: i32 = const (ix(N) * 1000000000)\n}\n");
    expect_fine(ctx);
    int64_t two[] = {0, 2}, three[] = {0, 3};
    assert_null(twi_ir_specialise(ir, &ctx->arena, two));
    expect_code(ctx, TWI_E_EXTENT, "N - 3");
    tw_diag_clear(ctx);
    assert_null(twi_ir_specialise(ir, &ctx->arena, three));
    expect_code(ctx, TWI_E_CONST_RANGE, "3000000000");
    tw_diag_clear(ctx);
    tw_context_destroy(ctx);
}

/* Empty dims are fine. */
static void empty(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = build_gemm(ctx, TW_F32);
    int64_t dims[] = {0, 0, 5, 0};
    tw_ir *s = twi_ir_specialise(ir, &ctx->arena, dims);
    expect_fine(ctx);
    assert_non_null(s);
    const char *text = tw_ir_text(ctx, s);
    tw_ir *again = from_text(ctx, text);
    expect_fine(ctx);
    assert_string_equal(tw_ir_text(ctx, again), text);
    tw_context_destroy(ctx);
}

static void shapes(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = build_gemm(ctx, TW_F32); /* dims M N K, arrays A[M, K] B[K, N] C[M, N] */
    int64_t a[] = {3, 5}, b[] = {5, 4}, c[] = {3, 4}, wrong[] = {6, 4};
    const int64_t *shape[] = {NULL, a, b, c};
    int64_t dims[] = {0, -1, -1, -1};
    assert_true(twi_ir_bind_dims(ir, shape, dims));
    assert_int_equal(dims[1], 3);
    assert_int_equal(dims[2], 4);
    assert_int_equal(dims[3], 5);
    int64_t none[] = {0, -1, -1, -1};
    shape[2] = wrong;
    assert_false(twi_ir_bind_dims(ir, shape, none));
    expect_code(ctx, TWI_E_DIM_DISAGREES, "K");
    assert_string_equal(tw_diag_get(ctx, 0).text, "K is 5 in A and 6 in B");
    tw_diag_clear(ctx);
    int64_t part[] = {0, -1, -1, -1};
    shape[1] = shape[2] = shape[3] = NULL;
    assert_false(twi_ir_bind_dims(ir, shape, part));
    expect_code(ctx, TWI_E_DIM_UNKNOWN, "M");
    tw_diag_clear(ctx);
    ir = from_text(ctx, mean); /* X[R, W * 2] gives no W */
    int64_t x[] = {3, 8}, odd[] = {3, 9}, set[] = {0, -1, 4};
    const int64_t *of_mean[] = {NULL, x, NULL};
    assert_true(twi_ir_bind_dims(ir, of_mean, set));
    assert_int_equal(set[1], 3);
    of_mean[1] = odd;
    assert_false(twi_ir_bind_dims(ir, of_mean, set));
    expect_code(ctx, TWI_E_DIM_SHAPE, "W * 2");
    tw_context_destroy(ctx);
}

/* What lifting adds: the axes of subscripts, positions, bounds and carries, and nothing else. */
static void lifted(void **state) {
    (void)state;
    static const struct {
        const char *value, *type;
    } expected[] = {
        {"x", "f32{r, w}"},   /* X[r, w] */
        {"b", "f32{w}"},      /* B[w] is one for all rows */
        {"c", "f32"},         /* a constant */
        {"i", "i64{r}"},      /* index(r) */
        {"v", "i64{q}"},      /* ixval lo(q) */
        {"tri", "f32{r, k}"}, /* its range depends on r */
        {"s", "f32{r}"},      /* sum over it */
        {"ones", "f32{j}"},   /* the same for all of a block, though j ends at hi(q) */
        {"n", "f32{q}"},      /* but their sum depends on q */
        {"a", "f32{r, q}"},   /* a carry: of X[r, t], and the loop ends at hi(q); not of t */
        {"xt", "f32{r, t}"},  /* X[r, t] in the loop */
        {"a.1", "f32{r, q, t}"},
        {"a.2", "f32{r, q}"}, /* the result */
    };
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = from_text(ctx, "kernel k order free specialised\n"
                               "dim R = 16\n"
                               "array X: in f32[16, 16]\n"
                               "array B: in f32[16]\n"
                               "array Y: inout f32[16, 16]\n"
                               "parallel r: 0 .. 16, q: 0 .. 16 tile 4 {\n"
                               "    axis w: 0 .. 16\n"
                               "    axis k: 0 .. r + 1\n"
                               "    axis j: 0 .. hi(q)\n"
                               "    x: f32{w} = load X[r, w]\n"
                               "    b: f32{w} = load B[w]\n"
                               "    c: f32 = const 1\n"
                               "    i: i64 = index r\n"
                               "    v: i64 = ixval lo(q)\n"
                               "    tri: f32{k} = load B[k]\n"
                               "    s: f32 = sum[k] free tri\n"
                               "    ones: f32{j} = load B[j]\n"
                               "    n: f32 = sum[j] free ones\n"
                               "    serial t: 0 .. hi(q) {\n"
                               "        a: f32 = carry c\n"
                               "        xt: f32 = load X[r, t]\n"
                               "        a.1: f32 = add a, xt\n"
                               "        yield a.1\n"
                               "    }\n"
                               "    a.2: f32 = result t 0\n"
                               "    store Y[r, q] = a.2\n"
                               "}\n");
    expect_fine(ctx);
    assert_true(opt_lift(ir));
    assert_true(twi_ir_verify(ir));
    for (int k = 0; k < COUNT(expected); k++) {
        char line[80];
        const char *text = tw_ir_text(ctx, ir);
        (void)snprintf(line, sizeof line, "  %s: %s = ", expected[k].value, expected[k].type);
        if (!strstr(text, line))
            fail_msg("no \"%s\" in\n%s", line, text);
    }
    assert_non_null(strstr(tw_ir_text(ctx, ir), "store Y[r, q] = a.2 over {r, q}"));
    assert_false(opt_lift(ir)); /* once is enough */
    const char *text = tw_ir_text(ctx, ir);
    assert_string_equal(tw_ir_text(ctx, from_text(ctx, text)), text);
    tw_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(refused),
                                       cmocka_unit_test(empty), cmocka_unit_test(shapes),
                                       cmocka_unit_test(lifted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
