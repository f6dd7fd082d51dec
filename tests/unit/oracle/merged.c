/* SPDX-License-Identifier: Apache-2.0
 * Bounds of merged folds: machines that merge in random trees, with arithmetic of this file, stay
 * inside; what a wrong rewriting computes does not agree with its text.
 */
#include "kernels.h"

#include "ir/ir.h"
#include "oracle/det.h"

#define HEAD                                                                                       \
    "kernel k order free specialised\n"                                                            \
    "array X: in f32[W]\n"                                                                         \
    "array Y: out f32[2]\n"                                                                        \
    "parallel {\n"                                                                                 \
    "    axis w: 0 .. W\n"                                                                         \
    "    x: f32{w} = load X[w]\n"
#define TAIL                                                                                       \
    "    store Y[0] = a\n"                                                                         \
    "    store Y[1] = b\n"                                                                         \
    "}\n"

typedef struct {
    float v[3];
} state;

static float portable_exp(float x) {
    twi_det d = twi_det_of(TWI_EXP, TW_F32, TW_F32);
    uint64_t bits = twi_bits_f32(x);
    return twi_f32_of(twi_det_do(&d, &bits));
}

static float greater(float a, float b) { return isnan(a) || isnan(b) ? NAN : a > b ? a : b; }

static state merge_exps(state a, state b) {
    float e = a.v[0] == b.v[0] ? 1.0f : portable_exp(-fabsf(a.v[0] - b.v[0]));
    bool first = a.v[0] >= b.v[0];
    float less = (first ? b.v[1] : a.v[1]) * e;
    return (state){{greater(a.v[0], b.v[0]), (first ? a.v[1] : b.v[1]) + less, 0}};
}

static state merge_moments(state a, state b) {
    float n = a.v[2] + b.v[2], wa = a.v[2] / n, wb = b.v[2] / n, d = a.v[0] - b.v[0];
    float k = a.v[2] * b.v[2] / n, ma = wa * a.v[0], mb = wb * b.v[0], more = d * k;
    more = d * more;
    return (state){{ma + mb, (a.v[1] + b.v[1]) + more, n}};
}

/* Two neighbours at a time, anywhere. */
static state any_tree(twi_rng *rng, const float *x, size_t n, bool moments) {
    state s[300];
    for (size_t k = 0; k < n; k++)
        s[k] = moments ? (state){{x[k], x[k] - x[k], 1}} : (state){{x[k], 1, 0}};
    for (; n > 1; n--) {
        size_t k = (size_t)twi_rng_below(rng, n - 1);
        s[k] = moments ? merge_moments(s[k], s[k + 1]) : merge_exps(s[k], s[k + 1]);
        for (size_t j = k + 1; j + 1 < n; j++)
            s[j] = s[j + 1];
    }
    if (!moments)
        s[0].v[1] += s[0].v[0] - s[0].v[0];
    return s[0];
}

static void read(bench *t, const char *body, size_t n) {
    open_bench(t);
    twi_sb sb;
    twi_sb_init(&sb, &t->ctx->arena);
    for (const char *p = body; *p; p++)
        *p == 'W' ? twi_sb_printf(&sb, "%zu", n) : twi_sb_char(&sb, *p);
    t->ir = twi_ir_parse(t->ctx, &t->ctx->arena, "k", twi_sb_text(&sb), sb.n);
    if (!t->ir)
        fail_msg("%s", tw_diag_text(t->ctx, false));
}

static const char exps_text[] =
    HEAD "    a: f32 = logsumexp[w] free x\n    b: f32 = part 1 of a\n" TAIL;
static const char moments_text[] =
    HEAD "    a: f32 = moments[w] free x\n    b: f32 = part 1 of a\n" TAIL;

enum { WIDTHS = 6, ROUNDS = 60 };
static const size_t widths[WIDTHS] = {1, 2, 3, 17, 64, 300};

static void bounds_hold(void **unused) {
    (void)unused;
    twi_rng rng;
    twi_rng_init(&rng, 1);
    for (unsigned fold = 0; fold < 2; fold++)
        for (unsigned w = 0; w < WIDTHS; w++)
            for (twi_fixture fix = TWI_FIX_NONE + 1; fix < TWI_FIXTURES; fix++) {
                bench t;
                float x[300];
                read(&t, fold ? moments_text : exps_text, widths[w]);
                twi_fixture_fill(t.ir, 1, fix, 7, x);
                t.array[1] = x;
                run(&t, NULL, 0, false);
                for (unsigned k = 0; k < ROUNDS; k++) {
                    state s = any_tree(&rng, x, widths[w], fold);
                    twi_verdict v = judge(&t, 2, s.v);
                    if (!v.ok)
                        fail_msg("%s of %zu, %s: element %lld is %s, want %s, %s",
                                 fold ? "moments" : "logsumexp", widths[w], twi_fixture_name(fix),
                                 (long long)v.at[0], v.got, v.want, v.bound);
                }
                close_bench(&t);
            }
}

static state in_order(const float *x, size_t n, twi_how how, bool moments) {
    state s[300];
    for (size_t k = 0; k < n; k++)
        s[k] = moments ? (state){{x[k], x[k] - x[k], 1}} : (state){{x[k], 1, 0}};
    for (size_t k = 1; how == TWI_HOW_CHAIN && k < n; k++)
        s[0] = moments ? merge_moments(s[0], s[k]) : merge_exps(s[0], s[k]);
    for (; how == TWI_HOW_TREE && n > 1; n /= 2)
        for (size_t k = 0; k < n / 2; k++)
            s[k] = moments ? merge_moments(s[2 * k], s[2 * k + 1])
                           : merge_exps(s[2 * k], s[2 * k + 1]);
    if (!moments)
        s[0].v[1] += s[0].v[0] - s[0].v[0];
    return s[0];
}

/* A descriptor says more: bounds are tighter, and hold for that order. */
static void orders_hold(void **unused) {
    (void)unused;
    for (unsigned fold = 0; fold < 2; fold++)
        for (unsigned how = TWI_HOW_CHAIN; how <= TWI_HOW_TREE; how++)
            for (uint64_t seed = 0; seed < 200; seed++) {
                bench t;
                float x[64];
                read(&t, fold ? moments_text : exps_text, 64);
                const twi_fixture fix = (twi_fixture)(TWI_FIX_NONE + 1 + seed % (TWI_FIXTURES - 1));
                twi_fixture_fill(t.ir, 1, fix, seed, x);
                t.array[1] = x;
                twi_order o = {.n = 1, .digit = {{1, (uint8_t)how, 1, 64}}};
                o.fold = find_op(t.ir, fold ? TWI_MOMENTS : TWI_LOGSUMEXP, 0);
                run(&t, &o, 1, false);
                state s = in_order(x, 64, (twi_how)how, fold);
                twi_verdict v = judge(&t, 2, s.v);
                if (!v.ok)
                    fail_msg("fold %u, how %u, %s %llu: got %s, want %s, %s", fold, how,
                             twi_fixture_name(fix), (unsigned long long)seed, v.got, v.want,
                             v.bound);
                if (fix == TWI_FIX_NORMAL && seed < 10)
                    assert_true(v.worst > 1e-4);
                close_bench(&t);
            }
}

/* A bound must notice a lost element, and squares that were never centred. */
static void bounds_bind(void **unused) {
    (void)unused;
    twi_rng rng;
    twi_rng_init(&rng, 2);
    for (unsigned fold = 0; fold < 2; fold++) {
        bench t;
        float x[64];
        read(&t, fold ? moments_text : exps_text, 64);
        twi_fixture_fill(t.ir, 1, TWI_FIX_NORMAL, 7, x);
        t.array[1] = x;
        run(&t, NULL, 0, false);
        state s = any_tree(&rng, x, 63, fold);
        assert_false(judge(&t, 2, s.v).ok);
        close_bench(&t);
    }
}

static void wrong_rewriting(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *rewritten;
        bool same;
    } cases[] = {
        {HEAD "    a: f32 = max[w] free x\n    d: f32{w} = sub x, a\n    p: f32{w} = exp d\n"
              "    b: f32 = sum[w] free p\n" TAIL,
         exps_text, true},
        {HEAD
         "    a: f32 = max[w] free x\n    p: f32{w} = exp x\n    b: f32 = sum[w] free p\n" TAIL,
         exps_text, false},
        {HEAD
         "    n: f32 = const W\n    s: f32 = sum[w] free x\n    a: f32 = div s, n\n"
         "    d: f32{w} = sub x, a\n    dd: f32{w} = mul d, d\n    b: f32 = sum[w] free dd\n" TAIL,
         moments_text, true},
        {HEAD "    n: f32 = const W\n    s: f32 = sum[w] free x\n    a: f32 = div s, n\n"
              "    dd: f32{w} = mul x, x\n    b: f32 = sum[w] free dd\n" TAIL,
         moments_text, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        bench text, now;
        float x[64];
        read(&text, cases[k].text, 64);
        read(&now, cases[k].rewritten, 64);
        twi_fixture_fill(text.ir, 1, TWI_FIX_NORMAL, 7, x);
        text.array[1] = now.array[1] = x;
        run(&text, NULL, 0, false);
        run(&now, NULL, 0, false);
        const char *why = twi_oracle_agrees(now.o, text.o);
        if (cases[k].same != !why)
            fail_msg("case %zu: %s", k, why ? why : "agrees");
        close_bench(&now);
        close_bench(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bounds_hold), cmocka_unit_test(orders_hold),
                                       cmocka_unit_test(bounds_bind),
                                       cmocka_unit_test(wrong_rewriting)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
