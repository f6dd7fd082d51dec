/* SPDX-License-Identifier: Apache-2.0
 * Determined values: what every elementwise operation yields, on bit patterns (zero-extended in 64
 * bits), by code of the oracle's own. f32 arithmetic is C float arithmetic without contraction.
 */
#ifndef TWI_ORACLE_DET_H
#define TWI_ORACLE_DET_H

#include "ir/ir.h"

typedef struct twi_det twi_det;
struct twi_det {
    uint64_t (*fn)(const twi_det *d, const uint64_t *x);
    uint8_t op, from,
        to; /* element types of the operands (SELECT: of the branches) and of the result */
};

/* fn is NULL if the operation is not built for these types. */
twi_det twi_det_of(unsigned op, tw_elem from, tw_elem to);
static inline uint64_t twi_det_do(const twi_det *d, const uint64_t *x) { return d->fn(d, x); }

uint64_t twi_det_cast(tw_elem from, tw_elem to,
                      uint64_t x); /* any to any (f16, bf16: as `to` of f32 too) */
float twi_f32_of(uint64_t bits);
uint64_t twi_bits_f32(float x);
double twi_f64_of(uint64_t bits);
uint64_t twi_bits_f64(double x);
int64_t twi_int_of(tw_elem elem, uint64_t bits);   /* sign- or zero-extended; bool 0, 1 */
double twi_double_of(tw_elem elem, uint64_t bits); /* nearest double; f16 and bf16 too */
uint64_t twi_bits_of_double(tw_elem elem,
                            double x); /* of f32, f64, ints and bool: x is a value of it */
uint64_t twi_narrow(tw_elem to,
                    uint64_t f32_bits);          /* f32 to the pattern of f16, bf16 (f32: itself) */
uint64_t twi_widen(tw_elem from, uint64_t bits); /* back, exact */
float twi_f32_fma(float a, float b, float c);
uint64_t twi_load_bits(tw_elem elem, const void *base, size_t k); /* from a raw buffer */
void twi_store_bits(tw_elem elem, void *base, size_t k, uint64_t bits);
bool twi_bits_nan(tw_elem elem, uint64_t bits);

#endif
