/* SPDX-License-Identifier: Apache-2.0
 * Random programs: whatever elementwise operations and folds are put together, a machine's f32
 * results under several orders lie within what the oracle allows. The machine is this file's own
 * interpreter.
 */
#include "kernels.h"
#include "oracle/portable.h"

#define W 17
#define R 3
#define STEPS 14

typedef struct {
    tw_value value;
    bool wide;
    float at[W];
} item;

static float maximum(float a, float b) {
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == b)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}

static float root(float x) { return (float)sqrt((double)x); }

typedef struct {
    tw_op op;
    unsigned arity;
} choice;
static const choice choices[] = {
    {TW_OP_ADD, 2}, {TW_OP_SUB, 2},  {TW_OP_MUL, 2}, {TW_OP_DIV, 2},  {TW_OP_NEG, 1},
    {TW_OP_ABS, 1}, {TW_OP_MIN, 2},  {TW_OP_MAX, 2}, {TW_OP_SQRT, 1}, {TW_OP_EXP, 1},
    {TW_OP_LOG, 1}, {TW_OP_TANH, 1}, {TW_OP_ERF, 1}, {TW_OP_SUB, 2},  {TW_OP_MUL, 2},
};

static float apply(tw_op which, float a, float b) {
    switch ((int)which) {
    case TW_OP_ADD:
        return a + b;
    case TW_OP_SUB:
        return a - b;
    case TW_OP_MUL:
        return a * b;
    case TW_OP_DIV:
        return a / b;
    case TW_OP_NEG:
        return -a;
    case TW_OP_ABS:
        return fabsf(a);
    case TW_OP_MIN:
        return -maximum(-a, -b);
    case TW_OP_MAX:
        return maximum(a, b);
    case TW_OP_SQRT:
        return root(a);
    case TW_OP_EXP:
        return twi_portable_exp(a);
    case TW_OP_LOG:
        return twi_portable_log(a);
    case TW_OP_TANH:
        return twi_portable_tanh(a);
    default:
        return twi_portable_erf(a);
    }
}

static float max_of(const float *x) {
    float m = x[0];
    for (size_t k = 1; k < W; k++)
        m = maximum(m, x[k]);
    return m;
}

/* One step's choices, the same for building and for every machine. */
typedef struct {
    unsigned kind, what, a, b, c;
} step;

static step draw(twi_rng *rng, unsigned n) {
    step s;
    s.kind = (unsigned)twi_rng_below(rng, 10);
    s.what = (unsigned)twi_rng_below(rng, sizeof choices / sizeof *choices);
    s.a = n - 1 - (unsigned)twi_rng_below(rng, n < 4 ? n : 4);
    s.b = (unsigned)twi_rng_below(rng, n);
    s.c = (unsigned)twi_rng_below(rng, n);
    return s;
}

static void machine(const step *steps, const bool *wide, const float *x, float scalar, size_t tree,
                    float out[STEPS + 2][W]) {
    memcpy(out[0], x, W * sizeof(float));
    for (size_t k = 0; k < W; k++)
        out[1][k] = scalar;
    for (unsigned i = 0; i < STEPS; i++) {
        const step *s = &steps[i];
        const float *a = out[s->a], *b = out[s->b], *c = out[s->c];
        float *y = out[i + 2];
        float whole = s->kind < 2 && wide[s->a]    ? sum_streams(a, W, tree)
                      : s->kind == 2 && wide[s->a] ? max_of(a)
                                                   : 0;
        for (size_t k = 0; k < W; k++) {
            if (s->kind <= 2 && wide[s->a])
                y[k] = whole;
            else if (s->kind == 3)
                y[k] = a[k] < b[k] ? a[k] : c[k];
            else
                y[k] = apply(choices[s->what].op, a[k], b[k]);
        }
    }
}

static void build(bench *t, const step *steps, bool *wide) {
    tw_value v[STEPS + 2];
    rows k = begin_rows(t, TW_F32, TW_F32, false);
    v[0] = k.load;
    v[1] = f32_const(k.b, "1.5");
    wide[0] = true;
    wide[1] = false;
    for (unsigned i = 0; i < STEPS; i++) {
        const step *s = &steps[i];
        unsigned n = i + 2;
        wide[n] = wide[s->a];
        if (s->kind <= 2 && wide[s->a]) {
            v[n] = tw_build_fold(k.b, s->kind < 2 ? TW_FOLD_SUM : TW_FOLD_MAX, TW_ORDER_AS_SAID,
                                 &k.w, 1, v[s->a]);
            wide[n] = false;
        } else if (s->kind == 3) {
            v[n] = tw_build_op(k.b, TW_OP_WHERE, op(k.b, TW_OP_LT, v[s->a], v[s->b]), v[s->a],
                               v[s->c]);
            wide[n] = wide[s->a] || wide[s->b] || wide[s->c];
        } else {
            bool two = choices[s->what].arity == 2;
            v[n] = op(k.b, choices[s->what].op, v[s->a], two ? v[s->b] : 0);
            wide[n] = wide[s->a] || (two && wide[s->b]);
        }
    }
    end_rows(t, &k,
             op(k.b, TW_OP_ADD, v[STEPS + 1], op(k.b, TW_OP_MUL, k.load, f32_const(k.b, "0.5"))), 2,
             R, W);
}

static void test_random_programs(void **state) {
    static const char *const fixtures[] = {"normal", "cancel", "negative", "special"};
    unsigned bounded = 0, probative = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 6000; seed++) {
        bench t;
        twi_rng rng;
        step steps[STEPS];
        bool wide[STEPS + 2];
        float all[STEPS + 2][W], y[R * W];
        twi_rng_init(&rng, seed);
        for (unsigned i = 0; i < STEPS; i++)
            steps[i] = draw(&rng, i + 2);
        open_bench(&t);
        build(&t, steps, wide);
        const float *x = fill(&t, 1, fixtures[seed % 4], seed);
        run(&t, NULL, 0, false);
        for (size_t tree = 1; tree <= 16; tree *= 4) {
            for (size_t r = 0; r < R; r++) {
                machine(steps, wide, x + r * W, 1.5f, tree, all);
                for (size_t k = 0; k < W; k++)
                    y[r * W + k] = all[STEPS + 1][k] + x[r * W + k] * 0.5f;
            }
            twi_verdict v = judge(&t, 2, y);
            if (!v.ok)
                fail_msg("seed %d, tree %d: [%d, %d] got %s want %s bound %s", (int)seed, (int)tree,
                         (int)v.at[0], (int)v.at[1], v.got, v.want, v.bound);
            bounded += v.determined ? 0 : 1;
            probative += !v.determined && twi_verdict_probative(&v) ? 1 : 0;
        }
        close_bench(&t);
    }
    print_message("bounded verdicts %u, probative %u\n", bounded, probative);
    assert_true(bounded > 6000 && probative * 2 > bounded);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
