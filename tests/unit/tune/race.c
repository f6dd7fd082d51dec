/* SPDX-License-Identifier: Apache-2.0
 * The race on a false clock: a planted winner, ties, drift, bursts, losses, an early end.
 */
#include "tune/race.h"

#include "base/hash.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct {
    twi_mem mem;
    twi_arena arena;
    jmp_buf spot, *saved;
    twi_rng rng;
    double ns[8];  /* what each candidate takes */
    double noise;  /* share of it, one sigma */
    double drift;  /* a sample makes all later ones so much slower */
    double sway;   /* a round is so many times as slow as others, one sigma of the logarithm */
    double burst;  /* every seventh sample takes so many times as long */
    int lost;      /* this candidate crashes at its third sample; -1: none */
    unsigned stop; /* after so many samples; 0: never */
    unsigned round, taken, of[8];
    double slow; /* the round at hand */
} track;

static twi_sampled sample(void *user, uint32_t k, unsigned round, double *ns) {
    track *t = user;
    assert_true(round == t->round || round == t->round + 1 || round == 0);
    if (k == 0 && (t->round != round || !t->taken))
        t->slow = exp(t->sway * fabs(twi_rng_normal(&t->rng)));
    t->round = round;
    if (t->stop && t->taken >= t->stop)
        return TWI_STOP;
    t->taken++;
    if ((int)k == t->lost && ++t->of[k] == 3)
        return TWI_LOST;
    *ns = t->ns[k] * (1 + t->noise * fabs(twi_rng_normal(&t->rng))) * pow(1 + t->drift, t->taken);
    *ns *= t->slow;
    if (t->burst > 0 && t->taken % 7 == 0)
        *ns *= t->burst;
    return TWI_SAMPLED;
}

static int start(void **state) {
    track *t = calloc(1, sizeof *t);
    twi_mem_init(&t->mem);
    twi_arena_init(&t->arena, &t->mem);
    twi_rng_init(&t->rng, 1);
    t->lost = -1;
    t->noise = 0.02;
    t->slow = 1;
    *state = t;
    return 0;
}

static int end(void **state) {
    track *t = *state;
    twi_arena_fini(&t->arena);
    free(t);
    return 0;
}

static twi_race_result run(track *t, uint32_t n) {
    twi_race_result r;
    if (TWI_GUARD(&t->mem, t->spot, t->saved))
        fail_msg("no memory");
    twi_race_run(&(twi_race){.arena = &t->arena,
                             .n = n,
                             .least = 5,
                             .enough = 25,
                             .most = 100,
                             .sample = sample,
                             .user = t},
                 &r);
    TWI_UNGUARD(&t->mem, t->saved);
    return r;
}

static void set(track *t, const double *ns, size_t n) {
    for (size_t k = 0; k < n; k++)
        t->ns[k] = ns[k];
}

static void planted_winner(void **state) {
    track *t = *state;
    for (uint32_t planted = 0; planted < 5; planted++) {
        for (uint32_t k = 0; k < 5; k++)
            t->ns[k] = k == planted ? 900 : 1000 + 10 * k;
        const twi_race_result r = run(t, 5);
        assert_int_equal(r.leader, planted);
        assert_true(r.at[planted].in);
        for (uint32_t k = 0; k < 5; k++)
            assert_true(k == planted || !r.at[k].in);
        assert_true(r.rounds < 25);
    }
}

/* What is one per cent behind stays in; what is far behind leaves at once. */
static void ties(void **state) {
    track *t = *state;
    set(t, (const double[]){1005, 1000, 3000}, 3);
    t->noise = 0.03;
    const twi_race_result r = run(t, 3);
    assert_true(r.at[0].in && r.at[1].in);
    assert_false(r.at[2].in);
    assert_true(isnan(r.at[2].ns[r.rounds - 1]));
    assert_true(fabs(r.at[2].ratio - 2.985) < 0.1);
}

/* Half as slow again by the end: the drift is told, and the winner is who it was. */
static void drift(void **state) {
    track *t = *state;
    set(t, (const double[]){1000, 960, 1010, 1100}, 4);
    t->drift = 0.003;
    const twi_race_result r = run(t, 4);
    assert_int_equal(r.leader, 1);
    assert_true(r.at[1].in);
    assert_true(r.drift > 1.02);
}

static void bursts(void **state) {
    track *t = *state;
    set(t, (const double[]){1000, 900, 1010, 1100}, 4);
    t->burst = 3;
    const twi_race_result r = run(t, 4);
    assert_int_equal(r.leader, 1);
    assert_true(r.disturbed > 0);
}

static void losses(void **state) {
    track *t = *state;
    set(t, (const double[]){1000, 500, 900}, 3);
    t->lost = 1;
    twi_race_result r = run(t, 3);
    assert_true(r.at[1].lost && !r.at[1].in);
    assert_int_equal(r.leader, 2);
    t->lost = 0; /* the sentinel itself */
    t->of[0] = 0;
    set(t, (const double[]){100, 500, 900}, 3);
    r = run(t, 3);
    assert_true(r.at[0].lost);
    assert_int_equal(r.leader, 1);
}

static twi_sampled all_lost(void *user, uint32_t k, unsigned round, double *ns) {
    (void)user;
    (void)round;
    (void)k;
    *ns = 1;
    return TWI_LOST;
}

static void nobody(void **state) {
    track *t = *state;
    twi_race_result r;
    if (TWI_GUARD(&t->mem, t->spot, t->saved))
        fail_msg("no memory");
    twi_race_run(
        &(twi_race){
            .arena = &t->arena, .n = 3, .least = 5, .enough = 9, .most = 9, .sample = all_lost},
        &r);
    TWI_UNGUARD(&t->mem, t->saved);
    assert_int_equal(r.leader, 3);
    assert_int_equal(r.rounds, 1);
}

/* What is known when time is up holds: three rounds of four samples, then a broken one. */
static void early_end(void **state) {
    track *t = *state;
    set(t, (const double[]){1000, 700, 990}, 3);
    t->stop = 14;
    const twi_race_result r = run(t, 3);
    assert_true(r.stopped);
    assert_int_equal(r.rounds, 3);
    assert_int_equal(r.leader, 1);
}

/* Equals on a machine on which rounds are up to several times as slow as others: their medians
 * differ by more than a tie allows now and then, their ratios within rounds do not. */
static void sways(void **state) {
    track *t = *state;
    unsigned by_medians = 0;
    t->sway = 0.5;
    for (unsigned k = 0; k < 100; k++) {
        set(t, (const double[]){2000, 1000, 1000}, 3);
        t->taken = t->round = 0;
        const twi_race_result r = run(t, 3);
        by_medians += fabs(log(r.at[1].median_ns / r.at[2].median_ns)) > log(TWI_TIE);
        assert_true(fabs(log(twi_race_ratio(&t->arena, &r, 1, 2))) < log(TWI_TIE));
    }
    assert_true(by_medians > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(planted_winner, start, end),
        cmocka_unit_test_setup_teardown(ties, start, end),
        cmocka_unit_test_setup_teardown(drift, start, end),
        cmocka_unit_test_setup_teardown(bursts, start, end),
        cmocka_unit_test_setup_teardown(sways, start, end),
        cmocka_unit_test_setup_teardown(losses, start, end),
        cmocka_unit_test_setup_teardown(nobody, start, end),
        cmocka_unit_test_setup_teardown(early_end, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
