/* SPDX-License-Identifier: Apache-2.0
 * The interpreter: recipes, groups, bodies. All workers take each instruction together; a mask says
 * who is active. Values of inactive workers are garbage and have no effect: only memory, barriers
 * and lane operations look at the mask.
 */
#include "loop/eval.h"
#include "loop/interp_run.h"

#include "base/context.h"

void twi_run_fault(twi_run *run, twi_fault_kind kind, twi_lid at, const char *format, ...) {
    twi_fault *fault = &run->result->fault;
    if (fault->kind != TWI_FAULT_NONE)
        return;
    fault->kind = kind;
    fault->func = run->func;
    fault->at = at;
    twi_sb text;
    twi_sb_init(&text, run->arena);
    va_list args;
    va_start(args, format);
    twi_sb_vprintf(&text, format, args);
    va_end(args);
    size_t n = text.n < sizeof fault->text - 1 ? text.n : sizeof fault->text - 1;
    memcpy(fault->text, text.at, n);
    fault->text[n] = 0;
}

const char *twi_run_text(const twi_run *run, twi_sym name, uint32_t id) {
    const char *text = name && run->loop->ctx ? twi_text(&run->loop->ctx->names, name) : "";
    return *text ? text : twi_format(run->arena, "object %u", id);
}

const char *twi_run_name(const twi_run *run, uint32_t object) {
    return twi_run_text(run, run->f->object.at[object].name, object);
}

/* ---- leaves ---- */

/* The same bits for all workers and elements. */
static void spread(twi_run *run, twi_lid v, uint64_t bits) {
    const twi_lins *i = &run->f->ins.at[v];
    size_t size = tw_elem_size((tw_elem)i->elem), n = (size_t)run->workers * i->count;
    unsigned char pattern[8];
    if (size == 1) {
        memset(run->value[v], (int)(bits & 255u), n);
        return;
    }
    uint16_t half = (uint16_t)bits;
    uint32_t word = (uint32_t)bits;
    memcpy(pattern,
           size == 2   ? (const void *)&half
           : size == 4 ? (const void *)&word
                       : &bits,
           size);
    unsigned char *to = run->value[v];
    for (size_t k = 0; k < n; k++)
        memcpy(to + k * size, pattern, size);
}

static void identifier(twi_run *run, twi_lid v) {
    uint32_t level = run->f->ins.at[v].attr;
    for (uint32_t w = 0; w < run->workers; w++)
        twi_run_set_index(run, v, w,
                          level == TWI_LV_GRID  ? run->group
                          : level == TWI_LV_SUB ? (int64_t)(w / run->lanes)
                                                : (int64_t)(w % run->lanes));
}

static void iota(twi_run *run, twi_lid v) {
    const twi_lins *i = &run->f->ins.at[v];
    int64_t *to = run->value[v];
    for (uint32_t w = 0; w < run->workers; w++)
        for (uint32_t e = 0; e < i->count; e++)
            to[w * (size_t)i->count + e] = e;
}

static void leaf(twi_run *run, twi_lid v) {
    const twi_lins *i = &run->f->ins.at[v];
    switch (i->op) {
    case TWI_L_LSCALAR:
        spread(run, v, run->scalars ? run->scalars[i->attr] : 0);
        break;
    case TWI_L_STRIDE:
        spread(run, v, (uint64_t)run->object[i->attr >> 4]->stride[i->attr & 15u]);
        break;
    case TWI_L_TRIP:
        spread(run, v, (uint64_t)run->trip[i->attr & 7u]);
        break;
    case TWI_L_ID:
        identifier(run, v);
        break;
    case TWI_L_IOTA:
        iota(run, v);
        break;
    default:
        break; /* constants were spread once */
    }
}

/* ---- structure ---- */

static void body(twi_run *run, twi_lid first);

static uint64_t count_active(const twi_run *run, const uint8_t *mask) {
    uint64_t n = 0;
    for (uint32_t w = 0; w < run->workers; w++)
        n += mask[w];
    return n;
}

/* Runs a body under a narrower mask. */
static void masked(twi_run *run, twi_lid first, const uint8_t *mask, uint64_t n) {
    const uint8_t *mask_before = run->mask;
    uint64_t active = run->active;
    bool full = run->full;
    run->mask = mask;
    run->active = n;
    run->full = n == run->workers;
    body(run, first);
    run->mask = mask_before;
    run->active = active;
    run->full = full;
}

static void branch(twi_run *run, twi_lid v) {
    const uint8_t *when = twi_run_arg(run, v, 0);
    twi_mark mark = twi_arena_mark(run->arena);
    uint8_t *mask = TWI_NEW_N(run->arena, uint8_t, run->workers);
    for (uint32_t w = 0; w < run->workers; w++)
        mask[w] = run->mask[w] && when[w];
    uint64_t n = count_active(run, mask);
    if (n)
        masked(run, run->f->ins.at[v].body, mask, n);
    twi_arena_reset(run->arena, mark);
}

static bool uniform(const twi_run *run, const int64_t *x, int64_t *common) {
    bool first = true;
    for (uint32_t w = 0; w < run->workers; w++)
        if (run->mask[w]) {
            if (!first && x[w] != *common)
                return false;
            *common = x[w];
            first = false;
        }
    return true;
}

/* Trips that differ from worker to worker. */
static void ragged_loop(twi_run *run, twi_lid v, const int64_t *lo, const int64_t *hi) {
    const twi_lins *i = &run->f->ins.at[v];
    twi_mark mark = twi_arena_mark(run->arena);
    uint8_t *mask = TWI_NEW_N(run->arena, uint8_t, run->workers);
    int64_t *at = TWI_NEW_N(run->arena, int64_t, run->workers);
    for (uint32_t w = 0; w < run->workers; w++) {
        mask[w] = run->mask[w] && lo[w] < hi[w];
        at[w] = lo[w];
    }
    for (uint64_t n; (n = count_active(run, mask)) > 0;) {
        for (uint32_t w = 0; w < run->workers; w++)
            twi_run_set_index(run, v, w, at[w]);
        masked(run, i->body, mask, n);
        for (uint32_t w = 0; w < run->workers; w++)
            if (mask[w]) {
                mask[w] = (uint64_t)hi[w] - (uint64_t)at[w] > i->attr;
                at[w] += mask[w] ? (int64_t)i->attr : 0;
            }
    }
    twi_arena_reset(run->arena, mark);
}

static void loop_body(twi_run *run, twi_lid v, int64_t k) {
    for (uint32_t w = 0; w < run->workers; w++)
        twi_run_set_index(run, v, w, k);
    body(run, run->f->ins.at[v].body);
}

static int64_t *bounds(twi_run *run, twi_lid v, unsigned k) {
    int64_t *to = TWI_NEW_N(run->arena, int64_t, run->workers);
    for (uint32_t w = 0; w < run->workers; w++)
        to[w] = twi_run_index(run, twi_larg(run->f, v, k), w);
    return to;
}

static void rolled(twi_run *run, twi_lid v) {
    const twi_lins *i = &run->f->ins.at[v];
    twi_mark mark = twi_arena_mark(run->arena); /* the body may overwrite nothing it reads, but
                                                   bounds that are its own index would move */
    int64_t *lo = bounds(run, v, 0);
    int64_t *hi = bounds(run, v, 1);
    int64_t first = 0, end = 0;
    if (!uniform(run, lo, &first) || !uniform(run, hi, &end)) {
        ragged_loop(run, v, lo, hi);
    } else {
        for (int64_t k = first; k < end; k += (int64_t)i->attr) {
            loop_body(run, v, k);
            if ((uint64_t)end - (uint64_t)k <= i->attr)
                break;
        }
    }
    twi_arena_reset(run->arena, mark);
}

/* ---- barriers ---- */

static void barrier(twi_run *run, twi_lid v) {
    bool group = run->f->ins.at[v].attr == TWI_SCOPE_GROUP;
    run->clock++;
    run->result->counts.barriers++;
    if (group) {
        if (!run->full)
            twi_run_fault(run, TWI_FAULT_DIVERGED, v,
                          "only %llu of %u workers reach a group barrier",
                          (unsigned long long)run->active, run->workers);
        run->group_time = run->clock;
        return;
    }
    for (uint32_t s = 0; s < run->subs; s++) {
        uint32_t n = 0;
        for (uint32_t l = 0; l < run->lanes; l++)
            n += run->mask[s * run->lanes + l];
        if (n && n < run->lanes)
            twi_run_fault(run, TWI_FAULT_DIVERGED, v,
                          "only %u of %u lanes of subgroup %u reach a subgroup barrier", n,
                          run->lanes, s);
        if (n)
            run->sub_time[s] = run->clock;
    }
}

/* ---- one instruction, one body ---- */

/* Counted by price; 4 more for arithmetic on i64 scalars, which is mostly addresses. */
static void count(twi_run *run, const twi_lins *i, const twi_lins *a) {
    unsigned price = twi_loop_row_of(i->op)->price;
    bool address = a->elem == TW_I64 && i->count == 1;
    run->result->counts.ops[price + (address ? 4u : 0u)] += run->active;
}

static void elementwise(twi_run *run, twi_lid v) {
    const twi_func *f = run->f;
    const twi_lins *i = &f->ins.at[v];
    const twi_lins *a = &f->ins.at[twi_larg(f, v, i->op == TWI_SELECT ? 1 : 0)];
    const void *x[3] = {NULL, NULL, NULL};
    for (unsigned k = 0; k < i->nargs && k < 3; k++)
        x[k] = twi_run_arg(run, v, k);
    const twi_rows rows = {run->value[v], x[0], x[1], x[2], (size_t)run->workers * i->count};
    count(run, i, a);
    if (!twi_eval(i->op, (tw_elem)i->elem, (tw_elem)a->elem, &rows))
        twi_run_fault(run, TWI_FAULT_OUTSIDE, v, "no meaning of %s on %s", twi_loop_op_name(i->op),
                      tw_elem_name((tw_elem)a->elem));
    if (run->shadow[v])
        twi_run_depth(run, v);
}

static void step(twi_run *run, twi_lid v) {
    const twi_lins *i = &run->f->ins.at[v];
    switch (i->op) {
    case TWI_L_FOR:
        rolled(run, v);
        break;
    case TWI_L_UNROLL:
        for (uint32_t k = 0; k < i->attr; k++)
            loop_body(run, v, k);
        break;
    case TWI_L_IF:
        branch(run, v);
        break;
    case TWI_L_LLOAD:
        twi_run_load(run, v);
        break;
    case TWI_L_LSTORE:
    case TWI_L_ASYNC_COPY:
        twi_run_store(run, v);
        break;
    case TWI_L_ASYNC_COMMIT:
        for (uint32_t w = 0; w < run->workers; w++)
            run->async[w].committed += run->mask[w];
        break;
    case TWI_L_ASYNC_WAIT:
        twi_run_async_wait(run, i->attr);
        break;
    case TWI_L_BARRIER:
        barrier(run, v);
        break;
    default:
        if (!twi_run_lanes(run, v))
            leaf(run, v);
        break;
    }
}

static void body(twi_run *run, twi_lid first) {
    for (twi_lid v = first; v; v = run->f->ins.at[v].next)
        if (twi_loop_elementwise(run->f->ins.at[v].op))
            elementwise(run, v);
        else
            step(run, v);
}

/* ---- functions, recipes ---- */

static bool tracked(const twi_larray *a) { return a->role != TWI_IN; }

static int64_t product(const int64_t *extent, unsigned rank) {
    int64_t n = 1;
    for (unsigned d = 0; d < rank; d++)
        n *= extent[d] > 0 ? extent[d] : 0;
    return n;
}

static twi_store *object_store(twi_run *run, uint32_t id) {
    const twi_object *o = &run->f->object.at[id];
    twi_store *s = TWI_NEW(run->arena, twi_store);
    s->size = product(o->extent, o->rank);
    memcpy(s->stride, o->stride, sizeof s->stride);
    if (o->kind == TWI_OBJ_ARRAY) {
        *s = run->array[o->array];
        for (unsigned d = 0; d < o->rank; d++)
            if (!(o->dynamic >> d & 1u))
                s->stride[d] = o->stride[d];
        return s;
    }
    s->span = s->size ? 1 : 0;
    for (unsigned d = 0; d < o->rank && s->size; d++)
        s->span += (o->extent[d] - 1) * o->stride[d];
    size_t copies = o->kind == TWI_OBJ_SHARED ? 1 : run->workers;
    size_t bytes = tw_elem_size((tw_elem)o->elem) * o->count;
    s->data = twi_alloc_n(run->arena, copies * (size_t)s->span, bytes);
    if (o->kind == TWI_OBJ_SHARED)
        s->cell = TWI_NEW_N(run->arena, twi_cell, (size_t)s->size);
    else
        s->serial = TWI_NEW_N(run->arena, uint32_t, copies * (size_t)s->size);
    return s;
}

static void values(twi_run *run, twi_lid first) {
    for (twi_lid v = first; v; v = run->f->ins.at[v].next) {
        const twi_lins *i = &run->f->ins.at[v];
        if (i->count)
            run->value[v] = twi_alloc_n(run->arena, (size_t)run->workers * i->count,
                                        tw_elem_size((tw_elem)i->elem));
        if (i->op == TWI_L_LCONST)
            spread(run, v, run->f->constant.at[i->attr]);
        values(run, i->body);
    }
}

static void enter(twi_run *run, uint32_t func) {
    const twi_func *f = &run->loop->func.at[func];
    run->func = func;
    run->f = f;
    run->lanes = f->explicit_lanes ? 1 : f->lanes;
    run->subs = f->explicit_lanes ? 1 : f->subs;
    run->workers = run->lanes * run->subs;
    run->value = TWI_NEW_N(run->arena, void *, f->ins.n);
    run->shadow = TWI_NEW_N(run->arena, twi_shadow *, f->ins.n);
    run->object = TWI_NEW_N(run->arena, twi_store *, f->object.n);
    run->sub_time = TWI_NEW_N(run->arena, uint32_t, run->subs);
    run->async = TWI_NEW_N(run->arena, twi_async, run->workers);
    run->bank_word = TWI_NEW_N(run->arena, uint32_t, TWI_BANK_SLOTS);
    run->bank_stamp = TWI_NEW_N(run->arena, uint32_t, TWI_BANK_SLOTS);
    run->stamp = 0;
    for (uint32_t k = 1; k < f->object.n; k++)
        run->object[k] = object_store(run, k);
    values(run, f->first);
    twi_run_depth_plan(run);
}

static void launch(twi_run *run, const twi_step_do *s) {
    twi_mark mark = twi_arena_mark(run->arena);
    enter(run, s->func);
    uint8_t *all = TWI_NEW_N(run->arena, uint8_t, run->workers);
    memset(all, 1, run->workers);
    run->mask = all;
    run->full = true;
    run->active = run->workers;
    run->launch_time = ++run->clock;
    for (int64_t g = 0; g < s->grid; g++) {
        run->group = g;
        run->serial++;
        run->group_time = run->shared_time = ++run->clock;
        memset(run->async, 0, run->workers * sizeof *run->async);
        body(run, run->f->first);
    }
    run->clock++;
    for (uint32_t k = 1; k < run->f->object.n; k++) /* what stores left beside arrays stays */
        if (run->f->object.at[k].kind == TWI_OBJ_ARRAY)
            run->array[run->f->object.at[k].array].shadowed = run->object[k]->shadowed;
    twi_arena_reset(run->arena, mark);
}

static void fill(twi_run *run, uint32_t id) {
    const twi_larray *a = &run->loop->array.at[id];
    const twi_interp_array *to = &run->arrays[id];
    twi_store *s = &run->array[id];
    size_t size = tw_elem_size((tw_elem)a->elem);
    uint8_t bytes[8];
    uint16_t half = (uint16_t)a->fill;
    uint32_t word = (uint32_t)a->fill;
    bytes[0] = (uint8_t)a->fill;
    if (size > 1)
        memcpy(bytes,
               size == 2   ? (const void *)&half
               : size == 4 ? (const void *)&word
                           : &a->fill,
               size);
    int64_t at[TWI_MAX_RANK] = {0};
    for (int64_t k = 0; k < s->size; k++) {
        int64_t offset = 0;
        for (unsigned d = 0; d < a->rank; d++)
            offset += at[d] * to->stride[d];
        memcpy(s->data + offset * (int64_t)size, bytes, size);
        if (s->cell)
            s->cell[k] = (twi_cell){.writer = TWI_FILLER};
        for (unsigned d = a->rank; d-- > 0 && ++at[d] == a->extent[d];)
            at[d] = 0;
    }
}

static uint32_t end_of(const twi_entry *e, uint32_t from) {
    uint32_t depth = 1, k = from;
    while (k < e->recipe.n && depth) {
        depth += e->recipe.at[k].what == TWI_DO_LOOP;
        depth -= e->recipe.at[k].what == TWI_DO_END;
        k++;
    }
    return k;
}

static void recipe(twi_run *run, const twi_entry *e, uint32_t from, uint32_t end) {
    for (uint32_t k = from; k < end; k++) {
        const twi_step_do *s = &e->recipe.at[k];
        if (s->what == TWI_DO_LAUNCH) {
            launch(run, s);
        } else if (s->what == TWI_DO_FILL) {
            fill(run, s->array);
        } else if (s->what == TWI_DO_LOOP) {
            uint32_t stop = end_of(e, k + 1);
            unsigned depth = run->depth_of_trips++ & 7u;
            for (int64_t trip = s->lo; trip < s->hi; trip++) {
                run->trip[depth] = trip;
                recipe(run, e, k + 1, stop - 1);
            }
            run->depth_of_trips--;
            k = stop - 1;
        }
    }
}

static void array_stores(twi_run *run) {
    run->array = TWI_NEW_N(run->arena, twi_store, run->loop->array.n);
    for (uint32_t k = 1; k < run->loop->array.n; k++) {
        const twi_larray *a = &run->loop->array.at[k];
        twi_store *s = &run->array[k];
        s->data = run->arrays[k].data;
        s->size = product(a->extent, a->rank);
        for (unsigned d = 0; d < a->rank; d++)
            s->stride[d] = run->arrays[k].stride[d];
        if (tracked(a))
            s->cell = TWI_NEW_N(run->arena, twi_cell, (size_t)s->size);
        for (int64_t e = 0; a->role == TWI_INOUT && e < s->size; e++)
            s->cell[e].writer = TWI_FILLER;
        if (tracked(a) && twi_run_array_shadow(run->loop, k))
            s->shadow = TWI_NEW_N(run->arena, twi_shadow, (size_t)s->size);
    }
}

void twi_interp_run(const twi_loop *loop, uint32_t entry, const twi_interp_array *arrays,
                    const uint64_t *scalars, twi_arena *arena, twi_interp_result *result) {
    uint32_t folds = 1;
    for (uint32_t f = 0; f < loop->func.n; f++)
        for (uint32_t v = 1; v < loop->func.at[f].ins.n; v++)
            if (loop->func.at[f].ins.at[v].fold >= folds)
                folds = loop->func.at[f].ins.at[v].fold + 1;
    *result = (twi_interp_result){.folds = folds};
    result->depth = TWI_NEW_N(arena, uint32_t, folds);
    result->counts.loads = TWI_NEW_N(arena, uint64_t, loop->array.n);
    result->counts.stores = TWI_NEW_N(arena, uint64_t, loop->array.n);
    twi_mark mark = twi_arena_mark(arena);
    twi_run run = {
        .loop = loop, .arena = arena, .arrays = arrays, .scalars = scalars, .result = result};
    array_stores(&run);
    const twi_entry *e = &loop->entry.at[entry];
    recipe(&run, e, 0, e->recipe.n);
    twi_run_missing(&run);
    twi_arena_reset(arena, mark);
}
