/* SPDX-License-Identifier: Apache-2.0
 * links: search
 * What happens once an instance, or is told of the first one, in programs that do not speak of all
 * axes: atomics of one place or of one axis, and checked accesses that are the same for all rows.
 * Default and random legal plans, run by the interpreter, against loops written here.
 */
#include "support.h"

enum { A = 6, B = 13, V = 9 };

static const char text[] = "kernel k order free specialised\n"
                           "array P: in i32[13]\n"
                           "array X: in f32[6, 13]\n"
                           "array E: in f32[9, 13]\n"
                           "array H: inout i32[9]\n"
                           "array N: inout i64[]\n"
                           "array Y: out f32[6, 13]\n"
                           "parallel a: 0 .. 6, b: 0 .. 13 {\n"
                           "    P: i32 = load P[b]\n"
                           "    one: i32 = const 1\n"
                           "    more: i64 = const 1\n"
                           "    atomic_add H[$P] checked = one\n"
                           "    atomic_add N[] = more\n"
                           "    e: f32 = load E[$P, b] checked\n"
                           "    X: f32 = load X[a, b]\n"
                           "    y: f32 = add X, e\n"
                           "    store Y[a, b] = y\n"
                           "}\n";

typedef struct {
    int32_t p[B];
    float x[A][B], e[V][B];
    int32_t h[V];
    int64_t n;
    float y[A][B];
    int64_t status;
} data;

/* Column 7 goes nowhere, where `outside`. */
static void fill(data *t, bool outside) {
    memset(t, 0, sizeof *t);
    for (int b = 0; b < B; b++) {
        t->p[b] = outside && b == 7 ? V : b * 5 % V;
        for (int a = 0; a < A; a++)
            t->x[a][b] = (float)(a - b);
        for (int v = 0; v < V; v++)
            t->e[v][b] = (float)(v * b % 7);
    }
}

static bool is_right(const data *t, bool outside) {
    int32_t h[V] = {0};
    bool same = t->n == A * B && t->status == (outside ? 7 : INT64_MAX);
    for (int b = 0; b < B; b++) {
        const bool in = t->p[b] < V;
        if (in)
            h[t->p[b]] += A;
        for (int a = 0; a < A; a++)
            same = same &&
                   (in ? t->y[a][b] == t->x[a][b] + t->e[t->p[b]][b] : t->y[a][b] != t->y[a][b]);
    }
    return same && memcmp(h, t->h, sizeof h) == 0;
}

static void check(const bench *b, const tw_ir *ir, const twi_plans *plans, bool outside) {
    twi_loop *loop = lowered(b, ir, plans);
    for (uint32_t e = 0; e < loop->entry.n; e++) {
        data t;
        fill(&t, outside);
        void *const at[] = {t.p, t.x, t.e, t.h, &t.n, t.y, &t.status};
        twi_interp_result r = interpret(b->a, loop, e, at, sizeof at / sizeof *at);
        if (r.fault.kind)
            complain(ir, plans, loop, r.fault.text);
        if (!is_right(&t, outside))
            complain(ir, plans, loop, "H, N, Y or the status is wrong");
    }
}

static void once_an_instance(void **state) {
    const uint64_t n = setting("TW_PLANS", 30);
    const bench b = bench_on(*state);
    const tw_ir *ir = kernel_of(&b, text);
    for (uint64_t seed = 0; seed <= n; seed++) {
        twi_mark mark = twi_arena_mark(b.a);
        check(&b, ir, drawn_plans(&b, ir, seed), seed % 2);
        twi_arena_reset(b.a, mark);
    }
    bench_end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON("cpu-avx512", once_an_instance), ON("cpu-baseline", once_an_instance),
        ON("simt1", once_an_instance),      ON("simt4", once_an_instance),
        ON("simt32", once_an_instance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
