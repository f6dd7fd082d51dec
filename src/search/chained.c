/* SPDX-License-Identifier: Apache-2.0
 * Dots of dots on explicit lanes: programs whose dots all have the rows of one block. Rows lie in
 * lanes, so that every fold of a row stays inside its lane and what the rows share is broadcast.
 * Each dot has a register tile, vectors of rows by columns in slots, and runs through all that it
 * folds in loops inside: where another dot's columns are what it folds, in a frame of its own.
 */
#include "search/chained.h"
#include "plan/atom.h"

/* The block of rows that all dots have; 0: none, or fewer than two dots. */
static unsigned shared_rows(const twi_view *v) {
    uint64_t axes = v->axes;
    unsigned dots = 0;
    for (uint32_t i = 0; i < v->all.n; i++) {
        const twi_ins *ins = twi_ins_of(v->ir, v->all.at[i]);
        if (ins->op != TWI_DOT)
            continue;
        axes &= ins->type.axes;
        dots++;
    }
    for (unsigned a = 1; dots > 1 && a < v->ir->axis.n; a++)
        if ((axes >> a & 1) && v->axis[a].kind == TWI_AXIS_BLOCK)
            return a;
    return 0;
}

/* Axes that dots have beside the rows, and that slots may cut. */
static uint64_t columns_of_dots(const twi_view *v, unsigned rows) {
    uint64_t axes = 0;
    for (uint32_t i = 0; i < v->all.n; i++) {
        const twi_ins *ins = twi_ins_of(v->ir, v->all.at[i]);
        for (unsigned a = 1; ins->op == TWI_DOT && a < v->ir->axis.n; a++) {
            const twi_axis_view *x = &v->axis[a];
            const bool cut = x->kind == TWI_AXIS_FULL ? x->known : x->block > 1;
            if ((ins->type.axes >> a & 1) && a != rows && x->kind != TWI_AXIS_INDEX && cut)
                axes |= UINT64_C(1) << a;
        }
    }
    return axes & ~(v->chain | v->canonical);
}

/* A frame like the first, but for loops over the axes; one that is there, if it is the same. */
static unsigned looped_frame(const twi_view *v, twi_plan *p, uint64_t axes) {
    twi_frame f = twi_frame_copy(v->arena, &p->frame[0]);
    for (unsigned a = 1; a < v->ir->axis.n; a++)
        if (axes >> a & 1)
            twi_view_plain(v, a, &f.map[a]);
    for (unsigned i = 0; i < p->frames; i++) {
        bool same = true;
        for (unsigned a = 1; same && a < v->ir->axis.n; a++)
            same = !(f.axes >> a & 1) || twi_map_equal(&f.map[a], &p->frame[i].map[a]);
        if (same)
            return i;
    }
    if (p->frames == TWI_MAX_FRAMES)
        return 0;
    return twi_view_add_frame(v, p, &f);
}

/* Is it what a dot takes by boxes? These have places. */
static bool is_boxed(const twi_view *v, const twi_plan *p, twi_id id) {
    bool is = false;
    for (uint32_t i = 0; i < p->place.n; i++)
        for (unsigned k = 0; k < 2 && twi_atom_row_of(p->place.at[i].atom)->k > 1; k++)
            is = is || id == twi_arg(v->ir, p->place.at[i].value, k) ||
                 id == twi_atom_operand(v->ir, p->place.at[i].value, k);
    return is;
}

/* What is computed for a dot, whose loops would repeat it, is kept, as are functions that cross
 * phases and numbers of a row; rows are loaded once, since vectors of them cross memory. */
static void keep(const twi_view *v, twi_plan *p, unsigned rows) {
    uint64_t inner = 0; /* axes inside a row */
    for (unsigned a = 1; a < v->ir->axis.n; a++)
        if (v->axis[a].kind == TWI_AXIS_FULL || v->axis[a].kind == TWI_AXIS_STEP)
            inner |= UINT64_C(1) << a;
    for (uint32_t i = 0; i < v->crossings; i++) {
        const twi_id id = v->crossing[i];
        const twi_ins *ins = twi_ins_of(v->ir, id);
        if (!is_boxed(v, p, id) && twi_is_float((tw_elem)ins->type.elem) &&
            (ins->type.axes >> rows & 1) &&
            (!(ins->type.axes & inner) || ins->op == TWI_LOAD || twi_view_expensive(v, id)))
            twi_plan_set_place(v->arena, p, id)->keep = TWI_KEEP_STRIPE;
    }
    for (uint32_t i = 0; i < v->all.n; i++)
        for (unsigned k = 0; k < 2 && twi_ins_of(v->ir, v->all.at[i])->op == TWI_DOT; k++) {
            const twi_id id = twi_arg(v->ir, v->all.at[i], k);
            const twi_ins *ins = twi_ins_of(v->ir, id);
            if (twi_op_row(ins->op)->kind == TWI_KIND_LOCAL && ins->op != TWI_LOAD &&
                !is_boxed(v, p, id))
                twi_plan_set_place(v->arena, p, id)->keep = TWI_KEEP_STRIPE;
        }
}

/* Tiles of `vectors` of rows by `columns`; boxes: dots by boxes where an atom takes them. */
static void tiles(twi_offers *o, unsigned rows, int64_t vectors, int64_t columns, bool boxes) {
    const twi_view *v = o->view;
    twi_plan *p = twi_view_plan(v);
    const twi_cut_numbers along_rows = {.unroll = vectors, .lanes = v->caps->lane},
                          beside = {.unroll = columns};
    const uint64_t cut = columns_of_dots(v, rows);
    if (!twi_view_map(v, rows, along_rows, &p->frame[0].map[rows]))
        return;
    for (unsigned a = 1; a < v->ir->axis.n; a++)
        if ((cut >> a & 1) && !twi_view_map(v, a, beside, &p->frame[0].map[a]))
            return;
    for (uint32_t i = 0; i < v->all.n; i++) {
        const twi_id id = v->all.at[i];
        const bool dot = twi_ins_of(v->ir, id)->op == TWI_DOT;
        const uint64_t folded = dot ? twi_fold_axes(v->ir, id) : 0;
        if (boxes && dot && twi_chained_boxes(v, p, rows, cut, id))
            continue;
        const unsigned frame = folded & cut ? looped_frame(v, p, folded) : 0;
        if (frame)
            twi_plan_set_place(v->arena, p, id)->frame = (uint8_t)frame;
    }
    keep(v, p, rows);
    const uint32_t before = o->n;
    twi_offer(o, "chained", p);
    if (o->n > before)
        o->at[before].placed = true;
}

void twi_propose_chained(twi_offers *o) {
    static const uint8_t shapes[][2] = {{2, 8}, {2, 4}, {4, 4}, {1, 8}};
    const twi_view *v = o->view;
    const unsigned rows = shared_rows(v);
    if (v->caps->family != TWI_FAMILY_CPU || !rows || (v->chain | v->canonical) >> rows & 1)
        return;
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (shapes[i][0] * shapes[i][1] + shapes[i][0] + 1 <= (int)v->caps->registers)
            for (unsigned boxes = 0; boxes < 2; boxes++)
                tiles(o, rows, shapes[i][0], shapes[i][1], boxes);
}
