/* SPDX-License-Identifier: Apache-2.0
 * The wisdom store: a folder with an index (SQLite) and objects named by the SHA-256 of their
 * bytes.
 *
 *     DIR/index-1.db            memos, objects by key, wisdom
 *     DIR/objects/3f/3f9a..     one object a file, published by rename, checked when it is looked
 * up DIR/lock                  held while a damaged index is put aside
 *
 * The index is open for one transaction at a time, never longer: a process may fork at any other
 * time, and one that is killed leaves a journal that the next one rolls back.
 */
#ifndef TWI_TUNE_STORE_H
#define TWI_TUNE_STORE_H

#include "base/context.h"
#include "tilewright/tune.h"

/* store/recall.c: rows that the index gave, and what it was then. */
enum { TWI_RECALLED = 32, TWI_RECALLED_COLUMNS = 3 };
typedef struct {
    int64_t numbers[7]; /* device, inode, size, times */
} twi_index_state;
typedef struct {
    const char *what, *key, *column[TWI_RECALLED_COLUMNS];
    bool found;
} twi_recalled;
typedef struct {
    twi_arena arena;
    twi_index_state state;
    bool known;
    unsigned n;
    twi_recalled at[TWI_RECALLED];
} twi_recall;

struct tw_store {
    tw_context *ctx;
    twi_shelf shelf;
    twi_recall recall;
    bool writable, told; /* told: one warning about it was given */
    char folder[TWI_SHELF_PATH - 128];
};

/* One candidate's row. The first seven say whom it is for, with `plan` they are the key. */
typedef struct twi_wisdom {
    const char *tile, *numeric, *target, *device, *compiler, *emitter; /* tile: SHA-256 */
    int64_t threads;
    const char *plan; /* hash, 16 digits */
    const char *kernel, *spec, *text, *source, *verdict, *note, *samples;
    double median_ns, ratio, score_ns, confirm_ns, default_ns, regret; /* NAN: not known */
    int64_t rank, best, when; /* best: the one that was chosen; when: seconds since 1970 */
} twi_wisdom;

void twi_store_told(tw_store *s, const char *what); /* warns, once a store */

/* Rows for one key (or all: key NULL), by rank. False: none could be read. */
typedef bool (*twi_wisdom_fn)(void *user, const twi_wisdom *w); /* false: no more, please */
void twi_wisdom_read(tw_store *s, const twi_wisdom *key, twi_wisdom_fn fn, void *user);
/* All or none; a row with the same key is replaced. A best one takes the place of the one before.
 */
bool twi_wisdom_write(tw_store *s, const twi_wisdom *row, uint32_t n);
bool twi_wisdom_add(tw_store *s, const twi_wisdom *row, uint32_t n); /* those that are not there */
bool twi_wisdom_is_sound(const twi_wisdom *w);
twi_wisdom twi_wisdom_copy(twi_arena *arena, const twi_wisdom *w);
/* The plan that tuning chose for the key, as the path asks for it. */
bool twi_wisdom_find(tw_store *s, twi_arena *arena, const twi_plan_key *key, twi_kept_plan *out);
void twi_sha256(const twi_shelf_part *part, unsigned n, char hex[65]);

#endif
