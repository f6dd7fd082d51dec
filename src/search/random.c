/* SPDX-License-Identifier: Apache-2.0
 * Any legal plan: maps are drawn digit by digit (odd extents and blocks that divide nothing
 * included), refused ones drawn again; then keeps, orders of loops, fold orders, serial digits,
 * stages and entries are drawn one by one and kept where the plan stays legal. Falls back to what
 * the families propose.
 */
#include "search/random.h"
#include "plan/split.h"

#include <math.h>

bool twi_draw_legal(twi_draw *d) {
    twi_why why;
    twi_features f;
    if (!twi_pins_apply(d->v, d->wish, d->p, &why))
        return false;
    if (!d->wish->n_pins)
        return twi_plan_legal(d->v->ir, d->v->caps, d->p, &why);
    return twi_plan_counted(d->v->arena, d->v->ir, d->v->caps, d->p, &f, &why) &&
           twi_pins_hold(d->v, d->wish, d->p, &f, &why);
}

/* ---- maps ---- */

static int64_t some_extent(twi_draw *d, int64_t most) {
    static const uint8_t extents[] = {2, 2, 3, 4, 4, 5, 7, 8, 12, 16, 32};
    int64_t e = extents[twi_draw_below(d, (int64_t)sizeof extents)];
    return e > most ? 1 : e;
}

static int64_t power(twi_draw *d, int64_t most) {
    int64_t p = 1;
    while (2 * p <= most && !twi_draw_chance(d, 3))
        p *= 2;
    return p;
}

int64_t twi_draw_fitting(twi_draw *d, int64_t most, int64_t n) {
    int64_t e = some_extent(d, most);
    while (n > 0 && n % e)
        e--;
    return e;
}

static int64_t draw_lanes(twi_draw *d, unsigned a, int64_t n) {
    bool folded = d->v->folded >> a & 1;
    int64_t e = folded || d->lane_axis >= 0 || !twi_draw_chance(d, 4) ? power(d, d->lanes)
                                                                      : some_extent(d, d->lanes);
    while (n > 0 && n % e)
        e /= 2;
    return e > 1 ? e : 1;
}

/* Digits are drawn from the right; they are put in order at the end. */
typedef struct {
    twi_map m;
    int64_t inner; /* product so far */
    int64_t exact; /* what is left of a block that must come out; 0: an axis that may have pads */
} row;

static void put(row *r, unsigned level, int64_t extent) {
    if (extent <= 1 || r->m.n >= TWI_MAX_DIGITS - 2)
        return;
    r->m.d[r->m.n++] = (twi_digit){.level = (uint8_t)level, .extent = extent};
    r->inner *= extent;
    if (r->exact)
        r->exact /= extent;
}

static void put_slots(twi_draw *d, row *r) {
    int64_t e = twi_draw_fitting(d, d->slots, r->exact);
    put(r, TWI_LV_SLOT, e);
    d->slots /= e;
}

static void put_inner(twi_draw *d, unsigned a, row *r, bool loops) {
    const twi_view *v = d->v;
    bool chain = v->chain >> a & 1, simt = v->caps->family == TWI_FAMILY_SIMT;
    if (chain) {
        if (twi_draw_chance(d, 2))
            put_slots(d, r);
        if (loops && twi_draw_chance(d, 2))
            put(r, TWI_LV_LOOP, twi_draw_fitting(d, 64, r->exact));
        return;
    }
    if (d->lane_axis == (int)a) {
        int64_t e = draw_lanes(d, a, r->exact);
        put(r, TWI_LV_LANE, e);
    }
    bool open = !v->axis[a].known;
    for (int64_t k = twi_draw_below(d, 4); k > 0; k--) {
        int64_t pick = twi_draw_below(d, 4);
        if (pick == 0)
            put_slots(d, r);
        else if (pick == 1 && loops && !open)
            put(r, TWI_LV_LOOP, twi_draw_fitting(d, 64, r->exact));
        else if (pick == 2 && simt) {
            int64_t e = draw_lanes(d, a, r->exact);
            put(r, TWI_LV_LANE, e);
            d->lanes /= e;
        } else if (pick == 3 && simt && !open) {
            int64_t e = twi_draw_fitting(d, d->subs, r->exact);
            put(r, TWI_LV_SUB, e);
            d->subs /= e;
        }
    }
}

/* The outermost time digit: what inner digits left over. */
static bool put_outer(twi_draw *d, row *r, int64_t count, bool loops) {
    bool slot = count <= d->slots && (!loops || twi_draw_chance(d, 4));
    if (!loops && !slot && count > 1)
        return false;
    if (slot && count > 1)
        d->slots /= count;
    put(r, slot ? TWI_LV_SLOT : TWI_LV_LOOP, count);
    return true;
}

/* Positions of a group that a second frame must give it too: weight of the first frame's grid
 * digit. */
static int64_t group_positions(const twi_draw *d, unsigned a) {
    const twi_map *m = &d->p->frame[0].map[a];
    return d->again && m->d[0].level == TWI_LV_GRID ? twi_map_weight(m, 0) : 0;
}

static bool draw_map(twi_draw *d, unsigned a, twi_map *out) {
    const twi_view *v = d->v;
    const twi_axis_view *x = &v->axis[a];
    if (v->canonical >> a & 1) {
        if (twi_draw_chance(d, 6)) { /* element by element */
            twi_view_loops(v, a, out);
            return true;
        }
        bool time = v->chain >> a & 1; /* a chain beside it: no space digits */
        bool lanes_here = v->caps->family == TWI_FAMILY_SIMT || d->lane_axis == (int)a;
        int64_t lanes = lanes_here && !time ? power(d, d->lanes) : 1;
        int64_t subs = time ? 1 : power(d, d->subs);
        d->lanes /= lanes;
        d->subs /= subs;
        return twi_view_canonical(v, a, twi_draw_chance(d, 2) ? TWI_LV_SLOT : TWI_LV_LOOP, subs,
                                  lanes, out);
    }
    /* Where private memory is not indexed, what stays with a worker lies in slots. */
    bool loops = v->caps->indexable || !(v->stripes >> a & 1);
    row r = {.inner = 1, .exact = x->block > 1 ? x->block : group_positions(d, a)};
    if (x->block != 1)
        put_inner(d, a, &r, loops);
    if (r.exact && !put_outer(d, &r, r.exact, loops))
        return false;
    if (x->kind == TWI_AXIS_FULL && x->known) {
        int64_t left = twi_cdiv(x->extent, r.inner);
        if (left > 1 && !put_outer(d, &r, left, loops))
            return false;
        if (!r.m.n)
            r.m.d[r.m.n++] = (twi_digit){.level = TWI_LV_LOOP, .extent = 1};
    } else {
        unsigned level = x->kind == TWI_AXIS_FULL   ? TWI_LV_LOOP
                         : x->kind == TWI_AXIS_STEP ? TWI_LV_SERIAL
                                                    : TWI_LV_GRID;
        int64_t count = x->known ? twi_cdiv(x->extent, r.inner) : 0;
        r.m.d[r.m.n++] =
            (twi_digit){.level = (uint8_t)level, .extent = x->known && count < 1 ? 1 : count};
    }
    out->n = r.m.n;
    for (unsigned i = 0; i < r.m.n; i++)
        out->d[i] = r.m.d[r.m.n - 1u - i];
    return true;
}

static int pick_lane_axis(twi_draw *d) {
    const twi_view *v = d->v;
    int found = -1;
    uint64_t seen = 0;
    if (v->caps->family == TWI_FAMILY_SIMT || twi_draw_chance(d, 6))
        return -1;
    for (unsigned a = 1; a < v->ir->axis.n; a++) {
        if (!(v->axes >> a & 1) || (v->chain >> a & 1) || v->axis[a].block == 1)
            continue;
        if (v->canonical >> a & 1)
            return (int)a;
        if (twi_rng_below(&d->rng, ++seen) == 0)
            found = (int)a;
    }
    return found;
}

static bool draw_maps(twi_draw *d) {
    const twi_view *v = d->v;
    d->slots = d->v->caps->slots;
    d->lanes = v->caps->lane;
    d->subs = v->caps->sub;
    d->lane_axis = pick_lane_axis(d);
    for (unsigned k = 0, from = (unsigned)twi_draw_below(d, v->ir->axis.n); k < v->ir->axis.n;
         k++) {
        unsigned a = (from + k) % v->ir->axis.n;
        if (a && (v->axes >> a & 1) && !draw_map(d, a, &d->p->frame[0].map[a]))
            return false;
    }
    twi_view_finish(v, d->p);
    return twi_draw_legal(d);
}

/* ---- what is drawn one by one ---- */

static void draw_keeps(twi_draw *d) {
    for (uint32_t i = 0; i < d->v->crossings; i++) {
        if (twi_draw_chance(d, 2))
            continue;
        twi_place *place = twi_plan_set_place(d->v->arena, d->p, d->v->crossing[i]);
        uint8_t was = place->keep;
        const bool simt = d->v->caps->family == TWI_FAMILY_SIMT;
        place->keep = twi_draw_chance(d, 2) ? TWI_KEEP_STRIPE
                      : simt                ? TWI_KEEP_SHARED
                                            : TWI_KEEP_SCRATCH;
        if (!twi_draw_legal(d))
            twi_plan_set_place(d->v->arena, d->p, d->v->crossing[i])->keep = was;
    }
}

void twi_draw_order(twi_draw *d, unsigned frame) {
    twi_frame *f = &d->p->frame[frame];
    for (unsigned round = 0; round < 2 && f->loops > 1; round++) {
        unsigned i = (unsigned)twi_draw_below(d, f->loops),
                 k = (unsigned)twi_draw_below(d, f->loops);
        twi_axis_digit was = f->order[i];
        f->order[i] = f->order[k];
        f->order[k] = was;
        if (twi_draw_legal(d))
            continue;
        f->order[k] = f->order[i];
        f->order[i] = was;
    }
}

/* Loops of the order's head around all phases: as many as are legal of the number drawn. */
static void draw_around(twi_draw *d) {
    twi_frame *f = &d->p->frame[0];
    for (f->around = (uint8_t)twi_draw_below(d, f->loops + 1); f->around && !twi_draw_legal(d);)
        f->around--;
}

static void draw_folds(twi_draw *d) {
    for (uint32_t i = 0; i < d->v->all.n; i++) {
        twi_id id = d->v->all.at[i];
        if (!twi_is_fold(d->v->ir, id) || !twi_draw_chance(d, 3))
            continue;
        twi_plan_set_place(d->v->arena, d->p, id)->fold = TWI_FOLD_WEIGHT;
        if (!twi_draw_legal(d))
            twi_plan_set_place(d->v->arena, d->p, id)->fold = TWI_FOLD_TIME;
    }
}

/* A serial digit around the one fold of the scope: its outermost loop, cut in two or taken whole.
 */
static void draw_serial(twi_draw *d) {
    const twi_view *v = d->v;
    if (v->folds != 1 || v->serial || !twi_draw_chance(d, 2))
        return;
    for (unsigned a = 1; a < v->ir->axis.n; a++) {
        twi_map *m = &d->p->frame[0].map[a], was = *m;
        if (!(v->folded >> a & 1) || v->axis[a].kind != TWI_AXIS_FULL || !v->axis[a].known ||
            m->d[0].level != TWI_LV_LOOP)
            continue;
        if (m->n < TWI_MAX_DIGITS && m->d[0].extent > 2 && twi_draw_chance(d, 2)) {
            memmove(&m->d[1], &m->d[0], m->n * sizeof m->d[0]);
            m->n++;
            m->d[1].extent = 2 + twi_draw_below(d, m->d[0].extent - 2);
            m->d[0].extent = twi_cdiv(m->d[0].extent, m->d[1].extent);
        }
        m->d[0].level = TWI_LV_SERIAL;
        twi_view_finish(v, d->p);
        if (twi_draw_legal(d))
            return;
        *m = was;
        twi_view_finish(v, d->p);
    }
}

/* A power of two, mostly a large one, that divides n and is at most `most`. */
static int64_t part_of(twi_draw *d, int64_t n, int64_t most) {
    int64_t p = 1;
    while (2 * p <= most && n % (2 * p) == 0 && !twi_draw_chance(d, 4))
        p *= 2;
    return p;
}

void twi_draw_append(twi_map *m, unsigned level, int64_t stride, int64_t extent) {
    if (extent > 1)
        m->d[m->n++] = (twi_digit){(uint8_t)level, (uint16_t)stride, extent};
}

/* A copy map of the stage's tile: what lanes and subgroups do not take stays in slots. */
static void draw_copy(twi_draw *d, twi_stage_plan *s) {
    const twi_caps *caps = d->v->caps;
    int64_t inside[TWI_MAX_AXES] = {0}, lane = 1, sub = 1;
    for (unsigned k = 0; k < s->n; k++) {
        const twi_axis_digit at = s->order[k];
        const int64_t before = inside[at.axis] ? inside[at.axis] : 1;
        inside[at.axis] = before * d->p->frame[0].map[at.axis].d[at.digit].extent;
    }
    twi_stage_add_copy(d->v->arena, s, d->v->ir->axis.n);
    for (unsigned a = 1; a < d->v->ir->axis.n; a++) {
        twi_map *m = &s->copy[a];
        if (!inside[a])
            continue;
        const int64_t wide = part_of(d, inside[a], 4), rest = inside[a] / wide;
        const int64_t lanes = part_of(d, rest, caps->lane / lane);
        const int64_t subs = part_of(d, rest / lanes, caps->sub / sub);
        twi_draw_append(m, TWI_LV_SLOT, 0, rest / lanes / subs);
        twi_draw_append(m, TWI_LV_SUB, sub, subs);
        twi_draw_append(m, TWI_LV_LANE, lane, lanes);
        twi_draw_append(m, TWI_LV_SLOT, 0, wide);
        if (!m->n)
            m->d[m->n++] = (twi_digit){TWI_LV_SLOT, 0, 1};
        s->copy_axes |= UINT64_C(1) << a;
        lane *= lanes;
        sub *= subs;
    }
}

/* When its copies run: versions, and on implicit lanes a copy map with what it makes possible. */
static void draw_window(twi_draw *d, twi_stage_plan *s) {
    if (s->shared && twi_draw_chance(d, 2))
        draw_copy(d, s);
    if (twi_draw_chance(d, 2))
        return;
    s->window = (uint8_t)(1 + twi_draw_below(d, 4));
    if (s->shared && twi_draw_chance(d, 3))
        s->via = TWI_VIA_ASYNC;
    else if (s->copy_axes && !twi_draw_chance(d, 3))
        s->via = TWI_VIA_REGS;
}

/* One that fits the rows of a legal plan, if it is found soon. */
static void draw_swizzle(twi_draw *d, twi_swizzle *s) {
    for (unsigned i = 0; i < 8; i++) {
        const int64_t unit = INT64_C(1) << twi_draw_below(d, 5);
        s->span = (uint16_t)(unit << (1 + twi_draw_below(d, 4)));
        s->unit = (uint8_t)unit;
        s->rows = (uint8_t)(1 << (twi_draw_chance(d, 2) ? twi_draw_below(d, 4) : 0));
        if (twi_draw_legal(d))
            return;
    }
    s->span = 0;
}

/* A stage with the tile's digits in any order, axis after axis or mixed; plain:
 * without versions and copy maps. False: none can be. */
bool twi_draw_add_stage(twi_draw *d, twi_id id, twi_stage_plan *plain) {
    const twi_view *v = d->v;
    const twi_place *place = twi_plan_place(d->p, id);
    const twi_frame *f = &d->p->frame[place ? place->frame : 0];
    uint64_t axes = twi_ins_of(v->ir, id)->type.axes;
    twi_stage_plan s = {.value = id, .window = 1, .shared = v->caps->family == TWI_FAMILY_SIMT};
    bool serial = !s.shared, leave = twi_draw_chance(d, 2);
    for (unsigned k = 0; k < d->p->stages; k++)
        if (d->p->stage[k].value == id)
            return false;
    for (unsigned a = 1; a < v->ir->axis.n; a++)
        for (unsigned i = 0; (axes >> a & 1) && i < f->map[a].n; i++) {
            unsigned level = f->map[a].d[i].level;
            bool left = leave && twi_frame_is_around(f, a, i);
            serial = serial || level == TWI_LV_SERIAL;
            if (level != TWI_LV_SERIAL && level != TWI_LV_GRID && !left && s.n < TWI_MAX_LOOPS)
                s.order[s.n++] = (twi_axis_digit){(uint8_t)a, (uint8_t)i};
        }
    if (!serial || !s.n || d->p->stages == TWI_MAX_STAGES)
        return false;
    for (unsigned i = s.n; i > 1; i--) {
        unsigned k = (unsigned)twi_draw_below(d, i);
        twi_axis_digit was = s.order[i - 1];
        s.order[i - 1] = s.order[k];
        s.order[k] = was;
    }
    s.ahead = !s.shared && twi_draw_chance(d, 3) ? (uint8_t)(1 + twi_draw_below(d, 20)) : 0;
    s.pad = twi_draw_chance(d, 3) ? (uint32_t)(1 + twi_draw_below(d, 4)) : 0;
    /* Values load a vector from the place where the lane digit lies: it stays the fastest. */
    for (unsigned i = 0; v->caps->family == TWI_FAMILY_CPU && i + 1u < s.n; i++)
        if (f->map[s.order[i].axis].d[s.order[i].digit].level == TWI_LV_LANE) {
            twi_axis_digit was = s.order[s.n - 1];
            s.order[s.n - 1] = s.order[i];
            s.order[i] = was;
        }
    for (unsigned i = 0; i + 1u < s.n; i++) /* behind it boxes, whole */
        if (f->map[s.order[i].axis].d[s.order[i].digit].level == TWI_LV_ATOM) {
            twi_axis_digit box = s.order[i];
            memmove(&s.order[i], &s.order[i + 1], (s.n - 1u - i) * sizeof box);
            s.order[s.n - 1] = box;
        }
    *plain = s;
    draw_window(d, &s);
    d->p->stage[d->p->stages++] = s;
    return true;
}

void twi_draw_stage(twi_draw *d, twi_id id) {
    twi_stage_plan plain;
    if (!twi_draw_add_stage(d, id, &plain))
        return;
    twi_stage_plan *s = &d->p->stage[d->p->stages - 1];
    bool good = twi_draw_legal(d);
    if (!good) {
        *s = plain;
        good = twi_draw_legal(d);
    }
    if (!good)
        d->p->stages--;
    else if (s->shared && !s->pad)
        draw_swizzle(d, &s->swizzle);
}

static void draw_stages(twi_draw *d) {
    for (uint32_t i = 0; i < d->v->all.n; i++)
        if (twi_ins_of(d->v->ir, d->v->all.at[i])->op == TWI_LOAD && twi_draw_chance(d, 2))
            twi_draw_stage(d, d->v->all.at[i]);
}

/* A second frame in which a stored value is taken: other maps, the same positions for each group.
 */
static void draw_frame(twi_draw *d) {
    const twi_view *v = d->v;
    twi_id stored = 0;
    unsigned stores = 0;
    for (uint32_t i = 0; i < v->all.n; i++)
        if (twi_ins_of(v->ir, v->all.at[i])->op == TWI_STORE && twi_draw_chance(d, ++stores))
            stored = twi_arg(v->ir, v->all.at[i], 0);
    if (!stored || v->serial || d->p->frames > 1 || !twi_draw_chance(d, 3))
        return;
    twi_frame *f = &d->p->frame[0], *g = &d->p->frame[1];
    *g = twi_frame_copy(v->arena, f);
    g->name = twi_intern_str(&v->ir->ctx->names, "g");
    d->slots = v->caps->slots;
    d->lanes = v->caps->lane;
    d->subs = v->caps->sub;
    d->lane_axis = pick_lane_axis(d);
    d->again = true;
    bool good = true;
    for (unsigned a = 1; a < v->ir->axis.n; a++)
        if (good && (v->axes >> a & 1) && !((v->canonical | v->chain) >> a & 1))
            good = draw_map(d, a, &g->map[a]);
    d->again = false;
    twi_view_finish_frame(v, d->p, 1);
    twi_place *place = twi_plan_set_place(v->arena, d->p, stored), was = *place;
    place->to = 2;
    place->via = v->caps->family == TWI_FAMILY_SIMT && !twi_draw_chance(d, 4) ? TWI_TO_SHARED
                                                                              : TWI_TO_PRIVATE;
    place->pad = place->via == TWI_TO_SHARED && twi_draw_chance(d, 2)
                     ? (uint16_t)(1 + twi_draw_below(d, 4))
                     : 0;
    d->p->frames = 2;
    if (good && twi_draw_legal(d)) {
        if (place->via == TWI_TO_SHARED && !place->pad)
            draw_swizzle(d, &place->swizzle);
        return;
    }
    d->p->frames = 1;
    *twi_plan_set_place(v->arena, d->p, stored) = was;
}

static bool random_scope(twi_draw *d, twi_why *why);

/* The second launch's plan, of the tile IR that the split leaves; NULL: none was found. */
static twi_plan *draw_then(twi_draw *d) {
    const tw_ir *ir = twi_split_ir(d->v->arena, d->v->ir, d->p);
    twi_view *v = TWI_NEW(d->v->arena, twi_view);
    static const twi_wish no_wish = {0};
    twi_why why;
    if (!ir)
        return NULL;
    twi_draw then = {.v = v, .wish = &no_wish, .rng = d->rng, .second = true};
    twi_view_init(v, d->v->arena, ir, d->v->caps, d->v->scope);
    bool good = random_scope(&then, &why);
    d->rng = then.rng;
    return good ? then.p : NULL;
}

/* A folded axis's outermost loop, or what is left right of it, goes to groups. */
static void draw_split(twi_draw *d) {
    const twi_view *v = d->v;
    if (d->second || v->serial || !v->folds || !twi_draw_chance(d, 3))
        return;
    for (unsigned a = 1; a < v->ir->axis.n; a++) {
        twi_plan *was = twi_plan_new(v->arena);
        twi_map *m = &d->p->frame[0].map[a];
        if (!(v->folded >> a & 1) || v->axis[a].kind != TWI_AXIS_FULL || !v->axis[a].known ||
            m->d[0].level != TWI_LV_LOOP || twi_draw_chance(d, 2))
            continue;
        twi_plan_copy(v->arena, was, d->p);
        if (m->n < TWI_MAX_DIGITS && m->d[0].extent > 2 && !(v->canonical >> a & 1)) {
            memmove(&m->d[1], &m->d[0], m->n * sizeof m->d[0]);
            m->n++;
            m->d[1].extent = 2 + twi_draw_below(d, m->d[0].extent - 2);
            m->d[0].extent = twi_cdiv(m->d[0].extent, m->d[1].extent);
        }
        m->d[0].level = TWI_LV_GRID;
        twi_view_finish(v, d->p);
        d->p->then = draw_then(d);
        if (d->p->then && twi_draw_legal(d))
            return;
        *d->p = *was;
    }
}

/* A group order, and fewer groups that each do several. */
static void draw_launch(twi_draw *d) {
    twi_plan *p = d->p;
    int64_t all = twi_plan_blocks(p);
    if (twi_draw_chance(d, 2))
        p->order = (uint8_t)twi_draw_below(d, TWI_GROUPS_HILBERT + 1);
    p->band = p->order == TWI_GROUPS_BAND ? 1 + twi_draw_below(d, 5) : 0;
    if (all > 1 && twi_draw_chance(d, 4))
        p->persistent = 1 + twi_draw_below(d, all < 40 ? all - 1 : 39);
    if (twi_draw_legal(d))
        return;
    p->order = TWI_GROUPS_ROWS;
    p->band = p->persistent = 0;
}

static void draw_entries(twi_draw *d) {
    const tw_ir *ir = d->v->ir;
    twi_entry_plan e = {.name = twi_intern_str(&ir->ctx->names, "aligned16")};
    bool any = false;
    if (twi_draw_chance(d, 2))
        return;
    twi_reserve(d->v->arena, &e.align, ir->array.n);
    e.align.n = ir->array.n;
    for (uint32_t a = 0; a < ir->array.n; a++) {
        bool promise =
            a && ir->array.at[a].role != TWI_TEMP && ir->array.at[a].rank && !twi_draw_chance(d, 3);
        e.align.at[a] = promise ? 16 : 0;
        any = any || promise;
    }
    if (any)
        twi_push(d->v->arena, &d->p->entry, e);
}

/* Nothing drawn was legal: the families' proposals, in a drawn order. */
static bool fall_back(twi_draw *d, twi_why *why) {
    twi_candidate *c;
    twi_question q = {d->v->arena, d->v->ir, d->v->caps, d->wish, NULL, INFINITY};
    uint32_t n = twi_list_of(&q, d->v->scope, &c), good = 0;
    while (good < n && c[good].legal)
        good++;
    if (!good) {
        *why = c[0].why;
        return false;
    }
    *d->p = *c[twi_draw_below(d, good)].plan;
    d->p->entry.n = 1;
    return true;
}

static bool random_scope(twi_draw *d, twi_why *why) {
    bool found = false;
    twi_plan *plain = twi_view_plan(d->v);
    d->p = twi_plan_new(d->v->arena);
    for (unsigned i = 0; i < TWI_DRAW_TRIES && !found; i++) {
        twi_plan_copy(d->v->arena, d->p, plain);
        d->p->place.n = 0;
        found = draw_maps(d);
    }
    if (!found && !fall_back(d, why))
        return false;
    twi_draw_atoms(d);
    twi_draw_chain(d);
    draw_split(d);
    draw_keeps(d);
    draw_serial(d);
    twi_draw_order(d, 0);
    draw_around(d);
    draw_folds(d);
    draw_stages(d);
    draw_frame(d);
    draw_launch(d);
    d->p->second = d->second;
    if (d->v->scope == 0 && !d->second)
        draw_entries(d);
    return true;
}

twi_plans *twi_random_of(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                         const twi_wish *wish, uint64_t seed, twi_why *why) {
    static const twi_wish no_wish = {0};
    twi_plans *plans = TWI_NEW(arena, twi_plans);
    plans->ir = ir;
    plans->n = twi_par_count(ir);
    plans->scope = TWI_NEW_N(arena, twi_plan, plans->n);
    for (uint32_t k = 0; k < plans->n; k++) {
        twi_view *v = TWI_NEW(arena, twi_view);
        twi_draw d = {.v = v, .wish = wish ? wish : &no_wish};
        twi_view_init(v, arena, ir, caps, k);
        twi_rng_init(&d.rng, seed * 1000003u + k);
        if (!random_scope(&d, why))
            return NULL;
        plans->scope[k] = *d.p;
    }
    twi_share_entries(plans);
    return plans;
}
