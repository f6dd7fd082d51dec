/* SPDX-License-Identifier: Apache-2.0
 * Casts of f16 and bf16 by integer operations. Everything passes through f32, which holds both;
 * wider numbers get there by rounding to odd (Boldo and Melquiond, 2008: rounding such a number
 * again is rounding once).
 */
#include "loop/legalize.h"
#include "loop/legalize_math.h"

static twi_lid word(twi_cursor *c, uint32_t u) { return twi_lb_bits(c, TW_U32, u, 0); }
static twi_lid two(twi_cursor *c, unsigned op, twi_lid a, twi_lid b) {
    return twi_lb_op(c, op, a, b, 0);
}
static twi_lid with(twi_cursor *c, unsigned op, twi_lid a, uint32_t k) {
    return two(c, op, a, word(c, k));
}
static twi_lid choose(twi_cursor *c, twi_lid when, twi_lid a, twi_lid b) {
    return twi_lb_op(c, TWI_SELECT, when, a, b);
}
static twi_lid real(twi_cursor *c, float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return twi_lb_bits(c, TW_F32, u, 0);
}

static twi_lid pattern(twi_cursor *c, twi_lid half) {
    return twi_lb_cast(c, TW_U32, twi_lb_bitcast(c, TW_U16, half));
}

static twi_lid half(twi_cursor *c, tw_elem elem, twi_lid word_value) {
    return twi_lb_bitcast(c, elem, twi_lb_cast(c, TW_U16, word_value));
}

static twi_lid widen_f16(twi_cursor *c, twi_lid x) {
    twi_lid h = pattern(c, x);
    twi_lid sign = with(c, TWI_SHL, with(c, TWI_BAND, h, 0x8000u), 16);
    twi_lid a = with(c, TWI_BAND, h, 0x7fffu);
    twi_lid shifted = with(c, TWI_SHL, a, 13);
    twi_lid normal = with(c, TWI_ADD, shifted, 0x38000000u);
    twi_lid quiet =
        choose(c, with(c, TWI_GT, a, 0x7c00u), word(c, 0x7fc00000u), word(c, 0x7f800000u));
    twi_lid special = two(c, TWI_BOR, with(c, TWI_BAND, shifted, 0x007fe000u), quiet);
    twi_lid units = twi_lb_cast(c, TW_F32, twi_lb_bitcast(c, TW_I32, a));
    twi_lid small = twi_lb_bitcast(c, TW_U32, two(c, TWI_MUL, units, real(c, 0x1p-24f)));
    twi_lid r = choose(c, with(c, TWI_GE, a, 0x400u), normal, small);
    r = choose(c, with(c, TWI_GE, a, 0x7c00u), special, r);
    return twi_lb_bitcast(c, TW_F32, two(c, TWI_BOR, r, sign));
}

static twi_lid widen_bf16(twi_cursor *c, twi_lid x) {
    return twi_lb_bitcast(c, TW_F32, with(c, TWI_SHL, pattern(c, x), 16));
}

static twi_lid narrow_f16(twi_cursor *c, twi_lid x) {
    twi_lid u = twi_lb_bitcast(c, TW_U32, x);
    twi_lid sign = with(c, TWI_BAND, with(c, TWI_SHR, u, 16), 0x8000u);
    twi_lid a = with(c, TWI_BAND, u, 0x7fffffffu);
    twi_lid upper = with(c, TWI_SHR, a, 13);
    twi_lid nan = with(c, TWI_BOR, with(c, TWI_BAND, upper, 0x3ffu), 0x7e00u);
    /* below 2^-14: units of 2^-24, rounded where the adder cuts; the integer is in the low bits */
    twi_lid units = two(c, TWI_MUL, twi_lb_bitcast(c, TW_F32, a), real(c, 0x1p+24f));
    twi_lid rounded = twi_lb_bitcast(c, TW_U32, two(c, TWI_ADD, units, real(c, 0x1p+23f)));
    twi_lid small = with(c, TWI_SUB, rounded, 0x4b000000u);
    twi_lid tie = with(c, TWI_BAND, upper, 1);
    twi_lid normal = two(c, TWI_ADD, with(c, TWI_ADD, a, 0xfffu - 0x38000000u), tie);
    normal = with(c, TWI_SHR, normal, 13);
    twi_lid r = choose(c, with(c, TWI_LT, a, 0x38800000u), small, normal);
    r = choose(c, with(c, TWI_GE, a, 0x47800000u), word(c, 0x7c00u), r);
    r = choose(c, with(c, TWI_GT, a, 0x7f800000u), nan, r);
    return half(c, TW_F16, two(c, TWI_BOR, r, sign));
}

static twi_lid narrow_bf16(twi_cursor *c, twi_lid x) {
    twi_lid u = twi_lb_bitcast(c, TW_U32, x);
    twi_lid upper = with(c, TWI_SHR, u, 16);
    twi_lid rounded = two(c, TWI_ADD, with(c, TWI_ADD, u, 0x7fffu), with(c, TWI_BAND, upper, 1));
    twi_lid r = choose(c, two(c, TWI_NE, x, x), with(c, TWI_BOR, upper, 0x40u),
                       with(c, TWI_SHR, rounded, 16));
    return half(c, TW_BF16, r);
}

/* f64 to f32, rounded to odd. */
static twi_lid odd_f32(twi_cursor *c, twi_lid x) {
    twi_lid f = twi_lb_cast(c, TW_F32, x), back = twi_lb_cast(c, TW_F64, f);
    twi_lid u = twi_lb_bitcast(c, TW_U32, f);
    twi_lid above =
        two(c, TWI_GT, twi_lb_op(c, TWI_ABS, back, 0, 0), twi_lb_op(c, TWI_ABS, x, 0, 0));
    twi_lid cut = choose(c, above, with(c, TWI_SUB, u, 1), u);
    twi_lid exact = two(c, TWI_OR, two(c, TWI_EQ, back, x), two(c, TWI_NE, x, x));
    return twi_lb_bitcast(c, TW_F32, choose(c, exact, u, with(c, TWI_BOR, cut, 1)));
}

/* 64-bit integers to f64, rounded to odd where 53 bits do not hold them: the 11 low bits become one
 * that says whether any of them was set. */
static twi_lid odd_f64(twi_cursor *c, tw_elem from, twi_lid x) {
    twi_lid limit = twi_lb_bits(c, from, UINT64_C(1) << 53, 0);
    twi_lid low = twi_lb_bits(c, from, 0x7ff, 0), zero = twi_lb_bits(c, from, 0, 0);
    twi_lid sticky = choose(c, two(c, TWI_NE, two(c, TWI_BAND, x, low), zero),
                            twi_lb_bits(c, from, 0x800, 0), zero);
    twi_lid cut =
        two(c, TWI_BOR, two(c, TWI_BAND, x, twi_lb_bits(c, from, ~UINT64_C(0x7ff), 0)), sticky);
    twi_lid large = two(c, TWI_GT, x, limit);
    if (from == TW_I64)
        large = two(c, TWI_OR, large,
                    two(c, TWI_LT, x, twi_lb_bits(c, from, 0 - (UINT64_C(1) << 53), 0)));
    return twi_lb_cast(c, TW_F64, choose(c, large, cut, x));
}

static bool narrow(tw_elem elem) { return elem == TW_F16 || elem == TW_BF16; }

twi_lid twi_legal_cast(twi_cursor *c, tw_elem elem, twi_lid x, const twi_caps *caps) {
    tw_elem from = (tw_elem)c->f->ins.at[x].elem;
    if (narrow(from)) {
        x = twi_cast_spoken(caps, from, TW_F32) ? twi_lb_cast(c, TW_F32, x)
            : from == TW_F16                    ? widen_f16(c, x)
                                                : widen_bf16(c, x);
        from = TW_F32;
    }
    if (!narrow(elem))
        return twi_lb_cast(c, elem, x);
    if (from == TW_I64 || from == TW_U64)
        x = odd_f64(c, from, x);
    else if (from != TW_F32 && from != TW_F64)
        x = twi_lb_cast(c, TW_F64, x);
    if (c->f->ins.at[x].elem == TW_F64)
        x = odd_f32(c, x);
    if (twi_cast_spoken(caps, TW_F32, elem))
        return twi_lb_cast(c, elem, x);
    return elem == TW_F16 ? narrow_f16(c, x) : narrow_bf16(c, x);
}
