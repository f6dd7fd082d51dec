/* SPDX-License-Identifier: Apache-2.0
 * V2: on which ids each value depends, and that workers which act together (barriers, lane
 * operations) all get there. A value varies with what its operands vary with; one read from memory
 * of its own, with what was stored there and with the conditions it was stored under.
 */
#include "loop/verify_state.h"

static uint8_t bit(unsigned level) { return (uint8_t)(1u << level); }

typedef struct {
    twi_check *c;
    uint8_t *object; /* by object: what its contents vary with */
    bool changed;
} flow;

static uint8_t of_lanes(const twi_func *f, const twi_lins *i, uint8_t varies) {
    if (f->explicit_lanes)
        return varies;
    unsigned extent = i->attr >> 16;
    if (i->op == TWI_L_LANE_FOLD && 1u << extent >= f->lanes)
        return (uint8_t)(varies & ~bit(TWI_LV_LANE));
    return varies;
}

static uint8_t value(const flow *w, twi_lid v) {
    const twi_func *f = w->c->f;
    const twi_lins *i = &f->ins.at[v];
    uint8_t varies = 0;
    for (uint32_t k = 0; k < i->nargs; k++)
        varies |= f->ins.at[twi_larg(f, v, k)].varies;
    switch (i->op) {
    case TWI_L_ID:
        return f->explicit_lanes && i->attr != TWI_LV_GRID ? (uint8_t)0 : bit(i->attr);
    case TWI_L_LLOAD:
        return varies | w->object[twi_check_access(w->c, v)->object];
    case TWI_L_LANE_READ: /* one lane's value for all, if they ask for the same lane */
        return f->explicit_lanes || f->ins.at[twi_larg(f, v, 1)].varies & bit(TWI_LV_LANE)
                   ? varies
                   : (uint8_t)(varies & ~bit(TWI_LV_LANE));
    default:
        return of_lanes(f, i, varies);
    }
}

/* What decides whether the body of v runs (once more). */
static uint8_t condition(const twi_func *f, twi_lid v) {
    uint8_t varies = 0;
    for (uint32_t k = 0; k < f->ins.at[v].nargs; k++)
        varies |= f->ins.at[twi_larg(f, v, k)].varies;
    return varies;
}

static void visit(flow *w, twi_lid v) {
    twi_func *f = w->c->f;
    twi_lid parent = w->c->parent[v];
    if (parent)
        w->c->control[v] = w->c->control[parent] | condition(f, parent);
    uint8_t varies = value(w, v);
    if (twi_loop_stores(f->ins.at[v].op)) {
        uint32_t id = twi_check_access(w->c, v)->object;
        uint8_t kind = f->object.at[id].kind;
        const twi_object *o = &f->object.at[id];
        uint8_t now = w->object[id];
        if (kind == TWI_OBJ_PRIVATE || kind == TWI_OBJ_SCRATCH)
            now |= varies | w->c->control[v];
        else /* one for all workers: the index says whose element is read */
            now |= f->ins.at[twi_larg(f, v, o->rank)].varies & bit(TWI_LV_GRID);
        w->changed = w->changed || now != w->object[id];
        w->object[id] = now;
        return;
    }
    w->changed = w->changed || f->ins.at[v].varies != varies;
    f->ins.at[v].varies = varies;
}

static void together(const flow *w, twi_lid v) {
    const twi_func *f = w->c->f;
    const twi_lins *i = &f->ins.at[v];
    bool lanes = i->op >= TWI_L_LANE_FOLD && i->op <= TWI_L_LANE_SHIFT;
    uint8_t bad = 0;
    if (lanes && !f->explicit_lanes)
        bad = bit(TWI_LV_LANE);
    if (i->op == TWI_L_BARRIER)
        bad = (uint8_t)(bit(TWI_LV_LANE) | (i->attr == TWI_SCOPE_GROUP ? bit(TWI_LV_SUB) : 0u));
    bad &= w->c->control[v];
    if (bad)
        twi_check_fail(w->c, TWI_LOOP_E_V2, v, "runs under a condition or loop that varies by %s",
                       bad & bit(TWI_LV_LANE) ? "lane" : "subgroup");
}

void twi_check_varies(twi_check *c) {
    flow w = {.c = c, .changed = true};
    w.object = TWI_NEW_N(c->arena, uint8_t, c->f->object.n);
    c->control = TWI_NEW_N(c->arena, uint8_t, c->f->ins.n);
    for (uint32_t v = 0; v < c->f->ins.n; v++)
        c->f->ins.at[v].varies = 0;
    while (w.changed) {
        w.changed = false;
        for (uint32_t k = 0; k < c->linked; k++)
            visit(&w, c->order[k]);
    }
    for (uint32_t k = 0; k < c->linked; k++)
        together(&w, c->order[k]);
}
