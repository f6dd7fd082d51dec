/* SPDX-License-Identifier: Apache-2.0
 * Lowering: a specialised, lifted tile IR and a plan a scope become loop IR. The same walk counts
 * (the tally), so that cost cannot drift from code. Reading order: cut.h, walk.h, then the files of
 * this folder as README.md lists them.
 */
#ifndef TWI_LOWER_LOWER_H
#define TWI_LOWER_LOWER_H

#include "loop/loop.h"
#include "plan/plan.h"

/* What one call of a scope does, counted by the walk: trips of open loops times what is built in
 * them. Run-time trip counts are estimated by the middle of their range. Vectors count once; index
 * arithmetic is not counted. "A group": on implicit lanes what one of its workers does, sectors and
 * turns apart. */
typedef struct twi_features {
    double ops[TWI_PRICES];           /* by price class, a group */
    double *load_bytes, *store_bytes; /* by array id: bytes moved by one group; a value computed
                                         twice loads twice */
    double *loads, *stores;           /* by array id: access instructions a group */
    double near_bytes; /* stripes, scratch and shared, in loops; asked for ahead: a part; a group */
    double again; /* bytes that loads of arrays take anew in each trip of a loop around, and that a
                     second level of cache holds meanwhile; explicit lanes, a group */
    double lane_rounds, barriers, trips; /* a group */
    double scattered; /* elements that vectors move one by one (gathers, strides), a group */
    double masked; /* accesses of vectors under masks that run-time indices make; explicit lanes, a
                      group */
    double jumps; /* accesses that step over lines from trip to trip, each by how far the loop goes:
                     in MiB, at most 8; a group */
    double crowded;  /* loads whose slots lie so that their lines push each other out of a first
                        level  of cache before the next trip reads on in them; a group */
    double *sectors; /* by array id: 32-byte sectors under the requests of a group's subgroups;
                        implicit lanes */
    double turns;    /* of the banks of shared memory, all subgroups of a group */
    double indexed;  /* accesses of private elements that a rolled loop numbers: implicit lanes have
                        them in memory; a worker */
    double rounds;   /* times that a worker waits for far memory: loads between two exchanges or in
                        one trip of a rolled loop wait together */
    double early;    /* likewise for data of later trips, beside the math of this one */
    bool meets;      /* has barriers, however often they run */
    bool waits[2];   /* while counting: such loads are under way, for this trip, for later ones */
    uint32_t arrays; /* length of the tables by array id: a scope's partial results stand right
                        behind the kernel's arrays (and their status) */
    const uint32_t *row; /* by the module's array id: that in the tables; NULL: the same */
    uint32_t status;     /* array of checked indices' status, which is not counted; 0: none */
    uint32_t code;       /* instructions with unrolling: code size */
    uint32_t built;      /* by the walk: what planning costs */
    uint32_t stripe, shared_bytes,
        slots;         /* elements kept a worker; bytes a group; most slots of one value */
    uint32_t operands; /* elements that a worker holds of the operands of one product of a fold */
    uint32_t workers, lanes;
    uint64_t private_bytes; /* of all private arrays, a worker */
    int64_t groups;
    struct twi_features *then; /* of the second launch, where the plan splits folds */
} twi_features;

/* Legal for lowering (maps by plan/rules.h, then what the walk can do)? False: why says so with
 * numbers. */
bool twi_plan_legal(const tw_ir *ir, const twi_caps *caps, const twi_plan *plan, twi_why *why);
/* The same but for what has to be counted; and that, of features that were. */
bool twi_plan_fits(const tw_ir *ir, const twi_caps *caps, const twi_plan *plan, twi_why *why);
bool twi_counts_fit(const twi_caps *caps, const twi_features *f, twi_why *why);
/* Both, with the features that twi_tally gives where it is legal. */
bool twi_plan_counted(twi_arena *arena, const tw_ir *ir, const twi_caps *caps, const twi_plan *plan,
                      twi_features *out, twi_why *why);
/* The module: one function an entry and scope. Plans must be legal. */
twi_loop *twi_lower(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                    const twi_plans *plans);
/* Features of one scope's plan at its last entry, the one with the most facts, counted while
 * walking; scratch memory is released. */
void twi_tally(twi_arena *arena, const tw_ir *ir, const twi_caps *caps, const twi_plan *plan,
               twi_features *out);
/* Asked between the nests of a walk about what it has counted so far: is it too much already? What
 * is known of a launch when it starts (groups, workers, lanes) is there, all else only grows;
 * `rounds` are those without barriers. */
typedef struct {
    bool (*is_over)(const void *user, const twi_features *so_far);
    const void *user;
    bool first; /* of two launches count the first alone */
} twi_cutoff;
/* twi_tally, unless it is cut off: then false, and the features are what was counted. Only the
 * first launch is asked about. */
bool twi_tally_within(twi_arena *arena, const tw_ir *ir, const twi_caps *caps, const twi_plan *plan,
                      const twi_cutoff *cutoff, twi_features *out);
/* The same figures counted over built loop IR: bodies times trips (last entry, the function of that
 * scope). */
void twi_count(twi_arena *arena, const twi_loop *loop, uint32_t scope, twi_features *out);

/* Order descriptors of the scope's FREE and TREE float folds, and depth of all, as the plan lowers
 * them. */
uint32_t twi_plan_orders(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                         const twi_plan *plan, twi_order **out);

/* Values that may be kept: local values of the scope used in a later phase than their own (ids,
 * ascending). */
uint32_t twi_crossing(twi_arena *arena, const tw_ir *ir, uint32_t scope, twi_id **out);
/* "cheap 12, div 0, .., groups 128": sums over arrays. */
const char *twi_features_text(twi_arena *arena, const twi_features *f);
/* Axes of those that are kept whatever a plan says: loads of arrays that the scope stores too. */
uint64_t twi_kept_axes(twi_arena *arena, const tw_ir *ir, uint32_t scope);
/* "derived" line of a plan: workers 128, lanes 32, shared 32, stripe 8, depth s 11, barriers 3 */
const char *twi_plan_derived(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                             const twi_plan *plan);

#endif
