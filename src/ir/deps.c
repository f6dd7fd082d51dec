/* SPDX-License-Identifier: Apache-2.0
 * What each value depends on: the axes of its tile and, beyond them, the parallel and serial axes
 * that its subscripts, positions, bounds and carries bring in. A fixpoint, because a carry depends
 * on its yield.
 *
 * Three rules decide about bounds. A value over an axis depends on the positions in the axis's
 * bounds
 * (`axis k: s*C .. ..` counts from s*C). A fold over an axis, and what a loop carries, depends on
 * all that the bounds depend on, lo(i) and hi(i) included. But a value over an axis whose bound is
 * hi(i) is the same for all i of one block, so it does not gain i: keys of a causal attention stay
 * one tile for all queries.
 *
 * An atomic happens once an instance, whatever it speaks of.
 */
#include "ir/ir.h"

typedef struct {
    const tw_ir *ir;
    uint64_t *deps;
    uint64_t
        at_bounds[TWI_MAX_AXES]; /* positions in an axis's bounds, closed over their own bounds */
    uint64_t all_bounds[TWI_MAX_AXES]; /* lo(i), hi(i) too */
} state;

static uint64_t bit(uint32_t axis) { return UINT64_C(1) << axis; }

static uint64_t over(const uint64_t *table, uint64_t set) {
    for (unsigned a = 1; a < TWI_MAX_AXES; a++)
        if (set >> a & 1u)
            set |= table[a];
    return set;
}

/* VALUE nodes inside an index expression bring what the value depends on. */
static uint64_t value_deps(const state *s, twi_ix x) {
    const twi_ix_node *n = &s->ir->ix.at[x];
    if (!n->loaded)
        return 0;
    return n->op == TWI_IX_VALUE ? s->deps[n->a] : value_deps(s, n->a) | value_deps(s, n->b);
}

static void find_bounds(state *s) {
    const tw_ir *ir = s->ir;
    for (uint32_t a = 1; a < ir->axis.n; a++) { /* bounds speak of earlier axes only */
        const twi_axis *x = &ir->axis.at[a];
        const twi_ix_node *lo = &ir->ix.at[x->lo], *hi = &ir->ix.at[x->hi];
        uint64_t loaded = value_deps(s, x->lo) | value_deps(s, x->hi);
        s->at_bounds[a] = over(s->at_bounds, lo->at | hi->at | loaded) & ~bit(a);
        s->all_bounds[a] = over(s->all_bounds, lo->axes | hi->axes | loaded) & ~bit(a);
    }
}

static uint64_t access_deps(const state *s, uint32_t id) {
    const twi_access *a = &s->ir->access.at[id];
    uint64_t set = 0;
    for (unsigned d = 0; d < s->ir->array.at[a->array].rank; d++)
        set |= s->ir->ix.at[a->ix[d]].axes;
    return set;
}

static uint64_t carried(const state *s, uint32_t region, uint32_t k) {
    const twi_region *r = &s->ir->region.at[region];
    uint32_t step = r->axes.at[0];
    uint64_t set = s->deps[twi_arg(s->ir, r->ins, k)] | s->deps[r->yields.at[k]];
    return (set | s->all_bounds[step]) & ~bit(step);
}

/* Instances of the scope are told apart by these; of tiled axes by blocks, which have no position.
 */
static uint64_t instances(const tw_ir *ir, uint32_t region) {
    uint64_t set = 0;
    while (region && ir->region.at[region].kind != TWI_REGION_PAR)
        region = ir->region.at[region].parent;
    const twi_region *r = &ir->region.at[region];
    for (uint32_t k = 0; region && k < r->axes.n; k++)
        set |= ir->axis.at[r->axes.at[k]].kind == TWI_AXIS_INDEX ? bit(r->axes.at[k]) : 0;
    return set;
}

static uint64_t ins_deps(const state *s, twi_id v, uint32_t region) {
    const tw_ir *ir = s->ir;
    const twi_ins *ins = &ir->ins.at[v];
    uint64_t set = ins->type.axes;
    if (ins->op == TWI_ATOMIC)
        set |= instances(ir, region);
    if (ins->op == TWI_CARRY)
        return set | carried(s, region, ins->attr);
    if (ins->op == TWI_RESULT)
        return set | carried(s, ir->ins.at[twi_arg(ir, v, 0)].attr, ins->attr);
    if (twi_is_access(ins->op))
        set |= access_deps(s, ins->attr);
    if (ins->op == TWI_INDEX)
        set |= bit(ins->attr);
    if (ins->op == TWI_IXVAL)
        set |= ir->ix.at[ins->attr].axes | value_deps(s, ins->attr);
    for (uint32_t k = 0; k < ins->nargs; k++)
        set |= s->deps[twi_arg(ir, v, k)];
    for (unsigned k = 0; k < ins->nfold; k++)
        set |= s->all_bounds[ins->fold[k]];
    set = over(s->at_bounds, set);
    for (unsigned k = 0; k < ins->nfold && twi_op_row(ins->op)->kind == TWI_KIND_FOLD; k++)
        set &= ~bit(ins->fold[k]);
    return set;
}

static bool visit(state *s, twi_id v, uint32_t region) {
    uint64_t set = ins_deps(s, v, region);
    bool more = set != s->deps[v];
    s->deps[v] = set;
    return more;
}

void twi_deps(const tw_ir *ir, uint64_t *deps) {
    state s = {.ir = ir, .deps = deps};
    memset(deps, 0, ir->ins.n * sizeof *deps);
    for (bool more = true; more;) {
        more = false;
        find_bounds(&s); /* again: they may depend on values */
        for (uint32_t r = 1; r < ir->region.n; r++) {
            for (uint32_t k = 0; k < ir->region.at[r].carries.n; k++)
                more |= visit(&s, ir->region.at[r].carries.at[k], r);
            for (uint32_t k = 0; k < ir->region.at[r].body.n; k++) {
                twi_id v = ir->region.at[r].body.at[k];
                if (twi_op_row(ir->ins.at[v].op)->kind != TWI_KIND_REGION)
                    more |= visit(&s, v, r);
            }
        }
    }
}
