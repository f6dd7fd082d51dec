# SPDX-License-Identifier: Apache-2.0
"""What the scripts of tools/ share: the tool, the settings from the environment, and measured lines.
A script prints the target beside each measured value and ends with 1 if one falls short; asked for --help it prints its
docstring and does nothing."""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KERNELS = ("row_sum row_max argmax softmax layernorm residual_layernorm rmsnorm gelu_residual gemm bmm transpose "
           "attention scan cross_entropy embedding histogram gemv gemm_int8 swiglu rope residual_rmsnorm masked_softmax "
           "decode_attention layernorm_backward conv2d max_pool avg_pool").split()


def setting(name, default):
    return os.environ.get(name) or default


if {"-h", "--help"} & set(sys.argv[1:]):
    print(sys.modules["__main__"].__doc__)
    sys.exit(0)


TOOL = setting("TW_TOOL", os.path.join(ROOT, "build/release/tilewright"))


if not os.path.exists(TOOL):
    sys.exit(f"{TOOL} is not there: make builds it, or TW_TOOL says where it is")


# PoCL keeps what it compiled: beside the tool, not in the home.
os.environ.setdefault("POCL_CACHE_DIR", os.path.join(os.path.dirname(os.path.abspath(TOOL)), "pocl"))
os.makedirs(os.environ["POCL_CACHE_DIR"], exist_ok=True)
# What an earlier run left in a store must not decide what a script shows.
os.environ["TILEWRIGHT_STORE"] = "none"


def kernel_file(name):
    return os.path.join("kernels", name + ".tile")


def chosen(names=None):
    """K=softmax,gemm or all."""
    names = names or KERNELS
    wanted = setting("K", "")
    if not wanted:
        return names
    asked = wanted.replace(",", " ").split()
    for name in asked:
        if name not in KERNELS:
            print(f"there is no kernel {name} in kernels/", file=sys.stderr)
            sys.exit(2)
    return asked


def tool(*args, env=None, stdin=None, timeout=3600):
    """Exit status, stdout, stderr."""
    done = subprocess.run([TOOL, *args], cwd=ROOT, env={**os.environ, **(env or {})}, input=stdin, errors="replace",
                          capture_output=True, timeout=timeout, check=False)
    return done.returncode, done.stdout, done.stderr


def tool_json(*args):
    status, out, err = tool(*args, "--json")
    try:
        return status, json.loads(out)
    except ValueError:
        print(f"{TOOL} {' '.join(args)}: exit {status}, no JSON: {out[:300]}{err[:2000]}", file=sys.stderr)
        sys.exit(1)


def at_hand(what):
    """What is being done now, on a terminal's stderr, until the next line is printed; "" takes it away."""
    if sys.stderr.isatty():
        print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)


class Lines:
    """Measured lines; `end` gives the exit status."""

    def __init__(self):
        self.passed = self.failed = 0

    def line(self, ok, what, target, measured):
        self.passed += bool(ok)
        self.failed += not ok
        at_hand("")
        print(f"{'ok  ' if ok else 'FAIL'} {what}: target {target}; measured {measured}", flush=True)

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed else 0


def scratch():
    return tempfile.TemporaryDirectory(prefix="tilewright-")
