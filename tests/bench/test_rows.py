#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/cpu/compare.py PART=rows with sleepers.py in torch's place: ours is judged, peers that fail or compute something else are
told and not counted, a copy takes its turns where a case is far, a kernel without a file is a row that says so, nothing is
measured twice, a budget leaves the rest to another call, and what is short, or asked for of a peer that is not here, ends with
exit 1. A case gives its kernel scalars, and peers a label of their own; PART=threads needs no peer; torch_peers.py has a function for
every label."""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [ROOT, os.path.join(ROOT, "bench/cpu")]
import cases as table
import sleepers
from bench.peers import torch_peers


def run_bench(folder, **settings):
    env = {**os.environ, "PART": "rows", "K": "softmax,argmax", "SHAPES": "17x257", "TYPES": "f32", "STATE": folder, "RESULTS": folder,
           "TUNE": "0", "WARM_MS": "2", "BATCH_MS": "2", "REST_MS": "0", "EVENTS": os.path.join(folder, "events"),
           "PEERS_FILE": os.path.join(HERE, "sleepers.py"), **settings}
    done = subprocess.run([sys.executable, os.path.join(ROOT, "bench/cpu/compare.py")], env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def records(folder, part="rows"):
    with open(os.path.join(folder, f"{part}.json"), encoding="utf-8") as file:
        return json.load(file)["records"]


def check_labels():
    for name, part in table.PARTS.items():
        missing = {case.label for case in part.cases} - set(torch_peers.FUNCTIONS)
        assert not missing, f"PART={name}: torch_peers.py has no function for {sorted(missing)}"
        named = [table.name(case) for case in part.cases]
        assert len(set(named)) == len(named), f"PART={name}: two cases of one name"
        assert all(words in named for words in part.threads), f"PART={name}: {part.threads} are not all cases"


def check_attention(folder):
    """A small one of those of PART=attention: a scalar without default, and what peers call it."""
    os.environ.update(WARM_MS="1", BATCH_MS="1", REST_MS="0", EVENTS=os.path.join(folder, "events"))
    import compare as bench  # it takes its settings now
    case = table.attention("f32", True, 2, 64, 16)
    mine, peers = bench.Ours(bench.ours.Tilewright(), case, None), sleepers.peers()[:1]
    row = bench.run_case(mine, case, sleepers, peers, 1, {})
    mine.kernel.release()
    assert row["case"] == "causal_attention f32 2x64x64x16" and row["verdict"].startswith("right,"), row
    assert row["bytes"] == 4 * 2 * 64 * 16 * 4 and "CAUSAL=true" in row["plan"] and row["ratio"] > 0, row
    with open(os.path.join(folder, "events"), encoding="utf-8") as file:
        assert "sleeps causal_attention 1\n" in file.read()


def check_entry(folder):
    """A small gemm by its exported entry, and one with a scalar and workspace; an entry that computes nothing is told."""
    status, said = run_bench(folder, PART="gemm", K="gemm", SHAPES="32x32x32", PEERS="sleeps")
    assert status == 0 and "1 cases, 2 measured now" in said, said
    for row in records(folder, "gemm").values():
        assert row["kernels"]["tilewright"] == "exported entry" and row["verdict"].startswith("right"), row
    import compare as bench
    case = table.attention("bf16", False, 2, 64, 16)._replace(entry=True)
    mine = bench.Ours(bench.ours.Tilewright(), case, None)
    assert mine.step() is mine.entry and mine.entry() == 0 and mine.verdict().startswith("right"), mine.verdict()
    mine.entry = lambda: 0
    assert mine.verdict() == "WRONG the exported entry gives other bits", mine.verdict()
    mine.kernel.release()


def check_threads(folder):
    with open(os.path.join(folder, "none.py"), "w", encoding="utf-8") as file:
        file.write("absent = {'all': 'there are none'}\n\n\ndef peers():\n    return []\n")
    status, said = run_bench(folder, PART="threads", SHAPES="", K="softmax", PEERS_FILE=os.path.join(folder, "none.py"))
    gain = re.search(r"^(ok   |SHORT )softmax f32 1024x1024, two threads over one: ([0-9.]+), wanted >= 1.6$", said, re.M)
    assert gain and "worst" not in said and (float(gain[2]) >= 1.6) == (gain[1] == "ok   ") == (status == 0), said
    times = {row["threads"]: row["median_ns"] for row in records(folder, "threads").values()}
    assert all(set(medians) == {"tilewright"} for medians in times.values()), times
    assert abs(times[1]["tilewright"] / times[2]["tilewright"] - float(gain[2])) < 1e-3, times


def check_tuned(folder):
    """What runs is the winner that the store has; where there is none, a note says so."""
    state = os.path.join(folder, "tuned")
    status, said = run_bench(folder, K="softmax", THREADS="1", PEERS="sleeps", STATE=state, TUNE="60")
    row = records(state)["softmax f32 17x257 1"]
    assert status == 0 and "tuning" not in row["notes"] and row["verdict"].startswith("right"), said
    tool = os.environ.get("TW_TOOL") or os.path.join(ROOT, "build/release/tilewright")
    best = subprocess.run([tool, "run", os.path.join(ROOT, "kernels/softmax.tile"), "--set", "T=f32,R=17,W=257", "--in", "X=@normal:1", "--plan",
                           "best", "--threads", "1", "--store", os.path.join(state, "store"), "--json"], capture_output=True, text=True, check=True)
    best = json.loads(best.stdout)
    assert best["stored"] and best["plan"] == row["plan_hash"], (best, row["plan_hash"])
    status, said = run_bench(folder, K="softmax", THREADS="1", PEERS="sleeps", STATE=os.path.join(folder, "cut"), TUNE="0.001")
    row = records(os.path.join(folder, "cut"))["softmax f32 17x257 1"]
    assert status == 0 and row["notes"]["tuning"].startswith("the default plan runs: "), row["notes"]


def main():
    check_labels()
    with tempfile.TemporaryDirectory() as folder:
        status, said = run_bench(folder, BUDGET="0")
        assert status == 1 and "0 cases, 0 measured now, 2 left for another call" in said, said
        status, said = run_bench(folder, FAR_BYTES="0")
        assert "2 cases, 4 measured now, 0 left" in said, said
        rows = records(folder)
        assert sorted(rows) == [f"{kernel} f32 17x257 {n}" for kernel in ("argmax", "softmax") for n in (1, 2)], sorted(rows)
        for name, row in rows.items():
            assert row["verdict"].startswith("right"), row["verdict"]
            assert set(row["median_ns"]) == {"tilewright", "sleeps", "copy"}, sorted(row["median_ns"])
            assert all(len(samples) == 9 for samples in row["samples_ns"].values()), name
            assert row["notes"] == {"fails": "failed: RuntimeError: out of registers",
                                    "differs": "its result is 0.5 of the greatest value apart from ours"}, row["notes"]
            assert row["kernels"] == {"sleeps": f"nap {row['threads']}"}, row["kernels"]
            assert row["best_peer"] == "sleeps" and 0.5e6 < row["median_ns"]["sleeps"] < 20e6, row["median_ns"]
            assert abs(row["ratio"] * row["median_ns"]["sleeps"] - row["median_ns"]["tilewright"]) < 1e-6 * row["median_ns"]["sleeps"]
            assert row["bytes"] == (17 * 257 * 8 if row["case"].startswith("softmax") else 17 * 257 * 4 + 17 * 8), row["bytes"]
        assert "SHORT 2 thread(s), geometric mean of 0 ratios to torch, wanted <= 0.5\n" in said and "least part of the copy rate" in said, said
        with open(os.path.join(folder, "events"), encoding="utf-8") as file:
            asked = file.read()
        assert "sleeps softmax 1\n" in asked and "sleeps softmax 2\n" in asked, asked
        status, said = run_bench(folder, FAR_BYTES="0")
        assert "2 cases, 0 measured now, 0 left" in said, said
        status, said = run_bench(folder, K="softmax", THREADS="1", PEERS="sleeps", FAR_BYTES="1000000", STATE=os.path.join(folder, "other"))
        assert status == 0 and "copy" not in said and "ok   1 thread(s), worst ratio (softmax f32 17x257 to sleeps; 0 of 1 are above)" in said, said
        assert "geometric mean" not in said, said
        status, said = run_bench(folder, PEERS="nobody")
        assert status == 3 and "no peer" in said, said
        check_attention(folder)
        check_entry(folder)
        check_threads(folder)
        check_tuned(folder)
    print("ok   bench/cpu/compare.py with doubles of peers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
