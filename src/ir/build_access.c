/* SPDX-License-Identifier: Apache-2.0
 * The builder's loads, stores and atomic operations.
 */
#include "ir/build.h"

static const char *array_name(const tw_builder *b, tw_array array) {
    return twi_text(&b->ctx->names, b->ir->array.at[array].name);
}

/* An access under construction: its record, its tile axes and the integer tiles among its
 * subscripts. */
typedef struct {
    twi_access access;
    uint64_t axes;
    uint32_t n;
    twi_id gathered[TWI_MAX_RANK];
} subscripts;

static bool is_accessible(tw_builder *b, tw_element e) {
    const tw_ir *ir = b->ir;
    if (e.array == 0)
        return false;
    if (e.array >= ir->array.n)
        twi_build_fail(b, TWI_E_HANDLE, NULL, "array %u does not exist", (unsigned)e.array);
    else if (twi_build_scope(b) == 0)
        twi_build_fail(b, TWI_E_SCOPE, "open a scope first", "an access to %s outside any scope",
                       array_name(b, e.array));
    else if (e.rank != ir->array.at[e.array].rank)
        twi_build_fail(b, TWI_E_RANK, NULL, "%s has %d dims, not %d", array_name(b, e.array),
                       ir->array.at[e.array].rank, e.rank);
    else
        return true;
    return false;
}

static bool gathered_fits(tw_builder *b, twi_id x) {
    twi_type t = twi_build_type(b, x);
    if (twi_is_int((tw_elem)t.elem))
        return true;
    twi_build_fail(b, TWI_E_SUBSCRIPT, "cast it: i64(..)", "a subscript of %s is no integer",
                   tw_elem_name((tw_elem)t.elem));
    return false;
}

/* plain: how many operands stand before the gathered subscripts. */
static bool subscripts_of(tw_builder *b, tw_element e, uint32_t plain, subscripts *s) {
    *s = (subscripts){.access = {.array = e.array}};
    if (!is_accessible(b, e))
        return false;
    for (int k = 0; k < e.rank; k++) {
        twi_ix ix = e.at[k].ix;
        if (e.at[k].value == 0 && !twi_build_ix_here(b, ix))
            return false;
        if (e.at[k].value == 0 && !b->ir->ix.at[ix].loaded) {
            s->access.ix[k] = ix;
            s->axes |= twi_tile_axes(b->ir, b->ir->ix.at[ix].at);
            continue;
        }
        twi_id x = e.at[k].value ? twi_build_use(b, e.at[k].value) : twi_build_position(b, ix);
        if (x == 0 || !gathered_fits(b, x))
            return false;
        s->gathered[s->n++] = x;
        s->access.gather[k] = (uint8_t)(plain + s->n);
        s->axes |= twi_build_type(b, x).axes;
    }
    return true;
}

static twi_id put_access(tw_builder *b, const subscripts *s, twi_ins ins, const twi_id *plain,
                         uint32_t n) {
    tw_ir *ir = b->ir;
    twi_id args[2 + TWI_MAX_RANK];
    twi_push(ir->arena, &ir->access, s->access);
    ins.attr = ir->access.n - 1u;
    ins.type.axes = s->axes;
    for (uint32_t k = 0; k < n + s->n; k++)
        args[k] = k < n ? plain[k] : s->gathered[k - n];
    return twi_build_put(b, ins, args, n + s->n);
}

static tw_value load(tw_builder *b, tw_element from, tw_value outside) {
    subscripts s;
    twi_id other = twi_build_use(b, outside);
    if (!subscripts_of(b, from, outside != 0, &s) || (outside != 0 && other == 0))
        return 0;
    tw_elem elem = twi_value_elem((tw_elem)b->ir->array.at[from.array].elem);
    twi_ins ins = {.op = TWI_LOAD, .type = {(uint8_t)elem, 0}};
    if (other != 0) {
        twi_type t = twi_build_type(b, other);
        if (t.elem != elem) {
            twi_build_fail(b, TWI_E_LOAD_ELSE, "the value outside has the type of the load",
                           "%s gives %s, its `else` value is %s", array_name(b, from.array),
                           tw_elem_name(elem), tw_elem_name((tw_elem)t.elem));
            return 0;
        }
        if (t.axes & ~s.axes) {
            twi_build_fail(b, TWI_E_LOAD_ELSE, "the value outside may lack axes, not add any",
                           "the load has axes %s, its `else` value also %s",
                           twi_build_axes(b, s.axes), twi_build_axes(b, t.axes & ~s.axes));
            return 0;
        }
    }
    return put_access(b, &s, ins, &other, other != 0);
}

tw_value tw_build_gather(tw_builder *b, tw_element from, tw_value outside) {
    BUILD_ENTER(b, 0)
    tw_value v = load(b, from, outside);
    BUILD_LEAVE(b);
    return v;
}

/* Positions as subscripts; more than 8 dims are refused by the rank alone. */
static tw_element element_of(tw_array array, const tw_ix *at, int rank, tw_subscript *room) {
    for (int k = 0; k < rank && k < TWI_MAX_RANK; k++)
        room[k] = (tw_subscript){.ix = at[k]};
    return (tw_element){array, room, rank};
}

tw_value tw_build_load(tw_builder *b, tw_array array, const tw_ix *at, int rank, tw_value outside) {
    tw_subscript room[TWI_MAX_RANK];
    return tw_build_gather(b, element_of(array, at, rank, room), outside);
}

static bool stored_fits(tw_builder *b, tw_array array, twi_id x, uint64_t axes) {
    tw_elem to = (tw_elem)b->ir->array.at[array].elem;
    twi_type t = twi_build_type(b, x);
    if (t.elem != twi_value_elem(to)) {
        twi_build_fail(b, TWI_E_STORE_TYPE,
                       twi_format(&b->arena, "cast it: %s(..)", tw_elem_name(twi_value_elem(to))),
                       "%s holds %s, the value is %s", array_name(b, array), tw_elem_name(to),
                       tw_elem_name((tw_elem)t.elem));
        return false;
    }
    if (t.axes & ~axes) {
        twi_build_fail(b, TWI_E_STORE_AXES,
                       "a stored value may lack axes of its target, not add any",
                       "the value has axes %s that %s[..] lacks", twi_build_axes(b, t.axes & ~axes),
                       array_name(b, array));
        return false;
    }
    return true;
}

static bool when_fits(tw_builder *b, tw_array array, twi_id when, uint64_t axes) {
    twi_type t = twi_build_type(b, when);
    if (t.elem != TW_BOOL) {
        twi_build_fail(b, TWI_E_WHEN_TYPE, "compare: x != 0", "`when` needs a bool, not %s",
                       tw_elem_name((tw_elem)t.elem));
        return false;
    }
    if (t.axes & ~axes) {
        twi_build_fail(b, TWI_E_WHEN_AXES, "a condition may lack axes of the target, not add any",
                       "the condition has axes %s that %s[..] lacks",
                       twi_build_axes(b, t.axes & ~axes), array_name(b, array));
        return false;
    }
    return true;
}

static bool atomic_fits(tw_builder *b, tw_array array) {
    tw_elem elem = (tw_elem)b->ir->array.at[array].elem;
    if (elem == TW_BOOL)
        twi_build_fail(b, TWI_E_ATOMIC_TYPE, "use i32", "atomic operations on bool, %s",
                       array_name(b, array));
    else if (tw_elem_size(elem) < 4)
        twi_build_fail(b, TWI_E_NOT_BUILT, "use a type of 4 or 8 bytes",
                       "atomic operations on %s (array %s) are not built yet", tw_elem_name(elem),
                       array_name(b, array));
    else
        return true;
    return false;
}

/* given: the value, and the condition or 0. */
static void effect(tw_builder *b, twi_op op, unsigned atomic, tw_element to,
                   const tw_value *given) {
    subscripts s;
    twi_id args[2] = {twi_build_use(b, given[0]), twi_build_use(b, given[1])};
    if (!subscripts_of(b, to, given[1] != 0 ? 2 : 1, &s) || args[0] == 0 ||
        (given[1] != 0 && args[1] == 0))
        return;
    if (b->ir->array.at[to.array].role == TWI_IN) {
        twi_build_fail(b, TWI_E_STORE_IN, "declare it `out` or `inout`",
                       "%s is an input, it cannot be stored to", array_name(b, to.array));
        return;
    }
    if ((op == TWI_ATOMIC && !atomic_fits(b, to.array)) ||
        !stored_fits(b, to.array, args[0], s.axes) ||
        (args[1] != 0 && !when_fits(b, to.array, args[1], s.axes)))
        return;
    s.access.atomic = (uint8_t)atomic;
    (void)put_access(b, &s, (twi_ins){.op = (uint16_t)op, .type = {TW_NONE, 0}}, args,
                     args[1] != 0 ? 2 : 1);
}

void tw_build_scatter(tw_builder *b, tw_element to, tw_value x, tw_value when) {
    BUILD_ENTER(b, BUILD_NOTHING)
    tw_value given[2] = {x, when};
    effect(b, TWI_STORE, TWI_NOP, to, given);
    BUILD_LEAVE(b);
}

void tw_build_store(tw_builder *b, tw_array array, const tw_ix *at, int rank, tw_value x,
                    tw_value when) {
    tw_subscript room[TWI_MAX_RANK];
    tw_build_scatter(b, element_of(array, at, rank, room), x, when);
}

static void atomic(tw_builder *b, tw_atomic what, tw_element to, const tw_value *given) {
    static const uint8_t ops[] = {
        [TW_ATOMIC_ADD] = TWI_ADD, [TW_ATOMIC_MAX] = TWI_MAX, [TW_ATOMIC_MIN] = TWI_MIN};
    if ((unsigned)what > TW_ATOMIC_MIN)
        twi_build_fail(b, TWI_E_HANDLE, NULL, "atomic operation %u does not exist", (unsigned)what);
    else
        effect(b, TWI_ATOMIC, ops[what], to, given);
}

void tw_build_atomic(tw_builder *b, tw_atomic what, tw_element to, tw_value x, tw_value when) {
    BUILD_ENTER(b, BUILD_NOTHING)
    tw_value given[2] = {x, when};
    atomic(b, what, to, given);
    BUILD_LEAVE(b);
}
