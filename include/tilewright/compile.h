/* SPDX-License-Identifier: Apache-2.0
 * Tilewright: the path from tile IR to a kernel, and the text of every stage on it.
 *
 *     tw_compile_options options = tw_compile_options_defaults();
 *     tw_dim_value dims[] = {{"R", 128}, {"W", 1024}};
 *     options.dims = dims, options.n_dims = 2;
 *     tw_compiled *compiled;
 *     if (tw_compile(ctx, ir, &options, &compiled) != TW_OK)
 *         fputs(tw_diag_text(ctx, false), stderr);
 *     tw_kernel *kernel = tw_compiled_kernel(compiled);      run.h says how it is run
 *     ..
 *     tw_compiled_release(compiled);                         and its kernel with it
 *
 * A context is one thread's at a time; a kernel may be run by several threads at once.
 */
#ifndef TILEWRIGHT_COMPILE_H
#define TILEWRIGHT_COMPILE_H

#include "tilewright/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_compiled tw_compiled;
typedef struct tw_dim_value {
    const char *name;
    int64_t value;
} tw_dim_value;

/* Steps of the path, and what their texts are. */
typedef enum tw_stage {
    TW_STAGE_TILE,
    TW_STAGE_PLAN,
    TW_STAGE_LOOP,
    TW_STAGE_CAPS,
    TW_STAGE_SOURCE,
    TW_STAGES
} tw_stage;
TW_API const char *tw_stage_name(tw_stage stage); /* "tile" */

/* A text with the name that messages give it. text NULL: left out. */
typedef struct tw_source {
    const char *name, *text;
    size_t n;
} tw_source;

typedef struct tw_compile_options {
    const char *target;  /* "cpu" (default), "interp", "interp:CAPS" (default simt32); where nothing
                            is built also  the name of recorded caps ("simt4", "cpu-avx2") */
    tw_source caps;      /* a target description that takes the place of the target's own */
    const char *plan;    /* "default" (default), "random:SEED", "best": what tuning chose for
                            this target, compiler and number of threads, if the context has a store
                            (tune.h) and it still is legal and gives the source that was judged;
                            else the default */
    tw_source plan_text; /* a plan's text: used as it is, if it is legal */
    tw_source loop_text; /* loop IR: goes on from there, no plan */
    const char *model;   /* what ranks plans. "analytic", "calibrated"; NULL (default): the
                            calibrated one if the context's store has one for this device and
                            caps are left out, else analytic. "reversed": for tests */
    tw_source model_text;     /* a calibrated model's text; one of another machine is refused */
    const char *const *pins;  /* lines of plan text, keys, derived figures (docs/plans.md) */
    size_t n_pins;            /* 0 */
    bool canonical;           /* class canonical; default false */
    bool strided;             /* arrays of any strides; default false: dense, row-major */
    int threads;              /* that calls will have, if fewer than the target's cores: plans are
                                 made, and plan "best" was tuned, for these; 0 (default): all */
    const tw_dim_value *dims; /* a value for every dim of the kernel */
    size_t n_dims;
    tw_stage until; /* with build = false: no further than this; default TW_STAGE_SOURCE */
    bool build;     /* default true: ready to launch. false: texts only; no compiler, no device */
} tw_compile_options;
TW_API tw_compile_options tw_compile_options_defaults(void);

/* The path. On failure *out is NULL and diagnostics say why. TILEWRIGHT_DUMP=dir: the text of every
 * stage that was reached is written to dir/KERNEL.STAGE, also on failure. */
TW_API tw_status tw_compile(tw_context *ctx, const tw_ir *ir, const tw_compile_options *options,
                            tw_compiled **out);
TW_API void tw_compiled_release(tw_compiled *compiled); /* NULL is fine; before its context */
TW_API tw_kernel *
tw_compiled_kernel(const tw_compiled *compiled); /* NULL with build = false. Not to be destroyed */

/* NULL: the path did not come so far. Belongs to the compiled. */
TW_API const char *tw_compiled_text(const tw_compiled *compiled, tw_stage stage);
TW_API const char *
tw_compiled_words(const tw_compiled *compiled); /* the plan in figures: "workers 1, lanes 16, .." */
TW_API uint64_t tw_compiled_plan_hash(const tw_compiled *compiled); /* 0: made from loop IR */
TW_API bool
tw_compiled_is_stored(const tw_compiled *compiled); /* plan "best" came from the store */

/* What the target's compiler made of the k-th function, where it tells (CUDA): registers a worker,
 * shared bytes a group, local bytes (spills, arrays) a worker. name NULL: no more, or not known. */
typedef struct tw_code {
    const char *name;
    uint32_t registers, shared_bytes, local_bytes, code_bytes;
} tw_code;
TW_API tw_code tw_compiled_code(const tw_compiled *compiled, size_t k);

/* Arguments: arrays in order of declaration (temps left out), then scalars likewise. */
typedef struct tw_arg {
    const char *name;
    tw_elem elem;
    bool scalar, has_default; /* has_default: of a scalar */
    uint64_t bits;            /* of that default */
    tw_role role;             /* of an array */
    int rank;
    int64_t shape[8]; /* -1 where it depends on a dim without a value */
} tw_arg;
TW_API size_t tw_compiled_args(const tw_compiled *compiled);
TW_API tw_arg tw_compiled_arg(const tw_compiled *compiled, size_t k);
TW_API size_t tw_ir_args(const tw_ir *ir);
TW_API tw_arg tw_ir_arg(const tw_ir *ir, size_t k);

/* Bits of a value of a type: "0.5", "0x1p-3", "inf", "true", "7". False: not a value of the type.
 */
TW_API bool tw_scalar_bits(tw_elem elem, const char *text, uint64_t *bits);
TW_API tw_scalar tw_scalar_from_bits(tw_elem elem, uint64_t bits);
typedef struct tw_scalar_value {
    const char *name;
    uint64_t bits;
} tw_scalar_value;
/* One element of a dense buffer as text: "0.5", "-inf", "true"; out: 64 bytes. */
TW_API void tw_element_text(tw_elem elem, const void *data, size_t k, char *out);

/* ---- dims of an IR
 * ------------------------------------------------------------------------------------------ */
TW_API size_t tw_ir_dims(const tw_ir *ir);
TW_API const char *tw_ir_dim(const tw_ir *ir, size_t k);
TW_API bool tw_ir_dim_known(const tw_ir *ir, size_t k, int64_t *value); /* specialised already */
TW_API const char *tw_ir_kernel(const tw_ir *ir);
/* Fills values[] (tw_ir_dims of them) from the shapes of arrays given by name; -1: still unknown.
 * False: diagnostics. */
typedef struct tw_shape {
    const char *array;
    int rank;
    const int64_t *extent;
} tw_shape;
TW_API bool tw_ir_dims_from(tw_context *ctx, const tw_ir *ir, const tw_shape *shapes, size_t n,
                            int64_t *values);

/* ---- plans: what else there is, and why not
 * ------------------------------------------------------------------ */
/* The options' target, pins, class and dims hold. Table text: candidates best first, at most `top`
 * of them (0: all). */
typedef struct tw_candidate {
    const char *family, *plan, *derived; /* its text without, and its derived figures */
    uint64_t hash;
    double score_ns;      /* of the model */
    const char *refused;  /* NULL: legal; else why not, with numbers */
    const char *features; /* legal: what the score is made of, "cheap 12, rounds 1, ..", names of
                             docs/plans.md */
} tw_candidate;
typedef void (*tw_candidate_fn)(void *user, const tw_candidate *candidate);
TW_API tw_status tw_plan_list(tw_context *ctx, const tw_ir *ir, const tw_compile_options *options,
                              tw_candidate_fn fn, void *user);
/* The model in force: "analytic", "calibrated 2026-11-30". Lives in the context. NULL: diagnostics.
 */
TW_API const char *tw_model_of(tw_context *ctx, const tw_compile_options *options);
/* Why a pin can't be had, in one line with numbers; "" if it can. Lives in the context. NULL:
 * diagnostics. */
TW_API const char *tw_plan_why_not(tw_context *ctx, const tw_ir *ir,
                                   const tw_compile_options *options, const char *pin);

/* Developers: what the model counts for the options' plan, and the same counted over the loop IR
 * made from it. One figure a call of fn; equal they must be. */
typedef void (*tw_figure_fn)(void *user, unsigned scope, const char *figure, double tallied,
                             double counted);
TW_API tw_status tw_plan_figures(tw_context *ctx, const tw_ir *ir,
                                 const tw_compile_options *options, tw_figure_fn fn, void *user);

/* ---- texts that are only printed back, and targets
 * ------------------------------------------------------------ */
TW_API const char *tw_caps_reprint(tw_context *ctx, tw_source caps); /* NULL: diagnostics */
typedef struct tw_target_info {
    const char *name, *caps; /* caps: text form; NULL: not usable here, see note */
    const char *note;        /* compiler and version, or what is missing */
    const char *bits;        /* of tw_target_probe; NULL: not asked */
} tw_target_info;
TW_API size_t tw_targets(tw_context *ctx);
TW_API tw_target_info tw_target_get(tw_context *ctx, size_t k);
/* Runs the bit probe there (some 40 operations on 2^16 operands each, beside recorded results).
 * Sets info->bits: "ok", "differ: sqrt f32, ..", "not run: REASON"; and what differs in info->caps.
 * Get all targets before the first probe: it opens drivers, and asking for devices forks. */
TW_API void tw_target_probe(tw_context *ctx, tw_target_info *info);
/* The target's description with its ceilings measured on the device (cuda[:N]; a few seconds): an
 * empty launch, far memory read and copied, FMA. A time that is less than they allow is refused by
 * tw_kernel_time under such caps. On failure *caps is NULL and diagnostics say why. */
TW_API tw_status tw_target_measured(tw_context *ctx, const char *target, const char **caps);

/* Developers: a fault planted in loop IR. kind: one of tw_loop_mutation(0..), NULL at the end; k:
 * which place. The mutated text, or NULL: it does not apply there (no diagnostics) or the text is
 * no loop IR (diagnostics). */
TW_API const char *tw_loop_mutation(size_t k);
TW_API const char *tw_loop_mutate(tw_context *ctx, tw_source loop, const char *kind, unsigned k);

#ifdef __cplusplus
}
#endif
#endif
