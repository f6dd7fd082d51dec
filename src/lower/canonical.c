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
    twi_lid i = twi_w_for(w, twi_w_int(w, 0), twi_w_int(w, trips), 1);
    twi_lid at = plus(w, base, twi_w_ix(w, TWI_MUL, i, twi_w_int(w, step)));
    twi_state a = {{get(r, at), 0, 0}}, b = {{get(r, plus(w, at, twi_w_int(w, away))), 0, 0}};
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
    twi_lid c = twi_w_for(w, twi_w_int(w, 0), twi_w_int(w, full), 1);
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

/* ---- element by element ----
 * Elements come in ascending positions, so a chunk is full when its last one was added; its result
 * is an element of the row above. Lanes begin at the identity, which changes nothing. */
static row row_of(twi_lowering *w, const twi_fold *f, unsigned level, twi_lid *index) {
    unsigned rank = twi_fold_index(w, f, index);
    return (row){w, f, f->row[level], index, rank + 1};
}

static twi_lid lane_of(twi_lowering *w, const twi_fold *f, unsigned level, twi_lid position) {
    return twi_w_ix(w, TWI_IMOD, position, twi_w_int(w, f->lanes[level]));
}

static void reset(row *r, int64_t lanes) {
    twi_lowering *w = r->w;
    unsigned count = w->c.f->object.at[r->object].count;
    twi_lid i = twi_w_for(w, twi_w_int(w, 0), twi_w_int(w, lanes), 1);
    put(r, i, twi_w_splat(w, twi_state_identity(w, r->f, 1).v[0], count));
    twi_w_close(w);
}

static void add(row *r, twi_lid lane, twi_lid x) {
    twi_state a = {{get(r, lane), 0}}, b = {{x, 0}};
    put(r, lane, twi_state_combine(r->w, r->f, a, b).v[0]);
}

/* real: does the element exist? 0: always. */
static void push(twi_lowering *w, const twi_fold *f, unsigned level, twi_lid x, twi_lid position,
                 twi_lid real) {
    twi_lid index[TWI_MAX_RANK];
    row r = row_of(w, f, level, index);
    add(&r, lane_of(w, f, level, position), x);
    if (level + 1 == f->levels)
        return;
    twi_lid in_chunk = twi_w_ix(w, TWI_IMOD, position, twi_w_int(w, TWI_CHUNK));
    twi_lid full = twi_w_ix(w, TWI_EQ, in_chunk, twi_w_int(w, TWI_CHUNK - 1));
    twi_w_if(w, real ? twi_w_ix(w, TWI_AND, full, real) : full);
    chunk(&r, twi_w_int(w, 0), f->lanes[level]);
    twi_lid result = get(&r, twi_w_int(w, 0));
    reset(&r, f->lanes[level]);
    push(w, f, level + 1, result, twi_w_ix(w, TWI_IDIV, position, twi_w_int(w, TWI_CHUNK)), 0);
    twi_w_close(w);
}

void twi_stream_init(twi_lowering *w, twi_fold *f) {
    uint32_t mark = twi_w_scope(w);
    f->levels = twi_stream_lanes(w->ir, f->id, f->lanes);
    for (unsigned k = 0; k < f->levels; k++) {
        twi_object o =
            twi_fold_shape(w, f, (tw_elem)twi_ins_of(w->ir, f->id)->type.elem, f->lanes[k]);
        if (!f->row[k])
            f->row[k] = twi_lb_object(&w->c, &o);
        unsigned depth = twi_w_depth(w);
        twi_lid index[TWI_MAX_RANK];
        twi_fold_open(w, f, f->own);
        row r = row_of(w, f, k, index);
        reset(&r, f->lanes[k]);
        twi_w_shut(w, depth);
        twi_w_forget(w, mark);
    }
}

void twi_stream_update(twi_lowering *w, const twi_fold *f, twi_lid x, twi_lid real) {
    const twi_ins *i = twi_ins_of(w->ir, f->id);
    twi_lid position = twi_w_int(w, 0);
    for (unsigned k = 0; k < i->nfold; k++) {
        unsigned a = i->fold[k], step = w->ir->axis.at[a].kind == TWI_AXIS_STEP;
        if (k)
            position = twi_w_ix(w, TWI_MUL, position, twi_w_span(w, a));
        position = twi_w_ix(w, TWI_ADD, position, twi_w_number(w, a, (uint8_t)(255u << step)));
    }
    push(w, f, 0, x, position, real);
}

/* What is left in the lanes of each level is the last, shorter chunk of the row above. */
void twi_stream_finish(twi_lowering *w, const twi_fold *f, bool at_top) {
    const twi_ins *i = twi_ins_of(w->ir, f->id);
    unsigned depth = twi_w_depth(w);
    uint32_t mark = twi_w_scope(w);
    twi_fold_open(w, f, f->own);
    twi_lid n = twi_w_int(w, 1), x = 0;
    for (unsigned k = 0; k < i->nfold; k++)
        n = twi_w_ix(w, TWI_MUL, n, twi_w_span(w, i->fold[k]));
    for (unsigned k = 0; k < f->levels; k++) {
        twi_lid index[TWI_MAX_RANK];
        row r = row_of(w, f, k, index);
        if (k) {
            n = twi_w_ix(w, TWI_IDIV, n, twi_w_int(w, TWI_CHUNK));
            add(&r, lane_of(w, f, k, n), x);
        }
        chunk(&r, twi_w_int(w, 0), f->lanes[k]);
        x = get(&r, twi_w_int(w, 0));
    }
    twi_state s = {{x, 0}};
    twi_fold_settle(w, f, s, at_top && w->c.open.n == depth);
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
}

/* ---- chunks in a loop ---- */
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
