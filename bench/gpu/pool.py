# SPDX-License-Identifier: Apache-2.0
"""Worker processes (worker.py) that prepare cases side by side, and are then told, one at a time, to measure them: while one
measures, all others wait for a message. One that crashes or says nothing for LIMIT seconds (default 300) is ended; the contender
whose turn it was is left out of that case (our own: the case has failed), the cases that it held are prepared anew."""
import collections
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time

from machine import ROOT, STATE, setting

JOBS, LIMIT = int(setting("JOBS", os.cpu_count())), float(setting("LIMIT", "300"))
HOLD = float(setting("HOLD", "16e9"))  # bytes of arrays of the cases that are prepared at a time; peers' results come on top


class Lost(Exception):
    """A worker is gone. `at`: the contender whose turn it was."""

    def __init__(self, at, why):
        super().__init__(why)
        self.at = at


class Refused(Exception):
    """A worker says that it cannot; it is as it was."""


class Worker:
    def __init__(self, log):
        caches = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton", "CUDA_CACHE_PATH": "cuda"}
        env = {name: os.path.join(os.path.abspath(STATE), folder) for name, folder in caches.items()}
        env.update(TORCHINDUCTOR_COMPILE_THREADS="1", OMP_NUM_THREADS="1")  # the workers are many enough
        self.log = open(log, "w+b")  # pylint: disable=consider-using-with
        self.child = subprocess.Popen([sys.executable, os.path.join(ROOT, "bench/gpu/worker.py")], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=self.log, cwd=ROOT, env={**env, **os.environ},
                                      start_new_session=True)
        self.rest, self.at = b"", "ours"

    def line(self):
        """The next one; None: the worker has ended, or said nothing for too long."""
        deadline = time.monotonic() + LIMIT
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.child.stdout], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self.child.stdout.fileno(), 65536) if ready else b""
            if not part:
                return None
            self.rest += part
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)

    def ask(self, **message):
        try:
            self.child.stdin.write(json.dumps(message).encode() + b"\n")
            self.child.stdin.flush()
        except OSError:
            pass  # it has ended: line() says so
        while True:
            answer = self.line()
            if answer is None:
                raise Lost(self.at, self.end())
            if "at" in answer:
                self.at = answer["at"]
            elif "failed" in answer:
                raise Refused(answer["failed"])
            else:
                return answer["done"]

    def end(self):
        """How it ended; now, if it had not."""
        try:
            status = self.child.wait(0.5)
        except subprocess.TimeoutExpired:
            status = None
        self.log.seek(0)
        last = self.log.read().decode(errors="replace").strip().splitlines()[-1:]
        self.kill()
        if status is None:
            return f"nothing was heard for {LIMIT:g} s"
        if status < 0:
            return f"crashed: {signal.Signals(-status).name}"
        return f"ended with {status}{': ' + last[0][:300] if last else ''}"

    def kill(self):
        """It and what it started."""
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()
        for file in (self.log, self.child.stdin, self.child.stdout):
            try:
                file.close()
            except OSError:
                pass  # what was still to be written has no reader


class Task:
    """A case on its way: skip names the families that are left out of it, and why."""

    def __init__(self, name, case, skip):
        self.name, self.case, self.skip, self.worker, self.bytes = name, case, dict(skip), None, 0


class Pool:
    def __init__(self, tasks):
        os.makedirs(STATE, exist_ok=True)
        self.lock, self.made = threading.Lock(), 0
        self.waiting, self.ready, self.failed = collections.deque(tasks), [], {}
        self.workers = []

    def start(self):
        with self.lock:
            self.made += 1
            number = self.made
        return Worker(os.path.join(STATE, f"worker-{number}.log"))

    def lost(self, task, worker, why):
        """The worker is gone while it was at this task: what of it goes on."""
        with self.lock:
            if why.at == "ours" or why.at in task.skip:
                self.failed[task.name] = f"{why.at}: {why}"
            else:
                task.skip[why.at] = str(why)
                self.waiting.append(task)
            held = [other for other in self.ready if other.worker is worker]
            self.ready = [other for other in self.ready if other.worker is not worker]
            self.waiting.extend(held)
            self.workers = [other for other in self.workers if other is not worker]

    def prepare_some(self, worker):
        """One thread a worker, until no case waits."""
        while True:
            with self.lock:
                if not self.waiting or sum(other.bytes for other in self.ready) > HOLD:
                    return
                task = self.waiting.popleft()
            try:
                if worker is None:
                    worker = self.start()
                    with self.lock:
                        self.workers.append(worker)
                made = worker.ask(op="prepare", name=task.name, case=list(task.case), skip=task.skip)
                with self.lock:
                    task.worker, task.bytes = worker, made["bytes"]
                    self.ready.append(task)
            except Refused as why:
                with self.lock:
                    self.failed[task.name] = str(why)
            except Lost as why:
                self.lost(task, worker, why)
                worker = None

    def prepare(self):
        """Everything that waits (and HOLD allows), on as many processes as there are; then none of them does anything."""
        here = self.workers + [None] * (min(JOBS, len(self.waiting)) - len(self.workers))
        threads = [threading.Thread(target=self.prepare_some, args=(worker,)) for worker in here]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def ask_one(self, op):
        """Of any worker; {} where none is left."""
        for worker in list(self.workers):
            try:
                return worker.ask(op=op)
            except Refused:
                return {}
            except Lost:
                self.workers.remove(worker)
        return {}

    def measure(self, task):
        """Its record; None: lost or failed, and noted."""
        self.ready.remove(task)
        try:
            return task.worker.ask(op="measure", name=task.name)
        except Refused as why:
            self.failed[task.name] = str(why)
        except Lost as why:
            self.lost(task, task.worker, why)
        return None

    def close(self):
        for worker in self.workers:
            worker.kill()
        self.workers = []


class Alone:
    """Whoever measures holds STATE/lock, so that two runs take turns."""

    def __enter__(self):
        os.makedirs(STATE, exist_ok=True)
        self.file = open(os.path.join(STATE, "lock"), "w", encoding="utf-8")  # pylint: disable=consider-using-with
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        self.file.close()
