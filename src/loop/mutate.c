/* SPDX-License-Identifier: Apache-2.0
 * Planted faults. Each kind says which instructions it applies to and what it does to one of them,
 * in a copy whose lists are edited in place.
 */
#include "loop/mutate.h"

#include "loop/rows.h"

typedef struct {
    twi_arena *arena;
    twi_func *f;
    twi_lid at; /* new instructions go before this one, or after it */
    bool after;
} edit;

typedef struct {
    const char *name;
    bool (*applies)(const twi_func *f, twi_lid v);
    void (*apply)(edit *e, twi_lid v);
} kind;

/* ---- editing ---- */

/* Puts `to` where the list names v. */
static void relink(twi_func *f, twi_lid v, twi_lid to) {
    if (f->first == v)
        f->first = to;
    for (uint32_t p = 1; p < f->ins.n; p++) {
        if (p != to && f->ins.at[p].next == v)
            f->ins.at[p].next = to;
        if (f->ins.at[p].body == v)
            f->ins.at[p].body = to;
    }
}

static twi_lid put(edit *e, twi_lins i, const twi_lid *args, uint32_t n) {
    twi_func *f = e->f;
    i.arg = f->args.n;
    i.nargs = n;
    i.body = 0;
    i.loc = f->ins.at[e->at].loc;
    for (uint32_t k = 0; k < n; k++)
        twi_push(e->arena, &f->args, args[k]);
    i.next = e->after ? f->ins.at[e->at].next : e->at;
    twi_push(e->arena, &f->ins, i);
    twi_lid v = f->ins.n - 1;
    if (e->after) {
        f->ins.at[e->at].next = v;
        e->at = v;
    } else {
        relink(f, e->at, v);
        f->ins.at[v].next = e->at;
    }
    return v;
}

static twi_lid bits(edit *e, tw_elem elem, unsigned count, uint64_t pattern) {
    twi_push(e->arena, &e->f->constant, pattern);
    twi_lins i = {.op = TWI_L_LCONST,
                  .elem = (uint8_t)elem,
                  .count = (uint16_t)count,
                  .attr = e->f->constant.n - 1};
    return put(e, i, NULL, 0);
}

static twi_lid number(edit *e, twi_lid like, int64_t k) {
    return bits(e, TW_I64, e->f->ins.at[like].count, (uint64_t)k);
}

static twi_lid two(edit *e, unsigned op, twi_lid a, twi_lid b) {
    const twi_lins *x = &e->f->ins.at[a];
    bool compares = twi_loop_row_of(op)->rule == TWI_RULE_COMPARE;
    twi_lins i = {
        .op = (uint16_t)op, .elem = compares ? (uint8_t)TW_BOOL : x->elem, .count = x->count};
    twi_lid args[2] = {a, b};
    return put(e, i, args, 2);
}

static twi_lid choose(edit *e, twi_lid when, twi_lid a, twi_lid b) {
    twi_lins i = {.op = TWI_SELECT, .elem = e->f->ins.at[a].elem, .count = e->f->ins.at[a].count};
    twi_lid args[3] = {when, a, b};
    return put(e, i, args, 3);
}

static void set_arg(edit *e, twi_lid v, unsigned k, twi_lid to) {
    e->f->args.at[e->f->ins.at[v].arg + k] = to;
}

/* All uses of v but those by what was put after it. */
static void replace(edit *e, twi_lid v, twi_lid to, uint32_t first_new) {
    for (twi_lid u = 1; u < first_new; u++)
        for (uint32_t k = 0; u != v && k < e->f->ins.at[u].nargs; k++)
            if (twi_larg(e->f, u, k) == v)
                set_arg(e, u, k, to);
}

static twi_lid parent_of(const twi_func *f, twi_lid v) {
    for (twi_lid p = 1; p < f->ins.n; p++)
        for (twi_lid b = f->ins.at[p].body; b; b = f->ins.at[b].next)
            if (b == v)
                return p;
    return 0;
}

static const twi_laccess *access_of(const twi_func *f, twi_lid v) {
    return &f->access.at[f->ins.at[v].attr];
}
static const twi_object *object_of(const twi_func *f, twi_lid v) {
    return &f->object.at[access_of(f, v)->object];
}

/* An access of its own for v, claiming nothing of alignment. */
static twi_laccess *own_access(edit *e, twi_lid v) {
    twi_laccess a = *access_of(e->f, v);
    a.align = 0;
    twi_push(e->arena, &e->f->access, a);
    e->f->ins.at[v].attr = e->f->access.n - 1;
    return &e->f->access.at[e->f->access.n - 1];
}

/* Adds an operand at the end of v's. */
static void append_arg(edit *e, twi_lid v, twi_lid arg) {
    uint32_t from = e->f->ins.at[v].arg, n = e->f->ins.at[v].nargs, to = e->f->args.n;
    for (uint32_t k = 0; k < n; k++) {
        twi_lid moved = e->f->args.at[from + k];
        twi_push(e->arena, &e->f->args, moved);
    }
    twi_push(e->arena, &e->f->args, arg);
    e->f->ins.at[v].arg = to;
    e->f->ins.at[v].nargs = n + 1;
}

/* ---- kinds ---- */

static bool is_const(const twi_func *f, twi_lid v, int64_t *k) {
    const twi_lins *i = &f->ins.at[v];
    if (i->op != TWI_L_LCONST || i->elem != TW_I64)
        return false;
    *k = (int64_t)f->constant.at[i->attr];
    return true;
}

static bool reads_input(const twi_func *f, twi_lid v) {
    return f->ins.at[v].op == TWI_L_LLOAD && object_of(f, v)->kind == TWI_OBJ_ARRAY &&
           object_of(f, v)->role != TWI_OUT;
}

static bool writes_output(const twi_func *f, twi_lid v) {
    return f->ins.at[v].op == TWI_L_LSTORE && object_of(f, v)->kind == TWI_OBJ_ARRAY;
}

/* Is an argument read in the body? A loop that only sets accumulators up has no element to drop. */
static bool reads_inside(const twi_func *f, twi_lid first) {
    for (twi_lid v = first; v; v = f->ins.at[v].next)
        if (reads_input(f, v) || reads_inside(f, f->ins.at[v].body))
            return true;
    return false;
}

static bool can_drop_last(const twi_func *f, twi_lid v) {
    const twi_lins *i = &f->ins.at[v];
    int64_t k = 0;
    if ((i->op == TWI_L_FOR || i->op == TWI_L_UNROLL) && !reads_inside(f, i->body))
        return false;
    if (i->op == TWI_L_FOR)
        return !is_const(f, twi_larg(f, v, 1), &k) || k > 0;
    if (i->op == TWI_LT)
        return is_const(f, twi_larg(f, v, 1), &k) && k > 0;
    return (reads_input(f, v) && access_of(f, v)->mask == TWI_MASK_COUNT) ||
           (i->op == TWI_L_UNROLL && i->attr > 0);
}

static void drop_last(edit *e, twi_lid v) {
    const twi_lins *i = &e->f->ins.at[v];
    if (i->op == TWI_L_UNROLL) {
        e->f->ins.at[v].attr--;
        return;
    }
    unsigned k = i->op == TWI_L_LLOAD ? object_of(e->f, v)->rank : 1;
    twi_lid x = twi_larg(e->f, v, k);
    set_arg(e, v, k, two(e, TWI_SUB, x, number(e, x, 1)));
}

static bool is_identity(const twi_func *f, twi_lid v) {
    const twi_lins *i = &f->ins.at[v];
    if (i->op != TWI_L_LCONST || !(i->flags & TWI_FLAG_IDENTITY))
        return false;
    uint64_t sign = UINT64_C(1) << (8 * tw_elem_size((tw_elem)i->elem) - 1);
    return (f->constant.at[i->attr] & ~sign) != 0 ||
           (!twi_is_float((tw_elem)i->elem) && f->constant.at[i->attr]);
}

static void pad_zero(edit *e, twi_lid v) {
    twi_push(e->arena, &e->f->constant, 0);
    e->f->ins.at[v].attr = e->f->constant.n - 1;
}

static bool has_rows(const twi_func *f, twi_lid v) {
    return writes_output(f, v) && object_of(f, v)->rank > 0 && object_of(f, v)->extent[0] > 0;
}

static void skip_store(edit *e, twi_lid v) {
    twi_func *f = e->f;
    const twi_object *o = object_of(f, v);
    twi_lid row = twi_larg(f, v, 0);
    twi_lid other = two(e, TWI_NE, row, number(e, row, o->extent[0] - 1));
    unsigned mask = o->rank + 1u;
    uint8_t was = access_of(f, v)->mask;
    twi_laccess *a = own_access(e, v);
    if (was == TWI_MASK_NONE) {
        a->mask = TWI_MASK_BOOL;
        append_arg(e, v, other);
        return;
    }
    twi_lid m = twi_larg(f, v, mask);
    if (was == TWI_MASK_COUNT) {
        set_arg(e, v, mask, choose(e, other, m, number(e, m, 0)));
        return;
    }
    unsigned count = f->ins.at[m].count;
    if (f->ins.at[other].count != count) {
        twi_lins wide = {.op = TWI_L_SPLAT, .elem = TW_BOOL, .count = (uint16_t)count};
        other = put(e, wide, &other, 1);
    }
    set_arg(e, v, mask, two(e, TWI_AND, m, other));
}

static bool accumulates(const twi_func *f, twi_lid v) {
    const twi_lins *i = &f->ins.at[v];
    return (i->flags & TWI_FLAG_COMBINE) && (i->op == TWI_ADD || i->op == TWI_FMA);
}

/* The step again, in the last trip of its loop: with a zero in place of its element in others. */
static void last_twice(edit *e, twi_lid v) {
    twi_func *f = e->f;
    uint32_t first_new = f->ins.n;
    twi_lins step = f->ins.at[v];
    twi_lid args[3];
    for (uint32_t k = 0; k < step.nargs; k++)
        args[k] = twi_larg(f, v, k);
    twi_lid loop = parent_of(f, v);
    while (loop && f->ins.at[loop].op != TWI_L_FOR)
        loop = parent_of(f, loop);
    e->at = v;
    e->after = true;
    unsigned element = step.op == TWI_ADD ? 1 : 0;
    if (loop) {
        twi_lid next = two(e, TWI_ADD, loop, number(e, loop, (int64_t)f->ins.at[loop].attr));
        twi_lid last = two(e, TWI_GE, next, twi_larg(f, loop, 1));
        if (step.count > 1) {
            twi_lins wide = {.op = TWI_L_SPLAT, .elem = TW_BOOL, .count = step.count};
            last = put(e, wide, &last, 1);
        }
        uint64_t nothing =
            step.op == TWI_FMA ? 0 : UINT64_C(1) << (8 * tw_elem_size((tw_elem)step.elem) - 1);
        args[element] =
            choose(e, last, args[element], bits(e, (tw_elem)step.elem, step.count, nothing));
    }
    args[step.op == TWI_ADD ? 0 : 2] = v;
    twi_lid again = put(e, step, args, step.nargs);
    replace(e, v, again, first_new);
}

static bool combines_f32(const twi_func *f, twi_lid v) {
    const twi_lins *i = &f->ins.at[v];
    return (i->flags & TWI_FLAG_COMBINE) && i->elem == TW_F32 &&
           (i->op == TWI_ADD || i->op == TWI_FMA ||
            (i->op == TWI_L_LANE_FOLD && (i->attr & 255u) == TWI_ADD));
}

/* One place a fold: its first step in the list stands for all. */
static bool first_of_fold(const twi_func *f, twi_lid v) {
    if (!combines_f32(f, v))
        return false;
    for (twi_lid u = 1; u < v; u++)
        if (combines_f32(f, u) && f->ins.at[u].fold == f->ins.at[v].fold)
            return false;
    return true;
}

static void accumulate_bf16(edit *e, twi_lid v) {
    twi_func *f = e->f;
    uint32_t end = f->ins.n, fold = f->ins.at[v].fold;
    for (twi_lid u = 1; u < end; u++) {
        if (!combines_f32(f, u) || f->ins.at[u].fold != fold)
            continue;
        e->at = u;
        e->after = true;
        twi_lins cast = {.op = TWI_CAST, .elem = TW_BF16, .count = f->ins.at[u].count};
        twi_lid narrow = put(e, cast, &u, 1);
        cast.elem = TW_F32;
        twi_lid wide = put(e, cast, &narrow, 1);
        replace(e, u, wide, end);
    }
}

static uint32_t elements(const twi_func *f, twi_lid v) {
    const twi_lins *i = &f->ins.at[v];
    return i->op == TWI_L_LSTORE ? f->ins.at[twi_larg(f, v, object_of(f, v)->rank)].count
                                 : i->count;
}

static bool can_reach_on(const twi_func *f, twi_lid v) {
    const twi_object *o = object_of(f, v);
    const twi_laccess *a = access_of(f, v);
    if (o->rank == 0)
        return false;
    unsigned dim = elements(f, v) > 1 ? a->dim : o->rank - 1u;
    return f->ins.at[twi_larg(f, v, dim)].count == 1 || elements(f, v) == 1;
}

static bool can_write_past(const twi_func *f, twi_lid v) {
    return writes_output(f, v) && can_reach_on(f, v);
}
static bool can_read_past(const twi_func *f, twi_lid v) {
    return reads_input(f, v) && can_reach_on(f, v);
}

/* A count grows by one; another access moves by one where it touches the last element. */
static void reach_on(edit *e, twi_lid v) {
    twi_func *f = e->f;
    const twi_object *o = object_of(f, v);
    unsigned rank = o->rank, mask = rank + (f->ins.at[v].op == TWI_L_LSTORE ? 1u : 0u);
    uint32_t n = elements(f, v);
    if (access_of(f, v)->mask == TWI_MASK_COUNT) {
        twi_lid m = twi_larg(f, v, mask);
        set_arg(e, v, mask, two(e, TWI_ADD, m, number(e, m, 1)));
        return;
    }
    unsigned dim = n > 1 ? access_of(f, v)->dim : rank - 1u;
    int64_t extent = o->extent[dim];
    twi_lid x = twi_larg(f, v, dim);
    twi_lid last = two(e, TWI_GE, x, number(e, x, extent - (int64_t)n));
    twi_lid moved = choose(e, last, two(e, TWI_ADD, x, number(e, x, 1)), x);
    (void)own_access(e, v);
    set_arg(e, v, dim, moved);
}

static bool is_barrier(const twi_func *f, twi_lid v) { return f->ins.at[v].op == TWI_L_BARRIER; }
static bool is_wait(const twi_func *f, twi_lid v) { return f->ins.at[v].op == TWI_L_ASYNC_WAIT; }
static void drop(edit *e, twi_lid v) { relink(e->f, v, e->f->ins.at[v].next); }

static bool carries(const twi_func *f, twi_lid v) {
    const twi_lins *i = &f->ins.at[v];
    return (i->flags & TWI_FLAG_COMBINE) && i->nargs == 2 && twi_loop_elementwise(i->op);
}

static void drop_carry(edit *e, twi_lid v) { replace(e, v, twi_larg(e->f, v, 1), e->f->ins.n); }

/* The status of a call apart: nobody may ever come there. */
static bool is_atomic(const twi_func *f, twi_lid v) {
    return f->ins.at[v].op == TWI_L_LSTORE && access_of(f, v)->merge &&
           object_of(f, v)->role != TWI_TEMP;
}

static void split_atomic(edit *e, twi_lid v) {
    twi_func *f = e->f;
    const twi_object *o = object_of(f, v);
    const unsigned merge = access_of(f, v)->merge;
    twi_lid value = twi_larg(f, v, o->rank), args[TWI_MAX_RANK + 1] = {0};
    own_access(e, v)->merge = 0;
    const uint32_t n = f->ins.at[v].nargs;
    for (uint32_t k = 0, from = 0; from < n; from++)
        if (from != o->rank)
            args[k++] = twi_larg(f, v, from);
    twi_lins load = {.op = TWI_L_LLOAD, .elem = o->elem, .count = f->ins.at[value].count};
    load.attr = f->ins.at[v].attr;
    twi_lid was = put(e, load, args, n - 1);
    set_arg(e, v, o->rank, two(e, merge, was, value));
}

static const kind kinds[TWI_MUTATIONS] = {
    [TWI_MUTATE_DROP_LAST] = {"drop the last element", can_drop_last, drop_last},
    [TWI_MUTATE_PAD_ZERO] = {"pad with 0", is_identity, pad_zero},
    [TWI_MUTATE_SKIP_STORE] = {"skip a row's store", has_rows, skip_store},
    [TWI_MUTATE_LAST_TWICE] = {"count the last twice", accumulates, last_twice},
    [TWI_MUTATE_ACCUM_BF16] = {"accumulate in bf16", first_of_fold, accumulate_bf16},
    [TWI_MUTATE_WRITE_PAST] = {"write one past the end", can_write_past, reach_on},
    [TWI_MUTATE_READ_PAST] = {"read one past the end", can_read_past, reach_on},
    [TWI_MUTATE_DROP_BARRIER] = {"drop a barrier", is_barrier, drop},
    [TWI_MUTATE_DROP_WAIT] = {"drop a wait", is_wait, drop},
    [TWI_MUTATE_DROP_CARRY] = {"drop a carry", carries, drop_carry},
    [TWI_MUTATE_NOT_ATOMIC] = {"split an atomic", is_atomic, split_atomic},
};

const char *twi_mutation_name(unsigned which) {
    return which < TWI_MUTATIONS ? kinds[which].name : NULL;
}

/* ---- places ---- */

/* The k-th place below `first` in the order of the text; *k counts down. */
static twi_lid find(const twi_func *f, twi_lid first, const kind *m, unsigned *k) {
    for (twi_lid v = first; v; v = f->ins.at[v].next) {
        if (m->applies(f, v) && (*k)-- == 0)
            return v;
        twi_lid inner = find(f, f->ins.at[v].body, m, k);
        if (inner)
            return inner;
    }
    return 0;
}

unsigned twi_mutation_places(const twi_loop *loop, unsigned which) {
    unsigned left = UINT32_MAX;
    for (uint32_t k = 0; k < loop->func.n && which < TWI_MUTATIONS; k++)
        (void)find(&loop->func.at[k], loop->func.at[k].first, &kinds[which], &left);
    return UINT32_MAX - left;
}

#define COPY(arena, v)                                                                             \
    ((v)->at = twi_copy((arena), (v)->at, (v)->n * sizeof *(v)->at), (v)->cap = (v)->n)

static void copy_function(twi_arena *arena, twi_func *f) {
    COPY(arena, &f->ins);
    COPY(arena, &f->args);
    COPY(arena, &f->object);
    COPY(arena, &f->access);
    COPY(arena, &f->constant);
    COPY(arena, &f->ints);
}

bool twi_mutate(const twi_loop *loop, unsigned which, unsigned k, twi_arena *arena,
                twi_loop **out) {
    if (which >= TWI_MUTATIONS)
        return false;
    for (uint32_t n = 0; n < loop->func.n; n++) {
        twi_lid v = find(&loop->func.at[n], loop->func.at[n].first, &kinds[which], &k);
        if (!v)
            continue;
        *out = twi_copy(arena, loop, sizeof *loop);
        (*out)->arena = arena;
        COPY(arena, &(*out)->func);
        twi_func *f = &(*out)->func.at[n];
        copy_function(arena, f);
        edit e = {arena, f, v, false};
        kinds[which].apply(&e, v);
        return true;
    }
    return false;
}
