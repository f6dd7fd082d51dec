/* SPDX-License-Identifier: Apache-2.0
 * Barriers by effects. The first pass over a scope records events: which shared objects are read or
 * written by all workers between here and the next event, and the loops around them. A barrier
 * before every event would do; each is then dropped if no conflict arises without it (loop bodies
 * are walked twice). What stays is placed in the second pass.
 */
#include "lower/walk.h"

uint64_t twi_w_effect(twi_lowering *w) {
    return 1ull << (w->effects++ &
                    63); /* beyond 64 numbers are shared: a barrier too many at worst */
}

static void record(twi_lowering *w, unsigned kind, uint64_t reads, uint64_t writes) {
    twi_event e = {(uint8_t)kind, reads, writes};
    if (w->barrier_before && w->barrier_before[w->event]) {
        twi_lb_barrier(&w->c, TWI_SCOPE_GROUP);
        if (w->tally) {
            w->tally->barriers += w->trips;
            w->tally->waits = false;
        }
    }
    w->event++;
    if (!w->barrier_before)
        twi_push(w->arena, &w->events, e);
}

void twi_w_event(twi_lowering *w, uint64_t reads, uint64_t writes) {
    if (!w->vectors && w->subs * w->lanes > 1)
        record(w, TWI_EVENT_TOUCH, reads, writes);
}

void twi_w_event_wrote(twi_lowering *w, uint64_t writes) {
    if (writes && !w->vectors && w->subs * w->lanes > 1)
        record(w, TWI_EVENT_WROTE, 0, writes);
}

void twi_w_event_loop(twi_lowering *w, bool begin) {
    if (!w->vectors && w->subs * w->lanes > 1)
        record(w, begin ? TWI_EVENT_BEGIN : TWI_EVENT_END, 0, 0);
}

typedef struct {
    const twi_event *event;
    const bool *barrier;
    uint64_t read, written; /* since the last barrier */
    bool conflict;
} check;

static uint32_t run(check *c, uint32_t from, uint32_t n) {
    uint32_t k = from;
    while (k < n && c->event[k].kind != TWI_EVENT_END) {
        if (c->event[k].kind == TWI_EVENT_BEGIN) {
            run(c, k + 1, n);
            k = run(c, k + 1, n) + 1;
            continue;
        }
        if (c->barrier[k])
            c->read = c->written = 0;
        c->conflict |= (c->event[k].reads & c->written) != 0;
        if (c->event[k].kind == TWI_EVENT_TOUCH)
            c->conflict |= (c->event[k].writes & (c->read | c->written)) != 0;
        c->read |= c->event[k].reads;
        c->written |= c->event[k].writes;
        k++;
    }
    return k;
}

bool *twi_place_barriers(twi_arena *arena, const twi_event *events, uint32_t n) {
    bool *barrier = TWI_NEW_N(arena, bool, n + 1);
    for (uint32_t k = 0; k < n; k++)
        barrier[k] = events[k].kind == TWI_EVENT_TOUCH;
    for (uint32_t k = 0; k < n; k++) {
        if (!barrier[k])
            continue;
        barrier[k] = false;
        check c = {.event = events, .barrier = barrier};
        run(&c, 0, n);
        barrier[k] = c.conflict;
    }
    return barrier;
}
