# SPDX-License-Identifier: Apache-2.0
"""What make bench-cpu runs, by PART: kernel, types, dims, and what is wanted of the ratios to the peers."""
from collections import namedtuple

# shape: how the dims are called in tables; scalars: values of those without a default; label: what peers call it; entry: ours is called
# by its exported entry (a call of the library takes as long as the kernel)
Case = namedtuple("Case", "kernel types dims shape scalars label entry")
# means: of the geometric means of the ratios; worst: at most, of every ratio to the best (means and worst left out: no peer takes
# part); threads: {case's name: least ratio of one thread's time to two's}; copy: least part of the copy rate that cases reach which
# move more than FAR_BYTES (None: not asked for)
Part = namedtuple("Part", "cases means worst threads copy")
# peer ("best": each case's best), elem (None: any): the cases that count; most: that their mean may be
Mean = namedtuple("Mean", "peer elem most")
FAR_BYTES = 2**25  # 16 times a second-level cache of 2 MiB
BOTH = ("f32", "bf16")


def case(kernel, types, dims, shape, scalars=None, label=None, entry=False):
    return Case(kernel, types, dims, shape, scalars or {}, label or kernel, entry)


def gemm(elem, m, n, k):
    return case("gemm", {"T": elem}, {"M": m, "N": n, "K": k}, f"{m}x{n}x{k}", entry=m * n * k <= SMALL)


SMALL = 32**3  # products that take less than a microsecond
GEMMS = ((32, 32, 32), (128, 128, 128), (512, 512, 512), (1024, 1024, 1024), (256, 1024, 128), (1024, 128, 256), (127, 193, 61),
         (513, 257, 129), (2048, 2048, 2048), (16, 4096, 4096))
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
        return case(kernel, types, {"R": r, "H": heads, "P": PAIRS}, f"{r}x{heads * 2 * PAIRS}")
    return case(kernel, types, {"R": r, "V" if kernel == "cross_entropy" else "W": w}, f"{r}x{w}")


def attention(elem, causal, heads, n, d):
    """As many queries as keys, all heads with keys of their own."""
    types = {"T": elem, "CAUSAL": "true" if causal else "false", "BI": "128", "BJ": "128"}
    dims = {"B": 1, "H": heads, "G": heads, "I": n, "J": n, "D": d, "E": d}
    return case("attention", types, dims, f"{heads}x{n}x{n}x{d}", {"scale": d**-0.5}, "causal_attention" if causal else None)


def name(which):
    return f"{which.label} {which.types['T']} {which.shape}"


GEMM_GAIN, ROW_GAIN = {"gemm f32 1024x1024x1024": 1.8}, {"softmax f32 1024x1024": 1.6}
PARTS = {
    "gemm": Part([gemm(elem, *dims) for dims in GEMMS for elem in BOTH],
                 [Mean("best", "f32", 0.93), Mean("onednn", "bf16", 1.00)], 1.03, GEMM_GAIN, None),
    "rows": Part([rows(kernel, elem, *shape) for shape in SHAPES for kernel in ROW_KERNELS for elem in BOTH] +
                 [rows("softmax", "f32", 1024, 1024)],
                 [Mean("torch", None, 0.50), Mean("torch.compile", None, 0.85)], 1.03, ROW_GAIN, 0.9),
    "attention": Part([attention(elem, causal, 2, 1024, 64) for causal in (False, True) for elem in BOTH],
                      [Mean("torch", None, 0.80), Mean("torch.compile", None, 0.80)], 0.80, {}, None),
    "threads": Part([gemm("f32", 1024, 1024, 1024), rows("softmax", "f32", 1024, 1024)], [], None, {**GEMM_GAIN, **ROW_GAIN}, None),
}
