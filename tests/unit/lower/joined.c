/* SPDX-License-Identifier: Apache-2.0
 * links: search
 * Joined axes, by plans written here and by random ones, run by the interpreter against a loop
 * written here: dimensions that go with them, quotients and remainders, positions as values, and
 * instances told by number where an index is outside.
 */
#include "support.h"

enum { B = 2, R = 4, W = 19, ALL = B * R * W };

static const char text[] = "kernel k order free specialised\n"
                           "array X: in f32[2, 4, 19]\n"
                           "array A: in f32[19]\n"
                           "array I: in i64[4]\n"
                           "array Y: out f32[2, 4, 19]\n"
                           "array Z: out f32[2, 4, 19] = 0\n"
                           "parallel b: 0 .. 2, r: 0 .. 4, w: 0 .. 19 {\n"
                           "    X: f32 = load X[b, r, w]\n"
                           "    A: f32 = load A[w]\n"
                           "    i: i64 = index r\n"
                           "    j: i64 = index w\n"
                           "    k: i64 = add i, j\n"
                           "    c: f32 = cast k\n"
                           "    x: f32 = add X, A\n"
                           "    y: f32 = add x, c\n"
                           "    store Y[b, r, w] = y\n"
                           "    I: i64 = load I[r]\n"
                           "    store Z[b, $I, w] checked = y\n"
                           "}\n";

static const struct {
    const char *target, *plan;
} written[] = {
    {"cpu-avx512", "plan k/0 class=canonical join r w\n"
                   "frame f: b = grid 2 ; r_w = grid 1, loop 3, slot 2, lane 16\n"},
    {"cpu-avx2", "plan k/0 class=canonical join r w, b r_w\n"
                 "frame f: b_r_w = grid 10, loop 2, lane 8\n"},
    {"cpu-avx2", "plan k/0 class=canonical join b r\n"
                 "frame f: b_r = grid 1, lane 8 ; w = grid 19\n"},
    {"simt32", "plan k/0 class=canonical join r w, b r_w\n"
               "frame f: b_r_w = grid 1, sub 2, lane 32, slot 4\n"
               "entry main ; entry aligned16: align16 X Y\n"},
    {"simt4", "plan k/0 class=canonical join b r\n"
              "frame f: b_r = grid 2, sub 4 ; w = grid 3, slot 2, lane 4\n"},
};

typedef struct {
    _Alignas(16) float x[ALL];
    _Alignas(16) float y[ALL];
    float z[ALL], a[W];
    int64_t i[R], status;
} data;

/* The third row goes nowhere. */
static void fill(data *t) {
    static const int64_t to[R] = {2, 0, 7, 3};
    memset(t, 0xa5, sizeof *t);
    for (int k = 0; k < ALL; k++)
        t->x[k] = (float)(k % 23 - 11);
    for (int w = 0; w < W; w++)
        t->a[w] = (float)(w % 5) / 4;
    memcpy(t->i, to, sizeof to);
}

static bool is_right(const data *t) {
    float z[ALL] = {0};
    for (int k = 0; k < ALL; k++) {
        const int w = k % W, r = k / W % R, b = k / W / R;
        const float y = t->x[k] + t->a[w] + (float)(r + w);
        if (t->y[k] != y)
            return false;
        if (t->i[r] < R)
            z[((int64_t)b * R + t->i[r]) * W + w] = y;
    }
    bool same = t->status == 2 * W;
    for (int k = 0; k < ALL; k++)
        same = same && t->z[k] == z[k];
    return same;
}

static void check(const bench *b, const tw_ir *ir, const twi_plans *plans) {
    twi_loop *loop = lowered(b, ir, plans);
    for (uint32_t e = 0; e < loop->entry.n; e++) {
        data t;
        fill(&t);
        void *const at[] = {t.x, t.a, t.i, t.y, t.z, &t.status};
        twi_interp_result r = interpret(b->a, loop, e, at, sizeof at / sizeof *at);
        if (r.fault.kind)
            complain(ir, plans, loop, r.fault.text);
        if (!is_right(&t))
            complain(ir, plans, loop, "Y, Z or the status is wrong");
    }
}

static void written_plans_run(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof written / sizeof *written; k++) {
        const bench b = bench_on(written[k].target);
        const tw_ir *ir = kernel_of(&b, text);
        check(&b, ir, written_plans(&b, ir, written[k].plan));
        bench_end(&b);
    }
}

/* Of random plans some join, and some do not. */
static void random_plans_run(void **state) {
    const uint64_t n = setting("TW_PLANS", 20);
    const bench b = bench_on(*state);
    const tw_ir *ir = kernel_of(&b, text);
    uint64_t joined = 0;
    for (uint64_t seed = 1; seed <= n; seed++) {
        twi_mark mark = twi_arena_mark(b.a);
        const twi_plans *plans = drawn_plans(&b, ir, seed);
        joined += plans->scope[0].join != 0;
        check(&b, ir, plans);
        twi_arena_reset(b.a, mark);
    }
    assert_true(joined > 0 && joined < n);
    bench_end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_plans_run), ON("cpu-avx512", random_plans_run),
        ON("cpu-baseline", random_plans_run), ON("simt32", random_plans_run),
        ON("simt4", random_plans_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
