/* SPDX-License-Identifier: Apache-2.0
 * Atoms of dots (atom.def): which box of digits one instruction evaluates, and who can use it.
 */
#ifndef TWI_PLAN_ATOM_H
#define TWI_PLAN_ATOM_H

#include "plan/plan.h"

typedef struct {
    const char *name;
    uint8_t k; /* positions of the folded axis; 1: a dot goes element by element */
    uint8_t elem, sum;
    bool flushes;
    uint8_t ops;
    size_t cap; /* offset of a flag in twi_caps; 0: every target has the atom */
} twi_atom_row;

const twi_atom_row *twi_atom_row_of(unsigned atom); /* of NONE: that of fma */
bool twi_caps_have_atom(const twi_caps *caps, unsigned atom);
/* The atom that takes k operands of that storage type at once; NULL: there is none. */
const twi_atom_row *twi_atom_taking(tw_elem elem, unsigned k);
/* Elements of 4 bytes, which lie side by side in each lane. */
unsigned twi_atom_group(tw_elem elem);
bool twi_atom_has_groups(const twi_atom_row *row); /* several */
/* May the target use the atom for the dot, whatever the maps? Else why not. */
bool twi_atom_fits(const tw_ir *ir, const twi_caps *caps, twi_id dot, unsigned atom, twi_why *why);
/* What its operand k reads: the load, whose value it may cast to the type of the sum, or what is
 * computed. */
twi_id twi_atom_operand(const tw_ir *ir, twi_id dot, unsigned k);
bool twi_atom_loads(const tw_ir *ir, twi_id dot); /* are both operands loads? */
/* Number of the axis's atom digit; -1: it has none. */
int twi_atom_digit(const twi_frame *f, unsigned axis);
/* The axis of an operand that an atom takes whole boxes of; 0: none. */
unsigned twi_boxed_axis(const tw_ir *ir, const twi_frame *f, twi_id v);

#endif
