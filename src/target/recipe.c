/* SPDX-License-Identifier: Apache-2.0
 * The walk over an entry's recipe: see recipe.h.
 */
#include "target/recipe.h"

#include <stdio.h>

typedef struct {
    const twi_entry *entry;
    const twi_recipe_hooks *hooks;
    char *error;
    int64_t trip[TWI_RECIPE_LOOPS];
} walk;

static uint32_t end_of(const twi_entry *entry, uint32_t at) {
    unsigned depth = 0;
    for (; at < entry->recipe.n; at++) {
        depth += entry->recipe.at[at].what == TWI_DO_LOOP;
        if (entry->recipe.at[at].what == TWI_DO_END && --depth == 0)
            return at;
    }
    return at;
}

/* Steps from..to-1 inside `depth` loops. */
static tw_status steps(walk *w, uint32_t from, uint32_t to, unsigned depth) {
    tw_status status = TW_OK;
    for (uint32_t i = from; status == TW_OK && i < to; i++) {
        const twi_step_do *step = &w->entry->recipe.at[i];
        if (step->what == TWI_DO_LAUNCH) {
            status = w->hooks->launch(w->hooks->state, step, w->trip);
        } else if (step->what == TWI_DO_FILL) {
            status = w->hooks->fill(w->hooks->state, step);
        } else if (step->what == TWI_DO_LOOP && depth < TWI_RECIPE_LOOPS) {
            const uint32_t end = end_of(w->entry, i);
            for (int64_t t = step->lo; status == TW_OK && t < step->hi; t++) {
                w->trip[depth] = t;
                status = steps(w, i + 1, end, depth + 1);
            }
            i = end;
        } else {
            (void)snprintf(w->error, TWI_ERROR_TEXT, "a recipe that cannot be run");
            status = TW_ERR_INTERNAL;
        }
    }
    return status;
}

tw_status twi_recipe_walk(const twi_entry *entry, const twi_recipe_hooks *hooks,
                          char error[TWI_ERROR_TEXT]) {
    walk w = {.entry = entry, .hooks = hooks, .error = error};
    return steps(&w, 0, entry->recipe.n, 0);
}
