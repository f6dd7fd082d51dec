/* SPDX-License-Identifier: Apache-2.0
 * Where the new values of carries go: over the old ones where all reads of those are done, else
 * beside them to the end of the trip. A fold leaves its result there itself where it may.
 */
#include "lower/walk.h"

/* Last phase of `region` in which `v` is evaluated; INT32_MAX where that is in an inner region. */
static int reading_phase(const twi_lowering *w, uint32_t region, twi_id v) {
    const twi_cut_value *c = &w->cut.value[v];
    if (c->region != region)
        return INT32_MAX;
    return twi_is_local(w->ir, v) ? c->last : c->phase;
}

/* Are the carries that get their new values in phase p alike? Then one walk writes them all, reads
 * before writes. */
static bool yields_alike(const twi_lowering *w, uint32_t region, int p) {
    const twi_region *r = &w->ir->region.at[region];
    uint64_t axes = 0;
    bool any = false;
    for (uint32_t k = 0; k < r->yields.n; k++) {
        twi_id y = r->yields.at[k];
        int written = w->cut.value[y].region == region ? w->cut.value[y].avail : 0;
        if (written != p || y == r->carries.at[k])
            continue;
        uint64_t mine = twi_ins_of(w->ir, r->carries.at[k])->type.axes;
        if (any && mine != axes)
            return false;
        any = true;
        axes = mine;
    }
    return true;
}

bool twi_w_in_place(const twi_lowering *w, uint32_t region, unsigned carry) {
    const twi_region *r = &w->ir->region.at[region];
    twi_id old = r->carries.at[carry], y = r->yields.at[carry];
    int written = w->cut.value[y].region == region ? w->cut.value[y].avail : 0;
    for (uint32_t k = 0; k < r->yields.n; k++)
        if (r->yields.at[k] == old && k != carry)
            return false;
    for (uint32_t k = 0; k < w->cut.all.n; k++) {
        twi_id v = w->cut.all.at[k];
        const twi_ins *i = twi_ins_of(w->ir, v);
        for (unsigned a = 0; a < i->nargs; a++) {
            if (twi_arg(w->ir, v, a) != old)
                continue;
            int p = reading_phase(w, region, v);
            bool elementwise = yields_alike(w, region, written) &&
                               twi_op_row(i->op)->kind == TWI_KIND_LOCAL &&
                               i->type.axes == twi_ins_of(w->ir, old)->type.axes;
            if (p > written || (p == written && !elementwise))
                return false;
        }
    }
    return true;
}

/* Does what reads v from phase p on do so for the start of fold y, element by element? */
static bool feeds(const twi_lowering *w, uint32_t region, twi_id v, twi_id y, int p) {
    const twi_region *r = &w->ir->region.at[region];
    for (uint32_t k = 0; k < r->yields.n; k++)
        if (r->yields.at[k] == v)
            return false;
    for (uint32_t k = 0; k < w->cut.all.n; k++) {
        const twi_id u = w->cut.all.at[k];
        const twi_ins *i = twi_ins_of(w->ir, u);
        for (unsigned a = 0; a < i->nargs; a++) {
            if (twi_arg(w->ir, u, a) != v || (u == y && a >= twi_fold_operands(w->ir, y)))
                continue;
            const int at = reading_phase(w, region, u);
            if (at >= p &&
                (at > p || !twi_is_local(w->ir, u) ||
                 i->type.axes != twi_ins_of(w->ir, v)->type.axes || !feeds(w, region, u, y, p)))
                return false;
        }
    }
    return true;
}

int twi_w_settles(const twi_lowering *w, uint32_t region, twi_id y) {
    const twi_region *r = &w->ir->region.at[region];
    const twi_place *place = twi_plan_place(w->plan, y);
    uint32_t k = 0;
    while (k < r->yields.n && r->yields.at[k] != y)
        k++;
    if (!w->vectors || k == r->yields.n || w->cut.value[y].region != region ||
        twi_op_row(twi_ins_of(w->ir, y)->op)->kind != TWI_KIND_FOLD ||
        (place && (place->to || place->keep)))
        return -1;
    const twi_id old = r->carries.at[k];
    const twi_type *t = &twi_ins_of(w->ir, old)->type;
    return t->axes == twi_ins_of(w->ir, y)->type.axes &&
                   twi_same_maps(w->plan, twi_frame_of(w, old), twi_frame_of(w, y), t->axes) &&
                   feeds(w, region, old, y, w->cut.value[y].phase)
               ? (int)k
               : -1;
}
