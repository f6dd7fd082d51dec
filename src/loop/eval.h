/* SPDX-License-Identifier: Apache-2.0
 * Elementwise operations over rows of elements, for the interpreter.
 */
#ifndef TWI_LOOP_EVAL_H
#define TWI_LOOP_EVAL_H

#include "loop/loop.h"

typedef struct {
    void *r;
    const void *a, *b, *c;
    size_t n;
} twi_rows;

/* r[k] = op(a[k], b[k], c[k]), k < n. elem: of the result; from: of a (SELECT: of b). False: there
 * is no such operation of these types. f16, bf16 values are 16-bit patterns; bools bytes 0 and 1.
 */
bool twi_eval(unsigned op, tw_elem elem, tw_elem from, const twi_rows *rows);
bool twi_eval_cast(tw_elem elem, tw_elem from, void *r, const void *a, size_t n);

#endif
