/* SPDX-License-Identifier: Apache-2.0
 * The trials of a case: its plans, lowered, and built by one call of the compiler. Equal plans are
 * tried once.
 */
#include "base/hash.h"
#include "judge/unit.h"
#include "run/kernel.h"

static const char *hex(twi_arena *a, uint64_t v) {
    return twi_format(a, "%016llx", (unsigned long long)v);
}

static uint32_t depth_of(const twi_loop *loop) {
    uint32_t depth = 0;
    for (uint32_t k = 0; k < loop->order.n; k++)
        depth = loop->order.at[k].depth > depth ? loop->order.at[k].depth : depth;
    return depth;
}

static bool is_ref(const twi_unit *u) { return u->o->target && strcmp(u->o->target, "ref") == 0; }

/* The path of one trial; what fails is the trial's refusal. */
static void prepare(twi_unit *u, twi_trial *t, const tw_compile_options *o) {
    twi_path p = {
        .ctx = u->ctx, .arena = u->arena, .where = u->where, .spec = twi_ir_clone(u->ir, u->arena)};
    tw_diag_clear(u->ctx);
    t->plan = "-";
    t->source = "";
    bool ok = twi_path_class(&p, o->canonical, o->strided);
    if (ok && o->loop_text.text) {
        ok = twi_path_loop_text(&p, &o->loop_text, true);
        t->plan = hex(u->arena, twi_hash(o->loop_text.text, o->loop_text.n, 0));
    } else if (ok && (ok = twi_path_plan(&p, o))) {
        t->plan = hex(u->arena, twi_plan_hash(p.ir, p.plans));
        ok = twi_path_lower(&p);
    }
    t->loop = ok ? p.loop : NULL;
    const char *source = ok && twi_where_compiles(&u->where) ? twi_path_source(&p) : "";
    if (source && *source)
        t->source = hex(u->arena, twi_hash(source, strlen(source), 0));
    t->refused = ok && source
                     ? NULL
                     : twi_strdup(u->arena, twi_first_error(u->ctx, "refused without a reason"));
    t->depth = t->loop ? depth_of(t->loop) : 0;
}

static void add(twi_unit *u, const char *how, const tw_compile_options *o) {
    twi_trial *t = &u->trial[u->trials];
    *t = (twi_trial){.how = how};
    prepare(u, t, o);
    for (uint32_t k = 0; k < u->trials && !o->loop_text.text; k++)
        if (strcmp(u->trial[k].plan, t->plan) == 0 && !t->refused)
            return;
    u->trials++;
}

static void add_all(twi_unit *u) {
    const tw_verify_case *c = u->c;
    const char *first = u->o->plan ? u->o->plan : "default";
    const tw_compile_options base = {.plan = "default",
                                     .target = u->o->target,
                                     .pins = u->o->pins,
                                     .n_pins = u->o->n_pins,
                                     .canonical = u->o->canonical,
                                     .strided = c->strided};
    u->trial = TWI_NEW_N(u->arena, twi_trial, 1 + c->random_plans + c->n_plans + c->n_loops);
    if (c->default_plan) {
        tw_compile_options o = base;
        o.plan = first;
        add(u, first, &o);
    }
    for (size_t k = 0; k < c->random_plans; k++) {
        tw_compile_options o = base;
        o.plan = twi_format(u->arena, "random:%llu", (unsigned long long)c->seed + k);
        add(u, o.plan, &o);
    }
    for (size_t k = 0; k < c->n_plans; k++) {
        tw_compile_options o = base;
        o.plan_text = c->plans[k];
        add(u, c->plans[k].name, &o);
    }
    for (size_t k = 0; k < c->n_loops; k++) {
        tw_compile_options o = base;
        o.loop_text = c->loops[k];
        add(u, c->loops[k].name, &o);
    }
}

static void build_some(twi_unit *u, const uint32_t *which, uint32_t n) {
    const twi_loop **loop = TWI_NEW_N(u->arena, const twi_loop *, n);
    twi_module **module = TWI_NEW_N(u->arena, twi_module *, n);
    for (uint32_t k = 0; k < n; k++)
        loop[k] = u->trial[which[k]].loop;
    tw_diag_clear(u->ctx);
    tw_status status = u->target->ops->build(u->target, loop, n, NULL, module);
    for (uint32_t k = 0; k < n; k++)
        if (module[k])
            u->trial[which[k]].kernel = twi_kernel_new(u->target, module[k], NULL);
    if (status != TW_OK && n == 1)
        u->trial[which[0]].refused =
            twi_strdup(u->arena, twi_first_error(u->ctx, "the build failed without a reason"));
    for (uint32_t k = 0; status != TW_OK && n > 1 && k < n; k++)
        if (!u->trial[which[k]].kernel)
            build_some(u, &which[k], 1); /* one by one, to name the plan */
}

bool twi_unit_plans(twi_unit *u) {
    if (is_ref(u)) { /* one trial without a plan: trial.c copies the oracle's own values */
        u->trial = TWI_NEW(u->arena, twi_trial);
        u->trial[0] = (twi_trial){.how = "ref", .plan = "-", .source = ""};
        u->trials = 1;
        return true;
    }
    add_all(u);
    if (u->where.kind == TWI_WHERE_NOWHERE) {
        for (uint32_t k = 0; k < u->trials; k++)
            u->trial[k].refused = "the target is a description, not a device";
    } else if (twi_where_compiles(&u->where)) {
        uint32_t *which = TWI_NEW_N(u->arena, uint32_t, u->trials + 1), n = 0;
        u->target = twi_where_open(u->ctx, &u->where);
        for (uint32_t k = 0; k < u->trials; k++)
            if (!u->trial[k].refused)
                which[n++] = k;
        if (u->target && n)
            build_some(u, which, n);
    }
    return true;
}
