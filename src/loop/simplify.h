/* SPDX-License-Identifier: Apache-2.0
 * What the builder knows better than to build: constants and identities of integers and truth
 * values that hold under wrapping. Floats are never touched.
 */
#ifndef TWI_LOOP_SIMPLIFY_H
#define TWI_LOOP_SIMPLIFY_H

#include "loop/loop.h"

/* The value that op(a, b, d) is, or 0 if it has to be built. May swap *a and *b, or replace them
 * (sums of constants move to the right and meet). */
twi_lid twi_simplify(twi_cursor *c, unsigned op, twi_lid *a, twi_lid *b, twi_lid d);

#endif
