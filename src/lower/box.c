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
    if (twi_w_count(w, row[0]) == 1)
        return twi_lb_pack(&w->c, row, n);
    for (unsigned size = 1; size < n; size *= 2)
        for (unsigned k = 0; k < n / size / 2; k++)
            row[k] = woven(w, row[2 * k], row[2 * k + 1], size);
    return row[0];
}

twi_lid twi_w_box_dot(twi_lowering *w, twi_id dot, twi_lid sum) {
    twi_lid a = twi_w_value(w, twi_arg(w->ir, dot, 0)), b = twi_w_value(w, twi_arg(w->ir, dot, 1));
    const bool lanes_first = twi_w_count(w, a) > twi_w_count(w, b);
    return twi_w_dots(w, lanes_first ? b : a, lanes_first ? a : b, sum);
}
