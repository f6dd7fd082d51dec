/* SPDX-License-Identifier: Apache-2.0
 * The analytic score: features of the walk times the target's prices. It ranks plans; it does not
 * predict times.
 */
#include "search/view.h"

#include <math.h>

/* Work of one group in ns. What vectors move element by element costs an access and an
 * insertion each. */
static double group_ns(const twi_caps *caps, const twi_features *f) {
    double ns = caps->group_ns, accesses = 0, bytes = 0;
    for (unsigned p = 0; p < TWI_PRICES; p++)
        ns += f->ops[p] * caps->op_ns[p];
    for (uint32_t a = 1; a < f->arrays; a++) {
        accesses += f->loads[a] + f->stores[a];
        bytes += f->load_bytes[a] + f->store_bytes[a];
    }
    double lanes = f->lanes > 1 ? f->lanes : 1;
    ns += (accesses + 2 * f->scattered) * caps->op_ns[TWI_PRICE_CHEAP];
    /* A stripe is written once and read at least once: whole vectors where lanes are explicit. */
    double width = caps->family == TWI_FAMILY_CPU ? 4 * lanes : 4;
    ns += (bytes + f->near_bytes + 2 * width * f->stripe) * caps->near_byte_ns;
    ns += f->lane_rounds * caps->lane_round_ns + f->barriers * caps->barrier_ns +
          f->trips * caps->trip_ns;
    return ns;
}

double twi_search_cost(const tw_ir *ir, const twi_caps *caps, const twi_features *f) {
    double far = 0, groups = (double)f->groups;
    for (uint32_t a = 1; a < ir->array.n; a++) {
        double size = (double)tw_elem_size((tw_elem)ir->array.at[a].elem);
        for (unsigned d = 0; d < ir->array.at[a].rank; d++) {
            int64_t n;
            size *= twi_ix_is_const(ir, ir->array.at[a].dim[d], &n) ? (double)n : 1;
        }
        double moved = a < f->arrays ? (f->load_bytes[a] + f->store_bytes[a]) * groups : 0;
        far += moved < size ? moved : size;
    }
    /* Code far beyond an instruction cache runs from farther away. */
    double code = f->code > 4096 ? 1 + (f->code - 4096) / 16384.0 : 1;
    double waves = caps->family == TWI_FAMILY_SIMT ? ceil(groups / caps->units) : groups;
    return caps->launch_ns + far * caps->byte_ns + waves * group_ns(caps, f) * code;
}
