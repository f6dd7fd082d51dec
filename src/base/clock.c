/* SPDX-License-Identifier: Apache-2.0
 * The monotonic clock, medians.
 */
#include "base/clock.h"

#include <time.h>

int64_t twi_now_ns(void) {
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        return -1;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double twi_median(const double *value, int n) {
    double sorted[9];
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at > 0 && sorted[at - 1] > value[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = value[i];
    }
    return sorted[n / 2];
}
