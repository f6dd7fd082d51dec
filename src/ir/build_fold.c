/* SPDX-License-Identifier: Apache-2.0
 * The builder's reductions, scans and dots.
 */
#include "ir/build.h"

static const uint8_t ir_folds[] = {
    [TW_FOLD_SUM] = TWI_SUM,       [TW_FOLD_PROD] = TWI_PROD,    [TW_FOLD_MIN] = TWI_FMIN,
    [TW_FOLD_MAX] = TWI_FMAX,      [TW_FOLD_ANY] = TWI_ANY,      [TW_FOLD_ALL] = TWI_ALL,
    [TW_FOLD_ARGMAX] = TWI_ARGMAX, [TW_FOLD_ARGMIN] = TWI_ARGMIN};

static const char *axis_name(const tw_builder *b, tw_axis axis) {
    return twi_text(&b->ctx->names, b->ir->axis.at[axis].name);
}

/* The bracket of a fold: axes that exist, each once, none a block of `parallel`. */
static bool bracket(tw_builder *b, const char *what, const tw_axis *axes, int n, twi_ins *ins) {
    uint64_t seen = 0;
    if (n <= 0 || n > TWI_MAX_RANK) {
        twi_build_fail(b, TWI_E_FOLD_NONE, "name 1 to 8 axes in the bracket", "%s over %d axes",
                       what, n);
        return false;
    }
    for (int k = 0; k < n; k++) {
        tw_axis a = axes[k];
        if (a == 0)
            return false;
        if (a >= b->ir->axis.n || !twi_build_open(b, b->ir->axis.at[a].region)) {
            twi_build_fail(b, TWI_E_UNUSED_AXIS, NULL, "%s over an axis that does not exist here",
                           what);
            return false;
        }
        if (seen >> a & 1u) {
            twi_build_fail(b, TWI_E_FOLD_TWICE, NULL, "%s names axis %s twice", what,
                           axis_name(b, a));
            return false;
        }
        if (b->ir->axis.at[a].kind == TWI_AXIS_BLOCK) {
            twi_build_fail(b, TWI_E_FOLD_BLOCK,
                           "its other blocks belong to other instances; use `serial` or `axis`",
                           "%s over %s, a block axis of `parallel`", what, axis_name(b, a));
            return false;
        }
        seen |= UINT64_C(1) << a;
        ins->fold[k] = (uint8_t)a;
    }
    ins->nfold = (uint8_t)n;
    return true;
}

static uint64_t fold_set(const twi_ins *ins) {
    uint64_t set = 0;
    for (unsigned k = 0; k < ins->nfold; k++)
        set |= UINT64_C(1) << ins->fold[k];
    return set;
}

/* The first axis of the bracket that a value lacks; 0: none. */
static tw_axis lacks(const tw_builder *b, const twi_ins *ins, twi_id v) {
    for (unsigned k = 0; k < ins->nfold; k++)
        if (!(twi_build_type(b, v).axes >> ins->fold[k] & 1u))
            return ins->fold[k];
    return 0;
}

/* What the fold of this element type gives, and in what it accumulates. False: it is not defined.
 */
static bool fold_types(unsigned op, tw_elem elem, tw_elem *accum, tw_elem *result) {
    bool logic = op == TWI_ANY || op == TWI_ALL;
    if (logic != (elem == TW_BOOL))
        return false;
    *accum = *result = elem;
    if (op == TWI_SUM || op == TWI_PROD)
        *accum = *result = twi_accum(elem);
    if (op == TWI_ARGMAX || op == TWI_ARGMIN)
        *result = TW_I64;
    return true;
}

static bool is_empty(const tw_ir *ir, const twi_axis *a) {
    int64_t lo = 0, hi;
    return twi_ix_is_const(ir, a->hi, &hi) && (a->lo == 0 || twi_ix_is_const(ir, a->lo, &lo)) &&
           hi <= lo;
}

static tw_value fold(tw_builder *b, tw_fold kind, tw_order order, const tw_axis *axes, int n,
                     tw_value value) {
    if ((unsigned)kind > TW_FOLD_ARGMIN) {
        twi_build_fail(b, TWI_E_HANDLE, NULL, "reduction %u does not exist", (unsigned)kind);
        return 0;
    }
    twi_ins ins = {.op = ir_folds[kind]};
    const char *what = twi_op_row(ins.op)->name;
    bool arg = ins.op == TWI_ARGMAX || ins.op == TWI_ARGMIN;
    tw_elem accum, result;
    if (!twi_build_order(b, order, &ins.order) || !bracket(b, what, axes, n, &ins))
        return 0;
    twi_id x = twi_build_use(b, value);
    if (x == 0)
        return 0;
    twi_type t = twi_build_type(b, x);
    tw_axis missing = lacks(b, &ins, x);
    if (missing) {
        twi_build_fail(b, TWI_E_FOLD_AXIS, "every named axis must be an axis of the operand",
                       "%s over %s of a value with axes %s", what, axis_name(b, missing),
                       twi_build_axes(b, t.axes));
        return 0;
    }
    if (!fold_types(ins.op, (tw_elem)t.elem, &accum, &result)) {
        twi_build_fail(b, TWI_E_FOLD_TYPE,
                       t.elem == TW_BOOL ? "count with i32(..), or use any, all"
                                         : "any and all take bools",
                       "%s of %s is not defined", what, tw_elem_name((tw_elem)t.elem));
        return 0;
    }
    for (unsigned k = 0; arg && k < ins.nfold; k++)
        if (is_empty(b->ir, &b->ir->axis.at[ins.fold[k]])) {
            twi_build_fail(b, TWI_E_ARG_EMPTY, NULL, "%s over %s, which is empty", what,
                           axis_name(b, ins.fold[k]));
            return 0;
        }
    if (twi_monoid_of(ins.op)->order_free || !twi_is_float(accum))
        ins.order = TWI_ORDER_FREE; /* any order has the same value */
    x = twi_build_convert(b, accum, x);
    ins.type = (twi_type){(uint8_t)result, t.axes & ~fold_set(&ins)};
    return twi_build_put(b, ins, &x, 1);
}

tw_value tw_build_fold(tw_builder *b, tw_fold kind, tw_order order, const tw_axis *axes, int n,
                       tw_value x) {
    BUILD_ENTER(b, 0)
    tw_value v = fold(b, kind, order, axes, n, x);
    BUILD_LEAVE(b);
    return v;
}

/* ---- scans ---- */
static bool scan_fits(tw_builder *b, const twi_ins *ins, twi_type t, tw_elem *to) {
    const char *what = twi_op_row(ins->op)->name;
    tw_elem elem = (tw_elem)t.elem;
    *to = ins->op == TWI_CUMMAX ? elem : twi_accum(elem);
    if (elem == TW_BOOL) {
        twi_build_fail(b, TWI_E_SCAN_TYPE, "count with i32(..)", "%s of bool is not defined", what);
        return false;
    }
    if (!(t.axes >> ins->fold[0] & 1u)) {
        twi_build_fail(b, TWI_E_FOLD_AXIS, "the named axis must be an axis of the operand",
                       "%s over %s of a value with axes %s", what, axis_name(b, ins->fold[0]),
                       twi_build_axes(b, t.axes));
        return false;
    }
    return true;
}

static tw_value scan(tw_builder *b, const twi_ins *given, tw_order order, tw_axis axis,
                     tw_value value) {
    twi_ins ins = *given;
    tw_elem to;
    if (order == TW_ORDER_TREE) /* scans never permute: their free order is a tree */
        order = TW_ORDER_FREE;
    if (!twi_build_order(b, order, &ins.order) ||
        !bracket(b, twi_op_row(ins.op)->name, &axis, 1, &ins))
        return 0;
    twi_id x = twi_build_use(b, value);
    if (x == 0 || !scan_fits(b, &ins, twi_build_type(b, x), &to))
        return 0;
    if (twi_monoid_of(ins.op)->order_free || !twi_is_float(to))
        ins.order = TWI_ORDER_FREE;
    x = twi_build_convert(b, to, x);
    ins.type = twi_build_type(b, x);
    return twi_build_put(b, ins, &x, 1);
}

tw_value tw_build_scan(tw_builder *b, tw_scan kind, int flags, tw_order order, tw_axis axis,
                       tw_value x) {
    static const uint8_t ops[] = {
        [TW_SCAN_SUM] = TWI_CUMSUM, [TW_SCAN_PROD] = TWI_CUMPROD, [TW_SCAN_MAX] = TWI_CUMMAX};
    tw_value v = 0;
    BUILD_ENTER(b, 0)
    if ((unsigned)kind > TW_SCAN_MAX || flags < 0 || flags > 3)
        twi_build_fail(b, TWI_E_HANDLE, NULL, "scan %u with flags %d does not exist",
                       (unsigned)kind, flags);
    else
        v = scan(b, &(twi_ins){.op = ops[kind], .attr = (uint32_t)flags}, order, axis, x);
    BUILD_LEAVE(b);
    return v;
}

/* ---- dot ---- */
static bool dot_operands(tw_builder *b, const twi_ins *ins, const twi_id *args) {
    tw_elem ea = (tw_elem)twi_build_type(b, args[0]).elem,
            eb = (tw_elem)twi_build_type(b, args[1]).elem;
    if (ea != eb) {
        twi_build_fail(b, TWI_E_SAME_TYPE, "one type an operation: cast one of them",
                       "dot of %s and %s", tw_elem_name(ea), tw_elem_name(eb));
        return false;
    }
    if (twi_accum(ea) == TW_NONE) {
        twi_build_fail(b, TWI_E_FOLD_TYPE, "cast to i32 first", "dot of %s is not defined",
                       tw_elem_name(ea));
        return false;
    }
    for (int k = 0; k < 2; k++) {
        tw_axis missing = lacks(b, ins, args[k]);
        if (missing) {
            twi_build_fail(b, TWI_E_DOT_AXIS, "both operands must have the contracted axes",
                           "dot over %s, but its %s operand has axes %s", axis_name(b, missing),
                           k == 0 ? "first" : "second",
                           twi_build_axes(b, twi_build_type(b, args[k]).axes));
            return false;
        }
    }
    return true;
}

static tw_value dot(tw_builder *b, tw_order order, const tw_axis *axes, int n,
                    const tw_value *given) {
    twi_ins ins = {.op = TWI_DOT};
    twi_id args[3] = {0};
    if (!twi_build_order(b, order, &ins.order) || !bracket(b, "dot", axes, n, &ins))
        return 0;
    for (int k = 0; k < 2; k++)
        args[k] = twi_build_use(b, given[k]);
    if (given[2] != 0 && (args[2] = twi_build_use(b, given[2])) == 0)
        return 0;
    if (args[0] == 0 || args[1] == 0 || !dot_operands(b, &ins, args))
        return 0;
    tw_elem accum = twi_accum((tw_elem)twi_build_type(b, args[0]).elem);
    ins.type.elem = (uint8_t)accum;
    ins.type.axes =
        (twi_build_type(b, args[0]).axes | twi_build_type(b, args[1]).axes) & ~fold_set(&ins);
    if (args[2] == 0) {
        args[2] = twi_build_constant(b, accum, twi_num_int(b->ir, 0));
    } else {
        twi_type t = twi_build_type(b, args[2]);
        if (t.elem != accum) {
            twi_build_fail(b, TWI_E_DOT_START, "cast it",
                           "dot accumulates in %s, its start value is %s", tw_elem_name(accum),
                           tw_elem_name((tw_elem)t.elem));
            return 0;
        }
        if (t.axes & ~ins.type.axes) {
            twi_build_fail(b, TWI_E_DOT_START, "add it to the dot instead",
                           "the dot has axes %s, its start value also %s",
                           twi_build_axes(b, ins.type.axes),
                           twi_build_axes(b, t.axes & ~ins.type.axes));
            return 0;
        }
    }
    if (!twi_is_float(accum))
        ins.order = TWI_ORDER_FREE;
    args[0] = twi_build_convert(b, accum, args[0]);
    args[1] = twi_build_convert(b, accum, args[1]);
    return twi_build_put(b, ins, args, 3);
}

tw_value tw_build_dot(tw_builder *b, tw_order order, const tw_axis *axes, int n,
                      const tw_value xy[2], tw_value start) {
    BUILD_ENTER(b, 0)
    tw_value given[3] = {xy[0], xy[1], start};
    tw_value v = dot(b, order, axes, n, given);
    BUILD_LEAVE(b);
    return v;
}
