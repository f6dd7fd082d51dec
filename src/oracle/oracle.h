/* SPDX-License-Identifier: Apache-2.0
 * The oracle: what a kernel's outputs may be. It evaluates a specialised tile IR on the exact
 * stored inputs with arithmetic of its own; of a plan it knows the order descriptors of its folds,
 * nothing else. Each output element is determined (one value, to the bit) or bounded (an interval
 * around a value in FP64). docs/numerics.md says what holds.
 *
 * One run serves many plans: descriptors of several plans may be given together (several of the
 * same fold); bounds then hold for all of them, taking the worst. Plans with equal twi_orders_key
 * share. A kernel for which twi_oracle_determined holds needs no orders at all.
 */
#ifndef TWI_ORACLE_ORACLE_H
#define TWI_ORACLE_ORACLE_H

#include "ir/ir.h"
#include "ir/order.h"

typedef struct twi_oracle twi_oracle;

typedef struct {
    const void *const *array; /* by array id: dense row-major elements of the storage type; IN and
                                 INOUT; borrowed for the run */
    const uint64_t *scalar;   /* by scalar id: bits of its element type; NULL: all have defaults */
} twi_oracle_in;

typedef struct {
    bool canonical; /* plans of class canonical: free and tree folds are canonical, native math
                       portable */
    uint64_t
        max_ops;   /* element operations; above it instances are sampled (edges always). 0: 2^28 */
    uint64_t seed; /* of the sample */
} twi_oracle_options;

/* Never NULL. orders may be none: then every free fold may have any order. Results live in the
 * arena. */
twi_oracle *twi_oracle_run(twi_arena *arena, const tw_ir *ir, const twi_oracle_in *in,
                           const twi_order *orders, size_t n_orders,
                           const twi_oracle_options *options /* NULL: all 0 */);
/* Why it could not say anything: not specialised, an element written by two instances, never
 * written, read outside its array, a descriptor that does not cover its fold, ... NULL: all is
 * well. */
const char *twi_oracle_error(const twi_oracle *o);
/* The least instance (row-major number in its scope) that left an array by a checked index, for
 * which a call ends in TW_ERR_INDEX; -1: none did. */
int64_t twi_oracle_offending(const twi_oracle *o);
/* Does every output hold determined elements only, whatever the plan? */
bool twi_oracle_determined(const tw_ir *ir, bool canonical);
/* Equal keys: the descriptors give equal bounds (order of the list does not matter). */
uint64_t twi_orders_key(const twi_order *orders, size_t n);

typedef struct {
    bool ok;          /* no element is outside of what is allowed */
    bool determined;  /* the array is compared to the bit */
    int64_t elements; /* of the array */
    int64_t covered;  /* judged (all, unless instances were sampled) */
    int64_t single;   /* elements that have one allowed value only (determined or decided) */
    int64_t wrong;    /* elements outside */
    int64_t
        undecided; /* a discontinuous operation was undecided: more than one branch is allowed */
    int64_t unbounded; /* nothing is known (divisor may be 0, overflow may meet overflow): allowed,
                          counted */
    double worst; /* largest |got - want| / bound over elements with an interval; inf: outside a
                     single value */
    int64_t
        at[TWI_MAX_RANK]; /* the first wrong element, else the worst; rank of the array numbers */
    const char *got, *want,
        *bound; /* of that element, as text; bound: "exact", "+-1.2e-06", "0 .. 1" */
} twi_verdict;

/* got: dense row-major buffer of the array's storage type. OUT, INOUT and TEMP arrays can be
 * judged. */
void twi_oracle_judge(twi_oracle *o, uint32_t array, const void *got, twi_verdict *out);
/* undecided + unbounded at most 0.1 % of what was covered: a pass proves something. */
bool twi_verdict_probative(const twi_verdict *v);
/* Target `ref`: the oracle's own value of every element, rounded to storage (not covered: the fill
 * or 0). */
void twi_oracle_values(const twi_oracle *o, uint32_t array, void *out);
/* Interval of one element (flat row-major position), as values; for tests and reports. */
typedef struct {
    double v, lo, hi;
    bool nan, any, undecided, covered;
} twi_allowed;
twi_allowed twi_oracle_allowed(const twi_oracle *o, uint32_t array, size_t k);

/* o ran what a pass made of the program that `text` ran (other folds, the same arrays): do the
 * values of `text` lie where o allows them? NULL: they do; else the first element that does not, as
 * text. */
const char *twi_oracle_agrees(twi_oracle *o, const twi_oracle *text);

/* Elements of an array of a specialised IR; its extents (rank numbers). */
size_t twi_array_extents(const tw_ir *ir, uint32_t array, int64_t *extent);

#endif
