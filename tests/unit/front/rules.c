/* SPDX-License-Identifier: Apache-2.0
 * Every rule that the front end checks is broken once, and says so with its own code at the right
 * place. The table is complete: a row of diag.def without a case here fails. links: front
 */
#include "front/ast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct rule {
    int code;
    const char *text; /* '@' stands right before the place where the error is said */
    const char *says; /* part of the message or of the help */
} rule;

#define HEAD                                                                                       \
    "kernel k(X: f32[N, W], I: i32[N], out Y: f32[N, W], s: f32 = 1.0) { parallel n: N { axis w: " \
    "W\n"
#define TAIL "\n Y[n, w] = X[n, w] } }\n"
#define BODY(text) HEAD text TAIL
#define KERNEL(text) text "\nkernel k(X: f32[N], out Y: f32[N]) { parallel n: N { Y[n] = X[n] } }\n"

static const rule rules[] = {
    /* text and grammar */
    {TWI_E_BAD_BYTE, BODY("a = @$"), "'$' means nothing here"},
    {TWI_E_BAD_BYTE, BODY("a = @! s"), "'not' negates"},
    {TWI_E_BAD_BYTE, BODY("a = s + @\x01"), NULL},
    {TWI_E_BAD_NUMBER, BODY("a = @1.5x"), "1.5x"},
    {TWI_E_BAD_NUMBER, BODY("a = @0x1.8"), "0x1.8p-3"},
    {TWI_E_BAD_NUMBER, BODY("a = @2."), "malformed"},
    {TWI_E_EXPECTED, BODY("a = (s + s\n @}"), "expected ',' or ')', found '}'"},
    {TWI_E_EXPECTED, BODY("a = X[n, w + s\n @b = s"), "expected ',' or ']', found 'b'"},
    {TWI_E_EXPECTED, BODY("a = s + @)"), "expected a value, found ')'"},
    {TWI_E_EXPECTED, BODY("a = s @s"), "after the statement"},
    {TWI_E_EXPECTED, "@parallel n: N { }\n", "expected 'kernel' or 'fn'"},
    {TWI_E_EXPECTED, "kernel k(X: f32[N]) { \n@", "is not closed"},
    {TWI_E_CHAINED, BODY("a = s < s @< s"), "do not chain"},
    {TWI_E_BAD_TARGET, BODY("s @+ s = s"), "cannot be assigned"},
    {TWI_E_BAD_TARGET, BODY("a, @X[n, w] = s"), NULL},
    {TWI_E_NO_EFFECT, BODY("@s + s"), "an expression alone does nothing"},
    {TWI_E_BAD_ELSE, BODY("a = s @else 0.0"), "belongs to an access"},
    {TWI_E_BAD_ELSE, BODY("a = X[n, w] else @s"), "`else (..)`"},
    {TWI_E_NOT_AT_HEAD, BODY("@requires N == W"), "'requires' stands at the head"},
    {TWI_E_NOT_AT_HEAD, BODY("@param B in {1}"), "'param' stands at the head"},
    {TWI_E_BRACE_LINE, "kernel k(X: f32[N], out Y: f32[N])\n@{ parallel n: N { Y[n] = X[n] } }\n",
     "line of its head"},
    /* names */
    {TWI_E_UNKNOWN_NAME, BODY("abcd = s\n a = @abce"), "did you mean 'abcd'?"},
    {TWI_E_UNKNOWN_NAME, BODY("a = @Xx[n, w]"), NULL},
    {TWI_E_UNKNOWN_NAME, BODY("a = @Xx[n + 1, w] else 0.0"), NULL},
    {TWI_E_UNKNOWN_NAME, BODY("@Yy[n, w] = s"), NULL},
    {TWI_E_UNKNOWN_NAME, BODY("@atomic_add(Yy[n + 1, w], s)"), NULL},
    {TWI_E_UNKNOWN_FN, BODY("a = @wherre(s > 0.0, s, s)"), "did you mean 'where'?"},
    {TWI_E_UNKNOWN_TYPE, "kernel k(X: @f31[N], out Y: f32[N]) { parallel n: N { Y[n] = X[n] } }\n",
     "did you mean 'f32'?"},
    {TWI_E_UNKNOWN_TYPE,
     "kernel k[T in {f32, @bf61}](X: T[N], out Y: T[N]) { parallel n: N { Y[n] = X[n] } }\n",
     "did you mean 'bf16'?"},
    {TWI_E_UNKNOWN_TYPE, BODY("a = zeros(@s)"), "an element type is wanted"},
    {TWI_E_TWICE,
     "kernel k(X: f32[N], @X: f32[N], out Y: f32[N]) { parallel n: N { Y[n] = X[n] } }\n",
     "declared twice"},
    {TWI_E_TWICE, KERNEL("fn f(x) = x\nfn @f(x) = x"), "'f' is declared twice"},
    {TWI_E_TWICE, KERNEL("kernel k(out Y: f32[N]) { parallel n: N { Y[n] = 1.0 } }"),
     "stands twice"},
    {TWI_E_TWICE, KERNEL("fn f(x, @x) = x"), NULL},
    {TWI_E_RESERVED, BODY("@exp = s"), "built-in name"},
    {TWI_E_RESERVED, BODY("a = s\n @tile = s"), NULL},
    {TWI_E_RESERVED, "kernel k(@sum: f32[N], out Y: f32[N]) { }\n", NULL},
    {TWI_E_SHADOWS, BODY("@w = s"), "is an axis already"},
    {TWI_E_SHADOWS, BODY("@N = s"), "nothing shadows"},
    {TWI_E_SHADOWS, BODY("@X = s"), "is an array already"},
    {TWI_E_SHADOWS, BODY("a = s\n axis @a: W"), "is a name already"},
    {TWI_E_SHADOWS, "fn f(x) = x\n" BODY("@f = s"), "is a function of this file"},
    {TWI_E_ENDED, BODY("serial t: 4 { a = s + 1.0 }\n b = @a"), "exists in another block"},
    {TWI_E_ENDED,
     "kernel k(out Y: f32[N], out Z: f32[N]) { parallel n: N { a = 1.0\n Y[n] = a }\n parallel n: "
     "N { Z[n] = @a } }\n",
     NULL},
    {TWI_E_UNKNOWN_WORD, BODY("a = sum[w](X[n, w], order = @canonic)"), NULL},
    {TWI_E_UNKNOWN_WORD, BODY("a = sum[w](X[n, w], @ordre = free)"), "`order = canonical`"},
    {TWI_E_UNKNOWN_WORD,
     "kernel k[E in {none, relu}](X: f32[N], out Y: f32[N]) { parallel n: N { x = X[n]\n if E == "
     "@rleu { x = x + 1.0 }\n Y[n] = x } }\n",
     "did you mean 'relu'?"},
    {TWI_E_UNKNOWN_WORD,
     "kernel k(X: f32[N], out Y: f32[N]) { numerics { @fast = free }\n parallel n: N { Y[n] = X[n] "
     "} }\n",
     "order, math, precision"},
    /* declarations */
    {TWI_E_NO_KERNEL, "@# nothing\n", "no kernel"},
    {TWI_E_BAD_SET,
     "kernel k[@T in {}](X: f32[N], out Y: f32[N]) { parallel n: N { Y[n] = X[n] } }\n",
     "0 members"},
    {TWI_E_BAD_SET,
     "kernel k[T in {1, @true}](X: f32[N], out Y: f32[N]) { parallel n: N { Y[n] = X[n] } }\n",
     "one kind a set"},
    {TWI_E_BAD_SET,
     "kernel k[T in {1, 2, @1}](X: f32[N], out Y: f32[N]) { parallel n: N { Y[n] = X[n] } }\n",
     "stands twice"},
    {TWI_E_BAD_SET,
     "kernel k[T in {@1.5}](X: f32[N], out Y: f32[N]) { parallel n: N { Y[n] = X[n] } }\n", NULL},
    {TWI_E_BAD_SET,
     "kernel k(X: f32[N], out Y: f32[N]) { param P in {@true}\n parallel n: N { Y[n] = X[n] } }\n",
     "params are integers"},
    {TWI_E_BAD_DIM,
     "kernel k(X: f32[N], out Y: f32[N], Z: f32[@1.5]) { parallel n: N { Y[n] = X[n] } }\n",
     "no dim"},
    {TWI_E_BAD_RANK, BODY("a = @X[n]"), "'X' has 2 dims, here are 1 subscripts"},
    {TWI_E_BAD_RANK, "kernel k(X: f32[N], out @Y: f32) { }\n", "`f32[]`"},
    {TWI_E_BAD_DEFAULT,
     "kernel k(X: f32[N], s: f32, out Y: f32[N] = @s) { parallel n: N { Y[n] = X[n] } }\n",
     "is no constant"},
    {TWI_E_BAD_REQUIRES,
     "kernel k(X: f32[N], out Y: f32[N]) { requires N @+ 1\n parallel n: N { Y[n] = X[n] } }\n",
     "relations of dims"},
    {TWI_E_BAD_FILL, "kernel k(@X: f32[N] = 0, out Y: f32[N]) { parallel n: N { Y[n] = X[n] } }\n",
     "`out Y: f32[N] = 0.0`"},
    /* functions */
    {TWI_E_RECURSION, KERNEL("fn f(x) = g(x)\nfn g(x) = @f(x)"), "'f' calls itself"},
    {TWI_E_BAD_ARITY, "fn f(x, y) = x + y\n" BODY("a = @f(s)"),
     "'f' takes 2 argument(s), here are 1"},
    {TWI_E_BAD_ARITY, "fn f[v](x) = sum[v](x)\n" BODY("a = @f(X[n, w])"), "axes in brackets"},
    {TWI_E_BAD_ARITY, BODY("a = @exp(s, s)"), "'exp' takes 1"},
    {TWI_E_BAD_ARITY, BODY("a = @sum(X[n, w])"), "names the axes"},
    {TWI_E_BAD_ARITY, "fn f(x) { return x, x }\n" BODY("@a, b, c = f(s)"), "3 names for 2"},
    {TWI_E_NOT_AXIS, BODY("a = sum[@n](X[n, w])"), "is an index, not an axis"},
    {TWI_E_NOT_AXIS, BODY("a = sum[@s](X[n, w])"), "is not an axis"},
    {TWI_E_NO_RETURN, KERNEL("fn @f(x) { y = x }"), "returns nothing"},
    {TWI_E_NO_RETURN, "fn f(x) { y = x }\n" BODY("a = @f(s)"), "end it with `return ..`"},
    {TWI_E_IN_FUNCTION, "fn f(x) { @Y[n] = x; return x }\n" BODY("a = f(s)"),
     "functions store nothing"},
    {TWI_E_IN_FUNCTION, "fn f(x) { @axis v: 4; return x }\n" BODY("a = f(s)"), "make no axes"},
    {TWI_E_BAD_RETURN, BODY("@return s"), "kernels store"},
    {TWI_E_BAD_RETURN, "fn f(x) { return x; @y = x }\n" BODY("a = f(s)"), "nothing is reached"},
    {TWI_E_BAD_RETURN, "fn f(x) { serial t: 4 { @return x }\n return x }\n" BODY("a = f(s)"),
     "outside loops"},
    {TWI_E_TUPLE, "fn f(x) { return x, x }\n" BODY("a = f(s) @+ 1.0"),
     "2 values where one is wanted"},
    {TWI_E_TOO_MUCH, BODY("a = s\n repeat p: 4000 { repeat q: 4000 { a = a + 1.0 } }"),
     "unfolds to more than"},
    /* values */
    {TWI_E_AXIS_VALUE, BODY("a = @w + 1"), "write index(w)"},
    {TWI_E_NOT_VALUE, BODY("a = @X + 1.0"), "write X[..]"},
    {TWI_E_NOT_VALUE, BODY("a = @exp + 1.0"), "write exp(..)"},
    {TWI_E_NOT_VALUE, BODY("a = s @+ f32"), "not a value"},
    {TWI_E_NEEDS_TYPE, BODY("a = sum[w](@1.0)"), "needs a type"},
    {TWI_E_NEEDS_TYPE, BODY("a = @where(X[n, w] > 0.0, 1.0, 0.0)"), "f32(..)"},
    {TWI_E_TYPE_MISMATCH, BODY("a = X[n, w] @+ I[n]"), "f32 and i32"},
    {TWI_E_TYPE_MISMATCH, BODY("a = index(w) @+ I[n]"), "i64(..)"},
    {TWI_E_NEEDS_FLOAT, BODY("a = I[n] @/ 2"), "integers have '//' and '%'"},
    {TWI_E_NEEDS_FLOAT, BODY("a = 1 @/ N"), "1.0 * a / b"},
    {TWI_E_NEEDS_FLOAT, BODY("a = @exp(I[n])"), "cast it: f32(..)"},
    {TWI_E_NEEDS_INT, BODY("a = s @// s"), "needs integers, not f32"},
    {TWI_E_NEEDS_INT, BODY("a = @~s"), "needs an integer"},
    {TWI_E_NEEDS_BOOL, BODY("a = s @and s"), "wants bool, not f32"},
    {TWI_E_NEEDS_BOOL, BODY("a = where(@s, s, s)"), "'where' wants bool"},
    {TWI_E_NEEDS_BOOL, BODY("a = any[w](@X[n, w])"), "any[w](x > 0)"},
    {TWI_E_NEEDS_BOOL,
     "kernel k(X: f32[N], out Y: f32[N]) { parallel n: N { Y[n] = X[n] when @X[n] } }\n",
     "'when' wants bool"},
    {TWI_E_NEEDS_NUMBER, BODY("a = (s > 0.0) @+ (s < 1.0)"), "not bool"},
    {TWI_E_NEEDS_NUMBER, BODY("a = sum[w](X[n, w] @> 0.0)"), "sum[w](i32(c))"},
    {TWI_E_BAD_CONSTANT, BODY("a = I[n] @+ 1.5"), "i32 does not hold"},
    {TWI_E_BAD_CONSTANT, BODY("a = I[n] @+ 3000000000"), "i32 does not hold 3000000000"},
    {TWI_E_PARAM_VALUE,
     "kernel k(X: f32[N], out Y: f32[N]) { param P in {2}\n parallel n: N { Y[n] = X[n] @* P } }\n",
     "never a value"},
    {TWI_E_BAD_CONDITION, BODY("if s @> 0.0 { a = s }"), "where(c, x, y)"},
    {TWI_E_CONST_OP, BODY("a = 1.5 @% 2"), "'%' does not work"},
    {TWI_E_BAD_SUBSCRIPT, BODY("a = X[n, @s]"), "f32 is no subscript"},
    {TWI_E_BAD_SUBSCRIPT, BODY("a = X[n, @index(w)]"), "write w"},
    {TWI_E_BAD_SUBSCRIPT, BODY("a = X[n, @0: w]"), "not sliced"},
    {TWI_E_BAD_EXTENT, BODY("a = @extent(n)"), "index of one position"},
    /* scopes, loops, stores */
    {TWI_E_BAD_BOUND, BODY("axis v: 0 .. @w"), "is no bound"},
    {TWI_E_BAD_BOUND, BODY("axis v: 0 .. @1.5"), "is no bound"},
    {TWI_E_BAD_BOUND, BODY("repeat @t: N { a = s }"), "integer constants"},
    {TWI_E_BAD_TILE, BODY("serial t: N tile @0 { a = s }"), "positive integer"},
    {TWI_E_BAD_TILE, BODY("serial t: N tile @W { a = s }"), "positive integer"},
    {TWI_E_BAD_TILE, BODY("axis v: W tile @8"), "'axis' has no blocks"},
    {TWI_E_NESTED, BODY("@parallel m: N { a = s }"), "does not nest"},
    {TWI_E_CARRY_TYPE, BODY("a = zeros(f32)\n @serial t: 4 { a = i32(a) }"), "carried as f32"},
    {TWI_E_CARRY_AXES, BODY("a = zeros(f32)\n @serial t: 4 { a = a + X[n, w] }"),
     "`a = zeros(f32)[w]`"},
    {TWI_E_CARRY_START, BODY("a = 0.0\n @serial t: 4 { a = a + s }"),
     "starts as an untyped constant"},
    {TWI_E_STORE_TYPE, "kernel k(X: f32[N], out Y: i32[N]) { parallel n: N { Y[n] = @X[n] } }\n",
     "cast it: i32(..)"},
    {TWI_E_STORE_INPUT, BODY("@X[n, w] = s"), "declare it `out` or `inout`"},
    /* scans, values as subscripts and bounds, atomic operations */
    {TWI_E_BAD_ARITY, BODY("axis v: W\n a = @cumsum[w, v](X[n, w] + X[n, v])"),
     "goes along one axis, here are 2"},
    {TWI_E_BAD_ARITY, BODY("a = @cummax(X[n, w])"), "cummax[w](..)"},
    {TWI_E_BAD_ARITY, BODY("a = @cumsum[w](X[n, w], s)"), "takes 1 argument(s)"},
    {TWI_E_NOT_AXIS, BODY("a = cumsum[@n](X[n, w])"), "an index, not an axis of tiles"},
    {TWI_E_NEEDS_NUMBER, BODY("a = cummax[w](X[n, w] @> s)"), "cast it: i32(..)"},
    {TWI_E_UNKNOWN_WORD, BODY("a = cumsum[w](X[n, w], @inclusive = true)"),
     "order, exclusive, reverse"},
    {TWI_E_UNKNOWN_WORD, BODY("a = sum[w](X[n, w], @reverse = true)"), "takes no option 'reverse'"},
    {TWI_E_NEEDS_BOOL, BODY("a = cumsum[w](X[n, w], exclusive = @1)"), "not an untyped integer"},
    {TWI_E_NEEDS_BOOL, BODY("a = cumsum[w](X[n, w], reverse = s @> 0.0)"), "is a constant"},
    {TWI_E_BAD_SUBSCRIPT, BODY("a = X[n, @s]"), "or an integer tile"},
    {TWI_E_TYPE_MISMATCH, BODY("a = X[n, I[n] @+ w]"), "i64(..)"},
    {TWI_E_BAD_BOUND,
     "kernel k(I: i32[N], out Y: f32[N] = 0) { parallel n: N { c = I[n]\n serial t: @f32(c) { } } "
     "}\n",
     "f32 is no bound"},
    {TWI_E_BAD_BOUND, "kernel k(m: i32, out Y: f32[N] = 0) { parallel n: @m { Y[n] = f32(n) } }\n",
     "known at launch"},
    {TWI_E_BAD_ARITY, BODY("@atomic_add(Y[n, w])"), "atomic_add(Y[i], v)"},
    {TWI_E_BAD_ARITY, BODY("@atomic_add(s, s)"), "an element of an array and a value"},
    {TWI_E_BAD_TARGET, BODY("a = s\n @atomic_max(a[n], s)"), "no array"},
    {TWI_E_STORE_INPUT, BODY("@atomic_min(X[n, w], s)"), "declare it `out` or `inout`"},
    {TWI_E_STORE_TYPE, BODY("atomic_add(Y[n, w], @I[n])"), "cast it: f32(..)"},
    {TWI_E_NEEDS_BOOL, BODY("atomic_add(Y[n, w], s) when @s"), "not f32"},
    {TWI_E_NOT_VALUE, BODY("a = @atomic_add(Y[n, w], s)"), "gives no value"},
    {TWI_E_IN_FUNCTION, KERNEL("fn f(x) { @atomic_add(Y[0], x)\n return x }"),
     "no scopes, axes or"},
    /* not built yet */
    {TWI_E_NOT_BUILT, BODY("a = @sort[w](X[n, w])"), "'sort'"},
    {TWI_E_NOT_BUILT, BODY("a, b = @topk[w -> w](X[n, w])"), "'topk'"},
    {TWI_E_NOT_BUILT, BODY("a = @reduce[w](exp, X[n, w], 0.0)"), "'reduce'"},
    {TWI_E_NOT_BUILT, BODY("a = @sin(s)"), "'sin'"},
    {TWI_E_NOT_BUILT, BODY("x = X[n, w]\n a = x[@w: w + 1]"), "t[a: e]"},
    {TWI_E_NOT_BUILT, BODY("a = @u64(I[n])"), "element type 'u64'"},
    {TWI_E_NOT_BUILT, "kernel k(X: @f8e4m3[N], out Y: f32[N]) { parallel n: N { Y[n] = X[n] } }\n",
     "'f8e4m3'"},
    {TWI_E_NOT_BUILT, BODY("a = sum[w](X[n, w], order = @right)"), "order = right"},
    {TWI_E_NOT_BUILT, BODY("a = @exp(f64(s))"), "'exp' of f64"},
    {TWI_E_NOT_BUILT,
     "kernel k(X: f32[N], out Y: f32[N]) { numerics { math = @native }\n parallel n: N { Y[n] = "
     "X[n] } }\n",
     "math = 'native' is not built"},
    {TWI_E_NOT_BUILT,
     "kernel k(X: f32[N], out Y: f32[N]) { numerics { precision = @tf32 }\n parallel n: N { Y[n] = "
     "X[n] } }\n",
     "tf32"},
    {TWI_E_NOT_BUILT, BODY("if N @> 4 { a = s }"), "depends on dims"},
    {TWI_E_FOUND_WITH,
     "kernel @k[T in {f32, i32}](X: T[N], out Y: T[N]) { parallel n: N { Y[n] = exp(X[n]) } }\n",
     "T=i32"},
};

/* Codes that texts of a line do not bring about: other tests do (named there). */
static const int elsewhere[] = {
    TWI_E_LONG_NAME, TWI_E_TOO_DEEP,    TWI_E_TOO_LONG,     /* robust.c */
    TWI_E_UNBOUND,   TWI_E_BAD_BINDING, TWI_E_NO_SUCH_DECL, /* program.c */
};

static void strip(const char *text, char *out, size_t *at, bool *marked) {
    const char *mark = strchr(text, '@');
    *marked = mark != NULL;
    *at = mark ? (size_t)(mark - text) : 0;
    if (mark) {
        memcpy(out, text, *at);
        strcpy(out + *at, mark + 1);
    } else {
        strcpy(out, text);
    }
}

static bool breaks(const rule *r) {
    char text[4096];
    size_t at;
    bool marked;
    strip(r->text, text, &at, &marked);
    tw_context *ctx = tw_context_create(NULL);
    tw_program *p = tw_program_parse(ctx, "rule.tile", text, strlen(text));
    bool good = p && tw_program_check(p), found = false;
    for (uint32_t k = 0; k < ctx->diags.list.n; k++) {
        const twi_diag *d = &ctx->diags.list.at[k];
        bool said = !r->says || strstr(d->text, r->says) || (d->help && strstr(d->help, r->says));
        found = found || (d->code == r->code && said && (!marked || d->loc.at == at));
    }
    /* What follows from an unknown name is not the author's second mistake. */
    if (r->code == TWI_E_UNKNOWN_NAME || r->code == TWI_E_UNKNOWN_FN)
        found = found && ctx->diags.list.n == 1;
    if (good || !found)
        print_error("E%04d expected%s for:\n%s\ngot %s\n%s\n", r->code, marked ? " at '@'" : "",
                    r->text, good ? "success" : "", tw_diag_text(ctx, false));
    tw_context_destroy(ctx);
    return !good && found;
}

static void test_each_rule(void **state) {
    (void)state;
    size_t bad = 0;
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        bad += !breaks(&rules[k]);
    assert_int_equal(bad, 0);
}

static void test_every_code_has_a_case(void **state) {
    (void)state;
    static const struct {
        int code;
        const char *name;
    } all[] = {
#define TWI_DIAG(NAME, code, title) {code, #NAME},
#include "front/diag.def"
#undef TWI_DIAG
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        bool found = false;
        for (size_t j = 0; j < sizeof rules / sizeof *rules; j++)
            found = found || rules[j].code == all[k].code;
        for (size_t j = 0; j < sizeof elsewhere / sizeof *elsewhere; j++)
            found = found || elsewhere[j] == all[k].code;
        if (!found)
            fail_msg("no text breaks %s (E%04d)", all[k].name, all[k].code);
        assert_true(all[k].code >= 100 && all[k].code < 200);
        assert_true(k == 0 || all[k].code > all[k - 1].code);
    }
}

static void test_the_frames_are_right(void **state) {
    (void)state;
    static const char *const texts[] = {BODY("a = s"), KERNEL("fn f(x) = x")};
    for (size_t k = 0; k < 2; k++) {
        tw_context *ctx = tw_context_create(NULL);
        tw_program *p = tw_program_parse(ctx, "frame.tile", texts[k], strlen(texts[k]));
        assert_non_null(p);
        if (!tw_program_check(p))
            fail_msg("%s", tw_diag_text(ctx, false));
        assert_int_equal(tw_diag_count(ctx), 0);
        tw_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_frames_are_right),
        cmocka_unit_test(test_each_rule),
        cmocka_unit_test(test_every_code_has_a_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
