/* SPDX-License-Identifier: Apache-2.0
 * An entry's recipe on device pointers, queued on a stream: fills, launches, loops around launches.
 * Nothing here waits, so that the same walk can be captured into a graph.
 */
#include "target/cuda/cuda.h"

#include <stdio.h>

enum { MOST_LOOPS = 16, MOST_PARAMETERS = 512 };
#define MOST_GROUPS INT64_C(2147483647) /* of one launch */

typedef struct {
    twi_cuda_module *m;
    const twi_cuda *c;
    const twi_entry *entry;
    const twi_launch *args;
    twi_cu_stream stream;
    char *error;
    int64_t trip[MOST_LOOPS];
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

static tw_status launch(walk *w, const twi_step_do *step) {
    const twi_cuda_func *f = &w->m->func[step->func];
    void *value[MOST_PARAMETERS];
    tw_status status = TW_OK;
    if (f->passes > MOST_PARAMETERS) {
        (void)snprintf(w->error, TWI_ERROR_TEXT, "%.100s takes %u parameters; at most %d can be",
                       f->name, f->passes, (int)MOST_PARAMETERS);
        return TW_ERR_INPUT;
    }
    for (int64_t first = 0; status == TW_OK && first < step->grid; first += MOST_GROUPS) {
        const int64_t left = step->grid - first;
        for (unsigned k = 0; k < f->passes; k++)
            value[k] = parameter(w, &f->pass[k], &first);
        status = twi_cuda_result(
            w->c,
            w->c->cu.launch(f->handle, (unsigned)(left < MOST_GROUPS ? left : MOST_GROUPS), 1, 1,
                            f->workers, 1, 1, f->shared, w->stream, value, NULL),
            f->name, w->error);
    }
    return status;
}

/* n elements `stride` bytes apart. */
static int fill_row(const walk *w, twi_cu_address at, size_t size, int64_t stride, int64_t n,
                    uint64_t bits) {
    const twi_cu_api *cu = &w->c->cu;
    const size_t pitch = (size_t)(stride < 0 ? -stride : stride);
    const bool dense = pitch == size && size < 8;
    const size_t width = dense ? (size_t)n : 1, height = dense ? 1 : (size_t)n;
    const twi_cu_address from = /* the lowest address */
        stride < 0 ? at - pitch * (size_t)(n - 1) : at;
    const size_t step = dense ? pitch * (size_t)n : pitch;
    if (size == 1)
        return cu->fill8(from, step, (unsigned char)bits, width, height, w->stream);
    if (size == 2)
        return cu->fill16(from, step, (unsigned short)bits, width, height, w->stream);
    const int result = cu->fill32(from, step, (unsigned)bits, width, height, w->stream);
    if (result || size == 4)
        return result;
    return cu->fill32(from + 4, step, (unsigned)(bits >> 32), width, height, w->stream);
}

/* Row by row; a dense array is one row. */
static tw_status fill(walk *w, uint32_t id) {
    const twi_larray *a = &w->m->base.loop->array.at[id];
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
        return twi_cuda_result(w->c, fill_row(w, base, size, (int64_t)size, dense, a->fill), "fill",
                               w->error);
    const unsigned last = a->rank - 1u;
    for (;;) {
        const twi_cu_address from = base + (twi_cu_address)(offset * (int64_t)size);
        const int result =
            fill_row(w, from, size, stride[last] * (int64_t)size, shape[last], a->fill);
        if (result)
            return twi_cuda_result(w->c, result, "fill", w->error);
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
static tw_status steps(walk *w, uint32_t from, uint32_t to, unsigned depth) {
    tw_status status = TW_OK;
    for (uint32_t i = from; status == TW_OK && i < to; i++) {
        const twi_step_do *step = &w->entry->recipe.at[i];
        if (step->what == TWI_DO_LAUNCH) {
            status = launch(w, step);
        } else if (step->what == TWI_DO_FILL) {
            status = fill(w, step->array);
        } else if (step->what == TWI_DO_LOOP && depth < MOST_LOOPS) {
            const uint32_t end = end_of(w->entry, i);
            for (int64_t t = step->lo; status == TW_OK && t < step->hi; t++) {
                w->trip[depth] = t;
                status = steps(w, i + 1, end, depth + 1);
            }
            i = end;
        } else {
            (void)snprintf(w->error, TWI_ERROR_TEXT, "a recipe that cannot be run");
            status = TW_ERR_INTERNAL;
        }
    }
    return status;
}

tw_status twi_cuda_queue(twi_cuda_module *m, uint32_t entry, const twi_launch *args,
                         twi_cu_stream stream, char error[TWI_ERROR_TEXT]) {
    walk w = {.m = m,
              .c = (const twi_cuda *)m->base.target,
              .entry = &m->base.loop->entry.at[entry],
              .args = args,
              .stream = stream,
              .error = error};
    return steps(&w, 0, w.entry->recipe.n, 0);
}
