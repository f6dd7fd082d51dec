#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PART=rows|sums|gemm|scan of make bench-gpu: ours and the peers in one process, on the same input bytes and the same stream, by
protocol.py, interleaved; ours judged by the oracle. Prints a line a case: times, best peer, ratio, what is wanted. Cases
that are measured are kept in build/bench-gpu/PART.json (STATE=folder) and not measured again with the same library; when all
are, the table goes to bench/results/ (RESULTS=folder). K=kernel,.. and N=cases limit a run, BUDGET=seconds ends it.
PEERS=torch,triton,.. limits the peers. SETS=N: N sets of arrays take turns, on both sides, so that with enough of them none is
in a cache when its turn comes (default 1: what fits stays there, as in the known figures of the peers). Exit: 0 all within, 1 short, wrong or left, 3 no device.

TARGET=cpu runs it without a device: ours alone, by the protocol of run.h, and no ratio."""
import ctypes
import datetime
import hashlib
import json
import os
import sys
import time

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [ROOT, os.path.join(ROOT, "bench/gpu")]
import cases as table
import protocol
from bench.peers import driver, known, ours, torch_peers

START = time.monotonic()
SCHEMA = "tilewright/bench-gpu/2"


def setting(name, default):
    return os.environ.get(name) or default


TARGET = setting("TARGET", "cuda")
STATE, RESULTS = setting("STATE", os.path.join(ROOT, "build/bench-gpu")), setting("RESULTS", os.path.join(ROOT, "bench/results"))

SETS = int(setting("SETS", "1"))


class Machine:
    """The device, if torch gives one; its stream."""

    def __init__(self):
        self.torch = torch_peers.torch
        if TARGET == "cuda" and self.torch is not None and not self.torch.cuda.is_available():
            self.torch = None
            torch_peers.absent.update({"torch": "torch sees no device"})
        if TARGET != "cuda":
            self.torch = None
        self.ceilings = {}
        self.device, self.stream, self.nvml = TARGET, None, protocol.Nvml()
        self.versions = {}
        if self.torch is not None:
            self.device = self.torch.cuda.get_device_name(0)
            self.torch.zeros(1, device="cuda")
            self.stream = self.torch.cuda.Stream()
            self.versions = {"torch": self.torch.__version__, "cuda": self.torch.version.cuda, "driver": self.nvml.driver()}
            if torch_peers.triton is not None:
                self.versions["triton"] = torch_peers.triton.triton.__version__


    def measure(self, tw):
        """Ceilings, in ns: of a launch, a byte read, a byte copied, an f32 operation."""
        caps = dict(words.split(" ", 1) for words in tw.measured(TARGET).splitlines() if words.startswith("ceiling_"))
        self.ceilings = {name[8:-3]: float(value) for name, value in caps.items()}
        top = self.ceilings
        print(f"ceilings: empty launch {top['launch']:.0f} ns, read {1e-3 / top['read_byte']:.2f} TB/s, copy "
              f"{1e-3 / top['copy_byte']:.2f} TB/s, FMA {1e-3 / top['flop']:.1f} TFLOP/s", flush=True)


class OnDevice:
    """A case's arrays as tensors, and our call on them."""

    def __init__(self, machine, compiled, case, seed):
        torch = machine.torch
        self.torch, self.compiled = torch, compiled
        generator = torch.Generator(device="cuda").manual_seed(seed)
        self.arrays = {}
        for k, arg in enumerate(compiled.args):
            kind, shape = torch_peers.dtype(compiled.elem(k)), compiled.shape(k)
            if arg.role != ours.IN:
                tensor = torch.zeros(shape, dtype=kind, device="cuda")
            elif kind.is_floating_point:
                tensor = torch.randn(shape, generator=generator, device="cuda", dtype=torch.float32).to(kind)
            else:
                bound = case.dims[0] if case.kernel == "embedding" else case.dims[-1]
                tensor = torch.randint(0, bound, shape, generator=generator, device="cuda").to(kind)
            self.arrays[arg.name.decode()] = tensor
        self.addresses = [t.data_ptr() for t in self.arrays.values()]
        torch.cuda.synchronize()
        self.call = compiled.call(self.addresses, device=0, stream=machine.stream.cuda_stream)

    def results(self):
        return [t for arg, t in zip(self.compiled.args, self.arrays.values()) if arg.role != ours.IN]

    def judge(self):
        host = [t.detach().cpu().contiguous() for t in self.arrays.values()]
        addresses = [t.data_ptr() for t in host]
        before = [a if arg.role == ours.IN else None for a, arg in zip(addresses, self.compiled.args)]
        return self.compiled.judge(before, addresses)


class OnHost:
    """Without torch: arrays of the host, which the library copies to a device if there is one, and times itself. The first
    is shifted by some elements."""

    def __init__(self, compiled, shift=0, arrays=None):
        """arrays: those of another, with the same kernel and dims."""
        self.compiled = compiled
        if arrays:
            self.blocks, self.addresses = arrays.blocks, arrays.addresses
            self.call = compiled.call(self.addresses)
            return
        self.blocks = [ctypes.create_string_buffer(compiled.bytes(k) + 128) for k in range(len(compiled.args))]
        self.addresses = [(ctypes.addressof(b) + 63) // 64 * 64 for b in self.blocks]
        self.addresses[0] += shift * compiled.lib.tw_elem_size(compiled.args[0].elem)
        for k, arg in enumerate(compiled.args):
            if arg.role == ours.IN:
                compiled.fill(k, k + 1, self.addresses[k])
        self.call = compiled.call(self.addresses)

    def time(self):
        t = self.compiled.time([self.call])
        return {"median_ns": t.median_ns, "samples_ns": list(t.batch_ns)[:t.batches], "host_ns": list(t.host_ns)[:t.batches],
                "calls": t.calls, "cold_ns": t.cold_ns}

    def judge(self):
        before = [a if arg.role == ours.IN else None for a, arg in zip(self.addresses, self.compiled.args)]
        return self.compiled.judge(before, self.addresses)


def oracle_says(judge):
    try:
        verdicts = judge()
    except ours.Failed as why:
        return f"UNJUDGED {str(why)[:200]}"
    wrong = [f"{name}: {words}" for name, right, _, _, _, words in verdicts if not right]
    if wrong:
        return "WRONG " + "; ".join(wrong)
    worst = max(v[2] for v in verdicts)
    sampled = any(v[3] != v[4] for v in verdicts)
    return f"right{' (sampled)' if sampled else ''}, error/bound {worst:.3g}"


def peers_of(case, places, machine, wanted):
    """Graphs of the peers, the best configuration of each; and what went wrong with others."""
    graphs, notes, best = {}, {}, {}
    skip = [p for p in ("torch", "torch.compile", "triton") if wanted and p not in wanted]
    for name, fn in torch_peers.contenders(case.kernel, [p.arrays for p in places], skip):
        family = name.split()[0]
        try:
            if isinstance(fn, Exception):
                raise fn
            graph = protocol.Graph(machine.torch, machine.stream, lambda k, fn=fn: fn[k % len(fn)]())
            graph.result = fn[0]()
            if family == "triton":
                ns = graph.quick()
                if ns >= best.get(family, float("inf")):
                    continue
                best[family] = ns
            graph.words = name
            graphs[family] = graph
        except Exception as why:  # a peer that fails is told, and the case goes on
            notes[name] = f"{type(why).__name__}: {str(why)[:200]}"
    return graphs, notes


def difference(a, b):
    """Greatest difference over the greatest value, in f64."""
    a, b = a.double(), b.double()
    top = b.abs().max().item() or 1.0
    return (a - b).abs().max().item() / top


def measure_on_device(case, compiled, machine, wanted):
    places = [OnDevice(machine, compiled, case, k + 1) for k in range(SETS)]
    place = places[0]
    graphs = {"ours": protocol.Graph(machine.torch, machine.stream, lambda k: places[k % SETS].call.run())}
    machine.torch.cuda.synchronize()
    record = {"oracle": oracle_says(place.judge), "entry": place.call.entry(), "contenders": {}}
    others, record["notes"] = peers_of(case, places, machine, wanted)
    graphs.update(others)
    record["before"] = machine.nvml.state()
    for graph in graphs.values():
        graph.warm()
    for k in range(protocol.SAMPLES):
        turn = list(graphs.values())
        for graph in turn[k % len(turn):] + turn[:k % len(turn)]:
            graph.sample()
    record["after"] = machine.nvml.state()
    for name, graph in graphs.items():
        record["contenders"][name] = graph.record()
        if name != "ours":
            record["contenders"][name].update(
                configuration=graph.words, difference=difference(place.results()[0], graph.result.reshape(place.results()[0].shape)))
    return record


def work(case, compiled):
    """Bytes that must move, f32 operations that a product takes."""
    moved = sum(compiled.bytes(k) for k in range(len(compiled.args)))
    if case.kernel == "embedding":
        moved = 2 * compiled.bytes(len(compiled.args) - 1)
    m, n, k = case.dims if case.kernel == "gemm" else (0, 0, 0)
    return moved, 2 * m * n * k


CACHE_BYTES = 2**28  # no cache holds that much


def too_fast(machine, record, ns):
    """Faster than the device can be, by what was measured on it in this run: an error, not a result."""
    top = machine.ceilings
    if not top:
        return None
    least = 0.9 * top["launch"]
    if record["bytes"] > CACHE_BYTES:
        least = max(least, record["bytes"] * top["read_byte"] / 1.05)
    least = max(least, record["flops"] * top["flop"] / 1.05)
    return f"{ns:.0f} ns is less than the device's least, {least:.0f} ns" if ns < least else None


def judge_times(case, record, machine):
    """Best peer, ratio, and whether that is within."""
    ns = record["contenders"]["ours"]["median_ns"]
    bars = {}
    for name, contender in record["contenders"].items():
        if name == "ours":
            continue
        figure = SETS == 1 and known.figure(machine.device, case.kernel, case.elem, table.shape(case), name)
        contender["slow"] = bool(figure and contender["median_ns"] > known.SLACK * figure)
        bars[name] = figure if contender["slow"] else contender["median_ns"]
    record["best"] = min(bars, key=bars.get) if bars else None
    record["ratio"] = ns / bars[record["best"]] if bars else None
    record["fault"] = too_fast(machine, record, ns)
    record["ok"] = (record["oracle"].startswith("right") and not record["fault"] and
                    (record["ratio"] is None and machine.torch is None or
                     record["ratio"] is not None and record["ratio"] <= case.wanted))


def measure(case, tw, machine, wanted):
    file = os.path.join(ROOT, "kernels", case.kernel + ".tile")
    plan, source = table.plan_of(case)
    record = {"kernel": case.kernel, "type": case.elem, "shape": table.shape(case), "wanted": case.wanted, "plan_from": source}
    begin = time.monotonic()
    compiled = tw.compile(file, TARGET, table.types(case), table.dims(case), plan=plan)
    record.update(build_ns=(time.monotonic() - begin) * 1e9, plan=compiled.text("plan"), figures=compiled.words)
    record["bytes"], record["flops"] = work(case, compiled)
    begin = time.monotonic()
    try:
        if machine.torch is None:
            place = OnHost(compiled)
            place.call.run()
            record.update(oracle=oracle_says(place.judge), entry=place.call.entry())
            record["contenders"] = {"ours": place.time()}
        else:
            record.update(measure_on_device(case, compiled, machine, wanted))
    finally:
        compiled.release()
        if machine.torch is not None:
            machine.torch.cuda.empty_cache()
    record["took_s"] = time.monotonic() - begin
    judge_times(case, record, machine)
    return record


PEERS = ("torch", "torch.compile", "triton")
HEAD = f"{'kernel':19}{'type':5}{'shape':>15}{'ours us':>10}" + "".join(f"{p:>15}" for p in PEERS) + f"{'ratio':>8}{'wanted':>8}  verdict"


def line(record):
    def us(name):
        contender = record["contenders"].get(name) or (name == "torch" and record["contenders"].get("cuBLAS"))
        return f"{contender['median_ns'] / 1000:.2f}{'*' if contender.get('slow') else ''}" if contender else "-"
    ratio = f"{record['ratio']:.2f}" if record["ratio"] else "-"
    verdict = "ok" if record["ok"] else record["fault"] or ("SHORT" if record["oracle"].startswith("right") else "")
    return (f"{record['kernel']:19}{record['type']:5}{record['shape']:>15}{us('ours'):>10}" + "".join(f"{us(p):>15}" for p in PEERS) +
            f"{ratio:>8}{record['wanted']:>8}  {verdict}; {record['oracle']}; {record['entry']}, plan of {record['plan_from']}")


def open_driver():
    """Once and for all: a process that has not opened it asks about the device in a child, for each kernel."""
    try:
        return driver.Cuda()
    except (OSError, driver.DriverError):
        return None


class Kept:
    """Records of cases that were measured with this library and these plans."""

    def __init__(self, part, tw):
        self.path = os.path.join(STATE, part + ".json")
        with open(tw.path, "rb") as file:
            self.key = hashlib.sha256(file.read()).hexdigest()
        self.records = {}
        try:
            with open(self.path, encoding="utf-8") as file:
                kept = json.load(file)
            self.records = kept["records"] if kept["library"] == self.key else {}
        except (OSError, ValueError, KeyError):
            pass

    def add(self, name, record):
        self.records[name] = record
        os.makedirs(STATE, exist_ok=True)
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump({"library": self.key, "records": self.records}, file)
        os.replace(self.path + ".new", self.path)


def publish(part, machine, tw, records):
    os.makedirs(RESULTS, exist_ok=True)
    device = machine.device.split()[-1].lower()
    day = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    path = os.path.join(RESULTS, f"{device}-{part}-{day}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schema": SCHEMA, "part": part, "date": day, "device": machine.device, "versions": machine.versions,
                   "ceilings_ns": machine.ceilings,
                   "tilewright": tw.version, "command": f"PART={part} bench/gpu/run", "protocol": protocol.__doc__,
                   "sets": SETS, "absent": torch_peers.absent, "rows": records}, file, indent=1)
        file.write("\n")
    return os.path.relpath(path, ROOT) if path.startswith(ROOT) else os.path.abspath(path)


def run_part(part, tw, machine):
    kept, failed, left, records = Kept(part, tw), [], [], []
    chosen = table.cases(part)
    names = setting("K", "").replace(",", " ").split()
    chosen = [case for case in chosen if not names or case.kernel in names][:int(setting("N", "1000"))]
    wanted = setting("PEERS", "").replace(",", " ").split()
    print(f"{part}: {len(chosen)} cases\n{HEAD}", flush=True)
    for case in chosen:
        name = f"{case.kernel} {case.elem} {table.shape(case)} {SETS} {hashlib.sha256((table.plan_of(case)[0] or '').encode()).hexdigest()[:8]}"
        if name not in kept.records:
            if time.monotonic() - START > float(setting("BUDGET", "1e9")):
                left.append(name)
                continue
            try:
                kept.add(name, measure(case, tw, machine, wanted))
            except (ours.Failed, OSError, RuntimeError) as why:
                print(f"{case.kernel:19}{case.elem:5}{table.shape(case):>15}  FAIL {type(why).__name__}: {str(why)[:600]}", flush=True)
                failed.append(name)
                records.append({"kernel": case.kernel, "type": case.elem, "shape": table.shape(case), "wanted": case.wanted,
                                "ok": False, "failed": str(why)[:2000]})
                continue
        record = kept.records[name]
        records.append(record)
        print(line(record), flush=True)
        for peer, note in record.get("notes", {}).items():
            print(f"    {peer}: {note}", flush=True)
        if not record["ok"]:
            failed.append(name)
    print(f"{part}: {len(chosen) - len(failed) - len(left)} within, {len(failed)} not, {len(left)} left for another call"
          "   (* slower than its known figure, which counts instead)", flush=True)
    if not left and len(records) == len(table.cases(part)) and machine.torch is not None:
        print(f"{part}: {publish(part, machine, tw, records)}", flush=True)
    return bool(failed or left)


def main():
    parts = setting("PART", "rows,sums,gemm,scan").replace(",", " ").split()
    machine = Machine()
    tw = ours.Tilewright()
    print(f"device {machine.device}, {', '.join(f'{k} {v}' for k, v in machine.versions.items()) or 'no torch'}, "
          f"Tilewright {tw.version}; absent: {torch_peers.absent or 'nothing'}", flush=True)
    if TARGET.startswith("cuda"):
        open_driver()
        machine.measure(tw)
    short = [part for part in parts if run_part(part, tw, machine)]
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
