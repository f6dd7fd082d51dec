/* SPDX-License-Identifier: Apache-2.0
 * Lifting: see pass.h. What a value depends on is found in ir/deps.c; here it becomes its type.
 */
#include "pass/pass.h"

bool opt_lift(tw_ir *ir) {
    bool changed = !ir->lifted;
    twi_mark mark = twi_arena_mark(ir->arena);
    uint64_t *deps = TWI_NEW_N(ir->arena, uint64_t, ir->ins.n);
    twi_deps(ir, deps);
    for (uint32_t v = 1; v < ir->ins.n; v++) {
        changed |= ir->ins.at[v].type.axes != deps[v];
        ir->ins.at[v].type.axes = deps[v];
    }
    ir->lifted = true;
    twi_arena_reset(ir->arena, mark);
    return changed;
}
