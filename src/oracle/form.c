/* SPDX-License-Identifier: Apache-2.0
 * Arithmetic on bounded values: intervals outward, error forms to first order with a remainder that
 * bounds the rest, one rounding a operation. Reference values are FP64; their own error is far
 * inside the rounding term of f32 (2^-53 against 2^-24) and counted twice over for f64.
 */
#include "oracle/form.h"
#include <float.h>
#include <math.h>

twi_rounding twi_rounding_of(tw_elem elem) {
    static const twi_rounding table[TW_ELEMS] = {
        [TW_F32] = {0x1.00001p-24, 0x1p-150, FLT_MAX},
        [TW_F64] = {0x1.00001p-52, 0x1p-1073, DBL_MAX},
        [TW_F16] = {0x1.00001p-11, 0x1p-25, 65504.0},
        [TW_BF16] = {0x1.00001p-8, 0x1p-134, 0x1.fep127},
    };
    return table[elem];
}

twi_form twi_form_exact(tw_elem elem, uint64_t bits) {
    double v = twi_double_of(elem, bits);
    return (twi_form){.v = v, .lo = v, .hi = v, .bits = bits, .kind = TWI_EXACT};
}

twi_form twi_form_any(uint8_t flags) {
    return (twi_form){.v = 0.0,
                      .lo = -INFINITY,
                      .hi = INFINITY,
                      .r = INFINITY,
                      .kind = TWI_ANYTHING,
                      .flags = flags};
}

double twi_form_spread(const twi_form *x) {
    double s = 0.0;
    for (uint32_t k = 0; k < x->n; k++)
        s += fabs(x->part[k].c);
    return s;
}

bool twi_form_linear(const twi_form *x) {
    return x->kind == TWI_EXACT ||
           (x->kind == TWI_RANGE && x->r < INFINITY && (x->flags & TWI_SET) == 0);
}

double twi_form_radius(const twi_form *x) {
    if (x->kind == TWI_EXACT)
        return 0.0;
    double wide = fmax(twi_up(x->hi - x->v), twi_up(x->v - x->lo));
    if (!twi_form_linear(x))
        return wide;
    double e = (x->r + twi_form_spread(x)) * 0x1.0000000001p+0;
    return e < wide ? e : wide;
}

/* Puts parts beyond TWI_SYMBOLS, the smallest first, into *r. Returns how many stay. */
static uint32_t shed(twi_part *part, uint32_t n, uint32_t keep, double *r) {
    while (n > keep) {
        uint32_t least = 0;
        for (uint32_t k = 1; k < n; k++)
            if (fabs(part[k].c) < fabs(part[least].c))
                least = k;
        *r += fabs(part[least].c);
        for (uint32_t k = least + 1; k < n; k++)
            part[k - 1] = part[k];
        n--;
    }
    return n;
}

void twi_form_combine(const twi_form *a, double ka, const twi_form *b, double kb, twi_form *out,
                      twi_part *room) {
    uint32_t i = 0, j = 0, n = 0;
    uint32_t na = a->kind == TWI_RANGE ? a->n : 0, nb = b->kind == TWI_RANGE ? b->n : 0;
    out->r = fabs(ka) * (a->kind == TWI_EXACT ? 0.0 : a->r) +
             fabs(kb) * (b->kind == TWI_EXACT ? 0.0 : b->r);
    while (i < na || j < nb) {
        twi_part p;
        if (j >= nb || (i < na && a->part[i].symbol < b->part[j].symbol)) {
            p = (twi_part){a->part[i].symbol, ka * a->part[i].c};
            i++;
        } else if (i >= na || b->part[j].symbol < a->part[i].symbol) {
            p = (twi_part){b->part[j].symbol, kb * b->part[j].c};
            j++;
        } else {
            p = (twi_part){a->part[i].symbol, ka * a->part[i].c + kb * b->part[j].c};
            i++, j++;
        }
        if (p.c != 0.0)
            room[n++] = p;
    }
    out->n = shed(room, n, TWI_SYMBOLS, &out->r);
    out->part = room;
}

void twi_form_name(twi_form *x, uint32_t symbol, twi_part *room) {
    if (x->kind != TWI_RANGE || !twi_form_linear(x) || x->r == 0.0)
        return;
    if (x->part != room)
        for (uint32_t k = 0; k < x->n; k++)
            room[k] = x->part[k];
    x->n = shed(room, x->n, TWI_SYMBOLS - 1, &x->r);
    room[x->n++] = (twi_part){symbol, x->r};
    x->r = 0.0;
    x->part = room;
}

/* The nearest values of the type below and above: what a machine can hold inside [lo, hi]. */
static double cut_up(tw_elem elem, double x) {
    if (elem != TW_F32)
        return x;
    float f = (float)x;
    return (double)f < x ? (double)nextafterf(f, INFINITY) : (double)f;
}

static double cut_down(tw_elem elem, double x) {
    if (elem != TW_F32)
        return x;
    float f = (float)x;
    return (double)f > x ? (double)nextafterf(f, -INFINITY) : (double)f;
}

static double nearest(tw_elem elem, double x) { return elem == TW_F32 ? (double)(float)x : x; }

/* out->lo, hi hold values of the type; closes the form. */
static void settle(tw_elem elem, twi_form *out) {
    if (isnan(out->lo) || isnan(out->hi)) {
        *out = twi_form_any(out->flags);
        return;
    }
    out->kind = TWI_RANGE;
    if (!(out->r < INFINITY) || isinf(out->lo) || isinf(out->hi)) {
        out->r = INFINITY;
        out->n = 0;
    } else {
        double e = (out->r + twi_form_spread(out)) * 0x1.0000000001p+0;
        if (e < INFINITY) {
            double lo = cut_up(elem, twi_down(out->v - e)), hi = cut_down(elem, twi_up(out->v + e));
            out->lo = lo > out->lo ? lo : out->lo;
            out->hi = hi < out->hi ? hi : out->hi;
        }
    }
    if (out->lo > out->hi) { /* cannot be, up to the slack of FP64: keep both ends */
        double swap = out->lo;
        out->lo = out->hi;
        out->hi = swap;
    }
    if (out->lo == out->hi) { /* one value is left */
        uint8_t flags = out->flags;
        *out = twi_form_exact(elem, twi_bits_of_double(elem, out->lo));
        out->flags = (uint8_t)(flags | (out->v == 0.0 ? TWI_EITHER_ZERO : 0));
        return;
    }
    if (!(fabs(out->v) < INFINITY)) {
        double most = twi_rounding_of(elem).most;
        out->v = fmin(fmax(0.0, fmax(out->lo, -most)), fmin(out->hi, most));
        out->r = INFINITY;
        out->n = 0;
    }
}

void twi_form_round(tw_elem elem, bool eta, twi_form *out) {
    twi_rounding q = twi_rounding_of(elem);
    double e = out->r + twi_form_spread(out);
    out->r += q.u * (fabs(out->v) + e) + (eta ? q.eta : 0.0);
    twi_form_close(elem, out);
}

void twi_form_close(tw_elem elem, twi_form *out) {
    bool f32 = elem == TW_F32;
    out->lo = nearest(elem, f32 ? twi_down(out->lo) : out->lo);
    out->hi = nearest(elem, f32 ? twi_up(out->hi) : out->hi);
    settle(elem, out);
}

void twi_form_narrow(tw_elem to, const twi_form *x, twi_form *out) {
    *out = *x;
    if (x->kind == TWI_EXACT) {
        *out = twi_form_exact(TW_F32, twi_widen(to, twi_narrow(to, x->bits)));
        out->flags = x->flags;
        return;
    }
    if (x->kind == TWI_ANYTHING || to == TW_F32)
        return;
    twi_rounding q = twi_rounding_of(to);
    out->r += q.u * (fabs(x->v) + x->r + twi_form_spread(x)) + q.eta;
    out->lo = twi_double_of(to, twi_narrow(to, twi_bits_f32((float)x->lo)));
    out->hi = twi_double_of(to, twi_narrow(to, twi_bits_f32((float)x->hi)));
    settle(TW_F32, out);
}

void twi_form_hull(tw_elem elem, const twi_form *a, const twi_form *b, twi_form *out) {
    uint8_t flags = (uint8_t)(((a->flags | b->flags) & ~TWI_SET) | TWI_UNDECIDED);
    if (a->kind == TWI_EXACT && b->kind == TWI_EXACT &&
        (a->bits == b->bits || (twi_bits_nan(elem, a->bits) && twi_bits_nan(elem, b->bits)))) {
        *out = *a;
        return;
    }
    if (a->kind == TWI_ANYTHING || b->kind == TWI_ANYTHING || isnan(a->v) || isnan(b->v)) {
        *out = twi_form_any(flags);
        return;
    }
    twi_form h = {.v = a->v, .lo = fmin(a->lo, b->lo), .hi = fmax(a->hi, b->hi), .flags = flags};
    h.kind = TWI_RANGE;
    h.r = INFINITY;
    if (!(fabs(h.v) < INFINITY))
        h.v = fabs(b->v) < INFINITY ? b->v : 0.0;
    *out = h;
}

/* ---- + - * / fma min max neg abs of forms that are not all exact ---- */

static void sum_of(const twi_form *a, const twi_form *b, double sign, twi_form *out,
                   twi_part *room) {
    double blo = sign > 0 ? b->lo : -b->hi, bhi = sign > 0 ? b->hi : -b->lo;
    twi_form_combine(a, 1.0, b, sign, out, room);
    out->v = a->v + sign * b->v;
    out->lo = a->lo + blo;
    out->hi = a->hi + bhi;
    if (isnan(a->lo + bhi) || isnan(a->hi + blo)) /* inf may meet -inf */
        out->lo = NAN;
}

static double least4(const double *p) { return fmin(fmin(p[0], p[1]), fmin(p[2], p[3])); }

static double most4(const double *p) { return fmax(fmax(p[0], p[1]), fmax(p[2], p[3])); }

static bool holds_zero(const twi_form *x) { return x->lo <= 0.0 && x->hi >= 0.0; }

static bool may_inf(const twi_form *x) { return isinf(x->lo) || isinf(x->hi); }

void twi_form_product(const twi_form *a, const twi_form *b, bool same, twi_form *out,
                      twi_part *room) {
    double p[4] = {a->lo * b->lo, a->lo * b->hi, a->hi * b->lo, a->hi * b->hi};
    double ea = twi_form_radius(a), eb = twi_form_radius(b);
    twi_form_combine(a, b->v, b, a->v, out, room);
    out->v = a->v * b->v;
    out->r += ea * eb;
    out->lo = least4(p);
    out->hi = most4(p);
    if (same) {
        double most = fmax(fabs(a->lo), fabs(a->hi));
        double least = holds_zero(a) ? 0.0 : fmin(fabs(a->lo), fabs(a->hi));
        out->lo = least * least;
        out->hi = most * most;
    } else if ((holds_zero(a) && may_inf(b)) || (holds_zero(b) && may_inf(a))) {
        out->lo = NAN;
    }
}

static void quotient_of(const twi_form *a, const twi_form *b, twi_form *out, twi_part *room) {
    if (holds_zero(b) || (may_inf(a) && may_inf(b))) {
        out->lo = out->hi = NAN;
        return;
    }
    double p[4] = {a->lo / b->lo, a->lo / b->hi, a->hi / b->lo, a->hi / b->hi};
    double q = a->v / b->v, eb = twi_form_radius(b), least = fmin(fabs(b->lo), fabs(b->hi));
    twi_form_combine(a, 1.0 / b->v, b, -q / b->v, out, room);
    double linear = out->r + twi_form_spread(out);
    out->v = q;
    out->r += linear * eb / least; /* 1/(b + d) = (1 - d/(b + d)) / b */
    out->lo = least4(p);
    out->hi = most4(p);
}

static void larger_of(const twi_form *x, bool max, twi_form *out) {
    const twi_form *a = &x[0], *b = &x[1];
    if (max ? a->lo >= b->hi : a->hi <= b->lo) {
        *out = *a;
        return;
    }
    if (max ? b->lo >= a->hi : b->hi <= a->lo) {
        *out = *b;
        return;
    }
    double e = fmax(twi_form_linear(a) ? twi_form_radius(a) : INFINITY,
                    twi_form_linear(b) ? twi_form_radius(b) : INFINITY);
    *out = (twi_form){.kind = TWI_RANGE, .r = e, .flags = (uint8_t)(a->flags | b->flags)};
    out->v = max ? fmax(a->v, b->v) : fmin(a->v, b->v);
    out->lo = max ? fmax(a->lo, b->lo) : fmin(a->lo, b->lo);
    out->hi = max ? fmax(a->hi, b->hi) : fmin(a->hi, b->hi);
}

static void turn(const twi_form *x, twi_form *out, twi_part *room) {
    twi_form_combine(x, -1.0, x, 0.0, out, room);
    out->r = x->r;
    out->v = -x->v;
    out->lo = -x->hi;
    out->hi = -x->lo;
}

static void arithmetic(const twi_form_op *f, const twi_form *x, twi_form *out, twi_part *room) {
    tw_elem elem = (tw_elem)f->det.to;
    twi_form part = {0};
    twi_part more[TWI_ROOM];
    out->kind = TWI_RANGE;
    switch (f->det.op) {
    case TWI_ADD:
    case TWI_SUB:
        sum_of(&x[0], &x[1], f->det.op == TWI_ADD ? 1.0 : -1.0, out, room);
        twi_form_round(elem, false, out);
        return;
    case TWI_MUL:
        twi_form_product(&x[0], &x[1], f->same, out, room);
        twi_form_round(elem, true, out);
        return;
    case TWI_DIV:
        quotient_of(&x[0], &x[1], out, room);
        twi_form_round(elem, true, out);
        return;
    case TWI_FMA:
        part.kind = TWI_RANGE;
        twi_form_product(&x[0], &x[1], f->same, &part, more);
        part.lo = twi_down(part.lo); /* the product's ends were rounded in FP64 */
        part.hi = twi_up(part.hi);
        part.r += fabs(part.v) * 0x1p-52;
        sum_of(&part, &x[2], 1.0, out, room);
        twi_form_round(elem, true, out);
        return;
    case TWI_MAX:
    case TWI_MIN:
        larger_of(x, f->det.op == TWI_MAX, out);
        return;
    case TWI_NEG:
        turn(x, out, room);
        return;
    default: /* ABS */
        if (x->lo >= 0.0) {
            *out = *x;
        } else if (x->hi <= 0.0) {
            turn(x, out, room);
        } else {
            out->r = twi_form_linear(x) ? twi_form_radius(x) : INFINITY;
            out->v = fabs(x->v);
            out->lo = 0.0;
            out->hi = fmax(-x->lo, x->hi);
        }
    }
}

static bool is_function(unsigned op) {
    return op == TWI_EXP || op == TWI_LOG || op == TWI_TANH || op == TWI_ERF;
}

/* The operation itself; but a zero of unknown sign stays one, and divides nothing. */
static void all_exact(const twi_form_op *f, const twi_form *x, unsigned arity, uint8_t flags,
                      twi_form *out) {
    uint64_t bits[3] = {0, 0, 0};
    bool either = false;
    for (unsigned k = 0; k < arity; k++) {
        bits[k] = x[k].bits;
        either = either || (x[k].flags & TWI_EITHER_ZERO) != 0;
    }
    *out = twi_form_exact((tw_elem)f->det.to, twi_det_do(&f->det, bits));
    out->flags = (uint8_t)(flags | (either && out->v == 0.0 ? TWI_EITHER_ZERO : 0));
    if (f->det.op == TWI_DIV && (x[1].flags & TWI_EITHER_ZERO) != 0 && !isnan(out->v))
        *out = twi_form_any(flags);
}

void twi_form_do(const twi_form_op *f, const twi_form *x, twi_form *out, twi_part *room) {
    unsigned arity = twi_op_row(f->det.op)->arity;
    bool exact = true, any = false, nan = false;
    uint8_t flags = 0;
    for (unsigned k = 0; k < arity; k++) {
        exact = exact && x[k].kind == TWI_EXACT;
        any = any || x[k].kind == TWI_ANYTHING;
        nan = nan || (x[k].kind == TWI_EXACT && isnan(x[k].v));
        flags |= x[k].flags & TWI_UNDECIDED;
    }
    *out = (twi_form){.kind = TWI_RANGE, .flags = flags};
    if (exact && !(f->native && is_function(f->det.op))) {
        all_exact(f, x, arity, flags, out);
        return;
    }
    if (twi_form_discrete(f, x, out, room))
        return;
    if (nan) {
        *out = twi_form_exact((tw_elem)f->det.to, twi_bits_of_double((tw_elem)f->det.to, NAN));
        out->flags = flags;
        return;
    }
    if (any) {
        *out = twi_form_any(flags);
        return;
    }
    if (is_function(f->det.op) || f->det.op == TWI_SQRT)
        twi_form_function(f, x, out, room);
    else
        arithmetic(f, x, out, room);
    if (out->kind != TWI_EXACT)
        out->flags |= flags;
}
