/* SPDX-License-Identifier: Apache-2.0
 * Kernels: making, describing, running and destroying them.
 */
#include "run/kernel.h"

#include <stdio.h>

static size_t aligned(size_t n) { return (n + 63) & ~(size_t)63; }

static uint64_t elements(const twi_argument *a) {
    uint64_t n = 1;
    for (unsigned d = 0; d < a->rank; d++)
        n *= (uint64_t)a->extent[d];
    return n;
}

static bool steps_by(const twi_object *o, int64_t stride) {
    for (unsigned d = 0; d < o->rank; d++)
        if (o->stride[d] == stride)
            return true;
    return false;
}

/* The layout that the code of all entries was made for. */
static void take_layout(twi_argument *a, const twi_loop *loop, uint32_t id) {
    int64_t dense = 1;
    for (unsigned d = a->rank; d-- > 0;) {
        a->stride[d] = dense;
        dense *= a->extent[d] > 0 ? a->extent[d] : 1;
    }
    if (loop->func.n == 0)
        return;
    const twi_func *f = &loop->func.at[0];
    for (uint32_t i = 1; i < f->object.n; i++) {
        const twi_object *o = &f->object.at[i];
        if (o->kind != TWI_OBJ_ARRAY || o->array != id)
            continue;
        a->dynamic = o->dynamic;
        if (o->rank == a->rank)
            memcpy(a->stride, o->stride, sizeof a->stride);
        else /* a view of a dense array (loop.h) */
            for (unsigned d = 0; d < a->rank; d++)
                if (!steps_by(o, a->stride[d]))
                    a->within = (uint8_t)(a->within | 1u << d);
    }
}

static void take_arrays(tw_kernel *k) {
    const twi_names *names = &k->ctx->names;
    size_t at = 0;
    k->arrays = k->loop->array.n;
    k->array = TWI_NEW_N(&k->arena, twi_argument, k->arrays + 1);
    k->given = TWI_NEW_N(&k->arena, uint32_t, k->arrays + 1);
    for (uint32_t i = 1; i < k->arrays; i++) {
        const twi_larray *from = &k->loop->array.at[i];
        twi_argument *a = &k->array[i];
        a->name = twi_strdup(&k->arena, twi_text(names, from->name));
        a->elem = from->elem;
        a->rank = from->rank;
        a->role = from->role;
        a->has_fill = from->has_fill;
        a->fill = from->fill;
        memcpy(a->extent, from->extent, sizeof a->extent);
        take_layout(a, k->loop, i);
        if (a->role == TWI_TEMP) {
            a->temp = at;
            at = aligned(at + elements(a) * tw_elem_size((tw_elem)a->elem));
        } else {
            k->given[k->givens++] = i;
        }
    }
    const size_t tables = (sizeof(void *) + 2 * TWI_MAX_RANK * sizeof(int64_t)) * k->arrays +
                          sizeof(uint64_t) * (k->scalars + 1) + sizeof(bool) * k->arrays;
    k->temps = aligned(tables);
    twi_buffers_init(&k->workspace, k->temps + at);
}

static void take_scalars(tw_kernel *k) {
    k->scalars = k->loop->scalar.n;
    k->scalar = TWI_NEW_N(&k->arena, twi_scalar_argument, k->scalars + 1);
    for (uint32_t i = 1; i < k->scalars; i++) {
        twi_scalar_argument *s = &k->scalar[i];
        s->name = twi_strdup(&k->arena, twi_text(&k->ctx->names, k->loop->scalar.at[i].name));
        s->elem = k->loop->scalar.at[i].elem;
        if (k->loop->ir && i < k->loop->ir->scalar.n) {
            s->has_default = k->loop->ir->scalar.at[i].has_default;
            s->bits = k->loop->ir->scalar.at[i].bits;
        }
    }
}

tw_kernel *twi_kernel_new(twi_target *t, twi_module *module, twi_arena *own) {
    twi_arena arena;
    twi_arena_init(&arena, &t->ctx->mem);
    if (own)
        arena = *own;
    jmp_buf spot, *saved;
    twi_arena kept = arena; /* what there is if the next allocation fails */
    if (TWI_GUARD(&t->ctx->mem, spot, saved)) {
        TWI_UNGUARD(&t->ctx->mem, saved);
        t->ops->release(module);
        twi_arena_fini(&kept);
        twi_mem_fail(&t->ctx->mem);
    }
    tw_kernel *k = TWI_NEW(&kept, tw_kernel);
    k->arena = kept;
    TWI_UNGUARD(&t->ctx->mem, saved);
    k->ctx = t->ctx;
    k->target = t;
    k->module = module;
    k->loop = module->loop;
    if (TWI_GUARD(&t->ctx->mem, spot, saved)) {
        TWI_UNGUARD(&t->ctx->mem, saved);
        t->ops->release(module);
        kept = k->arena;
        twi_arena_fini(&kept);
        twi_mem_fail(&t->ctx->mem);
    }
    take_scalars(k);
    take_arrays(k);
    k->entry = TWI_NEW_N(&k->arena, const char *, k->loop->entry.n + 1);
    for (uint32_t i = 0; i < k->loop->entry.n; i++)
        k->entry[i] = twi_strdup(&k->arena, twi_text(&k->ctx->names, k->loop->entry.at[i].name));
    TWI_UNGUARD(&t->ctx->mem, saved);
    return k;
}

void tw_kernel_destroy(tw_kernel *k) {
    if (!k)
        return;
    k->target->ops->release(k->module);
    twi_buffers_fini(&k->workspace);
    twi_arena arena = k->arena; /* k lives in it */
    twi_arena_fini(&arena);
}

size_t tw_kernel_arrays(const tw_kernel *k) { return k ? k->givens : 0; }

tw_argument tw_kernel_array(const tw_kernel *k, size_t i) {
    static const tw_role role[] = {TW_ROLE_IN, TW_ROLE_OUT, TW_ROLE_INOUT, TW_ROLE_TEMP};
    if (i >= tw_kernel_arrays(k))
        return (tw_argument){.name = ""};
    const twi_argument *a = &k->array[k->given[i]];
    return (tw_argument){a->name, (tw_elem)a->elem, role[a->role], a->rank, a->extent};
}

size_t tw_kernel_scalars(const tw_kernel *k) { return k && k->scalars ? k->scalars - 1 : 0; }

tw_argument tw_kernel_scalar(const tw_kernel *k, size_t i) {
    if (i >= tw_kernel_scalars(k))
        return (tw_argument){.name = ""};
    return (tw_argument){.name = k->scalar[i + 1].name, .elem = (tw_elem)k->scalar[i + 1].elem};
}

/* What the code left in the status of a call. */
static tw_status index_status(const void *word, tw_call *call) {
    int64_t instance;
    memcpy(&instance, word, sizeof instance);
    if (instance == INT64_MAX)
        return TW_OK;
    call->instance = instance;
    (void)snprintf(call->error, sizeof call->error,
                   "instance %lld used an index outside an array; it is the first that did",
                   (long long)instance);
    return TW_ERR_INDEX;
}

tw_status tw_kernel_run(tw_kernel *k, tw_call *call) {
    twi_bound b;
    tw_status status = twi_bind(k, call, &b);
    if (status != TW_OK)
        return status;
    status = twi_run_recipe(k, twi_pick_entry(k, &b), &b, call);
    if (status == TW_OK && k->loop->status)
        status = index_status(b.array[k->loop->status], call);
    twi_buffers_put(&k->workspace, b.block);
    return status;
}

const char *tw_kernel_entry(tw_kernel *k, tw_call *call) {
    twi_bound b;
    if (twi_bind(k, call, &b) != TW_OK)
        return NULL;
    const uint32_t entry = twi_pick_entry(k, &b);
    twi_buffers_put(&k->workspace, b.block);
    return k->entry[entry];
}
