/* SPDX-License-Identifier: Apache-2.0
 * Barriers by effects. The walk records events: which shared objects are read or written by all
 * workers between here and the next event, and the loops around them. A barrier stands before every
 * event; when the function is whole, each is dropped if no conflict arises without it (loop bodies
 * are gone through twice). What only the barriers that stay can tell is counted then: how many they
 * are, and which loads of far memory wait together.
 */
#include "lower/walk.h"

uint64_t twi_w_effect(twi_lowering *w) {
    return 1ull << (w->effects++ &
                    63); /* beyond 64 numbers are shared: a barrier too many at worst */
}

static bool is_shared(const twi_lowering *w) { return !w->vectors && w->subs * w->lanes > 1; }

void twi_w_event(twi_lowering *w, uint64_t reads, uint64_t writes) {
    if (!is_shared(w))
        return;
    twi_event e = {.kind = TWI_EVENT_TOUCH, .reads = reads, .writes = writes, .trips = w->trips};
    e.barrier = twi_lb_barrier(&w->c, TWI_SCOPE_GROUP);
    twi_push(w->arena, &w->events, e);
}

void twi_w_event_touched(twi_lowering *w, uint64_t reads, uint64_t writes) {
    if ((reads | writes) && is_shared(w))
        twi_push(w->arena, &w->events,
                 ((twi_event){.kind = TWI_EVENT_TOUCHED, .reads = reads, .writes = writes}));
}

void twi_w_event_loop(twi_lowering *w, bool begin) {
    if (is_shared(w))
        twi_push(w->arena, &w->events,
                 ((twi_event){.kind = begin ? TWI_EVENT_BEGIN : TWI_EVENT_END}));
}

/* Of several that follow one another the first says it all. */
static void record_wait(twi_lowering *w, twi_event e) {
    if (w->tally && !(w->events.n && w->events.at[w->events.n - 1].kind == e.kind))
        twi_push(w->arena, &w->events, e);
}

void twi_w_waits(twi_lowering *w) {
    record_wait(w, (twi_event){.kind = TWI_EVENT_WAIT, .trips = w->round});
}

void twi_w_ready(twi_lowering *w) { record_wait(w, (twi_event){.kind = TWI_EVENT_READY}); }

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

static bool *needed(twi_arena *arena, const twi_event *events, uint32_t n) {
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

/* Takes the barriers out of a body, and those inside, that are marked. */
static void take_out(twi_func *f, twi_lid *link, const bool *out) {
    while (*link) {
        twi_lid v = *link;
        if (out[v]) {
            *link = f->ins.at[v].next;
            continue;
        }
        if (f->ins.at[v].body)
            take_out(f, &f->ins.at[v].body, out);
        link = &f->ins.at[v].next;
    }
}

static void count(twi_features *tally, const twi_event *e, bool barrier) {
    tally->barriers += barrier ? e->trips : 0;
    tally->meets = tally->meets || barrier;
    if (barrier || e->kind == TWI_EVENT_READY)
        tally->waits = false;
    if (e->kind != TWI_EVENT_WAIT || tally->waits)
        return;
    tally->rounds += e->trips;
    tally->waits = true;
}

void twi_w_settle_barriers(twi_lowering *w) {
    const twi_event *events = w->events.at;
    bool any = false, *barrier = needed(w->arena, events, w->events.n);
    bool *out = TWI_NEW_N(w->arena, bool, w->c.f->ins.n);
    for (uint32_t k = 0; k < w->events.n; k++) {
        out[events[k].barrier] = events[k].kind == TWI_EVENT_TOUCH && !barrier[k];
        any = any || out[events[k].barrier];
        if (w->tally)
            count(w->tally, &events[k], barrier[k]);
    }
    out[0] = false;
    if (any)
        take_out(w->c.f, &w->c.f->first, out);
}
