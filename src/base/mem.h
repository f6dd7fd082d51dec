/* SPDX-License-Identifier: Apache-2.0
 * Memory of one context: where it comes from, how much is out, and what happens when there is none.
 * All compiler data lives in arenas fed from here. When an allocation fails, control jumps to the
 * innermost TWI_GUARD, which every public entry sets up; inner code never checks for NULL. No file
 * handle, child or lock may be held while code that allocates from an arena runs, unless it is
 * registered with that guard's cleanup.
 */
#ifndef TWI_BASE_MEM_H
#define TWI_BASE_MEM_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct twi_mem {
    void *(*alloc)(void *user, size_t size); /* NULL when there is none */
    void (*release)(void *user, void *p);
    void *user;
    jmp_buf *on_oom;      /* innermost guard; NULL: abort (a bug: no public entry set one up) */
    uint64_t allocations; /* count since creation: the fail-every-allocation tests use it */
    uint64_t bytes;       /* now out */
} twi_mem;

void twi_mem_init(twi_mem *mem);                      /* calloc and free */
bool twi_mem_zeroed(const twi_mem *mem);              /* does what is got come zeroed? */
void *twi_mem_get(twi_mem *mem, size_t size);         /* jumps when there is none */
void twi_mem_put(twi_mem *mem, void *p, size_t size); /* p may be NULL */
_Noreturn void twi_mem_fail(twi_mem *mem);            /* what twi_mem_get does without memory */

/* jmp_buf spot, *saved;  if (TWI_GUARD(mem, spot, saved)) { out of memory } ... TWI_UNGUARD(mem,
 * saved) */
#define TWI_GUARD(mem, spot, saved)                                                                \
    ((saved) = (mem)->on_oom, (mem)->on_oom = &(spot), setjmp(spot) != 0)
#define TWI_UNGUARD(mem, saved) ((void)((mem)->on_oom = (saved)))

#endif
