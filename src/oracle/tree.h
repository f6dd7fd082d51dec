/* SPDX-License-Identifier: Apache-2.0
 * Orders of folds. A tree is an order descriptor laid out for one set of extents: which element
 * stands in which slot, and how neighbouring groups of slots combine, level by level. From it
 * follows how large the sum of all roundings can be.
 */
#ifndef TWI_ORACLE_TREE_H
#define TWI_ORACLE_TREE_H

#include "ir/order.h"
#include "oracle/det.h"

typedef struct {
    uint32_t depth; /* roundings on the longest path */
    size_t slots;   /* padded number of leaves */
    uint32_t *leaf; /* by slot: element, UINT32_MAX where there is none */
    uint32_t levels;
    struct {
        uint32_t extent;
        uint8_t how;
    } level[26];
} twi_tree;

/* The folded axes' ids and extents, in the order of the bracket; an element is its row-major
 * position. merge: consecutive chain digits run in one accumulator. NULL: the descriptor does not
 * place each element exactly once. */
twi_tree *twi_tree_of(twi_arena *arena, const twi_order *order, const uint8_t *axis,
                      const int64_t *extent, unsigned n, bool merge);
/* Fixed orders over n elements in a row (bounded operands of left, right, canonical folds). */
twi_tree *twi_tree_fixed(twi_arena *arena, twi_order_kind order, size_t n);

/* A bound of |machine sum - sum of machine terms|: values v, their error bounds e, unit u. begun:
 * one chain, whichever, starts from a value that is none of v; what rounding takes from that value
 * itself is the caller's. work: 2 * slots doubles. */
double twi_tree_error(const twi_tree *t, const double *v, const double *e, double u, bool begun,
                      double *work);
double twi_gamma(double depth, double u); /* d u / (1 - d u); infinite if d u >= 1 */

/* canonical(x[0..n)) of docs/numerics.md with a two-operand operation; x is used up. n > 0. */
uint64_t twi_canonical(const twi_det *combine, uint64_t *x, size_t n);

#endif
