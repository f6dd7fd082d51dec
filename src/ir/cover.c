/* SPDX-License-Identifier: Apache-2.0
 * Is every element of an `out` array stored? Each unconditional store covers a box: in every dim an
 * interval made of its axes as digits (the one of weight 1 runs over its range, each further one
 * must have a weight that is at most the length so far). The union of the boxes is walked dim by
 * dim: from where the interval has come to, which stores reach further, and do these cover the dims
 * that follow?
 */
#include "ir/codes.h"
#include "ir/poly.h"
#include "ir/whole.h"

enum { STORES = 64, HOPS = 16 };
typedef struct {
    twi_poly lo[TWI_MAX_RANK], hi[TWI_MAX_RANK];
} box;
typedef struct {
    twi_prover *p;
    const tw_ir *ir;
    uint32_t array;
    uint32_t n;
    box *boxes;
    twi_poly extent[TWI_MAX_RANK];
} state;

/* ---- one store's box ---- */
static bool take_digit(twi_prover *p, const tw_ir *ir, uint32_t atom, twi_poly *at,
                       twi_poly *length, bool *taken) {
    twi_poly c, rest;
    const twi_axis *axis = &ir->axis.at[p->atom.at[atom].id];
    if (!twi_poly_split(p, *at, atom, &c, &rest) || ir->ix.at[axis->lo].axes ||
        ir->ix.at[axis->hi].axes || twi_is_loaded_axis(ir, p->atom.at[atom].id))
        return false;
    bool down = twi_prove_ge(p, twi_poly_add(p, twi_poly_const(p, 0), c, -1), 1); /* W - 1 - w */
    twi_poly weight = twi_poly_add(p, twi_poly_const(p, 0), c, down ? -1 : 1);
    *taken = twi_prove_ge(p, weight, 1) && twi_prove_le(p, weight, *length);
    if (!*taken)
        return true;
    twi_poly lo = twi_poly_of(p, axis->lo), last = twi_poly_plus(p, twi_poly_of(p, axis->hi), -1);
    twi_poly most = twi_poly_add(p, last, lo, -1); /* of the digit, counted from 0 */
    int64_t one;
    bool first = twi_poly_is_const(*length, &one) && one == 1;
    if (!first && !twi_prove_ge(p, most, 0)) /* the first may be empty: so is the interval then */
        return false;
    *at = twi_poly_add(p, rest, twi_poly_mul(p, c, down ? last : lo), 1);
    *length = twi_poly_add(p, *length, twi_poly_mul(p, weight, most), 1);
    return true;
}

static uint32_t axis_atom(const twi_prover *p, twi_poly a, uint32_t after) {
    uint32_t best = 0;
    for (uint32_t k = 0; k < a.n; k++)
        for (uint32_t i = 0; i < a.m[k].n; i++) {
            uint32_t id = a.m[k].atom[i];
            if (p->atom.at[id].op == TWI_IX_AXIS && id > after && (best == 0 || id < best))
                best = id;
        }
    return best;
}

static bool interval(twi_prover *p, const tw_ir *ir, twi_ix x, twi_poly *lo, twi_poly *hi) {
    twi_poly at = twi_poly_of(p, x), length = twi_poly_const(p, 1);
    for (uint32_t atom = 0; (atom = axis_atom(p, at, atom)) != 0;) {
        bool taken = false;
        if (!take_digit(p, ir, atom, &at, &length, &taken))
            return false;
        if (taken)
            atom = 0; /* the interval is longer now: weights refused before may fit */
    }
    if (axis_atom(p, at, 0) != 0)
        return false;
    *lo = at;
    *hi = twi_poly_add(p, at, length, 1);
    return !p->lost;
}

static bool of_plain_axes(const tw_ir *ir, twi_ix x) {
    const twi_ix_node *n = &ir->ix.at[x];
    if (n->op == TWI_IX_LO || n->op == TWI_IX_HI || n->op == TWI_IX_VALUE)
        return false;
    if (n->op < TWI_IX_ADD)
        return true;
    bool linear = n->op == TWI_IX_ADD || n->op == TWI_IX_SUB || n->op == TWI_IX_MUL;
    return n->axes == 0 || (linear && of_plain_axes(ir, n->a) && of_plain_axes(ir, n->b));
}

/* Loops around the store whose axis does not tell its elements apart must have a trip. */
static bool runs(state *s, uint32_t region, uint64_t named) {
    const tw_ir *ir = s->ir;
    for (; region > 1; region = ir->region.at[region].parent)
        for (uint32_t k = 0; k < ir->region.at[region].axes.n; k++) {
            uint32_t a = ir->region.at[region].axes.at[k];
            const twi_axis *axis = &ir->axis.at[a];
            if (named >> a & 1u)
                continue;
            if (ir->ix.at[axis->lo].axes || ir->ix.at[axis->hi].axes || twi_is_loaded_axis(ir, a))
                return false;
            twi_poly trips =
                twi_poly_add(s->p, twi_poly_of(s->p, axis->hi), twi_poly_of(s->p, axis->lo), -1);
            if (!twi_prove_ge(s->p, trips, 1))
                return false;
        }
    return true;
}

static void add_store(state *s, const twi_ins *ins, uint32_t region) {
    const tw_ir *ir = s->ir;
    const twi_access *a = &ir->access.at[ins->attr];
    uint64_t named = 0;
    box b = {0};
    if (a->array != s->array || ins->nargs > 1 || s->n == STORES ||
        a->proof == TWI_ACCESS_CHECKED) /* conditional, or one that may store nothing */
        return;
    for (unsigned d = 0; d < ir->array.at[s->array].rank; d++) {
        uint64_t axes = ir->ix.at[a->ix[d]].axes;
        if ((named & axes) != 0 ||
            !of_plain_axes(ir, a->ix[d])) /* an axis in two dims: a diagonal */
            return;
        if (!interval(s->p, ir, a->ix[d], &b.lo[d], &b.hi[d]))
            return;
        named |= axes;
    }
    if (runs(s, region, named))
        s->boxes[s->n++] = b;
}

static void gather(state *s, uint32_t region) {
    const twi_region *r = &s->ir->region.at[region];
    for (uint32_t k = 0; k < r->body.n; k++) {
        const twi_ins *ins = &s->ir->ins.at[r->body.at[k]];
        if (ins->op == TWI_STORE)
            add_store(s, ins, region);
        else if (twi_op_row(ins->op)->kind == TWI_KIND_REGION)
            gather(s, ins->attr);
    }
}

/* ---- the union ---- */
static bool covers(state *s, unsigned d, uint64_t set);

/* From `at` on in dim d: the end of the next stretch that some of the stores cover. */
static bool hop(state *s, unsigned d, uint64_t set, twi_poly *at) {
    twi_prover *p = s->p;
    uint64_t here = 0;
    for (uint32_t k = 0; k < s->n; k++)
        if ((set >> k & 1u) && twi_prove_le(p, s->boxes[k].lo[d], *at) &&
            !twi_prove_le(p, s->boxes[k].hi[d], *at))
            here |= UINT64_C(1) << k;
    for (uint32_t k = 0; k < s->n; k++) {
        uint64_t as_far = 0;
        if (!(here >> k & 1u))
            continue;
        for (uint32_t j = 0; j < s->n; j++)
            if ((here >> j & 1u) && twi_prove_le(p, s->boxes[k].hi[d], s->boxes[j].hi[d]))
                as_far |= UINT64_C(1) << j;
        if (covers(s, d + 1, as_far)) {
            *at = s->boxes[k].hi[d];
            return true;
        }
    }
    return false;
}

static bool covers(state *s, unsigned d, uint64_t set) {
    if (d == s->ir->array.at[s->array].rank)
        return set != 0;
    twi_poly at = twi_poly_const(s->p, 0);
    for (int k = 0; k < HOPS; k++) {
        if (twi_prove_le(s->p, s->extent[d], at))
            return true;
        if (!hop(s, d, set, &at))
            return false;
    }
    return false;
}

static bool stored_in_full(const tw_ir *ir, uint32_t array) {
    twi_prover p;
    twi_prover_init(&p, ir, ir->arena, 0);
    state s = {.p = &p, .ir = ir, .array = array, .boxes = TWI_NEW_N(ir->arena, box, STORES)};
    for (unsigned d = 0; d < ir->array.at[array].rank; d++) { /* an empty array is stored in full */
        s.extent[d] = twi_poly_of(&p, ir->array.at[array].dim[d]);
        twi_prover_assume(&p, twi_poly_add(&p, s.extent[d], twi_poly_const(&p, 1), -1));
    }
    gather(&s, 1);
    return s.n != 0 && covers(&s, 0, s.n == 64 ? UINT64_MAX : (UINT64_C(1) << s.n) - 1u);
}

void twi_check_cover(tw_ir *ir) {
    for (uint32_t k = 1; k < ir->array.n; k++) {
        const twi_array *a = &ir->array.at[k];
        if (a->role != TWI_OUT || a->has_fill)
            continue;
        twi_mark mark = twi_arena_mark(ir->arena);
        bool full = stored_in_full(ir, k);
        twi_arena_reset(ir->arena, mark);
        if (full)
            continue;
        const char *name = twi_text(&ir->ctx->names, a->name);
        twi_error(&ir->ctx->diags, TWI_E_COVER, a->loc,
                  twi_format(ir->arena,
                             "give it a fill value (out %s: .. = 0), or declare it `inout`", name),
                  "not every element of %s is proved to be stored", name);
    }
}
