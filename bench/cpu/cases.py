# SPDX-License-Identifier: Apache-2.0
"""What make bench-cpu runs, by PART: kernel, types, dims, and what is wanted of the ratios to the peers."""
from collections import namedtuple

Case = namedtuple("Case", "kernel types dims shape")  # shape: how the dims are called in tables
# means: {peer: at most}, of the geometric means of the ratios to it ("best": to each case's best); worst: at most, of every ratio
# to the best; threads: {case's name: least ratio of one thread's time to two's}; copy: least part of the copy rate that cases
# reach which move more than FAR_BYTES (None: not asked for)
Part = namedtuple("Part", "cases means worst threads copy")
FAR_BYTES = 2**25  # 16 times a second-level cache of 2 MiB


def gemm(m, n, k):
    return Case("gemm", {"T": "f32"}, {"M": m, "N": n, "K": k}, f"{m}x{n}x{k}")


OTHER = {"scan": {"EXCLUSIVE": "false", "REVERSE": "false"}, "cross_entropy": {"I": "i64"}}
ROW_KERNELS = ("row_sum", "row_max", "argmax", "softmax", "masked_softmax", "layernorm", "residual_layernorm", "rmsnorm",
               "gelu_residual", "swiglu", "rope", "cross_entropy", "scan")
SHAPES = ((1, 127), (17, 257), (128, 1024), (64, 4096), (1024, 4096), (4096, 4096))
PAIRS = 64  # that rope turns in a head


def rows(kernel, elem, r, w):
    """rope takes heads of 2 * PAIRS numbers, as many as the row has room for."""
    types = {"T": elem, **OTHER.get(kernel, {})}
    if kernel == "rope":
        heads = max(1, w // (2 * PAIRS))
        return Case(kernel, types, {"R": r, "H": heads, "P": PAIRS}, f"{r}x{heads * 2 * PAIRS}")
    return Case(kernel, types, {"R": r, "V" if kernel == "cross_entropy" else "W": w}, f"{r}x{w}")


def name(case):
    return f"{case.kernel} {case.types['T']} {case.shape}"


PARTS = {
    "gemm": Part([gemm(32, 32, 32), gemm(128, 128, 128), gemm(512, 512, 512), gemm(1024, 1024, 1024), gemm(256, 1024, 128),
                  gemm(1024, 128, 256), gemm(127, 193, 61), gemm(513, 257, 129), gemm(2048, 2048, 2048), gemm(16, 4096, 4096)],
                 {"best": 0.93}, 1.03, {"gemm f32 1024x1024x1024": 1.8}, None),
    "rows": Part([rows(kernel, elem, *shape) for shape in SHAPES for kernel in ROW_KERNELS for elem in ("f32", "bf16")],
                 {"torch": 0.50, "torch.compile": 0.85}, 1.03, {"softmax f32 1024x1024": 1.6}, 0.9),
}
PARTS["rows"].cases.append(rows("softmax", "f32", 1024, 1024))
