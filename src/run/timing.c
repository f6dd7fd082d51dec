/* SPDX-License-Identifier: Apache-2.0
 * Timing by the protocol in run.h: warm up, choose how many calls a batch needs, median of the
 * batches. Nothing is trimmed; a clock that stands still or goes back is an error, not a result.
 */
#include "base/clock.h"
#include "run/kernel.h"

#include <stdio.h>

typedef struct {
    int64_t warm_ns, batch_ns;
    int batches;
} protocol;

static const protocol full = {200000000, 40000000, 9}, brief = {20000000, 8000000, 5};

static tw_status clock_fault(tw_call *call) {
    (void)snprintf(call->error, sizeof call->error, "the clock stands still or goes back");
    return TW_ERR_ENV;
}

typedef struct {
    tw_kernel *k;
    tw_call *const *call;
    twi_bound bound[TW_MOST_SETS];
    uint32_t entry[TW_MOST_SETS];
    unsigned n, next; /* sets; the one whose turn it is */
} sets;

/* Nanoseconds of n runs; negative: a run failed, or the clock did. */
static tw_status batch(sets *s, int64_t n, int64_t *ns) {
    const int64_t start = twi_now_ns();
    for (int64_t i = 0; i < n; i++) {
        const unsigned at = s->next;
        const tw_status status = twi_run_recipe(s->k, s->entry[at], &s->bound[at], s->call[at]);
        if (status != TW_OK)
            return status;
        s->next = at + 1 < s->n ? at + 1 : 0;
    }
    *ns = twi_now_ns() - start;
    return start >= 0 && *ns >= 0 ? TW_OK : clock_fault(s->call[0]);
}

tw_status twi_kernel_batch(tw_kernel *k, tw_call *call, int64_t n, int64_t *ns) {
    sets s = {.k = k, .call = &call, .n = 1};
    tw_status status = twi_bind(k, call, &s.bound[0]);
    if (status != TW_OK)
        return status;
    s.entry[0] = twi_pick_entry(k, &s.bound[0]);
    status = batch(&s, n, ns);
    twi_buffers_put(&k->workspace, s.bound[0].block);
    return status;
}

static tw_status measure(sets *s, const protocol *p, tw_timing *timing) {
    int64_t n = 1, ns = 0, warm = 0;
    int idle = 0;
    tw_status status = TW_OK;
    while (warm < p->warm_ns) { /* and learn how many calls fill a batch */
        status = batch(s, n, &ns);
        if (status != TW_OK)
            return status;
        warm += ns;
        if (ns == 0 && ++idle > 40)
            return clock_fault(s->call[0]);
        if (ns < p->batch_ns / 4)
            n *= 2;
    }
    while (timing->batches < p->batches) {
        status = batch(s, n, &ns);
        if (status != TW_OK)
            return status;
        if (ns < p->batch_ns) { /* too short: this one does not count */
            const int64_t more = ns > 0 ? (p->batch_ns + p->batch_ns / 8) * n / ns : 2 * n;
            n = more > n ? more : n + 1;
            timing->batches = 0;
            continue;
        }
        timing->host_ns[timing->batches] = (double)ns / (double)n;
        timing->batch_ns[timing->batches++] = (double)ns / (double)n;
    }
    timing->calls = n;
    timing->median_ns = twi_median(timing->batch_ns, timing->batches);
    return TW_OK;
}

static tw_status by_the_device(const sets *s, bool quick, tw_timing *timing) {
    const int64_t trip = 0;
    twi_timed set[TW_MOST_SETS];
    for (unsigned i = 0; i < s->n; i++)
        set[i] = (twi_timed){s->entry[i], twi_launch_of(&s->bound[i], s->call[i], &trip)};
    return s->k->target->ops->time(s->k->module, set, s->n, quick, timing, s->call[0]->error);
}

tw_status tw_kernel_time_sets(tw_kernel *k, tw_call *const *call, unsigned n, bool quick,
                              tw_timing *timing) {
    sets s = {.k = k, .call = call};
    tw_status status = TW_OK;
    *timing = (tw_timing){.batches = 0};
    if (n < 1 || n > TW_MOST_SETS) {
        if (n)
            (void)snprintf(call[0]->error, sizeof call[0]->error,
                           "%u sets of arrays were given; at most %d can be timed in turn", n,
                           (int)TW_MOST_SETS);
        return TW_ERR_INPUT;
    }
    while (status == TW_OK && s.n < n) {
        status = twi_bind(k, call[s.n], &s.bound[s.n]);
        if (status == TW_OK)
            s.entry[s.n] = twi_pick_entry(k, &s.bound[s.n]);
        else if (s.n)
            memcpy(call[0]->error, call[s.n]->error, sizeof call[0]->error);
        s.n += status == TW_OK;
    }
    if (status == TW_OK)
        status = k->target->ops->time ? by_the_device(&s, quick, timing)
                                      : measure(&s, quick ? &brief : &full, timing);
    for (unsigned i = 0; i < s.n; i++)
        twi_buffers_put(&k->workspace, s.bound[i].block);
    return status;
}

tw_status tw_kernel_time(tw_kernel *k, tw_call *call, bool quick, tw_timing *timing) {
    return tw_kernel_time_sets(k, &call, 1, quick, timing);
}
