/* SPDX-License-Identifier: Apache-2.0
 * Runs of whole entries. Arrays of the device are used where they are, and a call with no others
 * only queues its work. An array of the host gets a device copy between zones of a pattern, at an
 * address with the host's remainder modulo 256, so that what an entry assumes of alignment
 * holds or fails as it does on the host. Everything between an array's first and last element is
 * copied in and out, gaps included; a zone that changed is an error that names the array. Memory of
 * a call comes from its module's buffers: several threads may run at once.
 */
#include "target/cuda/cuda.h"

#include <stdio.h>

enum { ZONE = 512, PATTERN = 0xc5, ALIGN = 256 };

/* One array's copy. */
struct twi_cuda_copy {
    twi_cu_address block; /* what was allocated; 0: nothing */
    twi_cu_address from;  /* of the span */
    char *host;           /* of the span there */
    size_t span;          /* bytes */
};

size_t twi_cuda_table_bytes(const twi_loop *loop) {
    return (loop->array.n + 1) * (sizeof(twi_cuda_copy) + sizeof(void *));
}

static tw_status good(const twi_cuda_call *x, int result, const char *what) {
    return twi_cuda_result(x->v.c, result, what, x->v.error);
}

static bool is_temp(const twi_cuda_call *x, uint32_t id) {
    return x->v.m->base.loop->array.at[id].role == TWI_TEMP;
}

static tw_status place(const twi_cuda_call *x, uint32_t id) {
    const twi_cu_api *cu = &x->v.c->cu;
    twi_cuda_copy *c = &x->copies[id];
    size_t zero;
    c->span = twi_cuda_span(x, id, &zero);
    c->host = c->span ? (char *)x->args->array[id] - zero : NULL;
    const size_t whole = c->span + 2 * ZONE + ALIGN;
    tw_status status = good(x, cu->alloc(&c->block, whole), "cuMemAlloc");
    if (status != TW_OK) {
        c->block = 0;
        return status;
    }
    c->from = c->block + ZONE + (uintptr_t)c->host % ALIGN; /* blocks start at multiples of 256 */
    x->array[id] = (void *)(uintptr_t)(c->from + zero);
    status = good(x, cu->fill8(c->block, whole, PATTERN, whole, 1, x->v.stream), "zones");
    if (status == TW_OK && c->span && (!is_temp(x, id) || id == x->v.m->base.loop->status))
        status = good(x, cu->upload(c->from, c->host, c->span, x->v.stream), "copy in");
    return status;
}

static bool zone_kept(const unsigned char *zone, size_t n) {
    size_t k = 0;
    while (k < n && zone[k] == PATTERN)
        k++;
    return k == n;
}

/* The 256 bytes before and behind an array. */
static tw_status check_zones(const twi_cuda_call *x, uint32_t id) {
    const twi_cu_api *cu = &x->v.c->cu;
    const twi_cuda_copy *c = &x->copies[id];
    unsigned char zone[2][ALIGN];
    tw_status status =
        good(x, cu->download(zone[0], c->from - ALIGN, ALIGN, x->v.stream), "copy out");
    if (status == TW_OK)
        status = good(x, cu->download(zone[1], c->from + c->span, ALIGN, x->v.stream), "copy out");
    if (status == TW_OK)
        status = good(x, cu->stream_wait(x->v.stream), "cuStreamSynchronize");
    if (status == TW_OK && !(zone_kept(zone[0], ALIGN) && zone_kept(zone[1], ALIGN))) {
        const twi_loop *loop = x->v.m->base.loop;
        (void)snprintf(x->v.error, TWI_ERROR_TEXT, "wrote beside %.100s",
                       twi_text(&loop->ctx->names, loop->array.at[id].name));
        return TW_ERR_WRONG;
    }
    return status;
}

tw_status twi_cuda_bring_back(const twi_cuda_call *x) {
    tw_status status = TW_OK;
    for (uint32_t i = 1; status == TW_OK && i < x->v.m->arrays; i++) {
        const twi_cuda_copy *c = &x->copies[i];
        const unsigned role = x->v.m->base.loop->array.at[i].role;
        const bool status_word = i == x->v.m->base.loop->status;
        if (c->span && (role == TWI_OUT || role == TWI_INOUT || status_word))
            status =
                good(x, x->v.c->cu.download(c->host, c->from, c->span, x->v.stream), "copy out");
        if (status == TW_OK && c->block)
            status = check_zones(x, i);
    }
    return status;
}

/* Where the arrays are: all in place, or some to be copied. */
static void look_at_places(twi_cuda_call *x, const twi_cuda_module *m, uint32_t *host) {
    bool any = false;
    *host = 0;
    for (uint32_t i = 1; i < m->arrays; i++) {
        const bool there = x->args->there && x->args->there[i];
        any = any || there;
        if (!there && !*host && m->base.loop->array.at[i].role != TWI_TEMP)
            *host = i;
    }
    x->in_place = any && !*host;
    x->own = !any && !x->args->stream;
    x->waits = !x->in_place || x->args->full;
}

/* Temps of calls that do not wait are in the stream's space. */
static tw_status place_temps(twi_cuda_call *x) {
    size_t size = 0, zero;
    twi_cu_address at = 0;
    for (uint32_t i = 1; i < x->v.m->arrays; i++)
        if (is_temp(x, i))
            size += (twi_cuda_span(x, i, &zero) + ALIGN) / ALIGN * ALIGN;
    const tw_status status = size ? twi_cuda_temps(&x->v, size, &at) : TW_OK;
    for (uint32_t i = 1; status == TW_OK && i < x->v.m->arrays; i++)
        if (is_temp(x, i)) {
            const size_t span = twi_cuda_span(x, i, &zero);
            x->array[i] = (void *)(uintptr_t)(at + zero);
            at += (span + ALIGN) / ALIGN * ALIGN;
        }
    return status;
}

/* The status before anything has run is the host's to give, once a call and only where somebody
 * will read it: in the recipe it would be two more nodes of a graph, each as long as a small
 * kernel.
 */
static tw_status clear_status(const twi_cuda_call *x) {
    const uint32_t id = x->v.m->base.loop->status;
    const int64_t none = INT64_MAX;
    if (!id)
        return TW_OK;
    memcpy(x->args->array[id], &none, sizeof none);
    if (!x->in_place || !x->waits)
        return TW_OK; /* copied in with the arrays, or never read */
    return good(
        x, x->v.c->cu.upload((uintptr_t)x->array[id], x->args->array[id], sizeof none, x->v.stream),
        "copy in");
}

static tw_status place_all(twi_cuda_call *x) {
    tw_status status = x->in_place ? place_temps(x) : TW_OK;
    if (status == TW_OK)
        status = clear_status(x);
    for (uint32_t i = 1; status == TW_OK && i < x->v.m->arrays; i++) {
        if (x->args->there && x->args->there[i])
            x->array[i] = x->args->array[i];
        else if (!x->in_place)
            status = place(x, i);
    }
    return status;
}

tw_status twi_cuda_open_call(twi_cuda_call *x, twi_module *m, const twi_launch *args,
                             char error[TWI_ERROR_TEXT]) {
    twi_cuda_module *cm = (twi_cuda_module *)m;
    uint32_t host;
    *x = (twi_cuda_call){.args = args};
    look_at_places(x, cm, &host);
    tw_status status = twi_cuda_enter(&x->v, cm, args->stream, x->own, error);
    if (status != TW_OK)
        return status;
    x->copies = twi_buffers_take(&cm->tables);
    if (!x->copies) {
        (void)snprintf(error, TWI_ERROR_TEXT, "no memory for the tables of a call");
        twi_cuda_leave(&x->v);
        return TW_ERR_MEMORY;
    }
    memset(x->copies, 0, cm->tables.size);
    x->array = (void *)(x->copies + cm->arrays);
    x->waits = x->waits && !x->v.capturing;
    if (x->v.capturing && host) {
        (void)snprintf(error, TWI_ERROR_TEXT,
                       "%.100s is in host memory: a stream that is being captured takes arrays on "
                       "the device",
                       twi_text(&m->loop->ctx->names, m->loop->array.at[host].name));
        return TW_ERR_INPUT;
    }
    if (args->full)
        status = twi_cuda_ask_pointers(x);
    if (status == TW_OK && x->own)
        status = good(x, x->v.c->cu.stream_create(&x->v.stream, TWI_CU_STREAM_NON_BLOCKING),
                      "cuStreamCreate");
    return status == TW_OK ? place_all(x) : status;
}

/* After open_call, whatever came of it but no tables. */
void twi_cuda_close_call(twi_cuda_call *x) {
    if (!x->copies)
        return;
    for (uint32_t i = 1; i < x->v.m->arrays; i++)
        if (x->copies[i].block)
            (void)x->v.c->cu.free(x->copies[i].block);
    if (x->own && x->v.stream)
        (void)x->v.c->cu.stream_destroy(x->v.stream);
    twi_buffers_put(&x->v.m->tables, x->copies);
    twi_cuda_leave(&x->v);
}

tw_status twi_cuda_queue_call(const twi_cuda_call *x, uint32_t entry) {
    twi_launch there = *x->args;
    there.array = x->array;
    return twi_cuda_queue(&x->v, entry, &there);
}

/* Waits for what was queued; a fault on the device is told with the kernel's name. */
tw_status twi_cuda_wait(const twi_cuda_call *x, uint32_t entry) {
    const twi_loop *loop = x->v.m->base.loop;
    char what[100];
    (void)snprintf(what, sizeof what, "kernel %.60s, entry %.20s",
                   twi_text(&loop->ctx->names, loop->kernel),
                   twi_text(&loop->ctx->names, loop->entry.at[entry].name));
    return good(x, x->v.c->cu.stream_wait(x->v.stream), what);
}

/* A call that only queues cannot tell of an index outside an array: the host's word says that there
 * was none, unless it is waited for. */
static tw_status settle(const twi_cuda_call *x, uint32_t entry) {
    const uint32_t id = x->v.m->base.loop->status;
    tw_status status = TW_OK;
    if (id && x->waits)
        status = good(x,
                      x->v.c->cu.download(x->args->array[id], (uintptr_t)x->array[id],
                                          sizeof(int64_t), x->v.stream),
                      "copy out");
    return status == TW_OK && x->waits ? twi_cuda_wait(x, entry) : status;
}

tw_status twi_cuda_run(twi_module *m, uint32_t entry, const twi_launch *args,
                       char error[TWI_ERROR_TEXT]) {
    twi_cuda_call x;
    tw_status status = twi_cuda_open_call(&x, m, args, error);
    if (status == TW_OK)
        status = twi_cuda_queue_call(&x, entry);
    if (status == TW_OK)
        status = x.in_place ? settle(&x, entry) : twi_cuda_wait(&x, entry);
    if (status == TW_OK)
        status = twi_cuda_bring_back(&x);
    twi_cuda_close_call(&x);
    return status;
}
