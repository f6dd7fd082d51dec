/* SPDX-License-Identifier: Apache-2.0
 * Least squares with coefficients that are not negative.
 */
#ifndef TWI_TUNE_NNLS_H
#define TWI_TUNE_NNLS_H

#include "base/arena.h"

/* min |A x - b| over x >= 0. A: rows x cols, row by row. Columns that others make up too may get 0;
 * columns of zeros do. False: it did not come to an end (x is the best so far). */
bool twi_nnls(twi_arena *arena, const double *a, const double *b, unsigned rows, unsigned cols,
              double *x);

#endif
