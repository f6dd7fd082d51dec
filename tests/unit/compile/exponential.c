/* SPDX-License-Identifier: Apache-2.0
 * exp as compilers leave it, for each instruction set there is here: the oracle's bits all over the
 * regions where its last step rounds to a subnormal, to 0 or to infinity, by vectors, by part of
 * one and alone; and what comes to 0 takes no longer than what does not.
 * links: front oracle
 */
#include "isas.h"
#include "oracle/portable.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WIDTH = 4096, ODD = 5 };

static const char text[] = "kernel power[T in {f32}](X: T[W], out Y: T[W]) {\n"
                           "    parallel w: W {\n"
                           "        Y[w] = exp(X[w])\n"
                           "    }\n"
                           "}\n";

static tw_context *ctx;
static tw_ir *ir;

static uint32_t bits_of(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static void same_bits(const char *isa, tw_compiled *c, int64_t width, float *x) {
    static float y[WIDTH];
    run(c, width, x, TW_F32, y, TW_F32);
    for (int64_t k = 0; k < width; k++) {
        const float want = twi_portable_exp(x[k]);
        if (bits_of(y[k]) != bits_of(want) && (y[k] == y[k] || want == want))
            fail_msg("%s, %lld at once: exp(%a) is %a, want %a", isa, (long long)width,
                     (double)x[k], (double)y[k], (double)want);
    }
}

/* Floats from..to, by their bits: all, or one in so many. */
static void region(const char *isa, tw_compiled *c, int64_t width, const float ends[2],
                   uint32_t step) {
    static float x[WIDTH];
    const uint32_t last = bits_of(ends[1]);
    for (uint32_t u = bits_of(ends[0]); u <= last;) {
        for (int64_t k = 0; k < width; k++, u += step)
            x[k] = of_bits(u);
        same_bits(isa, c, width, x);
    }
}

static void bits(void **state) {
    (void)state;
    static const float ends[][2] = {{-103.0f, -106.0f}, {-86.5f, -88.5f}, {88.0f, 89.5f}};
    static const float far[][2] = {{-0.0f, -FLT_MAX}, {0.0f, FLT_MAX}};
    static const uint32_t patterns[] = {0,           0x80000000u, 0x7f800000u, 0xff800000u,
                                        0x7fc00000u, 0xffc00000u, 0x7f7fffffu, 0xff7fffffu};
    static const int64_t widths[] = {WIDTH, ODD, 1};
    for (unsigned i = 0; i < ISAS; i++)
        for (unsigned w = 0; w < 3; w++) {
            tw_compiled *c = compiled(ctx, ir, i, widths[w]);
            if (!c)
                break;
            for (unsigned r = 0; r < 3; r++)
                region(isas[i], c, widths[w], ends[r], w ? 251 : 1);
            for (unsigned r = 0; r < 2; r++)
                region(isas[i], c, widths[w], far[r], w ? 1000003 : 1009);
            static float special[WIDTH + 8];
            for (unsigned k = 0; k < 8; k++)
                special[k] = of_bits(patterns[k]);
            for (unsigned k = 0; k < 8; k++)
                same_bits(isas[i], c, widths[w], special + k);
            tw_compiled_release(c);
        }
}

/* Seconds that some runs take. */
static double time_of(tw_compiled *c, float x) {
    static float from[WIDTH], to[WIDTH];
    struct timespec begin, end;
    for (int k = 0; k < WIDTH; k++)
        from[k] = x;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (int k = 0; k < 20; k++)
        run(c, WIDTH, from, TW_F32, to, TW_F32);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

/* Ten times as long, before. In turns, until the least times say so: a machine may be slow for as
 * long as one argument takes. */
static void as_fast(void **state) {
    (void)state;
    static const float none[] = {-105.0f, -1000.0f, -INFINITY};
    for (unsigned i = 0; i < ISAS; i++) {
        tw_compiled *c = compiled(ctx, ir, i, WIDTH);
        for (unsigned k = 0; c && k < 3; k++) {
            double one = 1e9, zero = 1e9;
            for (unsigned round = 0; round < 20 || (round < 2000 && zero > 3 * one); round++) {
                const double s = time_of(c, -1), t = time_of(c, none[k]);
                one = s < one ? s : one;
                zero = t < zero ? t : zero;
            }
            if (zero > 3 * one)
                fail_msg("%s: exp(%g) takes %g times as long as exp(-1)", isas[i], (double)none[k],
                         zero / one);
        }
        tw_compiled_release(c);
    }
}

int main(void) {
    const tw_binding types[] = {{"T", "f32"}};
    ctx = tw_context_create(NULL);
    tw_program *p = tw_program_parse(ctx, "power.tile", text, sizeof text - 1);
    ir = p ? tw_program_build(p, 0, types, 1) : NULL;
    if (!ir) {
        fputs(tw_diag_text(ctx, false), stderr);
        return 1;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits), cmocka_unit_test(as_fast)};
    const int status = cmocka_run_group_tests(tests, NULL, NULL);
    tw_context_destroy(ctx);
    return status;
}
