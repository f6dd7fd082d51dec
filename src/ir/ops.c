/* SPDX-License-Identifier: Apache-2.0
 * The tables of operations and monoids, and what follows from an element type alone.
 */
#include "ir/ops.h"

#include <string.h>

const twi_op_info twi_op_rows[TWI_TILE_END] = {
    [TWI_NOP] = {"nop", 0, TWI_KIND_LEAF, 0, 0, 0},
#define TWI_OP(NAME, spelling, arity, rule, price, built)                                          \
    [TWI_##NAME] = {spelling, arity, TWI_KIND_LOCAL, TWI_RULE_##rule, TWI_PRICE_##price, built},
#include "ir/elementwise.def"
#undef TWI_OP
#define TWI_TILE(NAME, spelling, kind) [TWI_##NAME] = {spelling, 0, TWI_KIND_##kind, 0, 0, 1},
#include "ir/tile.def"
#undef TWI_TILE
};

enum { TWI_NONE = TWI_NOP }; /* how monoid.def says that no elementwise operation merges */
static const twi_monoid monoids[TWI_TILE_END] = {
#define TWI_MONOID(FOLD, merge, identity, order_free, states)                                      \
    [TWI_##FOLD] = {TWI_##merge, TWI_ID_##identity, order_free, states},
#include "ir/monoid.def"
#undef TWI_MONOID
};

/* By element type: class, signedness, accumulator, type of values, exponent and mantissa of floats.
 */
typedef struct {
    uint8_t is_float, is_int, is_signed, accum, value;
} elem_row;
static const elem_row elems[TW_ELEMS] = {
    [TW_BOOL] = {0, 0, 0, TW_NONE, TW_BOOL}, [TW_I8] = {0, 1, 1, TW_I32, TW_I8},
    [TW_I16] = {0, 1, 1, TW_I32, TW_I16},    [TW_I32] = {0, 1, 1, TW_I32, TW_I32},
    [TW_I64] = {0, 1, 1, TW_I64, TW_I64},    [TW_U8] = {0, 1, 0, TW_U32, TW_U8},
    [TW_U16] = {0, 1, 0, TW_U32, TW_U16},    [TW_U32] = {0, 1, 0, TW_U32, TW_U32},
    [TW_U64] = {0, 1, 0, TW_U64, TW_U64},    [TW_F8E4M3] = {1, 0, 1, TW_F32, TW_F32},
    [TW_F8E5M2] = {1, 0, 1, TW_F32, TW_F32}, [TW_BF16] = {1, 0, 1, TW_F32, TW_F32},
    [TW_F16] = {1, 0, 1, TW_F32, TW_F32},    [TW_F32] = {1, 0, 1, TW_F32, TW_F32},
    [TW_F64] = {1, 0, 1, TW_F64, TW_F64},
};

static const elem_row *elem_of(tw_elem elem) {
    return &elems[(unsigned)elem < TW_ELEMS ? (unsigned)elem : 0u];
}

twi_op twi_op_named(const char *spelling) {
    for (unsigned op = 1; op < TWI_ELEMENTWISE_END; op++)
        if (strcmp(twi_op_rows[op].name, spelling) == 0)
            return (twi_op)op;
    return TWI_NOP;
}

bool twi_has_bracket(unsigned op) {
    unsigned kind = twi_op_row(op)->kind;
    return kind == TWI_KIND_FOLD || kind == TWI_KIND_ORDER;
}

bool twi_is_access(unsigned op) {
    return op == TWI_LOAD || twi_op_row(op)->kind == TWI_KIND_EFFECT;
}

const twi_monoid *twi_monoid_of(unsigned op) { return twi_has_bracket(op) ? &monoids[op] : NULL; }

tw_elem twi_accum(tw_elem elem) { return (tw_elem)elem_of(elem)->accum; }

bool twi_elem_is_built(tw_elem elem) {
    static const bool built[TW_ELEMS] = {
        [TW_BOOL] = true, [TW_I8] = true,   [TW_I32] = true, [TW_I64] = true, [TW_U8] = true,
        [TW_U32] = true,  [TW_BF16] = true, [TW_F16] = true, [TW_F32] = true, [TW_F64] = true};
    return (unsigned)elem < TW_ELEMS && built[elem];
}

bool twi_is_float(tw_elem elem) { return elem_of(elem)->is_float; }

bool twi_is_int(tw_elem elem) { return elem_of(elem)->is_int; }

bool twi_is_signed(tw_elem elem) { return elem_of(elem)->is_int && elem_of(elem)->is_signed; }

tw_elem twi_value_elem(tw_elem storage) { return (tw_elem)elem_of(storage)->value; }

/* Integer patterns: all ones of n bits and so on. Floats: by format. */
static uint64_t ones(unsigned bits) { return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1u; }

static uint64_t int_bits(twi_identity id, tw_elem elem) {
    unsigned bits = (unsigned)tw_elem_size(elem) * 8u;
    bool sign = twi_is_signed(elem);
    if (id == TWI_ID_ONE)
        return 1;
    if (id == TWI_ID_LEAST)
        return sign ? UINT64_C(1) << (bits - 1u) : 0;
    if (id == TWI_ID_GREATEST)
        return sign ? ones(bits - 1u) : ones(bits);
    return 0;
}

typedef struct {
    uint64_t negative_zero, one, infinity; /* f8e4m3 has none: its largest value stands in */
} float_row;

uint64_t twi_identity_bits(twi_identity id, tw_elem elem) {
    static const float_row floats[TW_ELEMS] = {
        [TW_F8E4M3] = {0x80, 0x38, 0x7e},
        [TW_F8E5M2] = {0x80, 0x3c, 0x7c},
        [TW_BF16] = {0x8000, 0x3f80, 0x7f80},
        [TW_F16] = {0x8000, 0x3c00, 0x7c00},
        [TW_F32] = {0x80000000u, 0x3f800000u, 0x7f800000u},
        [TW_F64] = {UINT64_C(1) << 63, UINT64_C(0x3ff) << 52, UINT64_C(0x7ff) << 52},
    };
    if (elem == TW_BOOL)
        return id == TWI_ID_TRUE || id == TWI_ID_ONE || id == TWI_ID_GREATEST;
    if (!twi_is_float(elem))
        return int_bits(id, elem);
    const float_row *f = &floats[elem];
    if (id == TWI_ID_NEG_ZERO)
        return f->negative_zero;
    if (id == TWI_ID_ONE)
        return f->one;
    if (id == TWI_ID_GREATEST)
        return f->infinity;
    if (id == TWI_ID_LEAST)
        return f->infinity | f->negative_zero;
    return 0;
}
