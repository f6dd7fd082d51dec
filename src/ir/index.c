/* SPDX-License-Identifier: Apache-2.0
 * Index expressions: hash-consed nodes that fold while they are made, so that equal ids mean equal
 * expressions and a constant is always a CONST node. Depth is bounded, so walks may recurse.
 */
#include "base/hash.h"
#include "ir/ir.h"

/* ---- arithmetic without overflow ---- */
static bool add_fits(int64_t a, int64_t b) {
    return b >= 0 ? a <= INT64_MAX - b : a >= INT64_MIN - b;
}

static bool mul_fits(int64_t a, int64_t b) {
    if (a == 0 || b == 0)
        return true;
    if (a == -1)
        return b != INT64_MIN;
    if (b == -1)
        return a != INT64_MIN;
    if (b > 0)
        return a <= INT64_MAX / b && a >= INT64_MIN / b;
    return a <= INT64_MIN / b && a >= INT64_MAX / b;
}

static int64_t wrap(uint64_t v) {
    return v <= INT64_MAX ? (int64_t)v : (int64_t)(v - (uint64_t)INT64_MAX - 1u) + INT64_MIN;
}

static int64_t floor_div(int64_t a, int64_t b) {
    if (b == 0)
        return 0;
    if (b == -1)
        return wrap(0u - (uint64_t)a);
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

bool twi_ix_overflows(twi_ix_op op, int64_t a, int64_t b) {
    if (op == TWI_IX_ADD)
        return !add_fits(a, b);
    if (op == TWI_IX_SUB)
        return b == INT64_MIN ? a >= 0 : !add_fits(a, -b);
    if (op == TWI_IX_MUL)
        return !mul_fits(a, b);
    return op == TWI_IX_DIV && a == INT64_MIN && b == -1;
}

int64_t twi_ix_apply(twi_ix_op op, int64_t a, int64_t b) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    if (op == TWI_IX_ADD)
        return wrap(x + y);
    if (op == TWI_IX_SUB)
        return wrap(x - y);
    if (op == TWI_IX_MUL)
        return wrap(x * y);
    if (op == TWI_IX_DIV)
        return floor_div(a, b);
    if (op == TWI_IX_MOD)
        return b == 0 ? a : b == -1 ? 0 : wrap(x - y * (uint64_t)floor_div(a, b));
    if (op == TWI_IX_MIN)
        return a < b ? a : b;
    return a > b ? a : b; /* MAX */
}

/* ---- nodes ---- */
static uint64_t node_hash(const twi_ix_node *n) {
    uint64_t h = twi_hash_mix(n->op, n->a);
    return twi_hash_mix(twi_hash_mix(h, n->b), (uint64_t)n->k);
}

static void put_slot(tw_ir *ir, uint32_t id) {
    uint32_t at = (uint32_t)node_hash(&ir->ix.at[id]) & (ir->ix_slots - 1u);
    while (ir->ix_slot[at] != 0)
        at = (at + 1u) & (ir->ix_slots - 1u);
    ir->ix_slot[at] = id;
}

static void grow_slots(tw_ir *ir) {
    ir->ix_slots = ir->ix_slots ? ir->ix_slots * 2u : 64u;
    ir->ix_slot = TWI_NEW_N(ir->arena, uint32_t, ir->ix_slots);
    for (uint32_t id = 1; id < ir->ix.n; id++)
        put_slot(ir, id);
}

static twi_ix intern(tw_ir *ir, twi_ix_node node) {
    if (ir->ix.n == 0)
        twi_push(ir->arena, &ir->ix, (twi_ix_node){0});
    if ((ir->ix.n + 1u) * 2u > ir->ix_slots)
        grow_slots(ir);
    uint32_t at = (uint32_t)node_hash(&node) & (ir->ix_slots - 1u);
    for (uint32_t id; (id = ir->ix_slot[at]) != 0; at = (at + 1u) & (ir->ix_slots - 1u)) {
        const twi_ix_node *o = &ir->ix.at[id];
        if (o->op == node.op && o->a == node.a && o->b == node.b && o->k == node.k)
            return id;
    }
    twi_push(ir->arena, &ir->ix, node);
    ir->ix_slot[at] = ir->ix.n - 1u;
    return ir->ix.n - 1u;
}

twi_ix twi_ix_const(tw_ir *ir, int64_t k) {
    return intern(ir, (twi_ix_node){.op = TWI_IX_CONST, .k = k, .depth = 1});
}

twi_ix twi_ix_leaf(tw_ir *ir, twi_ix_op op, uint32_t id) {
    twi_ix_node n = {.op = (uint8_t)op, .a = id, .depth = 1};
    if (op == TWI_IX_AXIS || op == TWI_IX_LO || op == TWI_IX_HI)
        n.axes = UINT64_C(1) << id;
    if (op == TWI_IX_AXIS)
        n.at = n.axes;
    n.loaded = op == TWI_IX_VALUE;
    if (op == TWI_IX_DIM && ir->dim.at[id].known)
        return twi_ix_const(ir, ir->dim.at[id].value);
    return intern(ir, n);
}

bool twi_ix_is_const(const tw_ir *ir, twi_ix x, int64_t *k) {
    if (x == 0 || ir->ix.at[x].op != TWI_IX_CONST)
        return false;
    *k = ir->ix.at[x].k;
    return true;
}

/* What a constant operand makes of the expression; 0: nothing. Exact for all values of the other.
 */
static twi_ix fold_one(tw_ir *ir, twi_ix_op op, twi_ix a, twi_ix b) {
    int64_t va = 0, vb = 0;
    bool ka = twi_ix_is_const(ir, a, &va), kb = twi_ix_is_const(ir, b, &vb);
    if (kb && vb == 0 && (op == TWI_IX_ADD || op == TWI_IX_SUB))
        return a;
    if (ka && va == 0 && op == TWI_IX_ADD)
        return b;
    if (op == TWI_IX_MUL && ((ka && va == 0) || (kb && vb == 0)))
        return twi_ix_const(ir, 0);
    if (kb && vb == 1 && (op == TWI_IX_MUL || op == TWI_IX_DIV))
        return a;
    if (ka && va == 1 && op == TWI_IX_MUL)
        return b;
    if (kb && vb == 1 && op == TWI_IX_MOD)
        return twi_ix_const(ir, 0);
    if (a == b && (op == TWI_IX_MIN || op == TWI_IX_MAX))
        return a;
    if (a == b && (op == TWI_IX_SUB || op == TWI_IX_MOD))
        return op == TWI_IX_SUB ? twi_ix_const(ir, 0) : 0; /* x % x is x where x is 0: 0 as well */
    return 0;
}

twi_ix twi_ix_make(tw_ir *ir, twi_ix_op op, twi_ix a, twi_ix b) {
    if (a == 0 || b == 0)
        return 0;
    int64_t va = 0, vb = 0;
    bool ka = twi_ix_is_const(ir, a, &va), kb = twi_ix_is_const(ir, b, &vb);
    if (ka && kb && !twi_ix_overflows(op, va, vb))
        return twi_ix_const(ir, twi_ix_apply(op, va, vb));
    twi_ix folded = fold_one(ir, op, a, b);
    if (folded)
        return folded;
    const twi_ix_node *x = &ir->ix.at[a], *y = &ir->ix.at[b];
    uint16_t deeper = (uint16_t)((x->depth > y->depth ? x->depth : y->depth) + 1);
    if (deeper > TWI_IX_DEPTH)
        return 0;
    return intern(ir, (twi_ix_node){.op = (uint8_t)op,
                                    .a = a,
                                    .b = b,
                                    .axes = x->axes | y->axes,
                                    .at = x->at | y->at,
                                    .loaded = x->loaded || y->loaded,
                                    .depth = deeper});
}

twi_ix twi_ix_rewrite(const tw_ir *from, twi_ix x, twi_ix_map *map) {
    if (x == 0)
        return 0;
    const twi_ix_node n = from->ix.at[x]; /* a copy: `to` may be `from` */
    if (n.op == TWI_IX_CONST)
        return twi_ix_const(map->to, n.k);
    if (n.op < TWI_IX_ADD)
        return map->leaf(map, &n);
    twi_ix a = twi_ix_rewrite(from, n.a, map), b = twi_ix_rewrite(from, n.b, map);
    return twi_ix_make(map->to, (twi_ix_op)n.op, a, b);
}

int64_t twi_ix_eval(const tw_ir *ir, twi_ix x, int64_t (*leaf)(void *user, const twi_ix_node *node),
                    void *user) {
    const twi_ix_node *n = &ir->ix.at[x];
    if (n->op == TWI_IX_CONST)
        return n->k;
    if (n->op < TWI_IX_ADD)
        return leaf(user, n);
    int64_t a = twi_ix_eval(ir, n->a, leaf, user), b = twi_ix_eval(ir, n->b, leaf, user);
    return twi_ix_apply((twi_ix_op)n->op, a, b);
}

/* ---- affine form ---- */
static void add_term(twi_arena *arena, twi_affine *f, twi_ix atom, int64_t coef) {
    uint32_t k = 0;
    while (k < f->n && f->term[k].atom < atom)
        k++;
    if (k < f->n && f->term[k].atom == atom) {
        f->term[k].coef = twi_ix_apply(TWI_IX_ADD, f->term[k].coef, coef);
        if (f->term[k].coef == 0) {
            f->n--;
            memmove(f->term + k, f->term + k + 1, (f->n - k) * sizeof *f->term);
        }
        return;
    }
    if ((f->n & (f->n + 1u)) == 0) { /* capacity is 2^j - 1 terms */
        twi_term *more = TWI_NEW_N(arena, twi_term, f->n * 2u + 1u);
        if (f->n)
            memcpy(more, f->term, f->n * sizeof *more);
        f->term = more;
    }
    memmove(f->term + k + 1, f->term + k, (f->n - k) * sizeof *f->term);
    f->term[k] = (twi_term){atom, coef};
    f->n++;
}

static void add_affine(const tw_ir *ir, twi_arena *arena, twi_affine *f, twi_ix x, int64_t times) {
    const twi_ix_node *n = &ir->ix.at[x];
    int64_t k;
    if (n->op == TWI_IX_CONST) {
        f->constant = twi_ix_apply(TWI_IX_ADD, f->constant, twi_ix_apply(TWI_IX_MUL, n->k, times));
    } else if (n->op == TWI_IX_ADD || n->op == TWI_IX_SUB) {
        int64_t second = n->op == TWI_IX_ADD ? times : twi_ix_apply(TWI_IX_SUB, 0, times);
        add_affine(ir, arena, f, n->a, times);
        add_affine(ir, arena, f, n->b, second);
    } else if (n->op == TWI_IX_MUL && twi_ix_is_const(ir, n->b, &k)) {
        add_affine(ir, arena, f, n->a, twi_ix_apply(TWI_IX_MUL, times, k));
    } else if (n->op == TWI_IX_MUL && twi_ix_is_const(ir, n->a, &k)) {
        add_affine(ir, arena, f, n->b, twi_ix_apply(TWI_IX_MUL, times, k));
    } else if (times != 0) {
        add_term(arena, f, x, times);
    }
}

twi_affine twi_ix_affine(const tw_ir *ir, twi_arena *arena, twi_ix x) {
    twi_affine f = {0};
    if (x)
        add_affine(ir, arena, &f, x, 1);
    return f;
}

/* ---- intervals ---- */
typedef struct {
    int64_t lo, hi;
} span;

static bool range_of(const tw_ir *ir, twi_ix x, span *s, int depth);

static bool axis_range(const tw_ir *ir, const twi_ix_node *n, span *s, int depth) {
    const twi_axis *a = &ir->axis.at[n->a];
    span lo = {0, 0}, hi;
    if ((a->lo && !range_of(ir, a->lo, &lo, depth + 1)) || !range_of(ir, a->hi, &hi, depth + 1))
        return false;
    *s =
        (span){lo.lo, hi.hi > lo.lo ? hi.hi - 1 : lo.lo}; /* an empty axis has no position at all */
    if (n->op == TWI_IX_HI)
        *s = (span){lo.lo + 1, s->hi + 1};
    return true;
}

static bool corners(twi_ix_op op, span a, span b, span *s) {
    int64_t x[2] = {a.lo, a.hi}, y[2] = {b.lo, b.hi};
    *s = (span){INT64_MAX, INT64_MIN};
    for (int k = 0; k < 4; k++) {
        if (twi_ix_overflows(op, x[k & 1], y[k >> 1]))
            return false;
        int64_t v = twi_ix_apply(op, x[k & 1], y[k >> 1]);
        s->lo = v < s->lo ? v : s->lo;
        s->hi = v > s->hi ? v : s->hi;
    }
    return true;
}

static bool div_range(twi_ix_op op, span a, span b, span *s) {
    if (b.lo <= 0)
        return false; /* by zero or less: nobody asks */
    if (op == TWI_IX_DIV)
        return corners(op, a, b, s);
    if (b.lo == b.hi && floor_div(a.lo, b.lo) == floor_div(a.hi, b.lo)) {
        *s = (span){twi_ix_apply(op, a.lo, b.lo), twi_ix_apply(op, a.hi, b.lo)};
        return true;
    }
    *s = (span){0, b.hi - 1};
    if (a.lo >= 0 && a.hi < s->hi)
        s->hi = a.hi;
    return true;
}

/* Sum of the affine form's terms: what cancels cancels first. */
static bool sum_range(const tw_ir *ir, const twi_affine *f, span *s, int depth) {
    *s = (span){f->constant, f->constant};
    for (uint32_t k = 0; k < f->n; k++) {
        span t, c = {f->term[k].coef, f->term[k].coef};
        if (!range_of(ir, f->term[k].atom, &t, depth + 1) || !corners(TWI_IX_MUL, t, c, &t) ||
            twi_ix_overflows(TWI_IX_ADD, s->lo, t.lo) || twi_ix_overflows(TWI_IX_ADD, s->hi, t.hi))
            return false;
        s->lo += t.lo;
        s->hi += t.hi;
    }
    return true;
}

static bool range_of(const tw_ir *ir, twi_ix x, span *s, int depth) {
    const twi_ix_node *n = &ir->ix.at[x];
    if (depth > TWI_IX_DEPTH || n->op == TWI_IX_DIM || n->op == TWI_IX_VALUE ||
        n->op == TWI_IX_NONE)
        return false;
    if (n->op == TWI_IX_CONST) {
        *s = (span){n->k, n->k};
        return true;
    }
    if (n->op < TWI_IX_ADD)
        return axis_range(ir, n, s, depth);
    if (n->op == TWI_IX_ADD || n->op == TWI_IX_SUB) {
        twi_mark mark = twi_arena_mark(ir->arena);
        twi_affine f = twi_ix_affine(ir, ir->arena, x);
        bool known = sum_range(ir, &f, s, depth);
        twi_arena_reset(ir->arena, mark);
        return known;
    }
    span a, b;
    if (!range_of(ir, n->a, &a, depth + 1) || !range_of(ir, n->b, &b, depth + 1))
        return false;
    if (n->op == TWI_IX_DIV || n->op == TWI_IX_MOD)
        return div_range((twi_ix_op)n->op, a, b, s);
    return corners((twi_ix_op)n->op, a, b, s); /* MUL, MIN, MAX: extremes lie in corners */
}

bool twi_ix_is_multiple(const tw_ir *ir, twi_ix x, int64_t n) {
    const twi_ix_node *node = &ir->ix.at[x];
    switch ((twi_ix_op)node->op) {
    case TWI_IX_CONST:
        return node->k % n == 0;
    case TWI_IX_LO:
    case TWI_IX_HI: {
        const twi_axis *a = &ir->axis.at[node->a];
        return a->block % n == 0 && a->block > 0 && twi_ix_is_multiple(ir, a->lo, n) &&
               (node->op == TWI_IX_LO || twi_ix_is_multiple(ir, a->hi, n));
    }
    case TWI_IX_MUL:
        return twi_ix_is_multiple(ir, node->a, n) || twi_ix_is_multiple(ir, node->b, n);
    case TWI_IX_ADD:
    case TWI_IX_SUB:
    case TWI_IX_MIN:
    case TWI_IX_MAX:
        return twi_ix_is_multiple(ir, node->a, n) && twi_ix_is_multiple(ir, node->b, n);
    case TWI_IX_NONE:
    case TWI_IX_DIM:
    case TWI_IX_AXIS:
    case TWI_IX_VALUE:
    case TWI_IX_DIV:
    case TWI_IX_MOD:
    default:
        return false;
    }
}

bool twi_ix_range(const tw_ir *ir, twi_ix x, int64_t *least, int64_t *most) {
    span s;
    if (x == 0 || !range_of(ir, x, &s, 0))
        return false;
    *least = s.lo;
    *most = s.hi;
    return true;
}

bool twi_is_tile_axis(const tw_ir *ir, unsigned axis) {
    const twi_axis *a = &ir->axis.at[axis];
    return a->kind == TWI_AXIS_FULL || a->kind == TWI_AXIS_BLOCK ||
           (a->kind == TWI_AXIS_STEP && a->block > 0);
}

uint64_t twi_tile_axes(const tw_ir *ir, uint64_t axes) {
    uint64_t tile = 0;
    for (unsigned a = 1; a < ir->axis.n && a < TWI_MAX_AXES; a++)
        if ((axes >> a & 1u) && twi_is_tile_axis(ir, a))
            tile |= UINT64_C(1) << a;
    return tile;
}

bool twi_is_loaded_axis(const tw_ir *ir, unsigned axis) {
    const twi_axis *a = &ir->axis.at[axis];
    return ir->ix.at[a->lo].loaded || ir->ix.at[a->hi].loaded;
}

void twi_ix_values(const tw_ir *ir, twi_ix x, void (*each)(void *user, twi_id v), void *user) {
    const twi_ix_node *n = &ir->ix.at[x];
    if (!n->loaded)
        return;
    if (n->op == TWI_IX_VALUE) {
        each(user, n->a);
        return;
    }
    twi_ix_values(ir, n->a, each, user);
    twi_ix_values(ir, n->b, each, user);
}
