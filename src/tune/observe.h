/* SPDX-License-Identifier: Apache-2.0
 * Plans of one suite case, built and timed side by side in a child.
 */
#ifndef TWI_TUNE_OBSERVE_H
#define TWI_TUNE_OBSERVE_H

#include "compile/path.h"
#include "tilewright/program.h"
#include "tune/fit.h"
#include "tune/suite.h"
#include "tune/worker.h"

typedef struct {
    tw_context *ctx;
    twi_arena *arena;
    const twi_where *where; /* analytic */
    tw_program *suite;
    const double *fitted; /* prices whose first plans take part too; NULL: none yet */
    int64_t end_ns;       /* of the budget; 0: none */
    const volatile int *stop;
    twi_worker *worker; /* the one that runs; NULL: none */
} twi_observer;

bool twi_observe_over(const twi_observer *o);
/* n 0: time was up, or nothing could be built and timed. */
twi_group twi_observe(twi_observer *o, const twi_suite_case *c);

#endif
