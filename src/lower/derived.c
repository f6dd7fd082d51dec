/* SPDX-License-Identifier: Apache-2.0
 * The `derived` line of a plan: figures that follow from it, computed again and compared when one
 * is read.
 */
#include "lower/walk.h"

const char *twi_features_text(twi_arena *arena, const twi_features *f) {
    double loads = 0, stores = 0, sectors = 0, bytes = 0;
    for (uint32_t a = 1; a < f->arrays; a++) {
        loads += f->loads[a];
        stores += f->stores[a];
        sectors += f->sectors[a];
        bytes += f->load_bytes[a] + f->store_bytes[a];
    }
    const struct {
        const char *name;
        double value;
    } row[] = {{"cheap", f->ops[TWI_PRICE_CHEAP]},
               {"div", f->ops[TWI_PRICE_DIV]},
               {"func", f->ops[TWI_PRICE_FUNC]},
               {"loads", loads},
               {"stores", stores},
               {"bytes", bytes},
               {"sectors", sectors},
               {"rounds", f->rounds},
               {"early", f->early},
               {"trips", f->trips},
               {"lane_rounds", f->lane_rounds},
               {"barriers", f->barriers},
               {"turns", f->turns},
               {"near_bytes", f->near_bytes},
               {"again", f->again},
               {"jumps", f->jumps},
               {"masked", f->masked},
               {"crowded", f->crowded},
               {"indexed", f->indexed},
               {"stripe", f->stripe},
               {"slots", f->slots},
               {"operands", f->operands},
               {"shared", f->shared_bytes},
               {"code", f->code},
               {"workers", f->workers},
               {"groups", (double)f->groups}};
    twi_sb sb;
    twi_sb_init(&sb, arena);
    for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
        twi_sb_printf(&sb, "%s%s ", k ? ", " : "", row[k].name);
        twi_sb_f64(&sb, row[k].value);
    }
    return twi_sb_text(&sb);
}

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
    if (f.then)
        twi_sb_printf(&sb, ", then groups %lld, workers %u, barriers %llu",
                      (long long)f.then->groups, f.then->workers,
                      (unsigned long long)f.then->barriers);
    return twi_sb_text(&sb);
}
