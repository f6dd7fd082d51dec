# SPDX-License-Identifier: Apache-2.0
# Golden tests: *.test files with RUN lines. `tests/README.md` says how to write and run one.
import os

import lit.formats

config.name = "tilewright"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".test"]
config.test_source_root = os.path.join(config.tw_source, "tests", "lit")
config.test_exec_root = os.path.join(config.tw_binary, "tests", "lit", "out")

bin_dir = os.path.dirname(config.tw_filecheck)
config.environment["PATH"] = os.pathsep.join([bin_dir, "/usr/bin", "/bin"])
config.environment["NO_COLOR"] = "1"
config.environment["TILEWRIGHT_STORE"] = os.path.join(config.test_exec_root, "store")
for name in ("TILEWRIGHT_CC", "TILEWRIGHT_DUMP", "TILEWRIGHT_THREADS", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# %tilewright the tool, %kernels the standard library, %root the source tree,
# %comma an environment with a decimal comma: `env %comma %tilewright ..`
config.substitutions += [
    ("%tilewright", config.tw_tool),
    ("%kernels", os.path.join(config.tw_source, "kernels")),
    ("%root", config.tw_source),
    ("%comma", "LOCPATH=%s LC_ALL=de_DE.UTF-8" % os.path.join(config.tw_binary, "locale")),
]
