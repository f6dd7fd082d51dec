/* SPDX-License-Identifier: Apache-2.0
 * Folds of bounded values, and float folds whose order a plan chooses. Sums carry an error along
 * each descriptor's tree: unit * (|partial| + its own error) at every addition. Several
 * descriptors: the worst of them. No descriptor: gamma(n) times the sum of magnitudes; so too for
 * scans, prefix by prefix, and for atomic additions.
 */
#include "oracle/eval.h"
#include <float.h>
#include <math.h>

static double unit_of(tw_elem elem) { return elem == TW_F64 ? 0x1p-53 : 0x1p-24; }

typedef struct twi_adding {
    tw_elem elem;
    double sum, rest;    /* compensated sum of v */
    double lo, hi;       /* sums of ends */
    double above, below; /* sums of positive and negative ends: what partial sums can reach */
    double r, magnitude, spread; /* spread: sum of |coefficients| of symbols followed */
    twi_part keep[TWI_SYMBOLS];
    uint32_t n_keep, with_parts;
    bool whole, nan, any, plus, minus, positive;
    bool exact;   /* all terms are */
    bool flushes; /* subnormal operands and sums may be taken as 0 */
    size_t terms; /* that are not 0 */
    uint8_t flags;
    double *v, *e; /* terms */
    uint32_t n;    /* of atomic additions */
} adding;

static void add_value(adding *s, double x) {
    double t = s->sum + x;
    s->rest += fabs(s->sum) >= fabs(x) ? (s->sum - t) + x : (x - t) + s->sum;
    s->sum = t;
}

/* Symbols of the first two terms that have any are followed; all others count as each term's own.
 */
static void add_parts(adding *s, const twi_form *x) {
    bool open = s->with_parts < 2;
    for (uint32_t p = 0; p < x->n; p++) {
        uint32_t k = 0;
        s->spread += fabs(x->part[p].c);
        while (k < s->n_keep && s->keep[k].symbol != x->part[p].symbol)
            k++;
        if (k < s->n_keep)
            s->keep[k].c += x->part[p].c;
        else if (open && s->n_keep < TWI_SYMBOLS)
            s->keep[s->n_keep++] = x->part[p];
        else
            s->r += fabs(x->part[p].c);
    }
    s->with_parts += x->n != 0 ? 1u : 0u;
}

static void add_term(adding *s, size_t k, const twi_form *x) {
    s->v[k] = s->e[k] = 0.0;
    s->flags |= x->flags & TWI_UNDECIDED;
    if (x->kind == TWI_ANYTHING) {
        s->any = true;
        return;
    }
    if (x->kind == TWI_EXACT && !(fabs(x->v) < INFINITY)) {
        s->nan = s->nan || isnan(x->v);
        s->plus = s->plus || x->v > 0.0;
        s->minus = s->minus || x->v < 0.0;
        return;
    }
    double e = twi_form_radius(x);
    s->v[k] = x->v;
    s->e[k] = e;
    add_value(s, x->v);
    s->lo += x->lo;
    s->hi += x->hi;
    s->above += x->hi > 0.0 ? x->hi : 0.0;
    s->below += x->lo < 0.0 ? x->lo : 0.0;
    s->magnitude += fabs(x->v) + e;
    s->positive = s->positive && x->lo >= 0.0;
    s->whole = s->whole && e == 0.0 && x->v == floor(x->v);
    s->exact = s->exact && e == 0.0;
    s->terms += x->v != 0.0 ? 1u : 0u;
    if (x->kind != TWI_RANGE)
        return;
    if (twi_form_linear(x)) {
        s->r += x->r;
        add_parts(s, x);
    } else {
        s->r += e;
    }
}

/* |machine sum - sum of machine terms| over all orders allowed. */
static double rounding_of(const twi_folding *f, const adding *s, size_t n, bool begun,
                          uint32_t *depth) {
    double u = unit_of(s->elem) * 0x1.00001p+0, worst = 0.0;
    *depth = (uint32_t)n;
    if (f->depth != 0 && f->depth < n) /* of a scan */
        *depth = f->depth;
    if (!f->layout || f->layout->n == 0)
        return n < 2 ? 0.0 : twi_gamma((double)*depth, u) * s->magnitude;
    uint32_t deepest = 0;
    size_t slots = 0;
    for (unsigned k = 0; k < f->layout->n; k++)
        slots = f->layout->tree[k]->slots > slots ? f->layout->tree[k]->slots : slots;
    double *work = s->e + n; /* room was made for the largest tree */
    for (unsigned k = 0; k < f->layout->n; k++) {
        const twi_tree *t = f->layout->tree[k];
        double e = twi_tree_error(t, s->v, s->e, u, begun, work);
        double cap = twi_gamma((double)t->depth + begun, u) * s->magnitude * 0x1.000001p+0 +
                     s->magnitude * 0x1p-40;
        e = e < cap ? e : cap;
        worst = e > worst ? e : worst;
        deepest = t->depth > deepest ? t->depth : deepest;
    }
    *depth = deepest;
    return worst;
}

#define LEAST_NORMAL 0x1p-126 /* of f32 and bf16 */

static bool special(const adding *s, size_t n, twi_form *out) {
    bool lost = s->flushes && s->sum != 0.0 && fabs(s->sum) < LEAST_NORMAL;
    if (s->exact && s->terms <= 1 && !lost && !s->nan && !s->any && !s->plus && !s->minus) {
        *out = twi_form_exact(s->elem, twi_bits_of_double(s->elem, s->sum)); /* zeros add nothing */
        out->flags = (uint8_t)(s->flags | (s->sum == 0.0 ? TWI_EITHER_ZERO : 0));
        return true;
    }
    double most = twi_rounding_of(s->elem).most;
    double slack = 1.0 + twi_gamma((double)n + 2.0, unit_of(s->elem));
    bool up = !(s->above * slack < most), down = !(-s->below * slack < most);
    if (s->nan || (s->plus && s->minus)) {
        *out = twi_form_exact(s->elem, twi_bits_of_double(s->elem, NAN));
        return true;
    }
    if (s->any || (up && down) || (s->plus && down) || (s->minus && up)) {
        *out = twi_form_any(s->flags);
        return true;
    }
    if (s->plus || s->minus) {
        *out = twi_form_exact(s->elem, twi_bits_of_double(s->elem, s->plus ? INFINITY : -INFINITY));
        return true;
    }
    if (s->whole && s->magnitude <= (s->elem == TW_F64 ? 0x1p53 : 0x1p24)) {
        *out = twi_form_exact(s->elem,
                              twi_bits_of_double(s->elem, s->sum)); /* every partial sum is exact */
        out->flags = (uint8_t)(s->flags | (s->sum == 0.0 ? TWI_EITHER_ZERO : 0));
        return true;
    }
    return false;
}

static void sort_parts(twi_part *p, uint32_t n) {
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && p[k].symbol < p[k - 1].symbol; k--) {
            twi_part t = p[k];
            p[k] = p[k - 1];
            p[k - 1] = t;
        }
}

/* How far the oracle's own sum of n terms is off, beside a rounding of the result: the second order
 * of a compensated sum (Ogita, Rump, Oishi 2005), and the coefficients, which are added plainly. */
static double own_error(const adding *s, size_t n) {
    const double k = (double)n + 4.0;
    return k * k * 0x1p-105 * s->magnitude + k * 0x1p-52 * s->spread;
}

/* Closes a sum of n terms that may be off by r beside their own errors. */
static void close_sum(const adding *s, size_t n, double r, twi_form *out, twi_part *room) {
    if (special(s, n + 1, out))
        return;
    double most = twi_rounding_of(s->elem).most, u = unit_of(s->elem) * 0x1.00001p+0;
    double slack = ((double)n + 4.0) * 0x1p-52 * (s->above - s->below);
    double v = s->sum + s->rest;
    *out = (twi_form){.kind = TWI_RANGE, .v = v, .flags = s->flags, .part = room};
    out->r = s->r * 0x1.0000000001p+0 + r + fabs(v) * 0x1p-52 + own_error(s, n);
    out->lo = s->lo - r - slack;
    out->hi = s->hi + r + slack;
    if (s->positive && out->lo < 0.0)
        out->lo = 0.0;
    /* every term keeps its sign and grows by 1 + gamma at most: so do all partial sums */
    double reach = 1.0 + twi_gamma((double)n + 2.0, u);
    if (!(s->above * reach < most))
        out->hi = INFINITY;
    if (!(-s->below * reach < most))
        out->lo = -INFINITY;
    for (uint32_t k = 0; k < s->n_keep; k++)
        if (s->keep[k].c != 0.0)
            room[out->n++] = s->keep[k];
    sort_parts(room, out->n);
    twi_form_close(s->elem, out);
}

/* Closes a sum of n terms, and of a start value that a dot's chains begin with (NULL: none). */
static void finish_sum(const twi_folding *f, adding *s, const twi_form *start, twi_form *out,
                       twi_part *room) {
    uint32_t depth;
    size_t n = f->n;
    double u = unit_of(s->elem) * 0x1.00001p+0;
    const bool begun = start && !(start->kind == TWI_EXACT && start->v == 0.0);
    double r = rounding_of(f, s, n, begun, &depth);
    if (s->flushes) /* each sum, and the start */
        r += 2.0 * ((double)n + 1.0) *
             LEAST_NORMAL; /* twice: what is lost early may grow by u a sum */
    if (begun) { /* its chain carries it along: one more term in each of that chain's partial
                        sums */
        add_term(s, 0, start); /* the tree has been walked: slot 0 is free */
        if (start->kind != TWI_ANYTHING && fabs(start->v) < INFINITY)
            r += u * ((double)depth + 1.0) * (fabs(start->v) + twi_form_radius(start)) +
                 u * (fabs(s->sum + s->rest) + s->r + r);
    }
    close_sum(s, n, r, out, room);
}

/* Is p a * b itself? Of a small p the remainder cannot be told from 0. */
static bool exact_product(double a, double b, double p) {
    return a == 0.0 || b == 0.0 || (fma(a, b, -p) == 0.0 && fabs(p) >= 0x1p-960);
}

/* One product of a dot, whether it is rounded by itself or fused. */
static void leaf(const twi_folding *f, const twi_form *a, const twi_form *b, twi_form *out,
                 twi_part *room) {
    tw_elem elem = f->to;
    twi_rounding q = twi_rounding_of(elem);
    if (a->kind == TWI_ANYTHING || b->kind == TWI_ANYTHING) {
        *out = twi_form_any((a->flags | b->flags) & TWI_UNDECIDED);
        return;
    }
    if (a->kind == TWI_EXACT && b->kind == TWI_EXACT) {
        double p = a->v * b->v;
        bool exact = elem == TW_F64 ? exact_product(a->v, b->v, p) : (double)(float)p == p;
        if (exact || !(fabs(p) < INFINITY)) { /* infinities and NaN: the same fused or not */
            bool over = isinf(p) && !isinf(a->v) && !isinf(b->v);
            *out = over ? twi_form_any(0) : twi_form_exact(TW_F64, twi_bits_f64(p));
            return;
        }
        double e = q.u * fabs(p) + q.eta;
        *out = (twi_form){.kind = TWI_RANGE, .v = p, .lo = p - e, .hi = p + e, .r = e};
        return;
    }
    if ((a->kind == TWI_EXACT && isnan(a->v)) || (b->kind == TWI_EXACT && isnan(b->v))) {
        *out = twi_form_exact(TW_F64, twi_bits_f64(NAN));
        return;
    }
    *out = (twi_form){.kind = TWI_RANGE, .flags = (a->flags | b->flags) & TWI_UNDECIDED};
    twi_form_product(a, b, false, out, room);
    if (isnan(out->lo) || isnan(out->hi)) {
        *out = twi_form_any(out->flags);
        return;
    }
    if (!(fabs(out->v) < INFINITY)) {
        *out = out->lo == out->hi ? twi_form_exact(TW_F64, twi_bits_f64(out->lo))
                                  : twi_form_any(out->flags);
        return;
    }
    if (!(out->r < INFINITY)) {
        out->r = INFINITY;
        out->n = 0;
    }
    out->r += q.u * (fabs(out->v) + out->r + twi_form_spread(out)) + q.eta;
    out->lo = twi_down(out->lo) - q.u * fabs(out->lo) - q.eta;
    out->hi = twi_up(out->hi) + q.u * fabs(out->hi) + q.eta;
}

static bool vanishes(double x) { return x != 0.0 && fabs(x) < LEAST_NORMAL; }

/* May the operand be subnormal and not 0? */
static bool may_vanish(const twi_form *x) {
    if (x->kind == TWI_EXACT)
        return vanishes(x->v);
    return x->kind == TWI_RANGE && x->lo < LEAST_NORMAL && x->hi > -LEAST_NORMAL;
}

/* A product one of whose operands may have been taken as 0: it, or 0, or 0 times infinity. */
static void vanish(twi_form *p) {
    const uint8_t flags = p->flags & TWI_UNDECIDED;
    if (p->kind == TWI_ANYTHING || !(fabs(p->v) < INFINITY)) {
        *p = twi_form_any(flags);
        return;
    }
    const double lo = p->kind == TWI_EXACT ? p->v : p->lo, hi = p->kind == TWI_EXACT ? p->v : p->hi;
    const double r = fabs(p->v) + twi_form_radius(p);
    *p = (twi_form){.kind = TWI_RANGE,
                    .v = p->v,
                    .lo = lo < 0.0 ? lo : 0.0,
                    .hi = hi > 0.0 ? hi : 0.0,
                    .r = r,
                    .flags = flags};
}

/* A finite term known up to e, e of it its own: what add_term does with the least ado. */
static void add_plain(adding *s, size_t k, double v, double e) {
    s->v[k] = v;
    s->e[k] = e;
    add_value(s, v);
    s->lo += v - e;
    s->hi += v + e;
    s->above += v + e > 0.0 ? v + e : 0.0;
    s->below += v - e < 0.0 ? v - e : 0.0;
    s->magnitude += fabs(v) + e;
    s->positive = s->positive && v - e >= 0.0;
    s->whole = s->whole && e == 0.0 && v == floor(v);
    s->exact = s->exact && e == 0.0;
    s->terms += v != 0.0 ? 1u : 0u;
    s->r += e;
}

/* Determined f32 operands: most of the work of a matrix product. False: not finite, or subnormal
 * where that is lost: not done. */
static bool plain_term(const twi_folding *f, adding *s, size_t k, bool dot) {
    double a = (double)twi_f32_of(f->arg[0]->bits[f->base[0] + f->offset[0][k]]), p = a, e = 0.0;
    if (dot) {
        const double b = (double)twi_f32_of(f->arg[1]->bits[f->base[1] + f->offset[1][k]]);
        if (s->flushes && (vanishes(a) || vanishes(b)))
            return false;
        p = a * b;
        e = (double)(float)p == p ? 0.0 : 0x1.00001p-24 * fabs(p) + 0x1p-150;
    }
    if (!(fabs(p) < INFINITY))
        return false;
    add_plain(s, k, p, e);
    return true;
}

static void bound_sum(twi_oracle *o, const twi_folding *f, twi_form *out, twi_part *room) {
    adding s = {.elem = f->to, .whole = true, .positive = true, .exact = true};
    bool dot = f->ins->op == TWI_DOT;
    size_t slots = 0;
    twi_part more[TWI_ROOM];
    for (unsigned k = 0; f->layout && k < f->layout->n; k++)
        slots = f->layout->tree[k]->slots > slots ? f->layout->tree[k]->slots : slots;
    s.v = twi_scratch(o, 2 * f->n + 2 * slots + 4);
    s.e = s.v + f->n + 1;
    s.flushes = dot && f->layout && f->layout->flushes;
    bool plain = f->to == TW_F32 && f->from == TW_F32 && !f->arg[0]->bounded &&
                 (!dot || (!f->arg[1]->bounded && f->arg[1]->elem == TW_F32));
    for (size_t k = 0; k < f->n && !o->error; k++) {
        if (plain && plain_term(f, &s, k, dot))
            continue;
        twi_form x = twi_tile_get(f->arg[0], (size_t)(f->base[0] + f->offset[0][k])), p;
        if (!dot) {
            add_term(&s, k, &x);
            continue;
        }
        twi_form y = twi_tile_get(f->arg[1], (size_t)(f->base[1] + f->offset[1][k]));
        leaf(f, &x, &y, &p, more);
        if (s.flushes && (may_vanish(&x) || may_vanish(&y)))
            vanish(&p);
        add_term(&s, k, &p);
    }
    twi_form start;
    if (dot && f->args > 2)
        start = twi_tile_get(f->arg[2], (size_t)f->base[2]);
    if (f->n == 0) {
        *out = dot && f->args > 2 ? start
                                  : twi_form_exact(f->to, twi_identity_bits(TWI_ID_ZERO, f->to));
        return;
    }
    finish_sum(f, &s, dot && f->args > 2 ? &start : NULL, out, room);
}

void twi_bound_terms(twi_oracle *o, const twi_terms *t, twi_form *out, twi_part *room) {
    adding s = {.elem = TW_F32, .positive = true};
    twi_part more[TWI_ROOM];
    s.v = twi_scratch(o, 2 * t->n + 2);
    s.e = s.v + t->n + 1;
    for (size_t k = 0; k < t->n; k++) {
        twi_form x;
        t->term(t->user, k, &x, more);
        add_term(&s, k, &x);
    }
    close_sum(&s, t->n, t->r, out, room);
}

/* Products: relative errors add up; a partial product may leave the type's range in some order. */
static void bound_product(const twi_folding *f, twi_form *out) {
    twi_rounding q = twi_rounding_of(f->to);
    double v = 1.0, relative = 0.0, big = 1.0, small = 1.0, mag = 1.0;
    uint8_t flags = 0;
    bool any = false, nan = false, inf = false, zero = false;
    for (size_t k = 0; k < f->n; k++) {
        twi_form x = twi_tile_get(f->arg[0], (size_t)(f->base[0] + f->offset[0][k]));
        double e = twi_form_radius(&x);
        flags |= x.flags & TWI_UNDECIDED;
        any = any || x.kind == TWI_ANYTHING;
        nan = nan || (x.kind == TWI_EXACT && isnan(x.v));
        inf = inf || isinf(x.lo) || isinf(x.hi);
        zero = zero || (x.kind == TWI_EXACT && x.v == 0.0);
        any = any || (x.kind == TWI_RANGE && e >= fabs(x.v));
        relative += log1p(e / fabs(x.v)) + q.u * 1.01;
        big *= fmax(fabs(x.v) + e, 1.0);
        small *= fmin(fmax(fabs(x.v) - e, 0.0), 1.0);
        v *= x.v;
        mag *= fabs(x.v);
    }
    if (nan) {
        *out = twi_form_exact(f->to, twi_bits_of_double(f->to, NAN));
    } else if (f->n == 0) {
        *out = twi_form_exact(f->to, twi_identity_bits(TWI_ID_ONE, f->to));
    } else if (any || inf || !(big * (1.0 + expm1(relative)) < q.most)) {
        *out = twi_form_any(flags);
    } else if (zero) {
        *out = twi_form_exact(f->to, 0);
        out->flags = TWI_EITHER_ZERO;
    } else {
        double e = mag * expm1(relative * 1.0001);
        if (small < q.eta * 0x1p26) /* some partial product may be subnormal */
            e += (double)f->n * q.eta * 2.0 * big * (1.0 + expm1(relative));
        *out =
            (twi_form){.kind = TWI_RANGE, .v = v, .lo = v - e, .hi = v + e, .r = e, .flags = flags};
        twi_form_close(f->to, out);
    }
}

/* max, min: decided if one interval lies beyond all others: then it is that operand. */
static void bound_best(const twi_folding *f, twi_form *out) {
    bool max = f->ins->op != TWI_FMIN, any = false;
    twi_form best = {0};
    double lo = 0.0, hi = 0.0, e = 0.0;
    size_t which = 0;
    uint8_t flags = 0;
    if (f->n == 0) {
        *out =
            twi_form_exact(f->to, twi_identity_bits(max ? TWI_ID_LEAST : TWI_ID_GREATEST, f->to));
        return;
    }
    for (size_t k = 0; k < f->n; k++) {
        twi_form x = twi_tile_get(f->arg[0], (size_t)(f->base[0] + f->offset[0][k]));
        if (x.kind == TWI_EXACT && isnan(x.v)) {
            *out = x;
            return;
        }
        any = any || x.kind == TWI_ANYTHING;
        flags |= x.flags & TWI_UNDECIDED;
        if (k == 0 || (max ? x.v > best.v : x.v < best.v)) {
            best = x;
            which = k;
        }
        lo = k == 0 || (max ? x.lo > lo : x.lo < lo) ? x.lo : lo;
        hi = k == 0 || (max ? x.hi > hi : x.hi < hi) ? x.hi : hi;
    }
    if (any) {
        *out = twi_form_any(flags);
        return;
    }
    bool rivals = false;
    for (size_t k = 0; k < f->n; k++) {
        twi_form x = twi_tile_get(f->arg[0], (size_t)(f->base[0] + f->offset[0][k]));
        bool may = max ? x.hi > best.lo : x.lo < best.hi;
        if (!may && k != which)
            continue;
        double own = twi_form_linear(&x) ? twi_form_radius(&x) : INFINITY;
        e = own > e ? own : e;
        rivals = rivals || k != which;
    }
    *out = best;
    if (!rivals)
        return;
    *out = (twi_form){.kind = TWI_RANGE, .v = best.v, .lo = lo, .hi = hi, .r = e, .flags = flags};
    if (!(fabs(best.v) < INFINITY))
        *out = twi_form_any(flags);
    else if (!(e < INFINITY))
        out->r = INFINITY;
}

static void bound_truth(const twi_folding *f, twi_form *out) {
    bool all = f->ins->op == TWI_ALL;
    twi_form_op op = {.det = twi_det_of(all ? TWI_AND : TWI_OR, TW_BOOL, TW_BOOL)};
    twi_form x[3] = {twi_form_exact(TW_BOOL, all ? 1 : 0)};
    twi_part room[TWI_ROOM];
    for (size_t k = 0; k < f->n; k++) {
        x[1] = twi_tile_get(f->arg[0], (size_t)(f->base[0] + f->offset[0][k]));
        twi_form_do(&op, x, out, room);
        x[0] = *out;
    }
    *out = x[0];
}

/* Any index whose interval reaches the best lower bound. Few of them: listed; else a range. */
static void bound_arg(twi_oracle *o, const twi_folding *f, twi_form *out, twi_part *room) {
    bool max = f->ins->op == TWI_ARGMAX;
    double need = -INFINITY, top = -INFINITY, sign = max ? 1.0 : -1.0;
    int64_t lo = f->ins->nfold == 1 ? o->axis[f->ins->fold[0]].lo : 0;
    size_t best = 0, count = 0, first = 0, last = 0;
    bool any = false, settled = false;
    if (f->n == 0) {
        *out = twi_form_exact(TW_I64, UINT64_MAX);
        return;
    }
    for (size_t k = 0; k < f->n; k++) {
        twi_form x = twi_tile_get(f->arg[0], (size_t)(f->base[0] + f->offset[0][k]));
        any = any || x.kind == TWI_ANYTHING;
        if (x.kind == TWI_EXACT && isnan(x.v) && !any) {
            *out = twi_form_exact(TW_I64, (uint64_t)(lo + (int64_t)k));
            return;
        }
        double least = max ? x.lo : -x.hi;
        need = least > need ? least : need;
        if (k == 0 || x.v * sign > top) {
            top = x.v * sign;
            best = k;
        }
    }
    for (size_t k = 0; k < f->n; k++) {
        twi_form x = twi_tile_get(f->arg[0], (size_t)(f->base[0] + f->offset[0][k]));
        double most = max ? x.hi : -x.lo, least = max ? x.lo : -x.hi;
        /* An equal one before it is first; but a bounded zero's sign is not known, and -0 < +0. */
        bool later = settled && (need < 0 || need > 0) && most <= need;
        if (!any && (most < need || later))
            continue;
        settled = settled || least >= need;
        first = count == 0 ? k : first;
        last = k;
        if (count < TWI_ROOM)
            room[count] = (twi_part){0, (double)(lo + (int64_t)k)};
        count++;
    }
    if (count == 1) {
        *out = twi_form_exact(TW_I64, (uint64_t)(lo + (int64_t)first));
        return;
    }
    *out = (twi_form){.kind = TWI_RANGE,
                      .v = (double)(lo + (int64_t)best),
                      .r = INFINITY,
                      .lo = (double)(lo + (int64_t)first),
                      .hi = (double)(lo + (int64_t)last),
                      .flags = TWI_UNDECIDED};
    if (count <= TWI_ROOM) {
        out->flags |= TWI_SET;
        out->n = (uint32_t)count;
        out->part = room;
    }
}

/* Integer sums of what is undecided: by the operations, in any order. */
static void bound_integers(const twi_folding *f, twi_form *out) {
    const twi_monoid *m = twi_monoid_of(f->ins->op);
    twi_identity id = (twi_identity)(m->identity == TWI_ID_NEG_ZERO ? TWI_ID_ZERO : m->identity);
    twi_form_op op = {.det = twi_det_of(m->merge, f->to, f->to)};
    twi_form_op widen = {.det = twi_det_of(TWI_CAST, f->from, f->to)};
    twi_form x[3] = {twi_form_exact(f->to, twi_identity_bits(id, f->to))};
    twi_part room[TWI_ROOM];
    for (size_t k = 0; k < f->n; k++) {
        twi_form y = twi_tile_get(f->arg[0], (size_t)(f->base[0] + f->offset[0][k]));
        twi_form_do(&widen, &y, &x[1], room);
        x[1].n = 0;
        x[1].flags &= (uint8_t)~TWI_SET;
        twi_form_do(&op, x, out, room);
        x[0] = *out;
    }
    *out = x[0];
}

void twi_bound_fold(twi_oracle *o, const twi_folding *f, twi_form *out, twi_part *room) {
    switch (f->ins->op) {
    case TWI_ARGMAX:
    case TWI_ARGMIN:
        bound_arg(o, f, out, room);
        return;
    case TWI_ANY:
    case TWI_ALL:
        bound_truth(f, out);
        return;
    case TWI_LOGSUMEXP:
    case TWI_MOMENTS:
        if (f->ins->op == TWI_LOGSUMEXP && f->part == 0)
            bound_best(f, out);
        else
            twi_bound_merged(o, f, out, room);
        return;
    case TWI_FMIN:
    case TWI_FMAX:
        bound_best(f, out);
        return;
    default:
        break;
    }
    if (f->ins->op == TWI_DOT && !twi_is_float(f->to))
        twi_fail(o, "a dot of integers that rounding leaves undecided is not built yet");
    else if (!twi_is_float(f->to))
        bound_integers(f, out);
    else if (f->ins->op == TWI_PROD)
        bound_product(f, out);
    else
        bound_sum(o, f, out, room);
}

/* ---- scans ---- */
void twi_bound_prefixes(twi_oracle *o, const twi_folding *f, twi_form_put put, void *user) {
    twi_part room[TWI_ROOM];
    twi_folding part = *f; /* of the elements so far */
    adding s = {.elem = f->to, .whole = true, .positive = true, .exact = true};
    bool sums = twi_is_float(f->to) && f->ins->op == TWI_CUMSUM;
    s.v = twi_scratch(o, 2 * f->n + 4);
    s.e = s.v + f->n + 1;
    for (size_t k = 0; k < f->n && !o->error; k++) {
        twi_form out = {0};
        part.n = k + 1;
        if (sums) {
            twi_form x = twi_tile_get(f->arg[0], (size_t)(f->base[0] + f->offset[0][k]));
            add_term(&s, k, &x);
            finish_sum(&part, &s, NULL, &out, room);
        } else if (f->ins->op == TWI_CUMMAX) {
            bound_best(&part, &out);
        } else if (twi_is_float(f->to)) {
            bound_product(&part, &out);
        } else {
            bound_integers(&part, &out);
        }
        put(user, k, &out);
    }
}

/* ---- atomic additions: terms come in any order ---- */
twi_adding *twi_adding_of(twi_arena *arena, tw_elem elem) {
    adding *s = TWI_NEW(arena, adding);
    *s = (adding){.elem = elem, .whole = true, .positive = true, .exact = true};
    return s;
}

void twi_adding_put(twi_adding *s, const twi_form *x) {
    double room[2];
    twi_form own = *x; /* symbols mean nothing beyond an instance */
    if (x->kind == TWI_RANGE) {
        own.r = twi_form_radius(x);
        own.n = 0;
        own.flags &= (uint8_t)~TWI_SET;
    }
    s->v = room;
    s->e = room + 1;
    add_term(s, 0, &own);
    s->n++;
}

void twi_adding_close(twi_adding *s, twi_form *out, twi_part *room) {
    twi_folding f = {.n = s->n, .to = s->elem};
    finish_sum(&f, s, NULL, out, room);
}
