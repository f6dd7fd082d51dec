/* SPDX-License-Identifier: Apache-2.0
 * Division of vectors by one number is IEEE division to the bit. The quotient by a rounded
 * reciprocal, corrected once, could only be wrong where a / b lies next to the middle between two
 * floats, so all such pairs are made: for significands A and B of 24 bits and an odd Q of 25 bits,
 * A * 2^s = B * Q + r with |r| <= 8. TW_ALL=1 takes every B, else one in 97. Then numbers that are
 * small, large, zero, infinite or NaN, on either side. What is right is the C operator's word.
 * links: front
 */
#include <tilewright/tilewright.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 256, WIDTH = 64, MOST_REST = 8 };
#define HIDDEN 0x800000u

static const char text[] = "kernel over[T in {f32}](X: T[R, W], S: T[R], out Y: T[R, W]) {\n"
                           "    parallel r: R {\n"
                           "        axis w: W\n"
                           "        Y[r, w] = X[r, w] / S[r]\n"
                           "    }\n"
                           "}\n";

typedef struct {
    tw_kernel *kernel;
    float x[ROWS * WIDTH], s[ROWS], y[ROWS * WIDTH];
    int row, column;
    uint64_t pairs, wrong;
} divider;

static uint32_t bits_of(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static float of_bits(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static void run(divider *d) {
    int64_t matrix[] = {ROWS, WIDTH};
    tw_tensor x = {
        .data = d->x, .device = {1, 0}, .rank = 2, .dtype = tw_elem_dtype(TW_F32), .shape = matrix};
    tw_tensor s = x, y = x;
    s.data = d->s;
    s.rank = 1;
    y.data = d->y;
    const tw_tensor *const tensors[] = {&x, &s, &y};
    tw_call call = {.tensor = tensors, .tensors = 3, .threads = 1};
    assert_int_equal(tw_kernel_run(d->kernel, &call), TW_OK);
    for (int r = 0; r < ROWS; r++)
        for (int w = 0; w < WIDTH; w++) {
            const int k = r * WIDTH + w;
            const float want = d->x[k] / d->s[r];
            if (bits_of(d->y[k]) == bits_of(want) || (d->y[k] != d->y[k] && want != want))
                continue;
            if (d->wrong++ < 10)
                print_error("%a / %a: got %a, want %a\n", (double)d->x[k], (double)d->s[r],
                            (double)d->y[k], (double)want);
        }
}

/* Rows that are not full hold what was there: any numbers will do. */
static void next_row(divider *d) {
    d->column = 0;
    if (++d->row == ROWS) {
        run(d);
        d->row = 0;
    }
}

static void dividend(divider *d, float x) {
    d->x[d->row * WIDTH + d->column] = x;
    d->pairs++;
    if (++d->column == WIDTH) {
        const float s = d->s[d->row];
        next_row(d);
        d->s[d->row] = s;
    }
}

/* 1 / b modulo 2^32, by Newton's steps. */
static uint32_t inverse(uint32_t b) {
    uint32_t r = b;
    for (int k = 0; k < 4; k++)
        r *= 2 - b * r;
    return r;
}

static void pairs_of(divider *d, uint32_t b) {
    int shift = 0;
    while (!(b >> shift & 1))
        shift++;
    const uint32_t back = inverse(b >> shift);
    d->s[d->row] = (float)b;
    for (int64_t rest = -MOST_REST; rest <= MOST_REST; rest++)
        for (int s = 24; s <= 25 && rest % (1 << shift) == 0; s++) {
            const uint64_t step = UINT64_C(1) << (s - shift);
            uint64_t q = (uint64_t)(uint32_t)((uint32_t) - (rest >> shift) * back) % step;
            for (; q < 1u << 25; q += step) {
                const uint64_t a = (b * q + (uint64_t)rest) >> s;
                if (q >> 24 && q & 1 && a >= HIDDEN && a < 2 * HIDDEN)
                    dividend(d, (float)a);
            }
        }
    next_row(d);
}

static void close_to_the_middle(void **state) {
    divider *d = *state;
    const uint32_t step = getenv("TW_ALL") ? 1 : 97;
    for (uint32_t b = HIDDEN; b < 2 * HIDDEN; b += step)
        if (b % 16)
            pairs_of(d, b);
    run(d);
    assert_true(d->pairs > HIDDEN / step);
    assert_int_equal(d->wrong, 0);
}

static void far_from_one(void **state) {
    divider *d = *state;
    static const uint32_t special[] = {0,          1,          0x7fffff,  0x800000,
                                       0x7f7fffff, 0x7f800000, 0x7fc00000};
    uint32_t seed = 1;
    d->row = d->column = 0;
    for (uint32_t exponent = 0; exponent < 256; exponent++) {
        d->s[d->row] =
            of_bits(exponent << 23 | (exponent * 0x9e3779b9u) >> 9 | (exponent & 1) << 31);
        for (int w = 0; w < WIDTH; w++) {
            seed = seed * 1664525u + 1013904223u;
            const uint32_t near = (exponent + seed % 5) << 23 & 0x7f800000u;
            dividend(d, w == 16 ? of_bits(special[exponent % 7])
                                : of_bits(w < 32 ? near | seed >> 9 : seed));
        }
    }
    for (unsigned k = 0; k < 7; k++) {
        d->s[d->row] = of_bits(special[k]);
        for (int w = 0; w < WIDTH; w++)
            dividend(d, of_bits(special[w % 7] ^ (uint32_t)(w & 8) << 28));
        d->s[d->row] = of_bits(special[k]);
        for (int w = 0; w < WIDTH; w++)
            dividend(d, 0);
    }
    run(d);
    assert_int_equal(d->wrong, 0);
}

int main(void) {
    static divider d;
    const tw_binding types[] = {{"T", "f32"}};
    const tw_dim_value dims[] = {{"R", ROWS}, {"W", WIDTH}};
    tw_compile_options options = tw_compile_options_defaults();
    tw_context *ctx = tw_context_create(NULL);
    options.dims = dims;
    options.n_dims = 2;
    tw_program *p = tw_program_parse(ctx, "over.tile", text, sizeof text - 1);
    tw_ir *ir = p ? tw_program_build(p, 0, types, 1) : NULL;
    tw_compiled *c = NULL;
    if (!ir || tw_compile(ctx, ir, &options, &c) != TW_OK) {
        fputs(tw_diag_text(ctx, false), stderr);
        return 1;
    }
    d.kernel = tw_compiled_kernel(c);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(close_to_the_middle, &d),
        cmocka_unit_test_prestate(far_from_one, &d),
    };
    const int status = cmocka_run_group_tests(tests, NULL, NULL);
    tw_compiled_release(c);
    tw_context_destroy(ctx);
    return status;
}
