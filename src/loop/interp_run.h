/* SPDX-License-Identifier: Apache-2.0
 * A run of the interpreter: state shared by its files. Values of an instruction are kept for all
 * workers at once, worker w's element e at w * count + e; likewise their shadows (depth).
 */
#ifndef TWI_LOOP_INTERP_RUN_H
#define TWI_LOOP_INTERP_RUN_H

#include "loop/interp.h"
#include "loop/rows.h"

/* Who touched an element last. Times are those of run->clock, which every barrier, group and launch
 * advances. Workers are numbered through all groups of a launch; 0 none, FILLER before any launch.
 */
typedef struct {
    uint32_t writer, written, write_at; /* worker + 1, time, instruction */
    uint32_t reader, read;
    uint32_t batch;  /* of the writer, whose asynchronous copy it is; 0: it is none */
    uint8_t readers; /* who read since: nobody, one, several of a subgroup, of a group, of groups */
    bool merged;     /* written atomically: others may do so too */
} twi_cell;
enum {
    TWI_READERS_NONE,
    TWI_READERS_ONE,
    TWI_READERS_SUBGROUP,
    TWI_READERS_MANY,
    TWI_READERS_GROUPS
};
#define TWI_FILLER UINT32_MAX

/* Depth domain: fold << 32 | roundings; 0: not part of a fold; EMPTY: an identity. */
typedef uint64_t twi_shadow;
#define TWI_SHADOW_EMPTY UINT64_MAX

/* Storage of an object. ARRAY: the caller's data; what is kept beside it is by array and lives as
 * long as the run. PRIVATE, SCRATCH: `size` elements a worker. */
typedef struct {
    unsigned char *data;
    int64_t stride[TWI_MAX_RANK]; /* in elements that one index names */
    int64_t size;                 /* such elements a worker (or in all) counted densely; may be 0 */
    int64_t span;                 /* as laid out, pads included */
    twi_cell *cell;               /* ARRAY that is written, SHARED; by dense element */
    uint32_t *serial;   /* PRIVATE, SCRATCH: group that wrote it; by worker and dense element */
    twi_shadow *shadow; /* by worker, dense element and element inside; NULL: none is kept */
    bool shadowed;
} twi_store;

/* A worker's asynchronous copies in the group at hand: batches are numbered from 1. */
enum { TWI_BATCHES = 16 };
typedef struct {
    uint32_t committed, waited; /* batches */
    uint32_t when[TWI_BATCHES]; /* the last ones had been waited for: batch b at b % TWI_BATCHES */
} twi_async;

typedef struct {
    const twi_loop *loop;
    const twi_func *f;
    uint32_t func;
    twi_arena *arena; /* of this function's run */
    const twi_interp_array *arrays;
    const uint64_t *scalars;
    twi_interp_result *result;
    twi_store *array;   /* by array id */
    twi_store **object; /* by object id */
    uint32_t workers, lanes, subs;
    void **value; /* by instruction */
    twi_shadow **shadow;
    const uint8_t *mask; /* by worker */
    bool full;           /* all workers are active */
    uint64_t active;
    int64_t group, trip[8];
    unsigned depth_of_trips;
    uint32_t serial;                          /* of the group */
    uint32_t clock, launch_time, shared_time; /* shared_time: the group's start */
    uint32_t group_time;                      /* last group barrier */
    twi_async *async;                         /* by worker */
    uint32_t *sub_time;                       /* last barrier of each subgroup */
    uint32_t *bank_word, *bank_stamp, stamp;
} twi_run;

enum { TWI_BANKS = 32, TWI_BANK_SLOTS = 4096 };

void twi_run_fault(twi_run *run, twi_fault_kind kind, twi_lid at, const char *format, ...)
    TWI_PRINTF(4, 5);
const char *twi_run_name(const twi_run *run, uint32_t object);
const char *twi_run_text(const twi_run *run, twi_sym name,
                         uint32_t id); /* "object 3" if it has none */

/* interp_mem.c */
void twi_run_load(twi_run *run, twi_lid v);
void twi_run_store(twi_run *run, twi_lid v);
void twi_run_missing(twi_run *run); /* output elements never stored */
void twi_run_async_wait(twi_run *run, uint32_t under_way);
/* interp_depth.c */
bool twi_run_array_shadow(const twi_loop *loop,
                          uint32_t array); /* loaded and stored: shadows are kept */
void twi_run_depth_plan(twi_run *run);     /* which values and objects have shadows */
void twi_run_depth(twi_run *run,
                   twi_lid v); /* of an elementwise or vector operation just evaluated */
void twi_run_depth_lanes(twi_run *run, twi_lid v);
/* interp_lanes.c */
/* Whose element, of all workers', element e of worker w takes when lanes shift. */
size_t twi_run_shifted(const twi_run *run, uint32_t w, uint32_t e, size_t count, int32_t by);
bool twi_run_lanes(twi_run *run,
                   twi_lid v); /* vectors and lanes; false: another kind of operation */

static inline void *twi_run_arg(const twi_run *run, twi_lid v, unsigned k) {
    return run->value[twi_larg(run->f, v, k)];
}
/* Worker w's index, of i64 or i32. */
static inline int64_t twi_run_index(const twi_run *run, twi_lid v, size_t w) {
    return run->f->ins.at[v].elem == TW_I32 ? ((const int32_t *)run->value[v])[w]
                                            : ((const int64_t *)run->value[v])[w];
}
static inline void twi_run_set_index(twi_run *run, twi_lid v, size_t w, int64_t k) {
    if (run->f->ins.at[v].elem == TW_I32)
        ((int32_t *)run->value[v])[w] = (int32_t)k;
    else
        ((int64_t *)run->value[v])[w] = k;
}
static inline size_t twi_run_width(const twi_run *run, twi_lid v) {
    return tw_elem_size((tw_elem)run->f->ins.at[v].elem);
}

#endif
