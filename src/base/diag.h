/* SPDX-License-Identifier: Apache-2.0
 * Diagnostics: a stable code, a place, a text that names what the user wrote, and what would be
 * right. Collected in order; printing (caret lines, JSON) is up to who shows them.
 */
#ifndef TWI_BASE_DIAG_H
#define TWI_BASE_DIAG_H

#include "base/strbuf.h"
#include "base/vec.h"

/* Places are (file, byte offset); line and column are computed when one is shown. */
typedef struct {
    uint32_t file, at;
} twi_loc; /* file 0: no place */
typedef struct {
    const char *name, *text;
    size_t n;
    uint32_t line0;
} twi_file;
typedef enum { TWI_ERROR, TWI_WARNING, TWI_NOTE } twi_severity;
typedef struct twi_diag {
    uint16_t code; /* E0123; see diag.def */
    uint8_t severity;
    twi_loc loc;
    const char *text, *help; /* help may be NULL */
} twi_diag;

typedef struct twi_diags {
    twi_arena *arena;
    TWI_VEC(twi_file) files; /* file id = index + 1 */
    TWI_VEC(twi_diag) list;  /* at most 20 errors kept */
    uint32_t errors;         /* all, kept or not */
    uint32_t warnings;       /* likewise: at most 20 kept */
} twi_diags;

void twi_diags_init(twi_diags *d, twi_arena *arena);
/* Borrows the text. The same text under the same name is the same file, however often it is read.
 */
uint32_t twi_diags_file(twi_diags *d, const char *name, const char *text, size_t n);
void twi_error(twi_diags *d, uint16_t code, twi_loc loc, const char *help, const char *format, ...)
    TWI_PRINTF(5, 6);
void twi_warn(twi_diags *d, uint16_t code, twi_loc loc, const char *help, const char *format, ...)
    TWI_PRINTF(5, 6);
void twi_diags_clear(twi_diags *d); /* forgets the list, keeps the files */
/* 1-based line and column (column counts bytes); the line's text without its newline. */
void twi_loc_find(const twi_diags *d, twi_loc loc, uint32_t *line, uint32_t *column,
                  const char **text, size_t *n);
/* FILE:LINE:COL: error[E0123]: text / the line / caret / help: .. ; all, then a count of the rest
 */
void twi_diags_print(const twi_diags *d, twi_sb *out, bool color);

#endif
