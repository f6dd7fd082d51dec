/* SPDX-License-Identifier: Apache-2.0
 * The public functions of tilewright/program.h. Each sets up the guard that out-of-memory jumps to.
 */
#include "front/ast.h"

enum { ALL_COMBINATIONS = 64, LONGEST = 1 << 26 };

/* What an entry still holds when memory runs out. */
typedef struct held {
    tw_builder *builder;
    twi_arena scratch;
} held;

static void no_memory(tw_context *ctx, held *h) {
    if (h->builder)
        tw_build_abandon(h->builder);
    if (h->scratch.mem)
        twi_arena_fini(&h->scratch);
    tw_build_report(ctx, NULL, 200, (tw_place){0, 0}, "out of memory", NULL);
}

/* ---- parse ---- */
static tw_program *parse(tw_context *ctx, const char *name, const char *text, size_t n) {
    tw_program *p = TWI_NEW(&ctx->arena, tw_program);
    char *copy = twi_alloc(&ctx->arena, (n < LONGEST ? n : 0) + 1);
    if (n < LONGEST && n)
        memcpy(copy, text, n);
    *p = (tw_program){.ctx = ctx, .arena = &ctx->arena, .text = copy, .n = n < LONGEST ? n : 0};
    p->file = twi_diags_file(&ctx->diags, name, p->text, p->n);
    if (n >= LONGEST) {
        twi_error(&ctx->diags, TWI_E_TOO_LONG, (twi_loc){p->file, 0}, NULL,
                  "a text of %zu bytes is too long: at most %d", n, LONGEST - 1);
        return NULL;
    }
    return twi_parse_program(p) && twi_declare(p) ? p : NULL;
}

tw_program *tw_program_parse(tw_context *ctx, const char *name, const char *text, size_t n) {
    jmp_buf spot, *saved;
    held h = {0};
    if (!ctx)
        return NULL;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        no_memory(ctx, &h);
        return NULL;
    }
    tw_program *p = parse(ctx, name, text, n);
    TWI_UNGUARD(&ctx->mem, saved);
    return p;
}

size_t tw_program_kernels(const tw_program *p) { return p ? p->kernel.n : 0; }

const char *tw_program_kernel(const tw_program *p, size_t kernel) {
    return kernel < tw_program_kernels(p) ? twi_text(&p->ctx->names, p->kernel.at[kernel]->name)
                                          : NULL;
}

size_t tw_program_decls(const tw_program *p, size_t kernel) {
    return kernel < tw_program_kernels(p) ? p->kernel.at[kernel]->decl.n : 0;
}

const tw_decl *tw_program_decl(const tw_program *p, size_t kernel, size_t k) {
    return k < tw_program_decls(p, kernel) ? &p->kernel.at[kernel]->decl.at[k] : NULL;
}

/* ---- choices ---- */
static const char *name_of(const tw_program *p, const twi_const_decl *d) {
    return twi_text(&p->ctx->names, d->name);
}

static twi_const_decl *const_at(const twi_kernel *k, uint32_t i) {
    return i < k->constant.n ? &k->constant.at[i] : &k->param.at[i - k->constant.n];
}

static void make_note(tw_program *p, const twi_kernel *k, const twi_choice *choice,
                      twi_bound *bound) {
    twi_sb sb;
    twi_sb_init(&sb, p->arena);
    for (uint32_t i = 0; i < k->constant.n + k->param.n; i++)
        twi_sb_printf(&sb, "%s%s=%s", i ? " " : "", name_of(p, const_at(k, i)), choice[i].text);
    *bound =
        (twi_bound){.constant = choice, .param = choice + k->constant.n, .note = twi_sb_text(&sb)};
}

static bool is_word(const char *text) {
    bool word = *text && !(*text >= '0' && *text <= '9');
    for (; *text; text++)
        word = word && ((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
                        (*text >= '0' && *text <= '9') || *text == '_');
    return word;
}

/* A value for a constant with a default: any of its kind. */
static bool open_choice(tw_program *p, const twi_const_decl *d, const char *value,
                        twi_choice *out) {
    *out = (twi_choice){.kind = d->choice[0].kind, .text = twi_strdup(p->arena, value)};
    if (out->kind == TWI_C_INT && twi_parse_i64(value, strlen(value), &out->number)) {
        out->text = twi_format(p->arena, "%lld", (long long)out->number);
        return true;
    }
    if (out->kind == TWI_C_BOOL) {
        out->number = strcmp(value, "true") == 0;
        return out->number || strcmp(value, "false") == 0;
    }
    out->elem = tw_elem_named(value);
    out->word = is_word(value) ? twi_intern_str(&p->ctx->names, value) : 0;
    return out->kind == TWI_C_TYPE ? twi_elem_built(out->elem)
                                   : out->kind == TWI_C_WORD && out->word;
}

static bool choose(tw_program *p, const twi_const_decl *d, const char *value, twi_choice *out) {
    twi_nearest near;
    twi_nearest_init(&near, value);
    twi_sb sb;
    twi_sb_init(&sb, p->arena);
    for (uint32_t k = 0; k < d->choices; k++) {
        if (strcmp(d->choice[k].text, value) == 0) {
            *out = d->choice[k];
            return true;
        }
        twi_nearest_offer(&near, d->choice[k].text);
        twi_sb_printf(&sb, "%s%s", k ? ", " : "", d->choice[k].text);
    }
    if (d->open && open_choice(p, d, value, out))
        return true;
    static const char *const kind[] = {[TWI_C_TYPE] = "a type",
                                       [TWI_C_BOOL] = "true or false",
                                       [TWI_C_INT] = "an integer",
                                       [TWI_C_WORD] = "a word"};
    const char *help = twi_nearest_help(&near, p->arena);
    twi_error(&p->ctx->diags, TWI_E_BAD_BINDING, (twi_loc){p->file, d->at}, help,
              "%s = %s: it is %s%s", name_of(p, d), twi_quote(p->arena, value),
              d->open ? "" : "one of ", d->open ? kind[d->choice[0].kind] : twi_sb_text(&sb));
    return false;
}

static bool known(tw_program *p, const twi_kernel *k, const char *name) {
    twi_nearest near;
    twi_nearest_init(&near, name);
    for (uint32_t i = 0; i < k->constant.n + k->param.n; i++) {
        if (strcmp(name_of(p, const_at(k, i)), name) == 0)
            return true;
        twi_nearest_offer(&near, name_of(p, const_at(k, i)));
    }
    twi_error(&p->ctx->diags, TWI_E_NO_SUCH_DECL, (twi_loc){p->file, k->at},
              twi_nearest_help(&near, p->arena), "kernel %s declares no type, constant or param %s",
              twi_quote(p->arena, twi_text(&p->ctx->names, k->name)), twi_quote(p->arena, name));
    return false;
}

static bool bind_all(tw_program *p, const twi_kernel *k, const tw_binding *bindings, size_t n,
                     twi_choice *choice) {
    bool good = true;
    for (size_t j = 0; j < n; j++)
        good = known(p, k, bindings[j].name) && good;
    for (uint32_t i = 0; i < k->constant.n + k->param.n; i++) {
        const twi_const_decl *d = const_at(k, i);
        const char *value = NULL;
        for (size_t j = 0; j < n; j++)
            value = strcmp(bindings[j].name, name_of(p, d)) == 0 ? bindings[j].value : value;
        if (value) {
            good = choose(p, d, value, &choice[i]) && good;
        } else if (d->choices == 1 || i >= k->constant.n) {
            choice[i] = d->choice[0];
        } else {
            twi_error(&p->ctx->diags, TWI_E_UNBOUND, (twi_loc){p->file, d->at},
                      twi_format(p->arena, "%s=%s, for example", name_of(p, d), d->choice[0].text),
                      "%s has no value", twi_quote(p->arena, name_of(p, d)));
            good = false;
        }
    }
    return good;
}

/* Words that only a binding brought are symbols beyond the tables made when parsing. */
static void widen(tw_program *p) {
    uint32_t n = p->ctx->names.n;
    if (n <= p->fn_ofs)
        return;
    twi_fn **wider = TWI_NEW_N(p->arena, twi_fn *, n);
    memcpy(wider, p->fn_of, p->fn_ofs * sizeof *wider);
    p->fn_of = wider;
    p->fn_ofs = n;
}

static tw_ir *build(tw_program *p, const twi_kernel *k, const tw_binding *bindings, size_t n,
                    held *h) {
    twi_choice *choice = TWI_NEW_N(p->arena, twi_choice, k->constant.n + k->param.n + 1u);
    twi_bound bound;
    if (!bind_all(p, k, bindings, n, choice))
        return NULL;
    widen(p);
    make_note(p, k, choice, &bound);
    bound.scratch = &h->scratch;
    return twi_sema_kernel(p, k, &bound, &h->builder);
}

tw_ir *tw_program_build(tw_program *p, size_t kernel, const tw_binding *bindings, size_t n) {
    jmp_buf spot, *saved;
    held h = {0};
    if (!p)
        return NULL;
    tw_context *ctx = p->ctx;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        no_memory(ctx, &h);
        return NULL;
    }
    twi_arena_init(&h.scratch, &ctx->mem);
    tw_ir *ir = NULL;
    if (kernel < p->kernel.n)
        ir = build(p, p->kernel.at[kernel], bindings, n, &h);
    else
        twi_error(&ctx->diags, TWI_E_NO_SUCH_DECL, (twi_loc){p->file, 0}, NULL,
                  "kernel number %zu of a program of %u: they count from 0", kernel, p->kernel.n);
    twi_arena_fini(&h.scratch);
    TWI_UNGUARD(&ctx->mem, saved);
    return ir;
}

/* ---- check ---- */
static bool check_one(tw_program *p, const twi_kernel *k, const uint64_t *digit, held *h) {
    uint32_t n = k->constant.n + k->param.n, before = p->ctx->diags.errors;
    twi_choice *choice = TWI_NEW_N(p->arena, twi_choice, n + 1u);
    twi_bound bound;
    for (uint32_t i = 0; i < n; i++)
        choice[i] = const_at(k, i)->choice[digit[i]];
    make_note(p, k, choice, &bound);
    bound.probe = true;
    bound.scratch = &h->scratch;
    twi_mark mark = twi_arena_mark(&h->scratch);
    tw_ir *ir = twi_sema_kernel(p, k, &bound, &h->builder);
    twi_arena_reset(&h->scratch, mark);
    if (ir || bound.excluded)
        return p->ctx->diags.errors == before;
    bool first = true;
    for (uint32_t i = 0; i < n; i++)
        first = first && digit[i] == 0;
    if (!first)
        twi_warn(&p->ctx->diags, TWI_E_FOUND_WITH, (twi_loc){p->file, k->at}, NULL,
                 "the errors above show with %s", bound.note);
    return false;
}

/* All combinations, or where they are many, each choice at least once. */
static bool check_kernel(tw_program *p, const twi_kernel *k, held *h) {
    uint32_t n = k->constant.n + k->param.n;
    uint64_t total = 1, most = 1, *digit = TWI_NEW_N(p->arena, uint64_t, n + 1u);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t c = const_at(k, i)->choices;
        total = total > ALL_COMBINATIONS ? total : total * c;
        most = c > most ? c : most;
    }
    bool all = total <= ALL_COMBINATIONS;
    for (uint64_t t = 0; t < (all ? total : most); t++) {
        uint64_t rest = t;
        for (uint32_t i = 0; i < n; i++) {
            uint64_t c = const_at(k, i)->choices;
            digit[i] = all ? rest % c : t % c;
            rest /= c;
        }
        if (!check_one(p, k, digit, h))
            return false;
    }
    return true;
}

static bool check(tw_program *p, held *h) {
    uint32_t before = p->ctx->diags.errors;
    bool good = true;
    for (uint32_t k = 0; k < p->kernel.n; k++)
        good = check_kernel(p, p->kernel.at[k], h) && good;
    twi_resolve_functions(p);
    return good && p->ctx->diags.errors == before;
}

bool tw_program_check(tw_program *p) {
    jmp_buf spot, *saved;
    held h = {0};
    if (!p)
        return false;
    tw_context *ctx = p->ctx;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        no_memory(ctx, &h);
        return false;
    }
    twi_arena_init(&h.scratch, &ctx->mem);
    bool good = check(p, &h);
    twi_arena_fini(&h.scratch);
    TWI_UNGUARD(&ctx->mem, saved);
    return good;
}
