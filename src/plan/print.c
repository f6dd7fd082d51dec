/* SPDX-License-Identifier: Apache-2.0
 * Plans as text (docs/plans.md). Normal form: axes by id, values by id, defaults left out; so equal
 * plans have equal bytes.
 */
#include "base/hash.h"
#include "plan/split.h"
#include "plan/words.h"

typedef struct {
    const tw_ir *ir;
    const twi_plan *p;
    twi_sb *out;
} printer;

static const char *sym_text(const printer *w, twi_sym sym) {
    return twi_text(&w->ir->ctx->names, sym);
}

static void axis_name(const printer *w, unsigned axis) {
    twi_sb_str(w->out, twi_axis_text(w->ir, w->out->arena, axis));
}

/* AXIS.LEVEL, with .N where it is the N-th of that level on its axis. */
static void digit_name(const printer *w, const twi_map *m, twi_axis_digit ad) {
    unsigned level = ad.digit < m->n ? m->d[ad.digit].level : (unsigned)TWI_LEVELS, before = 0;
    for (unsigned i = 0; i < ad.digit && i < m->n; i++)
        before += m->d[i].level == level;
    axis_name(w, ad.axis);
    twi_sb_printf(w->out, ".%s", twi_level_name(level));
    if (before)
        twi_sb_printf(w->out, ".%u", before + 1);
}

static void print_maps(const printer *w, uint64_t axes, const twi_map *maps) {
    const char *sep = "";
    for (unsigned a = 0; a < TWI_MAX_AXES; a++) {
        if (!(axes >> a & 1))
            continue;
        twi_sb_str(w->out, sep);
        axis_name(w, a);
        twi_sb_str(w->out, " = ");
        twi_map_print(&maps[a], w->out);
        sep = " ; ";
    }
}

static bool default_order(const twi_frame *f) {
    twi_frame as_is = *f;
    twi_frame_default_order(&as_is);
    return as_is.loops == f->loops &&
           memcmp(as_is.order, f->order, f->loops * sizeof f->order[0]) == 0;
}

static void print_frame(const printer *w, const twi_frame *f) {
    twi_sb_printf(w->out, "frame %s: ", sym_text(w, f->name));
    print_maps(w, f->axes, f->map);
    if (!default_order(f)) {
        twi_sb_str(w->out, " order ");
        for (unsigned i = 0; i < f->loops; i++) {
            twi_sb_str(w->out, i ? ", " : "");
            digit_name(w, &f->map[f->order[i].axis], f->order[i]);
        }
    }
    if (f->around)
        twi_sb_printf(w->out, " around %u", f->around);
    twi_sb_char(w->out, '\n');
}

static void print_swizzle(const printer *w, twi_swizzle s) {
    if (!s.span)
        return;
    twi_sb_str(w->out, ", ");
    twi_swizzle_print(s, w->out);
}

static void print_place(const printer *w, const twi_place *v) {
    const char *sep = " ";
    twi_sb_printf(w->out, "value %s:", twi_value_name(w->ir, v->value));
    if (v->frame) {
        twi_sb_printf(w->out, "%sin %s", sep, sym_text(w, w->p->frame[v->frame].name));
        sep = ", ";
    }
    const struct {
        const char *key;
        const char *word;
    } part[] = {{"keep", twi_plan_words[TWI_WORDS_KEEP][v->keep]},
                {"fold", twi_plan_words[TWI_WORDS_FOLD][v->fold]},
                {"atom", twi_plan_words[TWI_WORDS_ATOM][v->atom]}};
    for (unsigned i = 0; i < 3; i++)
        if (part[i].word) {
            twi_sb_printf(w->out, "%s%s %s", sep, part[i].key, part[i].word);
            sep = ", ";
        }
    if (v->to)
        twi_sb_printf(w->out, "%sto %s via %s", sep, sym_text(w, w->p->frame[v->to - 1].name),
                      twi_plan_words[TWI_WORDS_VIA][v->via]);
    if (v->pad)
        twi_sb_printf(w->out, ", pad %u", v->pad);
    print_swizzle(w, v->swizzle);
    twi_sb_char(w->out, '\n');
}

/* How many entries from i on are, in order, all inside digits of one axis; 0: not so. */
static unsigned whole_axis(const twi_stage_plan *s, const twi_map *m, unsigned i) {
    unsigned n = 0;
    for (unsigned d = 0; d < m->n; d++) {
        if (!twi_stage_inside(m->d[d].level))
            continue;
        if (i + n >= s->n || s->order[i + n].axis != s->order[i].axis || s->order[i + n].digit != d)
            return 0;
        n++;
    }
    return n;
}

static void print_stage(const printer *w, const twi_stage_plan *s) {
    const twi_place *place = twi_plan_place(w->p, s->value);
    const twi_frame *f = &w->p->frame[place ? place->frame : 0];
    twi_sb_printf(w->out, "stage %s: %s, order", twi_value_name(w->ir, s->value),
                  s->shared ? "shared" : "scratch");
    for (unsigned i = 0; i < s->n;) {
        const twi_map *m = &f->map[s->order[i].axis];
        unsigned n = whole_axis(s, m, i);
        twi_sb_char(w->out, ' ');
        if (n)
            axis_name(w, s->order[i].axis);
        else
            digit_name(w, m, s->order[i]);
        i += n ? n : 1;
    }
    if (s->pad)
        twi_sb_printf(w->out, ", pad %lu", (unsigned long)s->pad);
    print_swizzle(w, s->swizzle);
    if (s->copy_axes) {
        twi_sb_str(w->out, ", copy ");
        print_maps(w, s->copy_axes, s->copy);
    }
    if (twi_plan_words[TWI_WORDS_COPY][s->via])
        twi_sb_printf(w->out, ", via %s", twi_plan_words[TWI_WORDS_COPY][s->via]);
    if (s->window != 1)
        twi_sb_printf(w->out, ", window %u", s->window);
    if (s->ahead)
        twi_sb_printf(w->out, ", ahead %u", s->ahead);
    twi_sb_char(w->out, '\n');
}

/* Arrays by the bytes they promise, small promises first. */
static void print_facts(const printer *w, const twi_entry_plan *e) {
    for (uint32_t bytes = 1; bytes && bytes <= 4096; bytes *= 2) {
        bool any = false;
        for (uint32_t a = 1; a < e->align.n; a++) {
            if (e->align.at[a] != bytes)
                continue;
            if (!any)
                twi_sb_printf(w->out, " align%lu", (unsigned long)bytes);
            any = true;
            twi_sb_printf(w->out, " %s", sym_text(w, w->ir->array.at[a].name));
        }
    }
}

static void print_launch(const printer *w) {
    const twi_plan *p = w->p;
    if (!p->order && !p->persistent)
        return;
    twi_sb_str(w->out, "launch");
    if (p->order)
        twi_sb_printf(w->out, " order %s", twi_plan_words[TWI_WORDS_GROUPS][p->order]);
    if (p->order == TWI_GROUPS_BAND)
        twi_sb_printf(w->out, " %lld", (long long)p->band);
    if (p->persistent)
        twi_sb_printf(w->out, " persistent %lld", (long long)p->persistent);
    twi_sb_char(w->out, '\n');
}

static void print_entries(const printer *w) {
    for (uint32_t i = 0; i < w->p->entry.n; i++) {
        const twi_entry_plan *e = &w->p->entry.at[i];
        twi_sb_printf(w->out, "%sentry %s", i ? " ; " : "", sym_text(w, e->name));
        uint32_t promised = 0;
        for (uint32_t a = 1; a < e->align.n; a++)
            promised += e->align.at[a] != 0;
        if (promised)
            twi_sb_char(w->out, ':');
        print_facts(w, e);
    }
    if (w->p->entry.n)
        twi_sb_char(w->out, '\n');
}

/* `fold`: the second launch's block is named after the first of the folds that it completes. */
static void print_scope(const printer *w, bool first, const char *fold, const char *derived) {
    const twi_plan *p = w->p;
    twi_sb_printf(w->out, "plan %s/%lu%s%s", sym_text(w, p->kernel), (unsigned long)p->scope,
                  fold ? "." : "", fold ? fold : "");
    if (p->target)
        twi_sb_printf(w->out, " target=%s", sym_text(w, p->target));
    if (p->isa)
        twi_sb_printf(w->out, " isa=%s", sym_text(w, p->isa));
    twi_sb_printf(w->out, " class=%s", twi_plan_words[TWI_WORDS_CLASS][p->klass]);
    if (first && p->spec)
        twi_sb_printf(w->out, " spec %s", sym_text(w, p->spec));
    if (first && p->param)
        twi_sb_printf(w->out, " param %s", sym_text(w, p->param));
    if (first && p->merge)
        twi_sb_printf(w->out, " merge %s", sym_text(w, p->merge));
    if (!fold && p->join)
        twi_sb_printf(w->out, " join %s", sym_text(w, p->join));
    twi_sb_char(w->out, '\n');
    for (unsigned i = 0; i < p->frames; i++)
        print_frame(w, &p->frame[i]);
    for (uint32_t i = 0; i < p->place.n; i++) {
        const twi_place *v = &p->place.at[i];
        if (v->frame || v->keep || v->fold || v->atom || v->to)
            print_place(w, v);
    }
    for (unsigned i = 0; i < p->stages; i++)
        print_stage(w, &p->stage[i]);
    print_launch(w);
    if (first)
        print_entries(w);
    if (derived && *derived)
        twi_sb_printf(w->out, "derived %s\n", derived);
}

static void print_then(const tw_ir *ir, const twi_plan *p, twi_sb *out) {
    const tw_ir *then = p->then ? twi_split_ir(out->arena, ir, p) : NULL;
    twi_id_list folds = {0};
    if (!then)
        return;
    twi_split_folds(out->arena, ir, p, &folds);
    printer w = {.ir = then, .p = p->then, .out = out};
    print_scope(&w, false, twi_value_name(ir, folds.at[0]), NULL);
}

void twi_plan_print(const tw_ir *ir, const twi_plans *plans, const char *const *derived,
                    twi_sb *out) {
    for (uint32_t k = 0; k < plans->n; k++) {
        printer w = {.ir = ir, .p = &plans->scope[k], .out = out};
        print_scope(&w, k == 0, NULL, derived ? derived[k] : NULL);
        print_then(ir, &plans->scope[k], out);
    }
}

uint64_t twi_plan_hash(const tw_ir *ir, const twi_plans *plans) {
    twi_mark mark = twi_arena_mark(ir->arena);
    twi_sb sb;
    twi_sb_init(&sb, ir->arena);
    twi_plan_print(ir, plans, NULL, &sb);
    uint64_t hash = twi_hash(twi_sb_text(&sb), sb.n, 0);
    twi_arena_reset(ir->arena, mark);
    return hash;
}
