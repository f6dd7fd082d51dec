/* SPDX-License-Identifier: Apache-2.0
 * Dot products of bytes by fours and bf16 by pairs: the interpreter against arithmetic written
 * here, then what is compiled against the interpreter, bit for bit (NaNs apart): with the machine's
 * instructions, written out where there are none, and by compilers that are told of none.
 */
#include "base/hash.h"
#include "loop/interp.h"
#include "support.h"
#include "target/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { GROUPS = 4096, LANES = 16 };

/* Group g: R[g, l] = C[g, l] + A[g, ..] . B[g, l, ..]. */
#define MODULE(elem, steps, wide, sum)                                                             \
    "loop k target cpu\n"                                                                          \
    "argument 1 A in " elem "[4096, " steps "]\n"                                                  \
    "argument 2 B in " elem "[4096, " wide "]\n"                                                   \
    "argument 3 C in " sum "[4096, 16]\n"                                                          \
    "argument 4 R out " sum "[4096, 16]\n"                                                         \
    "entry main {\n"                                                                               \
    "  launch k_main grid 4096\n"                                                                  \
    "}\n"                                                                                          \
    "func k_main entry 0 scope 0 explicit lanes 16 subs 1 {\n"                                     \
    "  array A = 1 " elem "[4096, " steps "] stride [" steps ", 1]\n"                              \
    "  array B = 2 " elem "[4096, " wide "] stride [" wide ", 1]\n"                                \
    "  array C = 3 " sum "[4096, 16] stride [16, 1]\n"                                             \
    "  array R = 4 " sum "[4096, 16] stride [16, 1]\n"                                             \
    "  %1 = id grid\n"                                                                             \
    "  %2 = load A[%1, 0] : " elem "x" steps "\n"                                                  \
    "  %3 = load B[%1, 0] : " elem "x" wide "\n"                                                   \
    "  %4 = load C[%1, 0] : " sum "x16\n"                                                          \
    "  %5 = dots %2, %3, %4 : " sum "x16\n"                                                        \
    "  store R[%1, 0] = %5\n"                                                                      \
    "}\n"

typedef struct {
    const char *elem, *text;
    int steps;
} kind;
static const kind bytes = {"i8", MODULE("i8", "4", "64", "i32"), 4},
                  halves = {"bf16", MODULE("bf16", "2", "32", "f32"), 2};

typedef struct {
    uint32_t a[GROUPS], b[GROUPS][LANES], c[GROUPS][LANES], r[GROUPS][LANES];
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

static void fill(const kind *k, data *d) {
    twi_rng rng;
    twi_rng_init(&rng, 7);
    for (unsigned g = 0; g < GROUPS; g++) {
        const unsigned way = g % 3;
        const bool floats = k == &halves;
        d->a[g] = floats ? half(&rng, way) | (uint32_t)half(&rng, way) << 16
                         : (uint32_t)twi_rng_next(&rng);
        for (unsigned l = 0; l < LANES; l++) {
            d->b[g][l] = floats ? half(&rng, way) | (uint32_t)half(&rng, way) << 16
                                : (uint32_t)twi_rng_next(&rng);
            d->c[g][l] = floats ? (uint32_t)half(&rng, way) << 16 | (twi_rng_next(&rng) & 0xffff)
                                : (uint32_t)twi_rng_next(&rng);
            if (floats && way == 2)
                d->c[g][l] = (d->c[g][l] & 0x80ffffffu) | (uint32_t)(g % 2) << 23;
        }
        if (g < 2) /* the ends of bytes */
            d->a[g] = g ? 0x7f7f7f7fu : 0x80808080u;
        for (unsigned l = 0; g < 2 && l < LANES; l++)
            d->b[g][l] = l % 2 ? 0x7f7f7f7fu : 0x80808080u;
    }
}

static twi_loop *module_of(tw_context *ctx, const kind *k) {
    twi_loop *loop = twi_loop_parse(ctx, &ctx->arena, NULL, "dots.loop", k->text, strlen(k->text));
    if (!loop || !twi_loop_verify(loop))
        fail_msg("%s", tw_diag_text(ctx, false));
    return loop;
}

static void run(twi_target *t, const twi_loop *loop, const kind *k, data *d) {
    const int64_t wide = (int64_t)k->steps * LANES, n = GROUPS, trip = 0;
    int64_t shape[5 * TWI_MAX_RANK] = {0}, stride[5 * TWI_MAX_RANK] = {0};
    const int64_t columns[] = {0, k->steps, wide, LANES, LANES};
    void *const arrays[] = {NULL, d->a, d->b, d->c, d->r};
    for (unsigned a = 1; a < 5; a++) {
        shape[a * TWI_MAX_RANK] = n;
        shape[a * TWI_MAX_RANK + 1] = stride[a * TWI_MAX_RANK] = columns[a];
        stride[a * TWI_MAX_RANK + 1] = 1;
    }
    const twi_launch args = {
        .array = arrays, .stride = stride, .shape = shape, .trip = &trip, .threads = 1};
    char error[TWI_ERROR_TEXT] = "";
    twi_module *module = NULL;
    if (t->ops->build(t, &loop, 1, NULL, &module) != TW_OK)
        fail_msg("%s", tw_diag_text(t->ctx, false));
    memset(d->r, 0xa5, sizeof d->r);
    const tw_status status = t->ops->run ? t->ops->run(module, 0, &args, error)
                                         : t->ops->launch(module, 0, n, &args, error);
    if (status != TW_OK)
        fail_msg("%s", error);
    t->ops->release(module);
}

/* The source as it is printed for a target with the instructions, from a compiler that is told of
 * none. */
static void run_text(twi_target *cpu, const twi_loop *loop, const kind *k, data *d) {
    twi_arena *arena = &cpu->ctx->arena;
    void *const arrays[] = {NULL, d->a, d->b, d->c, d->r};
    twi_sb sb;
    twi_sb_init(&sb, arena);
    cpu->ops->source(cpu, loop, &sb);
    assert_non_null(strstr(twi_sb_text(&sb), k == &bytes ? "__AVX512VNNI__" : "__AVX512BF16__"));
    memset(d->r, 0xa5, sizeof d->r);
    run_plain(arena, twi_format(arena, "dots_%s", k->elem), twi_sb_text(&sb), arrays, GROUPS);
}

static bool is_nan(uint32_t u) { return (u & 0x7fffffffu) > 0x7f800000u; }

static void compare(const kind *k, const data *want, const data *got, const char *what) {
    for (unsigned g = 0; g < GROUPS; g++)
        for (unsigned l = 0; l < LANES; l++) {
            const uint32_t x = want->r[g][l], y = got->r[g][l];
            if (x != y && !(k == &halves && is_nan(x) && is_nan(y)))
                fail_msg("%s, group %u lane %u: %x . %x + %x is %x, not %x", what, g, l, want->a[g],
                         want->b[g][l], want->c[g][l], x, y);
        }
}

/* Sums of bytes in 64 bits. */
static void meaning_of_bytes(const data *d) {
    for (unsigned g = 0; g < GROUPS; g++)
        for (unsigned l = 0; l < LANES; l++) {
            int64_t sum = (int32_t)d->c[g][l];
            for (unsigned i = 0; i < 4; i++)
                sum += (int64_t)(int8_t)(d->a[g] >> 8 * i) * (int8_t)(d->b[g][l] >> 8 * i);
            assert_int_equal((uint32_t)sum, d->r[g][l]);
        }
}

static void check(const kind *k, const char *isa, bool with) {
    static data want, got;
    tw_context *ctx = tw_context_create(NULL);
    jmp_buf spot, *saved;
    twi_caps caps;
    if (TWI_GUARD(&ctx->mem, spot, saved))
        fail();
    const bool have =
        twi_cpu_caps(ctx, isa, &caps) && (!with || (k == &bytes ? caps.dpi8 : caps.dpbf16));
    if (have) {
        const twi_loop *loop = module_of(ctx, k);
        caps.dpi8 = caps.dpi8 && with;
        caps.dpbf16 = caps.dpbf16 && with;
        twi_target *interp = twi_interp_open(ctx, &caps),
                   *cpu = twi_cpu_open(ctx, &(twi_cpu_options){.caps = &caps});
        fill(k, &want);
        got = want;
        run(interp, loop, k, &want);
        run(cpu, loop, k, &got);
        if (k == &bytes)
            meaning_of_bytes(&want);
        compare(k, &want, &got, isa);
        cpu->ops->close(cpu);
        interp->ops->close(interp);
    } else {
        print_message("skipped: this machine has no dot products of %s on %s\n", k->elem, isa);
    }
    TWI_UNGUARD(&ctx->mem, saved);
    tw_context_destroy(ctx);
    if (!have)
        skip();
}

static void bytes_by_instruction(void **state) {
    (void)state;
    check(&bytes, "avx512", true);
}
static void halves_by_instruction(void **state) {
    (void)state;
    check(&halves, "avx512", true);
}
static void bytes_written_out(void **state) {
    (void)state;
    check(&bytes, "avx2", false);
    check(&bytes, "avx512", false);
}
static void halves_written_out(void **state) {
    (void)state;
    check(&halves, "avx2", false);
    check(&halves, "avx512", false);
}

/* No machine is asked: what it has decides nothing. */
static void check_text(const kind *k) {
    static data want, got;
    tw_context *ctx = tw_context_create(NULL);
    jmp_buf spot, *saved;
    twi_caps caps;
    if (TWI_GUARD(&ctx->mem, spot, saved))
        fail();
    assert_true(twi_caps_named(ctx, "cpu-avx512-dots", &caps));
    const twi_loop *loop = module_of(ctx, k);
    twi_target *interp = twi_interp_open(ctx, &caps),
               *cpu = twi_cpu_open(ctx, &(twi_cpu_options){.caps = &caps});
    fill(k, &want);
    got = want;
    run(interp, loop, k, &want);
    run_text(cpu, loop, k, &got);
    compare(k, &want, &got, "text");
    cpu->ops->close(cpu);
    interp->ops->close(interp);
    TWI_UNGUARD(&ctx->mem, saved);
    tw_context_destroy(ctx);
}

static void text_without_instructions(void **state) {
    (void)state;
    check_text(&bytes);
    check_text(&halves);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_by_instruction),      cmocka_unit_test(halves_by_instruction),
        cmocka_unit_test(bytes_written_out),         cmocka_unit_test(halves_written_out),
        cmocka_unit_test(text_without_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
