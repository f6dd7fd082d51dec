/* SPDX-License-Identifier: Apache-2.0
 * Levels, phases and crossing values of a scope: see cut.h.
 */
#include "lower/cut.h"

uint64_t twi_access_axes(const tw_ir *ir, twi_id v) {
    const twi_ins *i = twi_ins_of(ir, v);
    const twi_access *a = &ir->access.at[i->attr];
    uint64_t axes = i->op == TWI_ATOMIC ? i->type.axes : 0;
    for (unsigned d = 0; d < ir->array.at[a->array].rank; d++)
        axes |= ir->ix.at[a->ix[d]].axes;
    for (unsigned k = 0; k < i->nargs; k++)
        axes |= twi_ins_of(ir, twi_arg(ir, v, k))->type.axes;
    return axes;
}

bool twi_scope_touches(const twi_cut *cut, uint32_t array, unsigned op) {
    for (uint32_t k = 0; k < cut->all.n; k++) {
        const twi_ins *i = twi_ins_of(cut->ir, cut->all.at[k]);
        const bool does = i->op == op || (op == TWI_STORE && i->op == TWI_ATOMIC);
        if (does && cut->ir->access.at[i->attr].array == array)
            return true;
    }
    return false;
}

static void collect_values(twi_arena *arena, twi_cut *cut, uint32_t region) {
    const twi_region *r = &cut->ir->region.at[region];
    cut->phases[region] = 1;
    for (uint32_t k = 0; k < r->carries.n; k++) {
        twi_push(arena, &cut->all, r->carries.at[k]);
        cut->value[r->carries.at[k]].region = region;
    }
    for (uint32_t k = 0; k < r->body.n; k++) {
        twi_id v = r->body.at[k];
        const twi_ins *i = twi_ins_of(cut->ir, v);
        if (i->op == TWI_CARRY)
            continue;
        twi_push(arena, &cut->all, v);
        cut->value[v].region = region;
        if (i->op == TWI_SERIAL)
            collect_values(arena, cut, i->attr);
    }
}

/* Level of operand o as seen from region `from`: values of outer regions are settled before it
 * starts. */
static uint16_t level_from(const twi_cut *cut, uint32_t from, twi_id o) {
    return cut->value[o].region == from ? cut->value[o].avail : 0;
}

static uint16_t operands_level(const twi_cut *cut, uint32_t region, twi_id v) {
    const twi_ins *i = twi_ins_of(cut->ir, v);
    uint16_t level = 0;
    for (unsigned k = 0; k < i->nargs; k++) {
        uint16_t l = level_from(cut, region, twi_arg(cut->ir, v, k));
        level = l > level ? l : level;
    }
    return level;
}

/* Level at which all that a serial region takes from `region` is there. */
static uint16_t captured_level(const twi_cut *cut, uint32_t region, uint32_t inner) {
    uint16_t level = 0;
    for (uint32_t k = 0; k < cut->all.n; k++) {
        twi_id v = cut->all.at[k];
        uint32_t r = cut->value[v].region;
        while (r && r != inner)
            r = cut->ir->region.at[r].parent;
        if (r != inner)
            continue;
        uint16_t l = operands_level(cut, region, v);
        level = l > level ? l : level;
    }
    return level;
}

static const twi_access *access_of(const tw_ir *ir, twi_id v) {
    const twi_ins *i = twi_ins_of(ir, v);
    return twi_is_access(i->op) ? &ir->access.at[i->attr] : NULL;
}

/* Does something of the region, or of those inside, store the array, or load it too? */
static bool region_touches(const twi_cut *cut, uint32_t region, uint32_t array, bool loads) {
    for (uint32_t k = 0; k < cut->all.n; k++) {
        twi_id v = cut->all.at[k];
        const twi_access *a = access_of(cut->ir, v);
        bool counts = a && a->array == array && (loads || twi_ins_of(cut->ir, v)->op != TWI_LOAD);
        uint32_t r = counts ? cut->value[v].region : 0;
        while (r && r != region)
            r = cut->ir->region.at[r].parent;
        if (r)
            return true;
    }
    return false;
}

/* A serial region runs after the phase of the same number: earlier stores of the arrays that it
 * touches come before it, as do earlier regions that touch what it does. */
static uint16_t region_level(const twi_cut *cut, uint32_t region, uint32_t upto, uint32_t inner) {
    const twi_region *r = &cut->ir->region.at[region];
    uint16_t level = 0;
    for (uint32_t k = 0; k < upto; k++) {
        twi_id v = r->body.at[k];
        const twi_ins *i = twi_ins_of(cut->ir, v);
        bool before = i->op == TWI_SERIAL;
        if (twi_op_row(i->op)->kind == TWI_KIND_EFFECT)
            before = region_touches(cut, inner, access_of(cut->ir, v)->array, true);
        if (before && cut->value[v].phase > level)
            level = cut->value[v].phase;
    }
    return level;
}

/* A store runs after every earlier store of its array, after serial regions that touch it, and
 * after loads of it at other places. */
static uint16_t memory_level(const twi_cut *cut, uint32_t region, uint32_t upto, twi_id store) {
    const tw_ir *ir = cut->ir;
    const twi_access *mine = &ir->access.at[twi_ins_of(ir, store)->attr];
    const twi_region *r = &ir->region.at[region];
    uint16_t level = 0;
    for (uint32_t k = 0; k < upto; k++) {
        twi_id v = r->body.at[k];
        const twi_ins *i = twi_ins_of(ir, v);
        const twi_access *a = access_of(ir, v);
        if (i->op == TWI_SERIAL && region_touches(cut, i->attr, mine->array, true) &&
            cut->value[v].avail > level)
            level = cut->value[v].avail;
        if (!a || a->array != mine->array)
            continue;
        bool same = memcmp(a->ix, mine->ix, sizeof a->ix) == 0 &&
                    memcmp(a->gather, mine->gather, sizeof a->gather) == 0;
        for (unsigned d = 0; same && d < TWI_MAX_RANK; d++)
            same = twi_gathered(ir, v, d) == twi_gathered(ir, store, d);
        uint16_t l = i->op != TWI_LOAD ? (uint16_t)(cut->value[v].phase + !same)
                                       : (uint16_t)(cut->value[v].avail + !same);
        level = l > level ? l : level;
    }
    return level;
}

static void level_region(twi_cut *cut, uint32_t region) {
    const tw_ir *ir = cut->ir;
    const twi_region *r = &ir->region.at[region];
    uint16_t most = 0;
    for (uint32_t k = 0; k < r->body.n; k++) {
        twi_id v = r->body.at[k];
        const twi_ins *i = twi_ins_of(ir, v);
        twi_cut_value *c = &cut->value[v];
        c->phase = operands_level(cut, region, v);
        c->avail = c->phase;
        switch (twi_op_row(i->op)->kind) {
        case TWI_KIND_FOLD:
        case TWI_KIND_ORDER:
            c->avail = (uint16_t)(c->avail + !twi_scan_streams(ir, v));
            break;
        case TWI_KIND_EFFECT: {
            uint16_t l = memory_level(cut, region, k, v);
            c->phase = c->avail = l > c->phase ? l : c->phase;
            break;
        }
        case TWI_KIND_REGION: {
            level_region(cut, i->attr);
            uint16_t l = captured_level(cut, region, i->attr);
            uint16_t after = region_level(cut, region, k, i->attr);
            l = after > l ? after : l;
            c->phase = l > c->phase ? l : c->phase;
            c->avail = (uint16_t)(c->phase + 1);
            break;
        }
        default:
            break;
        }
        uint16_t end = c->avail > c->phase ? c->avail : c->phase;
        most = end > most ? end : most;
    }
    cut->phases[region] = (uint16_t)(most + 1);
}

/* `o` is needed by something of `region` that runs in phase p. */
static void need(twi_cut *cut, uint32_t region, uint16_t p, twi_id o) {
    twi_cut_value *c = &cut->value[o];
    c->used = true;
    if (!twi_is_local(cut->ir, o))
        return;
    c->crossing |= c->region != region || c->avail < p;
    c->last = p > c->last ? p : c->last;
}

/* Backwards: the last phase in which each local value is needed. Consumers come after their
 * operands. */
static void mark_crossing(twi_cut *cut) {
    const tw_ir *ir = cut->ir;
    for (uint32_t k = cut->all.n; k-- > 0;) {
        twi_id v = cut->all.at[k];
        const twi_ins *i = twi_ins_of(ir, v);
        const twi_region *r = &ir->region.at[cut->value[v].region];
        for (uint32_t c = 0; c < r->yields.n; c++)
            if (r->yields.at[c] == v)
                need(cut, cut->value[v].region, cut->value[v].avail, v);
        if (i->op == TWI_SERIAL) {
            const twi_region *inner = &ir->region.at[i->attr];
            for (uint32_t c = 0; c < inner->yields.n; c++)
                if (cut->value[inner->yields.at[c]].region != i->attr)
                    need(cut, i->attr, 0, inner->yields.at[c]);
        }
        bool local = twi_is_local(ir, v);
        if (local && !cut->value[v].used)
            continue;
        uint16_t p = local ? cut->value[v].last : cut->value[v].phase;
        for (unsigned a = 0; a < i->nargs; a++)
            need(cut, cut->value[v].region, p, twi_arg(ir, v, a));
    }
}

static bool loads_stored_array(const twi_cut *cut, twi_id v) {
    const twi_ins *i = twi_ins_of(cut->ir, v);
    return i->op == TWI_LOAD &&
           twi_scope_touches(cut, cut->ir->access.at[i->attr].array, TWI_STORE);
}

/* Do all roots of the phase in which a load is available open the same loops? Else they are walked
 * apart, and a walk may store what a later one would load again. */
static bool roots_alike(const twi_cut *cut, const twi_plan *plan, twi_id load) {
    const tw_ir *ir = cut->ir;
    const twi_region *r = &ir->region.at[cut->value[load].region];
    const uint16_t p = cut->value[load].avail;
    uint64_t axes = twi_access_axes(ir, load);
    if (plan && plan->frames > 1)
        return false;
    for (uint32_t k = 0; k < r->body.n; k++) {
        twi_id v = r->body.at[k];
        const twi_ins *i = twi_ins_of(ir, v);
        const twi_cut_value *c = &cut->value[v];
        unsigned kind = twi_op_row(i->op)->kind;
        uint64_t mine = kind == TWI_KIND_EFFECT ? twi_access_axes(ir, v) : i->type.axes;
        bool root = (kind == TWI_KIND_LOCAL && c->kept && c->avail == p) ||
                    (kind == TWI_KIND_EFFECT && c->phase == p) ||
                    (kind == TWI_KIND_FOLD && c->used && c->phase == p);
        for (unsigned f = 0; kind == TWI_KIND_FOLD && f < i->nfold; f++)
            mine |= 1ull << i->fold[f];
        if (root && mine != axes)
            return false;
    }
    for (uint32_t k = 0; k < r->yields.n; k++)
        if (cut->value[r->yields.at[k]].avail == p &&
            twi_ins_of(ir, r->carries.at[k])->type.axes != axes)
            return false;
    return true;
}

void twi_cut_scope(twi_arena *arena, const tw_ir *ir, const twi_plan *plan, uint32_t scope,
                   twi_cut *out) {
    memset(out, 0, sizeof *out);
    out->ir = ir;
    out->scope = scope;
    out->value = TWI_NEW_N(arena, twi_cut_value, ir->ins.n);
    out->phases = TWI_NEW_N(arena, uint16_t, ir->region.n);
    collect_values(arena, out, scope);
    level_region(out, scope);
    mark_crossing(out);
    for (uint32_t k = 0; k < out->all.n; k++)
        out->value[out->all.at[k]].at = k;
    for (uint32_t k = 0; k < out->all.n; k++) {
        twi_id v = out->all.at[k];
        twi_cut_value *c = &out->value[v];
        if (twi_op_row(twi_ins_of(ir, v)->op)->kind != TWI_KIND_LOCAL)
            continue;
        const twi_place *place = plan ? twi_plan_place(plan, v) : NULL;
        c->kept = place && (place->keep || place->to);
        c->kept |= c->crossing && loads_stored_array(out, v);
    }
    for (uint32_t k = 0; k < out->all.n; k++) {
        twi_id v = out->all.at[k];
        const twi_cut_value *c = &out->value[v];
        if (twi_ins_of(ir, v)->op == TWI_LOAD && c->used &&
            region_touches(out, c->region, access_of(ir, v)->array, false) &&
            !roots_alike(out, plan, v))
            out->value[v].kept = true;
    }
}
