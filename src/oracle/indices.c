/* SPDX-License-Identifier: Apache-2.0
 * Inputs that a program uses as subscripts or as bounds get values that are valid as such, whatever
 * the fixture: below the least extent that they index; all different where a store scatters by
 * them; ascending from 0 to the extent behind them where axes run between them.
 */
#include "base/hash.h"
#include "oracle/det.h"
#include "oracle/fixtures.h"
#include "oracle/oracle.h"

/* What the values of one array are used for. */
typedef struct {
    const tw_ir *ir;
    bool *flows;           /* by value: it is made of the array's values */
    bool index, scattered; /* by stores: each element once */
    bool bound;
    int64_t extent,
        end; /* least one indexed; greatest one that an axis between bounds runs along */
} use;

static int64_t extent_of(const tw_ir *ir, const twi_access *a, unsigned d) {
    int64_t extent[TWI_MAX_RANK];
    (void)twi_array_extents(ir, a->array, extent);
    return extent[d];
}

static void follow(use *u, uint32_t array) {
    const tw_ir *ir = u->ir;
    for (twi_id v = 1; v < ir->ins.n; v++) { /* ids follow the text */
        const twi_ins *ins = &ir->ins.at[v];
        u->flows[v] = ins->op == TWI_LOAD && ir->access.at[ins->attr].array == array;
        bool moves = ins->op != TWI_LOAD && twi_is_int((tw_elem)ins->type.elem) &&
                     twi_op_row(ins->op)->kind == TWI_KIND_LOCAL;
        for (uint32_t k = 0; k < ins->nargs && moves; k++)
            u->flows[v] = u->flows[v] || u->flows[twi_arg(ir, v, k)];
    }
}

static void see_access(use *u, twi_id v) {
    const twi_ins *ins = &u->ir->ins.at[v];
    const twi_access *a = &u->ir->access.at[ins->attr];
    for (unsigned d = 0; d < u->ir->array.at[a->array].rank; d++) {
        if (!a->gather[d] || !u->flows[twi_gathered(u->ir, v, d)])
            continue;
        int64_t extent = extent_of(u->ir, a, d);
        u->extent = u->index && u->extent < extent ? u->extent : extent;
        u->index = true;
        u->scattered = u->scattered || ins->op == TWI_STORE;
    }
}

static void see_value(void *user, twi_id v) {
    use *u = user;
    u->bound = u->bound || u->flows[v];
}

/* The axes between bounds of the array, and how far they may run. */
static void see_bounds(use *u) {
    const tw_ir *ir = u->ir;
    uint64_t axes = 0;
    for (uint32_t a = 1; a < ir->axis.n; a++) {
        bool before = u->bound;
        u->bound = false;
        twi_ix_values(ir, ir->axis.at[a].lo, see_value, u);
        twi_ix_values(ir, ir->axis.at[a].hi, see_value, u);
        axes |= u->bound ? UINT64_C(1) << a : 0;
        u->bound = u->bound || before;
    }
    for (twi_id v = 1; v < ir->ins.n; v++) {
        const twi_ins *ins = &ir->ins.at[v];
        if (!twi_is_access(ins->op))
            continue;
        const twi_access *a = &ir->access.at[ins->attr];
        for (unsigned d = 0; d < ir->array.at[a->array].rank; d++)
            if (ir->ix.at[a->ix[d]].axes & axes) {
                int64_t extent = extent_of(ir, a, d);
                u->end = u->end == 0 || extent < u->end ? extent : u->end;
            }
    }
}

static int64_t least(int64_t extent, tw_elem elem) { /* of the extent and what the type holds */
    int64_t most = twi_int_of(elem, twi_identity_bits(TWI_ID_GREATEST, elem));
    return most < 0 || extent - 1 <= most ? extent : most + 1;
}

typedef struct {
    tw_elem elem;
    void *data;
    size_t n;
    twi_rng rng;
} filling;

static void put(filling *f, size_t k, int64_t x) {
    twi_store_bits(f->elem, f->data, k, (uint64_t)x);
}

static void fill_bounds(filling *f, int64_t end) {
    int64_t at = 0;
    for (size_t k = 0; k < f->n; k++) { /* what is left, shared out at random: some are empty */
        uint64_t left = (uint64_t)(end - at), rest = f->n - k;
        if (k + 1 == f->n)
            at = end;
        else if (k > 0 && left > 0)
            at += (int64_t)twi_rng_below(&f->rng, 2 * left / rest + 1);
        at = at < end ? at : end;
        put(f, k, f->n == 1 ? end : at);
    }
}

static void fill_different(filling *f, int64_t extent, twi_arena *arena) {
    twi_mark mark = twi_arena_mark(arena);
    int64_t *order = TWI_NEW_N(arena, int64_t, (size_t)extent + 1);
    for (int64_t k = 0; k < extent; k++)
        order[k] = k;
    for (size_t k = 0; k < f->n; k++) {
        size_t other = k + (size_t)twi_rng_below(&f->rng, (uint64_t)extent - k);
        int64_t x = order[other];
        order[other] = order[k];
        order[k] = x;
        put(f, k, x);
    }
    twi_arena_reset(arena, mark);
}

bool twi_fixture_indices(const tw_ir *ir, uint32_t array, uint64_t seed, void *data) {
    int64_t shape[TWI_MAX_RANK];
    tw_elem elem = (tw_elem)ir->array.at[array].elem;
    if (!twi_is_int(elem))
        return false;
    twi_mark mark = twi_arena_mark(ir->arena);
    use u = {.ir = ir, .flows = TWI_NEW_N(ir->arena, bool, ir->ins.n + 1u)};
    follow(&u, array);
    for (twi_id v = 1; v < ir->ins.n; v++)
        if (twi_is_access(ir->ins.at[v].op))
            see_access(&u, v);
    see_bounds(&u);
    twi_arena_reset(ir->arena, mark);
    filling f = {.elem = elem, .data = data, .n = twi_array_extents(ir, array, shape)};
    twi_rng_init(&f.rng, twi_hash_mix(seed, array));
    int64_t extent = least(u.extent, elem);
    if (u.bound)
        fill_bounds(&f, least(u.end + 1, elem) - 1);
    else if (u.index && u.scattered && (int64_t)f.n <= extent)
        fill_different(&f, extent, ir->arena);
    else
        for (size_t k = 0; u.index && k < f.n; k++)
            put(&f, k, extent > 0 ? (int64_t)twi_rng_below(&f.rng, (uint64_t)extent) : 0);
    return u.bound || u.index;
}
