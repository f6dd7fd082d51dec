/* SPDX-License-Identifier: Apache-2.0
 * Functions that no kernel calls have no types to be checked with, but their names can be: a file
 * of functions alone is checked by this.
 */
#include "front/ast.h"

typedef struct resolver {
    tw_program *p;
    const twi_fn *f;
    uint32_t *stamp; /* by symbol: number of the function that binds it */
    uint32_t now;
} resolver;

static void fail(const resolver *r, twi_code code, uint32_t at, const char *help,
                 const char *text) {
    twi_error(&r->p->ctx->diags, (uint16_t)code, (twi_loc){r->p->file, at}, help, "%s", text);
}

static void bind(resolver *r, twi_list list) {
    for (uint32_t k = 0; k < list.n; k++) {
        const twi_s *s = list.at[k];
        for (uint32_t j = 0; j < s->targets; j++)
            r->stamp[s->target[j].name] = r->now;
        for (uint32_t j = 0; j < s->spans; j++)
            r->stamp[s->span[j].name] = r->now;
        bind(r, s->body);
        bind(r, s->other);
    }
}

static void unknown(const resolver *r, const twi_x *x, bool function) {
    const char *text = twi_text(&r->p->ctx->names, x->name);
    twi_arena *a = r->p->arena;
    twi_nearest near;
    twi_nearest_init(&near, text);
    for (uint32_t k = 0; k < r->f->params && !function; k++)
        twi_nearest_offer(&near, twi_text(&r->p->ctx->names, r->f->param[k].name));
    for (uint32_t k = 0; k < r->f->axes && !function; k++)
        twi_nearest_offer(&near, twi_text(&r->p->ctx->names, r->f->axis[k].name));
    for (uint32_t k = 0; k < r->p->fn.n && k < 500 && function; k++)
        twi_nearest_offer(&near, twi_text(&r->p->ctx->names, r->p->fn.at[k]->name));
    twi_nearest_words(&near, !function);
    fail(r, function ? TWI_E_UNKNOWN_FN : TWI_E_UNKNOWN_NAME, x->at, twi_nearest_help(&near, a),
         twi_format(a, "unknown %s %s", function ? "function" : "name", twi_quote(a, text)));
}

static void check(resolver *r, const twi_x *x) {
    if (!x)
        return;
    const twi_word *w = x->name ? twi_word_of(twi_text(&r->p->ctx->names, x->name)) : NULL;
    bool bound = x->name && r->stamp[x->name] == r->now;
    const twi_fn *f = x->kind == TWI_X_CALL ? r->p->fn_of[x->name] : NULL;
    if (x->kind == TWI_X_NAME && !bound && !w)
        unknown(r, x, false);
    if (x->kind == TWI_X_NAME && w && w->kind != TWI_W_TYPE)
        fail(r, TWI_E_NOT_VALUE, x->at, NULL,
             twi_format(r->p->arena, "'%s' is a function", w->name));
    if (x->kind == TWI_X_CALL && !bound && !w && !f)
        unknown(r, x, true);
    if (w && x->kind == TWI_X_CALL && w->kind == TWI_W_LATER)
        fail(r, TWI_E_NOT_BUILT, x->at, NULL,
             twi_format(r->p->arena, "'%s' is not built yet", w->name));
    if (f && (f->params != x->args || f->axes != x->items))
        fail(r, TWI_E_BAD_ARITY, x->at, NULL,
             twi_format(r->p->arena,
                        "%s takes %u axes in brackets and %u arguments, here are %u and %u",
                        twi_quote(r->p->arena, twi_text(&r->p->ctx->names, x->name)), f->axes,
                        f->params, x->items, x->args));
    check(r, x->a);
    check(r, x->b);
    for (uint32_t k = 0; k < x->items; k++) {
        check(r, x->item[k].x);
        check(r, x->item[k].y);
    }
    for (uint32_t k = 0; k < x->args; k++)
        check(r, x->arg[k]);
}

static void check_list(resolver *r, twi_list list) {
    for (uint32_t k = 0; k < list.n; k++) {
        const twi_s *s = list.at[k];
        check(r, s->access);
        check(r, s->value);
        check(r, s->when);
        for (uint32_t j = 0; j < s->spans; j++) {
            check(r, s->span[j].lo);
            check(r, s->span[j].hi);
        }
        check_list(r, s->body);
        check_list(r, s->other);
        bool last = k + 1 == list.n;
        if (s->kind == TWI_S_RETURN && !last)
            fail(r, TWI_E_BAD_RETURN, list.at[k + 1]->at, "take it out",
                 "nothing is reached after 'return'");
        if (s->kind == TWI_S_STORE || s->kind == TWI_S_ATOMIC || s->kind == TWI_S_PARALLEL ||
            s->kind == TWI_S_AXIS)
            fail(r, TWI_E_IN_FUNCTION, s->at, "functions take values and axes, and return values",
                 "functions have no scopes, axes or stores of their own");
    }
}

static bool returns(twi_list list) {
    if (list.n == 0)
        return false;
    const twi_s *s = list.at[list.n - 1];
    return s->kind == TWI_S_RETURN ||
           (s->kind == TWI_S_IF && returns(s->body) && returns(s->other));
}

void twi_resolve_functions(tw_program *p) {
    resolver r = {.p = p, .stamp = TWI_NEW_N(p->arena, uint32_t, p->fn_ofs)};
    for (uint32_t k = 0; k < p->fn.n; k++) {
        const twi_fn *f = p->fn.at[k];
        if (f->used)
            continue;
        r.f = f;
        r.now++;
        for (uint32_t j = 0; j < f->axes; j++)
            r.stamp[f->axis[j].name] = r.now;
        for (uint32_t j = 0; j < f->params; j++)
            r.stamp[f->param[j].name] = r.now;
        bind(&r, f->body);
        check_list(&r, f->body);
        if (!returns(f->body))
            fail(&r, TWI_E_NO_RETURN, f->at, "end it with `return ..`",
                 twi_format(p->arena, "%s returns nothing",
                            twi_quote(p->arena, twi_text(&p->ctx->names, f->name))));
    }
}
