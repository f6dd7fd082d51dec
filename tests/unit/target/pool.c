/* SPDX-License-Identifier: Apache-2.0
 * The pool: every part once, whatever the number of threads changes to between jobs, with threads
 * that look out for the next job and threads that sleep.
 */
#include "target/cpu/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

enum { MOST = 64, JOBS = 2000 };

typedef struct {
    atomic_int times[MOST];
    atomic_int inside, crowd; /* threads in a part; most at once */
} job;

static void count(void *user, int64_t part) {
    job *j = user;
    const int now = atomic_fetch_add(&j->inside, 1) + 1;
    int most = atomic_load(&j->crowd);
    while (now > most && !atomic_compare_exchange_weak(&j->crowd, &most, now))
        ;
    atomic_fetch_add(&j->times[part], 1);
    atomic_fetch_sub(&j->inside, 1);
}

static void every_part_once(void **state) {
    (void)state;
    static twi_pool pool;
    twi_pool_init(&pool);
    for (int k = 0; k < JOBS; k++) {
        const int threads = 1 + k % 5, parts = 1 + k * 7 % MOST;
        job j = {.inside = 0};
        if (k % 500 == 0) /* all sleep */
            (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        twi_pool_run(&pool, threads, parts, count, &j);
        assert_int_equal(atomic_load(&j.inside), 0);
        assert_in_range(atomic_load(&j.crowd), 1, threads);
        for (int p = 0; p < MOST; p++)
            assert_int_equal(atomic_load(&j.times[p]), p < parts);
    }
    twi_pool_fini(&pool);
}

/* Two parts that wait for each other end only where two threads take them. */
static void meet(void *user, int64_t part) {
    atomic_int *here = user;
    (void)part;
    atomic_fetch_add(here, 1);
    while (atomic_load(here) < 2)
        ;
}

static void threads_take_part(void **state) {
    (void)state;
    static twi_pool pool;
    twi_pool_init(&pool);
    for (int k = 0; k < 20; k++) {
        atomic_int here = 0;
        if (k % 5 == 0) /* all sleep */
            (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        twi_pool_run(&pool, 2, 2, meet, &here);
        assert_int_equal(atomic_load(&here), 2);
    }
    twi_pool_fini(&pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_once),
        cmocka_unit_test(threads_take_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
