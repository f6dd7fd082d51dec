/* SPDX-License-Identifier: Apache-2.0
 * Which folds a plan splits, and the tile IR of the second launch (split.h).
 */
#include "plan/split.h"

unsigned twi_split_axis(const tw_ir *ir, const twi_plan *p) {
    const twi_frame *f = &p->frame[0];
    for (unsigned a = 1; p->frames && a < ir->axis.n; a++)
        if ((f->axes >> a & 1) && ir->axis.at[a].kind == TWI_AXIS_FULL && f->map[a].n &&
            f->map[a].d[0].level == TWI_LV_GRID)
            return a;
    return 0;
}

unsigned twi_fold_states(const tw_ir *ir, twi_id fold) {
    return twi_monoid_of(twi_ins_of(ir, fold)->op)->states;
}

/* Values of the scope that depend on a fold, a scan or a region, by id. */
static bool *waiting(twi_arena *arena, const tw_ir *ir, const twi_id_list *all) {
    bool *waits = TWI_NEW_N(arena, bool, ir->ins.n);
    for (uint32_t k = 0; k < all->n; k++) {
        twi_id v = all->at[k];
        const twi_ins *i = twi_ins_of(ir, v);
        waits[v] = i->op == TWI_CARRY || i->op == TWI_RESULT;
        for (unsigned a = 0; a < i->nargs; a++) {
            twi_id o = twi_arg(ir, v, a);
            unsigned kind = twi_op_row(twi_ins_of(ir, o)->op)->kind;
            waits[v] |= waits[o] || kind == TWI_KIND_FOLD || kind == TWI_KIND_ORDER;
        }
    }
    return waits;
}

void twi_split_folds(twi_arena *arena, const tw_ir *ir, const twi_plan *p, twi_id_list *out) {
    unsigned axis = twi_split_axis(ir, p);
    uint32_t par = twi_par_region(ir, p->scope);
    twi_id_list all = {0};
    if (!axis || !par)
        return;
    twi_scope_values(arena, ir, par, &all);
    const bool *waits = waiting(arena, ir, &all);
    for (uint32_t k = 0; k < all.n; k++)
        if ((twi_fold_axes(ir, all.at[k]) >> axis & 1) && !waits[all.at[k]])
            twi_push(arena, out, all.at[k]);
}

/* Keeps of the list what `live` (by id) says or what that is made of; the last uses come last. */
static void keep_live(twi_arena *arena, const tw_ir *ir, const twi_id_list *all, bool *live,
                      twi_id_list *out) {
    for (uint32_t k = all->n; k-- > 0;) {
        const twi_ins *i = twi_ins_of(ir, all->at[k]);
        for (unsigned a = 0; live[all->at[k]] && a < i->nargs; a++)
            live[twi_arg(ir, all->at[k], a)] = true;
    }
    for (uint32_t k = 0; k < all->n; k++)
        if (live[all->at[k]])
            twi_push(arena, out, all->at[k]);
}

void twi_split_needs(twi_arena *arena, const tw_ir *ir, const twi_plan *p, twi_id_list *out) {
    twi_id_list all = {0}, folds = {0};
    bool *live = TWI_NEW_N(arena, bool, ir->ins.n);
    twi_scope_values(arena, ir, twi_par_region(ir, p->scope), &all);
    twi_split_folds(arena, ir, p, &folds);
    for (uint32_t k = 0; k < folds.n; k++)
        live[folds.at[k]] = true;
    keep_live(arena, ir, &all, live, out);
}

/* ---- the second launch ----------------------------------------------------------------------- */

typedef struct {
    tw_ir *to;
    twi_arena *arena;
    unsigned part; /* the axis of the partial results */
    uint32_t par;
} splitter;

/* A load of state k of the fold's partial results; 0: an extent is no number, or too many axes. */
static twi_id load_state(splitter *s, twi_id fold, unsigned k) {
    tw_ir *to = s->to;
    const twi_ins *i = twi_ins_of(to, fold);
    twi_id x = twi_arg(to, fold, 0);
    const char *name =
        twi_format(s->arena, k ? "%s.part%u" : "%s.part", twi_value_name(to, fold), k + 1);
    twi_array array = {.name = twi_intern_str(&to->ctx->names, name), .role = TWI_TEMP, .rank = 1};
    twi_access access = {.array = to->array.n, .proof = TWI_ACCESS_PROVED};
    array.elem = k ? (uint8_t)TW_I64 : twi_ins_of(to, x)->type.elem;
    array.dim[0] = to->axis.at[s->part].hi;
    access.ix[0] = twi_ix_leaf(to, TWI_IX_AXIS, s->part);
    for (unsigned a = 1; a < s->part; a++) {
        int64_t extent;
        if (!(i->type.axes >> a & 1))
            continue;
        if (array.rank == TWI_MAX_RANK || !twi_axis_span(to, a, &extent))
            return 0;
        access.ix[array.rank] =
            twi_ix_make(to, TWI_IX_SUB, twi_ix_leaf(to, TWI_IX_AXIS, a), to->axis.at[a].lo);
        array.dim[array.rank++] = twi_ix_const(to, extent);
    }
    twi_ins load = {.op = TWI_LOAD, .attr = to->access.n, .name = array.name, .loc = i->loc};
    load.type = (twi_type){array.elem, i->type.axes | UINT64_C(1) << s->part};
    load.arg = to->args.n;
    twi_push(s->arena, &to->array, array);
    twi_push(s->arena, &to->access, access);
    twi_push(s->arena, &to->ins, load);
    return to->ins.n - 1u;
}

/* The fold consumes its partial results; its start, if it has one, comes last. */
static bool consume_parts(splitter *s, twi_id fold, twi_id_list *loads) {
    tw_ir *to = s->to;
    unsigned states = twi_fold_states(to, fold);
    twi_id start =
        to->ins.at[fold].op == TWI_DOT && to->ins.at[fold].nargs > 2 ? twi_arg(to, fold, 2) : 0;
    uint32_t first = loads->n;
    for (unsigned k = 0; k < states; k++) {
        twi_id load = load_state(s, fold, k);
        if (!load)
            return false;
        twi_push(s->arena, loads, load);
    }
    twi_ins *i = &to->ins.at[fold];
    i->arg = to->args.n;
    i->parts = (uint8_t)states;
    i->nargs = states + (start ? 1u : 0u);
    i->nfold = 1;
    i->fold[0] = (uint8_t)s->part;
    for (unsigned k = 0; k < states; k++)
        twi_push(s->arena, &to->args, loads->at[first + k]);
    if (start)
        twi_push(s->arena, &to->args, start);
    return true;
}

/* The scope's body: loads of partial results first, then what effects need. Axes that nothing is
 * left of belong to no region. */
static void rebuild_body(splitter *s, const twi_id_list *loads) {
    tw_ir *to = s->to;
    twi_region *r = &to->region.at[s->par];
    twi_id_list all = {0}, left = {0};
    bool *live = TWI_NEW_N(s->arena, bool, to->ins.n);
    uint64_t axes = 0;
    for (uint32_t k = 0; k < loads->n; k++)
        twi_push(s->arena, &all, loads->at[k]);
    for (uint32_t k = 0; k < r->body.n; k++) {
        twi_push(s->arena, &all, r->body.at[k]);
        live[r->body.at[k]] =
            twi_op_row(twi_ins_of(to, r->body.at[k])->op)->kind == TWI_KIND_EFFECT;
    }
    keep_live(s->arena, to, &all, live, &left);
    r->body.at = left.at;
    r->body.n = left.n;
    r->body.cap = left.cap;
    for (uint32_t k = 0; k < left.n; k++)
        axes |= twi_ins_of(to, left.at[k])->type.axes | twi_fold_axes(to, left.at[k]);
    for (unsigned a = 1; a < to->axis.n; a++)
        if (to->axis.at[a].region == s->par && to->axis.at[a].kind == TWI_AXIS_FULL &&
            !(axes >> a & 1))
            to->axis.at[a].region = 0;
}

tw_ir *twi_split_ir(twi_arena *arena, const tw_ir *ir, const twi_plan *p) {
    unsigned axis = twi_split_axis(ir, p);
    twi_id_list folds = {0}, loads = {0};
    twi_split_folds(arena, ir, p, &folds);
    if (!folds.n || ir->axis.n == TWI_MAX_AXES)
        return NULL;
    splitter s = {.to = twi_ir_tables(ir, arena), .arena = arena, .part = ir->axis.n};
    s.par = twi_par_region(ir, p->scope);
    twi_axis part = {.name = twi_intern_str(&ir->ctx->names, "part"), .kind = TWI_AXIS_FULL};
    part.lo = twi_ix_const(s.to, 0);
    part.hi = twi_ix_const(s.to, p->frame[0].map[axis].d[0].extent);
    part.region = s.par;
    part.loc = ir->axis.at[axis].loc;
    twi_push(arena, &s.to->axis, part);
    for (uint32_t k = 0; k < folds.n; k++)
        if (!consume_parts(&s, folds.at[k], &loads))
            return NULL;
    rebuild_body(&s, &loads);
    return s.to;
}
