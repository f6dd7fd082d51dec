/* SPDX-License-Identifier: Apache-2.0
 * Scans as conditions on the map of their axis (docs/plans.md): from the lightest digit on time,
 * one lane digit, time, one sub digit, time; fixed orders run in time.
 */
#include "plan/rules_parts.h"

/* "scan V: AXIS = MAP: " and what is said of them. */
static bool refuse_scan(const twi_judge *j, twi_id v, const twi_map *m, const char *what) {
    return twi_refuse(j->why, "scan %s: %s = %s: %s", twi_value_name(j->ir, v),
                      twi_judge_axis(j, twi_ins_of(j->ir, v)->fold[0]), twi_judge_map(j, m), what);
}

/* One loop serves all that is done along the axis: does all of it go from the last element? */
static bool runs_down(const twi_judge *j, twi_id v, const twi_map *m) {
    const unsigned axis = twi_ins_of(j->ir, v)->fold[0];
    for (twi_id o = 1; o < j->ir->ins.n; o++) {
        const twi_ins *i = twi_ins_of(j->ir, o);
        const unsigned kind = twi_op_row(i->op)->kind;
        bool along = false;
        for (unsigned f = 0; f < i->nfold; f++)
            along = along || i->fold[f] == axis;
        if (!along || (kind != TWI_KIND_FOLD && kind != TWI_KIND_ORDER))
            continue;
        if (kind == TWI_KIND_ORDER && !(i->attr & TWI_SCAN_REVERSE))
            return refuse_scan(j, v, m,
                               "scans of both directions along a range known at run time are not "
                               "built yet") ||
                   twi_refused_for(j->why, TWI_WHY_LATER);
        const unsigned order = i->order == TWI_ORDER_DEFAULT ? j->ir->order : i->order;
        if (kind == TWI_KIND_FOLD && twi_fold_rounds(j->ir, o) && order != TWI_ORDER_FREE &&
            order != TWI_ORDER_TREE)
            return refuse_scan(j, v, m,
                               "reverse beside a fold of fixed order along a range known at run "
                               "time is not built yet") ||
                   twi_refused_for(j->why, TWI_WHY_LATER);
    }
    return true;
}

/* Along a range known at run time: element by element. */
static bool streams(const twi_judge *j, twi_id v, const twi_map *m, unsigned order) {
    if (twi_axis_runs_down(j->ir, twi_ins_of(j->ir, v)->fold[0]) && !runs_down(j, v, m))
        return false;
    if (twi_fold_rounds(j->ir, v) && order == TWI_ORDER_CANONICAL)
        return refuse_scan(j, v, m, "canonical along a range known at run time is not built yet") ||
               twi_refused_for(j->why, TWI_WHY_LATER);
    for (unsigned d = 0; d < m->n; d++)
        if (m->d[d].extent > 1)
            return refuse_scan(j, v, m, "along a range known at run time one loop runs");
    return true;
}

bool twi_judge_scan(const twi_judge *j, twi_id v) {
    const twi_ins *ins = twi_ins_of(j->ir, v);
    const unsigned axis = ins->fold[0];
    const twi_map *m = &twi_judge_frame(j, v)->map[axis];
    const bool steps = j->ir->axis.at[axis].kind == TWI_AXIS_STEP;
    const unsigned order = ins->order == TWI_ORDER_DEFAULT ? j->ir->order : ins->order;
    unsigned lanes = 0, subs = 0;
    if (twi_scan_streams(j->ir, v) && !streams(j, v, m, order))
        return false;
    for (unsigned d = m->n; d-- > (steps ? 1u : 0u);) {
        const unsigned level = m->d[d].level;
        if (level == TWI_LV_SERIAL || level == TWI_LV_GRID)
            return refuse_scan(j, v, m, "a scan's row is not split over groups or trips");
        if (m->d[d].extent == 1)
            continue;
        if (level == TWI_LV_LANE && (lanes++ || subs))
            return refuse_scan(j, v, m, "one lane digit, lighter than the sub digit");
        if (level == TWI_LV_SUB && subs++)
            return refuse_scan(j, v, m, "one sub digit");
    }
    if (lanes && j->caps->family == TWI_FAMILY_SIMT && !j->caps->lane_ops)
        return refuse_scan(j, v, m, "the target has no lane operations");
    if (!twi_fold_rounds(j->ir, v) || order == TWI_ORDER_FREE || order == TWI_ORDER_TREE)
        return true;
    if (order == TWI_ORDER_RIGHT)
        return twi_refuse(j->why, "scan %s: order right is not built yet",
                          twi_value_name(j->ir, v)) ||
               twi_refused_for(j->why, TWI_WHY_LATER);
    return !(lanes + subs) || refuse_scan(j, v, m, "its order is fixed, and runs in time");
}
