/* SPDX-License-Identifier: Apache-2.0
 * f16 to f32 and back as compilers leave it, for each instruction set there is here, in vectors of
 * all widths and one by one, and by a compiler that is told of no instruction: all 65536 halves;
 * and around each of them and around the middle to the next one, what must become it. What is
 * right: by doubles. links: front
 */
#include "../target/support.h"
#include "base/context.h"
#include "isas.h"

#include <math.h>
#include <stdio.h>

enum { HALVES = 0x10000, AROUND = 8, NEAR = HALVES * AROUND };
static const int64_t widths[] = {HALVES, 21, 4, 3, 1}; /* 21: vectors of 16 or 8, 4, one alone */
enum { WIDTHS = sizeof widths / sizeof *widths };

static const char text[] = "kernel k[T in {f32, f16}, U in {f32, f16}](X: T[W], out Y: U[W]) {\n"
                           "    parallel w: W {\n"
                           "        Y[w] = X[w]\n"
                           "    }\n"
                           "}\n";

static tw_context *ctx;
static tw_ir *to_single, *to_half;

/* Of its 15 lower bits; beyond the largest one lies what would be 2^16. */
static double value(uint32_t h) {
    const uint32_t exponent = h >> 10 & 31, fraction = h & 0x3ff;
    return exponent ? ldexp((double)(0x400 + fraction), (int)exponent - 25)
                    : ldexp((double)fraction, -24);
}

static uint32_t bits_of(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* What runs: a compiled kernel, or its text from a compiler that is told of nothing. */
typedef void runner(tw_compiled *c, int64_t width, const void *x, tw_elem from, void *y,
                    tw_elem to);

static void plainly(tw_compiled *c, int64_t width, const void *x, tw_elem from, void *y,
                    tw_elem to) {
    void *const arrays[] = {NULL, (void *)(uintptr_t)x, y};
    const char *groups = strstr(tw_compiled_text(c, TW_STAGE_PLAN), "derived groups ");
    (void)width, (void)from, (void)to;
    run_plain(&ctx->arena, "halves_test", tw_compiled_text(c, TW_STAGE_SOURCE), arrays,
              strtoll(groups + sizeof "derived groups " - 1, NULL, 10));
}

static void widens(const char *how, runner *runs, tw_compiled *c, int64_t width) {
    static uint16_t x[HALVES];
    static float y[HALVES];
    for (uint32_t h = 0; h < HALVES; h += (uint32_t)width) {
        for (int64_t k = 0; k < width; k++)
            x[k] = (uint16_t)(h + k);
        runs(c, width, x, TW_F16, y, TW_F32);
        for (int64_t k = 0; k < width; k++) {
            const uint32_t low = x[k] & 0x7fff;
            const double want = low == 0x7c00 ? (double)INFINITY : value(low);
            if (low > 0x7c00 ? !isnan(y[k])
                             : (double)fabsf(y[k]) != want || !signbit(y[k]) != !(x[k] >> 15))
                fail_msg("%s, %d wide: %04x becomes %a", how, (int)width, x[k], (double)y[k]);
        }
    }
}

static uint16_t nearest(uint32_t u) {
    const double x = fabs((double)of_bits(u));
    uint32_t low = 0; /* the greatest half that is not above x */
    for (uint32_t step = 0x4000; step; step >>= 1)
        if (low + step <= 0x7c00 && value(low + step) <= x)
            low += step;
    const double down = x - value(low), up = value(low + 1) - x;
    if (low < 0x7c00 && (up < down || (up == down && (low & 1))))
        low++;
    return (uint16_t)((u >> 16 & 0x8000) | low);
}

/* Patterns of f32 near half h: itself, the middle to the next one, the neighbours of both. */
static uint32_t near_half(uint32_t h, uint32_t k) {
    static const uint32_t specials[AROUND] = {0x7fc00000, 0x7f800001, 0x7f800000, 0x7fffffff,
                                              0x7f7fffff, 1,          0x007fffff, 0x00800000};
    const uint32_t low = h & 0x7fff, sign = h >> 15 << 31;
    if (low >= 0x7c00)
        return sign | specials[k];
    const float at = (float)value(low), middle = (float)((value(low) + value(low + 1)) / 2);
    const uint32_t u = bits_of(k < AROUND / 2 ? at : middle), by = k % (AROUND / 2);
    return sign | (by == 1 ? u + 1 : by == 2 && u > 0 ? u - 1 : by == 3 ? u + 0x800 : u);
}

static void narrows(const char *how, runner *runs, tw_compiled *c, int64_t width) {
    static uint32_t x[NEAR];
    static uint16_t y[NEAR];
    for (uint32_t at = 0; at < NEAR; at += (uint32_t)width) {
        for (int64_t k = 0; k < width; k++)
            x[k] = near_half((at + (uint32_t)k) / AROUND % HALVES, (at + (uint32_t)k) % AROUND);
        runs(c, width, x, TW_F32, y, TW_F16);
        for (int64_t k = 0; k < width; k++) {
            const bool nan = (x[k] & 0x7fffffff) > 0x7f800000;
            if (nan ? (y[k] & 0x7fff) <= 0x7c00 : y[k] != nearest(x[k]))
                fail_msg("%s, %d wide: %08x becomes %04x, not %04x", how, (int)width, x[k], y[k],
                         nearest(x[k]));
        }
    }
}

static void by_instruction_set(void **state) {
    (void)state;
    for (unsigned i = 0; i < ISAS; i++)
        for (unsigned w = 0; w < WIDTHS; w++) {
            tw_compiled *up = compiled(ctx, to_single, i, widths[w]);
            if (!up)
                break;
            widens(isas[i], run, up, widths[w]);
            tw_compiled_release(up);
            tw_compiled *down = compiled(ctx, to_half, i, widths[w]);
            narrows(isas[i], run, down, widths[w]);
            tw_compiled_release(down);
        }
}

static tw_compiled *printed(const char *target, const tw_ir *ir, int64_t width) {
    const tw_dim_value dims[] = {{"W", width}};
    tw_compile_options options = tw_compile_options_defaults();
    tw_compiled *c = NULL;
    options.target = target;
    options.build = false;
    options.dims = dims;
    options.n_dims = 1;
    if (tw_compile(ctx, ir, &options, &c) != TW_OK)
        fail_msg("%s: %s", target, tw_diag_text(ctx, false));
    const char *source = tw_compiled_text(c, TW_STAGE_SOURCE);
    assert_non_null(strstr(source, ir == to_half ? "vcvtps2ph" : "vcvtph2ps"));
    return c;
}

static void text_without_instructions(void **state) {
    static const char *const targets[] = {"cpu-avx2", "cpu-avx512"};
    (void)state;
    for (unsigned t = 0; t < 2; t++) {
        tw_compiled *up = printed(targets[t], to_single, HALVES);
        tw_compiled *down = printed(targets[t], to_half, NEAR);
        widens("text", plainly, up, HALVES);
        narrows("text", plainly, down, NEAR);
        tw_compiled_release(up);
        tw_compiled_release(down);
    }
}

static tw_ir *built(tw_program *p, const char *from, const char *to) {
    const tw_binding types[] = {{"T", from}, {"U", to}};
    return p ? tw_program_build(p, 0, types, 2) : NULL;
}

int main(void) {
    ctx = tw_context_create(NULL);
    tw_program *p = tw_program_parse(ctx, "halves.tile", text, sizeof text - 1);
    to_single = built(p, "f16", "f32");
    to_half = built(p, "f32", "f16");
    if (!to_single || !to_half) {
        fputs(tw_diag_text(ctx, false), stderr);
        return 1;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_instruction_set),
                                       cmocka_unit_test(text_without_instructions)};
    const int status = cmocka_run_group_tests(tests, NULL, NULL);
    tw_context_destroy(ctx);
    return status;
}
