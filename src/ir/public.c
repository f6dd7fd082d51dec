/* SPDX-License-Identifier: Apache-2.0
 * The public entries around a finished tile IR: its text, the ledger, and the way back.
 */
#include "ir/ir.h"
#include "tilewright/build.h"

typedef void (*writer)(const tw_ir *ir, twi_sb *out);

static const char *written(tw_context *ctx, const tw_ir *ir, writer write) {
    twi_sb sb;
    twi_sb_init(&sb, &ctx->arena);
    write(ir, &sb);
    return twi_sb_text(&sb);
}

static const char *guarded(tw_context *ctx, const tw_ir *ir, writer write) {
    jmp_buf spot, *saved;
    if (!ctx || !ir)
        return NULL;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return NULL;
    }
    const char *text = written(ctx, ir, write);
    TWI_UNGUARD(&ctx->mem, saved);
    return text;
}

const char *tw_ir_text(tw_context *ctx, const tw_ir *ir) { return guarded(ctx, ir, twi_ir_print); }

const char *tw_ir_ledger_text(tw_context *ctx, const tw_ir *ir) {
    return guarded(ctx, ir, twi_ir_ledger);
}

tw_ir *tw_ir_from_text(tw_context *ctx, const char *name, const char *text, size_t n) {
    jmp_buf spot, *saved;
    if (!ctx)
        return NULL;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return NULL;
    }
    tw_ir *ir = twi_ir_parse(ctx, &ctx->arena, name, text, n);
    TWI_UNGUARD(&ctx->mem, saved);
    return ir;
}
