/* SPDX-License-Identifier: Apache-2.0
 * The verifier: structure first, so that whatever comes later may follow links and index tables;
 * then one file a group of rules.
 */
#include "loop/verify_state.h"

#include "base/context.h"

void twi_check_fail(twi_check *c, int code, twi_lid v, const char *format, ...) {
    twi_sb text;
    twi_sb_init(&text, &c->loop->ctx->arena);
    twi_sb_printf(&text, "%s: ", twi_text(&c->loop->ctx->names, c->f->name));
    va_list args;
    va_start(args, format);
    twi_sb_vprintf(&text, format, args);
    va_end(args);
    if (v && c->order && c->span) { /* sound enough to print */
        twi_sb_str(&text, ", in: ");
        twi_loop_show(c->loop, c->func, v, &text);
    }
    twi_loc none = {0, 0};
    twi_error(&c->loop->ctx->diags, (uint16_t)code, v ? c->f->ins.at[v].loc : none, NULL, "%s",
              twi_sb_text(&text));
    c->failed = true;
}

bool twi_check_inside(const twi_check *c, twi_lid v, twi_lid body) {
    for (twi_lid p = c->parent[v]; p; p = c->parent[p])
        if (p == body)
            return true;
    return body == 0;
}

bool twi_check_never_runs(const twi_check *c, twi_lid v) {
    if (c->groups == 0)
        return true;
    for (twi_lid p = c->parent[v]; p; p = c->parent[p]) {
        const twi_lins *i = &c->f->ins.at[p];
        if (i->op == TWI_L_UNROLL && i->attr == 0)
            return true;
        if (i->op == TWI_L_FOR &&
            c->span[twi_larg(c->f, p, 0)].lo >= c->span[twi_larg(c->f, p, 1)].hi)
            return true;
        const twi_lins *when = i->op == TWI_L_IF ? &c->f->ins.at[twi_larg(c->f, p, 0)] : NULL;
        if (when && when->op == TWI_L_LCONST && c->f->constant.at[when->attr] == 0)
            return true;
    }
    return false;
}

/* ---- structure ---- */

enum { DEEPEST = 128 };

/* Links form a tree, every value is built before it is used and in a body that is still open. */
static bool linked(twi_check *c, twi_lid first, twi_lid parent, unsigned depth) {
    const twi_func *f = c->f;
    for (twi_lid v = first; v; v = f->ins.at[v].next) {
        if (v >= f->ins.n || c->at[v] || depth > DEEPEST) {
            twi_check_fail(c, TWI_LOOP_E_V1, 0, "instruction %u stands where it cannot", v);
            return false;
        }
        const twi_lins *i = &f->ins.at[v];
        c->order[c->linked++] = v;
        c->at[v] = c->linked;
        c->parent[v] = parent;
        if (!twi_loop_row_of(i->op) || i->arg > f->args.n || i->nargs > f->args.n - i->arg ||
            (i->body && !twi_check_has_body(i->op))) {
            twi_check_fail(c, TWI_LOOP_E_V1, 0, "instruction %u is malformed", v);
            return false;
        }
        for (uint32_t k = 0; k < i->nargs; k++) {
            twi_lid a = twi_larg(f, v, k);
            if (a == 0 || a >= f->ins.n || !c->at[a] || a == v || f->ins.at[a].count == 0 ||
                (twi_check_has_body(f->ins.at[a].op) && !twi_check_inside(c, v, a)) ||
                !(c->parent[a] == 0 || c->parent[a] == parent ||
                  twi_check_inside(c, v, c->parent[a]))) {
                twi_check_fail(
                    c, TWI_LOOP_E_V1, 0,
                    "operand %u of %s (instruction %u) is no value in an open body above", k,
                    twi_loop_op_name(i->op), v);
                return false;
            }
        }
        if (!linked(c, i->body, v, depth + 1))
            return false;
    }
    return true;
}

static void spans(twi_check *c) {
    twi_span *span = TWI_NEW_N(c->arena, twi_span, c->f->ins.n);
    for (uint32_t k = 0; k < c->linked; k++) {
        twi_lid v = c->order[k];
        const twi_lins *i = &c->f->ins.at[v];
        twi_span arg[3] = {TWI_SPAN_ALL, TWI_SPAN_ALL, TWI_SPAN_ALL};
        for (unsigned n = 0; n < i->nargs && n < 3; n++)
            arg[n] = span[twi_larg(c->f, v, n)];
        span[v] = twi_span_step(c->f, v, arg, c->groups);
    }
    c->span = span;
}

/* V5: index arithmetic of 32 bits does not wrap, nor does a loop's index on its way out. */
static void narrow(twi_check *c) {
    for (uint32_t k = 0; k < c->linked; k++) {
        twi_lid v = c->order[k];
        const twi_lins *i = &c->f->ins.at[v];
        if (i->elem != TW_I32)
            continue;
        twi_span arg[3] = {TWI_SPAN_ALL, TWI_SPAN_ALL, TWI_SPAN_ALL};
        for (unsigned n = 0; n < i->nargs && n < 3; n++)
            arg[n] = c->span[twi_larg(c->f, v, n)];
        if (i->op == TWI_L_FOR && arg[1].hi > INT32_MAX - (int64_t)i->attr)
            twi_check_fail(c, TWI_LOOP_E_V5, v, "the index is up to %lld, a step of %u more wraps",
                           (long long)arg[1].hi, i->attr);
        if (twi_loop_elementwise(i->op) && i->flags & TWI_FLAG_INDEX &&
            twi_span_wraps(c->f, v, arg))
            twi_check_fail(c, TWI_LOOP_E_V5, v, "32 bits do not hold every value of this index");
    }
}

static bool function(twi_loop *loop, uint32_t func) {
    twi_check c = {.loop = loop,
                   .f = &loop->func.at[func],
                   .func = func,
                   .arena = loop->arena,
                   .groups = twi_most_groups(loop, func)};
    c.parent = TWI_NEW_N(c.arena, twi_lid, c.f->ins.n + 1u);
    c.at = TWI_NEW_N(c.arena, uint32_t, c.f->ins.n + 1u);
    c.order = TWI_NEW_N(c.arena, twi_lid, c.f->ins.n + 1u);
    if (c.f->lanes == 0 || c.f->subs == 0 || (uint64_t)c.f->lanes * c.f->subs > 65536 ||
        (c.f->explicit_lanes && c.f->subs != 1)) {
        twi_check_fail(&c, TWI_LOOP_E_V1, 0, "%u lanes, %u subgroups", c.f->lanes, c.f->subs);
        return false;
    }
    if (!twi_check_objects(&c) || !linked(&c, c.f->first, 0, 0) || !twi_check_types(&c))
        return false;
    spans(&c);
    narrow(&c);
    twi_check_varies(&c);
    twi_check_memory(&c);
    twi_check_align(&c);
    twi_check_shared(&c);
    return !c.failed;
}

/* ---- recipes ---- */

static bool recipe(twi_loop *loop, const twi_entry *e) {
    unsigned depth = 0;
    const char *wrong = NULL;
    for (uint32_t k = 0; k < e->recipe.n && !wrong; k++) {
        const twi_step_do *s = &e->recipe.at[k];
        if (s->what == TWI_DO_LAUNCH &&
            (s->func >= loop->func.n || s->grid < 0 || s->grid > UINT32_MAX))
            wrong = "a launch of a function or of groups that do not exist";
        if (s->what == TWI_DO_FILL &&
            (s->array == 0 || s->array >= loop->array.n || !loop->array.at[s->array].has_fill))
            wrong = "a fill of an array without a value";
        if (s->what == TWI_DO_LOOP && ++depth > 7)
            wrong = "loops nested too deep";
        if (s->what == TWI_DO_END && depth-- == 0)
            wrong = "an end without its loop";
    }
    if (!wrong && depth)
        wrong = "a loop without its end";
    twi_loc none = {0, 0};
    if (wrong)
        twi_error(&loop->ctx->diags, TWI_LOOP_E_V1, none, NULL, "recipe of entry %s: %s",
                  twi_text(&loop->ctx->names, e->name), wrong);
    return !wrong;
}

bool twi_loop_verify(twi_loop *loop) {
    bool fine = true;
    for (uint32_t k = 0; k < loop->entry.n; k++)
        fine = recipe(loop, &loop->entry.at[k]) && fine;
    for (uint32_t k = 0; k < loop->func.n && fine; k++)
        fine = function(loop, k) && fine;
    return fine;
}
