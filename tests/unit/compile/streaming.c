/* SPDX-License-Identifier: Apache-2.0
 * Stores past the caches: a target that is told to have next to no cache streams what it writes,
 * wherever the array starts, and touches nothing beside it; what the kernel also reads is not
 * streamed. links: front
 */
#include <tilewright/tilewright.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 5, WIDTH = 208, AROUND = 32 };

static const char text[] = "kernel twice[T in {f32, bf16}](X: T[R, W], out Y: T[R, W]) {\n"
                           "    parallel r: R, w: W {\n"
                           "        Y[r, w] = X[r, w] * 2\n"
                           "    }\n"
                           "}\n"
                           "kernel grown[T in {f32, bf16}](X: T[R, W], inout Y: T[R, W]) {\n"
                           "    parallel r: R, w: W {\n"
                           "        Y[r, w] = Y[r, w] + X[r, w]\n"
                           "    }\n"
                           "}\n"
                           "kernel total[T in {f32, bf16}](X: T[R, W], out Y: T[R]) {\n"
                           "    parallel r: R {\n"
                           "        axis w: W\n"
                           "        Y[r] = sum[w](X[r, w])\n"
                           "    }\n"
                           "}\n"
                           "kernel picked[T in {f32, bf16}](X: T[R, W], I: i32[R], out Y: T[R]) {\n"
                           "    parallel r: R {\n"
                           "        axis w: W\n"
                           "        i = I[r]\n"
                           "        Y[r] = sum[w](X[i, w])\n"
                           "    }\n"
                           "}\n"
                           "kernel below[T in {f32, bf16}](X: T[R, W], out Y: T[R, W]) {\n"
                           "    parallel r: R {\n"
                           "        axis w: W\n"
                           "        x = X[r, w]\n"
                           "        Y[r, w] = x - max[w](x)\n"
                           "    }\n"
                           "}\n";

static tw_compiled *compile_rows(tw_context *ctx, size_t kernel, const char *type, const char *caps,
                                 int64_t rows, int64_t width) {
    const tw_binding types[] = {{"T", type}};
    const tw_dim_value dims[] = {{"R", rows}, {"W", width}};
    tw_compile_options options = tw_compile_options_defaults();
    options.dims = dims;
    options.n_dims = 2;
    if (caps)
        options.caps = (tw_source){"small.caps", caps, strlen(caps)};
    tw_program *p = tw_program_parse(ctx, "twice.tile", text, sizeof text - 1);
    tw_ir *ir = p ? tw_program_build(p, kernel, types, 1) : NULL;
    tw_compiled *c = NULL;
    if (!ir || tw_compile(ctx, ir, &options, &c) != TW_OK)
        print_error("%s\n", tw_diag_text(ctx, false));
    assert_non_null(c);
    return c;
}

static tw_compiled *compile(tw_context *ctx, size_t kernel, const char *type, const char *caps) {
    return compile_rows(ctx, kernel, type, caps, ROWS, WIDTH);
}

/* The machine's own description, but for a cache of so many bytes. */
static void describe(tw_context *ctx, unsigned cache, char *out, size_t n) {
    tw_compiled *c = compile(ctx, 0, "f32", NULL);
    const char *caps = tw_compiled_text(c, TW_STAGE_CAPS), *key = strstr(caps, "cache_bytes ");
    assert_non_null(key);
    (void)snprintf(out, n, "%.*scache_bytes %u%s", (int)(key - caps), caps, cache,
                   strchr(key, '\n'));
    tw_compiled_release(c);
}

static void run(tw_kernel *kernel, void *x, void *y, tw_elem elem, int threads) {
    int64_t shape[] = {ROWS, WIDTH};
    tw_tensor tx = {
        .data = x, .device = {1, 0}, .rank = 2, .dtype = tw_elem_dtype(elem), .shape = shape};
    tw_tensor ty = tx;
    ty.data = y;
    const tw_tensor *const tensors[] = {&tx, &ty};
    tw_call call = {.tensor = tensors, .tensors = 2, .threads = threads};
    assert_int_equal(tw_kernel_run(kernel, &call), TW_OK);
}

static bool is_streamed(const tw_compiled *c) {
    return strstr(tw_compiled_text(c, TW_STAGE_LOOP), " stream\n") != NULL;
}

/* Vectors of half a line at least. */
static bool can_stream(const char *caps, unsigned bytes) {
    const char *key = strstr(caps, "\nlane ");
    assert_non_null(key);
    return strtoul(key + 6, NULL, 10) * bytes >= 32;
}

/* bf16: numbers whose doubles are their pattern plus one in the exponent. */
static void at_all_starts(void **state) {
    static uint16_t x[2 * ROWS * WIDTH], y[2 * (ROWS * WIDTH + 2 * AROUND)];
    tw_context *ctx = *state;
    char caps[4096];
    describe(ctx, 1, caps, sizeof caps);
    for (unsigned wide = 0; wide < 2; wide++) {
        tw_compiled *c = compile(ctx, 0, wide ? "f32" : "bf16", caps);
        const unsigned step = wide ? 2 : 1, n = ROWS * WIDTH;
        assert_int_equal(is_streamed(c), can_stream(caps, wide ? 4 : 2));
        for (unsigned i = 0; i < n; i++)
            x[step * i + step - 1] = (uint16_t)(0x3f80 + i % 509); /* the upper half of an f32 */
        for (unsigned start = 0; start < AROUND; start++)
            for (int threads = 1; threads <= 2; threads++) {
                memset(y, 0x5a, sizeof y);
                run(tw_compiled_kernel(c), x, y + step * start, wide ? TW_F32 : TW_BF16, threads);
                for (unsigned i = 0; i < n + 2 * AROUND; i++) {
                    const bool inside = i >= start && i < start + n;
                    const unsigned want = inside ? 0x4000 + (i - start) % 509 : 0x5a5a;
                    assert_int_equal(y[step * i + step - 1], want);
                }
            }
        tw_compiled_release(c);
    }
}

static void not_what_is_read(void **state) {
    tw_context *ctx = *state;
    char caps[4096];
    describe(ctx, 1, caps, sizeof caps);
    tw_compiled *c = compile(ctx, 1, "f32", caps);
    assert_false(is_streamed(c));
    tw_compiled_release(c);
    c = compile(ctx, 0, "f32", NULL);
    assert_false(is_streamed(c));
    tw_compiled_release(c);
}

/* Rows of more than a page are asked for ahead where they lie far away, and follow each other: what
 * lies behind one that a value picks is nobody's. */
static void asks_ahead(void **state) {
    tw_context *ctx = *state;
    char caps[4096];
    describe(ctx, 1, caps, sizeof caps);
    static const struct {
        size_t kernel;
        int64_t width;
        bool small, ahead;
    } row[] = {{2, 8192, true, true},
               {2, 8192, false, false},
               {2, WIDTH, true, false},
               {3, 8192, true, false}};
    for (unsigned k = 0; k < sizeof row / sizeof *row; k++) {
        tw_compiled *c =
            compile_rows(ctx, row[k].kernel, "f32", row[k].small ? caps : NULL, ROWS, row[k].width);
        const bool ahead = strstr(tw_compiled_text(c, TW_STAGE_LOOP), " ahead 1024 ") != NULL;
        assert_int_equal(ahead, row[k].ahead && can_stream(caps, 4));
        tw_compiled_release(c);
    }
}

/* What a second phase reads is at hand: it asks for the row of the next group, if both fit. */
static void asks_for_the_next_row(void **state) {
    tw_context *ctx = *state;
    char caps[4096];
    static const struct {
        unsigned cache;
        const char *ahead;
        unsigned times;
    } row[] = {{8 * 8192, " ahead 2048 ", 1}, {8 * 8192 - 8, " ahead 2048 ", 0}};
    for (unsigned k = 0; k < sizeof row / sizeof *row; k++) {
        describe(ctx, row[k].cache, caps, sizeof caps);
        tw_compiled *c = compile_rows(ctx, 4, "f32", caps, 64, 2048);
        const char *loop = tw_compiled_text(c, TW_STAGE_LOOP),
                   *end = strstr(loop, "func below_aligned");
        assert_non_null(end);
        unsigned times = 0;
        for (const char *at = loop; (at = strstr(at, row[k].ahead)) && at < end; at++)
            times++;
        assert_int_equal(times, can_stream(caps, 4) ? row[k].times : 0);
        tw_compiled_release(c);
    }
}

int main(void) {
    tw_context *ctx = tw_context_create(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(at_all_starts, ctx),
        cmocka_unit_test_prestate(not_what_is_read, ctx),
        cmocka_unit_test_prestate(asks_ahead, ctx),
        cmocka_unit_test_prestate(asks_for_the_next_row, ctx),
    };
    const int status = cmocka_run_group_tests(tests, NULL, NULL);
    tw_context_destroy(ctx);
    return status;
}
