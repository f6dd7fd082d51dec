/* SPDX-License-Identifier: Apache-2.0
 * The plan: every choice about the machine for one scope of one specialised kernel, in normal form.
 * Nothing else decides. Text form: docs/plans.md; printed and parsed to the same bytes.
 *
 *     plan   softmax/0 target=cpu-avx512 class=free spec T=f32 R=128 W=1024
 *     frame  f: r = grid 128 ; w = loop 16, slot 4, lane 16   order w.loop
 *     value  p: keep stripe
 *     entry  main ; entry aligned16: align16 X Y
 *     derived workers 1, lanes 16, ...
 */
#ifndef TWI_PLAN_PLAN_H
#define TWI_PLAN_PLAN_H

#include "caps/caps.h"
#include "ir/ir.h"
#include "ir/order.h"
#include "map/map.h"
#include "map/swizzle.h"

#define TWI_MAX_FRAMES 6
#define TWI_MAX_STAGES 4
#define TWI_MAX_LOOPS 16

typedef struct {
    uint8_t axis, digit;
} twi_axis_digit; /* digit: index in the axis's map */

/* Maps of axes for a set of steps. A frame holds a map for every axis that its values have. */
typedef struct {
    twi_sym name;
    uint64_t axes; /* that it maps */
    twi_map *map;  /* by axis id, the frame's own; NULL: it maps none */
    uint8_t ids;   /* how many maps: axis ids of the tile IR are below */
    uint8_t loops; /* rolled digits in the order they are opened, outermost first: */
    twi_axis_digit order[TWI_MAX_LOOPS]; /* all LOOP digits of the frame; default: axis order, most
                                            significant first */
    uint8_t around; /* so many of the first stand around all phases of the scope: instances that a
                       group works off one after the other */
} twi_frame;

typedef enum { TWI_KEEP_NONE, TWI_KEEP_STRIPE, TWI_KEEP_SHARED, TWI_KEEP_SCRATCH } twi_keep;
typedef enum {
    TWI_FOLD_TIME,
    TWI_FOLD_WEIGHT
} twi_fold_order; /* time before space; by ascending weight */
typedef enum {
    TWI_ATOM_NONE,
#define TWI_ATOM(NAME, spelling, k, elem, sum, flushes, ops, caps) TWI_ATOM_##NAME,
#include "plan/atom.def"
#undef TWI_ATOM
    TWI_ATOMS
} twi_atom;
typedef enum {
    TWI_TO_NONE,
    TWI_TO_RENAME,
    TWI_TO_PRIVATE,
    TWI_TO_LANES,
    TWI_TO_SHARED
} twi_carrier;
typedef enum { TWI_VIA_SYNC, TWI_VIA_REGS, TWI_VIA_ASYNC } twi_copy_via;
typedef enum {
    TWI_GROUPS_ROWS,
    TWI_GROUPS_COLS,
    TWI_GROUPS_BAND,
    TWI_GROUPS_HILBERT
} twi_group_order;

typedef struct {
    twi_id value;
    uint8_t frame; /* in which frame it is computed (index); 0: the scope's first */
    uint8_t keep;  /* for values used in a later phase than their own; NONE: recomputed there */
    uint8_t fold;  /* twi_fold_order of a fold */
    uint8_t atom;  /* of a dot */
    uint8_t to,
        via; /* converted to this frame (index + 1; 0: not) by this carrier when first used there */
    uint16_t pad;        /* elements added to each row of a shared carrier's last axis */
    twi_swizzle swizzle; /* or of those rows */
} twi_place;

/* A tile of an array (the value is its LOAD) placed in an addressed object while a serial region or
 * the scope runs. */
typedef struct {
    twi_id value;
    bool shared; /* else scratch */
    uint8_t n;   /* digits of the value's axes inside the object, slow to fast: */
    twi_axis_digit order[TWI_MAX_LOOPS];
    uint32_t pad;        /* elements added to the row below the fastest axis's digits */
    twi_swizzle swizzle; /* or of those rows */
    uint64_t copy_axes;  /* axes of the copy frame; 0: workers copy in stage order, one element each
                            in turn */
    twi_map *copy;       /* by axis id, the stage's own; NULL: none */
    uint8_t ids;         /* as a frame's */
    uint8_t window;      /* versions: trip t has its tile in version t % window; 1 */
    uint8_t via;         /* twi_copy_via: when a trip's tile is copied */
    uint8_t ahead;       /* trips of the innermost loop that a load asks for what comes; 0: not */
} twi_stage_plan;

/* Does a stage's tile have this digit? */
static inline bool twi_stage_holds(const twi_stage_plan *s, unsigned axis, unsigned digit) {
    for (unsigned k = 0; k < s->n; k++)
        if (s->order[k].axis == axis && s->order[k].digit == digit)
            return true;
    return false;
}

typedef struct {
    twi_sym name;
    TWI_VEC(uint32_t) align;
} twi_entry_plan; /* by array id: bytes; main: none */

typedef struct twi_plan {
    twi_sym kernel, target, isa;
    uint32_t scope;      /* PAR regions in order, from 0 */
    uint8_t klass;       /* TWI_ORDER_FREE, TREE or CANONICAL */
    twi_sym spec, param; /* "T=f32 R=128 W=1024"; "BJ=64": what the tile IR was built for (as
                            ir->spec_note, dims added) */
    twi_sym merge;       /* "sum.1, sum.3": folds taken into earlier ones, as ir->merged; 0 none */
    twi_sym join;        /* "r w, b r_w": axes of the scope that are one; 0 none */
    TWI_VEC(twi_place) place;      /* only values that have something to say, by value id */
    TWI_VEC(twi_entry_plan) entry; /* of the kernel; the same in every scope */
    uint8_t order;                 /* twi_group_order: which digits a group's number means */
    int64_t band;                  /* BAND: rows of a band */
    int64_t persistent; /* groups launched, each of which works off numbers so far apart; 0: all */
    struct twi_plan *then; /* of the second launch, where this one splits folds (split.h) */
    bool second;           /* is it one of these? */
    uint8_t frames, stages;
    twi_frame frame[TWI_MAX_FRAMES];
    twi_stage_plan stage[TWI_MAX_STAGES];
} twi_plan;

/* A kernel's plan: one for each scope. */
typedef struct twi_plans {
    const tw_ir *ir; /* specialised and lifted, the plans' merges done */
    uint32_t n;
    twi_plan *scope;
    const uint8_t *layout; /* by array id: 0 dense, 1 any strides, 2 + k: dimension k has stride 1;
                              NULL: all dense */
    const char *const
        *derived;   /* by scope, what a parsed text said of it (NULL: nothing); else NULL */
    uint32_t walks; /* a search's: how many it took, and what they built */
    uint64_t built;
} twi_plans;

typedef enum {
    TWI_WHY_RULE,
    TWI_WHY_SLOTS, /* more than a worker's slots; loops over what it cannot index */
    TWI_WHY_GROUP, /* more bytes than the workers of a group keep */
    TWI_WHY_LATER  /* not built yet */
} twi_why_kind;
/* Why something is refused: one line, with the numbers. */
typedef struct twi_why {
    char text[240];
    uint8_t kind; /* twi_why_kind */
} twi_why;

twi_plan *twi_plan_new(twi_arena *arena); /* no frames, no stages */
/* Frames with their maps, stages, places and entries of its own. Assigned, plans, frames and stages
 * share maps: who changes one copies it before. */
void twi_plan_copy(twi_arena *arena, twi_plan *to, const twi_plan *from);
twi_frame twi_frame_new(twi_arena *arena, twi_sym name, unsigned ids); /* maps nothing yet */
twi_frame twi_frame_copy(twi_arena *arena, const twi_frame *from);
void twi_stage_add_copy(twi_arena *arena, twi_stage_plan *s, unsigned ids); /* empty maps */
void twi_frame_default_order(twi_frame *f);
bool twi_frame_is_around(const twi_frame *f, unsigned axis, unsigned digit);
/* The value's place, added with all defaults where it has none. */
twi_place *twi_plan_set_place(twi_arena *arena, twi_plan *p, twi_id value);
const twi_place *twi_plan_place(const twi_plan *p, twi_id value); /* NULL: all defaults */
const twi_map *twi_plan_map(const twi_plan *p, unsigned frame, unsigned axis);
/* The digit whose trips a stage is filled in, the innermost; false: it has none. */
bool twi_stage_trip(const tw_ir *ir, const twi_frame *f, const twi_stage_plan *s,
                    twi_axis_digit *out);
/* Trips between the start of a copy and the math on it. */
unsigned twi_stage_lead(const twi_stage_plan *s);
uint32_t twi_plan_lanes(const twi_plan *p); /* lanes used by its frames (explicit: widest lane
                                               digit; implicit: caps' lane) */
uint32_t twi_plan_subs(const twi_plan *p);  /* subgroups a group: largest stride * extent over the
                                               sub digits of all frames */
int64_t twi_plan_blocks(const twi_plan *p); /* product of the grid digits of all axes */
int64_t twi_plan_groups(const twi_plan *p); /* launched: as many, or `persistent` */

/* Text. Derived figures come from lowering (lower/lower.h) and are printed by whoever has them;
 * parse keeps the `derived` text apart so that it can be compared. A file holds one
 * block a scope. */
void twi_plan_print(const tw_ir *ir, const twi_plans *plans, const char *const *derived,
                    twi_sb *out);
bool twi_plan_parse(twi_arena *arena, const tw_ir *ir, const char *name, const char *text, size_t n,
                    twi_plans *plans);
uint64_t twi_plan_hash(const tw_ir *ir, const twi_plans *plans); /* of the text without `derived` */

#endif
