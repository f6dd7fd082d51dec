/* SPDX-License-Identifier: Apache-2.0
 * --class canonical: every float fold whose bits depend on its grouping gets the canonical order;
 * left and right fix their bits already. Native functions become the portable ones.
 */
#include "plan/scope.h"
#include "search/search.h"

bool twi_canonical_orders(tw_ir *ir) {
    bool changed = ir->math != 0;
    ir->math = 0;
    for (twi_id v = 1; v < ir->ins.n; v++) {
        uint8_t order = ir->ins.at[v].order;
        if (order == TWI_ORDER_LEFT || order == TWI_ORDER_RIGHT || order == TWI_ORDER_CANONICAL ||
            !twi_fold_rounds(ir, v))
            continue;
        ir->ins.at[v].order = TWI_ORDER_CANONICAL;
        changed = true;
    }
    return changed;
}
