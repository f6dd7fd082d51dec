/* SPDX-License-Identifier: Apache-2.0
 * Parts of what draws any legal plan (random.c).
 */
#ifndef TWI_SEARCH_RANDOM_H
#define TWI_SEARCH_RANDOM_H

#include "search/view.h"

enum { TWI_DRAW_TRIES = 160 };

typedef struct {
    const twi_view *v;
    const twi_wish *wish;
    twi_rng rng;
    int64_t slots, lanes, subs; /* left to give out */
    int lane_axis;              /* explicit lanes: the axis that has them; -1: none */
    bool again;                 /* drawing a second frame */
    bool second;                /* drawing a second launch */
    twi_plan *p;
} twi_draw;

static inline int64_t twi_draw_below(twi_draw *d, int64_t n) {
    return (int64_t)twi_rng_below(&d->rng, (uint64_t)n);
}

static inline bool twi_draw_chance(twi_draw *d, unsigned one_in) {
    return twi_rng_below(&d->rng, one_in) == 0;
}

bool twi_draw_legal(twi_draw *d);
/* An extent up to most that divides n where n is to be cut exactly (n > 0). */
int64_t twi_draw_fitting(twi_draw *d, int64_t most, int64_t n);
void twi_draw_append(twi_map *m, unsigned level, int64_t stride, int64_t extent); /* unless 1 */
/* Trades loops of the frame where that is legal. */
void twi_draw_order(twi_draw *d, unsigned frame);
/* A stage in the load's frame, not judged, with the tile's digits in any order, axis after axis or
 * mixed; plain: the same without versions and copy maps. False: none can be. */
bool twi_draw_add_stage(twi_draw *d, twi_id id, twi_stage_plan *plain);
void twi_draw_stage(twi_draw *d, twi_id id); /* if one is legal */
/* Dots by boxes in the first frame, and of what is computed in frames of their own. */
void twi_draw_atoms(twi_draw *d);
void twi_draw_chain(twi_draw *d);

#endif
