/* SPDX-License-Identifier: Apache-2.0
 * Search: every kernel has a default and random plans on every target; all are legal,
 * deterministic, and random ones differ; pins, figures, reasons, the canonical class.
 */
#include "search/search.h"
#include "../plan/kernels.h"
#include "plan/rules.h"

#include <stdlib.h>

enum { ROW_SUM, SOFTMAX, GEMM, ATTENTION, SQUARE, TRANSPOSE, ROW_LEFT, KERNELS };
static const char *const targets[] = {"cpu-baseline", "cpu-avx2", "cpu-avx512", "simt32", "simt4"};
enum { TARGETS = 5 };

static int setup(void **state) {
    *state = tw_context_create(NULL);
    return *state ? 0 : -1;
}

static int teardown(void **state) {
    tw_context_destroy(*state);
    return 0;
}

static tw_ir *kernel(tw_context *ctx, unsigned k, int64_t rows, int64_t width) {
    switch (k) {
    case ROW_SUM:
        return row_sum_of(ctx, rows, width, TW_ORDER_FREE);
    case SOFTMAX:
        return softmax_of(ctx, rows, width, TW_ORDER_FREE);
    case GEMM:
        return gemm_of(ctx, rows, width, width, TW_ORDER_FREE);
    case ATTENTION:
        return attention_of(ctx, rows, width, 32);
    case SQUARE:
        return square_of(ctx, rows, width);
    default:
        return row_sum_of(ctx, rows, width, TW_ORDER_LEFT);
    }
}

static twi_caps caps_of(tw_context *ctx, const char *name) {
    twi_caps caps;
    assert_true(twi_caps_named(ctx, name, &caps));
    return caps;
}

static const char *text_of(tw_context *ctx, const twi_plans *plans) {
    twi_sb sb;
    twi_sb_init(&sb, &ctx->arena);
    twi_plan_print(plans->ir, plans, NULL, &sb);
    return twi_sb_text(&sb);
}

static void judge(tw_context *ctx, const tw_ir *ir, const twi_caps *caps, const twi_plans *plans,
                  const twi_why *why) {
    twi_why reason;
    if (!plans)
        fail_msg("%s on %s: %s", twi_text(&ctx->names, ir->kernel),
                 twi_text(&ctx->names, caps->name), why->text);
    ir = plans->ir;
    for (uint32_t k = 0; k < plans->n; k++)
        if (!twi_plan_rules(ir, caps, &plans->scope[k], &reason) ||
            !twi_search_legal(ir, caps, plans, &reason))
            fail_msg("%s\n%s", text_of(ctx, plans), reason.text);
}

static void defaults(void **state) {
    tw_context *ctx = *state;
    for (unsigned t = 0; t < TARGETS; t++)
        for (unsigned k = 0; k < KERNELS; k++)
            for (unsigned odd = 0; odd < 2; odd++) {
                twi_why why;
                twi_caps caps = caps_of(ctx, targets[t]);
                tw_ir *ir = kernel(ctx, k, odd ? 17 : 128, odd ? 257 : 64);
                twi_plans *plans = twi_search_default(&ctx->arena, ir, &caps, NULL, &why);
                if (k == ATTENTION && t == 4) { /* 16 workers' slots hold no such tiles */
                    assert_null(plans);
                    assert_non_null(strstr(
                        why.text, twi_format(&ctx->arena, "slots > %u", (unsigned)caps.slots)));
                    continue;
                }
                judge(ctx, ir, &caps, plans, &why);
                const char *first = text_of(ctx, plans);
                plans = twi_search_default(&ctx->arena, ir, &caps, NULL, &why);
                assert_string_equal(text_of(ctx, plans), first);
            }
}

/* One long row on many units goes to many groups and a second launch; many rows do not. */
static void long_rows(void **state) {
    tw_context *ctx = *state;
    twi_caps caps = caps_of(ctx, "sm_90a");
    for (int64_t rows = 1; rows <= 4096; rows *= 4096) {
        twi_why why;
        tw_ir *ir = row_sum_of(ctx, rows, (INT64_C(1) << 24) / rows, TW_ORDER_FREE);
        twi_plans *plans = twi_search_default(&ctx->arena, ir, &caps, NULL, &why);
        judge(ctx, ir, &caps, plans, &why);
        assert_true(twi_plan_groups(&plans->scope[0]) >= 100);
        assert_int_equal(plans->scope[0].then != NULL, rows == 1);
    }
}

/* Extents of 0 and 1. */
static void empty(void **state) {
    tw_context *ctx = *state;
    static const int64_t shapes[][2] = {{0, 5}, {5, 0}, {0, 0}, {1, 1}};
    for (unsigned t = 0; t < TARGETS; t++)
        for (unsigned k = 0; k < KERNELS; k++)
            for (unsigned i = 0; i < 4; i++) {
                twi_why why;
                twi_caps caps = caps_of(ctx, targets[t]);
                if (k == ATTENTION && t == 4)
                    continue;
                tw_ir *ir = kernel(ctx, k, shapes[i][0], shapes[i][1]);
                twi_plans *plans = twi_search_default(&ctx->arena, ir, &caps, NULL, &why);
                judge(ctx, ir, &caps, plans, &why);
                for (unsigned seed = 0; seed < 3; seed++) {
                    plans = twi_search_random(&ctx->arena, ir, &caps, NULL, seed, &why);
                    judge(ctx, ir, &caps, plans, &why);
                }
            }
}

static int by_value(const void *x, const void *y) {
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

/* Legal for all seeds, the same again for the same seed, and many different ones. Plans print and
 * parse. */
static void random_plans(void **state, unsigned k, const char *target, unsigned seeds,
                         unsigned distinct) {
    tw_context *ctx = *state;
    twi_caps caps = caps_of(ctx, target);
    tw_ir *ir = kernel(ctx, k, 48, 130);
    uint64_t *hash = TWI_NEW_N(&ctx->arena, uint64_t, seeds);
    for (unsigned s = 0; s < seeds; s++) {
        twi_arena arena;
        twi_arena_init(&arena, &ctx->mem);
        twi_why why;
        twi_plans *plans = twi_search_random(&arena, ir, &caps, NULL, s, &why), read;
        judge(ctx, ir, &caps, plans, &why);
        hash[s] = twi_plan_hash(plans->ir, plans);
        if (s % 50 == 0) {
            const char *text = text_of(ctx, plans);
            assert_true(twi_plan_parse(&arena, ir, "r.plan", text, strlen(text), &read));
            assert_string_equal(text_of(ctx, &read), text);
            plans = twi_search_random(&arena, ir, &caps, NULL, s, &why);
            assert_true(twi_plan_hash(plans->ir, plans) == hash[s]);
        }
        twi_arena_fini(&arena);
    }
    qsort(hash, seeds, sizeof hash[0], by_value);
    unsigned n = 1;
    for (unsigned s = 1; s < seeds; s++)
        n += hash[s] != hash[s - 1];
    if (n < distinct)
        fail_msg("%s on %s: %u different plans of %u", twi_text(&ctx->names, ir->kernel), target, n,
                 seeds);
}

static void random_row_sum(void **state) {
    random_plans(state, ROW_SUM, "cpu-avx512", 1000, 500);
    random_plans(state, ROW_SUM, "simt32", 200, 100);
    random_plans(state, ROW_SUM, "simt4", 200, 100);
    random_plans(state, ROW_LEFT, "cpu-avx512", 200, 50);
}
static void random_softmax(void **state) {
    random_plans(state, SOFTMAX, "cpu-avx2", 1000, 500);
    random_plans(state, SOFTMAX, "simt32", 200, 100);
}
static void random_gemm(void **state) {
    random_plans(state, GEMM, "cpu-avx512", 1000, 500);
    random_plans(state, GEMM, "simt32", 200, 100);
}
static void random_attention(void **state) {
    random_plans(state, ATTENTION, "cpu-avx512", 1000, 500);
    random_plans(state, ATTENTION, "simt32", 20, 2);
    random_plans(state, SQUARE, "simt4", 200, 60);
    random_plans(state, TRANSPOSE, "cpu-avx2", 200, 60);
    random_plans(state, TRANSPOSE, "simt32", 200, 60);
}

static twi_plans *pinned(tw_context *ctx, const tw_ir *ir, const char *target, const char *pin,
                         twi_why *why) {
    twi_caps caps = caps_of(ctx, target);
    twi_wish wish = {.pins = &pin, .n_pins = 1};
    assert_true(twi_search_pins(ir, &wish));
    return twi_search_default(&ctx->arena, ir, &caps, &wish, why);
}

static void pins(void **state) {
    tw_context *ctx = *state;
    tw_ir *ir = softmax_of(ctx, 128, 1024, TW_ORDER_FREE);
    twi_id p = twi_value_named(ir, "p", 1);
    twi_why why;
    twi_plans *plans = pinned(ctx, ir, "cpu-avx512", "frame f: w = loop 128, lane 8", &why);
    assert_non_null(plans);
    assert_non_null(strstr(text_of(ctx, plans), "w = loop 128, lane 8"));
    plans = pinned(ctx, ir, "cpu-avx512", "value p: keep stripe", &why);
    assert_int_equal(twi_plan_place(&plans->scope[0], p)->keep, TWI_KEEP_STRIPE);
    plans = pinned(ctx, ir, "cpu-avx512", "keep=expensive-only", &why);
    assert_int_equal(twi_plan_place(&plans->scope[0], p)->keep, TWI_KEEP_STRIPE);
    plans = pinned(ctx, ir, "simt32", "workers=256", &why);
    assert_non_null(plans);
    assert_int_equal(twi_plan_subs(&plans->scope[0]), 8);
    plans = pinned(ctx, ir, "cpu-avx512", "lanes=1", &why);
    assert_non_null(plans);
    assert_int_equal(twi_plan_lanes(&plans->scope[0]), 1);
    plans = pinned(ctx, ir, "cpu-avx512", "entry tight: align64 X", &why);
    assert_non_null(strstr(text_of(ctx, plans), "entry tight: align64 X"));
    assert_non_null(pinned(ctx, ir, "cpu-avx512", "isa=avx512", &why));
    assert_null(pinned(ctx, ir, "cpu-avx512", "isa=avx2", &why));
    assert_string_equal(why.text, "isa=avx2: the isa here is avx512");
    plans = pinned(ctx, ir, "simt32", "merge=s", &why);
    assert_non_null(plans);
    assert_int_equal(plans->ir->ins.at[twi_value_named(ir, "m", 1)].op, TWI_LOGSUMEXP);
    assert_non_null(strstr(text_of(ctx, plans), " merge s\n"));
    plans = pinned(ctx, ir, "simt32", "merge=none", &why);
    assert_int_equal(plans->ir->merged, 0);
    assert_null(pinned(ctx, ir, "simt32", "merge=p", &why));
    assert_non_null(strstr(why.text, "merge=p: the merge here is none"));
    assert_null(
        pinned(ctx, softmax_of(ctx, 128, 1024, TW_ORDER_CANONICAL), "simt32", "merge=s", &why));
    assert_null(pinned(ctx, ir, "simt32", "join=r w", &why));
    assert_string_equal(why.text, "join r w: max m runs along axis w");
    assert_null(pinned(ctx, ir, "simt32", "join=r v", &why));
    assert_string_equal(why.text, "join: the scope has no axis 'v'");
    assert_non_null(pinned(ctx, ir, "simt32", "join=none", &why));
    assert_null(pinned(ctx, ir, "simt32", "workers=1024", &why));
    assert_non_null(strstr(why.text, "workers=1024: no candidate"));
    assert_null(pinned(ctx, ir, "cpu-avx2", "frame f: w = loop 64, lane 16", &why));
    assert_non_null(strstr(why.text, "M4"));
}

/* Short rows are joined where that costs less; a pin joins what can be. */
static void joins(void **state) {
    tw_context *ctx = *state;
    twi_why why;
    for (unsigned t = 0; t < TARGETS; t++) {
        const tw_ir *ir = square_of(ctx, 300, 7);
        const twi_caps caps = caps_of(ctx, targets[t]);
        twi_plans *plans = twi_search_default(&ctx->arena, ir, &caps, NULL, &why);
        judge(ctx, plans->ir, &caps, plans, &why);
        assert_non_null(strstr(text_of(ctx, plans), " join r w\nframe f: r_w = "));
        plans = pinned(ctx, ir, targets[t], "join=none", &why);
        assert_non_null(plans);
        assert_null(strstr(text_of(ctx, plans), "join"));
        plans = pinned(ctx, ir, targets[t], "join=w r", &why); /* by quotients */
        judge(ctx, plans->ir, &caps, plans, &why);
        assert_non_null(strstr(text_of(ctx, plans), " join w r\nframe f: w_r = "));
        ir = square_of(ctx, 1, 7); /* one row alone */
        plans = twi_search_default(&ctx->arena, ir, &caps, NULL, &why);
        assert_ptr_equal(plans->ir, ir);
        ir = transpose_of(ctx, 300, 7); /* rows here, columns there */
        plans = twi_search_default(&ctx->arena, ir, &caps, NULL, &why);
        assert_ptr_equal(plans->ir, ir);
    }
    const tw_ir *two = two_scopes_of(ctx, 17, 65);
    twi_plans *plans = pinned(ctx, two, "cpu-avx2", "join=u v", &why);
    if (!plans)
        fail_msg("%s", why.text);
    assert_non_null(strstr(text_of(ctx, plans), "plan scaled/1"));
    assert_non_null(strstr(text_of(ctx, plans), " join u v\nframe f: u_v = "));
    assert_null(pinned(ctx, two, "cpu-avx2", "join=r w", &why));
}

static void bad_pins(void **state) {
    tw_context *ctx = *state;
    tw_ir *ir = softmax_of(ctx, 128, 1024, TW_ORDER_FREE);
    static const struct {
        const char *pin;
        unsigned code;
    } bad[] = {{"workers", 721},
               {"workers=many", 721},
               {"speed=1", 721},
               {"keep=some", 721},
               {"value q: keep stripe", 705},
               {"frame f: w = loop", 708},
               {"value p: keep stripe stripe", 701},
               {"", 721},
               {"class<=free", 721}};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        twi_wish wish = {.pins = &bad[i].pin, .n_pins = 1};
        twi_diags_clear(&ctx->diags);
        assert_false(twi_search_pins(ir, &wish));
        assert_int_equal(ctx->diags.list.n, 1);
        assert_int_equal(ctx->diags.list.at[0].code, bad[i].code);
    }
}

/* Each scope has a plan of its own; entries are shared; a pin acts where its names mean something.
 */
static void two_scopes(void **state) {
    tw_context *ctx = *state;
    for (unsigned t = 0; t < TARGETS; t++) {
        twi_why why;
        twi_caps caps = caps_of(ctx, targets[t]);
        tw_ir *ir = two_scopes_of(ctx, 17, 65);
        twi_plans *plans = twi_search_default(&ctx->arena, ir, &caps, NULL, &why);
        judge(ctx, ir, &caps, plans, &why);
        assert_int_equal(plans->n, 2);
        assert_int_equal(plans->scope[0].entry.n, plans->scope[1].entry.n);
        for (unsigned seed = 0; seed < 20; seed++) {
            plans = twi_search_random(&ctx->arena, ir, &caps, NULL, seed, &why);
            judge(ctx, ir, &caps, plans, &why);
        }
        plans = pinned(ctx, ir, targets[t], "frame f: v = grid 65", &why);
        judge(ctx, ir, &caps, plans, &why);
        assert_non_null(strstr(text_of(ctx, plans), "v = grid 65"));
    }
}

static void lists(void **state) {
    tw_context *ctx = *state;
    twi_caps caps = caps_of(ctx, "simt32");
    tw_ir *ir = softmax_of(ctx, 128, 1024, TW_ORDER_FREE);
    twi_candidate *c;
    uint32_t n = twi_search_list(&ctx->arena, ir, &caps, NULL, 0, &c), legal = 0;
    while (legal < n && c[legal].legal)
        legal++;
    assert_true(legal > 3 && legal < n);
    for (uint32_t i = 1; i < legal; i++)
        assert_true(c[i - 1].score <= c[i].score);
    for (uint32_t i = legal; i < n; i++)
        assert_true(!c[i].legal && c[i].why.text[0]);
}

static void reasons(void **state) {
    tw_context *ctx = *state;
    twi_caps caps = caps_of(ctx, "simt32");
    tw_ir *ir = softmax_of(ctx, 128, 1024, TW_ORDER_FREE);
    twi_why why;
    assert_false(twi_search_why_not(&ctx->arena, ir, &caps, "workers=1024", &why));
    assert_non_null(strstr(why.text, "workers=1024"));
    assert_false(twi_search_why_not(&ctx->arena, ir, &caps, "frame f: r = grid 100", &why));
    assert_string_equal(why.text, "r = grid 100: M1: covers 100 of 128 positions");
    assert_true(twi_search_why_not(&ctx->arena, ir, &caps, "workers=32", &why));
    assert_non_null(strstr(why.text, "rank"));
}

/* Features of a plan's text. */
static twi_features features_on(tw_context *ctx, const tw_ir *ir, const char *target,
                                const char *text) {
    twi_caps caps = caps_of(ctx, target);
    twi_plans plans;
    twi_features f = {0};
    twi_why why = {.text = ""};
    if (!twi_plan_parse(&ctx->arena, ir, "t.plan", text, strlen(text), &plans) ||
        !twi_plan_counted(&ctx->arena, ir, &caps, &plans.scope[0], &f, &why))
        fail_msg("%s %s", tw_diag_text(ctx, false), why.text);
    return f;
}

static twi_features features_of(tw_context *ctx, const tw_ir *ir, const char *text) {
    return features_on(ctx, ir, "simt32", text);
}

/* Sectors by how lanes walk, waits by what stands between loads. */
static void memory_features(void **state) {
    tw_context *ctx = *state;
    tw_ir *ir = row_sum_of(ctx, 8, 1024, TW_ORDER_FREE);
    twi_features near = features_of(ctx, ir,
                                    "plan row_sum/0 class=free\n"
                                    "frame f: r = grid 8 ; w = slot 32, lane 32\nentry main\n"),
                 far = features_of(ctx, ir,
                                   "plan row_sum/0 class=free\n"
                                   "frame f: r = grid 8 ; w = lane 32, slot 32\nentry main\n"),
                 loop = features_of(ctx, ir,
                                    "plan row_sum/0 class=free\n"
                                    "frame f: r = grid 8 ; w = loop 8, slot 4, lane 32\n"
                                    "entry main\n"),
                 two = features_of(ctx, ir,
                                   "plan row_sum/0 class=free\n"
                                   "frame f: r = grid 8 ; w = slot 16, sub 2, lane 32\n"
                                   "entry main\n");
    uint32_t x = 1;                                 /* the first array */
    assert_float_equal(near.sectors[x], 32 * 4, 0); /* 128 bytes a request */
    assert_float_equal(far.sectors[x], 32 * 32, 0); /* a sector a lane */
    assert_float_equal(two.sectors[x], 32 * 4, 0);  /* both subgroups */
    assert_float_equal(near.rounds, 1, 0);
    assert_float_equal(loop.rounds, 8, 0);
    assert_float_equal(near.turns, 0, 0);
    assert_true(two.turns > 0);
    twi_caps caps = caps_of(ctx, "simt32");
    assert_true(twi_search_cost(ir, &caps, &near) < twi_search_cost(ir, &caps, &far));
    assert_true(twi_search_cost(ir, &caps, &near) < twi_search_cost(ir, &caps, &loop));
}

/* 16-byte reads of half a subgroup go together where neighbours read the same; 4 x 4 a worker reads
 * two of them a step, one by one where no neighbours agree. */
static void wide_reads(void **state) {
    tw_context *ctx = *state;
    tw_ir *ir = gemm_of(ctx, 32, 16, 64, TW_ORDER_FREE);
#define TILE                                                                                       \
    "k = serial 1, loop 64\nstage A: shared, order k m\nstage B: shared, order k n\nentry main\n"
    twi_features apart = features_of(ctx, ir,
                                     "plan gemm/0 class=free\n"
                                     "frame f: m = grid 1, lane 8@4, slot 4 ; "
                                     "n = grid 1, lane 4, slot 4 ; " TILE),
                 woven = features_of(ctx, ir,
                                     "plan gemm/0 class=free\n"
                                     "frame f: m = grid 1, lane 4@8, lane 2@2, slot 4 ; "
                                     "n = grid 1, lane 2@4, lane 2, slot 4 ; " TILE);
#undef TILE
    assert_true(apart.turns - woven.turns == 64 * 2);
}

/* Few tiles: subgroups share each one's blocks. */
static void sliced_gemm(void **state) {
    tw_context *ctx = *state;
    twi_why why;
    twi_caps caps = caps_of(ctx, "sm_90a");
    tw_ir *ir = gemm_of(ctx, 512, 512, 512, TW_ORDER_FREE);
    twi_plans *plans = twi_search_default(&ctx->arena, ir, &caps, NULL, &why);
    judge(ctx, ir, &caps, plans, &why);
    const twi_plan *p = &plans->scope[0];
    assert_int_equal(p->stages, 2);
    for (unsigned a = 1; a < ir->axis.n; a++)
        if (twi_map_is_serial(&p->frame[0].map[a]))
            assert_true(twi_map_level_extent(&p->frame[0].map[a], TWI_LV_SUB) > 1);
}

/* Columns of the second operand are packed where many rows use them, unless a cache holds them as
 * they lie, in whole lines. */
static void packed_panels(void **state) {
    tw_context *ctx = *state;
    twi_why why;
    twi_caps caps = caps_of(ctx, "cpu-avx512");
    const struct {
        int64_t columns, folded;
        unsigned stages;
    } row[] = {{96, 256, 0},  {128, 256, 0},  {300, 256, 1},
               {308, 256, 1}, {512, 1024, 1}, {1024, 1024, 1}};
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        tw_ir *ir = gemm_of(ctx, 1024, row[i].columns, row[i].folded, TW_ORDER_FREE);
        twi_plans *plans = twi_search_default(&ctx->arena, ir, &caps, NULL, &why);
        judge(ctx, ir, &caps, plans, &why);
        assert_int_equal(plans->scope[0].stages, row[i].stages);
    }
}

/* Boxes of the tiles' columns: whether what reads them asks ahead is a choice where one row of
 * tiles reads them once; else it does. */
static void panels_ahead(void **state) {
    tw_context *ctx = *state;
    const int64_t rows[] = {16, 30, 64};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const twi_caps caps = caps_of(ctx, "cpu-avx512-tiles");
        tw_ir *ir = gemm_typed_of(ctx, TW_BF16, rows[i], 512, 256, TW_ORDER_FREE);
        twi_candidate *c;
        const uint32_t n = twi_search_list(&ctx->arena, ir, &caps, NULL, 0, &c);
        unsigned asks = 0, waits = 0;
        for (uint32_t k = 0; k < n && c[k].legal; k++)
            for (unsigned t = 0; t < c[k].plan->stages; t++) {
                const twi_ins *load = twi_ins_of(ir, c[k].plan->stage[t].value);
                if (ir->access.at[load->attr].array != 2) /* the rows' operand */
                    continue;
                asks += c[k].plan->stage[t].ahead > 0;
                waits += c[k].plan->stage[t].ahead == 0;
            }
        assert_true(asks > 0);
        assert_int_equal(waits > 0, rows[i] <= 32);
    }
}

/* What a loop around reads again counts as often as it does, and not once it is too much for a
 * second level of cache; of vectors across lines half counts, once it is too much for the first. */
static void read_again(void **state) {
    tw_context *ctx = *state;
    const struct {
        int64_t columns, folded;
        double part; /* of the second operand; all of the first is near */
    } row[] = {{128, 64, 1}, {128, 256, 1}, {68, 256, 0.5}, {68, 64, 1}, {128, 4096, 0}};
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        const int64_t n = row[i].columns, k = row[i].folded, vectors = (n + 63) / 64 * 4;
        tw_ir *ir = gemm_of(ctx, 96, n, k, TW_ORDER_FREE);
        const char *plan = twi_format(
            &ctx->arena,
            "plan gemm/0 class=free\nframe f: m = grid 1, loop 16, slot 6 ; "
            "n = grid 1, loop %lld, slot 4, lane 16 ; k = loop %lld around 2\nentry main\n",
            (long long)(n + 63) / 64, (long long)k);
        const twi_features f = features_on(ctx, ir, "cpu-avx512", plan);
        const int64_t second = 16 * vectors * k * 64, first = 96 * (vectors / 4) * k * 4;
        assert_int_equal((int64_t)f.again, first + (int64_t)(row[i].part * (double)second));
    }
}

/* A dot of a dot on explicit lanes: each has a frame in which what it folds runs in loops, inside
 * those of its results, and the function between them is computed once. */
static void chained_dots(void **state) {
    tw_context *ctx = *state;
    twi_why why;
    const char *const explicit_lanes[] = {"cpu-avx512", "cpu-avx2", "cpu-baseline"};
    for (unsigned t = 0; t < sizeof explicit_lanes / sizeof *explicit_lanes; t++) {
        twi_caps caps = caps_of(ctx, explicit_lanes[t]);
        tw_ir *ir = attention_of(ctx, 64, 96, 32);
        twi_plans *plans = twi_search_default(&ctx->arena, ir, &caps, NULL, &why);
        judge(ctx, ir, &caps, plans, &why);
        const twi_plan *p = &plans->scope[0];
        unsigned kept = 0;
        assert_int_equal(p->frames, 2);
        for (twi_id v = 1; v < ir->ins.n; v++) {
            const twi_ins *ins = twi_ins_of(ir, v);
            const twi_place *place = twi_plan_place(p, v);
            const twi_frame *f = &p->frame[place ? place->frame : 0];
            kept += ins->op == TWI_EXP && place && place->keep;
            if (ins->op != TWI_DOT)
                continue;
            const twi_map *folded = &f->map[ins->fold[0]];
            assert_int_equal(twi_map_level_extent(folded, TWI_LV_SLOT), 1);
            bool inside = false;
            for (unsigned k = 0; k < f->loops; k++) {
                inside |= f->order[k].axis == ins->fold[0];
                assert_false(inside && ins->type.axes >> f->order[k].axis & 1);
            }
            assert_true(inside);
        }
        assert_int_equal(kept, 2); /* of the carried sums, of the elements */
    }
}

/* Two threads share the longer side of a result that is far from square. */
static void shared_rows(void **state) {
    tw_context *ctx = *state;
    twi_why why;
    twi_caps caps = caps_of(ctx, "cpu-avx512");
    caps.units = 2;
    for (unsigned tall = 0; tall < 2; tall++) {
        const int64_t rows = tall ? 1024 : 128, columns = tall ? 128 : 1024;
        tw_ir *ir = gemm_of(ctx, rows, columns, 256, TW_ORDER_FREE);
        twi_plans *plans = twi_search_default(&ctx->arena, ir, &caps, NULL, &why);
        judge(ctx, ir, &caps, plans, &why);
        for (unsigned a = 1; a < ir->axis.n; a++) { /* 1024, k of 256, 128 */
            const twi_map *m = &plans->scope[0].frame[0].map[a];
            const int64_t groups = twi_map_level_extent(m, TWI_LV_GRID);
            assert_true(twi_map_extent(m) >= 1024 ? groups >= 2 : groups == 1);
        }
    }
}

/* Of the legal candidates those with a stage by `via` and so many versions; 0: any number. */
static unsigned copying(tw_context *ctx, const twi_caps *caps, int64_t size, unsigned via,
                        unsigned window) {
    twi_candidate *c;
    const tw_ir *ir = gemm_of(ctx, size, size, size, TW_ORDER_FREE);
    const uint32_t n = twi_search_list(&ctx->arena, ir, caps, NULL, 0, &c);
    unsigned found = 0;
    for (uint32_t i = 0; i < n && c[i].legal; i++) {
        bool has = false;
        for (unsigned k = 0; k < c[i].plan->stages; k++)
            has = has || (c[i].plan->stage[k].via == via &&
                          (!window || c[i].plan->stage[k].window == window));
        found += has;
    }
    return found;
}

/* Copies run ahead by what the target has, and not where there is one block. */
static void copies_ahead(void **state) {
    tw_context *ctx = *state;
    static const char *const own[] = {"sm_80", "sm_90a", "sm_100", "simt32"};
    static const char *const none[] = {"simt1", "opencl-a770"};
    for (unsigned t = 0; t < sizeof own / sizeof *own; t++) {
        twi_caps caps = caps_of(ctx, own[t]);
        assert_true(copying(ctx, &caps, 256, TWI_VIA_ASYNC, 2) > 0);
        assert_true(copying(ctx, &caps, 256, TWI_VIA_ASYNC, 3) > 0);
        assert_int_equal(copying(ctx, &caps, 8, TWI_VIA_ASYNC, 0), 0);
        caps.async_bytes = 0;
        assert_int_equal(copying(ctx, &caps, 256, TWI_VIA_ASYNC, 0), 0);
        assert_true(copying(ctx, &caps, 256, TWI_VIA_REGS, 2) > 0);
    }
    for (unsigned t = 0; t < sizeof none / sizeof *none; t++) {
        twi_caps caps = caps_of(ctx, none[t]);
        assert_int_equal(copying(ctx, &caps, 256, TWI_VIA_ASYNC, 0), 0);
        assert_true(copying(ctx, &caps, 256, TWI_VIA_REGS, 2) > 0);
        assert_int_equal(copying(ctx, &caps, 256, TWI_VIA_REGS, 0),
                         copying(ctx, &caps, 256, TWI_VIA_REGS, 2));
    }
    twi_caps caps = caps_of(ctx, "cpu-avx512");
    assert_int_equal(
        copying(ctx, &caps, 256, TWI_VIA_ASYNC, 0) + copying(ctx, &caps, 256, TWI_VIA_REGS, 0), 0);
}

/* The same tile, copied before its math or beside it: a group alone on its unit gains what it waits
 * for blocks; more versions than a unit holds twice cost the second group. */
static void overlap(void **state) {
    tw_context *ctx = *state;
    twi_caps caps = caps_of(ctx, "sm_90a");
    tw_ir *ir = gemm_of(ctx, 2048, 2048, 2048, TW_ORDER_FREE);
#define TILE(how)                                                                                  \
    "plan gemm/0 class=free\n"                                                                     \
    "frame f: m = grid 16, slot 2, sub 4@2, lane 2@16, lane 2@2, slot 4 ; "                        \
    "n = grid 16, slot 2, sub 2, lane 4@4, lane 2, slot 4 ; k = serial 64, loop 32\n"              \
    "stage A: shared, order k m, pad 4, copy m = slot 4, sub 8, lane 4@8 ; k = slot 4, lane 8" how \
    "\nstage B: shared, order k n, copy n = lane 32, slot 4 ; k = slot 4, sub 8" how "\n"          \
    "entry main ; entry aligned16: align16 A B C\n"
    const twi_features before = features_on(ctx, ir, "sm_90a", TILE("")),
                       beside = features_on(ctx, ir, "sm_90a", TILE(", via async, window 2")),
                       far = features_on(ctx, ir, "sm_90a", TILE(", via async, window 4"));
#undef TILE
    assert_float_equal(before.rounds, 64, 0);
    assert_float_equal(before.early, 0, 0);
    assert_float_equal(before.barriers, 128, 0);
    assert_float_equal(beside.rounds, 1, 0);
    assert_float_equal(beside.early, 64, 0);
    assert_float_equal(beside.barriers, 64, 0);
    assert_int_equal(before.slots, 8 * 8);
    assert_int_equal(before.operands, 8 + 8);
    assert_int_equal(beside.shared_bytes, 2 * before.shared_bytes);
    assert_int_equal(far.shared_bytes, 4 * before.shared_bytes);
    assert_true(twi_search_cost(ir, &caps, &beside) < twi_search_cost(ir, &caps, &before));
    assert_true(twi_search_cost(ir, &caps, &beside) < twi_search_cost(ir, &caps, &far));
}

/* Two groups of 512 workers would leave 64 registers to each: room for 8 x 4 results and 24 others,
 * but not for the 12 operands too. */
static void operands_take_registers(void **state) {
    tw_context *ctx = *state;
    twi_caps caps = caps_of(ctx, "sm_90a");
    tw_ir *ir = gemm_of(ctx, 4096, 4096, 4096, TW_ORDER_FREE);
    twi_features f =
        features_on(ctx, ir, "sm_90a",
                    "plan gemm/0 class=free\n"
                    "frame f: m = grid 32, slot 2, sub 4@4, lane 2@16, lane 2@2, slot 4 ; "
                    "n = grid 32, sub 4, lane 4@4, lane 2, slot 4 ; k = serial 64, loop 64\n"
                    "stage A: shared, order k m, pad 4\nstage B: shared, order k n\nentry main\n");
    assert_int_equal(f.operands, 8 + 4);
    const double one = twi_search_cost(ir, &caps, &f);
    f.operands = 0;
    assert_true(twi_search_cost(ir, &caps, &f) < one);
    f.operands = 8 + 4;
    caps.unit_registers *= 2;
    assert_true(twi_search_cost(ir, &caps, &f) < one);
}

static void canonical_class(void **state) {
    tw_context *ctx = *state;
    for (unsigned t = 0; t < TARGETS; t++)
        for (unsigned k = 0; k < KERNELS; k++) {
            if (k == ATTENTION && t >= 3)
                continue; /* chains over whole blocks in slots: too many for private registers */
            static const int64_t widths[] = {64, 257, 5000};
            for (unsigned i = 0; i < 3; i++) {
                twi_why why;
                twi_caps caps = caps_of(ctx, targets[t]);
                tw_ir *ir = kernel(ctx, k, 16, k == ATTENTION || k == GEMM ? 64 : widths[i]);
                bool changed = twi_canonical_orders(ir);
                assert_true(changed == (k != SQUARE && k != TRANSPOSE && k != ROW_LEFT));
                twi_plans *plans = twi_search_default(&ctx->arena, ir, &caps, NULL, &why);
                judge(ctx, ir, &caps, plans, &why);
                assert_int_equal(plans->scope[0].klass, TWI_ORDER_CANONICAL);
                for (unsigned seed = 0; seed < 10; seed++) {
                    plans = twi_search_random(&ctx->arena, ir, &caps, NULL, seed, &why);
                    judge(ctx, ir, &caps, plans, &why);
                }
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(defaults, setup, teardown),
        cmocka_unit_test_setup_teardown(long_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(empty, setup, teardown),
        cmocka_unit_test_setup_teardown(random_row_sum, setup, teardown),
        cmocka_unit_test_setup_teardown(random_softmax, setup, teardown),
        cmocka_unit_test_setup_teardown(random_gemm, setup, teardown),
        cmocka_unit_test_setup_teardown(wide_reads, setup, teardown),
        cmocka_unit_test_setup_teardown(sliced_gemm, setup, teardown),
        cmocka_unit_test_setup_teardown(packed_panels, setup, teardown),
        cmocka_unit_test_setup_teardown(panels_ahead, setup, teardown),
        cmocka_unit_test_setup_teardown(read_again, setup, teardown),
        cmocka_unit_test_setup_teardown(chained_dots, setup, teardown),
        cmocka_unit_test_setup_teardown(shared_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(copies_ahead, setup, teardown),
        cmocka_unit_test_setup_teardown(overlap, setup, teardown),
        cmocka_unit_test_setup_teardown(operands_take_registers, setup, teardown),
        cmocka_unit_test_setup_teardown(random_attention, setup, teardown),
        cmocka_unit_test_setup_teardown(pins, setup, teardown),
        cmocka_unit_test_setup_teardown(joins, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_pins, setup, teardown),
        cmocka_unit_test_setup_teardown(two_scopes, setup, teardown),
        cmocka_unit_test_setup_teardown(lists, setup, teardown),
        cmocka_unit_test_setup_teardown(reasons, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_features, setup, teardown),
        cmocka_unit_test_setup_teardown(canonical_class, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
