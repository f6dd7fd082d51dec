/* SPDX-License-Identifier: Apache-2.0
 * sqrt, exp, log, tanh, erf of bounded values: the slope times the error form, a remainder for the
 * curvature, the function's own stated error (portable.h; native: 8 units of 2^-24).
 */
#include "oracle/form.h"
#include "oracle/portable.h"
#include <math.h>

#define NATIVE_PHI 8.0

typedef struct {
    double phi, eta, least, most; /* relative error; half-open errors; range of the function */
} stated;

static stated stated_of(const twi_form_op *f) {
    static const stated table[TWI_ELEMENTWISE_END] = {
        [TWI_EXP] = {TWI_EXP_PHI, 0x1p-149, 0.0, INFINITY},
        [TWI_LOG] = {TWI_LOG_PHI, 0x1p-149, -INFINITY, INFINITY},
        [TWI_TANH] = {TWI_TANH_PHI, 0x1p-149, -1.0, 1.0},
        [TWI_ERF] = {TWI_ERF_PHI, 0x1p-149, -1.0, 1.0},
    };
    stated s = table[f->det.op];
    if (f->native)
        s.phi = NATIVE_PHI;
    s.phi *= 0x1.00001p-24; /* the reference's own error is inside */
    return s;
}

static double value(unsigned op, double x) {
    return op == TWI_EXP ? exp(x) : op == TWI_LOG ? log(x) : op == TWI_TANH ? tanh(x) : erf(x);
}

/* Slope at v, and a bound of |f(v + d) - f(v) - slope * d| for |d| <= e (at least as wide as
 * needed). */
static double slope(unsigned op, double v, double e, double *rest) {
    double s, y;
    switch (op) {
    case TWI_EXP:
        s = exp(v);
        *rest = e < 1e-3 ? s * e * e * 0.501 : e < 700.0 ? s * (expm1(e) - e) : INFINITY;
        return s;
    case TWI_LOG:
        s = 1.0 / v;
        y = e * s; /* -log(1 - y) - y */
        *rest = y < 1e-3 ? y * y * 0.501 : y < 1.0 ? -log1p(-y) - y : INFINITY;
        return s;
    case TWI_TANH:
        y = tanh(v);
        *rest = 0.5 * 0.77 * e * e;
        return 1.0 - y * y;
    default:
        *rest = 0.5 * 0.969 * e * e;
        return 0x1.20dd750429b6dp+0 * exp(-v * v);
    }
}

static void root(const twi_form_op *f, const twi_form *x, twi_form *out, twi_part *room) {
    tw_elem elem = (tw_elem)f->det.to;
    if (x->hi < 0.0) {
        *out = twi_form_exact(elem, twi_bits_of_double(elem, NAN));
        return;
    }
    if (x->lo < 0.0) { /* it may be NaN */
        *out = twi_form_any(out->flags);
        return;
    }
    double v = x->v < x->lo ? x->lo : x->v, e = twi_form_radius(x) + (v - x->v);
    double s = sqrt(v);
    out->v = s;
    if (x->lo > 0.0 && v > e) {
        double k = 0.5 / s, lo = v - e, hi = v + e;
        twi_form_combine(x, k, x, 0.0, out, room);
        out->r = k * (x->r + (v - x->v)) + fabs(sqrt(lo) - (s - k * e)) +
                 fabs(sqrt(hi) - (s + k * e)) + s * 0x1p-50;
    } else {
        out->r = fmax(sqrt(x->hi) - s, s - sqrt(x->lo)) * 0x1.0000000001p+0;
    }
    out->lo = sqrt(x->lo);
    out->hi = sqrt(x->hi);
    twi_form_round(elem, false, out);
}

/* Ends of the function's machine values over [lo, hi]: monotone up to its stated error. */
static void ends(const twi_form_op *f, const twi_form *x, stated s, twi_form *out) {
    double lo = value(f->det.op, x->lo), hi = value(f->det.op, x->hi);
    lo = lo - (isinf(lo) ? 0.0 : fabs(lo) * s.phi + s.eta);
    hi = hi + (isinf(hi) ? 0.0 : fabs(hi) * s.phi + s.eta);
    out->lo = lo < s.least ? s.least : lo;
    out->hi = hi > s.most ? s.most : hi;
}

void twi_form_function(const twi_form_op *f, const twi_form *x, twi_form *out, twi_part *room) {
    tw_elem elem = (tw_elem)f->det.to;
    unsigned op = f->det.op;
    if (op == TWI_SQRT) {
        root(f, x, out, room);
        return;
    }
    if (op == TWI_LOG && x->hi < 0.0) {
        *out = twi_form_exact(elem, twi_bits_of_double(elem, NAN));
        return;
    }
    if (op == TWI_LOG && x->lo < 0.0) {
        *out = twi_form_any(out->flags);
        return;
    }
    if (x->kind == TWI_EXACT &&
        (isinf(x->v) || x->v == 0.0)) { /* native: these are exact all the same */
        uint64_t bits = x->bits;
        *out = twi_form_exact(elem, twi_det_do(&f->det, &bits));
        return;
    }
    stated s = stated_of(f);
    double e = twi_form_radius(x), rest;
    double k = slope(op, x->v, e, &rest);
    out->v = value(op, x->v);
    twi_form_combine(x, k, x, 0.0, out, room);
    if (x->kind == TWI_RANGE)
        out->r = fabs(k) * x->r;
    out->r += rest * 0x1.0000000001p+0;
    out->r += s.phi * (fabs(out->v) + out->r + twi_form_spread(out)) + s.eta;
    ends(f, x, s, out);
    double v = out->v, r = out->r; /* the machine's own rounding is in phi: close without another */
    if (!(fabs(v) < INFINITY) || !(r < INFINITY))
        out->r = INFINITY;
    twi_form_close(elem, out);
}
