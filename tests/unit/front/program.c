/* SPDX-License-Identifier: Apache-2.0
 * The interface of programs: declarations, bindings, checks of all choices, and running out of
 * memory at every single allocation. links: front
 */
#include "front/ast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char text[] =
    "fn gelu(x) = 0.5 * x * (1.0 + erf(x))\n"
    "kernel first[T in {f32, bf16}, CAUSAL in {false, true}, S = 4, E in {none, gelu}](X: T[R, W], "
    "dyn Q, out Y: T[R, 2 * W], eps: f32 = 1e-5, n: i64, Z: i8[S]) {\n"
    "    param BI in {32, 64}\n"
    "    parallel r: R { axis w: W\n"
    "        x = X[r, w]\n"
    "        if E == gelu { x = gelu(x) }\n"
    "        Y[r, w] = x; Y[r, w + W] = x * eps\n"
    "    }\n"
    "}\n"
    "kernel second(out Y: f32[N]) { parallel n: N { Y[n] = 1.0 } }\n";

static tw_program *parsed(tw_context *ctx) {
    tw_program *p = tw_program_parse(ctx, "program.tile", text, strlen(text));
    if (!p)
        fail_msg("%s", tw_diag_text(ctx, false));
    return p;
}

static void test_declarations(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_program *p = parsed(ctx);
    assert_int_equal(tw_program_kernels(p), 2);
    assert_string_equal(tw_program_kernel(p, 0), "first");
    assert_string_equal(tw_program_kernel(p, 1), "second");
    assert_null(tw_program_kernel(p, 2));
    static const struct {
        tw_decl_kind kind;
        const char *name;
        size_t choices;
    } want[] = {{TW_DECL_TYPE, "T", 2},     {TW_DECL_CONST, "CAUSAL", 2}, {TW_DECL_CONST, "S", 1},
                {TW_DECL_CONST, "E", 2},    {TW_DECL_DIM, "Q", 0},        {TW_DECL_DIM, "R", 0},
                {TW_DECL_DIM, "W", 0},      {TW_DECL_ARRAY, "X", 0},      {TW_DECL_ARRAY, "Y", 0},
                {TW_DECL_SCALAR, "eps", 0}, {TW_DECL_SCALAR, "n", 0},     {TW_DECL_ARRAY, "Z", 0},
                {TW_DECL_PARAM, "BI", 2}};
    assert_int_equal(tw_program_decls(p, 0), sizeof want / sizeof *want);
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        const tw_decl *d = tw_program_decl(p, 0, k);
        assert_string_equal(d->name, want[k].name);
        assert_int_equal(d->kind, want[k].kind);
        assert_int_equal(d->choices, want[k].choices);
    }
    assert_null(tw_program_decl(p, 0, sizeof want / sizeof *want));
    assert_string_equal(tw_program_decl(p, 0, 0)->choice[1], "bf16");
    assert_string_equal(tw_program_decl(p, 0, 3)->choice[1], "gelu");
    assert_true(tw_program_decl(p, 0, 2)->open);
    assert_false(tw_program_decl(p, 0, 1)->open);
    const tw_decl *y = tw_program_decl(p, 0, 8), *eps = tw_program_decl(p, 0, 9);
    assert_int_equal(y->role, TW_ROLE_OUT);
    assert_int_equal(y->rank, 2);
    assert_int_equal(y->elem, TW_NONE);
    assert_string_equal(y->elem_name, "T");
    assert_string_equal(y->dims[1], "2 * W");
    assert_true(eps->has_default);
    assert_int_equal(eps->elem, TW_F32);
    assert_false(tw_program_decl(p, 0, 10)->has_default);
    tw_context_destroy(ctx);
}

static void test_bindings(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_program *p = parsed(ctx);
    tw_binding b[] = {{"T", "bf16"}, {"CAUSAL", "true"}, {"E", "gelu"}, {"S", "7"}};
    tw_ir *ir = tw_program_build(p, 0, b, 4);
    if (!ir)
        fail_msg("%s", tw_diag_text(ctx, false));
    const char *ir_text = tw_ir_text(ctx, ir);
    assert_non_null(strstr(ir_text, "note \"T=bf16 CAUSAL=true S=7 E=gelu BI=32\""));
    assert_non_null(strstr(ir_text, "array Z: in i8[7]"));
    assert_non_null(strstr(ir_text, "erf"));
    assert_non_null(tw_program_build(p, 1, NULL, 0));
    assert_int_equal(tw_diag_count(ctx), 0);
    assert_null(tw_program_build(p, 2, NULL, 0));
    assert_int_equal(tw_diag_count(ctx), 1);
    tw_context_destroy(ctx);
}

static void test_wrong_bindings(void **state) {
    (void)state;
    static const struct {
        tw_binding b[3];
        size_t n;
        int code;
        const char *says;
    } bad[] = {
        {{{"T", "f32"}, {"CAUSAL", "true"}}, 2, TWI_E_UNBOUND, "E=none, for example"},
        {{{"T", "bf61"}, {"CAUSAL", "true"}, {"E", "none"}},
         3,
         TWI_E_BAD_BINDING,
         "did you mean 'bf16'?"},
        {{{"T", "f64"}, {"CAUSAL", "true"}, {"E", "none"}},
         3,
         TWI_E_BAD_BINDING,
         "one of f32, bf16"},
        {{{"CAUSL", "true"}}, 1, TWI_E_NO_SUCH_DECL, "did you mean 'CAUSAL'?"},
        {{{"S", "x"}}, 1, TWI_E_BAD_BINDING, "an integer"},
        {{{"BI", "48"}}, 1, TWI_E_BAD_BINDING, "one of 32, 64"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tw_context *ctx = tw_context_create(NULL);
        assert_null(tw_program_build(parsed(ctx), 0, bad[k].b, bad[k].n));
        bool found = false;
        for (size_t j = 0; j < tw_diag_count(ctx); j++) {
            tw_diag d = tw_diag_get(ctx, j);
            found = found || (d.code == bad[k].code && (strstr(d.text, bad[k].says) ||
                                                        (d.help && strstr(d.help, bad[k].says))));
        }
        if (!found)
            fail_msg("case %zu: %s", k, tw_diag_text(ctx, false));
        tw_context_destroy(ctx);
    }
}

static bool checks(const char *source, int *code) {
    tw_context *ctx = tw_context_create(NULL);
    tw_program *p = tw_program_parse(ctx, "check.tile", source, strlen(source));
    bool good = p && tw_program_check(p);
    *code = tw_diag_count(ctx) ? tw_diag_get(ctx, 0).code : 0;
    tw_context_destroy(ctx);
    return good;
}

static void test_check_takes_all_choices(void **state) {
    (void)state;
    int code;
    assert_true(checks(text, &code));
    /* wrong for the second type, the last of 100 combinations, the second param, and the branch not
     * taken */
    assert_false(checks(
        "kernel k[T in {f32, i32}](X: T[N], out Y: T[N]) { parallel n: N { Y[n] = exp(X[n]) } }",
        &code));
    assert_int_equal(code, TWI_E_NEEDS_FLOAT);
    assert_false(checks("kernel k[A in {0,1,2,3,4,5,6,7,8,9}, B in {0,1,2,3,4,5,6,7,8,9}](X: "
                        "f32[N], out Y: i32[N]) {\n"
                        "parallel n: N { Y[n] = i32(X[n]) + 2000000000 * (B // 9 + 1) } }",
                        &code));
    assert_int_equal(code, TWI_E_BAD_CONSTANT);
    assert_false(checks("kernel k(X: f32[N], out Y: f32[N]) { param P in {4, 0}\n"
                        "parallel n: N tile P { Y[n] = X[n] } }",
                        &code));
    assert_int_equal(code, TWI_E_BAD_TILE);
    assert_false(checks("kernel k(X: f32[N], out Y: f32[N]) { parallel n: N { x = X[n]\n if false "
                        "{ x = nope }\n Y[n] = x } }",
                        &code));
    assert_int_equal(code, TWI_E_UNKNOWN_NAME);
    /* a choice that `requires` rules out is no error of the program, but one of a build that asks
     * for it */
    static const char ruled[] = "kernel k[S in {1, 0}](X: f32[N], out Y: f32[N]) { requires S > "
                                "0\n parallel n: N tile S { Y[n] = X[n] } }";
    assert_true(checks(ruled, &code));
    tw_context *ctx = tw_context_create(NULL);
    tw_program *p = tw_program_parse(ctx, "ruled.tile", ruled, strlen(ruled));
    assert_null(tw_program_build(p, 0, &(tw_binding){"S", "0"}, 1));
    assert_int_equal(tw_diag_get(ctx, 0).code, TWI_E_BAD_REQUIRES);
    tw_context_destroy(ctx);
}

static void test_functions_alone(void **state) {
    (void)state;
    int code;
    assert_true(checks("fn f[w](x) { m = sum[w](x); return x - m }\nfn g(x) = x * x\n", &code));
    assert_false(checks("fn f(x) = y\n", &code));
    assert_int_equal(code, TWI_E_UNKNOWN_NAME);
    assert_false(checks("fn f(x) = g(x)\n", &code));
    assert_int_equal(code, TWI_E_UNKNOWN_FN);
}

/* ---- memory ---- */
typedef struct limited {
    size_t left, live;
} limited;

static void *limited_alloc(void *user, size_t size) {
    limited *l = user;
    if (l->left == 0)
        return NULL;
    l->left--;
    void *p = malloc(size);
    l->live += p != NULL;
    return p;
}

static void limited_release(void *user, void *p) {
    limited *l = user;
    l->live -= p != NULL;
    free(p);
}

static void test_every_allocation_fails_once(void **state) {
    (void)state;
    bool done = false;
    for (size_t n = 0; !done; n++) {
        assert_true(n < 20000);
        limited l = {n, 0};
        tw_allocator a = {limited_alloc, limited_release, &l};
        tw_context *ctx = tw_context_create(&a);
        if (ctx) {
            tw_program *p = tw_program_parse(ctx, "memory.tile", text, strlen(text));
            done = p && tw_program_check(p);
            if (p && !done)
                assert_null(tw_program_build(p, 9, NULL, 0));
            tw_context_destroy(ctx);
        }
        assert_int_equal(l.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_declarations),    cmocka_unit_test(test_bindings),
        cmocka_unit_test(test_wrong_bindings),  cmocka_unit_test(test_check_takes_all_choices),
        cmocka_unit_test(test_functions_alone), cmocka_unit_test(test_every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
