/* SPDX-License-Identifier: Apache-2.0
 * 2000 random programs, the same ones every time: each is checked to the end, with diagnostics or
 * without, never with an internal error; and what is accepted can be built and printed. Half of
 * them are correct enough to get deep, so that this is no test of the parser alone. links: front
 */
#include "../../fuzz/generate.c"
#include "front/ast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PROGRAMS = 2000, WILDNESS = 4 };

typedef struct tally {
    size_t parsed, good, said;
} tally;

static void one(uint64_t seed, tally *t) {
    tw_context *ctx = tw_context_create(NULL);
    generator g;
    generate_program(&g, seed, (unsigned)(seed % WILDNESS), &ctx->arena);
    tw_program *p = tw_program_parse(ctx, "fuzz.tile", g.out.at, g.out.n);
    bool good = p && tw_program_check(p);
    size_t errors = 0;
    for (size_t k = 0; k < tw_diag_count(ctx); k++) {
        tw_diag d = tw_diag_get(ctx, k);
        errors += d.severity == 0;
        /* 200, 201, 300: memory, handles that were never given, malformed tile IR: faults of ours
         */
        bool ours = d.code == 200 || d.code == 201 || d.code == 300 || d.code == 0;
        if (ours || d.line == 0)
            fail_msg("seed %llu: E%04d %s\n%s", (unsigned long long)seed, d.code, d.text, g.out.at);
    }
    if (good != (errors == 0))
        fail_msg("seed %llu: %s with %zu errors\n%s\n%s", (unsigned long long)seed,
                 good ? "accepted" : "refused", errors, g.out.at, tw_diag_text(ctx, false));
    t->parsed += p != NULL;
    t->good += good;
    t->said += errors > 0;
    if (good) {
        tw_binding b[] = {{"T", tw_program_decl(p, 0, 0)->choice[0]}, {"C", "true"}};
        tw_ir *ir = tw_program_build(p, 0, b, 2);
        assert_non_null(ir);
        assert_true(strlen(tw_ir_text(ctx, ir)) > 100);
    }
    tw_context_destroy(ctx);
}

static void test_random_programs(void **state) {
    (void)state;
    tally t = {0};
    const char *only = getenv("TW_FUZZ_SEED");
    uint64_t from = only ? strtoull(only, NULL, 10) : 0, to = only ? from + 1 : PROGRAMS;
    for (uint64_t seed = from; seed < to; seed++)
        one(seed, &t);
    printf("%zu parsed, %zu accepted, %zu refused\n", t.parsed, t.good, t.said);
    if (!only) { /* neither side of the language may be forgotten */
        assert_true(t.parsed > PROGRAMS / 2);
        assert_true(t.good > PROGRAMS / 10);
        assert_true(t.said > PROGRAMS / 4);
    }
}

/* Bytes of correct programs, changed, doubled and left out. */
static void test_damaged_programs(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        tw_context *ctx = tw_context_create(NULL);
        generator g;
        generate_program(&g, seed, 0, &ctx->arena);
        for (int k = 0; k < 3; k++) {
            size_t at = (size_t)twi_rng_below(&g.rng, g.out.n);
            g.out.at[at] = (char)twi_rng_below(&g.rng, 256);
        }
        tw_program *p = tw_program_parse(ctx, "fuzz.tile", g.out.at, g.out.n);
        bool good = p && tw_program_check(p);
        assert_true(good || tw_diag_count(ctx) > 0);
        tw_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs),
        cmocka_unit_test(test_damaged_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
