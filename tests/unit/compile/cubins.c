/* SPDX-License-Identifier: Apache-2.0
 * Every kernel of kernels/, default plan and (but of attention) a random one, for the three
 * recorded CUDA architectures: source to cubin, no device needed. Prints registers, shared and
 * local bytes. Needs NVRTC. links: front
 */
#include "base/fs.h"
#include "compile/path.h"
#include "tilewright/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const archs[] = {"sm_80", "sm_90a", "sm_100"};
static const char *const plans[] = {"default", "random:1"};
enum { MOST = 128, DIMS = 10, BINDINGS = 6 };

static const char NONE[] = "";

static const struct {
    const char *kernel;
    tw_dim_value dims[DIMS];
    const char *types[2]; /* of T; left out: f32 and bf16; NONE: there is no T */
    tw_binding more[BINDINGS - 1];
} shapes[] = {
    {.kernel = "row_sum", .dims = {{"R", 128}, {"W", 8192}}},
    {.kernel = "row_max", .dims = {{"R", 128}, {"W", 1000}}},
    {.kernel = "argmax", .dims = {{"R", 128}, {"W", 1000}}},
    {.kernel = "softmax", .dims = {{"R", 128}, {"W", 1024}}},
    {.kernel = "layernorm", .dims = {{"R", 128}, {"W", 1024}}},
    {.kernel = "residual_layernorm", .dims = {{"R", 128}, {"W", 1024}}},
    {.kernel = "rmsnorm", .dims = {{"R", 128}, {"W", 1024}}},
    {.kernel = "gelu_residual", .dims = {{"R", 128}, {"W", 1024}}},
    {.kernel = "gemm", .dims = {{"M", 127}, {"N", 193}, {"K", 61}}},
    {.kernel = "bmm", .dims = {{"Z", 4}, {"BA", 4}, {"BB", 1}, {"M", 64}, {"N", 65}, {"K", 33}}},
    {.kernel = "transpose", .dims = {{"M", 127}, {"N", 257}}},
    {.kernel = "attention",
     .dims = {{"B", 1}, {"H", 2}, {"G", 2}, {"I", 65}, {"J", 129}, {"D", 64}, {"E", 64}},
     .more = {{"CAUSAL", "true"}}},
    {.kernel = "scan",
     .dims = {{"R", 16}, {"W", 8192}},
     .more = {{"EXCLUSIVE", "true"}, {"REVERSE", "true"}}},
    {.kernel = "cross_entropy", .dims = {{"R", 128}, {"V", 4096}}, .more = {{"I", "i64"}}},
    {.kernel = "embedding", .dims = {{"V", 4096}, {"D", 4096}, {"N", 512}}, .more = {{"I", "i32"}}},
    {.kernel = "histogram", .dims = {{"N", 10000}, {"B", 100}}, .types = {"i32", "u8"}},
    {.kernel = "gemv", .dims = {{"M", 512}, {"K", 1000}}},
    {.kernel = "swiglu", .dims = {{"R", 128}, {"W", 1024}}},
    {.kernel = "rope", .dims = {{"R", 128}, {"H", 8}, {"P", 64}}},
    {.kernel = "gemm_int8", .dims = {{"M", 64}, {"N", 65}, {"K", 128}}, .types = {NONE}},
    {.kernel = "residual_rmsnorm", .dims = {{"R", 128}, {"W", 1024}}},
    {.kernel = "masked_softmax", .dims = {{"R", 128}, {"W", 1024}}},
    {.kernel = "decode_attention",
     .dims = {{"B", 1}, {"H", 8}, {"G", 2}, {"J", 129}, {"D", 64}, {"E", 64}}},
    {.kernel = "layernorm_backward", .dims = {{"R", 128}, {"W", 1024}}},
    {.kernel = "conv2d",
     .dims = {{"N", 1},
              {"H", 9},
              {"W", 10},
              {"G", 2},
              {"C", 8},
              {"O", 16},
              {"KH", 3},
              {"KW", 3},
              {"OH", 5},
              {"OW", 5}},
     .more = {{"SH", "2"}, {"SW", "2"}, {"PH", "1"}, {"PW", "1"}}},
    {.kernel = "max_pool",
     .dims = {{"N", 1}, {"H", 17}, {"W", 18}, {"C", 64}, {"OH", 9}, {"OW", 9}}},
    {.kernel = "avg_pool",
     .dims = {{"N", 1}, {"H", 17}, {"W", 18}, {"C", 64}, {"OH", 9}, {"OW", 9}}},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Of the gemm above: asynchronous copies of 4 and 16 bytes, of three versions and two. */
#define WINDOWS(layout_a, layout_b)                                                                \
    "plan gemm/0 class=free\n"                                                                     \
    "frame f: m = grid 4, sub 4@2, slot 2, lane 4@8 ; n = grid 4, sub 2, lane 8, slot 4 ; "        \
    "k = serial 4, loop 4, slot 4\n"                                                               \
    "stage A: shared, order m k, " layout_a ", copy m = sub 8, lane 4@8 ; k = lane 8, slot 2, "    \
    "via async, window 3\n"                                                                        \
    "stage B: shared, order k n" layout_b ", copy k = sub 8, lane 2@16 ; n = lane 16, slot 4, "    \
    "via async, window 2\n"                                                                        \
    "entry main ; entry aligned16: align16 A B C\n"
static const char windows[] = WINDOWS("pad 4", ""),
                  swizzled[] = WINDOWS("swizzle 32", ", swizzle 64");

/* Of the transpose: a carrier swizzled by elements. */
static const char turned[] = "plan transpose/0 class=canonical\n"
                             "frame f: m = grid 4, slot 8, sub 4 ; n = grid 9, lane 32\n"
                             "frame g: m = grid 4, lane 32 ; n = grid 9, slot 8, sub 4\n"
                             "value X: to g via shared, swizzle 128 unit 4\n"
                             "entry main ; entry aligned16: align16 X Y\n";

/* Each such plan is one of a kernel above. */
static const struct {
    const char *kernel, *name, *text;
} texts[] = {{"gemm", "windows", windows},
             {"gemm", "swizzled", swizzled},
             {"transpose", "swizzled", turned}};

typedef struct {
    tw_context *ctx;
    twi_arena arena;
    twi_where where;
    const twi_loop *loop[MOST];
    char name[MOST][64];
    unsigned n;
} batch;

/* plan: its name, or its text. */
static bool has_plan(batch *b, const tw_ir *ir, unsigned shape, const char *plan) {
    twi_path p = {.ctx = b->ctx, .arena = &b->arena, .where = b->where};
    tw_compile_options o = {.plan = plan, .dims = shapes[shape].dims};
    if (strchr(plan, '\n'))
        o.plan_text = (tw_source){"given.plan", plan, strlen(plan)};
    while (o.n_dims < DIMS && o.dims[o.n_dims].name)
        o.n_dims++;
    if (!twi_path_specialise(&p, ir, &o) || !twi_path_class(&p, false, false) ||
        !twi_path_plan(&p, &o) || !twi_path_lower(&p))
        return false;
    b->loop[b->n++] = p.loop;
    return true;
}

static void add(batch *b, unsigned shape, const char *type) {
    char path[100], *text;
    size_t n;
    tw_binding bindings[BINDINGS] = {{"T", type}};
    const bool causal = strcmp(shapes[shape].kernel, "attention") == 0;
    unsigned given = type == NONE ? 0 : 1;
    for (unsigned k = 0; k < BINDINGS - 1 && shapes[shape].more[k].name; k++)
        bindings[given++] = shapes[shape].more[k];
    (void)snprintf(path, sizeof path, "kernels/%s.tile", shapes[shape].kernel);
    assert_int_equal(twi_read_file(&b->arena, path, &text, &n), 0);
    tw_program *program = tw_program_parse(b->ctx, path, text, n);
    assert_non_null(program);
    tw_ir *ir = tw_program_build(program, 0, bindings, given);
    for (unsigned k = 0; k < sizeof texts / sizeof *texts; k++) {
        if (strcmp(shapes[shape].kernel, texts[k].kernel) != 0)
            continue;
        (void)snprintf(b->name[b->n], sizeof b->name[0], "%s %s %s", texts[k].kernel, type,
                       texts[k].name);
        if (!ir || !has_plan(b, ir, shape, texts[k].text))
            fail_msg("%s: %s", b->name[b->n], tw_diag_text(b->ctx, false));
    }
    /* random plans of attention take NVRTC seconds each */
    for (unsigned k = 0; k < (causal ? 1u : 2u); k++) {
        const char *name = b->name[b->n];
        (void)snprintf(b->name[b->n], sizeof b->name[0], "%s %s %s", shapes[shape].kernel, type,
                       plans[k]);
        if (!ir || !has_plan(b, ir, shape, plans[k]))
            fail_msg("%s: %s", name, tw_diag_text(b->ctx, false));
    }
}

static void print_figures(const batch *b, const char *arch, twi_module *const *module) {
    print_message("%-8s %-34s %9s %7s %6s %7s\n", arch, "kernel", "registers", "shared", "local",
                  "code");
    for (unsigned k = 0; k < b->n; k++)
        for (uint32_t f = 0; f < b->loop[k]->func.n; f++) {
            twi_code_figures c;
            assert_true(module[k]->target->ops->figures(module[k], f, &c));
            assert_in_range(c.registers, 1, 255);
            assert_in_range(c.shared, 0, b->where.caps.shared + 1024); /* the system's own */
            assert_true(c.code > 0);
            print_message("%-8s %-34s %9u %7u %6u %7u  %s\n", arch, b->name[k], c.registers,
                          c.shared, c.local, c.code, c.name);
        }
}

static void all_kernels_of(const char *arch) {
    batch *b = calloc(1, sizeof *b);
    twi_module *module[MOST];
    jmp_buf spot, *saved;
    b->ctx = tw_context_create(NULL);
    twi_arena_init(&b->arena, &b->ctx->mem);
    if (TWI_GUARD(&b->ctx->mem, spot, saved))
        fail_msg("no memory");
    assert_true(twi_where_find(b->ctx, arch, NULL, NULL, 0, &b->where));
    for (unsigned i = 0; i < SHAPES; i++) {
        const char *const *types = shapes[i].types;
        add(b, i, types[0] ? types[0] : "f32");
        if (types[0] != NONE)
            add(b, i, types[1] ? types[1] : "bf16");
    }
    twi_target *t = twi_cuda_open(b->ctx, &(twi_cuda_options){&b->where.caps, 0});
    const tw_status status = t->ops->build(t, b->loop, b->n, NULL, module);
    if (status != TW_OK && strstr(tw_diag_text(b->ctx, false), "cannot be loaded")) {
        print_message("SKIPPED all_kernels: no NVRTC\n");
        skip();
    }
    if (status != TW_OK)
        fail_msg("%s", tw_diag_text(b->ctx, false));
    print_figures(b, arch, module);
    for (unsigned k = 0; k < b->n; k++)
        t->ops->release(module[k]);
    t->ops->close(t);
    TWI_UNGUARD(&b->ctx->mem, saved);
    twi_arena_fini(&b->arena);
    tw_context_destroy(b->ctx);
    free(b);
}

static void all_kernels(void **state) {
    (void)state;
    for (unsigned a = 0; a < 3; a++)
        all_kernels_of(archs[a]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
