#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ours and the peers in one process, on the same arrays, in turns: each contender runs a batch of at least BATCH_MS a round, the
order turns round by round, the median of ROUNDS batches counts. Threads that wait for work spin for a while before they sleep,
and would take a core from the next contender: before each batch all rest for REST_MS, then warm up. Calls go through ctypes on
every side (torch: its own binding), so that small cases hold that too. One thread by its own processor time, then two by the wall's (THREADS=1,2). Ours is judged by the oracle. Prints a line a case; N=cases limits a run; the table goes to bench/results/ (RESULTS=folder) when all ran.
Exit: 0 all within, 1 short or wrong, 3 no peer."""
import ctypes
import datetime
import json
import math
import os
import platform
import re
import sys
import time

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [ROOT, os.path.join(ROOT, "bench/cpu")]
import numpy

import cases as table
from bench.peers import cpu_peers, ours

SCHEMA = "tilewright/bench-cpu/1"
ROUNDS, BATCH_MS, WARM_MS, REST_MS = 9, 40, 200, 50


def setting(name, default):
    return os.environ.get(name) or default


def aligned(shape, seed=None):
    """On a line of cache; random where there is a seed."""
    size = math.prod(shape)
    block = numpy.zeros(size + 16, numpy.float32)
    at = -block.ctypes.data // 4 % 16
    array = block[at:at + size].reshape(shape)
    if seed is not None:
        array[...] = numpy.random.default_rng(seed).standard_normal(shape)
    return array


class Ours:
    """The default plan of a case."""

    def __init__(self, tw, case, threads):
        self.kernel = tw.compile(os.path.join(ROOT, f"kernels/{case.kernel}.tile"), "cpu", case.types, case.dims)
        self.arrays = {}
        for k, arg in enumerate(self.kernel.args):
            self.arrays[arg.name.decode()] = aligned(self.kernel.shape(k), k + 1 if arg.role == ours.IN else None)
        self.call = self.kernel.call([x.ctypes.data for x in self.arrays.values()])
        self.call.raw.threads = threads

    def step(self):
        fn, kernel, call = self.call.run_fn, self.kernel.kernel, ctypes.byref(self.call.raw)
        return lambda: fn(kernel, call)

    def result(self):
        return next(x for arg, x in zip(self.kernel.args, self.arrays.values()) if arg.role != ours.IN)

    def verdict(self):
        """Of the oracle, which takes a sample where the case is large."""
        self.result()[...] = numpy.nan
        self.call.run()
        before = [x.ctypes.data if arg.role == ours.IN else None for arg, x in zip(self.kernel.args, self.arrays.values())]
        return ours.oracle_says(lambda: self.kernel.judge(before, [x.ctypes.data for x in self.arrays.values()]))


def batch(step, calls, clock):
    begin = clock()
    for _ in range(calls):
        step()
    return (clock() - begin) / calls


def measure(steps, clock):
    """Median ns a call of each, and all samples."""
    calls, samples = {}, {name: [] for name in steps}
    for name, step in steps.items():
        end = time.monotonic() + WARM_MS / 1000
        once = batch(step, 1, clock)
        while time.monotonic() < end:
            once = min(once, batch(step, max(1, int(2e6 / max(once, 100))), clock))
        calls[name] = max(1, math.ceil(BATCH_MS * 1e6 / once))
    names = list(steps)
    for turn in range(ROUNDS):
        order = names[turn % len(names):] + names[:turn % len(names)]
        for name in order if turn % 2 else order[::-1]:
            time.sleep(REST_MS / 1000)
            batch(steps[name], math.ceil(calls[name] / 8), clock)
            samples[name].append(batch(steps[name], calls[name], clock))
    return {name: sorted(s)[len(s) // 2] for name, s in samples.items()}, samples


def run_case(case, tw, peers, threads):
    mine = Ours(tw, case, threads)
    verdict = mine.verdict()
    steps = {"tilewright": mine.step()}
    for peer in peers:
        peer.threads(threads)
        steps[peer.name] = getattr(peer, case.kernel)(mine.arrays, aligned(mine.result().shape))
    medians, samples = measure(steps, time.thread_time_ns if threads == 1 else time.perf_counter_ns)
    best = min((medians[peer.name], peer.name) for peer in peers)
    record = {"case": table.name(case), "threads": threads, "verdict": verdict, "median_ns": medians, "samples_ns": samples,
              "best_peer": best[1], "ratio": medians["tilewright"] / best[0], "plan": mine.kernel.text("plan")}
    mine.kernel.release()
    times = "  ".join(f"{name} {ns / 1000:.2f}" for name, ns in medians.items())
    print(f"{record['case']:28} {threads} thread{'s' if threads > 1 else ' '}  {times} us  ratio {record['ratio']:.3f}  {verdict}",
          flush=True)
    return record


def hardware():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()
    words = dict(re.findall(r"^(model name|flags|cpu MHz)\s*:\s*(.*)$", text, re.M))
    wanted = [flag for flag in words.get("flags", "").split() if flag.startswith(("avx", "fma", "amx"))]
    return {"processor": words.get("model name", platform.machine()), "cores": os.cpu_count(), "flags": " ".join(wanted)}


def say(what, value, target, good):
    print(f"{'ok  ' if good else 'SHORT'} {what}: {value:.3f}, wanted {target}", flush=True)
    return good


def judge(part, records):
    """All targets; each printed beside its value."""
    good = True
    for threads in sorted({r["threads"] for r in records}):
        mine = [r for r in records if r["threads"] == threads]
        mean = math.exp(sum(math.log(r["ratio"]) for r in mine) / len(mine))
        worst = max(mine, key=lambda r: r["ratio"])
        good = say(f"{threads} thread(s), geometric mean of ratios", mean, f"<= {part.mean}", mean <= part.mean) and good
        good = say(f"{threads} thread(s), worst ratio ({worst['case']})", worst["ratio"], f"<= {part.worst}",
                   worst["ratio"] <= part.worst) and good
    for name, least in part.threads.items():
        times = {r["threads"]: r["median_ns"]["tilewright"] for r in records if r["case"] == name}
        if 1 in times and 2 in times:
            gain = times[1] / times[2]
            good = say(f"{name}, two threads over one", gain, f">= {least}", gain >= least) and good
    return good and all(r["verdict"].startswith("right") for r in records)


def publish(name, tw, peers, records):
    folder = setting("RESULTS", os.path.join(ROOT, "bench/results"))
    os.makedirs(folder, exist_ok=True)
    day = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    path = os.path.join(folder, f"cpu-{name}-{day}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schema": SCHEMA, "part": name, "date": day, "hardware": hardware(), "tilewright": tw.version,
                   "peers": {peer.name: peer.about() for peer in peers}, "absent": cpu_peers.absent,
                   "command": f"make bench-cpu PART={name}", "protocol": __doc__, "rows": records}, file, indent=1)
        file.write("\n")
    print(f"{name}: {os.path.relpath(path, ROOT)}", flush=True)


def main():
    tw, peers = ours.Tilewright(), cpu_peers.peers()
    wanted = setting("PEERS", "").replace(",", " ").split()
    peers = [peer for peer in peers if not wanted or peer.name in wanted]
    if not peers:
        print(f"no peer: {cpu_peers.absent}")
        return 3
    print(f"{hardware()['processor']}, {os.cpu_count()} cores, Tilewright {tw.version}; absent: {cpu_peers.absent or 'nothing'}")
    for peer in peers:
        print(f"{peer.name}: {peer.about()}", flush=True)
    good = True
    for name in setting("PART", "gemm").replace(",", " ").split():
        part = table.PARTS[name]
        chosen = part.cases[:int(setting("N", "1000"))]
        counts = [int(n) for n in setting("THREADS", "1,2").split(",")]
        records = [run_case(case, tw, peers, threads) for threads in counts for case in chosen]
        good = judge(part, records) and good
        if len(records) == 2 * len(part.cases):
            publish(name, tw, peers, records)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
