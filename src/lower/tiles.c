/* SPDX-License-Identifier: Apache-2.0
 * Around the phases of a scope: loops over the instances that a group works off one after the
 * other, stages that outlive the inner ones of these, and two bodies where tiles may be ragged: one
 * without guards where all positions of the tile are real, one with them for the rest.
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

static void bodies(twi_lowering *w) {
    const uint64_t axes = ragged_axes(w);
    twi_lid full = 0;
    for (unsigned a = 1; a < w->ir->axis.n; a++) {
        if (!(axes >> a & 1))
            continue;
        twi_lid last = twi_w_ix(w, TWI_SUB, twi_w_hi(w, a), twi_w_int(w, tile_extent(w, a)));
        twi_lid fits = twi_w_ix(w, TWI_LE, twi_w_position_from(w, a, tile_extent(w, a)), last);
        full = full ? twi_w_ix(w, TWI_AND, full, fits) : fits;
    }
    if (!full) {
        phases(w);
        return;
    }
    twi_lid ragged = twi_w_ix(w, TWI_NOT, full, 0);
    twi_home *before = twi_copy(w->arena, w->home, w->ir->ins.n * sizeof *w->home);
    twi_features *tally = w->tally;
    uint32_t mark = twi_w_scope(w);
    unsigned depth = twi_w_depth(w);
    twi_w_if(w, full);
    w->full = axes;
    phases(w);
    w->full = 0;
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
    memcpy(w->home, before, w->ir->ins.n * sizeof *w->home);
    twi_w_if_edge(w, ragged);
    w->tally = NULL;
    phases(w);
    w->tally = tally;
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
}

/* Stages that lack no more of the loops around than the first `level`. */
static void fill(twi_lowering *w, unsigned level) {
    uint64_t effects = 0, mine = 0;
    for (unsigned s = 0; s < w->plan->stages; s++)
        if (twi_w_stage_around(w, s) &&
            twi_w_stage_level(w, s, w->frame->order, w->frame->around) == (int)level) {
            mine |= UINT64_C(1) << s;
            effects |= w->plan->stage[s].shared ? twi_w_effect(w) : 0;
        }
    if (effects)
        twi_w_event(w, 0, effects);
    for (unsigned s = 0; s < w->plan->stages; s++)
        if (mine >> s & 1)
            twi_w_stage_copy(w, s);
    if (effects)
        twi_w_event(w, effects, 0);
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
