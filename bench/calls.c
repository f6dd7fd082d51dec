/* SPDX-License-Identifier: Apache-2.0
 * make bench-calls: what a warm call of a tiny kernel takes through the C API, on one thread of
 * this CPU, with the checks of arguments and without; and what tw_compile takes where the store has
 * all that it would make. Processor time, the median of nine batches, beside its target. Exit 1
 * where one falls short. Public headers alone.
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

static tw_compiled *compile(tw_context *ctx) {
    const tw_binding types[] = {{"T", "f32"}};
    const tw_dim_value dims[] = {{"W", 16}};
    tw_compile_options options = tw_compile_options_defaults();
    options.dims = dims;
    options.n_dims = 1;
    tw_program *p = tw_program_parse(ctx, "scale.tile", text, sizeof text - 1);
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

/* Path and look-up, again and again: no compiler runs. True: it falls short, or there is no store.
 */
static int time_stored(tw_context *ctx) {
    char folder[] = "/tmp/tw-calls-XXXXXX";
    tw_store *store = NULL;
    double us[BATCHES];
    int made = 1;
    if (!mkdtemp(folder))
        return 1;
    if (tw_store_open(ctx, folder, TW_STORE_WRITE, &store) == TW_OK)
        tw_compiled_release(compile(ctx));
    sleep(3); /* an index written just now is asked anew each time */
    for (int b = 0; store && b < BATCHES; b++) {
        clock_t start = clock();
        for (int k = 0; k < COMPILES; k++) {
            tw_compiled *c = compile(ctx);
            made = made && c;
            tw_compiled_release(c);
        }
        us[b] = 1e6 * (double)(clock() - start) / CLOCKS_PER_SEC / COMPILES;
    }
    const int timed = store && made;
    tw_store_close(store);
    (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    if (!timed) {
        fputs(tw_diag_text(ctx, false), stderr);
        return 1;
    }
    qsort(us, BATCHES, sizeof us[0], by_value);
    const double got = us[BATCHES / 2];
    printf("warm tw_compile, scale f32 16, store     %8.0f us  target %4d us  %s\n", got, TARGET_US,
           got <= TARGET_US ? "ok" : "SHORT");
    return got > TARGET_US;
}

int main(void) {
    tw_context *ctx = tw_context_create(NULL);
    tw_compiled *compiled = ctx ? compile(ctx) : NULL;
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
