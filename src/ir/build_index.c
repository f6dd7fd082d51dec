/* SPDX-License-Identifier: Apache-2.0
 * The builder's index expressions, and values made of them.
 */
#include "ir/build.h"

const char *twi_build_ix_text(tw_builder *b, twi_ix x) {
    twi_sb sb;
    twi_sb_init(&sb, &b->arena);
    twi_ix_text(b->ir, &sb, x);
    return twi_sb_text(&sb);
}

bool twi_build_ix_valid(tw_builder *b, tw_ix x) {
    if (x >= b->ir->ix.n && x != 0)
        twi_build_fail(b, TWI_E_HANDLE, NULL, "index expression %u does not exist", (unsigned)x);
    return x != 0 && x < b->ir->ix.n;
}

typedef struct {
    const tw_builder *b;
    bool here;
} holder;
static void see_value(void *user, twi_id v) {
    holder *h = user;
    h->here &= v < h->b->home.n && twi_build_open(h->b, h->b->home.at[v]);
}

bool twi_build_ix_here(tw_builder *b, twi_ix x) {
    if (!twi_build_ix_valid(b, x))
        return false;
    uint64_t axes = b->ir->ix.at[x].axes;
    for (unsigned a = 1; a < TWI_MAX_AXES; a++)
        if ((axes >> a & 1u) &&
            (a >= b->ir->axis.n || !twi_build_open(b, b->ir->axis.at[a].region))) {
            twi_build_fail(b, TWI_E_UNUSED_AXIS, "axes of one scope don't exist in another",
                           "axis %s does not exist here",
                           a < b->ir->axis.n ? twi_text(&b->ctx->names, b->ir->axis.at[a].name)
                                             : "?");
            return false;
        }
    holder h = {b, true};
    twi_ix_values(b->ir, x, see_value, &h);
    if (!h.here)
        twi_build_fail(b, TWI_E_HANDLE, "values of one scope don't exist in another",
                       "a value in %s does not exist here", twi_build_ix_text(b, x));
    return h.here;
}

tw_ix tw_build_ix(tw_builder *b, int64_t k) {
    BUILD_ENTER(b, 0)
    tw_ix x = twi_ix_const(b->ir, k);
    BUILD_LEAVE(b);
    return x;
}

static tw_ix ix_op(tw_builder *b, tw_ix_op op, tw_ix x, tw_ix y) {
    static const uint8_t ops[] = {
        [TW_IX_ADD] = TWI_IX_ADD, [TW_IX_SUB] = TWI_IX_SUB, [TW_IX_MUL] = TWI_IX_MUL,
        [TW_IX_DIV] = TWI_IX_DIV, [TW_IX_MOD] = TWI_IX_MOD, [TW_IX_MIN] = TWI_IX_MIN,
        [TW_IX_MAX] = TWI_IX_MAX};
    tw_ir *ir = b->ir;
    if (!twi_build_ix_valid(b, x) || !twi_build_ix_valid(b, y))
        return 0;
    tw_ix r;
    if (op == TW_IX_CDIV) { /* (x + (y - 1)) // y */
        tw_ix less = twi_ix_make(ir, TWI_IX_SUB, y, twi_ix_const(ir, 1));
        r = twi_ix_make(ir, TWI_IX_DIV, twi_ix_make(ir, TWI_IX_ADD, x, less), y);
    } else {
        r = twi_ix_make(ir, (twi_ix_op)ops[op], x, y);
    }
    if (r == 0)
        twi_build_fail(b, TWI_E_DEEP, NULL, "an index expression is nested too deep");
    return r;
}

tw_ix tw_build_ix_op(tw_builder *b, tw_ix_op op, tw_ix x, tw_ix y) {
    BUILD_ENTER(b, 0)
    tw_ix r = ix_op(b, op, x, y);
    BUILD_LEAVE(b);
    return r;
}

static bool axis_valid(tw_builder *b, tw_axis axis) {
    if (axis == 0)
        return false;
    if (axis < b->ir->axis.n && twi_build_open(b, b->ir->axis.at[axis].region))
        return true;
    twi_build_fail(b, TWI_E_UNUSED_AXIS, "axes of one scope don't exist in another",
                   "axis %s does not exist here",
                   axis < b->ir->axis.n ? twi_text(&b->ctx->names, b->ir->axis.at[axis].name)
                                        : "?");
    return false;
}

tw_ix tw_build_ix_axis(tw_builder *b, tw_axis axis) {
    BUILD_ENTER(b, 0)
    tw_ix x = axis_valid(b, axis) ? twi_ix_leaf(b->ir, TWI_IX_AXIS, axis) : 0;
    BUILD_LEAVE(b);
    return x;
}

static tw_ix bound(tw_builder *b, tw_axis block, bool high) {
    if (!axis_valid(b, block))
        return 0;
    if (b->ir->axis.at[block].block == 0) {
        twi_build_fail(b, TWI_E_LO_HI, "lo and hi are a block's first index and one past its last",
                       "axis %s has no blocks",
                       twi_text(&b->ctx->names, b->ir->axis.at[block].name));
        return 0;
    }
    return twi_ix_leaf(b->ir, high ? TWI_IX_HI : TWI_IX_LO, block);
}

tw_ix tw_build_ix_bound(tw_builder *b, tw_axis block, bool high) {
    BUILD_ENTER(b, 0)
    tw_ix x = bound(b, block, high);
    BUILD_LEAVE(b);
    return x;
}

static tw_ix ix_scalar(tw_builder *b, tw_value value) {
    twi_id x = twi_build_use(b, value);
    if (x == 0)
        return 0;
    twi_type t = twi_build_type(b, x);
    if (!twi_is_int((tw_elem)t.elem) || t.axes != 0) {
        twi_build_fail(b, TWI_E_RANGE_BOUND, "an integer scalar", "a bound that is %s",
                       twi_build_type_text(b, t));
        return 0;
    }
    return twi_ix_leaf(b->ir, TWI_IX_VALUE, twi_build_convert(b, TW_I64, x));
}

tw_ix tw_build_ix_scalar(tw_builder *b, tw_value x) {
    BUILD_ENTER(b, 0)
    tw_ix r = ix_scalar(b, x);
    BUILD_LEAVE(b);
    return r;
}

bool tw_build_ix_value_of(const tw_builder *b, tw_ix x, int64_t *k) {
    return b && b->ir && x < b->ir->ix.n && twi_ix_is_const(b->ir, x, k);
}

/* ---- values of positions ---- */
static tw_value index_value(tw_builder *b, tw_axis axis) {
    if (!axis_valid(b, axis))
        return 0;
    uint64_t axes = twi_tile_axes(b->ir, UINT64_C(1) << axis);
    twi_ins ins = {.op = TWI_INDEX, .attr = axis, .type = {TW_I64, axes}};
    return twi_build_put(b, ins, NULL, 0);
}

tw_value tw_build_index(tw_builder *b, tw_axis axis) {
    BUILD_ENTER(b, 0)
    tw_value v = index_value(b, axis);
    BUILD_LEAVE(b);
    return v;
}

/* A position on axes of tiles, computed element by element; the rest of it as scalars. */
static twi_id tile_of(tw_builder *b, twi_ix x) {
    static const uint8_t ops[] = {
        [TWI_IX_ADD] = TWI_ADD,  [TWI_IX_SUB] = TWI_SUB,  [TWI_IX_MUL] = TWI_MUL,
        [TWI_IX_DIV] = TWI_IDIV, [TWI_IX_MOD] = TWI_IMOD, [TWI_IX_MIN] = TWI_MIN,
        [TWI_IX_MAX] = TWI_MAX};
    const twi_ix_node n = b->ir->ix.at[x]; /* a copy: the table grows */
    if (n.op == TWI_IX_AXIS)
        return index_value(b, n.a);
    if (n.op == TWI_IX_VALUE)
        return n.a;
    twi_ins ins = {.op = TWI_IXVAL, .attr = x, .type = {TW_I64, 0}};
    if (n.op < TWI_IX_ADD || twi_tile_axes(b->ir, n.at) == 0)
        return twi_build_put(b, ins, NULL, 0);
    twi_id args[2] = {tile_of(b, n.a), tile_of(b, n.b)};
    ins.op = ops[n.op];
    ins.attr = 0;
    ins.type.axes = twi_build_type(b, args[0]).axes | twi_build_type(b, args[1]).axes;
    return twi_build_put(b, ins, args, 2);
}

twi_id twi_build_position(tw_builder *b, twi_ix x) {
    return twi_build_ix_here(b, x) ? tile_of(b, x) : 0;
}

tw_value tw_build_ix_value(tw_builder *b, tw_ix x) {
    BUILD_ENTER(b, 0)
    tw_value v = twi_build_position(b, x);
    BUILD_LEAVE(b);
    return v;
}

/* ---- questions ---- */
tw_elem tw_build_elem_of(const tw_builder *b, tw_value x) {
    return b && b->ir && x != 0 && x < b->ir->ins.n ? (tw_elem)b->ir->ins.at[x].type.elem : TW_NONE;
}

bool tw_build_has_axis(const tw_builder *b, tw_value x, tw_axis axis) {
    return tw_build_elem_of(b, x) != TW_NONE && axis != 0 && axis < TWI_MAX_AXES &&
           (b->ir->ins.at[x].type.axes >> axis & 1u);
}

const char *twi_build_axes(tw_builder *b, uint64_t axes) {
    twi_sb sb;
    twi_sb_init(&sb, &b->arena);
    twi_sb_char(&sb, '{');
    for (unsigned a = 1; a < b->ir->axis.n; a++)
        if (axes >> a & 1u) {
            if (sb.n > 1)
                twi_sb_str(&sb, ", ");
            twi_sb_str(&sb, twi_text(&b->ctx->names, b->ir->axis.at[a].name));
        }
    twi_sb_char(&sb, '}');
    return twi_sb_text(&sb);
}

const char *twi_build_type_text(tw_builder *b, twi_type type) {
    return twi_format(&b->arena, "%s%s", tw_elem_name((tw_elem)type.elem),
                      type.axes ? twi_build_axes(b, type.axes) : "");
}

const char *tw_build_axes_text(tw_builder *b, tw_value x) {
    BUILD_ENTER(b, "{}")
    const char *text =
        tw_build_elem_of(b, x) == TW_NONE ? "{}" : twi_build_axes(b, b->ir->ins.at[x].type.axes);
    BUILD_LEAVE(b);
    return text;
}
