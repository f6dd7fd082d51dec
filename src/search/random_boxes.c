/* SPDX-License-Identifier: Apache-2.0
 * Drawn dots by boxes (plan/atom.def): of loads in the first frame; where a dot takes what is
 * computed, each in a frame of its own, whose operands come from another one or from stages.
 */
#include "plan/atom.h"
#include "search/random.h"

/* Another tile of the dot's own axes: a whole vector's lanes along the one that
 * stores walk along.
 */
static bool draw_tile(twi_draw *d, twi_id dot) {
    const twi_view *v = d->v;
    const twi_ins *i = twi_ins_of(v->ir, dot);
    for (unsigned a = 1; a < v->ir->axis.n; a++) {
        twi_cut_numbers c = {.rows = 1 + twi_draw_below(d, 3), .unroll = 1 + twi_draw_below(d, 4)};
        c.lanes = (int)a == v->unit ? v->caps->vector_bytes / 4 : 1;
        if (i->type.axes >> a & 1 && !twi_view_map(v, a, c, &d->p->frame[0].map[a]))
            return false;
    }
    return true;
}

/* A dot by boxes: a time digit of the folded axis that they divide leaves them
 * to the atom. */
static bool draw_boxes(twi_draw *d, twi_id dot, int64_t k) {
    twi_map *m = &d->p->frame[0].map[twi_ins_of(d->v->ir, dot)->fold[0]];
    unsigned i = m->n;
    while (i > 0 && (twi_level_is_space(m->d[i - 1].level) || m->d[i - 1].extent % k))
        i--;
    if (!i || m->n == TWI_MAX_DIGITS || !draw_tile(d, dot))
        return false;
    m->d[i - 1].extent /= k;
    m->d[m->n++] = (twi_digit){.level = TWI_LV_ATOM, .extent = k};
    return true;
}

static bool draw_atom(twi_draw *d, twi_id dot, unsigned atom) {
    const twi_frame was = twi_frame_copy(d->v->arena, &d->p->frame[0]);
    const bool drawn = draw_boxes(d, dot, twi_atom_row_of(atom)->k);
    twi_plan_set_place(d->v->arena, d->p, dot)->atom = (uint8_t)atom;
    twi_view_finish(d->v, d->p);
    const uint8_t stages = d->p->stages;
    for (unsigned k = 0; drawn && twi_atom_has_groups(twi_atom_row_of(atom)) && k < 2; k++)
        twi_draw_stage(d, twi_atom_operand(d->v->ir, dot, k)); /* the one with lanes stays */
    if (drawn && twi_draw_legal(d))
        return true;
    d->p->stages = stages;
    d->p->frame[0] = was;
    twi_plan_set_place(d->v->arena, d->p, dot)->atom = TWI_ATOM_NONE;
    return false;
}

void twi_draw_atoms(twi_draw *d) {
    twi_why why;
    for (uint32_t i = 0; i < d->v->all.n; i++) {
        const twi_id dot = d->v->all.at[i];
        bool drawn = twi_ins_of(d->v->ir, dot)->op != TWI_DOT;
        for (unsigned a = TWI_ATOMS; !drawn && a-- > 1;)
            drawn = twi_atom_row_of(a)->k > 1 && twi_atom_loads(d->v->ir, dot) &&
                    twi_atom_fits(d->v->ir, d->v->caps, dot, a, &why) && !twi_draw_chance(d, 4) &&
                    draw_atom(d, dot, a);
    }
}

/* ---- dots by boxes in frames of their own ---- */

static twi_plan copied(twi_draw *d, const twi_plan *p) {
    twi_plan c;
    twi_plan_copy(d->v->arena, &c, p);
    return c;
}

static bool is_time(const twi_draw *d, unsigned a, const twi_map *m, unsigned i) {
    const bool trips = i == 0 && d->v->axis[a].kind == TWI_AXIS_STEP;
    return !trips && !twi_level_is_space(m->d[i].level) && m->d[i].level != TWI_LV_ATOM;
}

/* As many positions of a worker, in other loops and slots. */
static void recut(twi_draw *d, unsigned a, twi_map *m) {
    twi_map out = {0};
    for (unsigned i = 0; i < m->n;) {
        int64_t all = 1;
        unsigned end = i;
        while (end < m->n && is_time(d, a, m, end) && m->d[end].extent > 0)
            all *= m->d[end++].extent;
        if (end == i) {
            out.d[out.n++] = m->d[i++];
            continue;
        }
        const int64_t inner = twi_draw_fitting(d, 16, all), outer = all / inner;
        const bool slots = inner <= 8 && twi_draw_chance(d, 2);
        twi_draw_append(&out, outer <= 4 && twi_draw_chance(d, 2) ? TWI_LV_SLOT : TWI_LV_LOOP, 0,
                        outer);
        twi_draw_append(&out, slots ? TWI_LV_SLOT : TWI_LV_LOOP, 0, inner);
        i = end;
    }
    if (out.n)
        *m = out;
}

/* A whole vector's lanes along one axis of the first frame, none along the
 * others. */
static bool draw_rows(twi_draw *d, unsigned rows) {
    const twi_view *v = d->v;
    twi_frame *f = &d->p->frame[0];
    for (unsigned a = 1; a < v->ir->axis.n; a++) {
        twi_cut_numbers c = {.rows = 1 + twi_draw_below(d, 3),
                             .unroll = INT64_C(1) << twi_draw_below(d, 3)};
        c.lanes = a == rows ? v->caps->vector_bytes / 4 : 1;
        if (!(v->axes >> a & 1) ||
            (a != rows && twi_map_level_extent(&f->map[a], TWI_LV_LANE) == 1))
            continue;
        if ((v->chain | v->canonical) >> a & 1 || !twi_view_map(v, a, c, &f->map[a]))
            return false;
    }
    twi_view_finish(v, d->p);
    return twi_draw_legal(d);
}

/* Boxes over all of the folded axis, in loops and slots. */
static bool draw_folded(twi_draw *d, unsigned a, int64_t box, twi_map *m) {
    const twi_axis_view *x = &d->v->axis[a];
    const bool step = x->kind == TWI_AXIS_STEP;
    if (step ? x->block % box != 0 : x->kind != TWI_AXIS_FULL || !x->known)
        return false;
    const twi_digit trips = m->d[0];
    const int64_t boxes = twi_cdiv(step ? x->block : x->extent, box);
    const int64_t slots = twi_draw_chance(d, 2) ? twi_draw_fitting(d, 4, boxes) : 1;
    m->n = 0;
    if (step)
        m->d[m->n++] = trips;
    twi_draw_append(m, TWI_LV_LOOP, 0, boxes / slots);
    twi_draw_append(m, TWI_LV_SLOT, 0, slots);
    twi_draw_append(m, TWI_LV_ATOM, 0, box);
    return true;
}

/* Of a frame that makes what a dot takes: mostly the first one's positions, cut in another way;
 * else any map of slots and lanes, which legality may refuse. */
static void draw_made(twi_draw *d, unsigned a, twi_map *m) {
    const int64_t lanes = twi_map_level_extent(m, TWI_LV_LANE);
    const bool fewer = lanes > 1 && twi_draw_chance(d, 4);
    const twi_cut_numbers c = {.rows = 1 + twi_draw_below(d, 3),
                               .unroll = 1 + twi_draw_below(d, 6),
                               .lanes = fewer ? lanes / 2 : lanes};
    twi_map other;
    if (twi_draw_chance(d, 3) && twi_view_map(d->v, a, c, &other))
        *m = other;
    else
        recut(d, a, m);
}

/* A frame that makes what the dot takes. */
static void draw_maker(twi_draw *d, twi_id x) {
    const twi_plan was = copied(d, d->p);
    twi_frame f = twi_frame_copy(d->v->arena, &d->p->frame[0]);
    if (d->p->frames == TWI_MAX_FRAMES)
        return;
    for (unsigned a = 1; a < d->v->ir->axis.n; a++)
        if (f.axes >> a & 1)
            draw_made(d, a, &f.map[a]);
    const unsigned frame = twi_view_add_frame(d->v, d->p, &f);
    twi_view_finish_frame(d->v, d->p, frame);
    twi_plan_set_place(d->v->arena, d->p, x)->frame = (uint8_t)frame;
    if (!twi_draw_legal(d))
        *d->p = was;
}

/* Where the dot's operands come from: what is computed from the frame that
 * makes it, loads from stages or as they lie. */
static void draw_operands(twi_draw *d, twi_id dot, unsigned frame, unsigned rows) {
    for (unsigned k = 0; k < 2; k++) {
        const twi_id x = twi_atom_operand(d->v->ir, dot, k);
        const twi_ins *i = twi_ins_of(d->v->ir, x);
        twi_place *place = twi_plan_set_place(d->v->arena, d->p, x);
        twi_stage_plan plain;
        if (i->op != TWI_LOAD) {
            place->to = (uint8_t)(frame + 1u);
            place->via = TWI_TO_PRIVATE;
            continue;
        }
        place->frame = (uint8_t)frame;
        const bool staged = i->type.axes >> rows & 1 || !twi_draw_chance(d, 4);
        if (staged && twi_draw_add_stage(d, x, &plain) && !twi_draw_chance(d, 4))
            d->p->stage[d->p->stages - 1] = plain;
    }
}

static bool draw_apart(twi_draw *d, twi_id dot, unsigned atom, unsigned rows) {
    const twi_view *v = d->v;
    const twi_ins *i = twi_ins_of(v->ir, dot);
    const twi_plan was = copied(d, d->p);
    twi_frame f = twi_frame_copy(d->v->arena, &d->p->frame[0]);
    const uint64_t axes = twi_ins_of(v->ir, twi_arg(v->ir, dot, 0))->type.axes ^
                          twi_ins_of(v->ir, twi_arg(v->ir, dot, 1))->type.axes;
    if (d->p->frames == TWI_MAX_FRAMES || !(axes >> rows & 1) ||
        !draw_folded(d, i->fold[0], twi_atom_row_of(atom)->k, &f.map[i->fold[0]]))
        return false;
    for (unsigned a = 1; a < v->ir->axis.n; a++) {
        const twi_cut_numbers c = {.unroll = INT64_C(1)
                                             << twi_draw_below(d, v->axis[a].block > 1 ? 6 : 4)};
        if (a == i->fold[0] || !(f.axes >> a & 1))
            continue;
        twi_map m; /* of other columns as many as the first frame has */
        const bool cut = a != rows && v->axis[a].kind != TWI_AXIS_INDEX &&
                         twi_view_map(v, a, c, &m) &&
                         twi_map_extent(&m) == twi_map_extent(&f.map[a]) && !twi_draw_chance(d, 4);
        if (cut)
            f.map[a] = m;
        else
            recut(d, a, &f.map[a]);
    }
    const unsigned frame = twi_view_add_frame(v, d->p, &f);
    twi_view_finish_frame(v, d->p, frame);
    twi_place *own = twi_plan_set_place(v->arena, d->p, dot);
    own->frame = (uint8_t)frame;
    own->atom = (uint8_t)atom;
    draw_operands(d, dot, frame, rows);
    if (twi_draw_legal(d)) {
        twi_draw_order(d, frame);
        return true;
    }
    *d->p = was;
    return false;
}

static bool is_computed(const twi_draw *d, twi_id dot, unsigned k) {
    return twi_ins_of(d->v->ir, twi_atom_operand(d->v->ir, dot, k))->op != TWI_LOAD;
}

static unsigned fitting_atom(twi_draw *d, twi_id dot) {
    twi_why why;
    for (unsigned a = TWI_ATOMS; twi_ins_of(d->v->ir, dot)->op == TWI_DOT && a-- > 1;)
        if (twi_atom_row_of(a)->k > 1 && twi_atom_fits(d->v->ir, d->v->caps, dot, a, &why) &&
            !twi_draw_chance(d, 4))
            return a;
    return TWI_ATOM_NONE;
}

/* Dots of what is computed, and then others, in frames of their own: rows lie
 * in lanes. */
void twi_draw_chain(twi_draw *d) {
    const twi_view *v = d->v;
    twi_id x = 0;
    for (uint32_t i = 0; i < v->all.n && !x; i++) {
        const twi_id dot = v->all.at[i];
        for (unsigned k = 0; twi_ins_of(v->ir, dot)->op == TWI_DOT && k < 2; k++)
            if (is_computed(d, dot, k) && fitting_atom(d, dot))
                x = twi_atom_operand(v->ir, dot, k);
    }
    const twi_plan was = copied(d, d->p);
    for (unsigned t = 0; x && t < TWI_DRAW_TRIES; t++) {
        const unsigned rows = 1 + (unsigned)twi_draw_below(d, v->ir->axis.n - 1);
        bool any = false;
        if (!(twi_ins_of(v->ir, x)->type.axes >> rows & 1) || !draw_rows(d, rows)) {
            *d->p = copied(d, &was);
            continue;
        }
        if (twi_draw_chance(d, 2))
            draw_maker(d, x);
        for (uint32_t i = v->all.n; i-- > 0;) { /* what takes it first */
            const twi_id dot = v->all.at[i];
            const twi_place *place = twi_plan_place(d->p, dot);
            const unsigned atom = place && place->atom ? TWI_ATOM_NONE : fitting_atom(d, dot);
            bool drawn = false;
            for (unsigned k = 0; atom && !drawn && k < 4; k++)
                drawn = draw_apart(d, dot, atom, rows);
            any = any || drawn;
        }
        if (any)
            return;
        *d->p = copied(d, &was);
    }
}
