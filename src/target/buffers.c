/* SPDX-License-Identifier: Apache-2.0
 * Buffers that launches borrow. A block's first 64 bytes are the list's; the caller's part follows.
 */
#include "target/buffers.h"

#include <stdint.h>
#include <stdlib.h>

struct twi_buffer {
    twi_buffer *next;
    pthread_t user; /* the last one */
};
enum { HEAD = 64 };

void twi_buffers_init(twi_buffers *b, size_t size) {
    (void)pthread_mutex_init(&b->lock, NULL);
    b->free = NULL;
    b->size = size;
}

void twi_buffers_fini(twi_buffers *b) {
    while (b->free) {
        twi_buffer *next = b->free->next;
        free(b->free);
        b->free = next;
    }
    (void)pthread_mutex_destroy(&b->lock);
}

/* What this thread used last is in its caches; else the first. */
static twi_buffer **find(twi_buffers *b) {
    twi_buffer **at = &b->free;
    while (*at && !pthread_equal((*at)->user, pthread_self()))
        at = &(*at)->next;
    return *at ? at : &b->free;
}

void *twi_buffers_take(twi_buffers *b) {
    if (b->size == 0 || b->size > SIZE_MAX - HEAD)
        return NULL;
    (void)pthread_mutex_lock(&b->lock);
    twi_buffer **at = find(b), *block = *at;
    if (block)
        *at = block->next;
    (void)pthread_mutex_unlock(&b->lock);
    void *fresh = block;
    if (!block && posix_memalign(&fresh, HEAD, HEAD + b->size) != 0)
        return NULL;
    return (char *)fresh + HEAD;
}

void twi_buffers_put(twi_buffers *b, void *p) {
    if (!p)
        return;
    twi_buffer *block = (void *)((char *)p - HEAD);
    block->user = pthread_self();
    (void)pthread_mutex_lock(&b->lock);
    block->next = b->free;
    b->free = block;
    (void)pthread_mutex_unlock(&b->lock);
}
