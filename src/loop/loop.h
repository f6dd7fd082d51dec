/* SPDX-License-Identifier: Apache-2.0
 * Loop IR: a kernel with all choices spelled out; typed, target-neutral. Values are immutable and
 * never cross a loop's back edge; what changes lives in objects. Control is structured. One module
 * holds the functions of one kernel at one plan: for each entry, one function a scope, and the
 * recipe that runs them.
 *
 * Explicit lanes (CPU): one worker a group; vectors are values of count > 1. Implicit lanes (SIMT):
 * a group is subs x lanes workers that run the same body; `id sub`, `id lane`; count > 1 only for
 * wide accesses. `id grid` is the group number, 0 .. launch.grid - 1; which axis digit it means is
 * spelled out as arithmetic.
 */
#ifndef TWI_LOOP_LOOP_H
#define TWI_LOOP_LOOP_H

#include "ir/ir.h"
#include "ir/order.h"
#include "map/map.h"
#include "map/swizzle.h"

typedef enum twi_loop_op {
    TWI_LOOP_FIRST = TWI_ELEMENTWISE_END - 1,
#define TWI_LOOP(NAME, spelling, built) TWI_L_##NAME,
#include "loop/loop.def"
#undef TWI_LOOP
    TWI_LOOP_END
} twi_loop_op;

typedef uint32_t twi_lid; /* instruction = value; 0: none */

/* Varies: on which ids a value depends (bit 1 << level for GRID, SUB, LANE). Filled by
 * twi_loop_verify. */
typedef enum {
    TWI_FLAG_IDENTITY = 1, /* LCONST: a fold's identity: combining it is no rounding */
    TWI_FLAG_COMBINE = 2,  /* a combining step of the fold in `fold` */
    TWI_FLAG_INDEX = 4     /* index arithmetic: not part of the program's own operations */
} twi_lflags;

typedef struct {
    uint16_t op;
    uint8_t elem, varies, flags;
    uint8_t pad;
    uint16_t count; /* elements of the result; 1: scalar; 0: no result */
    uint32_t attr;
    uint32_t arg, nargs; /* first of func->args */
    twi_lid body, next;  /* first instruction inside; next one at this level; 0: none */
    uint32_t fold;       /* COMBINE: the tile IR fold (value id) it is a step of */
    twi_sym name;        /* what tile IR called it, for readers; 0: none */
    twi_loc loc;
} twi_lins;

typedef enum {
    TWI_OBJ_NONE,
    TWI_OBJ_ARRAY,
    TWI_OBJ_SHARED,
    TWI_OBJ_PRIVATE,
    TWI_OBJ_SCRATCH
} twi_obj_kind;
/* ARRAY: an argument (or temp). SHARED: one a group. PRIVATE: one a worker, meant for registers (or
 * its stack). SCRATCH: one a worker in memory (CPU packing buffers, large stripes). */
typedef struct {
    twi_sym name;
    uint8_t kind, elem, rank, role; /* role: twi_role of an ARRAY */
    uint16_t
        count; /* elements that one index names (explicit lanes: f32x16[12,2]); ARRAY, SHARED: 1 */
    uint16_t align; /* ARRAY: bytes that the entry's facts promise for the base and all strides but
                       the unit one; 0: the element's own */
    uint32_t array; /* ARRAY: array id in tile IR */
    int64_t extent[TWI_MAX_RANK]; /* ARRAY: as declared, or of a dense one its elements in order in
                                     other dimensions */
    int64_t stride[TWI_MAX_RANK]; /* in elements (of count); ARRAY: 0 with bit set in `dynamic`: run
                                     time. Others: row-major with pads included */
    uint8_t dynamic;              /* set of dims whose stride is a run-time argument */
    twi_swizzle swizzle; /* SHARED of implicit lanes: where in its row (the last dimension, of whole
                            spans) an element lies follows from the index before the last. Indices
                            in accesses stay what they are; an access of several elements claims
                            its alignment and is no wider than a unit */
} twi_object;

typedef enum { TWI_MASK_NONE, TWI_MASK_COUNT, TWI_MASK_BOOL } twi_mask_kind;
/* Where indices are scalars, a LOAD or STORE of count n touches n elements that follow one another
 * on dimension `dim` (of an object whose own count is 1; a stride other than 1 there makes it a
 * strided access). Where some indices are vectors of that count, element l uses each one's element
 * l (gather, scatter), scalars being the same for all. Objects with count > 1 are accessed by whole
 * vectors. COUNT mask: i64 scalar, elements 0 .. mask-1 take part (any value; clamped). BOOL: count
 * of the access, or 1 for all of it at once. Masked-off elements of a load are the else value, or 0
 * (false). */
typedef struct {
    uint32_t object;
    uint8_t dim, mask; /* twi_mask_kind */
    bool has_else;
    uint8_t align;  /* bytes proved for the access as a whole; 0: the element's */
    bool stream;    /* non-temporal hint */
    bool early;     /* LOAD of an array: nobody waits for it in this trip */
    uint32_t ahead; /* LOAD: elements behind this one that are asked for too; 0: none */
    uint16_t merge; /* STORE: ADD, MIN or MAX: each element takes the value in, atomically among all
                       workers and groups, in any order; 0: it is replaced */
} twi_laccess;

enum { TWI_IF_EDGE = 1 }; /* attr of an IF */
typedef enum { TWI_SCOPE_SUBGROUP, TWI_SCOPE_GROUP } twi_barrier_scope;

typedef struct {
    twi_sym name;   /* "softmax_main", "softmax_aligned16", scope k > 0: "softmax_main_1" */
    uint32_t entry; /* index */
    uint32_t scope; /* PAR region of tile IR, counted from 0 */
    bool explicit_lanes;
    uint32_t lanes,
        subs; /* workers a group = lanes * subs if implicit; explicit: lanes is the widest vector */
    twi_lid first; /* of the body */
    TWI_VEC(twi_lins) ins;
    TWI_VEC(twi_lid) args;
    TWI_VEC(twi_object) object; /* arrays first, in the order of tile IR; 0 is a dummy */
    TWI_VEC(twi_laccess) access;
    TWI_VEC(uint64_t) constant;
    TWI_VEC(int32_t) ints;
} twi_func;

typedef enum { TWI_DO_LAUNCH, TWI_DO_FILL, TWI_DO_LOOP, TWI_DO_END } twi_do;
typedef struct {
    uint8_t what;
    uint32_t func;  /* LAUNCH */
    int64_t grid;   /* groups */
    uint32_t array; /* FILL: tile IR array id, with its fill value */
    int64_t lo, hi; /* LOOP: items up to its END run for lo <= trip < hi */
} twi_step_do;

typedef struct {
    twi_sym name; /* "main", "aligned16" */
    TWI_VEC(uint32_t)
    align; /* by tile IR array id: bytes promised for base and non-unit strides; 0 none */
    TWI_VEC(twi_step_do) recipe;
} twi_entry;

/* What the arguments are: by the ids of tile IR (0 is a dummy); filled by twi_loop_new and by the
 * parser. */
typedef struct {
    twi_sym name;
    uint8_t elem, rank, role; /* twi_role */
    bool has_fill;
    uint64_t fill; /* bits of elem */
    int64_t extent[TWI_MAX_RANK];
    uint32_t split; /* holds partial results of folds that this scope splits, counted from 1; 0: an
                       array of the kernel, or the status. No part of the text */
} twi_larray;
typedef struct {
    twi_sym name;
    uint8_t elem;
} twi_lscalar;

typedef struct twi_loop {
    tw_context *ctx;
    twi_arena *arena;
    const tw_ir *ir; /* specialised and lifted; says what the arguments are. NULL when parsed from
                        text without one */
    twi_sym kernel;
    twi_sym target; /* caps name it was made for */
    TWI_VEC(twi_larray) array;
    uint32_t status; /* a TEMP of one i64, filled with its greatest value: the least instance that
                        used an index outside an array merges its number in; 0: none */
    TWI_VEC(twi_lscalar) scalar;
    TWI_VEC(twi_func) func;
    TWI_VEC(twi_entry) entry; /* main first */
    TWI_VEC(uint32_t) merge;  /* values of the text that are parts of earlier folds here */
    TWI_VEC(twi_order) order; /* of FREE and TREE float folds */
} twi_loop;

static inline twi_lins *twi_lins_of(const twi_func *f, twi_lid v) { return &f->ins.at[v]; }
static inline twi_lid twi_larg(const twi_func *f, twi_lid v, unsigned k) {
    return f->args.at[f->ins.at[v].arg + k];
}
const char *twi_loop_op_name(unsigned op); /* elementwise too */
/* Does it write an element? Then its arguments are those of a store. */
static inline bool twi_loop_stores(unsigned op) {
    return op == TWI_L_LSTORE || op == TWI_L_ASYNC_COPY;
}
/* A line without a result? */
static inline bool twi_loop_silent(unsigned op) {
    return twi_loop_stores(op) || op == TWI_L_BARRIER || op == TWI_L_ASYNC_COMMIT ||
           op == TWI_L_ASYNC_WAIT;
}
static inline bool twi_loop_accesses(unsigned op) {
    return op == TWI_L_LLOAD || twi_loop_stores(op);
}

/* ---- build.c: appends at a cursor ---- */
typedef struct {
    twi_loop *loop;
    twi_func *f;
    TWI_VEC(twi_lid) open; /* FOR, UNROLL, IF whose bodies are open, outermost first */
    TWI_VEC(twi_lid) last; /* last instruction at each of those levels (index 0: function body) */
    twi_loc loc;           /* given to what is built next */
    uint32_t fold; /* non-zero: float arithmetic (add mul fma min max, lane_fold) built next is a
                      COMBINE of it */
    TWI_VEC(twi_lid)
    chain, parent;   /* by instruction: older one of the same hash; the body it stands in */
    bool apart;      /* share nothing but i64 constants (the parser) */
    twi_lid *bucket; /* newest pure instruction by hash: equal ones in open bodies are shared */
} twi_cursor;

/* Tables of arrays and scalars are filled from ir; a status comes last if some access is checked.
 */
twi_loop *twi_loop_new(twi_arena *arena, const tw_ir *ir, twi_sym target);
/* Adds an array to the table, before there are functions (temps that a plan needs). */
void twi_loop_array(twi_loop *loop, const tw_ir *ir, uint32_t array);
/* Index; adds the arrays (object id = array id): dense strides (change stride[] and dynamic of
 * f->object after), align as loop->entry.at[entry] says if it is there already. lanes = subs = 1,
 * explicit_lanes false until set. Set them before building: `id` and guards simplify by their
 * ranges. Adding one moves the others: no cursor may be in use. */
uint32_t twi_loop_func(twi_loop *loop, twi_sym name, uint32_t entry, uint32_t scope);
void twi_cursor_init(twi_cursor *c, twi_loop *loop, uint32_t func);
twi_lid twi_lb_i64(twi_cursor *c, int64_t k);
twi_lid twi_lb_bits(twi_cursor *c, tw_elem elem, uint64_t bits, unsigned flags);
twi_lid twi_lb_leaf(twi_cursor *c, twi_loop_op op, tw_elem elem, unsigned count, uint32_t attr);
/* Elementwise, arguments of one count (scalars among vectors are splat), result type by the op's
 * rule; folds i64 constants; x+0, x*1, x*0, min/max, floor div and mod of i64 constants simplified.
 * CAST: twi_lb_cast. */
twi_lid twi_lb_op(twi_cursor *c, unsigned op, twi_lid a, twi_lid b, twi_lid d);
twi_lid twi_lb_cast(twi_cursor *c, tw_elem elem, twi_lid a);
twi_lid twi_lb_bitcast(twi_cursor *c, tw_elem elem, twi_lid a);
twi_lid twi_lb_pack(twi_cursor *c, const twi_lid *scalar, unsigned count);
twi_lid twi_lb_permute(twi_cursor *c, twi_lid a, twi_lid b /* 0: none */, const int32_t *from,
                       unsigned count);
twi_lid twi_lb_dots(twi_cursor *c, twi_lid a, twi_lid b, twi_lid sum);
twi_lid twi_lb_lane_read(twi_cursor *c, twi_lid a, twi_lid lane);
twi_lid twi_lb_splat(twi_cursor *c, twi_lid a, unsigned count); /* as it is if it has that count */
twi_lid twi_lb_extract(twi_cursor *c, twi_lid a, uint32_t element);
twi_lid twi_lb_lane_fold(twi_cursor *c, unsigned merge, twi_lid a, unsigned log_stride,
                         unsigned log_extent);
twi_lid twi_lb_lane_xor(twi_cursor *c, twi_lid a, uint32_t mask);
twi_lid twi_lb_lane_shift(twi_cursor *c, twi_lid a, int32_t by);
twi_lid twi_lb_load(twi_cursor *c, twi_laccess access, const twi_lid *index, unsigned count,
                    twi_lid mask, twi_lid other);
void twi_lb_store(twi_cursor *c, twi_laccess access, const twi_lid *index, twi_lid value,
                  twi_lid mask);
void twi_lb_async_copy(twi_cursor *c, twi_laccess access, const twi_lid *index, twi_lid value);
void twi_lb_async_commit(twi_cursor *c);
void twi_lb_async_wait(twi_cursor *c, unsigned under_way);
twi_lid twi_lb_for(twi_cursor *c, twi_lid lo, twi_lid hi, uint32_t step); /* opens; the index */
twi_lid twi_lb_unroll(twi_cursor *c, uint32_t n);
void twi_lb_if(twi_cursor *c, twi_lid condition);
void twi_lb_close(twi_cursor *c); /* of the innermost open body */
twi_lid twi_lb_barrier(twi_cursor *c, twi_barrier_scope scope);
uint32_t twi_lb_object(twi_cursor *c,
                       const twi_object *object); /* id; row-major strides if stride[] is 0 */
bool twi_lb_const_of(const twi_cursor *c, twi_lid v, int64_t *k); /* an i64 constant? */

/* ---- text, verifier, legalize, interpreter ---- */
void twi_loop_print(const twi_loop *loop, twi_sb *out);
/* One instruction as it stands in that text, without its body and line end. */
void twi_loop_show(const twi_loop *loop, uint32_t func, twi_lid v, twi_sb *out);
/* ir: what the text's arguments mean (may be NULL: then array headers in the text alone say it).
 * NULL: diagnostics. */
twi_loop *twi_loop_parse(tw_context *ctx, twi_arena *arena, const tw_ir *ir, const char *name,
                         const char *text, size_t n);
/* V1 V2 V3 V4 V6 V7 V8; diagnostics; fills `varies`. V3, V4, V6 report only what is certain from
 * below: an element that no store before can have written; an index whose interval leaves the
 * object (under an `if`: lies outside as a whole), without mask; a shared element that one worker
 * surely writes and another touches with no barrier in between. Indices of unknown bounds,
 * correlated ones and the rest of races are left to the interpreter's trace. */
bool twi_loop_verify(twi_loop *loop);

#endif
