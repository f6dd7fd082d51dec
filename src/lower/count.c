/* SPDX-License-Identifier: Apache-2.0
 * Features counted over built loop IR: bodies times trips. The tally counts the same while walking;
 * a test compares.
 */
#include "lower/walk.h"
#include "plan/atom.h"

double twi_estimate_trips(const twi_func *f, twi_lid loop, double groups) {
    const twi_lins *i = &f->ins.at[loop];
    if (i->op != TWI_L_FOR)
        return i->attr;
    double lo = twi_estimate(f, f->args.at[i->arg], groups);
    double n = (twi_estimate(f, f->args.at[i->arg + 1], groups) - lo) / i->attr;
    return n > 0 ? n : 0;
}

static double middle_of_loop(const twi_func *f, twi_lid loop, double groups) {
    const twi_lins *i = &f->ins.at[loop];
    double trips = twi_estimate_trips(f, loop, groups);
    double lo = i->op == TWI_L_FOR ? twi_estimate(f, f->args.at[i->arg], groups) : 0;
    double step = i->op == TWI_L_FOR ? i->attr : 1;
    return lo + (trips > 1 ? step * (trips - 1) / 2 : 0);
}

static double middle_of_id(const twi_func *f, unsigned level, double groups) {
    double n = level == TWI_LV_GRID ? groups : level == TWI_LV_SUB ? f->subs : f->lanes;
    return n > 1 ? (n - 1) / 2 : 0;
}

static double floor_of(double x) {
    double t = (double)(int64_t)x;
    return t > x ? t - 1 : t;
}

double twi_estimate(const twi_func *f, twi_lid v, double groups) {
    const twi_lins *i = &f->ins.at[v];
    double a = 0, b = 0;
    if (i->op < TWI_ELEMENTWISE_END && i->nargs) {
        a = twi_estimate(f, f->args.at[i->arg], groups);
        b = i->nargs > 1 ? twi_estimate(f, f->args.at[i->arg + 1], groups) : 0;
    }
    switch (i->op) {
    case TWI_L_LCONST:
        return (double)(int64_t)f->constant.at[i->attr];
    case TWI_L_ID:
        return middle_of_id(f, i->attr, groups);
    case TWI_L_FOR:
    case TWI_L_UNROLL:
        return middle_of_loop(f, v, groups);
    case TWI_ADD:
        return a + b;
    case TWI_SUB:
        return a - b;
    case TWI_MUL:
        return a * b;
    case TWI_IDIV:
        return b != 0 ? floor_of(a / b) : 0;
    case TWI_IMOD:
        return b != 0 ? a - b * floor_of(a / b) : a;
    case TWI_MIN:
        return a < b ? a : b;
    case TWI_MAX:
        return a > b ? a : b;
    case TWI_CAST:
        return a;
    default:
        return 0;
    }
}

bool twi_is_scattered(const twi_func *f, const twi_laccess *a, const twi_lid *index,
                      unsigned count) {
    const twi_object *o = &f->object.at[a->object];
    if (count == 1 || o->count > 1 || (!f->explicit_lanes && o->kind == TWI_OBJ_PRIVATE))
        return false;
    for (unsigned d = 0; d < o->rank; d++)
        if (f->ins.at[index[d]].count > 1)
            return true;
    return o->rank > 0 && o->stride[a->dim] != 1;
}

static bool follows_loop(const twi_func *f, twi_lid v) {
    const twi_lins *i = &f->ins.at[v];
    bool is = i->op == TWI_L_FOR;
    for (unsigned k = 0; i->op < TWI_ELEMENTWISE_END && k < i->nargs; k++)
        is = is || follows_loop(f, f->args.at[i->arg + k]);
    return is;
}

/* Masks that are known once the code is emitted are the compiler's to drop. */
static bool is_run_time(const twi_func *f, twi_lid v) {
    const twi_lins *i = &f->ins.at[v];
    bool is =
        i->op == TWI_L_FOR || i->op == TWI_L_ID || i->op == TWI_L_TRIP || i->op == TWI_L_LLOAD;
    for (unsigned k = 0; !is && i->op != TWI_L_UNROLL && k < i->nargs; k++)
        is = is_run_time(f, f->args.at[i->arg + k]);
    return is;
}

static bool is_indexed(const twi_func *f, const twi_object *o, const twi_lid *index) {
    bool is = false;
    for (unsigned d = 0; o->kind == TWI_OBJ_PRIVATE && d < o->rank; d++)
        is = is || follows_loop(f, index[d]);
    return is;
}

double twi_step_of(const twi_func *f, twi_lid v, twi_lid loop) {
    const twi_lins *i = &f->ins.at[v];
    if (v == loop)
        return 1;
    if (i->op != TWI_ADD && i->op != TWI_SUB && i->op != TWI_MUL)
        return 0;
    twi_lid x = f->args.at[i->arg], y = f->args.at[i->arg + 1];
    if (i->op != TWI_MUL)
        return twi_step_of(f, x, loop) + (i->op == TWI_ADD ? 1 : -1) * twi_step_of(f, y, loop);
    return f->ins.at[y].op == TWI_L_LCONST
               ? twi_step_of(f, x, loop) * (double)(int64_t)f->constant.at[f->ins.at[y].attr]
               : 0;
}

/* Bytes between what an access touches in two trips of its loop. */
static double trip_step(const twi_func *f, const twi_touch *t) {
    const twi_object *o = &f->object.at[t->access->object];
    double step = 0;
    for (unsigned d = 0; t->loop && d < o->rank; d++)
        step += twi_step_of(f, t->index[d], t->loop) * (double)o->stride[d];
    return (step < 0 ? -step : step) * o->count * (double)tw_elem_size((tw_elem)o->elem);
}

enum { LINE = 64, SPAN = 4096, WAYS = 10 }; /* a first level of cache: 64 sets, 8 to 12 ways */

/* What is asked for ahead comes while the operands before it are used. */
#define AHEAD_PART 0.5

/* How many of the slots in index `index` share a set; v: it, or a part of it. */
static double rivals(const twi_func *f, twi_lid index, twi_lid v, double stride_bytes) {
    const twi_lins *i = &f->ins.at[v];
    double all = 1;
    if (i->op == TWI_L_UNROLL) {
        const int64_t step = (int64_t)(twi_step_of(f, index, v) * stride_bytes);
        const int64_t common = step & -step; /* the greatest power of two in it */
        const double sets = common >= SPAN ? 1 : common > 0 ? SPAN / (double)common : SPAN;
        return i->attr > sets ? i->attr / sets : 1;
    }
    for (unsigned k = 0; i->op < TWI_ELEMENTWISE_END && k < i->nargs; k++)
        all *= rivals(f, index, f->args.at[i->arg + k], stride_bytes);
    return all;
}

/* Do the lines in which an access reads on, trip after trip, push each other out? */
static bool is_crowded(const twi_func *f, const twi_touch *t) {
    const twi_object *o = &f->object.at[t->access->object];
    const double step = trip_step(f, t);
    double all = 1;
    if (t->store || o->kind == TWI_OBJ_PRIVATE || step <= 0 || step >= LINE)
        return false;
    for (unsigned d = 0; d < o->rank; d++)
        all *= rivals(f, t->index[d], t->index[d],
                      (double)o->stride[d] * o->count * (double)tw_elem_size((tw_elem)o->elem));
    return all > WAYS;
}

/* Neighbouring lines come together, and what a first level of cache holds costs nothing. */
static double jump_of(const twi_func *f, const twi_touch *t) {
    enum { NEAR_STEP = 256, NEAR_SPAN = 32768 };
    const double step = trip_step(f, t);
    double span = step * t->loop_trips;
    if (step <= NEAR_STEP || span <= NEAR_SPAN)
        return 0;
    return span < 8 * 0x1p20 ? span * 0x1p-20 : 8;
}

static bool stands_still(const twi_func *f, twi_lid v, twi_lid loop) {
    const twi_lins *i = &f->ins.at[v];
    bool still = v != loop && (i->op < TWI_ELEMENTWISE_END || i->op == TWI_L_FOR ||
                               i->op == TWI_L_UNROLL || i->op == TWI_L_ID || i->op == TWI_L_LCONST);
    for (unsigned k = 0; still && i->op < TWI_ELEMENTWISE_END && k < i->nargs; k++)
        still = stands_still(f, f->args.at[i->arg + k], loop);
    return still;
}

static bool has_whole_lines(const twi_func *f, const twi_touch *t) {
    const twi_object *o = &f->object.at[t->access->object];
    bool whole = true;
    for (unsigned d = 0; t->count > 1 && d < o->rank; d++)
        whole = whole && (o->stride[d] == 1 ||
                          o->stride[d] * (int64_t)tw_elem_size((tw_elem)o->elem) % LINE == 0);
    return whole;
}

/* How much of what a load brings it has brought before, in the trip before of a loop around, and a
 * second level of cache has held since? Vectors that lie across two lines take both, which only
 * those of a first level hide. */
static double again_part(const twi_func *f, const twi_touch *t, double bytes) {
    enum { FIRST = LINE * 64 * 12, SECOND = 1 << 20 }; /* the latter: half of one */
    bool still = false;
    for (uint32_t k = 0; k < t->n_open; k++)
        if (f->ins.at[t->open[k]].op == TWI_L_FOR)
            bytes /= twi_estimate_trips(f, t->open[k], t->groups);
    for (uint32_t k = t->n_open; k-- > 0 && !still;) {
        if (f->ins.at[t->open[k]].op != TWI_L_FOR)
            continue;
        still = true;
        for (unsigned d = 0; still && d < f->object.at[t->access->object].rank; d++)
            still = stands_still(f, t->index[d], t->open[k]);
        bytes *= still ? 1 : twi_estimate_trips(f, t->open[k], t->groups);
    }
    if (!still || !(bytes <= SECOND))
        return 0;
    return bytes <= FIRST || has_whole_lines(f, t) ? 1 : 0.5;
}

bool twi_count_touch(const twi_func *f, const twi_touch *t, twi_features *out) {
    const twi_object *o = &f->object.at[t->access->object];
    if (f->explicit_lanes) {
        out->jumps += t->trips * jump_of(f, t);
        out->masked += t->count > 1 && t->mask && is_run_time(f, t->mask) ? t->trips : 0;
        out->crowded += is_crowded(f, t) ? t->trips : 0;
    }
    double bytes = t->trips * t->count * (double)tw_elem_size((tw_elem)o->elem);
    bool simt = !f->explicit_lanes;
    if (twi_is_scattered(f, t->access, t->index, t->count))
        out->scattered += t->trips * t->count;
    if (o->kind != TWI_OBJ_ARRAY) { /* private objects are meant for registers */
        out->near_bytes += o->kind == TWI_OBJ_PRIVATE ? 0
                           : t->access->ahead         ? AHEAD_PART * bytes
                                                      : bytes;
        if (simt && is_indexed(f, o, t->index))
            out->indexed += t->trips;
        if (simt && o->kind == TWI_OBJ_SHARED)
            out->turns += t->trips * f->subs * twi_access_turns(f, t);
        return false;
    }
    if (o->array >= out->arrays || o->array == out->status)
        return false;
    const uint32_t row = out->row ? out->row[o->array] : o->array;
    (t->store ? out->store_bytes : out->load_bytes)[row] += bytes;
    (t->store ? out->stores : out->loads)[row] += t->trips;
    out->again += f->explicit_lanes && !t->store ? bytes * again_part(f, t, bytes) : 0;
    if (simt)
        out->sectors[row] += t->trips * f->subs * twi_access_sectors(f, t);
    return !t->store;
}

static void count_exchange(double rounds, twi_features *out) {
    out->lane_rounds += rounds;
    out->waits[0] = out->waits[1] = false;
}

enum { DEEPEST = 64 }; /* bodies in bodies; of what lies deeper no more is asked */

typedef struct {
    double trips, round; /* of the body of the innermost rolled loop */
    twi_lid loop;        /* that one */
    double loop_trips;
    twi_lid *open; /* bodies around, outermost first */
    uint32_t n_open;
} around;

static void count_ins(const twi_func *f, const twi_lins *i, const around *a, twi_features *out) {
    const double trips = a->trips;
    if (i->op < TWI_ELEMENTWISE_END) {
        if (!(i->flags & TWI_FLAG_INDEX))
            out->ops[twi_op_row(i->op)->price] += trips;
    } else if (twi_loop_accesses(i->op)) {
        twi_touch t = {.access = &f->access.at[i->attr],
                       .index = &f->args.at[i->arg],
                       .count = i->count,
                       .store = twi_loop_stores(i->op),
                       .trips = trips,
                       .loop = a->loop,
                       .loop_trips = a->loop_trips,
                       .open = a->open,
                       .n_open = a->n_open,
                       .groups = (double)out->groups};
        const unsigned rank = f->object.at[t.access->object].rank;
        if (t.store)
            t.count = f->ins.at[t.index[rank]].count;
        if (t.access->mask != TWI_MASK_NONE)
            t.mask = t.index[rank + t.store];
        bool far = twi_count_touch(f, &t, out);
        const bool early = t.access->early;
        *(early ? &out->early : &out->rounds) += far && !out->waits[early] ? a->round : 0;
        out->waits[early] = out->waits[early] || far;
    } else if (i->op == TWI_L_DOTS) {
        const twi_lins *x = &f->ins.at[f->args.at[i->arg]];
        out->ops[TWI_PRICE_CHEAP] += trips * twi_atom_taking((tw_elem)x->elem, x->count)->ops;
    } else if (i->op == TWI_L_LANE_FOLD) {
        count_exchange(trips * (i->attr >> 16), out);
    } else if (i->op >= TWI_L_LANE_XOR && i->op <= TWI_L_LANE_SHIFT) {
        count_exchange(trips, out);
    } else if (i->op == TWI_L_BARRIER) {
        out->barriers += trips;
        out->meets = true;
        out->waits[0] = out->waits[1] = false;
    }
}

static void count_body(const twi_func *f, twi_lid first, const around *at, double groups,
                       twi_features *out) {
    for (twi_lid v = first; v; v = f->ins.at[v].next) {
        const twi_lins *i = &f->ins.at[v];
        around inner = *at;
        if (i->op == TWI_L_FOR) {
            inner.loop = v;
            inner.loop_trips = twi_estimate_trips(f, v, groups);
            inner.trips *= inner.loop_trips;
            inner.round = inner.trips;
            out->trips += inner.trips;
            out->waits[0] = out->waits[1] = false;
        } else if (i->op == TWI_L_UNROLL) {
            inner.trips *= i->attr;
        } else if (i->op == TWI_L_IF && i->attr == TWI_IF_EDGE) {
            continue; /* the full tile beside it stands for it */
        }
        count_ins(f, i, at, out);
        if (i->body && at->n_open < DEEPEST)
            inner.open[inner.n_open++] = v;
        count_body(f, i->body, &inner, groups, out);
        if (inner.round != at->round)
            out->waits[0] = out->waits[1] = false;
    }
}

static uint32_t elements_of(const twi_object *o) {
    return (uint32_t)(o->rank ? o->extent[0] * o->stride[0] : 1);
}

/* Elements of the private arrays from which a fold's product takes its operands. */
static uint32_t operands_of(const twi_func *f, const twi_lins *product) {
    uint32_t n = 0;
    for (unsigned k = 0; k < 2; k++) {
        const twi_lins *from = &f->ins.at[f->args.at[product->arg + k]];
        const twi_object *o =
            from->op == TWI_L_LLOAD ? &f->object.at[f->access.at[from->attr].object] : NULL;
        n += o && o->kind == TWI_OBJ_PRIVATE ? elements_of(o) : 0;
    }
    return n;
}

/* Instructions, unrolled; *operands is raised to the most of one product among them. */
static uint32_t code_size(const twi_func *f, twi_lid first, uint32_t *operands) {
    uint32_t n = 0;
    for (twi_lid v = first; v; v = f->ins.at[v].next) {
        const twi_lins *i = &f->ins.at[v];
        const uint32_t own = i->op == TWI_FMA && i->fold ? operands_of(f, i) : 0;
        *operands = own > *operands ? own : *operands;
        n += 1;
        if (i->body)
            n += code_size(f, i->body, operands) * (i->op == TWI_L_UNROLL ? i->attr : 1);
    }
    return n;
}

void twi_features_of_func(const twi_func *f, twi_features *out) {
    out->operands = 0;
    out->code = code_size(f, f->first, &out->operands);
    for (uint32_t k = 1; k < f->object.n; k++) {
        const twi_object *o = &f->object.at[k];
        const uint32_t elements = elements_of(o);
        if (o->kind == TWI_OBJ_SHARED)
            out->shared_bytes += elements * (uint32_t)tw_elem_size((tw_elem)o->elem);
        if (o->kind != TWI_OBJ_PRIVATE)
            continue;
        out->private_bytes += (uint64_t)elements * tw_elem_size((tw_elem)o->elem);
        if (elements > out->slots)
            out->slots = elements;
    }
}

void twi_w_cut_off(twi_lowering *w) {
    if (w->tally && w->cutoff && w->cutoff->is_over(w->cutoff->user, w->tally))
        longjmp(*w->left, 1);
}

void twi_features_init(twi_arena *arena, uint32_t arrays, twi_features *out) {
    memset(out, 0, sizeof *out);
    out->arrays = arrays;
    out->load_bytes = TWI_NEW_N(arena, double, arrays + 1u);
    out->store_bytes = TWI_NEW_N(arena, double, arrays + 1u);
    out->loads = TWI_NEW_N(arena, double, arrays + 1u);
    out->stores = TWI_NEW_N(arena, double, arrays + 1u);
    out->sectors = TWI_NEW_N(arena, double, arrays + 1u);
}

/* Rows of a module's arrays in the tables of a scope: partial results of others come last. */
static uint32_t *rows_of(twi_arena *arena, const twi_loop *loop, uint32_t scope) {
    uint32_t *row = TWI_NEW_N(arena, uint32_t, loop->array.n), n = 0;
    for (unsigned others = 0; others < 2; others++)
        for (uint32_t a = 0; a < loop->array.n; a++) {
            const uint32_t split = loop->array.at[a].split;
            if ((split && split != scope + 1) == others)
                row[a] = n++;
        }
    return row;
}

static void count_launch(twi_arena *arena, const twi_loop *loop, const twi_step_do *launch,
                         const uint32_t *row, twi_features *out) {
    const twi_func *f = &loop->func.at[launch->func];
    twi_features_init(arena, loop->array.n, out);
    out->row = row;
    out->status = loop->status;
    out->groups = launch->grid;
    twi_lid open[DEEPEST];
    const around top = {1, 1, 0, 1, open, 0};
    count_body(f, f->first, &top, (double)out->groups, out);
    twi_features_of_func(f, out);
    out->lanes = f->lanes;
    out->workers = f->explicit_lanes ? 1 : f->lanes * f->subs;
}

void twi_count(twi_arena *arena, const twi_loop *loop, uint32_t scope, twi_features *out) {
    const twi_entry *entry = &loop->entry.at[loop->entry.n - 1];
    const uint32_t *row = rows_of(arena, loop, scope);
    twi_features *next = out;
    twi_features_init(arena, loop->array.n, out);
    out->row = row;
    for (uint32_t k = 0; k < entry->recipe.n; k++) {
        const twi_step_do *s = &entry->recipe.at[k];
        if (s->what != TWI_DO_LAUNCH || loop->func.at[s->func].scope != scope)
            continue;
        if (!next)
            out->then = next = TWI_NEW(arena, twi_features);
        count_launch(arena, loop, s, row, next);
        next = NULL;
    }
}
