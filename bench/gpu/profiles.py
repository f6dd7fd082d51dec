#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PART=profile of make bench-gpu: why a case takes what it takes. CASES=kernel:type:shape,.. (default: the three of what was measured
in STATE that are furthest from what is wanted). With Nsight Compute (NCU=file, ncu on the path or in the toolkit) and leave to read
counters: time, bytes moved, instructions, occupancy of ours and of each peer. Without, or with DISASSEMBLE=1: instructions by
class from the disassembly (nvdisasm of the toolkit or of Triton's package), of ours, of Triton's and of torch.compile's code;
torch eager and cuBLAS keep theirs to themselves. Counts are those of the innermost loop (all, where there is none), for each
element that it loads (for each FMA in gemm), so that they compare across plans. ARCH (default sm_90a) says what ours is built for;
ours needs no device. PEERS=.. limits the peers. Exit: 0, 1 a case is not known, 3 nothing that disassembles.

--child CASE PEER is what runs under the profiler, and what fills the caches that Triton's code is taken from."""
import csv
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases as table
import contest
import sass
from machine import ROOT, STATE, Machine, setting
from bench.peers import ours, torch_peers

ARCH = setting("ARCH", "sm_90a")
PARTS = ("rows", "sums", "gemm", "scan")
METRICS = {"us": "gpu__time_duration.sum", "DRAM MB": "dram__bytes.sum", "L2 MB": "lts__t_bytes.sum", "instructions": "smsp__inst_executed.sum",
           "registers": "launch__registers_per_thread", "occupancy %": "sm__warps_active.avg.pct_of_peak_sustained_active"}
SCALES = {"nsecond": 1e-3, "ns": 1e-3, "usecond": 1, "us": 1, "msecond": 1e3, "ms": 1e3, "byte": 1e-6, "Kbyte": 1e-3, "Mbyte": 1, "Gbyte": 1e3}


def known_records():
    """{label: record} of what compare.py measured in STATE."""
    found = {}
    for part in PARTS:
        try:
            with open(os.path.join(STATE, part + ".json"), encoding="utf-8") as file:
                for record in json.load(file)["records"].values():
                    found[table.label_of(record)] = record
        except (OSError, ValueError, KeyError):
            pass
    return found


def compiled_for(case, record, target, build):
    """With the plan that was measured, if it was."""
    plan = record["plan"] if record else table.plan_of(case)[0]
    file = os.path.join(ROOT, "kernels", case.kernel + ".tile")
    return ours.Tilewright().compile(file, target, table.types(case), table.dims(case), plan=plan and re.sub(r"(?m)^derived.*\n|\btarget=\S+ ", "", plan),
                                     build=build)


def child(case, record, peer):
    """One call of ours or of a peer between the profiler's marks, after one that compiles."""
    machine = Machine()
    compiled = compiled_for(case, record, "cuda", True)
    place = contest.OnTensors(machine, compiled, case, 1)
    best = ((record or {}).get("contenders", {}).get(peer) or {}).get("configuration")
    runs = [place.call.run] if peer == "ours" else [
        fn[0] for name, fn in torch_peers.contenders(case.kernel, [place.arrays], [p for p in (*contest.FAMILIES, "cuBLAS") if p != peer])
        if not isinstance(fn, Exception) and (not best or name == best)]
    for run in runs[:1] if peer != "triton" or best else runs:
        run()
        machine.torch.cuda.synchronize()
        machine.torch.cuda.cudart().cudaProfilerStart()
        run()
        machine.torch.cuda.synchronize()
        machine.torch.cuda.cudart().cudaProfilerStop()


def run_child(before, case, peer, **env):
    return subprocess.run([*before, sys.executable, os.path.abspath(__file__), "--child", table.label(case), peer], cwd=ROOT, check=False,
                          capture_output=True, text=True, errors="replace", env={**os.environ, **env})


def by_counters(ncu, case, peer):
    """[(function, {column: value})]; a text: why not."""
    done = run_child([ncu, "--csv", "--profile-from-start", "off", "--target-processes", "all", "--metrics", ",".join(METRICS.values())], case, peer)
    said = done.stdout + done.stderr
    if "ERR_NVGPUCTRPERM" in said:
        return "ncu may not read the device's counters here (ERR_NVGPUCTRPERM)"
    rows = {}
    for row in csv.DictReader(line for line in done.stdout.splitlines() if line.startswith('"')):
        column = next((name for name, metric in METRICS.items() if metric == row["Metric Name"]), None)
        if column:
            value = float(row["Metric Value"].replace(",", "")) * SCALES.get(row["Metric Unit"], 1)
            rows.setdefault((row["ID"], row["Kernel Name"]), {})[column] = value
    return [(name.split("(")[0], row) for (_, name), row in rows.items()] or f"ncu ended with {done.returncode}: {said.strip()[-300:]}"


def show_counters(ncu, case, peers):
    """True: the tables stand; False: counters cannot be had, which was said."""
    print(f"{'':4}{'contender':14}{'function':36}" + "".join(f"{name:>14}" for name in METRICS))
    for peer in ("ours", *peers):
        rows = by_counters(ncu, case, peer)
        if isinstance(rows, str):
            print(f"    {peer}: {rows}", flush=True)
            if "ERR_NVGPUCTRPERM" in rows:
                return False
            continue
        for name, row in rows:
            print(f"{'':4}{peer:14}{name[:34]:36}" + "".join(f"{row[column]:14.2f}" if column in row else f"{'-':>14}" for column in METRICS), flush=True)
    return True


class Code:
    """Machine code of a contender: a cubin, and what is known of its launches."""

    def __init__(self, peer, image, threads=None, shared=0, only=None):
        self.peer, self.image, self.threads, self.shared, self.only = peer, image, threads, shared, only

    def lines(self, case):
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(self.image)
            file.flush()
            text, used = sass.disassemble(file.name), sass.resources(file.name)
        size = {"f32": 4, "f16": 2, "bf16": 2}.get(case.elem, 4)
        for f in sass.functions(text):
            if self.only and not f.name.endswith(self.only):
                continue
            unit = f.fmas if case.kernel == "gemm" else f.load_bytes / size
            registers, shared, local = used.get(f.name, (0, 0, 0))
            shared = max(shared - 1024, 0) + self.shared
            held = "{}% {}".format(*sass.occupancy(registers, shared, self.threads)) if self.threads and registers else "-"
            each = "".join(f"{f.counts[c] / unit if unit else f.counts[c]:9.2f}" for c in sass.COLUMNS)
            yield (f"{'':4}{self.peer:14}{f.name[:34]:36}{registers:5}{shared:8}{local:6}{held:>15}{f.instructions:7}{f.loop or '-':>6}"
                   f"{f'{unit:g}' if unit else '-':>7}{each}")


HEAD = (f"{'':4}{'contender':14}{'function':36}{'regs':>5}{'shared':>8}{'local':>6}{'occupancy':>15}{'whole':>7}{'loop':>6}{'unit':>7}" +
        "".join(f"{name:>9}" for name in sass.COLUMNS))


def our_code(case, record):
    compiled = compiled_for(case, record, ARCH, False)
    figures = {name: int(value) for name, value in re.findall(r"(workers|shared) (\d+)", compiled.words)}
    entry = (record or {}).get("entry", "aligned16")
    return Code("ours", sass.compile_source(compiled.text("source"), ARCH), figures["workers"], figures["shared"], f"_{entry}")


def peer_codes(case, peer):
    """What a fresh cache holds after one call; (codes, why there is none)."""
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        done = run_child([], case, peer, TRITON_CACHE_DIR=os.path.join(folder, "triton"), TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "inductor"),
                         TORCHINDUCTOR_COMPILE_THREADS="1")
        codes = []
        for path in sorted(glob.glob(os.path.join(folder, "**", "*.cubin"), recursive=True)):
            with open(path, "rb") as file:
                image = file.read()
            about = {}
            if os.path.exists(path[:-6] + ".json"):
                with open(path[:-6] + ".json", encoding="utf-8") as file:
                    about = json.load(file)
            codes.append(Code(peer, image, 32 * about["num_warps"] if "num_warps" in about else None, about.get("shared", 0)))
    last = done.stderr.strip().splitlines()[-1:]
    return codes, f"no code was kept{': ' + last[0][:200] if done.returncode and last else ''}"


def show_code(case, record, peers):
    print(HEAD, flush=True)
    try:
        print("\n".join(our_code(case, record).lines(case)), flush=True)
    except sass.NoCompiler as why:
        print(f"    ours: {why}")
    for peer in peers:
        if peer in ("torch", "cuBLAS"):
            continue
        codes, why = peer_codes(case, peer)
        for code in codes:
            print("\n".join(code.lines(case)), flush=True)
        if not codes:
            print(f"    {peer}: {why}", flush=True)


def find_ncu():
    return None if setting("DISASSEMBLE", "") else setting("NCU", "") or sass.find_program("ncu")


def show(case, record, ncu):
    """False: ncu is of no use here."""
    times = {name: f"{row['median_ns'] / 1000:.2f} us" for name, row in (record or {}).get("contenders", {}).items()}
    moved = f"; {record['bytes'] / 1e6:.2f} MB must move" if record else ""
    print(f"{table.label(case)}: {', '.join(f'{name} {took}' for name, took in times.items()) or 'not measured yet'}{moved}", flush=True)
    wanted = setting("PEERS", "").replace(",", " ").split()
    usual = ("cuBLAS",) if case.kernel == "gemm" else contest.FAMILIES
    peers = [peer for peer in usual if torch_peers.torch is not None and (not wanted or peer in wanted)]
    if ncu and show_counters(ncu, case, peers):
        return True
    show_code(case, record, peers)
    return not ncu


def main():
    records = known_records()
    every = {table.label(case): case for part in PARTS for case in table.cases(part)}
    if sys.argv[1:2] == ["--child"]:
        child(every[sys.argv[2]], records.get(sys.argv[2]), sys.argv[3])
        return 0
    asked = setting("CASES", "").replace(",", " ").split()
    asked = asked or [table.label_of(record) for record in table.worst(records.values())]
    unknown = [name for name in asked if name not in every]
    if unknown or not asked:
        print(f"no case {', '.join(unknown)}" if unknown else "nothing was measured yet that a peer does faster: CASES=kernel:type:shape,..")
        return 1
    ncu = find_ncu()
    print(f"profile: {f'counters by {ncu}' if ncu else 'no ncu: instructions from disassembly'}", flush=True)
    if not ncu and not sass.find_program("nvdisasm"):
        print("profile: no nvdisasm either (path, CUDA toolkit, Triton's package)")
        return 3
    for name in asked:
        if not show(every[name], records.get(name), ncu):
            ncu = None
    return 0


if __name__ == "__main__":
    sys.exit(main())
