/* SPDX-License-Identifier: Apache-2.0
 * When stages are filled. Trip t of the loop that a stage is filled in has its tile in version
 * t % window. By sync a trip copies its own tile before its math; by regs it takes the next trip's
 * from the array before its math and puts it into that trip's version behind it. What comes ahead
 * of its trip is skipped where there is no such trip; the first ones are copied before the loop.
 */
#include "lower/walk.h"

/* Trips between a copy and its math: those that there are at all. */
static unsigned lead_of(const twi_lowering *w, unsigned stage) {
    const twi_stage_plan *s = &w->plan->stage[stage];
    twi_axis_digit trip;
    if (!twi_stage_trip(w->ir, w->frame, s, &trip) ||
        twi_w_map(w, trip.axis)->d[trip.digit].extent == 1)
        return 0;
    return twi_stage_lead(s);
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

static void open_and_copy(twi_lowering *w, unsigned stage) {
    twi_w_stage_open(w, stage);
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
    does(w, stage);
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

void twi_w_window_prime(twi_lowering *w, uint64_t stages) {
    const uint64_t ahead = leading(w, stages);
    if (!ahead)
        return;
    number_versions(w, ahead);
    twi_w_event(w, 0, effects(w, ahead, 0));
    for (unsigned s = 0; s < w->plan->stages; s++)
        if (ahead >> s & 1)
            in_trip(w, s, twi_w_int(w, 0), true, open_and_copy);
}

void twi_w_window_begin(twi_lowering *w, uint64_t stages) {
    const uint64_t ahead = leading(w, stages), here = stages & ~ahead;
    number_versions(w, here);
    if (effects(w, here, 0))
        twi_w_event(w, 0, effects(w, here, 0));
    for (unsigned s = 0; s < w->plan->stages; s++)
        if (here >> s & 1)
            open_and_copy(w, s);
    if (effects(w, stages, 0))
        twi_w_event(w, effects(w, stages, 0), 0);
    next_trip(w, ahead, twi_w_stage_take);
}

void twi_w_window_end(twi_lowering *w, uint64_t stages) {
    const uint64_t ahead = leading(w, stages);
    twi_w_event_touched(w, effects(w, stages, 0), 0); /* behind barriers in between */
    if (ahead)
        twi_w_event(w, 0, effects(w, ahead, 1));
    next_trip(w, ahead, twi_w_stage_put);
}
