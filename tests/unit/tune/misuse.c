/* SPDX-License-Identifier: Apache-2.0
 * Wrong use of the public headers, as a table: the status, words of the message (what is wrong, and
 * what would be right), nothing written, and a context that serves as before. links: front
 */
#include "tilewright/tilewright.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { R = 2, W = 3, N = R * W };

static const char text[] = "kernel scale[T in {f32, i32}](X: T[R, W], out Y: T[R, W], by: T) {\n"
                           "    parallel r: R {\n"
                           "        axis w: W\n"
                           "        Y[r, w] = X[r, w] * by\n"
                           "    }\n"
                           "}\n";
static const tw_dim_value dims[] = {{"R", R}, {"W", W}};
static const tw_binding f32[] = {{"T", "f32"}};

/* A kernel with all that a right call needs; each row spoils something of it. */
typedef struct {
    tw_context *ctx;
    tw_program *program;
    tw_ir *ir;
    tw_compile_options options;
    tw_compiled *compiled;
    float x[N], y[N];
    int64_t shape[2];
    tw_tensor tensor[3];
    const tw_tensor *tensors[3];
    tw_scalar by[2];
    tw_call call;
} bench;

static void fresh(bench *b) {
    b->options = tw_compile_options_defaults();
    b->options.target = "interp:simt4";
    b->options.dims = dims;
    b->options.n_dims = 2;
    b->shape[0] = R;
    b->shape[1] = W;
    for (int k = 0; k < N; k++) {
        b->x[k] = (float)k;
        b->y[k] = -1;
    }
    for (int k = 0; k < 3; k++) {
        b->tensor[k] = (tw_tensor){.data = k ? b->y : b->x,
                                   .device = {1, 0},
                                   .rank = 2,
                                   .dtype = tw_elem_dtype(TW_F32),
                                   .shape = b->shape};
        b->tensors[k] = &b->tensor[k];
    }
    b->by[0].f = b->by[1].f = 3;
    b->call = (tw_call){.tensor = b->tensors, .tensors = 2, .scalar = b->by, .scalars = 1};
    tw_diag_clear(b->ctx);
}

static tw_status compiled(bench *b) {
    tw_compiled *c = b->compiled;
    const tw_status status = tw_compile(b->ctx, b->ir, &b->options, &c);
    if (status != TW_OK)
        assert_null(c);
    tw_compiled_release(c);
    return status;
}

static tw_status made(const void *it) { return it ? TW_OK : TW_ERR_INPUT; }
static tw_status called(bench *b) {
    return tw_kernel_run(tw_compiled_kernel(b->compiled), &b->call);
}

/* ---- programs and builders ---- */

static tw_status kernel_number(bench *b) { return made(tw_program_build(b->program, 7, f32, 1)); }
static tw_status setting(bench *b, const char *name, const char *value) {
    return made(tw_program_build(b->program, 0, &(tw_binding){name, value}, 1));
}
static tw_status setting_name(bench *b) { return setting(b, "TT", "f32"); }
static tw_status setting_value(bench *b) { return setting(b, "T", "f31"); }
static tw_status setting_missing(bench *b) {
    return made(tw_program_build(b->program, 0, NULL, 0));
}

static tw_status built(bench *b, int rank, tw_array other, tw_elem elem) {
    tw_builder *to = tw_build_begin(b->ctx, "k");
    const tw_ix n = tw_build_dim(to, "N", false), ns[] = {n, n};
    const tw_array x = tw_build_array(to, "X", TW_F32, TW_ROLE_IN, ns, 2);
    const tw_array y = tw_build_array(to, "Y", elem, TW_ROLE_OUT, ns, 1);
    tw_axis i = 0;
    tw_build_parallel(to, &(tw_range){"i", 0, n, 0}, 1, &i);
    const tw_ix at = tw_build_ix_axis(to, i), ats[] = {at, at};
    tw_build_store(to, y, ats, 1, tw_build_load(to, other ? other : x, ats, rank, 0), 0);
    tw_build_end(to);
    return made(tw_build_finish(to));
}
static tw_status build_rank(bench *b) { return built(b, 1, 0, TW_F32); }
static tw_status build_handle(bench *b) { return built(b, 2, 99, TW_F32); }
static tw_status build_type(bench *b) { return built(b, 2, 0, TW_I32); }

/* ---- compiling ---- */

static tw_status no_ir(bench *b) {
    b->ir = NULL;
    return compiled(b);
}
static tw_status target(bench *b) {
    b->options.target = "gpu";
    return compiled(b);
}
static tw_status description(bench *b) {
    b->options.target = "simt32";
    return compiled(b);
}
static tw_status with_dims(bench *b, const tw_dim_value *given, size_t n) {
    b->options.dims = given;
    b->options.n_dims = n;
    return compiled(b);
}
static tw_status dim_missing(bench *b) { return with_dims(b, dims, 1); }
static tw_status dim_unknown(bench *b) {
    return with_dims(b, (tw_dim_value[]){{"R", R}, {"Q", 1}}, 2);
}
static tw_status dim_nameless(bench *b) {
    return with_dims(b, (tw_dim_value[]){{"R", R}, {NULL, 1}}, 2);
}
static tw_status dim_negative(bench *b) {
    return with_dims(b, (tw_dim_value[]){{"R", R}, {"W", -3}}, 2);
}
static tw_status dim_twice(bench *b) {
    return with_dims(b, (tw_dim_value[]){{"R", R}, {"W", 3}, {"W", 4}}, 3);
}
static tw_status dim_huge(bench *b) {
    return with_dims(b, (tw_dim_value[]){{"R", INT64_MAX}, {"W", INT64_MAX}}, 2);
}
static tw_status plan_name(bench *b) {
    b->options.plan = "fastest";
    return compiled(b);
}
static tw_status plan_text(bench *b, const char *plan) {
    b->options.plan_text = (tw_source){"mine.plan", plan, strlen(plan)};
    return compiled(b);
}
static tw_status plan_syntax(bench *b) { return plan_text(b, "plan scale/0 class=free\nframe\n"); }
static tw_status plan_other(bench *b) {
    return plan_text(b, "plan scales/0 class=free\nframe f: r = grid 2 ; w = slot 3\nentry main\n");
}
static tw_status plan_short(bench *b) {
    return plan_text(
        b, "plan scale/0 class=canonical\nframe f: r = grid 2 ; w = slot 2\nentry main\n");
}
static tw_status pin(bench *b) {
    static const char *const pins[] = {"nonsense=3"};
    b->options.pins = pins;
    b->options.n_pins = 1;
    return compiled(b);
}
static tw_status caps(bench *b) {
    b->options.caps = (tw_source){"mine.caps", "caps me\nfamily gpu\n", 19};
    return compiled(b);
}
static tw_status loop(bench *b) {
    static const char other[] = "loop k target simt4\nargument 1 Y out f32[4]\nentry main {\n}\n";
    b->options.loop_text = (tw_source){"other.loop", other, sizeof other - 1};
    return compiled(b);
}
static tw_status no_compiler(bench *b) {
    assert_int_equal(setenv("TILEWRIGHT_CC", "/no/such/cc", 1), 0);
    tw_context *other = tw_context_create(NULL);
    unsetenv("TILEWRIGHT_CC");
    tw_program *p = tw_program_parse(other, "scale.tile", text, sizeof text - 1);
    tw_compiled *c;
    b->options.target = "cpu";
    const tw_status status = tw_compile(other, tw_program_build(p, 0, f32, 1), &b->options, &c);
    assert_null(c);
    for (size_t k = 0; k < tw_diag_count(other); k++) /* for the table to look at */
        tw_build_report(b->ctx, NULL, tw_diag_get(other, k).code, (tw_place){0, 0},
                        tw_diag_get(other, k).text, NULL);
    tw_context_destroy(other);
    return status;
}

/* ---- questions ---- */

static tw_status dims_from(bench *b, const tw_shape *shapes, size_t n) {
    int64_t values[2] = {-1, -1};
    return tw_ir_dims_from(b->ctx, b->ir, shapes, n, values) ? TW_OK : TW_ERR_INPUT;
}
static const int64_t extents[][2] = {{R, W}, {R, W + 1}, {R, -1}};
static tw_status shape_unknown(bench *b) {
    return dims_from(b, &(tw_shape){"Z", 2, extents[0]}, 1);
}
static tw_status shape_rank(bench *b) { return dims_from(b, &(tw_shape){"X", 1, extents[0]}, 1); }
static tw_status shape_negative(bench *b) {
    return dims_from(b, &(tw_shape){"X", 2, extents[2]}, 1);
}
static tw_status shapes_disagree(bench *b) {
    return dims_from(b, (tw_shape[]){{"X", 2, extents[0]}, {"Y", 2, extents[1]}}, 2);
}
static tw_status why_not(bench *b) {
    return made(tw_plan_why_not(b->ctx, b->ir, &b->options, "nonsense"));
}
static tw_status why_not_what(bench *b) {
    return made(tw_plan_why_not(b->ctx, NULL, &b->options, "slots=3"));
}
static void no_candidate(void *user, const tw_candidate *c) { (void)user, (void)c; }
static tw_status list_what(bench *b) {
    return tw_plan_list(b->ctx, NULL, &b->options, no_candidate, NULL);
}
static tw_status reprint(bench *b) {
    return made(tw_caps_reprint(b->ctx, (tw_source){"mine.caps", "lane many\n", 10}));
}

/* ---- calls ---- */

static tw_status no_kernel(bench *b) { return tw_kernel_run(NULL, &b->call); }
static tw_status no_arrays(bench *b) {
    b->call.tensor = NULL;
    return called(b);
}
static tw_status more_arrays(bench *b) {
    b->call.tensors = 3;
    return called(b);
}
static tw_status no_shape(bench *b) {
    b->tensor[0].shape = NULL;
    return called(b);
}
static tw_status unknown_type(bench *b) {
    b->tensor[0].dtype = (tw_dtype){.code = 5, .bits = 64, .lanes = 1}; /* complex */
    return called(b);
}
static tw_status small_array(bench *b) {
    static int64_t less[] = {R, W - 1};
    b->tensor[1].shape = less;
    return called(b);
}
static tw_status negative_extent(bench *b) {
    static int64_t less[] = {R, -W};
    b->tensor[1].shape = less;
    return called(b);
}
static tw_status threads(bench *b) {
    b->call.threads = -2;
    return called(b);
}
static tw_status no_scalar(bench *b) {
    b->call.scalar = NULL;
    return called(b);
}
static tw_status more_scalars(bench *b) {
    b->call.scalars = 2;
    return called(b);
}
static tw_status many_sets(bench *b) {
    tw_call *sets[TW_MOST_SETS + 1];
    tw_timing t;
    for (int k = 0; k <= TW_MOST_SETS; k++)
        sets[k] = &b->call;
    return tw_kernel_time_sets(tw_compiled_kernel(b->compiled), sets, TW_MOST_SETS + 1, true, &t);
}

/* ---- judging ---- */

static void no_verdict(void *user, const tw_verdict *v) { (void)user, (void)v; }
static void no_row(void *user, const tw_verify_row *row) { (void)user, (void)row; }
static const tw_scalar_value wrong_scalar[] = {{"bye", 0}}, right_scalar[] = {{"by", 0x40400000}};

static tw_status judged(bench *b, const tw_compiled *c, const void *x, const tw_scalar_value *s) {
    const void *const before[] = {x, NULL}, *const after[] = {NULL, b->y};
    const tw_judge_run run = {before, after, s, 1};
    return tw_judge(b->ctx, c, &run, no_verdict, NULL);
}
static tw_status judge_nothing(bench *b) { return judged(b, NULL, b->x, right_scalar); }
static tw_status judge_no_input(bench *b) { return judged(b, b->compiled, NULL, right_scalar); }
static tw_status judge_scalar(bench *b) { return judged(b, b->compiled, b->x, wrong_scalar); }

static tw_status verified(bench *b, const tw_ir *ir, const tw_scalar_value *s,
                          const char *fixture) {
    const tw_verify_case one = {.ir = ir,
                                .types = "",
                                .text = "",
                                .dims = dims,
                                .n_dims = 2,
                                .scalars = s,
                                .n_scalars = 1,
                                .default_plan = true};
    tw_verify_options o = tw_verify_options_defaults();
    o.target = b->options.target;
    o.fixture = fixture;
    return tw_verify(b->ctx, &one, 1, &o, no_row, NULL);
}
static tw_status verify_fixture(bench *b) { return verified(b, b->ir, right_scalar, "norml"); }
static tw_status verify_nothing(bench *b) { return verified(b, NULL, right_scalar, NULL); }
static tw_status verify_scalar(bench *b) { return verified(b, b->ir, wrong_scalar, NULL); }

/* ---- tuning ---- */

static tw_status tuned(bench *b, const tw_ir *ir, tw_tune_request request) {
    tw_tune_result result;
    const tw_status status = tw_tune(b->ctx, NULL, ir, &request, &result);
    assert_null(result.winner);
    return status;
}
static tw_status tune_nothing(bench *b) {
    return tuned(b, NULL, (tw_tune_request){.compile = &b->options});
}
static tw_status tune_no_options(bench *b) { return tuned(b, b->ir, (tw_tune_request){0}); }
static tw_status tune_with(bench *b, tw_tune_options o, const char *on) {
    b->options.target = on;
    return tuned(b, b->ir, (tw_tune_request){.compile = &b->options, .options = &o});
}
static tw_status tune_effort(bench *b) {
    return tune_with(b, (tw_tune_options){.effort = (tw_effort)17}, "cpu");
}
static tw_status tune_scalar(bench *b) {
    return tune_with(b, (tw_tune_options){.scalars = wrong_scalar, .n_scalars = 1}, "cpu");
}
static tw_status tune_interpreter(bench *b) {
    return tune_with(b, tw_tune_options_defaults(), "interp");
}
static tw_status tune_no_wisdom(bench *b) {
    return tune_with(b, (tw_tune_options){.effort = TW_EFFORT_WISDOM_ONLY}, "cpu");
}
static tw_status store_in_a_file(bench *b) {
    tw_store *store;
    const tw_status status = tw_store_open(b->ctx, "/dev/null", TW_STORE_READ, &store);
    assert_null(store);
    return status;
}
static tw_status two_stores(bench *b) {
    char folder[] = "/tmp/tw-misuse-XXXXXX";
    tw_store *first, *second;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(tw_store_open(b->ctx, folder, TW_STORE_READ, &first), TW_OK);
    const tw_status status = tw_store_open(b->ctx, folder, TW_STORE_READ, &second);
    assert_null(second);
    tw_store_close(first);
    assert_int_equal(remove(folder), 0);
    return status;
}

typedef struct {
    const char *what;
    tw_status (*wrong)(bench *b);
    tw_status want;
    const char *says[2];
} row;
static const row rows[] = {
    {"a kernel that is not there",
     kernel_number,
     TW_ERR_INPUT,
     {"kernel number 7 of a program of 1"}},
    {"an unknown setting", setting_name, TW_ERR_INPUT, {"'TT'", "did you mean 'T'"}},
    {"a type that is none", setting_value, TW_ERR_INPUT, {"'f31'", "one of f32, i32"}},
    {"a type left out", setting_missing, TW_ERR_INPUT, {"'T' has no value", "T=f32"}},
    {"too few subscripts", build_rank, TW_ERR_INPUT, {"X", "2"}},
    {"an array handle that is none", build_handle, TW_ERR_INPUT, {"array"}},
    {"a store of another type", build_type, TW_ERR_INPUT, {"i32", "f32"}},
    {"no tile IR", no_ir, TW_ERR_INPUT, {"there is no tile IR", "tw_program_build"}},
    {"an unknown target", target, TW_ERR_INPUT, {"no target 'gpu'", "cpu, cuda"}},
    {"a target that is a description",
     description,
     TW_ERR_INPUT,
     {"simt32", "its loop IR can be shown"}},
    {"a dim left out", dim_missing, TW_ERR_INPUT, {"no value for dim W"}},
    {"an unknown dim", dim_unknown, TW_ERR_INPUT, {"no dim Q", "R, W"}},
    {"a dim without a name", dim_nameless, TW_ERR_INPUT, {"without a name", "R, W"}},
    {"a negative dim", dim_negative, TW_ERR_INPUT, {"W cannot be -3", "0 or more"}},
    {"a dim given twice", dim_twice, TW_ERR_INPUT, {"W cannot be 4: it is 3"}},
    {"more elements than there can be", dim_huge, TW_ERR_INPUT, {"X", "1099511627776"}},
    {"an unknown plan", plan_name, TW_ERR_INPUT, {"'fastest'", "random:SEED"}},
    {"a plan that does not parse", plan_syntax, TW_ERR_INPUT, {"mine.plan:2"}},
    {"a plan of another kernel", plan_other, TW_ERR_INPUT, {"mine.plan:1", "scale"}},
    {"a plan that covers too little", plan_short, TW_ERR_INPUT, {"covers 2 of 3"}},
    {"a pin that is none", pin, TW_ERR_INPUT, {"nonsense"}},
    {"caps that do not parse", caps, TW_ERR_INPUT, {"mine.caps:2", "simt"}},
    {"loop IR of another kernel", loop, TW_ERR_INPUT, {"other arguments"}},
    {"no compiler", no_compiler, TW_ERR_ENV, {"/no/such/cc"}},
    {"a shape for no array", shape_unknown, TW_ERR_INPUT, {"no array Z"}},
    {"a shape of another rank", shape_rank, TW_ERR_INPUT, {"X has rank 2", "rank 1"}},
    {"a shape with a negative extent", shape_negative, TW_ERR_INPUT, {"X cannot have extent -1"}},
    {"shapes that disagree", shapes_disagree, TW_ERR_INPUT, {"W is 3 in X and 4 in Y"}},
    {"why not, of nonsense", why_not, TW_ERR_INPUT, {"nonsense"}},
    {"why not, of nothing", why_not_what, TW_ERR_INPUT, {"there is no tile IR"}},
    {"plans of nothing", list_what, TW_ERR_INPUT, {"there is no tile IR"}},
    {"caps to print that do not parse", reprint, TW_ERR_INPUT, {"mine.caps:1"}},
    {"no kernel", no_kernel, TW_ERR_INPUT, {"there is no kernel", "build = true"}},
    {"no table of arrays", no_arrays, TW_ERR_INPUT, {"0 arrays were given", "takes 2"}},
    {"an array too many", more_arrays, TW_ERR_INPUT, {"3 arrays were given", "takes 2"}},
    {"an array without a shape", no_shape, TW_ERR_INPUT, {"X has no shape"}},
    {"an unknown element type", unknown_type, TW_ERR_INPUT, {"X has elements", "takes f32"}},
    {"an array too small", small_array, TW_ERR_INPUT, {"Y has extent 2 in dimension 1", "takes 3"}},
    {"a negative extent", negative_extent, TW_ERR_INPUT, {"Y has extent -3", "takes 3"}},
    {"fewer threads than none", threads, TW_ERR_INPUT, {"threads is -2", "0 for"}},
    {"a scalar without a value", no_scalar, TW_ERR_INPUT, {"the scalar by has no value"}},
    {"a scalar too many", more_scalars, TW_ERR_INPUT, {"2 scalars were given", "takes 1"}},
    {"too many sets to time", many_sets, TW_ERR_INPUT, {"65 sets", "at most 64"}},
    {"nothing to judge by", judge_nothing, TW_ERR_INPUT, {"no tile program"}},
    {"an input left out for the judge", judge_no_input, TW_ERR_INPUT, {"array X is missing"}},
    {"an unknown scalar for the judge", judge_scalar, TW_ERR_INPUT, {"no scalar bye"}},
    {"an unknown fixture", verify_fixture, TW_ERR_INPUT, {"'norml'", "normal, negative"}},
    {"nothing to verify", verify_nothing, TW_ERR_INPUT, {"there is no tile IR"}},
    {"an unknown scalar to verify with", verify_scalar, TW_ERR_INPUT, {"no scalar bye"}},
    {"nothing to tune", tune_nothing, TW_ERR_INPUT, {"there is no tile IR"}},
    {"tuning without options", tune_no_options, TW_ERR_INPUT, {"no compile options"}},
    {"an effort that is none", tune_effort, TW_ERR_INPUT, {"no effort 17", "patient"}},
    {"an unknown scalar to tune with", tune_scalar, TW_ERR_INPUT, {"no scalar bye"}},
    {"tuning what is not timed",
     tune_interpreter,
     TW_ERR_INPUT,
     {"interp is not timed", "estimate"}},
    {"no wisdom", tune_no_wisdom, TW_ERR_INPUT, {"no plan for this in the store"}},
    {"a store that is a file", store_in_a_file, TW_ERR_ENV, {"/dev/null", "it is no folder"}},
    {"a second store", two_stores, TW_ERR_INPUT, {"has one already"}},
};

/* The context, the IR and the kernel do what they did before. */
static void still_works(bench *b, const char *what) {
    fresh(b);
    if (compiled(b) != TW_OK || called(b) != TW_OK || tw_diag_count(b->ctx))
        fail_msg("after %s: %s%s", what, b->call.error, tw_diag_text(b->ctx, false));
    for (int k = 0; k < N; k++)
        assert_true(b->y[k] == 3.0f * (float)k);
}

static void wrong_uses(void **state) {
    (void)state;
    bench b = {.ctx = tw_context_create(NULL)};
    b.program = tw_program_parse(b.ctx, "scale.tile", text, sizeof text - 1);
    tw_ir *ir = b.ir = tw_program_build(b.program, 0, f32, 1);
    fresh(&b);
    assert_int_equal(tw_compile(b.ctx, ir, &b.options, &b.compiled), TW_OK);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        const row *r = &rows[k];
        fresh(&b);
        const tw_status status = r->wrong(&b);
        const char *said = b.call.error[0] ? b.call.error : tw_diag_text(b.ctx, false);
        bool named = strstr(said, r->says[0]) && (!r->says[1] || strstr(said, r->says[1]));
        if (status != r->want || !named)
            fail_msg("%s: status %d, not %d; said '%s', not '%s' and '%s'", r->what, (int)status,
                     (int)r->want, said, r->says[0], r->says[1] ? r->says[1] : "");
        for (int n = 0; n < N; n++)
            assert_true(b.y[n] == -1 && b.x[n] == (float)n);
        b.ir = ir;
        still_works(&b, r->what);
    }
    tw_compiled_release(b.compiled);
    tw_context_destroy(b.ctx);
}

/* What is asked of nothing, or beyond the end, is what the headers say. */
static void nothing_is_fine(void **state) {
    (void)state;
    uint64_t bits = 7;
    int64_t value;
    float data[N];
    tw_context_destroy(NULL);
    tw_compiled_release(NULL);
    tw_kernel_destroy(NULL);
    tw_store_close(NULL);
    tw_diag_clear(NULL);
    assert_int_equal(tw_diag_count(NULL), 0);
    assert_null(tw_diag_get(NULL, 0).text);
    assert_string_equal(tw_diag_text(NULL, false), "");
    assert_int_equal(tw_compile(NULL, NULL, NULL, &(tw_compiled *){NULL}), TW_ERR_INPUT);
    assert_null(tw_program_parse(NULL, "x", "", 0));
    assert_int_equal(tw_program_kernels(NULL), 0);
    assert_null(tw_program_kernel(NULL, 0));
    assert_null(tw_program_decl(NULL, 0, 0));
    assert_null(tw_program_build(NULL, 0, NULL, 0));
    assert_false(tw_program_check(NULL));
    assert_int_equal(tw_ir_dims(NULL), 0);
    assert_null(tw_ir_dim(NULL, 0));
    assert_false(tw_ir_dim_known(NULL, 0, &value));
    assert_null(tw_ir_kernel(NULL));
    assert_int_equal(tw_ir_args(NULL), 0);
    assert_null(tw_ir_arg(NULL, 0).name);
    assert_null(tw_compiled_kernel(NULL));
    assert_null(tw_compiled_text(NULL, TW_STAGE_PLAN));
    assert_string_equal(tw_compiled_words(NULL), "");
    assert_int_equal(tw_compiled_args(NULL), 0);
    assert_null(tw_compiled_code(NULL, 0).name);
    assert_int_equal(tw_kernel_arrays(NULL), 0);
    assert_int_equal(tw_kernel_array(NULL, 0).elem, TW_NONE);
    assert_int_equal(tw_kernel_scalars(NULL), 0);
    assert_int_equal(tw_targets(NULL), 0);
    assert_string_equal(tw_store_folder(NULL), "");
    assert_null(tw_stage_name(TW_STAGES));
    assert_null(tw_effort_name((tw_effort)17));
    assert_null(tw_fixture_name(99));
    assert_null(tw_loop_mutation(99));
    assert_int_equal(tw_elem_named("f31"), TW_NONE);
    assert_int_equal(tw_elem_named(NULL), TW_NONE);
    assert_int_equal(tw_elem_size(TW_ELEMS), 0);
    assert_int_equal(tw_dtype_elem((tw_dtype){2, 32, 4}), TW_NONE);
    assert_false(tw_fixture_fill(NULL, 0, "normal", 1, data));
    assert_false(tw_fixture_scalar(NULL, 0, "normal", &bits));
    assert_int_equal(bits, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_uses),
                                       cmocka_unit_test(nothing_is_fine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
