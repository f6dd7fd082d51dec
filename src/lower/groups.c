/* SPDX-License-Identifier: Apache-2.0
 * From a group's number to its grid digits. Digits count row-major: that of a split fold outermost,
 * so that groups of one part follow each other, then those of the parallel axes in their order.
 */
#include "lower/walk.h"

/* The axes that have a grid digit, outermost first. */
static unsigned grid_axes(const twi_lowering *w, unsigned *axis) {
    const twi_region *scope = &w->ir->region.at[w->cut.scope];
    unsigned n = 0;
    axis[n] = twi_split_axis(w->ir, w->plan);
    n += axis[n] != 0;
    for (uint32_t k = 0; k < scope->axes.n; k++)
        axis[n++] = scope->axes.at[k];
    return n;
}

void twi_w_open_grid(twi_lowering *w) {
    unsigned axis[TWI_MAX_AXES + 1], n = grid_axes(w, axis);
    int64_t stride = 1, total = twi_plan_groups(w->plan);
    twi_lid id = total > 1 ? twi_w_leaf(w, TWI_L_ID, 1, TWI_LV_GRID) : 0;
    for (unsigned k = n; k-- > 0;) {
        int64_t extent = twi_w_map(w, axis[k])->d[0].extent;
        w->digit[axis[k]][0] = twi_w_split_id(w, id, stride, extent, stride * extent == total);
        stride *= extent;
    }
}
