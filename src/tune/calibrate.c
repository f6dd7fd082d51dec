/* SPDX-License-Identifier: Apache-2.0
 * Calibration, step by step:
 *
 *     observe   plans of the suite's fitted cases, timed in children       observe.c
 *     fit       prices to them                                              fit.c, nnls.c
 *     held out  other shapes and kernels: what either model's pick takes over the best
 *     keep      the model's text in the store
 *
 * An end by the budget leaves out cases, the last ones first; prices that nothing tells of stay as
 * they were, scaled.
 */
#include "base/clock.h"
#include "caps/model.h"
#include "tune/codes.h"
#include "tune/observe.h"
#include "tune/tune.h"

#include <math.h>
#include <time.h>

tw_calibrate_options tw_calibrate_options_defaults(void) {
    return (tw_calibrate_options){.target = "cpu", .budget_ms = 120000};
}

typedef struct {
    twi_observer observer;
    const tw_calibrate_options *o;
    tw_calibrate_result *result;
    twi_where where;
    double analytic[TWI_COSTS];
    twi_model model;
    twi_group *group;          /* observations to fit */
    const twi_suite_case **of; /* what they are of */
    twi_group *held;           /* by case of the suite; n 0: not reached */
    uint32_t groups;
    int64_t end_ns; /* of the budget; 0: none. The first case takes what it takes */
    size_t seen;
} calibration;

static void tell(calibration *c, const char *what) {
    if (c->o->progress)
        c->o->progress(c->o->user, what, ++c->seen, 0);
}

/* ---- */

static void observe_fitted(calibration *c) {
    for (unsigned k = 0; k < twi_suite_cases; k++) {
        if (twi_suite[k].use != TWI_SUITE_FIT)
            continue;
        tell(c, twi_suite[k].kernel);
        const twi_group g = twi_observe(&c->observer, &twi_suite[k]);
        if (!g.n)
            continue;
        c->of[c->groups] = &twi_suite[k];
        c->group[c->groups++] = g;
        c->observer.end_ns = c->end_ns;
    }
}

static bool fit(calibration *c) {
    if (twi_fit(c->observer.arena, c->group, c->groups, c->analytic, c->model.price))
        return true;
    twi_error(&c->observer.ctx->diags, TWI_E_TUNE_FIT, (twi_loc){0, 0}, NULL,
              "the fit of %u cases came to no end", (unsigned)c->groups);
    return false;
}

static void observe_held_out(calibration *c) {
    for (unsigned k = 0; k < twi_suite_cases; k++) {
        if (twi_suite[k].use == TWI_SUITE_FIT)
            continue;
        tell(c, twi_suite[k].kernel);
        c->held[k] = twi_observe(&c->observer, &twi_suite[k]);
    }
}

/* ---- the report */

static void tell_terms(calibration *c) {
    double by_term[TWI_COSTS];
    c->model.residual =
        twi_fit_residuals(c->observer.arena, c->group, c->groups, c->model.price, by_term);
    for (unsigned k = 0; c->o->term && k < TWI_COSTS; k++)
        c->o->term(c->o->user, &(tw_calibrate_term){.name = twi_costs[k].name,
                                                    .unit = twi_costs[k].unit,
                                                    .analytic_ns = c->analytic[k],
                                                    .fitted_ns = c->model.price[k],
                                                    .residual = by_term[k]});
}

static void tell_case(calibration *c, const twi_suite_case *of, const twi_group *g) {
    const twi_measured *a = &g->at[twi_fit_pick(g, c->analytic)];
    const twi_measured *b = &g->at[twi_fit_pick(g, c->model.price)];
    double worst = 0;
    for (uint32_t k = 0; k < g->n; k++)
        worst = fmax(worst, g->at[k].ns);
    c->o->one(c->o->user,
              &(tw_calibrate_case){.kernel = of->kernel,
                                   .type = of->type,
                                   .dim = {of->dim[0], of->dim[1], of->dim[2]},
                                   .use = twi_suite_use_name(of->use),
                                   .plans = g->n,
                                   .best_ns = a->ns / (1 + twi_fit_regret(g, c->analytic)),
                                   .worst_ns = worst,
                                   .analytic_ns = a->ns,
                                   .calibrated_ns = b->ns,
                                   .analytic_regret = twi_fit_regret(g, c->analytic),
                                   .calibrated_regret = twi_fit_regret(g, c->model.price)});
}

static tw_regrets regrets(calibration *c, const double *price) {
    double *regret = TWI_NEW_N(c->observer.arena, double, twi_suite_cases + 1);
    tw_regrets r = {0};
    for (unsigned k = 0; k < twi_suite_cases; k++) {
        if (!c->held[k].n)
            continue;
        regret[r.cases] = twi_fit_regret(&c->held[k], price);
        r.worst = fmax(r.worst, regret[r.cases++]);
    }
    r.median = twi_middle(c->observer.arena, regret, (unsigned)r.cases);
    if (!r.cases)
        r.worst = (double)NAN;
    return r;
}

static void report(calibration *c) {
    tell_terms(c);
    for (uint32_t k = 0; c->o->one && k < c->groups; k++)
        tell_case(c, c->of[k], &c->group[k]);
    for (unsigned k = 0; c->o->one && k < twi_suite_cases; k++)
        if (c->held[k].n)
            tell_case(c, &twi_suite[k], &c->held[k]);
    c->result->analytic = regrets(c, c->analytic);
    c->result->calibrated = regrets(c, c->model.price);
}

/* ---- */

static const char *today(twi_arena *arena) {
    const time_t now = time(NULL);
    struct tm tm;
    char *text = twi_alloc(arena, 16);
    if (!gmtime_r(&now, &tm) || !strftime(text, 16, "%Y-%m-%d", &tm))
        return "unknown";
    return text;
}

static tw_status keep(calibration *c) {
    tw_context *ctx = c->observer.ctx;
    twi_sb sb;
    c->model.device = twi_where_device(ctx, &c->where);
    c->model.version = TW_VERSION;
    c->model.date = today(&ctx->arena);
    twi_sb_init(&sb, &ctx->arena);
    twi_model_print(&c->model, &sb);
    c->result->model = twi_sb_text(&sb);
    c->result->date = c->model.date;
    c->result->device = c->model.device;
    c->result->residual = c->model.residual;
    if (!ctx->shelf || !ctx->shelf->add_memo)
        return TW_OK;
    c->result->kept = ctx->shelf->add_memo(ctx->shelf->user, twi_where_model_name(ctx, &c->where),
                                           c->result->model);
    if (c->result->kept)
        return TW_OK;
    twi_error(&ctx->diags, TWI_E_TUNE_FIT, (twi_loc){0, 0}, "another --store, or --out FILE",
              "the store could not be written: the model is not kept");
    return TW_ERR_ENV;
}

/* Target, compiler, suite. */
static tw_status open(calibration *c) {
    tw_context *ctx = c->observer.ctx;
    if (!twi_where_find(ctx, c->o->target, &c->o->caps, NULL, 0, &c->where))
        return TW_ERR_INPUT;
    if (c->where.kind != TWI_WHERE_CPU || c->where.caps.family != TWI_FAMILY_CPU) {
        twi_error(&ctx->diags, TWI_E_PATH_TARGET, (twi_loc){0, 0}, "--target cpu",
                  "calibrate fits prices of explicit lanes; %s has none", c->where.name);
        return TW_ERR_INPUT;
    }
    twi_target *target = twi_where_open(ctx, &c->where);
    if (!target)
        return TW_ERR_ENV;
    const bool ready = !target->ops->prepare || target->ops->prepare(target);
    target->ops->close(target);
    c->observer.suite = tw_program_parse(ctx, "suite", twi_suite_text, strlen(twi_suite_text));
    return ready && c->observer.suite ? TW_OK : TW_ERR_ENV;
}

static tw_status calibrate(calibration *c) {
    tw_context *ctx = c->observer.ctx;
    const tw_status status = open(c);
    if (status != TW_OK)
        return status;
    twi_cost_analytic(&c->where.caps, c->analytic);
    c->group = TWI_NEW_N(&ctx->arena, twi_group, twi_suite_cases + 1);
    c->of = TWI_NEW_N(&ctx->arena, const twi_suite_case *, twi_suite_cases + 1);
    c->held = TWI_NEW_N(&ctx->arena, twi_group, twi_suite_cases + 1);
    observe_fitted(c);
    if (c->o->stop && *c->o->stop)
        return TW_OK;
    if (!c->groups) {
        twi_error(&ctx->diags, TWI_E_TUNE_FIT, (twi_loc){0, 0}, "a longer --budget",
                  "no case of the suite could be measured");
        return TW_ERR_ENV;
    }
    if (!fit(c))
        return TW_ERR_INTERNAL;
    c->observer.fitted = c->model.price;
    observe_held_out(c);
    if (c->o->stop && *c->o->stop)
        return TW_OK;
    report(c);
    return keep(c);
}

tw_status tw_calibrate(tw_context *ctx, const tw_calibrate_options *options,
                       tw_calibrate_result *out) {
    const tw_calibrate_options none = tw_calibrate_options_defaults();
    jmp_buf spot, *saved;
    char folder[PATH_MAX];
    const char *before = ctx->env.tmpdir;
    calibration *volatile c = NULL;
    volatile tw_status status = TW_ERR_MEMORY;
    *out = (tw_calibrate_result){.residual = (double)NAN};
    twi_hold(ctx);
    twi_own_folder(ctx, folder);
    if (!TWI_GUARD(&ctx->mem, spot, saved)) {
        c = TWI_NEW(&ctx->arena, calibration);
        c->o = options ? options : &none;
        c->result = out;
        c->observer = (twi_observer){
            .ctx = ctx, .arena = &ctx->arena, .where = &c->where, .stop = c->o->stop};
        c->end_ns = c->o->budget_ms ? twi_now_ns() + c->o->budget_ms * 1000000 : 0;
        status = calibrate(c);
    } else if (c && c->observer.worker) {
        twi_worker_end(c->observer.worker);
    }
    TWI_UNGUARD(&ctx->mem, saved);
    twi_leave_folder(ctx, folder, before);
    twi_let_go(ctx);
    return status;
}
