/* SPDX-License-Identifier: Apache-2.0
 * What outlives the process, as those see it who use it: the wisdom store (src/tune) hangs these
 * functions into a context. Nothing here fails: what is not there, damaged or unreadable is a miss,
 * what cannot be kept is dropped (the store says so once, as a warning).
 */
#ifndef TWI_BASE_SHELF_H
#define TWI_BASE_SHELF_H

#include "base/arena.h"

enum { TWI_SHELF_PATH = 4096 };

/* An object is named by all that went into it. */
typedef struct {
    const char *at;
    size_t n;
} twi_shelf_part;

/* Whom a stored plan is for. compiler NULL: whichever. */
typedef struct {
    const char *tile;    /* text of the specialised tile IR */
    const char *numeric; /* class, strides, pins: "free", "canonical strided" */
    const char *target, *device, *compiler;
    int threads; /* 0: all */
} twi_plan_key;
typedef struct {
    const char *text;
    uint64_t hash, source; /* of the plan; of the source that the oracle found right */
} twi_kept_plan;

typedef struct twi_shelf {
    void *user;
    bool rebuild; /* objects are made anew, and kept */
    /* The file that holds what was made of the parts. */
    bool (*object)(void *user, const twi_shelf_part *part, unsigned n, char path[TWI_SHELF_PATH]);
    void (*add_object)(void *user, const twi_shelf_part *part, unsigned n, const char *file);
    /* A short text by name; NULL: none. */
    const char *(*memo)(void *user, twi_arena *arena, const char *name);
    bool (*add_memo)(void *user, const char *name, const char *text); /* false: not kept */
    /* The plan that tuning chose. */
    bool (*plan)(void *user, twi_arena *arena, const twi_plan_key *key, twi_kept_plan *out);
} twi_shelf;

#endif
