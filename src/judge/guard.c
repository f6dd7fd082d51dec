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

/* Elements that lie next to each other, from the k-th in row-major order on. */
typedef struct {
    char *at;
    size_t k, bytes;
} run;

/* The next one (bytes 0: the first); addresses only grow. False: that was the last. */
static bool next_run(const twi_guarded *g, run *r) {
    unsigned outer = g->rank;
    size_t count = 1;
    while (outer > 0 && g->stride[outer - 1] == (int64_t)count)
        count *= (size_t)g->extent[--outer];
    r->k += r->bytes / g->size;
    if (r->k >= g->n)
        return false;
    size_t rest = r->k / count;
    int64_t offset = 0;
    for (unsigned d = outer; d-- > 0; rest /= (size_t)g->extent[d])
        offset += (int64_t)(rest % (size_t)g->extent[d]) * g->stride[d];
    r->at = g->data + offset * (int64_t)g->size;
    r->bytes = count * g->size;
    return true;
}

void twi_guard_put(twi_guarded *g, const void *dense) {
    for (run r = {0}; next_run(g, &r);)
        if (dense)
            memcpy(r.at, (const char *)dense + r.k * g->size, r.bytes);
        else
            memset(r.at, POISON, r.bytes);
}

void twi_guard_get(const twi_guarded *g, void *dense) {
    for (run r = {0}; next_run(g, &r);)
        memcpy((char *)dense + r.k * g->size, r.at, r.bytes);
}

bool twi_guard_holds(const twi_guarded *g, const void *dense) {
    bool same = true;
    for (run r = {0}; same && next_run(g, &r);)
        same = memcmp(r.at, (const char *)dense + r.k * g->size, r.bytes) == 0;
    return same;
}

/* The first byte of from .. to that is not the pattern's; `to`: all are. */
static const char *first_strange(const char *from, const char *to) {
    while (from < to && *(const unsigned char *)from == PATTERN)
        from++;
    return from;
}

bool twi_guard_intact(const twi_guarded *g, int64_t *at) {
    const size_t page = (g->mapped - g->zone) / 2;
    const char *beside = g->map + page, *end = beside + g->zone;
    run r = {0};
    bool intact = true, more;
    do {
        more = next_run(g, &r);
        const char *to = more ? r.at : end, *strange = first_strange(beside, to);
        const int64_t from_first = (int64_t)(strange - g->data);
        intact = strange == to;
        *at = from_first / (int64_t)g->size - (from_first < 0);
        beside = r.at + r.bytes;
    } while (more && intact);
    return intact;
}
