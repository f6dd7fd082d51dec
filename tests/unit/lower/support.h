/* SPDX-License-Identifier: Apache-2.0
 * Plans drawn, lowered, verified and run in the interpreter: shared by the tests of lowering. What
 * goes wrong fails with the plan and the loop IR. Without memory the process ends.
 */
#ifndef TEST_LOWER_SUPPORT_H
#define TEST_LOWER_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../loop/dense.h"
#include "lower/lower.h"
#include "pass/pass.h"
#include "search/search.h"

/* A row of a test table: a test that finds the name of its target in *state. */
#define ON(target, test)                                                                           \
    { #test " on " target, test, NULL, NULL, target }

typedef struct {
    tw_context *ctx;
    twi_arena *a; /* may be reset: names and diagnostics are not in it */
    twi_caps caps;
} bench;

static inline bench bench_on(const char *target) {
    bench b = {.ctx = tw_context_create(NULL)};
    b.a = TWI_NEW(&b.ctx->arena, twi_arena);
    twi_arena_init(b.a, &b.ctx->mem);
    assert_true(twi_caps_named(b.ctx, target, &b.caps));
    return b;
}

static inline void bench_end(const bench *b) {
    twi_arena_fini(b->a);
    tw_context_destroy(b->ctx);
}

static inline uint64_t setting(const char *name, uint64_t otherwise) {
    return getenv(name) ? strtoull(getenv(name), NULL, 10) : otherwise;
}

/* Tile IR by its text, lifted. */
static inline tw_ir *kernel_of(const bench *b, const char *text) {
    tw_ir *ir = twi_ir_parse(b->ctx, b->a, "test.ir", text, strlen(text));
    if (!ir)
        fail_msg("%s\n%s", tw_diag_text(b->ctx, false), text);
    opt_lift(ir);
    return ir;
}

/* loop may be NULL. */
static inline void complain(const tw_ir *ir, const twi_plans *plans, const twi_loop *loop,
                            const char *what) {
    twi_sb sb;
    twi_sb_init(&sb, ir->arena);
    twi_plan_print(plans->ir, plans, NULL, &sb);
    twi_ir_print(ir, &sb);
    if (loop)
        twi_loop_print(loop, &sb);
    fail_msg("%s\n%s", what, twi_sb_text(&sb));
}

/* The default plan (seed 0) or a random one. */
static inline twi_plans *drawn_plans(const bench *b, const tw_ir *ir, uint64_t seed) {
    twi_why why = {.text = ""};
    twi_plans *plans = seed ? twi_search_random(b->a, ir, &b->caps, NULL, seed, &why)
                            : twi_search_default(b->a, ir, &b->caps, NULL, &why);
    if (!plans)
        fail_msg("%s: no plan for seed %llu: %s %s", twi_text(&b->ctx->names, ir->kernel),
                 (unsigned long long)seed, why.text, tw_diag_text(b->ctx, false));
    return plans;
}

/* A plan by its text, legal. */
static inline twi_plans *written_plans(const bench *b, const tw_ir *ir, const char *text) {
    twi_why why = {.text = ""};
    twi_plans *plans = TWI_NEW(b->a, twi_plans);
    if (!twi_plan_parse(b->a, ir, "test.plan", text, strlen(text), plans))
        fail_msg("%s\n%s", tw_diag_text(b->ctx, false), text);
    if (!twi_search_legal(plans->ir, &b->caps, plans, &why))
        fail_msg("%s\n%s", why.text, text);
    return plans;
}

static inline twi_loop *lowered(const bench *b, const tw_ir *ir, const twi_plans *plans) {
    ir = plans->ir; /* what its joins and merges make of it */
    twi_loop *loop = twi_lower(b->a, ir, &b->caps, plans);
    if (!twi_loop_verify(loop))
        complain(ir, plans, loop, tw_diag_text(b->ctx, false));
    return loop;
}

/* One run of an entry on the kernel's n arrays, in the order of their ids; memory for arrays beyond
 * them (partial results, a status) is found here. */
static inline twi_interp_result interpret(twi_arena *a, const twi_loop *loop, uint32_t entry,
                                          void *const *data, uint32_t n) {
    twi_interp_array *arrays = TWI_NEW_N(a, twi_interp_array, loop->array.n);
    for (uint32_t k = 1; k < loop->array.n; k++) {
        size_t bytes;
        arrays[k] = dense_array(a, &loop->array.at[k], k <= n ? data[k - 1] : NULL, &bytes);
        if (k > n)
            arrays[k].data = twi_alloc(a, bytes + 1);
    }
    twi_interp_result r;
    twi_interp_run(loop, entry, arrays, NULL, a, &r);
    return r;
}

#endif
