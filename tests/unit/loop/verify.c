/* SPDX-License-Identifier: Apache-2.0
 * The verifier: two correct functions, then each rule broken once by an edit of their text.
 */
#include "support.h"

#include "loop/codes.h"

/* A fold of X[row, ..] through shared memory, twice through the same object; a register stripe. */
static const char simt[] = "loop k target simt4\n"
                           "argument 1 X in f32[6, 64]\n"
                           "argument 2 Y out f32[6]\n"
                           "scalar 1 n i64\n"
                           "entry main align16 X {\n"
                           "  launch k_main grid 6\n"
                           "}\n"
                           "func k_main entry 0 scope 0 implicit lanes 4 subs 2 {\n"
                           "  array X = 1 f32[6, 64] stride [64, 1] align 16\n"
                           "  array Y = 2 f32[6] stride [1]\n"
                           "  private keep f32[8] stride [1]\n"
                           "  shared red f32[2] stride [1]\n"
                           "  shared all f32[2, 4] stride [5, 1]\n"
                           "  %1 = id grid\n"
                           "  %2 = id sub\n"
                           "  %3 = id lane\n"
                           "  %4 = mul %2, 4\n"
                           "  %5 = add %4, %3\n"
                           "  unroll %6 in 8 {\n"
                           "    %7 = mul %6, 8\n"
                           "    %8 = add %7, %5\n"
                           "    %9 = load X[%1, %8] : f32\n"
                           "    store keep[%6] = %9\n"
                           "  }\n"
                           "  %10 = load keep[0] : f32\n"
                           "  %11 = lane_fold add %10 stride 1 extent 4 fold 3 : f32\n"
                           "  %12 = eq %3, 0 : bool\n"
                           "  if %12 {\n"
                           "    store red[%2] = %11\n"
                           "  }\n"
                           "  barrier group\n"
                           "  %13 = load red[0] : f32\n"
                           "  %14 = load red[1] : f32\n"
                           "  %15 = add %13, %14 fold 3 : f32\n"
                           "  barrier group\n"
                           "  if %12 {\n"
                           "    store red[%2] = %15\n"
                           "  }\n"
                           "  barrier group\n"
                           "  %16 = load red[1] : f32\n"
                           "  store all[%2, %3] = %16\n"
                           "  barrier subgroup\n"
                           "  %17 = load all[%2, 3] : f32\n"
                           "  %18 = eq %5, 0 : bool\n"
                           "  if %18 {\n"
                           "    store Y[%1] = %17\n"
                           "  }\n"
                           "}\n";

static const char lanes[] = "loop k target cpu\n"
                            "argument 1 X in f32[6, 60]\n"
                            "argument 2 Y out f32[6, 60]\n"
                            "scalar 1 n i64\n"
                            "entry main align16 X {\n"
                            "  launch k_main grid 2\n"
                            "}\n"
                            "func k_main entry 0 scope 0 explicit lanes 16 subs 1 {\n"
                            "  array X = 1 f32[6, 60] stride [*, 1] align 16\n"
                            "  array Y = 2 f32[6, 60] stride [60, 1]\n"
                            "  private s f32x16[4] stride [1]\n"
                            "  %1 = id grid\n"
                            "  %2 = mul %1, 4\n"
                            "  unroll %3 in 4 {\n"
                            "    %4 = add %2, %3\n"
                            "    %5 = lt %4, 6 : bool\n"
                            "    if %5 {\n"
                            "      for %6 in 0 .. 4 {\n"
                            "        %7 = mul %6, 16\n"
                            "        %8 = sub 60, %7\n"
                            "        %9 = load X[%4, %7] first %8 align 16 : f32x16\n"
                            "        store s[%6] = %9\n"
                            "      }\n"
                            "      for %10 in 0 .. 4 {\n"
                            "        %11 = load s[%10] : f32x16\n"
                            "        %12 = mul %10, 16\n"
                            "        %13 = sub 60, %12\n"
                            "        store Y[%4, %12] = %11 first %13\n"
                            "      }\n"
                            "    }\n"
                            "  }\n"
                            "}\n";

static twi_loop *edited(bench *b, const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("no text %s", from);
    twi_sb out;
    twi_sb_init(&out, &b->ctx->arena);
    twi_sb_add(&out, text, (size_t)(at - text));
    twi_sb_str(&out, to);
    twi_sb_str(&out, at + strlen(from));
    return read_loop(b, twi_sb_text(&out));
}

static void correct(void **state) {
    bench *b = *state;
    twi_loop *one = read_loop(b, simt), *two = read_loop(b, lanes);
    if (!twi_loop_verify(one) || !twi_loop_verify(two))
        fail_msg("%s", tw_diag_text(b->ctx, false));
    /* what varies: X's element by grid, sub and lane; the folded value not by lane, the loaded one
       of `red` by neither */
    const twi_func *f = &one->func.at[0];
    unsigned seen = 0;
    for (uint32_t v = 1; v < f->ins.n; v++) {
        const twi_lins *i = &f->ins.at[v];
        unsigned grid = 1u << TWI_LV_GRID, sub = 1u << TWI_LV_SUB, lane = 1u << TWI_LV_LANE;
        if (i->op == TWI_L_LANE_FOLD && ++seen)
            assert_int_equal(i->varies, grid | sub);
        if (i->op == TWI_ADD && i->fold == 3 && ++seen)
            assert_int_equal(i->varies & (sub | lane), 0);
        if (i->op == TWI_L_LLOAD && f->access.at[i->attr].object == 1 && ++seen)
            assert_int_equal(i->varies, grid | sub | lane);
    }
    assert_int_equal(seen, 3);
}

/* An edit of one of the texts; what the verifier says of it (0: nothing). */
typedef struct {
    const char *text, *from, *to;
    int code;
    const char *says;
} edit;

static void judge(bench *b, const edit *list, size_t n) {
    for (size_t k = 0; k < n; k++) {
        tw_diag_clear(b->ctx);
        bool fine = twi_loop_verify(edited(b, list[k].text, list[k].from, list[k].to));
        if (fine != (list[k].code == 0))
            fail_msg("case %zu (%s): %s\n%s", k, list[k].to, fine ? "accepted" : "refused",
                     tw_diag_text(b->ctx, false));
        if (list[k].code == 0)
            continue;
        tw_diag d = tw_diag_get(b->ctx, 0);
        if (d.code != list[k].code || !strstr(d.text, list[k].says))
            fail_msg("case %zu: E%04d %s", k, d.code, d.text);
    }
}

static void broken(void **state) {
    bench *b = *state;
    static const edit list[] = {
        {simt, "%5 = add %4, %3", "%5 = fma %4, %3", TWI_LOOP_E_V1, "operands"},
        {simt, "%15 = add %13, %14", "%15 = add %13, %2", TWI_LOOP_E_V1, "types"},
        {simt, "%12 = eq %3, 0 : bool", "%12 = eq %3, 0 : f32", TWI_LOOP_E_V1, "types"},
        {simt, "if %12 {\n    store red[%2] = %11", "if %3 {\n    store red[%2] = %11",
         TWI_LOOP_E_V1, "bool"},
        {simt, "store Y[%1] = %17", "store X[%1, 0] = %17", TWI_LOOP_E_V1,
         "an input is not stored"},
        {simt, "lane_fold add %10 stride 1 extent 4", "lane_fold add %10 stride 1 extent 8",
         TWI_LOOP_E_V1, "lanes"},
        {simt, "%10 = load keep[0] : f32", "%10 = load keep[0] : f64", TWI_LOOP_E_V1, "type"},
        {simt, "  array Y = 2 f32[6] ", "  array Y = 2 f32[7] ", TWI_LOOP_E_V1, "declared"},
        {simt, "  %10 = load keep[0] : f32\n",
         "  %30 = load keep[0] : f32\n  %31 = exp2 %30 : f32\n %10 = add %30, %31 : f32\n",
         TWI_LOOP_E_NOT_BUILT, "exp2"},
        {simt,
         "    %9 = load X[%1, %8] : f32\n    store keep[%6] = %9\n  }\n  %10 = load keep[0] : f32",
         "    %9 = load X[%1, %8] : f32\n    store keep[%6] = %9\n  }\n  %10 = mul %9, %9 : f32",
         TWI_LOOP_E_V1, "open body"},
        {simt, "  barrier group\n", "  if %12 {\n  barrier group\n  }\n", TWI_LOOP_E_V2, "lane"},
        {simt, "  barrier subgroup\n", "  for %40 in 0 .. %3 {\n  barrier subgroup\n  }\n",
         TWI_LOOP_E_V2, "lane"},
        {simt, "    store red[%2] = %11\n",
         "    store red[%2] = %11\n    %41 = lane_xor %11 mask 2 : f32\n", TWI_LOOP_E_V2, "lane"},
        {simt, "  barrier group\n  %13",
         "  %41 = lane_shift %11 by -4 : f32\n  barrier group\n  %13", TWI_LOOP_E_V1,
         "lanes beyond"},
        {simt, "    store red[%2] = %11\n",
         "    store red[%2] = %11\n    %41 = lane_shift %11 by 2 : f32\n", TWI_LOOP_E_V2, "lane"},
        {simt, "store Y[%1] = %17", "store Y[%1] sub= %17", TWI_LOOP_E_V1, "merge into arrays"},
        {simt, "store red[%2] = %11", "store red[%2] add= %11", TWI_LOOP_E_V1, "merge into arrays"},
        {simt, "store Y[%1] = %17", "store Y[%1] add= %17", 0, ""},
        {simt, "    store keep[%6] = %9\n", "", TWI_LOOP_E_V3, "no store before"},
        {simt, "unroll %6 in 8", "unroll %6 in 7", 0, ""},
        {simt, "%10 = load keep[0]", "%10 = load keep[7]", 0, ""},
        {simt, "    store keep[%6] = %9\n  }\n  %10 = load keep[0]",
         "    %42 = min %6, 3\n    store keep[%42] = %9\n  }\n  %10 = load keep[7]", TWI_LOOP_E_V3,
         "keep[7]"},
        {simt, "%10 = load keep[0]", "%10 = load keep[8]", TWI_LOOP_E_V4,
         "index 0 is 8 to 8, the extent is 8"},
        {simt, "%7 = mul %6, 8", "%7 = mul %6, 9", TWI_LOOP_E_V4,
         "index 1 is 0 to 70, the extent is 64"},
        {simt, "grid 6", "grid 7", TWI_LOOP_E_V4, "index 0 is 0 to 6, the extent is 6"},
        {simt, "  barrier group\n  %13", "  %13", TWI_LOOP_E_V6, "written"},
        {simt, "  barrier group\n  if %12", "  if %12", TWI_LOOP_E_V6, "read"},
        {simt, "  barrier group\n  %16", "  %16", TWI_LOOP_E_V6, "written"},
        {simt, "  barrier subgroup\n", "", TWI_LOOP_E_V6, "all"},
        {simt, "load all[%2, 3]", "load all[1, 3]", TWI_LOOP_E_V6, "all"},
        {lanes, "first %8 align 16", "first %8 align 32", TWI_LOOP_E_V8, "promises 16"},
        {lanes, "align 16\n  array Y", "\n  array Y", TWI_LOOP_E_V8, "promises 4"},
        {lanes, "%7 = mul %6, 16", "%7 = mul %6, 14", TWI_LOOP_E_V8, "multiple of 14"},
        {lanes, "first %8", "", TWI_LOOP_E_V4, "index 1 is 0 to 63, the extent is 60"},
        {lanes, "store Y[%4, %12] = %11 first %13", "store Y[%4, %12] = %11 where %5", 0, ""},
        {simt, "store Y[%1] = %17", "%50 = add %5, 6\n    store Y[%50] = %17", TWI_LOOP_E_V4,
         "6 to 6"},
        {simt, "store Y[%1] = %17", "%50 = add %5, 5\n    store Y[%50] = %17", 0, ""},
        {lanes, "for %10 in 0 .. 4", "for %10 in 0 .. 0", 0, ""},
        {beside, "async_wait 0", "async_wait 1", 0, ""},
        {beside, "    async_wait 0\n", "", TWI_LOOP_E_V7, "no async_wait before it"},
        {beside, "async_copy ring[0, %5] = %9", "async_copy ring[0, %5] = %7", TWI_LOOP_E_V1,
         "a load of an array"},
        {beside, "async_copy ring[0, %5] = %9", "async_copy s[0] = %9", TWI_LOOP_E_V1,
         "into shared objects"},
        {beside, "  async_commit\n  for", "  %90 = add %9, %9 : f32\n  async_commit\n  for",
         TWI_LOOP_E_V1, "nothing else uses it"},
    };
    judge(b, list, sizeof list / sizeof *list);
}

/* Swizzled objects: whose they are, their rows, and what may be touched at once. */
static void swizzled(void **state) {
    static const char text[] = "loop k target simt4\n"
                               "argument 1 Y out f32[4, 16]\n"
                               "entry main {\n launch f grid 1\n}\n"
                               "func f entry 0 scope 0 implicit lanes 4 subs 1 {\n"
                               "  array Y = 1 f32[4, 16] stride [16, 1]\n"
                               "  shared t f32[4, 16] stride [16, 1] swizzle 64\n"
                               "  %1 = id lane\n"
                               "  unroll %2 in 4 {\n"
                               "    %3 = mul %2, 4\n"
                               "    %40 = const 1 : f32\n"
                               "    %4 = splat %40 : f32x4\n"
                               "    store t[%1, %3] = %4 align 16\n"
                               "  }\n"
                               "  %5 = load t[%1, 0] align 16 : f32x4\n"
                               "  store Y[%1, 0] = %5\n"
                               "}\n";
    static const edit list[] = {
        {text, "swizzle 64", "swizzle 64", 0, ""},
        {text, "swizzle 64", "swizzle 32 rows 4", 0, ""},
        {text, "swizzle 64", "swizzle 128", TWI_LOOP_E_V1, "rows are not whole spans"},
        {text, "swizzle 64", "swizzle 48", TWI_LOOP_E_V1, "powers of two"},
        {text, "swizzle 64", "swizzle 64 unit 8", TWI_LOOP_E_V8, "by units of 8"},
        {text, "%5 = load t[%1, 0] align 16", "%5 = load t[%1, 0]", TWI_LOOP_E_V8, "aligned to 0"},
        {text, "[%1, %3] = %4 align 16", "[%1, %3] = %4 align 4", TWI_LOOP_E_V8, "aligned to 4"},
        {text, "stride [16, 1] swizzle", "stride [1, 4] swizzle", TWI_LOOP_E_V1, "rows"},
        {text, "shared t", "private t", TWI_LOOP_E_V1, "only shared objects"},
        {text, "implicit lanes 4", "explicit lanes 4", TWI_LOOP_E_V1, "only shared objects"},
    };
    judge(*state, list, sizeof list / sizeof *list);
}

/* V5: indices of 32 bits. */
static void narrow(void **state) {
    static const edit list[] = {
        {simt, "  %3 = id lane\n",
         "  %3 = id lane\n  %60 = cast %1 index : i32\n  %61 = const 400000000 : i32\n"
         "  %62 = mul %60, %61 index : i32\n",
         0, ""},
        {simt, "  %3 = id lane\n",
         "  %3 = id lane\n  %60 = cast %1 index : i32\n  %61 = const 500000000 : i32\n"
         "  %62 = mul %60, %61 index : i32\n",
         TWI_LOOP_E_V5, "32 bits do not hold every value"},
        {simt, "  %3 = id lane\n",
         "  %3 = id lane\n  %60 = cast %1 index : i32\n  %61 = const 500000000 : i32\n"
         "  %62 = mul %60, %61 : i32\n",
         0, ""},
        {simt, "  %3 = id lane\n",
         "  %3 = id lane\n  %60 = load Y[%1] : f32\n  %61 = scalar n\n"
         "  %62 = cast %61 index : i32\n",
         TWI_LOOP_E_V5, "32 bits do not hold every value"},
        {simt, "  barrier group\n  %13",
         "  barrier group\n  %70 = const 0 : i32\n  %71 = const 2147483647 : i32\n"
         "  for %72 : i32 in %70 .. %71 step 2 {\n  }\n  %13",
         TWI_LOOP_E_V5, "a step of 2 more wraps"},
        {simt, "unroll %6 in 8", "unroll %6 : i32 in 8", TWI_LOOP_E_V1, "types"},
        {simt, "%3 = id lane", "%3 = id lane : i32", TWI_LOOP_E_V1, "types"},
    };
    judge(*state, list, sizeof list / sizeof *list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(correct, setup, teardown),
        cmocka_unit_test_setup_teardown(broken, setup, teardown),
        cmocka_unit_test_setup_teardown(swizzled, setup, teardown),
        cmocka_unit_test_setup_teardown(narrow, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
