/* SPDX-License-Identifier: Apache-2.0
 * Runs of whole entries on arrays of the host: each gets a device copy between zones of a pattern,
 * at an address with the host's remainder modulo 256, so that what an entry assumes of alignment
 * holds or fails as it does on the host. Everything between an array's first and last element is
 * copied in and out, gaps included; a zone that changed is an error that names the array. Memory of
 * a call comes from its module's buffers: several threads may run at once.
 */
#include "target/cuda/cuda.h"

#include <stdio.h>

enum { ZONE = 512, PATTERN = 0xc5, ALIGN = 256 };

/* One array's copy. */
typedef struct {
    twi_cu_address block; /* what was allocated; 0: nothing */
    twi_cu_address from;  /* of the span */
    char *host;           /* of the span there */
    size_t span;          /* bytes */
} copy;

typedef struct {
    twi_cuda_module *m;
    const twi_cuda *c;
    const twi_launch *args;
    twi_cu_stream stream;
    copy *copies;
    void **array; /* device addresses of elements 0 */
    char *error;
} call;

size_t twi_cuda_table_bytes(const twi_loop *loop) {
    return (loop->array.n + 1) * (sizeof(copy) + sizeof(void *));
}

static tw_status good(const call *x, int result, const char *what) {
    return twi_cuda_result(x->c, result, what, x->error);
}

/* Bytes from the lowest element to behind the highest, and where element 0 lies among them. */
static size_t span_of(const call *x, uint32_t id, size_t *zero) {
    const twi_larray *a = &x->m->base.loop->array.at[id];
    const int64_t size = (int64_t)tw_elem_size((tw_elem)a->elem);
    int64_t low = 0, high = 0;
    *zero = 0;
    for (unsigned d = 0; d < a->rank; d++) {
        const int64_t n = x->args->shape[id * TWI_MAX_RANK + d];
        const int64_t reach = (n - 1) * x->args->stride[id * TWI_MAX_RANK + d];
        if (n == 0)
            return 0;
        low += reach < 0 ? reach : 0;
        high += reach > 0 ? reach : 0;
    }
    *zero = (size_t)(-low * size);
    return (size_t)((high - low + 1) * size);
}

static tw_status place(call *x, uint32_t id) {
    copy *c = &x->copies[id];
    size_t zero;
    const bool temp = x->m->base.loop->array.at[id].role == TWI_TEMP;
    c->span = span_of(x, id, &zero);
    c->host = c->span ? (char *)x->args->array[id] - zero : NULL;
    const size_t whole = c->span + 2 * ZONE + ALIGN;
    tw_status status = good(x, x->c->cu.alloc(&c->block, whole), "cuMemAlloc");
    if (status != TW_OK) {
        c->block = 0;
        return status;
    }
    c->from = c->block + ZONE + (uintptr_t)c->host % ALIGN; /* blocks start at multiples of 256 */
    x->array[id] = (void *)(uintptr_t)(c->from + zero);
    status = good(x, x->c->cu.fill8(c->block, whole, PATTERN, whole, 1, x->stream), "zones");
    if (status == TW_OK && !temp && c->span)
        status = good(x, x->c->cu.upload(c->from, c->host, c->span, x->stream), "copy in");
    return status;
}

static bool zone_kept(const unsigned char *zone, size_t n) {
    size_t k = 0;
    while (k < n && zone[k] == PATTERN)
        k++;
    return k == n;
}

/* The 256 bytes before and behind an array. */
static tw_status check_zones(call *x, uint32_t id) {
    const copy *c = &x->copies[id];
    unsigned char zone[2][ALIGN];
    tw_status status =
        good(x, x->c->cu.download(zone[0], c->from - ALIGN, ALIGN, x->stream), "copy out");
    if (status == TW_OK)
        status =
            good(x, x->c->cu.download(zone[1], c->from + c->span, ALIGN, x->stream), "copy out");
    if (status == TW_OK)
        status = good(x, x->c->cu.stream_wait(x->stream), "cuStreamSynchronize");
    if (status == TW_OK && !(zone_kept(zone[0], ALIGN) && zone_kept(zone[1], ALIGN))) {
        const twi_loop *loop = x->m->base.loop;
        (void)snprintf(x->error, TWI_ERROR_TEXT, "wrote beside %.100s",
                       twi_text(&loop->ctx->names, loop->array.at[id].name));
        return TW_ERR_WRONG;
    }
    return status;
}

static tw_status bring_back(call *x) {
    tw_status status = TW_OK;
    for (uint32_t i = 1; status == TW_OK && i < x->m->arrays; i++) {
        const copy *c = &x->copies[i];
        const unsigned role = x->m->base.loop->array.at[i].role;
        const bool status_word = i == x->m->base.loop->status;
        if (c->span && (role == TWI_OUT || role == TWI_INOUT || status_word))
            status = good(x, x->c->cu.download(c->host, c->from, c->span, x->stream), "copy out");
        if (status == TW_OK)
            status = check_zones(x, i);
    }
    return status;
}

static tw_status open_call(call *x, twi_module *m, const twi_launch *args,
                           char error[TWI_ERROR_TEXT]) {
    *x = (call){
        .m = (twi_cuda_module *)m, .c = (const twi_cuda *)m->target, .args = args, .error = error};
    tw_status status = twi_cuda_enter(x->m, error);
    if (status != TW_OK)
        return status;
    x->copies = twi_buffers_take(&x->m->tables);
    if (!x->copies) {
        (void)snprintf(error, TWI_ERROR_TEXT, "no memory for the tables of a call");
        twi_cuda_leave(x->m);
        return TW_ERR_MEMORY;
    }
    memset(x->copies, 0, x->m->tables.size);
    x->array = (void *)(x->copies + x->m->arrays);
    status =
        good(x, x->c->cu.stream_create(&x->stream, TWI_CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    for (uint32_t i = 1; status == TW_OK && i < x->m->arrays; i++)
        status = place(x, i);
    return status;
}

/* After open_call, whatever came of it but no tables. */
static void close_call(call *x) {
    if (!x->copies)
        return;
    for (uint32_t i = 1; i < x->m->arrays; i++)
        if (x->copies[i].block)
            (void)x->c->cu.free(x->copies[i].block);
    if (x->stream)
        (void)x->c->cu.stream_destroy(x->stream);
    twi_buffers_put(&x->m->tables, x->copies);
    twi_cuda_leave(x->m);
}

/* Waits for what was queued; a fault on the device is told with the kernel's name. */
static tw_status wait_for(const call *x, uint32_t entry) {
    const twi_loop *loop = x->m->base.loop;
    char what[100];
    (void)snprintf(what, sizeof what, "kernel %.60s, entry %.20s",
                   twi_text(&loop->ctx->names, loop->kernel),
                   twi_text(&loop->ctx->names, loop->entry.at[entry].name));
    return good(x, x->c->cu.stream_wait(x->stream), what);
}

tw_status twi_cuda_run(twi_module *m, uint32_t entry, const twi_launch *args,
                       char error[TWI_ERROR_TEXT]) {
    call x;
    tw_status status = open_call(&x, m, args, error);
    if (status == TW_OK) {
        twi_launch there = *args;
        there.array = x.array;
        status = twi_cuda_queue(x.m, entry, &there, x.stream, error);
    }
    if (status == TW_OK)
        status = wait_for(&x, entry);
    if (status == TW_OK)
        status = bring_back(&x);
    close_call(&x);
    return status;
}

/* ---- time ---- */

enum { CALLS = 100 }; /* complete operations in a graph */
typedef struct {
    double warm_ms, sample_ms;
    int samples;
} protocol;
static const protocol full = {500, 100, 7}, brief = {50, 20, 5};

typedef struct {
    twi_cu_graph graph;
    twi_cu_graph_exec exec;
    twi_cu_event start, end;
} watch;

static tw_status record(const call *x, uint32_t entry, watch *w) {
    twi_launch there = *x->args;
    there.array = x->array;
    tw_status status = good(x, x->c->cu.capture_begin(x->stream, TWI_CU_CAPTURE_THREAD_LOCAL),
                            "cuStreamBeginCapture");
    if (status != TW_OK)
        return status;
    for (int k = 0; status == TW_OK && k < CALLS; k++)
        status = twi_cuda_queue(x->m, entry, &there, x->stream, x->error);
    const int ended = x->c->cu.capture_end(x->stream, &w->graph);
    if (status == TW_OK)
        status = good(x, ended, "cuStreamEndCapture");
    if (status == TW_OK)
        status = good(x, x->c->cu.graph_instantiate(&w->exec, w->graph, 0), "cuGraphInstantiate");
    if (status == TW_OK)
        status = good(x, x->c->cu.event_create(&w->start, 0), "cuEventCreate");
    if (status == TW_OK)
        status = good(x, x->c->cu.event_create(&w->end, 0), "cuEventCreate");
    return status;
}

/* Milliseconds of n replays by the device's clock. */
static tw_status replay(const call *x, const watch *w, int64_t n, uint32_t entry, double *ms) {
    float elapsed = 0;
    tw_status status = good(x, x->c->cu.event_record(w->start, x->stream), "cuEventRecord");
    for (int64_t k = 0; status == TW_OK && k < n; k++)
        status = good(x, x->c->cu.graph_launch(w->exec, x->stream), "cuGraphLaunch");
    if (status == TW_OK)
        status = good(x, x->c->cu.event_record(w->end, x->stream), "cuEventRecord");
    if (status == TW_OK)
        status = wait_for(x, entry);
    if (status == TW_OK)
        status = good(x, x->c->cu.event_elapsed(&elapsed, w->start, w->end), "cuEventElapsedTime");
    *ms = (double)elapsed;
    if (status == TW_OK && !(elapsed > 0)) {
        (void)snprintf(x->error, TWI_ERROR_TEXT, "the device's clock stands still or goes back");
        return TW_ERR_ENV;
    }
    return status;
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

static tw_status measure(const call *x, const watch *w, uint32_t entry, const protocol *p,
                         tw_timing *timing) {
    int64_t n = 1;
    double ms = 0, warm = 0;
    tw_status status = TW_OK;
    while (status == TW_OK && warm < p->warm_ms) { /* and learn how many replays fill a sample */
        status = replay(x, w, n, entry, &ms);
        warm += ms;
        if (status == TW_OK)
            n = (int64_t)(p->sample_ms * (double)n / ms) + 1;
    }
    for (int k = 0; status == TW_OK && k < p->samples; k++) {
        status = replay(x, w, n, entry, &ms);
        timing->batch_ns[timing->batches++] = ms * 1e6 / ((double)n * CALLS);
    }
    timing->calls = n * CALLS;
    timing->median_ns = status == TW_OK ? median(timing->batch_ns, timing->batches) : 0;
    return status;
}

tw_status twi_cuda_time(twi_module *m, uint32_t entry, const twi_launch *args, bool quick,
                        tw_timing *timing, char error[TWI_ERROR_TEXT]) {
    call x;
    watch w = {0};
    tw_status status = open_call(&x, m, args, error);
    if (status == TW_OK)
        status = record(&x, entry, &w);
    if (status == TW_OK)
        status = measure(&x, &w, entry, quick ? &brief : &full, timing);
    if (status == TW_OK)
        status = bring_back(&x);
    if (w.start)
        (void)x.c->cu.event_destroy(w.start);
    if (w.end)
        (void)x.c->cu.event_destroy(w.end);
    if (w.exec)
        (void)x.c->cu.graph_exec_destroy(w.exec);
    if (w.graph)
        (void)x.c->cu.graph_destroy(w.graph);
    close_call(&x);
    return status;
}
