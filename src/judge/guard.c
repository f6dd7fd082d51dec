/* SPDX-License-Identifier: Apache-2.0
 * Guarded arrays: pages from mmap, which no allocator shares.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "judge/guard.h"

#include "oracle/oracle.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PATTERN = 0xc5, POISON = 0xa7 };

/* Row-major; strided: 2 elements apart, rows 3 more. */
static size_t lay_out(twi_guarded *g, bool strided) {
    int64_t next = strided ? 2 : 1, last = 0;
    g->n = 1;
    for (unsigned d = g->rank; d-- > 0;) {
        g->stride[d] = next;
        next = next * (g->extent[d] > 0 ? g->extent[d] : 1) + (strided ? 3 : 0);
        last += g->extent[d] > 0 ? (g->extent[d] - 1) * g->stride[d] : 0;
        g->n *= (size_t)g->extent[d];
    }
    return g->n ? (size_t)(last + 1) * g->size : 0;
}

bool twi_guard_make(twi_guarded *g, const tw_ir *ir, uint32_t array, twi_placing placing,
                    bool strided) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *g = (twi_guarded){.size = tw_elem_size((tw_elem)ir->array.at[array].elem),
                       .rank = ir->array.at[array].rank};
    (void)twi_array_extents(ir, array, g->extent);
    const size_t span = lay_out(g, strided);
    g->zone = (span + page - 1) / page * page + page; /* never without a zone */
    g->mapped = g->zone + 2 * page;
    void *map = mmap(NULL, g->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return false;
    g->map = map;
    memset(g->map + page, PATTERN, g->zone);
    g->data = placing == TWI_AT_START ? g->map + page : g->map + page + g->zone - span;
    return mprotect(g->map, page, PROT_NONE) == 0 &&
           mprotect(g->map + page + g->zone, page, PROT_NONE) == 0;
}

void twi_guard_free(twi_guarded *g) {
    if (g->map)
        (void)munmap(g->map, g->mapped);
    g->map = NULL;
}

/* Calls fn with the address of each element in row-major order. */
typedef void (*element_fn)(void *user, char *at, size_t k, size_t size);
static void each(const twi_guarded *g, char *base, element_fn fn, void *user) {
    int64_t at[TWI_MAX_RANK] = {0}, offset = 0;
    for (size_t k = 0; k < g->n; k++) {
        fn(user, base + offset * (int64_t)g->size, k, g->size);
        for (unsigned d = g->rank; d-- > 0;) {
            offset += g->stride[d];
            if (++at[d] < g->extent[d])
                break;
            offset -= at[d] * g->stride[d];
            at[d] = 0;
        }
    }
}

static void put(void *user, char *at, size_t k, size_t size) {
    memcpy(at, (const char *)user + k * size, size);
}
static void get(void *user, char *at, size_t k, size_t size) {
    memcpy((char *)user + k * size, at, size);
}
static void fill(void *user, char *at, size_t k, size_t size) {
    (void)k;
    memset(at, *(const int *)user, size);
}

void twi_guard_put(twi_guarded *g, const void *dense) {
    int poison = POISON;
    union {
        const void *in;
        void *out;
    } from = {dense};
    each(g, g->data, dense ? put : fill, dense ? from.out : &poison);
}

void twi_guard_get(const twi_guarded *g, void *dense) { each(g, g->data, get, dense); }

bool twi_guard_intact(const twi_guarded *g, int64_t *at) {
    const size_t page = (g->mapped - g->zone) / 2, from = (size_t)(g->data - (g->map + page));
    void *copy = mmap(NULL, g->zone, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int pattern = PATTERN;
    *at = 0;
    if (copy == MAP_FAILED)
        return false;
    memcpy(copy, g->map + page, g->zone);
    each(g, (char *)copy + from, fill, &pattern);
    bool intact = true;
    for (size_t k = 0; k < g->zone && intact; k++) {
        intact = ((const unsigned char *)copy)[k] == PATTERN;
        *at = ((int64_t)k - (int64_t)from) / (int64_t)g->size - (k < from);
    }
    (void)munmap(copy, g->zone);
    return intact;
}
