/* SPDX-License-Identifier: Apache-2.0
 * Swizzles: rows of shared memory whose parts change places by an exclusive or, so that a column
 * lies in many banks as a row does. A row is made of spans, a span of units. In row r the unit u of
 * each span lies where unit u ^ (r / rows) % units is in row 0. A unit stays whole: so an access of
 * its size or less has neighbours where it had them. Values are what they were.
 */
#ifndef TWI_MAP_SWIZZLE_H
#define TWI_MAP_SWIZZLE_H

#include "base/strbuf.h"

typedef struct {
    uint16_t span; /* bytes; 0: no swizzle */
    uint8_t unit;  /* bytes; 16 */
    uint8_t rows;  /* that follow one another and share an order of units; 1 */
} twi_swizzle;

enum { TWI_SWIZZLE_SPAN = 1024, TWI_SWIZZLE_UNIT = 16, TWI_SWIZZLE_ROWS = 128 }; /* most */

/* The same offset in elements, of elements of so many bytes: where element `at` of row `row` lies
 * in it. `at` without a swizzle. */
int64_t twi_swizzle_at(twi_swizzle s, int64_t elem, int64_t row, int64_t at);
/* That as one line of arithmetic, at ^ (row << left >> right & mask), in elements. */
typedef struct {
    unsigned left, right; /* one of them is 0 */
    int64_t mask;
} twi_swizzle_bits;
twi_swizzle_bits twi_swizzle_bits_of(twi_swizzle s, int64_t elem);

bool twi_swizzle_equal(twi_swizzle s, twi_swizzle t);
/* Why rows of so many elements cannot be swizzled so; NULL: they can. */
const char *twi_swizzle_fault(twi_swizzle s, int64_t elem, int64_t row_elements);
/* "swizzle 128 unit 16 rows 1": the last two are left out where they are these. */
void twi_swizzle_print(twi_swizzle s, twi_sb *out);

#endif
