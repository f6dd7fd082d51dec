/* SPDX-License-Identifier: Apache-2.0
 * The `derived` line of a plan: figures that follow from it, computed again and compared when one
 * is read.
 */
#include "lower/walk.h"

const char *twi_plan_derived(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                             const twi_plan *plan) {
    twi_features f;
    twi_sb sb;
    twi_tally(arena, ir, caps, plan, &f);
    twi_sb_init(&sb, arena);
    twi_sb_printf(&sb, "groups %lld, workers %u, lanes %u, shared %u, stripe %u",
                  (long long)f.groups, caps->family == TWI_FAMILY_CPU ? 1 : f.workers, f.lanes,
                  f.shared_bytes, f.stripe);
    twi_order *orders;
    uint32_t n = twi_plan_orders(arena, ir, caps, plan, &orders);
    for (uint32_t k = 0; k < n; k++)
        twi_sb_printf(&sb, ", depth %s %u", twi_value_name(ir, orders[k].fold), orders[k].depth);
    twi_sb_printf(&sb, ", barriers %llu", (unsigned long long)f.barriers);
    return twi_sb_text(&sb);
}
