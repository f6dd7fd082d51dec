/* SPDX-License-Identifier: Apache-2.0
 * plan: the candidates of the model with scores, and why others are refused.
 */
#include "cli/job.h"
#include "cli/json.h"
#include "cli/table.h"

#include <math.h>
#include <string.h>

typedef struct {
    tool *t;
    const cli_options *o;
    size_t shown, legal, refused, top;
    table table;
    text texts; /* the shown plans */
} listing;

static const char *short_score(tool *t, const tw_candidate *c) {
    return c->refused ? "" : table_time(t, c->score_ns);
}

static void one(void *user, const tw_candidate *c) {
    listing *l = user;
    tool *t = l->t;
    *(c->refused ? &l->refused : &l->legal) += 1;
    if (l->shown >= l->top)
        return;
    l->shown++;
    char *hash = tool_format(t, "%016llx", (unsigned long long)c->hash);
    if (l->o->json) {
        json_open(&t->json, NULL, '{');
        json_str(&t->json, "plan", hash);
        json_str(&t->json, "family", c->family);
        json_num(&t->json, "score_ns", c->refused ? (double)NAN : c->score_ns);
        json_str(&t->json, "derived", c->derived);
        json_str(&t->json, "features", c->features);
        json_str(&t->json, "refused", c->refused);
        json_str(&t->json, "text", c->plan);
        json_close(&t->json, '}');
        return;
    }
    const char *cells[] = {hash, c->family, short_score(t, c),
                           c->refused ? c->refused : c->derived};
    table_row(&l->table, cells);
    if (!c->refused && c->plan)
        text_printf(&l->texts, "\n# %s\n%s", hash, c->plan);
}

static int why_not(tool *t, const cli_options *o, const job *j) {
    const char *why = tw_plan_why_not(t->ctx, j->ir, &j->options, o->why_not);
    if (!why)
        return EXIT_INPUT;
    if (o->json)
        json_str(&t->json, "why_not", *why ? why : NULL);
    else
        text_printf(&t->out, "%s: %s\n", o->why_not, *why ? why : "there are plans with it");
    return EXIT_DONE;
}

typedef struct {
    tool *t;
    table table;
    bool print;
    size_t figures, different;
} figures;

static void one_figure(void *user, unsigned scope, const char *name, double tallied,
                       double counted) {
    figures *f = user;
    text a = {.t = f->t}, b = {.t = f->t};
    text_number(&a, tallied);
    text_number(&b, counted);
    bool same = strcmp(a.at, b.at) == 0;
    f->figures++;
    f->different += !same;
    const char *cells[] = {tool_format(f->t, "%u", scope), tool_copy(f->t, name, strlen(name)),
                           a.at, b.at, same ? "" : "different"};
    if (f->print || !same)
        table_row(&f->table, cells);
}

/* --figures: one plan, or with random:SEED -n N so many, of which only differences are shown. */
static int show_figures(tool *t, const cli_options *o, job *j) {
    static const char *const head[] = {"scope", "figure", "tallied", "counted", ""};
    figures f = {.t = t, .print = !o->count};
    int64_t seed = 0, n = o->count ? o->count : 1;
    bool random = j->options.plan && strncmp(j->options.plan, "random:", 7) == 0 &&
                  tool_parse_int(j->options.plan + 7, &seed);
    if (o->count && !random) {
        tool_error(t, 808, "--plan random:SEED -n N", "-n goes with random plans");
        return EXIT_INPUT;
    }
    table_init(&f.table, t, head, 5);
    for (int64_t k = 0; k < n; k++) {
        if (random)
            j->options.plan = tool_format(t, "random:%lld", (long long)seed + (long long)k);
        tw_status status = tw_plan_figures(t->ctx, j->ir, &j->options, one_figure, &f);
        if (status != TW_OK)
            return tool_status(status);
    }
    if (o->json) {
        json_int(&t->json, "plans", n);
        json_int(&t->json, "figures", (int64_t)f.figures);
        json_int(&t->json, "different", (int64_t)f.different);
    } else {
        if (f.print || f.different)
            table_print(&f.table, &t->out);
        text_printf(&t->out, "%lld plans, %zu figures, %zu different\n", (long long)n, f.figures,
                    f.different);
    }
    return f.different ? EXIT_WRONG : EXIT_DONE;
}

int cmd_plan(tool *t, const cli_options *o) {
    static const char *const head[] = {"plan", "family", "score", "figures"};
    job j = {0};
    if (o->from) {
        bool tile = o->from[0] == 't';
        if (!tile) {
            tool_error(t, 808, NULL, "plan takes a program or --from tile");
            return EXIT_INPUT;
        }
    }
    if (!job_load(t, o, &j) || !job_dims_complete(t, &j) || !job_store(t, o, TW_STORE_READ) ||
        !job_tell_model(t, o, &j))
        return EXIT_INPUT;
    if (o->why_not)
        return why_not(t, o, &j);
    if (o->figures)
        return show_figures(t, o, &j);
    listing l = {.t = t, .o = o, .top = o->top ? (size_t)o->top : 10, .texts = {.t = t}};
    table_init(&l.table, t, head, 4);
    if (o->json)
        json_open(&t->json, "rows", '[');
    tw_status status = tw_plan_list(t->ctx, j.ir, &j.options, one, &l);
    if (o->json)
        json_close(&t->json, ']');
    if (status != TW_OK)
        return tool_status(status);
    if (o->json) {
        json_int(&t->json, "legal", (int64_t)l.legal);
        json_int(&t->json, "refused", (int64_t)l.refused);
        return EXIT_DONE;
    }
    table_print(&l.table, &t->out);
    if (l.texts.n)
        text_str(&t->out, l.texts.at);
    text_printf(&t->out, "\n%zu legal, %zu refused, %zu shown\n", l.legal, l.refused, l.shown);
    return EXIT_DONE;
}
