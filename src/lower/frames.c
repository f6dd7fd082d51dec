/* SPDX-License-Identifier: Apache-2.0
 * Frames: each group of roots is walked in the frame of its place. A settled value whose maps
 * differ in the frame that needs it is taken there by a carrier: an object with one dimension an
 * axis, indexed by the position inside the group, private where one worker holds all that it will
 * need, else shared.
 */
#include "lower/walk.h"

void twi_w_enter(twi_lowering *w, unsigned frame) {
    w->frame_id = frame;
    w->frame = &w->plan->frame[frame];
    w->digit = w->digits[frame];
    w->lane_axis = -1;
    w->lanes = w->vectors ? 1 : w->caps->lane;
    for (unsigned a = 0; w->vectors && a < w->ir->axis.n; a++) {
        int64_t e =
            w->frame->axes >> a & 1 ? twi_map_level_extent(&w->frame->map[a], TWI_LV_LANE) : 1;
        if (e <= 1)
            continue;
        w->lane_axis = (int)a;
        w->lanes = (uint32_t)e;
    }
}

unsigned twi_frame_of(const twi_lowering *w, twi_id v) {
    const twi_ins *i = twi_ins_of(w->ir, v);
    const twi_place *place = twi_plan_place(w->plan, v);
    if (twi_op_row(i->op)->kind ==
        TWI_KIND_EFFECT) { /* where its value is taken, else where that is made */
        place = twi_plan_place(w->plan, twi_arg(w->ir, v, 0));
        if (place && place->to)
            return place->to - 1u;
    }
    return place ? place->frame : 0;
}

/* Do the same workers hold an axis, in stripes of one numbering? However the time digits cut the
 * positions into loops and slots: they count the same. */
static bool same_elements(const twi_map *m, const twi_map *n) {
    if (twi_map_equal(m, n))
        return true;
    if (!m->n || !n->n || twi_map_level_extent(m, TWI_LV_ATOM) != 1 ||
        twi_map_level_extent(n, TWI_LV_ATOM) != 1)
        return false;
    const bool serial = m->d[0].level == TWI_LV_SERIAL;
    if (serial != (n->d[0].level == TWI_LV_SERIAL) || !twi_map_same_space(m, n))
        return false;
    if (serial)
        return m->d[0].extent == n->d[0].extent && twi_map_weight(m, 0) == twi_map_weight(n, 0);
    return twi_map_extent(m) == twi_map_extent(n) && twi_map_extent(m) < INT64_MAX;
}

bool twi_same_maps(const twi_plan *p, unsigned f, unsigned g, uint64_t axes) {
    for (unsigned a = 0; f != g && a < TWI_MAX_AXES; a++)
        if (axes >> a & 1 && !same_elements(&p->frame[f].map[a], &p->frame[g].map[a]))
            return false;
    return true;
}

bool twi_w_is_home(const twi_lowering *w, twi_id v) {
    return w->home[v].kind != TWI_HOME_SHARED &&
           twi_same_maps(w->plan, w->home[v].frame, w->frame_id, twi_ins_of(w->ir, v)->type.axes);
}

/* Digits of an axis inside a group and a trip of the text. */
static uint8_t inner_digits(const twi_lowering *w, unsigned frame, unsigned axis) {
    const twi_map *m = &w->plan->frame[frame].map[axis];
    uint8_t set = 0;
    for (unsigned d = 0; d < m->n; d++) {
        bool outer = m->d[d].level == TWI_LV_GRID ||
                     (m->d[d].level == TWI_LV_SERIAL && w->ir->axis.at[axis].kind == TWI_AXIS_STEP);
        set = (uint8_t)(set | (outer ? 0u : 1u << d));
    }
    return set;
}

void twi_w_make_carrier(twi_lowering *w, twi_id v) {
    const twi_place *place = twi_plan_place(w->plan, v);
    const twi_ins *i = twi_ins_of(w->ir, v);
    const bool kept = place && place->keep == TWI_KEEP_SHARED;
    if (!place || !(place->to || kept) || w->home[v].carrier)
        return;
    const unsigned to = place->to ? place->to - 1u : place->frame;
    twi_object o = {.elem = i->type.elem, .count = 1, .name = i->name};
    int64_t elements = 1;
    if (twi_w_carried_box(w, v) > 1) {
        w->home[v].carrier = twi_w_box_carrier(w, v);
        return;
    }
    for (unsigned a = 0; a < w->ir->axis.n; a++) {
        if (!(i->type.axes >> a & 1))
            continue;
        int64_t here = twi_digits_extent(&w->plan->frame[place->frame].map[a],
                                         inner_digits(w, place->frame, a));
        int64_t there = twi_digits_extent(&w->plan->frame[to].map[a], inner_digits(w, to, a));
        o.extent[o.rank++] = here > there ? here : there;
        elements *= o.extent[o.rank - 1];
    }
    bool shared = kept || place->via == TWI_TO_SHARED;
    int64_t stride = 1;
    for (unsigned d = o.rank; place->pad && d-- > 0;) {
        o.stride[d] = stride;
        stride *= o.extent[d];
        stride += d + 1u == o.rank ? place->pad : 0;
    }
    o.kind = shared ? TWI_OBJ_SHARED : TWI_OBJ_PRIVATE;
    o.swizzle = place->swizzle;
    if (w->vectors && elements * (int64_t)tw_elem_size((tw_elem)o.elem) > 8192)
        o.kind = TWI_OBJ_SCRATCH;
    w->home[v].carrier = twi_lb_object(&w->c, &o);
    w->home[v].effect = shared ? twi_w_effect(w) : 0;
}

/* Index of the open digits; dim and whether lanes are neighbours there. */
static unsigned carrier_index(twi_lowering *w, uint64_t axes, twi_lid *index, twi_laccess *access) {
    unsigned rank = 0;
    bool last = false;
    for (unsigned a = 0; a < w->ir->axis.n; a++)
        if (axes >> a & 1) {
            index[rank++] = twi_w_number(w, a, inner_digits(w, w->frame_id, a));
            last = (int)a == w->lane_axis;
        }
    access->dim = (uint8_t)(rank ? rank - 1 : 0);
    rank = 0;
    for (unsigned a = 0; a < w->ir->axis.n; a++) {
        if (!(axes >> a & 1))
            continue;
        if ((int)a == w->lane_axis && !last)
            index[rank] = twi_w_ix(w, TWI_ADD, index[rank], twi_w_leaf(w, TWI_L_IOTA, w->lanes, 0));
        rank++;
    }
    return rank;
}

void twi_w_carry(twi_lowering *w, twi_id v, twi_lid x) {
    uint64_t axes = twi_ins_of(w->ir, v)->type.axes;
    twi_laccess access = {.object = w->home[v].carrier};
    twi_lid index[TWI_MAX_RANK];
    if (!access.object || twi_w_carried_box(w, v) > 1)
        return;
    carrier_index(w, axes, index, &access);
    twi_mask lead = {0, 0, 0};
    if (w->home[v].effect)
        twi_w_leader(w, axes, &lead);
    access.mask = lead.scalar ? TWI_MASK_BOOL : TWI_MASK_NONE;
    twi_w_store(w, access, index, twi_w_splat(w, x, twi_w_value_count(w, axes)), lead.scalar);
}

twi_lid twi_w_carried(twi_lowering *w, twi_id v) {
    uint64_t axes = twi_ins_of(w->ir, v)->type.axes;
    twi_laccess access = {.object = w->home[v].carrier};
    twi_lid index[TWI_MAX_RANK];
    unsigned count = twi_w_value_count(w, axes);
    if (twi_w_carried_box(w, v) > 1)
        return twi_w_carried_boxes(w, v);
    carrier_index(w, axes, index, &access);
    twi_mask mask = {0, 0, 0};
    twi_w_guard(w, axes, &mask);
    twi_lid m = twi_mask_bool(w, &mask, count); /* what was never computed is not read */
    access.mask = m ? TWI_MASK_BOOL : TWI_MASK_NONE;
    return twi_w_load(w, access, index, count, m && count > 1 ? twi_w_splat(w, m, count) : m, 0);
}
