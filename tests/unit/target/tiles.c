/* SPDX-License-Identifier: Apache-2.0
 * Dot products of bf16 by tiles: a nest of `dots` of 16 pairs in the interpreter against arithmetic
 * written here, rewritten for a target without tiles, and compiled: bit for bit (NaNs apart), by
 * the machine's tiles and by a compiler that is told of none.
 */
#include "base/hash.h"
#include "loop/interp.h"
#include "loop/legalize.h"
#include "support.h"
#include "target/target.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { GROUPS = 48, BOXES = 3, K = 32 * BOXES, COLUMNS = 32, MOST_ROWS = 32 };

/* Group g: R[g, m, n] = S + A[g, m, ..] . B[g, .., n], B packed by pairs; S: C[g, m, n], or 0,
 * which tiles start from themselves. ahead: what is asked for behind a box of B. move: the sums go
 * to another array, to which tiles are stored at once. */
#define HEAD(rows)                                                                                 \
    "loop k target cpu\n"                                                                          \
    "argument 1 A in bf16[48, 32, 96]\n"                                                           \
    "argument 2 B in bf16[48, 3, 2, 512]\n"                                                        \
    "argument 3 C in f32[48, 32, 32]\n"                                                            \
    "argument 4 R out f32[48, " rows ", 32]\n"                                                     \
    "entry main {\n"                                                                               \
    "  launch k_main grid 48\n"                                                                    \
    "}\n"                                                                                          \
    "func k_main entry 0 scope 0 explicit lanes 16 subs 1 {\n"                                     \
    "  array A = 1 bf16[48, 32, 96] stride [3072, 96, 1]\n"                                        \
    "  array B = 2 bf16[48, 3, 2, 512] stride [3072, 1024, 512, 1]\n"                              \
    "  array C = 3 f32[48, 32, 32] stride [1024, 32, 1]\n"                                         \
    "  array R = 4 f32[48, " rows ", 32] stride [1024, 32, 1]\n"
#define OF_C "      %4 = mul %3, 16\n      %5 = load C[%1, %2, %4] : f32x16\n"
#define OF_0 "  %4 = const 0 : f32\n  %5 = splat %4 : f32x16\n"
#define MOVE(rows)                                                                                 \
    "  unroll %22 in " rows " {\n"                                                                 \
    "    unroll %23 in 2 {\n"                                                                      \
    "      %24 = load sum[%22, %23] : f32x16\n"                                                    \
    "      store out[%22, %23] = %24\n"                                                            \
    "    }\n"                                                                                      \
    "  }\n"
#define MODULE(rows, once, each, ahead, move, from)                                                \
    MODULE_OF(rows, once, each, "", ahead, move, "", from)
#define TWICE "  for %25 in 0 .. 2 {\n"
#define END "  }\n"
#define MODULE_OF(rows, once, each, begin, ahead, move, end, from)                                 \
    HEAD(rows)                                                                                     \
    "  private sum f32x16[" rows ", 2] stride [2, 1]\n"                                            \
    "  private out f32x16[" rows ", 2] stride [2, 1]\n"                                            \
    "  private a bf16x32[" rows "] stride [1]\n"                                                   \
    "  private b bf16x512[2] stride [1]\n"                                                         \
    "  %1 = id grid\n" once "  unroll %2 in " rows " {\n"                                          \
    "    unroll %3 in 2 {\n" each "      store sum[%2, %3] = %5\n"                                 \
    "    }\n"                                                                                      \
    "  }\n" begin "  for %6 in 0 .. 3 {\n"                                                         \
    "    %7 = mul %6, 32\n"                                                                        \
    "    unroll %8 in " rows " {\n"                                                                \
    "      %9 = load A[%1, %8, %7] : bf16x32\n"                                                    \
    "      store a[%8] = %9\n"                                                                     \
    "    }\n"                                                                                      \
    "    unroll %10 in 2 {\n"                                                                      \
    "      %11 = load B[%1, %6, %10, 0]" ahead " : bf16x512\n"                                     \
    "      store b[%10] = %11\n"                                                                   \
    "    }\n"                                                                                      \
    "    unroll %12 in " rows " {\n"                                                               \
    "      unroll %13 in 2 {\n"                                                                    \
    "        %14 = load sum[%12, %13] : f32x16\n"                                                  \
    "        %15 = load a[%12] : bf16x32\n"                                                        \
    "        %16 = load b[%13] : bf16x512\n"                                                       \
    "        %17 = dots %15, %16, %14 : f32x16\n"                                                  \
    "        store sum[%12, %13] = %17\n"                                                          \
    "      }\n"                                                                                    \
    "    }\n"                                                                                      \
    "  }\n" move end "  unroll %18 in " rows " {\n"                                                \
    "    unroll %19 in 2 {\n"                                                                      \
    "      %20 = mul %19, 16\n"                                                                    \
    "      %21 = load " from "[%18, %19] : f32x16\n"                                               \
    "      store R[%1, %18, %20] = %21\n"                                                          \
    "    }\n"                                                                                      \
    "  }\n"                                                                                        \
    "}\n"

/* Of each vector of columns the sums of all rows lie side by side, and its boxes of B are read
 * where they are used. */
#define BESIDE(rows)                                                                               \
    HEAD(rows)                                                                                     \
    "  private sum f32x16[2, " rows "] stride [" rows ", 1]\n"                                     \
    "  private a bf16x32[" rows "] stride [1]\n"                                                   \
    "  %1 = id grid\n"                                                                             \
    "  unroll %2 in 2 {\n"                                                                         \
    "    unroll %3 in " rows " {\n"                                                                \
    "      %4 = mul %2, 16\n"                                                                      \
    "      %5 = load C[%1, %3, %4] : f32x16\n"                                                     \
    "      store sum[%2, %3] = %5\n"                                                               \
    "    }\n"                                                                                      \
    "  }\n"                                                                                        \
    "  for %6 in 0 .. 3 {\n"                                                                       \
    "    %7 = mul %6, 32\n"                                                                        \
    "    unroll %8 in " rows " {\n"                                                                \
    "      %9 = load A[%1, %8, %7] : bf16x32\n"                                                    \
    "      store a[%8] = %9\n"                                                                     \
    "    }\n"                                                                                      \
    "    unroll %10 in 2 {\n"                                                                      \
    "      %11 = mul %10, 1\n"                                                                     \
    "      unroll %12 in " rows " {\n"                                                             \
    "        %13 = load sum[%10, %12] : f32x16\n"                                                  \
    "        %14 = load a[%12] : bf16x32\n"                                                        \
    "        %15 = load B[%1, %6, %11, 0] : bf16x512\n"                                            \
    "        %16 = dots %14, %15, %13 : f32x16\n"                                                  \
    "        store sum[%10, %12] = %16\n"                                                          \
    "      }\n"                                                                                    \
    "    }\n"                                                                                      \
    "  }\n"                                                                                        \
    "  unroll %18 in " rows " {\n"                                                                 \
    "    unroll %19 in 2 {\n"                                                                      \
    "      %20 = mul %19, 16\n"                                                                    \
    "      %21 = load sum[%19, %18] : f32x16\n"                                                    \
    "      store R[%1, %18, %20] = %21\n"                                                          \
    "    }\n"                                                                                      \
    "  }\n"                                                                                        \
    "}\n"

typedef struct {
    const char *text, *call, *start, *end; /* how its tiles are set up, loaded and stored */
    unsigned rows;
    bool zero, twice; /* S is 0; the products are added twice */
} kind;
static const kind kinds[] = {
    {MODULE("32", "", OF_C, "", "", "sum"), "tw_tiles_for(32,", "tw_tiles_load(32, 2, (char *)p",
     "_sum, 128, 64);", 32, false, false},
    {MODULE("20", "", OF_C, " ahead 512", MOVE("20"), "out"), "tw_tiles_for(20,",
     "tw_tiles_load(20, 2, (char *)p", "_sum, 128, 64);", 20, false, false},
    {MODULE("7", "", OF_C, "", "", "sum"), "tw_tiles_for(7,", "tw_tiles_load(7, 2, (char *)p",
     "_sum, 128, 64);", 7, false, false},
    {MODULE("32", OF_0, "", " ahead 512", MOVE("32"), "out"), "tw_tiles_for(32,",
     "tw_tiles_load(32, 2, 0,", "_out, 128, 64);", 32, true, false},
    {MODULE("7", OF_0, "", "", "", "sum"), "tw_tiles_for(7,", "tw_tiles_load(7, 2, 0,",
     "_sum, 128, 64);", 7, true, false},
    /* what is moved goes on being added to */
    {MODULE_OF("32", "", OF_C, TWICE, "", MOVE("32"), END, "out"), "tw_tiles_for(32,",
     "tw_tiles_load(32, 2, (char *)p", "_sum, 128, 64);", 32, false, true},
    {BESIDE("32"), "tw_tiles_for(32,", "tw_tiles_load(32, 2, (char *)p", "_sum, 64, 2048);", 32,
     false, false},
    {BESIDE("20"), "tw_tiles_for(20,", "tw_tiles_load(20, 2, (char *)p", "_sum, 64, 1280);", 20,
     false, false},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct {
    uint16_t a[GROUPS][MOST_ROWS][K], b[GROUPS][BOXES][2][16][16][2];
    uint32_t c[GROUPS][MOST_ROWS][COLUMNS], r[GROUPS][MOST_ROWS][COLUMNS];
} data;

/* Small numbers, any pattern, and numbers whose products and sums come near the subnormal ones. */
static uint16_t half(twi_rng *rng, unsigned way) {
    const uint64_t r = twi_rng_next(rng);
    const uint16_t sign = (uint16_t)(r >> 20 & 0x8000), low = (uint16_t)(r & 0x7f);
    if (way == 0)
        return (uint16_t)(sign | (120 + (r >> 8) % 16) << 7 | low);
    if (way == 1)
        return (uint16_t)r;
    return (uint16_t)(sign | ((r >> 8) % 4 ? 54 + (r >> 16) % 20 : (r >> 16) % 3) << 7 | low);
}

static void fill(data *d) {
    twi_rng rng;
    twi_rng_init(&rng, 11);
    for (unsigned g = 0; g < GROUPS; g++) {
        uint16_t *a = &d->a[g][0][0], *b = &d->b[g][0][0][0][0][0];
        uint32_t *c = &d->c[g][0][0];
        for (size_t i = 0; i < sizeof d->a[g] / sizeof *a; i++)
            a[i] = half(&rng, g % 3);
        for (size_t i = 0; i < sizeof d->b[g] / sizeof *b; i++)
            b[i] = half(&rng, g % 3);
        for (size_t i = 0; i < sizeof d->c[g] / sizeof *c; i++)
            c[i] = (uint32_t)half(&rng, g % 3) << 16 | (twi_rng_next(&rng) & 0xffff);
    }
}

static float real(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Subnormals are zeros. */
static float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }

static float expected(const data *d, const kind *of, unsigned g, unsigned m, unsigned n) {
    float sum = of->zero ? 0 : flushed(real(d->c[g][m][n]));
    for (unsigned at = 0; at < (of->twice ? 2 * BOXES : BOXES); at++) {
        const unsigned box = at % BOXES;
        float part[2] = {0, 0};
        for (unsigned k = 0; k < 32; k++) {
            const uint16_t a = d->a[g][m][32 * box + k],
                           b = d->b[g][box][n / 16][k / 2][n % 16][k % 2];
            part[k % 2] = flushed(fmaf(flushed(real((uint32_t)a << 16)),
                                       flushed(real((uint32_t)b << 16)), part[k % 2]));
        }
        sum = flushed(sum + flushed(part[0] + part[1]));
    }
    return sum;
}

static void judge(const data *d, const kind *k, const char *what) {
    for (unsigned g = 0; g < GROUPS; g++)
        for (unsigned m = 0; m < k->rows; m++)
            for (unsigned n = 0; n < COLUMNS; n++) {
                const float want = expected(d, k, g, m, n), got = real(d->r[g][m][n]);
                const int same = want == got && !signbit(want) == !signbit(got);
                if (!same && !(isnan(want) && isnan(got)))
                    fail_msg("%s, %u rows, group %u row %u column %u: %a, not %a", what, k->rows, g,
                             m, n, (double)got, (double)want);
            }
}

static twi_loop *module_of(tw_context *ctx, const kind *k) {
    twi_loop *loop = twi_loop_parse(ctx, &ctx->arena, NULL, "tiles.loop", k->text, strlen(k->text));
    if (!loop || !twi_loop_verify(loop))
        fail_msg("%s", tw_diag_text(ctx, false));
    return loop;
}

static void run(twi_target *t, const twi_loop *loop, const kind *k, data *d) {
    static const int64_t sizes[5][4] = {{0},
                                        {GROUPS, MOST_ROWS, K},
                                        {GROUPS, BOXES, 2, 512},
                                        {GROUPS, MOST_ROWS, COLUMNS},
                                        {GROUPS, MOST_ROWS, COLUMNS}};
    int64_t shape[5 * TWI_MAX_RANK] = {0}, stride[5 * TWI_MAX_RANK] = {0};
    const int64_t trip = 0;
    void *const arrays[] = {NULL, d->a, d->b, d->c, d->r};
    for (unsigned a = 1; a < 5; a++) {
        int64_t elements = 1;
        for (unsigned dim = a == 2 ? 4 : 3; dim-- > 0;) {
            shape[a * TWI_MAX_RANK + dim] = sizes[a][dim];
            stride[a * TWI_MAX_RANK + dim] = elements;
            elements *= sizes[a][dim];
        }
    }
    shape[4 * TWI_MAX_RANK + 1] = k->rows;
    const twi_launch args = {
        .array = arrays, .stride = stride, .shape = shape, .trip = &trip, .threads = 2};
    char error[TWI_ERROR_TEXT] = "";
    twi_module *module = NULL;
    if (t->ops->build(t, &loop, 1, NULL, &module) != TW_OK)
        fail_msg("%s", tw_diag_text(t->ctx, false));
    memset(d->r, 0xa5, sizeof d->r);
    const tw_status status = t->ops->run ? t->ops->run(module, 0, &args, error)
                                         : t->ops->launch(module, 0, GROUPS, &args, error);
    if (status != TW_OK)
        fail_msg("%s", error);
    t->ops->release(module);
}

static const char *source_of(twi_target *cpu, const twi_loop *loop) {
    twi_sb sb;
    twi_sb_init(&sb, &cpu->ctx->arena);
    cpu->ops->source(cpu, loop, &sb);
    return twi_sb_text(&sb);
}

/* As it is printed for a target with tiles, from a compiler that is told of none. */
static void run_text(twi_target *cpu, const twi_loop *loop, data *d) {
    void *const arrays[] = {NULL, d->a, d->b, d->c, d->r};
    memset(d->r, 0xa5, sizeof d->r);
    run_plain(&cpu->ctx->arena, "tiles_test", source_of(cpu, loop), arrays, GROUPS);
}

typedef void check(tw_context *ctx, twi_caps *caps, const kind *k, data *d);

static void each(check *c, bool of_machine) {
    static data d;
    tw_context *ctx = tw_context_create(NULL);
    jmp_buf spot, *saved;
    twi_caps caps;
    if (TWI_GUARD(&ctx->mem, spot, saved))
        fail();
    const bool have = of_machine ? twi_cpu_caps(ctx, NULL, &caps) && caps.tdpbf16
                                 : twi_caps_named(ctx, "cpu-avx512-tiles", &caps);
    for (unsigned k = 0; have && k < KINDS; k++) {
        fill(&d);
        c(ctx, &caps, &kinds[k], &d);
    }
    TWI_UNGUARD(&ctx->mem, saved);
    tw_context_destroy(ctx);
    if (have)
        return;
    print_message("skipped: this machine has no tiles of bf16\n");
    skip();
}

static void interpreted(tw_context *ctx, twi_caps *caps, const kind *k, data *d) {
    twi_target *interp = twi_interp_open(ctx, caps);
    run(interp, module_of(ctx, k), k, d);
    judge(d, k, "interpreter");
    interp->ops->close(interp);
}

static void compiled(tw_context *ctx, twi_caps *caps, const kind *k, data *d) {
    twi_target *cpu = twi_cpu_open(ctx, &(twi_cpu_options){.caps = caps});
    const twi_loop *loop = module_of(ctx, k);
    assert_non_null(strstr(source_of(cpu, loop), k->call));
    assert_non_null(strstr(source_of(cpu, loop), k->start));
    const char *store = strstr(source_of(cpu, loop), "tw_tiles_store(");
    while (store && !strchr("0123456789", store[sizeof "tw_tiles_store(" - 1]))
        store = strstr(store + 1, "tw_tiles_store(");
    assert_true(store && strstr(store, k->end));
    run(cpu, loop, k, d);
    judge(d, k, "compiled");
    cpu->ops->close(cpu);
}

static void rewritten(tw_context *ctx, twi_caps *caps, const kind *k, data *d) {
    twi_target *interp = twi_interp_open(ctx, caps);
    caps->tdpbf16 = false;
    run(interp, twi_legalize(module_of(ctx, k), &ctx->arena, caps), k, d);
    judge(d, k, "rewritten");
    interp->ops->close(interp);
}

static void printed(tw_context *ctx, twi_caps *caps, const kind *k, data *d) {
    twi_target *cpu = twi_cpu_open(ctx, &(twi_cpu_options){.caps = caps});
    run_text(cpu, module_of(ctx, k), d);
    judge(d, k, "text");
    cpu->ops->close(cpu);
}

static void by_interpreter(void **state) {
    (void)state;
    each(interpreted, false);
}
static void by_instruction(void **state) {
    (void)state;
    each(compiled, true);
}
static void without_tiles(void **state) {
    (void)state;
    each(rewritten, false);
}
static void text_without_instructions(void **state) {
    (void)state;
    each(printed, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_interpreter),
        cmocka_unit_test(by_instruction),
        cmocka_unit_test(without_tiles),
        cmocka_unit_test(text_without_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
