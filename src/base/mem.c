/* SPDX-License-Identifier: Apache-2.0
 * Where memory comes from, and the jump when there is none.
 */
#include "base/mem.h"

#include <stdlib.h>

static void *get_zeroed(void *user, size_t size) {
    (void)user;
    return calloc(1, size);
}

static void put_free(void *user, void *p) {
    (void)user;
    free(p);
}

void twi_mem_init(twi_mem *mem) { *mem = (twi_mem){.alloc = get_zeroed, .release = put_free}; }

bool twi_mem_zeroed(const twi_mem *mem) { return mem->alloc == get_zeroed; }

_Noreturn void twi_mem_fail(twi_mem *mem) {
    if (!mem->on_oom)
        abort();
    longjmp(*mem->on_oom, 1);
}

void *twi_mem_get(twi_mem *mem, size_t size) {
    mem->allocations++;
    void *p = mem->alloc(mem->user, size ? size : 1);
    if (!p)
        twi_mem_fail(mem);
    mem->bytes += size;
    return p;
}

void twi_mem_put(twi_mem *mem, void *p, size_t size) {
    if (!p)
        return;
    mem->bytes -= size;
    mem->release(mem->user, p);
}
