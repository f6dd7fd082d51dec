#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PART=sanitize of make bench-gpu: NVIDIA's compute-sanitizer watches kernels on arrays that end where their allocation ends:
memcheck, racecheck and initcheck must find nothing in the kernels' default and random plans (PLANS, default 1); then each
barrier of a softmax is dropped, and a store and a load put past the end (mutations of its loop IR), which racecheck and
memcheck must find. K=kernel,.. limits the kernels. SANITIZER names the program. Exit: 0 all as wanted, 1 not, 3 no
sanitizer. With --child it is what runs under the sanitizer: KERNEL SETS PLAN [LOOP file], several with `;`."""
import ctypes as c
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, ROOT)
from bench.peers import ours
from bench.peers.driver import Cuda

RUNS = {
    "row_sum": "T=f32,R=3,W=1000", "row_max": "T=bf16,R=3,W=2100", "argmax": "T=f32,R=3,W=300", "softmax": "T=f32,R=3,W=1030",
    "layernorm": "T=f16,R=3,W=520", "residual_layernorm": "T=f32,R=3,W=257", "rmsnorm": "T=bf16,R=2,W=4096",
    "gelu_residual": "T=f32,R=5,W=77", "gemm": "T=f32,M=65,N=70,K=37", "bmm": "T=f32,BA=2,BB=1,Z=2,M=17,N=9,K=33",
    "transpose": "T=f32,M=65,N=37", "attention": "T=f32,CAUSAL=true,B=1,H=2,G=1,I=33,J=40,D=16,E=16",
    "scan": "T=f32,EXCLUSIVE=false,REVERSE=false,R=3,W=1100", "cross_entropy": "T=f32,I=i64,R=3,V=130",
    "embedding": "T=f32,I=i32,V=30,D=40,N=9", "histogram": "T=i32,N=300,B=16",
}
TOOLS = ("memcheck", "racecheck", "initcheck")
LIMIT = int(os.environ.get("LIMIT") or 130)  # seconds of one run of the sanitizer
FOUND = 77  # the sanitizer's exit status when it has found something


# ---- under the sanitizer

def split(sets):
    """Types and constants, dims: "T=f32,R=3"; T is a dim where its value is a number."""
    words = [word.split("=") for word in sets.split(",")]
    return ({k: v for k, v in words if not v.isdigit()}, {k: int(v) for k, v in words if v.isdigit()})


def child_run(tw, cuda, kernel, sets, plan, loop):
    types, dims = split(sets)
    compiled = tw.compile(os.path.join(ROOT, "kernels", kernel + ".tile"), "cuda", types, dims, plan=plan, loop=loop)
    if kernel == "attention":
        compiled.set_scalars(scale=0.25)
    sizes = [compiled.bytes(k) for k in range(len(compiled.args))]
    host = [(c.c_char * max(size, 1))() for size in sizes]
    at = [cuda.alloc(size) for size in sizes]
    for k, arg in enumerate(compiled.args):
        if arg.role != ours.OUT:
            compiled.fill(k, k + 1, c.addressof(host[k]))
            cuda.upload(at[k], c.addressof(host[k]), sizes[k])
    before = [c.create_string_buffer(block.raw, len(block)) if arg.role != ours.OUT else None for block, arg in zip(host, compiled.args)]
    call = compiled.call(at, device=0)
    entry = call.entry()
    call.run()
    for k in range(len(at)):
        cuda.download(c.addressof(host[k]), at[k], sizes[k])
    cuda.wait()
    try:
        verdicts = compiled.judge([b and c.addressof(b) for b in before], [c.addressof(block) for block in host])
    except ours.Failed as why:  # the oracle's own limits are no finding of the sanitizer's
        print(f"unjudged {kernel}: {str(why)[:200]}", flush=True)
        verdicts = []
    wrong = [v[5] for v in verdicts if not v[1]]
    print(f"ran {kernel} {sets} {plan} {entry}: {'; '.join(wrong) or 'right'}", flush=True)
    return not wrong or loop is not None


def child(runs):
    cuda, tw, ok = Cuda(), ours.Tilewright(), True
    for run in runs.split(";"):
        kernel, sets, plan, *rest = run.split()
        loop = None
        if rest:
            with open(rest[0], encoding="utf-8") as file:
                loop = file.read()
        try:
            ok = child_run(tw, cuda, kernel, sets, plan, loop) and ok
        except ours.Failed as why:
            refused = plan.startswith("random") and "no legal plan" in str(why)
            print(f"{'refused' if refused else 'failed'} {run}: {str(why)[:300]}", flush=True)
            ok = ok and refused
            if not refused:
                break
    return 0 if ok else 1


# ---- above it

def find_sanitizer():
    for path in (os.environ.get("SANITIZER"), shutil.which("compute-sanitizer"), "/usr/local/cuda/bin/compute-sanitizer",
                 "/usr/local/cuda/compute-sanitizer/compute-sanitizer"):
        if path and os.path.exists(path):
            return path
    return None


def watched(sanitizer, watch, runs, folder):
    """Exit status, what it saw, what the child said."""
    log = os.path.join(folder, "log")
    command = [sanitizer, "--tool", watch, "--error-exitcode", str(FOUND), "--log-file", log, "--print-limit", "20",
               sys.executable, os.path.abspath(__file__), "--child", ";".join(runs)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False, timeout=LIMIT)
    except subprocess.TimeoutExpired as late:
        return -1, [], f"{(late.stdout or b'').decode(errors='replace')}\nfailed: not done within {LIMIT} s"
    seen = []
    if os.path.exists(log):
        with open(log, encoding="utf-8", errors="replace") as file:
            seen = [words.strip("= \n") for words in file if words.strip("= \n")]
        os.remove(log)
    return done.returncode, seen, done.stdout + done.stderr


def first(seen, skip=("COMPUTE-SANITIZER", "Target application", "ERROR SUMMARY", "RACECHECK SUMMARY", "LEAK SUMMARY")):
    return next((words for words in seen if not words.startswith(skip)), "nothing")


def clean(sanitizer, folder, kernels, plans):
    failed = 0
    for watch in TOOLS:
        begin = time.monotonic()
        runs = [f"{kernel} {RUNS[kernel]} {plan}" for kernel in kernels for plan in ["default"] + [f"random:{k + 1}" for k in range(plans)]]
        status, seen, said = watched(sanitizer, watch, runs, folder)
        ran = [words for words in said.splitlines() if words.startswith("ran ")]
        wrong = [words for words in said.splitlines() if words.startswith("failed") or words.startswith("ran") and not words.endswith("right")]
        ok = status == 0 and not wrong
        failed += not ok
        print(f"{'ok  ' if ok else 'FAIL'} {watch}: {len(ran)} of {len(runs)} ran, exit {status} (0 is wanted), {first(seen)}; "
              f"{time.monotonic() - begin:.0f} s {wrong[:3] or ''}{'' if ran else said[-600:]}", flush=True)
    return failed


def mutants(tw, mutation, sets):
    tool = os.environ.get("TW_TOOL") or os.path.join(os.path.dirname(tw.path), "tilewright")
    place = 0
    while True:
        done = subprocess.run([tool, "show", "kernels/softmax.tile", "--set", sets, "--target", "cuda", "--stage", "loop", "--mutate",
                               f"{mutation}:{place}"], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            return
        yield place, done.stdout
        place += 1


def caught(sanitizer, folder, tw, mutation, watch):
    """Each place: rows of 1030 run the first entry, rows of 1032 the aligned one; one of them must be noticed."""
    sets, failed, places = ("T=f32,R=3,W=1030", "T=f32,R=3,W=1032"), 0, {}
    for words in sets:
        for place, text in mutants(tw, mutation, words):
            path = os.path.join(folder, f"{mutation}-{place}-{words[-4:]}.loop")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            places.setdefault(place, []).append(f"softmax {words} default {path}")
    for place, runs in places.items():
        noticed, seen = False, []
        for run in runs:
            if not noticed:
                status, seen, _ = watched(sanitizer, watch, [run], folder)
                noticed = status == FOUND
        failed += not noticed
        print(f"{'ok  ' if noticed else 'FAIL'} softmax, {mutation} (place {place}): {watch} is wanted to notice; {first(seen)}", flush=True)
    if not places:
        print(f"FAIL softmax, {mutation}: no place for it")
    return failed + (not places)


def main():
    if sys.argv[1:2] == ["--child"]:
        return child(sys.argv[2])
    sanitizer = find_sanitizer()
    if not sanitizer:
        print("compute-sanitizer is not here: it comes with the CUDA toolkit (cuda-sanitizer), or SANITIZER=file", file=sys.stderr)
        return 3
    names = [k for k in (os.environ.get("K") or "").replace(",", " ").split() or RUNS
             if os.path.exists(os.path.join(ROOT, "kernels", k + ".tile"))]
    tw = ours.Tilewright()
    with tempfile.TemporaryDirectory() as folder:
        failed = clean(sanitizer, folder, names, int(os.environ.get("PLANS") or 1))
        failed += caught(sanitizer, folder, tw, "drop-barrier", "racecheck")
        failed += caught(sanitizer, folder, tw, "write-past", "memcheck")
        failed += caught(sanitizer, folder, tw, "read-past", "memcheck")
    print(f"sanitize: {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
