/* SPDX-License-Identifier: Apache-2.0
 * Merging: what two folds become, and what is left alone.
 */
#include "base/context.h"
#include "ir/ir.h"
#include "pass/pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define HEAD                                                                                       \
    "kernel k order free specialised\n"                                                            \
    "dim R = 4\n"                                                                                  \
    "dim W = 40\n"                                                                                 \
    "array X: in f32[4, 40]\n"                                                                     \
    "array Y: out f32[4, 40]\n"                                                                    \
    "parallel r: 0 .. 4 {\n"                                                                       \
    "    axis w: 0 .. 40\n"                                                                        \
    "    n: f32 = const 40\n"                                                                      \
    "    x: f32{w} = load X[r, w]\n"

static const char softmax[] = HEAD "    m: f32 = max[w] free x\n"
                                   "    d: f32{w} = sub x, m\n"
                                   "    p: f32{w} = exp d\n"
                                   "    s: f32 = sum[w] free p\n"
                                   "    y: f32{w} = div p, s\n"
                                   "    store Y[r, w] = y\n"
                                   "}\n";
static const char softmax_merged[] = HEAD "    m: f32 = logsumexp[w] free x\n"
                                          "    d: f32{w} = sub x, m\n"
                                          "    p: f32{w} = exp d\n"
                                          "    s: f32 = part 1 of m\n"
                                          "    y: f32{w} = div p, s\n"
                                          "    store Y[r, w] = y\n"
                                          "}\n";

/* Centred twice: the sum of the first differences stays. */
static const char layernorm[] = HEAD "    s: f32 = sum[w] free x\n"
                                     "    mean: f32 = div s, n\n"
                                     "    c0: f32{w} = sub x, mean\n"
                                     "    t: f32 = sum[w] free c0\n"
                                     "    off: f32 = div t, n\n"
                                     "    c: f32{w} = sub c0, off\n"
                                     "    cc: f32{w} = mul c, c\n"
                                     "    q: f32 = sum[w] free cc\n"
                                     "    y: f32{w} = div c, q\n"
                                     "    store Y[r, w] = y\n"
                                     "}\n";
static const char layernorm_merged[] = HEAD "    s: f32 = moments[w] free x\n"
                                            "    c0: f32{w} = sub x, s\n"
                                            "    t: f32 = sum[w] free c0\n"
                                            "    off: f32 = div t, n\n"
                                            "    c: f32{w} = sub c0, off\n"
                                            "    q: f32 = part 1 of s\n"
                                            "    y: f32{w} = div c, q\n"
                                            "    store Y[r, w] = y\n"
                                            "}\n";

static tw_ir *read(tw_context *ctx, const char *text) {
    tw_ir *ir = twi_ir_parse(ctx, &ctx->arena, "test", text, strlen(text));
    if (!ir)
        fail_msg("%s", tw_diag_text(ctx, false));
    return ir;
}

static const char *print(tw_context *ctx, const tw_ir *ir) {
    twi_sb sb;
    twi_sb_init(&sb, &ctx->arena);
    twi_ir_print(ir, &sb);
    return twi_sb_text(&sb);
}

static unsigned merge_all(tw_ir *ir) {
    unsigned n = 0;
    for (twi_id v = 1; v < ir->ins.n; v++)
        n += opt_merge(ir, v);
    return n;
}

static void goldens(void **state) {
    (void)state;
    static const struct {
        const char *text, *want, *name;
    } cases[] = {{softmax, softmax_merged, "s"}, {layernorm, layernorm_merged, "q"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        tw_context *ctx = tw_context_create(NULL);
        tw_ir *ir = read(ctx, cases[k].text);
        assert_int_equal(merge_all(ir), 1);
        assert_string_equal(print(ctx, ir), cases[k].want);
        assert_string_equal(twi_text(&ctx->names, ir->merged), cases[k].name);
        assert_true(twi_ir_verify(ir));
        assert_int_equal(merge_all(ir), 0); /* once */
        assert_string_equal(print(ctx, read(ctx, cases[k].want)), cases[k].want);
        opt_lift(ir);
        assert_true(twi_ir_verify(ir));
        tw_context_destroy(ctx);
    }
}

/* The text with one piece replaced. */
static const char *changed(tw_context *ctx, const char *text, const char *old, const char *now) {
    const char *at = strstr(text, old);
    assert_non_null(at);
    return twi_format(&ctx->arena, "%.*s%s%s", (int)(at - text), text, now, at + strlen(old));
}

/* A sum that is used otherwise stays, and the next mean takes the squares. */
static void other_uses(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = read(ctx, changed(ctx, layernorm, "div c, q", "div c, s"));
    assert_int_equal(merge_all(ir), 1);
    assert_int_equal(ir->ins.at[twi_value_named(ir, "s", 1)].op, TWI_SUM);
    assert_int_equal(ir->ins.at[twi_value_named(ir, "t", 1)].op, TWI_MOMENTS);
    tw_context_destroy(ctx);
}

/* Everything that makes two folds something else than one. */
static void left_alone(void **state) {
    (void)state;
    static const struct {
        const char *text, *old, *now;
    } cases[] = {
        {softmax, "sum[w] free p", "sum[w] canonical p"},
        {softmax, "sub x, m", "sub m, x"},
        {softmax, "sub x, m", "sub x, n"},
        {softmax, "max[w] free x", "min[w] free x"},
        {softmax, "sum[w] free p", "prod[w] free p"},
        {layernorm, "sum[w] free cc", "sum[w] canonical cc"},
        {layernorm, "const 40", "const 39"},
        {layernorm, "mul c, c\n", "mul c, c0\n"},
        {layernorm, "mul c, c\n", "mul x, x\n"},
        {layernorm, "sum[w] free c0", "sum[w] left c0"},
        {layernorm, "sum[w] free c0", "sum[w] free x"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        tw_context *ctx = tw_context_create(NULL);
        const char *text = changed(ctx, cases[k].text, cases[k].old, cases[k].now);
        tw_ir *ir = read(ctx, text);
        if (merge_all(ir) != 0)
            fail_msg("%s for %s: merged\n%s", cases[k].now, cases[k].old, print(ctx, ir));
        assert_string_equal(print(ctx, ir), text);
        tw_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(goldens), cmocka_unit_test(other_uses),
                                       cmocka_unit_test(left_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
