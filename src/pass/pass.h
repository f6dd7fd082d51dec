/* SPDX-License-Identifier: Apache-2.0
 * Passes over tile IR: each says whether it changed anything.
 */
#ifndef TWI_PASS_PASS_H
#define TWI_PASS_PASS_H

#include "ir/ir.h"

/* Adds to each value's axes the parallel and serial axes that it depends on (ir/deps.c), so that
 * from then on a row number is an axis like others. Needs a verified IR; sets ir->lifted. */
bool opt_lift(tw_ir *ir);

#endif
