# SPDX-License-Identifier: Apache-2.0
"""oneDNN by its C interface (libdnnl, of the package onednn-cpu-gomp): matrix products of f32 and bf16 as one primitive each, made
once for a case; operands and result are dense, as ours are. ImportError where the library is not there."""
import ctypes as c
import glob
import os
import sys

HANDLE, DIMS = c.c_void_p, c.c_int64 * 12
CPU, IN_ORDER, IMPL_INFO_STR = 1, 1, 8  # of the enumerations in dnnl_types.h
TYPES = {"bf16": 2, "f32": 3}
SRC, DST, WEIGHTS = 1, 17, 33


class Version(c.Structure):
    _fields_ = [("major", c.c_int), ("minor", c.c_int), ("patch", c.c_int), ("hash", c.c_char_p), ("cpu_runtime", c.c_uint),
                ("gpu_runtime", c.c_uint)]


class Argument(c.Structure):
    _fields_ = [("arg", c.c_int), ("memory", HANDLE)]


PARAMETERS = {
    "dnnl_engine_create": [c.POINTER(HANDLE), c.c_int, c.c_size_t],
    "dnnl_stream_create": [c.POINTER(HANDLE), HANDLE, c.c_uint],
    "dnnl_memory_desc_create_with_strides": [c.POINTER(HANDLE), c.c_int, DIMS, c.c_int, DIMS],
    "dnnl_memory_create": [c.POINTER(HANDLE), HANDLE, HANDLE, c.c_void_p],
    "dnnl_matmul_primitive_desc_create": [c.POINTER(HANDLE), HANDLE, HANDLE, HANDLE, HANDLE, HANDLE, HANDLE],
    "dnnl_primitive_desc_query": [HANDLE, c.c_int, c.c_int, c.c_void_p],
    "dnnl_primitive_create": [c.POINTER(HANDLE), HANDLE],
    "dnnl_primitive_execute": [HANDLE, HANDLE, c.c_int, c.POINTER(Argument)],
    "dnnl_stream_wait": [HANDLE],
    "dnnl_primitive_destroy": [HANDLE],
    "dnnl_primitive_desc_destroy": [HANDLE],
    "dnnl_memory_desc_destroy": [HANDLE],
    "dnnl_memory_destroy": [HANDLE],
}


def load():
    found = sorted(glob.glob(os.path.join(sys.prefix, "lib/libdnnl.so*")))
    if not found:
        raise ImportError("no libdnnl.so in the environment's lib/")
    try:
        lib = c.CDLL(found[0])
        lib.openmp = c.CDLL("libgomp.so.1")  # what libdnnl loaded
    except OSError as why:
        raise ImportError(str(why)) from why
    lib.dnnl_version.restype = c.POINTER(Version)
    for name, types in PARAMETERS.items():
        getattr(lib, name).argtypes = types
    return lib


LIB = load()


def made(function, *words):
    """The handle that a function of the library makes."""
    handle = HANDLE()
    done(function, c.byref(handle), *words)
    return handle


def done(function, *words):
    status = getattr(LIB, function)(*words)
    if status:
        raise RuntimeError(f"{function}: status {status}")


class Product:
    """One case's primitive and what it needs, until release()."""

    def __init__(self, engine, arrays):
        self.made = []
        descs = [self.keep("memory_desc", self.desc(array)) for array in arrays]
        memories = [self.keep("memory", made("dnnl_memory_create", desc, engine, array.address)) for desc, array in zip(descs, arrays)]
        pd = self.keep("primitive_desc", made("dnnl_matmul_primitive_desc_create", engine, descs[0], descs[1], None, descs[2], None))
        words = c.c_char_p()
        done("dnnl_primitive_desc_query", pd, IMPL_INFO_STR, 0, c.byref(words))
        self.name = words.value.decode()
        self.primitive = self.keep("primitive", made("dnnl_primitive_create", pd))
        self.arguments = (Argument * 3)(*[Argument(k, memory) for k, memory in zip((SRC, WEIGHTS, DST), memories)])

    def keep(self, kind, handle):
        self.made.append((kind, handle))
        return handle

    @staticmethod
    def desc(array):
        rows, columns = array.shape
        return made("dnnl_memory_desc_create_with_strides", 2, DIMS(rows, columns), TYPES[array.elem], DIMS(columns, 1))

    def release(self):
        for kind, handle in reversed(self.made):
            done(f"dnnl_{kind}_destroy", handle)


class OneDnn:
    name = "onednn"

    def __init__(self):
        self.engine = made("dnnl_engine_create", CPU, 0)
        self.stream = made("dnnl_stream_create", self.engine, IN_ORDER)
        self.product = None

    def about(self):
        v = LIB.dnnl_version().contents
        return f"oneDNN {v.major}.{v.minor}.{v.patch} ({v.hash.decode()}), matmul primitives, OpenMP"

    def threads(self, count):
        """A primitive keeps the number that holds when it is made."""
        LIB.openmp.omp_set_num_threads(count)

    def ran(self):
        return self.product.name if self.product else ""

    def step(self, label, arrays):
        if label != "gemm" or arrays["A"].elem not in TYPES:
            return None
        if self.product:
            self.product.release()
        result = arrays["C"].like()
        self.product = Product(self.engine, (arrays["A"], arrays["B"], result))
        execute, wait = LIB.dnnl_primitive_execute, LIB.dnnl_stream_wait
        words, stream = (self.product.primitive, self.stream, 3, self.product.arguments), self.stream

        def step():
            if execute(*words) or wait(stream):
                raise RuntimeError("oneDNN does not run")
            return result
        return step
