/* SPDX-License-Identifier: Apache-2.0
 * Calls: built-in operations, reductions, casts, and functions of the file, which are unfolded
 * here.
 */
#include "front/sema.h"

typedef struct call {
    const twi_x *x;
    const twi_word *w;
    twi_o arg[3];
} call;

const twi_ax *twi_sema_axis_named(twi_sema *s, const twi_x *x) {
    const twi_binding *b = x->kind == TWI_X_NAME ? twi_sema_find(s, x->name) : NULL;
    if (b && b->kind == TWI_N_AXIS)
        return b->ax;
    if (x->kind == TWI_X_NAME && !b && !twi_word_of(twi_sema_name(s, x->name)))
        twi_sema_unknown(s, x->name, x->at, false);
    else
        twi_sema_fail(s, TWI_E_NOT_AXIS, x->at, NULL, "'%s' is not an axis", twi_x_text(s->p, x));
    return NULL;
}

tw_order twi_sema_order_word(twi_sema *s, const twi_x *x) {
    static const struct {
        const char *name;
        tw_order order;
        bool built;
    } word[] = {{"free", TW_ORDER_FREE, true},
                {"tree", TW_ORDER_TREE, true},
                {"left", TW_ORDER_LEFT, true},
                {"right", TW_ORDER_RIGHT, false},
                {"canonical", TW_ORDER_CANONICAL, true}};
    const char *text = x->kind == TWI_X_NAME ? twi_sema_name(s, x->name) : twi_x_text(s->p, x);
    twi_nearest near;
    twi_nearest_init(&near, text);
    for (size_t k = 0; k < sizeof word / sizeof *word; k++) {
        twi_nearest_offer(&near, word[k].name);
        if (strcmp(text, word[k].name) != 0)
            continue;
        if (!word[k].built)
            twi_sema_fail(s, TWI_E_NOT_BUILT, x->at, "built are free, tree, left and canonical",
                          "order = %s is not built yet", text);
        return word[k].built ? word[k].order : TW_ORDER_AS_SAID;
    }
    twi_sema_fail(s, TWI_E_UNKNOWN_WORD, x->at, twi_nearest_help(&near, s->arena),
                  "%s is no order: free, tree, left, right, canonical", twi_quote(s->arena, text));
    return TW_ORDER_AS_SAID;
}

/* exclusive = true: the flag where it is set; 0 after complaints too. */
static int flag_option(twi_sema *s, const twi_option *o, int flag) {
    twi_o v = twi_sema_eval(s, o->value);
    if (v.kind == TWI_O_BOOL && !v.param)
        return v.flag ? flag : 0;
    if (v.kind != TWI_O_ERROR)
        twi_sema_fail(s, TWI_E_NEEDS_BOOL, o->value->at, "true, false, or a constant of the kernel",
                      "%s is a constant, not %s", twi_sema_quoted(s, o->name),
                      v.param ? "a param" : twi_o_text(s, v));
    return 0;
}

/* The `order` of a call, the flags of a scan (flags NULL: it is none), and complaints about other
 * options. */
static tw_order options(twi_sema *s, const twi_x *x, bool ordered, int *flags) {
    tw_order order = TW_ORDER_AS_SAID;
    for (uint32_t k = 0; k < x->options; k++) {
        const char *name = twi_sema_name(s, x->option[k].name);
        if (ordered && strcmp(name, "order") == 0)
            order = twi_sema_order_word(s, x->option[k].value);
        else if (flags && strcmp(name, "exclusive") == 0)
            *flags |= flag_option(s, &x->option[k], TW_SCAN_EXCLUSIVE);
        else if (flags && strcmp(name, "reverse") == 0)
            *flags |= flag_option(s, &x->option[k], TW_SCAN_REVERSE);
        else
            twi_sema_fail(s, TWI_E_UNKNOWN_WORD, x->option[k].at,
                          flags     ? "order, exclusive, reverse"
                          : ordered ? "`order = canonical`"
                                    : NULL,
                          "%s takes no option %s", twi_sema_quoted(s, x->name),
                          twi_quote(s->arena, name));
    }
    return order;
}

/* ---- elementwise ---- */
static bool is_untyped(twi_o o) { return o.kind == TWI_O_INT || o.kind == TWI_O_REAL; }
static bool is_position(twi_o o) { return o.kind == TWI_O_INT || o.kind == TWI_O_INDEX; }

static twi_o op_call(twi_sema *s, call *c) {
    tw_op op = (tw_op)c->w->value;
    const char *name = c->w->name;
    int n = c->w->arity;
    uint32_t at = c->x->at;
    if ((op == TW_OP_MIN || op == TW_OP_MAX) && is_position(c->arg[0]) && is_position(c->arg[1]))
        return twi_sema_positions(s, op == TW_OP_MIN ? TW_IX_MIN : TW_IX_MAX, c->arg[0], c->arg[1]);
    tw_elem e = twi_sema_unify(s, c->arg, n, at);
    if (e == TW_NONE)
        return twi_error_o();
    bool arith = op == TW_OP_MIN || op == TW_OP_MAX || op == TW_OP_ABS || op == TW_OP_NEG;
    bool f32_only = op == TW_OP_EXP || op == TW_OP_LOG || op == TW_OP_TANH || op == TW_OP_ERF;
    if (arith && e == TW_BOOL)
        twi_sema_fail(s, TWI_E_NEEDS_NUMBER, at, "cast it: i32(..)", "'%s' needs numbers, not bool",
                      name);
    else if (!arith && !twi_is_float_elem(e))
        twi_sema_fail(s, TWI_E_NEEDS_FLOAT, at, "cast it: f32(..)", "'%s' needs floats, not %s",
                      name, tw_elem_name(e));
    else if (f32_only && e == TW_F64)
        twi_sema_fail(s, TWI_E_NOT_BUILT, at, "cast it: f32(..)", "'%s' of f64 is not built yet",
                      name);
    else {
        tw_value v[3] = {0};
        for (int k = 0; k < n; k++)
            v[k] = twi_sema_to_value(s, c->arg[k], e, c->x->arg[k]->at);
        twi_sema_at(s, at);
        return twi_value_o(tw_build_op(s->b, op, v[0], v[1], v[2]));
    }
    return twi_error_o();
}

static twi_o where_call(twi_sema *s, call *c) {
    uint32_t at = c->x->at;
    if (c->arg[0].kind == TWI_O_ERROR)
        return twi_error_o();
    if (twi_o_elem(s, c->arg[0]) != TW_BOOL) {
        twi_sema_fail(s, TWI_E_NEEDS_BOOL, c->x->arg[0]->at, "where(x > 0, ..)",
                      "'where' wants bool, not %s", twi_o_text(s, c->arg[0]));
        return twi_error_o();
    }
    tw_elem e = twi_sema_unify(s, c->arg + 1, 2, at);
    if (e == TW_NONE)
        return twi_error_o();
    tw_value v = twi_sema_to_value(s, c->arg[0], TW_BOOL, c->x->arg[0]->at);
    tw_value x = twi_sema_to_value(s, c->arg[1], e, c->x->arg[1]->at),
             y = twi_sema_to_value(s, c->arg[2], e, c->x->arg[2]->at);
    twi_sema_at(s, at);
    return twi_value_o(tw_build_op(s->b, TW_OP_WHERE, v, x, y));
}

/* clamp(x, a, b) = min(max(x, a), b) */
static twi_o clamp_call(twi_sema *s, call *c) {
    static const twi_word most = {"max", TWI_W_OP, 2, TW_OP_MAX},
                          least = {"min", TWI_W_OP, 2, TW_OP_MIN};
    call one = {c->x, &most, {c->arg[0], c->arg[1]}}, two = {c->x, &least, {{0}, c->arg[2]}};
    tw_elem e = twi_sema_unify(s, c->arg, 3, c->x->at);
    if (e == TW_NONE)
        return twi_error_o();
    if (is_untyped(c->arg[0]))
        one.arg[0] = twi_value_o(twi_sema_to_value(s, c->arg[0], e, c->x->at));
    two.arg[0] = op_call(s, &one);
    return op_call(s, &two);
}

/* ceil(a / b) = -(-a // b) for integers of any sign */
static twi_o cdiv_call(twi_sema *s, call *c) {
    uint32_t at = c->x->at;
    twi_sema_at(s, at);
    if (is_position(c->arg[0]) && is_position(c->arg[1]))
        return twi_sema_positions(s, TW_IX_CDIV, c->arg[0], c->arg[1]);
    twi_o q =
        twi_sema_binary(s, TWI_B_IDIV, twi_sema_unary(s, TWI_B_NEG, c->arg[0], at), c->arg[1], at);
    return twi_sema_unary(s, TWI_B_NEG, q, at);
}

/* ---- axes as numbers ---- */
static twi_o extent_of(twi_sema *s, const twi_ax *ax, uint32_t at) {
    int64_t k;
    twi_o n = ax->hi, zero = twi_index_o(TWI_O_INT, tw_build_ix(s->b, 0), false, false);
    if (ax->kind == TWI_AX_BLOCK) {
        tw_ix lo = tw_build_ix_bound(s->b, ax->id, false),
              hi = tw_build_ix_bound(s->b, ax->id, true);
        n = twi_index_o(TWI_O_INDEX, tw_build_ix_op(s->b, TW_IX_SUB, hi, lo), false, false);
    } else if (!twi_o_plain(s, ax->lo, &k) || k != 0) {
        n = twi_sema_binary(s, TWI_B_SUB, ax->hi, ax->lo, at);
        n = n.kind == TWI_O_ERROR ? n : twi_sema_positions(s, TW_IX_MAX, n, zero);
    }
    n.loose = n.kind == TWI_O_INDEX;
    return n;
}

static twi_o axis_call(twi_sema *s, const twi_x *x) {
    const char *name = twi_sema_name(s, x->name);
    const twi_ax *ax = twi_sema_axis_named(s, x->arg[0]);
    if (!ax)
        return twi_error_o();
    const char *axis = twi_sema_name(s, ax->name);
    bool scalar = ax->kind == TWI_AX_INDEX;
    twi_sema_at(s, x->at);
    if (strcmp(name, "index") == 0) {
        if (scalar)
            return twi_index_o(TWI_O_INDEX, tw_build_ix_axis(s->b, ax->id), false, false);
        if (!s->index)
            return twi_value_o(tw_build_index(s->b, ax->id));
        twi_sema_fail(s, TWI_E_BAD_SUBSCRIPT, x->at, twi_format(s->arena, "write %s", axis),
                      "axes stand bare in subscripts");
        return twi_error_o();
    }
    if (scalar) {
        twi_sema_fail(s, TWI_E_BAD_EXTENT, x->at, "give it blocks with `tile`, or use its dim",
                      "'%s' is the index of one position: it has no %s", axis, name);
        return twi_error_o();
    }
    if (strcmp(name, "extent") == 0)
        return extent_of(s, ax, x->at);
    bool high = name[0] == 'h';
    if (ax->kind == TWI_AX_FULL)
        return high ? ax->hi : ax->lo;
    return twi_index_o(TWI_O_INDEX, tw_build_ix_bound(s->b, ax->id, high), false, false);
}

/* ---- types ---- */
static twi_o cast_o(twi_sema *s, tw_elem elem, twi_o o, uint32_t at) {
    if (!twi_elem_built(elem)) {
        twi_sema_fail(s, TWI_E_NOT_BUILT, at, NULL, "element type '%s' is not built yet",
                      tw_elem_name(elem));
        return twi_error_o();
    }
    if (elem == TW_I64 && is_position(o) && !o.param) {
        o.kind = TWI_O_INDEX;
        return o;
    }
    if (is_untyped(o) && twi_held(elem) != elem && !o.param) {
        twi_sema_at(s, at);
        return twi_value_o(tw_build_const(s->b, elem, twi_o_num(s, o)));
    }
    if (is_untyped(o))
        return twi_value_o(twi_sema_to_value(s, o, elem, at));
    tw_value v = twi_sema_to_value(s, o, TW_NONE, at);
    twi_sema_at(s, at);
    return v ? twi_value_o(tw_build_cast(s->b, elem, v)) : twi_error_o();
}

static bool arity(twi_sema *s, const twi_x *x, uint32_t least, uint32_t most) {
    if (x->args >= least && x->args <= most)
        return true;
    twi_sema_fail(s, TWI_E_BAD_ARITY, x->at, NULL,
                  least == most ? "%s takes %u argument(s), here are %u"
                                : "%s takes %u or more arguments, here are %u",
                  twi_sema_quoted(s, x->name), least, x->args);
    return false;
}

static bool no_bracket(twi_sema *s, const twi_x *x) {
    if (x->items == 0)
        return true;
    twi_sema_fail(s, TWI_E_BAD_ARITY, x->at, NULL, "%s takes no axes", twi_sema_quoted(s, x->name));
    return false;
}

/* zeros(f32), full(-inf, f32) */
static twi_o full_call(twi_sema *s, const twi_x *x) {
    uint32_t last = x->args - 1;
    twi_o type = twi_sema_eval(s, x->arg[last]);
    if (type.kind != TWI_O_TYPE) {
        if (type.kind != TWI_O_ERROR)
            twi_sema_fail(s, TWI_E_UNKNOWN_TYPE, x->arg[last]->at, "zeros(f32), full(1.0, f32)",
                          "an element type is wanted");
        return twi_error_o();
    }
    twi_sema_at(s, x->at);
    if (last == 0) {
        if (type.elem == TW_BOOL)
            return (twi_o){.kind = TWI_O_BOOL};
        return twi_value_o(tw_build_const(s->b, twi_held(type.elem), tw_build_num_int(s->b, 0)));
    }
    twi_o o = twi_sema_eval(s, x->arg[0]);
    if (is_untyped(o) || o.kind == TWI_O_BOOL)
        return o.kind == TWI_O_BOOL && type.elem == TW_BOOL
                   ? o
                   : cast_o(s, type.elem, o, x->arg[0]->at);
    tw_value v = twi_sema_to_value(s, o, TW_NONE, x->arg[0]->at);
    if (v && tw_build_elem_of(s->b, v) != twi_held(type.elem)) {
        twi_sema_fail(s, TWI_E_TYPE_MISMATCH, x->arg[0]->at, "cast it",
                      "a %s value for a tile of %s", tw_elem_name(tw_build_elem_of(s->b, v)),
                      tw_elem_name(type.elem));
        return twi_error_o();
    }
    return twi_value_o(v);
}

/* ---- reductions ---- */
static bool fold_axes(twi_sema *s, const twi_x *x, tw_axis *axis) {
    bool good = true;
    if (x->items == 0) {
        twi_sema_fail(s, TWI_E_BAD_ARITY, x->at,
                      twi_format(s->arena, "%s[w](..)", twi_sema_name(s, x->name)),
                      "%s names the axes that it goes over", twi_sema_quoted(s, x->name));
        return false;
    }
    for (uint32_t k = 0; k < x->items; k++) {
        const twi_ax *ax = twi_sema_axis_named(s, x->item[k].x);
        if (x->item[k].y)
            twi_sema_fail(s, TWI_E_NOT_AXIS, x->item[k].x->at, NULL, "%s takes axes alone",
                          twi_sema_quoted(s, x->name));
        else if (ax && ax->kind == TWI_AX_INDEX)
            twi_sema_fail(s, TWI_E_NOT_AXIS, x->item[k].x->at,
                          "axes come from `axis`, or from `tile`",
                          "%s is an index, not an axis of tiles", twi_sema_quoted(s, ax->name));
        good = good && ax && ax->kind != TWI_AX_INDEX && !x->item[k].y;
        axis[k] = ax ? ax->id : 0;
    }
    return good;
}

static twi_o fold_call(twi_sema *s, const twi_x *x, tw_fold fold) {
    tw_axis *axis = TWI_NEW_N(s->arena, tw_axis, x->items + 1u);
    bool good = fold_axes(s, x, axis) && arity(s, x, 1, 1);
    tw_order order = options(s, x, true, NULL);
    if (!good)
        return twi_error_o();
    tw_value v = twi_sema_to_value(s, twi_sema_eval(s, x->arg[0]), TW_NONE, x->arg[0]->at);
    if (!v)
        return twi_error_o();
    bool truth = fold == TW_FOLD_ANY || fold == TW_FOLD_ALL;
    tw_elem e = tw_build_elem_of(s->b, v);
    if (truth != (e == TW_BOOL)) {
        twi_sema_fail(s, truth ? TWI_E_NEEDS_BOOL : TWI_E_NEEDS_NUMBER, x->arg[0]->at,
                      truth ? "compare first: any[w](x > 0)" : "count with sum[w](i32(c))",
                      "%s wants %s, not %s", twi_sema_quoted(s, x->name),
                      truth ? "bool" : "numbers", tw_elem_name(e));
        return twi_error_o();
    }
    twi_sema_at(s, x->at);
    return twi_value_o(tw_build_fold(s->b, fold, order, axis, (int)x->items, v));
}

/* cumsum[w](x, exclusive = true, reverse = true) */
static twi_o scan_call(twi_sema *s, const twi_x *x, tw_scan scan) {
    tw_axis *axis = TWI_NEW_N(s->arena, tw_axis, x->items + 1u);
    int flags = 0;
    bool good = fold_axes(s, x, axis) && arity(s, x, 1, 1);
    tw_order order = options(s, x, true, &flags);
    if (good && x->items != 1)
        twi_sema_fail(s, TWI_E_BAD_ARITY, x->at, NULL, "%s goes along one axis, here are %u",
                      twi_sema_quoted(s, x->name), x->items);
    if (!good || x->items != 1)
        return twi_error_o();
    tw_value v = twi_sema_to_value(s, twi_sema_eval(s, x->arg[0]), TW_NONE, x->arg[0]->at);
    if (v && tw_build_elem_of(s->b, v) == TW_BOOL) {
        twi_sema_fail(s, TWI_E_NEEDS_NUMBER, x->arg[0]->at, "cast it: i32(..)",
                      "%s wants numbers, not bool", twi_sema_quoted(s, x->name));
        return twi_error_o();
    }
    twi_sema_at(s, x->at);
    return v ? twi_value_o(tw_build_scan(s->b, scan, flags, order, axis[0], v)) : twi_error_o();
}

static twi_o dot_call(twi_sema *s, const twi_x *x) {
    tw_axis *axis = TWI_NEW_N(s->arena, tw_axis, x->items + 1u);
    bool good = fold_axes(s, x, axis) && arity(s, x, 2, 3);
    tw_order order = options(s, x, true, NULL);
    if (!good)
        return twi_error_o();
    twi_o o[3] = {twi_sema_eval(s, x->arg[0]), twi_sema_eval(s, x->arg[1]), {0}};
    if (x->args == 3)
        o[2] = twi_sema_eval(s, x->arg[2]);
    tw_elem e = twi_sema_unify(s, o, 2, x->at);
    if (e == TW_NONE)
        return twi_error_o();
    tw_value a = twi_sema_to_value(s, o[0], e, x->arg[0]->at),
             b = twi_sema_to_value(s, o[1], e, x->arg[1]->at), c = 0;
    if (x->args == 3) {
        c = twi_sema_to_value(s, o[2], twi_summed(e), x->arg[2]->at);
        if (!c)
            return twi_error_o();
    }
    twi_sema_at(s, x->at);
    return twi_value_o(tw_build_dot(s->b, order, axis, (int)x->items, (tw_value[]){a, b}, c));
}

/* ---- functions of the file ---- */
static twi_o unfold(twi_sema *s, const twi_fn *f, const twi_ax *const *axis, const twi_o *arg,
                    uint32_t at) {
    uint32_t bindings = s->binding.n, tiles = s->tiles.n, frame = s->frame, loops = s->loops;
    bool index = s->index, condition = s->condition;
    twi_o result = s->result;
    s->frame = ++s->frames;
    s->loops = 0;
    s->index = s->condition = false;
    for (uint32_t k = 0; k < f->axes; k++)
        twi_sema_bind(s, (twi_binding){.kind = TWI_N_AXIS, .name = f->axis[k].name, .ax = axis[k]});
    for (uint32_t k = 0; k < f->params; k++)
        twi_sema_bind(s, (twi_binding){.kind = TWI_N_VAR, .name = f->param[k].name, .o = arg[k]});
    twi_sema_block(s, f->body);
    twi_o o = s->returned ? s->result : twi_error_o();
    if (!s->returned)
        twi_sema_fail(s, TWI_E_NO_RETURN, at, "end it with `return ..`", "%s returns nothing here",
                      twi_sema_quoted(s, f->name));
    s->returned = false;
    s->result = result;
    s->frame = frame;
    s->loops = loops;
    s->index = index;
    s->condition = condition;
    twi_sema_unbind(s, bindings, tiles);
    return o;
}

static twi_o fn_call(twi_sema *s, twi_fn *f, const twi_x *x) {
    f->used = true;
    options(s, x, false, NULL);
    if (x->items != f->axes || x->args != f->params) {
        bool axes = x->items != f->axes;
        twi_sema_fail(s, TWI_E_BAD_ARITY, x->at, NULL, "%s takes %u %s, here are %u",
                      twi_sema_quoted(s, x->name), axes ? f->axes : f->params,
                      axes ? "axes in brackets" : "argument(s)", axes ? x->items : x->args);
        return twi_error_o();
    }
    const twi_ax **axis = TWI_NEW_N(s->arena, const twi_ax *, x->items + 1u);
    twi_o *arg = TWI_NEW_N(s->arena, twi_o, x->args + 1u);
    bool good = true;
    for (uint32_t k = 0; k < x->items; k++) {
        axis[k] = twi_sema_axis_named(s, x->item[k].x);
        good = good && axis[k];
    }
    bool index = s->index;
    s->index = false;
    for (uint32_t k = 0; k < x->args; k++)
        arg[k] = twi_sema_eval(s, x->arg[k]);
    s->index = index;
    return good ? unfold(s, f, axis, arg, x->at) : twi_error_o();
}

static twi_o word_call(twi_sema *s, const twi_x *x, const twi_word *w) {
    static const struct {
        const char *name;
        twi_o (*run)(twi_sema *, call *);
    } special[] = {{"where", where_call}, {"clamp", clamp_call}, {"cdiv", cdiv_call}};
    call c = {x, w, {{0}}};
    bool folds =
        x->items && w->kind == TWI_W_OP && (w->value == TW_OP_MIN || w->value == TW_OP_MAX);
    if (w->kind == TWI_W_LATER || w->kind == TWI_W_ATOMIC) {
        bool later = w->kind == TWI_W_LATER;
        twi_sema_fail(s, later ? TWI_E_NOT_BUILT : TWI_E_NOT_VALUE, x->at,
                      later ? NULL : "it is a statement",
                      later ? "'%s' is not built yet" : "'%s' gives no value", w->name);
        return twi_error_o();
    }
    if (folds)
        return fold_call(s, x, w->value == TW_OP_MIN ? TW_FOLD_MIN : TW_FOLD_MAX);
    if (w->kind == TWI_W_FOLD)
        return fold_call(s, x, (tw_fold)w->value);
    if (w->kind == TWI_W_SCAN)
        return scan_call(s, x, (tw_scan)w->value);
    if (w->kind == TWI_W_DOT)
        return dot_call(s, x);
    options(s, x, false, NULL);
    if (!no_bracket(s, x) || !arity(s, x, w->arity, w->arity))
        return twi_error_o();
    if (w->kind == TWI_W_TYPE)
        return cast_o(s, (tw_elem)w->value, twi_sema_eval(s, x->arg[0]), x->at);
    if (strcmp(w->name, "zeros") == 0 || strcmp(w->name, "full") == 0)
        return full_call(s, x);
    bool of_axis = w->kind == TWI_W_SPECIAL && w->arity == 1;
    if (of_axis)
        return axis_call(s, x);
    for (uint32_t k = 0; k < x->args; k++)
        c.arg[k] = twi_sema_eval(s, x->arg[k]);
    for (uint32_t k = 0; k < x->args; k++)
        if (c.arg[k].kind == TWI_O_ERROR)
            return twi_error_o();
    for (size_t k = 0; k < sizeof special / sizeof *special; k++)
        if (strcmp(w->name, special[k].name) == 0)
            return special[k].run(s, &c);
    twi_sema_at(s, x->at);
    return op_call(s, &c);
}

twi_o twi_sema_call(twi_sema *s, const twi_x *x) {
    const twi_binding *b = twi_sema_find(s, x->name);
    const twi_word *w = twi_word_of(twi_sema_name(s, x->name));
    if (w)
        return word_call(s, x, w);
    if (b && b->kind != TWI_N_AXIS && b->kind != TWI_N_ARRAY && b->o.kind == TWI_O_TYPE) {
        options(s, x, false, NULL);
        return no_bracket(s, x) && arity(s, x, 1, 1)
                   ? cast_o(s, b->o.elem, twi_sema_eval(s, x->arg[0]), x->at)
                   : twi_error_o();
    }
    if (s->p->fn_of[x->name])
        return fn_call(s, s->p->fn_of[x->name], x);
    if (b)
        twi_sema_fail(s, TWI_E_NOT_VALUE, x->at, NULL, "%s is no function",
                      twi_sema_quoted(s, x->name));
    else
        twi_sema_unknown(s, x->name, x->at, true);
    return twi_error_o();
}
