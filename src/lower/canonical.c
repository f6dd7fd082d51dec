/* SPDX-License-Identifier: Apache-2.0
 * The canonical fold of a row that lies in a private object (docs/numerics.md): chunks of 2048; in
 * a chunk element l of 256 takes l + 256, l + 512, .. in turn, then its neighbour at 1, 2, 4, ..
 * 128; chunk results are a row again. Works in place; n is a constant.
 */
#include "lower/walk.h"

typedef struct {
    twi_lowering *w;
    const twi_fold *f;
    uint32_t object;
    twi_lid *index; /* the last entry is set for each access */
    unsigned rank;
} row;

static twi_lid get(row *r, twi_lid at) {
    twi_laccess a = {.object = r->object};
    r->index[r->rank - 1] = at;
    return twi_w_load(r->w, a, r->index, r->w->c.f->object.at[r->object].count, 0, 0);
}

static void put(row *r, twi_lid at, twi_lid x) {
    twi_laccess a = {.object = r->object};
    r->index[r->rank - 1] = at;
    twi_w_store(r->w, a, r->index, x, 0);
}

static twi_lid plus(twi_lowering *w, twi_lid a, twi_lid b) { return twi_w_ix(w, TWI_ADD, a, b); }

/* x[base + i * step] takes x[base + i * step + away] for i < trips. */
static void take(row *r, twi_lid base, int64_t step, int64_t away, int64_t trips) {
    twi_lowering *w = r->w;
    if (trips <= 0)
        return;
    twi_lid i = twi_w_for(w, twi_w_int(w, 0), twi_w_int(w, trips));
    twi_lid at = plus(w, base, twi_w_ix(w, TWI_MUL, i, twi_w_int(w, step)));
    twi_state a = {{get(r, at), 0}}, b = {{get(r, plus(w, at, twi_w_int(w, away))), 0}};
    put(r, at, twi_state_combine(w, r->f, a, b).v[0]);
    twi_w_close(w);
}

/* Leaves the fold of x[base .. base+n) at x[base]; 1 <= n <= 2048. */
static void chunk(row *r, twi_lid base, int64_t n) {
    int64_t lanes = n < 256 ? n : 256;
    for (int64_t k = 256; k < n; k += 256)
        take(r, base, 1, k, n - k < 256 ? n - k : 256);
    for (int64_t bit = 1; bit < lanes; bit *= 2)
        take(r, base, 2 * bit, bit, (lanes - bit + 2 * bit - 1) / (2 * bit));
}

static void fold_row(row *r, int64_t n) {
    twi_lowering *w = r->w;
    if (n <= 2048) {
        chunk(r, twi_w_int(w, 0), n);
        return;
    }
    int64_t full = n / 2048, tail = n % 2048;
    twi_lid c = twi_w_for(w, twi_w_int(w, 0), twi_w_int(w, full));
    twi_lid base = twi_w_ix(w, TWI_MUL, c, twi_w_int(w, 2048));
    chunk(r, base, 2048);
    put(r, c, get(r, base));
    twi_w_close(w);
    if (tail) {
        twi_lid last = twi_w_int(w, full * 2048);
        chunk(r, last, tail);
        put(r, twi_w_int(w, full), get(r, last));
    }
    fold_row(r, full + (tail > 0));
}

twi_lid twi_canonical_row(twi_lowering *w, const twi_fold *f, uint32_t object, twi_lid *index,
                          unsigned rank, int64_t n) {
    row r = {w, f, object, index, rank};
    fold_row(&r, n);
    return get(&r, twi_w_int(w, 0));
}

void twi_fold_finish_chunks(twi_lowering *w, twi_fold *f, bool at_top) {
    unsigned axis = twi_ins_of(w->ir, f->id)->fold[0];
    unsigned depth = twi_w_depth(w);
    uint32_t mark = twi_w_scope(w);
    for (unsigned a = 0; a < w->ir->axis.n; a++)
        for (unsigned d = 0; d < twi_w_map(w, a)->n; d++)
            if (f->chunk_inner[a] >> d & 1)
                twi_w_open(w, a, d);
    twi_lid index[TWI_MAX_RANK];
    unsigned rank = twi_w_stripe_index(w, f->own, index);
    twi_state s = {
        {twi_canonical_row(w, f, f->chunks, index, rank + 1, twi_w_map(w, axis)->d[0].extent), 0}};
    twi_fold_settle(w, f, s, at_top && w->c.open.n == depth);
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
}
