/* SPDX-License-Identifier: Apache-2.0
 * Operands: untyped constants stay exact among themselves and take the type of what they meet; one
 * type an operation. Index expressions of scalars stay index expressions until they meet a value.
 */
#include "front/sema.h"

twi_o twi_error_o(void) { return (twi_o){0}; }

twi_o twi_value_o(tw_value v) { return v ? (twi_o){.kind = TWI_O_VALUE, .id = v} : twi_error_o(); }

twi_o twi_index_o(uint8_t kind, tw_ix ix, bool param, bool tile) {
    return ix ? (twi_o){.kind = kind, .id = ix, .param = param, .tile = tile} : twi_error_o();
}

static twi_o real(tw_num n, bool param) {
    return n ? (twi_o){.kind = TWI_O_REAL, .id = n, .param = param} : twi_error_o();
}

static twi_o truth(bool flag, bool param) {
    return (twi_o){.kind = TWI_O_BOOL, .flag = flag, .param = param};
}

bool twi_is_float_elem(tw_elem e) {
    return e == TW_F8E4M3 || e == TW_F8E5M2 || e == TW_BF16 || e == TW_F16 || e == TW_F32 ||
           e == TW_F64;
}

bool twi_is_int_elem(tw_elem e) { return e >= TW_I8 && e <= TW_U64; }

tw_elem twi_held(tw_elem e) { return twi_is_float_elem(e) && e != TW_F64 ? TW_F32 : e; }

tw_elem twi_summed(tw_elem e) {
    static const tw_elem to[TW_ELEMS] = {
        [TW_I8] = TW_I32,     [TW_I16] = TW_I32,    [TW_I32] = TW_I32,  [TW_I64] = TW_I64,
        [TW_U8] = TW_U32,     [TW_U16] = TW_U32,    [TW_U32] = TW_U32,  [TW_U64] = TW_U64,
        [TW_F8E4M3] = TW_F32, [TW_F8E5M2] = TW_F32, [TW_BF16] = TW_F32, [TW_F16] = TW_F32,
        [TW_F32] = TW_F32,    [TW_F64] = TW_F64,
    };
    return to[e];
}

tw_elem twi_o_elem(const twi_sema *s, twi_o o) {
    if (o.kind == TWI_O_VALUE)
        return tw_build_elem_of(s->b, o.id);
    return o.kind == TWI_O_INDEX && !o.loose ? TW_I64 : o.kind == TWI_O_BOOL ? TW_BOOL : TW_NONE;
}

const char *twi_o_text(twi_sema *s, twi_o o) {
    static const char *const text[] = {
        [TWI_O_ERROR] = "an error",
        [TWI_O_INT] = "an untyped integer",
        [TWI_O_REAL] = "an untyped constant",
        [TWI_O_BOOL] = "bool",
        [TWI_O_WORD] = "a word",
        [TWI_O_TYPE] = "an element type",
        [TWI_O_INDEX] = "i64",
        [TWI_O_VALUE] = "",
        [TWI_O_TUPLE] = "several values",
    };
    return o.kind == TWI_O_VALUE ? tw_elem_name(twi_o_elem(s, o)) : text[o.kind];
}

bool twi_o_plain(const twi_sema *s, twi_o o, int64_t *k) {
    return o.kind == TWI_O_INT && tw_build_ix_value_of(s->b, o.id, k);
}

tw_num twi_o_num(twi_sema *s, twi_o o) {
    int64_t k;
    if (o.kind == TWI_O_BOOL)
        return tw_build_num_int(s->b, o.flag);
    if (o.kind == TWI_O_REAL)
        return o.id;
    return twi_o_plain(s, o, &k) ? tw_build_num_int(s->b, k) : tw_build_num_ix(s->b, o.id);
}

/* The range of an integer type, as far as 64 signed bits go. */
static bool holds(tw_elem e, int64_t k) {
    unsigned bits = (unsigned)tw_elem_size(e) * 8;
    bool is_signed = e >= TW_I8 && e <= TW_I64;
    if (bits == 64)
        return is_signed || k >= 0;
    int64_t most = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1;
    return k <= most && k >= (is_signed ? -most - 1 : 0);
}

static tw_value constant(twi_sema *s, twi_o o, tw_elem elem, uint32_t at) {
    int64_t k;
    if (o.param) {
        twi_sema_fail(s, TWI_E_PARAM_VALUE, at,
                      "params stand in tile sizes, ranges, extents and `if`",
                      "a param is never a value");
        return 0;
    }
    if (elem == TW_NONE) {
        twi_sema_fail(s, TWI_E_NEEDS_TYPE, at, "write f32(..), or full(.., f32)",
                      "an untyped constant needs a type here");
        return 0;
    }
    if (elem == TW_BOOL || (o.kind == TWI_O_REAL && !twi_is_float_elem(elem))) {
        twi_sema_fail(s, elem == TW_BOOL ? TWI_E_NEEDS_BOOL : TWI_E_BAD_CONSTANT, at,
                      elem == TW_BOOL ? "compare it: `x != 0`"
                                      : "write an integer, or cast the other operand",
                      "%s does not hold this constant", tw_elem_name(elem));
        return 0;
    }
    if (twi_is_int_elem(elem) && twi_o_plain(s, o, &k) && !holds(elem, k)) {
        twi_sema_fail(s, TWI_E_BAD_CONSTANT, at, NULL, "%s does not hold %lld", tw_elem_name(elem),
                      (long long)k);
        return 0;
    }
    return tw_build_const(s->b, elem, twi_o_num(s, o));
}

static tw_value index_value(twi_sema *s, twi_o o, tw_elem elem) {
    tw_value v = tw_build_ix_value(s->b, o.id);
    bool cast = o.loose && v && elem != TW_NONE && elem != TW_I64 && elem != TW_BOOL;
    return cast ? tw_build_cast(s->b, elem, v) : v;
}

tw_value twi_sema_to_value(twi_sema *s, twi_o o, tw_elem elem, uint32_t at) {
    twi_sema_at(s, at);
    switch ((twi_o_kind)o.kind) {
    case TWI_O_ERROR:
        return 0;
    case TWI_O_VALUE:
        return o.id;
    case TWI_O_INT:
    case TWI_O_REAL:
        return constant(s, o, elem, at);
    case TWI_O_BOOL:
        if (!o.param)
            return tw_build_const(s->b, TW_BOOL, tw_build_num_int(s->b, o.flag));
        twi_sema_fail(s, TWI_E_PARAM_VALUE, at,
                      "params stand in tile sizes, ranges, extents and `if`",
                      "a param is never a value");
        return 0;
    case TWI_O_INDEX:
        if (o.param)
            twi_sema_fail(s, TWI_E_PARAM_VALUE, at,
                          "params stand in tile sizes, ranges, extents and `if`",
                          "a param is never a value");
        return o.param ? 0 : index_value(s, o, elem);
    case TWI_O_TUPLE:
        twi_sema_fail(s, TWI_E_TUPLE, at, "take them apart: `a, b = f(x)`",
                      "%u values where one is wanted", o.parts);
        return 0;
    case TWI_O_WORD:
    case TWI_O_TYPE:
        break;
    }
    twi_sema_fail(s, TWI_E_NOT_VALUE, at, NULL, "%s is not a value", twi_o_text(s, o));
    return 0;
}

tw_elem twi_sema_unify(twi_sema *s, const twi_o *o, int n, uint32_t at) {
    tw_elem elem = TW_NONE;
    twi_o first = {0};
    for (int k = 0; k < n; k++) {
        tw_elem e = twi_o_elem(s, o[k]);
        if (o[k].kind == TWI_O_ERROR || (o[k].kind == TWI_O_VALUE && e == TW_NONE))
            return TW_NONE;
        if (e == TW_NONE)
            continue;
        if (elem != TW_NONE && e != elem) {
            twi_sema_fail(s, TWI_E_TYPE_MISMATCH, at,
                          twi_format(s->arena, "one type an operation: cast one, %s(..) or %s(..)",
                                     tw_elem_name(elem), tw_elem_name(e)),
                          "%s and %s in one operation", twi_o_text(s, first), twi_o_text(s, o[k]));
            return TW_NONE;
        }
        elem = e;
        first = o[k];
    }
    bool counts = elem == TW_NONE, loose = false;
    for (int k = 0; k < n; k++) {
        counts = counts && (o[k].kind == TWI_O_INT || o[k].loose);
        loose = loose || o[k].loose;
    }
    if (counts && loose)
        return TW_I64;
    for (int k = 0; k < n && elem == TW_NONE; k++) {
        if (o[k].kind == TWI_O_INT || o[k].kind == TWI_O_REAL || o[k].loose) {
            twi_sema_fail(s, TWI_E_NEEDS_TYPE, at, "write f32(..) around one",
                          "untyped constants alone: the operation has no type");
            return TW_NONE;
        }
        twi_sema_to_value(s, o[k], TW_NONE, at); /* says what it is */
    }
    return elem;
}

/* ---- operators ---- */
typedef enum { R_ARITH, R_DIV, R_INT, R_BITS, R_ORDER, R_EQUAL, R_LOGIC } rule;
static const struct {
    uint8_t rule, op, ix;
    char num;
    const char *sign;
} row[TWI_B_COUNT] = {
    [TWI_B_OR] = {R_LOGIC, TW_OP_OR, 0, 0, "or"},
    [TWI_B_AND] = {R_LOGIC, TW_OP_AND, 0, 0, "and"},
    [TWI_B_EQ] = {R_EQUAL, TW_OP_EQ, 0, 0, "=="},
    [TWI_B_NE] = {R_EQUAL, TW_OP_NE, 0, 0, "!="},
    [TWI_B_LT] = {R_ORDER, TW_OP_LT, 0, 0, "<"},
    [TWI_B_LE] = {R_ORDER, TW_OP_LE, 0, 0, "<="},
    [TWI_B_GT] = {R_ORDER, TW_OP_GT, 0, 0, ">"},
    [TWI_B_GE] = {R_ORDER, TW_OP_GE, 0, 0, ">="},
    [TWI_B_BOR] = {R_BITS, TW_OP_BOR, 0, 0, "|"},
    [TWI_B_BXOR] = {R_BITS, TW_OP_BXOR, 0, 0, "^"},
    [TWI_B_BAND] = {R_BITS, TW_OP_BAND, 0, 0, "&"},
    [TWI_B_SHL] = {R_BITS, TW_OP_SHL, 0, 0, "<<"},
    [TWI_B_SHR] = {R_BITS, TW_OP_SHR, 0, 0, ">>"},
    [TWI_B_ADD] = {R_ARITH, TW_OP_ADD, TW_IX_ADD, '+', "+"},
    [TWI_B_SUB] = {R_ARITH, TW_OP_SUB, TW_IX_SUB, '-', "-"},
    [TWI_B_MUL] = {R_ARITH, TW_OP_MUL, TW_IX_MUL, '*', "*"},
    [TWI_B_DIV] = {R_DIV, TW_OP_DIV, 0, '/', "/"},
    [TWI_B_IDIV] = {R_INT, TW_OP_IDIV, TW_IX_DIV, 0, "//"},
    [TWI_B_MOD] = {R_INT, TW_OP_IMOD, TW_IX_MOD, 0, "%"},
};

static bool compare(twi_b_op op, int64_t a, int64_t b) {
    return op == TWI_B_EQ   ? a == b
           : op == TWI_B_NE ? a != b
           : op == TWI_B_LT ? a < b
           : op == TWI_B_LE ? a <= b
           : op == TWI_B_GT ? a > b
                            : a >= b;
}

static int64_t bits(twi_b_op op, int64_t a, int64_t b) {
    uint64_t u = (uint64_t)a, v = (uint64_t)b;
    uint64_t r = op == TWI_B_BOR    ? (u | v)
                 : op == TWI_B_BXOR ? (u ^ v)
                 : op == TWI_B_BAND ? (u & v)
                 : op == TWI_B_SHL  ? u << (v & 63)
                 : a >= 0           ? u >> (v & 63)
                                    : ~(~u >> (v & 63));
    return r <= INT64_MAX ? (int64_t)r : -(int64_t)(~r) - 1;
}

/* Both untyped constants: exact. */
static twi_o constants(twi_sema *s, twi_b_op op, twi_o a, twi_o b, uint32_t at) {
    bool param = a.param || b.param, ints = a.kind == TWI_O_INT && b.kind == TWI_O_INT;
    int64_t x, y;
    bool plain = twi_o_plain(s, a, &x) && twi_o_plain(s, b, &y);
    unsigned r = row[op].rule;
    if ((r == R_ORDER || r == R_EQUAL) && plain)
        return truth(compare(op, x, y), param);
    if (r == R_ORDER || r == R_EQUAL) {
        if (s->condition) {
            twi_sema_fail(s, TWI_E_NOT_BUILT, at, "conditions of constants and params are",
                          "an 'if' that depends on dims or on fractions is not built yet");
            return twi_error_o();
        }
        tw_elem elem = ints ? TW_I64 : TW_F64;
        tw_value u = twi_sema_to_value(s, a, elem, at), v = twi_sema_to_value(s, b, elem, at);
        return twi_value_o(tw_build_op(s->b, (tw_op)row[op].op, u, v, 0));
    }
    if (r == R_BITS && plain)
        return twi_index_o(TWI_O_INT, tw_build_ix(s->b, bits(op, x, y)), param, false);
    if ((r == R_ARITH || r == R_DIV) && !ints)
        return real(tw_build_num_op(s->b, row[op].num, twi_o_num(s, a), twi_o_num(s, b)), param);
    if (r == R_DIV)
        twi_sema_fail(s, TWI_E_NEEDS_FLOAT, at,
                      "`//` divides integers; `1.0 * a / b` is a fraction",
                      "'/' needs floats: both sides are integers");
    else
        twi_sema_fail(s, TWI_E_CONST_OP, at, "give one a type: i32(..)",
                      "'%s' does not work between these untyped constants", row[op].sign);
    return twi_error_o();
}

static twi_o logic(twi_sema *s, twi_b_op op, twi_o a, twi_o b, uint32_t at) {
    bool both = a.kind == TWI_O_BOOL && b.kind == TWI_O_BOOL;
    if (both)
        return truth(op == TWI_B_OR ? a.flag || b.flag : a.flag && b.flag, a.param || b.param);
    if (twi_o_elem(s, a) != TW_BOOL || twi_o_elem(s, b) != TW_BOOL) {
        twi_o bad = twi_o_elem(s, a) != TW_BOOL ? a : b;
        twi_sema_fail(s, TWI_E_NEEDS_BOOL, at,
                      "'and', 'or', 'not' are for truth values, '& | ~' for bits",
                      "'%s' wants bool, not %s", row[op].sign, twi_o_text(s, bad));
        return twi_error_o();
    }
    tw_value u = twi_sema_to_value(s, a, TW_BOOL, at), v = twi_sema_to_value(s, b, TW_BOOL, at);
    return twi_value_o(tw_build_op(s->b, (tw_op)row[op].op, u, v, 0));
}

static bool rule_holds(twi_sema *s, twi_b_op op, tw_elem e, uint32_t at) {
    unsigned r = row[op].rule;
    const char *sign = row[op].sign;
    if (r == R_DIV && !twi_is_float_elem(e))
        twi_sema_fail(s, TWI_E_NEEDS_FLOAT, at, "integers have '//' and '%'",
                      "'/' needs floats, not %s", tw_elem_name(e));
    else if ((r == R_INT || r == R_BITS) && !twi_is_int_elem(e))
        twi_sema_fail(s, TWI_E_NEEDS_INT, at, NULL, "'%s' needs integers, not %s", sign,
                      tw_elem_name(e));
    else if ((r == R_ARITH || r == R_ORDER) && e == TW_BOOL)
        twi_sema_fail(s, TWI_E_NEEDS_NUMBER, at, "cast it: i32(..)", "'%s' needs numbers, not bool",
                      sign);
    else
        return true;
    return false;
}

static bool single(twi_sema *s, twi_o o, uint32_t at) {
    if (o.kind == TWI_O_ERROR)
        return false;
    if (o.kind != TWI_O_TUPLE && o.kind != TWI_O_TYPE && o.kind != TWI_O_WORD)
        return true;
    twi_sema_to_value(s, o, TW_NONE, at);
    return false;
}

twi_o twi_sema_positions(twi_sema *s, tw_ix_op op, twi_o a, twi_o b) {
    bool untyped = a.kind == TWI_O_INT && b.kind == TWI_O_INT;
    twi_o o = twi_index_o(untyped ? TWI_O_INT : TWI_O_INDEX, tw_build_ix_op(s->b, op, a.id, b.id),
                          a.param || b.param, a.tile || b.tile);
    o.loose = o.kind == TWI_O_INDEX && (a.loose || a.kind == TWI_O_INT) &&
              (b.loose || b.kind == TWI_O_INT);
    return o;
}

twi_o twi_sema_binary(twi_sema *s, twi_b_op op, twi_o a, twi_o b, uint32_t at) {
    bool names = a.kind == b.kind && (a.kind == TWI_O_WORD || a.kind == TWI_O_TYPE);
    unsigned r = row[op].rule;
    if (r == R_EQUAL && names) {
        bool same = a.kind == TWI_O_TYPE ? a.elem == b.elem : a.word == b.word;
        return truth(same == (op == TWI_B_EQ), a.param || b.param);
    }
    if (!single(s, a, at) || !single(s, b, at))
        return twi_error_o();
    if (r == R_LOGIC)
        return logic(s, op, a, b, at);
    if (r == R_EQUAL && a.kind == TWI_O_BOOL && b.kind == TWI_O_BOOL)
        return truth((a.flag == b.flag) == (op == TWI_B_EQ), a.param || b.param);
    bool ia = a.kind == TWI_O_INT || a.kind == TWI_O_INDEX,
         ib = b.kind == TWI_O_INT || b.kind == TWI_O_INDEX;
    twi_sema_at(s, at);
    if (ia && ib && (r == R_ARITH || r == R_INT)) {
        return twi_sema_positions(s, (tw_ix_op)row[op].ix, a, b);
    }
    if ((a.kind == TWI_O_INT || a.kind == TWI_O_REAL) &&
        (b.kind == TWI_O_INT || b.kind == TWI_O_REAL))
        return constants(s, op, a, b, at);
    tw_elem elem = twi_sema_unify(s, (twi_o[]){a, b}, 2, at);
    if (elem == TW_NONE || !rule_holds(s, op, elem, at))
        return twi_error_o();
    tw_value u = twi_sema_to_value(s, a, elem, at), v = twi_sema_to_value(s, b, elem, at);
    twi_sema_at(s, at);
    return twi_value_o(tw_build_op(s->b, (tw_op)row[op].op, u, v, 0));
}

twi_o twi_sema_unary(twi_sema *s, twi_b_op op, twi_o a, uint32_t at) {
    static const tw_op to[TWI_B_COUNT] = {
        [TWI_B_NEG] = TW_OP_NEG, [TWI_B_NOT] = TW_OP_NOT, [TWI_B_BNOT] = TW_OP_BNOT};
    int64_t k;
    if (!single(s, a, at))
        return twi_error_o();
    twi_sema_at(s, at);
    if (op == TWI_B_NOT && a.kind == TWI_O_BOOL)
        return truth(!a.flag, a.param);
    if (op == TWI_B_NEG && (a.kind == TWI_O_INT || a.kind == TWI_O_INDEX))
        return twi_index_o(a.kind, tw_build_ix_op(s->b, TW_IX_SUB, tw_build_ix(s->b, 0), a.id),
                           a.param, a.tile);
    if (op == TWI_B_NEG && a.kind == TWI_O_REAL)
        return real(tw_build_num_op(s->b, 'n', a.id, 0), a.param);
    if (op == TWI_B_BNOT && twi_o_plain(s, a, &k))
        return twi_index_o(TWI_O_INT, tw_build_ix(s->b, -k - 1), a.param, false);
    tw_elem e = twi_o_elem(s, a);
    if (e == TW_NONE && a.kind == TWI_O_VALUE)
        return twi_error_o();
    if (op == TWI_B_NOT && e != TW_BOOL)
        twi_sema_fail(s, TWI_E_NEEDS_BOOL, at, "'~' turns bits", "'not' wants bool, not %s",
                      twi_o_text(s, a));
    else if (op == TWI_B_NEG && e == TW_BOOL)
        twi_sema_fail(s, TWI_E_NEEDS_NUMBER, at, "'not' negates", "'-' needs a number, not bool");
    else if (op == TWI_B_BNOT && !twi_is_int_elem(e))
        twi_sema_fail(s, TWI_E_NEEDS_INT, at, "'not' negates", "'~' needs an integer, not %s",
                      twi_o_text(s, a));
    else
        return twi_value_o(tw_build_op(s->b, to[op], twi_sema_to_value(s, a, e, at), 0, 0));
    return twi_error_o();
}
