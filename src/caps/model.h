/* SPDX-License-Identifier: Apache-2.0
 * A calibrated cost model: prices by term, for one machine. Its text prints and parses back to the
 * same bytes and ends with a hash of what stands before:
 *
 *     model 1
 *     device cpu-avx512, 2 units, ..
 *     version 0.1.0
 *     date 2026-11-30
 *     residual 0.08
 *     price launch 210.5
 *     ..
 *     hash 0123456789abcdef
 */
#ifndef TWI_CAPS_MODEL_H
#define TWI_CAPS_MODEL_H

#include "caps/costs.h"

typedef struct twi_model {
    const char *device, *version, *date; /* whose prices, fitted by which Tilewright, when */
    double residual;                     /* the middle one of |model / measured - 1| */
    double price[TWI_COSTS];             /* ns */
} twi_model;

void twi_model_print(const twi_model *m, twi_sb *out);
/* Texts of the model live in the context. False: why, in one line. */
bool twi_model_parse(tw_context *ctx, const char *text, size_t n, twi_model *m, const char **why);

#endif
