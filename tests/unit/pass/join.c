/* SPDX-License-Identifier: Apache-2.0
 * Joining: what two axes become, when dimensions go with them, and what is refused with which
 * reason.
 */
#include "base/context.h"
#include "ir/ir.h"
#include "pass/pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define HEAD "kernel k order free specialised\n"

/* X and Y have b, r and w side by side, B has not; P has an element more a row. */
static const char rows[] = HEAD "array X: in f32[2, 4, 40]\n"
                                "array B: in f32[40]\n"
                                "array P: in f32[4, 41]\n"
                                "array Y: out f32[2, 4, 40]\n"
                                "parallel b: 0 .. 2, r: 0 .. 4, w: 0 .. 40 {\n"
                                "    x: f32 = load X[b, r, w]\n"
                                "    B: f32 = load B[w]\n"
                                "    P: f32 = load P[r, w + 1]\n"
                                "    i: i64 = index r\n"
                                "    j: i64 = index w\n"
                                "    k: i64 = add i, j\n"
                                "    c: f32 = cast k\n"
                                "    add.1: f32 = add x, B\n"
                                "    add.2: f32 = add P, c\n"
                                "    y: f32 = add add.1, add.2\n"
                                "    store Y[b, r, w] = y\n"
                                "}\n";
static const char rows_joined[] = "array X: in f32[2, 160]\n"
                                  "array B: in f32[40]\n"
                                  "array P: in f32[4, 41]\n"
                                  "array Y: out f32[2, 160]\n"
                                  "parallel b: 0 .. 2, r_w: 0 .. 160 {\n"
                                  "    x: f32{b, r_w} = load X[b, r_w]\n"
                                  "    B: f32{r_w} = load B[r_w % 40]\n"
                                  "    P: f32{r_w} = load P[r_w // 40, r_w % 40 + 1]\n"
                                  "    i: i64{r_w} = ixval r_w // 40\n"
                                  "    j: i64{r_w} = ixval r_w % 40\n";
static const char all_joined[] =
    "array X: in f32[320]\n"
    "array B: in f32[40]\n"
    "array P: in f32[4, 41]\n"
    "array Y: out f32[320]\n"
    "parallel b_r_w: 0 .. 320 {\n"
    "    x: f32{b_r_w} = load X[b_r_w]\n"
    "    B: f32{b_r_w} = load B[b_r_w % 160 % 40]\n"
    "    P: f32{b_r_w} = load P[b_r_w % 160 // 40, b_r_w % 160 % 40 + 1]\n";

static tw_ir *read(tw_context *ctx, const char *text) {
    tw_ir *ir = twi_ir_parse(ctx, &ctx->arena, "test", text, strlen(text));
    if (!ir)
        fail_msg("%s", tw_diag_text(ctx, false));
    opt_lift(ir);
    return twi_ir_tables(ir, &ctx->arena);
}

static const char *print(tw_context *ctx, const tw_ir *ir) {
    twi_sb sb;
    twi_sb_init(&sb, &ctx->arena);
    twi_ir_print(ir, &sb);
    return twi_sb_text(&sb);
}

static unsigned axis(const tw_ir *ir, const char *name) {
    for (unsigned a = 1; a < ir->axis.n; a++)
        if (ir->axis.at[a].region &&
            strcmp(twi_text(&ir->ctx->names, ir->axis.at[a].name), name) == 0)
            return a;
    fail_msg("no axis %s", name);
    abort();
}

static uint32_t scope(const tw_ir *ir) {
    for (uint32_t r = 1; r < ir->region.n; r++)
        if (ir->region.at[r].kind == TWI_REGION_PAR)
            return r;
    return 0;
}

static bool join(tw_ir *ir, const char *slow, const char *fast) {
    return opt_join(ir, scope(ir), axis(ir, slow), axis(ir, fast));
}

static void goldens(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = read(ctx, rows);
    const twi_id store = ir->region.at[scope(ir)].body.at[10];
    assert_true(join(ir, "r", "w"));
    assert_non_null(strstr(print(ctx, ir), rows_joined));
    assert_int_equal(ir->array.at[1].passed_rank, 3);
    assert_int_equal(ir->array.at[2].passed_rank, 0);
    assert_true(join(ir, "b", "r_w"));
    assert_non_null(strstr(print(ctx, ir), all_joined));
    assert_int_equal(ir->array.at[1].passed_rank, 3);
    assert_string_equal(twi_text(&ctx->names, ir->region.at[scope(ir)].joined), "r w, b r_w");
    assert_int_equal(ir->ins.at[store].op, TWI_STORE); /* ids stay */
    tw_context_destroy(ctx);
}

/* Two dimensions in between, dimensions of strided arrays, and names that are taken. */
static void dimensions(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = read(ctx, rows);
    assert_true(join(ir, "b", "r"));
    assert_non_null(strstr(print(ctx, ir), "load X[b_r, w]"));
    assert_non_null(strstr(print(ctx, ir), "load P[b_r % 4, w + 1]"));
    ir = read(ctx, rows);
    assert_true(join(ir, "b", "w")); /* apart in memory */
    assert_non_null(strstr(print(ctx, ir), "load X[b_w // 40, r, b_w % 40]"));
    ir = read(ctx, rows);
    ir->strided = true;
    assert_true(join(ir, "r", "w"));
    assert_non_null(strstr(print(ctx, ir), "array X: in f32[2, 4, 40]"));
    assert_non_null(strstr(print(ctx, ir), "load X[b, r_w // 40, r_w % 40]"));
    ir = read(ctx, rows);
    ir->axis.at[axis(ir, "b")].name = twi_intern_str(&ctx->names, "r_w");
    assert_true(join(ir, "r", "w"));
    assert_non_null(strstr(print(ctx, ir), "parallel r_w: 0 .. 2, r_w_: 0 .. 160"));
    tw_context_destroy(ctx);
}

/* A tile axis becomes one of instances. */
static void kinds(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = read(ctx, HEAD "array X: in f32[4, 3, 5]\n"
                               "array Y: out f32[4, 3, 5]\n"
                               "parallel r: 0 .. 4 {\n"
                               "    axis v: 0 .. 3\n"
                               "    axis w: 0 .. 5\n"
                               "    X: f32{v, w} = load X[r, v, w]\n"
                               "    store Y[r, v, w] = X\n"
                               "}\n");
    assert_true(join(ir, "v", "w"));
    assert_int_equal(ir->axis.at[axis(ir, "v_w")].kind, TWI_AXIS_FULL);
    assert_true(join(ir, "r", "v_w"));
    assert_int_equal(ir->axis.at[axis(ir, "r_v_w")].kind, TWI_AXIS_INDEX);
    assert_non_null(strstr(print(ctx, ir), "array X: in f32[60]\n"
                                           "array Y: out f32[60]\n"
                                           "parallel r_v_w: 0 .. 60 {\n"));
    tw_context_destroy(ctx);
}

static void refused(void **state) {
    (void)state;
#define ONE(par, body)                                                                             \
    HEAD "array X: in f32[4, 40]\narray Y: out f32[4, 40]\n" par " {\n" body "}\n"
#define MOVE "    X: f32 = load X[r, w]\n    store Y[r, w] = X\n"
    static const char plain[] = ONE("parallel r: 0 .. 4, w: 0 .. 40", MOVE);
    static const struct {
        const char *text, *slow, *fast, *why;
    } cases[] = {
        {plain, "r", "r", "not joined to itself"},
        {ONE("parallel r: 0 .. 4, w: 0 .. 40 tile 8", "    X: f32{w} = load X[r, w]\n"
                                                      "    store Y[r, w] = X\n"),
         "r", "w", "axis w goes by blocks"},
        {HEAD "array X: in f32[4, 40]\narray Y: out f32[4, 40] = 0\n"
              "parallel r: 1 .. 4, w: 0 .. 40 {\n" MOVE "}\n",
         "r", "w", "axis r does not run from 0"},
        {HEAD "array X: in f32[4, 40]\narray Y: out f32[4]\nparallel r: 0 .. 4 {\n"
              "    axis w: 0 .. 40\n    X: f32{w} = load X[r, w]\n    s: f32 = sum[w] free X\n"
              "    store Y[r] = s\n}\n",
         "r", "w", "sum s runs along axis w"},
        {HEAD "array X: in f32[4, 40]\narray Y: out f32[4, 40]\narray Z: out f32[4]\n"
              "parallel r: 0 .. 4 {\n    axis w: 0 .. 40\n    X: f32{w} = load X[r, w]\n"
              "    store Y[r, w] = X\n    one: f32 = const 1\n    store Z[r] = one\n}\n",
         "r", "w", "what is stored to Z depends on r alone"},
        {HEAD "array X: in f32[4, 4, 9]\narray Y: out f32[4, 4]\n"
              "parallel r: 0 .. 4, w: 0 .. 4 {\n    axis k: 0 .. w + 1\n"
              "    X: f32{k} = load X[r, w, k]\n    s: f32 = sum[k] free X\n"
              "    store Y[r, w] = s\n}\n",
         "r", "w", "the bounds of axis k depend on them"},
        {HEAD "array X: in f32[4, 40]\narray I: in i64[40]\narray Y: out f32[4, 40] = 0\n"
              "parallel w: 0 .. 40, r: 0 .. 4 {\n    I: i64 = load I[w]\n"
              "    X: f32 = load X[r, w]\n    store Y[r, $I] checked = X\n}\n",
         "r", "w", "accesses to Y are checked"},
        {HEAD
         "array X: in f32[4, 9]\narray Z: in f32[9, 5]\narray Y: out f32[4, 5]\n"
         "parallel r: 0 .. 4, w: 0 .. 5 {\n    axis k: 0 .. 9\n"
         "    X: f32{k} = load X[r, k]\n    Z: f32{k} = load Z[k, w]\n"
         "    zero: f32 = const 0\n    d: f32 = dot[k] free X, Z, zero\n    store Y[r, w] = d\n}\n",
         "r", "w", "dot d has axis r"},
        {HEAD "array X: in f32[4, 40, 3]\narray Y: out f32[4, 40]\n"
              "parallel r: 0 .. 4, w: 0 .. 40 {\n    zero: f32 = const 0\n"
              "    serial s: 0 .. 3 {\n        a: f32 = carry zero\n"
              "        X: f32 = load X[r, w, s]\n        b: f32 = add a, X\n"
              "        yield b\n    }\n    c: f32 = result s 0\n    store Y[r, w] = c\n}\n",
         "r", "w", "the scope has a serial region"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        tw_context *ctx = tw_context_create(NULL);
        tw_ir *ir = read(ctx, cases[k].text);
        const char *before = print(ctx, ir);
        const char *why =
            twi_join_fault(ir, scope(ir), axis(ir, cases[k].slow), axis(ir, cases[k].fast));
        if (!why || !strstr(why, cases[k].why))
            fail_msg("'%s' instead of '%s' for\n%s", why ? why : "joined", cases[k].why, before);
        assert_false(join(ir, cases[k].slow, cases[k].fast));
        assert_string_equal(print(ctx, ir), before);
        tw_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(goldens), cmocka_unit_test(dimensions),
                                       cmocka_unit_test(kinds), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
