/* SPDX-License-Identifier: Apache-2.0
 * One case of verify: its plans as trials, its inputs on one fixture, what running a trial left.
 */
#ifndef TWI_JUDGE_UNIT_H
#define TWI_JUDGE_UNIT_H

#include "compile/path.h"
#include "oracle/fixtures.h"
#include "oracle/oracle.h"
#include "tilewright/judge.h"

/* One plan. */
typedef struct {
    const char *how;     /* "default", "random:7", a file's name */
    const char *plan;    /* hash, 16 digits; "-": none */
    const char *source;  /* hash; "": none */
    const char *refused; /* NULL: it can be run */
    twi_loop *loop;
    tw_kernel *kernel; /* compiled targets */
    uint32_t depth;
} twi_trial;

typedef enum {
    TWI_RAN_NOT,
    TWI_RAN,
    TWI_RAN_REFUSED,
    TWI_RAN_STRAY,
    TWI_RAN_INPUT,
    TWI_RAN_FAULT,
    TWI_RAN_CRASHED,
    TWI_RAN_TIMEOUT
} twi_ran;
/* What a run left, in memory that parent and child share. Two passes: arrays at the start of a page
 * and entry by the facts there; arrays that end with a page. */
typedef struct {
    twi_ran how;
    int passes;           /* finished ones */
    int64_t offending[2]; /* pass by pass: the least instance that left an array by a checked index;
                             -1: none */
    char note[240];
} twi_outcome;

typedef struct {
    tw_context *ctx;
    twi_arena *arena;
    const tw_verify_case *c;
    const tw_verify_options *o;
    int fd;          /* where rows go */
    const tw_ir *ir; /* specialised, as the oracle reads it */
    twi_where where;
    twi_target *target;
    twi_trial *trial;
    uint32_t trials;
    twi_fixture from, to; /* fixtures that one child runs: a device is opened once for all */
    size_t slot;          /* bytes of one of them in `shared` */
    bool lost;            /* in a child: the device is of no use any more */
    /* of the fixture at hand */
    twi_fixture fixture;
    void **input;       /* dense, by array id: in, inout */
    twi_fixture filled; /* whose values those are */
    uint64_t *scalar;   /* bits by id */
    size_t *offset;     /* of each out and inout array in a pass's results, by array id */
    size_t results;     /* bytes of a pass's results */
    char *shared;       /* [fixture]: outcomes, then results: [trial][pass] */
} twi_unit;

enum { TWI_PASSES = 2 };
static inline bool twi_is_result(const tw_ir *ir, uint32_t array) {
    return ir->array.at[array].role == TWI_OUT || ir->array.at[array].role == TWI_INOUT;
}
static inline twi_outcome *twi_outcome_of(const twi_unit *u, uint32_t trial) {
    return (twi_outcome *)(void *)(u->shared + (size_t)(u->fixture - u->from) * u->slot) + trial;
}
char *twi_result_of(const twi_unit *u, uint32_t trial, unsigned pass, uint32_t array);

void twi_unit_run(twi_unit *u); /* unit.c: the whole case */
bool twi_unit_wants(const twi_unit *u, twi_fixture fixture);
void twi_unit_inputs(twi_unit *u); /* unit.c: those of the fixture at hand, unless they are */
bool twi_unit_plans(twi_unit *u);  /* plans.c: trials, built */
bool twi_trials_run(twi_unit *u);  /* trial.c: all on the fixtures from .. to */
void twi_unit_judge(twi_unit *u);  /* verdict.c: a row a trial */
void twi_unit_row(twi_unit *u,
                  tw_verify_row *row); /* unit.c: fills what all rows share, sends it */
const char *twi_first_error(tw_context *ctx, const char *otherwise);

#endif
