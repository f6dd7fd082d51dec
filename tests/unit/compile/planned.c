/* SPDX-License-Identifier: Apache-2.0
 * Default plans that a context remembers: taken where all is as it was, searched for where anything
 * that they depend on is not, and believed only as far as they are legal. links: front
 */
#include "caps/costs.h"
#include "compile/path.h"
#include "tilewright/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char program[] = "kernel total[T in {f32, f16}](X: T[R, W], out Y: T[R]) {\n"
                              "    parallel r: R {\n"
                              "        axis w: W\n"
                              "        Y[r] = sum[w](X[r, w])\n"
                              "    }\n"
                              "}\n";

typedef struct {
    tw_context *ctx;
    tw_compile_options o;
    const char *type;
    tw_dim_value dims[2];
    const char *pin;
} job;

static int make(void **state) {
    job *j = calloc(1, sizeof *j);
    *j = (job){.ctx = tw_context_create(NULL),
               .o = tw_compile_options_defaults(),
               .type = "f32",
               .dims = {{"R", 16}, {"W", 300}}};
    j->o.dims = j->dims;
    j->o.n_dims = 2;
    j->o.build = false;
    j->o.target = "cpu-avx2";
    *state = j;
    return 0;
}

static int drop(void **state) {
    job *j = *state;
    tw_context_destroy(j->ctx);
    free(j);
    return 0;
}

/* Of the plan's text. */
static uint64_t compile(job *j) {
    const tw_binding types[] = {{"T", j->type}};
    tw_program *p = tw_program_parse(j->ctx, "total.tile", program, strlen(program));
    tw_ir *ir = tw_program_build(p, 0, types, 1);
    tw_compiled *c;
    assert_int_equal(tw_compile(j->ctx, ir, &j->o, &c), TW_OK);
    const uint64_t hash = tw_compiled_plan_hash(c);
    tw_compiled_release(c);
    return hash;
}

/* What is remembered is what a compilation takes, if it is a legal plan. */
static void taken_if_legal(void **state) {
    job *j = *state;
    twi_notes *notes = &j->ctx->planned;
    const char *other = "plan total/0 target=cpu-avx2 isa=avx2 class=free spec T=f32 R=16 W=300\n"
                        "frame f: r = grid 16 ; w = loop 300\n"
                        "entry main\n";
    static const char *const useless[] = {
        "", "nonsense", "plan total/0 class=free\nframe f: r = grid 15 ; w = loop 300\n"};
    const uint64_t best = compile(j);
    assert_int_equal(notes->n, 1);
    assert_int_equal(compile(j), best);
    assert_int_equal(notes->n, 1);
    notes->at[0].text = other;
    const uint64_t taken = compile(j);
    assert_int_not_equal(taken, best);
    assert_int_equal(compile(j), taken);
    for (size_t k = 0; k < sizeof useless / sizeof useless[0]; k++) {
        notes->n = 1;
        notes->at[0].text = useless[k];
        assert_int_equal(compile(j), best);
        assert_int_equal(tw_diag_count(j->ctx), 0);
    }
}

/* One more search, and none when it is asked again. */
static void assert_new(job *j) {
    const unsigned n = j->ctx->planned.n;
    const uint64_t plan = compile(j);
    assert_int_equal(j->ctx->planned.n, n + 1);
    assert_int_equal(compile(j), plan);
    assert_int_equal(j->ctx->planned.n, n + 1);
}

static void by_all_that_counts(void **state) {
    job *j = *state;
    static const char *const pins[] = {"workers=1", "isa=avx2"};
    assert_new(j);
    j->dims[1].value = 301;
    assert_new(j);
    j->type = "f16";
    assert_new(j);
    j->o.canonical = true;
    assert_new(j);
    j->o.strided = true;
    assert_new(j);
    j->o.pins = pins;
    j->o.n_pins = 1;
    assert_new(j);
    j->o.n_pins = 2;
    assert_new(j);
    j->o.target = "sm_90a";
    j->o.n_pins = 0;
    assert_new(j);
    j->o.model = "reversed";
    assert_new(j);
    /* neither what else is made of it nor, where there are no threads, how many calls have */
    const unsigned n = j->ctx->planned.n;
    j->o.threads = 3;
    j->o.until = TW_STAGE_PLAN;
    (void)compile(j);
    assert_int_equal(j->ctx->planned.n, n);
    /* a plan that was asked for by name or text is not the default */
    j->o.plan = "random:1";
    (void)compile(j);
    assert_int_equal(j->ctx->planned.n, n);
}

/* Forms of a program, which its text does not show: joined axes come back with the plan. */
static void forms_too(void **state) {
    job *j = *state;
    static const char rows[] = "kernel half(X: f32[R, W], out Y: f32[R, W]) {\n"
                               "    parallel r: R {\n"
                               "        axis w: W\n"
                               "        Y[r, w] = X[r, w] * 0.5\n"
                               "    }\n"
                               "}\n";
    tw_compiled *c[2];
    j->dims[0].value = 100;
    j->dims[1].value = 33;
    tw_program *p = tw_program_parse(j->ctx, "half.tile", rows, strlen(rows));
    uint32_t files[2];
    for (unsigned k = 0; k < 2; k++) {
        assert_int_equal(tw_compile(j->ctx, tw_program_build(p, 0, NULL, 0), &j->o, &c[k]), TW_OK);
        files[k] = j->ctx->diags.files.n;
    }
    assert_int_equal(j->ctx->planned.n, 1);
    assert_int_equal(files[1], files[0]); /* no texts pile up */
    assert_non_null(strstr(tw_compiled_text(c[0], TW_STAGE_PLAN), "join"));
    for (unsigned s = 0; s < TW_STAGES; s++)
        assert_string_equal(tw_compiled_text(c[0], (tw_stage)s),
                            tw_compiled_text(c[1], (tw_stage)s));
    tw_compiled_release(c[0]);
    tw_compiled_release(c[1]);
}

/* Units and measured prices are the machine's, not the name's. */
static void by_the_machine(void **state) {
    job *j = *state;
    double price[TWI_COSTS] = {0};
    const tw_binding types[] = {{"T", "f32"}};
    tw_program *program_of = tw_program_parse(j->ctx, "total.tile", program, strlen(program));
    tw_ir *ir = tw_program_build(program_of, 0, types, 1);
    twi_path p = {.ctx = j->ctx, .arena = &j->ctx->arena};
    const twi_wish wish = {NULL, 0};
    twi_why why;
    assert_true(twi_where_of(j->ctx, &j->o, &p.where) && twi_path_specialise(&p, ir, &j->o) &&
                twi_path_class(&p, false, false));
    const tw_ir *spec = p.ir;
    for (unsigned n = 1; n <= 4; n++) {
        p.caps = NULL; /* another machine's */
        p.where.caps.units = n == 2 ? 7 : 2;
        p.where.caps.fitted = n > 2 ? price : NULL;
        price[TWI_COST_TRIP] = n;
        for (unsigned twice = 0; twice < 2; twice++) {
            p.ir = spec;
            assert_true(twi_path_default(&p, &wish, &why));
            assert_int_equal(j->ctx->planned.n, n);
        }
    }
}

/* Calls of few threads leave cores alone: plans are made for those that they use. Where there are
 * no threads, the number says nothing. */
static void by_the_threads(void **state) {
    job *j = *state;
    static const struct {
        int threads;
        uint32_t units;
    } row[] = {{0, 4}, {1, 1}, {3, 3}, {4, 4}, {9, 4}};
    twi_where where;
    assert_true(twi_where_of(j->ctx, &j->o, &where));
    where.caps.units = 4;
    const char *caps = twi_caps_text(j->ctx, &where.caps);
    j->o.caps = (tw_source){"four.caps", caps, strlen(caps)};
    j->dims[0].value = 1;
    (void)compile(j);
    for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
        j->o.threads = row[k].threads;
        assert_true(twi_where_of(j->ctx, &j->o, &where));
        assert_int_equal(twi_where_shared(&where).units, row[k].units);
        assert_int_equal(where.caps.units, 4);
        (void)compile(j);
    }
    assert_int_equal(j->ctx->planned.n, 1 + 2); /* for 1 and 3; 4 and more are all */
    where.caps.family = TWI_FAMILY_SIMT;
    where.threads = 1;
    assert_int_equal(twi_where_shared(&where).units, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(taken_if_legal, make, drop),
        cmocka_unit_test_setup_teardown(by_the_threads, make, drop),
        cmocka_unit_test_setup_teardown(by_all_that_counts, make, drop),
        cmocka_unit_test_setup_teardown(forms_too, make, drop),
        cmocka_unit_test_setup_teardown(by_the_machine, make, drop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
