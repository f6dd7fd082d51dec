/* SPDX-License-Identifier: Apache-2.0
 * The emitted C of a row sum with two entries: readable text, the first entry a prefix, names of
 * users apart from those of C, no locale in it, accepted by gcc and clang without a warning.
 */
#include "emit/emit.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct {
    tw_context *ctx;
    tw_ir *ir;
} fixture;

static void add_array(tw_ir *ir, const char *name, twi_role role, int64_t rows, int64_t columns) {
    twi_array a = {.name = twi_intern_str(&ir->ctx->names, name),
                   .elem = TW_F32,
                   .rank = columns ? 2 : 1,
                   .role = (uint8_t)role};
    a.dim[0] = twi_ix_const(ir, rows);
    if (columns)
        a.dim[1] = twi_ix_const(ir, columns);
    twi_push(ir->arena, &ir->array, a);
}

static tw_ir *make_ir(tw_context *ctx, const char *kernel, const char *x, const char *y) {
    tw_ir *ir = TWI_NEW(&ctx->arena, tw_ir);
    ir->ctx = ctx;
    ir->arena = &ctx->arena;
    ir->specialised = ir->lifted = true;
    ir->kernel = twi_intern_str(&ctx->names, kernel);
    twi_push(ir->arena, &ir->ix, (twi_ix_node){0});
    twi_push(ir->arena, &ir->array, (twi_array){0});
    twi_push(ir->arena, &ir->scalar, (twi_scalar){0});
    twi_push(ir->arena, &ir->scalar,
             ((twi_scalar){.name = twi_intern_str(&ctx->names, "double"), .elem = TW_F32}));
    add_array(ir, x, TWI_IN, 10, 127);
    add_array(ir, y, TWI_OUT, 10, 0);
    return ir;
}

/* Rows of 127 in 7 whole vectors of 16 and one of 15, two accumulators; whole vectors alone where
 * they lie on their own boundary. */
static void row_sum(twi_loop *loop, const char *name, uint32_t entry, unsigned align) {
    tw_context *ctx = loop->ctx;
    twi_cursor c;
    const uint32_t f = twi_loop_func(loop, twi_intern_str(&ctx->names, name), entry, 0);
    loop->func.at[f].explicit_lanes = true;
    loop->func.at[f].lanes = 16;
    twi_cursor_init(&c, loop, f);
    const twi_object sums = {.name = twi_intern_str(&ctx->names, "s"),
                             .kind = TWI_OBJ_PRIVATE,
                             .elem = TW_F32,
                             .rank = 1,
                             .count = 16,
                             .extent = {2}};
    const uint32_t s = twi_lb_object(&c, &sums);
    const twi_lid r = twi_lb_leaf(&c, TWI_L_ID, TW_I64, 1, TWI_LV_GRID);
    const twi_lid none =
        twi_lb_splat(&c, twi_lb_bits(&c, TW_F32, 0x80000000u, TWI_FLAG_IDENTITY), 16);
    const twi_lid k2 = twi_lb_unroll(&c, 2);
    twi_lb_store(&c, (twi_laccess){.object = s}, &k2, none, 0);
    twi_lb_close(&c);
    const twi_lid a = twi_lb_for(&c, twi_lb_i64(&c, 0), twi_lb_i64(&c, 4), 1);
    const twi_lid u = twi_lb_unroll(&c, 2);
    const twi_lid w = twi_lb_op(&c, TWI_ADD, twi_lb_op(&c, TWI_MUL, a, twi_lb_i64(&c, 32), 0),
                                twi_lb_op(&c, TWI_MUL, u, twi_lb_i64(&c, 16), 0), 0);
    const twi_lid left = twi_lb_op(&c, TWI_SUB, twi_lb_i64(&c, 127), w, 0);
    const twi_lid at[] = {r, w};
    twi_laccess x = {.object = 1, .dim = 1, .align = (uint8_t)align};
    const twi_lid v = twi_lb_load(&c, x, at, 16, align < 64 ? left : 0, none);
    c.f->ins.at[v].name = twi_intern_str(&ctx->names, "while");
    const twi_lid sum =
        twi_lb_op(&c, TWI_ADD, twi_lb_load(&c, (twi_laccess){.object = s}, &u, 16, 0, 0), v, 0);
    twi_lb_store(&c, (twi_laccess){.object = s}, &u, sum, 0);
    twi_lb_close(&c);
    twi_lb_close(&c);
    const twi_lid zero = twi_lb_i64(&c, 0), one = twi_lb_i64(&c, 1);
    const twi_lid both =
        twi_lb_op(&c, TWI_ADD, twi_lb_load(&c, (twi_laccess){.object = s}, &zero, 16, 0, 0),
                  twi_lb_load(&c, (twi_laccess){.object = s}, &one, 16, 0, 0), 0);
    const twi_lid scale = twi_lb_leaf(&c, TWI_L_LSCALAR, TW_F32, 1, 1);
    const twi_lid total =
        twi_lb_op(&c, TWI_MUL, twi_lb_lane_fold(&c, TWI_ADD, both, 0, 4), scale, 0);
    const twi_lid scaled =
        twi_lb_op(&c, TWI_MUL, total, twi_lb_bits(&c, TW_F32, 0x3dcccccdu, 0), 0);
    twi_lb_store(&c, (twi_laccess){.object = 2}, &r, scaled, 0);
}

static twi_loop *make_loop(tw_ir *ir, unsigned entries) {
    twi_loop *loop = twi_loop_new(ir->arena, ir, 0);
    for (unsigned e = 0; e < entries; e++) {
        twi_entry entry = {.name = twi_intern_str(&ir->ctx->names, e ? "aligned16" : "main")};
        twi_push(ir->arena, &loop->entry, entry);
        row_sum(loop, e ? "row_sum_aligned16" : "row_sum_main", e, e ? 16 : 0);
    }
    return loop;
}

static const char *emit(twi_loop *loop, size_t *n) {
    twi_sb out;
    twi_sb_init(&out, &loop->ctx->arena);
    twi_emit(loop, &twi_dialect_c, &out);
    *n = out.n;
    return twi_sb_text(&out);
}

static int start(void **state) {
    fixture *f = malloc(sizeof *f);
    f->ctx = tw_context_create(NULL);
    f->ir = make_ir(f->ctx, "row_sum", "restrict", "array");
    *state = f;
    return 0;
}

static int stop(void **state) {
    tw_context_destroy(((fixture *)*state)->ctx);
    free(*state);
    return 0;
}

static void reads_well(void **state) {
    const fixture *f = *state;
    size_t n;
    const char *text = emit(make_loop(f->ir, 2), &n);
    static const char *const lines[] = {
        "void K_row_sum_main(",
        "const float *restrict const a_restrict = array[1];",
        "for (long long group = lo; group < hi; group++) {",
        "f32x16 p_s[2];",
        "tw_loadn_f32x16(a_restrict + group * 127 + ",
        "p_s[u",
        "a_array[group] = ",
        "0x1.99999ap-4f",
        "(-0.0f)",
        "void K_row_sum_aligned16(",
    };
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (!strstr(text, lines[i]))
            print_error("not in the source: %s\n%s", lines[i], text);
        assert_non_null(strstr(text, lines[i]));
    }
    assert_null(strstr(text, "tw_not_spoken"));
}

static void main_is_a_prefix(void **state) {
    const fixture *f = *state;
    size_t one, two;
    const char *alone = emit(make_loop(f->ir, 1), &one);
    const char *both = emit(make_loop(f->ir, 2), &two);
    assert_true(one < two);
    assert_memory_equal(alone, both, one);
}

static unsigned count(const char *text, const char *part) {
    unsigned n = 0;
    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

/* What is asked for ahead is a place: lanes that lie apart (a column here) have none. */
static void asks_ahead_for_one_place(void **state) {
    const fixture *f = *state;
    for (unsigned dim = 0; dim < 2; dim++) {
        twi_loop *loop = make_loop(f->ir, 1);
        twi_cursor c;
        loop->func.n = 0;
        const uint32_t k = twi_loop_func(loop, twi_intern_str(&f->ctx->names, "column_main"), 0, 0);
        loop->func.at[k].explicit_lanes = true;
        loop->func.at[k].lanes = 8;
        twi_cursor_init(&c, loop, k);
        const twi_lid zero = twi_lb_i64(&c, 0), at[] = {zero, zero};
        const twi_laccess x = {.object = 1, .dim = (uint8_t)dim, .ahead = 64};
        const twi_lid v = twi_lb_load(&c, x, at, 8, 0, 0);
        twi_lb_store(&c, (twi_laccess){.object = 2}, &zero, v, 0);
        size_t n;
        assert_int_equal(count(emit(loop, &n), "prefetch"), dim);
    }
}

/* A vector of 64 bytes is no better off on a boundary of 16: the second entry calls the first. What
 * is read otherwise (whole vectors) has a body. */
static void like_entries_share_a_body(void **state) {
    const fixture *f = *state;
    static const struct { unsigned align, bodies; } row[] = {{16, 1}, {64, 2}};
    for (unsigned i = 0; i < 2; i++) {
        twi_loop *loop = make_loop(f->ir, 1);
        twi_push(f->ir->arena, &loop->entry,
                 ((twi_entry){.name = twi_intern_str(&f->ctx->names, "aligned")}));
        row_sum(loop, "row_sum_aligned", 1, row[i].align);
        size_t n;
        const char *text = emit(loop, &n);
        assert_int_equal(count(text, "for (long long group"), row[i].bodies);
        assert_int_equal(count(text, "    K_row_sum_main(array, "), 2 - row[i].bodies);
    }
}

static void same_under_any_locale(void **state) {
    const fixture *f = *state;
    size_t one, two;
    const char *before = emit(make_loop(f->ir, 2), &one);
    assert_int_equal(setenv("LOCPATH", TW_BINARY_DIR "/locale", 1), 0);
    assert_non_null(setlocale(LC_ALL, "de_DE.UTF-8"));
    assert_string_equal(localeconv()->decimal_point, ",");
    const char *after = emit(make_loop(f->ir, 2), &two);
    (void)setlocale(LC_ALL, "C");
    assert_string_equal(before, after);
}

/* Names are the only difference between a kernel and its renamed twin. */
static void renaming_renames(void **state) {
    const fixture *f = *state;
    size_t n, m;
    const char *text = emit(make_loop(make_ir(f->ctx, "row_sum", "qqq", "zzz"), 2), &n);
    const char *other = emit(make_loop(make_ir(f->ctx, "row_sum", "vvv", "www"), 2), &m);
    char *renamed = twi_strdup(&f->ctx->arena, other);
    for (char *at = renamed; (at = strstr(at, "a_vvv")); at++)
        memcpy(at, "a_qqq", 5);
    for (char *at = renamed; (at = strstr(at, "a_www")); at++)
        memcpy(at, "a_zzz", 5);
    assert_string_equal(text, renamed);
}

static bool is_x86(void) {
    struct utsname name;
    return uname(&name) == 0 && strcmp(name.machine, "x86_64") == 0;
}

static void compiles_without_warnings(void **state) {
    const fixture *f = *state;
    static const char *const compilers[] = {"gcc", "clang"};
    static const char *const machines[] = {"", "-march=x86-64-v3", "-march=x86-64-v4"};
    char path[] = "/tmp/tw-emit-XXXXXX", command[512];
    size_t n;
    unsigned tried = 0;
    const char *text = emit(make_loop(f->ir, 2), &n);
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, n), n);
    assert_int_equal(close(fd), 0);
    for (unsigned c = 0; c < 2; c++) {
        (void)snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", compilers[c]);
        if (system(command) != 0)
            continue;
        for (unsigned m = 0; m < (is_x86() ? 3u : 1u); m++, tried++) {
            (void)snprintf(command, sizeof command,
                           "%s -x c -std=gnu11 -O2 -Wall -Wextra -Werror %s -S -o /dev/null %s",
                           compilers[c], machines[m], path);
            if (system(command) != 0) {
                print_error("%s\n", command);
                fail();
            }
        }
    }
    (void)unlink(path);
    assert_true(tried > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_well, start, stop),
        cmocka_unit_test_setup_teardown(main_is_a_prefix, start, stop),
        cmocka_unit_test_setup_teardown(asks_ahead_for_one_place, start, stop),
        cmocka_unit_test_setup_teardown(like_entries_share_a_body, start, stop),
        cmocka_unit_test_setup_teardown(same_under_any_locale, start, stop),
        cmocka_unit_test_setup_teardown(renaming_renames, start, stop),
        cmocka_unit_test_setup_teardown(compiles_without_warnings, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
