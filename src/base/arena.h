/* SPDX-License-Identifier: Apache-2.0
 * Arenas: zeroed memory that is released all at once. One per lifetime (context, program, pass).
 * twi_alloc never returns NULL (see mem.h). Sanitizer builds poison what a reset gave back.
 */
#ifndef TWI_BASE_ARENA_H
#define TWI_BASE_ARENA_H

#include "base/mem.h"
#include <stdbool.h>
#include <string.h>

typedef struct twi_block twi_block;
typedef struct twi_arena {
    twi_mem *mem;
    twi_block *block; /* newest first */
    twi_block *spare; /* popped, for the next need; or NULL */
    size_t used;      /* in the newest block */
    uint32_t kept;    /* calls of twi_arena_keep */
} twi_arena;
typedef struct {
    twi_block *block;
    size_t used;
    uint32_t kept;
} twi_mark;

void twi_arena_init(twi_arena *a, twi_mem *mem);
void twi_arena_fini(twi_arena *a);
twi_mark twi_arena_mark(const twi_arena *a);
/* Frees all that came after the mark (one block is held for what comes); nothing, if some of it is
 * kept. */
void twi_arena_reset(twi_arena *a, twi_mark to);
/* What was taken until now lives as long as the arena: a diagnostic or a name made between a mark
 * and its reset stays whole. */
void twi_arena_keep(twi_arena *a);
void *twi_alloc(twi_arena *a, size_t size); /* zeroed, aligned to 16 */
void *twi_alloc_raw(twi_arena *a, size_t size, bool zero);
void *twi_alloc_n(twi_arena *a, size_t n, size_t size); /* n * size; overflow counts as no memory */
void *twi_copy(twi_arena *a, const void *from, size_t size);
char *twi_strdup(twi_arena *a, const char *text);
char *twi_strndup(twi_arena *a, const char *text, size_t n);

#define TWI_NEW(a, T) ((T *)twi_alloc((a), sizeof(T)))
#define TWI_NEW_N(a, T, n) ((T *)twi_alloc_n((a), (n), sizeof(T)))

#endif
