/* SPDX-License-Identifier: Apache-2.0
 * Maps: an axis written as a row of digits, most significant first; each digit lives on a level.
 * From the digits follow who holds which element, loops, masks, vector width and the tree of every
 * fold.
 */
#ifndef TWI_MAP_MAP_H
#define TWI_MAP_MAP_H

#include "base/strbuf.h"

typedef enum twi_level {
    TWI_LV_GRID,
    TWI_LV_CLUSTER,
    TWI_LV_SUB,
    TWI_LV_LANE, /* space */
    TWI_LV_SERIAL,
    TWI_LV_LOOP,
    TWI_LV_SLOT, /* time: "serial", "loop", "slot" */
    TWI_LV_ATOM, /* "atom" */
    TWI_LEVELS
} twi_level;

typedef struct {
    uint8_t level;
    uint16_t stride; /* space levels SUB, LANE (and GRID, where the plan's scope joins several axes:
                        0 there, the grid digits of a scope are numbered by axis order): digit = id
                        / stride % extent */
    int64_t extent;
} twi_digit;

#define TWI_MAX_DIGITS 8
typedef struct {
    uint8_t n;
    twi_digit d[TWI_MAX_DIGITS];
} twi_map;

static inline bool twi_level_is_space(unsigned level) { return level <= TWI_LV_LANE; }
/* Levels whose digits have a stride: cluster, sub, lane. A digit's stride there (0 counts as 1); 0
 * on others. */
bool twi_level_strided(unsigned level);
int64_t twi_digit_stride(const twi_digit *d);
const char *
twi_level_name(unsigned level); /* "grid" "cluster" "sub" "lane" "serial" "loop" "slot" "atom" */

int64_t twi_map_weight(const twi_map *m, unsigned digit); /* product of the extents to its right */
int64_t twi_map_extent(
    const twi_map *m); /* product of all; saturates at INT64_MAX; so with a run-time digit */
int64_t
twi_map_level_extent(const twi_map *m,
                     unsigned level); /* product of the digits on a level; 1 if none; 0: run time */
/* Has it a serial digit, outermost or right of a grid digit? */
bool twi_map_is_serial(const twi_map *m);
bool twi_map_equal(const twi_map *a, const twi_map *b);
bool twi_map_same_space(const twi_map *a,
                        const twi_map *b); /* equal space digits: level, stride, extent, weight */
/* "loop 2, sub 4@2, lane 32, slot 4"; "@1" is left out. Parse: false and *bad = offset of the
 * fault. */
void twi_map_print(const twi_map *m, twi_sb *out);
bool twi_map_parse(const char *text, size_t n, twi_map *m, size_t *bad);
/* Do the digits of the maps (one an axis) on a level take disjoint parts of its id space? (M3) GRID
 * is always disjoint. On failure *a, *b are the two offending maps. */
bool twi_map_disjoint(const twi_map *const *maps, unsigned n, unsigned level, unsigned *a,
                      unsigned *b);

#endif
