#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/gpu/compare.py on the CPU with peers.py: cases are prepared side by side and measured one by one with nothing beside them,
a peer that is absent, fails, crashes or hangs is told in its row, and a second run measures nothing anew."""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
KERNELS = ("softmax", "layernorm", "rmsnorm", "argmax", "row_max")
CASES = ",".join(f"{kernel}:f32:128x1024" for kernel in KERNELS)


def compare(folder, **settings):
    env = {**os.environ, "TARGET": "cpu", "PART": "rows", "CASES": CASES, "STATE": folder, "RESULTS": folder, "JOBS": "3",
           "LIMIT": "4", "WARM_MS": "5", "SAMPLE_MS": "10", "EVENTS": os.path.join(folder, "events"),
           "PEERS_FILE": os.path.join(HERE, "peers.py"), **settings}
    done = subprocess.run([sys.executable, os.path.join(ROOT, "bench/gpu/compare.py")], env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def records(folder):
    with open(os.path.join(folder, "rows.json"), encoding="utf-8") as file:
        return {record["kernel"]: record for record in json.load(file)["records"].values()}


def check_rows(rows):
    assert set(rows) == set(KERNELS), sorted(rows)
    for kernel, record in rows.items():
        assert record["oracle"].startswith("right") and record["measured_as_judged"], record
        assert record["contenders"]["triton"]["configuration"] == "triton quick", kernel
        assert len(record["contenders"]["ours"]["samples_ns"]) == 7, kernel
    assert set(rows["softmax"]["contenders"]) == {"ours", "torch", "torch.compile", "triton"}
    told = {"layernorm": ("torch.compile", "crashed: SIGABRT"), "rmsnorm": ("torch.compile", "crashed: SIGSEGV"),
            "argmax": ("torch", "nothing was heard for 4 s"), "row_max": ("torch", "failed: RuntimeError: out of registers")}
    for kernel, (peer, why) in told.items():
        assert rows[kernel]["notes"].get(peer) == why, rows[kernel]["notes"]
        assert peer not in rows[kernel]["contenders"], kernel
    for name, seconds in (("torch", 4e-4), ("torch.compile", 2e-4)):
        assert rows["softmax"]["contenders"][name]["median_ns"] > seconds * 1e9, rows["softmax"]["contenders"][name]
    assert rows["softmax"]["best"] == "triton", rows["softmax"]["best"]


def check_times(folder):
    """Made side by side; while one case is measured nothing else is done."""
    with open(os.path.join(folder, "events"), encoding="utf-8") as file:
        events = [line.split() for line in file]
    made = [(float(begin), float(end), pid) for kind, begin, end, pid in events if kind == "make"]
    assert any(a[2] != b[2] and a[0] < b[1] and b[0] < a[1] for a in made for b in made), "nothing was made side by side"
    measured = {}
    for kind, when, kernel, pid in events:
        if kind == "call":
            measured.setdefault((kernel, pid), []).append(float(when))
    spans = sorted((min(times), max(times)) for times in measured.values())
    assert all(a[1] < b[0] for a, b in zip(spans, spans[1:])), f"two cases were measured at a time: {spans}"
    for begin, end in spans:
        assert not [m for m in made if m[0] < end and begin < m[1]], "something was made while a case was measured"


def main():
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        status, said = compare(folder, DRY="1")
        assert status == 0 and "5 cases, 3 processes: prepare " in said and not os.path.exists(os.path.join(folder, "rows.json")), said
        status, said = compare(folder)
        assert "rows: " in said and "0 left for another call" in said and "crashed" in said, said
        check_rows(records(folder))
        check_times(folder)
        size = os.path.getsize(os.path.join(folder, "events"))
        _, said = compare(folder)
        assert "5 measured before" in said and os.path.getsize(os.path.join(folder, "events")) == size, said
        status, said = compare(folder, BUDGET="1", WARM_MS="6", SETS="2")
        assert status == 1 and "5 left for another call" in said, said
    print("ok   cases are prepared side by side, measured alone; peers that go wrong are rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
