/* SPDX-License-Identifier: Apache-2.0
 * Kernels of the oracle's tests, made with the public builder and specialised; runs of the oracle.
 */
#ifndef TEST_KERNELS_H
#define TEST_KERNELS_H

#include "../base/test.h"

#include "base/context.h"
#include "base/hash.h"
#include "oracle/fixtures.h"
#include "oracle/oracle.h"
#include "tilewright/build.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define U 0x1p-24

typedef struct {
    tw_context *ctx;
    tw_ir *ir;
    const void *array[8];
    uint64_t scalar[4];
    twi_oracle *o;
} bench;

static inline tw_num text_num(tw_builder *b, const char *text) {
    return tw_build_num_text(b, text);
}

static inline tw_value f32_const(tw_builder *b, const char *text) {
    return tw_build_const(b, TW_F32, text_num(b, text));
}

static inline tw_value op(tw_builder *b, tw_op which, tw_value x, tw_value y) {
    return tw_build_op(b, which, x, y, 0);
}

static inline void open_bench(bench *t) {
    *t = (bench){0};
    t->ctx = tw_context_create(NULL);
    assert_non_null(t->ctx);
}

static inline void close_bench(bench *t) { tw_context_destroy(t->ctx); }

/* Finishes and specialises, dims in the order in which they were declared. */
static inline void finish(bench *t, tw_builder *b, const int64_t *dims, unsigned n) {
    tw_ir *general = tw_build_finish(b);
    int64_t all[8] = {0};
    if (!general)
        fail_msg("%s", tw_diag_text(t->ctx, false));
    for (unsigned k = 0; k < n; k++)
        all[k + 1] = dims[k];
    t->ir = twi_ir_specialise(general, &t->ctx->arena, all);
    if (!t->ir)
        fail_msg("%s", tw_diag_text(t->ctx, false));
}

static inline void run(bench *t, const twi_order *orders, size_t n, bool canonical) {
    twi_oracle_in in = {t->array, t->scalar};
    twi_oracle_options options = {.canonical = canonical};
    t->o = twi_oracle_run(&t->ctx->arena, t->ir, &in, orders, n, &options);
    if (twi_oracle_error(t->o))
        fail_msg("%s", twi_oracle_error(t->o));
}

static inline twi_verdict judge(bench *t, uint32_t array, const void *got) {
    twi_verdict v;
    twi_oracle_judge(t->o, array, got, &v);
    return v;
}

static inline twi_id find_op(const tw_ir *ir, unsigned which, unsigned nth) {
    for (twi_id v = 1; v < ir->ins.n; v++)
        if (ir->ins.at[v].op == which && nth-- == 0)
            return v;
    fail_msg("no such operation");
    return 0;
}

/* X, Y: T[R, W]; Y of rank 1 where `rows`. Opens `parallel r` and `axis w`. */
typedef struct {
    tw_builder *b;
    tw_array x, y;
    tw_axis r, w;
    tw_ix at[2];
    tw_value load;
} rows;

static inline rows begin_rows(bench *t, tw_elem in, tw_elem out, bool reduced) {
    rows k = {.b = tw_build_begin(t->ctx, "rows")};
    tw_ix R = tw_build_dim(k.b, "R", false), W = tw_build_dim(k.b, "W", false), dims[] = {R, W};
    k.x = tw_build_array(k.b, "X", in, TW_ROLE_IN, dims, 2);
    k.y = tw_build_array(k.b, "Y", out, TW_ROLE_OUT, dims, reduced ? 1 : 2);
    tw_range r = {"r", 0, R, 0}, w = {"w", 0, W, 0};
    tw_build_parallel(k.b, &r, 1, &k.r);
    k.w = tw_build_axis(k.b, &w);
    k.at[0] = tw_build_ix_axis(k.b, k.r);
    k.at[1] = tw_build_ix_axis(k.b, k.w);
    k.load = tw_build_load(k.b, k.x, k.at, 2, 0);
    return k;
}

static inline void end_rows(bench *t, rows *k, tw_value y, int rank, int64_t R, int64_t W) {
    int64_t dims[2] = {R, W};
    tw_build_store(k->b, k->y, k->at, rank, y, 0);
    tw_build_end(k->b);
    finish(t, k->b, dims, 2);
}

typedef struct {
    tw_fold fold;
    tw_order order;
    tw_elem in, out;
} fold_kind;

static inline void build_fold(bench *t, fold_kind f, int64_t R, int64_t W) {
    rows k = begin_rows(t, f.in, f.out, true);
    end_rows(t, &k, tw_build_fold(k.b, f.fold, f.order, &k.w, 1, k.load), 1, R, W);
}

/* exp(x - max) / sum */
static inline void build_softmax(bench *t, tw_elem elem, int64_t R, int64_t W) {
    rows k = begin_rows(t, elem, elem, false);
    tw_value m = tw_build_fold(k.b, TW_FOLD_MAX, TW_ORDER_AS_SAID, &k.w, 1, k.load);
    tw_value e = op(k.b, TW_OP_EXP, op(k.b, TW_OP_SUB, k.load, m), 0);
    tw_value s = tw_build_fold(k.b, TW_FOLD_SUM, TW_ORDER_AS_SAID, &k.w, 1, e);
    end_rows(t, &k, op(k.b, TW_OP_DIV, e, s), 2, R, W);
}

static inline tw_value mean(rows *k, tw_value x) {
    tw_value n =
        tw_build_const(k->b, TW_F32, tw_build_num_ix(k->b, tw_build_dim(k->b, "W", false)));
    return op(k->b, TW_OP_DIV, tw_build_fold(k->b, TW_FOLD_SUM, TW_ORDER_AS_SAID, &k->w, 1, x), n);
}

static inline void build_layernorm(bench *t, tw_elem elem, int64_t R, int64_t W, bool twice) {
    rows k = begin_rows(t, elem, elem, false);
    tw_value c = op(k.b, TW_OP_SUB, k.load, mean(&k, k.load));
    if (twice)
        c = op(k.b, TW_OP_SUB, c, mean(&k, c));
    tw_value v = mean(&k, op(k.b, TW_OP_MUL, c, c));
    tw_value d = op(k.b, TW_OP_SQRT, op(k.b, TW_OP_ADD, v, f32_const(k.b, "1e-5")), 0);
    end_rows(t, &k, op(k.b, TW_OP_DIV, c, d), 2, R, W);
}

static inline void build_gemm(bench *t, tw_order order, tw_elem elem, int64_t M, int64_t N,
                              int64_t K) {
    tw_builder *b = tw_build_begin(t->ctx, "gemm");
    int64_t sizes[] = {M, N, K};
    tw_ix m = tw_build_dim(b, "M", false), n = tw_build_dim(b, "N", false),
          k = tw_build_dim(b, "K", false);
    tw_ix da[] = {m, k}, db[] = {k, n}, dc[] = {m, n};
    tw_array A = tw_build_array(b, "A", elem, TW_ROLE_IN, da, 2);
    tw_array B = tw_build_array(b, "B", elem, TW_ROLE_IN, db, 2);
    tw_array C = tw_build_array(b, "C", elem, TW_ROLE_OUT, dc, 2);
    tw_range par[] = {{"m", 0, m, 0}, {"n", 0, n, 0}}, over = {"k", 0, k, 0};
    tw_axis mn[2];
    tw_build_parallel(b, par, 2, mn);
    tw_axis kk = tw_build_axis(b, &over);
    tw_ix im = tw_build_ix_axis(b, mn[0]), in = tw_build_ix_axis(b, mn[1]),
          ik = tw_build_ix_axis(b, kk);
    tw_ix aa[] = {im, ik}, ab[] = {ik, in}, ac[] = {im, in};
    tw_value x = tw_build_load(b, A, aa, 2, 0), y = tw_build_load(b, B, ab, 2, 0);
    tw_build_store(b, C, ac, 2, tw_build_dot(b, order, &kk, 1, (tw_value[]){x, y}, 0), 0);
    tw_build_end(b);
    finish(t, b, sizes, 3);
}

/* Online softmax attention of one head, blocks BI x BJ, causal if asked. */
typedef struct {
    int64_t I, J, D, BI, BJ;
    bool causal;
} attention_size;

static inline void build_attention(bench *t, tw_elem elem, attention_size z) {
    tw_builder *b = tw_build_begin(t->ctx, "attention");
    int64_t sizes[] = {z.I, z.J, z.D};
    tw_ix i = tw_build_dim(b, "I", false), j = tw_build_dim(b, "J", false),
          d = tw_build_dim(b, "D", false);
    tw_ix dq[] = {i, d}, dk[] = {j, d};
    tw_array Q = tw_build_array(b, "Q", elem, TW_ROLE_IN, dq, 2);
    tw_array K = tw_build_array(b, "K", elem, TW_ROLE_IN, dk, 2);
    tw_array V = tw_build_array(b, "V", elem, TW_ROLE_IN, dk, 2);
    tw_array O = tw_build_array(b, "O", elem, TW_ROLE_OUT, dq, 2);
    tw_range par = {"i", 0, i, z.BI}, rd = {"d", 0, d, 0}, re = {"e", 0, d, 0},
             rj = {"j", 0, j, z.BJ};
    tw_axis ai, ad, ae, aj;
    tw_build_parallel(b, &par, 1, &ai);
    ad = tw_build_axis(b, &rd);
    ae = tw_build_axis(b, &re);
    tw_ix xi = tw_build_ix_axis(b, ai), xd = tw_build_ix_axis(b, ad), xe = tw_build_ix_axis(b, ae);
    tw_ix qa[] = {xi, xd}, oa[] = {xi, xe};
    tw_axis ie[] = {ai, ae};
    tw_value zero = f32_const(b, "0"), low = f32_const(b, "-inf"),
             q = tw_build_load(b, Q, qa, 2, 0);
    tw_value start[3] = {tw_build_spread(b, low, &ai, 1), tw_build_spread(b, zero, &ai, 1),
                         tw_build_spread(b, zero, ie, 2)};
    if (z.causal)
        rj.hi = tw_build_ix_op(b, TW_IX_MIN, j, tw_build_ix_bound(b, ai, true));
    aj = tw_build_serial(b, &rj, start, 3);
    tw_ix xj = tw_build_ix_axis(b, aj), ka[] = {xj, xd}, va[] = {xj, xe};
    tw_value m = tw_build_carry(b, 0), l = tw_build_carry(b, 1), acc = tw_build_carry(b, 2);
    tw_value s = tw_build_dot(b, TW_ORDER_AS_SAID, &ad, 1,
                              (tw_value[]){q, tw_build_load(b, K, ka, 2, 0)}, 0);
    s = op(b, TW_OP_MUL, s, f32_const(b, "0.125"));
    if (z.causal)
        s = tw_build_op(b, TW_OP_WHERE,
                        op(b, TW_OP_LE, tw_build_index(b, aj), tw_build_index(b, ai)), s, low);
    tw_value m2 = op(b, TW_OP_MAX, m, tw_build_fold(b, TW_FOLD_MAX, TW_ORDER_AS_SAID, &aj, 1, s));
    tw_value base = tw_build_op(b, TW_OP_WHERE, op(b, TW_OP_EQ, m2, low), zero, m2);
    tw_value a = op(b, TW_OP_EXP, op(b, TW_OP_SUB, m, base), 0);
    tw_value p = op(b, TW_OP_EXP, op(b, TW_OP_SUB, s, base), 0);
    tw_value l2 = op(b, TW_OP_ADD, op(b, TW_OP_MUL, l, a),
                     tw_build_fold(b, TW_FOLD_SUM, TW_ORDER_AS_SAID, &aj, 1, p));
    tw_value acc2 =
        tw_build_dot(b, TW_ORDER_AS_SAID, &aj, 1,
                     (tw_value[]){tw_build_cast(b, elem, p), tw_build_load(b, V, va, 2, 0)},
                     op(b, TW_OP_MUL, acc, a));
    tw_value yields[3] = {m2, l2, acc2}, result[3];
    tw_build_end_serial(b, yields, 3, result);
    tw_value out = tw_build_op(b, TW_OP_WHERE, op(b, TW_OP_EQ, result[1], zero), zero,
                               op(b, TW_OP_DIV, result[2], result[1]));
    tw_build_store(b, O, oa, 2, out, 0);
    tw_build_end(b);
    finish(t, b, sizes, 3);
}

static inline void *fill(bench *t, uint32_t array, const char *name, uint64_t seed) {
    int64_t extent[TWI_MAX_RANK];
    size_t total = twi_array_extents(t->ir, array, extent);
    void *data =
        twi_alloc_n(&t->ctx->arena, total + 1, tw_elem_size((tw_elem)t->ir->array.at[array].elem));
    twi_fixture_fill(t->ir, array, twi_fixture_named(name), seed, data);
    t->array[array] = data;
    return data;
}

/* One axis: chunks of `chain` blocks of `tree` elements; each of the `tree` accumulators runs in
 * order. */
static inline twi_order streams(const tw_ir *ir, twi_id fold, int64_t n, int64_t tree) {
    twi_order o = {.fold = fold, .n = 2};
    uint8_t axis = ir->ins.at[fold].fold[0];
    o.digit[0] = (twi_order_digit){axis, TWI_HOW_CHAIN, tree, (n + tree - 1) / tree};
    o.digit[1] = (twi_order_digit){axis, TWI_HOW_TREE, 1, tree};
    return o;
}

/* What a machine does under that order: accumulators, then pairs by distance. */
static inline float sum_streams(const float *x, size_t n, size_t tree) {
    float acc[256];
    for (size_t l = 0; l < tree; l++) {
        acc[l] = l < n ? x[l] : -0.0f;
        for (size_t k = l + tree; k < n; k += tree)
            acc[l] += x[k];
    }
    for (size_t w = tree / 2; w > 0; w /= 2)
        for (size_t l = 0; l < w; l++)
            acc[l] += acc[l + w];
    return n == 0 ? 0.0f : acc[0];
}

#endif
