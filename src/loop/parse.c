/* SPDX-License-Identifier: Apache-2.0
 * Reading loop IR: heads here, instructions in parse_body.c. What it accepts is well-formed as far
 * as later passes index tables with it; whether it makes sense is the verifier's business.
 */
#include "base/context.h"
#include "loop/codes.h"
#include "loop/parse_state.h"

static const char *const roles[] = {"in", "out", "inout", "temp"};

static void extents(twi_parser *p, uint8_t *rank, int64_t *extent, uint8_t *dynamic) {
    twi_lex *x = &p->lex;
    unsigned n = 0;
    twi_lex_expect(x, "[");
    while (!x->failed && !twi_lex_is(x, "]")) {
        if (n)
            twi_lex_expect(x, ",");
        if (n >= TWI_MAX_RANK) {
            twi_lex_error(x, TWI_LOOP_E_BAD_NUMBER, "at most %d dimensions", TWI_MAX_RANK);
            break;
        }
        if (dynamic && twi_lex_take(x, "*"))
            *dynamic |= (uint8_t)(1u << n);
        else
            extent[n] = twi_lex_int(x, dynamic ? INT64_MIN / 2 : 0, INT64_MAX / 2);
        n++;
    }
    twi_lex_expect(x, "]");
    *rank = (uint8_t)n;
}

/* Arrays and scalars stand in the order of their ids. */
static void numbered(twi_parser *p, uint32_t next) {
    if (twi_lex_int(&p->lex, 0, UINT32_MAX) != (int64_t)next)
        twi_lex_error(&p->lex, TWI_LOOP_E_BAD_NUMBER, "the next number here is %u", next);
}

static void argument(twi_parser *p) {
    twi_lex *x = &p->lex;
    twi_larray a = {0};
    uint16_t count;
    numbered(p, p->loop->array.n);
    a.name = twi_lex_name(x);
    unsigned role = 0;
    while (role < 4 && !twi_lex_is(x, roles[role]))
        role++;
    if (role == 4)
        twi_lex_error(x, TWI_LOOP_E_EXPECTED, "in, out, inout or temp expected");
    a.role = (uint8_t)(role & 3u);
    twi_lex_next(x);
    a.elem = (uint8_t)twi_lex_type(x, &count);
    extents(p, &a.rank, a.extent, NULL);
    if (twi_lex_take(x, "=")) {
        a.has_fill = true;
        a.fill = twi_lex_bits(x, (tw_elem)a.elem);
    }
    if (!x->failed)
        twi_push(p->loop->arena, &p->loop->array, a);
}

static void scalar(twi_parser *p) {
    twi_lscalar s = {0};
    uint16_t count;
    numbered(p, p->loop->scalar.n);
    s.name = twi_lex_name(&p->lex);
    s.elem = (uint8_t)twi_lex_type(&p->lex, &count);
    if (!p->lex.failed)
        twi_push(p->loop->arena, &p->loop->scalar, s);
}

/* ---- entries ---- */

static uint32_t array_named(twi_parser *p) {
    twi_loc at = twi_lex_loc(&p->lex);
    twi_sym name = twi_lex_name(&p->lex);
    for (uint32_t k = 1; k < p->loop->array.n; k++)
        if (p->loop->array.at[k].name == name)
            return k;
    p->lex.start = at.at;
    twi_lex_error(&p->lex, TWI_LOOP_E_UNKNOWN, "no argument of that name");
    return 0;
}

static void fact(twi_parser *p, twi_entry *e) {
    twi_lex *x = &p->lex;
    int64_t bytes = 0;
    if (!twi_parse_i64(x->word + 5, x->length - 5, &bytes) || bytes < 1 || bytes > 4096)
        twi_lex_error(x, TWI_LOOP_E_BAD_NUMBER, "align16 and the like expected");
    twi_lex_next(x);
    uint32_t id = array_named(p);
    while (!x->failed && e->align.n <= id)
        twi_push(p->loop->arena, &e->align, 0);
    if (!x->failed)
        e->align.at[id] = (uint32_t)bytes;
}

static void recipe(twi_parser *p, twi_entry *e) {
    twi_lex *x = &p->lex;
    unsigned depth = 1;
    while (!x->failed && depth) {
        twi_step_do s = {0};
        if (twi_lex_take(x, "launch")) {
            s.what = TWI_DO_LAUNCH;
            twi_launch_name open = {twi_lex_loc(x), p->loop->entry.n, e->recipe.n, 0};
            open.name = twi_lex_name(x);
            twi_push(p->loop->arena, &p->launch, open);
            twi_lex_expect(x, "grid");
            s.grid = twi_lex_int(x, 0, UINT32_MAX);
        } else if (twi_lex_take(x, "fill")) {
            s.what = TWI_DO_FILL;
            s.array = array_named(p);
        } else if (twi_lex_take(x, "for")) {
            s.what = TWI_DO_LOOP;
            s.lo = twi_lex_int(x, INT64_MIN / 2, INT64_MAX / 2);
            twi_lex_expect(x, "..");
            s.hi = twi_lex_int(x, INT64_MIN / 2, INT64_MAX / 2);
            twi_lex_expect(x, "{");
            if (++depth > 8)
                twi_lex_error(x, TWI_LOOP_E_TOO_DEEP, "at most 7 loops around launches");
        } else {
            twi_lex_expect(x, "}");
            if (--depth == 0)
                break;
            s.what = TWI_DO_END;
        }
        twi_push(p->loop->arena, &e->recipe, s);
    }
}

static void entry(twi_parser *p) {
    twi_entry e = {.name = twi_lex_name(&p->lex)};
    while (!p->lex.failed && p->lex.length > 5 && memcmp(p->lex.word, "align", 5) == 0)
        fact(p, &e);
    twi_lex_expect(&p->lex, "{");
    recipe(p, &e);
    twi_push(p->loop->arena, &p->loop->entry, e);
}

static void order(twi_parser *p) {
    twi_lex *x = &p->lex;
    twi_order o = {.fold = (uint32_t)twi_lex_int(x, 0, INT32_MAX)};
    twi_lex_expect(x, "depth");
    o.depth = (uint32_t)twi_lex_int(x, 0, UINT32_MAX);
    o.fused = twi_lex_take(x, "fused");
    o.flushes = twi_lex_take(x, "flushes");
    bool more = twi_lex_take(x, ":");
    while (more && !x->failed) {
        if (o.n >= sizeof o.digit / sizeof *o.digit) {
            twi_lex_error(x, TWI_LOOP_E_BAD_NUMBER, "too many digits");
            break;
        }
        twi_order_digit *d = &o.digit[o.n++];
        twi_lex_expect(x, "axis");
        d->axis = (uint8_t)twi_lex_int(x, 0, UINT8_MAX);
        d->how = twi_lex_take(x, "tree")   ? TWI_HOW_TREE
                 : twi_lex_take(x, "back") ? TWI_HOW_BACK
                                           : TWI_HOW_CHAIN;
        if (d->how == TWI_HOW_CHAIN)
            twi_lex_expect(x, "chain");
        d->extent = twi_lex_int(x, 0, INT64_MAX);
        twi_lex_expect(x, "*");
        d->weight = twi_lex_int(x, 0, INT64_MAX);
        more = twi_lex_take(x, ",");
    }
    twi_push(p->loop->arena, &p->loop->order, o);
}

/* ---- functions ---- */

static twi_swizzle swizzle(twi_lex *x) {
    twi_swizzle s = {
        .span = (uint16_t)twi_lex_int(x, 1, TWI_SWIZZLE_SPAN), .unit = TWI_SWIZZLE_UNIT, .rows = 1};
    if (twi_lex_take(x, "unit"))
        s.unit = (uint8_t)twi_lex_int(x, 1, TWI_SWIZZLE_UNIT);
    if (twi_lex_take(x, "rows"))
        s.rows = (uint8_t)twi_lex_int(x, 1, TWI_SWIZZLE_ROWS);
    return s;
}

static void object(twi_parser *p, twi_obj_kind kind) {
    twi_lex *x = &p->lex;
    twi_object o = {.kind = (uint8_t)kind};
    uint8_t rank;
    twi_lex_next(x);
    twi_loc at = twi_lex_loc(x);
    o.name = twi_lex_name(x);
    for (uint32_t k = 1; k < p->c.f->object.n; k++)
        if (p->c.f->object.at[k].name == o.name && !x->failed) {
            x->start = at.at;
            twi_lex_error(x, TWI_LOOP_E_TWICE, "an object of that name stands above");
        }
    if (kind == TWI_OBJ_ARRAY) {
        twi_lex_expect(x, "=");
        o.array = (uint32_t)twi_lex_int(x, 1, (int64_t)p->loop->array.n - 1);
        o.role = x->failed ? 0 : p->loop->array.at[o.array].role;
    }
    o.elem = (uint8_t)twi_lex_type(x, &o.count);
    extents(p, &o.rank, o.extent, NULL);
    twi_lex_expect(x, "stride");
    extents(p, &rank, o.stride, &o.dynamic);
    if (rank != o.rank)
        twi_lex_error(x, TWI_LOOP_E_BAD_NUMBER, "a stride a dimension expected");
    if (twi_lex_take(x, "align"))
        o.align = (uint16_t)twi_lex_int(x, 1, 4096);
    if (twi_lex_take(x, "swizzle"))
        o.swizzle = swizzle(x);
    twi_push(p->loop->arena, &p->c.f->object, o);
}

static twi_obj_kind object_kind(const twi_lex *x) {
    static const char *const kinds[] = {"", "array", "shared", "private", "scratch"};
    for (int k = TWI_OBJ_ARRAY; k <= TWI_OBJ_SCRATCH; k++)
        if (twi_lex_is(x, kinds[k]))
            return (twi_obj_kind)k;
    return TWI_OBJ_NONE;
}

static void function(twi_parser *p) {
    twi_lex *x = &p->lex;
    twi_sym name = twi_lex_name(x);
    twi_lex_expect(x, "entry");
    uint32_t entry_id = (uint32_t)twi_lex_int(x, 0, UINT32_MAX);
    twi_lex_expect(x, "scope");
    uint32_t scope = (uint32_t)twi_lex_int(x, 0, UINT32_MAX);
    if (x->failed)
        return;
    uint32_t id = twi_loop_func(p->loop, name, entry_id, scope);
    twi_func *f = &p->loop->func.at[id];
    f->object.n = 1; /* the text says them all */
    f->explicit_lanes = twi_lex_take(x, "explicit");
    if (!f->explicit_lanes)
        twi_lex_expect(x, "implicit");
    twi_lex_expect(x, "lanes");
    f->lanes = (uint32_t)twi_lex_int(x, 1, 1024);
    twi_lex_expect(x, "subs");
    f->subs = (uint32_t)twi_lex_int(x, 1, 1024);
    twi_lex_expect(x, "{");
    twi_cursor_init(&p->c, p->loop, id);
    p->c.apart = true;
    p->value.n = 0;
    p->sequence = 1;
    for (twi_obj_kind kind; !x->failed && (kind = object_kind(x)) != TWI_OBJ_NONE;)
        object(p, kind);
    twi_parse_body(p);
}

static void resolve(twi_parser *p) {
    for (uint32_t k = 0; k < p->launch.n && !p->lex.failed; k++) {
        const twi_launch_name *l = &p->launch.at[k];
        uint32_t f = 0;
        while (f < p->loop->func.n && p->loop->func.at[f].name != l->name)
            f++;
        p->lex.start = l->loc.at;
        if (f == p->loop->func.n)
            twi_lex_error(&p->lex, TWI_LOOP_E_UNKNOWN, "no function of that name");
        else
            p->loop->entry.at[l->entry].recipe.at[l->step].func = f;
    }
}

twi_loop *twi_loop_parse(tw_context *ctx, twi_arena *arena, const tw_ir *ir, const char *name,
                         const char *text, size_t n) {
    twi_parser p = {.loop = twi_loop_new(arena, NULL, 0)};
    twi_lex *x = &p.lex;
    p.loop->ctx = ctx;
    p.loop->ir = ir;
    twi_lex_init(x, ctx, name, text, n);
    twi_lex_expect(x, "loop");
    p.loop->kernel = twi_lex_name(x);
    twi_lex_expect(x, "target");
    p.loop->target = twi_lex_name(x);
    while (!x->failed && x->length) {
        if (twi_lex_take(x, "argument"))
            argument(&p);
        else if (twi_lex_take(x, "status"))
            p.loop->status = (uint32_t)twi_lex_int(x, 1, (int64_t)p.loop->array.n - 1);
        else if (twi_lex_take(x, "scalar"))
            scalar(&p);
        else if (twi_lex_take(x, "entry"))
            entry(&p);
        else if (twi_lex_take(x, "merge"))
            twi_push(arena, &p.loop->merge, (uint32_t)twi_lex_int(x, 1, INT32_MAX));
        else if (twi_lex_take(x, "order"))
            order(&p);
        else if (twi_lex_take(x, "func"))
            function(&p);
        else
            twi_lex_error(
                x, TWI_LOOP_E_EXPECTED,
                "argument, status, scalar, entry, merge, order or func expected, found `%.*s`",
                (int)(x->length < 40 ? x->length : 40), x->word);
    }
    resolve(&p);
    return x->failed ? NULL : p.loop;
}
