/* SPDX-License-Identifier: Apache-2.0
 * A kernel that can be run: a built module, what its arguments must be, and memory that calls
 * borrow. After it is made nothing of the context is touched, so that threads may share it.
 */
#ifndef TWI_RUN_KERNEL_H
#define TWI_RUN_KERNEL_H

#include "target/buffers.h"
#include "target/target.h"
#include "tilewright/run.h"

typedef struct {
    const char *name;
    uint8_t elem, rank, role;
    bool has_fill;
    uint64_t fill;
    uint64_t temp; /* TEMP: offset in the workspace */
    int64_t extent[TWI_MAX_RANK];
    int64_t stride[TWI_MAX_RANK]; /* that the code was made for, where fixed */
    uint8_t dynamic;              /* dims whose stride is read at run time */
    uint8_t within; /* dims that the code sees as part of another: it never steps by their stride */
} twi_argument;

typedef struct {
    const char *name;
    uint8_t elem;
    bool has_default;
    uint64_t bits;
} twi_scalar_argument;

struct tw_kernel {
    tw_context *ctx;
    twi_target *target;
    twi_module *module;
    const twi_loop *loop;
    twi_arena arena;          /* of this struct's vectors and whatever came with it */
    uint32_t arrays, scalars; /* table sizes: ids from 1 */
    twi_argument *array;
    twi_scalar_argument *scalar;
    uint32_t *given; /* array id of the k-th tensor of a call */
    uint32_t givens;
    twi_buffers workspace; /* the tables of a call, then temps */
    size_t temps;          /* where temps start */
    const char **entry;    /* names */
};

/* Takes the module and the arena (which may hold the loop; NULL: none) in any case; both go with
 * the kernel. */
tw_kernel *twi_kernel_new(twi_target *t, twi_module *module, twi_arena *own);

/* The tables of one call, in a block of the workspace. */
typedef struct {
    char *block;
    void **array; /* by array id */
    int64_t *stride, *shape;
    uint64_t *scalar;
    bool *there; /* by array id: in the target's memory, used in place */
} twi_bound;
/* check.c: fills the tables, or says in call->error what is wrong. */
tw_status twi_bind(tw_kernel *k, tw_call *call, twi_bound *b);
/* overlap.c */
typedef struct {
    const char *base; /* element 0 */
    size_t size;      /* of an element */
    int rank;
    int64_t extent[TWI_MAX_RANK], stride[TWI_MAX_RANK]; /* in bytes */
} twi_box;
bool twi_boxes_overlap(const twi_box *a,
                       const twi_box *b); /* some byte of both; true where undecided */
bool twi_box_overlaps_itself(const twi_box *a);
/* entry.c: the last entry whose facts hold. */
uint32_t twi_pick_entry(const tw_kernel *k, const twi_bound *b);
/* recipe.c */
/* timing.c: nanoseconds of n runs, one behind the other, without looking at arguments each time. */
tw_status twi_kernel_batch(tw_kernel *k, tw_call *call, int64_t n, int64_t *ns);
twi_launch twi_launch_of(const twi_bound *b, const tw_call *call, const int64_t *trip);
tw_status twi_run_recipe(const tw_kernel *k, uint32_t entry, const twi_bound *b, tw_call *call);

#endif
