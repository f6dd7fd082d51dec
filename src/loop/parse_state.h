/* SPDX-License-Identifier: Apache-2.0
 * What the two files of the parser share.
 */
#ifndef TWI_LOOP_PARSE_STATE_H
#define TWI_LOOP_PARSE_STATE_H

#include "loop/lex.h"

typedef struct {
    twi_loc loc;
    uint32_t entry, step;
    twi_sym name;
} twi_launch_name; /* resolved when all functions are known */

typedef struct {
    twi_lex lex;
    twi_loop *loop;
    twi_cursor c;
    TWI_VEC(twi_lid) value; /* by symbol of the whole word ("%c5") */
    uint32_t sequence;      /* number that the next value has when printed */
    TWI_VEC(twi_launch_name) launch;
} twi_parser;

void twi_parse_body(twi_parser *p); /* up to and with the function's closing brace */

#endif
