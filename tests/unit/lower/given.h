/* SPDX-License-Identifier: Apache-2.0
 * What random plans do not reach, or seldom, written out: frames, copies, windows, swizzles, second
 * launches. Part of plans.c.
 */
#ifndef TEST_LOWER_GIVEN_H
#define TEST_LOWER_GIVEN_H

#include <stddef.h>

typedef struct {
    const char *kernel, *dims, *bind; /* "R=3 W=70"; "T=f32" */
    const char *caps, *plan;          /* a plan's text instead of random ones */
} subject;

/* A staged gemm of 12 x 12 tiles on 4 lanes, its blocks of k, and when its stages are copied. */
#define STAGED(dims, types, trips, a, b)                                                           \
    {                                                                                              \
        "gemm", dims, types, "simt4",                                                              \
            "plan gemm/0 class=free\n"                                                             \
            "frame f: m = grid 2, sub 2@2, slot 3, lane 2@2 ; n = grid 2, sub 2, lane 2, slot 3 "  \
            "; "                                                                                   \
            "k = serial " trips ", loop 2, slot 4\n"                                               \
            "stage A: shared, order k m, pad 4, copy m = slot 3, sub 2, lane 2@2 ; "               \
            "k = lane 2, slot 4" a "\n"                                                            \
            "stage B: shared, order k n, pad 1, copy k = sub 4, lane 2 ; n = slot 3, lane 2@2, "   \
            "slot 2" b "\nentry main ; entry aligned16: align16 A B C\n"                           \
    }

/* 16 x 16 tiles, 16-byte accesses in the reads of both stages and in the copies. */
#define SWIZZLED(types, how, via, other, by)                                                       \
    {                                                                                              \
        "gemm", "M=36 N=40 K=24", types, "simt4",                                                  \
            "plan gemm/0 class=free\n"                                                             \
            "frame f: m = grid 3, sub 2@2, lane 2@2, slot 4 ; n = grid 3, sub 2, lane 2, slot 4 "  \
            "; "                                                                                   \
            "k = serial 3, loop 2, slot 4\n"                                                       \
            "stage A: shared, order k m, " how ", copy m = sub 2, lane 2@2, slot 4 ; "             \
            "k = sub 2@2, lane 2, slot 2" via "\n"                                                 \
            "stage B: shared, order k n, " other                                                   \
            ", copy k = sub 4, slot 2 ; n = lane 4, slot 4" by                                     \
            "\nentry main ; entry aligned16: align16 A B C\n"                                      \
    }

/* given_plans: what random plans do not reach: values taken from one frame to another. */
static const subject given_plans[] = {
    {"transpose", "M=37 N=50", "T=f32", "cpu-avx512",
     "plan transpose/0 target=cpu-avx512 isa=avx512 class=canonical spec T=f32 M=37 N=50\n"
     "frame f: m = grid 3, slot 16 ; n = grid 4, lane 16\n"
     "frame g: m = grid 3, lane 16 ; n = grid 4, slot 16\n"
     "value X: to g via private\nentry main\n"},
    {"transpose", "M=37 N=50", "T=bf16", "simt4",
     "plan transpose/0 target=simt4 class=canonical spec T=bf16 M=37 N=50\n"
     "frame f: m = grid 5, slot 2, sub 4 ; n = grid 13, lane 4\n"
     "frame g: m = grid 5, slot 2, lane 4 ; n = grid 13, sub 4\n"
     "value X: to g via shared\nentry main\n"},
    /* rows of shared memory swizzled: by single elements, by units that wide accesses stay in */
    {"transpose", "M=37 N=50", "T=f32", "simt32",
     "plan transpose/0 class=canonical\n"
     "frame f: m = grid 2, slot 8, sub 4 ; n = grid 2, lane 32\n"
     "frame g: m = grid 2, lane 32 ; n = grid 2, slot 8, sub 4\n"
     "value X: to g via shared, swizzle 128 unit 4\nentry main\n"},
    {"transpose", "M=37 N=50", "T=bf16", "simt4",
     "plan transpose/0 class=canonical\n"
     "frame f: m = grid 5, slot 2, sub 4 ; n = grid 4, lane 4, slot 4\n"
     "frame g: m = grid 5, lane 4, slot 2 ; n = grid 4, sub 4, slot 4\n"
     "value X: to g via shared, swizzle 32 unit 4 rows 2\nentry main\n"},
    SWIZZLED("T=f32", "swizzle 64", "", "swizzle 32 unit 8 rows 2", ""),
    SWIZZLED("T=f32", "swizzle 64 unit 4", ", via regs, window 2", "swizzle 64", ", window 3"),
    SWIZZLED("T=f32", "swizzle 64", ", via async, window 3", "swizzle 64 unit 8",
             ", via async, window 2"),
    SWIZZLED("T=bf16", "swizzle 32", ", via async, window 2", "swizzle 32 unit 4",
             ", via regs, window 2"),
    SWIZZLED("T=bf16", "swizzle 16 unit 2", "", "swizzle 32 rows 2", ", via async, window 4"),
    /* by weight: a scalar carry over loops, slots, lanes and subgroups inside */
    {"row_sum", "R=3 W=1500", "T=f32", "simt32",
     "plan row_sum/0 class=free\nframe f: r = grid 3 ; w = loop 3, sub 4, lane 32, slot 4\n"
     "value sum.1: fold weight\nentry main\n"},
    {"argmax", "R=4 W=300", "T=f32", "simt4",
     "plan argmax/0 class=canonical\n"
     "frame f: r = grid 2, slot 2 ; w = loop 5, sub 2, slot 4, lane 4, slot 2\n"
     "value argmax.1: fold weight\nentry main\n"},
    {"row_sum", "R=3 W=700", "T=bf16", "cpu-avx512",
     "plan row_sum/0 class=free\nframe f: r = grid 1, loop 3 ; w = loop 2, loop 8, slot 4, lane "
     "16\n"
     "value sum.1: fold weight\nentry main\n"},
    {"gemm", "M=5 N=19 K=33", "T=f32", "cpu-avx512",
     "plan gemm/0 class=free\n"
     "frame f: m = grid 3, slot 2 ; n = grid 1, loop 2, lane 16 ; k = loop 9, slot 4\n"
     "value dot.1: fold weight\nentry main\n"},
    /* copies by their own maps: blocked and interleaved, neighbours of 4, 3 of 4 subgroups, tiles
     * that are no powers of two, edges */
    {"gemm", "M=37 N=50 K=29", "T=f32", "simt4",
     "plan gemm/0 class=free\n"
     "frame f: m = grid 4, sub 2@2, slot 3, lane 2@2 ; n = grid 5, sub 2, lane 2, slot 3 ; "
     "k = serial 4, loop 2, slot 4\n"
     "stage A: shared, order k m, pad 4, copy m = slot 3, lane 2@2, slot 2 ; k = lane 2, slot 4\n"
     "stage B: shared, order k n, pad 1, copy k = sub 2, loop 2, lane 2 ; n = slot 3, lane 2@2, "
     "slot 2\n"
     "entry main ; entry aligned16: align16 A B C\n"},
    {"gemm", "M=20 N=40 K=32", "T=f32", "simt4",
     "plan gemm/0 class=free\n"
     "frame f: m = grid 2, sub 2@2, slot 4, lane 2@2 ; n = grid 3, sub 2, lane 2, slot 4 ; "
     "k = serial 4, loop 2, slot 4\n"
     "stage A: shared, order k m, pad 4, copy m = sub 4, lane 2@2, slot 2 ; k = lane 2, slot 4\n"
     "stage B: shared, order k n, copy k = sub 4, slot 2 ; n = lane 4, slot 4\n"
     "entry main ; entry aligned16: align16 A B C\n"},
    /* what a copy writes at once ends with a part of the tile: slots of the copy that reach over
     * the next one, or over several; tiles that lanes of the copy begin and end within */
    {"residual_rmsnorm", "R=5 W=31", "T=f32", "simt32",
     "plan residual_rmsnorm/0 class=free\n"
     "frame f: r = grid 2, sub 3@2 ; w = serial 2, slot 2, slot 4, sub 2\n"
     "stage G: shared, order w.slot.2 w.slot w.sub, copy w = lane 4, slot 4\n"
     "launch persistent 1\nentry main ; entry aligned16: align16 Z G\n"},
    {"rmsnorm", "R=5 W=62", "T=f32", "simt32",
     "plan rmsnorm/0 class=free\n"
     "frame f: r = grid 5 ; w = serial 2, slot 2, slot 2, lane 8\n"
     "stage G: shared, order w.slot.2 w.slot w.lane, copy w = lane 2, slot 16\n"
     "entry main ; entry aligned16: align16 G\n"},
    {"rmsnorm", "R=5 W=45", "T=f32", "simt32",
     "plan rmsnorm/0 class=free\n"
     "frame f: r = grid 5 ; w = serial 2, slot 2, slot 2, sub 6\n"
     "stage G: shared, order w.slot.2 w.slot w.sub, copy w = lane 6, slot 4\n"
     "entry main ; entry aligned16: align16 G\n"},
    /* windows: none, two, as many as there are trips, more of them; one trip; edges; bytes */
    STAGED("M=20 N=24 K=40", "T=f32", "5", ", via regs", ", via regs"),
    STAGED("M=20 N=24 K=40", "T=f32", "5", ", window 2", ", window 3"),
    STAGED("M=20 N=24 K=40", "T=f32", "5", ", via regs, window 2", ", via regs, window 2"),
    STAGED("M=19 N=23 K=37", "T=bf16", "5", ", via regs, window 2", ", window 2"),
    STAGED("M=20 N=24 K=37", "T=f32", "5", ", via regs, window 3", ", via regs"),
    STAGED("M=19 N=23 K=15", "T=f32", "2", ", via regs, window 4", ", window 4"),
    STAGED("M=20 N=24 K=7", "T=f32", "1", ", via regs, window 4", ", window 3"),
    STAGED("M=20 N=24 K=40", "T=f32", "5", ", via async, window 3", ", via async, window 3"),
    STAGED("M=20 N=24 K=40", "T=bf16", "5", ", via async, window 2", ", via async, window 4"),
    STAGED("M=19 N=23 K=37", "T=f32", "5", ", via async, window 4", ", via regs, window 2"),
    STAGED("M=19 N=23 K=37", "T=f32", "5", ", window 2", ", via async, window 2"),
    STAGED("M=20 N=24 K=15", "T=f32", "2", ", via async, window 4", ", via regs, window 4"),
    STAGED("M=20 N=24 K=7", "T=f32", "1", ", via async, window 2", ", via async, window 4"),
    {"gemm", "M=50 N=19 K=37", "T=f32", "cpu-avx512",
     "plan gemm/0 class=free\n"
     "frame f: m = grid 3, loop 4, slot 5 ; n = grid 1, loop 2, lane 16 ; k = serial 5, loop 8\n"
     "stage A: scratch, order m.loop k m.slot, window 2\n"
     "stage B: scratch, order n.loop k n.lane, window 3\nentry main\n"},
    /* a kept value is read behind the barriers of a stage, and written again a turn later */
    {"rmsnorm", "R=3 W=41", "T=f32", "simt32",
     "plan rmsnorm/0 class=free\n"
     "frame f: r = grid 2, lane 2@2 ; w = serial 2, loop 11, lane 2\n"
     "value x: keep shared\nstage G: shared, order w\nlaunch persistent 1\nentry main\n"},
    /* the start of a dot is added after the loops in which slot arrays of its values were filled */
    {"attention", "B=1 H=1 G=1 I=1 J=33 D=4 E=3", "T=f32 CAUSAL=true", "cpu-avx512",
     "plan attention/0 target=cpu-avx512 isa=avx512 class=free spec T=f32 CAUSAL=true BI=32 BJ=32 "
     "B=1 H=1 I=1 D=4 G=1 "
     "J=33 E=3\n"
     "frame f: b = grid 1 ; h = grid 1 ; i = grid 1, loop 8, slot 4 ; d = loop 4 ; e = loop 3 ; "
     "j = serial 0, loop 8, slot 4 order j.loop, e.loop, i.loop, d.loop\nentry main\n"},
    /* frames that cut the same workers' elements into other loops and slots, around a region; what
     * two walks of one phase read is kept between them */
    {"attention", "B=1 H=2 G=1 I=37 J=41 D=5 E=6", "T=f32 CAUSAL=true", "cpu-baseline",
     "plan attention/0 class=free\n"
     "frame f: b = grid 1 ; h = grid 2 ; i = grid 2, loop 4, slot 2, lane 4 ; d = loop 5 ; "
     "e = loop 2, slot 3 ; j = serial 0, loop 8, slot 4\n"
     "frame g: b = grid 1 ; h = grid 2 ; i = grid 2, slot 2, loop 4, lane 4 ; d = loop 5 ; "
     "e = loop 6 ; j = serial 0, loop 32\n"
     "value p: keep stripe\nvalue acc.2: in g\nentry main\n"},
    /* an end that varies by whole steps: no guards */
    {"attention", "B=1 H=1 G=1 I=64 J=96 D=5 E=6", "T=f32 CAUSAL=true", "cpu-baseline",
     "plan attention/0 class=free\n"
     "frame f: b = grid 1 ; h = grid 1 ; i = grid 2, loop 4, slot 2, lane 4 ; d = loop 5 ; "
     "e = loop 6 ; j = serial 0, loop 8, slot 4\nentry main\n"},
    {"softmax", "R=5 W=50", "T=f32", "cpu-avx512",
     "plan softmax/0 target=cpu-avx512 isa=avx512 class=free spec T=f32 R=5 W=50\n"
     "frame f: r = grid 5 ; w = loop 4, lane 16\n"
     "frame g: r = grid 5 ; w = loop 13, slot 4\n"
     "value p: to g via private\nvalue sum.1: in g\nvalue div.1: in g\nentry main\n"},
    /* split over groups: partial results, then a second launch */
    {"row_sum", "R=2 W=300", "T=f32", "cpu-avx512",
     "plan row_sum/0 target=cpu-avx512 isa=avx512 class=free spec T=f32 R=2 W=300\n"
     "frame f: r = grid 2 ; w = grid 5, loop 4, lane 16\nentry main\n"
     "plan row_sum/0.sum.1 target=cpu-avx512 isa=avx512 class=free\n"
     "frame f: r = grid 2 ; part = loop 3, slot 2\n"},
    /* the last group's block is empty: its partial result is that of nothing */
    {"row_sum", "R=2 W=9", "T=f32", "cpu-avx512",
     "plan row_sum/0 target=cpu-avx512 isa=avx512 class=free spec T=f32 R=2 W=9\n"
     "frame f: r = grid 1, loop 2 ; w = grid 4, lane 4\nentry main\n"
     "plan row_sum/0.sum.1 target=cpu-avx512 isa=avx512 class=free\n"
     "frame f: r = grid 2 ; part = loop 2, slot 2\n"},
    {"argmax", "R=2 W=9", "T=f32", "cpu-avx512",
     "plan argmax/0 target=cpu-avx512 isa=avx512 class=canonical spec T=f32 R=2 W=9\n"
     "frame f: r = grid 1, loop 2 ; w = grid 4, lane 4\nentry main\n"
     "plan argmax/0.argmax.1 target=cpu-avx512 isa=avx512 class=canonical\n"
     "frame f: r = grid 2 ; part = loop 2, slot 2\n"},
    {"row_sum", "R=2 W=300", "T=f32", "simt4",
     "plan row_sum/0 target=simt4 class=free spec T=f32 R=2 W=300\n"
     "frame f: r = grid 1, slot 2 ; w = grid 7, slot 3, sub 4, lane 4\nentry main\n"
     "plan row_sum/0.sum.1 target=simt4 class=free\n"
     "frame f: r = grid 2 ; part = loop 2, lane 4\n"},
    {"softmax", "R=5 W=50", "T=f32", "simt4",
     "plan softmax/0 target=simt4 class=free spec T=f32 R=5 W=50\n"
     "frame f: r = grid 5 ; w = slot 4, sub 4, lane 4\n"
     "frame g: r = grid 5 ; w = sub 2, slot 8, lane 4\n"
     "value p: to g via shared\nvalue sum.1: in g\nvalue div.1: in g\nentry main\n"},
    /* two scopes that split folds: partial results of both in one module */
    {"layernorm_backward", "R=5 W=31", "T=f32", "simt32",
     "plan layernorm_backward/0 class=free\n"
     "frame f: r = grid 2, sub 4 ; w = grid 8, loop 2, lane 2\nentry main\n"
     "plan layernorm_backward/0.sum.1 class=free\n"
     "frame f: r = grid 3, slot 2 ; w = loop 5, loop 7 ; part = slot 2, sub 4\n"
     "plan layernorm_backward/1 class=free\n"
     "frame f: w = grid 8, slot 4 ; r = grid 2, loop 2, sub 2\n"
     "plan layernorm_backward/1.sum.6 class=free\n"
     "frame f: w = grid 2, slot 16 ; part = slot 4\n"},
    {"layernorm_backward", "R=5 W=31", "T=f32", "cpu-avx512",
     "plan layernorm_backward/0 class=free\n"
     "frame f: r = grid 5 ; w = grid 2, lane 16\nentry main\n"
     "plan layernorm_backward/0.sum.1 class=free\n"
     "frame f: r = grid 5 ; w = loop 2, lane 16 ; part = slot 2\n"
     "plan layernorm_backward/1 class=free\n"
     "frame f: w = grid 2, lane 16 ; r = grid 3, loop 2\n"
     "plan layernorm_backward/1.sum.6 class=free\n"
     "frame f: w = grid 2, lane 16 ; part = loop 3\n"},
    /* copies inside a loop around: of an axis that the tile lacks, and of one that it has */
    {"row_sum", "R=17 W=257", "T=f64", "simt32",
     "plan row_sum/0 class=free\nframe f: r = grid 3, loop 7 ; w = serial 5, loop 63 around 1\n"
     "stage X: shared, order w, copy w = slot 63, window 4\nentry main\n"},
    {"row_sum", "R=17 W=257", "T=f64", "simt32",
     "plan row_sum/0 class=free\n"
     "frame f: r = grid 3, loop 3, slot 2 ; w = serial 5, loop 63 around 1\n"
     "stage X: shared, order r.slot w.loop, copy r = slot 2 ; w = loop 9, slot 7\nentry main\n"},
    /* arrays without elements, two dimensions of which are joined */
    {"rope", "R=3 H=2 P=0", "T=f32", "simt32",
     "plan rope/0 class=canonical join r h\nframe f: r_h = grid 6 ; p = grid 1, slot 4\n"
     "entry main ; entry aligned16: align16 X C S Y\n"},
};

#endif
