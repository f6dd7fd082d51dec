/* SPDX-License-Identifier: Apache-2.0
 * What tests of the CUDA target share: a context whose driver is the double, a program made for it.
 * NVRTC is needed to build.
 */
#ifndef TW_TESTS_COMPILE_DEVICE_H
#define TW_TESTS_COMPILE_DEVICE_H

#include "double/libcuda.h"
#include "run/kernel.h"
#include "tilewright/compile.h"
#include "tilewright/program.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static inline tw_context *device_context(tw_double_cuda **driver) {
    static const char path[] = TW_BINARY_DIR "/tests/libtw_double_cuda.so";
    tw_context *ctx = tw_context_create(NULL);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    *driver = dlsym(handle, "tw_double");
    assert_non_null(*driver);
    **driver = (tw_double_cuda){.devices = 1, .major = 9, .replay_ms = 0.5f};
    ctx->env.cuda = path;
    return ctx;
}

/* Of a program with one kernel and one dim N. */
static inline tw_status device_compile(tw_context *ctx, const char *program, const char *target,
                                       int64_t n, const char *pin, tw_compiled **c) {
    const tw_dim_value dims[] = {{"N", n}};
    tw_compile_options o = tw_compile_options_defaults();
    tw_program *p = tw_program_parse(ctx, "test.tile", program, strlen(program));
    o.dims = dims;
    o.n_dims = 1;
    o.target = target;
    o.pins = &pin;
    o.n_pins = pin != NULL;
    return tw_compile(ctx, tw_program_build(p, 0, NULL, 0), &o, c);
}

/* NULL, without a context: skipped, by name. */
static inline tw_compiled *device_made(tw_context *ctx, const char *program, int64_t n,
                                       const char *pin, const char *test) {
    tw_compiled *c = NULL;
    if (device_compile(ctx, program, "cuda", n, pin, &c) != TW_OK) {
        if (!strstr(tw_diag_text(ctx, false), "NVRTC, which compiles"))
            fail_msg("%s", tw_diag_text(ctx, false));
        print_message("SKIPPED %s: no NVRTC\n", test);
        tw_context_destroy(ctx);
    }
    return c;
}

/* Everything was given back. */
static inline void device_end(tw_context *ctx, tw_compiled *c, const tw_double_cuda *driver) {
    tw_compiled_release(c);
    assert_int_equal(driver->modules, 0);
    assert_int_equal(driver->pushed, 0);
    assert_int_equal(driver->allocated, 0);
    assert_int_equal(driver->streams, 0);
    assert_int_equal(driver->graphs, 0);
    assert_int_equal(driver->events, 0);
    assert_int_equal(driver->mode, 0);
    tw_context_destroy(ctx);
}

#endif
