/* SPDX-License-Identifier: Apache-2.0
 * Names of values and axes: unique in a kernel, stable, made once when a kernel is complete. A
 * value has the name that the source gave it (bound anew: c, c.1, c.2), an unnamed load its
 * array's, anything else its operation's and a number from 1 (dot.1).
 */
#include "ir/whole.h"

/* Names in use, and how far the suffixes of a base name have come: open tables by symbol. */
typedef struct {
    twi_arena *arena;
    twi_names *names;
    uint32_t *count; /* by symbol: 0 free, else 1 + the next suffix to try */
    uint32_t cap;
} taken;

static uint32_t *count_of(taken *t, twi_sym sym) {
    if (sym >= t->cap) {
        uint32_t cap = t->cap ? t->cap : 64u;
        while (cap <= sym)
            cap *= 2u;
        uint32_t *more = TWI_NEW_N(t->arena, uint32_t, cap);
        if (t->cap)
            memcpy(more, t->count, t->cap * sizeof *more);
        t->count = more;
        t->cap = cap;
    }
    return &t->count[sym];
}

/* The base itself if it is free and `bare` allows it, else with the first free suffix. */
static twi_sym unique(taken *t, twi_sym base, bool bare) {
    uint32_t *count = count_of(t, base);
    if (bare && *count == 0) {
        *count = 2;
        return base;
    }
    uint32_t next = *count > 1u ? *count - 1u : 1u;
    for (;; next++) {
        twi_sym sym =
            twi_intern_str(t->names, twi_format(t->arena, "%s.%u", twi_text(t->names, base), next));
        if (*count_of(t, sym) == 0) {
            *count_of(t, sym) = 2;
            *count_of(t, base) = next + 2u;
            return sym;
        }
    }
}

/* The scope that an axis belongs to; 0: a loop around scopes. */
static uint32_t scope_of(const tw_ir *ir, uint32_t axis) {
    uint32_t r = ir->axis.at[axis].region;
    while (r != 0 && ir->region.at[r].kind != TWI_REGION_PAR)
        r = ir->region.at[r].parent;
    return r;
}

static bool axis_taken(const tw_ir *ir, uint32_t axis, twi_sym name) {
    for (uint32_t k = 1; k < axis; k++) {
        uint32_t a = scope_of(ir, k), b = scope_of(ir, axis);
        if (ir->axis.at[k].name == name && (a == b || a == 0 || b == 0))
            return true;
    }
    return false;
}

static void name_axes(tw_ir *ir) {
    for (uint32_t a = 1; a < ir->axis.n; a++) {
        twi_sym base = ir->axis.at[a].name, name = base;
        for (unsigned k = 1; axis_taken(ir, a, name); k++)
            name = twi_intern_str(&ir->ctx->names, twi_format(ir->arena, "%s.%u",
                                                              twi_text(&ir->ctx->names, base), k));
        ir->axis.at[a].name = name;
    }
}

void twi_name_values(tw_ir *ir) {
    taken t = {.arena = ir->arena, .names = &ir->ctx->names};
    name_axes(ir);
    for (uint32_t v = 1; v < ir->ins.n; v++) {
        twi_ins *ins = &ir->ins.at[v];
        if (ins->type.elem == TW_NONE)
            continue; /* stores and regions are no values */
        twi_sym base = ins->name;
        bool bare = base != 0;
        if (base == 0 && ins->op == TWI_LOAD) {
            base = ir->array.at[ir->access.at[ins->attr].array].name;
            bare = true;
        }
        if (base == 0)
            base = twi_intern_str(&ir->ctx->names, twi_op_row(ins->op)->name);
        ins->name = unique(&t, base, bare);
    }
}

const char *twi_value_name(const tw_ir *ir, twi_id v) {
    return twi_text(&ir->ctx->names, ir->ins.at[v].name);
}

twi_id twi_value_named(const tw_ir *ir, const char *name, size_t n) {
    twi_sym sym = twi_lookup(&ir->ctx->names, name, n);
    for (uint32_t v = 1; sym != 0 && v < ir->ins.n; v++)
        if (ir->ins.at[v].name == sym && ir->ins.at[v].type.elem != TW_NONE)
            return v;
    return 0;
}
