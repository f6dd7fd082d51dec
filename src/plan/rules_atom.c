/* SPDX-License-Identifier: Apache-2.0
 * Rules of atoms: the dot is one that the atom evaluates, its box stands in the maps, and stages of
 * its operands end in the box.
 */
#include "plan/atom.h"
#include "plan/rules_parts.h"

/* A dot by boxes under judgement. */
typedef struct {
    const twi_judge *j;
    twi_id dot;
    const twi_frame *f;
    const twi_atom_row *row;
    const char *name;
    unsigned axis; /* folded */
} boxed;

/* Positions that boxes have beyond the axis, at most; -1: not known. Of a serial axis those of the
 * last block, which ends with a box. */
static int64_t beyond(const boxed *b) {
    int64_t extent = 0;
    const twi_axis *a = &b->j->ir->axis.at[b->axis];
    const bool known = twi_axis_span(b->j->ir, b->axis, &extent);
    const int64_t more = twi_map_extent(&b->f->map[b->axis]) - extent;
    if (a->kind == TWI_AXIS_STEP)
        return known && more == 0 ? 0 : b->row->k - 1;
    return known ? more : -1;
}

/* An atom digit is the whole of its dot's box: the last one of the map, which covers the axis and
 * less than a box more. */
static bool digit_fits(const boxed *b) {
    const twi_map *m = &b->f->map[b->axis];
    const int at = twi_atom_digit(b->f, b->axis);
    if (at < 0 || m->d[at].extent != b->row->k)
        return twi_refuse_map(b->j, b->axis, m,
                              "atom %s of %s takes boxes of %d: 'atom %d' ends it", b->row->name,
                              b->name, b->row->k, b->row->k);
    if (beyond(b) < 0 || beyond(b) >= b->row->k)
        return twi_refuse_map(
            b->j, b->axis, m, "atom %s of %s takes boxes of %d: %lld digits, %lld beyond the axis",
            b->row->name, b->name, b->row->k, (long long)twi_map_extent(m), (long long)beyond(b));
    return true;
}

/* Nothing is left out of a box: what an operand has beyond the axis is a stage's 0. */
static bool pads_fit(const boxed *b, twi_id load, bool staged) {
    return staged || beyond(b) == 0 ||
           twi_refuse(
               b->j->why,
               "value %s: atom %s takes whole boxes of %d, here %lld positions more: stage %s",
               b->name, b->row->name, b->row->k, (long long)beyond(b),
               twi_value_name(b->j->ir, load));
}

/* What is computed has the lanes, and comes from another frame, in boxes. */
static bool computed_fits(const boxed *b, twi_id x) {
    const char *name = twi_value_name(b->j->ir, x);
    const twi_place *p = twi_plan_place(b->j->p, x);
    if (twi_judge_level(b->f, twi_ins_of(b->j->ir, x)->type.axes, TWI_LV_LANE) == 1)
        return twi_refuse(b->j->why, "value %s: atom %s: %s, which is computed, has no lanes",
                          b->name, b->row->name, name);
    return (p && p->to && &b->j->p->frame[p->to - 1u] == b->f) ||
           twi_refuse(b->j->why,
                      "value %s: atom %s reads boxes of what is computed: 'value %s: to %s via "
                      "private'",
                      b->name, b->row->name, name, twi_text(&b->j->ir->ctx->names, b->f->name));
}

/* One operand has a vector's lanes, the other none. */
static bool lanes_fit(const boxed *b) {
    const int64_t wanted = b->j->caps->vector_bytes / 4;
    int64_t lanes[2];
    for (unsigned k = 0; k < 2; k++) {
        const twi_ins *x = twi_ins_of(b->j->ir, twi_arg(b->j->ir, b->dot, k));
        lanes[k] = twi_judge_level(b->f, x->type.axes, TWI_LV_LANE);
    }
    const int64_t most = lanes[0] > lanes[1] ? lanes[0] : lanes[1];
    if (lanes[0] != 1 && lanes[1] != 1)
        return twi_refuse(b->j->why, "value %s: atom %s: one operand has lanes, the other has none",
                          b->name, b->row->name);
    return most == wanted ||
           twi_refuse(b->j->why, "value %s: atom %s takes %lld lanes of a vector, here %lld",
                      b->name, b->row->name, (long long)wanted, (long long)most);
}

/* Elements of a box lie side by side: (lanes and) the atom digit end the order. */
static bool stage_fits(const boxed *b, const twi_stage_plan *s) {
    const char *name = twi_value_name(b->j->ir, s->value);
    const uint64_t axes = twi_ins_of(b->j->ir, s->value)->type.axes;
    const bool lanes = twi_judge_level(b->f, axes, TWI_LV_LANE) > 1;
    unsigned level[2] = {TWI_LV_SLOT, TWI_LV_SLOT};
    for (unsigned k = 0; k < 2 && k < s->n; k++) {
        const twi_axis_digit *d = &s->order[s->n - 1u - k];
        level[k] = b->f->map[d->axis].d[d->digit].level;
    }
    if (level[0] == TWI_LV_ATOM && (!lanes || level[1] == TWI_LV_LANE))
        return true;
    return twi_refuse(b->j->why, "stage %s: atom %s reads boxes: its order ends in %s%s.atom", name,
                      b->row->name, lanes ? "the lane digit, then " : "",
                      twi_judge_axis(b->j, b->axis));
}

static bool dot_fits(const boxed *b) {
    const tw_ir *ir = b->j->ir;
    if (!digit_fits(b) || !lanes_fit(b))
        return false;
    bool staged[2] = {false, false};
    for (unsigned k = 0; k < 2; k++) {
        const twi_id x = twi_atom_operand(ir, b->dot, k), arg = twi_arg(ir, b->dot, k);
        const twi_place *p = twi_plan_place(b->j->p, x), *q = twi_plan_place(b->j->p, arg);
        if (twi_ins_of(ir, x)->op != TWI_LOAD) {
            staged[k] = true;
            if (!computed_fits(b, x))
                return false;
        } else if ((p && (p->keep || p->to)) || (q && (q->keep || q->to))) {
            return twi_refuse(b->j->why, "value %s: keep, but atom %s of %s reads boxes: stage it",
                              twi_value_name(ir, p && (p->keep || p->to) ? x : arg), b->row->name,
                              b->name);
        }
    }
    for (unsigned i = 0; i < b->j->p->stages; i++) {
        const twi_stage_plan *s = &b->j->p->stage[i];
        bool mine = false;
        for (unsigned k = 0; k < 2; k++)
            if (s->value == twi_atom_operand(ir, b->dot, k))
                mine = staged[k] = true;
        if (mine && !stage_fits(b, s))
            return false;
    }
    for (unsigned k = 0; k < 2; k++) {
        const twi_id x = twi_atom_operand(ir, b->dot, k);
        if (!pads_fit(b, x, staged[k]))
            return false;
        if (twi_atom_has_groups(b->row) && !staged[k] &&
            twi_judge_level(b->f, twi_ins_of(ir, x)->type.axes, TWI_LV_LANE) > 1)
            return twi_refuse(
                b->j->why,
                "value %s: atom %s reads the operand with lanes from a stage, %s has none", b->name,
                b->row->name, twi_value_name(ir, x));
    }
    return true;
}

/* Is the value made in the frame, or taken there? */
static bool is_in(const twi_judge *j, twi_id v, unsigned frame) {
    const twi_place *p = twi_plan_place(j->p, v);
    return (p ? p->frame : 0u) == frame || (p && p->to == frame + 1u);
}

/* The axis of an atom digit is the dot's alone, in its frame. */
static bool axis_fits(const twi_judge *j, unsigned frame, unsigned axis) {
    const tw_ir *ir = j->ir;
    const twi_map *m = &j->p->frame[frame].map[axis];
    twi_id dot = 0;
    for (uint32_t i = 0; i < j->p->place.n; i++) {
        const twi_place *p = &j->p->place.at[i];
        if (p->frame == frame && twi_atom_row_of(p->atom)->k > 1 &&
            twi_fold_axes(ir, p->value) >> axis & 1)
            dot = p->value;
    }
    if (!dot)
        return twi_refuse_map(j, axis, m, "an atom digit, but no atom of a dot over %s takes it",
                              twi_judge_axis(j, axis));
    for (uint32_t i = 0; i < j->all.n; i++) {
        const twi_id v = j->all.at[i];
        const bool has = (twi_ins_of(ir, v)->type.axes | twi_fold_axes(ir, v)) >> axis & 1;
        bool own = v == dot;
        for (unsigned k = 0; k < 2; k++)
            own = own || v == twi_arg(ir, dot, k) || v == twi_atom_operand(ir, dot, k);
        if (has && !own && is_in(j, v, frame))
            return twi_refuse_map(j, axis, m, "an atom digit of %s, but %s runs along %s too",
                                  twi_value_name(ir, dot), twi_value_name(ir, v),
                                  twi_judge_axis(j, axis));
    }
    return true;
}

bool twi_judge_atoms(const twi_judge *j) {
    for (uint32_t i = 0; i < j->all.n; i++) {
        const twi_place *p = twi_plan_place(j->p, j->all.at[i]);
        boxed b = {.j = j, .dot = j->all.at[i]};
        if (!p || twi_atom_row_of(p->atom)->k == 1)
            continue;
        if (!twi_atom_fits(j->ir, j->caps, b.dot, p->atom, j->why))
            return false;
        b.f = &j->p->frame[p->frame];
        b.row = twi_atom_row_of(p->atom);
        b.name = twi_value_name(j->ir, b.dot);
        b.axis = twi_ins_of(j->ir, b.dot)->fold[0];
        if (!dot_fits(&b))
            return false;
    }
    for (unsigned f = 0; f < j->p->frames; f++)
        for (unsigned a = 1; a < j->ir->axis.n; a++)
            if (j->p->frame[f].axes >> a & 1 && twi_atom_digit(&j->p->frame[f], a) >= 0 &&
                !axis_fits(j, f, a))
                return false;
    return true;
}
