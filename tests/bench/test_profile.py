#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/gpu/profiles.py without a device: instructions of a disassembly by class and loop, what a profiler that may or may not read
counters says, which cases are the worst."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench/gpu"))
import cases
import profiles
import sass

SASS = """	.section	.text.K_a_main,"ax",@progbits
K_a_main:
.text.K_a_main:
        /*0000*/                   S2R R0, SR_TID.X ;
.L_x_1:
        /*0010*/                   LDG.E.128.CONSTANT R4, desc[UR8][R20.64] ;
.L_x_0:
        /*0020*/              @!P0 LDG.E.64 R8, desc[UR8][R20.64+0x10] ;
        /*0030*/                   LDG.E.U16 R9, desc[UR8][R20.64+0x18] ;
        /*0040*/                   FADD R4, R4, R5 ;
        /*0050*/                   REDUX.SUM UR4, R4 ;
        /*0060*/             @!UP0 FFMA R4, R4, R5, R6 ;
        /*0070*/               @P0 BRA `(.L_x_0) ;
        /*0080*/                   STG.E desc[UR8][R20.64], R4 ;
        /*0090*/               @P1 BRA `(.L_x_1) ;
        /*00a0*/                   EXIT ;
.L_x_2:
        /*00b0*/                   BRA `(.L_x_2);
        /*00c0*/                   NOP;
.L_x_9:
	.section	.text.K_a_aligned16,"ax",@progbits
.text.K_a_aligned16:
        /*0000*/                   LDS.128 R4, [R0] ;
        /*0010*/                   MUFU.EX2 R4, R4 ;
        /*0020*/                   F2FP.BF16.F32.PACK_AB R4, R4, R5 ;
        /*0030*/                   IMAD.WIDE R4, R4, R5, R6 ;
        /*0040*/                   EXIT ;
"""
COUNTERS = '''#!/bin/sh
echo "==PROF== Connected to process 1"
echo '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'
echo '"0","K_a_main(const float *)","gpu__time_duration.sum","nsecond","2,048"'
echo '"0","K_a_main(const float *)","dram__bytes.sum","Kbyte","512.5"'
'''
REFUSED = '''#!/bin/sh
echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"
exit 1
'''


def check_counts():
    inner, plain = sass.functions(SASS)
    assert (inner.name, inner.instructions, inner.loop) == ("K_a_main", 11, 6), inner
    assert inner.counts == {"load": 2, "float": 1, "shuffle": 1, "fma": 1, "branch": 1}, inner.counts
    assert (inner.load_bytes, inner.fmas) == (10, 1), inner
    assert (plain.name, plain.loop) == ("K_a_aligned16", 0), plain
    assert plain.counts == {"shared": 1, "special": 1, "convert": 1, "integer": 1, "branch": 1}, plain.counts
    assert sass.occupancy(32, 0, 256) == (100, "threads") and sass.occupancy(33, 0, 256)[0] == 75
    assert sass.occupancy(64, 0, 1024) == (50, "registers") and sass.occupancy(32, 100000, 256) == (25, "shared")


def check_profiler(folder):
    case = cases.cases("sums")[0]

    def said(text):
        path = os.path.join(folder, "ncu")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o700)
        return profiles.by_counters(path, case, "ours")
    assert said(COUNTERS) == [("K_a_main", {"us": 2.048, "DRAM MB": 0.5125})], said(COUNTERS)
    assert "ERR_NVGPUCTRPERM" in said(REFUSED)
    assert said("#!/bin/sh\necho no device >&2\nexit 9\n") == "ncu ended with 9: no device"


def main():
    check_counts()
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        check_profiler(folder)
    rows = [{"ratio": ratio, "wanted": wanted} for ratio, wanted in ((1.3, 1.2), (1.4, 1.5), (0.9, 1.2), (None, 1.5), (3, 1.5), (1.55, 1.5))]
    assert [row["ratio"] for row in cases.worst(rows)] == [3, 1.3, 1.55], cases.worst(rows)
    print("ok   instructions by class and loop, counters with and without leave, the worst cases")
    return 0


if __name__ == "__main__":
    sys.exit(main())
