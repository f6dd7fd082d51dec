/* SPDX-License-Identifier: Apache-2.0
 * Time by the device's clock: a graph of 100 complete operations, one behind the other, replayed.
 * Warm-up and the length of a batch are those of run.h; batches are kept as they are. A clock that
 * stands still or goes back is an error. The state of the device before and after comes from NVML,
 * if that is there.
 */
#include "base/clock.h"
#include "target/cuda/cuda.h"

#include <stdio.h>

typedef struct {
    double warm_ms, sample_ms;
    int samples;
} protocol;
static const protocol full = {500, 100, 7}, brief = {50, 20, 5};

typedef struct {
    const twi_cuda *c;
    const twi_cuda_work *work;
    char *error;
    twi_cu_stream stream;
    twi_cu_graph graph;
    twi_cu_graph_exec exec;
    twi_cu_event start, end;
} watch;

static tw_status good(const watch *w, int result, const char *what) {
    return twi_cuda_result(w->c, result, what, w->error);
}

static tw_status queue_operations(const watch *w) {
    tw_status status = TW_OK;
    for (unsigned k = 0; status == TW_OK && k < TWI_CUDA_OPERATIONS; k++)
        status = w->work->queue(w->work->user, k, w->stream);
    return status;
}

static tw_status record(watch *w) {
    const twi_cu_api *cu = &w->c->cu;
    tw_status status =
        good(w, cu->stream_create(&w->stream, TWI_CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    if (status == TW_OK)
        status = good(w, cu->capture_begin(w->stream, TWI_CU_CAPTURE_THREAD_LOCAL),
                      "cuStreamBeginCapture");
    if (status != TW_OK)
        return status;
    status = queue_operations(w);
    const int ended = cu->capture_end(w->stream, &w->graph);
    if (status == TW_OK)
        status = good(w, ended, "cuStreamEndCapture");
    if (status == TW_OK)
        status = good(w, cu->graph_instantiate(&w->exec, w->graph, 0), "cuGraphInstantiate");
    if (status == TW_OK)
        status = good(w, cu->event_create(&w->start, 0), "cuEventCreate");
    if (status == TW_OK)
        status = good(w, cu->event_create(&w->end, 0), "cuEventCreate");
    return status;
}

static tw_status clock_fault(const watch *w, const char *whose) {
    (void)snprintf(w->error, TWI_ERROR_TEXT, "the %s clock stands still or goes back", whose);
    return TW_ERR_ENV;
}

/* Milliseconds of n replays by the device's clock, and by the host's. */
static tw_status replay(const watch *w, int64_t n, double *ms, double *host_ms) {
    const twi_cu_api *cu = &w->c->cu;
    float elapsed = 0;
    const int64_t begin = twi_now_ns();
    tw_status status = good(w, cu->event_record(w->start, w->stream), "cuEventRecord");
    for (int64_t k = 0; status == TW_OK && k < n; k++)
        status = good(w, cu->graph_launch(w->exec, w->stream), "cuGraphLaunch");
    if (status == TW_OK)
        status = good(w, cu->event_record(w->end, w->stream), "cuEventRecord");
    if (status == TW_OK)
        status = good(w, cu->stream_wait(w->stream), w->work->what);
    const int64_t ns = twi_now_ns() - begin;
    if (status == TW_OK)
        status = good(w, cu->event_elapsed(&elapsed, w->start, w->end), "cuEventElapsedTime");
    *ms = (double)elapsed;
    *host_ms = (double)ns * 1e-6;
    if (status == TW_OK && !(elapsed > 0))
        return clock_fault(w, "device's");
    return status == TW_OK && ns < 0 ? clock_fault(w, "host's") : status;
}

static tw_status measure(const watch *w, const protocol *p, tw_timing *timing) {
    int64_t n = 1;
    double ms = 0, host_ms = 0, warm = 0;
    tw_status status = TW_OK;
    while (status == TW_OK && warm < p->warm_ms) { /* and learn how many replays fill a sample */
        status = replay(w, n, &ms, &host_ms);
        warm += ms;
        if (status == TW_OK)
            n = (int64_t)(p->sample_ms * (double)n / ms) + 1;
    }
    for (int k = 0; status == TW_OK && k < p->samples; k++) {
        status = replay(w, n, &ms, &host_ms);
        timing->host_ns[timing->batches] = host_ms * 1e6 / ((double)n * TWI_CUDA_OPERATIONS);
        timing->batch_ns[timing->batches++] = ms * 1e6 / ((double)n * TWI_CUDA_OPERATIONS);
    }
    timing->calls = n * TWI_CUDA_OPERATIONS;
    timing->median_ns = status == TW_OK ? twi_median(timing->batch_ns, timing->batches) : 0;
    return status;
}

static void close_watch(const watch *w) {
    const twi_cu_api *cu = &w->c->cu;
    if (w->start)
        (void)cu->event_destroy(w->start);
    if (w->end)
        (void)cu->event_destroy(w->end);
    if (w->exec)
        (void)cu->graph_exec_destroy(w->exec);
    if (w->graph)
        (void)cu->graph_destroy(w->graph);
    if (w->stream)
        (void)cu->stream_destroy(w->stream);
}

tw_status twi_cuda_clock(twi_cuda *c, const twi_cuda_work *work, bool quick, tw_timing *timing,
                         char error[TWI_ERROR_TEXT]) {
    watch w = {.c = c, .work = work, .error = error};
    double first = 0, host = 0;
    const int64_t begin = twi_now_ns();
    tw_status status = record(&w);
    if (status == TW_OK)
        status = replay(&w, 1, &first, &host);
    timing->cold_ns += twi_now_ns() - begin;
    twi_cuda_state(c, &timing->before);
    if (status == TW_OK)
        status = measure(&w, quick ? &brief : &full, timing);
    twi_cuda_state(c, &timing->after);
    close_watch(&w);
    return status;
}
