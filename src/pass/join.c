/* SPDX-License-Identifier: Apache-2.0
 * Joining: two axes of a scope become one of all their positions, row by row:
 *
 *     parallel r: 0 .. 17, w: 0 .. 257          parallel r_w: 0 .. 4369
 *     X: f32 = load X[r, w]                     X: f32 = load X[r_w]
 *     B: f32 = load B[w]                        B: f32 = load B[r_w % 257]
 *
 * The slow axis's position is r_w // 257, the fast one's r_w % 257. An array all of whose accesses
 * have these two side by side, with rows as long as the fast axis, gets one dimension of both, and
 * nothing is divided. Callers pass it as ever (twi_array.passed); arrays that may be strided keep
 * their dimensions.
 */
#include "pass/pass.h"

#define MOST (INT64_C(1) << 40) /* positions of an axis, as elements of an array */

typedef struct {
    const tw_ir *ir;
    uint32_t par;
    unsigned slow, fast;
    uint64_t both;
} pair;

static const char *axis_name(const tw_ir *ir, unsigned a) {
    return twi_text(&ir->ctx->names, ir->axis.at[a].name);
}

/* Positions of an axis from 0 on; 0: not a number of them. */
static int64_t extent_of(const tw_ir *ir, unsigned axis) {
    int64_t lo = 0, hi = 0;
    const twi_axis *a = &ir->axis.at[axis];
    return twi_ix_is_const(ir, a->lo, &lo) && twi_ix_is_const(ir, a->hi, &hi) && lo == 0 && hi > 0
               ? hi
               : 0;
}

static const char *axis_fault(const pair *p, unsigned a) {
    const twi_axis *x = &p->ir->axis.at[a];
    twi_arena *arena = p->ir->arena;
    if (x->region != p->par)
        return twi_format(arena, "axis %s is none of the scope itself", axis_name(p->ir, a));
    if (x->kind != TWI_AXIS_INDEX && x->kind != TWI_AXIS_FULL)
        return twi_format(arena, "axis %s goes by blocks", axis_name(p->ir, a));
    if (!extent_of(p->ir, a))
        return twi_format(arena, "axis %s does not run from 0 to a number above it",
                          axis_name(p->ir, a));
    return NULL;
}

/* Does the expression speak of lo(i) or hi(i) of one of them? */
static bool speaks_of_bounds(const pair *p, twi_ix x) {
    const twi_ix_node *n = &p->ir->ix.at[x];
    if (!(n->axes & p->both))
        return false;
    if (n->op < TWI_IX_ADD)
        return n->op == TWI_IX_LO || n->op == TWI_IX_HI;
    return speaks_of_bounds(p, n->a) || speaks_of_bounds(p, n->b);
}

typedef struct {
    const tw_ir *ir;
    uint64_t axes;
} seen;

static void see_value(void *user, twi_id v) {
    seen *s = user;
    s->axes |= twi_ins_of(s->ir, v)->type.axes;
}

static const char *bounds_fault(const pair *p) {
    const tw_ir *ir = p->ir;
    for (unsigned a = 1; a < ir->axis.n; a++) {
        const twi_axis *x = &ir->axis.at[a];
        seen s = {ir, ir->ix.at[x->lo].axes | ir->ix.at[x->hi].axes};
        if (x->region != p->par || (p->both >> a & 1))
            continue;
        twi_ix_values(ir, x->lo, see_value, &s);
        twi_ix_values(ir, x->hi, see_value, &s);
        if (s.axes & p->both)
            return twi_format(ir->arena, "the bounds of axis %s depend on them", axis_name(ir, a));
    }
    return NULL;
}

/* Instances are numbered axis by axis, which checked accesses tell of. */
static bool numbers_stay(const pair *p) {
    const twi_region *r = &p->ir->region.at[p->par];
    for (uint32_t k = 1; k < r->axes.n; k++)
        if (r->axes.at[k - 1] == p->slow && r->axes.at[k] == p->fast)
            return true;
    return false;
}

static const char *access_fault(const pair *p, twi_id v) {
    const tw_ir *ir = p->ir;
    const twi_ins *i = twi_ins_of(ir, v);
    const twi_access *a = &ir->access.at[i->attr];
    const twi_array *array = &ir->array.at[a->array];
    const char *name = twi_text(&ir->ctx->names, array->name);
    uint64_t own = i->type.axes;
    for (unsigned d = 0; d < array->rank; d++) {
        own |= ir->ix.at[a->ix[d]].axes;
        if (speaks_of_bounds(p, a->ix[d]))
            return twi_format(ir->arena, "a subscript of %s speaks of their bounds", name);
    }
    for (unsigned k = 0; k < i->nargs; k++)
        own |= twi_ins_of(ir, twi_arg(ir, v, k))->type.axes;
    own &= p->both;
    if (i->op != TWI_LOAD && own && own != p->both)
        return twi_format(ir->arena, "what is stored to %s depends on %s alone", name,
                          axis_name(ir, own >> p->slow & 1 ? p->slow : p->fast));
    if (a->proof == TWI_ACCESS_CHECKED && !numbers_stay(p))
        return twi_format(ir->arena,
                          "accesses to %s are checked, which tells instances by number, and "
                          "these are no neighbours of one `parallel`",
                          name);
    return NULL;
}

static const char *value_fault(const pair *p, twi_id v) {
    const tw_ir *ir = p->ir;
    const twi_ins *i = twi_ins_of(ir, v);
    if (i->op == TWI_SERIAL)
        return "the scope has a serial region";
    for (unsigned k = 0; k < i->nfold; k++)
        if (p->both >> i->fold[k] & 1)
            return twi_format(ir->arena, "%s %s runs along axis %s", twi_op_row(i->op)->name,
                              twi_value_name(ir, v), axis_name(ir, i->fold[k]));
    if (i->op == TWI_DOT && (i->type.axes & p->both))
        return twi_format(ir->arena, "dot %s has axis %s", twi_value_name(ir, v),
                          axis_name(ir, i->type.axes >> p->slow & 1 ? p->slow : p->fast));
    if (i->op == TWI_IXVAL && speaks_of_bounds(p, i->attr))
        return twi_format(ir->arena, "%s speaks of their bounds", twi_value_name(ir, v));
    return twi_is_access(i->op) ? access_fault(p, v) : NULL;
}

const char *twi_join_fault(const tw_ir *ir, uint32_t par, unsigned slow, unsigned fast) {
    const pair p = {ir, par, slow, fast, UINT64_C(1) << slow | UINT64_C(1) << fast};
    if (slow == fast)
        return "an axis is not joined to itself";
    if (ir->merged)
        return "join beside merge is not built yet";
    const char *fault = axis_fault(&p, slow);
    fault = fault ? fault : axis_fault(&p, fast);
    fault = fault ? fault : bounds_fault(&p);
    const int64_t row = fault ? 0 : extent_of(ir, fast);
    if (row && extent_of(ir, slow) > MOST / row)
        fault = "more than 2^40 positions";
    const twi_region *r = &ir->region.at[par];
    for (uint32_t k = 0; k < r->body.n && !fault; k++)
        fault = value_fault(&p, r->body.at[k]);
    return fault;
}

/* ---- the rewrite -------------------------------------------------------------------------------
 */
typedef struct {
    twi_ix_map map; /* first: leaf() finds the rest behind it */
    pair p;
    tw_ir *ir;
    twi_ix high, low; /* what stands for the slow position and for the fast one */
} joiner;

static twi_ix leaf(twi_ix_map *map, const twi_ix_node *node) {
    const joiner *j = map->user;
    if (node->op == TWI_IX_AXIS && node->a == j->p.slow)
        return j->high;
    if (node->op == TWI_IX_AXIS && node->a == j->p.fast)
        return j->low;
    return twi_ix_leaf(j->ir, (twi_ix_op)node->op, node->a);
}

static twi_ix rewritten(joiner *j, twi_ix x) {
    return j->ir->ix.at[x].axes & j->p.both ? twi_ix_rewrite(j->ir, x, &j->map) : x;
}

static void rewrite_value(joiner *j, twi_id v) {
    tw_ir *ir = j->ir;
    twi_ins *i = &ir->ins.at[v];
    if (i->type.axes & j->p.both)
        i->type.axes = (i->type.axes & ~j->p.both) | UINT64_C(1) << j->p.fast;
    if (i->op == TWI_INDEX && (j->p.both >> i->attr & 1)) {
        i->attr = i->attr == j->p.slow ? j->high : j->low;
        i->op = TWI_IXVAL;
    } else if (i->op == TWI_IXVAL) {
        i->attr = rewritten(j, i->attr);
    } else if (twi_is_access(i->op)) {
        twi_access *a = &ir->access.at[i->attr];
        for (unsigned d = 0; d < ir->array.at[a->array].rank; d++)
            a->ix[d] = rewritten(j, a->ix[d]);
    }
}

/* The fast axis stands where the first of the two stood. */
static void replace_axes(joiner *j) {
    tw_ir *ir = j->ir;
    twi_region *r = &ir->region.at[j->p.par];
    twi_axis *slow = &ir->axis.at[j->p.slow], *fast = &ir->axis.at[j->p.fast];
    uint32_t n = 0;
    bool there = false;
    for (uint32_t k = 0; k < r->axes.n; k++) {
        const bool one = j->p.both >> r->axes.at[k] & 1;
        if (!one || !there)
            r->axes.at[n++] = one ? (uint8_t)j->p.fast : r->axes.at[k];
        there = there || one;
    }
    r->axes.n = n;
    fast->kind = slow->kind == TWI_AXIS_INDEX ? slow->kind : fast->kind;
    slow->region = 0;
}

static bool has_axis(const tw_ir *ir, uint32_t par, twi_sym name) {
    for (unsigned a = 1; a < ir->axis.n; a++)
        if (ir->axis.at[a].region == par && ir->axis.at[a].name == name)
            return true;
    return false;
}

/* Before the axes are replaced. */
static void name_joined(joiner *j) {
    tw_ir *ir = j->ir;
    twi_region *r = &ir->region.at[j->p.par];
    const char *slow = axis_name(ir, j->p.slow), *fast = axis_name(ir, j->p.fast);
    const char *text = r->joined ? twi_text(&ir->ctx->names, r->joined) : "";
    const char *name = twi_format(ir->arena, "%s_%s", slow, fast);
    text = twi_format(ir->arena, "%s%s%s %s", text, *text ? ", " : "", slow, fast);
    while (has_axis(ir, j->p.par, twi_intern_str(&ir->ctx->names, name)))
        name = twi_format(ir->arena, "%s_", name);
    r->joined = twi_intern_str(&ir->ctx->names, text);
    ir->axis.at[j->p.fast].name = twi_intern_str(&ir->ctx->names, name);
}

/* ---- arrays ---- */

/* Have all accesses of the array the joined axis's two positions in dimensions d and d + 1? */
static bool side_by_side(const joiner *j, uint32_t array, unsigned d) {
    const tw_ir *ir = j->ir;
    const twi_array *a = &ir->array.at[array];
    int64_t rows = 0, row = 0;
    bool any = false;
    if (!twi_ix_is_const(ir, a->dim[d], &rows) || !twi_ix_is_const(ir, a->dim[d + 1], &row) ||
        row != extent_of(ir, j->p.fast) || rows < extent_of(ir, j->p.slow))
        return false;
    for (uint32_t k = 1; k < ir->access.n; k++) {
        const twi_access *x = &ir->access.at[k];
        if (x->array != array)
            continue;
        any = true;
        if (x->gather[d] || x->gather[d + 1] || x->ix[d] != j->high || x->ix[d + 1] != j->low)
            return false;
    }
    return any;
}

static void remove_dimension(twi_ix *dim, uint8_t *gather, unsigned d, unsigned rank) {
    for (unsigned k = d; k + 1 < rank; k++) {
        dim[k] = dim[k + 1];
        if (gather)
            gather[k] = gather[k + 1];
    }
    dim[rank - 1] = 0;
    if (gather)
        gather[rank - 1] = 0;
}

/* Dimensions d and d + 1 become one, whose subscript is the joined position x. */
static void join_dimensions(joiner *j, uint32_t array, unsigned d, twi_ix x) {
    tw_ir *ir = j->ir;
    twi_array *a = &ir->array.at[array];
    if (!a->passed_rank) {
        a->passed_rank = a->rank;
        memcpy(a->passed, a->dim, sizeof a->passed);
    }
    a->dim[d + 1] = twi_ix_make(ir, TWI_IX_MUL, a->dim[d], a->dim[d + 1]);
    remove_dimension(a->dim, NULL, d, a->rank);
    for (uint32_t k = 1; k < ir->access.n; k++) {
        twi_access *at = &ir->access.at[k];
        if (at->array != array)
            continue;
        at->ix[d + 1] = x;
        remove_dimension(at->ix, at->gather, d, a->rank);
    }
    a->rank--;
}

bool opt_join(tw_ir *ir, uint32_t par, unsigned slow, unsigned fast) {
    joiner j = {.ir = ir, .p = {ir, par, slow, fast, UINT64_C(1) << slow | UINT64_C(1) << fast}};
    if (twi_join_fault(ir, par, slow, fast))
        return false;
    const twi_ix x = twi_ix_leaf(ir, TWI_IX_AXIS, fast), row = ir->axis.at[fast].hi;
    j.map = (twi_ix_map){leaf, &j, ir};
    j.high = twi_ix_make(ir, TWI_IX_DIV, x, row);
    j.low = twi_ix_make(ir, TWI_IX_MOD, x, row);
    for (uint32_t k = 0; k < ir->region.at[par].body.n; k++)
        rewrite_value(&j, ir->region.at[par].body.at[k]);
    for (uint32_t a = 1; a < ir->array.n; a++)
        for (unsigned d = 0; d + 1 < ir->array.at[a].rank; d++)
            if ((!ir->strided || ir->array.at[a].role == TWI_TEMP) && side_by_side(&j, a, d))
                join_dimensions(&j, a, d, x);
    ir->axis.at[fast].hi = twi_ix_make(ir, TWI_IX_MUL, ir->axis.at[slow].hi, row);
    name_joined(&j);
    replace_axes(&j);
    return true;
}
