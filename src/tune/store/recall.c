/* SPDX-License-Identifier: Apache-2.0
 * What rows the index gave for a key, for as long as it is the file that gave them: opening SQLite
 * costs more than all else that a path does which finds everything in the store. Only the file's
 * name is looked at: who opens and closes it drops the locks of every transaction that its process
 * has under way. Clocks of file systems are coarse, so what was written just now may be written
 * again without a trace, and is not relied on.
 */
#include "tune/store/index.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { COARSE_S = 2 }; /* no file system's clock is coarser */

static bool is_past(const struct timespec *t, const struct timespec *now) {
    const int64_t more = now->tv_sec - t->tv_sec;
    return more > COARSE_S || (more == COARSE_S && now->tv_nsec >= t->tv_nsec);
}

/* False: there is none, or what it says may not be in the file or not be all of it. */
static bool look(const tw_store *s, twi_index_state *out) {
    char path[TWI_SHELF_PATH];
    struct stat st, log;
    struct timespec now;
    (void)snprintf(path, sizeof path, "%s/index-1.db-wal", s->folder);
    if (lstat(path, &log) == 0 || errno != ENOENT)
        return false;
    path[strlen(path) - 4] = 0;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0 || lstat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
        !is_past(&st.st_mtim, &now) || !is_past(&st.st_ctim, &now))
        return false;
    *out = (twi_index_state){{(int64_t)st.st_dev, (int64_t)st.st_ino, (int64_t)st.st_size,
                              (int64_t)st.st_mtim.tv_sec, (int64_t)st.st_mtim.tv_nsec,
                              (int64_t)st.st_ctim.tv_sec, (int64_t)st.st_ctim.tv_nsec}};
    return true;
}

static bool same_state(const twi_index_state *x, const twi_index_state *y) {
    return memcmp(x->numbers, y->numbers, sizeof x->numbers) == 0;
}

static void forget(twi_recall *r) {
    r->n = 0;
    r->known = false;
    twi_arena_fini(&r->arena);
}

void twi_recall_init(twi_recall *r, twi_mem *mem) {
    *r = (twi_recall){.n = 0};
    twi_arena_init(&r->arena, mem);
}

void twi_recall_fini(twi_recall *r) { forget(r); }

static const twi_recalled *recalled(const twi_recall *r, const char *what, const char *key) {
    for (unsigned k = 0; k < r->n; k++)
        if (strcmp(r->at[k].key, key) == 0 && strcmp(r->at[k].what, what) == 0)
            return &r->at[k];
    return NULL;
}

typedef struct {
    const twi_index_question *q;
    bool sure; /* there is a row, or there is none, and nothing went wrong */
} asking;

static bool ask(sqlite3 *db, void *user) {
    asking *a = user;
    const bool found = a->q->ask(db, a->q);
    const int code = sqlite3_errcode(db) & 0xff;
    a->sure = found || code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW;
    return found;
}

static void keep(twi_recall *r, const twi_index_question *q, bool found) {
    if (r->n == TWI_RECALLED)
        forget(r);
    twi_recalled *to = &r->at[r->n];
    *to = (twi_recalled){.what = q->what, .key = twi_strdup(&r->arena, q->key), .found = found};
    for (int k = 0; found && k < q->n; k++)
        to->column[k] = twi_strdup(&r->arena, q->column[k]);
    r->n++; /* last: memory may have run out before */
}

bool twi_index_answer(tw_store *s, const twi_index_question *q) {
    twi_recall *r = &s->recall;
    twi_index_state before, after;
    asking a = {.q = q};
    const bool known = look(s, &before);
    if (!known || !r->known || !same_state(&before, &r->state))
        forget(r);
    const twi_recalled *have = recalled(r, q->what, q->key);
    if (have) {
        for (int k = 0; have->found && k < q->n; k++)
            q->column[k] = twi_strdup(q->arena, have->column[k]);
        return have->found;
    }
    const bool found = twi_index_read(s, ask, &a);
    if (known && (found || a.sure) && look(s, &after) && same_state(&before, &after)) {
        keep(r, q, found);
        r->state = after;
        r->known = true;
    }
    return found;
}

static bool first_row(sqlite3 *db, const twi_index_question *q) {
    return twi_index_get(db, q->what, q->key, q->arena, q->column, q->n);
}

bool twi_index_find(tw_store *s, const char *sql, const char *key, twi_arena *arena,
                    const char **column, int n) {
    return twi_index_answer(s, &(twi_index_question){sql, key, arena, column, n, first_row, NULL});
}
