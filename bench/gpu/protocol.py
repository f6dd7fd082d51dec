# SPDX-License-Identifier: Apache-2.0
"""How everything is timed on a GPU, ours and peers alike: a CUDA graph of 100 complete operations on one stream (each starts
when the one before has ended), a primed replay, at least 500 ms of replays to warm up, then 7 samples of about 100 ms,
in turns with the other contenders of the case, by events of the device and by the host's clock. Nothing is trimmed. Clocks,
temperature and throttle reasons are read before and after, if NVML is there. WARM_MS and SAMPLE_MS are settings; what was
taken is recorded."""
import ctypes
import os
import time

OPERATIONS, SAMPLES = 100, 7
WARM_MS, SAMPLE_MS = float(os.environ.get("WARM_MS") or 500), float(os.environ.get("SAMPLE_MS") or 100)


class Nvml:
    """Clocks (MHz), temperature, throttle reasons of a device; None where there is no NVML."""

    def __init__(self, device=0):
        self.handle = None
        try:
            self.lib = ctypes.CDLL("libnvidia-ml.so.1")
            handle = ctypes.c_void_p()
            if self.lib.nvmlInit_v2() == 0 and self.lib.nvmlDeviceGetHandleByIndex_v2(device, ctypes.byref(handle)) == 0:
                self.handle = handle
        except (OSError, AttributeError):
            pass

    def number(self, function, *args, kind=ctypes.c_uint):
        value = kind()
        status = getattr(self.lib, function)(self.handle, *args, ctypes.byref(value))
        return value.value if status == 0 else None

    def text(self, function, *before):
        words = ctypes.create_string_buffer(96)
        status = getattr(self.lib, function)(*before, words, 96)
        return words.value.decode(errors="replace") if status == 0 else None

    def state(self):
        if not self.handle:
            return None
        return {"sm_mhz": self.number("nvmlDeviceGetClockInfo", 1), "memory_mhz": self.number("nvmlDeviceGetClockInfo", 2),
                "celsius": self.number("nvmlDeviceGetTemperature", 0),
                "throttle": self.number("nvmlDeviceGetCurrentClocksThrottleReasons", kind=ctypes.c_ulonglong)}

    def driver(self):
        return self.text("nvmlSystemGetDriverVersion") if self.handle else None


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


class Timed:
    """100 operations, replayed: warmed up, sampled. replay(n) gives nanoseconds of an operation, by the device and by the host."""

    def __init__(self):
        self.replays, self.device_ns, self.host_ns, self.words, self.result = 1, [], [], "", None

    def warm(self, warm_ms=WARM_MS, sample_ms=SAMPLE_MS):
        warmed, self.replays = 0.0, 1
        while warmed < warm_ms:
            ns, _ = self.replay(self.replays)
            warmed += ns * self.replays * OPERATIONS / 1e6
            self.replays = max(1, round(sample_ms * 1e6 / (ns * OPERATIONS)))

    def sample(self):
        device, host = self.replay(self.replays)
        self.device_ns.append(device)
        self.host_ns.append(host)

    def quick(self):
        """A short look, to choose among configurations."""
        self.warm(5, 5)
        return median([self.replay(self.replays)[0] for _ in range(3)])

    def record(self):
        return {"median_ns": median(self.device_ns), "samples_ns": self.device_ns, "host_ns": self.host_ns,
                "replays": self.replays, "operations": OPERATIONS, "cold_ns": self.cold_ns}


class Calls(Timed):
    """Without a device: 100 calls, one after the other, by the host's clock alone."""

    def __init__(self, step):
        super().__init__()
        self.step = step
        begin = time.monotonic_ns()
        step(0)
        self.cold_ns = time.monotonic_ns() - begin

    def replay(self, n):
        begin = time.monotonic_ns()
        for _ in range(n):
            for k in range(OPERATIONS):
                self.step(k)
        took = time.monotonic_ns() - begin
        return took / (n * OPERATIONS), took / (n * OPERATIONS)


class Graph(Timed):
    """100 operations in a graph. step(k) queues the k-th on the stream that is current."""

    def __init__(self, torch, stream, step):
        super().__init__()
        self.torch, self.stream = torch, stream
        begin = time.monotonic_ns()
        with torch.cuda.stream(stream):
            for k in range(3):
                step(k)
        stream.synchronize()
        self.cold_ns = time.monotonic_ns() - begin
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=stream):
            for k in range(OPERATIONS):
                step(k)
        self.start, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.replay(1)

    def replay(self, n):
        begin = time.monotonic_ns()
        with self.torch.cuda.stream(self.stream):
            self.start.record(self.stream)
            for _ in range(n):
                self.graph.replay()
            self.end.record(self.stream)
        self.end.synchronize()
        host = time.monotonic_ns() - begin
        device = self.start.elapsed_time(self.end) * 1e6
        if device <= 0 or host <= 0:
            raise RuntimeError("a clock stands still or goes back")
        return device / (n * OPERATIONS), host / (n * OPERATIONS)
