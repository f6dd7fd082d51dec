/* SPDX-License-Identifier: Apache-2.0
 * Polynomials with integer coefficients over atoms: what proofs compute with. A normal form, so
 * that equal polynomials are equal tables. Atoms are dims, positions, and what is not polynomial:
 * // % min max.
 */
#ifndef TWI_IR_POLY_H
#define TWI_IR_POLY_H

#include "ir/ir.h"

#define TWI_POLY_DEGREE 6
#define TWI_PROVE_STEPS 2000
#define TWI_PROVE_DEPTH 28

typedef struct { /* coef * product of atoms, ascending, repeated for powers */
    int64_t coef;
    uint32_t n, atom[TWI_POLY_DEGREE];
} twi_mono;
typedef struct { /* ascending by degree, then by atoms; no zero coefficients */
    uint32_t n;
    const twi_mono *m;
} twi_poly;

typedef struct twi_atom {
    uint8_t op;    /* twi_ix_op; NONE: the quotient of a fact A % B == 0 */
    bool one;      /* known to be at least 1 */
    uint32_t id;   /* dim, axis, value, fact */
    twi_poly a, b; /* DIV MOD MIN MAX */
} twi_atom;

/* A prover: one question after another about one IR. */
typedef struct twi_prover {
    const tw_ir *ir;
    twi_arena *arena;
    bool lost;     /* a number did not fit: nothing is proved from then on */
    int32_t steps; /* left */
    uint32_t depth;
    TWI_VEC(twi_atom) atom;             /* 0 unused */
    const twi_poly **dim;               /* what a fact says a dim is; NULL: itself */
    TWI_VEC(twi_poly) fact;             /* polynomials that are >= 0 */
    TWI_VEC(twi_poly) divided, divisor; /* of facts A % B == 0 */
} twi_prover;

/* ---- arithmetic (poly.c) ---- */
twi_poly twi_poly_const(twi_prover *p, int64_t k);
twi_poly twi_poly_atom(twi_prover *p, uint32_t atom);
twi_poly twi_poly_add(twi_prover *p, twi_poly a, twi_poly b, int64_t times); /* a + times * b */
twi_poly twi_poly_mul(twi_prover *p, twi_poly a, twi_poly b);
bool twi_poly_equal(twi_poly a, twi_poly b);
bool twi_poly_is_const(twi_poly a, int64_t *k);
bool twi_poly_has(const twi_prover *p, twi_poly a, uint32_t atom); /* inside of // % min max too */
/* a = cofactor * atom + rest; false: the atom stands in a power. */
bool twi_poly_split(twi_prover *p, twi_poly a, uint32_t atom, twi_poly *cofactor, twi_poly *rest);
/* a = quotient * b + rest with as much in the quotient as divides term by term. */
void twi_poly_divide(twi_prover *p, twi_poly a, twi_poly b, twi_poly *quotient, twi_poly *rest);
uint32_t twi_poly_intern(twi_prover *p, twi_atom atom);
void twi_poly_text(const twi_prover *p, twi_poly a, twi_sb *out);

/* ---- what facts say (facts.c) and the search (prove.c) ---- */
/* live: axes that have at least one position where the question is asked. */
void twi_prover_init(twi_prover *p, const tw_ir *ir, twi_arena *arena, uint64_t live);
void twi_prover_assume(twi_prover *p, twi_poly a); /* a >= 0 from here on */
twi_poly twi_poly_of(twi_prover *p, twi_ix x);
bool twi_prove_ge(twi_prover *p, twi_poly a, int64_t k); /* a >= k everywhere */
bool twi_prove_le(twi_prover *p, twi_poly a, twi_poly b);
/* The least (or greatest) value over all positions, in dims; false: none is found. */
bool twi_poly_extreme(twi_prover *p, twi_poly a, bool greatest, twi_poly *out);
uint64_t twi_axes_around(const tw_ir *ir,
                         uint32_t region); /* of all regions around: they are not empty there */

/* Shared by facts.c and prove.c. */
twi_poly twi_poly_substitute(twi_prover *p, twi_poly a); /* dims that facts speak of, put in */
twi_poly twi_poly_leaf(twi_prover *p, unsigned op, uint32_t id);
bool twi_poly_plainly(twi_prover *p, twi_poly a); /* >= 0 by the signs of its coefficients */
bool twi_atom_natural(const twi_prover *p, uint32_t atom); /* never negative by what it is */
twi_poly twi_poly_plus(twi_prover *p, twi_poly a, int64_t k);
bool twi_prove_step(twi_prover *p, twi_poly a); /* a >= 0, within the question being asked */

#endif
