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
#include "loop/interp.h"

#include <string.h>

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
    for (uint32_t k = 1; k < loop->array.n; k++) {
        const twi_larray *a = &loop->array.at[k];
        int64_t *stride = TWI_NEW_N(arena, int64_t, TWI_MAX_RANK), step = 1;
        for (unsigned d = a->rank; d-- > 0;) {
            stride[d] = step;
            step *= a->extent[d];
        }
        arrays[k] = (twi_interp_array){data[k - 1], a->extent, stride};
    }
    twi_interp_result result;
    twi_interp_run(loop, 0, arrays, scalars, arena, &result);
    return result;
}

static inline void clean(const twi_interp_result *r) {
    if (r->fault.kind != TWI_FAULT_NONE)
        fail_msg("fault %d at %u: %s", (int)r->fault.kind, r->fault.at, r->fault.text);
}

#endif
