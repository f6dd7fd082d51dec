/* SPDX-License-Identifier: Apache-2.0
 * Folds over subgroups: leaders write their partial results to shared memory, one barrier, every
 * worker folds them in order. More than 8 are halved first, round by round, a barrier each, until
 * one is left. All folds of a phase share the barriers.
 */
#include "lower/walk.h"

typedef struct {
    uint32_t object[TWI_STATES];
    unsigned rank; /* of the index without the dimension of the folded subgroups */
    int64_t subs;
    bool tree, first; /* first: that dimension comes first, not last */
} board;

/* Index of a partial result: the number of the own time digits, then that of the own lanes and
 * subgroups, so that neighbours write and read other banks. */
unsigned twi_w_board_index(twi_lowering *w, uint64_t own, twi_lid *index, int64_t *extent) {
    unsigned rank = 0;
    int64_t workers, time = 1;
    twi_lid times = twi_w_int(w, 0);
    for (unsigned a = 0; a < w->ir->axis.n; a++) {
        if (!(own >> a & 1))
            continue;
        const uint8_t digits = twi_time_digits(w->ir, w->frame, a);
        const int64_t n = twi_digits_extent(twi_w_map(w, a), digits);
        if (n == 1)
            continue;
        time *= n;
        if (index)
            times = twi_w_ix(w, TWI_ADD, twi_w_ix(w, TWI_MUL, times, twi_w_int(w, n)),
                             twi_w_number(w, a, digits));
    }
    const twi_lid worker = twi_w_workers_number(w, own, &workers);
    const int64_t extents[2] = {time, workers};
    const twi_lid numbers[2] = {times, worker};
    for (unsigned k = 0; k < 2; k++) {
        if (extents[k] == 1)
            continue;
        if (index)
            index[rank] = numbers[k];
        if (extent)
            extent[rank] = extents[k];
        rank++;
    }
    return rank;
}

/* The whole index, by the number of a folded subgroup: slowest where workers have results of their
 * own. */
static void place(twi_lowering *w, const twi_fold *f, const board *b, twi_lid sub, twi_lid *index) {
    twi_w_board_index(w, f->own, index + (b->first ? 1 : 0), NULL);
    index[b->first ? 0 : b->rank] = sub;
}

static void make_board(twi_lowering *w, const twi_fold *f, board *b) {
    b->subs = twi_fold_subs(w, f);
    b->tree = twi_fold_subs_in_tree(w->ir, w->frame, f->id);
    int64_t workers;
    (void)twi_w_workers_number(w, f->own, &workers);
    b->first = workers > 1;
    for (unsigned k = 0; k < f->states; k++) {
        twi_object o = {
            .kind = TWI_OBJ_SHARED, .count = 1, .elem = w->c.f->object.at[f->part[k]].elem};
        o.name = twi_ins_of(w->ir, f->id)->name;
        b->rank = twi_w_board_index(w, f->own, NULL, o.extent + (b->first ? 1 : 0));
        o.extent[b->first ? 0 : b->rank] = b->subs;
        o.rank = (uint8_t)(b->rank + 1);
        b->object[k] = twi_lb_object(&w->c, &o);
    }
}

/* Number of this worker's subgroup among those folded. */
static twi_lid folded_sub(twi_lowering *w, const twi_fold *f) {
    twi_lid n = twi_w_int(w, 0);
    for (unsigned a = 0; a < w->ir->axis.n; a++) {
        if (!(f->folded >> a & 1))
            continue;
        uint8_t subs = twi_level_digits(twi_w_map(w, a), TWI_LV_SUB);
        n = twi_w_ix(w, TWI_MUL, n, twi_w_int(w, twi_digits_extent(twi_w_map(w, a), subs)));
        n = twi_w_ix(w, TWI_ADD, n, twi_w_number(w, a, subs));
    }
    return n;
}

static void open_own_time(twi_lowering *w, const twi_fold *f) {
    for (unsigned a = 0; a < w->ir->axis.n; a++)
        for (unsigned d = 0; d < twi_w_map(w, a)->n; d++)
            if (f->own >> a & 1 && twi_time_digits(w->ir, w->frame, a) >> d & 1)
                twi_w_open(w, a, d);
}

/* One worker writes each: the one at 0 of every digit that neither the own axes nor the folded
 * subgroups have (folded lanes hold the same by now), the lowest where parts of the ids are not
 * used at all. */
twi_mask twi_w_board_writers(twi_lowering *w, uint64_t own, uint64_t folded) {
    twi_mask lead = {0, 0, 0};
    twi_w_lead_level(w, TWI_LV_SUB, w->subs, own | folded, &lead);
    twi_w_lead_level(w, TWI_LV_LANE, w->lanes, own, &lead);
    return lead;
}

static void write_partials(twi_lowering *w, const twi_fold *f, const board *b) {
    unsigned depth = twi_w_depth(w);
    open_own_time(w, f);
    twi_mask lead = twi_w_board_writers(w, f->own, f->folded);
    twi_lid index[TWI_MAX_RANK];
    place(w, f, b, folded_sub(w, f), index);
    for (unsigned k = 0; k < f->states; k++) {
        twi_laccess a = {.object = b->object[k],
                         .mask = lead.scalar ? TWI_MASK_BOOL : TWI_MASK_NONE};
        twi_w_store(w, a, index, twi_w_stripe_load(w, f->part[k], f->own), lead.scalar);
    }
    twi_w_shut(w, depth);
}

/* One round: the leader of every second one of those left takes its neighbour's in. */
static void halve_partials(twi_lowering *w, const twi_fold *f, const board *b, int64_t step) {
    unsigned depth = twi_w_depth(w);
    uint32_t mark = twi_w_scope(w);
    open_own_time(w, f);
    twi_mask lead = twi_w_board_writers(w, f->own, f->folded);
    twi_lid j = folded_sub(w, f), index[2][TWI_MAX_RANK];
    twi_mask_and(
        w, &lead,
        twi_w_ix(w, TWI_EQ, twi_w_ix(w, TWI_IMOD, j, twi_w_int(w, 2 * step)), twi_w_int(w, 0)));
    place(w, f, b, j, index[0]);
    place(w, f, b, twi_w_ix(w, TWI_ADD, j, twi_w_int(w, step)), index[1]);
    twi_state s[2];
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < f->states; k++) {
            twi_laccess a = {.object = b->object[k], .mask = TWI_MASK_BOOL};
            s[i].v[k] = twi_w_load(w, a, index[i], 1, lead.scalar, 0);
        }
    s[0] = twi_state_combine(w, f, s[0], s[1]);
    for (unsigned k = 0; k < f->states; k++) {
        twi_laccess a = {.object = b->object[k], .mask = TWI_MASK_BOOL};
        twi_w_store(w, a, index[0], s[0].v[k], lead.scalar);
    }
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
}

static void halve_all(twi_lowering *w, const twi_fold *folds, const board *boards, unsigned n,
                      uint64_t effects) {
    int64_t most = 1;
    for (unsigned k = 0; k < n; k++)
        if (boards[k].tree && boards[k].subs > most)
            most = boards[k].subs;
    for (int64_t step = 1; step < most; step *= 2) {
        twi_w_event(w, effects, effects);
        for (unsigned k = 0; k < n; k++)
            if (boards[k].tree && step < boards[k].subs)
                halve_partials(w, &folds[k], &boards[k], step);
    }
}

static void read_partials(twi_lowering *w, const twi_fold *f, const board *b, bool at_top) {
    unsigned depth = twi_w_depth(w);
    uint32_t mark = twi_w_scope(w);
    open_own_time(w, f);
    twi_lid index[TWI_MAX_RANK];
    const int64_t left = b->tree ? 1 : b->subs;
    twi_state *s = TWI_NEW_N(w->arena, twi_state, (size_t)left);
    for (int64_t j = 0; j < left; j++) {
        place(w, f, b, twi_w_int(w, j), index);
        for (unsigned k = 0; k < f->states; k++) {
            twi_laccess a = {.object = b->object[k]};
            s[j].v[k] = twi_w_load(w, a, index, 1, 0, 0);
        }
    }
    if (twi_is_canonical_row(w->ir, f->id)) { /* pairwise */
        for (int64_t e = left; e > 1; e = (e + 1) / 2)
            for (int64_t k = 0; k < (e + 1) / 2; k++)
                s[k] = 2 * k + 1 < e ? twi_state_combine(w, f, s[2 * k], s[2 * k + 1]) : s[2 * k];
    } else {
        for (int64_t j = 1; j < left; j++)
            s[0] = twi_state_combine(w, f, s[0], s[j]);
    }
    if (twi_fold_carries(f))
        twi_carry_add(w, f, s[0]);
    else
        twi_fold_settle(w, f, s[0], at_top && w->c.open.n == depth);
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
}

static bool collected_at(const twi_lowering *w, const twi_fold *f, int level) {
    return twi_fold_subs(w, f) > 1 && (twi_fold_carries(f) ? f->level == level : level < 0);
}

void twi_fold_collect(twi_lowering *w, twi_fold *folds, unsigned n, int level) {
    board boards[64] = {0};
    uint64_t effects = 0;
    unsigned with_subs = 0;
    for (unsigned k = 0; k < n && k < 64; k++) {
        if (!collected_at(w, &folds[k], level))
            continue;
        make_board(w, &folds[k], &boards[k]);
        effects |= twi_w_effect(w);
        with_subs++;
    }
    if (!with_subs)
        return;
    twi_w_event(w, 0, effects);
    for (unsigned k = 0; k < n; k++)
        if (collected_at(w, &folds[k], level))
            write_partials(w, &folds[k], &boards[k]);
    halve_all(w, folds, boards, n < 64 ? n : 64, effects);
    twi_w_event(w, effects, 0);
    for (unsigned k = 0; k < n; k++)
        if (collected_at(w, &folds[k], level))
            read_partials(w, &folds[k], &boards[k], level < 0);
}
