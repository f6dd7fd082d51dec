/* SPDX-License-Identifier: Apache-2.0
 * What device there is. The driver cannot be used in a process whose parent has opened it, so the
 * question is put by a child that ends with the answer; unless this process has opened the driver
 * (the host's other libraries, or an earlier launch), when only it can ask.
 */
#include "target/codes.h"
#include "target/cuda/cuda.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static bool good(const twi_cu_api *cu, int result, const char *what, twi_cuda_device *d) {
    const char *name = NULL, *text = NULL;
    if (result == 0)
        return true;
    (void)cu->error_name(result, &name);
    (void)cu->error_text(result, &text);
    (void)snprintf(d->why, sizeof d->why, "%s: %s (%s)", what, name ? name : "unknown error",
                   text ? text : "no text");
    return false;
}

static void look(const char *path, unsigned ordinal, twi_cuda_device *d) {
    twi_cu_api cu;
    int device = 0;
    if (!twi_cu_load(&cu, path, d->why))
        return;
    if (!good(&cu, cu.init(0), "cuInit", d) ||
        !good(&cu, cu.driver_version(&d->driver), "cuDriverGetVersion", d) ||
        !good(&cu, cu.device_count(&d->count), "cuDeviceGetCount", d))
        return;
    if (ordinal >= (unsigned)d->count) {
        (void)snprintf(d->why, sizeof d->why, "there is no device %u: the driver sees %d", ordinal,
                       d->count);
        return;
    }
    const struct {
        int attribute, *to;
    } wanted[] = {{TWI_CU_WORKERS, &d->workers}, {TWI_CU_SHARED, &d->shared},
                  {TWI_CU_LANES, &d->lanes},     {TWI_CU_UNITS, &d->units},
                  {TWI_CU_MAJOR, &d->major},     {TWI_CU_MINOR, &d->minor}};
    d->ok =
        good(&cu, cu.device_get(&device, (int)ordinal), "cuDeviceGet", d) &&
        good(&cu, cu.device_name(d->name, (int)sizeof d->name - 1, device), "cuDeviceGetName", d);
    for (size_t k = 0; d->ok && k < sizeof wanted / sizeof *wanted; k++)
        d->ok = good(&cu, cu.device_attribute(wanted[k].to, wanted[k].attribute, device),
                     "cuDeviceGetAttribute", d);
}

static bool take(int fd, void *to, size_t n) {
    char *at = to;
    while (n) {
        const ssize_t got = read(fd, at, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

static void give(int fd, const void *from, size_t n) {
    const char *at = from;
    while (n) {
        const ssize_t put = write(fd, at, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return;
        at += put;
        n -= (size_t)put;
    }
}

/* Has somebody called cuInit here? */
static bool is_open(const char *path) {
    twi_cu_api cu;
    twi_cu_context current;
    return twi_cu_is_loaded(path) && twi_cu_load(&cu, path, (char[TWI_API_WHY]){0}) &&
           cu.context_current(&current) == 0;
}

void twi_cuda_ask(tw_context *ctx, unsigned ordinal, twi_cuda_device *d) {
    int end[2], status = 0;
    memset(d, 0, sizeof *d);
    if (is_open(ctx->env.cuda)) {
        look(ctx->env.cuda, ordinal, d);
        return;
    }
    if (pipe(end) != 0) {
        (void)snprintf(d->why, sizeof d->why, "no pipe: %s", strerror(errno));
        return;
    }
    const pid_t child = fork();
    if (child == 0) {
        (void)close(end[0]);
        look(ctx->env.cuda, ordinal, d);
        give(end[1], d, sizeof *d);
        _exit(0);
    }
    (void)close(end[1]);
    if (child < 0) {
        (void)snprintf(d->why, sizeof d->why, "no child process: %s", strerror(errno));
    } else if (!take(end[0], d, sizeof *d)) {
        memset(d, 0, sizeof *d);
        (void)snprintf(d->why, sizeof d->why, "the driver ended the process that asked it");
    }
    (void)close(end[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
}

/* The recorded target that a device is nearest to, then what it says of itself. */
static bool caps_of(tw_context *ctx, const twi_cuda_device *d, twi_caps *caps) {
    static const struct {
        int from; /* compute capability * 10 */
        const char *record;
    } nearest[] = {{100, "sm_100"}, {90, "sm_90a"}, {0, "sm_80"}};
    const int capability = d->major * 10 + d->minor;
    unsigned k = 0;
    while (capability < nearest[k].from)
        k++;
    if (!twi_caps_named(ctx, nearest[k].record, caps))
        return false;
    if (capability != nearest[k].from && capability != 80)
        caps->name = twi_intern_str(&ctx->names, twi_format(&ctx->arena, "sm_%d", capability));
    caps->workers = (uint32_t)d->workers;
    caps->lane = (uint32_t)d->lanes;
    caps->sub = caps->workers / caps->lane;
    caps->shared = (uint32_t)d->shared;
    caps->units = (uint32_t)d->units;
    return true;
}

static bool missing(tw_context *ctx, const twi_cuda_device *d) {
    twi_error(&ctx->diags, TWI_E_NO_DEVICE, (twi_loc){0, 0},
              "TILEWRIGHT_CUDA names the driver's library (libcuda.so.1)",
              "no CUDA device can be used: %s", d->why);
    return false;
}

bool twi_cuda_caps(tw_context *ctx, unsigned device, twi_caps *caps) {
    twi_cuda_device d;
    twi_cuda_ask(ctx, device, &d);
    return d.ok ? caps_of(ctx, &d, caps) : missing(ctx, &d);
}

const char *twi_cuda_describe(tw_context *ctx, unsigned device, twi_caps *caps) {
    twi_cuda_device d;
    twi_cuda_ask(ctx, device, &d);
    if (!d.ok)
        return twi_format(&ctx->arena, "not usable here: %s", d.why);
    if (!caps_of(ctx, &d, caps))
        return "not usable here: no record is near its architecture";
    return twi_format(&ctx->arena, "%s, compute capability %d.%d, driver for CUDA %d.%d, %d in all",
                      d.name, d.major, d.minor, d.driver / 1000, d.driver % 1000 / 10, d.count);
}
