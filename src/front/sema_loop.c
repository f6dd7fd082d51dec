/* SPDX-License-Identifier: Apache-2.0
 * `serial` inside a scope: which names it carries, and what they may become.
 */
#include "front/sema.h"

typedef struct carry {
    twi_sym name;
    tw_value initial;
} carry;
typedef struct carries {
    carry *at;
    uint32_t n, cap;
} carries;

/* Names from outside that the body assigns, nested loops and the branches taken included. */
static void collect(twi_sema *s, twi_list list, carries *out) {
    for (uint32_t k = 0; k < list.n; k++) {
        const twi_s *st = list.at[k];
        bool truth = false, quiet = s->quiet, known = false;
        for (uint32_t j = 0; st->kind == TWI_S_ASSIGN && j < st->targets; j++) {
            twi_sym name = st->target[j].name;
            const twi_binding *b = name ? twi_sema_find(s, name) : NULL;
            if (!b || b->kind != TWI_N_VAR || s->mark_of[name] == s->marks)
                continue;
            s->mark_of[name] = s->marks;
            twi_push(s->arena, out, ((carry){name, 0}));
        }
        if (st->kind == TWI_S_IF) {
            s->quiet = true;
            tw_build_mark(
                s->b); /* a condition that is no constant is said where the `if` is walked */
            known = twi_sema_condition(s, st->value, &truth);
            tw_build_rewind(s->b);
            s->quiet = quiet;
        }
        if (!known || truth)
            collect(s, st->body, out);
        if (!known || !truth)
            collect(s, st->other, out);
    }
}

static void start(twi_sema *s, carry *c, uint32_t at) {
    twi_o o = twi_sema_find(s, c->name)->o;
    const char *name = twi_sema_name(s, c->name);
    if (o.kind == TWI_O_VALUE || o.kind == TWI_O_BOOL || o.kind == TWI_O_INDEX)
        c->initial = twi_sema_to_value(s, o, TW_NONE, at);
    else if (o.kind != TWI_O_ERROR)
        twi_sema_fail(s, TWI_E_CARRY_START, at,
                      twi_format(s->arena,
                                 o.kind == TWI_O_INT
                                     ? "start it as `%s = i64(..)`, or zeros(f32)"
                                     : "start it as `%s = f32(..)`, or full(.., f32)[..]",
                                 name),
                      "%s is assigned in the loop, so it is carried, but it starts as %s",
                      twi_quote(s->arena, name), twi_o_text(s, o));
}

/* `acc = zeros(f32)[i, e]`: what the start of a carried value should have been. */
static const char *proposal(twi_sema *s, tw_value v, twi_sym name) {
    twi_sb sb;
    twi_sb_init(&sb, s->arena);
    twi_sb_printf(&sb, "start it as `%s = zeros(%s)[", twi_sema_name(s, name),
                  tw_elem_name(tw_build_elem_of(s->b, v)));
    const char *comma = "";
    for (uint32_t k = 0; k < s->tiles.n; k++)
        if (tw_build_has_axis(s->b, v, s->tiles.at[k]->id)) {
            twi_sb_printf(&sb, "%s%s", comma, twi_sema_name(s, s->tiles.at[k]->name));
            comma = ", ";
        }
    twi_sb_str(&sb, "]`");
    return twi_sb_text(&sb);
}

/* The value that a trip hands on; 0 where something is wrong. */
static tw_value yield(twi_sema *s, const carry *c, uint32_t at) {
    twi_o o = twi_sema_find(s, c->name)->o;
    if (!c->initial)
        return 0;
    tw_elem elem = tw_build_elem_of(s->b, c->initial);
    tw_value v = twi_sema_to_value(s, o, elem, at);
    if (!v)
        return 0;
    if (tw_build_elem_of(s->b, v) != elem) {
        twi_sema_fail(s, TWI_E_CARRY_TYPE, at, "cast it, or start it with the other type",
                      "%s is carried as %s, the loop makes it %s", twi_sema_quoted(s, c->name),
                      tw_elem_name(elem), tw_elem_name(tw_build_elem_of(s->b, v)));
        return 0;
    }
    tw_axis *missing = TWI_NEW_N(s->arena, tw_axis, s->tiles.n + 1u);
    int n = 0;
    for (uint32_t k = 0; k < s->tiles.n; k++) {
        tw_axis axis = s->tiles.at[k]->id;
        bool was = tw_build_has_axis(s->b, c->initial, axis), is = tw_build_has_axis(s->b, v, axis);
        if (is && !was) {
            twi_sema_fail(s, TWI_E_CARRY_AXES, at, proposal(s, v, c->name),
                          "%s is carried over %s, the loop makes it a tile over %s",
                          twi_sema_quoted(s, c->name), tw_build_axes_text(s->b, c->initial),
                          tw_build_axes_text(s->b, v));
            return 0;
        }
        if (was && !is)
            missing[n++] = axis;
    }
    return n ? tw_build_spread(s->b, v, missing, n) : v;
}

void twi_sema_serial(twi_sema *s, const twi_s *st) {
    carries c = {0};
    tw_range range;
    twi_ax *ax = TWI_NEW(s->arena, twi_ax);
    uint32_t bindings = s->binding.n, tiles = s->tiles.n;
    twi_sema_range(s, st->span, false, &range, ax);
    s->marks++;
    collect(s, st->body, &c);
    tw_value *v = TWI_NEW_N(s->arena, tw_value, c.n + 1u),
             *result = TWI_NEW_N(s->arena, tw_value, c.n + 1u);
    for (uint32_t k = 0; k < c.n; k++) {
        start(s, &c.at[k], st->at);
        v[k] = c.at[k].initial;
    }
    twi_sema_at(s, st->at);
    ax->id = tw_build_serial(s->b, &range, v, (int)c.n);
    ax->kind = st->span->block ? TWI_AX_BLOCK : TWI_AX_INDEX;
    twi_sema_declare_axis(s, ax, st->span->at);
    for (uint32_t k = 0; k < c.n; k++) {
        twi_o o = c.at[k].initial ? twi_value_o(tw_build_carry(s->b, (int)k)) : twi_error_o();
        if (o.id && s->frame == 0)
            tw_build_name(s->b, o.id, twi_sema_name(s, c.at[k].name));
        twi_sema_bind(s, (twi_binding){.kind = TWI_N_VAR, .name = c.at[k].name, .o = o});
    }
    s->loops++;
    twi_sema_block(s, st->body);
    s->loops--;
    for (uint32_t k = 0; k < c.n; k++)
        v[k] = yield(s, &c.at[k], st->at);
    twi_sema_at(s, st->at);
    tw_build_end_serial(s->b, v, (int)c.n, result);
    twi_sema_unbind(s, bindings, tiles);
    for (uint32_t k = 0; k < c.n; k++)
        twi_sema_bind(s, (twi_binding){.kind = TWI_N_VAR,
                                       .name = c.at[k].name,
                                       .o = twi_value_o(v[k] ? result[k] : 0)});
}
