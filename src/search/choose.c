/* SPDX-License-Identifier: Apache-2.0
 * Picking a plan: proposals, pins, legality, tally, score. The default is the legal proposal with
 * the least score, the earlier one where scores are equal.
 */
#include "plan/rules.h"
#include "search/view.h"

static const twi_wish no_wish = {0};

/* Fills the candidate for one proposal. */
static void judge(const twi_view *v, const twi_wish *wish, twi_candidate *c) {
    c->legal = twi_pins_apply(v, wish, c->plan, &c->why) &&
               twi_plan_counted(v->arena, v->ir, v->caps, c->plan, &c->features, &c->why);
    if (!c->legal)
        return;
    c->legal = twi_pins_hold(v, wish, c->plan, &c->features, &c->why);
    if (c->legal)
        c->score = twi_search_cost(v->ir, v->caps, &c->features);
}

static bool before(const twi_candidate *x, const twi_candidate *y) {
    if (x->legal != y->legal)
        return x->legal;
    return x->legal && x->score < y->score;
}

enum { REFINED = 2 }; /* candidates whose places are searched */

static bool kept(const twi_plan *p, twi_id id) {
    const twi_place *place = twi_plan_place(p, id);
    return place && place->keep;
}

/* Copies a plan into another's memory, places apart. */
static void copy_plan(const twi_view *v, twi_plan *to, const twi_plan *from) {
    uint32_t cap = to->place.cap;
    twi_place *at = to->place.at;
    *to = *from;
    to->place.at = at;
    to->place.cap = cap;
    to->place.n = 0;
    for (uint32_t k = 0; k < from->place.n; k++)
        twi_push(v->arena, &to->place, from->place.at[k]);
}

/* Keeps or drops one crossing value after the other while the score falls; what changes nothing is
 * not kept. The plan is a new one. */
static void refine(const twi_view *v, const twi_wish *wish, twi_candidate *c) {
    twi_candidate best = *c, next;
    twi_plan *spare[2] = {TWI_NEW(v->arena, twi_plan), TWI_NEW(v->arena, twi_plan)};
    bool again = v->crossings > 0;
    while (again) {
        again = false;
        for (uint32_t i = 0; i < v->crossings; i++) {
            twi_id id = v->crossing[i];
            bool drop = kept(best.plan, id);
            next = best;
            next.plan = best.plan == spare[0] ? spare[1] : spare[0];
            copy_plan(v, next.plan, best.plan);
            twi_plan_set_place(v->arena, next.plan, id)->keep =
                drop ? TWI_KEEP_NONE : TWI_KEEP_STRIPE;
            judge(v, wish, &next);
            if (!next.legal || kept(next.plan, id) == drop ||
                (drop ? next.score > best.score : next.score >= best.score))
                continue;
            best = next;
            again = true;
        }
    }
    *c = best;
}

/* Inserts by legality and score, after what is equal. */
static void insert(twi_candidate *c, uint32_t n, const twi_candidate *now) {
    for (; n > 0 && before(now, &c[n - 1]); n--)
        c[n] = c[n - 1];
    c[n] = *now;
}

static uint32_t list(const twi_view *v, const twi_wish *wish, twi_candidate **out) {
    twi_offers *o = TWI_NEW(v->arena, twi_offers);
    twi_propose_all(o, v);
    twi_candidate *c = TWI_NEW_N(v->arena, twi_candidate, o->n + 1u);
    for (uint32_t i = 0; i < o->n; i++) {
        twi_candidate now = {.family = o->at[i].family, .ir = v->ir, .plan = o->at[i].plan};
        judge(v, wish, &now);
        insert(c, i, &now);
    }
    for (uint32_t i = 0; i < REFINED && i < o->n && c[i].legal; i++) {
        twi_candidate now = c[i];
        refine(v, wish, &now);
        insert(c, i, &now);
    }
    *out = c;
    return o->n;
}

uint32_t twi_list_of(twi_arena *arena, const tw_ir *ir, const twi_caps *caps, const twi_wish *wish,
                     uint32_t scope, twi_candidate **out) {
    twi_view *v = TWI_NEW(arena, twi_view);
    twi_view_init(v, arena, ir, caps, scope);
    return list(v, wish ? wish : &no_wish, out);
}

void twi_share_entries(twi_plans *plans) {
    for (uint32_t k = 0; k < plans->n; k++) {
        plans->scope[k].entry = plans->scope[0].entry;
        if (plans->scope[k].then)
            plans->scope[k].then->entry = plans->scope[0].entry;
    }
}

twi_plans *twi_default_of(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                          const twi_wish *wish, twi_why *why) {
    twi_plans *plans = TWI_NEW(arena, twi_plans);
    plans->ir = ir;
    plans->n = twi_par_count(ir);
    plans->scope = TWI_NEW_N(arena, twi_plan, plans->n);
    for (uint32_t k = 0; k < plans->n; k++) {
        twi_candidate *c;
        uint32_t n = twi_list_of(arena, ir, caps, wish, k, &c);
        if (!n || !c[0].legal) {
            *why = c[0].why;
            return NULL;
        }
        plans->scope[k] = *c[0].plan;
    }
    twi_share_entries(plans);
    return plans;
}

bool twi_search_legal(const tw_ir *ir, const twi_caps *caps, const twi_plans *plans, twi_why *why) {
    for (uint32_t k = 0; k < plans->n; k++)
        if (!twi_plan_legal(ir, caps, &plans->scope[k], why))
            return false;
    return true;
}

bool twi_search_why_not(twi_arena *arena, const tw_ir *ir, const twi_caps *caps, const char *pin,
                        twi_why *why) {
    twi_wish wish = {.pins = &pin, .n_pins = 1};
    uint32_t scopes = twi_par_count(ir);
    for (uint32_t k = 0; k < scopes; k++) {
        twi_candidate *c, *all;
        uint32_t n = twi_search_list(arena, ir, caps, &wish, k, &c), rank = 1;
        if (!n || !c[0].legal) {
            *why = c[0].why;
            return false;
        }
        uint32_t m = twi_search_list(arena, ir, caps, NULL, k, &all);
        while (rank <= m && all[rank - 1].legal && all[rank - 1].score < c[0].score)
            rank++;
        twi_sb sb;
        twi_sb_init(&sb, arena);
        twi_sb_str(&sb, "score ");
        twi_sb_fixed(&sb, c[0].score, 0);
        twi_sb_printf(&sb, " ns, rank %lu of %lu; the default's is ", (unsigned long)rank,
                      (unsigned long)m);
        twi_sb_fixed(&sb, all[0].score, 0);
        twi_sb_str(&sb, " ns");
        (void)twi_refuse(why, "%s", twi_sb_text(&sb));
    }
    return true;
}
