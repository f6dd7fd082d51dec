/* SPDX-License-Identifier: Apache-2.0
 * Texts that took long to work out and may be wanted again, by a key that says all that they depend
 * on. Where there is no room for one more, all are forgotten.
 */
#ifndef TWI_BASE_NOTES_H
#define TWI_BASE_NOTES_H

#include "base/arena.h"

enum { TWI_NOTES = 64 };
typedef struct {
    uint64_t hash;
    const char *key, *text;
} twi_note;
typedef struct {
    twi_arena arena;
    unsigned n;
    twi_note at[TWI_NOTES];
} twi_notes;

void twi_notes_init(twi_notes *notes, twi_mem *mem);
void twi_notes_fini(twi_notes *notes);
const char *twi_notes_find(const twi_notes *notes, const char *key);     /* NULL: none; borrowed */
void twi_notes_add(twi_notes *notes, const char *key, const char *text); /* copies */

#endif
