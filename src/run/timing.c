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

/* Nanoseconds of n runs; negative: a run failed, or the clock did. */
static tw_status batch(const tw_kernel *k, uint32_t entry, const twi_bound *b, tw_call *call,
                       int64_t n, int64_t *ns) {
    const int64_t start = twi_now_ns();
    for (int64_t i = 0; i < n; i++) {
        const tw_status status = twi_run_recipe(k, entry, b, call);
        if (status != TW_OK)
            return status;
    }
    *ns = twi_now_ns() - start;
    return start >= 0 && *ns >= 0 ? TW_OK : clock_fault(call);
}

static double median(const double *value, int n) {
    double sorted[9];
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at > 0 && sorted[at - 1] > value[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = value[i];
    }
    return sorted[n / 2];
}

static tw_status measure(const tw_kernel *k, uint32_t entry, const twi_bound *b, tw_call *call,
                         const protocol *p, tw_timing *timing) {
    int64_t n = 1, ns = 0, warm = 0;
    int idle = 0;
    tw_status status = TW_OK;
    while (warm < p->warm_ns) { /* and learn how many calls fill a batch */
        status = batch(k, entry, b, call, n, &ns);
        if (status != TW_OK)
            return status;
        warm += ns;
        if (ns == 0 && ++idle > 40)
            return clock_fault(call);
        if (ns < p->batch_ns / 4)
            n *= 2;
    }
    while (timing->batches < p->batches) {
        status = batch(k, entry, b, call, n, &ns);
        if (status != TW_OK)
            return status;
        if (ns < p->batch_ns) { /* too short: this one does not count */
            const int64_t more = ns > 0 ? (p->batch_ns + p->batch_ns / 8) * n / ns : 2 * n;
            n = more > n ? more : n + 1;
            timing->batches = 0;
            continue;
        }
        timing->batch_ns[timing->batches++] = (double)ns / (double)n;
    }
    timing->calls = n;
    timing->median_ns = median(timing->batch_ns, timing->batches);
    return TW_OK;
}

tw_status tw_kernel_time(tw_kernel *k, tw_call *call, bool quick, tw_timing *timing) {
    twi_bound b;
    *timing = (tw_timing){.batches = 0};
    tw_status status = twi_bind(k, call, &b);
    if (status != TW_OK)
        return status;
    const uint32_t entry = twi_pick_entry(k, &b);
    if (k->target->ops->time) {
        int64_t trip = 0;
        const twi_launch args = {.array = b.array,
                                 .scalar = b.scalar,
                                 .stride = b.stride,
                                 .shape = b.shape,
                                 .trip = &trip,
                                 .threads = call->threads};
        status = k->target->ops->time(k->module, entry, &args, quick, timing, call->error);
    } else {
        status = measure(k, entry, &b, call, quick ? &brief : &full, timing);
    }
    twi_buffers_put(&k->workspace, b.block);
    return status;
}
