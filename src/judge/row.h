/* SPDX-License-Identifier: Apache-2.0
 * Rows of verify on their way from a child: text fields, one record a row.
 */
#ifndef TWI_JUDGE_ROW_H
#define TWI_JUDGE_ROW_H

#include "base/strbuf.h"
#include "tilewright/judge.h"

void twi_row_print(const tw_verify_row *row, twi_sb *out);
/* Takes one record off text (which it cuts up); false: none is whole. */
bool twi_row_parse(char **text, char *end, tw_verify_row *row);

#endif
