/* SPDX-License-Identifier: Apache-2.0
 * What a plan takes at least, read off its maps before any walk: each worker goes through all its
 * positions of what a fold takes in, loads each element of its loads once, and shares what its
 * lanes have. Sorted by it, good plans come first, and most others need no look at all. It says
 * nothing (the least of any launch) where regions, stages, atoms or frames of their own decide how
 * often something runs.
 */
#include "plan/split.h"
#include "search/view.h"

enum { FEW = 200 }; /* values: they are compared with each other */

/* ---- what is the same for all plans of a scope ---- */

struct twi_floor_facts {
    bool plain;       /* can something be said? */
    twi_id_list live; /* what its stores need, in order */
    uint16_t *avail;  /* by value id: folds before it, one after the other */
    twi_id *same;     /* by value id: the first that is the same */
};

static bool is_same(const twi_view *v, const twi_id *same, twi_id x, twi_id y) {
    const twi_ins *i = twi_ins_of(v->ir, x), *j = twi_ins_of(v->ir, y);
    bool is = i->op == j->op && i->attr == j->attr && i->type.elem == j->type.elem &&
              i->type.axes == j->type.axes && i->nargs == j->nargs && twi_is_local(v->ir, x);
    for (unsigned a = 0; is && a < i->nargs; a++)
        is = same[twi_arg(v->ir, x, a)] == same[twi_arg(v->ir, y, a)];
    return is;
}

static void find_same(const twi_view *v, struct twi_floor_facts *f) {
    f->same = TWI_NEW_N(v->arena, twi_id, v->ir->ins.n);
    for (twi_id id = 0; id < v->ir->ins.n; id++)
        f->same[id] = id;
    for (uint32_t k = 0; k < f->live.n; k++)
        for (uint32_t j = 0; j < k && f->same[f->live.at[k]] == f->live.at[k]; j++)
            if (is_same(v, f->same, f->live.at[j], f->live.at[k]))
                f->same[f->live.at[k]] = f->same[f->live.at[j]];
}

static void find_live(const twi_view *v, struct twi_floor_facts *f) {
    bool *needed = TWI_NEW_N(v->arena, bool, v->ir->ins.n);
    f->avail = TWI_NEW_N(v->arena, uint16_t, v->ir->ins.n);
    for (uint32_t k = v->all.n; k-- > 0;) {
        const twi_id id = v->all.at[k];
        const twi_ins *i = twi_ins_of(v->ir, id);
        needed[id] = needed[id] || twi_op_row(i->op)->kind == TWI_KIND_EFFECT;
        for (unsigned a = 0; needed[id] && a < i->nargs; a++)
            needed[twi_arg(v->ir, id, a)] = true;
    }
    for (uint32_t k = 0; k < v->all.n; k++) {
        const twi_id id = v->all.at[k];
        if (!needed[id])
            continue;
        twi_push(v->arena, &f->live, id);
        for (unsigned a = 0; a < twi_ins_of(v->ir, id)->nargs; a++) {
            const twi_id arg = twi_arg(v->ir, id, a);
            const uint16_t then = (uint16_t)(f->avail[arg] + twi_is_fold(v->ir, arg));
            f->avail[id] = then > f->avail[id] ? then : f->avail[id];
        }
    }
}

static bool is_access(const twi_ins *i) {
    return i->op == TWI_LOAD || twi_op_row(i->op)->kind == TWI_KIND_EFFECT;
}

/* Does it store an array once, and never load it? */
static bool stores_once(const twi_view *v) {
    const tw_ir *ir = v->ir;
    for (uint32_t k = 0; k < v->all.n; k++)
        for (uint32_t j = 0; j < v->all.n; j++) {
            const twi_ins *x = twi_ins_of(ir, v->all.at[k]), *y = twi_ins_of(ir, v->all.at[j]);
            if (k != j && x->op != TWI_LOAD && is_access(x) && is_access(y) &&
                ir->access.at[x->attr].array == ir->access.at[y->attr].array)
                return false;
        }
    return true;
}

const struct twi_floor_facts *twi_floor_facts(const twi_view *v) {
    struct twi_floor_facts *f = TWI_NEW(v->arena, struct twi_floor_facts);
    f->plain = v->all.n < FEW && !v->serial && !v->scanned && stores_once(v);
    if (f->plain) {
        find_live(v, f);
        find_same(v, f);
    }
    return f;
}

/* ---- one plan ---- */

typedef struct {
    const twi_view *v;
    const twi_plan *plan;
    bool keeps; /* all that may be kept is */
    twi_features *out;
    const twi_id *same; /* of the facts: */
    const uint16_t *avail;
    uint16_t *seen; /* by value id: 1 + the last phase that makes it */
    struct {
        double trips, waits; /* of the loops around a fold; of those around a load, 0: none */
        double barriers;
        bool exchanges;
    } * phase; /* by number */
    uint16_t phases;
} bounds;

static bool is_time(unsigned level) {
    return level == TWI_LV_LOOP || level == TWI_LV_SLOT || level == TWI_LV_SERIAL;
}

/* Of a worker: positions by its time digits, or by rolled ones alone. */
static double positions(const bounds *b, uint64_t axes, bool rolled) {
    double n = 1;
    for (unsigned a = 1; a < b->v->ir->axis.n; a++) {
        const twi_map *m = &b->plan->frame[0].map[a];
        for (unsigned d = 0; (axes >> a & 1) && d < m->n; d++)
            if (is_time(m->d[d].level) && !(rolled && m->d[d].level == TWI_LV_SLOT))
                n *= (double)m->d[d].extent;
    }
    return n;
}

static int64_t extent_of(const bounds *b, uint64_t axes, unsigned level) {
    int64_t n = 1;
    for (unsigned a = 1; a < b->v->ir->axis.n; a++)
        if (axes >> a & 1)
            n *= twi_map_level_extent(&b->plan->frame[0].map[a], level);
    return n;
}

static void raise(double *to, double x) { *to = x > *to ? x : *to; }

/* Of so many elements that are taken in, and so many merges of two states (lower/merged.c). */
static void add_merges(bounds *b, unsigned op, double elements, double states) {
    const bool exps = op == TWI_LOGSUMEXP, moments = op == TWI_MOMENTS;
    const double n = elements + states;
    b->out->ops[TWI_PRICE_CHEAP] += n * (exps ? 11 : moments ? 10 : 1);
    b->out->ops[TWI_PRICE_DIV] += moments ? 2 * elements + 3 * states : 0;
    b->out->ops[TWI_PRICE_FUNC] += exps ? n : 0;
}

/* Halvings until one is left. */
static unsigned halvings(int64_t n) {
    unsigned k = 0;
    for (; n > 1; n = (n + 1) / 2)
        k++;
    return k;
}

/* How the partial results of workers become one. */
static void add_exchange(bounds *b, twi_id id, uint64_t folded, double own) {
    const unsigned op = twi_ins_of(b->v->ir, id)->op, p = b->avail[id];
    const bool whole = twi_monoid_of(op)->states == 1; /* lanes fold by one operation */
    const unsigned rounds = halvings(extent_of(b, folded, TWI_LV_LANE));
    const int64_t subs = extent_of(b, folded, TWI_LV_SUB);
    const bool tree = twi_fold_subs_in_tree(b->v->ir, &b->plan->frame[0], id);
    b->out->lane_rounds += own * rounds * (whole ? 1 : 2);
    add_merges(b, op, 0, own * (whole ? 0 : rounds));
    b->phase[p].exchanges = b->phase[p].exchanges || rounds;
    if (subs == 1)
        return;
    raise(&b->phase[p].barriers, tree ? halvings(subs) + 1 : 1);
    add_merges(b, op, 0, own * (tree ? halvings(subs) : (double)(subs - 1)));
}

static void add_fold(bounds *b, twi_id id) {
    const tw_ir *ir = b->v->ir;
    const twi_ins *i = twi_ins_of(ir, id);
    const uint64_t folded = twi_fold_axes(ir, id), all = i->type.axes | folded;
    const double trips = positions(b, all, true);
    const unsigned p = b->avail[id];
    raise(&b->phase[p].trips, trips > 1 ? trips : 0);
    if (twi_fold_rounds(ir, id) && i->order != TWI_ORDER_FREE)
        return;
    const double own = positions(b, i->type.axes, false);
    const double slots = (double)extent_of(b, folded, TWI_LV_SLOT);
    add_merges(b, i->op, positions(b, all, false), own * (slots - 1));
    add_exchange(b, id, folded, own);
}

/* Positions along the axis by which the lanes of a subgroup go through neighbours. */
static double lanes_beside(const bounds *b, twi_id access) {
    const int unit = b->v->caps->family == TWI_FAMILY_SIMT ? twi_view_unit(b->v, access) : -1;
    const twi_map *m = unit < 0 ? NULL : &b->plan->frame[0].map[unit];
    const bool all_real =
        m && b->v->axis[unit].known && twi_map_extent(m) == b->v->axis[unit].extent;
    return all_real ? (double)twi_map_level_extent(m, TWI_LV_LANE) : 1;
}

/* A load or a store, each element once. */
static void add_access(bounds *b, twi_id id, uint64_t axes) {
    const tw_ir *ir = b->v->ir;
    const uint32_t array = ir->access.at[twi_ins_of(ir, id)->attr].array;
    const double size = (double)tw_elem_size((tw_elem)ir->array.at[array].elem);
    const double wide = b->v->caps->access_bytes / size, n = positions(b, axes, false);
    const double accesses = n / (wide > 1 ? wide : 1);
    const double sectors = n * size * lanes_beside(b, id) / 32;
    const bool load = twi_ins_of(ir, id)->op == TWI_LOAD;
    (load ? b->out->loads : b->out->stores)[array] += accesses;
    b->out->sectors[array] +=
        (accesses > sectors ? accesses : sectors) * b->out->workers / b->out->lanes;
}

static void add_load(bounds *b, twi_id id, unsigned p) {
    const uint64_t axes = twi_ins_of(b->v->ir, id)->type.axes;
    add_access(b, id, axes);
    raise(&b->phase[p].waits, positions(b, axes, true));
}

/* What is built of operands that vary: nothing makes it simpler. */
static void add_local(bounds *b, twi_id id) {
    const tw_ir *ir = b->v->ir;
    const twi_ins *i = twi_ins_of(ir, id);
    bool counts = i->op < TWI_ELEMENTWISE_END && i->op != TWI_CAST && b->same[id] == id;
    for (unsigned a = 0; counts && a < i->nargs; a++) {
        counts = twi_ins_of(ir, twi_arg(ir, id, a))->type.axes != 0;
        for (unsigned k = 0; k < a; k++)
            counts = counts && b->same[twi_arg(ir, id, a)] != b->same[twi_arg(ir, id, k)];
    }
    if (counts)
        b->out->ops[twi_op_row(i->op)->price] += positions(b, i->type.axes, false);
}

static bool is_kept(const bounds *b, twi_id v) {
    const twi_place *place = twi_plan_place(b->plan, v);
    return b->keeps || (place && place->keep);
}

/* What phase p makes of v, on which something depends there. */
static void make(bounds *b, twi_id v, unsigned p) {
    const twi_ins *i = twi_ins_of(b->v->ir, v);
    const bool there = is_kept(b, v) && b->avail[v] < p;
    if (!twi_is_local(b->v->ir, v) || there || b->seen[v] == p + 1)
        return;
    b->seen[v] = (uint16_t)(p + 1);
    if (i->op == TWI_LOAD)
        add_load(b, v, p);
    else
        add_local(b, v);
    for (unsigned a = 0; a < i->nargs; a++)
        make(b, twi_arg(b->v->ir, v, a), p);
}

static void add_phases(bounds *b) {
    bool loads = false, apart = true;
    for (unsigned p = 0; p < b->phases; p++) {
        const double waits = b->phase[p].waits;
        b->out->trips += b->phase[p].trips;
        b->out->barriers += b->phase[p].barriers;
        if (waits > 1)
            b->out->rounds += waits;
        else if (waits > 0 && (!loads || apart))
            b->out->rounds += 1;
        loads = loads || waits > 0;
        apart = (apart && waits <= 0) || b->phase[p].exchanges || waits > 1;
    }
}

static void count(bounds *b) {
    const tw_ir *ir = b->v->ir;
    twi_id_list live = {0};
    twi_split_needs(b->v->arena, ir, b->plan, &live);
    if (!live.n) /* nothing is split */
        live = b->v->facts->live;
    b->same = b->v->facts->same;
    b->avail = b->v->facts->avail;
    b->seen = TWI_NEW_N(b->v->arena, uint16_t, ir->ins.n);
    for (uint32_t k = 0; k < live.n; k++)
        if (b->avail[live.at[k]] >= b->phases)
            b->phases = (uint16_t)(b->avail[live.at[k]] + 1);
    b->phase = twi_alloc_n(b->v->arena, b->phases + 1u, sizeof *b->phase);
    for (unsigned p = 0; p < b->phases; p++)
        for (uint32_t k = 0; k < live.n; k++) {
            const twi_id id = live.at[k];
            const twi_ins *i = twi_ins_of(ir, id);
            const bool root = !twi_is_local(ir, id) || is_kept(b, id);
            if (b->avail[id] != p || !root || (b->keeps && twi_is_local(ir, id)))
                continue;
            if (twi_is_local(ir, id))
                make(b, id, p);
            for (unsigned a = 0; !twi_is_local(ir, id) && a < i->nargs; a++)
                make(b, twi_arg(ir, id, a), p);
            if (twi_is_fold(ir, id))
                add_fold(b, id);
            else if (i->op == TWI_STORE)
                add_access(b, id, i->type.axes);
        }
    add_phases(b);
}

static bool is_plain(const twi_view *v, const twi_plan *p) {
    bool plain = v->facts->plain && p->frames == 1 && !p->stages && !p->persistent;
    for (uint32_t k = 0; k < p->place.n; k++)
        plain = plain && !p->place.at[k].atom && !p->place.at[k].to;
    for (unsigned a = 1; a < v->ir->axis.n; a++)
        for (unsigned d = 0; (v->axes >> a & 1) && d < p->frame[0].map[a].n; d++)
            plain = plain && p->frame[0].map[a].d[d].extent > 0;
    return plain;
}

double twi_view_floor(const twi_view *v, const twi_plan *p, bool keeps) {
    const bool simt = v->caps->family == TWI_FAMILY_SIMT;
    const twi_mark mark = twi_arena_mark(v->arena);
    twi_features then = {.workers = 0};
    twi_features f = {.arrays = v->ir->array.n, .then = p->then ? &then : NULL};
    double *tables = TWI_NEW_N(v->arena, double, 5 * (size_t)f.arrays);
    f.load_bytes = tables;
    f.store_bytes = tables + f.arrays;
    f.loads = tables + 2 * f.arrays;
    f.stores = tables + 3 * f.arrays;
    f.sectors = tables + 4 * f.arrays;
    f.lanes = simt ? v->caps->lane : 1;
    f.workers = simt ? f.lanes * twi_plan_subs(p) : 1;
    f.groups = twi_plan_groups(p);
    if (is_plain(v, p))
        count(&(bounds){.v = v, .plan = p, .keeps = keeps, .out = &f});
    const double ns = twi_search_floor(v->ir, v->caps, &f);
    twi_arena_reset(v->arena, mark);
    return ns;
}
