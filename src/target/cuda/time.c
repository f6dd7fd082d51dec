/* SPDX-License-Identifier: Apache-2.0
 * Calls timed: several sets of arrays take turns in the operations of a graph (clock.c). What is
 * faster than the device's ceilings, where its caps know them, is an error and no result.
 */
#include "base/clock.h"
#include "target/cuda/cuda.h"

#include <stdio.h>

/* Writes that no cache holds. */
enum { FAR_BYTES = 1 << 29 };

typedef struct {
    twi_cuda_call call[TW_MOST_SETS];
    const twi_timed *set;
    unsigned n, opened;
} sets;

static tw_status queue(void *user, unsigned k, twi_cu_stream stream) {
    const sets *s = user;
    twi_cuda_call call = s->call[k % s->n];
    call.v.stream = stream;
    return twi_cuda_queue_call(&call, s->set[k % s->n].entry);
}

static tw_status open_sets(sets *s, twi_module *m, char error[TWI_ERROR_TEXT]) {
    while (s->opened < s->n) {
        twi_cuda_call *x = &s->call[s->opened];
        const tw_status status = twi_cuda_open_call(x, m, &s->set[s->opened].args, error);
        s->opened += status == TW_OK || x->copies;
        if (status != TW_OK)
            return status;
    }
    if (s->call[0].v.capturing) {
        (void)snprintf(error, TWI_ERROR_TEXT,
                       "nothing can be timed on a stream that is being captured");
        return TW_ERR_INPUT;
    }
    for (unsigned i = 0; i < s->n; i++) { /* copies in come before */
        const tw_status status = twi_cuda_wait(&s->call[i], s->set[i].entry);
        if (status != TW_OK)
            return status;
    }
    return TW_OK;
}

/* An empty launch takes some time, and so does writing what the kernel writes. */
static tw_status check_ceilings(const sets *s, double ns, char error[TWI_ERROR_TEXT]) {
    const twi_caps *caps = &s->call[0].v.c->base.caps;
    const twi_loop *loop = s->call[0].v.m->base.loop;
    double bytes = 0;
    for (uint32_t i = 1; i < s->call[0].v.m->arrays; i++) {
        size_t zero;
        if (loop->array.at[i].role == TWI_OUT)
            bytes += (double)twi_cuda_span(&s->call[0], i, &zero);
    }
    double least = caps->ceiling_launch_ns;
    if (bytes > FAR_BYTES && caps->ceiling_read_byte_ns * bytes > least)
        least = caps->ceiling_read_byte_ns * bytes;
    if (ns >= 0.9 * least)
        return TW_OK;
    (void)snprintf(error, TWI_ERROR_TEXT,
                   "a call of kernel %.60s took %.0f ns, less than the %.0f ns that this device "
                   "takes at least: no result",
                   twi_text(&loop->ctx->names, loop->kernel), ns, least);
    return TW_ERR_ENV;
}

tw_status twi_cuda_time(twi_module *m, const twi_timed *set, unsigned n, bool quick,
                        tw_timing *timing, char error[TWI_ERROR_TEXT]) {
    sets s = {.set = set, .n = n};
    char what[100];
    (void)snprintf(what, sizeof what, "kernel %.60s, timed",
                   twi_text(&m->loop->ctx->names, m->loop->kernel));
    const twi_cuda_work work = {queue, &s, what};
    const int64_t begin = twi_now_ns();
    tw_status status = open_sets(&s, m, error);
    timing->cold_ns = twi_now_ns() - begin;
    if (status == TW_OK)
        status = twi_cuda_clock(s.call[0].v.c, &work, quick, timing, error);
    if (status == TW_OK)
        status = check_ceilings(&s, timing->median_ns, error);
    for (unsigned i = 0; status == TW_OK && i < n; i++)
        status = twi_cuda_bring_back(&s.call[i]);
    while (s.opened)
        twi_cuda_close_call(&s.call[--s.opened]);
    return status;
}
