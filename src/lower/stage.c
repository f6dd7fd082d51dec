/* SPDX-License-Identifier: Apache-2.0
 * Stages: a tile of an array in an addressed object, its digits from slow to fast. Filled where the
 * digits that it does not hold are open; elements beyond an extent are written as the load's value
 * there (0, or `else`).
 */
#include "lower/walk.h"

static uint64_t load_axes(const twi_lowering *w, const twi_stage_plan *s) {
    return twi_ins_of(w->ir, s->value)->type.axes;
}

static bool holds(const twi_stage_plan *s, unsigned axis, unsigned digit) {
    for (unsigned k = 0; k < s->n; k++)
        if (s->order[k].axis == axis && s->order[k].digit == digit)
            return true;
    return false;
}

static const twi_digit *digit_of(const twi_lowering *w, const twi_stage_plan *s, unsigned k) {
    return &twi_w_map(w, s->order[k].axis)->d[s->order[k].digit];
}

int twi_w_stage_level(const twi_lowering *w, unsigned stage, const twi_axis_digit *loops,
                      unsigned n) {
    const twi_stage_plan *s = &w->plan->stage[stage];
    int level = 0;
    for (unsigned k = 0; k < n; k++)
        if (load_axes(w, s) >> loops[k].axis & 1 && !holds(s, loops[k].axis, loops[k].digit))
            level = (int)k + 1;
    return level;
}

/* Is the explicit lane digit the stage's fastest? Then rows are read and written as vectors. */
static bool lane_is_last(const twi_lowering *w, const twi_stage_plan *s) {
    return s->n > 0 && digit_of(w, s, s->n - 1u)->level == TWI_LV_LANE;
}

static uint32_t make_object(twi_lowering *w, const twi_stage_plan *s) {
    const twi_access *a = &w->ir->access.at[twi_ins_of(w->ir, s->value)->attr];
    twi_object o = {.kind = s->shared ? TWI_OBJ_SHARED : TWI_OBJ_SCRATCH, .count = 1};
    o.elem = w->ir->array.at[a->array].elem;
    o.name = twi_ins_of(w->ir, s->value)->name;
    o.rank = s->n;
    int64_t stride = 1;
    for (unsigned k = s->n; k-- > 0;) {
        if (k + 1 < s->n && s->order[k].axis != s->order[s->n - 1].axis &&
            s->order[k + 1].axis == s->order[s->n - 1].axis)
            stride += s->pad;
        o.extent[k] = digit_of(w, s, k)->extent;
        o.stride[k] = stride;
        stride *= o.extent[k];
    }
    return twi_lb_object(&w->c, &o);
}

/* Index of the open digits; the explicit lane's part is 0 where rows are vectors, else the lanes'
 * numbers. */
static void stage_index(twi_lowering *w, const twi_stage_plan *s, twi_lid *index) {
    for (unsigned k = 0; k < s->n; k++) {
        const twi_digit *d = digit_of(w, s, k);
        if (w->vectors && d->level == TWI_LV_LANE)
            index[k] =
                lane_is_last(w, s) ? twi_w_int(w, 0) : twi_w_leaf(w, TWI_L_IOTA, w->lanes, 0);
        else
            index[k] =
                d->extent == 1 ? twi_w_int(w, 0) : w->digit[s->order[k].axis][s->order[k].digit];
    }
}

static twi_laccess stage_access(const twi_lowering *w, const twi_stage_plan *s, uint32_t object) {
    twi_laccess a = {.object = object, .dim = (uint8_t)(s->n ? s->n - 1 : 0)};
    (void)w;
    return a;
}

static void copy_element(twi_lowering *w, const twi_stage_plan *s, uint32_t object) {
    twi_lid index[TWI_MAX_LOOPS];
    uint32_t mark = twi_w_scope(w);
    twi_lid x = twi_w_array_load(w, s->value, true);
    stage_index(w, s, index);
    twi_w_store(w, stage_access(w, s, object), index, x, 0);
    twi_w_forget(w, mark);
}

/* One worker a group: a loop a digit. */
static void copy_alone(twi_lowering *w, const twi_stage_plan *s, uint32_t object) {
    unsigned depth = twi_w_depth(w);
    for (unsigned k = 0; k < s->n; k++)
        if (digit_of(w, s, k)->level != TWI_LV_LANE)
            twi_w_open(w, s->order[k].axis, s->order[k].digit);
    copy_element(w, s, object);
    twi_w_shut(w, depth);
}

/* All workers, one element each in turn, in stage order. */
static void copy_together(twi_lowering *w, const twi_stage_plan *s, uint32_t object) {
    int64_t elements = 1, workers = (int64_t)w->subs * w->lanes;
    twi_lid saved[TWI_MAX_LOOPS];
    for (unsigned k = 0; k < s->n; k++) {
        elements *= digit_of(w, s, k)->extent;
        saved[k] = w->digit[s->order[k].axis][s->order[k].digit];
    }
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
    for (unsigned k = s->n; k-- > 0;) {
        int64_t extent = digit_of(w, s, k)->extent;
        twi_lid q = twi_w_ix(w, TWI_IDIV, e, twi_w_int(w, stride));
        w->digit[s->order[k].axis][s->order[k].digit] =
            k ? twi_w_ix(w, TWI_IMOD, q, twi_w_int(w, extent)) : q;
        stride *= extent;
    }
    copy_element(w, s, object);
    twi_w_shut(w, depth);
    for (unsigned k = 0; k < s->n; k++)
        w->digit[s->order[k].axis][s->order[k].digit] = saved[k];
}

/* ---- copies by their own maps ---- */

/* The frame in force with the tile's digits in the copy's way: grid and serial digits stay. */
static twi_frame *copy_frame(twi_lowering *w, const twi_stage_plan *s) {
    twi_frame *f = twi_copy(w->arena, w->frame, sizeof *w->frame);
    f->axes &= load_axes(w, s);
    f->loops = 0;
    for (unsigned a = 0; a < w->ir->axis.n; a++) {
        twi_map *m = &f->map[a];
        if (!(s->copy_axes >> a & 1))
            continue;
        while (m->n && holds(s, a, m->n - 1u))
            m->n--;
        for (unsigned d = 0; d < s->copy[a].n; d++)
            m->d[m->n++] = s->copy[a].d[d];
    }
    return f;
}

/* q / weight % extent of the tile's position q on an axis: digit by digit where one of the tile is
 * made of whole parts of the copy's. */
static twi_lid tile_digit(twi_lowering *w, unsigned axis, unsigned first, int64_t weight,
                          int64_t extent) {
    const twi_map *m = twi_w_map(w, axis);
    const int64_t top = weight * extent;
    twi_lid sum = twi_w_int(w, 0), whole = sum;
    bool parts = true;
    for (unsigned d = first; d < m->n; d++) {
        int64_t own = twi_map_weight(m, d), end = own * m->d[d].extent;
        twi_lid c = w->digit[axis][d];
        if (m->d[d].extent == 1)
            continue;
        whole = twi_w_ix(w, TWI_ADD, whole, twi_w_ix(w, TWI_MUL, c, twi_w_int(w, own)));
        parts =
            parts && (own % weight == 0 || weight % own == 0) && (own % top == 0 || top % own == 0);
        if (!parts || own >= top || end <= weight)
            continue;
        if (end > top)
            c = twi_w_ix(w, TWI_IMOD, c, twi_w_int(w, top / own));
        c = own >= weight ? twi_w_ix(w, TWI_MUL, c, twi_w_int(w, own / weight))
                          : twi_w_ix(w, TWI_IDIV, c, twi_w_int(w, weight / own));
        sum = twi_w_ix(w, TWI_ADD, sum, c);
    }
    if (parts)
        return sum;
    whole = twi_w_ix(w, TWI_IDIV, whole, twi_w_int(w, weight));
    return twi_w_ix(w, TWI_IMOD, whole, twi_w_int(w, extent));
}

/* Index of the copy's open digits; tile: the frame that the stage's order speaks of. */
static void copied_index(twi_lowering *w, const twi_stage_plan *s, const twi_frame *tile,
                         twi_lid *index) {
    for (unsigned k = 0; k < s->n; k++) {
        unsigned a = s->order[k].axis, d = s->order[k].digit;
        const twi_map *m = &tile->map[a];
        unsigned first = twi_w_map(w, a)->n - s->copy[a].n;
        index[k] = tile_digit(w, a, first, twi_map_weight(m, d), m->d[d].extent);
    }
}

static void open_copy(twi_lowering *w, unsigned level) {
    for (unsigned a = 0; a < w->ir->axis.n; a++)
        for (unsigned d = 0; (w->frame->axes >> a & 1) && d < twi_w_map(w, a)->n; d++)
            if (twi_w_map(w, a)->d[d].level == level)
                twi_w_open(w, a, d);
}

static void copy_by_map(twi_lowering *w, const twi_stage_plan *s, uint32_t object) {
    const twi_frame *tile = w->frame;
    twi_lid index[TWI_MAX_LOOPS], (*digit)[TWI_MAX_DIGITS] = w->digit;
    unsigned depth = twi_w_depth(w);
    twi_mask lead = {0, 0, 0};
    w->digit = twi_copy(w->arena, digit, TWI_MAX_AXES * sizeof *digit);
    w->frame = copy_frame(w, s);
    twi_w_open_workers(w);
    twi_w_leader(w, w->frame->axes, &lead);
    if (lead.scalar)
        twi_w_if(w, lead.scalar);
    open_copy(w, TWI_LV_LOOP);
    if (twi_w_is_wide(w, s->value))
        twi_w_fetch(w, s->value);
    open_copy(w, TWI_LV_SLOT);
    twi_lid x = twi_w_array_load(w, s->value, true);
    copied_index(w, s, tile, index);
    twi_w_store(w, stage_access(w, s, object), index, x, 0);
    twi_w_shut(w, depth);
    w->buffer[s->value] = 0;
    w->frame = tile;
    w->digit = digit;
}

void twi_w_stage_copy(twi_lowering *w, unsigned stage) {
    const twi_stage_plan *s = &w->plan->stage[stage];
    uint32_t object = make_object(w, s);
    w->copying = w->vectors || !s->copy_axes;
    if (w->vectors)
        copy_alone(w, s, object);
    else if (s->copy_axes)
        copy_by_map(w, s, object);
    else
        copy_together(w, s, object);
    w->copying = false;
    w->stage_object[stage] = object;
}

int twi_w_stage_of(const twi_lowering *w, twi_id load) {
    for (unsigned s = 0; s < w->plan->stages; s++)
        if (w->plan->stage[s].value == load && w->stage_object[s])
            return (int)s;
    return -1;
}

twi_lid twi_w_stage_load(twi_lowering *w, unsigned stage) {
    const twi_stage_plan *s = &w->plan->stage[stage];
    twi_lid index[TWI_MAX_LOOPS];
    stage_index(w, s, index);
    return twi_w_load(w, stage_access(w, s, w->stage_object[stage]), index,
                      twi_w_value_count(w, load_axes(w, s)), 0, 0);
}
