/* SPDX-License-Identifier: Apache-2.0
 * The examples of docs/language.md are what they say: a fence "tile" checks without a word, a fence
 * "tile E0143" is refused with that code and no other. The page lists all that the front end
 * refuses as not built. links: front
 */
#include "base/fs.h"
#include "front/ast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void fence(const char *text, size_t n, int code) {
    tw_context *ctx = tw_context_create(NULL);
    tw_program *p = tw_program_parse(ctx, "docs/language.md", text, n);
    bool good = p && tw_program_check(p);
    if (good != (code == 0) || (good && tw_diag_count(ctx)))
        fail_msg("%.*s\n%s", (int)n, text, tw_diag_text(ctx, false));
    for (size_t k = 0; k < tw_diag_count(ctx); k++)
        if (tw_diag_get(ctx, k).severity == 0 && tw_diag_get(ctx, k).code != code)
            fail_msg("E%04d expected\n%s", code, tw_diag_text(ctx, false));
    tw_context_destroy(ctx);
}

static void page(tw_context *ctx, char **text) {
    size_t n;
    assert_int_equal(twi_read_file(&ctx->arena, TW_SOURCE_DIR "/docs/language.md", text, &n), 0);
}

static void test_fences(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    size_t clean = 0, refused = 0;
    char *text;
    page(ctx, &text);
    for (char *at = strstr(text, "```tile"); at; at = strstr(at, "```tile")) {
        char *line = strchr(at, '\n') + 1, *end = strstr(line, "\n```");
        assert_non_null(end);
        int code = strncmp(at, "```tile E", 9) == 0 ? atoi(at + 9) : 0;
        assert_true(code || at[7] == '\n');
        fence(line, (size_t)(end + 1 - line), code);
        clean += code == 0;
        refused += code != 0;
        at = end + 4;
    }
    assert_true(clean >= 5 && refused >= 4);
    tw_context_destroy(ctx);
}

static void test_all_later_words_are_listed(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    char *text;
    page(ctx, &text);
    const char *list = strstr(text, "## Not built yet"), *built = strstr(text, "## Operations");
    assert_non_null(list);
    assert_non_null(built);
    for (size_t k = 0; k < twi_words(); k++) {
        const twi_word *w = twi_word_at(k);
        bool later =
            w->kind == TWI_W_LATER || (w->kind == TWI_W_TYPE && !twi_elem_built((tw_elem)w->value));
        if (later && !strstr(list, w->name))
            fail_msg("%s is not in the list of what is not built yet", w->name);
        if (!later && w->kind != TWI_W_TYPE && !strstr(built, w->name))
            fail_msg("%s is not in the table of operations", w->name);
    }
    tw_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fences),
        cmocka_unit_test(test_all_later_words_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
