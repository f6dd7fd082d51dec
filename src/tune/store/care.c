/* SPDX-License-Identifier: Apache-2.0
 * Looking after a store: what its rows are worth here and now, what is damaged, what can go.
 */
#include "base/fs.h"
#include "compile/path.h"
#include "tune/store/index.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { YOUNG_S = 120 }; /* a file that another process may be about to name */

/* A target as it is here and now. */
typedef struct {
    const char *name, *device, *compiler; /* device "": not here */
} present;
typedef struct {
    tw_store *s;
    present at[16];
    unsigned n;
    tw_wisdom_fn fn;
    void *user;
    tw_store_health *health;
    bool remove;
    TWI_VEC(const char *) gone; /* plan, tile: rows to delete */
} survey;

static present look(tw_context *ctx, const char *name) {
    const twi_diags before = ctx->diags;
    present p = {twi_strdup(&ctx->arena, name), "", ""};
    twi_where where;
    if (twi_where_find(ctx, p.name, NULL, NULL, 0, &where)) {
        twi_target *t = twi_where_open(ctx, &where);
        if (t && (!t->ops->prepare || t->ops->prepare(t))) {
            p.device = twi_where_device(ctx, &where);
            p.compiler = twi_strdup(&ctx->arena, t->version);
        }
        if (t)
            t->ops->close(t);
    }
    ctx->diags.list.n = before.list.n;
    ctx->diags.errors = before.errors;
    return p;
}

static const present *present_of(survey *v, const char *target) {
    for (unsigned k = 0; k < v->n; k++)
        if (strcmp(v->at[k].name, target) == 0)
            return &v->at[k];
    const unsigned k = v->n < 16 ? v->n++ : 15;
    v->at[k] = look(v->s->ctx, target);
    return &v->at[k];
}

static const char *trust_of(survey *v, const twi_wisdom *w) {
    const present *p = present_of(v, w->target);
    if (strcmp(w->verdict, "imported") == 0 || strcmp(p->device, w->device) != 0)
        return "foreign";
    return strcmp(p->compiler, w->compiler) == 0 && strcmp(w->emitter, TW_VERSION) == 0 ? "fresh"
                                                                                        : "stale";
}

/* Reads all, before anything is asked of targets (which may start programs): rows are copied. */
typedef struct {
    twi_arena *arena;
    TWI_VEC(twi_wisdom) rows;
} pile;
static bool heap_up(void *user, const twi_wisdom *w) {
    pile *p = user;
    twi_wisdom copy = twi_wisdom_copy(p->arena, w);
    twi_push(p->arena, &p->rows, copy);
    return true;
}

static void one_row(survey *v, const twi_wisdom *w) {
    const char *trust = twi_wisdom_is_sound(w) ? trust_of(v, w) : "unreadable";
    if (v->health) {
        v->health->rows++;
        v->health->fresh += *trust == 'f' && trust[1] == 'r';
        v->health->foreign += *trust == 'f' && trust[1] == 'o';
        v->health->stale += *trust == 's';
        v->health->unreadable += *trust == 'u';
    }
    if (v->fn)
        v->fn(v->user, &(tw_wisdom){.kernel = w->kernel,
                                    .spec = w->spec,
                                    .numeric = w->numeric,
                                    .target = w->target,
                                    .device = w->device,
                                    .compiler = w->compiler,
                                    .plan = w->plan,
                                    .verdict = w->verdict,
                                    .note = w->note,
                                    .text = w->text,
                                    .trust = trust,
                                    .threads = w->threads,
                                    .rank = w->rank,
                                    .median_ns = w->median_ns,
                                    .ratio = w->ratio,
                                    .confirm_ns = w->confirm_ns,
                                    .default_ns = w->default_ns,
                                    .regret = w->regret,
                                    .best = w->best != 0});
    if (v->remove && (*trust == 's' || *trust == 'u')) {
        twi_push(&v->s->ctx->arena, &v->gone, w->tile);
        twi_push(&v->s->ctx->arena, &v->gone, w->plan);
        twi_push(&v->s->ctx->arena, &v->gone, w->compiler);
        twi_push(&v->s->ctx->arena, &v->gone, w->emitter);
    }
}

static void rows(survey *v) {
    pile p = {.arena = &v->s->ctx->arena};
    twi_wisdom_read(v->s, NULL, heap_up, &p);
    for (uint32_t k = 0; k < p.rows.n; k++)
        one_row(v, &p.rows.at[k]);
}

static bool forget(sqlite3 *db, void *user) {
    const survey *v = user;
    bool ok = true;
    for (uint32_t k = 0; ok && k + 3 < v->gone.n; k += 4)
        ok = twi_index_do(db,
                          "DELETE FROM wisdom WHERE tile = ?1 AND plan = ?2 AND compiler = ?3 AND "
                          "emitter = ?4",
                          &v->gone.at[k], 4);
    return ok;
}

/* ---- objects */

typedef struct {
    const char *sha;
    bool used;
} named;
typedef struct {
    twi_arena *arena;
    TWI_VEC(named) all;
    const char *gone; /* SHA-256 of one that is damaged */
} names;

static bool read_names(sqlite3 *db, void *user) {
    names *n = user;
    sqlite3_stmt *statement = NULL;
    bool ok = sqlite3_prepare_v2(db, "SELECT DISTINCT sha FROM object", -1, &statement, NULL) ==
              SQLITE_OK;
    while (ok && sqlite3_step(statement) == SQLITE_ROW) {
        const char *sha = (const char *)sqlite3_column_text(statement, 0);
        named one = {twi_strdup(n->arena, sha ? sha : ""), false};
        twi_push(n->arena, &n->all, one);
    }
    return sqlite3_finalize(statement) == SQLITE_OK && ok;
}

static bool forget_object(sqlite3 *db, void *user) {
    const names *n = user;
    return twi_index_do(db, "DELETE FROM object WHERE sha = ?1", &n->gone, 1);
}

static bool is_whole(twi_arena *arena, const char *path, const char *sha, int64_t *bytes) {
    const twi_mark mark = twi_arena_mark(arena);
    char *data, found[65] = "";
    size_t n = 0;
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && twi_read_file(arena, path, &data, &n) == 0)
        twi_sha256(&(twi_shelf_part){data, n}, 1, found);
    twi_arena_reset(arena, mark);
    *bytes += (int64_t)n;
    return strcmp(found, sha) == 0;
}

/* A file that no row names, or half of one. */
static void stray(const survey *v, const char *path) {
    struct stat st;
    if (lstat(path, &st) != 0 || time(NULL) - st.st_mtime < YOUNG_S)
        return;
    v->health->unused++;
    if (v->remove)
        (void)(S_ISDIR(st.st_mode) ? rmdir(path) : unlink(path));
}

static void walk_folder(const survey *v, names *n, const char *folder) {
    DIR *dir = opendir(folder);
    const struct dirent *e;
    char path[TWI_SHELF_PATH];
    while (dir && (e = readdir(dir)) != NULL) {
        const int put = snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        bool known = *e->d_name == '.' || put < 0 || (size_t)put >= sizeof path;
        for (uint32_t k = 0; !known && k < n->all.n; k++)
            known = strcmp(n->all.at[k].sha, e->d_name) == 0;
        if (!known)
            stray(v, path);
    }
    if (dir)
        (void)closedir(dir);
}

static void objects(survey *v) {
    names n = {.arena = &v->s->ctx->arena};
    char path[TWI_SHELF_PATH];
    (void)twi_index_read(v->s, read_names, &n);
    for (uint32_t k = 0; k < n.all.n; k++) {
        const char *sha = n.all.at[k].sha;
        (void)snprintf(path, sizeof path, "%s/objects/%.2s/%s", v->s->folder, sha, sha);
        v->health->objects++;
        if (is_whole(n.arena, path, sha, &v->health->bytes))
            continue;
        v->health->damaged++;
        n.gone = sha;
        if (v->remove && twi_index_write(v->s, forget_object, &n))
            (void)unlink(path);
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        (void)snprintf(path, sizeof path, "%s/objects/%02x", v->s->folder, byte);
        walk_folder(v, &n, path);
    }
}

static bool is_sound(sqlite3 *db, void *user) {
    const char *text[1];
    return twi_index_get(db, "PRAGMA integrity_check(1)", NULL, user, text, 1) &&
           strcmp(text[0], "ok") == 0;
}

static tw_status guarded(survey *v, void (*fn)(survey *)) {
    jmp_buf spot, *saved;
    twi_mem *mem = &v->s->ctx->mem;
    if (TWI_GUARD(mem, spot, saved)) {
        TWI_UNGUARD(mem, saved);
        return TW_ERR_MEMORY;
    }
    fn(v);
    TWI_UNGUARD(mem, saved);
    return TW_OK;
}

static void check_all(survey *v) {
    char path[TWI_SHELF_PATH];
    (void)snprintf(path, sizeof path, "%s/index-1.db", v->s->folder);
    v->health->index = access(path, F_OK) != 0 || twi_index_read(v->s, is_sound, &v->s->ctx->arena);
    rows(v);
    objects(v);
    if (v->gone.n)
        (void)twi_index_write(v->s, forget, v);
}

tw_status tw_wisdom_list(tw_store *s, tw_wisdom_fn fn, void *user) {
    survey v = {.s = s, .fn = fn, .user = user};
    return guarded(&v, rows);
}

tw_status tw_store_check(tw_store *s, tw_store_health *out) {
    survey v = {.s = s, .health = out};
    *out = (tw_store_health){0};
    return guarded(&v, check_all);
}

tw_status tw_store_gc(tw_store *s, tw_store_health *out) {
    survey v = {.s = s, .health = out, .remove = true};
    *out = (tw_store_health){0};
    return guarded(&v, check_all);
}
