/* SPDX-License-Identifier: Apache-2.0
 * The matrix family: a dot over one axis whose result has two parallel ones. A group makes a tile
 * of the result, its subgroups and lanes a grid of fragments, each a rectangle of slots; blocks of
 * the operands along the folded axis are staged, and copied by maps that walk along memory.
 */
#include "search/matrix.h"

/* Fragment, lanes and subgroups of an axis, and the block of k. */
typedef struct {
    int64_t rm, rn, lm, ln, gm, gn, kb;
    double price;
} shape;

static int64_t tile_m(const shape *s) { return s->rm * s->lm * s->gm; }
static int64_t tile_n(const shape *s) { return s->rn * s->ln * s->gn; }

/* The scope's one dot as a matrix product; false: it is none. */
static bool find_matrix(const twi_view *v, twi_matrix *x) {
    *x = (twi_matrix){0};
    for (uint32_t i = 0; i < v->all.n; i++)
        if (twi_ins_of(v->ir, v->all.at[i])->op == TWI_DOT)
            x->dot = v->all.at[i];
    if (!x->dot || v->folds != 1 || v->serial || v->unit < 0)
        return false;
    const twi_ins *dot = twi_ins_of(v->ir, x->dot);
    x->n = (unsigned)v->unit;
    x->k = dot->fold[0];
    for (unsigned a = 1; a < v->ir->axis.n;
         a++) /* of several the longest; the others stay on the grid */
        if ((dot->type.axes >> a & 1) && a != x->n && v->axis[a].kind == TWI_AXIS_INDEX &&
            (!x->m || v->axis[a].extent > v->axis[x->m].extent))
            x->m = a;
    return x->m && dot->nfold == 1 && (dot->type.axes >> x->n & 1) &&
           v->axis[x->n].kind == TWI_AXIS_INDEX && v->axis[x->k].kind == TWI_AXIS_FULL &&
           v->axis[x->k].known && v->axis[x->k].extent > 0 && v->axis[x->m].known &&
           v->axis[x->n].known;
}

void twi_matrix_loads(const twi_view *v, twi_id id, twi_id_list *out) {
    const twi_ins *ins = twi_ins_of(v->ir, id);
    for (unsigned i = 0; i < ins->nargs && out->n < TWI_MAX_STAGES; i++) {
        twi_id arg = twi_arg(v->ir, id, i);
        unsigned kind = twi_op_row(twi_ins_of(v->ir, arg)->op)->kind;
        bool there = false;
        for (uint32_t k = 0; k < out->n; k++)
            there = there || out->at[k] == arg;
        if (twi_ins_of(v->ir, arg)->op == TWI_LOAD && !there)
            twi_push(v->arena, out, arg);
        else if (kind == TWI_KIND_LOCAL && !there)
            twi_matrix_loads(v, arg, out);
    }
}

/* ---- stages ---- */

static void add_digits(twi_stage_plan *s, const twi_frame *f, unsigned axis) {
    for (unsigned i = 0; i < f->map[axis].n && s->n < TWI_MAX_LOOPS; i++) {
        unsigned level = f->map[axis].d[i].level;
        if (level != TWI_LV_GRID && level != TWI_LV_SERIAL)
            s->order[s->n++] = (twi_axis_digit){(uint8_t)axis, (uint8_t)i};
    }
}

static void put(twi_map *m, unsigned level, int64_t stride, int64_t extent) {
    if (extent > 1)
        m->d[m->n++] = (twi_digit){(uint8_t)level, (uint16_t)stride, extent};
}

/* Axis a walks through memory by ones: lanes with `wide` neighbours each; b has the lanes left, the
 * subgroups, and slots. */
typedef struct {
    unsigned a, b;
    int64_t along, other; /* positions of a tile on both */
    int64_t subs, wide;
} copy;

/* False: the tile is too small for all workers, or not divided. */
static bool copy_maps(const twi_view *v, twi_stage_plan *s, copy c) {
    int64_t lanes = v->caps->lane, run = c.along / c.wide;
    run = run < lanes ? run : lanes;
    if (run < 1 || lanes % run || c.along % (run * c.wide) || c.other % (lanes / run * c.subs))
        return false;
    put(&s->copy[c.a], TWI_LV_SLOT, 0, c.along / (run * c.wide));
    put(&s->copy[c.a], TWI_LV_LANE, 1, run);
    put(&s->copy[c.a], TWI_LV_SLOT, 0, c.wide);
    put(&s->copy[c.b], TWI_LV_SLOT, 0, c.other / (lanes / run * c.subs));
    put(&s->copy[c.b], TWI_LV_SUB, 1, c.subs);
    put(&s->copy[c.b], TWI_LV_LANE, run, lanes / run);
    s->copy_axes = UINT64_C(1) << c.a | UINT64_C(1) << c.b;
    return s->copy[c.a].n > 0 && s->copy[c.b].n > 0;
}

typedef enum {
    DIRECT,   /* no stages */
    AS_USED,  /* folded digits slow, those of the result fast: a worker reads neighbours together */
    AS_LOADED /* as memory has it: workers that copy in turn walk along it */
} layout;

static void add_stage(const twi_view *v, twi_plan *p, const twi_matrix *x, const shape *s,
                      layout how) {
    const twi_frame *f = &p->frame[0];
    twi_stage_plan *stage = &p->stage[p->stages];
    uint64_t axes = twi_ins_of(v->ir, stage->value)->type.axes;
    unsigned own = axes >> x->m & 1 ? x->m : x->n;
    int64_t side = own == x->m ? tile_m(s) : tile_n(s), subs = s->gm * s->gn;
    bool along_k = twi_view_unit(v, stage->value) == (int)x->k, owned = axes >> own & 1;
    if (!(axes >> x->k & 1) || (axes >> x->m & axes >> x->n & 1))
        return;
    stage->window = 1;
    stage->shared = true;
    stage->pad = !along_k ? 0 : how == AS_USED ? 4 : 1; /* the copy, or the reads, cross rows */
    if (along_k && owned && how == AS_LOADED)
        add_digits(stage, f, own);
    add_digits(stage, f, x->k);
    if (owned && !(along_k && how == AS_LOADED))
        add_digits(stage, f, own);
    int64_t wide = v->caps->access_bytes / twi_view_bytes(v, x->k);
    for (; wide >= 1 && owned && how == AS_USED && !stage->copy_axes; wide /= 2)
        if (along_k ? copy_maps(v, stage, (copy){x->k, own, s->kb, side, subs, wide})
                    : copy_maps(v, stage, (copy){own, x->k, side, s->kb, subs, wide}))
            break;
    p->stages = (uint8_t)(p->stages + (stage->n > 0));
}

/* ---- plans ---- */

static void offer(twi_offers *o, const twi_matrix *x, const shape *s, layout how) {
    const twi_view *v = o->view;
    twi_plan *p = twi_view_plan(v);
    twi_frame *f = &p->frame[0];
    twi_id_list loads = {0};
    const int64_t wide_m = s->rm % 4 ? s->rm : 4, wide_n = s->rn % 4 ? s->rn : 4;
    twi_cut_numbers m = {.unroll = s->rm / wide_m, .subs = s->gm, .lanes = s->lm, .wide = wide_m};
    twi_cut_numbers n = {.unroll = s->rn / wide_n, .subs = s->gn, .lanes = s->ln, .wide = wide_n};
    twi_map *k = &f->map[x->k];
    if (!twi_view_map(v, x->m, m, &f->map[x->m]) || !twi_view_map(v, x->n, n, &f->map[x->n]))
        return;
    k->n = 0;
    int64_t extent = v->axis[x->k].extent, blocks = how == DIRECT ? 1 : twi_cdiv(extent, s->kb);
    /* Copies in turn take blocks of any length, maps those that they divide. */
    int64_t block = how == AS_USED ? s->kb : twi_cdiv(extent, blocks);
    if (how != DIRECT)
        k->d[k->n++] = (twi_digit){TWI_LV_SERIAL, 0, blocks};
    k->d[k->n++] = (twi_digit){TWI_LV_LOOP, 0, block};
    twi_matrix_loads(v, x->dot, &loads);
    for (uint32_t i = 0; how != DIRECT && i < loads.n && p->stages < TWI_MAX_STAGES; i++) {
        p->stage[p->stages] = (twi_stage_plan){.value = loads.at[i]};
        add_stage(v, p, x, s, how);
    }
    twi_offer(o, "matrix", p);
}

enum { BEST = 24 };

/* Roughly: what the busiest unit issues, and its waits for blocks. */
static double price(const twi_view *v, const twi_matrix *x, const shape *s) {
    double groups = 1, units = v->caps->units, subs = (double)(s->gm * s->gn);
    double steps = (double)twi_cdiv(v->axis[x->k].extent, s->kb);
    for (unsigned a = 1; a < v->ir->axis.n; a++)
        if ((v->axes >> a & 1) && v->axis[a].kind == TWI_AXIS_INDEX)
            groups *= (double)twi_cdiv(v->axis[a].extent, a == x->m   ? tile_m(s)
                                                          : a == x->n ? tile_n(s)
                                                                      : 1);
    double turns = (groups + units - 1) / units, held = turns * subs < 16 ? turns : 16 / subs;
    turns = turns < 2 ? (double)(int64_t)turns : turns;
    double fragment = (double)(s->rm * s->rn + s->rm + s->rn);
    double copied = (double)((tile_m(s) + tile_n(s)) * s->kb) / (subs * v->caps->lane);
    double waits = copied > 4 ? copied / 4 : 1; /* loads under way together */
    return turns * (subs / 4 * fragment * steps * (double)s->kb +
                    steps * (350 + 650 * waits) / (held < 1 ? 1 : held));
}

/* Keeps the BEST cheapest in order. */
static void consider(const twi_view *v, const twi_matrix *x, shape s, shape *best, unsigned *n) {
    int64_t m = v->axis[x->m].extent, k = v->axis[x->n].extent;
    int64_t bytes = (tile_m(&s) + tile_n(&s)) * s.kb * 4;
    if ((tile_m(&s) >= 2 * m && tile_m(&s) > 8) || (tile_n(&s) >= 2 * k && tile_n(&s) > 8) ||
        s.gm * s.gn > v->caps->sub || s.gm * s.gn * v->caps->lane > v->caps->workers ||
        s.rm * s.rn > v->caps->slots || bytes > v->caps->shared)
        return;
    s.price = price(v, x, &s);
    unsigned at = *n < BEST ? (*n)++ : BEST - 1;
    if (at == BEST - 1 && *n == BEST && best[at].price > 0 && best[at].price <= s.price)
        return;
    for (; at > 0 && best[at - 1].price > s.price; at--)
        best[at] = best[at - 1];
    best[at] = s;
}

static unsigned shapes(const twi_view *v, const twi_matrix *x, shape *best) {
    static const uint8_t fragments[][2] = {{8, 8}, {8, 4}, {4, 8}, {4, 4}, {2, 4},
                                           {4, 2}, {2, 2}, {1, 4}, {1, 2}, {1, 1}};
    static const uint8_t grids[][2] = {{4, 2}, {2, 4}, {2, 2}, {1, 4}, {4, 1},
                                       {1, 2}, {2, 1}, {1, 1}, {4, 4}, {1, 8}};
    int64_t extent = v->axis[x->k].extent, lanes = v->caps->lane;
    unsigned n = 0;
    for (int64_t kb = 8; kb <= 64; kb *= 2) {
        if (kb > 8 && kb >= 2 * extent)
            break;
        for (unsigned f = 0; f < sizeof fragments / sizeof fragments[0]; f++)
            for (unsigned g = 0; g < sizeof grids / sizeof grids[0]; g++)
                for (int64_t lm = 1; lm <= 8 && lm <= lanes; lm *= 2)
                    consider(v, x,
                             (shape){fragments[f][0], fragments[f][1], lm, lanes / lm, grids[g][0],
                                     grids[g][1], kb, 0},
                             best, &n);
    }
    return n;
}

/* Few rows: lanes along n, all rows in a worker's slots, and k over the subgroups, whose partial
 * results are folded at the end. */
static void thin(twi_offers *o, const twi_matrix *x, int64_t wide, int64_t subs, int64_t ahead) {
    const twi_view *v = o->view;
    int64_t rows = 1, extent = v->axis[x->k].extent;
    while (rows < 16 && rows < v->axis[x->m].extent)
        rows *= 2;
    if (rows * wide * ahead > v->caps->slots || subs * ahead > extent || subs > v->caps->sub)
        return;
    twi_plan *p = twi_view_plan(v);
    twi_frame *f = &p->frame[0];
    twi_cut_numbers m = {.unroll = rows}, n = {.lanes = v->caps->lane, .wide = wide};
    twi_map *k = &f->map[x->k];
    if (!twi_view_map(v, x->m, m, &f->map[x->m]) || !twi_view_map(v, x->n, n, &f->map[x->n]))
        return;
    k->n = 0;
    k->d[k->n++] = (twi_digit){TWI_LV_LOOP, 0, twi_cdiv(extent, subs * ahead)};
    put(k, TWI_LV_SUB, 1, subs);
    put(k, TWI_LV_SLOT, 0, ahead);
    twi_offer(o, "matrix", p);
}

void twi_propose_matrix(twi_offers *o) {
    const twi_view *v = o->view;
    twi_matrix x;
    shape best[BEST] = {{0}};
    if (!find_matrix(v, &x))
        return;
    if (v->caps->family == TWI_FAMILY_CPU)
        twi_propose_panels(o, &x);
    if (v->caps->family != TWI_FAMILY_SIMT || !v->caps->shared ||
        ((v->chain | v->canonical) >> x.k & 1))
        return;
    unsigned n = shapes(v, &x, best);
    for (unsigned i = 0; i < n; i++) {
        offer(o, &x, &best[i], AS_USED);
        offer(o, &x, &best[i], AS_LOADED);
        if (i % 4 == 0)
            offer(o, &x, &best[i], DIRECT);
    }
    for (int64_t subs = 4; subs <= 32; subs *= 2)
        for (int64_t wide = 1; wide <= 4; wide *= 4)
            for (int64_t ahead = 1; ahead <= 4; ahead *= 4)
                thin(o, &x, wide, subs, ahead);
}
