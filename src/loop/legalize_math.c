/* SPDX-License-Identifier: Apache-2.0
 * The portable functions as loop IR: the lines of docs/portable-functions.md in their order.
 */
#include "loop/legalize_math.h"

static twi_lid real(twi_cursor *c, float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return twi_lb_bits(c, TW_F32, u, 0);
}

static twi_lid whole(twi_cursor *c, uint32_t u) { return twi_lb_bits(c, TW_I32, u, 0); }

static twi_lid two(twi_cursor *c, unsigned op, twi_lid a, twi_lid b) {
    return twi_lb_op(c, op, a, b, 0);
}
static twi_lid add(twi_cursor *c, twi_lid a, twi_lid b) { return two(c, TWI_ADD, a, b); }
static twi_lid sub(twi_cursor *c, twi_lid a, twi_lid b) { return two(c, TWI_SUB, a, b); }
static twi_lid mul(twi_cursor *c, twi_lid a, twi_lid b) { return two(c, TWI_MUL, a, b); }
static twi_lid times(twi_cursor *c, twi_lid a, float k) { return mul(c, a, real(c, k)); }
static twi_lid plus(twi_cursor *c, twi_lid a, float k) { return add(c, a, real(c, k)); }
static twi_lid bits(twi_cursor *c, twi_lid x) { return twi_lb_bitcast(c, TW_I32, x); }
static twi_lid flt(twi_cursor *c, twi_lid u) { return twi_lb_bitcast(c, TW_F32, u); }
static twi_lid choose(twi_cursor *c, twi_lid when, twi_lid a, twi_lid b) {
    return twi_lb_op(c, TWI_SELECT, when, a, b);
}
static twi_lid and_bits(twi_cursor *c, twi_lid u, uint32_t k) {
    return two(c, TWI_BAND, u, whole(c, k));
}

static twi_lid fused(twi_cursor *c, twi_lid x, twi_lid y, twi_lid z) {
    return twi_lb_op(c, TWI_FMA, x, y, z);
}

/* k0 * x + k1, * x + k2, .. */
static twi_lid chain(twi_cursor *c, twi_lid x, const float *k, int n) {
    twi_lid p = real(c, k[0]);
    for (int i = 1; i < n; i++)
        p = fused(c, p, x, real(c, k[i]));
    return p;
}

static twi_lid shl23(twi_cursor *c, twi_lid u) { return two(c, TWI_SHL, u, whole(c, 23)); }

/* 2^k as a float, from k + a multiple of 2^9. */
static twi_lid power(twi_cursor *c, twi_lid u) {
    return flt(c, add(c, shl23(c, u), whole(c, 0x3f800000u)));
}

/* The lines that exp and tanh share: exp(x) = result * 2^n; u: n + 0x4b400000. */
static twi_lid reduced(twi_cursor *c, twi_lid x, twi_lid *u, twi_lid *n) {
    static const float k[] = {0x1.6d63c8p-10f, 0x1.123ab2p-7f, 0x1.5554d4p-5f, 0x1.55549p-3f,
                              0x1p-1f,         0x1p+0f,        0x1p+0f};
    twi_lid m = fused(c, x, real(c, 0x1.715476p+0f), real(c, 0x1.8p+23f));
    *u = bits(c, m);
    *n = sub(c, m, real(c, 0x1.8p+23f));
    twi_lid r = fused(c, *n, real(c, -0x1.62e4p-1f), x);
    r = fused(c, *n, real(c, -0x1.7f7d1cp-20f), r);
    return chain(c, r, k, 7);
}

static twi_lid middle(twi_cursor *c, twi_lid x) {
    twi_lid u, n, p = reduced(c, x, &u, &n);
    return flt(c, add(c, bits(c, p), shl23(c, u)));
}

static twi_lid at_most(twi_cursor *c, twi_lid x, float most) {
    twi_lid k = real(c, most);
    return choose(c, two(c, TWI_GT, x, k), k, x);
}

/* Explicit lanes scale in one step, which tells by n alone what comes to 0 or to infinity: x need
 * not be clamped. */
twi_lid twi_legal_exp(twi_cursor *c, twi_lid x) {
    twi_lid u, n;
    if (c->f->explicit_lanes) {
        const twi_lid p = reduced(c, x, &u, &n);
        return two(c, TWI_SCALE, p, n);
    }
    twi_lid low = real(c, -0x1.ap+6f);
    twi_lid clamped = at_most(c, choose(c, two(c, TWI_LT, x, low), low, x), 0x1.64p+6f);
    twi_lid p = reduced(c, clamped, &u, &n);
    twi_lid half = two(c, TWI_SHR, u, whole(c, 1));
    p = mul(c, p, power(c, half));
    return mul(c, p, power(c, sub(c, u, half)));
}

twi_lid twi_legal_log(twi_cursor *c, twi_lid x) {
    static const float k[] = {0x1.13c37ep-4f, -0x1.dd9c1p-4f,  0x1.e6dc8p-4f,  -0x1.fc3dccp-4f,
                              0x1.233af8p-3f, -0x1.555b8ep-3f, 0x1.99a478p-3f, -0x1.000008p-2f,
                              0x1.555548p-2f, -0x1p-1f};
    twi_lid zero = real(c, 0), infinite = twi_lb_bits(c, TW_F32, 0x7f800000u, 0);
    twi_lid small = two(c, TWI_LT, x, real(c, 0x1p-126f));
    twi_lid y = choose(c, small, times(c, x, 0x1p+23f), x);
    twi_lid i = add(c, bits(c, y), whole(c, 0x004afb0du));
    twi_lid e = two(c, TWI_SHR, i, whole(c, 23));
    e = sub(c, e, choose(c, small, whole(c, 150), whole(c, 127)));
    twi_lid m = flt(c, add(c, and_bits(c, i, 0x007fffffu), whole(c, 0x3f3504f3u)));
    twi_lid exponent = twi_lb_cast(c, TW_F32, e);
    twi_lid f = sub(c, m, real(c, 0x1p+0f));
    twi_lid z = mul(c, f, f);
    twi_lid p = chain(c, f, k, 10);
    twi_lid r = fused(c, exponent, real(c, 0x1.7f7d1cp-20f), f);
    r = fused(c, p, z, r);
    r = fused(c, exponent, real(c, 0x1.62e4p-1f), r);
    r = choose(c, two(c, TWI_LT, x, infinite), r, x);
    r = choose(c, two(c, TWI_EQ, x, zero), twi_lb_bits(c, TW_F32, 0xff800000u, 0), r);
    return choose(c, two(c, TWI_LT, x, zero), twi_lb_bits(c, TW_F32, 0x7fc00000u, 0), r);
}

static twi_lid magnitude(twi_cursor *c, twi_lid x) {
    return flt(c, and_bits(c, bits(c, x), 0x7fffffffu));
}

static twi_lid with_sign(twi_cursor *c, twi_lid r, twi_lid x) {
    return flt(c, two(c, TWI_BOR, bits(c, r), and_bits(c, bits(c, x), 0x80000000u)));
}

twi_lid twi_legal_tanh(twi_cursor *c, twi_lid x) {
    static const float k[] = {-0x1.758f96p-8f, 0x1.5211c2p-6f, -0x1.b838ap-5f, 0x1.110704p-3f,
                              -0x1.555532p-2f};
    twi_lid a = magnitude(c, x), clamped = at_most(c, a, 0x1.4p+3f);
    twi_lid e = plus(c, middle(c, add(c, clamped, clamped)), 0x1p+0f);
    e = two(c, TWI_DIV, real(c, 0x1p+1f), e);
    e = sub(c, real(c, 0x1p+0f), e);
    twi_lid z = mul(c, a, a);
    twi_lid q = fused(c, mul(c, a, z), chain(c, z, k, 5), a);
    return with_sign(c, choose(c, two(c, TWI_GE, a, real(c, 0x1.4p-1f)), e, q), x);
}

twi_lid twi_legal_erf(twi_cursor *c, twi_lid x) {
    static const float log2_erfc[] = {0x1.c36262p-17f, -0x1.63dd1ap-13f, 0x1.dd06d2p-11f,
                                      -0x1.39e02cp-9f, 0x1.c8f148p-13f,  0x1.c4db0ep-6f,
                                      -0x1.2facfep-3f, -0x1.d63ebep-1f,  0x1.7d05fp-2f};
    static const float less_exp2[] = {-0x1.42985ap-13f, -0x1.5ef136p-10f, -0x1.3b2c3cp-7f,
                                      -0x1.c6afa4p-5f,  -0x1.ebfbdep-3f,  -0x1.62e43p-1f};
    twi_lid a = at_most(c, magnitude(c, x), 0x1p+2f), one = real(c, 0x1p+0f);
    twi_lid t = fused(c, chain(c, a, log2_erfc, 9), a, times(c, a, -0x1p+1f));
    twi_lid m = plus(c, t, 0x1.8p+23f);
    twi_lid r = sub(c, t, sub(c, m, real(c, 0x1.8p+23f)));
    twi_lid f = power(c, bits(c, m));
    twi_lid p = mul(c, chain(c, r, less_exp2, 6), r);
    return with_sign(c, fused(c, f, p, sub(c, one, f)), x);
}
