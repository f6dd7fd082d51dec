/* SPDX-License-Identifier: Apache-2.0
 * Search: plans for a specialised, lifted tile IR on a target. Everything is deterministic: the
 * same IR, caps and wish give the same plans. A failure says why with numbers (the best candidate's
 * reason).
 */
#ifndef TWI_SEARCH_SEARCH_H
#define TWI_SEARCH_SEARCH_H

#include "caps/costs.h"
#include "lower/lower.h"

/* What the caller asks for. Pins: lines of plan text ("value h: keep stripe"), keys of its first
 * line (isa=avx2), derived figures (workers=256, shared<=32768), keep=preserve |
 * keep=expensive-only. */
typedef struct twi_wish {
    const char *const *pins;
    uint32_t n_pins;
} twi_wish;

/* Are all pins well formed for this IR? False: diagnostics say what each wrong one could be. */
bool twi_search_pins(const tw_ir *ir, const twi_wish *wish);

/* The model's first. NULL: why. wish may be NULL. */
twi_plans *twi_search_default(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                              const twi_wish *wish, twi_why *why);
/* Any legal plan, by seed. */
twi_plans *twi_search_random(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                             const twi_wish *wish, uint64_t seed, twi_why *why);

typedef struct {
    const char *family;
    bool placed;     /* what is kept is not searched */
    const tw_ir *ir; /* that the plan is for: with merges, with joins, or as it was given */
    uint32_t at;     /* in the order proposed */
    twi_plan *plan;
    bool legal;
    double score;          /* ns, by the model; legal ones only */
    twi_features features; /* legal ones only */
    twi_why why;           /* the others */
} twi_candidate;
/* All that the families propose for a scope, with and without merges and joins: legal ones by
 * score, then the refused in the order proposed. */
uint32_t twi_search_list(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                         const twi_wish *wish, uint32_t scope, twi_candidate **out);
/* Plans of the whole kernel, by score: one scope's candidate, the other scopes at their default.
 * The first is the model's. 0: why. */
typedef struct {
    twi_plans *plans;
    double score;
} twi_whole;
uint32_t twi_search_whole(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                          const twi_wish *wish, twi_whole **out, twi_why *why);
/* Answers `--why-not PIN`: true: it is legal, why says at which score and rank; false: the reason.
 */
bool twi_search_why_not(twi_arena *arena, const tw_ir *ir, const twi_caps *caps, const char *pin,
                        twi_why *why);

/* Legality of every scope's plan, of one read from a file for example. */
bool twi_search_legal(const tw_ir *ir, const twi_caps *caps, const twi_plans *plans, twi_why *why);
/* Score of a scope's plan in ns: analytic, or by the prices that the caps have from a calibration.
 */
double twi_search_cost(const tw_ir *ir, const twi_caps *caps, const twi_features *f);
/* Explicit lanes: what a call does, by term, where `units` threads share the groups. Times the
 * prices it is the score. */
void twi_search_amounts(const tw_ir *ir, const twi_caps *caps, const twi_features *f,
                        uint32_t units, double x[TWI_COSTS]);

/* --class canonical: looser float folds become canonical, native math portable; on a clone of the
 * caller's. True: something changed. */
bool twi_canonical_orders(tw_ir *ir);

#endif
