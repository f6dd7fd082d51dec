/* SPDX-License-Identifier: Apache-2.0
 * Hashing and random numbers: values that may not change (plans and seeds are named by them), and
 * rough statistics.
 */
#include "test.h"

#include "base/hash.h"

#include <math.h>

static void each_bit_and_length_matters(void **state) {
    (void)state;
    unsigned char data[40] = {0};
    uint64_t seen[1 + 40 * 8 + 40];
    size_t n = 0;
    seen[n++] = twi_hash(data, sizeof data, 0);
    for (size_t bit = 0; bit < sizeof data * 8; bit++) {
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        seen[n++] = twi_hash(data, sizeof data, 0);
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    for (size_t size = 0; size < sizeof data; size++)
        seen[n++] = twi_hash(data, size, 0);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(seen[i], seen[j]);
    assert_int_equal(seen[0], twi_hash(data, sizeof data, 0));
    assert_int_not_equal(seen[0], twi_hash(data, sizeof data, 1));
    assert_int_not_equal(twi_hash_mix(1, 2), twi_hash_mix(2, 1));
}

static void alignment_does_not_matter(void **state) {
    (void)state;
    char text[64] = "the same text at two places";
    size_t n = strlen(text);
    uint64_t h = twi_hash(text, n, 5);
    memmove(text + 3, text, n);
    assert_int_equal(twi_hash(text + 3, n, 5), h);
}

/* splitmix64 from seed 0: the figures its authors publish. xoshiro256** by hand from s = 1 2 3 4:
 * rotl(2 * 5, 7) * 9 = 11520, then s[1] = 2 ^ 3 ^ 1 = 0 gives 0, then s[1] = 262149. */
static void published_values(void **state) {
    (void)state;
    twi_rng rng;
    twi_rng_init(&rng, 0);
    assert_true(rng.s[0] == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(rng.s[1] == UINT64_C(0x6e789e6aa1b965f4));
    assert_true(rng.s[2] == UINT64_C(0x06c45d188009454f));
    rng = (twi_rng){{1, 2, 3, 4}};
    assert_int_equal(twi_rng_next(&rng), 11520);
    assert_int_equal(twi_rng_next(&rng), 0);
    assert_int_equal(twi_rng_next(&rng), 1509978240);
}

static void draws_stay_in_range(void **state) {
    (void)state;
    twi_rng rng;
    twi_rng_init(&rng, 7);
    int count[6] = {0};
    for (int i = 0; i < 60000; i++)
        count[twi_rng_below(&rng, 6)]++; /* 10000 expected each, deviation about 91 */
    for (int i = 0; i < 6; i++)
        assert_in_range(count[i], 9400, 10600);
    assert_int_equal(twi_rng_below(&rng, 1), 0);
    uint64_t most = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t draw = twi_rng_below(&rng, UINT64_MAX);
        most = draw > most ? draw : most;
    }
    assert_true(most > UINT64_MAX / 2);
    double sum = 0, squares = 0, normal = 0;
    for (int i = 0; i < 100000; i++) {
        double u = twi_rng_unit(&rng), z = twi_rng_normal(&rng);
        assert_true(u >= 0 && u < 1 && isfinite(z));
        sum += u;
        normal += z;
        squares += z * z;
    }
    assert_true(fabs(sum / 100000 - 0.5) < 0.01);   /* deviation 0.0009 */
    assert_true(fabs(normal / 100000) < 0.03);      /* 0.0032 */
    assert_true(fabs(squares / 100000 - 1) < 0.04); /* 0.0045 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_bit_and_length_matters),
        cmocka_unit_test(alignment_does_not_matter),
        cmocka_unit_test(published_values),
        cmocka_unit_test(draws_stay_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
