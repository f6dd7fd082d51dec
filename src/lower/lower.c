/* SPDX-License-Identifier: Apache-2.0
 * The module: for each entry one function a scope, lowered twice (first to learn where barriers are
 * needed), and the recipe that runs them.
 */
#include "lower/walk.h"

static bool is_explicit(const twi_caps *caps) { return caps->family == TWI_FAMILY_CPU; }

static void begin(twi_lowering *w, twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                  const twi_plan *plan) {
    memset(w, 0, sizeof *w);
    w->arena = arena;
    w->ir = ir;
    w->caps = caps;
    w->plan = plan;
    twi_cut_scope(arena, ir, plan, twi_par_region(ir, plan->scope), &w->cut);
    w->vectors = is_explicit(caps);
    w->subs = w->vectors ? 1 : twi_plan_subs(plan);
    w->digits = twi_alloc_n(arena, plan->frames, sizeof *w->digits);
    twi_w_enter(w, 0);
    w->home = TWI_NEW_N(arena, twi_home, ir->ins.n);
    w->memo = TWI_NEW_N(arena, twi_lid, ir->ins.n);
    w->slot_array = TWI_NEW_N(arena, uint32_t, ir->ins.n);
    w->buffer = TWI_NEW_N(arena, uint32_t, ir->ins.n);
    w->next_object = TWI_NEW_N(arena, uint32_t, ir->ins.n);
    w->trips = w->round = 1;
}

/* Strides and alignment of the arguments: what the layout and the entry's facts say. */
static void describe_arrays(twi_func *f, const tw_ir *ir, const uint8_t *layout,
                            const twi_entry_plan *entry) {
    for (uint32_t k = 1; k < f->object.n; k++) {
        twi_object *o = &f->object.at[k];
        if (o->kind != TWI_OBJ_ARRAY)
            continue;
        if (entry && o->array < entry->align.n)
            o->align = (uint16_t)entry->align.at[o->array];
        uint8_t class = layout ? layout[o->array] : 0;
        if (!class || ir->array.at[o->array].role == TWI_TEMP)
            continue;
        for (unsigned d = 0; d < o->rank; d++) {
            bool unit = class >= 2 && class - 2u == d;
            o->stride[d] = unit ? 1 : 0;
            o->dynamic = (uint8_t)(unit ? o->dynamic : o->dynamic | 1u << d);
        }
    }
}

/* Lowers the scope that `begin` was told of into a function of the module. */
static void lower_scope(twi_lowering *w, twi_loop *loop, uint32_t func) {
    twi_cursor_init(&w->c, loop, func);
    w->c.f->explicit_lanes = w->vectors;
    w->c.f->lanes = w->vectors ? twi_plan_lanes(w->plan) : w->caps->lane;
    w->c.f->subs = w->subs;
    twi_w_scope_body(w);
}

/* The first pass, into a scratch module: where barriers go. NULL for one worker. */
static bool *find_barriers(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                           const twi_plan *plan) {
    if (is_explicit(caps))
        return NULL;
    twi_lowering w;
    twi_loop *scratch = twi_loop_new(arena, ir, caps->name);
    begin(&w, arena, ir, caps, plan);
    lower_scope(&w, scratch, twi_loop_func(scratch, 0, 0, plan->scope));
    return twi_place_barriers(arena, w.events.at, w.events.n);
}

static twi_sym func_name(const tw_ir *ir, twi_sym entry, uint32_t scope, twi_arena *arena) {
    const char *kernel = twi_text(&ir->ctx->names, ir->kernel),
               *e = twi_text(&ir->ctx->names, entry);
    const char *name = scope ? twi_format(arena, "%s_%s_%u", kernel, e, scope)
                             : twi_format(arena, "%s_%s", kernel, e);
    return twi_intern_str(&ir->ctx->names, name);
}

static int64_t constant(const tw_ir *ir, twi_ix x) {
    int64_t k = 0;
    twi_ix_is_const(ir, x, &k);
    return k;
}

typedef struct {
    twi_loop *loop;
    const twi_plans *plans;
    uint32_t first_func, scope; /* of the entry; next one */
    twi_entry *entry;
} recipe;

/* Steps in the order of a region's body: launches, and loops around them. */
static void add_recipe(recipe *r, uint32_t region) {
    const tw_ir *ir = r->loop->ir;
    const twi_region *body = &ir->region.at[region];
    for (uint32_t k = 0; k < body->body.n; k++) {
        const twi_ins *i = twi_ins_of(ir, body->body.at[k]);
        if (i->op == TWI_PAR) {
            twi_step_do launch = {.what = TWI_DO_LAUNCH, .func = r->first_func + r->scope};
            launch.grid = twi_plan_groups(&r->plans->scope[r->scope++]);
            twi_push(r->loop->arena, &r->entry->recipe, launch);
        } else if (i->op == TWI_SERIAL) {
            const twi_axis *a = &ir->axis.at[ir->region.at[i->attr].axes.at[0]];
            twi_step_do loop = {
                .what = TWI_DO_LOOP, .lo = constant(ir, a->lo), .hi = constant(ir, a->hi)};
            twi_step_do end = {.what = TWI_DO_END};
            twi_push(r->loop->arena, &r->entry->recipe, loop);
            add_recipe(r, i->attr);
            twi_push(r->loop->arena, &r->entry->recipe, end);
        }
    }
}

static void add_entry(twi_loop *loop, const twi_caps *caps, const twi_plans *plans, unsigned e,
                      bool *const *barriers) {
    const tw_ir *ir = loop->ir;
    const twi_plan *first = &plans->scope[0];
    const twi_entry_plan *ep = e < first->entry.n ? &first->entry.at[e] : NULL;
    twi_entry entry = {.name = ep ? ep->name : twi_intern_str(&ir->ctx->names, "main")};
    recipe r = {.loop = loop, .plans = plans, .first_func = loop->func.n, .entry = &entry};
    for (uint32_t a = 0; a < ir->array.n; a++)
        twi_push(loop->arena, &entry.align, ep && a < ep->align.n ? ep->align.at[a] : 0u);
    for (uint32_t s = 0; s < plans->n; s++) {
        twi_lowering w;
        uint32_t f = twi_loop_func(loop, func_name(ir, entry.name, s, loop->arena), e, s);
        describe_arrays(&loop->func.at[f], ir, plans->layout, ep);
        begin(&w, loop->arena, ir, caps, &plans->scope[s]);
        w.barrier_before = barriers[s];
        lower_scope(&w, loop, f);
    }
    for (uint32_t a = 1; a < loop->array.n; a++) {
        twi_step_do fill = {.what = TWI_DO_FILL, .array = a};
        if (loop->array.at[a].has_fill)
            twi_push(loop->arena, &entry.recipe, fill);
    }
    add_recipe(&r, 1);
    twi_push(loop->arena, &loop->entry, entry);
}

twi_loop *twi_lower(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                    const twi_plans *plans) {
    twi_loop *loop = twi_loop_new(arena, ir, caps->name);
    bool **barriers = TWI_NEW_N(arena, bool *, plans->n);
    for (uint32_t s = 0; s < plans->n; s++) {
        twi_order *orders;
        barriers[s] = find_barriers(arena, ir, caps, &plans->scope[s]);
        uint32_t n = twi_plan_orders(arena, ir, caps, &plans->scope[s], &orders);
        for (uint32_t k = 0; k < n; k++)
            twi_push(arena, &loop->order, orders[k]);
    }
    unsigned entries = plans->n && plans->scope[0].entry.n ? plans->scope[0].entry.n : 1;
    for (unsigned e = 0; e < entries; e++)
        add_entry(loop, caps, plans, e, barriers);
    return loop;
}

void twi_tally(twi_arena *arena, const tw_ir *ir, const twi_caps *caps, const twi_plan *plan,
               twi_features *out) {
    memset(out, 0, sizeof *out);
    out->arrays = ir->array.n;
    out->load_bytes = TWI_NEW_N(arena, double, ir->array.n);
    out->store_bytes = TWI_NEW_N(arena, double, ir->array.n);
    out->loads = TWI_NEW_N(arena, double, ir->array.n);
    out->stores = TWI_NEW_N(arena, double, ir->array.n);
    out->sectors = TWI_NEW_N(arena, double, ir->array.n);
    twi_mark mark = twi_arena_mark(arena);
    bool *barriers = find_barriers(arena, ir, caps, plan);
    twi_loop *scratch = twi_loop_new(arena, ir, caps->name);
    uint32_t func = twi_loop_func(scratch, 0, 0, plan->scope);
    const twi_entry_plan *facts = plan->entry.n ? &plan->entry.at[plan->entry.n - 1] : NULL;
    describe_arrays(&scratch->func.at[func], ir, NULL, facts);
    twi_lowering w;
    begin(&w, arena, ir, caps, plan);
    w.barrier_before = barriers;
    w.tally = out;
    lower_scope(&w, scratch, func);
    out->workers = w.lanes * w.subs;
    out->lanes = w.lanes;
    out->groups = twi_plan_groups(plan);
    twi_features_of_func(&scratch->func.at[func], out);
    twi_order *orders;
    uint32_t n = twi_plan_orders(arena, ir, caps, plan, &orders);
    for (uint32_t k = 0; k < n; k++)
        out->depth = orders[k].depth > out->depth ? orders[k].depth : out->depth;
    twi_arena_reset(arena, mark);
}

uint32_t twi_crossing(twi_arena *arena, const tw_ir *ir, uint32_t scope, twi_id **out) {
    twi_cut cut;
    TWI_VEC(twi_id) list = {0};
    twi_cut_scope(arena, ir, NULL, twi_par_region(ir, scope), &cut);
    for (uint32_t k = 0; k < cut.all.n; k++)
        if (cut.value[cut.all.at[k]].crossing)
            twi_push(arena, &list, cut.all.at[k]);
    *out = list.at;
    return list.n;
}

uint64_t twi_kept_axes(twi_arena *arena, const tw_ir *ir, uint32_t scope) {
    twi_cut cut;
    uint64_t axes = 0;
    twi_cut_scope(arena, ir, NULL, twi_par_region(ir, scope), &cut);
    for (uint32_t k = 0; k < cut.all.n; k++)
        if (cut.value[cut.all.at[k]].kept)
            axes |= twi_ins_of(ir, cut.all.at[k])->type.axes;
    return axes;
}
