/* SPDX-License-Identifier: Apache-2.0
 * cmocka wants its includes in this order; an arena with its memory for one test.
 */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"

typedef struct fixture {
    twi_mem mem;
    twi_arena arena;
} fixture;

static inline void fixture_open(fixture *f) {
    twi_mem_init(&f->mem);
    twi_arena_init(&f->arena, &f->mem);
}

/* Frees all, and sees that nothing is left. */
static inline void fixture_close(fixture *f) {
    twi_arena_fini(&f->arena);
    assert_int_equal(f->mem.bytes, 0);
}

#endif
