/* SPDX-License-Identifier: Apache-2.0
 * The walk's names and errors, and the kernel as a whole: head, scopes in order. Next: sema_expr.c.
 *
 * A name bound anew is a new binding on top of the old one, so leaving a block, or forgetting a
 * branch not taken, is cutting the list. Functions see their own frame alone.
 */
#include "front/sema.h"

enum { BUDGET = 1 << 18, DEPTH = 800 };

/* Functions and `repeat` bodies are walked many times: an error is said once. */
static bool said(const twi_sema *s, twi_code code, uint32_t at) {
    for (uint32_t k = s->said; k < s->ctx->diags.list.n; k++) {
        const twi_diag *d = &s->ctx->diags.list.at[k];
        if (d->code == code && d->loc.at == at && d->loc.file == s->p->file)
            return true;
    }
    return false;
}

void twi_sema_fail(twi_sema *s, twi_code code, uint32_t at, const char *help, const char *format,
                   ...) {
    if (s->quiet || said(s, code, at))
        return;
    va_list args;
    va_start(args, format);
    twi_sb sb;
    twi_sb_init(&sb, s->arena);
    twi_sb_vprintf(&sb, format, args);
    va_end(args);
    tw_build_report(s->ctx, s->b, (int)code, (tw_place){s->p->file, at}, twi_sb_text(&sb), help);
}

void twi_sema_at(twi_sema *s, uint32_t at) { tw_build_at(s->b, s->p->file, at); }

const char *twi_sema_name(const twi_sema *s, twi_sym name) {
    return twi_text(&s->ctx->names, name);
}

const char *twi_sema_quoted(const twi_sema *s, twi_sym name) {
    return twi_quote(s->arena, twi_sema_name(s, name));
}

const twi_binding *twi_sema_find(const twi_sema *s, twi_sym name) {
    uint32_t k = name < s->names ? s->top[name] : 0;
    if (!k || s->binding.at[k].frame != s->frame || s->binding.at[k].kind == TWI_N_GONE)
        return NULL;
    return &s->binding.at[k];
}

void twi_sema_bind(twi_sema *s, twi_binding binding) {
    if (!binding.name || binding.name >= s->names)
        return;
    binding.frame = s->frame;
    binding.prev = s->top[binding.name];
    twi_push(s->arena, &s->binding, binding);
    s->top[binding.name] = s->binding.n - 1;
    s->ever[binding.name] = true;
}

void twi_sema_unbind(twi_sema *s, uint32_t bindings, uint32_t tiles) {
    while (s->binding.n > bindings) {
        const twi_binding *b = &s->binding.at[--s->binding.n];
        s->top[b->name] = b->prev;
    }
    if (s->tiles.n > tiles)
        s->tiles.n = tiles;
}

bool twi_sema_may_bind(twi_sema *s, twi_sym name, uint32_t at, bool variable) {
    const char *text = twi_sema_name(s, name);
    const twi_binding *old = twi_sema_find(s, name);
    static const char *const what[] = {"", "a name", "a constant, dim or scalar", "an axis",
                                       "an array"};
    if (twi_word_of(text)) {
        twi_sema_fail(s, TWI_E_RESERVED, at, "take another name", "%s is a built-in name",
                      twi_sema_quoted(s, name));
    } else if (s->p->fn_of[name]) {
        twi_sema_fail(s, TWI_E_SHADOWS, at, "take another name",
                      "%s is a function of this file: nothing shadows", twi_sema_quoted(s, name));
    } else if (old && !(variable && old->kind == TWI_N_VAR)) {
        twi_sema_fail(s, TWI_E_SHADOWS, at, "take another name",
                      "%s is %s already: nothing shadows", twi_sema_quoted(s, name),
                      what[old->kind]);
    } else {
        return true;
    }
    return false;
}

bool twi_sema_step(twi_sema *s, uint32_t at) {
    if (s->budget == 0)
        return false;
    if (--s->budget == 0) {
        s->quiet = false;
        twi_sema_fail(s, TWI_E_TOO_MUCH, at, "shorter `repeat`s, fewer calls",
                      "the kernel unfolds to more than %d steps", BUDGET);
        s->quiet = true; /* what follows is not worth a word */
        return false;
    }
    if (s->depth < DEPTH)
        return true;
    twi_sema_fail(s, TWI_E_TOO_DEEP, at, "give parts of it names of their own",
                  "functions and expressions nest too deep here");
    s->budget = 0;
    s->quiet = true;
    return false;
}

void twi_sema_unknown(twi_sema *s, twi_sym name, uint32_t at, bool function) {
    const char *text = twi_sema_name(s, name);
    if (!function && s->ever[name] && s->frame == 0) {
        twi_sema_fail(s, TWI_E_ENDED, at, "give it a value before the block",
                      "%s exists in another block or scope alone", twi_sema_quoted(s, name));
        return;
    }
    twi_nearest near;
    twi_nearest_init(&near, text);
    uint32_t from = s->binding.n > 500 ? s->binding.n - 500 : 1;
    for (uint32_t k = from; k < s->binding.n && !function; k++)
        if (s->binding.at[k].frame == s->frame && s->binding.at[k].kind != TWI_N_GONE)
            twi_nearest_offer(&near, twi_sema_name(s, s->binding.at[k].name));
    for (uint32_t k = 0; k < s->p->fn.n && k < 500 && function; k++)
        twi_nearest_offer(&near, twi_sema_name(s, s->p->fn.at[k]->name));
    twi_nearest_words(&near, !function);
    if (function)
        twi_sema_fail(s, TWI_E_UNKNOWN_FN, at, twi_nearest_help(&near, s->arena),
                      "unknown function %s", twi_sema_quoted(s, name));
    else
        twi_sema_fail(s, TWI_E_UNKNOWN_NAME, at, twi_nearest_help(&near, s->arena),
                      "unknown name %s", twi_sema_quoted(s, name));
}

/* ---- scopes ---- */
static bool holds_parallel(twi_list list) {
    for (uint32_t k = 0; k < list.n; k++)
        if (list.at[k]->kind == TWI_S_PARALLEL || holds_parallel(list.at[k]->body) ||
            holds_parallel(list.at[k]->other))
            return true;
    return false;
}

static void walk_root(twi_sema *s, twi_list list);

static void walk_parallel(twi_sema *s, const twi_s *st) {
    uint32_t bindings = s->binding.n, tiles = s->tiles.n;
    tw_range *range = TWI_NEW_N(s->arena, tw_range, st->spans);
    tw_axis *axis = TWI_NEW_N(s->arena, tw_axis, st->spans);
    twi_ax *ax = TWI_NEW_N(s->arena, twi_ax, st->spans);
    for (uint32_t k = 0; k < st->spans; k++)
        twi_sema_range(s, &st->span[k], true, &range[k], &ax[k]);
    twi_sema_at(s, st->at);
    tw_build_parallel(s->b, range, (int)st->spans, axis);
    for (uint32_t k = 0; k < st->spans; k++) {
        ax[k].id = axis[k];
        ax[k].kind = st->span[k].block ? TWI_AX_BLOCK : TWI_AX_INDEX;
        twi_sema_declare_axis(s, &ax[k], st->span[k].at);
    }
    s->scope = true;
    twi_sema_block(s, st->body);
    s->scope = false;
    tw_build_end(s->b);
    twi_sema_unbind(s, bindings, tiles);
}

static void walk_around(twi_sema *s, const twi_s *st) {
    uint32_t bindings = s->binding.n, tiles = s->tiles.n;
    twi_ax *ax = TWI_NEW(s->arena, twi_ax);
    tw_range range;
    twi_sema_range(s, st->span, true, &range, ax);
    if (st->span->block) {
        twi_sema_fail(s, TWI_E_BAD_TILE, st->span->block->at, "leave 'tile' out",
                      "a 'serial' around scopes has no blocks");
        range.block = 0;
    }
    twi_sema_at(s, st->at);
    ax->id = tw_build_serial(s->b, &range, NULL, 0);
    ax->kind = TWI_AX_INDEX;
    twi_sema_declare_axis(s, ax, st->span->at);
    walk_root(s, st->body);
    tw_build_end_serial(s->b, NULL, 0, NULL);
    twi_sema_unbind(s, bindings, tiles);
}

/* Statements outside `parallel`, as many as follow each other, are a scope of one instance. */
static void walk_root(twi_sema *s, twi_list list) {
    for (uint32_t k = 0; k < list.n;) {
        const twi_s *st = list.at[k];
        bool scopes =
            st->kind == TWI_S_PARALLEL || holds_parallel(st->body) || holds_parallel(st->other);
        if (scopes) {
            if (st->kind == TWI_S_PARALLEL)
                walk_parallel(s, st);
            else if (st->kind == TWI_S_SERIAL)
                walk_around(s, st);
            else if (st->kind == TWI_S_REPEAT)
                twi_sema_repeat(s, st, walk_root);
            else
                twi_sema_if(s, st, walk_root);
            k++;
            continue;
        }
        uint32_t from = k;
        while (k < list.n && list.at[k]->kind != TWI_S_PARALLEL &&
               !holds_parallel(list.at[k]->body) && !holds_parallel(list.at[k]->other))
            k++;
        uint32_t bindings = s->binding.n, tiles = s->tiles.n;
        twi_sema_at(s, st->at);
        tw_build_parallel(s->b, NULL, 0, NULL);
        s->scope = true;
        twi_sema_block(s, (twi_list){list.at + from, k - from});
        s->scope = false;
        tw_build_end(s->b);
        twi_sema_unbind(s, bindings, tiles);
    }
}

tw_ir *twi_sema_kernel(tw_program *p, const twi_kernel *k, twi_bound *bound, tw_builder **builder) {
    twi_sema *s = TWI_NEW(bound->scratch, twi_sema);
    *s = (twi_sema){.p = p,
                    .ctx = p->ctx,
                    .arena = bound->scratch,
                    .k = k,
                    .bound = bound,
                    .budget = BUDGET,
                    .said = p->ctx->diags.list.n};
    s->names = p->fn_ofs;
    s->top = TWI_NEW_N(s->arena, uint32_t, s->names);
    s->mark_of = TWI_NEW_N(s->arena, uint32_t, s->names);
    s->ever = TWI_NEW_N(s->arena, bool, s->names);
    twi_push(s->arena, &s->binding, (twi_binding){0});
    s->b = tw_build_begin(p->ctx, twi_text(&p->ctx->names, k->name));
    if (!s->b)
        return NULL;
    *builder = s->b;
    tw_build_note(s->b, bound->note);
    if (!twi_sema_head(s)) {
        *builder = NULL;
        tw_build_abandon(s->b);
        return NULL;
    }
    walk_root(s, k->body);
    *builder = NULL;
    if (s->budget == 0 || tw_build_failed(s->b)) {
        tw_build_abandon(s->b);
        return NULL;
    }
    twi_sema_at(s, k->at);
    return tw_build_finish(s->b);
}
