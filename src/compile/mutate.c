/* SPDX-License-Identifier: Apache-2.0
 * Planted faults in loop IR texts, for tests of what must notice them.
 */
#include "loop/mutate.h"
#include "compile/path.h"

static const char *const kinds[TWI_MUTATIONS] = {
    [TWI_MUTATE_DROP_LAST] = "drop-last",   [TWI_MUTATE_PAD_ZERO] = "pad-zero",
    [TWI_MUTATE_SKIP_STORE] = "skip-store", [TWI_MUTATE_LAST_TWICE] = "last-twice",
    [TWI_MUTATE_ACCUM_BF16] = "accum-bf16", [TWI_MUTATE_WRITE_PAST] = "write-past",
    [TWI_MUTATE_READ_PAST] = "read-past",   [TWI_MUTATE_DROP_BARRIER] = "drop-barrier",
    [TWI_MUTATE_DROP_WAIT] = "drop-wait",   [TWI_MUTATE_DROP_CARRY] = "drop-carry",
    [TWI_MUTATE_NOT_ATOMIC] = "not-atomic"};

const char *tw_loop_mutation(size_t k) { return k < TWI_MUTATIONS ? kinds[k] : NULL; }

static const char *mutate(tw_context *ctx, const tw_source *text, const char *kind, unsigned k) {
    twi_loop *changed,
        *loop = twi_loop_parse(ctx, &ctx->arena, NULL, text->name, text->text, text->n);
    twi_sb sb;
    twi_sb_init(&sb, &ctx->arena);
    for (unsigned m = 0; loop && m < TWI_MUTATIONS; m++) {
        if (strcmp(kinds[m], kind) != 0 || !twi_mutate(loop, m, k, &ctx->arena, &changed))
            continue;
        twi_loop_print(changed, &sb);
        return twi_sb_text(&sb);
    }
    return NULL;
}

const char *tw_loop_mutate(tw_context *ctx, tw_source loop, const char *kind, unsigned k) {
    jmp_buf spot, *saved;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return NULL;
    }
    const char *text = mutate(ctx, &loop, kind, k);
    TWI_UNGUARD(&ctx->mem, saved);
    return text;
}
