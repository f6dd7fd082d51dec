#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fences.py notices what differs: it is run on pages written here, right and wrong ones."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fences

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fences.py")
GOOD = "kernel k(X: f32[N], out Y: f32[N]) {\n    parallel n: N { Y[n] = X[n] }\n}"
BAD = GOOD.replace("= X[n]", "= Z")


class Lines(unittest.TestCase):
    def same(self, want, got):
        self.assertIsNone(fences.difference(want.splitlines(), got.splitlines()))

    def differs(self, want, got, line):
        found = fences.difference(want.splitlines(), got.splitlines())
        self.assertIsNotNone(found)
        self.assertEqual(found[0], line)

    def test_equal_lines(self):
        self.same("a\nb", "a\nb")
        self.differs("a\nb", "a\nc", 1)
        self.differs("a\nb", "a", 1)
        self.differs("a", "a\nb", 1)
        self.differs("", "a", 0)

    def test_dots_in_a_line(self):
        self.same("time .. us, .. calls", "time 1.5 us, 12 calls")
        self.same("0 .. 4", "0 .. 4")
        self.differs("time .. us", "time 1.5 ms", 0)
        self.differs("a.c", "abc", 0)

    def test_dots_for_lines(self):
        self.same("a\n..\nz", "a\nb\nc\nz")
        self.same("a\n..\nz", "a\nz")
        self.same("..", "a\nb")
        self.differs("a\n..\nz", "a\nb", 1)


class Pages(unittest.TestCase):
    def status(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".md", encoding="utf-8") as page:
            page.write(text)
            page.flush()
            done = subprocess.run([sys.executable, SCRIPT, page.name], capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.returncode

    def test_console(self):
        self.assertEqual(self.status("```console\n$ echo a\na\n$ echo b; exit 3 # exit 3\nb\n```"), 0)
        self.assertEqual(self.status("```console\n$ echo a\nb\n```"), 1)
        self.assertEqual(self.status("```console\n$ exit 3\n```"), 1)
        self.assertEqual(self.status("```console\n$ true # exit 3\n```"), 1)

    def test_sh(self):
        self.assertEqual(self.status("```sh\n# a word\necho a\n```"), 0)
        self.assertEqual(self.status("```sh\nfalse\n```"), 1)

    def test_tile(self):
        self.assertEqual(self.status(f"```tile\n{GOOD}\n```"), 0)
        self.assertEqual(self.status(f"```tile\n{BAD}\n```"), 1)
        self.assertEqual(self.status(f"```tile E0112\n{BAD}\n```"), 0)
        self.assertEqual(self.status(f"```tile E0112\n{GOOD}\n```"), 1)
        self.assertEqual(self.status(f"```tile k.tile\n{GOOD}\n```\n```console\n$ head -c 6 k.tile\nkernel\n```"), 0)

    def test_names(self):
        good = "```sh\ntrue\n```\n"
        self.assertEqual(self.status(good + "`tw_compile` `src/base/arena.h` `arena.h` `src/NAME/x.c` [x](/etc)"), 0)
        for wrong in ("`tw_no_such_thing`", "`src/base/none.h`", "`no_such_file.c`", "[x](none.md)", "`twi_plan.no_such_part`"):
            self.assertEqual(self.status(good + wrong), 1, wrong)

    def test_nothing_is_skipped_silently(self):
        self.assertEqual(self.status("```console elsewhere no/such/test\n$ make demo\n```"), 1)
        self.assertEqual(self.status("```console elsewhere\n$ make demo\n```"), 1)
        self.assertEqual(self.status("```sh maybe\ntrue\n```"), 1)
        self.assertEqual(self.status("a page without a fence"), 1)


if __name__ == "__main__":
    unittest.main()
