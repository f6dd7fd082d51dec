/* SPDX-License-Identifier: Apache-2.0
 * A few threads that take parts of a job. The caller takes parts too, so a pool of n has n - 1
 * threads of its own, made when first needed. A pool in use by another thread, or one that cannot
 * start threads, leaves the whole job to the caller. After fork the child makes threads of its own.
 * Between two jobs a thread looks out for the next a while before it sleeps.
 */
#ifndef TWI_TARGET_CPU_POOL_H
#define TWI_TARGET_CPU_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { TWI_POOL_MOST = 256 };

typedef void (*twi_part_fn)(void *job, int64_t part);
typedef struct { /* parts that are one thread's as long as it is not late */
    atomic_llong next;
    int64_t end;
    char apart[48]; /* from what another thread counts */
} twi_share;
typedef struct {
    pthread_mutex_t busy, lock;
    pthread_cond_t start, done;
    pthread_t thread[TWI_POOL_MOST];
    int threads;              /* started */
    int units;                /* processors that there are */
    atomic_int turns;         /* looks at the state before a thread sleeps */
    atomic_int asleep;        /* threads */
    atomic_bool waits;        /* the caller sleeps too */
    atomic_bool stop;         /* all leave */
    atomic_ullong generation; /* number of the job */
    atomic_uint state;        /* twice the threads inside, and 1 while more may come in */
    pid_t owner;
    int wanted; /* threads that take part in the job; it and what follows: while inside alone */
    twi_part_fn fn;
    void *job;
    int shares;
    twi_share share[TWI_POOL_MOST];
} twi_pool;

void twi_pool_init(twi_pool *p);
void twi_pool_fini(twi_pool *p); /* joins its threads, unless they stayed behind a fork */
/* fn(job, k) for k in 0 .. parts-1, each once, by at most `threads` threads, the caller included.
 */
void twi_pool_run(twi_pool *p, int threads, int64_t parts, twi_part_fn fn, void *job);

#endif
