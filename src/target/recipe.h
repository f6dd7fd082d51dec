/* SPDX-License-Identifier: Apache-2.0
 * An entry's recipe, step by step: fills, launches, loops around launches. What a step does is the
 * caller's.
 */
#ifndef TWI_TARGET_RECIPE_H
#define TWI_TARGET_RECIPE_H

#include "target/target.h"

#define TWI_RECIPE_LOOPS 16

typedef struct {
    void *state;
    /* trip: by depth, of the loops that are open */
    tw_status (*launch)(void *state, const twi_step_do *step, const int64_t *trip);
    tw_status (*fill)(void *state, const twi_step_do *step);
} twi_recipe_hooks;

/* Stops at the first step that fails. */
tw_status twi_recipe_walk(const twi_entry *entry, const twi_recipe_hooks *hooks,
                          char error[TWI_ERROR_TEXT]);

#endif
