/* SPDX-License-Identifier: Apache-2.0
 * Functions and control flow. A function's body is printed first, apart; while that happens,
 * prelude parts and declarations that it needs gather in front of it. So the text of the first
 * entry depends on nothing that follows. Read next: expr.c (values), access.c (memory), parts.c
 * (templates), dialect_c.c (the words).
 */
#include "emit/dialect.h"

void twi_line(twi_emitter *e, const char *format, ...) {
    va_list args;
    for (unsigned i = 0; i < e->depth; i++)
        twi_sb_str(&e->body, "    ");
    va_start(args, format);
    twi_sb_vprintf(&e->body, format, args);
    va_end(args);
    twi_sb_char(&e->body, '\n');
}

const char *twi_emit_name(const twi_loop *loop, const twi_dialect *dialect, uint32_t func,
                          twi_arena *arena) {
    (void)dialect; /* all C-family languages have the same names */
    char *name = twi_format(arena, "K_%s", twi_text(&loop->ctx->names, loop->func.at[func].name));
    for (char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9')))
            *c = '_';
    return name;
}

static bool is_effect(unsigned op) {
    return op == TWI_L_LSTORE || op == TWI_L_BARRIER || op == TWI_L_FOR || op == TWI_L_UNROLL ||
           op == TWI_L_IF;
}

/* Counts the uses of every value that some effect needs; what stays at zero is not printed. */
static void count_uses(twi_emitter *e) {
    TWI_VEC(twi_lid) todo = {0};
    for (uint32_t v = 1; v < e->f->ins.n; v++)
        if (is_effect(e->f->ins.at[v].op))
            twi_push(e->arena, &todo, v);
    while (todo.n) {
        const twi_lid v = todo.at[--todo.n], scalar = twi_below(e->f, v);
        if (scalar && e->value[scalar].uses++ == 0)
            twi_push(e->arena, &todo, scalar);
        if (scalar)
            continue;
        for (unsigned k = 0; k < e->f->ins.at[v].nargs; k++) {
            const twi_lid a = twi_larg(e->f, v, k);
            if (e->value[a].uses++ == 0 && !is_effect(e->f->ins.at[a].op))
                twi_push(e->arena, &todo, a);
        }
    }
}

static void open_loop(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    const char *name = twi_value_text(e, v);
    const char *type = e->d->type[TW_I64];
    e->value[v].text = name;
    if (ins->op == TWI_L_FOR) {
        const char *lo = e->value[twi_larg(e->f, v, 0)].text;
        const char *hi = e->value[twi_larg(e->f, v, 1)].text;
        if (ins->attr == 1)
            twi_line(e, "for (%s %s = %s; %s < %s; %s++) {", type, name, lo, name, hi, name);
        else
            twi_line(e, "for (%s %s = %s; %s < %s; %s += %u) {", type, name, lo, name, hi, name,
                     ins->attr);
        return;
    }
    if (ins->attr > 1) {
        if (twi_need(e, "unroll"))
            twi_sb_str(&e->head, e->d->unroll_part);
        const twi_spell s = {.from = TW_I64, .to = TW_I64, .count = ins->attr};
        const char *text = twi_expand(e, e->d->unroll, &s);
        twi_line(e, "%.*s", (int)strcspn(text, "\n"), text);
    }
    twi_line(e, "for (%s %s = 0; %s < %u; %s++) {", type, name, name, ins->attr, name);
}

static void value(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    if (ins->count == 0 || e->value[v].uses == 0)
        return;
    if (ins->op == TWI_L_LLOAD) {
        twi_emit_load(e, v);
        return;
    }
    const char *text = twi_expression(e, v);
    if (!text)
        return;
    const char *name = twi_value_text(e, v);
    twi_line(e, "const %s %s = %s;", twi_ctype(e, ins->elem, ins->count, e->value[v].mask), name,
             text);
    e->value[v].text = name;
}

static void body(twi_emitter *e, twi_lid first) {
    for (twi_lid v = first; v; v = e->f->ins.at[v].next) {
        const twi_lins *ins = twi_lins_of(e->f, v);
        switch (ins->op) {
        case TWI_L_FOR:
        case TWI_L_UNROLL:
            open_loop(e, v);
            break;
        case TWI_L_IF:
            twi_line(e, "if (%s) {", e->value[twi_larg(e->f, v, 0)].text);
            break;
        case TWI_L_LSTORE:
            twi_emit_store(e, v);
            continue;
        case TWI_L_BARRIER: /* one worker a group */
            continue;
        default:
            value(e, v);
            continue;
        }
        e->depth++;
        body(e, ins->body);
        e->depth--;
        twi_line(e, "}");
    }
}

static void lines(twi_sb *out, const char *indent, const char *const *line, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        twi_sb_printf(out, "%s%s\n", indent, line[i]);
}

static void function(twi_emitter *e, uint32_t func, twi_sb *out) {
    e->f = &e->loop->func.at[func];
    twi_sb_init(&e->head, e->arena);
    twi_sb_init(&e->body, e->arena);
    e->prologue.n = e->locals.n = 0;
    e->parameters = 0;
    e->value = TWI_NEW_N(e->arena, twi_spelled, e->f->ins.n + 1);
    e->object = TWI_NEW_N(e->arena, const char *, e->f->object.n + 1);
    e->depth = 2;
    count_uses(e);
    body(e, e->f->first);
    twi_sb_str(out, twi_sb_text(&e->head));
    twi_sb_printf(out, "\nvoid %s(%s)\n{\n", twi_emit_name(e->loop, e->d, func, e->arena),
                  e->d->parameters);
    static const char *const unused[] = {"scalar", "stride", "trip", "scratch"};
    twi_sb_str(out, "    (void)array");
    for (unsigned i = 0; i < 4; i++)
        if (!(e->parameters >> i & 1u))
            twi_sb_printf(out, ", (void)%s", unused[i]);
    twi_sb_str(out, ";\n");
    lines(out, "    ", e->prologue.at, e->prologue.n);
    twi_sb_str(out, "    for (long long group = lo; group < hi; group++) {\n");
    lines(out, "        ", e->locals.at, e->locals.n);
    twi_sb_str(out, twi_sb_text(&e->body));
    twi_sb_str(out, "    }\n}\n");
}

static const char opening[] =
    "/* Made by Tilewright from the kernel's loop IR: C for gcc or clang with vector extensions. "
    "*/\n"
    "#ifdef __FAST_MATH__\n"
    "#error \"the meaning of this code needs IEEE arithmetic: no -ffast-math\"\n"
    "#endif\n"
    "#ifdef __clang__\n"
    "#pragma STDC FP_CONTRACT OFF\n"
    "#endif\n";

void twi_emit(const twi_loop *loop, const twi_dialect *dialect, twi_sb *out) {
    twi_emitter e = {.loop = loop, .d = dialect, .arena = out->arena};
    twi_sb_str(out, opening);
    for (uint32_t entry = 0; entry < loop->entry.n; entry++)
        for (uint32_t i = 0; i < loop->func.n; i++)
            if (loop->func.at[i].entry == entry)
                function(&e, i, out);
}
