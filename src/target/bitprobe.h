/* SPDX-License-Identifier: Apache-2.0
 * The bit probe: operations on 2^16 operands (specials, subnormals, random patterns) on a target,
 * their results hashed and compared with what IEEE arithmetic gives. What fails is a capability
 * (caps.probe); canonical plans need a target without failures.
 */
#ifndef TWI_TARGET_BITPROBE_H
#define TWI_TARGET_BITPROBE_H

#include "target/target.h"

/* Bits of caps.probe. */
typedef enum {
    TWI_PROBE_ARITH = 1,
    TWI_PROBE_DIVIDE = 2,
    TWI_PROBE_FMA = 4,
    TWI_PROBE_ORDER = 8,
    TWI_PROBE_FUNCTION = 16,
    TWI_PROBE_DOUBLE = 32,
    TWI_PROBE_INTEGER = 64,
    TWI_PROBE_CAST = 128,
    TWI_PROBE_NARROW = 256
} twi_probe_class;

typedef struct {
    const char *name; /* "add f32", "cast f32 f16" */
    uint32_t class;
    uint64_t right, got;
} twi_probe_row;

/* Builds and runs the probe; sets t->caps.probe to the classes that failed. rows (arena's, *n of
 * them) may be NULL. Anything but TW_OK: it could not be built or run (diagnostics). Takes under a
 * second with a compiler. */
tw_status twi_bit_probe(twi_target *t, twi_arena *arena, const twi_probe_row **rows, unsigned *n);

#endif
