/* SPDX-License-Identifier: Apache-2.0
 * Growth of arrays. A vector never holds 2^31 elements or more, so that n + 1 cannot wrap. What it
 * has room for is not set.
 */
#include "base/vec.h"

void *twi_vec_grow(twi_arena *a, void *at, uint32_t *cap, uint32_t need, size_t size) {
    if (need > INT32_MAX)
        twi_mem_fail(a->mem);
    uint32_t grown = *cap < 8 ? 8 : *cap + *cap / 2;
    if (grown < need)
        grown = need;
    const size_t held = (size_t)*cap * size, all = grown * size;
    if (size && grown > SIZE_MAX / size)
        twi_mem_fail(a->mem);
    char *p = twi_alloc_raw(a, all, false);
    if (held)
        memcpy(p, at, held);
    *cap = grown;
    return p;
}
