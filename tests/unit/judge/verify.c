/* SPDX-License-Identifier: Apache-2.0
 * verify: right plans pass; a plan that hangs, crashes, writes beside its arrays or not at all is a
 * row that says so, and the others are judged all the same. links: front oracle
 */
#include "base/context.h"
#include "judge/row.h"
#include "tilewright/tilewright.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char program[] = "kernel total(X: f32[R, W], out Y: f32[R]) {\n"
                              "    parallel r: R {\n"
                              "        axis w: W\n"
                              "        Y[r] = sum[w](X[r, w])\n"
                              "    }\n"
                              "}\n";
static const tw_dim_value dims[] = {{"R", 3}, {"W", 37}};

typedef struct {
    size_t rows, failed;
    char verdict[64][16], plan[64][20];
} told;

static void take(void *user, const tw_verify_row *row) {
    told *t = user;
    assert_true(t->rows < 64);
    (void)strncpy(t->verdict[t->rows], row->verdict, 15);
    (void)strncpy(t->plan[t->rows], row->plan, 19);
    assert_string_equal(row->kernel, "total");
    t->failed += row->failed;
    t->rows++;
}

static tw_ir *ir_of(tw_context *ctx) {
    tw_program *p = tw_program_parse(ctx, "total.tile", program, strlen(program));
    assert_non_null(p);
    tw_ir *ir = tw_program_build(p, 0, NULL, 0);
    assert_non_null(ir);
    return ir;
}

/* Loop IR of the default plan, the context's. */
static const char *loop_of(tw_context *ctx, const tw_ir *ir, const char *pin) {
    tw_compile_options o = tw_compile_options_defaults();
    tw_compiled *c;
    o.dims = dims;
    o.n_dims = 2;
    o.build = false;
    o.until = TW_STAGE_LOOP;
    o.pins = &pin;
    o.n_pins = pin != NULL;
    assert_int_equal(tw_compile(ctx, ir, &o, &c), TW_OK);
    const char *text = tw_compiled_text(c, TW_STAGE_LOOP);
    tw_source s = {"loop", text, strlen(text)};
    char *copy = test_malloc(s.n + 1);
    memcpy(copy, text, s.n + 1);
    tw_compiled_release(c);
    return copy;
}

/* The text with the first `from` made `to`. */
static char *edited(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    assert_non_null(at);
    char *out = test_malloc(strlen(text) + strlen(to) + 1);
    memcpy(out, text, (size_t)(at - text));
    strcpy(out + (at - text), to);
    strcat(out, at + strlen(from));
    return out;
}

static tw_verify_case case_of(const tw_ir *ir) {
    return (tw_verify_case){.ir = ir, .types = "", .text = "R=3 W=37", .dims = dims, .n_dims = 2};
}

static void right_plans(void **state) {
    tw_context *ctx = *state;
    told t = {0};
    tw_verify_case c = case_of(ir_of(ctx));
    c.default_plan = true;
    c.seed = 1;
    c.random_plans = 3;
    assert_int_equal(tw_verify(ctx, &c, 1, NULL, take, &t), TW_OK);
    assert_int_equal(t.failed, 0);
    assert_true(t.rows >= 10 && t.rows % 5 == 0); /* five fixtures, at least two different plans */
}

static void targets(void **state) {
    static const char *const names[] = {"interp", "interp:simt4", "ref"};
    tw_context *ctx = *state;
    for (size_t k = 0; k < 3; k++) {
        told t = {0};
        tw_verify_case c = case_of(ir_of(ctx));
        tw_verify_options o = tw_verify_options_defaults();
        o.target = names[k];
        c.default_plan = true;
        assert_int_equal(tw_verify(ctx, &c, 1, &o, take, &t), TW_OK);
        assert_int_equal(t.rows, 5);
    }
}

/* Between two right plans: one that writes nothing, one that never ends, one that reads where it
 * must not. */
static void broken_plans(void **state) {
    tw_context *ctx = *state;
    told t = {0};
    const tw_ir *ir = ir_of(ctx);
    const char *right = loop_of(ctx, ir, "frame f: r = grid 3 ; w = loop 37");
    char *silent = test_malloc(strlen(right) + 1),
         *endless = edited(right, "0 .. 37", "0 .. 4000000000000000000");
    *silent = 0;
    for (const char *at = right; *at;) {
        const size_t n = strcspn(at, "\n") + 1;
        char line[512] = "";
        assert_true(n < sizeof line);
        memcpy(line, at, n);
        if (!strstr(line, "store Y["))
            strcat(silent, line);
        at += n;
    }
    const char *past =
        tw_loop_mutate(ctx, (tw_source){"loop", right, strlen(right)}, "write-past", 0);
    assert_non_null(past);
    const tw_source loops[] = {{"right", right, strlen(right)},
                               {"silent", silent, strlen(silent)},
                               {"endless", endless, strlen(endless)},
                               {"past", past, strlen(past)},
                               {"again", right, strlen(right)}};
    tw_verify_case c = case_of(ir);
    tw_verify_options o = tw_verify_options_defaults();
    c.loops = loops;
    c.n_loops = 5;
    o.fixture = "normal";
    o.run_limit_ms = 500;
    assert_int_equal(tw_verify(ctx, &c, 1, &o, take, &t), TW_ERR_WRONG);
    assert_int_equal(t.rows, 5);
    assert_string_equal(t.verdict[0], "right");
    assert_string_equal(t.verdict[1], "wrong");
    /* reading far past its row ends in a guard page before the limit does, or in the limit */
    assert_true(strcmp(t.verdict[2], "timeout") == 0 || strcmp(t.verdict[2], "crashed") == 0);
    assert_true(strcmp(t.verdict[3], "stray") == 0 || strcmp(t.verdict[3], "crashed") == 0);
    assert_string_equal(t.verdict[4], "right");
    assert_int_equal(t.failed, 3);
    test_free((void *)(uintptr_t)right);
    test_free(silent);
    test_free(endless);
}

/* OpenCL's drivers start and compile at the first launch: that is not the plan's time. */
static void late_compiler(void **state) {
    tw_context *ctx = *state;
    told t = {0};
    tw_verify_case c = case_of(ir_of(ctx));
    tw_verify_options o = tw_verify_options_defaults();
    c.default_plan = true;
    o.target = "opencl";
    o.fixture = "normal";
    o.run_limit_ms = 1;
    assert_int_equal(tw_verify(ctx, &c, 1, &o, take, &t), TW_OK);
    assert_string_equal(t.verdict[0], "right");
}

static void no_compiler(void **state) {
    (void)state;
    told t = {0};
    assert_int_equal(setenv("TILEWRIGHT_CC", "/no/such/compiler", 1), 0);
    tw_context *ctx = tw_context_create(NULL);
    assert_int_equal(unsetenv("TILEWRIGHT_CC"), 0);
    tw_verify_case c = case_of(ir_of(ctx));
    c.default_plan = true;
    assert_int_equal(tw_verify(ctx, &c, 1, NULL, take, &t), TW_ERR_WRONG);
    assert_string_equal(t.verdict[0], "refused");
    tw_context_destroy(ctx);
}

static void rows_travel(void **state) {
    tw_context *ctx = *state;
    twi_sb sb;
    twi_sb_init(&sb, &ctx->arena);
    const tw_verify_row in = {.kernel = "k",
                              .types = "",
                              .text = "a\x1f"
                                      "b",
                              .target = "t",
                              .plan = "p",
                              .how = "h",
                              .fixture = "f",
                              .source = "s",
                              .depth = 7,
                              .worst_over_bound = 0.1,
                              .element = "Y[1]",
                              .got = "1",
                              .want = "2",
                              .bound = "b",
                              .undecided = -1,
                              .elements = INT64_MAX,
                              .covered = 3,
                              .verdict = "wrong",
                              .note = "n",
                              .failed = true};
    twi_row_print(&in, &sb);
    twi_row_print(&in, &sb);
    char *at = sb.at, *end = sb.at + sb.n;
    tw_verify_row out;
    for (int k = 0; k < 2; k++) {
        assert_true(twi_row_parse(&at, end, &out));
        assert_string_equal(out.text, "a b"); /* no separator survives in a field */
        assert_string_equal(out.verdict, "wrong");
        assert_true(out.worst_over_bound == 0.1 && out.undecided == -1 &&
                    out.elements == INT64_MAX && out.failed);
        assert_int_equal(out.depth, 7);
    }
    assert_false(twi_row_parse(&at, end, &out));
}

static int make(void **state) { return (*state = tw_context_create(NULL)) ? 0 : 1; }
static int drop(void **state) {
    tw_context_destroy(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(right_plans, make, drop),
                                       cmocka_unit_test_setup_teardown(targets, make, drop),
                                       cmocka_unit_test_setup_teardown(broken_plans, make, drop),
                                       cmocka_unit_test_setup_teardown(late_compiler, make, drop),
                                       cmocka_unit_test(no_compiler),
                                       cmocka_unit_test_setup_teardown(rows_travel, make, drop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
