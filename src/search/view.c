/* SPDX-License-Identifier: Apache-2.0
 * What families see of a scope (view.h): read off the IR once.
 */
#include "search/view.h"

int64_t twi_cdiv(int64_t x, int64_t y) { return y ? (x + y - 1) / y : 0; }

static void view_axis(twi_view *v, unsigned a) {
    const twi_axis *axis = &v->ir->axis.at[a];
    twi_axis_view *out = &v->axis[a];
    out->kind = axis->kind;
    out->known = twi_axis_span(v->ir, a, &out->extent);
    out->block = axis->kind == TWI_AXIS_STEP && !axis->block ? 1 : axis->block;
}

/* Can a map of its axis have the canonical order's 256 lanes as digits? */
static bool lanes_are_digits(const twi_view *v, const twi_ins *fold) {
    const twi_axis_view *x = &v->axis[fold->fold[0]];
    int64_t lanes = 1;
    while (lanes < TWI_LANES_CANONICAL && lanes < x->block)
        lanes *= 2;
    return fold->nfold == 1 && (x->block ? x->block % lanes == 0 : x->known);
}

static void view_fold(twi_view *v, twi_id id) {
    const twi_ins *ins = twi_ins_of(v->ir, id);
    uint64_t axes = twi_fold_axes(v->ir, id);
    unsigned order = ins->order == TWI_ORDER_DEFAULT ? v->ir->order : ins->order;
    v->folds++;
    v->folded |= axes;
    v->stripes |= ins->type.axes;
    if (!twi_fold_rounds(v->ir, id) || order == TWI_ORDER_FREE || order == TWI_ORDER_TREE)
        return;
    if (order == TWI_ORDER_CANONICAL && ins->op != TWI_DOT && lanes_are_digits(v, ins))
        v->canonical |= axes;
    else
        v->chain |= axes;
    if (order == TWI_ORDER_CANONICAL && ins->op != TWI_DOT && !lanes_are_digits(v, ins))
        v->streams |= axes;
}

static void view_scan(twi_view *v, twi_id id) {
    const twi_ins *ins = twi_ins_of(v->ir, id);
    unsigned order = ins->order == TWI_ORDER_DEFAULT ? v->ir->order : ins->order;
    uint64_t axis = UINT64_C(1) << ins->fold[0];
    v->scanned |= axis;
    v->stripes |= ins->type.axes;
    if (twi_fold_rounds(v->ir, id) && order != TWI_ORDER_FREE && order != TWI_ORDER_TREE)
        v->chain |= axis;
}

int twi_view_unit(const twi_view *v, twi_id id) {
    const twi_access *access = &v->ir->access.at[twi_ins_of(v->ir, id)->attr];
    unsigned rank = v->ir->array.at[access->array].rank;
    int found = -1;
    if (!rank || !access->ix[rank - 1])
        return -1;
    twi_affine sum = twi_ix_affine(v->ir, v->arena, access->ix[rank - 1]);
    for (uint32_t i = 0; i < sum.n; i++) {
        const twi_ix_node *atom = &v->ir->ix.at[sum.term[i].atom];
        if (atom->op == TWI_IX_AXIS && sum.term[i].coef == 1 && (v->axes >> atom->a & 1))
            found = (int)atom->a;
    }
    return found;
}

/* Of the first load or store that has one. */
static int unit_of(const twi_view *v, unsigned op) {
    int unit = -1;
    for (uint32_t i = 0; i < v->all.n && unit < 0; i++)
        if (twi_ins_of(v->ir, v->all.at[i])->op == op)
            unit = twi_view_unit(v, v->all.at[i]);
    return unit;
}

void twi_view_init(twi_view *v, twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                   uint32_t scope) {
    *v = (twi_view){.arena = arena, .ir = ir, .caps = caps, .scope = scope};
    v->par = twi_par_region(ir, scope);
    v->axes = twi_scope_axes(ir, v->par);
    twi_scope_values(arena, ir, v->par, &v->all);
    for (unsigned a = 1; a < ir->axis.n; a++)
        if (v->axes >> a & 1)
            view_axis(v, a);
    for (uint32_t i = 0; i < v->all.n; i++) {
        twi_id id = v->all.at[i];
        unsigned op = twi_ins_of(ir, id)->op;
        if (twi_is_fold(ir, id))
            view_fold(v, id);
        if (twi_op_row(op)->kind == TWI_KIND_ORDER)
            view_scan(v, id);
        if (op == TWI_CARRY || op == TWI_RESULT || op == TWI_PART)
            v->stripes |= twi_ins_of(ir, id)->type.axes;
        v->serial = v->serial || op == TWI_SERIAL;
        v->again = v->again || twi_ins_of(ir, id)->parts;
    }
    v->canonical &= ~v->streams;
    v->unit_load = unit_of(v, TWI_LOAD);
    v->unit = unit_of(v, TWI_STORE);
    if (v->unit < 0)
        v->unit = v->unit_load;
    v->stripes |= twi_kept_axes(arena, ir, scope);
    v->crossings = twi_crossing(arena, ir, scope, &v->crossing);
    v->facts = twi_floor_facts(v);
    v->plain = twi_plain_plan(v);
}

int64_t twi_view_bytes(const twi_view *v, unsigned a) {
    int64_t bytes = 8;
    for (uint32_t i = 0; i < v->all.n; i++) {
        const twi_ins *ins = twi_ins_of(v->ir, v->all.at[i]);
        if ((ins->op != TWI_LOAD && ins->op != TWI_STORE) || !(ins->type.axes >> a & 1))
            continue;
        uint32_t array = v->ir->access.at[ins->attr].array;
        int64_t size = (int64_t)tw_elem_size((tw_elem)v->ir->array.at[array].elem);
        bytes = size < bytes ? size : bytes;
    }
    return bytes;
}

/* Division, roots and functions are worth a stripe; sums and products are not. */
bool twi_view_expensive(const twi_view *v, twi_id id) {
    unsigned price = twi_op_row(twi_ins_of(v->ir, id)->op)->price;
    return twi_ins_of(v->ir, id)->op < TWI_ELEMENTWISE_END &&
           (price == TWI_PRICE_DIV || price == TWI_PRICE_FUNC);
}

void twi_view_keep(const twi_view *v, twi_plan *p, twi_keep_mode mode) {
    for (uint32_t i = 0; i < v->crossings; i++) {
        twi_id id = v->crossing[i];
        bool keep =
            mode == TWI_KEEP_ALL || (mode == TWI_KEEP_EXPENSIVE && twi_view_expensive(v, id));
        if (keep || twi_plan_place(p, id))
            twi_plan_set_place(v->arena, p, id)->keep =
                (uint8_t)(keep ? TWI_KEEP_STRIPE : TWI_KEEP_NONE);
    }
}
