/* SPDX-License-Identifier: Apache-2.0
 * The path: texts of the stages, what is refused and how, numbers as text, and memory that runs out
 * at any point. links: front
 */
#include "compile/path.h"
#include "loop/codes.h"
#include "run/kernel.h"
#include "tilewright/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char program[] = "kernel scale(X: f32[N], out Y: f32[N], by: f32 = 2) {\n"
                              "    parallel n: N {\n"
                              "        Y[n] = X[n] * by\n"
                              "    }\n"
                              "}\n";
static const tw_dim_value dims[] = {{"N", 5}};

static tw_ir *ir_of(tw_context *ctx) {
    tw_program *p = tw_program_parse(ctx, "scale.tile", program, strlen(program));
    return p ? tw_program_build(p, 0, NULL, 0) : NULL;
}

static tw_compile_options texts(tw_stage until) {
    tw_compile_options o = tw_compile_options_defaults();
    o.dims = dims;
    o.n_dims = 1;
    o.build = false;
    o.until = until;
    return o;
}

static void stages(void **state) {
    tw_context *ctx = *state;
    tw_compile_options o = texts(TW_STAGE_SOURCE);
    tw_compiled *c;
    assert_int_equal(tw_compile(ctx, ir_of(ctx), &o, &c), TW_OK);
    for (unsigned s = 0; s < TW_STAGES; s++)
        assert_non_null(tw_compiled_text(c, (tw_stage)s));
    assert_null(tw_compiled_kernel(c));
    assert_int_equal(tw_compiled_args(c), 3);
    assert_string_equal(tw_compiled_arg(c, 0).name, "X");
    assert_int_equal(tw_compiled_arg(c, 0).shape[0], 5);
    assert_int_equal(tw_compiled_arg(c, 1).role, TW_ROLE_OUT);
    assert_true(tw_compiled_arg(c, 2).scalar &&
                tw_compiled_arg(c, 2).bits == 0x40000000u); /* 2.0f */
    tw_compiled_release(c);
    o.until = TW_STAGE_PLAN;
    assert_int_equal(tw_compile(ctx, ir_of(ctx), &o, &c), TW_OK);
    assert_null(tw_compiled_text(c, TW_STAGE_LOOP));
    tw_compiled_release(c);
}

static void runs(void **state) {
    tw_context *ctx = *state;
    static const char *const targets[] = {"cpu", "interp"};
    for (size_t k = 0; k < 2; k++) {
        tw_compile_options o = texts(TW_STAGE_SOURCE);
        tw_compiled *c;
        float x[5] = {1, 2, 3, 4, 5}, y[5] = {0};
        int64_t shape[] = {5};
        o.build = true;
        o.target = targets[k];
        assert_int_equal(tw_compile(ctx, ir_of(ctx), &o, &c), TW_OK);
        const tw_tensor tx = {
            .data = x, .device = {1, 0}, .rank = 1, .dtype = tw_elem_dtype(TW_F32), .shape = shape};
        tw_tensor ty = tx;
        ty.data = y;
        const tw_tensor *both[] = {&tx, &ty};
        const tw_scalar three = {.f = 3};
        tw_call call = {.tensor = both, .tensors = 2, .scalar = &three, .scalars = 1};
        assert_int_equal(tw_kernel_run(tw_compiled_kernel(c), &call), TW_OK);
        for (int n = 0; n < 5; n++)
            assert_true(y[n] == 3.0f * x[n]);
        tw_compiled_release(c);
    }
}

/* y[0] of a module that is built with `printed` at hand, for x = 1. */
static float first_of(tw_compiled *c, const twi_printed *printed) {
    const twi_loop *loop = c->path.loop;
    twi_module *module = NULL;
    float x[5] = {1}, y[5] = {0};
    int64_t shape[] = {5};
    assert_int_equal(c->target->ops->build(c->target, &loop, 1, printed, &module), TW_OK);
    tw_kernel *kernel = twi_kernel_new(c->target, module, NULL);
    const tw_tensor tx = {
        .data = x, .device = {1, 0}, .rank = 1, .dtype = tw_elem_dtype(TW_F32), .shape = shape};
    tw_tensor ty = tx;
    ty.data = y;
    const tw_tensor *both[] = {&tx, &ty};
    const tw_scalar three = {.f = 3};
    tw_call call = {.tensor = both, .tensors = 2, .scalar = &three, .scalars = 1};
    assert_int_equal(tw_kernel_run(kernel, &call), TW_OK);
    tw_kernel_destroy(kernel);
    return y[0];
}

/* What the path has printed is what is compiled; what was printed of another module, or for another
 * language, is not. */
static void printed_once(void **state) {
    tw_context *ctx = *state;
    static const char text[] = "void K_scale_main(void *const *a) { *(float *)a[2] = 42; }\n"
                               "void K_scale_aligned16(void *const *a) { *(float *)a[2] = 42; }\n";
    tw_compile_options o = texts(TW_STAGE_SOURCE);
    tw_compiled *c;
    o.build = true;
    assert_int_equal(tw_compile(ctx, ir_of(ctx), &o, &c), TW_OK);
    assert_ptr_equal(c->path.printed.text, tw_compiled_text(c, TW_STAGE_SOURCE));
    twi_printed printed = c->path.printed;
    printed.text = text;
    printed.n = strlen(text);
    assert_true(first_of(c, &printed) == 42);
    printed.dialect = &twi_dialect_cuda;
    assert_true(first_of(c, &printed) == 3);
    printed.dialect = &twi_dialect_c;
    printed.loop = printed.lawful;
    assert_true(first_of(c, &printed) == 3);
    assert_true(first_of(c, NULL) == 3);
    tw_compiled_release(c);
}

/* Atomic additions of floats have no order; those of integers need none. */
static void canonical_atomics(void **state) {
    (void)state;
    static const char *const elems[] = {"f32", "i32"};
    for (size_t k = 0; k < 2; k++) {
        tw_context *ctx = tw_context_create(NULL);
        char text[200];
        (void)snprintf(text, sizeof text,
                       "kernel a(X: %s[N], out S: %s[] = 0) {\n"
                       "    parallel n: N { atomic_add(S[], X[n]) }\n}\n",
                       elems[k], elems[k]);
        tw_program *p = tw_program_parse(ctx, "a.tile", text, strlen(text));
        tw_ir *ir = p ? tw_program_build(p, 0, NULL, 0) : NULL;
        tw_compile_options o = texts(TW_STAGE_TILE);
        tw_compiled *c;
        o.canonical = true;
        tw_status status = tw_compile(ctx, ir, &o, &c);
        assert_int_equal(status, k == 0 ? TW_ERR_INPUT : TW_OK);
        if (k == 0)
            assert_non_null(strstr(tw_diag_text(ctx, false), "atomic additions to S"));
        else
            tw_compiled_release(c);
        tw_context_destroy(ctx);
    }
}

static void refuses(void **state) {
    (void)state;
    static const tw_dim_value twice[] = {{"N", 5}, {"M", 1}}, negative[] = {{"N", -1}};
    const struct {
        const char *target, *plan;
        const tw_dim_value *dims;
        size_t n;
        const char *said;
    } rows[] = {{"nowhere", "default", dims, 1, "no target 'nowhere'"},
                {"metal:1", "default", dims, 1, "metal is not built yet"},
                {"opencl:x", "default", dims, 1, "there is no target 'opencl:x'"},
                {"interp:what", "default", dims, 1, "interp:what"},
                {"cpu", "default", NULL, 0, "no value for dim N"},
                {"cpu", "default", twice, 2, "no dim M"},
                {"cpu", "default", negative, 1, "cannot be -1"},
                {"cpu", "wild", dims, 1, "no plan 'wild'"},
                {"simt32", "default", dims, 1, "no dialect speaks for simt32"}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        tw_context *ctx = tw_context_create(NULL);
        tw_compile_options o = texts(TW_STAGE_SOURCE);
        tw_compiled *c;
        o.target = rows[k].target;
        o.plan = rows[k].plan;
        o.dims = rows[k].dims;
        o.n_dims = rows[k].n;
        assert_int_equal(tw_compile(ctx, ir_of(ctx), &o, &c), TW_ERR_INPUT);
        assert_null(c);
        assert_non_null(strstr(tw_diag_text(ctx, false), rows[k].said));
        tw_context_destroy(ctx);
    }
}

static const char exchange[] = "loop k target opencl-a770\n"
                               "argument 1 Y out i32[4]\n"
                               "entry main {\n"
                               "  launch k_main grid 1\n"
                               "}\n"
                               "func k_main entry 0 scope 0 implicit lanes 4 subs 1 {\n"
                               "  array Y = 1 i32[4] stride [1]\n"
                               "  %1 = id lane\n"
                               "  %2 = cast %1 : i32\n"
                               "  %3 = lane_xor %2 mask 1 : i32\n"
                               "  store Y[%1] = %3\n"
                               "}\n";

static bool said(tw_context *ctx, int code) {
    bool found = false;
    for (size_t k = 0; k < tw_diag_count(ctx); k++)
        found = found || tw_diag_get(ctx, k).code == code;
    return found;
}

/* What a target does not speak: the caller's fault where he wrote the loop IR, a fault of ours
 * where a plan became it. No source either way. */
static void unspoken(void **state) {
    tw_context *ctx = *state;
    const tw_source text = {"exchange.loop", exchange, strlen(exchange)};
    for (unsigned planned = 0; planned < 2; planned++)
        for (unsigned spoken = 0; spoken < 2; spoken++) {
            twi_path p = {.ctx = ctx, .arena = &ctx->arena};
            twi_plans plans = {.n = 0};
            assert_true(twi_where_find(ctx, "opencl-a770", NULL, NULL, 0, &p.where));
            p.where.caps.lane_ops = spoken;
            p.plans = planned ? &plans : NULL;
            assert_true(twi_path_loop_text(&p, &text, false));
            tw_diag_clear(ctx);
            const char *source = twi_path_source(&p);
            assert_true((source != NULL) == (spoken == 1));
            assert_true(said(ctx, TWI_LOOP_E_V9) == !spoken);
            assert_true(said(ctx, TWI_E_PATH_FAULTY) == (planned && !spoken));
            if (!spoken)
                assert_non_null(strstr(tw_diag_text(ctx, false), "lane_xor %2 mask 1"));
        }
}

static void numbers(void **state) {
    (void)state;
    static const struct {
        tw_elem elem;
        const char *text;
        uint64_t bits;
    } rows[] = {{TW_F32, "0.5", 0x3f000000},  {TW_F32, "0x1p-3", 0x3e000000},
                {TW_F32, "-inf", 0xff800000}, {TW_F64, "1", 0x3ff0000000000000},
                {TW_F16, "1.5", 0x3e00},      {TW_BF16, "1", 0x3f80},
                {TW_I8, "-128", 0x80},        {TW_U8, "255", 0xff},
                {TW_I64, "-1", UINT64_MAX},   {TW_BOOL, "true", 1},
                {TW_BOOL, "false", 0}};
    static const struct {
        tw_elem elem;
        const char *text;
    } wrong[] = {{TW_I8, "128"},  {TW_I8, "-129"}, {TW_U8, "-1"},  {TW_U8, "256"},
                 {TW_I32, "1.5"}, {TW_F32, "one"}, {TW_BOOL, "1"}, {TW_F32, ""}};
    uint64_t bits;
    char text[64];
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        assert_true(tw_scalar_bits(rows[k].elem, rows[k].text, &bits));
        assert_true(bits == rows[k].bits);
    }
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
        assert_false(tw_scalar_bits(wrong[k].elem, wrong[k].text, &bits));
    assert_true(tw_scalar_from_bits(TW_I8, 0xff).i == -1 &&
                tw_scalar_from_bits(TW_F16, 0x3e00).f == 1.5);
    const float floats[] = {0.1f, -0.0f, 1e30f};
    tw_element_text(TW_F32, floats, 0, text);
    assert_string_equal(text, "0.1");
    tw_element_text(TW_F32, floats, 2, text);
    assert_string_equal(text, "1e+30");
    const uint8_t bytes[] = {0xff, 1};
    tw_element_text(TW_I8, bytes, 0, text);
    assert_string_equal(text, "-1");
    tw_element_text(TW_BOOL, bytes, 1, text);
    assert_string_equal(text, "true");
}

/* Memory that fails at the n-th request. */
typedef struct {
    long left, out;
} budget;
static void *give(void *user, size_t size) {
    budget *b = user;
    void *p = b->left-- > 0 ? malloc(size ? size : 1) : NULL;
    b->out += p != NULL;
    return p;
}
static void back(void *user, void *p) {
    ((budget *)user)->out -= p != NULL;
    free(p);
}

static void no_memory(void **state) {
    (void)state;
    tw_status status = TW_ERR_MEMORY;
    for (long n = 1; status != TW_OK && n < 4000; n++) {
        budget b = {n, 0};
        const tw_allocator allocator = {give, back, &b};
        tw_context *ctx = tw_context_create(&allocator);
        tw_ir *ir = ctx ? ir_of(ctx) : NULL;
        if (ir) {
            tw_compile_options o = texts(TW_STAGE_SOURCE);
            tw_compiled *c;
            status = tw_compile(ctx, ir, &o, &c);
            assert_true(status == TW_OK || (status == TW_ERR_MEMORY && !c));
            tw_compiled_release(c);
        }
        tw_context_destroy(ctx);
        assert_int_equal(b.out, 0); /* all was given back */
    }
    assert_int_equal(status, TW_OK);
}

static int make(void **state) { return (*state = tw_context_create(NULL)) ? 0 : 1; }
static int drop(void **state) {
    tw_context_destroy(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(stages, make, drop),
                                       cmocka_unit_test_setup_teardown(runs, make, drop),
                                       cmocka_unit_test_setup_teardown(printed_once, make, drop),
                                       cmocka_unit_test(refuses),
                                       cmocka_unit_test_setup_teardown(unspoken, make, drop),
                                       cmocka_unit_test(canonical_atomics),
                                       cmocka_unit_test(numbers),
                                       cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
