/* SPDX-License-Identifier: Apache-2.0
 * The whole path, and what it leaves: texts, arguments, a kernel. Everything but the kernel lives
 * in one arena, which the loop IR that a module runs from shares; so the kernel goes first.
 */
#include "run/kernel.h"
#include "compile/path.h"

#include "base/hash.h"
#include "target/codes.h"

const char *tw_stage_name(tw_stage stage) {
    static const char *const names[TW_STAGES] = {"tile", "plan", "loop", "caps", "source"};
    return (unsigned)stage < TW_STAGES ? names[stage] : NULL;
}

tw_compile_options tw_compile_options_defaults(void) {
    return (tw_compile_options){
        .target = "cpu", .plan = "default", .until = TW_STAGE_SOURCE, .build = true};
}

/* How far along the path a stage lies. */
static unsigned distance(tw_stage stage) {
    static const unsigned steps[TW_STAGES] = {[TW_STAGE_CAPS] = 0,
                                              [TW_STAGE_TILE] = 1,
                                              [TW_STAGE_PLAN] = 2,
                                              [TW_STAGE_LOOP] = 3,
                                              [TW_STAGE_SOURCE] = 4};
    return (unsigned)stage < TW_STAGES ? steps[stage] : 0;
}

static const char *print_tile(tw_compiled *c) {
    twi_sb sb;
    twi_sb_init(&sb, &c->arena);
    twi_ir_print(c->path.spec, &sb);
    return twi_sb_text(&sb);
}

static const char *print_loop(tw_compiled *c) {
    twi_sb sb;
    twi_sb_init(&sb, &c->arena);
    twi_loop_print(c->path.loop, &sb);
    return twi_sb_text(&sb);
}

static bool plan_step(tw_compiled *c, const tw_compile_options *o) {
    twi_path *p = &c->path;
    if (!twi_path_plan(p, o))
        return false;
    twi_sb words;
    twi_sb_init(&words, &c->arena);
    for (uint32_t s = 0; s < p->plans->n; s++)
        twi_sb_printf(&words, "%s%s", s ? "; " : "", p->derived[s]);
    c->words = twi_sb_text(&words);
    c->hash = twi_plan_hash(p->ir, p->plans);
    c->text[TW_STAGE_PLAN] = twi_path_plan_text(p, true);
    return true;
}

/* The path itself. */
static bool walk(tw_compiled *c, const tw_ir *ir, const tw_compile_options *o) {
    twi_path *p = &c->path;
    const unsigned far = o->build ? 4 : distance(o->until);
    const bool from_loop = o->loop_text.text != NULL;
    if (!twi_where_of(c->ctx, o, &p->where))
        return false;
    c->text[TW_STAGE_CAPS] = twi_path_caps(p);
    if (far >= 1 && ir) {
        if (!twi_path_specialise(p, ir, o) || !twi_path_class(p, o->canonical, o->strided))
            return false;
        c->text[TW_STAGE_TILE] = print_tile(c);
    }
    if (far >= 2 && !from_loop && !plan_step(c, o))
        return false;
    if (far >= 3) {
        if (!(from_loop ? twi_path_loop_text(p, &o->loop_text, false) : twi_path_lower(p)))
            return false;
        c->text[TW_STAGE_LOOP] = print_loop(c);
    }
    if (far >= 4 && (p->where.kind != TWI_WHERE_INTERP || !o->build)) {
        c->text[TW_STAGE_SOURCE] = twi_path_source(p);
        if (!c->text[TW_STAGE_SOURCE])
            return false;
    }
    return true;
}

/* Stored plans are for a compiler, so it must be known before. */
static tw_status open_target(tw_compiled *c, const tw_compile_options *o) {
    if (!twi_where_of(c->ctx, o, &c->path.where))
        return TW_ERR_INPUT;
    c->target = twi_where_open(c->ctx, &c->path.where);
    if (!c->target)
        return TW_ERR_INPUT;
    if (c->target->ops->prepare && !c->target->ops->prepare(c->target))
        return TW_ERR_ENV;
    c->path.compiler = c->target->version;
    return TW_OK;
}

static tw_status build(tw_compiled *c) {
    if (!c->target)
        c->target = twi_where_open(c->ctx, &c->path.where);
    if (!c->target)
        return TW_ERR_INPUT;
    const twi_loop *loop = c->path.loop;
    twi_module *module = NULL;
    tw_status status = c->target->ops->build(c->target, &loop, 1, &c->path.printed, &module);
    if (status == TW_OK)
        c->kernel = twi_kernel_new(c->target, module, NULL);
    return status;
}

uint64_t twi_source_hash(const char *source) {
    return source ? twi_hash(source, strlen(source), 0) : 0;
}

/* The path with plan "best": a stored plan that no longer gives the source that was judged is not
 * used. */
static bool walk_best(tw_compiled *c, const tw_ir *ir, const tw_compile_options *o) {
    tw_compile_options other = *o;
    if (!walk(c, ir, o))
        return false;
    const char *source = c->text[TW_STAGE_SOURCE];
    if (!c->path.kept || !source || c->path.kept->source == twi_source_hash(source))
        return true;
    other.plan = "default";
    c->path = (twi_path){.ctx = c->ctx, .arena = &c->arena, .compiler = c->path.compiler};
    return walk(c, ir, &other);
}

static tw_compiled *create(tw_context *ctx) {
    tw_compiled *c = twi_mem_get(&ctx->mem, sizeof *c);
    memset(c, 0, sizeof *c);
    c->ctx = ctx;
    twi_arena_init(&c->arena, &ctx->mem);
    c->path = (twi_path){.ctx = ctx, .arena = &c->arena};
    return c;
}

void tw_compiled_release(tw_compiled *c) {
    if (!c)
        return;
    tw_kernel_destroy(c->kernel);
    if (c->target)
        c->target->ops->close(c->target);
    twi_arena_fini(&c->arena);
    twi_mem_put(&c->ctx->mem, c, sizeof *c);
}

/* What stopped the path: a fault of ours, something that this machine lacks, or the input? */
static tw_status reason(const tw_context *ctx, uint32_t before) {
    static const struct {
        uint16_t code;
        tw_status status;
    } known[] = {{TWI_E_PATH_FAULTY, TW_ERR_INTERNAL},
                 {TWI_E_CL_NONE, TW_ERR_ENV},
                 {TWI_E_NO_DEVICE, TW_ERR_ENV}};
    for (uint32_t k = 0; ctx->diags.errors > before && k < ctx->diags.list.n; k++)
        for (size_t j = 0; j < sizeof known / sizeof known[0]; j++)
            if (ctx->diags.list.at[k].code == known[j].code)
                return known[j].status;
    return TW_ERR_INPUT;
}

static tw_status make(tw_compiled *c, const tw_ir *ir, const tw_compile_options *o) {
    tw_context *ctx = c->ctx;
    const uint32_t before = ctx->diags.errors;
    tw_status status = TW_OK;
    if (o->build && ctx->shelf && o->plan && strcmp(o->plan, "best") == 0)
        status = open_target(c, o);
    if (status == TW_OK && !walk_best(c, ir, o))
        status = TW_ERR_INPUT;
    if (status == TW_OK && o->build)
        status = build(c);
    if (ctx->env.dump)
        twi_dump(c);
    return status == TW_ERR_INPUT ? reason(ctx, before) : status;
}

tw_status tw_compile(tw_context *ctx, const tw_ir *ir, const tw_compile_options *options,
                     tw_compiled **out) {
    static const tw_compile_options none = {
        .target = "cpu", .plan = "default", .until = TW_STAGE_SOURCE, .build = true};
    jmp_buf spot, *saved;
    tw_compiled *volatile c = NULL;
    const tw_compile_options *const volatile o = options ? options : &none;
    *out = NULL;
    if (!ctx)
        return TW_ERR_INPUT;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        tw_compiled_release(c);
        return TW_ERR_MEMORY; /* no text can be made now; the status says it */
    }
    tw_status status = TW_OK;
    if (!ir && !o->loop_text.text && (o->build || o->until != TW_STAGE_CAPS))
        status = twi_no_ir(ctx);
    else
        status = make(c = create(ctx), ir, o);
    TWI_UNGUARD(&ctx->mem, saved);
    if (status == TW_OK)
        *out = c;
    else
        tw_compiled_release(c);
    return status;
}

bool tw_compiled_is_stored(const tw_compiled *c) { return c && c->path.kept; }

tw_kernel *tw_compiled_kernel(const tw_compiled *c) { return c ? c->kernel : NULL; }

const char *tw_compiled_text(const tw_compiled *c, tw_stage stage) {
    return c && (unsigned)stage < TW_STAGES ? c->text[stage] : NULL;
}

const char *tw_compiled_words(const tw_compiled *c) { return c && c->words ? c->words : ""; }

uint64_t tw_compiled_plan_hash(const tw_compiled *c) { return c ? c->hash : 0; }

tw_code tw_compiled_code(const tw_compiled *c, size_t k) {
    twi_code_figures f;
    if (!c || !c->kernel || !c->target->ops->figures || k >= c->path.loop->func.n ||
        !c->target->ops->figures(c->kernel->module, (uint32_t)k, &f))
        return (tw_code){.name = NULL};
    return (tw_code){f.name, f.registers, f.shared, f.local, f.code};
}

size_t tw_compiled_args(const tw_compiled *c) {
    return c && c->path.spec ? tw_ir_args(c->path.spec) : 0;
}

tw_arg tw_compiled_arg(const tw_compiled *c, size_t k) {
    return tw_ir_arg(c ? c->path.spec : NULL, k);
}
