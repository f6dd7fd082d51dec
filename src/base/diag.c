/* SPDX-License-Identifier: Apache-2.0
 * Diagnostics: collecting and showing. What a user can make long is bounded here: the number of
 * messages, each line of a message, and the part of a source line that is shown.
 */
#include "base/diag.h"

enum { KEPT = 20, MESSAGE_LINE = 300, SHOWN = 120 };

void twi_diags_init(twi_diags *d, twi_arena *arena) { *d = (twi_diags){.arena = arena}; }

static bool is_file(const twi_file *f, const char *name, const char *text, size_t n) {
    return f->text == text && f->n == n && strcmp(f->name, name) == 0;
}

uint32_t twi_diags_file(twi_diags *d, const char *name, const char *text, size_t n) {
    for (uint32_t k = d->files.n; k > 0; k--)
        if (is_file(&d->files.at[k - 1], name, text, n))
            return k;
    twi_file file = {.name = twi_strdup(d->arena, name), .text = text, .n = n};
    twi_push(d->arena, &d->files, file);
    twi_arena_keep(d->arena);
    return d->files.n;
}

void twi_diags_clear(twi_diags *d) {
    d->list.n = 0;
    d->errors = d->warnings = 0;
}

static bool continues(char c) {
    return ((unsigned char)c & 0xc0) == 0x80;
} /* inside a UTF-8 char */

/* Adds text with each overlong line cut in its middle: a name of a megabyte must not drown the
 * rest. */
static void add_bounded(twi_sb *sb, const char *text) {
    while (*text) {
        size_t n = strcspn(text, "\n"), head = MESSAGE_LINE / 2, tail = n - MESSAGE_LINE / 2;
        if (n <= MESSAGE_LINE) {
            twi_sb_add(sb, text, n);
        } else {
            while (head && continues(text[head]))
                head--;
            while (tail < n && continues(text[tail]))
                tail++;
            twi_sb_add(sb, text, head);
            twi_sb_str(sb, "[...]");
            twi_sb_add(sb, text + tail, n - tail);
        }
        text += n;
        if (*text == '\n')
            twi_sb_char(sb, *text++);
    }
}

static char *bounded(twi_arena *arena, const char *text) {
    twi_sb sb;
    twi_sb_init(&sb, arena);
    twi_sb_add(&sb, "", 0);
    add_bounded(&sb, text);
    return sb.at;
}

static void add(twi_diags *d, twi_diag diag, const char *format, va_list args) {
    twi_sb sb;
    twi_sb_init(&sb, d->arena);
    twi_sb_vprintf(&sb, format, args);
    diag.text = bounded(d->arena, sb.at);
    diag.help = diag.help ? bounded(d->arena, diag.help) : NULL;
    twi_push(d->arena, &d->list, diag);
    twi_arena_keep(d->arena);
}

void twi_error(twi_diags *d, uint16_t code, twi_loc loc, const char *help, const char *format,
               ...) {
    if (d->errors++ >= KEPT)
        return;
    va_list args;
    va_start(args, format);
    add(d, (twi_diag){.code = code, .severity = TWI_ERROR, .loc = loc, .help = help}, format, args);
    va_end(args);
}

void twi_warn(twi_diags *d, uint16_t code, twi_loc loc, const char *help, const char *format, ...) {
    if (d->warnings++ >= KEPT)
        return;
    va_list args;
    va_start(args, format);
    add(d, (twi_diag){.code = code, .severity = TWI_WARNING, .loc = loc, .help = help}, format,
        args);
    va_end(args);
}

void twi_loc_find(const twi_diags *d, twi_loc loc, uint32_t *line, uint32_t *column,
                  const char **text, size_t *n) {
    *line = *column = 0;
    *text = "";
    *n = 0;
    if (loc.file == 0 || loc.file > d->files.n)
        return;
    const twi_file *file = &d->files.at[loc.file - 1];
    size_t at = loc.at < file->n ? loc.at : file->n, start = 0, end = at;
    *line = file->line0 + 1;
    for (size_t i = 0; i < at; i++) {
        if (file->text[i] == '\n') {
            ++*line;
            start = i + 1;
        }
    }
    while (end < file->n && file->text[end] != '\n')
        end++;
    if (end > start && file->text[end - 1] == '\r' && end - 1 >= at)
        end--;
    *column = (uint32_t)(at - start) + 1;
    *text = file->text + start;
    *n = end - start;
}

/* A terminal must not be steered by a source: control characters show as '?', tabs as a space. */
static void add_visible(twi_sb *out, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        twi_sb_char(out, c == '\t' ? ' ' : c < 0x20 || c == 0x7f ? '?' : text[i]);
    }
}

static void add_caret(twi_sb *out, const char *text, size_t n, size_t caret, const char *red,
                      const char *plain) {
    size_t from = 0, to = n;
    if (n > SHOWN) {
        from = caret > SHOWN / 2 ? caret - SHOWN / 2 : 0;
        if (from > n - SHOWN)
            from = n - SHOWN;
        to = from + SHOWN;
        while (from && continues(text[from]))
            from--;
        while (to < n && continues(text[to]))
            to++;
    }
    twi_sb_str(out, from ? "  ..." : "  ");
    add_visible(out, text + from, to - from);
    twi_sb_str(out, to < n ? "...\n" : "\n");
    twi_sb_str(out, from ? "     " : "  ");
    for (size_t i = from; i < caret; i++)
        if (!continues(text[i]))
            twi_sb_char(out, ' ');
    twi_sb_printf(out, "%s^%s\n", red, plain);
}

/* Later lines of a message stand two columns in, under the first. */
static void add_lines(twi_sb *out, const char *text) {
    for (;;) {
        size_t n = strcspn(text, "\n");
        add_visible(out, text, n);
        twi_sb_char(out, '\n');
        text += n;
        if (*text == 0 || *++text == 0)
            return;
        twi_sb_str(out, "  ");
    }
}

static void print_one(const twi_diags *d, const twi_diag *diag, twi_sb *out, bool color) {
    static const char *const word[] = {"error", "warning", "note"};
    static const char *const hue[] = {"\x1b[1;31m", "\x1b[1;33m", "\x1b[1;36m"};
    const char *red = color ? hue[diag->severity] : "", *plain = color ? "\x1b[0m" : "";
    const char *bold = color ? "\x1b[1m" : "";
    uint32_t line, column;
    const char *text;
    size_t n;
    twi_loc_find(d, diag->loc, &line, &column, &text, &n);
    if (line)
        twi_sb_printf(out, "%s%s:%u:%u:%s ", bold, d->files.at[diag->loc.file - 1].name,
                      (unsigned)line, (unsigned)column, plain);
    twi_sb_printf(out, "%s%s[E%04u]:%s ", red, word[diag->severity], (unsigned)diag->code, plain);
    add_lines(out, diag->text);
    if (line)
        add_caret(out, text, n, column - 1, red, plain);
    if (diag->help) {
        twi_sb_str(out, "  help: ");
        add_lines(out, diag->help);
    }
}

static void add_rest(twi_sb *out, uint32_t all, const char *what) {
    if (all > KEPT)
        twi_sb_printf(out, "%u more %s%s\n", (unsigned)(all - KEPT), what,
                      all - KEPT == 1 ? "" : "s");
}

void twi_diags_print(const twi_diags *d, twi_sb *out, bool color) {
    for (uint32_t i = 0; i < d->list.n; i++)
        print_one(d, &d->list.at[i], out, color);
    add_rest(out, d->errors, "error");
    add_rest(out, d->warnings, "warning");
}
