/* SPDX-License-Identifier: Apache-2.0
 * The CUDA target: opening, the driver when it is first needed, closing. Read next: nvrtc.c,
 * build.c, home.c, launch.c, run.c.
 */
#include "target/cuda/cuda.h"

#include <stdio.h>

static void close_cuda(twi_target *t) {
    twi_cuda *c = (twi_cuda *)t;
    if (c->primary)
        (void)c->cu.context_release(c->device);
    (void)pthread_mutex_destroy(&c->lock);
    twi_mem_put(&t->ctx->mem, c, sizeof *c);
}

static bool prepare(twi_target *t) { return twi_cuda_find_nvrtc((twi_cuda *)t); }

static const twi_target_ops ops = {
    .name = "cuda",
    .one_process = true,
    .memory = 2,
    .prepare = prepare,
    .build = twi_cuda_build,
    .source = twi_cuda_source,
    .run = twi_cuda_run,
    .time = twi_cuda_time,
    .figures = twi_cuda_figures,
    .ceilings = twi_cuda_ceilings,
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
    c->base.device = (int32_t)o->device;
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
    return result == TWI_CU_NO_MEMORY ? TW_ERR_MEMORY : TW_ERR_ENV;
}

tw_status twi_cuda_open_driver(twi_cuda *c, char error[TWI_ERROR_TEXT]) {
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
    c->open = status == TW_OK;
    return status;
}
