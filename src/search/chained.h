/* SPDX-License-Identifier: Apache-2.0
 * Parts of the family of chained dots (chained.c).
 */
#ifndef TWI_SEARCH_CHAINED_H
#define TWI_SEARCH_CHAINED_H

#include "search/view.h"

/* Gives the dot a frame of boxes, its operands their places and stages there; false: it has none,
 * and goes element by element. cut: axes beside the rows that slots may cut. */
bool twi_chained_boxes(const twi_view *v, twi_plan *p, unsigned rows, uint64_t cut, twi_id dot);

#endif
