/* SPDX-License-Identifier: Apache-2.0
 * Laying out order descriptors, error sums along them, and the canonical order.
 */
#include "oracle/tree.h"
#include <math.h>

#define CHUNK 2048u
#define LANES 256u

double twi_gamma(double depth, double u) {
    double x = depth * u;
    return x < 1.0 ? x / (1.0 - x) : INFINITY;
}

static uint32_t log2_up(uint64_t e) {
    uint32_t k = 0;
    while (k < 63u && (UINT64_C(1) << k) < e)
        k++;
    return k;
}

/* merge: consecutive chain digits are one level of the product of their extents. */
static void add_level(twi_tree *t, uint8_t how, uint64_t extent, bool merge) {
    if (extent <= 1)
        return;
    uint32_t k = t->levels;
    if (merge && k > 0 && how == TWI_HOW_CHAIN && t->level[k - 1].how == TWI_HOW_CHAIN) {
        t->level[k - 1].extent *= (uint32_t)extent;
        return;
    }
    t->level[k].how = how;
    t->level[k].extent = (uint32_t)extent;
    t->levels++;
}

static void count_depth(twi_tree *t) {
    t->depth = 0;
    for (uint32_t k = 0; k < t->levels; k++)
        t->depth += t->level[k].how == TWI_HOW_CHAIN ? t->level[k].extent - 1u
                                                     : log2_up(t->level[k].extent);
}

typedef struct {
    uint8_t how, axis; /* axis: position in the bracket */
    int64_t weight, extent;
} digit;

/* Number of digits, with run-time extents filled in; 0 slots if an axis is not among those folded.
 */
static unsigned read_digits(const twi_order *order, const uint8_t *axis, const int64_t *extent,
                            unsigned n, digit *out, size_t *slots) {
    *slots = 1;
    for (unsigned k = 0; k < order->n; k++) {
        unsigned a = 0;
        while (a < n && axis[a] != order->digit[k].axis)
            a++;
        int64_t w = order->digit[k].weight, e = order->digit[k].extent;
        if (a == n || w <= 0 || e < 0) {
            *slots = 0;
            return 0;
        }
        if (e == 0)
            e = (extent[a] + w - 1) / w;
        else if (w >= extent[a])
            e = 1; /* whatever this digit is, its other values lie beyond the end */
        out[k] = (digit){order->digit[k].how, (uint8_t)a, w, e < 1 ? 1 : e};
        *slots *= (size_t)out[k].extent;
        if (*slots > (size_t)1 << 31) {
            *slots = 0;
            return 0;
        }
    }
    return order->n;
}

/* Fills leaf[]; false if some element stands in two slots or in none. */
static bool place(twi_tree *t, const digit *d, unsigned n_digits, const int64_t *extent, unsigned n,
                  uint8_t *seen) {
    int64_t value[24] = {0};
    size_t total = 1, found = 0;
    for (unsigned a = 0; a < n; a++)
        total *= (size_t)extent[a];
    for (size_t s = 0; s < t->slots; s++) {
        int64_t at[TWI_MAX_RANK] = {0};
        size_t flat = 0;
        bool inside = true;
        for (unsigned k = 0; k < n_digits; k++) {
            const bool back = d[k].how == TWI_HOW_BACK;
            at[d[k].axis] += (back ? d[k].extent - 1 - value[k] : value[k]) * d[k].weight;
        }
        for (unsigned a = 0; a < n; a++) {
            inside = inside && at[a] < extent[a];
            flat = flat * (size_t)extent[a] + (size_t)at[a];
        }
        t->leaf[s] = inside ? (uint32_t)flat : UINT32_MAX;
        if (inside) {
            if (seen[flat])
                return false;
            seen[flat] = 1;
            found++;
        }
        for (unsigned k = 0; k < n_digits && ++value[k] == d[k].extent; k++)
            value[k] = 0;
    }
    return found == total;
}

twi_tree *twi_tree_of(twi_arena *arena, const twi_order *order, const uint8_t *axis,
                      const int64_t *extent, unsigned n, bool merge) {
    digit d[24];
    size_t slots, total = 1;
    unsigned n_digits = read_digits(order, axis, extent, n, d, &slots);
    for (unsigned a = 0; a < n; a++)
        total *= (size_t)extent[a];
    if (slots == 0)
        return NULL;
    twi_tree *t = TWI_NEW(arena, twi_tree);
    t->slots = slots;
    t->leaf = TWI_NEW_N(arena, uint32_t, slots);
    if (!place(t, d, n_digits, extent, n, TWI_NEW_N(arena, uint8_t, total + 1)))
        return NULL;
    for (unsigned k = 0; k < n_digits; k++) { /* a tree of one keeps two chains apart */
        const uint8_t how = d[k].how == TWI_HOW_TREE ? TWI_HOW_TREE : TWI_HOW_CHAIN;
        add_level(t, how, (uint64_t)d[k].extent, merge && k > 0 && d[k - 1].how != TWI_HOW_TREE);
    }
    count_depth(t);
    return t;
}

twi_tree *twi_tree_fixed(twi_arena *arena, twi_order_kind order, size_t n) {
    twi_tree *t = TWI_NEW(arena, twi_tree);
    if (order != TWI_ORDER_CANONICAL) {
        t->slots = n;
        t->leaf = TWI_NEW_N(arena, uint32_t, n + 1);
        for (size_t s = 0; s < n; s++)
            t->leaf[s] = (uint32_t)(order == TWI_ORDER_RIGHT ? n - 1 - s : s);
        add_level(t, TWI_HOW_CHAIN, n, true);
        count_depth(t);
        return t;
    }
    twi_order o = {0};
    uint8_t axis = 0;
    int64_t extent = (int64_t)n;
    for (int64_t unit = 1; unit < extent && o.n + 2 <= 24; unit *= CHUNK) {
        o.digit[o.n++] = (twi_order_digit){axis, TWI_HOW_CHAIN, unit * LANES, CHUNK / LANES};
        o.digit[o.n++] = (twi_order_digit){axis, TWI_HOW_TREE, unit, LANES};
    }
    return twi_tree_of(arena, &o, &axis, &extent, 1, true);
}

double twi_tree_error(const twi_tree *t, const double *v, const double *e, double u, bool begun,
                      double *work) {
    double *pv = work,
           *pe = work + t->slots; /* partial sums and how far off the machine's may be */
    for (size_t s = 0; s < t->slots; s++) {
        bool there = t->leaf[s] != UINT32_MAX;
        pv[s] = there ? v[t->leaf[s]] : 0.0;
        pe[s] = there ? e[t->leaf[s]] : 0.0;
    }
    double terms = 0.0;
    for (size_t s = 0; s < t->slots; s++)
        terms += pe[s];
    size_t n = t->slots;
    for (uint32_t k = 0; k < t->levels; k++) {
        size_t width = t->level[k].extent;
        double g = twi_gamma(log2_up(width), u);
        bool chain = t->level[k].how == TWI_HOW_CHAIN;
        const bool onto = begun && k == 0; /* first terms are added to something */
        n /= width;
        for (size_t i = 0; i < n; i++) {
            const double *a = pv + i * width, *b = pe + i * width;
            double sum = a[0], mag = fabs(a[0]) + b[0], err = b[0] + (onto ? u * mag : 0.0);
            for (size_t j = 1; j < width; j++) {
                bool nothing = a[j] == 0.0 && b[j] == 0.0; /* adding zero is exact */
                bool first = !begun && sum == 0.0 && err == 0.0;
                sum += a[j];
                err += b[j];
                mag += fabs(a[j]) + b[j];
                if (chain && !nothing && !first)
                    err += u * (fabs(sum) + err);
            }
            if (!chain)
                err += (onto ? g + u : g) * mag;
            pv[i] = sum;
            pe[i] = err;
        }
    }
    double more = pe[0] - terms;
    return (more > 0.0 ? more : 0.0) * 0x1.000001p+0 + terms * 0x1p-40;
}

/* ---- canonical ---- */

static uint64_t merge(const twi_det *combine, uint64_t a, uint64_t b) {
    uint64_t x[2] = {a, b};
    return twi_det_do(combine, x);
}

static uint64_t chunk_of(const twi_det *combine, const uint64_t *x, size_t n) {
    uint64_t lane[LANES];
    for (size_t l = 0; l < LANES && l < n; l++) {
        lane[l] = x[l];
        for (size_t i = l + LANES; i < n; i += LANES)
            lane[l] = merge(combine, lane[l], x[i]);
    }
    size_t lanes = n < LANES ? n : LANES;
    for (size_t bit = 1; bit < LANES; bit *= 2)
        for (size_t l = 0; l + bit < lanes; l += 2 * bit)
            lane[l] = merge(combine, lane[l], lane[l + bit]);
    return lane[0];
}

uint64_t twi_canonical(const twi_det *combine, uint64_t *x, size_t n) {
    while (n > 1) { /* chunk results are a row under the same rule; they replace its front */
        size_t chunks = 0;
        for (size_t at = 0; at < n; at += CHUNK)
            x[chunks++] = chunk_of(combine, x + at, n - at < CHUNK ? n - at : CHUNK);
        n = chunks;
    }
    return x[0];
}
