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

static tw_status absent(void) { return TW_ERR_ENV; }

tw_status tw_wisdom_list(tw_store *s, tw_wisdom_fn fn, void *user) {
    (void)s;
    (void)fn;
    (void)user;
    return absent();
}

const char *tw_wisdom_export(tw_store *s) {
    (void)s;
    return NULL;
}

tw_status tw_wisdom_import(tw_store *s, tw_source text, size_t *taken, size_t *refused) {
    (void)s;
    (void)text;
    *taken = *refused = 0;
    return absent();
}

tw_status tw_store_check(tw_store *s, tw_store_health *out) {
    (void)s;
    *out = (tw_store_health){0};
    return absent();
}

tw_status tw_store_gc(tw_store *s, tw_store_health *out) { return tw_store_check(s, out); }

/* Tuning works without: it asks only where it was given a store. */
void twi_wisdom_read(tw_store *s, const twi_wisdom *key, twi_wisdom_fn fn, void *user) {
    (void)s;
    (void)key;
    (void)fn;
    (void)user;
}

bool twi_wisdom_write(tw_store *s, const twi_wisdom *row, uint32_t n) {
    (void)s;
    (void)row;
    return n == 0;
}

bool twi_wisdom_find(tw_store *s, twi_arena *arena, const twi_plan_key *key, twi_kept_plan *out) {
    (void)s;
    (void)arena;
    (void)key;
    (void)out;
    return false;
}

void twi_sha256(const twi_shelf_part *part, unsigned n, char hex[65]) {
    (void)part;
    (void)n;
    hex[0] = 0;
}
