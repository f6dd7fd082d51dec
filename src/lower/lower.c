/* SPDX-License-Identifier: Apache-2.0
 * The module: for each entry one function a launch (a scope has one, or two where its plan splits
 * folds), and the recipe that runs them.
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
    w->stream = TWI_NEW_N(arena, twi_fold *, ir->ins.n);
    w->reading = TWI_NEW_N(arena, twi_reading, ir->ins.n);
    w->buffer = TWI_NEW_N(arena, uint32_t, ir->ins.n);
    w->next_object = TWI_NEW_N(arena, uint32_t, ir->ins.n);
    w->trips = w->round = 1;
    w->module_arrays = UINT32_MAX;
    twi_split_folds(arena, ir, plan, &w->splits);
}

/* One launch of a scope. */
typedef struct {
    const tw_ir *ir; /* of a second launch: twi_split_ir */
    const twi_plan *plan;
    uint32_t split_array; /* temp arrays of partial results: ids in the module, from here on */
} part;

static void begin_part(twi_lowering *w, twi_arena *arena, const twi_caps *caps, const part *p,
                       uint32_t arrays) {
    begin(w, arena, p->ir, caps, p->plan);
    w->split_array = p->split_array;
    if (p->plan->second) { /* `arrays` of the kernel itself; ids behind are partial results */
        w->module_arrays = arrays;
        w->temps = p->split_array - arrays;
    }
}

/* An array whose dimensions were joined (pass/join.c) is dense. */
static void view_joined(twi_object *o, const tw_ir *ir, const twi_array *a) {
    int64_t stride = 1;
    o->rank = a->rank;
    for (unsigned d = a->rank; d-- > 0; stride *= o->extent[d]) {
        o->extent[d] = 0;
        (void)twi_ix_is_const(ir, a->dim[d], &o->extent[d]);
        o->stride[d] = stride;
    }
}

/* Shapes, strides and alignment of the arguments: what joins, the layout and the entry's facts say.
 */
static void describe_arrays(twi_func *f, const tw_ir *ir, const uint8_t *layout,
                            const twi_entry_plan *entry) {
    for (uint32_t k = 1; k < f->object.n; k++) {
        twi_object *o = &f->object.at[k];
        if (o->kind != TWI_OBJ_ARRAY)
            continue;
        if (entry && o->array < entry->align.n)
            o->align = (uint16_t)entry->align.at[o->array];
        if (o->array < ir->array.n && ir->array.at[o->array].passed_rank) {
            view_joined(o, ir, &ir->array.at[o->array]);
            continue;
        }
        uint8_t class = layout && o->array < ir->array.n ? layout[o->array] : 0;
        if (!class || o->role == TWI_TEMP)
            continue;
        for (unsigned d = 0; d < o->rank; d++) {
            bool unit = class >= 2 && class - 2u == d;
            o->stride[d] = unit ? 1 : 0;
            o->dynamic = (uint8_t)(unit ? o->dynamic : o->dynamic | 1u << d);
        }
    }
}

/* Of all its frames. */
static uint32_t lanes_of(const twi_lowering *w) {
    return w->vectors ? twi_plan_lanes(w->plan) : w->caps->lane;
}

/* Lowers what `begin_part` was told of into a function of the module. */
static void lower_part(twi_lowering *w, twi_loop *loop, uint32_t func) {
    twi_cursor_init(&w->c, loop, func);
    w->c.f->explicit_lanes = w->vectors;
    w->c.f->lanes = lanes_of(w);
    w->c.f->subs = w->subs;
    twi_w_scope_body(w);
    twi_w_settle_barriers(w);
}

/* A module with the kernel's arrays and those of partial results. */
static twi_loop *new_module(twi_arena *arena, const tw_ir *ir, const twi_caps *caps, part *parts,
                            uint32_t n) {
    twi_loop *loop = twi_loop_new(arena, ir, caps->name);
    for (uint32_t k = 0; k < n; k++) {
        bool second = parts[k].plan->second;
        parts[k].split_array = second ? parts[k - 1].split_array : loop->array.n;
        for (uint32_t a = ir->array.n; second && a < parts[k].ir->array.n; a++) {
            twi_loop_array(loop, parts[k].ir, a);
            loop->array.at[loop->array.n - 1].split = parts[k].plan->scope + 1;
        }
    }
    return loop;
}

/* The launches of a scope; how many: one or two. */
static uint32_t add_parts(twi_arena *arena, const tw_ir *ir, const twi_plan *plan, part *out) {
    out[0] = (part){.ir = ir, .plan = plan};
    if (!plan->then)
        return 1;
    out[1] = (part){.ir = twi_split_ir(arena, ir, plan), .plan = plan->then};
    return 2;
}

static twi_sym func_name(const tw_ir *ir, twi_sym entry, const twi_plan *p, twi_arena *arena) {
    const char *name = twi_format(arena, "%s_%s", twi_text(&ir->ctx->names, ir->kernel),
                                  twi_text(&ir->ctx->names, entry));
    if (p->scope)
        name = twi_format(arena, "%s_%u", name, p->scope);
    if (p->second)
        name = twi_format(arena, "%s_then", name);
    return twi_intern_str(&ir->ctx->names, name);
}

static int64_t constant(const tw_ir *ir, twi_ix x) {
    int64_t k = 0;
    twi_ix_is_const(ir, x, &k);
    return k;
}

typedef struct {
    twi_loop *loop;
    const part *parts; /* function first + k is that of parts[k] */
    uint32_t n, first, next;
    twi_entry *entry;
} recipe;

static void add_launches(recipe *r) {
    uint32_t scope = r->parts[r->next].plan->scope;
    for (; r->next < r->n && r->parts[r->next].plan->scope == scope; r->next++) {
        twi_step_do launch = {.what = TWI_DO_LAUNCH, .func = r->first + r->next};
        launch.grid = twi_plan_groups(r->parts[r->next].plan);
        twi_push(r->loop->arena, &r->entry->recipe, launch);
    }
}

/* Steps in the order of a region's body: launches, and loops around them. */
static void add_recipe(recipe *r, uint32_t region) {
    const tw_ir *ir = r->loop->ir;
    const twi_region *body = &ir->region.at[region];
    for (uint32_t k = 0; k < body->body.n; k++) {
        const twi_ins *i = twi_ins_of(ir, body->body.at[k]);
        if (i->op == TWI_PAR) {
            add_launches(r);
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
                      const part *parts, uint32_t n) {
    const tw_ir *ir = loop->ir;
    const twi_plan *first = &plans->scope[0];
    const twi_entry_plan *ep = e < first->entry.n ? &first->entry.at[e] : NULL;
    twi_entry entry = {.name = ep ? ep->name : twi_intern_str(&ir->ctx->names, "main")};
    recipe r = {.loop = loop, .parts = parts, .n = n, .first = loop->func.n, .entry = &entry};
    for (uint32_t a = 0; a < ir->array.n; a++)
        twi_push(loop->arena, &entry.align, ep && a < ep->align.n ? ep->align.at[a] : 0u);
    for (uint32_t k = 0; k < n; k++) {
        twi_lowering w;
        const twi_plan *p = parts[k].plan;
        uint32_t f = twi_loop_func(loop, func_name(ir, entry.name, p, loop->arena), e, p->scope);
        describe_arrays(&loop->func.at[f], ir, plans->layout, ep);
        begin_part(&w, loop->arena, caps, &parts[k], ir->array.n);
        lower_part(&w, loop, f);
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
    part *parts = TWI_NEW_N(arena, part, 2 * plans->n);
    uint32_t n = 0;
    for (uint32_t s = 0; s < plans->n; s++)
        n += add_parts(arena, ir, &plans->scope[s], &parts[n]);
    twi_loop *loop = new_module(arena, ir, caps, parts, n);
    for (uint32_t s = 0; s < plans->n; s++) {
        twi_order *orders;
        uint32_t k = twi_plan_orders(arena, ir, caps, &plans->scope[s], &orders);
        for (uint32_t i = 0; i < k; i++)
            twi_push(arena, &loop->order, orders[i]);
    }
    unsigned entries = plans->n && plans->scope[0].entry.n ? plans->scope[0].entry.n : 1;
    for (unsigned e = 0; e < entries; e++)
        add_entry(loop, caps, plans, e, parts, n);
    return loop;
}

/* False: it was cut off. */
static bool walk_within(twi_lowering *w, twi_loop *scratch, uint32_t func,
                        const twi_cutoff *cutoff) {
    jmp_buf left;
    w->cutoff = cutoff;
    w->left = &left;
    if (setjmp(left) != 0) {
        w->left = NULL;
        return false;
    }
    lower_part(w, scratch, func);
    w->left = NULL;
    return true;
}

static bool tally_part(twi_loop *scratch, const part *p, const twi_cutoff *cutoff,
                       twi_lowering *w) {
    twi_features *out = w->tally;
    const uint32_t func = twi_loop_func(scratch, 0, 0, p->plan->scope), n = p->plan->entry.n;
    describe_arrays(&scratch->func.at[func], p->ir, NULL, n ? &p->plan->entry.at[n - 1] : NULL);
    out->status = scratch->status;
    out->lanes = lanes_of(w);
    out->workers = w->vectors ? 1 : out->lanes * w->subs;
    out->groups = twi_plan_groups(p->plan);
    const bool whole = walk_within(w, scratch, func, cutoff);
    out->built = scratch->func.at[func].ins.n;
    if (whole)
        twi_features_of_func(&scratch->func.at[func], out);
    return whole;
}

void twi_tally(twi_arena *arena, const tw_ir *ir, const twi_caps *caps, const twi_plan *plan,
               twi_features *out) {
    (void)twi_tally_within(arena, ir, caps, plan, NULL, out);
}

bool twi_tally_within(twi_arena *arena, const tw_ir *ir, const twi_caps *caps, const twi_plan *plan,
                      const twi_cutoff *cutoff, twi_features *out) {
    part parts[2];
    uint32_t n = add_parts(arena, ir, plan, parts);
    uint32_t arrays = parts[n - 1].ir->array.n + 1; /* and a status */
    twi_features_init(arena, arrays, out);
    if (n > 1)
        twi_features_init(arena, arrays, out->then = TWI_NEW(arena, twi_features));
    twi_mark mark = twi_arena_mark(arena);
    twi_loop *scratch = new_module(arena, ir, caps, parts, n);
    bool whole = true;
    for (uint32_t k = 0; whole && k < (cutoff && cutoff->first ? 1 : n); k++) {
        twi_lowering w;
        begin_part(&w, arena, caps, &parts[k], ir->array.n);
        w.tally = k ? out->then : out;
        whole = tally_part(scratch, &parts[k], k ? NULL : cutoff, &w);
    }
    twi_arena_reset(arena, mark);
    return whole;
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
