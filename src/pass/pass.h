/* SPDX-License-Identifier: Apache-2.0
 * Passes over tile IR: each says whether it changed anything.
 */
#ifndef TWI_PASS_PASS_H
#define TWI_PASS_PASS_H

#include "ir/ir.h"

/* Adds to each value's axes the parallel and serial axes that it depends on (ir/deps.c), so that
 * from then on a row number is an axis like others. Needs a verified IR; sets ir->lifted. */
bool opt_lift(tw_ir *ir);

/* May the fold v be taken into the earlier one that it waits for (merge.c)? */
bool twi_can_merge(const tw_ir *ir, twi_id v);
/* Takes it in and adds its name to ir->merged; false: it cannot be. Needs a specialised IR, lifted
 * or not; ids and names of values stay. */
bool opt_merge(tw_ir *ir, twi_id v);

#endif
