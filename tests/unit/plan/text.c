/* SPDX-License-Identifier: Apache-2.0
 * Plan text: hand-written plans print back to their bytes, faults name line, word and column.
 */
#include "kernels.h"
#include "plan/plan.h"

static int setup(void **state) {
    *state = tw_context_create(NULL);
    return *state ? 0 : -1;
}

static int teardown(void **state) {
    tw_context_destroy(*state);
    return 0;
}

static bool parse(tw_context *ctx, const tw_ir *ir, const char *text, twi_plans *plans) {
    twi_diags_clear(&ctx->diags);
    return twi_plan_parse(&ctx->arena, ir, "t.plan", text, strlen(text), plans);
}

static void goes_round(tw_context *ctx, const tw_ir *ir, const char *text) {
    twi_plans plans;
    twi_sb sb;
    if (!parse(ctx, ir, text, &plans))
        fail_msg("%s", tw_diag_text(ctx, false));
    twi_sb_init(&sb, &ctx->arena);
    twi_plan_print(plans.ir, &plans, plans.derived, &sb);
    assert_string_equal(twi_sb_text(&sb), text);
}

static void round_trip(void **state) {
    tw_context *ctx = *state;
    goes_round(ctx, row_sum_of(ctx, 128, 1024, TW_ORDER_FREE),
               "plan row_sum/0 target=cpu-avx512 isa=avx512 class=free spec R=128 W=1024\n"
               "frame f: r = grid 128 ; w = loop 16, slot 4, lane 16\n"
               "value s: fold weight\n"
               "entry main ; entry aligned16: align16 X Y\n"
               "derived workers 1, lanes 16, depth s 21\n");
    goes_round(ctx, softmax_of(ctx, 17, 257, TW_ORDER_FREE),
               "plan softmax/0 class=free\n"
               "frame f: r = grid 5, sub 4 ; w = slot 3, lane 32, slot 3\n"
               "value p: keep stripe\n"
               "launch order band 4 persistent 3\n"
               "entry main\n");
    goes_round(ctx, softmax_of(ctx, 17, 257, TW_ORDER_FREE),
               "plan softmax/0 class=free spec W=257 merge s\n"
               "frame f: r = grid 17 ; w = loop 33, lane 8\n"
               "value m: fold weight\n"
               "value p: keep stripe\n"
               "entry main\n");
    goes_round(ctx, transpose_of(ctx, 17, 257),
               "plan transpose/0 class=canonical spec M=17 join m n\n"
               "frame f: m_n = grid 69, slot 4, lane 16\n"
               "entry main\n");
    goes_round(ctx, softmax_of(ctx, 17, 257, TW_ORDER_FREE),
               "plan softmax/0 target=cpu-avx2 class=free spec W=257\n"
               "frame f: r = grid 17 ; w = loop 3, loop 12, lane 8 order w.loop.2, w.loop\n"
               "value p: keep stripe\n"
               "value s: fold weight\n"
               "entry main ; entry aligned64: align32 Y align64 X\n");
    goes_round(ctx, gemm_of(ctx, 1024, 1024, 1024, TW_ORDER_FREE),
               "plan gemm/0 target=cpu-avx512 class=free spec M=1024 K=1024 N=1024\n"
               "frame f: m = grid 5, loop 21, slot 12 ; n = grid 2, loop 16, slot 2, lane 16 ; k = "
               "serial 4, loop 256 order n.loop, m.loop, k.loop\n"
               "value dot.1: atom fma\n"
               "stage A: scratch, order m.loop k m.slot\n"
               "stage B: scratch, order n.loop k n.slot n.lane\n"
               "entry main\n");
    goes_round(
        ctx, gemm_of(ctx, 256, 256, 64, TW_ORDER_FREE),
        "plan gemm/0 class=free\n"
        "frame f: m = grid 2, sub 4@2, slot 8, lane 4@8 ; n = grid 2, sub 2, slot 2, lane 8, "
        "slot 4 ; k = serial 4, loop 4, slot 4\n"
        "stage A: shared, order m k, pad 4, copy m = slot 2, sub 8, lane 8@4 ; k = lane 4, "
        "slot 4\n"
        "stage B: shared, order k n, copy n = lane 32, slot 4 ; k = slot 2, sub 8\n"
        "entry main\n");
    goes_round(
        ctx, gemm_of(ctx, 256, 256, 64, TW_ORDER_FREE),
        "plan gemm/0 class=free\n"
        "frame f: m = grid 2, sub 4@2, slot 8, lane 4@8 ; n = grid 2, sub 2, slot 2, lane 8, "
        "slot 4 ; k = serial 4, loop 4, slot 4\n"
        "stage A: shared, order m k, pad 4, copy m = slot 2, sub 8, lane 8@4 ; k = lane 4, "
        "slot 4, via regs, window 2\n"
        "stage B: shared, order k n, via async, window 3\n"
        "entry main\n");
    goes_round(
        ctx, gemm_of(ctx, 256, 256, 64, TW_ORDER_FREE),
        "plan gemm/0 class=free\n"
        "frame f: m = grid 2, sub 4@2, slot 8, lane 4@8 ; n = grid 2, sub 2, slot 2, lane 8, "
        "slot 4 ; k = serial 4, loop 4, slot 4\n"
        "stage A: shared, order m k, swizzle 64 rows 2, copy m = slot 2, sub 8, lane 8@4 ; "
        "k = lane 4, slot 4\n"
        "stage B: shared, order k n, swizzle 128 unit 8, via async, window 3\n"
        "entry main\n");
    goes_round(ctx, softmax_of(ctx, 17, 257, TW_ORDER_FREE),
               "plan softmax/0 class=free\n"
               "frame f: r = grid 17 ; w = loop 9, lane 32\n"
               "frame g: r = grid 17 ; w = loop 3, sub 3, lane 32\n"
               "value p: to g via shared, swizzle 128\n"
               "entry main\n");
    goes_round(ctx, attention_of(ctx, 64, 96, 32),
               "plan attention/0 class=free\n"
               "frame f: i = grid 4, loop 16 ; d = loop 32 ; e = loop 2, lane 16 ; j = serial 3, "
               "loop 32\n"
               "entry main\n");
}

#define TWO                                                                                        \
    "plan scaled/0 class=free spec R=17\n"                                                         \
    "frame f: r = grid 17 ; w = loop 65\n"                                                         \
    "entry main ; entry aligned16: align16 X\n"

/* A block for the launch that completes split folds. */
static void second_launch(void **state) {
    tw_context *ctx = *state;
    const tw_ir *ir = softmax_of(ctx, 17, 257, TW_ORDER_FREE), *two = two_scopes_of(ctx, 17, 65);
    twi_plans plans;
    goes_round(ctx, ir,
               "plan softmax/0 class=free\n"
               "frame f: r = grid 17 ; w = grid 5, loop 4, lane 16\n"
               "entry main\n"
               "derived groups 85\n"
               "plan softmax/0.m class=free\n"
               "frame f: r = grid 17 ; w = loop 17, lane 16 ; part = slot 5\n"
               "value p: keep stripe\n");
    goes_round(ctx, two,
               "plan scaled/0 class=free\n"
               "frame f: r = grid 17 ; w = grid 5, loop 13\n"
               "entry main\n"
               "plan scaled/0.sum.1 class=free\n"
               "frame f: r = grid 17 ; part = loop 5\n"
               "plan scaled/1 class=free\n"
               "frame g: u = grid 17 ; v = grid 5, lane 16\n");
    assert_false(parse(ctx, two,
                       "plan scaled/0 class=free\nframe f: r = grid 17 ; w = grid 5, loop 13\n"
                       "plan scaled/1 class=free\nframe g: u = grid 17 ; v = grid 5, lane 16\n",
                       &plans));
    assert_int_equal(ctx->diags.list.at[0].code, 702);
    assert_false(parse(ctx, ir,
                       "plan softmax/0 class=free\nframe f: r = grid 17 ; w = grid 5, loop 52\n"
                       "plan softmax/0.m class=free\nframe f: r = grid 17 ; parts = slot 5\n",
                       &plans));
    assert_int_equal(ctx->diags.list.at[0].code, 704);
    assert_false(parse(ctx, ir,
                       "plan softmax/0 class=free\nframe f: r = grid 17 ; w = grid 5, loop 52\n"
                       "plan softmax/0.m class=free join r w\n",
                       &plans));
    assert_int_equal(ctx->diags.list.at[0].code, 701);
}

static void scopes(void **state) {
    tw_context *ctx = *state;
    const tw_ir *ir = two_scopes_of(ctx, 17, 65);
    twi_plans plans;
    goes_round(ctx, ir,
               TWO "derived depth s 64\nplan scaled/1 class=free\n"
                   "frame g: u = grid 17 ; v = grid 5, lane 16\nderived depth 0\n");
    assert_false(parse(ctx, ir, TWO, &plans));
    assert_int_equal(ctx->diags.list.at[0].code, 713);
    assert_false(parse(ctx, ir, TWO "plan scaled/1\nframe f: r = grid 17\n", &plans));
    assert_int_equal(ctx->diags.list.at[0].code, 704); /* an axis of the other scope */
    assert_false(parse(ctx, ir, TWO "plan scaled/1\nentry main\n", &plans));
    assert_int_equal(ctx->diags.list.at[0].code, 701);
    assert_true(parse(ctx, ir, TWO "plan scaled/1\n", &plans));
    assert_int_equal(plans.scope[1].entry.n, 2);
}

static void fault(tw_context *ctx, const tw_ir *ir, const char *text, unsigned code,
                  const char *where, const char *part) {
    twi_plans plans;
    const char *at;
    uint32_t l, c;
    size_t n;
    assert_false(parse(ctx, ir, text, &plans));
    assert_true(ctx->diags.list.n > 0);
    const twi_diag *d = &ctx->diags.list.at[0];
    if (d->code != code || !strstr(d->text, part))
        fail_msg("E%04u '%s' for\n%s", d->code, d->text, text);
    twi_loc_find(&ctx->diags, d->loc, &l, &c, &at, &n);
    const char *found = twi_format(&ctx->arena, "%u:%u", l, c);
    if (strcmp(found, where) != 0)
        fail_msg("%s instead of %s for\n%s%s", found, where, text, d->text);
}

#define HEAD "plan softmax/0 class=free\n"
#define FRAME HEAD "frame f: r = grid 17 ; w = loop 17, lane 16\n"

static void faults(void **state) {
    tw_context *ctx = *state;
    const tw_ir *ir = softmax_of(ctx, 17, 257, TW_ORDER_FREE);
    fault(ctx, ir, "", 713, "1:1", "scope 0");
    fault(ctx, ir, "frame f: r = grid 1\n", 701, "1:1", "plan KERNEL/SCOPE");
    fault(ctx, ir, "plan\n", 701, "1:5", "KERNEL/SCOPE");
    fault(ctx, ir, "plan gemm/0\n", 702, "1:6", "'gemm'");
    fault(ctx, ir, "plan softmax/1\n", 702, "1:6", "softmax/0");
    fault(ctx, ir, HEAD "plan softmax/1\n", 702, "2:1", "no block is left");
    fault(ctx, ir, "plan softmax/0 class=fast\n", 701, "1:22", "'fast'");
    fault(ctx, ir, "plan softmax/0 speed=fast\n", 701, "1:16", "'speed'");
    fault(ctx, ir, "plan softmax/0 class=free spec R=17 W=256\n", 703, "1:37", "W=257");
    fault(ctx, ir, "plan softmax/0 merge\n", 701, "1:21", "name of a fold");
    fault(ctx, ir, "plan softmax/0 merge q\n", 705, "1:22", "merge q");
    fault(ctx, ir, "plan softmax/0 merge m\n", 705, "1:22", "merge m");
    fault(ctx, ir, "plan softmax/0 merge s, s\n", 705, "1:25", "merge s");
    fault(ctx, softmax_of(ctx, 17, 257, TW_ORDER_CANONICAL), "plan softmax/0 merge s\n", 705,
          "1:22", "merge s");
    const tw_ir *moves = transpose_of(ctx, 17, 257);
    fault(ctx, moves, "plan transpose/0 join m\n", 701, "1:24", "two axes");
    fault(ctx, moves, "plan transpose/0 join m k\n", 704, "1:25", "'k'");
    fault(ctx, moves, "plan transpose/0 join m n, m m_n\n", 704, "1:28", "'m'");
    fault(ctx, moves, "plan transpose/0 join m n merge s\n", 714, "1:27", "merge beside join");
    fault(ctx, ir, "plan softmax/0 join r w\n", 715, "1:23", "join r w: max m runs along axis w");
    fault(ctx, ir, "plan softmax/0 merge s join r w\n", 715, "1:31", "join beside merge");
    fault(ctx, moves, "plan transpose/0 join m n\nframe f: n = grid 257\n", 704, "2:10", "'n'");
    fault(ctx, ir, HEAD "frames f: r = grid 17\n", 700, "2:1", "'frames'");
    fault(ctx, ir, HEAD "launch roles load 1\n", 714, "2:8", "not built");
    fault(ctx, ir, HEAD "launch order bands\n", 701, "2:14", "rows, cols, band N or hilbert");
    fault(ctx, ir, HEAD "launch order band 0\n", 712, "2:19", "from 1");
    fault(ctx, ir, HEAD "launch groups 4\n", 701, "2:8", "order and persistent");
    fault(ctx, ir, HEAD "launch persistent 4\nlaunch order cols\n", 709, "3:1", "twice");
    fault(ctx, ir, HEAD "frame f: q = grid 17\n", 704, "2:10", "'q'");
    fault(ctx, ir, HEAD "frame f: r = grid 17 ; r = grid 17\n", 709, "2:24", "'r'");
    fault(ctx, ir, HEAD "frame f: r = grid 17, ; w = loop 257\n", 708, "2:23", "';'");
    fault(ctx, ir, HEAD "frame f: r = grid 17 ; w = loops 257\n", 708, "2:28", "'loops'");
    fault(ctx, ir, HEAD "frame f: r = grid 17 ; w = loop 257,\n", 708, "2:37", "missing");
    fault(ctx, ir, HEAD "frame f: r = grid 17 w = loop 257\n", 708, "2:22", "'w'");
    fault(ctx, ir, FRAME "frame f: r = grid 17\n", 709, "3:7", "'f'");
    fault(ctx, ir, HEAD "frame f: r = grid 17 ; w = loop 257 order w.slot\n", 707, "2:43",
          "w.slot");
    fault(ctx, ir, HEAD "frame f: r = grid 17 ; w = loop 257 order w.loop, w.loop\n", 709, "2:51",
          "twice");
    fault(ctx, ir, HEAD "frame f: r = grid 17 ; w = loop 257 order z.loop\n", 704, "2:43",
          "z.loop");
    fault(ctx, ir, FRAME "value y: keep stripe\n", 705, "3:7", "'y'");
    fault(ctx, ir, FRAME "value p: keep register\n", 701, "3:15", "'register'");
    fault(ctx, ir, FRAME "value p: in g\n", 706, "3:13", "'g'");
    fault(ctx, ir, FRAME "value p: store stripe\n", 701, "3:10", "'store'");
    fault(ctx, ir, FRAME "value p: keep stripe\nvalue p: keep stripe\n", 709, "4:7", "'p'");
    fault(ctx, ir, FRAME "stage X: global, order w\n", 701, "3:10", "'global'");
    fault(ctx, ir, FRAME "stage X: shared, order w, pad 0\n", 712, "3:31", "1 to 1024");
    fault(ctx, ir, FRAME "stage X: shared, order w, via bulk\n", 714, "3:31", "'via bulk'");
    fault(ctx, ir, FRAME "stage X: shared, order w, via post\n", 701, "3:31",
          "sync, regs or async");
    fault(ctx, ir, FRAME "stage X: shared, order w, window 9\n", 712, "3:34", "1 to 8");
    fault(ctx, ir, FRAME "stage X: shared, order w, swizzle 0\n", 712, "3:35", "1 to 1024");
    fault(ctx, ir, FRAME "stage X: shared, order w, swizzle 128 unit 32\n", 712, "3:44", "1 to 16");
    fault(ctx, ir, FRAME "value p: swizzle 64 rows 129\n", 712, "3:26", "1 to 128");
    fault(ctx, ir, FRAME "stage X: shared, order\n", 701, "3:18", "digits");
    fault(ctx, ir, FRAME "entry main: align16 Z\n", 711, "3:21", "'Z'");
    fault(ctx, ir, FRAME "entry main: align24 X\n", 712, "3:13", "align24");
    fault(ctx, ir, FRAME "entry main ; entry main\n", 709, "3:20", "'main'");
}

static void hashes(void **state) {
    tw_context *ctx = *state;
    const tw_ir *ir = softmax_of(ctx, 17, 257, TW_ORDER_FREE);
    static const char *const texts[] = {FRAME, FRAME "derived workers 1\n",
                                        FRAME "value p: keep stripe\n"};
    uint64_t hash[3];
    for (unsigned i = 0; i < 3; i++) {
        twi_plans plans;
        assert_true(parse(ctx, ir, texts[i], &plans));
        hash[i] = twi_plan_hash(ir, &plans);
    }
    assert_true(hash[0] == hash[1]);
    assert_true(hash[0] != hash[2]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(second_launch, setup, teardown),
        cmocka_unit_test_setup_teardown(scopes, setup, teardown),
        cmocka_unit_test_setup_teardown(faults, setup, teardown),
        cmocka_unit_test_setup_teardown(hashes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
