/* SPDX-License-Identifier: Apache-2.0
 * links: search
 * Scans under random legal plans, run by the interpreter, against a loop written here: sums,
 * maxima, exclusive, from the last element on, rows of many lengths, along the slow axis, after a
 * fold and before one.
 */
#include "support.h"

enum { R = 3, MOST = 300, ODD = 1000000 /* seed of the plan below */ };

typedef struct {
    const char *op, *flags;
    bool max, exclusive, reverse;
} form;

static const form forms[] = {
    {"cumsum", "", false, false, false},        {"cumsum", "exclusive ", false, true, false},
    {"cumsum", "reverse ", false, false, true}, {"cumsum", "exclusive reverse ", false, true, true},
    {"cummax", "", true, false, false},         {"cummax", "exclusive reverse ", true, true, true},
};

typedef struct {
    const form *form;
    const char *order;
    int64_t w;
    bool slow; /* along the first dimension of the arrays */
    const char
        *operand; /* of the element and its row's maximum, a fold's result; "": the element */
} subject;

static const char *text_of(twi_arena *a, const subject *s) {
    const char *at = s->slow ? "w, r" : "r, w", *folded = "";
    const char *shape = twi_format(a, "[%lld, %lld]", (long long)(s->slow ? s->w : R),
                                   (long long)(s->slow ? R : s->w));
    if (*s->operand)
        folded = twi_format(a, "    m: f32 = max[w] free X\n    c: f32{w} = %s X, m\n", s->operand);
    return twi_format(a,
                      "kernel k order free specialised\n"
                      "array X: in f32%s\n"
                      "array Y: out f32%s\n"
                      "parallel r: 0 .. %d {\n"
                      "    axis w: 0 .. %lld\n"
                      "    X: f32{w} = load X[%s]\n"
                      "%s"
                      "    s: f32{w} = %s[w] %s %s%s\n"
                      "    store Y[%s] = s\n"
                      "}\n",
                      shape, shape, R, (long long)s->w, at, folded, s->form->op, s->order,
                      s->form->flags, *s->operand ? "c" : "X", at);
}

static float x[R * MOST], y[R * MOST];

static size_t place(const subject *s, int64_t r, int64_t w) {
    return (size_t)(s->slow ? w * R + r : r * s->w + w);
}

static bool canonical(const subject *s) { return strcmp(s->order, "canonical") == 0; }

/* Small integers: sums are exact in any order; where the order is fixed, what rounds.
 * `max X, m` is m everywhere. */
static void fill(const subject *s) {
    for (int64_t k = 0; k < R * s->w; k++) {
        x[k] = (float)((k * 37 + k / 7) % 23 - 11);
        if (canonical(s))
            x[k] *= 0.1f + 0.003f * (float)(k % 13);
        y[k] = 1e30f;
    }
}

static void double_row(float *e, int64_t n) {
    for (int64_t d = 1; d < n; d *= 2)
        for (int64_t k = n - 1; k >= d; k--)
            e[k] = e[k - d] + e[k];
}

/* docs/numerics.md: groups of 8, blocks of 32 groups, blocks as a row. */
static void canonical_row(float *e, int64_t n) {
    float group[MOST / 8 + 1], block[MOST / 256 + 1];
    int64_t groups = (n + 7) / 8, blocks = (groups + 31) / 32;
    for (int64_t g = 0; g < groups; g++) {
        int64_t size = n - 8 * g < 8 ? n - 8 * g : 8;
        double_row(e + 8 * g, size);
        group[g] = e[8 * g + size - 1];
    }
    for (int64_t b = 0; b < blocks; b++) {
        int64_t size = groups - 32 * b < 32 ? groups - 32 * b : 32;
        double_row(group + 32 * b, size);
        block[b] = group[32 * b + size - 1];
    }
    if (blocks > 1)
        canonical_row(block, blocks);
    for (int64_t k = 0; k < n; k++) {
        int64_t g = k / 8, b = g / 32;
        e[k] = g % 32 ? group[g - 1] + e[k] : e[k];
        e[k] = b ? block[b - 1] + e[k] : e[k];
    }
}

static void scan_row(const subject *s, float *e) {
    const bool max = s->form->max;
    if (canonical(s) && !max)
        canonical_row(e, s->w);
    for (int64_t k = 1; k < s->w && (max || !canonical(s)); k++)
        e[k] = !max ? e[k - 1] + e[k] : e[k] > e[k - 1] ? e[k] : e[k - 1];
    if (!s->form->exclusive)
        return;
    memmove(e + 1, e, (size_t)(s->w - 1) * sizeof *e);
    e[0] = max ? -1.0f / 0.0f : 0.0f;
}

static bool right(const subject *s, int64_t *r_bad, int64_t *w_bad) {
    for (int64_t r = 0; r < R; r++) {
        float m = -1e30f, e[MOST];
        for (int64_t w = 0; w < s->w; w++)
            m = x[place(s, r, w)] > m ? x[place(s, r, w)] : m;
        for (int64_t k = 0; k < s->w; k++) {
            int64_t w = s->form->reverse ? s->w - 1 - k : k;
            e[k] = s->operand[0] == 's' ? x[place(s, r, w)] - m
                   : *s->operand        ? m
                                        : x[place(s, r, w)];
        }
        scan_row(s, e);
        for (int64_t k = 0; k < s->w; k++) {
            int64_t w = s->form->reverse ? s->w - 1 - k : k;
            if (y[place(s, r, w)] == e[k])
                continue;
            *r_bad = r;
            *w_bad = w;
            return false;
        }
    }
    return true;
}

/* Lanes that are no whole subgroup, apart from one another, with slots on both sides. */
static const char odd_lanes[] = "plan k/0 class=free\n"
                                "frame f: r = grid 3 ; w = slot 3, lane 7@4, slot 2\n"
                                "entry main\n";

static void check(const bench *b, const tw_ir *ir, const subject *s, uint64_t seed) {
    twi_plans *plans = seed == ODD ? written_plans(b, ir, odd_lanes) : drawn_plans(b, ir, seed);
    twi_loop *loop = lowered(b, ir, plans);
    twi_features t, c;
    twi_tally(b->a, ir, &b->caps, &plans->scope[0], &t);
    twi_count(b->a, loop, 0, &c);
    if (t.lane_rounds != c.lane_rounds || t.barriers != c.barriers || t.code != c.code ||
        t.ops[TWI_PRICE_CHEAP] != c.ops[TWI_PRICE_CHEAP] || t.near_bytes != c.near_bytes)
        complain(ir, plans, loop, "the tally differs from what was built");
    fill(s);
    void *const arrays[] = {x, y};
    twi_interp_result r = interpret(b->a, loop, 0, arrays, 2);
    if (r.fault.kind)
        complain(ir, plans, loop, r.fault.text);
    int64_t row, at;
    if (!right(s, &row, &at))
        complain(ir, plans, loop,
                 twi_format(b->a, "seed %llu: row %lld, element %lld is %g",
                            (unsigned long long)seed, (long long)row, (long long)at,
                            (double)y[place(s, row, at)]));
}

static void run_subject(const char *target, const subject *s, uint64_t plans) {
    const bench b = bench_on(target);
    tw_ir *ir = kernel_of(&b, text_of(b.a, s));
    for (uint64_t seed = 0; seed < plans; seed++)
        check(&b, ir, s, seed);
    if (b.caps.lane == 32 && s->w <= 33 && !*s->operand && !s->form->max)
        check(&b, ir, s, ODD);
    bench_end(&b);
}

static void random_plans(void **state) {
    static const int64_t widths[] = {1, 7, 33, 64, 70, 129, 300};
    static const char *const orders[] = {"free", "free", "free", "left", "canonical", "free"};
    static const char *const operands[] = {"sub", "sub", "max", "sub", "sub", ""};
    const char *target = *state;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t n = 0; n < sizeof widths / sizeof *widths; n++)
            for (unsigned k = 0; k < 6; k++) {
                /* fixed orders run in time, and private memory that is not indexed has few slots */
                bool few = (k == 3 || k == 4) && strcmp(target, "cpu-avx512") != 0;
                int64_t w = few && widths[n] > 64 ? widths[n] / 5 : widths[n];
                subject s = {&forms[f], orders[k], w, k == 1, operands[k]};
                run_subject(target, &s, setting("TW_PLANS", 4));
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {ON("cpu-avx512", random_plans), ON("simt4", random_plans),
                                       ON("simt32", random_plans), ON("simt1", random_plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
