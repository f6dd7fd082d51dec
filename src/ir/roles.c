/* SPDX-License-Identifier: Apache-2.0
 * Who may load and store what, and when: rules that only a whole kernel shows. Scopes run in order;
 * inside one the instances run at once, so what one of them stores no other may load.
 */
#include "ir/codes.h"
#include "ir/whole.h"

/* One load, store or atomic operation, in the order of the text. */
typedef struct {
    twi_id ins;
    uint32_t array, scope, order;
    uint32_t loop;  /* innermost loop inside the scope; 0: none */
    bool store;     /* atomic operations too */
    uint8_t atomic; /* what one does; 0: none */
} use;
typedef TWI_VEC(use) uses;

static void gather(const tw_ir *ir, uint32_t region, uint32_t scope, uint32_t loop, uses *out) {
    const twi_region *r = &ir->region.at[region];
    for (uint32_t k = 0; k < r->body.n; k++) {
        twi_id v = r->body.at[k];
        const twi_ins *ins = &ir->ins.at[v];
        if (ins->op == TWI_PAR)
            gather(ir, ins->attr, ins->attr, 0, out);
        else if (ins->op == TWI_SERIAL)
            gather(ir, ins->attr, scope, scope ? ins->attr : 0, out);
        else if (twi_is_access(ins->op)) {
            const twi_access *a = &ir->access.at[ins->attr];
            use u = {v, a->array, scope, out->n, loop, ins->op != TWI_LOAD, a->atomic};
            twi_push(ir->arena, out, u);
        }
    }
}

static const char *array_name(const tw_ir *ir, uint32_t array) {
    return twi_text(&ir->ctx->names, ir->array.at[array].name);
}

/* Do two places of one scope share a loop of it? Then the load of one trip follows the store of
 * another. */
static bool share_loop(const tw_ir *ir, uint32_t a, uint32_t b) {
    for (; a != 0 && ir->region.at[a].kind == TWI_REGION_SERIAL; a = ir->region.at[a].parent)
        for (uint32_t x = b; x != 0 && ir->region.at[x].kind == TWI_REGION_SERIAL;
             x = ir->region.at[x].parent)
            if (x == a)
                return true;
    return false;
}

static bool loop_around(const tw_ir *ir, uint32_t scope_a, uint32_t scope_b) {
    for (uint32_t a = ir->region.at[scope_a].parent; a > 1; a = ir->region.at[a].parent)
        for (uint32_t b = ir->region.at[scope_b].parent; b > 1; b = ir->region.at[b].parent)
            if (a == b)
                return true;
    return false;
}

static void check_load(const tw_ir *ir, const uses *all, const use *load) {
    const twi_array *a = &ir->array.at[load->array];
    twi_loc loc = ir->ins.at[load->ins].loc;
    bool same_scope = false, after = false,
         set = a->role == TWI_IN || a->role == TWI_INOUT || a->has_fill;
    for (uint32_t k = 0; k < all->n; k++) {
        const use *s = &all->at[k];
        if (!s->store || s->array != load->array)
            continue;
        if (s->scope == load->scope) {
            same_scope = true;
            after |= s->order < load->order || share_loop(ir, load->loop, s->loop);
        }
        set |= s->order < load->order || loop_around(ir, load->scope, s->scope);
    }
    if (same_scope && a->role == TWI_OUT)
        twi_error(
            &ir->ctx->diags, TWI_E_LOAD_OUT, loc, "declare it `inout`, or load it in a later scope",
            "`out` array %s is loaded in the scope that stores it", array_name(ir, load->array));
    else if (after)
        twi_error(&ir->ctx->diags, TWI_E_LOAD_AFTER, loc, "load first, or use a second scope",
                  "%s is loaded after a store to it in the same scope",
                  array_name(ir, load->array));
    else if (!set)
        twi_error(&ir->ctx->diags, TWI_E_LOAD_UNSET, loc, NULL,
                  "%s is loaded, but nothing has stored to it yet", array_name(ir, load->array));
}

/* Atomic operations of one scope on one array: of one kind, and nothing else stores there. */
static void check_atomic(const tw_ir *ir, const uses *all, const use *atomic) {
    const twi_array *a = &ir->array.at[atomic->array];
    twi_loc loc = ir->ins.at[atomic->ins].loc;
    if (a->role != TWI_INOUT && !(a->role == TWI_OUT && a->has_fill))
        twi_error(&ir->ctx->diags, TWI_E_ATOMIC_ROLE, loc,
                  a->role == TWI_OUT ? twi_format(ir->arena, "out %s: .. = 0, or `inout`",
                                                  array_name(ir, atomic->array))
                                     : "declare it `inout`, or `out` with a value",
                  "atomic operations need values to start from, %s has none",
                  array_name(ir, atomic->array));
    for (uint32_t k = 0; k < all->n; k++) {
        const use *other = &all->at[k];
        if (other->array != atomic->array || other->scope != atomic->scope || !other->store ||
            other->atomic == atomic->atomic)
            continue;
        twi_error(&ir->ctx->diags, TWI_E_ATOMIC_MIX, loc, "use a second scope",
                  "%s is changed in two ways in one scope: which is last is not known",
                  array_name(ir, atomic->array));
        return;
    }
}

typedef struct {
    const uint64_t *deps;
    uint64_t set;
} named_by;
static void add_value(void *user, twi_id v) {
    named_by *n = user;
    n->set |= n->deps[v];
}

/* The axes that tell elements of a store apart, or may: what gathered subscripts and axes with
 * loaded bounds do is the author's promise. */
static uint64_t axes_named(const tw_ir *ir, twi_id store, const uint64_t *deps) {
    const twi_access *acc = &ir->access.at[ir->ins.at[store].attr];
    named_by named = {deps, 0};
    uint64_t axes = 0;
    for (unsigned d = 0; d < ir->array.at[acc->array].rank; d++) {
        axes |= ir->ix.at[acc->ix[d]].axes;
        if (acc->gather[d])
            add_value(&named, twi_gathered(ir, store, d));
    }
    for (unsigned a = 1; a < ir->axis.n; a++)
        if (axes >> a & 1u) {
            twi_ix_values(ir, ir->axis.at[a].lo, add_value, &named);
            twi_ix_values(ir, ir->axis.at[a].hi, add_value, &named);
        }
    if (twi_plain_args(ir, store) > 1)
        add_value(&named, twi_arg(ir, store, 1));
    return axes | named.set;
}

/* Parallel axes that the store's target, and its condition, do not depend on: instances collide. */
static void check_store(const tw_ir *ir, const use *store, const uint64_t *deps) {
    const twi_ins *ins = &ir->ins.at[store->ins];
    const twi_region *scope = &ir->region.at[store->scope];
    uint64_t named = axes_named(ir, store->ins, deps);
    for (uint32_t k = 0; k < scope->axes.n; k++) {
        uint32_t a = scope->axes.at[k];
        int64_t lo = 0, hi = 0;
        bool one = twi_ix_is_const(ir, ir->axis.at[a].hi, &hi) &&
                   twi_ix_is_const(ir, ir->axis.at[a].lo, &lo) && hi - lo <= 1;
        if ((named >> a & 1u) || one)
            continue;
        const char *axis = twi_text(&ir->ctx->names, ir->axis.at[a].name);
        twi_error(&ir->ctx->diags, TWI_E_STORE_PAR, ins->loc,
                  twi_format(ir->arena,
                             "name %s in the subscripts, or reduce over it in a scope of its own",
                             axis),
                  "instances that differ in %s store to the same element of %s", axis,
                  array_name(ir, store->array));
        return;
    }
}

void twi_check_roles(tw_ir *ir) {
    uses all = {0};
    uint64_t *deps = TWI_NEW_N(ir->arena, uint64_t, ir->ins.n);
    twi_deps(ir, deps);
    gather(ir, 1, 0, 0, &all);
    for (uint32_t k = 0; k < all.n; k++) {
        if (all.at[k].atomic)
            check_atomic(ir, &all, &all.at[k]);
        else if (all.at[k].store)
            check_store(ir, &all.at[k], deps);
        else
            check_load(ir, &all, &all.at[k]);
    }
    for (uint32_t a = 1; a < ir->array.n; a++) {
        const twi_array *x = &ir->array.at[a];
        bool stored = x->role != TWI_OUT || x->has_fill;
        for (uint32_t k = 0; k < all.n; k++)
            stored |= all.at[k].store && all.at[k].array == a;
        if (!stored)
            twi_error(&ir->ctx->diags, TWI_E_NEVER_STORED, x->loc, NULL, "%s is never stored to",
                      array_name(ir, a));
    }
}

/* ---- instances keep to their own elements ---- */
/* Is the position on axis p the only thing that changes in x from instance to instance, one to one?
 */
static bool tells_apart(const tw_ir *ir, twi_ix x, uint32_t p, uint64_t par) {
    const twi_ix_node *n = &ir->ix.at[x];
    if (n->op == TWI_IX_AXIS)
        return n->a == p;
    if ((n->axes & par) != UINT64_C(1) << p)
        return false;
    bool first = (ir->ix.at[n->a].axes >> p & 1u) != 0;
    if (n->op == TWI_IX_ADD || n->op == TWI_IX_SUB) { /* p plus what is the same in all instances */
        twi_ix with = first ? n->a : n->b, other = first ? n->b : n->a;
        return ir->ix.at[other].axes == 0 && tells_apart(ir, with, p, par);
    }
    int64_t k;
    return n->op == TWI_IX_MUL && twi_ix_is_const(ir, first ? n->b : n->a, &k) && k != 0 &&
           tells_apart(ir, first ? n->a : n->b, p, par);
}

static bool kept_apart(const tw_ir *ir, const use *load, const use *store) {
    const twi_region *scope = &ir->region.at[store->scope];
    const twi_access *l = &ir->access.at[ir->ins.at[load->ins].attr];
    const twi_access *s = &ir->access.at[ir->ins.at[store->ins].attr];
    uint64_t par = 0;
    for (uint32_t k = 0; k < scope->axes.n; k++)
        par |= UINT64_C(1) << scope->axes.at[k];
    for (uint32_t k = 0; k < scope->axes.n; k++) {
        bool apart = false;
        for (unsigned d = 0; d < ir->array.at[load->array].rank; d++)
            apart |= !store->atomic && l->ix[d] == s->ix[d] && l->ix[d] != 0 &&
                     tells_apart(ir, s->ix[d], scope->axes.at[k], par);
        if (!apart)
            return false;
    }
    return true;
}

void twi_check_alias(tw_ir *ir) {
    uses all = {0};
    gather(ir, 1, 0, 0, &all);
    for (uint32_t j = 0; j < all.n; j++)
        for (uint32_t k = 0; k < all.n; k++) {
            const use *load = &all.at[j], *store = &all.at[k];
            if (load->store || !store->store || load->array != store->array ||
                load->scope != store->scope)
                continue;
            if (ir->array.at[load->array].role == TWI_OUT || kept_apart(ir, load, store))
                continue;
            twi_error(&ir->ctx->diags, TWI_E_ALIAS, ir->ins.at[load->ins].loc,
                      "use temp and a second scope",
                      "an instance may load elements of %s that another one stores",
                      array_name(ir, load->array));
            break;
        }
}
