/* SPDX-License-Identifier: Apache-2.0
 * The thread pool. Workers sleep on a condition; a job is a generation number, and parts are drawn
 * from an atomic counter, so which thread has which part is left open (groups don't depend on each
 * other).
 */
#include "target/cpu/pool.h"

#include <signal.h>
#include <unistd.h>

static void fresh(twi_pool *p) {
    (void)pthread_mutex_init(&p->busy, NULL);
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->start, NULL);
    (void)pthread_cond_init(&p->done, NULL);
    p->threads = p->wanted = p->running = 0;
    p->generation = 0;
    p->stop = false;
    p->owner = getpid();
    atomic_init(&p->next, 0);
}

void twi_pool_init(twi_pool *p) { fresh(p); }

static void draw(twi_pool *p) {
    for (;;) {
        const int64_t part = atomic_fetch_add(&p->next, 1);
        if (part >= p->parts)
            return;
        p->fn(p->job, part);
    }
}

static int claim_index(twi_pool *p) {
    for (int i = 0; i < p->threads; i++)
        if (pthread_equal(p->thread[i], pthread_self()))
            return i;
    return p->threads;
}

static void *worker(void *arg) {
    twi_pool *p = arg;
    (void)pthread_mutex_lock(&p->lock);
    const int index = claim_index(p);
    uint64_t seen = 0;
    while (!p->stop) {
        if (p->generation == seen) {
            (void)pthread_cond_wait(&p->start, &p->lock);
            continue;
        }
        seen = p->generation;
        if (index >= p->wanted)
            continue;
        (void)pthread_mutex_unlock(&p->lock);
        draw(p);
        (void)pthread_mutex_lock(&p->lock);
        if (--p->running == 0)
            (void)pthread_cond_signal(&p->done);
    }
    (void)pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Up to n threads; signals of the host are not theirs. Called with the lock held. */
static void start_threads(twi_pool *p, int n) {
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    while (p->threads < n && p->threads < TWI_POOL_MOST) {
        if (pthread_create(&p->thread[p->threads], NULL, worker, p) != 0)
            break;
        p->threads++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void twi_pool_fini(twi_pool *p) {
    if (p->owner != getpid())
        return;
    (void)pthread_mutex_lock(&p->lock);
    p->stop = true;
    (void)pthread_cond_broadcast(&p->start);
    (void)pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->threads; i++)
        (void)pthread_join(p->thread[i], NULL);
    (void)pthread_cond_destroy(&p->start);
    (void)pthread_cond_destroy(&p->done);
    (void)pthread_mutex_destroy(&p->lock);
    (void)pthread_mutex_destroy(&p->busy);
}

static void run_alone(int64_t parts, twi_part_fn fn, void *job) {
    for (int64_t k = 0; k < parts; k++)
        fn(job, k);
}

void twi_pool_run(twi_pool *p, int threads, int64_t parts, twi_part_fn fn, void *job) {
    if (threads > parts)
        threads = (int)parts;
    if (threads <= 1) {
        run_alone(parts, fn, job);
        return;
    }
    if (p->owner !=
        getpid()) /* a child: the parent's threads and the state of its locks are not here */
        fresh(p);
    if (pthread_mutex_trylock(&p->busy) != 0) {
        run_alone(parts, fn, job);
        return;
    }
    (void)pthread_mutex_lock(&p->lock);
    start_threads(p, threads - 1);
    p->wanted = p->running = threads - 1 < p->threads ? threads - 1 : p->threads;
    p->fn = fn;
    p->job = job;
    p->parts = parts;
    atomic_store(&p->next, 0);
    p->generation++;
    (void)pthread_cond_broadcast(&p->start);
    (void)pthread_mutex_unlock(&p->lock);
    draw(p);
    (void)pthread_mutex_lock(&p->lock);
    while (p->running > 0)
        (void)pthread_cond_wait(&p->done, &p->lock);
    (void)pthread_mutex_unlock(&p->lock);
    (void)pthread_mutex_unlock(&p->busy);
}
