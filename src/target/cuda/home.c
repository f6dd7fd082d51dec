/* SPDX-License-Identifier: Apache-2.0
 * Contexts. A call works in the caller's current context if that is one of the target's device,
 * else in the device's primary one; what was current before is current after. In each context that
 * calls come from a module has a home: its functions there, and memory for temps by stream. Making
 * one loads and allocates, which a capture does not allow: a capturing stream finds a home or is
 * refused, before anything is called that would end the capture. Captures of other streams are left
 * alone: while a home is made this thread's mode is relaxed.
 */
#include "target/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>

enum { PLAIN_SHARED = 49152 };

static bool same_place(const twi_cuda_place *a, const twi_cuda_place *b) {
    return a->context == b->context && a->id == b->id;
}

static twi_cuda_place place_of(const twi_cuda *c, twi_cu_context context) {
    twi_cuda_place place = {.context = context};
    if (c->cu.context_id && c->cu.context_id(context, &place.id) != 0)
        place.id = 0;
    return place;
}

tw_status twi_cuda_choose_context(twi_cuda *c, twi_cuda_place *place, bool *pushed,
                                  char error[TWI_ERROR_TEXT]) {
    twi_cu_context current = NULL;
    int device = -1;
    if (c->cu.context_current(&current) == 0 && current && c->cu.context_device(&device) == 0 &&
        device == c->device) {
        *place = place_of(c, current);
        return TW_OK;
    }
    tw_status status = TW_OK;
    if (!c->primary)
        status = twi_cuda_result(c, c->cu.context_retain(&c->primary, c->device),
                                 "cuDevicePrimaryCtxRetain", error);
    if (status == TW_OK)
        status = twi_cuda_result(c, c->cu.context_push(c->primary), "cuCtxPushCurrent", error);
    *pushed = status == TW_OK;
    *place = place_of(c, c->primary);
    return status;
}

static tw_status ask_capture(twi_cuda_visit *v) {
    int capture = 0;
    const tw_status status = twi_cuda_result(v->c, v->c->cu.capturing(v->stream, &capture),
                                             "cuStreamIsCapturing", v->error);
    v->capturing = capture != 0;
    return status;
}

static tw_status refuse_cold(const twi_cuda_visit *v, const char *what) {
    const twi_loop *loop = v->m->base.loop;
    (void)snprintf(v->error, TWI_ERROR_TEXT,
                   "kernel %.60s has no %s yet and the stream is being captured: run it once on "
                   "this stream before",
                   twi_text(&loop->ctx->names, loop->kernel), what);
    return TW_ERR_INPUT;
}

static tw_status no_memory(const twi_cuda_visit *v) {
    (void)snprintf(v->error, TWI_ERROR_TEXT, "no memory for the tables of a module");
    return TW_ERR_MEMORY;
}

static tw_status load_image(const twi_cuda_visit *v, const twi_cuda_place *place,
                            twi_cu_module *module) {
    twi_cuda *c = v->c;
    twi_cuda_image *image = v->m->image;
    char log[160] = "";
    int option[] = {TWI_CU_JIT_LOG, TWI_CU_JIT_LOG_SIZE};
    void *value[] = {log, (void *)(uintptr_t)sizeof log};
    for (const twi_cuda_loaded *l = image->loaded; l; l = l->next)
        if (same_place(&l->place, place)) {
            *module = l->module;
            return TW_OK;
        }
    twi_cuda_loaded *fresh = malloc(sizeof *fresh);
    if (!fresh)
        return no_memory(v);
    *fresh = (twi_cuda_loaded){.next = image->loaded, .place = *place};
    const int result = c->cu.module_load(&fresh->module, image->at, 2, option, value);
    tw_status status = twi_cuda_result(c, result, "cuModuleLoadDataEx", v->error);
    if (status != TW_OK) {
        const size_t n = strlen(v->error);
        if (log[0])
            (void)snprintf(v->error + n, TWI_ERROR_TEXT - n, "; it said: %.159s", log);
        free(fresh);
        return status;
    }
    image->loaded = fresh;
    *module = fresh->module;
    return TW_OK;
}

/* More shared memory than any device gives unasked must be asked for. */
static tw_status find_function(const twi_cuda_visit *v, twi_cu_module module, uint32_t i,
                               twi_cu_function *handle) {
    twi_cuda *c = v->c;
    const twi_cuda_func *f = &v->m->func[i];
    tw_status status =
        twi_cuda_result(c, c->cu.function_get(handle, module, f->name), f->name, v->error);
    if (status == TW_OK && f->shared > PLAIN_SHARED)
        status = twi_cuda_result(
            c, c->cu.function_attribute(*handle, TWI_CU_DYNAMIC_SHARED, (int)f->shared), f->name,
            v->error);
    return status;
}

static tw_status make_home(twi_cuda_visit *v, const twi_cuda_place *place) {
    twi_cu_module module = NULL;
    tw_status status = load_image(v, place, &module);
    if (status != TW_OK)
        return status;
    twi_cuda_home *home = malloc(sizeof *home + v->m->n * sizeof(twi_cu_function));
    if (!home)
        return no_memory(v);
    *home = (twi_cuda_home){.next = v->m->home, .place = *place};
    for (uint32_t i = 0; status == TW_OK && i < v->m->n; i++)
        status = find_function(v, module, i, &home->function[i]);
    if (status == TW_OK)
        v->home = v->m->home = home;
    else
        free(home);
    return status;
}

static tw_status go_home(twi_cuda_visit *v, const twi_cuda_place *place) {
    for (v->home = v->m->home; v->home; v->home = v->home->next)
        if (same_place(&v->home->place, place))
            return TW_OK;
    return v->capturing ? refuse_cold(v, "code in this context") : make_home(v, place);
}

tw_status twi_cuda_enter(twi_cuda_visit *v, twi_cuda_module *m, twi_cu_stream stream, bool own,
                         char error[TWI_ERROR_TEXT]) {
    twi_cuda_place place;
    *v = (twi_cuda_visit){.m = m,
                          .c = (twi_cuda *)m->base.target,
                          .stream = stream,
                          .mode = TWI_CU_CAPTURE_RELAXED,
                          .error = error};
    (void)pthread_mutex_lock(&v->c->lock);
    tw_status status = v->c->open ? TW_OK : twi_cuda_open_driver(v->c, error);
    if (status == TW_OK) {
        status = twi_cuda_choose_context(v->c, &place, &v->pushed, error);
        if (status == TW_OK && !own)
            status = ask_capture(v);
        if (!v->capturing)
            (void)v->c->cu.capture_mode(&v->mode);
        if (status == TW_OK)
            status = go_home(v, &place);
        if (status != TW_OK)
            twi_cuda_leave(v);
    }
    (void)pthread_mutex_unlock(&v->c->lock);
    return status;
}

void twi_cuda_leave(const twi_cuda_visit *v) {
    twi_cu_context before;
    int mode = v->mode;
    if (!v->capturing)
        (void)v->c->cu.capture_mode(&mode);
    if (v->pushed)
        (void)v->c->cu.context_pop(&before);
}

static tw_status make_space(const twi_cuda_visit *v, unsigned long long id, size_t size,
                            twi_cu_address *at) {
    twi_cuda_space *space = malloc(sizeof *space);
    if (!space)
        return no_memory(v);
    *space = (twi_cuda_space){.next = v->home->space, .stream = v->stream, .id = id};
    const tw_status status = twi_cuda_result(v->c, v->c->cu.alloc(&space->at, size),
                                             "memory for temps: cuMemAlloc", v->error);
    if (status != TW_OK) {
        free(space);
        return status;
    }
    v->home->space = space;
    *at = space->at;
    return TW_OK;
}

/* Handles that mean another stream in each thread or context. */
static bool is_special(const void *stream) { return (uintptr_t)stream <= 2; }

/* The newest space of the stream's handle: asking for an id would end the capture. NULL: none, or
 * it may be another stream's. */
static const twi_cuda_space *captured_space(const twi_cuda_visit *v) {
    const twi_cuda_space *found = NULL;
    unsigned n = 0;
    for (const twi_cuda_space *s = v->home->space; s; s = s->next) {
        if (s->stream == v->stream && n++ == 0)
            found = s;
    }
    return n > 1 && is_special(v->stream) ? NULL : found;
}

static const twi_cuda_space *space_of(const twi_cuda_visit *v, unsigned long long id) {
    const twi_cuda_space *s = v->home->space;
    while (s && (s->stream != v->stream || s->id != id))
        s = s->next;
    return s;
}

/* The same for all calls on one stream, which follow each other. */
tw_status twi_cuda_temps(twi_cuda_visit *v, size_t size, twi_cu_address *at) {
    const twi_cuda *c = v->c;
    unsigned long long id = 0;
    if (!v->capturing && c->cu.stream_id && c->cu.stream_id(v->stream, &id) != 0)
        id = 0;
    (void)pthread_mutex_lock(&v->c->lock);
    tw_status status = TW_OK;
    const twi_cuda_space *space = v->capturing ? captured_space(v) : space_of(v, id);
    if (space)
        *at = space->at;
    else if (v->capturing)
        status = refuse_cold(v, "memory for temps");
    else
        status = make_space(v, id, size, at);
    (void)pthread_mutex_unlock(&v->c->lock);
    return status;
}

/* Makes a context current again to let go of what is in it; false: it has gone already. */
static bool return_to(const twi_cuda *c, const twi_cuda_place *place) {
    const twi_cuda_place now = place_of(c, place->context);
    return same_place(&now, place) && c->cu.context_push(place->context) == 0;
}

void twi_cuda_drop_homes(twi_cuda_module *m) {
    const twi_cuda *c = (const twi_cuda *)m->base.target;
    twi_cu_context before;
    while (m->home) {
        twi_cuda_home *home = m->home;
        const bool there = home->space && return_to(c, &home->place);
        while (home->space) {
            twi_cuda_space *space = home->space;
            home->space = space->next;
            if (there)
                (void)c->cu.free(space->at);
            free(space);
        }
        if (there)
            (void)c->cu.context_pop(&before);
        m->home = home->next;
        free(home);
    }
}

void twi_cuda_unload(twi_cuda *c, twi_cuda_image *image) {
    twi_cu_context before;
    while (image->loaded) {
        twi_cuda_loaded *loaded = image->loaded;
        if (return_to(c, &loaded->place)) {
            (void)c->cu.module_unload(loaded->module);
            (void)c->cu.context_pop(&before);
        }
        image->loaded = loaded->next;
        free(loaded);
    }
}
