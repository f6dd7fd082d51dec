/* SPDX-License-Identifier: Apache-2.0
 * A small f32 gemm by its exported entry beside sgemm of a BLAS, from C: where a call takes less
 * than a microsecond, calls from elsewhere would be measured. Prints the nanoseconds of processor
 * time a call of both, medians of rounds in turns, and the greatest difference of their results.
 * Compiled with the exported gemm.c; entry LIBRARY SYMBOL.
 */
#define _POSIX_C_SOURCE 200809L
#include "gemm.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 32, ROUNDS = 41, ROUND_NS = 5000000, ROW_MAJOR = 101, AS_IS = 111 };
typedef void sgemm_fn(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                      int lda, const float *b, int ldb, float beta, float *c, int ldc);

static _Alignas(64) float A[N * N], B[N * N], OURS[N * N], THEIRS[N * N];
static sgemm_fn *peer;

static void ours(void) {
    if (gemm(N, N, N, A, B, OURS) != GEMM_DONE)
        abort();
}

static void theirs(void) {
    peer(ROW_MAJOR, AS_IS, AS_IS, N, N, N, 1.0F, A, N, B, N, 0.0F, THEIRS, N);
}

static double of_call(void (*call)(void), int calls) {
    struct timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (int k = 0; k < calls; k++)
        call();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
           calls;
}

static int by_size(const void *x, const void *y) {
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

int main(int argc, char **argv) {
    static double took[2][ROUNDS];
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (library)
        *(void **)&peer = dlsym(library, argv[2]);
    if (!peer) {
        (void)fprintf(stderr, "entry: no sgemm: %s\n", library ? argv[2] : dlerror());
        return 3;
    }
    for (int k = 0; k < N * N; k++) {
        A[k] = (float)(k * 37 % 101) / 50.0F - 1.0F;
        B[k] = (float)(k * 53 % 97) / 48.0F - 1.0F;
    }
    static void (*const contender[])(void) = {ours, theirs};
    int calls[2];
    for (int who = 0; who < 2; who++) {
        (void)of_call(contender[who], 100);
        calls[who] = 1 + (int)(ROUND_NS / (of_call(contender[who], 100) + 1.0));
    }
    for (int k = 0; k < ROUNDS; k++)
        for (int turn = 0; turn < 2; turn++) {
            const int who = (k + turn) % 2;
            took[who][k] = of_call(contender[who], calls[who]);
        }
    float apart = 0.0F;
    for (int k = 0; k < N * N; k++) {
        const float d = OURS[k] < THEIRS[k] ? THEIRS[k] - OURS[k] : OURS[k] - THEIRS[k];
        apart = d > apart ? d : apart;
    }
    for (int who = 0; who < 2; who++)
        qsort(took[who], ROUNDS, sizeof took[who][0], by_size);
    printf("%.2f %.2f %g\n", took[0][ROUNDS / 2], took[1][ROUNDS / 2], (double)apart);
    return 0;
}
