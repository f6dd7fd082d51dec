# SPDX-License-Identifier: Apache-2.0
"""What PyTorch computes for our kernels: eager, by torch.compile and, where triton_peers.py has one, a Triton kernel. TF32 is
off. Every function takes the arrays by our names and writes no more than its result; each gives the result back, so
that it can be compared. What is not installed is told by name in `absent`."""
import math

absent = {}
try:
    import torch
    import torch.nn.functional as F
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")
except ImportError as why:
    torch = None
    absent["torch"] = absent["torch.compile"] = absent["cuBLAS"] = str(why)
try:
    from . import triton_peers as triton
except ImportError as why:
    triton = None
    absent["triton"] = str(why)


def row_sum(a):
    return torch.sum(a["X"], 1)


def row_max(a):
    return torch.amax(a["X"], 1)


def argmax(a):
    return torch.argmax(a["X"], 1)


def softmax(a):
    return torch.softmax(a["X"], 1)


def masked_softmax(a):
    """A row of which nothing is left is NaN here and 0 in ours: what that would cost is left out."""
    return torch.softmax(torch.where(a["M"], a["X"], -math.inf), 1)


def layernorm(a):
    return F.layer_norm(a["X"], a["X"].shape[1:], a["G"], a["B"], 1e-5)


def residual_layernorm(a):
    x = a["X"] + a["Z"]
    return F.layer_norm(x, x.shape[1:], None, None, 1e-5)


def rmsnorm(a):
    return F.rms_norm(a["X"], a["X"].shape[1:], a["G"], 1e-6)


def gelu_residual(a):
    return F.gelu(a["X"]) + a["Z"]


def swiglu(a):
    return F.silu(a["A"]) * a["B"]


def rope(a):
    x, y = a["X"].chunk(2, -1)
    c, s = a["C"].unsqueeze(1), a["S"].unsqueeze(1)
    return torch.cat((x * c - y * s, x * s + y * c), -1).to(a["X"].dtype)


def gemm(a):
    return torch.mm(a["A"], a["B"])


def attention(a):
    return F.scaled_dot_product_attention(a["Q"], a["K"], a["V"])


def causal_attention(a):
    """Of as many queries as keys: the first query sees the first key alone, as in ours."""
    return F.scaled_dot_product_attention(a["Q"], a["K"], a["V"], is_causal=True)


def transpose(a):
    return a["X"].t().contiguous()


def scan(a):
    return torch.cumsum(a["X"], 1)


def cross_entropy(a):
    return F.cross_entropy(a["X"], a["L"], reduction="none")


def embedding(a):
    return F.embedding(a["IDS"], a["E"])


FUNCTIONS = {f.__name__: f for f in (row_sum, row_max, argmax, softmax, masked_softmax, layernorm, residual_layernorm, rmsnorm,
                                     gelu_residual, swiglu, rope, gemm, attention, causal_attention, transpose, scan, cross_entropy,
                                     embedding)}
DTYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32",
          "i8": "int8", "u8": "uint8", "bool": "bool"}


def dtype(elem):
    return getattr(torch, DTYPES[elem])


def contenders(kernel, sets, skip=(), at=lambda family: None):
    """[(name, a function without parameters for each set of arrays)]; making one may take seconds, so they come as they are
    made, and at(family) is called before. A peer that fails to be made comes with its exception instead."""
    fn = FUNCTIONS.get(kernel)
    if torch is None or fn is None:
        return
    eager = "cuBLAS" if kernel == "gemm" else "torch"
    if eager not in skip and "torch" not in skip:
        at(eager)
        yield eager, [lambda a=a: fn(a) for a in sets]
    if "torch.compile" not in skip and kernel != "gemm":
        at("torch.compile")
        try:
            # what was compiled for a case stays: its graph may be replayed much later
            torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 10000
            compiled = torch.compile(fn, dynamic=False)
            compiled(sets[0])
            yield "torch.compile", [lambda a=a: compiled(a) for a in sets]
        except Exception as why:  # a compiler's failure is a fact of the peer, not the end of the run
            yield "torch.compile", why
    if triton is not None and "triton" not in skip:
        at("triton")
        for each in zip(*[triton.candidates(kernel, a) for a in sets]):
            yield each[0][0], [run for _, run in each]
