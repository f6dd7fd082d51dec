/* SPDX-License-Identifier: Apache-2.0
 * Tilewright: kernels ahead of time. The texts of NAME.h and NAME.c: plain functions on the
 * caller's arrays for a table of shapes, which need gcc or clang and nothing of Tilewright.
 * docs/export.md says what they promise.
 *
 *     options.build = false;                          for each shape: texts alone, no compiler
 *     tw_compile(ctx, ir, &options, &shape[k]);
 *     ..
 *     tw_export_options how = {.name = "softmax"};
 *     tw_exported made;
 *     if (tw_export(ctx, ir, shape, n, &how, &made) == TW_OK)
 *         fputs(made.source, file);
 */
#ifndef TILEWRIGHT_EXPORT_H
#define TILEWRIGHT_EXPORT_H

#include "tilewright/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_export_options {
    const char *name;    /* of the function and the files; NULL: the kernel's */
    const char *program; /* its text, for readers; NULL: left out */
    const char *command; /* how it was made, for readers; NULL: left out */
    const char *verdict; /* what the oracle said of it; NULL: left out */
} tw_export_options;

typedef struct tw_exported {
    const char *name;            /* as in the files */
    const char *header, *source; /* NAME.h, NAME.c */
    const char *isa, *flags;     /* "avx2"; what the compiler must be told: "-march=x86-64-v3" */
    const char *arch;            /* whose compiler it needs: "aarch64"; "": any, or the flags say */
} tw_exported;

/* ir: the program's tile IR, extents open; shape: n of them, made from it by tw_compile for a CPU,
 * arrays dense, all with different extents and one instruction set. Texts live in the context.
 * TW_ERR_INPUT (diagnostics): no n, a name that is no C identifier, another target, shapes that
 * agree, instruction sets that differ. */
TW_API tw_status tw_export(tw_context *ctx, const tw_ir *ir, const tw_compiled *const *shape,
                           size_t n, const tw_export_options *options, tw_exported *out);

/* What the exported code of a shape needs of its caller. */
typedef struct tw_export_figures {
    int64_t steps;                      /* between which all shares meet */
    uint64_t shared_bytes, share_bytes; /* of workspace: of all shares, of each */
} tw_export_figures;
TW_API tw_export_figures tw_export_needs(const tw_compiled *shape);

#ifdef __cplusplus
}
#endif
#endif
