/* SPDX-License-Identifier: Apache-2.0
 * What the verifier's files share: the function at hand and what is known of its values.
 */
#ifndef TWI_LOOP_VERIFY_STATE_H
#define TWI_LOOP_VERIFY_STATE_H

#include "loop/codes.h"
#include "loop/range.h"
#include "loop/rows.h"

typedef struct {
    twi_loop *loop;
    twi_func *f;
    uint32_t func;
    twi_arena *arena;
    int64_t groups;  /* most groups of a launch; 0: it is never launched */
    twi_lid *parent; /* by instruction: the FOR, UNROLL or IF it stands in; 0: the function */
    uint32_t *at;    /* position in the order of the text, from 1; 0: not linked in */
    uint32_t linked;
    twi_lid *order; /* by position - 1 */
    twi_span *span;
    uint8_t *control; /* V2: what decides whether an instruction runs (bits as in `varies`) */
    bool failed;
} twi_check;

void twi_check_fail(twi_check *c, int code, twi_lid v, const char *format, ...) TWI_PRINTF(4, 5);
static inline const twi_laccess *twi_check_access(const twi_check *c, twi_lid v) {
    return &c->f->access.at[c->f->ins.at[v].attr];
}
static inline bool twi_check_has_body(unsigned op) {
    return op == TWI_L_FOR || op == TWI_L_UNROLL || op == TWI_L_IF;
}
/* Is v inside the body of `body` (or of something in it)? */
bool twi_check_inside(const twi_check *c, twi_lid v, twi_lid body);
bool twi_check_never_runs(const twi_check *c, twi_lid v); /* in a body of no trip */

bool twi_check_objects(twi_check *c); /* V1 of objects; sizes that can be laid out */
bool twi_check_types(twi_check *c);   /* V1 of instructions; tables are safe to index afterwards */
void twi_check_varies(twi_check *c);  /* V2 */
void twi_check_memory(twi_check *c);  /* V3, V4, V7 */
void twi_check_align(twi_check *c);   /* V8 */
void twi_check_shared(twi_check *c);  /* V6 */

#endif
