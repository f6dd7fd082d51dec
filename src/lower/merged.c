/* SPDX-License-Identifier: Apache-2.0
 * States of folds of several results (ir/monoid.def): an element as a state, the merge, what comes
 * after the last merge. The operation that is marked as the fold's counts merges in the depth
 * domain: the maximum, the sum of counts. Counts stay scalars while all lanes have the same.
 */
#include "lower/walk.h"

static bool is_moments(const twi_lowering *w, const twi_fold *f) {
    return twi_ins_of(w->ir, f->id)->op == TWI_MOMENTS;
}

static twi_lid number(twi_lowering *w, float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return twi_w_const(w, TW_F32, bits, 0);
}

bool twi_merged_even(const twi_lowering *w, const twi_fold *f) {
    for (unsigned a = 0; a < w->ir->axis.n; a++)
        if (f->folded >> a & 1 && (twi_w_guarded(w, a) || twi_axis_extent(w->ir, a) < 0))
            return false;
    return true;
}

twi_state twi_merged_identity(twi_lowering *w, const twi_fold *f) {
    unsigned m = is_moments(w, f) ? TWI_ID_ZERO : TWI_ID_LEAST;
    twi_lid none =
        twi_w_const(w, TW_F32, twi_identity_bits(TWI_ID_ZERO, TW_F32), TWI_FLAG_IDENTITY);
    twi_lid first =
        twi_w_const(w, TW_F32, twi_identity_bits((twi_identity)m, TW_F32), TWI_FLAG_IDENTITY);
    return (twi_state){{first, none, none}};
}

/* x - x and m - m are 0 for numbers, NaN for what has no mean and no distance to its maximum. */
twi_state twi_merged_element(twi_lowering *w, const twi_fold *f, twi_lid x) {
    if (is_moments(w, f))
        return (twi_state){{x, twi_w_op(w, TWI_SUB, x, x, 0), number(w, 1)}};
    return (twi_state){{x, number(w, 1), 0}};
}

twi_state twi_merged_done(twi_lowering *w, const twi_fold *f, twi_state s) {
    if (!is_moments(w, f))
        s.v[1] = twi_w_op(w, TWI_ADD, s.v[1], twi_w_op(w, TWI_SUB, s.v[0], s.v[0], 0), 0);
    return s;
}

static twi_state merge_exps(twi_lowering *w, const twi_fold *f, twi_state a, twi_state b) {
    twi_lid first = twi_w_op(w, TWI_GE, a.v[0], b.v[0], 0);
    twi_lid more = twi_w_op(w, TWI_SELECT, first, a.v[1], b.v[1]);
    twi_lid less = twi_w_op(w, TWI_SELECT, first, b.v[1], a.v[1]);
    twi_lid away = twi_w_op(w, TWI_ABS, twi_w_op(w, TWI_SUB, a.v[0], b.v[0], 0), 0, 0);
    twi_lid e = twi_w_op(w, TWI_EXP, twi_w_op(w, TWI_NEG, away, 0, 0), 0, 0);
    e = twi_w_op(w, TWI_SELECT, twi_w_op(w, TWI_EQ, a.v[0], b.v[0], 0), number(w, 1), e);
    twi_state r = {{0, twi_w_op(w, TWI_ADD, more, twi_w_op(w, TWI_MUL, less, e, 0), 0), 0}};
    w->c.fold = f->id;
    r.v[0] = twi_w_op(w, TWI_MAX, a.v[0], b.v[0], 0);
    w->c.fold = 0;
    return r;
}

static twi_state merge_moments(twi_lowering *w, const twi_fold *f, twi_state a, twi_state b) {
    twi_state r = {{0, 0, 0}};
    w->c.fold = f->id;
    r.v[2] = twi_w_op(w, TWI_ADD, a.v[2], b.v[2], 0);
    w->c.fold = 0;
    twi_lid n = r.v[2];
    if (!f->even) { /* two that are both empty */
        twi_lid none = twi_w_op(w, TWI_EQ, n, number(w, 0), 0);
        n = twi_w_op(w, TWI_SELECT, none, number(w, 1), n);
    }
    twi_lid wa = twi_w_op(w, TWI_DIV, a.v[2], n, 0), wb = twi_w_op(w, TWI_DIV, b.v[2], n, 0);
    twi_lid k = twi_w_op(w, TWI_DIV, twi_w_op(w, TWI_MUL, a.v[2], b.v[2], 0), n, 0);
    r.v[0] = twi_w_op(w, TWI_ADD, twi_w_op(w, TWI_MUL, wa, a.v[0], 0),
                      twi_w_op(w, TWI_MUL, wb, b.v[0], 0), 0);
    twi_lid d = twi_w_op(w, TWI_SUB, a.v[0], b.v[0], 0);
    twi_lid more = twi_w_op(w, TWI_MUL, d, twi_w_op(w, TWI_MUL, d, k, 0), 0);
    r.v[1] = twi_w_op(w, TWI_ADD, twi_w_op(w, TWI_ADD, a.v[1], b.v[1], 0), more, 0);
    return r;
}

twi_state twi_merged_combine(twi_lowering *w, const twi_fold *f, twi_state a, twi_state b) {
    return is_moments(w, f) ? merge_moments(w, f, a, b) : merge_exps(w, f, a, b);
}
