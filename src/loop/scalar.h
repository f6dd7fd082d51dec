/* SPDX-License-Identifier: Apache-2.0
 * The meaning of single operations that C has no word for: portable functions and conversions. For
 * the interpreter and for tests of legalized code; written from docs/portable-functions.md and
 * docs/numerics.md, apart from the oracle's own.
 */
#ifndef TWI_LOOP_SCALAR_H
#define TWI_LOOP_SCALAR_H

#include <stdint.h>

float twi_scalar_exp(float x);
/* exp's last step: x * 2^n with one rounding for a whole n from -150 to 128 and x in [1/2, 2);
 * below them 0 and above them infinity, whatever x is. */
float twi_scalar_scale(float x, float n);
float twi_scalar_log(float x);
float twi_scalar_tanh(float x);
float twi_scalar_erf(float x);

/* Nearest even, subnormals kept, overflow to infinity; NaN: quiet, sign and upper payload kept. */
uint16_t twi_f16_of_f32(float x);
uint16_t twi_bf16_of_f32(float x);
uint16_t twi_f16_of_f64(double x);
uint16_t twi_bf16_of_f64(double x);
float twi_f32_of_f16(uint16_t h);  /* exact; NaN becomes quiet */
float twi_f32_of_bf16(uint16_t h); /* exact, a move */
/* A float from which any narrower one is rounded as if from the number itself: its last bit is set
 * where something was cut off. */
double twi_f64_odd_of_i64(int64_t x);
double twi_f64_odd_of_u64(uint64_t x);
/* Truncated, saturating, NaN gives 0; to a signed (unsigned) integer of so many bits. */
int64_t twi_signed_of_f64(double x, unsigned width);
uint64_t twi_unsigned_of_f64(double x, unsigned width);
/* c + a * b as a dot product of bf16 adds it: one rounding, subnormals are zeros before and after.
 */
float twi_f32_dot_step(float a, float b, float c);
/* A NaN wins, -0 < +0. */
float twi_f32_min(float a, float b);
float twi_f32_max(float a, float b);
double twi_f64_min(double a, double b);
double twi_f64_max(double a, double b);

#endif
