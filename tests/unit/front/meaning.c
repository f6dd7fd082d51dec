/* SPDX-License-Identifier: Apache-2.0
 * What texts mean, read off the tile IR that they become: bindings of operators, untyped constants,
 * index expressions, functions, branches, loops and what they carry. links: front
 */
#include "front/ast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct meaning {
    const char *text, *ir; /* statements; lines of the body after the loads of a b c d f */
} meaning;

#define FRAME                                                                                      \
    "kernel k[S = 3, C in {true}, E in {relu}](A: i32[N], B: i32[N], F: f32[N], X: f32[N, W], "    \
    "out Y: f32[N], out Z: i32[N] = 0) {\n"                                                        \
    " parallel n: N { axis w: W; axis v: W\n a = A[n]; b = B[n]; f = F[n]\n"

/* Body lines between the load of F and the store, indentation removed. */
static char *body_of(twi_arena *arena, const char *ir) {
    const char *at = strstr(ir, "f: f32 = load F[n]");
    twi_sb sb;
    twi_sb_init(&sb, arena);
    twi_sb_add(&sb, "", 0);
    at = at ? strchr(at, '\n') : NULL;
    while (at && *++at) {
        at += strspn(at, " ");
        size_t n = strcspn(at, "\n");
        if (*at == '}' && at[1] == '\n' && at[2] != ' ')
            break;
        twi_sb_add(&sb, at, n);
        twi_sb_char(&sb, '\n');
        at = strchr(at, '\n');
    }
    return sb.at;
}

static bool means(const meaning *m) {
    tw_context *ctx = tw_context_create(NULL);
    char *text = twi_format(&ctx->arena,
                            "fn twice(x) = x + x\nfn two(x) { return x, x * x }\nfn centre[t](x) = "
                            "x - sum[t](x) / extent(t)\n" FRAME "%s\n } }\n",
                            m->text);
    tw_program *p = tw_program_parse(ctx, "meaning.tile", text, strlen(text));
    tw_ir *ir = p ? tw_program_build(p, 0, NULL, 0) : NULL;
    char *got = ir ? body_of(&ctx->arena, tw_ir_text(ctx, ir)) : NULL;
    bool same = got && strcmp(got, m->ir) == 0;
    if (!same)
        print_error("%s\nwant\n%sgot\n%s\n%s", m->text, m->ir, got ? got : "nothing",
                    tw_diag_text(ctx, false));
    tw_context_destroy(ctx);
    return same;
}

#define REST "store Z[n] = a\n"

static const meaning bindings[] = {
    {"Z[n] = a + b * a; Y[n] = f",
     "mul.1: i32 = mul b, a\nadd.1: i32 = add a, mul.1\nstore Z[n] = add.1\nstore Y[n] = f\n"},
    {"Z[n] = a - b - a; Y[n] = f",
     "sub.1: i32 = sub a, b\nsub.2: i32 = sub sub.1, a\nstore Z[n] = sub.2\nstore Y[n] = f\n"},
    {"Z[n] = -a * b; Y[n] = f",
     "neg.1: i32 = neg a\nmul.1: i32 = mul neg.1, b\nstore Z[n] = mul.1\nstore Y[n] = f\n"},
    {"Z[n] = a // b % a; Y[n] = f", "idiv.1: i32 = idiv a, b\nimod.1: i32 = imod idiv.1, a\nstore "
                                    "Z[n] = imod.1\nstore Y[n] = f\n"},
    {"Z[n] = a | b ^ a & b; Y[n] = f",
     "band.1: i32 = band a, b\nbxor.1: i32 = bxor b, band.1\nbor.1: i32 = bor a, bxor.1\nstore "
     "Z[n] = bor.1\nstore Y[n] = f\n"},
    {"Z[n] = a & b << a + b; Y[n] = f",
     "add.1: i32 = add a, b\nshl.1: i32 = shl b, add.1\nband.1: i32 = band a, shl.1\nstore Z[n] = "
     "band.1\nstore Y[n] = f\n"},
    {"Z[n] = ~a + b; Y[n] = f",
     "bnot.1: i32 = bnot a\nadd.1: i32 = add bnot.1, b\nstore Z[n] = add.1\nstore Y[n] = f\n"},
    {"Z[n] = a when not a == b and b < a or a >= b; Y[n] = f",
     "eq.1: bool = eq a, b\nnot.1: bool = not eq.1\nlt.1: bool = lt b, a\nand.1: bool = and not.1, "
     "lt.1\nge.1: bool = ge a, b\nor.1: bool = or and.1, ge.1\n"
     "store Z[n] = a when or.1\nstore Y[n] = f\n"},
    {"Z[n] = a when a | b == b & a; Y[n] = f",
     "bor.1: i32 = bor a, b\nband.1: i32 = band b, a\neq.1: bool = eq bor.1, band.1\nstore Z[n] = "
     "a when eq.1\nstore Y[n] = f\n"},
    {"Z[n] = (a + b) * a; Y[n] = f",
     "add.1: i32 = add a, b\nmul.1: i32 = mul add.1, a\nstore Z[n] = mul.1\nstore Y[n] = f\n"},
};

static const meaning constants[] = {
    {"Y[n] = f * (1.0 / 3)\n Z[n] = a",
     "const.1: f32 = const 0.33333334\nmul.1: f32 = mul f, const.1\nstore Y[n] = mul.1\n" REST},
    {"Y[n] = f + 2 * 3\n Z[n] = a",
     "const.1: f32 = const 6\nadd.1: f32 = add f, const.1\nstore Y[n] = add.1\n" REST},
    {"Y[n] = f / extent(w)\n Z[n] = a",
     "const.1: f32 = const ix(W)\ndiv.1: f32 = div f, const.1\nstore Y[n] = div.1\n" REST},
    {"Y[n] = f * S\n Z[n] = a",
     "const.1: f32 = const 3\nmul.1: f32 = mul f, const.1\nstore Y[n] = mul.1\n" REST},
    {"Y[n] = -0.0\n Z[n] = a", "const.1: f32 = const -0\nstore Y[n] = const.1\n" REST},
    {"Y[n] = -inf\n Z[n] = a", "const.1: f32 = const -inf\nstore Y[n] = const.1\n" REST},
    {"Z[n] = a + (7 // 2 + -7 // 2 + 7 % -3)\n Y[n] = f",
     "const.1: i32 = const -3\nadd.1: i32 = add a, const.1\nstore Z[n] = add.1\nstore Y[n] = "
     "f\n"}, /* 3 - 4 - 2 */
    {"Z[n] = a + (5 & 3 | 8 ^ 1 << 2)\n Y[n] = f",
     "const.1: i32 = const 13\nadd.1: i32 = add a, const.1\nstore Z[n] = add.1\nstore Y[n] = "
     "f\n"}, /* 1 | (8 ^ 4) */
    {"Z[n] = i32(n)\n Y[n] = f", "index.1: i64 = index n\ncast.1: i32 = cast index.1\nstore "
                                 "Z[n] = cast.1\nstore Y[n] = f\n"},
};

static const meaning extents[] = {
    /* known at launch: a constant; known in the loop: an integer that takes the type it meets */
    {"g = f\n serial t: W tile 8 { g = g + extent(t) }\n Y[n] = g\n Z[n] = a",
     "serial t: 0 .. W tile 8 {\ng: f32 = carry f\nixval.1: i64 = ixval hi(t) - lo(t)\ncast.1: f32 "
     "= cast ixval.1\ng.1: f32 = add g, cast.1\nyield g.1\n}\n"
     "g.2: f32 = result t 0\nstore Y[n] = g.2\n" REST},
    {"axis u: 2 .. 7\n Y[n] = f * extent(u)\n Z[n] = a",
     "const.1: f32 = const 5\nmul.1: f32 = mul f, const.1\nstore Y[n] = "
     "mul.1\n" REST},
    {"axis u: 7 .. 2\n Y[n] = f * extent(u)\n Z[n] = a",
     "const.1: f32 = const 0\nmul.1: f32 = mul f, const.1\nstore Y[n] = "
     "mul.1\n" REST},
};

static const meaning branches[] = {
    {"g = f\n if S == 3 and E == relu { g = max(f, 0.0) } else { g = f * 2.0 }\n Y[n] = g\n Z[n] = "
     "a",
     "const.1: f32 = const 0\ng: f32 = max f, const.1\nstore Y[n] = g\n" REST},
    {"g = f\n if S < 3 { g = f + f } else if S > 3 { g = f * f } else { g = f - f }\n Y[n] = g\n "
     "Z[n] = a",
     "g: f32 = sub f, f\nstore Y[n] = g\n" REST},
    {"g = f\n repeat i: 0 .. S { g = g + i }\n Y[n] = g\n Z[n] = a",
     "const.1: f32 = const 0\ng: f32 = add f, const.1\nconst.2: f32 = const 1\ng.1: f32 = add g, "
     "const.2\nconst.3: f32 = const 2\ng.2: f32 = add g.1, const.3\nstore Y[n] = g.2\n" REST},
};

static const meaning functions[] = {
    {"Y[n] = twice(f) * twice(f)\n Z[n] = a",
     "add.1: f32 = add f, f\nadd.2: f32 = add f, f\nmul.1: f32 = mul add.1, add.2\nstore Y[n] = "
     "mul.1\n" REST},
    {"p, q = two(f)\n Y[n] = p - q\n Z[n] = a",
     "q: f32 = mul f, f\nsub.1: f32 = sub f, q\nstore Y[n] = sub.1\n" REST},
    {"_, q = two(f)\n Y[n] = q\n Z[n] = a", "q: f32 = mul f, f\nstore Y[n] = q\n" REST},
    {"x = X[n, v]\n Y[n] = sum[v](centre[v](x))\n Z[n] = a",
     "x: f32{v} = load X[n, v]\nsum.1: f32 = sum[v] free x\nconst.1: f32 = const ix(W)\ndiv.1: f32 "
     "= div sum.1, const.1\nsub.1: f32{v} = sub x, div.1\nsum.2: f32 = sum[v] free sub.1\n"
     "store Y[n] = sum.2\n" REST},
};

static const meaning loops[] = {
    {"g = f\n serial t: 1 .. W { h = g; g = h + X[n, t] }\n Y[n] = g\n Z[n] = a",
     "serial t: 1 .. W {\ng: f32 = carry f\nX: f32 = load X[n, t]\ng.1: f32 = add g, X\nyield "
     "g.1\n}\ng.2: f32 = result t 0\nstore Y[n] = g.2\n" REST},
    {"g = f\n serial t: W { if C { g += f } else { a = a + b } }\n Y[n] = g\n Z[n] = a",
     "serial t: 0 .. W {\ng: f32 = carry f\ng.1: f32 = add g, f\nyield g.1\n}\ng.2: f32 = result t "
     "0\nstore Y[n] = g.2\n" REST},
};

static size_t wrong(const meaning *m, size_t n) {
    size_t bad = 0;
    for (size_t k = 0; k < n; k++)
        if (m[k].ir)
            bad += !means(&m[k]);
    return bad;
}

#define TABLE(table) assert_int_equal(wrong(table, sizeof(table) / sizeof *(table)), 0)

static void test_bindings(void **state) {
    (void)state;
    TABLE(bindings);
}
static void test_constants(void **state) {
    (void)state;
    TABLE(constants);
}
static void test_extents(void **state) {
    (void)state;
    TABLE(extents);
}
static void test_branches(void **state) {
    (void)state;
    TABLE(branches);
}
static void test_functions(void **state) {
    (void)state;
    TABLE(functions);
}
static void test_loops(void **state) {
    (void)state;
    TABLE(loops);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bindings),  cmocka_unit_test(test_constants),
        cmocka_unit_test(test_branches),  cmocka_unit_test(test_extents),
        cmocka_unit_test(test_functions), cmocka_unit_test(test_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
