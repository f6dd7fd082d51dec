/* SPDX-License-Identifier: Apache-2.0
 * Which values depend on an order that plans may choose, found from the IR alone: those are
 * bounded, all others determined.
 */
#include "oracle/eval.h"

uint64_t twi_axes_of_tiles(const tw_ir *ir) {
    uint64_t set = 0;
    for (uint32_t a = 1; a < ir->axis.n; a++) {
        const twi_axis *x = &ir->axis.at[a];
        bool tile = x->kind == TWI_AXIS_FULL || x->kind == TWI_AXIS_BLOCK ||
                    (x->kind == TWI_AXIS_STEP && x->block > 0);
        if (tile)
            set |= UINT64_C(1) << a;
    }
    return set;
}

/* Does this fold have one order? order-free folds and integers: DEFAULT, any order gives the value.
 */
bool twi_fixed_order(const tw_ir *ir, const twi_ins *ins, bool canonical, twi_order_kind *order) {
    const twi_monoid *m = twi_monoid_of(ins->op);
    (void)ir;
    *order = TWI_ORDER_DEFAULT;
    if (m->order_free || !twi_is_float((tw_elem)ins->type.elem))
        return true;
    *order = (twi_order_kind)ins->order;
    if (*order == TWI_ORDER_FREE || *order == TWI_ORDER_TREE || *order == TWI_ORDER_DEFAULT) {
        *order = canonical ? TWI_ORDER_CANONICAL : *order;
        return canonical;
    }
    return true;
}

typedef struct {
    const tw_ir *ir;
    bool canonical;
    twi_classes c;
    const uint32_t *region_of; /* CARRY: its region */
} job;

static bool any_argument(const job *j, const twi_ins *ins) {
    for (uint32_t k = 0; k < ins->nargs; k++)
        if (j->c.value[j->ir->args.at[ins->arg + k]])
            return true;
    return false;
}

static bool carry_bounded(const job *j, const twi_region *r, uint32_t k) {
    if (k >= r->carries.n)
        return false;
    twi_id initial = twi_arg(j->ir, r->ins, k);
    return j->c.value[initial] || (k < r->yields.n && j->c.value[r->yields.at[k]]) ||
           j->c.value[r->carries.at[k]];
}

static bool bounded(const job *j, twi_id v) {
    const tw_ir *ir = j->ir;
    const twi_ins *ins = &ir->ins.at[v];
    twi_order_kind order;
    switch (ins->op) {
    case TWI_CARRY:
        return j->region_of[v] != 0 && carry_bounded(j, &ir->region.at[j->region_of[v]], ins->attr);
    case TWI_RESULT:
        return carry_bounded(j, &ir->region.at[ir->ins.at[twi_arg(ir, v, 0)].attr], ins->attr);
    case TWI_LOAD:
        return j->c.array[ir->access.at[ins->attr].array] || any_argument(j, ins);
    case TWI_SUM:
    case TWI_PROD:
    case TWI_DOT:
    case TWI_MOMENTS:
    case TWI_CUMSUM:
    case TWI_CUMPROD:
        return !twi_fixed_order(ir, ins, j->canonical, &order) || any_argument(j, ins);
    case TWI_EXP:
    case TWI_LOG:
    case TWI_TANH:
    case TWI_ERF:
        return (ir->math != 0 && !j->canonical) || any_argument(j, ins);
    case TWI_PART: /* a maximum is determined, what is summed beside it is not */
        return true;
    case TWI_PAR:
    case TWI_SERIAL:
        return false;
    default:
        return any_argument(j, ins);
    }
}

twi_classes twi_classify(twi_arena *arena, const tw_ir *ir, bool canonical) {
    uint32_t *region_of = TWI_NEW_N(arena, uint32_t, ir->ins.n + 1u);
    job j = {ir, canonical, {NULL, NULL}, region_of};
    j.c.value = TWI_NEW_N(arena, bool, ir->ins.n + 1u);
    j.c.array = TWI_NEW_N(arena, bool, ir->array.n + 1u);
    for (uint32_t r = 1; r < ir->region.n; r++)
        for (uint32_t k = 0; k < ir->region.at[r].carries.n; k++)
            region_of[ir->region.at[r].carries.at[k]] = r;
    for (bool change = true; change;) {
        change = false;
        for (twi_id v = 1; v < ir->ins.n; v++) {
            if (!j.c.value[v] && bounded(&j, v))
                j.c.value[v] = change = true;
            const twi_ins *ins = &ir->ins.at[v];
            if (twi_op_row(ins->op)->kind != TWI_KIND_EFFECT)
                continue;
            const twi_access *a = &ir->access.at[ins->attr];
            bool loose = a->atomic == TWI_ADD && twi_is_float((tw_elem)ir->array.at[a->array].elem);
            if ((loose || any_argument(&j, ins)) && !j.c.array[a->array])
                j.c.array[a->array] = change = true;
        }
    }
    return j.c;
}

bool twi_oracle_determined(const tw_ir *ir, bool canonical) {
    twi_mark mark = twi_arena_mark(ir->arena);
    twi_classes c = twi_classify(ir->arena, ir, canonical);
    bool all = true;
    for (uint32_t a = 1; a < ir->array.n; a++)
        all = all && !(c.array[a] && ir->array.at[a].role != TWI_TEMP);
    twi_arena_reset(ir->arena, mark);
    return all;
}
