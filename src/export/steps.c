/* SPDX-License-Identifier: Apache-2.0
 * The function of a shape that does one step of its recipe: a chain of tests on the step's number,
 * loops of the recipe being trips of so many steps.
 */
#include "export/export.h"

typedef struct {
    const twi_export *x;
    const twi_export_shape *s;
    twi_sb *out;
    unsigned depth; /* of lines */
    unsigned loops; /* open ones */
} writer;

static void line(const writer *w, const char *format, ...) TWI_PRINTF(2, 3);
static void line(const writer *w, const char *format, ...) {
    va_list args;
    for (unsigned k = 0; k < w->depth; k++)
        twi_sb_str(w->out, "    ");
    va_start(args, format);
    twi_sb_vprintf(w->out, format, args);
    va_end(args);
    twi_sb_char(w->out, '\n');
}

static void open(writer *w, const char *text) {
    line(w, "%s", text);
    w->depth++;
}

static void close(writer *w) {
    w->depth--;
    line(w, "}");
}

static void done(writer *w) {
    line(w, "return %s_DONE;", w->x->upper);
    close(w);
}

static void fill(writer *w, const twi_step_do *step) {
    const twi_larray *a = &w->s->loop->array.at[step->array];
    const size_t size = tw_elem_size((tw_elem)a->elem);
    const uint64_t n = twi_export_bytes(w->s->loop, step->array) / size;
    if (n == 0)
        return;
    open(w, "{");
    line(w, "const uint%u_t value = 0x%llxu%s;", 8 * (unsigned)size, (unsigned long long)a->fill,
         size == 8 ? "ll" : "");
    line(w, "const long long n = %llu, end = %s_part(n, c->share + 1, c->of);",
         (unsigned long long)n, w->x->name);
    line(w, "for (long long i = %s_part(n, c->share, c->of); i < end; i++)", w->x->name);
    line(w, "    __builtin_memcpy((char *)c->array[%u] + i * %u, &value, %u);", step->array,
         (unsigned)size, (unsigned)size);
    close(w);
}

/* The function of every entry that does what the main one does at item i. */
static const char *code(const writer *w, uint32_t i) {
    const twi_loop *loop = w->s->loop;
    const char *text = NULL;
    for (uint32_t e = 0; e < loop->entry.n; e++) {
        if (!(w->s->entries >> e & 1u))
            continue;
        const char *name =
            twi_emit_name(loop, &twi_dialect_c, loop->entry.at[e].recipe.at[i].func, w->x->arena);
        text = text ? twi_format(w->x->arena, "%s ? %s : %s",
                                 twi_text(&w->x->ctx->names, loop->entry.at[e].name), name, text)
                    : name;
    }
    return text;
}

static void items(writer *w, uint32_t from, uint32_t to) {
    const twi_entry *entry = &w->s->loop->entry.at[0];
    for (uint32_t i = from; i < to; i++) {
        const twi_step_do *step = &entry->recipe.at[i];
        if (step->what == TWI_DO_LOOP) {
            const uint32_t end = twi_export_end(entry, i);
            const int64_t body = twi_export_steps(entry, i + 1, end);
            const int64_t all = step->hi > step->lo ? (step->hi - step->lo) * body : 0;
            if (all > 0) {
                open(w, twi_format(w->x->arena, "if (step < %lld) {", (long long)all));
                line(w, "trip[%u] = %lld + step / %lld;", w->loops, (long long)step->lo,
                     (long long)body);
                line(w, "step %%= %lld;", (long long)body);
                w->loops++;
                items(w, i + 1, end);
                w->loops--;
                close(w);
                line(w, "step -= %lld;", (long long)all);
            }
            i = end;
            continue;
        }
        open(w, "if (step-- == 0) {");
        if (step->what == TWI_DO_FILL) {
            const uint32_t end = twi_export_fills(entry, i, to);
            for (; i < end; i++)
                fill(w, &entry->recipe.at[i]);
            i = end - 1;
        } else {
            line(w, "%s_run(c, %s, trip, %lld);", w->x->name, code(w, i), (long long)step->grid);
        }
        done(w);
    }
}

/* "const int aligned16 = ..": do the facts of an entry hold on these pointers? */
static void facts(const writer *w, uint32_t e) {
    const twi_loop *loop = w->s->loop;
    const twi_entry *entry = &loop->entry.at[e];
    twi_sb all;
    twi_sb_init(&all, w->x->arena);
    for (uint32_t a = 1; a < entry->align.n && a < loop->array.n; a++)
        if (entry->align.at[a] > 1 && loop->array.at[a].role != TWI_TEMP)
            twi_sb_printf(&all, "%s(uintptr_t)c->array[%u] %% %u == 0", all.n ? " && " : "", a,
                          entry->align.at[a]);
    line(w, "const int %s = %s;", twi_text(&w->x->ctx->names, entry->name),
         all.n ? twi_sb_text(&all) : "1");
}

void twi_export_stepper(const twi_export *x, uint32_t shape, twi_sb *out) {
    const twi_export_shape *s = &x->shape[shape];
    const twi_entry *entry = &s->loop->entry.at[0];
    writer w = {.x = x, .s = s, .out = out};
    unsigned loops = 0;
    for (uint32_t i = 0; i < entry->recipe.n; i++)
        loops += entry->recipe.at[i].what == TWI_DO_LOOP;
    twi_sb_printf(out, "\n/* %s */\nstatic int %s_%u(%s_call *c, long long step)\n",
                  *s->extents ? s->extents : "the only shape", x->name, shape + 1, x->name);
    open(&w, "{");
    line(&w, "long long trip[%u] = {0};", loops ? loops : 1);
    for (uint32_t e = 1; e < s->loop->entry.n; e++)
        if (s->entries >> e & 1u)
            facts(&w, e);
    for (uint32_t a = 1; a < s->loop->array.n; a++)
        if (s->loop->array.at[a].role == TWI_TEMP)
            line(&w, "c->array[%u] = c->workspace + %llu;", a, (unsigned long long)s->temp[a]);
    items(&w, 0, entry->recipe.n);
    if (s->loop->status) {
        open(&w, "if (step-- == 0) {");
        line(&w, "long long first; /* instance that left an array */");
        line(&w, "__builtin_memcpy(&first, c->array[%u], sizeof first);", s->loop->status);
        line(&w, "return first == 0x7fffffffffffffffll ? %s_DONE : %s_INDEX;", x->upper, x->upper);
        close(&w);
    }
    line(&w, "return %s_PART;", x->upper);
    close(&w);
}
