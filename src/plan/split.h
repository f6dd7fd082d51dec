/* SPDX-License-Identifier: Apache-2.0
 * Split folds: a grid digit on a folded axis gives each group a part of the fold. A first launch
 * leaves one partial result a group in temp arrays, a second one folds them and does the rest of
 * the scope. The second launch has a plan of its own (plan->then), which speaks of a tile IR of its
 * own: the kernel in which the split folds consume the partial results, along an axis `part`.
 */
#ifndef TWI_PLAN_SPLIT_H
#define TWI_PLAN_SPLIT_H

#include "plan/scope.h"

/* The FULL axis with a grid digit in the plan's first frame; 0: nothing is split. */
unsigned twi_split_axis(const tw_ir *ir, const twi_plan *p);
/* Folds over that axis that wait for no other fold, in the order of the text. */
void twi_split_folds(twi_arena *arena, const tw_ir *ir, const twi_plan *p, twi_id_list *out);
/* They and what they are made of, in the order of the text: all that the first launch computes. */
void twi_split_needs(twi_arena *arena, const tw_ir *ir, const twi_plan *p, twi_id_list *out);
/* The kernel as the second launch sees it: the same values under the same ids, what only the first
 * launch needs left out; temp arrays, loads of them and axis `part` are added behind. Temp array of
 * state k of the n-th split fold: ir->array.n + (states of the folds before) + k, dimensions: part,
 * then the fold's own axes. NULL: nothing is split, or an extent is no number. */
tw_ir *twi_split_ir(twi_arena *arena, const tw_ir *ir, const twi_plan *p);
/* Numbers that a partial result of the fold consists of. */
unsigned twi_fold_states(const tw_ir *ir, twi_id fold);

#endif
