/* SPDX-License-Identifier: Apache-2.0
 * The OpenCL target's insides, shared by its files.
 *
 * A driver does not survive fork. So a process opens OpenCL only to launch; what is asked before
 * (which devices, does this source build) is asked in a child, unless OpenCL is open here anyway. A
 * process that was forked from one with OpenCL open gets an error instead of a hang.
 */
#ifndef TWI_TARGET_OPENCL_OPENCL_H
#define TWI_TARGET_OPENCL_OPENCL_H

#include "emit/emit.h"
#include "target/target.h"

#include <pthread.h>
#include <sys/types.h>

typedef struct {
#define TWI_CL(name, arguments) int32_t(*name) arguments;
#define TWI_CL_MAKE(name, arguments) void *(*name)arguments;
#include "target/opencl/opencl.def"
#undef TWI_CL
#undef TWI_CL_MAKE
} twi_cl;

/* Numbers of OpenCL 1.2's headers. */
enum {
    TWI_CL_TYPE_CPU = 1 << 1,
    TWI_CL_READ = 1 << 2,
    TWI_CL_HOST = 1 << 3, /* the caller's memory is the buffer */
    TWI_CL_FMA = 1 << 5,
    TWI_CL_DENORM = 1 << 0,
    TWI_CL_RIGHT_DIVIDE = 1 << 7,
    TWI_CL_MAP_READ = 1,
    TWI_CL_MAP_WRITE = 2
};

/* A device, in a form that a child can send. */
typedef struct {
    char name[128], version[128]; /* of the driver */
    char speaks[128];             /* of the device: "OpenCL 3.0 PoCL .." */
    uint64_t type, single, doubles, shared, workers;
    uint32_t units, unified;
    uint32_t
        lanes; /* of a subgroup, where that can be fixed and lanes can exchange values; else 1 */
} twi_cl_device;

typedef struct {
    void *library, *device, *context, *queue;
    pid_t pid; /* that opened it; 0: nobody yet */
    twi_cl cl;
    twi_cl_device is;
} twi_cl_runtime;

typedef struct {
    twi_target base;
    const char *path; /* of the loader */
    unsigned index;
    pthread_mutex_t lock; /* of the runtime, and of everything that modules do with it */
    twi_cl_runtime rt;
} twi_opencl;

typedef struct {
    const char *name; /* in the source */
    void *kernel;
    twi_pass *pass;
    unsigned passes;
} twi_cl_func;

typedef struct {
    twi_module base;
    twi_arena arena; /* of the module itself and all below */
    const char *source;
    size_t n;
    void *program; /* NULL: not built in this process yet */
    uint32_t funcs;
    twi_cl_func *func;
} twi_cl_module;

/* load.c */
const char *twi_cl_words(int32_t error);
/* The lanes that subgroups are to have on a device with these extensions and sizes of subgroups:
 * the most up to 16; 1: no lane operations. */
uint32_t twi_cl_lanes(const char *extensions, const size_t *size, size_t n);
bool twi_cl_start(twi_cl_runtime *rt, const char *path, unsigned index, char error[TWI_ERROR_TEXT]);
void twi_cl_stop(twi_cl_runtime *rt);
bool twi_cl_loaded(const char *path); /* by anyone in this process */
/* The runtime of a target in this process; the lock is held. */
bool twi_cl_here(twi_opencl *t, char error[TWI_ERROR_TEXT]);

/* child.c: fn runs in a child that may open OpenCL; what it sends is in answer (at most size bytes,
 * *n got). False: the child could not be made, died or took longer than limit_ms. */
bool twi_cl_apart(void (*fn)(void *user, int fd), void *user, int limit_ms, void *answer,
                  size_t size, size_t *n);
void twi_cl_send(int fd, const void *at, size_t n);

/* build.c */
enum { TWI_CL_LOG = 4000, TWI_CL_BUILD_MS = 120000 };
/* A program made and built; NULL: log says why. */
void *twi_cl_compile(const twi_cl_runtime *rt, const char *source, size_t n, char log[TWI_CL_LOG]);
tw_status twi_cl_build(twi_target *base, const twi_loop *const *loop, unsigned n,
                       const struct twi_printed *printed, twi_module **out);
void twi_cl_release(twi_module *base);
void twi_cl_source(twi_target *t, const twi_loop *loop, twi_sb *out);

/* launch.c */
tw_status twi_cl_run(twi_module *base, uint32_t entry, const twi_launch *args,
                     char error[TWI_ERROR_TEXT]);

#endif
