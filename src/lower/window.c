/* SPDX-License-Identifier: Apache-2.0
 * When stages are filled. Trip t of the loop that a stage is filled in has its tile in version t %
 * window. By sync a trip copies its own tile before its math; by regs it takes the next trip's from
 * the array before its math and puts it into that trip's version behind it; by async it starts the
 * copy for the trip window - 1 ahead, and waits for its own. What comes ahead of its trip is
 * skipped where there is no such trip; the first ones are copied before the loop.
 */
#include "lower/walk.h"
#include <limits.h>

/* Trips of the loop that a stage is filled in (plan/rules_stage.c asks for a count); 1: none. */
static int64_t trips_of(const twi_lowering *w, unsigned stage) {
    twi_axis_digit trip;
    return twi_stage_trip(w->ir, w->frame, &w->plan->stage[stage], &trip)
               ? twi_w_map(w, trip.axis)->d[trip.digit].extent
               : 1;
}

/* Trips between a copy and its math. */
static unsigned lead_of(const twi_lowering *w, unsigned stage) {
    return trips_of(w, stage) == 1 ? 0 : twi_stage_lead(&w->plan->stage[stage]);
}

static uint64_t leading(const twi_lowering *w, uint64_t stages) {
    uint64_t set = 0;
    for (unsigned s = 0; s < w->plan->stages; s++)
        if (stages >> s & 1 && lead_of(w, s))
            set |= UINT64_C(1) << s;
    return set;
}

static void number_versions(twi_lowering *w, uint64_t stages) {
    for (unsigned s = 0; s < w->plan->stages; s++) {
        const twi_stage_plan *stage = &w->plan->stage[s];
        twi_axis_digit trip = {0, 0};
        if (!(stages >> s & 1))
            continue;
        (void)twi_stage_trip(w->ir, w->frame, stage, &trip);
        w->stage_ring[s] = (twi_ring){0, 0, 0};
        if (stage->shared)
            w->stage_ring[s] = twi_w_ring(w, stage->window, trip.axis);
    }
}

/* The versions of the trip so far ahead. */
static uint64_t effects(const twi_lowering *w, uint64_t stages, unsigned ahead) {
    uint64_t set = 0;
    for (unsigned s = 0; s < w->plan->stages; s++)
        if (stages >> s & 1 && w->stage_ring[s].n)
            set |= UINT64_C(1) << (w->stage_ring[s].first + ahead % w->stage_ring[s].n);
    return set;
}

static uint64_t asynchronous(const twi_lowering *w, uint64_t stages) {
    uint64_t set = 0;
    for (unsigned s = 0; s < w->plan->stages; s++)
        set |= w->plan->stage[s].via == TWI_VIA_ASYNC ? stages & UINT64_C(1) << s : 0;
    return set;
}

/* The versions that the stages write in a trip: each as far ahead as its copy. */
static uint64_t written_ahead(const twi_lowering *w, uint64_t stages) {
    uint64_t set = 0;
    for (unsigned s = 0; s < w->plan->stages; s++)
        set |= effects(w, stages & UINT64_C(1) << s, lead_of(w, s));
    return set;
}

static unsigned farthest(const twi_lowering *w, uint64_t stages, bool nearest) {
    unsigned lead = nearest ? UINT_MAX : 0;
    for (unsigned s = 0; s < w->plan->stages; s++)
        if (stages >> s & 1 && (lead_of(w, s) < lead) == nearest)
            lead = lead_of(w, s);
    return lead;
}

static void open_and_copy(twi_lowering *w, unsigned stage) {
    twi_w_stage_open(w, stage);
    twi_w_stage_copy(w, stage);
}

/* The first of several copies ahead opens the object for all. */
static void prime(twi_lowering *w, unsigned stage) {
    if (!w->stage_object[stage])
        twi_w_stage_open(w, stage);
    if (w->plan->stage[stage].via == TWI_VIA_ASYNC)
        twi_w_stage_issue(w, stage);
    else
        twi_w_stage_copy(w, stage);
}

/* The same for the tile of another trip, where there is one. */
static void in_trip(twi_lowering *w, unsigned stage, twi_lid trip, bool sure,
                    void (*does)(twi_lowering *, unsigned)) {
    twi_axis_digit at = {0, 0};
    const unsigned depth = twi_w_depth(w);
    (void)twi_stage_trip(w->ir, w->frame, &w->plan->stage[stage], &at);
    const twi_lid open = w->digit[at.axis][at.digit];
    const int64_t trips = twi_w_map(w, at.axis)->d[at.digit].extent;
    if (!sure)
        twi_w_if(w, twi_w_ix(w, TWI_LT, trip, twi_w_int(w, trips)));
    w->digit[at.axis][at.digit] = trip;
    w->early = !sure;
    does(w, stage);
    w->early = false;
    w->digit[at.axis][at.digit] = open;
    twi_w_shut(w, depth);
}

static void next_trip(twi_lowering *w, uint64_t stages, void (*does)(twi_lowering *, unsigned)) {
    for (unsigned s = 0; s < w->plan->stages; s++) {
        twi_axis_digit at = {0, 0};
        if (!(stages >> s & 1))
            continue;
        (void)twi_stage_trip(w->ir, w->frame, &w->plan->stage[s], &at);
        in_trip(w, s,
                twi_w_ix(w, TWI_ADD, w->digit[at.axis][at.digit], twi_w_int(w, lead_of(w, s))),
                false, does);
    }
}

/* As the trips before the first would: one that is n ahead of it copies what is due n trips early,
 * and its asynchronous copies are a batch, be there any or not. */
void twi_w_window_prime(twi_lowering *w, uint64_t stages) {
    const uint64_t ahead = leading(w, stages);
    number_versions(w, ahead);
    for (unsigned before = farthest(w, ahead, false); before > 0; before--) {
        uint64_t due = 0, versions = 0;
        for (unsigned s = 0; s < w->plan->stages; s++) {
            if (!(ahead >> s & 1) || lead_of(w, s) < before ||
                lead_of(w, s) - before >= trips_of(w, s))
                continue;
            due |= UINT64_C(1) << s;
            versions |= effects(w, UINT64_C(1) << s, lead_of(w, s) - before);
        }
        if (versions)
            twi_w_event(w, 0, versions);
        for (unsigned s = 0; s < w->plan->stages; s++)
            if (due >> s & 1)
                in_trip(w, s, twi_w_int(w, lead_of(w, s) - before), true, prime);
        if (asynchronous(w, ahead))
            twi_lb_async_commit(&w->c);
    }
}

void twi_w_window_begin(twi_lowering *w, uint64_t stages) {
    const uint64_t ahead = leading(w, stages), here = stages & ~ahead;
    number_versions(w, here);
    if (effects(w, here, 0))
        twi_w_event(w, 0, effects(w, here, 0));
    for (unsigned s = 0; s < w->plan->stages; s++)
        if (here >> s & 1)
            open_and_copy(w, s);
    const uint64_t async = asynchronous(w, ahead);
    if (async) { /* behind this trip's own batch the next trips' may be under way */
        twi_lb_async_wait(&w->c, farthest(w, async, true) - 1);
        twi_w_event_touched(w, 0, effects(w, async, 0));
    }
    if (effects(w, stages, 0))
        twi_w_event(w, effects(w, stages, 0), 0);
    if (async) {
        twi_w_event(w, 0, written_ahead(w, async));
        next_trip(w, async, twi_w_stage_issue);
        twi_lb_async_commit(&w->c);
    }
    next_trip(w, ahead & ~async, twi_w_stage_take);
}

void twi_w_window_end(twi_lowering *w, uint64_t stages) {
    const uint64_t taken = leading(w, stages) & ~asynchronous(w, stages);
    twi_w_event_touched(w, effects(w, stages, 0), 0); /* behind barriers in between */
    if (taken)
        twi_w_event(w, 0, written_ahead(w, taken));
    next_trip(w, taken, twi_w_stage_put);
}
