# SPDX-License-Identifier: Apache-2.0
"""Kernels by their exported entries: written by `tilewright export`, compiled alone by cc, called without the library."""
import ctypes
import os
import re
import subprocess
import tempfile

from results import ROOT

TOOL = os.environ.get("TW_TOOL") or os.path.join(ROOT, "build/release/tilewright")
SCALARS = {"float": ctypes.c_float, "double": ctypes.c_double, "int32_t": ctypes.c_int32, "int64_t": ctypes.c_int64}


class Failed(Exception):
    """What failed, and why."""


def run(*words):
    """Its output. A BLAS in it has one thread."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    if done.returncode:
        raise Failed(f"{os.path.basename(words[0])} {words[1]}: exit {done.returncode}: {(done.stderr or done.stdout).strip()[:400]}")
    return done.stdout


def export(folder, *words):
    """Of the kernel that export's words name, NAME.h and NAME.c in folder; the flags that NAME.c wants."""
    said = run(TOOL, "export", *words, "--out", folder)
    return said[said.index("compile with ") + 13:].split(",")[0].split()


def compile_with(flags, *words):
    run(os.environ.get("CC") or "cc", *flags, *words)


def entry(file, sets, plan, values):
    """A function without arguments: one call of the kernel by that plan (its text; None: the default one), in the calling thread.
    values: of its parameters as NAME.h has them, n_M, a_X, s_eps; of arrays the address. It returns the call's code, 0 if all is well."""
    name = os.path.splitext(os.path.basename(file))[0]
    with tempfile.TemporaryDirectory() as folder:
        how = ["--store", "none"]
        if plan:
            how = ["--plan", os.path.join(folder, "plan")]
            with open(how[1], "w", encoding="utf-8") as out:
                out.write(plan)
        flags = export(folder, file, *sets, *how)
        path = os.path.join(folder, "entry.so")
        compile_with(flags, "-shared", "-fPIC", os.path.join(folder, f"{name}.c"), "-o", path, "-lm")
        library = ctypes.CDLL(path)
        with open(os.path.join(folder, f"{name}.h"), encoding="utf-8") as header:
            parameters = re.search(rf"^int {name}\((.*)\);$", header.read(), re.M)[1].split(", ")
    words = [re.fullmatch(r"(?:const )?(\w+) (\*?)(\w+)", text).groups() for text in parameters]
    extents = [ctypes.c_int64(values[word]) for _, _, word in words if word.startswith("n_")]
    if words[-1][2] == "workspace":
        size = getattr(library, f"{name}_workspace")
        size.restype = ctypes.c_size_t
        values = {**values, "workspace": ctypes.create_string_buffer(size(*extents, ctypes.c_int64(1)))}
    given = [ctypes.cast(values[word], ctypes.c_void_p) if star else SCALARS[kind](values[word]) for kind, star, word in words]
    function = getattr(library, name)
    return lambda: function(*given)
