/* SPDX-License-Identifier: Apache-2.0
 * A scope whose one fold is a matrix product.
 */
#ifndef TWI_SEARCH_MATRIX_H
#define TWI_SEARCH_MATRIX_H

#include "search/view.h"

typedef struct {
    twi_id dot;
    unsigned m, n, k; /* n: the one that walks along the stored array */
} twi_matrix;

/* Explicit lanes: register tiles, one after the other over blocks of packed panels (panels.c). */
void twi_propose_panels(twi_offers *o, const twi_matrix *x);
/* Are boxes of the load side by side as they are in its array, whole ones, and rows at even steps?
 * Then tiles read them there. */
bool twi_lies_in_boxes(const twi_view *v, const twi_matrix *x, twi_id load, int64_t box);
/* The loads that the dot consumes, through local values. */
void twi_matrix_loads(const twi_view *v, twi_id id, twi_id_list *out);

#endif
