/* SPDX-License-Identifier: Apache-2.0
 * Barriers by effects. The walk records events: which shared objects are read or written by all
 * workers between here and the next event, and the loops around them. A barrier stands before every
 * event; when the function is whole, each is dropped if no conflict arises without it (loop bodies
 * are gone through twice; where stages have versions, until each has met itself). What only the
 * barriers that stay can tell is counted then: how many they are, and which loads of far memory
 * wait together.
 */
#include "lower/walk.h"

/* The first bits are single objects, the others versions. Beyond 40 numbers of the first are
 * shared, and without room for versions one number stands for all: a barrier too many at worst. */
enum { SINGLE = 40 };

uint64_t twi_w_effect(twi_lowering *w) { return UINT64_C(1) << (w->effects++ % SINGLE); }

twi_ring twi_w_ring(twi_lowering *w, unsigned n, unsigned axis) {
    twi_ring r = {(uint8_t)(SINGLE + w->versions), (uint8_t)n, (uint8_t)axis};
    if (n == 1 || r.first + n > 64)
        return (twi_ring){(uint8_t)(w->effects++ % SINGLE), 1, 0};
    w->versions += n;
    twi_push(w->arena, &w->rings, r);
    return r;
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

void twi_w_event_trips(twi_lowering *w, unsigned axis) {
    if (is_shared(w))
        twi_push(w->arena, &w->events,
                 ((twi_event){.kind = TWI_EVENT_BEGIN, .axis = (uint8_t)axis}));
}

static void count(twi_features *tally, const twi_event *e, bool barrier) {
    tally->barriers += barrier ? e->trips : 0;
    tally->meets = tally->meets || barrier;
    if (barrier || e->kind == TWI_EVENT_READY)
        tally->waits[0] = tally->waits[1] = false;
    if (e->kind != TWI_EVENT_WAIT || tally->waits[e->early])
        return;
    *(e->early ? &tally->early : &tally->rounds) += e->trips;
    tally->waits[e->early] = true;
}

/* Of several that follow one another the first says it all. What waits
 * together is counted as if no barrier stayed: less than it will be. */
static void record_wait(twi_lowering *w, twi_event e) {
    const twi_event *last = w->events.n ? &w->events.at[w->events.n - 1] : NULL;
    if (!w->tally || (last && last->kind == e.kind && last->early == e.early))
        return;
    twi_push(w->arena, &w->events, e);
    count(w->tally, &e, false);
}

void twi_w_waits(twi_lowering *w, bool early) {
    record_wait(w, (twi_event){.kind = TWI_EVENT_WAIT, .trips = w->round, .early = early});
}

void twi_w_ready(twi_lowering *w) { record_wait(w, (twi_event){.kind = TWI_EVENT_READY}); }

typedef struct {
    const twi_event *event;
    const bool *barrier;
    const twi_ring *ring;
    uint32_t rings;
    unsigned trip[TWI_MAX_AXES]; /* by axis, of the loops that are open */
    uint64_t read, written;      /* since the last barrier */
    bool conflict;
} check;

static uint64_t versions(const twi_ring *r) { return ((UINT64_C(1) << r->n) - 1) << r->first; }

/* A set of trip 0 in the trips at hand. */
static uint64_t now(const check *c, uint64_t set) {
    for (uint32_t k = 0; k < c->rings; k++) {
        const twi_ring *r = &c->ring[k];
        const uint64_t all = versions(r), mine = set & all;
        const unsigned by = c->trip[r->axis] % r->n;
        set = (set & ~all) | (((mine << by) | (mine >> (r->n - by))) & all);
    }
    return set;
}

/* Behind the last trip, whose number nobody knows: any of the versions. */
static uint64_t any_version(const check *c, unsigned axis, uint64_t set) {
    for (uint32_t k = 0; k < c->rings; k++)
        if (c->ring[k].axis == axis && (set & versions(&c->ring[k])))
            set |= versions(&c->ring[k]);
    return set;
}

/* Until each version has met itself. */
static unsigned trips_of(const check *c, unsigned axis) {
    unsigned n = 2;
    for (uint32_t k = 0; axis && k < c->rings; k++)
        if (c->ring[k].axis == axis && c->ring[k].n + 1u > n)
            n = c->ring[k].n + 1u;
    return n;
}

static void touch(check *c, const twi_event *e) {
    const uint64_t reads = now(c, e->reads), writes = now(c, e->writes);
    c->conflict |= (reads & c->written) != 0;
    if (e->kind == TWI_EVENT_TOUCH)
        c->conflict |= (writes & (c->read | c->written)) != 0;
    c->read |= reads;
    c->written |= writes;
}

static uint32_t run(check *c, uint32_t from, uint32_t n) {
    uint32_t k = from;
    while (k < n && c->event[k].kind != TWI_EVENT_END) {
        if (c->event[k].kind == TWI_EVENT_BEGIN) {
            const unsigned axis = c->event[k].axis, trips = trips_of(c, axis);
            const uint32_t body = k + 1;
            for (unsigned t = 0; t < trips; t++) {
                c->trip[axis] = axis ? t : 0;
                k = run(c, body, n);
            }
            c->trip[axis] = 0;
            c->read = any_version(c, axis, c->read);
            c->written = any_version(c, axis, c->written);
            k++;
            continue;
        }
        if (c->barrier[k])
            c->read = c->written = 0;
        touch(c, &c->event[k]);
        k++;
    }
    return k;
}

static bool *needed(const twi_lowering *w) {
    const twi_event *events = w->events.at;
    const uint32_t n = w->events.n;
    bool *barrier = TWI_NEW_N(w->arena, bool, n + 1);
    for (uint32_t k = 0; k < n; k++)
        barrier[k] = events[k].kind == TWI_EVENT_TOUCH;
    for (uint32_t k = 0; k < n; k++) {
        if (!barrier[k])
            continue;
        barrier[k] = false;
        check c = {.event = events, .barrier = barrier, .ring = w->rings.at, .rings = w->rings.n};
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

void twi_w_settle_barriers(twi_lowering *w) {
    const twi_event *events = w->events.at;
    bool any = false, *barrier = needed(w);
    bool *out = TWI_NEW_N(w->arena, bool, w->c.f->ins.n);
    if (w->tally) {
        w->tally->rounds = w->tally->early = 0;
        w->tally->waits[0] = w->tally->waits[1] = false;
    }
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
