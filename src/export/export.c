/* SPDX-License-Identifier: Apache-2.0
 * Compiled shapes to the texts of NAME.h and NAME.c. Read next: shape.c (what a shape needs),
 * header.c, source.c, steps.c.
 */
#include "export/export.h"
#include "loop/legalize.h"

enum { MOST_SHAPES = 100000 };

static bool refuse(twi_export *x, uint16_t code, const char *help, const char *text) {
    twi_error(&x->ctx->diags, code, (twi_loc){0, 0}, help, "%s", text);
    return false;
}

/* A name that C and C++ let a function have. */
static bool is_name(const char *name) {
    static const char *const taken[] = {
        "alignas", "alignof", "and", "asm", "auto", "bool", "break", "case", "catch", "char",
        "class", "const", "continue", "decltype", "default", "delete", "do", "double", "else",
        "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
        "inline", "int", "long", "main", "mutable", "namespace", "new", "noexcept", "not",
        "nullptr", "operator", "or", "private", "protected", "public", "register", "restrict",
        "return", "short", "signed", "sizeof", "static", "struct", "switch", "template", "this",
        "throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using",
        "virtual", "void", "volatile", "while", "xor",
        /* more of C++ */
        "alignas", "and_eq", "bitand", "bitor", "char8_t", "char16_t", "char32_t", "co_await",
        "co_return", "co_yield", "compl", "concept", "const_cast", "consteval", "constexpr",
        "constinit", "dynamic_cast", "not_eq", "or_eq", "reinterpret_cast", "requires",
        "static_assert", "static_cast", "thread_local", "wchar_t", "xor_eq",
        /* what the code, or another's, has from the C library */
        "abs", "cbrt", "ceil", "cos", "erf", "erff", "exp", "expf", "fabs", "floor", "fma", "fmaf",
        "fmax", "fmin", "log", "logf", "memcpy", "memmove", "memset", "pow", "round", "sin", "sqrt",
        "sqrtf", "tan", "tanh", "tanhf", "trunc"};
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    for (size_t k = 0; k < sizeof taken / sizeof taken[0]; k++)
        if (strcmp(name, taken[k]) == 0)
            return false;
    return n > 0 && n <= 60 && !name[n] && !(*name >= '0' && *name <= '9') && *name != '_';
}

static const char *upper(twi_arena *arena, const char *name) {
    char *text = twi_strdup(arena, name);
    for (char *c = text; *c; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    return text;
}

static const char *isa_of(const twi_export *x, const tw_compiled *c) {
    return twi_text(&x->ctx->names, c->path.where.caps.isa);
}

static bool fits(twi_export *x, const tw_compiled *c) {
    const twi_where *where = &c->path.where;
    if (where->caps.family != TWI_FAMILY_CPU || strcmp(where->name, "ref") == 0)
        return refuse(
            x, TWI_E_PATH_EXPORT, "--target cpu, with --pin isa=avx512, avx2, neon or baseline",
            twi_format(x->arena, "code for %s cannot be exported, for CPUs it can", where->name));
    const char *isa = isa_of(x, c);
    const twi_cpu_machine *machine = twi_cpu_machine_of(isa);
    if (strcmp(twi_text(&x->ctx->names, c->path.spec ? c->path.spec->kernel : x->ir->kernel),
               twi_text(&x->ctx->names, x->ir->kernel)) != 0 ||
        (c->path.spec && c->path.spec->dim.n != x->ir->dim.n))
        return refuse(x, TWI_E_PATH_ARGUMENT, NULL, "a shape of another kernel");
    if (!machine || (x->machine && x->machine != machine))
        return refuse(x, TWI_E_PATH_EXPORT, "one file for each instruction set",
                      twi_format(x->arena, "instruction set %s %s", isa,
                                 machine ? "beside another one" : "is not known"));
    x->machine = machine;
    if (!c->path.loop || !c->path.spec)
        return refuse(x, TWI_E_PATH_ARGUMENT, NULL,
                      "a shape that was not compiled as far as its source");
    for (uint32_t f = 0; f < c->path.loop->func.n; f++)
        for (uint32_t o = 1; o < c->path.loop->func.at[f].object.n; o++)
            if (c->path.loop->func.at[f].object.at[o].dynamic)
                return refuse(x, TWI_E_PATH_EXPORT, NULL,
                              "arrays with strides of their own are not "
                              "exported: dense ones are");
    return true;
}

static const char *extents_text(twi_export *x, const tw_ir *spec) {
    twi_sb sb;
    twi_sb_init(&sb, x->arena);
    for (uint32_t d = 1; d < spec->dim.n; d++)
        twi_sb_printf(&sb, "%s%s=%lld", d > 1 ? " " : "",
                      twi_text(&x->ctx->names, spec->dim.at[d].name),
                      (long long)spec->dim.at[d].value);
    return twi_sb_text(&sb);
}

/* The legalized module, its functions named after their shape; those of entries that can never run
 * are left out. */
static const twi_loop *renamed(twi_export *x, const twi_loop *lawful, uint32_t number) {
    twi_loop *loop = TWI_NEW(x->arena, twi_loop);
    *loop = *lawful;
    loop->func.at = TWI_NEW_N(x->arena, twi_func, lawful->func.n + 1);
    memcpy(loop->func.at, lawful->func.at, lawful->func.n * sizeof *loop->func.at);
    for (uint32_t f = 0; f < loop->func.n; f++) {
        twi_func *func = &loop->func.at[f];
        const char *entry = twi_text(&x->ctx->names, loop->entry.at[func->entry].name);
        func->name = twi_intern_str(&x->ctx->names,
                                    twi_format(x->arena, "%s_%u_%s_%u", x->name, number, entry, f));
    }
    return loop;
}

static void drop_entries(twi_export_shape *s) {
    twi_loop *loop = (twi_loop *)(uintptr_t)s->loop; /* renamed() made it */
    for (uint32_t f = 0; f < loop->func.n; f++)
        if (!(s->entries >> loop->func.at[f].entry & 1u))
            loop->func.at[f].entry = UINT32_MAX;
}

/* All entries do the same in the same steps, or one function could not serve them. */
static bool alike(const twi_loop *loop) {
    const twi_entry *first = &loop->entry.at[0];
    bool same = true;
    for (uint32_t e = 1; e < loop->entry.n; e++) {
        const twi_entry *other = &loop->entry.at[e];
        same = same && other->recipe.n == first->recipe.n;
        for (uint32_t i = 0; same && i < first->recipe.n; i++) {
            const twi_step_do *a = &first->recipe.at[i], *b = &other->recipe.at[i];
            same = a->what == b->what && a->grid == b->grid && a->array == b->array &&
                   a->lo == b->lo && a->hi == b->hi;
        }
    }
    return same;
}

/* What the code speaks beyond the level of its machine. */
static unsigned extras_of(const twi_loop *loop) {
    unsigned set = 0;
    for (uint32_t n = 0; n < loop->func.n; n++) {
        const twi_func *f = &loop->func.at[n];
        for (uint32_t v = 1; v < f->ins.n; v++) {
            const twi_lins *a =
                f->ins.at[v].op == TWI_L_DOTS ? &f->ins.at[twi_larg(f, v, 0)] : NULL;
            for (unsigned k = 0; a && k < TWI_CPU_EXTRAS; k++)
                if (a->elem == twi_cpu_extras[k].elem && a->count == twi_cpu_extras[k].k)
                    set |= 1u << k;
        }
    }
    return set;
}

static void gather_flags(twi_export *x) {
    x->flags = x->machine->flags;
    x->test = x->machine->test;
    for (unsigned k = 0; k < TWI_CPU_EXTRAS; k++)
        if (x->extras >> k & 1u) {
            x->flags = twi_format(x->arena, "%s %s", x->flags, twi_cpu_extras[k].flag);
            x->test = twi_format(x->arena, "%s && %s", x->test, twi_cpu_extras[k].test);
        }
}

static bool add_shape(twi_export *x, const tw_compiled *c, uint32_t k) {
    twi_export_shape *s = &x->shape[k];
    if (!c)
        return refuse(x, TWI_E_PATH_ARGUMENT, NULL, "a shape that is NULL");
    if (!fits(x, c))
        return false;
    *s = (twi_export_shape){.from = c, .extents = extents_text(x, c->path.spec)};
    for (uint32_t j = 0; j < k; j++)
        if (strcmp(x->shape[j].extents, s->extents) == 0)
            return refuse(x, TWI_E_PATH_EXPORT, NULL,
                          twi_format(x->arena, "the shape %s is given twice",
                                     *s->extents ? s->extents : "without extents"));
    s->loop = renamed(x, twi_legalize(c->path.loop, x->arena, &c->path.where.caps), k + 1);
    if (!alike(s->loop))
        return refuse(x, TWI_E_PATH_FAULTY, NULL, "entries whose recipes differ");
    twi_export_measure(x->arena, s->loop, s);
    x->extras |= extras_of(s->loop);
    drop_entries(s);
    x->workspace = x->workspace || s->shared_bytes + s->share_bytes > 0;
    x->indexes = x->indexes || s->loop->status;
    return true;
}

static bool make(twi_export *x, const tw_compiled *const *shape, tw_exported *out) {
    twi_sb header, source;
    if (x->n == 0 || x->n > MOST_SHAPES)
        return refuse(
            x, TWI_E_PATH_ARGUMENT, NULL,
            twi_format(x->arena, "%u shapes cannot be exported, 1 to %d can", x->n, MOST_SHAPES));
    x->name = x->options->name ? x->options->name : twi_text(&x->ctx->names, x->ir->kernel);
    if (!is_name(x->name))
        return refuse(
            x, TWI_E_PATH_EXPORT, "--name NAME",
            twi_format(x->arena, "'%.80s' is no name for a function in C and C++", x->name));
    x->upper = upper(x->arena, x->name);
    if (strcmp(x->upper, x->name) == 0)
        x->upper = twi_format(x->arena, "%s_", x->name);
    x->shape = TWI_NEW_N(x->arena, twi_export_shape, x->n + 1);
    for (uint32_t k = 0; k < x->n; k++)
        if (!add_shape(x, shape[k], k))
            return false;
    gather_flags(x);
    twi_sb_init(&header, x->arena);
    twi_sb_init(&source, x->arena);
    twi_export_header(x, &header);
    twi_export_source(x, &source);
    *out = (tw_exported){.name = x->name,
                         .header = twi_sb_text(&header),
                         .source = twi_sb_text(&source),
                         .isa = x->machine->isa,
                         .arch = x->machine->arch,
                         .flags = x->flags};
    return true;
}

tw_status tw_export(tw_context *ctx, const tw_ir *ir, const tw_compiled *const *shape, size_t n,
                    const tw_export_options *options, tw_exported *out) {
    static const tw_export_options none = {0};
    jmp_buf spot, *saved;
    twi_export x = {.ctx = ctx,
                    .arena = &ctx->arena,
                    .ir = ir,
                    .n = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n,
                    .options = options ? options : &none};
    *out = (tw_exported){0};
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return TW_ERR_MEMORY;
    }
    const tw_status status = !ir ? twi_no_ir(ctx) : make(&x, shape, out) ? TW_OK : TW_ERR_INPUT;
    TWI_UNGUARD(&ctx->mem, saved);
    return status;
}

tw_export_figures tw_export_needs(const tw_compiled *c) {
    jmp_buf spot, *saved;
    if (!c || !c->path.loop)
        return (tw_export_figures){0};
    tw_context *ctx = c->ctx;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return (tw_export_figures){0};
    }
    twi_export_shape s;
    twi_export_measure(&ctx->arena, twi_legalize(c->path.loop, &ctx->arena, &c->path.where.caps),
                       &s);
    TWI_UNGUARD(&ctx->mem, saved);
    return (tw_export_figures){s.steps, s.shared_bytes, s.share_bytes};
}
