/* SPDX-License-Identifier: Apache-2.0
 * make bench-calls: what a warm call of a tiny kernel takes through the C API, on one thread of
 * this CPU, with the checks of arguments and without; and what tw_compile takes, of that and of two
 * kernels of kernels/, where the store and the context have all that it would make. Processor time,
 * the median of nine batches, beside its target. Exit 1 where one falls short. Public headers
 * alone.
 */
#define _XOPEN_SOURCE 700
#include <tilewright/tilewright.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 9, CALLS = 100000, TARGET_NS = 300, COMPILES = 20, TARGET_US = 1000 };

static const char text[] = "kernel scale[T in {f32}](X: T[W], out Y: T[W], a: f32) {\n"
                           "    parallel w: W {\n"
                           "        Y[w] = X[w] * a\n"
                           "    }\n"
                           "}\n";

static int by_value(const void *x, const void *y) {
    const double *a = x, *b = y;
    return *a < *b ? -1 : *a > *b;
}

/* A kernel of f32: the tiny one, or one of kernels/. */
typedef struct {
    const char *name, *what;
    tw_dim_value dims[3];
    size_t n;
} job;
static const job jobs[] = {{"scale", "scale f32 16", {{"W", 16}}, 1},
                           {"softmax", "softmax f32 128x1024", {{"R", 128}, {"W", 1024}}, 2},
                           {"gemm", "gemm f32 512^3", {{"M", 512}, {"N", 512}, {"K", 512}}, 3}};
enum { JOBS = sizeof jobs / sizeof jobs[0] };

static tw_program *parse(tw_context *ctx, const job *j) {
    char path[64], body[8192];
    if (j == jobs)
        return tw_program_parse(ctx, "scale.tile", text, sizeof text - 1);
    (void)snprintf(path, sizeof path, "kernels/%s.tile", j->name);
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    const size_t n = fread(body, 1, sizeof body, file);
    (void)fclose(file);
    return tw_program_parse(ctx, path, body, n);
}

static tw_compiled *compile(tw_context *ctx, const job *j) {
    const tw_binding types[] = {{"T", "f32"}};
    tw_compile_options options = tw_compile_options_defaults();
    options.dims = j->dims;
    options.n_dims = j->n;
    tw_program *p = parse(ctx, j);
    tw_ir *ir = p ? tw_program_build(p, 0, types, 1) : NULL;
    tw_compiled *c = NULL;
    return ir && tw_compile(ctx, ir, &options, &c) == TW_OK ? c : NULL;
}

/* True: it falls short, or a call failed. */
static int time_calls(tw_kernel *kernel, tw_checks checks, const char *what) {
    static float x[16], y[16];
    int64_t shape[] = {16};
    tw_tensor tx = {
        .data = x, .device = {1, 0}, .rank = 1, .dtype = tw_elem_dtype(TW_F32), .shape = shape};
    tw_tensor ty = tx;
    ty.data = y;
    const tw_tensor *const tensors[] = {&tx, &ty};
    const tw_scalar two = {.f = 2.0};
    tw_call call = {.tensor = tensors, .tensors = 2, .scalar = &two, .scalars = 1};
    double ns[BATCHES];
    call.checks = checks;
    call.threads = 1;
    for (int b = 0; b < BATCHES; b++) {
        clock_t start = clock();
        for (int k = 0; k < CALLS; k++) {
            x[0] = (float)k;
            if (tw_kernel_run(kernel, &call) != TW_OK || y[0] != 2.0F * (float)k) {
                fprintf(stderr, "%s\n", call.error);
                return 1;
            }
        }
        ns[b] = 1e9 * (double)(clock() - start) / CLOCKS_PER_SEC / CALLS;
    }
    qsort(ns, BATCHES, sizeof ns[0], by_value);
    const double got = ns[BATCHES / 2];
    printf("warm call, scale f32 16, %-16s %8.0f ns  target %4d ns  %s\n", what, got, TARGET_NS,
           got <= TARGET_NS ? "ok" : "SHORT");
    return got > TARGET_NS;
}

static int remove_one(const char *path, const struct stat *is, int kind, struct FTW *at) {
    (void)is;
    (void)kind;
    (void)at;
    return remove(path);
}

/* Path and look-up, again and again: no compiler runs. True: it falls short, or failed. */
static int time_one(tw_context *ctx, const job *j) {
    double us[BATCHES];
    for (int b = 0; b < BATCHES; b++) {
        clock_t start = clock();
        for (int k = 0; k < COMPILES; k++) {
            tw_compiled *c = compile(ctx, j);
            if (!c)
                return 1;
            tw_compiled_release(c);
        }
        us[b] = 1e6 * (double)(clock() - start) / CLOCKS_PER_SEC / COMPILES;
    }
    qsort(us, BATCHES, sizeof us[0], by_value);
    const double got = us[BATCHES / 2];
    printf("warm tw_compile, %-20s store %8.0f us  target %4d us  %s\n", j->what, got, TARGET_US,
           got <= TARGET_US ? "ok" : "SHORT");
    return got > TARGET_US;
}

static int time_stored(tw_context *ctx) {
    char folder[] = "/tmp/tw-calls-XXXXXX";
    tw_store *store = NULL;
    if (!mkdtemp(folder))
        return 1;
    int over = tw_store_open(ctx, folder, TW_STORE_WRITE, &store) != TW_OK;
    for (size_t k = 0; !over && k < JOBS; k++)
        tw_compiled_release(compile(ctx, &jobs[k]));
    sleep(3); /* an index written just now is asked anew each time */
    for (size_t k = 0; store && k < JOBS; k++)
        over |= time_one(ctx, &jobs[k]);
    tw_store_close(store);
    (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    fputs(tw_diag_text(ctx, false), stderr);
    return over;
}

int main(void) {
    tw_context *ctx = tw_context_create(NULL);
    tw_compiled *compiled = ctx ? compile(ctx, jobs) : NULL;
    int over = 1;
    if (compiled) {
        tw_kernel *kernel = tw_compiled_kernel(compiled);
        over = time_calls(kernel, TW_CHECKS_ARGS, "arguments checked");
        over |= time_calls(kernel, TW_CHECKS_NONE, "unchecked");
        over |= time_stored(ctx);
    } else if (ctx) {
        fputs(tw_diag_text(ctx, false), stderr);
    }
    tw_compiled_release(compiled);
    tw_context_destroy(ctx);
    return over;
}
