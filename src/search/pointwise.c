/* SPDX-License-Identifier: Apache-2.0
 * The pointwise family: scopes without folds. Vectors along the axis that walks through memory by
 * ones, some of them a worker, the rest on the grid or in a loop.
 */
#include "search/view.h"

static void one(twi_offers *o, unsigned a, int64_t rows, int64_t unroll, int64_t subs,
                int64_t wide) {
    const twi_view *v = o->view;
    int64_t lanes = 1, n = v->axis[a].block ? v->axis[a].block : v->axis[a].extent;
    while (lanes < v->caps->lane && lanes < n)
        lanes *= 2;
    twi_cut_numbers c = {
        .rows = rows, .unroll = unroll, .subs = subs, .lanes = lanes, .wide = wide};
    twi_plan *p = twi_view_plan(v);
    if (twi_view_map(v, a, c, &p->frame[0].map[a]))
        twi_offer(o, "pointwise", p);
}

/* Lanes on another axis than the unit one: reads along it are strided, writes are not, or the other
 * way round. */
static void others(twi_offers *o) {
    const twi_view *v = o->view;
    for (unsigned a = 1; a < v->ir->axis.n; a++)
        if ((v->axes >> a & 1) && (int)a != v->unit && v->axis[a].kind == TWI_AXIS_INDEX)
            one(o, a, 1, 1, 1, 1);
}

/* A map of axis a that gives a group `tile` positions, along lanes or not. */
static bool tile_map(const twi_view *v, unsigned a, int64_t tile, bool lanes, twi_map *m) {
    twi_cut_numbers c = {.rows = lanes ? 1 : tile, .lanes = lanes ? tile : 1};
    if (!lanes && v->caps->family == TWI_FAMILY_SIMT) {
        while (2 * c.subs <= v->caps->sub && tile % (2 * (c.subs ? c.subs : 1)) == 0)
            c.subs = c.subs ? 2 * c.subs : 2;
        c.rows = c.subs ? tile / c.subs : tile;
    }
    return v->axis[a].kind == TWI_AXIS_INDEX && twi_view_map(v, a, c, m);
}

/* Where loads walk along another axis than stores: square tiles, loaded along one, stored along the
 * other. */
static void transposed(twi_offers *o) {
    const twi_view *v = o->view;
    int64_t tile = v->caps->lane;
    twi_id stored = 0;
    int from = v->unit_load, to = v->unit;
    for (uint32_t i = 0; i < v->all.n && !stored; i++)
        if (twi_ins_of(v->ir, v->all.at[i])->op == TWI_STORE)
            stored = twi_arg(v->ir, v->all.at[i], 0);
    if (!stored || from < 0 || to < 0 || from == to || tile < 2)
        return;
    for (; tile > 1; tile /= 2) {
        twi_plan *p = twi_view_plan(v);
        twi_frame *f = &p->frame[0], *g = &p->frame[1];
        bool good = tile_map(v, (unsigned)from, tile, true, &f->map[from]) &&
                    tile_map(v, (unsigned)to, tile, false, &f->map[to]);
        *g = *f;
        g->name = twi_intern_str(&v->ir->ctx->names, "g");
        good = good && tile_map(v, (unsigned)to, tile, true, &g->map[to]) &&
               tile_map(v, (unsigned)from, tile, false, &g->map[from]);
        if (!good)
            return;
        p->frames = 2;
        twi_place *place = twi_plan_set_place(v->arena, p, stored);
        place->to = 2;
        place->via = v->caps->family == TWI_FAMILY_SIMT ? TWI_TO_SHARED : TWI_TO_PRIVATE;
        twi_offer(o, "pointwise", p);
    }
}

void twi_propose_pointwise(twi_offers *o) {
    const twi_view *v = o->view;
    if (v->folds || v->serial || v->unit < 0)
        return;
    unsigned a = (unsigned)v->unit;
    if (v->caps->family == TWI_FAMILY_CPU) {
        static const uint8_t shapes[][2] = {{1, 1}, {1, 4}, {8, 4}, {64, 4}, {64, 1}, {1, 2}};
        for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
            one(o, a, shapes[i][0], shapes[i][1], 1, 1);
    } else {
        for (int64_t subs = 1; subs <= v->caps->sub; subs *= 2)
            for (int64_t wide = 1; wide <= 4; wide *= 4)
                one(o, a, 1, 1, subs, wide);
    }
    others(o);
    transposed(o);
}
