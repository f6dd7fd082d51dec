/* SPDX-License-Identifier: Apache-2.0
 * Group orders: from a group's number to its grid digits, by integer arithmetic with constant
 * extents. What makes the arithmetic is the caller's: the walk builds instructions, a test counts.
 */
#ifndef TWI_LOWER_GROUPS_H
#define TWI_LOWER_GROUPS_H

#include "plan/plan.h"

/* Numbers are ids of whatever `number` and `op` make. Operations: ADD SUB MUL IDIV IMOD MIN MAX,
 * LT (a condition), SELECT (condition, then, otherwise). */
typedef struct {
    void *user;
    uint32_t (*number)(void *user, int64_t k);
    uint32_t (*op)(void *user, unsigned op, uint32_t a, uint32_t b, uint32_t c);
} twi_group_maker;

/* Grid digits, the outermost first, and how groups are numbered. */
typedef struct {
    unsigned order; /* twi_group_order */
    int64_t band;
    const int64_t *extent;
    unsigned n;
} twi_group_grid;

/* Each number below the product of the extents gives digits of its own (a bijection), each below
 * its extent. */
void twi_group_digits(const twi_group_maker *make, const twi_group_grid *grid, uint32_t group,
                      uint32_t *digit);

#endif
