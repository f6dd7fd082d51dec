/* SPDX-License-Identifier: Apache-2.0
 * Arrays of a module as the interpreter takes them: row-major, without gaps.
 */
#ifndef TEST_LOOP_DENSE_H
#define TEST_LOOP_DENSE_H

#include "loop/interp.h"

/* With its bytes in *bytes (NULL: not asked for). */
static inline twi_interp_array dense_array(twi_arena *arena, const twi_larray *a, void *data,
                                           size_t *bytes) {
    int64_t *stride = TWI_NEW_N(arena, int64_t, TWI_MAX_RANK), step = 1;
    for (unsigned d = a->rank; d-- > 0;) {
        stride[d] = step;
        step *= a->extent[d];
    }
    if (bytes)
        *bytes = (size_t)step * tw_elem_size((tw_elem)a->elem);
    return (twi_interp_array){data, a->extent, stride};
}

#endif
