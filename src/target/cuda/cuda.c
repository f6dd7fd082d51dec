/* SPDX-License-Identifier: Apache-2.0
 * The CUDA target: opening, the driver when it is first needed, closing. The device's primary
 * context is used and whatever was current before a call is current after it. Read next: nvrtc.c,
 * build.c, launch.c, run.c.
 */
#include "target/cuda/cuda.h"

#include <stdio.h>

enum { PLAIN_SHARED = 49152 };

static void close_cuda(twi_target *t) {
    twi_cuda *c = (twi_cuda *)t;
    if (c->open)
        (void)c->cu.context_release(c->device);
    (void)pthread_mutex_destroy(&c->lock);
    twi_mem_put(&t->ctx->mem, c, sizeof *c);
}

static const twi_target_ops ops = {
    .name = "cuda",
    .one_process = true,
    .build = twi_cuda_build,
    .source = twi_cuda_source,
    .run = twi_cuda_run,
    .time = twi_cuda_time,
    .release = twi_cuda_release,
    .close = close_cuda,
};

twi_target *twi_cuda_open(tw_context *ctx, const twi_cuda_options *o) {
    twi_caps caps;
    if (o->caps)
        caps = *o->caps;
    else if (!twi_cuda_caps(ctx, o->device, &caps))
        return NULL;
    twi_cuda *c = twi_mem_get(&ctx->mem, sizeof *c);
    memset(c, 0, sizeof *c);
    c->base = (twi_target){.ops = &ops, .ctx = ctx, .caps = caps, .version = ""};
    c->ordinal = o->device;
    (void)pthread_mutex_init(&c->lock, NULL);
    return &c->base;
}

tw_status twi_cuda_result(const twi_cuda *c, int result, const char *what,
                          char error[TWI_ERROR_TEXT]) {
    const char *name = NULL, *text = NULL;
    if (result == 0)
        return TW_OK;
    (void)c->cu.error_name(result, &name);
    (void)c->cu.error_text(result, &text);
    (void)snprintf(error, TWI_ERROR_TEXT, "%.100s: %.60s (%.60s)", what,
                   name ? name : "unknown error", text ? text : "no text");
    return TW_ERR_ENV;
}

static tw_status open_driver(twi_cuda *c, char error[TWI_ERROR_TEXT]) {
    char why[TWI_API_WHY];
    int count = 0;
    if (!twi_cu_load(&c->cu, c->base.ctx->env.cuda, why)) {
        (void)snprintf(error, TWI_ERROR_TEXT, "no CUDA driver: %.200s", why);
        return TW_ERR_ENV;
    }
    tw_status status = twi_cuda_result(c, c->cu.init(0), "cuInit", error);
    if (status == TW_OK)
        status = twi_cuda_result(c, c->cu.device_count(&count), "cuDeviceGetCount", error);
    if (status == TW_OK && c->ordinal >= (unsigned)count) {
        (void)snprintf(error, TWI_ERROR_TEXT, "there is no CUDA device %u: the driver sees %d",
                       c->ordinal, count);
        return TW_ERR_ENV;
    }
    if (status == TW_OK)
        status =
            twi_cuda_result(c, c->cu.device_get(&c->device, (int)c->ordinal), "cuDeviceGet", error);
    if (status == TW_OK)
        status = twi_cuda_result(c, c->cu.context_retain(&c->context, c->device),
                                 "cuDevicePrimaryCtxRetain", error);
    c->open = status == TW_OK;
    return status;
}

/* More shared memory than any device gives unasked must be asked for. */
static tw_status find_function(twi_cuda *c, twi_cu_module module, twi_cuda_func *f,
                               char error[TWI_ERROR_TEXT]) {
    twi_cu_function handle;
    tw_status status =
        twi_cuda_result(c, c->cu.function_get(&handle, module, f->name), f->name, error);
    if (status == TW_OK && f->shared > PLAIN_SHARED)
        status = twi_cuda_result(
            c, c->cu.function_attribute(handle, TWI_CU_DYNAMIC_SHARED, (int)f->shared), f->name,
            error);
    if (status == TW_OK)
        f->handle = handle;
    return status;
}

/* The image and its functions, in the current context. */
static tw_status load_module(twi_cuda *c, twi_cuda_module *m, char error[TWI_ERROR_TEXT]) {
    char log[160] = "";
    int option[] = {TWI_CU_JIT_LOG, TWI_CU_JIT_LOG_SIZE};
    void *value[] = {log, (void *)(uintptr_t)sizeof log};
    tw_status status = TW_OK;
    if (!m->image->module) {
        const int result = c->cu.module_load(&m->image->module, m->image->at, 2, option, value);
        status = twi_cuda_result(c, result, "cuModuleLoadDataEx", error);
        const size_t n = strlen(error);
        if (status != TW_OK && log[0])
            (void)snprintf(error + n, TWI_ERROR_TEXT - n, "; it said: %.159s", log);
        if (status != TW_OK)
            m->image->module = NULL;
    }
    for (uint32_t i = 0; status == TW_OK && i < m->n; i++)
        if (!m->func[i].handle)
            status = find_function(c, m->image->module, &m->func[i], error);
    return status;
}

tw_status twi_cuda_enter(twi_cuda_module *m, char error[TWI_ERROR_TEXT]) {
    twi_cuda *c = (twi_cuda *)m->base.target;
    (void)pthread_mutex_lock(&c->lock);
    tw_status status = c->open ? TW_OK : open_driver(c, error);
    if (status == TW_OK)
        status = twi_cuda_result(c, c->cu.context_push(c->context), "cuCtxPushCurrent", error);
    if (status == TW_OK) {
        status = load_module(c, m, error);
        if (status != TW_OK)
            twi_cuda_leave(m);
    }
    (void)pthread_mutex_unlock(&c->lock);
    return status;
}

void twi_cuda_leave(twi_cuda_module *m) {
    twi_cu_context before;
    (void)((twi_cuda *)m->base.target)->cu.context_pop(&before);
}
