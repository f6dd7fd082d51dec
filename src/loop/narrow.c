/* SPDX-License-Identifier: Apache-2.0
 * Index arithmetic in 32 bits where its intervals prove that nothing wraps: on implicit lanes every
 * worker does it, and 64 bits cost two to four instructions each. A value that stays wide is cut
 * where a narrow one uses it, and a narrow one is widened where arithmetic of the program does.
 * Rule V5 looks at the result from below.
 */
#include "loop/legalize_math.h"
#include "loop/range.h"
#include "loop/raw.h"
#include "loop/rows.h"

typedef struct {
    const twi_func *from;
    twi_cursor c;
    int64_t groups;
    twi_span *span; /* by old instruction */
    twi_lid *now;   /* what it is, in its own type; 0: it was narrowed */
    twi_lid *thin;  /* what it is as i32; 0: that was not made */
} walk;

static bool fits(twi_span s) { return s.lo >= INT32_MIN && s.hi <= INT32_MAX; }

static bool scalar_index(const twi_lins *i) { return i->elem == TW_I64 && i->count == 1; }

static const twi_lins *origin(const walk *w, twi_lid v, unsigned k) {
    return &w->from->ins.at[twi_larg(w->from, v, k)];
}

static bool args_fit(const walk *w, twi_lid v) {
    for (unsigned k = 0; k < w->from->ins.at[v].nargs; k++)
        if (scalar_index(origin(w, v, k)) && !fits(w->span[twi_larg(w->from, v, k)]))
            return false;
    return true;
}

/* The last trip's index plus a step is computed too. */
static bool loop_fits(const walk *w, twi_lid v) {
    const twi_span hi = w->span[twi_larg(w->from, v, 1)];
    return args_fit(w, v) && hi.hi <= INT32_MAX - (int64_t)w->from->ins.at[v].attr;
}

/* Operations whose operands are all of the result's type, or a truth value. */
static bool arithmetic(unsigned op) {
    return op == TWI_ADD || op == TWI_SUB || op == TWI_MUL || op == TWI_NEG || op == TWI_IDIV ||
           op == TWI_IMOD || op == TWI_MIN || op == TWI_MAX || op == TWI_SELECT;
}

static bool narrows(const walk *w, twi_lid v) {
    const twi_lins *i = &w->from->ins.at[v];
    if (!scalar_index(i) || !fits(w->span[v]))
        return false;
    if (i->op == TWI_L_FOR)
        return loop_fits(w, v);
    if (i->op == TWI_L_UNROLL || i->op == TWI_L_ID)
        return true;
    return arithmetic(i->op) && i->flags & TWI_FLAG_INDEX && args_fit(w, v);
}

/* Compares, bounds, picks by, or is a number of elements: takes i32 as well as i64. */
static bool takes_either(const walk *w, twi_lid v, unsigned k) {
    const twi_lins *i = &w->from->ins.at[v];
    const bool memory = twi_loop_accesses(i->op);
    if (twi_loop_elementwise(i->op))
        return twi_loop_row_of(i->op)->rule == TWI_RULE_COMPARE && i->flags & TWI_FLAG_INDEX &&
               args_fit(w, v);
    if (i->op == TWI_L_LANE_READ)
        return k == 1;
    if (!memory)
        return false;
    const twi_laccess *a = &w->from->access.at[i->attr];
    const unsigned rank = w->from->object.at[a->object].rank;
    const unsigned mask = rank + twi_loop_stores(i->op);
    return k < rank || (k == mask && a->mask == TWI_MASK_COUNT);
}

static twi_lid made(walk *w, unsigned op, tw_elem elem, const twi_lid *args, uint32_t n) {
    const twi_lins i = {
        .op = (uint16_t)op, .elem = (uint8_t)elem, .flags = TWI_FLAG_INDEX, .count = 1};
    return twi_lb_raw(&w->c, &i, args, n);
}

static twi_lid in_full(walk *w, twi_lid v) {
    return w->now[v] ? w->now[v] : made(w, TWI_CAST, TW_I64, &w->thin[v], 1);
}

static twi_lid number(walk *w, int64_t k) {
    return twi_lb_bits(&w->c, TW_I32, (uint32_t)(uint64_t)k, 0);
}

static twi_lid in_32(walk *w, twi_lid v) {
    const twi_lins *i = &w->from->ins.at[v];
    if (w->thin[v])
        return w->thin[v];
    if (i->op == TWI_L_LCONST)
        return number(w, (int64_t)w->from->constant.at[i->attr]);
    if (i->op == TWI_CAST && origin(w, v, 0)->elem == TW_I32) /* as the program has it */
        return w->now[twi_larg(w->from, v, 0)];
    return made(w, TWI_CAST, TW_I32, &w->now[v], 1);
}

/* A division of what is not negative by a power of two. */
static twi_lid shifted(walk *w, twi_lid v) {
    const twi_lins *i = &w->from->ins.at[v];
    if (i->op != TWI_IDIV && i->op != TWI_IMOD)
        return 0;
    const twi_lid x = twi_larg(w->from, v, 0);
    const twi_span by = w->span[twi_larg(w->from, v, 1)];
    if (w->span[x].lo < 0 || by.lo != by.hi || by.lo <= 0 || (by.lo & (by.lo - 1)) != 0)
        return 0;
    int log = 0;
    while (INT64_C(1) << log < by.lo)
        log++;
    const bool rest = i->op == TWI_IMOD;
    const twi_lid args[2] = {in_32(w, x), number(w, rest ? by.lo - 1 : log)};
    return made(w, rest ? TWI_BAND : TWI_SHR, TW_I32, args, 2);
}

static twi_lid argument(walk *w, twi_lid v, unsigned k, bool narrow) {
    const twi_lid a = twi_larg(w->from, v, k);
    if (!scalar_index(&w->from->ins.at[a]))
        return w->now[a];
    const bool literal = w->from->ins.at[a].op == TWI_L_LCONST;
    const bool compares = twi_loop_elementwise(w->from->ins.at[v].op);
    if (!narrow && (literal ? compares : fits(w->span[a])) && takes_either(w, v, k))
        narrow = true;
    return narrow ? in_32(w, a) : in_full(w, a);
}

static void rewrite(walk *w, twi_lid v) {
    twi_lins i = w->from->ins.at[v];
    const bool narrow = narrows(w, v);
    twi_lid few[16], *args = few;
    twi_lid now = narrow ? shifted(w, v) : 0;
    if (!now) {
        if (i.nargs > 16)
            args = TWI_NEW_N(w->c.loop->arena, twi_lid, i.nargs);
        for (uint32_t k = 0; k < i.nargs; k++)
            args[k] = argument(w, v, k, narrow);
        i.body = i.next = 0;
        i.elem = narrow ? TW_I32 : i.elem;
        now = twi_lb_raw(&w->c, &i, args, i.nargs);
    }
    *(narrow ? &w->thin[v] : &w->now[v]) = now;
    if (i.name && !w->c.f->ins.at[now].name)
        w->c.f->ins.at[now].name = i.name;
}

static void body(walk *w, twi_lid first) {
    for (twi_lid v = first; v; v = w->from->ins.at[v].next) {
        const twi_lins *i = &w->from->ins.at[v];
        twi_span arg[3] = {TWI_SPAN_ALL, TWI_SPAN_ALL, TWI_SPAN_ALL};
        for (unsigned k = 0; k < i->nargs && k < 3; k++)
            arg[k] = w->span[twi_larg(w->from, v, k)];
        w->span[v] = twi_span_step(w->from, v, arg, w->groups);
        w->c.loc = i->loc;
        rewrite(w, v);
        if (i->op == TWI_L_FOR || i->op == TWI_L_UNROLL || i->op == TWI_L_IF) {
            twi_lb_open(&w->c, w->now[v] ? w->now[v] : w->thin[v]);
            body(w, i->body);
            twi_lb_close(&w->c);
        }
    }
}

void twi_narrow_index(twi_loop *loop, uint32_t func) {
    const twi_func from = loop->func.at[func];
    if (from.explicit_lanes)
        return;
    loop->func.at[func] = twi_func_emptied(loop->arena, &from);
    walk w = {.from = &from, .groups = twi_most_groups(loop, func)};
    w.span = TWI_NEW_N(loop->arena, twi_span, from.ins.n + 1);
    w.now = TWI_NEW_N(loop->arena, twi_lid, from.ins.n + 1);
    w.thin = TWI_NEW_N(loop->arena, twi_lid, from.ins.n + 1);
    twi_cursor_init(&w.c, loop, func);
    body(&w, from.first);
}
