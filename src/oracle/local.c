/* SPDX-License-Identifier: Apache-2.0
 * Leaves, moves and elementwise operations over whole tiles.
 */
#include "oracle/eval.h"

/* A scalar leaf's bits into its tile. */
static void single(twi_oracle *o, twi_tile *t, uint64_t bits) {
    if (!t->bounded) {
        for (size_t k = 0; k < t->total; k++)
            t->bits[k] = bits;
        return;
    }
    twi_form x = twi_form_exact((tw_elem)t->elem, bits);
    for (size_t k = 0; k < t->total; k++)
        twi_tile_put(o, t, k, &x);
}

static void eval_index(twi_oracle *o, twi_tile *t, uint32_t axis) {
    const twi_axis_state *s = &o->axis[axis];
    if (t->n == 0) {
        single(o, t, (uint64_t)s->at);
        return;
    }
    for (size_t k = 0; k < t->total; k++)
        t->bits[k] = (uint64_t)(s->lo + (int64_t)k);
}

static void eval_leaf(twi_oracle *o, twi_id v) {
    const tw_ir *ir = o->ir;
    const twi_ins *ins = &ir->ins.at[v];
    twi_tile *t = &o->tile[v];
    switch (ins->op) {
    case TWI_CONST:
        single(o, t, ir->constant.at[ins->attr].bits);
        return;
    case TWI_SCALAR: {
        const twi_scalar *s = &ir->scalar.at[ins->attr];
        if (!o->in->scalar && !s->has_default) {
            twi_fail(o, "scalar %s has no value", twi_text(&ir->ctx->names, s->name));
            return;
        }
        uint64_t bits = o->in->scalar ? o->in->scalar[ins->attr] : s->bits;
        single(o, t, s->elem == t->elem ? bits : twi_widen((tw_elem)s->elem, bits));
        return;
    }
    case TWI_INDEX:
        eval_index(o, t, ins->attr);
        return;
    case TWI_IXVAL:
        single(o, t, (uint64_t)twi_index(o, ins->attr, NULL));
        return;
    default: { /* RESULT: the carry as the last trip left it */
        uint32_t region = ir->ins.at[twi_arg(ir, v, 0)].attr;
        twi_tile_copy(o, t, &o->tile[ir->region.at[region].carries.at[ins->attr]]);
    }
    }
}

static void eval_narrow(twi_oracle *o, const twi_ins *ins, twi_tile *t, const twi_tile *from) {
    tw_elem to = (tw_elem)ins->attr;
    for (size_t k = 0; k < t->total; k++) {
        if (!t->bounded) {
            t->bits[k] = twi_widen(to, twi_narrow(to, from->bits[k]));
            continue;
        }
        twi_form x = twi_tile_get(from, k), y;
        twi_form_narrow(to, &x, &y);
        twi_tile_put(o, t, k, &y);
    }
}

static void eval_elementwise(twi_oracle *o, twi_id v) {
    const tw_ir *ir = o->ir;
    const twi_ins *ins = &ir->ins.at[v];
    twi_tile *t = &o->tile[v];
    const twi_tile *arg[3] = {NULL, NULL, NULL};
    twi_form_op f = {.native = ir->math != 0 && !o->options.canonical};
    unsigned n = ins->nargs < 3 ? ins->nargs : 3, typed = ins->op == TWI_SELECT ? 1 : 0;
    twi_walk w;
    twi_walk_begin(&w, t);
    for (unsigned k = 0; k < n; k++) {
        arg[k] = &o->tile[twi_arg(ir, v, k)];
        twi_walk_add(&w, t, arg[k]);
    }
    if (!arg[typed]) {
        twi_fail(o, "%s lacks its operands", twi_op_row(ins->op)->name);
        return;
    }
    f.det = twi_det_of(ins->op, (tw_elem)arg[typed]->elem, (tw_elem)ins->type.elem);
    f.same = n > 1 && arg[0] == arg[1];
    if (!f.det.fn) {
        twi_fail(o, "%s of %s is not built yet", twi_op_row(ins->op)->name,
                 tw_elem_name((tw_elem)arg[typed]->elem));
        return;
    }
    if (!t->bounded) {
        uint64_t x[3] = {0, 0, 0};
        for (size_t k = 0; w.left > 0; k++, twi_walk_next(&w)) {
            for (unsigned a = 0; a < n; a++)
                x[a] = arg[a]->bits[w.off[a]];
            t->bits[k] = twi_det_do(&f.det, x);
        }
        return;
    }
    twi_part room[TWI_ROOM];
    for (size_t k = 0; w.left > 0; k++, twi_walk_next(&w)) {
        twi_form x[3], y;
        for (unsigned a = 0; a < n; a++)
            x[a] = twi_tile_get(arg[a], (size_t)w.off[a]);
        twi_form_do(&f, x, &y, room);
        twi_tile_put(o, t, k, &y);
    }
}

void twi_eval_local(twi_oracle *o, twi_id v) {
    const twi_ins *ins = &o->ir->ins.at[v];
    twi_tile *t = &o->tile[v];
    if (ins->op == TWI_SPREAD)
        twi_tile_copy(o, t, &o->tile[twi_arg(o->ir, v, 0)]);
    else if (ins->op == TWI_NARROW)
        eval_narrow(o, ins, t, &o->tile[twi_arg(o->ir, v, 0)]);
    else if (ins->op < TWI_ELEMENTWISE_END)
        eval_elementwise(o, v);
    else
        eval_leaf(o, v);
}
