/* SPDX-License-Identifier: Apache-2.0
 * links: search
 * Subscripts that are values, atomics and ranges that are values, under random legal plans, run by
 * the interpreter, against loops written here; with all indices inside, and with some outside: what
 * is read there, what is not stored, and the least instance in the status.
 */
#include "support.h"

#include <stdio.h>

enum { N = 21, V = 5, W = 19, L = 40, D = 24 };

static const char text[] = "kernel k order free specialised\n"
                           "array TAB: in f32[5, 19]\n"
                           "array IDS: in i32[21]\n"
                           "array P: in i64[21]\n"
                           "array S: in i64[22]\n"
                           "array X: in f32[40]\n"
                           "array Y: out f32[21, 19]\n"
                           "array E: out f32[21]\n"
                           "array Z: out f32[21] = 7\n"
                           "array H: out i32[5] = 0\n"
                           "array M: out f32[5] = -inf\n"
                           "array A: out f64[] = 1\n"
                           "array G: out f32[21]\n"
                           "array ROWS: in f32[5, 24]\n"
                           "array R: out f32[21, 24]\n"
                           "array PUT: out f32[21, 24] = 7\n"
                           "parallel n: 0 .. 21 {\n"
                           "    axis d: 0 .. 19\n"
                           "    J: i32 = load IDS[n]\n"
                           "    g: f32{d} = load TAB[$J, d] checked\n"
                           "    store Y[n, d] = g\n"
                           "    axis q: 0 .. 24\n"
                           "    row: f32{q} = load ROWS[$J, q] checked\n"
                           "    store R[n, q] = row\n"
                           "    two: f32 = const 2\n"
                           "    e: f32 = load TAB[$J, 3] guarded else two\n"
                           "    store E[n] = e\n"
                           "    one: i32 = const 1\n"
                           "    zero: i32 = const 0\n"
                           "    c: bool = ne J, zero\n"
                           "    atomic_add H[$J] checked = one when c\n"
                           "    p: i64 = load P[n]\n"
                           "    x: f32 = cast p\n"
                           "    store Z[$p] checked = x\n"
                           "    store PUT[$p, q] checked = row\n"
                           "    atomic_max M[$J] checked = x\n"
                           "    x2: f64 = cast p\n"
                           "    atomic_add A[] = x2\n"
                           "    lo: i64 = load S[n]\n"
                           "    hi: i64 = load S[n + 1]\n"
                           "    axis z: $lo .. $hi\n"
                           "    v: f32{z} = load X[z] checked\n"
                           "    sum.1: f32 = sum[z] free v\n"
                           "    store G[n] = sum.1\n"
                           "}\n";

/* Rows of whole 16 bytes, as entry aligned16 has them. */
typedef struct {
    _Alignas(16) float rows[V][D];
    _Alignas(16) float r[N][D];
    _Alignas(16) float put[N][D];
    float tab[V][W];
    int32_t ids[N];
    int64_t p[N], s[N + 1];
    float x[L];
    /* results */
    float y[N][W], e[N], z[N];
    int32_t h[V];
    float m[V];
    double a;
    float g[N];
    int64_t status;
} data;

static void fill(data *t, bool outside) {
    memset(t, 0xa5, sizeof *t);
    for (int v = 0; v < V; v++)
        for (int w = 0; w < W; w++)
            t->tab[v][w] = (float)(v * 100 + w);
    for (int v = 0; v < V; v++)
        for (int d = 0; d < D; d++)
            t->rows[v][d] = (float)(d * 10 + v);
    for (int n = 0; n < N; n++) {
        t->ids[n] = n * 7 % V;
        t->p[n] = n * 8 % N;
        t->s[n + 1] = n * n % 3 + (n ? t->s[n] : 0);
        t->s[0] = 0;
    }
    for (int n = 1; n <= N; n++)
        t->s[n] = t->s[n - 1] + n % 4;
    for (int k = 0; k < L; k++)
        t->x[k] = (float)(k * 5 % 17 - 8);
    if (!outside)
        return;
    t->ids[11] = V;
    t->ids[14] = -1;
    t->p[9] = N + 3;
    t->s[N] = L + 2; /* the last segment's end */
}

static void expect(const data *in, data *out) {
    out->status = INT64_MAX;
    out->a = 1;
    for (int n = 0; n < N; n++) {
        out->z[n] = 7;
        for (int d = 0; d < D; d++)
            out->put[n][d] = 7;
    }
    for (int v = 0; v < V; v++) {
        out->h[v] = 0;
        out->m[v] = -1.0f / 0.0f;
    }
    for (int n = 0; n < N; n++) {
        bool good = in->ids[n] >= 0 && in->ids[n] < V, fits = in->p[n] >= 0 && in->p[n] < N;
        float nan = 0.0f / 0.0f;
        for (int w = 0; w < W; w++)
            out->y[n][w] = good ? in->tab[in->ids[n]][w] : nan;
        for (int d = 0; d < D; d++)
            out->r[n][d] = good ? in->rows[in->ids[n]][d] : nan;
        for (int d = 0; fits && d < D; d++)
            out->put[in->p[n]][d] = out->r[n][d];
        out->e[n] = good ? in->tab[in->ids[n]][3] : 2;
        if (good && in->ids[n])
            out->h[in->ids[n]]++;
        if (good && (float)in->p[n] > out->m[in->ids[n]])
            out->m[in->ids[n]] = (float)in->p[n];
        if (fits)
            out->z[in->p[n]] = (float)in->p[n];
        out->a += (double)in->p[n];
        out->g[n] = 0;
        for (int64_t k = in->s[n]; k < in->s[n + 1]; k++)
            out->g[n] = k < L ? out->g[n] + in->x[k] : nan;
        bool stays = in->s[n + 1] <= L || in->s[n + 1] <= in->s[n];
        if (!(good && fits && stays) && out->status > n)
            out->status = n;
    }
}

static bool equal(const float *a, const float *b, size_t n, const char *what, char *said) {
    for (size_t k = 0; k < n; k++)
        if (a[k] != b[k] && !(a[k] != a[k] && b[k] != b[k])) {
            snprintf(said, 100, "%s, element %zu: %g, not %g", what, k, (double)a[k], (double)b[k]);
            return false;
        }
    return true;
}

static bool right(const data *t, const data *want, char *said) {
    snprintf(said, 100, "H, A or the status %lld, not %lld", (long long)t->status,
             (long long)want->status);
    return equal(t->y[0], want->y[0], N * W, "Y", said) && equal(t->e, want->e, N, "E", said) &&
           equal(t->z, want->z, N, "Z", said) && equal(t->m, want->m, V, "M", said) &&
           equal(t->g, want->g, N, "G", said) && equal(t->r[0], want->r[0], N * D, "R", said) &&
           equal(t->put[0], want->put[0], N * D, "PUT", said) &&
           memcmp(t->h, want->h, sizeof t->h) == 0 && t->a == want->a && t->status == want->status;
}

/* Arrays in the order of their ids, the status behind them. */
static twi_interp_result run_on(const bench *b, const twi_loop *loop, uint32_t entry, data *t) {
    void *const at[] = {t->tab, t->ids, t->p,  t->s, t->x,    t->y, t->e,   t->z,
                        t->h,   t->m,   &t->a, t->g, t->rows, t->r, t->put, &t->status};
    enum { ARRAYS = sizeof at / sizeof *at };
    assert_int_equal(loop->array.n, ARRAYS + 1);
    assert_int_equal(loop->status, ARRAYS);
    return interpret(b->a, loop, entry, at, ARRAYS);
}

static void check(const bench *b, const tw_ir *ir, uint64_t seed) {
    twi_plans *plans = drawn_plans(b, ir, seed);
    twi_loop *loop = lowered(b, ir, plans);
    for (uint32_t k = 0; k < 2 * loop->entry.n; k++) {
        const bool outside = k % 2;
        data t, want;
        char said[100];
        fill(&t, outside);
        fill(&want, outside);
        expect(&t, &want);
        twi_interp_result r = run_on(b, loop, k / 2, &t);
        if (r.fault.kind)
            complain(ir, plans, loop, r.fault.text);
        if (!right(&t, &want, said))
            complain(ir, plans, loop, said);
    }
}

static void random_plans(void **state) {
    const uint64_t n = setting("TW_PLANS", 20);
    const bench b = bench_on(*state);
    tw_ir *ir = kernel_of(&b, text);
    for (uint64_t seed = 0; seed < n; seed++) {
        twi_mark mark = twi_arena_mark(b.a);
        check(&b, ir, seed);
        twi_arena_reset(b.a, mark);
    }
    bench_end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {ON("cpu-avx512", random_plans), ON("simt4", random_plans),
                                       ON("simt32", random_plans), ON("simt1", random_plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
