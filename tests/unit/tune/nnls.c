/* SPDX-License-Identifier: Apache-2.0
 * Least squares without negative coefficients: systems made by hand, and random ones against a
 * search through all sets of columns that may be in, solved by Gauss on the normal equations.
 */
#include "tune/nnls.h"

#include "base/hash.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    twi_mem mem;
    twi_arena arena;
    jmp_buf spot, *saved;
    twi_rng rng;
} bench;

static int start(void **state) {
    bench *b = calloc(1, sizeof *b);
    twi_mem_init(&b->mem);
    twi_arena_init(&b->arena, &b->mem);
    twi_rng_init(&b->rng, 7);
    *state = b;
    return 0;
}

static int end(void **state) {
    bench *b = *state;
    twi_arena_fini(&b->arena);
    free(b);
    return 0;
}

enum { MOST_ROWS = 12, MOST_COLS = 6 };

static double residual(const double *a, const double *b, unsigned rows, unsigned cols,
                       const double *x) {
    double sum = 0;
    for (unsigned i = 0; i < rows; i++) {
        double v = -b[i];
        for (unsigned c = 0; c < cols; c++)
            v += a[i * cols + c] * x[c];
        sum += v * v;
    }
    return sum;
}

/* Normal equations over the columns of a set. False: singular. */
static bool gauss(const double *a, const double *b, unsigned rows, unsigned cols, unsigned set,
                  double *x) {
    double m[MOST_COLS][MOST_COLS + 1];
    for (unsigned i = 0; i < cols; i++) {
        for (unsigned j = 0; j <= cols; j++) {
            m[i][j] = 0;
            for (unsigned r = 0; r < rows; r++)
                m[i][j] += a[r * cols + i] * (j < cols ? a[r * cols + j] : b[r]);
        }
        if (set >> i & 1)
            continue;
        for (unsigned j = 0; j <= cols; j++)
            m[i][j] = i == j;
    }
    for (unsigned i = 0; i < cols; i++) {
        unsigned p = i;
        for (unsigned r = i + 1; r < cols; r++)
            p = fabs(m[r][i]) > fabs(m[p][i]) ? r : p;
        if (fabs(m[p][i]) < 1e-12)
            return false;
        for (unsigned j = 0; j <= cols; j++) {
            const double v = m[i][j];
            m[i][j] = m[p][j];
            m[p][j] = v;
        }
        for (unsigned r = 0; r < cols; r++)
            for (unsigned j = cols + 1; r != i && j-- > i;)
                m[r][j] -= m[r][i] / m[i][i] * m[i][j];
    }
    for (unsigned i = 0; i < cols; i++)
        x[i] = m[i][cols] / m[i][i];
    return true;
}

/* The least residual over all sets of columns whose solution is allowed. */
static double best_of_all(const double *a, const double *b, unsigned rows, unsigned cols) {
    double best = INFINITY, x[MOST_COLS];
    for (unsigned set = 0; set < 1U << cols; set++) {
        if (!gauss(a, b, rows, cols, set, x))
            continue;
        bool allowed = true;
        for (unsigned c = 0; c < cols; c++)
            allowed = allowed && x[c] >= 0;
        const double r = residual(a, b, rows, cols, x);
        best = allowed && r < best ? r : best;
    }
    return best;
}

static bool fit(bench *b, const double *a, const double *v, unsigned rows, unsigned cols,
                double *x) {
    if (TWI_GUARD(&b->mem, b->spot, b->saved))
        fail_msg("no memory");
    const bool ended = twi_nnls(&b->arena, a, v, rows, cols, x);
    TWI_UNGUARD(&b->mem, b->saved);
    return ended;
}

static void by_hand(void **state) {
    bench *b = *state;
    double x[3];
    /* exact, all positive: 2 and 3 */
    const double a[] = {1, 0, 0, 1, 1, 1}, v[] = {2, 3, 5};
    assert_true(fit(b, a, v, 3, 2, x));
    assert_true(fabs(x[0] - 2) < 1e-12 && fabs(x[1] - 3) < 1e-12);
    /* without the bound 4 and -2; with it the second is out and the first the mean of 4 and 2 */
    const double w[] = {4, -2, 2};
    assert_true(fit(b, a, w, 3, 2, x));
    assert_true(fabs(x[0] - 3) < 1e-12 && x[1] == 0);
    /* nothing helps */
    const double n[] = {-1, -1, -1};
    assert_true(fit(b, a, n, 3, 2, x));
    assert_true(x[0] == 0 && x[1] == 0);
    /* a column that two others make up, one of zeros: the product is right all the same */
    const double twice[] = {1, 2, 0, 2, 4, 0, 3, 6, 0}, t[] = {5, 10, 15};
    assert_true(fit(b, twice, t, 3, 3, x));
    assert_true(fabs(x[0] + 2 * x[1] - 5) < 1e-12 && x[2] == 0);
    /* columns of very different units */
    const double units[] = {1e9, 1e-9, 2e9, 1e-9, 1e9, 3e-9}, u[] = {3e9 + 2, 6e9 + 2, 3e9 + 6};
    assert_true(fit(b, units, u, 3, 2, x));
    assert_true(fabs(x[0] - 3) < 1e-9 && fabs(x[1] / 2e9 - 1) < 1e-4);
}

static void random_systems(void **state) {
    bench *b = *state;
    double a[MOST_ROWS * MOST_COLS], v[MOST_ROWS], x[MOST_COLS];
    for (unsigned k = 0; k < 3000; k++) {
        const unsigned cols = 1 + k % MOST_COLS, rows = 1 + (k / 7) % MOST_ROWS;
        double square = 0;
        for (unsigned i = 0; i < rows * cols; i++) /* some sets are nearly dependent */
            a[i] = k % 3 && i % cols ? a[i - 1] + 0.1 * twi_rng_normal(&b->rng)
                                     : twi_rng_normal(&b->rng);
        for (unsigned i = 0; i < rows; i++) {
            v[i] = twi_rng_normal(&b->rng);
            square += v[i] * v[i];
        }
        assert_true(fit(b, a, v, rows, cols, x));
        for (unsigned c = 0; c < cols; c++)
            assert_true(x[c] >= 0);
        const double best = best_of_all(a, v, rows, cols);
        assert_true(residual(a, v, rows, cols, x) <= best + 1e-9 * square);
    }
}

/* Prices that made the numbers come back, though every number is off by some percent. */
static void planted_prices(void **state) {
    bench *b = *state;
    enum { ROWS = 400, COLS = 5 };
    static const double price[COLS] = {3, 0, 0.5, 20, 0.01};
    static double a[ROWS * COLS], v[ROWS];
    double x[COLS];
    for (unsigned i = 0; i < ROWS; i++) {
        v[i] = 0;
        for (unsigned c = 0; c < COLS; c++) {
            a[i * COLS + c] = fabs(twi_rng_normal(&b->rng)) / (price[c] > 0 ? price[c] : 1);
            v[i] += a[i * COLS + c] * price[c];
        }
        v[i] *= 1 + 0.02 * twi_rng_normal(&b->rng);
    }
    assert_true(fit(b, a, v, ROWS, COLS, x));
    for (unsigned c = 0; c < COLS; c++)
        assert_true(fabs(x[c] - price[c]) < 0.03 * (price[c] > 0 ? price[c] : 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(by_hand, start, end),
        cmocka_unit_test_setup_teardown(random_systems, start, end),
        cmocka_unit_test_setup_teardown(planted_prices, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
