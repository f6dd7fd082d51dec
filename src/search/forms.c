/* SPDX-License-Identifier: Apache-2.0
 * Forms of a program, which are planned apart; what is asked of the search is asked of each: the
 * program as it is written, with every fold taken into an earlier one that can be (pass/merge.c),
 * and with axes joined (pass/join.c): those of short rows that lie one behind the other, or those
 * that a pin names. Values keep their names, so that pins mean the same in all of them.
 */
#include "pass/pass.h"
#include "plan/parse.h"
#include "plan/rules.h"
#include "search/view.h"

#include <math.h>

enum { FORMS = 3 };
typedef struct {
    const tw_ir *ir[FORMS];
    uint32_t n;
} forms;

static bool is_joined(const tw_ir *ir) {
    for (uint32_t r = 1; r < ir->region.n; r++)
        if (ir->region.at[r].joined)
            return true;
    return false;
}

bool twi_same_form(const tw_ir *x, const tw_ir *y) {
    bool same = x->merged == y->merged;
    for (uint32_t r = 1; same && r < x->region.n; r++)
        same = x->region.at[r].joined == y->region.at[r].joined;
    return same;
}

static const tw_ir *merged_form(twi_arena *arena, const tw_ir *ir) {
    bool any = false;
    for (twi_id v = 1; v < ir->ins.n && !any; v++)
        any = twi_can_merge(ir, v);
    if (!any)
        return NULL;
    tw_ir *merged = twi_ir_clone(ir, arena);
    for (twi_id v = 1; v < ir->ins.n; v++)
        (void)opt_merge(merged, v);
    return merged;
}

/* ---- joins -------------------------------------------------------------------------------------
 */
/* Loads, stores and what is computed element by element, along two axes or more. */
static bool is_pointwise(const tw_ir *ir, uint32_t par) {
    const twi_region *r = &ir->region.at[par];
    uint64_t axes = twi_scope_axes(ir, par);
    for (uint32_t k = 0; k < r->body.n; k++) {
        const unsigned kind = twi_op_row(ir->ins.at[r->body.at[k]].op)->kind;
        if (kind == TWI_KIND_FOLD || kind == TWI_KIND_ORDER || kind == TWI_KIND_REGION)
            return false;
    }
    return axes & (axes - 1);
}

/* Does the position come into something by a quotient or a remainder? */
static bool divides(const tw_ir *ir, twi_ix x, uint64_t axis) {
    const twi_ix_node *n = &ir->ix.at[x];
    if (!(n->axes & axis) || n->op < TWI_IX_ADD)
        return false;
    return n->op == TWI_IX_DIV || n->op == TWI_IX_MOD || divides(ir, n->a, axis) ||
           divides(ir, n->b, axis);
}

static bool is_flat(const tw_ir *ir, uint32_t par, unsigned axis) {
    const twi_region *r = &ir->region.at[par];
    bool flat = true;
    for (uint32_t k = 0; flat && k < r->body.n; k++) {
        const twi_ins *i = twi_ins_of(ir, r->body.at[k]);
        if (i->op == TWI_IXVAL)
            flat = !divides(ir, i->attr, UINT64_C(1) << axis);
        for (unsigned d = 0; flat && twi_is_access(i->op) && d < TWI_MAX_RANK; d++)
            flat = !divides(ir, ir->access.at[i->attr].ix[d], UINT64_C(1) << axis);
    }
    return flat;
}

enum { LONG = 64, UNROLLED = 4 }; /* vectors */

/* Rows of many vectors, or of some that all come out even, have nothing to gain. */
static bool is_long(const twi_axis_view *row, const twi_caps *caps) {
    const int64_t lanes = caps->lane;
    return !row->known || row->extent >= LONG * lanes ||
           (row->extent >= LONG / 2 * lanes && row->extent % (UNROLLED * lanes) == 0);
}

/* Joins the axis that walks through memory by ones to one that lies right outside it. */
static bool join_rows(twi_arena *arena, tw_ir **ir, const twi_caps *caps, uint32_t scope) {
    twi_view *v = TWI_NEW(arena, twi_view);
    twi_view_init(v, arena, *ir, caps, scope);
    if (v->unit < 0 || is_long(&v->axis[v->unit], caps))
        return false;
    const unsigned fast = (unsigned)v->unit;
    for (unsigned slow = 1; slow < (*ir)->axis.n; slow++) {
        if (!(v->axes >> slow & 1) || twi_join_fault(*ir, v->par, slow, fast))
            continue;
        tw_ir *to = twi_ir_tables(*ir, arena);
        if (opt_join(to, v->par, slow, fast) && is_flat(to, v->par, fast)) {
            *ir = to;
            return true;
        }
    }
    return false;
}

/* NULL: nothing is joined, or nothing but rows of which there is one. */
static const tw_ir *joined_form(twi_arena *arena, const tw_ir *ir, const twi_caps *caps) {
    const uint32_t scopes = twi_par_count(ir);
    tw_ir *to = NULL;
    bool more = false;
    for (uint32_t k = 0; k < scopes; k++) {
        if (!is_pointwise(ir, twi_par_region(ir, k)))
            continue;
        to = to ? to : twi_ir_tables(ir, arena);
        while (join_rows(arena, &to, caps, k))
            ;
    }
    for (unsigned a = 1; to && a < ir->axis.n; a++)
        more = more || (to->axis.at[a].region && to->axis.at[a].hi != ir->axis.at[a].hi);
    return more ? to : NULL;
}

static const char *pinned_join(const twi_wish *wish) {
    for (uint32_t i = 0; wish && i < wish->n_pins; i++)
        if (strncmp(wish->pins[i], "join=", 5) == 0)
            return wish->pins[i] + 5;
    return NULL;
}

tw_ir *twi_pinned_form(twi_arena *arena, const tw_ir *ir, uint32_t scope, const char *axes,
                       twi_why *why) {
    twi_plan *p = twi_plan_new(arena);
    twi_plan_reader r = {.ctx = ir->ctx,
                         .arena = arena,
                         .ir = ir,
                         .text = axes,
                         .end = strlen(axes),
                         .ok = true,
                         .p = p,
                         .par = twi_par_region(ir, scope),
                         .quiet = true,
                         .why = why};
    if (!twi_plan_read_joins(&r))
        return NULL;
    if (twi_plan_next(&r)) {
        (void)twi_refuse(why, "join: '%s' should end before '%s'", axes, axes + r.tok);
        return NULL;
    }
    return twi_ir_tables(r.ir, arena);
}

/* In every scope where the pin means something. */
static const tw_ir *pinned_form(twi_arena *arena, const tw_ir *ir, const char *axes) {
    const tw_ir *to = ir;
    twi_why why;
    for (uint32_t k = 0; k < twi_par_count(ir); k++) {
        const tw_ir *more = twi_pinned_form(arena, to, k, axes, &why);
        to = more ? more : to;
    }
    return to == ir ? NULL : to;
}

/* ---- all forms ---------------------------------------------------------------------------------
 */
static forms forms_of(const twi_question *q) {
    forms f = {.ir = {q->ir}, .n = 1};
    if (q->ir->merged || is_joined(q->ir))
        return f;
    const char *pin = pinned_join(q->wish);
    const tw_ir *merged = merged_form(q->arena, q->ir);
    const tw_ir *joined =
        pin ? pinned_form(q->arena, q->ir, pin) : joined_form(q->arena, q->ir, q->caps);
    if (merged)
        f.ir[f.n++] = merged;
    if (joined)
        f.ir[f.n++] = joined;
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
    twi_effort effort = {0, 0};
    twi_question q = {arena, ir, caps, wish ? wish : &no_wish, &effort, INFINITY};
    forms f = forms_of(&q);
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

/* Of the scope's pairs of axes that can be joined, one that is drawn; false: there is none. */
static bool draw_join(twi_rng *rng, tw_ir *ir, uint32_t par) {
    const uint64_t axes = twi_scope_axes(ir, par);
    unsigned slow = 0, fast = 0;
    uint32_t n = 0;
    for (unsigned a = 1; a < ir->axis.n; a++)
        for (unsigned b = 1; b < ir->axis.n; b++)
            if (a != b && (axes >> a & 1) && (axes >> b & 1) && !twi_join_fault(ir, par, a, b) &&
                twi_rng_below(rng, ++n) == 0) {
                slow = a;
                fast = b;
            }
    return n && opt_join(ir, par, slow, fast);
}

/* Joins drawn in all scopes; NULL: none. */
static const tw_ir *random_joins(twi_arena *arena, const tw_ir *ir, twi_rng *rng) {
    tw_ir *to = twi_ir_tables(ir, arena);
    for (uint32_t k = 0; k < twi_par_count(ir); k++)
        while (draw_join(rng, to, twi_par_region(ir, k)) && twi_rng_below(rng, 2))
            ;
    return is_joined(to) ? to : NULL;
}

twi_plans *twi_search_random(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                             const twi_wish *wish, uint64_t seed, twi_why *why) {
    const twi_question q = {arena, ir, caps, wish ? wish : &no_wish, NULL, INFINITY};
    forms f = forms_of(&q);
    twi_rng rng;
    twi_rng_init(&rng, seed);
    uint32_t first = f.n > 1 ? (uint32_t)twi_rng_below(&rng, f.n) : 0;
    const tw_ir *form = f.ir[first];
    if (!form->merged && !pinned_join(wish) && twi_rng_below(&rng, 3) == 0) {
        const tw_ir *joined = random_joins(arena, ir, &rng);
        form = joined ? joined : form;
    }
    twi_plans *p = twi_random_of(arena, form, caps, wish, seed, why);
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
    forms f = forms_of(q);
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
    twi_question q = {arena, ir, caps, wish ? wish : &no_wish, NULL, INFINITY};
    forms f = forms_of(&q);
    twi_candidate *c[FORMS] = {NULL};
    uint32_t n[FORMS] = {0}, at[FORMS] = {0}, all = 0;
    for (uint32_t k = 0; k < f.n; k++) {
        q.ir = f.ir[k];
        n[k] = twi_list_of(&q, scope, &c[k]);
        all += n[k];
    }
    *out = f.n > 1 ? TWI_NEW_N(arena, twi_candidate, all + 1u) : c[0];
    for (uint32_t i = 0; f.n > 1 && i < all; i++) {
        uint32_t next = FORMS;
        for (uint32_t k = 0; k < f.n; k++)
            if (at[k] < n[k] && (next == FORMS || before(&c[k][at[k]], &c[next][at[next]])))
                next = k;
        (*out)[i] = c[next][at[next]++];
    }
    return all;
}
