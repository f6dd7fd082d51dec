/* SPDX-License-Identifier: Apache-2.0
 * Merges as choices: the program as it is written, and with every fold taken into an earlier one
 * that can be (pass/merge.c), are planned apart; what is asked of the search is asked of both.
 * Values keep their names, so that pins mean the same in either.
 */
#include "pass/pass.h"
#include "search/view.h"

#include <math.h>

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
static double score_of(const twi_question *q, const twi_plans *plans) {
    double score = 0.0;
    for (uint32_t k = 0; k < plans->n; k++) {
        twi_features f;
        twi_tally(q->arena, plans->ir, q->caps, &plans->scope[k], &f);
        twi_effort_add(q->effort, &f);
        score += twi_search_cost(plans->ir, q->caps, &f);
    }
    return score;
}

static const twi_wish no_wish = {0};

twi_plans *twi_search_default(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                              const twi_wish *wish, twi_why *why) {
    forms f = forms_of(arena, ir);
    twi_effort effort = {0, 0};
    twi_question q = {arena, ir, caps, wish ? wish : &no_wish, &effort, INFINITY};
    twi_plans *best = twi_default_of(&q, why);
    double least = best && f.n > 1 ? score_of(&q, best) : INFINITY;
    for (uint32_t k = 1; k < f.n; k++) {
        twi_why other;
        q.ir = f.ir[k];
        q.limit = least;
        twi_plans *p = twi_default_of(&q, &other);
        double score = p ? score_of(&q, p) : INFINITY;
        if (p && (!best || score < least)) {
            best = p;
            least = score;
        }
    }
    if (best) {
        best->walks = effort.walks;
        best->built = effort.built;
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

void twi_effort_add(twi_effort *e, const twi_features *f) {
    for (; e && f; f = f->then) {
        e->walks++;
        e->built += f->built;
    }
}

static bool before(const twi_candidate *x, const twi_candidate *y) {
    return x->legal != y->legal ? x->legal : x->legal && x->score < y->score;
}

bool twi_best_form(const twi_question *q, uint32_t scope, twi_candidate *out) {
    forms f = forms_of(q->arena, q->ir);
    twi_question one = *q;
    bool any = false;
    for (uint32_t k = 0; k < f.n; k++) {
        twi_candidate c;
        one.ir = f.ir[k];
        any = twi_best_of(&one, scope, &c) || any;
        if (k == 0 || before(&c, out))
            *out = c;
        one.limit = out->legal ? out->score : INFINITY;
    }
    return any;
}

uint32_t twi_search_list(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                         const twi_wish *wish, uint32_t scope, twi_candidate **out) {
    forms f = forms_of(arena, ir);
    twi_candidate *c[FORMS] = {NULL};
    uint32_t n[FORMS] = {0}, at[FORMS] = {0}, all = 0;
    for (uint32_t k = 0; k < f.n; k++) {
        twi_question q = {arena, f.ir[k], caps, wish ? wish : &no_wish, NULL, INFINITY};
        n[k] = twi_list_of(&q, scope, &c[k]);
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
