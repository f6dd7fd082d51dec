/* SPDX-License-Identifier: Apache-2.0
 * Diagnostics as they are shown, to the byte.
 */
#include "test.h"

#include "base/diag.h"

static fixture f;
static twi_diags d;

static const char *shown(bool color) {
    twi_sb out;
    twi_sb_init(&out, &f.arena);
    twi_diags_print(&d, &out, color);
    return twi_sb_text(&out);
}

static int open_diags(void **state) {
    (void)state;
    fixture_open(&f);
    twi_diags_init(&d, &f.arena);
    return 0;
}

static int close_diags(void **state) {
    (void)state;
    twi_arena_fini(&f.arena);
    return f.mem.bytes != 0;
}

static void caret_stands_under_its_byte(void **state) {
    (void)state;
    const char *text = "one\n  two three\n";
    uint32_t file = twi_diags_file(&d, "a.tile", text, strlen(text));
    assert_int_equal(file, 1);
    twi_error(&d, 12, (twi_loc){file, 10}, "write 'four'", "unknown name '%s'", "three");
    twi_warn(&d, 1234, (twi_loc){file, 0}, NULL, "odd");
    assert_string_equal(shown(false), "a.tile:2:7: error[E0012]: unknown name 'three'\n"
                                      "    two three\n"
                                      "        ^\n"
                                      "  help: write 'four'\n"
                                      "a.tile:1:1: warning[E1234]: odd\n"
                                      "  one\n"
                                      "  ^\n");
    assert_int_equal(d.errors, 1);
    assert_int_equal(d.warnings, 1);
}

static void color_wraps_but_does_not_change(void **state) {
    (void)state;
    uint32_t file = twi_diags_file(&d, "a", "x", 1);
    twi_error(&d, 1, (twi_loc){file, 0}, NULL, "t");
    assert_string_equal(shown(true), "\x1b[1ma:1:1:\x1b[0m \x1b[1;31merror[E0001]:\x1b[0m t\n"
                                     "  x\n"
                                     "  \x1b[1;31m^\x1b[0m\n");
}

static void no_place_no_line(void **state) {
    (void)state;
    twi_error(&d, 7, (twi_loc){0, 0}, "make one", "no file 'x'");
    twi_error(&d, 8, (twi_loc){9, 5}, NULL, "a file nobody added");
    assert_string_equal(shown(false), "error[E0007]: no file 'x'\n  help: make one\n"
                                      "error[E0008]: a file nobody added\n");
}

static void ends_of_files(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t at, line, column;
        const char *shows;
    } row[] = {
        {"", 0, 1, 1, ""},
        {"ab", 2, 1, 3, "ab"},
        {"ab\n", 2, 1, 3, "ab"},
        {"ab\n", 3, 2, 1, ""},
        {"ab\n", 999, 2, 1, ""},
        {"a\r\nb\r\n", 0, 1, 1, "a"},
        {"a\r\nb\r\n", 3, 2, 1, "b"},
        {"a\n\n\nb", 2, 2, 1, ""},
        {"a\n\n\nb", 4, 4, 1, "b"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        uint32_t file = twi_diags_file(&d, "x", row[i].text, strlen(row[i].text)), line, column;
        const char *text;
        size_t n;
        twi_loc_find(&d, (twi_loc){file, row[i].at}, &line, &column, &text, &n);
        assert_int_equal(line, row[i].line);
        assert_int_equal(column, row[i].column);
        assert_int_equal(n, strlen(row[i].shows));
        assert_memory_equal(text, row[i].shows, n);
    }
}

static void control_characters_are_shown_tame(void **state) {
    (void)state;
    uint32_t file = twi_diags_file(&d, "x", "\ta\0b\x1b[2J", 8);
    twi_error(&d, 1, (twi_loc){file, 3}, NULL, "bad byte \x1b");
    assert_string_equal(shown(false), "x:1:4: error[E0001]: bad byte ?\n"
                                      "   a?b?[2J\n"
                                      "     ^\n");
}

static void columns_count_bytes_and_carets_count_letters(void **state) {
    (void)state;
    const char *text = "\xc3\xa4\xc3\xb6 x"; /* two letters of two bytes, blank, x */
    uint32_t file = twi_diags_file(&d, "x", text, strlen(text));
    twi_error(&d, 1, (twi_loc){file, 5}, NULL, "t");
    assert_string_equal(shown(false), "x:1:6: error[E0001]: t\n  \xc3\xa4\xc3\xb6 x\n     ^\n");
}

/* A line of a megabyte: 120 columns around the caret. */
static void long_lines_are_cut(void **state) {
    (void)state;
    enum { N = 1000000 };
    char *text = twi_alloc(&f.arena, N);
    memset(text, 'a', N);
    uint32_t file = twi_diags_file(&d, "x", text, N);
    static const uint32_t at[] = {0, 59, 500000, N - 1};
    for (size_t i = 0; i < 4; i++) {
        twi_diags_clear(&d);
        text[at[i]] = 'b';
        twi_error(&d, 1, (twi_loc){file, at[i]}, NULL, "t");
        const char *line = strchr(shown(false), '\n') + 1, *caret = strchr(line, '\n') + 1;
        assert_in_range(caret - line, 120, 132);
        assert_int_equal(line[strcspn(caret, "^")], 'b');
        text[at[i]] = 'a';
    }
}

static void long_names_are_cut(void **state) {
    (void)state;
    enum { N = 1000000 };
    char *name = twi_alloc(&f.arena, N + 1);
    memset(name, 'n', N);
    twi_error(&d, 1, (twi_loc){0, 0}, name, "no kernel '%s' in this file", name);
    const char *text = shown(false);
    assert_in_range(strlen(text), 600, 700);
    assert_non_null(strstr(text, "error[E0001]: no kernel 'nnn"));
    assert_non_null(strstr(text, "[...]"));
    assert_non_null(strstr(text, "nnn' in this file\n"));
}

static void twenty_then_a_count(void **state) {
    (void)state;
    for (int i = 0; i < 23; i++)
        twi_error(&d, 1, (twi_loc){0, 0}, NULL, "number %d", i);
    assert_int_equal(d.errors, 23);
    assert_int_equal(d.list.n, 20);
    const char *text = shown(false);
    assert_non_null(strstr(text, "number 19\n3 more errors\n"));
    assert_null(strstr(text, "number 20"));
    twi_diags_clear(&d);
    assert_int_equal(d.errors, 0);
    assert_string_equal(shown(false), "");
    for (int i = 0; i < 21; i++)
        twi_error(&d, 1, (twi_loc){0, 0}, NULL, "x");
    assert_non_null(strstr(shown(false), "\n1 more error\n"));
}

static void later_lines_stand_in(void **state) {
    (void)state;
    twi_error(&d, 3, (twi_loc){0, 0}, NULL, "cc failed:\nline one\nline two\n");
    assert_string_equal(shown(false), "error[E0003]: cc failed:\n  line one\n  line two\n");
}

#define DIAG_TEST(name) cmocka_unit_test_setup_teardown(name, open_diags, close_diags)

int main(void) {
    const struct CMUnitTest tests[] = {
        DIAG_TEST(caret_stands_under_its_byte),
        DIAG_TEST(color_wraps_but_does_not_change),
        DIAG_TEST(no_place_no_line),
        DIAG_TEST(ends_of_files),
        DIAG_TEST(control_characters_are_shown_tame),
        DIAG_TEST(columns_count_bytes_and_carets_count_letters),
        DIAG_TEST(long_lines_are_cut),
        DIAG_TEST(long_names_are_cut),
        DIAG_TEST(twenty_then_a_count),
        DIAG_TEST(later_lines_stand_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
