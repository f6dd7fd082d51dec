/* SPDX-License-Identifier: Apache-2.0
 * Compiled code against the interpreter, bit for bit (NaNs apart): every elementwise operation,
 * element type, count and kind of mask, for each instruction set that this machine has.
 */
#include "base/hash.h"
#include "target/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N = 256, MOST_OUT = 96, IN = 4 }; /* elements an array; arrays 1..3: operands, 4: bools */

static const tw_elem elems[] = {TW_F32, TW_F64, TW_I8,  TW_I16,  TW_I32, TW_I64, TW_U8,
                                TW_U16, TW_U32, TW_U64, TW_BOOL, TW_F16, TW_BF16};
static const unsigned counts[] = {1, 3, 4, 8, 16};

/* A kernel under construction: arrays are made as outputs turn up, in a dry run over the same code.
 */
typedef struct {
    tw_context *ctx;
    twi_arena *arena;
    tw_ir *ir;
    twi_loop *loop;
    twi_cursor c;
    tw_elem elem;
    bool simt;
    unsigned count, outs;
    tw_elem out[MOST_OUT];
    char what[MOST_OUT][40];
    twi_lid at, x, y, z, b;
} kernel;

static void add_array(kernel *k, const char *name, tw_elem elem, twi_role role) {
    twi_array a = {.name = twi_intern_str(&k->ctx->names, name),
                   .elem = (uint8_t)elem,
                   .rank = 1,
                   .role = (uint8_t)role};
    a.dim[0] = twi_ix_const(k->ir, N);
    twi_push(k->arena, &k->ir->array, a);
}

static void put(kernel *k, const char *what, twi_lid v) {
    const twi_lins *ins = twi_lins_of(k->c.f, v);
    assert_true(k->outs < MOST_OUT);
    (void)snprintf(k->what[k->outs], sizeof k->what[0], "%s", what);
    k->out[k->outs] = (tw_elem)ins->elem;
    if (IN + 1 + k->outs < k->ir->array.n) {
        const twi_laccess access = {.object = IN + 1 + k->outs};
        twi_lb_store(&k->c, access, &k->at, v, 0);
    }
    k->outs++;
}

static twi_lid get(kernel *k, uint32_t object, twi_lid at, twi_lid mask, twi_lid other) {
    return twi_lb_load(&k->c, (twi_laccess){.object = object}, &at, k->count, mask, other);
}

static void binary(kernel *k, const char *name, unsigned op) {
    put(k, name, twi_lb_op(&k->c, op, k->x, k->y, 0));
}

static void operations(kernel *k) {
    const bool is_bool = k->elem == TW_BOOL, is_float = twi_is_float(k->elem);
    const bool narrow = k->elem == TW_F16 || k->elem == TW_BF16;
    for (unsigned op = 1; op < TWI_ELEMENTWISE_END; op++) {
        const twi_op_info *row = twi_op_row(op);
        const bool fits = row->rule == TWI_RULE_COMPARE ? !is_bool || op == TWI_EQ || op == TWI_NE
                          : row->rule == TWI_RULE_BOOL  ? is_bool
                          : row->rule == TWI_RULE_INT   ? !is_bool && !is_float
                          : row->rule == TWI_RULE_FLOAT ? is_float
                                                        : row->rule == TWI_RULE_ARITH && !is_bool;
        if (!fits || !row->built || narrow || (row->price == TWI_PRICE_FUNC && k->elem != TW_F32))
            continue;
        if (row->arity == 1)
            put(k, row->name, twi_lb_op(&k->c, op, k->x, 0, 0));
        else if (row->arity == 2)
            binary(k, row->name, op);
        else
            put(k, row->name, twi_lb_op(&k->c, op, k->x, k->y, k->z));
    }
    if (is_float && !narrow && k->count > 1)
        put(k, "division by one number",
            twi_lb_op(&k->c, TWI_DIV, k->x,
                      twi_lb_splat(&k->c, twi_lb_extract(&k->c, k->y, 0), k->count), 0));
    put(k, "select", twi_lb_op(&k->c, TWI_SELECT, k->b, k->x, k->y));
    for (unsigned op = TWI_EQ; op <= TWI_GE && !is_bool && !narrow; op++) {
        char name[40];
        (void)snprintf(name, sizeof name, "select by %s", twi_op_row(op)->name);
        put(k, name, twi_lb_op(&k->c, TWI_SELECT, twi_lb_op(&k->c, op, k->x, k->y, 0), k->y, k->z));
    }
    for (unsigned i = 0; i < sizeof elems / sizeof *elems; i++) {
        char name[40];
        const bool to_narrow = elems[i] == TW_F16 || elems[i] == TW_BF16;
        if (narrow ? elems[i] != TW_F32 : to_narrow && k->elem != TW_F32)
            continue; /* narrow floats are storage: values are f32 */
        (void)snprintf(name, sizeof name, "cast %s", tw_elem_name(elems[i]));
        put(k, name, twi_lb_cast(&k->c, elems[i], k->x));
    }
}

static void memory(kernel *k) {
    twi_cursor *c = &k->c;
    const twi_lid n =
        twi_lb_op(c, TWI_SUB,
                  twi_lb_op(c, TWI_IMOD, twi_lb_leaf(c, TWI_L_ID, TW_I64, 1, TWI_LV_GRID),
                            twi_lb_i64(c, 20), 0),
                  twi_lb_i64(c, 2), 0);
    put(k, "count mask", get(k, 1, k->at, n, 0));
    put(k, "count mask, else", get(k, 1, k->at, n, k->z));
    put(k, "bool mask", get(k, 1, k->at, k->b, 0));
    put(k, "bool mask, else", get(k, 1, k->at, k->b, k->z));
    if (k->count == 1)
        return;
    const twi_lid first = twi_lb_extract(c, k->b, 0);
    put(k, "scalar bool mask", get(k, 1, k->at, first, 0));
    put(k, "splat", twi_lb_splat(c, twi_lb_extract(c, k->x, k->count - 1), k->count));
    const twi_lid iota = twi_lb_leaf(c, TWI_L_IOTA, TW_I64, k->count, 0);
    twi_lid back = twi_lb_op(
        c, TWI_SUB,
        twi_lb_splat(c, twi_lb_op(c, TWI_ADD, k->at, twi_lb_i64(c, k->count - 1), 0), k->count),
        iota, 0);
    put(k, "gather", get(k, 1, back, 0, 0));
    put(k, "gather, count", get(k, 1, back, n, k->y));
    put(k, "gather, bools", get(k, 1, back, k->b, k->y));
    if (k->count == 3)
        return;
    put(k, "xor", twi_lb_lane_xor(c, k->x, 2));
    put(k, "shift up", twi_lb_lane_shift(c, k->x, 1));
    put(k, "shift down", twi_lb_lane_shift(c, k->x, 1 - (int)k->count));
    if (k->elem == TW_F16 || k->elem == TW_BF16)
        return;
    const unsigned merge = k->elem == TW_BOOL ? TWI_OR : TWI_MAX;
    unsigned log = 0;
    while (1u << log < k->count)
        log++;
    put(k, "fold", twi_lb_splat(c, twi_lb_lane_fold(c, merge, k->x, 0, log), k->count));
    if (twi_is_float(k->elem))
        put(k, "sum", twi_lb_splat(c, twi_lb_lane_fold(c, TWI_ADD, k->x, 0, log), k->count));
}

/* Whole vectors in private and scratch memory, loops, an unrolled loop, a condition. */
static void objects(kernel *k) {
    twi_cursor *c = &k->c;
    twi_object o = {.name = twi_intern_str(&k->ctx->names, "c.1"),
                    .kind = TWI_OBJ_PRIVATE,
                    .elem = (uint8_t)k->elem,
                    .rank = 2,
                    .count = (uint16_t)k->count,
                    .extent = {3, 2}};
    const uint32_t private = twi_lb_object(c, &o);
    o.kind = TWI_OBJ_SCRATCH;
    o.extent[0] = 4000;
    const uint32_t scratch = twi_lb_object(c, &o);
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t object = i ? scratch : private;
        const twi_lid a = twi_lb_for(c, twi_lb_i64(c, 0), twi_lb_i64(c, 3), 1);
        const twi_lid u = twi_lb_unroll(c, 2);
        const twi_lid at[] = {a, u};
        twi_lb_store(c, (twi_laccess){.object = object}, at, k->x, 0);
        twi_lb_if(c, twi_lb_op(c, TWI_EQ, a, u, 0));
        twi_lb_store(c, (twi_laccess){.object = object}, at, k->y, 0);
        twi_lb_close(c);
        twi_lb_close(c);
        twi_lb_close(c);
        const twi_lid from[2][2] = {{twi_lb_i64(c, 2), twi_lb_i64(c, 1)},
                                    {twi_lb_i64(c, 1), twi_lb_i64(c, 1)}};
        for (unsigned j = 0; j < 2; j++)
            put(k, i ? "scratch" : "private",
                twi_lb_load(c, (twi_laccess){.object = object}, from[j], k->count, 0, 0));
    }
}

static void masked_stores(kernel *k) {
    twi_cursor *c = &k->c;
    const twi_lid n =
        twi_lb_op(c, TWI_SUB,
                  twi_lb_op(c, TWI_IMOD, twi_lb_leaf(c, TWI_L_ID, TW_I64, 1, TWI_LV_GRID),
                            twi_lb_i64(c, 20), 0),
                  twi_lb_i64(c, 2), 0);
    const twi_lid masks[] = {n, k->b};
    for (unsigned i = 0; i < 2; i++) {
        (void)snprintf(k->what[k->outs], sizeof k->what[0], "store, %s mask", i ? "bool" : "count");
        k->out[k->outs] = k->elem;
        if (IN + 1 + k->outs < k->ir->array.n)
            twi_lb_store(c, (twi_laccess){.object = IN + 1 + k->outs}, &k->at, k->x, masks[i]);
        k->outs++;
    }
}

/* Stored, then merged into by lanes of which some meet in one element; floats by numbers whose sums
 * are the same in any order. */
static void atomics(kernel *k) {
    static const uint16_t merges[] = {TWI_ADD, TWI_MIN, TWI_MAX};
    static const char *const names[] = {"atomic add", "atomic min", "atomic max"};
    twi_cursor *c = &k->c;
    if (k->elem == TW_BOOL || tw_elem_size(k->elem) < 4)
        return;
    twi_lid at = k->at;
    if (k->count > 1)
        at = twi_lb_op(c, TWI_ADD, twi_lb_splat(c, at, k->count),
                       twi_lb_op(c, TWI_IDIV, twi_lb_leaf(c, TWI_L_IOTA, TW_I64, k->count, 0),
                                 twi_lb_i64(c, 2), 0),
                       0);
    for (unsigned i = 0; i < 3; i++) {
        (void)snprintf(k->what[k->outs], sizeof k->what[0], "%s", names[i]);
        k->out[k->outs] = k->elem;
        const uint32_t object = IN + 1 + k->outs++;
        if (object >= k->ir->array.n)
            continue;
        twi_lid x = k->x, y = k->y;
        if (twi_is_float(k->elem) && merges[i] == TWI_ADD) {
            x = twi_lb_cast(c, k->elem, twi_lb_cast(c, TW_I8, x));
            y = twi_lb_cast(c, k->elem, twi_lb_cast(c, TW_I8, y));
        }
        twi_lb_store(c, (twi_laccess){.object = object}, &k->at, x, 0);
        twi_lb_store(c, (twi_laccess){.object = object, .merge = merges[i]}, &at, y, k->b);
    }
}

static void body(kernel *k, twi_sym name) {
    k->outs = 0;
    k->loop = twi_loop_new(k->arena, k->ir, 0);
    twi_entry entry = {.name = twi_intern_str(&k->ctx->names, "main")};
    const twi_step_do step = {.what = TWI_DO_LAUNCH, .grid = N / k->count};
    twi_push(k->arena, &entry.recipe, step);
    twi_push(k->arena, &k->loop->entry, entry);
    const uint32_t f = twi_loop_func(k->loop, name, 0, 0);
    k->loop->func.at[f].explicit_lanes = !k->simt;
    k->loop->func.at[f].lanes = k->count;
    twi_cursor_init(&k->c, k->loop, f);
    k->at = twi_lb_op(&k->c, TWI_MUL, twi_lb_leaf(&k->c, TWI_L_ID, TW_I64, 1, TWI_LV_GRID),
                      twi_lb_i64(&k->c, k->count), 0);
    k->x = get(k, 1, k->at, 0, 0);
    k->y = get(k, 2, k->at, 0, 0);
    k->z = get(k, 3, k->at, 0, 0);
    k->b = get(k, 4, k->at, 0, 0);
    operations(k);
    memory(k);
    objects(k);
    masked_stores(k);
    atomics(k);
}

static void make(kernel *k, tw_context *ctx, tw_elem elem, unsigned count, bool simt) {
    char name[64];
    *k = (kernel){.ctx = ctx, .arena = &ctx->arena, .elem = elem, .count = count, .simt = simt};
    tw_ir *ir = TWI_NEW(k->arena, tw_ir);
    k->ir = ir;
    ir->ctx = ctx;
    ir->arena = k->arena;
    ir->specialised = ir->lifted = true;
    ir->kernel = twi_intern_str(&ctx->names, "while");
    twi_push(k->arena, &ir->ix, (twi_ix_node){0});
    twi_push(k->arena, &ir->array, (twi_array){0});
    add_array(k, "int", elem, TWI_IN);
    add_array(k, "Y", elem, TWI_IN);
    add_array(k, "a-b", elem, TWI_IN);
    add_array(k, "B", TW_BOOL, TWI_IN);
    (void)snprintf(name, sizeof name, "%s_%u_main", tw_elem_name(elem), count);
    const twi_sym sym = twi_intern_str(&ctx->names, name);
    body(k, sym);
    for (unsigned i = 0; i < k->outs; i++) {
        (void)snprintf(name, sizeof name, "O%u", i);
        add_array(k, name, k->out[i], TWI_OUT);
    }
    body(k, sym);
    assert_true(twi_loop_verify(k->loop));
}

/* Random patterns, small numbers and the special ones. */
static uint64_t pattern(twi_rng *rng, tw_elem elem) {
    static const double special[] = {0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     0.5,
                                     -0.5,
                                     1e-45,
                                     3e38,
                                     127.5,
                                     -128.5,
                                     2147483648.0,
                                     -2147483649.0,
                                     4294967296.0,
                                     9223372036854775808.0,
                                     -9223372036854775808.0,
                                     1e300};
    const uint64_t r = twi_rng_next(rng), pick = twi_rng_below(rng, 4);
    if (elem == TW_BOOL)
        return r & 1;
    if (elem == TW_F32 || elem == TW_F64) {
        double v = pick == 0   ? special[r % 16]
                   : pick == 1 ? (double)((int64_t)r % 1000) / 8
                               : twi_rng_normal(rng);
        if (pick == 0 && r % 7 == 0)
            v = (r & 1024 ? 1.0 : -1.0) / 0.0 * (r & 2048 ? 1.0 : 0.0);
        const float f = (float)v;
        uint32_t low;
        uint64_t bits;
        memcpy(&bits, &v, 8);
        memcpy(&low, &f, 4);
        return pick == 3 ? r : elem == TW_F32 ? low : bits;
    }
    return pick < 2    ? (uint64_t)((int64_t)(r % 9) - 4)
           : pick == 2 ? (uint64_t)1 << (8 * tw_elem_size(elem) - 1)
                       : r;
}

static void fill(twi_rng *rng, tw_elem elem, char *at) {
    for (unsigned i = 0; i < N; i++) {
        const uint64_t bits = pattern(rng, elem);
        memcpy(at + i * tw_elem_size(elem), &bits, tw_elem_size(elem));
    }
}

/* One pattern for all NaNs. */
static uint64_t value_at(tw_elem elem, const char *at, unsigned i) {
    uint64_t bits = 0;
    memcpy(&bits, at + i * tw_elem_size(elem), tw_elem_size(elem));
    if (elem == TW_F32 && (bits & 0x7fffffff) > 0x7f800000)
        return 0x7fc00000;
    if (elem == TW_F64 && (bits & 0x7fffffffffffffff) > 0x7ff0000000000000)
        return 0x7ff8000000000000;
    if (elem == TW_F16 && (bits & 0x7fff) > 0x7c00)
        return 0x7e00;
    if (elem == TW_BF16 && (bits & 0x7fff) > 0x7f80)
        return 0x7fc0;
    return bits;
}

typedef struct {
    char *array[2][IN + 1 + MOST_OUT];
    int64_t shape[(IN + 1 + MOST_OUT) * TWI_MAX_RANK], stride[(IN + 1 + MOST_OUT) * TWI_MAX_RANK];
} data;

static void prepare(kernel *k, data *d) {
    twi_rng rng;
    twi_rng_init(&rng, (uint64_t)k->elem * 100 + k->count);
    for (uint32_t i = 1; i < k->ir->array.n; i++) {
        d->shape[i * TWI_MAX_RANK] = N;
        d->stride[i * TWI_MAX_RANK] = 1;
        d->array[0][i] = twi_alloc(k->arena, N * 8);
        if (i <= IN) {
            fill(&rng, (tw_elem)k->ir->array.at[i].elem, d->array[0][i]);
            d->array[1][i] = d->array[0][i];
        } else {
            d->array[1][i] = twi_alloc(k->arena, N * 8);
        }
    }
}

static void compare(const kernel *k, const data *d, const char *isa) {
    unsigned wrong = 0;
    for (unsigned o = 0; o < k->outs; o++)
        for (unsigned i = 0; i < N; i++) {
            const uint64_t want = value_at(k->out[o], d->array[0][IN + 1 + o], i);
            const uint64_t got = value_at(k->out[o], d->array[1][IN + 1 + o], i);
            if (want == got)
                continue;
            if (wrong++ < 20)
                print_error(
                    "%s %s x%u, %s, element %u: interpreter %llx, compiled %llx (x %llx, y %llx)\n",
                    isa, tw_elem_name(k->elem), k->count, k->what[o], i, (unsigned long long)want,
                    (unsigned long long)got,
                    (unsigned long long)value_at(k->elem, d->array[0][1], i),
                    (unsigned long long)value_at(k->elem, d->array[0][2], i));
            break;
        }
    assert_int_equal(wrong, 0);
}

enum { MOST = sizeof elems / sizeof *elems * (sizeof counts / sizeof *counts) };

/* f32 at every count, the others at one, an odd one and the machine's own. */
static unsigned make_all(tw_context *ctx, const twi_caps *caps, kernel *k, const twi_loop **loop) {
    unsigned n = 0;
    for (unsigned i = 0; i < sizeof elems / sizeof *elems; i++)
        for (unsigned j = 0; j < sizeof counts / sizeof *counts; j++) {
            const bool simt = caps->family == TWI_FAMILY_SIMT;
            if (simt && counts[j] != 1)
                continue;
            if (elems[i] != TW_F32 && counts[j] != 1 && counts[j] != 3 && counts[j] != caps->lane)
                continue;
            make(&k[n], ctx, elems[i], counts[j], simt);
            loop[n] = k[n].loop;
            n++;
        }
    return n;
}

static void run_both(kernel *k, twi_target *interp, twi_module *module, const char *isa) {
    static data d;
    const twi_loop *loop = k->loop;
    const int64_t trip = 0;
    char error[TWI_ERROR_TEXT] = "";
    twi_module *reference;
    prepare(k, &d);
    twi_launch args = {.array = (void *const *)d.array[0],
                       .stride = d.stride,
                       .shape = d.shape,
                       .trip = &trip,
                       .threads = 1};
    assert_int_equal(interp->ops->build(interp, &loop, 1, NULL, &reference), TW_OK);
    (void)interp->ops->run(reference, 0, &args, error); /* masked stores leave elements out */
    args.array = (void *const *)d.array[1];
    const twi_target_ops *ops = module->target->ops;
    const tw_status status = ops->run ? ops->run(module, 0, &args, error)
                                      : ops->launch(module, 0, N / k->count, &args, error);
    if (status != TW_OK)
        print_error("%s\n", error);
    assert_int_equal(status, TW_OK);
    compare(k, &d, isa);
    interp->ops->release(reference);
}

static void check_caps(tw_context *ctx, const twi_caps *caps, const char *isa) {
    static kernel k[MOST];
    const twi_loop *loop[MOST];
    twi_module *module[MOST];
    const unsigned n = make_all(ctx, caps, k, loop);
    twi_target *cpu = caps->family == TWI_FAMILY_SIMT
                          ? twi_opencl_open(ctx, caps, 0)
                          : twi_cpu_open(ctx, &(twi_cpu_options){.caps = caps});
    twi_target *interp = twi_interp_open(ctx, caps);
    const tw_status status = cpu->ops->build(cpu, loop, n, NULL, module);
    if (status != TW_OK)
        print_error("%s", tw_diag_text(ctx, false));
    assert_int_equal(status, TW_OK);
    for (unsigned i = 0; i < n; i++)
        run_both(&k[i], interp, module[i], isa);
    for (unsigned i = 0; i < n; i++)
        cpu->ops->release(module[i]);
    cpu->ops->close(cpu);
    interp->ops->close(interp);
}

static void check_isa(const char *isa) {
    twi_caps caps;
    tw_context *ctx = tw_context_create(NULL);
    jmp_buf spot, *saved;
    if (TWI_GUARD(&ctx->mem, spot, saved))
        fail();
    const bool have =
        strcmp(isa, "opencl") == 0 ? twi_opencl_caps(ctx, 0, &caps) : twi_cpu_caps(ctx, isa, &caps);
    if (have)
        check_caps(ctx, &caps, isa);
    else
        print_message("skipped: this machine has no %s\n", isa);
    TWI_UNGUARD(&ctx->mem, saved);
    tw_context_destroy(ctx);
    if (!have)
        skip();
}

static void baseline(void **state) {
    (void)state;
    check_isa("baseline");
}
static void avx2(void **state) {
    (void)state;
    check_isa("avx2");
}
static void opencl(void **state) {
    (void)state;
    check_isa("opencl");
}
static void avx512(void **state) {
    (void)state;
    check_isa("avx512");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(baseline),
        cmocka_unit_test(avx2),
        cmocka_unit_test(avx512),
        cmocka_unit_test(opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
