/* SPDX-License-Identifier: Apache-2.0
 * Contexts and the public view of their diagnostics.
 */
#include "base/context.h"
#include "base/env.h"

tw_context *tw_context_create(const tw_allocator *allocator) {
    twi_mem mem;
    twi_mem_init(&mem);
    if (allocator && allocator->alloc && allocator->release) {
        mem.alloc = allocator->alloc;
        mem.release = allocator->release;
        mem.user = allocator->user;
    }
    tw_context *ctx = mem.alloc(mem.user, sizeof *ctx);
    if (!ctx)
        return NULL;
    memset(ctx, 0, sizeof *ctx);
    ctx->mem = mem;
    twi_arena_init(&ctx->arena, &ctx->mem);
    twi_notes_init(&ctx->planned, &ctx->mem);
    jmp_buf spot, *saved;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        tw_context_destroy(ctx);
        return NULL;
    }
    twi_names_init(&ctx->names, &ctx->arena);
    twi_diags_init(&ctx->diags, &ctx->arena);
    twi_env_read(&ctx->env, &ctx->arena);
    TWI_UNGUARD(&ctx->mem, saved);
    return ctx;
}

void tw_context_destroy(tw_context *ctx) {
    if (!ctx)
        return;
    twi_notes_fini(&ctx->planned);
    twi_arena_fini(&ctx->arena);
    twi_mem mem = ctx->mem; /* the context itself came straight from the allocator */
    mem.release(mem.user, ctx);
}

void tw_context_interrupt(tw_context *ctx, tw_interrupt *interrupt) { ctx->interrupt = interrupt; }

void twi_hold(tw_context *ctx) {
    if (ctx->interrupt)
        ctx->interrupt->holding++;
}

void twi_let_go(tw_context *ctx) {
    if (ctx->interrupt)
        ctx->interrupt->holding--;
}

bool twi_interrupted(const tw_context *ctx) { return ctx->interrupt && ctx->interrupt->asked; }

size_t tw_diag_count(const tw_context *ctx) { return ctx ? ctx->diags.list.n : 0; }

tw_diag tw_diag_get(const tw_context *ctx, size_t k) {
    if (k >= tw_diag_count(ctx))
        return (tw_diag){0};
    const twi_diag *d = &ctx->diags.list.at[k];
    tw_diag out = {.code = d->code, .severity = d->severity, .text = d->text, .help = d->help};
    if (d->loc.file != 0 && d->loc.file <= ctx->diags.files.n) {
        const char *line;
        size_t n;
        out.file = ctx->diags.files.at[d->loc.file - 1].name;
        twi_loc_find(&ctx->diags, d->loc, &out.line, &out.column, &line, &n);
    }
    return out;
}

static const char *all_text(tw_context *ctx, bool color) {
    twi_sb sb;
    twi_sb_init(&sb, &ctx->arena);
    twi_diags_print(&ctx->diags, &sb, color);
    return twi_sb_text(&sb);
}

const char *tw_diag_text(tw_context *ctx, bool color) {
    jmp_buf spot, *saved;
    if (!ctx)
        return "";
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return "out of memory\n";
    }
    const char *text = all_text(ctx, color);
    TWI_UNGUARD(&ctx->mem, saved);
    return text;
}

void tw_diag_clear(tw_context *ctx) {
    if (ctx)
        twi_diags_clear(&ctx->diags);
}

const char *tw_version(void) { return TW_VERSION; }
