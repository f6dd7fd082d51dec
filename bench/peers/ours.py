#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tilewright through its public C interface (include/tilewright/*.h), with nothing but ctypes: programs compiled, run on
given addresses and streams, timed, judged by the oracle. Layouts below are those of the headers; `python3 bench/peers/ours.py`
runs a program on the CPU and compares, so that a change of a header that is missed here is noticed."""
import ctypes as c
import math
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ELEMS = ("none bool i8 i16 i32 i64 u8 u16 u32 u64 f8e4m3 f8e5m2 bf16 f16 f32 f64").split()
STAGES = ("tile", "plan", "loop", "caps", "source")
IN, OUT, INOUT = 0, 1, 2
MOST_SETS = 64


class Device(c.Structure):
    _fields_ = [("type", c.c_int32), ("id", c.c_int32)]


class Dtype(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device", Device), ("rank", c.c_int32), ("dtype", Dtype),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class Call(c.Structure):
    _fields_ = [("tensor", c.POINTER(c.POINTER(Tensor))), ("tensors", c.c_size_t), ("scalar", c.c_void_p),
                ("scalars", c.c_size_t), ("stream", c.c_void_p), ("checks", c.c_int), ("threads", c.c_int),
                ("error", c.c_char * 240)]


class DeviceState(c.Structure):
    _fields_ = [("known", c.c_bool), ("sm_mhz", c.c_uint), ("memory_mhz", c.c_uint), ("celsius", c.c_uint),
                ("throttle", c.c_uint64)]


class Timing(c.Structure):
    _fields_ = [("median_ns", c.c_double), ("batch_ns", c.c_double * 9), ("host_ns", c.c_double * 9), ("batches", c.c_int),
                ("calls", c.c_int64), ("cold_ns", c.c_int64), ("before", DeviceState), ("after", DeviceState)]


class Source(c.Structure):
    _fields_ = [("name", c.c_char_p), ("text", c.c_char_p), ("n", c.c_size_t)]


class Binding(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_char_p)]


class DimValue(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_int64)]


class Options(c.Structure):
    _fields_ = [("target", c.c_char_p), ("caps", Source), ("plan", c.c_char_p), ("plan_text", Source), ("loop_text", Source),
                ("model", c.c_char_p), ("model_text", Source), ("pins", c.POINTER(c.c_char_p)), ("n_pins", c.c_size_t), ("canonical", c.c_bool), ("strided", c.c_bool),
                ("threads", c.c_int),
                ("dims", c.POINTER(DimValue)), ("n_dims", c.c_size_t), ("until", c.c_int), ("build", c.c_bool)]


class Arg(c.Structure):
    _fields_ = [("name", c.c_char_p), ("elem", c.c_int), ("scalar", c.c_bool), ("has_default", c.c_bool),
                ("bits", c.c_uint64), ("role", c.c_int), ("rank", c.c_int), ("shape", c.c_int64 * 8)]


class Code(c.Structure):
    _fields_ = [("name", c.c_char_p), ("registers", c.c_uint32), ("shared_bytes", c.c_uint32), ("local_bytes", c.c_uint32),
                ("code_bytes", c.c_uint32)]


class Verdict(c.Structure):
    _fields_ = [("array", c.c_char_p), ("right", c.c_bool), ("determined", c.c_bool), ("probative", c.c_bool),
                ("elements", c.c_int64), ("covered", c.c_int64), ("wrong", c.c_int64), ("undecided", c.c_int64),
                ("unbounded", c.c_int64), ("worst_over_bound", c.c_double), ("element", c.c_char_p), ("got", c.c_char_p),
                ("want", c.c_char_p), ("bound", c.c_char_p)]


class ScalarValue(c.Structure):
    _fields_ = [("name", c.c_char_p), ("bits", c.c_uint64)]


class JudgeRun(c.Structure):
    _fields_ = [("before", c.POINTER(c.c_void_p)), ("after", c.POINTER(c.c_void_p)), ("scalars", c.POINTER(ScalarValue)),
                ("n_scalars", c.c_size_t)]


VERDICT_FN = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Verdict))
# name: result, parameters
FUNCTIONS = {
    "tw_context_create": (c.c_void_p, [c.c_void_p]),
    "tw_context_destroy": (None, [c.c_void_p]),
    "tw_diag_text": (c.c_char_p, [c.c_void_p, c.c_bool]),
    "tw_diag_clear": (None, [c.c_void_p]),
    "tw_version": (c.c_char_p, []),
    "tw_program_parse": (c.c_void_p, [c.c_void_p, c.c_char_p, c.c_char_p, c.c_size_t]),
    "tw_program_build": (c.c_void_p, [c.c_void_p, c.c_size_t, c.POINTER(Binding), c.c_size_t]),
    "tw_compile_options_defaults": (Options, []),
    "tw_compile": (c.c_int, [c.c_void_p, c.c_void_p, c.POINTER(Options), c.POINTER(c.c_void_p)]),
    "tw_compiled_release": (None, [c.c_void_p]),
    "tw_compiled_kernel": (c.c_void_p, [c.c_void_p]),
    "tw_compiled_text": (c.c_char_p, [c.c_void_p, c.c_int]),
    "tw_compiled_words": (c.c_char_p, [c.c_void_p]),
    "tw_compiled_plan_hash": (c.c_uint64, [c.c_void_p]),
    "tw_compiled_code": (Code, [c.c_void_p, c.c_size_t]),
    "tw_compiled_args": (c.c_size_t, [c.c_void_p]),
    "tw_compiled_arg": (Arg, [c.c_void_p, c.c_size_t]),
    "tw_fixture_fill": (c.c_bool, [c.c_void_p, c.c_size_t, c.c_char_p, c.c_uint64, c.c_void_p]),
    "tw_scalar_bits": (c.c_bool, [c.c_int, c.c_char_p, c.POINTER(c.c_uint64)]),
    "tw_target_measured": (c.c_int, [c.c_void_p, c.c_char_p, c.POINTER(c.c_char_p)]),
    "tw_elem_dtype": (Dtype, [c.c_int]),
    "tw_elem_size": (c.c_size_t, [c.c_int]),
    "tw_kernel_run": (c.c_int, [c.c_void_p, c.POINTER(Call)]),
    "tw_kernel_entry": (c.c_char_p, [c.c_void_p, c.POINTER(Call)]),
    "tw_kernel_time_sets": (c.c_int, [c.c_void_p, c.POINTER(c.POINTER(Call)), c.c_uint, c.c_bool, c.POINTER(Timing)]),
    "tw_judge": (c.c_int, [c.c_void_p, c.c_void_p, c.POINTER(JudgeRun), VERDICT_FN, c.c_void_p]),
}


class Failed(Exception):
    """What Tilewright said."""


def find_library():
    named = os.environ.get("TW_LIBRARY")
    tool = os.environ.get("TW_TOOL") or ""
    places = [named] if named else [os.path.join(os.path.dirname(os.path.abspath(tool)), "libtilewright.so")] if tool else []
    places += [os.path.join(ROOT, "build", preset, "libtilewright.so") for preset in ("release", "core")]
    for path in places:
        if path and os.path.exists(path):
            return path
    raise Failed("no libtilewright.so: make, or TW_LIBRARY=file")


class Tilewright:
    """The library and one context."""

    def __init__(self, path=None):
        self.path = path or find_library()
        self.lib = c.CDLL(self.path)
        for name, (result, parameters) in FUNCTIONS.items():
            fn = getattr(self.lib, name)
            fn.restype, fn.argtypes = result, parameters
        self.ctx = self.lib.tw_context_create(None)
        self.version = self.lib.tw_version().decode()

    def said(self):
        text = self.lib.tw_diag_text(self.ctx, False).decode(errors="replace").strip()
        self.lib.tw_diag_clear(self.ctx)
        return text or "no reason given"

    def measured(self, target):
        """The target's caps with its ceilings, as a text."""
        caps = c.c_char_p()
        if self.lib.tw_target_measured(self.ctx, target.encode(), c.byref(caps)) != 0:
            raise Failed(self.said())
        return caps.value.decode()

    def compile(self, file, target, types, dims, **choices):
        return Compiled(self, file, target, types, dims, **choices)


class Compiled:
    """One kernel at one choice of types and dims: plan (text, or a name: default, random:SEED), loop (text: goes on from
    there), caps (text), pins (lines), canonical, build=False for texts only."""

    def __init__(self, tw, file, target, types, dims, plan=None, loop=None, caps=None, pins=(),
                 canonical=False, build=True):
        lib = tw.lib
        self.tw, self.lib, self.handle = tw, lib, None
        with open(file, "rb") as f:
            text = f.read()
        program = lib.tw_program_parse(tw.ctx, os.path.basename(file).encode(), text, len(text))
        bindings = (Binding * max(len(types), 1))(*[Binding(k.encode(), str(v).encode()) for k, v in types.items()])
        ir = program and lib.tw_program_build(program, 0, bindings, len(types))
        if not ir:
            raise Failed(tw.said())
        values = (DimValue * max(len(dims), 1))(*[DimValue(k.encode(), v) for k, v in dims.items()])
        lines = (c.c_char_p * max(len(pins), 1))(*[pin.encode() for pin in pins])
        o = lib.tw_compile_options_defaults()
        o.target, o.dims, o.n_dims = target.encode(), values, len(dims)
        o.pins, o.n_pins, o.canonical, o.build = lines, len(pins), canonical, build
        raw = [text.encode() for text in (plan or "default", loop or "", caps or "")]
        if "\n" in (plan or ""):
            o.plan_text = Source(b"plan", raw[0], len(raw[0]))
        else:
            o.plan = raw[0]
        if caps:
            o.caps = Source(b"caps", raw[2], len(raw[2]))
        if loop:
            o.loop_text = Source(b"loop", raw[1], len(raw[1]))
        handle = c.c_void_p()
        if lib.tw_compile(tw.ctx, ir, c.byref(o), c.byref(handle)) != 0:
            raise Failed(tw.said())
        self.handle = handle
        self.kernel = lib.tw_compiled_kernel(handle)
        every = [lib.tw_compiled_arg(handle, k) for k in range(lib.tw_compiled_args(handle))]
        self.args, self.scalars = [a for a in every if not a.scalar], [a for a in every if a.scalar]
        self.values = None
        self.words = lib.tw_compiled_words(handle).decode()
        self.hash = f"{lib.tw_compiled_plan_hash(handle):016x}"

    def text(self, stage):
        return (self.lib.tw_compiled_text(self.handle, STAGES.index(stage)) or b"").decode()

    def codes(self):
        """What the compiler made of each function: [(name, registers, shared, local, code bytes)]."""
        rows = []
        while True:
            row = self.lib.tw_compiled_code(self.handle, len(rows))
            if not row.name:
                return rows
            rows.append((row.name.decode(), row.registers, row.shared_bytes, row.local_bytes, row.code_bytes))

    def release(self):
        self.lib.tw_compiled_release(self.handle)
        self.handle = None

    def shape(self, k):
        return tuple(self.args[k].shape[:self.args[k].rank])

    def elem(self, k):
        return ELEMS[self.args[k].elem]

    def bytes(self, k):
        return math.prod(self.shape(k)) * self.lib.tw_elem_size(self.args[k].elem)

    def fill(self, k, seed, address):
        if not self.lib.tw_fixture_fill(self.handle, k, b"normal", seed, address):
            raise Failed(f"no fixture for {self.args[k].name.decode()}")

    def set_scalars(self, **given):
        """Numbers by name, for the calls that are made from now on, and the judge; what is left out has a default or fails."""
        self.values = []
        for a in self.scalars:
            name, bits = a.name.decode(), c.c_uint64(a.bits)
            if name in given:
                self.lib.tw_scalar_bits(a.elem, repr(given[name]).encode(), c.byref(bits))
            elif not a.has_default:
                raise Failed(f"the scalar {name} has no value")
            raw = bits.value.to_bytes(8, "little")
            wide = {"f32": lambda r=raw: c.c_float.from_buffer_copy(r[:4]).value,
                    "f64": lambda r=raw: c.c_double.from_buffer_copy(r).value}.get(ELEMS[a.elem])
            self.values.append((a.name, bits.value, int.from_bytes(bytes(c.c_double(wide())), "little") if wide else bits.value))

    def call(self, addresses, device=None, stream=None, checks=0):
        return Prepared(self, addresses, device, stream, checks)

    def time(self, calls, quick=False):
        timing = Timing()
        each = (c.POINTER(Call) * len(calls))(*[c.pointer(p.raw) for p in calls])
        if self.lib.tw_kernel_time_sets(self.kernel, each, len(calls), quick, c.byref(timing)) != 0:
            raise Failed(calls[0].raw.error.decode(errors="replace"))
        return timing

    def judge(self, before, after):
        """Addresses of dense host copies, in order of args: [(array, right, worst over bound, covered, elements, words)]."""
        verdicts = []

        def note(_, v):
            v = v.contents
            words = "" if v.right else f"{v.wrong} wrong, first {v.element.decode()}: got {v.got.decode()}, want {v.want.decode()}"
            verdicts.append((v.array.decode(), bool(v.right), v.worst_over_bound, v.covered, v.elements, words))
        values = self.values or []
        scalars = (ScalarValue * max(len(values), 1))(*[ScalarValue(name, bits) for name, bits, _ in values])
        run = JudgeRun((c.c_void_p * len(self.args))(*before), (c.c_void_p * len(self.args))(*after), scalars, len(values))
        status = self.lib.tw_judge(self.tw.ctx, self.handle, c.byref(run), VERDICT_FN(note), None)
        if status not in (0, 1):
            raise Failed(self.tw.said())
        return verdicts


def oracle_says(judge):
    """What judge() says, in words: `right..`, `WRONG ..` or `UNJUDGED ..`."""
    try:
        verdicts = judge()
    except Failed as why:
        return f"UNJUDGED {str(why)[:200]}"
    wrong = [f"{name}: {words}" for name, right, _, _, _, words in verdicts if not right]
    if wrong:
        return "WRONG " + "; ".join(wrong)
    worst = max(v[2] for v in verdicts)
    sampled = any(v[3] != v[4] for v in verdicts)
    return f"right{' (sampled)' if sampled else ''}, error/bound {worst:.3g}"


class Prepared:
    """A call's tables, made once: run() costs what a C caller pays, and ctypes."""

    def __init__(self, compiled, addresses, device, stream, checks):
        self.compiled, self.run_fn = compiled, compiled.lib.tw_kernel_run
        place = Device(1, 0) if device is None else Device(2, device)
        n = len(compiled.args)
        self.shapes = [(c.c_int64 * 8)(*compiled.shape(k)) for k in range(n)]
        self.tensors = [Tensor(addresses[k], place, compiled.args[k].rank, compiled.lib.tw_elem_dtype(compiled.args[k].elem),
                               self.shapes[k], None, 0) for k in range(n)]
        self.table = (c.POINTER(Tensor) * n)(*[c.pointer(t) for t in self.tensors])
        values = [wide for _, _, wide in compiled.values or []]
        self.scalars = (c.c_uint64 * max(len(values), 1))(*values)
        self.raw = Call(self.table, n, c.cast(self.scalars, c.c_void_p) if values else None, len(values), stream, checks, 0)

    def run(self):
        if self.run_fn(self.compiled.kernel, c.byref(self.raw)) != 0:
            raise Failed(self.raw.error.decode(errors="replace"))

    def entry(self):
        name = self.compiled.lib.tw_kernel_entry(self.compiled.kernel, c.byref(self.raw))
        return name.decode() if name else self.raw.error.decode(errors="replace")


def main():
    tw = Tilewright()
    k = tw.compile(os.path.join(ROOT, "kernels/row_sum.tile"), "cpu", {"T": "f32"}, {"R": 3, "W": 1000})
    x, y = (c.c_float * 3000)(), (c.c_float * 3)()
    assert k.elem(0) == "f32" and k.shape(0) == (3, 1000) and k.bytes(1) == 12
    k.fill(0, 7, c.addressof(x))
    call = k.call([c.addressof(x), c.addressof(y)])
    call.run()
    for r in range(3):
        assert abs(y[r] - math.fsum(x[r * 1000:r * 1000 + 1000])) < 1e-2, (r, y[r])
    before, after = [c.addressof(x), None], [c.addressof(x), c.addressof(y)]
    verdicts = k.judge(before, after)
    assert verdicts[0][:2] == ("Y", True) and verdicts[0][3:5] == (3, 3), verdicts
    y[1] += 1
    verdicts = k.judge(before, after)
    assert not verdicts[0][1] and "Y[1]" in verdicts[0][5], verdicts
    try:
        tw.measured("cpu")
        raise AssertionError("the cpu has ceilings")
    except Failed as failed:
        assert "no ceilings" in str(failed), failed
    norm = tw.compile(os.path.join(ROOT, "kernels/rmsnorm.tile"), "cpu", {"T": "f32"}, {"R": 1, "W": 2})
    norm.set_scalars(eps=12.0)
    row, gain, out = (c.c_float * 2)(2, 2), (c.c_float * 2)(1, 1), (c.c_float * 2)()
    norm.call([c.addressof(b) for b in (row, gain, out)]).run()
    assert out[0] == 0.5, out[0]  # 2 / sqrt(4 + 12)
    assert norm.judge([c.addressof(row), c.addressof(gain), None], [c.addressof(b) for b in (row, gain, out)])[0][1]
    norm.release()
    timing = k.time([call, call], quick=True)
    assert timing.batches == 5 and timing.median_ns > 0 and timing.host_ns[4] > 0, timing.median_ns
    call = k.call([c.addressof(x) + 2, c.addressof(y)])
    try:
        call.run()
        raise AssertionError("a misplaced array was taken")
    except Failed as failed:
        assert "X starts at" in str(failed), failed
    k.release()
    try:
        tw.compile(os.path.join(ROOT, "kernels/row_sum.tile"), "cpu", {"T": "f3"}, {"R": 3, "W": 4})
        raise AssertionError("an unknown type was taken")
    except Failed as failed:
        assert "f3" in str(failed), failed
    print(f"ok   Tilewright {tw.version} through ctypes ({os.path.relpath(tw.path, ROOT)})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
