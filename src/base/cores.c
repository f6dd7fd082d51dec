/* SPDX-License-Identifier: Apache-2.0
 * Cores, by affinity.
 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "base/cores.h"

#ifdef __linux__
#include <sched.h>
#endif
#include <unistd.h>

int twi_cores(void) {
#ifdef __linux__
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof mine, &mine) == 0)
        return CPU_COUNT(&mine);
#endif
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    return all > 0 ? (int)all : 1;
}
