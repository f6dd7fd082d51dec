/* SPDX-License-Identifier: Apache-2.0
 * Tuning, step by step:
 *
 *     candidates   the families' legal plans by score, the incumbent        candidates.c
 *     recall       what the store knows of them                             record.c
 *     verdicts     built in batches, judged on fixtures, in children        verdicts.c
 *     race         interleaved rounds on those that are right               race.c, worker.c
 *     confirm      the first and its ties: built afresh, judged on other inputs, timed again
 *     record       a row a candidate                                        record.c
 *
 * An end that is asked for in between leaves what is known in the store; the next run goes on
 * there.
 */
#include "tune/tune.h"
#include "base/clock.h"
#include "oracle/oracle.h"
#include "tune/codes.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS_LEAST = 5, ROUNDS_ENOUGH = 25, CONFIRMED = 4, CONFIRM_ROUNDS = 11, LONGEST = 6 };
/* Of what is left of the budget when the phase begins. */
static const double RACE_SHARE = 0.6;
/* So far from the leader of the race a candidate may be that is confirmed. */
static const double NEAR = 1.05;

static const struct {
    const char *name;
    int64_t budget_ms;
    int64_t sample_ns;
} efforts[] = {[TW_EFFORT_ESTIMATE] = {"estimate", 0, 0},
               [TW_EFFORT_MEASURE] = {"measure", 60000, 10000000},
               [TW_EFFORT_PATIENT] = {"patient", 300000, 20000000},
               [TW_EFFORT_EXHAUSTIVE] = {"exhaustive", 0, 20000000},
               [TW_EFFORT_WISDOM_ONLY] = {"wisdom-only", 0, 0}};

const char *tw_effort_name(tw_effort effort) {
    return (size_t)effort < sizeof efforts / sizeof efforts[0] ? efforts[effort].name : NULL;
}

tw_tune_options tw_tune_options_defaults(void) {
    return (tw_tune_options){.effort = TW_EFFORT_MEASURE, .seed = 1};
}

bool twi_tune_asked(const twi_tuning *t) { return t->o->stop && *t->o->stop; }

void twi_tune_phase(twi_tuning *t, double share) {
    const int64_t now = twi_now_ns(), left = t->end_ns - now;
    t->until_ns = t->end_ns ? now + (int64_t)(left > 0 ? (double)left * share : 0) : 0;
    t->stop = twi_tune_asked(t);
}

bool twi_tune_over(twi_tuning *t) {
    const bool late = t->until_ns && twi_now_ns() > t->until_ns;
    t->late = t->late || late;
    t->stop = t->stop || late || twi_tune_asked(t);
    return t->stop != 0;
}

void twi_tune_tell(const twi_tuning *t, const char *what, size_t done, size_t of) {
    if (t->o->progress)
        t->o->progress(t->o->user, what, done, of);
}

/* Whom the rows are for. */
static bool make_key(twi_tuning *t) {
    twi_target *target = twi_where_open(t->ctx, &t->path.where);
    if (!target)
        return false;
    const bool ready = !target->ops->prepare || target->ops->prepare(target);
    t->path.compiler = twi_strdup(t->arena, target->version);
    target->ops->close(target);
    if (!ready)
        return false;
    const twi_plan_key key = twi_path_key(&t->path, t->compile);
    char *tile = twi_alloc(t->arena, 65);
    if (t->store)
        twi_sha256(&(twi_shelf_part){key.tile, strlen(key.tile)}, 1, tile);
    twi_sb spec;
    twi_sb_init(&spec, t->arena);
    twi_sb_str(&spec, twi_text(&t->ctx->names, t->path.spec->spec_note));
    for (uint32_t d = 1; d < t->path.spec->dim.n; d++)
        twi_sb_printf(&spec, "%s%s=%lld", spec.n ? " " : "",
                      twi_text(&t->ctx->names, t->path.spec->dim.at[d].name),
                      (long long)t->path.spec->dim.at[d].value);
    t->key = (twi_wisdom){.tile = tile,
                          .numeric = key.numeric,
                          .target = key.target,
                          .device = key.device,
                          .compiler = key.compiler,
                          .emitter = TW_VERSION,
                          .threads = key.threads,
                          .kernel = twi_text(&t->ctx->names, t->path.spec->kernel),
                          .spec = twi_sb_text(&spec)};
    return true;
}

/* ---- race */

typedef struct {
    twi_tuning *t;
    twi_worker *w;
    uint32_t done;
    unsigned due; /* rounds that are run whatever the time */
} course;

static twi_sampled sample(void *user, uint32_t k, unsigned round, double *ns) {
    course *c = user;
    if (round < c->due ? twi_tune_asked(c->t) : twi_tune_over(c->t))
        return TWI_STOP;
    twi_tune_tell(c->t, "timed", ++c->done, 0);
    return twi_worker_time(c->w, k, round, ns);
}

static uint64_t memory_of(const tw_ir *ir) {
    uint64_t bytes = UINT64_C(1) << 33;
    for (uint32_t k = 1; k < ir->array.n; k++) {
        int64_t extent[TWI_MAX_RANK];
        bytes += 6 * twi_array_extents(ir, k, extent) * tw_elem_size((tw_elem)ir->array.at[k].elem);
    }
    return bytes;
}

static twi_worker make_worker(twi_tuning *t, twi_contender *const *of, uint32_t n) {
    twi_worker w = {.ctx = t->ctx,
                    .arena = t->arena,
                    .where = &t->path.where,
                    .ir = t->path.spec,
                    .scalars = t->o->scalars,
                    .n_scalars = t->o->n_scalars,
                    .seed = t->o->seed,
                    .entrant = TWI_NEW_N(t->arena, twi_entrant, n + 1),
                    .n = n,
                    .threads = t->compile->threads,
                    .build_limit_ms = 120000,
                    .run_limit_ms = t->o->run_limit_ms ? t->o->run_limit_ms : 20000,
                    .sample_ns = efforts[t->o->effort].sample_ns,
                    .memory = twi_where_is_device(&t->path.where) ? 0 : memory_of(t->path.spec)};
    for (uint32_t k = 0; k < n; k++)
        w.entrant[k].loop = of[k]->loop;
    return w;
}

static const char *samples_text(twi_arena *arena, const twi_runner *r, unsigned rounds) {
    twi_sb sb;
    twi_sb_init(&sb, arena);
    for (unsigned k = 0; k < rounds; k++) {
        twi_sb_str(&sb, k ? " " : "");
        if (isnan(r->ns[k]))
            twi_sb_char(&sb, '-');
        else
            twi_sb_fixed(&sb, r->ns[k], 1);
    }
    return twi_sb_text(&sb);
}

/* Those that were lost have a verdict now. */
static void take_losses(twi_tuning *t, const twi_worker *w, twi_contender *const *of) {
    for (uint32_t k = 0; k < w->n; k++) {
        if (!w->entrant[k].verdict)
            continue;
        of[k]->verdict = w->entrant[k].verdict;
        of[k]->note = twi_strdup(t->arena, w->entrant[k].note);
    }
}

static void run_course(twi_tuning *t, twi_contender *const *of, uint32_t n, bool confirm,
                       twi_race_result *out) {
    twi_worker w = make_worker(t, of, n);
    course c = {.t = t, .w = &w, .due = confirm ? ROUNDS_LEAST : 0};
    w.rebuild = confirm;
    t->worker = &w;
    twi_race_run(&(twi_race){.arena = t->arena,
                             .n = n,
                             .least = confirm ? LONGEST * CONFIRM_ROUNDS + 1 : ROUNDS_LEAST,
                             .enough = confirm ? CONFIRM_ROUNDS : ROUNDS_ENOUGH,
                             .most = LONGEST * (confirm ? CONFIRM_ROUNDS : ROUNDS_ENOUGH),
                             .resolution = confirm ? TWI_TIE - 1 : 0,
                             .sample = sample,
                             .user = &c},
                 out);
    t->worker = NULL;
    twi_worker_end(&w);
    take_losses(t, &w, of);
}

static bool right(const twi_contender *c) {
    return c->chosen && c->verdict && strcmp(c->verdict, "right") == 0;
}

static uint32_t right_ones(twi_tuning *t, twi_contender **of) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < t->n; k++)
        if (right(&t->at[k]))
            of[n++] = &t->at[k];
    return n;
}

static int by_median(const void *x, const void *y) {
    const twi_contender *a = *(twi_contender *const *)x, *b = *(twi_contender *const *)y;
    return (a->median_ns > b->median_ns) - (a->median_ns < b->median_ns);
}

/* How many of those by time there is time to confirm: one in any case. */
static uint32_t confirmable(const twi_tuning *t, twi_contender *const *of, uint32_t n) {
    const double left = t->end_ns ? (double)(t->end_ns - twi_now_ns()) : INFINITY;
    double takes = 0;
    uint32_t k = 0;
    for (; k < n && k < CONFIRMED && (!k || takes < left); k++)
        takes += t->each_ns + 2 * ROUNDS_LEAST * of[k]->median_ns;
    return k > 1 && takes >= left ? k - 1 : k;
}

/* The first and those that may be as good; without a round, the one that the model likes best. */
static uint32_t race(twi_tuning *t, twi_contender **of, uint32_t n) {
    twi_race_result r;
    uint32_t kept = 0;
    run_course(t, of, n, false, &r);
    t->result->rounds = r.rounds;
    t->result->disturbed = r.disturbed;
    t->result->drift = r.drift;
    for (uint32_t k = 0; k < n; k++) {
        of[k]->median_ns = r.at[k].median_ns;
        of[k]->ratio = of[0] == &t->at[0] ? r.at[k].ratio : (double)NAN;
        of[k]->samples = samples_text(t->arena, &r.at[k], r.rounds);
    }
    for (uint32_t k = 0; k < n; k++)
        if (r.leader < n && r.at[k].in &&
            (k == r.leader || twi_race_ratio(t->arena, &r, k, r.leader) <= NEAR))
            of[kept++] = of[k];
    qsort(of, kept, sizeof *of, by_median);
    if (!kept && t->late && right(of[0]))
        return 1;
    const uint32_t n_confirmed = confirmable(t, of, kept);
    t->result->unconfirmed = (kept < CONFIRMED ? kept : CONFIRMED) - n_confirmed;
    t->late = t->late || t->result->unconfirmed;
    return n_confirmed;
}

/* The shorter text, then the lesser. */
static bool simpler(const twi_contender *a, const twi_contender *b) {
    const size_t x = strlen(a->text), y = strlen(b->text);
    return x != y ? x < y : strcmp(a->text, b->text) < 0;
}

/* Built afresh, judged on other inputs, timed again beside the model's first. */
static void confirm(twi_tuning *t, twi_contender **of, uint32_t n) {
    twi_contender **all = TWI_NEW_N(t->arena, twi_contender *, n + 2);
    twi_race_result r;
    uint32_t m = 0;
    bool first = false;
    for (uint32_t k = 0; k < n; k++)
        first = first || of[k] == &t->at[0];
    n = twi_tune_again(t, of, n);
    if (!first && right(&t->at[0]))
        all[m++] = &t->at[0];
    for (uint32_t k = 0; k < n; k++)
        all[m++] = of[k];
    if (!n || twi_tune_asked(t))
        return;
    run_course(t, all, m, true, &r);
    if (r.leader >= m)
        return;
    twi_contender *best = NULL;
    for (uint32_t k = 0; k < m; k++) {
        all[k]->confirm_ns = r.at[k].median_ns;
        if (all[k] == &t->at[0])
            t->result->default_ns = r.at[k].median_ns;
    }
    for (uint32_t k = 0; k < m; k++) {
        all[k]->tied = k == r.leader || twi_race_ratio(t->arena, &r, k, r.leader) <= TWI_TIE;
        t->result->tied += all[k]->tied;
        if (all[k]->tied && (!best || simpler(all[k], best)))
            best = all[k];
    }
    best->winner = true;
    t->result->confirm_ns = best->confirm_ns;
    t->result->best_ns = r.at[r.leader].median_ns;
    t->result->regret = t->result->default_ns / r.at[r.leader].median_ns - 1;
    t->result->winner = best->hash;
    t->result->winner_text = best->text;
}

/* ---- the whole */

static void tell_rows(twi_tuning *t, tw_tune_fn fn, void *user) {
    for (uint32_t k = 0; fn && k < t->n; k++) {
        const twi_contender *c = &t->at[k];
        if (!c->chosen)
            continue;
        fn(user, &(tw_tune_row){.plan = c->hash,
                                .text = c->text,
                                .source = c->source,
                                .verdict = c->verdict ? c->verdict : "untried",
                                .note = c->note,
                                .samples = c->samples,
                                .median_ns = c->median_ns,
                                .ratio = c->ratio,
                                .score_ns = c->score_ns,
                                .confirm_ns = c->confirm_ns,
                                .rank = c->rank,
                                .known = c->known,
                                .incumbent = c->incumbent,
                                .winner = c->winner,
                                .tied = c->tied});
    }
}

static tw_status from_store(twi_tuning *t) {
    twi_kept_plan kept;
    const twi_plan_key key = twi_path_key(&t->path, t->compile);
    if (t->store && twi_wisdom_find(t->store, t->arena, &key, &kept)) {
        t->result->winner = twi_format(t->arena, "%016llx", (unsigned long long)kept.hash);
        t->result->winner_text = kept.text;
        return TW_OK;
    }
    twi_error(&t->ctx->diags, TWI_E_TUNE_NO_WISDOM, (twi_loc){0, 0}, "tune without --effort",
              "there is no plan for this in the store");
    return TW_ERR_INPUT;
}

static tw_status measure(twi_tuning *t) {
    twi_contender **of = TWI_NEW_N(t->arena, twi_contender *, t->n + 1);
    twi_tune_recall(t);
    tw_status status = twi_tune_verdicts(t);
    uint32_t n = right_ones(t, of);
    if (n && status == TW_OK && !twi_tune_asked(t)) {
        twi_tune_phase(t, RACE_SHARE);
        n = race(t, of, n);
        twi_tune_phase(t, 1);
        if (n && !t->stop) /* whatever the time: the best so far is confirmed */
            confirm(t, of, n);
    }
    t->result->stopped = t->late || twi_tune_asked(t);
    if (!twi_tune_record(t) && status == TW_OK)
        status = TW_ERR_ENV;
    if (status != TW_OK || t->result->winner || t->result->stopped)
        return status;
    twi_error(&t->ctx->diags, TWI_E_TUNE_NONE_RIGHT, (twi_loc){0, 0},
              "the default plan can still be had; verify-run says more",
              "no candidate was right and could be timed");
    return TW_ERR_WRONG;
}

static bool sensible(tw_context *ctx, const tw_ir *ir, const tw_tune_request *request,
                     const tw_tune_options *o) {
    twi_diags *d = &ctx->diags;
    if (!ir)
        return twi_no_ir(ctx) == TW_OK;
    if (request->compile && tw_effort_name(o->effort))
        return twi_scalars_known(ir, o->scalars, o->n_scalars);
    if (!request->compile)
        twi_error(d, TWI_E_PATH_ARGUMENT, (twi_loc){0, 0}, "tw_compile_options_defaults()",
                  "tune was given no compile options");
    else
        twi_error(d, TWI_E_PATH_ARGUMENT, (twi_loc){0, 0},
                  "measure, patient, exhaustive, estimate, wisdom-only", "there is no effort %d",
                  (int)o->effort);
    return false;
}

static tw_status tune(twi_tuning *t, tw_tune_fn fn, void *user) {
    twi_path *p = &t->path;
    if (!twi_where_of(t->ctx, t->compile, &p->where) ||
        !twi_path_specialise(p, t->program, t->compile) ||
        !twi_path_class(p, t->compile->canonical, t->compile->strided))
        return TW_ERR_INPUT;
    const bool runs = t->o->effort != TW_EFFORT_ESTIMATE;
    if (runs && !twi_where_is_here(t->ctx, &p->where))
        return TW_ERR_INPUT;
    if (runs && !twi_where_compiles(&p->where)) {
        twi_error(&t->ctx->diags, TWI_E_PATH_TARGET, (twi_loc){0, 0}, "--effort estimate",
                  "target %s is not timed", p->where.name);
        return TW_ERR_INPUT;
    }
    if (runs && !make_key(t))
        return TW_ERR_ENV;
    if (t->o->effort == TW_EFFORT_WISDOM_ONLY)
        return from_store(t);
    if (!twi_tune_candidates(t))
        return TW_ERR_INPUT;
    const tw_status status = runs ? measure(t) : TW_OK;
    if (!runs) {
        t->result->winner = t->at[0].hash;
        t->result->winner_text = t->at[0].text;
    }
    tell_rows(t, fn, user);
    return status;
}

static twi_tuning *begin(tw_context *ctx, const tw_ir *ir, const tw_tune_request *request,
                         const tw_tune_options *o) {
    twi_tuning *t = TWI_NEW(&ctx->arena, twi_tuning);
    t->ctx = ctx;
    t->arena = &ctx->arena;
    t->program = ir;
    t->compile = request->compile;
    t->o = o;
    t->path = (twi_path){.ctx = ctx, .arena = &ctx->arena};
    const int64_t budget = o->budget_ms ? o->budget_ms : efforts[o->effort].budget_ms;
    t->end_ns = budget ? twi_now_ns() + budget * 1000000 : 0;
    return t;
}

tw_status tw_tune(tw_context *ctx, tw_store *store, const tw_ir *ir, const tw_tune_request *request,
                  tw_tune_result *out) {
    const tw_tune_options none = tw_tune_options_defaults(),
                          *o = request->options ? request->options : &none;
    jmp_buf spot, *saved;
    char folder[PATH_MAX];
    const char *before = ctx->env.tmpdir;
    twi_tuning *volatile t = NULL;
    volatile tw_status status = TW_ERR_MEMORY;
    *out = (tw_tune_result){.confirm_ns = (double)NAN,
                            .default_ns = (double)NAN,
                            .best_ns = (double)NAN,
                            .regret = (double)NAN,
                            .drift = (double)NAN};
    twi_hold(ctx);
    twi_own_folder(ctx, folder);
    twi_shelf *shelf = ctx->shelf;
    if (!TWI_GUARD(&ctx->mem, spot, saved)) {
        status = TW_ERR_INPUT;
        if (sensible(ctx, ir, request, o)) {
            t = begin(ctx, ir, request, o);
            t->store = store;
            t->result = out;
            status = tune(t, request->row, request->user);
        }
    } else if (t && t->worker) {
        twi_worker_end(t->worker);
    }
    TWI_UNGUARD(&ctx->mem, saved);
    ctx->shelf = shelf;
    twi_leave_folder(ctx, folder, before);
    twi_let_go(ctx);
    return status;
}
