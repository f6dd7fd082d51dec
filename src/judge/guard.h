/* SPDX-License-Identifier: Apache-2.0
 * An array between two pages that must not be touched. It starts right behind the first or ends
 * right before the second; what is left of the pages between, and the gaps between strided rows,
 * hold a pattern that must survive.
 */
#ifndef TWI_JUDGE_GUARD_H
#define TWI_JUDGE_GUARD_H

#include "ir/ir.h"

typedef enum { TWI_AT_START, TWI_AT_END } twi_placing;
typedef struct {
    size_t size; /* of an element */
    size_t n;    /* elements */
    unsigned rank;
    int64_t extent[TWI_MAX_RANK], stride[TWI_MAX_RANK]; /* in elements */
    char *map;                                          /* the pages, guards included */
    size_t mapped, zone; /* bytes of the mapping; of the part between the guards */
    char *data;          /* element 0 */
} twi_guarded;

/* strided: gaps between all elements and rows. False: no memory. */
bool twi_guard_make(twi_guarded *g, const tw_ir *ir, uint32_t array, twi_placing placing,
                    bool strided);
void twi_guard_free(twi_guarded *g);
void twi_guard_put(twi_guarded *g, const void *dense); /* NULL: poison */
void twi_guard_get(const twi_guarded *g, void *dense);
bool twi_guard_holds(const twi_guarded *g, const void *dense); /* these elements, to the bit? */
/* Is every byte that is no element as it was? Else *at says where, in elements from element 0. */
bool twi_guard_intact(const twi_guarded *g, int64_t *at);

#endif
