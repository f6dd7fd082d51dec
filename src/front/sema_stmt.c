/* SPDX-License-Identifier: Apache-2.0
 * Statements of a scope or of a function's body.
 */
#include "front/sema.h"

static void bind_var(twi_sema *s, const twi_target *t, twi_o o) {
    if (!t->name || !twi_sema_may_bind(s, t->name, t->at, true))
        return;
    if (o.kind == TWI_O_VALUE && s->frame == 0)
        tw_build_name(s->b, o.id, twi_sema_name(s, t->name));
    twi_sema_bind(s, (twi_binding){.kind = TWI_N_VAR, .name = t->name, .o = o});
}

static void assign(twi_sema *s, const twi_s *st) {
    twi_o o = twi_sema_eval(s, st->value);
    if (st->plus) {
        twi_x old = {.kind = TWI_X_NAME, .at = st->at, .name = st->target[0].name, .depth = 1};
        o = twi_sema_binary(s, TWI_B_ADD, old.name ? twi_sema_eval(s, &old) : twi_error_o(), o,
                            st->at);
    }
    if (st->targets == 1) {
        bind_var(s, &st->target[0], o);
        return;
    }
    bool fits = o.kind == TWI_O_TUPLE && o.parts == st->targets;
    if (!fits && o.kind != TWI_O_ERROR)
        twi_sema_fail(s, TWI_E_BAD_ARITY, st->at, NULL, "%u names for %u value(s)", st->targets,
                      o.kind == TWI_O_TUPLE ? o.parts : 1u);
    for (uint32_t k = 0; k < st->targets; k++)
        bind_var(s, &st->target[k], fits ? o.part[k] : twi_error_o());
}

/* Where a store or an atomic operation goes, and on what condition. */
typedef struct {
    const twi_arr *arr;
    tw_element to;
    tw_value when;
} destination;

/* The array that an access stores to; NULL: said. */
static const twi_arr *stored_array(twi_sema *s, const twi_x *access, uint32_t at) {
    const char *name = twi_sema_quoted(s, access->a->name);
    const twi_binding *b = twi_sema_find(s, access->a->name);
    if (s->frame)
        twi_sema_fail(s, TWI_E_IN_FUNCTION, at, "return the value, store it in the kernel",
                      "functions store nothing");
    else if (!b)
        twi_sema_unknown(s, access->a->name, at, false);
    else if (b->kind != TWI_N_ARRAY)
        twi_sema_fail(s, TWI_E_BAD_TARGET, at, NULL, "%s is no array: nothing can be stored to it",
                      name);
    else
        return b->arr;
    return NULL;
}

static bool destination_of(twi_sema *s, const twi_x *access, uint32_t at, destination *d) {
    *d = (destination){.arr = stored_array(s, access, at)};
    if (!d->arr)
        return false;
    if (d->arr->role == TW_ROLE_IN)
        twi_sema_fail(s, TWI_E_STORE_INPUT, at, "declare it `out` or `inout`",
                      "%s is an input: it is not stored to", twi_sema_quoted(s, access->a->name));
    tw_subscript *sub = TWI_NEW_N(s->arena, tw_subscript, access->items + 1u);
    d->to = (tw_element){d->arr->id, sub, (int)access->items};
    return twi_sema_subscripts(s, access, d->arr, sub) && d->arr->role != TW_ROLE_IN;
}

/* The value in the array's type; 0: said. */
static tw_value stored_value(twi_sema *s, const destination *d, twi_o o, const twi_x *access,
                             uint32_t at) {
    tw_elem held = twi_held(d->arr->elem);
    tw_value v = twi_sema_to_value(s, o, held, at);
    if (!v || tw_build_elem_of(s->b, v) == held)
        return v;
    twi_sema_fail(s, TWI_E_STORE_TYPE, at,
                  twi_format(s->arena, "cast it: %s(..)", tw_elem_name(held)),
                  "a %s value for %s, an array of %s", tw_elem_name(tw_build_elem_of(s->b, v)),
                  twi_sema_quoted(s, access->a->name), tw_elem_name(d->arr->elem));
    return 0;
}

static bool condition_of(twi_sema *s, const twi_x *x, destination *d) {
    if (!x)
        return true;
    twi_o c = twi_sema_eval(s, x);
    bool truth = c.kind != TWI_O_ERROR && twi_o_elem(s, c) == TW_BOOL;
    if (c.kind != TWI_O_ERROR && !truth)
        twi_sema_fail(s, TWI_E_NEEDS_BOOL, x->at, "when x > 0", "'when' wants bool, not %s",
                      twi_o_text(s, c));
    d->when = truth ? twi_sema_to_value(s, c, TW_BOOL, x->at) : 0;
    return d->when != 0;
}

static void store(twi_sema *s, const twi_s *st) {
    destination d;
    bool good = destination_of(s, st->access, st->at, &d);
    if (s->frame)
        return;
    twi_o o = twi_sema_eval(s, st->value);
    if (!d.arr)
        return;
    if (st->plus)
        o = twi_sema_binary(s, TWI_B_ADD, twi_sema_load(s, st->access, d.arr, NULL), o, st->at);
    tw_value v = stored_value(s, &d, o, st->access, st->value->at);
    good = condition_of(s, st->when, &d) && good;
    twi_sema_at(s, st->at);
    if (good && v)
        tw_build_scatter(s->b, d.to, v, d.when);
}

/* atomic_add(Y[i], v) when c */
static void atomic(twi_sema *s, const twi_s *st) {
    const twi_x *x = st->value;
    const twi_word *w = twi_word_of(twi_sema_name(s, x->name));
    const twi_x *access = x->args ? x->arg[0] : NULL;
    destination d;
    if (x->items || x->options || x->args != 2 || access->kind != TWI_X_ACCESS ||
        access->a->kind != TWI_X_NAME) {
        twi_sema_fail(s, TWI_E_BAD_ARITY, x->at, twi_format(s->arena, "%s(Y[i], v)", w->name),
                      "'%s' takes an element of an array and a value", w->name);
        return;
    }
    bool good = destination_of(s, access, st->at, &d);
    if (!d.arr)
        return;
    tw_value v = stored_value(s, &d, twi_sema_eval(s, x->arg[1]), access, x->arg[1]->at);
    good = condition_of(s, st->when, &d) && good;
    twi_sema_at(s, st->at);
    if (good && v)
        tw_build_atomic(s->b, (tw_atomic)w->value, d.to, v, d.when);
}

void twi_sema_declare_axis(twi_sema *s, const twi_ax *ax, uint32_t at) {
    if (!ax->name || !twi_sema_may_bind(s, ax->name, at, false))
        return;
    twi_sema_bind(s, (twi_binding){.kind = TWI_N_AXIS, .name = ax->name, .ax = ax});
    if (ax->kind != TWI_AX_INDEX)
        twi_push(s->arena, &s->tiles, ax);
}

static bool bound_of(twi_sema *s, const twi_x *x, bool launch, twi_o *out) {
    twi_o o = twi_sema_eval_index(s, x);
    *out = o;
    if (o.kind == TWI_O_VALUE && !launch && twi_is_int_elem(twi_o_elem(s, o))) {
        twi_sema_at(s, x->at);
        *out = o = twi_index_o(TWI_O_INDEX, tw_build_ix_scalar(s->b, o.id), false, false);
    }
    bool scalar = o.kind == TWI_O_INT || (o.kind == TWI_O_INDEX && !o.tile);
    if (scalar && !(launch && o.kind != TWI_O_INT))
        return true;
    if (scalar || (o.kind == TWI_O_VALUE && twi_is_int_elem(twi_o_elem(s, o))))
        twi_sema_fail(s, TWI_E_BAD_BOUND, x->at, "dims, constants and params",
                      "bounds of scopes are known at launch, this one is not");
    else if (o.kind != TWI_O_ERROR)
        twi_sema_fail(
            s, TWI_E_BAD_BOUND, x->at,
            "dims, constants, untiled indices, lo, hi, and + - * // % min max cdiv of these",
            "%s is no bound",
            o.kind == TWI_O_INDEX ? "a position on an axis of tiles" : twi_o_text(s, o));
    *out = twi_error_o();
    return false;
}

bool twi_sema_range(twi_sema *s, const twi_span *span, bool launch, tw_range *out, twi_ax *ax) {
    *out = (tw_range){.name = twi_sema_name(s, span->name)};
    *ax = (twi_ax){.name = span->name};
    int64_t k = 0;
    bool good = true;
    twi_sema_at(s, span->at);
    ax->lo = twi_index_o(TWI_O_INT, tw_build_ix(s->b, 0), false, false);
    if (span->lo)
        good = bound_of(s, span->lo, launch, &ax->lo);
    good = bound_of(s, span->hi, launch, &ax->hi) && good;
    out->lo = span->lo && !(twi_o_plain(s, ax->lo, &k) && k == 0) ? ax->lo.id : 0;
    out->hi = ax->hi.id;
    if (span->block) {
        twi_o b = twi_sema_eval_index(s, span->block);
        bool plain = twi_o_plain(s, b, &out->block);
        if (b.kind != TWI_O_ERROR && (!plain || out->block < 1)) {
            twi_sema_fail(s, TWI_E_BAD_TILE, span->block->at, "`tile 64`, or a param",
                          "a tile size is a positive integer constant");
            out->block = 1;
        }
        good = good && plain;
    }
    twi_sema_at(s, span->at);
    return good;
}

static void axis(twi_sema *s, const twi_s *st) {
    twi_ax *ax = TWI_NEW(s->arena, twi_ax);
    tw_range range;
    bool good = twi_sema_range(s, st->span, false, &range, ax);
    if (st->span->block)
        twi_sema_fail(s, TWI_E_BAD_TILE, st->span->block->at,
                      "blocks belong to `parallel` and `serial`", "an 'axis' has no blocks");
    if (s->frame)
        twi_sema_fail(s, TWI_E_IN_FUNCTION, st->at, "pass it in brackets: `fn f[w](x)`",
                      "functions make no axes");
    range.block = 0;
    ax->id = good && !s->frame ? tw_build_axis(s->b, &range) : 0;
    ax->kind = TWI_AX_FULL;
    twi_sema_declare_axis(s, ax, st->span->at);
}

void twi_sema_if(twi_sema *s, const twi_s *st, void (*walk)(twi_sema *, twi_list)) {
    bool truth = false, known = twi_sema_condition(s, st->value, &truth);
    for (int branch = 0; branch < 2;
         branch++) { /* the one not taken first: it leaves nothing behind */
        bool taken = branch == 1 && known;
        twi_list list = (branch == 1) == (truth || !known) ? st->body : st->other;
        if (taken) {
            walk(s, list);
            continue;
        }
        uint32_t bindings = s->binding.n, tiles = s->tiles.n;
        twi_o result = s->result;
        tw_build_mark(s->b);
        walk(s, list);
        tw_build_rewind(s->b);
        twi_sema_unbind(s, bindings, tiles);
        s->returned = false;
        s->result = result;
    }
}

enum { REPEATS = 4096 };

void twi_sema_repeat(twi_sema *s, const twi_s *st, void (*walk)(twi_sema *, twi_list)) {
    const twi_span *span = st->span;
    twi_o lo = span->lo ? twi_sema_eval_index(s, span->lo)
                        : (twi_o){.kind = TWI_O_INT, .id = tw_build_ix(s->b, 0)};
    twi_o hi = twi_sema_eval_index(s, span->hi);
    int64_t from, to;
    if (span->block)
        twi_sema_fail(s, TWI_E_BAD_TILE, span->block->at, "leave 'tile' out",
                      "'repeat' has no blocks");
    if (!twi_o_plain(s, lo, &from) || !twi_o_plain(s, hi, &to) ||
        (to > from && to - from > REPEATS)) {
        if (lo.kind != TWI_O_ERROR && hi.kind != TWI_O_ERROR)
            twi_sema_fail(
                s, TWI_E_BAD_BOUND, span->at, "`serial` and `axis` take dims",
                "'repeat' is unrolled: its bounds are integer constants, at most %d trips",
                REPEATS);
        return;
    }
    s->loops++;
    for (int64_t k = from; k < to && s->budget; k++) {
        twi_o index = twi_index_o(TWI_O_INT, tw_build_ix(s->b, k), lo.param || hi.param, false);
        if (k == from && !twi_sema_may_bind(s, span->name, span->at, false))
            break;
        twi_sema_bind(s, (twi_binding){.kind = TWI_N_CONST, .name = span->name, .o = index});
        walk(s, st->body);
        twi_sema_bind(s, (twi_binding){.kind = TWI_N_GONE, .name = span->name});
    }
    s->loops--;
}

static void give_back(twi_sema *s, const twi_s *st) {
    if (s->frame == 0)
        twi_sema_fail(s, TWI_E_BAD_RETURN, st->at, "kernels store: `Y[i] = ..`",
                      "'return' stands in functions");
    else if (s->loops)
        twi_sema_fail(s, TWI_E_BAD_RETURN, st->at, "return after the loop",
                      "'return' stands outside loops");
    s->result = twi_sema_eval(s, st->value);
    s->returned = true;
}

static void statement(twi_sema *s, const twi_s *st) {
    switch ((twi_s_kind)st->kind) {
    case TWI_S_ASSIGN:
        assign(s, st);
        break;
    case TWI_S_STORE:
        store(s, st);
        break;
    case TWI_S_ATOMIC:
        atomic(s, st);
        break;
    case TWI_S_AXIS:
        axis(s, st);
        break;
    case TWI_S_PARALLEL:
        twi_sema_fail(s, s->frame ? TWI_E_IN_FUNCTION : TWI_E_NESTED, st->at,
                      "one `parallel` with all indices: `parallel m: M, n: N`",
                      s->frame ? "functions hold no 'parallel'" : "'parallel' does not nest");
        break;
    case TWI_S_SERIAL:
        twi_sema_serial(s, st);
        break;
    case TWI_S_REPEAT:
        twi_sema_repeat(s, st, twi_sema_block);
        break;
    case TWI_S_IF:
        twi_sema_if(s, st, twi_sema_block);
        break;
    case TWI_S_RETURN:
        give_back(s, st);
        break;
    }
}

void twi_sema_block(twi_sema *s, twi_list list) {
    s->depth++;
    for (uint32_t k = 0; k < list.n; k++) {
        if (!twi_sema_step(s, list.at[k]->at))
            break;
        if (s->returned && s->frame) {
            twi_sema_fail(s, TWI_E_BAD_RETURN, list.at[k]->at, "take it out",
                          "nothing is reached after 'return'");
            break;
        }
        statement(s, list.at[k]);
    }
    if (s->frame == 0)
        s->returned = false;
    s->depth--;
}
