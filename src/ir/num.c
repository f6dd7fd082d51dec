/* SPDX-License-Identifier: Apache-2.0
 * Untyped constants: exact integers while they fit 64 bits, double-double (about 106 bits)
 * otherwise, rounded once when they meet a type. Numerals are read exactly: the second half of the
 * double-double is the numeral minus its nearest double, by integer arithmetic. Double-double:
 * Dekker 1971, Knuth 4.2.2.
 */
#include "ir/ir.h"

#include <math.h>

#define NUM_DEPTH 400

/* ---- double-double ---- */
typedef struct {
    double hi, lo;
} dd;

static dd two_sum(double a, double b) {
    double s = a + b;
    if (!isfinite(s))
        return (dd){s, 0};
    double v = s - a;
    return (dd){s, (a - (s - v)) + (b - v)};
}

static dd two_product(double a, double b) {
    double p = a * b;
    if (!isfinite(p))
        return (dd){p, 0};
    return (dd){p, fma(a, b, -p)};
}

static dd dd_add(dd a, dd b) {
    dd s = two_sum(a.hi, b.hi), t = two_sum(a.lo, b.lo);
    if (!isfinite(s.hi))
        return s;
    s = two_sum(s.hi, s.lo + t.hi);
    return two_sum(s.hi, s.lo + t.lo);
}

static dd dd_mul(dd a, dd b) {
    dd p = two_product(a.hi, b.hi);
    if (!isfinite(p.hi))
        return p;
    return two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static dd dd_neg(dd a) { return (dd){-a.hi, -a.lo}; }

static dd dd_div(dd a, dd b) {
    dd q = {a.hi / b.hi, 0};
    if (!isfinite(q.hi) || q.hi == 0.0 || isinf(b.hi))
        return q;
    dd r = dd_add(a, dd_neg(dd_mul(b, q)));
    double q2 = r.hi / b.hi;
    r = dd_add(r, dd_neg(dd_mul(b, (dd){q2, 0})));
    q = two_sum(q.hi, q2);
    return dd_add(q, (dd){r.hi / b.hi, 0});
}

static dd dd_int(int64_t k) {
    double hi = (double)k;
    /* what the double lost fits an int64; 2^63 itself is one more than the greatest */
    int64_t back = hi >= 0x1p63 ? INT64_MAX : (int64_t)hi;
    double rest = (double)(k - back) - (hi >= 0x1p63 ? 1.0 : 0.0);
    return two_sum(hi, rest);
}

/* ---- exact reading of decimal numerals ---- */
#define WORDS 192u /* 6144 bits: 400 digits times 10^400, or 2^1074 and a mantissa times 10^700 */
#define DIGITS 400u
typedef struct {
    uint32_t n;
    uint32_t w[WORDS];
} big;

static bool big_mul_add(big *b, uint32_t times, uint32_t plus) {
    uint64_t carry = plus;
    for (uint32_t k = 0; k < b->n; k++) {
        carry += (uint64_t)b->w[k] * times;
        b->w[k] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) {
        if (b->n == WORDS)
            return false;
        b->w[b->n++] = (uint32_t)carry;
    }
    return true;
}

static bool big_scale(big *b, uint32_t base, int64_t power) {
    for (; power > 0; power--)
        if (!big_mul_add(b, base, 0))
            return false;
    return true;
}

static bool big_shift(big *b, int64_t bits) {
    return big_scale(b, 1u << 16, bits / 16) && big_scale(b, 2, bits % 16);
}

static int big_compare(const big *a, const big *b) {
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (uint32_t k = a->n; k-- > 0;)
        if (a->w[k] != b->w[k])
            return a->w[k] < b->w[k] ? -1 : 1;
    return 0;
}

static void big_subtract(big *a, const big *b) /* a >= b */
{
    int64_t borrow = 0;
    for (uint32_t k = 0; k < a->n; k++) {
        int64_t v = (int64_t)a->w[k] - (k < b->n ? (int64_t)b->w[k] : 0) + borrow;
        borrow = v < 0 ? -1 : 0;
        a->w[k] = (uint32_t)(v - borrow * INT64_C(0x100000000));
    }
    while (a->n && a->w[a->n - 1u] == 0)
        a->n--;
}

/* The leading 96 bits as mantissa * 2^exponent. */
static double big_lead(const big *a, int *exponent) {
    double m = 0.0;
    uint32_t used = a->n < 3u ? a->n : 3u;
    for (uint32_t k = 0; k < used; k++)
        m = m * 0x1p32 + a->w[a->n - 1u - k];
    *exponent = 32 * (int)(a->n - used);
    return m;
}

typedef struct {
    big digits;
    int64_t ten; /* value = digits * 10^ten */
    bool integer;
} decimal;

static bool read_decimal(const char *text, size_t n, decimal *d) {
    bool point = false, any = false;
    size_t k = 0;
    uint32_t kept = 0;
    *d = (decimal){.integer = true};
    for (; k < n && ((text[k] >= '0' && text[k] <= '9') || text[k] == '.'); k++) {
        if (text[k] == '.') {
            if (point)
                return false;
            point = true;
            continue;
        }
        any = true;
        if (kept < DIGITS) {
            big_mul_add(&d->digits, 10, (uint32_t)(text[k] - '0'));
            kept += d->digits.n != 0;
            d->ten -= point;
        } else {
            d->ten += !point;
        }
    }
    d->integer = !point;
    if (!any)
        return false;
    if (k == n)
        return true;
    if (text[k] != 'e' && text[k] != 'E')
        return false;
    d->integer = false;
    bool minus = k + 1 < n && text[k + 1] == '-';
    k += 1u + (k + 1 < n && (text[k + 1] == '-' || text[k + 1] == '+'));
    if (k == n)
        return false;
    int64_t e = 0;
    for (; k < n; k++) {
        if (text[k] < '0' || text[k] > '9')
            return false;
        e = e < 100000 ? e * 10 + (text[k] - '0') : e;
    }
    d->ten += minus ? -e : e;
    return true;
}

/* digits * 10^ten - hi, rounded; 0 where it does not matter (hi zero or infinite). */
static double residual(const decimal *d, double hi) {
    if (hi == 0.0 || !isfinite(hi) || d->ten > 400 || d->ten < -1200)
        return 0.0;
    int two;
    double m = frexp(hi, &two);
    uint64_t whole = (uint64_t)ldexp(m, 53);
    two -= 53;
    big a = d->digits, b = {2, {(uint32_t)whole, (uint32_t)(whole >> 32)}}, unit = {1, {1}};
    while (b.n && b.w[b.n - 1u] == 0)
        b.n--;
    int64_t down = d->ten < 0 ? -d->ten : 0, up = d->ten > 0 ? d->ten : 0;
    int64_t half = two < 0 ? -two : 0;
    /* over the common denominator 10^down * 2^half */
    if (!big_scale(&a, 10, up) || !big_shift(&a, half) || !big_scale(&b, 10, down) ||
        !big_shift(&b, two > 0 ? two : 0) || !big_scale(&unit, 10, down))
        return 0.0;
    int order = big_compare(&a, &b), ea, eu;
    if (order == 0)
        return 0.0;
    if (order < 0) {
        big t = a;
        a = b;
        b = t;
    }
    big_subtract(&a, &b);
    double top = big_lead(&a, &ea), bottom = big_lead(&unit, &eu);
    double r = ldexp(top / bottom, ea - eu - (int)half);
    return order < 0 ? -r : r;
}

/* ---- numbers of an IR ---- */
static uint32_t put(tw_ir *ir, twi_num num) {
    if (ir->num.n == 0)
        twi_push(ir->arena, &ir->num, (twi_num){0});
    twi_push(ir->arena, &ir->num, num);
    return ir->num.n - 1u;
}

static twi_num whole_num(int64_t k) {
    dd v = dd_int(k);
    return (twi_num){
        .op = TWI_NUM_VALUE, .integer = true, .hi = v.hi, .lo = v.lo, .whole = k, .depth = 1};
}

uint32_t twi_num_int(tw_ir *ir, int64_t k) { return put(ir, whole_num(k)); }

uint32_t twi_num_decimal(tw_ir *ir, const char *text, size_t n) {
    twi_num num = {.op = TWI_NUM_VALUE, .depth = 1};
    int64_t k;
    if (twi_parse_i64(text, n, &k))
        return twi_num_int(ir, k);
    if (!twi_parse_f64(text, n, &num.hi))
        return 0;
    bool minus = n > 0 && text[0] == '-';
    size_t sign = n > 0 && (text[0] == '-' || text[0] == '+');
    decimal d;
    if (read_decimal(text + sign, n - sign, &d)) {
        double lo = residual(&d, fabs(num.hi));
        num.lo = minus ? -lo : lo;
        /* an integer that int64 cannot hold keeps its digits; it meets no integer type but u64 */
    }
    return put(ir, num);
}

static twi_num combine(twi_num_op op, const twi_num *a, const twi_num *b) {
    static const twi_ix_op whole_op[] = {
        [TWI_NUM_ADD] = TWI_IX_ADD, [TWI_NUM_SUB] = TWI_IX_SUB, [TWI_NUM_MUL] = TWI_IX_MUL};
    if (op != TWI_NUM_DIV && a->integer && b->integer &&
        !twi_ix_overflows(whole_op[op], a->whole, b->whole))
        return whole_num(twi_ix_apply(whole_op[op], a->whole, b->whole));
    dd x = {a->hi, a->lo}, y = {b->hi, b->lo}, r;
    if (op == TWI_NUM_ADD)
        r = dd_add(x, y);
    else if (op == TWI_NUM_SUB)
        r = dd_add(x, dd_neg(y));
    else if (op == TWI_NUM_MUL)
        r = dd_mul(x, y);
    else
        r = dd_div(x, y);
    return (twi_num){.op = TWI_NUM_VALUE, .hi = r.hi, .lo = r.lo, .depth = 1};
}

uint32_t twi_num_make(tw_ir *ir, twi_num_op op, uint32_t a, uint32_t b) {
    if (a == 0 || b == 0)
        return 0;
    const twi_num *x = &ir->num.at[a], *y = &ir->num.at[b];
    if (x->op == TWI_NUM_VALUE && y->op == TWI_NUM_VALUE)
        return put(ir, combine(op, x, y));
    uint16_t deeper = (uint16_t)((x->depth > y->depth ? x->depth : y->depth) + 1);
    if (deeper > NUM_DEPTH)
        return 0;
    return put(ir, (twi_num){.op = (uint8_t)op, .a = a, .b = b, .depth = deeper});
}

bool twi_num_known(const tw_ir *ir, uint32_t num) { return ir->num.at[num].op == TWI_NUM_VALUE; }

typedef struct {
    const int64_t *dim;
} dims_of;

static int64_t dim_value(void *user, const twi_ix_node *node) {
    const dims_of *d = user;
    return node->op == TWI_IX_DIM ? d->dim[node->a] : 0;
}

twi_num twi_num_eval(const tw_ir *ir, uint32_t num, const int64_t *dim) {
    const twi_num *n = &ir->num.at[num];
    if (n->op == TWI_NUM_VALUE)
        return *n;
    if (n->op == TWI_NUM_IX) {
        dims_of user = {dim};
        return whole_num(twi_ix_eval(ir, n->ix, dim_value, &user));
    }
    twi_num a = twi_num_eval(ir, n->a, dim), b = twi_num_eval(ir, n->b, dim);
    return combine((twi_num_op)n->op, &a, &b);
}

/* ---- rounding to a type ---- */
typedef struct {
    int digits, least, bias, bits; /* significant bits, exponent of the least normal, bias, size */
    double most;                   /* largest finite */
} format;
static const format formats[TW_ELEMS] = {
    [TW_F8E4M3] = {4, -6, 7, 8, 448.0},
    [TW_F8E5M2] = {3, -14, 15, 8, 57344.0},
    [TW_BF16] = {8, -126, 127, 16, 0x1.fep127},
    [TW_F16] = {11, -14, 15, 16, 65504.0},
    [TW_F32] = {24, -126, 127, 32, 0x1.fffffep127},
};

/* |hi + lo| to the format, nearest even, as a double; more than the largest finite where it
 * overflows. */
static double round_to(const format *f, double hi, double lo) {
    int e;
    (void)frexp(hi, &e);
    int q = (e - 1 > f->least ? e - 1 : f->least) - (f->digits - 1);
    double y = ldexp(hi, -q), whole = floor(y), rest = y - whole;
    double odd = fmod(whole, 2.0);
    bool up = rest > 0.5 || (rest == 0.5 && (lo > 0.0 || (lo == 0.0 && odd != 0.0)));
    return ldexp(whole + (up ? 1.0 : 0.0), q);
}

static uint64_t float_bits(const twi_num *num, tw_elem elem) {
    union {
        double d;
        uint64_t u;
    } pun = {num->hi};
    if (elem == TW_F64)
        return isnan(num->hi) ? UINT64_C(0x7ff8) << 48 : pun.u;
    const format *f = &formats[elem];
    uint64_t sign = (pun.u >> 63) << (f->bits - 1);
    uint64_t inf = twi_identity_bits(TWI_ID_GREATEST, elem);
    uint64_t quiet = elem == TW_F8E4M3 ? 0x7f : inf | (UINT64_C(1) << (f->digits - 2));
    if (isnan(num->hi))
        return quiet;
    if (num->hi == 0.0)
        return sign;
    if (isinf(num->hi))
        return elem == TW_F8E4M3 ? sign | 0x7f : sign | inf;
    double v = round_to(f, fabs(num->hi), num->hi < 0 ? -num->lo : num->lo);
    if (v > f->most)
        return elem == TW_F8E4M3 ? sign | 0x7f : sign | inf;
    if (v < ldexp(1.0, f->least))
        return sign | (uint64_t)ldexp(v, f->digits - 1 - f->least);
    int e;
    double m = frexp(v, &e); /* m * 2 in [1, 2) */
    uint64_t mantissa = (uint64_t)ldexp(m, f->digits) - (UINT64_C(1) << (f->digits - 1));
    return sign | (uint64_t)(e - 1 + f->bias) << (f->digits - 1) | mantissa;
}

static bool int_bits(const twi_num *num, tw_elem elem, uint64_t *bits) {
    unsigned size = (unsigned)tw_elem_size(elem) * 8u;
    if (!num->integer)
        return false;
    if (twi_is_signed(elem)) {
        int64_t top = size == 64 ? INT64_MAX : (INT64_C(1) << (size - 1u)) - 1;
        if (num->whole > top || num->whole < -top - 1)
            return false;
    } else if (num->whole < 0 || (size < 64 && (uint64_t)num->whole >> size != 0)) {
        return false;
    }
    *bits = (uint64_t)num->whole & (size == 64 ? UINT64_MAX : (UINT64_C(1) << size) - 1u);
    return true;
}

/* Does the format hold the integer exactly? Its odd part must fit the significant bits. */
static bool holds(int64_t k, tw_elem elem) {
    uint64_t v = k < 0 ? 0u - (uint64_t)k : (uint64_t)k;
    int digits = elem == TW_F64 ? 53 : formats[elem].digits;
    if (elem != TW_F64 && (double)v > formats[elem].most)
        return false;
    while (v && (v & 1u) == 0)
        v >>= 1;
    return v < UINT64_C(1) << digits;
}

bool twi_num_bits(const twi_num *num, tw_elem elem, bool nearest, uint64_t *bits) {
    if (elem == TW_BOOL) {
        *bits = (uint64_t)num->whole;
        return num->integer && (num->whole == 0 || num->whole == 1);
    }
    if (twi_is_int(elem))
        return int_bits(num, elem, bits);
    if (!twi_is_float(elem) || (num->integer && !nearest && !holds(num->whole, elem)))
        return false;
    *bits = float_bits(num, elem);
    return true;
}

/* What a finite, infinite or NaN pattern of a narrow format means. */
static double value_of_bits(const format *f, uint64_t bits) {
    uint64_t mantissa = bits & ((UINT64_C(1) << (f->digits - 1)) - 1u);
    int e = (int)(bits >> (f->digits - 1) & ((UINT64_C(1) << (f->bits - f->digits)) - 1u));
    double sign = (bits >> (f->bits - 1) & 1u) ? -1.0 : 1.0;
    if (e == 0)
        return sign * ldexp((double)mantissa, f->least - (f->digits - 1));
    return sign * ldexp((double)(mantissa + (UINT64_C(1) << (f->digits - 1))),
                        e - f->bias - (f->digits - 1));
}

bool twi_narrow_const(const twi_num *num, tw_elem elem, uint64_t *bits) {
    uint64_t narrow;
    if (!twi_num_bits(num, elem, false, &narrow))
        return false;
    twi_num v = {.op = TWI_NUM_VALUE, .hi = num->hi};
    uint64_t size = narrow & ~(UINT64_C(1) << (formats[elem].bits - 1));
    if (isfinite(num->hi) &&
        size <= (elem == TW_F8E4M3 ? 0x7eu : twi_identity_bits(TWI_ID_GREATEST, elem) - 1u))
        v.hi = value_of_bits(&formats[elem], narrow);
    else if (!isnan(num->hi))
        v.hi = elem == TW_F8E4M3 ? (double)NAN : num->hi > 0 ? (double)INFINITY : -(double)INFINITY;
    *bits = float_bits(&v, TW_F32);
    return true;
}
