/* SPDX-License-Identifier: Apache-2.0
 * Inside of the builder: what its files share. Handles of the public interface are ids of the IR
 * under construction; a failed call has said why, marked the builder, and gives 0.
 */
#ifndef TWI_IR_BUILD_H
#define TWI_IR_BUILD_H

#include "ir/codes.h"
#include "ir/ir.h"
#include "tilewright/build.h"

typedef struct {
    uint32_t ins, args, access, constant, axis, region, heads, copies;
    uint32_t current, body; /* the region, and how much of its body there was */
} twi_build_mark;
typedef struct {
    twi_id from, to;
} twi_build_copy;

struct tw_builder {
    tw_context *ctx;
    twi_arena arena; /* the IR under construction too */
    tw_ir *ir;
    bool failed;
    bool unranged; /* an axis got another range than it was given: nothing is proved of it */
    twi_loc loc;
    uint32_t current; /* region where instructions go */
    TWI_VEC(uint32_t)
    home; /* of each value: its region; the root's are templates, see twi_build_use */
    TWI_VEC(twi_id) heads; /* copies of templates in the scope being built: they open its body */
    TWI_VEC(twi_build_copy) copies; /* which template each of them is a copy of */
    TWI_VEC(twi_build_mark) marks;
};

/* Public entries: errors stick, and running out of memory is one of them. */
#define BUILD_ENTER(b, otherwise)                                                                  \
    jmp_buf spot, *saved;                                                                          \
    if (!(b) || !(b)->ir)                                                                          \
        return otherwise;                                                                          \
    if (TWI_GUARD(&(b)->ctx->mem, spot, saved)) {                                                  \
        TWI_UNGUARD(&(b)->ctx->mem, saved);                                                        \
        twi_build_no_memory(b);                                                                    \
        return otherwise;                                                                          \
    }
#define BUILD_LEAVE(b) TWI_UNGUARD(&(b)->ctx->mem, saved)
#define BUILD_NOTHING /* what a void function returns */

void twi_build_no_memory(tw_builder *b); /* the IR is gone; later calls do nothing */
void twi_build_fail(tw_builder *b, uint16_t code, const char *help, const char *format, ...)
    TWI_PRINTF(4, 5);
bool twi_build_is_name(const char *name);
twi_sym twi_build_sym(tw_builder *b, const char *name,
                      const char *what); /* 0: not a name, said so */

/* The value as the scope being built may use it; 0 after saying why not (silently for 0). */
twi_id twi_build_use(tw_builder *b, tw_value x);
/* A new instruction in the current region; args are used values. */
twi_id twi_build_put(tw_builder *b, twi_ins ins, const twi_id *args, uint32_t nargs);
uint32_t twi_build_scope(const tw_builder *b); /* the PAR around the current place; 0: none */
bool twi_build_open(const tw_builder *b, uint32_t region); /* the current region or one around it */
/* Are all axes of an index expression known here? Says why not. */
bool twi_build_ix_here(tw_builder *b, twi_ix x);
twi_id twi_build_position(tw_builder *b, twi_ix x); /* an i64 value of it; 0: said why not */
bool twi_build_ix_valid(tw_builder *b, tw_ix x);
twi_type twi_build_type(const tw_builder *b, twi_id v);
const char *twi_build_type_text(tw_builder *b, twi_type type);
const char *twi_build_axes(tw_builder *b, uint64_t axes); /* "{i, e}" */
const char *twi_build_ix_text(tw_builder *b, twi_ix x);
bool twi_build_elem_ok(tw_builder *b,
                       tw_elem elem); /* a type this release builds; says so if not */
twi_id twi_build_convert(tw_builder *b, tw_elem elem, twi_id x); /* CAST where types differ */
twi_id twi_build_constant(tw_builder *b, tw_elem elem, uint32_t num);
bool twi_build_order(tw_builder *b, tw_order order, uint8_t *out);

#endif
