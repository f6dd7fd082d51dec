/* SPDX-License-Identifier: Apache-2.0
 * What plans speak about, read off a specialised tile IR: its scopes (PAR regions in the order of
 * the text), their axes and values, extents, what folds consume, and the class of its orders.
 */
#ifndef TWI_PLAN_SCOPE_H
#define TWI_PLAN_SCOPE_H

#include "ir/ir.h"
#include "plan/plan.h"

typedef TWI_VEC(twi_id) twi_id_list;

enum {
    TWI_LANES_CANONICAL = 256, /* of a canonical chunk; each starts from its own element */
    TWI_CHUNK = 2048,          /* elements of a canonical chunk */
    TWI_STREAM_LEVELS = 4      /* chunks of chunks: up to 2048^4 elements */
};

uint32_t twi_par_count(const tw_ir *ir);
uint32_t twi_par_region(const tw_ir *ir, uint32_t scope); /* its PAR region; 0: no such scope */
uint32_t twi_region_scope(const tw_ir *ir,
                          uint32_t region); /* the PAR region that holds it; 0: none */
uint64_t twi_scope_axes(const tw_ir *ir,
                        uint32_t par); /* set of axes of PAR and the regions inside */
/* All instructions of the scope in order, those of nested regions after their SERIAL. */
void twi_scope_values(twi_arena *arena, const tw_ir *ir, uint32_t region, twi_id_list *out);

/* hi - lo, 0 where that is negative; false: not a constant. */
bool twi_axis_span(const tw_ir *ir, unsigned axis, int64_t *extent);
/* The axis as plan text names it: its name; the second of a name in a scope is NAME.2 and so on. */
const char *twi_axis_text(const tw_ir *ir, twi_arena *arena, unsigned axis);
bool twi_axis_named(const tw_ir *ir, twi_arena *arena, uint32_t par, const char *name, size_t n,
                    unsigned *axis);

bool twi_is_fold(const tw_ir *ir, twi_id v);
uint64_t twi_fold_axes(const tw_ir *ir,
                       twi_id v); /* set of axes that it consumes; 0 for what is no fold */
/* Does its grouping show in its bits: a float fold or scan that is not order-free? */
bool twi_fold_rounds(const tw_ir *ir, twi_id v);
bool twi_is_merged(const tw_ir *ir, twi_id fold); /* a fold of several results (pass/merge.c) */
/* Is it one chain over ascending or descending positions (left, right; canonical dots)? */
bool twi_fold_chains(const tw_ir *ir, twi_id v);
/* A canonical sum or product whose elements come one after the other: over several axes, an extent
 * known at run time, or digits that are loops alone. Else the canonical order's lanes are digits.
 */
bool twi_fold_streams(const tw_ir *ir, const twi_frame *f, twi_id v);
/* A scan along a range whose length is known at run time alone: it runs from element to element
 * beside what reads it, again in each walk that does, and nothing keeps its row. */
bool twi_scan_streams(const tw_ir *ir, twi_id v);
/* Does such a scan run from the last element of the axis? Then all loops over it do. */
bool twi_axis_runs_down(const tw_ir *ir, unsigned axis);
/* Local values, and scans that are computed like them. */
bool twi_is_local(const tw_ir *ir, twi_id v);
/* Accumulators that it takes: lanes of a chunk of elements, of chunks of chunks' results, and so
 * on; the number of levels. */
unsigned twi_stream_lanes(const tw_ir *ir, twi_id v, int64_t lanes[TWI_STREAM_LEVELS]);
/* Partials of up to 8 subgroups are folded in a row, those of more as a tree in shared memory. */
bool twi_fold_subs_in_tree(const tw_ir *ir, const twi_frame *f, twi_id v);
/* Is it an atomic addition of floats, in an order that nobody knows? */
bool twi_adds_loosely(const tw_ir *ir, twi_id v);
/* Does it combine by ascending weight: because its place says so, or to keep the order of its
 * elements (tree)? */
bool twi_folds_by_weight(const tw_ir *ir, const twi_plan *plan, twi_id v);
/* Of such a fold: what was written that asks for it, "order tree" or "fold weight". */
const char *twi_weight_word(const tw_ir *ir, twi_id v);
/* The loosest order of the kernel's float folds and atomic additions: TWI_ORDER_FREE, TREE or
 * CANONICAL (also where there are none). */
unsigned twi_ir_class(const tw_ir *ir);
/* "T=f32 R=128 W=1024": what the IR was built for, then its dims. */
const char *twi_ir_spec(const tw_ir *ir, twi_arena *arena);

#endif
