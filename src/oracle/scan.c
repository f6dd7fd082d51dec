/* SPDX-License-Identifier: Apache-2.0
 * Scans. Rows are read in the direction of the scan; an exclusive one hands on the result of the
 * element before. Determined rows: a chain, or the canonical order of docs/numerics.md; bounded
 * ones prefix by prefix (bound.c).
 */
#include "oracle/eval.h"

enum { GROUP = 8, BLOCK = 256, GROUPS = BLOCK / GROUP };

/* x[i] becomes the combination of x[0 .. i], for n elements `step` apart, by doubling. */
static void doubling(const twi_det *d, uint64_t *x, size_t n, size_t step) {
    for (size_t by = 1; by < n; by *= 2)
        for (size_t i = n; i-- > by;) {
            uint64_t pair[2] = {x[(i - by) * step], x[i * step]};
            x[i * step] = twi_det_do(d, pair);
        }
}

static void combine_all(const twi_det *d, uint64_t before, uint64_t *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t pair[2] = {before, x[i]};
        x[i] = twi_det_do(d, pair);
    }
}

/* One block: groups by themselves, their totals, then group prefix + own. The block's total. */
static uint64_t block_of(const twi_det *d, uint64_t *x, size_t n) {
    uint64_t total[GROUPS];
    size_t groups = 0;
    for (size_t at = 0; at < n; at += GROUP) {
        size_t here = n - at < GROUP ? n - at : GROUP;
        doubling(d, x + at, here, 1);
        total[groups++] = x[at + here - 1];
    }
    doubling(d, total, groups, 1);
    for (size_t g = 1; g < groups; g++)
        combine_all(d, total[g - 1], x + g * GROUP, n - g * GROUP < GROUP ? n - g * GROUP : GROUP);
    return total[groups - 1];
}

/* room: for the block totals of this row and of theirs. */
static void canonical(const twi_det *d, uint64_t *x, size_t n, uint64_t *room) {
    size_t blocks = 0;
    for (size_t at = 0; at < n; at += BLOCK)
        room[blocks++] = block_of(d, x + at, n - at < BLOCK ? n - at : BLOCK);
    if (blocks < 2)
        return;
    canonical(d, room, blocks, room + blocks);
    for (size_t b = 1; b < blocks; b++)
        combine_all(d, room[b - 1], x + b * BLOCK, n - b * BLOCK < BLOCK ? n - b * BLOCK : BLOCK);
}

static uint64_t start_of(const twi_folding *f) {
    twi_identity id = (twi_identity)twi_monoid_of(f->ins->op)->identity;
    return twi_identity_bits(id == TWI_ID_NEG_ZERO ? TWI_ID_ZERO : id, f->to);
}

/* Where results go: the k-th of the scan's direction. */
typedef struct {
    twi_oracle *o;
    twi_tile *t;
    size_t base, n;
    int64_t stride;
    bool exclusive, reverse;
} row;

static size_t place(const row *r, size_t k) {
    size_t at = r->reverse ? r->n - 1 - k : k;
    return (size_t)((int64_t)r->base + (int64_t)at * r->stride);
}

static void determined(twi_oracle *o, const twi_folding *f, const row *r) {
    twi_det d = twi_det_of(twi_monoid_of(f->ins->op)->merge, f->to, f->to);
    uint64_t *x = o->words.at;
    for (size_t k = 0; k < f->n; k++)
        x[k] = f->arg[0]->bits[f->base[0] + f->offset[0][k]];
    if (f->order == TWI_ORDER_CANONICAL) {
        canonical(&d, x, f->n, x + f->n);
    } else {
        for (size_t k = 1; k < f->n; k++) {
            uint64_t pair[2] = {x[k - 1], x[k]};
            x[k] = twi_det_do(&d, pair);
        }
    }
    for (size_t k = 0; k < f->n; k++)
        r->t->bits[place(r, k)] = !r->exclusive ? x[k] : k ? x[k - 1] : start_of(f);
}

static void put(void *user, size_t k, const twi_form *x) {
    row *r = user;
    if (r->exclusive && k + 1 == r->n)
        return;
    twi_tile_put(r->o, r->t, place(r, r->exclusive ? k + 1 : k), x);
}

static void bounded(twi_oracle *o, const twi_folding *f, row *r) {
    if (r->exclusive && f->n) {
        twi_form first = twi_form_exact(f->to, start_of(f));
        twi_tile_put(o, r->t, place(r, 0), &first);
    }
    twi_bound_prefixes(o, f, put, r);
}

static int64_t stride_of(const twi_tile *t, uint8_t axis) {
    for (unsigned d = 0; d < t->n; d++)
        if (t->axis[d] == axis)
            return t->stride[d];
    return 0;
}

static uint32_t stated_depth(const twi_oracle *o, twi_id v) {
    uint32_t depth = 0;
    for (size_t k = 0; k < o->n_orders; k++)
        if (o->orders[k].fold == v && o->orders[k].depth > depth)
            depth = o->orders[k].depth;
    return depth;
}

void twi_eval_scan(twi_oracle *o, twi_id v) {
    const twi_ins *ins = &o->ir->ins.at[v];
    uint8_t axis = ins->fold[0];
    twi_tile *t = &o->tile[v], over = {.cap = SIZE_MAX, .bits = &o->ops}; /* a shape only */
    twi_folding f = {.v = v, .ins = ins, .to = (tw_elem)ins->type.elem, .args = 1};
    row r = {.o = o, .t = t};
    twi_walk w;
    (void)twi_fixed_order(o->ir, ins, o->options.canonical, &f.order);
    f.arg[0] = &o->tile[twi_arg(o->ir, v, 0)];
    f.from = (tw_elem)f.arg[0]->elem;
    f.depth = stated_depth(o, v);
    if (!twi_axis_ready(o, axis) ||
        !twi_tile_shape(o, &over, ins->type.axes & ~(UINT64_C(1) << axis)))
        return;
    r.n = f.n = (size_t)(o->axis[axis].hi - o->axis[axis].lo);
    r.exclusive = (ins->attr & TWI_SCAN_EXCLUSIVE) != 0;
    r.reverse = (ins->attr & TWI_SCAN_REVERSE) != 0;
    r.stride = stride_of(t, axis);
    twi_reserve(o->arena, &o->offsets, (uint32_t)(f.n + 1));
    twi_reserve(o->arena, &o->words, (uint32_t)(2 * f.n + 64));
    for (size_t k = 0; k < f.n; k++)
        o->offsets.at[k] = (int64_t)(r.reverse ? f.n - 1 - k : k) * stride_of(f.arg[0], axis);
    f.offset[0] = o->offsets.at;
    twi_walk_begin(&w, &over);
    twi_walk_add(&w, &over, t);
    twi_walk_add(&w, &over, f.arg[0]);
    o->ops += t->total;
    for (; w.left > 0 && !o->error; twi_walk_next(&w)) {
        r.base = (size_t)w.off[0];
        f.base[0] = w.off[1];
        if (t->bounded)
            bounded(o, &f, &r);
        else
            determined(o, &f, &r);
    }
}
