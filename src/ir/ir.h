/* SPDX-License-Identifier: Apache-2.0
 * Tile IR: the meaning of a kernel. SSA with regions; values are tiles over named axes. Nothing of
 * a machine is in it. Everything refers to everything else by small ids; id 0 is "none" in every
 * table (table index 0 is a dummy), so a zeroed field means absent.
 *
 * Made by the builder (include/tilewright/build.h), by ir/parse.c from text, and from another tile
 * IR by ir/specialise.c (dims become numbers) and the passes. A finished IR is verified and
 * immutable.
 */
#ifndef TWI_IR_IR_H
#define TWI_IR_IR_H

#include "base/context.h"
#include "ir/ops.h"

#define TWI_MAX_AXES 64
#define TWI_MAX_RANK 8

typedef uint32_t twi_id; /* a value: index of its instruction */

/* ---- index expressions: integers known from dims, positions and scalars; hash-consed DAG ---- */
typedef enum {
    TWI_IX_NONE,
    TWI_IX_CONST,
    TWI_IX_DIM,
    TWI_IX_AXIS,
    TWI_IX_LO,
    TWI_IX_HI,
    TWI_IX_VALUE,
    TWI_IX_ADD,
    TWI_IX_SUB,
    TWI_IX_MUL,
    TWI_IX_DIV,
    TWI_IX_MOD,
    TWI_IX_MIN,
    TWI_IX_MAX
} twi_ix_op; /* DIV, MOD floor; x // 0 = 0, x % 0 = x */
typedef struct {
    uint8_t op;
    uint32_t a, b; /* operands; DIM: dim id, AXIS LO HI: axis id, VALUE: value id (i64, no tile
                      axes; in bounds of axes alone) */
    int64_t k;     /* CONST */
    uint64_t axes; /* set of axis ids it depends on (AXIS, LO, HI; what VALUEs depend on: deps.c) */
    uint64_t at;   /* of these, the ones whose position it depends on (AXIS alone) */
    bool loaded;   /* a VALUE stands in it */
    uint16_t depth; /* of the expression: TWI_IX_DEPTH at most, so that walks may recurse */
} twi_ix_node;
typedef uint32_t twi_ix;
#define TWI_IX_DEPTH 400

/* An index expression of a specialised IR as sum: constant + coefficient * atom. Atoms are AXIS,
 * LO, HI, VALUE, DIV, MOD, MIN, MAX nodes. */
typedef struct {
    twi_ix atom;
    int64_t coef;
} twi_term;
typedef struct {
    int64_t constant;
    uint32_t n;
    twi_term *term;
} twi_affine;

/* ---- axes ---- */
typedef enum {
    TWI_AXIS_NONE,
    TWI_AXIS_FULL,
    TWI_AXIS_INDEX,
    TWI_AXIS_BLOCK,
    TWI_AXIS_STEP
} twi_axis_kind;
typedef struct {
    twi_sym name;
    uint8_t kind; /* FULL: axis w; INDEX: parallel r; BLOCK: parallel m tile B; STEP: serial k [tile
                     B] */
    twi_ix lo, hi;   /* lo <= index < hi; none if hi <= lo */
    int64_t block;   /* BLOCK, tiled STEP: B; else 0 (a STEP with 0 has an untiled, scalar index) */
    uint32_t region; /* that it belongs to */
    twi_loc loc;
} twi_axis;
/* Axes of kinds FULL, BLOCK and tiled STEP are axes of tiles; INDEX and untiled STEP are scalars
 * until pass/lift.c adds them to the types. */

typedef struct {
    uint8_t elem;  /* tw_elem: bool, an int, f32 or f64 (narrower floats are storage only) */
    uint64_t axes; /* set of axis ids: bit id */
} twi_type;

/* ---- constants, arrays, scalars, dims ---- */
/* Untyped constant arithmetic over dims, exact as far as 106 bits go, rounded once when
 * specialised. */
typedef enum {
    TWI_NUM_NONE,
    TWI_NUM_VALUE,
    TWI_NUM_IX,
    TWI_NUM_ADD,
    TWI_NUM_SUB,
    TWI_NUM_MUL,
    TWI_NUM_DIV
} twi_num_op;
typedef struct {
    uint8_t op;
    bool integer;
    double hi, lo;
    int64_t whole;
    uint32_t a, b;
    twi_ix ix;
    uint16_t depth;
} twi_num;
typedef struct {
    bool known;    /* bits hold; always so in specialised IR */
    uint64_t bits; /* pattern of the instruction's element type, in the low bytes */
    uint32_t num;  /* while not known: what it will be */
} twi_const;

typedef enum { TWI_IN, TWI_OUT, TWI_INOUT, TWI_TEMP } twi_role;
typedef struct {
    twi_sym name;
    uint8_t elem, rank, role;
    bool has_fill; /* out Y: T[N] = value */
    uint64_t fill; /* bits of elem */
    twi_ix dim[TWI_MAX_RANK];
    uint8_t passed_rank; /* as callers pass it, where pass/join.c joined dimensions; else 0 */
    twi_ix passed[TWI_MAX_RANK];
    twi_loc loc;
} twi_array;
typedef struct {
    twi_sym name;
    uint8_t elem;
    bool has_default;
    uint64_t bits;
    twi_loc loc;
} twi_scalar;
typedef struct {
    twi_sym name;
    bool dyn, known;
    int64_t value;
    twi_loc loc;
} twi_dim;
typedef struct {
    uint8_t op; /* TWI_EQ NE LT LE GT GE */
    twi_ix a, b;
    twi_loc loc;
} twi_fact; /* requires */

/* ---- accesses ---- */
typedef enum {
    TWI_ACCESS_UNKNOWN,
    TWI_ACCESS_PROVED,
    TWI_ACCESS_GUARDED,
    TWI_ACCESS_CHECKED
} twi_proof;
/* CHECKED: outside the array a load gives NaN (0, false), a store or atomic does nothing, and the
 * call reports the least instance that did so. */
typedef struct {
    uint32_t array;
    twi_ix ix[TWI_MAX_RANK];      /* one a dimension, 0 where a tile of integers is the index: */
    uint8_t gather[TWI_MAX_RANK]; /* 1 + its place among the instruction's args (twi_gathered) */
    uint8_t proof;                /* PROVED inside, GUARDED by `else`, CHECKED at run time */
    uint8_t atomic;               /* ATOMIC: TWI_ADD, TWI_MAX, TWI_MIN */
} twi_access;

/* ---- instructions and regions ---- */
typedef struct {
    uint16_t op;
    uint8_t order; /* folds, scans: twi_order_kind */
    uint8_t nfold; /* folds: axes consumed, in the order of the bracket; scans: the one axis */
    uint8_t fold[TWI_MAX_RANK];
    uint8_t parts; /* folds: 0, or states of the partial results that are its first operands instead
                      of elements (plan/split.h) */
    twi_type type;
    uint32_t arg, nargs; /* first of ir->args */
    uint32_t attr;       /* see tile.def */
    twi_sym name;        /* unique in the kernel; 0: unnamed */
    twi_loc loc;
} twi_ins;

typedef enum {
    TWI_REGION_NONE,
    TWI_REGION_ROOT,
    TWI_REGION_PAR,
    TWI_REGION_SERIAL
} twi_region_kind;
typedef struct {
    uint8_t kind;
    uint32_t parent;         /* region; ROOT: 0 */
    twi_id ins;              /* the PAR or SERIAL instruction; ROOT: 0 */
    TWI_VEC(twi_id) body;    /* instructions in order, nested regions as their PAR / SERIAL */
    TWI_VEC(uint8_t) axes;   /* PAR: its parallel axes; SERIAL: its one axis */
    TWI_VEC(twi_id) carries; /* SERIAL: the CARRY instructions; they stand here, not in body */
    TWI_VEC(twi_id) yields;  /* SERIAL: the value of each at the end of a trip */
    twi_sym joined;          /* PAR: axes that pass/join.c joined: "r w, b r_w"; 0 none */
} twi_region;
/* ROOT's body holds PAR, and SERIAL around PAR (without carries). A PAR without axes is a scope of
 * one instance. FULL axes are declared in a PAR (or in a SERIAL inside one), axis.region says
 * where. */

typedef struct tw_ir {
    tw_context *ctx;
    twi_arena *arena;
    twi_sym kernel;
    bool specialised; /* every dim known, every constant known */
    bool lifted;      /* types hold the parallel and serial axes too */
    bool strided;     /* arrays of the caller have strides of their own, known at run time */
    uint8_t order,
        math; /* numerics block: default order (FREE if left out); math 0 portable, 1 native */
    twi_sym merged; /* values that pass/merge.c took into an earlier fold: "sum.1, sum.3"; 0 none */
    twi_sym spec_note; /* types, constants, params it was built for: "T=f32 CAUSAL=true BJ=64"; 0
                          none */
    TWI_VEC(twi_ix_node) ix;
    TWI_VEC(twi_axis) axis;
    TWI_VEC(twi_num) num;
    TWI_VEC(twi_const) constant;
    TWI_VEC(twi_array) array;
    TWI_VEC(twi_scalar) scalar;
    TWI_VEC(twi_dim) dim;
    TWI_VEC(twi_fact) fact;
    TWI_VEC(twi_access) access;
    TWI_VEC(twi_ins) ins;
    TWI_VEC(twi_id) args;
    TWI_VEC(twi_region) region; /* 1 is the root */
    uint32_t *ix_slot;          /* hash table of ix nodes */
    uint32_t ix_slots;
} tw_ir;

static inline const twi_ins *twi_ins_of(const tw_ir *ir, twi_id v) { return &ir->ins.at[v]; }
static inline twi_id twi_arg(const tw_ir *ir, twi_id v, unsigned k) {
    return ir->args.at[ir->ins.at[v].arg + k];
}

/* The integer tile that is subscript d of a load, store or atomic; 0: an index expression is. */
static inline twi_id twi_gathered(const tw_ir *ir, twi_id v, unsigned d) {
    unsigned k = ir->access.at[ir->ins.at[v].attr].gather[d];
    return k ? twi_arg(ir, v, k - 1u) : 0;
}
/* Operands before the gathered subscripts: a load has one if it has an `else`, stores and atomics
 * have two if they have a condition. */
static inline unsigned twi_plain_args(const tw_ir *ir, twi_id v) {
    unsigned n = ir->ins.at[v].nargs;
    for (unsigned d = 0; twi_is_access(ir->ins.at[v].op) && d < TWI_MAX_RANK; d++)
        n -= ir->access.at[ir->ins.at[v].attr].gather[d] != 0;
    return n;
}

/* ---- index expressions (index.c) ---- */
twi_ix twi_ix_const(tw_ir *ir, int64_t k);
twi_ix twi_ix_leaf(tw_ir *ir, twi_ix_op op, uint32_t id); /* DIM AXIS LO HI VALUE */
twi_ix twi_ix_make(tw_ir *ir, twi_ix_op op, twi_ix a,
                   twi_ix b); /* folds constants, x+0, x*1, x*0 */
bool twi_ix_is_const(const tw_ir *ir, twi_ix x, int64_t *k);
twi_affine twi_ix_affine(const tw_ir *ir, twi_arena *arena,
                         twi_ix x); /* terms merged, by atom id */
/* The VALUEs in it, one call each. */
void twi_ix_values(const tw_ir *ir, twi_ix x, void (*each)(void *user, twi_id v), void *user);
/* Is x a multiple of n > 0 in every instance? False: that is not known. */
bool twi_ix_is_multiple(const tw_ir *ir, twi_ix x, int64_t n);
/* Least and greatest value over all positions, from constant bounds (specialised IR); false:
 * unknown. */
bool twi_ix_range(const tw_ir *ir, twi_ix x, int64_t *least, int64_t *most);
/* Value where atoms have the values that `leaf` gives (for AXIS, LO, HI, DIM, VALUE nodes). */
int64_t twi_ix_eval(const tw_ir *ir, twi_ix x, int64_t (*leaf)(void *user, const twi_ix_node *node),
                    void *user);
/* The same expression in another IR (specialise, passes); leaf gives what stands for DIM, AXIS, LO,
 * HI and VALUE nodes of `from`. 0: too deep. */
typedef struct twi_ix_map {
    twi_ix (*leaf)(struct twi_ix_map *map, const twi_ix_node *node);
    void *user;
    tw_ir *to;
} twi_ix_map;
twi_ix twi_ix_rewrite(const tw_ir *from, twi_ix x, twi_ix_map *map);
int64_t twi_ix_apply(twi_ix_op op, int64_t a, int64_t b); /* one operation on numbers; wraps */
bool twi_ix_overflows(twi_ix_op op, int64_t a, int64_t b);
void twi_ix_text(const tw_ir *ir, twi_sb *out, twi_ix x); /* as in a tile program (print.c) */

/* ---- untyped constants (num.c) ---- */
uint32_t twi_num_int(tw_ir *ir, int64_t k);
uint32_t twi_num_decimal(tw_ir *ir, const char *text, size_t n);         /* 0: not a number */
uint32_t twi_num_make(tw_ir *ir, twi_num_op op, uint32_t a, uint32_t b); /* 0: too deep */
bool twi_num_known(const tw_ir *ir, uint32_t num);
/* The pattern of the number in the type, rounded once; false: an integer (or fraction) that it
 * cannot hold. nearest: integers are rounded instead (dims). */
bool twi_num_bits(const twi_num *num, tw_elem elem, bool nearest, uint64_t *bits);
/* The f32 pattern of the number rounded once to a narrower float type. */
bool twi_narrow_const(const twi_num *num, tw_elem elem, uint64_t *bits);
/* The value where DIMs are those of `dim` (by id), exact as far as 106 bits go. */
twi_num twi_num_eval(const tw_ir *ir, uint32_t num, const int64_t *dim);

/* ---- proofs (prove.c) ---- */
/* 0 <= x < extent for every position of the axes in it, for all dims that satisfy the facts? On
 * failure *missing (arena text) is a `requires` that would prove it, or NULL if none is known. */
bool twi_prove_inside(const tw_ir *ir, twi_arena *arena, twi_ix x, twi_ix extent,
                      const char **missing);
bool twi_prove(const tw_ir *ir, twi_arena *arena, twi_op relation, twi_ix a, twi_ix b);
void twi_prove_accesses(tw_ir *ir); /* fills access.proof; diagnostics for what cannot be proved */

/* ---- whole IRs ---- */
/* print.c, parse.c: the text form; parse(print(ir)) prints the same bytes. NULL: diagnostics say
 * why. */
void twi_ir_print(const tw_ir *ir, twi_sb *out);
tw_ir *twi_ir_parse(tw_context *ctx, twi_arena *arena, const char *name, const char *text,
                    size_t n);
bool twi_ir_verify(tw_ir *ir); /* false: diagnostics say what is wrong */
/* A copy in which each dim has the value given (by dim id; index 0 unused), everything constant is
 * folded and facts were checked. NULL: a fact fails or an extent is negative (diagnostics). */
tw_ir *twi_ir_specialise(const tw_ir *ir, twi_arena *arena, const int64_t *dims);
tw_ir *twi_ir_clone(const tw_ir *ir, twi_arena *arena);
/* A copy whose tables may grow and change. All ids stay, those of what no region holds too. */
tw_ir *twi_ir_tables(const tw_ir *ir, twi_arena *arena);
/* Dims read off array shapes: shape[array id] points to rank numbers. False: they disagree
 * (diagnostic names both arrays and the dim), or a dim of no array is missing and not preset.
 * dims[] holds -1 for unknown. */
bool twi_ir_bind_dims(const tw_ir *ir, const int64_t *const *shape, int64_t *dims);
/* Storing to the array as plan text names it: names of values (unique, stable): the source's name,
 * for an unnamed load its array's, else op and number ("dot.1"). Filled once, when the builder
 * finishes. */
const char *twi_value_name(const tw_ir *ir, twi_id v);
twi_id twi_value_named(const tw_ir *ir, const char *name, size_t n);
/* The access ledger as text: a line an access: array, index text, proved | guarded | checked,
 * offset width. */
void twi_ir_ledger(const tw_ir *ir, twi_sb *out);
/* All axes that each value depends on, tile axes included: what pass/lift.c puts into the types
 * (deps.c). */
void twi_deps(const tw_ir *ir, uint64_t *deps); /* by value id */
uint64_t twi_tile_axes(const tw_ir *ir,
                       uint64_t axes); /* of a set, those that are axes of tiles before lifting */
bool twi_is_tile_axis(const tw_ir *ir, unsigned axis);
/* Does the extent of the axis depend on values (`axis w: S[r] .. S[r + 1]`)? */
bool twi_is_loaded_axis(const tw_ir *ir, unsigned axis);
uint64_t
twi_ir_hash(const tw_ir *ir); /* of the text form with all user names replaced by numbers */

#endif
