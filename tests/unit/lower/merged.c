/* SPDX-License-Identifier: Apache-2.0
 * Merges are symmetric to the bit: a tree over lanes or slots, run by the interpreter, gives the
 * same bits for a row and for its mirror image, in which every merge takes its operands the other
 * way round. links: search
 */
#include "base/hash.h"
#include "loop/interp.h"
#include "lower/lower.h"
#include "pass/pass.h"
#include "plan/plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { W = 16 };
static const char *const folds[] = {"logsumexp", "moments"};
static const struct {
    const char *caps, *map;
} maps[] = {{"cpu-avx512", "lane 16"},          {"cpu-avx512", "slot 16"},
            {"cpu-avx512", "slot 2, lane 8"},   {"simt4", "slot 4, lane 4"},
            {"simt4", "slot 2, sub 2, lane 4"}, {"simt32", "lane 16"}};

static tw_ir *kernel(tw_context *ctx, const char *fold) {
    const char *text = twi_format(&ctx->arena,
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
                                  fold);
    tw_ir *ir = twi_ir_parse(ctx, &ctx->arena, "k", text, strlen(text));
    if (!ir)
        fail_msg("%s", tw_diag_text(ctx, false));
    ir->merged = twi_intern_str(&ctx->names, "b");
    opt_lift(ir);
    return ir;
}

static void interpret(twi_arena *a, twi_loop *loop, float *x, float *y) {
    static const int64_t shape[2][1] = {{W}, {2}}, stride[1] = {1};
    twi_interp_array arrays[3] = {{0}, {x, shape[0], stride}, {y, shape[1], stride}};
    twi_interp_result r = {0};
    twi_interp_run(loop, 0, arrays, NULL, a, &r);
    if (r.fault.kind)
        fail_msg("%s", r.fault.text);
}

static void mirrored(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    twi_rng rng;
    twi_rng_init(&rng, 1);
    for (size_t f = 0; f < 2; f++)
        for (size_t m = 0; m < sizeof maps / sizeof maps[0]; m++) {
            tw_ir *ir = kernel(ctx, folds[f]);
            twi_caps caps;
            twi_plans plans;
            assert_true(twi_caps_named(ctx, maps[m].caps, &caps));
            const char *text = twi_format(
                &ctx->arena, "plan k/0 class=free\nframe f: r = grid 1 ; w = %s\n", maps[m].map);
            if (!twi_plan_parse(&ctx->arena, ir, "p", text, strlen(text), &plans))
                fail_msg("%s", tw_diag_text(ctx, false));
            twi_why why = {""};
            if (!twi_plan_legal(ir, &caps, &plans.scope[0], &why))
                fail_msg("%s: %s", maps[m].map, why.text);
            twi_loop *loop = twi_lower(&ctx->arena, ir, &caps, &plans);
            for (unsigned row = 0; row < 100; row++) {
                float x[2][W], y[2][2];
                for (unsigned k = 0; k < W; k++)
                    x[1][W - 1 - k] = x[0][k] = (float)(twi_rng_unit(&rng) * 8.0 - 3.0);
                interpret(&ctx->arena, loop, x[0], y[0]);
                interpret(&ctx->arena, loop, x[1], y[1]);
                assert_false(isnan(y[0][0]) || isnan(y[0][1]));
                assert_memory_equal(y[0], y[1], sizeof y[0]);
            }
        }
    tw_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(mirrored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
