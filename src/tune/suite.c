/* SPDX-License-Identifier: Apache-2.0
 * The suite (suite.h), in an order in which a small budget sees some of everything first.
 */
#include "tune/suite.h"

const char twi_suite_text[] =
    "fn mean[w](x) = sum[w](x) / extent(w)\n"
    "kernel copy[T in {f32, bf16}](X: T[R, W], out Y: T[R, W]) {\n"
    "    parallel r: R, w: W { Y[r, w] = X[r, w] }\n"
    "}\n"
    "kernel mix[T in {f32, bf16}](X: T[R, W], Z: T[R, W], out Y: T[R, W]) {\n"
    "    parallel r: R, w: W { Y[r, w] = X[r, w] * Z[r, w] + X[r, w] }\n"
    "}\n"
    "kernel exps[T in {f32, bf16}](X: T[R, W], out Y: T[R, W]) {\n"
    "    parallel r: R, w: W { Y[r, w] = exp(X[r, w]) }\n"
    "}\n"
    "kernel quotient[T in {f32, bf16}](X: T[R, W], Z: T[R, W], out Y: T[R, W]) {\n"
    "    parallel r: R, w: W { Y[r, w] = X[r, w] / Z[r, w] }\n"
    "}\n"
    "kernel total[T in {f32, bf16}](X: T[R, W], out Y: T[R]) {\n"
    "    parallel r: R {\n"
    "        axis w: W\n"
    "        Y[r] = sum[w](X[r, w])\n"
    "    }\n"
    "}\n"
    "kernel shares[T in {f32, bf16}](X: T[R, W], out Y: T[R, W]) {\n"
    "    parallel r: R {\n"
    "        axis w: W\n"
    "        p = exp(X[r, w] - max[w](X[r, w]))\n"
    "        Y[r, w] = p / sum[w](p)\n"
    "    }\n"
    "}\n"
    "kernel normal[T in {f32, bf16}](X: T[R, W], out Y: T[R, W]) {\n"
    "    parallel r: R {\n"
    "        axis w: W\n"
    "        c = X[r, w] - mean[w](X[r, w])\n"
    "        Y[r, w] = c / sqrt(mean[w](c * c) + 1e-5)\n"
    "    }\n"
    "}\n"
    "kernel turned[T in {f32, bf16}](X: T[R, W], out Y: T[W, R]) {\n"
    "    parallel r: R, w: W { Y[w, r] = X[r, w] }\n"
    "}\n"
    "kernel product[T in {f32, bf16}](A: T[M, K], B: T[K, N], out C: T[M, N]) {\n"
    "    parallel m: M, n: N {\n"
    "        axis k: K\n"
    "        C[m, n] = dot[k](A[m, k], B[k, n])\n"
    "    }\n"
    "}\n"
    "kernel image[T in {f32, bf16}](A: T[M, K], X: T[K], out Y: T[M]) {\n"
    "    parallel m: M {\n"
    "        axis k: K\n"
    "        Y[m] = dot[k](A[m, k], X[k])\n"
    "    }\n"
    "}\n"
    "kernel alike[T in {f32, bf16}](A: T[M, K], B: T[N, K], out C: T[M, N]) {\n"
    "    parallel m: M, n: N {\n"
    "        axis k: K\n"
    "        C[m, n] = dot[k](A[m, k], B[n, k])\n"
    "    }\n"
    "}\n"
    /* held out */
    "kernel scaled[T in {f32, bf16}](X: T[R, W], G: T[W], out Y: T[R, W]) {\n"
    "    parallel r: R {\n"
    "        axis w: W\n"
    "        x = X[r, w]\n"
    "        Y[r, w] = x * rsqrt(mean[w](x * x) + 1e-6) * G[w]\n"
    "    }\n"
    "}\n"
    "kernel gate[T in {f32, bf16}](X: T[R, W], Z: T[R, W], out Y: T[R, W]) {\n"
    "    parallel r: R, w: W { Y[r, w] = X[r, w] / (1.0 + exp(-X[r, w])) * Z[r, w] }\n"
    "}\n"
    "kernel level[T in {f32, bf16}](X: T[R, W], out Y: f32[R]) {\n"
    "    parallel r: R {\n"
    "        axis w: W\n"
    "        m = max[w](X[r, w])\n"
    "        Y[r] = log(sum[w](exp(X[r, w] - m))) + m\n"
    "    }\n"
    "}\n"
    "kernel hidden[T in {f32, bf16}](A: T[M, K], B: T[K, N], D: T[N], out C: T[M, N]) {\n"
    "    parallel m: M, n: N {\n"
    "        axis k: K\n"
    "        C[m, n] = max(dot[k](A[m, k], B[k, n]) + D[n], 0.0)\n"
    "    }\n"
    "}\n";

const twi_suite_case twi_suite[] = {
    {"copy", "f32", {8, 64}, TWI_SUITE_FIT, false},
    {"total", "f32", {64, 1024}, TWI_SUITE_FIT, false},
    {"shares", "f32", {64, 1024}, TWI_SUITE_FIT, false},
    {"total", "f32", {128, 777}, TWI_SUITE_SHAPE, false},
    {"product", "f32", {128, 128, 128}, TWI_SUITE_FIT, false},
    {"normal", "f32", {64, 1024}, TWI_SUITE_FIT, false},
    {"scaled", "f32", {64, 1024}, TWI_SUITE_KERNEL, false},
    {"image", "f32", {512, 512}, TWI_SUITE_FIT, false},
    {"exps", "f32", {32, 1024}, TWI_SUITE_FIT, false},
    {"quotient", "f32", {32, 1024}, TWI_SUITE_FIT, false},
    {"mix", "f32", {64, 1024}, TWI_SUITE_FIT, false},
    {"turned", "f32", {256, 256}, TWI_SUITE_FIT, false},
    {"copy", "f32", {512, 4096}, TWI_SUITE_FIT, false},
    {"copy", "f32", {16, 1024}, TWI_SUITE_FIT, true},
    {"total", "f32", {512, 256}, TWI_SUITE_FIT, false},
    {"total", "f32", {1024, 4096}, TWI_SUITE_FIT, false},
    {"shares", "f32", {256, 100}, TWI_SUITE_FIT, false},
    {"normal", "f32", {128, 333}, TWI_SUITE_FIT, false},
    {"product", "f32", {200, 300, 100}, TWI_SUITE_FIT, false},
    {"product", "f32", {256, 256, 256}, TWI_SUITE_FIT, false},
    {"image", "f32", {256, 2048}, TWI_SUITE_FIT, false},
    {"turned", "f32", {100, 700}, TWI_SUITE_FIT, false},
    {"total", "f32", {96, 333}, TWI_SUITE_FIT, false},
    {"total", "f32", {4096, 32}, TWI_SUITE_FIT, false},
    {"alike", "f32", {96, 128, 64}, TWI_SUITE_FIT, false},
    {"shares", "f32", {1000, 40}, TWI_SUITE_FIT, false},
    {"image", "f32", {2000, 64}, TWI_SUITE_FIT, false},
    {"alike", "f32", {64, 300, 64}, TWI_SUITE_FIT, false},
    {"exps", "bf16", {32, 1024}, TWI_SUITE_FIT, false},
    {"shares", "bf16", {64, 512}, TWI_SUITE_FIT, false},
    {"shares", "f32", {32, 2048}, TWI_SUITE_SHAPE, false},
    {"normal", "f32", {512, 128}, TWI_SUITE_SHAPE, false},
    {"product", "f32", {320, 192, 256}, TWI_SUITE_SHAPE, false},
    {"image", "f32", {1000, 300}, TWI_SUITE_SHAPE, false},
    {"turned", "f32", {300, 200}, TWI_SUITE_SHAPE, false},
    {"mix", "f32", {33, 2000}, TWI_SUITE_SHAPE, false},
    {"total", "bf16", {64, 1024}, TWI_SUITE_SHAPE, false},
    {"scaled", "f32", {200, 500}, TWI_SUITE_KERNEL, false},
    {"gate", "f32", {64, 1024}, TWI_SUITE_KERNEL, false},
    {"gate", "f32", {100, 130}, TWI_SUITE_KERNEL, false},
    {"level", "f32", {128, 1000}, TWI_SUITE_KERNEL, false},
    {"level", "f32", {300, 200}, TWI_SUITE_KERNEL, false},
    {"alike", "f32", {160, 160, 160}, TWI_SUITE_SHAPE, false},
    {"hidden", "f32", {192, 160, 224}, TWI_SUITE_KERNEL, false},
};
const unsigned twi_suite_cases = sizeof twi_suite / sizeof twi_suite[0];

const char *twi_suite_use_name(twi_suite_use use) {
    static const char *const names[] = {
        [TWI_SUITE_FIT] = "fit", [TWI_SUITE_SHAPE] = "shape", [TWI_SUITE_KERNEL] = "kernel"};
    return names[use];
}
