/* SPDX-License-Identifier: Apache-2.0
 * Loop IR's text: printed and read back to the same bytes, errors that name their place, no crash
 * on damaged input; and the builder's simplifications, seen in the text.
 */
#include "support.h"

#include "base/hash.h"
#include "loop/codes.h"

static const char all[] =
    "loop all.$2b target cpu-avx512\n"
    "argument 1 X in f32[128, 1024]\n"
    "argument 2 Y out bf16[128] = #3f80\n"
    "argument 3 N in i32[]\n"
    "scalar 1 eps f32\n"
    "entry main {\n"
    "  fill Y\n"
    "  for 0 .. 4 {\n"
    "    launch all_main grid 32\n"
    "  }\n"
    "}\n"
    "entry aligned16 align16 X align32 Y {\n"
    "  launch all_aligned16 grid 128\n"
    "}\n"
    "order 12 depth 9 : axis 2 chain 16*64, axis 2 tree 4*16, axis 2 tree 16*1\n"
    "order 13 depth 3 fused : axis 1 chain 4*1\n"
    "func all_main entry 0 scope 0 explicit lanes 16 subs 1 {\n"
    "  array X = 1 f32[128, 1024] stride [*, 1] align 16\n"
    "  array Y = 2 bf16[128] stride [*]\n"
    "  array N = 3 i32[] stride []\n"
    "  private s f32x16[4, 2] stride [2, 1]\n"
    "  scratch .5 f64[3] stride [1]\n"
    "  shared .6 f32[4, 32] stride [32, 1] swizzle 128 unit 4 rows 2\n"
    "  shared .7 f32[4, 32] stride [32, 1] swizzle 128\n"
    "  %1 = id grid\n"
    "  %2 = trip 0\n"
    "  %3 = stride X 0\n"
    "  %4 = scalar eps : f32\n"
    "  %5 = const -0 identity : f32x16\n"
    "  %6 = const #7fc00001 : f32\n"
    "  %7 = const 1e-05 : f64\n"
    "  %8 = const inf : f32\n"
    "  %9 = const true : bool\n"
    "  %10 = const -128 : i8\n"
    "  %11 = const #3f80 : bf16\n"
    "  %12 = const -5 : i64x4\n"
    "  %13 = iota : i64x16\n"
    "  for %w14 in 0 .. 1024 step 16 {\n"
    "    %15 = sub 1024, %w14\n"
    "    %x16 = load X[%1, %w14] first %15 else %5 align 16 stream : f32x16\n"
    "    unroll %17 in 2 {\n"
    "      %acc18 = add %x16, %5 fold 12 : f32x16\n"
    "      store s[3, %17] = %acc18\n"
    "    }\n"
    "  }\n"
    "  %c19 = load s[3, 1] : f32x16\n"
    "  %20 = lane_fold add %c19 stride 1 extent 16 fold 12 : f32\n"
    "  %21 = splat %20 : f32x16\n"
    "  %22 = extract %21 [3] : f32\n"
    "  %23 = pack %22, %20 : f32x2\n"
    "  %24 = permute %23, %23 [3, 0] : f32x2\n"
    "  %25 = lane_xor %21 mask 8 : f32x16\n"
    "  %26 = lane_read %25, %2 : f32\n"
    "  %27 = lt %1, -9223372036854775808 : bool\n"
    "  if %27 {\n"
    "    %28 = cast %26 : bf16\n"
    "    store Y[%1] = %28\n"
    "    %29 = load N[] : i32\n"
    "    %30 = gt %c19, %5 : boolx16\n"
    "    store X[0, %1] = %c19 dim 0 where %30\n"
    "  }\n"
    "}\n"
    "func all_aligned16 entry 1 scope 0 implicit lanes 32 subs 4 {\n"
    "  array X = 1 f32[128, 1024] stride [1024, 1]\n"
    "  shared red f32[2, 4] stride [5, 1]\n"
    "  %1 = id sub\n"
    "  %2 = id lane\n"
    "  barrier group\n"
    "  barrier subgroup\n"
    "  %dot.13 = add %1, %2\n"
    "  %4 = lane_shift %dot.13 by -3\n"
    "  store X[%1, 0] max= %4\n"
    "}\n";

static void round_trip(void **state) {
    bench *b = *state;
    twi_loop *loop = read_loop(b, all);
    assert_string_equal(text_of(b, loop), all);
    const twi_func *f = &loop->func.at[0];
    assert_string_equal(twi_text(&b->ctx->names, loop->kernel), "all.+");
    assert_int_equal(f->object.n, 8);
    assert_int_equal(f->object.at[1].dynamic, 1);
    unsigned named = 0;
    for (uint32_t v = 1; v < f->ins.n; v++)
        if (f->ins.at[v].name && strcmp(twi_text(&b->ctx->names, f->ins.at[v].name), "acc") == 0) {
            assert_int_equal(f->ins.at[v].flags, TWI_FLAG_COMBINE);
            assert_int_equal(f->ins.at[v].fold, 12);
            named++;
        }
    assert_int_equal(named, 1);
}

/* Free numbering, comments and blanks on the way in; the same form on the way out. */
static void lenient(void **state) {
    bench *b = *state;
    static const char text[] =
        "loop k target t ; a comment\nfunc f entry 0 scope 0 implicit lanes 4 subs 1 {\n"
        "%a=id lane %b = add %a , 1 ; more\n if %c7 { } }";
    static const char fixed[] =
        "loop k target t\nfunc f entry 0 scope 0 implicit lanes 4 subs 1 {\n"
        "%a=id lane %b = add %a , 1 %c7 = lt %b, 3 : bool if %c7 { } }";
    assert_null(twi_loop_parse(b->ctx, &b->ctx->arena, NULL, "x", text, sizeof text - 1));
    assert_non_null(
        strstr(tw_diag_text(b->ctx, false), "x:4:5: error[E0501]: no value `%c7` above"));
    twi_loop *loop = read_loop(b, fixed);
    assert_string_equal(text_of(b, loop), "loop k target t\n"
                                          "func f entry 0 scope 0 implicit lanes 4 subs 1 {\n"
                                          "  %a1 = id lane\n"
                                          "  %b2 = add %a1, 1\n"
                                          "  %c3 = lt %b2, 3 : bool\n"
                                          "  if %c3 {\n"
                                          "  }\n"
                                          "}\n");
}

static void errors(void **state) {
    bench *b = *state;
    static const char head[] = "loop k target t\nargument 1 X in f32[4]\nscalar 1 eps f32\n";
    static const char func[] = "func f entry 0 scope 0 implicit lanes 4 subs 1 {\n"
                               "array X = 1 f32[4] stride [1]\n";
    static const struct {
        const char *line;
        bool inside;
        int code;
    } list[] = {
        {"entry main { launch g grid 1 }", false, TWI_LOOP_E_UNKNOWN},
        {"entry main { fill Z }", false, TWI_LOOP_E_UNKNOWN},
        {"argument 3 Y in f32[]", false, TWI_LOOP_E_BAD_NUMBER},
        {"argument 2 Y both f32[]", false, TWI_LOOP_E_EXPECTED},
        {"argument 2 Y in f33[]", false, TWI_LOOP_E_BAD_TYPE},
        {"argument 2 Y in f32[-1]", false, TWI_LOOP_E_BAD_NUMBER},
        {"argument 2 Y in f32[1,1,1,1,1,1,1,1,1]", false, TWI_LOOP_E_BAD_NUMBER},
        {"nonsense", false, TWI_LOOP_E_EXPECTED},
        {"%1 = frobnicate 1, 2", true, TWI_LOOP_E_UNKNOWN_OP},
        {"%1 = store X[0] = 1", true, TWI_LOOP_E_UNKNOWN_OP},
        {"load X[0] : f32", true, TWI_LOOP_E_UNKNOWN_OP},
        {"%1 = load Y[0] : f32", true, TWI_LOOP_E_UNKNOWN},
        {"%1 = load X[0, 0] : f32", true, TWI_LOOP_E_BAD_NUMBER},
        {"%1 = const 300 : i8", true, TWI_LOOP_E_BAD_NUMBER},
        {"%1 = const maybe : bool", true, TWI_LOOP_E_BAD_NUMBER},
        {"%1 = const 1.5 : f32x5000", true, TWI_LOOP_E_BAD_TYPE},
        {"%1 = id moon", true, TWI_LOOP_E_EXPECTED},
        {"%1 = scalar eta : f32", true, TWI_LOOP_E_UNKNOWN},
        {"%1 = id lane %1 = id lane", true, TWI_LOOP_E_TWICE},
        {"array X = 1 f32[4] stride [1]", true, TWI_LOOP_E_TWICE},
        {"%1 = add 99999999999999999999, 1", true, TWI_LOOP_E_BAD_NUMBER},
        {"%1 = lane_fold add 1 stride 3 extent 4", true, TWI_LOOP_E_BAD_NUMBER},
        {"barrier world", true, TWI_LOOP_E_EXPECTED},
        {"for %1 in 0 .. 4 step 0 {", true, TWI_LOOP_E_BAD_NUMBER},
        {"if", true, TWI_LOOP_E_BAD_NUMBER},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        tw_diag_clear(b->ctx);
        const char *text =
            twi_format(&b->ctx->arena, "%s%s%s", head, list[k].inside ? func : "", list[k].line);
        assert_null(twi_loop_parse(b->ctx, &b->ctx->arena, NULL, "x", text, strlen(text)));
        if (tw_diag_count(b->ctx) != 1 || tw_diag_get(b->ctx, 0).code != list[k].code ||
            tw_diag_get(b->ctx, 0).line < 4)
            fail_msg("case %zu (%s): %s", k, list[k].line, tw_diag_text(b->ctx, false));
    }
}

static void deep(void **state) {
    bench *b = *state;
    twi_sb text;
    twi_sb_init(&text, &b->ctx->arena);
    twi_sb_str(&text, "loop k target t func f entry 0 scope 0 implicit lanes 4 subs 1 {\n");
    for (int k = 0; k < 100000; k++)
        twi_sb_printf(&text, "unroll %%%d in 1 {", k + 1);
    assert_null(twi_loop_parse(b->ctx, &b->ctx->arena, NULL, "x", text.at, text.n));
    assert_int_equal(tw_diag_get(b->ctx, 0).code, TWI_LOOP_E_TOO_DEEP);
}

/* Cut at every length, and with bytes changed: an error or a module, and what is a module and
 * passes the verifier can be printed and read again. */
static void damaged(void **state) {
    (void)state;
    twi_rng rng;
    twi_rng_init(&rng, 5);
    size_t n = sizeof all - 1;
    static char text[sizeof all];
    unsigned whole = 0;
    for (size_t k = 0; k < n + 4000; k++) {
        void *own = NULL;
        assert_int_equal(setup(&own), 0);
        bench *b = own;
        memcpy(text, all, n);
        if (k >= n) { /* a digit by another, or a byte by any */
            size_t at = twi_rng_below(&rng, n);
            while (k % 2 && (text[at] < '0' || text[at] > '9'))
                at = twi_rng_below(&rng, n);
            text[at] = (char)(k % 2 ? '0' + twi_rng_below(&rng, 10) : twi_rng_below(&rng, 256));
        }
        twi_loop *loop = twi_loop_parse(b->ctx, &b->ctx->arena, NULL, "x", text, k < n ? k : n);
        assert_true(loop || tw_diag_count(b->ctx) > 0);
        if (loop) {
            const char *once = text_of(b, loop);
            twi_loop *again = twi_loop_parse(b->ctx, &b->ctx->arena, NULL, "y", once, strlen(once));
            if (!again)
                fail_msg("%s\n%s", tw_diag_text(b->ctx, false), once);
            assert_string_equal(text_of(b, again), once);
            (void)twi_loop_verify(loop);
            whole++;
        }
        teardown(&own);
    }
    assert_true(whole > 500);
}

/* What the builder makes of index arithmetic. */
static void simplified(void **state) {
    bench *b = *state;
    twi_loop *loop = twi_loop_new(&b->ctx->arena, NULL, twi_intern_str(&b->ctx->names, "t"));
    loop->ctx = b->ctx;
    uint32_t id = twi_loop_func(loop, twi_intern_str(&b->ctx->names, "f"), 0, 0);
    loop->func.at[id].lanes = 8;
    twi_cursor c;
    twi_cursor_init(&c, loop, id);
    twi_lid lane = twi_lb_leaf(&c, TWI_L_ID, TW_I64, 1, TWI_LV_LANE);
    twi_lid zero = twi_lb_i64(&c, 0), one = twi_lb_i64(&c, 1), eight = twi_lb_i64(&c, 8);
    int64_t k;
    assert_int_equal(twi_lb_op(&c, TWI_ADD, zero, lane, 0), lane);
    assert_int_equal(twi_lb_op(&c, TWI_MUL, lane, one, 0), lane);
    assert_int_equal(twi_lb_op(&c, TWI_IMOD, lane, eight, 0), lane);
    assert_true(twi_lb_const_of(&c, twi_lb_op(&c, TWI_IDIV, lane, eight, 0), &k) && k == 0);
    assert_true(twi_lb_const_of(&c, twi_lb_op(&c, TWI_MUL, lane, zero, 0), &k) && k == 0);
    twi_lid more = twi_lb_op(&c, TWI_ADD, twi_lb_op(&c, TWI_ADD, lane, one, 0), eight, 0);
    assert_true(twi_lb_const_of(&c, twi_larg(c.f, more, 1), &k) && k == 9);
    assert_int_equal(twi_lb_op(&c, TWI_ADD, lane, twi_lb_i64(&c, 9), 0), more); /* built once */
    twi_lid yes = twi_lb_op(&c, TWI_LT, lane, eight, 0);
    assert_int_equal(c.f->ins.at[yes].op, TWI_L_LCONST);
    assert_int_equal(twi_lb_op(&c, TWI_SELECT, yes, lane, zero), lane);
    /* bodies: what a closed one holds is not shared, what an open one holds is */
    twi_lid u = twi_lb_unroll(&c, 4);
    twi_lid inner = twi_lb_op(&c, TWI_MUL, u, lane, 0);
    assert_int_equal(twi_lb_op(&c, TWI_MUL, u, lane, 0), inner);
    assert_int_equal(twi_lb_op(&c, TWI_ADD, lane, twi_lb_i64(&c, 9), 0), more);
    twi_lid square = twi_lb_op(&c, TWI_MUL, lane, lane, 0);
    twi_lb_close(&c);
    assert_true(twi_lb_op(&c, TWI_MUL, lane, lane, 0) != square);
    /* floats stay as they are */
    twi_lid f0 = twi_lb_bits(&c, TW_F32, 0, 0);
    twi_lid x = twi_lb_cast(&c, TW_F32, lane);
    assert_true(twi_lb_op(&c, TWI_ADD, x, f0, 0) != x);
    assert_true(twi_lb_op(&c, TWI_MUL, x, f0, 0) != f0);
    assert_true(twi_loop_verify(loop));
    const char *once = text_of(b, loop);
    assert_string_equal(text_of(b, read_loop(b, once)), once);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(lenient, setup, teardown),
        cmocka_unit_test_setup_teardown(errors, setup, teardown),
        cmocka_unit_test_setup_teardown(deep, setup, teardown),
        cmocka_unit_test(damaged),
        cmocka_unit_test_setup_teardown(simplified, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
