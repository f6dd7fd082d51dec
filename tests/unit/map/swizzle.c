/* SPDX-License-Identifier: Apache-2.0
 * Swizzles against their definition, unit by unit: every one that fits puts each element of a row
 * into a place of its own, keeps units whole and stays in its span.
 */
#include "map/swizzle.h"

#include "base/context.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROW = 3 * TWI_SWIZZLE_SPAN };

/* By bytes, as swizzle.h says it. */
static int64_t defined(twi_swizzle s, int64_t elem, int64_t row, int64_t at) {
    const int64_t byte = at * elem, units = s.span / s.unit;
    const int64_t unit = byte % s.span / s.unit, there = unit ^ row / s.rows % units;
    return (byte / s.span * s.span + there * s.unit + byte % s.unit) / elem;
}

static void check(twi_swizzle s, int64_t elem) {
    const int64_t columns = ROW / elem;
    for (int64_t row = 0; row < 300; row += row < 40 ? 1 : 37) {
        uint8_t taken[ROW] = {0};
        for (int64_t at = 0; at < columns; at++) {
            const int64_t there = twi_swizzle_at(s, elem, row, at);
            assert_int_equal(there, defined(s, elem, row, at));
            assert_in_range(there, 0, columns - 1);
            assert_int_equal(taken[there]++, 0);
            if (at * elem % s.unit)
                assert_int_equal(there, twi_swizzle_at(s, elem, row, at - 1) + 1);
        }
    }
}

static void all(void **state) {
    (void)state;
    unsigned fit = 0;
    for (unsigned span = 1; span <= TWI_SWIZZLE_SPAN; span *= 2)
        for (unsigned unit = 1; unit <= TWI_SWIZZLE_UNIT; unit *= 2)
            for (unsigned rows = 1; rows <= TWI_SWIZZLE_ROWS; rows *= 4)
                for (int64_t elem = 1; elem <= 8; elem *= 2) {
                    const twi_swizzle s = {(uint16_t)span, (uint8_t)unit, (uint8_t)rows};
                    const bool fits = span > unit && unit >= elem;
                    assert_true(fits == !twi_swizzle_fault(s, elem, ROW / elem));
                    if (fits && ++fit)
                        check(s, elem);
                }
    assert_true(fit > 300);
    const twi_swizzle none = {0, 0, 0};
    for (int64_t at = 0; at < 100; at++)
        assert_int_equal(twi_swizzle_at(none, 4, 7, at), at);
}

static void faults(void **state) {
    (void)state;
    static const struct {
        twi_swizzle s;
        int64_t elem, row;
        const char *says;
    } list[] = {{{96, 16, 1}, 4, 96, "powers of two"},     {{128, 12, 1}, 4, 96, "powers of two"},
                {{128, 16, 3}, 4, 96, "powers of two"},    {{2048, 16, 1}, 4, 512, "powers of two"},
                {{128, 32, 1}, 4, 96, "powers of two"},    {{16, 16, 1}, 4, 96, "two units"},
                {{128, 2, 1}, 4, 96, "whole elements"},    {{128, 16, 1}, 4, 48, "whole spans"},
                {{64, 16, 1}, 2, 48, "rows are not whole"}};
    for (unsigned k = 0; k < sizeof list / sizeof *list; k++) {
        const char *why = twi_swizzle_fault(list[k].s, list[k].elem, list[k].row);
        assert_non_null(why);
        assert_non_null(strstr(why, list[k].says));
    }
    assert_null(twi_swizzle_fault((twi_swizzle){64, 16, 1}, 4, 48));
}

static void text(void **state) {
    (void)state;
    static const struct {
        twi_swizzle s;
        const char *text;
    } list[] = {{{128, 16, 1}, "swizzle 128"},
                {{64, 4, 1}, "swizzle 64 unit 4"},
                {{64, 16, 2}, "swizzle 64 rows 2"},
                {{1024, 2, 128}, "swizzle 1024 unit 2 rows 128"}};
    tw_context *ctx = tw_context_create(NULL);
    for (unsigned k = 0; k < sizeof list / sizeof *list; k++) {
        twi_sb sb;
        twi_sb_init(&sb, &ctx->arena);
        twi_swizzle_print(list[k].s, &sb);
        assert_string_equal(twi_sb_text(&sb), list[k].text);
        for (unsigned l = 0; l < sizeof list / sizeof *list; l++)
            assert_true(twi_swizzle_equal(list[k].s, list[l].s) == (k == l));
    }
    tw_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all),
        cmocka_unit_test(faults),
        cmocka_unit_test(text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
