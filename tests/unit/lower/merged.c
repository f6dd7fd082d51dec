/* SPDX-License-Identifier: Apache-2.0
 * Merges are symmetric to the bit: a tree over lanes or slots, run by the interpreter, gives the
 * same bits for a row and for its mirror image, in which every merge takes its operands the other
 * way round.
 * links: search
 */
#include "support.h"

#include "base/hash.h"

#include <math.h>

enum { W = 16 };
static const char *const folds[] = {"logsumexp", "moments"};
static const struct {
    const char *caps, *map;
} maps[] = {{"cpu-avx512", "lane 16"},          {"cpu-avx512", "slot 16"},
            {"cpu-avx512", "slot 2, lane 8"},   {"simt4", "slot 4, lane 4"},
            {"simt4", "slot 2, sub 2, lane 4"}, {"simt32", "lane 16"}};

static tw_ir *kernel(const bench *b, const char *fold) {
    tw_ir *ir = kernel_of(b, twi_format(b->a,
                                        "kernel k order free specialised\n"
                                        "array X: in f32[16]\n"
                                        "array Y: out f32[2]\n"
                                        "parallel r: 0 .. 1 {\n"
                                        "    axis w: 0 .. 16\n"
                                        "    x: f32{w} = load X[w + r]\n"
                                        "    a: f32 = %s[w] free x\n"
                                        "    b: f32 = part 1 of a\n"
                                        "    store Y[r] = a\n"
                                        "    store Y[r + 1] = b\n"
                                        "}\n",
                                        fold));
    ir->merged = twi_intern_str(&b->ctx->names, "b");
    return ir;
}

static void run(const bench *b, const twi_loop *loop, float *x, float *y) {
    void *const arrays[] = {x, y};
    twi_interp_result r = interpret(b->a, loop, 0, arrays, 2);
    if (r.fault.kind)
        fail_msg("%s", r.fault.text);
}

static void mirrored(void **state) {
    (void)state;
    twi_rng rng;
    twi_rng_init(&rng, 1);
    for (size_t f = 0; f < 2; f++)
        for (size_t m = 0; m < sizeof maps / sizeof maps[0]; m++) {
            const bench b = bench_on(maps[m].caps);
            tw_ir *ir = kernel(&b, folds[f]);
            const twi_plans *plans = written_plans(
                &b, ir,
                twi_format(b.a, "plan k/0 class=free\nframe f: r = grid 1 ; w = %s\nentry main\n",
                           maps[m].map));
            twi_loop *loop = lowered(&b, ir, plans);
            for (unsigned row = 0; row < 100; row++) {
                float x[2][W], y[2][2];
                for (unsigned k = 0; k < W; k++)
                    x[1][W - 1 - k] = x[0][k] = (float)(twi_rng_unit(&rng) * 8.0 - 3.0);
                run(&b, loop, x[0], y[0]);
                run(&b, loop, x[1], y[1]);
                assert_false(isnan(y[0][0]) || isnan(y[0][1]));
                assert_memory_equal(y[0], y[1], sizeof y[0]);
            }
            bench_end(&b);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(mirrored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
