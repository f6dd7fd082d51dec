/* SPDX-License-Identifier: Apache-2.0
 * Casts: what is read goes through the widest type of its kind (i64, u64 or f64), which holds it
 * exactly; what is written is rounded, wrapped or saturated once.
 */
#include "loop/eval.h"
#include "loop/scalar.h"

typedef enum { SIGNED, UNSIGNED, REAL } kind;
typedef struct {
    kind kind;
    int64_t i;
    uint64_t u;
    double f;
} wide;

static wide of_signed(int64_t i) { return (wide){.kind = SIGNED, .i = i, .u = (uint64_t)i}; }
static wide of_unsigned(uint64_t u) { return (wide){.kind = UNSIGNED, .u = u}; }
static wide of_real(double f) { return (wide){.kind = REAL, .f = f}; }

static wide get(unsigned elem, const void *at, size_t k) {
    switch (elem) {
    case TW_BOOL:
        return of_unsigned(((const uint8_t *)at)[k] != 0);
    case TW_I8:
        return of_signed(((const int8_t *)at)[k]);
    case TW_I16:
        return of_signed(((const int16_t *)at)[k]);
    case TW_I32:
        return of_signed(((const int32_t *)at)[k]);
    case TW_I64:
        return of_signed(((const int64_t *)at)[k]);
    case TW_U8:
        return of_unsigned(((const uint8_t *)at)[k]);
    case TW_U16:
        return of_unsigned(((const uint16_t *)at)[k]);
    case TW_U32:
        return of_unsigned(((const uint32_t *)at)[k]);
    case TW_U64:
        return of_unsigned(((const uint64_t *)at)[k]);
    case TW_F16:
        return of_real((double)twi_f32_of_f16(((const uint16_t *)at)[k]));
    case TW_BF16:
        return of_real((double)twi_f32_of_bf16(((const uint16_t *)at)[k]));
    case TW_F32:
        return of_real((double)((const float *)at)[k]);
    default:
        return of_real(((const double *)at)[k]);
    }
}

/* For rounding to something narrower than f64, once. */
static double odd(wide w) {
    return w.kind == REAL     ? w.f
           : w.kind == SIGNED ? twi_f64_odd_of_i64(w.i)
                              : twi_f64_odd_of_u64(w.u);
}

static double nearest(wide w) {
    return w.kind == REAL ? w.f : w.kind == SIGNED ? (double)w.i : (double)w.u;
}

static uint64_t to_int(wide w, unsigned bits, bool with_sign) {
    if (w.kind != REAL)
        return w.u;
    return with_sign ? (uint64_t)twi_signed_of_f64(w.f, bits) : twi_unsigned_of_f64(w.f, bits);
}

static float to_f32(wide w) {
    return w.kind == REAL ? (float)w.f : w.kind == SIGNED ? (float)w.i : (float)w.u;
}

static bool put(unsigned elem, void *at, size_t k, wide w) {
    switch (elem) {
    case TW_BOOL:
        ((uint8_t *)at)[k] = w.kind == REAL ? w.f != 0 : w.u != 0;
        return true;
    case TW_I8:
        ((uint8_t *)at)[k] = (uint8_t)to_int(w, 8, true);
        return true;
    case TW_I16:
        ((uint16_t *)at)[k] = (uint16_t)to_int(w, 16, true);
        return true;
    case TW_I32:
        ((uint32_t *)at)[k] = (uint32_t)to_int(w, 32, true);
        return true;
    case TW_I64:
        ((uint64_t *)at)[k] = to_int(w, 64, true);
        return true;
    case TW_U8:
        ((uint8_t *)at)[k] = (uint8_t)to_int(w, 8, false);
        return true;
    case TW_U16:
        ((uint16_t *)at)[k] = (uint16_t)to_int(w, 16, false);
        return true;
    case TW_U32:
        ((uint32_t *)at)[k] = (uint32_t)to_int(w, 32, false);
        return true;
    case TW_U64:
        ((uint64_t *)at)[k] = to_int(w, 64, false);
        return true;
    case TW_F16:
        ((uint16_t *)at)[k] = twi_f16_of_f64(odd(w));
        return true;
    case TW_BF16:
        ((uint16_t *)at)[k] = twi_bf16_of_f64(odd(w));
        return true;
    case TW_F32:
        ((float *)at)[k] = to_f32(w);
        return true;
    case TW_F64:
        ((double *)at)[k] = nearest(w);
        return true;
    default:
        return false;
    }
}

bool twi_eval_cast(tw_elem elem, tw_elem from, void *r, const void *a, size_t n) {
    if (elem == from) {
        memcpy(r, a, n * tw_elem_size(elem));
        return true;
    }
    if (tw_elem_size(from) == 0 || from == TW_F8E4M3 || from == TW_F8E5M2)
        return false;
    if (elem == TW_F32 && from == TW_BF16) { /* moves, NaN payloads included */
        for (size_t k = 0; k < n; k++)
            ((float *)r)[k] = twi_f32_of_bf16(((const uint16_t *)a)[k]);
        return true;
    }
    if (from == TW_F32 && (elem == TW_BF16 || elem == TW_F16)) {
        const float *x = a;
        for (size_t k = 0; k < n; k++)
            ((uint16_t *)r)[k] = elem == TW_F16 ? twi_f16_of_f32(x[k]) : twi_bf16_of_f32(x[k]);
        return true;
    }
    for (size_t k = 0; k < n; k++)
        if (!put(elem, r, k, get(from, a, k)))
            return false;
    return true;
}
