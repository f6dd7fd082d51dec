/* SPDX-License-Identifier: Apache-2.0
 * Intervals of integer values. An interval that arithmetic would wrap out of becomes unknown, so
 * what is said always holds.
 */
#ifndef TWI_LOOP_RANGE_H
#define TWI_LOOP_RANGE_H

#include "loop/loop.h"

typedef struct {
    int64_t lo, hi; /* both inside */
} twi_span;

#define TWI_SPAN_ALL ((twi_span){INT64_MIN, INT64_MAX})

/* Of an instruction from the intervals of its first three arguments. groups: number of groups (0:
 * unknown). */
twi_span twi_span_step(const twi_func *f, twi_lid v, const twi_span *arg, int64_t groups);
/* Does an elementwise operation on integers leave the range of its type? */
bool twi_span_wraps(const twi_func *f, twi_lid v, const twi_span *arg);
/* Most groups that a launch of the function has; 0: it is never launched. */
int64_t twi_most_groups(const twi_loop *loop, uint32_t func);
/* By walking the arguments down to a depth; unknown below it. */
twi_span twi_span_of(const twi_func *f, twi_lid v, int depth);
/* Floor division and its remainder with the rules of IDIV and IMOD. */
int64_t twi_floor_div(int64_t a, int64_t b);
int64_t twi_floor_mod(int64_t a, int64_t b);

#endif
