/* SPDX-License-Identifier: Apache-2.0
 * The parser's own parts. After an error `panic` is set: everything returns at once, NULL or false,
 * until the statement list finds the next statement. `fatal` ends the whole parse.
 */
#ifndef TWI_FRONT_PARSE_H
#define TWI_FRONT_PARSE_H

#include "front/lex.h"

typedef struct twi_parser {
    tw_program *p;
    twi_tokens token;
    uint32_t i;
    uint32_t nest;   /* inside ( ) or [ ]: newlines do not count */
    uint32_t depth;  /* of expressions being parsed */
    uint32_t blocks; /* of { } being parsed */
    bool panic, fatal;
    twi_kernel *kernel; /* being parsed; NULL in a function */
    bool head;          /* of that kernel's body */
} twi_parser;

const twi_token *twi_tok_peek(twi_parser *x);
const twi_token *twi_tok_peek_after(twi_parser *x); /* the one after */
const twi_token *twi_tok_next(twi_parser *x);
bool twi_tok_accept(twi_parser *x, twi_t kind);
bool twi_tok_expect(twi_parser *x, twi_t kind,
                    const char *where); /* where: "after the name of a kernel" */
twi_sym twi_tok_expect_name(twi_parser *x, const char *what, uint32_t *at);
void twi_parse_error(twi_parser *x, twi_code code, uint32_t at, const char *help, const char *text);
void twi_tok_open(twi_parser *x); /* after ( or [ */
bool twi_tok_close(twi_parser *x, twi_t kind);
void twi_tok_skip_newlines(twi_parser *x);

twi_x *twi_parse_x(twi_parser *x);
twi_x *twi_parse_list(twi_parser *x);           /* a | a, b: a tuple */
bool twi_parse_items(twi_parser *x, twi_x *to); /* after [ */
twi_x *twi_x_new(twi_parser *x, twi_x_kind kind, uint32_t at);
bool twi_parse_block(twi_parser *x, twi_list *out, const char *after);
void twi_parse_fn(twi_parser *x);
void twi_parse_kernel(twi_parser *x);
bool twi_parse_head_statement(twi_parser *x); /* param, requires, temp, numerics */

#endif
