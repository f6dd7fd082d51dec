/* SPDX-License-Identifier: Apache-2.0
 * A race: candidates are timed in rounds, each once a round, in an order that is turned and
 * reversed from round to round. Ratios are taken within a round, so that what is slow for a while
 * is slow for all. Where times come from is the caller's (tests have a false clock).
 */
#ifndef TWI_TUNE_RACE_H
#define TWI_TUNE_RACE_H

#include "base/arena.h"

typedef enum {
    TWI_SAMPLED,
    TWI_LOST, /* it crashed, hung or failed: out of the race, others go on */
    TWI_STOP  /* the caller's time is up: what is known holds */
} twi_sampled;

typedef struct {
    twi_arena *arena;
    uint32_t n; /* candidates; 0 is the sentinel too: first and last of each round */
    unsigned least, enough,
        most;          /* rounds before any leaves; undisturbed ones that are enough; all */
    double resolution; /* after `enough` it goes on while an interval of ln(ratio) is wider than
                          this to either side; 0: no */
    twi_sampled (*sample)(void *user, uint32_t candidate, unsigned round, double *ns);
    void *user;
} twi_race;

typedef struct {
    bool in, lost;
    double median_ns, ratio; /* NAN: none; ratio: to the sentinel, the middle one of its rounds */
    double *ns;              /* by round; NAN where it did not run */
} twi_runner;

typedef struct {
    twi_runner *at;
    unsigned rounds, disturbed; /* disturbed: the sentinel's two times differ by more than 10 % */
    double drift;               /* the sentinel's last third over its first, medians */
    bool stopped;
    uint32_t leader; /* n: nobody has a time */
} twi_race_result;

/* A candidate leaves when the 99 % interval of its paired ratios to the leader excludes a win and a
 * tie. Ends
 * when one is left, when all that are left are known to be within 1.5 % of the leader, after
 * `enough` undisturbed rounds (if they resolve as much as is asked for) or `most` in all, or when
 * sample says so. */
void twi_race_run(const twi_race *race, twi_race_result *out);
double twi_middle(twi_arena *arena, const double *v, unsigned n); /* of those that are numbers */
/* x over y: the middle of the ratios within rounds that both ran. What is slow for a round is slow
 * for both, so that it is nearer to the truth than the ratio of their medians. NAN: there is none.
 */
double twi_race_ratio(twi_arena *arena, const twi_race_result *r, uint32_t x, uint32_t y);
#define TWI_TIE 1.015

#endif
