/* SPDX-License-Identifier: Apache-2.0
 * The space of a scope: what the families propose, each plan once, in a fixed order and number.
 */
#include "search/view.h"

static bool same_maps(uint64_t axes, const twi_map *x, const twi_map *y) {
    bool same = true;
    for (unsigned a = 1; same && a < TWI_MAX_AXES; a++)
        same = !(axes >> a & 1) || twi_map_equal(&x[a], &y[a]);
    return same;
}

static bool same_frame(const twi_frame *f, const twi_frame *g) {
    return f->axes == g->axes && same_maps(f->axes, f->map, g->map) && f->loops == g->loops &&
           f->around == g->around && memcmp(f->order, g->order, f->loops * sizeof f->order[0]) == 0;
}

static bool same_place(const twi_plan *x, const twi_plan *y, twi_id v) {
    static const twi_place none = {0};
    const twi_place *p = twi_plan_place(x, v), *q = twi_plan_place(y, v);
    p = p ? p : &none;
    q = q ? q : &none;
    return p->frame == q->frame && p->keep == q->keep && p->fold == q->fold && p->atom == q->atom &&
           p->to == q->to && p->via == q->via && p->pad == q->pad &&
           twi_swizzle_equal(p->swizzle, q->swizzle);
}

static bool same_stage(const twi_stage_plan *s, const twi_stage_plan *t) {
    return s->value == t->value && s->shared == t->shared && s->pad == t->pad &&
           twi_swizzle_equal(s->swizzle, t->swizzle) && s->window == t->window &&
           s->via == t->via && s->ahead == t->ahead && s->copy_axes == t->copy_axes &&
           same_maps(s->copy_axes, s->copy, t->copy) && s->n == t->n &&
           memcmp(s->order, t->order, s->n * sizeof s->order[0]) == 0;
}

bool twi_same_plan(const tw_ir *ir, const twi_plan *x, const twi_plan *y) {
    bool same = x->frames == y->frames && x->stages == y->stages && x->then == y->then &&
                x->order == y->order && x->band == y->band && x->persistent == y->persistent;
    for (unsigned i = 0; same && i < x->frames; i++)
        same = same_frame(&x->frame[i], &y->frame[i]);
    for (twi_id v = 1; same && v < ir->ins.n; v++)
        same = same_place(x, y, v);
    for (unsigned i = 0; same && i < x->stages; i++)
        same = same_stage(&x->stage[i], &y->stage[i]);
    return same;
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

void twi_offers_init(twi_offers *o, const twi_view *v) {
    o->view = v;
    o->seconds = NULL;
    o->n = 0;
}

void twi_offer(twi_offers *o, const char *family, twi_plan *p) {
    if (o->n == TWI_MAX_PROPOSALS)
        return;
    twi_view_finish(o->view, p);
    for (uint32_t i = 0; i < o->n; i++)
        if (twi_same_plan(o->view->ir, o->at[i].plan, p))
            return;
    if (p->entry.n == 1) /* else it was made of one that has it */
        add_aligned(o->view, p);
    o->at[o->n].placed = false;
    o->at[o->n].family = family;
    o->at[o->n++].plan = p;
}

void twi_propose_all(twi_offers *o) {
    twi_propose_rows(o);
    twi_propose_pointwise(o);
    twi_propose_matrix(o);
    twi_propose_chained(o);
    twi_propose_general(o);
}
