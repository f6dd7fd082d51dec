/* SPDX-License-Identifier: Apache-2.0
 * A whole program that uses the library: loads a .tile, gets a kernel for two extents, runs it on
 * its own arrays, and prints what is wrong with a place and a caret if something is.
 *
 *     cc -o embed embed.c $(pkg-config --cflags --libs tilewright)
 *     ./embed softmax.tile
 *
 * The kernel must have one input X[R, W] and one output Y[R, W]: softmax is one. A compiler (cc,
 * gcc or clang, or what TILEWRIGHT_CC names) must be there at run time: the kernel becomes C on the
 * way.
 */
#include <stdio.h>
#include <stdlib.h>

#include <tilewright/tilewright.h>

enum { ROWS = 2, WIDTH = 5 };

/* The file's text, NULL if it can't be read. The caller frees it. */
static char *read_text(const char *path, size_t *n) {
    FILE *file = fopen(path, "rb");
    char *text = file ? malloc(1 << 16) : NULL;
    *n = text ? fread(text, 1, 1 << 16, file) : 0;
    if (file)
        fclose(file);
    return text;
}

/* Text to kernel. Whatever is wrong is in the context's diagnostics then. */
static tw_compiled *compile(tw_context *ctx, const char *path, const char *text, size_t n) {
    const tw_binding types[] = {{"T", "f32"}};
    const tw_dim_value dims[] = {{"R", ROWS}, {"W", WIDTH}};
    tw_compile_options options = tw_compile_options_defaults();
    options.dims = dims;
    options.n_dims = 2;
    tw_program *program = tw_program_parse(ctx, path, text, n);
    tw_ir *ir = program ? tw_program_build(program, 0, types, 1) : NULL;
    tw_compiled *compiled = NULL;
    if (ir && tw_compile(ctx, ir, &options, &compiled) != TW_OK)
        return NULL;
    return compiled;
}

/* Runs on the caller's arrays. The kernel checks element types, ranks, extents and overlaps before
 * it writes. */
static int run(tw_kernel *kernel) {
    float x[ROWS][WIDTH] = {{0, 1, 2, 3, 4}, {5, 5, 5, 5, 5}}, y[ROWS][WIDTH];
    int64_t shape[] = {ROWS, WIDTH};
    const tw_tensor tx = {
        .data = x, .device = {1, 0}, .rank = 2, .dtype = tw_elem_dtype(TW_F32), .shape = shape};
    const tw_tensor ty = {
        .data = y, .device = {1, 0}, .rank = 2, .dtype = tw_elem_dtype(TW_F32), .shape = shape};
    const tw_tensor *const tensors[] = {&tx, &ty};
    tw_call call = {.tensor = tensors, .tensors = 2};
    if (tw_kernel_run(kernel, &call) != TW_OK) {
        fprintf(stderr, "%s\n", call.error);
        return 1;
    }
    for (int r = 0; r < ROWS; r++)
        for (int w = 0; w < WIDTH; w++)
            printf("%.4f%c", (double)y[r][w], w + 1 < WIDTH ? ' ' : '\n');
    return 0;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "kernels/softmax.tile";
    size_t n;
    char *text = read_text(path, &n);
    tw_context *ctx = tw_context_create(NULL);
    int status = 1;
    if (!text || !ctx) {
        fprintf(stderr, "%s: can't be read\n", path);
    } else {
        tw_compiled *compiled = compile(ctx, path, text, n);
        if (compiled)
            status = run(tw_compiled_kernel(compiled));
        else
            fputs(tw_diag_text(ctx, false),
                  stderr); /* FILE:LINE:COL: error[E0123]: .., the line, a caret */
        tw_compiled_release(compiled);
    }
    tw_context_destroy(ctx); /* and with it the program and its IR */
    free(text);
    return status;
}
