/* SPDX-License-Identifier: Apache-2.0
 * Maps as text: digits set apart by commas, most significant first; a digit is a level's name, its
 * extent and, where it is not 1, `@` and its stride. What is parsed prints to the same bytes, up to
 * spaces.
 */
#include "map/map.h"

void twi_map_print(const twi_map *m, twi_sb *out) {
    for (unsigned i = 0; i < m->n; i++) {
        const twi_digit *d = &m->d[i];
        twi_sb_printf(out, "%s%s %lld", i ? ", " : "", twi_level_name(d->level),
                      (long long)d->extent);
        if (twi_digit_stride(d) > 1)
            twi_sb_printf(out, "@%lld", (long long)twi_digit_stride(d));
    }
}

typedef struct {
    const char *text;
    size_t n, at;
} reader;

static void skip(reader *r) {
    while (r->at < r->n && r->text[r->at] == ' ')
        r->at++;
}

static bool word(reader *r, unsigned *level) {
    size_t from = r->at;
    while (r->at < r->n && r->text[r->at] >= 'a' && r->text[r->at] <= 'z')
        r->at++;
    size_t len = r->at - from;
    for (*level = 0; *level < TWI_LEVELS; ++*level) {
        const char *name = twi_level_name(*level);
        if (strlen(name) == len && memcmp(name, r->text + from, len) == 0)
            return true;
    }
    r->at = from;
    return false;
}

static bool number(reader *r, int64_t most, int64_t *v) {
    size_t from = r->at;
    while (r->at < r->n && r->text[r->at] >= '0' && r->text[r->at] <= '9')
        r->at++;
    bool plain = r->at - from == 1 || (r->at > from && r->text[from] != '0');
    if (plain && twi_parse_i64(r->text + from, r->at - from, v) && *v <= most)
        return true;
    r->at = from;
    return false;
}

static bool digit(reader *r, twi_digit *d) {
    unsigned level;
    int64_t stride = 1;
    skip(r);
    if (!word(r, &level))
        return false;
    skip(r);
    if (!number(r, INT64_MAX, &d->extent))
        return false;
    if (r->at < r->n && r->text[r->at] == '@') {
        r->at++;
        if (!twi_level_strided(level)) {
            r->at--;
            return false;
        }
        size_t from = r->at;
        if (!number(r, UINT16_MAX, &stride) || stride < 1) {
            r->at = from;
            return false;
        }
    }
    d->level = (uint8_t)level;
    d->stride = twi_level_strided(level) ? (uint16_t)stride : 0;
    return true;
}

bool twi_map_parse(const char *text, size_t n, twi_map *m, size_t *bad) {
    reader r = {.text = text, .n = n};
    m->n = 0;
    for (;;) {
        skip(&r);
        *bad = r.at;
        if (m->n == TWI_MAX_DIGITS)
            return false;
        if (!digit(&r, &m->d[m->n])) {
            *bad = r.at;
            return false;
        }
        m->n++;
        skip(&r);
        if (r.at == r.n)
            return true;
        *bad = r.at;
        if (r.text[r.at] != ',')
            return false;
        r.at++;
    }
}
