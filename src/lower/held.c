/* SPDX-License-Identifier: Apache-2.0
 * Accumulators of a fold whose outer loop runs around loops of its own axes: there is one for each
 * trip of those, in memory. Folded loops inside them add to a copy of the few that are open, which
 * stays in registers, so that memory gives and takes each once a visit and not once an element. The
 * order of the sums is the same. Only where lanes are explicit: others cannot index by a loop.
 */
#include "lower/walk.h"

void twi_held_plan(const twi_lowering *w, const twi_axis_digit *loops, unsigned n, twi_fold *f) {
    f->held_loop = -1;
    if (!w->vectors || f->streams || f->first_loop < 0)
        return;
    bool turns = false; /* accumulators, with loops of its own axes */
    for (int k = f->first_loop + 1; k < (int)n; k++)
        if (f->own >> loops[k].axis & 1) {
            turns = true;
            f->held_loop = -1;
        } else if (turns && f->held_loop < 0 && f->folded >> loops[k].axis & 1) {
            f->held_loop = k;
        }
}

static void copy(twi_lowering *w, const twi_fold *from, const twi_fold *to, const twi_fold *open) {
    const uint32_t mark = twi_w_scope(w);
    const unsigned depth = twi_w_depth(w);
    twi_fold_open(w, open, open->own | open->folded);
    twi_fold_put(w, to, twi_fold_get(w, from));
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
}

void twi_held_begin(twi_lowering *w, twi_fold *f) {
    twi_fold *held = TWI_NEW(w->arena, twi_fold);
    *held = *f;
    memset(held->acc, 0, sizeof held->acc);
    for (unsigned a = 0; a < w->ir->axis.n; a++)
        held->inner[a] &= twi_level_digits(twi_w_map(w, a), TWI_LV_SLOT);
    twi_fold_acc(w, held);
    copy(w, f, held, held);
    f->held = held;
}

void twi_held_end(twi_lowering *w, twi_fold *f) {
    copy(w, f->held, f, f->held);
    f->held = NULL;
}
