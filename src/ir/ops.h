/* SPDX-License-Identifier: Apache-2.0
 * Operation numbers and what the tables say of each. elementwise.def rows are shared with loop IR
 * (same numbers); tile.def rows follow.
 */
#ifndef TWI_IR_OPS_H
#define TWI_IR_OPS_H

#include "tilewright/types.h"

typedef enum twi_op {
    TWI_NOP = 0,
#define TWI_OP(NAME, spelling, arity, rule, price, built) TWI_##NAME,
#include "ir/elementwise.def"
#undef TWI_OP
    TWI_ELEMENTWISE_END, /* loop IR's own operations start here too */
#define TWI_TILE(NAME, spelling, kind) TWI_##NAME,
#include "ir/tile.def"
#undef TWI_TILE
    TWI_TILE_END
} twi_op;

typedef enum {
    TWI_KIND_LEAF,
    TWI_KIND_LOCAL,
    TWI_KIND_FOLD,
    TWI_KIND_ORDER, /* over one axis that the result keeps */
    TWI_KIND_EFFECT,
    TWI_KIND_REGION
} twi_kind;
typedef enum {
    TWI_RULE_ARITH,   /* one numeric type, result the same */
    TWI_RULE_FLOAT,   /* one float type, result the same */
    TWI_RULE_INT,     /* one integer type, result the same */
    TWI_RULE_BOOL,    /* bools */
    TWI_RULE_COMPARE, /* one type, result bool */
    TWI_RULE_SELECT,  /* bool, T, T -> T */
    TWI_RULE_CAST,    /* any to any */
    TWI_RULE_BITS     /* same size */
} twi_rule;
typedef enum {
    TWI_PRICE_FREE,
    TWI_PRICE_CHEAP,
    TWI_PRICE_DIV,
    TWI_PRICE_FUNC,
    TWI_PRICES
} twi_price;
typedef enum {
    TWI_ID_NONE,
    TWI_ID_ZERO,
    TWI_ID_NEG_ZERO,
    TWI_ID_ONE,
    TWI_ID_LEAST,
    TWI_ID_GREATEST,
    TWI_ID_FALSE,
    TWI_ID_TRUE
} twi_identity;
/* Orders of a fold (docs/numerics.md). */
typedef enum {
    TWI_ORDER_DEFAULT = 0, /* what the kernel's numerics block says; never in finished IR */
    TWI_ORDER_FREE,
    TWI_ORDER_TREE,
    TWI_ORDER_LEFT,
    TWI_ORDER_RIGHT,
    TWI_ORDER_CANONICAL
} twi_order_kind;

typedef struct {
    const char *name; /* spelling */
    uint8_t arity, kind, rule, price, built;
} twi_op_info;
typedef struct {
    uint8_t merge; /* elementwise twi_op, TWI_NOP where the state has a rule of its own */
    uint8_t identity, order_free;
    uint8_t states; /* components of the state */
} twi_monoid;

/* Flags of an order operation (attr): the value before the element; from the last element on. */
enum { TWI_SCAN_EXCLUSIVE = 1, TWI_SCAN_REVERSE = 2 };

extern const twi_op_info twi_op_rows[TWI_TILE_END];        /* TWI_NOP's is that of what is none */
static inline const twi_op_info *twi_op_row(unsigned op) { /* of any tile IR operation */
    const twi_op_info *row = &twi_op_rows[op < TWI_TILE_END ? op : TWI_NOP];
    return row->name ? row : &twi_op_rows[TWI_NOP];
}
twi_op twi_op_named(const char *spelling);    /* elementwise rows only; TWI_NOP if unknown */
const twi_monoid *twi_monoid_of(unsigned op); /* NULL if op is no fold and no scan */
bool twi_has_bracket(unsigned op);            /* folds and order operations name axes: ins.fold */
bool twi_is_access(unsigned op);              /* load, store, atomic: attr is an access */

/* Does this release build the type? */
bool twi_elem_is_built(tw_elem elem);
/* What a fold of this element type accumulates in (numerics.md: accum(T)); TW_NONE where none. */
tw_elem twi_accum(tw_elem elem);
bool twi_is_float(tw_elem elem);
bool twi_is_int(tw_elem elem);    /* signed or unsigned, not bool */
bool twi_is_signed(tw_elem elem); /* ints */
/* The type that values of arrays of this type have in a program: f32 for narrower floats. */
tw_elem twi_value_elem(tw_elem storage);
/* Bit pattern of an identity in the (accumulator's) element type, in the low bytes. */
uint64_t twi_identity_bits(twi_identity id, tw_elem elem);

#endif
