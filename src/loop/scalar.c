/* SPDX-License-Identifier: Apache-2.0
 * Single operations in scalar C. Needs float arithmetic in float and no contraction.
 */
#include "loop/scalar.h"

#include <float.h>
#include <math.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "the meaning of operations needs float arithmetic in float"
#endif

static uint32_t bits(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static float real(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static uint64_t bits64(double x) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static double real64(uint64_t u) {
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Arithmetic shift to the right of the two's complement number u. */
static uint32_t sar(uint32_t u, unsigned n) {
    uint32_t sign = 0u - (u >> 31);
    return ((u ^ sign) >> n) ^ sign;
}

/* (k[0] * x + k[1]) * x + .., one rounding a step. */
static float chain(float x, const float *k, int n) {
    float p = k[0];
    for (int i = 1; i < n; i++)
        p = fmaf(p, x, k[i]);
    return p;
}

/* exp(c) = result * 2^k, k + 0x4b400000 in *u. */
static float reduced(float c, uint32_t *u) {
    static const float k[] = {0x1.6d63c8p-10f, 0x1.123ab2p-7f, 0x1.5554d4p-5f, 0x1.55549p-3f,
                              0x1p-1f,         0x1p+0f,        0x1p+0f};
    float m = fmaf(c, 0x1.715476p+0f, 0x1.8p+23f);
    float n = m - 0x1.8p+23f;
    float upper = fmaf(n, -0x1.62e4p-1f, c);
    *u = bits(m);
    return chain(fmaf(n, -0x1.7f7d1cp-20f, upper), k, 7);
}

static float middle(float c) {
    uint32_t u;
    float p = reduced(c, &u);
    return real(bits(p) + (u << 23));
}

float twi_scalar_exp(float x) {
    float c = x < -0x1.ap+6f ? -0x1.ap+6f : x;
    uint32_t u;
    float p = reduced(c > 0x1.64p+6f ? 0x1.64p+6f : c, &u);
    p = p * real((u >> 1 << 23) + 0x3f800000u);
    return p * real(((u - (u >> 1)) << 23) + 0x3f800000u);
}

float twi_scalar_scale(float x, float n) {
    if (n != n)
        return x + n;
    if (n < -150.5f)
        return 0;
    return n > 128.5f ? (float)INFINITY : (float)ldexp((double)x, (int)n);
}

float twi_scalar_log(float x) {
    static const float k[] = {0x1.13c37ep-4f, -0x1.dd9c1p-4f,  0x1.e6dc8p-4f,  -0x1.fc3dccp-4f,
                              0x1.233af8p-3f, -0x1.555b8ep-3f, 0x1.99a478p-3f, -0x1.000008p-2f,
                              0x1.555548p-2f, -0x1p-1f};
    int small = x < 0x1p-126f;
    float y = small ? x * 0x1p+23f : x;
    uint32_t i = bits(y) + 0x004afb0du;
    int32_t e = (int32_t)sar(i, 23) - (small ? 150 : 127);
    float f = real((i & 0x007fffffu) + 0x3f3504f3u) - 0x1p+0f;
    float exponent = (float)e;
    float r = fmaf(exponent, 0x1.7f7d1cp-20f, f);
    float z = f * f;
    r = fmaf(chain(f, k, 10), z, r);
    r = fmaf(exponent, 0x1.62e4p-1f, r);
    if (!(x < (float)INFINITY))
        return x;
    if (x == 0)
        return -(float)INFINITY;
    return x < 0 ? real(0x7fc00000u) : r;
}

static float with_sign(float r, float x) { return real(bits(r) | (bits(x) & 0x80000000u)); }

float twi_scalar_tanh(float x) {
    static const float k[] = {-0x1.758f96p-8f, 0x1.5211c2p-6f, -0x1.b838ap-5f, 0x1.110704p-3f,
                              -0x1.555532p-2f};
    float a = real(bits(x) & 0x7fffffffu);
    float c = a > 0x1.4p+3f ? 0x1.4p+3f : a;
    float e = middle(c + c) + 0x1p+0f;
    e = 0x1p+1f / e;
    e = 0x1p+0f - e;
    float z = a * a;
    float cube = a * z;
    return with_sign(a >= 0x1.4p-1f ? e : fmaf(cube, chain(z, k, 5), a), x);
}

float twi_scalar_erf(float x) {
    static const float log2_erfc[] = {0x1.c36262p-17f, -0x1.63dd1ap-13f, 0x1.dd06d2p-11f,
                                      -0x1.39e02cp-9f, 0x1.c8f148p-13f,  0x1.c4db0ep-6f,
                                      -0x1.2facfep-3f, -0x1.d63ebep-1f,  0x1.7d05fp-2f};
    static const float less_exp2[] = {-0x1.42985ap-13f, -0x1.5ef136p-10f, -0x1.3b2c3cp-7f,
                                      -0x1.c6afa4p-5f,  -0x1.ebfbdep-3f,  -0x1.62e43p-1f};
    float a = real(bits(x) & 0x7fffffffu);
    float c = a > 0x1p+2f ? 0x1p+2f : a;
    float t = fmaf(chain(c, log2_erfc, 9), c, c * -0x1p+1f);
    float m = t + 0x1.8p+23f;
    float r = t - (m - 0x1.8p+23f);
    float f = real((bits(m) << 23) + 0x3f800000u);
    return with_sign(fmaf(f, chain(r, less_exp2, 6) * r, 0x1p+0f - f), x);
}

/* ---- narrower floats ---- */

uint16_t twi_f16_of_f32(float x) {
    uint32_t u = bits(x), sign = u >> 16 & 0x8000u, a = u & 0x7fffffffu;
    if (a > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u | (a >> 13 & 0x3ffu));
    if (a >= 0x47800000u)
        return (uint16_t)(sign | 0x7c00u);
    if (a < 0x38800000u) { /* subnormal or zero: in units of 2^-24, to nearest even by the adder */
        float units = real(a) * 0x1p+24f;
        float rounded = (units + 0x1p+23f) - 0x1p+23f;
        return (uint16_t)(sign | (uint32_t)rounded);
    }
    a = a + 0xfffu + (a >> 13 & 1u) - 0x38000000u;
    return (uint16_t)(sign | a >> 13);
}

uint16_t twi_bf16_of_f32(float x) {
    uint32_t u = bits(x);
    if ((u & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(u >> 16 | 0x40u);
    return (uint16_t)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

/* f64 to f32 by cutting, the last bit set where anything was lost: rounding that again to 11 bits
 * or fewer is rounding once. */
static float odd(double x) {
    float f = (float)x;
    if (x != x || (double)f == x)
        return f;
    uint32_t u = bits(f);
    if (fabs((double)f) > fabs(x)) /* rounded up: step back; infinity becomes the largest */
        u--;
    return real(u | 1u);
}

uint16_t twi_f16_of_f64(double x) { return twi_f16_of_f32(odd(x)); }
uint16_t twi_bf16_of_f64(double x) { return twi_bf16_of_f32(odd(x)); }

float twi_f32_of_f16(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, a = h & 0x7fffu;
    if (a >= 0x7c00u)
        return real(sign | 0x7f800000u | (a & 0x3ffu) << 13 | (a > 0x7c00u ? 0x400000u : 0u));
    if (a >= 0x400u)
        return real(sign | ((a << 13) + 0x38000000u));
    return real(sign | bits((float)a * 0x1p-24f));
}

float twi_f32_of_bf16(uint16_t h) { return real((uint32_t)h << 16); }

double twi_f64_odd_of_u64(uint64_t x) {
    unsigned shift = 0;
    while (x >> shift >> 53)
        shift++;
    uint64_t kept = x >> shift;
    if (kept << shift != x)
        kept |= 1u;
    return ldexp((double)kept, (int)shift);
}

double twi_f64_odd_of_i64(int64_t x) {
    return x < 0 ? -twi_f64_odd_of_u64(0 - (uint64_t)x) : twi_f64_odd_of_u64((uint64_t)x);
}

/* ---- floats to integers ---- */

int64_t twi_signed_of_f64(double x, unsigned width) {
    int64_t most = (int64_t)(UINT64_MAX >> (65 - width));
    double limit = ldexp(1.0, (int)width - 1);
    if (x != x)
        return 0;
    if (x >= limit)
        return most;
    return x <= -limit ? -most - 1 : (int64_t)x;
}

uint64_t twi_unsigned_of_f64(double x, unsigned width) {
    if (!(x > 0))
        return 0;
    return x >= ldexp(1.0, (int)width) ? UINT64_MAX >> (64 - width) : (uint64_t)x;
}

/* ---- minimum, maximum ---- */

static float without_subnormals(float x) { return fabsf(x) < FLT_MIN ? copysignf(0.0f, x) : x; }

float twi_f32_dot_step(float a, float b, float c) {
    a = without_subnormals(a);
    b = without_subnormals(b);
    return without_subnormals(fmaf(a, b, without_subnormals(c)));
}

float twi_f32_min(float a, float b) {
    if (a != a || b != b)
        return a + b;
    return a < b ? a : b < a ? b : real(bits(a) | bits(b));
}

float twi_f32_max(float a, float b) {
    if (a != a || b != b)
        return a + b;
    return a > b ? a : b > a ? b : real(bits(a) & bits(b));
}

double twi_f64_min(double a, double b) {
    if (a != a || b != b)
        return a + b;
    return a < b ? a : b < a ? b : real64(bits64(a) | bits64(b));
}

double twi_f64_max(double a, double b) {
    if (a != a || b != b)
        return a + b;
    return a > b ? a : b > a ? b : real64(bits64(a) & bits64(b));
}
