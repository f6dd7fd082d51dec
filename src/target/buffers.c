/* SPDX-License-Identifier: Apache-2.0
 * Buffers that launches borrow. A block's first 64 bytes are the list's; the caller's part follows.
 */
#include "target/buffers.h"

#include <stdint.h>
#include <stdlib.h>

struct twi_buffer {
    twi_buffer *next;
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

void *twi_buffers_take(twi_buffers *b) {
    if (b->size == 0 || b->size > SIZE_MAX - HEAD)
        return NULL;
    (void)pthread_mutex_lock(&b->lock);
    twi_buffer *block = b->free;
    if (block)
        b->free = block->next;
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
    (void)pthread_mutex_lock(&b->lock);
    block->next = b->free;
    b->free = block;
    (void)pthread_mutex_unlock(&b->lock);
}
