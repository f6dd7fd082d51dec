/* SPDX-License-Identifier: Apache-2.0
 * Wisdom: one row a candidate. Columns are a table, from which the statements are made.
 */
#include "tune/wisdom.h"
#include "base/hash.h"
#include "tune/store/index.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define AT(member) offsetof(twi_wisdom, member)
const twi_wisdom_column twi_wisdom_columns[TWI_WISDOM_COLUMNS] = {
    {"tile", 't', AT(tile)},
    {"numeric", 't', AT(numeric)},
    {"target", 't', AT(target)},
    {"device", 't', AT(device)},
    {"compiler", 't', AT(compiler)},
    {"emitter", 't', AT(emitter)},
    {"threads", 'i', AT(threads)},
    {"plan", 't', AT(plan)},
    {"kernel", 't', AT(kernel)},
    {"spec", 't', AT(spec)},
    {"text", 't', AT(text)},
    {"source", 't', AT(source)},
    {"verdict", 't', AT(verdict)},
    {"note", 't', AT(note)},
    {"samples", 't', AT(samples)},
    {"median_ns", 'f', AT(median_ns)},
    {"ratio", 'f', AT(ratio)},
    {"score_ns", 'f', AT(score_ns)},
    {"confirm_ns", 'f', AT(confirm_ns)},
    {"default_ns", 'f', AT(default_ns)},
    {"regret", 'f', AT(regret)},
    {"rank", 'i', AT(rank)},
    {"best", 'i', AT(best)},
    {"at", 'i', AT(when)},
};
#undef AT
enum { KEYS = 7 };

const char twi_wisdom_table[] =
    "CREATE TABLE IF NOT EXISTS wisdom(tile TEXT NOT NULL, numeric TEXT NOT NULL, target TEXT NOT "
    "NULL, device TEXT NOT NULL, compiler TEXT NOT NULL, emitter TEXT NOT NULL, threads INTEGER "
    "NOT NULL, plan TEXT NOT NULL, kernel TEXT, spec TEXT, text TEXT, source TEXT, verdict TEXT, "
    "note TEXT, samples TEXT, median_ns REAL, ratio REAL, score_ns REAL, confirm_ns REAL, "
    "default_ns REAL, regret REAL, rank INTEGER, best INTEGER, at INTEGER, PRIMARY KEY(tile, "
    "numeric, target, device, compiler, emitter, threads, plan))";

static const char *const *text_at(const twi_wisdom *w, unsigned k) {
    return (const char *const *)(const void *)((const char *)w + twi_wisdom_columns[k].offset);
}
static const int64_t *int_at(const twi_wisdom *w, unsigned k) {
    return (const int64_t *)(const void *)((const char *)w + twi_wisdom_columns[k].offset);
}
static const double *float_at(const twi_wisdom *w, unsigned k) {
    return (const double *)(const void *)((const char *)w + twi_wisdom_columns[k].offset);
}

static bool bind(sqlite3_stmt *statement, int at, const twi_wisdom *w, unsigned k) {
    switch (twi_wisdom_columns[k].kind) {
    case 't':
        return sqlite3_bind_text(statement, at, *text_at(w, k) ? *text_at(w, k) : "", -1,
                                 SQLITE_STATIC) == SQLITE_OK;
    case 'i':
        return sqlite3_bind_int64(statement, at, *int_at(w, k)) == SQLITE_OK;
    default:
        return (isnan(*float_at(w, k))
                    ? sqlite3_bind_null(statement, at)
                    : sqlite3_bind_double(statement, at, *float_at(w, k))) == SQLITE_OK;
    }
}

/* Bytes of the statement's row; they last until its next step. */
static twi_wisdom take(sqlite3_stmt *statement) {
    twi_wisdom w = {0};
    for (unsigned k = 0; k < TWI_WISDOM_COLUMNS; k++) {
        char *at = (char *)&w + twi_wisdom_columns[k].offset;
        const int column = (int)k;
        if (twi_wisdom_columns[k].kind == 't') {
            const char *text = (const char *)sqlite3_column_text(statement, column);
            text = text ? text : "";
            memcpy(at, &text, sizeof text);
        } else if (twi_wisdom_columns[k].kind == 'i') {
            const int64_t v = sqlite3_column_int64(statement, column);
            memcpy(at, &v, sizeof v);
        } else {
            const double v = sqlite3_column_type(statement, column) == SQLITE_NULL
                                 ? (double)NAN
                                 : sqlite3_column_double(statement, column);
            memcpy(at, &v, sizeof v);
        }
    }
    return w;
}

typedef struct {
    twi_arena *arena;
    const twi_wisdom *key;
    twi_wisdom_fn fn;
    void *user;
    const twi_wisdom *row;
    uint32_t n;
    bool add; /* rows that are there stay */
} job;

static void add_names(twi_sb *sql, const char *between, const char *after, unsigned n) {
    for (unsigned k = 0; k < n; k++)
        twi_sb_printf(sql, "%s%s%s", k ? between : "", twi_wisdom_columns[k].name, after);
}

static bool read_rows(sqlite3 *db, void *user) {
    const job *j = user;
    twi_sb sql;
    sqlite3_stmt *statement = NULL;
    twi_sb_init(&sql, j->arena);
    twi_sb_str(&sql, "SELECT ");
    add_names(&sql, ", ", "", TWI_WISDOM_COLUMNS);
    twi_sb_str(&sql, " FROM wisdom");
    if (j->key)
        twi_sb_str(&sql, " WHERE tile = ? AND numeric = ?");
    twi_sb_str(&sql, " ORDER BY kernel, spec, tile, numeric, target, device, compiler, emitter, "
                     "threads, rank, plan");
    bool ok = sqlite3_prepare_v2(db, twi_sb_text(&sql), -1, &statement, NULL) == SQLITE_OK;
    ok = ok && (!j->key || (bind(statement, 1, j->key, 0) && bind(statement, 2, j->key, 1)));
    bool more = true;
    while (ok && more && sqlite3_step(statement) == SQLITE_ROW) {
        const twi_wisdom w = take(statement);
        more = j->fn(j->user, &w);
    }
    return sqlite3_finalize(statement) == SQLITE_OK && ok;
}

void twi_wisdom_read(tw_store *s, const twi_wisdom *key, twi_wisdom_fn fn, void *user) {
    job j = {.arena = &s->ctx->arena, .key = key, .fn = fn, .user = user};
    (void)twi_index_read(s, read_rows, &j);
}

/* Among the rows of one key only one is the best. */
static bool step_down(sqlite3 *db, const job *j, const twi_wisdom *w) {
    twi_sb sql;
    sqlite3_stmt *statement = NULL;
    twi_sb_init(&sql, j->arena);
    twi_sb_str(&sql, "UPDATE wisdom SET best = 0 WHERE ");
    add_names(&sql, " AND ", " = ?", KEYS);
    bool ok = sqlite3_prepare_v2(db, twi_sb_text(&sql), -1, &statement, NULL) == SQLITE_OK;
    for (unsigned k = 0; ok && k < KEYS; k++)
        ok = bind(statement, (int)k + 1, w, k);
    ok = ok && sqlite3_step(statement) == SQLITE_DONE;
    return sqlite3_finalize(statement) == SQLITE_OK && ok;
}

static bool write_rows(sqlite3 *db, void *user) {
    const job *j = user;
    twi_sb sql;
    bool ok = true;
    twi_sb_init(&sql, j->arena);
    twi_sb_printf(&sql, "INSERT OR %s INTO wisdom VALUES(", j->add ? "IGNORE" : "REPLACE");
    for (unsigned k = 0; k < TWI_WISDOM_COLUMNS; k++)
        twi_sb_str(&sql, k ? ", ?" : "?");
    twi_sb_char(&sql, ')');
    for (uint32_t i = 0; ok && i < j->n; i++) {
        sqlite3_stmt *statement = NULL;
        ok = (j->add || !j->row[i].best || step_down(db, j, &j->row[i])) &&
             sqlite3_prepare_v2(db, twi_sb_text(&sql), -1, &statement, NULL) == SQLITE_OK;
        for (unsigned k = 0; ok && k < TWI_WISDOM_COLUMNS; k++)
            ok = bind(statement, (int)k + 1, &j->row[i], k);
        ok = ok && sqlite3_step(statement) == SQLITE_DONE;
        ok = sqlite3_finalize(statement) == SQLITE_OK && ok;
    }
    return ok;
}

bool twi_wisdom_write(tw_store *s, const twi_wisdom *row, uint32_t n) {
    job j = {.arena = &s->ctx->arena, .row = row, .n = n};
    return twi_index_write(s, write_rows, &j);
}

bool twi_wisdom_add(tw_store *s, const twi_wisdom *row, uint32_t n) {
    job j = {.arena = &s->ctx->arena, .row = row, .n = n, .add = true};
    return twi_index_write(s, write_rows, &j);
}

twi_wisdom twi_wisdom_copy(twi_arena *arena, const twi_wisdom *w) {
    twi_wisdom copy = *w;
    for (unsigned k = 0; k < TWI_WISDOM_COLUMNS; k++)
        if (twi_wisdom_columns[k].kind == 't') {
            const char *text = twi_strdup(arena, *text_at(w, k));
            memcpy((char *)&copy + twi_wisdom_columns[k].offset, &text, sizeof text);
        }
    return copy;
}

/* ---- what the path asks for */

enum { WANTED = 3 }; /* columns: text, plan, source */
typedef struct {
    twi_arena *arena;
    const twi_plan_key *key;
    char tile[65];
    const char **column;
    bool found;
} wanted;

static bool is_number(const char *hex) { return strspn(hex, "0123456789abcdef") == 16 && !hex[16]; }

/* Is the row what it claims to be? A plan's name is the hash of its text. */
bool twi_wisdom_is_sound(const twi_wisdom *w) {
    static const char *const words[] = {"right",   "wrong",   "refused",
                                        "crashed", "timeout", "imported"};
    bool known = false;
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        known = known || strcmp(w->verdict, words[k]) == 0;
    return known && is_number(w->plan) && is_number(w->source) && strlen(w->tile) == 64 &&
           twi_hash(w->text, strlen(w->text), 0) == strtoull(w->plan, NULL, 16);
}

static bool choose(void *user, const twi_wisdom *w) {
    wanted *k = user;
    if (!w->best || strcmp(w->verdict, "right") != 0 || w->threads != k->key->threads ||
        strcmp(w->target, k->key->target) != 0 || strcmp(w->device, k->key->device) != 0 ||
        (k->key->compiler && strcmp(w->compiler, k->key->compiler) != 0) ||
        strcmp(w->emitter, TW_VERSION) != 0 || !twi_wisdom_is_sound(w))
        return true;
    const char *const text[] = {w->text, w->plan, w->source};
    for (unsigned c = 0; c < WANTED; c++)
        k->column[c] = twi_strdup(k->arena, text[c]);
    k->found = true;
    return false;
}

static bool read_best(sqlite3 *db, const twi_index_question *q) {
    wanted *k = q->user;
    const twi_wisdom of = {.tile = k->tile, .numeric = k->key->numeric};
    return read_rows(db, &(job){.arena = k->arena, .key = &of, .fn = choose, .user = k}) &&
           k->found;
}

bool twi_wisdom_plan(void *store, twi_arena *arena, const twi_plan_key *key, twi_kept_plan *out) {
    return twi_wisdom_find(store, arena, key, out);
}

bool twi_wisdom_find(tw_store *s, twi_arena *arena, const twi_plan_key *key, twi_kept_plan *out) {
    const char *column[WANTED];
    const twi_shelf_part part[] = {
        {key->numeric, strlen(key->numeric)},
        {key->target, strlen(key->target)},
        {key->device, strlen(key->device)},
        {key->compiler ? key->compiler : "", key->compiler ? strlen(key->compiler) : 0}};
    char whose[65];
    wanted k = {.arena = arena, .key = key, .column = column};
    twi_sha256(&(twi_shelf_part){key->tile, strlen(key->tile)}, 1, k.tile);
    twi_sha256(part, sizeof part / sizeof part[0], whose);
    const char *name =
        twi_format(arena, "%s %s %d %d", k.tile, whose, key->compiler != NULL, key->threads);
    if (!twi_index_answer(
            s, &(twi_index_question){"wisdom", name, arena, column, WANTED, read_best, &k}))
        return false;
    *out = (twi_kept_plan){.text = column[0],
                           .hash = strtoull(column[1], NULL, 16),
                           .source = strtoull(column[2], NULL, 16)};
    return true;
}
