/* SPDX-License-Identifier: Apache-2.0
 * Tilewright: running a kernel on the caller's arrays. How one is made: compile.h.
 *
 *     tw_tensor x = {.data = px, .device = {1, 0}, .rank = 2, .dtype = tw_elem_dtype(TW_F32),
 * .shape = shape}; const tw_tensor *tensors[] = {&x, &y}; tw_call call = {.tensor = tensors,
 * .tensors = 2}; if (tw_kernel_run(kernel, &call) != TW_OK) fputs(call.error, stderr);
 *
 * A kernel may be run by several threads at once, each with its own tw_call. Nothing is written
 * when the arguments are refused. The floating-point environment of the calling thread is put back
 * as it was.
 */
#ifndef TILEWRIGHT_RUN_H
#define TILEWRIGHT_RUN_H

#include "tilewright/build.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_kernel tw_kernel; /* destroyed before its context */

/* Arrays in order of declaration, temps left out; scalars likewise. Texts and shapes are the
 * kernel's. */
typedef struct tw_argument {
    const char *name;
    tw_elem elem;
    tw_role role;
    int rank;
    const int64_t *shape;
} tw_argument;
TW_API size_t tw_kernel_arrays(const tw_kernel *k);
TW_API tw_argument tw_kernel_array(const tw_kernel *k, size_t i); /* elem TW_NONE: no such */
TW_API size_t tw_kernel_scalars(const tw_kernel *k);
TW_API tw_argument tw_kernel_scalar(const tw_kernel *k, size_t i); /* rank 0, shape NULL */

typedef union tw_scalar {
    double f;  /* of a float type: rounded to it */
    int64_t i; /* of an integer type: its low bits; of bool: zero or not */
} tw_scalar;

/* What is looked at before a launch. */
typedef enum tw_checks {
    TW_CHECKS_ARGS, /* default: types, shapes, strides, overlaps */
    TW_CHECKS_NONE, /* strides alone: a call that is known to be right, made again */
    TW_CHECKS_FULL  /* also asks the device's driver where every pointer leads, and waits for the
                       end, so that a fault on the device comes back with the kernel's name, and
                       an index outside an array (which is never followed) with its instance */
} tw_checks;

typedef struct tw_call {
    const tw_tensor *const
        *tensor; /* one for each array; element type, rank and shape as the kernel's. Strides of
                    inputs: any; what is written overlaps neither itself nor another argument */
    size_t tensors;
    const tw_scalar *scalar; /* one for each scalar; NULL: all have defaults, and take them */
    size_t scalars;
    void *stream;     /* CUDA: a CUstream that the work is queued on; NULL: the default stream */
    tw_checks checks; /* TW_CHECKS_ARGS */
    int threads;      /* at most, the caller's included; 0: as many as there are cores */
    char error[240];  /* written on failure: one line that names the argument */
    int64_t instance; /* written on TW_ERR_INDEX: the least one that left an array */
} tw_call;
/* CUDA: arrays on the kernel's device (device type 2) are used in place; those of the host are
 * copied there and back. If all are in place the call only queues its work; else it waits, on a
 * stream of its own if none is given. The caller's current context serves if it is one of the
 * device, else the device's primary one, and what was current is current again afterwards. A
 * capturing stream takes what is warm (the kernel has run in that context, on that stream if it
 * needs memory for temps) and has all arrays in place; what is not is refused before the capture is
 * disturbed. */
TW_API tw_status tw_kernel_run(tw_kernel *k, tw_call *call);

/* Repeated runs of one call, median of batches: 200 ms warm-up, then 9 batches of at least 40 ms;
 * quick: 20 ms, 5 batches of 8 ms. CUDA: a graph of 100 operations, one behind the other, 500 ms
 * warm-up, then 7 batches of about 100 ms; quick: 50 ms, 5 batches of 20 ms. `inout` arrays are
 * updated by every run. Threads are not pinned. */
typedef struct tw_device_state {
    bool known; /* CUDA with NVML */
    unsigned sm_mhz, memory_mhz, celsius;
    uint64_t throttle; /* NVML's reasons for lower clocks, as a set */
} tw_device_state;
typedef struct tw_timing {
    double median_ns;   /* of a call */
    double batch_ns[9]; /* of a call, batch by batch: CUDA by the device's events */
    double host_ns[9];  /* of a call, batch by batch: by the host's clock */
    int batches;
    int64_t calls;   /* a batch */
    int64_t cold_ns; /* CUDA: loading the module, memory, copies, the graph, the first replay */
    tw_device_state before, after; /* the timed part */
} tw_timing;
TW_API tw_status tw_kernel_time(tw_kernel *k, tw_call *call, bool quick, tw_timing *timing);
/* The same with n calls in turn, so that one's data need not be in a cache when its turn comes. An
 * error is in the first call's text. */
enum { TW_MOST_SETS = 64 };
TW_API tw_status tw_kernel_time_sets(tw_kernel *k, tw_call *const *call, unsigned n, bool quick,
                                     tw_timing *timing);

TW_API const char *tw_kernel_entry(tw_kernel *k,
                                   tw_call *call); /* that would run: "main"; NULL: refused */
TW_API void tw_kernel_destroy(tw_kernel *k);       /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
