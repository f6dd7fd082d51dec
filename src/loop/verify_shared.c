/* SPDX-License-Identifier: Apache-2.0
 * V6: between two accesses of a shared element by different workers, one a write, stands a barrier.
 * Only what is certain is reported: one access takes, in some dimension, an element that a worker's
 * number picks (or is made by some workers alone), the other the same element for all workers.
 * Loops are walked twice, so that the end of a trip meets the start of the next. Everything else is
 * left to the interpreter's trace.
 */
#include "loop/verify_state.h"

#include "base/context.h"

#define WORKER ((1u << TWI_LV_LANE) | (1u << TWI_LV_SUB))

typedef struct {
    twi_lid v;
    bool subgroup; /* a subgroup barrier came since */
} touch;

typedef struct {
    twi_check *c;
    TWI_VEC(touch) open; /* since the last barrier of the group */
} walk;

/* Made of worker numbers and constants alone: the same at any time. */
static bool timeless(const twi_func *f, twi_lid v, unsigned depth) {
    const twi_lins *i = &f->ins.at[v];
    if (i->op == TWI_L_LCONST || (i->op == TWI_L_ID && i->attr != TWI_LV_GRID))
        return true;
    if (!twi_loop_elementwise(i->op) || depth == 0)
        return false;
    for (uint32_t k = 0; k < i->nargs; k++)
        if (!timeless(f, twi_larg(f, v, k), depth - 1))
            return false;
    return true;
}

/* The same for all workers, and sure to take on every value of its interval: a constant or an index
 * of a loop with constant bounds. */
static bool common(const twi_check *c, twi_lid v) {
    const twi_lins *i = &c->f->ins.at[v];
    if (i->op == TWI_L_LCONST || i->op == TWI_L_UNROLL)
        return true;
    return i->op == TWI_L_FOR && i->attr == 1 &&
           c->f->ins.at[twi_larg(c->f, v, 0)].op == TWI_L_LCONST &&
           c->f->ins.at[twi_larg(c->f, v, 1)].op == TWI_L_LCONST;
}

/* Where a's worker number picks the element that b takes for all: bits of ids it picks by; 0:
 * nothing certain. Other dimensions have to agree for sure. */
static unsigned picked(const twi_check *c, twi_lid a, twi_lid b) {
    const twi_object *o = &c->f->object.at[twi_check_access(c, a)->object];
    unsigned by = 0;
    for (unsigned d = 0; d < o->rank; d++) {
        twi_lid x = twi_larg(c->f, a, d), y = twi_larg(c->f, b, d);
        unsigned varies = c->f->ins.at[x].varies & WORKER;
        twi_span s = c->span[x], t = c->span[y];
        if (x == y || (s.lo == s.hi && t.lo == t.hi && s.lo == t.lo)) {
            if (x == y && !timeless(c->f, x, 8) && c->f->ins.at[x].op != TWI_L_LCONST)
                return 0; /* may differ between trips */
            continue;
        }
        if (!varies || !timeless(c->f, x, 8) || !common(c, y) || t.lo < s.lo || t.hi > s.hi)
            return 0;
        by |= varies;
    }
    return by | (c->control[a] & WORKER); /* or only some workers come here */
}

/* Runs for every worker, whatever came. */
static bool unconditional(const twi_check *c, twi_lid v) {
    for (twi_lid p = c->parent[v]; p; p = c->parent[p])
        if (c->f->ins.at[p].op == TWI_L_IF)
            return false;
    return true;
}

static void meet(walk *w, const touch *before, twi_lid v) {
    twi_check *c = w->c;
    const twi_laccess *a = twi_check_access(c, before->v), *b = twi_check_access(c, v);
    bool store_before = twi_loop_stores(c->f->ins.at[before->v].op);
    bool store_now = twi_loop_stores(c->f->ins.at[v].op);
    if (a->object != b->object || store_before == store_now || a->mask || b->mask)
        return;
    twi_lid store = store_before ? before->v : v, load = store_before ? v : before->v;
    if (!unconditional(c, load))
        return;
    unsigned by = picked(c, store, load);
    if (before->subgroup)
        by &= 1u << TWI_LV_SUB;
    if (!by)
        return;
    twi_check_fail(c, TWI_LOOP_E_V6, v, "no barrier since elements of %s were %s by other workers",
                   twi_text(&c->loop->ctx->names, c->f->object.at[a->object].name),
                   store_before ? "written" : "read");
}

static void barrier(walk *w, twi_lid v) {
    if (w->c->f->ins.at[v].attr == TWI_SCOPE_GROUP || w->c->f->subs == 1) {
        w->open.n = 0;
        return;
    }
    for (uint32_t k = 0; k < w->open.n; k++)
        w->open.at[k].subgroup = true;
}

static void touched(walk *w, twi_lid v) {
    for (uint32_t k = 0; k < w->open.n; k++)
        if (w->open.at[k].v == v) {
            w->open.at[k].subgroup = false;
            return;
        }
    twi_push(w->c->arena, &w->open, ((touch){v, false}));
}

static void body(walk *w, twi_lid first) {
    const twi_func *f = w->c->f;
    for (twi_lid v = first; v && !w->c->failed; v = f->ins.at[v].next) {
        const twi_lins *i = &f->ins.at[v];
        if (i->op == TWI_L_BARRIER) {
            barrier(w, v);
        } else if (twi_loop_accesses(i->op)) {
            if (f->object.at[twi_check_access(w->c, v)->object].kind != TWI_OBJ_SHARED)
                continue;
            for (uint32_t k = 0; k < w->open.n; k++)
                meet(w, &w->open.at[k], v);
            touched(w, v);
        } else if (i->body) {
            int64_t trips = 2;
            if (i->op == TWI_L_UNROLL)
                trips = i->attr;
            else if (i->op == TWI_L_IF)
                trips = 1;
            for (int64_t k = 0; k < trips && k < 2; k++)
                body(w, i->body);
        }
    }
}

void twi_check_shared(twi_check *c) {
    if (c->failed || c->f->explicit_lanes || c->f->lanes * c->f->subs == 1)
        return;
    walk w = {.c = c};
    body(&w, c->f->first);
}
