/* SPDX-License-Identifier: Apache-2.0
 * The text of a calibrated model: back to the same bytes, and no change of it goes unnoticed.
 */
#include "caps/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static twi_model sample(void) {
    twi_model m = {.device = "cpu-avx2, 4 units, Some CPU @ 2.0GHz",
                   .version = "0.1.0",
                   .date = "2026-01-02",
                   .residual = 0.0625};
    for (unsigned k = 0; k < TWI_COSTS; k++)
        m.price[k] = k % 3 ? 1.0 / (k + 2) : 0;
    return m;
}

static void round_trip(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    twi_model m = sample(), back;
    twi_sb sb, again;
    const char *why;
    twi_sb_init(&sb, &ctx->arena);
    twi_sb_init(&again, &ctx->arena);
    twi_model_print(&m, &sb);
    assert_true(twi_model_parse(ctx, sb.at, sb.n, &back, &why));
    assert_string_equal(back.device, m.device);
    assert_memory_equal(back.price, m.price, sizeof m.price);
    twi_model_print(&back, &again);
    assert_string_equal(twi_sb_text(&again), twi_sb_text(&sb));
    tw_context_destroy(ctx);
}

/* Every byte changed, every length cut: refused, with a reason. */
static void damage(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    twi_model m = sample(), back;
    twi_sb sb;
    const char *why;
    twi_sb_init(&sb, &ctx->arena);
    twi_model_print(&m, &sb);
    for (size_t k = 0; k < sb.n; k++) {
        why = NULL;
        sb.at[k] ^= 1;
        assert_false(twi_model_parse(ctx, sb.at, sb.n, &back, &why));
        assert_non_null(why);
        sb.at[k] ^= 1;
        assert_false(twi_model_parse(ctx, sb.at, k, &back, &why));
        assert_non_null(why);
    }
    twi_sb_str(&sb, "more\n");
    assert_false(twi_model_parse(ctx, sb.at, sb.n, &back, &why));
    tw_context_destroy(ctx);
}

/* Fitted prices are those that are taken; the others come from the table. */
static void prices(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    twi_caps caps;
    double ns[TWI_COSTS];
    assert_true(twi_caps_named(ctx, "cpu-avx2", &caps));
    twi_cost_prices(&caps, ns);
    assert_true(ns[TWI_COST_LAUNCH] == 1000 && ns[TWI_COST_WAKE] == 4000);
    assert_true(ns[TWI_COST_CHEAP] == 0.25 && ns[TWI_COST_SCATTERED] == 0.5);
    const twi_model m = sample();
    caps.fitted = m.price;
    twi_cost_prices(&caps, ns);
    assert_memory_equal(ns, m.price, sizeof ns);
    tw_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(damage),
        cmocka_unit_test(prices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
