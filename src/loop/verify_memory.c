/* SPDX-License-Identifier: Apache-2.0
 * V3: what is read was written before. V4: indices stay inside. V7: what is copied asynchronously
 * is waited for. By intervals and places, and they only say what is certain (loop.h); an index
 * inside an `if` is looked at again with what its condition says.
 */
#include "loop/verify_state.h"

enum { BOUNDS = 32, LOOK = 10 };

/* What the conditions around an access say of single values. */
typedef struct {
    twi_lid value[BOUNDS];
    twi_span span[BOUNDS];
    unsigned n;
} bounds;

static void bound(bounds *b, twi_lid v, int64_t lo, int64_t hi) {
    if (b->n == BOUNDS)
        return;
    b->value[b->n] = v;
    b->span[b->n++] = (twi_span){lo, hi};
}

static int64_t less_one(int64_t k) { return k == INT64_MIN ? k : k - 1; }
static int64_t more_one(int64_t k) { return k == INT64_MAX ? k : k + 1; }

static void learn(const twi_check *c, bounds *b, twi_lid when, unsigned depth) {
    const twi_lins *i = &c->f->ins.at[when];
    if (i->nargs != 2 || depth == 0)
        return;
    twi_lid x = twi_larg(c->f, when, 0), y = twi_larg(c->f, when, 1);
    if (i->op == TWI_AND) {
        learn(c, b, x, depth - 1);
        learn(c, b, y, depth - 1);
        return;
    }
    const uint8_t elem = c->f->ins.at[x].elem;
    if ((elem != TW_I64 && elem != TW_I32) || c->f->ins.at[x].count != 1)
        return;
    twi_span sx = c->span[x], sy = c->span[y];
    switch (i->op) {
    case TWI_LT:
        bound(b, x, INT64_MIN, less_one(sy.hi));
        bound(b, y, more_one(sx.lo), INT64_MAX);
        break;
    case TWI_LE:
        bound(b, x, INT64_MIN, sy.hi);
        bound(b, y, sx.lo, INT64_MAX);
        break;
    case TWI_GT:
        bound(b, x, more_one(sy.lo), INT64_MAX);
        bound(b, y, INT64_MIN, less_one(sx.hi));
        break;
    case TWI_GE:
        bound(b, x, sy.lo, INT64_MAX);
        bound(b, y, INT64_MIN, sx.hi);
        break;
    case TWI_EQ:
        bound(b, x, sy.lo, sy.hi);
        bound(b, y, sx.lo, sx.hi);
        break;
    default:
        break;
    }
}

static twi_span narrowed(const twi_check *c, const bounds *b, twi_lid v, unsigned depth) {
    const twi_lins *i = &c->f->ins.at[v];
    twi_span s = c->span[v];
    bool memory = i->op == TWI_L_LLOAD;
    if (depth && i->nargs && i->nargs <= 3 && !memory) {
        twi_span arg[3] = {TWI_SPAN_ALL, TWI_SPAN_ALL, TWI_SPAN_ALL};
        for (unsigned k = 0; k < i->nargs; k++)
            arg[k] = narrowed(c, b, twi_larg(c->f, v, k), depth - 1);
        s = twi_span_step(c->f, v, arg, c->groups);
    }
    for (unsigned k = 0; k < b->n; k++)
        if (b->value[k] == v) {
            s.lo = b->span[k].lo > s.lo ? b->span[k].lo : s.lo;
            s.hi = b->span[k].hi < s.hi ? b->span[k].hi : s.hi;
        }
    return s;
}

/* ---- V4 ---- */

/* What a value is made of, constants apart; false: of too much to say. */
static bool leaves(const twi_check *c, twi_lid v, unsigned depth, bounds *set) {
    const twi_lins *i = &c->f->ins.at[v];
    if (i->op == TWI_L_LCONST)
        return true;
    if (set->n == BOUNDS || depth == 0)
        return false;
    bool whole = true;
    if (!twi_loop_elementwise(i->op))
        bound(set, v, 0, 0);
    for (uint32_t k = 0; k < i->nargs; k++)
        whole = leaves(c, twi_larg(c->f, v, k), depth - 1, set) && whole;
    return whole;
}

/* May the condition say something of the index, though not of a value that it is computed from? */
static bool related(const twi_check *c, twi_lid index, twi_lid when) {
    bounds x = {.n = 0}, y = {.n = 0};
    if (!leaves(c, index, LOOK, &x) || !leaves(c, when, LOOK, &y))
        return true;
    for (unsigned k = 0; k < x.n; k++)
        for (unsigned l = 0; l < y.n; l++)
            if (x.value[k] == y.value[l])
                return true;
    return false;
}

/* Learns from the conditions around v that have to do with the index; none: false. */
static bool guarded(const twi_check *c, twi_lid v, twi_lid index, bounds *b) {
    bool any = false;
    for (twi_lid p = c->parent[v]; p; p = c->parent[p])
        if (c->f->ins.at[p].op == TWI_L_IF && related(c, index, twi_larg(c->f, p, 0))) {
            any = true;
            learn(c, b, twi_larg(c->f, p, 0), 8);
        }
    return any;
}

static uint32_t elements(const twi_check *c, twi_lid v) {
    const twi_lins *i = &c->f->ins.at[v];
    const twi_object *o = &c->f->object.at[twi_check_access(c, v)->object];
    if (o->count > 1)
        return 1;
    return twi_loop_stores(i->op) ? c->f->ins.at[twi_larg(c->f, v, o->rank)].count : i->count;
}

/* Index d of the access, all its elements together. */
static twi_span reach(const twi_check *c, twi_lid v, unsigned d, twi_span s) {
    const twi_laccess *a = twi_check_access(c, v);
    uint32_t n = elements(c, v);
    for (unsigned k = 0; k < c->f->object.at[a->object].rank; k++)
        if (c->f->ins.at[twi_larg(c->f, v, k)].count > 1)
            n = 1; /* gathered */
    if (d == a->dim && n > 1 && s.hi < INT64_MAX - (int64_t)n)
        s.hi += (int64_t)n - 1;
    return s;
}

static void inside(twi_check *c, twi_lid v) {
    const twi_laccess *a = twi_check_access(c, v);
    const twi_object *o = &c->f->object.at[a->object];
    for (unsigned d = 0; d < o->rank && !a->mask; d++) {
        twi_lid index = twi_larg(c->f, v, d);
        twi_span s = reach(c, v, d, c->span[index]);
        bool below = s.lo < 0 && c->span[index].lo != INT64_MIN;
        bool above = s.hi >= o->extent[d] && c->span[index].hi != INT64_MAX;
        if (!below && !above)
            continue;
        bounds b = {.n = 0};
        if (guarded(c, v, index, &b)) {
            s = reach(c, v, d, narrowed(c, &b, index, LOOK));
            if (s.hi >= 0 && s.lo < o->extent[d])
                continue; /* partly inside: the trace decides */
            if (s.lo > s.hi)
                continue; /* the conditions exclude one another: never here */
        }
        twi_check_fail(c, TWI_LOOP_E_V4, v, "index %u is %lld to %lld, the extent is %lld", d,
                       (long long)s.lo, (long long)s.hi, (long long)o->extent[d]);
        return;
    }
}

/* ---- V3 ---- */

static bool disjoint(const twi_check *c, twi_lid x, twi_lid y) {
    const twi_object *o = &c->f->object.at[twi_check_access(c, x)->object];
    for (unsigned d = 0; d < o->rank; d++) {
        twi_span s = reach(c, x, d, c->span[twi_larg(c->f, x, d)]);
        twi_span t = reach(c, y, d, c->span[twi_larg(c->f, y, d)]);
        if (s.hi < t.lo || t.hi < s.lo)
            return true;
    }
    return false;
}

/* Does an `if` inside `loop` decide whether v runs? */
static bool conditional(const twi_check *c, twi_lid v, twi_lid loop) {
    for (twi_lid p = c->parent[v]; p != loop; p = c->parent[p])
        if (c->f->ins.at[p].op == TWI_L_IF)
            return true;
    return false;
}

/* May the store have run before the load does? A later store of the same loop may, in an earlier
 * trip, if the load is not bound to run in the first one. */
static bool may_precede(const twi_check *c, twi_lid store, twi_lid load) {
    if (c->at[store] < c->at[load])
        return true;
    for (twi_lid p = c->parent[load]; p; p = c->parent[p])
        if (c->f->ins.at[p].op != TWI_L_IF && twi_check_inside(c, store, p) &&
            (twi_check_access(c, load)->mask || conditional(c, load, p)))
            return true;
    return false;
}

static void written(twi_check *c, twi_lid v) {
    const twi_object *o = &c->f->object.at[twi_check_access(c, v)->object];
    if (o->kind == TWI_OBJ_ARRAY)
        return;
    for (uint32_t k = 0; k < c->linked; k++) {
        twi_lid s = c->order[k];
        if (twi_loop_stores(c->f->ins.at[s].op) &&
            twi_check_access(c, s)->object == twi_check_access(c, v)->object &&
            may_precede(c, s, v) && !disjoint(c, s, v) && !twi_check_never_runs(c, s))
            return;
    }
    twi_check_fail(c, TWI_LOOP_E_V3, v, "no store before it writes any such element");
}

/* ---- V7 ---- */

/* What an asynchronous copy writes is read behind some wait: one that may run between the two. */
static void waited(twi_check *c, twi_lid v) {
    bool copied = false, waits = false;
    for (uint32_t k = 0; k < c->linked; k++) {
        const twi_lid s = c->order[k];
        const unsigned op = c->f->ins.at[s].op;
        copied = copied || (op == TWI_L_ASYNC_COPY &&
                            twi_check_access(c, s)->object == twi_check_access(c, v)->object);
        waits = waits || (op == TWI_L_ASYNC_WAIT && may_precede(c, s, v));
    }
    if (copied && !waits)
        twi_check_fail(c, TWI_LOOP_E_V7, v,
                       "no async_wait before it: elements are copied "
                       "asynchronously");
}

void twi_check_memory(twi_check *c) {
    for (uint32_t k = 0; k < c->linked; k++) {
        twi_lid v = c->order[k];
        unsigned op = c->f->ins.at[v].op;
        if (!twi_loop_accesses(op) || twi_check_never_runs(c, v))
            continue;
        inside(c, v);
        if (op == TWI_L_LLOAD) {
            written(c, v);
            waited(c, v);
        }
    }
}
