/* SPDX-License-Identifier: Apache-2.0
 * Merges as choices: the program as it is written, and with every fold taken into an earlier one
 * that can be (pass/merge.c), are planned apart; what is asked of the search is asked of both.
 * Values keep their names, so that pins mean the same in either.
 */
#include "pass/pass.h"
#include "search/view.h"

enum { FORMS = 2 };
typedef struct {
    const tw_ir *ir[FORMS];
    uint32_t n;
} forms;

static forms forms_of(twi_arena *arena, const tw_ir *ir) {
    forms f = {.ir = {ir}, .n = 1};
    bool any = false;
    for (twi_id v = 1; v < ir->ins.n && !any && !ir->merged; v++)
        any = twi_can_merge(ir, v);
    if (!any)
        return f;
    tw_ir *merged = twi_ir_clone(ir, arena);
    for (twi_id v = 1; v < ir->ins.n; v++)
        (void)opt_merge(merged, v);
    f.ir[f.n++] = merged;
    return f;
}

/* Of all scopes together. */
static double score_of(twi_arena *arena, const twi_caps *caps, const twi_plans *plans) {
    double score = 0.0;
    for (uint32_t k = 0; k < plans->n; k++) {
        twi_features f;
        twi_tally(arena, plans->ir, caps, &plans->scope[k], &f);
        score += twi_search_cost(plans->ir, caps, &f);
    }
    return score;
}

twi_plans *twi_search_default(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                              const twi_wish *wish, twi_why *why) {
    forms f = forms_of(arena, ir);
    twi_plans *best = twi_default_of(arena, ir, caps, wish, why);
    for (uint32_t k = 1; k < f.n; k++) {
        twi_why other;
        twi_plans *p = twi_default_of(arena, f.ir[k], caps, wish, &other);
        if (p && (!best || score_of(arena, caps, p) < score_of(arena, caps, best)))
            best = p;
    }
    return best;
}

twi_plans *twi_search_random(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                             const twi_wish *wish, uint64_t seed, twi_why *why) {
    forms f = forms_of(arena, ir);
    twi_rng rng;
    twi_rng_init(&rng, seed);
    uint32_t first = f.n > 1 ? (uint32_t)twi_rng_below(&rng, f.n) : 0;
    twi_plans *p = twi_random_of(arena, f.ir[first], caps, wish, seed, why);
    for (uint32_t k = 0; k < f.n && !p; k++) /* pins may leave one form alone */
        p = twi_random_of(arena, f.ir[k], caps, wish, seed, why);
    return p;
}

static bool before(const twi_candidate *x, const twi_candidate *y) {
    return x->legal != y->legal ? x->legal : x->legal && x->score < y->score;
}

uint32_t twi_search_list(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                         const twi_wish *wish, uint32_t scope, twi_candidate **out) {
    forms f = forms_of(arena, ir);
    twi_candidate *c[FORMS] = {NULL};
    uint32_t n[FORMS] = {0}, at[FORMS] = {0}, all = 0;
    for (uint32_t k = 0; k < f.n; k++) {
        n[k] = twi_list_of(arena, f.ir[k], caps, wish, scope, &c[k]);
        all += n[k];
    }
    *out = f.n > 1 ? TWI_NEW_N(arena, twi_candidate, all + 1u) : c[0];
    for (uint32_t i = 0; f.n > 1 && i < all; i++) {
        bool second = at[0] == n[0] || (at[1] < n[1] && before(&c[1][at[1]], &c[0][at[0]]));
        (*out)[i] = c[second][at[second]];
        at[second]++;
    }
    return all;
}
