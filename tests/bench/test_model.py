#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/cpu/run PART=model with doubles of its steps, and tools/retune with a double of the tool: what ran to its end runs no second
time, what goes on gets the time that is left, what is short or fails ends with exit 1, and only what is whole is published."""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# A tool whose tunings tie a with b; of the seeds in ALONE b wins alone, of those in FAIL nothing.
TOOL = """#!/usr/bin/env python3
import json, os, sys, time
seed = sys.argv[sys.argv.index("--seed") + 1]
with open(os.environ["EVENTS"], "a") as file:
    file.write(seed + "\\n")
time.sleep(float(os.environ.get("TAKES", "0")))
alone = seed in os.environ.get("ALONE", "").split()
rows = [{"plan": "a", "tied": not alone}, {"plan": "b", "tied": True}, {"plan": "c", "tied": False}]
failed = seed in os.environ.get("FAIL", "").split()
print(json.dumps({"winner": None if failed else "b" if alone or seed == "2" else "a", "confirm_ns": 1000.0, "regret": 0.0, "rounds": 5,
                  "disturbed": 1, "rows": rows}))
sys.exit(3 if failed else 0)
"""
STEP = """import os, sys
with open(os.environ["EVENTS"], "a+") as file:
    file.seek(0)
    before = file.read().split()
    file.write(os.environ["NAME"] + "\\n")
print("BUDGET", os.environ.get("BUDGET"), "K", os.environ.get("K"))
if os.environ["NAME"] == "parts":
    print(f"{1 - before.count('parts')} left for another call")
    sys.exit(1 - before.count("parts"))
sys.exit(int(os.environ["EXIT"]))
"""


def call(folder, script, **settings):
    env = {name: value for name, value in os.environ.items() if name not in ("K", "N", "BUDGET", "THREADS")}
    env.update(STATE=folder, RESULTS=folder, EVENTS=os.path.join(folder, "events"), **settings)
    done = subprocess.run([sys.executable, os.path.join(ROOT, script)], env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def events(folder):
    try:
        with open(os.path.join(folder, "events"), encoding="utf-8") as file:
            return file.read().split()
    except FileNotFoundError:
        return []


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o700)
    return path


def retune(folder):
    tool = write(os.path.join(folder, "tool"), TOOL)
    again = {"TW_TOOL": tool, "K": "softmax", "N": "3"}
    status, said = call(folder, "tools/retune", BUDGET="0", **again)
    assert status == 1 and said.endswith("3 left for another call\n") and not events(folder), said
    status, said = call(folder, "tools/retune", BUDGET="1", TAKES="1.5", **again)
    assert status == 1 and "2 left for another call" in said and events(folder) == ["1"], (said, events(folder))
    status, said = call(folder, "tools/retune", FAIL="3", **again)
    assert status == 1 and "FAIL softmax T=f32,R=128,W=1024, tuning 3: target a winner; measured exit 3" in said, said
    assert "tunings that one plan wins or ties: target 3 of 3; measured 2 (b); winners {'a': 1, 'b': 1}" in said, said
    status, said = call(folder, "tools/retune", ALONE="3", **again)  # what failed is tried again
    assert status == 0 and "measured 3 (b); winners {'a': 1, 'b': 2}; 3 of 15 rounds disturbed" in said, said
    assert events(folder) == ["1", "2", "3", "3"], events(folder)
    status, said = call(folder, "tools/retune", **{**again, "N": "4"}, ALONE="4")
    assert status == 0 and events(folder)[4:] == ["4"], said  # b ties every time
    other = os.path.join(folder, "other")
    os.mkdir(other)
    write(tool, TOOL.replace('"b", "tied": True', '"b", "tied": alone'))
    status, said = call(other, "tools/retune", ALONE="2", **again)
    assert status == 1 and "target 3 of 3; measured 2 (a)" in said and events(other) == ["1", "2", "3"], said


def model(folder):
    double = write(os.path.join(folder, "step.py"), STEP)
    rows = [[name, double, {"NAME": name, "EXIT": str(status), **more}, seconds] for name, status, more, seconds in (
        ("quick", 0, {"BUDGET": "7s"}, 60), ("long", 1, {}, 900), ("parts", 0, {}, 0))]
    steps = write(os.path.join(folder, "steps"), f"STEPS = {rows!r}\n")
    os.rename(steps, steps := steps + ".py")
    again = {"PART": "model", "STEPS_FILE": steps, "K": "softmax"}
    status, said = call(folder, "bench/cpu/run", BUDGET="500", **again)
    assert status == 1 and "model: 1 steps within, 0 short or failed, 2 left for another call" in said, said
    assert events(folder) == ["quick", "parts"] and "BUDGET 7s K None" in said, said
    given = [int(line.split()[1]) for line in said.splitlines() if line.startswith("BUDGET ") and "7s" not in line]
    assert len(given) == 1 and 400 < given[0] <= 500, said
    status, said = call(folder, "bench/cpu/run", BUDGET="500", **again)
    assert status == 1 and "model: 2 steps within, 1 short or failed, 0 left" in said, said  # the first of a call begins anyway
    assert events(folder) == ["quick", "parts", "long", "parts"] and "SHORT long: exit 1" in said, said
    [path] = [name for name in os.listdir(folder) if name.startswith("cpu-model-")]
    with open(os.path.join(folder, path), encoding="utf-8") as file:
        found = json.load(file)
    assert [step["exit"] for step in found["steps"]] == [0, 1, 0] and found["steps"][0]["said"] == ["BUDGET 7s K None"], found
    os.remove(os.path.join(folder, path))
    write(steps, f"STEPS = {rows[:1] + [['broken', double, {'NAME': 'broken', 'EXIT': '3'}, 1]]!r}\n")
    for times in (1, 2):
        status, said = call(folder, "bench/cpu/run", **again)
        assert status == 1 and "SHORT broken: exit 3" in said and events(folder).count("broken") == times, said
    assert not [name for name in os.listdir(folder) if name.startswith("cpu-model-")]
    write(steps, f"STEPS = {rows[:1]!r}\n")
    status, said = call(folder, "bench/cpu/run", **again)
    assert status == 0 and "model: 1 steps within, 0 short or failed, 0 left" in said, said


def main():
    for part in retune, model:
        with tempfile.TemporaryDirectory() as folder:
            part(folder)
    print("ok   bench/cpu/run PART=model and tools/retune with doubles")
    return 0


if __name__ == "__main__":
    sys.exit(main())
