/* SPDX-License-Identifier: Apache-2.0
 * Rounds, intervals, who leaves.
 */
#include "tune/race.h"

#include <math.h>
#include <stdlib.h>

static const double disturbance = 0.10;

static int by_size(const void *x, const void *y) {
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

double twi_middle(twi_arena *arena, const double *v, unsigned n) {
    const twi_mark mark = twi_arena_mark(arena);
    double *sorted = TWI_NEW_N(arena, double, n + 1);
    unsigned m = 0;
    for (unsigned k = 0; k < n; k++)
        if (!isnan(v[k]))
            sorted[m++] = v[k];
    qsort(sorted, m, sizeof *sorted, by_size);
    const double middle = !m       ? (double)NAN
                          : m % 2U ? sorted[m / 2]
                                   : (sorted[m / 2 - 1] + sorted[m / 2]) / 2;
    twi_arena_reset(arena, mark);
    return middle;
}

double twi_race_ratio(twi_arena *arena, const twi_race_result *r, uint32_t x, uint32_t y) {
    const twi_mark mark = twi_arena_mark(arena);
    double *ratio = TWI_NEW_N(arena, double, r->rounds + 1);
    for (unsigned k = 0; k < r->rounds; k++)
        ratio[k] = r->at[x].ns[k] / r->at[y].ns[k];
    const double middle = twi_middle(arena, ratio, r->rounds);
    twi_arena_reset(arena, mark);
    return middle;
}

typedef struct {
    const twi_race *race;
    twi_race_result *out;
    double *closing; /* of the sentinel, by round */
} state;

/* Student's t, one side, 99 %. */
static double quantile(unsigned freedom) {
    static const double t[] = {31.8, 31.8, 6.96, 4.54, 3.75, 3.36, 3.14, 3.0,
                               2.9,  2.82, 2.76, 2.72, 2.68, 2.65, 2.62, 2.6};
    const unsigned n = sizeof t / sizeof t[0];
    return freedom < n ? t[freedom] : 2.5;
}

/* Interval of ln(x / y) over the rounds that both ran. Disturbed ones too: to leave out those in
 * which the sentinel was slow would favour it. False: too few. */
static bool interval(const state *s, uint32_t x, uint32_t y, double *low, double *high) {
    double sum = 0, square = 0;
    unsigned n = 0;
    for (unsigned r = 0; r < s->out->rounds; r++) {
        const double v = log(s->out->at[x].ns[r] / s->out->at[y].ns[r]);
        if (isnan(v))
            continue;
        sum += v;
        square += v * v;
        n++;
    }
    if (n < 3)
        return false;
    const double mean = sum / n, variance = (square - sum * mean) / (n - 1);
    const double half = quantile(n - 1) * sqrt(variance > 0 ? variance / n : 0);
    *low = mean - half;
    *high = mean + half;
    return true;
}

static void medians(state *s) {
    twi_race_result *out = s->out;
    out->leader = s->race->n;
    for (uint32_t k = 0; k < s->race->n; k++) {
        twi_runner *c = &out->at[k];
        c->median_ns = twi_middle(s->race->arena, c->ns, out->rounds);
        c->ratio = twi_race_ratio(s->race->arena, out, k, 0);
        if (c->in && !isnan(c->median_ns) &&
            (out->leader == s->race->n || c->median_ns < out->at[out->leader].median_ns))
            out->leader = k;
    }
}

static bool take(state *s, uint32_t k, double *ns) {
    *ns = (double)NAN;
    switch (s->race->sample(s->race->user, k, s->out->rounds, ns)) {
    case TWI_STOP:
        s->out->stopped = true;
        return false;
    case TWI_LOST:
        s->out->at[k].in = false;
        s->out->at[k].lost = true;
        *ns = (double)NAN;
        break;
    case TWI_SAMPLED:
        break;
    }
    return true;
}

/* The sentinel, the others, the sentinel. A round that was broken off does not count. */
static bool one_round(state *s) {
    const unsigned r = s->out->rounds;
    const uint32_t n = s->race->n, others = n - 1;
    for (uint32_t k = 0; k < n; k++)
        s->out->at[k].ns[r] = (double)NAN;
    s->closing[r] = (double)NAN;
    if (!s->out->at[0].lost && !take(s, 0, &s->out->at[0].ns[r]))
        return false;
    for (uint32_t i = 0; i < others; i++) {
        const uint32_t turned = (i + r / 2) % others;
        const uint32_t k = 1 + (r % 2U ? others - 1 - turned : turned);
        if (s->out->at[k].in && !take(s, k, &s->out->at[k].ns[r]))
            return false;
    }
    if (!s->out->at[0].lost && !take(s, 0, &s->closing[r]))
        return false;
    const double change = s->closing[r] / s->out->at[0].ns[r] - 1;
    s->out->disturbed += fabs(change) > disturbance;
    s->out->rounds++;
    return true;
}

/* True: it is decided. */
static bool weed_out(state *s) {
    twi_race_result *out = s->out;
    const double tie = log(TWI_TIE);
    bool decided = true;
    for (uint32_t k = 0; k < s->race->n; k++) {
        double low, high;
        if (!out->at[k].in || k == out->leader)
            continue;
        if (!interval(s, k, out->leader, &low, &high)) {
            decided = false;
            continue;
        }
        if (low > tie)
            out->at[k].in = false;
        else
            decided = decided && high < tie;
    }
    return decided;
}

static bool is_enough(const state *s) {
    const twi_race_result *out = s->out;
    const twi_race *race = s->race;
    if (out->rounds - out->disturbed < race->enough)
        return false;
    for (uint32_t k = 0; race->resolution > 0 && k < race->n; k++) {
        double low, high;
        if (out->at[k].in && k != out->leader &&
            (!interval(s, k, out->leader, &low, &high) ||
             (high - low > 2 * race->resolution && low < race->resolution)))
            return false;
    }
    return true;
}

static double drift(const state *s) {
    const unsigned n = s->out->rounds, third = n / 3;
    if (!third)
        return 1;
    const double *ns = s->out->at[0].ns;
    return twi_middle(s->race->arena, ns + n - third, third) /
           twi_middle(s->race->arena, ns, third);
}

void twi_race_run(const twi_race *race, twi_race_result *out) {
    state s = {race, out, TWI_NEW_N(race->arena, double, race->most + 1)};
    *out =
        (twi_race_result){.at = TWI_NEW_N(race->arena, twi_runner, race->n + 1), .leader = race->n};
    for (uint32_t k = 0; k < race->n; k++) {
        out->at[k].in = true;
        out->at[k].ns = TWI_NEW_N(race->arena, double, race->most + 1);
    }
    while (out->rounds < race->most && !is_enough(&s) && one_round(&s)) {
        medians(&s);
        if (out->leader == race->n)
            break; /* all are lost */
        if (out->rounds >= race->least && weed_out(&s))
            break;
    }
    medians(&s);
    out->drift = drift(&s);
}
