/* SPDX-License-Identifier: Apache-2.0
 * The builder's loads and stores.
 */
#include "ir/build.h"

static const char *array_name(const tw_builder *b, tw_array array) {
    return twi_text(&b->ctx->names, b->ir->array.at[array].name);
}

/* The access's record; its tile axes in *axes. 0 after saying what is wrong. */
static uint32_t access_of(tw_builder *b, tw_array array, const tw_ix *at, int rank,
                          uint64_t *axes) {
    tw_ir *ir = b->ir;
    if (array == 0)
        return 0;
    if (array >= ir->array.n) {
        twi_build_fail(b, TWI_E_HANDLE, NULL, "array %u does not exist", (unsigned)array);
        return 0;
    }
    if (twi_build_scope(b) == 0) {
        twi_build_fail(b, TWI_E_SCOPE, "open a scope first", "an access to %s outside any scope",
                       array_name(b, array));
        return 0;
    }
    if (rank != ir->array.at[array].rank) {
        twi_build_fail(b, TWI_E_RANK, NULL, "%s has %d dims, not %d", array_name(b, array),
                       ir->array.at[array].rank, rank);
        return 0;
    }
    twi_access acc = {.array = array};
    *axes = 0;
    for (int k = 0; k < rank; k++) {
        if (!twi_build_ix_here(b, at[k]))
            return 0;
        acc.ix[k] = at[k];
        *axes |= twi_tile_axes(ir, ir->ix.at[at[k]].at);
    }
    if (ir->access.n == 0)
        twi_push(ir->arena, &ir->access, (twi_access){0});
    twi_push(ir->arena, &ir->access, acc);
    return ir->access.n - 1u;
}

static tw_value load(tw_builder *b, tw_array array, const tw_ix *at, int rank, tw_value outside) {
    uint64_t axes;
    twi_id other = twi_build_use(b, outside);
    uint32_t access = access_of(b, array, at, rank, &axes);
    if (access == 0 || (outside != 0 && other == 0))
        return 0;
    tw_elem elem = twi_value_elem((tw_elem)b->ir->array.at[array].elem);
    twi_ins ins = {.op = TWI_LOAD, .attr = access, .type = {(uint8_t)elem, axes}};
    if (other != 0) {
        twi_type t = twi_build_type(b, other);
        if (t.elem != elem) {
            twi_build_fail(b, TWI_E_LOAD_ELSE, "the value outside has the type of the load",
                           "%s gives %s, its `else` value is %s", array_name(b, array),
                           tw_elem_name(elem), tw_elem_name((tw_elem)t.elem));
            return 0;
        }
        if (t.axes & ~axes) {
            twi_build_fail(b, TWI_E_LOAD_ELSE, "the value outside may lack axes, not add any",
                           "the load has axes %s, its `else` value also %s",
                           twi_build_axes(b, axes), twi_build_axes(b, t.axes & ~axes));
            return 0;
        }
    }
    return twi_build_put(b, ins, &other, other != 0);
}

tw_value tw_build_load(tw_builder *b, tw_array array, const tw_ix *at, int rank, tw_value outside) {
    BUILD_ENTER(b, 0)
    tw_value v = load(b, array, at, rank, outside);
    BUILD_LEAVE(b);
    return v;
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

static void store(tw_builder *b, tw_array array, const tw_ix *at, int rank, const tw_value *given) {
    uint64_t axes;
    twi_id args[2] = {twi_build_use(b, given[0]), twi_build_use(b, given[1])};
    uint32_t access = access_of(b, array, at, rank, &axes);
    if (access == 0 || args[0] == 0 || (given[1] != 0 && args[1] == 0))
        return;
    if (b->ir->array.at[array].role == TWI_IN) {
        twi_build_fail(b, TWI_E_STORE_IN, "declare it `out` or `inout`",
                       "%s is an input, it cannot be stored to", array_name(b, array));
        return;
    }
    if (!stored_fits(b, array, args[0], axes) ||
        (args[1] != 0 && !when_fits(b, array, args[1], axes)))
        return;
    twi_ins ins = {.op = TWI_STORE, .attr = access, .type = {TW_NONE, axes}};
    (void)twi_build_put(b, ins, args, args[1] != 0 ? 2 : 1);
}

void tw_build_store(tw_builder *b, tw_array array, const tw_ix *at, int rank, tw_value x,
                    tw_value when) {
    BUILD_ENTER(b, BUILD_NOTHING)
    tw_value given[2] = {x, when};
    store(b, array, at, rank, given);
    BUILD_LEAVE(b);
}
