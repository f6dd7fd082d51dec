/* SPDX-License-Identifier: Apache-2.0
 * Regions: the phases of a body one after the other, serial regions between them with their carries
 * in stripes.
 */
#include "lower/walk.h"

/* Opens the time digits of a value's axes. */
static void open_time(twi_lowering *w, uint64_t axes) {
    for (unsigned a = 0; a < w->ir->axis.n; a++)
        for (unsigned d = 0; d < twi_w_map(w, a)->n; d++)
            if (axes >> a & 1 && twi_time_digits(w->ir, w->frame, a) >> d & 1)
                twi_w_open(w, a, d);
}

static void copy_stripe(twi_lowering *w, uint64_t axes, uint32_t to, uint32_t from,
                        twi_id initial) {
    unsigned depth = twi_w_depth(w);
    uint32_t mark = twi_w_scope(w);
    open_time(w, axes);
    twi_w_stripe_store(w, to, axes,
                       initial ? twi_w_value(w, initial) : twi_w_stripe_load(w, from, axes));
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
}

static void open_carries(twi_lowering *w, twi_id serial, uint32_t region) {
    const twi_region *r = &w->ir->region.at[region];
    for (uint32_t k = 0; k < r->carries.n; k++) {
        twi_id c = r->carries.at[k];
        const twi_type *t = &twi_ins_of(w->ir, c)->type;
        twi_w_enter(w, twi_frame_of(w, c));
        w->home[c].object = twi_w_stripe(w, c, (tw_elem)t->elem, t->axes);
        w->home[c].kind = TWI_HOME_STRIPE;
        w->home[c].frame = (uint8_t)w->frame_id;
        w->next_object[c] =
            twi_w_in_place(w, region, k) ? 0 : twi_w_stripe(w, c, (tw_elem)t->elem, t->axes);
        copy_stripe(w, t->axes, w->home[c].object, 0, twi_arg(w->ir, serial, k));
    }
}

static void emit_serial(twi_lowering *w, twi_id serial) {
    uint32_t region = twi_ins_of(w->ir, serial)->attr;
    const twi_region *r = &w->ir->region.at[region];
    open_carries(w, serial, region);
    unsigned axis = r->axes.at[0], digit = 0;
    const twi_map *m = twi_w_map(w, axis);
    while (digit < m->n && m->d[digit].level != TWI_LV_SERIAL)
        digit++;
    unsigned depth = twi_w_depth(w);
    uint32_t mark = twi_w_scope(w);
    twi_w_open(w, axis, digit);
    for (unsigned f = 0; f < w->plan->frames; f++) /* the trip is the same in all frames */
        w->digits[f][axis][digit] = w->digit[axis][digit];
    twi_w_event_trips(w, axis);
    twi_w_region(w, region);
    for (uint32_t k = 0; k < r->carries.n; k++) {
        twi_id c = r->carries.at[k];
        twi_w_enter(w, twi_frame_of(w, c));
        if (w->next_object[c] && r->yields.at[k] != c)
            copy_stripe(w, twi_ins_of(w->ir, c)->type.axes, w->home[c].object, w->next_object[c],
                        0);
    }
    twi_w_event_loop(w, false);
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
    for (uint32_t k = 0; k < w->cut.all.n; k++) {
        twi_id v = w->cut.all.at[k];
        const twi_ins *i = twi_ins_of(w->ir, v);
        if (i->op == TWI_RESULT && twi_arg(w->ir, v, 0) == serial)
            w->home[v] = w->home[r->carries.at[i->attr]];
    }
}

void twi_w_region(twi_lowering *w, uint32_t region) {
    const twi_region *r = &w->ir->region.at[region];
    for (unsigned p = 0; p < w->cut.phases[region]; p++) {
        twi_w_phase(w, region, p);
        for (uint32_t k = 0; k < r->body.n; k++) {
            twi_id v = r->body.at[k];
            if (twi_ins_of(w->ir, v)->op == TWI_SERIAL && w->cut.value[v].phase == p)
                emit_serial(w, v);
        }
    }
}

/* Does the scope store an array that it loads? */
static bool updates(const twi_cut *cut) {
    for (uint32_t k = 0; k < cut->all.n; k++) {
        const twi_ins *i = twi_ins_of(cut->ir, cut->all.at[k]);
        if (i->op == TWI_STORE &&
            twi_scope_touches(cut, cut->ir->access.at[i->attr].array, TWI_LOAD))
            return true;
    }
    return false;
}

bool twi_runs_alone(const twi_cut *cut, const twi_caps *caps, const twi_plan *p) {
    if (caps->family != TWI_FAMILY_SIMT || p->stages)
        return false;
    for (uint32_t k = 0; k < p->place.n; k++)
        if (p->place.at[k].to || p->place.at[k].keep == TWI_KEEP_SHARED)
            return false;
    for (unsigned f = 0; f < p->frames; f++)
        for (unsigned a = 1; a < TWI_MAX_AXES; a++)
            if (p->frame[f].axes >> a & 1 &&
                (twi_map_level_extent(&p->frame[f].map[a], TWI_LV_LANE) > 1 ||
                 twi_map_level_extent(&p->frame[f].map[a], TWI_LV_SUB) > 1))
                return false;
    return updates(cut);
}

void twi_w_scope_body(twi_lowering *w) {
    unsigned depth = twi_w_depth(w);
    uint32_t mark = twi_w_scope(w);
    twi_w_open_groups(w);
    twi_w_open_group(w);
    if (twi_runs_alone(&w->cut, w->caps, w->plan)) {
        twi_mask first = {0, 0, 0};
        twi_w_leader(w, 0, &first);
        if (first.scalar)
            twi_w_if(w, first.scalar);
    }
    twi_w_tiles(w);
    twi_w_shut_groups(w);
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
}
