/* SPDX-License-Identifier: Apache-2.0
 * Maps: the text form, and arithmetic judged by brute force: workers and trips are enumerated one
 * by one and what index each holds is computed from the definition alone.
 */
#include "map/map.h"
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static twi_mem mem;
static twi_arena arena;

static int setup(void **state) {
    (void)state;
    twi_mem_init(&mem);
    twi_arena_init(&arena, &mem);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    twi_arena_fini(&arena);
    return 0;
}

static void expect_text(const char *text, const char *printed) {
    twi_map m;
    size_t bad;
    twi_sb sb;
    assert_true(twi_map_parse(text, strlen(text), &m, &bad));
    twi_sb_init(&sb, &arena);
    twi_map_print(&m, &sb);
    assert_string_equal(twi_sb_text(&sb), printed);
}

static void text_round_trip(void **state) {
    (void)state;
    expect_text("loop 2, sub 4@2, lane 32, slot 4", "loop 2, sub 4@2, lane 32, slot 4");
    expect_text("  grid 128 ", "grid 128");
    expect_text("lane 8@1,slot 3", "lane 8, slot 3");
    expect_text("loop 0, slot 12", "loop 0, slot 12");
    expect_text("serial 9223372036854775807", "serial 9223372036854775807");
    expect_text("cluster 2@2, atom 1", "cluster 2@2, atom 1");
}

static void text_faults(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t at;
    } cases[] = {
        {"", 0},
        {"lane", 4},
        {"lane x", 5},
        {"lanes 4", 0},
        {"lane 4,", 7},
        {"lane 4 slot", 7},
        {"lane 4, , slot 1", 8},
        {"slot 4@2", 6},
        {"lane 4@0", 7},
        {"lane 04", 5},
        {"lane -4", 5},
        {"lane 4@65536", 7},
        {"lane 4@ 2", 7},
        {"grid 9223372036854775808", 5},
        {"slot 1, slot 1, slot 1, slot 1, slot 1, slot 1, slot 1, slot 1, slot 1", 64},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        twi_map m;
        size_t bad = 999;
        assert_false(twi_map_parse(cases[i].text, strlen(cases[i].text), &m, &bad));
        assert_int_equal(bad, cases[i].at);
    }
}

/* Value of the digits of a map for one (sub, lane) and one odometer reading of its time digits. */
static int64_t index_of(const twi_map *m, int64_t sub, int64_t lane, int64_t time) {
    int64_t index = 0, scale = 1;
    for (unsigned i = m->n; i-- > 0;) {
        const twi_digit *d = &m->d[i];
        int64_t v;
        if (d->level == TWI_LV_SUB || d->level == TWI_LV_LANE) {
            v = (d->level == TWI_LV_SUB ? sub : lane) / d->stride % d->extent;
        } else {
            v = time % d->extent;
            time /= d->extent;
        }
        index += v * scale;
        scale *= d->extent;
    }
    return index;
}

static twi_digit any_digit(twi_rng *rng) {
    static const uint8_t levels[] = {TWI_LV_SUB, TWI_LV_LANE, TWI_LV_LOOP, TWI_LV_SLOT};
    twi_digit d = {.level = levels[twi_rng_below(rng, 4)],
                   .extent = 1 + (int64_t)twi_rng_below(rng, 4)};
    d.stride = twi_level_strided(d.level) ? (uint16_t)(1 + twi_rng_below(rng, 6)) : 0;
    return d;
}

static int64_t product(const twi_map *m, bool space) {
    int64_t p = 1;
    for (unsigned i = 0; i < m->n; i++)
        if (twi_level_is_space(m->d[i].level) == space)
            p *= m->d[i].extent;
    return p;
}

/* Two random maps that are disjoint on sub and lane: every pair of indices is held, and each by the
 * same number of (worker, trip) pairs, over an id space that all strides divide. Overlapping ones:
 * not so. */
static void coverage(void **state) {
    (void)state;
    enum { IDS = 16 * 9 * 5 }; /* a multiple of every stride * extent below */
    twi_rng rng;
    twi_rng_init(&rng, 7);
    unsigned accepted = 0, refused = 0;
    for (unsigned round = 0; round < 400; round++) {
        twi_map m[2];
        for (unsigned k = 0; k < 2; k++) {
            m[k].n = (uint8_t)(1 + twi_rng_below(&rng, 2));
            for (unsigned i = 0; i < m[k].n; i++)
                m[k].d[i] = any_digit(&rng);
            if (round % 2) /* lanes alone: denser in both outcomes */
                for (unsigned i = 0; i < m[k].n; i++)
                    m[k].d[i].level = TWI_LV_LANE,
                    m[k].d[i].stride = (uint16_t)(1 + twi_rng_below(&rng, 6));
        }
        const twi_map *both[2] = {&m[0], &m[1]};
        unsigned a, b;
        bool lanes = twi_map_disjoint(both, 2, TWI_LV_LANE, &a, &b);
        bool subs = twi_map_disjoint(both, 2, TWI_LV_SUB, &a, &b);
        int64_t e0 = twi_map_extent(&m[0]), e1 = twi_map_extent(&m[1]);
        assert_int_equal(e0, product(&m[0], true) * product(&m[0], false));
        int64_t held[16 * 16] = {0};
        int64_t t0 = product(&m[0], false), t1 = product(&m[1], false);
        int64_t nsub = IDS, nlane = IDS;
        bool has_sub = false;
        for (unsigned k = 0; k < 2; k++)
            for (unsigned i = 0; i < m[k].n; i++)
                has_sub = has_sub || m[k].d[i].level == TWI_LV_SUB;
        if (!has_sub)
            nsub = 1;
        if (has_sub && round % 40)
            continue; /* IDS * IDS workers: a few such rounds are enough */
        for (int64_t s = 0; s < nsub; s++)
            for (int64_t l = 0; l < nlane; l++)
                for (int64_t t = 0; t < t0 * t1; t++)
                    held[index_of(&m[0], s, l, t / t1) * e1 + index_of(&m[1], s, l, t % t1)]++;
        bool even = true;
        for (int64_t i = 0; i < e0 * e1; i++)
            even = even && held[i] == held[0] && held[i] > 0;
        if (lanes && subs) {
            assert_true(even);
            accepted++;
        } else {
            refused++;
        }
    }
    assert_true(accepted > 50 && refused > 50);
}

static twi_map parsed(const char *text) {
    twi_map m;
    size_t bad;
    assert_true(twi_map_parse(text, strlen(text), &m, &bad));
    return m;
}

static void weights(void **state) {
    (void)state;
    twi_map m = parsed("loop 5, sub 3, lane 4, slot 7");
    assert_int_equal(twi_map_weight(&m, 0), 3 * 4 * 7);
    assert_int_equal(twi_map_weight(&m, 3), 1);
    assert_int_equal(twi_map_extent(&m), 5 * 3 * 4 * 7);
    assert_int_equal(twi_map_level_extent(&m, TWI_LV_LANE), 4);
    assert_int_equal(twi_map_level_extent(&m, TWI_LV_GRID), 1);
    twi_map open = parsed("loop 0, slot 3, slot 2");
    assert_int_equal(twi_map_weight(&open, 0), 6);
    assert_true(twi_map_extent(&open) == INT64_MAX);
    assert_int_equal(twi_map_level_extent(&open, TWI_LV_SLOT), 6);
    twi_map huge = parsed("loop 9223372036854775807, slot 2");
    assert_true(twi_map_extent(&huge) == INT64_MAX);
}

static void sameness(void **state) {
    (void)state;
    twi_map a = parsed("loop 2, lane 8, slot 4"), b = parsed("slot 2, lane 8, loop 4");
    twi_map c = parsed("slot 2, lane 8, slot 2"), d = parsed("slot 2, lane 8@2, slot 4");
    twi_map e = parsed("loop 2, lane 8, lane 1@8, slot 4");
    assert_true(twi_map_same_space(&a, &b));
    assert_false(twi_map_equal(&a, &b));
    assert_false(twi_map_same_space(&a, &c)); /* another weight */
    assert_false(twi_map_same_space(&a, &d)); /* another stride */
    assert_true(twi_map_same_space(&a, &e));
    assert_true(twi_map_equal(&a, &a));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_round_trip), cmocka_unit_test(text_faults), cmocka_unit_test(weights),
        cmocka_unit_test(sameness),        cmocka_unit_test(coverage),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
