/* SPDX-License-Identifier: Apache-2.0
 * Text under construction. Numbers with a point are in num.c.
 */
#include "base/strbuf.h"

#include <stdio.h>

void twi_sb_init(twi_sb *sb, twi_arena *arena) { *sb = (twi_sb){.arena = arena}; }

/* Room for more bytes and a NUL; returns where they go. */
static char *room(twi_sb *sb, size_t more) {
    if (more > SIZE_MAX / 4 || sb->n > SIZE_MAX / 4)
        twi_mem_fail(sb->arena->mem);
    if (sb->cap - sb->n <= more) {
        size_t cap = sb->cap < 64 ? 64 : sb->cap * 2;
        if (cap <= sb->n + more)
            cap = sb->n + more + 1;
        char *at = twi_alloc_raw(sb->arena, cap, false);
        if (sb->n)
            memcpy(at, sb->at, sb->n);
        sb->at = at;
        sb->cap = cap;
    }
    return sb->at + sb->n;
}

void twi_sb_add(twi_sb *sb, const char *text, size_t n) {
    char *to = room(sb, n);
    if (n)
        memcpy(to, text, n);
    to[n] = 0;
    sb->n += n;
}

void twi_sb_str(twi_sb *sb, const char *text) { twi_sb_add(sb, text, strlen(text)); }

void twi_sb_char(twi_sb *sb, char c) { twi_sb_add(sb, &c, 1); }

/* Nearly all texts are short: they are formatted once. */
void twi_sb_vprintf(twi_sb *sb, const char *format, va_list args) {
    char brief[256];
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(brief, sizeof brief, format, again);
    va_end(again);
    if (n < 0)
        twi_mem_fail(sb->arena->mem); /* longer than an int can say */
    char *to = room(sb, (size_t)n);
    if ((size_t)n < sizeof brief)
        memcpy(to, brief, (size_t)n + 1);
    else
        (void)vsnprintf(to, (size_t)n + 1, format, args);
    sb->n += (size_t)n;
}

void twi_sb_printf(twi_sb *sb, const char *format, ...) {
    va_list args;
    va_start(args, format);
    twi_sb_vprintf(sb, format, args);
    va_end(args);
}

void twi_sb_pad(twi_sb *sb, size_t column) {
    size_t from = sb->n;
    while (from && sb->at[from - 1] != '\n')
        from--;
    size_t have = sb->n - from;
    if (have >= column)
        return;
    char *to = room(sb, column - have);
    memset(to, ' ', column - have);
    to[column - have] = 0;
    sb->n += column - have;
}

const char *twi_sb_text(twi_sb *sb) { return sb->at ? sb->at : ""; }

char *twi_format(twi_arena *arena, const char *format, ...) {
    twi_sb sb;
    twi_sb_init(&sb, arena);
    va_list args;
    va_start(args, format);
    twi_sb_vprintf(&sb, format, args);
    va_end(args);
    return sb.at;
}
