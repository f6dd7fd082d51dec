/* SPDX-License-Identifier: Apache-2.0
 * What a C-family language says: spellings as data, and what the emitter's files share. A dialect
 * is tables of templates; the emitter fills them in and prints a prelude part (a typedef or a
 * helper macro) the first time that a template names it.
 *
 * Templates: $0 $1 $2 operands; $T result type, $S type of operand 0, $I $U signed and unsigned
 * integers of its width, $E its element type, $R the result's element type, $N lanes of the C
 * vector, $C lanes of the value, $B bits of an element, $W bits - 1, $Z its bytes, $F suffix of a
 * function of floats, $J $V $Y x86's feature, suffix and last arguments of a builtin on it, $P $D
 * suffix and last argument of one that has a mask at every size, $L $H limits of a float to int
 * cast (exact floats), $A $M least and greatest integer of the result; $Q how a helper function
 * opens; $G what stands before the type of an argument's elements behind a pointer, $K compare and
 * swap of it; @name helper of the prelude for operand 0's type; @@ in a
 * helper: its own name.
 */
#ifndef TWI_EMIT_DIALECT_H
#define TWI_EMIT_DIALECT_H

#include "emit/emit.h"

typedef enum {
    TWI_CLASS_BOOL,
    TWI_CLASS_SINT,
    TWI_CLASS_UINT,
    TWI_CLASS_FLOAT,
    TWI_CLASSES
} twi_class;

/* Both spellings of one operation for one class of operands; NULL: not spoken. */
typedef struct {
    const char *scalar, *vector;
} twi_words;

/* An operation on numbers of 32 and of 64 bits. */
typedef struct {
    const char *narrow, *wide;
} twi_sized;
/* What atomics do, as indices of a dialect's `merge`. */
typedef enum { TWI_MERGE_ADD, TWI_MERGE_MIN, TWI_MERGE_MAX, TWI_MERGES } twi_merge_kind;

/* A helper: its text for operands of some classes (a set of 1 << class), scalar or vector. In C
 * they are macros: a redefinition with the same text is legal, so that several modules may share a
 * translation unit, and no vector is ever passed by value. `two`: depends on the result type too.
 */
typedef struct {
    const char *name;
    uint8_t classes;
    bool vector, two;
    const char *text;
    const char
        *wide; /* for vectors of 16, 32 or 64 bytes with lanes of 2 bytes at least; NULL: text */
} twi_part;

struct twi_emitter;
/* How a function stands around its body: C has entries over a range of groups (head_c.c), SIMT
 * languages kernels that every worker runs (head_simt.c). */
typedef struct {
    void (*signature)(struct twi_emitter *e, uint32_t func, twi_sb *out);
    void (*open)(struct twi_emitter *e, twi_sb *out); /* from the brace to the body */
    const char *close, *end; /* of what is around the body; of the function */
    const char *call; /* all behind the signature where an earlier function, %s, does the same;
                         NULL: the language calls no function of this kind */
    unsigned depth;   /* of the body's lines */
    const char *(*argument)(struct twi_emitter *e, twi_lid v); /* LSCALAR, STRIDE, TRIP, ID */
    const char *(*stride)(struct twi_emitter *e, uint32_t object, unsigned dim); /* run-time ones */
    void (*declare)(struct twi_emitter *e, uint32_t object, const char *name);
} twi_hooks;

/* What only SIMT languages have. */
typedef struct {
    const char *function;   /* how a helper opens: $Q */
    const char *kernel;     /* how a kernel opens: $0 workers a group */
    const char *array;      /* a parameter: $0 "const " or nothing, $T, $1 name */
    bool offsets;           /* arguments are whole buffers: where element 0 stands is told apart */
    const char *group;      /* number of the group in this launch */
    const char *worker;     /* number of the worker in its group */
    const char *lane, *sub; /* of a worker in subgroups of several; NULL: from its number */
    const char *lanes;      /* before the kernel: subgroups of $1 lanes; NULL: always so */
    const char *subgroups;  /* line before the first function with such; NULL: none */
    const char *shared;     /* an object of the group: $T, $0 name, $1 elements, $2 byte offset */
    const char *shared_all; /* line before the first of them; NULL: none */
    const char *space[TWI_OBJ_SCRATCH + 1]; /* of a pointer into an object, by its kind */
    const char *barrier[2];                 /* by twi_barrier_scope */
    twi_words lane_xor, lane_read;          /* $0 value, $1 mask or lane, $2 lanes of a subgroup */
    twi_words lane_up, lane_down;           /* likewise, $1 by how many */
    const char *global;                     /* $G */
    twi_sized swap;                         /* $K */
    const char *async_part; /* helper tw_async%u(to, from, real bytes): %s the copy's own word, %u
                               bytes; NULL: asynchronous copies are not spoken */
    const char *async_commit, *async_wait; /* statements; %u: batches that may be under way */
    const char *doubles;                   /* line before the first function with f64; NULL: none */
    const char *wide_atomics;              /* likewise, with atomics of 64 bits */
} twi_simt_words;

struct twi_dialect {
    const char *name;
    const char *opening; /* of a module */
    const twi_hooks *hooks;
    const twi_simt_words *simt;                     /* NULL: explicit lanes */
    const char *type[TW_ELEMS];                     /* scalar spellings; NULL: not spoken */
    twi_words op[TWI_ELEMENTWISE_END][TWI_CLASSES]; /* CAST and SELECT: by the table below */
    twi_words to_bool, from_bool, convert, saturate, bitcast, select; /* casts by what they do */
    twi_words widen_f16, widen_bf16, narrow_f16, narrow_bf16; /* to and from f32, which caps say are
                                                                 spoken */
    twi_words widen_u16, narrow_u32; /* u16 to u32 and back, which narrow floats go by; NULL: as
                                        other casts */
    twi_words greater, less; /* $0 > $1 ? $0 : $1 and $0 < $1 ? $0 : $1 of f32, which give $1 where
                                there is a NaN; NULL: by comparison and choice */
    const char *test[TWI_GE - TWI_EQ + 1]; /* comparisons of whole vectors of 32-bit numbers, by
                                              operation: what `blend` takes; NULL: none */
    const char *blend;                     /* $0 such: $1 where it holds, else $2 */
    const char
        *over; /* vector of floats / a scalar: $0 / $1, which is a vector of $2; NULL: as / */
    twi_words wrap[TWI_ELEMENTWISE_END]; /* signed ones whose overflow the language leaves open;
                                            index arithmetic has none and goes by `op` */
    const char *dots[TWI_CLASSES];       /* $0 $1 $2, by the class of the result; explicit lanes */
    const char *row_dots;                /* likewise, of boxes of several groups */
    const char *tiles;   /* part: nests of these whole, by an instruction (tiles.c); NULL: none */
    const char *untiled; /* line at the end of a function with such */
    const twi_sized (*merge)[TWI_CLASSES]; /* atomics, by twi_merge_kind: $0 pointer, $1 value */
    const twi_part *part;                  /* ends with a row without name */
    const twi_part *own;                   /* before these; NULL: none */
    const twi_part *single;                /* before all, where operand 0 has no more than 32 bits;
                                              NULL: none */
    const char *wide_suffix;               /* of a 64-bit literal */
    const char *suffix;                    /* $F: of a function of floats */
    const char *infinity;                  /* $F */
    const char *pattern[2];                /* a float, a double by its bits $0 */
    /* explicit lanes */
    const char *vector_type; /* typedef: $E element, $0 name, $1 bytes, $2 elements; SIMT: a
                                structure of them, `e` */
    const char *access_type; /* typedef of a vector in memory: $T, alignment $Z */
    const char *parameters;  /* of an entry */
    const char *linkage;     /* how a function opens; NULL: any caller's */
    /* any */
    const char *unroll;   /* line before a loop that must be unrolled, $C: trips */
    const char *loop;     /* line before any other loop, $C: copies of its body at most; NULL */
    unsigned unroll_most; /* of more trips the compiler decides; 0: no limit */
    const char
        *guarded; /* how an element is read behind a test: %s type, %s element. gcc 12 at -O2 has
                     read all lanes of such a loop, also beyond the array. NULL: as it is */
    const char *stream;   /* stores $0 at $1 past the caches; NULL: as any other */
    const char *streamed; /* line after the last group that did: others see it all */
    const char *ahead[2]; /* asks for what is used later: of scratch, of arrays, which are farther;
                             %s object, %s offset, %u elements; NULL */
    const char *unroll_part; /* helper that it needs; NULL: none */
};

/* A value as text. */
typedef struct {
    const char *text; /* a name, a literal or a parenthesised expression */
    uint32_t uses;
    uint8_t mask; /* bool vectors: bytes of a lane, all ones or zero */
    bool literal;
    bool apart; /* an access, or the part of a copy that loads: its sums are taken apart */
} twi_spelled;

typedef enum {
    TWI_USES_SCALAR = 1,
    TWI_USES_STRIDE = 2,
    TWI_USES_TRIP = 4,
    TWI_USES_SCRATCH = 8
} twi_parameter;

typedef struct twi_emitter {
    const twi_loop *loop;
    const twi_func *f;
    const twi_dialect *d;
    twi_arena *arena;
    twi_sb head; /* prelude parts that the current function needs first */
    twi_sb body;
    unsigned depth;
    twi_spelled *value;             /* by instruction */
    const char **object;            /* by object; NULL: not used yet */
    bool *idle;                     /* by object: private, and no value is read from it */
    TWI_VEC(const char *) have;     /* keys of printed parts */
    TWI_VEC(const char *) prologue; /* lines at the top of the function, in order of first use */
    TWI_VEC(const char *) locals;   /* likewise, at the top of a group */
    unsigned parameters;            /* used: set of twi_parameter */
    bool streams;                   /* the current function stores past the caches */
    bool tiled;                     /* it has nests by tiles */
    twi_lid zeroed;                 /* loop by tiles whose sums the text before left to them */
    twi_lid moved;                  /* nest that moves sums which tiles have stored elsewhere */
    const char **inside;            /* by function: what stands behind its signature */
} twi_emitter;

/* Operands of one template. */
typedef struct {
    tw_elem from, to;
    unsigned count, mask; /* mask: bytes of a lane where from or to is bool */
    const char *arg[4];
} twi_spell;

/* parts.c */
twi_class twi_class_of(tw_elem elem);
unsigned twi_lanes(unsigned count); /* of the C vector: the next power of two */
const char *twi_ctype(twi_emitter *e, tw_elem elem, unsigned count, unsigned mask);
const char *twi_access_type(twi_emitter *e, tw_elem elem, unsigned count, unsigned align);
const char *twi_expand(twi_emitter *e, const char *text, const twi_spell *s); /* NULL: not spoken */
bool twi_need(twi_emitter *e, const char *key); /* true the first time */

/* names.c */
const char *twi_value_text(twi_emitter *e, twi_lid v); /* the name that a value's variable gets */
const char *twi_object_text(twi_emitter *e, uint32_t object); /* declares it on first use */
const char *twi_literal(twi_emitter *e, tw_elem elem, uint64_t bits);
void twi_once(twi_emitter *e,
              const char *line); /* adds a line to the prologue unless it is there */

const char *twi_object_type(twi_emitter *e, uint32_t object); /* of one of its elements */
uint64_t twi_object_elements(const twi_object *o);

/* head_c.c, head_simt.c, dialect_simt.c */
extern const twi_hooks twi_hooks_c, twi_hooks_simt;
extern const twi_part twi_simt_parts[];

/* expr.c: what a value's variable is initialised with; NULL: it was spelled as an expression or
 * needs no text */
const char *twi_expression(twi_emitter *e, twi_lid v);
const char *twi_mask_text(twi_emitter *e, twi_lid v,
                          unsigned bytes); /* a bool vector with lanes of that width */

/* Is v "lane number < a scalar" (the guard of an edge)? Then that scalar; else 0. Such a mask needs
 * no 64-bit lanes. */
twi_lid twi_below(const twi_func *f, twi_lid v);

/* Is v the greater or less of two, its operands 1 and 2, in the dialect's own word: a > b ? a : b,
 * and x < k ? k : x, which is k > x ? k : x? Then the comparison is not printed for it. */
bool twi_is_extreme(const twi_emitter *e, twi_lid v, bool *greater);
/* The comparison by which v chooses, where the dialect has words for both together, `test` and
 * `blend`; 0: none. Its operands are used then, and not its value. */
twi_lid twi_chosen_by(const twi_emitter *e, twi_lid v);

/* access.c: whole statements */
/* The terms of an index as accesses print it: values times constants. */
#define TWI_INDEX_TERMS 16
typedef struct {
    twi_lid value;
    int64_t factor;
} twi_index_term;
unsigned twi_index_terms(const twi_func *f, twi_lid index, bool apart, twi_index_term *out);
void twi_emit_load(twi_emitter *e, twi_lid v);
const char *twi_emit_address(twi_emitter *e, twi_lid load); /* of its first element */
void twi_emit_store(twi_emitter *e, twi_lid v);
void twi_emit_async(twi_emitter *e, twi_lid v);
bool twi_in_scratch(const twi_object *o);
uint64_t twi_object_bytes(const twi_object *o);

/* tiles.c: is the loop a nest of dots that tiles hold? Then it is printed so, */
bool twi_emit_tiles(twi_emitter *e, twi_lid loop);
/* is the unrolled nest one that sets the sums of the next loop's tiles to 0, or moves those of the
 * last one? Then it is printed for compilers without tiles: tiles start so, and are stored there.
 */
bool twi_emit_beside(twi_emitter *e, twi_lid fill);

/* emit.c */
void twi_emit_body(twi_emitter *e, twi_lid first); /* statements */
void twi_emit_value(twi_emitter *e, twi_lid v);    /* a value's variable */
void twi_emit_open(twi_emitter *e, twi_lid v);     /* a loop's head, as a line */
void twi_unrolled(twi_emitter *e, unsigned trips); /* line before a loop that must be unrolled */
void twi_line(twi_emitter *e, const char *format, ...)
    TWI_PRINTF(2, 3); /* indented, newline added */

#endif
