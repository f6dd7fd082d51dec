/* SPDX-License-Identifier: Apache-2.0
 * Building without rules: what the parser and rewriting need. Nothing is simplified; equal pure
 * instructions are still shared.
 */
#ifndef TWI_LOOP_RAW_H
#define TWI_LOOP_RAW_H

#include "loop/loop.h"

/* Appends *i, which lies outside the function, with these arguments (arg, nargs and loc are set
 * here). */
twi_lid twi_lb_raw(twi_cursor *c, const twi_lins *i, const twi_lid *args, uint32_t n);
void twi_lb_open(twi_cursor *c, twi_lid v); /* the body of v */
/* A copy without instructions, for a rewriting walk: tables that those refer to keep their numbers.
 */
twi_func twi_func_emptied(twi_arena *arena, const twi_func *from);
void twi_narrow_index(twi_loop *loop,
                      uint32_t func); /* index arithmetic of implicit lanes: to 32 bits */

#endif
