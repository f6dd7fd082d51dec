#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PART=rows|sums|gemm|scan of make bench-gpu: ours and the peers on the same input bytes and the same stream, by protocol.py, in
turns; ours judged by the oracle. JOBS processes (default: a core each) plan, compile, capture and judge all cases side by
side; then one case after the other is measured, and nothing else runs (pool.py). A peer that is absent, fails, crashes or
hangs stands in the table as that. Compilers keep what they made in STATE (default build/bench-gpu).

Prints a line a case: times, best peer, ratio, what is wanted. Cases that are measured are kept in STATE/PART.json and not
measured again with the same library; when all are, the table goes to bench/results/ (RESULTS=folder). K=kernel,..,
CASES=kernel:type:shape,.. and N=cases limit a run. BUDGET=seconds ends it: no more cases are prepared than can be measured in it. DRY=1 prints that schedule alone.
PEERS=torch,triton,.. limits the peers, PEERS_FILE=file.py takes others. WARM_MS and SAMPLE_MS: protocol.py. SETS=N: N sets of
arrays take turns, on both sides, so that with enough of them none is in a cache when its turn comes (default 1: what fits stays
there, as in the known figures of the peers). Exit: 0 all within, 1 short, wrong or left, 3 no device.

TARGET=cpu runs it without a device, by the host's clock; nothing is published."""
import datetime
import glob
import hashlib
import json
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases as table
import pool
import protocol
from contest import FAMILIES, OnHost
from machine import RESULTS, ROOT, SETS, STATE, TARGET, Machine, open_driver, setting
from bench.peers import known, ours
from bench.peers.kept import Kept

__all__ = ["Kept", "Machine", "OnHost", "open_driver"]
START = time.monotonic()
SCHEMA = "tilewright/bench-gpu/3"
WANTED_PEERS = setting("PEERS", "").replace(",", " ").split()

CACHE_BYTES = 2**28  # no cache holds that much


def too_fast(top, record, ns):
    """Faster than the device can be, by what was measured on it in this run: an error, not a result."""
    if not top:
        return None
    least = 0.9 * top["launch"]
    if record["bytes"] > CACHE_BYTES:
        least = max(least, record["bytes"] * top["read_byte"] / 1.05)
    least = max(least, record["flops"] * top["flop"] / 1.05)
    return f"{ns:.0f} ns is less than the device's least, {least:.0f} ns" if ns < least else None


def judge_times(case, record, about):
    """Best peer, ratio, and whether that is within."""
    ns = record["contenders"]["ours"]["median_ns"]
    bars = {}
    for name, contender in record["contenders"].items():
        if name == "ours":
            continue
        figure = SETS == 1 and known.figure(about["device"], case.kernel, case.elem, table.shape(case), name)
        contender["slow"] = bool(figure and contender["median_ns"] > known.SLACK * figure)
        bars[name] = figure if contender["slow"] else contender["median_ns"]
    record["best"] = min(bars, key=bars.get) if bars else None
    record["ratio"] = ns / bars[record["best"]] if bars else None
    record["fault"] = too_fast(about["ceilings"], record, ns)
    record["ok"] = (record["oracle"].startswith("right") and not record["fault"] and
                    (record["ratio"] is None and not about["torch"] or
                     record["ratio"] is not None and record["ratio"] <= case.wanted))


HEAD = f"{'kernel':19}{'type':5}{'shape':>15}{'ours us':>10}" + "".join(f"{p:>15}" for p in FAMILIES) + f"{'ratio':>8}{'wanted':>8}  verdict"


def line(record):
    def us(name):
        name = "cuBLAS" if name == "torch" and record["kernel"] == "gemm" else name
        contender = record["contenders"].get(name)
        if not contender:
            return next((why.split(":")[0] for peer, why in record["notes"].items() if peer.split()[0] == name), "-")
        return f"{contender['median_ns'] / 1000:.2f}{'*' if contender.get('slow') else ''}"
    ratio = f"{record['ratio']:.2f}" if record["ratio"] else "-"
    verdict = "ok" if record["ok"] else record["fault"] or ("SHORT" if record["oracle"].startswith("right") else "")
    return (f"{record['kernel']:19}{record['type']:5}{record['shape']:>15}{us('ours'):>10}" + "".join(f"{us(p):>15}" for p in FAMILIES) +
            f"{ratio:>8}{record['wanted']:>8}  {verdict}; {record['oracle']}; {record['entry']}, plan of {record['plan_from']}")


def publish(part, about, records):
    """about: device, versions, tilewright, .. as a worker tells it."""
    os.makedirs(RESULTS, exist_ok=True)
    device = about["device"].split()[-1].lower()
    day = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    path = os.path.join(RESULTS, f"{device}-{part}-{day}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schema": SCHEMA, "part": part, "date": day, "device": about["device"], "versions": about["versions"],
                   "ceilings_ns": about.get("ceilings", {}), "tilewright": about["tilewright"],
                   "command": f"PART={part} bench/gpu/run", "protocol": protocol.__doc__, "warm_ms": protocol.WARM_MS,
                   "sample_ms": protocol.SAMPLE_MS, "samples": protocol.SAMPLES, "jobs": pool.JOBS,
                   "sets": SETS, "absent": about.get("absent", {}), "rows": records}, file, indent=1)
        file.write("\n")
    return os.path.relpath(path, ROOT) if path.startswith(ROOT) else os.path.abspath(path)


def publish_alone(part, tw, records):
    """For scripts that measure by themselves."""
    machine = Machine()
    return publish(part, {"device": machine.device, "versions": machine.versions, "tilewright": tw.version}, records)


def name_of(case):
    plan = hashlib.sha256((table.plan_of(case)[0] or "").encode()).hexdigest()[:8]
    return " ".join([case.kernel, case.elem, table.shape(case), str(SETS), plan, *sorted(WANTED_PEERS)])


def last_seconds(part):
    """{(kernel, type, shape): (prepare, measure)}: what the newest table that knows them says."""
    found = {}
    for path in sorted(glob.glob(os.path.join(RESULTS, f"*-{part}-*.json"))):
        with open(path, encoding="utf-8") as file:
            for row in json.load(file)["rows"]:
                if "prepare_s" in row and "measure_s" in row:
                    found[row["kernel"], row["type"], row["shape"]] = row["prepare_s"], row["measure_s"]
    return found


START_S, PREPARE_S, ORACLE_S = 15, 6, 1.7e-6  # a worker's start; a case; an element of a sum that is judged whole


def expected(case, known_s):
    """Seconds to prepare and to measure a case."""
    seconds = known_s.get((case.kernel, case.elem, table.shape(case)))
    if seconds:
        return seconds
    peers = 1 if case.kernel == "gemm" else len(FAMILIES)
    each = (protocol.WARM_MS + protocol.SAMPLES * protocol.SAMPLE_MS) / 1000
    whole = case.dims[0] * case.dims[1] * ORACLE_S if case.dims[0] == 1 else 0
    return PREPARE_S + whole, (1 + peers) * each + 0.5


class Schedule:
    """Cases that the budget allows, the longest to prepare first, and the seconds that they are thought to take."""

    def __init__(self, part, cases, budget):
        known_s, total = last_seconds(part), 0.0
        self.rows, self.left = [], []
        for case in cases:
            prepare, measure = expected(case, known_s)
            if self.prepare_s([*self.rows, (case, prepare, measure)]) + total + measure > budget:
                self.left.append(case)
            else:
                total += measure
                self.rows.append((case, prepare, measure))
        self.rows.sort(key=lambda row: -row[1])
        self.measure_s = total

    @staticmethod
    def prepare_s(rows):
        """Side by side: no less than the longest, nor than the sum over the processes."""
        every = [prepare for _, prepare, _ in rows]
        return START_S + max([sum(every) / pool.JOBS, *every]) if every else 0.0

    def show(self):
        for case, prepare, measure in self.rows:
            print(f"{case.kernel:19}{case.elem:5}{table.shape(case):>15}  prepare {prepare:6.1f} s  measure {measure:5.1f} s")
        prepare = self.prepare_s(self.rows)
        print(f"{len(self.rows)} cases, {pool.JOBS} processes: prepare {prepare:.0f} s, then measure {self.measure_s:.0f} s, "
              f"{prepare + self.measure_s:.0f} s in all; {len(self.left)} left for another call", flush=True)


class Run:
    """One part: what is kept, what is measured now."""

    def __init__(self, part):
        self.part, self.kept = part, Kept(STATE, part, ours.find_library())
        self.cases = table.chosen(part)
        self.failed, self.about = {}, None
        self.schedule = Schedule(part, [case for case in self.cases if name_of(case) not in self.kept.records],
                                 float(setting("BUDGET", "1e9")) - (time.monotonic() - START))

    def show(self, case):
        record = self.kept.records[name_of(case)]
        print(line(record), flush=True)
        for peer, note in record["notes"].items():
            if not note.startswith(("absent", "not asked")):
                print(f"    {peer}: {note}", flush=True)

    def tell_about(self, workers):
        """The device, as a worker sees it, and its ceilings, while nobody does anything."""
        if self.about is None:
            self.about = workers.ask_one("about")
            if not self.about:
                return
            self.about["ceilings"] = workers.ask_one("ceilings") if TARGET.startswith("cuda") else {}
            versions, top = self.about["versions"], self.about["ceilings"]
            print(f"device {self.about['device']}, {', '.join(f'{k} {v}' for k, v in versions.items()) or 'no torch'}, "
                  f"Tilewright {self.about['tilewright']}; absent: {self.about['absent'] or 'nothing'}", flush=True)
            if top:
                print(f"ceilings: empty launch {top['launch']:.0f} ns, read {1e-3 / top['read_byte']:.2f} TB/s, copy "
                      f"{1e-3 / top['copy_byte']:.2f} TB/s, FMA {1e-3 / top['flop']:.1f} TFLOP/s", flush=True)
            print(HEAD, flush=True)

    def measure_ready(self, workers):
        order = {name_of(case): k for k, case in enumerate(self.cases)}
        for task in sorted(workers.ready, key=lambda task: order[task.name]):
            if time.monotonic() - START > float(setting("BUDGET", "1e9")):
                return
            record = workers.measure(task) if task in workers.ready else None
            if record:
                judge_times(task.case, record, self.about)
                self.kept.add(task.name, {**record, "about": self.about})
                self.show(task.case)

    def measure(self):
        skip = {name: "not asked" for name in FAMILIES if WANTED_PEERS and name not in WANTED_PEERS}
        workers = pool.Pool([pool.Task(name_of(case), case, skip) for case, _, _ in self.schedule.rows])
        try:
            while workers.waiting and time.monotonic() - START <= float(setting("BUDGET", "1e9")):
                begin = time.monotonic()
                workers.prepare()
                print(f"{len(workers.ready)} cases prepared in {time.monotonic() - begin:.1f} s by {len(workers.workers)} processes", flush=True)
                with pool.Alone():
                    self.tell_about(workers)
                    self.measure_ready(workers)
        finally:
            workers.close()
        self.failed = workers.failed

    def records(self):
        for case in self.cases:
            name = name_of(case)
            if name in self.kept.records:
                yield case, self.kept.records[name]
            elif name in self.failed:
                yield case, {"kernel": case.kernel, "type": case.elem, "shape": table.shape(case), "wanted": case.wanted,
                             "ok": False, "failed": self.failed[name]}

    def end(self):
        """True: all is within."""
        rows = list(self.records())
        for case, row in rows:
            if "failed" in row:
                print(f"{case.kernel:19}{case.elem:5}{table.shape(case):>15}  FAIL {row['failed'][:600]}", flush=True)
        short, left = [row for _, row in rows if not row["ok"]], len(self.cases) - len(rows)
        print(f"{self.part}: {len(rows) - len(short)} within, {len(short)} not, {left} left for another call"
              "   (* slower than its known figure, which counts instead)", flush=True)
        if slowest := table.worst(row for _, row in rows):
            names = ",".join(table.label_of(row) for row in slowest)
            print(f"{self.part}: furthest from what is wanted: {names}; make bench-gpu PART=profile CASES={names}", flush=True)
        about = self.about or next((row["about"] for _, row in rows if "about" in row), None)
        if about and about["torch"] and TARGET == "cuda" and len(rows) == len(table.cases(self.part)):
            plain = [{key: value for key, value in row.items() if key != "about"} for _, row in rows]
            print(f"{self.part}: {publish(self.part, about, plain)}", flush=True)
        return not short and not left


def run_part(part):
    run = Run(part)
    print(f"{part}: {len(run.cases)} cases, {len(run.cases) - len(run.schedule.rows) - len(run.schedule.left)} measured before", flush=True)
    if setting("DRY", ""):
        run.schedule.show()
        return True
    if len(run.schedule.rows) + len(run.schedule.left) < len(run.cases):
        print(HEAD)
        for case in run.cases:
            if name_of(case) in run.kept.records:
                run.show(case)
    run.measure()
    return run.end()


def main():
    parts = setting("PART", "rows,sums,gemm,scan").replace(",", " ").split()
    return int(not all([run_part(part) for part in parts]))


if __name__ == "__main__":
    sys.exit(main())
