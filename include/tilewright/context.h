/* SPDX-License-Identifier: Apache-2.0
 * Tilewright: the context and its diagnostics.
 *
 *     tw_context *ctx = tw_context_create(NULL);
 *     ...
 *     if (status != TW_OK) fputs(tw_diag_text(ctx, false), stderr);
 *     tw_context_destroy(ctx);
 */
#ifndef TILEWRIGHT_CONTEXT_H
#define TILEWRIGHT_CONTEXT_H

#include "tilewright/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_context tw_context;

typedef struct tw_allocator {
    void *(*alloc)(void *user, size_t size); /* NULL when there is none */
    void (*release)(void *user, void *p);
    void *user;
} tw_allocator;

/* NULL allocator: malloc and free. Returns NULL only when out of memory. */
TW_API tw_context *tw_context_create(const tw_allocator *allocator);
TW_API void tw_context_destroy(tw_context *ctx); /* NULL is fine; frees all that was made from it */

/* One diagnostic: stable code (123 for E0123), severity 0 error 1 warning 2 note, 1-based line and
 * column (0: no place). Texts belong to the context and live until tw_diag_clear. */
typedef struct tw_diag {
    int code, severity;
    const char *file, *text, *help;
    uint32_t line, column;
} tw_diag;

TW_API size_t tw_diag_count(const tw_context *ctx);
TW_API tw_diag tw_diag_get(const tw_context *ctx, size_t k);
TW_API const char *tw_diag_text(tw_context *ctx,
                                bool color); /* all, with lines and carets; "" if none */
TW_API void tw_diag_clear(tw_context *ctx);

/* A host that wants an end, from a signal handler: if nothing is held it may end the process; else
 * it sets asked, and the library soon lets go of what it holds and fails with TW_ERR_ENV (or, where
 * it is done, ends as usual). One a context; it outlives the context. */
typedef struct tw_interrupt {
    volatile int asked;   /* the host's: not 0 asks for an end */
    volatile int holding; /* how many things are held: temporary folders, child processes */
} tw_interrupt;
TW_API void tw_context_interrupt(tw_context *ctx, tw_interrupt *interrupt); /* NULL: none */

TW_API const char *tw_version(void); /* "0.1.0" */

#ifdef __cplusplus
}
#endif
#endif
