/* SPDX-License-Identifier: Apache-2.0
 * links: front oracle search
 * Random legal plans of every kernel, lowered and run by the interpreter: the loop IR verifies, no
 * fault is found, and the oracle accepts every output. TW_PLANS, TW_OFFERS, TW_KERNEL, TW_CAPS,
 * TW_SEED widen or narrow it; TW_SHOW=1 prints the text.
 */
#include "base/fs.h"
#include "loop/interp.h"
#include "loop/legalize.h"
#include "lower/lower.h"
#include "oracle/fixtures.h"
#include "oracle/oracle.h"
#include "pass/pass.h"
#include "search/view.h"
#include "tilewright/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct {
    const char *kernel, *dims, *bind; /* "R=3 W=70"; "T=f32" */
    const char *caps, *plan;          /* a plan's text instead of random ones */
} subject;
typedef enum { PLAIN, CANONICAL, MERGED } mode; /* MERGED: all folds that can be */

static const subject subjects[] = {
    {"row_sum", "R=3 W=70", "T=f32", NULL, NULL},
    {"row_sum", "R=2 W=4500", "T=bf16", NULL, NULL},
    {"row_max", "R=3 W=70", "T=f16", NULL, NULL},
    {"argmax", "R=5 W=33", "T=f32", NULL, NULL},
    {"softmax", "R=3 W=65", "T=f32", NULL, NULL},
    {"layernorm", "R=2 W=129", "T=f32", NULL, NULL},
    {"residual_layernorm", "R=3 W=63", "T=bf16", NULL, NULL},
    {"rmsnorm", "R=1 W=31", "T=f32", NULL, NULL},
    {"gelu_residual", "R=7 W=33", "T=f32", NULL, NULL},
    {"gemm", "M=13 N=19 K=17", "T=f32", NULL, NULL},
    {"gemm", "M=3 N=33 K=7", "T=f64", NULL, NULL},
    {"bmm", "Z=4 BA=2 BB=1 M=5 N=9 K=7", "T=f32", NULL, NULL},
    {"transpose", "M=17 N=9", "T=bf16", NULL, NULL},
    {"attention", "B=1 H=2 G=1 I=5 J=9 D=7 E=3", "T=f32 CAUSAL=true", NULL, NULL},
    {"scan", "R=3 W=33", "T=f32 EXCLUSIVE=false REVERSE=false", NULL, NULL},
    {"scan", "R=2 W=100", "T=bf16 EXCLUSIVE=true REVERSE=true", NULL, NULL},
    {"scan", "R=2 W=700", "T=f32 EXCLUSIVE=false REVERSE=true", "simt32", NULL},
    {"corpus/scans", "R=3 W=40", "", NULL, NULL},
    {"cross_entropy", "R=5 V=33", "T=f32 I=i32", NULL, NULL},
    {"embedding", "N=7 V=5 D=33", "T=bf16 I=i64", NULL, NULL},
    {"histogram", "N=65 B=7", "T=i32", NULL, NULL},
    {"corpus/gathers", "R=5 W=19", "", NULL, NULL},
    {"corpus/scatters", "N=9 W=17", "", NULL, NULL},
    {"corpus/atomics", "R=5 W=19 B=4", "", NULL, NULL},
    {"corpus/scalars", "R=21", "", NULL, NULL},
    {"corpus/prefixes", "N=40 D=3 G=4 G1=5", "", "cpu-baseline", NULL},
    {"corpus/prefixes", "N=40 D=9 G=4 G1=5", "", "simt32", NULL},
    {"corpus/segments", "N=40 D=3 G=4 G1=5", "", NULL, NULL},
    {"corpus/pooling", "N=1 H=9 W=11 OH=5 OW=6", "", NULL, NULL},
    {"corpus/convolution", "N=1 C=2 CG=2 O=2 H=6 W=5 KH=3 KW=3 OH=4 OW=3", "", NULL, NULL},
    {"corpus/split_k", "M=3 K=17 N=9", "", NULL, NULL},
    {"corpus/backward", "R=9 W=17", "", NULL, NULL},
    {"corpus/residual_rms", "R=3 W=33", "T=bf16", NULL, NULL},
    {"corpus/relaxation", "N=17", "", NULL, NULL},
    {"corpus/stencil", "H=5 W=17", "", NULL, NULL},
    {"corpus/streamed_rows", "R=3 W=70", "C=32", NULL, NULL},
    {"corpus/nearest_centre", "N=5 D=9 K=7", "", NULL, NULL},
    {"corpus/in_place", "I=3 J=5 N=4 K=6", "", NULL, NULL},
    {"corpus/optimiser", "N=3", "T=f32", NULL, NULL},
    {"corpus/optimiser", "N=70", "T=f32", NULL, NULL},
    {"corpus/scaled_update", "M=3 K=5 N=2", "BETA0=false", NULL, NULL},
    {"corpus/trees", "R=3 W=70", "", NULL, NULL},
    {"softmax", "R=3 W=65", "T=f32", "simt32",
     "plan softmax/0 class=free\nframe f: r = grid 3 ; w = loop 3, sub 2, lane 4, slot 3\n"
     "value x: keep shared\nvalue p: keep shared\n"},
    {"softmax", "R=3 W=65", "T=f32", "cpu-baseline",
     "plan softmax/0 class=free\nframe f: r = grid 3 ; w = loop 17, lane 4\nvalue p: keep "
     "scratch\n"},
    {"corpus/planes", "N=3 C=2 P=701", "", NULL, NULL},
    {"corpus/planes", "N=5 C=9 P=3", "", NULL, NULL},
    {"corpus/suffixes", "N=40 D=3 G=4 G1=5", "", "cpu-baseline", NULL},
    {"corpus/suffixes", "N=40 D=9 G=4 G1=5", "", "simt32", NULL},
    {"corpus/triangle", "R=9 W=40 U=3", "", NULL, NULL},
    {"corpus/triangle", "R=3 W=70 U=2", "", NULL, NULL},
    {"corpus/ragged_tiles", "R=3 W=31", "B=12", NULL, NULL},
    /* strides that aligned16 can hold */
    {"softmax", "R=4 W=64", "T=f32", NULL, NULL},
    {"residual_layernorm", "R=3 W=72", "T=bf16", NULL, NULL},
    {"gelu_residual", "R=4 W=24", "T=f16", NULL, NULL},
    {"gemm", "M=12 N=24 K=16", "T=f32", NULL, NULL},
    {"transpose", "M=24 N=16", "T=bf16", NULL, NULL},
    {"attention", "B=1 H=1 G=1 I=4 J=12 D=8 E=4", "T=f32 CAUSAL=true", NULL, NULL},
    {"corpus/relaxation", "N=20", "", NULL, NULL},
    {"embedding", "N=7 V=5 D=40", "T=bf16 I=i64", NULL, NULL},
    {"gemv", "M=9 K=33", "T=f32", NULL, NULL},
    {"gemm_int8", "M=5 N=19 K=17", "", NULL, NULL},
    {"swiglu", "R=3 W=33", "T=bf16", NULL, NULL},
    {"rope", "R=3 H=2 P=17", "T=f16", NULL, NULL},
};

/* merges: their folds of several results; every fixture. */
static const subject merges[] = {
    {"softmax", "R=3 W=65", "T=f32", NULL, NULL},
    {"softmax", "R=3 W=64", "T=f32", NULL, NULL},
    {"softmax", "R=2 W=1", "T=f16", NULL, NULL},
    {"softmax", "R=2 W=300", "T=f32", NULL, NULL},
    {"layernorm", "R=2 W=129", "T=f32", NULL, NULL},
    {"layernorm", "R=2 W=128", "T=f32", NULL, NULL},
    {"layernorm", "R=3 W=1", "T=f32", NULL, NULL},
    {"residual_layernorm", "R=3 W=63", "T=bf16", NULL, NULL},
    {"residual_layernorm", "R=2 W=700", "T=f32", NULL, NULL},
};

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
};

static int64_t dim_value(const char *dims, const char *name) {
    size_t n = strlen(name);
    for (const char *p = dims; p; p = strchr(p, ' ')) {
        p += *p == ' ';
        if (strncmp(p, name, n) == 0 && p[n] == '=')
            return strtoll(p + n + 1, NULL, 10);
    }
    return -1;
}

static tw_ir *load(tw_context *ctx, twi_arena *a, const subject *s, bool canonical) {
    char path[512], *text;
    size_t n;
    snprintf(path, sizeof path, "%s/%s/%s.tile", TW_SOURCE_DIR,
             strchr(s->kernel, '/') ? "tests" : "kernels", s->kernel);
    assert_int_equal(twi_read_file(a, path, &text, &n), 0);
    tw_program *p = tw_program_parse(ctx, path, text, n);
    tw_binding b[4];
    size_t nb = 0;
    char *bind = twi_strdup(a, s->bind), *save = NULL;
    for (char *w = strtok_r(bind, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        char *eq = strchr(w, '=');
        *eq = 0;
        b[nb++] = (tw_binding){w, eq + 1};
    }
    tw_ir *ir = p ? tw_program_build(p, 0, b, nb) : NULL;
    if (!ir)
        fail_msg("%s", tw_diag_text(ctx, false));
    int64_t *dims = TWI_NEW_N(a, int64_t, ir->dim.n);
    for (uint32_t d = 1; d < ir->dim.n; d++)
        dims[d] = dim_value(s->dims, twi_text(&ctx->names, ir->dim.at[d].name));
    tw_ir *sp = twi_ir_specialise(ir, a, dims);
    if (!sp)
        fail_msg("%s", tw_diag_text(ctx, false));
    if (canonical)
        twi_canonical_orders(sp);
    opt_lift(sp);
    return sp;
}

/* What merging leaves of a program; the program itself where nothing is to be merged. */
static const tw_ir *merged(twi_arena *a, const tw_ir *ir, bool all) {
    tw_ir *out = twi_ir_clone(ir, a);
    unsigned n = 0;
    for (twi_id v = 1; all && v < ir->ins.n; v++)
        n += opt_merge(out, v);
    if (all)
        assert_true(n > 0 && twi_ir_verify(out));
    return all ? out : ir;
}

typedef struct {
    void *data;
    int64_t shape[TWI_MAX_RANK], stride[TWI_MAX_RANK];
    size_t bytes;
} buffer;

/* By the module's arrays: partial results of split folds come after the kernel's own. */
static void make_buffers(twi_arena *a, const tw_ir *ir, const twi_loop *loop, twi_fixture fix,
                         buffer *b) {
    for (uint32_t k = 1; k < loop->array.n; k++) {
        const twi_larray *array = &loop->array.at[k];
        int64_t stride = 1;
        for (int d = array->rank - 1; d >= 0; d--) {
            b[k].shape[d] = array->extent[d];
            b[k].stride[d] = stride;
            stride *= b[k].shape[d];
        }
        b[k].bytes = (size_t)stride * tw_elem_size((tw_elem)array->elem);
        b[k].data = twi_alloc(a, b[k].bytes + 1);
        if (array->role == TWI_IN || array->role == TWI_INOUT)
            twi_fixture_fill(ir, k, fix, 1, b[k].data);
        else
            memset(b[k].data, 0xa5, b[k].bytes);
    }
}

/* One plan of one subject. */
typedef struct {
    tw_context *ctx;
    twi_arena *a;
    const subject *s;
    const tw_ir *ir, *text; /* planned; as written */
    twi_caps caps;
    uint64_t seed;
    twi_fixture fix;
    twi_plans *plans;
    twi_loop *loop;
    uint64_t offers; /* the plan is one of so many proposals; 0: not */
} trial;

static void complain(const trial *t, const char *text) {
    const subject *s = t->s;
    const tw_ir *ir = t->ir;
    const twi_plans *plans = t->plans;
    const twi_loop *loop = t->loop;
    uint64_t seed = t->seed;
    twi_sb sb;
    twi_sb_init(&sb, ir->arena);
    twi_plan_print(ir, plans, NULL, &sb);
    if (getenv("TW_SHOW")) {
        twi_ir_print(ir, &sb);
        twi_loop_print(loop, &sb);
    }
    fail_msg("%s %s %s seed %llu: %s\n%s", s->kernel, s->dims, s->bind, (unsigned long long)seed,
             text, twi_sb_text(&sb));
}

static void check_depths(const trial *t, const twi_interp_result *r) {
    const twi_loop *loop = t->loop;
    const tw_ir *ir = t->ir;
    for (uint32_t k = 0; k < loop->order.n; k++) {
        const twi_order *o = &loop->order.at[k];
        char text[160];
        snprintf(text, sizeof text, "depth of %s: %u > %u", twi_value_name(ir, o->fold),
                 r->depth[o->fold], o->depth);
        if (r->depth[o->fold] > o->depth)
            complain(t, text);
    }
}

static bool near(double a, double b) {
    double d = a > b ? a - b : b - a, most = a > b ? a : b;
    return d <= 1e-9 * most;
}

/* What the walk counted of one launch is what stands in the module it built. */
static void same_features(const trial *t0, const twi_features *t, const twi_features *c) {
    const struct {
        const char *what;
        double tally, count;
    } row[] = {
        {"cheap operations", t->ops[TWI_PRICE_CHEAP], c->ops[TWI_PRICE_CHEAP]},
        {"divisions", t->ops[TWI_PRICE_DIV], c->ops[TWI_PRICE_DIV]},
        {"functions", t->ops[TWI_PRICE_FUNC], c->ops[TWI_PRICE_FUNC]},
        {"near bytes", t->near_bytes, c->near_bytes},
        {"jumps", t->jumps, c->jumps},
        {"lane rounds", t->lane_rounds, c->lane_rounds},
        {"barriers", t->barriers, c->barriers},
        {"trips", t->trips, c->trips},
        {"turns of banks", t->turns, c->turns},
        {"rounds of loads", t->rounds, c->rounds},
        {"indexed private elements", t->indexed, c->indexed},
        {"code", t->code, c->code},
        {"shared bytes", t->shared_bytes, c->shared_bytes},
        {"groups", (double)t->groups, (double)c->groups},
        {"second launches", t->then != NULL, c->then != NULL},
    };
    for (size_t r = 0; r < sizeof row / sizeof *row; r++)
        if (!near(row[r].tally, row[r].count))
            complain(t0, twi_format(t0->a, "tally of %s: %lld, built %lld (thousandths)",
                                    row[r].what, (long long)(row[r].tally * 1000),
                                    (long long)(row[r].count * 1000)));
    for (uint32_t x = 1; x < t0->ir->array.n; x++)
        if (!near(t->load_bytes[x], c->load_bytes[x]) ||
            !near(t->store_bytes[x], c->store_bytes[x]) || !near(t->loads[x], c->loads[x]) ||
            !near(t->stores[x], c->stores[x]) || !near(t->sectors[x], c->sectors[x]))
            complain(t0, "tally of an array's accesses differs from what was built");
}

static void check_tally(const trial *t0) {
    for (uint32_t k = 0; k < t0->plans->n; k++) {
        twi_features t, c;
        twi_tally(t0->a, t0->ir, &t0->caps, &t0->plans->scope[k], &t);
        twi_count(t0->a, t0->loop, k, &c);
        same_features(t0, &t, &c);
        if (t.then && c.then)
            same_features(t0, t.then, c.then);
    }
}

/* One of the proposals for scope 0, which the seed says of `offers`; other scopes have the
 * default. */
static twi_plans *offered(const trial *t) {
    twi_why why = {""};
    twi_candidate *c;
    twi_plans *plans = twi_search_default(t->a, t->ir, &t->caps, NULL, &why);
    uint32_t n = twi_search_list(t->a, t->ir, &t->caps, NULL, 0, &c), legal = 0;
    while (legal < n && c[legal].legal)
        legal++;
    if (plans && legal)
        plans->scope[0] = *c[t->seed * legal / t->offers % legal].plan;
    if (plans)
        twi_share_entries(plans);
    return plans;
}

/* All arrays after a run on fresh ones; in: what was there before. */
static buffer *run_entry(const trial *t, uint32_t entry, const uint64_t *scalars, const void **in) {
    buffer *b = TWI_NEW_N(t->a, buffer, t->loop->array.n);
    twi_interp_array *arrays = TWI_NEW_N(t->a, twi_interp_array, t->loop->array.n);
    make_buffers(t->a, t->ir, t->loop, t->fix, b);
    for (uint32_t k = 1; k < t->loop->array.n; k++) {
        arrays[k] = (twi_interp_array){b[k].data, b[k].shape, b[k].stride};
        in[k] = twi_copy(t->a, b[k].data, b[k].bytes ? b[k].bytes : 1);
    }
    twi_interp_result r;
    memset(&r, 0, sizeof r);
    twi_interp_run(t->loop, entry, arrays, scalars, t->a, &r);
    if (r.fault.kind)
        complain(t, r.fault.text);
    check_depths(t, &r);
    return b;
}

static const char *text_of(trial *t, const twi_loop *loop) {
    twi_sb sb;
    twi_sb_init(&sb, t->a);
    twi_loop_print(loop, &sb);
    return twi_sb_text(&sb);
}

/* As a target of implicit lanes gets it: it verifies, its text reads back, and it does the same. */
static void check_legalized(trial *t, const uint64_t *scalars, const void **in, const buffer *b) {
    twi_loop *loop = t->loop;
    twi_loop *legal = twi_legalize(loop, t->a, &t->caps);
    const char *text = text_of(t, legal);
    if (!twi_loop_verify(legal) || !twi_loop_spoken(legal, &t->caps))
        complain(t, tw_diag_text(t->ctx, false));
    twi_loop *again = twi_loop_parse(t->ctx, t->a, t->ir, "again", text, strlen(text));
    if (!again || strcmp(text, text_of(t, again)) != 0)
        complain(t, "the legalized text does not read back");
    t->loop = legal;
    const buffer *other = run_entry(t, (uint32_t)(t->seed % loop->entry.n), scalars, in);
    for (uint32_t k = 1; k < t->ir->array.n; k++)
        if (memcmp(b[k].data, other[k].data, b[k].bytes) != 0)
            complain(t, "the legalized module differs");
    t->loop = loop;
}

static void check_plan(trial *t) {
    tw_context *ctx = t->ctx;
    twi_arena *a = t->a;
    const subject *s = t->s;
    const tw_ir *ir = t->ir;
    const twi_caps *caps = &t->caps;
    uint64_t seed = t->seed;
    twi_fixture fix = t->fix;
    twi_why why = {""};
    twi_plans given, *plans;
    if (s->plan) {
        plans = &given;
        if (!twi_plan_parse(a, ir, s->kernel, s->plan, strlen(s->plan), plans))
            fail_msg("%s: %s", s->kernel, tw_diag_text(ctx, false));
        if (!twi_search_legal(ir, caps, plans, &why))
            fail_msg("%s: %s", s->kernel, why.text);
    } else if (t->offers)
        plans = offered(t);
    else
        plans = seed ? twi_search_random(a, ir, caps, NULL, seed, &why)
                     : twi_search_default(a, ir, caps, NULL, &why);
    if (!plans)
        fail_msg("%s: no plan for seed %llu: %s %s", s->kernel, (unsigned long long)seed, why.text,
                 tw_diag_text(ctx, false));
    twi_loop *loop = twi_lower(a, ir, caps, plans);
    t->plans = plans;
    t->loop = loop;
    if (getenv("TW_SHOW") && getenv("TW_SHOW")[0] == '2') {
        twi_sb sb;
        twi_sb_init(&sb, a);
        twi_plan_print(ir, plans, NULL, &sb);
        twi_loop_print(loop, &sb);
        puts(twi_sb_text(&sb));
    }
    if (!twi_loop_verify(loop))
        complain(t, tw_diag_text(ctx, false));
    check_tally(t);
    const void **in = TWI_NEW_N(a, const void *, loop->array.n);
    uint64_t *scalars = TWI_NEW_N(a, uint64_t, ir->scalar.n + 1);
    for (uint32_t k = 1; k < ir->scalar.n; k++)
        scalars[k] = twi_fixture_scalar(ir, k, fix);
    buffer *b = run_entry(t, 0, scalars, in);
    for (uint32_t e = 1; e < loop->entry.n; e++) { /* facts change no bit */
        const buffer *other = run_entry(t, e, scalars, in);
        for (uint32_t k = 1; k < ir->array.n; k++)
            if (memcmp(b[k].data, other[k].data, b[k].bytes) != 0)
                complain(t, "an entry with facts differs from main");
    }
    if (!loop->func.at[0].explicit_lanes)
        check_legalized(t, scalars, in, b);
    twi_oracle_in oin = {in, scalars};
    twi_oracle *o = twi_oracle_run(a, ir, &oin, loop->order.at, loop->order.n, NULL);
    if (twi_oracle_error(o))
        complain(t, twi_oracle_error(o));
    if (t->text != ir) {
        twi_oracle *text = twi_oracle_run(a, t->text, &oin, NULL, 0, NULL);
        if (twi_oracle_agrees(o, text))
            complain(t, twi_oracle_agrees(o, text));
    }
    int64_t want = twi_oracle_offending(o), status = INT64_MAX;
    if (loop->status)
        memcpy(&status, b[loop->status].data, sizeof status);
    if (status != (want < 0 ? INT64_MAX : want))
        complain(t, twi_format(a, "%s: status %lld, instance %lld left an array first",
                               twi_fixture_name(fix), (long long)status, (long long)want));
    for (uint32_t k = 1; k < ir->array.n; k++) {
        if (ir->array.at[k].role != TWI_OUT && ir->array.at[k].role != TWI_INOUT)
            continue;
        twi_verdict v;
        twi_oracle_judge(o, k, b[k].data, &v);
        if (!v.ok)
            complain(t, twi_format(a, "%s[%lld,%lld,%lld] got %s, want %s, bound %s (worst %g)",
                                   twi_fixture_name(fix), (long long)v.at[0], (long long)v.at[1],
                                   (long long)v.at[2], v.got, v.want, v.bound, 0.0));
    }
}

static uint64_t setting(const char *name, uint64_t otherwise) {
    return getenv(name) ? strtoull(getenv(name), NULL, 10) : otherwise;
}

#define OFFERS UINT64_MAX /* as the first seed: proposals of the families */

static void run_subjects(const subject *list, size_t n, const char *caps_name, mode how,
                         uint64_t first, uint64_t plans) {
    if (getenv("TW_CAPS") && strcmp(getenv("TW_CAPS"), caps_name) != 0)
        return;
    for (volatile size_t k = 0; k < n; k++) { /* volatile: what setjmp leaves alone */
        const subject *s = &list[k];
        if (getenv("TW_KERNEL") && strcmp(getenv("TW_KERNEL"), s->kernel) != 0)
            continue;
        if (s->caps && strcmp(s->caps, caps_name) != 0)
            continue;
        tw_context *ctx = tw_context_create(NULL);
        jmp_buf spot, *saved;
        if (TWI_GUARD(&ctx->mem, spot, saved))
            fail_msg("out of memory");
        twi_arena a;
        twi_arena_init(&a, &ctx->mem);
        trial t = {.ctx = ctx, .a = &a, .s = s, .offers = first == OFFERS ? plans : 0};
        assert_true(twi_caps_named(ctx, caps_name, &t.caps));
        t.text = load(ctx, &a, s, how == CANONICAL);
        t.ir = merged(&a, t.text, how == MERGED);
        for (uint64_t plan = 0; plan < plans; plan++) {
            twi_mark mark = twi_arena_mark(&a);
            t.seed = t.offers ? plan : first + plan;
            t.fix = how == MERGED ? (twi_fixture)(TWI_FIX_NONE + 1 + plan % (TWI_FIXTURES - 1))
                    : plan % 2    ? TWI_FIX_NORMAL
                                  : TWI_FIX_EXACT;
            check_plan(&t);
            twi_arena_reset(&a, mark);
        }
        twi_arena_fini(&a);
        TWI_UNGUARD(&ctx->mem, saved);
        tw_context_destroy(ctx);
    }
}

static void run_all(const char *caps_name, mode how) {
    run_subjects(subjects, sizeof subjects / sizeof *subjects, caps_name, how,
                 setting("TW_SEED", 0), setting("TW_PLANS", 3));
}

static void run_merges(const char *caps_name) {
    run_subjects(merges, sizeof merges / sizeof *merges, caps_name, MERGED, setting("TW_SEED", 0),
                 setting("TW_PLANS", 3) * 3);
}

static void run_given(const char *caps_name) {
    run_subjects(given_plans, sizeof given_plans / sizeof *given_plans, caps_name, PLAIN, 0, 2);
}

/* What the families propose, TW_OFFERS of each subject, evenly over the ranks. */
static void run_offers(const char *caps_name) {
    run_subjects(subjects, sizeof subjects / sizeof *subjects, caps_name, PLAIN, OFFERS,
                 setting("TW_OFFERS", 3));
}

static void offers_simt4(void **state) {
    (void)state;
    run_offers("simt4");
}
static void offers_simt32(void **state) {
    (void)state;
    run_offers("simt32");
}
static void given_avx512(void **state) {
    (void)state;
    run_given("cpu-avx512");
}
static void given_simt4(void **state) {
    (void)state;
    run_given("simt4");
}
static void given_simt32(void **state) {
    (void)state;
    run_given("simt32");
}
static void merged_avx512(void **state) {
    (void)state;
    run_merges("cpu-avx512");
}
static void merged_simt4(void **state) {
    (void)state;
    run_merges("simt4");
}
static void on_avx512(void **state) {
    (void)state;
    run_all("cpu-avx512", PLAIN);
}
static void on_baseline(void **state) {
    (void)state;
    run_all("cpu-baseline", PLAIN);
}
static void on_simt4(void **state) {
    (void)state;
    run_all("simt4", PLAIN);
}
static void on_simt32(void **state) {
    (void)state;
    run_all("simt32", PLAIN);
}
static void canonical_avx512(void **state) {
    (void)state;
    run_all("cpu-avx512", CANONICAL);
}
static void canonical_simt4(void **state) {
    (void)state;
    run_all("simt4", CANONICAL);
}

/* The loop IR of a subject's plan. */
static const char *loop_text(tw_context *ctx, const subject *s) {
    twi_caps caps;
    twi_plans plans;
    twi_sb text;
    assert_true(twi_caps_named(ctx, s->caps, &caps));
    const tw_ir *ir = load(ctx, &ctx->arena, s, false);
    if (!twi_plan_parse(&ctx->arena, ir, "text", s->plan, strlen(s->plan), &plans))
        fail_msg("%s", tw_diag_text(ctx, false));
    twi_sb_init(&text, &ctx->arena);
    twi_loop_print(twi_lower(&ctx->arena, ir, &caps, &plans), &text);
    return twi_sb_text(&text);
}

/* Does the first line of a text from `what` on say that 16 bytes are moved? */
static bool moves_16(const char *text, const char *what, const char *how) {
    const char *at = strstr(text, what), *end = at ? at + strcspn(at, "\n") : NULL;
    assert_non_null(at);
    const char *found = strstr(at, how);
    return found && found < end;
}

/* The entry with facts moves 16 bytes of arrays, main moves single elements. */
static void is_wide(const subject *s, const char *read, const char *write) {
    tw_context *ctx = tw_context_create(NULL);
    jmp_buf spot, *saved;
    if (TWI_GUARD(&ctx->mem, spot, saved))
        fail_msg("out of memory");
    const char *text = loop_text(ctx, s), *aligned = strstr(text, "_aligned16 entry");
    assert_non_null(aligned);
    assert_true(moves_16(aligned, read, "align 16 : f32x4"));
    assert_true(moves_16(aligned, write, "align 16"));
    assert_false(moves_16(text, read, "f32x4"));
    assert_false(moves_16(text, write, "align 16"));
    TWI_UNGUARD(&ctx->mem, saved);
    tw_context_destroy(ctx);
}

/* A tile needs no facts: its copy writes 16 bytes and its readers read them, in both entries. */
static void stage_is_wide(const subject *s, const char *main_tile, const char *aligned_tile) {
    tw_context *ctx = tw_context_create(NULL);
    jmp_buf spot, *saved;
    if (TWI_GUARD(&ctx->mem, spot, saved))
        fail_msg("out of memory");
    const char *text = loop_text(ctx, s), *aligned = strstr(text, "_aligned16 entry");
    assert_non_null(aligned);
    for (unsigned k = 0; k < 2; k++) {
        const char *from = k ? aligned : text, *tile = k ? aligned_tile : main_tile;
        char load[40], store[40];
        snprintf(load, sizeof load, "load %s[", tile);
        snprintf(store, sizeof store, "store %s[", tile);
        assert_true(moves_16(from, load, "align 16 : f32x4"));
        assert_true(moves_16(from, store, "align 16"));
    }
    TWI_UNGUARD(&ctx->mem, saved);
    tw_context_destroy(ctx);
}

/* Slots that follow one another are moved at once by the entry whose facts allow it, up to 16
 * bytes; by the copy of a stage too. */
static void wide_accesses(void **state) {
    static const subject rows = {
        "gelu_residual", "R=2 W=64", "T=f32", "simt4",
        "plan gelu_residual/0 class=canonical\nframe f: r = grid 2 ; w = slot 2, lane 4, slot 8\n"
        "entry main ; entry aligned16: align16 X Y Z\n"};
    (void)state;
    is_wide(&rows, "load X[", "store Y[");
    for (size_t k = 0; k < sizeof given_plans / sizeof *given_plans; k++)
        if (strcmp(given_plans[k].dims, "M=20 N=40 K=32") == 0) {
            is_wide(&given_plans[k], "load A[", "store C[");
            is_wide(&given_plans[k], "load B[", "store C[");
            stage_is_wide(&given_plans[k], "B.7", "B.7");
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_accesses),    cmocka_unit_test(merged_avx512),
        cmocka_unit_test(merged_simt4),     cmocka_unit_test(given_avx512),
        cmocka_unit_test(given_simt4),      cmocka_unit_test(given_simt32),
        cmocka_unit_test(offers_simt4),     cmocka_unit_test(offers_simt32),
        cmocka_unit_test(on_avx512),        cmocka_unit_test(on_baseline),
        cmocka_unit_test(on_simt4),         cmocka_unit_test(on_simt32),
        cmocka_unit_test(canonical_avx512), cmocka_unit_test(canonical_simt4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
