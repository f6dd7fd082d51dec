/* SPDX-License-Identifier: Apache-2.0
 * Text under construction, and numbers as text. Nothing here depends on the host's locale: printed
 * floats are the shortest decimal that reads back to the same value (inf, nan, -0.0 included).
 */
#ifndef TWI_BASE_STRBUF_H
#define TWI_BASE_STRBUF_H

#include "base/arena.h"
#include <stdarg.h>

#if defined(__GNUC__)
#define TWI_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TWI_PRINTF(fmt, args)
#endif

typedef struct twi_sb {
    twi_arena *arena;
    char *at; /* always NUL-terminated once anything was added */
    size_t n, cap;
} twi_sb;

void twi_sb_init(twi_sb *sb, twi_arena *arena);
void twi_sb_add(twi_sb *sb, const char *text, size_t n);
void twi_sb_str(twi_sb *sb, const char *text);
void twi_sb_char(twi_sb *sb, char c);
void twi_sb_printf(twi_sb *sb, const char *format, ...) TWI_PRINTF(2, 3); /* no float formats */
void twi_sb_vprintf(twi_sb *sb, const char *format, va_list args);
void twi_sb_f64(twi_sb *sb, double v); /* shortest decimal: 1, 0.1, 1e-05, -0, inf, nan */
void twi_sb_f32(twi_sb *sb, float v);
void twi_sb_fixed(twi_sb *sb, double v, int digits); /* for tables: 12.3 */
void twi_sb_pad(twi_sb *sb, size_t column);          /* spaces up to a column of the current line */
const char *twi_sb_text(twi_sb *sb);                 /* "" when empty */

char *twi_format(twi_arena *arena, const char *format, ...) TWI_PRINTF(2, 3);

/* Whole text must be the number; false otherwise. Decimal, 0x1p-3, inf, nan, signs. */
bool twi_parse_f64(const char *text, size_t n, double *v);
bool twi_parse_i64(const char *text, size_t n, int64_t *v); /* decimal or 0x..; false on overflow */

#endif
