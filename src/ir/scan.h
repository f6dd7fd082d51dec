/* SPDX-License-Identifier: Apache-2.0
 * Reading tile IR text: the scanner, and expressions. parse.c has the grammar above it. The first
 * error stops everything: `failed` is set, and every function then returns at once.
 */
#ifndef TWI_IR_SCAN_H
#define TWI_IR_SCAN_H

#include "ir/codes.h"
#include "ir/whole.h"

typedef struct {
    const char *at;
    size_t n;
} twi_word;
typedef struct {
    uint32_t *id; /* by symbol; 0: none */
    uint32_t cap;
} twi_symbols;

typedef struct twi_scan {
    tw_ir *ir;
    twi_arena *arena;
    const char *text;
    size_t n, at;
    uint32_t file, region; /* region being read */
    uint32_t depth;        /* of parentheses */
    bool failed;
    twi_symbols dims, arrays, scalars, values;
} twi_scan;

twi_loc twi_scan_loc(const twi_scan *s);
void twi_scan_fail(twi_scan *s, uint16_t code, const char *format, ...) TWI_PRINTF(3, 4);
void twi_scan_blanks(twi_scan *s);                /* spaces and # comments, not newlines */
bool twi_scan_try(twi_scan *s, const char *text); /* a word as a whole, or punctuation */
void twi_scan_need(twi_scan *s, const char *text);
bool twi_scan_line_end(twi_scan *s); /* newline, } or the text's end comes next */
void twi_scan_newline(twi_scan *s);  /* one or more */
twi_word twi_scan_name(twi_scan *s); /* letters, digits, _ and . inside */
twi_word twi_scan_word(twi_scan *s); /* up to a blank, comma, bracket */
bool twi_scan_is(twi_word word, const char *text);
int64_t twi_scan_int(twi_scan *s);
twi_sym twi_scan_sym(twi_scan *s);

uint32_t twi_symbols_get(const twi_symbols *t, twi_sym sym);
void twi_symbols_set(twi_scan *s, twi_symbols *t, twi_sym sym, uint32_t id); /* twice is an error */

tw_elem twi_scan_elem(twi_scan *s);
uint64_t twi_scan_bits(twi_scan *s, tw_elem elem);
uint32_t twi_scan_num(twi_scan *s);
twi_ix twi_scan_ix(twi_scan *s);
uint32_t twi_scan_axis(twi_scan *s); /* one that is seen here */
twi_id twi_scan_value(twi_scan *s);
uint64_t twi_scan_axes(twi_scan *s); /* {i, j} or nothing */

#endif
