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

/* Why two axes of a PAR region cannot be joined (join.c), in ir's arena; NULL: they can. */
const char *twi_join_fault(const tw_ir *ir, uint32_t par, unsigned slow, unsigned fast);
/* Joins them: `fast` becomes the joined axis, named SLOW_FAST, and `slow` belongs to no region. Ids
 * of axes and values stay; their names go to the region's `joined`. False: they cannot be. Needs a
 * specialised, lifted IR with tables of its own (twi_ir_tables). */
bool opt_join(tw_ir *ir, uint32_t par, unsigned slow, unsigned fast);

#endif
