/* SPDX-License-Identifier: Apache-2.0
 * What holds of every tile IR, whoever made it: tables refer to what exists, values are defined
 * before they are used and where they are seen, types follow the rules. The builder's checks are
 * about what users write; these are about the form, and they run again after every parse and pass.
 */
#include "ir/codes.h"
#include "ir/whole.h"

typedef struct {
    tw_ir *ir;
    uint32_t *home; /* of each value: region + 1 once defined */
    bool fine;
} state;

static void wrong(state *s, twi_id v, const char *what) {
    const tw_ir *ir = s->ir;
    twi_loc loc = v < ir->ins.n ? ir->ins.at[v].loc : (twi_loc){0};
    const char *op = v < ir->ins.n ? twi_op_row(ir->ins.at[v].op)->name : "?";
    s->fine = false;
    twi_error(&ir->ctx->diags, TWI_E_VERIFY, loc, NULL, "tile IR, value %u (%s %s): %s",
              (unsigned)v, v < ir->ins.n ? twi_value_name(ir, v) : "", op, what);
}

static bool inside(const tw_ir *ir, uint32_t region, uint32_t outer) {
    while (region != 0 && region != outer)
        region = ir->region.at[region].parent;
    return region != 0;
}

static void need(state *s, bool holds, twi_id v, const char *what) {
    if (!holds)
        wrong(s, v, what);
}

typedef struct {
    const state *s;
    uint32_t region;
    bool fine;
} watch;
/* A value in a bound: an i64 scalar that is defined where it is asked for. */
static void see_value(void *user, twi_id v) {
    watch *k = user;
    const tw_ir *ir = k->s->ir;
    k->fine = k->fine && v != 0 && v < ir->ins.n && k->s->home[v] != 0 &&
              inside(ir, k->region, k->s->home[v] - 1u) && ir->ins.at[v].type.elem == TW_I64 &&
              (ir->lifted || ir->ins.at[v].type.axes == 0);
}

static bool values_seen(const state *s, twi_ix x, uint32_t region) {
    watch k = {s, region, true};
    if (x < s->ir->ix.n)
        twi_ix_values(s->ir, x, see_value, &k);
    return k.fine;
}

/* Every axis of the set exists, is declared around the region and has bounds that are known. */
static bool axes_seen(const state *s, uint64_t axes, uint32_t region) {
    const tw_ir *ir = s->ir;
    for (unsigned a = 0; a < TWI_MAX_AXES; a++)
        if ((axes >> a & 1u) &&
            (a == 0 || a >= ir->axis.n || !inside(ir, region, ir->axis.at[a].region) ||
             !values_seen(s, ir->axis.at[a].lo, region) ||
             !values_seen(s, ir->axis.at[a].hi, region)))
            return false;
    return true;
}

static bool ix_fine(const state *s, twi_ix x, uint32_t region) {
    return x != 0 && x < s->ir->ix.n && axes_seen(s, s->ir->ix.at[x].axes, region);
}

static uint64_t fold_set(state *s, twi_id v, uint32_t region) {
    const twi_ins *ins = &s->ir->ins.at[v];
    uint64_t set = 0;
    for (unsigned k = 0; k < ins->nfold; k++) {
        need(s, !(set >> ins->fold[k] & 1u), v, "an axis twice in the bracket");
        set |= UINT64_C(1) << ins->fold[k];
    }
    need(s, set != 0 && axes_seen(s, set, region), v, "axes of the bracket that do not exist here");
    return set;
}

static twi_type arg_type(const state *s, twi_id v, unsigned k) {
    return s->ir->ins.at[twi_arg(s->ir, v, k)].type;
}

/* ---- rules by kind ---- */
static void check_elementwise(state *s, twi_id v) {
    const twi_ins *ins = &s->ir->ins.at[v];
    const twi_op_info *row = twi_op_row(ins->op);
    need(s, ins->nargs == row->arity, v, "wrong number of operands");
    if (ins->nargs != row->arity)
        return;
    unsigned from = row->rule == TWI_RULE_SELECT;
    tw_elem elem = (tw_elem)arg_type(s, v, from).elem;
    for (unsigned k = from; k < row->arity; k++)
        need(s, arg_type(s, v, k).elem == (uint8_t)elem, v, "operands of different types");
    if (from)
        need(s, arg_type(s, v, 0).elem == TW_BOOL, v, "a condition that is no bool");
    if (row->rule == TWI_RULE_ARITH)
        need(s, elem != TW_BOOL, v, "arithmetic on bools");
    if (row->rule == TWI_RULE_FLOAT)
        need(s, twi_is_float(elem), v, "no float");
    if (row->rule == TWI_RULE_INT)
        need(s, twi_is_int(elem), v, "no integer");
    if (row->rule == TWI_RULE_BOOL)
        need(s, elem == TW_BOOL, v, "no bool");
    if (row->rule == TWI_RULE_COMPARE)
        need(s, ins->type.elem == TW_BOOL, v, "a comparison gives bool");
    else if (row->rule != TWI_RULE_CAST && row->rule != TWI_RULE_BITS)
        need(s, ins->type.elem == (uint8_t)elem, v, "the result has the operands' type");
    need(s, twi_value_elem((tw_elem)ins->type.elem) == (tw_elem)ins->type.elem, v,
         "narrow floats are storage only");
    uint64_t axes = 0;
    for (unsigned k = 0; k < row->arity; k++)
        axes |= arg_type(s, v, k).axes;
    need(s, s->ir->lifted ? (axes & ~ins->type.axes) == 0 : axes == ins->type.axes, v,
         "axes are the union of the operands'");
}

static void check_access(state *s, twi_id v, uint32_t region) {
    const tw_ir *ir = s->ir;
    const twi_ins *ins = &ir->ins.at[v];
    need(s, ins->attr != 0 && ins->attr < ir->access.n, v, "no such access");
    if (ins->attr == 0 || ins->attr >= ir->access.n)
        return;
    const twi_access *a = &ir->access.at[ins->attr];
    uint64_t axes = 0;
    uint32_t gathered = 0;
    for (unsigned d = 0; d < ir->array.at[a->array].rank; d++) {
        if (a->gather[d]) {
            gathered++;
            need(s, a->gather[d] <= ins->nargs && a->ix[d] == 0, v, "no such gathered subscript");
            if (a->gather[d] > ins->nargs)
                return;
            twi_type t = arg_type(s, v, a->gather[d] - 1u);
            need(s, twi_is_int((tw_elem)t.elem), v, "a gathered subscript that is no integer");
            axes |= t.axes;
            continue;
        }
        need(s, ix_fine(s, a->ix[d], region) && !ir->ix.at[a->ix[d]].loaded, v,
             "a subscript of axes that do not exist here");
        if (a->ix[d] < ir->ix.n)
            axes |= twi_tile_axes(ir, ir->ix.at[a->ix[d]].at);
    }
    need(s, gathered <= ins->nargs, v, "more gathered subscripts than operands");
    uint32_t plain = gathered <= ins->nargs ? ins->nargs - gathered : 0;
    need(s, ir->lifted ? (axes & ~ins->type.axes) == 0 : axes == ins->type.axes, v,
         "axes are those of the subscripts");
    tw_elem elem = twi_value_elem((tw_elem)ir->array.at[a->array].elem);
    if (ins->op == TWI_LOAD) {
        need(s, plain <= 1, v, "a load has one value outside");
        need(s, ins->type.elem == (uint8_t)elem, v, "a load gives the array's values");
        need(s, plain == 0 || arg_type(s, v, 0).elem == (uint8_t)elem, v,
             "the value outside has another type");
    } else {
        need(s, plain == 1 || plain == 2, v, "a store has a value and perhaps a condition");
        need(s, plain < 1 || arg_type(s, v, 0).elem == (uint8_t)elem, v, "a store of another type");
        need(s, plain < 2 || arg_type(s, v, 1).elem == TW_BOOL, v, "a condition that is no bool");
        need(s, ir->array.at[a->array].role != TWI_IN, v, "a store to an input");
        bool kind = a->atomic == TWI_ADD || a->atomic == TWI_MAX || a->atomic == TWI_MIN;
        need(s,
             ins->op != TWI_ATOMIC ||
                 (kind && elem == (tw_elem)ir->array.at[a->array].elem && elem != TW_BOOL),
             v, "an atomic operation that is not defined");
    }
    for (unsigned k = 0; k < ins->nargs; k++)
        need(s, (arg_type(s, v, k).axes & ~ins->type.axes) == 0, v,
             "an operand with more axes than the access");
}

static void check_fold(state *s, twi_id v, uint32_t region) {
    const twi_ins *ins = &s->ir->ins.at[v];
    unsigned operands = ins->op == TWI_DOT ? 3 : 1, over = ins->op == TWI_DOT ? 2 : 1;
    need(s, ins->nargs == operands, v, "wrong number of operands");
    if (ins->nargs != operands)
        return;
    uint64_t fold = fold_set(s, v, region), axes = 0;
    for (unsigned k = 0; k < over; k++) {
        axes |= arg_type(s, v, k).axes;
        need(s, (fold & ~arg_type(s, v, k).axes) == 0, v,
             "an operand lacks an axis of the bracket");
    }
    axes &= ~fold;
    need(s,
         s->ir->lifted ? (axes & ~ins->type.axes) == 0 && (ins->type.axes & fold) == 0
                       : axes == ins->type.axes,
         v, "axes are the operands' without the bracket");
    need(s, ins->order > TWI_ORDER_DEFAULT && ins->order <= TWI_ORDER_CANONICAL, v, "no order");
    tw_elem elem = (tw_elem)arg_type(s, v, 0).elem;
    bool arg = ins->op == TWI_ARGMAX || ins->op == TWI_ARGMIN,
         sum = ins->op == TWI_SUM || ins->op == TWI_PROD;
    bool logic = ins->op == TWI_ANY || ins->op == TWI_ALL;
    bool merged = ins->op == TWI_LOGSUMEXP || ins->op == TWI_MOMENTS;
    need(s, ins->type.elem == (arg ? TW_I64 : (uint8_t)elem), v, "the result has another type");
    need(s, logic == (elem == TW_BOOL), v, "a reduction of a type it is not defined for");
    need(s, !(sum || ins->op == TWI_DOT) || twi_accum(elem) == elem, v,
         "an operand that is no accumulator type");
    need(s, !merged || elem == TW_F32, v, "merged folds are of f32");
    if (ins->op == TWI_DOT) {
        need(s, arg_type(s, v, 1).elem == (uint8_t)elem && arg_type(s, v, 2).elem == (uint8_t)elem,
             v, "operands of different types");
        need(s, (arg_type(s, v, 2).axes & ~ins->type.axes) == 0, v, "a start value with more axes");
    }
}

static void check_scan(state *s, twi_id v, uint32_t region) {
    const twi_ins *ins = &s->ir->ins.at[v];
    need(s, ins->nargs == 1 && ins->nfold == 1, v, "a scan has one operand and one axis");
    if (ins->nargs != 1 || ins->nfold != 1)
        return;
    uint64_t axis = fold_set(s, v, region);
    twi_type t = arg_type(s, v, 0);
    tw_elem elem = (tw_elem)t.elem;
    need(s, (t.axes & axis) != 0, v, "the operand lacks the axis of the bracket");
    need(s, s->ir->lifted ? (t.axes & ~ins->type.axes) == 0 : t.axes == ins->type.axes, v,
         "axes are the operand's");
    need(s,
         ins->type.elem == t.elem && elem != TW_BOOL &&
             (ins->op == TWI_CUMMAX || twi_accum(elem) == elem),
         v, "a scan of a type it is not defined for");
    need(s,
         ins->order == TWI_ORDER_FREE || ins->order == TWI_ORDER_LEFT ||
             ins->order == TWI_ORDER_CANONICAL,
         v, "no order of scans");
    need(s, ins->attr <= (TWI_SCAN_EXCLUSIVE | TWI_SCAN_REVERSE), v, "no such flags of a scan");
}

static void check_leaf(state *s, twi_id v, uint32_t region) {
    const tw_ir *ir = s->ir;
    const twi_ins *ins = &ir->ins.at[v];
    if (ins->op == TWI_CONST) {
        need(s, ins->attr != 0 && ins->attr < ir->constant.n, v, "no such constant");
        need(s, !ir->specialised || ins->attr >= ir->constant.n || ir->constant.at[ins->attr].known,
             v, "a constant that is not known");
    } else if (ins->op == TWI_SCALAR) {
        need(s, ins->attr != 0 && ins->attr < ir->scalar.n, v, "no such scalar");
    } else if (ins->op == TWI_INDEX) {
        need(s,
             ins->attr != 0 && axes_seen(s, UINT64_C(1) << (ins->attr & 63u), region) &&
                 ins->attr < ir->axis.n,
             v, "no such axis here");
        need(s, ins->type.elem == TW_I64, v, "positions are i64");
    } else if (ins->op == TWI_IXVAL) {
        need(s, ix_fine(s, ins->attr, region) && values_seen(s, ins->attr, region), v,
             "no such index expression here");
        need(s, ins->type.elem == TW_I64, v, "positions are i64");
    } else if (ins->op == TWI_SPREAD) {
        need(s, ins->nargs == 1, v, "wrong number of operands");
        if (ins->nargs == 1)
            need(s,
                 arg_type(s, v, 0).elem == ins->type.elem &&
                     (arg_type(s, v, 0).axes & ~ins->type.axes) == 0,
                 v, "a spread keeps the type and adds axes");
    } else if (ins->op == TWI_NARROW) {
        need(s, ins->nargs == 1 && ins->type.elem == TW_F32 && arg_type(s, v, 0).elem == TW_F32, v,
             "f32 to f32");
        need(s,
             ins->attr < TW_ELEMS && twi_is_float((tw_elem)ins->attr) &&
                 tw_elem_size((tw_elem)ins->attr) < 4,
             v, "no narrow float type");
    }
}

static void check_result(state *s, twi_id v) {
    const tw_ir *ir = s->ir;
    const twi_ins *ins = &ir->ins.at[v];
    need(s, ins->nargs == 1, v, "a result of one loop");
    if (ins->nargs != 1)
        return;
    const twi_ins *loop = &ir->ins.at[twi_arg(ir, v, 0)];
    need(s, loop->op == TWI_SERIAL, v, "a result of a loop");
    if (loop->op != TWI_SERIAL)
        return;
    const twi_region *r = &ir->region.at[loop->attr];
    need(s, ins->attr < r->carries.n, v, "no such carried value");
    if (ins->attr < r->carries.n)
        need(s, ir->ins.at[r->carries.at[ins->attr]].type.elem == ins->type.elem, v,
             "the carry has another type");
}

static void check_part(state *s, twi_id v) {
    const twi_ins *ins = &s->ir->ins.at[v];
    need(s, ins->nargs == 1, v, "a part of one fold");
    if (ins->nargs != 1)
        return;
    const twi_ins *fold = &s->ir->ins.at[twi_arg(s->ir, v, 0)];
    need(s, fold->op == TWI_LOGSUMEXP || fold->op == TWI_MOMENTS, v,
         "a part of a fold of several results");
    need(s, ins->attr == 1, v, "no such part");
    need(s, ins->type.elem == fold->type.elem && ins->type.axes == fold->type.axes, v,
         "a part has the fold's type");
}

static void check_ins(state *s, twi_id v, uint32_t region) {
    const tw_ir *ir = s->ir;
    const twi_ins *ins = &ir->ins.at[v];
    for (uint32_t k = 0; k < ins->nargs; k++) {
        twi_id a = ir->args.at[ins->arg + k];
        bool seen =
            a != 0 && a < ir->ins.n && s->home[a] != 0 && inside(ir, region, s->home[a] - 1u);
        need(s, seen, v, "an operand that is not defined here");
        if (!seen)
            return;
    }
    need(s, axes_seen(s, ins->type.axes, region), v, "axes that do not exist here");
    unsigned kind = twi_op_row(ins->op)->kind;
    if (ins->op > TWI_NOP && ins->op < TWI_ELEMENTWISE_END)
        check_elementwise(s, v);
    else if (twi_is_access(ins->op))
        check_access(s, v, region);
    else if (kind == TWI_KIND_FOLD)
        check_fold(s, v, region);
    else if (kind == TWI_KIND_ORDER)
        check_scan(s, v, region);
    else if (ins->op == TWI_RESULT)
        check_result(s, v);
    else if (ins->op == TWI_PART)
        check_part(s, v);
    else if (ins->op == TWI_CARRY)
        wrong(s, v, "a carry in a body");
    else if (kind != TWI_KIND_REGION)
        check_leaf(s, v, region);
    s->home[v] = region + 1u;
}

/* ---- regions ---- */
static void check_region(state *s, uint32_t id);

static void check_loop(state *s, uint32_t id) {
    const tw_ir *ir = s->ir;
    const twi_region *r = &ir->region.at[id];
    const twi_ins *loop = &ir->ins.at[r->ins];
    need(s, r->axes.n == 1 && r->carries.n == r->yields.n && loop->nargs == r->carries.n, r->ins,
         "a loop has one axis, and as many values in as out");
    for (uint32_t k = 0; k < r->yields.n && k < r->carries.n; k++) {
        twi_type c = ir->ins.at[r->carries.at[k]].type, y = ir->ins.at[r->yields.at[k]].type;
        uint64_t step = UINT64_C(1) << r->axes.at[0];
        need(s, s->home[r->yields.at[k]] != 0 && inside(ir, id, s->home[r->yields.at[k]] - 1u),
             r->ins, "a yield that is not defined there");
        need(s, c.elem == y.elem, r->ins, "a carry that changes its type");
        need(s, ir->lifted ? (y.axes & ~c.axes & ~step) == 0 : c.axes == y.axes, r->ins,
             "a carry that changes its axes");
        need(s, k >= loop->nargs || ir->ins.at[twi_arg(ir, r->ins, k)].type.elem == c.elem, r->ins,
             "a carry that starts with another type");
    }
}

static void check_region(state *s, uint32_t id) {
    const tw_ir *ir = s->ir;
    const twi_region *r = &ir->region.at[id];
    for (uint32_t a = 1; a < ir->axis.n; a++)
        if (ir->axis.at[a].region == id) {
            uint32_t seen_from = ir->axis.at[a].kind == TWI_AXIS_FULL ? id : r->parent;
            bool full = ir->axis.at[a].kind == TWI_AXIS_FULL; /* its values come before its use */
            need(s,
                 ix_fine(s, ir->axis.at[a].lo, seen_from) &&
                     ix_fine(s, ir->axis.at[a].hi, seen_from) &&
                     (full || (values_seen(s, ir->axis.at[a].lo, r->parent) &&
                               values_seen(s, ir->axis.at[a].hi, r->parent))),
                 r->ins, "bounds of axes that do not exist here");
            need(s, r->kind != TWI_REGION_PAR || full || !twi_is_loaded_axis(ir, a), r->ins,
                 "a bound of a scope that is a value");
        }
    for (uint32_t k = 0; k < r->carries.n; k++)
        s->home[r->carries.at[k]] = id + 1u;
    for (uint32_t k = 0; k < r->body.n; k++) {
        twi_id v = r->body.at[k];
        const twi_ins *ins = &ir->ins.at[v];
        if (id == 1)
            need(s, ins->op == TWI_PAR || ins->op == TWI_SERIAL, v,
                 "only scopes and loops around them stand here");
        if (ins->op == TWI_PAR)
            for (uint32_t p = id; p != 0; p = ir->region.at[p].parent)
                need(s, ir->region.at[p].kind != TWI_REGION_PAR, v, "a scope inside a scope");
        check_ins(s, v, id);
        if (twi_op_row(ins->op)->kind == TWI_KIND_REGION && s->fine)
            check_region(s, ins->attr);
    }
    if (r->kind == TWI_REGION_SERIAL)
        check_loop(s, id);
}

bool twi_ir_verify(tw_ir *ir) {
    state s = {ir, TWI_NEW_N(ir->arena, uint32_t, ir->ins.n + 1u), true};
    check_region(&s, 1);
    return s.fine;
}
