# SPDX-License-Identifier: Apache-2.0
"""The machine that cases are compared on, and the settings that every script of this folder reads."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
import protocol
from bench.peers import driver, torch_peers


def setting(name, default):
    return os.environ.get(name) or default


TARGET = setting("TARGET", "cuda")
STATE, RESULTS = setting("STATE", os.path.join(ROOT, "build/bench-gpu")), setting("RESULTS", os.path.join(ROOT, "bench/results"))
SETS = int(setting("SETS", "1"))


class Machine:
    """The device, if torch gives one; its stream. `place` is where tensors lie: cuda, cpu (TARGET=cpu), or None without torch."""

    def __init__(self):
        self.torch, self.place = torch_peers.torch, TARGET
        if TARGET == "cuda" and self.torch is not None and not self.torch.cuda.is_available():
            torch_peers.absent.update({name: "torch sees no device" for name in ("torch", "torch.compile", "cuBLAS", "triton")})
            self.torch = None
        if TARGET not in ("cuda", "cpu"):
            self.torch = None
        self.device, self.stream, self.nvml = TARGET, None, protocol.Nvml()
        self.versions = {}
        if self.torch is None:
            self.place = None
            return
        self.versions = {"torch": self.torch.__version__}
        if self.place == "cpu":
            return
        self.device = self.torch.cuda.get_device_name(0)
        self.torch.zeros(1, device="cuda")
        self.stream = self.torch.cuda.Stream()
        self.versions.update(cuda=self.torch.version.cuda, driver=self.nvml.driver())
        if torch_peers.triton is not None:
            self.versions["triton"] = torch_peers.triton.triton.__version__

    def wait(self):
        if self.place == "cuda":
            self.torch.cuda.synchronize()

    def empty(self):
        if self.place == "cuda":
            self.torch.cuda.empty_cache()


def ceilings(tw):
    """In ns: of a launch, a byte read, a byte copied, an f32 operation; measured now, so nothing else may run."""
    caps = dict(words.split(" ", 1) for words in tw.measured(TARGET).splitlines() if words.startswith("ceiling_"))
    return {name[8:-3]: float(value) for name, value in caps.items()}


def open_driver():
    """Once and for all: a process that has not opened it asks about the device in a child, for each kernel."""
    try:
        return driver.Cuda()
    except (OSError, driver.DriverError):
        return None
