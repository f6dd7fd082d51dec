/* SPDX-License-Identifier: Apache-2.0
 * Symbolic proofs over dims, axes' ranges and the facts of `requires`. A question is "polynomial >=
 * 0". Atoms that have bounds (positions, lo, hi, // % min max) are eliminated one by one, each by a
 * bound that can only make the polynomial smaller; what is left must have no negative part, or lose
 * it to a fact. Equalities and A % B == 0 are substituted when the prover is set up. Everything is
 * exact over the integers; running out of steps, depth or 64 bits means "not proved".
 */
#include "ir/poly.h"

static bool at_least(twi_prover *p, twi_poly a, int64_t k) {
    return twi_prove_step(p, twi_poly_add(p, a, twi_poly_const(p, 1), -k));
}

/* A branch of the search: what it loses is lost for it alone. */
static bool branch(twi_prover *p, twi_poly a) {
    bool before = p->lost, proved = twi_prove_step(p, a);
    proved = proved && !p->lost;
    p->lost = before;
    return proved;
}

/* ---- what holds without elimination ---- */
/* Atoms that are never negative by what they are. */
bool twi_atom_natural(const twi_prover *p, uint32_t id) {
    unsigned op = p->atom.at[id].op;
    return op == TWI_IX_DIM || op == TWI_IX_NONE;
}

/* All atoms are >= 0; those known to be >= 1 are written 1 + (something >= 0). No negative
 * coefficient: true. */
bool twi_poly_plainly(twi_prover *p, twi_poly a) {
    twi_poly sum = twi_poly_const(p, 0);
    for (uint32_t k = 0; k < a.n; k++) {
        twi_poly term = twi_poly_const(p, a.m[k].coef);
        for (uint32_t i = 0; i < a.m[k].n; i++) {
            uint32_t id = a.m[k].atom[i];
            if (!twi_atom_natural(p, id))
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

/* ---- elimination ---- */
/* The polynomial with the atom replaced by a bound on the side that its cofactor asks for. */
static twi_poly with(twi_prover *p, twi_poly cofactor, twi_poly rest, twi_poly bound) {
    return twi_poly_add(p, twi_poly_mul(p, cofactor, bound), rest, 1);
}

twi_poly twi_poly_plus(twi_prover *p, twi_poly a, int64_t k) {
    return twi_poly_add(p, a, twi_poly_const(p, 1), k);
}

static twi_poly axis_lo(twi_prover *p, uint32_t axis) {
    return twi_poly_of(p, p->ir->axis.at[axis].lo);
}

static twi_poly axis_hi(twi_prover *p, uint32_t axis) {
    return twi_poly_of(p, p->ir->axis.at[axis].hi);
}

static bool mentions(const twi_prover *p, twi_poly a, unsigned op, uint32_t id) {
    for (uint32_t k = 1; k < p->atom.n; k++)
        if (p->atom.at[k].op == op && p->atom.at[k].id == id)
            return twi_poly_has(p, a, k);
    return false;
}

static bool by_position(twi_prover *p, twi_atom t, twi_poly c, twi_poly r, bool low) {
    const twi_axis *axis = &p->ir->axis.at[t.id];
    if (t.op == TWI_IX_AXIS && axis->block) { /* a position lies in its block */
        for (int end = 0; end < 2; end++) {
            unsigned op = end ? TWI_IX_HI : TWI_IX_LO;
            int64_t away = end ? (low ? -axis->block : -1) : (low ? 0 : axis->block - 1);
            if (mentions(p, r, op, t.id) &&
                branch(p, with(p, c, r, twi_poly_plus(p, twi_poly_leaf(p, op, t.id), away))))
                return true;
        }
    }
    if (t.op == TWI_IX_HI && !low && mentions(p, r, TWI_IX_LO, t.id) &&
        branch(p, with(p, c, r, twi_poly_plus(p, twi_poly_leaf(p, TWI_IX_LO, t.id), axis->block))))
        return true;
    int64_t shift = t.op == TWI_IX_HI ? 1 : 0; /* hi is one past a position */
    twi_poly bound = low ? twi_poly_plus(p, axis_lo(p, t.id), shift)
                         : twi_poly_plus(p, axis_hi(p, t.id), shift - 1);
    return branch(p, with(p, c, r, bound));
}

/* t = x // y with y > 0: x - y + 1 <= y*t <= x. */
static bool by_quotient(twi_prover *p, twi_atom t, twi_poly c, twi_poly r, bool low) {
    twi_poly q, rest, bound = low ? twi_poly_plus(p, twi_poly_add(p, t.a, t.b, -1), 1) : t.a;
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
        return branch(
            p, twi_poly_plus(
                   p, twi_poly_add(p, twi_poly_mul(p, t.b, twi_poly_plus(p, r, 1)), t.a, -1), -1));
    if (twi_poly_is_const(c, &k) && k == 1) /* t >= -r  iff  x >= -r * y */
        return branch(p, with(p, r, t.a, t.b));
    return branch(p, twi_poly_add(p, twi_poly_mul(p, c, bound), twi_poly_mul(p, r, t.b), 1));
}

static bool by_remainder(twi_prover *p, twi_atom t, twi_poly c, twi_poly r, bool low) {
    if (!at_least(p, t.b, 1)) /* x % 0 is x, which may be anything */
        return false;
    if (low)
        return branch(p, r);
    return branch(p, with(p, c, r, twi_poly_plus(p, t.b, -1))) ||
           (branch(p, t.a) && branch(p, with(p, c, r, t.a)));
}

static bool by_choice(twi_prover *p, twi_atom t, twi_poly c, twi_poly r, bool low) {
    bool both = (t.op == TWI_IX_MIN) == low; /* a least of two from below: both must do */
    bool first = branch(p, with(p, c, r, t.a));
    if (first != both)
        return first;
    return branch(p, with(p, c, r, t.b));
}

/* Replaces one atom by its bound: low where the cofactor is not negative. */
static bool eliminate(twi_prover *p, twi_poly a, uint32_t id) {
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

/* What to eliminate first: expressions before what stands in them (they were made later), then
 * positions of inner axes before outer ones, since bounds speak of outer ones. */
static uint64_t rank(const twi_prover *p, uint32_t id) {
    const twi_atom *t = &p->atom.at[id];
    if (t->op >= TWI_IX_DIV)
        return UINT64_C(1) << 40 | id;
    if (t->op == TWI_IX_AXIS || t->op == TWI_IX_LO || t->op == TWI_IX_HI)
        return (uint64_t)t->id * 4u + (t->op == TWI_IX_AXIS ? 3u : t->op == TWI_IX_HI ? 2u : 1u);
    return 0;
}

static uint32_t next_atom(const twi_prover *p, twi_poly a, uint64_t below) {
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

/* ---- facts ---- */
/* a - f * m, where f's term cancels a's, for a product m of atoms that are not negative. */
static bool by_fact(twi_prover *p, twi_poly a, const twi_mono *term, twi_poly f) {
    for (uint32_t k = 0; k < f.n; k++) {
        const twi_mono *g = &f.m[k];
        twi_mono m = {.coef = 1};
        uint32_t used = 0;
        if (g->coef >= 0 || (g->n == 0) != (term->n == 0))
            continue;
        for (uint32_t i = 0; i < term->n; i++) {
            if (used < g->n && g->atom[used] == term->atom[i])
                used++;
            else
                m.atom[m.n++] = term->atom[i];
        }
        bool fits = used == g->n;
        for (uint32_t i = 0; i < m.n; i++)
            fits = fits && twi_atom_natural(p, m.atom[i]);
        if (!fits)
            continue;
        m.coef = (term->coef + g->coef + 1) / g->coef; /* rounded up: both are negative */
        if (m.coef > 0 && branch(p, twi_poly_add(p, a, twi_poly_mul(p, f, (twi_poly){1, &m}), -1)))
            return true;
    }
    return false;
}

static bool by_facts(twi_prover *p, twi_poly a) {
    for (uint32_t k = 0; k < a.n; k++) {
        if (a.m[k].coef >= 0)
            continue;
        for (uint32_t f = 0; f < p->fact.n; f++)
            if (by_fact(p, a, &a.m[k], p->fact.at[f]))
                return true;
    }
    return false;
}

/* The common case without search: every position goes to the end that its plain sign asks for. */
static bool swept(twi_prover *p, twi_poly a) {
    uint64_t below = UINT64_C(1) << 40; /* positions alone */
    for (uint32_t id; (id = next_atom(p, a, below)) != 0;) {
        twi_poly c, r;
        twi_atom t = p->atom.at[id];
        if (!twi_poly_split(p, a, id, &c, &r))
            return false;
        bool low = twi_poly_plainly(p, c);
        if (!low && !twi_poly_plainly(p, twi_poly_add(p, twi_poly_const(p, 0), c, -1)))
            return false;
        int64_t shift = t.op == TWI_IX_HI ? 1 : 0;
        a = with(p, c, r,
                 low ? twi_poly_plus(p, axis_lo(p, t.id), shift)
                     : twi_poly_plus(p, axis_hi(p, t.id), shift - 1));
        if (p->steps-- <= 0)
            return false;
    }
    if (twi_poly_plainly(p, a))
        return true;
    for (uint32_t f = 0; f < p->fact.n; f++)
        if (twi_poly_plainly(p, twi_poly_add(p, a, p->fact.at[f], -1)))
            return true;
    return false;
}

bool twi_prove_step(twi_prover *p, twi_poly a) {
    int64_t k;
    if (twi_poly_is_const(a, &k))
        return k >= 0 && !p->lost;
    if (p->lost || p->steps-- <= 0 || p->depth >= TWI_PROVE_DEPTH)
        return false;
    if (twi_poly_plainly(p, a) || swept(p, a))
        return true;
    p->lost = false; /* what the sweep lost */
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

/* ---- questions ---- */
bool twi_prove_ge(twi_prover *p, twi_poly a, int64_t k) {
    p->steps = TWI_PROVE_STEPS;
    bool proved = !p->lost && at_least(p, a, k) && !p->lost;
    p->lost = false;
    return proved;
}

bool twi_prove_le(twi_prover *p, twi_poly a, twi_poly b) {
    return twi_prove_ge(p, twi_poly_add(p, b, a, -1), 0);
}

/* An atom that is made of dims alone. */
static bool of_dims(const twi_prover *p, uint32_t id) {
    const twi_atom *t = &p->atom.at[id];
    return t->op >= TWI_IX_DIV && next_atom(p, t->a, UINT64_MAX) == 0 &&
           next_atom(p, t->b, UINT64_MAX) == 0;
}

static bool extreme_of(twi_prover *p, twi_atom t, bool up, twi_poly *bound) {
    if (t.op == TWI_IX_AXIS || t.op == TWI_IX_LO || t.op == TWI_IX_HI)
        *bound = twi_poly_plus(p, up ? axis_hi(p, t.id) : axis_lo(p, t.id),
                               (t.op == TWI_IX_HI ? 1 : 0) - (up ? 1 : 0));
    else if (t.op == TWI_IX_MIN || t.op == TWI_IX_MAX)
        *bound = next_atom(p, t.a, UINT64_MAX) == 0 ? t.a : t.b;
    else if (t.op == TWI_IX_MOD)
        *bound = up ? twi_poly_plus(p, t.b, -1) : twi_poly_const(p, 0);
    return t.op != TWI_IX_DIV && t.op != TWI_IX_VALUE;
}

bool twi_poly_extreme(twi_prover *p, twi_poly a, bool greatest, twi_poly *out) {
    uint64_t below = UINT64_MAX;
    p->steps = TWI_PROVE_STEPS;
    for (int k = 0; k < TWI_PROVE_DEPTH; k++) {
        twi_poly c, r, bound = {0};
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

uint64_t twi_axes_around(const tw_ir *ir, uint32_t region) {
    uint64_t axes = 0;
    for (; region != 0; region = ir->region.at[region].parent)
        for (uint32_t k = 0; k < ir->region.at[region].axes.n; k++)
            axes |= UINT64_C(1) << ir->region.at[region].axes.at[k];
    return axes;
}
