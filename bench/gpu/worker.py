#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A process that prepares cases and measures them when it is told to (pool.py starts it). JSON, a line a message. It reads
{"op": "prepare", "name": .., "case": [..], "skip": {family: why}}, {"op": "measure", "name": ..}, {"op": "about"} (what is here)
and {"op": "ceilings"}; it answers each with {"done": {..}} or {"failed": "why"}, and says {"at": "torch"} whenever another contender's
turn comes. What others print goes to stderr."""
import json
import os
import sys
import traceback

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [ROOT, os.path.join(ROOT, "bench/gpu")]
ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
import cases as table
import contest
import machine
from bench.peers import ours


class Server:
    def __init__(self):
        self.tw, self.machine, self.held, self.last = ours.Tilewright(), machine.Machine(), {}, None
        if machine.TARGET.startswith("cuda"):
            self.driver = machine.open_driver()

    def say(self, **message):
        ANSWERS.write(json.dumps(message) + "\n")
        ANSWERS.flush()

    def at(self, name):
        if name != self.last:
            self.last = name
            self.say(at=name)

    def about(self, _):
        return {"device": self.machine.device, "versions": self.machine.versions, "tilewright": self.tw.version,
                "torch": self.machine.torch is not None, "absent": contest.peers.absent}

    def ceilings(self, _):
        return machine.ceilings(self.tw)

    def prepare(self, message):
        part, kernel, elem, dims, wanted = message["case"]
        case = table.Case(part, kernel, elem, tuple(dims), wanted)
        self.held[message["name"]] = made = contest.Contest(case, self.tw, self.machine, message["skip"], self.at)
        return {"bytes": made.record["bytes"] * machine.SETS}

    def measure(self, message):
        made = self.held.pop(message["name"])
        try:
            return made.measure()
        finally:
            made.close()

    def serve(self):
        for line in sys.stdin:
            message = json.loads(line)
            try:
                self.say(done=getattr(self, message["op"])(message))
            except Exception as why:  # told; the next message finds the process as it was
                traceback.print_exc()
                self.say(failed=f"{type(why).__name__}: {str(why)[:2000]}")


if __name__ == "__main__":
    Server().serve()
