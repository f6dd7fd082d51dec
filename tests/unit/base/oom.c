/* SPDX-License-Identifier: Apache-2.0
 * Every allocation fails once: the N-th call for N = 1, 2, .. until a run needs fewer. Each time
 * control comes back to the guard, nothing is left allocated, and a second try succeeds.
 */
#include "test.h"

#include "base/context.h"
#include "base/diag.h"
#include "base/intern.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <stdlib.h>

/* Counts what is out by itself: twi_mem's own count is under test too. */
typedef struct {
    unsigned calls, fail_at; /* 0: never */
    int out;
} failing;

static void *get(void *user, size_t size) {
    failing *f = user;
    if (++f->calls == f->fail_at)
        return NULL;
    f->out++;
    return malloc(size);
}

static void put(void *user, void *p) {
    failing *f = user;
    f->out--;
    free(p);
}

static void work(twi_arena *arena) {
    twi_names names;
    twi_names_init(&names, arena);
    TWI_VEC(twi_sym) list = {0};
    twi_sb sb;
    twi_sb_init(&sb, arena);
    twi_diags diags;
    twi_diags_init(&diags, arena);
    for (int i = 0; i < 2000; i++) {
        const char *name = twi_format(arena, "n%d", i % 700);
        twi_push(arena, &list, twi_intern_str(&names, name));
        twi_sb_f64(&sb, i * 0.1);
        twi_sb_printf(&sb, " %s\n", name);
        if (i % 100 == 0)
            twi_error(&diags, 1, (twi_loc){0, 0}, NULL, "%s", name);
    }
    twi_diags_print(&diags, &sb, false);
    assert_int_equal(names.n, 701);
    assert_int_equal(list.n, 2000);
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    volatile unsigned failures = 0;
    for (volatile unsigned n = 1;; n++) {
        failing f = {.fail_at = n};
        twi_mem mem;
        twi_mem_init(&mem);
        mem.alloc = get;
        mem.release = put;
        mem.user = &f;
        twi_arena arena;
        twi_arena_init(&arena, &mem);
        jmp_buf spot, *saved;
        volatile bool jumped = false;
        if (TWI_GUARD(&mem, spot, saved))
            jumped = true;
        else
            work(&arena);
        TWI_UNGUARD(&mem, saved);
        assert_int_equal(mem.allocations, f.calls);
        twi_arena_fini(&arena);
        assert_int_equal(mem.bytes, 0);
        assert_int_equal(f.out, 0);
        if (!jumped) {
            assert_true(f.calls < n);
            break;
        }
        assert_int_equal(f.calls, n);
        failures++;
    }
    assert_true(failures >= 5); /* or the work is too small to show anything */
}

static void contexts_fail_cleanly(void **state) {
    (void)state;
    unsigned failures = 0;
    for (unsigned n = 1;; n++) {
        failing f = {.fail_at = n};
        tw_allocator allocator = {get, put, &f};
        tw_context *ctx = tw_context_create(&allocator);
        bool made = ctx != NULL;
        if (made)
            (void)tw_diag_text(ctx, false);
        tw_context_destroy(ctx);
        assert_int_equal(f.out, 0);
        if (made && f.calls < n)
            break;
        failures += !made;
    }
    assert_true(failures >= 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails_once),
        cmocka_unit_test(contexts_fail_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
