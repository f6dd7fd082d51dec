/* SPDX-License-Identifier: Apache-2.0
 * A list, looked through by hash: few texts, each worth milliseconds.
 */
#include "base/notes.h"

#include "base/hash.h"

void twi_notes_init(twi_notes *notes, twi_mem *mem) {
    notes->n = 0;
    twi_arena_init(&notes->arena, mem);
}

void twi_notes_fini(twi_notes *notes) {
    notes->n = 0;
    twi_arena_fini(&notes->arena);
}

const char *twi_notes_find(const twi_notes *notes, const char *key) {
    const uint64_t hash = twi_hash(key, strlen(key), 0);
    for (unsigned k = 0; k < notes->n; k++)
        if (notes->at[k].hash == hash && strcmp(notes->at[k].key, key) == 0)
            return notes->at[k].text;
    return NULL;
}

void twi_notes_add(twi_notes *notes, const char *key, const char *text) {
    if (notes->n == TWI_NOTES)
        twi_notes_fini(notes);
    notes->at[notes->n] = (twi_note){.hash = twi_hash(key, strlen(key), 0),
                                     .key = twi_strdup(&notes->arena, key),
                                     .text = twi_strdup(&notes->arena, text)};
    notes->n++; /* last: memory may have run out before */
}
