/* SPDX-License-Identifier: Apache-2.0
 * f32 to bf16 as compilers leave it, for each instruction set there is here: every bf16 with what
 * lies around it and around the middle to the next one, subnormals too (which x86's instruction
 * takes as 0), alone in a vector and side by side. What is right: the nearer one, by doubles.
 * links: front
 */
#include "isas.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 4096, VECTOR = 16 };

static const char text[] = "kernel narrow[T in {bf16}](X: f32[W], out Y: T[W]) {\n"
                           "    parallel w: W {\n"
                           "        Y[w] = X[w]\n"
                           "    }\n"
                           "}\n";

static tw_context *ctx;
static tw_ir *ir;

/* Magnitudes: beyond the largest one lies what would be 2^128. */
static double value(uint32_t upper) {
    return upper == 0x7f80 ? 0x1p128 : (double)of_bits(upper << 16);
}

static uint16_t nearest(uint32_t u) {
    const uint32_t low = u >> 16 & 0x7fff, sign = u >> 16 & 0x8000;
    const double x = fabs((double)of_bits(u));
    if ((u & 0x7f800000) == 0x7f800000)
        return (uint16_t)(sign | low);
    const double down = x - value(low), up = value(low + 1) - x;
    return (uint16_t)(sign | (low + (up < down || (up == down && (low & 1)))));
}

static void right(const char *isa, tw_compiled *c, int64_t width, uint32_t *x) {
    static uint16_t y[WIDTH];
    run(c, width, x, TW_F32, y, TW_BF16);
    for (int64_t k = 0; k < width; k++) {
        const bool nan = (x[k] & 0x7fffffff) > 0x7f800000;
        if (nan ? (y[k] & 0x7fff) <= 0x7f80 : y[k] != nearest(x[k]))
            fail_msg("%s: %08x becomes %04x, not %04x", isa, x[k], y[k], nearest(x[k]));
    }
}

static const uint32_t around[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x1234, 0xfedc};
enum { AROUND = sizeof around / sizeof *around };

static void side_by_side(const char *isa, tw_compiled *c) {
    static uint32_t x[WIDTH];
    for (uint32_t upper = 0; upper < 0x10000; upper += WIDTH / AROUND) {
        for (uint32_t k = 0; k < WIDTH; k++)
            x[k] = (upper + k / AROUND) << 16 | around[k % AROUND];
        right(isa, c, WIDTH, x);
    }
}

/* One subnormal or special among others of a vector, in every place. */
static void alone(const char *isa, tw_compiled *c) {
    static const uint32_t odd[] = {1,          0x8000,     0x8001,     0x18000,    0x7fffff,
                                   0x807fffff, 0x80018000, 0x7f800000, 0x7f800001, 0x7f7fffff};
    static uint32_t x[WIDTH];
    for (uint32_t k = 0; k < WIDTH; k++)
        x[k] = 0x3f800000 + k * 0x1357;
    for (uint32_t k = 0; k < WIDTH / VECTOR; k++)
        x[k * VECTOR + k % VECTOR] = odd[k / VECTOR % (sizeof odd / sizeof *odd)];
    right(isa, c, WIDTH, x);
}

static void bits(void **state) {
    (void)state;
    for (unsigned i = 0; i < ISAS; i++) {
        tw_compiled *c = compiled(ctx, ir, i, WIDTH), *one = c ? compiled(ctx, ir, i, 1) : NULL;
        if (!c)
            continue;
        side_by_side(isas[i], c);
        alone(isas[i], c);
        for (uint32_t upper = 0; upper < 0x10000; upper += 127)
            for (unsigned k = 0; k < AROUND; k++) {
                uint32_t x = upper << 16 | around[k];
                right(isas[i], one, 1, &x);
            }
        tw_compiled_release(c);
        tw_compiled_release(one);
    }
}

int main(void) {
    const tw_binding types[] = {{"T", "bf16"}};
    ctx = tw_context_create(NULL);
    tw_program *p = tw_program_parse(ctx, "narrow.tile", text, sizeof text - 1);
    ir = p ? tw_program_build(p, 0, types, 1) : NULL;
    if (!ir) {
        fputs(tw_diag_text(ctx, false), stderr);
        return 1;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits)};
    const int status = cmocka_run_group_tests(tests, NULL, NULL);
    tw_context_destroy(ctx);
    return status;
}
