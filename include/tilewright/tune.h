/* SPDX-License-Identifier: Apache-2.0
 * Tilewright: the store and tuning. What was compiled and what was measured, kept from run to run.
 *
 *     tw_store *store;
 *     if (tw_store_open(ctx, NULL, TW_STORE_READ, &store) == TW_OK) {
 *         options.plan = "best";                       what tuning chose, else the default
 *         tw_compile(ctx, ir, &options, &compiled);    no compiler call if it was made before
 *     }
 *     ..
 *     tw_store_close(store);
 *
 * Any number of processes may use one store. What is damaged in it counts as not there. A build
 * without SQLite has no store: opening one is TW_ERR_ENV.
 */
#ifndef TILEWRIGHT_TUNE_H
#define TILEWRIGHT_TUNE_H

#include "tilewright/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_store tw_store;

typedef enum tw_store_use {
    TW_STORE_READ, /* one that cannot be written is read all the same */
    TW_STORE_WRITE /* one that cannot be written is an error */
} tw_store_use;

/* folder NULL: TILEWRIGHT_STORE, $XDG_CACHE_HOME/tilewright, ~/.cache/tilewright. It is made (0700)
 * if it is not there; one that others can write, or that is not the user's, is refused. From now on
 * all that is compiled in ctx is looked up and kept there; one store a context. On failure *out is
 * NULL and diagnostics say why: TW_ERR_ENV. */
TW_API tw_status tw_store_open(tw_context *ctx, const char *folder, tw_store_use use,
                               tw_store **out);
TW_API void tw_store_close(tw_store *store); /* NULL is fine; before its context */
TW_API const char *tw_store_folder(const tw_store *store);

/* ---- tuning */
typedef enum tw_effort {
    TW_EFFORT_MEASURE,    /* default: 8 candidates, two fixtures, at most 60 s */
    TW_EFFORT_PATIENT,    /* 24 candidates, all fixtures, at most 300 s */
    TW_EFFORT_EXHAUSTIVE, /* all that the families propose, all fixtures */
    TW_EFFORT_ESTIMATE,   /* the model alone; nothing is run or kept */
    TW_EFFORT_WISDOM_ONLY /* the store alone; TW_ERR_INPUT if it has no plan */
} tw_effort;
TW_API const char *tw_effort_name(tw_effort effort); /* "measure"; NULL: no such */

typedef struct tw_tune_options {
    tw_effort effort;         /* TW_EFFORT_MEASURE */
    int64_t budget_ms;        /* 0: the effort's. What is best by then is the result */
    size_t candidates;        /* at most; 0: the effort's */
    uint64_t seed;            /* of the inputs; 1 */
    int run_limit_ms;         /* one candidate's run or sample; 0: 10 s to judge, 20 s to time */
    const volatile int *stop; /* NULL; else not 0 once the caller (a signal handler) wants an end */
    const tw_scalar_value *scalars; /* values of the kernel's scalars; others as fixtures say */
    size_t n_scalars;
    void (*progress)(void *user, const char *what, size_t done, size_t of); /* NULL */
    void *user;                                                             /* of progress */
} tw_tune_options;
TW_API tw_tune_options tw_tune_options_defaults(void);

/* A candidate, in order of the model's score. Texts live in the context. NAN: not known. */
typedef struct tw_tune_row {
    const char *plan, *text, *source;  /* hash; the plan's text; hash of what it emits */
    const char *verdict, *note;        /* right, wrong, refused, crashed, timeout, untried */
    const char *samples;               /* ns of a call, round by round; "-": left out */
    double median_ns, ratio, score_ns; /* ratio: to the model's first, paired */
    double confirm_ns;                 /* of those that were measured afresh */
    unsigned rank;                     /* of the model, from 1; 0: from the store alone */
    bool known;                        /* the verdict is the store's */
    bool incumbent, winner, tied;      /* tied: within 1.5 % of the best when measured afresh */
} tw_tune_row;
typedef void (*tw_tune_fn)(void *user, const tw_tune_row *row);

typedef struct tw_tune_result {
    const char *winner, *winner_text;       /* NULL: none */
    double confirm_ns, default_ns, best_ns; /* measured afresh, side by side: winner, model's first,
                                               the quickest (of a tie the simplest wins) */
    double regret;                          /* of the model's first: default_ns / best_ns - 1 */
    double drift;                           /* of the sentinel over the race: 1 is none */
    unsigned rounds, disturbed;             /* disturbed ones had others in their place */
    size_t tied;                            /* 1: a winner by more than 1.5 % */
    size_t unconfirmed;                     /* near the first, but there was no time for them */
    bool stopped;                           /* by the budget or the caller; what is known is kept */
} tw_tune_result;

typedef struct tw_tune_request {
    const tw_compile_options *compile; /* target, dims, class, pins, threads */
    const tw_tune_options *options;    /* NULL: defaults */
    tw_tune_fn row;                    /* NULL */
    void *user;                        /* of row */
} tw_tune_request;

/* Candidates are built, judged and timed in child processes on arrays of their own. Every verdict
 * and time goes to the store (NULL: none), where plan "best" finds the winner. TW_ERR_WRONG: no
 * candidate is right. The results' texts live in the context. */
TW_API tw_status tw_tune(tw_context *ctx, tw_store *store, const tw_ir *ir,
                         const tw_tune_request *request, tw_tune_result *out);

/* ---- calibration: prices of the cost model, measured here (target cpu) */
typedef struct tw_calibrate_term {
    const char *name, *unit;       /* docs/plans.md */
    double analytic_ns, fitted_ns; /* of one unit */
    double residual; /* middle of |model / measured - 1| of plans of which it is a tenth or more */
} tw_calibrate_term;
typedef struct tw_calibrate_case {
    const char *kernel, *type;
    int64_t dim[3];  /* in order of declaration; 0: it has fewer */
    const char *use; /* "fit"; held out: "shape" of a fitted kernel, "kernel" of its own */
    size_t plans;    /* measured */
    double best_ns, worst_ns, analytic_ns, calibrated_ns; /* of those; either model's pick */
    double analytic_regret, calibrated_regret;            /* pick over best, less 1 */
} tw_calibrate_case;
typedef struct tw_calibrate_options {
    const char *target;       /* "cpu" */
    tw_source caps;           /* text NULL: the target's own */
    int64_t budget_ms;        /* 120000; 0: none. Cases that come too late are left out */
    const volatile int *stop; /* as in tw_tune_options */
    void (*progress)(void *user, const char *what, size_t done, size_t of); /* NULL */
    void (*term)(void *user, const tw_calibrate_term *term);                /* NULL */
    void (*one)(void *user, const tw_calibrate_case *one);                  /* NULL */
    void *user;                                                             /* of these three */
} tw_calibrate_options;
TW_API tw_calibrate_options tw_calibrate_options_defaults(void);
typedef struct tw_regrets {
    size_t cases;         /* held out ones that were measured */
    double median, worst; /* NAN: none */
} tw_regrets;
typedef struct tw_calibrate_result {
    const char *model, *date, *device; /* the model's text; NULL: stopped before there was one */
    double residual;                   /* over all that was fitted */
    bool kept;                         /* in the store */
    tw_regrets analytic, calibrated;
} tw_calibrate_result;
/* Measures a suite of small kernels in child processes and fits the model. It is kept in the
 * context's store, if that has one: from then on it ranks plans there. TW_ERR_ENV with a model: it
 * could not be kept. */
TW_API tw_status tw_calibrate(tw_context *ctx, const tw_calibrate_options *options,
                              tw_calibrate_result *out);

/* ---- wisdom: the rows of a store */
typedef struct tw_wisdom {
    const char *kernel, *spec, *numeric, *target, *device, *compiler, *plan, *verdict, *note, *text;
    const char *trust; /* fresh; stale: another compiler, driver or Tilewright; foreign: another
                          device, or imported */
    int64_t threads, rank;
    double median_ns, ratio, confirm_ns, default_ns, regret;
    bool best;
} tw_wisdom;
typedef void (*tw_wisdom_fn)(void *user, const tw_wisdom *wisdom);
TW_API tw_status tw_wisdom_list(tw_store *store, tw_wisdom_fn fn, void *user);
TW_API const char *
tw_wisdom_export(tw_store *store); /* as text; the context's. NULL: diagnostics */
/* Lines that are no wisdom are refused one by one, each with a warning. What comes in is a starting
 * point of tuning; run does not use it. */
TW_API tw_status tw_wisdom_import(tw_store *store, tw_source text, size_t *taken, size_t *refused);
typedef struct tw_store_health {
    size_t rows, fresh, stale, foreign, unreadable; /* unreadable: not what they claim to be */
    size_t objects, damaged, unused;                /* unused: files that the index does not name */
    int64_t bytes;
    bool index; /* sound */
} tw_store_health;
TW_API tw_status tw_store_check(tw_store *store, tw_store_health *out);
/* Removes rows that are stale, objects that are damaged or unused, and what killed processes left.
 */
TW_API tw_status tw_store_gc(tw_store *store, tw_store_health *removed);

#ifdef __cplusplus
}
#endif
#endif
