/* SPDX-License-Identifier: Apache-2.0
 * Maps and plans from numbers (view.h). Digits of extent 1 are left out, so equal plans have equal
 * texts.
 */
#include "search/view.h"

static void add(twi_map *m, unsigned level, int64_t extent) {
    if (extent != 1 && m->n < TWI_MAX_DIGITS)
        m->d[m->n++] = (twi_digit){.level = (uint8_t)level, .extent = extent};
}

/* What a map must say whatever its extent: the grid or serial digit, or at least one digit. */
static void head(twi_map *m, unsigned level, int64_t extent) {
    m->d[m->n++] = (twi_digit){.level = (uint8_t)level, .extent = extent};
}

static int64_t at_least_1(int64_t x) { return x > 1 ? x : 1; }

static void add_inner(twi_map *m, const twi_cut_numbers *c) {
    add(m, TWI_LV_SLOT, c->unroll);
    add(m, TWI_LV_SUB, c->subs);
    add(m, TWI_LV_LANE, c->lanes);
    add(m, TWI_LV_SLOT, c->wide);
}

bool twi_view_map(const twi_view *v, unsigned a, twi_cut_numbers c, twi_map *m) {
    const twi_axis_view *x = &v->axis[a];
    c.rows = at_least_1(c.rows);
    c.unroll = at_least_1(c.unroll);
    c.subs = at_least_1(c.subs);
    c.lanes = at_least_1(c.lanes);
    c.wide = at_least_1(c.wide);
    int64_t inner = c.unroll * c.subs * c.lanes * c.wide;
    m->n = 0;
    if (x->kind == TWI_AXIS_INDEX) {
        head(m, TWI_LV_GRID, at_least_1(twi_cdiv(x->extent, inner * c.rows)));
        add(m, c.whole ? TWI_LV_SLOT : TWI_LV_LOOP, c.rows);
        add_inner(m, &c);
        return true;
    }
    if (x->kind == TWI_AXIS_FULL) {
        int64_t outer = x->known ? at_least_1(twi_cdiv(x->extent, inner)) : 0;
        if (!x->known && (c.subs > 1 || c.whole))
            return false;
        add(m, c.whole && x->known ? TWI_LV_SLOT : TWI_LV_LOOP, outer);
        add_inner(m, &c);
        if (!m->n)
            head(m, TWI_LV_LOOP, 1);
        return true;
    }
    if (x->block % inner)
        return false;
    int64_t count = x->known ? at_least_1(twi_cdiv(x->extent, x->block)) : 0;
    head(m, x->kind == TWI_AXIS_STEP ? TWI_LV_SERIAL : TWI_LV_GRID, count);
    add(m, c.whole ? TWI_LV_SLOT : TWI_LV_LOOP, x->block / inner);
    add_inner(m, &c);
    return true;
}

bool twi_view_canonical(const twi_view *v, unsigned a, unsigned time, int64_t subs, int64_t lanes,
                        twi_map *m) {
    const twi_axis_view *x = &v->axis[a];
    int64_t n = x->block ? x->block : x->extent, part = 1;
    while (part < 256 && part < n)
        part *= 2;
    m->n = 0;
    if ((!x->known && !x->block) || part % (subs * lanes) || x->kind == TWI_AXIS_INDEX)
        return false;
    if (x->kind == TWI_AXIS_STEP) {
        if (n % part)
            return false;
        head(m, TWI_LV_SERIAL, x->known ? at_least_1(twi_cdiv(x->extent, n)) : 0);
    }
    int64_t chunks = twi_cdiv(n, 2048);
    add(m, TWI_LV_LOOP, at_least_1(chunks));
    add(m, time, chunks > 1 ? 8 : at_least_1(twi_cdiv(n, part)));
    add(m, TWI_LV_SUB, subs); /* partials of subgroups combine last: they weigh most */
    add(m, TWI_LV_SLOT, part / (subs * lanes));
    add(m, TWI_LV_LANE, lanes);
    if (!m->n)
        head(m, TWI_LV_LOOP, 1);
    return true;
}

/* Most lanes a canonical map can use without leaving the target. */
static int64_t canonical_lanes(const twi_view *v, unsigned a) {
    const twi_axis_view *x = &v->axis[a];
    int64_t n = x->block ? x->block : x->extent, lanes = 1;
    while (!(v->chain >> a & 1) && lanes < v->caps->lane && lanes < n)
        lanes *= 2;
    return lanes;
}

/* A target that cannot index private memory holds its stripes in slots. */
static bool held(const twi_view *v, unsigned a) {
    bool counted = v->axis[a].known || v->axis[a].block;
    return (v->stripes >> a & 1) && counted && !v->caps->indexable;
}

void twi_view_loops(const twi_view *v, unsigned a, twi_map *m) {
    twi_cut_numbers c = {.whole = held(v, a)};
    if (c.whole && (v->canonical >> a & 1) && twi_view_canonical(v, a, TWI_LV_SLOT, 1, 1, m))
        return;
    (void)twi_view_map(v, a, c, m);
}

void twi_view_plain(const twi_view *v, unsigned a, twi_map *m) {
    if ((v->canonical >> a & 1) &&
        twi_view_canonical(v, a, v->caps->indexable ? TWI_LV_LOOP : TWI_LV_SLOT, 1,
                           canonical_lanes(v, a), m))
        return;
    twi_cut_numbers c = {.whole = held(v, a)};
    (void)twi_view_map(v, a, c, m);
}

void twi_view_leave_lanes(const twi_view *v, twi_plan *p, unsigned a) {
    if (twi_map_level_extent(&p->frame[0].map[a], TWI_LV_LANE) == 1)
        return;
    for (unsigned b = 1; b < v->ir->axis.n; b++)
        if (b != a && (v->canonical >> b & 1))
            twi_view_loops(v, b, &p->frame[0].map[b]);
}

static twi_sym name_of(const twi_view *v, const char *text) {
    return twi_intern_str(&v->ir->ctx->names, text);
}

twi_plan *twi_view_plan(const twi_view *v) {
    twi_plan *p = twi_plan_new(v->arena);
    twi_plan_copy(v->arena, p, v->plain);
    return p;
}

const twi_plan *twi_plain_plan(const twi_view *v) {
    twi_plan *p = twi_plan_new(v->arena);
    const char *spec = twi_ir_spec(v->ir, v->arena);
    p->kernel = v->ir->kernel;
    p->target = v->caps->name;
    p->isa = v->caps->isa;
    p->scope = v->scope;
    p->merge = v->ir->merged;
    p->join = v->again ? 0 : v->ir->region.at[v->par].joined;
    p->klass = (uint8_t)twi_ir_class(v->ir);
    p->spec = *spec ? name_of(v, spec) : 0;
    p->frames = 1;
    p->frame[0] = twi_frame_new(v->arena, name_of(v, "f"), v->ir->axis.n);
    p->frame[0].axes = v->axes;
    for (unsigned a = 1; a < v->ir->axis.n; a++)
        if (v->axes >> a & 1)
            twi_view_plain(v, a, &p->frame[0].map[a]);
    twi_entry_plan entry = {.name = name_of(v, "main")};
    twi_push(v->arena, &p->entry, entry);
    return p;
}

/* The digit of a level that comes next, by stride, of equal ones the last axis's last; NULL: none
 * is left. `done`: sets of digits by axis. */
static twi_digit *next_packed(twi_frame *f, unsigned level, uint8_t *done) {
    twi_digit *best = NULL;
    unsigned axis = 0, digit = 0;
    for (unsigned a = f->ids; a-- > 1;)
        for (unsigned i = f->axes >> a & 1 ? f->map[a].n : 0u; i-- > 0;) {
            twi_digit *d = &f->map[a].d[i];
            if (d->level != level || done[a] >> i & 1 || (best && best->stride <= d->stride))
                continue;
            best = d;
            axis = a;
            digit = i;
        }
    if (best)
        done[axis] |= (uint8_t)(1u << digit);
    return best;
}

/* Digits of a level are packed in the order of the strides that they have; new ones have 0. */
static void pack(twi_frame *f, unsigned level) {
    uint8_t done[TWI_MAX_AXES] = {0};
    int64_t stride = 1;
    for (twi_digit *d; (d = next_packed(f, level, done));) {
        d->stride = (uint16_t)(stride > UINT16_MAX ? UINT16_MAX : stride);
        stride *= d->extent;
    }
}

void twi_view_finish_frame(const twi_view *v, twi_plan *p, unsigned frame) {
    pack(&p->frame[frame], TWI_LV_LANE);
    pack(&p->frame[frame], TWI_LV_SUB);
    twi_view_order(v, p, frame);
}

void twi_view_finish(const twi_view *v, twi_plan *p) {
    if (p->frames == 1)
        twi_view_split_orders(v, p);
    for (unsigned i = 0; i < p->frames; i++)
        twi_view_finish_frame(v, p, i);
}
