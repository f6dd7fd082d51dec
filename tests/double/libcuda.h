/* SPDX-License-Identifier: Apache-2.0
 * A double of NVIDIA's driver for tests: memory of the host, nothing that runs kernels. What a
 * launch does is up to the test; what was asked for is counted.
 */
#ifndef TW_DOUBLE_LIBCUDA_H
#define TW_DOUBLE_LIBCUDA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    int devices, major, minor;
    /* Results that functions give; 0: success. wait: once, when something was launched. */
    int init_result, load_result, alloc_result, launch_result, wait_result;
    float replay_ms; /* what a replay of a graph takes */
    void (*kernel)(const char *name, unsigned groups, unsigned workers, unsigned shared,
                   void **parameter);
    void *current; /* context; NULL: none */
    int foreign;   /* device (40 + ordinal) of contexts that are not primary; 0: 40 */
    int capture;   /* what the driver says of every stream; 1: it is captured, 2: it was spoilt */
    struct tw_double_range {
        char *start;
        size_t size;
        int type, managed, device; /* as the driver tells them; device is an ordinal */
    } range[4];
    bool refuse_null; /* work on the default stream is refused */
    /* counted */
    unsigned looks;           /* of NVML at the temperature */
    unsigned inits;           /* until then there are no contexts */
    unsigned illegal;         /* calls that end a capture, while there is one */
    void *stream, *loaded_in; /* of the last launch; of the last module */
    int mode;                 /* of capture, of this thread */
    unsigned launches, replays, captured, modules, fills;
    int pushed, allocated, streams, graphs, events;
    long long last_group; /* `first`, the last parameter, plus groups, of the last launch */
} tw_double_cuda;         /* exported as tw_double */

#endif
