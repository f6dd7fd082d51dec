/* SPDX-License-Identifier: Apache-2.0
 * Bit patterns of element types: reading, writing, rounding to narrower floats, casts. Rounding is
 * to nearest even; overflow gives infinity; float to int truncates, saturates, and takes NaN to 0.
 */
#include "oracle/det.h"
#include <math.h>

float twi_f32_of(uint64_t bits) {
    uint32_t u = (uint32_t)bits;
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

uint64_t twi_bits_f32(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

double twi_f64_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

uint64_t twi_bits_f64(double x) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static unsigned width(tw_elem elem) { return (unsigned)tw_elem_size(elem) * 8u; }

static uint64_t mask(tw_elem elem) {
    unsigned w = width(elem);
    return w >= 64u ? UINT64_MAX : (UINT64_C(1) << w) - 1u;
}

int64_t twi_int_of(tw_elem elem, uint64_t bits) {
    if (twi_is_signed(elem)) {
        unsigned shift = 64u - width(elem);
        uint64_t top = UINT64_C(1) << 63;
        uint64_t up = bits << shift;
        return (up & top) != 0 ? -(int64_t)(~up >> shift) - 1 : (int64_t)(up >> shift);
    }
    return (int64_t)bits;
}

/* One narrow format: bits of exponent and mantissa. */
typedef struct {
    unsigned mantissa, bias;
    uint32_t inf, nan;
} narrow;
static const narrow formats[TW_ELEMS] = {
    [TW_BF16] = {7, 127, 0x7f80u, 0x7fc0u},
    [TW_F16] = {10, 15, 0x7c00u, 0x7e00u},
};

uint64_t twi_narrow(tw_elem to, uint64_t f32_bits) {
    const narrow *f = &formats[to];
    uint32_t u = (uint32_t)f32_bits;
    if (f->mantissa == 0)
        return u;
    uint32_t sign = (u >> 31) << 15;
    uint32_t a = u & 0x7fffffffu;
    if (a > 0x7f800000u) /* NaN: the payload's upper bits move, and it stays a NaN */
        return sign | f->nan | ((a & 0x007fffffu) >> (23u - f->mantissa));
    if (a == 0x7f800000u)
        return sign | f->inf;
    /* value = m * 2^(e - 150), e at least 1; keep the bits that the format has at this exponent */
    uint32_t e = a >> 23, m = a & 0x007fffffu;
    if (e != 0)
        m |= 0x00800000u;
    else
        e = 1;
    int32_t biased = (int32_t)e - 127 + (int32_t)f->bias;
    unsigned drop = 23u - f->mantissa;
    if (biased < 1) {
        unsigned more = (unsigned)(1 - biased);
        drop = drop + more > 31u ? 31u : drop + more;
        biased = 1;
    }
    uint32_t kept = m >> drop, rest = m & ((UINT32_C(1) << drop) - 1u);
    uint32_t half = UINT32_C(1) << (drop - 1u);
    if (rest > half || (rest == half && (kept & 1u) != 0))
        kept++;
    /* kept has its leading bit, which adds one to the exponent field below it */
    uint32_t out = ((uint32_t)(biased - 1) << f->mantissa) + kept;
    return sign | (out >= f->inf ? f->inf : out);
}

uint64_t twi_widen(tw_elem from, uint64_t bits) {
    const narrow *f = &formats[from];
    if (f->mantissa == 0)
        return bits;
    uint32_t u = (uint32_t)bits;
    uint32_t sign = (u >> 15) << 31, a = u & 0x7fffu;
    uint32_t e = a >> f->mantissa, m = a & ((UINT32_C(1) << f->mantissa) - 1u);
    if (a >= f->inf)
        return sign | 0x7f800000u | (m << (23u - f->mantissa));
    int exponent = (int)(e == 0 ? 1 : e) - (int)f->bias - (int)f->mantissa;
    uint32_t whole = e == 0 ? m : m | (UINT32_C(1) << f->mantissa);
    return sign | twi_bits_f32((float)ldexp((double)whole, exponent));
}

double twi_double_of(tw_elem elem, uint64_t bits) {
    if (elem == TW_F64)
        return twi_f64_of(bits);
    if (twi_is_float(elem))
        return (double)twi_f32_of(twi_widen(elem, bits));
    if (elem == TW_U64)
        return (double)bits;
    return (double)twi_int_of(elem, bits);
}

bool twi_bits_nan(tw_elem elem, uint64_t bits) {
    return twi_is_float(elem) && isnan(twi_double_of(elem, bits));
}

/* Float to int: truncate, saturate at the type's ends, NaN to 0. */
static uint64_t to_int(tw_elem to, double x) {
    if (isnan(x))
        return 0;
    unsigned w = width(to);
    if (twi_is_signed(to)) {
        double end = ldexp(1.0, (int)w - 1);
        if (x >= end)
            return mask(to) >> 1;
        if (x < -end)
            return UINT64_C(1) << (w - 1u);
        return (uint64_t)(int64_t)x & mask(to);
    }
    if (x <= -1.0)
        return 0;
    if (x >= ldexp(1.0, (int)w))
        return mask(to);
    return x < 0.0 ? 0 : (uint64_t)x;
}

uint64_t twi_det_cast(tw_elem from, tw_elem to, uint64_t x) {
    if (from == to)
        return x;
    if (to == TW_BOOL)
        return twi_is_float(from) ? (uint64_t)(twi_double_of(from, x) != 0.0) : (uint64_t)(x != 0);
    if (to == TW_F64)
        return twi_bits_f64(twi_double_of(from, x));
    if (twi_is_float(to)) { /* f32, then narrower: callers round to a narrow type from f32 only */
        float f;
        if (from == TW_F64)
            f = (float)twi_f64_of(x);
        else if (twi_is_float(from))
            f = twi_f32_of(twi_widen(from, x));
        else if (from == TW_U64)
            f = (float)x;
        else
            f = (float)twi_int_of(from, x);
        return twi_narrow(to, twi_bits_f32(f));
    }
    if (twi_is_float(from))
        return to_int(to, twi_double_of(from, x));
    return (uint64_t)twi_int_of(from, x) & mask(to);
}

uint64_t twi_bits_of_double(tw_elem elem, double x) {
    if (elem == TW_F64)
        return twi_bits_f64(x);
    if (twi_is_float(elem))
        return twi_narrow(elem, twi_bits_f32((float)x));
    if (elem == TW_BOOL)
        return x != 0.0;
    return to_int(elem, x);
}

uint64_t twi_load_bits(tw_elem elem, const void *base, size_t k) {
    size_t size = tw_elem_size(elem);
    const unsigned char *p = (const unsigned char *)base + k * size;
    uint8_t a;
    uint16_t b;
    uint32_t c;
    uint64_t d = 0;
    if (size == 1) {
        memcpy(&a, p, 1);
        return elem == TW_BOOL ? (uint64_t)(a != 0) : a;
    }
    if (size == 2) {
        memcpy(&b, p, 2);
        return b;
    }
    if (size == 4) {
        memcpy(&c, p, 4);
        return c;
    }
    memcpy(&d, p, 8);
    return d;
}

void twi_store_bits(tw_elem elem, void *base, size_t k, uint64_t bits) {
    size_t size = tw_elem_size(elem);
    unsigned char *p = (unsigned char *)base + k * size;
    uint8_t a = (uint8_t)bits;
    uint16_t b = (uint16_t)bits;
    uint32_t c = (uint32_t)bits;
    if (size == 1)
        memcpy(p, &a, 1);
    else if (size == 2)
        memcpy(p, &b, 2);
    else if (size == 4)
        memcpy(p, &c, 4);
    else
        memcpy(p, &bits, 8);
}
