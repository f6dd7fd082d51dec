/* SPDX-License-Identifier: Apache-2.0
 * Rewrites of single operations into IEEE and integer operations. Each takes an argument that is
 * already in the new function and returns the result there.
 */
#ifndef TWI_LOOP_LEGALIZE_MATH_H
#define TWI_LOOP_LEGALIZE_MATH_H

#include "caps/caps.h"
#include "loop/loop.h"

/* docs/portable-functions.md, line by line; x is f32. */
twi_lid twi_legal_exp(twi_cursor *c, twi_lid x);
twi_lid twi_legal_log(twi_cursor *c, twi_lid x);
twi_lid twi_legal_tanh(twi_cursor *c, twi_lid x);
twi_lid twi_legal_erf(twi_cursor *c, twi_lid x);
/* A cast from or to f16 or bf16, of any other type; what is spoken of it, from and to f32, stays.
 */
twi_lid twi_legal_cast(twi_cursor *c, tw_elem elem, twi_lid x, const twi_caps *caps);
/* sum + a * b, as `dots` takes one product in; b and sum of one count. */
twi_lid twi_legal_dot_step(twi_cursor *c, twi_lid a, twi_lid b, twi_lid sum, const twi_caps *caps);
twi_lid twi_legal_dot_sum(twi_cursor *c, twi_lid x, twi_lid y); /* of floats, likewise */

#endif
