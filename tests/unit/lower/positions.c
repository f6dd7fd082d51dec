/* SPDX-License-Identifier: Apache-2.0
 * links: search
 * Positions that are compared: vectors of them in 32 bits where all numbers fit, in 64 where they
 * do not. Default and random legal plans, run by the interpreter, against loops written here.
 */
#include "support.h"

#include <stdio.h>

enum { R = 5, W = 40 };

/* Y[r, w] = 1 where w + offset <= r * 8 + offset, else 0: offset is a constant of both sides. */
static const char text[] = "kernel k order free specialised\n"
                           "array Y: out f32[5, 40]\n"
                           "parallel r: 0 .. 5 {\n"
                           "    axis w: 0 .. 40\n"
                           "    a: i64{w} = index w\n"
                           "    offset: i64 = const %s\n"
                           "    b: i64{w} = add a, offset\n"
                           "    row: i64 = ixval r * 8\n"
                           "    c: i64 = add row, offset\n"
                           "    is: bool{w} = le b, c\n"
                           "    one: f32 = const 1\n"
                           "    none: f32 = const 0\n"
                           "    y: f32{w} = select is, one, none\n"
                           "    store Y[r, w] = y\n"
                           "}\n";

/* Comparisons of vectors of 64-bit integers. */
static unsigned wide_compares(const twi_loop *loop) {
    unsigned n = 0;
    for (uint32_t k = 0; k < loop->func.n; k++) {
        const twi_func *f = &loop->func.at[k];
        for (twi_lid v = 1; v < f->ins.n; v++)
            if (f->ins.at[v].op == TWI_LE) {
                const twi_lins *x = &f->ins.at[twi_larg(f, v, 0)];
                n += x->elem == TW_I64 && x->count > 1;
            }
    }
    return n;
}

static void check(const bench *b, const tw_ir *ir, const twi_plans *plans, bool fits) {
    twi_loop *loop = lowered(b, ir, plans);
    if (fits && wide_compares(loop))
        complain(ir, plans, loop, "positions are compared in 64 bits");
    for (uint32_t e = 0; e < loop->entry.n; e++) {
        float y[R][W];
        memset(y, 255, sizeof y);
        void *const at[] = {y};
        twi_interp_result r = interpret(b->a, loop, e, at, 1);
        if (r.fault.kind)
            complain(ir, plans, loop, r.fault.text);
        for (int row = 0; row < R; row++)
            for (int w = 0; w < W; w++)
                if (y[row][w] != (w <= row * 8 ? 1.0F : 0.0F))
                    complain(ir, plans, loop, "Y is wrong");
    }
}

static void compared(void **state) {
    static const char *const offsets[] = {"0",          "-7",          "1073741000",
                                          "2147483640", "-4294967296", "9007199254740993"};
    const uint64_t n = setting("TW_PLANS", 10);
    for (unsigned k = 0; k < sizeof offsets / sizeof *offsets; k++) {
        const bench b = bench_on(*state);
        char source[1024];
        (void)snprintf(source, sizeof source, text, offsets[k]);
        const tw_ir *ir = kernel_of(&b, source);
        for (uint64_t seed = 0; seed <= n; seed++) {
            twi_mark mark = twi_arena_mark(b.a);
            check(&b, ir, drawn_plans(&b, ir, seed), k < 2);
            twi_arena_reset(b.a, mark);
        }
        bench_end(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON("cpu-avx512", compared),
        ON("cpu-baseline", compared),
        ON("simt32", compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
