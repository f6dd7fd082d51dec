/* SPDX-License-Identifier: Apache-2.0
 * Each rule of the builder broken once: the diagnostic has the rule's own number and names what the
 * user wrote. The same statements without the fault pass (`fine`).
 */
#include "test.h"

#include <stdio.h>

/* One kernel: arrays of each kind, a scope with an untiled and a tiled parallel axis, two full
 * axes. */
typedef struct {
    tw_builder *b;
    tw_ix M, N, K;
    tw_value s; /* i32, an argument */
    tw_array B, X, Y, I, F16, T,
        Z;              /* X: in f32[M, N], Y: out f32[M], I: in i32[M], T: temp f32[M], Z: inout */
    tw_axis m, t, n, k; /* untiled, tiled, full, full */
    tw_ix at_m, at_n, at_k, at_t;
    tw_value x, i; /* f32{n}, i32 */
} kit;

static tw_value f32(kit *f, const char *numeral) {
    return tw_build_const(f->b, TW_F32, tw_build_num_text(f->b, numeral));
}
static tw_value fold(kit *f, tw_fold what, tw_axis axis, tw_value x) {
    return tw_build_fold(f->b, what, TW_ORDER_AS_SAID, &axis, 1, x);
}
static tw_value op(kit *f, tw_op what, tw_value x, tw_value y) {
    return tw_build_op(f->b, what, x, y, 0);
}
static void store_y(kit *f, tw_value x) { tw_build_store(f->b, f->Y, &f->at_m, 1, x, 0); }

static void open_kit(kit *f, tw_context *ctx) {
    tw_builder *b = f->b = tw_build_begin(ctx, "k");
    f->M = tw_build_dim(b, "M", false);
    f->N = tw_build_dim(b, "N", false);
    f->K = tw_build_dim(b, "K", false);
    tw_ix mn[] = {f->M, f->N};
    f->X = tw_build_array(b, "X", TW_F32, TW_ROLE_IN, mn, 2);
    f->Y = tw_build_array(b, "Y", TW_F32, TW_ROLE_OUT, &f->M, 1);
    f->I = tw_build_array(b, "I", TW_I32, TW_ROLE_IN, &f->M, 1);
    f->F16 = tw_build_array(b, "F16", TW_F16, TW_ROLE_INOUT, &f->M, 1);
    f->T = tw_build_array(b, "T", TW_F32, TW_ROLE_TEMP, &f->M, 1);
    f->Z = tw_build_array(b, "Z", TW_F32, TW_ROLE_INOUT, mn, 2);
    f->B = tw_build_array(b, "B", TW_BOOL, TW_ROLE_INOUT, &f->M, 1);
    f->s = tw_build_scalar(b, "s0", TW_I32, 0);
}

static void open_scope(kit *f) {
    tw_builder *b = f->b;
    tw_range ranges[] = {{"m", 0, f->M, 0}, {"t", 0, f->K, 32}};
    tw_axis p[2];
    tw_build_parallel(b, ranges, 2, p);
    f->m = p[0];
    f->t = p[1];
    f->n = tw_build_axis(b, &(tw_range){"n", 0, f->N, 0});
    f->k = tw_build_axis(b, &(tw_range){"k", 0, f->K, 0});
    f->at_m = tw_build_ix_axis(b, f->m);
    f->at_n = tw_build_ix_axis(b, f->n);
    f->at_k = tw_build_ix_axis(b, f->k);
    f->at_t = tw_build_ix_axis(b, f->t);
    tw_ix at[] = {f->at_m, f->at_n};
    f->x = tw_build_load(b, f->X, at, 2, 0);
    f->i = tw_build_load(b, f->I, &f->at_m, 1, 0);
}

/* ---- faults of the head ---- */
static void name_wrong(kit *f) { (void)tw_build_dim(f->b, "two words", false); }
static void name_twice(kit *f) { (void)tw_build_array(f->b, "M", TW_F32, TW_ROLE_IN, NULL, 0); }
static void not_built_type(kit *f) { (void)tw_build_scalar(f->b, "s", TW_F8E4M3, 0); }
static void not_built_order(kit *f) { tw_build_numerics(f->b, TW_ORDER_RIGHT, false); }
static void not_built_math(kit *f) { tw_build_numerics(f->b, TW_ORDER_FREE, true); }
static void numeral(kit *f) { (void)tw_build_num_text(f->b, "1.2.3"); }
static void too_many_dims(kit *f) {
    tw_ix dims[9] = {f->M, f->M, f->M, f->M, f->M, f->M, f->M, f->M, f->M};
    (void)tw_build_array(f->b, "A9", TW_F32, TW_ROLE_IN, dims, 9);
}
static void fill_role(kit *f) { tw_build_fill(f->b, f->X, tw_build_num_int(f->b, 0)); }
static void fill_range(kit *f) {
    tw_array a = tw_build_array(f->b, "A", TW_I8, TW_ROLE_OUT, &f->M, 1);
    tw_build_fill(f->b, a, tw_build_num_int(f->b, 128));
}
static void too_deep(kit *f) {
    tw_ix x = f->M;
    for (int k = 0; k < 1000; k++)
        x = tw_build_ix_op(f->b, TW_IX_ADD, x, f->N);
}
static void outside_scope(kit *f) { (void)op(f, TW_OP_ADD, f32(f, "1.0"), f32(f, "2.0")); }
static void axis_outside(kit *f) { (void)tw_build_axis(f->b, &(tw_range){"w", 0, f->M, 0}); }
static void end_too_often(kit *f) { tw_build_end(f->b); }
static void carry_outer(kit *f) {
    tw_value c = f32(f, "1.0");
    (void)tw_build_serial(f->b, &(tw_range){"s", 0, f->M, 0}, &c, 1);
}
static void outer_block(kit *f) {
    (void)tw_build_serial(f->b, &(tw_range){"s", 0, f->M, 8}, NULL, 0);
}

/* ---- faults inside a scope ---- */
static void const_int(kit *f) {
    (void)tw_build_const(f->b, TW_F32, tw_build_num_int(f->b, 16777217));
}
static void const_fraction(kit *f) {
    (void)tw_build_const(f->b, TW_I32, tw_build_num_text(f->b, "0.5"));
}
static void const_unsigned(kit *f) {
    (void)tw_build_const(f->b, TW_U8, tw_build_num_int(f->b, -1));
}
static void const_dims(kit *f) { (void)tw_build_num_ix(f->b, f->at_m); }
static void same_type(kit *f) { (void)op(f, TW_OP_ADD, f->x, f->i); }
static void arith_bool(kit *f) {
    tw_value c = op(f, TW_OP_LT, f->i, f->i);
    (void)op(f, TW_OP_ADD, c, c);
}
static void float_op(kit *f) { (void)op(f, TW_OP_DIV, f->i, f->i); }
static void int_op(kit *f) { (void)op(f, TW_OP_IDIV, f->x, f->x); }
static void bool_op(kit *f) { (void)op(f, TW_OP_AND, f->x, f->x); }
static void where_cond(kit *f) { (void)tw_build_op(f->b, TW_OP_WHERE, f->x, f->x, f->x); }
static void compare_bool(kit *f) {
    tw_value c = op(f, TW_OP_LT, f->i, f->i);
    (void)op(f, TW_OP_LE, c, c);
}
static void exp_f64(kit *f) { (void)op(f, TW_OP_EXP, tw_build_cast(f->b, TW_F64, f->x), 0); }
static void cast_bool(kit *f) { (void)tw_build_cast(f->b, TW_BOOL, f->x); }
static void cast_twice(kit *f) { (void)tw_build_cast(f->b, TW_F16, f->i); }
static void bound_tile(kit *f) { (void)tw_build_axis(f->b, &(tw_range){"w", 0, f->at_n, 0}); }
static void block_full(kit *f) { (void)tw_build_axis(f->b, &(tw_range){"w", 0, f->N, 8}); }
static void block_negative(kit *f) {
    (void)tw_build_serial(f->b, &(tw_range){"s", 0, f->N, -8}, NULL, 0);
}
static void lo_untiled(kit *f) { (void)tw_build_ix_bound(f->b, f->m, false); }
static void nested(kit *f) { tw_build_parallel(f->b, NULL, 0, NULL); }
static void axis_twice(kit *f) { (void)tw_build_axis(f->b, &(tw_range){"n", 0, f->N, 0}); }
static void fold_axis(kit *f) { (void)fold(f, TW_FOLD_SUM, f->k, f->x); }
static void fold_index(kit *f) { (void)fold(f, TW_FOLD_SUM, f->m, f->x); }
static void fold_block(kit *f) { (void)fold(f, TW_FOLD_SUM, f->t, tw_build_index(f->b, f->t)); }
static void fold_twice(kit *f) {
    tw_axis axes[] = {f->n, f->n};
    (void)tw_build_fold(f->b, TW_FOLD_SUM, TW_ORDER_AS_SAID, axes, 2, f->x);
}
static void fold_none(kit *f) {
    (void)tw_build_fold(f->b, TW_FOLD_SUM, TW_ORDER_AS_SAID, &f->n, 0, f->x);
}
static void fold_bool(kit *f) { (void)fold(f, TW_FOLD_SUM, f->n, op(f, TW_OP_LT, f->x, f->x)); }
static void fold_any(kit *f) { (void)fold(f, TW_FOLD_ANY, f->n, f->x); }
static void fold_order(kit *f) {
    (void)tw_build_fold(f->b, TW_FOLD_SUM, TW_ORDER_RIGHT, &f->n, 1, f->x);
}
static void arg_empty(kit *f) {
    tw_ix none = tw_build_ix(f->b, 0);
    tw_axis e = tw_build_axis(f->b, &(tw_range){"e", 0, none, 0});
    (void)fold(f, TW_FOLD_ARGMAX, e, tw_build_index(f->b, e));
}
static void dot_axis(kit *f) {
    (void)tw_build_dot(f->b, TW_ORDER_AS_SAID, &f->n, 1, (tw_value[]){f->x, f32(f, "1.0")}, 0);
}
static void dot_types(kit *f) {
    tw_value p = tw_build_index(f->b, f->n);
    (void)tw_build_dot(f->b, TW_ORDER_AS_SAID, &f->n, 1, (tw_value[]){f->x, p}, 0);
}
static void dot_bool(kit *f) {
    tw_value c = op(f, TW_OP_LT, f->x, f->x);
    (void)tw_build_dot(f->b, TW_ORDER_AS_SAID, &f->n, 1, (tw_value[]){c, c}, 0);
}
static void dot_start_axes(kit *f) {
    tw_value s = tw_build_spread(f->b, f32(f, "0.0"), &f->k, 1);
    (void)tw_build_dot(f->b, TW_ORDER_AS_SAID, &f->n, 1, (tw_value[]){f->x, f->x}, s);
}
static void dot_start_type(kit *f) {
    (void)tw_build_dot(f->b, TW_ORDER_AS_SAID, &f->n, 1, (tw_value[]){f->x, f->x}, f->i);
}
static void carry_type(kit *f) {
    tw_value c = f32(f, "0.0"), r;
    (void)tw_build_serial(f->b, &(tw_range){"s", 0, f->N, 0}, &c, 1);
    tw_build_end_serial(f->b, &f->i, 1, &r);
}
static void carry_axes(kit *f) {
    tw_value c = f32(f, "0.0"), r;
    (void)tw_build_serial(f->b, &(tw_range){"s", 0, f->N, 0}, &c, 1);
    c = op(f, TW_OP_ADD, tw_build_carry(f->b, 0), f->x);
    tw_build_end_serial(f->b, &c, 1, &r);
}
static void carry_count(kit *f) {
    tw_value c = f32(f, "0.0");
    (void)tw_build_serial(f->b, &(tw_range){"s", 0, f->N, 0}, &c, 1);
    tw_build_end_serial(f->b, NULL, 0, NULL);
}
static void carry_handle(kit *f) { (void)tw_build_carry(f->b, 0); }
static void serial_open(kit *f) {
    (void)tw_build_serial(f->b, &(tw_range){"s", 0, f->N, 0}, NULL, 0);
}
static void rank(kit *f) { (void)tw_build_load(f->b, f->X, &f->at_m, 1, 0); }
static void else_type(kit *f) {
    tw_ix at[] = {f->at_m, f->at_n};
    (void)tw_build_load(f->b, f->X, at, 2, f->i);
}
static void else_axes(kit *f) {
    tw_ix at[] = {f->at_m, f->at_k};
    (void)tw_build_load(f->b, f->X, at, 2, f->x);
}
static void store_type(kit *f) { store_y(f, f->i); }
static void store_narrow(kit *f) {
    tw_value d = tw_build_cast(f->b, TW_F64, f32(f, "1.0"));
    tw_build_store(f->b, f->F16, &f->at_m, 1, d, 0);
}
static void store_axes(kit *f) { store_y(f, f->x); }
static void store_in(kit *f) { tw_build_store(f->b, f->I, &f->at_m, 1, f->i, 0); }
static void when_type(kit *f) { tw_build_store(f->b, f->Y, &f->at_m, 1, f32(f, "1.0"), f->i); }
static void when_axes(kit *f) {
    tw_value c = op(f, TW_OP_LT, f->x, f->x);
    tw_build_store(f->b, f->Y, &f->at_m, 1, f32(f, "1.0"), c);
}
static void bad_value(kit *f) { (void)op(f, TW_OP_NEG, 1000000, 0); }
static void bad_axis(kit *f) { (void)tw_build_ix_axis(f->b, 40); }
static void other_scope(kit *f) {
    tw_value old = f->x;
    tw_build_end(f->b);
    open_scope(f);
    (void)op(f, TW_OP_NEG, old, 0);
}
static void other_axis(kit *f) {
    tw_ix old = f->at_m;
    tw_build_end(f->b);
    tw_build_parallel(f->b, NULL, 0, NULL);
    (void)tw_build_load(f->b, f->I, &old, 1, 0);
}
static void spread_index(kit *f) { (void)tw_build_spread(f->b, f->x, &f->m, 1); }

static tw_value i64(kit *f, int k) {
    return tw_build_const(f->b, TW_I64, tw_build_num_int(f->b, k));
}
static tw_value scan(kit *f, tw_scan what, tw_axis axis, tw_value x) {
    return tw_build_scan(f->b, what, 0, TW_ORDER_AS_SAID, axis, x);
}
static void scan_axis(kit *f) { (void)scan(f, TW_SCAN_SUM, f->k, f->x); }
static void scan_block(kit *f) { (void)scan(f, TW_SCAN_SUM, f->t, tw_build_index(f->b, f->t)); }
static void scan_bool(kit *f) { (void)scan(f, TW_SCAN_MAX, f->n, op(f, TW_OP_LT, f->x, f->x)); }
static void scan_order(kit *f) {
    (void)tw_build_scan(f->b, TW_SCAN_SUM, 0, TW_ORDER_RIGHT, f->n, f->x);
}
static void scan_flags(kit *f) {
    (void)tw_build_scan(f->b, TW_SCAN_SUM, 4, TW_ORDER_AS_SAID, f->n, f->x);
}
static void gather_float(kit *f) {
    (void)tw_build_gather(f->b, (tw_element){f->I, &(tw_subscript){0, f->x}, 1}, 0);
}
static void gather_rank(kit *f) {
    (void)tw_build_gather(f->b, (tw_element){f->X, &(tw_subscript){0, f->i}, 1}, 0);
}
static void scatter_in(kit *f) {
    tw_build_scatter(f->b, (tw_element){f->I, &(tw_subscript){0, f->i}, 1}, f->i, 0);
}
static void atomic_bool(kit *f) {
    tw_build_atomic(f->b, TW_ATOMIC_MAX, (tw_element){f->B, &(tw_subscript){0, f->i}, 1},
                    op(f, TW_OP_EQ, f->i, f->i), 0);
}
static void atomic_narrow(kit *f) {
    tw_build_atomic(f->b, TW_ATOMIC_ADD, (tw_element){f->F16, &(tw_subscript){0, f->i}, 1},
                    f32(f, "1.0"), 0);
}
static void atomic_type(kit *f) {
    tw_build_atomic(f->b, TW_ATOMIC_ADD, (tw_element){f->T, &(tw_subscript){0, f->i}, 1}, f->i, 0);
}
static void bound_float(kit *f) { (void)tw_build_ix_scalar(f->b, f32(f, "1.0")); }
static void bound_of_tile(kit *f) { (void)tw_build_ix_scalar(f->b, tw_build_index(f->b, f->n)); }
static void bound_elsewhere(kit *f) {
    tw_axis s = tw_build_serial(f->b, &(tw_range){"s", 0, f->N, 0}, NULL, 0);
    tw_ix at = tw_build_ix_axis(f->b, s);
    (void)at;
    tw_ix hi = tw_build_ix_scalar(f->b, op(f, TW_OP_ADD, tw_build_index(f->b, s), i64(f, 1)));
    tw_build_end_serial(f->b, NULL, 0, NULL);
    (void)tw_build_axis(f->b, &(tw_range){"w", 0, hi, 0});
}
static void bound_launch(kit *f) {
    tw_value s = f->s;
    tw_build_end(f->b);
    tw_axis p;
    tw_build_parallel(f->b, &(tw_range){"p", 0, tw_build_ix_scalar(f->b, s), 0}, 1, &p);
}

typedef struct {
    const char *name;
    void (*fault)(kit *f);
    int code;
    bool in_scope;
    const char *says; /* part of the message or the help */
} fault;

static const fault faults[] = {
    {"name_wrong", name_wrong, TWI_E_NAME_WRONG, false, "two words"},
    {"name_twice", name_twice, TWI_E_NAME_TWICE, false, "M is declared twice"},
    {"not_built_type", not_built_type, TWI_E_NOT_BUILT, false, "f8e4m3"},
    {"not_built_order", not_built_order, TWI_E_NOT_BUILT, false, "right"},
    {"not_built_math", not_built_math, TWI_E_NOT_BUILT, false, "native"},
    {"numeral", numeral, TWI_E_NUMERAL, false, "1.2.3"},
    {"too_many_dims", too_many_dims, TWI_E_TOO_MANY, false, "A9"},
    {"fill_role", fill_role, TWI_E_FILL_ROLE, false, "X"},
    {"fill_range", fill_range, TWI_E_CONST_RANGE, false, "128"},
    {"too_deep", too_deep, TWI_E_DEEP, false, "too deep"},
    {"outside_scope", outside_scope, TWI_E_SCOPE, false, "outside"},
    {"axis_outside", axis_outside, TWI_E_SCOPE, false, "outside"},
    {"end_too_often", end_too_often, TWI_E_SCOPE, false, "no parallel scope"},
    {"carry_outer", carry_outer, TWI_E_CARRY_OUTER, false, "temp"},
    {"outer_block", outer_block, TWI_E_BLOCK_PLACE, false, "around scopes"},
    {"const_int", const_int, TWI_E_CONST_RANGE, true, "16777217"},
    {"const_fraction", const_fraction, TWI_E_CONST_RANGE, true, "0.5"},
    {"const_unsigned", const_unsigned, TWI_E_CONST_RANGE, true, "-1"},
    {"const_dims", const_dims, TWI_E_CONST_DIMS, true, "m"},
    {"same_type", same_type, TWI_E_SAME_TYPE, true, "f32 and i32"},
    {"arith_bool", arith_bool, TWI_E_ARITH_TYPE, true, "bool"},
    {"float_op", float_op, TWI_E_FLOAT_TYPE, true, "// and %"},
    {"int_op", int_op, TWI_E_INT_TYPE, true, "floats have /"},
    {"bool_op", bool_op, TWI_E_BOOL_TYPE, true, "f32"},
    {"where_cond", where_cond, TWI_E_BOOL_TYPE, true, "f32"},
    {"compare_bool", compare_bool, TWI_E_ARITH_TYPE, true, "bool"},
    {"exp_f64", exp_f64, TWI_E_NOT_BUILT, true, "exp of f64"},
    {"cast_bool", cast_bool, TWI_E_CAST_BOOL, true, "x != 0"},
    {"cast_twice", cast_twice, TWI_E_CAST_TWICE, true, "f16(f32(x))"},
    {"bound_tile", bound_tile, TWI_E_RANGE_BOUND, true, "bound n of w"},
    {"block_full", block_full, TWI_E_BLOCK_PLACE, true, "w"},
    {"block_negative", block_negative, TWI_E_BLOCK_SIZE, true, "-8"},
    {"lo_untiled", lo_untiled, TWI_E_LO_HI, true, "m"},
    {"nested", nested, TWI_E_NESTED, true, "parallel"},
    {"axis_twice", axis_twice, TWI_E_NAME_TWICE, true, "n"},
    {"fold_axis", fold_axis, TWI_E_FOLD_AXIS, true, "sum over k of a value with axes {n}"},
    {"fold_index", fold_index, TWI_E_FOLD_AXIS, true, "sum over m"},
    {"fold_block", fold_block, TWI_E_FOLD_BLOCK, true, "t"},
    {"fold_twice", fold_twice, TWI_E_FOLD_TWICE, true, "n twice"},
    {"fold_none", fold_none, TWI_E_FOLD_NONE, true, "0 axes"},
    {"fold_bool", fold_bool, TWI_E_FOLD_TYPE, true, "i32("},
    {"fold_any", fold_any, TWI_E_FOLD_TYPE, true, "bools"},
    {"fold_order", fold_order, TWI_E_NOT_BUILT, true, "right"},
    {"arg_empty", arg_empty, TWI_E_ARG_EMPTY, true, "e, which is empty"},
    {"dot_axis", dot_axis, TWI_E_DOT_AXIS, true, "second operand has axes {}"},
    {"dot_types", dot_types, TWI_E_SAME_TYPE, true, "f32 and i64"},
    {"dot_bool", dot_bool, TWI_E_FOLD_TYPE, true, "bool"},
    {"dot_start_axes", dot_start_axes, TWI_E_DOT_START, true, "{k}"},
    {"dot_start_type", dot_start_type, TWI_E_DOT_START, true, "i32"},
    {"carry_type", carry_type, TWI_E_CARRY_TYPE, true, "i32"},
    {"carry_axes", carry_axes, TWI_E_CARRY_AXES, true, "full(.., f32)[n]"},
    {"carry_count", carry_count, TWI_E_CARRY_COUNT, true, "carries 1"},
    {"carry_handle", carry_handle, TWI_E_HANDLE, true, "carried value 0"},
    {"serial_open", serial_open, TWI_E_SCOPE, true, "serial loop is still open"},
    {"rank", rank, TWI_E_RANK, true, "X has 2 dims, not 1"},
    {"else_type", else_type, TWI_E_LOAD_ELSE, true, "i32"},
    {"else_axes", else_axes, TWI_E_LOAD_ELSE, true, "{n}"},
    {"store_type", store_type, TWI_E_STORE_TYPE, true, "f32(..)"},
    {"store_narrow", store_narrow, TWI_E_STORE_TYPE, true, "f64"},
    {"store_axes", store_axes, TWI_E_STORE_AXES, true, "{n}"},
    {"store_in", store_in, TWI_E_STORE_IN, true, "I is an input"},
    {"when_type", when_type, TWI_E_WHEN_TYPE, true, "i32"},
    {"when_axes", when_axes, TWI_E_WHEN_AXES, true, "{n}"},
    {"bad_value", bad_value, TWI_E_HANDLE, true, "1000000"},
    {"bad_axis", bad_axis, TWI_E_UNUSED_AXIS, true, "does not exist"},
    {"other_scope", other_scope, TWI_E_HANDLE, true, "scope or loop that has ended"},
    {"other_axis", other_axis, TWI_E_UNUSED_AXIS, true, "axis m"},
    {"scan_axis", scan_axis, TWI_E_FOLD_AXIS, true, "cumsum over k of a value with axes {n}"},
    {"scan_block", scan_block, TWI_E_FOLD_BLOCK, true, "t"},
    {"scan_bool", scan_bool, TWI_E_SCAN_TYPE, true, "i32("},
    {"scan_order", scan_order, TWI_E_NOT_BUILT, true, "right"},
    {"scan_flags", scan_flags, TWI_E_HANDLE, true, "flags 4"},
    {"gather_float", gather_float, TWI_E_SUBSCRIPT, true, "f32"},
    {"gather_rank", gather_rank, TWI_E_RANK, true, "X has 2 dims, not 1"},
    {"scatter_in", scatter_in, TWI_E_STORE_IN, true, "I is an input"},
    {"atomic_bool", atomic_bool, TWI_E_ATOMIC_TYPE, true, "bool"},
    {"atomic_narrow", atomic_narrow, TWI_E_NOT_BUILT, true, "f16"},
    {"atomic_type", atomic_type, TWI_E_STORE_TYPE, true, "i32"},
    {"bound_float", bound_float, TWI_E_RANGE_BOUND, true, "f32"},
    {"bound_of_tile", bound_of_tile, TWI_E_RANGE_BOUND, true, "i64{n}"},
    {"bound_elsewhere", bound_elsewhere, TWI_E_HANDLE, true, "does not exist here"},
    {"bound_launch", bound_launch, TWI_E_PAR_BOUND, true, "p is not known at launch"},
    {"spread_index", spread_index, TWI_E_UNUSED_AXIS, true, "axis m"},
};

static void each_rule(void **state) {
    (void)state;
    for (int k = 0; k < COUNT(faults); k++) {
        const fault *c = &faults[k];
        kit f = {0};
        tw_context *ctx = tw_context_create(NULL);
        open_kit(&f, ctx);
        if (c->in_scope) {
            open_scope(&f);
            expect_fine(ctx);
        }
        c->fault(&f);
        if (c->in_scope)
            tw_build_end(f.b);
        assert_null(tw_build_finish(f.b));
        expect_code(ctx, c->code, c->name);
        tw_diag d = tw_diag_get(ctx, 0);
        if (!strstr(d.text, c->says) && !(d.help && strstr(d.help, c->says)))
            fail_msg("%s: does not say \"%s\":\n%s", c->name, c->says, tw_diag_text(ctx, false));
        tw_context_destroy(ctx);
    }
}

/* ---- rules that only a whole kernel shows, as text ---- */
typedef struct {
    const char *name, *body; /* behind the head below */
    int code;                /* 0: fine */
    const char *says;
} whole;
static const char *const head = "kernel k order free\n"
                                "dim M\n"
                                "dim N\n"
                                "array X: in f32[M, N]\n"
                                "array Y: out f32[M]\n"
                                "array Z: inout f32[M, N]\n"
                                "array T: temp f32[M]\n"
                                "array S: in i32[M]\n"
                                "array H: out i32[N] = 0\n"
                                "array C: inout i32[N]\n";
#define STORE_Z "parallel m: 0 .. M, n: 0 .. N {\n c: f32 = const 1\n store Z[m, n] = c\n}\n"
#define STORE_Y "parallel m: 0 .. M {\n c.1: f32 = const 1\n store Y[m] = c.1\n}\n"
static const whole wholes[] = {
    {"all is well", STORE_Z STORE_Y, 0, ""},
    {"temp then its load",
     STORE_Z "parallel m: 0 .. M {\n a: f32 = const 1\n store T[m] = a\n}\n"
             "parallel m: 0 .. M {\n t: f32 = load T[m]\n store Y[m] = t\n}\n",
     0, ""},
    {"in place",
     STORE_Y "parallel m: 0 .. M {\n axis n: 0 .. N\n z: f32{n} = load Z[m, n]\n"
             " store Z[m, n] = z\n}\n",
     0, ""},
    {"never stored", STORE_Z, TWI_E_NEVER_STORED, "Y"},
    {"inout never stored", STORE_Y, 0, ""},
    {"out loaded in its scope",
     STORE_Z "parallel m: 0 .. M {\n y: f32 = load Y[m]\n store Y[m] = y\n}\n", TWI_E_LOAD_OUT,
     "inout"},
    {"load after store",
     STORE_Y "parallel m: 0 .. M {\n axis n: 0 .. N\n z: f32{n} = load Z[m, n]\n"
             " store Z[m, n] = z\n z.1: f32{n} = load Z[m, n]\n store Z[m, n] = z.1\n}\n",
     TWI_E_LOAD_AFTER, "second scope"},
    {"load after store of the trip before",
     STORE_Y "parallel m: 0 .. M {\n serial n: 0 .. N {\n z: f32 = load Z[m, n]\n"
             " store Z[m, n] = z\n}\n}\n",
     TWI_E_LOAD_AFTER, "Z"},
    {"temp loaded first",
     STORE_Z "parallel m: 0 .. M {\n t: f32 = load T[m]\n store Y[m] = t\n}\n"
             "parallel m: 0 .. M {\n a: f32 = const 1\n store T[m] = a\n}\n",
     TWI_E_LOAD_UNSET, "T"},
    {"temp of the trip before",
     STORE_Z "serial s: 0 .. 3 {\n"
             "parallel m: 0 .. M {\n t: f32 = load T[m]\n store Y[m] = t\n}\n"
             "parallel m: 0 .. M {\n a: f32 = const 1\n store T[m] = a\n}\n}\n",
     0, ""},
    {"instances collide",
     STORE_Z "parallel m: 0 .. M, n: 0 .. N {\n x: f32 = load X[m, n]\n store Y[m] = x\n}\n",
     TWI_E_STORE_PAR, "n"},
    {"instances that a condition tells apart",
     STORE_Z STORE_Y "parallel m: 0 .. M, n: 0 .. N {\n x: f32 = load X[m, n]\n i: i64 = index n\n"
                     " z: i64 = const 0\n w: bool = eq i, z\n store Y[m] = x when w\n}\n",
     0, ""},
    {"instances load what others store",
     STORE_Y "parallel m: 0 .. M, n: 0 .. N {\n z: f32 = load Z[m, N - 1 - n]\n"
             " store Z[m, n] = z\n}\n",
     TWI_E_ALIAS, "temp and a second scope"},
    {"half an array", STORE_Z "parallel m: 0 .. M // 2 {\n a: f32 = const 1\n store Y[m] = a\n}\n",
     TWI_E_COVER, "= 0"},
    {"a condition",
     STORE_Z "parallel m: 0 .. M {\n a: f32 = const 1\n w: bool = const true\n"
             " store Y[m] = a when w\n}\n",
     TWI_E_COVER, "Y"},
    {"two halves",
     STORE_Z "parallel m: 0 .. M // 2 {\n a: f32 = const 1\n store Y[m] = a\n}\n"
             "parallel m: M // 2 .. M {\n a.1: f32 = const 1\n store Y[m] = a.1\n}\n",
     0, ""},
    {"a gap between halves",
     STORE_Z "parallel m: 0 .. M // 2 {\n a: f32 = const 1\n store Y[m] = a\n}\n"
             "parallel m: M // 2 + 1 .. M {\n a.1: f32 = const 1\n store Y[m] = a.1\n}\n",
     TWI_E_COVER, "Y"},
    {"a histogram and a scatter",
     STORE_Z STORE_Y "parallel m: 0 .. M {\n s: i32 = load S[m]\n atomic_add H[$s] checked = s\n"
                     " store C[$s] checked = s\n}\n",
     0, ""},
    {"atomics on what has no values",
     STORE_Z STORE_Y "parallel m: 0 .. M {\n s: i32 = load S[m]\n c.2: f32 = const 1\n"
                     " atomic_add Y[$s] checked = c.2\n}\n",
     TWI_E_ATOMIC_ROLE, "= 0"},
    {"atomics of two kinds",
     STORE_Z STORE_Y "parallel m: 0 .. M {\n s: i32 = load S[m]\n atomic_add H[$s] checked = s\n"
                     " atomic_max H[$s] checked = s\n}\n",
     TWI_E_ATOMIC_MIX, "second scope"},
    {"a store beside atomics",
     STORE_Z STORE_Y "parallel m: 0 .. M {\n s: i32 = load S[m]\n atomic_add C[$s] checked = s\n"
                     " store C[$s] checked = s\n}\n",
     TWI_E_ATOMIC_MIX, "C"},
    {"a load beside atomics",
     STORE_Z STORE_Y "parallel m: 0 .. M {\n s: i32 = load S[m]\n c.2: i32 = load C[$s] checked\n"
                     " atomic_add C[$s] checked = c.2\n}\n",
     TWI_E_ALIAS, "second scope"},
    {"a scatter covers nothing",
     STORE_Z "parallel m: 0 .. M {\n s: i32 = load S[m]\n a: f32 = const 1\n"
             " store Y[$s] checked = a\n}\n",
     TWI_E_COVER, "= 0"},
    {"a scatter that no instance tells apart",
     STORE_Z STORE_Y "parallel m: 0 .. M, n: 0 .. N {\n s: i32 = load S[m]\n"
                     " store C[$s] checked = s\n}\n",
     TWI_E_STORE_PAR, "n"},
    {"segments",
     STORE_Z STORE_Y "parallel m: 0 .. M {\n s: i32 = load S[m]\n b: i64 = cast s\n"
                     " axis w: 0 .. $b\n a: i32 = const 1\n store C[w] checked = a\n}\n",
     0, ""},
    {"a gather of what nothing checks",
     STORE_Z "parallel m: 0 .. M {\n s: i32 = load S[m]\n x: f32 = load X[$s, m + 1] checked\n"
             " store Y[m] = x\n}\n",
     TWI_E_OUTSIDE, "subscript 1"},
    {"in a loop that may not run",
     STORE_Z
     "parallel m: 0 .. M {\n serial s: 0 .. N {\n a: f32 = const 1\n store Y[m] = a\n}\n}\n",
     TWI_E_COVER, "Y"},
};

static void each_whole(void **state) {
    (void)state;
    for (int k = 0; k < COUNT(wholes); k++) {
        char text[2000];
        tw_context *ctx = tw_context_create(NULL);
        (void)snprintf(text, sizeof text, "%s%s", head, wholes[k].body);
        tw_ir *ir = from_text(ctx, text);
        if (wholes[k].code == 0) {
            if (!ir)
                fail_msg("%s:\n%s", wholes[k].name, tw_diag_text(ctx, false));
            expect_fine(ctx);
        } else {
            expect_code(ctx, wholes[k].code, wholes[k].name);
            const char *all = tw_diag_text(ctx, false);
            if (!strstr(all, wholes[k].says))
                fail_msg("%s: does not say \"%s\":\n%s", wholes[k].name, wholes[k].says, all);
            assert_null(ir);
        }
        tw_context_destroy(ctx);
    }
}

/* Several faults are told in one run, and a failed value is not told of again. */
static void several(void **state) {
    (void)state;
    kit f = {0};
    tw_context *ctx = tw_context_create(NULL);
    open_kit(&f, ctx);
    open_scope(&f);
    tw_value bad = op(&f, TW_OP_ADD, f.x, f.i);
    assert_int_equal(bad, 0);
    store_y(&f, fold(&f, TW_FOLD_SUM, f.n, op(&f, TW_OP_MUL, bad, f.x)));
    (void)op(&f, TW_OP_AND, f.x, f.x);
    tw_build_end(f.b);
    assert_null(tw_build_finish(f.b));
    assert_int_equal(tw_diag_count(ctx), 2);
    assert_int_equal(tw_diag_get(ctx, 0).code, TWI_E_SAME_TYPE);
    assert_int_equal(tw_diag_get(ctx, 1).code, TWI_E_BOOL_TYPE);
    tw_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_rule), cmocka_unit_test(each_whole),
                                       cmocka_unit_test(several)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
