/* SPDX-License-Identifier: Apache-2.0
 * What the tables say of each loop IR operation: elementwise rows and loop.def rows as one.
 */
#ifndef TWI_LOOP_ROWS_H
#define TWI_LOOP_ROWS_H

#include "loop/loop.h"

typedef struct {
    const char *name;
    uint8_t arity; /* elementwise: number of operands; else 0 */
    uint8_t rule, price, built;
} twi_loop_row;

const twi_loop_row *twi_loop_row_of(unsigned op);       /* NULL: no operation of that number */
unsigned twi_loop_op_named(const char *name, size_t n); /* TWI_NOP if there is none */
static inline bool twi_loop_elementwise(unsigned op) {
    return op > TWI_NOP && op < (unsigned)TWI_ELEMENTWISE_END;
}
/* Depends on its arguments alone, touches nothing: may be shared. */
bool twi_loop_pure(unsigned op);
/* "f32x16"; count 1: "f32". */
void twi_loop_type(twi_sb *out, unsigned elem, unsigned count);

#endif
