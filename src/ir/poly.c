/* SPDX-License-Identifier: Apache-2.0
 * Polynomials of proofs: see poly.h. A coefficient or degree that does not fit marks the prover as
 * lost.
 */
#include "ir/poly.h"

static int compare(const twi_mono *a, const twi_mono *b) {
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (uint32_t k = 0; k < a->n; k++)
        if (a->atom[k] != b->atom[k])
            return a->atom[k] < b->atom[k] ? -1 : 1;
    return 0;
}

static int64_t checked(twi_prover *p, twi_ix_op op, int64_t a, int64_t b) {
    /* half the range is left free, so that a sum of two checked numbers never wraps */
    int64_t r = twi_ix_overflows(op, a, b) ? INT64_MAX : twi_ix_apply(op, a, b);
    if (r > INT64_MAX / 4 || r < -(INT64_MAX / 4)) {
        p->lost = true;
        return 0;
    }
    return r;
}

twi_poly twi_poly_const(twi_prover *p, int64_t k) {
    if (k == 0)
        return (twi_poly){0, NULL};
    twi_mono *m = TWI_NEW(p->arena, twi_mono);
    m->coef = checked(p, TWI_IX_ADD, k, 0);
    return (twi_poly){m->coef != 0, m};
}

twi_poly twi_poly_atom(twi_prover *p, uint32_t atom) {
    twi_mono *m = TWI_NEW(p->arena, twi_mono);
    *m = (twi_mono){1, 1, {atom}};
    return (twi_poly){1, m};
}

twi_poly twi_poly_add(twi_prover *p, twi_poly a, twi_poly b, int64_t times) {
    twi_mono *out = TWI_NEW_N(p->arena, twi_mono, (size_t)a.n + b.n + 1u);
    uint32_t n = 0, i = 0, j = 0;
    while (i < a.n || j < b.n) {
        int order = i == a.n ? 1 : j == b.n ? -1 : compare(&a.m[i], &b.m[j]);
        twi_mono m = order <= 0 ? a.m[i] : b.m[j];
        int64_t second = order >= 0 ? checked(p, TWI_IX_MUL, b.m[j].coef, times) : 0;
        m.coef = order < 0 ? m.coef : order > 0 ? second : checked(p, TWI_IX_ADD, m.coef, second);
        i += order <= 0;
        j += order >= 0;
        if (m.coef != 0)
            out[n++] = m;
    }
    return (twi_poly){n, out};
}

static bool times(twi_prover *p, const twi_mono *a, const twi_mono *b, twi_mono *out) {
    if (a->n + b->n > TWI_POLY_DEGREE) {
        p->lost = true;
        return false;
    }
    *out = (twi_mono){.coef = checked(p, TWI_IX_MUL, a->coef, b->coef), .n = a->n + b->n};
    for (uint32_t k = 0, i = 0, j = 0; k < out->n; k++)
        out->atom[k] =
            j == b->n || (i < a->n && a->atom[i] <= b->atom[j]) ? a->atom[i++] : b->atom[j++];
    return out->coef != 0;
}

twi_poly twi_poly_mul(twi_prover *p, twi_poly a, twi_poly b) {
    twi_poly sum = {0, NULL};
    for (uint32_t i = 0; i < a.n; i++)
        for (uint32_t j = 0; j < b.n; j++) {
            twi_mono m;
            if (times(p, &a.m[i], &b.m[j], &m))
                sum = twi_poly_add(p, sum, (twi_poly){1, &m}, 1);
        }
    return sum;
}

bool twi_poly_equal(twi_poly a, twi_poly b) {
    if (a.n != b.n)
        return false;
    for (uint32_t k = 0; k < a.n; k++)
        if (a.m[k].coef != b.m[k].coef || compare(&a.m[k], &b.m[k]) != 0)
            return false;
    return true;
}

bool twi_poly_is_const(twi_poly a, int64_t *k) {
    *k = a.n ? a.m[0].coef : 0;
    return a.n == 0 || (a.n == 1 && a.m[0].n == 0);
}

bool twi_poly_has(const twi_prover *p, twi_poly a, uint32_t atom) {
    for (uint32_t k = 0; k < a.n; k++)
        for (uint32_t i = 0; i < a.m[k].n; i++) {
            const twi_atom *t = &p->atom.at[a.m[k].atom[i]];
            if (a.m[k].atom[i] == atom || twi_poly_has(p, t->a, atom) ||
                twi_poly_has(p, t->b, atom))
                return true;
        }
    return false;
}

bool twi_poly_split(twi_prover *p, twi_poly a, uint32_t atom, twi_poly *cofactor, twi_poly *rest) {
    *cofactor = *rest = (twi_poly){0, NULL};
    for (uint32_t k = 0; k < a.n; k++) {
        twi_mono m = a.m[k];
        uint32_t found = 0, n = 0;
        for (uint32_t i = 0; i < m.n; i++) {
            if (m.atom[i] == atom && found++ == 0)
                continue;
            m.atom[n++] = m.atom[i];
        }
        if (found > 1)
            return false;
        m.n = n;
        twi_poly *to = found ? cofactor : rest;
        *to = twi_poly_add(p, *to, (twi_poly){1, &m}, 1);
    }
    return true;
}

/* m / by, if every atom and the coefficient divide. */
static bool mono_divide(const twi_mono *m, const twi_mono *by, twi_mono *out) {
    uint32_t used = 0;
    if (by->coef == 0 || m->coef % by->coef != 0)
        return false;
    *out = (twi_mono){.coef = m->coef / by->coef};
    for (uint32_t k = 0; k < m->n; k++) {
        if (used < by->n && by->atom[used] == m->atom[k])
            used++;
        else
            out->atom[out->n++] = m->atom[k];
    }
    return used == by->n;
}

void twi_poly_divide(twi_prover *p, twi_poly a, twi_poly b, twi_poly *quotient, twi_poly *rest) {
    *quotient = (twi_poly){0, NULL};
    *rest = a;
    if (b.n != 1) { /* a divisor of several terms: only itself */
        if (b.n && twi_poly_equal(a, b)) {
            *quotient = twi_poly_const(p, 1);
            *rest = (twi_poly){0, NULL};
        }
        return;
    }
    *rest = (twi_poly){0, NULL};
    for (uint32_t k = 0; k < a.n; k++) {
        twi_mono m;
        bool divides = mono_divide(&a.m[k], &b.m[0], &m);
        twi_poly *to = divides ? quotient : rest;
        *to = twi_poly_add(p, *to, (twi_poly){1, divides ? &m : &a.m[k]}, 1);
    }
}

uint32_t twi_poly_intern(twi_prover *p, twi_atom atom) {
    if (p->atom.n == 0)
        twi_push(p->arena, &p->atom, (twi_atom){0});
    for (uint32_t k = 1; k < p->atom.n; k++) {
        const twi_atom *o = &p->atom.at[k];
        if (o->op == atom.op && o->id == atom.id && twi_poly_equal(o->a, atom.a) &&
            twi_poly_equal(o->b, atom.b))
            return k;
    }
    twi_push(p->arena, &p->atom, atom);
    return p->atom.n - 1u;
}

/* ---- text: as a `requires` would say it ---- */
static const char *sym(const twi_prover *p, twi_sym s) { return twi_text(&p->ir->ctx->names, s); }

static void atom_text(const twi_prover *p, uint32_t id, twi_sb *out) {
    const twi_atom *t = &p->atom.at[id];
    if (t->op == TWI_IX_DIM) {
        twi_sb_str(out, sym(p, p->ir->dim.at[t->id].name));
    } else if (t->op == TWI_IX_NONE) {
        const twi_fact *f = &p->ir->fact.at[t->id];
        const twi_ix_node *mod = &p->ir->ix.at[p->ir->ix.at[f->a].op == TWI_IX_MOD ? f->a : f->b];
        twi_sb_str(out, "(");
        twi_ix_text(p->ir, out, mod->a);
        twi_sb_str(out, " // ");
        if (p->ir->ix.at[mod->b].op >= TWI_IX_ADD)
            twi_sb_str(out, "(");
        twi_ix_text(p->ir, out, mod->b);
        twi_sb_str(out, p->ir->ix.at[mod->b].op >= TWI_IX_ADD ? "))" : ")");
    } else if (t->op == TWI_IX_MIN || t->op == TWI_IX_MAX) {
        twi_sb_str(out, t->op == TWI_IX_MIN ? "min(" : "max(");
        twi_poly_text(p, t->a, out);
        twi_sb_str(out, ", ");
        twi_poly_text(p, t->b, out);
        twi_sb_str(out, ")");
    } else if (t->op == TWI_IX_DIV || t->op == TWI_IX_MOD) {
        twi_sb_str(out, "((");
        twi_poly_text(p, t->a, out);
        twi_sb_str(out, t->op == TWI_IX_DIV ? ") // (" : ") % (");
        twi_poly_text(p, t->b, out);
        twi_sb_str(out, "))");
    } else if (t->op == TWI_IX_AXIS || t->op == TWI_IX_LO || t->op == TWI_IX_HI) {
        const char *axis = sym(p, p->ir->axis.at[t->id].name);
        twi_sb_printf(out,
                      t->op == TWI_IX_AXIS ? "%s"
                      : t->op == TWI_IX_LO ? "lo(%s)"
                                           : "hi(%s)",
                      axis);
    } else {
        twi_sb_str(out, "?");
    }
}

void twi_poly_text(const twi_prover *p, twi_poly a, twi_sb *out) {
    if (a.n == 0)
        twi_sb_str(out, "0");
    bool first = true;
    for (uint32_t pass = 0; pass < 2; pass++) /* positive terms first */
        for (uint32_t j = a.n; j-- > 0;) {
            const twi_mono *m = &a.m[j];
            if ((m->coef < 0) != (pass == 1))
                continue;
            int64_t c = m->coef < 0 ? -m->coef : m->coef;
            if (!first || m->coef < 0)
                twi_sb_str(out, first ? "-" : m->coef < 0 ? " - " : " + ");
            if (c != 1 || m->n == 0)
                twi_sb_printf(out, "%lld%s", (long long)c, m->n ? " * " : "");
            for (uint32_t i = 0; i < m->n; i++) {
                twi_sb_str(out, i ? " * " : "");
                atom_text(p, m->atom[i], out);
            }
            first = false;
        }
}
