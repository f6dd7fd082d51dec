/* SPDX-License-Identifier: Apache-2.0
 * The table of terms (costs.def) and what each takes on a target.
 */
#include "caps/costs.h"

#include <stddef.h>
#include <string.h>

const twi_cost twi_costs[TWI_COSTS] = {
#define TWI_COST(NAME, name, unit, factor, member)                                                 \
    [TWI_COST_##NAME] = {name, unit, factor, offsetof(twi_caps, member)},
#include "caps/costs.def"
#undef TWI_COST
};

void twi_cost_analytic(const twi_caps *caps, double ns[TWI_COSTS]) {
    for (unsigned k = 0; k < TWI_COSTS; k++) {
        double price;
        memcpy(&price, (const char *)caps + twi_costs[k].at, sizeof price);
        ns[k] = twi_costs[k].factor * price;
    }
}

void twi_cost_prices(const twi_caps *caps, double ns[TWI_COSTS]) {
    if (caps->fitted)
        memcpy(ns, caps->fitted, TWI_COSTS * sizeof *ns);
    else
        twi_cost_analytic(caps, ns);
}
