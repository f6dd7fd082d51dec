/* SPDX-License-Identifier: Apache-2.0
 * Tilewright: results judged by the oracle, which knows the tile program and nothing of how it was
 * compiled. verify runs plans in child processes, with time limits, poisoned outputs and guard
 * pages around every array.
 */
#ifndef TILEWRIGHT_JUDGE_H
#define TILEWRIGHT_JUDGE_H

#include "tilewright/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One array's verdict. Texts live in the context. */
typedef struct tw_verdict {
    const char *array;
    bool right, determined, probative;
    int64_t elements, covered, wrong, undecided, unbounded;
    double worst_over_bound;
    const char *element, *got, *want,
        *bound; /* "Y[3, 5]", of the first wrong element, else the worst */
} tw_verdict;

/* Judges what a launch left. before: the arrays as they were (in and inout; others may be NULL),
 * after: the arrays now, both dense and in the order of tw_compiled_arg without scalars. fn is
 * called for each out and inout array. TW_OK, TW_ERR_WRONG, or what else went wrong with
 * diagnostics. */
typedef void (*tw_verdict_fn)(void *user, const tw_verdict *verdict);
typedef struct tw_judge_run {
    const void *const *before, *const *after;
    const tw_scalar_value *scalars;
    size_t n_scalars;
} tw_judge_run;
TW_API tw_status tw_judge(tw_context *ctx, const tw_compiled *compiled, const tw_judge_run *run,
                          tw_verdict_fn fn, void *user);
/* Target `ref`: the oracle's own values go to after[] of out and inout arrays. Built or not. */
TW_API tw_status tw_judge_reference(tw_context *ctx, const tw_compiled *compiled,
                                    const tw_judge_run *run, void *const *after);

/* ---- fixtures: generated inputs
 * ------------------------------------------------------------------------------- */
TW_API const char *
tw_fixture_name(size_t k); /* normal negative cancel special exact zero; NULL at the end */
/* Fills a dense buffer of argument k (tw_compiled_arg) of its storage type. False: no such fixture.
 */
TW_API bool tw_fixture_fill(const tw_compiled *compiled, size_t k, const char *fixture,
                            uint64_t seed, void *data);
TW_API bool tw_fixture_scalar(const tw_compiled *compiled, size_t k, const char *fixture,
                              uint64_t *bits);

/* ---- verify
 * ----------------------------------------------------------------------------------------------------
 */
/* One IR at one case, with the plans to judge there: the default one first if asked for, then
 * random ones, then loop IR texts (developers: a planted fault). */
typedef struct tw_verify_case {
    const tw_ir *ir;
    const char *types, *text; /* "T=f32 BJ=64", "R=17 W=257": for the rows */
    const tw_dim_value *dims;
    size_t n_dims;
    const tw_scalar_value *scalars;
    size_t n_scalars;
    bool default_plan, strided;
    uint64_t seed; /* of the first random plan */
    size_t random_plans;
    const tw_source *plans, *loops;
    size_t n_plans, n_loops;
    const char *fixture; /* as in the options; NULL: those of the options */
} tw_verify_case;

typedef struct tw_verify_options {
    const char *target; /* "cpu" (default), "interp[:CAPS]", "ref" */
    tw_source caps;
    const char *const *pins;
    size_t n_pins;
    bool canonical;
    const char *plan;         /* of cases with default_plan: NULL "default", or "best" */
    const char *fixture;      /* NULL: all but zero; several with commas between them */
    uint64_t seed;            /* of the fixtures; default 1 */
    int jobs;                 /* child processes at a time; 0: one a core */
    int run_limit_ms;         /* one plan on one fixture; default 20000; 120000 more on OpenCL,
                                 whose drivers compile at a launch */
    int build_limit_ms;       /* all else of a case; default 300000 */
    uint64_t max_ops;         /* of the oracle a fixture; beyond it elements are sampled; 0: 2^28 */
    uint64_t memory_limit;    /* bytes that a child which runs plans may map; 0: any */
    const volatile int *stop; /* NULL; else not 0 once the caller (a signal handler) wants an end */
} tw_verify_options;
TW_API tw_verify_options tw_verify_options_defaults(void);

typedef struct tw_verify_row {
    const char *kernel, *types, *text, *target, *plan /* its hash, 16 digits */,
        *how /* "random:7" */, *fixture;
    const char *source;      /* hash of the emitted source; "" where there is none */
    uint32_t depth;          /* roundings on the longest path of the deepest float fold */
    double worst_over_bound; /* worst array's */
    const char *element, *got, *want, *bound;
    int64_t undecided, elements, covered;
    const char
        *verdict;     /* right, wrong, crashed, timeout, refused, fault, stray, "not probative" */
    const char *note; /* what happened, in words; "" */
    bool failed;
} tw_verify_row;
typedef void (*tw_verify_fn)(void *user, const tw_verify_row *row);
/* Rows come in the order of cases and plans, whatever ran first. TW_ERR_WRONG: some row failed. */
TW_API tw_status tw_verify(tw_context *ctx, const tw_verify_case *cases, size_t n,
                           const tw_verify_options *options, tw_verify_fn fn, void *user);

#ifdef __cplusplus
}
#endif
#endif
