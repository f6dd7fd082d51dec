/* SPDX-License-Identifier: Apache-2.0
 * The portable functions, in scalar C. Every line is one IEEE operation of
 * docs/portable-functions.md; the file must be compiled without contraction (-ffp-contract=off) and
 * with float as wide as float (FLT_EVAL_METHOD 0), else the bits are others.
 */
#include "oracle/portable.h"
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif
#if FLT_EVAL_METHOD != 0
#error "the portable functions need float arithmetic in float"
#endif
#ifdef __FAST_MATH__
#error "the portable functions need IEEE arithmetic: no -ffast-math"
#endif

static uint32_t bits(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static float from(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Shift that copies the sign, without leaving the standard. */
static uint32_t sar(uint32_t u, unsigned n) {
    return (u >> n) | ((u >> 31) != 0u ? ~(UINT32_MAX >> n) : 0u);
}

float twi_portable_exp(float x) {
    float c = x < -104.0f ? -104.0f : x;
    c = c > 89.0f ? 89.0f : c;
    float t = c * 0x1.715476p+0f;
    float m = t + 0x1.8p+23f;
    uint32_t k = bits(m) - 0x4b400000u;
    float n = m - 0x1.8p+23f;
    float a = n * 0x1.62e4p-1f;
    float h = c - a;
    float b = n * 0x1.7f7d1cp-20f;
    float r = h - b;
    float q = r * 0x1.6d63c8p-10f;
    q = q + 0x1.123ab2p-7f;
    q = q * r;
    q = q + 0x1.5554d4p-5f;
    q = q * r;
    q = q + 0x1.55549p-3f;
    q = q * r;
    q = q + 0.5f;
    float s = r * r;
    q = q * s;
    float p = r + q;
    p = 1.0f + p;
    uint32_t k1 = sar(k, 1);
    uint32_t k2 = k - k1;
    float f1 = from((k1 + 127u) << 23);
    float f2 = from((k2 + 127u) << 23);
    p = p * f1;
    return p * f2;
}

float twi_portable_log(float x) {
    int small = x < 0x1p-126f;
    float y = small ? x * 0x1p+23f : x;
    uint32_t i = bits(y) + 0x004afb0du; /* 0x3f800000 - 0x3f3504f3, sqrt(1/2) */
    uint32_t e = sar(i, 23) - (small ? 150u : 127u);
    float m = from((i & 0x007fffffu) + 0x3f3504f3u);
    float k = (float)(int32_t)e;
    float f = m - 1.0f;
    float z = f * f;
    float p = f * 0x1.13c37ep-4f;
    p = p + -0x1.dd9c1p-4f;
    p = p * f;
    p = p + 0x1.e6dc8p-4f;
    p = p * f;
    p = p + -0x1.fc3dccp-4f;
    p = p * f;
    p = p + 0x1.233af8p-3f;
    p = p * f;
    p = p + -0x1.555b8ep-3f;
    p = p * f;
    p = p + 0x1.99a478p-3f;
    p = p * f;
    p = p + -0x1.000008p-2f;
    p = p * f;
    p = p + 0x1.555548p-2f;
    float g = f * z;
    g = g * p;
    float b = k * 0x1.7f7d1cp-20f;
    g = g + b;
    float w = z * 0.5f;
    g = g - w;
    float r = f + g;
    float a = k * 0x1.62e4p-1f;
    r = r + a;
    r = x == INFINITY ? x : r;
    r = x == 0.0f ? -INFINITY : r;
    r = x < 0.0f ? from(0x7fc00000u) : r;
    return x != x ? x : r;
}

float twi_portable_tanh(float x) {
    uint32_t u = bits(x);
    float a = from(u & 0x7fffffffu);
    float d = a + a;
    float e = twi_portable_exp(d);
    e = e + 1.0f;
    e = 2.0f / e;
    e = 1.0f - e;
    float z = a * a;
    float p = z * -0x1.758f96p-8f;
    p = p + 0x1.5211c2p-6f;
    p = p * z;
    p = p + -0x1.b838ap-5f;
    p = p * z;
    p = p + 0x1.110704p-3f;
    p = p * z;
    p = p + -0x1.555532p-2f;
    float q = a * z;
    q = q * p;
    q = a + q;
    float r = a < 0.625f ? q : e;
    return from(bits(r) | (u & 0x80000000u));
}

float twi_portable_erf(float x) {
    uint32_t u = bits(x);
    float a = from(u & 0x7fffffffu);
    float c = a > 4.0f ? 4.0f : a;
    float t = c * 0x1.897becp-13f;
    t = t + -0x1.840478p-9f;
    t = t * c;
    t = t + 0x1.66a77ap-6f;
    t = t * c;
    t = t + -0x1.a6c9f6p-4f;
    t = t * c;
    t = t + -0x1.46a94ap-1f;
    t = t * c;
    t = t + -0x1.208e64p+0f;
    t = t * c;
    t = t + -0x1.4fe548p-12f;
    float e = twi_portable_exp(t);
    e = 1.0f - e;
    float z = a * a;
    float p = z * 0x1.4916f2p-14f;
    p = p + -0x1.a3d7ecp-11f;
    p = p * z;
    p = p + 0x1.54017p-8f;
    p = p * z;
    p = p + -0x1.b7f88cp-6f;
    p = p * z;
    p = p + 0x1.ce2cf2p-4f;
    p = p * z;
    p = p + -0x1.81273ep-2f;
    p = p * z;
    p = p + 0x1.06eba8p-3f;
    float q = a * p;
    q = a + q;
    float r = a < 1.0f ? q : e;
    return from(bits(r) | (u & 0x80000000u));
}
