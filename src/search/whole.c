/* SPDX-License-Identifier: Apache-2.0
 * Plans of whole kernels, for who wants to measure several: one scope's candidate, the other scopes
 * at their default.
 */
#include "search/view.h"

static twi_whole make(twi_arena *arena, const twi_plans *from, uint32_t scope,
                      const twi_candidate *c) {
    twi_plans *plans = TWI_NEW(arena, twi_plans);
    *plans = *from;
    plans->ir = from->n == 1 ? c->ir : from->ir;
    plans->scope = TWI_NEW_N(arena, twi_plan, from->n);
    for (uint32_t k = 0; k < from->n; k++)
        plans->scope[k] = k == scope ? *c->plan : from->scope[k];
    twi_share_entries(plans);
    return (twi_whole){.plans = plans, .score = c->score};
}

/* After what is equal. */
static void insert(twi_whole *all, uint32_t n, twi_whole now) {
    for (; n > 0 && now.score < all[n - 1].score; n--)
        all[n] = all[n - 1];
    all[n] = now;
}

static bool is_there(const twi_whole *all, uint32_t n, const twi_whole *one) {
    const uint64_t hash = twi_plan_hash(one->plans->ir, one->plans);
    for (uint32_t k = 0; k < n; k++)
        if (twi_plan_hash(all[k].plans->ir, all[k].plans) == hash)
            return true;
    return false;
}

uint32_t twi_search_whole(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                          const twi_wish *wish, twi_whole **out, twi_why *why) {
    twi_plans *first = twi_search_default(arena, ir, caps, wish, why);
    if (!first)
        return 0;
    twi_candidate **c = TWI_NEW_N(arena, twi_candidate *, first->n + 1);
    uint32_t *n = TWI_NEW_N(arena, uint32_t, first->n + 1), all = 0, found = 0;
    for (uint32_t s = 0; s < first->n; s++) {
        n[s] = twi_search_list(arena, ir, caps, wish, s, &c[s]);
        all += n[s];
    }
    *out = TWI_NEW_N(arena, twi_whole, all + 1);
    for (uint32_t s = 0; s < first->n; s++)
        for (uint32_t k = 0; k < n[s] && c[s][k].legal; k++) {
            const bool other_form = first->n > 1 && !twi_same_form(c[s][k].ir, first->ir);
            twi_whole one = make(arena, first, s, &c[s][k]);
            one.score -= c[s][0].score; /* of several scopes: what it adds to the default's */
            if (!other_form && !is_there(*out, found, &one))
                insert(*out, found++, one);
        }
    double base = 0;
    for (uint32_t s = 0; s < first->n; s++)
        base += c[s][0].score;
    for (uint32_t k = 0; k < found; k++)
        (*out)[k].score += base;
    return found;
}
