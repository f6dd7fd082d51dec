/* SPDX-License-Identifier: Apache-2.0
 * A target: where loop IR goes to be run. The same interface for compiled code (cpu), the
 * interpreter (interp) and the double for tests (null). A target belongs to a context and is closed
 * before it; its modules are released before it. Opening, building and closing: one thread at a
 * time. Launching: any number of threads at once.
 */
#ifndef TWI_TARGET_TARGET_H
#define TWI_TARGET_TARGET_H

#include "caps/caps.h"
#include "loop/loop.h"
#include "tilewright/run.h"

#define TWI_ERROR_TEXT 240

typedef struct twi_target twi_target;
typedef struct twi_module twi_module;
struct twi_printed; /* emit/emit.h */

/* Arguments of a launch, by tile IR ids. Pointers go to element 0; strides count elements. */
typedef struct {
    void *const *array;
    const uint64_t *scalar; /* bits of each scalar's type in the low bytes */
    const int64_t *stride;  /* [array * TWI_MAX_RANK + dim] */
    const int64_t *shape;   /* likewise */
    const int64_t *trip;    /* of the recipe's loops around the launch, outermost first */
    const bool *there;      /* which are in the target's own memory; NULL: none */
    void *stream;           /* of the caller; NULL: none given */
    bool full;              /* TW_CHECKS_FULL */
    int threads;            /* at most; 0: as many as the target has units */
} twi_launch;

/* An entry on its arguments, to be timed. */
typedef struct {
    uint32_t entry;
    twi_launch args;
} twi_timed;

/* What a compiler says of the code of one function. */
typedef struct {
    const char *name;
    uint32_t registers, shared, local, code; /* a worker; bytes a group; bytes a worker; bytes */
} twi_code_figures;

typedef struct {
    const char *name;
    /* What built a module must launch it too: the driver does not survive a fork behind the
     * compiler's loading. */
    bool one_process;
    int late_ms;    /* its driver compiles at the first launch, which may take so much longer */
    int32_t memory; /* DLPack's type of arrays that are used in place; 0: those of the host */
    /* Finds what builds (compiler, library), so that `version` is known; NULL: nothing to find. */
    bool (*prepare)(twi_target *t);
    /* Builds n modules at once; *out[k] is NULL for each that failed (diagnostics say why). The
     * loops stay the caller's and must outlive the modules. `printed`: a module's text for these
     * caps, which is not printed again where it is the only one; NULL: none. Returns the first
     * failure's status. */
    tw_status (*build)(twi_target *t, const twi_loop *const *loop, unsigned n,
                       const struct twi_printed *printed, twi_module **out);
    /* The text that build compiles; NULL: a target without one. */
    void (*source)(twi_target *t, const twi_loop *loop, twi_sb *out);
    /* Groups 0 .. grid-1 of one function. NULL: the target runs whole entries itself: */
    tw_status (*launch)(twi_module *m, uint32_t func, int64_t grid, const twi_launch *args,
                        char error[TWI_ERROR_TEXT]);
    tw_status (*run)(twi_module *m, uint32_t entry, const twi_launch *args,
                     char error[TWI_ERROR_TEXT]);
    /* Repeated runs by the device's own clock, the n sets in turn; NULL: the caller times calls. */
    tw_status (*time)(twi_module *m, const twi_timed *set, unsigned n, bool quick,
                      tw_timing *timing, char error[TWI_ERROR_TEXT]);
    /* What the compiler says of a function; false: nothing. NULL: never anything. */
    bool (*figures)(const twi_module *m, uint32_t func, twi_code_figures *out);
    /* Measures the target's ceilings into caps; NULL: it has none. error "": diagnostics. */
    tw_status (*ceilings)(twi_target *t, twi_caps *caps, char error[TWI_ERROR_TEXT]);
    void (*release)(twi_module *m);
    void (*close)(twi_target *t);
} twi_target_ops;

struct twi_target {
    const twi_target_ops *ops;
    tw_context *ctx;
    twi_caps caps;
    int32_t device;      /* its number among those of its kind */
    const char *version; /* compiler or driver, for fingerprints; "" if there is none */
};

struct twi_module {
    twi_target *target;
    const twi_loop *loop;
};

/* cpu: caps NULL: of this machine. limit_ms: a compiler's time, 0: 60 s. NULL: diagnostics. */
typedef struct {
    const char *isa;     /* as caps name it */
    const char *arch;    /* whose compiler it needs; "" if any, or the flags say it */
    const char *flag[2]; /* that the compiler is given; NULL: none */
    const char *flags;   /* the same as one text, "" if none */
    const char *test;    /* of the preprocessor: are they given? "" if always */
} twi_cpu_machine;
const twi_cpu_machine *twi_cpu_machine_of(const char *isa); /* NULL: no such */
/* Instructions beyond a machine's level, which loop IR's `dots` of an element type stand for. */
typedef struct {
    uint8_t elem; /* of the operands */
    uint8_t k;    /* how many of them a lane takes at once */
    const char *flag, *test;
} twi_cpu_extra;
enum { TWI_CPU_EXTRAS = 3 };
extern const twi_cpu_extra twi_cpu_extras[TWI_CPU_EXTRAS];
bool twi_cpu_has_extra(const twi_caps *caps, unsigned k);
typedef struct {
    const twi_caps *caps;
    const char *compiler; /* NULL: TILEWRIGHT_CC, else the first of cc, gcc, clang that is found */
    int64_t limit_ms;
} twi_cpu_options;
twi_target *twi_cpu_open(tw_context *ctx, const twi_cpu_options *options);
/* Instruction sets: "avx512", "avx2", "neon", "baseline". */
const char *twi_cpu_record(const char *isa); /* recorded caps ("cpu-neon"); NULL: no such set */
bool twi_cpu_has(tw_context *ctx, const char *isa);
/* This machine with one of its sets; isa NULL: the best. False: diagnostics. No compiler needed. */
bool twi_cpu_caps(tw_context *ctx, const char *isa, twi_caps *caps);
const char *twi_cpu_model(tw_context *ctx); /* as the kernel names it; "" where it does not */

twi_target *twi_interp_open(tw_context *ctx, const twi_caps *caps);

/* cuda: caps NULL: of the device. Building needs NVRTC alone; the driver is opened by the first
 * launch, so that a process may build, fork, and launch in its children. NULL: diagnostics. */
typedef struct {
    const twi_caps *caps;
    unsigned device;
} twi_cuda_options;
twi_target *twi_cuda_open(tw_context *ctx, const twi_cuda_options *options);
/* Asks the driver in a child process: this one may fork afterwards. False: diagnostics. */
bool twi_cuda_caps(tw_context *ctx, unsigned device, twi_caps *caps);
/* Caps and a line about the device, or why there is none; caps->name stays 0 then. */
const char *twi_cuda_describe(tw_context *ctx, unsigned device, twi_caps *caps);

/* OpenCL device `index` of all that the loader (TILEWRIGHT_OPENCL, else libOpenCL.so.1) knows.
 * Asking forks a child, so that this process can still be forked; launching opens the driver.
 * False: diagnostics. */
bool twi_opencl_caps(tw_context *ctx, unsigned index, twi_caps *caps);
twi_target *twi_opencl_open(tw_context *ctx, const twi_caps *caps, unsigned index);

/* For tests of what stands above: builds nothing, records launches, fails on demand. */
typedef struct {
    unsigned builds, launches, releases;
    uint32_t func[64];
    int64_t grid[64], trip[64];
    tw_status fail; /* of build and launch */
} twi_null_log;
twi_target *twi_null_open(tw_context *ctx, twi_null_log *log);

#endif
