#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PART=calls of make bench-gpu: calls on a real device that are refused or must come out right all the same: a device that is not
there, pointers that lead elsewhere, misaligned arrays, more groups than one launch takes, foreign streams and contexts,
captures, a launch that fails. One line a case with what is wanted and what came; exit 1 if one differs."""
import ctypes as c
import os
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, ROOT)
from bench.peers import ours
from bench.peers.driver import Cuda

NONE, FULL = 1, 2
N = 1000
SCALE = """kernel scale(X: f32[N], out Y: f32[N]) {
    parallel n: N {
        Y[n] = X[n] * 2
    }
}
"""
TWICE = """kernel twice(X: f32[N], out Y: f32[N]) {
    temp T: f32[N]
    parallel n: N { T[n] = X[n] * 2 }
    parallel n: N { Y[n] = T[n] + 1 }
}
"""
BYTES = "kernel bytes(X: i8[N], out Y: i8[N]) {\n    parallel n: N { Y[n] = X[n] }\n}\n"
BIG = ("plan gemm/0 class=free\nframe f: m = grid 4, sub 8, slot 16 ; n = grid 16, lane 32 ; k = serial 2, loop 512\n"
       "stage A: shared, order m k\nentry main\n")


class Bench:
    def __init__(self, folder):
        self.folder, self.failed, self.ran = folder, 0, 0
        self.cuda, self.tw = Cuda(), ours.Tilewright()

    def program(self, text):
        path = os.path.join(self.folder, text.split("(")[0].split()[1] + ".tile")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def line(self, ok, what, wanted, came):
        self.ran += 1
        self.failed += not ok
        print(f"{'ok  ' if ok else 'FAIL'} {what}: {wanted} is wanted, {came}", flush=True)

    def refused(self, what, wanted, fn):
        try:
            fn()
            self.line(False, what, f"'{wanted}'", "nothing was said")
        except ours.Failed as why:
            self.line(wanted in str(why), what, f"'{wanted}'", f"'{str(why)[:300]}' was said")


class Arrays:
    """X = 0, 1, 2, .. and Y on the device, of f32[N], each with some elements more."""

    def __init__(self, cuda, spare=4):
        self.cuda, self.size = cuda, 4 * (N + spare)
        self.host = (c.c_float * (N + spare))(*range(N + spare))
        self.x, self.y = cuda.alloc(self.size), cuda.alloc(self.size)
        cuda.upload(self.x, c.addressof(self.host), self.size)
        self.clear()

    def clear(self):
        blank = (c.c_float * len(self.host))(*[-1.0] * len(self.host))
        self.cuda.upload(self.y, c.addressof(blank), self.size)
        self.cuda.wait()

    def wrong(self, shift, fn):
        """Elements of Y that are not fn(X), and elements beside it that are no longer -1."""
        self.cuda.call("cuCtxSynchronize")
        got = (c.c_float * len(self.host))()
        self.cuda.download(c.addressof(got), self.y, self.size)
        self.cuda.wait()
        return sum(got[k] != (fn(k) if shift <= k < shift + N else -1.0) for k in range(len(self.host)))


def pointers(b, a, k):
    device = (c.c_float * N)()
    host = c.addressof(device)
    b.refused("a device that is not there", f"there is no device 99: the driver sees {b.cuda.count}",
              lambda: b.tw.compile(k.file, "cuda:99", {}, {"N": N}))
    b.refused("a host pointer said to be the device's, checks full", "X is said to be on cuda:0 and lies in host memory",
              lambda: k.call([host, a.y], device=0, checks=FULL).run())
    b.refused("a device pointer said to be the host's, checks full", "X is said to be in host memory and lies on CUDA device 0",
              lambda: k.call([a.x, host], checks=FULL).run())
    b.refused("another device's array", "X is on cuda:1; this kernel runs on cuda:0", lambda: k.call([a.x, a.y], device=1).run())
    b.refused("an allocation that ends too early, checks full", "X needs 4000 bytes from 64 on of an allocation of 4016 bytes",
              lambda: k.call([a.x + 64, a.y], device=0, checks=FULL).run())
    for shift in range(4):
        a.clear()
        call = k.call([a.x + 4 * shift, a.y + 4 * shift], device=0, checks=FULL)
        call.run()
        wrong = a.wrong(shift, lambda i: 2.0 * i)
        entry = "aligned16" if shift == 0 else "main"
        b.line(wrong == 0 and call.entry() == entry, f"arrays {4 * shift} bytes off", f"{entry}, 0 wrong", f"{call.entry()}, {wrong} wrong")


def captures(b, a):
    k = b.tw.compile(b.program(TWICE), "cuda", {}, {"N": N})
    cuda, stream, graph, exec_ = b.cuda, b.cuda.stream(), c.c_void_p(), c.c_void_p()
    call = k.call([a.x, a.y], device=0, stream=stream)

    def record():
        cuda.call("cuStreamBeginCapture_v2", c.c_void_p(stream), 0)
        try:
            call.run()
        finally:
            cuda.call("cuStreamEndCapture", c.c_void_p(stream), c.byref(graph))
    b.refused("a cold kernel in a capture, which goes on", "kernel twice has no code in this context yet", record)
    call.run()
    cuda.call("cuStreamSynchronize", c.c_void_p(stream))
    a.clear()
    record()
    wrong = a.wrong(0, lambda i: -1.0)
    b.line(wrong == 0, "a warm kernel in a capture", "nothing run yet", f"{wrong} elements written")
    cuda.call("cuGraphInstantiateWithFlags", c.byref(exec_), graph, c.c_ulonglong(0))
    cuda.call("cuGraphLaunch", exec_, c.c_void_p(stream))
    wrong = a.wrong(0, lambda i: 2.0 * i + 1)
    b.line(wrong == 0, "its graph launched", "0 wrong", f"{wrong} wrong")
    cuda.call("cuGraphExecDestroy", exec_)
    cuda.call("cuGraphDestroy", graph)
    k.release()


def contexts(b, k):
    cuda, own, before = b.cuda, c.c_void_p(), c.c_void_p()
    cuda.call("cuCtxCreate_v2", c.byref(own), 0, cuda.device)
    a = Arrays(cuda)
    k.call([a.x, a.y], device=0).run()
    wrong = a.wrong(0, lambda i: 2.0 * i)
    b.line(wrong == 0 and cuda.current() == own.value, "a context of the caller's", "0 wrong, still current",
           f"{wrong} wrong, {'still' if cuda.current() == own.value else 'no longer'} current")
    cuda.call("cuCtxPopCurrent_v2", c.byref(before))
    cuda.call("cuCtxDestroy_v2", own)
    a = Arrays(cuda)
    k.call([a.x, a.y], device=0).run()
    wrong = a.wrong(0, lambda i: 2.0 * i)
    b.line(wrong == 0, "the primary one after it is gone", "0 wrong", f"{wrong} wrong")


def many_calls(b, a, k, n=20000):
    """Queued one after the other: how long the host takes for each (ctypes included), and that nothing piles up."""
    free, total = (c.c_size_t * 2)(), c.c_size_t()
    call = k.call([a.x, a.y], device=0, stream=b.cuda.stream(), checks=NONE)
    call.run()
    for i in range(2):
        b.cuda.call("cuCtxSynchronize")
        b.cuda.call("cuMemGetInfo_v2", c.byref(free, i * c.sizeof(c.c_size_t)), c.byref(total))
        begin = time.perf_counter()
        for _ in range(n if i == 0 else 0):
            call.run()
        took = time.perf_counter() - begin if i == 0 else took
    b.line(free[0] == free[1], f"{n} calls queued, {took / n * 1e6:.2f} us of the host each", "no byte of the device more in use",
           f"{free[0] - free[1]} bytes")


def many_groups(b):
    n = 2**31 + 5
    k = b.tw.compile(b.program(BYTES), "cuda", {}, {"N": n}, pins=[f"groups={n}"])
    x, y = b.cuda.alloc(n), b.cuda.alloc(n)
    b.cuda.call("cuMemsetD8_v2", c.c_uint64(x), c.c_ubyte(7), c.c_size_t(n))
    b.cuda.call("cuMemsetD8_v2", c.c_uint64(y), c.c_ubyte(1), c.c_size_t(n))
    k.call([x, y], device=0, checks=FULL).run()
    whole = (c.c_char * n)()
    b.cuda.download(c.addressof(whole), y, n)
    b.cuda.wait()
    right = whole.raw.count(b"\x07")
    b.line(right == n, f"{n} groups, more than one launch takes", f"{n} right", f"{right} right")
    for at in (x, y):
        b.cuda.call("cuMemFree_v2", c.c_uint64(at))
    k.release()


def failing_launch(b):
    """Caps that promise more shared memory than there is."""
    file = os.path.join(ROOT, "kernels/gemm.tile")
    plain = b.tw.compile(file, "cuda", {"T": "f32"}, {"M": 64, "N": 64, "K": 64})
    lines = ["shared 1000000" if words.startswith("shared ") else words for words in plain.text("caps").splitlines()]
    k = b.tw.compile(file, "cuda", {"T": "f32"}, {"M": 512, "N": 512, "K": 1024}, plan=BIG, caps="\n".join(lines) + "\n")
    at = [b.cuda.alloc(k.bytes(i)) for i in range(3)]
    b.refused("a launch that the driver refuses", "K_gemm_", lambda: k.call(at, device=0).run())


def main():
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(folder)
        a = Arrays(b.cuda)
        k = b.tw.compile(b.program(SCALE), "cuda", {}, {"N": N})
        k.file = os.path.join(folder, "scale.tile")
        pointers(b, a, k)
        captures(b, a)
        contexts(b, k)
        many_calls(b, a, k)
        failing_launch(b)
        many_groups(b)
    print(f"calls: {b.ran - b.failed} passed, {b.failed} failed")
    return int(b.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
