/* SPDX-License-Identifier: Apache-2.0
 * The canonical scan of a row that lies in a private object (docs/numerics.md): groups of 8 by
 * doubling, the 32 totals of a block of 256 likewise, the blocks' totals a row again; then what
 * comes before a group and before a block is added, in place. Rows of a register file are written
 * out, so that nothing indexes it.
 */
#include "lower/walk.h"

enum { GROUP = 8, GROUPS = 32 };

typedef struct {
    twi_lowering *w;
    const twi_scan *s;
    uint32_t object;
    const twi_lid *index; /* by dimension of the object; that of the row is set for each access */
    unsigned rank, dim;
    int64_t n;
    bool reverse; /* element i stands at n - 1 - i */
} row;

static twi_lid constant(const row *r, int64_t k) { return twi_w_int(r->w, k); }

static twi_lid plus(const row *r, twi_lid a, int64_t k) {
    return twi_w_ix(r->w, TWI_ADD, a, constant(r, k));
}

static twi_laccess place(const row *r, twi_lid at, twi_lid *index) {
    for (unsigned d = 0; d < r->rank; d++)
        index[d] = d == r->dim ? at : r->index[d];
    if (r->reverse)
        index[r->dim] = twi_w_ix(r->w, TWI_SUB, constant(r, r->n - 1), at);
    return (twi_laccess){.object = r->object};
}

static twi_lid get(const row *r, twi_lid at) {
    twi_lid index[TWI_MAX_RANK];
    twi_laccess a = place(r, at, index);
    return twi_w_load(r->w, a, index, r->w->c.f->object.at[r->object].count, 0, 0);
}

static void put(const row *r, twi_lid at, twi_lid x) {
    twi_lid index[TWI_MAX_RANK];
    twi_laccess a = place(r, at, index);
    twi_w_store(r->w, a, index, twi_w_splat(r->w, x, r->w->c.f->object.at[r->object].count), 0);
}

/* Does something for lo <= k < hi: a loop, or written out where memory is not indexed. */
typedef void act(const row *r, const row *other, twi_lid k);
static void each(const row *r, const row *other, int64_t lo, int64_t hi, act *what) {
    twi_lowering *w = r->w;
    if (!w->caps->indexable && !w->vectors) {
        for (int64_t k = lo; k < hi; k++)
            what(r, other, constant(r, k));
    } else if (lo < hi) {
        what(r, other, twi_w_for(w, constant(r, lo), constant(r, hi), 1));
        twi_w_close(w);
    }
}

/* x[base .. base + size) by doubling, in place: from the last element, so that each still finds the
 * one before as it was. */
static void double_part(const row *r, twi_lid base, int64_t size) {
    for (int64_t d = 1; d < size; d *= 2)
        for (int64_t i = size - 1; i >= d; i--)
            put(r, plus(r, base, i),
                twi_scan_combine(r->s, get(r, plus(r, base, i - d)), get(r, plus(r, base, i))));
}

static twi_lid times(const row *r, twi_lid k, int64_t size) {
    return twi_w_ix(r->w, TWI_MUL, k, constant(r, size));
}

static void double_group(const row *r, const row *other, twi_lid g) {
    (void)other;
    double_part(r, times(r, g, GROUP), GROUP);
}
static void double_groups(const row *r, const row *other, twi_lid b) {
    (void)other;
    double_part(r, times(r, b, GROUPS), GROUPS);
}

/* Totals: the last element of each group of r, of each 32 groups of r. */
static void group_total(const row *r, const row *totals, twi_lid g) {
    put(totals, g, get(r, plus(r, times(r, g, GROUP), GROUP - 1)));
}
static void block_total(const row *r, const row *totals, twi_lid b) {
    put(totals, b, get(r, plus(r, times(r, b, GROUPS), GROUPS - 1)));
}

static void add_to_group(const row *r, twi_lid before, twi_lid g, int64_t size) {
    for (int64_t i = 0; i < size; i++) {
        twi_lid at = plus(r, times(r, g, GROUP), i);
        put(r, at, twi_scan_combine(r->s, before, get(r, at)));
    }
}

/* The total before group g in its block; nothing before the block's first. */
static twi_lid before_group(const row *r, const row *totals, twi_lid g) {
    twi_lid first =
        twi_w_ix(r->w, TWI_EQ, twi_w_ix(r->w, TWI_IMOD, g, constant(r, GROUPS)), constant(r, 0));
    return twi_w_op(r->w, TWI_SELECT, first, twi_scan_identity(r->s), get(totals, plus(r, g, -1)));
}
static twi_lid before_block(const row *r, const row *blocks, twi_lid g) {
    return get(blocks, plus(r, twi_w_ix(r->w, TWI_IDIV, g, constant(r, GROUPS)), -1));
}

static void add_group(const row *r, const row *totals, twi_lid g) {
    add_to_group(r, before_group(r, totals, g), g, GROUP);
}
static void add_block(const row *r, const row *blocks, twi_lid g) {
    add_to_group(r, before_block(r, blocks, g), g, GROUP);
}

static row array_of(const row *r, int64_t n) {
    const twi_object *like = &r->w->c.f->object.at[r->object];
    twi_object o = {.kind = TWI_OBJ_PRIVATE, .elem = like->elem, .name = like->name};
    o.count = like->count;
    o.rank = 1;
    o.extent[0] = n;
    if (r->w->vectors && n * o.count * (int64_t)tw_elem_size((tw_elem)o.elem) > 8192)
        o.kind = TWI_OBJ_SCRATCH;
    return (row){.w = r->w, .s = r->s, .object = twi_lb_object(&r->w->c, &o), .rank = 1, .n = n};
}

static void scan_row(const row *r) {
    const int64_t full = r->n / GROUP, tail = r->n % GROUP, groups = full + (tail > 0);
    each(r, NULL, 0, full, double_group);
    if (tail)
        double_part(r, constant(r, full * GROUP), tail);
    if (groups <= 1)
        return;
    const row totals = array_of(r, groups);
    each(r, &totals, 0, full, group_total);
    if (tail)
        put(&totals, constant(r, full), get(r, constant(r, r->n - 1)));
    const int64_t whole = groups / GROUPS, rest = groups % GROUPS;
    each(&totals, NULL, 0, whole, double_groups);
    if (rest)
        double_part(&totals, constant(r, whole * GROUPS), rest);
    each(r, &totals, 1, full, add_group);
    if (tail)
        add_to_group(r, before_group(r, &totals, constant(r, full)), constant(r, full), tail);
    if (groups <= GROUPS)
        return;
    const row blocks = array_of(r, whole + (rest > 0));
    each(&totals, &blocks, 0, whole, block_total);
    if (rest)
        put(&blocks, constant(r, whole), get(&totals, constant(r, groups - 1)));
    scan_row(&blocks);
    each(r, &blocks, GROUPS, full, add_block);
    if (tail)
        add_to_group(r, before_block(r, &blocks, constant(r, full)), constant(r, full), tail);
}

/* An exclusive scan gives each element the result of the one before. */
static void move_on(const row *r, const row *other, twi_lid k) {
    (void)other;
    twi_lid to = twi_w_ix(r->w, TWI_SUB, constant(r, r->n - 1), k);
    put(r, to, get(r, plus(r, to, -1)));
}

void twi_scan_canonical(const twi_scan *s) {
    twi_lowering *w = s->w;
    const int64_t n = twi_axis_extent(w->ir, s->axis);
    twi_lid index[TWI_MAX_RANK];
    row r = {.w = w, .s = s, .object = s->stripe, .index = index, .n = n, .reverse = s->reverse};
    for (unsigned d = 0; d < s->map->n; d++) /* replaced by the row's own index */
        if (s->at.low >> d & 1)
            w->digit[s->axis][d] = twi_w_int(w, 0);
    r.rank = twi_w_stripe_index(w, s->own | 1ull << s->axis, index);
    for (unsigned a = 0; a < s->axis; a++)
        r.dim += s->own >> a & 1 &&
                 twi_digits_extent(twi_w_map(w, a), twi_time_digits(w->ir, w->frame, a)) > 1;
    if (n > 1)
        scan_row(&r);
    if (!s->exclusive || n < 1)
        return;
    each(&r, NULL, 0, n - 1, move_on);
    if (twi_digits_extent(s->map, twi_time_digits(w->ir, w->frame, s->axis)) ==
        1) /* no dimension */
        twi_w_stripe_store(w, s->stripe, s->own | 1ull << s->axis, twi_scan_start(s));
    else
        put(&r, constant(&r, 0), twi_scan_start(s));
}
