/* SPDX-License-Identifier: Apache-2.0
 * Scans digit by digit, in the stripe that a phase filled with the elements (identities where there
 * is none). From light digits to heavy ones: time digits run, a carry going from element to
 * element; lanes by doubling; time digits above the lanes run over the totals of all lanes;
 * subgroups leave their totals in shared memory, one barrier, every worker folds those before its
 * own; time digits above them run again. What a digit adds stands left of what its part holds
 * already, so the order of the elements is kept. A scan from the last element on runs every digit
 * downwards. Along a range known at run time it runs from element to element beside what reads it
 * (twi_scan_next), its running value an accumulator as of a fold.
 */
#include "lower/walk.h"

bool twi_scan_split(const tw_ir *ir, const twi_frame *frame, unsigned axis, twi_scan_digits *out) {
    const twi_map *m = &frame->map[axis];
    const uint8_t time = twi_time_digits(ir, frame, axis);
    *out = (twi_scan_digits){.lane = -1, .sub = -1};
    for (unsigned d = m->n; d-- > 0;) {
        if (m->d[d].extent == 1)
            continue;
        uint8_t *set = out->sub >= 0 ? &out->high : out->lane >= 0 ? &out->mid : &out->low;
        if (time >> d & 1)
            *set |= (uint8_t)(1u << d);
        if (m->d[d].level == TWI_LV_LANE) {
            if (out->lane >= 0 || out->sub >= 0)
                return false;
            out->lane = (int)d;
        }
        if (m->d[d].level == TWI_LV_SUB) {
            if (out->sub >= 0)
                return false;
            out->sub = (int)d;
        }
    }
    return true;
}

bool twi_scan_is_canonical(const tw_ir *ir, twi_id id) {
    return twi_ins_of(ir, id)->order == TWI_ORDER_CANONICAL && twi_fold_rounds(ir, id);
}

static twi_scan begin(twi_lowering *w, twi_id id) {
    twi_scan s = {.w = w, .id = id, .ins = twi_ins_of(w->ir, id)};
    s.axis = s.ins->fold[0];
    s.map = twi_w_map(w, s.axis);
    s.own = s.ins->type.axes & ~(1ull << s.axis);
    s.stripe = w->home[id].object;
    s.exclusive = s.ins->attr & TWI_SCAN_EXCLUSIVE;
    s.reverse = s.ins->attr & TWI_SCAN_REVERSE;
    (void)twi_scan_split(w->ir, w->frame, s.axis, &s.at);
    return s;
}

twi_lid twi_scan_identity(const twi_scan *s) {
    return twi_w_identity(s->w, s->ins->op, (tw_elem)s->ins->type.elem);
}

twi_lid twi_scan_combine(const twi_scan *s, twi_lid a, twi_lid b) {
    s->w->c.fold = s->id;
    twi_lid r = twi_w_op(s->w, twi_monoid_of(s->ins->op)->merge, a, b, 0);
    s->w->c.fold = 0;
    return r;
}

void twi_scan_element(twi_lowering *w, twi_id id) {
    const twi_scan s = begin(w, id);
    twi_mask mask = {0, 0, 0};
    twi_w_guard(w, 1ull << s.axis, &mask);
    twi_lid x = twi_w_value(w, twi_arg(w->ir, id, 0));
    twi_lid real = twi_mask_bool(w, &mask, mask.count ? twi_w_value_count(w, s.ins->type.axes) : 1);
    if (real)
        x = twi_w_op(w, TWI_SELECT, real, x, twi_scan_identity(&s));
    twi_w_stripe_store(w, s.stripe, s.ins->type.axes, x);
}

/* ---- pieces ---- */

static twi_lid get(const twi_scan *s) {
    return twi_w_stripe_load(s->w, s->stripe, s->ins->type.axes);
}
static void put(const twi_scan *s, twi_lid x) {
    twi_w_stripe_store(s->w, s->stripe, s->ins->type.axes, x);
}

/* An object of one element: what runs from trip to trip. */
static uint32_t carry_object(const twi_scan *s) {
    twi_object o = {.kind = TWI_OBJ_PRIVATE, .elem = s->ins->type.elem, .name = s->ins->name};
    o.count = (uint16_t)twi_w_value_count(s->w, s->own);
    return twi_lb_object(&s->w->c, &o);
}

static twi_lid carry(const twi_scan *s, uint32_t object) {
    twi_laccess a = {.object = object};
    return twi_w_load(s->w, a, NULL, s->w->c.f->object.at[object].count, 0, 0);
}

static void set_carry(const twi_scan *s, uint32_t object, twi_lid x) {
    twi_laccess a = {.object = object};
    twi_w_store(s->w, a, NULL, twi_w_splat(s->w, x, s->w->c.f->object.at[object].count), 0);
}

/* Opens digits of the scanned axis, in the direction of the scan. */
static unsigned open(const twi_scan *s, uint8_t digits) {
    twi_lowering *w = s->w;
    unsigned depth = twi_w_depth(w);
    for (unsigned d = 0; d < s->map->n; d++) {
        if (!(digits >> d & 1))
            continue;
        twi_w_open(w, s->axis, d);
        if (s->reverse)
            w->digit[s->axis][d] =
                twi_w_ix(w, TWI_SUB, twi_w_int(w, s->map->d[d].extent - 1), w->digit[s->axis][d]);
    }
    return depth;
}

twi_lid twi_scan_start(const twi_scan *s) {
    const bool sum = s->ins->op == TWI_CUMSUM;
    return sum ? twi_w_const(s->w, (tw_elem)s->ins->type.elem, 0, 0) : twi_scan_identity(s);
}

/* x, but what an exclusive scan starts with in the first element. */
static twi_lid started(const twi_scan *s, twi_lid x) {
    twi_lowering *w = s->w;
    if (s->ins->op != TWI_CUMSUM || !twi_is_float((tw_elem)s->ins->type.elem))
        return x;
    bool vector = (int)s->axis == w->lane_axis;
    twi_lid p = vector ? twi_w_positions(w, s->axis) : twi_w_position(w, s->axis);
    twi_lid first = s->reverse ? twi_w_ix(w, TWI_SUB, twi_w_hi(w, s->axis), twi_w_int(w, 1))
                               : twi_w_lo(w, s->axis);
    return twi_w_op(w, TWI_SELECT, twi_w_ix(w, TWI_EQ, p, first), twi_scan_start(s), x);
}

twi_lid twi_scan_next(twi_lowering *w, twi_id id) {
    const twi_scan s = begin(w, id);
    const twi_fold *f = w->stream[id];
    twi_state before = twi_fold_get(w, f), x = {{twi_w_value(w, twi_arg(w->ir, id, 0)), 0, 0}};
    x = twi_state_combine(w, f, before, x);
    twi_fold_put(w, f, x);
    return s.exclusive ? started(&s, before.v[0]) : x.v[0];
}

/* ---- lanes ---- */

/* Lanes in a row: each one's number in the direction of the scan (implicit lanes), and how far
 * apart two are. */
typedef struct {
    twi_lid number;
    int64_t extent, step;
} lane_row;

static lane_row lanes_of(const twi_scan *s) {
    twi_lowering *w = s->w;
    const twi_digit *d = &s->map->d[s->at.lane];
    if (w->vectors)
        return (lane_row){0, d->extent, 1};
    lane_row r = {w->digit[s->axis][s->at.lane], d->extent, twi_digit_stride(d)};
    if (s->reverse) {
        r.number = twi_w_ix(w, TWI_SUB, twi_w_int(w, r.extent - 1), r.number);
        r.step = -r.step;
    }
    return r;
}

/* Of explicit lanes: a window on the row and as many identities beside it. */
static twi_lid slid(const twi_scan *s, twi_lid x, unsigned by) {
    twi_lowering *w = s->w;
    const unsigned count = twi_w_count(w, x);
    const twi_lid none = twi_w_splat(w, twi_scan_identity(s), count);
    int32_t *from = TWI_NEW_N(w->arena, int32_t, count);
    for (unsigned k = 0; k < count; k++)
        from[k] = (int32_t)(k + (s->reverse ? by : count - by));
    return twi_lb_permute(&w->c, s->reverse ? x : none, s->reverse ? none : x, from, count);
}

/* x of the lane `by` before; the identity in those that have none. */
static twi_lid shifted(const twi_scan *s, const lane_row *r, twi_lid x, int64_t by) {
    twi_lowering *w = s->w;
    if (w->vectors)
        return slid(s, x, (unsigned)by);
    twi_lid moved = twi_w_lane_shift(w, x, (int32_t)(by * r->step));
    twi_lid has = twi_w_ix(w, TWI_GE, r->number, twi_w_int(w, by));
    return twi_w_op(w, TWI_SELECT, has, moved, twi_scan_identity(s));
}

/* By doubling: all lanes up to each one. */
static twi_lid up_to_lane(const twi_scan *s, const lane_row *r, twi_lid x) {
    for (int64_t by = 1; by < r->extent; by *= 2)
        x = twi_scan_combine(s, shifted(s, r, x, by), x);
    return x;
}

/* The last lane's, in all of them. */
static twi_lid of_last_lane(const twi_scan *s, twi_lid x) {
    twi_lowering *w = s->w;
    const twi_digit *d = &s->map->d[s->at.lane];
    if (w->vectors)
        return twi_lb_extract(&w->c, x, s->reverse ? 0 : (uint32_t)d->extent - 1);
    const int64_t stride = twi_digit_stride(d);
    twi_lid mine = twi_w_ix(w, TWI_MUL, w->digit[s->axis][s->at.lane], twi_w_int(w, stride));
    twi_lid first = twi_w_ix(w, TWI_SUB, twi_w_leaf(w, TWI_L_ID, 1, TWI_LV_LANE), mine);
    twi_lid last =
        s->reverse ? first : twi_w_ix(w, TWI_ADD, first, twi_w_int(w, (d->extent - 1) * stride));
    if (w->lanes % (d->extent * stride)) /* lanes above the last whole row are nobody's */
        last = twi_w_ix(w, TWI_MIN, last, twi_w_int(w, (int64_t)w->lanes - 1));
    return twi_w_lane_read(w, x, last);
}

/* ---- inside a subgroup ---- */

/* The lightest time digits; their total. */
static twi_lid run_low(const twi_scan *s) {
    const uint32_t object = carry_object(s);
    set_carry(s, object, twi_scan_identity(s));
    const unsigned depth = open(s, s->at.low);
    twi_lid before = carry(s, object), x = twi_scan_combine(s, before, get(s));
    set_carry(s, object, x);
    put(s, s->exclusive ? started(s, before) : x);
    twi_w_shut(s->w, depth);
    return carry(s, object);
}

/* Everything before the open digits comes left of what the lightest ones hold. */
static void add_before(const twi_scan *s, uint8_t digits, twi_lid before) {
    const unsigned depth = open(s, digits);
    put(s, twi_scan_combine(s, before, get(s)));
    twi_w_shut(s->w, depth);
}

/* One setting of the digits above the lanes: its total; *before: of the lanes before, 0 where that
 * is in the elements already. */
static twi_lid run_lanes(const twi_scan *s, twi_lid *before) {
    *before = 0;
    if (s->at.lane < 0)
        return run_low(s);
    const lane_row row = lanes_of(s);
    twi_lid x = up_to_lane(s, &row, s->at.low ? run_low(s) : get(s));
    twi_lid exclusive = s->at.low || s->exclusive ? shifted(s, &row, x, 1) : 0;
    if (s->at.low)
        *before = exclusive;
    else
        put(s, s->exclusive ? started(s, exclusive) : x);
    return of_last_lane(s, x);
}

static twi_lid run_mid(const twi_scan *s) {
    twi_lid lanes;
    if (!s->at.mid) {
        twi_lid total = run_lanes(s, &lanes);
        if (lanes)
            add_before(s, s->at.low, lanes);
        return total;
    }
    const uint32_t object = carry_object(s);
    set_carry(s, object, twi_scan_identity(s));
    const unsigned depth = open(s, s->at.mid);
    twi_lid total = run_lanes(s, &lanes), before = carry(s, object);
    add_before(s, s->at.low, lanes ? twi_scan_combine(s, before, lanes) : before);
    set_carry(s, object, twi_scan_combine(s, before, total));
    twi_w_shut(s->w, depth);
    return carry(s, object);
}

static void open_own_time(const twi_scan *s) {
    for (unsigned a = 0; a < s->w->ir->axis.n; a++)
        for (unsigned d = 0; d < twi_w_map(s->w, a)->n; d++)
            if (s->own >> a & 1 && twi_time_digits(s->w->ir, s->w->frame, a) >> d & 1)
                twi_w_open(s->w, a, d);
}

/* ---- subgroups ---- */

/* Totals of subgroups: a dimension for the digits above them, one for the subgroup. */
static uint32_t make_board(const twi_scan *s) {
    twi_lowering *w = s->w;
    twi_object o = {.kind = TWI_OBJ_SHARED, .count = 1, .elem = s->ins->type.elem};
    o.name = s->ins->name;
    o.rank = (uint8_t)twi_w_board_index(w, s->own, NULL, o.extent);
    o.extent[o.rank++] = twi_digits_extent(s->map, s->at.high);
    o.extent[o.rank++] = s->map->d[s->at.sub].extent;
    return twi_lb_object(&w->c, &o);
}

static void write_total(const twi_scan *s, uint32_t board, twi_lid total) {
    twi_lowering *w = s->w;
    twi_lid index[TWI_MAX_RANK];
    unsigned rank = twi_w_board_index(w, s->own, index, NULL);
    index[rank++] = twi_w_number(w, s->axis, s->at.high);
    index[rank] = w->digit[s->axis][s->at.sub];
    const twi_mask lead = twi_w_board_writers(w, s->own, 1ull << s->axis);
    twi_laccess a = {.object = board, .mask = lead.scalar ? TWI_MASK_BOOL : TWI_MASK_NONE};
    twi_w_store(w, a, index, total, lead.scalar);
}

/* The totals before this subgroup's, and all of them: one after the other. */
static twi_lid fold_totals(const twi_scan *s, uint32_t board, twi_lid *all) {
    twi_lowering *w = s->w;
    const int64_t n = s->map->d[s->at.sub].extent;
    const uint32_t sum = carry_object(s), mine = carry_object(s);
    twi_lid index[TWI_MAX_RANK], sub = w->digit[s->axis][s->at.sub];
    unsigned rank = twi_w_board_index(w, s->own, index, NULL);
    index[rank++] = twi_w_number(w, s->axis, s->at.high);
    set_carry(s, sum, twi_scan_identity(s));
    set_carry(s, mine, twi_scan_identity(s));
    twi_lid k =
        n > 8 ? twi_w_for(w, twi_w_int(w, 0), twi_w_int(w, n), 1) : twi_w_unroll(w, (uint32_t)n);
    twi_lid j = s->reverse ? twi_w_ix(w, TWI_SUB, twi_w_int(w, n - 1), k) : k;
    index[rank] = j;
    twi_laccess a = {.object = board};
    twi_lid before = carry(s, sum), total = twi_w_load(w, a, index, 1, 0, 0);
    set_carry(s, mine,
              twi_w_op(w, TWI_SELECT, twi_w_ix(w, TWI_EQ, sub, j), before, carry(s, mine)));
    set_carry(s, sum, twi_scan_combine(s, before, total));
    twi_w_close(w);
    *all = carry(s, sum);
    return carry(s, mine);
}

/* Subgroups and the time digits above them. */
static void run_high(const twi_scan *s, uint32_t board) {
    twi_lowering *w = s->w;
    twi_lid all;
    if (!s->at.high) {
        add_before(s, s->at.low | s->at.mid, fold_totals(s, board, &all));
        return;
    }
    const uint32_t object = carry_object(s);
    set_carry(s, object, twi_scan_identity(s));
    const unsigned depth = open(s, s->at.high);
    twi_lid before = carry(s, object), subs = fold_totals(s, board, &all);
    add_before(s, s->at.low | s->at.mid, twi_scan_combine(s, before, subs));
    set_carry(s, object, twi_scan_combine(s, before, all));
    twi_w_shut(w, depth);
}

/* ---- the same by lanes: each subgroup scans the totals of all as a row ---- */

static int64_t totals_of(const twi_map *m, const twi_scan_digits *at) {
    return twi_digits_extent(m, at->high) * m->d[at->sub].extent;
}

/* All lanes of a subgroup must be of one row. */
bool twi_scan_by_lanes(const tw_ir *ir, const twi_caps *caps, const twi_frame *frame, twi_id id) {
    const int64_t lanes = caps->lane; /* all of a subgroup, whether the plan uses them or not */
    const twi_ins *i = twi_ins_of(ir, id);
    twi_scan_digits at;
    if (!twi_scan_split(ir, frame, i->fold[0], &at) || at.sub < 0)
        return false;
    for (unsigned a = 0; a < ir->axis.n; a++)
        if (a != i->fold[0] && i->type.axes >> a & 1 &&
            twi_map_level_extent(&frame->map[a], TWI_LV_LANE) > 1)
            return false;
    const int64_t totals = totals_of(&frame->map[i->fold[0]], &at);
    return lanes > 1 && caps->lane_ops && totals > 4 && totals <= 4 * lanes;
}

/* The totals up to each lane's of the row's k-th part; *all: of this part and those before. */
static twi_lid scan_totals(const twi_scan *s, uint32_t board, int64_t k, twi_lid *all) {
    twi_lowering *w = s->w;
    const int64_t n = totals_of(s->map, &s->at), subs = s->map->d[s->at.sub].extent;
    const lane_row row = {twi_w_leaf(w, TWI_L_ID, 1, TWI_LV_LANE), w->lanes, 1};
    twi_lid index[TWI_MAX_RANK];
    twi_lid at = twi_w_ix(w, TWI_ADD, row.number, twi_w_int(w, k * row.extent));
    twi_lid real = n % row.extent ? twi_w_ix(w, TWI_LT, at, twi_w_int(w, n)) : 0;
    if (s->reverse)
        at = twi_w_ix(w, TWI_SUB, twi_w_int(w, n - 1), at);
    unsigned rank = twi_w_board_index(w, s->own, index, NULL);
    index[rank++] = twi_w_ix(w, TWI_IDIV, at, twi_w_int(w, subs));
    index[rank] = twi_w_ix(w, TWI_IMOD, at, twi_w_int(w, subs));
    twi_laccess a = {
        .object = board, .mask = real ? TWI_MASK_BOOL : TWI_MASK_NONE, .has_else = real};
    twi_lid x = twi_w_load(w, a, index, 1, real, real ? twi_scan_identity(s) : 0);
    x = up_to_lane(s, &row, x);
    if (*all)
        x = twi_scan_combine(s, *all, x);
    *all = twi_w_lane_read(w, x, twi_w_int(w, row.extent - 1));
    return x;
}

/* What stands before the open digits' part. */
static twi_lid total_before(const twi_scan *s, const twi_lid *parts) {
    twi_lowering *w = s->w;
    const int64_t n = totals_of(s->map, &s->at), subs = s->map->d[s->at.sub].extent,
                  lanes = w->lanes;
    twi_lid at = twi_w_ix(w, TWI_MUL, twi_w_number(w, s->axis, s->at.high), twi_w_int(w, subs));
    at = twi_w_ix(w, TWI_ADD, at, w->digit[s->axis][s->at.sub]);
    if (s->reverse)
        at = twi_w_ix(w, TWI_SUB, twi_w_int(w, n - 1), at);
    twi_lid before = twi_w_ix(w, TWI_SUB, at, twi_w_int(w, 1)), x = 0;
    twi_lid lane = twi_w_ix(w, TWI_IMOD, before, twi_w_int(w, lanes));
    for (int64_t k = 0; k * lanes < n; k++) {
        twi_lid part = twi_w_lane_read(w, parts[k], lane);
        twi_lid here = twi_w_ix(w, TWI_GE, before, twi_w_int(w, k * lanes));
        x = twi_w_op(w, TWI_SELECT, here, part, k ? x : twi_scan_identity(s));
    }
    return x;
}

static void run_high_by_lanes(const twi_scan *s, uint32_t board) {
    twi_lid parts[4], all = 0;
    for (int64_t k = 0; k * s->w->lanes < totals_of(s->map, &s->at); k++)
        parts[k] = scan_totals(s, board, k, &all);
    const unsigned depth = open(s, s->at.high);
    add_before(s, s->at.low | s->at.mid, total_before(s, parts));
    twi_w_shut(s->w, depth);
}

void twi_scan_finish(twi_lowering *w, twi_id id) {
    const twi_scan s = begin(w, id);
    const uint64_t effect = s.at.sub >= 0 ? twi_w_effect(w) : 0;
    const uint32_t board = effect ? make_board(&s) : 0, mark = twi_w_scope(w);
    unsigned depth = twi_w_depth(w);
    if (effect)
        twi_w_event(w, 0, effect);
    open_own_time(&s);
    if (twi_scan_is_canonical(w->ir, id)) {
        twi_scan_canonical(&s);
    } else {
        (void)open(&s, s.at.high);
        twi_lid total = run_mid(&s);
        if (board)
            write_total(&s, board, total);
    }
    twi_w_shut(w, depth);
    if (board) {
        twi_w_event(w, effect, 0);
        open_own_time(&s);
        if (twi_scan_by_lanes(w->ir, w->caps, w->frame, id))
            run_high_by_lanes(&s, board);
        else
            run_high(&s, board);
        twi_w_shut(w, depth);
    }
    twi_w_forget(w, mark);
    w->home[id].kind = TWI_HOME_STRIPE;
}
