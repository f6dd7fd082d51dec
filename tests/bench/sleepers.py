# SPDX-License-Identifier: Apache-2.0
"""Peers for bench/cpu/compare.py (PEERS_FILE) that need nothing: one sleeps for a known time, one fails, one computes something
else, one does not know the kernel."""
import os
import time

absent = {"torch": "a double has none"}
TAKES_S = 1e-3


class Peer:
    def __init__(self, name):
        self.name, self.count = name, 0

    def about(self):
        return f"a double of {self.name}"

    def threads(self, count):
        self.count = count

    def ran(self):
        return f"nap {self.count}"

    def step(self, label, arrays):
        with open(os.environ["EVENTS"], "a", encoding="utf-8") as file:
            file.write(f"{self.name} {label} {self.count}\n")
        if self.name == "fails":
            raise RuntimeError("out of registers")
        return None if self.name == "knows none" else self.sleep

    def sleep(self):
        time.sleep(TAKES_S)
        spent = time.thread_time_ns() + TAKES_S * 1e9  # a thread that sleeps spends no time of a processor
        while time.thread_time_ns() < spent:
            pass
        return self.name


def difference(result, array):
    return 0.5 if result == "differs" and array.bytes else 0.0


def peers():
    return [Peer(name) for name in ("sleeps", "fails", "differs", "knows none")]
