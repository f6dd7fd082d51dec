/* SPDX-License-Identifier: Apache-2.0
 * Do two strided boxes of memory share a byte? Exists there an integer solution, inside bounds, of
 *     low < distance + sum of coefficient * variable < high?
 * Searched with the largest coefficient first: the others bound what it may be, so that layouts
 * that people have take a few steps. A search that grows too long counts as an overlap: refusing is
 * safe.
 */
#include "run/kernel.h"

enum { MOST_TERMS = 2 * TWI_MAX_RANK, MOST_STEPS = 100000 };

typedef struct {
    int64_t coefficient; /* > 0 */
    int64_t least, most;
} term;

typedef struct {
    term term[MOST_TERMS];
    int64_t rest_low[MOST_TERMS + 1],
        rest_high[MOST_TERMS + 1]; /* sums over the terms from here on */
    int n, steps;
    int64_t low, high; /* open interval of the whole */
    bool not_all_zero;
} problem;

static void begin(problem *p, int64_t low, int64_t high, bool not_all_zero) {
    p->n = p->steps = 0;
    p->low = low;
    p->high = high;
    p->not_all_zero = not_all_zero;
}

/* One coefficient once: equal ones add their ranges. */
static void add_term(problem *p, int64_t coefficient, int64_t least, int64_t most) {
    if (coefficient < 0) {
        const int64_t swap = least;
        coefficient = -coefficient;
        least = -most;
        most = -swap;
    }
    for (int i = 0; i < p->n && !p->not_all_zero; i++) {
        if (p->term[i].coefficient == coefficient) {
            p->term[i].least += least;
            p->term[i].most += most;
            return;
        }
    }
    int at = p->n++;
    while (at > 0 && p->term[at - 1].coefficient < coefficient) {
        p->term[at] = p->term[at - 1];
        at--;
    }
    p->term[at] = (term){coefficient, least, most};
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }

static bool search(problem *p, int at, int64_t sum, bool all_zero) {
    if (++p->steps > MOST_STEPS)
        return true;
    if (at == p->n)
        return sum > p->low && sum < p->high && !(all_zero && p->not_all_zero);
    const term *t = &p->term[at];
    /* low < sum + c x + rest < high for some rest in its range */
    int64_t least = floor_div(p->low - sum - p->rest_high[at + 1], t->coefficient) + 1;
    int64_t most = floor_div(p->high - sum - p->rest_low[at + 1] - 1, t->coefficient);
    least = least > t->least ? least : t->least;
    most = most < t->most ? most : t->most;
    for (int64_t x = least; x <= most; x++)
        if (search(p, at + 1, sum + t->coefficient * x, all_zero && x == 0))
            return true;
    return false;
}

static bool solve(problem *p, int64_t distance) {
    p->rest_low[p->n] = p->rest_high[p->n] = 0;
    for (int i = p->n; i-- > 0;) {
        p->rest_low[i] = p->rest_low[i + 1] + p->term[i].coefficient * p->term[i].least;
        p->rest_high[i] = p->rest_high[i + 1] + p->term[i].coefficient * p->term[i].most;
    }
    return search(p, 0, distance, true);
}

static bool is_empty(const twi_box *a) {
    for (int d = 0; d < a->rank; d++)
        if (a->extent[d] == 0)
            return true;
    return false;
}

static void add_box(problem *p, const twi_box *a, bool minus) {
    for (int d = 0; d < a->rank; d++)
        if (a->extent[d] > 1 && a->stride[d] != 0)
            add_term(p, minus ? -a->stride[d] : a->stride[d], 0, a->extent[d] - 1);
}

static void span(const twi_box *a, intptr_t *low, intptr_t *high) {
    *low = (intptr_t)a->base;
    *high = *low + (intptr_t)a->size;
    for (int d = 0; d < a->rank; d++) {
        const intptr_t reach = (intptr_t)(a->stride[d] * (a->extent[d] - 1));
        *(reach < 0 ? low : high) += reach;
    }
}

bool twi_boxes_overlap(const twi_box *a, const twi_box *b) {
    intptr_t a_low, a_high, b_low, b_high;
    if (is_empty(a) || is_empty(b))
        return false;
    span(a, &a_low, &a_high);
    span(b, &b_low, &b_high);
    if (a_high <= b_low || b_high <= a_low)
        return false;
    problem p; /* its tables are filled as far as they are used */
    begin(&p, -(int64_t)a->size, (int64_t)b->size, false);
    add_box(&p, a, false);
    add_box(&p, b, true);
    return solve(&p, (int64_t)((intptr_t)a->base - (intptr_t)b->base));
}

bool twi_box_overlaps_itself(const twi_box *a) {
    problem p;
    begin(&p, -(int64_t)a->size, (int64_t)a->size, true);
    if (is_empty(a))
        return false;
    for (int d = 0; d < a->rank; d++) {
        if (a->extent[d] > 1 && a->stride[d] == 0)
            return true;
        if (a->extent[d] > 1)
            add_term(&p, a->stride[d], -(a->extent[d] - 1), a->extent[d] - 1);
    }
    return solve(&p, 0);
}
