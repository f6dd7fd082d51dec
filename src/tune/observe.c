/* SPDX-License-Identifier: Apache-2.0
 * A case on its way: its plans by score, which of them take part, their times. What disturbs a
 * sample only adds to it, so that a plan's time is the least of its many short samples, taken in
 * interleaved rounds. The race's sentinel is a copy of the first plan that does not count: it runs
 * first in every round, on arrays that no cache holds yet.
 */
#include "tune/observe.h"

#include "base/clock.h"

#include <math.h>

enum { MOST = 16, FIRST = 5, ROUNDS = 15, ROUNDS_LEAST = 3, SAMPLE_NS = 400000 };

typedef struct {
    twi_observer *o;
    const twi_suite_case *c;
    twi_path path;
    uint32_t units;
    twi_whole *at[MOST];
    uint64_t hash[MOST];
    uint32_t n;
} field;

bool twi_observe_over(const twi_observer *o) {
    return (o->stop && *o->stop) || (o->end_ns && twi_now_ns() > o->end_ns);
}

static size_t kernel_named(const tw_program *p, const char *name) {
    size_t k = 0;
    while (strcmp(tw_program_kernel(p, k), name) != 0)
        k++;
    return k;
}

/* The case's tile IR, specialised and lifted. */
static bool prepare(field *f) {
    const tw_binding type = {"T", f->c->type};
    const tw_ir *ir =
        tw_program_build(f->o->suite, kernel_named(f->o->suite, f->c->kernel), &type, 1);
    tw_compile_options options = tw_compile_options_defaults();
    tw_dim_value dims[3];
    if (!ir)
        return false;
    for (options.n_dims = 0; options.n_dims < tw_ir_dims(ir); options.n_dims++)
        dims[options.n_dims] =
            (tw_dim_value){tw_ir_dim(ir, options.n_dims), f->c->dim[options.n_dims]};
    options.dims = dims;
    return twi_path_specialise(&f->path, ir, &options) && twi_path_class(&f->path, false, false);
}

static void take(field *f, twi_whole *w) {
    const uint64_t hash = twi_plan_hash(w->plans->ir, w->plans);
    for (uint32_t k = 0; k < f->n; k++)
        if (f->hash[k] == hash)
            return;
    if (f->n == MOST)
        return;
    f->hash[f->n] = hash;
    f->at[f->n++] = w;
}

/* The first ones by either model, then some from all over the list. */
static void choose(field *f) {
    const twi_wish wish = {0};
    twi_caps caps = f->path.where.caps;
    twi_whole *all = NULL;
    twi_why why;
    uint32_t n = 0;
    caps.fitted = f->o->fitted;
    for (unsigned model = f->o->fitted ? 0 : 1; model < 2; model++) {
        n = twi_search_whole(f->o->arena, f->path.ir, &caps, &wish, &all, &why);
        for (uint32_t k = 0; k < n && k < FIRST; k++)
            take(f, &all[k]);
        caps.fitted = NULL;
    }
    for (uint32_t k = 0; k < 2 * MOST && n > 2 * MOST; k++) /* some are taken already */
        take(f, &all[FIRST + (uint64_t)k * (n - FIRST) / (2 * MOST)]);
    for (uint32_t k = 0; k < n && n <= 2 * MOST; k++)
        take(f, &all[k]);
}

static void add_amounts(const field *f, const twi_plans *plans, double amount[TWI_COSTS]) {
    for (uint32_t s = 0; s < plans->n; s++) {
        twi_features x;
        double part[TWI_COSTS];
        twi_tally(f->o->arena, plans->ir, &f->path.where.caps, &plans->scope[s], &x);
        twi_search_amounts(plans->ir, &f->path.where.caps, &x, x.groups > 1 ? f->units : 1, part);
        for (unsigned k = 0; k < TWI_COSTS; k++)
            amount[k] += part[k];
    }
}

static twi_sampled sample(void *user, uint32_t k, unsigned round, double *ns) {
    twi_observer *o = user;
    return twi_observe_over(o) ? TWI_STOP : twi_worker_time(o->worker, k, round, ns);
}

static double least_of(const twi_runner *r, unsigned rounds) {
    double least = INFINITY;
    for (unsigned k = 0; k < rounds; k++)
        if (r->ns[k] < least) /* NAN: it did not run */
            least = r->ns[k];
    return least;
}

static twi_group measure(field *f) {
    twi_observer *o = f->o;
    twi_entrant entrant[MOST + 1] = {{0}};
    twi_measured *m = TWI_NEW_N(o->arena, twi_measured, MOST);
    twi_race_result r;
    uint32_t n = 0;
    for (uint32_t k = 0; k < f->n; k++) {
        twi_path p = f->path;
        p.plans = f->at[k]->plans;
        p.ir = p.plans->ir;
        entrant[k + 1].out = !twi_path_lower(&p);
        entrant[k + 1].loop = p.loop;
    }
    entrant[0] = entrant[1];
    twi_worker w = {.ctx = o->ctx,
                    .arena = o->arena,
                    .where = &f->path.where,
                    .ir = f->path.spec,
                    .seed = 1,
                    .entrant = entrant,
                    .n = f->n + 1,
                    .threads = (int)f->units,
                    .build_limit_ms = 120000,
                    .run_limit_ms = 20000,
                    .sample_ns = SAMPLE_NS};
    o->worker = &w;
    twi_race_run(&(twi_race){.arena = o->arena,
                             .n = f->n + 1,
                             .least = ROUNDS_LEAST,
                             .enough = ROUNDS,
                             .most = ROUNDS,
                             .sample = sample,
                             .user = o},
                 &r);
    o->worker = NULL;
    twi_worker_end(&w);
    for (uint32_t k = 0; k < f->n && !r.stopped; k++) {
        const double ns = least_of(&r.at[k + 1], r.rounds);
        if (r.at[k + 1].lost || !(ns > 0 && ns < INFINITY))
            continue;
        m[n].ns = ns;
        add_amounts(f, f->at[k]->plans, m[n++].amount);
    }
    return (twi_group){m, n};
}

twi_group twi_observe(twi_observer *o, const twi_suite_case *c) {
    field f = {.o = o,
               .c = c,
               .units = c->shared ? o->where->caps.units : 1,
               .path = {.ctx = o->ctx, .arena = o->arena, .where = *o->where}};
    if (twi_observe_over(o) || !prepare(&f))
        return (twi_group){NULL, 0};
    choose(&f);
    return f.n ? measure(&f) : (twi_group){NULL, 0};
}
