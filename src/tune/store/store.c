/* SPDX-License-Identifier: Apache-2.0
 * The folder of a store: where it is, whose it is, and what a context sees of it.
 */
#include "base/fs.h"
#include "tune/codes.h"
#include "tune/store/index.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(tw_context *ctx, const char *folder, const char *why) {
    twi_error(&ctx->diags, TWI_E_TUNE_STORE, (twi_loc){0, 0},
              "--store DIR or TILEWRIGHT_STORE names another folder", "the store %s: %s", folder,
              why);
    return false;
}

void twi_store_told(tw_store *s, const char *what) {
    if (s->told)
        return;
    s->told = true;
    twi_warn(&s->ctx->diags, TWI_E_TUNE_KEEPING, (twi_loc){0, 0}, NULL, "the store %s: %s",
             s->folder, what);
}

static const char *usual(tw_context *ctx) {
    const twi_env *env = &ctx->env;
    if (env->store)
        return env->store;
    if (env->cache)
        return twi_format(&ctx->arena, "%s/tilewright", env->cache);
    return env->home ? twi_format(&ctx->arena, "%s/.cache/tilewright", env->home) : NULL;
}

static bool check(tw_context *ctx, tw_store_use use, tw_store *s) {
    struct stat st;
    const int error = twi_make_dir(s->folder);
    if (stat(s->folder, &st) != 0)
        return refuse(ctx, s->folder, strerror(error ? error : errno));
    if (!S_ISDIR(st.st_mode))
        return refuse(ctx, s->folder, "it is no folder");
    if (st.st_uid != geteuid())
        return refuse(ctx, s->folder, "it belongs to another user");
    if (st.st_mode & 022)
        return refuse(ctx, s->folder,
                      twi_format(&ctx->arena, "others can write it (mode %04o, not 0700)",
                                 (unsigned)st.st_mode & 07777));
    s->writable = access(s->folder, W_OK | X_OK) == 0;
    if (s->writable)
        return true;
    if (use == TW_STORE_WRITE)
        return refuse(ctx, s->folder, "it cannot be written");
    twi_store_told(s, "it cannot be written; nothing new is kept");
    return true;
}

static const char *memo_of(void *user, twi_arena *arena, const char *name) {
    const char *value;
    return twi_index_find(user, "SELECT value FROM memo WHERE name = ?1", name, arena, &value, 1)
               ? value
               : NULL;
}

static bool put_memo(sqlite3 *db, void *user) {
    return twi_index_do(db, "INSERT OR REPLACE INTO memo VALUES(?1, ?2)", user, 2);
}

static bool add_memo(void *user, const char *name, const char *value) {
    const char *text[] = {name, value};
    return twi_index_write(user, put_memo, text);
}

static tw_status open_in(tw_context *ctx, const char *folder, tw_store_use use, tw_store *s) {
    if (!folder)
        folder = usual(ctx);
    if (ctx->shelf)
        return refuse(ctx, folder ? folder : "", "the context has one already") ? TW_OK
                                                                                : TW_ERR_INPUT;
    if (!folder)
        return refuse(ctx, "", "there is no HOME to put it in") ? TW_OK : TW_ERR_ENV;
    if (strlen(folder) >= sizeof s->folder)
        return refuse(ctx, folder, strerror(ENAMETOOLONG)) ? TW_OK : TW_ERR_ENV;
    *s = (tw_store){.ctx = ctx,
                    .shelf = {.user = s,
                              .object = twi_object_find,
                              .add_object = twi_object_add,
                              .memo = memo_of,
                              .add_memo = add_memo,
                              .plan = twi_wisdom_plan}};
    memcpy(s->folder, folder, strlen(folder) + 1);
    twi_recall_init(&s->recall, &ctx->mem);
    if (!check(ctx, use, s))
        return TW_ERR_ENV;
    ctx->shelf = &s->shelf;
    return TW_OK;
}

tw_status tw_store_open(tw_context *ctx, const char *folder, tw_store_use use, tw_store **out) {
    jmp_buf spot, *saved;
    tw_store *volatile s = NULL;
    *out = NULL;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        twi_mem_put(&ctx->mem, s, sizeof *s);
        return TW_ERR_MEMORY;
    }
    s = twi_mem_get(&ctx->mem, sizeof *s);
    const tw_status status = open_in(ctx, folder, use, s);
    TWI_UNGUARD(&ctx->mem, saved);
    if (status == TW_OK)
        *out = s;
    else
        twi_mem_put(&ctx->mem, s, sizeof *s);
    return status;
}

void tw_store_close(tw_store *s) {
    if (!s)
        return;
    tw_context *ctx = s->ctx;
    ctx->shelf = NULL;
    twi_recall_fini(&s->recall);
    twi_mem_put(&ctx->mem, s, sizeof *s);
}

const char *tw_store_folder(const tw_store *s) { return s ? s->folder : ""; }
