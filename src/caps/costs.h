/* SPDX-License-Identifier: Apache-2.0
 * Terms of the cost model by number, and their prices on a target.
 */
#ifndef TWI_CAPS_COSTS_H
#define TWI_CAPS_COSTS_H

#include "caps/caps.h"

enum {
#define TWI_COST(NAME, name, unit, factor, member) TWI_COST_##NAME,
#include "caps/costs.def"
#undef TWI_COST
    TWI_COSTS
};

typedef struct {
    const char *name, *unit; /* "launch", "call" */
    double factor;
    size_t at; /* of the member of twi_caps */
} twi_cost;
extern const twi_cost twi_costs[TWI_COSTS];

/* ns by term: those fitted here if the target has some, else analytic ones. */
void twi_cost_prices(const twi_caps *caps, double ns[TWI_COSTS]);
void twi_cost_analytic(const twi_caps *caps, double ns[TWI_COSTS]);

#endif
