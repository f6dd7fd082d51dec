/* SPDX-License-Identifier: Apache-2.0
 * Planted faults: a module with one thing made wrong. For tests of what must notice (the oracle,
 * guard pages, the interpreter's trace).
 */
#ifndef TWI_LOOP_MUTATE_H
#define TWI_LOOP_MUTATE_H

#include "loop/loop.h"

typedef enum {
    TWI_MUTATE_DROP_LAST,    /* a count, a guard or a loop bound is one less */
    TWI_MUTATE_PAD_ZERO,     /* an identity that is not 0 becomes 0 */
    TWI_MUTATE_SKIP_STORE,   /* the last row of an output is not stored */
    TWI_MUTATE_LAST_TWICE,   /* the last step of a sum or product is done twice */
    TWI_MUTATE_ACCUM_BF16,   /* a fold's partial results are rounded to bf16 */
    TWI_MUTATE_WRITE_PAST,   /* the last store reaches one element further */
    TWI_MUTATE_READ_PAST,    /* the last load likewise */
    TWI_MUTATE_DROP_BARRIER, /* a barrier is gone */
    TWI_MUTATE_DROP_CARRY,   /* a combining step forgets what came before it */
    TWI_MUTATE_DROP_WAIT,    /* nobody waits for asynchronous copies */
    TWI_MUTATE_NOT_ATOMIC,   /* an atomic becomes load, operation and store */
    TWI_MUTATIONS
} twi_mutation;

const char *twi_mutation_name(unsigned which); /* "drop the last element"; NULL: no such kind */
/* Number of places where it applies. */
unsigned twi_mutation_places(const twi_loop *loop, unsigned which);
/* *out: a copy with the k-th of them made wrong; false if there is none. Mutants need not pass the
 * verifier. */
bool twi_mutate(const twi_loop *loop, unsigned kind, unsigned k, twi_arena *arena, twi_loop **out);

#endif
