#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/cpu/entry.py with a BLAS of a few lines: one that is right and slow is beaten, one that computes something else is told, and
so is one that is not there."""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SGEMM = """void %s(int o, int x, int y, int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    (void)o, (void)x, (void)y;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            volatile float sum = 0;
            for (int l = 0; l < k; l++)
                sum += alpha * a[i * lda + l] * b[l * ldb + j];
            c[i * ldc + j] = sum + beta * c[i * ldc + j] + %s;
        }
}
"""


def run_entry(folder, blas):
    env = {**os.environ, "BLAS": blas, "TUNE": "0", "RESULTS": folder}
    done = subprocess.run([sys.executable, os.path.join(ROOT, "bench/cpu/entry.py")], env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, "slow.c"), os.path.join(folder, "slow.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write(SGEMM % ("right", "0.0f") + SGEMM % ("wrong", "0.5f"))
        subprocess.run([os.environ.get("CC") or "cc", "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
        status, said = run_entry(folder, library + ",right")
        assert status == 0 and said.startswith("ok   gemm f32 32x32x32 by its exported entry: "), said
        with open([os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("cpu-entry-")][0], encoding="utf-8") as file:
            row = json.load(file)
        assert 0 < row["ours_ns"] < row["peer_ns"] and row["apart"] < 1e-4, row
        status, said = run_entry(folder, library + ",wrong")
        assert status == 1 and said.startswith("SHORT") and "results 0.5" in said, said
        status, said = run_entry(folder, library + ",missing")
        assert status == 1 and "no sgemm: missing" in said, said
    print("ok   bench/cpu/entry.py with doubles of a BLAS")
    return 0


if __name__ == "__main__":
    sys.exit(main())
