/* SPDX-License-Identifier: Apache-2.0
 * Who takes part: the model's first, the incumbent, of those whose score is near one of each layout
 * key, then by score.
 */
#include "tune/tune.h"

#include <math.h>

/* What may differ without a difference in the model's features: digits in space, merges, joins, the
 * orders of stages. */
static const char *layout_of(twi_arena *arena, const twi_plans *plans) {
    twi_sb sb;
    twi_sb_init(&sb, arena);
    twi_sb_printf(&sb, "%u", (unsigned)plans->ir->merged);
    for (uint32_t s = 0; s < plans->n; s++) {
        const twi_plan *p = &plans->scope[s];
        twi_sb_printf(&sb, " j%u", (unsigned)p->join);
        for (unsigned f = 0; f < p->frames; f++)
            for (unsigned axis = 0; axis < TWI_MAX_AXES; axis++) {
                const twi_map *m = &p->frame[f].map[axis];
                for (unsigned d = 0; p->frame[f].axes >> axis & 1 && d < m->n; d++)
                    if (twi_level_is_space(m->d[d].level))
                        twi_sb_printf(&sb, " %u %s %lld@%lld", axis, twi_level_name(m->d[d].level),
                                      (long long)m->d[d].extent,
                                      (long long)twi_digit_stride(&m->d[d]));
            }
        for (unsigned k = 0; k < p->stages; k++)
            for (unsigned d = 0; d < p->stage[k].n; d++)
                twi_sb_printf(&sb, " o%u.%u", p->stage[k].order[d].axis,
                              p->stage[k].order[d].digit);
        twi_sb_char(&sb, ';');
    }
    return twi_sb_text(&sb);
}

static void describe(twi_tuning *t, twi_contender *c, twi_plans *plans) {
    twi_sb sb;
    twi_sb_init(&sb, t->arena);
    twi_plan_print(plans->ir, plans, NULL, &sb);
    *c = (twi_contender){.plans = plans,
                         .text = twi_sb_text(&sb),
                         .hash = twi_format(t->arena, "%016llx",
                                            (unsigned long long)twi_plan_hash(plans->ir, plans)),
                         .layout = layout_of(t->arena, plans),
                         .source = "",
                         .note = "",
                         .samples = "",
                         .score_ns = (double)NAN,
                         .median_ns = (double)NAN,
                         .ratio = (double)NAN,
                         .confirm_ns = (double)NAN};
}

typedef struct {
    twi_tuning *t;
    const char *text;
    int trust; /* 2 here and now, 1 another compiler, 0 another device */
} former;

static bool find_incumbent(void *user, const twi_wisdom *w) {
    former *f = user;
    const twi_wisdom *key = &f->t->key;
    const int trust = strcmp(w->device, key->device) != 0 || strcmp(w->target, key->target) != 0 ? 0
                      : strcmp(w->compiler, key->compiler) != 0                                  ? 1
                                                                : 2;
    if (w->best && (!f->text || trust > f->trust)) {
        f->text = twi_strdup(f->t->arena, w->text);
        f->trust = trust;
    }
    return true;
}

/* The plan that an earlier tuning chose, here or elsewhere: a starting point. */
static void add_incumbent(twi_tuning *t) {
    former f = {.t = t};
    twi_plans *plans = TWI_NEW(t->arena, twi_plans);
    twi_contender *c = &t->at[t->n];
    twi_why why;
    if (t->store)
        twi_wisdom_read(t->store, &t->key, find_incumbent, &f);
    if (!f.text)
        return;
    const twi_diags before = t->ctx->diags;
    const bool legal =
        twi_plan_parse(t->arena, t->path.ir, "the store", f.text, strlen(f.text), plans) &&
        twi_search_legal(plans->ir, &t->path.where.caps, plans, &why);
    if (!legal) {
        t->ctx->diags.list.n = before.list.n;
        t->ctx->diags.errors = before.errors;
        return;
    }
    describe(t, c, plans);
    for (uint32_t k = 0; k < t->n; k++)
        if (strcmp(t->at[k].hash, c->hash) == 0) {
            t->at[k].incumbent = true;
            return;
        }
    c->incumbent = true;
    t->n++;
}

static bool lower(twi_tuning *t, twi_contender *c) {
    twi_path p = t->path;
    p.plans = c->plans;
    p.ir = c->plans->ir;
    if (!twi_path_lower(&p))
        return false;
    const char *source = twi_path_source(&p);
    c->loop = p.loop;
    c->source =
        twi_format(t->arena, "%016llx", (unsigned long long)twi_source_hash(source ? source : ""));
    return source != NULL;
}

/* Takes one in, unless its source is that of another. */
static bool choose(twi_tuning *t, twi_contender *c) {
    if (c->chosen || !lower(t, c))
        return false;
    for (uint32_t k = 0; k < t->n; k++)
        if (t->at[k].chosen && strcmp(t->at[k].source, c->source) == 0)
            return false;
    c->chosen = true;
    return true;
}

/* The model cannot tell what is near from what is equal. */
static const double near_score = 1.5;

static bool is_new_layout(const twi_tuning *t, const twi_contender *c) {
    if (!(c->score_ns <= t->at[0].score_ns * near_score))
        return false;
    for (uint32_t k = 0; k < t->n; k++)
        if (t->at[k].chosen && strcmp(t->at[k].layout, c->layout) == 0)
            return false;
    return true;
}

static size_t most(const twi_tuning *t) {
    static const size_t usual[] = {[TW_EFFORT_MEASURE] = 8,
                                   [TW_EFFORT_PATIENT] = 24,
                                   [TW_EFFORT_EXHAUSTIVE] = SIZE_MAX,
                                   [TW_EFFORT_ESTIMATE] = 8,
                                   [TW_EFFORT_WISDOM_ONLY] = 0};
    return t->o->candidates ? t->o->candidates : usual[t->o->effort];
}

bool twi_tune_candidates(twi_tuning *t) {
    twi_wish wish = {t->compile->pins, (uint32_t)t->compile->n_pins};
    const twi_caps caps = twi_where_shared(&t->path.where);
    twi_whole *all = NULL;
    twi_why why = {.text = ""};
    if (!twi_search_pins(t->path.ir, &wish))
        return false;
    const uint32_t n = twi_search_whole(t->arena, t->path.ir, &caps, &wish, &all, &why);
    if (!n) {
        twi_error(&t->ctx->diags, TWI_E_PATH_NO_PLAN, (twi_loc){0, 0}, NULL,
                  "no legal plan on %s: %s", t->path.where.name, why.text);
        return false;
    }
    t->at = TWI_NEW_N(t->arena, twi_contender, n + 1);
    for (; t->n < n; t->n++) {
        describe(t, &t->at[t->n], all[t->n].plans);
        t->at[t->n].score_ns = all[t->n].score;
        t->at[t->n].rank = t->n + 1;
    }
    add_incumbent(t);
    const size_t limit = most(t);
    size_t chosen = 0;
    for (int pass = 0; pass < 3; pass++)
        for (uint32_t k = 0; k < t->n && chosen < limit; k++) {
            twi_contender *c = &t->at[k];
            const bool wanted = pass == 0   ? k == 0 || c->incumbent
                                : pass == 1 ? chosen < limit - limit / 3 && is_new_layout(t, c)
                                            : true;
            chosen += wanted && choose(t, c);
        }
    return chosen > 0;
}
