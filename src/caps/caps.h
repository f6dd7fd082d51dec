/* SPDX-License-Identifier: Apache-2.0
 * What a target can do, as data: all that plans, lowering, legality and cost know of a machine.
 * Text form: one `key value..` a line, in the order of caps.def, after `caps NAME`; unknown keys
 * are errors.
 */
#ifndef TWI_CAPS_CAPS_H
#define TWI_CAPS_CAPS_H

#include "base/context.h"

typedef enum { TWI_FAMILY_CPU, TWI_FAMILY_SIMT } twi_family;
typedef struct twi_caps {
    twi_sym name;          /* "cpu", "simt32", "sm_90a" */
    uint8_t family;        /* cpu: explicit lanes; simt: implicit lanes */
    twi_sym isa;           /* cpu: "baseline", "avx2", "avx512", "neon"; else 0 */
    uint32_t vector_bytes; /* cpu: of a vector register: 16, 32, 64 */
    uint32_t registers;    /* cpu: vector registers; simt: 32-bit registers a worker */
    uint32_t lane;    /* simt: lanes of a subgroup (1: no lane operations); cpu: widest lane digit
                         (elements) */
    uint32_t sub;     /* subgroups a group at most */
    uint32_t workers; /* workers a group at most */
    uint32_t barrier_workers; /* a group whose workers wait for each other has at least so many */
    uint32_t shared;          /* bytes a group at most; 0: none */
    uint32_t private_bytes;   /* simt: of a worker's private arrays together, at most */
    uint32_t group_private_bytes; /* simt: of all workers of a group together, at most */
    uint32_t banks;               /* of shared memory, 4 bytes wide */
    uint32_t slots;               /* elements of unrolled code a value may have (M5) */
    uint32_t units;               /* cores or multiprocessors */
    /* simt: what a unit holds at once: workers, groups, registers, shared bytes; cpu: 1 1 0 0 */
    uint32_t unit_workers, unit_groups, unit_registers, unit_shared;
    uint32_t async_bytes;  /* of the widest copy into shared memory beside its worker; 0: none */
    uint32_t access_bytes; /* widest load or store of one worker (simt: 16; cpu: vector_bytes) */
    uint32_t cache_bytes;  /* simt: of the cache before far memory; cpu: a core's second level */
    bool indexable;        /* private arrays may be indexed at run time (M6) */
    bool fma;              /* hardware fused multiply-add */
    bool f16, bf16;        /* storage type spoken natively; else by integer operations */
    bool half_casts;       /* not spoken, but cast from and to f32 by instruction */
    bool f16_casts;        /* likewise f16 alone */
    bool dpi8, dpbf16;     /* dot products of bytes by fours, of bf16 by pairs (plan/atom.def); the
                              latter's extension rounds f32 to bf16 too */
    bool tdpbf16;          /* of tiles of bf16, which a process may use */
    bool lane_ops;         /* shuffles */
    uint32_t probe; /* bit probe: set of failed operation classes; 0: all as IEEE says; canonical
                       needs 0 */
    /* cost, analytic: nanoseconds */
    double op_ns[4];      /* by twi_price: FREE CHEAP DIV FUNC; cpu: one vector's op; simt: one
                             subgroup's, of all that a unit issues at once */
    double byte_ns;       /* a byte from or to far memory */
    double cache_byte_ns; /* simt: from the cache before it */
    double near_byte_ns;  /* cpu: from a cache that holds it */
    double latency_ns;    /* simt: from a load of far memory to its first use; cpu: of a jump
                             (lower.h), a MiB */
    double turn_ns;       /* simt: one turn of a unit's memory pipe: a request, 128 bytes of it, or
                             a word of each bank */
    double barrier_ns, launch_ns, lane_round_ns, group_ns, trip_ns;
    /* The least that anything takes there: an empty launch in a graph, a byte read from far memory,
     * one read or written by a copy, an f32 operation of an FMA (which is two). 0: not measured */
    double ceiling_launch_ns, ceiling_read_byte_ns, ceiling_copy_byte_ns, ceiling_flop_ns;
    /* Not part of the text: */
    const double *fitted; /* prices of the model by term (costs.h), measured here; NULL: analytic */
    bool reversed;        /* the model's order is turned around, to test who relies on it */
} twi_caps;

void twi_caps_default(twi_caps *caps);
void twi_caps_print(const tw_context *ctx, const twi_caps *caps, twi_sb *out);
bool twi_caps_parse(tw_context *ctx, const char *name, const char *text, size_t n,
                    twi_caps *caps); /* diagnostics */
/* Recorded targets built in: "cpu-baseline", "cpu-neon", "cpu-avx2", "cpu-avx512",
 * "cpu-avx512-dots", "cpu-avx512-tiles", "simt32", "simt4", "simt1", "sm_80", "sm_90a", "sm_100",
 * "opencl-a770" (also caps/NAME.caps). */
bool twi_caps_named(tw_context *ctx, const char *name, twi_caps *caps);

#endif
