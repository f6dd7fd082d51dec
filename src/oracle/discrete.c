/* SPDX-License-Identifier: Apache-2.0
 * Operations that jump, on bounded operands: decided if no jump lies in the intervals, else all
 * that may come out. Comparisons, bools, select, casts, integers.
 */
#include "oracle/form.h"
#include <math.h>

static twi_form truth(bool v) { return twi_form_exact(TW_BOOL, v); }

static twi_form open_truth(double v) {
    return (twi_form){
        .v = v, .lo = 0.0, .hi = 1.0, .r = INFINITY, .kind = TWI_RANGE, .flags = TWI_UNDECIDED};
}

static void comparison(const twi_form_op *f, const twi_form *x, twi_form *out) {
    const twi_form *a = &x[0], *b = &x[1];
    unsigned op = f->det.op;
    bool flip =
        op == TWI_NE || op == TWI_GT || op == TWI_LE; /* not EQ, not LE, not GT: NaN apart */
    if ((a->kind == TWI_EXACT && isnan(a->v)) || (b->kind == TWI_EXACT && isnan(b->v))) {
        *out = truth(op == TWI_NE);
        return;
    }
    if (a->kind == TWI_ANYTHING || b->kind == TWI_ANYTHING) {
        *out = open_truth(0.0);
        return;
    }
    if (op == TWI_EQ || op == TWI_NE) {
        bool apart = a->hi < b->lo || b->hi < a->lo;
        *out = apart ? truth(flip) : open_truth((a->v == b->v) != flip);
        return;
    }
    bool or_equal = op == TWI_LE || op == TWI_GE;
    const twi_form *p = op == TWI_LT || op == TWI_LE ? a : b,
                   *q = p == a ? b : a; /* p < q or p <= q */
    if (or_equal ? p->hi <= q->lo : p->hi < q->lo)
        *out = truth(true);
    else if (or_equal ? p->lo > q->hi : p->lo >= q->hi)
        *out = truth(false);
    else
        *out = open_truth(or_equal ? p->v <= q->v : p->v < q->v);
}

static void logic(const twi_form_op *f, const twi_form *x, twi_form *out) {
    unsigned op = f->det.op;
    if (op == TWI_NOT) {
        *out = open_truth(1.0 - x->v);
        return;
    }
    bool both = op == TWI_AND || op == TWI_MIN;
    double lo = both ? fmin(x[0].lo, x[1].lo) : fmax(x[0].lo, x[1].lo);
    double hi = both ? fmin(x[0].hi, x[1].hi) : fmax(x[0].hi, x[1].hi);
    lo = lo < 0.0 ? 0.0 : lo > 1.0 ? 1.0 : lo; /* of ANY too */
    hi = hi > 1.0 ? 1.0 : hi < 0.0 ? 0.0 : hi;
    *out = lo == hi ? truth(lo != 0.0)
                    : open_truth(both ? fmin(x[0].v, x[1].v) : fmax(x[0].v, x[1].v));
}

static bool is_logic(const twi_form_op *f) {
    unsigned op = f->det.op;
    return op == TWI_AND || op == TWI_OR || op == TWI_NOT;
}

static void selection(const twi_form_op *f, const twi_form *x, twi_form *out) {
    if (x[0].kind == TWI_EXACT) {
        *out = x[0].bits != 0 ? x[1] : x[2];
        return;
    }
    bool first = x[0].v != 0.0;
    twi_form_hull((tw_elem)f->det.from, first ? &x[1] : &x[2], first ? &x[2] : &x[1], out);
}

/* Least and greatest of an integer type, as doubles (64 bits: nearest). */
static void limits(tw_elem elem, double *least, double *most) {
    if (elem == TW_BOOL) {
        *least = 0.0;
        *most = 1.0;
        return;
    }
    *least = twi_double_of(elem, twi_identity_bits(TWI_ID_LEAST, elem));
    *most = twi_double_of(elem, twi_identity_bits(TWI_ID_GREATEST, elem));
}

/* A range of integers, or the one integer. */
static void integers(tw_elem elem, double v, double lo, double hi, twi_form *out) {
    double least, most;
    uint8_t flags = (uint8_t)(out->flags | TWI_UNDECIDED);
    limits(elem, &least, &most);
    if (!(lo >= least && hi <= most) || fabs(lo) > 0x1p53 || fabs(hi) > 0x1p53) {
        *out = twi_form_any(flags);
        return;
    }
    if (lo == hi) {
        *out = twi_form_exact(elem, twi_bits_of_double(elem, lo));
        return;
    }
    *out = (twi_form){.v = v, .lo = lo, .hi = hi, .r = INFINITY, .kind = TWI_RANGE, .flags = flags};
}

static void conversion(const twi_form_op *f, const twi_form *x, twi_form *out, twi_part *room) {
    tw_elem from = (tw_elem)f->det.from, to = (tw_elem)f->det.to;
    if (x->kind == TWI_ANYTHING) {
        *out = to == TW_BOOL ? open_truth(0.0) : twi_form_any(x->flags);
        return;
    }
    if (to == TW_BOOL) {
        *out = x->lo > 0.0 || x->hi < 0.0 ? truth(true) : open_truth(x->v != 0.0);
        return;
    }
    if (twi_is_float(to)) {
        twi_form_combine(x, 1.0, x, 0.0, out, room);
        out->r = twi_form_linear(x) ? x->r : INFINITY;
        out->v = x->v;
        out->lo = x->lo;
        out->hi = x->hi;
        out->kind = TWI_RANGE;
        if (from == TW_F32)
            return; /* to f64: exact */
        twi_form_round(to, true, out);
        return;
    }
    if (twi_is_float(from)) {
        double least, most;
        limits(to, &least, &most);
        double lo = trunc(fmin(fmax(x->lo, least), most)),
               hi = trunc(fmin(fmax(x->hi, least), most));
        integers(to, trunc(fmin(fmax(x->v, least), most)), lo, hi, out);
        return;
    }
    if ((x->flags & TWI_SET) != 0 &&
        tw_elem_size(to) >= 4) { /* argmax then a narrower index type */
        *out = *x;
        return;
    }
    integers(to, x->v, x->lo, x->hi, out);
}

static void integer_op(const twi_form_op *f, const twi_form *x, twi_form *out) {
    tw_elem elem = (tw_elem)f->det.to;
    const twi_form *a = &x[0], *b = &x[1];
    if (a->kind == TWI_ANYTHING || (twi_op_row(f->det.op)->arity > 1 && b->kind == TWI_ANYTHING)) {
        *out = twi_form_any(out->flags);
        return;
    }
    switch (f->det.op) {
    case TWI_ADD:
        integers(elem, a->v + b->v, a->lo + b->lo, a->hi + b->hi, out);
        return;
    case TWI_SUB:
        integers(elem, a->v - b->v, a->lo - b->hi, a->hi - b->lo, out);
        return;
    case TWI_MUL: {
        double p[4] = {a->lo * b->lo, a->lo * b->hi, a->hi * b->lo, a->hi * b->hi};
        integers(elem, a->v * b->v, fmin(fmin(p[0], p[1]), fmin(p[2], p[3])),
                 fmax(fmax(p[0], p[1]), fmax(p[2], p[3])), out);
        return;
    }
    case TWI_MIN:
        integers(elem, fmin(a->v, b->v), fmin(a->lo, b->lo), fmin(a->hi, b->hi), out);
        return;
    case TWI_MAX:
        integers(elem, fmax(a->v, b->v), fmax(a->lo, b->lo), fmax(a->hi, b->hi), out);
        return;
    case TWI_NEG:
        integers(elem, -a->v, -a->hi, -a->lo, out);
        return;
    default:
        *out = twi_form_any((uint8_t)(out->flags | TWI_UNDECIDED));
    }
}

bool twi_form_discrete(const twi_form_op *f, const twi_form *x, twi_form *out, twi_part *room) {
    unsigned op = f->det.op;
    uint8_t flags = out->flags;
    if (op >= TWI_EQ && op <= TWI_GE) {
        if (x[0].kind != TWI_ANYTHING && x[1].kind != TWI_ANYTHING &&
            ((x[0].flags | x[1].flags) & TWI_SET) != 0 && x[0].lo == x[1].lo) {
            *out = open_truth(1.0);
            return true;
        }
        comparison(f, x, out);
    } else if (is_logic(f) || (f->det.from == TW_BOOL && op != TWI_SELECT && op != TWI_CAST)) {
        logic(f, x, out);
    } else if (op == TWI_SELECT) {
        selection(f, x, out);
        flags = 0;
    } else if (op == TWI_CAST) {
        conversion(f, x, out, room);
    } else if (!twi_is_float((tw_elem)f->det.to)) {
        integer_op(f, x, out);
    } else {
        return false;
    }
    if (out->kind != TWI_EXACT)
        out->flags |= flags;
    return true;
}
