/* SPDX-License-Identifier: Apache-2.0
 * A double of NVIDIA's driver for tests: memory of the host, nothing that runs kernels. What a
 * launch does is up to the test; what was asked for is counted.
 */
#ifndef TW_DOUBLE_LIBCUDA_H
#define TW_DOUBLE_LIBCUDA_H

#include <stddef.h>

typedef struct {
    int devices, major, minor;
    /* Results that functions give; 0: success. wait: once, when something was launched. */
    int init_result, load_result, launch_result, wait_result;
    float replay_ms; /* what a replay of a graph takes */
    void (*kernel)(const char *name, unsigned groups, unsigned workers, unsigned shared,
                   void **parameter);
    /* counted */
    unsigned launches, replays, captured, modules;
    int pushed, allocated, streams, graphs, events;
    long long last_group; /* `first`, the last parameter, plus groups, of the last launch */
} tw_double_cuda;         /* exported as tw_double */

#endif
