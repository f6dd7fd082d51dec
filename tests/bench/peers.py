# SPDX-License-Identifier: Apache-2.0
"""Peers that do nothing for a known time, for bench/gpu/compare.py (PEERS_FILE), and go wrong as the case's kernel says. What they
do, when and in which process is appended to the file EVENTS."""
import os
import signal
import time

absent = {"cuBLAS": "a double has none"}
TAKES_S = {"torch": 4e-4, "torch.compile": 2e-4, "triton slow": 6e-4, "triton quick": 1e-4}
PREPARED = 2  # calls before a peer is measured: the first one, and the one whose result is kept


def note(*words):
    with open(os.environ["EVENTS"], "a", encoding="utf-8") as file:
        file.write(" ".join(str(word) for word in (*words, os.getpid())) + "\n")


class Sleeper:
    def __init__(self, kernel, name):
        self.kernel, self.name, self.calls = kernel, name, 0

    def __call__(self):
        self.calls += 1
        if self.calls > PREPARED:
            if (self.kernel, self.name) == ("rmsnorm", "torch.compile"):
                os.kill(os.getpid(), signal.SIGSEGV)
            if self.calls % 50 == 0:
                note("call", time.monotonic(), self.kernel)
        time.sleep(TAKES_S[self.name])


def contenders(kernel, sets, skip, at):
    for name in TAKES_S:
        family = name.split()[0]
        if family in skip:
            continue
        at(family)
        begin = time.monotonic()
        time.sleep(0.2)
        if (kernel, name) == ("layernorm", "torch.compile"):
            os.abort()
        if (kernel, name) == ("argmax", "torch"):
            time.sleep(60)
        note("make", begin, time.monotonic())
        yield name, RuntimeError("out of registers") if (kernel, name) == ("row_max", "torch") else [Sleeper(kernel, name)] * len(sets)
