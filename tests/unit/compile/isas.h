/* SPDX-License-Identifier: Apache-2.0
 * A kernel X[W] to Y[W] by each instruction set there is here.
 */
#ifndef TWI_TEST_ISAS_H
#define TWI_TEST_ISAS_H

#include <tilewright/tilewright.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ISAS = 3 };
static const char *const isas[ISAS] = {"baseline", "avx2", "avx512"};

static inline bool has_isa(unsigned k) {
#if defined __x86_64__
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    const bool has[ISAS] = {true, avx2, avx512};
    return has[k];
#else
    return k == 0;
#endif
}

static inline float of_bits(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* NULL: the machine lacks that instruction set, which is said. */
static inline tw_compiled *compiled(tw_context *ctx, const tw_ir *ir, unsigned isa, int64_t width) {
    char pin[32];
    const char *const pins[] = {pin};
    const tw_dim_value dims[] = {{"W", width}};
    tw_compile_options options = tw_compile_options_defaults();
    tw_compiled *c = NULL;
    if (!has_isa(isa)) {
        print_message("skipped: %s: not on this machine\n", isas[isa]);
        return NULL;
    }
    (void)snprintf(pin, sizeof pin, "isa=%s", isas[isa]);
    options.dims = dims;
    options.n_dims = 1;
    options.pins = pins;
    options.n_pins = 1;
    if (tw_compile(ctx, ir, &options, &c) != TW_OK)
        fail_msg("%s: %s", isas[isa], tw_diag_text(ctx, false));
    return c;
}

static inline void run(tw_compiled *c, int64_t width, const void *operands, tw_elem from,
                       void *results, tw_elem to) {
    tw_tensor x = {.data = (void *)(uintptr_t)operands,
                   .device = {1, 0},
                   .rank = 1,
                   .dtype = tw_elem_dtype(from),
                   .shape = &width};
    tw_tensor y = x;
    y.data = results;
    y.dtype = tw_elem_dtype(to);
    const tw_tensor *const tensors[] = {&x, &y};
    tw_call call = {.tensor = tensors, .tensors = 2, .threads = 1};
    assert_int_equal(tw_kernel_run(tw_compiled_kernel(c), &call), TW_OK);
}

#endif
