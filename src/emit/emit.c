/* SPDX-License-Identifier: Apache-2.0
 * Functions and control flow. A function's body is printed first, apart; while that happens,
 * prelude parts and declarations that it needs gather in front of it. So the text of the first
 * entry depends on nothing that follows. Read next: expr.c (values), access.c (memory), parts.c
 * (templates), head_c.c and head_simt.c (what stands around a body), dialect_c.c (the words).
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
    return twi_loop_silent(op) || op == TWI_L_FOR || op == TWI_L_UNROLL || op == TWI_L_IF;
}

/* How many of the first arguments are indices of an access. */
static unsigned indices(const twi_func *f, twi_lid v) {
    const twi_lins *i = &f->ins.at[v];
    return twi_loop_accesses(i->op) ? f->object.at[f->access.at[i->attr].object].rank : 0;
}

static const twi_object *copied_to(const twi_func *f, twi_lid v) {
    return &f->object.at[f->access.at[f->ins.at[v].attr].object];
}

/* The object that a load or store is of; 0: v is neither. */
static uint32_t object_of(const twi_func *f, twi_lid v) {
    const twi_lins *i = &f->ins.at[v];
    const bool access = i->op == TWI_L_LLOAD || i->op == TWI_L_LSTORE;
    return access ? f->access.at[i->attr].object : 0;
}

typedef TWI_VEC(twi_lid) values;

/* Something is read from it: what is stored there counts. */
static void wake(twi_emitter *e, uint32_t object, values *todo) {
    e->idle[object] = false;
    for (uint32_t v = 1; v < e->f->ins.n; v++)
        if (e->f->ins.at[v].op == TWI_L_LSTORE && object_of(e->f, v) == object)
            twi_push(e->arena, todo, v);
}

static void use(twi_emitter *e, twi_lid v, values *todo) {
    if (e->value[v].uses++ == 0 && !is_effect(e->f->ins.at[v].op))
        twi_push(e->arena, todo, v);
}

/* Counts the uses of every value that some effect needs; what stays at zero is not printed, nor is
 * what is stored where nothing is read. */
static void count_uses(twi_emitter *e) {
    values todo = {0};
    e->idle = TWI_NEW_N(e->arena, bool, e->f->object.n + 1);
    for (uint32_t o = 1; o < e->f->object.n; o++)
        e->idle[o] = e->f->object.at[o].kind == TWI_OBJ_PRIVATE;
    for (uint32_t v = 1; v < e->f->ins.n; v++)
        if (is_effect(e->f->ins.at[v].op) && !e->idle[object_of(e->f, v)])
            twi_push(e->arena, &todo, v);
    while (todo.n) {
        const twi_lid v = todo.at[--todo.n], scalar = twi_below(e->f, v);
        if (e->idle[object_of(e->f, v)])
            wake(e, object_of(e->f, v), &todo);
        if (scalar && e->value[scalar].uses++ == 0)
            twi_push(e->arena, &todo, scalar);
        if (scalar)
            continue;
        if (e->f->ins.at[v].op == TWI_L_ASYNC_COPY) /* a swizzle takes its indices whole */
            e->value[v].apart = !copied_to(e->f, v)->swizzle.span;
        bool greater;
        const twi_lid by = twi_chosen_by(e, v);
        for (unsigned k = 0; by && k < 2; k++)
            use(e, twi_larg(e->f, by, k), &todo);
        for (unsigned k = by || twi_is_extreme(e, v, &greater); k < e->f->ins.at[v].nargs; k++) {
            if (e->f->ins.at[v].op == TWI_L_ASYNC_COPY && k == indices(e->f, v)) {
                e->value[twi_larg(e->f, v, k)].apart = true;
                twi_push(e->arena, &todo, twi_larg(e->f, v, k)); /* a part of it, not printed */
                continue;
            }
            twi_index_term term[TWI_INDEX_TERMS] = {{twi_larg(e->f, v, k), 1}};
            const unsigned n = k < indices(e->f, v)
                                   ? twi_index_terms(e->f, term[0].value, e->value[v].apart, term)
                                   : 1;
            for (unsigned t = 0; t < n; t++)
                use(e, term[t].value, &todo);
        }
    }
}

/* Does it stay when slots are registers and their numbers constants? */
static bool issues(const twi_func *f, const twi_lins *ins) {
    if (twi_loop_accesses(ins->op))
        return f->object.at[f->access.at[ins->attr].object].kind != TWI_OBJ_PRIVATE;
    return ins->op >= TWI_ELEMENTWISE_END || !(ins->flags & TWI_FLAG_INDEX);
}

/* Instructions of a body, those of unrolled loops as often as they stand there; huge where it has
 * loops of its own. */
static uint64_t weight(const twi_func *f, twi_lid first) {
    uint64_t n = 0;
    for (twi_lid v = first; v; v = f->ins.at[v].next) {
        const twi_lins *ins = &f->ins.at[v];
        const uint64_t inside = ins->body ? weight(f, ins->body) : issues(f, ins);
        if (ins->op == TWI_L_FOR)
            return UINT32_MAX;
        n += ins->op == TWI_L_UNROLL ? inside * ins->attr : inside;
    }
    return n < UINT32_MAX ? n : UINT32_MAX;
}

/* How often a compiler may repeat the body of a loop that the plan left one: left alone, some
 * repeat nests of thousands and take minutes. */
static unsigned repeats(const twi_func *f, twi_lid loop) {
    enum { MOST = 4, LIGHT = 384 };
    const uint64_t n = weight(f, f->ins.at[loop].body);
    unsigned times = MOST;
    while (times > 1 && n * times > LIGHT)
        times /= 2;
    return times;
}

/* Does the body touch slots? */
static bool keeps(const twi_func *f, twi_lid first) {
    bool any = false;
    for (twi_lid v = first; v && !any; v = f->ins.at[v].next) {
        const twi_lins *ins = &f->ins.at[v];
        any = ins->body ? keeps(f, ins->body) : twi_loop_accesses(ins->op) && !issues(f, ins);
    }
    return any;
}

/* How often the body of an unrolled loop must stand there: as often as it has trips, so that slots
 * are registers. With explicit lanes a long one that has no slots goes round: compilers take long
 * over long code, and what runs is no faster. */
static unsigned copies(const twi_func *f, twi_lid loop) {
    enum { LEAST = 4, LIGHT = 64 };
    const twi_lins *ins = &f->ins.at[loop];
    const uint64_t n = weight(f, ins->body);
    unsigned times = ins->attr;
    if (!f->explicit_lanes || keeps(f, ins->body))
        return times;
    while (times > LEAST && n * times > LIGHT)
        times /= 2;
    return times;
}

/* A line that tells the compiler about the loop behind it. */
static void advise(twi_emitter *e, const char *line, unsigned count) {
    const twi_spell s = {.from = TW_I64, .to = TW_I64, .count = count};
    const char *text = twi_expand(e, line, &s);
    twi_line(e, "%.*s", (int)strcspn(text, "\n"), text);
}

void twi_unrolled(twi_emitter *e, unsigned trips) {
    if (trips == 1 || (e->d->unroll_most && trips > e->d->unroll_most))
        return;
    if (e->d->unroll_part && twi_need(e, "unroll"))
        twi_sb_str(&e->head, e->d->unroll_part);
    advise(e, e->d->unroll, trips);
}

void twi_emit_open(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    const char *name = twi_value_text(e, v);
    const char *type = e->d->type[ins->elem];
    e->value[v].text = name;
    if (ins->op == TWI_L_FOR) {
        const char *lo = e->value[twi_larg(e->f, v, 0)].text;
        const char *hi = e->value[twi_larg(e->f, v, 1)].text;
        if (e->d->loop)
            advise(e, e->d->loop, repeats(e->f, v));
        if (ins->attr == 1)
            twi_line(e, "for (%s %s = %s; %s < %s; %s++) {", type, name, lo, name, hi, name);
        else
            twi_line(e, "for (%s %s = %s; %s < %s; %s += %u) {", type, name, lo, name, hi, name,
                     ins->attr);
        return;
    }
    twi_unrolled(e, copies(e->f, v));
    twi_line(e, "for (%s %s = 0; %s < %u; %s++) {", type, name, name, ins->attr, name);
}

void twi_emit_value(twi_emitter *e, twi_lid v) {
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

/* A worker with explicit lanes, or alone in its subgroup, waits for nobody there. */
static void barrier(twi_emitter *e, unsigned scope) {
    if (!e->f->explicit_lanes && (scope == TWI_SCOPE_GROUP || e->f->lanes > 1))
        twi_line(e, "%s", e->d->simt->barrier[scope]);
}

void twi_emit_body(twi_emitter *e, twi_lid first) {
    for (twi_lid v = first; v; v = e->f->ins.at[v].next) {
        const twi_lins *ins = twi_lins_of(e->f, v);
        switch (ins->op) {
        case TWI_L_FOR:
            if (twi_emit_tiles(e, v))
                continue;
            twi_emit_open(e, v);
            break;
        case TWI_L_UNROLL:
            if (twi_emit_beside(e, v))
                continue;
            twi_emit_open(e, v);
            break;
        case TWI_L_IF:
            twi_line(e, "if (%s) {", e->value[twi_larg(e->f, v, 0)].text);
            break;
        case TWI_L_LSTORE:
            if (!e->idle[object_of(e->f, v)])
                twi_emit_store(e, v);
            continue;
        case TWI_L_BARRIER:
            barrier(e, ins->attr);
            continue;
        case TWI_L_ASYNC_COPY:
            twi_emit_async(e, v);
            continue;
        case TWI_L_ASYNC_COMMIT:
            twi_line(e, "%s", e->d->simt->async_commit);
            continue;
        case TWI_L_ASYNC_WAIT:
            twi_line(e, e->d->simt->async_wait, ins->attr);
            continue;
        default:
            twi_emit_value(e, v);
            continue;
        }
        e->depth++;
        twi_emit_body(e, ins->body);
        e->depth--;
        twi_line(e, "}");
    }
}

static bool has_doubles(const twi_func *f) {
    for (uint32_t v = 1; v < f->ins.n; v++)
        if (f->ins.at[v].elem == TW_F64)
            return true;
    return false;
}

static bool has_wide_atomics(const twi_func *f) {
    for (uint32_t k = 1; k < f->access.n; k++)
        if (f->access.at[k].merge &&
            tw_elem_size((tw_elem)f->object.at[f->access.at[k].object].elem) == 8)
            return true;
    return false;
}

/* The first function that does what this one does; where it is another, this one calls it: entries
 * that the target's instructions do not tell apart are compiled once. */
static uint32_t first_like(const twi_emitter *e, uint32_t func) {
    uint32_t like = 0;
    while (!e->inside[like] || strcmp(e->inside[like], e->inside[func]) != 0)
        like++;
    return e->d->hooks->call ? like : func;
}

static void function(twi_emitter *e, uint32_t func, twi_sb *out) {
    twi_sb inside;
    twi_sb_init(&inside, e->arena);
    e->f = &e->loop->func.at[func];
    twi_sb_init(&e->head, e->arena);
    twi_sb_init(&e->body, e->arena);
    e->prologue.n = e->locals.n = 0;
    e->parameters = 0;
    e->streams = e->tiled = false;
    e->zeroed = e->moved = 0;
    e->value = TWI_NEW_N(e->arena, twi_spelled, e->f->ins.n + 1);
    e->object = TWI_NEW_N(e->arena, const char *, e->f->object.n + 1);
    e->depth = e->d->hooks->depth;
    const twi_simt_words *simt = e->d->simt;
    if (simt && simt->wide_atomics && has_wide_atomics(e->f) && twi_need(e, "wide atomics"))
        twi_sb_str(&e->head, simt->wide_atomics);
    if (simt && simt->doubles && has_doubles(e->f) && twi_need(e, "doubles"))
        twi_sb_str(&e->head, simt->doubles);
    if (simt && simt->subgroups && e->f->lanes > 1 && twi_need(e, "subgroups"))
        twi_sb_str(&e->head, simt->subgroups);
    count_uses(e);
    twi_emit_body(e, e->f->first);
    e->d->hooks->open(e, &inside);
    twi_sb_str(&inside, twi_sb_text(&e->body));
    twi_sb_str(&inside, e->d->hooks->close);
    if (e->streams)
        twi_sb_str(&inside, e->d->streamed);
    if (e->tiled)
        twi_sb_str(&inside, e->d->untiled);
    twi_sb_str(&inside, e->d->hooks->end);
    e->inside[func] = twi_sb_text(&inside);
    const uint32_t like = first_like(e, func);
    twi_sb_str(out, twi_sb_text(&e->head));
    e->d->hooks->signature(e, func, out);
    if (like == func)
        twi_sb_str(out, e->inside[func]);
    else
        twi_sb_printf(out, e->d->hooks->call, twi_emit_name(e->loop, e->d, like, e->arena));
}

void twi_emit_all(const twi_loop *const *loop, uint32_t n, const twi_dialect *dialect,
                  twi_sb *out) {
    twi_emitter e = {.d = dialect, .arena = out->arena};
    twi_sb_str(out, dialect->opening);
    for (uint32_t k = 0; k < n; k++) {
        e.loop = loop[k];
        e.inside = TWI_NEW_N(e.arena, const char *, loop[k]->func.n);
        for (uint32_t entry = 0; entry < loop[k]->entry.n; entry++)
            for (uint32_t i = 0; i < loop[k]->func.n; i++)
                if (loop[k]->func.at[i].entry == entry)
                    function(&e, i, out);
    }
}

void twi_emit(const twi_loop *loop, const twi_dialect *dialect, twi_sb *out) {
    twi_emit_all(&loop, 1, dialect, out);
}
