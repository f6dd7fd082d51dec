/* SPDX-License-Identifier: Apache-2.0
 * From tree to tile IR: the walk's own parts. A kernel is built for one choice of its constants;
 * the walk evaluates each expression to an operand: an untyped constant, an index expression, a
 * value, a type, a word, or several of them. Nothing is built that the builder API does not offer.
 */
#ifndef TWI_FRONT_SEMA_H
#define TWI_FRONT_SEMA_H

#include "front/ast.h"

typedef enum {
    TWI_O_ERROR, /* said already */
    TWI_O_INT,   /* untyped integer of numerals, dims, constants: id is a tw_ix */
    TWI_O_REAL,  /* untyped constant: id is a tw_num */
    TWI_O_BOOL,  /* true or false: flag */
    TWI_O_WORD,  /* a constant's word: word, set */
    TWI_O_TYPE,  /* elem */
    TWI_O_INDEX, /* i64 scalar that subscripts and bounds understand: id is a tw_ix */
    TWI_O_VALUE, /* id is a tw_value */
    TWI_O_TUPLE
} twi_o_kind;

typedef struct twi_o twi_o;
struct twi_o {
    uint8_t kind;
    bool flag;
    bool param; /* a param is in it: never a value */
    bool loose; /* INDEX: an extent known at run time: takes the type of what it meets */
    bool tile;  /* INDEX: holds an axis of tiles; in subscripts alone */
    tw_elem elem;
    uint32_t id;
    twi_sym word;
    const twi_const_decl *set;
    const twi_o *part;
    uint32_t parts;
};

typedef enum { TWI_AX_FULL, TWI_AX_INDEX, TWI_AX_BLOCK } twi_ax_kind; /* INDEX: untiled, a scalar */
typedef struct twi_ax {
    tw_axis id;
    uint8_t kind;
    twi_o lo, hi;
    twi_sym name;
} twi_ax;
typedef struct twi_arr {
    tw_array id;
    tw_elem elem; /* as stored */
    tw_role role;
    uint32_t rank;
} twi_arr;

typedef enum { TWI_N_GONE, TWI_N_VAR, TWI_N_CONST, TWI_N_AXIS, TWI_N_ARRAY } twi_n_kind;
typedef struct twi_binding {
    uint8_t kind;
    twi_sym name;
    uint32_t frame, prev; /* what the name meant before; 0: nothing */
    twi_o o;
    const twi_ax *ax;
    const twi_arr *arr;
} twi_binding;

typedef struct twi_sema {
    tw_program *p;
    tw_context *ctx;
    twi_arena *arena;
    tw_builder *b;
    const twi_kernel *k;
    twi_bound *bound;
    TWI_VEC(twi_binding) binding;  /* 0: nothing; newest last */
    TWI_VEC(const twi_ax *) tiles; /* axes of tiles that exist here */
    uint32_t *top;                 /* by symbol: its newest binding */
    uint32_t *mark_of;             /* by symbol: the serial that last collected it */
    bool *ever;                    /* by symbol: was bound somewhere in this kernel */
    uint32_t names, marks;
    uint32_t frame, frames; /* of the function being unfolded; 0: the kernel */
    uint32_t depth, budget; /* nesting of the walk; steps left */
    uint32_t loops;         /* serial and repeat around, in this frame */
    bool index;             /* in a subscript or bound: axes may stand bare */
    bool condition;         /* of an `if` or a tile size */
    bool quiet;             /* errors are not said */
    uint32_t said;          /* diagnostics there were before this build */
    bool scope;             /* inside parallel, or a scope of one instance */
    bool returned;
    twi_o result;
} twi_sema;

/* sema.c: names, errors */
void twi_sema_fail(twi_sema *s, twi_code code, uint32_t at, const char *help, const char *format,
                   ...) TWI_PRINTF(5, 6);
void twi_sema_at(twi_sema *s, uint32_t at);
const char *twi_sema_name(const twi_sema *s, twi_sym name);
const char *twi_sema_quoted(const twi_sema *s, twi_sym name);
const twi_binding *twi_sema_find(const twi_sema *s, twi_sym name); /* NULL: nothing in this frame */
void twi_sema_bind(twi_sema *s, twi_binding binding);
bool twi_sema_may_bind(twi_sema *s, twi_sym name, uint32_t at, bool variable);
void twi_sema_unbind(twi_sema *s, uint32_t bindings, uint32_t tiles);
bool twi_sema_step(twi_sema *s, uint32_t at); /* depth and budget; false: said */
void twi_sema_unknown(twi_sema *s, twi_sym name, uint32_t at, bool function);

/* sema_value.c: operands */
twi_o twi_error_o(void);
twi_o twi_value_o(tw_value v);
twi_o twi_index_o(uint8_t kind, tw_ix ix, bool param, bool tile);
const char *twi_o_text(twi_sema *s, twi_o o);             /* "f32", "an untyped constant" */
tw_elem twi_o_elem(const twi_sema *s, twi_o o);           /* TW_NONE: untyped */
bool twi_o_plain(const twi_sema *s, twi_o o, int64_t *k); /* a plain integer */
tw_num twi_o_num(twi_sema *s, twi_o o);                   /* of INT, REAL, BOOL */
tw_value twi_sema_to_value(twi_sema *s, twi_o o, tw_elem elem,
                           uint32_t at); /* untyped: of this type */
tw_elem twi_sema_unify(twi_sema *s, const twi_o *o, int n, uint32_t at);
tw_elem twi_held(tw_elem elem);   /* type of values of arrays of this type */
tw_elem twi_summed(tw_elem elem); /* accum(T) */
bool twi_is_float_elem(tw_elem elem);
bool twi_is_int_elem(tw_elem elem);
twi_o twi_sema_positions(twi_sema *s, tw_ix_op op, twi_o a, twi_o b); /* of INT and INDEX */
twi_o twi_sema_binary(twi_sema *s, twi_b_op op, twi_o a, twi_o b, uint32_t at);
twi_o twi_sema_unary(twi_sema *s, twi_b_op op, twi_o a, uint32_t at);

/* sema_expr.c, sema_call.c */
twi_o twi_sema_eval(twi_sema *s, const twi_x *x);
twi_o twi_sema_eval_index(twi_sema *s, const twi_x *x); /* axes may stand bare */
bool twi_sema_subscripts(twi_sema *s, const twi_x *access, const twi_arr *arr, tw_subscript *at);
twi_o twi_sema_load(twi_sema *s, const twi_x *access, const twi_arr *arr, const twi_x *outside);
twi_o twi_sema_call(twi_sema *s, const twi_x *x);
const twi_ax *twi_sema_axis_named(twi_sema *s, const twi_x *x); /* NULL: said */
tw_order twi_sema_order_word(twi_sema *s, const twi_x *x);
bool twi_sema_condition(twi_sema *s, const twi_x *x,
                        bool *truth); /* false: not decided, said unless quiet */

/* sema_stmt.c, sema_loop.c, sema_head.c */
void twi_sema_block(twi_sema *s, twi_list list);
void twi_sema_if(twi_sema *s, const twi_s *st, void (*walk)(twi_sema *, twi_list));
void twi_sema_repeat(twi_sema *s, const twi_s *st, void (*walk)(twi_sema *, twi_list));
bool twi_sema_range(twi_sema *s, const twi_span *span, bool launch, tw_range *out, twi_ax *ax);
void twi_sema_declare_axis(twi_sema *s, const twi_ax *ax, uint32_t at);
void twi_sema_serial(twi_sema *s, const twi_s *st);
bool twi_sema_head(twi_sema *s); /* false: excluded by `requires` */

#endif
