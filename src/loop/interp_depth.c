/* SPDX-License-Identifier: Apache-2.0
 * The depth domain: beside the values of a fold runs the number of roundings on the longest path to
 * them. COMBINE steps add one to the deeper operand, an identity as operand costs nothing, moves
 * (selects, casts, lanes, memory) keep it, and anything else ends it. An element that is not part
 * of the fold counts 0; so does the start value of a dot.
 */
#include "loop/interp_run.h"
#include "plan/atom.h"

static bool moves(unsigned op) {
    return op == TWI_SELECT || op == TWI_CAST || op == TWI_L_SPLAT || op == TWI_L_EXTRACT ||
           op == TWI_L_PACK || op == TWI_L_PERMUTE ||
           (op >= TWI_L_LANE_XOR && op <= TWI_L_LANE_SHIFT);
}

static bool is_real(const twi_lins *i) { return i->elem == TW_F32 || i->elem == TW_F64; }

static bool starts(const twi_lins *i) {
    return is_real(i) && ((i->flags & TWI_FLAG_COMBINE) ||
                          (i->op == TWI_L_LCONST && (i->flags & TWI_FLAG_IDENTITY)));
}

/* Is the array loaded, is it stored? */
static void touches(const twi_func *f, uint32_t array, bool *loaded, bool *stored) {
    for (uint32_t v = 1; v < f->ins.n; v++) {
        const twi_lins *i = &f->ins.at[v];
        if (!twi_loop_accesses(i->op))
            continue;
        const twi_object *o = &f->object.at[f->access.at[i->attr].object];
        if (o->kind == TWI_OBJ_ARRAY && o->array == array) {
            *loaded = *loaded || i->op == TWI_L_LLOAD;
            *stored = *stored || twi_loop_stores(i->op);
        }
    }
}

bool twi_run_array_shadow(const twi_loop *loop, uint32_t array) {
    bool loaded = false, stored = false, temp = loop->array.at[array].role == TWI_TEMP;
    for (uint32_t k = 0; k < loop->func.n && !(loaded && stored); k++) {
        if (!temp) /* what passes from one launch to the next are partial results in temps */
            loaded = stored = false;
        touches(&loop->func.at[k], array, &loaded, &stored);
    }
    return loaded && stored;
}

static void make(twi_run *run, twi_lid v) {
    size_t n = (size_t)run->workers * run->f->ins.at[v].count;
    run->shadow[v] = TWI_NEW_N(run->arena, twi_shadow, n);
    if (run->f->ins.at[v].op == TWI_L_LCONST)
        for (size_t k = 0; k < n; k++)
            run->shadow[v][k] = TWI_SHADOW_EMPTY;
}

/* One look at an instruction: true if it brought something new. */
static bool look(twi_run *run, twi_lid v) {
    const twi_func *f = run->f;
    const twi_lins *i = &f->ins.at[v];
    bool any = false;
    if (twi_loop_stores(i->op)) {
        twi_store *s = run->object[f->access.at[i->attr].object];
        const twi_object *o = &f->object.at[f->access.at[i->attr].object];
        if (s->shadowed || !run->shadow[twi_larg(f, v, o->rank)])
            return false;
        return s->shadowed = true;
    }
    if (run->shadow[v] || !i->count)
        return false;
    if (i->op == TWI_L_LLOAD)
        any = run->object[f->access.at[i->attr].object]->shadowed;
    unsigned from = i->op == TWI_L_LLOAD ? f->object.at[f->access.at[i->attr].object].rank : 0u;
    if (moves(i->op) || i->op == TWI_L_LLOAD)
        for (unsigned k = from; k < i->nargs; k++)
            any = any || run->shadow[twi_larg(f, v, k)] != NULL;
    if (!any && !starts(i))
        return false;
    make(run, v);
    return true;
}

static bool look_through(twi_run *run, twi_lid first) {
    bool any = false;
    for (twi_lid v = first; v; v = run->f->ins.at[v].next) {
        any = look(run, v) || any;
        any = look_through(run, run->f->ins.at[v].body) || any;
    }
    return any;
}

void twi_run_depth_plan(twi_run *run) {
    while (look_through(run, run->f->first)) {
    }
    for (uint32_t k = 1; k < run->f->object.n; k++) {
        const twi_object *o = &run->f->object.at[k];
        twi_store *s = run->object[k];
        if (o->kind == TWI_OBJ_ARRAY || !s->shadowed)
            continue;
        size_t copies = o->kind == TWI_OBJ_SHARED ? 1 : run->workers;
        s->shadow = TWI_NEW_N(run->arena, twi_shadow, copies * (size_t)s->size * o->count);
    }
}

/* ---- combining ---- */

static uint64_t roundings(twi_shadow s, uint32_t fold) {
    return s != TWI_SHADOW_EMPTY && s >> 32 == fold ? (uint32_t)s : 0;
}

static twi_shadow tagged(uint32_t fold, uint64_t depth) { return (uint64_t)fold << 32 | depth; }

static twi_shadow combine(uint32_t fold, twi_shadow a, twi_shadow b) {
    if (a == TWI_SHADOW_EMPTY || b == TWI_SHADOW_EMPTY)
        return a == b ? a : tagged(fold, roundings(a == TWI_SHADOW_EMPTY ? b : a, fold));
    uint64_t x = roundings(a, fold), y = roundings(b, fold);
    return tagged(fold, (x > y ? x : y) + 1);
}

static twi_shadow shadow_at(const twi_run *run, twi_lid v, size_t k) {
    return run->shadow[v] ? run->shadow[v][k] : 0;
}

static void record(twi_run *run, uint32_t fold, uint32_t worker, twi_shadow s) {
    uint32_t depth = (uint32_t)roundings(s, fold);
    if (run->mask[worker] && depth > run->result->depth[fold])
        run->result->depth[fold] = depth;
}

void twi_run_depth(twi_run *run, twi_lid v) {
    const twi_func *f = run->f;
    const twi_lins *i = &f->ins.at[v];
    twi_shadow *to = run->shadow[v];
    size_t n = (size_t)run->workers * i->count;
    if (i->op == TWI_SELECT) {
        const uint8_t *when = twi_run_arg(run, v, 0);
        for (size_t k = 0; k < n; k++)
            to[k] = shadow_at(run, twi_larg(f, v, when[k] ? 1 : 2), k);
        return;
    }
    if (i->op == TWI_CAST) {
        for (size_t k = 0; k < n; k++)
            to[k] = shadow_at(run, twi_larg(f, v, 0), k);
        return;
    }
    for (size_t k = 0; k < n; k++) {
        twi_shadow a = shadow_at(run, twi_larg(f, v, 0), k),
                   b = shadow_at(run, twi_larg(f, v, 1), k);
        if (i->op ==
            TWI_FMA) /* the product is rounded with the sum, and alone where c is nothing */
            to[k] = tagged(i->fold, roundings(shadow_at(run, twi_larg(f, v, 2), k), i->fold) + 1);
        else
            to[k] = combine(i->fold, a, b);
        record(run, i->fold, (uint32_t)(k / i->count), to[k]);
    }
}

static void lanes_combine(twi_run *run, twi_lid v) {
    const twi_lins *i = &run->f->ins.at[v];
    twi_lid x = twi_larg(run->f, v, 0);
    uint32_t count = run->f->ins.at[x].count;
    unsigned log_stride = i->attr >> 8 & 255u, rounds = i->attr >> 16;
    size_t n = (size_t)run->workers * count;
    bool vector = run->f->explicit_lanes;
    twi_mark mark = twi_arena_mark(run->arena);
    twi_shadow *now = TWI_NEW_N(run->arena, twi_shadow, n),
               *next = TWI_NEW_N(run->arena, twi_shadow, n);
    for (size_t k = 0; k < n; k++)
        now[k] = shadow_at(run, x, k);
    for (unsigned round = 0; round < rounds; round++) {
        size_t bit = (size_t)1 << (log_stride + round);
        for (size_t k = 0; k < n; k++) {
            size_t lane = vector ? k : k / count % run->lanes;
            size_t other = lane ^ bit, limit = vector ? count : run->lanes;
            size_t at =
                other < limit ? k - lane * (vector ? 1 : count) + other * (vector ? 1 : count) : k;
            next[k] = combine(i->fold, now[k], now[at]);
        }
        memcpy(now, next, n * sizeof *now);
    }
    for (size_t k = 0; k < (size_t)run->workers * i->count; k++) {
        run->shadow[v][k] = now[k];
        record(run, i->fold, (uint32_t)(k / i->count), now[k]);
    }
    twi_arena_reset(run->arena, mark);
}

/* Each product is rounded with the sum so far. */
static void dots_combine(twi_run *run, twi_lid v) {
    const twi_lins *i = &run->f->ins.at[v];
    const twi_lins *a = &run->f->ins.at[twi_larg(run->f, v, 0)];
    const uint32_t steps = a->count, groups = steps / twi_atom_group((tw_elem)a->elem);
    for (size_t k = 0; k < (size_t)run->workers * i->count; k++) {
        uint64_t sum = roundings(shadow_at(run, twi_larg(run->f, v, 2), k), i->fold);
        if (groups == 1)
            sum += steps;
        else /* chains of their own, and the sum of two */
            sum = 1 + (sum > groups + 1 ? sum : groups + 1);
        run->shadow[v][k] = tagged(i->fold, sum);
        record(run, i->fold, (uint32_t)(k / i->count), run->shadow[v][k]);
    }
}

static size_t source(const twi_run *run, twi_lid v, uint32_t w, uint32_t e, unsigned *k) {
    const twi_lins *i = &run->f->ins.at[v];
    size_t count = run->f->ins.at[twi_larg(run->f, v, 0)].count, from = 0;
    *k = 0;
    switch (i->op) {
    case TWI_L_PACK:
        *k = e;
        return w;
    case TWI_L_EXTRACT:
        return w * count + i->attr;
    case TWI_L_PERMUTE:
        from = (size_t)run->f->ints.at[i->attr + e];
        *k = from >= count;
        return w * count + from % count;
    case TWI_L_LANE_XOR:
        return run->f->explicit_lanes ? (e ^ i->attr) : (size_t)(w ^ i->attr) * count + e;
    case TWI_L_LANE_SHIFT:
        return twi_run_shifted(run, w, e, count, (int32_t)i->attr);
    case TWI_L_LANE_READ:
        from = (size_t)twi_run_index(run, twi_larg(run->f, v, 1), w);
        return run->f->explicit_lanes ? from : (w - w % run->lanes + from) * count + e;
    default:
        return w * count;
    }
}

void twi_run_depth_lanes(twi_run *run, twi_lid v) {
    const twi_lins *i = &run->f->ins.at[v];
    if (i->op == TWI_L_LANE_FOLD || i->op == TWI_L_DOTS) {
        (i->op == TWI_L_DOTS ? dots_combine : lanes_combine)(run, v);
        return;
    }
    for (uint32_t w = 0; w < run->workers; w++)
        for (uint32_t e = 0; e < i->count; e++) {
            unsigned k;
            size_t from = source(run, v, w, e, &k);
            twi_lid x = twi_larg(run->f, v, k);
            size_t n = (size_t)run->workers * run->f->ins.at[x].count;
            run->shadow[v][w * (size_t)i->count + e] = from < n ? shadow_at(run, x, from) : 0;
        }
}
