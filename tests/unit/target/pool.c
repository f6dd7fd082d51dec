/* SPDX-License-Identifier: Apache-2.0
 * The pool: every part once, whatever the number of threads changes to between jobs, with threads
 * that look out for the next job and threads that sleep; who has which part, and which scratch
 * memory.
 */
#include "target/cpu/pool.h"
#include "target/buffers.h"

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

enum { PAIRS = 4 };
typedef struct {
    atomic_bool here[2 * PAIRS];
    atomic_bool late;
} pairs;

/* Waits for the part as far on in the other half. */
static void meet_other(void *user, int64_t part) {
    pairs *p = user;
    const time_t end = time(NULL) + 20;
    atomic_store(&p->here[part], true);
    while (!atomic_load(&p->here[(part + PAIRS) % (2 * PAIRS)]) && !atomic_load(&p->late))
        if (time(NULL) > end)
            atomic_store(&p->late, true);
}

/* Two threads go through a half each: parts drawn from one row would never meet. */
static void shares(void **state) {
    (void)state;
    static twi_pool pool;
    twi_pool_init(&pool);
    for (int k = 0; k < 20; k++) {
        pairs p = {.late = false};
        twi_pool_run(&pool, 2, 2 * PAIRS, meet_other, &p);
        assert_false(atomic_load(&p.late));
    }
    twi_pool_fini(&pool);
}

typedef struct {
    twi_buffers list;
    void *block;
} lent;

static void *put(void *user) {
    lent *l = user;
    twi_buffers_put(&l->list, l->block);
    return NULL;
}

/* A thread gets the block that it used last, also where another has put one since. */
static void own_blocks(void **state) {
    (void)state;
    lent l;
    pthread_t other;
    twi_buffers_init(&l.list, 100);
    void *mine = twi_buffers_take(&l.list);
    l.block = twi_buffers_take(&l.list);
    assert_true(mine && l.block && mine != l.block);
    twi_buffers_put(&l.list, mine);
    assert_int_equal(pthread_create(&other, NULL, put, &l), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_ptr_equal(twi_buffers_take(&l.list), mine);
    assert_ptr_equal(twi_buffers_take(&l.list), l.block);
    twi_buffers_put(&l.list, l.block);
    twi_buffers_put(&l.list, mine);
    twi_buffers_fini(&l.list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_once),
        cmocka_unit_test(threads_take_part),
        cmocka_unit_test(shares),
        cmocka_unit_test(own_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
