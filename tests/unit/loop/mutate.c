/* SPDX-License-Identifier: Apache-2.0
 * Every kind of planted fault, at every place of two kernels: the run reports a fault or gives
 * other values (which ones are known to stay right is said here); without it all is well.
 */
#include "support.h"

#include "loop/legalize.h"
#include "loop/mutate.h"

/* Y = X + X, Z[r] = sum of X[r, ..] by vectors of 8; a tail of 4. */
static const char lanes[] = "loop k target cpu\n"
                            "argument 1 X in f32[3, 100]\n"
                            "argument 2 Y out f32[3, 100]\n"
                            "argument 3 Z out f32[3]\n"
                            "entry main {\n"
                            "  launch k_main grid 3\n"
                            "}\n"
                            "func k_main entry 0 scope 0 explicit lanes 8 subs 1 {\n"
                            "  array X = 1 f32[3, 100] stride [100, 1]\n"
                            "  array Y = 2 f32[3, 100] stride [100, 1]\n"
                            "  array Z = 3 f32[3] stride [1]\n"
                            "  private s f32x8[] stride []\n"
                            "  %1 = id grid\n"
                            "  %2 = const -0 identity : f32x8\n"
                            "  store s[] = %2\n"
                            "  for %3 in 0 .. 13 {\n"
                            "    %4 = mul %3, 8\n"
                            "    %5 = sub 100, %4\n"
                            "    %x6 = load X[%1, %4] first %5 else %2 : f32x8\n"
                            "    %7 = add %x6, %x6 : f32x8\n"
                            "    store Y[%1, %4] = %7 first %5\n"
                            "    %8 = load s[] : f32x8\n"
                            "    %9 = add %8, %x6 fold 5 : f32x8\n"
                            "    store s[] = %9\n"
                            "  }\n"
                            "  %10 = load s[] : f32x8\n"
                            "  %11 = lane_fold add %10 stride 1 extent 8 fold 5 : f32\n"
                            "  store Z[%1] = %11\n"
                            "}\n";

/* Y = running sums of X over each row's first 4, in lanes; Z takes the rows' last ones, atomically.
 */
static const char running[] = "loop k target simt4\n"
                              "argument 1 X in f32[3, 4]\n"
                              "argument 2 Y out f32[3, 4]\n"
                              "argument 3 Z out f32[1] = 1\n"
                              "entry main {\n"
                              "  fill Z\n"
                              "  launch k_main grid 3\n"
                              "}\n"
                              "func k_main entry 0 scope 0 implicit lanes 4 subs 1 {\n"
                              "  array X = 1 f32[3, 4] stride [4, 1]\n"
                              "  array Y = 2 f32[3, 4] stride [4, 1]\n"
                              "  array Z = 3 f32[1] stride [1]\n"
                              "  %1 = id grid\n"
                              "  %2 = id lane\n"
                              "  %3 = load X[%1, %2] : f32\n"
                              "  %4 = lane_shift %3 by 1 : f32\n"
                              "  %5 = add %4, %3 fold 5 : f32\n"
                              "  %6 = ge %2, 1 : bool\n"
                              "  %7 = select %6, %5, %3 : f32\n"
                              "  %8 = lane_shift %7 by 2 : f32\n"
                              "  %9 = add %8, %7 fold 5 : f32\n"
                              "  %10 = ge %2, 2 : bool\n"
                              "  %11 = select %10, %9, %7 : f32\n"
                              "  store Y[%1, %2] = %11\n"
                              "  %12 = eq %2, 3 : bool\n"
                              "  store Z[0] add= %11 where %12\n"
                              "}\n";

typedef struct {
    const char *text;
    size_t n[2]; /* elements of the outputs */
} subject;

static const subject subjects[] = {
    {two_folds, {3, 3}}, {lanes, {300, 3}}, {running, {12, 1}}, {beside, {24, 24}}};

static float x[3 * 101], want[2][300], got[2][300];

static twi_interp_result run(bench *b, const twi_loop *loop, float (*out)[300]) {
    for (size_t k = 0; k < 300; k++)
        x[k] = (float)((int)(k * 37 % 101) - 150); /* -150 .. -50: sums exact in f32, not in bf16 */
    void *data[] = {x, out[0], out[1]};
    return run_loop(b, loop, data, NULL);
}

static bool noticed(bench *b, const subject *s, const twi_loop *loop, twi_fault_kind *fault) {
    memset(got, 0xff, sizeof got);
    twi_interp_result r = run(b, loop, got);
    *fault = r.fault.kind;
    return r.fault.kind != TWI_FAULT_NONE ||
           memcmp(got[0], want[0], s->n[0] * sizeof(float)) != 0 ||
           memcmp(got[1], want[1], s->n[1] * sizeof(float)) != 0;
}

static void planted(void **state) {
    bench *b = *state;
    unsigned places[TWI_MUTATIONS] = {0};
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
        const subject *s = &subjects[k];
        twi_loop *loop = read_loop(b, s->text);
        if (!twi_loop_verify(loop))
            fail_msg("%s", tw_diag_text(b->ctx, false));
        twi_interp_result r = run(b, loop, want);
        clean(&r);
        const char *before = text_of(b, loop);
        for (unsigned kind = 0; kind < TWI_MUTATIONS; kind++) {
            unsigned n = twi_mutation_places(loop, kind);
            places[kind] += n;
            for (unsigned place = 0; place < n; place++) {
                twi_loop *mutant = NULL;
                twi_fault_kind fault;
                assert_true(twi_mutate(loop, kind, place, &b->ctx->arena, &mutant));
                assert_true(strcmp(text_of(b, mutant), before) != 0);
                const char *once = text_of(b, mutant);
                assert_string_equal(text_of(b, read_loop(b, once)), once);
                if (!noticed(b, s, mutant, &fault))
                    fail_msg("%s, place %u of subject %zu: not noticed\n%s",
                             twi_mutation_name(kind), place, k, once);
                if (kind == TWI_MUTATE_DROP_BARRIER || kind == TWI_MUTATE_DROP_WAIT)
                    assert_int_equal(fault, TWI_FAULT_RACE);
                if (kind == TWI_MUTATE_WRITE_PAST || kind == TWI_MUTATE_READ_PAST)
                    assert_int_equal(fault, TWI_FAULT_OUTSIDE);
                if (kind == TWI_MUTATE_SKIP_STORE && s->text != running) /* Z was filled */
                    assert_int_equal(fault, TWI_FAULT_MISSING);
            }
            twi_loop *none;
            assert_false(twi_mutate(loop, kind, n, &b->ctx->arena, &none));
        }
        assert_string_equal(text_of(b, loop), before);
    }
    for (unsigned kind = 0; kind < TWI_MUTATIONS; kind++)
        assert_true(places[kind] > 0);
    assert_int_equal(places[TWI_MUTATE_DROP_BARRIER], 4);
}

/* A legalized SIMT module (shuffles in rounds) gives the same bits and depths. */
static void legalized(void **state) {
    bench *b = *state;
    twi_caps caps;
    memset(&caps, 0, sizeof caps);
    caps.lane_ops = true;
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
        twi_loop *loop = read_loop(b, subjects[k].text);
        twi_interp_result r = run(b, loop, want);
        twi_loop *legal = twi_legalize(loop, &b->ctx->arena, &caps);
        if (!twi_loop_verify(legal))
            fail_msg("%s", tw_diag_text(b->ctx, false));
        twi_fault_kind fault;
        assert_false(noticed(b, &subjects[k], legal, &fault));
        twi_interp_result again = run(b, legal, got);
        assert_int_equal(again.folds, r.folds);
        for (uint32_t f = 0; f < r.folds; f++)
            assert_int_equal(again.depth[f], r.depth[f]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(planted, setup, teardown),
        cmocka_unit_test_setup_teardown(legalized, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
