/* SPDX-License-Identifier: Apache-2.0
 * Hashing (words folded through the finalizer of splitmix64, read as little endian so that names
 * are the same everywhere) and random numbers: Blackman and Vigna, "Scrambled linear pseudorandom
 * number generators", 2018 (xoshiro256**); Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", 2014 (splitmix64).
 */
#include "base/hash.h"

#include <math.h>

static const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t finish(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t twi_hash_mix(uint64_t a, uint64_t b) { return finish((finish(a + golden) ^ b) + golden); }

uint64_t twi_hash(const void *data, size_t n, uint64_t seed) {
    const unsigned char *p = data;
    uint64_t h = twi_hash_mix(seed, n);
    while (n) {
        size_t take = n < 8 ? n : 8;
        uint64_t word = 0;
        for (size_t i = 0; i < take; i++)
            word |= (uint64_t)p[i] << (8 * i);
        h = twi_hash_mix(h, word);
        p += take;
        n -= take;
    }
    return h;
}

void twi_rng_init(twi_rng *rng, uint64_t seed) {
    for (int i = 0; i < 4; i++) {
        seed += golden;
        rng->s[i] = finish(seed);
    }
}

static uint64_t rotate(uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }

uint64_t twi_rng_next(twi_rng *rng) {
    uint64_t *s = rng->s;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t twi_rng_below(twi_rng *rng, uint64_t n) {
    uint64_t skip = (0 - n) % n; /* 2^64 mod n: the draws that would favour small results */
    uint64_t draw;
    do
        draw = twi_rng_next(rng);
    while (draw < skip);
    return draw % n;
}

double twi_rng_unit(twi_rng *rng) { return (double)(twi_rng_next(rng) >> 11) * 0x1p-53; }

double twi_rng_normal(twi_rng *rng) {
    double radius = sqrt(-2.0 * log(1.0 - twi_rng_unit(rng)));
    return radius * cos(6.283185307179586 * twi_rng_unit(rng));
}
