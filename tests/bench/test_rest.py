#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/cpu/compare.py rests before each batch until threads that spin before they sleep have ended, as those of some libraries do;
where one never does, the row says so."""
import os
import sys
import threading
import time

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [ROOT, os.path.join(ROOT, "bench/cpu")]
os.environ.update(WARM_MS="1", BATCH_MS="1", REST_MS="20")
import compare as bench


def spinner(seconds):
    end = time.monotonic() + seconds

    def spin():
        while time.monotonic() < end:
            pass
    thread = threading.Thread(target=spin)
    thread.start()
    return thread


def main():
    began, thread = time.monotonic(), spinner(0.5)
    assert bench.settle() and time.monotonic() - began > 0.5
    thread.join()
    bench.ROUNDS, bench.AT_MOST_S = 1, 0.05
    for seconds, told in ((0, False), (3, True)):
        notes, thread = {}, spinner(seconds)
        bench.measure({"naps": lambda: time.sleep(0.001)}, time.perf_counter_ns, notes)
        thread.join()
        assert ("went on for 0.05 s" in notes.get("rest", "")) == told, notes
    print("ok   bench/cpu/compare.py waits for threads that spin")
    return 0


if __name__ == "__main__":
    sys.exit(main())
