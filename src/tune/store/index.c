/* SPDX-License-Identifier: Apache-2.0
 * Transactions on the index. A rollback journal and a busy timeout let many processes share it; an
 * index that SQLite calls damaged is put aside under a lock, after a second look.
 */
#include "tune/store/index.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_MS = 20000 };

static const char *const tables[] = {
    "CREATE TABLE IF NOT EXISTS memo(name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS object(key TEXT PRIMARY KEY, sha TEXT NOT NULL, bytes INTEGER NOT "
    "NULL)",
    twi_wisdom_table};

static void path_of(const tw_store *s, const char *name, char path[TWI_SHELF_PATH]) {
    (void)snprintf(path, TWI_SHELF_PATH, "%s/%s", s->folder, name);
}

static bool is_damage(int code) {
    code &= 0xff;
    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_FORMAT;
}

bool twi_index_do(sqlite3 *db, const char *sql, const char *const *text, int n) {
    sqlite3_stmt *statement = NULL;
    bool ok = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK;
    for (int k = 0; ok && k < n; k++)
        ok = sqlite3_bind_text(statement, k + 1, text[k], -1, SQLITE_STATIC) == SQLITE_OK;
    const int step = ok ? sqlite3_step(statement) : SQLITE_ERROR;
    ok = (step == SQLITE_DONE || step == SQLITE_ROW);
    return sqlite3_finalize(statement) == SQLITE_OK && ok;
}

bool twi_index_get(sqlite3 *db, const char *sql, const char *key, twi_arena *arena,
                   const char **column, int n) {
    sqlite3_stmt *statement = NULL;
    bool ok = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
              (!key || sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC) == SQLITE_OK) &&
              sqlite3_step(statement) == SQLITE_ROW;
    for (int k = 0; ok && k < n; k++) { /* closing the index ends what memory's lack leaves open */
        const char *at = (const char *)sqlite3_column_text(statement, k);
        ok = at != NULL;
        if (ok)
            column[k] = twi_strdup(arena, at);
    }
    (void)sqlite3_finalize(statement);
    return ok;
}

/* NULL: not even memory for it. *code: what opening came to. */
static sqlite3 *open_index(const char *path, int flags, int *code) {
    sqlite3 *db = NULL;
    *code = sqlite3_open_v2(path, &db, flags, NULL);
    if (db)
        (void)sqlite3_busy_timeout(db, BUSY_MS);
    return db;
}

static int begin(sqlite3 *db, bool write) {
    int code = sqlite3_exec(db, write ? "PRAGMA synchronous=NORMAL; BEGIN IMMEDIATE" : "BEGIN",
                            NULL, NULL, NULL);
    for (size_t k = 0; write && code == SQLITE_OK && k < sizeof tables / sizeof tables[0]; k++)
        code = sqlite3_exec(db, tables[k], NULL, NULL, NULL);
    return code;
}

/* Closing rolls back what was not committed. Statements that a jump left open go first. */
static void close_index(sqlite3 *db) {
    sqlite3_stmt *left;
    while ((left = sqlite3_next_stmt(db, NULL)) != NULL)
        (void)sqlite3_finalize(left);
    (void)sqlite3_close(db);
}

/* The last error that says something; fn's result goes to *ok. */
static int transact(tw_store *s, sqlite3 *db, bool write, twi_index_fn fn, void *user, bool *ok) {
    twi_mem *mem = &s->ctx->mem;
    jmp_buf spot, *saved;
    if (TWI_GUARD(mem, spot, saved)) {
        TWI_UNGUARD(mem, saved);
        close_index(db);
        twi_mem_fail(mem);
    }
    int code = begin(db, write);
    if (code == SQLITE_OK) {
        *ok = fn(db, user);
        if (!*ok)
            code = sqlite3_errcode(db);
        else if (write)
            code = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    }
    TWI_UNGUARD(mem, saved);
    *ok = *ok && code == SQLITE_OK;
    return code;
}

static bool is_sound(sqlite3 *db) {
    sqlite3_stmt *check = NULL;
    const char *text = NULL;
    if (sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &check, NULL) == SQLITE_OK &&
        sqlite3_step(check) == SQLITE_ROW)
        text = (const char *)sqlite3_column_text(check, 0);
    const bool busy = (sqlite3_errcode(db) & 0xff) == SQLITE_BUSY;
    const bool sound = busy || (text && strcmp(text, "ok") == 0);
    (void)sqlite3_finalize(check);
    return sound;
}

/* Is what stands there really no index? Then it is put aside. Another process may have done it. */
static void put_aside(tw_store *s, const char *path) {
    char lock[TWI_SHELF_PATH], aside[TWI_SHELF_PATH + 16];
    struct stat st;
    path_of(s, "lock", lock);
    const int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX) == 0 && lstat(path, &st) == 0) {
        int code = SQLITE_ERROR;
        sqlite3 *db = S_ISREG(st.st_mode) ? open_index(path, SQLITE_OPEN_READWRITE, &code) : NULL;
        const bool sound = code == SQLITE_OK && is_sound(db);
        if (db)
            close_index(db);
        (void)snprintf(aside, sizeof aside, "%s.damaged", path);
        if (!sound && rename(path, aside) == 0) {
            (void)snprintf(aside, sizeof aside, "%s-journal", path);
            (void)unlink(aside);
        }
    }
    (void)close(fd);
}

static bool run(tw_store *s, bool write, twi_index_fn fn, void *user) {
    char path[TWI_SHELF_PATH];
    bool ok = false;
    path_of(s, "index-1.db", path);
    if ((write && !s->writable) || (!write && access(path, F_OK) != 0))
        return false;
    for (int attempt = 0; attempt < 2; attempt++) {
        ok = false;
        int code;
        sqlite3 *db = open_index(path,
                                 !s->writable ? SQLITE_OPEN_READONLY
                                 : write      ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                              : SQLITE_OPEN_READWRITE,
                                 &code);
        if (!db)
            break;
        if (code == SQLITE_OK)
            code = transact(s, db, write, fn, user, &ok);
        const char *why = sqlite3_errstr(code);
        close_index(db);
        const bool damage = is_damage(code) || (code & 0xff) == SQLITE_CANTOPEN;
        if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW)
            break;
        if (write || damage)
            twi_store_told(s, why);
        if (!damage || !s->writable)
            break;
        put_aside(s, path);
        if (!write)
            break;
    }
    return ok;
}

bool twi_index_read(tw_store *s, twi_index_fn fn, void *user) { return run(s, false, fn, user); }
bool twi_index_write(tw_store *s, twi_index_fn fn, void *user) { return run(s, true, fn, user); }
