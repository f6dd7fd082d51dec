/* SPDX-License-Identifier: Apache-2.0
 * The interpreter as a target: runs entries of the loop IR as it is. Launching takes memory of its
 * own, so that several threads may; faults that the trace finds are errors.
 */
#include "loop/interp.h"
#include "target/target.h"

#include <stdio.h>

static tw_status build(twi_target *t, const twi_loop *const *loop, unsigned n,
                       const struct twi_printed *printed, twi_module **out) {
    (void)printed;
    for (unsigned k = 0; k < n; k++) {
        out[k] = twi_mem_get(&t->ctx->mem, sizeof *out[k]);
        *out[k] = (twi_module){t, loop[k]};
    }
    return TW_OK;
}

static uint32_t arrays_of(const twi_loop *loop) {
    uint32_t n = 0;
    for (uint32_t f = 0; f < loop->func.n; f++)
        for (uint32_t i = 1; i < loop->func.at[f].object.n; i++) {
            const twi_object *o = &loop->func.at[f].object.at[i];
            if (o->kind == TWI_OBJ_ARRAY && o->array >= n)
                n = o->array + 1;
        }
    return loop->ir && loop->ir->array.n > n ? loop->ir->array.n : n;
}

static void interpret(twi_arena *arena, const twi_loop *loop, uint32_t entry,
                      const twi_launch *args, twi_interp_result *result) {
    const uint32_t n = arrays_of(loop);
    twi_interp_array *array = TWI_NEW_N(arena, twi_interp_array, n + 1);
    for (uint32_t i = 0; i < n; i++)
        array[i] = (twi_interp_array){.data = args->array[i],
                                      .shape = args->shape + i * TWI_MAX_RANK,
                                      .stride = args->stride + i * TWI_MAX_RANK};
    twi_interp_run(loop, entry, array, args->scalar, arena, result);
}

static tw_status run(twi_module *m, uint32_t entry, const twi_launch *args,
                     char error[TWI_ERROR_TEXT]) {
    twi_mem mem;
    twi_arena arena;
    twi_interp_result result = {0};
    jmp_buf spot, *saved;
    twi_mem_init(&mem);
    twi_arena_init(&arena, &mem);
    tw_status status = TW_OK;
    if (TWI_GUARD(&mem, spot, saved)) {
        (void)snprintf(error, TWI_ERROR_TEXT, "no memory for the interpreter");
        twi_arena_fini(&arena);
        return TW_ERR_MEMORY;
    }
    interpret(&arena, m->loop, entry, args, &result);
    TWI_UNGUARD(&mem, saved);
    if (result.fault.kind != TWI_FAULT_NONE) {
        (void)snprintf(error, TWI_ERROR_TEXT, "%.*s", TWI_ERROR_TEXT - 1, result.fault.text);
        status = TW_ERR_WRONG;
    }
    twi_arena_fini(&arena);
    return status;
}

static void release(twi_module *m) {
    if (m)
        twi_mem_put(&m->target->ctx->mem, m, sizeof *m);
}

static void close_interp(twi_target *t) { twi_mem_put(&t->ctx->mem, t, sizeof *t); }

static const twi_target_ops ops = {
    .name = "interp", .build = build, .run = run, .release = release, .close = close_interp};

twi_target *twi_interp_open(tw_context *ctx, const twi_caps *caps) {
    twi_target *t = twi_mem_get(&ctx->mem, sizeof *t);
    *t = (twi_target){.ops = &ops, .ctx = ctx, .caps = *caps, .version = ""};
    return t;
}
