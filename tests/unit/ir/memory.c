/* SPDX-License-Identifier: Apache-2.0
 * Each allocation of building, printing, reading, specialising a gemm fails once: no crash, no
 * leak, an answer of NULL, and with enough memory the same text as always.
 */
#include "test.h"

#include <stdlib.h>

typedef struct {
    long left; /* allocations until the one that fails; all after it fail too if `for_good` */
    bool for_good;
    long out; /* blocks not yet released */
} pool;

static void *get(void *user, size_t size) {
    pool *p = user;
    if (p->left == 0 || (p->left < 0 && p->for_good)) {
        p->left = -1;
        return NULL;
    }
    p->left--;
    p->out++;
    return malloc(size);
}

static void put(void *user, void *block) {
    pool *p = user;
    p->out -= block != NULL;
    free(block);
}

/* True: all went well, and the text is the expected one. */
static bool run(tw_context *ctx, const char *expected) {
    tw_ir *ir = build_gemm(ctx, TW_F32);
    const char *text = ir ? tw_ir_text(ctx, ir) : NULL;
    tw_ir *again = text ? from_text(ctx, text) : NULL;
    const char *back = again ? tw_ir_text(ctx, again) : NULL;
    const char *ledger = back ? tw_ir_ledger_text(ctx, again) : NULL;
    if (back)
        assert_string_equal(back, expected);
    if (ledger)
        assert_non_null(strstr(ledger, "proved"));
    return ledger != NULL;
}

static void each_allocation(void **state) {
    (void)state;
    tw_context *plain = tw_context_create(NULL);
    const char *expected = tw_ir_text(plain, build_gemm(plain, TW_F32));
    expect_fine(plain);
    for (int for_good = 0; for_good < 2; for_good++) {
        bool done = false;
        long failed = 0;
        for (long n = 0; !done; n++) {
            pool p = {n, for_good != 0, 0};
            tw_allocator allocator = {get, put, &p};
            tw_context *ctx = tw_context_create(&allocator);
            done = ctx && run(ctx, expected) && p.left >= 0;
            failed += !done;
            if (ctx)
                (void)tw_diag_text(ctx, false);
            tw_context_destroy(ctx);
            assert_int_equal(p.out, 0);
        }
        assert_true(failed > 5); /* else nothing was tried */
    }
    tw_context_destroy(plain);
}

/* Abandoned half-way, or used after a failure. */
static void abandoned(void **state) {
    (void)state;
    pool p = {1000000, false, 0};
    tw_allocator allocator = {get, put, &p};
    tw_context *ctx = tw_context_create(&allocator);
    tw_builder *b = tw_build_begin(ctx, "k");
    tw_build_parallel(b, NULL, 0, NULL);
    tw_build_abandon(b);
    tw_build_abandon(NULL);
    assert_null(tw_build_finish(NULL));
    assert_int_equal(tw_build_dim(NULL, "N", false), 0);
    assert_int_equal(tw_build_index(NULL, 1), 0);
    assert_null(tw_build_begin(NULL, "k"));
    tw_context_destroy(ctx);
    assert_int_equal(p.out, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation),
                                       cmocka_unit_test(abandoned)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
