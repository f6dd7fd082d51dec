/* SPDX-License-Identifier: Apache-2.0
 * Order descriptors: how a plan's fold combines its elements, as data. Digits stand in the order in
 * which they combine: digit 0 first (its elements are combined for every value of the others), the
 * last one last. Element index of folded axis a (counted from its lo) = sum over a's digits of
 * value * weight; positions beyond the extent do not exist. This is all that the oracle learns
 * about a plan.
 */
#ifndef TWI_IR_ORDER_H
#define TWI_IR_ORDER_H

#include <stdint.h>

typedef enum {
    TWI_HOW_CHAIN,
    TWI_HOW_TREE,
    TWI_HOW_BACK
} twi_how; /* chain: ascending, depth e-1; tree: pairwise, ceil(log2 e); back: a descending chain */
typedef struct {
    uint8_t axis; /* axis id */
    uint8_t how;
    int64_t weight, extent;
} twi_order_digit;
typedef struct twi_order {
    uint32_t fold; /* value id of the fold in the lifted, specialised tile IR it describes */
    uint8_t n;
    uint8_t fused; /* dot: 1 fma, 0 a product rounded, then added */
    uint8_t
        flushes; /* dot: subnormal operands and sums are taken as 0, before and after each step */
    twi_order_digit digit[24];
    uint32_t depth; /* roundings on the longest path (dot: + 1 if not fused), by the table of
                       collectives */
} twi_order;

#endif
