/* SPDX-License-Identifier: Apache-2.0
 * Fixtures: generated inputs by name and seed. The same name, seed, array and IR give the same
 * bytes.
 */
#ifndef TWI_ORACLE_FIXTURES_H
#define TWI_ORACLE_FIXTURES_H

#include "ir/ir.h"

typedef enum {
    TWI_FIX_NONE, /* no such name */
    TWI_FIX_NORMAL,
    TWI_FIX_NEGATIVE,
    TWI_FIX_CANCEL,
    TWI_FIX_SPECIAL,
    TWI_FIX_EXACT,
    TWI_FIX_ZERO,
    TWI_FIXTURES
} twi_fixture;

twi_fixture twi_fixture_named(const char *name); /* normal negative cancel special exact zero */
/* Of names with commas between them: bits by number; 0: one of them is none, or there is none. */
uint32_t twi_fixtures_named(const char *list);
const char *twi_fixture_name(twi_fixture fixture);
/* Fills a dense row-major buffer of the array's storage type and extents (the IR is specialised).
 */
void twi_fixture_fill(const tw_ir *ir, uint32_t array, twi_fixture fixture, uint64_t seed,
                      void *data);
/* The array's values are subscripts or bounds of the program: valid ones, whatever the fixture.
 * False: they are not, and nothing was filled. */
bool twi_fixture_indices(const tw_ir *ir, uint32_t array, uint64_t seed, void *data);
/* Bits for a scalar argument: its default, else a power of two (1 for exact, 1/8 else; ints 1,
 * bools 1). */
uint64_t twi_fixture_scalar(const tw_ir *ir, uint32_t scalar, twi_fixture fixture);

#endif
