/* SPDX-License-Identifier: Apache-2.0
 * tune: measures plans of one kernel and keeps what it saw in the store.
 */
#include "cli/job.h"
#include "cli/json.h"
#include "cli/table.h"

#include <math.h>
#include <string.h>

typedef struct {
    tool *t;
    const cli_options *o;
    table table;
    size_t rows, untried;
} tuning;

static bool find_effort(tool *t, const char *name, tw_effort *effort) {
    const char *names[8];
    size_t n = 0;
    for (; n < 8 && tw_effort_name((tw_effort)n); n++) {
        names[n] = tw_effort_name((tw_effort)n);
        if (!name || strcmp(name, names[n]) == 0) {
            *effort = (tw_effort)n;
            return true;
        }
    }
    tool_error(t, 804, tool_nearest_help(t, name, names, n),
               "--effort takes estimate, measure, patient, exhaustive or wisdom-only, not '%.200s'",
               name);
    return false;
}

static void progress(void *user, const char *what, size_t done, size_t of) {
    tool *t = user;
    if (of)
        tool_progress(t, "tune: %s %zu of %zu", what, done, of);
    else
        tool_progress(t, "tune: %s %zu", what, done);
}

static void json_row(text *s, const tw_tune_row *r) {
    json_open(s, NULL, '{');
    json_str(s, "plan", r->plan);
    json_str(s, "verdict", r->verdict);
    json_str(s, "note", *r->note ? r->note : NULL);
    json_num(s, "median_ns", r->median_ns);
    json_num(s, "ratio", r->ratio);
    json_int(s, "rank", r->rank);
    json_num(s, "score_ns", r->score_ns);
    json_num(s, "confirm_ns", r->confirm_ns);
    json_str(s, "samples_ns", r->samples);
    json_str(s, "source", *r->source ? r->source : NULL);
    json_bool(s, "known", r->known);
    json_bool(s, "incumbent", r->incumbent);
    json_bool(s, "tied", r->tied);
    json_bool(s, "winner", r->winner);
    json_str(s, "text", r->text);
    json_close(s, '}');
}

static const char *time_or_dash(tool *t, double ns) { return isnan(ns) ? "-" : table_time(t, ns); }

static void one(void *user, const tw_tune_row *r) {
    tuning *u = user;
    tool *t = u->t;
    u->rows++;
    u->untried += strcmp(r->verdict, "untried") == 0;
    if (u->o->json) {
        json_row(&t->json, r);
        return;
    }
    text ratio = {.t = t};
    text_str(&ratio, "");
    if (isnan(r->ratio))
        text_str(&ratio, "-");
    else
        text_fixed(&ratio, r->ratio, 3);
    const char *what = r->winner ? "winner" : r->tied ? "tie" : r->incumbent ? "incumbent" : "";
    const char *cells[] = {r->plan,
                           r->verdict,
                           time_or_dash(t, r->median_ns),
                           ratio.at,
                           r->rank ? tool_format(t, "%u", r->rank) : "-",
                           time_or_dash(t, r->score_ns),
                           time_or_dash(t, r->confirm_ns),
                           *what ? what : r->note};
    table_row(&u->table, cells);
}

static void add_percent(text *out, double v) {
    text_fixed(out, v * 100, 1);
    text_str(out, " %");
}

static void json_result(tool *t, const tw_tune_result *r) {
    json_str(&t->json, "winner", r->winner);
    json_num(&t->json, "confirm_ns", r->confirm_ns);
    json_num(&t->json, "default_ns", r->default_ns);
    json_num(&t->json, "best_ns", r->best_ns);
    json_num(&t->json, "regret", r->regret);
    json_num(&t->json, "drift", r->drift);
    json_int(&t->json, "tied", (int64_t)r->tied);
    json_int(&t->json, "rounds", r->rounds);
    json_int(&t->json, "disturbed", r->disturbed);
    json_int(&t->json, "unconfirmed", (int64_t)r->unconfirmed);
    json_bool(&t->json, "stopped", r->stopped);
}

/* Of what is measured: what the time was too short for. */
static void print_left_out(tool *t, const tw_tune_result *r, size_t untried) {
    text *out = &t->out;
    if (!r->stopped)
        return;
    text_str(out, r->winner ? "stopped:" : "stopped before there was a winner:");
    text_printf(out,
                " %zu candidates untried, %u rounds of the race, %zu near ones not confirmed; ",
                untried, r->rounds, r->unconfirmed);
    text_str(out, "what is known is kept, the next run goes on from there\n");
}

static void print_result(tool *t, const tw_tune_result *r) {
    text *out = &t->out;
    if (!r->winner)
        return;
    text_printf(out, "winner %s", r->winner);
    if (!isnan(r->confirm_ns)) {
        text_printf(out, ": confirmed %s", table_time(t, r->confirm_ns));
        if (r->tied > 1)
            text_printf(out, ", tied with %zu within 1.5 %%", r->tied - 1);
        if (!isnan(r->default_ns)) {
            text_printf(out, "; default %s, regret of the model ", table_time(t, r->default_ns));
            add_percent(out, r->regret);
        }
        text_printf(out, "; %u rounds, %u disturbed, drift ", r->rounds, r->disturbed);
        add_percent(out, r->drift - 1);
    }
    text_str(out, "\n");
}

int cmd_tune(tool *t, const cli_options *o) {
    static const char *const head[] = {"plan", "verdict",   "median",  "ratio",
                                       "rank", "the model", "confirm", "note"};
    job j = {0};
    tw_tune_options tune = tw_tune_options_defaults();
    if (!find_effort(t, o->effort, &tune.effort) || !tool_budget(t, o->budget, &tune.budget_ms) ||
        !job_load(t, o, &j) || !job_dims_complete(t, &j))
        return EXIT_INPUT;
    if (!j.ir) {
        tool_error(t, 808, NULL, "tune takes a program or --from tile");
        return EXIT_INPUT;
    }
    const bool estimate = tune.effort == TW_EFFORT_ESTIMATE;
    if (!estimate && !job_store(t, o, TW_STORE_WRITE))
        return EXIT_ENV;
    tuning u = {.t = t, .o = o};
    tune.candidates = (size_t)o->top;
    tune.seed = o->seed ? (uint64_t)o->seed : 1;
    tune.stop = &tool_interrupt()->asked;
    tune.scalars = j.scalars;
    tune.n_scalars = j.n_scalars;
    tune.progress = o->quiet || o->json ? NULL : progress;
    tune.user = t;
    table_init(&u.table, t, head, sizeof head / sizeof head[0]);
    if (tune.effort != TW_EFFORT_WISDOM_ONLY && !job_tell_model(t, o, &j))
        return EXIT_INPUT;
    if (o->json) {
        json_open(&t->json, "target", '{');
        json_str(&t->json, "name", j.options.target);
        json_close(&t->json, '}');
        json_open(&t->json, "rows", '[');
    }
    tw_tune_result r;
    const tw_tune_request request = {&j.options, &tune, one, &u};
    const tw_status status = tw_tune(t->ctx, t->store, j.ir, &request, &r);
    if (o->json) {
        json_close(&t->json, ']');
        json_result(t, &r);
    } else {
        if (u.rows)
            table_print(&u.table, &t->out);
        print_result(t, &r);
        print_left_out(t, &r, u.untried);
        if (r.winner)
            text_printf(&t->out, "\n%s", r.winner_text);
    }
    return *tune.stop ? EXIT_INTERRUPT : tool_status(status);
}
