/* SPDX-License-Identifier: Apache-2.0
 * Launches: the groups in parts over the pool. Every part runs in the default floating-point
 * environment (nearest even, subnormals kept, traps masked), whatever the calling thread has; that
 * is put back afterwards.
 */
#include "target/cpu/cpu.h"

#include <stdio.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

enum { PARTS_A_THREAD = 4 };

typedef struct {
    const twi_cpu_func *func;
    twi_buffers *scratch;
    const twi_launch *args;
    int64_t grid, parts;
    atomic_bool no_memory;
} job;

static int64_t part_start(const job *j, int64_t part) {
    return j->grid / j->parts * part + (j->grid % j->parts) * part / j->parts;
}

/* The floating-point environment. On x86-64 it is MXCSR alone, since the code that is made does not
 * use the x87 unit, whose environment takes longer to store and load than a small kernel runs. */
#if defined(__x86_64__)
typedef unsigned environment;
enum { DEFAULT_CONTROL = 0x1f80, CONTROL = 0xffc0 };

static void enter_default(environment *before) {
    *before = _mm_getcsr();
    if ((*before & CONTROL) != DEFAULT_CONTROL)
        _mm_setcsr(DEFAULT_CONTROL);
}

static void put_back(const environment *before) {
    if (_mm_getcsr() != *before)
        _mm_setcsr(*before);
}
#else
typedef fenv_t environment;

static void enter_default(environment *before) {
    (void)fegetenv(before);
    (void)fesetenv(FE_DFL_ENV);
}

static void put_back(const environment *before) { (void)fesetenv(before); }
#endif

static void run_part(void *user, int64_t part) {
    job *j = user;
    const twi_launch *a = j->args;
    environment before;
    char *scratch = twi_buffers_take(j->scratch);
    if (!scratch && j->func->scratch) {
        atomic_store(&j->no_memory, true);
        return;
    }
    enter_default(&before);
    j->func->fn(a->array, (const unsigned long long *)(const void *)a->scalar,
                (const long long *)(const void *)a->stride,
                (const long long *)(const void *)a->trip, scratch, part_start(j, part),
                part_start(j, part + 1));
    put_back(&before);
    twi_buffers_put(j->scratch, scratch);
}

tw_status twi_cpu_launch(twi_module *base, uint32_t func, int64_t grid, const twi_launch *args,
                         char error[TWI_ERROR_TEXT]) {
    twi_cpu_module *m = (twi_cpu_module *)base;
    twi_cpu *cpu = (twi_cpu *)base->target;
    if (grid <= 0)
        return TW_OK;
    int64_t threads = args->threads > 0 ? args->threads : (int64_t)cpu->base.caps.units;
    threads = threads < TWI_POOL_MOST ? threads : TWI_POOL_MOST;
    job j = {.func = &m->func[func], .scratch = &m->scratch, .args = args, .grid = grid};
    j.parts = threads == 1 ? 1 : threads * PARTS_A_THREAD;
    j.parts = j.parts < grid ? j.parts : grid;
    atomic_init(&j.no_memory, false);
    twi_pool_run(&cpu->pool, (int)threads, j.parts, run_part, &j);
    if (atomic_load(&j.no_memory)) {
        (void)snprintf(error, TWI_ERROR_TEXT, "no memory for %llu bytes of scratch a thread",
                       (unsigned long long)m->func[func].scratch);
        return TW_ERR_MEMORY;
    }
    return TW_OK;
}
