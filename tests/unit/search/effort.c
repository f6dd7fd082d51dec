/* SPDX-License-Identifier: Apache-2.0
 * links: front
 * What planning costs, counted: walks, the instructions that they build, and memory, for kernels of
 * every family. A bound is about a quarter above what it takes; the default is the first of the
 * list all the same.
 */
#include "base/fs.h"
#include "lower/lower.h"
#include "pass/pass.h"
#include "search/search.h"
#include "tilewright/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    const char *name;
    int64_t value;
} dim;
typedef struct {
    const char *kernel, *elem;
    dim dims[3];
    const char *target;
    uint32_t walks, built, kb; /* at most */
} row;

#define ROWS(r, w)                                                                                 \
    {                                                                                              \
        {"R", r}, {"W", w}, { NULL, 0 }                                                            \
    }
#define GEMM(m, n, k)                                                                              \
    {                                                                                              \
        {"M", m}, {"N", n}, { "K", k }                                                             \
    }
static const row rows[] = {
    {"residual_layernorm", "f32", ROWS(128, 1024), "cpu-avx512", 70, 14500, 1000},
    {"residual_layernorm", "f32", ROWS(128, 1024), "sm_90a", 34, 6400, 640},
    {"residual_layernorm", "bf16", ROWS(17, 257), "simt32", 58, 10000, 640},
    {"softmax", "f32", ROWS(128, 1024), "sm_90a", 15, 2800, 640},
    {"softmax", "bf16", ROWS(128, 1024), "simt32", 21, 4000, 640},
    {"row_sum", "f32", ROWS(128, 1024), "sm_90a", 6, 460, 400},
    {"row_sum", "f32", ROWS(1, 65536), "sm_90a", 62, 3900, 2000},
    {"gelu_residual", "bf16", ROWS(128, 1024), "sm_90a", 30, 960, 400},
    {"scan", "f32", ROWS(128, 1024), "sm_90a", 22, 1600, 400},
    {"gemm", "f32", GEMM(512, 512, 512), "sm_90a", 275, 26200, 3000},
    {"gemm", "f32", GEMM(512, 512, 512), "cpu-avx512", 150, 6900, 640},
    {"gemm", "f32", GEMM(64, 64, 16384), "sm_90a", 575, 45500, 5000},
};

static tw_ir *lifted(tw_context *ctx, const row *r) {
    char *text;
    size_t n;
    const char *path = twi_format(&ctx->arena, "kernels/%s.tile", r->kernel);
    assert_int_equal(twi_read_file(&ctx->arena, path, &text, &n), 0);
    tw_program *p = tw_program_parse(ctx, path, text, n);
    tw_binding types[3] = {{"T", r->elem}, {"EXCLUSIVE", "false"}, {"REVERSE", "false"}};
    tw_ir *ir = tw_program_build(p, 0, types, strcmp(r->kernel, "scan") ? 1 : 3);
    assert_non_null(ir);
    int64_t *dims = TWI_NEW_N(&ctx->arena, int64_t, ir->dim.n);
    for (uint32_t d = 1; d < ir->dim.n; d++) {
        dims[d] = ir->dim.at[d].known ? ir->dim.at[d].value : -1;
        for (unsigned k = 0; k < 3 && r->dims[k].name; k++)
            if (strcmp(r->dims[k].name, twi_text(&ctx->names, ir->dim.at[d].name)) == 0)
                dims[d] = r->dims[k].value;
    }
    ir = twi_ir_specialise(ir, &ctx->arena, dims);
    assert_non_null(ir);
    opt_lift(ir);
    return ir;
}

static const char *text_of(tw_context *ctx, const tw_ir *ir, twi_plan *plan) {
    const twi_plans one = {.ir = ir, .n = 1, .scope = plan};
    twi_sb sb;
    twi_sb_init(&sb, &ctx->arena);
    twi_plan_print(ir, &one, NULL, &sb);
    return twi_sb_text(&sb);
}

static bool try_row(const row *r) {
    tw_context *ctx = tw_context_create(NULL);
    jmp_buf spot, *saved;
    twi_why why;
    twi_caps caps;
    twi_candidate *all;
    if (TWI_GUARD(&ctx->mem, spot, saved))
        fail_msg("out of memory");
    tw_ir *ir = lifted(ctx, r);
    assert_true(twi_caps_named(ctx, r->target, &caps));
    const uint64_t before = ctx->mem.bytes;
    twi_plans *plans = twi_search_default(&ctx->arena, ir, &caps, NULL, &why);
    const uint64_t kb = (ctx->mem.bytes - before) / 1024;
    assert_non_null(plans);
    uint32_t n = twi_search_list(&ctx->arena, ir, &caps, NULL, 0, &all);
    assert_true(n > 0);
    if (plans->n == 1)
        assert_string_equal(text_of(ctx, plans->ir, &plans->scope[0]),
                            text_of(ctx, all[0].ir, all[0].plan));
    bool good = plans->walks <= r->walks && plans->built <= r->built && kb <= r->kb;
    if (!good || getenv("TW_SHOW"))
        fprintf(stderr,
                "%s %s on %s: %u walks (at most %u), %llu instructions (at most %u), %llu KB (at "
                "most %u)\n",
                r->kernel, r->elem, r->target, plans->walks, r->walks,
                (unsigned long long)plans->built, r->built, (unsigned long long)kb, r->kb);
    TWI_UNGUARD(&ctx->mem, saved);
    tw_context_destroy(ctx);
    return good;
}

static void planning(void **state) {
    (void)state;
    unsigned over = 0;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        over += !try_row(&rows[k]);
    assert_int_equal(over, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(planning)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
