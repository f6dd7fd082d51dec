/* SPDX-License-Identifier: Apache-2.0
 * Runs loop IR without a compiler: all workers of a group in lockstep, one operation at a time.
 *   value  the exact IEEE meaning (portable functions included); bits equal compiled code
 *   depth  beside it, the rounding depth of every fold (COMBINE steps; identities are empty)
 *   trace  checks: reads of elements of shared, private, scratch and temp never written, races
 * between workers of a group without a barrier in between, accesses outside objects, stores of one
 * output element twice (by different instances), output elements never stored; counts loads by
 * array, shared wavefronts, barriers, operations
 */
#ifndef TWI_LOOP_INTERP_H
#define TWI_LOOP_INTERP_H

#include "loop/loop.h"

typedef struct {
    void *data;            /* storage type, base of element 0 */
    const int64_t *shape;  /* rank numbers */
    const int64_t *stride; /* in elements */
} twi_interp_array;

typedef enum {
    TWI_FAULT_NONE,
    TWI_FAULT_OUTSIDE,
    TWI_FAULT_UNWRITTEN,
    TWI_FAULT_RACE,
    TWI_FAULT_TWICE,
    TWI_FAULT_MISSING,
    TWI_FAULT_DIVERGED
} twi_fault_kind;
typedef struct {
    twi_fault_kind kind;
    uint32_t func;
    twi_lid at;     /* the instruction */
    char text[200]; /* names object, element, workers, the other instruction */
} twi_fault;

typedef struct {
    uint64_t
        ops[8]; /* elementwise, executed, by twi_price, once an active worker; vectors count once;
                   + 4: on i64 scalars (mostly addresses) */
    uint64_t *loads, *stores; /* elements, by tile IR array id */
    uint64_t barriers, lane_rounds, shared_wavefronts;
} twi_counts;

typedef struct {
    twi_fault fault; /* first one; NONE: clean */
    uint32_t *depth; /* by fold (tile IR value id): deepest rounding chain seen */
    uint32_t folds;  /* of depth[] */
    twi_counts counts;
} twi_interp_result;

/* arrays by tile IR array id (temps too: allocated by the caller, contents unspecified), scalars'
 * bits by id. */
void twi_interp_run(const twi_loop *loop, uint32_t entry, const twi_interp_array *arrays,
                    const uint64_t *scalars, twi_arena *arena, twi_interp_result *result);

#endif
