/* SPDX-License-Identifier: Apache-2.0
 * Text and numbers. Everything about numbers runs twice: as it is, and under a locale with a
 * decimal comma, which the build makes with localedef (so no machine lacks it).
 */
#include "test.h"

#include "base/hash.h"
#include "base/strbuf.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static fixture f;

static const char *f64_text(double v) {
    twi_sb sb;
    twi_sb_init(&sb, &f.arena);
    twi_sb_f64(&sb, v);
    return twi_sb_text(&sb);
}

static const char *f32_text(float v) {
    twi_sb sb;
    twi_sb_init(&sb, &f.arena);
    twi_sb_f32(&sb, v);
    return twi_sb_text(&sb);
}

static const char *fixed_text(double v, int digits) {
    twi_sb sb;
    twi_sb_init(&sb, &f.arena);
    twi_sb_fixed(&sb, v, digits);
    return twi_sb_text(&sb);
}

static void appends(void **state) {
    (void)state;
    twi_sb sb;
    twi_sb_init(&sb, &f.arena);
    assert_string_equal(twi_sb_text(&sb), "");
    for (int i = 0; i < 1000; i++) {
        twi_sb_char(&sb, 'a');
        twi_sb_str(&sb, "bc");
        twi_sb_printf(&sb, "%d", i % 10);
        assert_int_equal(strlen(sb.at), sb.n);
    }
    assert_int_equal(sb.n, 4000);
    assert_memory_equal(sb.at + 3996, "abc9", 5);
    twi_sb_add(&sb, "\0x", 2);
    assert_int_equal(sb.n, 4002);
    assert_string_equal(twi_format(&f.arena, "%s-%05u", "x", 42u), "x-00042");
    assert_string_equal(twi_format(&f.arena, "%s", ""), "");
}

/* Of every length, brief or not, alone and behind what is there. */
static void formats_any_length(void **state) {
    (void)state;
    char text[601] = "";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        twi_sb sb;
        twi_sb_init(&sb, &f.arena);
        for (unsigned k = 0; k < 2; k++) {
            twi_sb_printf(&sb, "%s", text);
            assert_int_equal(sb.n, (k + 1) * n);
            assert_string_equal(sb.at + k * n, text);
        }
        assert_string_equal(twi_format(&f.arena, "%s", text), text);
        text[n] = (char)('a' + n % 26);
        text[n + 1] = 0;
    }
}

static void pads_from_the_line_start(void **state) {
    (void)state;
    twi_sb sb;
    twi_sb_init(&sb, &f.arena);
    twi_sb_pad(&sb, 2);
    twi_sb_str(&sb, "a\nbcd");
    twi_sb_pad(&sb, 5);
    twi_sb_char(&sb, '|');
    twi_sb_pad(&sb, 3); /* already past it */
    twi_sb_char(&sb, '|');
    assert_string_equal(sb.at, "  a\nbcd  ||");
}

static void known_texts(void **state) {
    (void)state;
    static const struct {
        double v;
        const char *text;
    } row[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1.0, "1"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {100.0, "100"},
        {1e-5, "1e-05"},
        {1e-4, "0.0001"},
        {12345.678, "12345.678"},
        {1e15, "1000000000000000"},
        {1e16, "1e+16"},
        {1e22, "1e+22"},
        {1e100, "1e+100"},
        {5e-324, "5e-324"},
        {9007199254740993.0, "9007199254740992"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {1.0 / 3.0, "0.3333333333333333"},
        {0x1p-44,
         "5.684341886080802e-14"}, /* nearest 16 digits do not read back, their neighbour does */
        {(double)INFINITY, "inf"},
        {-(double)INFINITY, "-inf"},
        {(double)NAN, "nan"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_string_equal(f64_text(row[i].v), row[i].text);
    assert_string_equal(f64_text(-(double)NAN), "nan");
    assert_string_equal(f32_text(0.1f), "0.1");
    assert_string_equal(f32_text(16777216.0f), "16777216");
    assert_string_equal(f32_text(FLT_MAX), "3.4028235e+38");
    assert_string_equal(f32_text(0x1p-149f), "1e-45");
    assert_string_equal(f32_text(-0.0f), "-0");
    assert_string_equal(f32_text(1.0f / 3.0f), "0.33333334");
    assert_string_equal(fixed_text(12.34, 1), "12.3");
    assert_string_equal(fixed_text(-0.5, 3), "-0.500");
    assert_string_equal(fixed_text(99.96, 1), "100.0");
    assert_string_equal(fixed_text(7.0, 0), "7");
    assert_string_equal(fixed_text((double)NAN, 2), "nan");
    assert_string_equal(fixed_text(-(double)INFINITY, 2), "-inf");
    assert_int_equal(strlen(fixed_text(DBL_MAX, 2)), 309 + 3);
}

static void every_double_reads_back(void **state) {
    (void)state;
    twi_rng rng;
    twi_rng_init(&rng, 1);
    for (int i = 0; i < 60000; i++) {
        uint64_t bits = twi_rng_next(&rng), back_bits;
        if (i % 4 == 1)
            bits &= ~(UINT64_C(0x7fe) << 52); /* subnormals and the smallest normals */
        if (i % 4 == 2)
            bits &= UINT64_C(0xfff) << 52; /* powers of two */
        double v, back;
        memcpy(&v, &bits, sizeof v);
        twi_mark mark = twi_arena_mark(&f.arena);
        const char *text = f64_text(v);
        assert_true(twi_parse_f64(text, strlen(text), &back));
        memcpy(&back_bits, &back, sizeof back);
        if (isnan(v))
            assert_true(isnan(back));
        else
            assert_int_equal(bits, back_bits);
        twi_arena_reset(&f.arena, mark);
    }
}

static void every_float_reads_back(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 60000; i++) {
        uint32_t bits = i * UINT32_C(2654435761), back_bits;
        if (i % 4 == 1)
            bits &= ~(UINT32_C(0xfe) << 23);
        float v, back;
        memcpy(&v, &bits, sizeof v);
        twi_mark mark = twi_arena_mark(&f.arena);
        const char *text = f32_text(v);
        double wide;
        assert_true(twi_parse_f64(text, strlen(text), &wide));
        back = (float)wide;
        memcpy(&back_bits, &back, sizeof back);
        if (isnan(v))
            assert_true(isnan(back));
        else
            assert_int_equal(bits, back_bits);
        twi_arena_reset(&f.arena, mark);
    }
}

/* No text with fewer digits reads back: checked on numbers made from few digits. */
static void short_decimals_stay_short(void **state) {
    (void)state;
    twi_rng rng;
    twi_rng_init(&rng, 2);
    for (int i = 0; i < 20000; i++) {
        char given[40];
        unsigned digits = (unsigned)twi_rng_below(&rng, 900000) + 100001;
        digits -= digits % 10 == 0; /* seven digits at most, the last not 0 */
        (void)snprintf(given, sizeof given, "%ue%d", digits, (int)twi_rng_below(&rng, 560) - 280);
        double v;
        assert_true(twi_parse_f64(given, strlen(given), &v));
        twi_mark mark = twi_arena_mark(&f.arena);
        const char *text = f64_text(v);
        size_t significant = 0;
        bool lead = true;
        for (const char *p = text; *p && *p != 'e'; p++) {
            if (*p >= '1' && *p <= '9')
                lead = false;
            significant += *p != '.' && !lead;
        }
        if (v >= 1e7) /* zeros before the point fill up */
            assert_true(significant <= 17);
        else
            assert_true(significant <= 7);
        twi_arena_reset(&f.arena, mark);
    }
}

static void parses(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double v;
    } good[] = {
        {"0", 0},
        {"12.5", 12.5},
        {"+.5", 0.5},
        {"5.", 5},
        {"-1e3", -1000},
        {"1E-2", 0.01},
        {"12.5e3", 12500},
        {"0x1p-3", 0.125},
        {"0x1.8P1", 3},
        {"0x.8", 0.5},
        {"0xff", 255},
        {"-0x1.fffffffffffffp1023", -DBL_MAX},
        {"1e999", (double)INFINITY},
        {"1e-999", 0},
        {"1e99999999999999999999", (double)INFINITY},
        {"-inf", -(double)INFINITY},
        {"0.000000000000000000000000000000000000000001e42", 1},
    };
    double v = 0;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(twi_parse_f64(good[i].text, strlen(good[i].text), &v));
        assert_true(v == good[i].v);
    }
    assert_true(twi_parse_f64("-0", 2, &v) && v == 0 && signbit(v));
    assert_true(twi_parse_f64("nan", 3, &v) && isnan(v));
    assert_true(twi_parse_f64("12.5garbage", 4, &v) && v == 12.5); /* n counts, no NUL is needed */
    static const char *const bad[] = {
        "",   "-",   "+",    ".",   "1.2.3",  "1e",  "1e+",      "e5",   "1,5", " 1",    "1 ",
        "0x", "0xg", "0x1p", "1p3", "0x1e+3", "--1", "infinity", "nano", "1f",  "1_000", "INF"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (twi_parse_f64(bad[i], strlen(bad[i]), &v))
            fail_msg("read '%s' as a number", bad[i]);
    assert_false(twi_parse_f64("1\0", 2, &v));
}

static void parses_integers(void **state) {
    (void)state;
    int64_t v = 0;
    static const struct {
        const char *text;
        int64_t v;
    } good[] = {
        {"0", 0},
        {"-0", 0},
        {"+7", 7},
        {"0x10", 16},
        {"-0xFf", -255},
        {"007", 7},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"0x7fffffffffffffff", INT64_MAX},
        {"-0x8000000000000000", INT64_MIN},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(twi_parse_i64(good[i].text, strlen(good[i].text), &v));
        assert_int_equal(v, good[i].v);
    }
    static const char *const bad[] = {"",
                                      "-",
                                      "0x",
                                      "1.0",
                                      "1e3",
                                      "9223372036854775808",
                                      " 1",
                                      "1 ",
                                      "a",
                                      "-9223372036854775809",
                                      "0x8000000000000000",
                                      "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (twi_parse_i64(bad[i], strlen(bad[i]), &v))
            fail_msg("read '%s' as an integer", bad[i]);
}

static int open_all(void **state) {
    (void)state;
    fixture_open(&f);
    return 0;
}

static int close_all(void **state) {
    (void)state;
    twi_arena_fini(&f.arena);
    return f.mem.bytes != 0;
}

/* The locale must really be in force, or the second round would show nothing. */
static void comma_is_in_force(void **state) {
    (void)state;
    char text[16];
    assert_string_equal(localeconv()->decimal_point, ",");
    (void)snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5");
}

#define NUMBERS                                                                                    \
    cmocka_unit_test(known_texts), cmocka_unit_test(every_double_reads_back),                      \
        cmocka_unit_test(every_float_reads_back), cmocka_unit_test(short_decimals_stay_short),     \
        cmocka_unit_test(parses), cmocka_unit_test(parses_integers)

int main(void) {
    const struct CMUnitTest plain[] = {
        cmocka_unit_test(appends),
        cmocka_unit_test(formats_any_length),
        cmocka_unit_test(pads_from_the_line_start),
        NUMBERS,
    };
    const struct CMUnitTest comma[] = {cmocka_unit_test(comma_is_in_force), NUMBERS};
    int failed = cmocka_run_group_tests(plain, open_all, close_all);
    if (setenv("LOCPATH", TW_BINARY_DIR "/locale", 1) != 0 || !setlocale(LC_ALL, "de_DE.UTF-8")) {
        (void)fprintf(stderr, "no locale in %s/locale: build the target tw_locale\n",
                      TW_BINARY_DIR);
        return 1;
    }
    return failed + cmocka_run_group_tests(comma, open_all, close_all);
}
