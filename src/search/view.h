/* SPDX-License-Identifier: Apache-2.0
 * What families see of a scope: axes with extents and what happens on them, and how maps are made
 * from numbers.
 */
#ifndef TWI_SEARCH_VIEW_H
#define TWI_SEARCH_VIEW_H

#include "base/hash.h"
#include "plan/scope.h"
#include "search/search.h"

#define TWI_MAX_PROPOSALS 384

typedef struct {
    uint8_t kind;   /* twi_axis_kind */
    bool known;     /* extent is a number */
    int64_t extent; /* positions; 0 if not known */
    int64_t block;  /* BLOCK and tiled STEP; untiled STEP: 1; else 0 */
} twi_axis_view;

/* What a search took: walks, and the instructions that they built. */
typedef struct {
    uint32_t walks;
    uint64_t built;
} twi_effort;

typedef struct twi_view {
    twi_effort *effort; /* or NULL */
    twi_arena *arena;
    const tw_ir *ir;
    const twi_caps *caps;
    uint32_t scope, par;
    uint64_t axes;      /* of the scope */
    uint64_t folded;    /* consumed by some fold */
    uint64_t scanned;   /* along which some scan runs */
    uint64_t chain;     /* of a fold or scan of fixed order: time digits alone */
    uint64_t canonical; /* consumed by a canonical sum or product whose lanes are digits */
    uint64_t streams;   /* consumed by one whose elements must come one after the other */
    uint64_t
        stripes; /* of values that live between phases in any case: fold results, scans, carries */
    int unit;    /* axis along which the first store (or load) is contiguous; -1: none */
    int unit_load; /* the same of the first load */
    bool serial;   /* has serial regions */
    bool again;    /* of a second launch: its folds take partial results */
    unsigned folds;
    twi_axis_view axis[TWI_MAX_AXES];
    twi_id_list all;
    twi_id *crossing; /* that may be kept */
    uint32_t crossings;
    const struct twi_floor_facts *facts; /* floor.c */
    const twi_plan *plain;               /* maps.c: what twi_view_plan copies */
} twi_view;

void twi_view_init(twi_view *v, twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                   uint32_t scope);

/* The axis that walks through the last dimension of a load's or store's array by ones; -1: none. */
int twi_view_unit(const twi_view *v, twi_id id);
/* Bytes of the narrowest elements that the scope loads or stores along the axis. */
int64_t twi_view_bytes(const twi_view *v, unsigned a);

/* How an axis is cut, inner digits by level. The rest of the extent is a loop, slots (whole), or
 * the grid. */
typedef struct {
    int64_t rows;   /* INDEX: a loop of so many right of the grid digit */
    int64_t unroll; /* slot */
    int64_t subs, lanes;
    int64_t wide; /* slot right of the lane digit: contiguous (implicit lanes) */
    bool whole;   /* the outermost time digit is a slot */
} twi_cut_numbers;

/* Map of axis a; false: these numbers do not divide its block. */
bool twi_view_map(const twi_view *v, unsigned a, twi_cut_numbers c, twi_map *m);
/* As a canonical sum wants it: time level of the digit of weight 256, subgroups and lanes of the
 * 256. */
bool twi_view_canonical(const twi_view *v, unsigned a, unsigned time, int64_t subs, int64_t lanes,
                        twi_map *m);
/* The least, all of it in loops (in slots where stripes must be): what any order takes. */
void twi_view_loops(const twi_view *v, unsigned a, twi_map *m);
/* Canonical axes other than a leave the lanes to it. */
void twi_view_leave_lanes(const twi_view *v, twi_plan *p, unsigned a);
/* The least: all time in loops (or what the target and the orders force); lanes only where forced.
 */
void twi_view_plain(const twi_view *v, unsigned a, twi_map *m);

/* A plan of one frame "f" with plain maps everywhere, entry main, the IR's class. */
twi_plan *twi_view_plan(const twi_view *v);
const twi_plan *twi_plain_plan(const twi_view *v); /* of the scope, once */
/* Strides of lane and sub digits, packed in the order that they have, new ones last axis and last
 * digit first. Then loops in an order
 * that all folds accept: other axes first, folded ones inside, in the order of their brackets. */
void twi_view_finish(const twi_view *v, twi_plan *p);
void twi_view_finish_frame(const twi_view *v, twi_plan *p, unsigned frame);
void twi_view_order(const twi_view *v, twi_plan *p, unsigned frame);
/* Adds a frame with these maps under the next name; which one it is. */
unsigned twi_view_add_frame(const twi_view *v, twi_plan *p, const twi_frame *f);
/* Of one frame: folds whose fixed orders it cannot serve together get others with the same maps. */
void twi_view_split_orders(const twi_view *v, twi_plan *p);

typedef enum { TWI_KEEP_NOTHING, TWI_KEEP_EXPENSIVE, TWI_KEEP_ALL } twi_keep_mode;
bool twi_view_expensive(const twi_view *v, twi_id id); /* worth a stripe */
void twi_view_keep(const twi_view *v, twi_plan *p, twi_keep_mode mode);

/* ---- families: each proposes finished plans ---- */
typedef struct {
    const twi_view *view;
    struct twi_seconds *seconds; /* split.c: second launches found so far */
    uint32_t n;
    struct {
        const char *family;
        twi_plan *plan;
        bool placed; /* the family says what is kept */
    } at[TWI_MAX_PROPOSALS];
} twi_offers;
void twi_offers_init(twi_offers *o, const twi_view *v);
/* Adds p (finished here) unless an equal one is there or the list is full. */
void twi_offer(twi_offers *o, const char *family, twi_plan *p);
void twi_propose_general(twi_offers *o);
void twi_propose_rows(twi_offers *o);
void twi_propose_pointwise(twi_offers *o);
void twi_propose_matrix(twi_offers *o);
void twi_propose_chained(twi_offers *o);
void twi_propose_all(twi_offers *o); /* of these families */
bool twi_same_plan(const tw_ir *ir, const twi_plan *x, const twi_plan *y);

/* ---- split.c: proposals with groups for parts of a fold, in the order of those they are made of
 * ---- */
typedef struct {
    const char *family;
    twi_plan *plan; /* lacks its second launch */
    struct twi_second *then;
    double least; /* ns, whatever that is */
} twi_split;
typedef TWI_VEC(twi_split) twi_splits;
void twi_find_splits(twi_offers *o, twi_splits *out);
/* By the least they take; more than the limit, ns, is all the same. */
void twi_rank_splits(const twi_offers *o, twi_splits *splits, double limit);
/* With the best second launch, if one makes less than the limit of both, ns. */
void twi_offer_split(twi_offers *o, const twi_split *s, double limit);

/* Applies the pins that shape plans; false: why. Figures are checked by twi_pins_hold. */
bool twi_pins_apply(const twi_view *v, const twi_wish *wish, twi_plan *p, twi_why *why);
bool twi_pins_hold(const twi_view *v, const twi_wish *wish, const twi_plan *p,
                   const twi_features *f, twi_why *why);

/* ---- one tile IR as it stands; forms.c asks for each form of a program ---- */
typedef struct {
    twi_arena *arena;
    const tw_ir *ir;
    const twi_caps *caps;
    const twi_wish *wish;
    twi_effort *effort; /* or NULL */
    double limit;       /* ns: splits that take more are of no interest */
} twi_question;
uint32_t twi_list_of(const twi_question *q, uint32_t scope, twi_candidate **out);
/* The first of that list, sooner. False: none is legal, out->why. */
bool twi_best_of(const twi_question *q, uint32_t scope, twi_candidate *out);
twi_plans *twi_default_of(const twi_question *q, twi_why *why);
/* The best of all forms. */
bool twi_best_form(const twi_question *q, uint32_t scope, twi_candidate *out);
/* One walk, and that of a second launch. */
void twi_effort_add(twi_effort *e, const twi_features *f);
/* No plan takes less of whose first launch a part is counted (twi_cutoff), ns. */
double twi_search_floor(const tw_ir *ir, const twi_caps *caps, const twi_features *so_far);
typedef struct {
    const twi_view *v;
    double limit; /* ns */
} twi_patience;
bool twi_is_over(const void *patience, const twi_features *so_far); /* for a twi_cutoff */
/* Of the scope, once. */
const struct twi_floor_facts *twi_floor_facts(const twi_view *v);
/* No walk of the plan finds less; with `keeps`: whatever it keeps; ns. */
double twi_view_floor(const twi_view *v, const twi_plan *p, bool keeps);
/* No launch takes less, ns; no launch that loads. */
double twi_search_least(const twi_caps *caps, bool loads);
twi_plans *twi_random_of(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                         const twi_wish *wish, uint64_t seed, twi_why *why);

/* Are the same folds merged in both, the same axes joined? */
bool twi_same_form(const tw_ir *x, const tw_ir *y);
/* The scope's axes joined as plan text says, "r w, b r_w"; NULL: why. */
tw_ir *twi_pinned_form(twi_arena *arena, const tw_ir *ir, uint32_t scope, const char *axes,
                       twi_why *why);

void twi_share_entries(twi_plans *plans); /* every scope gets those of the first */

int64_t twi_cdiv(int64_t x, int64_t y);

#endif
