/* SPDX-License-Identifier: Apache-2.0
 * calibrate: fits the cost model to this machine; keeps it in the store, or writes it as text.
 */
#include "cli/job.h"
#include "cli/json.h"
#include "cli/table.h"

#include <math.h>
#include <string.h>

typedef struct {
    tool *t;
    const cli_options *o;
    table terms, cases;
    text json_cases;
} report;

static void progress(void *user, const char *what, size_t done, size_t of) {
    (void)of;
    tool_progress(((report *)user)->t, "calibrate: %s, case %zu", what, done);
}

static const char *number(tool *t, double v, void (*print)(text *s, double v)) {
    text s = {.t = t};
    if (isnan(v))
        return "-";
    print(&s, v);
    return s.at;
}

static void percent(text *s, double v) {
    text_fixed(s, 100 * v, 1);
    text_str(s, " %");
}

static void one_term(void *user, const tw_calibrate_term *c) {
    report *r = user;
    tool *t = r->t;
    if (r->o->json) {
        json_open(&t->json, NULL, '{');
        json_str(&t->json, "feature", c->name);
        json_str(&t->json, "unit", c->unit);
        json_num(&t->json, "analytic_ns", c->analytic_ns);
        json_num(&t->json, "calibrated_ns", c->fitted_ns);
        json_num(&t->json, "residual", c->residual);
        json_close(&t->json, '}');
        return;
    }
    const char *cells[] = {c->name, c->unit, number(t, c->analytic_ns, text_short),
                           number(t, c->fitted_ns, text_short), number(t, c->residual, percent)};
    table_row(&r->terms, cells);
}

static const char *shape(tool *t, const tw_calibrate_case *c) {
    text s = {.t = t};
    for (size_t k = 0; k < 3 && c->dim[k]; k++)
        text_printf(&s, "%s%lld", k ? "x" : "", (long long)c->dim[k]);
    return s.at;
}

static void one_case(void *user, const tw_calibrate_case *c) {
    report *r = user;
    tool *t = r->t;
    if (r->o->json) {
        text *s = &r->json_cases;
        json_open(s, NULL, '{');
        json_str(s, "kernel", c->kernel);
        json_str(s, "type", c->type);
        json_str(s, "shape", shape(t, c));
        json_str(s, "use", c->use);
        json_int(s, "plans", (int64_t)c->plans);
        json_num(s, "best_ns", c->best_ns);
        json_num(s, "worst_ns", c->worst_ns);
        json_num(s, "analytic_ns", c->analytic_ns);
        json_num(s, "calibrated_ns", c->calibrated_ns);
        json_num(s, "analytic_regret", c->analytic_regret);
        json_num(s, "calibrated_regret", c->calibrated_regret);
        json_close(s, '}');
        return;
    }
    const char *cells[] = {tool_format(t, "%s", c->kernel),
                           c->type,
                           shape(t, c),
                           strcmp(c->use, "fit") == 0 ? "fitted"
                                                      : tool_format(t, "held out %s", c->use),
                           tool_format(t, "%zu", c->plans),
                           table_time(t, c->best_ns),
                           number(t, c->analytic_regret, percent),
                           number(t, c->calibrated_regret, percent)};
    table_row(&r->cases, cells);
}

static void json_regrets(tool *t, const char *name, const tw_regrets *g) {
    json_open(&t->json, name, '{');
    json_int(&t->json, "cases", (int64_t)g->cases);
    json_num(&t->json, "median", g->median);
    json_num(&t->json, "worst", g->worst);
    json_close(&t->json, '}');
}

static void print_regrets(tool *t, const char *name, const tw_regrets *g) {
    text_printf(&t->out, "held out, %s: ", name);
    if (!g->cases) {
        text_str(&t->out, "no case was reached\n");
        return;
    }
    text_printf(&t->out, "median regret %s, worst ", number(t, g->median, percent));
    text_printf(&t->out, "%s of %zu cases\n", number(t, g->worst, percent), g->cases);
}

static void print_result(report *r, const tw_calibrate_result *c) {
    tool *t = r->t;
    table_print(&r->terms, &t->out);
    text_str(&t->out, "\n");
    table_print(&r->cases, &t->out);
    text_printf(&t->out, "\nresidual %s\n", number(t, c->residual, percent));
    print_regrets(t, "analytic", &c->analytic);
    print_regrets(t, "calibrated", &c->calibrated);
    text_printf(&t->out, "model calibrated %s for %s%s\n", c->date, c->device,
                c->kept ? "; kept in the store" : "");
}

static void json_result(tool *t, const tw_calibrate_result *c) {
    json_num(&t->json, "residual", c->residual);
    json_regrets(t, "analytic", &c->analytic);
    json_regrets(t, "calibrated", &c->calibrated);
    json_str(&t->json, "date", c->date);
    json_str(&t->json, "device", c->device);
    json_bool(&t->json, "kept", c->kept);
    json_str(&t->json, "model", c->model);
}

/* --store none goes with --out or --json: the text is all there is then. */
static bool open_store(tool *t, const cli_options *o) {
    if ((o->out.n || o->json) && o->store && strcmp(o->store, "none") == 0)
        return true;
    return job_store(t, o, TW_STORE_WRITE);
}

int cmd_calibrate(tool *t, const cli_options *o) {
    static const char *const term_head[] = {"feature", "unit", "analytic ns", "calibrated ns",
                                            "residual"};
    static const char *const case_head[] = {"kernel", "type", "shape",    "use",
                                            "plans",  "best", "analytic", "calibrated"};
    report r = {.t = t, .o = o, .json_cases = {.t = t}};
    tw_compile_options options;
    tw_calibrate_options c = tw_calibrate_options_defaults();
    tw_calibrate_result result;
    int64_t budget = 0;
    if (o->out.n > 1) {
        tool_error(t, 803, NULL, "--out is given twice: '%.200s' and '%.200s'", o->out.at[0],
                   o->out.at[1]);
        return EXIT_INPUT;
    }
    if (!tool_budget(t, o->budget, &budget) || !job_options(t, o, &options))
        return EXIT_INPUT;
    if (!open_store(t, o))
        return EXIT_ENV;
    c.target = options.target;
    c.caps = options.caps;
    c.budget_ms = budget ? budget : c.budget_ms;
    c.stop = &tool_interrupt()->asked;
    c.progress = o->quiet || o->json ? NULL : progress;
    c.term = one_term;
    c.one = one_case;
    c.user = &r;
    table_init(&r.terms, t, term_head, 5);
    table_init(&r.cases, t, case_head, 8);
    if (o->json)
        json_open(&t->json, "features", '[');
    const tw_status status = tw_calibrate(t->ctx, &c, &result);
    if (o->json) {
        json_close(&t->json, ']');
        json_open(&t->json, "cases", '[');
        text_str(&t->json, r.json_cases.n ? r.json_cases.at : "");
        json_close(&t->json, ']');
        json_result(t, &result);
    } else if (result.model) {
        print_result(&r, &result);
    }
    if (*c.stop)
        return EXIT_INTERRUPT;
    if (result.model && o->out.n) {
        tool_write_job w = {.path = o->out.at[0], .bytes = result.model, .n = strlen(result.model)};
        if (!tool_write_all(t, &w, 1))
            return EXIT_INPUT;
    }
    return tool_status(status);
}
