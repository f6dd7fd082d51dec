/* SPDX-License-Identifier: Apache-2.0
 * The builder: life, errors, marks, and how instructions enter the IR. Rules live in build_*.c,
 * what can only be seen of a whole kernel in rules.c, cover.c and prove.c.
 */
#include "ir/build.h"
#include "ir/whole.h"

/* ---- errors ---- */
static void report(tw_context *ctx, uint16_t code, const char *text) {
    jmp_buf spot, *saved;
    if (!TWI_GUARD(&ctx->mem, spot, saved))
        twi_error(&ctx->diags, code, (twi_loc){0}, NULL, "%s", text);
    TWI_UNGUARD(&ctx->mem, saved);
}

void twi_build_no_memory(tw_builder *b) {
    b->failed = true;
    b->ir = NULL;
    twi_arena_fini(&b->arena);
    report(b->ctx, TWI_E_MEMORY, "out of memory");
}

void twi_build_fail(tw_builder *b, uint16_t code, const char *help, const char *format, ...) {
    twi_sb text;
    twi_sb_init(&text, &b->arena);
    va_list args;
    va_start(args, format);
    twi_sb_vprintf(&text, format, args);
    va_end(args);
    b->failed = true;
    twi_error(&b->ctx->diags, code, b->loc, help, "%s", twi_sb_text(&text));
}

bool tw_build_failed(const tw_builder *b) { return !b || b->failed; }

static void report_at(tw_context *ctx, int code, tw_place at, const char *text, const char *help) {
    twi_error(&ctx->diags, (uint16_t)code, (twi_loc){at.file, at.offset}, help, "%s", text);
}

void tw_build_report(tw_context *ctx, tw_builder *b, int code, tw_place at, const char *text,
                     const char *help) {
    jmp_buf spot, *saved;
    if (b)
        b->failed = true;
    if (!TWI_GUARD(&ctx->mem, spot, saved))
        report_at(ctx, code, at, text, help);
    TWI_UNGUARD(&ctx->mem, saved);
}

uint32_t tw_build_file(tw_context *ctx, const char *name, const char *text, size_t n) {
    jmp_buf spot, *saved;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return 0;
    }
    uint32_t file = twi_diags_file(&ctx->diags, name, text, n);
    TWI_UNGUARD(&ctx->mem, saved);
    return file;
}

void tw_build_at(tw_builder *b, uint32_t file, uint32_t offset) {
    if (b)
        b->loc = (twi_loc){file, offset};
}

/* ---- life ---- */
static void begin(tw_builder *b, const char *kernel) {
    twi_arena *a = &b->arena;
    tw_ir *ir = twi_ir_new(b->ctx, a);
    b->ir = ir;
    b->current = 1;
    twi_push(a, &b->home, 0);
    ir->kernel = twi_build_sym(b, kernel, "kernel");
    ir->order = TWI_ORDER_FREE;
}

tw_builder *tw_build_begin(tw_context *ctx, const char *kernel) {
    jmp_buf spot, *saved;
    if (!ctx)
        return NULL;
    tw_builder *b = ctx->mem.alloc(ctx->mem.user, sizeof *b);
    if (!b) {
        report(ctx, TWI_E_MEMORY, "out of memory");
        return NULL;
    }
    memset(b, 0, sizeof *b);
    b->ctx = ctx;
    twi_arena_init(&b->arena, &ctx->mem);
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        twi_build_no_memory(b);
        return b;
    }
    begin(b, kernel);
    TWI_UNGUARD(&ctx->mem, saved);
    return b;
}

void tw_build_abandon(tw_builder *b) {
    if (!b)
        return;
    twi_mem *mem = &b->ctx->mem;
    twi_arena_fini(&b->arena);
    mem->release(mem->user, b);
}

static tw_ir *finish(tw_builder *b) {
    if (b->current != 1)
        twi_build_fail(b, TWI_E_SCOPE, "end it before the kernel's end",
                       "a scope or loop is still open");
    if (b->failed) {
        if (!b->unranged)
            twi_prove_accesses(b->ir); /* what else is wrong */
        return NULL;
    }
    tw_ir *ir = twi_ir_compact(b->ir, &b->ctx->arena);
    uint32_t before = b->ctx->diags.errors;
    if (!twi_ir_verify(ir))
        return NULL;
    twi_check_roles(ir);
    twi_check_alias(ir);
    twi_prove_accesses(ir);
    if (b->ctx->diags.errors == before)
        twi_check_cover(ir);
    return b->ctx->diags.errors == before ? ir : NULL;
}

tw_ir *tw_build_finish(tw_builder *b) {
    jmp_buf spot, *saved;
    tw_ir *ir = NULL;
    if (!b)
        return NULL;
    if (b->ir) {
        if (TWI_GUARD(&b->ctx->mem, spot, saved)) {
            TWI_UNGUARD(&b->ctx->mem, saved);
            twi_build_no_memory(b);
            tw_build_abandon(b);
            return NULL;
        }
        ir = finish(b);
        TWI_UNGUARD(&b->ctx->mem, saved);
    }
    tw_build_abandon(b);
    return ir;
}

/* ---- dry runs ---- */
static void mark(tw_builder *b) {
    const tw_ir *ir = b->ir;
    twi_build_mark m = {ir->ins.n,    ir->args.n, ir->access.n, ir->constant.n, ir->axis.n,
                        ir->region.n, b->heads.n, b->copies.n,  b->current,     0};
    m.body = ir->region.at[b->current].body.n;
    twi_push(&b->arena, &b->marks, m);
}

void tw_build_mark(tw_builder *b) {
    BUILD_ENTER(b, BUILD_NOTHING)
    mark(b);
    BUILD_LEAVE(b);
}

void tw_build_rewind(tw_builder *b) {
    if (!b || !b->ir || b->marks.n == 0)
        return;
    twi_build_mark m = b->marks.at[--b->marks.n];
    tw_ir *ir = b->ir;
    ir->ins.n = m.ins;
    ir->args.n = m.args;
    ir->access.n = m.access;
    ir->constant.n = m.constant;
    ir->axis.n = m.axis;
    ir->region.n = m.region;
    b->home.n = m.ins;
    b->heads.n = m.heads;
    b->copies.n = m.copies;
    b->current = m.current;
    ir->region.at[m.current].body.n = m.body;
}

/* ---- instructions ---- */
uint32_t twi_build_scope(const tw_builder *b) {
    for (uint32_t r = b->current; r != 0; r = b->ir->region.at[r].parent)
        if (b->ir->region.at[r].kind == TWI_REGION_PAR)
            return r;
    return 0;
}

bool twi_build_open(const tw_builder *b, uint32_t region) {
    uint32_t r = b->current;
    while (r != 0 && r != region)
        r = b->ir->region.at[r].parent;
    return r != 0;
}

twi_id twi_build_put(tw_builder *b, twi_ins ins, const twi_id *args, uint32_t nargs) {
    tw_ir *ir = b->ir;
    ins.loc = b->loc;
    ins.arg = ir->args.n;
    ins.nargs = nargs;
    for (uint32_t k = 0; k < nargs; k++)
        twi_push(ir->arena, &ir->args, args[k]);
    twi_id id = ir->ins.n;
    twi_push(ir->arena, &ir->ins, ins);
    twi_push(&b->arena, &b->home, b->current);
    if (b->current != 1 || ins.op == TWI_PAR || ins.op == TWI_SERIAL)
        if (ins.op != TWI_CARRY)
            twi_push(ir->arena, &ir->region.at[b->current].body, id);
    return id;
}

/* The current scope's own copy of a constant or scalar argument made before any scope. */
static twi_id own_copy(tw_builder *b, twi_id template) {
    for (uint32_t k = 0; k < b->copies.n; k++)
        if (b->copies.at[k].from == template)
            return b->copies.at[k].to;
    tw_ir *ir = b->ir;
    twi_ins ins = ir->ins.at[template];
    ins.arg = ir->args.n;
    twi_id id = ir->ins.n;
    twi_push(ir->arena, &ir->ins, ins);
    twi_push(&b->arena, &b->home, twi_build_scope(b));
    twi_push(&b->arena, &b->heads, id);
    twi_build_copy copy = {template, id};
    twi_push(&b->arena, &b->copies, copy);
    return id;
}

twi_id twi_build_use(tw_builder *b, tw_value x) {
    if (x == 0)
        return 0;
    if (x >= b->ir->ins.n || b->ir->ins.at[x].type.elem == TW_NONE) {
        twi_build_fail(b, TWI_E_HANDLE, NULL, "value %u does not exist", (unsigned)x);
        return 0;
    }
    uint32_t home = b->home.at[x];
    if (home == 1 && twi_build_scope(b) != 0)
        return own_copy(b, x);
    if (!twi_build_open(b, home)) {
        twi_build_fail(b, TWI_E_HANDLE, "names of one scope don't exist in another: use `temp`",
                       "value %s belongs to a scope or loop that has ended",
                       twi_text(&b->ctx->names, b->ir->ins.at[x].name));
        return 0;
    }
    return x;
}

twi_type twi_build_type(const tw_builder *b, twi_id v) { return b->ir->ins.at[v].type; }
