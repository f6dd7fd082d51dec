#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fences.py PAGE..: what the pages say is so. The fences of a page are taken in order, in a scratch folder:

    ```tile [NAME.tile] [E0123 ..]   checks clean, or is refused with exactly these codes; with a name, the file is written
    ```LANGUAGE NAME.ext             the file NAME.ext is written
    ```console                       lines "$ command" are run; what follows each is all that it prints, stdout and stderr
                                     as they come. A command ends with 0, or with what "# exit N" at its end says.
    ```sh                            every line is run and must end with 0; what it prints is not compared
    ```console elsewhere TEST        (sh too) not run here; TEST is the ctest test that does it
    other fences                     are left alone

In the text between fences, `names_like_twi_this` must occur in src/ or include/, `src/paths/like.this` and files.c must
exist (capitals stand for something else: tests/unit/FOLDER/NAME.c), links must lead somewhere.

In printed output ".." stands for any text in a line, and alone on its line for any number of lines. In the folder lie
build/release/tilewright (also first in PATH), kernels, caps, tests and examples, read only by agreement. TW_TOOL is the
tool, TW_BINARY_DIR the build folder whose ctest knows the tests."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMIT = 120  # seconds a command


class Fence:
    def __init__(self, page, line, words):
        self.page, self.line, self.words, self.body = page, line, words, []

    def where(self, offset=0):
        return f"{self.page}:{self.line + offset}"


def fences(page, text):
    """All fences of a page, those without a language too."""
    found, now = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if now is None and line.startswith("```"):
            now = Fence(page, number, line[3:].split())
        elif now is not None and line.strip() == "```":
            found.append(now)
            now = None
        elif now is not None:
            now.body.append(line)
    if now is not None:
        raise ValueError(f"{now.where()}: the fence does not end")
    return found


def line_matches(want, got):
    return re.fullmatch(".*".join(re.escape(part) for part in want.rstrip().split("..")), got.rstrip()) is not None


def difference(want, got):
    """None, or (line of want that nothing matches, line of got or None). A line ".." takes as few lines as it can."""
    at = 0
    for k, line in enumerate(want):
        if line.strip() != "..":
            if at >= len(got) or not line_matches(line, got[at]):
                return k, got[at] if at < len(got) else None
            at += 1
            continue
        for start in range(at, len(got) + 1):
            if difference(want[k + 1:], got[start:]) is None:
                return None
        return k, None
    return None if at == len(got) else (len(want), got[at])


def commands(fence):
    """(offset, command, expected lines) of a console fence."""
    found = []
    for offset, line in enumerate(fence.body, 1):
        if line.startswith("$ "):
            found.append((offset, line[2:], []))
        elif found and line.startswith("> ") and not found[-1][2] and found[-1][1].endswith("\\"):
            found[-1] = (found[-1][0], found[-1][1] + "\n" + line[2:], [])
        elif found:
            found[-1][2].append(line)
        else:
            raise ValueError(f"{fence.where(offset)}: output before any command")
    return found


def wanted_exit(command):
    said = re.search(r"# exit (\d+)\s*$", command)
    return int(said[1]) if said else 0


class Page:
    def __init__(self, name, tool, tests, folder):
        self.name, self.tool, self.tests, self.folder = name, tool, tests, folder
        self.passed = self.failed = 0
        release = os.path.join(folder, "build", "release")
        os.makedirs(release)
        os.symlink(tool, os.path.join(release, "tilewright"))
        for shared in ("kernels", "caps", "tests", "examples"):
            os.symlink(os.path.join(ROOT, shared), os.path.join(folder, shared))
        self.env = {**os.environ, "PATH": release + os.pathsep + os.environ["PATH"], "LC_ALL": "C", "NO_COLOR": "1",
                    "TILEWRIGHT_STORE": os.path.join(folder, "store")}

    def result(self, where, what, wrong):
        self.passed += not wrong
        self.failed += bool(wrong)
        if wrong:
            print(f"FAIL {where}: {what}\n     {wrong}")

    def shell(self, command):
        done = subprocess.run(["sh", "-c", command], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT, check=False)
        return done.returncode, done.stdout.splitlines()

    def console(self, fence):
        for offset, command, want in commands(fence):
            status, got = self.shell(command)
            wrong = None
            if status != wanted_exit(command):
                wrong = f"exit {status}, not {wanted_exit(command)}; printed\n" + "\n".join("     | " + x for x in got[:20])
            elif difference(want, got) is not None:
                k, line = difference(want, got)
                said = want[k] if k < len(want) else "(no more)"
                wrong = f"the page has  | {said}\n     printed is   | {'(no more)' if line is None else line}"
            self.result(fence.where(offset), command, wrong)

    def script(self, fence):
        for offset, line in enumerate(fence.body, 1):
            if line.strip() and not line.lstrip().startswith("#"):
                status, got = self.shell(line)
                self.result(fence.where(offset), line, status and f"exit {status}: {' / '.join(got[-3:])}")

    def tile(self, fence):
        codes = sorted(word for word in fence.words if re.fullmatch(r"E\d{4}", word))
        names = [word for word in fence.words[1:] if word.endswith(".tile")]
        name = names[0] if names else "fence.tile"
        self.write(name, fence)
        done = subprocess.run([self.tool, "check", name, "--json"], cwd=self.folder, env=self.env, capture_output=True,
                              text=True, timeout=LIMIT, check=False)
        got = sorted({said["code"] for said in json.loads(done.stdout)["diagnostics"]})
        self.result(fence.where(), " ".join(fence.words), got != codes and f"says {' '.join(got) or 'nothing'}")

    def write(self, name, fence):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write("\n".join(fence.body) + "\n")

    def elsewhere(self, fence):
        named = fence.words[2:]
        wrong = [name for name in named if name not in self.tests] or (not named and ["nothing named"])
        self.result(fence.where(), " ".join(fence.words), wrong and f"no such test: {' '.join(wrong)}")

    def fence(self, fence):
        if not fence.words:
            return
        language = fence.words[0]
        if fence.words[1:2] == ["elsewhere"]:
            self.elsewhere(fence)
        elif language == "tile":
            self.tile(fence)
        elif language == "console":
            self.console(fence)
        elif language == "sh" and len(fence.words) == 1:
            self.script(fence)
        elif len(fence.words) == 2 and re.fullmatch(r"[\w-]+\.\w+", fence.words[1]):
            self.write(fence.words[1], fence)
        elif len(fence.words) > 1:
            self.result(fence.where(), " ".join(fence.words), "words that fences.py does not know")


def source_words():
    """Every identifier of src/ and include/, and the name of every file of the project."""
    words, files = set(), set()
    for top in ("src", "include", "tests", "tools", "cmake", "bench", "examples", "kernels", "caps", "docs"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            files.update(names)
            for name in names:
                if top in ("src", "include") and name.endswith((".c", ".h", ".def")):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        words.update(re.findall(r"\w+", file.read()))
    return words, files


def names(page, text, words, files):
    """What the text names and the project does not have."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    wrong = []
    for name in re.findall(r"`([^`\n]+)`", text):
        if re.fullmatch(r"twi?_\w+", name.split(".")[0]):
            wrong += [part for part in name.split(".") if part not in words]
        elif re.fullmatch(r"(src|include|tests|tools|cmake|bench|examples|kernels|caps|docs|\.ci)/[a-z0-9_./-]+", name):
            wrong += [] if os.path.exists(os.path.join(ROOT, name)) else [name]
        elif re.fullmatch(r"([a-z0-9_]+/)?[a-z0-9_]+\.(c|h|def)", name):
            wrong += [] if os.path.basename(name) in files else [name]
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", re.sub(r"`[^`\n]+`", "", text)):
        if not re.match(r"\w+:", link) and not os.path.exists(os.path.join(ROOT, os.path.dirname(page), link)):
            wrong.append(link)
    return wrong


def known_tests(folder):
    if not folder:
        return set()
    said = subprocess.run(["ctest", "--test-dir", folder, "-N"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^ *Test +#\d+: (\S+)", said, re.M))


def main(pages):
    tool = os.path.abspath(os.environ.get("TW_TOOL") or os.path.join(ROOT, "build/release/tilewright"))
    if not os.access(tool, os.X_OK):
        print(f"{tool} is not there: make builds it, or TW_TOOL says where it is", file=sys.stderr)
        return 2
    tests = known_tests(os.environ.get("TW_BINARY_DIR"))
    words, files = source_words()
    passed = failed = 0
    for name in pages:
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            text = file.read()
        with tempfile.TemporaryDirectory(prefix="tilewright-docs-") as folder:
            page = Page(name, tool, tests, folder)
            for fence in fences(name, text):
                page.fence(fence)
            for wrong in names(name, text, words, files):
                page.result(name, wrong, "there is no such thing")
        if page.failed:
            again = " ".join(f"{key}={shlex.quote(value)}" for key, value in
                             (("TW_TOOL", tool), ("TW_BINARY_DIR", os.environ.get("TW_BINARY_DIR", ""))))
            print(f"     again: {again} tests/docs/fences.py {name}")
        passed += page.passed
        failed += page.failed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
