/* SPDX-License-Identifier: Apache-2.0
 * The loop IR builder as the walk uses it: operands of differing counts are splatted, instructions
 * that really arise are counted (the tally), index arithmetic is marked and left out of the count.
 */
#include "base/hash.h"
#include "lower/walk.h"
#include "plan/atom.h"

unsigned twi_w_count(const twi_lowering *w, twi_lid a) { return twi_lins_of(w->c.f, a)->count; }

/* Counts of the operands made equal; the count. */
static unsigned even_out(twi_lowering *w, twi_lid *a, unsigned n) {
    unsigned count = 1;
    for (unsigned k = 0; k < n; k++)
        if (a[k] && twi_w_count(w, a[k]) > count)
            count = twi_w_count(w, a[k]);
    for (unsigned k = 0; k < n; k++)
        if (a[k] && twi_w_count(w, a[k]) != count)
            a[k] = twi_w_splat(w, a[k], count);
    return count;
}

/* ---- what is there already ----------------------------------------------------------------------
 */
static unsigned chain_of(const twi_known *k) {
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h = (((uint64_t)k->op << 32 | k->attr) * odd ^ ((uint64_t)k->a << 32 | k->b)) * odd;
    return (unsigned)(h >> 48) % TWI_KNOWN_CHAINS;
}

static twi_lid find_known(const twi_lowering *w, const twi_known *k) {
    for (uint32_t e = w->known_chain[chain_of(k)]; e; e = w->known.at[e - 1].before) {
        const twi_known *o = &w->known.at[e - 1];
        if (o->op == k->op && o->attr == k->attr && o->a == k->a && o->b == k->b)
            return o->is;
    }
    return 0;
}

static void chain_in(twi_lowering *w, const twi_known *k) {
    const unsigned c = chain_of(k);
    twi_push(w->arena, &w->known, *k);
    w->known.at[w->known.n - 1].before = w->known_chain[c];
    w->known_chain[c] = w->known.n;
}

/* On leaving a body: what stands in it is no longer known; what was moved out of it is. */
static void forget_known(twi_lowering *w, uint32_t n, unsigned level) {
    uint32_t top = w->known.n;
    for (uint32_t k = top; k-- > n;)
        w->known_chain[chain_of(&w->known.at[k])] = w->known.at[k].before;
    w->known.n = n;
    for (uint32_t k = n; k < top; k++) {
        twi_known e = w->known.at[k];
        if (e.level >= level)
            continue;
        chain_in(w, &e);
    }
}

/* ---- hoisting: a pure instruction stands where its last operand becomes known
 * ------------------------ */
static void set_level(twi_lowering *w, twi_lid v, unsigned level) {
    while (w->level.n <= v)
        twi_push(w->arena, &w->level, (uint8_t)255);
    w->level.at[v] = (uint8_t)level;
}

static unsigned level_of(const twi_lowering *w, twi_lid v) {
    return v < w->level.n && w->level.at[v] != 255 ? w->level.at[v] : w->c.open.n;
}

static twi_lid *head_of(twi_lowering *w, unsigned level) {
    return level ? &w->c.f->ins.at[w->c.open.at[level - 1]].body : &w->c.f->first;
}

/* Takes v, which follows `prev` in the innermost body, out to `level`, before the body that is open
 * there. */
static void move_out(twi_lowering *w, twi_lid v, twi_lid prev, unsigned level) {
    twi_lins *ins = w->c.f->ins.at;
    unsigned depth = w->c.open.n;
    *(prev ? &ins[prev].next : head_of(w, depth)) = ins[v].next;
    if (w->c.last.at[depth] == v)
        w->c.last.at[depth] = prev;
    twi_lid anchor = w->anchor.at[level];
    ins[v].next = w->c.open.at[level];
    *(anchor ? &ins[anchor].next : head_of(w, level)) = v;
    w->anchor.at[level] = v;
}

/* Places the instructions made since `first`, which follow `prev`; the last one's level. */
static unsigned place(twi_lowering *w, uint32_t first, twi_lid prev) {
    unsigned depth = w->c.open.n, level = depth;
    for (twi_lid v = first; v < w->c.f->ins.n; v++) {
        level = 0;
        for (unsigned k = 0; k < w->c.f->ins.at[v].nargs; k++) {
            unsigned l = level_of(w, twi_larg(w->c.f, v, k));
            level = l > level ? l : level;
        }
        set_level(w, v, level);
        if (level < depth)
            move_out(w, v, prev, level);
        else
            prev = v;
    }
    return level;
}

/* Remembers an instruction that was asked for as k and is now v; it stands where it was placed. */
static twi_lid learn(twi_lowering *w, const twi_known *k, uint32_t first, twi_lid prev, twi_lid v) {
    place(w, first, prev);
    chain_in(w, k);
    w->known.at[w->known.n - 1].is = v;
    w->known.at[w->known.n - 1].level = level_of(w, v);
    return v;
}

static twi_lid last_here(const twi_lowering *w) { return w->c.last.at[w->c.open.n]; }

twi_lid twi_w_splat(twi_lowering *w, twi_lid a, unsigned count) {
    if (twi_w_count(w, a) == count)
        return a;
    twi_known k = {.op = TWI_L_SPLAT, .attr = count, .a = a};
    twi_lid is = find_known(w, &k), prev = last_here(w);
    uint32_t first = w->c.f->ins.n;
    return is ? is : learn(w, &k, first, prev, twi_lb_splat(&w->c, a, count));
}

twi_lid twi_w_leaf(twi_lowering *w, twi_loop_op op, unsigned count, uint32_t attr) {
    twi_known k = {.op = (uint16_t)op, .attr = attr, .a = count};
    twi_lid is = find_known(w, &k), prev = last_here(w);
    uint32_t first = w->c.f->ins.n;
    return is ? is : learn(w, &k, first, prev, twi_lb_leaf(&w->c, op, TW_I64, count, attr));
}

twi_lid twi_w_op(twi_lowering *w, unsigned op, twi_lid a, twi_lid b, twi_lid d) {
    twi_lid x[3] = {a, b, d};
    even_out(w, x, 3);
    uint32_t before = w->c.f->ins.n;
    twi_lid r = twi_lb_op(&w->c, op, x[0], x[1], x[2]);
    if (w->tally && w->c.f->ins.n > before && twi_lins_of(w->c.f, r)->op == op)
        w->tally->ops[twi_op_row(op)->price] += w->trips;
    return r;
}

static void mark_index(twi_lowering *w, twi_lid v) {
    if (w->c.f->ins.at[v].op != TWI_L_LCONST)
        w->c.f->ins.at[v].flags |= TWI_FLAG_INDEX;
}

twi_lid twi_w_ix(twi_lowering *w, unsigned op, twi_lid a, twi_lid b) {
    twi_lid x[2] = {a, b};
    even_out(w, x, 2);
    twi_known k = {.op = (uint16_t)op, .a = x[0], .b = x[1]};
    twi_lid is = find_known(w, &k), prev = last_here(w);
    if (is)
        return is;
    uint32_t before = w->c.f->ins.n, fold = w->c.fold;
    w->c.fold = 0;
    twi_lid r = twi_lb_op(&w->c, op, x[0], x[1], 0);
    w->c.fold = fold;
    for (uint32_t i = before; i < w->c.f->ins.n; i++)
        mark_index(w, i);
    return learn(w, &k, before, prev, r);
}

twi_lid twi_w_ix_select(twi_lowering *w, twi_lid condition, twi_lid a, twi_lid b) {
    uint32_t before = w->c.f->ins.n;
    twi_lid r = twi_lb_op(&w->c, TWI_SELECT, condition, a, b);
    for (uint32_t k = before; k < w->c.f->ins.n; k++)
        mark_index(w, k);
    return r;
}

twi_lid twi_w_cast(twi_lowering *w, tw_elem elem, twi_lid a) {
    if (twi_lins_of(w->c.f, a)->elem == elem)
        return a;
    uint32_t before = w->c.f->ins.n;
    twi_lid r = twi_lb_cast(&w->c, elem, a);
    if (w->tally && w->c.f->ins.n > before && twi_lins_of(w->c.f, r)->op == TWI_CAST)
        w->tally->ops[TWI_PRICE_CHEAP] += w->trips;
    return r;
}

twi_lid twi_w_bitcast(twi_lowering *w, tw_elem elem, twi_lid a) {
    uint32_t before = w->c.f->ins.n;
    twi_lid r = twi_lb_bitcast(&w->c, elem, a);
    if (w->tally && w->c.f->ins.n > before)
        w->tally->ops[twi_op_row(TWI_BITCAST)->price] += w->trips;
    return r;
}

twi_lid twi_w_const(twi_lowering *w, tw_elem elem, uint64_t bits, unsigned flags) {
    twi_known k = {.op = TWI_L_LCONST,
                   .attr = (uint32_t)elem << 8 | flags,
                   .a = (uint32_t)bits,
                   .b = (uint32_t)(bits >> 32)};
    twi_lid is = find_known(w, &k), prev = last_here(w);
    uint32_t first = w->c.f->ins.n;
    return is ? is : learn(w, &k, first, prev, twi_lb_bits(&w->c, elem, bits, flags));
}

twi_lid twi_w_identity(twi_lowering *w, unsigned op, tw_elem elem) {
    unsigned kind = twi_monoid_of(op)->identity;
    if (kind == TWI_ID_NEG_ZERO && !twi_is_float(elem))
        kind = TWI_ID_ZERO;
    return twi_w_const(w, elem, twi_identity_bits((twi_identity)kind, elem), TWI_FLAG_IDENTITY);
}

twi_lid twi_w_int(twi_lowering *w, int64_t k) { return twi_w_const(w, TW_I64, (uint64_t)k, 0); }

twi_lid twi_w_dots(twi_lowering *w, twi_lid a, twi_lid b, twi_lid sum) {
    const twi_lins *i = &w->c.f->ins.at[a];
    if (w->tally)
        w->tally->ops[TWI_PRICE_CHEAP] +=
            w->trips * twi_atom_taking((tw_elem)i->elem, i->count)->ops;
    return twi_lb_dots(&w->c, a, b, sum);
}

static void count_exchange(twi_lowering *w, unsigned rounds) {
    if (!w->tally)
        return;
    w->tally->lane_rounds += w->trips * rounds;
    twi_w_ready(w);
}

twi_lid twi_w_lane_fold(twi_lowering *w, unsigned merge, twi_lid a, unsigned log_stride,
                        unsigned log_extent) {
    count_exchange(w, log_extent);
    return twi_lb_lane_fold(&w->c, merge, a, log_stride, log_extent);
}

twi_lid twi_w_lane_xor(twi_lowering *w, twi_lid a, uint32_t mask) {
    count_exchange(w, 1);
    return twi_lb_lane_xor(&w->c, a, mask);
}

twi_lid twi_w_lane_shift(twi_lowering *w, twi_lid a, int32_t by) {
    count_exchange(w, 1);
    return twi_lb_lane_shift(&w->c, a, by);
}

twi_lid twi_w_lane_read(twi_lowering *w, twi_lid a, twi_lid lane) {
    count_exchange(w, 1);
    return twi_lb_lane_read(&w->c, a, lane);
}

twi_lid twi_w_inner_loop(const twi_lowering *w) {
    for (uint32_t k = w->c.open.n; k-- > 0;)
        if (w->c.f->ins.at[w->c.open.at[k]].op == TWI_L_FOR)
            return w->c.open.at[k];
    return 0;
}

static void count_access(twi_lowering *w, const twi_laccess *a, const twi_lid *index,
                         unsigned count, bool store, twi_lid mask) {
    const twi_lid loop = twi_w_inner_loop(w);
    const double groups = w->tally ? (double)twi_plan_groups(w->plan) : 1;
    const twi_touch t = {.access = a,
                         .index = index,
                         .count = count,
                         .store = store,
                         .trips = w->trips,
                         .loop = loop,
                         .loop_trips =
                             w->tally && loop ? twi_estimate_trips(w->c.f, loop, groups) : 1,
                         .mask = mask,
                         .open = w->c.open.at,
                         .n_open = w->c.open.n,
                         .groups = groups};
    if (w->tally && twi_count_touch(w->c.f, &t, w->tally))
        twi_w_waits(w, a->early);
}

twi_lid twi_w_load(twi_lowering *w, twi_laccess access, const twi_lid *index, unsigned count,
                   twi_lid mask, twi_lid other) {
    access.early = w->early && w->c.f->object.at[access.object].kind == TWI_OBJ_ARRAY;
    count_access(w, &access, index, count, false, mask);
    return twi_lb_load(&w->c, access, index, count, mask, other);
}

void twi_w_store(twi_lowering *w, twi_laccess access, const twi_lid *index, twi_lid value,
                 twi_lid mask) {
    count_access(w, &access, index, twi_w_count(w, value), true, mask);
    twi_lb_store(&w->c, access, index, value, mask);
}

void twi_w_async_copy(twi_lowering *w, twi_laccess access, const twi_lid *index, twi_lid value) {
    count_access(w, &access, index, twi_w_count(w, value), true, 0);
    twi_lb_async_copy(&w->c, access, index, value);
}

static void opened(twi_lowering *w, double trips, twi_lid prev) {
    twi_push(w->arena, &w->anchor, prev);
    set_level(w, w->c.open.at[w->c.open.n - 1], w->c.open.n);
    twi_push(w->arena, &w->open_trips, w->trips);
    twi_push(w->arena, &w->open_round, w->round);
    twi_push(w->arena, &w->open_known, w->known.n);
    w->trips *= trips;
}

twi_lid twi_w_for(twi_lowering *w, twi_lid lo, twi_lid hi, uint32_t step) {
    double groups = (double)twi_plan_groups(w->plan);
    twi_lid prev = last_here(w), i = twi_lb_for(&w->c, lo, hi, step);
    opened(w, twi_estimate_trips(w->c.f, i, groups), prev);
    w->round = w->trips;
    if (w->tally)
        w->tally->trips += w->trips;
    twi_w_ready(w);
    return i;
}

twi_lid twi_w_unroll(twi_lowering *w, uint32_t n) {
    twi_lid prev = last_here(w), i = twi_lb_unroll(&w->c, n);
    opened(w, n, prev);
    return i;
}

void twi_w_if(twi_lowering *w, twi_lid condition) {
    twi_lid prev = last_here(w);
    twi_lb_if(&w->c, condition);
    opened(w, 1, prev);
}

void twi_w_if_edge(twi_lowering *w, twi_lid condition) {
    twi_lid prev = last_here(w);
    twi_lb_if(&w->c, condition);
    twi_lins_of(w->c.f, w->c.open.at[w->c.open.n - 1])->attr = TWI_IF_EDGE;
    opened(w, 1, prev);
}

void twi_w_close(twi_lowering *w) {
    w->trips = w->open_trips.at[--w->open_trips.n];
    double round = w->open_round.at[--w->open_round.n];
    if (round != w->round)
        twi_w_ready(w);
    w->round = round;
    forget_known(w, w->open_known.at[--w->open_known.n], w->c.open.n);
    w->anchor.n--;
    twi_lb_close(&w->c);
}
