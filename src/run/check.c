/* SPDX-License-Identifier: Apache-2.0
 * What a call's arguments must be, one rule after the other, and the tables that the code reads.
 * Names the argument and both numbers in each refusal.
 */
#include "run/kernel.h"

#include <stdarg.h>
#include <stdio.h>

static tw_status refuse(tw_call *call, const char *format, ...) TWI_PRINTF(2, 3);
static tw_status refuse(tw_call *call, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(call->error, sizeof call->error, format, args);
    va_end(args);
    return TW_ERR_INPUT;
}

static bool is_empty(const twi_argument *a) {
    for (unsigned d = 0; d < a->rank; d++)
        if (a->extent[d] == 0)
            return true;
    return false;
}

enum { HOST = 1, PINNED = 3 }; /* DLPack's types of memory of the host */

/* In the target's own memory, or in the host's. */
static tw_status take_place(const twi_target *target, const twi_argument *a, const tw_tensor *t,
                            bool *there, tw_call *call) {
    *there = false;
    if (t->device.type == HOST || t->device.type == PINNED)
        return TW_OK;
    if (!target->ops->memory)
        return refuse(call, "%s is on a device of type %d; this kernel runs on the CPU (type 1)",
                      a->name, (int)t->device.type);
    if (t->device.type != target->ops->memory)
        return refuse(call, "%s is on a device of type %d; this kernel takes types 1 and %d",
                      a->name, (int)t->device.type, (int)target->ops->memory);
    if (t->device.id != target->device)
        return refuse(call, "%s is on %s:%d; this kernel runs on %s:%d", a->name, target->ops->name,
                      (int)t->device.id, target->ops->name, (int)target->device);
    *there = true;
    return TW_OK;
}

static tw_status check_type(const twi_argument *a, const tw_tensor *t, tw_call *call) {
    const tw_elem got = tw_dtype_elem(t->dtype);
    if (got != (tw_elem)a->elem)
        return refuse(call, "%s has elements of type %s; this kernel takes %s", a->name,
                      tw_elem_name(got), tw_elem_name((tw_elem)a->elem));
    if (t->rank != a->rank)
        return refuse(call, "%s has rank %d; this kernel takes %d", a->name, (int)t->rank,
                      (int)a->rank);
    if (!t->shape && t->rank)
        return refuse(call, "%s has no shape", a->name);
    for (unsigned d = 0; d < a->rank; d++)
        if (t->shape[d] != a->extent[d])
            return refuse(call, "%s has extent %lld in dimension %u; this kernel takes %lld",
                          a->name, (long long)t->shape[d], d, (long long)a->extent[d]);
    return TW_OK;
}

/* Strides in elements; those of dimensions with one position mean nothing and become what the code
 * was made for. */
static tw_status take_strides(const twi_argument *a, const tw_tensor *t, int64_t *stride,
                              tw_call *call) {
    int64_t dense = 1;
    for (unsigned d = a->rank; d-- > 0;) {
        const int64_t given = t->strides ? t->strides[d] : dense;
        const bool fixed = !(a->dynamic >> d & 1u);
        dense *= a->extent[d] > 0 ? a->extent[d] : 1;
        stride[d] = given;
        if (a->extent[d] <= 1 && fixed)
            stride[d] = a->stride[d];
        else if (a->extent[d] <= 1)
            stride[d] = 0;
        else if (fixed && given != a->stride[d] && !is_empty(a))
            return refuse(call, "%s has stride %lld in dimension %u; this kernel is built for %lld",
                          a->name, (long long)given, d, (long long)a->stride[d]);
    }
    return TW_OK;
}

static tw_status take_pointer(const twi_argument *a, const tw_tensor *t, void **pointer,
                              tw_call *call) {
    const size_t size = tw_elem_size((tw_elem)a->elem);
    *pointer = t->data ? (char *)t->data + t->byte_offset : NULL;
    if (is_empty(a))
        return TW_OK;
    if (!t->data)
        return refuse(call, "%s has no data", a->name);
    if ((uintptr_t)*pointer % size != 0)
        return refuse(call, "%s starts at an address that is no multiple of %u bytes", a->name,
                      (unsigned)size);
    return TW_OK;
}

/* Only the dimensions that there are: what is beyond the rank is not looked at. */
static void box_of(const tw_kernel *k, const twi_bound *b, uint32_t id, twi_box *box) {
    const twi_argument *a = &k->array[id];
    box->base = b->array[id];
    box->size = tw_elem_size((tw_elem)a->elem);
    box->rank = a->rank;
    for (unsigned d = 0; d < a->rank; d++) {
        box->extent[d] = a->extent[d];
        box->stride[d] = b->stride[id * TWI_MAX_RANK + d] * (int64_t)box->size;
    }
}

/* A stride times the extent that leaves the address space is nobody's array. */
static bool reaches_too_far(const twi_box *box) {
    int64_t left = INT64_MAX / 4;
    for (int d = 0; d < box->rank; d++) {
        const int64_t stride = box->stride[d] < 0 ? -box->stride[d] : box->stride[d];
        if (box->extent[d] > 1 && stride > left / (box->extent[d] - 1))
            return true;
        if (box->extent[d] > 1)
            left -= stride * (box->extent[d] - 1);
    }
    return false;
}

static tw_status check_overlaps(const tw_kernel *k, const twi_bound *b, tw_call *call) {
    twi_box bx, by;
    for (uint32_t i = 0; i < k->givens; i++) {
        const uint32_t x = k->given[i];
        box_of(k, b, x, &bx);
        if (reaches_too_far(&bx))
            return refuse(call, "%s has strides that leave the address space", k->array[x].name);
    }
    for (uint32_t i = 0; i < k->givens; i++) {
        const uint32_t x = k->given[i];
        if (k->array[x].role == TWI_IN)
            continue;
        box_of(k, b, x, &bx);
        if (twi_box_overlaps_itself(&bx))
            return refuse(call,
                          "%s is written and overlaps itself: two of its elements share memory",
                          k->array[x].name);
        for (uint32_t j = 0; j < k->givens; j++) {
            const uint32_t y = k->given[j];
            if (i == j)
                continue;
            box_of(k, b, y, &by);
            if (twi_boxes_overlap(&bx, &by))
                return refuse(call, "%s is written and overlaps %s", k->array[x].name,
                              k->array[y].name);
        }
    }
    return TW_OK;
}

static uint64_t scalar_bits(tw_elem elem, tw_scalar s) {
    uint64_t bits = 0;
    if (elem == TW_F64) {
        memcpy(&bits, &s.f, sizeof s.f);
    } else if (elem == TW_F32) {
        const float f = (float)s.f;
        memcpy(&bits, &f, sizeof f);
    } else if (elem == TW_BOOL) {
        bits = s.i != 0;
    } else {
        bits = (uint64_t)s.i;
        if (tw_elem_size(elem) < 8)
            bits &= (UINT64_C(1) << (8 * tw_elem_size(elem))) - 1;
    }
    return bits;
}

static tw_status take_scalars(const tw_kernel *k, twi_bound *b, tw_call *call) {
    const size_t n = tw_kernel_scalars(k);
    if (call->scalar && call->scalars != n)
        return refuse(call, "%llu scalars were given; this kernel takes %llu",
                      (unsigned long long)call->scalars, (unsigned long long)n);
    for (uint32_t i = 1; i < k->scalars; i++) {
        const twi_scalar_argument *s = &k->scalar[i];
        if (!call->scalar && !s->has_default)
            return refuse(call, "the scalar %s has no value", s->name);
        b->scalar[i] = call->scalar ? scalar_bits((tw_elem)s->elem, call->scalar[i - 1]) : s->bits;
    }
    return TW_OK;
}

static tw_status take_tensors(const tw_kernel *k, twi_bound *b, tw_call *call) {
    for (uint32_t i = 0; i < k->givens; i++) {
        const uint32_t id = k->given[i];
        const twi_argument *a = &k->array[id];
        const tw_tensor *t = call->tensor[i];
        if (!t)
            return refuse(call, "%s was not given", a->name);
        tw_status status = take_place(k->target, a, t, &b->there[id], call);
        if (status == TW_OK && call->checks != TW_CHECKS_NONE)
            status = check_type(a, t, call);
        if (status == TW_OK)
            status = take_strides(a, t, b->stride + id * TWI_MAX_RANK, call);
        if (status == TW_OK)
            status = take_pointer(a, t, &b->array[id], call);
        if (status != TW_OK)
            return status;
    }
    return TW_OK;
}

static void lay_out(const tw_kernel *k, twi_bound *b) {
    char *at = b->block;
    memset(at, 0, k->temps);
    b->array = (void *)at;
    at += sizeof(void *) * k->arrays;
    b->stride = (void *)at;
    at += sizeof(int64_t) * TWI_MAX_RANK * k->arrays;
    b->shape = (void *)at;
    at += sizeof(int64_t) * TWI_MAX_RANK * k->arrays;
    b->scalar = (void *)at;
    at += sizeof(uint64_t) * (k->scalars + 1);
    b->there = (void *)at;
    for (uint32_t i = 1; i < k->arrays; i++) {
        const twi_argument *a = &k->array[i];
        memcpy(b->shape + i * TWI_MAX_RANK, a->extent, sizeof a->extent);
        if (a->role != TWI_TEMP)
            continue;
        b->array[i] = b->block + k->temps + a->temp;
        memcpy(b->stride + i * TWI_MAX_RANK, a->stride, sizeof a->stride);
    }
}

tw_status twi_bind(tw_kernel *k, tw_call *call, twi_bound *b) {
    call->error[0] = 0;
    if (!k)
        return refuse(call, "there is no kernel: was it compiled with build = true?");
    if (call->tensors != k->givens || (!call->tensor && k->givens))
        return refuse(call, "%llu arrays were given; this kernel takes %u",
                      (unsigned long long)(call->tensor ? call->tensors : 0), (unsigned)k->givens);
    if (call->threads < 0)
        return refuse(call, "threads is %d: 1 or more, or 0 for as many as there are cores",
                      call->threads);
    b->block = twi_buffers_take(&k->workspace);
    if (!b->block) {
        (void)refuse(call, "no memory for %llu bytes of workspace",
                     (unsigned long long)k->workspace.size);
        return TW_ERR_MEMORY;
    }
    lay_out(k, b);
    tw_status status = take_tensors(k, b, call);
    if (status == TW_OK && call->checks != TW_CHECKS_NONE)
        status = check_overlaps(k, b, call);
    if (status == TW_OK)
        status = take_scalars(k, b, call);
    if (status != TW_OK)
        twi_buffers_put(&k->workspace, b->block);
    return status;
}
