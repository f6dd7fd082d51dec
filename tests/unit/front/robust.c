/* SPDX-License-Identifier: Apache-2.0
 * Texts that try to break the front end: deep, long, cut, binary. Each ends in a diagnostic or in
 * success, within bounded time, and several errors are reported in one run. links: front
 */
#include "front/ast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct outcome {
    bool good;
    int code; /* of the first diagnostic */
    size_t count;
} outcome;

static outcome run(const char *text, size_t n) {
    tw_context *ctx = tw_context_create(NULL);
    tw_program *p = tw_program_parse(ctx, "robust.tile", text, n);
    outcome o = {.good = p && tw_program_check(p), .count = tw_diag_count(ctx)};
    o.code = o.count ? tw_diag_get(ctx, 0).code : 0;
    assert_true(o.good || o.count > 0);
    assert_true(strlen(tw_diag_text(ctx, false)) < 20000);
    for (size_t k = 0; k < o.count; k++)
        assert_int_not_equal(tw_diag_get(ctx, k).code, 0);
    tw_context_destroy(ctx);
    return o;
}

#define OPEN "kernel k(X: f32[N], out Y: f32[N]) { parallel n: N { a = X[n]\n"
#define SHUT "\nY[n] = a } }\n"

/* before, part n times, middle, after n times, end */
static outcome run_many(const char *before, const char *part, size_t n, const char *middle,
                        const char *after, const char *end) {
    size_t size =
        strlen(before) + n * (strlen(part) + strlen(after)) + strlen(middle) + strlen(end);
    char *text = malloc(size + 1), *at = text;
    assert_non_null(text);
    at += strlen(strcpy(at, before));
    for (size_t k = 0; k < n; k++)
        at += strlen(strcpy(at, part));
    at += strlen(strcpy(at, middle));
    for (size_t k = 0; k < n; k++)
        at += strlen(strcpy(at, after));
    strcpy(at, end);
    outcome o = run(text, size);
    free(text);
    return o;
}

static void test_depth(void **state) {
    (void)state;
    static const struct {
        const char *before, *part, *middle, *after, *end;
    } deep[] = {
        {OPEN "b = ", "(", "a", ")", SHUT},
        {OPEN "b = ", "(", "", "", ""},
        {OPEN "b = ", "-", "a", "", SHUT},
        {OPEN "b = ", "not ", "true", "", SHUT},
        {OPEN "b = ", "~", "a", "", SHUT},
        {OPEN "b = a", " + a", "", "", SHUT},
        {OPEN "b = X", "[n]", "", "", SHUT},
        {OPEN "b = ", "X[", "n", "]", SHUT},
        {OPEN "b = ", "abs(", "a", ")", SHUT},
        {OPEN, "if true { ", "", "} ", SHUT},
        {OPEN "if true { } ", "else if true { } ", "", "", SHUT},
        {OPEN "b = ", "(a, ", "a", ")", SHUT},
        {"fn f(x) = ", "f[w](", "x", ")", "\n"},
        {OPEN "b = a ", "if a ", "", "", SHUT},
    };
    for (size_t k = 0; k < sizeof deep / sizeof *deep; k++) {
        outcome o = run_many(deep[k].before, deep[k].part, 100000, deep[k].middle, deep[k].after,
                             deep[k].end);
        assert_false(o.good);
        assert_true(o.count <= 2);
        if (k + 1 < sizeof deep / sizeof *deep)
            assert_int_equal(o.code, TWI_E_TOO_DEEP);
    }
}

static void test_moderate_depth_is_fine(void **state) {
    (void)state;
    assert_true(run_many(OPEN "b = ", "(", 100, "a", ")", SHUT).good);
    assert_true(run_many(OPEN "b = a", " + a", 400, "", "", SHUT).good);
    assert_true(run_many(OPEN "b = ", "abs(", 60, "a", ")", SHUT).good);
    assert_true(run_many(OPEN, "if true { ", 40, "", "} ", SHUT).good);
}

static void test_functions_nest(void **state) {
    (void)state;
    enum { N = 60 };
    char text[N * 64 + 256], *at = text;
    for (int k = 0; k < N; k++)
        at += sprintf(at, "fn f_%d(x) = f_%d(x)\n", k, k + 1);
    at += sprintf(at, "fn f_%d(x) = x + 1.0\n", N);
    outcome o = run(text, (size_t)(at - text));
    assert_int_equal(o.code, TWI_E_TOO_DEEP);
    /* 2^24 additions by 24 functions that each call the next twice */
    at = text;
    for (int k = 0; k < 24; k++)
        at += sprintf(at, "fn f_%d(x) = f_%d(x) + f_%d(x)\n", k, k + 1, k + 1);
    at += sprintf(at, "fn f_24(x) = x + 1.0\n" OPEN "b = f_0(a)" SHUT);
    o = run(text, (size_t)(at - text));
    assert_int_equal(o.code, TWI_E_TOO_MUCH);
    assert_int_equal(o.count, 1);
}

static void test_long_names(void **state) {
    (void)state;
    size_t n = 1000000;
    assert_int_equal(run_many("kernel ", "a", n, "", "", "(X: f32[N]) { }").code, TWI_E_LONG_NAME);
    assert_int_equal(run_many(OPEN "b = ", "q", n, "", "", SHUT).code, TWI_E_LONG_NAME);
    assert_int_equal(run_many(OPEN "b = ", "9", n, "", "", SHUT).code, TWI_E_LONG_NAME);
    assert_true(run_many(OPEN "", "q", 255, "", "", " = a" SHUT).good);
    assert_int_equal(run_many(OPEN "", "q", 256, "", "", " = a" SHUT).code, TWI_E_LONG_NAME);
}

static void test_binary(void **state) {
    (void)state;
    static const char nul[] =
        "kernel k(X: f32[N], out\0 Y: f32[N]) { parallel n: N { Y[n] = X[n] } }";
    char junk[4096];
    assert_int_equal(run(nul, sizeof nul - 1).code, TWI_E_BAD_BYTE);
    memset(junk, 0, sizeof junk);
    assert_int_equal(run(junk, sizeof junk).code, TWI_E_BAD_BYTE);
    for (size_t k = 0; k < sizeof junk; k++)
        junk[k] = (char)(k * 131 >> 3);
    assert_false(run(junk, sizeof junk).good);
    assert_int_equal(run("", 0).code, TWI_E_NO_KERNEL);
    assert_int_equal(run("\xef\xbb\xbf", 3).code, TWI_E_BAD_BYTE);
}

static void test_every_prefix(void **state) {
    (void)state;
    static const char text[] =
        "fn mean[w](x) = sum[w](x) / extent(w)\n"
        "kernel k[T in {f32, bf16}, C = true](X: T[R, W], out Y: T[R, W] = 0.0, eps: f32 = 1e-5) { "
        "# comment\n"
        "  requires R <= W, W % 2 == 0; param P in {1, 2}; numerics { order = left }\n"
        "  parallel r: R, q: 1 {\n    axis w: 0 .. W\n    m = mean[w](X[r, w]); a = zeros(f32)[w]\n"
        "    serial t: 0 .. 4 tile P { a += (X[r, w - 1] else -0.5) * m }\n"
        "    if C and not (P == 2) { a = -a } else { a = a + 0x1p-3 }\n"
        "    Y[r, w] = T(a) when index(w) != 3\n  }\n}\n";
    size_t good = 0;
    for (size_t n = 0; n < sizeof text; n++)
        good += run(text, n).good;
    assert_true(run(text, sizeof text - 1).good);
    assert_in_range(good, 2, 8); /* the first function alone is a program too */
}

static void test_several_errors(void **state) {
    (void)state;
    static const char text[] =
        "kernel k(X: f32[N], out Y: f32[N]) {\n"
        "    parallel n: N {\n"
        "        a = )\n"
        "        b = X[n\n"
        "        c = 1 +\n"
        "        s + s\n"
        "        Y[n] = X[n]\n"
        "    }\n"
        "}\n"
        "kernel l(X f32) { }\n"
        "kernel m(X: f32[N], out Y: f32[N]) { parallel n: N { Y[n] = X[n] ] } }\n";
    static const uint32_t lines[] = {3, 5, 6, 10, 11};
    tw_context *ctx = tw_context_create(NULL);
    assert_null(tw_program_parse(ctx, "several.tile", text, strlen(text)));
    size_t found = 0;
    for (size_t k = 0; k < tw_diag_count(ctx) && found < 5; k++)
        found += tw_diag_get(ctx, k).line == lines[found];
    if (found != 5)
        fail_msg("%s", tw_diag_text(ctx, false));
    assert_true(tw_diag_count(ctx) <= 6);
    tw_context_destroy(ctx);
}

static void test_errors_of_meaning_together(void **state) {
    (void)state;
    static const char text[] = OPEN "b = a + nope\nc = a and a\nd = X[n, n]\ne = exp(1)\n" SHUT;
    tw_context *ctx = tw_context_create(NULL);
    tw_program *p = tw_program_parse(ctx, "meaning.tile", text, strlen(text));
    assert_non_null(p);
    assert_false(tw_program_check(p));
    static const int codes[] = {TWI_E_UNKNOWN_NAME, TWI_E_NEEDS_BOOL, TWI_E_BAD_RANK,
                                TWI_E_NEEDS_TYPE};
    assert_int_equal(tw_diag_count(ctx), 4);
    for (size_t k = 0; k < 4; k++) {
        assert_int_equal(tw_diag_get(ctx, k).code, codes[k]);
        assert_int_equal(tw_diag_get(ctx, k).line, k + 2);
    }
    tw_context_destroy(ctx);
}

/* A function called three times and a body unrolled four times say their error once. */
static void test_an_error_is_said_once(void **state) {
    (void)state;
    static const char call[] = "fn f(x) = x + nope\n" OPEN "b = f(a) + f(a) * f(a)" SHUT;
    static const char unrolled[] = OPEN "repeat t: 4 { b = a + nope }" SHUT;
    assert_int_equal(run(call, sizeof call - 1).count, 1);
    assert_int_equal(run(unrolled, sizeof unrolled - 1).count, 1);
}

static void test_too_long(void **state) {
    (void)state;
    size_t n = (size_t)1 << 26;
    char *text = calloc(n, 1);
    assert_non_null(text);
    assert_int_equal(run(text, n).code, TWI_E_TOO_LONG);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_moderate_depth_is_fine),
        cmocka_unit_test(test_functions_nest),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_every_prefix),
        cmocka_unit_test(test_several_errors),
        cmocka_unit_test(test_errors_of_meaning_together),
        cmocka_unit_test(test_an_error_is_said_once),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
