/* SPDX-License-Identifier: Apache-2.0
 * links: search
 * Order tree regroups and never permutes: under any legal plan a sum is one of those that
 * parentheses alone can make of the row as it stands. All of these are listed, for rows whose sum
 * depends on what meets what. Free folds, which may permute, must be caught by the same list, or it
 * would show nothing.
 */
#include "support.h"

#include "base/hash.h"

enum { MOST = 9, SUMS = 1430 /* Catalan: groupings of 9 elements */ };

typedef struct {
    float at[SUMS];
    size_t n;
} sums;

/* of[i][k]: of elements i .. i + k */
typedef struct {
    sums of[MOST][MOST];
} table;

static bool holds(const sums *s, float x) {
    for (size_t k = 0; k < s->n; k++)
        if (s->at[k] == x)
            return true;
    return false;
}

static void list_sums(const float *x, unsigned n, table *t) {
    for (unsigned i = 0; i < n; i++) {
        t->of[i][0].at[0] = x[i];
        t->of[i][0].n = 1;
    }
    for (unsigned k = 1; k < n; k++)
        for (unsigned i = 0; i + k < n; i++) {
            sums *to = &t->of[i][k];
            to->n = 0;
            for (unsigned cut = 0; cut < k; cut++) {
                const sums *left = &t->of[i][cut], *right = &t->of[i + cut + 1][k - cut - 1];
                for (size_t l = 0; l < left->n; l++)
                    for (size_t r = 0; r < right->n; r++) {
                        const float sum = left->at[l] + right->at[r];
                        if (!holds(to, sum))
                            to->at[to->n++] = sum;
                    }
            }
        }
}

/* Small odd numbers and, with others between them, a large one and its opposite: whatever of the
 * others meets one of the two first loses its low bits. */
static void draw(twi_rng *rng, float *x, unsigned n) {
    for (unsigned k = 0; k < n; k++)
        x[k] = (float)(2 * twi_rng_below(rng, 4096) + 1);
    const unsigned apart = 2 + (unsigned)twi_rng_below(rng, n - 2);
    const unsigned at = (unsigned)twi_rng_below(rng, n - apart);
    x[at] = 0x1p33f;
    x[at + apart] = -0x1p33f;
}

static const char *text_of(twi_arena *a, const char *order, unsigned n, bool dot) {
    const char *fold = dot ? "dot[w] %s X, Z, zero" : "sum[w] %s X";
    return twi_format(a,
                      "kernel k order free specialised\n"
                      "array X: in f32[%u]\n"
                      "array Z: in f32[%u]\n"
                      "array Y: out f32[1]\n"
                      "parallel r: 0 .. 1 {\n"
                      "    axis w: 0 .. %u\n"
                      "    X: f32{w} = load X[w + r]\n"
                      "    Z: f32{w} = load Z[w + r]\n"
                      "    zero: f32 = const 0\n"
                      "    s: f32 = %s\n"
                      "    store Y[r] = s\n"
                      "}\n",
                      n, n, n, twi_format(a, fold, order));
}

/* Is what the plan makes of a row one of the sums of the row in its order? */
static bool in_order(const bench *b, const tw_ir *ir, const twi_plans *p, twi_rng *rng,
                     unsigned n) {
    static table t;
    float x[MOST], one[MOST], y[1];
    draw(rng, x, n);
    for (unsigned k = 0; k < n; k++)
        one[k] = 1;
    list_sums(x, n, &t);
    twi_loop *loop = lowered(b, ir, p);
    void *const arrays[] = {x, one, y};
    twi_interp_result r = interpret(b->a, loop, 0, arrays, 3);
    if (r.fault.kind)
        complain(ir, p, loop, r.fault.text);
    return holds(&t.of[0][n - 1], y[0]);
}

static void random_plans(void **state) {
    const bench b = bench_on(*state);
    const uint64_t plans = setting("TW_PLANS", 8);
    twi_rng rng;
    twi_rng_init(&rng, 1);
    for (unsigned n = 3; n <= MOST; n++)
        for (unsigned dot = 0; dot < 2; dot++) {
            tw_ir *ir = kernel_of(&b, text_of(b.a, "tree", n, dot));
            for (uint64_t seed = 0; seed < plans; seed++) {
                const twi_plans *p = drawn_plans(&b, ir, seed);
                if (!in_order(&b, ir, p, &rng, n))
                    complain(ir, p, NULL, "the sum is none of the row in its order");
            }
        }
    bench_end(&b);
}

/* Maps under which a free fold takes elements from far apart, over and over. */
static void folded_apart(void **state) {
    static const struct {
        const char *target, *map;
    } maps[] = {{"cpu-avx512", "loop 2, lane 4"}, {"cpu-avx512", "loop 4, slot 2"},
                {"simt4", "loop 2, lane 4"},      {"simt4", "loop 4, sub 2"},
                {"simt32", "loop 2, lane 4"},     {"simt32", "loop 4, slot 2"}};
    static const char *const orders[] = {"tree", "free"};
    enum { ROWS = 20, WIDE = 8 };
    (void)state;
    for (size_t m = 0; m < sizeof maps / sizeof maps[0]; m++)
        for (unsigned k = 0; k < 4; k++) {
            const bench b = bench_on(maps[m].target);
            const char *order = orders[k % 2];
            tw_ir *ir = kernel_of(&b, text_of(b.a, order, WIDE, k / 2));
            const twi_plans *p = written_plans(
                &b, ir,
                twi_format(b.a, "plan k/0 class=%s\nframe f: r = grid 1 ; w = %s\nentry main\n",
                           order, maps[m].map));
            unsigned kept = 0;
            twi_rng rng;
            twi_rng_init(&rng, m);
            for (unsigned row = 0; row < ROWS; row++)
                kept += in_order(&b, ir, p, &rng, WIDE);
            if (kept == ROWS && k % 2)
                complain(ir, p, NULL, "free, and yet no row shows that it permutes");
            if (kept < ROWS && k % 2 == 0)
                complain(ir, p, NULL, "the sum is none of the row in its order");
            bench_end(&b);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded_apart), ON("cpu-avx512", random_plans),
        ON("cpu-baseline", random_plans), ON("simt4", random_plans), ON("simt32", random_plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
