/* SPDX-License-Identifier: Apache-2.0
 * New and copied tile IRs. The copy renumbers: ids follow the text, and what stands in no region is
 * gone, so that the IR of the builder and the one parsed from its text are the same tables.
 */
#include "ir/whole.h"

tw_ir *twi_ir_new(tw_context *ctx, twi_arena *arena) {
    tw_ir *ir = TWI_NEW(arena, tw_ir);
    ir->ctx = ctx;
    ir->arena = arena;
    ir->order = TWI_ORDER_FREE;
    twi_push(arena, &ir->ix, (twi_ix_node){0});
    twi_push(arena, &ir->axis, (twi_axis){0});
    twi_push(arena, &ir->num, (twi_num){0});
    twi_push(arena, &ir->constant, (twi_const){0});
    twi_push(arena, &ir->array, (twi_array){0});
    twi_push(arena, &ir->scalar, (twi_scalar){0});
    twi_push(arena, &ir->dim, (twi_dim){0});
    twi_push(arena, &ir->fact, (twi_fact){0});
    twi_push(arena, &ir->access, (twi_access){0});
    twi_push(arena, &ir->ins, (twi_ins){0});
    twi_push(arena, &ir->args, 0);
    twi_push(arena, &ir->region, (twi_region){0});
    twi_push(arena, &ir->region, (twi_region){.kind = TWI_REGION_ROOT});
    return ir;
}

typedef struct {
    twi_ix_map map; /* first: leaf() finds the rest behind it */
    const tw_ir *from;
    tw_ir *to;
    uint32_t *axis, *value, *num; /* old id -> new id */
} copier;

static twi_ix leaf(twi_ix_map *map, const twi_ix_node *node) {
    const copier *c = map->user;
    uint32_t id = node->a;
    if (node->op == TWI_IX_AXIS || node->op == TWI_IX_LO || node->op == TWI_IX_HI)
        id = c->axis[id];
    if (node->op == TWI_IX_VALUE)
        id = c->value[id];
    return twi_ix_leaf(c->to, (twi_ix_op)node->op, id);
}

static twi_ix ix(copier *c, twi_ix x) { return twi_ix_rewrite(c->from, x, &c->map); }

static uint64_t axes(const copier *c, uint64_t set) {
    uint64_t out = 0;
    for (unsigned a = 1; a < c->from->axis.n; a++)
        if (set >> a & 1u)
            out |= UINT64_C(1) << c->axis[a];
    return out;
}

static uint32_t num(copier *c, uint32_t id) {
    if (id == 0 || c->num[id] != 0)
        return c->num[id];
    twi_num n = c->from->num.at[id];
    n.a = num(c, n.a);
    n.b = num(c, n.b);
    n.ix = ix(c, n.ix);
    twi_push(c->to->arena, &c->to->num, n);
    return c->num[id] = c->to->num.n - 1u;
}

static void copy_head(copier *c, const int64_t *dims) {
    const tw_ir *from = c->from;
    tw_ir *to = c->to;
    for (uint32_t k = 1; k < from->dim.n; k++) {
        twi_dim d = from->dim.at[k];
        if (dims) { /* from here on every index expression folds with the number */
            d.known = true;
            d.value = dims[k];
        }
        twi_push(to->arena, &to->dim, d);
    }
    for (uint32_t k = 1; k < from->scalar.n; k++)
        twi_push(to->arena, &to->scalar, from->scalar.at[k]);
    for (uint32_t k = 1; k < from->array.n; k++) {
        twi_array a = from->array.at[k];
        for (unsigned d = 0; d < a.rank; d++)
            a.dim[d] = ix(c, a.dim[d]);
        for (unsigned d = 0; d < a.passed_rank; d++)
            a.passed[d] = ix(c, a.passed[d]);
        twi_push(to->arena, &to->array, a);
    }
    for (uint32_t k = 1; k < from->fact.n; k++) {
        twi_fact f = from->fact.at[k];
        f.a = ix(c, f.a);
        f.b = ix(c, f.b);
        twi_push(to->arena, &to->fact, f);
    }
}

static void copy_axis(copier *c, uint32_t id, uint32_t region) {
    twi_axis a = c->from->axis.at[id];
    a.lo = ix(c, a.lo);
    a.hi = ix(c, a.hi);
    a.region = region;
    twi_push(c->to->arena, &c->to->axis, a);
    c->axis[id] = c->to->axis.n - 1u;
}

static uint32_t attr(copier *c, const twi_ins *ins) {
    tw_ir *to = c->to;
    if (ins->op == TWI_CONST) {
        twi_const k = c->from->constant.at[ins->attr];
        k.num = k.known ? 0 : num(c, k.num);
        twi_push(to->arena, &to->constant, k);
        return to->constant.n - 1u;
    }
    if (ins->op == TWI_INDEX)
        return c->axis[ins->attr];
    if (ins->op == TWI_IXVAL)
        return ix(c, ins->attr);
    if (twi_is_access(ins->op)) {
        twi_access a = c->from->access.at[ins->attr];
        for (unsigned d = 0; d < TWI_MAX_RANK; d++)
            a.ix[d] = ix(c, a.ix[d]);
        twi_push(to->arena, &to->access, a);
        return to->access.n - 1u;
    }
    return ins->attr;
}

static twi_id copy_ins(copier *c, twi_id id) {
    tw_ir *to = c->to;
    twi_ins ins = c->from->ins.at[id];
    uint32_t first = to->args.n, old = ins.arg;
    for (uint32_t k = 0; k < ins.nargs; k++)
        twi_push(to->arena, &to->args, c->value[c->from->args.at[old + k]]);
    ins.attr = attr(c, &ins);
    ins.arg = first;
    ins.type.axes = axes(c, ins.type.axes);
    for (unsigned k = 0; k < ins.nfold; k++)
        ins.fold[k] = (uint8_t)c->axis[ins.fold[k]];
    twi_push(to->arena, &to->ins, ins);
    return c->value[id] = to->ins.n - 1u;
}

static void copy_body(copier *c, uint32_t old, uint32_t new);

typedef struct {
    const copier *c;
    bool copied;
} readiness;
static void see_value(void *user, twi_id v) {
    readiness *r = user;
    r->copied &= r->c->value[v] != 0;
}

/* The axes of `axis` statements whose bounds have been copied, each once. */
static void copy_axes(copier *c, uint32_t old, uint32_t new) {
    for (uint32_t a = 1; a < c->from->axis.n; a++) {
        const twi_axis *x = &c->from->axis.at[a];
        readiness ready = {c, x->region == old && x->kind == TWI_AXIS_FULL && c->axis[a] == 0};
        twi_ix_values(c->from, x->lo, see_value, &ready);
        twi_ix_values(c->from, x->hi, see_value, &ready);
        if (ready.copied)
            copy_axis(c, a, new);
    }
}

/* The axes that a region declares come first, then the ones of `axis` statements in it, except
 * those whose bounds are values made here: they follow the last of these. */
static void copy_region(copier *c, uint32_t old, uint32_t new) {
    const twi_region *r = &c->from->region.at[old];
    tw_ir *to = c->to;
    for (uint32_t k = 0; k < r->axes.n; k++) {
        copy_axis(c, r->axes.at[k], new);
        twi_push(to->arena, &to->region.at[new].axes, (uint8_t)c->axis[r->axes.at[k]]);
    }
    copy_axes(c, old, new);
    for (uint32_t k = 0; k < r->carries.n; k++) {
        twi_id v = copy_ins(c, r->carries.at[k]);
        twi_push(to->arena, &to->region.at[new].carries, v);
    }
    copy_axes(c, old, new);
    copy_body(c, old, new);
    for (uint32_t k = 0; k < r->yields.n; k++)
        twi_push(to->arena, &to->region.at[new].yields, c->value[r->yields.at[k]]);
}

static void copy_body(copier *c, uint32_t old, uint32_t new) {
    const twi_region *r = &c->from->region.at[old];
    tw_ir *to = c->to;
    for (uint32_t k = 0; k < r->body.n; k++) {
        twi_id id = r->body.at[k];
        twi_id v = copy_ins(c, id);
        twi_push(to->arena, &to->region.at[new].body, v);
        if (twi_op_row(to->ins.at[v].op)->kind != TWI_KIND_REGION) {
            copy_axes(c, old, new);
            continue;
        }
        uint32_t inner_old = c->from->ins.at[id].attr, inner = to->region.n;
        const twi_region *from = &c->from->region.at[inner_old];
        twi_region inner_region = {
            .kind = from->kind, .parent = new, .ins = v, .joined = from->joined};
        twi_push(to->arena, &to->region, inner_region);
        to->ins.at[v].attr = inner;
        copy_region(c, inner_old, inner);
    }
}

tw_ir *twi_ir_copy(const tw_ir *ir, twi_arena *arena, const int64_t *dims) {
    copier c = {.from = ir, .to = twi_ir_new(ir->ctx, arena)};
    c.map = (twi_ix_map){leaf, &c, c.to};
    c.axis = TWI_NEW_N(arena, uint32_t, TWI_MAX_AXES);
    c.value = TWI_NEW_N(arena, uint32_t, ir->ins.n);
    c.num = TWI_NEW_N(arena, uint32_t, ir->num.n + 1u);
    tw_ir *to = c.to;
    to->kernel = ir->kernel;
    to->specialised = ir->specialised;
    to->lifted = ir->lifted;
    to->strided = ir->strided;
    to->order = ir->order;
    to->math = ir->math;
    to->spec_note = ir->spec_note;
    to->merged = ir->merged;
    copy_head(&c, dims);
    copy_body(&c, 1, 1);
    return to;
}

tw_ir *twi_ir_clone(const tw_ir *ir, twi_arena *arena) { return twi_ir_copy(ir, arena, NULL); }

#define COPY(v) ((v)->at = twi_copy(arena, (v)->at, (v)->n * sizeof *(v)->at), (v)->cap = (v)->n)

tw_ir *twi_ir_tables(const tw_ir *ir, twi_arena *arena) {
    tw_ir *to = twi_copy(arena, ir, sizeof *ir);
    to->arena = arena;
    COPY(&to->ix);
    COPY(&to->axis);
    COPY(&to->array);
    COPY(&to->access);
    COPY(&to->ins);
    COPY(&to->args);
    COPY(&to->region);
    for (uint32_t r = 1; r < to->region.n; r++) {
        COPY(&to->region.at[r].body);
        COPY(&to->region.at[r].axes);
    }
    to->ix_slot = twi_copy(arena, ir->ix_slot, ir->ix_slots * sizeof *ir->ix_slot);
    return to;
}

tw_ir *twi_ir_compact(const tw_ir *ir, twi_arena *arena) {
    tw_ir *to = twi_ir_copy(ir, arena, NULL);
    twi_name_values(to);
    return to;
}
