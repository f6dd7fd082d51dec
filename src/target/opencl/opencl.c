/* SPDX-License-Identifier: Apache-2.0
 * The OpenCL target: what a device can do; opening and closing. Read next: opencl.h (fork), load.c,
 * build.c, launch.c.
 */
#include "target/opencl/opencl.h"

#include "target/bitprobe.h"
#include "target/codes.h"

#include <stdio.h>

enum { PROBE_MS = 30000, MOST_WORKERS = 256 };

static const char *loader(const tw_context *ctx) {
    return ctx->env.opencl ? ctx->env.opencl : "libOpenCL.so.1";
}

typedef struct {
    const char *path;
    unsigned index;
    char error[TWI_ERROR_TEXT];
} question;

/* "y" and the device, or "n" and why not. */
static void ask(void *user, int fd) {
    question *q = user;
    twi_cl_runtime rt;
    if (twi_cl_start(&rt, q->path, q->index, q->error)) {
        twi_cl_send(fd, "y", 1);
        twi_cl_send(fd, &rt.is, sizeof rt.is);
        return;
    }
    twi_cl_send(fd, "n", 1);
    twi_cl_send(fd, q->error, strlen(q->error));
}

static bool no_device(tw_context *ctx, const char *why) {
    twi_error(&ctx->diags, TWI_E_CL_NONE, (twi_loc){0, 0},
              "an OpenCL loader and a driver are needed (Debian: ocl-icd-libopencl1 and "
              "pocl-opencl-icd for CPUs); TILEWRIGHT_OPENCL names another loader",
              "%s", why);
    return false;
}

static bool find_device(tw_context *ctx, unsigned index, twi_cl_device *is) {
    question q = {.path = loader(ctx), .index = index};
    char answer[sizeof *is + TWI_ERROR_TEXT];
    size_t n;
    if (twi_cl_loaded(q.path)) {
        twi_cl_runtime rt;
        if (!twi_cl_start(&rt, q.path, index, q.error))
            return no_device(ctx, q.error);
        *is = rt.is;
        twi_cl_stop(&rt);
        return true;
    }
    if (!twi_cl_apart(ask, &q, PROBE_MS, answer, sizeof answer - 1, &n))
        return no_device(ctx, "OpenCL died or hung while it was asked for its devices");
    answer[n] = 0;
    if (answer[0] != 'y' || n < 1 + sizeof *is)
        return no_device(ctx, answer + 1);
    memcpy(is, answer + 1, sizeof *is);
    return true;
}

/* PoCL copies the code of up to two workers instead of looping over them, and its compiler aborts
 * (ParallelRegion.cc) on many loops with barriers in such groups. */
static uint32_t barrier_workers(const twi_cl_device *is) {
    return strstr(is->speaks, "PoCL") || strstr(is->speaks, "pocl") ? 3 : 0;
}

/* A CPU's driver has the private arrays of all workers of a group on the stack of the thread that
 * runs it, which is as large as threads are by default (PoCL leaves the size alone). Half of it:
 * besides the arrays lie there the copies that the driver's compiler keeps of what a worker holds
 * across barriers. */
static uint32_t stack_bytes(void) {
    pthread_attr_t attr;
    size_t size = 0;
    if (pthread_attr_init(&attr) != 0)
        return 1;
    (void)pthread_attr_getstacksize(&attr, &size);
    (void)pthread_attr_destroy(&attr);
    size /= 2;
    return size == 0 ? 1 : size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

/* Costs: those of a GPU in general, or of a CPU that plays one. */
bool twi_opencl_caps(tw_context *ctx, unsigned index, twi_caps *caps) {
    twi_cl_device is;
    if (!find_device(ctx, index, &is) || !twi_caps_named(ctx, "simt32", caps))
        return false;
    const bool cpu = is.type & TWI_CL_TYPE_CPU;
    const uint64_t workers = is.workers < MOST_WORKERS ? is.workers : MOST_WORKERS;
    caps->name = twi_intern_str(&ctx->names, "opencl");
    const uint32_t lanes = is.lanes;
    caps->lane = lanes > 1 && workers >= lanes ? lanes : 1;
    caps->lane_ops = caps->lane > 1;
    if (caps->lane == 1) /* what others have in lanes: a canonical chunk of several lies in slots */
        caps->slots = 256;
    caps->workers = workers ? (uint32_t)workers : 1;
    caps->sub = caps->workers / caps->lane;
    caps->barrier_workers = barrier_workers(&is);
    caps->shared = is.shared < UINT32_MAX ? (uint32_t)is.shared : UINT32_MAX;
    caps->units = is.units ? is.units : 1;
    caps->f16 = caps->bf16 = false;
    caps->async_bytes = 0; /* not spoken */
    caps->fma = is.single & TWI_CL_FMA;
    caps->probe = 0;
    if (!(is.single & TWI_CL_RIGHT_DIVIDE))
        caps->probe |= TWI_PROBE_DIVIDE | TWI_PROBE_FUNCTION;
    if (!(is.single & TWI_CL_DENORM))
        caps->probe |= TWI_PROBE_ARITH | TWI_PROBE_FUNCTION;
    caps->indexable =
        true;  /* a private array may be, wherever it lies; what that costs, is priced */
    if (cpu) { /* a unit is a core: one group at a time, worker after worker */
        caps->unit_workers = caps->workers;
        caps->unit_groups = 1;
        caps->group_private_bytes = stack_bytes();
        caps->unit_registers = caps->unit_shared = 0;
        caps->byte_ns = 0.1;
        caps->cache_byte_ns = caps->near_byte_ns = 0.02;
        caps->latency_ns = 5;
        caps->launch_ns = 20000;
    }
    return true;
}

static void close_opencl(twi_target *base) {
    twi_opencl *t = (twi_opencl *)base;
    twi_cl_stop(&t->rt);
    (void)pthread_mutex_destroy(&t->lock);
    twi_mem_put(&base->ctx->mem, t, sizeof *t);
}

static const twi_target_ops ops = {
    .name = "opencl",
    .late_ms = TWI_CL_BUILD_MS,
    .build = twi_cl_build,
    .source = twi_cl_source,
    .run = twi_cl_run,
    .release = twi_cl_release,
    .close = close_opencl,
};

twi_target *twi_opencl_open(tw_context *ctx, const twi_caps *caps, unsigned index) {
    twi_opencl *t = twi_mem_get(&ctx->mem, sizeof *t);
    memset(t, 0, sizeof *t);
    t->base = (twi_target){.ops = &ops, .ctx = ctx, .caps = *caps, .version = ""};
    t->path = loader(ctx);
    t->index = index;
    (void)pthread_mutex_init(&t->lock, NULL);
    return &t->base;
}
