/* SPDX-License-Identifier: Apache-2.0
 * The oracle's word on contenders, through verify: built in batches, run in children under guards,
 * on several fixtures.
 */
#include "tilewright/judge.h"
#include "tune/codes.h"
#include "tune/tune.h"

#include <stdlib.h>

enum { MOST_CASES = 64, OPS_BITS = 25, RUN_MS = 10000, BUILD_MS = 120000 };

typedef struct {
    twi_tuning *t;
    twi_contender **of; /* by number in `how` */
    bool *proved;
    size_t n, rows, expected;
} hearing;

static const char *word_of(const char *verdict) {
    static const char *const same[] = {"refused", "crashed", "timeout"};
    for (size_t k = 0; k < sizeof same / sizeof same[0]; k++)
        if (strcmp(verdict, same[k]) == 0)
            return same[k];
    return "wrong";
}

static void hear(void *user, const tw_verify_row *row) {
    hearing *h = user;
    twi_tuning *t = h->t;
    const size_t k = strtoull(row->how, NULL, 10);
    h->rows++;
    twi_tune_tell(t, "judged", h->rows, h->expected);
    if (twi_tune_over(t))
        t->stop = 1;
    if (k >= h->n || *row->how < '0' || *row->how > '9') { /* of a whole case */
        for (size_t i = 0; row->failed && i < h->n; i++)
            if (!h->proved[i] && !h->of[i]->verdict) {
                h->of[i]->verdict = word_of(row->verdict);
                h->of[i]->note = twi_strdup(t->arena, row->note);
            }
        return;
    }
    twi_contender *c = h->of[k];
    if (row->failed && !c->verdict) {
        c->verdict = word_of(row->verdict);
        c->note = *row->note ? twi_strdup(t->arena, row->note)
                             : twi_format(t->arena, "%s: %s: got %s, want %s", row->fixture,
                                          row->element, row->got, row->want);
    }
    h->proved[k] = h->proved[k] || strcmp(row->verdict, "right") == 0;
}

/* One fixture (NULL: all) on those that nothing speaks against yet. */
static tw_status judge(twi_tuning *t, hearing *h, const char *fixture, uint64_t seed) {
    tw_verify_options o = tw_verify_options_defaults();
    const long cores = t->path.where.kind == TWI_WHERE_CPU ? (long)t->path.where.caps.units : 1;
    const size_t cases = (size_t)(cores < 1 ? 1 : cores > MOST_CASES ? MOST_CASES : cores);
    tw_verify_case *c = TWI_NEW_N(t->arena, tw_verify_case, cases + 1);
    tw_source *plan = TWI_NEW_N(t->arena, tw_source, h->n + 1);
    size_t at = 0, used = 0;
    for (size_t k = 0; k < cases && at < h->n; k++) {
        const size_t from = used, to = h->n * (k + 1) / cases;
        for (; at < to; at++)
            if (!h->of[at]->verdict)
                plan[used++] = (tw_source){twi_format(t->arena, "%zu", at), h->of[at]->text,
                                           strlen(h->of[at]->text)};
        c[k] = (tw_verify_case){.ir = t->program,
                                .types = "",
                                .text = "",
                                .dims = t->compile->dims,
                                .n_dims = t->compile->n_dims,
                                .scalars = t->o->scalars,
                                .n_scalars = t->o->n_scalars,
                                .plans = plan + from,
                                .n_plans = used - from};
    }
    size_t full = 0;
    for (size_t k = 0; k < cases; k++)
        if (c[k].n_plans)
            c[full++] = c[k];
    o.target = t->compile->target;
    o.caps = t->compile->caps;
    o.pins = t->compile->pins;
    o.n_pins = t->compile->n_pins;
    o.canonical = t->compile->canonical;
    o.fixture = fixture;
    o.seed = seed;
    o.max_ops = UINT64_C(1) << OPS_BITS;
    o.run_limit_ms = t->o->run_limit_ms ? t->o->run_limit_ms : RUN_MS;
    o.build_limit_ms = BUILD_MS;
    o.memory_limit = UINT64_C(1) << 33;
    o.stop = &t->stop;
    h->rows = 0;
    h->expected = used;
    twi_shelf *shelf = t->ctx->shelf; /* batches are not worth keeping */
    t->ctx->shelf = NULL;
    const tw_status status = full ? tw_verify(t->ctx, c, full, &o, hear, h) : TW_OK;
    t->ctx->shelf = shelf;
    return status == TW_ERR_WRONG ? TW_OK : status;
}

static hearing gather(twi_tuning *t) {
    hearing h = {.t = t,
                 .of = TWI_NEW_N(t->arena, twi_contender *, t->n + 1),
                 .proved = TWI_NEW_N(t->arena, bool, t->n + 1)};
    for (uint32_t k = 0; k < t->n; k++)
        if (t->at[k].chosen && !t->at[k].known)
            h.of[h.n++] = &t->at[k];
    return h;
}

/* Who has passed all that was asked, and some of it proved something? */
static void conclude(twi_tuning *t, hearing *h, bool all) {
    size_t wrong = 0;
    for (size_t k = 0; k < h->n; k++) {
        twi_contender *c = h->of[k];
        wrong += c->verdict && strcmp(c->verdict, "wrong") == 0;
        if (c->verdict || !all)
            continue;
        c->verdict = h->proved[k] ? "right" : "refused";
        c->note = h->proved[k] ? "" : "no fixture proves anything";
    }
    if (wrong * 2 > h->n)
        twi_warn(&t->ctx->diags, TWI_E_TUNE_SUSPECT, (twi_loc){0, 0}, NULL,
                 "%zu of %zu candidates are wrong: the kernel's text or the oracle is the suspect, "
                 "not they",
                 wrong, h->n);
}

tw_status twi_tune_verdicts(twi_tuning *t) {
    static const char *const usual[] = {"normal", "special"};
    hearing h = gather(t);
    const bool all = t->o->effort != TW_EFFORT_MEASURE;
    tw_status status = TW_OK;
    size_t done = 0;
    if (all && !t->stop) {
        status = judge(t, &h, NULL, t->o->seed);
        done = 2;
    }
    while (!all && status == TW_OK && done < 2 && !t->stop)
        status = judge(t, &h, usual[done++], t->o->seed);
    conclude(t, &h, status == TW_OK && done == 2 && !t->stop);
    return status;
}

bool twi_tune_again(twi_tuning *t, twi_contender *c) {
    bool proved = false;
    hearing h = {.t = t, .of = &c, .proved = &proved, .n = 1};
    const char *before = c->verdict;
    c->verdict = NULL;
    const tw_status status = judge(t, &h, "normal", t->o->seed + 1);
    if (!c->verdict && status == TW_OK)
        c->verdict = before;
    return c->verdict == before;
}
