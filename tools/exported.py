# SPDX-License-Identifier: Apache-2.0
"""What tools/export and tools/aarch64 share: rows, each a kernel that is exported and compiled alone, and one program without
the library that calls them all: the bits are those of `tilewright run`, whole, in shares, by two threads, from addresses that are
aligned to nothing, under other rounding; wrong extents, pointers, overlaps and shares are answered by their code."""
import os
import random
import re
import struct
import subprocess

from common import kernel_file, tool

FORMATS = {"f32": "f", "f64": "d", "f16": "e", "i8": "b", "i32": "i", "i64": "q"}
DESCR = {"f32": "<f4", "f64": "<f8", "f16": "<f2", "bf16": "<u2", "i8": "|i1", "i32": "<i4", "i64": "<i8"}
SIZE = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i8": 1, "i32": 4, "i64": 8}


def element(rng, elem, most):
    if most:
        return struct.pack(FORMATS[elem], rng.randrange(most))
    if elem[0] == "i":
        return struct.pack(FORMATS[elem], rng.randrange(-100, 101))
    value = rng.gauss(0, 1)
    return struct.pack("f", value)[2:] if elem == "bf16" else struct.pack(FORMATS[elem], value)


class Array:
    def __init__(self, text):
        self.written, self.read = ">" in text.split(":")[0], text[0] != ">"
        self.name, elem, shape = text.lstrip("<>").split(":")
        self.elem, _, most = elem.partition("<")
        self.most = int(most or 0)
        self.shape = [int(n) for n in shape.split("x") if n]
        self.n = 1
        for extent in self.shape:
            self.n *= extent

    def npy(self, data):
        head = f"{{'descr': '{DESCR[self.elem]}', 'fortran_order': False, 'shape': ({''.join(f'{n}, ' for n in self.shape)}), }}"
        head += " " * (63 - (10 + len(head)) % 64) + "\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data


def npy_data(path):
    with open(path, "rb") as file:
        data = file.read()
    return data[10 + struct.unpack("<H", data[8:10])[0]:]


def sh(*args, cwd):
    done = subprocess.run(args, cwd=cwd, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


class Row:
    def __init__(self, folder, name, kernel, sets, arrays, scalars, more, reference=None):
        """more: arguments of export, and of the run whose bits it must have, but where `reference` has that run's own."""
        self.folder, self.name, self.sets, self.scalars = folder, name, sets, scalars
        self.file = kernel + ".tile" if "/" in kernel else kernel_file(kernel)
        self.arrays = [Array(text) for text in arrays.split()]
        self.more = [self.plan(item) for item in more]
        self.reference = self.more if reference is None else [self.plan(item) for item in reference]
        self.flags = ""

    def plan(self, text):
        if "\n" not in text:
            return text
        path = os.path.join(self.folder, self.name + ".plan")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def make(self):
        """Exports, and runs the reference here. What was said."""
        status, out, err = tool("export", self.file, "--set", self.sets, "--target", "cpu", "--name", self.name,
                                "--out", self.folder, *self.more)
        if status != 0:
            return f"export: exit {status}: {err}"
        self.flags = out.split("with -O2")[1].split(",")[0].split()
        rng, args = random.Random(self.name), []
        for array in self.arrays:
            path = os.path.join(self.folder, f"{self.name}.{array.name}")
            if array.written:
                args += ["--out", f"{array.name}={path}.out.npy"]
            if not array.read:
                continue
            data = b"".join(element(rng, array.elem, array.most) for _ in range(array.n))
            for kind, content in ("npy", array.npy(data)), ("bin", data):
                with open(f"{path}.{kind}", "wb") as file:
                    file.write(content)
            args += ["--in", f"{array.name}={path}.npy"]
        if self.scalars:
            args += ["--set", self.scalars.rstrip("f")]
        status, _, err = tool("run", self.file, "--set", self.sets, *args, *self.reference)
        for array in self.arrays:
            path = os.path.join(self.folder, f"{self.name}.{array.name}")
            if array.written and status == 0:
                with open(path + ".want", "wb") as file:
                    file.write(npy_data(path + ".out.npy"))
        return err if status else ""

    def compile(self, name, *cc):
        """Alone: no folder of Tilewright's is searched. cc: the compiler of that name, with what else it is told."""
        level = "-O2" if name == "gcc" else "-O1"
        return sh(*(cc or [name]), "-std=c11", level, "-Wall", "-Wextra", "-Werror", *self.flags, "-c", self.name + ".c", "-o",
                  f"{self.name}.{name}.o", cwd=self.folder)

    def source(self):
        """Its part of the program: a table of arrays and calls by name."""
        with open(os.path.join(self.folder, self.name + ".h"), encoding="utf-8") as file:
            header = file.read()
        workspace = self.name + "_workspace(" in header
        value = dict(item.split("=") for item in self.sets.split(","))
        values = [value[dim] for dim in re.findall(r"int64_t n_(\w+)", header.split(f"\nint {self.name}(")[1].split(";")[0])]
        dims = ", ".join(values)
        rest = "".join(f", b[{k}]" for k in range(len(self.arrays))) + (", " + self.scalars.split("=")[1] if self.scalars else "")
        rest += ", ws" if workspace else ""
        wrong = ", ".join(values[:-1] + [str(int(values[-1]) + 1)])
        files = {a: [f'"{self.name}.{a.name}.{kind}"' if there else "0" for kind, there in (("bin", a.read), ("want", a.written))]
                 for a in self.arrays}
        arrays = ", ".join(f"{{{', '.join(files[a])}, {a.n * SIZE[a.elem]}, {SIZE[a.elem]}}}" for a in self.arrays)
        size = f"(long long){self.name}_workspace({dims}, of)" if workspace else "0"
        return f"""#include "{self.name}.h"
static int {self.name}_w(void **b, void *ws) {{ (void)ws; return {self.name}({dims}{rest}); }}
static int {self.name}_x(void **b, void *ws) {{ (void)ws; return {self.name}({wrong}{rest}); }}
static int {self.name}_s(long long step, long long share, long long of, void **b, void *ws)
{{ (void)ws; return {self.name}_share(step, share, of, {dims}{rest}); }}
static long long {self.name}_n(long long of) {{ (void)of; return {size}; }}
static const struct array {self.name}_a[] = {{{arrays}, {{0, 0, 0, 0}}}};
""", (f'{{"{self.name}", {self.name}_w, {self.name}_x, {self.name}_s, {self.name}_n, {self.name}_a, '
      f"{self.name}_steps({dims})}}")


HARNESS = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif
struct array { const char *before, *after; size_t bytes, size; }; /* size 0: no more */
@PARTS
enum { MOST = 8, EDGE = 128 };
struct row {
    const char *name;
    int (*whole)(void **b, void *ws), (*wrong)(void **b, void *ws);
    int (*share)(long long step, long long share, long long of, void **b, void *ws);
    long long (*workspace)(long long of);
    const struct array *array;
    long long steps;
};
static char *memory[MOST], *start[MOST], *want[MOST];
static void *b[MOST];
static const struct row *now;

static void *get(size_t n) { void *p = 0; if (posix_memalign(&p, 64, n + 2 * EDGE + 64)) exit(9); memset(p, 0x5a, n + 2 * EDGE + 64); return p; }

static char *load(const char *name, size_t n)
{
    char *at = get(n);
    FILE *file = name ? fopen(name, "rb") : 0;
    if (name && (!file || fread(at, 1, n, file) != n || fgetc(file) != EOF)) { printf("%s\n", name); exit(8); }
    if (file) fclose(file);
    return at;
}

/* Inputs anew, outputs poisoned, all of them `off` elements behind an aligned address. */
static void lay(size_t off)
{
    for (int k = 0; now->array[k].size; k++) {
        const struct array *a = &now->array[k];
        memset(memory[k], 0x5a, a->bytes + 2 * EDGE + 64);
        b[k] = memory[k] + EDGE + off * a->size;
        if (a->before) memcpy(b[k], start[k], a->bytes);
    }
}

static int same(void)
{
    int ok = 1;
    for (int k = 0; now->array[k].size; k++) {
        const struct array *a = &now->array[k];
        char *at = b[k];
        ok = ok && memcmp(at, a->after ? want[k] : start[k], a->bytes) == 0;
        for (char *c = memory[k]; c < memory[k] + a->bytes + 2 * EDGE + 64; c++)
            if ((c < at || c >= at + a->bytes) && *c != 0x5a) ok = 0;
    }
    return ok;
}

static int bad;
static void say(int ok, const char *what)
{
    if (!ok) printf("%s: %s\n", now->name, what);
    bad += !ok;
}

static pthread_barrier_t meet;
static char *ws;
static int codes[2];
static void *worker(void *user)
{
    const int me = (int)(intptr_t)user;
    for (long long step = 0; step < now->steps; step++) {
        codes[me] |= now->share(step, me, 2, b, ws);
        pthread_barrier_wait(&meet);
    }
    return 0;
}

/* A workspace of so many shares: nothing behind it is touched. */
static void poison(void) { memset(ws, 0x5a, (size_t)now->workspace(5) + EDGE); }
static int kept(long long of)
{
    for (long long i = now->workspace(of); i < now->workspace(5) + EDGE; i++)
        if (ws[i] != 0x5a) return 0;
    return 1;
}

/* No byte of the workspace is changed by two shares of a step. */
static void shares(long long of)
{
    int code = 0, apart = 1;
    const size_t n = (size_t)now->workspace(of);
    char *before = get(n), *changed = get(n);
    poison();
    for (long long step = 0; step < now->steps; step++) {
        memset(changed, 0, n);
        for (long long k = of; k-- > 0;) {
            memcpy(before, ws, n);
            code |= now->share(step, k, of, b, ws);
            for (size_t i = 0; i < n; i++)
                if (ws[i] != before[i]) { apart = apart && !changed[i]; changed[i] = 1; }
        }
    }
    say(code == 0 && same(), "in shares: other bits");
    say(apart, "two shares of a step write one place of the workspace");
    say(kept(of), "shares write behind their workspace");
    free(before);
    free(changed);
}

static void whole(size_t off, const char *wrong)
{
    lay(off);
    poison();
    say(now->whole(b, ws) == 0 && same(), wrong);
    say(kept(1), "a call writes behind its workspace");
}

static void threads(void)
{
    pthread_t other;
    codes[0] = codes[1] = 0;
    pthread_barrier_init(&meet, 0, 2);
    if (pthread_create(&other, 0, worker, (void *)1)) exit(9);
    worker(0);
    pthread_join(other, 0);
    pthread_barrier_destroy(&meet);
    say(codes[0] == 0 && codes[1] == 0 && same(), "two threads: other bits");
}

static void refusals(void)
{
    int outs = 0, first = 0;
    void *kept = b[0];
    lay(0);
    say(now->wrong(b, ws) == 1, "other extents: no code 1");
    b[0] = 0;
    say(now->whole(b, ws) == 2, "NULL: no code 2");
    b[0] = memory[0] + EDGE + 1;
    say(now->array[0].size == 1 || now->whole(b, ws) == 2, "between elements: no code 2");
    b[0] = kept;
    lay(0);
    for (int k = 0; now->array[k].size; k++) { outs += now->array[k].after && k; if (now->array[k].after) first = k; }
    b[0] = (char *)b[first] + now->array[first].bytes / now->array[0].size / 2 * now->array[0].size;
    if ((uintptr_t)b[0] % now->array[0].size == 0) say(outs && now->whole(b, ws) == 3, "overlap: no code 3");
    lay(0);
    say(now->share(now->steps, 0, 1, b, ws) == 6 && now->share(-1, 0, 1, b, ws) == 6 && now->share(0, 1, 1, b, ws) == 6 &&
        now->share(0, -1, 1, b, ws) == 6 && now->share(0, 0, 0, b, ws) == 6, "no such share: no code 6");
    if (now->workspace(1)) say(now->whole(b, 0) == 4, "no workspace: no code 4");
    for (int k = 0; now->array[k].size; k++)
        for (size_t i = 0; !now->array[k].before && i < now->array[k].bytes; i++)
            if (((char *)b[k])[i] != 0x5a) { say(0, "a refused call wrote"); break; }
}

static void environment(void)
{
#ifdef __SSE__
    const unsigned before = _mm_getcsr(), other = (before & ~0x3fu) | 0xe040; /* to zero, flushing */
    lay(0);
    _mm_setcsr(other);
    const int code = now->whole(b, ws);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    say(code == 0 && same(), "other rounding of the caller: other bits");
    say((after & ~0x3fu) == (other & ~0x3fu), "the caller's rounding is not put back");
#elif defined __aarch64__
    unsigned long long before, after;
    const unsigned long long other = 15ull << 22; /* to zero, flushing, NaN by default */
    lay(0);
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"(other));
    const int code = now->whole(b, ws);
    __asm__ volatile("mrs %0, fpcr" : "=r"(after));
    __asm__ volatile("msr fpcr, %0" : : "r"(before));
    say(code == 0 && same(), "other rounding of the caller: other bits");
    say(after == other, "the caller's rounding is not put back");
#endif
}

int main(void)
{
    const struct row rows[] = {@ROWS};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        now = &rows[r];
        for (int k = 0; now->array[k].size; k++) {
            memory[k] = get(now->array[k].bytes);
            start[k] = load(now->array[k].before, now->array[k].bytes);
            want[k] = load(now->array[k].after, now->array[k].bytes);
        }
        ws = (char *)get((size_t)now->workspace(5)) + 3;
        whole(0, "whole: other bits");
        whole(1, "aligned to nothing: other bits");
        lay(0); shares(1);
        lay(1); shares(5);
        lay(0); threads();
        environment();
        refusals();
    }
    return bad != 0;
}
"""


def program(rows, folder):
    parts, table = zip(*(row.source() for row in rows))
    with open(os.path.join(folder, "main.c"), "w", encoding="utf-8") as file:
        file.write(HARNESS.replace("@PARTS", "".join(parts)).replace("@ROWS", ",\n        ".join(table)))
