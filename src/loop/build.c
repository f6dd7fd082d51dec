/* SPDX-License-Identifier: Apache-2.0
 * Building loop IR at a cursor. Equal pure instructions in open bodies are built once: every body
 * that is still open dominates the cursor, so an older value found there can stand for the new one.
 */
#include "loop/raw.h"
#include "loop/rows.h"
#include "loop/simplify.h"

#include "base/hash.h"

#include <assert.h>

enum {
    BUCKETS = 1024,
    LOOK = 48,   /* older instructions looked at before giving up */
    FIRST = 1024 /* instructions for which there is room at once */
};

void twi_loop_array(twi_loop *loop, const tw_ir *ir, uint32_t array) {
    const twi_array *from = &ir->array.at[array];
    twi_larray to = {.name = from->name,
                     .elem = from->elem,
                     .rank = from->passed_rank ? from->passed_rank : from->rank,
                     .role = from->role,
                     .has_fill = from->has_fill,
                     .fill = from->fill};
    const twi_ix *dim = from->passed_rank ? from->passed : from->dim;
    for (unsigned d = 0; d < to.rank; d++)
        if (!twi_ix_is_const(ir, dim[d], &to.extent[d]))
            to.extent[d] = 0;
    twi_push(loop->arena, &loop->array, to);
}

/* A name that no array of a text has. */
static void add_status(twi_loop *loop) {
    twi_larray a = {.name = twi_intern_str(&loop->ctx->names, "index.status"),
                    .elem = TW_I64,
                    .rank = 1,
                    .role = TWI_TEMP,
                    .has_fill = true,
                    .fill = INT64_MAX,
                    .extent = {1}};
    loop->status = loop->array.n;
    twi_push(loop->arena, &loop->array, a);
}

twi_loop *twi_loop_new(twi_arena *arena, const tw_ir *ir, twi_sym target) {
    twi_loop *loop = TWI_NEW(arena, twi_loop);
    loop->arena = arena;
    loop->target = target;
    loop->ir = ir;
    twi_push(arena, &loop->array, (twi_larray){0});
    twi_push(arena, &loop->scalar, (twi_lscalar){0});
    if (!ir)
        return loop;
    loop->ctx = ir->ctx;
    loop->kernel = ir->kernel;
    for (uint32_t i = 1; i < ir->array.n; i++)
        twi_loop_array(loop, ir, i);
    for (twi_id v = 1; v < ir->ins.n; v++)
        if (ir->ins.at[v].op == TWI_PART)
            twi_push(arena, &loop->merge, v);
    bool checked = false;
    for (uint32_t i = 1; i < ir->access.n; i++)
        checked = checked || ir->access.at[i].proof == TWI_ACCESS_CHECKED;
    if (checked)
        add_status(loop);
    for (uint32_t i = 1; i < ir->scalar.n; i++)
        twi_push(arena, &loop->scalar,
                 ((twi_lscalar){ir->scalar.at[i].name, ir->scalar.at[i].elem}));
    return loop;
}

static void dense(twi_object *o) {
    int64_t stride = 1;
    for (unsigned d = o->rank; d-- > 0;) {
        o->stride[d] = stride;
        stride *= o->extent[d] > 0 ? o->extent[d] : 1;
    }
}

static void add_arrays(twi_loop *loop, twi_func *f) {
    twi_push(loop->arena, &f->object, (twi_object){0});
    const twi_entry *entry = f->entry < loop->entry.n ? &loop->entry.at[f->entry] : NULL;
    for (uint32_t i = 1; i < loop->array.n; i++) {
        const twi_larray *a = &loop->array.at[i];
        twi_object o = {.name = a->name,
                        .kind = TWI_OBJ_ARRAY,
                        .elem = a->elem,
                        .rank = a->rank,
                        .role = a->role,
                        .count = 1,
                        .array = i};
        memcpy(o.extent, a->extent, sizeof o.extent);
        if (entry && i < entry->align.n)
            o.align = (uint16_t)entry->align.at[i];
        dense(&o);
        twi_push(loop->arena, &f->object, o);
    }
}

uint32_t twi_loop_func(twi_loop *loop, twi_sym name, uint32_t entry, uint32_t scope) {
    twi_func f = {.name = name, .entry = entry, .scope = scope, .lanes = 1, .subs = 1};
    twi_push(loop->arena, &f.ins, (twi_lins){0});
    twi_push(loop->arena, &f.args, 0);
    twi_push(loop->arena, &f.access, (twi_laccess){0});
    twi_push(loop->arena, &f.constant, 0);
    twi_push(loop->arena, &f.ints, 0);
    add_arrays(loop, &f);
    twi_push(loop->arena, &loop->func, f);
    return loop->func.n - 1;
}

void twi_cursor_init(twi_cursor *c, twi_loop *loop, uint32_t func) {
    *c = (twi_cursor){.loop = loop, .f = &loop->func.at[func]};
    twi_reserve(loop->arena, &c->f->ins, FIRST);
    twi_reserve(loop->arena, &c->f->args, 2 * FIRST);
    twi_reserve(loop->arena, &c->chain, FIRST);
    twi_reserve(loop->arena, &c->parent, FIRST);
    twi_push(loop->arena, &c->last, 0);
    twi_push(loop->arena, &c->chain, 0);
    twi_push(loop->arena, &c->parent, 0);
    c->bucket = TWI_NEW_N(loop->arena, twi_lid, BUCKETS);
}

/* ---- appending and sharing --------------------------------------------------------------------
 */

/* A multiplication spreads each word over those above; the top bits number the bucket. */
static uint32_t hash_of(const twi_lins *i, const twi_lid *args, uint32_t n) {
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h =
        ((uint64_t)i->op << 48 | (uint64_t)i->elem << 40 | (uint64_t)i->flags << 32 | i->attr) *
        odd;
    h = (h ^ h >> 32 ^ ((uint64_t)i->count << 32 | i->fold)) * odd;
    for (uint32_t k = 0; k < n; k++)
        h = (h ^ h >> 32 ^ args[k]) * odd;
    return (uint32_t)(h >> 54) % BUCKETS;
}

static bool is_open(const twi_cursor *c, twi_lid body) {
    for (uint32_t k = c->open.n; k-- > 0;)
        if (c->open.at[k] == body)
            return true;
    return body == 0;
}

static bool same(const twi_func *f, twi_lid v, const twi_lins *i, const twi_lid *args, uint32_t n) {
    const twi_lins *o = &f->ins.at[v];
    return o->op == i->op && o->elem == i->elem && o->flags == i->flags && o->count == i->count &&
           o->attr == i->attr && o->nargs == n && o->fold == i->fold &&
           (n == 0 || memcmp(&f->args.at[o->arg], args, n * sizeof *args) == 0);
}

static void link_in(twi_cursor *c, twi_lid v) {
    uint32_t level = c->open.n;
    twi_lid before = c->last.at[level];
    if (before)
        c->f->ins.at[before].next = v;
    else if (level)
        c->f->ins.at[c->open.at[level - 1]].body = v;
    else
        c->f->first = v;
    c->last.at[level] = v;
}

/* By address: a copy of what has just been written in parts waits for all of them. */
twi_lid twi_lb_raw(twi_cursor *c, const twi_lins *i, const twi_lid *args, uint32_t n) {
    twi_arena *arena = c->loop->arena;
    bool literal = i->op == TWI_L_LCONST && i->elem == TW_I64;
    bool pure = twi_loop_pure(i->op) && (!c->apart || literal);
    uint32_t bucket = 0;
    if (pure) {
        bucket = hash_of(i, args, n);
        int looked = 0;
        for (twi_lid v = c->bucket[bucket]; v && looked < LOOK; v = c->chain.at[v], looked++)
            if (same(c->f, v, i, args, n) && is_open(c, c->parent.at[v]))
                return v;
    }
    const uint32_t first = c->f->args.n;
    for (uint32_t k = 0; k < n; k++)
        twi_push(arena, &c->f->args, args[k]);
    twi_lid v = c->f->ins.n;
    twi_push(arena, &c->f->ins, *i);
    twi_lins *at = &c->f->ins.at[v];
    at->arg = first;
    at->nargs = n;
    at->loc = c->loc;
    link_in(c, v);
    while (c->parent.n <= v) {
        twi_push(arena, &c->parent, 0);
        twi_push(arena, &c->chain, 0);
    }
    c->parent.at[v] = c->open.n ? c->open.at[c->open.n - 1] : 0;
    if (pure) {
        c->chain.at[v] = c->bucket[bucket];
        c->bucket[bucket] = v;
    }
    return v;
}

/* ---- leaves -------------------------------------------------------------------------------------
 */

twi_lid twi_lb_bits(twi_cursor *c, tw_elem elem, uint64_t bits, unsigned flags) {
    twi_func *f = c->f;
    uint32_t id = 1;
    while (id < f->constant.n && f->constant.at[id] != bits)
        id++;
    if (id == f->constant.n)
        twi_push(c->loop->arena, &f->constant, bits);
    twi_lins i = {
        .op = TWI_L_LCONST, .elem = (uint8_t)elem, .flags = (uint8_t)flags, .count = 1, .attr = id};
    return twi_lb_raw(c, &i, NULL, 0);
}

twi_lid twi_lb_i64(twi_cursor *c, int64_t k) { return twi_lb_bits(c, TW_I64, (uint64_t)k, 0); }

twi_lid twi_lb_leaf(twi_cursor *c, twi_loop_op op, tw_elem elem, unsigned count, uint32_t attr) {
    if (op == TWI_L_ID && c->f->explicit_lanes && attr != TWI_LV_GRID)
        return twi_lb_i64(c, 0);
    twi_lins i = {
        .op = (uint16_t)op, .elem = (uint8_t)elem, .count = (uint16_t)count, .attr = attr};
    return twi_lb_raw(c, &i, NULL, 0);
}

bool twi_lb_const_of(const twi_cursor *c, twi_lid v, int64_t *k) {
    const twi_lins *i = &c->f->ins.at[v];
    if (v == 0 || i->op != TWI_L_LCONST || i->elem != TW_I64)
        return false;
    *k = (int64_t)c->f->constant.at[i->attr];
    return true;
}

/* ---- elementwise ---- */

static bool combines(unsigned op, unsigned elem) {
    return (elem == TW_F32 || elem == TW_F64) &&
           (op == TWI_ADD || op == TWI_MUL || op == TWI_FMA || op == TWI_MIN || op == TWI_MAX);
}

static twi_lid elementwise(twi_cursor *c, unsigned op, unsigned elem, const twi_lid *args,
                           uint32_t n) {
    unsigned count = 1;
    twi_lid same_count[3];
    for (uint32_t k = 0; k < n; k++)
        if (c->f->ins.at[args[k]].count > count)
            count = c->f->ins.at[args[k]].count;
    for (uint32_t k = 0; k < n; k++)
        same_count[k] = twi_lb_splat(c, args[k], count);
    twi_lins i = {.op = (uint16_t)op, .elem = (uint8_t)elem, .count = (uint16_t)count};
    if (c->fold && combines(op, elem)) {
        i.flags = TWI_FLAG_COMBINE;
        i.fold = c->fold;
    }
    return twi_lb_raw(c, &i, same_count, n);
}

twi_lid twi_lb_op(twi_cursor *c, unsigned op, twi_lid a, twi_lid b, twi_lid d) {
    const twi_loop_row *row = twi_loop_row_of(op);
    assert(twi_loop_elementwise(op) && row->rule != TWI_RULE_CAST && row->rule != TWI_RULE_BITS);
    twi_lid known = twi_simplify(c, op, &a, &b, d);
    if (known) { /* a choice between equals of two counts keeps the wider one */
        unsigned count = c->f->ins.at[a].count;
        if (b && c->f->ins.at[b].count > count)
            count = c->f->ins.at[b].count;
        if (d && c->f->ins.at[d].count > count)
            count = c->f->ins.at[d].count;
        return twi_lb_splat(c, known, count);
    }
    unsigned elem = row->rule == TWI_RULE_COMPARE  ? (unsigned)TW_BOOL
                    : row->rule == TWI_RULE_SELECT ? c->f->ins.at[b].elem
                                                   : c->f->ins.at[a].elem;
    twi_lid args[3] = {a, b, d};
    return elementwise(c, op, elem, args, row->arity < 3u ? row->arity : 3u);
}

twi_lid twi_lb_cast(twi_cursor *c, tw_elem elem, twi_lid a) {
    int64_t k;
    if (c->f->ins.at[a].elem == elem)
        return a;
    if (twi_lb_const_of(c, a, &k) && twi_is_int(elem)) {
        size_t size = tw_elem_size(elem);
        uint64_t bits = (uint64_t)k & (size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX);
        return twi_lb_bits(c, elem, bits, 0);
    }
    return elementwise(c, TWI_CAST, elem, &a, 1);
}

twi_lid twi_lb_bitcast(twi_cursor *c, tw_elem elem, twi_lid a) {
    return c->f->ins.at[a].elem == elem ? a : elementwise(c, TWI_BITCAST, elem, &a, 1);
}

/* ---- vectors and lanes ---- */

static twi_lins like(const twi_cursor *c, unsigned op, twi_lid a, unsigned count) {
    return (twi_lins){.op = (uint16_t)op, .elem = c->f->ins.at[a].elem, .count = (uint16_t)count};
}

twi_lid twi_lb_splat(twi_cursor *c, twi_lid a, unsigned count) {
    if (c->f->ins.at[a].count == count)
        return a;
    twi_lins i = like(c, TWI_L_SPLAT, a, count);
    return twi_lb_raw(c, &i, &a, 1);
}

twi_lid twi_lb_extract(twi_cursor *c, twi_lid a, uint32_t element) {
    const twi_lins *from = &c->f->ins.at[a];
    if (from->count == 1)
        return a;
    if (from->op == TWI_L_SPLAT)
        return twi_larg(c->f, a, 0);
    if (from->op == TWI_L_PACK)
        return twi_larg(c->f, a, element);
    twi_lins i = like(c, TWI_L_EXTRACT, a, 1);
    i.attr = element;
    return twi_lb_raw(c, &i, &a, 1);
}

twi_lid twi_lb_pack(twi_cursor *c, const twi_lid *scalar, unsigned count) {
    if (count == 1)
        return scalar[0];
    twi_lins i = like(c, TWI_L_PACK, scalar[0], count);
    return twi_lb_raw(c, &i, scalar, count);
}

twi_lid twi_lb_permute(twi_cursor *c, twi_lid a, twi_lid b, const int32_t *from, unsigned count) {
    twi_lins i = like(c, TWI_L_PERMUTE, a, count);
    twi_lid args[2] = {a, b};
    i.attr = c->f->ints.n;
    for (unsigned k = 0; k < count; k++)
        twi_push(c->loop->arena, &c->f->ints, from[k]);
    return twi_lb_raw(c, &i, args, b ? 2 : 1);
}

twi_lid twi_lb_dots(twi_cursor *c, twi_lid a, twi_lid b, twi_lid sum) {
    twi_lins i = like(c, TWI_L_DOTS, sum, c->f->ins.at[sum].count);
    twi_lid args[3] = {a, b, sum};
    if (c->fold && twi_is_float((tw_elem)i.elem)) {
        i.flags = TWI_FLAG_COMBINE;
        i.fold = c->fold;
    }
    return twi_lb_raw(c, &i, args, 3);
}

twi_lid twi_lb_lane_fold(twi_cursor *c, unsigned merge, twi_lid a, unsigned log_stride,
                         unsigned log_extent) {
    if (log_extent == 0)
        return a;
    unsigned count = c->f->explicit_lanes ? 1 : c->f->ins.at[a].count;
    twi_lins i = like(c, TWI_L_LANE_FOLD, a, count);
    i.attr = merge | log_stride << 8 | log_extent << 16;
    if (c->fold && combines(merge, i.elem)) {
        i.flags = TWI_FLAG_COMBINE;
        i.fold = c->fold;
    }
    return twi_lb_raw(c, &i, &a, 1);
}

twi_lid twi_lb_lane_xor(twi_cursor *c, twi_lid a, uint32_t mask) {
    twi_lins i = like(c, TWI_L_LANE_XOR, a, c->f->ins.at[a].count);
    i.attr = mask;
    return mask ? twi_lb_raw(c, &i, &a, 1) : a;
}

twi_lid twi_lb_lane_shift(twi_cursor *c, twi_lid a, int32_t by) {
    twi_lins i = like(c, TWI_L_LANE_SHIFT, a, c->f->ins.at[a].count);
    i.attr = (uint32_t)by;
    return by ? twi_lb_raw(c, &i, &a, 1) : a;
}

twi_lid twi_lb_lane_read(twi_cursor *c, twi_lid a, twi_lid lane) {
    twi_lid args[2] = {a, lane};
    twi_lins i = like(c, TWI_L_LANE_READ, a, c->f->explicit_lanes ? 1 : c->f->ins.at[a].count);
    return twi_lb_raw(c, &i, args, 2);
}

/* ---- memory ---- */

/* A mask that lets all pass is none; says what kind it is. */
static twi_lid mask_of(twi_cursor *c, twi_lid mask, unsigned count, uint8_t *kind) {
    *kind = TWI_MASK_NONE;
    if (!mask)
        return 0;
    const twi_lins *m = &c->f->ins.at[mask];
    int64_t k;
    if (twi_lb_const_of(c, mask, &k) && k >= (int64_t)count)
        return 0;
    if (m->op == TWI_L_LCONST && m->elem == TW_BOOL && c->f->constant.at[m->attr])
        return 0;
    *kind = m->elem == TW_BOOL ? TWI_MASK_BOOL : TWI_MASK_COUNT;
    return mask;
}

static uint32_t access_id(twi_cursor *c, twi_laccess a) {
    for (uint32_t k = 1; k < c->f->access.n; k++) {
        const twi_laccess *b = &c->f->access.at[k];
        if (a.object == b->object && a.dim == b->dim && a.mask == b->mask &&
            a.has_else == b->has_else && a.align == b->align && a.stream == b->stream &&
            a.early == b->early && a.ahead == b->ahead && a.merge == b->merge)
            return k;
    }
    twi_push(c->loop->arena, &c->f->access, a);
    return c->f->access.n - 1;
}

twi_lid twi_lb_load(twi_cursor *c, twi_laccess access, const twi_lid *index, unsigned count,
                    twi_lid mask, twi_lid other) {
    const twi_object *o = &c->f->object.at[access.object];
    twi_lid args[TWI_MAX_RANK + 2];
    uint32_t n = 0;
    for (unsigned d = 0; d < o->rank; d++)
        args[n++] = index[d];
    twi_lins i = {.op = TWI_L_LLOAD, .elem = o->elem, .count = (uint16_t)count};
    if (o->count > 1)
        i.count = o->count;
    mask = mask_of(c, mask, i.count, &access.mask);
    if (mask)
        args[n++] = mask;
    access.has_else = mask && other;
    if (access.has_else)
        args[n++] = twi_lb_splat(c, other, i.count);
    i.attr = access_id(c, access);
    return twi_lb_raw(c, &i, args, n);
}

void twi_lb_store(twi_cursor *c, twi_laccess access, const twi_lid *index, twi_lid value,
                  twi_lid mask) {
    const twi_object *o = &c->f->object.at[access.object];
    twi_lid args[TWI_MAX_RANK + 2];
    uint32_t n = 0;
    for (unsigned d = 0; d < o->rank; d++)
        args[n++] = index[d];
    if (o->count > 1)
        value = twi_lb_splat(c, value, o->count);
    args[n++] = value;
    mask = mask_of(c, mask, c->f->ins.at[value].count, &access.mask);
    if (mask)
        args[n++] = mask;
    access.has_else = false;
    twi_lins i = {.op = TWI_L_LSTORE};
    i.attr = access_id(c, access);
    (void)twi_lb_raw(c, &i, args, n);
}

void twi_lb_async_copy(twi_cursor *c, twi_laccess access, const twi_lid *index, twi_lid value) {
    const twi_object *o = &c->f->object.at[access.object];
    twi_lid args[TWI_MAX_RANK + 1];
    uint32_t n = 0;
    for (unsigned d = 0; d < o->rank; d++)
        args[n++] = index[d];
    args[n++] = value;
    twi_lins i = {.op = TWI_L_ASYNC_COPY};
    i.attr = access_id(c, access);
    (void)twi_lb_raw(c, &i, args, n);
}

void twi_lb_async_commit(twi_cursor *c) {
    (void)twi_lb_raw(c, &(twi_lins){.op = TWI_L_ASYNC_COMMIT}, NULL, 0);
}

void twi_lb_async_wait(twi_cursor *c, unsigned under_way) {
    (void)twi_lb_raw(c, &(twi_lins){.op = TWI_L_ASYNC_WAIT, .attr = under_way}, NULL, 0);
}

uint32_t twi_lb_object(twi_cursor *c, const twi_object *object) {
    twi_object o = *object;
    bool given = false;
    for (unsigned d = 0; d < o.rank; d++)
        given = given || o.stride[d] != 0;
    if (!given)
        dense(&o);
    if (o.count == 0)
        o.count = 1;
    twi_push(c->loop->arena, &c->f->object, o);
    return c->f->object.n - 1;
}

/* ---- structure ---- */

void twi_lb_open(twi_cursor *c, twi_lid v) {
    twi_push(c->loop->arena, &c->open, v);
    twi_push(c->loop->arena, &c->last, 0);
}

twi_lid twi_lb_for(twi_cursor *c, twi_lid lo, twi_lid hi, uint32_t step) {
    twi_lins i = {.op = TWI_L_FOR, .elem = TW_I64, .count = 1, .attr = step};
    twi_lid args[2] = {lo, hi};
    twi_lid v = twi_lb_raw(c, &i, args, 2);
    twi_lb_open(c, v);
    return v;
}

twi_lid twi_lb_unroll(twi_cursor *c, uint32_t n) {
    twi_lins i = {.op = TWI_L_UNROLL, .elem = TW_I64, .count = 1, .attr = n};
    twi_lid v = twi_lb_raw(c, &i, NULL, 0);
    twi_lb_open(c, v);
    return v;
}

void twi_lb_if(twi_cursor *c, twi_lid condition) {
    twi_lins i = {.op = TWI_L_IF};
    twi_lb_open(c, twi_lb_raw(c, &i, &condition, 1));
}

void twi_lb_close(twi_cursor *c) {
    assert(c->open.n > 0);
    c->open.n--;
    c->last.n--;
}

twi_lid twi_lb_barrier(twi_cursor *c, twi_barrier_scope scope) {
    twi_lins i = {.op = TWI_L_BARRIER, .attr = (uint32_t)scope};
    return twi_lb_raw(c, &i, NULL, 0);
}
