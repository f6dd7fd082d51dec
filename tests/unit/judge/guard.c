/* SPDX-License-Identifier: Apache-2.0
 * Guarded arrays: elements go in and out by their strides, every byte beside them is watched, and
 * the pages around must not be touched. links: front oracle
 */
#include "judge/guard.h"

#include "judge/child.h"
#include "tilewright/program.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char program[] = "kernel copy(X: f32[R, W], out Y: f32[R, W]) {\n"
                              "    parallel r: R {\n"
                              "        axis w: W\n"
                              "        Y[r, w] = X[r, w]\n"
                              "    }\n"
                              "}\n";

/* The kernel at R x W. */
static const tw_ir *ir_of(tw_context *ctx, int64_t r, int64_t w) {
    tw_program *p = tw_program_parse(ctx, "copy.tile", program, strlen(program));
    assert_non_null(p);
    tw_ir *ir = tw_program_build(p, 0, NULL, 0);
    assert_non_null(ir);
    int64_t dims[8] = {0};
    for (uint32_t d = 1; d < ir->dim.n; d++)
        dims[d] = strcmp(twi_text(&ctx->names, ir->dim.at[d].name), "R") == 0 ? r : w;
    const tw_ir *spec = twi_ir_specialise(ir, &ctx->arena, dims);
    assert_non_null(spec);
    return spec;
}

static const struct {
    twi_placing placing;
    bool strided;
} kinds[] = {{TWI_AT_START, false}, {TWI_AT_END, false}, {TWI_AT_START, true}, {TWI_AT_END, true}};

static void round_trip(void **state) {
    tw_context *ctx = *state;
    const tw_ir *ir = ir_of(ctx, 3, 5);
    float in[15], out[15];
    for (int k = 0; k < 15; k++)
        in[k] = (float)k;
    for (size_t k = 0; k < 4; k++) {
        twi_guarded g;
        int64_t at;
        assert_true(twi_guard_make(&g, ir, 1, kinds[k].placing, kinds[k].strided));
        twi_guard_put(&g, in);
        twi_guard_get(&g, out);
        assert_memory_equal(in, out, sizeof in);
        assert_true(twi_guard_holds(&g, in));
        g.data[0]++;
        assert_false(twi_guard_holds(&g, in));
        twi_guard_put(&g, in);
        assert_true(twi_guard_intact(&g, &at));
        twi_guard_put(&g, NULL); /* poison is no value that was there */
        twi_guard_get(&g, out);
        for (int j = 0; j < 15; j++)
            assert_true(out[j] != in[j]);
        twi_guard_free(&g);
    }
}

/* A strided row ends in a gap of its own: the byte behind it is no element. */
static void between_rows(void **state) {
    tw_context *ctx = *state;
    twi_guarded g;
    int64_t at;
    assert_true(twi_guard_make(&g, ir_of(ctx, 3, 5), 1, TWI_AT_END, true));
    twi_guard_put(&g, NULL);
    for (int64_t e = 0; e < 2 * g.stride[0] + 2 * 4; e++) {
        const bool element = e % g.stride[0] % 2 == 0 && e % g.stride[0] < 10;
        char *byte = g.data + e * (int64_t)g.size + 3;
        const char kept = *byte;
        *byte = (char)(kept + 1);
        assert_int_equal(twi_guard_intact(&g, &at), element);
        assert_true(element || at == e);
        *byte = kept;
    }
    twi_guard_free(&g);
}

/* A byte written before, behind or between the elements is noticed. */
static void stray_bytes(void **state) {
    tw_context *ctx = *state;
    const tw_ir *ir = ir_of(ctx, 3, 5);
    for (size_t k = 0; k < 4; k++) {
        twi_guarded g;
        int64_t at;
        assert_true(twi_guard_make(&g, ir, 1, kinds[k].placing, kinds[k].strided));
        twi_guard_put(&g, NULL);
        char *beside = kinds[k].strided                   ? g.data + 4 /* between element 0 and 1 */
                       : kinds[k].placing == TWI_AT_START ? g.data + 60 /* right behind the last */
                                                          : g.data - 1;
        const char kept = *beside;
        *beside = (char)(kept + 1);
        assert_false(twi_guard_intact(&g, &at));
        assert_int_equal(at, kinds[k].strided ? 1 : kinds[k].placing == TWI_AT_START ? 15 : -1);
        *beside = kept;
        assert_true(twi_guard_intact(&g, &at));
        twi_guard_free(&g);
    }
}

typedef struct {
    volatile char *at;
} touch;
static void touch_it(void *user, int fd) {
    (void)fd;
    *((touch *)user)->at = 1;
}

static int touched(char *at) {
    touch t = {at};
    twi_child c;
    assert_true(twi_child_start(&c, true, touch_it, &t));
    return twi_child_wait(&c);
}

static void guard_pages(void **state) {
    tw_context *ctx = *state;
    const tw_ir *ir = ir_of(ctx, 3, 5);
    twi_guarded g;
    assert_true(twi_guard_make(&g, ir, 1, TWI_AT_END, false));
    assert_int_equal(touched(g.data + 59), 0); /* the last byte may be */
    int status = touched(g.data + 60);
    assert_true(WIFSIGNALED(status));
    twi_guard_free(&g);
    assert_true(twi_guard_make(&g, ir, 1, TWI_AT_START, false));
    assert_int_equal(touched(g.data), 0);
    status = touched(g.data - 1);
    assert_true(WIFSIGNALED(status));
    twi_guard_free(&g);
}

static void empty(void **state) {
    tw_context *ctx = *state;
    const tw_ir *ir = ir_of(ctx, 3, 0);
    int64_t at;
    for (size_t k = 0; k < 4; k++) {
        twi_guarded g;
        assert_true(twi_guard_make(&g, ir, 1, kinds[k].placing, kinds[k].strided));
        assert_int_equal(g.n, 0);
        twi_guard_put(&g, NULL);
        assert_true(twi_guard_intact(&g, &at));
        twi_guard_free(&g);
    }
}

static int make(void **state) { return (*state = tw_context_create(NULL)) ? 0 : 1; }
static int drop(void **state) {
    tw_context_destroy(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(round_trip, make, drop),
                                       cmocka_unit_test_setup_teardown(stray_bytes, make, drop),
                                       cmocka_unit_test_setup_teardown(between_rows, make, drop),
                                       cmocka_unit_test_setup_teardown(guard_pages, make, drop),
                                       cmocka_unit_test_setup_teardown(empty, make, drop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
