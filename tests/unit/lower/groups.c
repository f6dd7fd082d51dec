/* SPDX-License-Identifier: Apache-2.0
 * Group orders counted out: every number gives digits of its own, within their extents, for all
 * planes of up to 40 x 40 and some with more digits. The numbers themselves stand for the values.
 */
#include "lower/groups.h"
#include "ir/ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static uint32_t number(void *user, int64_t k) {
    (void)user;
    assert_in_range(k, 0, UINT32_MAX);
    return (uint32_t)k;
}

/* Modulo 2^32 like the walk's modulo 2^64: what is not selected may be anything. */
static uint32_t op(void *user, unsigned what, uint32_t a, uint32_t b, uint32_t c) {
    (void)user;
    switch (what) {
    case TWI_ADD:
        return a + b;
    case TWI_SUB:
        return a - b;
    case TWI_MUL:
        return a * b;
    case TWI_IDIV:
        return b ? a / b : 0;
    case TWI_IMOD:
        return b ? a % b : a;
    case TWI_MIN:
        return a < b ? a : b;
    case TWI_MAX:
        return a > b ? a : b;
    case TWI_LT:
        return a < b;
    case TWI_SELECT:
        return a ? b : c;
    default:
        fail_msg("operation %u", what);
        return 0;
    }
}

static const twi_group_maker counting = {NULL, number, op};

static void covers(unsigned order, int64_t band, const int64_t *extent, unsigned n) {
    static uint8_t seen[4096];
    uint32_t total = 1, digit[4];
    for (unsigned k = 0; k < n; k++)
        total *= (uint32_t)extent[k];
    memset(seen, 0, sizeof seen);
    for (uint32_t group = 0; group < total; group++) {
        uint32_t at = 0;
        twi_group_digits(&counting, &(twi_group_grid){order, band, extent, n}, group, digit);
        for (unsigned k = 0; k < n; k++) {
            if (digit[k] >= extent[k])
                fail_msg("order %u of %lld x %lld: group %u has digit %u of %u", order,
                         (long long)extent[0], (long long)extent[1], group, k, digit[k]);
            at = at * (uint32_t)extent[k] + digit[k];
        }
        if (seen[at]++)
            fail_msg("order %u of %lld x %lld: group %u repeats a place", order,
                     (long long)extent[0], (long long)extent[1], group);
    }
}

static void planes(void **state) {
    (void)state;
    for (int64_t rows = 1; rows <= 40; rows++)
        for (int64_t columns = 1; columns <= 40; columns++) {
            const int64_t extent[] = {rows, columns};
            for (unsigned order = TWI_GROUPS_ROWS; order <= TWI_GROUPS_HILBERT; order++)
                covers(order, 1 + (rows + columns) % 9, extent, 2);
        }
}

static void boxes(void **state) {
    (void)state;
    static const int64_t extents[][4] = {
        {3, 5, 7, 1}, {1, 8, 1, 9}, {2, 1, 16, 17}, {4, 3, 2, 5}, {1, 1, 1, 6}};
    for (size_t k = 0; k < sizeof extents / sizeof *extents; k++)
        for (unsigned order = TWI_GROUPS_ROWS; order <= TWI_GROUPS_HILBERT; order++)
            covers(order, 2, extents[k], 4);
}

/* Groups that follow each other on Hilbert's curve are neighbours. */
static void curve(void **state) {
    (void)state;
    static const int64_t extent[] = {16, 16};
    uint32_t last[2] = {0, 0}, digit[2];
    for (uint32_t group = 0; group < 256; group++) {
        twi_group_digits(&counting, &(twi_group_grid){TWI_GROUPS_HILBERT, 0, extent, 2}, group,
                         digit);
        uint32_t di = digit[0] > last[0] ? digit[0] - last[0] : last[0] - digit[0];
        uint32_t dj = digit[1] > last[1] ? digit[1] - last[1] : last[1] - digit[1];
        assert_int_equal(di + dj, group ? 1 : 0);
        last[0] = digit[0];
        last[1] = digit[1];
    }
}

/* Rows count row-major, columns column-major, a band column by column within its rows. */
static void simple(void **state) {
    (void)state;
    static const int64_t extent[] = {5, 3};
    uint32_t digit[2];
    twi_group_digits(&counting, &(twi_group_grid){TWI_GROUPS_ROWS, 0, extent, 2}, 7, digit);
    assert_int_equal(digit[0], 2);
    assert_int_equal(digit[1], 1);
    twi_group_digits(&counting, &(twi_group_grid){TWI_GROUPS_COLS, 0, extent, 2}, 7, digit);
    assert_int_equal(digit[0], 2);
    assert_int_equal(digit[1], 1);
    twi_group_digits(&counting, &(twi_group_grid){TWI_GROUPS_COLS, 0, extent, 2}, 6, digit);
    assert_int_equal(digit[0], 1);
    twi_group_digits(&counting, &(twi_group_grid){TWI_GROUPS_BAND, 2, extent, 2}, 3, digit);
    assert_int_equal(digit[0], 1);
    assert_int_equal(digit[1], 1);
    twi_group_digits(&counting, &(twi_group_grid){TWI_GROUPS_BAND, 2, extent, 2}, 13,
                     digit); /* the last row alone */
    assert_int_equal(digit[0], 4);
    assert_int_equal(digit[1], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(planes), cmocka_unit_test(boxes),
                                       cmocka_unit_test(curve), cmocka_unit_test(simple)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
