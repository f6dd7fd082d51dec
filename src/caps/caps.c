/* SPDX-License-Identifier: Apache-2.0
 * Printer and parser of target descriptions, both driven by caps.def. Every key stands exactly once
 * in a text, in any order; it is printed in the table's order. A line that starts with `#` says
 * something to people.
 */
#include "caps/caps.h"

#include <stddef.h>

enum { FAMILY, NAME, COUNT, FLAG, COST, COSTS, LIMIT, CEILING, HAS };
enum {
#define TWI_DIAG(NAME, code, title) NAME = code,
#include "caps/diag.def"
#undef TWI_DIAG
};

typedef struct {
    const char *key;
    uint8_t kind;
    size_t at; /* of the member */
} row;

static const row rows[] = {
#define TWI_CAP(key, kind, member) {key, kind, offsetof(twi_caps, member)},
#include "caps/caps.def"
#undef TWI_CAP
};
#define ROWS (sizeof rows / sizeof rows[0])

static const char *const family_names[] = {[TWI_FAMILY_CPU] = "cpu", [TWI_FAMILY_SIMT] = "simt"};

void twi_caps_default(twi_caps *caps) {
    *caps = (twi_caps){.family = TWI_FAMILY_CPU,
                       .vector_bytes = 16,
                       .registers = 16,
                       .lane = 4,
                       .sub = 1,
                       .workers = 1,
                       .slots = 64,
                       .units = 1,
                       .access_bytes = 16,
                       .indexable = true,
                       .lane_ops = true,
                       .op_ns = {0, 0.25, 2, 5},
                       .byte_ns = 0.1,
                       .near_byte_ns = 0.02,
                       .launch_ns = 1000,
                       .lane_round_ns = 1,
                       .group_ns = 5,
                       .trip_ns = 0.5};
}

static void print_value(const tw_context *ctx, const row *r, const void *member, twi_sb *out) {
    const double *cost = member;
    switch (r->kind) {
    case FAMILY:
        twi_sb_str(out, family_names[*(const uint8_t *)member]);
        break;
    case NAME: {
        twi_sym sym = *(const twi_sym *)member;
        twi_sb_str(out, sym ? twi_text(&ctx->names, sym) : "none");
        break;
    }
    case COUNT:
    case LIMIT:
        twi_sb_printf(out, "%lu", (unsigned long)*(const uint32_t *)member);
        break;
    case FLAG:
    case HAS:
        twi_sb_str(out, *(const bool *)member ? "yes" : "no");
        break;
    default:
        for (unsigned i = 0; i < (r->kind == COSTS ? 4u : 1u); i++) {
            if (i)
                twi_sb_char(out, ' ');
            twi_sb_f64(out, cost[i]);
        }
    }
}

/* Kinds whose zero is not written. */
static bool may_lack(const row *r) {
    return r->kind == CEILING || r->kind == LIMIT || r->kind == HAS;
}

static bool left_out(const row *r, const void *member) {
    switch (r->kind) {
    case CEILING:
        return !(*(const double *)member > 0);
    case LIMIT:
        return !*(const uint32_t *)member;
    default:
        return r->kind == HAS && !*(const bool *)member;
    }
}

void twi_caps_print(const tw_context *ctx, const twi_caps *caps, twi_sb *out) {
    twi_sb_printf(out, "caps %s\n", twi_text(&ctx->names, caps->name));
    for (unsigned i = 0; i < ROWS; i++) {
        const void *member = (const char *)caps + rows[i].at;
        if (left_out(&rows[i], member))
            continue;
        twi_sb_printf(out, "%s ", rows[i].key);
        print_value(ctx, &rows[i], member, out);
        twi_sb_char(out, '\n');
    }
}

typedef struct {
    tw_context *ctx;
    twi_loc loc; /* of the line */
    bool ok;
} reader;

typedef struct {
    const char *at;
    size_t n;
} span;

static span next_word(span *line) {
    while (line->n && (*line->at == ' ' || *line->at == '\t' || *line->at == '\r'))
        line->at++, line->n--;
    span w = {line->at, 0};
    while (line->n && *line->at != ' ' && *line->at != '\t' && *line->at != '\r')
        line->at++, line->n--, w.n++;
    return w;
}

static bool is(span w, const char *text) {
    return strlen(text) == w.n && memcmp(w.at, text, w.n) == 0;
}

static bool read_value(reader *r, const row *what, span *line, void *member) {
    span w = next_word(line);
    int64_t v;
    double *cost = member;
    switch (what->kind) {
    case FAMILY:
        *(uint8_t *)member = is(w, "simt") ? TWI_FAMILY_SIMT : TWI_FAMILY_CPU;
        return is(w, "simt") || is(w, "cpu");
    case NAME:
        *(twi_sym *)member = is(w, "none") ? 0 : twi_intern(&r->ctx->names, w.at, w.n);
        return w.n > 0;
    case COUNT:
    case LIMIT:
        if (!twi_parse_i64(w.at, w.n, &v) || v < 0 || v > UINT32_MAX)
            return false;
        *(uint32_t *)member = (uint32_t)v;
        return true;
    case FLAG:
    case HAS:
        *(bool *)member = is(w, "yes");
        return is(w, "yes") || is(w, "no");
    default:
        for (unsigned i = 0;; w = next_word(line)) {
            if (!twi_parse_f64(w.at, w.n, &cost[i]) || !(cost[i] >= 0 && cost[i] <= 1e12))
                return false;
            if (++i == (what->kind == COSTS ? 4u : 1u))
                return true;
        }
    }
}

static void read_line(reader *r, span line, twi_caps *caps, bool *seen) {
    twi_diags *diags = &r->ctx->diags;
    span key = next_word(&line);
    unsigned i = 0;
    while (i < ROWS && !is(key, rows[i].key))
        i++;
    if (i == ROWS) {
        twi_error(diags, CAPS_KEY, r->loc, NULL, "target descriptions have no key '%.*s'",
                  (int)key.n, key.at);
        r->ok = false;
        return;
    }
    if (seen[i]) {
        twi_error(diags, CAPS_TWICE, r->loc, NULL, "key '%s' is given twice", rows[i].key);
        r->ok = false;
    }
    seen[i] = true;
    span value = line;
    if (!read_value(r, &rows[i], &line, (char *)caps + rows[i].at) || next_word(&line).n) {
        static const char *const wants[] = {
            "cpu or simt",         "a word",       "a number below 2^32",
            "yes or no",           "a time in ns", "four times in ns",
            "a number below 2^32", "a time in ns", "yes or no"};
        twi_error(diags, CAPS_VALUE, r->loc, NULL, "key '%s' takes %s, not '%.*s'", rows[i].key,
                  wants[rows[i].kind], (int)value.n, value.at);
        r->ok = false;
    }
}

static bool power_of_two(uint32_t x) { return x && (x & (x - 1)) == 0; }

/* What all readers of the record rely on. */
static bool sensible(reader *r, const twi_caps *c) {
    const char *why = NULL;
    if (!power_of_two(c->lane))
        why = "lane is a power of two";
    else if (!c->sub || !c->units || !c->slots)
        why = "sub, units and slots are at least 1";
    else if (c->family == TWI_FAMILY_CPU && !power_of_two(c->vector_bytes))
        why = "vector_bytes of a cpu is a power of two";
    else if (c->family == TWI_FAMILY_SIMT && c->workers < c->lane)
        why = "a group has at least one subgroup of workers";
    else if (!power_of_two(c->access_bytes))
        why = "access_bytes is a power of two";
    if (why)
        twi_error(&r->ctx->diags, CAPS_SENSE, r->loc, NULL, "%s", why);
    return !why;
}

bool twi_caps_parse(tw_context *ctx, const char *name, const char *text, size_t n, twi_caps *caps) {
    uint32_t file = twi_diags_file(&ctx->diags, name, text, n);
    reader r = {.ctx = ctx, .loc = {file, 0}, .ok = true};
    bool seen[ROWS] = {false}, head = false;
    twi_caps_default(caps);
    for (size_t at = 0; at < n;) {
        const char *end = memchr(text + at, '\n', n - at);
        span line = {text + at, end ? (size_t)(end - text) - at : n - at}, rest = line;
        r.loc.at = (uint32_t)at;
        at += line.n + 1;
        span first = next_word(&rest);
        if (!first.n || *first.at == '#')
            continue;
        if (head) {
            read_line(&r, line, caps, seen);
            continue;
        }
        span target = next_word(&rest);
        if (!is(first, "caps") || !target.n || next_word(&rest).n) {
            twi_error(&ctx->diags, CAPS_HEAD, r.loc, NULL,
                      "a target description starts with `caps NAME`");
            return false;
        }
        caps->name = twi_intern(&ctx->names, target.at, target.n);
        head = true;
    }
    if (!head)
        twi_error(&ctx->diags, CAPS_HEAD, r.loc, NULL, "this target description is empty");
    for (unsigned i = 0; head && i < ROWS; i++)
        if (!seen[i] && !may_lack(&rows[i])) {
            twi_error(&ctx->diags, CAPS_MISSING, r.loc, NULL, "key '%s' is missing", rows[i].key);
            r.ok = false;
        }
    return head && r.ok && sensible(&r, caps);
}
