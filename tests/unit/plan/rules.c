/* SPDX-License-Identifier: Apache-2.0
 * Each rule broken once: the exact reason. Hand-written plans that are right are accepted.
 */
#include "plan/rules.h"
#include "kernels.h"
#include "plan/atom.h"

enum {
    ROW_SUM,
    ROW_TREE,
    ROW_LEFT,
    ROW_CANON,
    SOFTMAX,
    GEMM,
    GEMM_LEFT,
    ATTENTION,
    SQUARE,
    GEMM_I8,
    GEMM_BF16,
    GEMM_BF16_LEFT,
    GEMM_BF16_LONG,
    KERNELS
};

typedef struct {
    tw_context *ctx;
    tw_ir *ir[KERNELS];
} world;

static int setup(void **state) {
    static world w;
    tw_context *ctx = w.ctx = tw_context_create(NULL);
    if (!ctx)
        return -1;
    w.ir[ROW_SUM] = row_sum_of(ctx, 128, 1000, TW_ORDER_FREE);
    w.ir[ROW_TREE] = row_sum_of(ctx, 128, 1000, TW_ORDER_TREE);
    w.ir[ROW_LEFT] = row_sum_of(ctx, 128, 1000, TW_ORDER_LEFT);
    w.ir[ROW_CANON] = row_sum_of(ctx, 128, 5000, TW_ORDER_CANONICAL);
    w.ir[SOFTMAX] = softmax_of(ctx, 128, 1000, TW_ORDER_FREE);
    w.ir[GEMM] = gemm_of(ctx, 256, 256, 256, TW_ORDER_FREE);
    w.ir[GEMM_LEFT] = gemm_of(ctx, 256, 256, 256, TW_ORDER_LEFT);
    w.ir[ATTENTION] = attention_of(ctx, 64, 96, 32);
    w.ir[SQUARE] = square_of(ctx, 16, 30);
    w.ir[GEMM_I8] = gemm_typed_of(ctx, TW_I8, 48, 64, 36, TW_ORDER_FREE);
    w.ir[GEMM_BF16] = gemm_typed_of(ctx, TW_BF16, 48, 64, 36, TW_ORDER_FREE);
    w.ir[GEMM_BF16_LEFT] = gemm_typed_of(ctx, TW_BF16, 48, 64, 36, TW_ORDER_LEFT);
    w.ir[GEMM_BF16_LONG] = gemm_typed_of(ctx, TW_BF16, 48, 64, 64, TW_ORDER_FREE);
    *state = &w;
    return 0;
}

static int teardown(void **state) {
    tw_context_destroy(((world *)*state)->ctx);
    return 0;
}

static const struct {
    const char *name, *class;
} kernels[KERNELS] = {
    [ROW_SUM] = {"row_sum", "free"},       [ROW_TREE] = {"row_sum", "tree"},
    [ROW_LEFT] = {"row_sum", "canonical"}, [ROW_CANON] = {"row_sum", "canonical"},
    [SOFTMAX] = {"softmax", "free"},       [GEMM] = {"gemm", "free"},
    [GEMM_LEFT] = {"gemm", "canonical"},   [ATTENTION] = {"attention", "free"},
    [SQUARE] = {"square", "canonical"},    [GEMM_I8] = {"gemm", "canonical"},
    [GEMM_BF16] = {"gemm", "free"},        [GEMM_BF16_LEFT] = {"gemm", "canonical"},
    [GEMM_BF16_LONG] = {"gemm", "free"}};

/* The reason, "" if none, for the lines under a header of the kernel's class. */
static const char *reason(world *w, unsigned kernel, const char *target, const char *lines,
                          twi_why *why) {
    const char *text = twi_format(&w->ctx->arena, "plan %s/0 class=%s\n%s\n", kernels[kernel].name,
                                  kernels[kernel].class, lines);
    twi_plans plans;
    twi_caps caps;
    assert_true(twi_caps_named(w->ctx, target, &caps));
    if (!twi_plan_parse(&w->ctx->arena, w->ir[kernel], "t.plan", text, strlen(text), &plans))
        fail_msg("%s", tw_diag_text(w->ctx, false));
    bool good = twi_plan_rules(w->ir[kernel], &caps, &plans.scope[0], why);
    assert_true(good == !why->text[0]);
    return why->text;
}

typedef struct {
    uint8_t kernel;
    const char *target, *lines, *why;
} expectation;

static void check(void **state, const expectation *e, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        twi_why why;
        const char *got = reason(*state, e[i].kernel, e[i].target, e[i].lines, &why);
        if (strcmp(got, e[i].why) != 0)
            fail_msg("%s\n  got:    %s\n  wanted: %s", e[i].lines, got, e[i].why);
    }
}

static void accepted(void **state) {
    static const expectation e[] = {
        {ROW_SUM, "cpu-avx512", "frame f: r = grid 128 ; w = loop 16, slot 4, lane 16", ""},
        {ROW_SUM, "cpu-avx512", "frame f: r = grid 8, lane 16 ; w = loop 1000", ""},
        {ROW_SUM, "cpu-baseline", "frame f: r = grid 43, loop 3 ; w = loop 84, slot 12", ""},
        {ROW_SUM, "simt32", "frame f: r = grid 128 ; w = loop 2, sub 4, lane 32, slot 4", ""},
        {ROW_SUM, "simt32", "frame f: r = grid 32, sub 4 ; w = slot 32, lane 32", ""},
        {ROW_SUM, "simt4", "frame f: r = grid 64, lane 2@2 ; w = loop 167, sub 3, lane 2", ""},
        {ROW_LEFT, "cpu-avx2", "frame f: r = grid 16, lane 8 ; w = loop 250, slot 4", ""},
        {ROW_CANON, "cpu-avx2", "frame f: r = grid 128 ; w = loop 3, loop 8, slot 32, lane 8", ""},
        {ROW_CANON, "simt32", "frame f: r = grid 128 ; w = loop 3, slot 8, slot 2, sub 4, lane 32",
         ""},
        {SOFTMAX, "cpu-avx512",
         "frame f: r = grid 128 ; w = loop 16, slot 4, lane 16\nvalue p: keep stripe", ""},
        {SOFTMAX, "simt32",
         "frame f: r = grid 128 ; w = slot 2, sub 4, lane 32, slot 4\nvalue p: keep stripe", ""},
        {GEMM, "cpu-avx512",
         "frame f: m = grid 2, loop 11, slot 12 ; n = grid 2, loop 4, slot 2, lane 16 ; k = serial "
         "4, "
         "loop 64 order n.loop, m.loop, k.loop\nstage A: scratch, order m.loop k m.slot\n"
         "stage B: scratch, order n.loop k n.slot n.lane",
         ""},
        {GEMM, "simt32",
         "frame f: m = grid 2, sub 4@2, slot 8, lane 4@8 ; n = grid 2, sub 2, slot 2, lane 8, slot "
         "4 ; "
         "k = serial 16, loop 4, slot 4\n"
         "stage A: shared, order m k, pad 4, copy m = slot 2, sub 8, lane 8@4 ; k = lane 4, slot "
         "4\n"
         "stage B: shared, order k n, copy k = slot 2, sub 8 ; n = lane 32, slot 4",
         "value dot.1: M5: 256 slots > 64"},
        {GEMM_LEFT, "cpu-avx2",
         "frame f: m = grid 64, slot 4 ; n = grid 16, slot 2, lane 8 ; k = serial 2, loop 64, slot "
         "2",
         ""},
        {ATTENTION, "cpu-avx512",
         "frame f: i = grid 4, loop 16 ; d = loop 32 ; e = loop 2, lane 16 ; j = serial 3, loop 32",
         ""},
        {SQUARE, "cpu-avx2", "frame f: r = grid 16 ; w = grid 1, loop 4, lane 8", ""},
    };
    check(state, e, sizeof e / sizeof e[0]);
}

#define TILE "frame f: m = grid 6, slot 8 ; n = grid 2, slot 2, lane 16 ; k = "
#define DOTS "cpu-avx512-dots"

static void atoms(void **state) {
    static const expectation e[] = {
        {GEMM_I8, DOTS, TILE "loop 9, atom 4\nvalue dot.1: atom dpi8", ""},
        {GEMM_BF16, DOTS, TILE "loop 9, slot 2, atom 2\nvalue dot.1: atom dpbf16", ""},
        {GEMM_BF16, DOTS,
         TILE "serial 3, loop 6, atom 2\nvalue dot.1: atom dpbf16\n"
              "stage A: scratch, order k.loop m.slot k.atom\n"
              "stage B: scratch, order k.loop n.slot n.lane k.atom",
         ""},
        {GEMM_I8, "cpu-avx512", TILE "loop 9, atom 4\nvalue dot.1: atom dpi8",
         "value dot.1: target cpu-avx512 has no atom dpi8"},
        {GEMM_I8, "simt32",
         "frame f: m = grid 48 ; n = grid 64 ; k = loop 9, atom 4\n"
         "value dot.1: atom dpi8",
         "value dot.1: target simt32 has no atom dpi8"},
        {GEMM_BF16, DOTS, TILE "loop 9, atom 4\nvalue dot.1: atom dpi8",
         "value dot.1: atom dpi8 sums in i32, the dot in f32"},
        {GEMM, DOTS,
         "frame f: m = grid 256 ; n = grid 16, lane 16 ; k = loop 128, atom 2\n"
         "value dot.1: atom dpbf16",
         "value dot.1: atom dpbf16 takes bf16, A is of f32"},
        {GEMM_BF16_LEFT, DOTS, TILE "loop 18, atom 2\nvalue dot.1: atom dpbf16",
         "value dot.1: atom dpbf16 has an order of its own: order free alone"},
        {GEMM_I8, DOTS, TILE "loop 36\nvalue dot.1: atom dpi8",
         "k = loop 36: atom dpi8 of dot.1 takes boxes of 4: 'atom 4' ends it"},
        {GEMM_I8, DOTS, TILE "loop 18, atom 2\nvalue dot.1: atom dpi8",
         "k = loop 18, atom 2: atom dpi8 of dot.1 takes boxes of 4: 'atom 4' ends it"},
        {GEMM_I8, DOTS, TILE "loop 10, atom 4\nvalue dot.1: atom dpi8",
         "k = loop 10, atom 4: atom dpi8 of dot.1 takes boxes of 4: 40 digits, 4 beyond the axis"},
        {GEMM_I8, DOTS,
         "frame f: m = grid 48 ; n = grid 8, lane 8 ; k = loop 9, atom 4\n"
         "value dot.1: atom dpi8",
         "value dot.1: atom dpi8 takes 16 lanes of a vector, here 8"},
        {GEMM_I8, DOTS, TILE "loop 9, atom 4\nvalue dot.1: atom fma",
         "k = loop 9, atom 4: an atom digit, but no atom of a dot over k takes it"},
        {GEMM_BF16, DOTS, TILE "loop 18, atom 2\nvalue dot.1: atom dpbf16, fold weight",
         "fold dot.1: k = loop 18, atom 2: fold weight beside atom digits is not built yet"},
        {GEMM_I8, DOTS,
         "frame f: m = grid 6, loop 8 ; n = grid 2, slot 2, lane 16 ; k = loop 9, atom 4 "
         "order m.loop, k.loop around 1\n"
         "value dot.1: atom dpi8\nstage B: scratch, order k.loop n.slot k.atom n.lane",
         "stage B: atom dpi8 reads boxes: its order ends in the lane digit, then k.atom"},
        {GEMM_BF16_LONG, "cpu-avx512-tiles",
         TILE "loop 2, atom 32\nvalue dot.1: atom tdpbf16\n"
              "stage B: scratch, order k.loop n.slot n.lane k.atom",
         ""},
        {GEMM_BF16, "cpu-avx512-tiles",
         TILE "loop 2, atom 32\nvalue dot.1: atom tdpbf16\n"
              "stage A: scratch, order k.loop m.slot k.atom\n"
              "stage B: scratch, order k.loop n.slot n.lane k.atom",
         ""},
        {GEMM_BF16, "cpu-avx512-tiles",
         TILE "loop 2, atom 32\nvalue dot.1: atom tdpbf16\n"
              "stage B: scratch, order k.loop n.slot n.lane k.atom",
         "value dot.1: atom tdpbf16 takes whole boxes of 32, here 28 positions more: stage A"},
        {GEMM_BF16_LONG, "cpu-avx512-tiles", TILE "loop 2, atom 32\nvalue dot.1: atom tdpbf16",
         "value dot.1: atom tdpbf16 reads the operand with lanes from a stage, B has none"},
        {GEMM_BF16_LONG, DOTS, TILE "loop 2, atom 32\nvalue dot.1: atom tdpbf16",
         "value dot.1: target cpu-avx512-dots has no atom tdpbf16"},
    };
    check(state, e, sizeof e / sizeof e[0]);
}

/* By the table: what takes boxes is had by the target that has all of it, and by no other. */
static void atoms_of_targets(void **state) {
    const world *w = *state;
    for (unsigned atom = 1; atom < TWI_ATOMS; atom++) {
        static const char *const targets[] = {"cpu-avx512-tiles", "cpu-baseline", "cpu-avx512",
                                              "simt32"};
        for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
            twi_caps caps;
            assert_true(twi_caps_named(w->ctx, targets[k], &caps));
            const bool has = k == 0 || twi_atom_row_of(atom)->k == 1;
            if (twi_caps_have_atom(&caps, atom) != has)
                fail_msg("%s: atom %s", targets[k], twi_atom_row_of(atom)->name);
        }
    }
}

static void maps(void **state) {
    static const expectation e[] = {
        {ROW_SUM, "cpu-avx512", "frame f: r = grid 120 ; w = loop 1000",
         "r = grid 120: M1: covers 120 of 128 positions"},
        {ROW_SUM, "cpu-avx512", "frame f: r = grid 128 ; w = loop 62, lane 16",
         "w = loop 62, lane 16: M1: covers 992 of 1000 positions"},
        {ROW_SUM, "cpu-avx512", "frame f: r = loop 128 ; w = loop 1000",
         "r = loop 128: a parallel axis has one grid digit, and it is the outermost"},
        {ROW_SUM, "cpu-avx512", "frame f: r = grid 128 ; w = grid 10, loop 100",
         "the plan of the second launch is missing"},
        {ROW_SUM, "cpu-avx512", "frame f: r = grid 128 ; w = loop 10, grid 100",
         "w = loop 10, grid 100: only parallel axes and one folded axis have a grid digit, "
         "outermost"},
        {ROW_SUM, "cpu-avx512", "frame f: r = grid 128 ; w = loop 10, serial 100",
         "w = loop 10, serial 100: a serial digit is the outermost, here it is digit 1"},
        {ROW_SUM, "cpu-avx512", "frame f: r = grid 128 ; w = slot 10, loop 0",
         "w = slot 10, loop 0: M2: only an outermost loop or serial digit has a run-time count "
         "(0), "
         "digit 1 is loop"},
        {ROW_SUM, "cpu-avx512", "frame f: r = grid 128 ; w = atom 1000",
         "w = atom 1000: an atom digit, but no atom of a dot over w takes it"},
        {ROW_SUM, "cpu-avx512", "frame f: r = grid 128 ; w = atom 4, loop 250",
         "w = atom 4, loop 250: an atom digit ends the map of an axis that a dot folds"},
        {ROW_SUM, "cpu-avx512", "frame f: r = grid 128", "frame f has no map for axis w"},
        {ROW_SUM, "cpu-avx512", "", "the plan has no frame"},
        {ROW_SUM, "cpu-avx512", "frame f: r = grid 128 ; w = lane 16, loop 63",
         "f: M4: w = lane 16, loop 63: the lane digit is the last of its axis, stride 1"},
        {ROW_SUM, "cpu-avx512", "frame f: r = grid 8, lane 16 ; w = loop 63, lane 16",
         "f: M4: one axis has the lane digit, here r and w"},
        {ROW_SUM, "cpu-avx2", "frame f: r = grid 128 ; w = loop 63, lane 16",
         "f: M4: w = loop 63, lane 16: lane 16 is no power of two up to the target's 8"},
        {ROW_SUM, "cpu-avx512", "frame f: r = grid 128 ; w = loop 84, lane 12",
         "f: M4: w = loop 84, lane 12: lane 12 is no power of two up to the target's 16"},
        {ROW_SUM, "cpu-avx512", "frame f: r = grid 128 ; w = loop 500, sub 2",
         "f: w = loop 500, sub 2: sub 2@1 ends at 2, the target has 1"},
        {ROW_SUM, "simt32", "frame f: r = grid 16, lane 8 ; w = loop 32, lane 32",
         "f: M3: lane digits overlap: r = grid 16, lane 8 and w = loop 32, lane 32"},
        {ROW_SUM, "simt32", "frame f: r = grid 128 ; w = loop 32, lane 32@2",
         "f: w = loop 32, lane 32@2: lane 32@2 ends at 64, the target has 32"},
        {ROW_SUM, "simt32", "frame f: r = grid 128 ; w = loop 3, sub 16, lane 32",
         "f: w = loop 3, sub 16, lane 32: sub 16@1 ends at 16, the target has 8"},
        {ROW_SUM, "simt32", "frame f: r = grid 128 ; w = loop 3, sub 8, lane 32, loop 2", ""},
        {SQUARE, "cpu-avx512", "frame f: r = grid 2, slot 9 ; w = grid 2, slot 16",
         "value X: M5: 144 slots > 64"},
        {ATTENTION, "cpu-avx512",
         "frame f: i = grid 4, loop 8 ; d = loop 32 ; e = loop 32 ; j = serial 3, loop 32",
         "i = grid 4, loop 8: M1: the digits right of grid make 8 positions, a block of the text "
         "has 16"},
        {ATTENTION, "cpu-avx512",
         "frame f: i = grid 3, loop 16 ; d = loop 32 ; e = loop 32 ; j = serial 3, loop 32",
         "i = grid 3, loop 16: M1: covers 3 of 4 blocks"},
        {ATTENTION, "cpu-avx512",
         "frame f: i = grid 4, loop 16 ; d = loop 32 ; e = loop 32 ; j = loop 3, loop 32",
         "j = loop 3, loop 32: the outermost digit of a serial axis is serial"},
        {ROW_SUM, "cpu-avx512", "frame f: r = grid 128 ; w = loop 10, loop 100 order w.loop",
         "order of frame f: digit 1 of w = loop 10, loop 100 is a loop and stands there 0 times"},
    };
    check(state, e, sizeof e / sizeof e[0]);
}

static void places(void **state) {
    static const expectation e[] = {
        {SOFTMAX, "simt32", "frame f: r = grid 128 ; w = loop 32, lane 32\nvalue p: keep stripe",
         "value p: M6: its stripe has loop digits (32 x 1 elements), and the target cannot index "
         "private "
         "memory"},
        {ROW_SUM, "simt32", "frame f: r = grid 64, loop 2 ; w = loop 32, lane 32",
         "fold s: M6: its stripe has loop digits (2 x 1 elements), and the target cannot index "
         "private "
         "memory"},
        {SOFTMAX, "cpu-avx512",
         "frame f: r = grid 1, loop 100000 ; w = loop 1000\nvalue p: keep stripe",
         "value p: a stripe of 100000000 x 4 B > 268435456 B"},
        {ROW_SUM, "simt32",
         "frame f: r = grid 128 ; w = slot 16, sub 2, lane 32\nvalue s: fold weight",
         "fold s: w = slot 16, sub 2, lane 32: fold weight: sub 2 weighs less than a slot digit: "
         "loops outermost, then sub digits, then slots and lanes"},
        {SOFTMAX, "cpu-avx512", "frame f: r = grid 128 ; w = loop 1000\nvalue s: keep stripe",
         "value s: only values computed element by element are kept, sum results are in any case"},
        {SOFTMAX, "cpu-avx512", "frame f: r = grid 128 ; w = loop 1000\nvalue p: keep shared",
         "value p: keep shared, but a group is 1 worker: keep stripe"},
        {SOFTMAX, "simt32", "frame f: r = grid 128 ; w = slot 32, lane 32\nvalue p: keep scratch",
         "value p: keep scratch, but a launch carries 0 B of workspace a group: keep stripe or "
         "shared"},
        {SOFTMAX, "cpu-avx512", "frame f: r = grid 128 ; w = loop 1000\nvalue p: fold weight",
         "value p: fold weight, but exp is no fold"},
        {SOFTMAX, "cpu-avx512", "frame f: r = grid 128 ; w = loop 1000\nvalue s: atom fma",
         "value s: an atom, but sum is no dot"},
        {SOFTMAX, "cpu-avx512", "frame f: r = grid 128 ; w = loop 1000\nvalue p: to f via private",
         "value p: it is made in that frame"},
        {GEMM_LEFT, "cpu-avx512",
         "frame f: m = grid 256 ; n = grid 256 ; k = loop 256\nvalue dot.1: atom muladd",
         "value dot.1: its order is a chain of fma, muladd rounds twice"},
        {SOFTMAX, "cpu-avx512", "frame f: r = grid 128 ; w = loop 1000\nentry fast: align16 X",
         "the first entry is main, not fast"},
        {SOFTMAX, "cpu-avx512", "frame f: r = grid 128 ; w = loop 1000\nentry main: align16 X",
         "entry main assumes nothing, here align16 of X"},
    };
    check(state, e, sizeof e / sizeof e[0]);
}

static void orders(void **state) {
    static const expectation e[] = {
        {ROW_SUM, "simt32", "frame f: r = grid 128 ; w = loop 84, lane 12",
         "fold s: w = loop 84, lane 12: lanes that are folded are powers of two, here 12@1"},
        {ROW_SUM, "simt32", "frame f: r = grid 43, lane 3 ; w = loop 125, lane 8@3",
         "fold s: w = loop 125, lane 8@3: lanes that are folded are powers of two, here 8@3"},
        {ROW_LEFT, "cpu-avx512", "frame f: r = grid 128 ; w = loop 63, lane 16",
         "fold s: w = loop 63, lane 16: its order is a chain, which runs in time; lane is space"},
        {ROW_LEFT, "cpu-avx512", "frame f: r = grid 128 ; w = slot 4, loop 250",
         "fold s: w = slot 4, loop 250: its order is a chain: no loop inside what is unrolled or "
         "looped "
         "inside it"},
        {ROW_LEFT, "cpu-avx512",
         "frame f: r = grid 128 ; w = loop 10, loop 100 order w.loop.2, w.loop",
         "fold s: w = loop 10, loop 100: its order is a chain: loop 100 is opened outside one of "
         "greater "
         "weight"},
        {ROW_TREE, "simt32", "frame f: r = grid 128 ; w = slot 16, sub 2, lane 32",
         "fold s: w = slot 16, sub 2, lane 32: order tree: sub 2 weighs less than a slot digit: "
         "loops outermost, then sub digits, then slots and lanes"},
        {ROW_TREE, "cpu-avx512",
         "frame f: r = grid 128 ; w = loop 10, loop 100 order w.loop.2, w.loop",
         "fold s: w = loop 10, loop 100: order tree: loop 100 is opened outside one of greater "
         "weight"},
        {ROW_TREE, "sm_90a",
         "frame f: r = grid 64, loop 2 ; w = loop 16, sub 2, lane 32\nvalue s: fold weight",
         "fold s: order tree over subgroups inside 2 trips of loops of its own axes is not built "
         "yet"},
        {ROW_LEFT, "cpu-avx512", "frame f: r = grid 128 ; w = loop 1000\nvalue s: fold weight",
         "fold s: fold weight, but its order is fixed"},
        {ROW_CANON, "cpu-avx512", "frame f: r = grid 128 ; w = loop 20, slot 16, lane 16",
         "fold s: w = loop 20, slot 16, lane 16: the canonical order's digit of weight 256 is a "
         "loop or "
         "slot of 8, not loop 20"},
        {ROW_CANON, "cpu-avx512", "frame f: r = grid 128 ; w = loop 3, loop 8, slot 17, lane 16",
         "fold s: w = loop 3, loop 8, slot 17, lane 16: the canonical order's lanes are slot, lane "
         "and "
         "sub digits, powers of two with product 256: here 16"},
        {ROW_CANON, "cpu-avx512", "frame f: r = grid 128 ; w = slot 3, loop 8, slot 16, lane 16",
         "fold s: w = slot 3, loop 8, slot 16, lane 16: canonical chunks of 2048 run in a loop, "
         "not in "
         "slot"},
        {ROW_CANON, "cpu-avx512",
         "frame f: r = grid 128 ; w = loop 2, loop 2, loop 8, slot 16, lane 16",
         "fold s: w = loop 2, loop 2, loop 8, slot 16, lane 16: the canonical order of 5000 "
         "elements "
         "leaves no room for loop 2"},
        {SOFTMAX, "cpu-avx512", "frame f: r = grid 128 ; w = serial 10, loop 100",
         "w = serial 10, loop 100: a serial digit needs a scope whose one fold is a sum or dot "
         "over w; m "
         "is none"},
    };
    check(state, e, sizeof e / sizeof e[0]);
}

#define THEN "\nplan row_sum/0.s class=free\nframe f: r = grid 128 ; part = "

static void splits(void **state) {
    static const expectation e[] = {
        {ROW_SUM, "cpu-avx512",
         "frame f: r = grid 128 ; w = grid 4, loop 16, lane 16" THEN "loop 4", ""},
        {ROW_SUM, "cpu-avx512",
         "frame f: r = grid 128 ; w = grid 4, serial 4, loop 4, lane 16" THEN "loop 4", ""},
        {ROW_SUM, "cpu-avx512",
         "frame f: r = grid 128 ; w = grid 4, loop 15, lane 16" THEN "loop 4",
         "w = grid 4, loop 15, lane 16: M1: covers 960 of 1000 positions"},
        {ROW_SUM, "simt32",
         "frame f: r = grid 128 ; w = grid 4, loop 8, lane 32\nframe g: r = grid "
         "128 ; w = grid 4, loop 8, lane 32" THEN "loop 4",
         "2 frames where folds are split: 1"},
        {ROW_SUM, "cpu-avx512",
         "frame f: r = grid 128 ; w = grid 4, loop 250\nvalue X: keep stripe" THEN "loop 4",
         "value X: nothing is kept where folds are split: their results alone go on to the second "
         "launch"},
        {ROW_LEFT, "cpu-avx512", "frame f: r = grid 128 ; w = grid 4, loop 250",
         "fold s: w = grid 4, loop 250: its order is a chain, which no group can cut"},
        {ROW_CANON, "cpu-avx512",
         "frame f: r = grid 128 ; w = grid 2, loop 2, loop 8, slot 16, lane 16",
         "fold s: w = grid 2, loop 2, loop 8, slot 16, lane 16: canonical: 3 groups fold a chunk "
         "of "
         "2048 each, here 2 of 4096"},
        {ROW_CANON, "cpu-avx512", "frame f: r = grid 128 ; w = grid 3, loop 8, slot 16, lane 16",
         "the plan of the second launch is missing"},
    };
    check(state, e, sizeof e / sizeof e[0]);
}

#define GEMM_CPU "frame f: m = grid 64, slot 4 ; n = grid 16, lane 16 ; k = serial 4, loop 64\n"
#define GEMM_GPU                                                                                   \
    "frame f: m = grid 32, sub 8 ; n = grid 2, lane 32, slot 4 ; k = serial 2, loop 128\n"

/* 32 x 1 of the result a group, blocks of 16 of k. */
#define GEMM_SLIM "frame f: m = grid 8, lane 32 ; n = grid 256 ; k = serial 16, loop 16\n"
#define SLIM_COPY "stage A: shared, order k m, pad 96, copy m = lane 32 ; k = slot 2, sub 8"
#define ATTENTION_SIMT                                                                             \
    "frame f: i = grid 4, slot 2, sub 8 ; d = loop 32 ; e = slot 32 ; j = serial 3, lane 32\n"

#define GEMM_AROUND                                                                                \
    "frame f: m = grid 4, loop 4, loop 4, slot 4 ; n = grid 1, loop 16, lane 16 ; k = loop 256 "   \
    "order m.loop, m.loop.2, n.loop, k.loop"

static void stages(void **state) {
    static const expectation e[] = {
        {GEMM, "cpu-avx512", GEMM_CPU "stage dot.1: scratch, order m n",
         "stage dot.1: only loads are staged in this release, it is dot"},
        {GEMM, "simt32",
         "frame f: m = grid 32, sub 8 ; n = grid 2, lane 32, slot 4 ; k = loop 256\nstage A: "
         "shared, "
         "order m k",
         "stage A: none of its axes has a serial digit"},
        {GEMM, "cpu-avx512",
         "frame f: m = grid 64, slot 4 ; n = grid 16, lane 16 ; k = loop 256\nstage A: scratch, "
         "order m k",
         ""},
        {GEMM, "cpu-avx512", GEMM_AROUND " around 3\nstage B: scratch, order k n.lane", ""},
        {GEMM, "cpu-avx512", GEMM_AROUND " around 2\nstage A: scratch, order m.loop.2 k m.slot",
         ""},
        {GEMM, "cpu-avx512", GEMM_AROUND " around 2\nstage A: scratch, order m.loop k m.slot",
         "stage A: it holds loop 4 of m, inside which it is filled"},
        {GEMM, "cpu-avx512", GEMM_AROUND " around 4",
         "k = loop 256: only loops of parallel axes that nothing folds stand around all phases"},
        {GEMM, "cpu-avx512", GEMM_CPU "stage A: shared, order m k",
         "stage A: the target has no shared memory"},
        {GEMM, "simt32", GEMM_GPU "stage A: scratch, order m k",
         "stage A: scratch is memory of explicit-lane targets: use shared"},
        {GEMM, "cpu-avx512", GEMM_CPU "stage B: scratch, order k n, ahead 8", ""},
        {GEMM, "simt32", GEMM_GPU "stage A: shared, order m k, ahead 8",
         "stage A: ahead 8: only what is in scratch is asked for early"},
        {GEMM, "cpu-avx512", GEMM_CPU "stage A: scratch, order k",
         "stage A: its order names slot 4 of m 0 times"},
        {GEMM, "cpu-avx512", GEMM_CPU "stage A: scratch, order k m k",
         "stage A: its order names loop 64 of k 2 times"},
        {GEMM, "cpu-avx512", GEMM_CPU "stage A: scratch, order m k, window 2", ""},
        {GEMM, "cpu-avx512", GEMM_AROUND " around 3\nstage B: scratch, order k n.lane, window 2",
         "stage B: window 2: none of its axes has a serial digit"},
        {GEMM, "cpu-avx512", GEMM_CPU "stage A: scratch, order m k, via regs, window 2",
         "stage A: via regs: one worker a group, nobody computes while it copies: via sync"},
        {GEMM, "simt32", GEMM_SLIM SLIM_COPY ", via regs, window 2", ""},
        {GEMM, "simt32", GEMM_SLIM SLIM_COPY ", via regs", ""},
        {GEMM, "simt32", GEMM_SLIM "stage A: shared, order k m, via regs, window 2",
         "stage A: via regs holds its copy in slots: it needs a copy map"},
        {GEMM, "simt32",
         GEMM_SLIM "stage A: shared, order k m, copy m = lane 32 ; k = loop 2, sub 8, via regs",
         "stage A: via regs holds its copy in slots: copy k = loop 2, sub 8 has a loop"},
        {GEMM, "simt32",
         GEMM_SLIM "stage A: shared, order k m, copy m = slot 32 ; k = slot 2, sub 8, via regs\n"
                   "stage B: shared, order k, copy k = slot 16, via regs",
         "stages via regs hold 80 slots > 64"},
        {GEMM, "simt32", GEMM_SLIM SLIM_COPY ", window 8", "stages take shared 65536 B > 49152 B"},
        {GEMM, "simt32", GEMM_SLIM SLIM_COPY ", via async, window 3", ""},
        {GEMM, "simt32", GEMM_SLIM "stage A: shared, order k m, via async, window 2", ""},
        {GEMM, "simt32", GEMM_SLIM SLIM_COPY ", via async",
         "stage A: via async, window 1: the copy of a trip is under way while the one before "
         "computes: window 2 or more"},
        {GEMM, "simt32",
         "frame f: m = grid 8, lane 32 ; n = grid 256 ; k = serial 0, loop 16\n" SLIM_COPY
         ", via async, window 2",
         "stage A: via async: k = serial 0 is not counted, and what is copied ahead of its trip "
         "needs to know which is the last"},
        {GEMM, "cpu-avx512", GEMM_CPU "stage A: scratch, order m k, via async, window 2",
         "stage A: via async: only into shared memory"},
        {ATTENTION, "simt32", ATTENTION_SIMT "stage K: shared, order j d, window 3", ""},
        {ATTENTION, "simt32",
         ATTENTION_SIMT "stage K: shared, order j d, copy j = sub 8, slot 4 ; d = lane 32, via "
                        "regs, window 2",
         "stage K: via regs in trips of the text's region over j is not built yet: via sync"},
    };
    check(state, e, sizeof e / sizeof e[0]);
}

static void copies(void **state) {
    static const expectation e[] = {
        {GEMM, "simt32",
         "frame f: m = grid 8, slot 2, loop 1, lane 16 ; n = grid 256 ; k = serial 16, loop 16 "
         "order m.loop, k.loop around 1\n"
         "stage A: shared, order k m.slot m.lane, copy m = lane 32 ; k = slot 2, sub 8",
         "stage A: copy m: positions of the tile lie apart, around those of a loop that it does "
         "not hold"},
        {GEMM, "simt32",
         "frame f: m = grid 4, loop 2, lane 32 ; n = grid 256 ; k = serial 16, loop 16 "
         "order m.loop, k.loop around 1\n"
         "stage A: shared, order k m.lane, copy m = slot 1, slot 1, slot 1, loop 1, loop 1, "
         "loop 1, lane 32 ; k = slot 2, sub 8",
         "stage A: copy m = slot 1, slot 1, slot 1, loop 1, loop 1, loop 1, lane 32: 9 digits of "
         "the copy > 8"},
        {GEMM, "simt32", GEMM_GPU "stage A: shared, order m k, copy k = lane 32, slot 4",
         "stage A: the copy maps other axes than the tile has"},
        {GEMM, "simt32",
         GEMM_GPU "stage A: shared, order m k, copy m = sub 8 ; k = lane 32, slot 3",
         "stage A: copy k = lane 32, slot 3 covers 96 positions, the tile has 128"},
        {GEMM, "simt32",
         GEMM_GPU "stage A: shared, order m k, copy m = serial 8 ; k = lane 32, slot 4",
         "stage A: copy m = serial 8: no serial digits in a copy"},
        {GEMM, "simt32", GEMM_GPU "stage B: shared, order k n",
         "stages take shared 65536 B > 49152 B"},
    };
    check(state, e, sizeof e / sizeof e[0]);
}

static void class_is_the_kernels(void **state) {
    world *w = *state;
    twi_plans plans;
    twi_caps caps;
    twi_why why;
    static const char text[] =
        "plan softmax/0 class=canonical\nframe f: r = grid 128 ; w = loop 1000\n";
    assert_true(twi_caps_named(w->ctx, "simt4", &caps));
    assert_true(
        twi_plan_parse(&w->ctx->arena, w->ir[SOFTMAX], "t.plan", text, strlen(text), &plans));
    assert_false(twi_plan_rules(w->ir[SOFTMAX], &caps, &plans.scope[0], &why));
    assert_string_equal(why.text, "class=canonical, but the kernel's folds are of class free");
}

static void swizzles(void **state) {
    static const expectation e[] = {
        {GEMM, "simt32", GEMM_GPU "stage A: shared, order m k, swizzle 128", ""},
        {GEMM, "simt32", GEMM_GPU "stage A: shared, order m k, pad 1, swizzle 128",
         "stage A: pad 1 and swizzle 128: one of them"},
        {GEMM, "cpu-avx512", GEMM_CPU "stage A: scratch, order m k, swizzle 128",
         "stage A: swizzle 128: only shared memory has banks"},
        {GEMM, "simt32", GEMM_GPU "stage A: shared, order m k, swizzle 1024",
         "stage A: swizzle 1024 unit 16 rows 1 of rows of 128 x 4 B: rows are not whole spans"},
        {GEMM, "simt32", GEMM_GPU "stage A: shared, order m k, swizzle 128 unit 2",
         "stage A: swizzle 128 unit 2 rows 1 of rows of 128 x 4 B: a unit holds whole elements"},
        {GEMM, "simt32", GEMM_SLIM "stage B: shared, order k, swizzle 64",
         "stage B: swizzle 64: the tile is one row"},
        {GEMM, "simt32", GEMM_SLIM "value A: swizzle 64",
         "value A: swizzle 64 without a shared carrier"},
    };
    check(state, e, sizeof e / sizeof e[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted),
        cmocka_unit_test(atoms),
        cmocka_unit_test(atoms_of_targets),
        cmocka_unit_test(maps),
        cmocka_unit_test(places),
        cmocka_unit_test(orders),
        cmocka_unit_test(splits),
        cmocka_unit_test(stages),
        cmocka_unit_test(swizzles),
        cmocka_unit_test(copies),
        cmocka_unit_test(class_is_the_kernels),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
