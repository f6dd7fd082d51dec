/* SPDX-License-Identifier: Apache-2.0
 * One tuning on its way: contenders, what is known of each, what the store has. Steps are in
 * tune.c, in order.
 */
#ifndef TWI_TUNE_TUNE_H
#define TWI_TUNE_TUNE_H

#include "compile/path.h"
#include "tune/race.h"
#include "tune/store.h"
#include "tune/worker.h"

typedef struct {
    twi_plans *plans;
    double score_ns;                           /* of the model; NAN: not among its proposals */
    unsigned rank;                             /* of the model, from 1; 0: likewise */
    const char *hash, *text, *layout, *source; /* source: hash */
    twi_loop *loop;
    bool chosen, incumbent, tied, winner;
    bool known;          /* its verdict is the store's, of the same source */
    const char *verdict; /* NULL: untried */
    const char *note;
    double median_ns, ratio, confirm_ns;
    const char *samples;
} twi_contender;

typedef struct {
    tw_context *ctx;
    twi_arena *arena;
    const tw_ir *program; /* as it was given */
    const tw_compile_options *compile;
    const tw_tune_options *o;
    tw_store *store; /* NULL: none */
    twi_path path;   /* up to the class step */
    twi_wisdom key;  /* whom rows are for */
    twi_contender *at;
    uint32_t n;        /* all, by score; 0 is the model's first */
    int64_t end_ns;    /* of the budget; 0: none */
    int64_t until_ns;  /* of the part of it that the phase at hand has; 0: none */
    bool late;         /* some phase was cut short by time */
    double each_ns;    /* what a candidate's verdict takes; 0: all are the store's */
    volatile int stop; /* what runs is to end: asked for, or the phase's time is up */
    tw_tune_result *result;
    twi_worker *worker; /* the one that runs; NULL: none */
} twi_tuning;

/* Phases: each has a share of what is left of the budget. */
void twi_tune_phase(twi_tuning *t, double share);
bool twi_tune_asked(const twi_tuning *t); /* an end, by the caller? */
bool twi_tune_over(twi_tuning *t);        /* likewise, or is the phase's time up? */
void twi_tune_tell(const twi_tuning *t, const char *what, size_t done, size_t of);
/* candidates.c: contenders, chosen ones lowered. False: diagnostics. */
bool twi_tune_candidates(twi_tuning *t);
/* verdicts.c: the oracle on those that are chosen and not known, as far as the phase reaches; on n
 * that are right with other inputs: those that still are come first, and their number is returned.
 */
tw_status twi_tune_verdicts(twi_tuning *t);
uint32_t twi_tune_again(twi_tuning *t, twi_contender **of, uint32_t n);
/* record.c */
void twi_tune_recall(twi_tuning *t); /* what the store knows of the contenders */
bool twi_tune_record(twi_tuning *t); /* false: it could not be kept */

#endif
