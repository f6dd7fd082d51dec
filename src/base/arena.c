/* SPDX-License-Identifier: Apache-2.0
 * Arenas: a stack of blocks, the newest one filled from below. A mark is a block and a fill level,
 * so a reset pops whole blocks and lowers the level. Blocks double in size up to a limit; what does
 * not fit a block gets one of its own. One block that was popped is held for the next need: work
 * between a mark and its reset, done again and again, takes no memory from the system. A block
 * knows how far it was ever filled, so that fresh memory, zeroed as it comes, is not touched before
 * its use. Under AddressSanitizer, all that was not handed out is poisoned and pieces lie apart, so
 * that overruns and uses after a reset are caught.
 */
#include "base/arena.h"

#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif
#ifdef ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
enum { GAP = 16 };
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
enum { GAP = 0 };
#endif

enum { ALIGN = 16, FIRST = 4096, LARGEST = 1 << 20 };

struct twi_block {
    twi_block *below;
    size_t size;  /* of the data */
    size_t dirty; /* beyond it all is zero */
};

#define HEAD ((sizeof(twi_block) + ALIGN - 1) / ALIGN * ALIGN)

static char *data_of(twi_block *block) { return (char *)block + HEAD; }

void twi_arena_init(twi_arena *a, twi_mem *mem) { *a = (twi_arena){.mem = mem}; }

static void put_block(twi_arena *a, twi_block *block) {
    UNPOISON(data_of(block), block->size);
    twi_mem_put(a->mem, block, HEAD + block->size);
}

/* The largest of ordinary size is held. */
static void pop_block(twi_arena *a) {
    twi_block *block = a->block, *less = a->spare;
    a->block = block->below;
    POISON(data_of(block), block->size);
    if (block->size > LARGEST || (less && less->size >= block->size)) {
        put_block(a, block);
        return;
    }
    a->spare = block;
    if (less)
        put_block(a, less);
}

void twi_arena_fini(twi_arena *a) {
    while (a->block)
        pop_block(a);
    if (a->spare)
        put_block(a, a->spare);
    a->spare = NULL;
    a->used = 0;
}

twi_mark twi_arena_mark(const twi_arena *a) { return (twi_mark){a->block, a->used, a->kept}; }

void twi_arena_keep(twi_arena *a) { a->kept++; }

void twi_arena_reset(twi_arena *a, twi_mark to) {
    if (a->kept != to.kept)
        return;
    size_t used = a->used; /* of the marked block, if it is still the newest */
    while (a->block && a->block != to.block) {
        pop_block(a);
        used = a->block ? a->block->size : 0;
    }
    a->used = to.used;
    if (!a->block)
        return;
#ifndef NDEBUG
    if (used > a->block->dirty)
        used = a->block->dirty;
    if (used > to.used) {
        UNPOISON(data_of(a->block) + to.used, used - to.used);
        memset(data_of(a->block) + to.used, 0xdb, used - to.used);
    }
#endif
    POISON(data_of(a->block) + to.used, a->block->size - to.used);
    (void)used;
}

static void push_block(twi_arena *a, size_t need) {
    size_t size = a->block ? a->block->size * 2 : FIRST;
    if (size > LARGEST)
        size = LARGEST;
    if (size < need)
        size = need;
    twi_block *block = a->spare;
    if (block && block->size >= size) {
        a->spare = NULL;
    } else {
        block = twi_mem_get(a->mem, HEAD + size);
        block->size = size;
        block->dirty = twi_mem_zeroed(a->mem) ? 0 : size;
    }
    block->below = a->block;
    a->block = block;
    a->used = 0;
    POISON(data_of(block), block->size);
}

void *twi_alloc_raw(twi_arena *a, size_t size, bool zero) {
    if (size > SIZE_MAX / 4)
        twi_mem_fail(a->mem);
    size_t take = (size + ALIGN - 1) / ALIGN * ALIGN + GAP;
    if (take == 0)
        take = ALIGN; /* even an empty piece has its own address */
    if (!a->block || a->block->size - a->used < take)
        push_block(a, take);
    size_t from = a->used, dirty = a->block->dirty;
    char *p = data_of(a->block) + from;
    a->used += take;
    UNPOISON(p, size);
    if (zero && dirty > from)
        memset(p, 0, dirty - from < size ? dirty - from : size);
    if (a->used > dirty)
        a->block->dirty = a->used;
    return p;
}

void *twi_alloc(twi_arena *a, size_t size) { return twi_alloc_raw(a, size, true); }

void *twi_alloc_n(twi_arena *a, size_t n, size_t size) {
    if (size && n > SIZE_MAX / size)
        twi_mem_fail(a->mem);
    return twi_alloc(a, n * size);
}

void *twi_copy(twi_arena *a, const void *from, size_t size) {
    void *p = twi_alloc_raw(a, size, false);
    if (size)
        memcpy(p, from, size);
    return p;
}

char *twi_strndup(twi_arena *a, const char *text, size_t n) {
    if (n == SIZE_MAX)
        twi_mem_fail(a->mem);
    char *p = twi_alloc(a, n + 1);
    if (n)
        memcpy(p, text, n);
    return p;
}

char *twi_strdup(twi_arena *a, const char *text) { return twi_strndup(a, text, strlen(text)); }
