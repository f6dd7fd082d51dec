/* SPDX-License-Identifier: Apache-2.0
 * The portable functions, in scalar C. Every line is one IEEE operation of
 * docs/portable-functions.md; the file must be compiled without contraction (-ffp-contract=off) and
 * with float as wide as float (FLT_EVAL_METHOD 0), else the bits are others. fmaf is the C
 * library's: a basic operation of IEEE 754.
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

/* exp(c) / 2^k for -104 <= c <= 89; k in the low bits of *u. */
static float reduced(float c, uint32_t *u) {
    float m = fmaf(c, 0x1.715476p+0f, 0x1.8p+23f);
    *u = bits(m);
    float n = m - 0x1.8p+23f;
    float r = fmaf(n, -0x1.62e4p-1f, c);
    r = fmaf(n, -0x1.7f7d1cp-20f, r);
    float q = fmaf(r, 0x1.6d63c8p-10f, 0x1.123ab2p-7f);
    q = fmaf(q, r, 0x1.5554d4p-5f);
    q = fmaf(q, r, 0x1.55549p-3f);
    q = fmaf(q, r, 0.5f);
    q = fmaf(q, r, 1.0f);
    return fmaf(q, r, 1.0f);
}

/* exp(c) where neither c nor the result is extreme. */
static float middle(float c) {
    uint32_t u;
    float p = reduced(c, &u);
    return from(bits(p) + (u << 23));
}

float twi_portable_exp(float x) {
    float c = x < -104.0f ? -104.0f : x;
    c = c > 89.0f ? 89.0f : c;
    uint32_t u;
    float p = reduced(c, &u);
    uint32_t u1 = u >> 1;
    uint32_t u2 = u - u1;
    float f1 = from((u1 << 23) + 0x3f800000u);
    float f2 = from((u2 << 23) + 0x3f800000u);
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
    float p = fmaf(f, 0x1.13c37ep-4f, -0x1.dd9c1p-4f);
    p = fmaf(p, f, 0x1.e6dc8p-4f);
    p = fmaf(p, f, -0x1.fc3dccp-4f);
    p = fmaf(p, f, 0x1.233af8p-3f);
    p = fmaf(p, f, -0x1.555b8ep-3f);
    p = fmaf(p, f, 0x1.99a478p-3f);
    p = fmaf(p, f, -0x1.000008p-2f);
    p = fmaf(p, f, 0x1.555548p-2f);
    p = fmaf(p, f, -0.5f);
    float r = fmaf(k, 0x1.7f7d1cp-20f, f);
    r = fmaf(p, z, r);
    r = fmaf(k, 0x1.62e4p-1f, r);
    r = x < INFINITY ? r : x;
    r = x == 0.0f ? -INFINITY : r;
    return x < 0.0f ? from(0x7fc00000u) : r;
}

float twi_portable_tanh(float x) {
    uint32_t u = bits(x);
    float a = from(u & 0x7fffffffu);
    float c = a > 10.0f ? 10.0f : a;
    float d = c + c;
    float e = middle(d);
    e = e + 1.0f;
    e = 2.0f / e;
    e = 1.0f - e;
    float z = a * a;
    float p = fmaf(z, -0x1.758f96p-8f, 0x1.5211c2p-6f);
    p = fmaf(p, z, -0x1.b838ap-5f);
    p = fmaf(p, z, 0x1.110704p-3f);
    p = fmaf(p, z, -0x1.555532p-2f);
    float q = a * z;
    q = fmaf(q, p, a);
    float r = a >= 0.625f ? e : q;
    return from(bits(r) | (u & 0x80000000u));
}

float twi_portable_erf(float x) {
    uint32_t u = bits(x);
    float a = from(u & 0x7fffffffu);
    float c = a > 4.0f ? 4.0f : a;
    float q = fmaf(c, 0x1.c36262p-17f, -0x1.63dd1ap-13f);
    q = fmaf(q, c, 0x1.dd06d2p-11f);
    q = fmaf(q, c, -0x1.39e02cp-9f);
    q = fmaf(q, c, 0x1.c8f148p-13f);
    q = fmaf(q, c, 0x1.c4db0ep-6f);
    q = fmaf(q, c, -0x1.2facfep-3f);
    q = fmaf(q, c, -0x1.d63ebep-1f);
    q = fmaf(q, c, 0x1.7d05fp-2f);
    float d = c * -2.0f;
    float t = fmaf(q, c, d);
    float m = t + 0x1.8p+23f;
    uint32_t k = bits(m);
    float n = m - 0x1.8p+23f;
    float r = t - n;
    float p = fmaf(r, -0x1.42985ap-13f, -0x1.5ef136p-10f);
    p = fmaf(p, r, -0x1.3b2c3cp-7f);
    p = fmaf(p, r, -0x1.c6afa4p-5f);
    p = fmaf(p, r, -0x1.ebfbdep-3f);
    p = fmaf(p, r, -0x1.62e43p-1f);
    p = p * r;
    float f = from((k << 23) + 0x3f800000u);
    float g = 1.0f - f;
    float e = fmaf(f, p, g);
    return from(bits(e) | (u & 0x80000000u));
}
