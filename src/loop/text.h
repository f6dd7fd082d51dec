/* SPDX-License-Identifier: Apache-2.0
 * Pieces that printing and parsing of loop IR share.
 */
#ifndef TWI_LOOP_TEXT_H
#define TWI_LOOP_TEXT_H

#include "loop/loop.h"

void twi_loop_name(
    twi_sb *out,
    const char *text); /* bytes other than letters, digits, _ . and a - that is not first, as $HH */
/* A constant: decimal where that reads back to the same bits, true, false, else #hex. */
void twi_loop_bits(twi_sb *out, unsigned elem, uint64_t bits);

#endif
