/* SPDX-License-Identifier: Apache-2.0
 * Loads, stores and atomic operations, with the writer map: an element may be written by one
 * instance of a scope only, and once by each execution of a store. Atomic additions of floats are
 * gathered by element until their scope ends; other atomic operations give one value in any order.
 */
#include "oracle/eval.h"
#include <math.h>

/* base + sum of coefficient * position along the tile's axes; else evaluated element by element. */
typedef struct {
    bool plain;
    int64_t base, coef[TWI_TILE_AXES];
} linear;

static bool flat(const linear *x, unsigned n) {
    for (unsigned k = 0; k < n; k++)
        if (x->coef[k] != 0)
            return false;
    return true;
}

static linear linear_of(twi_oracle *o, twi_ix x, const twi_tile *over) {
    const twi_ix_node *node = &o->ir->ix.at[x];
    linear l = {.plain = true}, a, b;
    if (node->op == TWI_IX_AXIS && (o->tile_axes >> node->a & 1u) != 0) {
        for (unsigned k = 0; k < over->n; k++)
            if (over->axis[k] == node->a) {
                l.coef[k] = 1;
                l.base = o->axis[node->a].lo;
                return l;
            }
        twi_fail(o, "an access uses an axis that its value lacks");
        return l;
    }
    if (node->op < TWI_IX_ADD) {
        l.base = twi_index(o, x, NULL);
        return l;
    }
    a = linear_of(o, node->a, over);
    b = linear_of(o, node->b, over);
    if (!a.plain || !b.plain) {
        l.plain = false;
        return l;
    }
    bool fa = flat(&a, over->n), fb = flat(&b, over->n);
    if (fa && fb) {
        l.base = twi_index(o, x, NULL);
        return l;
    }
    int64_t ka = 1, kb = node->op == TWI_IX_SUB ? -1 : 1;
    if (node->op == TWI_IX_MUL && (fa || fb)) {
        ka = fb ? b.base : 0;
        kb = fb ? 0 : a.base;
    } else if (node->op != TWI_IX_ADD && node->op != TWI_IX_SUB) {
        l.plain = false;
        return l;
    }
    l.base = ka * a.base + kb * b.base;
    for (unsigned k = 0; k < over->n; k++)
        l.coef[k] = ka * a.coef[k] + kb * b.coef[k];
    return l;
}

typedef struct {
    const twi_access *access;
    const twi_array_state *array;
    linear dim[TWI_MAX_RANK];
    const twi_tile *gathered[TWI_MAX_RANK]; /* or the tile of the subscript, .. */
    unsigned offset[TWI_MAX_RANK];          /* .. at this offset of the walk */
    int64_t position[TWI_MAX_AXES];
    int64_t index[TWI_MAX_RANK]; /* of the element last placed */
} place;

/* The walk over `over` has its other offsets already. */
static bool place_begin(twi_oracle *o, place *p, twi_id v, const twi_tile *over, twi_walk *w) {
    p->access = &o->ir->access.at[o->ir->ins.at[v].attr];
    p->array = &o->array[p->access->array];
    for (unsigned d = 0; d < p->array->rank; d++) {
        if (p->access->gather[d] == 0) {
            p->dim[d] = linear_of(o, p->access->ix[d], over);
            continue;
        }
        p->gathered[d] = &o->tile[twi_gathered(o->ir, v, d)];
        p->offset[d] = w->k;
        twi_walk_add(w, over, p->gathered[d]);
    }
    return o->error == NULL;
}

/* A gathered subscript of the walk's element; what is undecided ends the run. */
static int64_t gathered(twi_oracle *o, const place *p, unsigned d, const twi_walk *w) {
    const twi_tile *t = p->gathered[d];
    twi_form x = twi_tile_get(t, (size_t)w->off[p->offset[d]]);
    if (x.kind != TWI_EXACT)
        twi_fail(o, "a subscript of %s depends on a value that rounding leaves undecided",
                 twi_text(&o->ir->ctx->names, o->ir->array.at[p->access->array].name));
    return twi_int_of((tw_elem)t->elem, x.bits);
}

/* Outside by a checked index: the least instance counts. False: the program promised better. */
static bool offend(twi_oracle *o, const place *p) {
    if (p->access->proof != TWI_ACCESS_CHECKED)
        return false;
    if (o->offending < 0 || o->number < o->offending)
        o->offending = o->number;
    return true;
}

/* Flat position of the walk's element; false: outside the array. */
static bool place_of(twi_oracle *o, place *p, const twi_walk *w, const twi_tile *over,
                     size_t *out) {
    int64_t at = 0;
    bool inside = true;
    for (unsigned d = 0; d < p->array->rank; d++) {
        const linear *l = &p->dim[d];
        int64_t x = l->base;
        if (p->gathered[d]) {
            x = gathered(o, p, d, w);
        } else if (l->plain) {
            for (unsigned k = 0; k < w->n; k++)
                x += l->coef[k] * w->at[k];
        } else {
            for (unsigned k = 0; k < w->n; k++)
                p->position[over->axis[k]] = o->axis[over->axis[k]].lo + w->at[k];
            x = twi_index(o, p->access->ix[d], p->position);
        }
        inside = inside && x >= 0 && x < p->array->extent[d];
        p->index[d] = x;
        at = inside ? at * p->array->extent[d] + x : 0;
    }
    *out = (size_t)at;
    return inside;
}

/* Do all positions of the tile lie inside, and move by steps? Then the flat position is one too. */
static bool place_all(const place *p, const twi_tile *over, int64_t *start, int64_t *step) {
    int64_t stride = 1;
    *start = 0;
    for (unsigned k = 0; k < over->n; k++)
        step[k] = 0;
    for (unsigned d = p->array->rank; d-- > 0;) {
        const linear *l = &p->dim[d];
        int64_t least = l->base, most = l->base;
        for (unsigned k = 0; k < over->n; k++) {
            int64_t reach = l->coef[k] * (over->extent[k] - 1);
            least += reach < 0 ? reach : 0;
            most += reach > 0 ? reach : 0;
            step[k] += l->coef[k] * stride;
        }
        if (p->gathered[d] || !l->plain || least < 0 || most >= p->array->extent[d])
            return false;
        *start += l->base * stride;
        stride *= p->array->extent[d];
    }
    return true;
}

static void fail_at(twi_oracle *o, const place *p, const char *what) {
    twi_sb sb;
    twi_sb_init(&sb, o->arena);
    for (unsigned d = 0; d < p->array->rank; d++)
        twi_sb_printf(&sb, "%s%lld", d ? ", " : "", (long long)p->index[d]);
    twi_fail(o, "%s[%s] %s", twi_text(&o->ir->ctx->names, o->ir->array.at[p->access->array].name),
             twi_sb_text(&sb), what);
}

static uint64_t stored_bits(const twi_array_state *a, size_t k) {
    return a->raw ? twi_load_bits((tw_elem)a->elem, a->raw, k) : a->bits[k];
}

/* An input read inside its ends. */
static void load_plain(twi_tile *t, const twi_array_state *a, twi_walk *w, int64_t start,
                       const int64_t *step) {
    w->k = 1;
    w->off[0] = start;
    for (unsigned d = 0; d < w->n; d++)
        w->step[0][d] = step[d];
    for (size_t k = 0; w->left > 0; k++, twi_walk_next(w))
        t->bits[k] =
            twi_widen((tw_elem)a->elem, twi_load_bits((tw_elem)a->elem, a->raw, (size_t)w->off[0]));
}

void twi_eval_load(twi_oracle *o, twi_id v) {
    const twi_ins *ins = &o->ir->ins.at[v];
    twi_tile *t = &o->tile[v];
    place p = {0};
    twi_walk w;
    const twi_tile *outside = twi_plain_args(o->ir, v) != 0 ? &o->tile[twi_arg(o->ir, v, 0)] : NULL;
    tw_elem elem = (tw_elem)ins->type.elem;
    twi_form none = twi_form_exact(elem, twi_is_float(elem) ? twi_bits_of_double(elem, NAN) : 0);
    twi_walk_begin(&w, t);
    if (outside)
        twi_walk_add(&w, t, outside);
    if (!place_begin(o, &p, v, t, &w))
        return;
    const twi_array_state *a = p.array;
    int64_t start, step[TWI_TILE_AXES] = {0};
    if (!t->bounded && !a->writer && t->total != 0 && place_all(&p, t, &start, step)) {
        load_plain(t, a, &w, start, step);
        return;
    }
    for (size_t k = 0; w.left > 0 && !o->error; k++, twi_walk_next(&w)) {
        size_t at;
        twi_form x;
        if (!place_of(o, &p, &w, t, &at)) {
            if (!outside && !offend(o, &p)) {
                fail_at(o, &p, "is read, outside the array");
                return;
            }
            x = outside ? twi_tile_get(outside, (size_t)w.off[0]) : none;
            if (!t->bounded) {
                t->bits[k] = x.bits;
                continue;
            }
        } else {
            if (a->writer && a->writer[at] == 0) {
                fail_at(o, &p, "is read but was never written");
                return;
            }
            if (!t->bounded) {
                t->bits[k] = twi_widen((tw_elem)a->elem, stored_bits(a, at));
                continue;
            }
            x = a->bounded ? twi_el_form(&a->el[at], a->pool.at)
                           : twi_form_exact((tw_elem)t->elem,
                                            twi_widen((tw_elem)a->elem, stored_bits(a, at)));
        }
        twi_tile_put(o, t, k, &x);
    }
}

/* Axes of tiles that an index expression moves along. */
static uint64_t axes_of(const twi_oracle *o, twi_ix x) {
    const twi_ix_node *node = &o->ir->ix.at[x];
    if (node->op == TWI_IX_AXIS)
        return (UINT64_C(1) << node->a) & o->tile_axes;
    return node->op < TWI_IX_ADD ? 0 : axes_of(o, node->a) | axes_of(o, node->b);
}

static bool claim(twi_oracle *o, const place *p, size_t at) {
    const twi_array_state *a = p->array;
    if (a->stamp[at] == o->store) {
        fail_at(o, p, "is written twice by one store");
        return false;
    }
    if (a->writer[at] >= o->first_instance && a->writer[at] != o->instance) {
        fail_at(o, p, "is written by two instances");
        return false;
    }
    a->stamp[at] = o->store;
    a->writer[at] = o->instance;
    return true;
}

static void put_element(twi_oracle *o, twi_array_state *a, size_t at, twi_form x,
                        const twi_form *when) {
    if (when->kind != TWI_EXACT) { /* undecided: the old value or the new one */
        twi_form old = a->writer[at] != 0 ? twi_el_form(&a->el[at], a->pool.at) : twi_form_any(0),
                 y = x;
        if (when->v != 0.0)
            twi_form_hull(twi_value_elem((tw_elem)a->elem), &y, &old, &x);
        else
            twi_form_hull(twi_value_elem((tw_elem)a->elem), &old, &y, &x);
    }
    twi_form y = x;
    if (twi_is_float((tw_elem)a->elem) && a->elem != TW_F64)
        twi_form_narrow((tw_elem)a->elem, &x, &y);
    twi_el *e = &a->el[at];
    *e = (twi_el){y.v, y.lo, y.hi, twi_form_radius(&y), y.bits, 0, 0, y.kind, y.flags};
    if (y.kind == TWI_RANGE && (y.flags & TWI_SET) != 0) {
        e->off = a->pool.n;
        e->n = y.n;
        e->r = INFINITY;
        for (uint32_t k = 0; k < y.n; k++)
            twi_push(o->arena, &a->pool, y.part[k]);
    }
}

/* ---- atomic operations ---- */
static twi_form alone(const twi_form *x) { /* symbols mean nothing beyond an instance */
    twi_form y = *x;
    if (y.kind == TWI_RANGE && (y.flags & TWI_SET) == 0) {
        y.r = twi_form_radius(x);
        y.n = 0;
    }
    return y;
}

static void add_loosely(twi_oracle *o, twi_array_state *a, size_t at, twi_form x,
                        const twi_form *when) {
    tw_elem elem = (tw_elem)a->elem;
    twi_form old = twi_el_form(&a->el[at], a->pool.at);
    if (!a->adding)
        a->adding = TWI_NEW_N(o->arena, twi_adding *, a->total + 1);
    if (!a->adding[at]) {
        a->adding[at] = twi_adding_of(o->arena, elem);
        twi_adding_put(a->adding[at], &old);
    }
    if (when->kind != TWI_EXACT) { /* undecided: the term or nothing */
        twi_form zero = twi_form_exact(elem, 0), y = x;
        twi_form_hull(elem, &y, &zero, &x);
    }
    twi_adding_put(a->adding[at], &x);
}

static void set_element(twi_array_state *a, size_t at, const twi_form *y) {
    a->el[at] = (twi_el){y->v, y->lo, y->hi, twi_form_radius(y), y->bits, 0, 0, y->kind, y->flags};
    if (y->kind == TWI_RANGE && (y->flags & TWI_SET) != 0) {
        a->el[at].flags &= (uint8_t)~TWI_SET; /* its ends are enough */
        a->el[at].r = INFINITY;
    }
}

/* x: the term; `when` is not known to be false. */
static void put_atomic(twi_oracle *o, const twi_access *access, twi_array_state *a, size_t at,
                       twi_form x, const twi_form *when) {
    tw_elem elem = (tw_elem)a->elem;
    twi_form_op op = {.det = twi_det_of(access->atomic, elem, elem)};
    twi_part room[TWI_ROOM];
    if (!a->bounded) {
        uint64_t pair[2] = {a->bits[at], x.bits};
        a->bits[at] = twi_det_do(&op.det, pair);
        return;
    }
    if (access->atomic == TWI_ADD && twi_is_float(elem)) {
        add_loosely(o, a, at, x, when);
        return;
    }
    twi_form pair[3] = {twi_el_form(&a->el[at], a->pool.at), alone(&x)}, y, z;
    twi_form_do(&op, pair, &y, room);
    if (when->kind != TWI_EXACT) {
        z = alone(&y);
        twi_form_hull(elem, &pair[0], &z, &y);
    }
    set_element(a, at, &y);
}

void twi_close_atomics(twi_oracle *o) {
    twi_part room[TWI_ROOM];
    for (uint32_t k = 1; k < o->ir->array.n && !o->error; k++) {
        twi_array_state *a = &o->array[k];
        for (size_t at = 0; a->adding && at < a->total; at++) {
            twi_form x;
            if (!a->adding[at])
                continue;
            twi_adding_close(a->adding[at], &x, room);
            set_element(a, at, &x);
        }
        a->adding = NULL;
    }
}

/* The axes that a store runs over. */
static uint64_t store_axes(const twi_oracle *o, twi_id v) {
    const twi_ins *ins = &o->ir->ins.at[v];
    const twi_access *access = &o->ir->access.at[ins->attr];
    uint64_t axes = 0;
    for (unsigned d = 0; d < o->array[access->array].rank; d++)
        axes |= axes_of(o, access->ix[d]);
    for (unsigned k = 0; k < ins->nargs; k++) {
        const twi_tile *t = &o->tile[twi_arg(o->ir, v, k)];
        for (unsigned d = 0; d < t->n; d++)
            axes |= UINT64_C(1) << t->axis[d];
    }
    return axes;
}

/* The value to its element; false: the run has failed. */
static bool put_value(twi_oracle *o, const place *p, size_t at, const twi_form *x,
                      const twi_form *when) {
    twi_array_state *a = &o->array[p->access->array];
    bool fresh = a->writer[at] != 0;
    if (p->access->atomic) {
        put_atomic(o, p->access, a, at, *x, when);
        return true;
    }
    if (a->bounded)
        put_element(o, a, at, *x, when);
    else
        a->bits[at] = !twi_is_float((tw_elem)a->elem) || a->elem == TW_F64
                          ? x->bits
                          : twi_narrow((tw_elem)a->elem, x->bits);
    return !(when->kind == TWI_EXACT || fresh) || claim(o, p, at);
}

void twi_eval_store(twi_oracle *o, twi_id v) {
    const twi_tile *value = &o->tile[twi_arg(o->ir, v, 0)];
    const twi_tile *when = twi_plain_args(o->ir, v) > 1 ? &o->tile[twi_arg(o->ir, v, 1)] : NULL;
    twi_tile over = {.cap = SIZE_MAX, .bits = &o->ops}; /* a shape only */
    place p = {0};
    twi_walk w;
    if (!twi_tile_shape(o, &over, store_axes(o, v)))
        return;
    twi_walk_begin(&w, &over);
    twi_walk_add(&w, &over, value);
    if (when)
        twi_walk_add(&w, &over, when);
    if (!place_begin(o, &p, v, &over, &w))
        return;
    o->store++;
    o->ops += over.total;
    twi_form always = twi_form_exact(TW_BOOL, 1);
    for (; w.left > 0 && !o->error; twi_walk_next(&w)) {
        size_t at;
        twi_form c = when ? twi_tile_get(when, (size_t)w.off[1]) : always;
        if (c.kind == TWI_EXACT && c.bits == 0)
            continue;
        if (!place_of(o, &p, &w, &over, &at)) {
            if (offend(o, &p))
                continue;
            fail_at(o, &p, "is written, outside the array");
            return;
        }
        twi_form x = twi_tile_get(value, (size_t)w.off[0]);
        if (!put_value(o, &p, at, &x, &c))
            return;
    }
}
