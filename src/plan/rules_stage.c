/* SPDX-License-Identifier: Apache-2.0
 * Rules of stages: what is placed, that its object holds every element once and fits, that the copy
 * covers it.
 */
#include "plan/rules_parts.h"
#include "plan/words.h"

/* Each inside digit of the value's axes stands once in the order, and nothing else does. */
static bool order_fits(const twi_judge *j, const twi_stage_plan *s, const twi_frame *f) {
    const char *name = twi_value_name(j->ir, s->value);
    uint64_t axes = twi_ins_of(j->ir, s->value)->type.axes;
    unsigned wanted = 0;
    for (unsigned a = 1; a < j->ir->axis.n; a++)
        for (unsigned i = 0; (axes >> a & 1) && i < f->map[a].n; i++) {
            const twi_digit *d = &f->map[a].d[i];
            unsigned times = 0;
            if (!twi_stage_inside(d->level))
                continue;
            bool around = twi_frame_is_around(f, a, i);
            if (d->extent == 0)
                return twi_refuse(j->why, "stage %s: axis %s has no fixed size", name,
                                  twi_judge_axis(j, a));
            for (unsigned k = 0; k < s->n; k++)
                times += s->order[k].axis == a && s->order[k].digit == i;
            if (around && times == 0)
                continue;
            if (times != 1)
                return twi_refuse(j->why, "stage %s: its order names %s %lld of %s %u times", name,
                                  twi_level_name(d->level), (long long)d->extent,
                                  twi_judge_axis(j, a), times);
            wanted++;
        }
    return wanted == s->n ||
           twi_refuse(j->why, "stage %s: its order has %u digits, the tile has %u", name, s->n,
                      wanted);
}

/* Rows of the fastest axis's digits, each with its pad. */
static int64_t stage_bytes(const twi_judge *j, const twi_stage_plan *s, const twi_frame *f) {
    int64_t rows = 1, row = 1;
    bool fastest = true;
    for (unsigned k = s->n; k-- > 0;) {
        const twi_axis_digit *d = &s->order[k];
        fastest = fastest && d->axis == s->order[s->n - 1u].axis;
        int64_t extent = f->map[d->axis].d[d->digit].extent;
        *(fastest ? &row : &rows) *= extent;
    }
    return rows * (row + s->pad) *
           (int64_t)tw_elem_size((tw_elem)twi_ins_of(j->ir, s->value)->type.elem) * s->window;
}

/* Rows are what lies together of the fastest axis: digits that follow each other in its map. */
static bool rows_fit(const twi_judge *j, const twi_stage_plan *s, const twi_frame *f) {
    const char *name = twi_value_name(j->ir, s->value);
    unsigned k = s->n;
    int64_t row = 1, top = 0;
    if (!s->swizzle.span)
        return true;
    if (!s->shared)
        return twi_refuse(j->why, "stage %s: swizzle %u: only shared memory has banks", name,
                          s->swizzle.span);
    if (s->pad)
        return twi_refuse(j->why, "stage %s: pad %lu and swizzle %u: one of them", name,
                          (unsigned long)s->pad, s->swizzle.span);
    for (; k > 0 && s->order[k - 1].axis == s->order[s->n - 1u].axis; k--) {
        const twi_map *m = &f->map[s->order[k - 1].axis];
        const int64_t weight = twi_map_weight(m, s->order[k - 1].digit);
        if (top && weight != top)
            break;
        row *= m->d[s->order[k - 1].digit].extent;
        top = weight * m->d[s->order[k - 1].digit].extent;
    }
    if (k == 0)
        return twi_refuse(j->why, "stage %s: swizzle %u: the tile is one row", name,
                          s->swizzle.span);
    const uint32_t array = j->ir->access.at[twi_ins_of(j->ir, s->value)->attr].array;
    return twi_swizzle_fits("stage", name, s->swizzle, (tw_elem)j->ir->array.at[array].elem, row,
                            j->why);
}

/* Elements that one worker copies at once. */
static int64_t copy_slots(const twi_stage_plan *s) {
    int64_t slots = 1;
    for (unsigned a = 1; a < s->ids; a++)
        if (s->copy_axes >> a & 1)
            slots *= twi_map_level_extent(&s->copy[a], TWI_LV_SLOT);
    return slots;
}

/* Positions of an axis that the tile has; 0: they do not lie one behind the other. Digits that it
 * does not hold stay where they are in the copy's map. */
static int64_t positions(const twi_stage_plan *s, const twi_map *m, unsigned axis, unsigned *stay) {
    int64_t n = 1;
    bool beyond = false;
    *stay = 0;
    for (unsigned d = m->n; d-- > 0;) {
        const bool held = twi_stage_holds(s, axis, d);
        if (held && beyond)
            return 0;
        n *= held ? m->d[d].extent : 1;
        beyond = beyond || !held;
        *stay += !held;
    }
    return n;
}

static bool copy_fits(const twi_judge *j, const twi_stage_plan *s, const twi_frame *f) {
    const char *name = twi_value_name(j->ir, s->value);
    uint64_t axes = 0;
    for (unsigned k = 0; k < s->n; k++)
        axes |= UINT64_C(1) << s->order[k].axis;
    if (!s->copy_axes)
        return true;
    if (s->copy_axes != axes)
        return twi_refuse(j->why, "stage %s: the copy maps other axes than the tile has", name);
    for (unsigned a = 1; a < j->ir->axis.n; a++) {
        if (!(axes >> a & 1))
            continue;
        const twi_map *m = &s->copy[a];
        for (unsigned i = 0; i < m->n; i++)
            if (!twi_stage_inside(m->d[i].level) || m->d[i].level == TWI_LV_ATOM ||
                m->d[i].extent < 1)
                return twi_refuse(j->why, "stage %s: copy %s = %s: no %s digits in a copy", name,
                                  twi_judge_axis(j, a), twi_judge_map(j, m),
                                  twi_level_name(m->d[i].level));
        unsigned stay;
        const int64_t has = positions(s, &f->map[a], a, &stay);
        if (!has)
            return twi_refuse(j->why,
                              "stage %s: copy %s: positions of the tile lie apart, around those of "
                              "a loop that it does not hold",
                              name, twi_judge_axis(j, a));
        if (twi_map_extent(m) != has)
            return twi_refuse(j->why,
                              "stage %s: copy %s = %s covers %lld positions, the tile has %lld",
                              name, twi_judge_axis(j, a), twi_judge_map(j, m),
                              (long long)twi_map_extent(m), (long long)has);
        if (stay + m->n > TWI_MAX_DIGITS)
            return twi_refuse(j->why, "stage %s: copy %s = %s: %u digits of the copy > %d", name,
                              twi_judge_axis(j, a), twi_judge_map(j, m), stay + m->n,
                              TWI_MAX_DIGITS);
    }
    const int64_t slots = copy_slots(s);
    if (slots > j->caps->slots)
        return twi_refuse(j->why, "stage %s: its copy has %lld slots > %lu", name, (long long)slots,
                          (unsigned long)j->caps->slots) ||
               twi_refused_for(j->why, TWI_WHY_SLOTS);
    return twi_judge_space(j, s->copy_axes, s->copy, name);
}

/* Filled where the digits that it does not hold are open: those that it holds are not yet then. */
static bool around_fits(const twi_judge *j, const twi_stage_plan *s, const twi_frame *f,
                        bool serial) {
    uint64_t axes = twi_ins_of(j->ir, s->value)->type.axes;
    bool held = false;
    for (unsigned k = f->around; k-- > 0;) {
        bool holds = false;
        for (unsigned i = 0; i < s->n; i++)
            holds = holds || (s->order[i].axis == f->order[k].axis &&
                              s->order[i].digit == f->order[k].digit);
        held = held || (axes >> f->order[k].axis & 1 && !holds);
        if (holds && (held || serial))
            return twi_refuse(j->why,
                              "stage %s: it holds loop %lld of %s, inside which it is filled",
                              twi_value_name(j->ir, s->value),
                              (long long)f->map[f->order[k].axis].d[f->order[k].digit].extent,
                              twi_judge_axis(j, f->order[k].axis));
    }
    return true;
}

static bool is_stored(const twi_judge *j, uint32_t array) {
    bool is = false;
    for (uint32_t k = 0; k < j->all.n; k++) {
        const twi_ins *i = twi_ins_of(j->ir, j->all.at[k]);
        is = is || ((i->op == TWI_STORE || i->op == TWI_ATOMIC) &&
                    j->ir->access.at[i->attr].array == array);
    }
    return is;
}

/* What a worker copies ahead waits in its slots. */
static bool regs_fit(const twi_judge *j, const twi_stage_plan *s) {
    const char *name = twi_value_name(j->ir, s->value);
    if (!s->shared)
        return twi_refuse(j->why,
                          "stage %s: via regs: one worker a group, nobody computes while "
                          "it copies: via sync",
                          name);
    if (!s->copy_axes)
        return twi_refuse(j->why, "stage %s: via regs holds its copy in slots: it needs a copy map",
                          name);
    for (unsigned a = 1; a < j->ir->axis.n; a++)
        if ((s->copy_axes >> a & 1) && twi_map_level_extent(&s->copy[a], TWI_LV_LOOP) > 1)
            return twi_refuse(j->why,
                              "stage %s: via regs holds its copy in slots: copy %s = %s has a loop",
                              name, twi_judge_axis(j, a), twi_judge_map(j, &s->copy[a]));
    return true;
}

/* What is under way during the math needs a version of its own; the machine copies bytes as they
 * are and writes 0 beyond the array. */
static bool async_fits(const twi_judge *j, const twi_stage_plan *s) {
    const char *name = twi_value_name(j->ir, s->value);
    if (!s->shared)
        return twi_refuse(j->why, "stage %s: via async: only into shared memory", name);
    if (s->window < 2)
        return twi_refuse(
            j->why,
            "stage %s: via async, window 1: the copy of a trip is under way while the "
            "one before computes: window 2 or more",
            name);
    if (j->ir->access.at[twi_ins_of(j->ir, s->value)->attr].proof != TWI_ACCESS_PROVED)
        return twi_refuse(
            j->why, "stage %s: via async: its indices are not proved inside %s", name,
            twi_text(
                &j->ir->ctx->names,
                j->ir->array.at[j->ir->access.at[twi_ins_of(j->ir, s->value)->attr].array].name));
    return true;
}

/* Versions are told apart by trips; what is copied ahead of its trip must not depend on it. */
static bool window_fits(const twi_judge *j, const twi_stage_plan *s, const twi_frame *f) {
    const char *name = twi_value_name(j->ir, s->value);
    const char *via = twi_plan_words[TWI_WORDS_COPY][s->via];
    const twi_ins *ins = twi_ins_of(j->ir, s->value);
    const uint32_t array = j->ir->access.at[ins->attr].array;
    twi_axis_digit trip;
    if (s->window == 1 && !via)
        return true;
    if (!twi_stage_trip(j->ir, f, s, &trip))
        return twi_refuse(j->why, "stage %s: window %u%s%s: none of its axes has a serial digit",
                          name, s->window, via ? " via " : "", via ? via : "");
    if (!via)
        return true;
    if (f->map[trip.axis].d[trip.digit].extent == 0)
        return twi_refuse(
            j->why,
            "stage %s: via %s: %s = serial 0 is not counted, and what is copied ahead "
            "of its trip needs to know which is the last",
            name, via, twi_judge_axis(j, trip.axis));
    if (j->ir->axis.at[trip.axis].kind == TWI_AXIS_STEP)
        return twi_refuse(j->why,
                          "stage %s: via %s in trips of the text's region over %s is not built "
                          "yet: via sync",
                          name, via, twi_judge_axis(j, trip.axis)) ||
               twi_refused_for(j->why, TWI_WHY_LATER);
    if (ins->nargs)
        return twi_refuse(
            j->why, "stage %s: via %s: it takes values (an index, `else`) of its trip", name, via);
    if (is_stored(j, array))
        return twi_refuse(j->why, "stage %s: via %s: the scope stores %s, which it loads early",
                          name, via, twi_text(&j->ir->ctx->names, j->ir->array.at[array].name));
    return s->via == TWI_VIA_REGS ? regs_fit(j, s) : async_fits(j, s);
}

static bool stage_fits(const twi_judge *j, const twi_stage_plan *s) {
    const char *name = twi_value_name(j->ir, s->value);
    const twi_ins *ins = twi_ins_of(j->ir, s->value);
    const twi_frame *f = twi_judge_frame(j, s->value);
    bool runs = false;
    if (ins->op != TWI_LOAD)
        return twi_refuse(j->why, "stage %s: only loads are staged in this release, it is %s", name,
                          twi_op_row(ins->op)->name);
    for (unsigned a = 1; a < j->ir->axis.n; a++)
        runs = runs || ((ins->type.axes >> a & 1) && twi_map_is_serial(&f->map[a]));
    if (!runs && s->shared)
        return twi_refuse(j->why, "stage %s: none of its axes has a serial digit", name);
    if (!runs && ins->nargs)
        return twi_refuse(
            j->why, "stage %s: it takes values (an index, `else`): only in a serial region", name);
    if (!around_fits(j, s, f, runs))
        return false;
    if (!window_fits(j, s, f))
        return false;
    if (s->ahead && s->shared)
        return twi_refuse(j->why, "stage %s: ahead %u: only what is in scratch is asked for early",
                          name, s->ahead);
    if (s->shared && !j->caps->shared)
        return twi_refuse(j->why, "stage %s: the target has no shared memory", name);
    if (!s->shared && j->caps->family != TWI_FAMILY_CPU)
        return twi_refuse(j->why,
                          "stage %s: scratch is memory of explicit-lane targets: use shared", name);
    return order_fits(j, s, f) && rows_fit(j, s, f) && copy_fits(j, s, f);
}

bool twi_judge_stages(const twi_judge *j) {
    int64_t shared = 0, held = 0;
    for (unsigned i = 0; i < j->p->stages; i++) {
        const twi_stage_plan *s = &j->p->stage[i];
        if (!stage_fits(j, s))
            return false;
        if (s->shared)
            shared += stage_bytes(j, s, twi_judge_frame(j, s->value));
        held += s->via == TWI_VIA_REGS ? copy_slots(s) : 0;
    }
    if (held > j->caps->slots)
        return twi_refuse(j->why, "stages via regs hold %lld slots > %lu", (long long)held,
                          (unsigned long)j->caps->slots) ||
               twi_refused_for(j->why, TWI_WHY_SLOTS);
    return shared <= (int64_t)j->caps->shared ||
           twi_refuse(j->why, "stages take shared %lld B > %lu B", (long long)shared,
                      (unsigned long)j->caps->shared);
}
