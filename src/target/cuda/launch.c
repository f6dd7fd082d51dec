/* SPDX-License-Identifier: Apache-2.0
 * An entry's recipe on device pointers, queued on a stream: fills, launches, loops around launches.
 * Nothing here waits, so that the same walk can be captured into a graph.
 */
#include "target/cuda/cuda.h"
#include "target/recipe.h"

#include <stdio.h>

enum { MOST_PARAMETERS = 512 };
#define MOST_GROUPS INT64_C(2147483647) /* of one launch */

typedef struct {
    const twi_cuda_visit *v;
    const twi_launch *args;
    const int64_t *trip;
} walk;

static void *parameter(const walk *w, const twi_pass *p, const int64_t *first) {
    const union {
        const void *in;
        void *out; /* the driver only reads it */
    } at = {p->kind == TWI_PASS_ARRAY    ? (const void *)&w->args->array[p->id]
            : p->kind == TWI_PASS_SCALAR ? (const void *)&w->args->scalar[p->id]
            : p->kind == TWI_PASS_STRIDE ? &w->args->stride[p->id * TWI_MAX_RANK + p->dim]
            : p->kind == TWI_PASS_TRIP   ? &w->trip[p->id]
                                         : first};
    return at.out;
}

static tw_status launch(void *state, const twi_step_do *step, const int64_t *trip) {
    walk *w = state;
    const twi_cuda_visit *v = w->v;
    const twi_cuda_func *f = &v->m->func[step->func];
    void *value[MOST_PARAMETERS];
    tw_status status = TW_OK;
    w->trip = trip;
    if (f->passes > MOST_PARAMETERS) {
        (void)snprintf(w->v->error, TWI_ERROR_TEXT, "%.100s takes %u parameters; at most %d can be",
                       f->name, f->passes, (int)MOST_PARAMETERS);
        return TW_ERR_INPUT;
    }
    for (int64_t first = 0; status == TW_OK && first < step->grid; first += MOST_GROUPS) {
        const int64_t left = step->grid - first;
        for (unsigned k = 0; k < f->passes; k++)
            value[k] = parameter(w, &f->pass[k], &first);
        const int result = v->c->cu.launch(v->home->function[step->func],
                                           (unsigned)(left < MOST_GROUPS ? left : MOST_GROUPS), 1,
                                           1, f->workers, 1, 1, f->shared, v->stream, value, NULL);
        status = twi_cuda_result(v->c, result, f->name, v->error);
    }
    return status;
}

/* n elements `stride` bytes apart. */
static int fill_row(const walk *w, twi_cu_address at, size_t size, int64_t stride, int64_t n,
                    uint64_t bits) {
    const twi_cu_api *cu = &w->v->c->cu;
    const size_t pitch = (size_t)(stride < 0 ? -stride : stride);
    const bool dense = pitch == size && size < 8;
    const size_t width = dense ? (size_t)n : 1, height = dense ? 1 : (size_t)n;
    const twi_cu_address from = /* the lowest address */
        stride < 0 ? at - pitch * (size_t)(n - 1) : at;
    const size_t step = dense ? pitch * (size_t)n : pitch;
    if (size == 1)
        return cu->fill8(from, step, (unsigned char)bits, width, height, w->v->stream);
    if (size == 2)
        return cu->fill16(from, step, (unsigned short)bits, width, height, w->v->stream);
    const int result = cu->fill32(from, step, (unsigned)bits, width, height, w->v->stream);
    if (result || size == 4)
        return result;
    return cu->fill32(from + 4, step, (unsigned)(bits >> 32), width, height, w->v->stream);
}

/* Row by row; a dense array is one row. The status is there already: run.c. */
static tw_status fill(void *state, const twi_step_do *step) {
    const walk *w = state;
    const uint32_t id = step->array;
    if (id == w->v->m->base.loop->status)
        return TW_OK;
    const twi_larray *a = &w->v->m->base.loop->array.at[id];
    const int64_t *shape = w->args->shape + id * TWI_MAX_RANK;
    const int64_t *stride = w->args->stride + id * TWI_MAX_RANK;
    const size_t size = tw_elem_size((tw_elem)a->elem);
    const twi_cu_address base = (uintptr_t)w->args->array[id];
    int64_t dense = 1, at[TWI_MAX_RANK] = {0}, offset = 0;
    bool one_row = true;
    for (unsigned d = a->rank; d-- > 0;) {
        one_row = one_row && (stride[d] == dense || shape[d] <= 1);
        dense *= shape[d];
    }
    if (dense == 0)
        return TW_OK;
    if (one_row)
        return twi_cuda_result(w->v->c, fill_row(w, base, size, (int64_t)size, dense, a->fill),
                               "fill", w->v->error);
    const unsigned last = a->rank - 1u;
    for (;;) {
        const twi_cu_address from = base + (twi_cu_address)(offset * (int64_t)size);
        const int result =
            fill_row(w, from, size, stride[last] * (int64_t)size, shape[last], a->fill);
        if (result)
            return twi_cuda_result(w->v->c, result, "fill", w->v->error);
        unsigned d = last;
        while (d > 0) {
            d--;
            offset += stride[d];
            if (++at[d] < shape[d])
                break;
            offset -= stride[d] * shape[d];
            at[d] = 0;
            if (d == 0)
                return TW_OK;
        }
        if (last == 0)
            return TW_OK;
    }
}

tw_status twi_cuda_queue(const twi_cuda_visit *v, uint32_t entry, const twi_launch *args) {
    walk w = {.v = v, .args = args};
    const twi_recipe_hooks hooks = {.state = &w, .launch = launch, .fill = fill};
    return twi_recipe_walk(&v->m->base.loop->entry.at[entry], &hooks, v->error);
}
