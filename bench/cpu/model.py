#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make bench-cpu PART=model: what the cost model is worth on this machine, whether tunings agree, and two threads over one, by
the commands of STEPS. Each prints its targets beside what it measured (docs/commands.md).

A step that ran to its end is kept in STATE/model.json (default build/bench-cpu) and does not run again with the same library;
BUDGET=seconds ends a call, the next one goes on: a step that cannot go on later begins only if there is time for it. When all ran,
what they said goes to bench/results/ (RESULTS=folder). STEPS_FILE=file.py takes other steps.
Exit: 0 all within, 1 a step is short, failed or is left."""
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from collections import namedtuple

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [ROOT, os.path.join(ROOT, "bench/cpu")]
import results
from bench.peers import ours
from bench.peers.kept import Kept

# command: from the root; settings: its environment; seconds: what it takes at most on a quiet machine (0: it keeps what it has done in
# STATE, and takes a BUDGET)
Step = namedtuple("Step", "name command settings seconds")
STEPS = (
    Step("regret of the model", "tools/calibrate", {"PART": "regrets", "BUDGET": "300s"}, 330),
    Step("winner, worst plan, model turned around", "tools/calibrate", {"PART": "gemm"}, 420),
    Step("softmax tuned again", "tools/retune", {"K": "softmax"}, 0),
    Step("gemm tuned again", "tools/retune", {"K": "gemm"}, 0),
    Step("two threads over one", "bench/cpu/compare.py", {"PART": "threads"}, 0),
)
SCHEMA = "tilewright/bench-cpu-model/1"
# settings of a call that must not reach a step
OURS = ("PART", "K", "N", "SHAPES", "TYPES", "PEERS", "THREADS", "BUDGET", "SMALL", "PLANS")
START = time.monotonic()
STATE = os.environ.get("STATE") or os.path.join(ROOT, "build/bench-cpu")
BUDGET = float(os.environ.get("BUDGET") or 1e9)


def find_steps():
    path = os.environ.get("STEPS_FILE")
    if not path:
        return STEPS
    spec = importlib.util.spec_from_file_location("steps_file", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [Step(*row) for row in module.STEPS]


def left_s():
    return BUDGET - (time.monotonic() - START)


def run(step):
    """Its exit status and what it said, line by line; printed as it comes."""
    env = {name: value for name, value in os.environ.items() if name not in OURS}
    env.update(STATE=STATE, **step.settings)
    if not step.seconds:
        env["BUDGET"] = f"{left_s():.0f}"
    said, begin = [], time.monotonic()
    with subprocess.Popen([sys.executable, os.path.join(ROOT, step.command)], cwd=ROOT, env=env, text=True, errors="replace",
                          stdout=subprocess.PIPE) as child:
        for line in child.stdout:
            print(line, end="", flush=True)
            said.append(line.rstrip("\n"))
    return {"step": step.name, "command": " ".join([*(f"{k}={v}" for k, v in step.settings.items()), step.command]),
            "exit": child.returncode, "seconds": round(time.monotonic() - begin, 1), "said": said}


def goes_on(record):
    """True: there is more of it for another call."""
    return any(int(n) for n in re.findall(r"(\d+) left for another call", "\n".join(record["said"])))


def main():
    steps = find_steps()
    kept = Kept(STATE, "model", ours.find_library(), json.dumps([SCHEMA, steps]))
    done, begun = [], False
    for step in steps:
        record = kept.records.get(step.name)
        if record is None:
            if left_s() <= (step.seconds if begun else 0):
                continue
            print(f"{step.name}: {step.command}", flush=True)
            record, begun = run(step), True
            if record["exit"] in (0, 1) and not goes_on(record):
                kept.add(step.name, record)
            elif record["exit"] in (0, 1):
                continue
        done.append(record)
    for record in done:
        print(f"{'ok   ' if record['exit'] == 0 else 'SHORT'} {record['step']}: exit {record['exit']} after {record['seconds']} s", flush=True)
    short, left = sum(record["exit"] != 0 for record in done), len(steps) - len(done)
    print(f"model: {len(done) - short} steps within, {short} short or failed, {left} left for another call", flush=True)
    if not left and all(record["exit"] in (0, 1) for record in done):
        results.publish(SCHEMA, "model", {"steps": done})
    return 1 if short or left else 0


if __name__ == "__main__":
    sys.exit(main())
