/* SPDX-License-Identifier: Apache-2.0
 * The space of a scope: what the families propose, each plan once, in a fixed order and number.
 */
#include "search/view.h"

static bool same_plan(const tw_ir *ir, const twi_plan *x, const twi_plan *y) {
    const twi_frame *f = &x->frame[0], *g = &y->frame[0];
    if (x->frames != y->frames)
        return false;
    for (unsigned a = 1; a < ir->axis.n; a++)
        if ((f->axes >> a & 1) && !twi_map_equal(&f->map[a], &g->map[a]))
            return false;
    for (unsigned a = 1; x->frames > 1 && a < ir->axis.n; a++)
        if ((f->axes >> a & 1) && !twi_map_equal(&x->frame[1].map[a], &y->frame[1].map[a]))
            return false;
    for (twi_id v = 1; v < ir->ins.n; v++) {
        const twi_place *p = twi_plan_place(x, v), *q = twi_plan_place(y, v);
        if ((p ? p->keep : 0) != (q ? q->keep : 0) || (p ? p->fold : 0) != (q ? q->fold : 0))
            return false;
    }
    return f->loops == g->loops && memcmp(f->order, g->order, f->loops * sizeof f->order[0]) == 0;
}

void twi_offer(twi_offers *o, const char *family, twi_plan *p) {
    if (o->n == TWI_MAX_PROPOSALS)
        return;
    twi_view_finish(o->view, p);
    for (uint32_t i = 0; i < o->n; i++)
        if (same_plan(o->view->ir, o->at[i].plan, p))
            return;
    o->at[o->n].family = family;
    o->at[o->n++].plan = p;
}

/* Facts that make wide accesses possible: all arrays start at multiples of a vector. */
static void add_aligned(const twi_view *v, twi_plan *p) {
    twi_entry_plan e = {.name = twi_intern_str(&v->ir->ctx->names, "aligned16")};
    twi_reserve(v->arena, &e.align, v->ir->array.n);
    e.align.n = v->ir->array.n;
    for (uint32_t a = 0; a < e.align.n; a++)
        e.align.at[a] =
            a && v->ir->array.at[a].role != TWI_TEMP && v->ir->array.at[a].rank ? 16 : 0;
    bool any = false;
    for (uint32_t a = 1; a < e.align.n; a++)
        any = any || e.align.at[a];
    if (any)
        twi_push(v->arena, &p->entry, e);
}

void twi_propose_all(twi_offers *o, const twi_view *v) {
    *o = (twi_offers){.view = v};
    twi_propose_rows(o);
    twi_propose_pointwise(o);
    twi_propose_general(o);
    for (uint32_t i = 0; i < o->n; i++)
        add_aligned(v, o->at[i].plan);
}
