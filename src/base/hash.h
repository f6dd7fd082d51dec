/* SPDX-License-Identifier: Apache-2.0
 * 64-bit hashing for tables and for naming plans and sources (not against adversaries: SHA-256 does
 * that in the store), and the seeded generator that all random choices use.
 */
#ifndef TWI_BASE_HASH_H
#define TWI_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t twi_hash(const void *data, size_t n, uint64_t seed);
uint64_t twi_hash_mix(uint64_t a, uint64_t b);

typedef struct {
    uint64_t s[4];
} twi_rng; /* xoshiro256**, seeded through splitmix64 */
void twi_rng_init(twi_rng *rng, uint64_t seed);
uint64_t twi_rng_next(twi_rng *rng);
uint64_t twi_rng_below(twi_rng *rng, uint64_t n); /* uniform in [0, n); n > 0 */
double twi_rng_unit(twi_rng *rng);                /* [0, 1) */
double twi_rng_normal(twi_rng *rng); /* N(0,1), Box-Muller on the portable unit draws */

#endif
