#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ours and the peers in one process, on the same arrays, in turns: each contender runs a batch of at least BATCH_MS a round, the order turns
round by round, the median of ROUNDS batches counts. Threads that wait for work spin for a while before they sleep (OpenBLAS's 2^28
cycles, 0.13 s at 2.1 GHz), and would take a core from the next contender: before each batch all rest until none of them has run for
REST_MS, then who is next warms up. Ours is called through ctypes, peers by their own bindings, so that small cases hold that too; where
such a call takes as long as the kernel (gemm 32^3), ours is its exported entry through ctypes (PART=entry calls it and OpenBLAS from C).
One thread by its own processor time, then two by the wall's (THREADS=1,2). Ours is judged by the oracle, in a process beside this one
that is done before anything is timed; more threads of one plan must give the bits that were judged, and so must the exported entry. Where
a case moves more than the caches hold, a copy of as many bytes (memmove, a part a thread) takes its turns too.

Each case is tuned before it is measured, for each number of threads, TUNE seconds at most (default 15; 0: default plans), in the
store STATE/store; where tuning ends without a winner the default plan runs, and a note says so.

Prints a line a case: microseconds of a call (less is better), the ratio to the best peer (less is better), the verdict, what
a peer that says so runs. Cases that are measured are kept in STATE/PART.json (default build/bench-cpu) and not measured again with the same library and peers;
BUDGET=seconds ends a call, the next one goes on. K=label,.., SHAPES=RxW,.., TYPES=T,.., N=cases limit a run, PEERS=names the peers,
PEERS_FILE=file.py takes others. When all ran, the table goes to bench/results/ (RESULTS=folder).
Exit: 0 all within, 1 short, wrong or left, 3 no peer."""
import ctypes
import importlib.util
import json
import math
import os
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [ROOT, os.path.join(ROOT, "bench/cpu")]
import cases as table
import exported
import results
from bench.peers import cpu_peers, ours
from bench.peers.arrays import Array
from bench.peers.kept import Kept

START = time.monotonic()
SCHEMA = "tilewright/bench-cpu/3"


def setting(name, default):
    return os.environ.get(name) or default


def words(name):
    return setting(name, "").replace(",", " ").split()


ROUNDS, BATCH_MS, WARM_MS, REST_MS = 9, *(float(setting(name, text)) for name, text in
                                          (("BATCH_MS", "40"), ("WARM_MS", "200"), ("REST_MS", "50")))
STATE = setting("STATE", os.path.join(ROOT, "build/bench-cpu"))
TUNE_S = float(setting("TUNE", "15"))
FAR_BYTES = int(setting("FAR_BYTES", str(table.FAR_BYTES)))
DIFFERENT = 0.03  # of the greatest value: a peer that is further from ours than a narrow type explains computes something else


def find_peers():
    """The peers' module: bench/peers/cpu_peers.py, or PEERS_FILE with the same names."""
    path = os.environ.get("PEERS_FILE")
    if not path:
        return cpu_peers
    spec = importlib.util.spec_from_file_location("peers_file", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sets(*values):
    return [word for some in values for name, value in some.items() for word in ("--set", f"{name}={value}")]


def tuned(tw, case, threads, notes):
    """The winner's text of `tilewright tune`; None: the default plan."""
    if not TUNE_S:
        return None
    tool = os.environ.get("TW_TOOL") or os.path.join(os.path.dirname(tw.path), "tilewright")
    words = [tool, "tune", kernel_file(case), *sets(case.types, case.dims, case.scalars), "--threads", str(threads), "--budget",
             f"{TUNE_S * 1000:.0f}ms", "--store", os.path.join(STATE, "store"), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        said = {"rows": [], "diagnostics": [{"message": done.stderr.strip()[:200]}]}
    won = [row["text"] for row in said.get("rows", []) if row["winner"]]
    if not won:
        why = "; ".join(d["message"] for d in said["diagnostics"]) or f"no winner in {TUNE_S:g} s"
        notes["tuning"] = f"the default plan runs: {why}"
    return won[0] if won else None


class Inputs:
    """A case's arrays by name: plans of one case share them."""

    def __init__(self, kernel):
        self.by_name, self.results = {}, []
        for k, arg in enumerate(kernel.args):
            array = Array(kernel.elem(k), kernel.shape(k), kernel.bytes(k))
            if arg.role == ours.IN:
                kernel.fill(k, k + 1, array.address)
            else:
                self.results.append(array)
            self.by_name[arg.name.decode()] = array
        self.bytes = sum(x.bytes for x in self.by_name.values())


class Ours:
    """A case by a plan (None: the default one)."""

    def __init__(self, tw, case, plan, arrays=None):
        self.kernel = tw.compile(kernel_file(case), "cpu", case.types, case.dims, plan=plan)
        self.arrays = arrays or Inputs(self.kernel)
        self.kernel.set_scalars(**case.scalars)
        self.call = self.kernel.call([x.address for x in self.arrays.by_name.values()])
        self.entry = self.exported(case, plan) if case.entry else None
        self.judged = self.asked = None

    def exported(self, case, plan):
        given = {**{f"n_{name}": value for name, value in case.dims.items()}, **{f"s_{name}": value for name, value in case.scalars.items()},
                 **{f"a_{name}": x.address for name, x in self.arrays.by_name.items()}}
        return exported.entry(kernel_file(case), sets(case.types, case.dims), plan, given)

    def threads(self, count):
        self.call.raw.threads = count

    def step(self):
        if self.entry:
            return self.entry
        fn, kernel, call = self.call.run_fn, self.kernel.kernel, ctypes.byref(self.call.raw)
        return lambda: fn(kernel, call)

    def run(self, call=None):
        """Its bits; call: another than the library's."""
        for x in self.arrays.results:
            x.poison()
        (call or self.call.run)()
        return [x.content() for x in self.arrays.results]

    def ask(self):
        """The oracle, in a process of its own, which has the arrays as they are now."""
        bits, arrays = self.run(), self.arrays.by_name.values()
        before = [x.address if arg.role == ours.IN else None for arg, x in zip(self.kernel.args, arrays)]
        self.asked = bits, Aside(lambda: ours.oracle_says(lambda: self.kernel.judge(before, [x.address for x in arrays])))

    def wait(self):
        if not self.asked and not self.judged:
            self.ask()
        if self.asked:
            self.judged, self.asked = (self.asked[0], self.asked[1].said()), None

    def verdict(self):
        """Of the oracle, which takes a sample where the case is large; later calls, and the exported entry, must give the same bits."""
        self.wait()
        if self.entry and self.run(self.entry) != self.judged[0]:
            return "WRONG the exported entry gives other bits"
        return self.judged[1] if self.run() == self.judged[0] else "WRONG other bits than those that were judged"


class Aside:
    """A text that a child process makes, which has the memory as it is now."""

    def __init__(self, make):
        self.end, end = os.pipe()
        sys.stdout.flush()
        with warnings.catch_warnings():  # that others' threads are not there: the child calls the oracle alone
            warnings.simplefilter("ignore", DeprecationWarning)
            self.child = os.fork()
        if self.child == 0:
            try:
                os.write(end, make().encode()[:4096])
            finally:
                os._exit(0)
        os.close(end)

    def said(self):
        with open(self.end, encoding="utf-8", errors="replace") as file:
            text = file.read()
        status = os.waitpid(self.child, 0)[1]
        return text or f"UNJUDGED the judge ended with status {status}"


class Copy:
    """As many bytes as a case moves: half of them read, half written."""

    def __init__(self, size, threads):
        self.pool = ThreadPoolExecutor(threads)
        part = size // 2 // threads
        self.source, self.target = (Array("u8", (size // 2,), size // 2) for _ in range(2))
        ctypes.memset(self.source.address, 1, size // 2)
        self.parts = [(self.target.address + k * part, self.source.address + k * part, part) for k in range(threads)]

    def step(self):
        if len(self.parts) == 1:
            return lambda: ctypes.memmove(*self.parts[0])
        return lambda: list(self.pool.map(lambda part: ctypes.memmove(*part), self.parts))


def kernel_file(case):
    return os.path.join(ROOT, f"kernels/{case.kernel}.tile")


def batch(step, calls, clock):
    begin = clock()
    for _ in range(calls):
        step()
    return (clock() - begin) / calls


QUIET, AT_MOST_S = 0.05, 3.0


def settle():
    """Rests until this process has used nearly no processor time for REST_MS. False: someone never sleeps."""
    end = time.monotonic() + AT_MOST_S
    while True:
        before = time.process_time_ns()
        time.sleep(REST_MS / 1000)
        if time.process_time_ns() - before <= QUIET * REST_MS * 1e6 or REST_MS == 0:
            return True
        if time.monotonic() > end:
            return False


def measure(steps, clock, notes):
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
            if not settle():
                notes["rest"] = f"threads of this process went on for {AT_MOST_S:g} s; who was measured next had a core less"
            batch(steps[name], math.ceil(calls[name] / 8), clock)
            samples[name].append(batch(steps[name], calls[name], clock))
    return {name: sorted(s)[len(s) // 2] for name, s in samples.items()}, samples


def join_peers(mine, case, module, peers, record):
    """{name: step} of those that compute the same as ours just did; what they run, and why others do not, is noted."""
    steps, threads, kernels, notes = {}, record["threads"], record["kernels"], record["notes"]
    for peer in peers:
        try:
            peer.threads(threads)
            step = peer.step(case.label, mine.arrays.by_name)
            if step is None:
                continue
            result, apart = step(), 0.0
            if result is not None:
                apart = module.difference(result, mine.arrays.results[0])
            if apart <= DIFFERENT:
                steps[peer.name] = step
                if peer.ran():
                    kernels[peer.name] = peer.ran()
            else:
                notes[peer.name] = f"its result is {apart:.3g} of the greatest value apart from ours"
        except Exception as why:  # a peer that fails is told, and the case goes on
            notes[peer.name] = f"failed: {type(why).__name__}: {str(why)[:200]}"
    return steps


def run_case(mine, case, module, peers, threads, notes, asked=()):
    """The record; asked: all plans of the case, which the oracle may be at work on while peers get ready."""
    mine.threads(threads)
    mine.run()
    record = {"case": table.name(case), "type": case.types["T"], "threads": threads, "bytes": mine.arrays.bytes,
              "kernels": {"tilewright": "exported entry"} if mine.entry else {}, "notes": notes}
    beside = join_peers(mine, case, module, peers, record)
    for each in asked:
        each.wait()
    record["verdict"] = mine.verdict()
    steps = {"tilewright": mine.step(), **beside}
    if mine.arrays.bytes > FAR_BYTES:
        steps["copy"] = Copy(mine.arrays.bytes, threads).step()
    medians, samples = measure(steps, time.thread_time_ns if threads == 1 else time.perf_counter_ns, notes)
    against = {name: ns for name, ns in medians.items() if name not in ("tilewright", "copy")}
    record.update(median_ns=medians, samples_ns=samples, plan=mine.kernel.text("plan"), plan_hash=mine.kernel.hash)
    if against:
        record["best_peer"] = min(against, key=against.get)
        record["ratio"] = medians["tilewright"] / against[record["best_peer"]]
    if "copy" in medians:
        record["copy_rate"] = medians["copy"] / medians["tilewright"]
    return record


def line(record):
    if "absent" in record:
        return f"{record['case']:32} {record['absent']}"
    times = "  ".join(f"{name} {ns / 1000:.2f}" for name, ns in record["median_ns"].items())
    ratio = f"ratio {record['ratio']:.3f}" if "ratio" in record else "no peer"
    ran = "".join(f"  {peer}: {kernel}" for peer, kernel in record["kernels"].items())
    far = f"  {record['copy_rate']:.2f} of the copy rate" if "copy_rate" in record else ""
    notes = "".join(f"\n    {peer}: {why}" for peer, why in record["notes"].items())
    return (f"{record['case']:32} {record['threads']} thread{'s' if record['threads'] > 1 else ' '}  {times} us  {ratio}{far}  "
            f"{record['verdict']}{ran}{notes}")


def say(what, value, target, good):
    print(f"{'ok  ' if good else 'SHORT'} {what}: {value:.3f}, wanted {target}", flush=True)
    return good


def mean(ratios):
    return math.exp(sum(math.log(r) for r in ratios) / len(ratios))


def judge_threads(part, mine, count):
    """The targets of one number of threads; each printed beside its value."""
    good, who = True, f"{count} thread(s), "
    for peer, elem, most in part.means:
        asked = [r for r in mine if elem in (None, r["type"]) and (peer == "best" or not words("PEERS") or peer in words("PEERS"))]
        ratios = [r["ratio"] if peer == "best" else r["median_ns"]["tilewright"] / r["median_ns"][peer]
                  for r in asked if (peer == "best" and "ratio" in r) or peer in r["median_ns"]]
        what = f"{who}geometric mean of {len(ratios)} ratios{f' of {elem}' if elem else ''} to {peer}"
        if ratios:
            good = say(what, mean(ratios), f"<= {most}", mean(ratios) <= most) and good
        elif asked:
            print(f"SHORT {what}, wanted <= {most}")
            good = False
    ratios = [r for r in mine if "ratio" in r]
    if ratios and part.worst:
        worst, above = max(ratios, key=lambda r: r["ratio"]), sum(r["ratio"] > part.worst for r in ratios)
        good = say(f"{who}worst ratio ({worst['case']} to {worst['best_peer']}; {above} of {len(ratios)} are above)", worst["ratio"],
                   f"<= {part.worst}", above == 0) and good
    far = min((r for r in mine if "copy_rate" in r), key=lambda r: r["copy_rate"], default=None)
    if far and part.copy:
        good = say(f"{who}least part of the copy rate ({far['case']})", far["copy_rate"], f">= {part.copy}",
                   far["copy_rate"] >= part.copy) and good
    return good


def wants_peers(part):
    return bool(part.means or part.worst)


def judge(part, records):
    """True: all is as it is wanted."""
    timed = [r for r in records if "absent" not in r]
    alone = [r["case"] for r in timed if "ratio" not in r and wants_peers(part)]
    if not records:
        print("SHORT no case is named so: see K, SHAPES, TYPES and N")
    if alone:
        print(f"SHORT no peer's result to compare with: {', '.join(sorted(set(alone)))}")
    good = bool(records) and not alone and len(timed) == len(records) and all(r["verdict"].startswith("right") for r in timed)
    for count in sorted({r["threads"] for r in timed}):
        good = judge_threads(part, [r for r in timed if r["threads"] == count], count) and good
    for name, least in part.threads.items():
        times = {r["threads"]: r["median_ns"]["tilewright"] for r in timed if r["case"] == name}
        if 1 in times and 2 in times:
            gain = times[1] / times[2]
            good = say(f"{name}, two threads over one", gain, f">= {least}", gain >= least) and good
    return good


def wanted(case):
    return all(not words(key) or value in words(key) for key, value in
               (("K", case.label), ("SHAPES", case.shape), ("TYPES", case.types["T"])))


class Run:
    """One part: what is kept, what is measured now."""

    def __init__(self, name, tw, module, peers):
        self.name, self.tw, self.module, self.part = name, tw, module, table.PARTS[name]
        self.peers = peers if wants_peers(self.part) else []
        self.cases = [case for case in self.part.cases if wanted(case)][:int(setting("N", "1000"))]
        self.counts = [int(n) for n in setting("THREADS", "1,2").split(",")]
        about = {peer.name: peer.about() for peer in peers}
        self.kept = Kept(STATE, name, tw.path, f"{SCHEMA} tuned {TUNE_S:g} s {json.dumps(about)}")
        self.records = []

    def one(self, case):
        """Records of a case, a number of threads each; False: the time is up."""
        names = {count: f"{table.name(case)} {count}" for count in self.counts}
        if not os.path.exists(kernel_file(case)):
            self.records.append({"case": table.name(case), "absent": f"there is no kernels/{case.kernel}.tile"})
            print(line(self.records[-1]), flush=True)
            return True
        left = [count for count in self.counts if names[count] not in self.kept.records]
        if left and time.monotonic() - START > float(setting("BUDGET", "1e9")):
            return False
        notes, by_plan, arrays = {count: {} for count in left}, {}, None
        plans = {count: tuned(self.tw, case, count, notes[count]) for count in left}
        for count, plan in plans.items():
            if plan not in by_plan:
                by_plan[plan] = Ours(self.tw, case, plan, arrays)
                arrays = by_plan[plan].arrays
                by_plan[plan].threads(count)
                by_plan[plan].ask()
        for count, plan in plans.items():
            self.kept.add(names[count], run_case(by_plan[plan], case, self.module, self.peers, count, notes[count], by_plan.values()))
            print(line(self.kept.records[names[count]]), flush=True)
        self.records += [self.kept.records[key] for key in names.values()]
        for mine in by_plan.values():
            mine.kernel.release()
        return True

    def all(self):
        """True: all is as it is wanted."""
        before = len(self.kept.records)
        done = sum(self.one(case) for case in self.cases)
        good = judge(self.part, self.records)
        left = len(self.cases) - done
        print(f"{self.name}: {done} cases, {len(self.kept.records) - before} measured now, {left} left for another call", flush=True)
        if not left and len(self.cases) == len(self.part.cases) and self.counts == [1, 2]:
            about = {peer.name: peer.about() for peer in self.peers}
            results.publish(SCHEMA, self.name, {"tilewright": self.tw.version, "peers": about, "absent": self.module.absent,
                                                "protocol": __doc__, "tune_s": TUNE_S, "rows": self.records})
        return good and not left


def main():
    tw, module = ours.Tilewright(), find_peers()
    peers, parts = [peer for peer in module.peers() if not words("PEERS") or peer.name in words("PEERS")], words("PART") or ["gemm"]
    if not peers and any(wants_peers(table.PARTS[name]) for name in parts):
        print(f"no peer: {module.absent}")
        return 3
    print(f"{results.hardware()['processor']}, {os.cpu_count()} cores, Tilewright {tw.version}; absent: {module.absent or 'nothing'}")
    for peer in peers:
        print(f"{peer.name}: {peer.about()}", flush=True)
    return int(not all([Run(name, tw, module, peers).all() for name in parts]))


if __name__ == "__main__":
    sys.exit(main())
