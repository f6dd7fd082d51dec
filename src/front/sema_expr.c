/* SPDX-License-Identifier: Apache-2.0
 * Expressions to operands: names, accesses, conditions. Calls are in sema_call.c.
 */
#include "front/sema.h"

static twi_o word_o(const twi_binding *b) {
    return (twi_o){.kind = TWI_O_WORD, .word = b->o.word, .set = b->o.set};
}

static twi_o axis_o(twi_sema *s, const twi_ax *ax, uint32_t at) {
    if (ax->kind == TWI_AX_INDEX || s->index) {
        twi_sema_at(s, at);
        return twi_index_o(TWI_O_INDEX, tw_build_ix_axis(s->b, ax->id), false,
                           ax->kind != TWI_AX_INDEX);
    }
    const char *name = twi_sema_quoted(s, ax->name);
    twi_sema_fail(s, TWI_E_AXIS_VALUE, at,
                  twi_format(s->arena, "write index(%s)", twi_sema_name(s, ax->name)),
                  "%s is an axis, not a value: axes stand bare in subscripts alone", name);
    return twi_error_o();
}

static twi_o name_o(twi_sema *s, const twi_x *x) {
    const twi_binding *b = twi_sema_find(s, x->name);
    const char *text = twi_sema_name(s, x->name);
    if (b && (b->kind == TWI_N_VAR || b->kind == TWI_N_CONST))
        return b->o;
    if (b && b->kind == TWI_N_AXIS)
        return axis_o(s, b->ax, x->at);
    if (b) {
        twi_sema_fail(s, TWI_E_NOT_VALUE, x->at, twi_format(s->arena, "write %s[..]", text),
                      "%s is an array: it needs subscripts", twi_sema_quoted(s, x->name));
        return twi_error_o();
    }
    const twi_word *w = twi_word_of(text);
    if (w && w->kind == TWI_W_TYPE)
        return (twi_o){.kind = TWI_O_TYPE, .elem = (tw_elem)w->value};
    if (w || s->p->fn_of[x->name])
        twi_sema_fail(s, TWI_E_NOT_VALUE, x->at, twi_format(s->arena, "write %s(..)", text),
                      "%s is a function", twi_sema_quoted(s, x->name));
    else
        twi_sema_unknown(s, x->name, x->at, false);
    return twi_error_o();
}

static twi_o number_o(twi_sema *s, const twi_x *x) {
    int64_t k;
    twi_sema_at(s, x->at);
    if (x->flag && twi_parse_i64(x->text, strlen(x->text), &k))
        return twi_index_o(TWI_O_INT, tw_build_ix(s->b, k), false, false);
    tw_num n = tw_build_num_text(s->b, x->text);
    return n ? (twi_o){.kind = TWI_O_REAL, .id = n} : twi_error_o();
}

/* EPI == relu: beside a constant of words, a bare name is one of its words. */
static bool word_of(twi_sema *s, const twi_x *x, const twi_x *other, twi_o *out) {
    const twi_binding *b = other->kind == TWI_X_NAME ? twi_sema_find(s, other->name) : NULL;
    const twi_binding *own = x->kind == TWI_X_NAME ? twi_sema_find(s, x->name) : NULL;
    if (x->kind != TWI_X_NAME || !b || b->o.kind != TWI_O_WORD || b->kind == TWI_N_AXIS ||
        (own && own->o.kind == TWI_O_WORD && own->kind != TWI_N_AXIS))
        return false;
    *out = (twi_o){.kind = TWI_O_WORD, .word = x->name, .set = b->o.set};
    twi_nearest near;
    twi_nearest_init(&near, twi_sema_name(s, x->name));
    for (uint32_t k = 0; b->o.set && k < b->o.set->choices; k++) {
        if (b->o.set->choice[k].word == x->name || b->o.set->open)
            return true;
        twi_nearest_offer(&near, b->o.set->choice[k].text);
    }
    twi_sema_fail(s, TWI_E_UNKNOWN_WORD, x->at, twi_nearest_help(&near, s->arena),
                  "%s is no word of %s", twi_sema_quoted(s, x->name),
                  twi_sema_quoted(s, other->name));
    *out = twi_error_o();
    return true;
}

/* The least i64 has no positive counterpart: the sign belongs to the numeral. */
static twi_o unary_o(twi_sema *s, const twi_x *x) {
    int64_t k;
    if (x->op == TWI_B_NEG && x->a->kind == TWI_X_NUMBER && x->a->flag) {
        const char *text = twi_format(s->arena, "-%s", x->a->text);
        if (twi_parse_i64(text, strlen(text), &k) && k == INT64_MIN)
            return twi_index_o(TWI_O_INT, tw_build_ix(s->b, k), false, false);
    }
    return twi_sema_unary(s, (twi_b_op)x->op, twi_sema_eval(s, x->a), x->at);
}

static twi_o binary_o(twi_sema *s, const twi_x *x) {
    twi_o a, b;
    bool equal = x->op == TWI_B_EQ || x->op == TWI_B_NE;
    if (!equal || !word_of(s, x->a, x->b, &a))
        a = twi_sema_eval(s, x->a);
    if (!equal || !word_of(s, x->b, x->a, &b))
        b = twi_sema_eval(s, x->b);
    if (equal && a.kind == TWI_O_WORD && b.kind == TWI_O_WORD) {
        twi_binding one = {.o = a}, two = {.o = b};
        return twi_sema_binary(s, (twi_b_op)x->op, word_o(&one), word_o(&two), x->at);
    }
    return twi_sema_binary(s, (twi_b_op)x->op, a, b, x->at);
}

/* ---- accesses ---- */
twi_o twi_sema_eval_index(twi_sema *s, const twi_x *x) {
    bool outer = s->index;
    s->index = true;
    twi_o o = twi_sema_eval(s, x);
    s->index = outer;
    return o;
}

bool twi_sema_subscripts(twi_sema *s, const twi_x *access, const twi_arr *arr, tw_subscript *at) {
    const char *name = twi_sema_quoted(s, access->a->name);
    if (access->items != arr->rank) {
        twi_sema_fail(s, TWI_E_BAD_RANK, access->at, NULL, "%s has %u dims, here are %u subscripts",
                      name, arr->rank, access->items);
        return false;
    }
    bool good = true;
    for (uint32_t k = 0; k < access->items; k++) {
        const twi_item *item = &access->item[k];
        if (item->y) {
            twi_sema_fail(s, TWI_E_BAD_SUBSCRIPT, item->x->at, "one index a dim",
                          "arrays are not sliced");
            good = false;
            continue;
        }
        twi_o o = twi_sema_eval_index(s, item->x);
        bool position = o.kind == TWI_O_INT || o.kind == TWI_O_INDEX;
        bool gathers = o.kind == TWI_O_VALUE && twi_is_int_elem(twi_o_elem(s, o));
        at[k] = (tw_subscript){position ? o.id : 0, gathers ? o.id : 0};
        if (position || gathers)
            continue;
        good = false;
        if (o.kind != TWI_O_ERROR)
            twi_sema_fail(s, TWI_E_BAD_SUBSCRIPT, item->x->at,
                          "sums of axes, dims and integers, or an integer tile",
                          "%s is no subscript", twi_o_text(s, o));
    }
    return good;
}

twi_o twi_sema_load(twi_sema *s, const twi_x *access, const twi_arr *arr, const twi_x *outside) {
    tw_subscript *at = TWI_NEW_N(s->arena, tw_subscript, access->items + 1u);
    bool index = s->index, good = twi_sema_subscripts(s, access, arr, at);
    tw_value v = 0;
    if (outside) {
        s->index = false;
        v = twi_sema_to_value(s, twi_sema_eval(s, outside), twi_held(arr->elem), outside->at);
        s->index = index;
        good = good && v;
    }
    twi_sema_at(s, access->at);
    tw_element from = {arr->id, at, (int)access->items};
    return good ? twi_value_o(tw_build_gather(s->b, from, v)) : twi_error_o();
}

/* zeros(f32)[i, e]: a scalar, or a tile, spread over further axes. */
static twi_o spread_o(twi_sema *s, const twi_x *x, twi_o o) {
    tw_axis *axis = TWI_NEW_N(s->arena, tw_axis, x->items + 1u);
    bool good = true;
    for (uint32_t k = 0; k < x->items; k++) {
        const twi_item *item = &x->item[k];
        if (item->y) {
            twi_sema_fail(s, TWI_E_NOT_BUILT, item->x->at, NULL,
                          "reading a tile at other positions, t[a: e], is not built yet");
            return twi_error_o();
        }
        const twi_ax *ax = twi_sema_axis_named(s, item->x);
        good = good && ax;
        axis[k] = ax ? ax->id : 0;
        if (ax && ax->kind == TWI_AX_INDEX) {
            twi_sema_fail(s, TWI_E_NOT_AXIS, item->x->at, "axes come from `axis`, or from `tile`",
                          "%s is an index, not an axis of tiles", twi_sema_quoted(s, ax->name));
            good = false;
        }
    }
    tw_value v = twi_sema_to_value(s, o, TW_NONE, x->at);
    twi_sema_at(s, x->at);
    return good && v ? twi_value_o(tw_build_spread(s->b, v, axis, (int)x->items)) : twi_error_o();
}

static twi_o access_o(twi_sema *s, const twi_x *x, const twi_x *outside) {
    const twi_binding *b = x->a->kind == TWI_X_NAME ? twi_sema_find(s, x->a->name) : NULL;
    if (b && b->kind == TWI_N_ARRAY)
        return twi_sema_load(s, x, b->arr, outside);
    bool index = s->index;
    s->index = false;
    twi_o o = twi_sema_eval(s, x->a);
    s->index = index;
    if (o.kind == TWI_O_ERROR)
        return o; /* what its subscripts should be, nobody knows */
    if (outside) {
        twi_sema_fail(s, TWI_E_BAD_ELSE, outside->at, "`X[i - 1] else 0.0`",
                      "'else' belongs to the access of an array");
        return twi_error_o();
    }
    return spread_o(s, x, o);
}

static twi_o tuple_o(twi_sema *s, const twi_x *x) {
    twi_o *part = TWI_NEW_N(s->arena, twi_o, x->args);
    for (uint32_t k = 0; k < x->args; k++)
        part[k] = twi_sema_eval(s, x->arg[k]);
    return (twi_o){.kind = TWI_O_TUPLE, .part = part, .parts = x->args};
}

twi_o twi_sema_eval(twi_sema *s, const twi_x *x) {
    twi_o o = twi_error_o();
    if (!twi_sema_step(s, x->at))
        return o;
    s->depth++;
    switch ((twi_x_kind)x->kind) {
    case TWI_X_NAME:
        o = name_o(s, x);
        break;
    case TWI_X_NUMBER:
        o = number_o(s, x);
        break;
    case TWI_X_BOOL:
        o = (twi_o){.kind = TWI_O_BOOL, .flag = x->flag};
        break;
    case TWI_X_UNARY:
        o = unary_o(s, x);
        break;
    case TWI_X_BINARY:
        o = binary_o(s, x);
        break;
    case TWI_X_CALL:
        o = twi_sema_call(s, x);
        break;
    case TWI_X_ACCESS:
        o = access_o(s, x, NULL);
        break;
    case TWI_X_ELSE:
        o = access_o(s, x->a, x->b);
        break;
    case TWI_X_TUPLE:
        o = tuple_o(s, x);
        break;
    }
    s->depth--;
    return o;
}

bool twi_sema_condition(twi_sema *s, const twi_x *x, bool *truth) {
    bool outer = s->condition;
    s->condition = true;
    twi_o o = twi_sema_eval(s, x);
    s->condition = outer;
    if (o.kind == TWI_O_BOOL) {
        *truth = o.flag;
        return true;
    }
    if (o.kind != TWI_O_ERROR)
        twi_sema_fail(s, TWI_E_BAD_CONDITION, x->at, "where(c, x, y) chooses between values",
                      "'if' decides by constants and params, this is %s",
                      o.kind == TWI_O_VALUE ? "a value" : twi_o_text(s, o));
    return false;
}
