/* SPDX-License-Identifier: Apache-2.0
 * The interpreter on kernels written by hand: a SIMT reduction through shared memory, explicit
 * lanes with count masks, what the trace reports, depths.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

/* The text with one occurrence of `from` replaced. */
static const char *edited(bench *b, const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    assert_non_null(at);
    twi_sb out;
    twi_sb_init(&out, &b->ctx->arena);
    twi_sb_add(&out, text, (size_t)(at - text));
    twi_sb_str(&out, to);
    twi_sb_str(&out, at + strlen(from));
    return twi_sb_text(&out);
}

static void fill(float *x, size_t n) {
    for (size_t k = 0; k < n; k++)
        x[k] = (float)((int)(k * 37 % 101) - 50);
}

static twi_interp_result run_simt(bench *b, const char *text, float *y) {
    static float x[300], m[3];
    fill(x, 300);
    void *data[] = {x, y, m};
    return run_loop(b, read_loop(b, text), data, NULL);
}

static void simt_sum(void **state) {
    bench *b = *state;
    float x[300], y[3] = {0};
    twi_interp_result r = run_simt(b, two_folds, y);
    clean(&r);
    fill(x, 300);
    for (int i = 0; i < 3; i++) {
        float sum = 0; /* integers: exact in any order */
        for (int k = 0; k < 100; k++)
            sum += x[i * 100 + k];
        assert_true(y[i] == sum);
    }
    /* 13 elements in a chain, 2 rounds, 2 partials in a chain */
    assert_int_equal(r.folds, 9);
    assert_int_equal(r.depth[7], 12 + 2 + 1);
    assert_int_equal(r.counts.barriers, 3 * 3);
    assert_int_equal(r.counts.loads[1], 300);
    assert_int_equal(r.counts.stores[2], 3);
    assert_int_equal(r.counts.lane_rounds, 3 * 2 * 2 * 2);
}

static void faults(void **state) {
    bench *b = *state;
    static const struct {
        const char *from, *to;
        twi_fault_kind kind;
        const char *names;
    } list[] = {
        {"  barrier group\n", "", TWI_FAULT_RACE, "red[0]"},
        {"%18 = load red[0]", "%18 = load red[%2]", TWI_FAULT_NONE, ""},
        {"  store s[0] = %6\n", "", TWI_FAULT_UNWRITTEN, "s[0]"},
        {" where %10", "", TWI_FAULT_OUTSIDE, "X"},
        {"  if %21 {\n    store Y", "  if %17 {\n    store Y", TWI_FAULT_TWICE, "Y[0]"},
        {"store Y[%1]", "store Y[0]", TWI_FAULT_TWICE, "Y[0]"},
        {"%21 = eq %5, 0", "%21 = eq %1, 0", TWI_FAULT_TWICE, "Y[0]"},
        {"%21 = eq %5, 0", "%21 = eq %1, 9", TWI_FAULT_MISSING, "Y[0]"},
        {"  barrier group\n", "  if %17 {\n    barrier group\n  }\n", TWI_FAULT_DIVERGED, "2 of 8"},
        {"  store Y[%1] = %20", "  store Y[3] = %20", TWI_FAULT_OUTSIDE, "Y"},
        {"grid 3", "grid 2", TWI_FAULT_MISSING, "Y[2]"},
        {"  if %17 {\n    store red[%2] = %16\n  }", "  store red[%2] = %16", TWI_FAULT_RACE,
         "red"},
        {"  if %17 {\n", "  if %17 {\n    %40 = lane_xor %15 mask 1 : f32\n", TWI_FAULT_DIVERGED,
         "1 of 4"},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        float y[4] = {0};
        twi_interp_result r = run_simt(b, edited(b, two_folds, list[k].from, list[k].to), y);
        if (r.fault.kind != list[k].kind || !strstr(r.fault.text, list[k].names))
            fail_msg("case %zu: fault %d, %s", k, (int)r.fault.kind, r.fault.text);
    }
}

/* The text without its k-th barrier (from 0). */
static const char *without_barrier(bench *b, const char *text, unsigned k) {
    static const char line[] = "  barrier group\n";
    char *cut = twi_strdup(&b->ctx->arena, text), *at = strstr(cut, line);
    while (at && k--)
        at = strstr(at + 1, line);
    assert_non_null(at);
    memset(at, ' ', sizeof line - 2);
    return cut;
}

/* Two folds through one shared array: what is written is behind a barrier for its readers, and what
 * is read before it is written again. */
static void second_barrier(void **state) {
    static const char *const said[] = {"red[0]", "read by worker", "written by worker"};
    bench *b = *state;
    for (unsigned k = 0; k < 3; k++) {
        float y[3];
        twi_interp_result r = run_simt(b, without_barrier(b, two_folds, k), y);
        assert_int_equal(r.fault.kind, TWI_FAULT_RACE);
        assert_non_null(strstr(r.fault.text, said[k]));
    }
}

/* Running sums by shifts, and atomics of all workers and groups into one element. */
static void shifts_and_atomics(void **state) {
    bench *b = *state;
    static const char text[] = "loop k target simt4\n"
                               "argument 1 Y out i64[16]\n"
                               "argument 2 H out i64[2] = 5\n"
                               "argument 3 Z out i64[16]\n"
                               "entry main {\n fill H\n launch f grid 2\n}\n"
                               "func f entry 0 scope 0 implicit lanes 4 subs 2 {\n"
                               "  array Y = 1 i64[16] stride [1]\n"
                               "  array H = 2 i64[2] stride [1]\n"
                               "  array Z = 3 i64[16] stride [1]\n"
                               "  %1 = id grid\n  %2 = id sub\n  %3 = id lane\n"
                               "  %4 = mul %1, 8\n  %5 = mul %2, 4\n"
                               "  %6 = add %4, %5\n  %7 = add %6, %3\n"
                               "  %8 = lane_shift %7 by 1\n"
                               "  store Y[%7] = %8\n"
                               "  %9 = lane_shift %7 by -2\n"
                               "  store Z[%7] = %9\n"
                               "  store H[0] add= %3\n"
                               "  %10 = lt %3, 3 : bool\n"
                               "  store H[1] max= %7 where %10\n"
                               "}\n";
    int64_t y[16], z[16], h[2];
    void *data[] = {y, h, z};
    twi_interp_result r = run_loop(b, read_loop(b, text), data, NULL);
    clean(&r);
    for (int k = 0; k < 16; k++) {
        assert_int_equal(y[k], k % 4 ? k - 1 : k);
        assert_int_equal(z[k], k % 4 < 2 ? k + 2 : k);
    }
    assert_int_equal(h[0], 5 + 4 * (0 + 1 + 2 + 3));
    assert_int_equal(h[1], 14);
    r = run_loop(b, read_loop(b, edited(b, text, "H[0] add=", "H[0] =")), data, NULL);
    assert_int_equal(r.fault.kind, TWI_FAULT_TWICE);
    r = run_loop(b, read_loop(b, edited(b, text, " fill H\n", "")), data, NULL);
    assert_int_equal(r.fault.kind, TWI_FAULT_UNWRITTEN);
    r = run_loop(b, read_loop(b, edited(b, text, "  %10", "  %11 = load H[0]\n  %10")), data, NULL);
    assert_int_equal(r.fault.kind, TWI_FAULT_RACE);
}

/* Copies beside the math: what is read before the wait, before the barrier behind it, or copied
 * into a version that others still read. */
static void asynchronous(void **state) {
    bench *b = *state;
    static const char wait[] = "    async_wait 0\n    barrier group\n";
    static const struct {
        const char *from, *to, *names;
    } list[] = {
        {"    async_wait 0\n", "    async_wait 1\n", "has not waited for"},
        {wait, "    barrier group\n    async_wait 0\n", "written by worker"},
        {wait, "    async_wait 0\n    barrier subgroup\n", "written by worker"},
        {"ring[%17, %5]", "ring[%11, %5]", "has not waited for"},
    };
    float x[96], y[24], z[24];
    void *data[] = {x, y, z};
    for (int k = 0; k < 96; k++)
        x[k] = (float)(k * k);
    twi_interp_result r = run_loop(b, read_loop(b, beside), data, NULL);
    clean(&r);
    for (int k = 0; k < 24; k++) {
        const float *row = x + k / 8 * 32 + 7 - k % 8;
        assert_true(y[k] == row[24] + row[8] + row[16] + row[24] && z[k] == y[k]);
    }
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        const char *text = edited(b, beside, list[k].from, list[k].to);
        r = run_loop(b, read_loop(b, text), data, NULL);
        if (r.fault.kind != TWI_FAULT_RACE || !strstr(r.fault.text, list[k].names))
            fail_msg("case %zu: fault %d, %s", k, (int)r.fault.kind, r.fault.text);
    }
}

/* A subgroup barrier orders the lanes of a subgroup, not two subgroups. */
static void subgroup_barrier(void **state) {
    bench *b = *state;
    static const char text[] = "loop k target simt4\n"
                               "argument 1 Y out i64[8]\n"
                               "entry main {\n launch f grid 1\n}\n"
                               "func f entry 0 scope 0 implicit lanes 4 subs 2 {\n"
                               "  array Y = 1 i64[8] stride [1]\n"
                               "  shared t i64[2, 4] stride [5, 1]\n"
                               "  %1 = id sub\n  %2 = id lane\n"
                               "  %3 = mul %1, 4\n  %4 = add %3, %2\n"
                               "  store t[%1, %2] = %4\n"
                               "  barrier subgroup\n"
                               "  %5 = sub 3, %2\n"
                               "  %6 = load t[%1, %5]\n"
                               "  store Y[%4] = %6\n"
                               "}\n";
    int64_t y[8];
    void *data[] = {y};
    twi_interp_result r = run_loop(b, read_loop(b, text), data, NULL);
    clean(&r);
    for (int k = 0; k < 8; k++)
        assert_int_equal(y[k], k / 4 * 4 + 3 - k % 4);
    r = run_loop(b, read_loop(b, edited(b, text, "load t[%1, %5]", "load t[0, %5]")), data, NULL);
    assert_int_equal(r.fault.kind, TWI_FAULT_RACE);
    r = run_loop(b, read_loop(b, edited(b, text, "barrier subgroup", "")), data, NULL);
    assert_int_equal(r.fault.kind, TWI_FAULT_RACE);
}

/* Vectors of 8 with a count mask at the end; a strided and a gathered access. */
static void explicit_lanes(void **state) {
    bench *b = *state;
    static const char text[] =
        "loop k target cpu\n"
        "argument 1 X in f32[21]\nargument 2 Y out f32[21]\nargument 3 Z out f32[8, 2]\n"
        "argument 4 W out f32[8]\n"
        "scalar 1 eps f32\n"
        "entry main {\n launch f grid 1\n}\n"
        "func f entry 0 scope 0 explicit lanes 8 subs 1 {\n"
        "  array X = 1 f32[21] stride [1]\n"
        "  array Y = 2 f32[21] stride [1]\n"
        "  array Z = 3 f32[8, 2] stride [2, 1]\n"
        "  array W = 4 f32[8] stride [1]\n"
        "  private keep f32x8[3] stride [1]\n"
        "  %1 = scalar eps : f32\n"
        "  %2 = splat %1 : f32x8\n"
        "  for %a3 in 0 .. 3 {\n"
        "    %4 = mul %a3, 8\n"
        "    %5 = sub 21, %4\n"
        "    %6 = load X[%4] first %5 : f32x8\n"
        "    %7 = add %6, %2 : f32x8\n"
        "    store keep[%a3] = %7\n"
        "    store Y[%4] = %7 first %5\n"
        "  }\n"
        "  %8 = load keep[2] : f32x8\n"
        "  store Z[0, 1] = %8 dim 0\n"
        "  %9 = load keep[0] : f32x8\n"
        "  store Z[0, 0] = %9 dim 0\n"
        "  %10 = iota : i64x8\n"
        "  %11 = mul %10, %10 : i64x8\n"
        "  %12 = const 20 : i64x8\n"
        "  %13 = min %11, %12 : i64x8\n"
        "  %14 = load X[%13] : f32x8\n"
        "  store W[0] = %14\n"
        "}\n";
    float x[21], y[21], z[8][2], w[8];
    for (int k = 0; k < 21; k++)
        x[k] = (float)k;
    void *data[] = {x, y, z, w};
    float eps = 0.5f;
    uint32_t bits;
    memcpy(&bits, &eps, sizeof bits);
    uint64_t scalars[] = {0, bits};
    twi_loop *loop = read_loop(b, text);
    twi_interp_result r = run_loop(b, loop, data, scalars);
    clean(&r);
    for (int k = 0; k < 21; k++)
        assert_true(y[k] == x[k] + 0.5f);
    for (int k = 0; k < 8; k++) {
        assert_true(z[k][0] == x[k] + 0.5f);
        assert_true(z[k][1] == (16 + k < 21 ? x[16 + k] : 0) + 0.5f);
        assert_true(w[k] == x[k * k < 20 ? k * k : 20]);
    }
    assert_int_equal(r.counts.loads[1], 21 + 8);
    r = run_loop(b, read_loop(b, edited(b, text, "store Y[%4] = %7 first %5", "store Y[%4] = %7")),
                 data, scalars);
    assert_int_equal(r.fault.kind, TWI_FAULT_OUTSIDE);
}

/* Fills, loops around launches, loops whose bounds differ from worker to worker. */
static void recipes(void **state) {
    bench *b = *state;
    static const char text[] =
        "loop k target simt4\n"
        "argument 1 Y out i32[4] = 7\nargument 2 T inout i64[4]\n"
        "entry main {\n fill Y\n for 2 .. 5 {\n launch f grid 1\n }\n launch g grid 1\n}\n"
        "func f entry 0 scope 0 implicit lanes 4 subs 1 {\n"
        "  array Y = 1 i32[4] stride [1]\n  array T = 2 i64[4] stride [1]\n"
        "  private n i64[1] stride [1]\n"
        "  %1 = id lane\n  %2 = trip 0\n"
        "  store n[0] = 0\n"
        "  for %3 in 0 .. %1 {\n %4 = load n[0]\n %5 = add %4, %2\n store n[0] = %5\n }\n"
        "  %6 = load n[0]\n  %7 = load T[%1]\n  %8 = add %6, %7\n  store T[%1] = %8\n"
        "}\n"
        "func g entry 0 scope 1 implicit lanes 4 subs 1 {\n"
        "  array Y = 1 i32[4] stride [1]\n  array T = 2 i64[4] stride [1]\n"
        "  %1 = id lane\n  %2 = gt %1, 1 : bool\n"
        "  if %2 {\n %3 = load T[%1]\n %4 = cast %3 : i32\n store Y[%1] = %4\n }\n"
        "}\n";
    int32_t y[4] = {0};
    int64_t t[4] = {1, 1, 1, 1};
    void *data[] = {y, t};
    twi_interp_result r = run_loop(b, read_loop(b, text), data, NULL);
    clean(&r);
    for (int k = 0; k < 4; k++) {
        assert_int_equal(t[k], 1 + k * (2 + 3 + 4));
        assert_int_equal(y[k], k > 1 ? 1 + k * 9 : 7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(simt_sum, setup, teardown),
        cmocka_unit_test_setup_teardown(faults, setup, teardown),
        cmocka_unit_test_setup_teardown(second_barrier, setup, teardown),
        cmocka_unit_test_setup_teardown(subgroup_barrier, setup, teardown),
        cmocka_unit_test_setup_teardown(shifts_and_atomics, setup, teardown),
        cmocka_unit_test_setup_teardown(asynchronous, setup, teardown),
        cmocka_unit_test_setup_teardown(explicit_lanes, setup, teardown),
        cmocka_unit_test_setup_teardown(recipes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
