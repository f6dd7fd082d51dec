/* SPDX-License-Identifier: Apache-2.0
 * Names by open addressing: a slot holds a symbol, 0 is a free slot (the empty text needs none).
 * The table is at most half full. Texts may hold NUL bytes: lengths are kept and compared.
 */
#include "base/intern.h"

#include "base/hash.h"

void twi_names_init(twi_names *names, twi_arena *arena) {
    *names = (twi_names){.arena = arena, .cap = 16, .slots = 32};
    names->text = TWI_NEW_N(arena, const char *, names->cap);
    names->length = TWI_NEW_N(arena, uint32_t, names->cap);
    names->slot = TWI_NEW_N(arena, uint32_t, names->slots);
    names->text[0] = "";
    names->n = 1;
}

/* The slot that holds the text, or the free one where it belongs. */
static uint32_t find_slot(const twi_names *names, const uint32_t *slot, uint32_t slots,
                          const char *text, size_t n) {
    uint32_t at = (uint32_t)twi_hash(text, n, 0) & (slots - 1);
    while (slot[at]) {
        twi_sym sym = slot[at];
        if (names->length[sym] == n && memcmp(names->text[sym], text, n) == 0)
            break;
        at = (at + 1) & (slots - 1);
    }
    return at;
}

twi_sym twi_lookup(const twi_names *names, const char *text, size_t n) {
    return n ? names->slot[find_slot(names, names->slot, names->slots, text, n)] : 0;
}

static void grow(twi_names *names) {
    if (names->n > INT32_MAX / 4)
        twi_mem_fail(names->arena->mem);
    uint32_t cap = names->cap * 2, slots = names->slots * 2;
    const char **text = TWI_NEW_N(names->arena, const char *, cap);
    uint32_t *length = TWI_NEW_N(names->arena, uint32_t, cap);
    uint32_t *slot = TWI_NEW_N(names->arena, uint32_t, slots);
    memcpy(text, names->text, names->n * sizeof *text);
    memcpy(length, names->length, names->n * sizeof *length);
    for (uint32_t sym = 1; sym < names->n; sym++)
        slot[find_slot(names, slot, slots, text[sym], length[sym])] = sym;
    names->text = text;
    names->length = length;
    names->slot = slot;
    names->cap = cap;
    names->slots = slots;
}

twi_sym twi_intern(twi_names *names, const char *text, size_t n) {
    if (n == 0)
        return 0;
    if (n >= UINT32_MAX)
        twi_mem_fail(names->arena->mem);
    uint32_t at = find_slot(names, names->slot, names->slots, text, n);
    if (names->slot[at])
        return names->slot[at];
    if (names->n == names->cap) { /* then the table is half full too */
        grow(names);
        at = find_slot(names, names->slot, names->slots, text, n);
    }
    names->text[names->n] = twi_strndup(names->arena, text, n);
    names->length[names->n] = (uint32_t)n;
    names->slot[at] = names->n;
    twi_arena_keep(names->arena);
    return names->n++;
}

twi_sym twi_intern_str(twi_names *names, const char *text) {
    return twi_intern(names, text, strlen(text));
}

const char *twi_text(const twi_names *names, twi_sym sym) {
    return sym < names->n ? names->text[sym] : "";
}
