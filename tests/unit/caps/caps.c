/* SPDX-License-Identifier: Apache-2.0
 * Target descriptions: built-in records are the files of caps/, text goes round to the same bytes,
 * faults are named.
 */
#include "caps/caps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static int setup(void **state) {
    *state = tw_context_create(NULL);
    return *state ? 0 : -1;
}

static int teardown(void **state) {
    tw_context_destroy(*state);
    return 0;
}

static const char *const names[] = {"cpu-baseline",    "cpu-neon",         "cpu-avx2", "cpu-avx512",
                                    "cpu-avx512-dots", "cpu-avx512-tiles", "simt32",   "simt4",
                                    "simt1",           "opencl-a770"};

static const char *printed(tw_context *ctx, const twi_caps *caps) {
    twi_sb sb;
    twi_sb_init(&sb, &ctx->arena);
    twi_caps_print(ctx, caps, &sb);
    return twi_sb_text(&sb);
}

static void named_are_files(void **state) {
    tw_context *ctx = *state;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        twi_caps caps, again;
        assert_true(twi_caps_named(ctx, names[i], &caps));
        char path[256], text[4096];
        (void)snprintf(path, sizeof path, "%s/caps/%s.caps", TW_SOURCE_DIR, names[i]);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        size_t n = fread(text, 1, sizeof text - 1, f);
        (void)fclose(f);
        text[n] = 0;
        assert_string_equal(printed(ctx, &caps), text);
        assert_true(twi_caps_parse(ctx, path, text, n, &again));
        assert_string_equal(printed(ctx, &again), text);
    }
    twi_caps caps;
    assert_false(twi_caps_named(ctx, "simt31", &caps));
}

/* A context that asks for a record again, as every compilation does, does not grow. */
static void records_are_read_again(void **state) {
    tw_context *ctx = *state;
    twi_caps caps;
    assert_true(twi_caps_named(ctx, "sm_90a", &caps));
    const uint32_t files = ctx->diags.files.n;
    const twi_mark before = twi_arena_mark(&ctx->arena);
    for (unsigned k = 0; k < 1000; k++)
        assert_true(twi_caps_named(ctx, "sm_90a", &caps));
    const twi_mark after = twi_arena_mark(&ctx->arena);
    assert_int_equal(ctx->diags.files.n, files);
    assert_ptr_equal(after.block, before.block);
    assert_int_equal(after.used, before.used);
    assert_int_equal(after.kept, before.kept);
}

static void what_records_say(void **state) {
    twi_caps caps;
    assert_true(twi_caps_named(*state, "cpu-avx512", &caps));
    assert_int_equal(caps.lane, 16);
    assert_int_equal(caps.family, TWI_FAMILY_CPU);
    assert_true(caps.indexable);
    assert_false(caps.dpi8 || caps.dpbf16);
    assert_true(twi_caps_named(*state, "cpu-avx512-dots", &caps));
    assert_true(caps.dpi8 && caps.dpbf16 && !caps.tdpbf16);
    assert_true(twi_caps_named(*state, "cpu-avx512-tiles", &caps));
    assert_true(caps.dpi8 && caps.dpbf16 && caps.tdpbf16);
    assert_true(twi_caps_named(*state, "simt32", &caps));
    assert_int_equal(caps.shared, 49152);
    assert_int_equal(caps.workers, 256);
    assert_false(caps.indexable);
}

static void refused(tw_context *ctx, const char *text, unsigned code, const char *part) {
    twi_caps caps;
    twi_diags_clear(&ctx->diags);
    assert_false(twi_caps_parse(ctx, "t.caps", text, strlen(text), &caps));
    assert_true(ctx->diags.list.n > 0);
    assert_int_equal(ctx->diags.list.at[0].code, code);
    assert_non_null(strstr(ctx->diags.list.at[0].text, part));
}

/* The record with one line put in the place of `key ..`, or added where key is NULL. */
static const char *edited(tw_context *ctx, const char *key, const char *line) {
    twi_caps caps;
    assert_true(twi_caps_named(ctx, "simt32", &caps));
    const char *text = printed(ctx, &caps);
    if (!key)
        return twi_format(&ctx->arena, "%s%s\n", text, line);
    const char *at = strstr(text, twi_format(&ctx->arena, "\n%s ", key)) + 1;
    return twi_format(&ctx->arena, "%.*s%s%s", (int)(at - text), text, line, strchr(at, '\n'));
}

static void faults(void **state) {
    tw_context *ctx = *state;
    refused(ctx, "", 680, "empty");
    refused(ctx, "lane 32\n", 680, "caps NAME");
    refused(ctx, edited(ctx, NULL, "warp 32"), 681, "'warp'");
    refused(ctx, edited(ctx, NULL, "lane 32"), 682, "'lane'");
    refused(ctx, edited(ctx, "lane", "lane many"), 683, "'lane'");
    refused(ctx, edited(ctx, "lane", "lane 32 32"), 683, "'lane'");
    refused(ctx, edited(ctx, "fma", "fma true"), 683, "yes or no");
    refused(ctx, edited(ctx, NULL, "dpi8 4"), 683, "yes or no");
    refused(ctx, edited(ctx, "op_ns", "op_ns 0 1 2"), 683, "four");
    refused(ctx, edited(ctx, "byte_ns", "byte_ns nan"), 683, "'byte_ns'");
    refused(ctx, edited(ctx, "shared", "# no shared"), 684, "'shared'");
    refused(ctx, edited(ctx, "lane", "lane 24"), 685, "power of two");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_are_files),
        cmocka_unit_test(records_are_read_again),
        cmocka_unit_test(what_records_say),
        cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
