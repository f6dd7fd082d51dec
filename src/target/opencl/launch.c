/* SPDX-License-Identifier: Apache-2.0
 * Whole entries: the arguments become buffers, the recipe's steps go into one queue, what was
 * written comes back. Where device and host share memory the buffers are the caller's arrays
 * themselves.
 */
#include "target/opencl/opencl.h"
#include "target/recipe.h"

#include <stdio.h>

typedef struct {
    void *buffer;  /* NULL: no elements */
    int64_t first; /* of element 0 in it, in elements */
    size_t bytes;
} span;

typedef struct {
    twi_cl_module *m;
    const twi_cl_runtime *rt;
    const twi_launch *args;
    const twi_entry *entry;
    span *array; /* by id */
    const int64_t *trip;
    char *error;
} walk;

static tw_status failed(const walk *w, const char *call, const char *what, int32_t code) {
    (void)snprintf(w->error, TWI_ERROR_TEXT, "%s of %.100s: %s (%d)", call, what,
                   twi_cl_words(code), (int)code);
    return code == -4 || code == -6 ? TW_ERR_MEMORY : TW_ERR_ENV;
}

static const char *name_of(const walk *w, uint32_t array) {
    const twi_loop *loop = w->m->base.loop;
    return twi_text(&loop->ctx->names, loop->array.at[array].name);
}

/* ---- buffers ---- */

/* The bytes from the first to the last element; false: there is none. */
static bool extent_of(const walk *w, uint32_t array, int64_t *lo, int64_t *hi) {
    const twi_larray *a = &w->m->base.loop->array.at[array];
    *lo = *hi = 0;
    for (unsigned d = 0; d < a->rank; d++) {
        const int64_t n = w->args->shape[array * TWI_MAX_RANK + d];
        const int64_t far = (n - 1) * w->args->stride[array * TWI_MAX_RANK + d];
        if (n <= 0)
            return false;
        *(far < 0 ? lo : hi) += far;
    }
    return w->args->array[array] != NULL;
}

static tw_status make_buffer(walk *w, uint32_t array) {
    const twi_larray *a = &w->m->base.loop->array.at[array];
    const int64_t size = (int64_t)tw_elem_size((tw_elem)a->elem);
    span *s = &w->array[array];
    int64_t lo, hi;
    int32_t code = 0;
    if (!extent_of(w, array, &lo, &hi))
        return TW_OK;
    char *at = (char *)w->args->array[array] + lo * size;
    const uint64_t flags =
        (a->role == TWI_IN ? TWI_CL_READ : 1u) | (w->rt->is.unified ? TWI_CL_HOST : 0u);
    s->first = -lo;
    s->bytes = (size_t)((hi - lo + 1) * size);
    s->buffer = w->rt->cl.clCreateBuffer(w->rt->context, flags, s->bytes,
                                         w->rt->is.unified ? at : NULL, &code);
    if (!s->buffer)
        return failed(w, "clCreateBuffer", name_of(w, array), code);
    if (w->rt->is.unified || a->role == TWI_TEMP)
        return TW_OK;
    code =
        w->rt->cl.clEnqueueWriteBuffer(w->rt->queue, s->buffer, 1, 0, s->bytes, at, 0, NULL, NULL);
    return code ? failed(w, "clEnqueueWriteBuffer", name_of(w, array), code) : TW_OK;
}

static tw_status map(const walk *w, uint32_t array, uint64_t how, char **at) {
    int32_t code = 0;
    *at = w->rt->cl.clEnqueueMapBuffer(w->rt->queue, w->array[array].buffer, 1, how, 0,
                                       w->array[array].bytes, 0, NULL, NULL, &code);
    return *at ? TW_OK : failed(w, "clEnqueueMapBuffer", name_of(w, array), code);
}

static tw_status unmap(const walk *w, uint32_t array, char *at) {
    const int32_t code =
        w->rt->cl.clEnqueueUnmapMemObject(w->rt->queue, w->array[array].buffer, at, 0, NULL, NULL);
    return code ? failed(w, "clEnqueueUnmapMemObject", name_of(w, array), code) : TW_OK;
}

/* What kernels wrote comes to lie in the caller's memory. */
static tw_status bring_back(const walk *w, uint32_t array) {
    const twi_larray *a = &w->m->base.loop->array.at[array];
    const span *s = &w->array[array];
    char *at;
    const bool temp = a->role == TWI_TEMP && array != w->m->base.loop->status;
    if (!s->buffer || a->role == TWI_IN || temp)
        return TW_OK;
    if (w->rt->is.unified) {
        const tw_status status = map(w, array, TWI_CL_MAP_READ, &at);
        return status == TW_OK ? unmap(w, array, at) : status;
    }
    at = (char *)w->args->array[array] - s->first * (int64_t)tw_elem_size((tw_elem)a->elem);
    const int32_t code =
        w->rt->cl.clEnqueueReadBuffer(w->rt->queue, s->buffer, 1, 0, s->bytes, at, 0, NULL, NULL);
    return code ? failed(w, "clEnqueueReadBuffer", name_of(w, array), code) : TW_OK;
}

/* ---- steps ---- */

static void fill_at(const walk *w, uint32_t array, char *at, unsigned dim) {
    const twi_larray *a = &w->m->base.loop->array.at[array];
    const size_t size = tw_elem_size((tw_elem)a->elem);
    if (dim == a->rank) {
        memcpy(at, &a->fill, size); /* little endian */
        return;
    }
    const int64_t n = w->args->shape[array * TWI_MAX_RANK + dim];
    const int64_t stride = w->args->stride[array * TWI_MAX_RANK + dim];
    for (int64_t i = 0; i < n; i++)
        fill_at(w, array, at + i * stride * (int64_t)size, dim + 1);
}

static tw_status fill(void *state, const twi_step_do *step) {
    const walk *w = state;
    const uint32_t array = step->array;
    const span *s = &w->array[array];
    const size_t size = tw_elem_size((tw_elem)w->m->base.loop->array.at[array].elem);
    char *at;
    if (!s->buffer)
        return TW_OK;
    const tw_status status = map(w, array, TWI_CL_MAP_READ | TWI_CL_MAP_WRITE, &at);
    if (status != TW_OK)
        return status;
    fill_at(w, array, at + s->first * (int64_t)size, 0);
    return unmap(w, array, at);
}

static int32_t pass(const walk *w, void *kernel, uint32_t k, const twi_pass *p) {
    const twi_loop *loop = w->m->base.loop;
    const void *at = &w->array[p->id].buffer; /* NULL is an argument too */
    size_t size = sizeof(void *);
    switch (p->kind) {
    case TWI_PASS_ARRAY:
        break;
    case TWI_PASS_OFFSET:
        at = &w->array[p->id].first;
        size = sizeof(int64_t);
        break;
    case TWI_PASS_SCALAR:
        at = &w->args->scalar[p->id];
        size = tw_elem_size((tw_elem)loop->scalar.at[p->id].elem);
        break;
    case TWI_PASS_STRIDE:
        at = &w->args->stride[p->id * TWI_MAX_RANK + p->dim];
        size = sizeof(int64_t);
        break;
    case TWI_PASS_TRIP:
        at = &w->trip[p->id];
        size = sizeof(int64_t);
        break;
    default:
        return 0; /* FIRST is set launch by launch */
    }
    return w->rt->cl.clSetKernelArg(kernel, k, size, at);
}

static tw_status launch(void *state, const twi_step_do *step, const int64_t *trip) {
    walk *w = state;
    const twi_func *f = &w->m->base.loop->func.at[step->func];
    twi_cl_func *own = &w->m->func[step->func];
    const size_t workers = (size_t)f->lanes * f->subs;
    int32_t code = 0;
    w->trip = trip;
    if (!own->kernel)
        own->kernel = w->rt->cl.clCreateKernel(w->m->program, own->name, &code);
    if (!own->kernel)
        return failed(w, "clCreateKernel", own->name, code);
    for (uint32_t k = 0; k < own->passes && code == 0; k++)
        code = pass(w, own->kernel, k, &own->pass[k]);
    /* A driver counts workers in 32 bits. */
    const int64_t most = INT32_MAX / (int64_t)workers;
    for (int64_t first = 0; first < step->grid && code == 0; first += most) {
        const int64_t groups = step->grid - first < most ? step->grid - first : most;
        const size_t all = (size_t)groups * workers;
        code = w->rt->cl.clSetKernelArg(own->kernel, own->passes - 1, sizeof first, &first);
        if (code == 0)
            code = w->rt->cl.clEnqueueNDRangeKernel(w->rt->queue, own->kernel, 1, NULL, &all,
                                                    &workers, 0, NULL, NULL);
    }
    return code ? failed(w, "launch", own->name, code) : TW_OK;
}

static tw_status run_entry(walk *w) {
    const twi_recipe_hooks hooks = {.state = w, .launch = launch, .fill = fill};
    const uint32_t n = w->m->base.loop->array.n;
    tw_status status = TW_OK;
    for (uint32_t k = 1; k < n && status == TW_OK; k++)
        status = make_buffer(w, k);
    if (status == TW_OK)
        status = twi_recipe_walk(w->entry, &hooks, w->error);
    for (uint32_t k = 1; k < n && status == TW_OK; k++)
        status = bring_back(w, k);
    const int32_t code = w->rt->cl.clFinish(w->rt->queue);
    if (status == TW_OK && code != 0)
        status = failed(w, "clFinish", "the launches", code);
    for (uint32_t k = 1; k < n; k++)
        if (w->array[k].buffer)
            (void)w->rt->cl.clReleaseMemObject(w->array[k].buffer);
    return status;
}

static tw_status run_here(walk *w) {
    twi_opencl *t = (twi_opencl *)w->m->base.target;
    char log[TWI_CL_LOG];
    if (!twi_cl_here(t, w->error))
        return TW_ERR_ENV;
    if (!w->m->program)
        w->m->program = twi_cl_compile(&t->rt, w->m->source, w->m->n, log);
    if (!w->m->program) {
        (void)snprintf(w->error, TWI_ERROR_TEXT, "%.*s", TWI_ERROR_TEXT - 1, log);
        return TW_ERR_ENV;
    }
    return run_entry(w);
}

tw_status twi_cl_run(twi_module *base, uint32_t entry, const twi_launch *args,
                     char error[TWI_ERROR_TEXT]) {
    twi_opencl *t = (twi_opencl *)base->target;
    walk w = {.m = (twi_cl_module *)base,
              .rt = &t->rt,
              .args = args,
              .entry = &base->loop->entry.at[entry],
              .error = error};
    twi_mem mem;
    twi_arena arena;
    jmp_buf spot, *saved;
    twi_mem_init(&mem);
    twi_arena_init(&arena, &mem);
    if (TWI_GUARD(&mem, spot, saved)) {
        (void)snprintf(error, TWI_ERROR_TEXT, "no memory for the arguments");
        twi_arena_fini(&arena);
        return TW_ERR_MEMORY;
    }
    w.array = TWI_NEW_N(&arena, span, base->loop->array.n + 1);
    TWI_UNGUARD(&mem, saved);
    (void)pthread_mutex_lock(&t->lock);
    const tw_status status = run_here(&w);
    (void)pthread_mutex_unlock(&t->lock);
    twi_arena_fini(&arena);
    return status;
}
