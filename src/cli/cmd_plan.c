/* SPDX-License-Identifier: Apache-2.0
 * plan: the candidates of the model with scores, and why others are refused.
 */
#include "cli/job.h"
#include "cli/json.h"
#include "cli/table.h"

#include <math.h>

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
        json_str(&t->json, "refused", c->refused);
        json_str(&t->json, "text", c->plan);
        json_close(&t->json, '}');
        return;
    }
    const char *cells[] = {hash, c->family, short_score(t, c), c->refused ? c->refused : c->derived};
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
    if (!job_load(t, o, &j) || !job_dims_complete(t, &j))
        return EXIT_INPUT;
    if (o->why_not)
        return why_not(t, o, &j);
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
