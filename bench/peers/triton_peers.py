# SPDX-License-Identifier: Apache-2.0
"""Row kernels in Triton, written plainly: one program a row, the whole row in one block where it fits, a loop of blocks for
sums of long rows. candidates() gives each in several configurations; whoever times them keeps the best."""
import torch
import triton
import triton.language as tl

MOST_BLOCK = 32768


@triton.jit
def _sum_rows(x, y, W, BLOCK: tl.constexpr, STEP: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, STEP * BLOCK, BLOCK):
        total += tl.load(x + row * W + start + at, mask=start + at < W, other=0.0).to(tl.float32)
    tl.store(y + row, tl.sum(total, 0))


@triton.jit
def _softmax_rows(x, y, W, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * W + at, mask=at < W, other=float("-inf")).to(tl.float32)
    p = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * W + at, p / tl.sum(p, 0), mask=at < W)


@triton.jit
def _residual_layernorm_rows(x, z, y, W, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < W
    v = tl.load(x + row * W + at, mask=inside, other=0.0).to(tl.float32)
    v += tl.load(z + row * W + at, mask=inside, other=0.0).to(tl.float32)
    d = tl.where(inside, v - tl.sum(v, 0) / W, 0.0)
    tl.store(y + row * W + at, d / tl.sqrt(tl.sum(d * d, 0) / W + eps), mask=inside)


@triton.jit
def _layernorm_rows(x, g, b, y, W, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < W
    v = tl.load(x + row * W + at, mask=inside, other=0.0).to(tl.float32)
    d = tl.where(inside, v - tl.sum(v, 0) / W, 0.0)
    n = d / tl.sqrt(tl.sum(d * d, 0) / W + eps)
    gain = tl.load(g + at, mask=inside, other=0.0).to(tl.float32)
    offset = tl.load(b + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row * W + at, n * gain + offset, mask=inside)


def _launcher(kernel, rows, out, *arguments, **meta):
    def run():
        kernel[(rows,)](*arguments, **meta)
        return out
    return run


def candidates(kernel, arrays):
    """[("triton BLOCK/warps", function)]"""
    if kernel not in ("row_sum", "softmax", "layernorm", "residual_layernorm"):
        return
    x = arrays["X"]
    rows, width = x.shape
    whole = triton.next_power_of_2(width)
    out = torch.empty(rows, dtype=x.dtype, device=x.device) if kernel == "row_sum" else torch.empty_like(x)
    if kernel == "row_sum":
        for block in sorted({min(whole, n) for n in (1024, 2048, 4096, 8192, 16384)}):
            for warps in (4, 8, 16):
                yield f"triton {block}/{warps}", _launcher(_sum_rows, rows, out, x, out, width, BLOCK=block,
                                                           STEP=triton.cdiv(width, block), num_warps=warps)
        return
    if whole > MOST_BLOCK:
        return
    for warps in (1, 2, 4, 8, 16, 32):
        if whole < 32 * warps or whole > 1024 * warps * 4:
            continue
        if kernel == "softmax":
            run = _launcher(_softmax_rows, rows, out, x, out, width, BLOCK=whole, num_warps=warps)
        elif kernel == "residual_layernorm":
            run = _launcher(_residual_layernorm_rows, rows, out, x, arrays["Z"], out, width, 1e-5, BLOCK=whole, num_warps=warps)
        else:
            run = _launcher(_layernorm_rows, rows, out, x, arrays["G"], arrays["B"], out, width, 1e-5, BLOCK=whole,
                            num_warps=warps)
        yield f"triton {whole}/{warps}", run
