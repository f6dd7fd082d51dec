/* SPDX-License-Identifier: Apache-2.0
 * Generated inputs. Lines are runs along an array's last dimension; most fixtures differ by line,
 * so that one array shows several cases. exact: small integers, none zero, neighbours different,
 * with running sums along lines and down columns that stay small: every sum of them is a small
 * integer.
 */
#include "oracle/fixtures.h"
#include "base/hash.h"
#include "oracle/det.h"
#include "oracle/oracle.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

static const char *const names[TWI_FIXTURES] = {
    [TWI_FIX_NONE] = "",         [TWI_FIX_NORMAL] = "normal",   [TWI_FIX_NEGATIVE] = "negative",
    [TWI_FIX_CANCEL] = "cancel", [TWI_FIX_SPECIAL] = "special", [TWI_FIX_EXACT] = "exact",
    [TWI_FIX_ZERO] = "zero",
};

twi_fixture twi_fixture_named(const char *name) {
    for (unsigned f = TWI_FIX_NORMAL; f < TWI_FIXTURES; f++)
        if (strcmp(names[f], name) == 0)
            return (twi_fixture)f;
    return TWI_FIX_NONE;
}

uint32_t twi_fixtures_named(const char *list) {
    uint32_t found = 0;
    while (list) {
        const size_t n = strcspn(list, ",");
        uint32_t one = 0;
        for (unsigned f = TWI_FIX_NORMAL; f < TWI_FIXTURES; f++)
            if (strlen(names[f]) == n && strncmp(names[f], list, n) == 0)
                one = UINT32_C(1) << f;
        if (!one)
            return 0;
        found |= one;
        list = list[n] ? list + n + 1 : NULL;
    }
    return found;
}

const char *twi_fixture_name(twi_fixture fixture) {
    return (unsigned)fixture < TWI_FIXTURES ? names[fixture] : "";
}

typedef struct {
    tw_elem elem;
    void *data;
    size_t total, width; /* elements, elements a line */
    twi_rng rng;
    uint64_t seed;
} filling;

static void put(const filling *f, size_t k, double x) {
    tw_elem value = twi_value_elem(f->elem);
    uint64_t bits = twi_bits_of_double(value, x);
    if (value != f->elem)
        bits = twi_narrow(f->elem, bits);
    twi_store_bits(f->elem, f->data, k, bits);
}

/* A draw of the fixture's distribution in the type: floats N(0,1), ints within what i8 or u8 holds.
 */
static double draw(filling *f) {
    if (twi_is_float(f->elem))
        return twi_rng_normal(&f->rng);
    if (f->elem == TW_BOOL)
        return (double)twi_rng_below(&f->rng, 2);
    if (twi_is_signed(f->elem))
        return (double)twi_rng_below(&f->rng, 201) - 100.0;
    return (double)twi_rng_below(&f->rng, 201);
}

static void fill_normal(filling *f) {
    for (size_t k = 0; k < f->total; k++)
        put(f, k, draw(f));
}

static void fill_negative(filling *f) {
    bool can = twi_is_float(f->elem) || twi_is_signed(f->elem);
    for (size_t k = 0; k < f->total; k++) {
        double x = fabs(draw(f));
        x = twi_is_float(f->elem) ? x + 0x1p-6 : x == 0.0 ? 1.0 : x;
        put(f, k, f->elem == TW_BOOL ? draw(f) : can ? -x : x);
    }
}

/* Even lines: pairs that nearly cancel. Odd lines: near-constant, far from 0. */
static void fill_cancel(filling *f) {
    double last = 0.0;
    for (size_t k = 0; k < f->total; k++) {
        size_t line = k / f->width, at = k % f->width;
        double x = draw(f);
        if (!twi_is_float(f->elem)) {
            put(f, k, x);
        } else if (line % 2 == 1) {
            put(f, k, 64.0 + x);
        } else if (at % 2 == 1) {
            put(f, k, -last * (1.0 + x * 0x1p-12));
        } else {
            last = x * 16.0;
            put(f, k, last);
        }
    }
}

static double largest(tw_elem elem) {
    static const double most[TW_ELEMS] = {
        [TW_F16] = 65504.0, [TW_BF16] = 0x1.fep127, [TW_F32] = FLT_MAX, [TW_F64] = DBL_MAX};
    return twi_is_float(elem) ? most[elem]
                              : twi_double_of(elem, twi_identity_bits(TWI_ID_GREATEST, elem));
}

static double tiniest(tw_elem elem) {
    static const double least[TW_ELEMS] = {
        [TW_F16] = 0x1p-24, [TW_BF16] = 0x1p-133, [TW_F32] = 0x1p-149, [TW_F64] = 0x1p-1074};
    return least[elem];
}

/* Lines take turns: plain; one special at the start, in the tail, alone; whole lines of one kind.
 */
static double special_at(filling *f, size_t line, size_t at, double plain) {
    size_t last = f->width - 1;
    switch ((line + (size_t)f->seed) % 14) {
    case 0:
        return plain;
    case 1:
        return at == 0 ? NAN : plain;
    case 2:
        return at == last ? NAN : plain;
    case 3:
        return at == 0 ? INFINITY : plain;
    case 4:
        return at == last ? -INFINITY : plain;
    case 5:
        return -INFINITY;
    case 6:
        return at % 3 == 0 ? -0.0 : 0.0;
    case 7:
        return tiniest(f->elem) * (double)(1 + twi_rng_below(&f->rng, 7)) *
               (at % 2 == 0 ? 1.0 : -1.0);
    case 8:
        return at == last ? largest(f->elem) : 0.0; /* alone: sums of it do not overflow */
    case 9:
        return at == 0 ? INFINITY : at == last ? -INFINITY : plain;
    case 10:
        return at == last / 2 ? NAN : -INFINITY;
    case 11:
        return at == 0 ? -largest(f->elem) : 0.0;
    case 12:
        return 3.0;
    default:
        return at == last ? -INFINITY : -0.0;
    }
}

static void fill_special(filling *f) {
    static const uint64_t ends[4] = {0, 1, UINT64_MAX, UINT64_C(1) << 63};
    for (size_t k = 0; k < f->total; k++) {
        double x = draw(f);
        if (twi_is_float(f->elem)) {
            put(f, k, special_at(f, k / f->width, k % f->width, x));
        } else if (twi_is_int(f->elem) && twi_rng_below(&f->rng, 3) == 0) {
            unsigned shift = 64u - (unsigned)tw_elem_size(f->elem) * 8u;
            unsigned which = (unsigned)twi_rng_below(&f->rng, 5);
            uint64_t bits = which == 4   ? UINT64_MAX >> (shift + 1u)
                            : which == 3 ? ends[3] >> shift
                                         : ends[which] >> (which == 2 ? shift : 0);
            twi_store_bits(f->elem, f->data, k, bits);
        } else {
            put(f, k, x);
        }
    }
}

/* Magnitudes 1 to 3, another one than the neighbours' (left and above) where the sign is theirs;
 * the sign pulls back the running sum that is farther out. */
static void fill_exact(filling *f, twi_arena *arena) {
    twi_mark mark = twi_arena_mark(arena);
    int32_t *column = TWI_NEW_N(arena, int32_t, f->width + 1),
            *above = TWI_NEW_N(arena, int32_t, f->width + 1);
    bool can = twi_is_float(f->elem) || twi_is_signed(f->elem);
    int32_t run = 0, left = 0;
    for (size_t k = 0; k < f->total; k++) {
        size_t at = k % f->width;
        if (f->elem == TW_BOOL) {
            put(f, k, draw(f));
            continue;
        }
        run = at == 0 ? 0 : run;
        left = at == 0 ? 0 : left;
        int32_t pull = abs(run) >= abs(column[at]) ? run : column[at];
        bool minus = pull > 4 || (pull >= -4 && twi_rng_below(&f->rng, 2) == 1);
        int32_t size = 1 + (int32_t)twi_rng_below(&f->rng, 3), x = 0;
        for (unsigned again = 0; again < 3; again++) {
            x = can && minus ? -size : size;
            if (x != left && x != above[at])
                break;
            size = size % 3 + 1;
        }
        put(f, k, (double)x);
        run += x;
        column[at] += x;
        left = above[at] = x;
    }
    twi_arena_reset(arena, mark);
}

void twi_fixture_fill(const tw_ir *ir, uint32_t array, twi_fixture fixture, uint64_t seed,
                      void *data) {
    int64_t extent[TWI_MAX_RANK];
    const twi_array *a = &ir->array.at[array];
    filling f = {.elem = (tw_elem)a->elem, .data = data, .seed = seed};
    f.total = twi_array_extents(ir, array, extent);
    f.width = a->rank > 0 && extent[a->rank - 1] > 0 ? (size_t)extent[a->rank - 1] : 1;
    if (twi_fixture_indices(ir, array, seed, data))
        return;
    twi_rng_init(&f.rng, twi_hash_mix(seed, twi_hash_mix(array, (uint64_t)fixture)));
    switch (fixture) {
    case TWI_FIX_NEGATIVE:
        fill_negative(&f);
        return;
    case TWI_FIX_CANCEL:
        fill_cancel(&f);
        return;
    case TWI_FIX_SPECIAL:
        fill_special(&f);
        return;
    case TWI_FIX_EXACT:
        fill_exact(&f, ir->arena);
        return;
    case TWI_FIX_ZERO:
        for (size_t k = 0; k < f.total; k++)
            put(&f, k, 0.0);
        return;
    case TWI_FIX_NONE:
    case TWI_FIX_NORMAL:
    case TWI_FIXTURES:
    default:
        fill_normal(&f);
    }
}

uint64_t twi_fixture_scalar(const tw_ir *ir, uint32_t scalar, twi_fixture fixture) {
    const twi_scalar *s = &ir->scalar.at[scalar];
    if (s->has_default)
        return s->bits;
    bool eighth = twi_is_float((tw_elem)s->elem) && fixture != TWI_FIX_EXACT;
    uint64_t bits = twi_bits_of_double(twi_value_elem((tw_elem)s->elem), eighth ? 0.125 : 1.0);
    return twi_value_elem((tw_elem)s->elem) == (tw_elem)s->elem
               ? bits
               : twi_narrow((tw_elem)s->elem, bits);
}
