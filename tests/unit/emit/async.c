/* SPDX-License-Identifier: Apache-2.0
 * links: front search
 * Asynchronous copies: CUDA C++ spells them, 4 bytes at a time in `main`, 16 where facts allow; a
 * target that lacks them gets the plan's loads and stores, and says no to what was made for one
 * that has them.
 */
#include "base/fs.h"
#include "emit/dialect.h"
#include "loop/legalize.h"
#include "lower/lower.h"
#include "pass/pass.h"
#include "search/search.h"
#include "tilewright/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char plan[] =
    "plan gemm/0 class=free\n"
    "frame f: m = grid 1, sub 4@2, slot 2, lane 4@8 ; n = grid 1, sub 2, lane 8, slot 4 ; "
    "k = serial 5, loop 4, slot 4\n"
    "stage A: shared, order m k, pad 4, copy m = sub 8, lane 4@8 ; k = lane 8, slot 2, "
    "via async, window 3\n"
    "stage B: shared, order k n, copy k = sub 8, lane 2@16 ; n = lane 16, slot 4, "
    "via async, window 3\n"
    "entry main ; entry aligned16: align16 A B C\n";

static const twi_loop *lowered(tw_context *ctx, const twi_caps *caps) {
    char *text;
    size_t n;
    twi_plans plans;
    twi_why why = {0};
    const int64_t dims[] = {0, 32, 80, 64};
    assert_int_equal(twi_read_file(&ctx->arena, TW_SOURCE_DIR "/kernels/gemm.tile", &text, &n), 0);
    tw_program *p = tw_program_parse(ctx, "gemm.tile", text, n);
    assert_non_null(p);
    tw_ir *ir = tw_program_build(p, 0, &(tw_binding){"T", "f32"}, 1);
    ir = ir ? twi_ir_specialise(ir, &ctx->arena, dims) : NULL;
    if (!ir)
        fail_msg("%s", tw_diag_text(ctx, false));
    opt_lift(ir);
    if (!twi_plan_parse(&ctx->arena, ir, "a.plan", plan, strlen(plan), &plans))
        fail_msg("%s", tw_diag_text(ctx, false));
    if (!twi_search_legal(ir, caps, &plans, &why))
        fail_msg("%s", why.text);
    return twi_lower(&ctx->arena, ir, caps, &plans);
}

static const char *source(tw_context *ctx, const twi_loop *loop) {
    twi_sb out;
    twi_sb_init(&out, &ctx->arena);
    twi_emit(loop, &twi_dialect_cuda, &out);
    return twi_sb_text(&out);
}

static void spelled(void **state) {
    (void)state;
    twi_caps caps;
    tw_context *ctx = tw_context_create(NULL);
    assert_true(twi_caps_named(ctx, "sm_80", &caps));
    const twi_loop *loop = lowered(ctx, &caps);
    twi_loop *beside = twi_legalize(loop, &ctx->arena, &caps);
    if (!twi_loop_verify(beside) || !twi_loop_spoken(beside, &caps))
        fail_msg("%s", tw_diag_text(ctx, false));
    static const char *const words[] = {
        "tw_async4(",         "tw_async16(",           "cp.async.ca.shared",
        "cp.async.cg.shared", "cp.async.commit_group", "cp.async.wait_group 1;"};
    const char *text = source(ctx, beside);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (!strstr(text, words[k]))
            fail_msg("no %s in:\n%s", words[k], text);
    /* A pointer, and each term by itself, so that slots are constants from one pointer. */
    const char *call = strstr(text, "tw_async4(g_");
    assert_non_null(call);
    for (; call; call = strstr(call + 1, "tw_async4(g_"))
        assert_true(strcspn(call + strlen("tw_async4("), "(") > strcspn(call, ","));
    caps.async_bytes = 0;
    assert_false(twi_loop_spoken(beside, &caps));
    twi_loop *plain = twi_legalize(loop, &ctx->arena, &caps);
    if (!twi_loop_verify(plain) || !twi_loop_spoken(plain, &caps))
        fail_msg("%s", tw_diag_text(ctx, false));
    assert_null(strstr(source(ctx, plain), "async"));
    tw_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(spelled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
