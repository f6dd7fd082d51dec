/* SPDX-License-Identifier: Apache-2.0
 * Rewrites loop IR until it holds only what a dialect speaks on a target: a table of (operation,
 * condition on caps, rewrite). Portable exp, log, tanh, erf become IEEE operations here
 * (docs/portable-functions.md).
 */
#ifndef TWI_LOOP_LEGALIZE_H
#define TWI_LOOP_LEGALIZE_H

#include "caps/caps.h"
#include "loop/loop.h"

twi_loop *twi_legalize(const twi_loop *loop, twi_arena *arena, const twi_caps *caps);

/* V9: is all that a legalized module holds spoken on that target? Diagnostics name what is not. */
bool twi_loop_spoken(const twi_loop *loop, const twi_caps *caps);
/* Is the asynchronous copy v one that the target has: of 4, 8 or 16 bytes that lie aligned? */
bool twi_async_spoken(const twi_caps *caps, const twi_func *f, twi_lid v);
bool twi_cast_spoken(const twi_caps *caps, tw_elem from, tw_elem to);
bool twi_dots_spoken(const twi_caps *caps, const twi_func *f, twi_lid v);

#endif
