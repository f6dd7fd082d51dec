/* SPDX-License-Identifier: Apache-2.0
 * Bounded values. What a machine may hold is described three ways at once:
 *   EXACT  the machine's value is known: `bits` (v the same as a double)
 *   RANGE  a finite v; the machine's value lies in [lo, hi] (an infinite end: it may be that
 * infinity) and, while r is finite, is v + sum of coefficient * symbol + at most r, where symbols
 * are unknown numbers of at most 1 in magnitude, the same wherever they occur ANY    nothing is
 * known (it may be NaN) Bools and ints: RANGE is 0 .. 1, or a range of integers, or (SET) the
 * integers listed in the terms.
 */
#ifndef TWI_ORACLE_FORM_H
#define TWI_ORACLE_FORM_H

#include "oracle/det.h"

#define TWI_SYMBOLS 8 /* shared symbols that a value may depend on */
#define TWI_ROOM (2 * TWI_SYMBOLS + 1)

typedef enum { TWI_EXACT, TWI_RANGE, TWI_ANYTHING } twi_form_kind;
enum {
    TWI_UNDECIDED = 1,
    TWI_SET = 2,
    TWI_EITHER_ZERO = 4
}; /* flags; the last: EXACT, of either sign */

typedef struct {
    uint32_t symbol;
    double c;
} twi_part; /* sorted by symbol */
typedef struct {
    double v, lo, hi, r;
    uint64_t bits;
    const twi_part *part; /* n of them */
    uint32_t n;
    uint8_t kind, flags;
} twi_form;

/* What rounding to a type does: half a unit in relative terms, half its least subnormal. */
typedef struct {
    double u, eta, most;
} twi_rounding;
twi_rounding
twi_rounding_of(tw_elem elem); /* f64: u counts the FP64 reference's own rounding too */

/* An operation on forms. room: TWI_ROOM parts that the result may use. */
typedef struct {
    twi_det det;
    bool native; /* functions: a backend's own, bounded even where operands are exact */
    bool same;   /* both operands are one value */
} twi_form_op;
void twi_form_do(const twi_form_op *f, const twi_form *x, twi_form *out, twi_part *room);

twi_form twi_form_exact(tw_elem elem, uint64_t bits);
twi_form twi_form_any(uint8_t flags);
double twi_form_spread(const twi_form *x); /* sum of |coefficients| */
double twi_form_radius(const twi_form *x); /* |machine - v| is at most this */
bool twi_form_linear(const twi_form *x);   /* r is finite: the error form holds */
/* Rounds a real-valued form (out->lo, hi: the reals' interval; r, part: without the rounding) to
 * elem. */
void twi_form_round(tw_elem elem, bool eta, twi_form *out);
void twi_form_close(tw_elem elem, twi_form *out); /* the same, rounding already in r, lo, hi */
void twi_form_narrow(tw_elem to, const twi_form *x,
                     twi_form *out); /* f32 rounded to `to`, as f32 */
void twi_form_hull(tw_elem elem, const twi_form *a, const twi_form *b, twi_form *out); /* a or b */
/* out = ka*a + kb*b in its parts and r (v, lo, hi left alone); the smallest parts go into r
 * beyond 8. */
void twi_form_combine(const twi_form *a, double ka, const twi_form *b, double kb, twi_form *out,
                      twi_part *room);
/* The real product, unrounded (lo, hi NaN: it may be NaN). */
void twi_form_product(const twi_form *a, const twi_form *b, bool same, twi_form *out,
                      twi_part *room);
/* r becomes a symbol of its own (number `symbol`, larger than any in use). */
void twi_form_name(twi_form *x, uint32_t symbol, twi_part *room);

/* functions.c: exp, log, tanh, erf, sqrt of a RANGE (form_op without the exact cases). */
void twi_form_function(const twi_form_op *f, const twi_form *x, twi_form *out, twi_part *room);
/* discrete.c: comparisons, bools, selects, casts, ints. */
bool twi_form_discrete(const twi_form_op *f, const twi_form *x, twi_form *out, twi_part *room);

static inline double twi_down(double x) {
    double y = x - (x < 0 ? -x : x) * 0x1p-52 - 0x1p-1070;
    return y == y ? y : x; /* infinities stay */
}
static inline double twi_up(double x) {
    double y = x + (x < 0 ? -x : x) * 0x1p-52 + 0x1p-1070;
    return y == y ? y : x;
}

#endif
