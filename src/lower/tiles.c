/* SPDX-License-Identifier: Apache-2.0
 * Around the phases of a scope: loops over the instances that a group works off one after the
 * other, stages that outlive the inner ones of these, and bodies where tiles may be ragged: one
 * without guards where all positions of the tile are real, one for each last tile, which does what
 * is real there and no more; where the end is not known, more than two axes are ragged, or an empty
 * tile has a result too, one with guards for all the rest.
 */
#include "lower/walk.h"

static void phases(twi_lowering *w) {
    if (w->splits.n)
        twi_w_phase(w, w->cut.scope, 0);
    else
        twi_w_region(w, w->cut.scope);
}

/* Is the tile of axis a full or not for a whole body: are its digits open, but for slots and the
 * lanes of a vector? */
static bool decided(const twi_lowering *w, unsigned a) {
    const twi_map *m = twi_w_map(w, a);
    bool open = false, closed = false;
    for (unsigned d = 0; d < m->n; d++) {
        bool outside = m->d[d].level == TWI_LV_GRID || twi_frame_is_around(w->frame, a, d);
        bool inside = m->d[d].level == TWI_LV_SLOT || m->d[d].level == TWI_LV_LANE;
        if (m->d[d].extent == 1)
            continue;
        if ((!outside && !inside) || (outside && closed))
            return false;
        open = open || outside;
        closed = closed || inside;
    }
    return open;
}

/* Positions of a tile. */
static int64_t tile_extent(const twi_lowering *w, unsigned a) {
    const twi_map *m = twi_w_map(w, a);
    return twi_map_level_extent(m, TWI_LV_SLOT) * twi_map_level_extent(m, TWI_LV_LANE);
}

/* Two bodies are worth it around loops: what runs once tests as much as it saves. */
static uint64_t ragged_axes(const twi_lowering *w) {
    uint64_t axes = 0;
    if (!w->vectors || w->frame->loops <= w->frame->around || w->plan->frames > 1)
        return 0;
    for (unsigned a = 1; a < w->ir->axis.n; a++)
        if (w->frame->axes >> a & 1 && w->ir->axis.at[a].kind != TWI_AXIS_STEP &&
            twi_w_guarded(w, a) && decided(w, a))
            axes |= UINT64_C(1) << a;
    return axes;
}

/* Positions of the one tile of axis a that is neither full nor empty; -1: not known. */
static int64_t rest_of(const twi_lowering *w, unsigned a) {
    const int64_t extent = twi_axis_extent(w->ir, a);
    int64_t lo;
    const bool known = extent >= 0 && twi_ix_is_const(w->ir, w->ir->axis.at[a].lo, &lo);
    return known ? extent % tile_extent(w, a) : -1;
}

/* Is the axis one of elements that some fold or scan takes in? It counts on all of its slots. */
static bool is_consumed(const twi_lowering *w, unsigned a) {
    for (uint32_t k = 0; k < w->cut.all.n; k++) {
        const twi_ins *i = twi_ins_of(w->ir, w->cut.all.at[k]);
        for (unsigned f = 0; f < i->nfold; f++)
            if (i->fold[f] == a)
                return true;
    }
    return false;
}

/* Does the map have tiles without any position that is real? */
static bool has_empty_tiles(const twi_lowering *w, unsigned a) {
    return twi_map_extent(twi_w_map(w, a)) - twi_axis_extent(w->ir, a) >= tile_extent(w, a);
}

/* Which of the axes have a tile that is real in part; false: it is not known, or of more than two
 * axes, whose last tiles together would be too many bodies, or empty tiles have results as well:
 * what a fold makes of nothing. */
static bool find_rests(const twi_lowering *w, uint64_t axes, uint64_t *set) {
    unsigned n = 0;
    *set = 0;
    for (unsigned a = 1; a < w->ir->axis.n; a++) {
        if (!(axes >> a & 1))
            continue;
        if (rest_of(w, a) < 0 || ++n > 2 || (is_consumed(w, a) && has_empty_tiles(w, a)))
            return false;
        *set |= rest_of(w, a) ? UINT64_C(1) << a : 0;
    }
    return true;
}

/* Are the open tiles of `last` the last ones, and those of the other axes full? */
static twi_lid are_tiles(twi_lowering *w, uint64_t axes, uint64_t last) {
    twi_lid all = 0;
    for (unsigned a = 1; a < w->ir->axis.n; a++) {
        if (!(axes >> a & 1))
            continue;
        const bool ends = last >> a & 1;
        const int64_t size = ends ? rest_of(w, a) : tile_extent(w, a);
        twi_lid first = twi_w_position_from(w, a, tile_extent(w, a));
        twi_lid most = twi_w_ix(w, TWI_SUB, twi_w_hi(w, a), twi_w_int(w, size));
        twi_lid is = twi_w_ix(w, ends ? TWI_EQ : TWI_LE, first, most);
        all = all ? twi_w_ix(w, TWI_AND, all, is) : is;
    }
    return all;
}

/* The digits that lead to the last tile of axis a become numbers. Where slots end with what is
 * real, they need no guard. */
static void enter_last(twi_lowering *w, unsigned a) {
    const twi_map *m = twi_w_map(w, a);
    const int64_t rest = rest_of(w, a), start = twi_axis_extent(w->ir, a) - rest;
    const int64_t lanes = twi_map_level_extent(m, TWI_LV_LANE);
    unsigned slots = 0;
    bool outside_lanes = false;
    for (unsigned d = 0; d < m->n; d++) {
        const int64_t weight = twi_map_weight(m, d);
        if (m->d[d].level == TWI_LV_GRID || m->d[d].level == TWI_LV_LOOP)
            w->digit[a][d] = twi_w_int(w, start / weight % m->d[d].extent);
        if (m->d[d].level != TWI_LV_SLOT || m->d[d].extent == 1)
            continue;
        slots++;
        outside_lanes = weight == lanes;
    }
    if (slots != 1 || !outside_lanes || is_consumed(w, a))
        return;
    w->slots[a] = (uint32_t)((rest + lanes - 1) / lanes);
    if (rest % lanes == 0)
        w->full |= UINT64_C(1) << a;
}

/* What is done with tiles for which `when` holds. */
static void body(twi_lowering *w, twi_lid when, uint64_t full, uint64_t last) {
    const size_t digits = TWI_MAX_AXES * sizeof *w->digit;
    twi_home *home = twi_copy(w->arena, w->home, w->ir->ins.n * sizeof *w->home);
    twi_lid(*digit)[TWI_MAX_DIGITS] = twi_copy(w->arena, w->digit, digits);
    twi_features *tally = w->tally;
    const uint32_t mark = twi_w_scope(w);
    const unsigned depth = twi_w_depth(w);
    if (full && !last) {
        twi_w_if(w, when);
    } else { /* the full tile beside it stands for it */
        twi_w_if_edge(w, when);
        w->tally = NULL;
    }
    w->full = full;
    for (unsigned a = 1; a < w->ir->axis.n; a++)
        if (last >> a & 1)
            enter_last(w, a);
    phases(w);
    w->full = 0;
    memset(w->slots, 0, sizeof w->slots);
    w->tally = tally;
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
    twi_w_enter(w, 0);
    memcpy(w->digit, digit, digits);
    memcpy(w->home, home, w->ir->ins.n * sizeof *w->home);
}

static void bodies(twi_lowering *w) {
    const uint64_t axes = ragged_axes(w);
    uint64_t rests;
    if (!axes) {
        phases(w);
        return;
    }
    twi_lid full = are_tiles(w, axes, 0);
    body(w, full, axes, 0);
    if (!find_rests(w, axes, &rests)) {
        body(w, twi_w_ix(w, TWI_NOT, full, 0), 0, 0);
        return;
    }
    for (uint64_t last = rests; last; last = (last - 1) & rests) /* each set of them */
        body(w, are_tiles(w, axes, last), axes & ~last, last);
}

/* Stages that lack no more of the loops around than the first `level`, each in its frame: of plans
 * with such loops there is one. */
static void fill(twi_lowering *w, unsigned level) {
    for (unsigned f = 0; f < w->plan->frames; f++) {
        uint64_t mine = 0;
        twi_w_enter(w, f);
        for (unsigned s = 0; s < w->plan->stages; s++)
            if (twi_frame_of(w, w->plan->stage[s].value) == f && twi_w_stage_around(w, s) &&
                twi_w_stage_level(w, s, w->frame->order, w->frame->around) == (int)level)
                mine |= UINT64_C(1) << s;
        twi_w_window_begin(w, mine);
    }
    twi_w_enter(w, 0);
}

static void around(twi_lowering *w, unsigned level) {
    fill(w, level);
    if (level == w->frame->around) {
        bodies(w);
        return;
    }
    uint32_t mark = twi_w_scope(w);
    unsigned depth = twi_w_depth(w);
    twi_home *before = twi_copy(w->arena, w->home, w->ir->ins.n * sizeof *w->home);
    twi_w_open(w, w->frame->order[level].axis, w->frame->order[level].digit);
    twi_w_event_loop(w, true);
    around(w, level + 1);
    twi_w_event_loop(w, false);
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
    memcpy(w->home, before, w->ir->ins.n * sizeof *w->home);
}

void twi_w_tiles(twi_lowering *w) {
    twi_w_enter(w, 0);
    around(w, 0);
}
