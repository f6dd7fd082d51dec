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
}
