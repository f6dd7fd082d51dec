/* SPDX-License-Identifier: Apache-2.0
 * Growable arrays inside an arena. What a vector outgrows stays in the arena until it is reset.
 *     TWI_VEC(int) v = {0};  twi_push(arena, &v, 7);  v.at[0];  v.n
 */
#ifndef TWI_BASE_VEC_H
#define TWI_BASE_VEC_H

#include "base/arena.h"

#define TWI_VEC(T)                                                                                 \
    struct {                                                                                       \
        T *at;                                                                                     \
        uint32_t n, cap;                                                                           \
    }

void *twi_vec_grow(twi_arena *a, void *at, uint32_t *cap, uint32_t need, size_t size);

#define twi_reserve(a, v, need)                                                                    \
    ((void)((v)->cap >= (need) ||                                                                  \
            ((v)->at = twi_vec_grow((a), (v)->at, &(v)->cap, (need), sizeof *(v)->at), 0)))
#define twi_push(a, v, value) (twi_reserve(a, v, (v)->n + 1u), (v)->at[(v)->n] = (value), (v)->n++)

#endif
