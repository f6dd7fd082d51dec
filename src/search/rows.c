/* SPDX-License-Identifier: Apache-2.0
 * The rows family: scopes that fold along one long axis. Subgroups, lanes, unrolling, contiguous
 * elements; rows across lanes or subgroups; streamed, whole rows; kept, recomputed.
 */
#include "search/view.h"

/* The folded or scanned axis with most positions; -1: none. */
static int long_axis(const twi_view *v) {
    int best = -1;
    for (unsigned a = 1; a < v->ir->axis.n; a++) {
        const twi_axis_view *x = &v->axis[a];
        if (!((v->folded | v->scanned) >> a & 1) || x->kind != TWI_AXIS_FULL || !x->known)
            continue;
        if (best < 0 || x->extent > v->axis[best].extent)
            best = (int)a;
    }
    return best;
}

static int64_t power_up_to(int64_t n, int64_t most) {
    int64_t p = 1;
    while (p < n && p < most)
        p *= 2;
    return p;
}

/* Two axes may share the numbers' work: rows beside the long axis. */
static void offer_mode(twi_offers *o, unsigned a, const twi_map *m, unsigned row,
                       const twi_map *row_map, twi_keep_mode mode) {
    const twi_view *v = o->view;
    twi_plan *p = twi_view_plan(v);
    p->frame[0].map[a] = *m;
    twi_view_leave_lanes(v, p, a);
    if (row)
        p->frame[0].map[row] = *row_map;
    twi_view_keep(v, p, mode);
    twi_offer(o, "rows", p);
}

/* One plan for each way of keeping. */
static void offer_modes(twi_offers *o, unsigned a, const twi_map *m, unsigned row,
                        const twi_map *row_map) {
    offer_mode(o, a, m, row, row_map, TWI_KEEP_NOTHING);
    if (o->view->crossings)
        offer_mode(o, a, m, row, row_map, TWI_KEEP_ALL);
}

/* Another full axis of the same extent walks beside the long one (softmax's store, say): same map.
 */
static void one(twi_offers *o, unsigned a, twi_cut_numbers c) {
    twi_map m;
    if (twi_view_map(o->view, a, c, &m))
        offer_modes(o, a, &m, 0, NULL);
}

static void explicit_rows(twi_offers *o, unsigned a) {
    const twi_view *v = o->view;
    int64_t lanes = power_up_to(v->axis[a].extent, v->caps->lane);
    static const uint8_t unrolls[] = {4, 1, 8, 2};
    for (unsigned i = 0; i < sizeof unrolls; i++)
        if (i < 2 || unrolls[i] * lanes <= v->axis[a].extent)
            one(o, a, (twi_cut_numbers){.lanes = lanes, .unroll = unrolls[i]});
    if (v->axis[a].extent <= 16 * lanes)
        one(o, a, (twi_cut_numbers){.lanes = lanes, .whole = true});
}

/* Subgroups worth trying: where there are lanes, few; a target without them has nothing else. */
static int64_t most_subs(const twi_view *v) {
    const int64_t most = v->caps->lane > 1 ? 8 : 256;
    return v->caps->sub < most ? v->caps->sub : most;
}

/* `at` rows share a group: one a row of `subs` subgroups, or one a part of a subgroup's lanes. */
typedef struct {
    unsigned row; /* axis; 0: none */
    int64_t at, lanes;
} sharing;

static sharing no_sharing(void) { return (sharing){.at = 1, .lanes = 1}; }

static void share(twi_offers *o, unsigned a, twi_cut_numbers c, sharing s, bool keeps) {
    const twi_view *v = o->view;
    twi_map m, row;
    twi_cut_numbers rows = {.subs = s.at, .lanes = s.lanes};
    if (!twi_view_map(v, a, c, &m) || (s.row && !twi_view_map(v, s.row, rows, &row)))
        return;
    if (keeps)
        offer_modes(o, a, &m, s.row, &row);
    else
        offer_mode(o, a, &m, s.row, &row, TWI_KEEP_NOTHING);
}

/* A row by `subs` subgroups of `lanes`, `wide` neighbours a worker: whole in registers, or streamed
 * some 8 or 16 elements a worker at a time. */
static void spread_row(twi_offers *o, unsigned a, twi_cut_numbers c, sharing s) {
    const twi_view *v = o->view;
    int64_t steps = twi_cdiv(v->axis[a].extent, c.subs * c.lanes * c.wide);
    c.whole = true;
    if (steps * c.wide <= v->caps->slots)
        share(o, a, c, s, true);
    c.whole = false;
    if (steps * c.wide <= 8)
        return;
    for (int64_t held = 8; held <= 16; held *= 2) {
        c.unroll = held / c.wide;
        if (c.unroll >= 1 && c.unroll < steps)
            share(o, a, c, s, !v->caps->indexable);
    }
}

/* Parallel axis whose rows may share a group; 0: none. */
static unsigned row_axis(const twi_view *v) {
    unsigned best = 0;
    for (unsigned r = 1; r < v->ir->axis.n; r++)
        if ((v->axes >> r & 1) && v->axis[r].kind == TWI_AXIS_INDEX && v->axis[r].known &&
            v->axis[r].extent > 1 && (!best || v->axis[r].extent > v->axis[best].extent))
            best = r;
    return best;
}

static void implicit_rows(twi_offers *o, unsigned a) {
    const twi_view *v = o->view;
    int64_t n = v->axis[a].extent, most = v->caps->access_bytes / twi_view_bytes(v, a);
    for (int64_t wide = 1; wide <= most; wide = wide < most ? most : 2 * most) {
        int64_t lanes = power_up_to(twi_cdiv(n, wide), v->caps->lane);
        for (int64_t subs = 1; subs <= v->caps->sub; subs *= 2) {
            twi_cut_numbers c = {.lanes = lanes, .subs = subs, .wide = wide};
            if (subs > 1 && lanes * subs * wide >= 2 * n)
                break;
            spread_row(o, a, c, no_sharing());
            sharing s = {.row = row_axis(v), .at = 8 / subs, .lanes = v->caps->lane / lanes};
            if (s.row && subs <= 2 && s.at * subs <= v->caps->sub &&
                s.at * s.lanes <= v->axis[s.row].extent)
                spread_row(o, a, c, s);
        }
    }
}

/* Rows across lanes (explicit: vectors of rows) or a row a subgroup. */
static void across(twi_offers *o, unsigned a) {
    const twi_view *v = o->view;
    for (unsigned r = 1; r < v->ir->axis.n; r++) {
        const twi_axis_view *x = &v->axis[r];
        if (!(v->axes >> r & 1) || x->kind != TWI_AXIS_INDEX || x->extent < 2)
            continue;
        twi_map m, row;
        twi_view_plain(v, a, &m);
        bool implicit = v->caps->family == TWI_FAMILY_SIMT;
        if (twi_view_map(v, r, (twi_cut_numbers){.lanes = power_up_to(x->extent, v->caps->lane)},
                         &row) &&
            !(v->canonical >> a & 1))
            offer_modes(o, a, &m, r, &row);
        if (!implicit || v->caps->sub == 1 || (v->chain >> a & 1) || (v->canonical >> a & 1))
            continue;
        int64_t subs = power_up_to(x->extent, v->caps->sub < 4 ? v->caps->sub : 4);
        int64_t lanes = power_up_to(v->axis[a].extent, v->caps->lane);
        if (twi_view_map(v, r, (twi_cut_numbers){.subs = subs}, &row) &&
            twi_view_map(v, a, (twi_cut_numbers){.lanes = lanes, .whole = true}, &m))
            offer_modes(o, a, &m, r, &row);
    }
}

/* A scan keeps its row: a worker has a few neighbours, and more slots above the subgroups; or all
 * that it has are neighbours. */
static void implicit_scans(twi_offers *o, unsigned a) {
    const twi_view *v = o->view;
    const int64_t n = v->axis[a].extent, lanes = power_up_to(n, v->caps->lane);
    for (int64_t subs = 1; subs <= v->caps->sub && lanes * subs <= v->caps->workers; subs *= 2) {
        const int64_t each = twi_cdiv(n, lanes * subs);
        if (each > v->caps->slots || (subs > 1 && lanes * (subs / 2) >= n))
            continue;
        twi_cut_numbers c = {.lanes = lanes, .subs = subs, .wide = each, .whole = true};
        share(o, a, c, no_sharing(), true);
        for (c.wide = 8; c.wide >= 4; c.wide /= 2)
            if (each > c.wide)
                share(o, a, c, no_sharing(), true);
    }
}

static void canonical_rows(twi_offers *o, unsigned a) {
    const twi_view *v = o->view;
    twi_map m;
    for (int64_t subs = 1; subs <= most_subs(v); subs *= 2)
        for (unsigned loop = 0; loop < 2; loop++) {
            int64_t lanes = power_up_to(v->axis[a].extent, v->caps->lane);
            if (twi_view_canonical(v, a, loop ? TWI_LV_LOOP : TWI_LV_SLOT, subs, lanes, &m))
                offer_modes(o, a, &m, 0, NULL);
        }
}

void twi_propose_rows(twi_offers *o) {
    const twi_view *v = o->view;
    int a = long_axis(v);
    if (a < 0)
        return;
    bool chain = v->chain >> a & 1, canonical = v->canonical >> a & 1;
    if (canonical && !chain)
        canonical_rows(o, (unsigned)a);
    else if (!chain && v->caps->family == TWI_FAMILY_CPU)
        explicit_rows(o, (unsigned)a);
    else if (!chain && (v->scanned >> a & 1))
        implicit_scans(o, (unsigned)a);
    else if (!chain)
        implicit_rows(o, (unsigned)a);
    across(o, (unsigned)a);
}
