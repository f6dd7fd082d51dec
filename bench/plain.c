/* SPDX-License-Identifier: Apache-2.0
 * The same kernels as plain C loops, as one would write them by hand: what `make demo` compares
 * with. Built by cc -O3 -march=native, no library but libm. Timed as run.h says: 200 ms warm-up, 9
 * batches of at least 40 ms, the median; one JSON line a kernel.
 *
 *     plain                        all, at the shapes of the demo
 *     plain softmax 128 1024       one, at a shape
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    long dim[4];
    const float *in[3];
    float *out, *work;
} job;

/* Y[r] = sum of X[r, w] */
static void row_sum(const job *j) {
    const long rows = j->dim[0], width = j->dim[1];
    for (long r = 0; r < rows; r++) {
        float sum = 0.0f;
        for (long w = 0; w < width; w++)
            sum += j->in[0][r * width + w];
        j->out[r] = sum;
    }
}

/* Y = normalised rows of X + Z, centred twice */
static void residual_layernorm(const job *j) {
    const long rows = j->dim[0], width = j->dim[1];
    for (long r = 0; r < rows; r++) {
        const float *x = j->in[0] + r * width, *z = j->in[1] + r * width;
        float *c = j->work, *y = j->out + r * width, sum = 0.0f, squares = 0.0f;
        for (long w = 0; w < width; w++) {
            c[w] = x[w] + z[w];
            sum += c[w];
        }
        const float mean = sum / (float)width;
        sum = 0.0f;
        for (long w = 0; w < width; w++) {
            c[w] -= mean;
            sum += c[w];
        }
        const float offset = sum / (float)width;
        for (long w = 0; w < width; w++) {
            c[w] -= offset;
            squares += c[w] * c[w];
        }
        const float scale = sqrtf(squares / (float)width + 1e-5f);
        for (long w = 0; w < width; w++)
            y[w] = c[w] / scale;
    }
}

static void softmax(const job *j) {
    const long rows = j->dim[0], width = j->dim[1];
    for (long r = 0; r < rows; r++) {
        const float *x = j->in[0] + r * width;
        float *y = j->out + r * width, most = -INFINITY, sum = 0.0f;
        for (long w = 0; w < width; w++)
            most = x[w] > most ? x[w] : most;
        for (long w = 0; w < width; w++) {
            y[w] = expf(x[w] - most);
            sum += y[w];
        }
        for (long w = 0; w < width; w++)
            y[w] /= sum;
    }
}

/* C[m, n] = sum over k of A[m, k] B[k, n], rows of B inside */
static void gemm(const job *j) {
    const long m = j->dim[0], n = j->dim[1], k = j->dim[2];
    memset(j->out, 0, (size_t)(m * n) * sizeof(float));
    for (long a = 0; a < m; a++)
        for (long c = 0; c < k; c++) {
            const float x = j->in[0][a * k + c];
            for (long b = 0; b < n; b++)
                j->out[a * n + b] += x * j->in[1][c * n + b];
        }
}

/* O[h, i, e] = sum over j of softmax(Q K' / sqrt(D))[i, j] V[j, e], head by head, row by row */
static void attention(const job *j) {
    const long heads = j->dim[0], rows = j->dim[1], keys = j->dim[2], d = j->dim[3];
    const float scale = 1.0f / sqrtf((float)d);
    for (long h = 0; h < heads; h++)
        for (long i = 0; i < rows; i++) {
            const float *q = j->in[0] + (h * rows + i) * d, *k = j->in[1] + h * keys * d,
                        *v = j->in[2] + h * keys * d;
            float *p = j->work, *o = j->out + (h * rows + i) * d, most = -INFINITY, sum = 0.0f;
            for (long c = 0; c < keys; c++) {
                float s = 0.0f;
                for (long e = 0; e < d; e++)
                    s += q[e] * k[c * d + e];
                p[c] = s * scale;
                most = p[c] > most ? p[c] : most;
            }
            for (long c = 0; c < keys; c++) {
                p[c] = expf(p[c] - most);
                sum += p[c];
            }
            memset(o, 0, (size_t)d * sizeof(float));
            for (long c = 0; c < keys; c++)
                for (long e = 0; e < d; e++)
                    o[e] += p[c] / sum * v[c * d + e];
        }
}

static const struct {
    const char *name;
    void (*run)(const job *j);
    int dims;
    long dim[4];
} kernels[] = {
    {"row_sum", row_sum, 2, {128, 8192, 1, 1}},
    {"residual_layernorm", residual_layernorm, 2, {128, 1024, 1, 1}},
    {"softmax", softmax, 2, {128, 1024, 1, 1}},
    {"gemm", gemm, 3, {256, 256, 256, 1}},
    {"attention", attention, 4, {2, 256, 256, 64}},
};
enum { KERNELS = sizeof kernels / sizeof *kernels, BATCHES = 9 };

static double now_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double batch_ns(unsigned kernel, const job *j, long n) {
    const double start = now_ns();
    for (long i = 0; i < n; i++)
        kernels[kernel].run(j);
    return now_ns() - start;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_ns(unsigned kernel, const job *j) {
    double batch[BATCHES], warm = 0.0;
    long n = 1;
    while (warm < 200e6) {
        const double ns = batch_ns(kernel, j, n);
        warm += ns;
        if (ns < 10e6)
            n *= 2;
    }
    for (int i = 0; i < BATCHES;) {
        const double ns = batch_ns(kernel, j, n);
        if (ns >= 40e6)
            batch[i++] = ns / (double)n;
        else
            n = n * 2, i = 0;
    }
    qsort(batch, BATCHES, sizeof *batch, compare);
    return batch[BATCHES / 2];
}

/* Values of a simple generator, about N(0,1): the sum of uniform draws. */
static float *random_floats(size_t n, uint64_t seed) {
    float *x = malloc(n * sizeof *x);
    for (size_t i = 0; x && i < n; i++) {
        float sum = -6.0f;
        for (int k = 0; k < 12; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            sum += (float)(seed >> 40) / 16777216.0f;
        }
        x[i] = sum;
    }
    return x;
}

static int report(unsigned kernel, const long *dim) {
    size_t most = 1;
    for (int a = 0; a < 4; a++) /* no array has more elements than three of the dims give */
        for (int b = 0; b < 4; b++)
            for (int c = 0; c < 4; c++)
                if (a < b && b < c && (size_t)(dim[a] * dim[b] * dim[c]) > most)
                    most = (size_t)(dim[a] * dim[b] * dim[c]);
    float *x = random_floats(most, 1), *y = random_floats(most, 2), *z = random_floats(most, 3);
    float *out = calloc(most, sizeof *out), *work = calloc(most, sizeof *work);
    if (!x || !y || !z || !out || !work) {
        (void)fprintf(stderr, "plain: no memory\n");
        return 1;
    }
    const job j = {{dim[0], dim[1], dim[2], dim[3]}, {x, y, z}, out, work};
    const double ns = median_ns(kernel, &j);
    (void)printf("{\"kernel\":\"%s\",\"shape\":[", kernels[kernel].name);
    for (int i = 0; i < kernels[kernel].dims; i++)
        (void)printf(i ? ",%ld" : "%ld", dim[i]);
    (void)printf("],\"median_ns\":%.0f,\"first\":%.9g}\n", ns, (double)out[0]);
    free(x);
    free(y);
    free(z);
    free(out);
    free(work);
    return fflush(stdout) != 0;
}

int main(int argc, char **argv) {
    if (argc == 1) {
        int status = 0;
        for (unsigned k = 0; k < KERNELS; k++)
            status |= report(k, kernels[k].dim);
        return status;
    }
    for (unsigned k = 0; k < KERNELS; k++) {
        long dim[4] = {1, 1, 1, 1};
        if (strcmp(argv[1], kernels[k].name) != 0)
            continue;
        for (int i = 0; i < kernels[k].dims; i++)
            dim[i] = argc == 2 ? kernels[k].dim[i] : i + 2 < argc ? atol(argv[i + 2]) : 0;
        for (int i = 0; i < 4; i++)
            if (dim[i] < 1) {
                (void)fprintf(stderr, "plain: %s takes %d extents\n", argv[1], kernels[k].dims);
                return 2;
            }
        return report(k, dim);
    }
    (void)fprintf(stderr, "plain: no kernel %s\n", argv[1]);
    return 2;
}
