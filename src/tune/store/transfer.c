/* SPDX-License-Identifier: Apache-2.0
 * Wisdom as text: a head line, then a row a line, fields between tabs, the SHA-256 of the line
 * last.
 */
#include "tune/codes.h"
#include "tune/store/index.h"
#include "tune/wisdom.h"

#include <math.h>

static const char head[] = "tilewright wisdom 1";

static void add_text(twi_sb *sb, const char *text) {
    for (; *text; text++) {
        if (*text == '\n')
            twi_sb_str(sb, "\\n");
        else if (*text == '\t')
            twi_sb_str(sb, "\\t");
        else if (*text == '\\')
            twi_sb_str(sb, "\\\\");
        else
            twi_sb_char(sb, *text);
    }
}

static bool add_line(void *user, const twi_wisdom *w) {
    twi_sb *out = user, line;
    char sha[65];
    twi_sb_init(&line, out->arena);
    for (unsigned k = 0; k < TWI_WISDOM_COLUMNS; k++) {
        const char *at = (const char *)w + twi_wisdom_columns[k].offset;
        if (k)
            twi_sb_char(&line, '\t');
        if (twi_wisdom_columns[k].kind == 't') {
            const char *text;
            memcpy(&text, at, sizeof text);
            add_text(&line, text);
        } else if (twi_wisdom_columns[k].kind == 'i') {
            int64_t v;
            memcpy(&v, at, sizeof v);
            twi_sb_printf(&line, "%lld", (long long)v);
        } else {
            double v;
            memcpy(&v, at, sizeof v);
            twi_sb_f64(&line, v);
        }
    }
    twi_sha256(&(twi_shelf_part){twi_sb_text(&line), line.n}, 1, sha);
    twi_sb_printf(out, "%s\t%s\n", twi_sb_text(&line), sha);
    return true;
}

const char *tw_wisdom_export(tw_store *s) {
    jmp_buf spot, *saved;
    if (TWI_GUARD(&s->ctx->mem, spot, saved)) {
        TWI_UNGUARD(&s->ctx->mem, saved);
        return NULL;
    }
    twi_sb out;
    twi_sb_init(&out, &s->ctx->arena);
    twi_sb_printf(&out, "%s\n", head);
    twi_wisdom_read(s, NULL, add_line, &out);
    TWI_UNGUARD(&s->ctx->mem, saved);
    return twi_sb_text(&out);
}

/* Undoes add_text in place. */
static bool unescape(char *text) {
    char *to = text;
    for (; *text; text++) {
        char c = *text;
        if (c == '\\') {
            c = *++text;
            if (c != 'n' && c != 't' && c != '\\')
                return false;
            c = (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c);
        }
        *to++ = c;
    }
    *to = 0;
    return true;
}

static const char *take_field(twi_wisdom *w, unsigned k, char *text) {
    char *at = (char *)w + twi_wisdom_columns[k].offset;
    const size_t n = strlen(text);
    int64_t i;
    double f;
    if (twi_wisdom_columns[k].kind == 'i') {
        if (!twi_parse_i64(text, n, &i))
            return "a field is no number";
        memcpy(at, &i, sizeof i);
    } else if (twi_wisdom_columns[k].kind == 'f') {
        if (!twi_parse_f64(text, n, &f))
            return "a field is no number";
        memcpy(at, &f, sizeof f);
    } else {
        if (!unescape(text))
            return "an escape that is none";
        memcpy(at, &text, sizeof text);
    }
    return NULL;
}

/* NULL: it is wisdom. The line is taken apart. */
static const char *take_line(char *line, size_t n, twi_wisdom *w) {
    char sha[65];
    if (n < 66 || line[n - 65] != '\t' || strlen(line) != n)
        return "no SHA-256 at its end";
    twi_sha256(&(twi_shelf_part){line, n - 65}, 1, sha);
    if (memcmp(sha, line + n - 64, 64) != 0)
        return "its SHA-256 is another";
    line[n - 65] = 0;
    for (unsigned k = 0; k < TWI_WISDOM_COLUMNS; k++) {
        if (!line)
            return "too few fields";
        char *tab = strchr(line, '\t');
        if (tab)
            *tab = 0;
        const char *why = take_field(w, k, line);
        if (why)
            return why;
        line = tab ? tab + 1 : NULL;
    }
    if (line)
        return "too many fields";
    return twi_wisdom_is_sound(w) ? NULL : "it is no row of wisdom";
}

static void refuse_line(tw_store *s, const tw_source *text, size_t line, const char *why) {
    twi_warn(&s->ctx->diags, TWI_E_TUNE_LINE, (twi_loc){0, 0}, NULL, "%s:%zu: refused: %s",
             text->name, line, why);
}

static tw_status import(tw_store *s, const tw_source *text, size_t *taken, size_t *refused) {
    TWI_VEC(twi_wisdom) rows = {0};
    twi_arena *arena = &s->ctx->arena;
    const char *at = text->text, *end = text->text + text->n;
    for (size_t line = 1; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t n = (size_t)((stop ? stop : end) - at);
        char *copy = twi_strndup(arena, at, n);
        twi_wisdom w = {0};
        at += n + 1;
        if (line == 1 && strcmp(copy, head) != 0) {
            twi_error(&s->ctx->diags, TWI_E_TUNE_LINE, (twi_loc){0, 0}, NULL,
                      "%s: it does not begin with '%s'", text->name, head);
            return TW_ERR_INPUT;
        }
        if (line == 1 || !n)
            continue;
        const char *why = take_line(copy, n, &w);
        if (why) {
            refuse_line(s, text, line, why);
            ++*refused;
            continue;
        }
        if (strcmp(w.verdict, "right") == 0)
            w.verdict = "imported";
        twi_push(arena, &rows, w);
        ++*taken;
    }
    return !rows.n || twi_wisdom_add(s, rows.at, rows.n) ? TW_OK : TW_ERR_ENV;
}

tw_status tw_wisdom_import(tw_store *s, tw_source text, size_t *taken, size_t *refused) {
    jmp_buf spot, *saved;
    *taken = *refused = 0;
    if (TWI_GUARD(&s->ctx->mem, spot, saved)) {
        TWI_UNGUARD(&s->ctx->mem, saved);
        return TW_ERR_MEMORY;
    }
    const tw_status status = import(s, &text, taken, refused);
    TWI_UNGUARD(&s->ctx->mem, saved);
    return status;
}
