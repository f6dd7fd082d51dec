/* SPDX-License-Identifier: Apache-2.0
 * Tilewright: the store. What was compiled and what was measured, kept from run to run.
 *
 *     tw_store *store;
 *     if (tw_store_open(ctx, NULL, TW_STORE_READ, &store) == TW_OK) {
 *         options.plan = "best";                       what tuning chose, else the default
 *         tw_compile(ctx, ir, &options, &compiled);    no compiler call if it was made before
 *     }
 *     ..
 *     tw_store_close(store);
 *
 * Any number of processes may use one store. What is damaged in it counts as not there. A build
 * without SQLite has no store: opening one is TW_ERR_ENV.
 */
#ifndef TILEWRIGHT_TUNE_H
#define TILEWRIGHT_TUNE_H

#include "tilewright/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_store tw_store;

typedef enum tw_store_use {
    TW_STORE_READ, /* one that cannot be written is read all the same */
    TW_STORE_WRITE /* one that cannot be written is an error */
} tw_store_use;

/* folder NULL: TILEWRIGHT_STORE, $XDG_CACHE_HOME/tilewright, ~/.cache/tilewright. It is made (0700)
 * if it is not there; one that others can write, or that is not the user's, is refused. From now on
 * all that is compiled in ctx is looked up and kept there; one store a context. On failure *out is
 * NULL and diagnostics say why: TW_ERR_ENV. */
TW_API tw_status tw_store_open(tw_context *ctx, const char *folder, tw_store_use use,
                               tw_store **out);
TW_API void tw_store_close(tw_store *store); /* NULL is fine; before its context */
TW_API const char *tw_store_folder(const tw_store *store);

#ifdef __cplusplus
}
#endif
#endif
