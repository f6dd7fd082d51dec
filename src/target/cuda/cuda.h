/* SPDX-License-Identifier: Apache-2.0
 * The CUDA target's insides, shared by its files. Building needs NVRTC and no device; the driver is
 * opened when something is first launched. So a process may build, fork, and launch in its children
 * (a driver that was opened before a fork cannot be used after it).
 */
#ifndef TWI_TARGET_CUDA_CUDA_H
#define TWI_TARGET_CUDA_CUDA_H

#include "emit/emit.h"
#include "target/buffers.h"
#include "target/cuda/api.h"
#include "target/cuda/cubin.h"
#include "target/target.h"

typedef struct {
    twi_target base;
    unsigned ordinal;
    bool have_nvrtc;
    twi_nvrtc_api nvrtc;
    pthread_mutex_t lock; /* of what follows, and of loading modules */
    bool open;
    twi_cu_api cu;
    int device;
    twi_cu_context context; /* the device's primary one, which a host's other libraries share */
} twi_cuda;

/* What one call of the compiler gave, for all modules made from it. */
typedef struct {
    char *at;
    size_t n;
    bool ptx;
    unsigned users;
    twi_cu_module module; /* NULL: not loaded yet */
} twi_cuda_image;

typedef struct {
    char *name; /* in the image */
    twi_cu_function handle;
    unsigned workers, shared; /* of a group; bytes that the launch gives */
    twi_pass *pass;           /* parameters */
    unsigned passes;
    twi_cubin_figures figures; /* zero: PTX */
} twi_cuda_func;

typedef struct {
    twi_module base;
    twi_cuda_image *image;
    twi_buffers tables; /* of a call: run.c */
    uint32_t arrays;
    uint32_t n;
    twi_cuda_func func[];
} twi_cuda_module;

/* probe.c */
typedef struct {
    int count, major, minor, workers, shared, lanes, units, driver;
    char name[96];
    bool ok;
    char why[TWI_API_WHY];
} twi_cuda_device;
/* Asks in a child process. */
void twi_cuda_ask(tw_context *ctx, unsigned ordinal, twi_cuda_device *d);

/* nvrtc.c: source to cubin for the target's architecture, or PTX where the compiler does not know
 * it. NULL: diagnostics. */
bool twi_cuda_find_nvrtc(twi_cuda *c);
twi_cuda_image *twi_cuda_compile(twi_cuda *c, const char *source);
void twi_cuda_drop_image(twi_cuda *c, twi_cuda_image *image); /* one user less */

/* build.c */
tw_status twi_cuda_build(twi_target *t, const twi_loop *const *loop, unsigned n, twi_module **out);
void twi_cuda_source(twi_target *t, const twi_loop *loop, twi_sb *out);
void twi_cuda_release(twi_module *base);

/* launch.c: error: one line. On success the device's context is current until twi_cuda_leave. */
tw_status twi_cuda_enter(twi_cuda_module *m, char error[TWI_ERROR_TEXT]);
void twi_cuda_leave(twi_cuda_module *m);
/* what: the driver's function or the kernel's name. TW_OK for result 0. */
tw_status twi_cuda_result(const twi_cuda *c, int result, const char *what,
                          char error[TWI_ERROR_TEXT]);
/* The recipe of an entry on device pointers, queued on a stream. */
tw_status twi_cuda_queue(twi_cuda_module *m, uint32_t entry, const twi_launch *args,
                         twi_cu_stream stream, char error[TWI_ERROR_TEXT]);

/* run.c: what a call notes of its arrays. */
size_t twi_cuda_table_bytes(const twi_loop *loop);
/* run.c: arrays of the host, copied in and out. */
tw_status twi_cuda_run(twi_module *m, uint32_t entry, const twi_launch *args,
                       char error[TWI_ERROR_TEXT]);
tw_status twi_cuda_time(twi_module *m, uint32_t entry, const twi_launch *args, bool quick,
                        tw_timing *timing, char error[TWI_ERROR_TEXT]);

#endif
