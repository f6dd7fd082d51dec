/* SPDX-License-Identifier: Apache-2.0
 * Prints loop IR as source: one emitter for all C-family dialects. A dialect is data and a few
 * hooks; what it does not speak was lowered before by loop/legalize.h, so emission never refuses a
 * legalized module.
 */
#ifndef TWI_EMIT_EMIT_H
#define TWI_EMIT_EMIT_H

#include "loop/loop.h"

typedef struct twi_dialect twi_dialect; /* dialect.h */
extern const twi_dialect twi_dialect_c;

/* The module's source: prelude parts and functions of entry 0 first, then the rest, so that main's
 * text is a byte prefix. User names appear mangled (a prefix that no keyword or macro has). */
void twi_emit(const twi_loop *loop, const twi_dialect *dialect, twi_sb *out);
/* The name that a function has in the source: "K_softmax_main". */
const char *twi_emit_name(const twi_loop *loop, const twi_dialect *dialect, uint32_t func,
                          twi_arena *arena);
/* Bytes of scratch memory (aligned to 64) that a thread gives to a function. */
uint64_t twi_emit_scratch(const twi_func *f);

#endif
