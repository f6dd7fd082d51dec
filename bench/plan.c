/* SPDX-License-Identifier: Apache-2.0
 * make bench-plan: what planning takes (of processor time), and planning, emission and compilation
 * of the default plan on this CPU; the median of nine, beside its target. Exit 1 where one falls
 * short.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "pass/pass.h"
#include "search/search.h"
#include "tilewright/compile.h"
#include "tilewright/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TIMES = 9, MOST = 8 };
typedef struct {
    const char *kernel;
    tw_binding type[MOST]; /* types, constants and params */
    tw_dim_value dim[MOST];
    double plan_ms, whole_ms; /* targets; whole: this CPU */
} row;

#define ROWS                                                                                       \
    {                                                                                              \
        {"R", 128}, { "W", 1024 }                                                                  \
    }
#define F32                                                                                        \
    { "T", "f32" }
#define BF16                                                                                       \
    { "T", "bf16" }
static const row rows[] = {
    {"row_sum", {F32}, ROWS, 5, 120},
    {"row_max", {BF16}, ROWS, 5, 120},
    {"argmax", {F32}, ROWS, 5, 120},
    {"softmax", {F32}, ROWS, 5, 120},
    {"softmax", {BF16}, ROWS, 5, 120},
    {"softmax", {F32}, {{"R", 1}, {"W", 65536}}, 5, 120},
    {"layernorm", {F32}, ROWS, 5, 120},
    {"residual_layernorm", {F32}, ROWS, 5, 120},
    {"residual_layernorm", {BF16}, {{"R", 4096}, {"W", 4096}}, 5, 120},
    {"rmsnorm", {F32}, ROWS, 5, 120},
    {"gelu_residual", {F32}, ROWS, 5, 120},
    {"scan", {F32, {"EXCLUSIVE", "false"}, {"REVERSE", "false"}}, ROWS, 5, 120},
    {"gemm", {F32}, {{"M", 512}, {"N", 512}, {"K", 512}}, 50, 120},
    {"gemm", {F32}, {{"M", 64}, {"N", 64}, {"K", 16384}}, 50, 120},
    {"attention",
     {BF16, {"CAUSAL", "true"}, {"BI", "64"}, {"BJ", "64"}},
     {{"B", 1}, {"H", 2}, {"G", 2}, {"I", 1024}, {"J", 1024}, {"D", 64}, {"E", 64}},
     100,
     0},
};
static const char *const targets[] = {"cpu-avx512", "sm_90a", "simt32"};

static size_t types_of(const row *r) {
    size_t n = 0;
    while (n < MOST && r->type[n].name)
        n++;
    return n;
}

static size_t dims_of(const row *r) {
    size_t n = 0;
    while (n < MOST && r->dim[n].name)
        n++;
    return n;
}

static tw_ir *load(tw_context *ctx, const row *r) {
    char *text;
    size_t n;
    const char *path = twi_format(&ctx->arena, "kernels/%s.tile", r->kernel);
    tw_program *p = twi_read_file(&ctx->arena, path, &text, &n) == 0
                        ? tw_program_parse(ctx, path, text, n)
                        : NULL;
    return p ? tw_program_build(p, 0, r->type, types_of(r)) : NULL;
}

static tw_ir *lifted(tw_context *ctx, const row *r) {
    const tw_ir *ir = load(ctx, r);
    if (!ir)
        return NULL;
    int64_t *dims = TWI_NEW_N(&ctx->arena, int64_t, ir->dim.n);
    for (uint32_t d = 1; d < ir->dim.n; d++) {
        dims[d] = ir->dim.at[d].known ? ir->dim.at[d].value : -1;
        for (size_t k = 0; k < dims_of(r); k++)
            if (strcmp(r->dim[k].name, twi_text(&ctx->names, ir->dim.at[d].name)) == 0)
                dims[d] = r->dim[k].value;
    }
    tw_ir *sp = twi_ir_specialise(ir, &ctx->arena, dims);
    if (sp)
        (void)opt_lift(sp);
    return sp;
}

/* Prints one line; true: it falls short. */
static bool show(const row *r, const char *where, const char *what, double *ms, double target) {
    char head[160];
    int n = snprintf(head, sizeof head, "%s %s", r->kernel, r->type[0].value);
    for (size_t k = 0; k < dims_of(r) && n > 0 && n < (int)sizeof head; k++)
        n += snprintf(head + n, sizeof head - (size_t)n, "%c%lld", k ? 'x' : ' ',
                      (long long)r->dim[k].value);
    double got = twi_median(ms, TIMES);
    printf("%-40s %-11s %-22s %8.2f ms  target %4.0f ms  %s\n", head, where, what, got, target,
           got <= target ? "ok" : "SHORT");
    fflush(stdout);
    return got > target;
}

static bool time_planning(tw_context *ctx, const row *r, const char *target) {
    double ms[TIMES];
    twi_caps caps;
    tw_ir *ir = lifted(ctx, r);
    if (!ir || !twi_caps_named(ctx, target, &caps))
        return true;
    twi_plans *plans = NULL;
    char what[40] = "";
    for (int k = 0; k < TIMES; k++) {
        twi_why why;
        twi_mark mark = twi_arena_mark(&ctx->arena);
        clock_t start = clock();
        plans = twi_search_default(&ctx->arena, ir, &caps, NULL, &why);
        ms[k] = 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC;
        if (plans)
            snprintf(what, sizeof what, "plan, %u walks", plans->walks);
        twi_arena_reset(&ctx->arena, mark);
    }
    if (!plans) {
        printf("%-40s %-11s no plan: the target is too small for it\n", r->kernel, target);
        return false;
    }
    return show(r, target, what, ms, r->plan_ms);
}

/* In a context of its own: one that has planned it before does not plan again. */
static bool time_fresh(const row *r, double *ms) {
    tw_context *ctx = tw_context_create(NULL);
    jmp_buf spot, *saved;
    if (!ctx || TWI_GUARD(&ctx->mem, spot, saved)) {
        fputs("out of memory\n", stderr);
        return false;
    }
    tw_compile_options o = tw_compile_options_defaults();
    tw_ir *ir = load(ctx, r);
    tw_compiled *c = NULL;
    o.dims = r->dim;
    o.n_dims = dims_of(r);
    const int64_t start = twi_now_ns();
    const bool good = ir && tw_compile(ctx, ir, &o, &c) == TW_OK;
    *ms = 1e-6 * (double)(twi_now_ns() - start);
    if (!good)
        fputs(tw_diag_text(ctx, false), stderr);
    tw_compiled_release(c);
    TWI_UNGUARD(&ctx->mem, saved);
    tw_context_destroy(ctx);
    return good;
}

static bool time_whole(const row *r) {
    double ms[TIMES];
    for (int k = 0; k < TIMES; k++)
        if (!time_fresh(r, &ms[k]))
            return true;
    return show(r, "cpu", "plan, emit, compile", ms, r->whole_ms);
}

/* True: something falls short. */
static bool time_row(const row *r) {
    tw_context *ctx = tw_context_create(NULL);
    jmp_buf spot, *saved;
    if (!ctx || TWI_GUARD(&ctx->mem, spot, saved)) {
        fputs("out of memory\n", stderr);
        return true;
    }
    unsigned over = 0;
    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++)
        over += time_planning(ctx, r, targets[t]);
    over += r->whole_ms > 0 && time_whole(r);
    TWI_UNGUARD(&ctx->mem, saved);
    tw_context_destroy(ctx);
    return over > 0;
}

int main(void) {
    unsigned over = 0;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        over += time_row(&rows[k]);
    return over > 0;
}
