/* SPDX-License-Identifier: Apache-2.0
 * Picking a plan: proposals, pins, legality, tally, score. The default is the legal proposal with
 * the least score, the earlier one where scores are equal. It is picked without the splits whose
 * first launch alone takes longer; who asks for the list gets those too.
 */
#include "plan/rules.h"
#include "search/view.h"

#include <math.h>
#include <stdlib.h>

/* Fills the candidate for one proposal. One that takes more than the limit need not be counted to
 * its end: it is none that is legal. */
static void judge(const twi_view *v, const twi_wish *wish, double limit, twi_candidate *c) {
    const twi_patience p = {v, limit};
    const twi_cutoff cutoff = {twi_is_over, &p, false};
    c->legal = twi_pins_apply(v, wish, c->plan, &c->why) &&
               twi_plan_fits(v->ir, v->caps, c->plan, &c->why);
    if (!c->legal)
        return;
    c->legal = twi_tally_within(v->arena, v->ir, v->caps, c->plan, isinf(limit) ? NULL : &cutoff,
                                &c->features);
    twi_effort_add(v->effort, &c->features);
    c->legal = c->legal && twi_counts_fit(v->caps, &c->features, &c->why) &&
               twi_pins_hold(v, wish, c->plan, &c->features, &c->why);
    if (c->legal)
        c->score = twi_search_cost(v->ir, v->caps, &c->features);
}

static bool before(const twi_candidate *x, const twi_candidate *y) {
    if (x->legal != y->legal)
        return x->legal;
    return x->legal && x->score != y->score ? x->score < y->score : x->at < y->at;
}

enum { REFINED = 2 }; /* candidates whose places are searched */

static bool kept(const twi_plan *p, twi_id id) {
    const twi_place *place = twi_plan_place(p, id);
    return place && place->keep;
}

/* Keeps or drops one crossing value after the other while the score falls; what changes nothing is
 * not kept. It ends when none has helped since the last that did. The plan is a new one. */
static void refine(const twi_view *v, const twi_wish *wish, twi_candidate *c) {
    twi_candidate best = *c, next;
    twi_plan *spare[2] = {twi_plan_new(v->arena), twi_plan_new(v->arena)};
    for (uint32_t i = 0, idle = 0; idle < v->crossings; i = (i + 1) % v->crossings, idle++) {
        twi_id id = v->crossing[i];
        bool drop = kept(best.plan, id);
        next = best;
        next.plan = best.plan == spare[0] ? spare[1] : spare[0];
        twi_plan_copy(v->arena, next.plan, best.plan);
        twi_plan_set_place(v->arena, next.plan, id)->keep = drop ? TWI_KEEP_NONE : TWI_KEEP_STRIPE;
        const bool open = wish->n_pins || twi_view_floor(v, next.plan, false) <= best.score;
        next.legal = false;
        if (open)
            judge(v, wish, best.score, &next);
        if (!next.legal || kept(next.plan, id) == drop ||
            (drop ? next.score > best.score : next.score >= best.score))
            continue;
        best = next;
        idle = 0;
    }
    *c = best;
}

/* Inserts the last of n by legality and score, after what is equal. */
static void insert(twi_candidate *c, uint32_t n, const twi_candidate *now) {
    for (; n > 0 && before(now, &c[n - 1]); n--)
        c[n] = c[n - 1];
    c[n] = *now;
}

/* The first ones of a ranking have their places searched, where that may lead below the limit. */
static void refine_first(const twi_view *v, const twi_question *q, twi_candidate *c, uint32_t n) {
    const twi_wish *wish = q->wish;
    for (uint32_t i = 0; i < REFINED && i < n && c[i].legal; i++) {
        twi_candidate now = c[i];
        if (now.placed || (!wish->n_pins && twi_view_floor(v, now.plan, true) > q->limit))
            continue;
        now.at = UINT32_MAX; /* it is first only where its score is less */
        refine(v, wish, &now);
        insert(c, i, &now);
    }
}

uint32_t twi_list_of(const twi_question *q, uint32_t scope, twi_candidate **out) {
    twi_view *v = TWI_NEW(q->arena, twi_view);
    twi_offers *o = TWI_NEW(q->arena, twi_offers);
    twi_view_init(v, q->arena, q->ir, q->caps, scope);
    v->effort = q->effort;
    twi_offers_init(o, v);
    twi_propose_all(o);
    twi_splits splits = {0};
    twi_find_splits(o, &splits);
    for (uint32_t k = 0; k < splits.n; k++)
        twi_offer_split(o, &splits.at[k], INFINITY);
    twi_candidate *c = TWI_NEW_N(v->arena, twi_candidate, o->n + 1u);
    for (uint32_t i = 0; i < o->n; i++) {
        twi_candidate now = {.family = o->at[i].family,
                             .placed = o->at[i].placed,
                             .ir = v->ir,
                             .plan = o->at[i].plan,
                             .at = i};
        judge(v, q->wish, INFINITY, &now);
        insert(c, i, &now);
    }
    refine_first(v, q, c, o->n);
    *out = c;
    return o->n;
}

/* What takes longer is none of the first. */
static double limit_of(const twi_candidate *first, uint32_t n) {
    return n == REFINED && first[n - 1].legal ? first[n - 1].score : INFINITY;
}

typedef struct {
    double floor;
    uint32_t at;
} turn;

static int by_floor(const void *x, const void *y) {
    const turn *a = x, *b = y;
    if (a->floor != b->floor)
        return a->floor < b->floor ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Proposals from the i-th on, what takes least at least first. Pins make other plans of them. */
static turn *turns(const twi_offers *o, const twi_wish *wish, uint32_t i) {
    turn *t = TWI_NEW_N(o->view->arena, turn, o->n - i + 1);
    for (uint32_t k = i; k < o->n; k++)
        t[k - i] = (turn){wish->n_pins ? 0 : twi_view_floor(o->view, o->at[k].plan, false), k};
    if (o->n > i)
        qsort(t, o->n - i, sizeof *t, by_floor);
    return t;
}

/* Ranks the proposals from the i-th on among the first n; how many there are then. */
static uint32_t rank(const twi_offers *o, const twi_wish *wish, uint32_t i, twi_candidate *first,
                     uint32_t n) {
    const turn *t = turns(o, wish, i);
    for (uint32_t k = 0; k < o->n - i && t[k].floor <= limit_of(first, n); k++) {
        const uint32_t at = t[k].at;
        twi_candidate now = {.family = o->at[at].family,
                             .placed = o->at[at].placed,
                             .ir = o->view->ir,
                             .plan = o->at[at].plan,
                             .at = at};
        judge(o->view, wish, limit_of(first, n), &now);
        if (n < REFINED || before(&now, &first[n - 1]))
            insert(first, n < REFINED ? n++ : n - 1, &now);
    }
    return n;
}

/* Is none of the proposals as good as the question wants, whatever it keeps? */
static bool is_hopeless(const twi_question *q, twi_offers *o) {
    twi_splits splits = {0};
    if (isinf(q->limit) || q->wish->n_pins)
        return false;
    for (uint32_t k = 0; k < o->n; k++)
        if (twi_view_floor(o->view, o->at[k].plan, true) <= q->limit)
            return false;
    twi_find_splits(o, &splits);
    return splits.n == 0;
}

bool twi_best_of(const twi_question *q, uint32_t scope, twi_candidate *out) {
    twi_view *v = TWI_NEW(q->arena, twi_view);
    twi_offers *o = TWI_NEW(q->arena, twi_offers);
    twi_candidate first[REFINED] = {{0}};
    twi_view_init(v, q->arena, q->ir, q->caps, scope);
    v->effort = q->effort;
    twi_offers_init(o, v);
    twi_propose_all(o);
    *out = first[0];
    if (is_hopeless(q, o))
        return false;
    uint32_t n = rank(o, q->wish, 0, first, 0);
    twi_splits splits = {0};
    const double two = twi_search_least(q->caps, false) + twi_search_least(q->caps, true);
    if (q->wish->n_pins || two <= fmin(q->limit, limit_of(first, n)))
        twi_find_splits(o, &splits);
    if (!q->wish->n_pins) /* pins may make another plan of it */
        twi_rank_splits(o, &splits, fmin(q->limit, limit_of(first, n)));
    for (uint32_t k = 0; k < splits.n; k++) {
        const uint32_t from = o->n;
        const double limit = fmin(q->limit, limit_of(first, n));
        if (splits.at[k].least > limit)
            break;
        twi_offer_split(o, &splits.at[k], q->wish->n_pins ? INFINITY : limit);
        n = rank(o, q->wish, from, first, n);
    }
    refine_first(v, q, first, n);
    *out = first[0];
    return n > 0 && out->legal;
}

void twi_share_entries(twi_plans *plans) {
    for (uint32_t k = 0; k < plans->n; k++) {
        plans->scope[k].entry = plans->scope[0].entry;
        if (plans->scope[k].then)
            plans->scope[k].then->entry = plans->scope[0].entry;
    }
}

twi_plans *twi_default_of(const twi_question *q, twi_why *why) {
    twi_plans *plans = TWI_NEW(q->arena, twi_plans);
    plans->ir = q->ir;
    plans->n = twi_par_count(q->ir);
    plans->scope = TWI_NEW_N(q->arena, twi_plan, plans->n);
    for (uint32_t k = 0; k < plans->n; k++) {
        twi_candidate best;
        if (!twi_best_of(q, k, &best)) {
            *why = best.why;
            return NULL;
        }
        twi_plan_copy(q->arena, &plans->scope[k], best.plan);
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
