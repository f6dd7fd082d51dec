/* SPDX-License-Identifier: Apache-2.0
 * Dots by boxes (plan/atom.def). The atom digit of the folded axis is never opened: an operand's
 * value is whole boxes in the storage type, d elements side by side, for each lane if it has lanes.
 * A stage holds them so; else they are read along the array, or row by row and woven together.
 * Boxes of several groups with lanes stand group after group, and are stored a group at a time.
 */
#include "lower/walk.h"
#include "plan/atom.h"

unsigned twi_w_box(const twi_lowering *w, twi_id v) {
    const unsigned axis = twi_boxed_axis(w->ir, w->frame, v);
    return axis ? (unsigned)w->frame->map[axis].d[twi_atom_digit(w->frame, axis)].extent : 1;
}

int twi_w_box_dimension(const twi_lowering *w, twi_id load) {
    const unsigned axis = twi_boxed_axis(w->ir, w->frame, load);
    const twi_access *a = &w->ir->access.at[twi_ins_of(w->ir, load)->attr];
    int dim = -1;
    if (!axis || twi_w_value_count(w, twi_ins_of(w->ir, load)->type.axes) > 1)
        return -1;
    for (unsigned d = 0; d < w->ir->array.at[a->array].rank; d++) {
        const twi_ix_node *n = &w->ir->ix.at[a->ix[d]];
        if (!(n->axes >> axis & 1))
            continue;
        if (dim >= 0 || n->op != TWI_IX_AXIS)
            return -1;
        dim = (int)d;
    }
    return dim;
}

/* Groups of `size` elements of x and of y in turn. */
static twi_lid woven(twi_lowering *w, twi_lid x, twi_lid y, unsigned size) {
    const unsigned count = twi_w_count(w, x);
    int32_t *from = TWI_NEW_N(w->arena, int32_t, 2 * (size_t)count);
    for (unsigned k = 0; k < 2 * count; k++) {
        const unsigned pair = k / (2 * size), at = k % (2 * size);
        from[k] = (int32_t)(pair * size + (at < size ? at : count + at - size));
    }
    return twi_lb_permute(&w->c, x, y, from, 2 * count);
}

static twi_lid woven_rows(twi_lowering *w, twi_lid *row, unsigned n) {
    for (unsigned size = 1; size < n; size *= 2)
        for (unsigned k = 0; k < n / size / 2; k++)
            row[k] = woven(w, row[2 * k], row[2 * k + 1], size);
    return row[0];
}

twi_lid twi_w_box_load(twi_lowering *w, twi_id load) {
    const unsigned n = twi_w_box(w, load);
    if ((!w->copying && twi_w_stage_of(w, load) >= 0) || twi_w_box_dimension(w, load) >= 0)
        return twi_w_array_load(w, load, true);
    return twi_w_box_rows(w, load, twi_w_int(w, 0), n);
}

twi_lid twi_w_box_rows(twi_lowering *w, twi_id load, twi_lid first, unsigned n) {
    const unsigned axis = twi_boxed_axis(w->ir, w->frame, load);
    const int digit = twi_atom_digit(w->frame, axis);
    twi_lid row[32];
    for (unsigned k = 0; k < n; k++) {
        w->digit[axis][digit] = twi_w_ix(w, TWI_ADD, first, twi_w_int(w, k));
        row[k] = twi_w_array_load(w, load, true);
    }
    w->digit[axis][digit] = 0;
    return twi_w_count(w, row[0]) == 1 ? twi_lb_pack(&w->c, row, n) : woven_rows(w, row, n);
}

/* ---- computed operands ---- */

unsigned twi_w_carried_box(const twi_lowering *w, twi_id v) {
    const twi_place *place = twi_plan_place(w->plan, v);
    if (!place || !place->to)
        return 1;
    const twi_frame *f = &w->plan->frame[place->to - 1u];
    const unsigned axis = twi_boxed_axis(w->ir, f, v);
    return axis ? (unsigned)f->map[axis].d[twi_atom_digit(f, axis)].extent : 1;
}

/* Digits that number boxes, inside a group and a trip of the text. */
static uint8_t box_digits(const twi_lowering *w, const twi_frame *f, unsigned axis) {
    const uint8_t lanes = twi_level_digits(&f->map[axis], TWI_LV_LANE);
    return (uint8_t)(twi_time_digits(w->ir, f, axis) & ~lanes);
}

uint32_t twi_w_box_carrier(twi_lowering *w, twi_id v) {
    const twi_ins *i = twi_ins_of(w->ir, v);
    const twi_frame *f = &w->plan->frame[twi_plan_place(w->plan, v)->to - 1u];
    twi_object o = {.kind = TWI_OBJ_SCRATCH, .elem = (uint8_t)i->attr, .count = 1, .name = i->name};
    int64_t box = twi_w_carried_box(w, v);
    for (unsigned a = 0; a < w->ir->axis.n; a++) {
        if (!(i->type.axes >> a & 1))
            continue;
        o.extent[o.rank++] = twi_digits_extent(&f->map[a], box_digits(w, f, a));
        box *= twi_map_level_extent(&f->map[a], TWI_LV_LANE);
    }
    o.extent[o.rank++] = box;
    return twi_lb_object(&w->c, &o);
}

/* The open box, from its element `at` on. */
static twi_laccess box_access(twi_lowering *w, twi_id v, twi_lid at, twi_lid *index) {
    twi_laccess a = {.object = w->home[v].carrier};
    for (unsigned axis = 0; axis < w->ir->axis.n; axis++)
        if (twi_ins_of(w->ir, v)->type.axes >> axis & 1)
            index[a.dim++] = twi_w_number(w, axis, box_digits(w, w->frame, axis));
    index[a.dim] = at;
    return a;
}

twi_lid twi_w_carried_boxes(twi_lowering *w, twi_id v) {
    twi_lid index[TWI_MAX_RANK];
    const twi_laccess a = box_access(w, v, twi_w_int(w, 0), index);
    return twi_w_load(w, a, index, w->lanes * twi_w_box(w, v), 0, 0);
}

/* A vector of its stripe at the open digits, those of the box too; 0 beyond the axis, of which the
 * frame that made the stripe may have fewer positions. */
static twi_lid stripe_row(twi_lowering *w, twi_id v, unsigned boxed) {
    const uint64_t axes = twi_ins_of(w->ir, v)->type.axes;
    const twi_frame *home = &w->plan->frame[w->home[v].frame];
    const twi_laccess a = {.object = w->home[v].object};
    const twi_object *o = &w->c.f->object.at[a.object];
    const unsigned count = o->count;
    twi_lid index[TWI_MAX_RANK];
    unsigned rank = 0;
    twi_mask mask = {0, 0, 0};
    for (unsigned x = 0; x < w->ir->axis.n; x++) {
        const unsigned box = x == boxed ? 1u << twi_atom_digit(w->frame, x) : 0;
        const uint8_t digits = (uint8_t)(twi_time_digits(w->ir, w->frame, x) | box);
        if (!(axes >> x & 1))
            continue;
        const int64_t made = twi_digits_extent(&home->map[x], twi_time_digits(w->ir, home, x));
        if (made == 1)
            continue;
        index[rank] = twi_w_number(w, x, digits);
        if (made < twi_digits_extent(twi_w_map(w, x), digits))
            index[rank] = twi_w_ix(w, TWI_MIN, index[rank], twi_w_int(w, made - 1));
        rank++;
    }
    const twi_lid row = twi_w_load(w, a, index, count, 0, 0);
    twi_w_guard(w, UINT64_C(1) << boxed, &mask);
    const twi_lid real = twi_mask_bool(w, &mask, 1);
    const twi_lid none = real ? twi_w_const(w, (tw_elem)twi_ins_of(w->ir, v)->attr, 0, 0) : 0;
    return real ? twi_w_op(w, TWI_SELECT, real, row, none) : row;
}

void twi_w_carry_boxes(twi_lowering *w, twi_id v) {
    const unsigned axis = twi_boxed_axis(w->ir, w->frame, v), depth = twi_w_depth(w);
    const int digit = twi_atom_digit(w->frame, axis);
    const unsigned group = twi_atom_group((tw_elem)twi_ins_of(w->ir, v)->attr);
    const uint32_t mark = twi_w_scope(w);
    twi_lid row[4], index[TWI_MAX_RANK];
    for (unsigned a = 0; a < w->ir->axis.n; a++)
        for (unsigned d = 0; d < twi_w_map(w, a)->n; d++)
            if (twi_ins_of(w->ir, v)->type.axes >> a & 1 && box_digits(w, w->frame, a) >> d & 1)
                twi_w_open(w, a, d);
    const twi_lid at = twi_w_for(w, twi_w_int(w, 0), twi_w_int(w, twi_w_box(w, v) / group), 1);
    const twi_lid first = twi_w_ix(w, TWI_MUL, at, twi_w_int(w, group));
    for (unsigned k = 0; k < group; k++) {
        w->digit[axis][digit] = twi_w_ix(w, TWI_ADD, first, twi_w_int(w, k));
        row[k] = stripe_row(w, v, axis);
    }
    w->digit[axis][digit] = 0;
    const twi_lid x = woven_rows(w, row, group);
    const twi_laccess to =
        box_access(w, v, twi_w_ix(w, TWI_MUL, at, twi_w_int(w, twi_w_count(w, x))), index);
    twi_w_store(w, to, index, x, 0);
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
}

twi_lid twi_w_box_dot(twi_lowering *w, twi_id dot, twi_lid sum) {
    twi_lid a = twi_w_value(w, twi_arg(w->ir, dot, 0)), b = twi_w_value(w, twi_arg(w->ir, dot, 1));
    const bool lanes_first = twi_w_count(w, a) > twi_w_count(w, b);
    return twi_w_dots(w, lanes_first ? b : a, lanes_first ? a : b, sum);
}
