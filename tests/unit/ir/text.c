/* SPDX-License-Identifier: Apache-2.0
 * The text form: what is printed reads back to the same bytes; what cannot be read is told, and
 * nothing crashes: cut texts, changed bytes, deep nesting, names of a megabyte, NUL bytes.
 */
#include "test.h"

#include "base/hash.h"

/* Every operation and every spelling of the head, once. */
static const char *const everything =
    "kernel all order canonical\n"
    "note \"T=f32 \\x22quoted\\x22 \\x5c\"\n"
    "dim M\n"
    "dim N dyn\n"
    "scalar eps: f32 = 1e-05\n"
    "scalar n: i64 = -9223372036854775808\n"
    "scalar h: f16 = bits 0x3c00\n"
    "array X: in f32[M, N]\n"
    "array B: in bool[M]\n"
    "array U: in u32[M]\n"
    "array S: out f32[] = nan\n"
    "array Y: out f32[M]\n"
    "array I: out i64[M] = -1\n"
    "array D: out f64[M] = -0.1\n"
    "array H: out bf16[M] = bits 0xff80\n"
    "array T: temp f32[(M + N - 1) // N, 2]\n"
    "array Y0: in f32[M]\n"
    "array J: in i32[M]\n"
    "array K: inout i32[8]\n"
    "array L: inout f32[M]\n"
    "requires M % 4 == 0\n"
    "requires N >= 1\n"
    "requires M != N * 3\n"
    "requires M < 1000000\n"
    "serial s: 0 .. 3 {\n"
    "    parallel m: 0 .. M {\n"
    "        axis n: 0 .. N\n"
    "        axis k: min(m, 2) .. max(N, 3)\n"
    "        x: f32{n} = load X[m, n]\n"
    "        half: f32 = const 0.5\n"
    "        big: f64 = const 1e+300\n"
    "        inf: f32 = const -inf\n"
    "        nan: f32 = const bits 0xffc00001\n"
    "        tiny: f32 = const 1e-45\n"
    "        third: f32 = const (1 / ix(M - 2 * N))\n"
    "        sum: f32 = const ((ix(M) + 3) * real(0.1, -5.551115123125783e-18))\n"
    "        out: f32{n} = load X[m, n - 1] guarded else inf\n"
    "        i: i64{n} = index n\n"
    "        p: i64 = ixval m * 2 - (M - (N - 1)) // 3 % 5\n"
    "        j: i64{n} = imod i, p\n"
    "        e: f32 = scalar eps\n"
    "        w: f32{n} = fma x, half, e\n"
    "        q: f32{n} = exp w\n"
    "        c: bool{n} = lt q, x\n"
    "        d: bool{n} = not c\n"
    "        y: f32{n} = select d, x, q\n"
    "        b: f32{n} = narrow bf16 y\n"
    "        a: i32{n} = cast b\n"
    "        sum.1: f32 = sum[n] left b\n"
    "        max.1: f32 = max[n] free b\n"
    "        any.1: bool = any[n] free d\n"
    "        argmax.1: i64 = argmax[n] free b\n"
    "        lse: f32 = logsumexp[n] free b\n"
    "        lse.1: f32 = part 1 of lse\n"
    "        dev: f32 = moments[n] free b\n"
    "        dev.1: f32 = part 1 of dev\n"
    "        dot.1: f32 = dot[n] canonical x, b, sum.1\n"
    "        full: f32{n} = spread half\n"
    "        cumsum.1: f32{n} = cumsum[n] free b\n"
    "        cumsum.2: f32{n} = cumsum[n] canonical exclusive reverse b\n"
    "        cumprod.1: f32{n} = cumprod[n] left reverse b\n"
    "        cummax.1: i64{n} = cummax[n] free exclusive i\n"
    "        J: i32 = load J[m]\n"
    "        g: f32{n} = load X[$J, n] checked\n"
    "        g.1: f32{n} = load X[$J, $cummax.1] guarded else half\n"
    "        atomic_add K[$J] checked = J\n"
    "        atomic_add K[$i] checked = J when d\n"
    "        store L[$J] checked = half when any.1\n"
    "        from: i64 = cast J\n"
    "        axis z: $from .. min($from + 5, M)\n"
    "        serial o: 0 .. $from {\n"
    "            none: i64 = const 0\n"
    "            axis y: $none .. $from\n"
    "            h: f32{y} = load X[m, y] checked\n"
    "        }\n"
    "        Z: f32{z} = load Y0[z] checked\n"
    "        sum.3: f32 = sum[z] free Z\n"
    "        serial t: 0 .. M tile 8 {\n"
    "            u: f32 = carry half\n"
    "            v: f32{n} = carry full\n"
    "            ti: i64{t} = index t\n"
    "            lo: i64 = ixval hi(t) - lo(t)\n"
    "            u.1: f32 = add u, half\n"
    "            serial r: lo(t) .. hi(t) {\n"
    "                v.1: f32{n} = carry v\n"
    "                v.2: f32{n} = mul v.1, x\n"
    "                yield v.2\n"
    "            }\n"
    "            v.3: f32{n} = result r 0\n"
    "            yield u.1, v.3\n"
    "        }\n"
    "        u.2: f32 = result t 0\n"
    "        store Y[m] = u.2\n"
    "        store I[m] = argmax.1 when any.1\n"
    "    }\n"
    "}\n"
    "parallel {\n"
    "    axis m: 0 .. M\n"
    "    y.1: f32{m} = load Y[m]\n"
    "    sum.2: f32 = sum[m] tree y.1\n"
    "    store S[] = sum.2\n"
    "}\n";

static void round_trip(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = from_text(ctx, everything);
    expect_fine(ctx);
    assert_string_equal(tw_ir_text(ctx, ir), everything);
    tw_ir *copy = twi_ir_clone(ir, &ctx->arena);
    assert_string_equal(tw_ir_text(ctx, copy), everything);
    assert_int_equal(twi_ir_hash(copy), twi_ir_hash(ir));
    tw_context_destroy(ctx);
}

/* The hash does not see names, and sees everything else. */
static void hashes(void **state) {
    (void)state;
    static const char *const texts[] = {
        "kernel a order free\ndim N\narray X: inout f32[N]\nparallel n: 0 .. N {\n"
        " x: f32 = load X[n]\n store X[n] = x\n}\n",
        "kernel other order free\nnote \"x\"\ndim Q\narray A: inout f32[Q]\nparallel i: 0 .. Q {\n"
        " val: f32 = load A[i]\n store A[i] = val\n}\n",
        "kernel a order free\ndim N\narray X: inout f64[N]\nparallel n: 0 .. N {\n"
        " x: f64 = load X[n]\n store X[n] = x\n}\n"};
    uint64_t h[3];
    tw_context *ctx = tw_context_create(NULL);
    for (int k = 0; k < 3; k++) {
        tw_ir *ir = from_text(ctx, texts[k]);
        expect_fine(ctx);
        h[k] = twi_ir_hash(ir);
    }
    assert_int_equal(h[0], h[1]);
    assert_int_not_equal(h[0], h[2]);
    tw_context_destroy(ctx);
}

/* A text that is read at all prints to one that reads back to itself; otherwise there is a
 * diagnostic. */
static void try_text(const char *text, size_t n) {
    tw_context *ctx = tw_context_create(NULL);
    tw_ir *ir = tw_ir_from_text(ctx, "garbage", text, n);
    if (ir) {
        const char *printed = tw_ir_text(ctx, ir);
        tw_ir *again = tw_ir_from_text(ctx, "again", printed, strlen(printed));
        if (!again)
            fail_msg("prints what cannot be read:\n%s%s", printed, tw_diag_text(ctx, false));
        assert_string_equal(tw_ir_text(ctx, again), printed);
    } else {
        assert_int_not_equal(tw_diag_count(ctx), 0);
    }
    tw_context_destroy(ctx);
}

static void cut(void **state) {
    (void)state;
    for (size_t n = 0; n < strlen(everything); n += 3)
        try_text(everything, n);
}

static void changed(void **state) {
    (void)state;
    static const char bytes[] = "0$({[]})=:.,#-%/\n\0\"ahkmnx9 _\x80";
    twi_rng rng;
    char text[8192];
    size_t n = strlen(everything);
    twi_rng_init(&rng, 1);
    for (int k = 0; k < 600; k++) {
        memcpy(text, everything, n);
        for (uint64_t edits = 1 + twi_rng_below(&rng, 3); edits > 0; edits--) {
            size_t at = (size_t)twi_rng_below(&rng, n), from = (size_t)twi_rng_below(&rng, n - 20);
            if (twi_rng_below(&rng, 2))
                text[at] = bytes[twi_rng_below(&rng, sizeof bytes)];
            else
                memcpy(text + (at < n - 20 ? at : 0), everything + from,
                       1 + (size_t)twi_rng_below(&rng, 19));
        }
        try_text(text, n);
    }
}

/* head, then `times` times `part`. */
static char *repeated(twi_arena *arena, const char *start, const char *part, size_t times) {
    twi_sb sb;
    twi_sb_init(&sb, arena);
    twi_sb_str(&sb, start);
    for (size_t k = 0; k < times; k++)
        twi_sb_str(&sb, part);
    return sb.at;
}

static void huge(void **state) {
    (void)state;
    static const struct {
        const char *start, *part;
        size_t times;
    } texts[] = {
        {"kernel k order free\ndim N\narray X: in f32[", "(", 100000},
        {"kernel k order free\ndim N\narray X: in f32[N", " + N", 100000},
        {"kernel k order free\ndim N\narray X: in f32[", "min(N, ", 100000},
        {"kernel k order free\nparallel {\n c: f32 = const ", "(", 100000},
        {"kernel k order free\nparallel {\n c: f32 = const ", "-", 100000},
        {"kernel ", "k", 1000000},
        {"kernel k order free\ndim ", "N", 1000000},
        {"kernel k order free\n", "parallel {\n", 100000},
        {"kernel k order free\n", "serial s: 0 .. 3 {\n", 100000},
        {"kernel k order free\n", "dim N\n", 100000},
        {"", "\n", 100000},
        {"", "#", 100000},
        {"kernel k order free\nnote \"", "\\x41", 100000},
    };
    tw_context *ctx = tw_context_create(NULL);
    for (int k = 0; k < COUNT(texts); k++) {
        twi_mark mark = twi_arena_mark(&ctx->arena);
        char *text = repeated(&ctx->arena, texts[k].start, texts[k].part, texts[k].times);
        try_text(text, strlen(text));
        twi_arena_reset(&ctx->arena, mark);
    }
    try_text("kernel k\0 order free\n", 21);
    tw_context_destroy(ctx);
}

/* Text says what is proved; reading proves it again. */
static void claims(void **state) {
    (void)state;
    static const char *const bad[] = {
        "kernel k order free\ndim N\narray X: inout f32[N]\nparallel n: 0 .. N + 1 {\n"
        " c: f32 = const 1\n store X[n] = c\n}\n",
        "kernel k order free specialised\narray X: inout f32[4]\nparallel n: 0 .. 5 {\n"
        " c: f32 = const 1\n store X[n] = c\n}\n"};
    for (int k = 0; k < COUNT(bad); k++) {
        tw_context *ctx = tw_context_create(NULL);
        assert_null(from_text(ctx, bad[k]));
        expect_code(ctx, TWI_E_OUTSIDE, "outside");
        tw_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip), cmocka_unit_test(hashes),
                                       cmocka_unit_test(cut),        cmocka_unit_test(changed),
                                       cmocka_unit_test(huge),       cmocka_unit_test(claims)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
