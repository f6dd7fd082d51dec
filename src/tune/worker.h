/* SPDX-License-Identifier: Apache-2.0
 * The child in which candidates are built and timed: with limits of time and memory, on arrays of
 * its own. When it dies or hangs, the candidate at hand is lost and another child goes on.
 */
#ifndef TWI_TUNE_WORKER_H
#define TWI_TUNE_WORKER_H

#include "compile/path.h"
#include "judge/child.h"
#include "tune/race.h"

typedef struct {
    const twi_loop *loop;
    bool out;            /* not to be built (any more) */
    const char *verdict; /* NULL; once it was lost: crashed, timeout, refused */
    char note[200];      /* and why */
} twi_entrant;

typedef struct {
    tw_context *ctx;
    twi_arena *arena;
    const twi_where *where;
    const tw_ir *ir; /* specialised */
    const tw_scalar_value *scalars;
    size_t n_scalars;
    uint64_t seed; /* of the inputs */
    twi_entrant *entrant;
    uint32_t n;
    bool rebuild; /* one by one, without the store's objects, and kept there */
    int threads, build_limit_ms, run_limit_ms;
    int64_t sample_ns; /* about so long is a sample */
    uint64_t memory;   /* bytes that the child may map beyond what there is; 0: any */
    /* inside */
    twi_child child;
    int to; /* commands */
    bool running;
} twi_worker;

/* Time of a call of entrant k, measured over about sample_ns. Rounds take sets of arrays in turn,
 * so that no plan wins by where the arrays of one process happen to lie. */
twi_sampled twi_worker_time(twi_worker *w, uint32_t k, unsigned round, double *ns);
void twi_worker_end(twi_worker *w);

#endif
