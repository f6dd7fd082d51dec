/* SPDX-License-Identifier: Apache-2.0
 * The analytic score: features of the walk times the target's prices. It ranks plans; it does not
 * predict times.
 *
 * The cores of a CPU work groups off one after the other: a sum of amounts times prices, by term
 * (caps/costs.def). On implicit lanes a plan has three
 * lengths: the chain of one group's waits times the waves of groups that do not fit at once, what
 * the busiest unit issues and moves, and what all units move together. Their root of squares is the
 * time: the longest hides most of the others.
 */
#include "search/view.h"

#include <math.h>
#include <string.h>

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

static double array_bytes(const tw_ir *ir, uint32_t a) {
    double size = (double)tw_elem_size((tw_elem)ir->array.at[a].elem);
    for (unsigned d = 0; d < ir->array.at[a].rank; d++) {
        int64_t n;
        size *= twi_ix_is_const(ir, ir->array.at[a].dim[d], &n) ? (double)n : 1;
    }
    return size;
}

/* Code far beyond an instruction cache runs from farther away. */
static double code_factor(const twi_features *f) {
    return f->code > 4096 ? 1 + (f->code - 4096) / 16384.0 : 1;
}

/* ---- explicit lanes ---- */

#define CROWDED 0.25 /* of a jump: lines come back from the next level, many at once */

/* The part of what is read again that comes in time: the same addresses in the same order, while
 * what came before them is used. */
#define AGAIN 0.75

/* What one group does, by term. */
static void group_amounts(const twi_features *f, double x[TWI_COSTS]) {
    const double lanes = f->lanes > 1 ? f->lanes : 1;
    x[TWI_COST_GROUP] = 1;
    x[TWI_COST_FREE] = f->ops[TWI_PRICE_FREE];
    x[TWI_COST_CHEAP] = f->ops[TWI_PRICE_CHEAP];
    x[TWI_COST_DIV] = f->ops[TWI_PRICE_DIV];
    x[TWI_COST_FUNC] = f->ops[TWI_PRICE_FUNC];
    for (uint32_t a = 1; a < f->arrays; a++) {
        x[TWI_COST_LOAD] += f->loads[a];
        x[TWI_COST_STORE] += f->stores[a];
        x[TWI_COST_NEAR] += f->load_bytes[a] + f->store_bytes[a];
    }
    x[TWI_COST_NEAR] -= AGAIN * f->again;
    x[TWI_COST_SCATTERED] = f->scattered;
    x[TWI_COST_MASKED] = f->masked;
    /* A stripe is written once and read at least once: whole vectors. */
    x[TWI_COST_KEPT] = f->near_bytes + 8 * lanes * f->stripe;
    x[TWI_COST_LANES] = f->lane_rounds;
    x[TWI_COST_BARRIER] = f->barriers;
    x[TWI_COST_TRIP] = f->trips;
    x[TWI_COST_JUMP] = f->jumps + CROWDED * f->crowded;
}

/* Bytes that come at least once from where the arrays are. */
static double first_bytes(const tw_ir *ir, const twi_features *f, double *size) {
    double bytes = 0, groups = (double)f->groups;
    for (uint32_t a = 1; a < ir->array.n && a < f->arrays; a++) {
        bytes += least((f->load_bytes[a] + f->store_bytes[a]) * groups, array_bytes(ir, a));
        *size += array_bytes(ir, a);
    }
    for (uint32_t a = ir->array.n; a < f->arrays; a++) /* partial results */
        bytes += (f->load_bytes[a] + f->store_bytes[a]) * groups;
    return bytes;
}

void twi_search_amounts(const tw_ir *ir, const twi_caps *caps, const twi_features *f,
                        uint32_t units, double x[TWI_COSTS]) {
    const double groups = (double)f->groups;
    double size = 0;
    memset(x, 0, TWI_COSTS * sizeof *x);
    group_amounts(f, x);
    for (unsigned k = 0; k < TWI_COSTS; k++)
        x[k] *= (units > 1 ? ceil(groups / units) : groups) * code_factor(f);
    const double bytes = first_bytes(ir, f, &size);
    x[size <= caps->cache_bytes ? TWI_COST_CACHE : TWI_COST_FAR] = bytes;
    x[TWI_COST_LAUNCH] = 1;
    x[TWI_COST_WAKE] = units > 1 ? 1 : 0;
}

static double priced(const tw_ir *ir, const twi_caps *caps, const twi_features *f, uint32_t units) {
    double x[TWI_COSTS], price[TWI_COSTS], ns = 0;
    twi_search_amounts(ir, caps, f, units, x);
    twi_cost_prices(caps, price);
    for (unsigned k = 0; k < TWI_COSTS; k++)
        ns += x[k] * price[k];
    return ns;
}

/* Threads take groups in turn, where waking them is worth it. */
static double explicit_cost(const tw_ir *ir, const twi_caps *caps, const twi_features *f) {
    const double alone = priced(ir, caps, f, 1);
    const bool share = caps->units > 1 && f->groups > 1;
    return share ? least(alone, priced(ir, caps, f, caps->units)) : alone;
}

/* ---- implicit lanes ---- */

#define OWN_REGISTERS 24 /* of a worker, beside what it keeps: addresses, masks, temporaries */
#define WAIT 16          /* instructions of a unit in whose time a dependent one is ready */
#define AHEAD 4          /* loads of short loops that wait together */
#define TURN 4           /* of a unit, while one subgroup issues one */

/* What is kept mostly takes the registers that the phase before had for its accumulators and the
 * operands beside them. */
static double wanted_registers(const twi_features *f) {
    return OWN_REGISTERS + most(f->stripe, f->slots + f->operands);
}

/* Groups that a unit holds at once. */
static double resident(const twi_caps *caps, const twi_features *f) {
    double n = caps->unit_groups;
    n = least(n, floor(caps->unit_workers / (double)f->workers));
    if (caps->unit_registers)
        n = least(n, floor(caps->unit_registers /
                           (f->workers * least(wanted_registers(f), caps->registers))));
    if (caps->unit_shared && f->shared_bytes)
        n = least(n, floor(caps->unit_shared / (double)f->shared_bytes));
    return most(n, 1);
}

/* What does not fit into registers goes to memory and comes back. */
static double spilled(const twi_caps *caps, const twi_features *f) {
    double beyond = wanted_registers(f) - (double)caps->registers;
    return f->indexed + (beyond > 0 ? 2 * beyond : 0);
}

/* What one worker issues, in ns of a unit that serves its subgroup alone. */
static double issue_ns(const twi_caps *caps, const twi_features *f) {
    double cheap = caps->op_ns[TWI_PRICE_CHEAP], ns = 0, accesses = spilled(caps, f);
    for (unsigned p = 0; p < TWI_PRICES; p++)
        ns += f->ops[p] * caps->op_ns[p];
    for (uint32_t a = 1; a < f->arrays; a++)
        accesses += f->loads[a] + f->stores[a];
    return (ns + (2 * accesses + 2 * f->lane_rounds + 3 * f->trips) * cheap) * code_factor(f);
}

/* A worker's own instructions one after the other: as many wait together as a value has slots. */
static double alone_ns(const twi_features *f, double issue) {
    return issue * most(TURN, WAIT / most(f->slots, 1));
}

/* Turns of a unit's memory pipe for one group: a request, or 128 bytes of it. */
static double pipe_turns(const twi_caps *caps, const twi_features *f, double subs) {
    double turns = f->turns + spilled(caps, f) * subs;
    for (uint32_t a = 1; a < f->arrays; a++)
        turns += most((f->loads[a] + f->stores[a]) * subs, f->sectors[a] / 4);
    return turns;
}

/* Waits for far memory, one for each time that loads follow an exchange. Compilers repeat short
 * loops, so that a few loads of those are under way at once. */
static double waits(const twi_features *f) {
    double loads = 0, looped = least(f->rounds, f->trips);
    for (uint32_t a = 1; a < f->arrays; a++)
        loads += f->loads[a];
    return f->rounds - looped + least(looped, most(1, loads / AHEAD));
}

/* What all groups move, as far as arrays are read again from a cache. */
static double moving_ns(const tw_ir *ir, const twi_caps *caps, const twi_features *f) {
    double moved = 0, touched = 0;
    for (uint32_t a = 1; a < ir->array.n && a < f->arrays; a++) {
        double bytes = 32 * f->sectors[a] * (double)f->groups;
        moved += bytes;
        touched += least(bytes, array_bytes(ir, a));
    }
    for (uint32_t a = ir->array.n; a < f->arrays; a++) { /* partial results */
        moved += 32 * f->sectors[a] * (double)f->groups;
        touched += 32 * f->sectors[a] * (double)f->groups;
    }
    double cached = moved * caps->cache_byte_ns;
    return touched < 0.75 * caps->cache_bytes ? cached : most(cached, touched * caps->byte_ns);
}

/* Blocks that are loaded between exchanges, again and again: the workers that the one keeps from
 * loading and the other from the math wait for as long as one unit takes to get them. What is
 * loaded for later trips comes beside the math. */
static double exposed_ns(const twi_caps *caps, const twi_features *f) {
    const double again = least(least(f->rounds, f->trips), f->barriers);
    double bytes = 0;
    for (uint32_t a = 1; a < f->arrays; a++)
        bytes += f->loads[a] > 0 ? 32 * f->sectors[a] : 0;
    return again > 0 ? bytes * again / (f->rounds + f->early) * caps->cache_byte_ns * caps->units
                     : 0;
}

/* Rounds of groups that do not fit at once; the tail of many is a small part. */
static double waves(const twi_caps *caps, const twi_features *f) {
    const double n = most((double)f->groups, 1) / (caps->units * resident(caps, f));
    return n < 8 ? ceil(n) : n + 0.5;
}

static double implicit_cost(const tw_ir *ir, const twi_caps *caps, const twi_features *f) {
    double subs = most(f->workers / most(f->lanes, 1), 1), groups = most((double)f->groups, 1);
    double issue = issue_ns(caps, f), units = caps->units;
    double unit = most(issue * subs, pipe_turns(caps, f, subs) * caps->turn_ns);
    /* What is under way for later trips and the math of this one go on beside each other. */
    double chain = caps->group_ns + waits(f) * caps->latency_ns + exposed_ns(caps, f) +
                   f->lane_rounds * caps->lane_round_ns + f->trips * caps->trip_ns +
                   f->barriers * caps->barrier_ns * (1 + subs / 8) +
                   most(alone_ns(f, issue), f->early * caps->latency_ns);
    double all = ceil(groups / units) * unit, moving = moving_ns(ir, caps, f);
    chain *= waves(caps, f);
    return caps->launch_ns + sqrt(chain * chain + all * all + moving * moving);
}

/* Of an implicit launch that is counted in part: what may still make it cheaper is as cheap as it
 * gets. That is how loads share waits with trips, and how a worker's instructions do. */
static double implicit_floor(const tw_ir *ir, const twi_caps *caps, const twi_features *f) {
    double subs = most(f->workers / most(f->lanes, 1), 1), groups = most((double)f->groups, 1);
    double issue = issue_ns(caps, f), loads = 0;
    for (uint32_t a = 1; a < f->arrays; a++)
        loads += f->loads[a];
    const double unit = most(issue * subs, pipe_turns(caps, f, subs) * caps->turn_ns);
    const double chain =
        waves(caps, f) *
        (caps->group_ns + f->lane_rounds * caps->lane_round_ns + f->trips * caps->trip_ns +
         f->barriers * caps->barrier_ns * (1 + subs / 8) +
         least(f->rounds, most(1, loads / AHEAD)) * caps->latency_ns +
         most(issue * TURN, f->early * caps->latency_ns));
    const double all = ceil(groups / caps->units) * unit, moving = moving_ns(ir, caps, f);
    return caps->launch_ns + sqrt(chain * chain + all * all + moving * moving);
}

double twi_search_floor(const tw_ir *ir, const twi_caps *caps, const twi_features *so_far) {
    twi_features f = *so_far;
    const double then = f.then ? twi_search_least(caps, true) : 0;
    f.then = NULL;
    if (caps->reversed)
        return 0;
    const double ns = caps->family == TWI_FAMILY_SIMT ? implicit_floor(ir, caps, &f)
                                                      : explicit_cost(ir, caps, &f);
    return (then + ns) * (1 - 1e-9); /* sums come out rounded */
}

bool twi_is_over(const void *patience, const twi_features *so_far) {
    const twi_patience *p = patience;
    return twi_search_floor(p->v->ir, p->v->caps, so_far) > p->limit;
}

static double cost(const tw_ir *ir, const twi_caps *caps, const twi_features *f) {
    double ns =
        caps->family == TWI_FAMILY_SIMT ? implicit_cost(ir, caps, f) : explicit_cost(ir, caps, f);
    return f->then ? ns + cost(ir, caps, f->then) : ns;
}

double twi_search_cost(const tw_ir *ir, const twi_caps *caps, const twi_features *f) {
    const double ns = cost(ir, caps, f);
    return caps->reversed ? 1e12 / most(ns, 1) : ns;
}

double twi_search_least(const twi_caps *caps, bool loads) {
    double group = caps->group_ns + (loads ? caps->latency_ns : 0);
    return caps->launch_ns + (caps->family == TWI_FAMILY_SIMT ? group : 0);
}
