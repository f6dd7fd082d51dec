/* SPDX-License-Identifier: Apache-2.0
 * Prices from planted times: they come back where there are many, through noise too; a term that
 * was never measured keeps its analytic price, and two that go together keep theirs; regrets and
 * residuals by hand.
 */
#include "tune/fit.h"

#include "base/hash.h"
#include "base/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GROUPS = 600, FEW = 20, PLANS = 12 };

typedef struct {
    twi_mem mem;
    twi_arena arena;
    jmp_buf spot, *saved;
    twi_rng rng;
    twi_measured m[GROUPS][PLANS];
    twi_group group[GROUPS];
    double analytic[TWI_COSTS], planted[TWI_COSTS], got[TWI_COSTS];
} bench;

static int start(void **state) {
    bench *b = calloc(1, sizeof *b);
    twi_mem_init(&b->mem);
    twi_arena_init(&b->arena, &b->mem);
    twi_rng_init(&b->rng, 3);
    *state = b;
    return 0;
}

static int end(void **state) {
    bench *b = *state;
    twi_arena_fini(&b->arena);
    free(b);
    return 0;
}

/* Amounts of all terms but the last, times by the planted prices. */
static void plant(bench *b, double noise) {
    for (unsigned k = 0; k < TWI_COSTS; k++) {
        b->analytic[k] = 1;
        b->planted[k] = 0.25 * (1 + k % 5);
    }
    for (unsigned g = 0; g < GROUPS; g++) {
        const double size = pow(4, g % 6);
        b->group[g] = (twi_group){b->m[g], PLANS};
        for (unsigned i = 0; i < PLANS; i++) {
            twi_measured *m = &b->m[g][i];
            for (unsigned k = 0; k + 1 < TWI_COSTS; k++)
                m->amount[k] = k ? size * floor(50 * pow(twi_rng_unit(&b->rng), 3)) : 1;
            m->ns = twi_fit_score(m, b->planted) * (1 + noise * fabs(twi_rng_normal(&b->rng)));
        }
    }
}

static void fit(bench *b, uint32_t groups) {
    if (TWI_GUARD(&b->mem, b->spot, b->saved))
        fail_msg("no memory");
    assert_true(twi_fit(&b->arena, b->group, groups, b->analytic, b->got));
    TWI_UNGUARD(&b->mem, b->saved);
}

static void planted_prices(void **state) {
    bench *b = *state;
    for (int noisy = 0; noisy < 2; noisy++) {
        plant(b, noisy ? 0.03 : 0);
        fit(b, GROUPS);
        for (unsigned k = 1; k + 1 < TWI_COSTS; k++) /* what a launch takes drowns in the rest */
            assert_true(fabs(b->got[k] / b->planted[k] - 1) < (noisy ? 0.25 : 0.15));
        for (unsigned g = 0; g < GROUPS; g++)
            assert_true(twi_fit_regret(&b->group[g], b->got) < (noisy ? 0.1 : 0.05));
    }
}

/* Half of what is planted on the whole is what is asked of a term that nothing tells of. */
static void unmeasured(void **state) {
    bench *b = *state;
    plant(b, 0);
    for (unsigned k = 0; k < TWI_COSTS; k++)
        b->analytic[k] = 2 * b->planted[k];
    fit(b, GROUPS);
    assert_true(fabs(b->got[TWI_COSTS - 1] / b->planted[TWI_COSTS - 1] - 1) < 0.02);
}

/* Of two terms nearly in proportion, noise decides which of them a fit would give the whole to. */
static void together(void **state) {
    bench *b = *state;
    plant(b, 0);
    for (unsigned k = 0; k < TWI_COSTS; k++)
        b->analytic[k] = b->planted[k];
    for (unsigned g = 0; g < FEW; g++)
        for (unsigned i = 0; i < PLANS; i++) {
            twi_measured *m = &b->m[g][i];
            m->amount[4] = m->amount[3] * (1 + 0.03 * twi_rng_unit(&b->rng));
            m->ns = twi_fit_score(m, b->planted) * (1 + 0.3 * fabs(twi_rng_normal(&b->rng)));
        }
    fit(b, FEW);
    for (unsigned k = 3; k <= 4; k++)
        assert_true(fabs(b->got[k] / b->planted[k] - 1) < 0.3);
}

static void by_hand(void **state) {
    bench *b = *state;
    twi_measured m[3] = {{.ns = 100}, {.ns = 80}, {.ns = 120}};
    const twi_group g = {m, 3};
    double price[TWI_COSTS] = {0}, by_term[TWI_COSTS];
    price[0] = 1;
    price[1] = 10;
    m[0].amount[0] = 90; /* 90 */
    m[1].amount[1] = 10; /* 100 */
    m[2].amount[0] = 90; /* 90, the second of equals */
    assert_int_equal(twi_fit_pick(&g, price), 0);
    assert_true(fabs(twi_fit_regret(&g, price) - 0.25) < 1e-12);
    if (TWI_GUARD(&b->mem, b->spot, b->saved))
        fail_msg("no memory");
    const double all = twi_fit_residuals(&b->arena, &g, 1, price, by_term);
    TWI_UNGUARD(&b->mem, b->saved);
    assert_true(fabs(all - 0.25) < 1e-12);         /* of 0.1, 0.25, 0.25 */
    assert_true(fabs(by_term[0] - 0.175) < 1e-12); /* of 0.1, 0.25 */
    assert_true(fabs(by_term[1] - 0.25) < 1e-12 && isnan(by_term[2]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(planted_prices, start, end),
        cmocka_unit_test_setup_teardown(unmeasured, start, end),
        cmocka_unit_test_setup_teardown(together, start, end),
        cmocka_unit_test_setup_teardown(by_hand, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
