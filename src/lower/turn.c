/* SPDX-License-Identifier: Apache-2.0
 * Boxes that are turned in registers: those without lanes that lie across the rows of their array,
 * and those of lanes that lie along rows. What trades places is whole groups of 4 bytes, as many in
 * a vector as there are vectors.
 */
#include "lower/walk.h"
#include "plan/atom.h"

/* The slots that end an axis's map; -1: something else does. */
static int last_slots(const twi_map *m) {
    const int d = twi_innermost_digit(m);
    return d >= 0 && m->d[d].level == TWI_LV_SLOT ? d : -1;
}

bool twi_w_box_lies_across(const twi_lowering *w, twi_id load, twi_turn *out) {
    const twi_access *a = &w->ir->access.at[twi_ins_of(w->ir, load)->attr];
    const twi_array *array = &w->ir->array.at[a->array];
    const unsigned boxed = twi_boxed_axis(w->ir, w->frame, load), rank = array->rank;
    const unsigned lanes = w->caps->vector_bytes / 4, group = twi_atom_group((tw_elem)array->elem);
    const twi_object *o = &w->c.f->object.at[twi_w_array_object(w, a->array)];
    if (!w->vectors || !boxed || !rank || lanes > TWI_MAX_TURN ||
        twi_w_box(w, load) != lanes * group ||
        twi_w_value_count(w, twi_ins_of(w->ir, load)->type.axes) > 1)
        return false;
    const twi_ix_node *last = &w->ir->ix.at[a->ix[rank - 1]];
    if (last->op != TWI_IX_AXIS || last->a == boxed || o->dynamic >> (rank - 1) & 1 ||
        o->stride[rank - 1] != 1)
        return false;
    for (unsigned d = 0; d + 1 < rank; d++)
        if (a->gather[d] || w->ir->ix.at[a->ix[d]].axes >> last->a & 1)
            return false;
    const int digit = last_slots(twi_w_map(w, last->a));
    *out = (twi_turn){last->a, (unsigned)(digit < 0 ? 0 : digit), lanes};
    return digit >= 0 && !a->gather[rank - 1] &&
           twi_w_map(w, last->a)->d[digit].extent % lanes == 0;
}

/* Groups of x and y where bit `by` of their place differs from that of the vector trade places;
 * second: what then stands in y. */
static twi_lid traded(twi_lowering *w, twi_lid x, twi_lid y, unsigned by, unsigned group,
                      bool second) {
    const unsigned count = twi_w_count(w, x);
    int32_t *from = TWI_NEW_N(w->arena, int32_t, count);
    for (unsigned k = 0; k < count; k++) {
        const unsigned place = k / group, there = place ^ by, at = k % group;
        const bool stays = !(place & by) == !second;
        from[k] = (int32_t)((stays ? place : there) * group + at);
        from[k] += (int32_t)(!(place & by) ? 0 : count);
    }
    return twi_lb_permute(&w->c, x, y, from, count);
}

/* Group g of vector k becomes group k of vector g. */
static void turn(twi_lowering *w, twi_lid *box, unsigned n, unsigned group) {
    for (unsigned by = n / 2; by > 0; by /= 2)
        for (unsigned k = 0; k < n; k++) {
            if (k & by)
                continue;
            const twi_lid x = box[k], y = box[k + by];
            box[k] = traded(w, x, y, by, group, false);
            box[k + by] = traded(w, x, y, by, group, true);
        }
}

void twi_w_box_turned(twi_lowering *w, twi_id load, const twi_turn *t, twi_lid *box) {
    const int lane_axis = w->lane_axis;
    const uint32_t lanes = w->lanes;
    const unsigned group = twi_w_box(w, load) / t->lanes;
    w->lane_axis = (int)t->axis;
    w->lanes = t->lanes;
    for (unsigned k = 0; k < t->lanes; k++)
        box[k] = twi_w_box_rows(w, load, twi_w_int(w, k * group), group);
    w->lane_axis = lane_axis;
    w->lanes = lanes;
    turn(w, box, t->lanes, group);
}

bool twi_w_box_lies_along(twi_lowering *w, twi_id load) {
    const twi_access *a = &w->ir->access.at[twi_ins_of(w->ir, load)->attr];
    const twi_object *o = &w->c.f->object.at[twi_w_array_object(w, a->array)];
    const unsigned lanes = twi_w_value_count(w, twi_ins_of(w->ir, load)->type.axes);
    const unsigned group = twi_atom_group((tw_elem)w->ir->array.at[a->array].elem);
    const int lane_axis = w->lane_axis;
    w->lane_axis = -1;
    const int dim = twi_w_box_dimension(w, load);
    w->lane_axis = lane_axis;
    return w->vectors && lanes > 1 && lanes <= TWI_MAX_TURN && dim >= 0 &&
           twi_w_box(w, load) == lanes * group && !(o->dynamic >> dim & 1) && o->stride[dim] == 1;
}

void twi_w_box_groups(twi_lowering *w, twi_id load, twi_lid *box) {
    const unsigned axis = (unsigned)w->lane_axis;
    const uint32_t lanes = w->lanes;
    const unsigned digit = twi_w_map(w, axis)->n - 1u; /* of a vector's lanes */
    const twi_lid open = w->digit[axis][digit];
    w->lane_axis = -1;
    w->lanes = 1;
    for (unsigned k = 0; k < lanes; k++) {
        w->digit[axis][digit] = twi_w_int(w, k);
        box[k] = twi_w_array_load(w, load, true);
    }
    w->digit[axis][digit] = open;
    w->lane_axis = (int)axis;
    w->lanes = lanes;
    turn(w, box, lanes, twi_atom_group((tw_elem)twi_lins_of(w->c.f, box[0])->elem));
}
