/* SPDX-License-Identifier: Apache-2.0
 * Inside the oracle: tiles, arrays, axes of the instance being evaluated, and the parts that work
 * on them. A tile's axes are those of its type that are axes of tiles; indices of untiled parallel
 * and serial axes are scalars of the instance, whether the IR was lifted or not.
 */
#ifndef TWI_ORACLE_EVAL_H
#define TWI_ORACLE_EVAL_H

#include "oracle/form.h"
#include "oracle/oracle.h"
#include "oracle/tree.h"

#define TWI_TILE_AXES 16

typedef struct { /* a stored form */
    double v, lo, hi, r;
    uint64_t bits;
    uint32_t off, n; /* parts in the pool */
    uint8_t kind, flags;
} twi_el;
typedef TWI_VEC(twi_part) twi_pool;

typedef struct {
    uint8_t n, elem;
    bool bounded;
    bool named; /* elements' own errors become symbols: tiles of more axes share them */
    uint8_t axis[TWI_TILE_AXES];
    int64_t extent[TWI_TILE_AXES], stride[TWI_TILE_AXES];
    size_t total, cap;
    uint64_t *bits; /* determined */
    twi_el *el;     /* bounded */
    twi_pool pool;
} twi_tile;

typedef struct {
    uint8_t elem, rank;
    bool bounded;
    int64_t extent[TWI_MAX_RANK];
    size_t total;
    const void *raw; /* inputs, as given */
    uint64_t *bits;  /* determined: patterns of the storage type */
    twi_el *el;      /* bounded: values that the storage type holds */
    twi_pool pool;
    uint32_t *writer;           /* instance that wrote an element last; 0: never written */
    uint32_t *stamp;            /* store execution that did */
    struct twi_adding **adding; /* by element: atomic additions of the scope being run */
} twi_array_state;

typedef struct {
    int64_t lo, hi, at;
    bool ready;
} twi_axis_state;

typedef struct twi_layout { /* trees of one fold for one set of extents */
    struct twi_layout *next;
    int64_t extent[TWI_MAX_RANK];
    unsigned n;
    twi_tree **tree;
    bool flushes; /* of some descriptor */
} twi_layout;

struct twi_oracle {
    twi_arena *arena;
    const tw_ir *ir;
    const twi_oracle_in *in;
    twi_oracle_options options;
    const char *error;
    uint64_t tile_axes;     /* axes that tiles have */
    twi_tile *tile;         /* by value */
    twi_tile *shadow;       /* by CARRY: the next trip's value */
    twi_array_state *array; /* by array */
    twi_axis_state *axis;   /* by axis */
    const twi_order *orders;
    size_t n_orders;
    twi_layout **layout;               /* by value: of folds */
    uint32_t symbol;                   /* last symbol given out; restarts with each instance */
    uint32_t instance, first_instance; /* running number; first of the scope being run */
    int64_t number;                    /* of the instance, row-major in its scope */
    int64_t offending; /* the least one that left an array by a checked index; -1: none */
    uint32_t store;
    uint64_t ops;
    uint32_t scope_depth; /* serial regions around the scope being run */
    bool sampled;
    TWI_VEC(double) scratch;
    TWI_VEC(uint64_t) words;
    TWI_VEC(int64_t) offsets;
};

/* ---- analyse.c: what is bounded whatever the inputs ---- */
typedef struct {
    bool *value, *array;
} twi_classes;
twi_classes twi_classify(twi_arena *arena, const tw_ir *ir, bool canonical);
bool twi_fixed_order(const tw_ir *ir, const twi_ins *ins, bool canonical, twi_order_kind *order);
uint64_t twi_axes_of_tiles(const tw_ir *ir);

/* ---- tile.c ---- */
void twi_fail(twi_oracle *o, const char *format, ...) TWI_PRINTF(2, 3);
/* Gives a tile the axes of `axes` and room for its elements. False: failed. */
bool twi_tile_shape(twi_oracle *o, twi_tile *t, uint64_t axes);
twi_form twi_tile_get(const twi_tile *t, size_t k);
void twi_tile_put(twi_oracle *o, twi_tile *t, size_t k, const twi_form *x);
void twi_tile_copy(twi_oracle *o, twi_tile *to,
                   const twi_tile *from); /* `to` is shaped; broadcasts */
twi_form twi_el_form(const twi_el *e, const twi_part *pool);
bool twi_axis_ready(twi_oracle *o,
                    uint8_t axis); /* evaluates bounds of a FULL axis when first asked */
int64_t twi_index(twi_oracle *o, twi_ix x,
                  const int64_t *position /* by axis id; NULL: no tile axes */);

/* Row-major walk over a tile's elements with up to TWI_WALKS running offsets. */
#define TWI_WALKS 12
typedef struct {
    unsigned n, k;
    size_t left;
    int64_t at[TWI_TILE_AXES], extent[TWI_TILE_AXES];
    int64_t off[TWI_WALKS], step[TWI_WALKS][TWI_TILE_AXES];
} twi_walk;
void twi_walk_begin(twi_walk *w, const twi_tile *over);
void twi_walk_add(twi_walk *w, const twi_tile *over,
                  const twi_tile *operand); /* next offset: operand's */
static inline void twi_walk_next(twi_walk *w) {
    w->left--;
    for (unsigned d = w->n; d-- > 0;) {
        for (unsigned k = 0; k < w->k; k++)
            w->off[k] += w->step[k][d];
        if (++w->at[d] < w->extent[d])
            return;
        for (unsigned k = 0; k < w->k; k++)
            w->off[k] -= w->step[k][d] * w->extent[d];
        w->at[d] = 0;
    }
}

/* ---- access.c ---- */
void twi_eval_load(twi_oracle *o, twi_id v);
void twi_eval_store(twi_oracle *o, twi_id v); /* atomic operations too */
void twi_close_atomics(twi_oracle *o);        /* at the end of a scope */
/* ---- local.c ---- */
void twi_eval_local(twi_oracle *o, twi_id v); /* leaves, moves, elementwise */
/* ---- fold.c, bound.c, merged.c ---- */
void twi_eval_fold(twi_oracle *o, twi_id v); /* PART too */
typedef struct {                             /* one fold being evaluated */
    twi_id v;
    const twi_ins *ins;
    tw_elem from, to;     /* elements of the operand; accumulator */
    twi_order_kind order; /* DEFAULT: any the descriptors allow */
    unsigned args;
    const twi_tile *arg[3];
    size_t n;                 /* elements folded */
    unsigned part;            /* of a fold of several results: which */
    twi_form first;           /* part 1: the element of part 0 */
    const int64_t *offset[2]; /* of them, in the two operands */
    int64_t base[3];          /* of the element being made */
    const twi_layout *layout;
    uint32_t depth; /* of a scan: the most that plans state; 0: unknown */
} twi_folding;
void twi_bound_fold(twi_oracle *o, const twi_folding *f, twi_form *out, twi_part *room);
/* Logsumexp's part 1; moments. */
void twi_bound_merged(twi_oracle *o, const twi_folding *f, twi_form *out, twi_part *room);
typedef struct { /* a sum of n forms, off by r beside their own errors */
    size_t n;
    double r;
    void (*term)(const void *user, size_t k, twi_form *x, twi_part *room);
    const void *user;
} twi_terms;
void twi_bound_terms(twi_oracle *o, const twi_terms *t, twi_form *out, twi_part *room);
/* A scan's result for each prefix of f's elements, in any grouping. */
typedef void (*twi_form_put)(void *user, size_t k, const twi_form *x);
void twi_bound_prefixes(twi_oracle *o, const twi_folding *f, twi_form_put put, void *user);
typedef struct twi_adding twi_adding; /* a sum in an order that nobody knows */
twi_adding *twi_adding_of(twi_arena *arena, tw_elem elem);
void twi_adding_put(twi_adding *s, const twi_form *x);
void twi_adding_close(twi_adding *s, twi_form *out, twi_part *room);
/* ---- scan.c ---- */
void twi_eval_scan(twi_oracle *o, twi_id v);
const twi_layout *twi_layout_of(twi_oracle *o, const twi_folding *f);
double *twi_scratch(twi_oracle *o, size_t n);

#endif
