/* SPDX-License-Identifier: Apache-2.0
 * Checks in full: what the driver says of each pointer against what the caller says. A wrong one
 * would fault inside the kernel, which ends the context for everything that shares it.
 */
#include "target/cuda/cuda.h"

#include <stdio.h>

enum { NOBODYS, OF_HOST, OF_DEVICE };

typedef struct {
    unsigned type, managed;
    int device;
    twi_cu_address start;
    size_t size;
} pointer;

size_t twi_cuda_span(const twi_cuda_call *x, uint32_t id, size_t *zero) {
    const twi_larray *a = &x->v.m->base.loop->array.at[id];
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

static tw_status refuse(const twi_cuda_call *x, uint32_t id, const char *what) {
    const twi_loop *loop = x->v.m->base.loop;
    (void)snprintf(x->v.error, TWI_ERROR_TEXT, "%.60s %.150s",
                   twi_text(&loop->ctx->names, loop->array.at[id].name), what);
    return TW_ERR_INPUT;
}

static tw_status check(const twi_cuda_call *x, uint32_t id, const pointer *p, twi_cu_address from,
                       size_t span) {
    const bool there = x->args->there && x->args->there[id];
    const int wanted = (int)x->v.c->ordinal;
    char what[160] = "";
    if (!there && p->type == OF_DEVICE && !p->managed)
        (void)snprintf(what, sizeof what, "is said to be in host memory and lies on CUDA device %d",
                       p->device);
    else if (there && p->type != OF_DEVICE && !p->managed)
        (void)snprintf(what, sizeof what, "is said to be on cuda:%d and lies in host memory",
                       wanted);
    else if (there && !p->managed && p->device != wanted)
        (void)snprintf(what, sizeof what, "is said to be on cuda:%d and lies on cuda:%d", wanted,
                       p->device);
    else if (there && p->size && (from < p->start || from + span > p->start + p->size))
        (void)snprintf(what, sizeof what,
                       "needs %llu bytes from %llu on of an allocation of %llu bytes",
                       (unsigned long long)span, (unsigned long long)(from - p->start),
                       (unsigned long long)p->size);
    return *what ? refuse(x, id, what) : TW_OK;
}

tw_status twi_cuda_ask_pointers(const twi_cuda_call *x) {
    int attribute[] = {TWI_CU_MEMORY_TYPE, TWI_CU_MEMORY_MANAGED, TWI_CU_MEMORY_DEVICE,
                       TWI_CU_RANGE_START, TWI_CU_RANGE_SIZE};
    tw_status status = TW_OK;
    for (uint32_t i = 1; status == TW_OK && i < x->v.m->arrays; i++) {
        pointer p = {0};
        void *value[] = {&p.type, &p.managed, &p.device, &p.start, &p.size};
        size_t zero;
        const size_t span = twi_cuda_span(x, i, &zero);
        if (span == 0 || x->v.m->base.loop->array.at[i].role == TWI_TEMP)
            continue;
        const twi_cu_address from = (uintptr_t)x->args->array[i] - zero;
        status = twi_cuda_result(x->v.c, x->v.c->cu.pointer_attributes(5, attribute, value, from),
                                 "cuPointerGetAttributes", x->v.error);
        if (status == TW_OK)
            status = check(x, i, &p, from, span);
    }
    return status;
}
