/* SPDX-License-Identifier: Apache-2.0
 * Buffers that launches borrow: a list of blocks of one size that grows to what was in use at once
 * and is freed as a whole. Any thread may take and put; nothing of a context is touched.
 */
#ifndef TWI_TARGET_BUFFERS_H
#define TWI_TARGET_BUFFERS_H

#include <pthread.h>
#include <stddef.h>

typedef struct twi_buffer twi_buffer;
typedef struct {
    pthread_mutex_t lock;
    twi_buffer *free;
    size_t size;
} twi_buffers;

void twi_buffers_init(twi_buffers *b,
                      size_t size); /* size 0: take gives NULL, which is no failure */
void twi_buffers_fini(twi_buffers *b);
void *twi_buffers_take(twi_buffers *b); /* aligned to 64, contents unspecified; NULL: no memory */
void twi_buffers_put(twi_buffers *b, void *p); /* NULL is fine */

#endif
