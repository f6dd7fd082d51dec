/* SPDX-License-Identifier: Apache-2.0
 * links: front oracle search
 * Random legal plans of every kernel, lowered and run by the interpreter: the loop IR verifies, no
 * fault is found, and the oracle accepts every output. TW_PLANS, TW_OFFERS, TW_KERNEL, TW_CAPS,
 * TW_SEED widen or narrow it; TW_SHOW=1 prints the text.
 */
#include "given.h"
#include "support.h"

#include "base/fs.h"
#include "loop/legalize.h"
#include "loop/mutate.h"
#include "oracle/fixtures.h"
#include "oracle/oracle.h"
#include "search/view.h"
#include "tilewright/program.h"

#include <stdio.h>

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
    {"residual_rmsnorm", "R=3 W=33", "T=bf16", NULL, NULL},
    {"masked_softmax", "R=3 W=65", "T=f32", NULL, NULL},
    {"decode_attention", "B=1 H=4 G=2 J=9 D=7 E=3", "T=f32", NULL, NULL},
    {"layernorm_backward", "R=9 W=17", "T=f32", NULL, NULL},
    {"max_pool", "N=1 H=5 W=6 C=7 OH=3 OW=3", "T=f16", NULL, NULL},
    {"avg_pool", "N=1 H=5 W=6 C=7 OH=3 OW=3", "T=f32 PADS=true", NULL, NULL},
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

/* dots: by boxes of atoms, as given and at random. */
static const subject given_dots[] = {
    {"gemm_int8", "M=13 N=37 K=24", "", NULL,
     "plan gemm_int8/0 class=canonical\n"
     "frame f: m = grid 2, slot 7 ; n = grid 2, slot 2, lane 16 ; k = serial 2, loop 3, atom 4\n"
     "value dot.1: atom dpi8\n"
     "stage A: scratch, order k.loop m.slot k.atom\n"
     "stage B: scratch, order k.loop n.slot n.lane k.atom, pad 3\nentry main\n"},
    {"gemm_int8", "M=5 N=40 K=8", "", NULL,
     "plan gemm_int8/0 class=canonical\n"
     "frame f: m = grid 1, loop 2, slot 3 ; n = grid 3, lane 16 ; k = slot 2, atom 4\n"
     "value dot.1: atom dpi8\nentry main ; entry aligned16: align16 A B C\n"},
    {"gemm", "M=7 N=19 K=12", "T=bf16", NULL,
     "plan gemm/0 class=free\n"
     "frame f: m = grid 3, slot 3 ; n = grid 1, loop 2, lane 16 ; k = loop 3, slot 2, atom 2 "
     "order k.loop, n.loop\n"
     "value dot.1: atom dpbf16\nentry main\n"},
    {"gemm", "M=7 N=19 K=2", "T=bf16", NULL,
     "plan gemm/0 class=free\n"
     "frame f: m = grid 1, loop 7 ; n = grid 1, loop 2, lane 16 ; k = atom 2\n"
     "value dot.1: atom dpbf16\nentry main\n"},
    {"gemm", "M=7 N=19 K=24", "T=bf16", NULL,
     "plan gemm/0 class=free\n"
     "frame f: m = grid 2, slot 4 ; n = grid 2, lane 16 ; k = grid 3, loop 4, atom 2\n"
     "value dot.1: atom dpbf16\nentry main\n"
     "plan gemm/0.dot.1 class=free\n"
     "frame f: m = grid 7 ; n = grid 2, lane 16 ; part = loop 3\n"},
};
static const subject given_tiles[] = {
    {"gemm", "M=13 N=37 K=96", "T=bf16", NULL,
     "plan gemm/0 class=free\n"
     "frame f: m = grid 2, slot 7 ; n = grid 2, slot 2, lane 16 ; k = loop 3, atom 32\n"
     "value dot.1: atom tdpbf16\n"
     "stage B: scratch, order k.loop n.slot n.lane k.atom, pad 3\nentry main\n"},
    {"gemm", "M=7 N=19 K=128", "T=bf16", NULL,
     "plan gemm/0 class=free\n"
     "frame f: m = grid 1, loop 2, slot 5 ; n = grid 1, loop 2, lane 16 ; k = loop 2, slot 2, atom "
     "32 order m.loop, n.loop, k.loop around 1\n"
     "value dot.1: atom tdpbf16\n"
     "stage A: scratch, order k.loop k.slot m.slot k.atom\n"
     "stage B: scratch, order n.loop k.loop k.slot n.lane k.atom\n"
     "entry main ; entry aligned16: align16 A B C\n"},
    {"gemm", "M=3 N=16 K=32", "T=bf16", NULL,
     "plan gemm/0 class=free\n"
     "frame f: m = grid 3 ; n = grid 1, lane 16 ; k = atom 32\n"
     "value dot.1: atom tdpbf16\n"
     "stage B: scratch, order n.lane k.atom\nentry main\n"},
    {"gemm", "M=5 N=19 K=192", "T=bf16", NULL,
     "plan gemm/0 class=free\n"
     "frame f: m = grid 2, slot 4 ; n = grid 2, lane 16 ; k = serial 3, loop 2, atom 32\n"
     "value dot.1: atom tdpbf16\n"
     "stage B: scratch, order k.loop n.lane k.atom\nentry main\n"},
    /* one dot of two, its stage filled before the region; both, the second one's operand woven in
     * its frame; ragged blocks, which end with zeros in boxes */
    {"attention", "B=1 H=2 G=1 I=37 J=41 D=64 E=19", "T=bf16 CAUSAL=true", NULL,
     "plan attention/0 class=free\n"
     "frame f: b = grid 1 ; h = grid 2 ; i = grid 2, slot 2, lane 16 ; d = loop 64 ; e = loop 19 ; "
     "j = serial 0, loop 8, slot 4\n"
     "frame g: b = grid 1 ; h = grid 2 ; i = grid 2, slot 2, lane 16 ; d = loop 2, atom 32 ; "
     "e = loop 19 ; j = serial 0, slot 32\n"
     "value q: in g\nvalue K: in g\nvalue dot.1: in g, atom tdpbf16\nvalue narrow.1: keep stripe\n"
     "stage q: scratch, order d.loop i.slot i.lane d.atom\nentry main\n"},
    {"attention", "B=1 H=2 G=1 I=37 J=41 D=40 E=19", "T=bf16 CAUSAL=true", NULL,
     "plan attention/0 class=free\n"
     "frame f: b = grid 1 ; h = grid 2 ; i = grid 2, slot 2, lane 16 ; d = loop 40 ; "
     "e = loop 4, slot 5 ; j = serial 0, loop 8, slot 4\n"
     "frame g: b = grid 1 ; h = grid 2 ; i = grid 2, slot 2, lane 16 ; d = loop 2, atom 32 ; "
     "e = loop 20 ; j = serial 0, slot 32\n"
     "frame h: b = grid 1 ; h = grid 2 ; i = grid 2, slot 2, lane 16 ; d = loop 40 ; "
     "e = loop 2, slot 10 ; j = serial 0, atom 32\n"
     "value q: in g\nvalue K: in g\nvalue dot.1: in g, atom tdpbf16\n"
     "value narrow.1: to h via private\nvalue V: in h\nvalue acc.2: in h, atom tdpbf16\n"
     "stage q: scratch, order d.loop i.slot i.lane d.atom\n"
     "stage K: scratch, order j.slot d.loop d.atom\n"
     "stage V: scratch, order e.loop e.slot j.atom\nentry main\n"},
    /* boxes that lie across rows are turned: ragged ones, and 16 of two times 16 */
    {"attention", "B=1 H=2 G=1 I=37 J=41 D=64 E=19", "T=bf16 CAUSAL=false", NULL,
     "plan attention/0 class=free\n"
     "frame f: b = grid 1 ; h = grid 2 ; i = grid 2, slot 2, lane 16 ; d = loop 64 ; "
     "e = loop 8, slot 4 ; j = serial 2, loop 8, slot 4\n"
     "frame h: b = grid 1 ; h = grid 2 ; i = grid 2, slot 2, lane 16 ; d = loop 64 ; "
     "e = slot 32 ; j = serial 2, atom 32\n"
     "value q: keep stripe\nvalue narrow.1: to h via private\nvalue V: in h\n"
     "value acc.2: in h, atom tdpbf16\nstage V: scratch, order e.slot j.atom\nentry main\n"},
    {"attention", "B=1 H=1 G=1 I=32 J=64 D=32 E=16", "T=bf16 CAUSAL=false", NULL,
     "plan attention/0 class=free\n"
     "frame f: b = grid 1 ; h = grid 1 ; i = grid 1, loop 2, lane 16 ; d = loop 32 ; "
     "e = loop 4, slot 4 ; j = serial 2, loop 8, slot 4\n"
     "frame h: b = grid 1 ; h = grid 1 ; i = grid 1, loop 2, lane 16 ; d = loop 32 ; "
     "e = loop 2, slot 8 ; j = serial 2, loop 4, slot 4, atom 2\n"
     "value q: keep stripe\nvalue narrow.1: to h via private\nvalue V: in h\n"
     "value acc.2: in h, atom dpbf16\nentry main\n"},
};
static const subject random_tiles[] = {
    {"gemm", "M=9 N=35 K=96", "T=bf16", NULL, NULL},
    {"bmm", "Z=2 BA=2 BB=1 M=5 N=20 K=64", "T=bf16", NULL, NULL},
};
static const subject random_dots[] = {
    {"gemm_int8", "M=9 N=35 K=48", "", NULL, NULL},
    {"gemm", "M=9 N=35 K=24", "T=bf16", NULL, NULL},
    {"bmm", "Z=2 BA=2 BB=1 M=5 N=20 K=16", "T=bf16", NULL, NULL},
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

static tw_ir *load(const bench *b, const subject *s, bool canonical) {
    char path[512], *text;
    size_t n;
    snprintf(path, sizeof path, "%s/%s/%s.tile", TW_SOURCE_DIR,
             strchr(s->kernel, '/') ? "tests" : "kernels", s->kernel);
    assert_int_equal(twi_read_file(b->a, path, &text, &n), 0);
    tw_program *p = tw_program_parse(b->ctx, path, text, n);
    tw_binding bound[4];
    size_t nb = 0;
    char *bind = twi_strdup(b->a, s->bind), *save = NULL;
    for (char *w = strtok_r(bind, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        char *eq = strchr(w, '=');
        *eq = 0;
        bound[nb++] = (tw_binding){w, eq + 1};
    }
    tw_ir *ir = p ? tw_program_build(p, 0, bound, nb) : NULL;
    if (!ir)
        fail_msg("%s", tw_diag_text(b->ctx, false));
    int64_t *dims = TWI_NEW_N(b->a, int64_t, ir->dim.n);
    for (uint32_t d = 1; d < ir->dim.n; d++)
        dims[d] = dim_value(s->dims, twi_text(&b->ctx->names, ir->dim.at[d].name));
    tw_ir *sp = twi_ir_specialise(ir, b->a, dims);
    if (!sp)
        fail_msg("%s", tw_diag_text(b->ctx, false));
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

/* One plan of one subject. */
typedef struct {
    const bench *b;
    twi_arena *a; /* of this plan */
    const subject *s;
    const tw_ir *ir, *text; /* planned; as written */
    uint64_t seed;
    twi_fixture fix;
    twi_plans *plans;
    twi_loop *loop;
    uint64_t offers; /* the plan is one of so many proposals; 0: not */
    bool ahead;      /* of those that copy ahead */
} trial;

/* By the module's arrays: partial results of split folds come after the kernel's own. */
static void make_arrays(const trial *t, twi_interp_array *arrays, size_t *bytes) {
    for (uint32_t k = 1; k < t->loop->array.n; k++) {
        const twi_larray *array = &t->loop->array.at[k];
        arrays[k] = dense_array(t->a, array, NULL, &bytes[k]);
        arrays[k].data = twi_alloc(t->a, bytes[k] + 1);
        if (array->role == TWI_IN || array->role == TWI_INOUT)
            twi_fixture_fill(t->ir, k, t->fix, 1, arrays[k].data);
        else
            memset(arrays[k].data, 0xa5, bytes[k]);
    }
}

static void wrong(const trial *t, const char *text) {
    complain(t->ir, t->plans, getenv("TW_SHOW") ? t->loop : NULL,
             twi_format(t->a, "%s %s %s seed %llu: %s", t->s->kernel, t->s->dims, t->s->bind,
                        (unsigned long long)t->seed, text));
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
            wrong(t, text);
    }
}

static bool near(double a, double b) {
    double d = a > b ? a - b : b - a, most = a > b ? a : b;
    return d <= 1e-9 * most;
}

typedef struct {
    double of[5];
} accesses;

/* By row of a launch's tables; none of an array that they lack. */
static accesses accesses_of(const twi_features *f, uint32_t row) {
    if (row >= f->arrays)
        return (accesses){{0}};
    return (accesses){
        {f->load_bytes[row], f->store_bytes[row], f->loads[row], f->stores[row], f->sectors[row]}};
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
        {"crowded loads", t->crowded, c->crowded},
        {"bytes read again", t->again, c->again},
        {"lane rounds", t->lane_rounds, c->lane_rounds},
        {"barriers", t->barriers, c->barriers},
        {"trips", t->trips, c->trips},
        {"turns of banks", t->turns, c->turns},
        {"rounds of loads", t->rounds, c->rounds},
        {"rounds of early loads", t->early, c->early},
        {"indexed private elements", t->indexed, c->indexed},
        {"code", t->code, c->code},
        {"shared bytes", t->shared_bytes, c->shared_bytes},
        {"groups", (double)t->groups, (double)c->groups},
        {"second launches", t->then != NULL, c->then != NULL},
    };
    for (size_t r = 0; r < sizeof row / sizeof *row; r++)
        if (!near(row[r].tally, row[r].count))
            wrong(t0,
                  twi_format(t0->a, "tally of %s: %lld, built %lld (thousandths)", row[r].what,
                             (long long)(row[r].tally * 1000), (long long)(row[r].count * 1000)));
    for (uint32_t x = 1; x < t->arrays || x < c->arrays; x++) {
        const accesses a = accesses_of(t, x), b = accesses_of(c, x);
        for (size_t k = 0; k < sizeof a.of / sizeof *a.of; k++)
            if (!near(a.of[k], b.of[k]))
                wrong(t0, twi_format(t0->a, "array %u: the tally of its accesses differs", x));
    }
}

static void check_tally(const trial *t0) {
    for (uint32_t k = 0; k < t0->plans->n; k++) {
        twi_features t, c;
        twi_tally(t0->a, t0->plans->ir, &t0->b->caps, &t0->plans->scope[k], &t);
        twi_count(t0->a, t0->loop, k, &c);
        same_features(t0, &t, &c);
        if (t.then && c.then)
            same_features(t0, t.then, c.then);
    }
}

static bool runs_ahead(const twi_plan *p) {
    bool ahead = false;
    for (unsigned i = 0; i < p->stages; i++)
        ahead = ahead || p->stage[i].via != TWI_VIA_SYNC;
    return ahead;
}

/* One of the proposals for scope 0, which the seed says of `offers`; other scopes have the
 * default, which no proposal for another form of the program goes with. */
static twi_plans *offered(const trial *t) {
    twi_candidate *c;
    twi_plans *plans = drawn_plans(t->b, t->ir, 0);
    uint32_t n = twi_search_list(t->a, t->ir, &t->b->caps, NULL, 0, &c), legal = 0;
    for (uint32_t i = 0; i < n && c[i].legal; i++)
        if (!t->ahead || runs_ahead(c[i].plan))
            c[legal++] = c[i];
    assert_true(legal > 0 || !t->ahead);
    const twi_candidate *one = legal ? &c[t->seed * legal / t->offers % legal] : NULL;
    if (one && (plans->n == 1 || twi_same_form(one->ir, plans->ir))) {
        plans->ir = one->ir;
        plans->scope[0] = *one->plan;
    }
    twi_share_entries(plans);
    return plans;
}

/* All arrays after a run on fresh ones; in: what was there before. */
static twi_interp_array *run_entry(const trial *t, uint32_t entry, const uint64_t *scalars,
                                   const void **in) {
    twi_interp_array *arrays = TWI_NEW_N(t->a, twi_interp_array, t->loop->array.n);
    size_t *bytes = TWI_NEW_N(t->a, size_t, t->loop->array.n);
    make_arrays(t, arrays, bytes);
    for (uint32_t k = 1; k < t->loop->array.n; k++)
        in[k] = twi_copy(t->a, arrays[k].data, bytes[k] ? bytes[k] : 1);
    twi_interp_result r;
    twi_interp_run(t->loop, entry, arrays, scalars, t->a, &r);
    if (r.fault.kind)
        wrong(t, r.fault.text);
    check_depths(t, &r);
    return arrays;
}

/* To the bit, in all arrays of the kernel. */
static void same_arrays(const trial *t, const twi_interp_array *x, const twi_interp_array *y,
                        const char *otherwise) {
    for (uint32_t k = 1; k < t->ir->array.n; k++) {
        size_t bytes;
        (void)dense_array(t->a, &t->loop->array.at[k], NULL, &bytes);
        if (memcmp(x[k].data, y[k].data, bytes) != 0)
            wrong(t, otherwise);
    }
}

static const char *text_of(trial *t, const twi_loop *loop) {
    twi_sb sb;
    twi_sb_init(&sb, t->a);
    twi_loop_print(loop, &sb);
    return twi_sb_text(&sb);
}

/* As a target of implicit lanes gets it: it verifies, its text reads back, and it does the same. */
static void check_legalized(trial *t, const uint64_t *scalars, const void **in,
                            const twi_interp_array *b) {
    twi_loop *loop = t->loop;
    twi_loop *legal = twi_legalize(loop, t->a, &t->b->caps);
    const char *text = text_of(t, legal);
    if (!twi_loop_verify(legal) || !twi_loop_spoken(legal, &t->b->caps))
        wrong(t, tw_diag_text(t->b->ctx, false));
    twi_loop *again = twi_loop_parse(t->b->ctx, t->a, t->ir, "again", text, strlen(text));
    if (!again || strcmp(text, text_of(t, again)) != 0)
        wrong(t, "the legalized text does not read back");
    t->loop = legal;
    same_arrays(t, b, run_entry(t, (uint32_t)(t->seed % loop->entry.n), scalars, in),
                "the legalized module differs");
    t->loop = loop;
}

/* The oracle on what the run left; in: what was there before. */
static void check_results(const trial *t, const void **in, const uint64_t *scalars,
                          const twi_interp_array *b) {
    const twi_loop *loop = t->loop;
    twi_oracle_in oin = {in, scalars};
    twi_oracle *o = twi_oracle_run(t->a, t->ir, &oin, loop->order.at, loop->order.n, NULL);
    if (twi_oracle_error(o))
        wrong(t, twi_oracle_error(o));
    if (t->text != t->ir) {
        twi_oracle *text = twi_oracle_run(t->a, t->text, &oin, NULL, 0, NULL);
        if (twi_oracle_agrees(o, text))
            wrong(t, twi_oracle_agrees(o, text));
    }
    int64_t want = twi_oracle_offending(o), status = INT64_MAX;
    if (loop->status)
        memcpy(&status, b[loop->status].data, sizeof status);
    if (status != (want < 0 ? INT64_MAX : want))
        wrong(t, twi_format(t->a, "%s: status %lld, instance %lld left an array first",
                            twi_fixture_name(t->fix), (long long)status, (long long)want));
    for (uint32_t k = 1; k < t->ir->array.n; k++) {
        if (t->ir->array.at[k].role != TWI_OUT && t->ir->array.at[k].role != TWI_INOUT)
            continue;
        twi_verdict v;
        twi_oracle_judge(o, k, b[k].data, &v);
        if (!v.ok)
            wrong(t, twi_format(t->a, "%s[%lld,%lld,%lld] got %s, want %s, bound %s (worst %g)",
                                twi_fixture_name(t->fix), (long long)v.at[0], (long long)v.at[1],
                                (long long)v.at[2], v.got, v.want, v.bound, 0.0));
    }
}

/* Copies that nobody waits for and versions that nobody keeps apart are races, wherever. */
static void check_mutants(trial *t, const uint64_t *scalars) {
    static const twi_mutation kinds[] = {TWI_MUTATE_DROP_WAIT, TWI_MUTATE_DROP_BARRIER};
    const twi_plan *p = &t->plans->scope[0];
    const bool async = p->stage[0].via == TWI_VIA_ASYNC || p->stage[1].via == TWI_VIA_ASYNC;
    assert_true(twi_mutation_places(t->loop, TWI_MUTATE_DROP_BARRIER) >= t->loop->entry.n);
    assert_int_equal(twi_mutation_places(t->loop, TWI_MUTATE_DROP_WAIT) > 0, async);
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (unsigned place = 0; place < twi_mutation_places(t->loop, kinds[k]); place++) {
            twi_loop *mutant = NULL;
            bool raced = false;
            assert_true(twi_mutate(t->loop, kinds[k], place, t->a, &mutant));
            for (uint32_t e = 0; e < mutant->entry.n && !raced; e++) {
                twi_interp_array *arrays = TWI_NEW_N(t->a, twi_interp_array, mutant->array.n);
                make_arrays(t, arrays, TWI_NEW_N(t->a, size_t, mutant->array.n));
                twi_interp_result r;
                twi_interp_run(mutant, e, arrays, scalars, t->a, &r);
                raced = r.fault.kind == TWI_FAULT_RACE;
            }
            if (!raced)
                wrong(t, twi_format(t->a, "%s, place %u: no race", twi_mutation_name(kinds[k]),
                                    place));
        }
}

static void check_plan(trial *t) {
    const tw_ir *ir = t->ir;
    t->plans = t->s->plan  ? written_plans(t->b, ir, t->s->plan)
               : t->offers ? offered(t)
                           : drawn_plans(t->b, ir, t->seed);
    if (t->plans->ir->merged) /* the oracle knows merges, and nothing of joins */
        t->ir = ir = t->plans->ir;
    t->loop = lowered(t->b, ir, t->plans);
    if (getenv("TW_SHOW") && getenv("TW_SHOW")[0] == '2')
        puts(text_of(t, t->loop));
    check_tally(t);
    const void **in = TWI_NEW_N(t->a, const void *, t->loop->array.n);
    uint64_t *scalars = TWI_NEW_N(t->a, uint64_t, ir->scalar.n + 1);
    for (uint32_t k = 1; k < ir->scalar.n; k++)
        scalars[k] = twi_fixture_scalar(ir, k, t->fix);
    const twi_interp_array *b = run_entry(t, 0, scalars, in);
    for (uint32_t e = 1; e < t->loop->entry.n; e++) /* facts change no bit */
        same_arrays(t, b, run_entry(t, e, scalars, in), "an entry with facts differs from main");
    if (!t->loop->func.at[0].explicit_lanes)
        check_legalized(t, scalars, in, b);
    check_results(t, in, scalars, b);
    if (t->ahead)
        check_mutants(t, scalars);
}

#define OFFERS UINT64_MAX      /* as the first seed: proposals of the families */
#define AHEAD (UINT64_MAX - 1) /* those that copy ahead */

static void run_subjects(const subject *list, size_t n, const char *caps_name, mode how,
                         uint64_t first, uint64_t plans) {
    if (getenv("TW_CAPS") && strcmp(getenv("TW_CAPS"), caps_name) != 0)
        return;
    for (size_t k = 0; k < n; k++) {
        const subject *s = &list[k];
        if (getenv("TW_KERNEL") && strcmp(getenv("TW_KERNEL"), s->kernel) != 0)
            continue;
        if (s->caps && strcmp(s->caps, caps_name) != 0)
            continue;
        bench b = bench_on(caps_name);
        trial t = {.b = &b,
                   .a = b.a,
                   .s = s,
                   .offers = first >= AHEAD ? plans : 0,
                   .ahead = first == AHEAD};
        t.text = load(&b, s, how == CANONICAL);
        const tw_ir *form = merged(b.a, t.text, how == MERGED);
        for (uint64_t plan = 0; plan < plans; plan++) {
            t.ir = form;
            twi_mark mark = twi_arena_mark(b.a);
            t.seed = t.offers ? plan : first + plan;
            t.fix = how == MERGED ? (twi_fixture)(TWI_FIX_NONE + 1 + plan % (TWI_FIXTURES - 1))
                    : plan % 2    ? TWI_FIX_NORMAL
                                  : TWI_FIX_EXACT;
            check_plan(&t);
            twi_arena_reset(b.a, mark);
        }
        bench_end(&b);
    }
}

static void random_plans(void **state) {
    run_subjects(subjects, sizeof subjects / sizeof *subjects, *state, PLAIN, setting("TW_SEED", 0),
                 setting("TW_PLANS", 2));
}

static void canonical(void **state) {
    run_subjects(subjects, sizeof subjects / sizeof *subjects, *state, CANONICAL,
                 setting("TW_SEED", 0), setting("TW_PLANS", 2));
}

static void merges_of_folds(void **state) {
    run_subjects(merges, sizeof merges / sizeof *merges, *state, MERGED, setting("TW_SEED", 0),
                 setting("TW_PLANS", 2) * 3);
}

static void given(void **state) {
    run_subjects(given_plans, sizeof given_plans / sizeof *given_plans, *state, PLAIN, 0, 2);
}

/* What the families propose, TW_OFFERS of each subject, evenly over the ranks. */
static void offers(void **state) {
    run_subjects(subjects, sizeof subjects / sizeof *subjects, *state, PLAIN, OFFERS,
                 setting("TW_OFFERS", 3));
}

/* Trips enough that each version is filled again; edges; elements that no machine copies alone. */
static const subject products[] = {
    {"gemm", "M=24 N=32 K=64", "T=f32", NULL, NULL},
    {"gemm", "M=19 N=23 K=45", "T=f32", NULL, NULL},
    {"gemm", "M=24 N=32 K=64", "T=bf16", NULL, NULL},
    {"bmm", "Z=4 BA=2 BB=1 M=9 N=24 K=40", "T=f32", NULL, NULL},
};

static void windows(void **state) {
    run_subjects(products, sizeof products / sizeof *products, *state, PLAIN, AHEAD,
                 setting("TW_OFFERS", 3));
}

static void dots(void **state) {
    run_subjects(given_dots, sizeof given_dots / sizeof *given_dots, *state, PLAIN, 0, 2);
    run_subjects(random_dots, sizeof random_dots / sizeof *random_dots, *state, PLAIN,
                 setting("TW_SEED", 0), 6 * setting("TW_PLANS", 2));
}

static void tiles(void **state) {
    run_subjects(given_tiles, sizeof given_tiles / sizeof *given_tiles, *state, PLAIN, 0, 2);
    run_subjects(random_tiles, sizeof random_tiles / sizeof *random_tiles, *state, PLAIN,
                 setting("TW_SEED", 0), 6 * setting("TW_PLANS", 2));
}

/* The loop IR of a subject's plan. */
static const char *loop_text(const bench *b, const subject *s) {
    twi_sb text;
    const tw_ir *ir = load(b, s, false);
    twi_sb_init(&text, b->a);
    twi_loop_print(lowered(b, ir, written_plans(b, ir, s->plan)), &text);
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
    const bench b = bench_on(s->caps);
    const char *text = loop_text(&b, s), *aligned = strstr(text, "_aligned16 entry");
    assert_non_null(aligned);
    assert_true(moves_16(aligned, read, "align 16 : f32x4"));
    assert_true(moves_16(aligned, write, "align 16"));
    assert_false(moves_16(text, read, "f32x4"));
    assert_false(moves_16(text, write, "align 16"));
    bench_end(&b);
}

/* A tile needs no facts: its copy writes 16 bytes and its readers read them, in both entries. */
static void stage_is_wide(const subject *s, const char *main_tile, const char *aligned_tile) {
    const bench b = bench_on(s->caps);
    const char *text = loop_text(&b, s), *aligned = strstr(text, "_aligned16 entry");
    assert_non_null(aligned);
    for (unsigned k = 0; k < 2; k++) {
        const char *from = k ? aligned : text, *tile = k ? aligned_tile : main_tile;
        char load[40], store[40];
        snprintf(load, sizeof load, "load %s[", tile);
        snprintf(store, sizeof store, "store %s[", tile);
        assert_true(moves_16(from, load, "align 16 : f32x4"));
        assert_true(moves_16(from, store, "align 16"));
    }
    bench_end(&b);
}

/* Slots that follow one another are moved at once by the entry whose facts allow it, up to 16
 * bytes; by the copy of a stage too. */
static void wide_accesses(void **state) {
    static const subject rows = {"gelu_residual", "R=2 W=64", "T=f32", "simt4",
                                 "plan gelu_residual/0 class=canonical\nframe f: r = grid 2 ; w = "
                                 "grid 1, slot 2, lane 4, slot 8\n"
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
        cmocka_unit_test(wide_accesses),
        ON("cpu-avx512", merges_of_folds),
        ON("simt4", merges_of_folds),
        ON("cpu-avx512", given),
        ON("cpu-avx512-dots", dots),
        ON("cpu-avx512-tiles", tiles),
        ON("simt4", given),
        ON("simt32", given),
        ON("simt1", windows),
        ON("simt4", windows),
        ON("simt32", windows),
        ON("simt4", offers),
        ON("simt32", offers),
        ON("cpu-avx512", random_plans),
        ON("cpu-baseline", random_plans),
        ON("simt4", random_plans),
        ON("simt32", random_plans),
        ON("cpu-avx512", canonical),
        ON("simt4", canonical),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
