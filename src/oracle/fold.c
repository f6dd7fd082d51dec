/* SPDX-License-Identifier: Apache-2.0
 * Folds: gathering what is folded, determined folds, trees of descriptors. Bounded ones: bound.c.
 */
#include "oracle/eval.h"
#include <math.h>

/* ---- trees ---- */

static bool same_order(const twi_order *a, const twi_order *b) {
    if (a->fold != b->fold || a->n != b->n)
        return false;
    for (unsigned k = 0; k < a->n; k++) {
        const twi_order_digit *x = &a->digit[k], *y = &b->digit[k];
        if (x->axis != y->axis || x->how != y->how || x->weight != y->weight ||
            x->extent != y->extent)
            return false;
    }
    return true;
}

/* Chains one after the other may be one accumulator or several: both are laid out then. */
static bool has_two_chains(const twi_order *d) {
    for (unsigned k = 1; k < d->n; k++)
        if (d->digit[k].how != TWI_HOW_TREE && d->digit[k - 1].how != TWI_HOW_TREE)
            return true;
    return false;
}

static void add_tree(twi_oracle *o, const twi_folding *f, twi_layout *l, const twi_order *d,
                     bool merge) {
    twi_tree *t = twi_tree_of(o->arena, d, f->ins->fold, l->extent, f->ins->nfold, merge);
    if (t)
        l->tree[l->n++] = t;
    else
        twi_fail(o, "the order descriptor of %s does not place each element once",
                 twi_value_name(o->ir, f->v));
}

static void lay_out(twi_oracle *o, const twi_folding *f, twi_layout *l) {
    l->tree = TWI_NEW_N(o->arena, twi_tree *, 2 * o->n_orders + 1);
    if (f->n < 2)
        return;
    if (f->order != TWI_ORDER_FREE && f->order != TWI_ORDER_TREE) {
        l->tree[l->n++] = twi_tree_fixed(
            o->arena,
            f->ins->op == TWI_DOT && f->order != TWI_ORDER_RIGHT ? TWI_ORDER_LEFT : f->order, f->n);
        return;
    }
    for (size_t k = 0; k < o->n_orders; k++) {
        const twi_order *d = &o->orders[k];
        bool again = d->fold != f->v;
        l->flushes = l->flushes || (!again && d->flushes);
        for (size_t j = 0; j < k && !again; j++)
            again = same_order(&o->orders[j], d);
        if (again)
            continue;
        add_tree(o, f, l, d, true);
        if (has_two_chains(d))
            add_tree(o, f, l, d, false);
    }
}

const twi_layout *twi_layout_of(twi_oracle *o, const twi_folding *f) {
    int64_t extent[TWI_MAX_RANK] = {0};
    for (unsigned k = 0; k < f->ins->nfold; k++)
        extent[k] = o->axis[f->ins->fold[k]].hi - o->axis[f->ins->fold[k]].lo;
    twi_layout **at = &o->layout[f->v];
    for (; *at; at = &(*at)->next) {
        if (memcmp((*at)->extent, extent, sizeof extent) == 0) {
            twi_layout *hit = *at; /* to the front: extents repeat */
            *at = hit->next;
            hit->next = o->layout[f->v];
            o->layout[f->v] = hit;
            return hit;
        }
    }
    twi_layout *l = TWI_NEW(o->arena, twi_layout);
    memcpy(l->extent, extent, sizeof extent);
    lay_out(o, f, l);
    l->next = o->layout[f->v];
    o->layout[f->v] = l;
    return l;
}

/* ---- determined folds ---- */

static uint64_t fold_identity(const twi_folding *f) {
    const twi_monoid *m = twi_monoid_of(f->ins->op);
    twi_identity id = (twi_identity)(m->identity == TWI_ID_NEG_ZERO ? TWI_ID_ZERO : m->identity);
    return twi_identity_bits(id, f->to);
}

/* x: the elements in the accumulator's type; used up. */
static uint64_t fold_row(const twi_folding *f, uint64_t *x) {
    const twi_monoid *m = twi_monoid_of(f->ins->op);
    twi_det d = twi_det_of(m->merge, f->to, f->to);
    size_t n = f->n;
    if (n == 0)
        return fold_identity(f);
    if (f->order == TWI_ORDER_CANONICAL)
        return twi_canonical(&d, x, n);
    uint64_t pair[2];
    bool right = f->order == TWI_ORDER_RIGHT;
    pair[0] = right ? x[n - 1] : x[0];
    for (size_t k = 1; k < n; k++) {
        pair[1] = right ? x[n - 1 - k] : x[k];
        pair[0] = twi_det_do(&d, pair);
    }
    return pair[0];
}

/* First index of the best value, -0 < +0 as in max; the first NaN if there is one; -1 of nothing.
 */
static uint64_t fold_arg(twi_oracle *o, const twi_folding *f, const uint64_t *x) {
    twi_det better = twi_det_of(f->ins->op == TWI_ARGMAX ? TWI_MAX : TWI_MIN, f->from, f->from);
    if (f->n == 0)
        return UINT64_MAX;
    size_t best = 0;
    for (size_t k = 1; k < f->n && !twi_bits_nan(f->from, x[best]); k++) {
        uint64_t pair[2] = {x[best], x[k]};
        if (twi_bits_nan(f->from, x[k]) || twi_det_do(&better, pair) != x[best])
            best = k;
    }
    int64_t lo = f->ins->nfold == 1 ? o->axis[f->ins->fold[0]].lo : 0;
    return (uint64_t)(lo + (int64_t)best);
}

static uint64_t fold_dot(const twi_folding *f) {
    uint64_t x[3];
    twi_det fused = twi_det_of(TWI_FMA, f->to, f->to);
    twi_det mul = twi_det_of(TWI_MUL, f->to, f->to), add = twi_det_of(TWI_ADD, f->to, f->to);
    uint64_t acc =
        f->args > 2 ? f->arg[2]->bits[f->base[2]] : twi_identity_bits(TWI_ID_ZERO, f->to);
    for (size_t i = 0; i < f->n; i++) {
        size_t k = f->order == TWI_ORDER_RIGHT ? f->n - 1 - i : i;
        x[0] = twi_det_cast(f->from, f->to, f->arg[0]->bits[f->base[0] + f->offset[0][k]]);
        x[1] = twi_det_cast((tw_elem)f->arg[1]->elem, f->to,
                            f->arg[1]->bits[f->base[1] + f->offset[1][k]]);
        x[2] = acc;
        if (fused.fn) {
            acc = twi_det_do(&fused, x);
        } else {
            uint64_t y[2] = {twi_det_do(&mul, x), acc};
            acc = twi_det_do(&add, y);
        }
    }
    return acc;
}

static uint64_t determined(twi_oracle *o, const twi_folding *f) {
    if (f->ins->op == TWI_DOT)
        return fold_dot(f);
    bool arg = f->ins->op == TWI_ARGMAX || f->ins->op == TWI_ARGMIN;
    uint64_t *x = o->words.at;
    for (size_t k = 0; k < f->n; k++) {
        uint64_t bits = f->arg[0]->bits[f->base[0] + f->offset[0][k]];
        x[k] = arg ? bits : twi_det_cast(f->from, f->to, bits);
    }
    return arg ? fold_arg(o, f, x) : fold_row(f, x);
}

/* ---- all folds ---- */

/* Offsets of the folded elements in operand k, row-major over the bracket. */
static void fold_offsets(const twi_folding *f, const twi_oracle *o, unsigned k, int64_t *out) {
    const twi_tile *t = f->arg[k];
    int64_t at[TWI_MAX_RANK] = {0}, step[TWI_MAX_RANK] = {0}, extent[TWI_MAX_RANK] = {0};
    unsigned n = f->ins->nfold;
    for (unsigned d = 0; d < n; d++) {
        uint8_t a = f->ins->fold[d];
        extent[d] = o->axis[a].hi - o->axis[a].lo;
        for (unsigned e = 0; e < t->n; e++)
            if (t->axis[e] == a)
                step[d] = t->stride[e];
    }
    int64_t off = 0;
    for (size_t i = 0; i < f->n; i++) {
        out[i] = off;
        for (unsigned d = n; d-- > 0;) {
            off += step[d];
            if (++at[d] < extent[d])
                break;
            off -= step[d] * extent[d];
            at[d] = 0;
        }
    }
}

static bool prepare(twi_oracle *o, twi_folding *f) {
    f->n = 1;
    for (unsigned d = 0; d < f->ins->nfold; d++) {
        if (!twi_axis_ready(o, f->ins->fold[d]))
            return false;
        f->n *= (size_t)(o->axis[f->ins->fold[d]].hi - o->axis[f->ins->fold[d]].lo);
    }
    if (f->n > (size_t)1 << 30) {
        twi_fail(o, "a fold over more than 2^30 elements");
        return false;
    }
    twi_reserve(o->arena, &o->offsets, (uint32_t)(2 * f->n + 2));
    twi_reserve(o->arena, &o->words, (uint32_t)(f->n + 1));
    unsigned folded = f->ins->op == TWI_DOT ? 2 : 1;
    for (unsigned k = 0; k < folded; k++) {
        int64_t *at = o->offsets.at + k * (f->n + 1);
        fold_offsets(f, o, k, at);
        f->offset[k] = at;
    }
    return true;
}

void twi_eval_fold(twi_oracle *o, twi_id v) {
    twi_tile *t = &o->tile[v];
    const bool part = o->ir->ins.at[v].op == TWI_PART;
    const twi_id fold = part ? twi_arg(o->ir, v, 0) : v;
    const twi_ins *ins = &o->ir->ins.at[fold];
    twi_folding f = {.v = fold, .ins = ins, .to = (tw_elem)ins->type.elem};
    f.part = part ? o->ir->ins.at[v].attr : 0;
    twi_part room[TWI_ROOM];
    twi_walk w;
    f.args = ins->nargs < 3 ? ins->nargs : 3;
    (void)twi_fixed_order(o->ir, ins, o->options.canonical, &f.order);
    twi_walk_begin(&w, t);
    for (unsigned k = 0; k < f.args; k++) {
        f.arg[k] = &o->tile[twi_arg(o->ir, fold, k)];
        twi_walk_add(&w, t, f.arg[k]);
    }
    f.from = (tw_elem)f.arg[0]->elem;
    if (!prepare(o, &f))
        return;
    if (t->bounded && f.order != TWI_ORDER_DEFAULT)
        f.layout = twi_layout_of(o, &f);
    o->ops += t->total * f.n;
    for (size_t k = 0; w.left > 0 && !o->error; k++, twi_walk_next(&w)) {
        for (unsigned a = 0; a < f.args; a++)
            f.base[a] = w.off[a];
        if (!t->bounded) {
            t->bits[k] = determined(o, &f);
            continue;
        }
        twi_form x = {0};
        if (part)
            f.first = twi_tile_get(&o->tile[fold], k);
        twi_bound_fold(o, &f, &x, room);
        twi_tile_put(o, t, k, &x);
    }
}
