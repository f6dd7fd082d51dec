/* SPDX-License-Identifier: Apache-2.0
 * Whole files: kernels/ checks without a word, its cases name what the kernels declare, and each
 * file of tests/corpus/ comes to what its first line says, `# expect: ok` or the code that refuses
 * it. links: front
 */
#include "base/fs.h"
#include "front/ast.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef void (*visit)(const char *path, char *text, size_t n);

static bool ends(const char *name, const char *tail) {
    size_t n = strlen(name), m = strlen(tail);
    return n > m && strcmp(name + n - m, tail) == 0;
}

static size_t each(const char *folder, const char *tail, visit f) {
    DIR *d = opendir(folder);
    if (!d)
        fail_msg("no folder %s", folder);
    size_t count = 0;
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (!ends(e->d_name, tail))
            continue;
        tw_context *ctx = tw_context_create(NULL);
        char *path = twi_format(&ctx->arena, "%s/%s", folder, e->d_name), *text;
        size_t n;
        assert_int_equal(twi_read_file(&ctx->arena, path, &text, &n), 0);
        f(path, text, n);
        tw_context_destroy(ctx);
        count++;
    }
    closedir(d);
    return count;
}

static void clean(const char *path, char *text, size_t n) {
    tw_context *ctx = tw_context_create(NULL);
    tw_program *p = tw_program_parse(ctx, path, text, n);
    bool good = p && tw_program_check(p);
    if (!good || tw_diag_count(ctx))
        fail_msg("%s", tw_diag_text(ctx, false));
    tw_context_destroy(ctx);
}

static void expected(const char *path, char *text, size_t n) {
    static const char head[] = "# expect: ";
    if (strncmp(text, head, sizeof head - 1) != 0)
        fail_msg("%s: the first line says what to expect", path);
    const char *want = text + sizeof head - 1;
    if (strncmp(want, "ok\n", 3) == 0) {
        clean(path, text, n);
        return;
    }
    assert_true(want[0] == 'E' && want[5] == '\n');
    int code = atoi(want + 1);
    tw_context *ctx = tw_context_create(NULL);
    tw_program *p = tw_program_parse(ctx, path, text, n);
    bool good = p && tw_program_check(p);
    if (good || tw_diag_count(ctx) == 0)
        fail_msg("%s: nothing was refused", path);
    for (size_t k = 0; k < tw_diag_count(ctx); k++)
        if (tw_diag_get(ctx, k).severity == 0 && tw_diag_get(ctx, k).code != code)
            fail_msg("%s", tw_diag_text(ctx, false));
    tw_context_destroy(ctx);
}

static void test_corpus(void **state) {
    (void)state;
    assert_true(each(TW_SOURCE_DIR "/tests/corpus", ".tile", expected) >= 30);
}

static void test_kernels(void **state) {
    (void)state;
    assert_true(each(TW_SOURCE_DIR "/kernels", ".tile", clean) >= 12);
}

static const tw_decl *declared(const tw_program *p, const char *name) {
    for (size_t k = 0; k < tw_program_decls(p, 0); k++)
        if (strcmp(tw_program_decl(p, 0, k)->name, name) == 0)
            return tw_program_decl(p, 0, k);
    return NULL;
}

/* A type, constant or param: of its set, or any where it has a default. */
static bool chosen(const tw_decl *d, const char *value) {
    bool found = d->open;
    for (size_t k = 0; k < d->choices; k++)
        found = found || strcmp(d->choice[k], value) == 0;
    return found;
}

/* One line 'R=17 W=257 T=f32 # why': every dim once, numbers; scalars without default too; choices
 * of the case's own. */
static void case_line(const tw_program *p, const char *path, char *line) {
    size_t given = 0, wanted = 0;
    line[strcspn(line, "#")] = '\0';
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
        char *equal = strchr(word, '=');
        double v = -1;
        if (!equal)
            fail_msg("%s: '%s' is no binding", path, word);
        *equal = '\0';
        const tw_decl *d = declared(p, word);
        const bool number = d && (d->kind == TW_DECL_DIM || d->kind == TW_DECL_SCALAR);
        if (!d || (number ? !twi_parse_f64(equal + 1, strlen(equal + 1), &v) || v < 0
                          : !chosen(d, equal + 1)))
            fail_msg("%s: %s = %s", path, word, equal + 1);
        given += number;
    }
    for (size_t k = 0; k < tw_program_decls(p, 0); k++) {
        const tw_decl *d = tw_program_decl(p, 0, k);
        wanted += d->kind == TW_DECL_DIM || (d->kind == TW_DECL_SCALAR && !d->has_default);
    }
    assert_int_equal(given, wanted);
}

static void cases(const char *path, char *text, size_t n) {
    tw_context *ctx = tw_context_create(NULL);
    char *tile = twi_format(&ctx->arena, "%.*s.tile", (int)(strlen(path) - strlen(".cases")), path),
         *source;
    size_t size, lines = 0, zero = 0;
    assert_int_equal(twi_read_file(&ctx->arena, tile, &source, &size), 0);
    tw_program *p = tw_program_parse(ctx, tile, source, size);
    assert_non_null(p);
    assert_true(n > 0 && text[n - 1] == '\n');
    for (char *line = text; *line; lines++) {
        char *end = strchr(line, '\n');
        *end = '\0';
        zero += strstr(line, "=0 ") || ends(line, "=0");
        case_line(p, path, line);
        line = end + 1;
    }
    assert_in_range(lines, 6, 15);
    assert_true(zero >= 2);
    tw_context_destroy(ctx);
}

static void test_cases(void **state) {
    (void)state;
    assert_true(each(TW_SOURCE_DIR "/kernels", ".cases", cases) >= 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_corpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
