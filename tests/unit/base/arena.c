/* SPDX-License-Identifier: Apache-2.0
 * Arenas and vectors: zeroed, aligned, apart from each other; marks give back exactly what came
 * later.
 */
#include "test.h"

#include "base/diag.h"
#include "base/intern.h"
#include "base/vec.h"

static void pieces_are_zero_aligned_and_apart(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f);
    enum { N = 400 };
    unsigned char *piece[N];
    size_t size[N];
    for (size_t i = 0; i < N; i++) {
        size[i] = i * i % 977; /* 0 among them */
        piece[i] = twi_alloc(&f.arena, size[i]);
        assert_int_equal((uintptr_t)piece[i] % 16, 0);
        for (size_t j = 0; j < size[i]; j++)
            assert_int_equal(piece[i][j], 0);
        if (size[i])
            memset(piece[i], (int)(i % 250) + 1, size[i]);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < size[i]; j++)
            assert_int_equal(piece[i][j], i % 250 + 1);
    fixture_close(&f);
}

static void empty_pieces_have_addresses(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f);
    assert_ptr_not_equal(twi_alloc(&f.arena, 0), twi_alloc(&f.arena, 0));
    fixture_close(&f);
}

static void reset_reuses_and_zeroes(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f);
    char *kept = twi_strdup(&f.arena, "kept");
    twi_mark mark = twi_arena_mark(&f.arena);
    char *first = twi_alloc(&f.arena, 100);
    memset(first, 'x', 100);
    uint64_t before = f.mem.bytes;
    for (int i = 0; i < 100; i++)
        (void)twi_alloc(&f.arena, 10000);
    assert_true(f.mem.bytes >= before + 1000000 - 4096);
    twi_arena_reset(&f.arena, mark);
    assert_true(f.mem.bytes <= before + (1 << 20) + 64); /* one block is held */
    char *again = twi_alloc(&f.arena, 100);
    assert_ptr_equal(first, again);
    for (int i = 0; i < 100; i++)
        assert_int_equal(again[i], 0);
    assert_string_equal(kept, "kept");
    fixture_close(&f);
}

static void reset_to_nothing(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f);
    twi_mark mark = twi_arena_mark(&f.arena);
    (void)twi_alloc(&f.arena, 5000);
    (void)twi_alloc(&f.arena, 50000);
    twi_arena_reset(&f.arena, mark);
    assert_true(f.mem.bytes < 60000);
    twi_arena_fini(&f.arena);
    assert_int_equal(f.mem.bytes, 0);
    fixture_close(&f);
}

/* The same work between a mark and its reset takes no more from the system, and finds zeroes. */
static void reset_again_and_again(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f);
    (void)twi_alloc(&f.arena, 4000);
    uint64_t after_one = 0;
    for (int round = 0; round < 20; round++) {
        twi_mark mark = twi_arena_mark(&f.arena);
        for (int i = 0; i < 10; i++) {
            unsigned char *p = twi_alloc(&f.arena, 700);
            for (int j = 0; j < 700; j++)
                assert_int_equal(p[j], 0);
            memset(p, 0xff, 700);
        }
        twi_arena_reset(&f.arena, mark);
        if (round == 0)
            after_one = f.mem.allocations;
    }
    assert_int_equal(f.mem.allocations, after_one);
    fixture_close(&f);
}

/* What outlives a mark on the same arena: a diagnostic, a file's name, a new name. A known name is
 * none. */
static void reset_spares_what_is_kept(void **state) {
    (void)state;
    for (int which = 0; which < 4; which++) {
        fixture f;
        fixture_open(&f);
        twi_diags diags;
        twi_names names;
        twi_diags_init(&diags, &f.arena);
        twi_names_init(&names, &f.arena);
        (void)twi_intern_str(&names, "known");
        twi_mark outer = twi_arena_mark(&f.arena), mark = outer;
        char *first = twi_strdup(&f.arena, "scratch");
        twi_sym sym = which == 0 ? twi_intern_str(&names, "new") : twi_intern_str(&names, "known");
        if (which == 1)
            twi_error(&diags, 1, (twi_loc){0, 0}, "a help", "a text");
        if (which == 2)
            (void)twi_diags_file(&diags, "a file", "", 0);
        twi_arena_reset(&f.arena, mark);
        char *next = twi_alloc(&f.arena, 64);
        memset(next, 'x', 64);
        twi_arena_reset(&f.arena, outer);
        next = twi_alloc(&f.arena, 64);
        memset(next, 'y', 64);
        assert_string_equal(twi_text(&names, sym), which == 0 ? "new" : "known");
        if (which == 1) {
            assert_string_equal(diags.list.at[0].text, "a text");
            assert_string_equal(diags.list.at[0].help, "a help");
        }
        if (which == 2)
            assert_string_equal(diags.files.at[0].name, "a file");
        assert_true((next == first) == (which == 3));
        fixture_close(&f);
    }
}

static void sizes_that_overflow_are_no_memory(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f);
    volatile int jumps = 0;
    for (volatile int which = 0; which < 3; which++) {
        jmp_buf spot, *saved;
        if (TWI_GUARD(&f.mem, spot, saved)) {
            jumps++;
        } else if (which == 0) {
            (void)twi_alloc_n(&f.arena, SIZE_MAX / 2 + 2, 2);
        } else if (which == 1) {
            (void)twi_alloc(&f.arena, SIZE_MAX);
        } else {
            (void)twi_strndup(&f.arena, "", SIZE_MAX);
        }
        TWI_UNGUARD(&f.mem, saved);
    }
    assert_int_equal(jumps, 3);
    assert_null(f.mem.on_oom);
    fixture_close(&f);
}

static void guards_nest(void **state) {
    (void)state;
    twi_mem mem;
    twi_mem_init(&mem);
    volatile int inner = 0, outer = 0;
    jmp_buf a, b, *old_a, *old_b;
    if (TWI_GUARD(&mem, a, old_a)) {
        outer++;
    } else {
        if (TWI_GUARD(&mem, b, old_b)) {
            inner++;
            TWI_UNGUARD(&mem, old_b);
            assert_ptr_equal(mem.on_oom, &a);
        } else {
            twi_mem_fail(&mem);
        }
        twi_mem_fail(&mem);
    }
    TWI_UNGUARD(&mem, old_a);
    assert_int_equal(inner, 1);
    assert_int_equal(outer, 1);
    assert_null(mem.on_oom);
}

static void copies(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f);
    assert_string_equal(twi_strndup(&f.arena, "abcdef", 3), "abc");
    assert_string_equal(twi_strdup(&f.arena, ""), "");
    assert_memory_equal(twi_copy(&f.arena, "a\0b", 3), "a\0b", 3);
    assert_non_null(twi_copy(&f.arena, NULL, 0));
    fixture_close(&f);
}

static void vectors_keep_their_values(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f);
    TWI_VEC(uint64_t) v = {0};
    for (uint64_t i = 0; i < 10000; i++)
        twi_push(&f.arena, &v, i * i);
    assert_int_equal(v.n, 10000);
    assert_true(v.cap >= v.n);
    for (uint64_t i = 0; i < v.n; i++)
        assert_int_equal(v.at[i], i * i);
    twi_reserve(&f.arena, &v, 50000);
    assert_true(v.cap >= 50000);
    assert_int_equal(v.at[9999], 9999 * 9999);
    uint64_t *at = v.at;
    twi_reserve(&f.arena, &v, 50000); /* nothing to do */
    assert_ptr_equal(at, v.at);
    fixture_close(&f);
}

static void vectors_refuse_2_to_31(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f);
    volatile bool jumped = false;
    jmp_buf spot, *saved;
    TWI_VEC(char) v = {0};
    if (TWI_GUARD(&f.mem, spot, saved))
        jumped = true;
    else
        twi_reserve(&f.arena, &v, UINT32_C(1) << 31);
    TWI_UNGUARD(&f.mem, saved);
    assert_true(jumped);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zero_aligned_and_apart),
        cmocka_unit_test(empty_pieces_have_addresses),
        cmocka_unit_test(reset_reuses_and_zeroes),
        cmocka_unit_test(reset_to_nothing),
        cmocka_unit_test(reset_again_and_again),
        cmocka_unit_test(reset_spares_what_is_kept),
        cmocka_unit_test(sizes_that_overflow_are_no_memory),
        cmocka_unit_test(guards_nest),
        cmocka_unit_test(copies),
        cmocka_unit_test(vectors_keep_their_values),
        cmocka_unit_test(vectors_refuse_2_to_31),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
