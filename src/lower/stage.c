/* SPDX-License-Identifier: Apache-2.0
 * Stages: a tile of an array in an addressed object, its digits from slow to fast, before them its
 * versions. Filled where the digits that it does not hold are open; elements beyond an extent are
 * written as the load's value there (0, or `else`). When it is filled: window.c.
 */
#include "lower/walk.h"
#include "plan/atom.h"

static uint64_t load_axes(const twi_lowering *w, const twi_stage_plan *s) {
    return twi_ins_of(w->ir, s->value)->type.axes;
}

static const twi_digit *digit_of(const twi_lowering *w, const twi_stage_plan *s, unsigned k) {
    return &twi_w_map(w, s->order[k].axis)->d[s->order[k].digit];
}

/* A dimension of a stage's object: digits of one axis that follow each other in its map. On
 * explicit lanes each digit is one, or lanes and the boxes of each; on implicit lanes as many as
 * stand together in the order. */
typedef struct {
    unsigned axis, first; /* first: its place in the order */
    uint8_t digits;       /* set */
    int64_t weight, extent;
} part;

/* Parts from slow to fast; how many. */
static unsigned parts_of(const twi_lowering *w, const twi_stage_plan *s, part *out) {
    unsigned n = 0;
    for (unsigned k = 0; k < s->n; k++) {
        const unsigned axis = s->order[k].axis, d = s->order[k].digit;
        const int64_t extent = digit_of(w, s, k)->extent,
                      weight = twi_map_weight(twi_w_map(w, axis), d);
        part *last = n ? &out[n - 1] : NULL;
        if (k && digit_of(w, s, k)->level == TWI_LV_ATOM &&
            digit_of(w, s, k - 1)->level == TWI_LV_LANE) {
            last->extent *= extent;
        } else if (last && !w->vectors && last->axis == axis && last->weight == weight * extent) {
            last->digits |= (uint8_t)(1u << d);
            last->weight = weight;
            last->extent *= extent;
        } else {
            out[n++] = (part){axis, k, (uint8_t)(1u << d), weight, extent};
        }
    }
    return n;
}

int twi_w_stage_level(const twi_lowering *w, unsigned stage, const twi_axis_digit *loops,
                      unsigned n) {
    const twi_stage_plan *s = &w->plan->stage[stage];
    int level = 0;
    for (unsigned k = 0; k < n; k++)
        if (load_axes(w, s) >> loops[k].axis & 1 &&
            !twi_stage_holds(s, loops[k].axis, loops[k].digit))
            level = (int)k + 1;
    return level;
}

bool twi_w_stage_around(const twi_lowering *w, unsigned stage) {
    uint64_t axes = load_axes(w, &w->plan->stage[stage]);
    for (unsigned a = 1; a < w->ir->axis.n; a++)
        if (axes >> a & 1 && twi_map_is_serial(twi_w_map(w, a)))
            return false;
    return true;
}

/* Is the explicit lane digit the stage's fastest, but for boxes? Then rows are read and written as
 * vectors. */
static bool lane_is_last(const twi_lowering *w, const twi_stage_plan *s) {
    const unsigned boxes = s->n > 1 && digit_of(w, s, s->n - 1u)->level == TWI_LV_ATOM;
    return s->n > 0 && digit_of(w, s, s->n - 1u - boxes)->level == TWI_LV_LANE;
}

static twi_object tile_object(const twi_lowering *w, const twi_stage_plan *s) {
    const twi_access *a = &w->ir->access.at[twi_ins_of(w->ir, s->value)->attr];
    twi_object o = {
        .kind = s->shared ? TWI_OBJ_SHARED : TWI_OBJ_SCRATCH, .count = 1, .swizzle = s->swizzle};
    o.elem = w->ir->array.at[a->array].elem;
    o.name = twi_ins_of(w->ir, s->value)->name;
    part p[TWI_MAX_LOOPS];
    const unsigned n = parts_of(w, s, p), first = s->window > 1;
    o.rank = (uint8_t)(first + n);
    int64_t stride = 1;
    for (unsigned k = n; k-- > 0;) {
        if (k + 1u < n && p[k].axis != p[n - 1].axis && p[k + 1].axis == p[n - 1].axis)
            stride += s->pad;
        o.extent[first + k] = p[k].extent;
        o.stride[first + k] = stride;
        stride *= p[k].extent;
    }
    if (first) {
        o.extent[0] = s->window;
        o.stride[0] = stride;
    }
    return o;
}

/* The open trip's version, where there are several: dimensions taken. */
static unsigned version_index(twi_lowering *w, const twi_stage_plan *s, twi_lid *index) {
    twi_axis_digit trip;
    if (s->window == 1 || !twi_stage_trip(w->ir, w->frame, s, &trip))
        return 0;
    const twi_lid t = w->digit[trip.axis][trip.digit]; /* of a single trip there is no loop */
    index[0] = t ? twi_w_ix(w, TWI_IMOD, t, twi_w_int(w, s->window)) : twi_w_int(w, 0);
    return 1;
}

/* Index of the open digits; the explicit lane's part is 0 where rows are vectors, else the lanes'
 * numbers. */
static void stage_index(twi_lowering *w, const twi_stage_plan *s, twi_lid *index) {
    part p[TWI_MAX_LOOPS];
    const unsigned n = parts_of(w, s, p);
    index += version_index(w, s, index);
    for (unsigned k = 0; k < n; k++) {
        if (digit_of(w, s, p[k].first)->level == TWI_LV_ATOM)
            index[k] = twi_w_int(w, 0);
        else if (w->vectors && digit_of(w, s, p[k].first)->level == TWI_LV_LANE)
            index[k] =
                lane_is_last(w, s) ? twi_w_int(w, 0) : twi_w_leaf(w, TWI_L_IOTA, w->lanes, 0);
        else
            index[k] = twi_w_number(w, p[k].axis, p[k].digits);
    }
}

static twi_laccess stage_access(const twi_lowering *w, uint32_t object) {
    const unsigned rank = w->c.f->object.at[object].rank;
    return (twi_laccess){.object = object, .dim = (uint8_t)(rank ? rank - 1 : 0)};
}

/* Does it hold boxes of several groups, of lanes? */
static bool has_groups(const twi_lowering *w, const twi_stage_plan *s) {
    const tw_elem elem =
        (tw_elem)w->ir->array.at[w->ir->access.at[twi_ins_of(w->ir, s->value)->attr].array].elem;
    const unsigned box = twi_w_box(w, s->value);
    return w->vectors && twi_w_value_count(w, load_axes(w, s)) > 1 && box > 1 &&
           box > twi_atom_group(elem);
}

static void into_tile(twi_lowering *w, twi_laccess to, const twi_lid *index, twi_lid x) {
    if (w->async)
        twi_w_async_copy(w, to, index, x);
    else
        twi_w_store(w, to, index, x, 0);
}

/* Boxes of lanes that lie along rows, all groups at once. */
static void copy_lanes_turned(twi_lowering *w, const twi_stage_plan *s, uint32_t object) {
    const twi_laccess to = stage_access(w, object);
    twi_lid index[TWI_MAX_LOOPS], box[TWI_MAX_TURN];
    twi_w_box_groups(w, s->value, box);
    stage_index(w, s, index);
    for (unsigned k = 0; k < w->lanes; k++) {
        index[to.dim] = twi_w_int(w, k * twi_w_count(w, box[k]));
        into_tile(w, to, index, box[k]);
    }
}

/* Boxes of lanes, group by group: that is how they lie. */
static void copy_groups(twi_lowering *w, const twi_stage_plan *s, uint32_t object) {
    if (twi_w_box_lies_along(w, s->value)) {
        copy_lanes_turned(w, s, object);
        return;
    }
    const unsigned group = twi_atom_group((tw_elem)w->c.f->object.at[object].elem);
    const unsigned n = twi_w_box(w, s->value) / group, depth = twi_w_depth(w);
    const twi_laccess to = stage_access(w, object);
    twi_lid index[TWI_MAX_LOOPS];
    const twi_lid at = twi_w_for(w, twi_w_int(w, 0), twi_w_int(w, n), 1);
    const twi_lid x =
        twi_w_box_rows(w, s->value, twi_w_ix(w, TWI_MUL, at, twi_w_int(w, group)), group);
    stage_index(w, s, index);
    index[to.dim] = twi_w_ix(w, TWI_MUL, at, twi_w_int(w, twi_w_count(w, x)));
    into_tile(w, to, index, x);
    twi_w_shut(w, depth);
}

static void copy_element(twi_lowering *w, const twi_stage_plan *s, uint32_t object) {
    twi_lid index[TWI_MAX_LOOPS];
    uint32_t mark = twi_w_scope(w);
    if (has_groups(w, s)) {
        copy_groups(w, s, object);
        twi_w_forget(w, mark);
        return;
    }
    twi_lid x = twi_w_box(w, s->value) > 1 ? twi_w_box_load(w, s->value)
                                           : twi_w_array_load(w, s->value, true);
    stage_index(w, s, index);
    into_tile(w, stage_access(w, object), index, x);
    twi_w_forget(w, mark);
}

/* Lanes are parts of a vector, a box is moved as a whole. */
static bool is_opened(const twi_digit *d) {
    return d->level != TWI_LV_LANE && d->level != TWI_LV_ATOM;
}

/* Opens the digits of one axis that the stage holds, most significant first. */
static void open_axis(twi_lowering *w, const twi_stage_plan *s, unsigned axis) {
    for (unsigned d = 0; d < twi_w_map(w, axis)->n; d++)
        if (twi_stage_holds(s, axis, d) && is_opened(&twi_w_map(w, axis)->d[d]))
            twi_w_open(w, axis, d);
}

/* Boxes that lie across rows, as many at once as a vector of such a row has elements. */
static void copy_turned(twi_lowering *w, const twi_stage_plan *s, uint32_t object,
                        const twi_turn *t) {
    const unsigned depth = twi_w_depth(w);
    twi_lid index[TWI_MAX_LOOPS], box[TWI_MAX_TURN], *digit = &w->digit[t->axis][t->digit];
    for (unsigned k = 0; k < s->n; k++)
        if (is_opened(digit_of(w, s, k)) &&
            !(s->order[k].axis == t->axis && s->order[k].digit == t->digit))
            twi_w_open(w, s->order[k].axis, s->order[k].digit);
    const int64_t parts = twi_w_map(w, t->axis)->d[t->digit].extent / t->lanes;
    const twi_lid number = twi_w_for(w, twi_w_int(w, 0), twi_w_int(w, parts), 1);
    const twi_lid first = twi_w_ix(w, TWI_MUL, number, twi_w_int(w, t->lanes));
    *digit = first;
    twi_w_box_turned(w, s->value, t, box);
    for (unsigned k = 0; k < t->lanes; k++) {
        *digit = twi_w_ix(w, TWI_ADD, first, twi_w_int(w, k));
        stage_index(w, s, index);
        into_tile(w, stage_access(w, object), index, box[k]);
    }
    twi_w_shut(w, depth);
}

/* One worker a group: a loop a digit. Vectors are read as they lie in memory, so that the machine
 * sees what comes next: the lane's axis inside the others. What it does not see, where rows are
 * far from each other, is asked for some rows ahead. */
static void copy_alone(twi_lowering *w, const twi_stage_plan *s, uint32_t object) {
    unsigned depth = twi_w_depth(w);
    bool vectors = w->lane_axis >= 0 && load_axes(w, s) >> w->lane_axis & 1;
    twi_turn turn;
    if (twi_w_box_lies_across(w, s->value, &turn)) {
        copy_turned(w, s, object, &turn);
        return;
    }
    for (unsigned k = 0; k < s->n && !vectors; k++)
        if (is_opened(digit_of(w, s, k)))
            twi_w_open(w, s->order[k].axis, s->order[k].digit);
    for (unsigned a = 1; a < w->ir->axis.n && vectors; a++)
        if ((int)a != w->lane_axis && load_axes(w, s) >> a & 1)
            open_axis(w, s, a);
    w->rows_loop = vectors && twi_w_depth(w) > depth ? twi_w_inner_loop(w) : 0;
    w->rows_ahead = (s->ahead + twi_w_box(w, s->value) - 1) / twi_w_box(w, s->value);
    if (vectors)
        open_axis(w, s, (unsigned)w->lane_axis);
    copy_element(w, s, object);
    w->rows_loop = 0;
    twi_w_shut(w, depth);
}

/* Sets the digits of a part to one number: its lightest stands for all. */
static void open_part(twi_lowering *w, const part *p, twi_lid number) {
    const twi_map *m = twi_w_map(w, p->axis);
    for (unsigned d = 0; d < m->n; d++)
        if (p->digits >> d & 1)
            w->digit[p->axis][d] =
                twi_map_weight(m, d) == p->weight && m->d[d].extent > 1 ? number : twi_w_int(w, 0);
}

/* All workers, one element each in turn, in stage order. */
static void copy_together(twi_lowering *w, const twi_stage_plan *s, uint32_t object) {
    int64_t elements = 1, workers = (int64_t)w->subs * w->lanes;
    twi_lid(*digit)[TWI_MAX_DIGITS] = w->digit;
    part p[TWI_MAX_LOOPS];
    const unsigned n = parts_of(w, s, p);
    for (unsigned k = 0; k < n; k++)
        elements *= p[k].extent;
    w->digit = twi_copy(w->arena, digit, TWI_MAX_AXES * sizeof *digit);
    unsigned depth = twi_w_depth(w);
    int64_t rounds = (elements + workers - 1) / workers;
    twi_lid worker =
        twi_w_ix(w, TWI_MUL, twi_w_leaf(w, TWI_L_ID, 1, TWI_LV_SUB), twi_w_int(w, w->lanes));
    worker = twi_w_ix(w, TWI_ADD, worker, twi_w_leaf(w, TWI_L_ID, 1, TWI_LV_LANE));
    twi_lid i = twi_w_for(w, twi_w_int(w, 0), twi_w_int(w, rounds), 1);
    twi_lid e = twi_w_ix(w, TWI_ADD, twi_w_ix(w, TWI_MUL, i, twi_w_int(w, workers)), worker);
    if (elements % workers)
        twi_w_if(w, twi_w_ix(w, TWI_LT, e, twi_w_int(w, elements)));
    int64_t stride = 1;
    for (unsigned k = n; k-- > 0;) {
        twi_lid q = twi_w_ix(w, TWI_IDIV, e, twi_w_int(w, stride));
        open_part(w, &p[k], k ? twi_w_ix(w, TWI_IMOD, q, twi_w_int(w, p[k].extent)) : q);
        stride *= p[k].extent;
    }
    copy_element(w, s, object);
    twi_w_shut(w, depth);
    w->digit = digit;
}

/* ---- copies by their own maps ---- */

/* The frame in force with the tile's digits in the copy's way: grid and serial digits stay. */
static twi_frame *copy_frame(twi_lowering *w, const twi_stage_plan *s) {
    twi_frame *f = TWI_NEW(w->arena, twi_frame);
    *f = twi_frame_copy(w->arena, w->frame);
    f->axes &= load_axes(w, s);
    f->loops = 0;
    for (unsigned a = 0; a < w->ir->axis.n; a++) {
        twi_map *m = &f->map[a];
        if (!(s->copy_axes >> a & 1))
            continue;
        while (m->n && twi_stage_holds(s, a, m->n - 1u))
            m->n--;
        for (unsigned d = 0; d < s->copy[a].n; d++)
            m->d[m->n++] = s->copy[a].d[d];
    }
    return f;
}

/* A worker's part of the copy at its open digits: `take` reads it into the worker's buffer, `put`
 * writes it to the tile. */
typedef struct {
    const twi_stage_plan *stage;
    uint32_t object;
    part part[TWI_MAX_LOOPS];
    unsigned n;
    twi_run run; /* what is written at once: of several elements, if `runs` */
    bool runs;
} copy;

/* x % extent of a multiple of `unit`, which the extent is too: counted in units, so that whoever
 * reads the code sees that a whole unit follows. */
static twi_lid rest(twi_lowering *w, twi_lid x, int64_t extent, int64_t unit) {
    const twi_lid q = twi_w_ix(w, TWI_IDIV, x, twi_w_int(w, unit));
    return twi_w_ix(w, TWI_MUL, twi_w_ix(w, TWI_IMOD, q, twi_w_int(w, extent / unit)),
                    twi_w_int(w, unit));
}

/* q / weight % extent of the tile's position q on the part's axis: digit by digit where one of the
 * tile is made of whole parts of the copy's. `unit`: elements that are moved at once from q on; of
 * the fastest part alone more than one. */
static twi_lid tile_digit(twi_lowering *w, const part *p, unsigned first, int64_t unit) {
    const twi_map *m = twi_w_map(w, p->axis);
    const int64_t weight = p->weight, top = weight * p->extent;
    twi_lid sum = twi_w_int(w, 0), whole = sum;
    bool parts = true;
    for (unsigned d = first; d < m->n; d++) {
        int64_t own = twi_map_weight(m, d), end = own * m->d[d].extent;
        twi_lid c = w->digit[p->axis][d];
        if (m->d[d].extent == 1)
            continue;
        whole = twi_w_ix(w, TWI_ADD, whole, twi_w_ix(w, TWI_MUL, c, twi_w_int(w, own)));
        parts =
            parts && (own % weight == 0 || weight % own == 0) && (own % top == 0 || top % own == 0);
        if (!parts || own >= top || end <= weight)
            continue;
        if (end > top)
            c = rest(w, c, top / own, own == 1 ? unit : 1);
        c = own >= weight ? twi_w_ix(w, TWI_MUL, c, twi_w_int(w, own / weight))
                          : twi_w_ix(w, TWI_IDIV, c, twi_w_int(w, weight / own));
        sum = twi_w_ix(w, TWI_ADD, sum, c);
    }
    return parts ? sum
                 : rest(w, twi_w_ix(w, TWI_IDIV, whole, twi_w_int(w, weight)), p->extent, unit);
}

/* The first digit of an axis that is the copy's own. */
static unsigned own_digits(const twi_lowering *w, const twi_stage_plan *s, unsigned axis) {
    return twi_w_map(w, axis)->n - s->copy[axis].n;
}

/* Index of the copy's open digits in the parts of the tile, for `count` elements in a row. */
static void copied_index(twi_lowering *w, const copy *c, unsigned count, twi_lid *index) {
    index += version_index(w, c->stage, index);
    for (unsigned k = 0; k < c->n; k++) {
        const part *p = &c->part[k];
        index[k] = tile_digit(w, p, own_digits(w, c->stage, p->axis), k + 1 == c->n ? count : 1);
    }
}

/* Those of the copy alone: loops around, of the tile's axes and of others, are open. */
static void open_copy(twi_lowering *w, const twi_stage_plan *s, unsigned level) {
    for (unsigned a = 0; a < w->ir->axis.n; a++)
        for (unsigned d = own_digits(w, s, a); (s->copy_axes >> a & 1) && d < twi_w_map(w, a)->n;
             d++)
            if (twi_w_map(w, a)->d[d].level == level)
                twi_w_open(w, a, d);
}

/* Elements that lie next to each other in the stage: `extent` of them start at each multiple of it.
 * As many as one access moves, all strides keep aligned and a swizzle keeps together; false: one.
 */
static bool run_of(const twi_lowering *w, const twi_object *o, int64_t extent, twi_run *run) {
    const int64_t size = (int64_t)tw_elem_size((tw_elem)o->elem);
    const int64_t most = o->swizzle.span && o->swizzle.unit < w->caps->access_bytes
                             ? o->swizzle.unit
                             : (int64_t)w->caps->access_bytes;
    run->count = 1;
    while (o->elem != TW_BOOL && 2 * run->count * size <= most &&
           extent % (2 * (int64_t)run->count) == 0)
        run->count *= 2;
    for (unsigned d = 0; d + 1u < o->rank; d++)
        while (o->stride[d] % (int64_t)run->count)
            run->count /= 2;
    return run->count > 1;
}

static uint8_t run_bytes(const twi_lowering *w, uint32_t object, const twi_run *run) {
    return (uint8_t)(run->count * tw_elem_size((tw_elem)w->c.f->object.at[object].elem));
}

/* Slots of the copy's map on the fastest part of the tile. */
static bool copied_run(const twi_lowering *w, const twi_stage_plan *s, const part *fastest,
                       uint32_t object, twi_run *run) {
    const twi_map *m = twi_w_map(w, fastest->axis);
    const int d = twi_innermost_digit(m);
    if (fastest->weight != 1 || d < (int)own_digits(w, s, fastest->axis) ||
        m->d[d].level != TWI_LV_SLOT)
        return false;
    *run = (twi_run){.axis = fastest->axis, .digit = (unsigned)d};
    int64_t extent = m->d[d].extent;
    while (fastest->extent % extent)
        extent = extent % 2 ? 1 : extent / 2;
    return run_of(w, &w->c.f->object.at[object], extent, run);
}

/* Element by element, what a wide load would have fetched. */
static void fill_buffer(twi_lowering *w, const twi_stage_plan *s) {
    const twi_id load = s->value;
    twi_lid index[TWI_MAX_RANK];
    const unsigned depth = twi_w_depth(w);
    const uint32_t mark = twi_w_scope(w);
    open_copy(w, s, TWI_LV_SLOT);
    w->copying = true;
    const twi_lid x = twi_w_array_load(w, load, true);
    w->copying = false;
    twi_w_make_buffer(w, load);
    const twi_laccess b = twi_w_buffer_access(w, load, -1, index);
    twi_w_store(w, b, index, x, 0);
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
}

static void take(twi_lowering *w, const copy *c) {
    if (twi_w_is_wide(w, c->stage->value))
        twi_w_fetch(w, c->stage->value);
    else
        fill_buffer(w, c->stage);
}

/* What a worker has of a copied run leaves its buffer by whole vectors. */
static void store_runs(twi_lowering *w, const copy *c) {
    twi_lid index[TWI_MAX_LOOPS];
    const unsigned depth = twi_w_depth(w);
    twi_laccess to = stage_access(w, c->object);
    twi_w_open_run(w, w->frame->axes, &c->run);
    const twi_laccess from = twi_w_buffer_access(w, c->stage->value, (int)c->run.axis, index);
    const twi_lid x = twi_w_load(w, from, index, c->run.count, 0, 0);
    to.align = run_bytes(w, c->object, &c->run);
    copied_index(w, c, c->run.count, index);
    twi_w_store(w, to, index, x, 0);
    twi_w_shut(w, depth);
}

/* From the buffer, or from the array where there is none. */
static void put(twi_lowering *w, const copy *c) {
    twi_lid index[TWI_MAX_LOOPS];
    const unsigned depth = twi_w_depth(w);
    if (c->runs) {
        store_runs(w, c);
        return;
    }
    open_copy(w, c->stage, TWI_LV_SLOT);
    w->copying = !w->buffer[c->stage->value];
    twi_lid x = twi_w_array_load(w, c->stage->value, true);
    w->copying = false;
    copied_index(w, c, 1, index);
    twi_w_store(w, stage_access(w, c->object), index, x, 0);
    twi_w_shut(w, depth);
}

static void take_and_put(twi_lowering *w, const copy *c) {
    if (c->runs || twi_w_is_wide(w, c->stage->value))
        take(w, c);
    put(w, c);
    w->buffer[c->stage->value] = 0;
}

/* Does a part of the copy by its own map, at the digits of each worker. */
static void copy_by_map(twi_lowering *w, unsigned stage,
                        void (*part_of)(twi_lowering *, const copy *)) {
    const twi_stage_plan *s = &w->plan->stage[stage];
    const twi_frame *tile = w->frame;
    twi_lid(*digit)[TWI_MAX_DIGITS] = w->digit;
    const unsigned depth = twi_w_depth(w);
    const uint32_t mark = twi_w_scope(w);
    twi_mask lead = {0, 0, 0};
    copy c = {.stage = s, .object = w->stage_object[stage]};
    c.n = parts_of(w, s, c.part);
    w->digit = twi_copy(w->arena, digit, TWI_MAX_AXES * sizeof *digit);
    w->frame = copy_frame(w, s);
    twi_w_open_workers(w);
    twi_w_leader(w, w->frame->axes, &lead);
    if (lead.scalar)
        twi_w_if(w, lead.scalar);
    open_copy(w, s, TWI_LV_LOOP);
    c.runs = copied_run(w, s, &c.part[c.n - 1], c.object, &c.run);
    part_of(w, &c);
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
    w->frame = tile;
    w->digit = digit;
}

/* Wide where the array's and the tile's elements are neighbours alike, else one by one. */
static void issue(twi_lowering *w, const copy *c) {
    twi_lid index[TWI_MAX_LOOPS];
    const unsigned depth = twi_w_depth(w);
    const twi_id load = c->stage->value;
    twi_laccess to = stage_access(w, c->object);
    twi_run run = {0, 0, 0};
    const bool wide = c->runs && twi_w_run_of(w, load, &run) && run.axis == c->run.axis &&
                      run.digit == c->run.digit && run.count == c->run.count;
    if (!wide)
        open_copy(w, c->stage, TWI_LV_SLOT);
    w->copying = true;
    const twi_lid x = wide ? twi_w_load_run(w, load) : twi_w_array_load(w, load, true);
    w->copying = false;
    to.align = wide ? run_bytes(w, c->object, &run) : 0;
    copied_index(w, c, wide ? run.count : 1, index);
    into_tile(w, to, index, x);
    twi_w_shut(w, depth);
}

void twi_w_stage_issue(twi_lowering *w, unsigned stage) {
    const twi_stage_plan *s = &w->plan->stage[stage];
    w->async = true;
    if (s->copy_axes)
        copy_by_map(w, stage, issue);
    else
        twi_w_stage_copy(w, stage);
    w->async = false;
}

void twi_w_stage_open(twi_lowering *w, unsigned stage) {
    const twi_object tile = tile_object(w, &w->plan->stage[stage]);
    w->stage_object[stage] = twi_lb_object(&w->c, &tile);
}

void twi_w_stage_copy(twi_lowering *w, unsigned stage) {
    const twi_stage_plan *s = &w->plan->stage[stage];
    if (!w->vectors && s->copy_axes) {
        copy_by_map(w, stage, take_and_put);
        return;
    }
    w->copying = true;
    if (w->vectors)
        copy_alone(w, s, w->stage_object[stage]);
    else
        copy_together(w, s, w->stage_object[stage]);
    w->copying = false;
}

void twi_w_stage_take(twi_lowering *w, unsigned stage) {
    const twi_id load = w->plan->stage[stage].value;
    copy_by_map(w, stage, take);
    w->stage_buffer[stage] = w->buffer[load];
    w->buffer[load] = 0; /* the math has one of its own */
}

void twi_w_stage_put(twi_lowering *w, unsigned stage) {
    const twi_id load = w->plan->stage[stage].value;
    const uint32_t used = w->buffer[load];
    w->buffer[load] = w->stage_buffer[stage];
    copy_by_map(w, stage, put);
    w->buffer[load] = used;
}

int twi_w_stage_of(const twi_lowering *w, twi_id load) {
    for (unsigned s = 0; s < w->plan->stages; s++)
        if (w->plan->stage[s].value == load && w->stage_object[s])
            return (int)s;
    return -1;
}

/* The lightest slots of an axis, where they are the lightest digit of the tile's fastest part. */
bool twi_w_stage_run(const twi_lowering *w, unsigned stage, twi_run *run) {
    const twi_stage_plan *s = &w->plan->stage[stage];
    part p[TWI_MAX_LOOPS];
    const unsigned n = parts_of(w, s, p);
    if (w->vectors || !n)
        return false;
    const twi_map *m = twi_w_map(w, p[n - 1].axis);
    for (unsigned d = m->n; d-- > 0;) {
        const bool fastest = p[n - 1].digits >> d & 1, slots = m->d[d].level == TWI_LV_SLOT;
        if (m->d[d].extent == 1 || (!fastest && !slots))
            continue;
        const twi_object o = tile_object(w, s);
        *run = (twi_run){.axis = p[n - 1].axis, .digit = d};
        return fastest && slots && run_of(w, &o, m->d[d].extent, run);
    }
    return false;
}

void twi_w_stage_fetch(twi_lowering *w, unsigned stage) {
    const twi_stage_plan *s = &w->plan->stage[stage];
    const unsigned depth = twi_w_depth(w);
    twi_lid index[TWI_MAX_LOOPS];
    twi_run run;
    if (!twi_w_stage_run(w, stage, &run))
        return;
    twi_w_make_buffer(w, s->value);
    twi_w_open_run(w, twi_access_axes(w->ir, s->value), &run);
    twi_laccess from = stage_access(w, w->stage_object[stage]);
    from.align = run_bytes(w, w->stage_object[stage], &run);
    stage_index(w, s, index);
    const twi_lid x = twi_w_load(w, from, index, run.count, 0, 0);
    const twi_laccess to = twi_w_buffer_access(w, s->value, (int)run.axis, index);
    twi_w_store(w, to, index, x, 0);
    twi_w_shut(w, depth);
}

uint32_t twi_w_elements_ahead(const twi_lowering *w, uint32_t object, const twi_lid *index,
                              twi_lid loop, unsigned trips) {
    const twi_object *o = &w->c.f->object.at[object];
    double step = 0;
    for (unsigned d = 0; loop && d < o->rank; d++) {
        const double each = twi_step_of(w->c.f, index[d], loop);
        if (each != 0 && o->dynamic >> d & 1)
            return 0;
        step += each * (double)o->stride[d];
    }
    step *= trips;
    return step > 0 && step <= INT32_MAX ? (uint32_t)step : 0;
}

twi_lid twi_w_stage_load(twi_lowering *w, unsigned stage) {
    const twi_stage_plan *s = &w->plan->stage[stage];
    twi_lid index[TWI_MAX_LOOPS];
    stage_index(w, s, index);
    twi_laccess from = stage_access(w, w->stage_object[stage]);
    from.ahead = twi_w_elements_ahead(w, from.object, index, twi_w_inner_loop(w), s->ahead);
    const unsigned count = twi_w_value_count(w, load_axes(w, s)) * twi_w_box(w, s->value);
    return twi_w_load(w, from, index, count, 0, 0);
}
