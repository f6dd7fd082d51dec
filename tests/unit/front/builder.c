/* SPDX-License-Identifier: Apache-2.0
 * Kernels built by calls of the public builder give the same tile IR text as their .tile files: the
 * front end has no way of its own into the IR. links: front
 */
#include "base/fs.h"
#include "front/ast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static tw_ir *from_file(tw_context *ctx, const char *name, const tw_binding *b, size_t n) {
    char *text = NULL;
    size_t size = 0;
    char *path = twi_format(&ctx->arena, TW_SOURCE_DIR "/kernels/%s.tile", name);
    assert_int_equal(twi_read_file(&ctx->arena, path, &text, &size), 0);
    tw_program *p = tw_program_parse(ctx, path, text, size);
    tw_ir *ir = p ? tw_program_build(p, 0, b, n) : NULL;
    if (!ir)
        fail_msg("%s", tw_diag_text(ctx, false));
    return ir;
}

static void same(tw_context *ctx, const tw_ir *built, const tw_ir *parsed) {
    if (!built)
        fail_msg("%s", tw_diag_text(ctx, false));
    assert_string_equal(tw_ir_text(ctx, built), tw_ir_text(ctx, parsed));
}

static tw_ix at(tw_builder *b, tw_axis axis) { return tw_build_ix_axis(b, axis); }

static void test_row_sum(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_builder *b = tw_build_begin(ctx, "row_sum");
    tw_build_note(b, "T=bf16");
    tw_ix R = tw_build_dim(b, "R", false), W = tw_build_dim(b, "W", false);
    tw_array X = tw_build_array(b, "X", TW_BF16, TW_ROLE_IN, (tw_ix[]){R, W}, 2);
    tw_array Y = tw_build_array(b, "Y", TW_BF16, TW_ROLE_OUT, (tw_ix[]){R}, 1);
    tw_axis r, w;
    tw_build_parallel(b, &(tw_range){"r", 0, R, 0}, 1, &r);
    w = tw_build_axis(b, &(tw_range){"w", 0, W, 0});
    tw_value x = tw_build_load(b, X, (tw_ix[]){at(b, r), at(b, w)}, 2, 0);
    tw_build_store(b, Y, (tw_ix[]){at(b, r)}, 1,
                   tw_build_fold(b, TW_FOLD_SUM, TW_ORDER_AS_SAID, &w, 1, x), 0);
    tw_build_end(b);
    same(ctx, tw_build_finish(b), from_file(ctx, "row_sum", &(tw_binding){"T", "bf16"}, 1));
    tw_context_destroy(ctx);
}

static void test_gemm(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_builder *b = tw_build_begin(ctx, "gemm");
    tw_build_note(b, "T=f64");
    tw_ix M = tw_build_dim(b, "M", false), K = tw_build_dim(b, "K", false),
          N = tw_build_dim(b, "N", false);
    tw_array A = tw_build_array(b, "A", TW_F64, TW_ROLE_IN, (tw_ix[]){M, K}, 2);
    tw_array B = tw_build_array(b, "B", TW_F64, TW_ROLE_IN, (tw_ix[]){K, N}, 2);
    tw_array C = tw_build_array(b, "C", TW_F64, TW_ROLE_OUT, (tw_ix[]){M, N}, 2);
    tw_axis g[2], k;
    tw_build_parallel(b, (tw_range[]){{"m", 0, M, 0}, {"n", 0, N, 0}}, 2, g);
    k = tw_build_axis(b, &(tw_range){"k", 0, K, 0});
    tw_ix m = at(b, g[0]), n = at(b, g[1]), kk = at(b, k);
    tw_value x = tw_build_load(b, A, (tw_ix[]){m, kk}, 2, 0),
             y = tw_build_load(b, B, (tw_ix[]){kk, n}, 2, 0);
    tw_build_store(b, C, (tw_ix[]){m, n}, 2,
                   tw_build_dot(b, TW_ORDER_AS_SAID, &k, 1, (tw_value[]){x, y}, 0), 0);
    tw_build_end(b);
    same(ctx, tw_build_finish(b), from_file(ctx, "gemm", &(tw_binding){"T", "f64"}, 1));
    tw_context_destroy(ctx);
}

static void test_scan(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_builder *b = tw_build_begin(ctx, "scan");
    tw_build_note(b, "T=f16 EXCLUSIVE=true REVERSE=false");
    tw_ix R = tw_build_dim(b, "R", false), W = tw_build_dim(b, "W", false);
    tw_array X = tw_build_array(b, "X", TW_F16, TW_ROLE_IN, (tw_ix[]){R, W}, 2);
    tw_array Y = tw_build_array(b, "Y", TW_F16, TW_ROLE_OUT, (tw_ix[]){R, W}, 2);
    tw_axis r, w;
    tw_build_parallel(b, &(tw_range){"r", 0, R, 0}, 1, &r);
    w = tw_build_axis(b, &(tw_range){"w", 0, W, 0});
    tw_ix rw[] = {at(b, r), at(b, w)};
    tw_value x = tw_build_load(b, X, rw, 2, 0);
    x = tw_build_scan(b, TW_SCAN_SUM, TW_SCAN_EXCLUSIVE, TW_ORDER_AS_SAID, w, x);
    tw_build_store(b, Y, rw, 2, x, 0);
    tw_build_end(b);
    const tw_binding choice[] = {{"T", "f16"}, {"EXCLUSIVE", "true"}, {"REVERSE", "false"}};
    same(ctx, tw_build_finish(b), from_file(ctx, "scan", choice, 3));
    tw_context_destroy(ctx);
}

static void test_embedding(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_builder *b = tw_build_begin(ctx, "embedding");
    tw_build_note(b, "T=f32 I=i32");
    tw_ix V = tw_build_dim(b, "V", false), D = tw_build_dim(b, "D", false),
          N = tw_build_dim(b, "N", false);
    tw_array E = tw_build_array(b, "E", TW_F32, TW_ROLE_IN, (tw_ix[]){V, D}, 2);
    tw_array I = tw_build_array(b, "IDS", TW_I32, TW_ROLE_IN, (tw_ix[]){N}, 1);
    tw_array Y = tw_build_array(b, "Y", TW_F32, TW_ROLE_OUT, (tw_ix[]){N, D}, 2);
    tw_axis n, d;
    tw_build_parallel(b, &(tw_range){"n", 0, N, 0}, 1, &n);
    d = tw_build_axis(b, &(tw_range){"d", 0, D, 0});
    tw_subscript from[] = {{0, tw_build_load(b, I, (tw_ix[]){at(b, n)}, 1, 0)}, {at(b, d), 0}};
    tw_value x = tw_build_gather(b, (tw_element){E, from, 2}, 0);
    tw_build_store(b, Y, (tw_ix[]){at(b, n), at(b, d)}, 2, x, 0);
    tw_build_end(b);
    const tw_binding choice[] = {{"T", "f32"}, {"I", "i32"}};
    same(ctx, tw_build_finish(b), from_file(ctx, "embedding", choice, 2));
    tw_context_destroy(ctx);
}

typedef struct attention {
    tw_builder *b;
    tw_ix I, J, head;
    tw_array K, V;
    tw_axis g[3], d, e;
    tw_value scale, q, carry[3]; /* in the order of the body's assignments: l acc m */
} attention;

static tw_value number(tw_builder *b, tw_elem elem, const char *text) {
    bool minus = *text == '-';
    tw_num n = tw_build_num_text(b, text + minus);
    return tw_build_const(b, elem, minus ? tw_build_num_op(b, 'n', n, 0) : n);
}

static tw_value op(tw_builder *b, tw_op o, tw_value x, tw_value y, tw_value z) {
    return tw_build_op(b, o, x, y, z);
}

static tw_value named(tw_builder *b, tw_value v, const char *name) {
    tw_build_name(b, v, name);
    return v;
}

static void attention_loop(attention *t) {
    tw_builder *b = t->b;
    static const char *const names[] = {"l", "acc", "m"};
    tw_ix more = tw_build_ix_op(b, TW_IX_SUB, t->J, t->I);
    tw_ix end =
        tw_build_ix_op(b, TW_IX_MIN, t->J,
                       tw_build_ix_op(b, TW_IX_ADD, tw_build_ix_bound(b, t->g[2], true), more));
    tw_axis j = tw_build_serial(b, &(tw_range){"j", 0, end, 64}, t->carry, 3);
    tw_value c[3];
    for (int k = 0; k < 3; k++)
        c[k] = named(b, tw_build_carry(b, k), names[k]);
    tw_ix g0 = at(b, t->g[0]), jj = at(b, j);
    tw_value key = tw_build_load(b, t->K, (tw_ix[]){g0, t->head, jj, at(b, t->d)}, 4, 0);
    tw_value s = named(b,
                       op(b, TW_OP_MUL,
                          tw_build_dot(b, TW_ORDER_AS_SAID, &t->d, 1, (tw_value[]){t->q, key}, 0),
                          t->scale, 0),
                       "s");
    tw_value lhs = tw_build_index(b, j), i = tw_build_index(b, t->g[2]);
    tw_value rhs = op(b, TW_OP_ADD, i, tw_build_const(b, TW_I64, tw_build_num_ix(b, more)), 0);
    tw_value seen = op(b, TW_OP_LE, lhs, rhs, 0);
    s = named(b, op(b, TW_OP_WHERE, seen, s, number(b, TW_F32, "-inf")), "s");
    tw_value m2 = named(
        b, op(b, TW_OP_MAX, c[2], tw_build_fold(b, TW_FOLD_MAX, TW_ORDER_AS_SAID, &j, 1, s), 0),
        "m2");
    tw_value dead = op(b, TW_OP_EQ, m2, number(b, TW_F32, "-inf"), 0);
    tw_value base = named(b, op(b, TW_OP_WHERE, dead, number(b, TW_F32, "0.0"), m2), "base");
    tw_value a = named(b, op(b, TW_OP_EXP, op(b, TW_OP_SUB, c[2], base, 0), 0, 0), "a");
    tw_value p = named(b, op(b, TW_OP_EXP, op(b, TW_OP_SUB, s, base, 0), 0, 0), "p");
    tw_value kept = op(b, TW_OP_MUL, c[0], a, 0);
    tw_value l = named(
        b, op(b, TW_OP_ADD, kept, tw_build_fold(b, TW_FOLD_SUM, TW_ORDER_AS_SAID, &j, 1, p), 0),
        "l");
    tw_value narrow = tw_build_cast(b, TW_BF16, p);
    tw_value value = tw_build_load(b, t->V, (tw_ix[]){g0, t->head, jj, at(b, t->e)}, 4, 0);
    tw_value acc = tw_build_dot(b, TW_ORDER_AS_SAID, &j, 1, (tw_value[]){narrow, value},
                                op(b, TW_OP_MUL, c[1], a, 0));
    named(b, acc, "acc");
    tw_build_end_serial(b, (tw_value[]){l, acc, m2}, 3, t->carry);
}

static void test_attention(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_builder *b = tw_build_begin(ctx, "attention");
    attention t = {.b = b};
    tw_build_note(b, "T=bf16 CAUSAL=true BI=32 BJ=64");
    static const char *const names[] = {"B", "H", "I", "D", "G", "J", "E"};
    tw_ix dim[7];
    for (int k = 0; k < 7; k++)
        dim[k] = tw_build_dim(b, names[k], false);
    tw_ix B = dim[0], H = dim[1], I = dim[2], D = dim[3], G = dim[4], J = dim[5], E = dim[6];
    tw_array Q = tw_build_array(b, "Q", TW_BF16, TW_ROLE_IN, (tw_ix[]){B, H, I, D}, 4);
    t.K = tw_build_array(b, "K", TW_BF16, TW_ROLE_IN, (tw_ix[]){B, G, J, D}, 4);
    t.V = tw_build_array(b, "V", TW_BF16, TW_ROLE_IN, (tw_ix[]){B, G, J, E}, 4);
    tw_array O = tw_build_array(b, "O", TW_BF16, TW_ROLE_OUT, (tw_ix[]){B, H, I, E}, 4);
    t.scale = tw_build_scalar(b, "scale", TW_F32, 0);
    tw_build_requires(b, TW_REL_EQ, tw_build_ix_op(b, TW_IX_MOD, H, G), tw_build_ix(b, 0));
    tw_build_requires(b, TW_REL_LE, I, J);
    tw_build_parallel(b, (tw_range[]){{"b", 0, B, 0}, {"h", 0, H, 0}, {"i", 0, I, 32}}, 3, t.g);
    t.d = tw_build_axis(b, &(tw_range){"d", 0, D, 0});
    t.e = tw_build_axis(b, &(tw_range){"e", 0, E, 0});
    t.I = I;
    t.J = J;
    tw_ix at_q[] = {at(b, t.g[0]), at(b, t.g[1]), at(b, t.g[2]), at(b, t.d)};
    t.q = named(b, tw_build_load(b, Q, at_q, 4, 0), "q");
    tw_value m = named(b, tw_build_spread(b, number(b, TW_F32, "-inf"), &t.g[2], 1), "m");
    tw_value l = named(
        b, tw_build_spread(b, tw_build_const(b, TW_F32, tw_build_num_int(b, 0)), &t.g[2], 1), "l");
    tw_value acc = tw_build_spread(b, tw_build_const(b, TW_F32, tw_build_num_int(b, 0)),
                                   (tw_axis[]){t.g[2], t.e}, 2);
    t.carry[0] = l;
    t.carry[1] = named(b, acc, "acc");
    t.carry[2] = m;
    t.head = tw_build_ix_op(b, TW_IX_DIV, at_q[1], tw_build_ix_op(b, TW_IX_DIV, H, G));
    attention_loop(&t);
    tw_value none = op(b, TW_OP_EQ, t.carry[0], number(b, TW_F32, "0.0"), 0);
    tw_value o = op(b, TW_OP_DIV, t.carry[1], t.carry[0], 0);
    tw_value zero = number(b, TW_F32, "0.0"); /* a constant gets its type last */
    tw_ix at_o[] = {at_q[0], at_q[1], at_q[2], at(b, t.e)};
    tw_build_store(b, O, at_o, 4, op(b, TW_OP_WHERE, none, zero, o), 0);
    tw_build_end(b);
    tw_ir *built = tw_build_finish(b);
    tw_binding bind[] = {{"T", "bf16"}, {"CAUSAL", "true"}, {"BJ", "64"}};
    same(ctx, built, from_file(ctx, "attention", bind, 3));
    tw_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row_sum),   cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_scan),      cmocka_unit_test(test_embedding),
        cmocka_unit_test(test_attention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
