/* SPDX-License-Identifier: Apache-2.0
 * The CUDA target's insides, shared by its files. Building needs NVRTC and no device; the driver is
 * opened when something is first launched. So a process may build, fork, and launch in its children
 * (a driver that was opened before a fork cannot be used after it).
 */
#ifndef TWI_TARGET_CUDA_CUDA_H
#define TWI_TARGET_CUDA_CUDA_H

#include "emit/emit.h"
#include "target/buffers.h"
#include "target/cuda/api.h"
#include "target/cuda/cubin.h"
#include "target/target.h"

typedef struct {
    twi_target base;
    unsigned ordinal;
    bool have_nvrtc;
    twi_nvrtc_api nvrtc;
    pthread_mutex_t lock; /* of what follows, and of homes */
    bool open;
    twi_cu_api cu;
    int device;
    twi_cu_context primary; /* which a host's other libraries share; NULL: not needed yet */
    bool asked_nvml;
    const char *nvml_path; /* NULL: the usual names */
    twi_nvml_api nvml;
    twi_nvml_device nvml_device; /* NULL: NVML does not know it, or is not there */
} twi_cuda;

/* A context; by its number too where the driver tells one, since an address may be used again. */
typedef struct {
    twi_cu_context context;
    unsigned long long id;
} twi_cuda_place;

/* An image in a context. */
typedef struct twi_cuda_loaded {
    struct twi_cuda_loaded *next;
    twi_cuda_place place;
    twi_cu_module module;
} twi_cuda_loaded;

/* Memory for temps of calls that are queued on one stream, and so follow each other. A handle may
 * come back for another stream, and one handle may mean a stream of each thread: ids tell. */
typedef struct twi_cuda_space {
    struct twi_cuda_space *next;
    const void *stream;
    unsigned long long id;
    twi_cu_address at;
} twi_cuda_space;

/* A module in a context: what a warm call needs. */
typedef struct twi_cuda_home {
    struct twi_cuda_home *next;
    twi_cuda_place place;
    twi_cuda_space *space;
    twi_cu_function function[];
} twi_cuda_home;

/* What one call of the compiler gave, for all modules made from it. */
typedef struct {
    char *at;
    size_t n;
    bool ptx;
    unsigned users;
    twi_cuda_loaded *loaded; /* where */
} twi_cuda_image;

typedef struct {
    char *name;               /* in the image */
    unsigned workers, shared; /* of a group; bytes that the launch gives */
    twi_pass *pass;           /* parameters */
    unsigned passes;
    twi_cubin_figures figures; /* zero: PTX */
} twi_cuda_func;

typedef struct {
    twi_module base;
    twi_cuda_image *image;
    twi_buffers tables; /* of a call: run.c */
    twi_cuda_home *home;
    uint32_t arrays;
    uint32_t n;
    twi_cuda_func func[];
} twi_cuda_module;

/* probe.c */
typedef struct {
    int count, major, minor, workers, shared, lanes, units, driver;
    char name[96];
    bool ok;
    char why[TWI_API_WHY];
} twi_cuda_device;
/* Asks in a child process. */
void twi_cuda_ask(tw_context *ctx, unsigned ordinal, twi_cuda_device *d);

/* nvrtc.c: source to cubin for the target's architecture, or PTX where the compiler does not know
 * it. NULL: diagnostics. */
bool twi_cuda_find_nvrtc(twi_cuda *c);
twi_cuda_image *twi_cuda_compile(twi_cuda *c, const char *source);
void twi_cuda_drop_image(twi_cuda *c, twi_cuda_image *image); /* one user less */

/* build.c */
tw_status twi_cuda_build(twi_target *t, const twi_loop *const *loop, unsigned n,
                         const struct twi_printed *printed, twi_module **out);
void twi_cuda_source(twi_target *t, const twi_loop *loop, twi_sb *out);
void twi_cuda_release(twi_module *base);
bool twi_cuda_figures(const twi_module *m, uint32_t func, twi_code_figures *out); /* false: PTX */

/* cuda.c: what: the driver's function or the kernel's name. TW_OK for result 0. */
tw_status twi_cuda_result(const twi_cuda *c, int result, const char *what,
                          char error[TWI_ERROR_TEXT]);
tw_status twi_cuda_open_driver(twi_cuda *c, char error[TWI_ERROR_TEXT]); /* under the lock */

/* home.c: a call's stay in a context. own: the call will make a stream itself, stream is nothing.
 * error: one line. On success the context is current until twi_cuda_leave. */
typedef struct {
    twi_cuda_module *m;
    twi_cuda *c;
    twi_cuda_home *home;
    twi_cu_stream stream;
    bool pushed, capturing;
    int mode; /* of capture, that the thread had */
    char *error;
} twi_cuda_visit;
tw_status twi_cuda_enter(twi_cuda_visit *v, twi_cuda_module *m, twi_cu_stream stream, bool own,
                         char error[TWI_ERROR_TEXT]);
void twi_cuda_leave(const twi_cuda_visit *v);
tw_status twi_cuda_temps(twi_cuda_visit *v, size_t size, twi_cu_address *at);
void twi_cuda_drop_homes(twi_cuda_module *m);
void twi_cuda_unload(twi_cuda *c, twi_cuda_image *image);

/* launch.c: the recipe of an entry on device pointers, queued on the visit's stream. */
tw_status twi_cuda_queue(const twi_cuda_visit *v, uint32_t entry, const twi_launch *args);

/* run.c: a call: arrays of the device in place, those of the host copied in and out. */
typedef struct twi_cuda_copy twi_cuda_copy;
typedef struct {
    twi_cuda_visit v;
    const twi_launch *args;
    bool own, in_place; /* the stream is the call's own; all given arrays are in place */
    bool waits;         /* for what it queued */
    twi_cuda_copy *copies;
    void **array; /* device addresses of elements 0 */
} twi_cuda_call;
size_t twi_cuda_table_bytes(const twi_loop *loop);
/* Whatever came of it is closed. */
tw_status twi_cuda_open_call(twi_cuda_call *x, twi_module *m, const twi_launch *args,
                             char error[TWI_ERROR_TEXT]);
tw_status twi_cuda_queue_call(const twi_cuda_call *x, uint32_t entry);
tw_status twi_cuda_wait(const twi_cuda_call *x, uint32_t entry);
tw_status twi_cuda_bring_back(const twi_cuda_call *x);
void twi_cuda_close_call(twi_cuda_call *x);
tw_status twi_cuda_run(twi_module *m, uint32_t entry, const twi_launch *args,
                       char error[TWI_ERROR_TEXT]);

/* pointers.c: what the driver says of a call's pointers. */
tw_status twi_cuda_ask_pointers(const twi_cuda_call *x);
/* Bytes from the lowest element to behind the highest, and where element 0 lies among them. */
size_t twi_cuda_span(const twi_cuda_call *x, uint32_t id, size_t *zero);

/* home.c, under the lock: makes a context of the device current; pushed: whoever asked pops it. */
tw_status twi_cuda_choose_context(twi_cuda *c, twi_cuda_place *place, bool *pushed,
                                  char error[TWI_ERROR_TEXT]);

/* clock.c: operations timed; the context is current. cold_ns is added to. */
enum { TWI_CUDA_OPERATIONS = 100 };
typedef struct {
    tw_status (*queue)(void *user, unsigned k, twi_cu_stream stream); /* the k-th */
    void *user;
    const char *what; /* for messages */
} twi_cuda_work;
tw_status twi_cuda_clock(twi_cuda *c, const twi_cuda_work *work, bool quick, tw_timing *timing,
                         char error[TWI_ERROR_TEXT]);
/* nvml.c */
void twi_cuda_state(twi_cuda *c, tw_device_state *state);
/* ceiling.c: error "": diagnostics say what failed. */
tw_status twi_cuda_ceilings(twi_target *t, twi_caps *caps, char error[TWI_ERROR_TEXT]);

/* time.c */
tw_status twi_cuda_time(twi_module *m, const twi_timed *set, unsigned n, bool quick,
                        tw_timing *timing, char error[TWI_ERROR_TEXT]);

#endif
