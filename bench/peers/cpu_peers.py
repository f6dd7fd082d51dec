# SPDX-License-Identifier: Apache-2.0
"""What CPU peers compute for our kernels. A peer is made for a case's arrays (numpy, by our names) and a number of threads, and
is called without arguments; it writes into an array of its own, `result`. What is not installed is told by name in `absent`."""
import ctypes
import glob
import os

absent = {}
try:
    import torch
except ImportError as why:
    torch = None
    absent["torch"] = str(why)
try:
    import scipy_openblas32
except ImportError as why:
    scipy_openblas32 = None
    absent["openblas"] = str(why)
ROW_MAJOR, AS_IS = 101, 111


class OpenBlas:
    """The library of the package scipy-openblas32, by its C interface."""
    name = "openblas"

    def __init__(self):
        folder = scipy_openblas32.get_lib_dir()
        self.lib = ctypes.CDLL(sorted(glob.glob(os.path.join(folder, "*openblas*.so")))[0])
        for words in ("scipy_openblas_get_corename", "scipy_openblas_get_config"):
            getattr(self.lib, words).restype = ctypes.c_char_p

    def about(self):
        return f"{self.lib.scipy_openblas_get_config().decode()}, kernel {self.lib.scipy_openblas_get_corename().decode()}"

    def threads(self, count):
        self.lib.scipy_openblas_set_num_threads(count)

    def gemm(self, a, result):
        m, k = a["A"].shape
        n = a["B"].shape[1]
        arrays = (a["A"], a["B"], result)
        at = [ctypes.c_void_p(x.ctypes.data) for x in arrays]
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        words, fn = (ROW_MAJOR, AS_IS, AS_IS, m, n, k, one, at[0], k, at[1], n, zero, at[2], n), self.lib.scipy_cblas_sgemm
        return lambda _held=arrays: fn(*words)


class Torch:
    """PyTorch eager; its matrix products of f32 are MKL's, of bf16 oneDNN's."""
    name = "torch"

    def about(self):
        lines = [line.strip(" -") for line in torch.__config__.show().splitlines() if "MKL" in line or "capability" in line]
        return f"{torch.__version__}; " + "; ".join(line for line in lines if len(line) < 200)

    def threads(self, count):
        torch.set_num_threads(count)

    def gemm(self, a, result):
        x, y, z = (torch.from_numpy(v) for v in (a["A"], a["B"], result))
        return lambda: torch.mm(x, y, out=z)


def peers():
    return ([OpenBlas()] if scipy_openblas32 else []) + ([Torch()] if torch else [])
