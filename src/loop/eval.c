/* SPDX-License-Identifier: Apache-2.0
 * Elementwise operations: tight loops by type. Integers are computed without sign, so that they
 * wrap; narrow ones in 32 bits.
 */
#include "loop/eval.h"

#include "loop/range.h"
#include "loop/rows.h"
#include "loop/scalar.h"

#include <math.h>

/* One loop: elements of type T, the expression in terms of x, y, z of type C. */
#define EACH(T, C, EXPR)                                                                           \
    do {                                                                                           \
        const T *xs = p->a, *ys = p->b ? p->b : p->a, *zs = p->c ? p->c : p->a;                    \
        T *to = p->r;                                                                              \
        for (size_t k = 0; k < p->n; k++) {                                                        \
            C x = (C)xs[k], y = (C)ys[k], z = (C)zs[k];                                            \
            (void)y;                                                                               \
            (void)z;                                                                               \
            to[k] = (T)(EXPR);                                                                     \
        }                                                                                          \
        return true;                                                                               \
    } while (0)

#define UNSIGNED(EXPR)                                                                             \
    switch (tw_elem_size(elem)) {                                                                  \
    case 1:                                                                                        \
        EACH(uint8_t, uint32_t, EXPR);                                                             \
    case 2:                                                                                        \
        EACH(uint16_t, uint32_t, EXPR);                                                            \
    case 4:                                                                                        \
        EACH(uint32_t, uint32_t, EXPR);                                                            \
    default:                                                                                       \
        EACH(uint64_t, uint64_t, EXPR);                                                            \
    }

/* By sign: SEXPR over int64_t, UEXPR over uint64_t. */
#define BY_SIGN(SEXPR, UEXPR)                                                                      \
    switch (elem) {                                                                                \
    case TW_I8:                                                                                    \
        EACH(int8_t, int64_t, SEXPR);                                                              \
    case TW_I16:                                                                                   \
        EACH(int16_t, int64_t, SEXPR);                                                             \
    case TW_I32:                                                                                   \
        EACH(int32_t, int64_t, SEXPR);                                                             \
    case TW_I64:                                                                                   \
        EACH(int64_t, int64_t, SEXPR);                                                             \
    case TW_U8:                                                                                    \
        EACH(uint8_t, uint64_t, UEXPR);                                                            \
    case TW_U16:                                                                                   \
        EACH(uint16_t, uint64_t, UEXPR);                                                           \
    case TW_U32:                                                                                   \
        EACH(uint32_t, uint64_t, UEXPR);                                                           \
    case TW_U64:                                                                                   \
        EACH(uint64_t, uint64_t, UEXPR);                                                           \
    default:                                                                                       \
        return false;                                                                              \
    }

static bool in_f32(unsigned op, const twi_rows *p) {
    switch (op) {
    case TWI_ADD:
        EACH(float, float, x + y);
    case TWI_SUB:
        EACH(float, float, x - y);
    case TWI_MUL:
        EACH(float, float, x *y);
    case TWI_DIV:
        EACH(float, float, x / y);
    case TWI_NEG:
        EACH(float, float, -x);
    case TWI_ABS:
        EACH(float, float, fabsf(x));
    case TWI_MIN:
        EACH(float, float, twi_f32_min(x, y));
    case TWI_MAX:
        EACH(float, float, twi_f32_max(x, y));
    case TWI_FMA:
        EACH(float, float, fmaf(x, y, z));
    case TWI_SQRT:
        EACH(float, float, sqrtf(x));
    case TWI_SCALE:
        EACH(float, float, twi_scalar_scale(x, y));
    case TWI_EXP:
        EACH(float, float, twi_scalar_exp(x));
    case TWI_LOG:
        EACH(float, float, twi_scalar_log(x));
    case TWI_TANH:
        EACH(float, float, twi_scalar_tanh(x));
    case TWI_ERF:
        EACH(float, float, twi_scalar_erf(x));
    default:
        return false;
    }
}

static bool in_f64(unsigned op, const twi_rows *p) {
    switch (op) {
    case TWI_ADD:
        EACH(double, double, x + y);
    case TWI_SUB:
        EACH(double, double, x - y);
    case TWI_MUL:
        EACH(double, double, x *y);
    case TWI_DIV:
        EACH(double, double, x / y);
    case TWI_NEG:
        EACH(double, double, -x);
    case TWI_ABS:
        EACH(double, double, fabs(x));
    case TWI_MIN:
        EACH(double, double, twi_f64_min(x, y));
    case TWI_MAX:
        EACH(double, double, twi_f64_max(x, y));
    case TWI_FMA:
        EACH(double, double, fma(x, y, z));
    case TWI_SQRT:
        EACH(double, double, sqrt(x));
    default:
        return false;
    }
}

/* As far as the sign does not matter. */
static bool wrapping(unsigned op, unsigned elem, const twi_rows *p) {
    unsigned mask = 8u * (unsigned)tw_elem_size((tw_elem)elem) - 1u;
    switch (op) {
    case TWI_ADD:
        UNSIGNED(x + y);
    case TWI_SUB:
        UNSIGNED(x - y);
    case TWI_MUL:
        UNSIGNED(x * y);
    case TWI_NEG:
        UNSIGNED(0u - x);
    case TWI_BAND:
        UNSIGNED(x & y);
    case TWI_BOR:
        UNSIGNED(x | y);
    case TWI_BXOR:
        UNSIGNED(x ^ y);
    case TWI_BNOT:
        UNSIGNED(~x);
    case TWI_SHL:
        UNSIGNED(x << (y & mask));
    default:
        return false;
    }
}

static uint64_t unsigned_div(uint64_t a, uint64_t b) { return b ? a / b : 0; }
static uint64_t unsigned_mod(uint64_t a, uint64_t b) { return b ? a % b : a; }
static uint64_t magnitude(int64_t a) { return a < 0 ? 0 - (uint64_t)a : (uint64_t)a; }
static int64_t arithmetic_shift(int64_t a, unsigned n) {
    return a < 0 ? (int64_t) ~(~(uint64_t)a >> n) : (int64_t)((uint64_t)a >> n);
}

static bool by_sign(unsigned op, unsigned elem, const twi_rows *p) {
    unsigned mask = 8u * (unsigned)tw_elem_size((tw_elem)elem) - 1u;
    switch (op) {
    case TWI_IDIV:
        BY_SIGN(twi_floor_div(x, y), unsigned_div(x, y));
    case TWI_IMOD:
        BY_SIGN(twi_floor_mod(x, y), unsigned_mod(x, y));
    case TWI_ABS:
        BY_SIGN(magnitude(x), x);
    case TWI_MIN:
        BY_SIGN(x < y ? x : y, x < y ? x : y);
    case TWI_MAX:
        BY_SIGN(x > y ? x : y, x > y ? x : y);
    case TWI_SHR:
        BY_SIGN(arithmetic_shift(x, (unsigned)y & mask), x >> (y & mask));
    default:
        return false;
    }
}

/* ---- comparisons, truth values, choice ---- */

#define COMPARE(T, EXPR)                                                                           \
    do {                                                                                           \
        const T *xs = p->a, *ys = p->b;                                                            \
        uint8_t *to = p->r;                                                                        \
        for (size_t k = 0; k < p->n; k++) {                                                        \
            T x = xs[k], y = ys[k];                                                                \
            to[k] = (EXPR) ? 1 : 0;                                                                \
        }                                                                                          \
        return true;                                                                               \
    } while (0)

#define COMPARISONS(T)                                                                             \
    switch (op) {                                                                                  \
    case TWI_EQ:                                                                                   \
        COMPARE(T, x == y);                                                                        \
    case TWI_NE:                                                                                   \
        COMPARE(T, x != y);                                                                        \
    case TWI_LT:                                                                                   \
        COMPARE(T, x < y);                                                                         \
    case TWI_LE:                                                                                   \
        COMPARE(T, x <= y);                                                                        \
    case TWI_GT:                                                                                   \
        COMPARE(T, x > y);                                                                         \
    case TWI_GE:                                                                                   \
        COMPARE(T, x >= y);                                                                        \
    default:                                                                                       \
        return false;                                                                              \
    }

static bool compare_narrow(unsigned op, unsigned from, const twi_rows *p) {
    switch (from) {
    case TW_I8:
        COMPARISONS(int8_t);
    case TW_I16:
        COMPARISONS(int16_t);
    case TW_BOOL:
    case TW_U8:
        COMPARISONS(uint8_t);
    case TW_U16:
        COMPARISONS(uint16_t);
    default:
        return false;
    }
}

static bool compare(unsigned op, unsigned from, const twi_rows *p) {
    switch (from) {
    case TW_F32:
        COMPARISONS(float);
    case TW_F64:
        COMPARISONS(double);
    case TW_I32:
        COMPARISONS(int32_t);
    case TW_I64:
        COMPARISONS(int64_t);
    case TW_U32:
        COMPARISONS(uint32_t);
    case TW_U64:
        COMPARISONS(uint64_t);
    default:
        return compare_narrow(op, from, p);
    }
}

static bool truths(unsigned op, const twi_rows *p) {
    switch (op) {
    case TWI_AND:
        COMPARE(uint8_t, x & y);
    case TWI_OR:
        COMPARE(uint8_t, x | y);
    case TWI_NOT:
        EACH(uint8_t, uint32_t, x == 0);
    default:
        return false;
    }
}

#define CHOOSE(T)                                                                                  \
    do {                                                                                           \
        const uint8_t *when = p->a;                                                                \
        const T *xs = p->b, *ys = p->c;                                                            \
        T *to = p->r;                                                                              \
        for (size_t k = 0; k < p->n; k++)                                                          \
            to[k] = when[k] ? xs[k] : ys[k];                                                       \
        return true;                                                                               \
    } while (0)

static bool choose(unsigned elem, const twi_rows *p) {
    switch (tw_elem_size((tw_elem)elem)) {
    case 1:
        CHOOSE(uint8_t);
    case 2:
        CHOOSE(uint16_t);
    case 4:
        CHOOSE(uint32_t);
    case 8:
        CHOOSE(uint64_t);
    default:
        return false;
    }
}

bool twi_eval(unsigned op, tw_elem elem, tw_elem from, const twi_rows *p) {
    const twi_loop_row *info = twi_loop_row_of(op);
    if (!info || !twi_loop_elementwise(op))
        return false;
    switch (info->rule) {
    case TWI_RULE_CAST:
        return twi_eval_cast(elem, from, p->r, p->a, p->n);
    case TWI_RULE_SELECT:
        return choose(elem, p);
    case TWI_RULE_COMPARE:
        return compare(op, from, p);
    case TWI_RULE_BOOL:
        return truths(op, p);
    case TWI_RULE_BITS:
        if (tw_elem_size(elem) != tw_elem_size(from))
            return false;
        memcpy(p->r, p->a, p->n * tw_elem_size(elem));
        return true;
    default:
        break;
    }
    if (elem == TW_F32)
        return in_f32(op, p);
    if (elem == TW_F64)
        return in_f64(op, p);
    return twi_is_int(elem) && (wrapping(op, elem, p) || by_sign(op, elem, p));
}
