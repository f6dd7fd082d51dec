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

/* Short rows: lanes that the unit axis leaves, and the subgroups, take other rows. */
static void short_rows(twi_offers *o, unsigned a, int64_t wide) {
    const twi_view *v = o->view;
    int64_t n = v->axis[a].block ? v->axis[a].block : v->axis[a].extent, lanes = 1;
    while (lanes < v->caps->lane && lanes * wide < n)
        lanes *= 2;
    for (unsigned r = 1; r < v->ir->axis.n; r++) {
        if (!(v->axes >> r & 1) || r == a || v->axis[r].kind != TWI_AXIS_INDEX)
            continue;
        for (int64_t unroll = 1; unroll <= 4; unroll *= 2) {
            twi_cut_numbers mine = {.lanes = lanes, .wide = wide};
            twi_cut_numbers rows = {.unroll = unroll,
                                    .subs = v->caps->sub < 8 ? v->caps->sub : 8,
                                    .lanes = v->caps->lane / lanes};
            twi_plan *p = twi_view_plan(v);
            if (twi_view_map(v, a, mine, &p->frame[0].map[a]) &&
                twi_view_map(v, r, rows, &p->frame[0].map[r]))
                twi_offer(o, "pointwise", p);
        }
    }
}

/* ---- transposes: loads walk along another axis than stores ---- */

/* Maps of a tile of `side` x `side` positions: along `a` the lanes, `wide` neighbours each; along b
 * what lanes are left, the subgroups, and time. */
typedef struct {
    int64_t side, subs, wide;
} tile;

static bool tile_maps(const twi_view *v, tile t, unsigned a, unsigned b, twi_frame *f) {
    bool simt = v->caps->family == TWI_FAMILY_SIMT;
    int64_t lanes = t.side / t.wide, left = lanes > 0 ? v->caps->lane / lanes : 0;
    int64_t rows = left > 0 ? t.side / (left * t.subs) : 0;
    twi_cut_numbers along = {.lanes = lanes, .wide = t.wide};
    twi_cut_numbers other = {.unroll = rows, .subs = t.subs, .lanes = left};
    if (!simt)
        other = (twi_cut_numbers){.rows = t.side};
    return rows >= 1 && v->axis[a].kind == TWI_AXIS_INDEX && v->axis[b].kind == TWI_AXIS_INDEX &&
           twi_view_map(v, a, along, &f->map[a]) && twi_view_map(v, b, other, &f->map[b]);
}

/* Rows of shared memory whose columns fall on different banks: the same turns without a pad's
 * bytes, by elements over what all banks hold of a row. False: there is no such swizzle. */
static bool swizzled(const twi_view *v, twi_place *place, int64_t side) {
    enum { BANK = 4 };
    const int64_t elem = (int64_t)tw_elem_size((tw_elem)twi_ins_of(v->ir, place->value)->type.elem);
    const int64_t all = (int64_t)v->caps->lane * BANK, row = side * elem;
    place->pad = 0;
    place->swizzle = (twi_swizzle){(uint16_t)(row < all ? row : all), (uint8_t)elem, 1};
    return !twi_swizzle_fault(place->swizzle, elem, side);
}

static void one_tile(twi_offers *o, tile t, twi_id stored) {
    const twi_view *v = o->view;
    unsigned from = (unsigned)v->unit_load, to = (unsigned)v->unit;
    twi_plan *p = twi_view_plan(v);
    twi_frame *f = &p->frame[0], *g = &p->frame[1];
    *g = twi_frame_copy(v->arena, f);
    g->name = twi_intern_str(&v->ir->ctx->names, "g");
    if (!tile_maps(v, t, from, to, f) || !tile_maps(v, t, to, from, g))
        return;
    p->frames = 2;
    twi_place *place = twi_plan_set_place(v->arena, p, stored);
    place->to = 2;
    place->via = v->caps->family == TWI_FAMILY_SIMT ? TWI_TO_SHARED : TWI_TO_PRIVATE;
    place->pad = v->caps->family == TWI_FAMILY_SIMT; /* rows and columns fall on different banks */
    twi_offer(o, "pointwise", p);
    if (place->pad) {
        twi_plan *other = twi_plan_new(v->arena);
        twi_plan_copy(v->arena, other, p);
        if (swizzled(v, twi_plan_set_place(v->arena, other, stored), t.side))
            twi_offer(o, "pointwise", other);
    }
}

static void transposed(twi_offers *o) {
    const twi_view *v = o->view;
    twi_id stored = 0;
    for (uint32_t i = 0; i < v->all.n && !stored; i++)
        if (twi_ins_of(v->ir, v->all.at[i])->op == TWI_STORE)
            stored = twi_arg(v->ir, v->all.at[i], 0);
    if (!stored || v->unit_load < 0 || v->unit < 0 || v->unit_load == v->unit)
        return;
    for (int64_t side = v->caps->lane; v->caps->family == TWI_FAMILY_CPU && side > 1; side /= 2)
        one_tile(o, (tile){side, 1, 1}, stored);
    if (v->caps->family == TWI_FAMILY_CPU)
        return;
    int64_t most = v->caps->access_bytes / twi_view_bytes(v, (unsigned)v->unit);
    for (int64_t side = v->caps->lane; side <= 2 * v->caps->lane; side *= 2)
        for (int64_t subs = v->caps->sub < 16 ? v->caps->sub : 16; subs >= 1; subs /= 2)
            for (int64_t wide = 1; wide <= most; wide *= 2)
                one_tile(o, (tile){side, subs, wide}, stored);
}

void twi_propose_pointwise(twi_offers *o) {
    const twi_view *v = o->view;
    if (v->folds || v->scanned || v->serial || v->unit < 0)
        return;
    unsigned a = (unsigned)v->unit;
    if (v->caps->family == TWI_FAMILY_CPU) {
        static const uint8_t shapes[][2] = {{1, 1}, {1, 4}, {8, 4}, {64, 4}, {64, 1}, {1, 2}};
        for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
            one(o, a, shapes[i][0], shapes[i][1], 1, 1);
    } else {
        int64_t most = v->caps->access_bytes / twi_view_bytes(v, a);
        for (int64_t wide = 1; wide <= most; wide = wide < 4 && most >= 4 ? 4 : 2 * wide) {
            for (int64_t subs = 1; subs <= v->caps->sub; subs *= 2)
                for (int64_t unroll = 1; unroll <= 4; unroll *= 2)
                    one(o, a, 1, unroll, subs, wide);
            short_rows(o, a, wide);
        }
    }
    others(o);
    transposed(o);
}
