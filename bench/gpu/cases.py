# SPDX-License-Identifier: Apache-2.0
"""The cases of each part of make bench-gpu: a kernel, its type, its dims in order, and the ratio to the best peer that is
wanted. A plan of bench/gpu/plans/ (PLANS=folder) is taken where there is one, else the model's first: KERNEL-TYPE-SHAPE.plan, or
KERNEL-SETTINGS.plan as bench/gpu/shortlist and bench/gpu/race leave it."""
import collections
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLANS = os.environ.get("PLANS") or ""
if not os.path.isdir(PLANS):  # elsewhere PLANS is a number of plans
    PLANS = os.path.join(ROOT, "bench/gpu/plans")
DIMS = {"gemm": "MNK", "transpose": "MN", "embedding": "VDN", "cross_entropy": "RV"}
OTHER = {"scan": {"EXCLUSIVE": "false", "REVERSE": "false"}, "cross_entropy": {"I": "i64"}, "embedding": {"I": "i64"}}

Case = collections.namedtuple("Case", "part kernel elem dims wanted")
BOTH = ("f32", "bf16")
USUAL = ((128, 1024), (16, 8192), (1024, 4096))
SUMS = ((3, 8192), (128, 8192), (3, 16384), (128, 16384), (4096, 16384), (65536, 4096), (1, 67108864))
SMALL_GEMM = [(n, n, n) for n in (32, 64, 128, 256, 512)] + [
    (127, 193, 61), (513, 257, 129), (256, 1024, 128), (1024, 128, 256), (16, 4096, 4096)]


def cases(part):
    def row(kernel, elem, dims, wanted=1.5):
        return Case(part, kernel, elem, dims, wanted)
    if part == "rows":
        small = ((1, 127), (17, 257), (128, 1024), (64, 4096))
        large = ((8192, 4096), (32768, 1024), (4096, 16384))
        rows = [row("residual_layernorm", "f32", dims) for dims in small + large]
        rows += [row("residual_layernorm", "bf16", dims) for dims in large]
        rows += [row("softmax", elem, dims) for dims in ((128, 1024), (4096, 4096), (32768, 1024)) for elem in BOTH]
        return rows + [row(kernel, elem, dims) for kernel in ("layernorm", "rmsnorm", "gelu_residual", "argmax", "row_max")
                       for dims in USUAL for elem in BOTH]
    if part == "sums":
        return [row("row_sum", elem, dims) for dims in SUMS for elem in ("f16", "bf16")]
    if part == "gemm":
        return [row("gemm", "f32", dims, 1.2) for dims in SMALL_GEMM] + [row("gemm", "f32", (4096, 4096, 4096), 1.6)]
    if part == "scan":
        rows = [row(kernel, elem, dims) for kernel in ("scan", "cross_entropy", "transpose") for dims in USUAL for elem in BOTH]
        return rows + [row("embedding", "bf16", (4096, 4096, 512))]
    raise ValueError(part)


def shape(case):
    return "x".join(str(n) for n in case.dims)


def label(case):
    return f"{case.kernel}:{case.elem}:{shape(case)}"


def label_of(record):
    return f"{record['kernel']}:{record['type']}:{record['shape']}"


def worst(records, n=3):
    """Those furthest beyond what is wanted, if they are slower than a peer at all."""
    slow = [record for record in records if (record.get("ratio") or 0) > 1]
    return sorted(slow, key=lambda record: -record["ratio"] / record["wanted"])[:n]


def chosen(part):
    """What the settings K, CASES and N leave of a part."""
    names, labels = (os.environ.get(name, "").replace(",", " ").split() for name in ("K", "CASES"))
    rows = [case for case in cases(part) if (not names or case.kernel in names) and (not labels or label(case) in labels)]
    return rows[:int(os.environ.get("N") or len(rows))]


def dims(case):
    """By name."""
    return dict(zip(DIMS.get(case.kernel, "RW"), case.dims))


def types(case):
    return {"T": case.elem, **OTHER.get(case.kernel, {})}


def settings(case):
    return ",".join(f"{name}={value}" for name, value in {**types(case), **dims(case)}.items())


def plan_of(case):
    """Text and where it comes from; None: the model's first."""
    for name in (f"{case.elem}-{shape(case)}", settings(case).replace(",", "-")):
        path = os.path.join(PLANS, f"{case.kernel}-{name}.plan")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return file.read(), os.path.relpath(path, ROOT)
    return None, "model"
