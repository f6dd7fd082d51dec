/* SPDX-License-Identifier: Apache-2.0
 * The first launch of split folds (plan/split.h): where a fold would settle, its state goes into
 * temp arrays, one element a group and position of the fold's own axes.
 */
#include "lower/walk.h"

bool twi_w_is_split(const twi_lowering *w, twi_id v) {
    for (uint32_t k = 0; k < w->splits.n; k++)
        if (w->splits.at[k] == v)
            return true;
    return false;
}

/* Array of the fold's first state. */
static uint32_t first_array(const twi_lowering *w, twi_id fold) {
    uint32_t array = w->split_array;
    for (uint32_t k = 0; k < w->splits.n && w->splits.at[k] != fold; k++)
        array += twi_fold_states(w->ir, w->splits.at[k]);
    return array;
}

void twi_split_store(twi_lowering *w, const twi_fold *f, twi_state s) {
    twi_lid index[TWI_MAX_RANK];
    twi_mask mask = {0, 0, 0};
    twi_laccess access = {0};
    unsigned count = twi_w_value_count(w, f->own), rank = 1;
    index[0] = w->digit[twi_split_axis(w->ir, w->plan)][0];
    for (unsigned a = 1; a < w->ir->axis.n; a++) {
        if (!(f->own >> a & 1))
            continue;
        if ((int)a == w->lane_axis)
            access.dim = (uint8_t)rank;
        index[rank++] = twi_w_ix(w, TWI_SUB, twi_w_position(w, a), twi_w_lo(w, a));
    }
    twi_w_guard(w, f->own, &mask);
    twi_w_leader(w, f->own, &mask);
    twi_lid m = twi_w_access_mask(w, &access, count, &mask);
    if (twi_is_argfold(w->ir, f->id))
        s = twi_arg_partial(w, f, s);
    for (unsigned k = 0; k < f->states; k++) {
        access.object = twi_w_array_object(w, first_array(w, f->id) + k);
        twi_w_store(w, access, index, twi_w_splat(w, s.v[k], count), m);
    }
}
