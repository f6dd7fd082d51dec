/* SPDX-License-Identifier: Apache-2.0
 * Folds digit by digit: accumulators (one for each slot of the folded axes, times the digits of its
 * own axes opened inside its outermost folded loop), updates guarded by the identity, then slots,
 * then lanes. Subgroups: collect.c.
 */
#include "lower/walk.h"
#include "plan/atom.h"

unsigned twi_fold_operands(const tw_ir *ir, twi_id fold) {
    const twi_ins *i = twi_ins_of(ir, fold);
    return i->parts ? i->parts : i->op == TWI_DOT ? 2 : 1;
}

twi_id twi_dot_start(const tw_ir *ir, twi_id fold) {
    const twi_ins *i = twi_ins_of(ir, fold);
    unsigned k = twi_fold_operands(ir, fold);
    if (i->op != TWI_DOT || i->nargs <= k)
        return 0;
    const twi_ins *start = twi_ins_of(ir, twi_arg(ir, fold, k));
    bool zero = start->op == TWI_CONST && ir->constant.at[start->attr].bits == 0;
    return zero ? 0 : twi_arg(ir, fold, k);
}

/* Elements are products; partial results of a dot are summed. */
static bool multiplies(const twi_ins *i) { return i->op == TWI_DOT && !i->parts; }

static const twi_ins *fold_ins(const twi_lowering *w, const twi_fold *f) {
    return twi_ins_of(w->ir, f->id);
}

bool twi_is_canonical_row(const tw_ir *ir, twi_id fold) {
    const twi_ins *i = twi_ins_of(ir, fold);
    return i->order == TWI_ORDER_CANONICAL && (i->op == TWI_SUM || i->op == TWI_PROD) &&
           twi_fold_rounds(ir, fold);
}

/* One chain over the elements as they come: neither slots nor lanes hold accumulators of their own.
 */
static bool is_chain(const tw_ir *ir, twi_id fold) {
    const twi_ins *i = twi_ins_of(ir, fold);
    if (twi_monoid_of(i->op)->order_free)
        return false;
    return i->order == TWI_ORDER_LEFT || (i->order == TWI_ORDER_CANONICAL && i->op == TWI_DOT);
}

/* Digits of a folded axis that have accumulators of their own. */
static uint8_t own_accumulators(const twi_lowering *w, twi_id fold, unsigned axis) {
    const twi_map *m = twi_w_map(w, axis);
    bool one = is_chain(w->ir, fold) || twi_fold_streams(w->ir, w->frame, fold);
    uint8_t slots = one ? 0 : twi_level_digits(m, TWI_LV_SLOT);
    for (unsigned d = 0; d < m->n; d++)
        if (twi_is_canonical_row(w->ir, fold) && twi_map_weight(m, d) >= 256)
            slots &= (uint8_t) ~(1u << d);
    return slots;
}

void twi_fold_plan(twi_lowering *w, twi_id id, const twi_axis_digit *loops, unsigned n,
                   twi_fold *f) {
    const twi_ins *i = twi_ins_of(w->ir, id);
    memset(f, 0, sizeof *f);
    f->id = id;
    f->own = i->type.axes;
    f->states = twi_monoid_of(i->op)->states;
    for (unsigned k = 0; k < i->nfold; k++)
        f->folded |= 1ull << i->fold[k];
    f->streams = twi_fold_streams(w->ir, w->frame, id);
    f->even = twi_is_merged(w->ir, id) && twi_merged_even(w, f);
    f->weight = twi_folds_by_weight(w->ir, w->plan, id);
    f->first_loop = f->chunk_loop = -1;
    for (unsigned k = 0; k < n; k++) {
        if (!((f->own | f->folded) >> loops[k].axis & 1))
            continue;
        f->level = (int)k + 1;
        if (!(f->folded >> loops[k].axis & 1))
            continue;
        bool chunk = twi_is_canonical_row(w->ir, id) && !f->streams &&
                     twi_map_weight(twi_w_map(w, loops[k].axis), loops[k].digit) >= 2048;
        if (chunk || (f->weight && f->chunk_loop < 0))
            f->chunk_loop = (int)k;
        else if (f->weight)
            continue;
        else if (f->first_loop < 0)
            f->first_loop = (int)k;
    }
    for (unsigned a = 0; a < w->ir->axis.n; a++) {
        if (f->folded >> a & 1)
            f->inner[a] = own_accumulators(w, id, a);
        else if (f->own >> a & 1)
            f->inner[a] = f->chunk_inner[a] = twi_level_digits(twi_w_map(w, a), TWI_LV_SLOT);
    }
    int from = f->first_loop >= 0 ? f->first_loop : f->level;
    for (unsigned k = 0; k < n; k++) {
        uint8_t bit = (uint8_t)(1u << loops[k].digit);
        if ((int)k > from && f->own >> loops[k].axis & 1)
            f->inner[loops[k].axis] |= bit;
        if ((int)k > f->chunk_loop && f->own >> loops[k].axis & 1)
            f->chunk_inner[loops[k].axis] |= bit;
    }
    twi_held_plan(w, loops, n, f);
}

/* The oracle bounds its result, so that -0 equals +0. */
static bool is_bounded(const twi_ins *i) {
    return i->order == TWI_ORDER_FREE || i->order == TWI_ORDER_TREE;
}

/* ---- states
 * ----------------------------------------------------------------------------------------- */
twi_state twi_state_identity(twi_lowering *w, const twi_fold *f, unsigned count) {
    if (twi_is_merged(w->ir, f->id)) {
        twi_state m = twi_merged_identity(w, f);
        for (unsigned k = 0; k < f->states; k++)
            m.v[k] = twi_w_splat(w, m.v[k], count);
        return m;
    }
    if (twi_is_argfold(w->ir, f->id))
        return twi_arg_identity(w, f, count);
    const twi_ins *i = fold_ins(w, f);
    tw_elem elem = (tw_elem)twi_ins_of(w->ir, twi_arg(w->ir, f->id, 0))->type.elem;
    unsigned identity = twi_monoid_of(i->op)->identity;
    if (identity == TWI_ID_NEG_ZERO && (is_bounded(i) || !twi_is_float(elem)))
        identity = TWI_ID_ZERO; /* free sums: -0 equals +0, and an empty one needs no correction */
    if (i->op == TWI_DOT)
        identity = TWI_ID_ZERO;
    uint64_t bits = twi_identity_bits((twi_identity)identity, elem);
    unsigned flag = multiplies(i) ? 0 : TWI_FLAG_IDENTITY;
    return (twi_state){{twi_w_splat(w, twi_w_const(w, elem, bits, flag), count), 0, 0}};
}

twi_state twi_state_combine(twi_lowering *w, const twi_fold *f, twi_state a, twi_state b) {
    const twi_ins *i = fold_ins(w, f);
    twi_state r = {{0, 0, 0}};
    if (twi_is_merged(w->ir, f->id))
        return twi_merged_combine(w, f, a, b);
    if (twi_is_argfold(w->ir, f->id))
        return twi_arg_combine(w, f, a, b);
    w->c.fold = f->id;
    unsigned merge = i->op == TWI_DOT ? TWI_ADD : twi_monoid_of(i->op)->merge;
    r.v[0] = twi_w_op(w, merge, a.v[0], b.v[0], 0);
    w->c.fold = 0;
    return r;
}

/* ---- accumulators
 * ------------------------------------------------------------------------------------ */
unsigned twi_fold_index(twi_lowering *w, const twi_fold *f, twi_lid *index) {
    unsigned rank = 0;
    for (unsigned a = 0; a < w->ir->axis.n; a++)
        if (f->inner[a] && twi_digits_extent(twi_w_map(w, a), f->inner[a]) > 1)
            index[rank++] = twi_w_number(w, a, f->inner[a]);
    return rank;
}

/* more: extent of a dimension at the end; 0: none. */
twi_object twi_fold_shape(twi_lowering *w, const twi_fold *f, tw_elem elem, int64_t more) {
    twi_object o = {.kind = TWI_OBJ_PRIVATE, .elem = (uint8_t)elem, .name = fold_ins(w, f)->name};
    o.count = (uint16_t)twi_w_value_count(w, f->own | f->folded);
    int64_t elements = more ? more : 1;
    for (unsigned a = 0; a < w->ir->axis.n; a++) {
        int64_t e = f->inner[a] ? twi_digits_extent(twi_w_map(w, a), f->inner[a]) : 1;
        if (e > 1)
            o.extent[o.rank++] = e;
        elements *= e;
    }
    if (more)
        o.extent[o.rank++] = more;
    if (w->vectors && elements * o.count * (int64_t)tw_elem_size(elem) > 8192)
        o.kind = TWI_OBJ_SCRATCH;
    return o;
}

static void acc_object(twi_lowering *w, twi_fold *f, unsigned state, tw_elem elem) {
    twi_object o = twi_fold_shape(w, f, elem, 0);
    if (state == 2 && f->even)
        o.count = 1;
    f->acc[state] = twi_lb_object(&w->c, &o);
}

void twi_fold_acc(twi_lowering *w, twi_fold *f) {
    tw_elem elem = (tw_elem)twi_ins_of(w->ir, twi_arg(w->ir, f->id, 0))->type.elem;
    const bool arg = twi_is_argfold(w->ir, f->id);
    for (unsigned k = 0; k < f->states; k++)
        if (!f->acc[k])
            acc_object(w, f, k, arg ? twi_arg_elem(w, f, k) : elem);
}

/* Opens the digits that tell accumulators apart, those of `axes`; loops stay loops. */
void twi_fold_open(twi_lowering *w, const twi_fold *f, uint64_t axes) {
    for (unsigned a = 0; a < w->ir->axis.n; a++)
        for (unsigned d = 0; d < twi_w_map(w, a)->n; d++)
            if (axes >> a & 1 && f->inner[a] >> d & 1)
                twi_w_open(w, a, d);
}

twi_state twi_fold_get(twi_lowering *w, const twi_fold *f) {
    twi_lid index[TWI_MAX_RANK];
    twi_state s = {{0, 0, 0}};
    twi_fold_index(w, f, index);
    for (unsigned k = 0; k < f->states; k++) {
        twi_laccess a = {.object = f->acc[k]};
        s.v[k] = twi_w_load(w, a, index, w->c.f->object.at[a.object].count, 0, 0);
    }
    return s;
}

void twi_fold_put(twi_lowering *w, const twi_fold *f, twi_state s) {
    twi_lid index[TWI_MAX_RANK];
    twi_fold_index(w, f, index);
    for (unsigned k = 0; k < f->states; k++) {
        twi_laccess a = {.object = f->acc[k]};
        unsigned count = w->c.f->object.at[a.object].count;
        twi_w_store(w, a, index, twi_w_splat(w, s.v[k], count), 0);
    }
}

/* A dot's start value goes into the chain where there is one chain, else it is added at the end. */
static bool starts_chain(const twi_lowering *w, const twi_fold *f) {
    bool split = twi_fold_carries(f);
    for (unsigned a = 0; a < w->ir->axis.n; a++) {
        if (!(f->folded >> a & 1))
            continue;
        const twi_map *m = twi_w_map(w, a);
        split |= f->inner[a] && twi_digits_extent(m, f->inner[a]) > 1;
        for (unsigned d = 0; d < m->n; d++)
            split |= twi_level_is_space(m->d[d].level) && m->d[d].extent > 1;
    }
    return !split;
}

void twi_fold_init(twi_lowering *w, twi_fold *f) {
    if (f->streams) {
        twi_stream_init(w, f);
        return;
    }
    twi_fold_acc(w, f);
    uint32_t mark = twi_w_scope(w);
    unsigned depth = twi_w_depth(w);
    twi_fold_open(w, f, f->own | f->folded);
    twi_state s = twi_state_identity(w, f, 1);
    if (twi_dot_start(w->ir, f->id) && starts_chain(w, f) && !w->splits.n)
        s.v[0] = twi_w_value(w, twi_dot_start(w->ir, f->id));
    twi_fold_put(w, f, s);
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
}

/* The element that the open digits name, as a state; the identity where it does not exist. */
static twi_state element(twi_lowering *w, const twi_fold *f, twi_lid real) {
    twi_state s = twi_is_argfold(w->ir, f->id)
                      ? twi_arg_element(w, f)
                      : (twi_state){{twi_w_value(w, twi_arg(w->ir, f->id, 0)), 0, 0}};
    const unsigned parts = fold_ins(w, f)->parts;
    for (unsigned k = 1; k < parts; k++)
        s.v[k] = twi_w_value(w, twi_arg(w->ir, f->id, k));
    if (twi_is_merged(w->ir, f->id) && parts < 2)
        s = twi_merged_element(w, f, s.v[0]);
    if (!real)
        return s;
    twi_state id = twi_state_identity(w, f, 1);
    for (unsigned k = 0; k < f->states; k++)
        s.v[k] = twi_w_op(w, TWI_SELECT, real, s.v[k], id.v[k]);
    return s;
}

/* Is it made of boxes? They are whole: beyond the axis both operands are 0 (rules_atom.c). */
static bool has_boxes(const twi_lowering *w, twi_id fold) {
    const twi_place *place = twi_plan_place(w->plan, fold);
    return place && twi_atom_row_of(place->atom)->k > 1;
}

static twi_lid dot_step(twi_lowering *w, const twi_fold *f, twi_lid acc) {
    const twi_place *place = twi_plan_place(w->plan, f->id);
    if (has_boxes(w, f->id)) {
        w->c.fold = f->id;
        twi_lid sum = twi_w_box_dot(w, f->id, acc);
        w->c.fold = 0;
        return sum;
    }
    twi_lid a = twi_w_value(w, twi_arg(w->ir, f->id, 0)),
            b = twi_w_value(w, twi_arg(w->ir, f->id, 1));
    tw_elem elem = (tw_elem)fold_ins(w, f)->type.elem;
    bool chain = is_chain(w->ir, f->id);
    bool fused = twi_is_float(elem) && (chain || !place || place->atom != TWI_ATOM_MULADD);
    twi_lid r;
    if (fused) {
        w->c.fold = f->id;
        r = twi_w_op(w, TWI_FMA, a, b, acc);
    } else {
        twi_lid product = twi_w_op(w, TWI_MUL, a, b, 0);
        w->c.fold = f->id;
        r = twi_w_op(w, TWI_ADD, acc, product, 0);
    }
    w->c.fold = 0;
    return r;
}

/* Stages hold 0 beyond an extent: free products of two such add nothing. */
static bool pads_are_zero(const twi_lowering *w, twi_id dot) {
    const twi_ins *i = twi_ins_of(w->ir, dot);
    for (unsigned k = 0; k < 2; k++) {
        twi_id x = twi_arg(w->ir, dot, k);
        if (twi_ins_of(w->ir, x)->op != TWI_LOAD || twi_ins_of(w->ir, x)->nargs ||
            twi_w_stage_of(w, x) < 0)
            return false;
    }
    return i->order == TWI_ORDER_FREE;
}

void twi_fold_update(twi_lowering *w, const twi_fold *f) {
    twi_mask mask = {0, 0, 0};
    twi_w_guard(w, has_boxes(w, f->id) ? 0 : f->folded, &mask);
    unsigned count = twi_w_value_count(w, f->own | f->folded);
    twi_lid real = twi_mask_bool(w, &mask, mask.count ? count : 1);
    if (f->streams) {
        twi_stream_update(w, f, element(w, f, real).v[0], real);
        return;
    }
    const twi_fold *at = f->held ? f->held : f;
    twi_state acc = twi_fold_get(w, at);
    if (multiplies(fold_ins(w, f))) {
        twi_state r = {{dot_step(w, f, acc.v[0]), 0, 0}};
        if (real && !pads_are_zero(w, f->id))
            r.v[0] = twi_w_op(w, TWI_SELECT, real, r.v[0], acc.v[0]);
        twi_fold_put(w, at, r);
        return;
    }
    twi_state s = element(w, f, real);
    const bool arg = twi_is_argfold(w->ir, f->id);
    twi_fold_put(w, at, arg ? twi_arg_update(w, f, acc, s) : twi_state_combine(w, f, acc, s));
}

/* ---- finishing
 * --------------------------------------------------------------------------------------- */
twi_state twi_state_lanes(twi_lowering *w, const twi_fold *f, twi_state s, const twi_digit *d) {
    unsigned log_stride = 0, log_extent = 0;
    while (1u << log_stride < (w->vectors ? 1u : d->stride))
        log_stride++;
    while (1ll << log_extent < d->extent)
        log_extent++;
    if (log_extent == 0)
        return s;
    if (f->states == 1) {
        const twi_ins *i = fold_ins(w, f);
        w->c.fold = f->id;
        s.v[0] = twi_w_lane_fold(w, i->op == TWI_DOT ? TWI_ADD : twi_monoid_of(i->op)->merge,
                                 s.v[0], log_stride, log_extent);
        w->c.fold = 0;
        return s;
    }
    for (unsigned k = 0; k < log_extent; k++) {
        twi_state o = s; /* even: the other lane has the same count */
        for (unsigned i = 0; i < (f->even ? 2 : f->states); i++)
            o.v[i] = twi_w_lane_xor(w, s.v[i], 1u << (log_stride + k));
        s = twi_state_combine(w, f, s, o);
    }
    for (unsigned k = 0; w->vectors && k < f->states; k++)
        if (twi_w_count(w, s.v[k]) > 1)
            s.v[k] = twi_lb_extract(&w->c, s.v[k], 0);
    return s;
}

typedef struct {
    unsigned axis, digit;
    int64_t weight;
} part_digit;

/* Folded slot and lane digits in the order in which they combine: slots, then lanes; canonical and
 * by weight: as they weigh, row-major over the bracket. */
static unsigned part_digits(const twi_lowering *w, const twi_fold *f, part_digit *out) {
    bool weight = twi_is_canonical_row(w->ir, f->id) || f->weight;
    unsigned n = 0;
    for (int level = TWI_LV_SLOT; level >= TWI_LV_LANE; level -= TWI_LV_SLOT - TWI_LV_LANE) {
        for (unsigned a = w->ir->axis.n; a-- > 0;) {
            const twi_map *m = twi_w_map(w, a);
            for (unsigned d = m->n; (f->folded >> a & 1) && d-- > 0;) {
                if (m->d[d].level != level || m->d[d].extent == 1 ||
                    (level == TWI_LV_SLOT && !(f->inner[a] >> d & 1)))
                    continue;
                part_digit p = {a, d, twi_row_major_weight(fold_ins(w, f), a, m, d)};
                unsigned at = n++;
                for (; weight && at > 0 && out[at - 1].weight > p.weight; at--)
                    out[at] = out[at - 1];
                out[at] = p;
            }
        }
    }
    return n;
}

/* Folds digit k of the part digits and those before it; slots above k hold the values in w->digit.
 */
static twi_state combine_parts(twi_lowering *w, const twi_fold *f, const part_digit *p,
                               unsigned n) {
    if (n == 0)
        return twi_fold_get(w, f);
    const part_digit *last = &p[n - 1];
    const twi_digit *d = &twi_w_map(w, last->axis)->d[last->digit];
    if (d->level == TWI_LV_LANE)
        return twi_state_lanes(w, f, combine_parts(w, f, p, n - 1), d);
    twi_state *s = TWI_NEW_N(w->arena, twi_state, (size_t)d->extent);
    for (int64_t k = 0; k < d->extent; k++) {
        w->digit[last->axis][last->digit] = twi_w_int(w, k);
        s[k] = combine_parts(w, f, p, n - 1);
    }
    for (int64_t e = d->extent; e > 1; e = (e + 1) / 2)
        for (int64_t k = 0; k < e / 2 + e % 2; k++)
            s[k] = 2 * k + 1 < e ? twi_state_combine(w, f, s[2 * k], s[2 * k + 1]) : s[2 * k];
    return s[0];
}

/* What comes after the tree: a start value not yet in it, and +0 for an empty sum that began at -0.
 */
static twi_state complete(twi_lowering *w, const twi_fold *f, twi_state s) {
    const twi_ins *i = fold_ins(w, f);
    if (twi_dot_start(w->ir, f->id) && !starts_chain(w, f)) {
        twi_state start = {{twi_w_value(w, twi_dot_start(w->ir, f->id)), 0, 0}};
        s = twi_state_combine(w, f, start, s);
    }
    if (i->op != TWI_SUM || is_bounded(i) || !twi_is_float((tw_elem)i->type.elem))
        return s;
    for (unsigned k = 0; k < i->nfold; k++) {
        if (twi_axis_extent(w->ir, i->fold[k]) > 0)
            continue;
        twi_lid empty = twi_w_ix(w, TWI_LE, twi_w_hi(w, i->fold[k]), twi_w_lo(w, i->fold[k]));
        s.v[0] =
            twi_w_op(w, TWI_SELECT, empty, twi_w_const(w, (tw_elem)i->type.elem, 0, 0), s.v[0]);
    }
    return s;
}

/* x is the value of the fold, or of a part of it, at the open digits. */
static void settle(twi_lowering *w, const twi_fold *f, twi_id id, twi_lid x, bool at_top) {
    twi_home *h = &w->home[id];
    h->frame = (uint8_t)w->frame_id;
    twi_w_make_carrier(w, id);
    twi_w_carry(w, id, x);
    if (at_top && !h->object && twi_w_stripe_index(w, f->own, NULL) == 0) {
        h->kind = TWI_HOME_SSA;
        h->ssa = x;
        twi_sym name = twi_ins_of(w->ir, id)->name;
        if (name && !twi_lins_of(w->c.f, x)->name)
            twi_lins_of(w->c.f, x)->name = name;
        return;
    }
    if (!h->object)
        h->object = twi_w_stripe(w, id, (tw_elem)twi_ins_of(w->ir, id)->type.elem, f->own);
    h->kind = TWI_HOME_STRIPE;
    twi_w_stripe_store(w, h->object, f->own, x);
}

void twi_fold_settle(twi_lowering *w, const twi_fold *f, twi_state s, bool at_top) {
    if (w->splits.n) { /* a partial result: the second launch completes it */
        twi_split_store(w, f, s);
        return;
    }
    if (twi_is_merged(w->ir, f->id)) {
        s = twi_merged_done(w, f, s);
        settle(w, f, f->id, s.v[0], at_top);
        for (uint32_t k = 0; k < w->cut.all.n; k++) {
            twi_id v = w->cut.all.at[k];
            const twi_ins *i = twi_ins_of(w->ir, v);
            if (i->op == TWI_PART && twi_arg(w->ir, v, 0) == f->id)
                settle(w, f, v, s.v[i->attr], at_top);
        }
        return;
    }
    const bool arg = twi_is_argfold(w->ir, f->id);
    settle(w, f, f->id, arg ? twi_arg_done(w, f, s) : complete(w, f, s).v[0], at_top);
}

int64_t twi_fold_subs(const twi_lowering *w, const twi_fold *f) {
    int64_t n = 1;
    for (unsigned a = 0; a < w->ir->axis.n; a++)
        if (f->folded >> a & 1)
            n *= twi_map_level_extent(twi_w_map(w, a), TWI_LV_SUB);
    return n;
}

static void chunk_store(twi_lowering *w, twi_fold *f, twi_state s) {
    unsigned axis = fold_ins(w, f)->fold[0];
    twi_lid index[TWI_MAX_RANK];
    unsigned rank = twi_w_stripe_index(w, f->own, index);
    if (!f->chunks) { /* like a stripe of the fold, with a dimension for the chunks */
        twi_object o = twi_w_stripe_shape(w, f->id, (tw_elem)fold_ins(w, f)->type.elem, f->own);
        o.extent[o.rank++] = twi_w_map(w, axis)->d[0].extent;
        f->chunks = twi_lb_object(&w->c, &o);
    }
    index[rank] = w->digit[axis][0];
    twi_laccess a = {.object = f->chunks};
    twi_w_store(w, a, index, s.v[0], 0);
}

void twi_fold_finish(twi_lowering *w, twi_fold *f, bool at_top) {
    if (f->streams) {
        twi_stream_finish(w, f, at_top);
        return;
    }
    part_digit parts[16];
    unsigned n = part_digits(w, f, parts);
    uint32_t mark = twi_w_scope(w);
    unsigned depth = twi_w_depth(w);
    bool subs = twi_fold_subs(w, f) > 1;
    if (subs && !f->part[0])
        for (unsigned k = 0; k < f->states; k++)
            f->part[k] = twi_w_stripe(w, f->id, (tw_elem)w->c.f->object.at[f->acc[k]].elem, f->own);
    twi_fold_open(w, f, f->own);
    twi_state s = combine_parts(w, f, parts, n);
    if (subs) {
        for (unsigned k = 0; k < f->states; k++)
            twi_w_stripe_store(w, f->part[k], f->own, s.v[k]);
    } else if (twi_fold_carries(f)) {
        twi_carry_add(w, f, s);
    } else if (f->chunk_loop >= 0) {
        chunk_store(w, f, s);
    } else {
        twi_fold_settle(w, f, s, at_top && w->c.open.n == depth);
    }
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
}
