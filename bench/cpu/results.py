# SPDX-License-Identifier: Apache-2.0
"""Where what make bench-cpu saw goes: bench/results/cpu-PART-DATE.json (RESULTS=folder)."""
import datetime
import json
import os
import platform
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def hardware():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()
    found = dict(re.findall(r"^(model name|flags|cpu MHz)\s*:\s*(.*)$", text, re.M))
    wanted = [flag for flag in found.get("flags", "").split() if flag.startswith(("avx", "fma", "amx"))]
    return {"processor": found.get("model name", platform.machine()), "cores": os.cpu_count(), "flags": " ".join(wanted)}


def publish(schema, part, body):
    folder = os.environ.get("RESULTS") or os.path.join(ROOT, "bench/results")
    os.makedirs(folder, exist_ok=True)
    day = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    path = os.path.join(folder, f"cpu-{part}-{day}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schema": schema, "part": part, "date": day, "hardware": hardware(), "command": f"make bench-cpu PART={part}",
                   **body}, file, indent=1)
        file.write("\n")
    print(f"{part}: {os.path.relpath(path, ROOT)}", flush=True)
