#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/cpu/compare.py PART=rows with sleepers.py in torch's place: ours is judged, peers that fail or compute something else are
told and not counted, a copy takes its turns where a case is far, a kernel without a file is a row that says so, nothing is
measured twice, a budget leaves the rest to another call, and what is short ends with exit 1."""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def compare(folder, **settings):
    env = {**os.environ, "PART": "rows", "K": "softmax,argmax", "SHAPES": "17x257", "TYPES": "f32", "STATE": folder, "RESULTS": folder,
           "WARM_MS": "2", "BATCH_MS": "2", "REST_MS": "0", "EVENTS": os.path.join(folder, "events"),
           "PEERS_FILE": os.path.join(HERE, "sleepers.py"), **settings}
    done = subprocess.run([sys.executable, os.path.join(ROOT, "bench/cpu/compare.py")], env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def records(folder):
    with open(os.path.join(folder, "rows.json"), encoding="utf-8") as file:
        return json.load(file)["records"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        status, said = compare(folder, BUDGET="0")
        assert status == 1 and "0 cases, 0 measured now, 2 left for another call" in said, said
        status, said = compare(folder, FAR_BYTES="0")
        assert "2 cases, 4 measured now, 0 left" in said, said
        rows = records(folder)
        assert sorted(rows) == [f"{kernel} f32 17x257 {n}" for kernel in ("argmax", "softmax") for n in (1, 2)], sorted(rows)
        for name, row in rows.items():
            assert row["verdict"].startswith("right"), row["verdict"]
            assert set(row["median_ns"]) == {"tilewright", "sleeps", "copy"}, sorted(row["median_ns"])
            assert all(len(samples) == 9 for samples in row["samples_ns"].values()), name
            assert row["notes"] == {"fails": "failed: RuntimeError: out of registers",
                                    "differs": "its result is 0.5 of the greatest value apart from ours"}, row["notes"]
            assert row["best_peer"] == "sleeps" and 0.5e6 < row["median_ns"]["sleeps"] < 20e6, row["median_ns"]
            assert abs(row["ratio"] * row["median_ns"]["sleeps"] - row["median_ns"]["tilewright"]) < 1e-6 * row["median_ns"]["sleeps"]
            assert row["bytes"] == (17 * 257 * 8 if row["case"].startswith("softmax") else 17 * 257 * 4 + 17 * 8), row["bytes"]
        assert "geometric mean" not in said and "least part of the copy rate" in said, said
        with open(os.path.join(folder, "events"), encoding="utf-8") as file:
            asked = file.read()
        assert "sleeps softmax 1\n" in asked and "sleeps softmax 2\n" in asked, asked
        status, said = compare(folder, FAR_BYTES="0")
        assert "2 cases, 0 measured now, 0 left" in said, said
        status, said = compare(folder, K="softmax", THREADS="1", FAR_BYTES="1000000", STATE=os.path.join(folder, "other"))
        assert status == 0 and "copy" not in said and "ok   1 thread(s), worst ratio (softmax f32 17x257 to sleeps)" in said, said
        status, said = compare(folder, PEERS="nobody")
        assert status == 3 and "no peer" in said, said
    print("ok   bench/cpu/compare.py PART=rows with doubles of peers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
