/* SPDX-License-Identifier: Apache-2.0
 * Reading plan text line by line; also used for pins, which are such lines.
 */
#ifndef TWI_PLAN_PARSE_H
#define TWI_PLAN_PARSE_H

#include "plan/plan.h"

typedef struct {
    tw_context *ctx;
    twi_arena *arena;
    const tw_ir *ir;
    uint32_t file;
    const char *text;
    size_t at, end;  /* rest of the line; end is behind its last character */
    size_t tok, len; /* the word read last; len 0: the line was at its end */
    bool ok;
    twi_plan *p;       /* the scope's plan that lines add to */
    uint32_t par;      /* its PAR region */
    const char *split; /* second launch: the fold that names its block */
    bool quiet;        /* faults are not reported */
    twi_why *why;      /* or NULL: the first fault goes there */
    bool again; /* what is said again holds, and a frame keeps the maps it does not name (pins) */
} twi_plan_reader;

/* Lines of one scope; the word before is read already. False: a diagnostic says why (and r->ok is
 * false). */
bool twi_plan_read_frame(twi_plan_reader *r);
/* Pairs of axes; from here on r->ir is what their joining makes of the program. */
bool twi_plan_read_joins(twi_plan_reader *r);
bool twi_plan_read_value(twi_plan_reader *r);
bool twi_plan_read_stage(twi_plan_reader *r);
bool twi_plan_read_launch(twi_plan_reader *r);
bool twi_plan_read_entry(twi_plan_reader *r);

/* Words: runs without spaces and , ; : = ; each of these four is a word by itself. */
bool twi_plan_next(twi_plan_reader *r);
bool twi_plan_is(const twi_plan_reader *r, const char *word);
/* Takes the next word if it is this one. */
bool twi_plan_take(twi_plan_reader *r, const char *word);
bool twi_plan_expect(twi_plan_reader *r, const char *word);
bool twi_plan_fail(twi_plan_reader *r, unsigned code, const char *format, ...) TWI_PRINTF(3, 4);

#endif
