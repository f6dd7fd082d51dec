/* SPDX-License-Identifier: Apache-2.0
 * Loads and stores of arrays: indices at the open digits, masks of guards, `else` and `when`,
 * width, alignment.
 */
#include "lower/walk.h"
#include "plan/atom.h"

typedef struct {
    twi_laccess access;
    twi_lid index[TWI_MAX_RANK];
    unsigned count;
    bool gathered; /* some index is a vector */
} form;

uint32_t twi_w_array_object(const twi_lowering *w, uint32_t array) {
    for (uint32_t o = 1; o < w->c.f->object.n; o++)
        if (w->c.f->object.at[o].kind == TWI_OBJ_ARRAY && w->c.f->object.at[o].array == array)
            return o;
    return 0;
}

/* By the tile IR's id: those of partial results are others in the module. */
static uint32_t array_object(const twi_lowering *w, uint32_t array) {
    return twi_w_array_object(w, array + (array >= w->module_arrays ? w->temps : 0));
}

/* Coefficient of the lane axis in x if x is affine in it and it stands in no other atom; false
 * otherwise. */
static bool lane_coefficient(const twi_lowering *w, twi_ix x, int64_t *coef) {
    twi_affine f = twi_ix_affine(w->ir, w->arena, x);
    *coef = 0;
    for (uint32_t k = 0; k < f.n; k++) {
        const twi_ix_node *n = &w->ir->ix.at[f.term[k].atom];
        if (!(n->axes >> w->lane_axis & 1))
            continue;
        if (n->op != TWI_IX_AXIS)
            return false;
        *coef = f.term[k].coef;
    }
    return true;
}

/* One dimension moves with the lanes, by one element a lane? Its number; -1 if none does, -2 if it
 * is not so simple. */
static int lane_dimension(const twi_lowering *w, twi_id id, unsigned rank) {
    const twi_access *a = &w->ir->access.at[twi_ins_of(w->ir, id)->attr];
    int dim = -1;
    for (unsigned d = 0; d < rank; d++) {
        int64_t coef;
        const twi_id tile = twi_gathered(w->ir, id, d);
        if (tile && w->lane_axis >= 0 && twi_ins_of(w->ir, tile)->type.axes >> w->lane_axis & 1)
            return -2;
        if (w->lane_axis < 0 || !(w->ir->ix.at[a->ix[d]].axes >> w->lane_axis & 1))
            continue;
        if (dim >= 0 || !lane_coefficient(w, a->ix[d], &coef) || coef != 1)
            return -2;
        dim = (int)d;
    }
    return dim;
}

/* Width and alignment: what is contiguous and what the entry's facts promise. */
static void align_access(const twi_lowering *w, form *f) {
    const twi_object *o = &w->c.f->object.at[f->access.object];
    size_t bytes = f->count * tw_elem_size((tw_elem)o->elem);
    if (!o->align || f->count == 1 || f->gathered || o->dynamic >> f->access.dim & 1 ||
        o->stride[f->access.dim] != 1 || bytes < o->align)
        return;
    /* every index step of the other dimensions is a multiple of the promised alignment by the
     * entry's facts; along `dim` the position is one of whole vectors only if the map starts at 0
     * and no digit lies below the lane */
    for (unsigned d = 0; d < o->rank;
         d++) /* strides known here may already say that the facts never hold */
        if (d != f->access.dim && !(o->dynamic >> d & 1) &&
            (uint64_t)o->stride[d] * tw_elem_size((tw_elem)o->elem) % o->align)
            return;
    const twi_axis *lane = &w->ir->axis.at[w->lane_axis];
    int64_t lo;
    if (twi_ix_is_const(w->ir, lane->lo, &lo) && lo == 0)
        f->access.align = (uint8_t)o->align;
}

static twi_lid subscript(twi_lowering *w, twi_id id, unsigned d, bool vector) {
    const twi_id tile = twi_gathered(w->ir, id, d);
    return tile ? twi_w_cast(w, TW_I64, twi_w_value(w, tile))
                : twi_w_eval(w, w->ir->access.at[twi_ins_of(w->ir, id)->attr].ix[d], vector);
}

static form access_form(twi_lowering *w, twi_id id, uint64_t axes) {
    const twi_access *a = &w->ir->access.at[twi_ins_of(w->ir, id)->attr];
    unsigned rank = w->ir->array.at[a->array].rank;
    form f = {.access = {.object = array_object(w, a->array)}};
    f.count = twi_w_value_count(w, axes);
    int dim = f.count > 1 ? lane_dimension(w, id, rank) : -1;
    f.gathered = f.count > 1 && dim < 0;
    f.access.dim = dim >= 0 ? (uint8_t)dim : rank ? (uint8_t)(rank - 1) : 0;
    for (unsigned d = 0; d < rank; d++)
        f.index[d] = subscript(w, id, d, f.gathered);
    if (f.gathered) { /* every index a scalar would mean neighbours: make one a vector */
        bool vector = false;
        for (unsigned d = 0; d < rank; d++)
            vector |= twi_w_count(w, f.index[d]) > 1;
        if (!vector && rank)
            f.index[0] = twi_w_splat(w, f.index[0], f.count);
    }
    const twi_ix_node *n = dim >= 0 ? &w->ir->ix.at[a->ix[dim]] : NULL;
    if (n && n->op == TWI_IX_AXIS)
        align_access(w, &f);
    const int box = twi_ins_of(w->ir, id)->op == TWI_LOAD ? twi_w_box_dimension(w, id) : -1;
    if (box >= 0) {
        f.access.dim = (uint8_t)box;
        f.count = twi_w_box(w, id);
    }
    return f;
}

/* Is the index of dimension d inside whatever the digits and the arrays hold? */
static bool surely_inside(const tw_ir *ir, const twi_access *a, unsigned d) {
    int64_t least, most, extent = 0;
    twi_ix_is_const(ir, ir->array.at[a->array].dim[d], &extent);
    return a->proof == TWI_ACCESS_PROVED ||
           (!a->gather[d] && twi_ix_range(ir, a->ix[d], &least, &most) && least >= 0 &&
            most < extent);
}

/* Each index that is not proved inside is tested. */
static twi_mask inside(twi_lowering *w, twi_id id, const form *f) {
    const twi_access *a = &w->ir->access.at[twi_ins_of(w->ir, id)->attr];
    const twi_array *array = &w->ir->array.at[a->array];
    twi_mask mask = {0, 0, 0};
    for (unsigned d = 0; d < array->rank; d++) {
        int64_t extent = 0;
        twi_ix_is_const(w->ir, array->dim[d], &extent);
        if (surely_inside(w->ir, a, d))
            continue;
        twi_lid i = f->count > 1 && !f->gathered && d == f->access.dim ? subscript(w, id, d, true)
                                                                       : f->index[d];
        twi_mask_and(w, &mask, twi_w_ix(w, TWI_GE, i, twi_w_int(w, 0)));
        twi_mask_and(w, &mask, twi_w_ix(w, TWI_LT, i, twi_w_int(w, extent)));
    }
    return mask;
}

/* A checked access that takes place (mask) and is not inside: the least instance is told. */
static void report_outside(twi_lowering *w, twi_id id, const form *f, const twi_mask *mask,
                           const twi_mask *in) {
    const uint64_t axes = twi_access_axes(w->ir, id) | twi_ins_of(w->ir, id)->type.axes;
    uint32_t object = 1;
    while (w->c.f->object.at[object].array != w->c.loop->status)
        object++;
    twi_lid within = twi_mask_bool(w, in, 1);
    if (!within)
        return;
    twi_lid bad = twi_w_ix(w, TWI_NOT, within, 0);
    twi_lid real = twi_mask_bool(w, mask, mask->count ? f->count : 1);
    bad = real ? twi_w_ix(w, TWI_AND, bad, real) : bad;
    twi_lid instance = twi_w_instance(w, axes), index = twi_w_int(w, 0);
    const unsigned count = twi_w_count(w, bad) > 1 ? twi_w_count(w, bad) : twi_w_count(w, instance);
    twi_laccess a = {.object = object, .merge = TWI_MIN, .mask = TWI_MASK_BOOL};
    index = twi_w_splat(w, index, count);
    twi_w_store(w, a, &index, twi_w_splat(w, instance, count), twi_w_splat(w, bad, count));
}

/* Tests the indices of an access: what is outside leaves the mask, and is told where nobody says
 * what stands there. */
static void keep_inside(twi_lowering *w, twi_id id, const form *f, twi_mask *mask) {
    const twi_mask in = inside(w, id, f);
    if (w->ir->access.at[twi_ins_of(w->ir, id)->attr].proof == TWI_ACCESS_CHECKED)
        report_outside(w, id, f, mask, &in);
    if (in.scalar)
        twi_mask_and(w, mask, in.scalar);
    if (in.vector)
        twi_mask_and(w, mask, in.vector);
}

/* What a checked load gives outside its array, in the storage type; 0: zero or false. */
static twi_lid outside_value(twi_lowering *w, tw_elem storage) {
    static const uint64_t nan[TW_ELEMS] = {[TW_F16] = 0x7e00,
                                           [TW_BF16] = 0x7fc0,
                                           [TW_F32] = 0x7fc00000,
                                           [TW_F64] = UINT64_C(0x7ff8000000000000)};
    return nan[storage] ? twi_w_const(w, storage, nan[storage], 0) : 0;
}

/* A wide access of one worker is whole or not at all unless its end is ragged. */
twi_lid twi_w_access_mask(twi_lowering *w, twi_laccess *access, unsigned count,
                          const twi_mask *mask) {
    bool counts = w->vectors ? mask->count || mask->scalar : mask->count != 0;
    if (count > 1 && !mask->vector && counts) {
        access->mask = TWI_MASK_COUNT;
        twi_lid n = mask->count ? mask->count : twi_w_int(w, count);
        if (!mask->scalar)
            return n;
        twi_lid zero = twi_w_int(w, 0);
        return twi_w_ix_select(w, mask->scalar, n, zero);
    }
    twi_lid b = twi_mask_bool(w, mask, w->vectors ? count : 1);
    if (b)
        access->mask = TWI_MASK_BOOL;
    return b;
}

/* ---- wide accesses of implicit lanes -----------------------------------------------------------
 */
/* The innermost digit of an axis is slots, and each of their elements is the next one in memory: a
 * worker moves `count` of them at once. Subscripts that are values may pick the row, which is
 * tested once for all of them. */
typedef struct {
    twi_run run;
    unsigned dim;
} wide;

int twi_innermost_digit(const twi_map *m) {
    int d = (int)m->n - 1;
    while (d >= 0 && m->d[d].extent == 1)
        d--;
    return d;
}

/* Does a dimension other than dim move with the axis? */
static bool elsewhere(const twi_lowering *w, twi_id v, unsigned dim, unsigned axis) {
    const twi_access *a = &w->ir->access.at[twi_ins_of(w->ir, v)->attr];
    uint64_t axes = 0;
    for (unsigned d = 0; d < w->ir->array.at[a->array].rank; d++)
        if (d != dim) {
            const twi_id tile = twi_gathered(w->ir, v, d);
            axes |= tile ? twi_ins_of(w->ir, tile)->type.axes : w->ir->ix.at[a->ix[d]].axes;
        }
    return axes >> axis & 1;
}

/* Are all strides but that of dim multiples of as many bytes? Run-time ones by the entry's facts.
 */
static bool strides_fit(const twi_object *o, unsigned dim, size_t bytes) {
    for (unsigned d = 0; d < o->rank; d++)
        if (d != dim && !(o->dynamic >> d & 1) &&
            (uint64_t)o->stride[d] * tw_elem_size((tw_elem)o->elem) % bytes)
            return false;
    return true;
}

/* Along dimension dim: the greatest power of two of elements that the facts and the map allow. */
static bool wide_along(const twi_lowering *w, twi_id v, const twi_object *o, unsigned dim,
                       wide *out) {
    const twi_access *a = &w->ir->access.at[twi_ins_of(w->ir, v)->attr];
    const twi_ix_node *n = &w->ir->ix.at[a->ix[dim]];
    size_t size = tw_elem_size((tw_elem)o->elem);
    int64_t lo;
    if (a->gather[dim] || n->op != TWI_IX_AXIS || o->dynamic >> dim & 1 || o->stride[dim] != 1 ||
        !surely_inside(w->ir, a, dim))
        return false;
    const twi_map *m = twi_w_map(w, n->a);
    int d = twi_innermost_digit(m);
    if (d < 0 || m->d[d].level != TWI_LV_SLOT || elsewhere(w, v, dim, n->a) ||
        !twi_ix_is_const(w->ir, w->ir->axis.at[n->a].lo, &lo))
        return false;
    size_t most = o->align < w->caps->access_bytes ? o->align : w->caps->access_bytes;
    unsigned count = 1;
    while (2 * count * size <= most && m->d[d].extent % (2 * count) == 0 &&
           lo % (2 * (int64_t)count) == 0)
        count *= 2;
    *out = (wide){{n->a, (unsigned)d, count}, dim};
    return count > 1 && strides_fit(o, dim, count * size);
}

static bool find_wide(const twi_lowering *w, twi_id v, wide *out) {
    const twi_ins *i = twi_ins_of(w->ir, v);
    const twi_access *a = &w->ir->access.at[i->attr];
    const twi_object *o = &w->c.f->object.at[array_object(w, a->array)];
    bool plain = (a->proof == TWI_ACCESS_PROVED || a->proof == TWI_ACCESS_CHECKED) &&
                 i->op != TWI_ATOMIC && twi_plain_args(w->ir, v) == (i->op == TWI_STORE ? 1 : 0);
    if (w->vectors || !o->align || !plain || o->elem == TW_BOOL)
        return false;
    for (unsigned d = 0; d < o->rank; d++)
        if (wide_along(w, v, o, d, out))
            return true;
    return false;
}

bool twi_w_is_wide(const twi_lowering *w, twi_id v) {
    wide at;
    return find_wide(w, v, &at);
}

/* The private object with an element a slot, in the storage type. */
void twi_w_make_buffer(twi_lowering *w, twi_id v) {
    const twi_access *a = &w->ir->access.at[twi_ins_of(w->ir, v)->attr];
    const twi_array *array = &w->ir->array.at[a->array];
    twi_object o = {.kind = TWI_OBJ_PRIVATE, .elem = array->elem, .count = 1, .name = array->name};
    o.rank = (uint8_t)twi_w_slot_index(w, twi_access_axes(w->ir, v), NULL, o.extent);
    w->buffer[v] = twi_lb_object(&w->c, &o);
}

/* Elements of the buffer at the open slots: one, or as many as follow along an axis. */
twi_laccess twi_w_buffer_access(twi_lowering *w, twi_id v, int axis, twi_lid *index) {
    uint64_t axes = twi_access_axes(w->ir, v);
    twi_laccess b = {.object = w->buffer[v]};
    twi_w_slot_index(w, axes, index, NULL);
    if (axis >= 0)
        b.dim = (uint8_t)twi_w_slot_index(w, axes & ((1ull << axis) - 1), NULL, NULL);
    return b;
}

void twi_w_open_run(twi_lowering *w, uint64_t axes, const twi_run *run) {
    const int64_t extent = twi_w_map(w, run->axis)->d[run->digit].extent;
    for (unsigned x = 0; x < w->ir->axis.n; x++)
        for (unsigned d = 0; axes >> x & 1 && d < twi_w_map(w, x)->n; d++)
            if (twi_w_map(w, x)->d[d].level == TWI_LV_SLOT && (x != run->axis || d != run->digit))
                twi_w_open(w, x, d);
    twi_lid part = twi_w_int(w, 0);
    if (extent > run->count)
        part = twi_w_unroll(w, (uint32_t)(extent / run->count));
    w->digit[run->axis][run->digit] = twi_w_ix(w, TWI_MUL, part, twi_w_int(w, run->count));
}

/* Opens the slots of an access; its form and mask there. */
static form open_wide(twi_lowering *w, twi_id v, const wide *at, twi_mask *mask) {
    const twi_access *a = &w->ir->access.at[twi_ins_of(w->ir, v)->attr];
    const uint64_t axes = twi_access_axes(w->ir, v);
    const twi_run *run = &at->run;
    twi_w_open_run(w, axes, run);
    form f = {.access = {.object = array_object(w, a->array), .dim = (uint8_t)at->dim}};
    f.count = run->count;
    f.access.align =
        (uint8_t)(run->count * tw_elem_size((tw_elem)w->c.f->object.at[f.access.object].elem));
    for (unsigned d = 0; d < w->ir->array.at[a->array].rank; d++)
        f.index[d] = subscript(w, v, d, false);
    int64_t all = twi_axis_extent(w->ir, run->axis);
    bool whole = all >= 0 && all % run->count == 0;
    twi_w_guard(w, whole ? axes : axes & ~(1ull << run->axis), mask);
    if (!whole && twi_w_guarded(w, run->axis))
        mask->count = twi_w_ix(w, TWI_SUB, twi_w_hi(w, run->axis), twi_w_position(w, run->axis));
    return f;
}

/* What a run behind a checked index holds where that is outside: from there on only runs that are
 * inside are fetched. */
static void fill_outside(twi_lowering *w, twi_id load, const twi_run *run, const form *f,
                         const twi_mask *mask) {
    const unsigned depth = twi_w_depth(w);
    const twi_mask in = inside(w, load, f);
    twi_lid index[TWI_MAX_RANK];
    tw_elem storage = (tw_elem)w->c.f->object.at[w->buffer[load]].elem;
    report_outside(w, load, f, mask, &in);
    if (!in.scalar)
        return;
    twi_lid other = outside_value(w, storage), digit = w->digit[run->axis][run->digit];
    if (!other)
        other = twi_w_const(w, storage, 0, 0);
    w->digit[run->axis][run->digit] = twi_w_ix(w, TWI_ADD, digit, twi_w_unroll(w, run->count));
    twi_laccess b = twi_w_buffer_access(w, load, -1, index);
    twi_w_store(w, b, index, other, 0);
    twi_w_shut(w, depth);
    w->digit[run->axis][run->digit] = digit;
    twi_w_if(w, in.scalar);
}

void twi_w_fetch(twi_lowering *w, twi_id load) {
    wide at;
    twi_lid index[TWI_MAX_RANK];
    twi_mask mask = {0, 0, 0};
    const unsigned depth = twi_w_depth(w);
    const uint32_t mark = twi_w_scope(w);
    if (!find_wide(w, load, &at))
        return;
    twi_w_make_buffer(w, load);
    form f = open_wide(w, load, &at, &mask);
    if (w->ir->access.at[twi_ins_of(w->ir, load)->attr].proof == TWI_ACCESS_CHECKED)
        fill_outside(w, load, &at.run, &f, &mask);
    twi_lid m = twi_w_access_mask(w, &f.access, f.count, &mask);
    twi_lid x = twi_w_load(w, f.access, f.index, f.count, m, 0);
    twi_w_store(w, twi_w_buffer_access(w, load, (int)at.run.axis, index), index, x, 0);
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
}

bool twi_w_run_of(const twi_lowering *w, twi_id load, twi_run *run) {
    wide at;
    if (!find_wide(w, load, &at))
        return false;
    *run = at.run;
    return true;
}

twi_lid twi_w_load_run(twi_lowering *w, twi_id load) {
    wide at;
    twi_mask mask = {0, 0, 0};
    if (!find_wide(w, load, &at))
        return 0;
    form f = open_wide(w, load, &at, &mask);
    twi_lid m = twi_w_access_mask(w, &f.access, f.count, &mask);
    return twi_w_load(w, f.access, f.index, f.count, m, 0);
}

void twi_w_flush(twi_lowering *w, twi_id store) {
    wide at;
    twi_lid index[TWI_MAX_RANK];
    twi_mask mask = {0, 0, 0};
    const unsigned depth = twi_w_depth(w);
    const uint32_t mark = twi_w_scope(w);
    if (!find_wide(w, store, &at))
        return;
    form f = open_wide(w, store, &at, &mask);
    twi_w_leader(w, twi_access_axes(w->ir, store), &mask);
    keep_inside(w, store, &f, &mask);
    twi_laccess b = twi_w_buffer_access(w, store, (int)at.run.axis, index);
    twi_lid x = twi_w_load(w, b, index, f.count, 0, 0);
    twi_lid m = twi_w_access_mask(w, &f.access, f.count, &mask);
    twi_w_store(w, f.access, f.index, x, m);
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
}

/* ---- loads and stores at the open digits -------------------------------------------------------
 */

/* Axes whose pads a load may fill with what stands at their end, since nobody looks at pads: one
 * address more costs less than a mask. Of explicit lanes, and where there is an end; a stage's pads
 * are zeros, checked accesses and `else` have values of their own. */
static uint64_t clamped_axes(const twi_lowering *w, twi_id load, uint64_t axes) {
    uint64_t set = 0;
    const twi_ins *i = twi_ins_of(w->ir, load);
    if (!w->vectors || w->copying || i->nargs ||
        w->ir->access.at[i->attr].proof != TWI_ACCESS_PROVED)
        return 0;
    for (unsigned a = 1; a < w->ir->axis.n; a++)
        if (axes >> a & 1 && (int)a != w->lane_axis && twi_axis_extent(w->ir, a) > 0 &&
            twi_w_guarded(w, a))
            set |= UINT64_C(1) << a;
    return set;
}

/* Bytes of an array; 0: not known. */
static uint64_t known_bytes(const twi_object *o) {
    uint64_t n = tw_elem_size((tw_elem)o->elem);
    for (unsigned d = 0; d < o->rank; d++)
        n = o->extent[d] > 0 && n <= UINT64_MAX / (uint64_t)o->extent[d]
                ? n * (uint64_t)o->extent[d]
                : 0;
    return n;
}

enum { LINE = 64, AHEAD = 4096, FAR = 4, KEPT = 8 }; /* bytes; times the cache; a part of it */

/* Vectors of neighbours in an array that is far more than the caches hold. */
static bool is_far(const twi_lowering *w, const form *f) {
    const twi_object *o = &w->c.f->object.at[f->access.object];
    return w->vectors && w->lane_axis >= 0 && f->count > 1 && o->kind == TWI_OBJ_ARRAY && o->rank &&
           !o->dynamic && o->stride[f->access.dim] == 1 && w->caps->cache_bytes &&
           known_bytes(o) > (uint64_t)FAR * w->caps->cache_bytes;
}

/* Does a value pick the row? Then what lies behind a row is none that comes next. */
static bool is_picked(const twi_lowering *w, twi_id load) {
    const twi_access *a = &w->ir->access.at[twi_ins_of(w->ir, load)->attr];
    bool is = false;
    for (unsigned d = 0; d < w->ir->array.at[a->array].rank; d++)
        is = is || a->gather[d];
    return is;
}

/* In how many phases a load has been walked, this one too. */
static uint32_t readings(twi_lowering *w, twi_id load) {
    twi_reading *r = &w->reading[load];
    if (r->last != w->phases)
        *r = (twi_reading){r->phases + 1, w->phases};
    return r->phases;
}

/* Elements behind a load of vectors that it asks for. The first phase that walks through far memory
 * asks for some in the same row, since what looks ahead in hardware ends with the page; the second,
 * which finds its row in a cache, for the next group's, so that it comes while this one computes.
 */
static uint32_t load_ahead(twi_lowering *w, twi_id load, const form *f) {
    const unsigned axis = (unsigned)w->lane_axis;
    if (!is_far(w, f) || is_picked(w, load))
        return 0;
    const int64_t size = (int64_t)tw_elem_size((tw_elem)w->c.f->object.at[f->access.object].elem);
    const int64_t run =
        twi_digits_extent(twi_w_map(w, axis), twi_time_digits(w->ir, w->frame, axis)) * w->lanes;
    const uint32_t phase = readings(w, load);
    const bool held = run * size <= w->caps->cache_bytes / KEPT;
    if (phase > 1 && held)
        return phase == 2 ? twi_w_elements_ahead(w, f->access.object, f->index, w->group, 1) : 0;
    return run * size > AHEAD ? (uint32_t)(AHEAD / size) : 0;
}

/* A box along the array ends where its axis does. */
static void guard_load(twi_lowering *w, twi_id load, uint64_t axes, twi_mask *mask) {
    const bool along = twi_w_box_dimension(w, load) >= 0;
    const unsigned boxed = along ? twi_boxed_axis(w->ir, w->frame, load) : 0;
    twi_w_guard(w, boxed ? axes & ~(UINT64_C(1) << boxed) : axes, mask);
    if (boxed && twi_w_guarded(w, boxed))
        mask->count = twi_w_ix(w, TWI_SUB, twi_w_hi(w, boxed), twi_w_position(w, boxed));
}

twi_lid twi_w_array_load(twi_lowering *w, twi_id load, bool raw) {
    const twi_ins *i = twi_ins_of(w->ir, load);
    twi_lid x;
    int stage = w->copying ? -1 : twi_w_stage_of(w, load);
    if (w->buffer[load] && !w->copying) {
        twi_lid index[TWI_MAX_RANK];
        twi_laccess b = twi_w_buffer_access(w, load, -1, index);
        x = twi_w_load(w, b, index, 1, 0, 0);
    } else if (stage >= 0) {
        x = twi_w_stage_load(w, (unsigned)stage);
    } else {
        uint64_t axes = twi_access_axes(w->ir, load);
        w->clamp = clamped_axes(w, load, axes);
        form f = access_form(w, load, axes);
        twi_mask mask = {0, 0, 0};
        axes &= ~w->clamp;
        w->clamp = 0;
        guard_load(w, load, axes, &mask);
        keep_inside(w, load, &f, &mask);
        twi_lid other = 0, m = twi_w_access_mask(w, &f.access, f.count, &mask);
        tw_elem storage = (tw_elem)w->c.f->object.at[f.access.object].elem;
        if (m && twi_plain_args(w->ir, load))
            other = twi_w_cast(w, storage, twi_w_value(w, twi_arg(w->ir, load, 0)));
        else if (m && w->ir->access.at[i->attr].proof == TWI_ACCESS_CHECKED)
            other = outside_value(w, storage);
        if (other) {
            other = twi_w_splat(w, other, f.count);
            f.access.has_else = true;
        }
        f.access.ahead = w->rows_loop ? twi_w_elements_ahead(w, f.access.object, f.index,
                                                             w->rows_loop, w->rows_ahead)
                                      : load_ahead(w, load, &f);
        x = twi_w_load(w, f.access, f.index, f.count, m, other);
    }
    return raw ? x : twi_w_cast(w, (tw_elem)i->type.elem, x);
}

bool twi_is_move(const twi_lowering *w, twi_id store) {
    twi_id v = twi_arg(w->ir, store, 0);
    const twi_ins *i = twi_ins_of(w->ir, v);
    if (i->op != TWI_LOAD || w->cut.value[v].kept || twi_ins_of(w->ir, store)->op == TWI_ATOMIC)
        return false;
    uint32_t to = w->ir->access.at[twi_ins_of(w->ir, store)->attr].array;
    uint32_t from = w->ir->access.at[i->attr].array;
    return w->ir->array.at[from].elem == w->ir->array.at[to].elem &&
           w->ir->array.at[from].elem != i->type.elem;
}

static twi_lid stored_value(twi_lowering *w, twi_id store, tw_elem storage) {
    twi_id v = twi_arg(w->ir, store, 0);
    return twi_is_move(w, store) ? twi_w_array_load(w, v, true)
                                 : twi_w_cast(w, storage, twi_w_value(w, v));
}

/* Into the buffer of a wide store. */
static void buffered_store(twi_lowering *w, twi_id store) {
    twi_lid index[TWI_MAX_RANK];
    if (!w->buffer[store])
        twi_w_make_buffer(w, store);
    twi_laccess b = twi_w_buffer_access(w, store, -1, index);
    tw_elem storage = (tw_elem)w->c.f->object.at[b.object].elem;
    twi_w_store(w, b, index, stored_value(w, store, storage), 0);
}

/* Explicit lanes into an array of no dimension: what merges is merged among the lanes first, so
 * that one element is; of plain stores at most one lane does its own, which is not known here. */
static void store_one_place(twi_lowering *w, twi_laccess access, twi_lid x, const twi_mask *mask) {
    static const uint8_t fold[] = {
        [TWI_ADD] = TWI_CUMSUM, [TWI_MIN] = TWI_FMIN, [TWI_MAX] = TWI_FMAX};
    const unsigned count = twi_w_count(w, x);
    const bool vector = mask->count || mask->vector;
    twi_lid real = twi_mask_bool(w, mask, vector ? count : 1);
    if (access.merge) {
        twi_lid none = twi_w_identity(w, fold[access.merge], (tw_elem)w->c.f->ins.at[x].elem);
        unsigned log = 0;
        while (1u << log < count)
            log++;
        x = twi_w_lane_fold(w, access.merge, vector ? twi_w_op(w, TWI_SELECT, real, x, none) : x, 0,
                            log);
        access.mask = mask->scalar ? TWI_MASK_BOOL : TWI_MASK_NONE;
        twi_w_store(w, access, NULL, x, mask->scalar);
        return;
    }
    access.mask = real ? TWI_MASK_BOOL : TWI_MASK_NONE;
    for (unsigned k = 0; k < count; k++)
        twi_w_store(w, access, NULL, twi_lb_extract(&w->c, x, k),
                    real ? twi_lb_extract(&w->c, real, k) : 0);
}

/* Does a store of vectors go past the caches? What it writes is far more than they hold, nothing
 * in the scope reads it, and lines of memory are filled one after the other: by whole vectors, or
 * by vectors whose neighbours follow in slots. */
static bool streams(const twi_lowering *w, twi_id store, const form *f) {
    const twi_object *o = &w->c.f->object.at[f->access.object];
    const size_t bytes = f->count * tw_elem_size((tw_elem)o->elem);
    const uint32_t array = w->ir->access.at[twi_ins_of(w->ir, store)->attr].array;
    if (!is_far(w, f) || f->access.merge || twi_scope_touches(&w->cut, array, TWI_LOAD))
        return false;
    const twi_map *m = twi_w_map(w, (unsigned)w->lane_axis);
    int d = (int)m->n - 1;
    while (d >= 0 && (m->d[d].extent == 1 || m->d[d].level == TWI_LV_LANE))
        d--;
    return bytes >= LINE || (bytes >= LINE / 2 && d >= 0 && m->d[d].level == TWI_LV_SLOT);
}

void twi_w_array_store(twi_lowering *w, twi_id store) {
    const twi_ins *i = twi_ins_of(w->ir, store);
    if (twi_w_is_wide(w, store)) {
        buffered_store(w, store);
        return;
    }
    uint64_t axes = twi_access_axes(w->ir, store);
    form f = access_form(w, store, axes);
    tw_elem storage = (tw_elem)w->c.f->object.at[f.access.object].elem;
    twi_lid x = stored_value(w, store, storage);
    twi_mask mask = {0, 0, 0};
    twi_w_guard(w, axes, &mask);
    twi_w_leader(w, axes, &mask);
    if (twi_plain_args(w->ir, store) > 1)
        twi_mask_and(w, &mask, twi_w_value(w, twi_arg(w->ir, store, 1)));
    keep_inside(w, store, &f, &mask);
    f.access.merge = w->ir->access.at[i->attr].atomic;
    if (f.count > 1 && w->c.f->object.at[f.access.object].rank == 0) {
        store_one_place(w, f.access, twi_w_splat(w, x, f.count), &mask);
        return;
    }
    twi_lid m = twi_w_access_mask(w, &f.access, f.count, &mask);
    f.access.stream = streams(w, store, &f);
    twi_w_store(w, f.access, f.index, twi_w_splat(w, x, f.count), m);
}
