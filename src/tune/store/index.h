/* SPDX-License-Identifier: Apache-2.0
 * The index of a store, open for one transaction.
 */
#ifndef TWI_TUNE_STORE_INDEX_H
#define TWI_TUNE_STORE_INDEX_H

#include "tune/store.h"

#include <sqlite3.h>

/* Runs fn in one transaction; what it returns. False also without an index. fn may use arenas. */
typedef bool (*twi_index_fn)(sqlite3 *db, void *user);
bool twi_index_read(tw_store *s, twi_index_fn fn, void *user);
bool twi_index_write(tw_store *s, twi_index_fn fn, void *user); /* made if it is not there */
extern const char twi_wisdom_table[];                           /* its CREATE statement */

/* One statement with text arguments. False: an error, or no row where one is wanted. */
bool twi_index_do(sqlite3 *db, const char *sql, const char *const *text, int n);
/* The first row's columns as texts, copied; false: no row. */
bool twi_index_get(sqlite3 *db, const char *sql, const char *key, twi_arena *arena,
                   const char **column, int n);

/* recall.c: what the index says for a key, asked without a transaction where it is as it was.
 * `what` lasts and says which question it is; at most TWI_RECALLED_COLUMNS texts, put into
 * q->arena. */
typedef struct twi_index_question {
    const char *what, *key;
    twi_arena *arena;
    const char **column;
    int n;
    bool (*ask)(sqlite3 *db, const struct twi_index_question *q); /* fills column; false: none */
    void *user;
} twi_index_question;
bool twi_index_answer(tw_store *s, const twi_index_question *q);
/* Of the first row of a statement. */
bool twi_index_find(tw_store *s, const char *sql, const char *key, twi_arena *arena,
                    const char **column, int n);
void twi_recall_init(twi_recall *r, twi_mem *mem);
void twi_recall_fini(twi_recall *r);

/* objects.c */
bool twi_object_find(void *store, const twi_shelf_part *part, unsigned n,
                     char path[TWI_SHELF_PATH]);
void twi_object_add(void *store, const twi_shelf_part *part, unsigned n, const char *file);
/* wisdom.c */
bool twi_wisdom_plan(void *store, twi_arena *arena, const twi_plan_key *key, twi_kept_plan *out);

#endif
