/* SPDX-License-Identifier: Apache-2.0
 * Tables, JSON, settings and cases of the tool.
 */
#include "cli/cases.h"
#include "cli/json.h"
#include "cli/table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void tables(void **state) {
    (void)state;
    static const char *const head[] = {"name", "ns", "note"};
    static const char *const one[] = {"a", "12", ""}, *const two[] = {"long", "3", "x"};
    tool t;
    table b;
    tool_init(&t);
    table_init(&b, &t, head, 3);
    table_row(&b, one);
    table_row(&b, two);
    table_print(&b, &t.out);
    assert_string_equal(t.out.at, "name  ns  note\n"
                                  "a     12\n"
                                  "long   3  x\n");
    assert_string_equal(table_time(&t, 12.4), "12 ns");
    assert_string_equal(table_time(&t, 1500), "1.50 us");
    tool_fini(&t);
}

static void json(void **state) {
    (void)state;
    tool t;
    tool_init(&t);
    text *s = &t.json;
    json_open(s, NULL, '{');
    json_str(s, "a", "q\"\\\n\x01\xff\xc3\xa9");
    json_num(s, "b", 0.1);
    json_num(s, "c", INFINITY);
    json_num(s, "ten", 10);
    json_open(s, "d", '[');
    json_int(s, NULL, -3);
    json_bool(s, NULL, true);
    json_str(s, NULL, NULL);
    json_close(s, ']');
    json_close(s, '}');
    assert_string_equal(s->at, "{\"a\":\"q\\\"\\\\\\n\\u0001\\ufffd\xc3\xa9\",\"b\":0.1,\"c\":null,"
                               "\"ten\":10,\"d\":[-3,true,null]}");
    tool_fini(&t);
}

static void set(void **state) {
    (void)state;
    tool t;
    settings s = {0};
    tool_init(&t);
    assert_true(settings_add(&t, &s, "R=3,W=7"));
    assert_true(settings_add(&t, &s, "T=f32,bf16"));
    assert_true(settings_add(&t, &s, "R=4"));
    assert_int_equal(s.n, 3);
    assert_int_equal(settings_find(&s, "R")->values.n, 2);
    assert_string_equal(settings_find(&s, "R")->values.at[1], "4");
    assert_string_equal(settings_find(&s, "T")->values.at[1], "bf16");
    assert_null(settings_find(&s, "Q"));
    assert_false(settings_single(&t, &s));
    static const char *const wrong[] = {"R", "=3", "R=", "R=3,", ",R=3"};
    for (size_t k = 0; k < 5; k++)
        assert_false(settings_add(&t, &s, wrong[k]));
    tool_fini(&t);
}

static void product(void **state) {
    (void)state;
    tool t;
    settings s = {0};
    cases c = {0};
    tool_init(&t);
    assert_true(settings_add(&t, &s, "A=1,2"));
    assert_true(settings_add(&t, &s, "B=x,y,z"));
    cases_product(&t, s.at, s.n, &c);
    assert_int_equal(c.n, 6);
    assert_string_equal(pairs_find(&c.at[4], "A"), "2");
    assert_string_equal(pairs_find(&c.at[4], "B"), "y");
    assert_null(pairs_find(&c.at[4], "C"));
    tool_fini(&t);
}

static void near_names(void **state) {
    (void)state;
    static const char *const names[] = {"kernel", "threads", "T"};
    assert_string_equal(tool_nearest("kernl", names, 3), "kernel");
    assert_string_equal(tool_nearest("tread", names, 3), "threads");
    assert_null(tool_nearest("zebra", names, 3));
    assert_null(tool_nearest("", names, 2));
}

static void integers(void **state) {
    (void)state;
    int64_t v;
    assert_true(tool_parse_int("9223372036854775807", &v));
    assert_true(v == INT64_MAX);
    assert_true(tool_parse_int("-5", &v));
    assert_int_equal(v, -5);
    static const char *const wrong[] = {"",   "-",    "9223372036854775808",    "1x",
                                        " 1", "0x10", "99999999999999999999999"};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
        assert_false(tool_parse_int(wrong[k], &v));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables),     cmocka_unit_test(json),
                                       cmocka_unit_test(set),        cmocka_unit_test(product),
                                       cmocka_unit_test(near_names), cmocka_unit_test(integers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
