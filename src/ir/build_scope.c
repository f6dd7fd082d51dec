/* SPDX-License-Identifier: Apache-2.0
 * The builder's regions: parallel scopes, axes, serial loops and what they carry.
 */
#include "ir/build.h"

/* ---- ranges ---- */
static bool is_scalar(tw_builder *b, twi_ix x, const char *name) {
    if (!twi_build_ix_here(b, x))
        return false;
    if (twi_tile_axes(b->ir, b->ir->ix.at[x].at) == 0)
        return true;
    twi_build_fail(
        b, TWI_E_RANGE_BOUND,
        "dims, numbers, untiled indices, lo(i), hi(i) and + - * // % min max cdiv of these",
        "the bound %s of %s is no scalar", twi_build_ix_text(b, x), name);
    return false;
}

static bool known_at_launch(tw_builder *b, twi_ix x, const char *name) {
    if (b->ir->ix.at[x].axes == 0 && !b->ir->ix.at[x].loaded)
        return true;
    twi_build_fail(b, TWI_E_PAR_BOUND, "dims and numbers only",
                   "the bound %s of parallel axis %s is not known at launch",
                   twi_build_ix_text(b, x), name);
    return false;
}

/* A new axis of a region. Where the range is wrong the axis runs over nothing, so that the rest is
 * checked. */
static tw_axis new_axis(tw_builder *b, const tw_range *range, twi_axis_kind kind, uint32_t region) {
    tw_ir *ir = b->ir;
    twi_sym sym = twi_build_sym(b, range->name, "axis");
    if (ir->axis.n >= TWI_MAX_AXES) {
        twi_build_fail(b, TWI_E_TOO_MANY, NULL, "a kernel has at most %d axes", TWI_MAX_AXES - 1);
        return 0;
    }
    twi_axis a = {.name = sym,
                  .kind = (uint8_t)kind,
                  .lo = range->lo,
                  .hi = range->hi,
                  .region = region,
                  .loc = b->loc};
    const char *name = sym ? twi_text(&b->ctx->names, sym) : "?";
    bool par = kind == TWI_AXIS_INDEX || kind == TWI_AXIS_BLOCK;
    b->unranged |= b->failed; /* a bound of 0 may be one that failed */
    if (a.lo == 0)
        a.lo = twi_ix_const(ir, 0);
    if (!is_scalar(b, a.lo, name) || (par && !known_at_launch(b, a.lo, name)))
        a.lo = twi_ix_const(ir, 0);
    if (!is_scalar(b, a.hi, name) || (par && !known_at_launch(b, a.hi, name))) {
        b->failed = true;
        a.hi = twi_ix_const(ir, 1);
    }
    b->unranged |= b->failed;
    if (range->block < 0)
        twi_build_fail(b, TWI_E_BLOCK_SIZE, NULL, "axis %s has blocks of %lld", name,
                       (long long)range->block);
    else
        a.block = range->block;
    if (kind == TWI_AXIS_FULL && a.block != 0) {
        twi_build_fail(b, TWI_E_BLOCK_PLACE, "blocks belong to `parallel` and `serial`",
                       "axis %s cannot have blocks", name);
        a.block = 0;
    }
    for (uint32_t k = 1; k < ir->axis.n; k++)
        if (sym && ir->axis.at[k].name == sym && ir->axis.at[k].kind != TWI_AXIS_NONE &&
            (ir->axis.at[k].region == region || twi_build_open(b, ir->axis.at[k].region))) {
            twi_build_fail(b, TWI_E_NAME_TWICE, NULL, "axis %s is declared twice", name);
            break;
        }
    twi_push(ir->arena, &ir->axis, a);
    return ir->axis.n - 1u;
}

static uint32_t open_region(tw_builder *b, twi_region_kind kind, unsigned op, const twi_id *args,
                            uint32_t nargs) {
    tw_ir *ir = b->ir;
    twi_region r = {.kind = (uint8_t)kind, .parent = b->current};
    uint32_t id = ir->region.n;
    twi_ins ins = {.op = (uint16_t)op, .attr = id};
    r.ins = twi_build_put(b, ins, args, nargs);
    twi_push(ir->arena, &ir->region, r);
    return id;
}

/* ---- parallel ---- */
static void parallel(tw_builder *b, const tw_range *ranges, int n, tw_axis *axes) {
    if (twi_build_scope(b) != 0)
        twi_build_fail(b, TWI_E_NESTED, "put both axes into one `parallel`",
                       "`parallel` inside `parallel`");
    b->heads.n = b->copies.n = 0;
    uint32_t region = open_region(b, TWI_REGION_PAR, TWI_PAR, NULL, 0);
    for (int k = 0; k < n; k++) {
        axes[k] =
            new_axis(b, &ranges[k], ranges[k].block ? TWI_AXIS_BLOCK : TWI_AXIS_INDEX, region);
        if (axes[k] != 0)
            twi_push(b->ir->arena, &b->ir->region.at[region].axes, (uint8_t)axes[k]);
    }
    b->current = region;
}

void tw_build_parallel(tw_builder *b, const tw_range *ranges, int n, tw_axis *axes) {
    for (int k = 0; k < n; k++)
        axes[k] = 0;
    BUILD_ENTER(b, BUILD_NOTHING)
    parallel(b, ranges, n, axes);
    BUILD_LEAVE(b);
}

static void end(tw_builder *b) {
    tw_ir *ir = b->ir;
    uint32_t scope = twi_build_scope(b);
    if (scope == 0) {
        twi_build_fail(b, TWI_E_SCOPE, NULL, "no parallel scope is open");
        return;
    }
    if (b->current != scope)
        twi_build_fail(b, TWI_E_SCOPE, "end it first", "a serial loop is still open");
    /* copies of what stands before all scopes open the body, in the order of their first use */
    twi_region *r = &ir->region.at[scope];
    uint32_t n = r->body.n, heads = b->heads.n;
    twi_reserve(ir->arena, &r->body, n + heads);
    if (heads) {
        if (n)
            memmove(r->body.at + heads, r->body.at, n * sizeof *r->body.at);
        memcpy(r->body.at, b->heads.at, heads * sizeof *r->body.at);
    }
    r->body.n = n + heads;
    b->heads.n = b->copies.n = 0;
    b->current = r->parent;
}

void tw_build_end(tw_builder *b) {
    BUILD_ENTER(b, BUILD_NOTHING)
    end(b);
    BUILD_LEAVE(b);
}

/* ---- axes ---- */
static tw_axis full_axis(tw_builder *b, const tw_range *range) {
    if (twi_build_scope(b) == 0) {
        twi_build_fail(b, TWI_E_SCOPE, "open a scope first", "an axis outside any scope");
        return 0;
    }
    return new_axis(b, range, TWI_AXIS_FULL, b->current);
}

tw_axis tw_build_axis(tw_builder *b, const tw_range *range) {
    BUILD_ENTER(b, 0)
    tw_axis a = full_axis(b, range);
    BUILD_LEAVE(b);
    return a;
}

/* ---- serial ---- */
static tw_axis serial(tw_builder *b, const tw_range *range, const tw_value *initial, int n) {
    tw_ir *ir = b->ir;
    twi_id *args = TWI_NEW_N(&b->arena, twi_id, (size_t)(n > 0 ? n : 0) + 1u);
    if (n > 0 && twi_build_scope(b) == 0) {
        twi_build_fail(b, TWI_E_CARRY_OUTER, "keep it in a `temp` array",
                       "a loop around scopes cannot carry values");
        n = 0;
    }
    for (int k = 0; k < n; k++)
        args[k] = twi_build_use(b, initial[k]);
    uint32_t region =
        open_region(b, TWI_REGION_SERIAL, TWI_SERIAL, args, (uint32_t)(n > 0 ? n : 0));
    if (twi_build_scope(b) == 0 && range->block != 0)
        twi_build_fail(b, TWI_E_BLOCK_PLACE, NULL, "a loop around scopes cannot have blocks");
    tw_axis a = new_axis(b, range, TWI_AXIS_STEP, region);
    if (a != 0)
        twi_push(ir->arena, &ir->region.at[region].axes, (uint8_t)a);
    b->current = region;
    for (int k = 0; k < n; k++) {
        twi_id carry = 0;
        if (args[k] != 0) {
            twi_ins ins = {
                .op = TWI_CARRY, .attr = (uint32_t)k, .type = twi_build_type(b, args[k])};
            carry = twi_build_put(b, ins, NULL, 0);
        } else {
            b->failed = true;
        }
        twi_push(ir->arena, &ir->region.at[region].carries, carry);
    }
    return a;
}

tw_axis tw_build_serial(tw_builder *b, const tw_range *range, const tw_value *initial, int n) {
    BUILD_ENTER(b, 0)
    tw_axis a = serial(b, range, initial, n);
    BUILD_LEAVE(b);
    return a;
}

static tw_value carry_of(tw_builder *b, int k) {
    const twi_region *r = &b->ir->region.at[b->current];
    if (r->kind == TWI_REGION_SERIAL && k >= 0 && (uint32_t)k < r->carries.n)
        return r->carries.at[k];
    twi_build_fail(b, TWI_E_HANDLE, NULL, "carried value %d does not exist here", k);
    return 0;
}

tw_value tw_build_carry(tw_builder *b, int k) {
    BUILD_ENTER(b, 0)
    tw_value v = carry_of(b, k);
    BUILD_LEAVE(b);
    return v;
}

/* The value of a carry at the end of a trip, with the carry's very type. */
static twi_id yield_of(tw_builder *b, twi_id carry, tw_value given) {
    twi_id y = twi_build_use(b, given);
    if (carry == 0 || y == 0) {
        b->failed = true;
        return 0;
    }
    twi_type want = twi_build_type(b, carry), got = twi_build_type(b, y);
    const char *name = twi_text(&b->ctx->names, b->ir->ins.at[carry].name);
    if (!*name)
        name = "a carried value";
    if (want.elem != got.elem) {
        twi_build_fail(b, TWI_E_CARRY_TYPE, "a carried name keeps its element type",
                       "%s is %s, the trip leaves %s", name, tw_elem_name((tw_elem)want.elem),
                       tw_elem_name((tw_elem)got.elem));
        return 0;
    }
    if (got.axes & ~want.axes) {
        const char *axes = twi_build_axes(b, got.axes | want.axes);
        const char *help =
            twi_format(&b->arena, "start it as full(.., %s)[%.*s]",
                       tw_elem_name((tw_elem)want.elem), (int)(strlen(axes) - 2u), axes + 1);
        twi_build_fail(b, TWI_E_CARRY_AXES, help, "%s has axes %s, the trip would add %s", name,
                       twi_build_axes(b, want.axes), twi_build_axes(b, got.axes & ~want.axes));
        return 0;
    }
    if (got.axes == want.axes)
        return y;
    twi_ins ins = {.op = TWI_SPREAD, .type = want};
    return twi_build_put(b, ins, &y, 1);
}

static void end_serial(tw_builder *b, const tw_value *yields, int n, tw_value *results) {
    tw_ir *ir = b->ir;
    uint32_t region = b->current;
    if (ir->region.at[region].kind != TWI_REGION_SERIAL) {
        twi_build_fail(b, TWI_E_SCOPE, NULL, "no serial loop is open here");
        return;
    }
    uint32_t carries = ir->region.at[region].carries.n;
    if (n < 0 || (uint32_t)n != carries) {
        twi_build_fail(b, TWI_E_CARRY_COUNT, NULL, "the loop carries %u values, its end gives %d",
                       (unsigned)carries, n);
        n = 0;
    }
    for (int k = 0; k < n; k++) {
        twi_id y = yield_of(b, ir->region.at[region].carries.at[k], yields[k]);
        twi_push(ir->arena, &ir->region.at[region].yields, y);
    }
    b->current = ir->region.at[region].parent;
    for (int k = 0; k < n; k++) {
        twi_id carry = ir->region.at[region].carries.at[k], loop = ir->region.at[region].ins;
        if (carry == 0)
            continue;
        twi_ins ins = {.op = TWI_RESULT,
                       .attr = (uint32_t)k,
                       .type = twi_build_type(b, carry),
                       .name = ir->ins.at[carry].name};
        results[k] = twi_build_put(b, ins, &loop, 1);
    }
}

void tw_build_end_serial(tw_builder *b, const tw_value *yields, int n, tw_value *results) {
    for (int k = 0; k < n; k++)
        results[k] = 0;
    BUILD_ENTER(b, BUILD_NOTHING)
    end_serial(b, yields, n, results);
    BUILD_LEAVE(b);
}
