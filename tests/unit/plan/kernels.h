/* SPDX-License-Identifier: Apache-2.0
 * Small kernels for tests of plans and search, made with the builder, specialised and lifted.
 */
#ifndef TEST_KERNELS_H
#define TEST_KERNELS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/ir.h"
#include "pass/pass.h"
#include "tilewright/build.h"

/* Finishes, gives the n dims their numbers in the order in which they were made, lifts. */
static inline tw_ir *kernel_of(tw_context *ctx, tw_builder *b, const int64_t *numbers, size_t n) {
    tw_ir *ir = tw_build_finish(b);
    if (!ir)
        fail_msg("%s", tw_diag_text(ctx, false));
    int64_t dims[16] = {0};
    assert_int_equal(ir->dim.n, n + 1);
    for (size_t d = 1; d <= n; d++)
        dims[d] = numbers[d - 1];
    ir = twi_ir_specialise(ir, &ctx->arena, dims);
    if (!ir)
        fail_msg("%s", tw_diag_text(ctx, false));
    opt_lift(ir);
    return ir;
}

static inline tw_axis range_axis(tw_builder *b, const char *name, tw_ix hi) {
    return tw_build_axis(b, &(tw_range){name, 0, hi, 0});
}

static inline tw_axis range_par(tw_builder *b, const char *name, tw_ix hi, int64_t block) {
    tw_axis a = 0;
    tw_build_parallel(b, &(tw_range){name, 0, hi, block}, 1, &a);
    return a;
}

/* parallel r: R { axis w: W; s = sum[w](X[r, w]); Y[r] = s } */
static inline tw_ir *row_sum_of(tw_context *ctx, int64_t rows, int64_t width, tw_order order) {
    tw_builder *b = tw_build_begin(ctx, "row_sum");
    tw_ix R = tw_build_dim(b, "R", false), W = tw_build_dim(b, "W", false), dims[] = {R, W};
    tw_array X = tw_build_array(b, "X", TW_F32, TW_ROLE_IN, dims, 2);
    tw_array Y = tw_build_array(b, "Y", TW_F32, TW_ROLE_OUT, dims, 1);
    tw_axis r = range_par(b, "r", R, 0), w = range_axis(b, "w", W);
    tw_ix at[] = {tw_build_ix_axis(b, r), tw_build_ix_axis(b, w)};
    tw_value s = tw_build_fold(b, TW_FOLD_SUM, order, &w, 1, tw_build_load(b, X, at, 2, 0));
    tw_build_name(b, s, "s");
    tw_build_store(b, Y, at, 1, s, 0);
    tw_build_end(b);
    return kernel_of(ctx, b, (int64_t[]){rows, width}, 2);
}

/* m = max[w](x); p = exp(x - m); s = sum[w](p); Y[r, w] = p / s */
static inline tw_ir *softmax_of(tw_context *ctx, int64_t rows, int64_t width, tw_order order) {
    tw_builder *b = tw_build_begin(ctx, "softmax");
    tw_ix R = tw_build_dim(b, "R", false), W = tw_build_dim(b, "W", false), dims[] = {R, W};
    tw_array X = tw_build_array(b, "X", TW_F32, TW_ROLE_IN, dims, 2);
    tw_array Y = tw_build_array(b, "Y", TW_F32, TW_ROLE_OUT, dims, 2);
    tw_axis r = range_par(b, "r", R, 0), w = range_axis(b, "w", W);
    tw_ix at[] = {tw_build_ix_axis(b, r), tw_build_ix_axis(b, w)};
    tw_value x = tw_build_load(b, X, at, 2, 0);
    tw_value m = tw_build_fold(b, TW_FOLD_MAX, order, &w, 1, x);
    tw_value p = tw_build_op(b, TW_OP_EXP, tw_build_op(b, TW_OP_SUB, x, m, 0), 0, 0);
    tw_value s = tw_build_fold(b, TW_FOLD_SUM, order, &w, 1, p);
    tw_build_name(b, m, "m");
    tw_build_name(b, p, "p");
    tw_build_name(b, s, "s");
    tw_build_store(b, Y, at, 2, tw_build_op(b, TW_OP_DIV, p, s, 0), 0);
    tw_build_end(b);
    return kernel_of(ctx, b, (int64_t[]){rows, width}, 2);
}

/* parallel m: M, n: N { axis k: K; C[m, n] = dot[k](A[m, k], B[k, n]) } */
/* Sums of bytes in i32. */
static inline tw_ir *gemm_typed_of(tw_context *ctx, tw_elem elem, int64_t rows, int64_t cols,
                                   int64_t depth, tw_order order) {
    const tw_elem result = elem == TW_I8 ? TW_I32 : elem;
    tw_builder *b = tw_build_begin(ctx, "gemm");
    tw_ix M = tw_build_dim(b, "M", false), K = tw_build_dim(b, "K", false);
    tw_ix N = tw_build_dim(b, "N", false);
    tw_array A = tw_build_array(b, "A", elem, TW_ROLE_IN, (tw_ix[]){M, K}, 2);
    tw_array B = tw_build_array(b, "B", elem, TW_ROLE_IN, (tw_ix[]){K, N}, 2);
    tw_array C = tw_build_array(b, "C", result, TW_ROLE_OUT, (tw_ix[]){M, N}, 2);
    tw_axis at[2];
    tw_build_parallel(b, (tw_range[]){{"m", 0, M, 0}, {"n", 0, N, 0}}, 2, at);
    tw_axis k = range_axis(b, "k", K);
    tw_ix m = tw_build_ix_axis(b, at[0]), n = tw_build_ix_axis(b, at[1]);
    tw_ix kk = tw_build_ix_axis(b, k);
    tw_value x[2] = {tw_build_load(b, A, (tw_ix[]){m, kk}, 2, 0),
                     tw_build_load(b, B, (tw_ix[]){kk, n}, 2, 0)};
    for (unsigned i = 0; i < 2 && elem == TW_I8; i++)
        x[i] = tw_build_cast(b, TW_I32, x[i]);
    tw_build_store(b, C, (tw_ix[]){m, n}, 2, tw_build_dot(b, order, &k, 1, x, 0), 0);
    tw_build_end(b);
    return kernel_of(ctx, b, (int64_t[]){rows, depth, cols}, 3);
}

static inline tw_ir *gemm_of(tw_context *ctx, int64_t rows, int64_t cols, int64_t depth,
                             tw_order order) {
    return gemm_typed_of(ctx, TW_F32, rows, cols, depth, order);
}

/* Attention over blocks of 16 rows and 32 columns: carried maximum, sum and accumulator. */
static inline tw_ir *attention_of(tw_context *ctx, int64_t rows, int64_t cols, int64_t width) {
    tw_builder *b = tw_build_begin(ctx, "attention");
    tw_ix I = tw_build_dim(b, "I", false), D = tw_build_dim(b, "D", false);
    tw_ix J = tw_build_dim(b, "J", false);
    tw_array Q = tw_build_array(b, "Q", TW_F32, TW_ROLE_IN, (tw_ix[]){I, D}, 2);
    tw_array K = tw_build_array(b, "K", TW_F32, TW_ROLE_IN, (tw_ix[]){J, D}, 2);
    tw_array V = tw_build_array(b, "V", TW_F32, TW_ROLE_IN, (tw_ix[]){J, D}, 2);
    tw_array O = tw_build_array(b, "O", TW_F32, TW_ROLE_OUT, (tw_ix[]){I, D}, 2);
    tw_axis i = range_par(b, "i", I, 16), d = range_axis(b, "d", D), e = range_axis(b, "e", D);
    tw_ix ii = tw_build_ix_axis(b, i), dd = tw_build_ix_axis(b, d), ee = tw_build_ix_axis(b, e);
    tw_value q = tw_build_load(b, Q, (tw_ix[]){ii, dd}, 2, 0);
    tw_value low = tw_build_const(b, TW_F32, tw_build_num_text(b, "-inf"));
    tw_value zero = tw_build_const(b, TW_F32, tw_build_num_int(b, 0));
    tw_value start[] = {tw_build_spread(b, low, &i, 1), tw_build_spread(b, zero, &i, 1),
                        tw_build_spread(b, zero, (tw_axis[]){i, e}, 2)};
    tw_axis j = tw_build_serial(b, &(tw_range){"j", 0, J, 32}, start, 3);
    tw_ix jj = tw_build_ix_axis(b, j);
    tw_value m = tw_build_carry(b, 0), l = tw_build_carry(b, 1), acc = tw_build_carry(b, 2);
    tw_value k = tw_build_load(b, K, (tw_ix[]){jj, dd}, 2, 0);
    tw_value s = tw_build_dot(b, TW_ORDER_FREE, &d, 1, (tw_value[]){q, k}, 0);
    tw_value m2 =
        tw_build_op(b, TW_OP_MAX, m, tw_build_fold(b, TW_FOLD_MAX, TW_ORDER_FREE, &j, 1, s), 0);
    tw_value a = tw_build_op(b, TW_OP_EXP, tw_build_op(b, TW_OP_SUB, m, m2, 0), 0, 0);
    tw_value p = tw_build_op(b, TW_OP_EXP, tw_build_op(b, TW_OP_SUB, s, m2, 0), 0, 0);
    tw_value sum = tw_build_fold(b, TW_FOLD_SUM, TW_ORDER_FREE, &j, 1, p);
    tw_value l2 = tw_build_op(b, TW_OP_ADD, tw_build_op(b, TW_OP_MUL, l, a, 0), sum, 0);
    tw_value v = tw_build_load(b, V, (tw_ix[]){jj, ee}, 2, 0);
    tw_value acc2 = tw_build_dot(b, TW_ORDER_FREE, &j, 1, (tw_value[]){p, v},
                                 tw_build_op(b, TW_OP_MUL, acc, a, 0));
    tw_value out[3];
    tw_build_end_serial(b, (tw_value[]){m2, l2, acc2}, 3, out);
    tw_build_store(b, O, (tw_ix[]){ii, ee}, 2, tw_build_op(b, TW_OP_DIV, out[2], out[1], 0), 0);
    tw_build_end(b);
    return kernel_of(ctx, b, (int64_t[]){rows, width, cols}, 3);
}

/* parallel r { P[r] = sum[w](X[r, w]) } parallel u: R, v: W { Y[u, v] = X[u, v] * P[u] } */
static inline tw_ir *two_scopes_of(tw_context *ctx, int64_t rows, int64_t width) {
    tw_builder *b = tw_build_begin(ctx, "scaled");
    tw_ix R = tw_build_dim(b, "R", false), W = tw_build_dim(b, "W", false), dims[] = {R, W};
    tw_array X = tw_build_array(b, "X", TW_F32, TW_ROLE_IN, dims, 2);
    tw_array Y = tw_build_array(b, "Y", TW_F32, TW_ROLE_OUT, dims, 2);
    tw_array P = tw_build_array(b, "P", TW_F32, TW_ROLE_TEMP, dims, 1);
    tw_axis r = range_par(b, "r", R, 0), w = range_axis(b, "w", W), at[2];
    tw_ix ix[] = {tw_build_ix_axis(b, r), tw_build_ix_axis(b, w)};
    tw_value x = tw_build_load(b, X, ix, 2, 0);
    tw_value s = tw_build_fold(b, TW_FOLD_SUM, TW_ORDER_FREE, &w, 1, x);
    tw_build_store(b, P, ix, 1, s, 0);
    tw_build_end(b);
    tw_build_parallel(b, (tw_range[]){{"u", 0, R, 0}, {"v", 0, W, 0}}, 2, at);
    tw_ix uv[] = {tw_build_ix_axis(b, at[0]), tw_build_ix_axis(b, at[1])};
    tw_value y = tw_build_load(b, X, uv, 2, 0), p = tw_build_load(b, P, uv, 1, 0);
    tw_build_store(b, Y, uv, 2, tw_build_op(b, TW_OP_MUL, y, p, 0), 0);
    tw_build_end(b);
    return kernel_of(ctx, b, (int64_t[]){rows, width}, 2);
}

/* Y[n, m] = X[m, n] */
static inline tw_ir *transpose_of(tw_context *ctx, int64_t rows, int64_t width) {
    tw_builder *b = tw_build_begin(ctx, "transpose");
    tw_ix M = tw_build_dim(b, "M", false), N = tw_build_dim(b, "N", false);
    tw_array X = tw_build_array(b, "X", TW_F32, TW_ROLE_IN, (tw_ix[]){M, N}, 2);
    tw_array Y = tw_build_array(b, "Y", TW_F32, TW_ROLE_OUT, (tw_ix[]){N, M}, 2);
    tw_axis at[2];
    tw_build_parallel(b, (tw_range[]){{"m", 0, M, 0}, {"n", 0, N, 0}}, 2, at);
    tw_ix m = tw_build_ix_axis(b, at[0]), n = tw_build_ix_axis(b, at[1]);
    tw_build_store(b, Y, (tw_ix[]){n, m}, 2, tw_build_load(b, X, (tw_ix[]){m, n}, 2, 0), 0);
    tw_build_end(b);
    return kernel_of(ctx, b, (int64_t[]){rows, width}, 2);
}

/* Y[r, w] = X[r, w] * X[r, w] */
static inline tw_ir *square_of(tw_context *ctx, int64_t rows, int64_t width) {
    tw_builder *b = tw_build_begin(ctx, "square");
    tw_ix R = tw_build_dim(b, "R", false), W = tw_build_dim(b, "W", false), dims[] = {R, W};
    tw_array X = tw_build_array(b, "X", TW_F32, TW_ROLE_IN, dims, 2);
    tw_array Y = tw_build_array(b, "Y", TW_F32, TW_ROLE_OUT, dims, 2);
    tw_axis at[2];
    tw_build_parallel(b, (tw_range[]){{"r", 0, R, 0}, {"w", 0, W, 0}}, 2, at);
    tw_ix ix[] = {tw_build_ix_axis(b, at[0]), tw_build_ix_axis(b, at[1])};
    tw_value x = tw_build_load(b, X, ix, 2, 0);
    tw_build_store(b, Y, ix, 2, tw_build_op(b, TW_OP_MUL, x, x, 0), 0);
    tw_build_end(b);
    return kernel_of(ctx, b, (int64_t[]){rows, width}, 2);
}

#endif
