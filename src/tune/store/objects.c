/* SPDX-License-Identifier: Apache-2.0
 * Objects: files named by the SHA-256 of their bytes. The index says which one was made of what;
 * one whose bytes are not those of its name is not there.
 */
#include "base/fs.h"
#include "tune/store/index.h"

#include <errno.h>
#include <sha256.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void digest(SHA256_CTX *c, char hex[65]) {
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[SHA256_DIGEST_LENGTH];
    SHA256_Final(bytes, c);
    for (int k = 0; k < SHA256_DIGEST_LENGTH; k++) {
        hex[2 * k] = digits[bytes[k] >> 4];
        hex[2 * k + 1] = digits[bytes[k] & 15];
    }
    hex[64] = 0;
}

/* Each part with its length before it, so that no two lists of parts are alike. */
void twi_sha256(const twi_shelf_part *part, unsigned n, char hex[65]) {
    SHA256_CTX c;
    SHA256_Init(&c);
    for (unsigned k = 0; k < n; k++) {
        char length[32];
        const int digits = n > 1 ? snprintf(length, sizeof length, "%zu:", part[k].n) : 0;
        SHA256_Update(&c, (const uint8_t *)length, digits > 0 ? (size_t)digits : 0);
        SHA256_Update(&c, (const uint8_t *)part[k].at, part[k].n);
    }
    digest(&c, hex);
}

typedef struct {
    twi_arena *arena;
    char key[65];
    const char *column[2]; /* SHA-256, bytes */
} lookup;

static bool is_name(const char *sha) { return strspn(sha, "0123456789abcdef") == 64 && !sha[64]; }

static bool place(const tw_store *s, const char *sha, char path[TWI_SHELF_PATH]) {
    const int n = snprintf(path, TWI_SHELF_PATH, "%s/objects/%.2s/%s", s->folder, sha, sha);
    return n > 0 && n < TWI_SHELF_PATH;
}

bool twi_object_find(void *store, const twi_shelf_part *part, unsigned n,
                     char path[TWI_SHELF_PATH]) {
    tw_store *s = store;
    const twi_mark mark = twi_arena_mark(&s->ctx->arena);
    lookup l = {.arena = &s->ctx->arena};
    char *bytes, sha[65];
    size_t size;
    struct stat st;
    twi_sha256(part, n, l.key);
    bool found = twi_index_find(s, "SELECT sha, bytes FROM object WHERE key = ?1", l.key, l.arena,
                                l.column, 2) &&
                 is_name(l.column[0]) && place(s, l.column[0], path);
    if (found) {
        found = lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
                twi_read_file(l.arena, path, &bytes, &size) == 0;
        if (found) {
            twi_sha256(&(twi_shelf_part){bytes, size}, 1, sha);
            found = strcmp(sha, l.column[0]) == 0;
        }
        if (!found)
            twi_store_told(s, "an object in it is damaged, and is made anew");
    }
    twi_arena_reset(&s->ctx->arena, mark);
    return found;
}

static bool put(sqlite3 *db, void *user) {
    const lookup *l = user;
    const char *const text[] = {l->key, l->column[0], l->column[1]};
    return twi_index_do(db, "INSERT OR REPLACE INTO object VALUES(?1, ?2, ?3)", text, 3);
}

/* What stands at the path makes way if it is no file of ours. */
static void clear(const char *path) {
    struct stat st;
    if (lstat(path, &st) != 0 || (S_ISREG(st.st_mode) && access(path, R_OK | W_OK) == 0))
        return;
    (void)(S_ISDIR(st.st_mode) ? rmdir(path) : unlink(path));
}

static int publish(const char *path, const char *bytes, size_t n) {
    char folder[TWI_SHELF_PATH];
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    const int error = twi_make_dir(folder);
    if (error)
        return error;
    clear(path);
    return twi_write_file(path, bytes, n);
}

void twi_object_add(void *store, const twi_shelf_part *part, unsigned n, const char *file) {
    tw_store *s = store;
    const twi_mark mark = twi_arena_mark(&s->ctx->arena);
    lookup l = {.arena = &s->ctx->arena};
    char *bytes, sha[65], path[TWI_SHELF_PATH], *size;
    size_t many;
    if (s->writable && twi_read_file(l.arena, file, &bytes, &many) == 0) {
        twi_sha256(part, n, l.key);
        twi_sha256(&(twi_shelf_part){bytes, many}, 1, sha);
        size = twi_format(l.arena, "%zu", many);
        l.column[0] = sha;
        l.column[1] = size;
        const int error = place(s, sha, path) ? publish(path, bytes, many) : ENAMETOOLONG;
        if (error)
            twi_store_told(s, strerror(error));
        else
            (void)twi_index_write(s, put, &l);
    }
    twi_arena_reset(&s->ctx->arena, mark);
}
