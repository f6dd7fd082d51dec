/* SPDX-License-Identifier: Apache-2.0
 * One result judged, the oracle's own result, and generated inputs.
 */
#include "compile/path.h"
#include "oracle/fixtures.h"
#include "oracle/oracle.h"
#include "plan/scope.h"
#include "tilewright/judge.h"

const char *tw_fixture_name(size_t k) {
    return k + 1 < TWI_FIXTURES ? twi_fixture_name((twi_fixture)(k + 1)) : NULL;
}

bool tw_fixture_fill(const tw_compiled *c, size_t k, const char *fixture, uint64_t seed,
                     void *data) {
    const twi_fixture which = twi_fixture_named(fixture);
    tw_arg arg;
    uint32_t id;
    jmp_buf spot, *saved;
    if (!c || which == TWI_FIX_NONE || !c->path.spec || !twi_arg_of(c->path.spec, k, &arg, &id) ||
        arg.scalar)
        return false;
    if (TWI_GUARD(&c->ctx->mem, spot, saved)) {
        TWI_UNGUARD(&c->ctx->mem, saved);
        return false;
    }
    twi_fixture_fill(c->path.spec, id, which, seed, data);
    TWI_UNGUARD(&c->ctx->mem, saved);
    return true;
}

bool tw_fixture_scalar(const tw_compiled *c, size_t k, const char *fixture, uint64_t *bits) {
    const twi_fixture which = twi_fixture_named(fixture);
    tw_arg arg;
    uint32_t id;
    if (!c || which == TWI_FIX_NONE || !c->path.spec || !twi_arg_of(c->path.spec, k, &arg, &id) ||
        !arg.scalar)
        return false;
    *bits = twi_fixture_scalar(c->path.spec, id, which);
    return true;
}

/* Tables by id from the caller's, which are in order of tw_compiled_arg. */
static const void **by_id(twi_arena *a, const tw_ir *ir, const void *const *given) {
    const void **out = TWI_NEW_N(a, const void *, ir->array.n + 1);
    for (uint32_t k = 1, n = 0; k < ir->array.n; k++)
        if (ir->array.at[k].role != TWI_TEMP)
            out[k] = given[n++];
    return out;
}

static uint64_t *scalar_bits(twi_arena *a, const tw_ir *ir, const tw_judge_run *run) {
    uint64_t *bits = TWI_NEW_N(a, uint64_t, ir->scalar.n + 1);
    for (uint32_t s = 1; s < ir->scalar.n; s++) {
        bits[s] = ir->scalar.at[s].bits;
        for (size_t k = 0; k < run->n_scalars; k++)
            if (strcmp(run->scalars[k].name, twi_text(&ir->ctx->names, ir->scalar.at[s].name)) == 0)
                bits[s] = run->scalars[k].bits;
    }
    return bits;
}

/* What the oracle needs is there; else says what is not. `after`: results of a launch, or room for
 * the oracle's own. */
static bool complete(tw_context *ctx, const tw_compiled *c, const tw_judge_run *run,
                     const void *const *after) {
    twi_diags *d = &ctx->diags;
    const tw_ir *ir = c ? c->path.spec : NULL;
    if (!ir) {
        twi_error(d, TWI_E_PATH_ARGUMENT, (twi_loc){0, 0}, "compile a tile IR with its dims",
                  "nothing to judge by: what was compiled has no tile program");
        return false;
    }
    for (uint32_t k = 1, n = 0; k < ir->array.n; k++) {
        const uint8_t role = ir->array.at[k].role;
        if (role == TWI_TEMP)
            continue;
        int64_t extent[TWI_MAX_RANK];
        const bool some = twi_array_extents(ir, k, extent) > 0;
        const bool in = some && role != TWI_OUT, out = some && role != TWI_IN;
        if ((in && !(run->before && run->before[n])) || (out && !(after && after[n]))) {
            twi_error(d, TWI_E_PATH_ARGUMENT, (twi_loc){0, 0}, NULL, "array %s is missing",
                      twi_text(&ctx->names, ir->array.at[k].name));
            return false;
        }
        n++;
    }
    return twi_scalars_known(ir, run->scalars, run->n_scalars);
}

static twi_oracle *ask(const tw_compiled *c, const tw_judge_run *run, twi_arena *a) {
    const tw_ir *ir = c->path.spec;
    const twi_oracle_in in = {by_id(a, ir, run->before), scalar_bits(a, ir, run)};
    const twi_loop *loop = c->path.loop;
    const twi_oracle_options options = {.canonical = c->path.ir && twi_ir_class(c->path.ir) ==
                                                                       TWI_ORDER_CANONICAL};
    twi_oracle *o = twi_oracle_run(a, ir, &in, loop ? loop->order.at : NULL,
                                   loop ? loop->order.n : 0, &options);
    const char *trouble = twi_oracle_error(o);
    if (loop && loop->ir && loop->ir->merged && !trouble) {
        twi_oracle *text = o;
        o = twi_oracle_run(a, loop->ir, &in, loop->order.at, loop->order.n, &options);
        trouble = twi_oracle_error(o);
        if (!trouble)
            trouble = twi_oracle_agrees(o, text);
    }
    if (trouble)
        twi_error(&c->ctx->diags, TWI_E_PATH_ORACLE, (twi_loc){0, 0}, NULL,
                  "the oracle cannot judge this: %s", trouble);
    return trouble ? NULL : o;
}

static const char *element_text(const tw_ir *ir, uint32_t array, const twi_verdict *v) {
    twi_sb sb;
    twi_sb_init(&sb, &ir->ctx->arena);
    twi_sb_printf(&sb, "%s[", twi_text(&ir->ctx->names, ir->array.at[array].name));
    for (unsigned d = 0; d < ir->array.at[array].rank; d++)
        twi_sb_printf(&sb, "%s%lld", d ? ", " : "", (long long)v->at[d]);
    twi_sb_char(&sb, ']');
    return twi_sb_text(&sb);
}

static tw_status judge(const tw_compiled *c, const tw_judge_run *run, tw_verdict_fn fn,
                       void *user) {
    const tw_ir *ir = c->path.spec;
    twi_arena *a = &c->ctx->arena;
    twi_oracle *o = ask(c, run, a);
    if (!o)
        return TW_ERR_INPUT;
    const void **after = by_id(a, ir, run->after);
    bool right = true;
    for (uint32_t k = 1; k < ir->array.n; k++) {
        twi_verdict v;
        if (ir->array.at[k].role != TWI_OUT && ir->array.at[k].role != TWI_INOUT)
            continue;
        twi_oracle_judge(o, k, after[k], &v);
        right = right && v.ok;
        const tw_verdict told = {.array = twi_text(&ir->ctx->names, ir->array.at[k].name),
                                 .right = v.ok,
                                 .determined = v.determined,
                                 .probative = twi_verdict_probative(&v),
                                 .elements = v.elements,
                                 .covered = v.covered,
                                 .wrong = v.wrong,
                                 .undecided = v.undecided,
                                 .unbounded = v.unbounded,
                                 .worst_over_bound = v.worst,
                                 .element = element_text(ir, k, &v),
                                 .got = v.got,
                                 .want = v.want,
                                 .bound = v.bound};
        fn(user, &told);
    }
    return right ? TW_OK : TW_ERR_WRONG;
}

tw_status tw_judge(tw_context *ctx, const tw_compiled *c, const tw_judge_run *run, tw_verdict_fn fn,
                   void *user) {
    jmp_buf spot, *saved;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return TW_ERR_MEMORY;
    }
    tw_status status = complete(ctx, c, run, run->after) ? judge(c, run, fn, user) : TW_ERR_INPUT;
    TWI_UNGUARD(&ctx->mem, saved);
    return status;
}

static tw_status reference(const tw_compiled *c, const tw_judge_run *run, void *const *after) {
    const tw_ir *ir = c->path.spec;
    twi_oracle *o = ask(c, run, &c->ctx->arena);
    for (uint32_t k = 1, n = 0; o && k < ir->array.n; k++) {
        if (ir->array.at[k].role == TWI_TEMP)
            continue;
        if (ir->array.at[k].role != TWI_IN)
            twi_oracle_values(o, k, after[n]);
        n++;
    }
    if (!o || twi_oracle_offending(o) < 0)
        return o ? TW_OK : TW_ERR_INPUT;
    twi_error(&c->ctx->diags, TWI_E_PATH_INDEX, (twi_loc){0, 0}, NULL,
              "instance %lld used an index outside an array; it is the first that did",
              (long long)twi_oracle_offending(o));
    return TW_ERR_INDEX;
}

tw_status tw_judge_reference(tw_context *ctx, const tw_compiled *c, const tw_judge_run *run,
                             void *const *after) {
    jmp_buf spot, *saved;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return TW_ERR_MEMORY;
    }
    tw_status status =
        complete(ctx, c, run, (const void *const *)after) ? reference(c, run, after) : TW_ERR_INPUT;
    TWI_UNGUARD(&ctx->mem, saved);
    return status;
}
