/* SPDX-License-Identifier: Apache-2.0
 * Names as small integers: two equal texts have one symbol. Symbol 0 is "no name" (empty text).
 */
#ifndef TWI_BASE_INTERN_H
#define TWI_BASE_INTERN_H

#include "base/arena.h"

typedef uint32_t twi_sym;
typedef struct twi_names {
    twi_arena *arena;
    const char **text; /* by symbol, NUL-terminated */
    uint32_t *length;  /* by symbol: texts may hold NUL bytes */
    uint32_t n, cap;
    uint32_t *slot; /* open hash table of symbols */
    uint32_t slots;
} twi_names;

void twi_names_init(twi_names *names, twi_arena *arena);
twi_sym twi_intern(twi_names *names, const char *text, size_t n);
twi_sym twi_intern_str(twi_names *names, const char *text);
twi_sym twi_lookup(const twi_names *names, const char *text, size_t n); /* 0 if never interned */
const char *twi_text(const twi_names *names, twi_sym sym);

#endif
