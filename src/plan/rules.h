/* SPDX-License-Identifier: Apache-2.0
 * Does a plan mean something for this kernel on this target? Coverage and capacity: M1 to M6 of
 * docs/plans.md, orders of folds as conditions on maps, stages and their bytes. What only the walk
 * can tell is lower's.
 */
#ifndef TWI_PLAN_RULES_H
#define TWI_PLAN_RULES_H

#include "plan/plan.h"

/* False: why says what is wrong, with the numbers. The IR is specialised and lifted. */
bool twi_plan_rules(const tw_ir *ir, const twi_caps *caps, const twi_plan *plan, twi_why *why);
/* Fills why, of kind RULE; always false. */
bool twi_refuse(twi_why *why, const char *format, ...) TWI_PRINTF(2, 3);
/* Can rows of so many elements be swizzled so? They can if they are not at all. */
bool twi_swizzle_fits(const char *what, const char *name, twi_swizzle s, tw_elem elem, int64_t row,
                      twi_why *why);
/* What was just refused is of another kind; always false. */
bool twi_refused_for(twi_why *why, twi_why_kind kind);

#endif
