/* SPDX-License-Identifier: Apache-2.0
 * A run: arrays and tiles are set up, scopes run in order, instance by instance, serial regions
 * trip by trip. Above the limit of operations a kernel of one scope is sampled: corners, and
 * instances by seed.
 */
#include "base/hash.h"
#include "oracle/eval.h"

#define MAX_OPS (UINT64_C(1) << 28)

static void run_body(twi_oracle *o, const twi_region *r);

size_t twi_array_extents(const tw_ir *ir, uint32_t array, int64_t *extent) {
    twi_oracle shell = {.ir = ir}; /* dims and constants alone: nothing else is asked */
    const twi_array *a = &ir->array.at[array];
    size_t total = 1;
    for (unsigned d = 0; d < a->rank; d++) {
        extent[d] = twi_index(&shell, a->dim[d], NULL);
        total *= (size_t)extent[d];
    }
    return total;
}

static bool set_up_array(twi_oracle *o, uint32_t id, bool bounded) {
    const twi_array *a = &o->ir->array.at[id];
    twi_array_state *s = &o->array[id];
    s->elem = a->elem;
    s->rank = a->rank;
    s->total = twi_array_extents(o->ir, id, s->extent);
    const void *raw = o->in->array ? o->in->array[id] : NULL;
    bool given = a->role == TWI_IN || a->role == TWI_INOUT;
    if (given && !raw && s->total != 0) {
        twi_fail(o, "no values for array %s", twi_text(&o->ir->ctx->names, a->name));
        return false;
    }
    if (a->elem == TW_F8E4M3 || a->elem == TW_F8E5M2) {
        twi_fail(o, "arrays of %s are not built yet", tw_elem_name((tw_elem)a->elem));
        return false;
    }
    if (a->role == TWI_IN) {
        s->raw = raw;
        return true;
    }
    s->bounded = bounded;
    s->writer = TWI_NEW_N(o->arena, uint32_t, s->total + 1);
    s->stamp = TWI_NEW_N(o->arena, uint32_t, s->total + 1);
    if (bounded)
        s->el = TWI_NEW_N(o->arena, twi_el, s->total + 1);
    else
        s->bits = TWI_NEW_N(o->arena, uint64_t, s->total + 1);
    if (!given && !a->has_fill)
        return true;
    for (size_t k = 0; k < s->total; k++) {
        uint64_t bits = given ? twi_load_bits((tw_elem)a->elem, raw, k) : a->fill;
        s->writer[k] = 1;
        if (!bounded) {
            s->bits[k] = bits;
            continue;
        }
        twi_form x =
            twi_form_exact(twi_value_elem((tw_elem)a->elem), twi_widen((tw_elem)a->elem, bits));
        s->el[k] = (twi_el){x.v, x.lo, x.hi, 0.0, x.bits, 0, 0, TWI_EXACT, 0};
    }
    return true;
}

/* Is it folded by max or min? Then the winner's error is the result's too. */
static bool may_win(const tw_ir *ir, twi_id v) {
    for (twi_id w = 1; w < ir->ins.n; w++)
        if ((ir->ins.at[w].op == TWI_FMAX || ir->ins.at[w].op == TWI_FMIN ||
             ir->ins.at[w].op == TWI_LOGSUMEXP) &&
            twi_arg(ir, w, 0) == v)
            return true;
    return false;
}

/* Values whose errors tiles of more axes may share get them as symbols. */
static void set_up_tiles(twi_oracle *o, const twi_classes *c) {
    const tw_ir *ir = o->ir;
    for (twi_id v = 1; v < ir->ins.n; v++) {
        uint64_t axes = ir->ins.at[v].type.axes & o->tile_axes;
        bool wider = false;
        for (twi_id w = 1; w < ir->ins.n && c->value[v] && !wider; w++) {
            uint64_t more = ir->ins.at[w].type.axes & o->tile_axes;
            wider = (axes & ~more) == 0 && more != axes;
        }
        twi_tile t = {.elem = ir->ins.at[v].type.elem, .bounded = c->value[v]};
        t.named = t.bounded && twi_is_float((tw_elem)t.elem) && (wider || may_win(ir, v));
        o->tile[v] = o->shadow[v] = t;
        o->shadow[v].named = false;
    }
}

/* ---- regions ---- */

static void forget_axes(twi_oracle *o, uint32_t region) {
    for (uint32_t a = 1; a < o->ir->axis.n; a++)
        if (o->ir->axis.at[a].kind == TWI_AXIS_FULL && o->ir->axis.at[a].region == region)
            o->axis[a].ready = false;
}

static bool bounds_of(twi_oracle *o, uint8_t axis, int64_t *lo, int64_t *hi) {
    *lo = twi_index(o, o->ir->axis.at[axis].lo, NULL);
    *hi = twi_index(o, o->ir->axis.at[axis].hi, NULL);
    return o->error == NULL;
}

static void open_axis(twi_oracle *o, uint8_t axis, int64_t at, int64_t end) {
    int64_t block = o->ir->axis.at[axis].block;
    twi_axis_state *s = &o->axis[axis];
    s->at = at;
    s->lo = at;
    s->hi = block > 0 && block < end - at ? at + block : block > 0 ? end : at + 1;
    s->ready = true;
}

static void copy_carries(twi_oracle *o, const twi_region *r, bool entry) {
    for (uint32_t k = 0; k < r->carries.n; k++) {
        twi_id carry = r->carries.at[k];
        twi_id from = entry ? twi_arg(o->ir, r->ins, k) : r->yields.at[k];
        twi_tile *to = entry ? &o->tile[carry] : &o->shadow[carry];
        if (!twi_tile_shape(o, to, o->ir->ins.at[carry].type.axes))
            return;
        twi_tile_copy(o, to, &o->tile[from]);
    }
    for (uint32_t k = 0; k < r->carries.n && !entry; k++) {
        twi_id carry = r->carries.at[k];
        twi_tile t = o->tile[carry];
        bool named = t.named;
        o->tile[carry] = o->shadow[carry];
        o->tile[carry].named = named;
        o->shadow[carry] = t;
        o->shadow[carry].named = false;
    }
}

/* A serial region around scopes: each trip runs them all. */
static bool around_scopes(const tw_ir *ir, uint32_t region) {
    while (region != 0 && ir->region.at[region].kind == TWI_REGION_SERIAL)
        region = ir->region.at[region].parent;
    return region == 0 || ir->region.at[region].kind == TWI_REGION_ROOT;
}

static void run_serial(twi_oracle *o, uint32_t region) {
    const twi_region *r = &o->ir->region.at[region];
    uint8_t axis = r->axes.at[0];
    int64_t lo, hi, step = o->ir->axis.at[axis].block > 0 ? o->ir->axis.at[axis].block : 1;
    bool around = around_scopes(o->ir, region);
    if (!bounds_of(o, axis, &lo, &hi))
        return;
    copy_carries(o, r, true);
    o->scope_depth += around ? 1u : 0u;
    for (int64_t at = lo; at < hi && !o->error; at += step) {
        open_axis(o, axis, at, hi);
        forget_axes(o, region);
        run_body(o, r);
        if (!o->error)
            copy_carries(o, r, false);
        if (hi - at <= step)
            break;
    }
    o->scope_depth -= around ? 1u : 0u;
}

/* Which instances run: all, or corners and a share of the others. */
typedef struct {
    unsigned n;
    int64_t at[TWI_MAX_AXES], lo[TWI_MAX_AXES], hi[TWI_MAX_AXES], step[TWI_MAX_AXES];
    double share;
    twi_rng rng;
} grid;

static bool chosen(grid *g) {
    if (g->share >= 1.0)
        return true;
    bool corner = true;
    for (unsigned k = 0; k < g->n; k++)
        corner = corner && (g->at[k] == g->lo[k] || g->at[k] + g->step[k] >= g->hi[k]);
    return twi_rng_unit(&g->rng) < g->share || corner;
}

static bool next_instance(grid *g) {
    for (unsigned k = g->n; k-- > 0;) {
        g->at[k] += g->step[k];
        if (g->at[k] < g->hi[k])
            return true;
        g->at[k] = g->lo[k];
    }
    return false;
}

/* One scope, whose instances do not meet in one element. */
static bool may_sample(const tw_ir *ir) {
    uint32_t n = 0;
    for (uint32_t r = 1; r < ir->region.n; r++)
        n += ir->region.at[r].kind == TWI_REGION_PAR ? 1u : 0u;
    for (uint32_t v = 1; v < ir->ins.n; v++)
        n += ir->ins.at[v].op == TWI_ATOMIC ? 1u : 0u;
    return n == 1;
}

static void limit(twi_oracle *o, grid *g, double instances, uint64_t before) {
    double all = (double)(o->ops - before) * instances;
    double most = (double)(o->options.max_ops != 0 ? o->options.max_ops : MAX_OPS);
    if (all > most && o->scope_depth == 0 && may_sample(o->ir)) {
        g->share = most / all;
        o->sampled = true;
    }
}

static void run_scope(twi_oracle *o, uint32_t region) {
    const twi_region *r = &o->ir->region.at[region];
    grid g = {.n = r->axes.n, .share = 1.0};
    double instances = 1.0;
    twi_rng_init(&g.rng, o->options.seed);
    for (unsigned k = 0; k < g.n; k++) {
        uint8_t axis = r->axes.at[k];
        int64_t block = o->ir->axis.at[axis].block;
        if (!bounds_of(o, axis, &g.lo[k], &g.hi[k]))
            return;
        g.at[k] = g.lo[k];
        g.step[k] = block > 0 ? block : 1;
        if (g.hi[k] <= g.lo[k])
            return;
        int64_t blocks = (g.hi[k] - g.lo[k] + g.step[k] - 1) / g.step[k];
        instances *= (double)blocks;
    }
    o->first_instance = o->instance + 2u > o->first_instance ? o->instance + 2u : o->first_instance;
    o->instance = o->first_instance;
    uint64_t before = o->ops;
    bool first = true;
    o->number = -1;
    do {
        o->number++;
        if (!chosen(&g))
            continue;
        for (unsigned k = 0; k < g.n; k++)
            open_axis(o, r->axes.at[k], g.at[k], g.hi[k]);
        forget_axes(o, region);
        o->symbol = 0;
        run_body(o, r);
        if (first)
            limit(o, &g, instances, before);
        first = false;
        o->instance++;
        if (o->instance > UINT32_MAX - 4u)
            twi_fail(o, "more instances than the oracle counts");
    } while (next_instance(&g) && !o->error);
    twi_close_atomics(o);
}

static void run_body(twi_oracle *o, const twi_region *r) {
    for (uint32_t k = 0; k < r->body.n && !o->error; k++) {
        twi_id v = r->body.at[k];
        const twi_ins *ins = &o->ir->ins.at[v];
        if (ins->op == TWI_PAR) {
            run_scope(o, ins->attr);
            continue;
        }
        if (ins->op == TWI_SERIAL) {
            run_serial(o, ins->attr);
            continue;
        }
        if (twi_op_row(ins->op)->kind == TWI_KIND_EFFECT) {
            twi_eval_store(o, v);
            continue;
        }
        if (ins->op == TWI_CARRY || !twi_tile_shape(o, &o->tile[v], ins->type.axes))
            continue;
        unsigned kind = twi_op_row(ins->op)->kind;
        o->ops += o->tile[v].total;
        if (ins->op == TWI_LOAD)
            twi_eval_load(o, v);
        else if (kind == TWI_KIND_FOLD || ins->op == TWI_PART)
            twi_eval_fold(o, v);
        else if (kind == TWI_KIND_ORDER)
            twi_eval_scan(o, v);
        else
            twi_eval_local(o, v);
    }
}

/* ---- entry ---- */

static void check_written(twi_oracle *o) {
    for (uint32_t a = 1; a < o->ir->array.n && !o->error && !o->sampled; a++) {
        const twi_array_state *s = &o->array[a];
        if (o->ir->array.at[a].role != TWI_OUT)
            continue;
        for (size_t k = 0; k < s->total; k++) {
            if (s->writer[k] != 0)
                continue;
            twi_sb at;
            size_t rest = s->total, flat = k;
            twi_sb_init(&at, o->arena);
            for (unsigned d = 0; d < s->rank; d++) {
                rest /= (size_t)s->extent[d];
                twi_sb_printf(&at, "%s%zu", d ? ", " : "", flat / rest);
                flat %= rest;
            }
            twi_fail(o, "%s[%s] is never written",
                     twi_text(&o->ir->ctx->names, o->ir->array.at[a].name), twi_sb_text(&at));
            break;
        }
    }
}

twi_oracle *twi_oracle_run(twi_arena *arena, const tw_ir *ir, const twi_oracle_in *in,
                           const twi_order *orders, size_t n_orders,
                           const twi_oracle_options *options) {
    twi_oracle *o = TWI_NEW(arena, twi_oracle);
    o->arena = arena;
    o->ir = ir;
    o->in = in;
    o->orders = orders;
    o->n_orders = n_orders;
    if (options)
        o->options = *options;
    if (!ir->specialised) {
        twi_fail(o, "the oracle needs a specialised program");
        return o;
    }
    twi_classes c = twi_classify(arena, ir, o->options.canonical);
    o->tile_axes = twi_axes_of_tiles(ir);
    o->tile = TWI_NEW_N(arena, twi_tile, ir->ins.n + 1u);
    o->shadow = TWI_NEW_N(arena, twi_tile, ir->ins.n + 1u);
    o->layout = TWI_NEW_N(arena, twi_layout *, ir->ins.n + 1u);
    o->array = TWI_NEW_N(arena, twi_array_state, ir->array.n + 1u);
    o->axis = TWI_NEW_N(arena, twi_axis_state, ir->axis.n + 1u);
    set_up_tiles(o, &c);
    for (uint32_t a = 1; a < ir->array.n && !o->error; a++)
        (void)set_up_array(o, a, c.array[a]);
    o->first_instance = 2;
    o->offending = -1;
    if (!o->error)
        run_body(o, &ir->region.at[1]);
    check_written(o);
    o->in = NULL;
    return o;
}

const char *twi_oracle_error(const twi_oracle *o) { return o->error; }

int64_t twi_oracle_offending(const twi_oracle *o) { return o->offending; }

uint64_t twi_orders_key(const twi_order *orders, size_t n) {
    uint64_t key = n;
    for (size_t k = 0; k < n; k++) {
        uint64_t h = twi_hash(&orders[k].fold, sizeof orders[k].fold, 1);
        if (orders[k].flushes)
            h = twi_hash(&orders[k].flushes, 1, h);
        if (orders[k].n == 0) /* of a scan */
            h = twi_hash(&orders[k].depth, sizeof orders[k].depth, h);
        for (unsigned d = 0; d < orders[k].n; d++) {
            const twi_order_digit *x = &orders[k].digit[d];
            int64_t field[4] = {x->axis, x->how, x->weight, x->extent};
            h = twi_hash(field, sizeof field, h);
        }
        key += h; /* in any order */
    }
    return key;
}
