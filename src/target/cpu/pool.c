/* SPDX-License-Identifier: Apache-2.0
 * The thread pool. A job is a generation number. Each thread has a share of the parts, the same one
 * job after job, so that it finds in its caches what it left there; who is done helps the others
 * (groups don't depend on each other), so nobody waits for a thread that came late. Waking a thread
 * takes longer than a small job, so threads look out for the next job before they sleep; and the
 * caller waits for those alone that came in while there was something to do.
 */
#include "target/cpu/pool.h"

#include "base/cores.h"

#include <signal.h>
#include <unistd.h>

enum {
    TURNS = 4000, /* some 100 microseconds: a sleeper needs about half of that to wake */
    OPEN = 1,     /* of the state */
    ONE = 2       /* thread inside */
};

static void fresh(twi_pool *p) {
    (void)pthread_mutex_init(&p->busy, NULL);
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->start, NULL);
    (void)pthread_cond_init(&p->done, NULL);
    p->threads = p->wanted = 0;
    p->units = twi_cores();
    p->owner = getpid();
    atomic_init(&p->turns, 0);
    atomic_init(&p->asleep, 0);
    atomic_init(&p->waits, false);
    atomic_init(&p->stop, false);
    atomic_init(&p->generation, 0);
    atomic_init(&p->state, 0);
    for (int k = 0; k < TWI_POOL_MOST; k++)
        atomic_init(&p->share[k].next, 0);
}

void twi_pool_init(twi_pool *p) { fresh(p); }

/* A short pause that leaves the core to who shares it. */
static void rest(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Takes the parts of share k, then what is left of those after it. */
static void draw(twi_pool *p, int k) {
    for (int i = 0; i < p->shares; i++) {
        twi_share *s = &p->share[(k + i) % p->shares];
        int64_t part = atomic_fetch_add(&s->next, 1);
        for (; part < s->end; part = atomic_fetch_add(&s->next, 1))
            p->fn(p->job, part);
    }
}

static void deal(twi_pool *p, int64_t parts) {
    for (int64_t k = 0, from = 0; k < p->shares; k++) {
        twi_share *s = &p->share[k];
        atomic_store(&s->next, from);
        from += parts / p->shares + (k < parts % p->shares);
        s->end = from;
    }
}

static int claim_index(twi_pool *p) {
    int i = 0;
    (void)pthread_mutex_lock(&p->lock);
    while (i < p->threads && !pthread_equal(p->thread[i], pthread_self()))
        i++;
    (void)pthread_mutex_unlock(&p->lock);
    return i;
}

static bool is_news(twi_pool *p, unsigned long long seen) {
    return atomic_load(&p->generation) != seen || atomic_load(&p->stop);
}

/* Returns once there is another job than the one seen, or an end. Who is about to sleep says so
 * before the last look, and who has news looks for sleepers after telling it: one sees the other.
 */
static void await_news(twi_pool *p, unsigned long long seen) {
    for (int k = atomic_load(&p->turns); k > 0; k--) {
        if (is_news(p, seen))
            return;
        rest();
    }
    (void)pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->asleep, 1);
    while (!is_news(p, seen))
        (void)pthread_cond_wait(&p->start, &p->lock);
    atomic_fetch_sub(&p->asleep, 1);
    (void)pthread_mutex_unlock(&p->lock);
}

static bool come_in(twi_pool *p) {
    unsigned s = atomic_load(&p->state);
    while (s & OPEN)
        if (atomic_compare_exchange_weak(&p->state, &s, s + ONE))
            return true;
    return false;
}

static void leave(twi_pool *p) {
    if (atomic_fetch_sub(&p->state, ONE) != ONE || !atomic_load(&p->waits))
        return;
    (void)pthread_mutex_lock(&p->lock);
    (void)pthread_cond_signal(&p->done);
    (void)pthread_mutex_unlock(&p->lock);
}

static void *worker(void *arg) {
    twi_pool *p = arg;
    const int index = claim_index(p);
    for (unsigned long long seen = 0;;) {
        await_news(p, seen);
        if (atomic_load(&p->stop))
            return NULL;
        seen = atomic_load(&p->generation);
        if (!come_in(p))
            continue;
        if (index < p->wanted)
            draw(p, index + 1);
        leave(p);
    }
}

/* Up to n threads; signals of the host are not theirs. */
static void start_threads(twi_pool *p, int n) {
    sigset_t all, before;
    if (p->threads >= n)
        return;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)pthread_mutex_lock(&p->lock); /* a thread looks for itself in the list */
    while (p->threads < n && p->threads < TWI_POOL_MOST) {
        if (pthread_create(&p->thread[p->threads], NULL, worker, p) != 0)
            break;
        p->threads++;
    }
    (void)pthread_mutex_unlock(&p->lock);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void wake(twi_pool *p) {
    if (atomic_load(&p->asleep) == 0)
        return;
    (void)pthread_mutex_lock(&p->lock);
    (void)pthread_cond_broadcast(&p->start);
    (void)pthread_mutex_unlock(&p->lock);
}

void twi_pool_fini(twi_pool *p) {
    if (p->owner != getpid())
        return;
    atomic_store(&p->stop, true);
    wake(p);
    for (int i = 0; i < p->threads; i++)
        (void)pthread_join(p->thread[i], NULL);
    (void)pthread_cond_destroy(&p->start);
    (void)pthread_cond_destroy(&p->done);
    (void)pthread_mutex_destroy(&p->lock);
    (void)pthread_mutex_destroy(&p->busy);
}

/* Nobody comes in any more; returns when all that did have left. */
static void close_job(twi_pool *p) {
    atomic_fetch_sub(&p->state, OPEN);
    for (int k = atomic_load(&p->turns); k > 0 && atomic_load(&p->state); k--)
        rest();
    if (!atomic_load(&p->state))
        return;
    (void)pthread_mutex_lock(&p->lock);
    atomic_store(&p->waits, true);
    while (atomic_load(&p->state))
        (void)pthread_cond_wait(&p->done, &p->lock);
    atomic_store(&p->waits, false);
    (void)pthread_mutex_unlock(&p->lock);
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
    start_threads(p, threads - 1);
    p->wanted = threads - 1;
    p->fn = fn;
    p->job = job;
    p->shares = threads;
    deal(p, parts);
    atomic_store(&p->turns,
                 p->threads < p->units ? TURNS : 0); /* else they keep others from work */
    atomic_store(&p->state, OPEN);
    atomic_fetch_add(&p->generation, 1);
    wake(p);
    draw(p, 0);
    close_job(p);
    (void)pthread_mutex_unlock(&p->busy);
}
