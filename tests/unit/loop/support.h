/* SPDX-License-Identifier: Apache-2.0
 * Contexts, modules from text, runs in the interpreter: shared by the tests of loop IR.
 */
#ifndef TEST_LOOP_SUPPORT_H
#define TEST_LOOP_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/context.h"
#include "dense.h"

#include <string.h>

/* Y[r] = sum of X[r, ..], M[r] = its maximum (all are negative), by 2 subgroups of 4 lanes, 13
 * elements a lane, the last only for some. */
static const char two_folds[] = "loop k target simt4\n"
                                "argument 1 X in f32[3, 100]\n"
                                "argument 2 Y out f32[3]\n"
                                "argument 3 M out f32[3]\n"
                                "entry main {\n"
                                "  launch k_main grid 3\n"
                                "}\n"
                                "func k_main entry 0 scope 0 implicit lanes 4 subs 2 {\n"
                                "  array X = 1 f32[3, 100] stride [100, 1]\n"
                                "  array Y = 2 f32[3] stride [1]\n"
                                "  array M = 3 f32[3] stride [1]\n"
                                "  private s f32[1] stride [1]\n"
                                "  private m f32[1] stride [1]\n"
                                "  shared red f32[2] stride [1]\n"
                                "  %1 = id grid\n"
                                "  %2 = id sub\n"
                                "  %3 = id lane\n"
                                "  %4 = mul %2, 4\n"
                                "  %5 = add %4, %3\n"
                                "  %6 = const -0 identity : f32\n"
                                "  %60 = const -inf identity : f32\n"
                                "  store s[0] = %6\n"
                                "  store m[0] = %60\n"
                                "  for %7 in 0 .. 13 {\n"
                                "    %8 = mul %7, 8\n"
                                "    %9 = add %8, %5\n"
                                "    %10 = lt %9, 100 : bool\n"
                                "    %x11 = load X[%1, %9] where %10 : f32\n"
                                "    %12 = load s[0] : f32\n"
                                "    %13 = select %10, %x11, %6 : f32\n"
                                "    %14 = add %12, %13 fold 7 : f32\n"
                                "    store s[0] = %14\n"
                                "    %61 = select %10, %x11, %60 : f32\n"
                                "    %62 = load m[0] : f32\n"
                                "    %63 = max %62, %61 fold 8 : f32\n"
                                "    store m[0] = %63\n"
                                "  }\n"
                                "  %15 = load s[0] : f32\n"
                                "  %16 = lane_fold add %15 stride 1 extent 4 fold 7 : f32\n"
                                "  %17 = eq %3, 0 : bool\n"
                                "  if %17 {\n"
                                "    store red[%2] = %16\n"
                                "  }\n"
                                "  barrier group\n"
                                "  %18 = load red[0] : f32\n"
                                "  %19 = load red[1] : f32\n"
                                "  %20 = add %18, %19 fold 7 : f32\n"
                                "  %21 = eq %5, 0 : bool\n"
                                "  if %21 {\n"
                                "    store Y[%1] = %20\n"
                                "  }\n"
                                "  barrier group\n"
                                "  %64 = load m[0] : f32\n"
                                "  %65 = lane_fold max %64 stride 1 extent 4 fold 8 : f32\n"
                                "  if %17 {\n"
                                "    store red[%2] = %65\n"
                                "  }\n"
                                "  barrier group\n"
                                "  %66 = load red[0] : f32\n"
                                "  %67 = load red[1] : f32\n"
                                "  %68 = max %66, %67 fold 8 : f32\n"
                                "  if %21 {\n"
                                "    store M[%1] = %68\n"
                                "  }\n"
                                "}\n";

typedef struct {
    tw_context *ctx;
    jmp_buf spot, *saved;
} bench;

static inline int setup(void **state) {
    static bench b;
    b.ctx = tw_context_create(NULL);
    if (!b.ctx || TWI_GUARD(&b.ctx->mem, b.spot, b.saved))
        return -1;
    *state = &b;
    return 0;
}

static inline int teardown(void **state) {
    bench *b = *state;
    TWI_UNGUARD(&b->ctx->mem, b->saved);
    tw_context_destroy(b->ctx);
    return 0;
}

/* Y = Z = sums of X in blocks of 8 columns, of which each worker copies one element beside the sum
 * of the block before, into one of two versions, and reads another's. The first block is the last
 * too. */
static const char beside[] =
    "loop k target simt4\n"
    "argument 1 X in f32[3, 32]\nargument 2 Y out f32[3, 8]\nargument 3 Z out f32[3, 8]\n"
    "entry main {\n  launch k_main grid 3\n}\n"
    "func k_main entry 0 scope 0 implicit lanes 4 subs 2 {\n"
    "  array X = 1 f32[3, 32] stride [32, 1]\n"
    "  array Y = 2 f32[3, 8] stride [8, 1]\n"
    "  array Z = 3 f32[3, 8] stride [8, 1]\n"
    "  private s f32[1] stride [1]\n"
    "  shared ring f32[2, 8] stride [8, 1]\n"
    "  %1 = id grid\n  %2 = id sub\n  %3 = id lane\n"
    "  %4 = mul %2, 4\n  %5 = add %4, %3\n  %6 = sub 7, %5\n"
    "  %7 = const -0 identity : f32\n  store s[0] = %7\n"
    "  %8 = add %5, 24\n"
    "  %9 = load X[%1, %8] : f32\n"
    "  async_copy ring[0, %5] = %9\n"
    "  async_commit\n"
    "  for %10 in 0 .. 4 {\n"
    "    %11 = imod %10, 2\n"
    "    async_wait 0\n"
    "    barrier group\n"
    "    %12 = add %10, 1\n"
    "    %13 = lt %12, 4 : bool\n"
    "    if %13 {\n"
    "      %14 = mul %12, 8\n"
    "      %15 = add %14, %5\n"
    "      %16 = load X[%1, %15] early : f32\n"
    "      %17 = imod %12, 2\n"
    "      async_copy ring[%17, %5] = %16\n"
    "    }\n"
    "    async_commit\n"
    "    %18 = load ring[%11, %6] : f32\n"
    "    %19 = load s[0] : f32\n"
    "    %20 = add %19, %18 fold 7 : f32\n"
    "    store s[0] = %20\n"
    "  }\n"
    "  %21 = load s[0] : f32\n"
    "  store Y[%1, %5] = %21\n"
    "  store Z[%1, %5] = %21\n"
    "}\n";

static inline twi_loop *read_loop(bench *b, const char *text) {
    twi_loop *loop = twi_loop_parse(b->ctx, &b->ctx->arena, NULL, "test.loop", text, strlen(text));
    if (!loop)
        fail_msg("%s", tw_diag_text(b->ctx, false));
    return loop;
}

static inline const char *text_of(bench *b, const twi_loop *loop) {
    twi_sb out;
    twi_sb_init(&out, &b->ctx->arena);
    twi_loop_print(loop, &out);
    return twi_sb_text(&out);
}

/* Arrays in the order of their ids, dense. */
static inline twi_interp_result run_loop(bench *b, const twi_loop *loop, void *const *data,
                                         const uint64_t *scalars) {
    twi_arena *arena = &b->ctx->arena;
    twi_interp_array *arrays = TWI_NEW_N(arena, twi_interp_array, loop->array.n);
    for (uint32_t k = 1; k < loop->array.n; k++)
        arrays[k] = dense_array(arena, &loop->array.at[k], data[k - 1], NULL);
    twi_interp_result result;
    twi_interp_run(loop, 0, arrays, scalars, arena, &result);
    return result;
}

static inline void clean(const twi_interp_result *r) {
    if (r->fault.kind != TWI_FAULT_NONE)
        fail_msg("fault %d at %u: %s", (int)r->fault.kind, r->fault.at, r->fault.text);
}

#endif
