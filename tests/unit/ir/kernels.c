/* SPDX-License-Identifier: Apache-2.0
 * Kernels made by the builder in C, against their text written by hand.
 */
#include "test.h"

static void row_sum(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_builder *b = tw_build_begin(ctx, "row_sum");
    tw_ix R = tw_build_dim(b, "R", false), W = tw_build_dim(b, "W", false), dims[] = {R, W};
    tw_array X = tw_build_array(b, "X", TW_BF16, TW_ROLE_IN, dims, 2);
    tw_array Y = tw_build_array(b, "Y", TW_F32, TW_ROLE_OUT, dims, 1);
    tw_axis r;
    tw_build_numerics(b, TW_ORDER_CANONICAL, false);
    tw_build_note(b, "T=bf16");
    tw_build_parallel(b, &(tw_range){"r", 0, R, 0}, 1, &r);
    tw_axis w = tw_build_axis(b, &(tw_range){"w", 0, W, 0});
    tw_ix at[] = {tw_build_ix_axis(b, r), tw_build_ix_axis(b, w)};
    tw_value x = tw_build_load(b, X, at, 2, 0);
    assert_string_equal(tw_build_axes_text(b, x), "{w}");
    assert_int_equal(tw_build_elem_of(b, x), TW_F32);
    assert_true(tw_build_has_axis(b, x, w));
    assert_false(tw_build_has_axis(b, x, r));
    tw_build_store(b, Y, at, 1, tw_build_fold(b, TW_FOLD_SUM, TW_ORDER_AS_SAID, &w, 1, x), 0);
    tw_build_end(b);
    tw_ir *ir = tw_build_finish(b);
    expect_fine(ctx);
    assert_string_equal(tw_ir_text(ctx, ir), "kernel row_sum order canonical\n"
                                             "note \"T=bf16\"\n"
                                             "dim R\n"
                                             "dim W\n"
                                             "array X: in bf16[R, W]\n"
                                             "array Y: out f32[R]\n"
                                             "parallel r: 0 .. R {\n"
                                             "    axis w: 0 .. W\n"
                                             "    X: f32{w} = load X[r, w]\n"
                                             "    sum.1: f32 = sum[w] canonical X\n"
                                             "    store Y[r] = sum.1\n"
                                             "}\n");
    tw_context_destroy(ctx);
}

static void gemm(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = build_gemm(ctx, TW_F32);
    expect_fine(ctx);
    assert_string_equal(tw_ir_text(ctx, ir), "kernel gemm order free\n"
                                             "dim M\n"
                                             "dim N\n"
                                             "dim K\n"
                                             "array A: in f32[M, K]\n"
                                             "array B: in f32[K, N]\n"
                                             "array C: out f32[M, N]\n"
                                             "parallel m: 0 .. M, n: 0 .. N {\n"
                                             "    axis k: 0 .. K\n"
                                             "    A: f32{k} = load A[m, k]\n"
                                             "    B: f32{k} = load B[k, n]\n"
                                             "    const.1: f32 = const 0\n"
                                             "    dot.1: f32 = dot[k] free A, B, const.1\n"
                                             "    store C[m, n] = dot.1\n"
                                             "}\n");
    tw_context_destroy(ctx);
}

/* Integers: the accumulator's type is the result's, operands are cast to it. */
static void gemm_of_bytes(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    assert_null(build_gemm(ctx, TW_I8)); /* i32 into an array of i8 */
    expect_code(ctx, TWI_E_STORE_TYPE, "i32 into i8");
    tw_context_destroy(ctx);

    ctx = tw_context_create(NULL);
    tw_builder *b = tw_build_begin(ctx, "bytes");
    tw_ix W = tw_build_dim(b, "W", false);
    tw_array X = tw_build_array(b, "X", TW_I8, TW_ROLE_IN, &W, 1);
    tw_array Y = tw_build_array(b, "Y", TW_I32, TW_ROLE_OUT, NULL, 0);
    tw_build_parallel(b, NULL, 0, NULL);
    tw_axis w = tw_build_axis(b, &(tw_range){"w", 0, W, 0});
    tw_ix at = tw_build_ix_axis(b, w);
    tw_value x = tw_build_load(b, X, &at, 1, 0);
    tw_build_store(b, Y, NULL, 0, tw_build_fold(b, TW_FOLD_SUM, TW_ORDER_LEFT, &w, 1, x), 0);
    tw_build_end(b);
    tw_ir *ir = tw_build_finish(b);
    expect_fine(ctx);
    assert_string_equal(tw_ir_text(ctx, ir), "kernel bytes order free\n"
                                             "dim W\n"
                                             "array X: in i8[W]\n"
                                             "array Y: out i32[]\n"
                                             "parallel {\n"
                                             "    axis w: 0 .. W\n"
                                             "    X: i8{w} = load X[w]\n"
                                             "    cast.1: i32{w} = cast X\n"
                                             "    sum.1: i32 = sum[w] free cast.1\n"
                                             "    store Y[] = sum.1\n"
                                             "}\n");
    tw_context_destroy(ctx);
}

typedef struct {
    tw_ix B, H, I, D, G, J, E;
    tw_array Q, K, V, O;
    tw_value scale;
} heads;

static heads attention_head(tw_builder *b) {
    heads h;
    static const char *const names[] = {"B", "H", "I", "D", "G", "J", "E"};
    tw_ix *dims[] = {&h.B, &h.H, &h.I, &h.D, &h.G, &h.J, &h.E};
    for (int k = 0; k < COUNT(dims); k++)
        *dims[k] = tw_build_dim(b, names[k], false);
    tw_ix q[] = {h.B, h.H, h.I, h.D}, k[] = {h.B, h.G, h.J, h.D}, v[] = {h.B, h.G, h.J, h.E};
    tw_ix o[] = {h.B, h.H, h.I, h.E};
    h.Q = tw_build_array(b, "Q", TW_F16, TW_ROLE_IN, q, 4);
    h.K = tw_build_array(b, "K", TW_F16, TW_ROLE_IN, k, 4);
    h.V = tw_build_array(b, "V", TW_F16, TW_ROLE_IN, v, 4);
    h.O = tw_build_array(b, "O", TW_F16, TW_ROLE_OUT, o, 4);
    h.scale = tw_build_scalar(b, "scale", TW_F32, 0);
    tw_build_requires(b, TW_REL_EQ, tw_build_ix_op(b, TW_IX_MOD, h.H, h.G), tw_build_ix(b, 0));
    tw_build_requires(b, TW_REL_LE, h.I, h.J);
    return h;
}

static tw_value op(tw_builder *b, tw_op what, tw_value x, tw_value y) {
    return tw_build_op(b, what, x, y, 0);
}

static tw_value number(tw_builder *b, const char *numeral) {
    return tw_build_const(b, TW_F32, tw_build_num_text(b, numeral));
}

/* Online softmax with a causal bound; what the text of design's attention comes to, without its
 * `where`s. */
static tw_ir *build_attention(tw_context *ctx) {
    tw_builder *b = tw_build_begin(ctx, "attention");
    heads h = attention_head(b);
    tw_range ranges[] = {{"b", 0, h.B, 0}, {"h", 0, h.H, 0}, {"i", 0, h.I, 64}};
    tw_axis p[3];
    tw_build_parallel(b, ranges, 3, p);
    tw_axis d = tw_build_axis(b, &(tw_range){"d", 0, h.D, 0});
    tw_axis e = tw_build_axis(b, &(tw_range){"e", 0, h.E, 0}), ie[] = {p[2], e};
    tw_ix at_q[] = {tw_build_ix_axis(b, p[0]), tw_build_ix_axis(b, p[1]), tw_build_ix_axis(b, p[2]),
                    tw_build_ix_axis(b, d)};
    tw_value q = tw_build_load(b, h.Q, at_q, 4, 0);
    tw_build_name(b, q, "q");
    tw_value low = number(b, "-inf"), zero = number(b, "0.0");
    tw_value start[] = {tw_build_spread(b, low, &p[2], 1), tw_build_spread(b, zero, &p[2], 1),
                        tw_build_spread(b, zero, ie, 2)};
    tw_ix shift = tw_build_ix_op(b, TW_IX_SUB, h.J, h.I);
    tw_ix last = tw_build_ix_op(b, TW_IX_ADD, tw_build_ix_bound(b, p[2], true), shift);
    tw_range keys = {"j", 0, tw_build_ix_op(b, TW_IX_MIN, h.J, last), 32};
    tw_axis j = tw_build_serial(b, &keys, start, 3);
    tw_value m = tw_build_carry(b, 0), l = tw_build_carry(b, 1), acc = tw_build_carry(b, 2);
    tw_build_name(b, m, "m");
    tw_build_name(b, l, "l");
    tw_build_name(b, acc, "acc");
    tw_ix group = tw_build_ix_op(b, TW_IX_DIV, h.H, h.G);
    tw_ix at_k[] = {at_q[0], tw_build_ix_op(b, TW_IX_DIV, at_q[1], group), tw_build_ix_axis(b, j),
                    at_q[3]};
    tw_ix at_v[] = {at_q[0], at_k[1], at_k[2], tw_build_ix_axis(b, e)};
    tw_value k = tw_build_load(b, h.K, at_k, 4, 0);
    tw_value s =
        op(b, TW_OP_MUL, tw_build_dot(b, TW_ORDER_AS_SAID, &d, 1, (tw_value[]){q, k}, 0), h.scale);
    tw_build_name(b, s, "s");
    tw_value top = tw_build_fold(b, TW_FOLD_MAX, TW_ORDER_AS_SAID, &j, 1, s);
    tw_value m2 = op(b, TW_OP_MAX, m, top);
    tw_build_name(b, m2, "m");
    tw_value a = op(b, TW_OP_EXP, op(b, TW_OP_SUB, m, m2), 0);
    tw_value w = op(b, TW_OP_EXP, op(b, TW_OP_SUB, s, m2), 0);
    tw_value kept = op(b, TW_OP_MUL, l, a); /* one statement each: C has no order of arguments */
    tw_value l2 = op(b, TW_OP_ADD, kept, tw_build_fold(b, TW_FOLD_SUM, TW_ORDER_AS_SAID, &j, 1, w));
    tw_value v = tw_build_load(b, h.V, at_v, 4, 0);
    tw_value shrunk = op(b, TW_OP_MUL, acc, a), narrow = tw_build_cast(b, TW_F16, w);
    tw_value acc2 = tw_build_dot(b, TW_ORDER_AS_SAID, &j, 1, (tw_value[]){narrow, v}, shrunk);
    tw_value yields[] = {m2, l2, acc2}, results[3];
    tw_build_end_serial(b, yields, 3, results);
    tw_ix at_o[] = {at_q[0], at_q[1], at_q[2], at_v[3]};
    tw_build_store(b, h.O, at_o, 4, op(b, TW_OP_DIV, results[2], results[1]), 0);
    tw_build_end(b);
    return tw_build_finish(b);
}

static void attention(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = build_attention(ctx);
    expect_fine(ctx);
    assert_string_equal(tw_ir_text(ctx, ir),
                        "kernel attention order free\n"
                        "dim B\ndim H\ndim I\ndim D\ndim G\ndim J\ndim E\n"
                        "scalar scale: f32\n"
                        "array Q: in f16[B, H, I, D]\n"
                        "array K: in f16[B, G, J, D]\n"
                        "array V: in f16[B, G, J, E]\n"
                        "array O: out f16[B, H, I, E]\n"
                        "requires H % G == 0\n"
                        "requires I <= J\n"
                        "parallel b: 0 .. B, h: 0 .. H, i: 0 .. I tile 64 {\n"
                        "    axis d: 0 .. D\n"
                        "    axis e: 0 .. E\n"
                        "    scale: f32 = scalar scale\n"
                        "    q: f32{i, d} = load Q[b, h, i, d]\n"
                        "    const.1: f32 = const -inf\n"
                        "    const.2: f32 = const 0\n"
                        "    spread.1: f32{i} = spread const.1\n"
                        "    spread.2: f32{i} = spread const.2\n"
                        "    spread.3: f32{i, e} = spread const.2\n"
                        "    serial j: 0 .. min(J, hi(i) + (J - I)) tile 32 {\n"
                        "        m: f32{i} = carry spread.1\n"
                        "        l: f32{i} = carry spread.2\n"
                        "        acc: f32{i, e} = carry spread.3\n"
                        "        K: f32{d, j} = load K[b, h // (H // G), j, d]\n"
                        "        const.3: f32 = const 0\n"
                        "        dot.1: f32{i, j} = dot[d] free q, K, const.3\n"
                        "        s: f32{i, j} = mul dot.1, scale\n"
                        "        max.1: f32{i} = max[j] free s\n"
                        "        m.1: f32{i} = max m, max.1\n"
                        "        sub.1: f32{i} = sub m, m.1\n"
                        "        exp.1: f32{i} = exp sub.1\n"
                        "        sub.2: f32{i, j} = sub s, m.1\n"
                        "        exp.2: f32{i, j} = exp sub.2\n"
                        "        mul.1: f32{i} = mul l, exp.1\n"
                        "        sum.1: f32{i} = sum[j] free exp.2\n"
                        "        add.1: f32{i} = add mul.1, sum.1\n"
                        "        V: f32{e, j} = load V[b, h // (H // G), j, e]\n"
                        "        mul.2: f32{i, e} = mul acc, exp.1\n"
                        "        narrow.1: f32{i, j} = narrow f16 exp.2\n"
                        "        dot.2: f32{i, e} = dot[j] free narrow.1, V, mul.2\n"
                        "        yield m.1, add.1, dot.2\n"
                        "    }\n"
                        "    m.2: f32{i} = result j 0\n"
                        "    l.1: f32{i} = result j 1\n"
                        "    acc.1: f32{i, e} = result j 2\n"
                        "    div.1: f32{i, e} = div acc.1, l.1\n"
                        "    store O[b, h, i, e] = div.1\n"
                        "}\n");
    tw_context_destroy(ctx);
}

/* What is built between mark and rewind leaves nothing behind, not even a name. */
static void dry_run(void **state) {
    (void)state;
    const char *texts[2];
    tw_context *ctx = tw_context_create(NULL);
    for (int dry = 0; dry < 2; dry++) {
        tw_builder *b = tw_build_begin(ctx, "k");
        tw_ix N = tw_build_dim(b, "N", false);
        tw_array X = tw_build_array(b, "X", TW_F32, TW_ROLE_IN, &N, 1);
        tw_array Y = tw_build_array(b, "Y", TW_F32, TW_ROLE_OUT, &N, 1);
        tw_value eps = tw_build_scalar(b, "eps", TW_F32, 0), start;
        tw_axis n;
        tw_build_parallel(b, &(tw_range){"n", 0, N, 0}, 1, &n);
        tw_ix at = tw_build_ix_axis(b, n);
        tw_value x = tw_build_load(b, X, &at, 1, 0);
        if (dry) {
            tw_build_mark(b);
            start = op(b, TW_OP_ADD, x, eps); /* a copy of eps that must go too */
            (void)tw_build_serial(b, &(tw_range){"t", 0, N, 0}, &start, 1);
            tw_build_mark(b);
            tw_value c = op(b, TW_OP_MUL, tw_build_carry(b, 0), x);
            tw_build_name(b, x, "inner");
            tw_build_rewind(b);
            c = tw_build_carry(b, 0);
            tw_build_end_serial(b, &c, 1, &start);
            tw_build_name(b, x, "outer");
            tw_build_rewind(b);
        }
        tw_build_store(b, Y, &at, 1, op(b, TW_OP_MUL, x, eps), 0);
        tw_build_end(b);
        texts[dry] = tw_ir_text(ctx, tw_build_finish(b));
        expect_fine(ctx);
    }
    assert_string_equal(texts[0], texts[1]);
    tw_context_destroy(ctx);
}

/* An error in a branch that is not taken is an error. */
static void dry_error(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_builder *b = tw_build_begin(ctx, "k");
    tw_build_parallel(b, NULL, 0, NULL);
    tw_build_mark(b);
    (void)op(b, TW_OP_AND, number(b, "1.0"), number(b, "1.0"));
    tw_build_rewind(b);
    tw_build_end(b);
    assert_true(tw_build_failed(b));
    assert_null(tw_build_finish(b));
    expect_code(ctx, TWI_E_BOOL_TYPE, "and of floats");
    tw_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_sum),   cmocka_unit_test(gemm),    cmocka_unit_test(gemm_of_bytes),
        cmocka_unit_test(attention), cmocka_unit_test(dry_run), cmocka_unit_test(dry_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
