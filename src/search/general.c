/* SPDX-License-Identifier: Apache-2.0
 * The general family: any verified program. Parallel axes on the grid, all else in time; then the
 * same with vectors along one axis, and with a register tile around a dot.
 */
#include "search/view.h"

static int64_t lanes_for(const twi_view *v, unsigned a) {
    const twi_axis_view *x = &v->axis[a];
    int64_t n = x->block ? x->block : x->known ? x->extent : v->caps->lane, lanes = 1;
    while (lanes < v->caps->lane && lanes < n && (!x->block || n % (2 * lanes) == 0))
        lanes *= 2;
    return lanes;
}

static bool steps_singly(const twi_view *v, unsigned a) {
    return v->axis[a].kind == TWI_AXIS_STEP && v->axis[a].block == 1;
}

/* Lanes on axis a; on targets of implicit lanes subgroups too. */
static void along(twi_offers *o, unsigned a, int64_t unroll, int64_t subs, bool whole) {
    const twi_view *v = o->view;
    twi_cut_numbers c = {.lanes = lanes_for(v, a), .unroll = unroll, .subs = subs, .whole = whole};
    twi_map m;
    if (((v->chain | v->canonical) >> a & 1) || steps_singly(v, a) || !twi_view_map(v, a, c, &m))
        return;
    for (unsigned mode = TWI_KEEP_NOTHING; mode <= TWI_KEEP_ALL; mode += TWI_KEEP_ALL) {
        twi_plan *p = twi_view_plan(v);
        p->frame[0].map[a] = m;
        twi_view_leave_lanes(v, p, a);
        twi_view_keep(v, p, (twi_keep_mode)mode);
        twi_offer(o, "general", p);
    }
}

/* A register tile: lanes and slots along the unit axis, slots along the other axes of a dot's
 * result. */
static void tile(twi_offers *o, twi_id dot, int64_t rows, int64_t wide) {
    const twi_view *v = o->view;
    uint64_t own = twi_ins_of(v->ir, dot)->type.axes;
    if (v->unit < 0 || !(own >> v->unit & 1))
        return;
    twi_plan *p = twi_view_plan(v);
    unsigned unit = (unsigned)v->unit;
    twi_cut_numbers along_unit = {.unroll = wide, .lanes = lanes_for(v, unit)},
                    other = {.unroll = rows};
    if (steps_singly(v, unit) || !twi_view_map(v, unit, along_unit, &p->frame[0].map[unit]))
        return;
    for (unsigned a = 1; a < v->ir->axis.n; a++) {
        twi_map m;
        if (a == unit || !(own >> a & 1) || v->axis[a].kind == TWI_AXIS_STEP)
            continue;
        if (twi_view_map(v, a, other, &m))
            p->frame[0].map[a] = m;
    }
    twi_offer(o, "general", p);
}

/* Explicit lanes along the rows of a block: every fold of a row stays inside its lane, what the
 * rows share is broadcast; slots along the other axes make a register tile of it. */
static void rows_in_lanes(twi_offers *o, unsigned rows, int64_t unroll) {
    const twi_view *v = o->view;
    twi_plan *p = twi_view_plan(v);
    int64_t lanes = lanes_for(v, rows), left = v->axis[rows].block / lanes;
    twi_cut_numbers along_rows = {.unroll = left % 2 ? 1 : 2, .lanes = lanes},
                    other = {.unroll = unroll};
    if (lanes == 1 || !twi_view_map(v, rows, along_rows, &p->frame[0].map[rows]))
        return;
    for (unsigned a = 1; a < v->ir->axis.n; a++) {
        bool held = v->axis[a].kind == TWI_AXIS_FULL && (v->stripes >> a & 1);
        bool steps = v->axis[a].kind == TWI_AXIS_STEP && !steps_singly(v, a);
        twi_map m;
        if ((v->axes >> a & 1) && (held || steps) && !((v->chain | v->canonical) >> a & 1) &&
            twi_view_map(v, a, other, &m))
            p->frame[0].map[a] = m;
    }
    twi_view_keep(v, p, TWI_KEEP_ALL);
    twi_offer(o, "general", p);
}

/* Can twice so many workers share n positions? Blocks of the text must come out, others may pad. */
static bool has_twice(const twi_axis_view *x, int64_t n, int64_t workers, bool pads) {
    return x->block || !pads ? n % (2 * workers) == 0 : n > workers;
}

/* Implicit lanes: results that stay with a worker spread over subgroups, lanes and slots, since
 * private memory is not indexed. Axes by id take what is left of each level. */
static void spread(twi_offers *o, bool lanes_first, bool pads) {
    const twi_view *v = o->view;
    twi_plan *p = twi_view_plan(v);
    int64_t lanes = v->caps->lane, subs = v->caps->sub;
    for (unsigned a = 1; a < v->ir->axis.n; a++) {
        const twi_axis_view *x = &v->axis[a];
        if (!(v->stripes >> a & 1) || ((v->chain | v->canonical) >> a & 1) || steps_singly(v, a) ||
            x->kind == TWI_AXIS_INDEX)
            continue;
        int64_t n = x->block ? x->block : x->extent;
        twi_cut_numbers c = {.whole = true, .lanes = 1, .subs = 1};
        bool fold = v->folded >> a & 1;
        while (c.subs < subs && !fold && has_twice(x, n, c.subs, pads))
            c.subs *= 2;
        int64_t most = lanes_first ? lanes : lanes / 4;
        while (c.lanes < most && has_twice(x, n, c.lanes * c.subs, pads))
            c.lanes *= 2;
        if (!twi_view_map(v, a, c, &p->frame[0].map[a]))
            continue;
        twi_view_leave_lanes(v, p, a);
        lanes /= c.lanes;
        subs /= c.subs;
    }
    twi_offer(o, "general", p);
}

/* Canonical folds element by element, where their lanes find no digits on the target. */
static void in_order(twi_offers *o) {
    const twi_view *v = o->view;
    twi_plan *p = twi_view_plan(v);
    for (unsigned a = 1; a < v->ir->axis.n; a++)
        if (v->canonical >> a & 1)
            twi_view_loops(v, a, &p->frame[0].map[a]);
    twi_offer(o, "general", p);
}

void twi_propose_general(twi_offers *o) {
    const twi_view *v = o->view;
    twi_offer(o, "general", twi_view_plan(v));
    in_order(o);
    if (v->caps->family == TWI_FAMILY_SIMT) {
        for (unsigned k = 0; k < 4; k++)
            spread(o, !(k & 1), k >> 1);
    }
    for (unsigned a = 1; a < v->ir->axis.n; a++)
        if ((v->axes >> a & 1) && v->axis[a].kind == TWI_AXIS_BLOCK &&
            v->caps->family == TWI_FAMILY_CPU)
            for (int64_t unroll = 2; unroll <= 4; unroll *= 2)
                rows_in_lanes(o, a, unroll);
    for (unsigned a = v->ir->axis.n; a-- > 1;)
        if (v->axes >> a & 1) {
            along(o, a, 1, 1, false);
            along(o, a, 1, 1, true);
        }
    for (uint32_t i = 0; i < v->all.n; i++)
        if (twi_ins_of(v->ir, v->all.at[i])->op == TWI_DOT) {
            static const uint8_t shapes[][2] = {{4, 1}, {4, 2}, {8, 2}, {8, 1}, {1, 4}, {12, 2}};
            for (unsigned k = 0; k < sizeof shapes / sizeof shapes[0]; k++)
                tile(o, v->all.at[i], shapes[k][0], shapes[k][1]);
            break;
        }
}
