/* SPDX-License-Identifier: Apache-2.0
 * What stands in for the store in a build without SQLite and libmd (preset core): there is none.
 */
#include "tune/codes.h"
#include "tune/store.h"

tw_status tw_store_open(tw_context *ctx, const char *folder, tw_store_use use, tw_store **out) {
    (void)folder;
    (void)use;
    *out = NULL;
    twi_error(&ctx->diags, TWI_E_TUNE_NO_STORE, (twi_loc){0, 0},
              "SQLite and libmd are what it needs (Debian: libsqlite3-dev libmd-dev)",
              "this build is without the store");
    return TW_ERR_ENV;
}

void tw_store_close(tw_store *s) { (void)s; }

const char *tw_store_folder(const tw_store *s) {
    (void)s;
    return "";
}
