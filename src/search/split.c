/* SPDX-License-Identifier: Apache-2.0
 * Split folds: where a family's plan has too few groups to fill the target, the outermost time
 * digit of a folded axis goes to groups too. The second launch's plan is the best for what the
 * split leaves, searched once for each number of parts, and only where the first launch leaves time
 * for one.
 */
#include "plan/split.h"
#include "search/view.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_PARTS = 12 }; /* numbers of parts for which a second launch is searched */

/* A second launch of some number of parts: by any plan, and by the best one. */
typedef struct twi_second {
    int64_t parts;
    const tw_ir *ir; /* NULL: no such launch */
    twi_plan *any;
    bool fits; /* is that one legal? */
    bool searched;
    twi_plan *best; /* NULL: none is legal */
} second;

typedef struct twi_seconds {
    unsigned n;
    second at[MOST_PARTS];
} seconds;

static twi_plan *of_second(const twi_plan *first, twi_plan *p) {
    p->second = true;
    p->entry = first->entry; /* main alone */
    p->entry.n = p->entry.cap = 1;
    return p;
}

/* A plan for it that any second launch could have, if it is legal. */
static void plain_second(const twi_view *v, second *s, const twi_plan *p) {
    twi_why why;
    twi_view *then = TWI_NEW(v->arena, twi_view);
    twi_view_init(then, v->arena, s->ir, v->caps, v->scope);
    s->any = twi_view_plan(then);
    twi_view_finish(then, s->any);
    s->fits = twi_plan_legal(s->ir, v->caps, s->any, &why);
    (void)of_second(p, s->any);
}

/* NULL: that many numbers of parts have been asked for already. */
static second *second_of(twi_offers *o, const twi_plan *p, unsigned axis) {
    const twi_view *v = o->view;
    int64_t parts = p->frame[0].map[axis].d[0].extent;
    if (!o->seconds)
        o->seconds = TWI_NEW(v->arena, seconds);
    for (unsigned k = 0; k < o->seconds->n; k++)
        if (o->seconds->at[k].parts == parts)
            return &o->seconds->at[k];
    if (o->seconds->n == MOST_PARTS)
        return NULL;
    second *s = &o->seconds->at[o->seconds->n++];
    *s = (second){.parts = parts, .ir = twi_split_ir(v->arena, v->ir, p)};
    return s;
}

/* The first that is asked for leaves most time to it. */
static twi_plan *best_second(const twi_view *v, second *s, const twi_plan *p, double limit) {
    static const twi_wish no_wish = {0};
    twi_question q = {v->arena, s->ir, v->caps, &no_wish, v->effort, limit};
    twi_candidate c;
    if (!s->searched && twi_best_form(&q, v->scope, &c))
        s->best = of_second(p, c.plan);
    s->searched = true;
    return s->best;
}

/* Can its groups share all folds that it splits? Merged ones they cannot yet (plan/rules_fold.c).
 */
static bool is_possible(const twi_view *v, const twi_plan *p) {
    twi_id_list folds = {0};
    bool all = true;
    twi_split_folds(v->arena, v->ir, p, &folds);
    for (uint32_t k = 0; k < folds.n; k++)
        all = all && !twi_is_merged(v->ir, folds.at[k]);
    return all;
}

/* What the plan takes at least, whatever its second launch; its first is counted beside any. One
 * that is refused with a second launch that is legal takes for ever, as does one beyond the limit.
 */
static double least(const twi_view *v, second *s, twi_plan *p, double limit) {
    const twi_patience until = {v, limit};
    const twi_cutoff cutoff = {twi_is_over, &until, true};
    const double then = twi_search_least(v->caps, true);
    twi_features f;
    twi_why why;
    if (!is_possible(v, p) || twi_view_floor(v, p, false) + then > limit)
        return INFINITY;
    if (!s->any)
        plain_second(v, s, p);
    if (!s->fits)
        return 0;
    p->then = s->any;
    bool counted = twi_plan_fits(v->ir, v->caps, p, &why);
    if (counted) {
        counted = twi_tally_within(v->arena, v->ir, v->caps, p, &cutoff, &f);
        f.then = NULL;
        twi_effort_add(v->effort, &f);
    }
    p->then = NULL;
    if (!counted || !twi_counts_fit(v->caps, &f, &why))
        return INFINITY;
    return twi_search_cost(v->ir, v->caps, &f) + then;
}

/* The folded axis whose outermost digit runs in time and is longest; 0: none. */
static unsigned split_axis(const twi_view *v, const twi_plan *p) {
    unsigned best = 0;
    int64_t most = 1;
    for (unsigned a = 1; a < v->ir->axis.n; a++) {
        const twi_digit *d = &p->frame[0].map[a].d[0];
        bool time = d->level == TWI_LV_LOOP || d->level == TWI_LV_SERIAL;
        if (!(v->folded >> a & 1) || (v->chain >> a & 1) || v->axis[a].kind != TWI_AXIS_FULL ||
            !v->axis[a].known || !time || d->extent <= most)
            continue;
        most = d->extent;
        best = a;
    }
    return best;
}

/* The plan with `parts` groups where it had one. */
static void add_parts(twi_offers *o, uint32_t i, unsigned axis, int64_t parts, twi_splits *out) {
    const twi_view *v = o->view;
    const twi_plan *from = o->at[i].plan;
    twi_plan *p = twi_plan_new(v->arena);
    twi_plan_copy(v->arena, p, from);
    twi_map *m = &p->frame[0].map[axis];
    int64_t rest = twi_cdiv(m->d[0].extent, parts);
    for (uint32_t k = 0; k < p->place.n; k++) /* what keeps values beyond the first launch goes */
        p->place.at[k].keep = TWI_KEEP_NONE;
    if (rest > 1) {
        if (m->n == TWI_MAX_DIGITS)
            return;
        memmove(&m->d[1], &m->d[0], m->n * sizeof m->d[0]);
        m->n++;
        m->d[1].extent = rest;
        for (unsigned k = 0; k < p->stages; k++) /* the same digits, one further right */
            for (unsigned d = 0; d < p->stage[k].n; d++)
                p->stage[k].order[d].digit =
                    (uint8_t)(p->stage[k].order[d].digit + (p->stage[k].order[d].axis == axis));
    } else if (m->d[0].level == TWI_LV_SERIAL) {
        return; /* stages need their trips */
    }
    m->d[0] = (twi_digit){.level = TWI_LV_GRID, .extent = twi_cdiv(m->d[0].extent, rest)};
    twi_view_finish(v, p);
    for (uint32_t k = 0; k < out->n; k++)
        if (twi_same_plan(v->ir, out->at[k].plan, p))
            return;
    second *s = second_of(o, p, axis);
    if (s && s->ir && o->n + out->n < TWI_MAX_PROPOSALS)
        twi_push(v->arena, out, ((twi_split){.plan = p, .then = s, .family = o->at[i].family}));
}

void twi_find_splits(twi_offers *o, twi_splits *out) {
    const twi_view *v = o->view;
    if (v->caps->family != TWI_FAMILY_SIMT || v->serial || v->again)
        return;
    for (uint32_t i = 0; i < o->n; i++) {
        const twi_plan *p = o->at[i].plan;
        int64_t groups = twi_plan_groups(p), units = v->caps->units;
        unsigned axis = p->frames == 1 ? split_axis(v, p) : 0;
        if (!axis || groups < 1 || groups > units)
            continue;
        for (int64_t fill = 1; fill <= 4; fill *= 2) {
            int64_t parts = (fill * units + groups / 2) / groups;
            int64_t most = p->frame[0].map[axis].d[0].extent;
            bool all = parts > most || v->canonical >> axis & 1; /* a chunk a group */
            if (parts > 1)
                add_parts(o, i, axis, all ? most : parts, out);
        }
    }
}

static int by_least(const void *x, const void *y) {
    const twi_split *a = x, *b = y;
    return a->least < b->least ? -1 : a->least > b->least;
}

void twi_rank_splits(const twi_offers *o, twi_splits *splits, double limit) {
    for (uint32_t k = 0; k < splits->n; k++)
        splits->at[k].least = least(o->view, splits->at[k].then, splits->at[k].plan, limit);
    if (splits->n)
        qsort(splits->at, splits->n, sizeof *splits->at, by_least);
}

void twi_offer_split(twi_offers *o, const twi_split *s, double limit) {
    const double first = s->least > 0 ? s->least - twi_search_least(o->view->caps, true) : 0;
    s->plan->then = best_second(o->view, s->then, s->plan, limit - first);
    if (s->plan->then)
        twi_offer(o, s->family, s->plan);
}
