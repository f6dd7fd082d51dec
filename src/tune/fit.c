/* SPDX-License-Identifier: Apache-2.0
 * The system that prices solve (fit.h). Each measured plan gives a row that asks for its time, and,
 * unless it is its group's best, one that asks for what it takes beyond the best: what all plans of
 * a group have in common falls out there, so that an error in it cannot turn the ranking. Rows are
 * relative to the plan's time. One row a term asks for the analytic price, scaled, and weighs as
 * much as one group: what every plan has in the same proportion (bytes and the accesses that bring
 * them) no fit can tell apart, and it would give all of the price to either of them.
 */
#include "tune/fit.h"

#include "tune/nnls.h"
#include "tune/race.h"

#include <math.h>

/* Beside rows of which a group's have length 1 together. */
static const double prior = 1.0, ranking = 2.0;

double twi_fit_score(const twi_measured *m, const double price[TWI_COSTS]) {
    double ns = 0;
    for (unsigned k = 0; k < TWI_COSTS; k++)
        ns += m->amount[k] * price[k];
    return ns;
}

uint32_t twi_fit_pick(const twi_group *g, const double price[TWI_COSTS]) {
    uint32_t best = 0;
    for (uint32_t k = 1; k < g->n; k++)
        if (twi_fit_score(&g->at[k], price) < twi_fit_score(&g->at[best], price))
            best = k;
    return best;
}

static uint32_t quickest(const twi_group *g) {
    uint32_t best = 0;
    for (uint32_t k = 1; k < g->n; k++)
        if (g->at[k].ns < g->at[best].ns)
            best = k;
    return best;
}

double twi_fit_regret(const twi_group *g, const double price[TWI_COSTS]) {
    return g->at[twi_fit_pick(g, price)].ns / g->at[quickest(g)].ns - 1;
}

typedef struct {
    double *a, *b;
    unsigned rows;
} rows;

static void add_row(rows *r, const double *amount, const double *less, double ns, double weight) {
    for (unsigned k = 0; k < TWI_COSTS; k++)
        r->a[(size_t)r->rows * TWI_COSTS + k] = weight * (amount[k] - (less ? less[k] : 0));
    r->b[r->rows++] = weight * ns;
}

static void add_group(rows *r, const twi_group *g) {
    const twi_measured *best = &g->at[quickest(g)];
    for (uint32_t k = 0; k < g->n; k++) {
        const twi_measured *m = &g->at[k];
        const double share = 1 / sqrt((double)g->n);
        add_row(r, m->amount, NULL, m->ns, share / m->ns * sqrt(best->ns / m->ns));
        if (m != best)
            add_row(r, m->amount, best->amount, m->ns - best->ns, ranking * share / m->ns);
    }
}

/* The middle of times over scores: how far the analytic prices are off altogether. */
static double scale_of(twi_arena *arena, const twi_group *group, uint32_t n, uint32_t all,
                       const double *price) {
    double *ratio = TWI_NEW_N(arena, double, all + 1);
    unsigned m = 0;
    for (uint32_t g = 0; g < n; g++)
        for (uint32_t k = 0; k < group[g].n; k++)
            ratio[m++] = group[g].at[k].ns / twi_fit_score(&group[g].at[k], price);
    return twi_middle(arena, ratio, m);
}

bool twi_fit(twi_arena *arena, const twi_group *group, uint32_t n, const double analytic[TWI_COSTS],
             double price[TWI_COSTS]) {
    uint32_t all = 0;
    for (uint32_t g = 0; g < n; g++)
        all += group[g].n;
    const size_t most = 2 * (size_t)all + TWI_COSTS;
    rows r = {.a = TWI_NEW_N(arena, double, most *TWI_COSTS), .b = TWI_NEW_N(arena, double, most)};
    const double scale = all ? scale_of(arena, group, n, all, analytic) : 1;
    for (uint32_t g = 0; g < n; g++)
        add_group(&r, &group[g]);
    for (unsigned k = 0; k < TWI_COSTS; k++) {
        double one[TWI_COSTS] = {0};
        one[k] = 1;
        if (analytic[k] > 0)
            add_row(&r, one, NULL, scale * analytic[k], prior / (scale * analytic[k]));
    }
    return twi_nnls(arena, r.a, r.b, r.rows, TWI_COSTS, price);
}

double twi_fit_residuals(twi_arena *arena, const twi_group *group, uint32_t n,
                         const double price[TWI_COSTS], double by_term[TWI_COSTS]) {
    uint32_t all = 0;
    for (uint32_t g = 0; g < n; g++)
        all += group[g].n;
    double *off = TWI_NEW_N(arena, double, all + 1), *of_term = TWI_NEW_N(arena, double, all + 1);
    for (unsigned c = 0; c <= TWI_COSTS; c++) {
        unsigned m = 0, taken = 0;
        for (uint32_t g = 0; g < n; g++)
            for (uint32_t k = 0; k < group[g].n; k++, m++) {
                const double score = twi_fit_score(&group[g].at[k], price);
                off[m] = fabs(score / group[g].at[k].ns - 1);
                if (c < TWI_COSTS && group[g].at[k].amount[c] * price[c] >= 0.1 * score)
                    of_term[taken++] = off[m];
            }
        if (c < TWI_COSTS)
            by_term[c] = twi_middle(arena, of_term, taken);
    }
    return twi_middle(arena, off, all);
}
