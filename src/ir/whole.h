/* SPDX-License-Identifier: Apache-2.0
 * What is done to a kernel as a whole once the builder or the parser has all of it.
 */
#ifndef TWI_IR_WHOLE_H
#define TWI_IR_WHOLE_H

#include "ir/ir.h"

tw_ir *twi_ir_new(tw_context *ctx,
                  twi_arena *arena); /* tables with their dummies, the root region */
/* A copy; dims (by id) or NULL: the numbers that dims become in it. */
tw_ir *twi_ir_copy(const tw_ir *ir, twi_arena *arena, const int64_t *dims);
/* A copy whose ids follow the text: regions, axes and values in order of appearance, nothing that
 * no region holds, every value with a name of its own. Two IRs of one text have equal ids. */
tw_ir *twi_ir_compact(const tw_ir *ir, twi_arena *arena);
void twi_name_values(tw_ir *ir); /* unique value names, and axis names unique where they are seen */

void twi_check_roles(tw_ir *ir); /* in, out, inout, temp: who may be loaded and stored where */
void twi_check_alias(
    tw_ir *ir); /* instances that load and store one array keep to their own elements */
void twi_check_cover(tw_ir *ir); /* every element of an out array is stored */

#endif
