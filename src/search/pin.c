/* SPDX-License-Identifier: Apache-2.0
 * Pins: what the caller fixes of a plan. Lines of plan text and keep= shape every candidate; keys
 * and figures say which candidates are left.
 */
#include "plan/codes.h"
#include "plan/parse.h"
#include "plan/rules.h"
#include "plan/split.h"
#include "plan/words.h"
#include "search/view.h"

typedef enum { PIN_BAD, PIN_LINE, PIN_KEEP, PIN_KEY, PIN_FIGURE } pin_kind;
typedef enum { AS_EQUAL, AS_MOST, AS_LEAST } relation;

typedef struct {
    pin_kind kind;
    const char *text;
    const char *value; /* behind the relation */
    size_t name;       /* length of what stands before it */
    relation rel;
    unsigned which; /* keep mode, key or figure */
    int64_t number;
} pin;

static const char *const line_words[] = {"frame", "value", "stage", "launch", "entry"};
static const char *const keys[] = {"target", "isa", "class", "merge", "join"};

typedef enum {
    FIG_WORKERS,
    FIG_LANES,
    FIG_SUBS,
    FIG_GROUPS,
    FIG_SHARED,
    FIG_STRIPE,
    FIG_SLOTS,
    FIG_BARRIERS,
    FIG_DEPTH,
    FIG_CODE,
    FIGURES
} figure;
static const char *const figures[FIGURES] = {"workers", "lanes", "subs",     "groups", "shared",
                                             "stripe",  "slots", "barriers", "depth",  "code"};

static int find(const char *const *list, unsigned n, const char *word, size_t len) {
    for (unsigned i = 0; i < n; i++)
        if (strlen(list[i]) == len && memcmp(list[i], word, len) == 0)
            return (int)i;
    return -1;
}

static pin read_pin(const char *text) {
    pin p = {.kind = PIN_BAD, .text = text, .name = strcspn(text, " =<>")};
    const char *rest = text + p.name;
    int at;
    if (*rest == ' ') {
        if (find(line_words, 5, text, p.name) >= 0)
            p.kind = PIN_LINE;
        return p;
    }
    p.rel = *rest == '<' ? AS_MOST : *rest == '>' ? AS_LEAST : AS_EQUAL;
    rest += p.rel != AS_EQUAL;
    if (*rest != '=')
        return p;
    p.value = rest + 1;
    if (p.rel == AS_EQUAL && p.name == 4 && memcmp(text, "keep", 4) == 0) {
        bool all = strcmp(p.value, "preserve") == 0;
        if (all || strcmp(p.value, "expensive-only") == 0)
            p.kind = PIN_KEEP;
        p.which = all ? TWI_KEEP_ALL : TWI_KEEP_EXPENSIVE;
    } else if (p.rel == AS_EQUAL &&
               (at = find(keys, sizeof keys / sizeof keys[0], text, p.name)) >= 0) {
        p.kind = *p.value ? PIN_KEY : PIN_BAD;
        p.which = (unsigned)at;
    } else if ((at = find(figures, FIGURES, text, p.name)) >= 0 &&
               twi_parse_i64(p.value, strlen(p.value), &p.number)) {
        p.kind = PIN_FIGURE;
        p.which = (unsigned)at;
    }
    return p;
}

/* Reads a line of plan text into p; file 0: faults are not reported. */
static bool read_pinned_line(twi_arena *arena, const tw_ir *ir, const char *text, uint32_t file,
                             twi_plan *p) {
    twi_plan_reader r = {.ctx = ir->ctx,
                         .arena = arena,
                         .ir = ir,
                         .file = file,
                         .text = text,
                         .end = strlen(text),
                         .ok = true,
                         .p = p,
                         .par = twi_par_region(ir, p->scope),
                         .quiet = !file,
                         .again = true};
    (void)twi_plan_next(&r);
    bool good = twi_plan_is(&r, "frame")    ? twi_plan_read_frame(&r)
                : twi_plan_is(&r, "value")  ? twi_plan_read_value(&r)
                : twi_plan_is(&r, "stage")  ? twi_plan_read_stage(&r)
                : twi_plan_is(&r, "launch") ? twi_plan_read_launch(&r)
                                            : twi_plan_read_entry(&r);
    if (good && twi_plan_next(&r))
        return twi_plan_fail(&r, TWI_PLAN_EXPECTED, "the line should end before '%.*s'", (int)r.len,
                             text + r.tok);
    return good;
}

/* A plan that lines can be read into: frame f over the scope's axes. */
static twi_plan *sketch(const tw_ir *ir, uint32_t scope) {
    twi_plan *p = twi_plan_new(ir->arena);
    p->scope = scope;
    p->frames = 1;
    p->frame[0].name = twi_intern_str(&ir->ctx->names, "f");
    return p;
}

static bool line_fits(const tw_ir *ir, const char *text) {
    for (uint32_t k = 0; k < twi_par_count(ir); k++)
        if (read_pinned_line(ir->arena, ir, text, 0, sketch(ir, k)))
            return true;
    uint32_t file = twi_diags_file(&ir->ctx->diags, "--pin", text, strlen(text));
    return read_pinned_line(ir->arena, ir, text, file, sketch(ir, 0));
}

bool twi_search_pins(const tw_ir *ir, const twi_wish *wish) {
    bool good = true;
    for (uint32_t i = 0; i < wish->n_pins; i++) {
        pin p = read_pin(wish->pins[i]);
        if (p.kind == PIN_LINE) {
            good = line_fits(ir, p.text) && good;
        } else if (p.kind == PIN_BAD) {
            uint32_t file = twi_diags_file(&ir->ctx->diags, "--pin", p.text, strlen(p.text));
            twi_error(
                &ir->ctx->diags, TWI_PLAN_PIN, (twi_loc){file, 0},
                "a line of plan text (frame, value, stage, launch, entry), target=, isa=, class=, "
                "merge=, join=, "
                "keep=preserve, keep=expensive-only, or workers, lanes, subs, groups, shared, "
                "stripe, slots, barriers, depth, code with =, <= or >= and a number",
                "'%s' pins nothing of a plan", p.text);
            good = false;
        }
    }
    return good;
}

/* Is a join of another scope meant: one that is there, or of an axis that only that scope has? */
static bool is_elsewhere(const twi_view *v, const char *axes) {
    const size_t n = strcspn(axes, " ");
    unsigned axis;
    if (twi_axis_named(v->ir, v->arena, v->par, axes, n, &axis))
        return false;
    for (uint32_t k = 0; k < twi_par_count(v->ir); k++) {
        const uint32_t par = twi_par_region(v->ir, k);
        if (strcmp(twi_text(&v->ir->ctx->names, v->ir->region.at[par].joined), axes) == 0 ||
            twi_axis_named(v->ir, v->arena, par, axes, n, &axis))
            return true;
    }
    return false;
}

/* Why the scope is not joined as the pin says. */
static bool is_unjoined(const twi_view *v, const pin *p, twi_why *why) {
    twi_why reason = {.text = ""};
    if (is_elsewhere(v, p->value))
        return true;
    if (twi_pinned_form(v->arena, v->ir, v->scope, p->value, &reason))
        return twi_refuse(why, "%s: the join here is none", p->text);
    return twi_refuse(why, "%s", reason.text);
}

static bool key_holds(const twi_view *v, const pin *p, twi_why *why) {
    const twi_names *names = &v->ir->ctx->names;
    const char *const has[] = {twi_text(names, v->caps->name), twi_text(names, v->caps->isa),
                               twi_plan_words[TWI_WORDS_CLASS][twi_ir_class(v->ir)],
                               twi_text(names, v->ir->merged),
                               twi_text(names, v->ir->region.at[v->par].joined)};
    const char *is = *has[p->which] ? has[p->which] : "none";
    if (strcmp(keys[p->which], "join") == 0 && strcmp(p->value, "none") != 0 && !*has[p->which])
        return is_unjoined(v, p, why);
    return strcmp(is, p->value) == 0 ||
           twi_refuse(why, "%s: the %s here is %s", p->text, keys[p->which], is);
}

/* A pin changes a frame; it never adds one, in which nothing would be made. */
static bool refuse_frame(const twi_view *v, const twi_plan *p, unsigned frames, const char *text,
                         twi_why *why) {
    const twi_names *names = &v->ir->ctx->names;
    const char *all = twi_text(names, p->frame[0].name);
    for (unsigned k = 1; k < frames; k++)
        all = twi_format(v->arena, "%s, %s", all, twi_text(names, p->frame[k].name));
    return twi_refuse(why, "%s: the plan has no frame '%s'; it has %s", text,
                      twi_text(names, p->frame[frames].name), all);
}

bool twi_pins_apply(const twi_view *v, const twi_wish *wish, twi_plan *p, twi_why *why) {
    for (uint32_t i = 0; i < wish->n_pins; i++) {
        pin q = read_pin(wish->pins[i]);
        if (q.kind == PIN_KEEP) {
            twi_view_keep(v, p, (twi_keep_mode)q.which);
        } else if (q.kind == PIN_KEY) {
            if (!key_holds(v, &q, why))
                return false;
        } else if (q.kind == PIN_LINE) {
            /* A line that names nothing of this scope is another scope's. */
            bool frame = strncmp(q.text, "frame", 5) == 0;
            unsigned frames = p->frames;
            bool fits = read_pinned_line(v->arena, v->ir, q.text, 0, p);
            if (p->frames > frames)
                return refuse_frame(v, p, frames, q.text, why);
            if (fits && frame && !strstr(q.text, " order "))
                twi_view_order(v, p, 0);
            if (p->then && !twi_split_axis(v->ir, p)) /* what was pinned splits nothing */
                p->then = NULL;
        } else if (q.kind == PIN_BAD) {
            return twi_refuse(why, "'%s' pins nothing of a plan", q.text);
        }
    }
    return true;
}

/* Of the deepest float fold. */
static uint32_t depth_of(const twi_view *v, const twi_plan *p) {
    twi_order *order;
    uint32_t most = 0, n = twi_plan_orders(v->arena, v->ir, v->caps, p, &order);
    for (uint32_t k = 0; k < n; k++)
        most = order[k].depth > most ? order[k].depth : most;
    return most;
}

static int64_t figure_of(const twi_view *v, const twi_plan *p, const twi_features *f,
                         unsigned which) {
    switch ((figure)which) {
    case FIG_WORKERS:
        return f->workers;
    case FIG_LANES:
        return f->lanes;
    case FIG_SUBS:
        return twi_plan_subs(p);
    case FIG_GROUPS:
        return f->groups;
    case FIG_SHARED:
        return f->shared_bytes;
    case FIG_STRIPE:
        return f->stripe;
    case FIG_SLOTS:
        return f->slots;
    case FIG_BARRIERS:
        return (int64_t)f->barriers;
    case FIG_DEPTH:
        return depth_of(v, p);
    case FIG_CODE:
        return f->code;
    case FIGURES:
        break;
    }
    return 0;
}

bool twi_pins_hold(const twi_view *v, const twi_wish *wish, const twi_plan *p,
                   const twi_features *f, twi_why *why) {
    for (uint32_t i = 0; i < wish->n_pins; i++) {
        pin q = read_pin(wish->pins[i]);
        if (q.kind != PIN_FIGURE)
            continue;
        int64_t has = figure_of(v, p, f, q.which);
        bool good = q.rel == AS_EQUAL  ? has == q.number
                    : q.rel == AS_MOST ? has <= q.number
                                       : has >= q.number;
        if (!good)
            return twi_refuse(why, "%s: no candidate has it; the nearest has %s=%lld", q.text,
                              figures[q.which], (long long)has);
    }
    return true;
}
