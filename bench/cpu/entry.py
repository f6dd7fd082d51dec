#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PART=entry of make bench-cpu: f32 gemm 32^3 by its exported entry beside sgemm of OpenBLAS, both called from C (entry.c), one
thread. Tuned first (TUNE=seconds at most, default 15; 0: the default plan). Wanted: at most 1.03 of OpenBLAS's time.
BLAS=library,symbol takes another peer; CC the compiler. The row goes to bench/results/ (RESULTS=folder).
Exit: 0 within, 1 short or wrong, 3 no peer."""
import glob
import os
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [ROOT, HERE]
import results
from exported import TOOL, Failed, compile_with, export, run

MOST, APART = 1.03, 1e-4  # of the peer's time; of sums of 32 products below 1
GEMM = [os.path.join(ROOT, "kernels/gemm.tile"), "--set", "T=f32,M=32,N=32,K=32"]


def find_peer():
    """Library and symbol; None: it is not installed."""
    if os.environ.get("BLAS"):
        return os.environ["BLAS"].split(",")
    try:
        import scipy_openblas32
    except ImportError:
        return None
    return sorted(glob.glob(os.path.join(scipy_openblas32.get_lib_dir(), "*openblas*.so")))[0], "scipy_cblas_sgemm"


def measure(peer, tune):
    """Flags, nanoseconds of ours and of the peer, how far the results are apart."""
    with tempfile.TemporaryDirectory() as folder:
        store = ["--store", os.path.join(folder, "store") if tune else "none"]
        if tune:
            run(TOOL, "tune", *GEMM, "--threads", "1", "--budget", f"{tune * 1000:.0f}ms", *store, "--quiet")
        flags, program = export(folder, *GEMM, "--threads", "1", *store), os.path.join(folder, "entry")
        compile_with(flags, "-std=gnu11", "-I", folder, os.path.join(HERE, "entry.c"), os.path.join(folder, "gemm.c"), "-o", program,
                     "-lm", "-ldl")
        return flags, *map(float, run(program, *peer).split())


def main():
    peer, tune = find_peer(), float(os.environ.get("TUNE") or "15")
    if not peer:
        print("no peer: scipy-openblas32 is not installed")
        return 3
    try:
        flags, ours, theirs, apart = measure(peer, tune)
    except Failed as why:
        print(f"FAIL {why}")
        return 1
    good = ours <= MOST * theirs and apart <= APART
    print(f"{'ok  ' if good else 'SHORT'} gemm f32 32x32x32 by its exported entry: {ours:.0f} ns, {os.path.basename(peer[0])} {theirs:.0f} ns, ratio "
          f"{ours / theirs:.3f}, wanted <= {MOST}; results {apart:g} apart, wanted <= {APART}", flush=True)
    results.publish("tilewright/bench-cpu-entry/1", "entry", {"peer": os.path.basename(peer[0]), "ours_ns": ours, "peer_ns": theirs,
                                                               "ratio": ours / theirs, "apart": apart, "flags": flags, "tune_s": tune})
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
