/* SPDX-License-Identifier: Apache-2.0
 * Names: one symbol a text, stable while the table grows.
 */
#include "test.h"

#include "base/intern.h"

#include <stdio.h>

static void equal_texts_have_one_symbol(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f);
    twi_names names;
    twi_names_init(&names, &f.arena);
    enum { N = 20000 };
    char text[32];
    for (uint32_t i = 0; i < N; i++) {
        (void)snprintf(text, sizeof text, "name%u", (unsigned)i);
        assert_int_equal(twi_lookup(&names, text, strlen(text)), 0);
        assert_int_equal(twi_intern_str(&names, text), i + 1);
    }
    for (uint32_t i = 0; i < N; i++) {
        (void)snprintf(text, sizeof text, "name%u", (unsigned)i);
        assert_int_equal(twi_intern_str(&names, text), i + 1);
        assert_int_equal(twi_lookup(&names, text, strlen(text)), i + 1);
        assert_string_equal(twi_text(&names, i + 1), text);
    }
    assert_int_equal(names.n, N + 1);
    fixture_close(&f);
}

static void no_name(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f);
    twi_names names;
    twi_names_init(&names, &f.arena);
    assert_int_equal(twi_intern(&names, NULL, 0), 0);
    assert_int_equal(twi_intern_str(&names, ""), 0);
    assert_int_equal(twi_lookup(&names, "", 0), 0);
    assert_string_equal(twi_text(&names, 0), "");
    assert_string_equal(twi_text(&names, 77), "");
    fixture_close(&f);
}

static void prefixes_and_nul_bytes_differ(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f);
    twi_names names;
    twi_names_init(&names, &f.arena);
    twi_sym a = twi_intern(&names, "ab", 2), b = twi_intern(&names, "ab\0c", 4);
    twi_sym c = twi_intern(&names, "abc", 2), d = twi_intern(&names, "ab\0", 3);
    assert_int_equal(a, c);
    assert_int_not_equal(a, b);
    assert_int_not_equal(a, d);
    assert_int_not_equal(b, d);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_have_one_symbol),
        cmocka_unit_test(no_name),
        cmocka_unit_test(prefixes_and_nul_bytes_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
