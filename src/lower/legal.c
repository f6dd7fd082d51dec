/* SPDX-License-Identifier: Apache-2.0
 * Legality of what only the walk can tell, after the rules of maps (plan/rules.h): each refusal
 * names the value or array and says what would be right.
 */
#include "lower/walk.h"
#include "plan/atom.h"
#include "plan/rules.h"

typedef struct {
    twi_arena *arena;
    const tw_ir *ir;
    const twi_caps *caps;
    const twi_plan *plan;
    const twi_frame *frame;
    twi_cut cut;
    twi_why *why;
} judge;

/* Axes of the values that bounds are made of, and whether these are there before any phase. */
typedef struct {
    const judge *j;
    uint64_t axes;
    bool ready;
} values;

static void add_value(void *user, twi_id v) {
    values *s = user;
    const twi_ins *i = twi_ins_of(s->j->ir, v);
    s->axes |= i->type.axes;
    s->ready = s->ready && s->j->cut.value[v].avail == 0 && i->op != TWI_CARRY;
    for (unsigned k = 0; k < i->nargs && twi_is_local(s->j->ir, v); k++)
        add_value(s, twi_arg(s->j->ir, v, k));
}

/* Loops over an axis are opened outside the digits that its bounds vary with, unless those are the
 * group's or a trip's. */
static bool bounds_fit(const judge *j, unsigned axis) {
    const twi_axis *a = &j->ir->axis.at[axis];
    uint64_t axes = j->ir->ix.at[a->lo].axes | j->ir->ix.at[a->hi].axes;
    values in_bounds = {j, 0, true};
    twi_ix_values(j->ir, a->lo, add_value, &in_bounds);
    twi_ix_values(j->ir, a->hi, add_value, &in_bounds);
    axes |= in_bounds.axes;
    if (!in_bounds.ready)
        return twi_refuse(j->why,
                          "the bounds of axis %s come from a fold, a scan or a carried value",
                          twi_axis_text(j->ir, j->arena, axis));
    for (unsigned b = 1; b < j->ir->axis.n; b++) {
        if (!(axes >> b & 1) || !(j->frame->axes >> b & 1))
            continue;
        /* inside a block the bounds are those of the block: its own digits do not matter */
        const twi_map *m = &j->frame->map[b];
        for (unsigned d = j->ir->axis.at[b].block ? m->n : 0; d < m->n; d++)
            if (m->d[d].extent != 1 && m->d[d].level != TWI_LV_GRID &&
                m->d[d].level != TWI_LV_SERIAL)
                return twi_refuse(j->why,
                                  "the bounds of axis %s depend on %s, which has a %s digit: only "
                                  "grid and serial digits",
                                  twi_axis_text(j->ir, j->arena, axis),
                                  twi_axis_text(j->ir, j->arena, b), twi_level_name(m->d[d].level));
    }
    return true;
}

/* Canonical rows: subgroups combine last, so they must weigh most; not inside chunks. */
static bool canonical_subs_fit(const judge *j, twi_id fold) {
    unsigned axis = twi_ins_of(j->ir, fold)->fold[0];
    const twi_map *m = &j->frame->map[axis];
    bool sub = false, chunks = false;
    int64_t lightest = INT64_MAX, heaviest = 0;
    for (unsigned d = 0; d < m->n; d++) {
        int64_t weight = twi_map_weight(m, d);
        bool outer = j->ir->axis.at[axis].kind == TWI_AXIS_STEP && d == 0;
        if (m->d[d].extent == 1 || outer || m->d[d].level == TWI_LV_GRID)
            continue;
        chunks |= weight >= 2048;
        if (m->d[d].level == TWI_LV_SUB) {
            sub = true;
            lightest = weight < lightest ? weight : lightest;
        } else if (weight < 256) {
            heaviest = weight > heaviest ? weight : heaviest;
        }
    }
    if (sub && chunks)
        return twi_refuse(j->why,
                          "fold %s: canonical chunks of 2048 on subgroups are not built yet",
                          twi_value_name(j->ir, fold)) ||
               twi_refused_for(j->why, TWI_WHY_LATER);
    if (sub && lightest < heaviest)
        return twi_refuse(
            j->why,
            "fold %s: canonical: subgroups combine last, but a sub digit weighs %lld < %lld",
            twi_value_name(j->ir, fold), (long long)lightest, (long long)heaviest);
    if (chunks && j->ir->axis.at[axis].kind == TWI_AXIS_STEP)
        return twi_refuse(j->why,
                          "fold %s: canonical chunks inside a serial block are not built yet",
                          twi_value_name(j->ir, fold)) ||
               twi_refused_for(j->why, TWI_WHY_LATER);
    return true;
}

/* Canonical rows: each chunk is folded as a whole, so its loop is opened outside the one over its
 * rows of 256. */
static bool canonical_loops_fit(const judge *j, twi_id fold) {
    unsigned axis = twi_ins_of(j->ir, fold)->fold[0];
    int64_t last = INT64_MAX;
    for (unsigned k = 0; k < j->frame->loops; k++) {
        if (j->frame->order[k].axis != axis)
            continue;
        int64_t weight = twi_map_weight(&j->frame->map[axis], j->frame->order[k].digit);
        if (weight > last)
            return twi_refuse(
                j->why,
                "fold %s: canonical: the loop of weight %lld is opened inside the one of %lld",
                twi_value_name(j->ir, fold), (long long)weight, (long long)last);
        last = weight;
    }
    return true;
}

/* A stripe: one dimension an axis with time digits, of a size known here. */
static bool stripe_fits(const judge *j, twi_id v) {
    uint64_t axes = twi_ins_of(j->ir, v)->type.axes;
    const twi_place *place = twi_plan_place(j->plan, v);
    const twi_frame *frame = &j->plan->frame[place ? place->frame : 0];
    unsigned rank = 0;
    for (unsigned a = 1; a < j->ir->axis.n; a++) {
        if (!(axes >> a & 1))
            continue;
        const twi_map *m = &frame->map[a];
        rank += twi_digits_extent(m, twi_time_digits(j->ir, frame, a)) != 1;
        for (unsigned d = 0; d < m->n; d++) {
            bool rolled = m->d[d].level == TWI_LV_LOOP || (m->d[d].level == TWI_LV_SERIAL &&
                                                           j->ir->axis.at[a].kind != TWI_AXIS_STEP);
            if (!rolled || m->d[d].extent == 1 || twi_frame_is_around(frame, a, d))
                continue;
            if (m->d[d].extent == 0)
                return twi_refuse(
                    j->why, "value %s must be kept, but its loop over %s has a run-time count",
                    twi_value_name(j->ir, v), twi_axis_text(j->ir, j->arena, a));
            if (!j->caps->indexable)
                return twi_refuse(j->why,
                                  "value %s must be kept, but the target cannot index private "
                                  "memory by loop %lld of %s",
                                  twi_value_name(j->ir, v), (long long)m->d[d].extent,
                                  twi_axis_text(j->ir, j->arena, a)) ||
                       twi_refused_for(j->why, TWI_WHY_SLOTS);
        }
    }
    return rank <= TWI_MAX_RANK || twi_refuse(j->why, "value %s: a stripe over %u axes > %d",
                                              twi_value_name(j->ir, v), rank, TWI_MAX_RANK);
}

/* Stores run where their value is taken, else where it is made. */
static unsigned store_frame(const judge *j, twi_id store) {
    const twi_place *p = twi_plan_place(j->plan, twi_arg(j->ir, store, 0));
    return !p ? 0 : p->to ? p->to - 1u : p->frame;
}

/* Workers that hold the same element would store it while others still load it. */
static bool updates_fit(const judge *j, twi_id store) {
    uint32_t array = j->ir->access.at[twi_ins_of(j->ir, store)->attr].array;
    if (j->caps->family == TWI_FAMILY_CPU || !twi_scope_touches(&j->cut, array, TWI_LOAD) ||
        twi_runs_alone(&j->cut, j->caps, j->plan))
        return true;
    uint64_t axes = twi_access_axes(j->ir, store);
    const twi_frame *frame = &j->plan->frame[store_frame(j, store)];
    int64_t covered = 1, workers = (int64_t)twi_plan_subs(j->plan) * j->caps->lane;
    for (unsigned a = 1; a < j->ir->axis.n; a++)
        if (axes >> a & 1)
            covered *= twi_map_level_extent(&frame->map[a], TWI_LV_SUB) *
                       twi_map_level_extent(&frame->map[a], TWI_LV_LANE);
    return covered == workers ||
           twi_refuse(j->why,
                      "array %s is loaded and stored here: its axes must take all %lld workers, "
                      "they take %lld",
                      twi_text(&j->ir->ctx->names, j->ir->array.at[array].name), (long long)workers,
                      (long long)covered);
}

/* ---- frames
 * ------------------------------------------------------------------------------------------- */
static const char *frame_name(const judge *j, unsigned f) {
    return twi_text(&j->ir->ctx->names, j->plan->frame[f].name);
}

/* Positions that a group and a trip leave to the rest of the axis; 0: known at run time alone. */
static int64_t inner_extent(const judge *j, unsigned frame, unsigned axis) {
    const twi_map *m = &j->plan->frame[frame].map[axis];
    bool outer =
        m->n && (m->d[0].level == TWI_LV_GRID ||
                 (m->d[0].level == TWI_LV_SERIAL && j->ir->axis.at[axis].kind == TWI_AXIS_STEP));
    int64_t n = outer ? twi_map_weight(m, 0) : twi_map_extent(m);
    return n == INT64_MAX ? 0 : n;
}

/* All frames give the same positions to a group and to a trip. */
static bool frames_agree(const judge *j) {
    for (unsigned f = 1; f < j->plan->frames; f++)
        for (unsigned a = 1; a < j->ir->axis.n; a++) {
            const twi_map *m = &j->plan->frame[0].map[a], *n = &j->plan->frame[f].map[a];
            unsigned kind = j->ir->axis.at[a].kind;
            if (!(j->plan->frame[f].axes & j->plan->frame[0].axes) >> a & 1 ||
                kind == TWI_AXIS_FULL || !m->n || !n->n)
                continue;
            if (m->d[0].extent != n->d[0].extent || twi_map_weight(m, 0) != twi_map_weight(n, 0))
                return twi_refuse(
                    j->why,
                    "axis %s: its %s digit is %lld of weight %lld in frame %s, %lld of %lld in %s",
                    twi_axis_text(j->ir, j->arena, a), twi_level_name(m->d[0].level),
                    (long long)m->d[0].extent, (long long)twi_map_weight(m, 0), frame_name(j, 0),
                    (long long)n->d[0].extent, (long long)twi_map_weight(n, 0), frame_name(j, f));
        }
    return true;
}

static bool has_loops(const judge *j, unsigned frame, uint64_t axes) {
    for (unsigned a = 1; a < j->ir->axis.n; a++) {
        const twi_map *m = &j->plan->frame[frame].map[a];
        for (unsigned d = 0; (axes >> a & 1) && d < m->n; d++)
            if (m->d[d].level == TWI_LV_LOOP && m->d[d].extent != 1)
                return true;
    }
    return false;
}

/* What is woven into boxes of another frame lies in vectors of the same workers and lanes, all
 * positions of a box in one of them. */
static bool boxes_fit(const judge *j, const twi_place *p) {
    const twi_frame *home = &j->plan->frame[p->frame], *to = &j->plan->frame[p->to - 1u];
    const unsigned boxed = twi_boxed_axis(j->ir, to, p->value);
    const uint64_t others = twi_ins_of(j->ir, p->value)->type.axes & ~(UINT64_C(1) << boxed);
    for (unsigned a = 1; boxed && a < j->ir->axis.n; a++)
        if (a == boxed ? !twi_map_same_space(&home->map[a], &to->map[a])
                       : !twi_same_maps(j->plan, p->frame, p->to - 1u, others & UINT64_C(1) << a))
            return twi_refuse(
                j->why,
                "value %s: frame %s takes it in boxes: axis %s has the same lanes and "
                "as many positions there as in %s",
                twi_value_name(j->ir, p->value), frame_name(j, p->to - 1u),
                twi_axis_text(j->ir, j->arena, a), frame_name(j, p->frame));
    return true;
}

/* Can the carrier take the value from its frame to the one that its place names? */
static bool carrier_fits(const judge *j, const twi_place *p) {
    const twi_ins *i = twi_ins_of(j->ir, p->value);
    const char *name = twi_value_name(j->ir, p->value);
    unsigned kind = twi_op_row(i->op)->kind, to = p->to - 1u;
    bool simt = j->caps->family == TWI_FAMILY_SIMT;
    int64_t bytes = (int64_t)tw_elem_size((tw_elem)i->type.elem), row = 0;
    if (kind != TWI_KIND_LOCAL && kind != TWI_KIND_FOLD)
        return twi_refuse(j->why,
                          "value %s: only element by element values and folds are converted", name);
    if (p->via != TWI_TO_PRIVATE && p->via != TWI_TO_SHARED)
        return twi_refuse(j->why, "value %s: to %s goes via private or shared", name,
                          frame_name(j, to));
    if (p->via == TWI_TO_SHARED && !simt)
        return twi_refuse(j->why, "value %s: one worker a group: via private", name);
    for (unsigned a = 1; a < j->ir->axis.n; a++) {
        const twi_map *m = &j->plan->frame[p->frame].map[a], *n = &j->plan->frame[to].map[a];
        if (!(i->type.axes >> a & 1))
            continue;
        if (!n->n)
            return twi_refuse(j->why, "value %s: frame %s has no map for axis %s", name,
                              frame_name(j, to), twi_axis_text(j->ir, j->arena, a));
        int64_t x = inner_extent(j, p->frame, a), y = inner_extent(j, to, a);
        if (x == 0 || y == 0)
            return twi_refuse(
                j->why, "value %s: a carrier over a loop of run-time count has no size", name);
        const int64_t most = x > y ? x : y;
        row = most;
        bytes = bytes > INT32_MAX / most ? INT32_MAX : bytes * most;
        if (p->via == TWI_TO_PRIVATE && simt && !twi_map_same_space(m, n))
            return twi_refuse(j->why,
                              "value %s: other workers hold axis %s in frame %s: via shared", name,
                              twi_axis_text(j->ir, j->arena, a), frame_name(j, to));
    }
    for (unsigned k = 0; k < i->nfold; k++)
        if (twi_map_level_extent(&j->plan->frame[p->frame].map[i->fold[k]], TWI_LV_SUB) > 1)
            return twi_refuse(j->why, "value %s: a fold over subgroups is not converted", name);
    if (p->via == TWI_TO_PRIVATE && simt && !j->caps->indexable &&
        (has_loops(j, p->frame, i->type.axes) || has_loops(j, to, i->type.axes)))
        return twi_refuse(j->why, "value %s: the target cannot index private memory by a loop",
                          name) ||
               twi_refused_for(j->why, TWI_WHY_SLOTS);
    if (p->via == TWI_TO_SHARED && bytes > (int64_t)j->caps->shared)
        return twi_refuse(j->why, "value %s: its carrier takes shared %lld B > %u B", name,
                          (long long)bytes, j->caps->shared);
    if (p->swizzle.span && !(i->type.axes & (i->type.axes - 1)))
        return twi_refuse(j->why, "value %s: swizzle %u: its carrier is one row", name,
                          p->swizzle.span);
    if (!twi_swizzle_fits("value", name, p->swizzle, (tw_elem)i->type.elem, row, j->why))
        return false;
    int64_t most = simt ? 1 << 20 : 1 << 28; /* one worker's: scratch memory where it is large */
    return bytes <= most || twi_refuse(j->why, "value %s: its carrier takes %lld B > %lld B", name,
                                       (long long)bytes, (long long)most);
}

/* keep shared: an element a position of the group. */
static bool shared_fits(const judge *j, twi_id v) {
    const twi_ins *i = twi_ins_of(j->ir, v);
    const unsigned frame = twi_plan_place(j->plan, v)->frame;
    int64_t bytes = (int64_t)tw_elem_size((tw_elem)i->type.elem);
    unsigned rank = 0;
    for (unsigned a = 1; a < j->ir->axis.n; a++) {
        if (!(i->type.axes >> a & 1))
            continue;
        const int64_t x = inner_extent(j, frame, a);
        if (x == 0)
            return twi_refuse(j->why,
                              "value %s: keep shared over a loop of run-time count has no size",
                              twi_value_name(j->ir, v));
        rank++;
        bytes = bytes > INT32_MAX / x ? INT32_MAX : bytes * x;
    }
    if (rank > TWI_MAX_RANK)
        return twi_refuse(j->why, "value %s: keep shared over %u axes > %d",
                          twi_value_name(j->ir, v), rank, TWI_MAX_RANK);
    return bytes <= (int64_t)j->caps->shared ||
           twi_refuse(j->why, "value %s: keep shared takes %lld B > %u B", twi_value_name(j->ir, v),
                      (long long)bytes, j->caps->shared);
}

static bool operands_reach(const judge *j, twi_id v, unsigned frame, unsigned depth);

static bool is_staged(const judge *j, twi_id v) {
    bool is = false;
    for (unsigned s = 0; s < j->plan->stages; s++)
        is = is || j->plan->stage[s].value == v;
    return is;
}

static bool value_reaches(const judge *j, twi_id v, unsigned frame, unsigned depth) {
    const twi_ins *i = twi_ins_of(j->ir, v);
    const twi_place *p = twi_plan_place(j->plan, i->op == TWI_PART ? twi_arg(j->ir, v, 0) : v);
    unsigned kind = twi_op_row(i->op)->kind, home = p ? p->frame : 0;
    if (is_staged(j, v) && home != frame)
        return twi_refuse(j->why,
                          "stage %s: its order is of digits of frame %s, and it is used in %s",
                          twi_value_name(j->ir, v), frame_name(j, home), frame_name(j, frame));
    if (twi_is_local(j->ir, v) && !j->cut.value[v].kept)
        return operands_reach(j, v, frame, depth + 1);
    if (kind == TWI_KIND_LEAF && i->op != TWI_CARRY && i->op != TWI_RESULT && i->op != TWI_PART)
        return true;
    if (twi_same_maps(j->plan, home, frame, i->type.axes) || (p && p->keep == TWI_KEEP_SHARED) ||
        (p && p->to == frame + 1 && i->op != TWI_PART))
        return true;
    return twi_refuse(
        j->why,
        "value %s lies in frame %s and is used in %s: say 'value %s: to %s via private' or shared",
        twi_value_name(j->ir, v), frame_name(j, home), frame_name(j, frame),
        twi_value_name(j->ir, v), frame_name(j, frame));
}

/* All that v needs in the frame can be had there. */
static bool operands_reach(const judge *j, twi_id v, unsigned frame, unsigned depth) {
    const twi_ins *i = twi_ins_of(j->ir, v);
    if (depth > 200)
        return twi_refuse(j->why, "value %s: more than 200 values deep across frames",
                          twi_value_name(j->ir, v));
    for (unsigned k = 0; k < i->nargs; k++)
        if (!value_reaches(j, twi_arg(j->ir, v, k), frame, depth))
            return false;
    return true;
}

/* Axes that a dot of the frame takes by boxes: no other value has them there (rules_atom.c). */
static uint64_t boxed_axes(const judge *j, unsigned frame) {
    uint64_t axes = 0;
    for (unsigned a = 1; a < j->ir->axis.n; a++)
        if (j->plan->frame[frame].axes >> a & 1 && twi_atom_digit(&j->plan->frame[frame], a) >= 0)
            axes |= UINT64_C(1) << a;
    return axes;
}

/* Do the frames differ in how time digits cut the positions, in the order of loops and in boxes
 * alone? */
static bool maps_agree(const judge *j) {
    for (unsigned f = 1; f < j->plan->frames; f++)
        if (!twi_same_maps(j->plan, 0, f,
                           j->plan->frame[0].axes & j->plan->frame[f].axes &
                               ~(boxed_axes(j, 0) | boxed_axes(j, f))))
            return false;
    return true;
}

static bool frames_fit(const judge *j) {
    if (j->plan->frames == 1)
        return true;
    if (!frames_agree(j))
        return false;
    for (uint32_t k = 0; k < j->plan->place.n; k++)
        if (j->plan->place.at[k].to &&
            !(carrier_fits(j, &j->plan->place.at[k]) && boxes_fit(j, &j->plan->place.at[k])))
            return false;
    for (uint32_t k = 0; k < j->cut.all.n; k++) {
        twi_id v = j->cut.all.at[k];
        const twi_ins *i = twi_ins_of(j->ir, v);
        const twi_place *p = twi_plan_place(j->plan, v);
        unsigned kind = twi_op_row(i->op)->kind;
        if (kind == TWI_KIND_REGION && !maps_agree(j))
            return twi_refuse(j->why,
                              "%u frames of other maps, but for loops and slots, around a serial "
                              "region are not built yet",
                              j->plan->frames) ||
                   twi_refused_for(j->why, TWI_WHY_LATER);
        bool root = twi_has_bracket(i->op) || kind == TWI_KIND_EFFECT || j->cut.value[v].kept;
        if (root && !operands_reach(j, v,
                                    kind == TWI_KIND_EFFECT ? store_frame(j, v)
                                    : p                     ? p->frame
                                                            : 0,
                                    0))
            return false;
    }
    return true;
}

static bool stages_fit(const judge *j) {
    for (unsigned s = 0; s < j->plan->stages; s++)
        if (j->plan->stage[s].n + (j->plan->stage[s].window > 1) > TWI_MAX_RANK)
            return twi_refuse(j->why, "stage %s: %u digits > %d",
                              twi_value_name(j->ir, j->plan->stage[s].value), j->plan->stage[s].n,
                              TWI_MAX_RANK - (j->plan->stage[s].window > 1));
    return true;
}

static bool value_fits(const judge *j, twi_id v) {
    const twi_ins *i = twi_ins_of(j->ir, v);
    const twi_place *place = twi_plan_place(j->plan, v);
    const twi_frame *frame = &j->plan->frame[place ? place->frame : 0];
    if (twi_is_canonical_row(j->ir, v) && !twi_fold_streams(j->ir, frame, v) &&
        (!canonical_subs_fit(j, v) || !canonical_loops_fit(j, v)))
        return false;
    if (twi_folds_by_weight(j->ir, j->plan, v) && twi_is_merged(j->ir, v))
        return twi_refuse(j->why, "fold %s: %s of several results is not built yet",
                          twi_value_name(j->ir, v), twi_weight_word(j->ir, v)) ||
               twi_refused_for(j->why, TWI_WHY_LATER);
    bool scan = twi_op_row(i->op)->kind == TWI_KIND_ORDER && !twi_scan_streams(j->ir, v);
    const bool shared = place && place->keep == TWI_KEEP_SHARED;
    if ((j->cut.value[v].kept || scan) && !(shared ? shared_fits(j, v) : stripe_fits(j, v)))
        return false;
    return twi_op_row(i->op)->kind != TWI_KIND_EFFECT || updates_fit(j, v);
}

/* What a phase makes once must not lie inside a loop around all phases. */
static bool around_fits(const judge *j, twi_id v) {
    const twi_ins *i = twi_ins_of(j->ir, v);
    unsigned kind = twi_op_row(i->op)->kind;
    bool store = kind == TWI_KIND_EFFECT;
    if (!store && !twi_has_bracket(i->op) && !j->cut.value[v].kept && i->op != TWI_CARRY)
        return true;
    uint64_t axes = store ? twi_access_axes(j->ir, v) : i->type.axes;
    for (unsigned k = 0; k < j->frame->around; k++)
        if (!(axes >> j->frame->order[k].axis & 1))
            return twi_refuse(
                j->why, "around %u: %s does not vary along %s, whose loop of %lld would repeat it",
                j->frame->around, twi_value_name(j->ir, v),
                twi_axis_text(j->ir, j->arena, j->frame->order[k].axis),
                (long long)j->frame->map[j->frame->order[k].axis]
                    .d[j->frame->order[k].digit]
                    .extent);
    return true;
}

static bool structure_fits(const tw_ir *ir, const twi_caps *caps, const twi_plan *plan,
                           twi_why *why) {
    twi_arena *arena = ir->arena; /* as in plan/rules.c: what is made here is given back at once */
    twi_mark mark = twi_arena_mark(arena);
    judge j = {
        .arena = arena, .ir = ir, .caps = caps, .plan = plan, .frame = &plan->frame[0], .why = why};
    twi_cut_scope(arena, ir, plan, twi_par_region(ir, plan->scope), &j.cut);
    bool ok = stages_fit(&j) && frames_fit(&j);
    for (uint32_t k = 0; plan->frame[0].around && k < j.cut.all.n; k++)
        ok = ok && around_fits(&j, j.cut.all.at[k]);
    for (unsigned a = 1; ok && a < ir->axis.n; a++)
        ok = !(j.frame->axes >> a & 1) || bounds_fit(&j, a);
    twi_id_list needs = {0};
    twi_split_needs(arena, ir, plan, &needs);
    for (uint32_t k = 0; !needs.n && k < j.cut.all.n; k++) /* nothing is split: all of them */
        ok = ok && value_fits(&j, j.cut.all.at[k]);
    for (uint32_t k = 0; k < needs.n; k++)
        ok = ok && value_fits(&j, needs.at[k]);
    twi_arena_reset(arena, mark);
    return ok;
}

/* Each launch by itself, but for what has to be counted. A plan that splits folds has one for the
 * launch that goes on. */
bool twi_plan_fits(const tw_ir *ir, const twi_caps *caps, const twi_plan *plan, twi_why *why) {
    twi_why then = {.text = ""};
    twi_mark mark = twi_arena_mark(ir->arena);
    bool ok = twi_plan_rules(ir, caps, plan, why) && structure_fits(ir, caps, plan, why);
    const tw_ir *second = ok && plan->then ? twi_split_ir(ir->arena, ir, plan) : NULL;
    if (second && !(twi_plan_rules(second, caps, plan->then, &then) &&
                    structure_fits(second, caps, plan->then, &then)))
        ok = twi_refuse(why, "second launch: %.200s", then.text);
    twi_arena_reset(ir->arena, mark);
    return ok;
}

/* Workers of a launch that wait for each other are as many as the target wants them to be. */
static bool meetings_fit(const twi_caps *caps, const twi_features *f, twi_why *why) {
    return !f->meets || f->workers >= caps->barrier_workers ||
           twi_refuse(why, "%u workers a group wait for each other, on this target %u at least",
                      f->workers, caps->barrier_workers);
}

/* Private arrays that no register holds lie in memory that a driver reserves for every worker that
 * may reside on the device, whether the grid has so many or not; or, on a CPU that plays a GPU, for
 * all workers of a group on the stack of the thread that runs it. */
static bool private_fits(const twi_caps *caps, const twi_features *f, twi_why *why) {
    const unsigned long long worker = f->private_bytes, group = worker * f->workers;
    if (caps->private_bytes && worker > caps->private_bytes)
        return twi_refuse(why, "private arrays: %llu B a worker > %u B", worker,
                          caps->private_bytes);
    return !caps->group_private_bytes || group <= caps->group_private_bytes ||
           twi_refuse(why, "private arrays: %llu B a worker, %llu B a group of %u > %u B", worker,
                      group, f->workers, caps->group_private_bytes);
}

/* Does each launch keep to what its features say of it? */
static bool count_fits(const twi_caps *caps, const twi_features *f, twi_why *why) {
    return meetings_fit(caps, f, why) && private_fits(caps, f, why);
}

/* Stages, partial results and carriers lie in shared memory together: the walk itself says how much
 * they take. */
bool twi_counts_fit(const twi_caps *caps, const twi_features *f, twi_why *why) {
    if (!count_fits(caps, f, why) || (f->then && !count_fits(caps, f->then, why)))
        return false;
    uint32_t shared = f->shared_bytes;
    if (f->then && f->then->shared_bytes > shared)
        shared = f->then->shared_bytes;
    return caps->family == TWI_FAMILY_CPU || shared <= caps->shared ||
           twi_refuse(why, "stages, partial results, carriers and kept values: shared %u B > %u B",
                      shared, caps->shared);
}

bool twi_plan_counted(twi_arena *arena, const tw_ir *ir, const twi_caps *caps, const twi_plan *plan,
                      twi_features *out, twi_why *why) {
    if (!twi_plan_fits(ir, caps, plan, why))
        return false;
    twi_tally(arena, ir, caps, plan, out);
    return twi_counts_fit(caps, out, why);
}

bool twi_plan_legal(const tw_ir *ir, const twi_caps *caps, const twi_plan *plan, twi_why *why) {
    if (caps->family == TWI_FAMILY_CPU) /* nothing to count */
        return twi_plan_fits(ir, caps, plan, why);
    twi_features f;
    twi_mark mark = twi_arena_mark(ir->arena);
    bool ok = twi_plan_counted(ir->arena, ir, caps, plan, &f, why);
    twi_arena_reset(ir->arena, mark);
    return ok;
}
