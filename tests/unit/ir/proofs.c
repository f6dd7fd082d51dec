/* SPDX-License-Identifier: Apache-2.0
 * Proofs: facts, ranges, a subscript and an extent; proved or not, and the `requires` that is
 * missing.
 */
#include "test.h"

#include <stdio.h>

typedef struct {
    const char *head;         /* dims and facts */
    const char *scope, *axes; /* ranges of the scope; more lines in it */
    const char *index, *extent;
    const char *missing; /* NULL: proved; "": not proved, nothing is proposed */
} proof;

static const proof proofs[] = {
    /* plain axes */
    {"dim N\n", "n: 0 .. N", "", "n", "N", NULL},
    {"dim N\ndim M\n", "n: 0 .. N", "", "n", "M", "requires N <= M"},
    {"dim N\ndim M\nrequires N == M\n", "n: 0 .. N", "", "n", "M", NULL},
    {"dim N\ndim M\nrequires M == N\n", "n: 0 .. N", "", "n", "M", NULL},
    {"dim N\ndim M\nrequires N <= M\n", "n: 0 .. N", "", "n", "M", NULL},
    {"dim N\ndim M\nrequires M >= N\n", "n: 0 .. N", "", "n", "M", NULL},
    {"dim N\ndim M\nrequires N < M\n", "n: 0 .. N", "", "n + 1", "M", NULL},
    {"dim N\ndim M\nrequires N <= M\n", "n: 0 .. N", "", "n + 1", "M", "requires N + 1 <= M"},
    {"dim N\ndim M\nrequires M <= N\n", "n: 0 .. N", "", "n", "M", "requires N <= M"},
    {"dim N\n", "n: 0 .. N", "", "n + 1", "N", ""},
    {"dim N\n", "n: 0 .. N", "", "n - 1", "N", ""},
    {"dim N\n", "n: 1 .. N", "", "n - 1", "N", NULL},
    {"dim N\n", "n: 0 .. N - 1", "", "n + 1", "N", NULL},
    {"dim N\n", "n: 0 .. N", "", "N - 1 - n", "N", NULL},
    {"dim N\n", "n: 0 .. N", "", "N - n", "N", ""},
    {"dim N\n", "", "", "0", "N", "requires 1 <= N"},
    {"dim N\nrequires N >= 1\n", "", "", "0", "N", NULL},
    {"dim N\ndim M\n", "n: M .. N", "", "n", "N", NULL},
    {"dim N\ndim M\n", "n: 0 .. N", "", "n - M", "N", "requires 0 <= -M"},
    {"dim A\ndim B\ndim C\nrequires A <= B\nrequires B <= C\n", "n: 0 .. A", "", "n", "C", NULL},
    /* an axis that exists is not empty */
    {"dim N\n", "n: 0 .. N", "", "0", "N", NULL},
    {"dim N\n", "n: 0 .. N", "", "N - 1", "N", NULL},
    {"dim N\n", "n: 0 .. N * 3", "", "0", "N", NULL},
    {"dim N\n", "n: 0 .. N", "", "(N - 1) // 2", "N", NULL},
    /* // and % */
    {"dim H\ndim G\nrequires H % G == 0\n", "h: 0 .. H", "", "h // (H // G)", "G", NULL},
    {"dim H\ndim G\n", "h: 0 .. H", "", "h // (H // G)", "G", ""},
    {"dim Z\ndim A\nrequires Z % A == 0\n", "z: 0 .. Z", "", "z % A", "A", NULL},
    {"dim Z\ndim A\nrequires Z % A == 0\n", "z: 0 .. Z", "", "z // A", "Z // A", NULL},
    {"dim Z\ndim A\ndim B\nrequires Z % A == 0\nrequires Z % B == 0\n", "z: 0 .. Z", "", "z % B",
     "B", NULL},
    {"dim Z\ndim A\n", "z: 0 .. Z", "", "z % A", "A", "requires A >= 1"},
    {"dim Z\ndim A\nrequires A >= 1\n", "z: 0 .. Z", "", "z % A", "A", NULL},
    {"dim N\n", "n: 0 .. N", "", "n // 4", "N", NULL},
    {"dim N\n", "n: 0 .. N", "", "n // 4", "(N + 3) // 4", NULL},
    {"dim N\n", "n: 0 .. N", "", "n // 4", "N // 4", ""},
    {"dim N\nrequires N % 4 == 0\n", "n: 0 .. N", "", "n // 4", "N // 4", NULL},
    {"dim X\ndim Y\n", "n: 0 .. X * Y", "", "n % 8", "8", NULL},
    {"dim X\n", "x: 0 .. X, k: 0 .. 8", "", "(x * 8 + k) // 8", "X", NULL},
    {"dim X\n", "x: 0 .. X, k: 0 .. 8", "", "(x * 8 + k) % 8", "8", NULL},
    {"dim X\n", "x: 0 .. X, k: 0 .. 9", "", "(x * 8 + k) // 8", "X", ""},
    {"dim X\ndim K\n", "x: 0 .. X, k: 0 .. K", "", "(x * K + k) // K", "X", NULL},
    {"dim X\ndim K\n", "x: 0 .. X, k: 0 .. K", "", "x * K + k", "X * K", NULL},
    {"dim X\ndim K\ndim L\nrequires L == X * K\n", "x: 0 .. X, k: 0 .. K", "", "x * K + k", "L",
     NULL},
    {"dim H\ndim G\nrequires H % G == 0\n", "g: 0 .. G, r: 0 .. H // G", "", "g * (H // G) + r",
     "H", NULL},
    {"dim D\nrequires D % 2 == 0\n", "d: 0 .. D // 2", "", "d + D // 2", "D", NULL},
    {"dim D\n", "d: 0 .. D // 2", "", "d + D // 2", "D", NULL},
    {"dim D\n", "d: 0 .. (D + 1) // 2", "", "d + D // 2", "D", NULL},
    {"dim D\n", "d: 0 .. (D + 1) // 2", "", "d + (D + 1) // 2", "D", ""},
    {"dim K\ndim L\ndim S\nrequires K == 2 * L\nrequires S == (K + 127) // 128\n", "k: 0 .. K", "",
     "k // 128", "S", NULL},
    {"dim N\nrequires N % 8 == 0\n", "j: 0 .. 4, k: 0 .. N // 8", "",
     "2 * j * (N // 8) + N // 8 + k", "N", NULL},
    /* ranges that depend on others, min and max */
    {"dim K\n", "s: 0 .. 8", "axis k: s * ((K + 7) // 8) .. min((s + 1) * ((K + 7) // 8), K)\n",
     "k", "K", NULL},
    {"dim K\n", "s: 0 .. 8", "axis k: s * ((K + 7) // 8) .. (s + 1) * ((K + 7) // 8)\n", "k", "K",
     ""},
    {"dim N\n", "r: 0 .. N", "axis w: 0 .. r + 1\n", "w", "N", NULL},
    {"dim N\n", "r: 0 .. N", "axis w: 0 .. r\n", "r - 1 - w", "N", NULL},
    {"dim N\ndim M\n", "n: 0 .. max(N, M)", "", "n", "N + M", NULL},
    {"dim N\ndim M\n", "n: 0 .. min(N, M)", "", "n", "N", NULL},
    {"dim N\ndim M\n", "n: 0 .. N", "", "min(n, M - 1)", "M", ""},
    {"dim N\ndim M\nrequires M >= 1\n", "n: 0 .. N", "", "min(n, M - 1)", "M", NULL},
    {"dim N\n", "n: 0 .. N", "", "max(n - 1, 0)", "N", NULL},
    /* blocks */
    {"dim N\n", "n: 0 .. N tile 64", "", "n", "N", NULL},
    {"dim N\n", "n: 0 .. N tile 64", "", "lo(n)", "N", NULL},
    {"dim N\n", "n: 0 .. N tile 64", "", "hi(n) - 1", "N", NULL},
    {"dim N\n", "n: 0 .. N tile 64", "", "hi(n)", "N", ""},
    {"dim N\n", "n: 0 .. N tile 64", "", "n - lo(n)", "64", NULL},
    {"dim N\n", "n: 0 .. N tile 64", "", "n - lo(n)", "63", ""},
    {"dim I\ndim J\n", "i: 0 .. I tile 64", "axis j: 0 .. min(J, hi(i) + (J - I))\n", "j", "J",
     NULL},
    {"dim I\ndim J\nrequires I <= J\n", "i: 0 .. I tile 64", "axis j: 0 .. hi(i) + (J - I)\n", "j",
     "J", NULL},
};

static void each_proof(void **state) {
    (void)state;
    for (int k = 0; k < COUNT(proofs); k++) {
        const proof *c = &proofs[k];
        char text[1000];
        tw_context *ctx = tw_context_create(NULL);
        /* a load that `else` guards asks the question without being refused */
        tw_ir *ir = NULL;
        /* the tile axes of the load are part of its type: try none, then each axis named in the
         * text */
        static const char *const types[] = {"", "{k}", "{w}", "{j}", "{n}", "{i}"};
        for (int t = 0; t < COUNT(types) && !ir; t++) {
            tw_diag_clear(ctx);
            (void)snprintf(text, sizeof text,
                           "kernel k order free\n%sarray A: in f32[%s]\nparallel %s {\n%s"
                           "z: f32 = const 0\nx: f32%s = load A[%s] guarded else z\n}\n",
                           c->head, c->extent, c->scope, c->axes, types[t], c->index);
            ir = from_text(ctx, text);
        }
        if (!ir)
            fail_msg("%s\n%s", text, tw_diag_text(ctx, false));
        twi_prove_accesses(ir);
        bool proved = ir->access.at[1].proof == TWI_ACCESS_PROVED;
        if (proved != (c->missing == NULL))
            fail_msg("%s in 0 .. %s is %s:\n%s", c->index, c->extent,
                     proved ? "proved, and must not be" : "not proved", text);
        const char *missing = NULL;
        if (!proved) {
            (void)twi_prove_inside(ir, &ctx->arena, ir->access.at[1].ix[0], ir->array.at[1].dim[0],
                                   &missing);
            if (c->missing[0] && strcmp(missing ? missing : "nothing", c->missing) != 0)
                fail_msg("%s in 0 .. %s: proposes %s, not %s", c->index, c->extent,
                         missing ? missing : "nothing", c->missing);
        }
        tw_context_destroy(ctx);
    }
}

/* The prover against numbers: what it proves holds for all small dims and positions. */
static int64_t leaf_value(void *user, const twi_ix_node *node) {
    const int64_t *v = user; /* N, M, n, m */
    return node->op == TWI_IX_DIM ? v[node->a - 1u] : v[node->a + 1u];
}

static twi_ix random_ix(tw_ir *ir, uint64_t *seed, int depth) {
    static const twi_ix_op ops[] = {TWI_IX_ADD, TWI_IX_SUB, TWI_IX_MUL, TWI_IX_DIV,
                                    TWI_IX_MOD, TWI_IX_MIN, TWI_IX_MAX};
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    unsigned r = (unsigned)(*seed >> 33);
    if (depth == 0 || r % 4 == 0)
        return r % 3 == 0   ? twi_ix_const(ir, r / 3 % 5)
               : r % 3 == 1 ? twi_ix_leaf(ir, TWI_IX_DIM, 1 + r / 3 % 2)
                            : twi_ix_leaf(ir, TWI_IX_AXIS, 1 + r / 3 % 2);
    twi_ix a = random_ix(ir, seed, depth - 1), b = random_ix(ir, seed, depth - 1);
    return twi_ix_make(ir, ops[r / 4 % 7], a, b);
}

typedef struct {
    const char *text;
    bool (*holds)(int64_t N, int64_t M);
} fact;
static bool always(int64_t N, int64_t M) { return N >= 0 && M >= 0; }
static bool divides(int64_t N, int64_t M) { return M ? N % M == 0 : N == 0; /* x % 0 is x */ }
static bool at_most(int64_t N, int64_t M) { return N <= M; }
static bool twice(int64_t N, int64_t M) { return N == 2 * M; }
static bool thirds(int64_t N, int64_t M) { return N == (M + 2) / 3; }
static const fact facts[] = {{"", always},
                             {"requires N % M == 0\n", divides},
                             {"requires N <= M\n", at_most},
                             {"requires N == 2 * M\n", twice},
                             {"requires N == (M + 2) // 3\n", thirds}};

/* All positions for these dims. */
static void check_positions(const tw_ir *ir, twi_ix x, twi_ix extent, int64_t N, int64_t M) {
    uint64_t axes = ir->ix.at[x].axes;
    int64_t last_n = axes >> 1 & 1u ? N : 1, last_m = axes >> 2 & 1u ? M : 2;
    for (int64_t n = 0; n < last_n; n++)
        for (int64_t m = 1; m < last_m; m++) {
            int64_t v[] = {N, M, n, m};
            int64_t at = twi_ix_eval(ir, x, leaf_value, v);
            int64_t end = twi_ix_eval(ir, extent, leaf_value, v);
            if (at >= 0 && at < end)
                continue;
            twi_sb sb;
            twi_sb_init(&sb, ir->arena);
            twi_ix_text(ir, &sb, x);
            twi_sb_str(&sb, " in 0 .. ");
            twi_ix_text(ir, &sb, extent);
            fail_msg("proved, but wrong: %s for N=%d M=%d n=%d m=%d", sb.at, (int)N, (int)M, (int)n,
                     (int)m);
        }
}

static void sound(void **state) {
    (void)state;
    uint64_t seed = 7;
    int proved = 0;
    for (int f = 0; f < COUNT(facts); f++) {
        char text[500];
        twi_arena scratch;
        tw_context *ctx = tw_context_create(NULL);
        twi_arena_init(&scratch, &ctx->mem);
        (void)snprintf(text, sizeof text,
                       "kernel k order free\ndim N\ndim M\n%sparallel n: 0 .. N, m: 1 .. M {\n}\n",
                       facts[f].text);
        tw_ir *ir = from_text(ctx, text);
        expect_fine(ctx);
        for (int k = 0; k < 250; k++) {
            const char *missing;
            twi_mark mark = twi_arena_mark(&scratch);
            twi_ix x = random_ix(ir, &seed, 3), extent = random_ix(ir, &seed, 1);
            bool inside =
                ir->ix.at[extent].axes == 0 && twi_prove_inside(ir, &scratch, x, extent, &missing);
            twi_arena_reset(&scratch, mark);
            proved += inside;
            for (int64_t N = 0; inside && N < 9; N++)
                for (int64_t M = 0; M < 9; M++)
                    if (facts[f].holds(N, M))
                        check_positions(ir, x, extent, N, M);
        }
        twi_arena_fini(&scratch);
        tw_context_destroy(ctx);
    }
    assert_true(proved > 50); /* else the test shows nothing */
}

static void relations(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir =
        from_text(ctx, "kernel k order free\ndim N\ndim M\nrequires N < M\nparallel {\n}\n");
    expect_fine(ctx);
    twi_ix n = twi_ix_leaf(ir, TWI_IX_DIM, 1), m = twi_ix_leaf(ir, TWI_IX_DIM, 2);
    assert_true(twi_prove(ir, &ctx->arena, TWI_LT, n, m));
    assert_true(twi_prove(ir, &ctx->arena, TWI_LE, n, m));
    assert_true(twi_prove(ir, &ctx->arena, TWI_GT, m, n));
    assert_true(twi_prove(ir, &ctx->arena, TWI_NE, n, m));
    assert_true(twi_prove(ir, &ctx->arena, TWI_EQ, n, n));
    assert_false(twi_prove(ir, &ctx->arena, TWI_EQ, n, m));
    assert_false(twi_prove(ir, &ctx->arena, TWI_GE, n, m));
    tw_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_proof), cmocka_unit_test(sound),
                                       cmocka_unit_test(relations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
