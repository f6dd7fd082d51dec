/* SPDX-License-Identifier: Apache-2.0
 * Plan text to plans: the file and its header lines. Each fault names the word and stands at its
 * place; a line with a fault ends there and reading goes on with the next. What a plan says may be
 * illegal: rules.h judges.
 */
#include "plan/parse.h"
#include "pass/pass.h"
#include "plan/codes.h"
#include "plan/rules.h"
#include "plan/scope.h"
#include "plan/split.h"
#include "plan/words.h"

bool twi_plan_fail(twi_plan_reader *r, unsigned code, const char *format, ...) {
    twi_sb sb;
    va_list args;
    twi_sb_init(&sb, r->arena);
    va_start(args, format);
    twi_sb_vprintf(&sb, format, args);
    va_end(args);
    if (r->ok && r->why)
        (void)twi_refuse(r->why, "%s", twi_sb_text(&sb));
    if (r->ok && !r->quiet)
        twi_error(&r->ctx->diags, (uint16_t)code, (twi_loc){r->file, (uint32_t)r->tok}, NULL, "%s",
                  twi_sb_text(&sb));
    r->ok = false;
    return false;
}

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static bool mark(char c) { return c == ',' || c == ';' || c == ':' || c == '='; }

bool twi_plan_next(twi_plan_reader *r) {
    while (r->at < r->end && blank(r->text[r->at]))
        r->at++;
    r->tok = r->at;
    if (r->at < r->end && mark(r->text[r->at]))
        r->at++;
    else
        while (r->at < r->end && !blank(r->text[r->at]) && !mark(r->text[r->at]))
            r->at++;
    r->len = r->at - r->tok;
    return r->len > 0;
}

bool twi_plan_is(const twi_plan_reader *r, const char *word) {
    return strlen(word) == r->len && memcmp(word, r->text + r->tok, r->len) == 0;
}

bool twi_plan_take(twi_plan_reader *r, const char *word) {
    twi_plan_reader before = *r;
    if (twi_plan_next(r) && twi_plan_is(r, word))
        return true;
    *r = before;
    return false;
}

bool twi_plan_expect(twi_plan_reader *r, const char *word) {
    if (twi_plan_next(r) && twi_plan_is(r, word))
        return true;
    if (!r->len)
        return twi_plan_fail(r, TWI_PLAN_EXPECTED, "'%s' is expected where the line ends", word);
    return twi_plan_fail(r, TWI_PLAN_EXPECTED, "'%s' is expected here, not '%.*s'", word,
                         (int)r->len, r->text + r->tok);
}

/* ---- the header line --------------------------------------------------------------------------
 */

static bool read_kernel(twi_plan_reader *r, uint32_t scope) {
    if (!twi_plan_next(r))
        return twi_plan_fail(r, TWI_PLAN_EXPECTED, "'plan' is followed by KERNEL/SCOPE");
    const char *kernel = twi_text(&r->ctx->names, r->ir->kernel);
    const char *slash = memchr(r->text + r->tok, '/', r->len);
    size_t n = slash ? (size_t)(slash - (r->text + r->tok)) : r->len;
    if (n != strlen(kernel) || memcmp(kernel, r->text + r->tok, n) != 0)
        return twi_plan_fail(r, TWI_PLAN_KERNEL, "this plan is for kernel '%.*s', not for '%s'",
                             (int)n, r->text + r->tok, kernel);
    const char *wanted = twi_format(r->arena, "%lu%s%s", (unsigned long)scope, r->split ? "." : "",
                                    r->split ? r->split : "");
    bool good =
        slash && r->len - n - 1 == strlen(wanted) && memcmp(slash + 1, wanted, strlen(wanted)) == 0;
    return good || twi_plan_fail(r, TWI_PLAN_KERNEL,
                                 "blocks of a kernel's %lu scope(s) stand in order: '%s/%s' is "
                                 "expected here, not '%.*s'",
                                 (unsigned long)twi_par_count(r->ir), kernel, wanted, (int)r->len,
                                 r->text + r->tok);
}

static twi_sym word_sym(twi_plan_reader *r) {
    return twi_intern(&r->ctx->names, r->text + r->tok, r->len);
}

static bool read_class(twi_plan_reader *r) {
    if (!twi_plan_next(r))
        return twi_plan_fail(r, TWI_PLAN_EXPECTED, "a class is free, tree or canonical");
    for (unsigned i = 0; i < TWI_MAX_WORDS; i++) {
        const char *word = twi_plan_words[TWI_WORDS_CLASS][i];
        if (word && twi_plan_is(r, word)) {
            r->p->klass = (uint8_t)i;
            return true;
        }
    }
    return twi_plan_fail(r, TWI_PLAN_EXPECTED, "a class is free, tree or canonical, not '%.*s'",
                         (int)r->len, r->text + r->tok);
}

static bool has_word(const char *list, const char *word, size_t n) {
    for (const char *p = list; *p;) {
        size_t len = strcspn(p, " ");
        if (len == n && memcmp(p, word, n) == 0)
            return true;
        p += len + (p[len] == ' ');
    }
    return false;
}

/* NAME=VALUE words up to `param` or the end: each must be true of the IR; kept as they stand. */
static bool read_spec(twi_plan_reader *r, twi_sym *out) {
    const char *facts = twi_ir_spec(r->ir, r->arena);
    twi_sb sb;
    twi_sb_init(&sb, r->arena);
    for (;;) {
        while (r->at < r->end && blank(r->text[r->at]))
            r->at++;
        size_t from = r->at;
        while (r->at < r->end && !blank(r->text[r->at]))
            r->at++;
        r->tok = from;
        r->len = r->at - from;
        if (twi_plan_is(r, "param") || twi_plan_is(r, "merge") || twi_plan_is(r, "join"))
            r->at = from;
        if (r->at == from)
            break;
        if (!has_word(facts, r->text + from, r->len))
            return twi_plan_fail(r, TWI_PLAN_SPEC,
                                 "this plan is for %.*s; the kernel was built for %s", (int)r->len,
                                 r->text + from, facts);
        twi_sb_printf(&sb, "%s%.*s", sb.n ? " " : "", (int)r->len, r->text + from);
    }
    if (!sb.n)
        return twi_plan_fail(r, TWI_PLAN_EXPECTED, "NAME=VALUE is expected here");
    *out = twi_intern(&r->ctx->names, twi_sb_text(&sb), sb.n);
    return true;
}

/* Names of folds; from here on the plan is for what their merging leaves of the program. */
static bool read_merges(twi_plan_reader *r) {
    if (r->p->join)
        return twi_plan_fail(r, TWI_PLAN_LATER, "merge beside join is not built yet");
    tw_ir *ir = twi_ir_clone(r->ir, r->arena);
    do {
        if (!twi_plan_next(r))
            return twi_plan_fail(r, TWI_PLAN_EXPECTED, "the name of a fold is expected here");
        const char *name = r->text + r->tok;
        twi_id v = twi_value_named(ir, name, r->len);
        if (!v || !opt_merge(ir, v))
            return twi_plan_fail(r, TWI_PLAN_VALUE,
                                 "merge %.*s: no free sum of exp(x - max x) or of squares of x - "
                                 "mean x over numbers of positions that waits for just that fold",
                                 (int)r->len, name);
    } while (twi_plan_take(r, ","));
    r->ir = ir;
    r->p->merge = ir->merged;
    return true;
}

bool twi_plan_read_joins(twi_plan_reader *r) {
    tw_ir *ir = twi_ir_tables(r->ir, r->arena);
    do {
        unsigned axis[2] = {0, 0};
        for (unsigned k = 0; k < 2; k++) {
            if (!twi_plan_next(r))
                return twi_plan_fail(r, TWI_PLAN_EXPECTED,
                                     "join is followed by two axes, the slow one first");
            if (!twi_axis_named(ir, r->arena, r->par, r->text + r->tok, r->len, &axis[k]))
                return twi_plan_fail(r, TWI_PLAN_AXIS, "join: the scope has no axis '%.*s'",
                                     (int)r->len, r->text + r->tok);
        }
        const char *fault = twi_join_fault(ir, r->par, axis[0], axis[1]);
        if (fault)
            return twi_plan_fail(r, TWI_PLAN_JOIN, "join %s %s: %s",
                                 twi_axis_text(ir, r->arena, axis[0]),
                                 twi_axis_text(ir, r->arena, axis[1]), fault);
        (void)opt_join(ir, r->par, axis[0], axis[1]);
    } while (twi_plan_take(r, ","));
    r->ir = ir;
    r->p->join = ir->region.at[r->par].joined;
    return true;
}

static bool read_head(twi_plan_reader *r, uint32_t scope, const twi_plan *first) {
    twi_plan *p = r->p;
    *p = (twi_plan){.scope = scope, .kernel = r->ir->kernel, .klass = TWI_ORDER_FREE};
    if (first) {
        p->spec = first->spec;
        p->param = first->param;
        p->merge = first->merge;
        p->entry = first->entry;
    }
    r->par = twi_par_region(r->ir, scope);
    if (!read_kernel(r, scope))
        return false;
    while (twi_plan_next(r)) {
        twi_sym *sym = twi_plan_is(r, "target") ? &p->target
                       : twi_plan_is(r, "isa")  ? &p->isa
                                                : NULL;
        if (sym) {
            if (!twi_plan_expect(r, "="))
                return false;
            if (!twi_plan_next(r))
                return twi_plan_fail(r, TWI_PLAN_EXPECTED, "a name is expected after '='");
            *sym = word_sym(r);
        } else if (twi_plan_is(r, "class")) {
            if (!twi_plan_expect(r, "=") || !read_class(r))
                return false;
        } else if (!first && (twi_plan_is(r, "spec") || twi_plan_is(r, "param"))) {
            if (!read_spec(r, twi_plan_is(r, "spec") ? &p->spec : &p->param))
                return false;
        } else if (!first && twi_plan_is(r, "merge")) {
            if (!read_merges(r))
                return false;
        } else if (!r->split && twi_plan_is(r, "join")) {
            if (!twi_plan_read_joins(r))
                return false;
        } else {
            return twi_plan_fail(r, TWI_PLAN_EXPECTED,
                                 "'plan' takes target=, isa=, class=%s%s, not '%.*s'",
                                 first ? "" : ", spec, param, merge", r->split ? "" : ", join",
                                 (int)r->len, r->text + r->tok);
        }
    }
    return true;
}

/* The plan before splits folds: this block is that of its second launch. From here on the reader
 * speaks of the second launch's tile IR. */
static bool read_then(twi_plan_reader *r, const tw_ir *ir) {
    const twi_plan *first = r->p;
    twi_id_list folds = {0};
    twi_split_folds(r->arena, ir, first, &folds);
    r->split = twi_value_name(ir, folds.at[0]);
    r->ir = twi_split_ir(r->arena, ir, first);
    if (!r->ir)
        return twi_plan_fail(r, TWI_PLAN_KERNEL, "partial results of '%s' have no fixed number",
                             r->split);
    r->p->then = twi_plan_new(r->arena);
    r->p = r->p->then;
    bool good = read_head(r, first->scope, first);
    r->p->second = true;
    return good;
}

/* Does the plan read last need a block for a second launch? */
static bool wants_then(const twi_plan_reader *r, const tw_ir *ir) {
    twi_id_list folds = {0};
    if (r->p && !r->p->then && !r->split)
        twi_split_folds(r->arena, ir, r->p, &folds);
    return folds.n > 0;
}

/* ---- the file ----------------------------------------------------------------------------------
 */

static bool read_derived(twi_plan_reader *r, const char **derived) {
    while (r->at < r->end && blank(r->text[r->at]))
        r->at++;
    size_t end = r->end;
    while (end > r->at && blank(r->text[end - 1]))
        end--;
    *derived = twi_strndup(r->arena, r->text + r->at, end - r->at);
    r->at = r->end;
    return true;
}

static bool read_line(twi_plan_reader *r, const char **derived) {
    bool good;
    if (twi_plan_is(r, "frame"))
        good = twi_plan_read_frame(r);
    else if (twi_plan_is(r, "value"))
        good = twi_plan_read_value(r);
    else if (twi_plan_is(r, "stage"))
        good = twi_plan_read_stage(r);
    else if (twi_plan_is(r, "launch"))
        good = twi_plan_read_launch(r);
    else if (twi_plan_is(r, "entry"))
        good = twi_plan_read_entry(r);
    else if (twi_plan_is(r, "derived"))
        good = read_derived(r, derived);
    else
        return twi_plan_fail(r, TWI_PLAN_LINE,
                             "a line of plan text starts with plan, frame, value, stage, launch, "
                             "entry or derived, not '%.*s'",
                             (int)r->len, r->text + r->tok);
    if (good && twi_plan_next(r))
        return twi_plan_fail(r, TWI_PLAN_EXPECTED, "the line should end before '%.*s'", (int)r->len,
                             r->text + r->tok);
    return good;
}

bool twi_plan_parse(twi_arena *arena, const tw_ir *ir, const char *name, const char *text, size_t n,
                    twi_plans *plans) {
    const char **derived = TWI_NEW_N(arena, const char *, twi_par_count(ir)), *second;
    twi_plan_reader r = {.ctx = ir->ctx, .arena = arena, .ir = ir, .text = text, .ok = true};
    uint32_t scopes = twi_par_count(ir), seen = 0;
    bool good = true;
    r.file = twi_diags_file(&ir->ctx->diags, name, text, n);
    *plans = (twi_plans){
        .ir = ir, .n = scopes, .scope = TWI_NEW_N(arena, twi_plan, scopes), .derived = derived};
    for (size_t at = 0; at < n;) {
        const char *end = memchr(text + at, '\n', n - at);
        r.at = at;
        r.end = end ? (size_t)(end - text) : n;
        r.ok = true;
        at = r.end + 1;
        if (!twi_plan_next(&r) || text[r.tok] == '#')
            continue;
        if (twi_plan_is(&r, "plan") && wants_then(&r, plans->ir)) {
            if (!read_then(&r, plans->ir))
                return false;
        } else if (twi_plan_is(&r, "plan")) {
            r.ir = plans->ir;
            r.split = NULL;
            if (seen == scopes) {
                twi_plan_fail(&r, TWI_PLAN_KERNEL, "the kernel has %lu scope(s): no block is left",
                              (unsigned long)scopes);
                return false;
            }
            r.p = &plans->scope[seen];
            if (!read_head(&r, seen, seen ? &plans->scope[0] : NULL))
                return false;
            plans->ir = r.ir;
            seen++;
        } else if (!seen) {
            twi_plan_fail(&r, TWI_PLAN_EXPECTED, "a plan starts with 'plan KERNEL/SCOPE'");
            return false;
        } else {
            good = read_line(&r, r.split ? &second : &derived[seen - 1]) && good;
        }
    }
    for (uint32_t k = 0; k < seen; k++) /* entry main is there, said or not */
        if (!plans->scope[k].entry.n) {
            twi_entry_plan e = {.name = twi_intern_str(&ir->ctx->names, "main")};
            twi_push(arena, &plans->scope[k].entry, e);
        }
    for (uint32_t k = 0; k < seen; k++)
        if (plans->scope[k].then)
            plans->scope[k].then->entry = plans->scope[k].entry;
    if (good && seen < scopes) {
        r.ok = true;
        r.tok = n;
        return twi_plan_fail(&r, TWI_PLAN_MISSING, "the plan of scope %lu is missing",
                             (unsigned long)seen);
    }
    return good;
}
