/* SPDX-License-Identifier: Apache-2.0
 * Tilewright: programs in the tile language (.tile). Parse a text, see what its kernels declare,
 * and build the tile IR of one kernel for one choice of types, constants and params.
 */
#ifndef TILEWRIGHT_PROGRAM_H
#define TILEWRIGHT_PROGRAM_H

#include "tilewright/build.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_program tw_program; /* owned by its context */

/* name is for messages. NULL: diagnostics say why. The text is copied. */
TW_API tw_program *tw_program_parse(tw_context *ctx, const char *name, const char *text, size_t n);
TW_API size_t tw_program_kernels(const tw_program *p);
TW_API const char *tw_program_kernel(const tw_program *p, size_t kernel); /* its name */

/* What a kernel declares, in order of declaration. */
typedef enum tw_decl_kind {
    TW_DECL_TYPE,
    TW_DECL_CONST,
    TW_DECL_PARAM,
    TW_DECL_DIM,
    TW_DECL_SCALAR,
    TW_DECL_ARRAY
} tw_decl_kind;
typedef struct tw_decl {
    tw_decl_kind kind;
    const char *name;
    size_t choices;            /* TYPE, CONST, PARAM: size of the set; CONST with `= 1`: 1 */
    const char *const *choice; /* their texts: "f32", "true", "64", "relu" */
    bool open;                 /* CONST with a default: any value of its kind may be set */
    tw_elem elem;              /* SCALAR, ARRAY; TW_NONE where it is one of the TYPE names: */
    const char *elem_name;     /* ARRAY, SCALAR: "T" or "f32" */
    tw_role role;              /* ARRAY */
    bool has_default;          /* SCALAR */
    const char *const *dims;   /* ARRAY: text of each dim, rank of them */
    int rank;
} tw_decl;
TW_API size_t tw_program_decls(const tw_program *p, size_t kernel);
TW_API const tw_decl *tw_program_decl(const tw_program *p, size_t kernel, size_t k);

/* Values for types, constants and params by name; what is left out: params and constants with a
 * default take it (a set's first), a TYPE or CONST set with one choice takes that, otherwise an
 * error names it. Unknown names and values outside their set are errors with the nearest name.
 * NULL: diagnostics. */
typedef struct tw_binding {
    const char *name, *value;
} tw_binding;
TW_API tw_ir *tw_program_build(tw_program *p, size_t kernel, const tw_binding *bindings, size_t n);

/* All combinations of types and constants of all kernels (params at each choice too), every rule,
 * both branches of each `if`; false if there are errors. What `tilewright check` runs. */
TW_API bool tw_program_check(tw_program *p);

#ifdef __cplusplus
}
#endif
#endif
