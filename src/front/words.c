/* SPDX-License-Identifier: Apache-2.0
 * Built-in names, and the nearest of a set of names for messages.
 */
#include "front/ast.h"

static const twi_word words[] = {
#define TWI_WORD(name, kind, arity, value) {name, TWI_W_##kind, arity, value},
#include "front/words.def"
#undef TWI_WORD
};

size_t twi_words(void) { return sizeof words / sizeof *words; }

const twi_word *twi_word_at(size_t k) { return &words[k]; }

const twi_word *twi_word_of(const char *name) {
    for (size_t k = 0; k < twi_words(); k++)
        if (strcmp(words[k].name, name) == 0)
            return &words[k];
    return NULL;
}

bool twi_elem_built(tw_elem elem) {
    static const bool built[TW_ELEMS] = {
        [TW_BOOL] = true, [TW_I8] = true,   [TW_I32] = true, [TW_I64] = true, [TW_U8] = true,
        [TW_U32] = true,  [TW_BF16] = true, [TW_F16] = true, [TW_F32] = true, [TW_F64] = true,
    };
    return elem > TW_NONE && elem < TW_ELEMS && built[elem];
}

const char *twi_quote(twi_arena *a, const char *name) {
    return strlen(name) > 48 ? twi_format(a, "'%.40s...'", name) : twi_format(a, "'%s'", name);
}

enum { NEAR_MAX = 32 };

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* Edits (insert, drop, change, swap of neighbours) between two short names; large if one is long.
 */
static unsigned distance(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    if (n > NEAR_MAX || m > NEAR_MAX)
        return NEAR_MAX;
    unsigned row[3][NEAR_MAX + 1];
    for (size_t j = 0; j <= m; j++)
        row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned *now = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            now[j] = least(least(up[j] + 1, now[j - 1] + 1), up[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], up2[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

void twi_nearest_init(twi_nearest *near, const char *wanted) {
    *near = (twi_nearest){wanted, NULL, 0};
    near->distance = strlen(wanted) <= 2 ? 1 : strlen(wanted) <= 5 ? 2 : 3; /* farther is no help */
}

void twi_nearest_offer(twi_nearest *near, const char *name) {
    unsigned d = distance(near->wanted, name);
    if (d < strlen(near->wanted) && (d < near->distance || (!near->best && d == near->distance))) {
        near->best = name;
        near->distance = d;
    }
}

void twi_nearest_words(twi_nearest *near, bool types) {
    for (size_t k = 0; k < twi_words(); k++)
        if ((words[k].kind == TWI_W_TYPE) == types)
            twi_nearest_offer(near, words[k].name);
}

const char *twi_nearest_help(const twi_nearest *near, twi_arena *a) {
    return near->best ? twi_format(a, "did you mean '%s'?", near->best) : NULL;
}
