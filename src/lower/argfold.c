/* SPDX-License-Identifier: Apache-2.0
 * States of argmax and argmin: an integer whose order is that of the values (NaN first, -0 < +0),
 * and where the element stands, in 32 bits where the axis allows. Only the place is a result, so
 * that values never come back from their keys but as partial results of a split fold.
 */
#include "lower/walk.h"

static const twi_ins *fold_ins(const twi_lowering *w, const twi_fold *f) {
    return twi_ins_of(w->ir, f->id);
}

static tw_elem value_elem(const twi_lowering *w, const twi_fold *f) {
    return (tw_elem)twi_ins_of(w->ir, twi_arg(w->ir, f->id, 0))->type.elem;
}

static bool greatest(const twi_lowering *w, const twi_fold *f) {
    return fold_ins(w, f)->op == TWI_ARGMAX;
}

bool twi_is_argfold(const tw_ir *ir, twi_id fold) {
    const unsigned op = twi_ins_of(ir, fold)->op;
    return op == TWI_ARGMAX || op == TWI_ARGMIN;
}

tw_elem twi_arg_elem(const twi_lowering *w, const twi_fold *f, unsigned state) {
    const twi_ins *i = fold_ins(w, f);
    const tw_elem elem = value_elem(w, f);
    int64_t hi;
    if (state == 0)
        return !twi_is_float(elem) ? elem : elem == TW_F64 ? TW_I64 : TW_I32;
    const bool small =
        !i->parts && twi_ix_is_const(w->ir, w->ir->axis.at[i->fold[0]].hi, &hi) && hi <= INT32_MAX;
    return small ? TW_I32 : TW_I64;
}

/* Where nothing stands: beyond all places. */
static twi_lid nowhere(twi_lowering *w, const twi_fold *f) {
    const tw_elem elem = twi_arg_elem(w, f, 1);
    return twi_w_const(w, elem, elem == TW_I32 ? (uint64_t)INT32_MAX : (uint64_t)INT64_MAX, 0);
}

static uint64_t least_bits(tw_elem elem) {
    return elem == TW_I64 ? UINT64_C(1) << 63 : 0x80000000u;
}
static uint64_t most_bits(tw_elem elem) { return elem == TW_I64 ? INT64_MAX : INT32_MAX; }

/* Worse than every float; integers have no such key, and lose a tie by their place. */
twi_state twi_arg_identity(twi_lowering *w, const twi_fold *f, unsigned count) {
    const tw_elem elem = value_elem(w, f), key = twi_arg_elem(w, f, 0);
    const twi_identity none = (twi_identity)twi_monoid_of(fold_ins(w, f)->op)->identity;
    const uint64_t bits = !twi_is_float(elem) ? twi_identity_bits(none, elem)
                          : greatest(w, f)    ? least_bits(key)
                                              : most_bits(key);
    twi_lid first = twi_w_const(w, key, bits, TWI_FLAG_IDENTITY);
    return (twi_state){{twi_w_splat(w, first, count), twi_w_splat(w, nowhere(w, f), count), 0}};
}

/* Negative numbers have their other bits turned: the same turn goes back. */
static twi_lid turned(twi_lowering *w, tw_elem key, twi_lid bits) {
    twi_lid sign = twi_w_op(w, TWI_SHR, bits, twi_w_const(w, key, key == TW_I64 ? 63 : 31, 0), 0);
    twi_lid turn = twi_w_op(w, TWI_BAND, sign, twi_w_const(w, key, most_bits(key), 0), 0);
    return twi_w_op(w, TWI_BXOR, bits, turn, 0);
}

static twi_lid key_of(twi_lowering *w, const twi_fold *f, twi_lid x) {
    const tw_elem key = twi_arg_elem(w, f, 0);
    if (!twi_is_float(value_elem(w, f)))
        return x;
    twi_lid first = twi_w_const(w, key, greatest(w, f) ? most_bits(key) : least_bits(key), 0);
    twi_lid ordered = turned(w, key, twi_w_bitcast(w, key, x));
    return twi_w_op(w, TWI_SELECT, twi_w_op(w, TWI_NE, x, x, 0), first, ordered);
}

static twi_lid place(twi_lowering *w, const twi_fold *f) {
    const unsigned axis = fold_ins(w, f)->fold[0];
    const tw_elem elem = twi_arg_elem(w, f, 1);
    twi_lid at = twi_w_cast(w, elem, twi_w_position(w, axis));
    if ((int)axis != w->lane_axis)
        return at;
    twi_lid lane = twi_w_cast(w, elem, twi_w_leaf(w, TWI_L_IOTA, w->lanes, 0));
    return twi_w_op(w, TWI_ADD, at, lane, 0);
}

/* The element that the open digits name; of a partial result the value. */
twi_state twi_arg_element(twi_lowering *w, const twi_fold *f) {
    twi_lid x = key_of(w, f, twi_w_value(w, twi_arg(w->ir, f->id, 0)));
    return (twi_state){{x, fold_ins(w, f)->parts ? 0 : place(w, f), 0}};
}

/* Do the elements of each accumulator come in the order of their places? Then one of the same key
 * comes too late, and so does nothing at all where keys lie above the identity's. */
static bool in_order(const twi_lowering *w, const twi_fold *f) {
    const unsigned axis = fold_ins(w, f)->fold[0];
    const twi_map *m = twi_w_map(w, axis);
    int64_t last = INT64_MAX;
    for (unsigned k = 0; k < w->frame->loops; k++) {
        if (w->frame->order[k].axis != axis)
            continue;
        const int64_t weight = twi_map_weight(m, w->frame->order[k].digit);
        if (weight > last)
            return false;
        last = weight;
    }
    return twi_is_float(value_elem(w, f)) && !fold_ins(w, f)->parts &&
           !twi_level_digits(m, TWI_LV_SERIAL) && !twi_axis_runs_down(w->ir, axis);
}

static twi_state better(twi_lowering *w, const twi_fold *f, twi_state a, twi_state b, bool later) {
    twi_lid take = twi_w_op(w, greatest(w, f) ? TWI_GT : TWI_LT, b.v[0], a.v[0], 0);
    twi_state r = {{0, 0, 0}};
    if (!later) {
        twi_lid tie = twi_w_op(w, TWI_EQ, b.v[0], a.v[0], 0);
        twi_lid first = twi_w_op(w, TWI_LT, b.v[1], a.v[1], 0);
        take = twi_w_op(w, TWI_OR, take, twi_w_op(w, TWI_AND, tie, first, 0), 0);
    }
    for (unsigned k = 0; k < 2; k++)
        r.v[k] = twi_w_op(w, TWI_SELECT, take, b.v[k], a.v[k]);
    return r;
}

twi_state twi_arg_combine(twi_lowering *w, const twi_fold *f, twi_state a, twi_state b) {
    return better(w, f, a, b, false);
}

twi_state twi_arg_update(twi_lowering *w, const twi_fold *f, twi_state acc, twi_state element) {
    return better(w, f, acc, element, in_order(w, f));
}

twi_lid twi_arg_done(twi_lowering *w, const twi_fold *f, twi_state s) {
    const tw_elem elem = twi_arg_elem(w, f, 1);
    twi_lid none = twi_w_op(w, TWI_EQ, s.v[1], nowhere(w, f), 0); /* of nothing: -1 */
    twi_lid minus = twi_w_const(w, elem, elem == TW_I32 ? 0xffffffffu : ~UINT64_C(0), 0);
    return twi_w_cast(w, TW_I64, twi_w_op(w, TWI_SELECT, none, minus, s.v[1]));
}

/* As partial results lie in memory: a value (NaN as one of them) and a place in 64 bits. */
twi_state twi_arg_partial(twi_lowering *w, const twi_fold *f, twi_state s) {
    const tw_elem elem = value_elem(w, f), key = twi_arg_elem(w, f, 0);
    const twi_identity least = (twi_identity)twi_monoid_of(fold_ins(w, f)->op)->identity;
    const twi_lid none = twi_w_op(w, TWI_EQ, s.v[1], nowhere(w, f), 0);
    if (twi_is_float(elem)) { /* the key of nothing would come back as NaN, before all values */
        twi_lid x = twi_w_bitcast(w, elem, turned(w, key, s.v[0]));
        twi_lid worst = twi_w_const(w, elem, twi_identity_bits(least, elem), 0);
        s.v[0] = twi_w_op(w, TWI_SELECT, none, worst, x);
    }
    if (twi_arg_elem(w, f, 1) == TW_I32) {
        twi_lid beyond = twi_w_const(w, TW_I64, INT64_MAX, 0);
        s.v[1] = twi_w_op(w, TWI_SELECT, none, beyond, twi_w_cast(w, TW_I64, s.v[1]));
    }
    return s;
}
