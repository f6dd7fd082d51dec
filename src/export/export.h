/* SPDX-License-Identifier: Apache-2.0
 * What is written: one kernel at one choice of types, for a table of shapes. Each shape has a plan
 * of its own, so loop IR, temporaries and steps of its own; arguments are common to all.
 *
 * A step is what shares may do at once: a launch, or fills that stand together. Steps are numbered
 * as a recipe runs, its loops written out.
 */
#ifndef TWI_EXPORT_EXPORT_H
#define TWI_EXPORT_EXPORT_H

#include "compile/path.h"
#include "tilewright/export.h"

typedef struct {
    const tw_compiled *from;
    const twi_loop *loop; /* legalized; functions under their names in NAME.c */
    const char *extents;  /* "M=32 N=32 K=32" */
    uint32_t entries;     /* set of those whose facts can hold on dense arrays */
    int64_t steps;
    uint64_t *temp;                     /* by array id: offset of a temporary in the workspace */
    uint64_t shared_bytes, share_bytes; /* of workspace */
} twi_export_shape;

typedef struct {
    tw_context *ctx;
    twi_arena *arena;
    const tw_ir *ir; /* extents open */
    const tw_export_options *options;
    const char *name, *upper; /* "softmax", "SOFTMAX" */
    const twi_cpu_machine *machine;
    unsigned extras;          /* set of twi_cpu_extras that the code uses */
    const char *flags, *test; /* the machine's and those of the extras */
    twi_export_shape *shape;
    uint32_t n;
    bool workspace; /* some shape needs one */
    bool indexes;   /* an index can leave its array */
} twi_export;

/* shape.c */
void twi_export_measure(twi_arena *arena, const twi_loop *loop, twi_export_shape *s);
uint64_t twi_export_bytes(const twi_loop *loop, uint32_t array);
/* Steps of the recipe's items from..to-1. */
int64_t twi_export_steps(const twi_entry *entry, uint32_t from, uint32_t to);
uint32_t twi_export_end(const twi_entry *entry, uint32_t at); /* the END of a LOOP */
uint32_t twi_export_fills(const twi_entry *entry, uint32_t from, uint32_t to); /* behind them */

/* parameters.c: the parameters that all functions share */
const char *twi_export_type(tw_elem elem);
void twi_export_dims(const twi_export *x, twi_sb *out);   /* "int64_t n_M, int64_t n_N" */
void twi_export_arrays(const twi_export *x, twi_sb *out); /* ", const float *a_A, .." and scalars */
void twi_export_shape_text(const twi_export *x, uint32_t id, twi_sb *out);    /* "[M, K]" */
const char *twi_export_given(const twi_export *x, char prefix, twi_sym name); /* "a_A" */

/* header.c, source.c */
void twi_export_header(const twi_export *x, twi_sb *out);
void twi_export_source(const twi_export *x, twi_sb *out);
void twi_export_quote(twi_sb *out, const char *indent, const char *text); /* lines of a comment */
/* steps.c: a function that does one step of a shape */
void twi_export_stepper(const twi_export *x, uint32_t shape, twi_sb *out);

#endif
