/* SPDX-License-Identifier: Apache-2.0
 * Cutting a scope into steps. A value is available at a level: loads and leaves at 0, local values
 * with their operands, folds and results of serial regions one level later. Phase p of a region
 * evaluates, on demand, what its roots need: the folds whose operands are available at p, the
 * stores, the kept values, the carries' new values. Per region: for p = 0 .. : [starts of dots]
 * walk, collect, serial regions of level p.
 */
#ifndef TWI_LOWER_CUT_H
#define TWI_LOWER_CUT_H

#include "plan/plan.h"
#include "plan/scope.h"

typedef struct {
    uint16_t avail; /* level in its own region */
    uint16_t phase; /* roots (folds, stores, SERIAL): where they run */
    uint16_t
        last; /* local values: last phase of their region in which they are computed on demand */
    uint32_t region; /* it stands in */
    uint32_t at;     /* its place in `all` */
    bool kept; /* local value kept in a stripe, by the plan or because its array is stored too */
    bool crossing; /* local value used in a later phase than avail, or in an inner region */
    bool used;
} twi_cut_value;

typedef struct twi_cut {
    const tw_ir *ir;
    uint32_t scope;       /* region id of the PAR */
    twi_cut_value *value; /* by value id */
    uint16_t *phases;     /* by region id: number of levels; 0: not in this scope */
    TWI_VEC(twi_id) all;  /* values of the scope, inner regions included, in order */
} twi_cut;

/* plan NULL: nothing is kept but what must be. */
void twi_cut_scope(twi_arena *arena, const tw_ir *ir, const twi_plan *plan, uint32_t scope,
                   twi_cut *out);
/* Does the scope store the array? Does it load it? */
bool twi_scope_touches(const twi_cut *cut, uint32_t array, unsigned op);
/* All index axes and value axes of a LOAD or STORE, of an ATOMIC those of its instances (lifted
 * IR). */
uint64_t twi_access_axes(const tw_ir *ir, twi_id v);

#endif
