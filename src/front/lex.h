/* SPDX-License-Identifier: Apache-2.0
 * Tokens of the tile language. Newlines are tokens; the parser skips them inside ( ) and [ ].
 */
#ifndef TWI_FRONT_LEX_H
#define TWI_FRONT_LEX_H

#include "front/ast.h"

typedef enum twi_t {
    TWI_T_END,
    TWI_T_NEWLINE,
    TWI_T_NAME,
    TWI_T_INT,
    TWI_T_REAL,
#define TWI_TOKEN(NAME, spelling) TWI_T_##NAME,
#include "front/token.def"
#undef TWI_TOKEN
    TWI_T_COUNT
} twi_t;

typedef struct twi_token {
    uint8_t kind;
    uint32_t at, n;
    twi_sym name; /* NAME and words */
} twi_token;
typedef struct twi_tokens {
    twi_token *at;
    uint32_t n, cap;
} twi_tokens;

/* The last token is END. Bad bytes and numerals are reported and left out. */
void twi_lex(tw_program *p, twi_tokens *out);
const char *twi_token_text(unsigned kind); /* "')'", "a name", "the end of the line" */

#endif
