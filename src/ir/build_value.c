/* SPDX-License-Identifier: Apache-2.0
 * The builder's elementwise values: operations by their rows of elementwise.def, casts, spreads,
 * names.
 */
#include "ir/build.h"

static const uint8_t ir_ops[] = {
    [TW_OP_ADD] = TWI_ADD,   [TW_OP_SUB] = TWI_SUB,      [TW_OP_MUL] = TWI_MUL,
    [TW_OP_DIV] = TWI_DIV,   [TW_OP_IDIV] = TWI_IDIV,    [TW_OP_IMOD] = TWI_IMOD,
    [TW_OP_NEG] = TWI_NEG,   [TW_OP_ABS] = TWI_ABS,      [TW_OP_MIN] = TWI_MIN,
    [TW_OP_MAX] = TWI_MAX,   [TW_OP_FMA] = TWI_FMA,      [TW_OP_SQRT] = TWI_SQRT,
    [TW_OP_EXP] = TWI_EXP,   [TW_OP_LOG] = TWI_LOG,      [TW_OP_TANH] = TWI_TANH,
    [TW_OP_ERF] = TWI_ERF,   [TW_OP_EQ] = TWI_EQ,        [TW_OP_NE] = TWI_NE,
    [TW_OP_LT] = TWI_LT,     [TW_OP_LE] = TWI_LE,        [TW_OP_GT] = TWI_GT,
    [TW_OP_GE] = TWI_GE,     [TW_OP_AND] = TWI_AND,      [TW_OP_OR] = TWI_OR,
    [TW_OP_NOT] = TWI_NOT,   [TW_OP_BAND] = TWI_BAND,    [TW_OP_BOR] = TWI_BOR,
    [TW_OP_BXOR] = TWI_BXOR, [TW_OP_BNOT] = TWI_BNOT,    [TW_OP_SHL] = TWI_SHL,
    [TW_OP_SHR] = TWI_SHR,   [TW_OP_WHERE] = TWI_SELECT,
};

/* ---- type rules ---- */
typedef struct {
    bool (*accepts)(tw_elem elem, unsigned op);
    uint16_t code;
    const char *needs;
} rule;

static bool is_number(tw_elem e, unsigned op) {
    (void)op;
    return twi_is_float(e) || twi_is_int(e);
}

static bool is_float(tw_elem e, unsigned op) {
    (void)op;
    return twi_is_float(e);
}

static bool is_int(tw_elem e, unsigned op) {
    (void)op;
    return twi_is_int(e);
}

static bool is_bool(tw_elem e, unsigned op) {
    (void)op;
    return e == TW_BOOL;
}

static bool is_ordered(tw_elem e, unsigned op) {
    return e != TW_BOOL || op == TWI_EQ || op == TWI_NE;
}

static bool is_any(tw_elem e, unsigned op) {
    (void)op;
    return e != TW_NONE;
}

static const rule rules[] = {
    [TWI_RULE_ARITH] = {is_number, TWI_E_ARITH_TYPE, "numbers"},
    [TWI_RULE_FLOAT] = {is_float, TWI_E_FLOAT_TYPE, "floats"},
    [TWI_RULE_INT] = {is_int, TWI_E_INT_TYPE, "integers"},
    [TWI_RULE_BOOL] = {is_bool, TWI_E_BOOL_TYPE, "bools"},
    [TWI_RULE_COMPARE] = {is_ordered, TWI_E_ARITH_TYPE, "numbers (bools have == and != only)"},
    [TWI_RULE_SELECT] = {is_any, TWI_E_ARITH_TYPE, "values"},
    [TWI_RULE_CAST] = {is_any, TWI_E_ARITH_TYPE, "values"},
    [TWI_RULE_BITS] = {is_any, TWI_E_ARITH_TYPE, "values"},
};

static const char *advice(tw_elem elem, unsigned op) {
    if (op == TWI_DIV && twi_is_int(elem))
        return "integers have // and %";
    if ((op == TWI_IDIV || op == TWI_IMOD) && twi_is_float(elem))
        return "floats have /";
    if (elem == TW_BOOL)
        return "cast it first: i32(..)";
    return "cast it first";
}

/* args[from ..] have one type that the operation accepts. */
static bool operands_fit(tw_builder *b, unsigned op, const twi_id *args, uint32_t from,
                         uint32_t n) {
    const twi_op_info *row = twi_op_row(op);
    const rule *r = &rules[row->rule];
    tw_elem first = (tw_elem)twi_build_type(b, args[from]).elem;
    for (uint32_t k = from + 1; k < n; k++) {
        tw_elem other = (tw_elem)twi_build_type(b, args[k]).elem;
        if (other != first) {
            twi_build_fail(b, TWI_E_SAME_TYPE, "one type an operation: cast one of them",
                           "%s of %s and %s", row->name, tw_elem_name(first), tw_elem_name(other));
            return false;
        }
    }
    if (!r->accepts(first, op)) {
        twi_build_fail(b, r->code, advice(first, op), "%s needs %s, not %s", row->name, r->needs,
                       tw_elem_name(first));
        return false;
    }
    if (row->price == TWI_PRICE_FUNC && first == TW_F64) {
        twi_build_fail(b, TWI_E_NOT_BUILT, "cast to f32 first", "%s of f64 is not built yet",
                       row->name);
        return false;
    }
    return true;
}

static tw_value put_op(tw_builder *b, unsigned op, const twi_id *args) {
    const twi_op_info *row = twi_op_row(op);
    uint32_t from = row->rule == TWI_RULE_SELECT ? 1 : 0;
    if (from == 1 && twi_build_type(b, args[0]).elem != TW_BOOL) {
        twi_build_fail(b, TWI_E_BOOL_TYPE, NULL, "where needs a bool first, not %s",
                       tw_elem_name((tw_elem)twi_build_type(b, args[0]).elem));
        return 0;
    }
    if (!operands_fit(b, op, args, from, row->arity))
        return 0;
    twi_ins ins = {.op = (uint16_t)op, .type = {twi_build_type(b, args[from]).elem, 0}};
    if (row->rule == TWI_RULE_COMPARE)
        ins.type.elem = TW_BOOL;
    for (uint32_t k = 0; k < row->arity; k++)
        ins.type.axes |= twi_build_type(b, args[k]).axes;
    return twi_build_put(b, ins, args, row->arity);
}

static tw_value rsqrt(tw_builder *b, twi_id x) {
    tw_elem elem = (tw_elem)twi_build_type(b, x).elem;
    twi_id args[2] = {0, x};
    if (!operands_fit(b, TWI_SQRT, &x, 0, 1))
        return 0;
    args[1] = put_op(b, TWI_SQRT, &x);
    args[0] = twi_build_constant(b, elem, twi_num_int(b->ir, 1));
    return put_op(b, TWI_DIV, args);
}

static tw_value op_value(tw_builder *b, tw_op op, tw_value x, tw_value y, tw_value z) {
    tw_value given[3] = {x, y, z};
    twi_id args[3] = {0};
    if ((unsigned)op > TW_OP_RSQRT) {
        twi_build_fail(b, TWI_E_HANDLE, NULL, "operation %u does not exist", (unsigned)op);
        return 0;
    }
    uint32_t arity = op == TW_OP_RSQRT ? 1u : twi_op_row(ir_ops[op])->arity;
    if (b->current == 1) {
        twi_build_fail(b, TWI_E_SCOPE, "open a scope first", "an operation outside any scope");
        return 0;
    }
    for (uint32_t k = 0; k < arity; k++)
        if ((args[k] = twi_build_use(b, given[k])) == 0)
            return 0;
    return op == TW_OP_RSQRT ? rsqrt(b, args[0]) : put_op(b, ir_ops[op], args);
}

tw_value tw_build_op(tw_builder *b, tw_op op, tw_value x, tw_value y, tw_value z) {
    BUILD_ENTER(b, 0)
    tw_value v = op_value(b, op, x, y, z);
    BUILD_LEAVE(b);
    return v;
}

/* ---- casts ---- */
twi_id twi_build_convert(tw_builder *b, tw_elem elem, twi_id x) {
    twi_type t = twi_build_type(b, x);
    if (t.elem == elem)
        return x;
    twi_ins ins = {.op = TWI_CAST, .type = {(uint8_t)elem, t.axes}};
    return twi_build_put(b, ins, &x, 1);
}

static tw_value cast(tw_builder *b, tw_elem elem, tw_value value) {
    twi_id x = twi_build_use(b, value);
    if (x == 0 || !twi_build_elem_ok(b, elem))
        return 0;
    tw_elem from = (tw_elem)twi_build_type(b, x).elem;
    if (elem == TW_BOOL && from != TW_BOOL) {
        twi_build_fail(b, TWI_E_CAST_BOOL, "compare: x != 0", "bool of %s", tw_elem_name(from));
        return 0;
    }
    if (twi_value_elem(elem) == elem)
        return twi_build_convert(b, elem, x);
    /* to a narrow float: what f32 holds exactly is rounded once */
    if (from != TW_F32 && from != TW_BOOL && tw_elem_size(from) > 2) {
        twi_build_fail(b, TWI_E_CAST_TWICE,
                       twi_format(&b->arena, "say so: %s(f32(x))", tw_elem_name(elem)),
                       "%s of %s would round to f32 first", tw_elem_name(elem), tw_elem_name(from));
        return 0;
    }
    x = twi_build_convert(b, TW_F32, x);
    twi_ins ins = {.op = TWI_NARROW, .attr = elem, .type = {TW_F32, twi_build_type(b, x).axes}};
    return twi_build_put(b, ins, &x, 1);
}

tw_value tw_build_cast(tw_builder *b, tw_elem elem, tw_value x) {
    BUILD_ENTER(b, 0)
    tw_value v = cast(b, elem, x);
    BUILD_LEAVE(b);
    return v;
}

/* ---- spread ---- */
static tw_value spread(tw_builder *b, tw_value value, const tw_axis *axes, int n) {
    twi_id x = twi_build_use(b, value);
    uint64_t set = 0;
    for (int k = 0; k < n; k++) {
        if (axes[k] == 0)
            return 0;
        if (axes[k] >= b->ir->axis.n || !twi_build_open(b, b->ir->axis.at[axes[k]].region) ||
            !twi_is_tile_axis(b->ir, axes[k])) {
            twi_build_fail(b, TWI_E_UNUSED_AXIS, "only axes of tiles that exist here",
                           "a tile cannot have axis %s here",
                           axes[k] < b->ir->axis.n
                               ? twi_text(&b->ctx->names, b->ir->axis.at[axes[k]].name)
                               : "?");
            return 0;
        }
        set |= UINT64_C(1) << axes[k];
    }
    if (x == 0)
        return 0;
    twi_type t = twi_build_type(b, x);
    if ((set & ~t.axes) == 0)
        return x;
    twi_ins ins = {.op = TWI_SPREAD, .type = {t.elem, t.axes | set}};
    return twi_build_put(b, ins, &x, 1);
}

tw_value tw_build_spread(tw_builder *b, tw_value x, const tw_axis *axes, int n) {
    BUILD_ENTER(b, 0)
    tw_value v = spread(b, x, axes, n);
    BUILD_LEAVE(b);
    return v;
}

/* ---- names ---- */
static void name_value(tw_builder *b, tw_value x, const char *name) {
    twi_sym sym = twi_build_sym(b, name, "value");
    bool dry =
        b->marks.n != 0 && x < b->marks.at[b->marks.n - 1u].ins; /* not of the branch being tried */
    if (sym != 0 && !dry && b->ir->ins.at[x].name == 0)
        b->ir->ins.at[x].name = sym;
}

void tw_build_name(tw_builder *b, tw_value x, const char *name) {
    BUILD_ENTER(b, BUILD_NOTHING)
    if (x != 0 && x < b->ir->ins.n)
        name_value(b, x, name);
    BUILD_LEAVE(b);
}
