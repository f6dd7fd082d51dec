/* SPDX-License-Identifier: Apache-2.0
 * The ground that proofs stand on: index expressions as polynomials, with what `requires` says put
 * in. M == K substitutes one dim by the other, A % B == 0 writes A as B times a new number; what is
 * left of the facts, and that axes at hand are not empty, are polynomials known to be >= 0.
 */
#include "ir/poly.h"

static bool positive(twi_prover *p, twi_poly a) {
    return twi_prove_step(p, twi_poly_plus(p, a, -1));
}

/* A question on the way: what it loses is lost for it alone. */
static bool holds(twi_prover *p, twi_poly a) {
    bool before = p->lost, proved = twi_prove_step(p, a) && !p->lost;
    p->lost = before;
    return proved;
}

/* ---- polynomials of index expressions ---- */
twi_poly twi_poly_leaf(twi_prover *p, unsigned op, uint32_t id) {
    return twi_poly_atom(p, twi_poly_intern(p, (twi_atom){.op = (uint8_t)op, .id = id}));
}

static twi_poly substitute(twi_prover *p, twi_poly a, uint32_t depth);

static twi_poly composite(twi_prover *p, twi_ix_op op, twi_poly a, twi_poly b) {
    twi_poly quotient, rest, less = twi_poly_add(p, a, b, -1);
    if (op == TWI_IX_MIN || op == TWI_IX_MAX) {
        int64_t k;
        if (twi_poly_is_const(less, &k)) /* they differ by a number */
            return (op == TWI_IX_MIN) == (k <= 0) ? a : b;
        return twi_poly_atom(p, twi_poly_intern(p, (twi_atom){.op = (uint8_t)op, .a = a, .b = b}));
    }
    twi_poly_divide(p, a, b, &quotient, &rest);
    if (quotient.n != 0 && positive(p, b)) { /* (b*q + r) // b is q + r // b where b > 0 */
        bool small =
            rest.n == 0 || (holds(p, rest) && holds(p, twi_poly_add(p, twi_poly_add(p, b, rest, -1),
                                                                    twi_poly_const(p, 1), -1)));
        if (op == TWI_IX_MOD)
            return small ? rest : composite(p, op, rest, b);
        return small ? quotient : twi_poly_add(p, quotient, composite(p, op, rest, b), 1);
    }
    return twi_poly_atom(p, twi_poly_intern(p, (twi_atom){.op = (uint8_t)op, .a = a, .b = b}));
}

static twi_poly of_ix(twi_prover *p, twi_ix x, uint32_t depth) {
    const twi_ix_node *n = &p->ir->ix.at[x];
    if (n->op == TWI_IX_CONST)
        return twi_poly_const(p, n->k);
    if (n->op == TWI_IX_DIM && p->dim[n->a]) {
        if (depth > TWI_PROVE_DEPTH)
            p->lost = true;
        return depth > TWI_PROVE_DEPTH ? twi_poly_const(p, 0)
                                       : substitute(p, *p->dim[n->a], depth + 1);
    }
    if (n->op < TWI_IX_ADD)
        return twi_poly_leaf(p, n->op, n->a);
    if (p->steps-- <= 0) {
        p->lost = true;
        return twi_poly_const(p, 0);
    }
    twi_poly a = of_ix(p, n->a, depth), b = of_ix(p, n->b, depth);
    if (n->op == TWI_IX_ADD || n->op == TWI_IX_SUB)
        return twi_poly_add(p, a, b, n->op == TWI_IX_ADD ? 1 : -1);
    if (n->op == TWI_IX_MUL)
        return twi_poly_mul(p, a, b);
    return composite(p, (twi_ix_op)n->op, a, b);
}

twi_poly twi_poly_of(twi_prover *p, twi_ix x) { return of_ix(p, x, 0); }

/* What facts say of the dims in a polynomial, put in. */
static twi_poly substitute(twi_prover *p, twi_poly a, uint32_t depth) {
    twi_poly sum = twi_poly_const(p, 0);
    if (p->steps-- <= 0 || depth > TWI_PROVE_DEPTH) {
        p->lost = true;
        return sum;
    }
    for (uint32_t k = 0; k < a.n; k++) {
        twi_poly term = twi_poly_const(p, a.m[k].coef);
        for (uint32_t i = 0; i < a.m[k].n; i++) {
            uint32_t id = a.m[k].atom[i];
            twi_atom t = p->atom.at[id];
            twi_poly factor = twi_poly_atom(p, id);
            if (t.op == TWI_IX_DIM && p->dim[t.id])
                factor = substitute(p, *p->dim[t.id], depth + 1);
            else if (t.op >= TWI_IX_DIV)
                factor = composite(p, (twi_ix_op)t.op, substitute(p, t.a, depth + 1),
                                   substitute(p, t.b, depth + 1));
            term = twi_poly_mul(p, term, factor);
        }
        sum = twi_poly_add(p, sum, term, 1);
    }
    return sum;
}

twi_poly twi_poly_substitute(twi_prover *p, twi_poly a) { return substitute(p, a, 0); }

/* ---- setting up ---- */
/* Solves poly == 0 for a dim that stands alone in it. */
static bool solve(twi_prover *p, twi_poly zero) {
    for (uint32_t k = zero.n; k-- > 0;) {
        const twi_mono *m = &zero.m[k];
        if (m->n != 1 || (m->coef != 1 && m->coef != -1) || p->atom.at[m->atom[0]].op != TWI_IX_DIM)
            continue;
        twi_poly rest = twi_poly_add(p, zero, (twi_poly){1, m}, -1);
        if (twi_poly_has(p, rest, m->atom[0]))
            continue;
        twi_poly *dim = TWI_NEW(p->arena, twi_poly);
        *dim = twi_poly_add(p, twi_poly_const(p, 0), rest, m->coef == 1 ? -1 : 1);
        p->dim[p->atom.at[m->atom[0]].id] = dim;
        return true;
    }
    return false;
}

/* A % B == 0: A is B times a new number. */
static void divides(twi_prover *p, uint32_t fact, twi_ix a, twi_ix b) {
    twi_poly x = twi_poly_of(p, a), y = twi_poly_of(p, b);
    twi_push(p->arena, &p->divided, x);
    twi_push(p->arena, &p->divisor, y);
    if (x.n != 1 || x.m[0].n != 1 || x.m[0].coef != 1)
        return;
    uint32_t id = x.m[0].atom[0];
    if (p->atom.at[id].op != TWI_IX_DIM || twi_poly_has(p, y, id) || !twi_poly_plainly(p, y))
        return; /* of a negative B the quotient would be negative too */
    twi_poly *dim = TWI_NEW(p->arena, twi_poly);
    *dim = twi_poly_mul(p, y, twi_poly_leaf(p, TWI_IX_NONE, fact));
    p->dim[p->atom.at[id].id] = dim;
}

static void add_fact(twi_prover *p, twi_poly a) {
    /* a least of two that is big enough: so are both */
    for (uint32_t k = 0; k < a.n; k++)
        if (a.m[k].n == 1 && a.m[k].coef > 0 && p->atom.at[a.m[k].atom[0]].op == TWI_IX_MIN) {
            twi_poly c, r;
            twi_atom t = p->atom.at[a.m[k].atom[0]];
            int64_t factor;
            if (!twi_poly_split(p, a, a.m[k].atom[0], &c, &r) || !twi_poly_is_const(c, &factor) ||
                factor < 0)
                continue;
            add_fact(p, twi_poly_add(p, twi_poly_mul(p, c, t.a), r, 1));
            add_fact(p, twi_poly_add(p, twi_poly_mul(p, c, t.b), r, 1));
            return;
        }
    if (p->fact.n < 64)
        twi_push(p->arena, &p->fact, a);
}

static void inequality(twi_prover *p, const twi_fact *f) {
    twi_poly a = twi_poly_of(p, f->a), b = twi_poly_of(p, f->b);
    twi_poly up = twi_poly_add(p, b, a, -1), down = twi_poly_add(p, a, b, -1);
    if (f->op == TWI_LE || f->op == TWI_LT || f->op == TWI_EQ)
        add_fact(p, f->op == TWI_LT ? twi_poly_plus(p, up, -1) : up);
    if (f->op == TWI_GE || f->op == TWI_GT || f->op == TWI_EQ)
        add_fact(p, f->op == TWI_GT ? twi_poly_plus(p, down, -1) : down);
}

static void equalities(twi_prover *p) {
    const tw_ir *ir = p->ir;
    for (uint32_t k = 1; k < ir->fact.n; k++) {
        const twi_fact *f = &ir->fact.at[k];
        int64_t zero = 1;
        if (f->op != TWI_EQ)
            continue;
        bool left =
            ir->ix.at[f->a].op == TWI_IX_MOD && twi_ix_is_const(ir, f->b, &zero) && zero == 0;
        bool right = !left && ir->ix.at[f->b].op == TWI_IX_MOD &&
                     twi_ix_is_const(ir, f->a, &zero) && zero == 0;
        if (left || right) {
            const twi_ix_node *mod = &ir->ix.at[left ? f->a : f->b];
            divides(p, k, mod->a, mod->b);
        } else {
            twi_poly a = twi_poly_of(p, f->a), b = twi_poly_of(p, f->b);
            (void)solve(p, twi_poly_add(p, a, b, -1));
        }
    }
}

/* From what is >= 1: an atom in every positive term of a fact with a negative constant is not 0. */
static bool find_ones(twi_prover *p) {
    bool more = false;
    for (uint32_t f = 0; f < p->fact.n; f++) {
        twi_poly a = p->fact.at[f];
        if (a.n < 2 || a.m[0].n != 0 || a.m[0].coef >= 0)
            continue;
        const twi_mono *positive = NULL;
        bool plain = true;
        for (uint32_t k = 1; k < a.n; k++) {
            for (uint32_t i = 0; i < a.m[k].n; i++)
                plain = plain && twi_atom_natural(p, a.m[k].atom[i]);
            if (a.m[k].coef > 0) {
                plain = plain && !positive;
                positive = &a.m[k];
            }
        }
        for (uint32_t i = 0; plain && positive && i < positive->n; i++) {
            more |= !p->atom.at[positive->atom[i]].one;
            p->atom.at[positive->atom[i]].one = true;
        }
    }
    /* A % B == 0 with A > 0: B is not 0, since A % 0 is A */
    for (uint32_t k = 0; k < p->divisor.n; k++) {
        twi_poly x = substitute(p, p->divided.at[k], 0), y = substitute(p, p->divisor.at[k], 0);
        if (y.n != 1 || y.m[0].n != 1 || y.m[0].coef <= 0 || !twi_atom_natural(p, y.m[0].atom[0]))
            continue;
        if (!p->atom.at[y.m[0].atom[0]].one && positive(p, x))
            more = p->atom.at[y.m[0].atom[0]].one = true;
    }
    return more;
}

static uint64_t closed(const tw_ir *ir, uint64_t axes) {
    for (uint64_t before = 0; before != axes;) {
        before = axes;
        for (uint32_t a = 1; a < ir->axis.n; a++)
            if (axes >> a & 1u)
                axes |= ir->ix.at[ir->axis.at[a].lo].axes | ir->ix.at[ir->axis.at[a].hi].axes;
    }
    return axes;
}

void twi_prover_init(twi_prover *p, const tw_ir *ir, twi_arena *arena, uint64_t live) {
    *p = (twi_prover){.ir = ir, .arena = arena, .steps = TWI_PROVE_STEPS};
    p->dim = TWI_NEW_N(arena, const twi_poly *, ir->dim.n + 1u);
    equalities(p);
    live = closed(ir, live);
    /* twice: what the first round finds to be >= 1 lets the second divide */
    for (int round = 0; round < 2; round++) {
        p->fact.n = 0;
        for (uint32_t a = 1; a < ir->axis.n; a++)
            if (live >> a & 1u)
                add_fact(p, twi_poly_plus(p,
                                          twi_poly_add(p, twi_poly_of(p, ir->axis.at[a].hi),
                                                       twi_poly_of(p, ir->axis.at[a].lo), -1),
                                          -1));
        for (uint32_t k = 1; k < ir->fact.n; k++)
            inequality(p, &ir->fact.at[k]);
        for (uint32_t d = 1; d < ir->dim.n; d++)
            if (p->dim[d]) /* what a dim was replaced by is no less than 0 either */
                add_fact(p, substitute(p, *p->dim[d], 0));
        for (int k = 0; k < 8 && find_ones(p); k++)
            continue;
    }
    p->lost = false;
    p->steps = TWI_PROVE_STEPS;
}

void twi_prover_assume(twi_prover *p, twi_poly a) {
    add_fact(p, a);
    for (int k = 0; k < 8 && find_ones(p); k++)
        continue;
    p->lost = false;
    p->steps = TWI_PROVE_STEPS;
}
