/* SPDX-License-Identifier: Apache-2.0
 * Folds by weight: slots, lanes and subgroups are folded inside the folded loops, and what they
 * give is combined with a carry that lives across the loops.
 */
#include "lower/walk.h"

bool twi_fold_carries(const twi_fold *f) { return f->weight && f->chunk_loop >= 0; }

/* The carry as the accumulator of a fold without folded axes. */
static twi_fold carry_of(const twi_fold *f) {
    twi_fold c = *f;
    c.folded = 0;
    memcpy(c.inner, f->chunk_inner, sizeof c.inner);
    memcpy(c.acc, f->carry, sizeof c.acc);
    return c;
}

void twi_carry_init(twi_lowering *w, twi_fold *f) {
    twi_fold c = carry_of(f);
    twi_fold_acc(w, &c);
    memcpy(f->carry, c.acc, sizeof f->carry);
    uint32_t mark = twi_w_scope(w);
    unsigned depth = twi_w_depth(w);
    twi_fold_open(w, &c, c.own);
    twi_state s = twi_state_identity(w, &c, 1);
    if (twi_ins_of(w->ir, f->id)->op == TWI_DOT) /* what is added to it first is not rounded */
        s.v[0] = twi_w_const(w, (tw_elem)twi_ins_of(w->ir, f->id)->type.elem, 0, TWI_FLAG_IDENTITY);
    twi_fold_put(w, &c, s);
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
}

void twi_carry_add(twi_lowering *w, const twi_fold *f, twi_state s) {
    const twi_fold c = carry_of(f);
    twi_fold_put(w, &c, twi_state_combine(w, &c, twi_fold_get(w, &c), s));
}

void twi_carry_finish(twi_lowering *w, const twi_fold *f, bool at_top) {
    const twi_fold c = carry_of(f);
    uint32_t mark = twi_w_scope(w);
    unsigned depth = twi_w_depth(w);
    twi_fold_open(w, &c, c.own);
    twi_fold_settle(w, f, twi_fold_get(w, &c), at_top && w->c.open.n == depth);
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
}
