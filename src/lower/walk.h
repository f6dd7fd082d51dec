/* SPDX-License-Identifier: Apache-2.0
 * State of lowering one scope, shared by the files of this folder. Digits of axes are opened (as
 * group and worker ids, loops, unrolls); at any point the values of all open digits say which
 * element of each axis is meant.
 */
#ifndef TWI_LOWER_WALK_H
#define TWI_LOWER_WALK_H

#include "lower/cut.h"
#include "lower/lower.h"
#include "plan/split.h"

/* Where a settled value lies once it is there. */
typedef enum {
    TWI_HOME_NONE,
    TWI_HOME_SSA,
    TWI_HOME_STRIPE,
    TWI_HOME_SHARED /* in its carrier alone, for all frames */
} twi_home_kind;
typedef struct {
    uint8_t kind;
    uint8_t frame;
    twi_lid ssa;
    uint32_t object;  /* private, one dimension an axis with time digits of its frame */
    uint32_t carrier; /* object that takes it to the frame of its place's `to`, by positions in the
                         group; 0: none; kept in shared memory: the same as object */
    uint64_t effect;  /* of a shared carrier */
} twi_home;

typedef struct {
    twi_id value;
    twi_lid before;
} twi_memo_undo;
/* Pure instructions that are in force at the cursor: one that is asked for again is the one that is
 * there. */
typedef struct {
    uint16_t op;
    uint32_t attr;
    twi_lid a, b, is;
    uint32_t level, before; /* in its chain, + 1 */
} twi_known;
#define TWI_KNOWN_CHAINS 1024
/* Effect numbers of the versions of a stage, which trade places from trip to trip of an axis. */
typedef struct {
    uint8_t first, n, axis;
} twi_ring;
/* TOUCHED: what an earlier TOUCH announced goes on until here, behind barriers in between. WAIT: a
 * load of far memory is under way; READY: nothing is any more. */
typedef enum {
    TWI_EVENT_TOUCH,
    TWI_EVENT_TOUCHED,
    TWI_EVENT_BEGIN,
    TWI_EVENT_END,
    TWI_EVENT_WAIT,
    TWI_EVENT_READY
} twi_event_kind;
typedef struct {
    uint8_t kind;
    uint8_t axis;           /* BEGIN: whose trips they are; 0: of no serial digit */
    twi_lid barrier;        /* TOUCH: before it */
    uint64_t reads, writes; /* sets of shared objects, by effect number; versions as of trip 0 */
    double trips;           /* of the barrier; WAIT: of the body of the innermost rolled loop */
    bool early;             /* WAIT: in another trip */
} twi_event;

/* Of an array by a load: in how many phases so far, and the last of them, by number. */
typedef struct {
    uint32_t phases, last;
} twi_reading;

typedef struct twi_lowering {
    twi_arena *arena;
    const tw_ir *ir;
    const twi_caps *caps;
    const twi_plan *plan;
    const twi_frame *frame; /* in force: that of the group of roots being walked */
    unsigned frame_id;
    const uint8_t *layout; /* by array id, or NULL */
    twi_cut cut;
    twi_id_list
        splits; /* folds of which this launch leaves partial results; then nothing else runs */
    uint32_t split_array;          /* array id of the first of these */
    uint32_t module_arrays, temps; /* second launch: array ids from the first on are those of
                                      partial results, and lack the second to be the module's */
    uint64_t full;                 /* axes whose tile is known to lie inside here */
    uint32_t slots[TWI_MAX_AXES];  /* of the axis that are walked here; 0: all */
    uint64_t clamp; /* axes whose positions end with the last one there is: addresses of loads */
    twi_lid group;  /* number of the group whose digits are open */
    twi_cursor c;
    bool vectors;   /* explicit lanes */
    int lane_axis;  /* explicit: the axis with the lane digit; -1: none */
    uint32_t lanes; /* explicit: its extent, or 1; implicit: lanes of a subgroup */
    uint32_t subs;
    twi_lid (
        *digit)[TWI_MAX_DIGITS]; /* by axis, of the frame: value of each open digit; 0: closed */
    twi_lid (*digits)[TWI_MAX_AXES][TWI_MAX_DIGITS]; /* by frame */
    twi_home *home;                                  /* by value id */
    twi_lid *memo; /* by value id: computed here, for the open digits */
    TWI_VEC(twi_memo_undo) undo;
    uint32_t *slot_array; /* by value id: object holding it for all its slots, while its walk lasts;
                             0: none */
    struct twi_fold **stream; /* by value id: streamed scans of the walk */
    uint32_t *buffer; /* by value id, loads and stores: private object between a wide access and the
                         workers' own arithmetic; 0: none */
    uint32_t stage_object[TWI_MAX_STAGES]; /* 0: not active */
    uint32_t stage_buffer[TWI_MAX_STAGES]; /* private: what was taken of the next trip's tile */
    twi_ring stage_ring[TWI_MAX_STAGES];   /* n 1: one effect for all its versions; 0: none */
    uint32_t
        *next_object; /* by CARRY: where its new value waits for the end of the trip; 0: in place */
    bool copying;     /* filling a stage: loads go to the array */
    bool async;       /* by copies that run beside the worker */
    bool early;       /* for a later trip */
    twi_lid rows_loop;    /* of such a copy of whole vectors: the loop over its rows; 0: none */
    unsigned rows_ahead;  /* trips of it that a load asks ahead */
    uint32_t phases;      /* walked so far, this one too */
    twi_reading *reading; /* by value id, loads */
    TWI_VEC(twi_event) events;
    TWI_VEC(twi_ring) rings;
    uint32_t effects, versions; /* numbers given out; of versions */
    TWI_VEC(twi_order) orders;
    twi_features *tally;      /* NULL: only build */
    const twi_cutoff *cutoff; /* NULL: count to the end */
    jmp_buf *left;            /* where a walk goes that is cut off */
    double trips;             /* product of the open loops' trips */
    double round;             /* trips of the body of the innermost rolled loop */
    TWI_VEC(double) open_trips, open_round;
    TWI_VEC(twi_known) known;
    uint32_t known_chain[TWI_KNOWN_CHAINS]; /* newest of each chain, + 1 */
    TWI_VEC(uint32_t) open_known;           /* known.n at each open body */
    TWI_VEC(twi_lid) anchor; /* by level: the instruction before the open body there; 0: none */
    TWI_VEC(uint8_t) level;  /* by instruction: of the body it stands in, where it was moved out */
} twi_lowering;

/* ---- build.c: the builder, counting ---- */
twi_lid twi_w_op(twi_lowering *w, unsigned op, twi_lid a, twi_lid b,
                 twi_lid d); /* a value's arithmetic; splats */
twi_lid twi_w_ix(twi_lowering *w, unsigned op, twi_lid a, twi_lid b); /* index arithmetic; splats */
twi_lid twi_w_ix_select(twi_lowering *w, twi_lid condition, twi_lid a, twi_lid b); /* scalars */
twi_lid twi_w_cast(twi_lowering *w, tw_elem elem, twi_lid a);
twi_lid twi_w_bitcast(twi_lowering *w, tw_elem elem, twi_lid a);
twi_lid twi_w_const(twi_lowering *w, tw_elem elem, uint64_t bits, unsigned flags);
twi_lid twi_w_identity(twi_lowering *w, unsigned op, tw_elem elem); /* of a fold's or scan's */
twi_lid twi_w_int(twi_lowering *w, int64_t k);
twi_lid twi_w_leaf(twi_lowering *w, twi_loop_op op, unsigned count,
                   uint32_t attr); /* i64: id, iota, trip */
twi_lid twi_w_splat(twi_lowering *w, twi_lid a, unsigned count);
twi_lid twi_w_lane_fold(twi_lowering *w, unsigned merge, twi_lid a, unsigned log_stride,
                        unsigned log_extent);
twi_lid twi_w_lane_xor(twi_lowering *w, twi_lid a, uint32_t mask);
twi_lid twi_w_lane_shift(twi_lowering *w, twi_lid a, int32_t by);
twi_lid twi_w_lane_read(twi_lowering *w, twi_lid a, twi_lid lane);
twi_lid twi_w_dots(twi_lowering *w, twi_lid a, twi_lid b, twi_lid sum);
twi_lid twi_w_load(twi_lowering *w, twi_laccess access, const twi_lid *index, unsigned count,
                   twi_lid mask, twi_lid other);
void twi_w_store(twi_lowering *w, twi_laccess access, const twi_lid *index, twi_lid value,
                 twi_lid mask);
void twi_w_async_copy(twi_lowering *w, twi_laccess access, const twi_lid *index, twi_lid value);
twi_lid twi_w_for(twi_lowering *w, twi_lid lo, twi_lid hi, uint32_t step);
twi_lid twi_w_unroll(twi_lowering *w, uint32_t n);
void twi_w_if(twi_lowering *w, twi_lid condition);
void twi_w_if_edge(twi_lowering *w, twi_lid condition); /* what it holds is not counted */
void twi_w_close(twi_lowering *w);
unsigned twi_w_count(const twi_lowering *w, twi_lid a);

/* ---- frames.c: frames and what is taken from one to another ---- */
void twi_w_enter(twi_lowering *w, unsigned frame);
unsigned twi_frame_of(const twi_lowering *w, twi_id v); /* in which a value or a root runs */
bool twi_same_maps(const twi_plan *p, unsigned f, unsigned g, uint64_t axes);
bool twi_w_is_home(const twi_lowering *w,
                   twi_id v); /* can it be read where it lies, in this frame? */
void twi_w_make_carrier(twi_lowering *w, twi_id v);     /* if its place says `to` */
void twi_w_carry(twi_lowering *w, twi_id v, twi_lid x); /* writes the carrier at the open digits */
twi_lid twi_w_carried(twi_lowering *w, twi_id v);       /* reads it, in the other frame */

/* ---- digits.c: axes, positions, guards ---- */
const twi_map *twi_w_map(const twi_lowering *w, unsigned axis);
void twi_w_open_group(twi_lowering *w);   /* grid, sub and lane digits from the ids */
void twi_w_open_workers(twi_lowering *w); /* sub and lane digits of the frame in force */
twi_lid twi_w_position(twi_lowering *w,
                       unsigned axis); /* absolute; without the explicit lane's part */
twi_lid twi_w_position_from(twi_lowering *w, unsigned axis,
                            int64_t least_weight);       /* by the digits of at least that weight */
twi_lid twi_w_positions(twi_lowering *w, unsigned axis); /* of all explicit lanes */
twi_lid twi_w_lo(twi_lowering *w, unsigned axis);
twi_lid twi_w_hi(twi_lowering *w, unsigned axis);
/* Row-major number of the first instance(s) of those that differ in other axes alone. */
twi_lid twi_w_instance(twi_lowering *w, uint64_t axes);
twi_lid twi_w_span(twi_lowering *w,
                   unsigned axis); /* positions there are; of a STEP: in its block */
twi_lid twi_w_eval(twi_lowering *w, twi_ix x,
                   bool vector); /* vector: the lane axis as positions of all lanes */
bool twi_w_guarded(const twi_lowering *w,
                   unsigned axis); /* are there positions beyond the extent? */
int64_t twi_axis_extent(const tw_ir *ir, unsigned axis); /* -1: not constant */
/* Row-major number of the open digits among `digits` (a set) of an axis; their extents' product. */
twi_lid twi_w_number(twi_lowering *w, unsigned axis, uint8_t digits);
int64_t twi_digits_extent(const twi_map *m, uint8_t digits);
/* Set of the digits that run in time and tell elements of a stripe apart: loops, slots, trips that
 * the plan made. */
uint8_t twi_time_digits(const tw_ir *ir, const twi_frame *frame, unsigned axis);
uint8_t twi_level_digits(const twi_map *m, unsigned level);
typedef struct {
    twi_lid scalar, count, vector;
} twi_mask; /* conjunction; 0: true */
void twi_w_guard(twi_lowering *w, uint64_t axes, twi_mask *mask);
void twi_mask_and(twi_lowering *w, twi_mask *mask, twi_lid condition);        /* scalar or vector */
twi_lid twi_mask_bool(twi_lowering *w, const twi_mask *mask, unsigned count); /* 0: true */
void twi_w_lead_level(twi_lowering *w, unsigned level, int64_t total, uint64_t axes,
                      twi_mask *mask);
/* Number of the open lane and sub digits of the axes, in the order of the ids: neighbours are next
 * to each other; how many there are. */
twi_lid twi_w_workers_number(twi_lowering *w, uint64_t axes, int64_t *extent);
void twi_w_leader(twi_lowering *w, uint64_t axes,
                  twi_mask *mask); /* workers that no digit of axes tells apart: the first */

/* Does the digit take a loop? One of 1 trip does around an atom's boxes on explicit lanes: what the
 * loop holds is what tiles take whole. */
bool twi_w_runs(const twi_lowering *w, unsigned axis, unsigned digit);
/* Opens digits of an axis as loops and unrolls; twi_w_shut closes what was opened since. */
unsigned twi_w_depth(const twi_lowering *w);
void twi_w_open(twi_lowering *w, unsigned axis, unsigned digit);
void twi_w_shut(twi_lowering *w, unsigned depth);

/* ---- value.c: values at the open digits ---- */
twi_lid twi_w_value(twi_lowering *w, twi_id v);
void twi_w_remember(twi_lowering *w, twi_id v, twi_lid x);
uint32_t twi_w_scope(const twi_lowering *w); /* mark of the memo */
void twi_w_forget(twi_lowering *w, uint32_t mark);
unsigned twi_w_value_count(const twi_lowering *w, uint64_t axes);
twi_object twi_w_stripe_shape(twi_lowering *w, twi_id v, tw_elem elem, uint64_t axes);
uint32_t twi_w_stripe(twi_lowering *w, twi_id v, tw_elem elem,
                      uint64_t axes); /* new private object */
void twi_w_stripe_store(twi_lowering *w, uint32_t object, uint64_t axes, twi_lid x);
twi_lid twi_w_stripe_load(twi_lowering *w, uint32_t object, uint64_t axes);
/* The type that its stripe is of; stores x there, at the open digits. */
tw_elem twi_w_kept_elem(const twi_lowering *w, twi_id v);
void twi_w_keep(twi_lowering *w, twi_id v, twi_lid x);
unsigned twi_w_stripe_index(twi_lowering *w, uint64_t axes, twi_lid *index);
/* Slots of the axes: numbers of the open ones, extents; either may be NULL. Dimensions. */
unsigned twi_w_slot_index(twi_lowering *w, uint64_t axes, twi_lid *index, int64_t *extent);

/* ---- box.c: operands of dots by boxes ---- */
unsigned twi_w_box(const twi_lowering *w, twi_id v); /* positions of a box it is read by; 1 */
/* The array's dimension along which a box of a load without lanes lies; -1: it is woven. */
int twi_w_box_dimension(const twi_lowering *w, twi_id load);
twi_lid twi_w_box_load(twi_lowering *w, twi_id load);
/* n positions of its box, from the array: woven, or without lanes one after the other. */
twi_lid twi_w_box_rows(twi_lowering *w, twi_id load, twi_lid first, unsigned n);
#define TWI_MAX_TURN 16
/* turn.c: boxes of a load without lanes whose array has another axis's positions side by side:
 * `lanes` of them, from a slot on, are read and turned together. */
typedef struct {
    unsigned axis, digit, lanes;
} twi_turn;
bool twi_w_box_lies_across(const twi_lowering *w, twi_id load, twi_turn *out);
void twi_w_box_turned(twi_lowering *w, twi_id load, const twi_turn *t, twi_lid *box);
/* Those of lanes, each along a row of the array: read whole, and turned into groups of all lanes.
 */
bool twi_w_box_lies_along(twi_lowering *w, twi_id load);
void twi_w_box_groups(twi_lowering *w, twi_id load, twi_lid *box);
/* A value that another frame makes is woven from its stripe into an object of boxes, of which a dot
 * reads one at a time. Positions of a box of the frame that it is taken to; 1. */
unsigned twi_w_carried_box(const twi_lowering *w, twi_id v);
uint32_t twi_w_box_carrier(twi_lowering *w, twi_id v); /* makes the object */
void twi_w_carry_boxes(twi_lowering *w, twi_id v);     /* fills it, in that frame */
twi_lid twi_w_carried_boxes(twi_lowering *w, twi_id v);
twi_lid twi_w_box_dot(twi_lowering *w, twi_id dot, twi_lid sum); /* sum and the open box */

/* ---- access.c ---- */
twi_lid twi_w_array_load(twi_lowering *w, twi_id load, bool raw); /* raw: in the storage type */
void twi_w_array_store(twi_lowering *w, twi_id store);
uint32_t twi_w_array_object(const twi_lowering *w, uint32_t array); /* by the module's array id */
/* The mask as the access takes it; sets its kind. */
twi_lid twi_w_access_mask(twi_lowering *w, twi_laccess *access, unsigned count,
                          const twi_mask *mask);
bool twi_is_move(const twi_lowering *w,
                 twi_id store); /* stores what it loads, in one storage type: bits are moved */
/* Does a worker move several elements of the load or store at once (implicit lanes)? Then a load is
 * fetched into a buffer before its slots are opened, and a store's buffer is flushed after. */
bool twi_w_is_wide(const twi_lowering *w, twi_id v);
void twi_w_fetch(twi_lowering *w, twi_id load);
void twi_w_flush(twi_lowering *w, twi_id store);
/* Slots, the innermost digit of an axis, that are moved `count` at once. */
typedef struct {
    unsigned axis, digit, count;
} twi_run;
/* Opens all slots of the axes, those of the run by whole runs. */
void twi_w_open_run(twi_lowering *w, uint64_t axes, const twi_run *run);
bool twi_w_run_of(const twi_lowering *w, twi_id load, twi_run *run); /* of a wide load */
/* One access of it; the slots are opened up to there. */
twi_lid twi_w_load_run(twi_lowering *w, twi_id load);
/* The private object between wide accesses and single elements: an element a slot, in the storage
 * type. Its access at the open slots: one element, or as many as follow along an axis (-1: none).
 */
void twi_w_make_buffer(twi_lowering *w, twi_id v);
twi_laccess twi_w_buffer_access(twi_lowering *w, twi_id v, int axis, twi_lid *index);
int twi_innermost_digit(const twi_map *m); /* that has more than one position; -1: none */

/* ---- fold.c, collect.c, canonical.c ---- */
#define TWI_STATES 3
typedef struct {
    twi_lid v[TWI_STATES];
} twi_state; /* by component, as ir/monoid.def lists them */
typedef struct twi_fold {
    twi_id id;
    uint64_t own, folded; /* axes */
    int first_loop;       /* position in the walk's loops of its outermost folded loop; -1: none */
    int chunk_loop;       /* canonical rows longer than a chunk: position of the chunk loop, before
                             first_loop; by weight: of the outermost folded loop, first_loop is -1
                             then; -1 */
    int level;            /* loops open around an update */
    uint8_t inner[TWI_MAX_AXES];       /* digits of each axis that tell its accumulators apart */
    uint8_t chunk_inner[TWI_MAX_AXES]; /* digits of its own axes opened inside the chunk loop */
    uint32_t acc[TWI_STATES];          /* objects */
    uint32_t chunks;                   /* canonical: results of chunks */
    bool weight;                       /* the plan says so */
    uint32_t carry[TWI_STATES];        /* by weight, with folded loops */
    bool streams;                      /* canonical, element by element (plan/scope.h): */
    unsigned levels;                   /* rows of accumulators, the last dimension lanes[level] */
    uint32_t row[TWI_STREAM_LEVELS];
    int64_t lanes[TWI_STREAM_LEVELS];
    uint32_t part[TWI_STATES]; /* results of single subgroups, until collected */
    int held_loop;             /* position of the first of its innermost loops, which add to: */
    struct twi_fold *held;     /* the accumulators at the open loops (held.c); NULL */
    unsigned states;
    bool even; /* merged: no guards, so all accumulators hold equally many elements */
} twi_fold;
void twi_fold_plan(twi_lowering *w, twi_id id, const twi_axis_digit *loops, unsigned n,
                   twi_fold *f);
void twi_fold_init(twi_lowering *w,
                   twi_fold *f); /* accumulators before the outermost folded loop */
void twi_fold_update(twi_lowering *w, const twi_fold *f); /* one element */
void twi_fold_finish(twi_lowering *w, twi_fold *f,
                     bool at_top); /* slots and lanes; a home, or a part to collect */
void twi_fold_finish_chunks(twi_lowering *w, twi_fold *f, bool at_top);
/* Subgroups: of folds by weight whose updates stand at `level`, of all others if that is -1. */
void twi_fold_collect(twi_lowering *w, twi_fold *folds, unsigned n, int level);
int64_t twi_fold_subs(const twi_lowering *w,
                      const twi_fold *f); /* product of its folded sub digits */
void twi_fold_settle(twi_lowering *w, const twi_fold *f, twi_state s,
                     bool at_top); /* its home, at the open digits */
twi_state twi_state_identity(twi_lowering *w, const twi_fold *f, unsigned count);
twi_state twi_state_combine(twi_lowering *w, const twi_fold *f, twi_state a, twi_state b);
twi_state twi_state_lanes(twi_lowering *w, const twi_fold *f, twi_state s, const twi_digit *d);
/* argfold.c: what each state is, and the same of argmax and argmin. */
bool twi_is_argfold(const tw_ir *ir, twi_id fold);
tw_elem twi_arg_elem(const twi_lowering *w, const twi_fold *f, unsigned state);
twi_state twi_arg_identity(twi_lowering *w, const twi_fold *f, unsigned count);
twi_state twi_arg_element(twi_lowering *w, const twi_fold *f);
twi_state twi_arg_combine(twi_lowering *w, const twi_fold *f, twi_state a, twi_state b);
twi_state twi_arg_update(twi_lowering *w, const twi_fold *f, twi_state acc, twi_state element);
twi_lid twi_arg_done(twi_lowering *w, const twi_fold *f, twi_state s);
twi_state twi_arg_partial(twi_lowering *w, const twi_fold *f, twi_state s);
/* Operands that are consumed along the folded axes; a dot's start may follow. */
unsigned twi_fold_operands(const tw_ir *ir, twi_id fold);
twi_id twi_dot_start(const tw_ir *ir,
                     twi_id fold); /* 0: none, or +0, from which every chain starts */
bool twi_is_canonical_row(const tw_ir *ir, twi_id fold); /* canonical sum or prod */
/* Accumulators of its own elements that are open inside its folded loops: a shape of one dimension
 * an axis, the index of the open ones (its rank is returned), opening all. */
twi_object twi_fold_shape(twi_lowering *w, const twi_fold *f, tw_elem elem, int64_t more);
unsigned twi_fold_index(twi_lowering *w, const twi_fold *f, twi_lid *index);
void twi_fold_open(twi_lowering *w, const twi_fold *f, uint64_t axes);
void twi_fold_acc(twi_lowering *w, twi_fold *f); /* makes its accumulators */
twi_state twi_fold_get(twi_lowering *w, const twi_fold *f);
void twi_fold_put(twi_lowering *w, const twi_fold *f, twi_state s);
/* ---- held.c ---- */
void twi_held_plan(const twi_lowering *w, const twi_axis_digit *loops, unsigned n, twi_fold *f);
void twi_held_begin(twi_lowering *w, twi_fold *f); /* before that loop */
void twi_held_end(twi_lowering *w, twi_fold *f);   /* behind it */

bool twi_fold_carries(const twi_fold *f); /* by weight, across loops (carry.c) */
void twi_carry_init(twi_lowering *w, twi_fold *f);
void twi_carry_add(twi_lowering *w, const twi_fold *f, twi_state s);
void twi_carry_finish(twi_lowering *w, const twi_fold *f, bool at_top);
void twi_stream_init(twi_lowering *w, twi_fold *f);
/* x: the element at the open digits, the identity where it is not `real` (0: it always is). */
void twi_stream_update(twi_lowering *w, const twi_fold *f, twi_lid x, twi_lid real);
void twi_stream_finish(twi_lowering *w, const twi_fold *f, bool at_top);
/* The canonical fold of n numbers in a private object, at index[0 .. rank-2] fixed, the last
 * dimension running. */
twi_lid twi_canonical_row(twi_lowering *w, const twi_fold *f, uint32_t object, twi_lid *index,
                          unsigned rank, int64_t n);

/* What subgroups leave for each other in shared memory: the index of the open digits of the axes
 * `own`, its rank (and extents); and one writer for each element, the first of the workers that
 * these digits and the subgroups of `folded` do not tell apart. */
unsigned twi_w_board_index(twi_lowering *w, uint64_t own, twi_lid *index, int64_t *extent);
twi_mask twi_w_board_writers(twi_lowering *w, uint64_t own, uint64_t folded);

/* ---- scan.c ---- */
/* Digits of a scanned axis: time digits lighter than the lane digit, between that and the
 * subgroups', heavier than those; -1: none. False: they do not stand in that order. */
typedef struct {
    uint8_t low, mid, high;
    int lane, sub;
} twi_scan_digits;
bool twi_scan_split(const tw_ir *ir, const twi_frame *frame, unsigned axis, twi_scan_digits *out);
/* Do the lanes of each subgroup scan the totals of the subgroups, of a scan split over them? */
bool twi_scan_by_lanes(const tw_ir *ir, const twi_caps *caps, const twi_frame *frame, twi_id id);
typedef struct twi_scan {
    twi_lowering *w;
    twi_id id;
    const twi_ins *ins;
    unsigned axis;
    const twi_map *map;
    uint64_t own;    /* other axes */
    uint32_t stripe; /* elements, then results */
    bool reverse, exclusive;
    twi_scan_digits at;
} twi_scan;
void twi_scan_element(twi_lowering *w, twi_id id); /* one element into its stripe */
void twi_scan_finish(twi_lowering *w, twi_id id);  /* the stripe holds the results afterwards */
bool twi_scan_is_canonical(const tw_ir *ir, twi_id id); /* a fixed order that groups elements */
twi_lid twi_scan_next(twi_lowering *w, twi_id id);      /* streamed: takes the open element in */
twi_lid twi_scan_identity(const twi_scan *s);
twi_lid twi_scan_start(const twi_scan *s); /* what an exclusive scan gives the first element */
twi_lid twi_scan_combine(const twi_scan *s, twi_lid a, twi_lid b);
void twi_scan_canonical(const twi_scan *s); /* scan_canonical.c: of the row at the open digits */

/* ---- merged.c: folds of several results ---- */
bool twi_merged_even(const twi_lowering *w, const twi_fold *f);
twi_state twi_merged_identity(twi_lowering *w, const twi_fold *f);
twi_state twi_merged_element(twi_lowering *w, const twi_fold *f, twi_lid x);
twi_state twi_merged_combine(twi_lowering *w, const twi_fold *f, twi_state a, twi_state b);
twi_state twi_merged_done(twi_lowering *w, const twi_fold *f, twi_state s); /* after the last */

/* ---- split.c: partial results for a second launch ---- */
bool twi_w_is_split(const twi_lowering *w, twi_id v);
void twi_split_store(twi_lowering *w, const twi_fold *f, twi_state s); /* at the open digits */

/* ---- groups.c ---- */
/* The group's number; where each group works off several, the loop over them, up to twi_w_shut. */
void twi_w_open_groups(twi_lowering *w);
void twi_w_shut_groups(twi_lowering *w); /* at the loop's end */
void twi_w_open_grid(twi_lowering *w);   /* grid digits of the frame */

/* ---- count.c ---- */
/* Value of an integer expression in the middle of all groups, workers and trips: trip counts known
 * at run time only. */
double twi_estimate(const twi_func *f, twi_lid v, double groups);
double twi_estimate_trips(const twi_func *f, twi_lid loop, double groups);
/* Are its elements moved one by one though the lanes move together? */
bool twi_is_scattered(const twi_func *f, const twi_laccess *a, const twi_lid *index,
                      unsigned count);
void twi_features_init(twi_arena *arena, uint32_t arrays, twi_features *out);
void twi_features_of_func(const twi_func *f,
                          twi_features *out); /* sizes: code, shared bytes, slots */
/* How far v moves from trip to trip of a loop. */
double twi_step_of(const twi_func *f, twi_lid v, twi_lid loop);
twi_lid twi_w_inner_loop(const twi_lowering *w); /* the innermost open rolled loop; 0: none */
typedef struct {
    const twi_laccess *access;
    const twi_lid *index;
    unsigned count;
    bool store;
    double trips; /* in all */
    twi_lid loop; /* that loop; 0: none */
    double loop_trips;
    twi_lid mask;        /* 0: none */
    const twi_lid *open; /* bodies that it stands in, outermost first */
    uint32_t n_open;
    double groups;
} twi_touch;
/* True: a load of far memory. */
bool twi_count_touch(const twi_func *f, const twi_touch *t, twi_features *out);

/* ---- lanes.c: one subgroup's access of an object, implicit lanes ---- */
double twi_access_sectors(const twi_func *f, const twi_touch *t); /* of 32 bytes */
double twi_access_turns(const twi_func *f, const twi_touch *t); /* of the banks of shared memory */

/* ---- order.c ---- */
/* Orders digits of all axes of a fold's bracket: the last axis weighs least. */
int64_t twi_row_major_weight(const twi_ins *fold, unsigned axis, const twi_map *m, unsigned digit);

/* ---- phase.c, region.c, stage.c, effects.c ---- */
void twi_w_phase(twi_lowering *w, uint32_t region, unsigned p);
void twi_w_region(twi_lowering *w, uint32_t region);
/* Is the last reading of a carry before its new value is written, wherever the walk puts both? */
bool twi_w_in_place(const twi_lowering *w, uint32_t region, unsigned carry);
/* The carry whose new value is fold y and that y's result is settled over, element by element as
 * the old ones have been read; -1: none, its result has a place of its own. */
int twi_w_settles(const twi_lowering *w, uint32_t region, twi_id y);
int twi_w_stage_level(const twi_lowering *w, unsigned stage, const twi_axis_digit *loops,
                      unsigned n);
/* Filled outside all walks: none of its axes has a trip of a region. */
bool twi_w_stage_around(const twi_lowering *w, unsigned stage);
void twi_w_stage_open(twi_lowering *w, unsigned stage); /* makes its object: it is active */
void twi_w_stage_copy(twi_lowering *w, unsigned stage); /* fills the open trip's version */
/* The same in two parts: the array into private slots, those into the version. */
void twi_w_stage_take(twi_lowering *w, unsigned stage);
void twi_w_stage_put(twi_lowering *w, unsigned stage);
void twi_w_stage_issue(twi_lowering *w, unsigned stage); /* starts copying to the version */
int twi_w_stage_of(const twi_lowering *w, twi_id load);  /* active stage holding it; -1 */
twi_lid twi_w_stage_load(twi_lowering *w, unsigned stage);
/* As far as so many trips of a loop (0: none) go, where they go on in the object; 0: they do not.
 */
uint32_t twi_w_elements_ahead(const twi_lowering *w, uint32_t object, const twi_lid *index,
                              twi_lid loop, unsigned trips);
/* Does a worker read several elements of the tile at once? Then they are fetched into its buffer,
 * as those of arrays are. */
bool twi_w_stage_run(const twi_lowering *w, unsigned stage, twi_run *run);
void twi_w_stage_fetch(twi_lowering *w, unsigned stage);
/* ---- window.c: a set of stages that are filled at one place: before the loop over their trips,
 * at the start of each trip, at its end ---- */
void twi_w_window_prime(twi_lowering *w, uint64_t stages);
void twi_w_window_begin(twi_lowering *w, uint64_t stages);
void twi_w_window_end(twi_lowering *w, uint64_t stages);
void twi_w_event(twi_lowering *w, uint64_t reads,
                 uint64_t writes); /* a barrier here, if it is needed in the end */
void twi_w_event_touched(twi_lowering *w, uint64_t reads, uint64_t writes);
void twi_w_event_loop(twi_lowering *w, bool begin);
void twi_w_event_trips(twi_lowering *w, unsigned axis); /* begins a loop over its serial digit */
uint64_t twi_w_effect(twi_lowering *w);                 /* a new effect number's bit */
twi_ring twi_w_ring(twi_lowering *w, unsigned n, unsigned axis); /* of n versions */
/* For the tally: a load of far memory, early or not; all that was under way is there. */
void twi_w_waits(twi_lowering *w, bool early);
void twi_w_cut_off(twi_lowering *w); /* does not return where what is counted is too much */
void twi_w_ready(twi_lowering *w);
void twi_w_settle_barriers(twi_lowering *w); /* takes out what no conflict needs; at the end */
/* A scope that stores what it loads, by a plan that gives nothing to lanes and subgroups: one
 * worker of the group does it all. */
bool twi_runs_alone(const twi_cut *cut, const twi_caps *caps, const twi_plan *p);
/* tiles.c: loops around all phases, full tiles and ragged ones. */
void twi_w_tiles(twi_lowering *w);
/* One function: the scope's body at the cursor. */
void twi_w_scope_body(twi_lowering *w);

#endif
