/* SPDX-License-Identifier: Apache-2.0
 * Values at the open digits: settled ones are read where they lie, local ones computed from their
 * operands, each once for one setting of the digits (the memo).
 */
#include "lower/walk.h"

unsigned twi_w_value_count(const twi_lowering *w, uint64_t axes) {
    return w->lane_axis >= 0 && axes >> w->lane_axis & 1 ? w->lanes : 1;
}

uint32_t twi_w_scope(const twi_lowering *w) { return w->undo.n; }

void twi_w_forget(twi_lowering *w, uint32_t mark) {
    while (w->undo.n > mark) {
        twi_memo_undo u = w->undo.at[--w->undo.n];
        w->memo[u.value] = u.before;
    }
}

void twi_w_remember(twi_lowering *w, twi_id v, twi_lid x) {
    twi_memo_undo u = {v, w->memo[v]};
    twi_push(w->arena, &w->undo, u);
    w->memo[v] = x;
}

/* ---- stripes
 * -------------------------------------------------------------------------------------- */
unsigned twi_w_stripe_index(twi_lowering *w, uint64_t axes, twi_lid *index) {
    unsigned rank = 0;
    for (unsigned a = 0; a < w->ir->axis.n; a++) {
        if (!(axes >> a & 1))
            continue;
        uint8_t time = twi_time_digits(w->ir, w->frame, a);
        if (twi_digits_extent(twi_w_map(w, a), time) == 1)
            continue;
        if (index)
            index[rank] = twi_w_number(w, a, time);
        rank++;
    }
    return rank;
}

twi_object twi_w_stripe_shape(twi_lowering *w, twi_id v, tw_elem elem, uint64_t axes) {
    twi_object o = {.kind = TWI_OBJ_PRIVATE, .elem = (uint8_t)elem};
    o.name = v ? twi_ins_of(w->ir, v)->name : 0;
    o.count = (uint16_t)twi_w_value_count(w, axes);
    int64_t elements = 1;
    for (unsigned a = 0; a < w->ir->axis.n; a++) {
        if (!(axes >> a & 1))
            continue;
        int64_t e = twi_digits_extent(twi_w_map(w, a), twi_time_digits(w->ir, w->frame, a));
        if (e == 1)
            continue;
        o.extent[o.rank++] = e;
        elements *= e;
    }
    const twi_place *place = v ? twi_plan_place(w->plan, v) : NULL;
    if (place && place->keep == TWI_KEEP_SCRATCH)
        o.kind = TWI_OBJ_SCRATCH;
    /* more than a few KiB do not belong on a stack or into registers */
    if (w->vectors && elements * o.count * (int64_t)tw_elem_size(elem) > 8192)
        o.kind = TWI_OBJ_SCRATCH;
    return o;
}

uint32_t twi_w_stripe(twi_lowering *w, twi_id v, tw_elem elem, uint64_t axes) {
    twi_object o = twi_w_stripe_shape(w, v, elem, axes);
    uint32_t elements = 1;
    for (unsigned d = 0; d < o.rank; d++)
        elements *= (uint32_t)o.extent[d];
    if (w->tally)
        w->tally->stripe += elements;
    return twi_lb_object(&w->c, &o);
}

void twi_w_stripe_store(twi_lowering *w, uint32_t object, uint64_t axes, twi_lid x) {
    twi_lid index[TWI_MAX_RANK];
    twi_w_stripe_index(w, axes, index);
    twi_laccess a = {.object = object};
    twi_w_store(w, a, index, twi_w_splat(w, x, w->c.f->object.at[object].count), 0);
}

twi_lid twi_w_stripe_load(twi_lowering *w, uint32_t object, uint64_t axes) {
    twi_lid index[TWI_MAX_RANK];
    twi_w_stripe_index(w, axes, index);
    twi_laccess a = {.object = object};
    return twi_w_load(w, a, index, w->c.f->object.at[object].count, 0, 0);
}

tw_elem twi_w_kept_elem(const twi_lowering *w, twi_id v) {
    const twi_ins *i = twi_ins_of(w->ir, v);
    return (tw_elem)(twi_w_carried_box(w, v) > 1 ? i->attr : i->type.elem);
}

void twi_w_keep(twi_lowering *w, twi_id v, twi_lid x) {
    const uint32_t object = w->home[v].object;
    const tw_elem elem = (tw_elem)w->c.f->object.at[object].elem;
    const twi_lins *i = twi_lins_of(w->c.f, x);
    if (i->elem != elem && i->op == TWI_CAST) /* as it was rounded */
        x = twi_larg(w->c.f, x, 0);
    twi_w_stripe_store(w, object, twi_ins_of(w->ir, v)->type.axes, twi_w_cast(w, elem, x));
}

/* ---- values
 * ---------------------------------------------------------------------------------------- */
static twi_lid leaf_value(twi_lowering *w, twi_id v) {
    const twi_ins *i = twi_ins_of(w->ir, v);
    switch (i->op) {
    case TWI_CONST:
        return twi_w_const(w, (tw_elem)i->type.elem, w->ir->constant.at[i->attr].bits, 0);
    case TWI_SCALAR:
        return twi_lb_leaf(&w->c, TWI_L_LSCALAR, (tw_elem)i->type.elem, 1, i->attr);
    case TWI_INDEX:
        return (int)i->attr == w->lane_axis ? twi_w_positions(w, i->attr)
                                            : twi_w_position(w, i->attr);
    default: /* IXVAL */
        return twi_w_eval(w, i->attr, twi_w_value_count(w, i->type.axes) > 1);
    }
}

static twi_lid settled_value(twi_lowering *w, twi_id v) {
    const twi_home *h = &w->home[v];
    if (!twi_w_is_home(w, v))
        return twi_w_carried(w, v);
    const twi_type *t = &twi_ins_of(w->ir, v)->type;
    return h->kind == TWI_HOME_SSA
               ? h->ssa
               : twi_w_cast(w, (tw_elem)t->elem, twi_w_stripe_load(w, h->object, t->axes));
}

/* Do its numbers lie inside -most .. most in every instance? */
static bool is_within(const tw_ir *ir, twi_id v, int64_t most) {
    const twi_ins *i = twi_ins_of(ir, v);
    int64_t lo = 0, hi = 0, end;
    switch (i->op) {
    case TWI_CONST:
        lo = hi = (int64_t)ir->constant.at[i->attr].bits;
        break;
    case TWI_IXVAL:
        if (!twi_ix_range(ir, i->attr, &lo, &hi))
            return false;
        break;
    case TWI_INDEX: /* and what pads it */
        if (!twi_ix_range(ir, ir->axis.at[i->attr].lo, &lo, &end) ||
            !twi_ix_range(ir, ir->axis.at[i->attr].hi, &end, &hi))
            return false;
        break;
    case TWI_SPREAD:
        return is_within(ir, twi_arg(ir, v, 0), most);
    case TWI_ADD:
    case TWI_SUB:
        return most > 1 && is_within(ir, twi_arg(ir, v, 0), most / 2) &&
               is_within(ir, twi_arg(ir, v, 1), most / 2);
    default:
        return false;
    }
    return lo >= -most && hi <= most;
}

/* Vectors of positions are compared in 32 bits where they fit with room for pads: a mask of 64-bit
 * elements takes two vectors. */
static bool compares_short(const twi_lowering *w, twi_id v) {
    const twi_ins *i = twi_ins_of(w->ir, v);
    if (i->op >= TWI_ELEMENTWISE_END || twi_op_row(i->op)->rule != TWI_RULE_COMPARE ||
        twi_w_value_count(w, i->type.axes) == 1)
        return false;
    for (unsigned k = 0; k < 2; k++) {
        const twi_id arg = twi_arg(w->ir, v, k);
        if (twi_ins_of(w->ir, arg)->type.elem != TW_I64 || !is_within(w->ir, arg, INT32_MAX / 2))
            return false;
    }
    return true;
}

static twi_lid local_value(twi_lowering *w, twi_id v) {
    const twi_ins *i = twi_ins_of(w->ir, v);
    twi_lid x[3] = {0, 0, 0};
    if (i->op == TWI_LOAD)
        return twi_w_box(w, v) > 1 ? twi_w_box_load(w, v) : twi_w_array_load(w, v, false);
    if (twi_scan_streams(w->ir, v))
        return twi_scan_next(w, v);
    for (unsigned k = 0; k < i->nargs; k++)
        x[k] = twi_w_value(w, twi_arg(w->ir, v, k));
    for (unsigned k = 0; k < 2 && compares_short(w, v); k++)
        x[k] = twi_w_cast(w, TW_I32, x[k]);
    switch (i->op) {
    case TWI_SPREAD:
        return x[0];
    case TWI_CAST: /* boxes stay in the storage type */
        return twi_w_box(w, v) > 1 ? x[0] : twi_w_cast(w, (tw_elem)i->type.elem, x[0]);
    case TWI_NARROW:
        return twi_w_cast(w, TW_F32, twi_w_cast(w, (tw_elem)i->attr, x[0]));
    default:
        return twi_w_op(w, i->op, x[0], x[1], x[2]);
    }
}

unsigned twi_w_slot_index(twi_lowering *w, uint64_t axes, twi_lid *index, int64_t *extent) {
    unsigned rank = 0;
    for (unsigned a = 0; a < w->ir->axis.n; a++) {
        const twi_map *m = twi_w_map(w, a);
        uint8_t slots = twi_level_digits(m, TWI_LV_SLOT);
        if (!(axes >> a & 1) || twi_digits_extent(m, slots) == 1)
            continue;
        if (index)
            index[rank] = twi_w_number(w, a, slots);
        if (extent)
            extent[rank] = twi_digits_extent(m, slots);
        rank++;
    }
    return rank;
}

/* A slot array holds one element for each slot of the value's axes. */
static twi_lid slot_array_load(twi_lowering *w, twi_id v) {
    twi_lid index[TWI_MAX_RANK];
    twi_w_slot_index(w, twi_ins_of(w->ir, v)->type.axes, index, NULL);
    twi_laccess acc = {.object = w->slot_array[v]};
    return twi_lb_load(&w->c, acc, index, w->c.f->object.at[acc.object].count, 0, 0);
}

twi_lid twi_w_value(twi_lowering *w, twi_id v) {
    if (w->memo[v])
        return w->memo[v];
    twi_loc loc = w->c.loc;
    uint32_t fold = w->c.fold;
    w->c.loc = twi_ins_of(w->ir, v)->loc;
    w->c.fold = 0;
    twi_lid x;
    if (w->home[v].kind)
        x = settled_value(w, v);
    else if (w->slot_array[v])
        x = slot_array_load(w, v);
    else if (twi_op_row(twi_ins_of(w->ir, v)->op)->kind == TWI_KIND_LEAF)
        x = leaf_value(w, v);
    else
        x = local_value(w, v);
    twi_sym name = twi_ins_of(w->ir, v)->name;
    twi_lins *made = twi_lins_of(w->c.f, x);
    if (name && !made->name && made->op != TWI_L_LCONST)
        made->name = name;
    w->c.loc = loc;
    w->c.fold = fold;
    twi_w_remember(w, v, x);
    return x;
}
