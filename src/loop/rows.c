/* SPDX-License-Identifier: Apache-2.0
 * The table of loop IR operations.
 */
#include "loop/rows.h"

static const twi_loop_row rows[TWI_LOOP_END] = {
    [TWI_NOP] = {"", 0, 0, 0, 0},
#define TWI_OP(NAME, spelling, arity, rule, price, built)                                          \
    [TWI_##NAME] = {spelling, arity, TWI_RULE_##rule, TWI_PRICE_##price, built},
#include "ir/elementwise.def"
#undef TWI_OP
#define TWI_LOOP(NAME, spelling, built) [TWI_L_##NAME] = {spelling, 0, 0, TWI_PRICE_FREE, built},
#include "loop/loop.def"
#undef TWI_LOOP
};

const twi_loop_row *twi_loop_row_of(unsigned op) {
    return op > TWI_NOP && op < (unsigned)TWI_LOOP_END ? &rows[op] : NULL;
}

const char *twi_loop_op_name(unsigned op) {
    const twi_loop_row *row = twi_loop_row_of(op);
    return row ? row->name : "?";
}

unsigned twi_loop_op_named(const char *name, size_t n) {
    for (unsigned op = TWI_NOP + 1; op < (unsigned)TWI_LOOP_END; op++)
        if (strlen(rows[op].name) == n && memcmp(rows[op].name, name, n) == 0)
            return op;
    return TWI_NOP;
}

bool twi_loop_pure(unsigned op) {
    return twi_loop_elementwise(op) || (op >= TWI_L_LCONST && op <= TWI_L_PERMUTE);
}

void twi_loop_type(twi_sb *out, unsigned elem, unsigned count) {
    twi_sb_str(out, tw_elem_name((tw_elem)elem));
    if (count > 1)
        twi_sb_printf(out, "x%u", count);
}
