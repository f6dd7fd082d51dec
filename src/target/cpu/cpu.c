/* SPDX-License-Identifier: Apache-2.0
 * The CPU target: opening and closing. Read next: probe.c, build.c, launch.c.
 */
#include "target/cpu/cpu.h"

static void close_cpu(twi_target *t) {
    twi_cpu *cpu = (twi_cpu *)t;
    twi_pool_fini(&cpu->pool);
    twi_mem_put(&t->ctx->mem, cpu, sizeof *cpu);
}

static bool prepare(twi_target *t) { return twi_cpu_find_compiler((twi_cpu *)t); }

static const twi_target_ops ops = {
    .name = "cpu",
    .prepare = prepare,
    .build = twi_cpu_build,
    .source = twi_cpu_source,
    .launch = twi_cpu_launch,
    .release = twi_cpu_release,
    .close = close_cpu,
};

twi_target *twi_cpu_open(tw_context *ctx, const twi_cpu_options *options) {
    static const twi_cpu_options none;
    twi_caps caps;
    const twi_cpu_options *o = options ? options : &none;
    if (o->caps)
        caps = *o->caps;
    else if (!twi_cpu_caps(ctx, NULL, &caps))
        return NULL;
    if (ctx->env.threads)
        caps.units = (uint32_t)ctx->env.threads;
    const char *compiler = o->compiler ? o->compiler : ctx->env.cc;
    if (compiler)
        compiler = twi_strdup(&ctx->arena, compiler);
    twi_cpu *cpu = twi_mem_get(&ctx->mem, sizeof *cpu);
    memset(cpu, 0, sizeof *cpu);
    cpu->base = (twi_target){.ops = &ops, .ctx = ctx, .caps = caps, .version = ""};
    cpu->compiler = compiler;
    cpu->file = "";
    cpu->given = compiler != NULL;
    cpu->limit_ms = o->limit_ms > 0 ? o->limit_ms : 60000;
    twi_pool_init(&cpu->pool);
    return &cpu->base;
}
