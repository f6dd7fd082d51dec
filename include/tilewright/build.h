/* SPDX-License-Identifier: Apache-2.0
 * Tilewright: the builder. Makes the tile IR of one kernel, in the order in which a .tile file
 * would say it; the language's front end uses nothing else. Rules are those of docs/language.md,
 * checked here.
 *
 * Errors are sticky: a handle of 0 means that something went wrong before; every call takes it and
 * returns 0 again, diagnostics are in the context, and tw_build_finish returns NULL.
 *
 *     tw_builder *b = tw_build_begin(ctx, "row_sum");
 *     tw_ix R = tw_build_dim(b, "R", false), W = tw_build_dim(b, "W", false), dims[] = {R, W};
 *     tw_array X = tw_build_array(b, "X", TW_F32, TW_ROLE_IN, dims, 2);
 *     tw_array Y = tw_build_array(b, "Y", TW_F32, TW_ROLE_OUT, dims, 1);
 *     tw_axis r;
 *     tw_build_parallel(b, &(tw_range){"r", 0, R, 0}, 1, &r);       lo 0: from 0
 *     tw_axis w = tw_build_axis(b, &(tw_range){"w", 0, W, 0});
 *     tw_ix at[] = {tw_build_ix_axis(b, r), tw_build_ix_axis(b, w)};
 *     tw_build_store(b, Y, at, 1, tw_build_fold(b, TW_FOLD_SUM, TW_ORDER_AS_SAID, &w, 1,
 *                    tw_build_load(b, X, at, 2, 0)), 0);
 *     tw_build_end(b);
 *     tw_ir *ir = tw_build_finish(b);                               frees b, also on failure
 */
#ifndef TILEWRIGHT_BUILD_H
#define TILEWRIGHT_BUILD_H

#include "tilewright/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_builder tw_builder;
typedef struct tw_ir tw_ir; /* owned by its context */
typedef uint32_t tw_value, tw_ix, tw_axis, tw_array,
    tw_num; /* 0: error, or "left out" where it says so */

TW_API tw_builder *tw_build_begin(tw_context *ctx, const char *kernel);
TW_API tw_ir *tw_build_finish(tw_builder *b); /* verifies; proves accesses; NULL: see diagnostics */
TW_API void tw_build_abandon(tw_builder *b);

/* Where the next calls stand in a text: a file registered with tw_build_file, a byte offset in it.
 */
TW_API uint32_t tw_build_file(tw_context *ctx, const char *name, const char *text,
                              size_t n); /* borrows */
TW_API void tw_build_at(tw_builder *b, uint32_t file, uint32_t offset);
/* A front end's own error at a place. Code: docs/diagnostics.md. help may be NULL. b may be NULL.
 */
typedef struct tw_place {
    uint32_t file, offset; /* file 0: no place */
} tw_place;
TW_API void tw_build_report(tw_context *ctx, tw_builder *b, int code, tw_place at, const char *text,
                            const char *help);
TW_API bool tw_build_failed(const tw_builder *b);
/* A dry run: what is built between mark and rewind is checked, then forgotten (a branch not taken).
 */
TW_API void tw_build_mark(tw_builder *b);
TW_API void tw_build_rewind(tw_builder *b);

/* ---- head ---- */
typedef enum tw_role { TW_ROLE_IN, TW_ROLE_OUT, TW_ROLE_INOUT, TW_ROLE_TEMP } tw_role;
typedef enum tw_order {
    TW_ORDER_AS_SAID,
    TW_ORDER_FREE,
    TW_ORDER_TREE,
    TW_ORDER_LEFT,
    TW_ORDER_RIGHT,
    TW_ORDER_CANONICAL
} tw_order;
typedef enum tw_relation {
    TW_REL_EQ,
    TW_REL_NE,
    TW_REL_LT,
    TW_REL_LE,
    TW_REL_GT,
    TW_REL_GE
} tw_relation;

TW_API void tw_build_note(tw_builder *b,
                          const char *text); /* "T=f32 BJ=64": what this instance was built for */
TW_API void tw_build_numerics(tw_builder *b, tw_order order, bool native_math);
TW_API tw_ix tw_build_dim(tw_builder *b, const char *name,
                          bool dyn); /* the same name again: the same dim */
TW_API tw_array tw_build_array(tw_builder *b, const char *name, tw_elem elem, tw_role role,
                               const tw_ix *dims, int rank);
TW_API void tw_build_fill(tw_builder *b, tw_array out, tw_num value); /* out Y: T[N] = value */
TW_API tw_value tw_build_scalar(tw_builder *b, const char *name, tw_elem elem,
                                tw_num default_value /* 0: none */);
TW_API void tw_build_requires(tw_builder *b, tw_relation relation, tw_ix x, tw_ix y);

/* ---- index expressions: integers of dims, positions, bounds ---- */
typedef enum tw_ix_op {
    TW_IX_ADD,
    TW_IX_SUB,
    TW_IX_MUL,
    TW_IX_DIV,
    TW_IX_MOD,
    TW_IX_MIN,
    TW_IX_MAX,
    TW_IX_CDIV
} tw_ix_op;
TW_API tw_ix tw_build_ix(tw_builder *b, int64_t k);
TW_API tw_ix tw_build_ix_op(tw_builder *b, tw_ix_op op, tw_ix x, tw_ix y);
TW_API tw_ix tw_build_ix_axis(tw_builder *b, tw_axis axis); /* position on an axis (of any kind) */
TW_API tw_ix tw_build_ix_bound(tw_builder *b, tw_axis block,
                               bool high); /* lo(i), hi(i) of a block axis */
/* An integer scalar as a bound of axes (`axis w: S[r] .. S[r + 1]`), converted to i64. */
TW_API tw_ix tw_build_ix_scalar(tw_builder *b, tw_value x);
TW_API bool tw_build_ix_value_of(const tw_builder *b, tw_ix x, int64_t *k); /* a plain number? */

/* ---- untyped constants: exact until they meet a type ---- */
TW_API tw_num tw_build_num_int(tw_builder *b, int64_t k);
TW_API tw_num tw_build_num_text(tw_builder *b,
                                const char *numeral);  /* "1e-5", "0x1p-3", "inf", "nan" */
TW_API tw_num tw_build_num_ix(tw_builder *b, tw_ix x); /* of dims alone */
TW_API tw_num tw_build_num_op(tw_builder *b, char op, tw_num x,
                              tw_num y); /* + - * / ; n: minus x, y = 0 */
TW_API tw_value tw_build_const(tw_builder *b, tw_elem elem, tw_num value);

/* ---- scopes ---- */
typedef struct tw_range {
    const char *name;
    tw_ix lo, hi;  /* lo 0: from 0 */
    int64_t block; /* 0: untiled */
} tw_range;
TW_API void tw_build_parallel(tw_builder *b, const tw_range *ranges, int n,
                              tw_axis *axes); /* n = 0: one instance */
TW_API tw_axis tw_build_axis(tw_builder *b, const tw_range *range);
/* Inside a scope: a loop with n carried values. Around scopes (outside any): n = 0. */
TW_API tw_axis tw_build_serial(tw_builder *b, const tw_range *range, const tw_value *initial,
                               int n);
TW_API tw_value tw_build_carry(tw_builder *b,
                               int k); /* at the start of a trip of the innermost serial */
TW_API void tw_build_end_serial(tw_builder *b, const tw_value *yields, int n, tw_value *results);
TW_API void tw_build_end(tw_builder *b); /* of a parallel scope */

/* ---- values ---- */
typedef enum tw_op { /* elementwise; operands of one type, none is converted */
                     TW_OP_ADD,
                     TW_OP_SUB,
                     TW_OP_MUL,
                     TW_OP_DIV,
                     TW_OP_IDIV,
                     TW_OP_IMOD,
                     TW_OP_NEG,
                     TW_OP_ABS,
                     TW_OP_MIN,
                     TW_OP_MAX,
                     TW_OP_FMA,
                     TW_OP_SQRT,
                     TW_OP_EXP,
                     TW_OP_LOG,
                     TW_OP_TANH,
                     TW_OP_ERF,
                     TW_OP_EQ,
                     TW_OP_NE,
                     TW_OP_LT,
                     TW_OP_LE,
                     TW_OP_GT,
                     TW_OP_GE,
                     TW_OP_AND,
                     TW_OP_OR,
                     TW_OP_NOT,
                     TW_OP_BAND,
                     TW_OP_BOR,
                     TW_OP_BXOR,
                     TW_OP_BNOT,
                     TW_OP_SHL,
                     TW_OP_SHR,
                     TW_OP_WHERE,
                     TW_OP_RSQRT /* 1 / sqrt(x) */
} tw_op;
typedef enum tw_scan { TW_SCAN_SUM, TW_SCAN_PROD, TW_SCAN_MAX } tw_scan;
enum { TW_SCAN_EXCLUSIVE = 1, TW_SCAN_REVERSE = 2 }; /* flags of a scan */
typedef enum tw_atomic { TW_ATOMIC_ADD, TW_ATOMIC_MAX, TW_ATOMIC_MIN } tw_atomic;
typedef enum tw_fold {
    TW_FOLD_SUM,
    TW_FOLD_PROD,
    TW_FOLD_MIN,
    TW_FOLD_MAX,
    TW_FOLD_ANY,
    TW_FOLD_ALL,
    TW_FOLD_ARGMAX,
    TW_FOLD_ARGMIN
} tw_fold;
TW_API tw_value tw_build_op(tw_builder *b, tw_op op, tw_value x, tw_value y,
                            tw_value z); /* unused: 0 */
TW_API tw_value tw_build_cast(tw_builder *b, tw_elem elem,
                              tw_value x); /* a narrow float: rounds to it, stays f32 */
TW_API tw_value tw_build_index(tw_builder *b,
                               tw_axis axis); /* i64 tile over the axis, or an i64 scalar */
TW_API tw_value tw_build_ix_value(tw_builder *b,
                                  tw_ix x); /* i64; a tile over the axes of tiles in it */
TW_API tw_value tw_build_spread(tw_builder *b, tw_value x, const tw_axis *axes,
                                int n); /* zeros(f32)[i, e] */
TW_API tw_value tw_build_load(tw_builder *b, tw_array array, const tw_ix *at, int rank,
                              tw_value outside /* 0: none */);
TW_API void tw_build_store(tw_builder *b, tw_array array, const tw_ix *at, int rank, tw_value x,
                           tw_value when /* 0: always */);
/* Elements of an array where some subscripts are integer tiles: gather, scatter, atomics. Outside
 * the array a gather without `outside` gives NaN (0, false), a store does nothing, and the call's
 * status is TW_ERR_INDEX. */
typedef struct tw_subscript {
    tw_ix ix;
    tw_value value; /* an integer tile or scalar; then ix is 0 */
} tw_subscript;
typedef struct tw_element {
    tw_array array;
    const tw_subscript *at;
    int rank;
} tw_element;
TW_API tw_value tw_build_gather(tw_builder *b, tw_element from, tw_value outside /* 0: none */);
TW_API void tw_build_scatter(tw_builder *b, tw_element to, tw_value x,
                             tw_value when /* 0: always */);
TW_API void tw_build_atomic(tw_builder *b, tw_atomic what, tw_element to, tw_value x,
                            tw_value when /* 0: always */);
/* cumsum, cumprod, cummax along one axis, which the result keeps. */
TW_API tw_value tw_build_scan(tw_builder *b, tw_scan scan, int flags, tw_order order, tw_axis axis,
                              tw_value x);
TW_API tw_value tw_build_fold(tw_builder *b, tw_fold fold, tw_order order, const tw_axis *axes,
                              int n, tw_value x);
TW_API tw_value tw_build_dot(tw_builder *b, tw_order order, const tw_axis *axes, int n,
                             const tw_value xy[2], tw_value start /* 0: zero */);
TW_API void tw_build_name(tw_builder *b, tw_value x,
                          const char *name); /* for dumps and plans; first name stays */

TW_API tw_elem tw_build_elem_of(const tw_builder *b, tw_value x); /* TW_NONE for 0 */
TW_API bool tw_build_has_axis(const tw_builder *b, tw_value x, tw_axis axis);
TW_API const char *tw_build_axes_text(tw_builder *b, tw_value x); /* "{i, e}" for messages */

/* ---- text ---- */
TW_API const char *tw_ir_text(tw_context *ctx,
                              const tw_ir *ir); /* the tile IR's text form; the context's */
TW_API tw_ir *tw_ir_from_text(tw_context *ctx, const char *name, const char *text, size_t n);
TW_API const char *tw_ir_ledger_text(tw_context *ctx, const tw_ir *ir);

#ifdef __cplusplus
}
#endif
#endif
