# SPDX-License-Identifier: Apache-2.0
"""What a disassembly of NVIDIA's machine code tells: the instructions of each function by class, in the loop that counts; and how
many groups of it a multiprocessor holds."""
import collections
import ctypes
import glob
import os
import re
import shutil
import subprocess
import sys

# class: opcodes (up to the first dot) that begin so; the first that fits
CLASSES = {
    "async": ("LDGSTS", "UBLKCP", "UTMA", "UBLKRED", "LDGDEPBAR", "DEPBAR", "ARRIVES", "SYNCS"),
    "load": ("LDG", "LD"), "store": ("STG", "ST"), "atomic": ("RED", "ATOM"),
    "shared": ("LDS", "STS"), "local": ("LDL", "STL"), "constant": ("LDC", "ULDC", "LDCU", "S2"), "matrix": ("HMMA", "IMMA", "HGMMA", "QGMMA", "WARPGROUP"),
    "fma": ("FFMA", "HFMA2", "DFMA"), "special": ("MUFU",), "convert": ("F2", "I2F", "FRND"), "float": ("F", "H", "D"),
    "shuffle": ("SHFL", "VOTE", "MATCH"), "barrier": ("BAR", "MEMBAR", "WARPSYNC", "FENCE"),
    "branch": ("BRA", "BSSY", "BSYNC", "EXIT", "CALL", "RET", "NOP", "BREAK", "BRX"), "integer": ("",),
}
# Exact opcodes whose first letters would say something else.
EXACT = {"FLO": "integer", "REDUX": "shuffle", "CREDUX": "shuffle", "LDSM": "shared", "STSM": "shared"}
ORDER = sorted(((prefix, name) for name, prefixes in CLASSES.items() for prefix in prefixes), key=lambda row: -len(row[0]))
COLUMNS = ("load", "store", "shared", "async", "fma", "matrix", "float", "special", "convert", "integer", "shuffle", "barrier", "branch", "constant", "atomic", "local")
FMA_ELEMENTS = {"FFMA": 1, "FFMA2": 2, "HFMA2": 2, "DFMA": 1}

Function = collections.namedtuple("Function", "name instructions loop counts load_bytes fmas")


def class_of(opcode):
    return EXACT.get(opcode) or next(name for prefix, name in ORDER if opcode.startswith(prefix))


def bytes_of(instruction):
    """Of a load or store, by a thread."""
    wide = re.search(r"\.(128|64|U8|S8|U16|S16)\b", instruction)
    return {"128": 16, "64": 8, "U8": 1, "S8": 1, "U16": 2, "S16": 2}[wide[1]] if wide else 4


def bodies(text):
    """{function: lines of its code}, labels among them."""
    found, lines = {}, None
    for line in text.splitlines():
        start = re.match(r"\.text\.(\S+):", line)
        if start:
            lines = found.setdefault(start[1], [])
        elif line.lstrip().startswith(".section"):
            lines = None
        elif lines is not None and re.match(r"\s*/\*[0-9a-f]{4,}\*/|\.L\w*:", line):
            lines.append(line)
    return found


def innermost(lines):
    """The longest loop without another in it: (first line, the one after its last); None: there is none."""
    label = {line.strip()[:-1]: k for k, line in enumerate(lines) if line.startswith(".L")}
    loops = set()
    for k, line in enumerate(lines):
        to = re.search(r"BRA.*`\((\.L\w*)\)", line)
        begin = label.get(to[1]) if to else None
        if begin is not None and begin < k - 1:  # a branch to itself pads the end
            loops.add((begin, k + 1))
    inner = [a for a in loops if not any(a != b and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    return max(inner, key=lambda loop: loop[1] - loop[0], default=None)


def plain(lines):
    """Instructions without address and predicate."""
    return [re.sub(r"^\s*/\*\w+\*/\s*(@!?U?P\w+\s+)?", "", line) for line in lines if not line.startswith(".L")]


def functions(text):
    """What counts of each: its innermost loop, or all of it."""
    for name, lines in bodies(text).items():
        loop = innermost(lines)
        code = plain(lines)
        while code and re.match(r"NOP\b|BRA\b", code[-1]):  # a branch to itself and what fills the last line of the cache
            code.pop()
        part = plain(lines[slice(*loop)]) if loop else code
        counts, load_bytes, fmas = collections.Counter(), 0, 0
        for instruction in part:
            opcode = re.split(r"[\s.;]", instruction)[0]
            kind = class_of(opcode)
            counts[kind] += 1
            load_bytes += bytes_of(instruction.split()[0]) if kind == "load" else 0
            fmas += FMA_ELEMENTS.get(opcode, 0)
        yield Function(name, len(code), len(part) if loop else 0, counts, load_bytes, fmas)


def find_program(name):
    """On the path, in the toolkit, or in the package of Triton or of CUDA."""
    folders = [os.path.join(path, *rest) for path in sys.path for rest in (("triton", "backends", "nvidia", "bin"), ("nvidia", "*", "bin"))]
    places = [shutil.which(name), os.path.join("/usr/local/cuda/bin", name)]
    places += [path for folder in folders for path in sorted(glob.glob(os.path.join(folder, name)))]
    return next((path for path in places if path and os.access(path, os.X_OK)), None)


def resources(cubin):
    """{function: (registers, static shared bytes, local bytes)}"""
    program = find_program("cuobjdump")
    if not program:
        return {}
    said = subprocess.run([program, "-res-usage", cubin], capture_output=True, text=True, check=False).stdout
    rows = re.findall(r"Function (\S+):\s*\n\s*REG:(\d+) STACK:\d+ SHARED:(\d+) LOCAL:(\d+)", said)
    return {name: tuple(int(n) for n in numbers) for name, *numbers in rows}


def disassemble(cubin):
    """The text; None: there is no disassembler."""
    program = find_program("nvdisasm")
    return program and subprocess.run([program, "-c", cubin], capture_output=True, text=True, check=False).stdout


class NoCompiler(Exception):
    pass


def compile_source(source, arch):
    """A cubin of our source by NVRTC, with the options that the library gives."""
    try:
        lib = ctypes.CDLL(os.environ.get("TILEWRIGHT_NVRTC") or "libnvrtc.so.13")
    except OSError as why:
        raise NoCompiler(str(why)) from why
    options = [f"-arch={arch}", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true", "-default-device", "--std=c++17"]
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"tilewright.cu", 0, None, None)
    table = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    status = lib.nvrtcCompileProgram(program, len(options), table)
    if status != 0 or lib.nvrtcGetCUBINSize(program, ctypes.byref(size)) != 0:
        raise NoCompiler(f"NVRTC result {status} for {arch}")
    cubin = ctypes.create_string_buffer(size.value)
    lib.nvrtcGetCUBIN(program, cubin)
    lib.nvrtcDestroyProgram(ctypes.byref(program))
    return cubin.raw


def occupancy(registers, shared, threads):
    """Percent of 64 subgroups that a multiprocessor of sm_80 and sm_90 holds, and what limits it (228 KB shared, as on sm_90)."""
    subs = -(-threads // 32)
    limits = {"threads": 64 // subs, "groups": 32, "registers": 65536 // (-(-max(registers, 1) * 32 // 256) * 256 * subs),
              "shared": 233472 // (shared + 1024)}
    least = min(limits, key=limits.get)
    return round(100 * limits[least] * subs / 64), least
