/* SPDX-License-Identifier: Apache-2.0
 * Overlap of strided boxes, against marking every byte.
 */
#include "base/hash.h"
#include "run/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { SPACE = 4096 };

static bool mark(const twi_box *a, unsigned char *bytes, unsigned char bit) {
    int64_t at[TWI_MAX_RANK] = {0};
    bool twice = false;
    for (int d = 0; d < a->rank; d++)
        if (a->extent[d] == 0)
            return false;
    for (;;) {
        intptr_t offset = (intptr_t)a->base;
        for (int d = 0; d < a->rank; d++)
            offset += (intptr_t)(at[d] * a->stride[d]);
        for (size_t i = 0; i < a->size; i++) {
            twice = twice || (bytes[offset + (intptr_t)i] & bit);
            bytes[offset + (intptr_t)i] |= bit;
        }
        int d = 0;
        while (d < a->rank && ++at[d] == a->extent[d])
            at[d++] = 0;
        if (d == a->rank)
            return twice;
    }
}

/* A box around the middle of the space; bases are small integers, never dereferenced. */
static twi_box random_box(twi_rng *rng) {
    twi_box a = {.size = (size_t)1 << twi_rng_below(rng, 4), .rank = (int)twi_rng_below(rng, 4)};
    a.base = (const char *)(uintptr_t)(SPACE / 2 + twi_rng_below(rng, 64));
    for (int d = 0; d < a.rank; d++) {
        a.extent[d] = (int64_t)twi_rng_below(rng, 5);
        a.stride[d] =
            ((int64_t)twi_rng_below(rng, 33) - 16) * (int64_t)(twi_rng_below(rng, 2) ? a.size : 1);
    }
    return a;
}

static void agrees_with_marking(void **state) {
    (void)state;
    twi_rng rng;
    unsigned both = 0, neither = 0;
    twi_rng_init(&rng, 7);
    for (unsigned round = 0; round < 20000; round++) {
        static unsigned char bytes[SPACE + 1024];
        const twi_box a = random_box(&rng), b = random_box(&rng);
        memset(bytes, 0, sizeof bytes);
        const bool twice = mark(&a, bytes, 1);
        (void)mark(&b, bytes, 2);
        bool shared = false;
        for (unsigned i = 0; i < sizeof bytes; i++)
            shared = shared || bytes[i] == 3;
        assert_int_equal(twi_boxes_overlap(&a, &b), shared);
        assert_int_equal(twi_box_overlaps_itself(&a), twice);
        both += shared;
        neither += !shared;
    }
    assert_true(both > 1000 && neither > 1000);
}

/* Two halves of the columns of one matrix: intervals cross, bytes do not. Large, so that counting
 * would be slow. */
static void interleaved_columns(void **state) {
    (void)state;
    twi_box left = {.base = (const char *)(uintptr_t)65536,
                    .size = 4,
                    .rank = 2,
                    .extent = {1000000, 512},
                    .stride = {4096, 4}};
    twi_box right = left;
    right.base += 2048;
    assert_false(twi_boxes_overlap(&left, &right));
    assert_false(twi_box_overlaps_itself(&left));
    right.base -= 1;
    assert_true(twi_boxes_overlap(&left, &right));
    left.extent[1] = 1025;
    assert_true(twi_box_overlaps_itself(&left));
    left.stride[0] = 0;
    assert_true(twi_box_overlaps_itself(&left));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_marking),
                                       cmocka_unit_test(interleaved_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
