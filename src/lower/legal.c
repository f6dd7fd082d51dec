/* SPDX-License-Identifier: Apache-2.0
 * Legality of what only the walk can tell, after the rules of maps (plan/rules.h): each refusal names the value or
 * array and says what would be right.
 */
#include "lower/walk.h"
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

/* Loops over an axis are opened outside the digits that its bounds vary with, unless those are the group's or a trip's. */
static bool
bounds_fit(const judge *j, unsigned axis)
{
    const twi_axis *a = &j->ir->axis.at[axis];
    uint64_t axes = j->ir->ix.at[a->lo].axes | j->ir->ix.at[a->hi].axes;
    for (unsigned b = 1; b < j->ir->axis.n; b++) {
        if (!(axes >> b & 1) || !(j->frame->axes >> b & 1))
            continue;
        /* inside a block the bounds are those of the block: its own digits do not matter */
        const twi_map *m = &j->frame->map[b];
        for (unsigned d = j->ir->axis.at[b].block ? m->n : 0; d < m->n; d++)
            if (m->d[d].extent != 1 && m->d[d].level != TWI_LV_GRID && m->d[d].level != TWI_LV_SERIAL)
                return twi_refuse(j->why,
                                  "the bounds of axis %s depend on %s, which has a %s digit: only grid and serial digits",
                                  twi_axis_text(j->ir, j->arena, axis), twi_axis_text(j->ir, j->arena, b),
                                  twi_level_name(m->d[d].level));
    }
    return true;
}

/* Canonical rows: subgroups combine last, so they must weigh most; not inside chunks. */
static bool
canonical_subs_fit(const judge *j, twi_id fold)
{
    unsigned axis = twi_ins_of(j->ir, fold)->fold[0];
    const twi_map *m = &j->frame->map[axis];
    bool sub = false, chunks = false;
    int64_t lightest = INT64_MAX, heaviest = 0;
    for (unsigned d = 0; d < m->n; d++) {
        int64_t weight = twi_map_weight(m, d);
        if (m->d[d].extent == 1 || (j->ir->axis.at[axis].kind == TWI_AXIS_STEP && d == 0))
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
        return twi_refuse(j->why, "fold %s: canonical chunks of 2048 on subgroups are not built yet",
                          twi_value_name(j->ir, fold));
    if (sub && lightest < heaviest)
        return twi_refuse(j->why, "fold %s: canonical: subgroups combine last, but a sub digit weighs %lld < %lld",
                          twi_value_name(j->ir, fold), (long long)lightest, (long long)heaviest);
    if (chunks && j->ir->axis.at[axis].kind == TWI_AXIS_STEP)
        return twi_refuse(j->why, "fold %s: canonical chunks inside a serial block are not built yet",
                          twi_value_name(j->ir, fold));
    return true;
}

/* Canonical rows: each chunk is folded as a whole, so its loop is opened outside the one over its rows of 256. */
static bool
canonical_loops_fit(const judge *j, twi_id fold)
{
    unsigned axis = twi_ins_of(j->ir, fold)->fold[0];
    int64_t last = INT64_MAX;
    for (unsigned k = 0; k < j->frame->loops; k++) {
        if (j->frame->order[k].axis != axis)
            continue;
        int64_t weight = twi_map_weight(&j->frame->map[axis], j->frame->order[k].digit);
        if (weight > last)
            return twi_refuse(j->why, "fold %s: canonical: the loop of weight %lld is opened inside the one of %lld",
                              twi_value_name(j->ir, fold), (long long)weight, (long long)last);
        last = weight;
    }
    return true;
}

/* A stripe: one dimension an axis with time digits, of a size known here. */
static bool
stripe_fits(const judge *j, twi_id v)
{
    uint64_t axes = twi_ins_of(j->ir, v)->type.axes;
    unsigned rank = 0;
    for (unsigned a = 1; a < j->ir->axis.n; a++) {
        if (!(axes >> a & 1))
            continue;
        const twi_map *m = &j->frame->map[a];
        rank += twi_digits_extent(m, twi_time_digits(j->ir, j->frame, a)) != 1;
        for (unsigned d = 0; d < m->n; d++) {
            bool rolled = m->d[d].level == TWI_LV_LOOP ||
                          (m->d[d].level == TWI_LV_SERIAL && j->ir->axis.at[a].kind != TWI_AXIS_STEP);
            if (!rolled || m->d[d].extent == 1)
                continue;
            if (m->d[d].extent == 0)
                return twi_refuse(j->why, "value %s must be kept, but its loop over %s has a run-time count",
                                  twi_value_name(j->ir, v), twi_axis_text(j->ir, j->arena, a));
            if (!j->caps->indexable)
                return twi_refuse(j->why,
                                  "value %s must be kept, but the target cannot index private memory by loop %lld of %s",
                                  twi_value_name(j->ir, v), (long long)m->d[d].extent, twi_axis_text(j->ir, j->arena, a));
        }
    }
    return rank <= TWI_MAX_RANK || twi_refuse(j->why, "value %s: a stripe over %u axes > %d", twi_value_name(j->ir, v),
                                              rank, TWI_MAX_RANK);
}

/* Workers that hold the same element would store it while others still load it. */
static bool
updates_fit(const judge *j, twi_id store)
{
    uint32_t array = j->ir->access.at[twi_ins_of(j->ir, store)->attr].array;
    if (j->caps->family == TWI_FAMILY_CPU || !twi_scope_touches(&j->cut, array, TWI_LOAD))
        return true;
    uint64_t axes = twi_access_axes(j->ir, store);
    int64_t covered = 1, workers = (int64_t)twi_plan_subs(j->plan) * j->caps->lane;
    for (unsigned a = 1; a < j->ir->axis.n; a++)
        if (axes >> a & 1)
            covered *= twi_map_level_extent(&j->frame->map[a], TWI_LV_SUB) *
                       twi_map_level_extent(&j->frame->map[a], TWI_LV_LANE);
    return covered == workers ||
           twi_refuse(j->why, "array %s is loaded and stored here: its axes must take all %lld workers, they take %lld",
                      twi_text(&j->ir->ctx->names, j->ir->array.at[array].name), (long long)workers, (long long)covered);
}

static bool
stages_fit(const judge *j)
{
    for (unsigned s = 0; s < j->plan->stages; s++)
        if (j->plan->stage[s].n > TWI_MAX_RANK)
            return twi_refuse(j->why, "stage %s: %u digits > %d", twi_value_name(j->ir, j->plan->stage[s].value),
                              j->plan->stage[s].n, TWI_MAX_RANK);
    return true;
}

static bool
value_fits(const judge *j, twi_id v)
{
    const twi_ins *i = twi_ins_of(j->ir, v);
    if (twi_is_canonical_row(j->ir, v) && twi_fold_rounds(j->ir, v) &&
        (!canonical_subs_fit(j, v) || !canonical_loops_fit(j, v)))
        return false;
    if (j->cut.value[v].kept && !stripe_fits(j, v))
        return false;
    return i->op != TWI_STORE || updates_fit(j, v);
}

bool
twi_plan_legal(const tw_ir *ir, const twi_caps *caps, const twi_plan *plan, twi_why *why)
{
    if (!twi_plan_rules(ir, caps, plan, why))
        return false;
    twi_arena arena;
    twi_arena_init(&arena, ir->arena->mem);
    judge j = {.arena = &arena, .ir = ir, .caps = caps, .plan = plan, .frame = &plan->frame[0], .why = why};
    twi_cut_scope(&arena, ir, plan, twi_par_region(ir, plan->scope), &j.cut);
    bool ok = stages_fit(&j);
    for (unsigned a = 1; ok && a < ir->axis.n; a++)
        ok = !(j.frame->axes >> a & 1) || bounds_fit(&j, a);
    for (uint32_t k = 0; ok && k < j.cut.all.n; k++)
        ok = value_fits(&j, j.cut.all.at[k]);
    twi_arena_fini(&arena);
    return ok;
}
