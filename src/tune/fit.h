/* SPDX-License-Identifier: Apache-2.0
 * Prices from measured plans. Knows neither kernels nor clocks: its tests plant both.
 */
#ifndef TWI_TUNE_FIT_H
#define TWI_TUNE_FIT_H

#include "base/arena.h"
#include "caps/costs.h"

/* A plan as the model sees it, and what a call took. */
typedef struct {
    double amount[TWI_COSTS];
    double ns;
} twi_measured;
typedef struct {
    const twi_measured *at;
    uint32_t n;
} twi_group; /* plans of one kernel at one shape, measured side by side */

double twi_fit_score(const twi_measured *m, const double price[TWI_COSTS]);
/* The plan of the least score, the first of equals. n > 0. */
uint32_t twi_fit_pick(const twi_group *g, const double price[TWI_COSTS]);
/* What that pick takes over the best, less 1. */
double twi_fit_regret(const twi_group *g, const double price[TWI_COSTS]);

/* Non-negative prices under which scores are near times, most of all where a group's plans are
 * near its best, and differences of scores near differences of times. Where nothing was measured
 * that tells, prices stay near the analytic ones, all scaled alike. False: no end was found. */
bool twi_fit(twi_arena *arena, const twi_group *group, uint32_t n, const double analytic[TWI_COSTS],
             double price[TWI_COSTS]);

/* The middle of |score / time - 1|: of all, and by term of those plans of which it makes up a tenth
 * or more (NAN: none). */
double twi_fit_residuals(twi_arena *arena, const twi_group *group, uint32_t n,
                         const double price[TWI_COSTS], double by_term[TWI_COSTS]);

#endif
