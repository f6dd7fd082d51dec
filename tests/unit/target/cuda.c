/* SPDX-License-Identifier: Apache-2.0
 * The CUDA target without a device: its table of functions, what it says when a library is missing,
 * and what it reads from a cubin. NVRTC is needed for the last, nothing else is.
 */
#include "target/cuda/cuda.h"
#include "target/codes.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *const symbols[] = {
#define TWI_CU(member, symbol, parameters) #symbol,
#define TWI_CU_LATE(member, symbol, parameters) #symbol,
#define TWI_NVML(member, symbol, parameters) #symbol,
#define TWI_NVRTC(member, symbol, parameters) #symbol,
#include "target/cuda/api.def"
};
enum { SYMBOLS = sizeof symbols / sizeof *symbols };

/* Every member of both tables is a row, so that nothing stays without a symbol. */
static void tables(void **state) {
    (void)state;
    assert_int_equal(sizeof(twi_cu_api) + sizeof(twi_nvml_api) + sizeof(twi_nvrtc_api),
                     SYMBOLS * sizeof(void (*)(void)));
    for (unsigned i = 0; i < SYMBOLS; i++) {
        assert_true(strncmp(symbols[i], "cu", 2) == 0 || strncmp(symbols[i], "nvml", 4) == 0 ||
                    strncmp(symbols[i], "nvrtc", 5) == 0);
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(symbols[i], symbols[k]);
    }
}

static void no_driver(void **state) {
    (void)state;
    static const struct {
        const char *path, *said;
    } rows[] = {{"/nowhere/libcuda.so.1", "/nowhere/libcuda.so.1"},
                {"libc.so.6", "libc.so.6 has no cuInit"}};
    for (unsigned i = 0; i < 2; i++) {
        tw_context *ctx = tw_context_create(NULL);
        twi_caps caps;
        ctx->env.cuda = rows[i].path;
        assert_false(twi_cuda_caps(ctx, 0, &caps));
        assert_int_equal(ctx->diags.list.at[0].code, TWI_E_NO_DEVICE);
        assert_non_null(strstr(ctx->diags.list.at[0].text, rows[i].said));
        assert_null(twi_cuda_open(ctx, &(twi_cuda_options){NULL, 0}));
        tw_context_destroy(ctx);
    }
}

static twi_cuda *open_named(tw_context *ctx, const char *name) {
    twi_caps caps;
    assert_true(twi_caps_named(ctx, "sm_80", &caps));
    caps.name = twi_intern_str(&ctx->names, name);
    return (twi_cuda *)twi_cuda_open(ctx, &(twi_cuda_options){&caps, 0});
}

static void no_compiler(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    ctx->env.nvrtc = "/nowhere/libnvrtc.so.13";
    twi_cuda *c = open_named(ctx, "sm_80");
    twi_module *none = NULL;
    assert_int_equal(c->base.ops->build(&c->base, NULL, 0, NULL, &none), TW_ERR_ENV);
    assert_int_equal(ctx->diags.list.at[0].code, TWI_E_NO_NVRTC);
    assert_non_null(strstr(ctx->diags.list.at[0].text, "/nowhere/libnvrtc.so.13"));
    c->base.ops->close(&c->base);
    tw_context_destroy(ctx);
}

/* False: the test is skipped, by name. */
static bool have_nvrtc(twi_cuda *c, const char *test) {
    if (twi_cuda_find_nvrtc(c))
        return true;
    print_message("SKIPPED %s: no NVRTC: %s\n", test, tw_diag_text(c->base.ctx, false));
    c->base.ops->close(&c->base);
    tw_context_destroy(c->base.ctx);
    return false;
}

static const char source[] = "extern \"C\" __global__ void K_shared(float *x) {\n"
                             "    __shared__ float s[256];\n"
                             "    s[threadIdx.x] = x[threadIdx.x];\n"
                             "    __syncthreads();\n"
                             "    x[threadIdx.x] = s[255 - threadIdx.x];\n"
                             "}\n"
                             "extern \"C\" __global__ void K_stack(float *x, int n) {\n"
                             "    float p[64];\n"
                             "    for (int i = 0; i < 64; i++) p[i] = x[i];\n"
                             "    float t = 0;\n"
                             "    for (int i = 0; i < n; i++) t += p[(i * 7 + (int)x[i]) & 63];\n"
                             "    x[0] = t;\n"
                             "}\n";

static void cubin(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    twi_cuda *c = open_named(ctx, "sm_80");
    if (!have_nvrtc(c, "cubin"))
        skip();
    twi_cuda_image *image = twi_cuda_compile(c, source);
    twi_cubin_figures f;
    assert_non_null(image);
    assert_false(image->ptx);
    assert_true(twi_cubin_read(image->at, image->n, "K_shared", &f));
    assert_int_equal(f.shared, 256 * 4);
    assert_int_equal(f.local, 0);
    assert_in_range(f.registers, 4, 255);
    assert_true(f.code > 0 && f.code % 16 == 0); /* instructions have 16 bytes */
    assert_true(twi_cubin_read(image->at, image->n, "K_stack", &f));
    assert_int_equal(f.shared, 0);
    assert_int_equal(f.local, 64 * 4); /* indexed at run time: on the stack */
    assert_false(twi_cubin_read(image->at, image->n, "K_stac", &f));
    assert_false(twi_cubin_read(image->at, image->n, "K_other", &f));
    for (size_t n = 0; n < image->n; n += 1 + n / 64) { /* cut anywhere: refused or right */
        char *part = malloc(n + 1);
        memcpy(part, image->at, n);
        if (twi_cubin_read(part, n, "K_stack", &f))
            assert_int_equal(f.local, 64 * 4);
        free(part);
    }
    image->at[18] ^= 1; /* of another machine */
    assert_false(twi_cubin_read(image->at, image->n, "K_stack", &f));
    twi_cuda_drop_image(c, image);
    c->base.ops->close(&c->base);
    tw_context_destroy(ctx);
}

/* Source that the compiler refuses: its own words are in the message. */
static void refused(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    twi_cuda *c = open_named(ctx, "sm_80");
    if (!have_nvrtc(c, "refused"))
        skip();
    assert_null(twi_cuda_compile(c, "__global__ void f() { undeclared = 1; }"));
    assert_int_equal(ctx->diags.list.at[0].code, TWI_E_NVRTC);
    assert_non_null(strstr(ctx->diags.list.at[0].text, "undeclared"));
    c->base.ops->close(&c->base);
    tw_context_destroy(ctx);
}

/* An architecture newer than the compiler gets PTX; one that is none is refused. */
static void architectures(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool built, ptx;
    } rows[] = {{"sm_90a", true, false},  {"sm_999", true, true}, {"sm_1", false, false},
                {"gfx90a", false, false}, {"sm_", false, false},  {"sm_80xx", false, false}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        tw_context *ctx = tw_context_create(NULL);
        twi_cuda *c = open_named(ctx, rows[i].name);
        if (!have_nvrtc(c, "architectures"))
            skip();
        twi_cuda_image *image = twi_cuda_compile(c, source);
        assert_true((image != NULL) == rows[i].built);
        if (image) {
            assert_true(image->ptx == rows[i].ptx);
            assert_true((strstr(image->at, ".version") != NULL) == rows[i].ptx);
        } else {
            assert_int_equal(ctx->diags.list.at[0].code, TWI_E_ARCH);
        }
        twi_cuda_drop_image(c, image);
        c->base.ops->close(&c->base);
        tw_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables), cmocka_unit_test(no_driver), cmocka_unit_test(no_compiler),
        cmocka_unit_test(cubin),  cmocka_unit_test(refused),   cmocka_unit_test(architectures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
