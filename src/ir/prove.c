/* SPDX-License-Identifier: Apache-2.0
 * Symbolic proofs over dims, axes' ranges and the facts of `requires`. A question is "polynomial >= 0".
 * Atoms that have bounds (positions, lo, hi, // % min max) are eliminated one by one, each by a bound that
 * can only make the polynomial smaller; what is left must have no negative part, or lose it to a fact.
 * Equalities and A % B == 0 are substituted when the prover is set up. Everything is exact over the
 * integers; running out of steps, depth or 64 bits means "not proved".
 */
#include "ir/poly.h"

enum { STEPS = 6000, DEPTH = 28 };

static bool ge(twi_prover *p, twi_poly a);

static bool
at_least(twi_prover *p, twi_poly a, int64_t k)
{
    return ge(p, twi_poly_add(p, a, twi_poly_const(p, 1), -k));
}

/* A branch of the search: what it loses is lost for it alone. */
static bool
branch(twi_prover *p, twi_poly a)
{
    bool before = p->lost, proved = ge(p, a);
    proved = proved && !p->lost;
    p->lost = before;
    return proved;
}

/* ---- polynomials of index expressions -------------------------------------------------------------------- */
static twi_poly
leaf(twi_prover *p, unsigned op, uint32_t id)
{
    return twi_poly_atom(p, twi_poly_intern(p, (twi_atom){.op = (uint8_t)op, .id = id}));
}

static twi_poly substitute(twi_prover *p, twi_poly a, uint32_t depth);

static twi_poly
composite(twi_prover *p, twi_ix_op op, twi_poly a, twi_poly b)
{
    twi_poly quotient, rest, less = twi_poly_add(p, a, b, -1);
    if (op == TWI_IX_MIN || op == TWI_IX_MAX) {
        int64_t k;
        if (twi_poly_is_const(less, &k)) /* they differ by a number */
            return (op == TWI_IX_MIN) == (k <= 0) ? a : b;
        return twi_poly_atom(p, twi_poly_intern(p, (twi_atom){.op = (uint8_t)op, .a = a, .b = b}));
    }
    twi_poly_divide(p, a, b, &quotient, &rest);
    if (quotient.n != 0 && at_least(p, b, 1)) { /* (b*q + r) // b is q + r // b where b > 0 */
        bool small = rest.n == 0 || (branch(p, rest) && branch(p, twi_poly_add(p, twi_poly_add(p, b, rest, -1),
                                                                              twi_poly_const(p, 1), -1)));
        if (op == TWI_IX_MOD)
            return small ? rest : composite(p, op, rest, b);
        return small ? quotient : twi_poly_add(p, quotient, composite(p, op, rest, b), 1);
    }
    return twi_poly_atom(p, twi_poly_intern(p, (twi_atom){.op = (uint8_t)op, .a = a, .b = b}));
}

static twi_poly
of_ix(twi_prover *p, twi_ix x, uint32_t depth)
{
    const twi_ix_node *n = &p->ir->ix.at[x];
    if (n->op == TWI_IX_CONST)
        return twi_poly_const(p, n->k);
    if (n->op == TWI_IX_DIM && p->dim[n->a]) {
        if (depth > DEPTH)
            p->lost = true;
        return depth > DEPTH ? twi_poly_const(p, 0) : substitute(p, *p->dim[n->a], depth + 1);
    }
    if (n->op < TWI_IX_ADD)
        return leaf(p, n->op, n->a);
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

twi_poly
twi_poly_of(twi_prover *p, twi_ix x)
{
    return of_ix(p, x, 0);
}

/* What facts say of the dims in a polynomial, put in. */
static twi_poly
substitute(twi_prover *p, twi_poly a, uint32_t depth)
{
    twi_poly sum = twi_poly_const(p, 0);
    if (p->steps-- <= 0 || depth > DEPTH) {
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
                factor = composite(p, (twi_ix_op)t.op, substitute(p, t.a, depth + 1), substitute(p, t.b, depth + 1));
            term = twi_poly_mul(p, term, factor);
        }
        sum = twi_poly_add(p, sum, term, 1);
    }
    return sum;
}

/* ---- what holds without elimination ------------------------------------------------------------------------- */
/* Atoms that are never negative by what they are. */
static bool
never_negative(twi_prover *p, uint32_t id)
{
    unsigned op = p->atom.at[id].op;
    return op == TWI_IX_DIM || op == TWI_IX_NONE;
}

/* All atoms are >= 0; those known to be >= 1 are written 1 + (something >= 0). No negative coefficient: true. */
static bool
plainly(twi_prover *p, twi_poly a)
{
    twi_poly sum = twi_poly_const(p, 0);
    for (uint32_t k = 0; k < a.n; k++) {
        twi_poly term = twi_poly_const(p, a.m[k].coef);
        for (uint32_t i = 0; i < a.m[k].n; i++) {
            uint32_t id = a.m[k].atom[i];
            if (!never_negative(p, id))
                return false;
            twi_poly factor = twi_poly_atom(p, id);
            if (p->atom.at[id].one)
                factor = twi_poly_add(p, factor, twi_poly_const(p, 1), 1);
            term = twi_poly_mul(p, term, factor);
        }
        sum = twi_poly_add(p, sum, term, 1);
    }
    for (uint32_t k = 0; k < sum.n; k++)
        if (sum.m[k].coef < 0)
            return false;
    return !p->lost;
}

/* ---- elimination ------------------------------------------------------------------------------------------------ */
/* The polynomial with the atom replaced by a bound on the side that its cofactor asks for. */
static twi_poly
with(twi_prover *p, twi_poly cofactor, twi_poly rest, twi_poly bound)
{
    return twi_poly_add(p, twi_poly_mul(p, cofactor, bound), rest, 1);
}

static twi_poly
plus(twi_prover *p, twi_poly a, int64_t k)
{
    return twi_poly_add(p, a, twi_poly_const(p, 1), k);
}

static twi_poly
axis_lo(twi_prover *p, uint32_t axis)
{
    return twi_poly_of(p, p->ir->axis.at[axis].lo);
}

static twi_poly
axis_hi(twi_prover *p, uint32_t axis)
{
    return twi_poly_of(p, p->ir->axis.at[axis].hi);
}

static bool
mentions(const twi_prover *p, twi_poly a, unsigned op, uint32_t id)
{
    for (uint32_t k = 1; k < p->atom.n; k++)
        if (p->atom.at[k].op == op && p->atom.at[k].id == id)
            return twi_poly_has(p, a, k);
    return false;
}

static bool
by_position(twi_prover *p, twi_atom t, twi_poly c, twi_poly r, bool low)
{
    const twi_axis *axis = &p->ir->axis.at[t.id];
    if (t.op == TWI_IX_AXIS && axis->block) { /* a position lies in its block */
        unsigned end = low ? TWI_IX_LO : TWI_IX_HI;
        if (mentions(p, r, end, t.id) &&
            branch(p, with(p, c, r, plus(p, leaf(p, end, t.id), low ? 0 : -1))))
            return true;
    }
    if (t.op == TWI_IX_HI && !low && mentions(p, r, TWI_IX_LO, t.id) &&
        branch(p, with(p, c, r, plus(p, leaf(p, TWI_IX_LO, t.id), axis->block))))
        return true;
    int64_t shift = t.op == TWI_IX_HI ? 1 : 0; /* hi is one past a position */
    twi_poly bound = low ? plus(p, axis_lo(p, t.id), shift) : plus(p, axis_hi(p, t.id), shift - 1);
    return branch(p, with(p, c, r, bound));
}

/* t = x // y with y > 0: x - y + 1 <= y*t <= x. */
static bool
by_quotient(twi_prover *p, twi_atom t, twi_poly c, twi_poly r, bool low)
{
    twi_poly q, rest, bound = low ? plus(p, twi_poly_add(p, t.a, t.b, -1), 1) : t.a;
    if (!at_least(p, t.b, 1))
        return false;
    twi_poly_divide(p, c, t.b, &q, &rest);
    if (rest.n == 0)
        return branch(p, with(p, q, r, bound));
    int64_t k;
    bool positive = branch(p, t.a);
    if (positive && low && branch(p, r)) /* t >= 0 */
        return true;
    if (positive && !low && branch(p, with(p, c, r, t.a))) /* t <= x */
        return true;
    if (twi_poly_is_const(c, &k) && k == -1) /* r >= t  iff  y * (r + 1) > x */
        return branch(p, plus(p, twi_poly_add(p, twi_poly_mul(p, t.b, plus(p, r, 1)), t.a, -1), -1));
    if (twi_poly_is_const(c, &k) && k == 1) /* t >= -r  iff  x >= -r * y */
        return branch(p, with(p, r, t.a, t.b));
    return branch(p, twi_poly_add(p, twi_poly_mul(p, c, bound), twi_poly_mul(p, r, t.b), 1));
}

static bool
by_remainder(twi_prover *p, twi_atom t, twi_poly c, twi_poly r, bool low)
{
    if (!at_least(p, t.b, 1)) /* x % 0 is x, which may be anything */
        return false;
    if (low)
        return branch(p, r);
    return branch(p, with(p, c, r, plus(p, t.b, -1))) || (branch(p, t.a) && branch(p, with(p, c, r, t.a)));
}

static bool
by_choice(twi_prover *p, twi_atom t, twi_poly c, twi_poly r, bool low)
{
    bool both = (t.op == TWI_IX_MIN) == low; /* a least of two from below: both must do */
    bool first = branch(p, with(p, c, r, t.a));
    if (first != both)
        return first;
    return branch(p, with(p, c, r, t.b));
}

/* Replaces one atom by its bound: low where the cofactor is not negative. */
static bool
eliminate(twi_prover *p, twi_poly a, uint32_t id)
{
    twi_poly c, r, minus;
    twi_atom t = p->atom.at[id];
    if (!twi_poly_split(p, a, id, &c, &r))
        return false;
    minus = twi_poly_add(p, twi_poly_const(p, 0), c, -1);
    bool low = branch(p, c);
    if (!low && !branch(p, minus))
        return false;
    if (t.op == TWI_IX_AXIS || t.op == TWI_IX_LO || t.op == TWI_IX_HI)
        return by_position(p, t, c, r, low);
    if (t.op == TWI_IX_DIV)
        return by_quotient(p, t, c, r, low);
    if (t.op == TWI_IX_MOD)
        return by_remainder(p, t, c, r, low);
    if (t.op == TWI_IX_MIN || t.op == TWI_IX_MAX)
        return by_choice(p, t, c, r, low);
    return false;
}

/* What to eliminate first: expressions before what stands in them (they were made later), then positions of
 * inner axes before outer ones, since bounds speak of outer ones. */
static uint64_t
rank(const twi_prover *p, uint32_t id)
{
    const twi_atom *t = &p->atom.at[id];
    if (t->op >= TWI_IX_DIV)
        return UINT64_C(1) << 40 | id;
    if (t->op == TWI_IX_AXIS || t->op == TWI_IX_LO || t->op == TWI_IX_HI)
        return (uint64_t)t->id * 4u + (t->op == TWI_IX_AXIS ? 3u : t->op == TWI_IX_HI ? 2u : 1u);
    return 0;
}

static uint32_t
next_atom(const twi_prover *p, twi_poly a, uint64_t below)
{
    uint32_t best = 0;
    uint64_t top = 0;
    for (uint32_t k = 0; k < a.n; k++)
        for (uint32_t i = 0; i < a.m[k].n; i++) {
            uint64_t v = rank(p, a.m[k].atom[i]);
            if (v > top && v < below) {
                top = v;
                best = a.m[k].atom[i];
            }
        }
    return best;
}

/* ---- facts ----------------------------------------------------------------------------------------------------------- */
/* a - f * m, where f's term cancels a's, for a product m of atoms that are not negative. */
static bool
by_fact(twi_prover *p, twi_poly a, const twi_mono *term, twi_poly f)
{
    for (uint32_t k = 0; k < f.n; k++) {
        const twi_mono *g = &f.m[k];
        twi_mono m = {.coef = 1};
        uint32_t used = 0;
        if (g->coef >= 0 || g->n == 0)
            continue;
        for (uint32_t i = 0; i < term->n; i++) {
            if (used < g->n && g->atom[used] == term->atom[i])
                used++;
            else
                m.atom[m.n++] = term->atom[i];
        }
        bool fits = used == g->n;
        for (uint32_t i = 0; i < m.n; i++)
            fits = fits && never_negative(p, m.atom[i]);
        if (!fits)
            continue;
        m.coef = (term->coef + g->coef + 1) / g->coef; /* rounded up: both are negative */
        if (m.coef > 0 && branch(p, twi_poly_add(p, a, twi_poly_mul(p, f, (twi_poly){1, &m}), -1)))
            return true;
    }
    return false;
}

static bool
by_facts(twi_prover *p, twi_poly a)
{
    for (uint32_t k = 0; k < a.n; k++) {
        if (a.m[k].coef >= 0 || a.m[k].n == 0)
            continue;
        for (uint32_t f = 0; f < p->fact.n; f++)
            if (by_fact(p, a, &a.m[k], p->fact.at[f]))
                return true;
    }
    return false;
}

static bool
ge(twi_prover *p, twi_poly a)
{
    int64_t k;
    if (twi_poly_is_const(a, &k))
        return k >= 0 && !p->lost;
    if (p->lost || p->steps-- <= 0 || p->depth >= DEPTH)
        return false;
    if (plainly(p, a))
        return true;
    p->depth++;
    bool proved = false;
    uint64_t below = UINT64_MAX;
    for (int tries = 0; tries < 3 && !proved; tries++) {
        uint32_t id = next_atom(p, a, below);
        if (id == 0)
            break;
        below = rank(p, id);
        proved = eliminate(p, a, id);
        p->lost = p->lost && proved; /* a dead end may lose numbers: they stay there */
    }
    proved = proved || by_facts(p, a);
    p->lost = p->lost && proved;
    p->depth--;
    return proved;
}

/* ---- setting up -------------------------------------------------------------------------------------------------------- */
/* Solves poly == 0 for a dim that stands alone in it. */
static bool
solve(twi_prover *p, twi_poly zero)
{
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
static void
divides(twi_prover *p, uint32_t fact, twi_ix a, twi_ix b)
{
    twi_poly x = twi_poly_of(p, a), y = twi_poly_of(p, b);
    twi_push(p->arena, &p->divided, x);
    twi_push(p->arena, &p->divisor, y);
    if (x.n != 1 || x.m[0].n != 1 || x.m[0].coef != 1)
        return;
    uint32_t id = x.m[0].atom[0];
    if (p->atom.at[id].op != TWI_IX_DIM || twi_poly_has(p, y, id) || !plainly(p, y))
        return; /* of a negative B the quotient would be negative too */
    twi_poly *dim = TWI_NEW(p->arena, twi_poly);
    *dim = twi_poly_mul(p, y, leaf(p, TWI_IX_NONE, fact));
    p->dim[p->atom.at[id].id] = dim;
}

static void
add_fact(twi_prover *p, twi_poly a)
{
    /* a least of two that is big enough: so are both */
    for (uint32_t k = 0; k < a.n; k++)
        if (a.m[k].n == 1 && a.m[k].coef > 0 && p->atom.at[a.m[k].atom[0]].op == TWI_IX_MIN) {
            twi_poly c, r;
            twi_atom t = p->atom.at[a.m[k].atom[0]];
            int64_t factor;
            if (!twi_poly_split(p, a, a.m[k].atom[0], &c, &r) || !twi_poly_is_const(c, &factor) || factor < 0)
                continue;
            add_fact(p, with(p, c, r, t.a));
            add_fact(p, with(p, c, r, t.b));
            return;
        }
    if (p->fact.n < 64)
        twi_push(p->arena, &p->fact, a);
}

static void
inequality(twi_prover *p, const twi_fact *f)
{
    twi_poly a = twi_poly_of(p, f->a), b = twi_poly_of(p, f->b);
    twi_poly up = twi_poly_add(p, b, a, -1), down = twi_poly_add(p, a, b, -1);
    if (f->op == TWI_LE || f->op == TWI_LT || f->op == TWI_EQ)
        add_fact(p, f->op == TWI_LT ? plus(p, up, -1) : up);
    if (f->op == TWI_GE || f->op == TWI_GT || f->op == TWI_EQ)
        add_fact(p, f->op == TWI_GT ? plus(p, down, -1) : down);
}

static void
equalities(twi_prover *p)
{
    const tw_ir *ir = p->ir;
    for (uint32_t k = 1; k < ir->fact.n; k++) {
        const twi_fact *f = &ir->fact.at[k];
        int64_t zero = 1;
        if (f->op != TWI_EQ)
            continue;
        bool left = ir->ix.at[f->a].op == TWI_IX_MOD && twi_ix_is_const(ir, f->b, &zero) && zero == 0;
        bool right = !left && ir->ix.at[f->b].op == TWI_IX_MOD && twi_ix_is_const(ir, f->a, &zero) && zero == 0;
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
static bool
find_ones(twi_prover *p)
{
    bool more = false;
    for (uint32_t f = 0; f < p->fact.n; f++) {
        twi_poly a = p->fact.at[f];
        if (a.n < 2 || a.m[0].n != 0 || a.m[0].coef >= 0)
            continue;
        const twi_mono *positive = NULL;
        bool plain = true;
        for (uint32_t k = 1; k < a.n; k++) {
            for (uint32_t i = 0; i < a.m[k].n; i++)
                plain = plain && never_negative(p, a.m[k].atom[i]);
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
        if (y.n != 1 || y.m[0].n != 1 || y.m[0].coef <= 0 || !never_negative(p, y.m[0].atom[0]))
            continue;
        if (!p->atom.at[y.m[0].atom[0]].one && at_least(p, x, 1))
            more = p->atom.at[y.m[0].atom[0]].one = true;
    }
    return more;
}

static uint64_t
closed(const tw_ir *ir, uint64_t axes)
{
    for (uint64_t before = 0; before != axes;) {
        before = axes;
        for (uint32_t a = 1; a < ir->axis.n; a++)
            if (axes >> a & 1u)
                axes |= ir->ix.at[ir->axis.at[a].lo].axes | ir->ix.at[ir->axis.at[a].hi].axes;
    }
    return axes;
}

void
twi_prover_init(twi_prover *p, const tw_ir *ir, twi_arena *arena, uint64_t live)
{
    *p = (twi_prover){.ir = ir, .arena = arena, .steps = STEPS};
    p->dim = TWI_NEW_N(arena, const twi_poly *, ir->dim.n + 1u);
    equalities(p);
    live = closed(ir, live);
    /* twice: what the first round finds to be >= 1 lets the second divide */
    for (int round = 0; round < 2; round++) {
        p->fact.n = 0;
        for (uint32_t a = 1; a < ir->axis.n; a++)
            if (live >> a & 1u)
                add_fact(p, plus(p, twi_poly_add(p, axis_hi(p, a), axis_lo(p, a), -1), -1));
        for (uint32_t k = 1; k < ir->fact.n; k++)
            inequality(p, &ir->fact.at[k]);
        for (uint32_t d = 1; d < ir->dim.n; d++)
            if (p->dim[d]) /* what a dim was replaced by is no less than 0 either */
                add_fact(p, substitute(p, *p->dim[d], 0));
        for (int k = 0; k < 8 && find_ones(p); k++)
            continue;
    }
    p->lost = false;
    p->steps = STEPS;
}

/* ---- questions ------------------------------------------------------------------------------------------------------------ */
bool
twi_prove_ge(twi_prover *p, twi_poly a, int64_t k)
{
    p->steps = STEPS;
    bool proved = !p->lost && at_least(p, a, k) && !p->lost;
    p->lost = false;
    return proved;
}

bool
twi_prove_le(twi_prover *p, twi_poly a, twi_poly b)
{
    return twi_prove_ge(p, twi_poly_add(p, b, a, -1), 0);
}

/* An atom that is made of dims alone. */
static bool
of_dims(const twi_prover *p, uint32_t id)
{
    const twi_atom *t = &p->atom.at[id];
    return t->op >= TWI_IX_DIV && next_atom(p, t->a, UINT64_MAX) == 0 && next_atom(p, t->b, UINT64_MAX) == 0;
}

static bool
extreme_of(twi_prover *p, twi_atom t, bool up, twi_poly *bound)
{
    if (t.op == TWI_IX_AXIS || t.op == TWI_IX_LO || t.op == TWI_IX_HI)
        *bound = plus(p, up ? axis_hi(p, t.id) : axis_lo(p, t.id), (t.op == TWI_IX_HI ? 1 : 0) - (up ? 1 : 0));
    else if (t.op == TWI_IX_MIN || t.op == TWI_IX_MAX)
        *bound = next_atom(p, t.a, UINT64_MAX) == 0 ? t.a : t.b;
    else if (t.op == TWI_IX_MOD)
        *bound = up ? plus(p, t.b, -1) : twi_poly_const(p, 0);
    return t.op != TWI_IX_DIV && t.op != TWI_IX_VALUE;
}

bool
twi_poly_extreme(twi_prover *p, twi_poly a, bool greatest, twi_poly *out)
{
    uint64_t below = UINT64_MAX;
    p->steps = STEPS;
    for (int k = 0; k < DEPTH; k++) {
        twi_poly c, r, bound;
        uint32_t id = next_atom(p, a, below);
        *out = a;
        if (id == 0)
            return !p->lost;
        if (of_dims(p, id)) {
            below = rank(p, id);
            continue;
        }
        if (!twi_poly_split(p, a, id, &c, &r))
            return false;
        bool positive = branch(p, c);
        if (!positive && !branch(p, twi_poly_add(p, twi_poly_const(p, 0), c, -1)))
            return false;
        if (!extreme_of(p, p->atom.at[id], positive == greatest, &bound))
            return false;
        a = with(p, c, r, bound);
    }
    return false;
}

uint64_t
twi_axes_around(const tw_ir *ir, uint32_t region)
{
    uint64_t axes = 0;
    for (; region != 0; region = ir->region.at[region].parent)
        for (uint32_t k = 0; k < ir->region.at[region].axes.n; k++)
            axes |= UINT64_C(1) << ir->region.at[region].axes.at[k];
    return axes;
}
