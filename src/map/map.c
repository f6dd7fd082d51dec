/* SPDX-License-Identifier: Apache-2.0
 * Arithmetic of digit rows. Holds: a run-time digit (extent 0) is outermost wherever rules accept
 * it, so weights never depend on one; a stride of 0 on a level of ids means 1.
 */
#include "map/map.h"

static const char *const level_names[TWI_LEVELS] = {
    [TWI_LV_GRID] = "grid", [TWI_LV_CLUSTER] = "cluster", [TWI_LV_SUB] = "sub",
    [TWI_LV_LANE] = "lane", [TWI_LV_SERIAL] = "serial",   [TWI_LV_LOOP] = "loop",
    [TWI_LV_SLOT] = "slot", [TWI_LV_ATOM] = "atom",
};

const char *twi_level_name(unsigned level) { return level < TWI_LEVELS ? level_names[level] : "?"; }

/* x * y for x, y >= 0, INT64_MAX where that is too small. */
static int64_t times(int64_t x, int64_t y) {
    if (x == 0 || y == 0)
        return 0;
    return x > INT64_MAX / y ? INT64_MAX : x * y;
}

bool twi_level_strided(unsigned level) {
    return level == TWI_LV_CLUSTER || level == TWI_LV_SUB || level == TWI_LV_LANE;
}

int64_t twi_digit_stride(const twi_digit *d) {
    return !twi_level_strided(d->level) ? 0 : d->stride ? d->stride : 1;
}

int64_t twi_map_weight(const twi_map *m, unsigned digit) {
    int64_t w = 1;
    for (unsigned i = digit + 1; i < m->n; i++)
        w = times(w, m->d[i].extent);
    return w;
}

int64_t twi_map_extent(const twi_map *m) {
    int64_t w = 1;
    for (unsigned i = 0; i < m->n; i++)
        w = m->d[i].extent ? times(w, m->d[i].extent) : INT64_MAX;
    return w;
}

int64_t twi_map_level_extent(const twi_map *m, unsigned level) {
    int64_t w = 1;
    for (unsigned i = 0; i < m->n; i++)
        if (m->d[i].level == level)
            w = times(w, m->d[i].extent);
    return w;
}

static bool same_digit(const twi_digit *x, const twi_digit *y) {
    return x->level == y->level && x->extent == y->extent &&
           twi_digit_stride(x) == twi_digit_stride(y);
}

bool twi_map_is_serial(const twi_map *m) {
    unsigned i = m->n > 1 && m->d[0].level == TWI_LV_GRID ? 1 : 0;
    return m->n > i && m->d[i].level == TWI_LV_SERIAL;
}

bool twi_map_equal(const twi_map *a, const twi_map *b) {
    if (a->n != b->n)
        return false;
    for (unsigned i = 0; i < a->n; i++)
        if (!same_digit(&a->d[i], &b->d[i]))
            return false;
    return true;
}

/* Index of the next space digit from i on that holds more than one value; n: none. */
static unsigned next_space(const twi_map *m, unsigned i) {
    while (i < m->n && (!twi_level_is_space(m->d[i].level) || m->d[i].extent == 1))
        i++;
    return i;
}

bool twi_map_same_space(const twi_map *a, const twi_map *b) {
    unsigned i = next_space(a, 0), k = next_space(b, 0);
    for (; i < a->n && k < b->n; i = next_space(a, i + 1), k = next_space(b, k + 1))
        if (!same_digit(&a->d[i], &b->d[k]) || twi_map_weight(a, i) != twi_map_weight(b, k))
            return false;
    return i == a->n && k == b->n;
}

/* Two digits are independent parts of one id iff one's whole range fits below the other's stride
 * and divides it: then id / stride % extent of both take every pair of values. */
static bool apart(const twi_digit *x, const twi_digit *y) {
    if (x->extent == 1 || y->extent == 1)
        return true;
    int64_t sx = twi_digit_stride(x), sy = twi_digit_stride(y);
    int64_t low = sx < sy ? times(sx, x->extent) : times(sy, y->extent);
    int64_t high = sx < sy ? sy : sx;
    return sx != sy && low > 0 && high % low == 0;
}

bool twi_map_disjoint(const twi_map *const *maps, unsigned n, unsigned level, unsigned *a,
                      unsigned *b) {
    if (!twi_level_strided(level))
        return true; /* grid digits are numbered by the scope, time digits are each worker's own */
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = i; k < n; k++)
            for (unsigned x = 0; x < maps[i]->n; x++)
                for (unsigned y = k == i ? x + 1 : 0; y < maps[k]->n; y++) {
                    const twi_digit *p = &maps[i]->d[x], *q = &maps[k]->d[y];
                    if (p->level != level || q->level != level || apart(p, q))
                        continue;
                    *a = i;
                    *b = k;
                    return false;
                }
    return true;
}
