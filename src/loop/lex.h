/* SPDX-License-Identifier: Apache-2.0
 * Words of loop IR's text. Line ends are blanks; `;` starts a comment up to the line's end. An
 * error is sticky: after the first, everything reads as the end of the text.
 */
#ifndef TWI_LOOP_LEX_H
#define TWI_LOOP_LEX_H

#include "loop/loop.h"

typedef struct {
    tw_context *ctx;
    uint32_t file;
    const char *text;
    size_t n, at;     /* at: behind the current word */
    const char *word; /* current word; "" at the end */
    size_t length;
    uint32_t start;
    bool failed;
} twi_lex;

void twi_lex_init(twi_lex *x, tw_context *ctx, const char *name, const char *text, size_t n);
void twi_lex_next(twi_lex *x);
bool twi_lex_is(const twi_lex *x, const char *word);
bool twi_lex_take(twi_lex *x, const char *word);   /* steps over it if it is there */
void twi_lex_expect(twi_lex *x, const char *word); /* error if it is not */
twi_loc twi_lex_loc(const twi_lex *x);
void twi_lex_error(twi_lex *x, int code, const char *format, ...) TWI_PRINTF(3, 4);
int64_t twi_lex_int(twi_lex *x, int64_t least, int64_t most);
uint64_t twi_lex_bits(twi_lex *x, tw_elem elem); /* a constant as twi_loop_bits prints it */
tw_elem twi_lex_type(twi_lex *x, uint16_t *count);
twi_sym twi_lex_name(twi_lex *x); /* "-": none */
twi_sym twi_lex_unescaped(twi_lex *x, const char *text, size_t n);

#endif
