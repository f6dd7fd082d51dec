# SPDX-License-Identifier: Apache-2.0
"""What CPU peers compute for our kernels. A peer makes a step for a case's label (cases.py) and arrays (arrays.py, by our names): a
function without parameters that gives its result back, as a tensor or an Array; None: it has none for this. ran() names what its
last step runs, if it says. What is not installed is told by name in `absent`."""
import ctypes
import glob
import os
import sys
import tempfile

from . import torch_peers

torch, absent = torch_peers.torch, {name: why for name, why in torch_peers.absent.items() if name.startswith("torch")}
try:
    import scipy_openblas32
except ImportError as why:
    scipy_openblas32 = None
    absent["openblas"] = str(why)
try:
    from . import onednn_peers
except ImportError as why:
    onednn_peers = None
    absent["onednn"] = str(why)
ROW_MAJOR, AS_IS = 101, 111
BLOCK = 2**15  # elements that are compared at once: as doubles they stay in a cache, and PyTorch starts no threads for them


class OpenBlas:
    """The library of the package scipy-openblas32, by its C interface."""
    name = "openblas"

    def __init__(self):
        folder = scipy_openblas32.get_lib_dir()
        self.lib = ctypes.CDLL(sorted(glob.glob(os.path.join(folder, "*openblas*.so")))[0])
        for words in ("scipy_openblas_get_corename", "scipy_openblas_get_config"):
            getattr(self.lib, words).restype = ctypes.c_char_p

    def about(self):
        return f"{self.lib.scipy_openblas_get_config().decode()}, kernel {self.ran()}"

    def ran(self):
        return self.lib.scipy_openblas_get_corename().decode()

    def threads(self, count):
        self.lib.scipy_openblas_set_num_threads(count)

    def step(self, label, arrays):
        if label != "gemm" or arrays["A"].elem != "f32":
            return None
        a, b, result = arrays["A"], arrays["B"], arrays["C"].like()
        (m, k), n = a.shape, b.shape[1]
        at = [ctypes.c_void_p(x.address) for x in (a, b, result)]
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        words, fn = (ROW_MAJOR, AS_IS, AS_IS, m, n, k, one, at[0], k, at[1], n, zero, at[2], n), self.lib.scipy_cblas_sgemm

        def step():
            fn(*words)
            return result
        return step


def tensor(array):
    """The same memory."""
    flat = torch.frombuffer(array.block, dtype=torch.uint8, count=array.bytes, offset=array.offset)
    return flat.view(torch_peers.dtype(array.elem)).reshape(array.shape)


def difference(result, array):
    """Of a step's result from an array: the greatest one over the greatest value, in f64. Without torch: of arrays of f32."""
    if torch is None:
        pairs = list(zip(memoryview(result.content()).cast("f"), memoryview(array.content()).cast("f")))
        return max(abs(x - y) for x, y in pairs) / max(abs(y) for _, y in pairs)
    got, want = (x.reshape(array.shape).flatten().split(BLOCK)
                 for x in (result if torch.is_tensor(result) else tensor(result), tensor(array)))
    apart = most = torch.zeros((), dtype=torch.float64)
    for x, y in zip(got, want):  # what is NaN once stays NaN
        x, y = x.double(), y.double()
        apart, most = torch.maximum(apart, (x - y).abs().max()), torch.maximum(most, y.abs().max())
    return (apart / most.clamp(min=1e-300)).item()


def onednn_says(step):
    """The primitives of oneDNN that PyTorch runs in a step, by what oneDNN writes to the process's standard output; "" if none."""
    if not torch.backends.mkldnn.is_available():
        return ""
    flush = ctypes.CDLL(None).fflush
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        flush(None)
        kept = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            with torch.backends.mkldnn.verbose(torch.backends.mkldnn.VERBOSE_ON):
                step()
        finally:
            flush(None)
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        words = [line.split(",") for line in file.read().decode(errors="replace").splitlines()]
    runs = [line[line.index("exec") + 2:] for line in words if "exec" in line]  # exec,cpu,matmul,brg_matmul:avx512_core_amx,..
    return "; ".join(sorted({" ".join(run[:2]) for run in runs}))


class Torch:
    """PyTorch eager; its matrix products of f32 are MKL's, of bf16 oneDNN's. A product is written into one array, as ours is;
    all else makes its result anew, as a program does that calls it."""
    name = "torch"

    def about(self):
        lines = [line.strip(" -") for line in torch.__config__.show().splitlines() if "MKL" in line or "capability" in line]
        return f"{torch.__version__}; " + "; ".join(line for line in lines if len(line) < 200)

    def threads(self, count):
        torch.set_num_threads(count)

    said = ""

    def ran(self):
        return self.said

    def function(self, label):
        return torch_peers.FUNCTIONS.get(label)

    def step(self, label, arrays):
        tensors, self.said = {name: tensor(array) for name, array in arrays.items()}, ""
        if label == "gemm":
            x, y, z = tensors["A"], tensors["B"], torch.empty_like(tensors["C"])
            self.said = onednn_says(lambda: torch.mm(x, y, out=z))
            return lambda: torch.mm(x, y, out=z)
        fn = self.function(label)
        return fn and (lambda: fn(tensors))


class Compiled(Torch):
    """The same functions by torch.compile, for each case anew; no products: they are eager's."""
    name = "torch.compile"

    def about(self):
        return f"{torch.__version__}, inductor, static shapes"

    def function(self, label):
        fn = torch_peers.FUNCTIONS.get(label)
        if fn is None:
            return None
        torch._dynamo.reset()
        return torch.compile(fn, dynamic=False)

    def step(self, label, arrays):
        return super().step(label, arrays) if label != "gemm" else None


def peers():
    return ([OpenBlas()] if scipy_openblas32 else []) + ([onednn_peers.OneDnn()] if onednn_peers else []) + (
        [Torch(), Compiled()] if torch else [])
