/* SPDX-License-Identifier: Apache-2.0
 * Prints loop IR as source: one emitter for all C-family dialects. A dialect is data and a few
 * hooks; what it does not speak was lowered before by loop/legalize.h, so emission never refuses a
 * legalized module.
 */
#ifndef TWI_EMIT_EMIT_H
#define TWI_EMIT_EMIT_H

#include "loop/loop.h"

typedef struct twi_dialect twi_dialect; /* dialect.h */
extern const twi_dialect twi_dialect_c, twi_dialect_opencl, twi_dialect_cuda;

/* The module's source: prelude parts and functions of entry 0 first, then the rest, so that main's
 * text is a byte prefix. User names appear mangled (a prefix that no keyword or macro has). */
void twi_emit(const twi_loop *loop, const twi_dialect *dialect, twi_sb *out);
/* What has become of a module already. */
typedef struct twi_printed {
    const twi_loop *loop, *lawful; /* as it was made; legalized */
    const twi_dialect *dialect;
    const char *text;
    size_t n;
} twi_printed;
/* Several modules of one context in one text: what two of them need stands there once. Names of
 * functions must differ. */
void twi_emit_all(const twi_loop *const *loop, uint32_t n, const twi_dialect *dialect, twi_sb *out);
/* The name that a function has in the source: "K_softmax_main". */
const char *twi_emit_name(const twi_loop *loop, const twi_dialect *dialect, uint32_t func,
                          twi_arena *arena);
/* SIMT: what a kernel takes, in the order of its parameters. func is a legalized one, as it was
 * emitted. ARRAY: a pointer to element 0, but in OpenCL, where an OFFSET of
 * the same array follows: element 0 stands that many elements (64 bits) behind it. SCALAR: a value
 * of its type (bool: one byte); STRIDE (in elements), TRIP: 64 bits; FIRST: 64 bits, the group
 * number that the launch's first group has. */
typedef enum {
    TWI_PASS_ARRAY,
    TWI_PASS_OFFSET,
    TWI_PASS_SCALAR,
    TWI_PASS_STRIDE,
    TWI_PASS_TRIP,
    TWI_PASS_FIRST
} twi_pass_kind;
typedef struct {
    uint8_t kind, dim;
    uint32_t id; /* array, scalar (tile IR ids) or trip */
} twi_pass;
unsigned twi_emit_passed(const twi_func *f, const twi_dialect *dialect, twi_arena *arena,
                         twi_pass **out);
/* SIMT: bytes of shared memory that a group uses; a CUDA launch gives them. Workers of a group
 * stand in one row: lane = number % lanes, subgroup = number / lanes. */
uint64_t twi_emit_shared(const twi_func *f);

/* Bytes of scratch memory (aligned to 64) that a thread gives to a function. */
uint64_t twi_emit_scratch(const twi_func *f);

#endif
