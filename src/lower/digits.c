/* SPDX-License-Identifier: Apache-2.0
 * Axes at the open digits: positions, bounds, guards, leaders; opening and closing of digits.
 */
#include "lower/walk.h"

const twi_map *twi_w_map(const twi_lowering *w, unsigned axis) { return &w->frame->map[axis]; }

uint8_t twi_level_digits(const twi_map *m, unsigned level) {
    uint8_t set = 0;
    for (unsigned d = 0; d < m->n; d++)
        if (m->d[d].level == level)
            set |= (uint8_t)(1u << d);
    return set;
}

uint8_t twi_time_digits(const tw_ir *ir, const twi_frame *frame, unsigned axis) {
    const twi_map *m = &frame->map[axis];
    uint8_t set = twi_level_digits(m, TWI_LV_LOOP) | twi_level_digits(m, TWI_LV_SLOT);
    if (ir->axis.at[axis].kind !=
        TWI_AXIS_STEP) /* a trip of the plan's own, not of the text's region */
        set |= twi_level_digits(m, TWI_LV_SERIAL);
    for (unsigned k = 0; k < frame->around; k++) /* open wherever a phase runs */
        if (frame->order[k].axis == axis)
            set &= (uint8_t) ~(1u << frame->order[k].digit);
    return set;
}

int64_t twi_digits_extent(const twi_map *m, uint8_t digits) {
    int64_t e = 1;
    for (unsigned d = 0; d < m->n; d++)
        if (digits >> d & 1)
            e *= m->d[d].extent;
    return e;
}

int64_t twi_axis_extent(const tw_ir *ir, unsigned axis) {
    int64_t lo, hi;
    const twi_axis *a = &ir->axis.at[axis];
    if (!twi_ix_is_const(ir, a->lo, &lo) || !twi_ix_is_const(ir, a->hi, &hi))
        return -1;
    return hi > lo ? hi - lo : 0;
}

/* ---- group -------------------------------------------------------------------------------------
 */
/* id / stride % extent, without the modulo for the outermost digit. */
static twi_lid split_id(twi_lowering *w, twi_lid id, int64_t stride, int64_t extent,
                        bool outermost) {
    if (extent == 1)
        return twi_w_int(w, 0);
    twi_lid q = twi_w_ix(w, TWI_IDIV, id, twi_w_int(w, stride));
    return outermost ? q : twi_w_ix(w, TWI_IMOD, q, twi_w_int(w, extent));
}

/* Lanes of an SIMT subgroup; an explicit lane is a part of the vector, the digit itself stands at
 * 0. */
static void open_level(twi_lowering *w, unsigned level, int64_t total) {
    twi_lid id = 0;
    for (unsigned a = 0; a < w->ir->axis.n; a++) {
        const twi_map *m = twi_w_map(w, a);
        if (!(w->frame->axes >> a & 1))
            continue;
        for (unsigned d = 0; d < m->n; d++) {
            if (m->d[d].level != level)
                continue;
            if (w->vectors) {
                w->digit[a][d] = twi_w_int(w, 0);
                continue;
            }
            if (!id && m->d[d].extent > 1)
                id = twi_w_leaf(w, TWI_L_ID, 1, level);
            w->digit[a][d] = split_id(w, id, m->d[d].stride, m->d[d].extent,
                                      m->d[d].stride * m->d[d].extent == total);
        }
    }
}

void twi_w_open_workers(twi_lowering *w) {
    open_level(w, TWI_LV_SUB, w->subs);
    open_level(w, TWI_LV_LANE, w->lanes);
}

void twi_w_open_group(twi_lowering *w) {
    for (unsigned f = w->plan->frames; f-- > 0;) {
        twi_w_enter(w, f);
        twi_w_open_grid(w);
        twi_w_open_workers(w);
    }
}

/* ---- positions ----------------------------------------------------------------------------------
 */
/* lo + the open digits times their weights; only digits of at least that weight. */
twi_lid twi_w_position_from(twi_lowering *w, unsigned axis, int64_t least_weight) {
    const twi_map *m = twi_w_map(w, axis);
    twi_lid p = twi_w_lo(w, axis);
    for (unsigned d = 0; d < m->n; d++) {
        int64_t weight = twi_map_weight(m, d);
        if (m->d[d].extent == 1 || weight < least_weight || !w->digit[axis][d])
            continue;
        p = twi_w_ix(w, TWI_ADD, p, twi_w_ix(w, TWI_MUL, w->digit[axis][d], twi_w_int(w, weight)));
    }
    return p;
}

twi_lid twi_w_position(twi_lowering *w, unsigned axis) {
    twi_lid p = twi_w_position_from(w, axis, 1);
    if (!(w->clamp >> axis & 1))
        return p;
    return twi_w_ix(w, TWI_MIN, p, twi_w_ix(w, TWI_SUB, twi_w_hi(w, axis), twi_w_int(w, 1)));
}

twi_lid twi_w_lo(twi_lowering *w, unsigned axis) {
    return twi_w_eval(w, w->ir->axis.at[axis].lo, false);
}

twi_lid twi_w_hi(twi_lowering *w, unsigned axis) {
    return twi_w_eval(w, w->ir->axis.at[axis].hi, false);
}

twi_lid twi_w_positions(twi_lowering *w, unsigned axis) {
    twi_lid iota = twi_w_leaf(w, TWI_L_IOTA, w->lanes, 0);
    return twi_w_ix(w, TWI_ADD, twi_w_position(w, axis), iota);
}

static twi_lid block_bound(twi_lowering *w, unsigned axis, bool high) {
    int64_t block = w->ir->axis.at[axis].block;
    twi_lid lo = twi_w_position_from(w, axis, block > 0 ? block : 1);
    if (!high)
        return lo;
    twi_lid end = twi_w_ix(w, TWI_ADD, lo, twi_w_int(w, block > 0 ? block : 1));
    return twi_w_ix(w, TWI_MIN, end, twi_w_hi(w, axis));
}

twi_lid twi_w_span(twi_lowering *w, unsigned axis) {
    int64_t n = twi_axis_extent(w->ir, axis);
    if (w->ir->axis.at[axis].kind == TWI_AXIS_STEP)
        return twi_w_ix(w, TWI_SUB, block_bound(w, axis, true), block_bound(w, axis, false));
    if (n >= 0)
        return twi_w_int(w, n);
    return twi_w_ix(w, TWI_MAX, twi_w_ix(w, TWI_SUB, twi_w_hi(w, axis), twi_w_lo(w, axis)),
                    twi_w_int(w, 0));
}

twi_lid twi_w_instance(twi_lowering *w, uint64_t axes) {
    const twi_region *scope = &w->ir->region.at[w->cut.scope];
    twi_lid n = twi_w_int(w, 0);
    for (uint32_t k = 0; k < scope->axes.n; k++) {
        const unsigned a = scope->axes.at[k];
        const int64_t block = w->ir->axis.at[a].block, extent = twi_axis_extent(w->ir, a);
        const bool blocks = w->ir->axis.at[a].kind == TWI_AXIS_BLOCK;
        twi_lid at = twi_w_int(w, 0);
        if (blocks)
            at = w->digit[a][0];
        else if (axes >> a & 1)
            at = twi_w_ix(w, TWI_SUB,
                          (int)a == w->lane_axis ? twi_w_positions(w, a) : twi_w_position(w, a),
                          twi_w_lo(w, a));
        const int64_t count = blocks ? (extent + block - 1) / block : extent;
        n = twi_w_ix(w, TWI_ADD, twi_w_ix(w, TWI_MUL, n, twi_w_int(w, count)), at);
    }
    return n;
}

twi_lid twi_w_eval(twi_lowering *w, twi_ix x, bool vector) {
    static const uint16_t binary[] = {
        [TWI_IX_ADD] = TWI_ADD,  [TWI_IX_SUB] = TWI_SUB,  [TWI_IX_MUL] = TWI_MUL,
        [TWI_IX_DIV] = TWI_IDIV, [TWI_IX_MOD] = TWI_IMOD, [TWI_IX_MIN] = TWI_MIN,
        [TWI_IX_MAX] = TWI_MAX};
    const twi_ix_node *n = &w->ir->ix.at[x];
    switch ((twi_ix_op)n->op) {
    case TWI_IX_CONST:
        return twi_w_int(w, n->k);
    case TWI_IX_DIM:
        return twi_w_int(w, w->ir->dim.at[n->a].value);
    case TWI_IX_AXIS:
        return vector && (int)n->a == w->lane_axis ? twi_w_positions(w, n->a)
                                                   : twi_w_position(w, n->a);
    case TWI_IX_LO:
    case TWI_IX_HI:
        return block_bound(w, n->a, n->op == TWI_IX_HI);
    case TWI_IX_VALUE:
        return twi_w_cast(w, TW_I64, twi_w_value(w, n->a));
    case TWI_IX_NONE:
        return twi_w_int(w, 0);
    case TWI_IX_ADD:
    case TWI_IX_SUB:
    case TWI_IX_MUL:
    case TWI_IX_DIV:
    case TWI_IX_MOD:
    case TWI_IX_MIN:
    case TWI_IX_MAX:
    default: {
        twi_lid a = twi_w_eval(w, n->a, vector), b = twi_w_eval(w, n->b, vector);
        return twi_w_ix(w, binary[n->op], a, b);
    }
    }
}

/* ---- guards -------------------------------------------------------------------------------------
 */
/* Does an end that varies leave no step in part? Worth asking where guards are whole vectors. */
static bool steps_are_whole(const twi_lowering *w, const twi_axis *a, int64_t step) {
    return a->kind == TWI_AXIS_STEP && a->block % step == 0 &&
           twi_ix_is_multiple(w->ir, a->lo, step) && twi_ix_is_multiple(w->ir, a->hi, step);
}

bool twi_w_guarded(const twi_lowering *w, unsigned axis) {
    const twi_map *m = twi_w_map(w, axis);
    if (w->full >> axis & 1)
        return false;
    const twi_axis *a = &w->ir->axis.at[axis];
    int64_t extent = twi_axis_extent(w->ir, axis), total = twi_map_extent(m);
    if (a->kind == TWI_AXIS_STEP && a->block == 0)
        return false;
    if (extent >= 0 && m->n && m->d[0].extent)
        return total != extent;
    if (extent >= 0 && m->n) /* a run-time digit outermost: loops to the end by whole steps */
        return extent % twi_map_weight(m, 0) != 0;
    if (w->vectors && m->n && steps_are_whole(w, a, twi_map_weight(m, 0)))
        return false;
    /* a loop over hi - lo by single steps ends at hi; where lo varies too, the guard is what shows
     * it */
    int64_t lo;
    return !(m->n && m->d[0].extent == 0 && twi_map_weight(m, 0) == 1 &&
             twi_ix_is_const(w->ir, a->lo, &lo));
}

void twi_mask_and(twi_lowering *w, twi_mask *mask, twi_lid condition) {
    twi_lid *slot = twi_w_count(w, condition) > 1 ? &mask->vector : &mask->scalar;
    *slot = *slot ? twi_w_ix(w, TWI_AND, *slot, condition) : condition;
}

void twi_w_guard(twi_lowering *w, uint64_t axes, twi_mask *mask) {
    for (unsigned a = 0; a < w->ir->axis.n; a++) {
        if (!(axes >> a & 1) || !twi_w_guarded(w, a))
            continue;
        twi_lid p = twi_w_position(w, a), hi = twi_w_hi(w, a);
        if ((int)a == w->lane_axis)
            mask->count = twi_w_ix(w, TWI_SUB, hi, p);
        else
            twi_mask_and(w, mask, twi_w_ix(w, TWI_LT, p, hi));
    }
}

twi_lid twi_mask_bool(twi_lowering *w, const twi_mask *mask, unsigned count) {
    twi_lid b = mask->scalar;
    if (mask->vector)
        b = b ? twi_w_ix(w, TWI_AND, mask->vector, b) : mask->vector;
    if (!mask->count)
        return b;
    twi_lid within;
    if (count > 1) {
        twi_lid iota = twi_w_leaf(w, TWI_L_IOTA, count, 0);
        within = twi_w_ix(w, TWI_LT, iota, mask->count);
    } else {
        within = twi_w_ix(w, TWI_GT, mask->count, twi_w_int(w, 0));
    }
    return b ? twi_w_ix(w, TWI_AND, within, b) : within;
}

/* The digit of a level with the smallest stride of at least `from`; false: none. */
static bool next_digit(const twi_lowering *w, unsigned level, int64_t from, unsigned *axis,
                       unsigned *digit) {
    int64_t best = INT64_MAX;
    for (unsigned a = 0; a < w->ir->axis.n; a++) {
        const twi_map *m = twi_w_map(w, a);
        for (unsigned d = 0; (w->frame->axes >> a & 1) && d < m->n; d++) {
            if (m->d[d].level != level || m->d[d].extent == 1 || m->d[d].stride < from ||
                m->d[d].stride >= best)
                continue;
            best = m->d[d].stride;
            *axis = a;
            *digit = d;
        }
    }
    return best != INT64_MAX;
}

twi_lid twi_w_workers_number(twi_lowering *w, uint64_t axes, int64_t *extent) {
    static const uint8_t levels[] = {TWI_LV_LANE, TWI_LV_SUB};
    twi_lid n = twi_w_int(w, 0);
    *extent = 1;
    for (unsigned k = 0; k < 2; k++) {
        int64_t top = 1;
        unsigned a, d;
        while (next_digit(w, levels[k], top, &a, &d)) {
            const twi_digit *g = &twi_w_map(w, a)->d[d];
            top = g->stride * g->extent;
            if (!(axes >> a & 1))
                continue;
            n = twi_w_ix(w, TWI_ADD, twi_w_ix(w, TWI_MUL, w->digit[a][d], twi_w_int(w, *extent)),
                         n);
            *extent *= g->extent;
        }
    }
    return n;
}

/* Every part of the level's id that no digit of `axes` reads must be 0: parts of other axes'
 * digits, parts between digits, and what lies above the last one. */
void twi_w_lead_level(twi_lowering *w, unsigned level, int64_t total, uint64_t axes,
                      twi_mask *mask) {
    int64_t top = 1;
    unsigned a, d;
    if (total == 1)
        return;
    twi_lid id = twi_w_leaf(w, TWI_L_ID, 1, level);
    while (next_digit(w, level, top, &a, &d)) {
        const twi_digit *g = &twi_w_map(w, a)->d[d];
        if (g->stride > top)
            twi_mask_and(
                w, mask,
                twi_w_ix(w, TWI_EQ, split_id(w, id, top, g->stride / top, false), twi_w_int(w, 0)));
        if (!(axes >> a & 1))
            twi_mask_and(w, mask, twi_w_ix(w, TWI_EQ, w->digit[a][d], twi_w_int(w, 0)));
        top = g->stride * g->extent;
    }
    if (top < total)
        twi_mask_and(w, mask, twi_w_ix(w, TWI_LT, id, twi_w_int(w, top)));
}

void twi_w_leader(twi_lowering *w, uint64_t axes, twi_mask *mask) {
    if (w->vectors)
        return;
    twi_w_lead_level(w, TWI_LV_SUB, w->subs, axes, mask);
    twi_w_lead_level(w, TWI_LV_LANE, w->lanes, axes, mask);
}

twi_lid twi_w_number(twi_lowering *w, unsigned axis, uint8_t digits) {
    const twi_map *m = twi_w_map(w, axis);
    twi_lid n = twi_w_int(w, 0);
    for (unsigned d = 0; d < m->n; d++) {
        if (!(digits >> d & 1) || m->d[d].extent == 1)
            continue;
        int64_t weight = twi_digits_extent(m, (uint8_t)(digits & ~((2u << d) - 1u)));
        n = twi_w_ix(w, TWI_ADD, n, twi_w_ix(w, TWI_MUL, w->digit[axis][d], twi_w_int(w, weight)));
    }
    return n;
}

/* ---- opening ------------------------------------------------------------------------------------
 */
unsigned twi_w_depth(const twi_lowering *w) { return w->c.open.n; }

/* Trips of an axis's outermost digit where they are known at run time only. */
static twi_lid run_time_trips(twi_lowering *w, unsigned axis, int64_t step) {
    twi_lid n = twi_w_ix(w, TWI_SUB, twi_w_hi(w, axis), twi_w_lo(w, axis));
    if (step == 1)
        return n;
    n = twi_w_ix(w, TWI_ADD, n, twi_w_int(w, step - 1));
    return twi_w_ix(w, TWI_IDIV, n, twi_w_int(w, step));
}

bool twi_w_runs(const twi_lowering *w, unsigned axis, unsigned digit) {
    const twi_map *m = twi_w_map(w, axis);
    const bool boxes = w->vectors && digit + 1u < m->n && m->d[digit + 1u].level == TWI_LV_ATOM;
    return m->d[digit].extent != 1 || (boxes && m->d[digit].level == TWI_LV_LOOP);
}

void twi_w_open(twi_lowering *w, unsigned axis, unsigned digit) {
    const twi_digit *d = &twi_w_map(w, axis)->d[digit];
    const uint32_t slots = w->slots[axis] ? w->slots[axis] : (uint32_t)d->extent;
    if (!twi_w_runs(w, axis, digit) || (d->level == TWI_LV_SLOT && slots == 1)) {
        w->digit[axis][digit] = twi_w_int(w, 0);
    } else if (d->level == TWI_LV_SLOT) {
        w->digit[axis][digit] = twi_w_unroll(w, slots);
    } else if (d->extent > 0) {
        w->digit[axis][digit] = twi_w_for(w, twi_w_int(w, 0), twi_w_int(w, d->extent), 1);
    } else {
        int64_t step = twi_map_weight(twi_w_map(w, axis), digit);
        twi_lid trips = run_time_trips(w, axis, step);
        twi_lid i = twi_w_for(w, twi_w_int(w, 0), trips, 1);
        if (twi_axis_runs_down(w->ir, axis))
            i = twi_w_ix(w, TWI_SUB, twi_w_ix(w, TWI_SUB, trips, twi_w_int(w, 1)), i);
        w->digit[axis][digit] = i;
    }
}

void twi_w_shut(twi_lowering *w, unsigned depth) {
    while (w->c.open.n > depth)
        twi_w_close(w);
}
