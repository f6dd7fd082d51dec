# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's driver by ctypes, as far as the scripts of bench/gpu need it to give Tilewright memory, streams and contexts of
somebody else's making."""
import ctypes as c
import os


class DriverError(Exception):
    pass


class Cuda:
    """One device with its primary context current; allocations of exactly the size that is asked for."""

    def __init__(self):
        self.lib = c.CDLL(os.environ.get("TILEWRIGHT_CUDA") or "libcuda.so.1")
        self.device, context, count = c.c_int(), c.c_void_p(), c.c_int()
        self.call("cuInit", 0)
        self.call("cuDeviceGetCount", c.byref(count))
        self.call("cuDeviceGet", c.byref(self.device), 0)
        self.call("cuDevicePrimaryCtxRetain", c.byref(context), self.device)
        self.call("cuCtxPushCurrent_v2", context)
        self.count, self.context = count.value, context.value

    def call(self, name, *args):
        result = getattr(self.lib, name)(*args)
        if result != 0:
            raise DriverError(f"{name}: CUDA error {result}")

    def alloc(self, size):
        at = c.c_uint64()
        self.call("cuMemAlloc_v2", c.byref(at), c.c_size_t(max(size, 1)))
        return at.value

    def upload(self, to, address, size):
        self.call("cuMemcpyHtoDAsync_v2", c.c_uint64(to), c.c_void_p(address), c.c_size_t(size), None)

    def download(self, address, at, size):
        self.call("cuMemcpyDtoHAsync_v2", c.c_void_p(address), c.c_uint64(at), c.c_size_t(size), None)

    def wait(self):
        self.call("cuStreamSynchronize", None)

    def current(self):
        context = c.c_void_p()
        self.call("cuCtxGetCurrent", c.byref(context))
        return context.value

    def stream(self):
        stream = c.c_void_p()
        self.call("cuStreamCreate", c.byref(stream), 1)
        return stream.value
