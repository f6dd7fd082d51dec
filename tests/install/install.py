#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""install.py BUILD: installs BUILD into a scratch tree, moves that tree elsewhere, and uses what is there as another
project would: the tool, examples/embed.c by cc and pkg-config, the same with the static library, and by CMake's
find_package. Each program must give softmax's values, computed here, and show a wrong program's place with a caret."""
import glob
import math
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WRONG = "kernel wrong[T in {f32}](X: T[R, W], out Y: T[R, W]) {\n    parallel r: R, w: W { Y[r, w] = Z }\n}\n"
CARET = "wrong.tile:2:37: error[E0112]: unknown name 'Z'\n" \
        "      parallel r: R, w: W { Y[r, w] = Z }\n" \
        "                                      ^\n"
failed = passed = 0


def done(*command, env=None):
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **(env or {})}, capture_output=True, text=True,
                          timeout=300, check=False)


def line(ok, what, detail=""):
    global failed, passed
    passed += bool(ok)
    failed += not ok
    print(f"{'ok  ' if ok else 'FAIL'} {what}{'' if ok else ': ' + detail}", flush=True)
    return ok


def softmax(row):
    powers = [math.exp(x - max(row)) for x in row]
    return [p / sum(powers) for p in powers]


def values_are_right(text):
    want = [softmax([0, 1, 2, 3, 4]), softmax([5] * 5)]
    got = [[float(word) for word in row.split()] for row in text.splitlines()]
    return len(got) == 2 and all(len(g) == 5 and all(abs(a - b) <= 0.6e-4 for a, b in zip(g, w)) for g, w in zip(got, want))


def use(what, program, folder, env=None):
    result = done(program, "kernels/softmax.tile", env=env)
    line(result.returncode == 0 and values_are_right(result.stdout), f"{what}: runs softmax",
         f"exit {result.returncode}: {result.stdout}{result.stderr}")
    wrong = os.path.join(folder, "wrong.tile")
    with open(wrong, "w", encoding="utf-8") as file:
        file.write(WRONG)
    result = done(program, wrong, env=env)
    line(result.returncode == 1 and CARET in result.stderr and not result.stdout, f"{what}: a wrong program's place and caret",
         f"exit {result.returncode}: {result.stdout}{result.stderr}")


def by_cc(folder, prefix):
    pc = glob.glob(os.path.join(prefix, "**", "tilewright.pc"), recursive=True)
    if not line(len(pc) == 1, "one pkg-config file", str(pc)):
        return
    env = {"PKG_CONFIG_PATH": os.path.dirname(pc[0])}
    flags = done("pkg-config", "--cflags", "--libs", "tilewright", env=env)
    if not line(flags.returncode == 0, "pkg-config", flags.stderr):
        return
    program = os.path.join(folder, "embed-cc")
    made = done("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", program, "examples/embed.c", *flags.stdout.split())
    libraries = os.path.dirname(os.path.dirname(pc[0]))
    if line(made.returncode == 0, "cc $(pkg-config --cflags --libs tilewright)", made.stderr):
        use("cc", program, folder, {"LD_LIBRARY_PATH": libraries})
    program = os.path.join(folder, "embed-cc-static")
    made = done("cc", "-std=c11", f"-I{prefix}/include", "-o", program, "examples/embed.c",
                os.path.join(libraries, "libtilewright.a"), "-ldl", "-lpthread", "-lm")
    if line(made.returncode == 0, "cc with libtilewright.a", made.stderr):
        use("cc, static", program, folder)


def by_cmake(folder, prefix):
    build = os.path.join(folder, "cmake")
    made = done("cmake", "-S", "examples", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    if made.returncode == 0:
        made = done("cmake", "--build", build)
    if not line(made.returncode == 0, "find_package(tilewright) and a build", made.stdout + made.stderr):
        return
    for name in ("embed", "embed_static"):
        use(f"CMake, {name}", os.path.join(build, name), folder)


def main(build):
    with tempfile.TemporaryDirectory(prefix="tilewright-install-") as folder:
        first, prefix = os.path.join(folder, "first"), os.path.join(folder, "moved")
        made = done("cmake", "--install", build, "--prefix", first)
        if line(made.returncode == 0, "cmake --install", made.stderr):
            shutil.move(first, prefix)
            result = done(os.path.join(prefix, "bin/tilewright"), "check", "kernels/softmax.tile")
            line(result.returncode == 0, "the installed tool checks softmax", result.stderr)
            by_cc(folder, prefix)
            by_cmake(folder, prefix)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main(os.path.abspath(sys.argv[1])))
