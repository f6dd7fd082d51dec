/* SPDX-License-Identifier: Apache-2.0
 * The hand-written plans of tests/plans are legal for every case of their kernel, on the targets
 * they are for.
 */
#include "../plan/kernels.h"
#include "search/search.h"

#include <stdio.h>

static const char *file_text(tw_context *ctx, const char *path) {
    char *text = twi_alloc(&ctx->arena, 65536);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(text, 1, 65535, f);
    (void)fclose(f);
    assert_true(n > 0 && n < 65535);
    return text;
}

/* Value of NAME=.. in a line of a .cases file. */
static int64_t number(const char *line, const char *name) {
    int64_t v = -1;
    const char *at = strstr(line, name);
    assert_non_null(at);
    at += strlen(name);
    assert_true(twi_parse_i64(at, strcspn(at, " \n"), &v));
    return v;
}

static void legal_for_all_cases(const char *name, const char *target) {
    tw_context *ctx = tw_context_create(NULL);
    twi_caps caps;
    assert_true(twi_caps_named(ctx, target, &caps));
    const char *text =
        file_text(ctx, twi_format(&ctx->arena, TW_SOURCE_DIR "/tests/plans/%s", name));
    const char *line = file_text(ctx, TW_SOURCE_DIR "/kernels/gemm.cases");
    unsigned cases = 0;
    for (; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (*line == '#' || *line == '\n')
            continue;
        twi_plans plans;
        twi_why why;
        tw_ir *ir =
            gemm_of(ctx, number(line, "M="), number(line, "N="), number(line, "K="), TW_ORDER_FREE);
        if (!twi_plan_parse(&ctx->arena, ir, name, text, strlen(text), &plans))
            fail_msg("%s", tw_diag_text(ctx, false));
        if (!twi_search_legal(ir, &caps, &plans, &why))
            fail_msg("%s on %s, %.*s: %s", name, target, (int)strcspn(line, "\n"), line, why.text);
        assert_true(plans.scope[0].stages == 2);
        cases++;
    }
    assert_true(cases >= 10);
    tw_context_destroy(ctx);
}

static void packed(void **state) {
    (void)state;
    legal_for_all_cases("gemm.packed.plan", "cpu-baseline");
    legal_for_all_cases("gemm.packed.plan", "cpu-avx512");
    legal_for_all_cases("gemm.around.plan", "cpu-avx512");
}

static void shared(void **state) {
    (void)state;
    legal_for_all_cases("gemm.shared.plan", "simt32");
    legal_for_all_cases("gemm.swizzle.plan", "simt32");
    legal_for_all_cases("gemm.swizzle1.plan", "simt1");
    legal_for_all_cases("gemm.shared4.plan", "simt4");
    legal_for_all_cases("gemm.shared4.plan", "simt32");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(packed), cmocka_unit_test(shared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
