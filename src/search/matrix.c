/* SPDX-License-Identifier: Apache-2.0
 * The matrix family: a dot over one axis whose result has two parallel ones. A group makes a tile
 * of the result, its subgroups and lanes a grid of fragments, each a rectangle of slots; blocks of
 * the operands along the folded axis are staged, and copied by maps that walk along memory. Where
 * tiles are few, several such grids share a block, a slice of the folded axis each. Where blocks
 * are many, those of later trips may be copied while this one's is computed.
 */
#include "search/matrix.h"

/* Fragment, lanes and subgroups of an axis, the block of k, and the subgroups that share it: each
 * takes a slice, and they add up their results at the end. Blocks that a group holds at once: where
 * there are several, copies run ahead. */
typedef struct {
    int64_t rm, rn, lm, ln, gm, gn, kb, slices, window;
    double price;
} shape;

static int64_t tile_m(const shape *s) { return s->rm * s->lm * s->gm; }
static int64_t tile_n(const shape *s) { return s->rn * s->ln * s->gn; }
static int64_t subgroups(const shape *s) { return s->gm * s->gn * s->slices; }

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
    bool crossing; /* the tile's fastest axis is b */
} copy;

/* False: the tile is too small for all workers, or not divided. */
static bool copy_maps(const twi_view *v, twi_stage_plan *s, copy c) {
    int64_t lanes = v->caps->lane, run = c.along / c.wide;
    run = run < lanes ? run : lanes;
    run = c.crossing && run > 8 ? 8 : run;
    if (run < 1 || lanes % run || c.other % (lanes / run))
        return false;
    const int64_t rows = c.other / (lanes / run);
    int64_t subs = c.subs; /* as many on b as it has rows for, the rest on a */
    while (subs > 1 && (rows % subs || c.subs % subs))
        subs /= 2;
    if (rows % subs || c.along % (run * c.wide * (c.subs / subs)))
        return false;
    put(&s->copy[c.a], TWI_LV_SLOT, 0, c.along / (run * c.wide * (c.subs / subs)));
    put(&s->copy[c.a], TWI_LV_SUB, subs, c.subs / subs);
    put(&s->copy[c.a], TWI_LV_LANE, 1, run);
    put(&s->copy[c.a], TWI_LV_SLOT, 0, c.wide);
    put(&s->copy[c.b], TWI_LV_SLOT, 0, rows / subs);
    put(&s->copy[c.b], TWI_LV_SUB, 1, subs);
    put(&s->copy[c.b], TWI_LV_LANE, run, lanes / run);
    s->copy_axes = UINT64_C(1) << c.a | UINT64_C(1) << c.b;
    return s->copy[c.a].n > 0 && s->copy[c.b].n > 0;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static double lesser(double a, double b) { return a < b ? a : b; }

/* Across memory: each worker turns squares of wide x wide, which it reads along a and writes along
 * b. Two lanes on a, so that those of a quarter subgroup meet other banks where rows have a pad. */
static bool turning_maps(const twi_view *v, twi_stage_plan *s, copy c) {
    const int64_t square = c.wide, near = 2, lanes = v->caps->lane / near;
    const int64_t far = least(lanes, c.other / square), above = far ? lanes / far : 0;
    if (square < 2 || !far || lanes % far || c.other % (far * square) ||
        c.along % (near * square * above))
        return false;
    const int64_t rows = c.along / (near * square * above), columns = c.other / (far * square);
    const int64_t subs = least(c.subs, rows);
    if (rows % subs || c.subs % subs || columns % (c.subs / subs))
        return false;
    put(&s->copy[c.a], TWI_LV_SLOT, 0, rows / subs);
    put(&s->copy[c.a], TWI_LV_LANE, near * far, above);
    put(&s->copy[c.a], TWI_LV_SUB, 1, subs);
    put(&s->copy[c.a], TWI_LV_LANE, 1, near);
    put(&s->copy[c.a], TWI_LV_SLOT, 0, square);
    put(&s->copy[c.b], TWI_LV_SLOT, 0, columns / (c.subs / subs));
    put(&s->copy[c.b], TWI_LV_SUB, subs, c.subs / subs);
    put(&s->copy[c.b], TWI_LV_LANE, near, far);
    put(&s->copy[c.b], TWI_LV_SLOT, 0, square);
    s->copy_axes = UINT64_C(1) << c.a | UINT64_C(1) << c.b;
    return true;
}

/* As many elements as an access moves, where all rows of a load's array start at whole ones; else
 * one. */
static int64_t widest(const twi_view *v, twi_id load, unsigned axis) {
    const twi_array *a = &v->ir->array.at[v->ir->access.at[twi_ins_of(v->ir, load)->attr].array];
    const int64_t wide = v->caps->access_bytes / twi_view_bytes(v, axis);
    int64_t row;
    if (wide < 1 || !twi_ix_is_const(v->ir, a->dim[a->rank - 1u], &row) || row % wide)
        return 1;
    return wide;
}

typedef enum {
    DIRECT,   /* no stages */
    AS_USED,  /* folded digits slow, those of the result fast: a worker reads neighbours together */
    AS_LOADED /* as memory has it: workers that copy in turn walk along it */
} layout;

/* Asynchronous copies move 4 bytes and more as they are, so that an operand that turns on its way
 * goes element by element. */
static unsigned copied_via(const twi_view *v, const twi_stage_plan *s, int64_t run) {
    const uint32_t array = v->ir->access.at[twi_ins_of(v->ir, s->value)->attr].array;
    const int64_t size = (int64_t)tw_elem_size((tw_elem)v->ir->array.at[array].elem);
    const bool async = v->caps->async_bytes && run * size >= 4;
    return s->window == 1 ? TWI_VIA_SYNC : async ? TWI_VIA_ASYNC : TWI_VIA_REGS;
}

/* `turns`: as loaded it lies along the other axis than as used. */
static void add_copy(const twi_view *v, twi_stage_plan *s, copy c, bool turns) {
    const bool squares = turns && s->via != TWI_VIA_ASYNC;
    twi_stage_add_copy(v->arena, s, v->ir->axis.n);
    if (!squares || !turning_maps(v, s, c))
        for (c.wide = turns && !squares ? 1 : c.wide; c.wide >= 1 && !s->copy_axes; c.wide /= 2)
            if (copy_maps(v, s, c))
                break;
}

static void add_stage(const twi_view *v, twi_plan *p, const twi_matrix *x, const shape *s,
                      layout how) {
    const twi_frame *f = &p->frame[0];
    twi_stage_plan *stage = &p->stage[p->stages];
    uint64_t axes = twi_ins_of(v->ir, stage->value)->type.axes;
    unsigned own = axes >> x->m & 1 ? x->m : x->n;
    int64_t side = own == x->m ? tile_m(s) : tile_n(s), subs = subgroups(s);
    bool along_k = twi_view_unit(v, stage->value) == (int)x->k, owned = axes >> own & 1;
    if (!(axes >> x->k & 1) || (axes >> x->m & axes >> x->n & 1))
        return;
    stage->window = (uint8_t)s->window;
    stage->shared = true;
    stage->pad = !along_k ? 0 : how == AS_USED ? 4 : 1; /* the copy, or the reads, cross rows */
    if (along_k && owned && how == AS_LOADED)
        add_digits(stage, f, own);
    add_digits(stage, f, x->k);
    if (owned && !(along_k && how == AS_LOADED))
        add_digits(stage, f, own);
    const copy c = along_k
                       ? (copy){x->k, own, s->kb, side, subs, widest(v, stage->value, x->k), true}
                       : (copy){own, x->k, side, s->kb, subs, widest(v, stage->value, x->k), false};
    stage->via = (uint8_t)copied_via(v, stage, along_k ? 1 : c.wide);
    if (owned && how == AS_USED)
        add_copy(v, stage, c, along_k);
    if (stage->via == TWI_VIA_REGS) { /* one trip ahead; it takes a map */
        stage->via = stage->copy_axes ? TWI_VIA_REGS : TWI_VIA_SYNC;
        stage->window = stage->copy_axes ? 2 : 1;
    }
    p->stages = (uint8_t)(p->stages + (stage->n > 0));
}

/* ---- plans ---- */

static twi_digit *lane_digit(twi_map *m) {
    for (unsigned i = 0; i < m->n; i++)
        if (m->d[i].level == TWI_LV_LANE)
            return &m->d[i];
    return NULL;
}

/* Lanes that differ in the lowest bit read the same of one operand, those that differ in the next
 * the same of the other: then half a subgroup's 16-byte reads of shared memory go together. */
static void interleave(twi_map *m, twi_map *n) {
    twi_digit *dm = lane_digit(m), *dn = lane_digit(n);
    if (!dm || !dn || dn->extent < 4 || m->n == TWI_MAX_DIGITS || n->n == TWI_MAX_DIGITS)
        return;
    const int64_t lm = dm->extent, ln = dn->extent;
    twi_map *const map[2] = {m, n};
    twi_digit *const at[2] = {dm, dn};
    const int64_t high[2] = {lm / 2, ln / 2}, stride[2] = {2 * ln, 4};
    for (unsigned k = 0; k < 2; k++) {
        twi_digit *d = at[k];
        const size_t after = (size_t)(map[k]->d + map[k]->n - d);
        *d = (twi_digit){TWI_LV_LANE, (uint16_t)(k ? 1 : 2), 2};
        if (high[k] == 1)
            continue;
        memmove(d + 1, d, after * sizeof *d);
        *d = (twi_digit){TWI_LV_LANE, (uint16_t)stride[k], high[k]};
        map[k]->n++;
    }
}

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
    if (how == AS_USED)
        interleave(&f->map[x->m], &f->map[x->n]);
    /* slices above the subgroups of a tile */
    put(k, TWI_LV_SUB, UINT16_MAX, s->slices);
    k->d[k->n++] = (twi_digit){TWI_LV_LOOP, 0, block / s->slices};
    twi_matrix_loads(v, x->dot, &loads);
    for (uint32_t i = 0; how != DIRECT && i < loads.n && p->stages < TWI_MAX_STAGES; i++) {
        p->stage[p->stages] = (twi_stage_plan){.value = loads.at[i]};
        add_stage(v, p, x, s, how);
    }
    twi_offer(o, "matrix", p);
}

enum { BEST = 16, SLICED = 12, AHEAD = 12, DEEPER = 4 };

static int64_t block_bytes(const shape *s) { return (tile_m(s) + tile_n(s)) * s->kb * 4; }

/* Roughly: what the busiest unit issues, and its waits for blocks, beside the math where copies run
 * ahead. */
static double price(const twi_view *v, const twi_matrix *x, const shape *s) {
    double groups = 1, units = v->caps->units, subs = (double)subgroups(s);
    double steps = (double)twi_cdiv(v->axis[x->k].extent, s->kb);
    for (unsigned a = 1; a < v->ir->axis.n; a++)
        if ((v->axes >> a & 1) && v->axis[a].kind == TWI_AXIS_INDEX)
            groups *= (double)twi_cdiv(v->axis[a].extent, a == x->m   ? tile_m(s)
                                                          : a == x->n ? tile_n(s)
                                                                      : 1);
    double turns = (groups + units - 1) / units, held = turns * subs < 16 ? turns : 16 / subs;
    const int64_t fit = v->caps->unit_shared / (block_bytes(s) * s->window);
    held = v->caps->unit_shared ? lesser(held, (double)fit) : held;
    held = held < 1 ? 1 : held;
    turns = turns < 2 ? (double)(int64_t)turns : turns;
    double fragment = (double)(s->rm * s->rn + s->rm + s->rn);
    double copied = (double)((tile_m(s) + tile_n(s)) * s->kb) / (subs * v->caps->lane);
    double waits = copied > 4 ? copied / 4 : 1; /* loads under way together */
    const int64_t slice = s->kb / s->slices;
    double together = s->slices > 1 ? subs / 4 * (double)(s->rm * s->rn * s->slices) + 300 : 0;
    const double math = subs / 4 * fragment * (double)slice, wait = (350 + 650 * waits) / held;
    const double step = s->window == 1 ? math + wait : 50 + (math > wait ? math : wait);
    return turns * (steps * step + together);
}

/* Keeps the BEST cheapest in order. */
static void consider(const twi_view *v, const twi_matrix *x, shape s, shape *best, unsigned *n) {
    int64_t m = v->axis[x->m].extent, k = v->axis[x->n].extent;
    if ((tile_m(&s) >= 2 * m && tile_m(&s) > 8) || (tile_n(&s) >= 2 * k && tile_n(&s) > 8) ||
        subgroups(&s) > v->caps->sub || subgroups(&s) * v->caps->lane > v->caps->workers ||
        s.rm * s.rn > v->caps->slots || block_bytes(&s) * s.window > v->caps->shared)
        return;
    s.price = price(v, x, &s);
    unsigned at = *n < BEST ? (*n)++ : BEST - 1;
    if (at == BEST - 1 && *n == BEST && best[at].price > 0 && best[at].price <= s.price)
        return;
    for (; at > 0 && best[at - 1].price > s.price; at--)
        best[at] = best[at - 1];
    best[at] = s;
}

/* All fragments and grids of subgroups, with the block, slices and window of s. */
static unsigned shapes(const twi_view *v, const twi_matrix *x, shape s, shape *best, unsigned n) {
    static const uint8_t fragments[][2] = {{8, 8}, {8, 4}, {4, 8}, {4, 4}, {2, 4},
                                           {4, 2}, {2, 2}, {1, 4}, {1, 2}, {1, 1}};
    static const uint8_t grids[][2] = {{4, 2}, {2, 4}, {2, 2}, {1, 4}, {4, 1},
                                       {1, 2}, {2, 1}, {1, 1}, {4, 4}, {1, 8}};
    const int64_t lanes = v->caps->lane;
    for (unsigned f = 0; f < sizeof fragments / sizeof fragments[0]; f++)
        for (unsigned g = 0; g < sizeof grids / sizeof grids[0]; g++)
            for (int64_t lm = 1; lm <= 8 && lm <= lanes; lm *= 2) {
                s.rm = fragments[f][0], s.rn = fragments[f][1];
                s.gm = grids[g][0], s.gn = grids[g][1];
                s.lm = lm, s.ln = lanes / lm;
                consider(v, x, s, best, &n);
            }
    return n;
}

/* The cheapest shapes without slices, or with. Blocks are powers of two, or all of a short k. */
static unsigned all_shapes(const twi_view *v, const twi_matrix *x, bool sliced, int64_t window,
                           shape *best) {
    const int64_t extent = v->axis[x->k].extent, whole = twi_cdiv(extent, 8) * 8;
    const int64_t longest = (sliced ? 256 : 64) / window;
    unsigned n = 0;
    for (int64_t slices = sliced ? 2 : 1; slices <= (sliced ? 8 : 1); slices *= 2) {
        shape s = {.slices = slices, .window = window};
        for (s.kb = 8; s.kb <= longest && (s.kb == 8 || s.kb < 2 * extent); s.kb *= 2)
            if (s.kb % (4 * slices) == 0 && (window == 1 || s.kb < extent))
                n = shapes(v, x, s, best, n);
        s.kb = whole;
        if (window == 1 && whole <= 256 && whole % slices == 0 && (whole & (whole - 1)))
            n = shapes(v, x, s, best, n);
    }
    return n;
}

/* Copies that run a trip ahead; those of the first shapes, where the machine has its own, also two.
 */
static void offer_ahead(twi_offers *o, const twi_matrix *x, bool sliced) {
    shape best[BEST] = {{0}};
    const unsigned n = all_shapes(o->view, x, sliced, 2, best);
    for (unsigned i = 0; i < n && i < (sliced ? AHEAD / 2 : AHEAD); i++) {
        offer(o, x, &best[i], AS_USED);
        best[i].window = 3;
        if (i < DEEPER && o->view->caps->async_bytes)
            offer(o, x, &best[i], AS_USED);
    }
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
    shape best[BEST] = {{0}}, sliced[BEST] = {{0}};
    if (!find_matrix(v, &x))
        return;
    if (v->caps->family == TWI_FAMILY_CPU)
        twi_propose_panels(o, &x);
    if (v->caps->family != TWI_FAMILY_SIMT || !v->caps->shared ||
        ((v->chain | v->canonical) >> x.k & 1))
        return;
    const unsigned n = all_shapes(v, &x, false, 1, best), more = all_shapes(v, &x, true, 1, sliced);
    for (unsigned i = 0; i < more && i < SLICED; i++)
        offer(o, &x, &sliced[i], AS_USED);
    for (unsigned i = 0; i < n; i++) {
        offer(o, &x, &best[i], AS_USED);
        offer(o, &x, &best[i], AS_LOADED);
        if (i % 4 == 0)
            offer(o, &x, &best[i], DIRECT);
    }
    offer_ahead(o, &x, false);
    offer_ahead(o, &x, true);
    for (int64_t subs = 4; subs <= 32; subs *= 2)
        for (int64_t wide = 1; wide <= 4; wide *= 4)
            for (int64_t ahead = 1; ahead <= 4; ahead *= 4)
                thin(o, &x, wide, subs, ahead);
}
