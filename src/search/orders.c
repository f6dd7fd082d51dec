/* SPDX-License-Identifier: Apache-2.0
 * Loops in an order that the folds of a frame accept. Folds of fixed order that name the same axes
 * in another order get a frame of their own: the same maps, loops otherwise.
 */
#include "search/view.h"

static void push_loops(twi_frame *f, unsigned axis) {
    for (unsigned i = 0; i < f->map[axis].n; i++)
        if (f->map[axis].d[i].level == TWI_LV_LOOP && f->loops < TWI_MAX_LOOPS)
            f->order[f->loops++] = (twi_axis_digit){(uint8_t)axis, (uint8_t)i};
}

static unsigned frame_of(const twi_plan *p, twi_id v) {
    const twi_place *place = twi_plan_place(p, v);
    return place ? place->frame : 0;
}

void twi_view_order(const twi_view *v, twi_plan *p, unsigned frame) {
    twi_frame *f = &p->frame[frame];
    /* What a dot folds runs inside its results' loops: they stay in registers. */
    const bool outside = v->caps->family == TWI_FAMILY_CPU;
    uint64_t done = 0;
    f->loops = 0;
    for (unsigned a = 1; a < v->ir->axis.n; a++)
        if ((f->axes & ~v->folded) >> a & 1)
            push_loops(f, a);
    for (unsigned mine = 2; mine-- > 0;) /* folds of the frame, then what else it maps */
        for (uint32_t i = 0; i < v->all.n; i++) {
            const twi_ins *ins = twi_ins_of(v->ir, v->all.at[i]);
            if (!twi_is_fold(v->ir, v->all.at[i]) ||
                (frame_of(p, v->all.at[i]) == frame) != (mine == 1))
                continue;
            for (unsigned a = 1; outside && ins->op == TWI_DOT && a < v->ir->axis.n; a++)
                if ((ins->type.axes & v->folded & f->axes & ~done) >> a & 1) {
                    push_loops(f, a);
                    done |= UINT64_C(1) << a;
                }
            for (unsigned k = 0; k < ins->nfold; k++) {
                if (f->axes >> ins->fold[k] & 1 && !(done >> ins->fold[k] & 1))
                    push_loops(f, ins->fold[k]);
                done |= UINT64_C(1) << ins->fold[k];
            }
        }
}

static bool has_order(const twi_view *v, const twi_plan *p, twi_id id) {
    return twi_ins_of(v->ir, id)->nfold > 1 &&
           (twi_fold_chains(v->ir, id) || twi_fold_streams(v->ir, &p->frame[0], id));
}

/* Do the fold's axes open their loops in the order of its bracket? */
static bool accepts(const twi_frame *f, const twi_ins *ins) {
    unsigned at = 0;
    for (unsigned k = 0; k < ins->nfold; k++)
        for (unsigned i = 0; i < f->loops; i++) {
            if (f->order[i].axis != ins->fold[k])
                continue;
            if (i < at)
                return false;
            at = i;
        }
    return true;
}

static bool all_accept(const twi_view *v, twi_plan *p, unsigned frame) {
    twi_view_order(v, p, frame);
    for (uint32_t i = 0; i < v->all.n; i++)
        if (frame_of(p, v->all.at[i]) == frame && has_order(v, p, v->all.at[i]) &&
            !accepts(&p->frame[frame], twi_ins_of(v->ir, v->all.at[i])))
            return false;
    return true;
}

unsigned twi_view_add_frame(const twi_view *v, twi_plan *p, const twi_frame *f) {
    const char name[] = {(char)('f' + p->frames), 0};
    p->frame[p->frames] = twi_frame_copy(v->arena, f);
    p->frame[p->frames].name = twi_intern_str(&v->ir->ctx->names, name);
    return p->frames++;
}

void twi_view_split_orders(const twi_view *v, twi_plan *p) {
    for (uint32_t i = 0; i < v->all.n && !all_accept(v, p, 0); i++) {
        twi_id id = v->all.at[i];
        if (!has_order(v, p, id) || accepts(&p->frame[0], twi_ins_of(v->ir, id)))
            continue;
        twi_place *place = twi_plan_set_place(v->arena, p, id);
        for (unsigned f = 1; place->frame == 0 && f <= p->frames && f < TWI_MAX_FRAMES; f++) {
            if (f == p->frames)
                (void)twi_view_add_frame(v, p, &p->frame[0]);
            place->frame = (uint8_t)f;
            if (!all_accept(v, p, f))
                place->frame = 0;
        }
    }
}
