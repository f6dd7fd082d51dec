/* SPDX-License-Identifier: Apache-2.0
 * Scans, gathered subscripts, atomic operations and loaded bounds, against loops written here: to
 * the bit where one value is allowed, inside bounds that see a wrong element where many are.
 */
#include "kernels.h"

enum { MOST = 70000 };

static void open_text(bench *t, const char *text) {
    open_bench(t);
    t->ir = tw_ir_from_text(t->ctx, "test.ir", text, strlen(text));
    if (!t->ir)
        fail_msg("%s", tw_diag_text(t->ctx, false));
}

/* One scan of X[3, n] into Y. */
static void open_scan(bench *t, const char *scan, const char *elem, int n) {
    char text[600];
    (void)snprintf(text, sizeof text,
                   "kernel k order free specialised\n"
                   "array X: in %s[3, %d]\narray Y: out %s[3, %d]\n"
                   "parallel r: 0 .. 3 {\n    axis w: 0 .. %d\n"
                   "    x: %s{w} = load X[r, w]\n    y: %s{w} = %s x\n    store Y[r, w] = y\n}\n",
                   elem, n, elem, n, n, elem, elem, scan);
    open_text(t, text);
}

/* The canonical order as the page says it, by recursion over whole rows: a second hand. */
static void double_up(float *x, int n) {
    for (int d = 1; d < n; d *= 2) {
        float old[256];
        memcpy(old, x, (size_t)n * sizeof *x);
        for (int i = d; i < n; i++)
            x[i] = old[i - d] + old[i];
    }
}

static void canonical_row(const float *x, int n, float *y) {
    static float own[MOST], group[MOST], total[4][MOST];
    static int level;
    int blocks = (n + 255) / 256, me = level++;
    float *totals = total[me];
    memcpy(y, x, (size_t)n * sizeof *y);
    for (int b = 0; b < blocks; b++) {
        int from = b * 256, here = n - from < 256 ? n - from : 256, groups = (here + 7) / 8;
        for (int g = 0; g < groups; g++) {
            int size = here - g * 8 < 8 ? here - g * 8 : 8;
            memcpy(own, y + from + g * 8, (size_t)size * sizeof *own);
            double_up(own, size);
            memcpy(y + from + g * 8, own, (size_t)size * sizeof *own);
            group[g] = own[size - 1];
        }
        double_up(group, groups);
        for (int i = 8; i < here; i++)
            y[from + i] = group[i / 8 - 1] + y[from + i];
        totals[b] = group[groups - 1];
    }
    if (blocks > 1) {
        static float prefix[4][MOST];
        canonical_row(totals, blocks, prefix[me]);
        for (int i = 256; i < n; i++)
            y[i] = prefix[me][i / 256 - 1] + y[i];
    }
    level--;
}

static void test_canonical(void **state) {
    static const int lengths[] = {0, 1, 2, 7, 8, 9, 63, 255, 256, 257, 2049, 66000};
    static float x[3 * MOST], y[3 * MOST], line[MOST], result[MOST];
    (void)state;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (int way = 0; way < 4; way++) {
            bench t;
            int n = lengths[k];
            bool exclusive = way & 1, reverse = way & 2;
            char scan[80];
            (void)snprintf(scan, sizeof scan, "cumsum[w] canonical%s%s",
                           exclusive ? " exclusive" : "", reverse ? " reverse" : "");
            open_scan(&t, scan, "f32", n);
            const float *in = fill(&t, 1, "normal", 5);
            memcpy(x, in, (size_t)(3 * n) * sizeof *x);
            for (int r = 0; r < 3; r++) {
                for (int i = 0; i < n; i++)
                    line[i] = x[r * n + (reverse ? n - 1 - i : i)];
                canonical_row(line, n, result);
                for (int i = 0; i < n; i++) {
                    float v = !exclusive ? result[i] : i ? result[i - 1] : 0.0f;
                    y[r * n + (reverse ? n - 1 - i : i)] = v;
                }
            }
            run(&t, NULL, 0, false);
            twi_verdict v = judge(&t, 2, y);
            if (!v.ok)
                fail_msg("%d, way %d: at %d got %s want %s", n, way, (int)v.at[1], v.got, v.want);
            assert_true(v.determined);
            if (n > 1) {
                y[n - 1 - (reverse ? n - 1 : 0)] += 1.0f;
                assert_false(judge(&t, 2, y).ok);
            }
            close_bench(&t);
        }
}

static void test_grouped(void **state) {
    static const int lengths[] = {1, 33, 1000};
    static float y[3 * 1000];
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        bench t;
        int n = lengths[k];
        open_scan(&t, "cumsum[w] free reverse", "f32", n);
        const float *x = fill(&t, 1, "normal", 3);
        run(&t, NULL, 0, false);
        for (int r = 0; r < 3; r++) { /* in blocks of 16: another grouping */
            float before = 0, own = 0;
            for (int i = 0; i < n; i++) {
                own = i % 16 ? own + x[r * n + n - 1 - i] : x[r * n + n - 1 - i];
                y[r * n + n - 1 - i] = i < 16 ? own : before + own;
                before = i % 16 == 15 ? (i < 16 ? own : before + own) : before;
            }
        }
        twi_verdict v = judge(&t, 2, y);
        assert_true(v.ok && !v.determined);
        y[0] += x[n / 2] > 0 ? 0.1f : -0.1f; /* less than an element */
        assert_false(judge(&t, 2, y).ok);
        close_bench(&t);
    }
}

static void test_cummax(void **state) {
    bench t;
    (void)state;
    open_scan(&t, "cummax[w] free exclusive", "f32", 5);
    static const float x[15] = {1, -2, 3, 0.5f, 7, NAN, 1, 2, 3, 4, -0.0f, 0.0f, -1, NAN, 2};
    static const float low = -INFINITY;
    const float want[15] = {low, 1, 1, 3, 3, low, NAN, NAN, NAN, NAN, low, -0.0f, 0.0f, 0.0f, NAN};
    float y[15];
    memcpy(y, want, sizeof y);
    t.array[1] = x;
    run(&t, NULL, 0, false);
    twi_verdict v = judge(&t, 2, y);
    if (!v.ok)
        fail_msg("at %d,%d got %s want %s", (int)v.at[0], (int)v.at[1], v.got, v.want);
    assert_true(v.determined);
    y[11] = 0.0f; /* the sign of a zero shows */
    assert_false(judge(&t, 2, y).ok);
    close_bench(&t);
}

static void test_integers(void **state) {
    bench t;
    (void)state;
    open_scan(&t, "cumprod[w] free", "i32", 4);
    static const int32_t x[12] = {3, -2, 5, 7, 1 << 20, 1 << 10, 8, -1, 0, 1, 2, 3};
    int32_t y[12];
    for (int r = 0; r < 3; r++) {
        uint32_t p = 1;
        for (int w = 0; w < 4; w++) {
            p *= (uint32_t)x[r * 4 + w];
            memcpy(&y[r * 4 + w], &p, sizeof p);
        }
    }
    t.array[1] = x;
    run(&t, NULL, 0, false);
    assert_true(judge(&t, 2, y).ok);
    y[7] ^= 1;
    assert_false(judge(&t, 2, y).ok);
    close_bench(&t);
}

/* Gathered loads: inside, outside with and without `else`; the least instance is told. */
static void test_gather(void **state) {
    bench t;
    (void)state;
    open_text(&t, "kernel k order free specialised\n"
                  "array X: in f32[4, 2]\narray I: in i32[5]\narray Y: out f32[5, 2]\n"
                  "array Z: out f32[5]\n"
                  "parallel n: 0 .. 5 {\n    axis d: 0 .. 2\n    i: i32 = load I[n]\n"
                  "    x: f32{d} = load X[$i, d] checked\n    store Y[n, d] = x\n"
                  "    seven: f32 = const 7\n    z: f32 = load X[$i, 1] guarded else seven\n"
                  "    store Z[n] = z\n}\n");
    static const float x[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const int32_t inside[5] = {3, 0, 2, 2, 1}, outside[5] = {1, 0, 4, -1, 3};
    static const float y[10] = {6, 7, 0, 1, 4, 5, 4, 5, 2, 3}, z[5] = {7, 1, 5, 5, 3};
    static const float y2[10] = {2, 3, 0, 1, NAN, NAN, NAN, NAN, 6, 7}, z2[5] = {3, 1, 7, 7, 7};
    t.array[1] = x;
    t.array[2] = inside;
    run(&t, NULL, 0, false);
    assert_true(judge(&t, 3, y).ok && judge(&t, 4, z).ok);
    assert_int_equal(twi_oracle_offending(t.o), -1);
    t.array[2] = outside;
    run(&t, NULL, 0, false);
    assert_true(judge(&t, 3, y2).ok && judge(&t, 4, z2).ok);
    assert_false(judge(&t, 3, y).ok);
    assert_int_equal(twi_oracle_offending(t.o), 2);
    close_bench(&t);
}

/* Scatters: what is outside is not stored; a promise that is broken is found. */
static void test_scatter(void **state) {
    bench t;
    (void)state;
    open_text(&t, "kernel k order free specialised\n"
                  "array X: in f32[4]\narray P: in i64[4]\narray Y: out f32[5] = -1\n"
                  "parallel n: 0 .. 4 {\n    p: i64 = load P[n]\n    x: f32 = load X[n]\n"
                  "    store Y[$p] checked = x\n}\n");
    static const float x[4] = {1, 2, 3, 4}, y[5] = {3, -1, -1, 1, 2};
    static const int64_t p[4] = {3, 4, 0, 5}, twice[4] = {3, 1, 3, 0};
    t.array[1] = x;
    t.array[2] = p;
    run(&t, NULL, 0, false);
    assert_true(judge(&t, 3, y).ok);
    assert_int_equal(twi_oracle_offending(t.o), 3);
    t.array[2] = twice;
    t.o = twi_oracle_run(&t.ctx->arena, t.ir, &(twi_oracle_in){t.array, t.scalar}, NULL, 0, NULL);
    assert_non_null(twi_oracle_error(t.o));
    assert_non_null(strstr(twi_oracle_error(t.o), "Y[3] is written by two instances"));
    close_bench(&t);
}

static const char *const atomics =
    "kernel k order free specialised\n"
    "array X: in f32[3, 40]\narray K: in i32[3, 40]\narray H: out i32[4] = 5\n"
    "array S: inout f32[4]\narray M: out f32[4] = -inf\n"
    "parallel r: 0 .. 3 {\n    axis w: 0 .. 40\n    k: i32{w} = load K[r, w]\n"
    "    x: f32{w} = load X[r, w]\n    zero: f32 = const 0\n    c: bool{w} = gt x, zero\n"
    "    one: i32 = const 1\n    atomic_add H[$k] checked = one when c\n"
    "    atomic_add S[$k] checked = x\n    atomic_max M[$k] checked = x\n}\n";

static void test_atomics(void **state) {
    bench t;
    (void)state;
    open_text(&t, atomics);
    const float *x = fill(&t, 1, "normal", 2);
    const int32_t *k = fill(&t, 2, "normal", 2);
    static const float s0[4] = {10, -20, 0.5f, 0};
    float s[4], m[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    int32_t h[4] = {5, 5, 5, 5};
    memcpy(s, s0, sizeof s);
    for (int i = 119; i >= 0; i--) { /* the other way round */
        assert_in_range(k[i], 0, 3);
        h[k[i]] += x[i] > 0;
        s[k[i]] += x[i];
        m[k[i]] = x[i] > m[k[i]] ? x[i] : m[k[i]];
    }
    t.array[4] = s0;
    run(&t, NULL, 0, false);
    assert_int_equal(twi_oracle_offending(t.o), -1);
    twi_verdict v = judge(&t, 4, s);
    assert_true(v.ok && !v.determined);
    v = judge(&t, 3, h);
    assert_true(v.ok && v.determined);
    v = judge(&t, 5, m);
    assert_true(v.ok && v.determined);
    h[2]++;
    assert_false(judge(&t, 3, h).ok);
    s[1] += 1e-3f; /* a bound of a sum of some thirty terms */
    assert_false(judge(&t, 4, s).ok);
    m[0] = 100;
    assert_false(judge(&t, 5, m).ok);
    close_bench(&t);
}

static const char *const segments =
    "kernel k order left specialised\n"
    "array X: in f32[50]\narray S: in i32[8]\narray Y: out f32[7]\narray L: out f32[7]\n"
    "parallel g: 0 .. 7 {\n    a: i32 = load S[g]\n    b: i32 = load S[g + 1]\n"
    "    lo: i64 = cast a\n    hi: i64 = cast b\n    axis i: $lo .. $hi\n"
    "    x: f32{i} = load X[i] checked\n    sum.1: f32 = sum[i] left x\n    store Y[g] = sum.1\n"
    "    l: f32 = const 0\n    serial t: $lo .. $hi {\n        c: f32 = carry l\n"
    "        v: f32 = load X[t] checked\n        d: f32 = sub v, c\n        yield d\n    }\n"
    "    e: f32 = result t 0\n    store L[g] = e\n}\n";

static void test_segments(void **state) {
    bench t;
    (void)state;
    open_text(&t, segments);
    const float *x = fill(&t, 1, "normal", 2);
    const int32_t *s = fill(&t, 2, "special", 2);
    float y[7], l[7];
    assert_true(s[0] == 0 && s[7] == 50);
    for (int g = 0; g < 7; g++) {
        assert_true(s[g] <= s[g + 1]);
        y[g] = l[g] = 0;
        for (int i = s[g]; i < s[g + 1]; i++) {
            y[g] = i == s[g] ? x[i] : y[g] + x[i];
            l[g] = x[i] - l[g];
        }
    }
    run(&t, NULL, 0, false);
    assert_true(judge(&t, 3, y).ok && judge(&t, 4, l).ok);
    assert_int_equal(twi_oracle_offending(t.o), -1);
    y[3] += 1;
    assert_false(judge(&t, 3, y).ok);
    int32_t far[8];
    memcpy(far, s, sizeof far);
    far[7] = 52; /* two positions of the last segment lie outside */
    t.array[2] = far;
    run(&t, NULL, 0, false);
    assert_int_equal(twi_oracle_offending(t.o), 6);
    close_bench(&t);
}

/* Index arrays: in range for every fixture; all different where a store goes by them. */
static void test_indices(void **state) {
    bench t;
    (void)state;
    open_text(&t, "kernel k order free specialised\n"
                  "array X: in f32[9]\narray P: in u8[9]\narray I: in i64[30]\n"
                  "array Y: out f32[12] = 0\narray Z: out f32[30]\n"
                  "parallel n: 0 .. 9 {\n    p: u8 = load P[n]\n    q: i32 = cast p\n"
                  "    x: f32 = load X[n]\n    store Y[$q] checked = x\n}\n"
                  "parallel m: 0 .. 30 {\n    i: i64 = load I[m]\n    z: f32 = load X[$i] checked\n"
                  "    store Z[m] = z\n}\n");
    static const char *const names[] = {"normal", "negative", "cancel", "special", "exact", "zero"};
    for (int f = 0; f < 6; f++) {
        const uint8_t *p = fill(&t, 2, names[f], (uint64_t)f);
        const int64_t *i = fill(&t, 3, names[f], (uint64_t)f);
        bool seen[12] = {false};
        for (int n = 0; n < 9; n++) {
            assert_true(p[n] < 12 && !seen[p[n]]);
            seen[p[n]] = true;
        }
        for (int m = 0; m < 30; m++)
            assert_true(i[m] >= 0 && i[m] < 9);
    }
    close_bench(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical), cmocka_unit_test(test_grouped),
        cmocka_unit_test(test_cummax),    cmocka_unit_test(test_integers),
        cmocka_unit_test(test_gather),    cmocka_unit_test(test_scatter),
        cmocka_unit_test(test_atomics),   cmocka_unit_test(test_segments),
        cmocka_unit_test(test_indices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
