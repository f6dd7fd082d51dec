/* SPDX-License-Identifier: Apache-2.0
 * Which entry runs, and running its recipe: fills, launches, loops around launches.
 */
#include "target/recipe.h"
#include "run/kernel.h"

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
            if (a->extent[d] > 1 && stride != 1 && !(a->within >> d & 1) &&
                stride * size % (int64_t)align != 0)
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
    const twi_bound *b;
    tw_call *call;
} walk;

twi_launch twi_launch_of(const twi_bound *b, const tw_call *call, const int64_t *trip) {
    return (twi_launch){.array = b->array,
                        .scalar = b->scalar,
                        .stride = b->stride,
                        .shape = b->shape,
                        .trip = trip,
                        .there = b->there,
                        .stream = call->stream,
                        .full = call->checks == TW_CHECKS_FULL,
                        .threads = call->threads};
}

static tw_status launch(void *state, const twi_step_do *step, const int64_t *trip) {
    const walk *w = state;
    const twi_launch args = twi_launch_of(w->b, w->call, trip);
    return w->k->target->ops->launch(w->k->module, step->func, step->grid, &args, w->call->error);
}

static tw_status fill_step(void *state, const twi_step_do *step) {
    const walk *w = state;
    fill(w->k, step->array, w->b);
    return TW_OK;
}

tw_status twi_run_recipe(const tw_kernel *k, uint32_t entry, const twi_bound *b, tw_call *call) {
    walk w = {.k = k, .b = b, .call = call};
    const twi_recipe_hooks hooks = {.state = &w, .launch = launch, .fill = fill_step};
    if (!k->target->ops->run)
        return twi_recipe_walk(&k->loop->entry.at[entry], &hooks, call->error);
    const int64_t trip[TWI_RECIPE_LOOPS] = {0};
    const twi_launch args = twi_launch_of(b, call, trip);
    return k->target->ops->run(k->module, entry, &args, call->error);
}
