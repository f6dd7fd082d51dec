/* SPDX-License-Identifier: Apache-2.0
 * A kernel on its way: what each step has made so far. Steps are in path.c, in order; each needs
 * those before it.
 */
#ifndef TWI_COMPILE_PATH_H
#define TWI_COMPILE_PATH_H

#include "compile/codes.h"
#include "emit/emit.h"
#include "search/search.h"
#include "target/target.h"
#include "tilewright/compile.h"

typedef enum {
    TWI_WHERE_CPU,
    TWI_WHERE_INTERP,
    TWI_WHERE_OPENCL,
    TWI_WHERE_CUDA,
    TWI_WHERE_NOWHERE
} twi_where_kind;
/* A target by name: what it can do, and how to open it. */
typedef struct {
    twi_where_kind kind; /* NOWHERE: recorded caps of a device that is not here */
    twi_caps caps;
    const char *name;
    unsigned device;               /* number: cuda:N, opencl:N */
    int threads;                   /* that calls will have; 0: all */
    const struct twi_model *model; /* calibrated, whose prices caps have; NULL: none */
} twi_where;
/* A device with a driver, which a process must not open before it forks. */
static inline bool twi_where_is_device(const twi_where *w) {
    return w->kind == TWI_WHERE_CUDA || w->kind == TWI_WHERE_OPENCL;
}
/* Does the target compile source? */
static inline bool twi_where_compiles(const twi_where *where) {
    return where->kind != TWI_WHERE_INTERP && where->kind != TWI_WHERE_NOWHERE;
}
/* False: diagnostics. */
bool twi_where_find(tw_context *ctx, const char *target, const tw_source *caps,
                    const char *const *pins, size_t n_pins, twi_where *out);
/* The same with the model that the options ask for (model.c). */
bool twi_where_of(tw_context *ctx, const tw_compile_options *o, twi_where *out);
/* What plans are made for: the caps with as many of their cores as calls will have threads. */
twi_caps twi_where_shared(const twi_where *where);
/* Takes the model that the store has for the device; false: none. */
bool twi_where_stored_model(tw_context *ctx, twi_where *where);
const char *twi_where_model_name(tw_context *ctx, const twi_where *where); /* in the store */
/* What its source is written in; NULL: no language (the interpreter's machines). */
const twi_dialect *twi_where_dialect(const tw_context *ctx, const twi_where *where);
const char *twi_caps_text(tw_context *ctx, const twi_caps *caps);
/* Which device, in words that stay: "cpu-avx512, 2 units, AMD EPYC ..". */
const char *twi_where_device(tw_context *ctx, const twi_where *where);
bool twi_where_is_here(tw_context *ctx, const twi_where *where);     /* false: why it is not */
twi_target *twi_where_open(tw_context *ctx, const twi_where *where); /* NULL: diagnostics */

typedef struct twi_path {
    tw_context *ctx;
    twi_arena *arena;
    twi_where where;
    const char *caps; /* where's as text; NULL: not printed yet (twi_path_caps) */
    tw_ir *spec;      /* specialised; what the oracle reads */
    const tw_ir *ir;  /* lifted, folds of the class asked for, the plan's merges done: what plans
                         speak of */
    twi_plans *plans;
    const char **derived; /* by scope */
    twi_loop *loop;
    twi_printed printed; /* after the source step */
    const twi_kept_plan
        *kept;            /* plan "best": the stored one; NULL: there is none, or it is stale */
    const char *compiler; /* that "best" is asked for; NULL: whichever */
} twi_path;

/* Says that there is no tile IR, unless its maker has said why; the status for it. */
tw_status twi_no_ir(tw_context *ctx);
bool twi_path_specialise(twi_path *p, const tw_ir *ir, const tw_compile_options *o);
bool twi_path_class(twi_path *p, bool canonical, bool strided);
bool twi_path_plan(twi_path *p, const tw_compile_options *o);
/* planned.c: the plan of a text that was printed before, if it still is legal (and has that hash,
 * where there is one): no diagnostics; the default plan, or why there is none. */
bool twi_path_replay(twi_path *p, const char *name, const char *text, const uint64_t *hash);
bool twi_path_default(twi_path *p, const twi_wish *wish, twi_why *why);
bool twi_path_lower(twi_path *p);
/* faults: what does not verify is taken all the same (planted faults must be noticed by who runs
 * it). */
bool twi_path_loop_text(twi_path *p, const tw_source *text, bool faults);
/* NULL: no dialect speaks for the target, or not all that the loop IR holds (diagnostics). */
const char *twi_path_source(twi_path *p);

const char *twi_path_caps(twi_path *p);
const char *twi_path_plan_text(const twi_path *p, bool derived);
/* Whom a stored plan would be for. Needs the class step. */
twi_plan_key twi_path_key(twi_path *p, const tw_compile_options *o);
uint64_t twi_source_hash(const char *source);

struct tw_compiled {
    tw_context *ctx;
    twi_arena arena; /* of all but the kernel */
    twi_path path;
    const char *text[TW_STAGES];
    const char *words;
    uint64_t hash;
    twi_target *target; /* NULL: texts only */
    tw_kernel *kernel;
};

void twi_dump(const tw_compiled *c);
/* False: a value for what is no scalar of the kernel (diagnostics). */
bool twi_scalars_known(const tw_ir *ir, const tw_scalar_value *values, size_t n);
bool twi_arg_of(const tw_ir *ir, size_t k, tw_arg *out,
                uint32_t *id); /* false: fewer arguments; id: array's or scalar's */

#endif
