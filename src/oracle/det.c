/* SPDX-License-Identifier: Apache-2.0
 * The elementwise operations on determined values. A table gives the function by operation and
 * class of type. Only sqrt, the fma of f64 and that of the portable functions come from the C
 * library: basic operations of IEEE 754.
 */
#include "oracle/det.h"
#include "oracle/portable.h"
#include <float.h>
#include <math.h>

#if FLT_EVAL_METHOD != 0
#error "determined values need float arithmetic in float"
#endif

/* a*b + c with one rounding: the product is exact in double; the sum is rounded to odd, so that the
 * second rounding, to float, sees all there is to see. */
float twi_f32_fma(float a, float b, float c) {
    double p = (double)a * (double)b;
    double s = p + (double)c;
    if (isnan(s) || isinf(s))
        return (float)s;
    double t = s - p;
    double rest = (p - (s - t)) + ((double)c - t);
    uint64_t u = twi_bits_f64(s);
    if (rest != 0.0 && (u & 1u) == 0) {
        bool away = (rest > 0.0) == (s > 0.0);
        u = away ? u + 1u : u - 1u;
        s = twi_f64_of(u);
    }
    return (float)s;
}

/* ---- floats ---- */

static uint64_t add_f32(const twi_det *d, const uint64_t *x) {
    float a = twi_f32_of(x[0]), b = twi_f32_of(x[1]);
    (void)d;
    return twi_bits_f32(a + b);
}

static uint64_t add_f64(const twi_det *d, const uint64_t *x) {
    double a = twi_f64_of(x[0]), b = twi_f64_of(x[1]);
    (void)d;
    return twi_bits_f64(a + b);
}

static uint64_t sub_f32(const twi_det *d, const uint64_t *x) {
    float a = twi_f32_of(x[0]), b = twi_f32_of(x[1]);
    (void)d;
    return twi_bits_f32(a - b);
}

static uint64_t sub_f64(const twi_det *d, const uint64_t *x) {
    double a = twi_f64_of(x[0]), b = twi_f64_of(x[1]);
    (void)d;
    return twi_bits_f64(a - b);
}

static uint64_t mul_f32(const twi_det *d, const uint64_t *x) {
    float a = twi_f32_of(x[0]), b = twi_f32_of(x[1]);
    (void)d;
    return twi_bits_f32(a * b);
}

static uint64_t mul_f64(const twi_det *d, const uint64_t *x) {
    double a = twi_f64_of(x[0]), b = twi_f64_of(x[1]);
    (void)d;
    return twi_bits_f64(a * b);
}

static uint64_t div_f32(const twi_det *d, const uint64_t *x) {
    float a = twi_f32_of(x[0]), b = twi_f32_of(x[1]);
    (void)d;
    return twi_bits_f32(a / b);
}

static uint64_t div_f64(const twi_det *d, const uint64_t *x) {
    double a = twi_f64_of(x[0]), b = twi_f64_of(x[1]);
    (void)d;
    return twi_bits_f64(a / b);
}

static uint64_t sqr_f32(const twi_det *d, const uint64_t *x) {
    float a = twi_f32_of(x[0]);
    (void)d;
    return twi_bits_f32((float)sqrt((double)a));
}

static uint64_t sqr_f64(const twi_det *d, const uint64_t *x) {
    double a = twi_f64_of(x[0]);
    (void)d;
    return twi_bits_f64(sqrt(a));
}

static uint64_t pexp_f32(const twi_det *d, const uint64_t *x) {
    float a = twi_f32_of(x[0]);
    (void)d;
    return twi_bits_f32(twi_portable_exp(a));
}

static uint64_t plog_f32(const twi_det *d, const uint64_t *x) {
    float a = twi_f32_of(x[0]);
    (void)d;
    return twi_bits_f32(twi_portable_log(a));
}

static uint64_t ptanh_f32(const twi_det *d, const uint64_t *x) {
    float a = twi_f32_of(x[0]);
    (void)d;
    return twi_bits_f32(twi_portable_tanh(a));
}

static uint64_t perf_f32(const twi_det *d, const uint64_t *x) {
    float a = twi_f32_of(x[0]);
    (void)d;
    return twi_bits_f32(twi_portable_erf(a));
}

static uint64_t fma_f32(const twi_det *d, const uint64_t *x) {
    (void)d;
    return twi_bits_f32(twi_f32_fma(twi_f32_of(x[0]), twi_f32_of(x[1]), twi_f32_of(x[2])));
}

static uint64_t fma_f64(const twi_det *d, const uint64_t *x) {
    (void)d;
    return twi_bits_f64(fma(twi_f64_of(x[0]), twi_f64_of(x[1]), twi_f64_of(x[2])));
}

static uint64_t sign_bit(const twi_det *d) {
    return UINT64_C(1) << (tw_elem_size((tw_elem)d->from) * 8u - 1u);
}

static uint64_t neg_float(const twi_det *d, const uint64_t *x) { return x[0] ^ sign_bit(d); }

static uint64_t abs_float(const twi_det *d, const uint64_t *x) { return x[0] & ~sign_bit(d); }

/* NaN wins whatever its place; -0 < +0. */
static uint64_t max_float(const twi_det *d, const uint64_t *x) {
    double a = twi_double_of((tw_elem)d->from, x[0]), b = twi_double_of((tw_elem)d->from, x[1]);
    if (isnan(a))
        return x[0];
    if (isnan(b))
        return x[1];
    if (a == b)
        return x[0] & x[1];
    return a > b ? x[0] : x[1];
}

static uint64_t min_float(const twi_det *d, const uint64_t *x) {
    double a = twi_double_of((tw_elem)d->from, x[0]), b = twi_double_of((tw_elem)d->from, x[1]);
    if (isnan(a))
        return x[0];
    if (isnan(b))
        return x[1];
    if (a == b)
        return x[0] | x[1];
    return a < b ? x[0] : x[1];
}

/* ---- ints: computed in 64 bits, cut to the width ---- */

static uint64_t cut(const twi_det *d, uint64_t x) {
    unsigned bits = (unsigned)tw_elem_size((tw_elem)d->to) * 8u;
    return bits >= 64u ? x : x & ((UINT64_C(1) << bits) - 1u);
}

static bool less(const twi_det *d, uint64_t a, uint64_t b) {
    tw_elem e = (tw_elem)d->from;
    return twi_is_signed(e) ? twi_int_of(e, a) < twi_int_of(e, b) : a < b;
}

static uint64_t add_int(const twi_det *d, const uint64_t *x) { return cut(d, x[0] + x[1]); }

static uint64_t sub_int(const twi_det *d, const uint64_t *x) { return cut(d, x[0] - x[1]); }

static uint64_t mul_int(const twi_det *d, const uint64_t *x) { return cut(d, x[0] * x[1]); }

static uint64_t neg_int(const twi_det *d, const uint64_t *x) { return cut(d, 0u - x[0]); }

static uint64_t abs_int(const twi_det *d, const uint64_t *x) {
    return less(d, x[0], 0) ? cut(d, 0u - x[0]) : x[0];
}

static uint64_t max_int(const twi_det *d, const uint64_t *x) {
    return less(d, x[0], x[1]) ? x[1] : x[0];
}

static uint64_t min_int(const twi_det *d, const uint64_t *x) {
    return less(d, x[1], x[0]) ? x[1] : x[0];
}

/* Magnitudes in 64 bits: floor is truncation, one less where signs differ and something is left. */
static uint64_t magnitude(const twi_det *d, uint64_t x) {
    int64_t v = twi_int_of((tw_elem)d->from, x);
    return twi_is_signed((tw_elem)d->from) && v < 0 ? 0u - (uint64_t)v : (uint64_t)v;
}

static uint64_t idiv(const twi_det *d, const uint64_t *x) {
    uint64_t a = magnitude(d, x[0]), b = magnitude(d, x[1]);
    bool differ = less(d, x[0], 0) != less(d, x[1], 0);
    if (b == 0)
        return 0;
    uint64_t q = a / b;
    if (!differ)
        return cut(d, q);
    return cut(d, 0u - (q + (a % b != 0 ? 1u : 0u)));
}

static uint64_t imod(const twi_det *d, const uint64_t *x) {
    if (x[1] == 0)
        return x[0];
    return cut(d, x[0] - x[1] * idiv(d, x));
}

static uint64_t band(const twi_det *d, const uint64_t *x) {
    (void)d;
    return x[0] & x[1];
}

static uint64_t bor(const twi_det *d, const uint64_t *x) {
    (void)d;
    return x[0] | x[1];
}

static uint64_t bxor(const twi_det *d, const uint64_t *x) {
    (void)d;
    return x[0] ^ x[1];
}

static uint64_t bnot(const twi_det *d, const uint64_t *x) { return cut(d, ~x[0]); }

static unsigned count_of(const twi_det *d, uint64_t x) {
    return (unsigned)(x & (tw_elem_size((tw_elem)d->from) * 8u - 1u));
}

static uint64_t shl(const twi_det *d, const uint64_t *x) {
    return cut(d, x[0] << count_of(d, x[1]));
}

static uint64_t shr(const twi_det *d, const uint64_t *x) {
    unsigned n = count_of(d, x[1]);
    if (!less(d, x[0], 0))
        return x[0] >> n;
    uint64_t wide = (uint64_t)twi_int_of((tw_elem)d->from, x[0]);
    return cut(d, ~(~wide >> n));
}

/* ---- bools, comparisons, moves ---- */

static uint64_t not_bool(const twi_det *d, const uint64_t *x) {
    (void)d;
    return x[0] ^ 1u;
}

/* -1 less, 0 equal, 1 greater, 2 unordered */
static int order_of(const twi_det *d, const uint64_t *x) {
    if (!twi_is_float((tw_elem)d->from))
        return less(d, x[0], x[1]) ? -1 : less(d, x[1], x[0]) ? 1 : 0;
    double a = twi_double_of((tw_elem)d->from, x[0]), b = twi_double_of((tw_elem)d->from, x[1]);
    return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2;
}

static uint64_t compare(const twi_det *d, const uint64_t *x) {
    static const uint8_t truth[TWI_ELEMENTWISE_END][4] = {
        /* less, equal, greater, unordered */
        [TWI_EQ] = {0, 1, 0, 0}, [TWI_NE] = {1, 0, 1, 1}, [TWI_LT] = {1, 0, 0, 0},
        [TWI_LE] = {1, 1, 0, 0}, [TWI_GT] = {0, 0, 1, 0}, [TWI_GE] = {0, 1, 1, 0}};
    return truth[d->op][order_of(d, x) + 1];
}

static uint64_t choose(const twi_det *d, const uint64_t *x) {
    (void)d;
    return x[0] != 0 ? x[1] : x[2];
}

static uint64_t cast(const twi_det *d, const uint64_t *x) {
    return twi_det_cast((tw_elem)d->from, (tw_elem)d->to, x[0]);
}

static uint64_t same_bits(const twi_det *d, const uint64_t *x) {
    (void)d;
    return x[0];
}

/* ---- table ---- */

typedef uint64_t (*det_fn)(const twi_det *d, const uint64_t *x);
typedef struct {
    det_fn f32, f64, ints, bools;
} row;
static const row rows[TWI_ELEMENTWISE_END] = {
    [TWI_ADD] = {add_f32, add_f64, add_int, NULL},
    [TWI_SUB] = {sub_f32, sub_f64, sub_int, NULL},
    [TWI_MUL] = {mul_f32, mul_f64, mul_int, NULL},
    [TWI_DIV] = {div_f32, div_f64, NULL, NULL},
    [TWI_IDIV] = {NULL, NULL, idiv, NULL},
    [TWI_IMOD] = {NULL, NULL, imod, NULL},
    [TWI_NEG] = {neg_float, neg_float, neg_int, NULL},
    [TWI_ABS] = {abs_float, abs_float, abs_int, NULL},
    [TWI_MIN] = {min_float, min_float, min_int, band},
    [TWI_MAX] = {max_float, max_float, max_int, bor},
    [TWI_FMA] = {fma_f32, fma_f64, NULL, NULL},
    [TWI_SQRT] = {sqr_f32, sqr_f64, NULL, NULL},
    [TWI_EXP] = {pexp_f32, NULL, NULL, NULL},
    [TWI_LOG] = {plog_f32, NULL, NULL, NULL},
    [TWI_TANH] = {ptanh_f32, NULL, NULL, NULL},
    [TWI_ERF] = {perf_f32, NULL, NULL, NULL},
    [TWI_EQ] = {compare, compare, compare, compare},
    [TWI_NE] = {compare, compare, compare, compare},
    [TWI_LT] = {compare, compare, compare, compare},
    [TWI_LE] = {compare, compare, compare, compare},
    [TWI_GT] = {compare, compare, compare, compare},
    [TWI_GE] = {compare, compare, compare, compare},
    [TWI_AND] = {NULL, NULL, NULL, band},
    [TWI_OR] = {NULL, NULL, NULL, bor},
    [TWI_NOT] = {NULL, NULL, NULL, not_bool},
    [TWI_BAND] = {NULL, NULL, band, NULL},
    [TWI_BOR] = {NULL, NULL, bor, NULL},
    [TWI_BXOR] = {NULL, NULL, bxor, NULL},
    [TWI_BNOT] = {NULL, NULL, bnot, NULL},
    [TWI_SHL] = {NULL, NULL, shl, NULL},
    [TWI_SHR] = {NULL, NULL, shr, NULL},
    [TWI_SELECT] = {choose, choose, choose, choose},
    [TWI_CAST] = {cast, cast, cast, cast},
    [TWI_BITCAST] = {same_bits, same_bits, same_bits, same_bits},
};

twi_det twi_det_of(unsigned op, tw_elem from, tw_elem to) {
    twi_det d = {NULL, (uint8_t)op, (uint8_t)from, (uint8_t)to};
    if (op >= TWI_ELEMENTWISE_END)
        return d;
    const row *r = &rows[op];
    d.fn = from == TW_F32 ? r->f32 : from == TW_F64 ? r->f64 : from == TW_BOOL ? r->bools : r->ints;
    return d;
}
