/* SPDX-License-Identifier: Apache-2.0
 * Folds of several results (ir/monoid.def): what their merges may be off by. u is half a unit in
 * the last place, D the merges on the longest path.
 *
 * logsumexp. The maxima that a term exp(x - m) meets on its way rise from x to m, so the arguments
 * of its exponentials add up to x - m, their roundings to at most u |x - m|; each exponential adds
 * its stated error, each merge a product and a sum: (phi + 2u) D relative to the term.
 *
 * moments. A merged mean is off by the weighted errors of both sides and 3u of the weighted
 * magnitudes (two weights, two products, a sum; u alone where both counts are equal). In
 * M2 = sum of k d^2 over all merges (k = na nb / n; Chan, Golub, LeVeque 1979) the difference d of
 * two means is off by both errors e: k e (2d + e) for each merge, by Cauchy and Schwarz for those
 * whose pairs a tree leaves open; six roundings in a term and two in each merge that it passes.
 */
#include "oracle/eval.h"
#include "oracle/portable.h"
#include <math.h>

#define U 0x1.00001p-24
#define ETA 0x1p-149
#define PHI (TWI_EXP_PHI * 0x1.00001p-24)

static twi_form element(const twi_folding *f, size_t k) {
    return twi_tile_get(f->arg[0], (size_t)(f->base[0] + f->offset[0][k]));
}

/* Merges on the longest path over all orders that are allowed. */
static double depth_of(const twi_folding *f) {
    double depth = 0.0;
    if (!f->layout || f->layout->n == 0)
        return f->n < 2 ? 0.0 : (double)(f->n - 1);
    for (unsigned k = 0; k < f->layout->n; k++)
        depth = fmax(depth, f->layout->tree[k]->depth);
    return depth;
}

/* NaN where the element is not finite, or anything where it need not be. */
static bool odd(const twi_form *x, twi_form *out) {
    if (x->kind == TWI_EXACT && !(fabs(x->v) < INFINITY))
        *out = twi_form_exact(TW_F32, twi_bits_of_double(TW_F32, NAN));
    else if (x->kind == TWI_ANYTHING || isinf(x->lo) || isinf(x->hi))
        *out = twi_form_any(x->flags);
    else
        return false;
    return true;
}

/* ---- logsumexp ---- */

typedef struct {
    const twi_folding *f;
    double depth;
} exp_terms;

static void widen(twi_form *x, double relative, double eta) {
    x->r += relative * (fabs(x->v) + x->r + twi_form_spread(x)) + eta;
    x->lo = fmax(0.0, x->lo * (1.0 - relative) - eta);
    x->hi = x->hi * (1.0 + relative) + eta;
}

static void exp_term(const void *user, size_t k, twi_form *out, twi_part *room) {
    const exp_terms *t = user;
    const twi_form *m = &t->f->first;
    twi_form x[2] = {element(t->f, k), *m}, d;
    twi_part more[TWI_ROOM];
    const double steps = (t->depth + 1.0) * 0x1.001p+0, eta = steps * 4.0 * ETA;
    if (x[0].kind != TWI_EXACT || m->kind != TWI_EXACT) {
        const twi_form_op sub = {.det = twi_det_of(TWI_SUB, TW_F32, TW_F32)};
        const twi_form_op power = {.det = twi_det_of(TWI_EXP, TW_F32, TW_F32)};
        twi_form_do(&sub, x, &d, more);
        twi_form_do(&power, &d, out, room);
        if (out->kind == TWI_EXACT &&
            out->v > 0.0) /* exp of a rounded number: an error like others */
            *out = (twi_form){.kind = TWI_RANGE,
                              .v = out->v,
                              .lo = out->v * (1.0 - PHI),
                              .hi = out->v * (1.0 + PHI),
                              .r = out->v * PHI};
        if (out->kind == TWI_RANGE)
            widen(out, steps * (PHI + 2.0 * U), eta);
        return;
    }
    double y = x[0].v - m->v;
    if (isnan(y) || y == -INFINITY) {
        *out = twi_form_exact(TW_F32, twi_bits_of_double(TW_F32, exp(y)));
        return;
    }
    double v = exp(y);
    *out = (twi_form){.kind = TWI_RANGE, .v = v, .lo = v, .hi = v};
    if (y == 0.0) /* the maximum itself meets sums alone */
        widen(out, steps * U, 0.0);
    else
        widen(out, steps * (PHI + 2.0 * U) + U * fmin(-y, 800.0) * 0x1.001p+0, eta);
}

static void bound_exp_sum(twi_oracle *o, const twi_folding *f, twi_form *out, twi_part *room) {
    const exp_terms e = {f, depth_of(f)};
    const twi_terms t = {f->n, 0.0, exp_term, &e};
    twi_form x = element(f, 0);
    if (f->n > 1)
        twi_bound_terms(o, &t, out, room);
    else if (!odd(&x, out))
        *out = twi_form_exact(TW_F32, twi_identity_bits(TWI_ID_ONE, TW_F32));
}

/* ---- moments ---- */

typedef struct { /* a group of elements: count, mean of their v, what the machine's mean is off by
                  */
    double n, mean, own, leaf; /* by merging; by the elements' errors */
} node;

typedef struct {
    double own;   /* error of the mean */
    double cross; /* of M2, by the errors of means */
    bool over;    /* some mean may overflow */
} moments;

static double reach(const node *a) { return fabs(a->mean) + a->own + a->leaf; }

static void take(node *a, const node *b, moments *m) {
    if (b->n == 0.0)
        return;
    if (a->n == 0.0) {
        *a = *b;
        return;
    }
    double n = a->n + b->n, wa = a->n / n, wb = b->n / n, units = a->n == b->n ? 1.0 : 3.0;
    double e = a->own + a->leaf + b->own + b->leaf, d = fabs(a->mean - b->mean);
    m->cross += a->n * wb * e * (2.0 * d + e);
    a->own = wa * a->own + wb * b->own + units * U * (wa * reach(a) + wb * reach(b)) * 0x1.001p+0 +
             3.0 * ETA;
    a->leaf = wa * a->leaf + wb * b->leaf;
    a->mean = wa * a->mean + wb * b->mean;
    a->n = n;
    m->over = m->over || !(reach(a) < twi_rounding_of(TW_F32).most);
}

/* Members of a tree whose pairs are open. */
static node take_all(const node *a, size_t width, moments *m) {
    double n = 0.0, rounds = ceil(log2((double)width)), worst = 0.0, between = 0.0, size = 0.0;
    node all = {0};
    bool even = (width & (width - 1)) == 0;
    for (size_t k = 0; k < width; k++) {
        n += a[k].n;
        even = even && a[k].n == a[0].n;
    }
    if (n == 0.0)
        return all;
    double grow = (even ? 1.0 : 3.0) * rounds * U * 0x1.001p+0;
    for (size_t k = 0; k < width; k++) {
        double w = a[k].n / n;
        all.mean += w * a[k].mean;
        all.own += w * a[k].own;
        all.leaf += w * a[k].leaf;
        size += w * reach(&a[k]);
        if (a[k].n > 0.0)
            worst = fmax(worst, a[k].own + a[k].leaf + grow * reach(&a[k]) + 3.0 * rounds * ETA);
    }
    for (size_t k = 0; k < width; k++)
        between += a[k].n * (a[k].mean - all.mean) * (a[k].mean - all.mean);
    double s = rounds * n / 4.0 * 4.0 * worst * worst; /* k adds up to n/4 at most in a round */
    m->cross += 2.0 * sqrt(between * s) + s;
    all.n = n;
    all.own += grow * size + 3.0 * rounds * ETA;
    m->over = m->over || !(reach(&all) < twi_rounding_of(TW_F32).most);
    return all;
}

static void walk_tree(const twi_folding *f, const twi_tree *t, node *at, moments *m) {
    for (size_t s = 0; s < t->slots; s++) {
        at[s] = (node){0};
        if (t->leaf[s] == UINT32_MAX)
            continue;
        twi_form x = element(f, t->leaf[s]);
        at[s] = (node){1.0, x.v, 0.0, twi_form_radius(&x)};
    }
    size_t n = t->slots;
    for (uint32_t k = 0; k < t->levels; k++) {
        size_t width = t->level[k].extent;
        n /= width;
        for (size_t i = 0; i < n; i++) {
            node now = at[i * width];
            if (t->level[k].how == TWI_HOW_CHAIN)
                for (size_t j = 1; j < width; j++)
                    take(&now, &at[i * width + j], m);
            else
                now = take_all(&at[i * width], width, m);
            at[i] = now;
        }
    }
    m->own = at[0].own;
}

/* No order is known: every mean may be off by the worst, k adds up to n log2(n) / 2 at most. */
static void walk_any(const twi_folding *f, double m2, moments *m) {
    double n = (double)f->n, size = 0.0, leaf = 0.0;
    for (size_t k = 0; k < f->n; k++) {
        twi_form x = element(f, k);
        leaf = fmax(leaf, twi_form_radius(&x));
        size = fmax(size, fabs(x.v) + twi_form_radius(&x));
    }
    m->own = twi_gamma(3.0 * n, U) * size + 3.0 * n * ETA;
    double e = 2.0 * (m->own + leaf), s = n * fmax(1.0, log2(n) / 2.0) * e * e;
    m->cross = 2.0 * sqrt(m2 * s) + s;
    m->over = !(size + m->own < twi_rounding_of(TW_F32).most);
}

/* The worst of all orders. */
static moments walk_all(twi_oracle *o, const twi_folding *f, double m2) {
    moments worst = {0};
    if (f->n > 1 && (!f->layout || f->layout->n == 0))
        walk_any(f, m2, &worst);
    for (unsigned k = 0; f->n > 1 && f->layout && k < f->layout->n; k++) {
        moments m = {0};
        const twi_tree *t = f->layout->tree[k];
        double *room = twi_scratch(o, t->slots * (sizeof(node) / sizeof(double)));
        walk_tree(f, t, (node *)(void *)room, &m);
        worst.own = fmax(worst.own, m.own);
        worst.cross = fmax(worst.cross, m.cross);
        worst.over = worst.over || m.over;
    }
    return worst;
}

static void mean_term(const void *user, size_t k, twi_form *x, twi_part *room) {
    const twi_folding *f = user;
    double n = (double)f->n;
    *x = element(f, k);
    if (x->kind == TWI_ANYTHING || !(fabs(x->v) < INFINITY))
        return;
    for (uint32_t p = 0; p < x->n; p++)
        room[p] = (twi_part){x->part[p].symbol, x->part[p].c / n};
    x->part = room;
    x->kind = TWI_RANGE;
    x->v /= n;
    x->lo = twi_down(x->lo / n);
    x->hi = twi_up(x->hi / n);
    x->r = x->r / n + fabs(x->v) * 0x1p-52;
}

/* Sum of squares around the mean of the v; false: not all elements are numbers (out says what). */
static bool squares(const twi_folding *f, double *m2, twi_form *out) {
    double sum = 0.0, mean, q = 0.0;
    bool any = false, nan = false;
    for (size_t k = 0; k < f->n; k++) {
        twi_form x = element(f, k);
        sum += x.v;
        if (!odd(&x, out))
            continue;
        nan = nan || out->kind == TWI_EXACT;
        any = any || out->kind != TWI_EXACT;
    }
    if (nan)
        *out = twi_form_exact(TW_F32, twi_bits_of_double(TW_F32, NAN));
    else if (any)
        *out = twi_form_any(0);
    if (nan || any)
        return false;
    mean = sum / (double)f->n;
    for (size_t k = 0; k < f->n; k++) {
        double d = element(f, k).v - mean;
        q += d * d;
    }
    *m2 = q;
    return true;
}

static void bound_moments(twi_oracle *o, const twi_folding *f, twi_form *out, twi_part *room) {
    double m2 = 0.0;
    bool numbers = squares(f, &m2, out);
    if (f->part == 1 && !numbers)
        return;
    if (f->n == 1) {
        *out = f->part == 0 ? element(f, 0) : twi_form_exact(TW_F32, 0);
        return;
    }
    moments m = numbers ? walk_all(o, f, m2) : (moments){0};
    if (m.over) {
        *out = twi_form_any(0);
        return;
    }
    if (f->part == 0) {
        const twi_terms t = {f->n, m.own * 0x1.001p+0, mean_term, f};
        twi_bound_terms(o, &t, out, room);
        return;
    }
    double n = (double)f->n;
    double e = (m.cross + twi_gamma(6.0 + 2.0 * depth_of(f), U) * (m2 + m.cross) + 8.0 * n * ETA) *
                   0x1.001p+0 +
               m2 * n * 0x1p-50;
    *out = (twi_form){.kind = TWI_RANGE, .v = m2, .lo = fmax(0.0, m2 - e), .hi = m2 + e, .r = e};
    twi_form_close(TW_F32, out);
}

void twi_bound_merged(twi_oracle *o, const twi_folding *f, twi_form *out, twi_part *room) {
    if (f->ins->op == TWI_LOGSUMEXP)
        bound_exp_sum(o, f, out, room);
    else
        bound_moments(o, f, out, room);
}
