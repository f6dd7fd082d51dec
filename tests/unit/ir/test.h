/* SPDX-License-Identifier: Apache-2.0
 * What the tests of tile IR share: cmocka, a context, kernels built in C, and a look at
 * diagnostics.
 */
#ifndef TEST_IR_H
#define TEST_IR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/codes.h"
#include "ir/ir.h"
#include "tilewright/build.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

/* Kernels stop with a message of their own where a diagnostic is not expected. */
static inline void expect_fine(tw_context *ctx) {
    if (tw_diag_count(ctx) != 0)
        fail_msg("%s", tw_diag_text(ctx, false));
}

static inline void expect_code(tw_context *ctx, int code, const char *what) {
    if (tw_diag_count(ctx) == 0)
        fail_msg("%s: no diagnostic, E%04d expected", what, code);
    if (tw_diag_get(ctx, 0).code != code)
        fail_msg("%s: E%04d expected:\n%s", what, code, tw_diag_text(ctx, false));
    assert_string_not_equal(tw_diag_get(ctx, 0).text, "");
}

static inline tw_ir *from_text(tw_context *ctx, const char *text) {
    return tw_ir_from_text(ctx, "test.ir", text, strlen(text));
}

/* C[m, n] = dot[k](A[m, k], B[k, n]); NULL without memory. */
static inline tw_ir *build_gemm(tw_context *ctx, tw_elem elem) {
    tw_builder *b = tw_build_begin(ctx, "gemm");
    tw_ix M = tw_build_dim(b, "M", false), N = tw_build_dim(b, "N", false);
    tw_ix K = tw_build_dim(b, "K", false);
    tw_ix mk[] = {M, K}, kn[] = {K, N}, mn[] = {M, N};
    tw_array A = tw_build_array(b, "A", elem, TW_ROLE_IN, mk, 2);
    tw_array B = tw_build_array(b, "B", elem, TW_ROLE_IN, kn, 2);
    tw_array C = tw_build_array(b, "C", elem, TW_ROLE_OUT, mn, 2);
    tw_range ranges[] = {{"m", 0, M, 0}, {"n", 0, N, 0}};
    tw_axis p[2];
    tw_build_parallel(b, ranges, 2, p);
    tw_axis k = tw_build_axis(b, &(tw_range){"k", 0, K, 0});
    tw_ix m = tw_build_ix_axis(b, p[0]), n = tw_build_ix_axis(b, p[1]);
    tw_ix kk = tw_build_ix_axis(b, k);
    tw_ix at_a[] = {m, kk}, at_b[] = {kk, n}, at_c[] = {m, n};
    tw_value x = tw_build_load(b, A, at_a, 2, 0), y = tw_build_load(b, B, at_b, 2, 0);
    tw_build_store(b, C, at_c, 2, tw_build_dot(b, TW_ORDER_AS_SAID, &k, 1, (tw_value[]){x, y}, 0),
                   0);
    tw_build_end(b);
    return tw_build_finish(b);
}

#endif
