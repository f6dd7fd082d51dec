/* SPDX-License-Identifier: Apache-2.0
 * V1: types, counts, and numbers that index tables.
 */
#include "loop/verify_state.h"

typedef struct {
    twi_check *c;
    const twi_func *f;
    twi_lid v;
    const twi_lins *i;
} item;

static const twi_lins *operand(const item *t, unsigned k) {
    return &t->f->ins.at[twi_larg(t->f, t->v, k)];
}

static bool wrong(const item *t, const char *why) {
    twi_check_fail(t->c, TWI_LOOP_E_V1, t->v, "%s (instruction %u): %s", twi_loop_op_name(t->i->op),
                   t->v, why);
    return false;
}

static bool not_built(const item *t, const char *what) {
    twi_check_fail(t->c, TWI_LOOP_E_NOT_BUILT, t->v, "%s is not built yet", what);
    return false;
}

static bool is_real(unsigned elem) { return elem == TW_F32 || elem == TW_F64; }
static bool is_number(unsigned elem) { return is_real(elem) || twi_is_int((tw_elem)elem); }
static bool is_elem(unsigned elem) {
    return elem != TW_NONE && elem < TW_ELEMS && elem != TW_F8E4M3 && elem != TW_F8E5M2;
}
static bool is_i64(const twi_lins *i) { return i->elem == TW_I64 && i->count == 1; }
static bool is_index(const twi_lins *i) {
    return (i->elem == TW_I64 || i->elem == TW_I32) && i->count == 1;
}

/* ---- elementwise ---- */

static bool fits_rule(unsigned rule, unsigned op, unsigned elem, const twi_lins *const *x,
                      unsigned n) {
    bool alike = true;
    for (unsigned k = 0; k < n; k++)
        alike = alike && x[k]->elem == elem;
    switch (rule) {
    case TWI_RULE_ARITH:
        return alike && is_number(elem);
    case TWI_RULE_FLOAT:
        return alike && is_real(elem) &&
               (elem == TW_F32 || twi_loop_row_of(op)->price != TWI_PRICE_FUNC);
    case TWI_RULE_INT:
        return alike && twi_is_int((tw_elem)elem);
    case TWI_RULE_BOOL:
        return alike && elem == TW_BOOL;
    case TWI_RULE_COMPARE:
        return elem == TW_BOOL && x[0]->elem == x[1]->elem &&
               (is_number(x[0]->elem) || x[0]->elem == TW_BOOL);
    case TWI_RULE_SELECT:
        return x[0]->elem == TW_BOOL && x[1]->elem == elem && x[2]->elem == elem;
    case TWI_RULE_CAST:
        return true;
    case TWI_RULE_BITS:
        return tw_elem_size((tw_elem)elem) == tw_elem_size((tw_elem)x[0]->elem);
    default:
        return false;
    }
}

static bool elementwise(const item *t) {
    const twi_loop_row *row = twi_loop_row_of(t->i->op);
    const bool legalized = t->i->op == TWI_BITCAST || t->i->op == TWI_SCALE;
    if (!row->built && !legalized)
        return not_built(t, row->name);
    if (t->i->nargs != row->arity)
        return wrong(t, "wrong number of operands");
    const twi_lins *x[3] = {NULL, NULL, NULL};
    for (unsigned k = 0; k < row->arity; k++) {
        x[k] = operand(t, k);
        if (x[k]->count != t->i->count)
            return wrong(t, "operands and result have different counts");
    }
    return fits_rule(row->rule, t->i->op, t->i->elem, x, row->arity) ||
           wrong(t, "types do not fit the operation");
}

/* ---- leaves, vectors, lanes ---- */

static bool leaf(const item *t) {
    const twi_lins *i = t->i;
    if (i->nargs)
        return wrong(t, "takes no operands");
    switch (i->op) {
    case TWI_L_LCONST:
        return i->attr < t->f->constant.n || wrong(t, "no such constant");
    case TWI_L_LSCALAR:
        return (i->attr > 0 && i->attr < t->c->loop->scalar.n && i->count == 1 &&
                t->c->loop->scalar.at[i->attr].elem == i->elem) ||
               wrong(t, "no such scalar of this type");
    case TWI_L_STRIDE: {
        uint32_t o = i->attr >> 4;
        return (is_i64(i) && o > 0 && o < t->f->object.n &&
                t->f->object.at[o].kind == TWI_OBJ_ARRAY &&
                (i->attr & 15u) < t->f->object.at[o].rank) ||
               wrong(t, "no such dimension of an array");
    }
    case TWI_L_TRIP:
        return (is_i64(i) && i->attr < 7) || wrong(t, "no such loop");
    case TWI_L_ID:
        return (is_index(i) &&
                (i->attr == TWI_LV_GRID || i->attr == TWI_LV_SUB || i->attr == TWI_LV_LANE)) ||
               wrong(t, "grid, sub or lane is wanted");
    case TWI_L_IOTA:
        return (i->elem == TW_I64 && t->f->explicit_lanes) ||
               wrong(t, "only with explicit lanes, i64");
    default:
        return true;
    }
}

static bool permutes(const item *t) {
    if (t->i->nargs < 1 || t->i->nargs > 2)
        return false;
    int64_t total = 0;
    for (unsigned k = 0; k < t->i->nargs; k++) {
        if (operand(t, k)->elem != t->i->elem)
            return false;
        total += operand(t, k)->count;
    }
    if (t->i->attr > t->f->ints.n || t->i->count > t->f->ints.n - t->i->attr)
        return false;
    for (uint32_t k = 0; k < t->i->count; k++)
        if (t->f->ints.at[t->i->attr + k] < 0 || t->f->ints.at[t->i->attr + k] >= total)
            return false;
    return true;
}

/* Bytes by fours into i32, bf16 by pairs or 16 of them into f32. */
static bool dots(const item *t) {
    const twi_lins *i = t->i;
    if (i->nargs != 3 || !t->f->explicit_lanes)
        return false;
    const twi_lins *a = operand(t, 0), *b = operand(t, 1), *c = operand(t, 2);
    const bool bytes = a->elem == TW_I8 && i->elem == TW_I32 && a->count == 4;
    const bool halves =
        a->elem == TW_BF16 && i->elem == TW_F32 && (a->count == 2 || a->count == 32);
    return (bytes || halves) && b->elem == a->elem && b->count == a->count * i->count &&
           c->elem == i->elem && c->count == i->count;
}

static bool vector(const item *t) {
    const twi_lins *i = t->i;
    const twi_lins *a = i->nargs ? operand(t, 0) : NULL;
    bool fits = a && a->elem == i->elem;
    switch (i->op) {
    case TWI_L_SPLAT:
        fits = fits && i->nargs == 1 && a->count == 1;
        break;
    case TWI_L_EXTRACT:
        fits = fits && i->nargs == 1 && i->count == 1 && i->attr < a->count;
        break;
    case TWI_L_PACK:
        fits = i->nargs == i->count;
        for (unsigned k = 0; k < i->nargs; k++)
            fits = fits && operand(t, k)->elem == i->elem && operand(t, k)->count == 1;
        break;
    case TWI_L_DOTS:
        fits = dots(t);
        break;
    default:
        fits = permutes(t);
        break;
    }
    return fits || wrong(t, "operands do not fit the result");
}

static bool lane_fold(const item *t, const twi_lins *a) {
    const twi_lins *i = t->i;
    unsigned merge = i->attr & 255u, stride = i->attr >> 8 & 255u, extent = i->attr >> 16;
    const twi_loop_row *row = twi_loop_elementwise(merge) ? twi_loop_row_of(merge) : NULL;
    if (!row || row->arity != 2 || !row->built || stride > 12 || extent < 1 || extent > 12)
        return wrong(t, "nothing that lanes can be combined with");
    const twi_lins *x[2] = {a, a};
    if (row->rule == TWI_RULE_COMPARE || !fits_rule(row->rule, merge, i->elem, x, 2))
        return wrong(t, "types do not fit the operation");
    if (t->f->explicit_lanes)
        return (stride == 0 && 1u << extent == a->count && i->count == 1) ||
               wrong(t, "a vector is folded as a whole, to one element");
    return (1u << (stride + extent) <= t->f->lanes && i->count == a->count) ||
           wrong(t, "more lanes than a subgroup has");
}

static bool lanes(const item *t) {
    const twi_lins *i = t->i;
    unsigned n = i->op == TWI_L_LANE_READ ? 2 : 1;
    if (i->nargs != n || operand(t, 0)->elem != i->elem)
        return wrong(t, "operands do not fit the result");
    const twi_lins *a = operand(t, 0);
    if (i->op == TWI_L_LANE_FOLD)
        return lane_fold(t, a);
    bool vectors = t->f->explicit_lanes;
    if (i->op == TWI_L_LANE_READ)
        return (is_index(operand(t, 1)) && i->count == (vectors ? 1 : a->count)) ||
               wrong(t, "a lane number of i64 or i32 is wanted");
    uint32_t limit = vectors ? a->count : t->f->lanes;
    if (i->op == TWI_L_LANE_SHIFT) {
        int64_t by = (int32_t)i->attr;
        return (i->count == a->count && by != 0 && by < (int64_t)limit && -by < (int64_t)limit) ||
               wrong(t, "lanes beyond those there are");
    }
    return (i->count == a->count && i->attr > 0 && i->attr < limit && (limit & (limit - 1)) == 0) ||
           wrong(t, "lanes beyond those there are");
}

/* ---- structure and memory ---- */

static bool structure(const item *t) {
    const twi_lins *i = t->i;
    switch (i->op) {
    case TWI_L_FOR:
        return (i->nargs == 2 && is_index(i) && operand(t, 0)->elem == i->elem &&
                operand(t, 1)->elem == i->elem && operand(t, 0)->count == 1 &&
                operand(t, 1)->count == 1 && i->attr > 0 && i->attr <= INT32_MAX) ||
               wrong(t, "bounds of the index's type, i64 or i32, and a positive step are wanted");
    case TWI_L_UNROLL:
        return (i->nargs == 0 && is_index(i)) || wrong(t, "an index of i64 or i32 is wanted");
    case TWI_L_IF:
        return (i->nargs == 1 && operand(t, 0)->elem == TW_BOOL && operand(t, 0)->count == 1 &&
                i->attr <= TWI_IF_EDGE) ||
               wrong(t, "a bool is wanted");
    case TWI_L_ASYNC_COMMIT:
    case TWI_L_ASYNC_WAIT:
        return i->nargs == 0 || wrong(t, "takes no operands");
    default:
        return i->attr <= TWI_SCOPE_GROUP || wrong(t, "no such scope");
    }
}

static const char *merge_fault(const twi_laccess *a, const twi_object *o, bool store) {
    const bool merges = a->merge == TWI_ADD || a->merge == TWI_MIN || a->merge == TWI_MAX;
    if (!store || !merges || o->kind != TWI_OBJ_ARRAY || o->role == TWI_IN)
        return "add, min and max merge into arrays that are stored";
    const bool whole = o->elem == TW_I32 || o->elem == TW_U32 || o->elem == TW_I64 ||
                       o->elem == TW_U64 || o->elem == TW_F32 || o->elem == TW_F64;
    return whole ? NULL : "atomics take numbers of 32 and 64 bits";
}

/* One instruction of the machine, which the load is a part of. */
static const char *async_fault(const item *t, const twi_laccess *a, const twi_object *o) {
    const twi_lid from = twi_larg(t->f, t->v, o->rank);
    const twi_lins *load = &t->f->ins.at[from];
    if (t->f->explicit_lanes || o->kind != TWI_OBJ_SHARED || a->merge || a->mask)
        return "workers copy into shared objects, all elements or none";
    if (load->op != TWI_L_LLOAD || t->f->access.at[load->attr].has_else ||
        t->f->object.at[t->f->access.at[load->attr].object].kind != TWI_OBJ_ARRAY)
        return "what is copied is a load of an array, without `else`";
    unsigned uses = 0;
    for (uint32_t k = 0; k < t->c->linked; k++)
        for (uint32_t n = 0; n < t->f->ins.at[t->c->order[k]].nargs; n++)
            uses += twi_larg(t->f, t->c->order[k], n) == from;
    if (uses != 1 || t->c->parent[from] != t->c->parent[t->v])
        return "its load stands in the same body, and nothing else uses it";
    return NULL;
}

static const char *access_fault(const item *t) {
    const twi_lins *i = t->i;
    if (i->attr == 0 || i->attr >= t->f->access.n)
        return "no such access";
    const twi_laccess *a = &t->f->access.at[i->attr];
    if (a->object == 0 || a->object >= t->f->object.n)
        return "no such object";
    const twi_object *o = &t->f->object.at[a->object];
    bool store = twi_loop_stores(i->op);
    unsigned n = o->rank + (store ? 1u : 0u) + (a->mask ? 1u : 0u) + (a->has_else ? 1u : 0u);
    if (i->nargs != n || (store && a->has_else) || (a->has_else && !a->mask) ||
        a->mask > TWI_MASK_BOOL)
        return "wrong number of operands";
    unsigned k = o->rank;
    const twi_lins *value = store ? operand(t, k++) : i;
    if (value->elem != o->elem || (o->count > 1 && value->count != o->count))
        return "the value is not of the object's type";
    if (value->count > 1 && o->count == 1 && a->dim >= o->rank)
        return "no dimension that the elements follow one another on";
    for (unsigned d = 0; d < o->rank; d++)
        if ((operand(t, d)->elem != TW_I64 && operand(t, d)->elem != TW_I32) ||
            (operand(t, d)->count != 1 && (o->count > 1 || operand(t, d)->count != value->count)))
            return "indices are i64 or i32, scalars or as many as the elements";
    if (a->mask) {
        const twi_lins *m = operand(t, k++);
        if (a->mask == TWI_MASK_COUNT
                ? !is_index(m)
                : m->elem != TW_BOOL || (m->count != 1 && m->count != value->count))
            return "the mask is a count of i64 or i32, or bools";
    }
    if (a->has_else && (operand(t, k)->elem != i->elem || operand(t, k)->count != i->count))
        return "the value outside is not of the result's type";
    if (i->op == TWI_L_ASYNC_COPY)
        return async_fault(t, a, o);
    if (a->merge)
        return merge_fault(a, o, store);
    return store && o->kind == TWI_OBJ_ARRAY && o->role == TWI_IN ? "an input is not stored" : NULL;
}

static bool instruction(const item *t) {
    const twi_lins *i = t->i;
    bool silent = i->op == TWI_L_IF || twi_loop_silent(i->op);
    if (silent ? i->count != 0 : i->count == 0 || i->count > 4096 || !is_elem(i->elem))
        return wrong(t, "no such result");
    if (i->fold >= 1u << 24)
        return wrong(t, "no such fold");
    if (twi_loop_elementwise(i->op))
        return elementwise(t);
    if (!twi_loop_row_of(i->op)->built)
        return not_built(t, twi_loop_op_name(i->op));
    if (i->op <= TWI_L_IF || (twi_loop_silent(i->op) && !twi_loop_stores(i->op)))
        return structure(t);
    if (i->op <= TWI_L_IOTA)
        return leaf(t);
    if (i->op <= TWI_L_PERMUTE)
        return vector(t);
    if (i->op >= TWI_L_LANE_FOLD && i->op <= TWI_L_LANE_SHIFT)
        return lanes(t);
    const char *fault = access_fault(t);
    return !fault || wrong(t, fault);
}

bool twi_check_types(twi_check *c) {
    for (uint32_t k = 0; k < c->linked; k++) {
        item t = {c, c->f, c->order[k], &c->f->ins.at[c->order[k]]};
        if (!instruction(&t))
            return false;
    }
    return true;
}

/* ---- objects ---- */

/* The same elements one after the other in other dimensions, which only a dense array has. */
static bool is_view(const twi_larray *a, const twi_object *o) {
    int64_t declared = 1, seen = 1;
    for (unsigned d = 0; d < a->rank; d++)
        declared *= a->extent[d];
    for (unsigned d = o->rank; d-- > 0; seen *= o->extent[d])
        if (o->stride[d] != seen || o->extent[d] < 0)
            return false;
    return !o->dynamic && o->rank && seen == declared;
}

static const char *layout_fault(const twi_object *o) {
    const int64_t limit = INT64_C(1) << 40;
    int64_t span = 1, size = 1;
    for (unsigned d = 0; d < o->rank; d++) {
        if (o->extent[d] < 0 || o->extent[d] > limit ||
            size > limit / (o->extent[d] ? o->extent[d] : 1))
            return "an extent that is negative or too large";
        size *= o->extent[d] ? o->extent[d] : 1;
        if (o->kind == TWI_OBJ_ARRAY)
            continue;
        if (o->dynamic || o->stride[d] < 0 || o->stride[d] > limit ||
            (o->stride[d] && o->extent[d] > limit / o->stride[d]))
            return "a stride that is negative, too large or not known";
        span += o->extent[d] > 0 ? (o->extent[d] - 1) * o->stride[d] : 0;
    }
    return span > INT64_C(1) << 28 ? "more than 2^28 elements in an object of a group" : NULL;
}

static const char *swizzle_fault(const twi_check *c, const twi_object *o) {
    if (o->kind != TWI_OBJ_SHARED || c->f->explicit_lanes)
        return "only shared objects of implicit lanes are swizzled";
    if (o->rank < 2 || o->stride[o->rank - 1u] != 1)
        return "what is swizzled has rows: two dimensions, the last one's stride 1";
    return twi_swizzle_fault(o->swizzle, (int64_t)tw_elem_size((tw_elem)o->elem),
                             o->extent[o->rank - 1u]);
}

static const char *object_fault(const twi_check *c, const twi_object *o) {
    if (o->kind < TWI_OBJ_ARRAY || o->kind > TWI_OBJ_SCRATCH || o->rank > TWI_MAX_RANK ||
        !is_elem(o->elem) || o->count == 0)
        return "malformed";
    if (o->count > 1 && (o->kind == TWI_OBJ_ARRAY || o->kind == TWI_OBJ_SHARED))
        return "arrays and shared objects are addressed by single elements";
    if (o->kind == TWI_OBJ_ARRAY) {
        if (o->array == 0 || o->array >= c->loop->array.n)
            return "no such argument";
        const twi_larray *a = &c->loop->array.at[o->array];
        const bool same =
            a->rank == o->rank && memcmp(a->extent, o->extent, sizeof a->extent[0] * a->rank) == 0;
        if (a->elem != o->elem || a->role != o->role || (!same && !is_view(a, o)))
            return "not as the argument was declared";
    }
    const char *fault = layout_fault(o);
    return fault || !o->swizzle.span ? fault : swizzle_fault(c, o);
}

bool twi_check_objects(twi_check *c) {
    for (uint32_t k = 1; k < c->f->object.n; k++) {
        const char *fault = object_fault(c, &c->f->object.at[k]);
        if (fault) {
            twi_check_fail(c, TWI_LOOP_E_V1, 0, "object %u: %s", k, fault);
            return false;
        }
    }
    return true;
}
