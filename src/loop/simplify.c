/* SPDX-License-Identifier: Apache-2.0
 * Constants and identities of integers and truth values.
 */
#include "loop/simplify.h"

#include "loop/range.h"
#include "loop/rows.h"

enum { DEPTH = 6 }; /* of arguments looked at for an interval */

static bool number(const twi_cursor *c, twi_lid v, int64_t *k) {
    return v && twi_lb_const_of(c, v, k);
}

static bool truth(const twi_cursor *c, twi_lid v, bool *k) {
    const twi_lins *i = &c->f->ins.at[v];
    if (v == 0 || i->op != TWI_L_LCONST || i->elem != TW_BOOL)
        return false;
    *k = c->f->constant.at[i->attr] != 0;
    return true;
}

static twi_lid truth_of(twi_cursor *c, bool k) { return twi_lb_bits(c, TW_BOOL, k, 0); }

static int64_t wrapped(uint64_t x) { return (int64_t)x; }

static bool of_numbers(unsigned op, int64_t x, int64_t y, int64_t *k) {
    uint64_t a = (uint64_t)x, b = (uint64_t)y;
    switch (op) {
    case TWI_ADD:
        *k = wrapped(a + b);
        return true;
    case TWI_SUB:
        *k = wrapped(a - b);
        return true;
    case TWI_MUL:
        *k = wrapped(a * b);
        return true;
    case TWI_IDIV:
        *k = twi_floor_div(x, y);
        return true;
    case TWI_IMOD:
        *k = twi_floor_mod(x, y);
        return true;
    case TWI_MIN:
        *k = x < y ? x : y;
        return true;
    case TWI_MAX:
        *k = x > y ? x : y;
        return true;
    case TWI_BAND:
        *k = wrapped(a & b);
        return true;
    case TWI_BOR:
        *k = wrapped(a | b);
        return true;
    case TWI_BXOR:
        *k = wrapped(a ^ b);
        return true;
    case TWI_SHL:
        *k = wrapped(a << (b & 63u));
        return true;
    default:
        return false;
    }
}

/* Decided by intervals: 1 yes, 0 no, -1 open. */
static int compared(unsigned op, twi_span a, twi_span b) {
    bool less = a.hi<b.lo, most = a.hi <= b.lo, least = a.lo >= b.hi, more = a.lo> b.hi;
    bool same = a.lo == a.hi && b.lo == b.hi && a.lo == b.lo;
    switch (op) {
    case TWI_LT:
        return less ? 1 : least ? 0 : -1;
    case TWI_LE:
        return most ? 1 : more ? 0 : -1;
    case TWI_GT:
        return more ? 1 : most ? 0 : -1;
    case TWI_GE:
        return least ? 1 : less ? 0 : -1;
    case TWI_EQ:
        return same ? 1 : less || more ? 0 : -1;
    case TWI_NE:
        return same ? 0 : less || more ? 1 : -1;
    default:
        return -1;
    }
}

static twi_lid comparison(twi_cursor *c, unsigned op, twi_lid a, twi_lid b) {
    if (a == b)
        return truth_of(c, op == TWI_LE || op == TWI_GE || op == TWI_EQ);
    int known = compared(op, twi_span_of(c->f, a, DEPTH), twi_span_of(c->f, b, DEPTH));
    return known < 0 ? 0 : truth_of(c, known == 1);
}

/* x op k where op is an identity or has a constant result. */
static twi_lid with_number(twi_cursor *c, unsigned op, twi_lid a, int64_t k) {
    switch (op) {
    case TWI_ADD:
    case TWI_SUB:
    case TWI_BOR:
    case TWI_BXOR:
    case TWI_SHL:
    case TWI_SHR:
        return k == 0 ? a : 0;
    case TWI_MUL:
        return k == 1 ? a : k == 0 ? twi_lb_i64(c, 0) : 0;
    case TWI_IDIV:
        return k == 1 ? a : 0;
    case TWI_IMOD:
        return k == 1 ? twi_lb_i64(c, 0) : k == 0 ? a : 0;
    case TWI_BAND:
        return k == 0 ? twi_lb_i64(c, 0) : k == -1 ? a : 0;
    default:
        return 0;
    }
}

static twi_lid by_interval(twi_cursor *c, unsigned op, twi_lid a, twi_lid b) {
    if (op != TWI_IDIV && op != TWI_IMOD && op != TWI_MIN && op != TWI_MAX)
        return 0;
    twi_span x = twi_span_of(c->f, a, DEPTH), y = twi_span_of(c->f, b, DEPTH);
    if (op == TWI_MIN || op == TWI_MAX) {
        if (a == b || x.hi <= y.lo)
            return op == TWI_MIN ? a : b;
        return y.hi <= x.lo ? (op == TWI_MIN ? b : a) : 0;
    }
    if (x.lo >= 0 && x.hi < y.lo)
        return op == TWI_IMOD ? a : twi_lb_i64(c, 0);
    return 0;
}

/* (x + k1) + k2 = x + (k1 + k2), (x * k1) * k2 likewise: exact under wrapping. */
static void meet(twi_cursor *c, unsigned op, twi_lid *a, twi_lid *b, int64_t k) {
    const twi_lins *i = &c->f->ins.at[*a];
    int64_t inner, sum;
    if (i->op != op || (op != TWI_ADD && op != TWI_MUL) || i->fold)
        return;
    twi_lid x = twi_larg(c->f, *a, 0);
    if (!number(c, twi_larg(c->f, *a, 1), &inner) || !of_numbers(op, inner, k, &sum))
        return;
    *a = x;
    *b = twi_lb_i64(c, sum);
}

static twi_lid of_integers(twi_cursor *c, unsigned op, twi_lid *a, twi_lid *b) {
    int64_t x, y, k;
    bool left = number(c, *a, &x), right = number(c, *b, &y);
    if (left && right && of_numbers(op, x, y, &k))
        return twi_lb_i64(c, k);
    bool commutes = op == TWI_ADD || op == TWI_MUL || op == TWI_MIN || op == TWI_MAX ||
                    op == TWI_BAND || op == TWI_BOR || op == TWI_BXOR;
    if (left && !right && commutes) {
        twi_lid swap = *a;
        *a = *b;
        *b = swap;
        y = x;
        right = true;
    }
    if (right) {
        meet(c, op, a, b, y);
        (void)number(c, *b, &y);
        twi_lid known = with_number(c, op, *a, y);
        if (known && c->f->ins.at[known].count == c->f->ins.at[*a].count)
            return known;
        if (known)
            return twi_lb_splat(c, known, c->f->ins.at[*a].count);
    }
    if (c->f->ins.at[*a].count != 1 || c->f->ins.at[*b].count != 1)
        return 0;
    if (op == TWI_SUB && *a == *b)
        return twi_lb_i64(c, 0);
    return by_interval(c, op, *a, *b);
}

static twi_lid of_truths(twi_cursor *c, unsigned op, twi_lid a, twi_lid b) {
    bool k;
    if (op == TWI_NOT)
        return truth(c, a, &k) ? truth_of(c, !k) : 0;
    if (op != TWI_AND && op != TWI_OR)
        return 0;
    if (truth(c, a, &k))
        return k == (op == TWI_AND) ? b : a;
    if (truth(c, b, &k))
        return k == (op == TWI_AND) ? a : b;
    return a == b ? a : 0;
}

twi_lid twi_simplify(twi_cursor *c, unsigned op, twi_lid *a, twi_lid *b, twi_lid d) {
    const twi_lins *x = &c->f->ins.at[*a];
    bool k;
    if (op == TWI_SELECT)
        return truth(c, *a, &k) ? (k ? *b : d) : 0;
    if (x->elem == TW_BOOL)
        return of_truths(c, op, *a, *b);
    if (x->elem != TW_I64)
        return 0;
    if (op == TWI_NEG) {
        int64_t y;
        return x->count == 1 && number(c, *a, &y) ? twi_lb_i64(c, wrapped(0 - (uint64_t)y)) : 0;
    }
    const twi_loop_row *row = twi_loop_row_of(op);
    if (row->arity != 2)
        return 0;
    if (row->rule == TWI_RULE_COMPARE)
        return x->count == 1 && c->f->ins.at[*b].count == 1 ? comparison(c, op, *a, *b) : 0;
    return of_integers(c, op, a, b);
}
