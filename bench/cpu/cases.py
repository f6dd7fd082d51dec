# SPDX-License-Identifier: Apache-2.0
"""What make bench-cpu runs, by PART: kernel, types, dims, and what is wanted of the ratio to the best peer."""
from collections import namedtuple

Case = namedtuple("Case", "kernel types dims")
# mean: at most, of the geometric mean; worst: of each case; threads: least ratio of one thread's time to two's, by case name
Part = namedtuple("Part", "cases mean worst threads")


def gemm(m, n, k):
    return Case("gemm", {"T": "f32"}, {"M": m, "N": n, "K": k})


def name(case):
    return f"{case.kernel} {' '.join(case.types.values())} {'x'.join(str(v) for v in case.dims.values())}"


PARTS = {
    "gemm": Part([gemm(32, 32, 32), gemm(128, 128, 128), gemm(512, 512, 512), gemm(1024, 1024, 1024), gemm(256, 1024, 128),
                  gemm(1024, 128, 256), gemm(127, 193, 61), gemm(513, 257, 129), gemm(2048, 2048, 2048), gemm(16, 4096, 4096)],
                 0.93, 1.03, {"gemm f32 1024x1024x1024": 1.8}),
}
