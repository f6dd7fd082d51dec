/* SPDX-License-Identifier: Apache-2.0
 * Which entry runs, and running its recipe: fills, launches, loops around launches.
 */
#include "run/kernel.h"

#include <stdio.h>

enum { MOST_LOOPS = 16 };

static bool facts_hold(const tw_kernel *k, const twi_entry *entry, const twi_bound *b) {
    for (uint32_t i = 1; i < entry->align.n && i < k->arrays; i++) {
        const uint32_t align = entry->align.at[i];
        const twi_argument *a = &k->array[i];
        const int64_t size = (int64_t)tw_elem_size((tw_elem)a->elem);
        if (align <= 1)
            continue;
        if ((uintptr_t)b->array[i] % align != 0)
            return false;
        for (unsigned d = 0; d < a->rank; d++) {
            const int64_t stride = b->stride[i * TWI_MAX_RANK + d];
            if (a->extent[d] > 1 && stride != 1 && stride * size % (int64_t)align != 0)
                return false;
        }
    }
    return true;
}

/* Later entries assume more; main, the first, assumes nothing. */
uint32_t twi_pick_entry(const tw_kernel *k, const twi_bound *b) {
    for (uint32_t e = k->loop->entry.n; e-- > 1;)
        if (facts_hold(k, &k->loop->entry.at[e], b))
            return e;
    return 0;
}

static void fill(const tw_kernel *k, uint32_t id, const twi_bound *b) {
    const twi_argument *a = &k->array[id];
    const int64_t *stride = b->stride + id * TWI_MAX_RANK;
    const size_t size = tw_elem_size((tw_elem)a->elem);
    int64_t at[TWI_MAX_RANK] = {0}, offset = 0;
    for (unsigned d = 0; d < a->rank; d++)
        if (a->extent[d] == 0)
            return;
    for (;;) {
        memcpy((char *)b->array[id] + offset * (int64_t)size, &a->fill, size); /* little endian */
        unsigned d = a->rank;
        while (d > 0) {
            d--;
            offset += stride[d];
            if (++at[d] < a->extent[d])
                break;
            offset -= stride[d] * a->extent[d];
            at[d] = 0;
            if (d == 0)
                return;
        }
        if (a->rank == 0)
            return;
    }
}

typedef struct {
    const tw_kernel *k;
    const twi_entry *entry;
    const twi_bound *b;
    tw_call *call;
    int64_t trip[MOST_LOOPS];
} walk;

static tw_status launch(walk *w, const twi_step_do *step) {
    const twi_launch args = {.array = w->b->array,
                             .scalar = w->b->scalar,
                             .stride = w->b->stride,
                             .shape = w->b->shape,
                             .trip = w->trip,
                             .threads = w->call->threads};
    return w->k->target->ops->launch(w->k->module, step->func, step->grid, &args, w->call->error);
}

static uint32_t end_of(const twi_entry *entry, uint32_t at) {
    unsigned depth = 0;
    for (; at < entry->recipe.n; at++) {
        depth += entry->recipe.at[at].what == TWI_DO_LOOP;
        if (entry->recipe.at[at].what == TWI_DO_END && --depth == 0)
            return at;
    }
    return at;
}

/* Steps from..to-1 inside `depth` loops. */
static tw_status run_steps(walk *w, uint32_t from, uint32_t to, unsigned depth) {
    for (uint32_t i = from; i < to; i++) {
        const twi_step_do *step = &w->entry->recipe.at[i];
        tw_status status = TW_OK;
        if (step->what == TWI_DO_LAUNCH) {
            status = launch(w, step);
        } else if (step->what == TWI_DO_FILL) {
            fill(w->k, step->array, w->b);
        } else if (step->what == TWI_DO_LOOP && depth < MOST_LOOPS) {
            const uint32_t end = end_of(w->entry, i);
            for (int64_t t = step->lo; status == TW_OK && t < step->hi; t++) {
                w->trip[depth] = t;
                status = run_steps(w, i + 1, end, depth + 1);
            }
            i = end;
        } else {
            (void)snprintf(w->call->error, sizeof w->call->error, "a recipe that cannot be run");
            status = TW_ERR_INTERNAL;
        }
        if (status != TW_OK)
            return status;
    }
    return TW_OK;
}

tw_status twi_run_recipe(const tw_kernel *k, uint32_t entry, const twi_bound *b, tw_call *call) {
    walk w = {.k = k, .entry = &k->loop->entry.at[entry], .b = b, .call = call};
    if (!k->target->ops->run)
        return run_steps(&w, 0, w.entry->recipe.n, 0);
    const twi_launch args = {.array = b->array,
                             .scalar = b->scalar,
                             .stride = b->stride,
                             .shape = b->shape,
                             .trip = w.trip,
                             .threads = call->threads};
    return k->target->ops->run(k->module, entry, &args, call->error);
}
