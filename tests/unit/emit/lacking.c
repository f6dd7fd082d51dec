/* SPDX-License-Identifier: Apache-2.0
 * links: front oracle search
 * Every kernel, with each of its types and constants, on dialects that lack something, with caps
 * that say so: planned by default and at random, what legalize leaves is verified, spoken on those
 * caps (V9), gives the same bits in the interpreter, and the emitter refuses nothing. The dialects
 * as they are come first. Each lack is seen to matter: without the caps that name it some source is
 * refused. TW_PLANS, TW_SEED (0: default plans), TW_KERNEL widen or narrow it.
 */
#include "base/fs.h"
#include "emit/dialect.h"
#include "loop/interp.h"
#include "loop/legalize.h"
#include "lower/lower.h"
#include "oracle/fixtures.h"
#include "pass/pass.h"
#include "plan/scope.h"
#include "search/search.h"
#include "tilewright/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct {
    const char *name, *dims; /* one whose wide accesses are possible, where there are any */
    bool large;              /* random plans unroll for seconds: by default there are none */
} kernels[] = {
    {"argmax", "R=4 W=32", false},
    {"attention", "B=1 H=1 G=1 I=2 J=5 D=4 E=2", true},
    {"bmm", "Z=4 BA=2 BB=1 M=4 N=8 K=8", false},
    {"cross_entropy", "R=5 V=32", false},
    {"embedding", "N=7 V=5 D=32", false},
    {"gelu_residual", "R=4 W=64", false},
    {"gemm", "M=12 N=24 K=16", false},
    {"gemm_int8", "M=12 N=24 K=16", false},
    {"gemv", "M=12 K=64", false},
    {"histogram", "N=65 B=7", false},
    {"layernorm", "R=2 W=72", false},
    {"residual_layernorm", "R=3 W=72", false},
    {"rmsnorm", "R=1 W=64", false},
    {"rope", "R=4 H=2 P=32", false},
    {"row_max", "R=3 W=70", false},
    {"row_sum", "R=3 W=70", false},
    {"scan", "R=3 W=33", false},
    {"softmax", "R=4 W=64", false},
    {"swiglu", "R=4 W=64", false},
    {"transpose", "M=24 N=16", false},
    {"residual_rmsnorm", "R=2 W=72", false},
    {"masked_softmax", "R=4 W=64", true},
    {"decode_attention", "B=1 H=2 G=1 J=5 D=4 E=4", true},
    {"layernorm_backward", "R=5 W=32", true},
    {"conv2d", "N=1 H=3 W=4 G=2 C=4 O=4 KH=2 KW=2 OH=2 OW=3", true},
    {"max_pool", "N=1 H=3 W=4 C=8 OH=2 OW=2", false},
    {"avg_pool", "N=1 H=3 W=4 C=8 OH=2 OW=2", true},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* ---- what may be lacking ---- */

typedef struct {
    twi_dialect dialect;
    twi_simt_words simt;
    twi_part part[64];
    twi_caps caps;
} speech;

static void no_lanes(speech *s) {
    s->simt.lane_xor = s->simt.lane_read = s->simt.lane_up = s->simt.lane_down = (twi_words){0};
    s->caps.lane_ops = false;
    s->caps.lane = 1;
}

static void no_halves(speech *s) {
    s->dialect.widen_f16 = s->dialect.widen_bf16 = (twi_words){0};
    s->dialect.narrow_f16 = s->dialect.narrow_bf16 = (twi_words){0};
    s->caps.half_casts = s->caps.f16_casts = s->caps.f16 = s->caps.bf16 = false;
}

static void no_wide(speech *s) {
    s->dialect.vector_type = NULL;
    s->caps.access_bytes = 1;
}

/* Helpers of vectors, masks and counts of leading elements among them, go too. */
static void no_vectors(speech *s) {
    twi_dialect *d = &s->dialect;
    d->vector_type = d->access_type = NULL;
    for (unsigned op = 0; op < TWI_ELEMENTWISE_END; op++)
        for (unsigned class = 0; class < TWI_CLASSES; class ++)
            d->op[op][class].vector = NULL;
    twi_words *const words[] = {&d->to_bool,  &d->from_bool, &d->convert,
                                &d->saturate, &d->bitcast,   &d->select};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        words[k]->vector = NULL;
    unsigned kept = 0;
    for (const twi_part *p = d->part; p->name; p++)
        if (!p->vector)
            s->part[kept++] = *p;
    s->part[kept] = (twi_part){0};
    d->part = s->part;
    s->caps.lane = 1;
    s->caps.lane_ops = false;
}

static void no_dots(speech *s) {
    memset(s->dialect.dots, 0, sizeof s->dialect.dots);
    s->dialect.row_dots = NULL;
    s->caps.dpi8 = s->caps.dpbf16 = s->caps.tdpbf16 = false;
}

static void nothing_more(speech *s) {
    no_lanes(s);
    no_halves(s);
    no_wide(s);
}

typedef struct {
    const char *name;
    const twi_dialect *dialect;
    const char *caps;
    void (*lacks)(speech *s); /* NULL: as it is */
} tongue;

static const tongue tongues[] = {
    {"C", &twi_dialect_c, "cpu-baseline", NULL},
    {"C, AVX-512 with dots", &twi_dialect_c, "cpu-avx512-dots", NULL},
    {"C, AVX-512", &twi_dialect_c, "cpu-avx512", NULL},
    {"OpenCL C", &twi_dialect_opencl, "simt1", NULL},
    {"OpenCL C with subgroups", &twi_dialect_opencl, "opencl-a770", NULL},
    {"C without dots", &twi_dialect_c, "cpu-avx512-tiles", no_dots},
    {"CUDA C++", &twi_dialect_cuda, "sm_90a", NULL},
    {"C without vectors", &twi_dialect_c, "cpu-avx512", no_vectors},
    {"OpenCL C without wide accesses", &twi_dialect_opencl, "simt1", no_wide},
    {"CUDA C++ without lane operations", &twi_dialect_cuda, "sm_90a", no_lanes},
    {"CUDA C++ without narrow floats", &twi_dialect_cuda, "sm_90a", no_halves},
    {"CUDA C++ without wide accesses", &twi_dialect_cuda, "sm_90a", no_wide},
    {"CUDA C++ without any of them", &twi_dialect_cuda, "sm_90a", nothing_more},
    {"C, AVX-512 with tiles", &twi_dialect_c, "cpu-avx512-tiles", NULL},
};
enum { TONGUES = sizeof tongues / sizeof *tongues };

/* ---- one plan ---- */

typedef struct {
    tw_context *ctx;
    twi_arena *a;
    const tongue *tongue;
    speech speech;
    const char *kernel;
    const tw_ir *ir;
    unsigned plans, refused, without; /* sources; unspoken though caps do not say so */
} trial;

static uint64_t setting(const char *name, uint64_t otherwise) {
    return getenv(name) ? strtoull(getenv(name), NULL, 10) : otherwise;
}

static void complain(const trial *t, uint64_t seed, const twi_loop *loop, const char *what) {
    twi_sb sb;
    twi_sb_init(&sb, t->a);
    if (getenv("TW_SHOW"))
        twi_loop_print(loop, &sb);
    fail_msg("TW_KERNEL=%s TW_SEED=%llu, %s, %s: %s\n%s", t->kernel, (unsigned long long)seed,
             t->tongue->name, twi_ir_spec(t->ir, t->a), what, twi_sb_text(&sb));
}

/* All arrays after a run of an entry, one behind the other. */
static void *results(const trial *t, const twi_loop *loop, uint32_t entry, size_t *bytes) {
    twi_interp_array *arrays = TWI_NEW_N(t->a, twi_interp_array, loop->array.n);
    int64_t *strides = TWI_NEW_N(t->a, int64_t, (size_t)loop->array.n * TWI_MAX_RANK);
    size_t *at = TWI_NEW_N(t->a, size_t, loop->array.n + 1);
    *bytes = 0;
    for (uint32_t k = 1; k < loop->array.n; k++) {
        int64_t n = 1, *stride = strides + (size_t)k * TWI_MAX_RANK;
        for (int d = loop->array.at[k].rank - 1; d >= 0; d--) {
            stride[d] = n;
            n *= loop->array.at[k].extent[d];
        }
        at[k] = *bytes;
        *bytes += ((size_t)n * tw_elem_size((tw_elem)loop->array.at[k].elem) + 15) / 16 * 16;
    }
    char *data = twi_alloc(t->a, *bytes + 16);
    memset(data, 0xa5, *bytes);
    for (uint32_t k = 1; k < loop->array.n; k++) {
        const twi_larray *array = &loop->array.at[k];
        if (array->role == TWI_IN || array->role == TWI_INOUT)
            twi_fixture_fill(t->ir, k, TWI_FIX_NORMAL, 1, data + at[k]);
        arrays[k] =
            (twi_interp_array){data + at[k], array->extent, strides + (size_t)k * TWI_MAX_RANK};
    }
    uint64_t *scalars = TWI_NEW_N(t->a, uint64_t, t->ir->scalar.n + 1);
    for (uint32_t k = 1; k < t->ir->scalar.n; k++)
        scalars[k] = twi_fixture_scalar(t->ir, k, TWI_FIX_NORMAL);
    twi_interp_result r = {0};
    twi_interp_run(loop, entry, arrays, scalars, t->a, &r);
    if (r.fault.kind)
        complain(t, 0, loop, r.fault.text);
    return data;
}

static const char *source(const trial *t, const twi_loop *loop, const speech *s) {
    twi_sb out;
    twi_sb_init(&out, t->a);
    twi_emit(loop, &s->dialect, &out);
    return twi_sb_text(&out);
}

static void check_plan(trial *t, uint64_t seed) {
    const twi_caps *caps = &t->speech.caps;
    twi_why why = {.text = ""};
    twi_plans *plans = seed ? twi_search_random(t->a, t->ir, caps, NULL, seed, &why)
                            : twi_search_default(t->a, t->ir, caps, NULL, &why);
    if (!plans && why.text[0]) {
        t->refused++;
        printf("%s, %s: %s\n", t->tongue->name, t->kernel, why.text);
        return;
    }
    if (!plans)
        fail_msg("%s, %s: no plan and no reason", t->tongue->name, t->kernel);
    const twi_loop *loop = twi_lower(t->a, plans->ir, caps, plans);
    twi_loop *legal = twi_legalize(loop, t->a, caps);
    if (!twi_loop_verify(legal) || !twi_loop_spoken(legal, caps))
        complain(t, seed, legal, tw_diag_text(t->ctx, false));
    const char *text = source(t, legal, &t->speech);
    const char *missing = strstr(text, "tw_not_spoken");
    while (missing && missing > text && missing[-1] != '\n')
        missing--;
    if (missing)
        complain(t, seed, legal, twi_strndup(t->a, missing, strcspn(missing, "\n")));
    for (uint32_t e = 0; e < loop->entry.n; e++) {
        size_t n, m;
        const void *before = results(t, loop, e, &n), *after = results(t, legal, e, &m);
        if (n != m || memcmp(before, after, n) != 0)
            complain(t, seed, legal, "legalize changed bits");
    }
    t->plans++;
}

/* The same kernel planned for all that the dialect would have had. */
static void check_lack(trial *t) {
    twi_caps whole;
    twi_why why = {.text = ""};
    assert_true(twi_caps_named(t->ctx, t->tongue->caps, &whole));
    const twi_plans *plans = twi_search_default(t->a, t->ir, &whole, NULL, &why);
    if (plans &&
        strstr(source(t, twi_legalize(twi_lower(t->a, plans->ir, &whole, plans), t->a, &whole),
                      &t->speech),
               "tw_not_spoken"))
        t->without++;
}

/* ---- kernels ---- */

static int64_t dim_value(const char *dims, const char *name) {
    const size_t n = strlen(name);
    for (const char *p = dims; p; p = strchr(p, ' ')) {
        p += *p == ' ';
        if (strncmp(p, name, n) == 0 && p[n] == '=')
            return strtoll(p + n + 1, NULL, 10);
    }
    return -1;
}

/* The number-th combination of choices; NULL after the last. */
static const tw_ir *bound(const trial *t, tw_program *p, unsigned number, const char *dims) {
    tw_binding b[32];
    size_t n = 0;
    for (size_t k = 0; k < tw_program_decls(p, 0); k++) {
        const tw_decl *d = tw_program_decl(p, 0, k);
        if (d->kind >= TW_DECL_PARAM || d->choices < 2 || n == 32)
            continue;
        b[n++] = (tw_binding){d->name, d->choice[number % d->choices]};
        number /= (unsigned)d->choices;
    }
    if (number)
        return NULL;
    tw_ir *ir = tw_program_build(p, 0, b, n);
    if (!ir)
        fail_msg("%s", tw_diag_text(t->ctx, false));
    int64_t *number_of = TWI_NEW_N(t->a, int64_t, ir->dim.n);
    for (uint32_t d = 1; d < ir->dim.n; d++)
        number_of[d] = dim_value(dims, twi_text(&t->ctx->names, ir->dim.at[d].name));
    tw_ir *sp = twi_ir_specialise(ir, t->a, number_of);
    if (!sp)
        fail_msg("%s", tw_diag_text(t->ctx, false));
    opt_lift(sp);
    return sp;
}

/* Unless TW_PLANS is given, a binding is left to one in FEW of the dialects. */
enum { FEW = 4 };

static void check_kernel(trial *t, unsigned number) {
    const char *dims = kernels[number].dims;
    t->kernel = kernels[number].name;
    const uint64_t plans = setting("TW_PLANS", 1);
    const char *path = twi_format(t->a, "%s/kernels/%s.tile", TW_SOURCE_DIR, t->kernel);
    char *text;
    size_t n;
    assert_int_equal(twi_read_file(t->a, path, &text, &n), 0);
    tw_program *p = tw_program_parse(t->ctx, path, text, n);
    assert_non_null(p);
    for (unsigned k = 0; (t->ir = bound(t, p, k, dims)) != NULL; k++) {
        if (!getenv("TW_PLANS") && (number + k + (unsigned)(t->tongue - tongues)) % FEW)
            continue;
        const twi_mark mark = twi_arena_mark(t->a);
        for (uint64_t plan = 0; plan < plans; plan++) {
            check_plan(t, setting("TW_SEED", kernels[number].large ? 0 : k) + plan);
            twi_arena_reset(t->a, mark);
        }
        if (t->tongue->lacks && !t->without)
            check_lack(t);
        twi_arena_reset(t->a, mark);
    }
}

static void speak(trial *t) {
    speech *s = &t->speech;
    s->dialect = *t->tongue->dialect;
    assert_true(twi_caps_named(t->ctx, t->tongue->caps, &s->caps));
    if (s->dialect.simt) {
        s->simt = *s->dialect.simt;
        s->dialect.simt = &s->simt;
    }
    if (t->tongue->lacks)
        t->tongue->lacks(s);
}

static void nothing_is_refused(void **state) {
    (void)state;
    for (volatile unsigned k = 0; k < TONGUES; k++) { /* volatile: what setjmp leaves alone */
        tw_context *ctx = tw_context_create(NULL);
        jmp_buf spot, *saved;
        if (TWI_GUARD(&ctx->mem, spot, saved))
            fail_msg("out of memory");
        twi_arena a;
        twi_arena_init(&a, &ctx->mem);
        trial *t = TWI_NEW(&ctx->arena, trial);
        *t = (trial){.ctx = ctx, .a = &a, .tongue = &tongues[k]};
        speak(t);
        for (unsigned i = 0; i < KERNELS; i++)
            if (!getenv("TW_KERNEL") || strcmp(getenv("TW_KERNEL"), kernels[i].name) == 0)
                check_kernel(t, i);
        printf("%s: %u plans, %u refused; %s\n", t->tongue->name, t->plans, t->refused,
               t->without ? "unspoken without its caps" : "");
        assert_true(getenv("TW_KERNEL") || !t->tongue->lacks || t->without > 0);
        twi_arena_fini(&a);
        TWI_UNGUARD(&ctx->mem, saved);
        tw_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
