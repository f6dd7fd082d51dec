/* SPDX-License-Identifier: Apache-2.0
 * Rewrites a module into what a target speaks: function by function, instruction by instruction,
 * each looked up in a table of rules. What no rule names is copied.
 */
#include "loop/legalize.h"

#include "loop/legalize_math.h"
#include "loop/raw.h"
#include "loop/rows.h"

static bool unspoken(const twi_caps *caps, tw_elem elem) {
    return (elem == TW_F16 && !caps->f16) || (elem == TW_BF16 && !caps->bf16);
}

bool twi_cast_spoken(const twi_caps *caps, tw_elem from, tw_elem to) {
    if (caps->half_casts && (from == TW_F32 || to == TW_F32))
        return true;
    if (caps->f16_casts && ((from == TW_F16 && to == TW_F32) || (from == TW_F32 && to == TW_F16)))
        return true;
    if (caps->dpbf16 && from == TW_F32 && to == TW_BF16) /* of the same extension */
        return true;
    return !unspoken(caps, to) && !unspoken(caps, from);
}

typedef struct {
    const twi_caps *caps;
    const twi_func *from;
    twi_cursor c;
    twi_lid *now; /* by old instruction */
} walk;

typedef struct {
    uint16_t op;
    bool (*when)(const walk *w, twi_lid v);
    twi_lid (*rewrite)(walk *w, twi_lid v);
} rule;

static twi_lid arg(const walk *w, twi_lid v, unsigned k) { return w->now[twi_larg(w->from, v, k)]; }

/* ---- rules ---- */

static bool single(const walk *w, twi_lid v) { return w->from->ins.at[v].elem == TW_F32; }

static twi_lid rewrite_exp(walk *w, twi_lid v) { return twi_legal_exp(&w->c, arg(w, v, 0)); }
static twi_lid rewrite_log(walk *w, twi_lid v) { return twi_legal_log(&w->c, arg(w, v, 0)); }
static twi_lid rewrite_tanh(walk *w, twi_lid v) { return twi_legal_tanh(&w->c, arg(w, v, 0)); }
static twi_lid rewrite_erf(walk *w, twi_lid v) { return twi_legal_erf(&w->c, arg(w, v, 0)); }

static bool narrow_cast(const walk *w, twi_lid v) {
    return !twi_cast_spoken(w->caps, (tw_elem)w->from->ins.at[twi_larg(w->from, v, 0)].elem,
                            (tw_elem)w->from->ins.at[v].elem);
}

static twi_lid rewrite_cast(walk *w, twi_lid v) {
    return twi_legal_cast(&w->c, (tw_elem)w->from->ins.at[v].elem, arg(w, v, 0), w->caps);
}

/* Between workers: rounds of shuffles. Inside a vector a dialect prints its own tree. */
static bool shuffles(const walk *w, twi_lid v) {
    (void)v;
    return !w->from->explicit_lanes && w->caps->lane_ops;
}

static twi_lid rewrite_lane_fold(walk *w, twi_lid v) {
    const twi_lins *i = &w->from->ins.at[v];
    twi_lid x = arg(w, v, 0);
    w->c.fold = i->fold;
    for (unsigned round = 0; round < i->attr >> 16; round++) {
        twi_lid other = twi_lb_lane_xor(&w->c, x, 1u << ((i->attr >> 8 & 255u) + round));
        x = twi_lb_op(&w->c, i->attr & 255u, x, other, 0);
    }
    w->c.fold = 0;
    return x;
}

bool twi_async_spoken(const twi_caps *caps, const twi_func *f, twi_lid v) {
    const twi_laccess *to = &f->access.at[f->ins.at[v].attr];
    const twi_lins *load = &f->ins.at[twi_larg(f, v, f->object.at[to->object].rank)];
    const twi_laccess *from = &f->access.at[load->attr];
    const twi_object *array = &f->object.at[from->object];
    const size_t bytes = load->count * tw_elem_size((tw_elem)load->elem);
    const bool aligned = load->count == 1 || (to->align >= bytes && from->align >= bytes);
    const bool unit =
        load->count == 1 || (!(array->dynamic >> from->dim & 1u) && array->stride[from->dim] == 1);
    return (bytes == 4 || bytes == 8 || bytes == 16) && bytes <= caps->async_bytes && aligned &&
           unit;
}

static bool copies_plainly(const walk *w, twi_lid v) {
    return !twi_async_spoken(w->caps, w->from, v);
}

/* The worker loads and stores: what a wait would have been for is there at once. */
static twi_lid rewrite_async_copy(walk *w, twi_lid v) {
    const twi_lins *i = &w->from->ins.at[v];
    twi_lid args[TWI_MAX_RANK + 1];
    for (uint32_t k = 0; k < i->nargs; k++)
        args[k] = arg(w, v, k);
    return twi_lb_raw(&w->c, &(twi_lins){.op = TWI_L_LSTORE, .attr = i->attr}, args, i->nargs);
}

static bool no_async(const walk *w, twi_lid v) {
    (void)v;
    return !w->caps->async_bytes;
}

static twi_lid leave_out(walk *w, twi_lid v) {
    (void)w;
    (void)v;
    return 0;
}

/* Is there an instruction for these types that makes a whole vector? */
bool twi_dots_spoken(const twi_caps *caps, const twi_func *f, twi_lid v) {
    const twi_lins *i = &f->ins.at[v], *a = &f->ins.at[twi_larg(f, v, 0)];
    const bool has = i->elem == TW_I32 ? caps->dpi8 : a->count > 2 ? caps->tdpbf16 : caps->dpbf16;
    return has && i->count * 4u == caps->vector_bytes;
}

static bool lacks_dots(const walk *w, twi_lid v) { return !twi_dots_spoken(w->caps, w->from, v); }

static twi_lid rewrite_dots(walk *w, twi_lid v) {
    const twi_lins *i = &w->from->ins.at[v];
    const unsigned steps = w->from->ins.at[twi_larg(w->from, v, 0)].count;
    int32_t *from = TWI_NEW_N(w->c.loop->arena, int32_t, i->count);
    const unsigned group = i->elem == TW_I32 ? 4 : 2;
    const twi_lid start = arg(w, v, 2);
    const twi_lid zero = twi_lb_splat(&w->c, twi_lb_bits(&w->c, (tw_elem)i->elem, 0, 0), i->count);
    const bool several = steps > group; /* groups: a chain from 0 for each place */
    twi_lid sum[2] = {several ? zero : start, zero};
    w->c.fold = i->fold;
    for (unsigned n = 0; n < steps; n++) {
        const unsigned k = several ? n : steps - 1 - n;
        for (unsigned l = 0; l < i->count; l++)
            from[l] = (int32_t)(k / group * group * i->count + l * group + k % group);
        twi_lid a = twi_lb_extract(&w->c, arg(w, v, 0), k),
                b = twi_lb_permute(&w->c, arg(w, v, 1), 0, from, i->count);
        twi_lid *to = &sum[several ? k % group : 0];
        *to = twi_legal_dot_step(&w->c, a, b, *to, w->caps);
    }
    if (several)
        sum[0] = twi_legal_dot_sum(&w->c, start, twi_legal_dot_sum(&w->c, sum[0], sum[1]));
    w->c.fold = 0;
    return sum[0];
}

static const rule rules[] = {
    {TWI_EXP, single, rewrite_exp},
    {TWI_LOG, single, rewrite_log},
    {TWI_TANH, single, rewrite_tanh},
    {TWI_ERF, single, rewrite_erf},
    {TWI_CAST, narrow_cast, rewrite_cast},
    {TWI_L_LANE_FOLD, shuffles, rewrite_lane_fold},
    {TWI_L_ASYNC_COPY, copies_plainly, rewrite_async_copy},
    {TWI_L_ASYNC_COMMIT, no_async, leave_out},
    {TWI_L_ASYNC_WAIT, no_async, leave_out},
    {TWI_L_DOTS, lacks_dots, rewrite_dots},
};

/* ---- the walk ---- */

static twi_lid copied(walk *w, twi_lid v) {
    twi_lins i = w->from->ins.at[v];
    twi_lid few[16], *args = few;
    if (i.nargs > 16)
        args = TWI_NEW_N(w->c.loop->arena, twi_lid, i.nargs);
    for (uint32_t k = 0; k < i.nargs; k++)
        args[k] = arg(w, v, k);
    i.body = i.next = 0;
    return twi_lb_raw(&w->c, &i, args, i.nargs);
}

static void body(walk *w, twi_lid first) {
    for (twi_lid v = first; v; v = w->from->ins.at[v].next) {
        const twi_lins *i = &w->from->ins.at[v];
        const rule *found = NULL;
        for (size_t k = 0; k < sizeof rules / sizeof *rules && !found; k++)
            if (rules[k].op == i->op && rules[k].when(w, v))
                found = &rules[k];
        w->c.loc = i->loc;
        twi_lid now = found ? found->rewrite(w, v) : copied(w, v);
        w->now[v] = now;
        if (i->name && !w->c.f->ins.at[now].name)
            w->c.f->ins.at[now].name = i->name;
        if (i->op == TWI_L_FOR || i->op == TWI_L_UNROLL || i->op == TWI_L_IF) {
            twi_lb_open(&w->c, now);
            body(w, i->body);
            twi_lb_close(&w->c);
        }
    }
}

/* Tables that instructions refer to keep their numbers; instructions are built anew. */
twi_func twi_func_emptied(twi_arena *arena, const twi_func *from) {
    twi_func f = *from;
    f.first = 0;
    memset(&f.ins, 0, sizeof f.ins);
    memset(&f.args, 0, sizeof f.args);
    twi_push(arena, &f.ins, (twi_lins){0});
    twi_push(arena, &f.args, 0);
    f.object.at = twi_copy(arena, from->object.at, from->object.n * sizeof *from->object.at);
    f.object.cap = f.object.n;
    f.access.at = twi_copy(arena, from->access.at, from->access.n * sizeof *from->access.at);
    f.access.cap = f.access.n;
    f.constant.at =
        twi_copy(arena, from->constant.at, from->constant.n * sizeof *from->constant.at);
    f.constant.cap = f.constant.n;
    f.ints.at = twi_copy(arena, from->ints.at, from->ints.n * sizeof *from->ints.at);
    f.ints.cap = f.ints.n;
    return f;
}

twi_loop *twi_legalize(const twi_loop *loop, twi_arena *arena, const twi_caps *caps) {
    twi_loop *out = TWI_NEW(arena, twi_loop);
    *out = *loop;
    out->arena = arena;
    memset(&out->func, 0, sizeof out->func);
    for (uint32_t k = 0; k < loop->func.n; k++)
        twi_push(arena, &out->func, twi_func_emptied(arena, &loop->func.at[k]));
    for (uint32_t k = 0; k < loop->func.n; k++) {
        walk w = {.caps = caps, .from = &loop->func.at[k]};
        w.now = TWI_NEW_N(arena, twi_lid, w.from->ins.n);
        twi_cursor_init(&w.c, out, k);
        body(&w, w.from->first);
        twi_narrow_index(out, k);
    }
    return out;
}
