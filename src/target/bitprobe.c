/* SPDX-License-Identifier: Apache-2.0
 * The bit probe as loop IR: one array of operands a type, one result array a row of bitprobe.def.
 */
#include "target/bitprobe.h"

#include "base/hash.h"
#include "target/codes.h"

enum { OPERANDS = 65536, SETS = 3 };

static const struct {
    uint32_t class;
    uint16_t op;
    uint8_t from, to;
    uint64_t hash;
} probes[] = {
#define TWI_PROBE(class, op, from, to, hash)                                                       \
    {TWI_PROBE_##class, TWI_##op, TW_##from, TW_##to, hash},
#include "target/bitprobe.def"
#undef TWI_PROBE
};
enum { PROBES = sizeof probes / sizeof *probes };

static const tw_elem sources[] = {TW_F32, TW_F64, TW_I32, TW_I64, TW_U64, TW_F16, TW_BF16};
enum { SOURCES = sizeof sources / sizeof *sources, INPUTS = SOURCES * SETS };

/* Array ids: operands of set k and type s at 1 + s * SETS + k, results after them. */
static uint32_t input_id(tw_elem elem, unsigned set) {
    unsigned s = 0;
    while (s < SOURCES - 1 && sources[s] != elem)
        s++;
    return 1 + s * SETS + set;
}
static uint32_t output_id(unsigned probe) { return 1 + INPUTS + probe; }

static void add_array(twi_loop *loop, const char *name, tw_elem elem, twi_role role) {
    twi_larray a = {.name = twi_intern_str(&loop->ctx->names, name),
                    .elem = (uint8_t)elem,
                    .rank = 1,
                    .role = (uint8_t)role,
                    .extent = {OPERANDS}};
    twi_push(loop->arena, &loop->array, a);
}

static void add_probe(twi_cursor *c, unsigned p, twi_lid at, unsigned count) {
    twi_lid x[SETS] = {0}, y;
    const unsigned arity = twi_op_row(probes[p].op)->arity;
    for (unsigned k = 0; k < arity; k++) {
        const twi_laccess access = {.object = input_id((tw_elem)probes[p].from, k)};
        x[k] = twi_lb_load(c, access, &at, count, 0, 0);
    }
    if (probes[p].op == TWI_CAST)
        y = twi_lb_cast(c, (tw_elem)probes[p].to, x[0]);
    else
        y = twi_lb_op(c, probes[p].op, x[0], x[1], x[2]);
    twi_lb_store(c, (twi_laccess){.object = output_id(p)}, &at, y, 0);
}

static twi_loop *make_loop(twi_target *t, twi_arena *arena) {
    twi_loop *loop = twi_loop_new(arena, NULL, t->caps.name);
    twi_names *names = &t->ctx->names;
    const unsigned count = t->caps.family == TWI_FAMILY_CPU ? t->caps.lane : 1;
    loop->ctx = t->ctx;
    loop->kernel = twi_intern_str(names, "bit_probe");
    for (unsigned i = 0; i < INPUTS; i++)
        add_array(loop, twi_format(arena, "X%u", i), sources[i / SETS], TWI_IN);
    for (unsigned p = 0; p < PROBES; p++)
        add_array(loop, twi_format(arena, "Y%u", p), (tw_elem)probes[p].to, TWI_OUT);
    twi_entry entry = {.name = twi_intern_str(names, "main")};
    const twi_step_do step = {.what = TWI_DO_LAUNCH, .grid = OPERANDS / count};
    twi_push(arena, &entry.recipe, step);
    twi_push(arena, &loop->entry, entry);
    const uint32_t f = twi_loop_func(loop, twi_intern_str(names, "bit_probe_main"), 0, 0);
    loop->func.at[f].explicit_lanes = t->caps.family == TWI_FAMILY_CPU;
    loop->func.at[f].lanes = count;
    twi_cursor c;
    twi_cursor_init(&c, loop, f);
    const twi_lid group = twi_lb_leaf(&c, TWI_L_ID, TW_I64, 1, TWI_LV_GRID);
    const twi_lid at = twi_lb_op(&c, TWI_MUL, group, twi_lb_i64(&c, count), 0);
    for (unsigned p = 0; p < PROBES; p++)
        add_probe(&c, p, at, count);
    return loop;
}

/* A pattern of a float format: any bits, specials, or ordinary sizes; ints: any bits, or small. */
static uint64_t operand(twi_rng *rng, tw_elem elem) {
    static const struct {
        uint8_t fraction, exponent;
    } format[TW_ELEMS] = {
        [TW_F16] = {10, 5}, [TW_BF16] = {7, 8}, [TW_F32] = {23, 8}, [TW_F64] = {52, 11}};
    const uint64_t any = twi_rng_next(rng), pick = twi_rng_below(rng, 4);
    if (format[elem].exponent == 0)
        return pick < 2 ? any : pick == 2 ? (any % 31) - 15 : UINT64_C(1) << any % 64;
    const unsigned f = format[elem].fraction, e = format[elem].exponent;
    const uint64_t sign = any >> 63 << (f + e), one = (UINT64_C(1) << f) - 1;
    const uint64_t bias = (UINT64_C(1) << (e - 1)) - 1, top = (UINT64_C(1) << e) - 1;
    const uint64_t exponents[] = {0, 0, 1, bias, bias, top - 1, top, top};
    const uint64_t fractions[] = {0, one, 1, any & one};
    if (pick == 0)
        return sign | exponents[any % 8] << f | fractions[any / 8 % 4];
    if (pick == 1)
        return sign | (bias - 4 + any / 64 % 9) << f | (any & one);
    return any;
}

/* One pattern stands for all NaNs. */
static uint64_t one_nan(tw_elem elem, uint64_t bits) {
    static const uint64_t infinity[TW_ELEMS] = {[TW_F16] = 0x7c00,
                                                [TW_BF16] = 0x7f80,
                                                [TW_F32] = 0x7f800000,
                                                [TW_F64] = 0x7ff0000000000000};
    const uint64_t sign = UINT64_C(1) << (8 * tw_elem_size(elem) - 1);
    return infinity[elem] && (bits & ~sign) > infinity[elem] ? infinity[elem] + 1 : bits;
}

static uint64_t hash_results(tw_elem elem, const char *at) {
    const size_t size = tw_elem_size(elem);
    uint64_t h = 0;
    for (unsigned i = 0; i < OPERANDS; i++) {
        uint64_t bits = 0;
        memcpy(&bits, at + i * size, size);
        h = twi_hash_mix(h, one_nan(elem, bits));
    }
    return h;
}

static void **make_arrays(twi_arena *arena, const twi_loop *loop) {
    void **array = TWI_NEW_N(arena, void *, loop->array.n);
    for (uint32_t i = 1; i < loop->array.n; i++) {
        const tw_elem elem = (tw_elem)loop->array.at[i].elem;
        const size_t size = tw_elem_size(elem);
        char *at = twi_alloc_n(arena, OPERANDS, size);
        array[i] = at;
        twi_rng rng;
        twi_rng_init(&rng, i);
        for (unsigned k = 0; i <= INPUTS && k < OPERANDS; k++) {
            const uint64_t bits = operand(&rng, elem);
            memcpy(at + k * size, &bits, size);
        }
    }
    return array;
}

static tw_status run(twi_target *t, twi_module *m, void *const *array, twi_arena *arena) {
    const uint32_t n = m->loop->array.n;
    int64_t *stride = TWI_NEW_N(arena, int64_t, n * TWI_MAX_RANK);
    int64_t *shape = TWI_NEW_N(arena, int64_t, n * TWI_MAX_RANK);
    char error[TWI_ERROR_TEXT] = "";
    const int64_t trip = 0;
    for (uint32_t i = 0; i < n; i++) {
        stride[i * TWI_MAX_RANK] = 1;
        shape[i * TWI_MAX_RANK] = OPERANDS;
    }
    const twi_launch args = {
        .array = array, .stride = stride, .shape = shape, .trip = &trip, .threads = 1};
    const int64_t grid = m->loop->entry.at[0].recipe.at[0].grid;
    const tw_status status =
        t->ops->run ? t->ops->run(m, 0, &args, error) : t->ops->launch(m, 0, grid, &args, error);
    if (status != TW_OK)
        twi_error(&t->ctx->diags, TWI_E_BIT_PROBE, (twi_loc){0, 0}, NULL,
                  "the bit probe did not run: %s", error);
    return status;
}

static const char *row_name(twi_arena *arena, unsigned p) {
    const char *op = twi_op_row(probes[p].op)->name, *from = tw_elem_name((tw_elem)probes[p].from);
    if (probes[p].op != TWI_CAST)
        return twi_format(arena, "%s %s", op, from);
    return twi_format(arena, "%s %s %s", op, from, tw_elem_name((tw_elem)probes[p].to));
}

tw_status twi_bit_probe(twi_target *t, twi_arena *arena, const twi_probe_row **rows, unsigned *n) {
    const twi_loop *loop = make_loop(t, arena);
    twi_module *module = NULL;
    void **array = make_arrays(arena, loop);
    twi_probe_row *row = TWI_NEW_N(arena, twi_probe_row, PROBES);
    tw_status status = t->ops->build(t, &loop, 1, NULL, &module);
    if (status == TW_OK)
        status = run(t, module, array, arena);
    t->ops->release(module);
    if (status != TW_OK)
        return status;
    t->caps.probe = 0;
    for (unsigned p = 0; p < PROBES; p++) {
        const uint64_t got = hash_results((tw_elem)probes[p].to, array[output_id(p)]);
        row[p] = (twi_probe_row){row_name(arena, p), probes[p].class, probes[p].hash, got};
        if (got != probes[p].hash)
            t->caps.probe |= probes[p].class;
    }
    if (rows) {
        *rows = row;
        *n = PROBES;
    }
    return TW_OK;
}
