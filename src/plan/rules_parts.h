/* SPDX-License-Identifier: Apache-2.0
 * What the files of the rules share.
 */
#ifndef TWI_PLAN_RULES_PARTS_H
#define TWI_PLAN_RULES_PARTS_H

#include "plan/rules.h"
#include "plan/scope.h"
#include "plan/split.h"

enum {
    TWI_STRIPE_BYTES = 1 << 28, /* of one value, a worker: large ones are scratch memory */
    TWI_PARTS_BYTES = 1 << 30,  /* of partial results between two launches, a fold */
    TWI_GROUP_STRIPE_BYTES =
        1 << 18 /* implicit lanes: of one value, all workers of a group: a
                   register file's size; a CPU's driver has one stack for all */
};

typedef struct {
    const tw_ir *ir;
    const twi_caps *caps;
    const twi_plan *p;
    twi_why *why;
    twi_arena *arena; /* scratch */
    uint32_t par;
    uint64_t axes;   /* of the scope */
    twi_id_list all; /* its values; where folds are split, those that the launch computes */
    unsigned split;  /* the axis whose folds are split; 0: none */
} twi_judge;

const char *twi_judge_axis(const twi_judge *j, unsigned axis);
const char *twi_judge_map(const twi_judge *j, const twi_map *m);
/* "AXIS = MAP: " and what is said of them. */
bool twi_refuse_map(const twi_judge *j, unsigned axis, const twi_map *m, const char *format, ...)
    TWI_PRINTF(4, 5);
const twi_frame *twi_judge_frame(const twi_judge *j, twi_id v); /* that computes the value */
/* Elements that one worker holds of these axes: product of the digits on a level (slots),
 * saturating. */
int64_t twi_judge_level(const twi_frame *f, uint64_t axes, unsigned level);
bool twi_judge_space(const twi_judge *j, uint64_t axes, const twi_map *maps, const char *what);

bool twi_judge_scan(const twi_judge *j, twi_id v);
bool twi_judge_folds(const twi_judge *j);
bool twi_judge_split(const twi_judge *j);
bool twi_judge_stages(const twi_judge *j);
bool twi_judge_atoms(const twi_judge *j);

#endif
