/* SPDX-License-Identifier: Apache-2.0
 * A monotonic clock in nanoseconds, and the median of what it measured.
 */
#ifndef TWI_BASE_CLOCK_H
#define TWI_BASE_CLOCK_H

#include <stdint.h>

int64_t twi_now_ns(void);                      /* -1 if the system has none */
double twi_median(const double *value, int n); /* n: 1 .. 9; the upper one of two */

#endif
