/* SPDX-License-Identifier: Apache-2.0
 * The tile language as a tree: what the parser makes and sema walks. Nodes live in the program's
 * arena and are never changed once parsed. `at` is a byte offset in the file. Every expression's
 * depth is at most TWI_MAX_DEPTH, blocks nest at most TWI_MAX_BLOCKS deep: walks over the tree may
 * recurse.
 */
#ifndef TWI_FRONT_AST_H
#define TWI_FRONT_AST_H

#include "base/context.h"
#include "tilewright/program.h"

enum { TWI_MAX_DEPTH = 500, TWI_MAX_BLOCKS = 48, TWI_MAX_NAME = 255, TWI_MAX_CHOICES = 64 };

typedef enum twi_code {
#define TWI_DIAG(NAME, code, title) TWI_E_##NAME = code,
#include "front/diag.def"
#undef TWI_DIAG
    TWI_E_END
} twi_code;

/* ---- expressions ---- */
typedef enum {
    TWI_X_NAME,   /* name */
    TWI_X_NUMBER, /* text; also inf and nan */
    TWI_X_BOOL,   /* flag */
    TWI_X_UNARY,  /* op a */
    TWI_X_BINARY, /* a op b */
    TWI_X_CALL,   /* name [item ..] (arg .., word = expr ..) */
    TWI_X_ACCESS, /* a [item ..] */
    TWI_X_ELSE,   /* a (an access) else b */
    TWI_X_TUPLE   /* (arg, ..) */
} twi_x_kind;

typedef enum {
    TWI_B_OR,
    TWI_B_AND,
    TWI_B_NOT,
    TWI_B_EQ,
    TWI_B_NE,
    TWI_B_LT,
    TWI_B_LE,
    TWI_B_GT,
    TWI_B_GE,
    TWI_B_BOR,
    TWI_B_BXOR,
    TWI_B_BAND,
    TWI_B_SHL,
    TWI_B_SHR,
    TWI_B_ADD,
    TWI_B_SUB,
    TWI_B_MUL,
    TWI_B_DIV,
    TWI_B_IDIV,
    TWI_B_MOD,
    TWI_B_NEG,
    TWI_B_BNOT,
    TWI_B_COUNT
} twi_b_op;

typedef struct twi_x twi_x;
typedef struct twi_item { /* in [ ]: x, or x: y, or x -> y */
    twi_x *x, *y;
    bool arrow;
} twi_item;
typedef struct twi_option { /* order = canonical */
    twi_sym name;
    uint32_t at;
    twi_x *value;
} twi_option;
struct twi_x {
    uint8_t kind, op;
    bool flag; /* BOOL: its value; NUMBER: an integer */
    uint16_t depth;
    uint32_t at;
    twi_sym name;
    const char *text;
    twi_x *a, *b;
    twi_item *item;
    twi_x **arg;
    twi_option *option;
    uint32_t items, args, options;
};

/* ---- statements ---- */
typedef enum {
    TWI_S_ASSIGN,   /* target, .. = value, or += */
    TWI_S_STORE,    /* access = value [when c] */
    TWI_S_ATOMIC,   /* a call with an effect */
    TWI_S_AXIS,     /* range */
    TWI_S_PARALLEL, /* range, .. { body } */
    TWI_S_SERIAL,
    TWI_S_REPEAT,
    TWI_S_IF,    /* value { body } else { other } */
    TWI_S_RETURN /* value */
} twi_s_kind;

typedef struct twi_span { /* name: [lo ..] hi [tile block] */
    twi_sym name;
    uint32_t at;
    twi_x *lo, *hi, *block;
} twi_span;
typedef struct twi_target {
    twi_sym name; /* 0: `_` */
    uint32_t at;
} twi_target;
typedef struct twi_s twi_s;
typedef struct twi_list {
    twi_s **at;
    uint32_t n;
} twi_list;
struct twi_s {
    uint8_t kind;
    bool plus; /* += */
    uint32_t at;
    twi_target *target;
    twi_span *span;
    uint32_t targets, spans;
    twi_x *access, *value, *when;
    twi_list body, other;
};

/* ---- declarations ---- */
typedef enum { TWI_C_TYPE, TWI_C_BOOL, TWI_C_INT, TWI_C_WORD } twi_c_kind;
typedef struct twi_choice { /* one member of a set */
    uint8_t kind;
    uint32_t at;
    tw_elem elem;
    int64_t number; /* INT, BOOL */
    twi_sym word;   /* WORD, TYPE */
    const char *text;
} twi_choice;
typedef struct twi_const_decl { /* T in {..} | S = 1 */
    twi_sym name;
    uint32_t at;
    bool open;
    twi_choice *choice;
    uint32_t choices;
} twi_const_decl;
typedef struct twi_array_decl {
    twi_sym name, type;
    uint32_t at, type_at;
    tw_role role;
    twi_x **dim;
    uint32_t rank;
    bool scalar;    /* no [ ] at all */
    twi_x *initial; /* default of a scalar, fill of an out */
} twi_array_decl;
typedef struct twi_dyn_decl {
    twi_sym name;
    uint32_t at;
} twi_dyn_decl;

typedef struct twi_fn {
    twi_sym name;
    uint32_t at;
    twi_target *axis, *param;
    uint32_t axes, params;
    twi_list body; /* `= e` is { return e } */
    uint8_t seen;  /* for the search for recursion */
    bool used;     /* some kernel called it */
    uint16_t height;
} twi_fn;
typedef struct twi_kernel {
    twi_sym name;
    uint32_t at;
    TWI_VEC(twi_const_decl) constant, param;
    TWI_VEC(twi_array_decl) argument, temp;
    TWI_VEC(twi_dyn_decl) dyn;
    TWI_VEC(twi_x *) fact;
    TWI_VEC(twi_option) numerics;
    twi_list body;
    TWI_VEC(tw_decl) decl; /* decl.c */
} twi_kernel;

struct tw_program {
    tw_context *ctx;
    twi_arena *arena;
    const char *text;
    size_t n;
    uint32_t file;
    TWI_VEC(twi_fn *) fn;
    TWI_VEC(twi_kernel *) kernel;
    twi_fn **fn_of; /* by symbol */
    uint32_t fn_ofs;
};

/* ---- words.c ---- */
typedef enum {
    TWI_W_NONE,
    TWI_W_OP,
    TWI_W_FOLD,
    TWI_W_SCAN,
    TWI_W_DOT,
    TWI_W_SPECIAL,
    TWI_W_LATER,
    TWI_W_ATOMIC,
    TWI_W_TYPE
} twi_w_kind;
typedef struct twi_word { /* a built-in function or type */
    const char *name;
    uint8_t kind, arity;
    int value; /* OP: tw_op, FOLD: tw_fold, SCAN: tw_scan, ATOMIC: tw_atomic, TYPE: tw_elem */
} twi_word;
const twi_word *twi_word_of(const char *name); /* NULL: no built-in */
size_t twi_words(void);
const twi_word *twi_word_at(size_t k);
bool twi_elem_built(tw_elem elem);                     /* the types that this release builds */
const char *twi_quote(twi_arena *a, const char *name); /* 'name', long ones cut */
/* The nearest of the names offered one by one; best stays NULL while none is near. */
typedef struct twi_nearest {
    const char *wanted, *best;
    unsigned distance;
} twi_nearest;
void twi_nearest_init(twi_nearest *near, const char *wanted);
void twi_nearest_offer(twi_nearest *near, const char *name);
void twi_nearest_words(twi_nearest *near, bool types); /* offers the built-ins */
const char *twi_nearest_help(const twi_nearest *near,
                             twi_arena *a); /* "did you mean 'x'?" or NULL */

/* ---- parse.c, decl.c ---- */
bool twi_parse_program(tw_program *p); /* false: diagnostics */
bool twi_declare(tw_program *p);       /* names, sets, dims; functions without recursion */
const char *twi_x_text(const tw_program *p,
                       const twi_x *x); /* an expression as it would be written */

/* ---- sema.c, resolve.c ---- */
typedef struct twi_bound { /* the choices of one build: by position in constant, param */
    const twi_choice *constant, *param;
    const char *note;
    twi_arena *scratch; /* for the walk; reset by the caller */
    bool probe;         /* in: a choice that `requires` rules out is no error .. */
    bool excluded;      /* out: .. but this */
} twi_bound;
/* *builder is set while one is open: who catches an out-of-memory jump abandons it. */
tw_ir *twi_sema_kernel(tw_program *p, const twi_kernel *k, twi_bound *bound, tw_builder **builder);
void twi_resolve_functions(tw_program *p); /* names in functions that no kernel calls */

#endif
