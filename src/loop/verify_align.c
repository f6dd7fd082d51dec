/* SPDX-License-Identifier: Apache-2.0
 * V8: an alignment that an access claims follows from the object's (base, all strides but the unit
 * one) and from what the indices are multiples of.
 */
#include "loop/verify_state.h"

enum { LOOK = 12, OWN = 64 /* bytes: shared, private and scratch objects start so */ };

static uint64_t gcd(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* A number that the value is always a multiple of; 0: the value is 0. */
static uint64_t multiple(const twi_func *f, twi_lid v, unsigned depth) {
    const twi_lins *i = &f->ins.at[v];
    if (i->op == TWI_L_LCONST) {
        int64_t k = (int64_t)f->constant.at[i->attr];
        return k < 0 ? 0 - (uint64_t)k : (uint64_t)k;
    }
    if (i->op == TWI_L_UNROLL)
        return i->attr > 1 ? 1 : 0;
    if (depth == 0 || i->nargs == 0)
        return 1;
    uint64_t a = multiple(f, twi_larg(f, v, 0), depth - 1);
    switch (i->op) {
    case TWI_L_FOR:
        return gcd(a, i->attr);
    case TWI_NEG:
        return a;
    case TWI_ADD:
    case TWI_SUB:
    case TWI_MIN:
    case TWI_MAX:
        return gcd(a, multiple(f, twi_larg(f, v, 1), depth - 1));
    case TWI_MUL: {
        uint64_t b = multiple(f, twi_larg(f, v, 1), depth - 1);
        return b && a > UINT64_MAX / b ? 1 : a * b;
    }
    case TWI_IMOD:
        return gcd(a, multiple(f, twi_larg(f, v, 1), depth - 1));
    case TWI_SELECT:
        return gcd(multiple(f, twi_larg(f, v, 1), depth - 1),
                   multiple(f, twi_larg(f, v, 2), depth - 1));
    default:
        return 1;
    }
}

/* What the stride of dimension d is a multiple of, in bytes. */
static uint64_t stride_bytes(const twi_object *o, unsigned d, uint64_t size) {
    uint64_t known = 0;
    bool dynamic = o->dynamic >> d & 1u;
    if (!dynamic) {
        int64_t k = o->stride[d];
        known = (k < 0 ? 0 - (uint64_t)k : (uint64_t)k) * size;
        if (known == size)
            return size; /* the unit one: no fact covers it */
    }
    uint64_t fact = o->kind == TWI_OBJ_ARRAY && o->align ? o->align : size;
    if (dynamic)
        return fact;
    return known % fact == 0 ? known : o->kind == TWI_OBJ_ARRAY ? fact : known;
}

/* Neighbours are neighbours only inside a unit. */
static bool is_in_unit(twi_check *c, twi_lid v) {
    const twi_laccess *a = twi_check_access(c, v);
    const twi_object *o = &c->f->object.at[a->object];
    const twi_lid value = twi_loop_stores(c->f->ins.at[v].op) ? twi_larg(c->f, v, o->rank) : v;
    const size_t bytes = c->f->ins.at[value].count * tw_elem_size((tw_elem)o->elem);
    if (c->f->ins.at[value].count == 1 || (bytes <= a->align && bytes <= o->swizzle.unit))
        return true;
    twi_check_fail(c, TWI_LOOP_E_V8, v,
                   "%zu bytes of an object whose rows are swizzled by units of %u, aligned to %u",
                   bytes, o->swizzle.unit, a->align);
    return false;
}

static void access(twi_check *c, twi_lid v) {
    const twi_laccess *a = twi_check_access(c, v);
    const twi_object *o = &c->f->object.at[a->object];
    uint64_t size = tw_elem_size((tw_elem)o->elem) * o->count;
    if (o->swizzle.span && !is_in_unit(c, v))
        return;
    if (a->align <= size && size % (a->align ? a->align : 1) == 0)
        return;
    uint64_t base = o->kind == TWI_OBJ_ARRAY ? (o->align ? o->align : size) : OWN;
    if (base % a->align) {
        twi_check_fail(c, TWI_LOOP_E_V8, v, "claims %u bytes, its object promises %llu", a->align,
                       (unsigned long long)base);
        return;
    }
    for (unsigned d = 0; d < o->rank; d++) {
        uint64_t step = stride_bytes(o, d, size),
                 index = multiple(c->f, twi_larg(c->f, v, d), LOOK);
        if (index == 0 || step % a->align == 0 || step * gcd(index, a->align) % a->align == 0)
            continue;
        twi_check_fail(
            c, TWI_LOOP_E_V8, v,
            "claims %u bytes, but index %u is a multiple of %llu and its stride of %llu bytes",
            a->align, d, (unsigned long long)index, (unsigned long long)step);
        return;
    }
}

void twi_check_align(twi_check *c) {
    for (uint32_t k = 0; k < c->linked; k++) {
        unsigned op = c->f->ins.at[c->order[k]].op;
        if (twi_loop_accesses(op))
            access(c, c->order[k]);
    }
}
