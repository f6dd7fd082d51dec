/* SPDX-License-Identifier: Apache-2.0
 * Turns of the banks that a transpose through shared memory takes, counted word by word here: by
 * rows as they are, padded and swizzled; and what the interpreter sees of the same.
 */
#include "../loop/dense.h"
#include "../plan/kernels.h"
#include "lower/lower.h"
#include "search/view.h"

enum { SIDE = 32, BANKS = 32, BANK = 4, LANES = 32 };

/* Y[n, m] = X[m, n], of elements as they lie in memory. */
static tw_ir *rows_to_columns(tw_context *ctx, tw_elem elem) {
    const char *type = tw_elem_name(elem);
    const char *text = twi_format(&ctx->arena,
                                  "kernel transpose order free specialised\n"
                                  "dim M = 32\ndim N = 32\n"
                                  "array X: in %s[32, 32]\narray Y: out %s[32, 32]\n"
                                  "parallel m: 0 .. 32, n: 0 .. 32 {\n"
                                  "    x: %s = load X[m, n]\n"
                                  "    store Y[n, m] = x\n"
                                  "}\n",
                                  type, type, type);
    tw_ir *ir = twi_ir_parse(ctx, &ctx->arena, "t.ir", text, strlen(text));
    if (!ir)
        fail_msg("%s", tw_diag_text(ctx, false));
    opt_lift(ir);
    return ir;
}

typedef struct {
    unsigned pad, span, unit, rows;
} layout;

static unsigned byte_of(layout l, unsigned elem, unsigned row, unsigned column) {
    unsigned at = column * elem;
    if (l.span)
        at = at / l.span * l.span + at % l.unit +
             ((at % l.span / l.unit) ^ (row / l.rows % (l.span / l.unit))) * l.unit;
    return row * (SIDE + l.pad) * elem + at;
}

/* The most different words that a bank gives to 32 lanes, each at (row, column). */
static unsigned turns_of(layout l, unsigned elem, bool down, unsigned at) {
    unsigned most = 0;
    for (unsigned bank = 0; bank < BANKS; bank++) {
        unsigned word[LANES], n = 0;
        for (unsigned lane = 0; lane < LANES; lane++) {
            const unsigned w = byte_of(l, elem, down ? lane : at, down ? at : lane) / BANK;
            unsigned k = 0;
            while (k < n && word[k] != w)
                k++;
            if (w % BANKS == bank && k == n)
                word[n++] = w;
        }
        most = n > most ? n : most;
    }
    return most;
}

#define PLAN                                                                                       \
    "plan transpose/0 class=canonical\n"                                                           \
    "frame f: m = grid 1, slot 8, sub 4 ; n = grid 1, lane 32\n"                                   \
    "frame g: m = grid 1, lane 32 ; n = grid 1, slot 8, sub 4\n"                                   \
    "value x: to g via shared%s\nentry main\n"

static const char *plan_of(tw_context *ctx, layout l) {
    const char *how = "";
    if (l.pad)
        how = twi_format(&ctx->arena, ", pad %u", l.pad);
    if (l.span)
        how = twi_format(&ctx->arena, ", swizzle %u unit %u rows %u", l.span, l.unit, l.rows);
    return twi_format(&ctx->arena, PLAN, how);
}

/* Rows become columns, and the interpreter's count of what the banks did; any bytes. */
static uint64_t run(tw_context *ctx, const tw_ir *ir, const twi_caps *caps, const twi_plans *plans,
                    unsigned elem) {
    twi_loop *loop = twi_lower(&ctx->arena, ir, caps, plans);
    unsigned char x[SIDE * SIDE * 4], y[SIDE * SIDE * 4] = {0};
    assert_non_null(loop);
    if (!twi_loop_verify(loop))
        fail_msg("%s", tw_diag_text(ctx, false));
    for (unsigned k = 0; k < sizeof x; k++)
        x[k] = (unsigned char)(k * 89 >> k / 256);
    const twi_larray *a = loop->array.at;
    const twi_interp_array array[3] = {
        {0}, dense_array(&ctx->arena, &a[1], x, NULL), dense_array(&ctx->arena, &a[2], y, NULL)};
    twi_interp_result r = {0};
    twi_interp_run(loop, 0, array, NULL, &ctx->arena, &r);
    if (r.fault.kind)
        fail_msg("%s", r.fault.text);
    for (unsigned k = 0; k < SIDE * SIDE; k++)
        assert_memory_equal(y + k * elem, x + (k % SIDE * SIDE + k / SIDE) * elem, elem);
    return r.counts.shared_wavefronts;
}

static void counted(tw_context *ctx, tw_elem type, layout l, unsigned *turns) {
    const unsigned elem = (unsigned)tw_elem_size(type);
    tw_ir *ir = rows_to_columns(ctx, type);
    const char *text = plan_of(ctx, l);
    twi_caps caps;
    twi_plans plans;
    twi_features f = {0};
    twi_why why = {.text = ""};
    assert_true(twi_caps_named(ctx, "simt32", &caps));
    if (!twi_plan_parse(&ctx->arena, ir, "t.plan", text, strlen(text), &plans) ||
        !twi_plan_counted(&ctx->arena, ir, &caps, &plans.scope[0], &f, &why))
        fail_msg("%s %s\n%s", tw_diag_text(ctx, false), why.text, text);
    *turns = 0;
    for (unsigned at = 0; at < SIDE; at++)
        *turns += turns_of(l, elem, false, at) + turns_of(l, elem, true, at);
    if (f.turns != *turns)
        fail_msg("%s: %u turns counted, %u by hand", text, (unsigned)f.turns, *turns);
    assert_int_equal(run(ctx, ir, &caps, &plans, elem), *turns);
    assert_int_equal(f.shared_bytes, SIDE * (SIDE + l.pad) * elem);
}

static void transposes(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    unsigned turns, some = 0;
    counted(ctx, TW_F32, (layout){0}, &turns);
    assert_int_equal(turns, SIDE + SIDE * SIDE);
    counted(ctx, TW_F32, (layout){.pad = 1}, &turns);
    assert_int_equal(turns, 2 * SIDE);
    counted(ctx, TW_F32, (layout){0, 128, 4, 1}, &turns);
    assert_int_equal(turns, 2 * SIDE); /* no conflict, and no pad */
    counted(ctx, TW_F32, (layout){0, 128, 16, 1}, &turns);
    assert_int_equal(turns, SIDE + 4 * SIDE); /* a column is in 8 units */
    counted(ctx, TW_I8, (layout){0, 32, 1, 1}, &turns);
    assert_int_equal(turns, 2 * SIDE);
    for (unsigned span = 8; span <= 128; span *= 2)
        for (unsigned unit = 1; unit <= 16 && unit < span; unit *= 2)
            for (unsigned rows = 1; rows <= 8; rows *= 2) {
                if (unit >= 4 && ++some)
                    counted(ctx, TW_F32, (layout){0, span, unit, rows}, &turns);
                if (span <= 32 && ++some)
                    counted(ctx, TW_I8, (layout){0, span, unit, rows}, &turns);
            }
    assert_int_equal(some, 96);
    tw_context_destroy(ctx);
}

/* The swizzled transposes in the list; each takes no more turns than the same with a pad, and less
 * memory. */
static unsigned in_list(tw_context *ctx, const char *target) {
    twi_caps caps;
    twi_candidate *c;
    unsigned found = 0;
    tw_ir *ir = transpose_of(ctx, 1000, 1001);
    assert_true(twi_caps_named(ctx, target, &caps));
    const uint32_t n = twi_search_list(&ctx->arena, ir, &caps, NULL, 0, &c);
    for (uint32_t k = 0; k < n; k++) {
        twi_plan *padded = TWI_NEW(&ctx->arena, twi_plan);
        uint32_t twin = 0;
        twi_plan_copy(&ctx->arena, padded, c[k].plan);
        if (!c[k].legal || !padded->place.n || !padded->place.at[0].swizzle.span)
            continue;
        padded->place.at[0].swizzle.span = 0;
        padded->place.at[0].pad = 1;
        while (twin < n && !twi_same_plan(ir, padded, c[twin].plan))
            twin++;
        assert_true(twin < n && c[twin].legal);
        assert_true(c[k].features.turns <= c[twin].features.turns);
        assert_true(c[k].features.shared_bytes < c[twin].features.shared_bytes);
        found++;
    }
    return found;
}

static void proposed(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    assert_true(in_list(ctx, "simt32") >= 10);
    assert_true(in_list(ctx, "sm_90a") >= 10);
    assert_true(in_list(ctx, "simt4") >= 1);
    assert_int_equal(in_list(ctx, "simt1"), 0); /* one lane, no conflicts */
    assert_int_equal(in_list(ctx, "cpu-avx512"), 0);
    tw_context_destroy(ctx);
}

/* Carriers whose rows a swizzle does not fit. */
static void refused(void **state) {
    (void)state;
    static const struct {
        const char *how, *why;
    } list[] = {{"swizzle 256", "value x: swizzle 256 unit 16 rows 1 of rows of 32 x 4 B: rows are "
                                "not whole spans"},
                {"swizzle 16", "value x: swizzle 16 unit 16 rows 1 of rows of 32 x 4 B: a span has "
                               "two units at least"},
                {"swizzle 128, pad 1", "value x: pad 1 and swizzle 128: one of them"}};
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = rows_to_columns(ctx, TW_F32);
    twi_caps caps;
    assert_true(twi_caps_named(ctx, "simt32", &caps));
    for (unsigned k = 0; k < sizeof list / sizeof *list; k++) {
        const char *text =
            twi_format(&ctx->arena, PLAN, twi_format(&ctx->arena, ", %s", list[k].how));
        twi_plans plans;
        twi_why why;
        assert_true(twi_plan_parse(&ctx->arena, ir, "t.plan", text, strlen(text), &plans));
        assert_false(twi_plan_legal(ir, &caps, &plans.scope[0], &why));
        assert_string_equal(why.text, list[k].why);
    }
    tw_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(transposes), cmocka_unit_test(refused),
                                       cmocka_unit_test(proposed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
