/* SPDX-License-Identifier: Apache-2.0
 * Rules of maps: every element exactly once (M1 to M4), within what a worker can hold (M5, M6). A
 * refusal names the axis or value, the digits and the two numbers that do not fit.
 */
#include "plan/rules_parts.h"
#include "plan/words.h"

#include <stdio.h>

bool twi_refuse(twi_why *why, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    why->kind = TWI_WHY_RULE;
    return false;
}

bool twi_refused_for(twi_why *why, twi_why_kind kind) {
    why->kind = (uint8_t)kind;
    return false;
}

const char *twi_judge_axis(const twi_judge *j, unsigned axis) {
    return twi_axis_text(j->ir, j->arena, axis);
}

const char *twi_judge_map(const twi_judge *j, const twi_map *m) {
    twi_sb sb;
    twi_sb_init(&sb, j->arena);
    twi_map_print(m, &sb);
    return twi_sb_text(&sb);
}

bool twi_refuse_map(const twi_judge *j, unsigned axis, const twi_map *m, const char *format, ...) {
    twi_sb sb;
    va_list args;
    twi_sb_init(&sb, j->arena);
    twi_sb_printf(&sb, "%s = ", twi_judge_axis(j, axis));
    twi_map_print(m, &sb);
    twi_sb_str(&sb, ": ");
    va_start(args, format);
    twi_sb_vprintf(&sb, format, args);
    va_end(args);
    return twi_refuse(j->why, "%s", twi_sb_text(&sb));
}

const twi_frame *twi_judge_frame(const twi_judge *j, twi_id v) {
    const twi_place *place = twi_plan_place(j->p, v);
    return &j->p->frame[place ? place->frame : 0];
}

int64_t twi_judge_level(const twi_frame *f, uint64_t axes, unsigned level) {
    int64_t n = 1;
    for (unsigned a = 1; a < f->ids; a++) {
        if (!(axes >> a & 1) || !(f->axes >> a & 1))
            continue;
        int64_t here = twi_map_level_extent(&f->map[a], level);
        if (here == 0)
            return 0;
        n = n > INT64_MAX / here ? INT64_MAX : n * here;
    }
    return n;
}

static bool power_of_two(int64_t x) { return x > 0 && (x & (x - 1)) == 0; }

/* ---- one axis -----------------------------------------------------------------------------------
 */

/* Each digit by itself: its level is built and stands where it may, its extent is a count. */
static bool digits_fit(const twi_judge *j, unsigned a, const twi_map *m) {
    bool parallel =
        j->ir->axis.at[a].kind == TWI_AXIS_INDEX || j->ir->axis.at[a].kind == TWI_AXIS_BLOCK;
    if (!m->n)
        return twi_refuse(j->why, "axis %s has no digits", twi_judge_axis(j, a));
    for (unsigned i = 0; i < m->n; i++) {
        unsigned level = m->d[i].level;
        const char *word = twi_level_name(level);
        bool open = level == TWI_LV_LOOP || level == TWI_LV_SERIAL;
        if (level == TWI_LV_CLUSTER)
            return twi_refuse_map(j, a, m, "%s digits are not built yet", word) ||
                   twi_refused_for(j->why, TWI_WHY_LATER);
        if (level == TWI_LV_ATOM && (i + 1u != m->n || parallel))
            return twi_refuse_map(j, a, m,
                                  "an atom digit ends the map of an axis that a dot folds");
        if (m->d[i].extent < 0 || (m->d[i].extent == 0 && (i || !open)))
            return twi_refuse_map(j, a, m,
                                  "M2: only an outermost loop or serial digit has a run-time count "
                                  "(0), digit %u is %s",
                                  i, word);
        if (level == TWI_LV_GRID ? i != 0 || !(parallel || a == j->split) : parallel && i == 0)
            return twi_refuse_map(
                j, a, m, "%s",
                parallel ? "a parallel axis has one grid digit, and it is the outermost"
                         : "only parallel axes and one folded axis have a grid digit, outermost");
        if (level == TWI_LV_SERIAL && i != (a == j->split ? 1u : 0u))
            return twi_refuse_map(j, a, m, "a serial digit is the outermost, here it is digit %u",
                                  i);
    }
    return true;
}

/* Axes whose digits repeat a block of the text: the first digit counts blocks, the rest is one
 * block. */
static bool covers_blocks(const twi_judge *j, unsigned a, const twi_map *m, int64_t extent) {
    int64_t block = j->ir->axis.at[a].block ? j->ir->axis.at[a].block : 1;
    int64_t inner = twi_map_weight(m, 0);
    if (inner != block)
        return twi_refuse_map(
            j, a, m, "M1: the digits right of %s make %lld positions, a block of the text has %lld",
            twi_level_name(m->d[0].level), (long long)inner, (long long)block);
    if (m->d[0].extent == 0)
        return true;
    int64_t blocks = (extent + block - 1) / block;
    return m->d[0].extent >= blocks || twi_refuse_map(j, a, m, "M1: covers %lld of %lld blocks",
                                                      (long long)m->d[0].extent, (long long)blocks);
}

static bool covers_count(const twi_judge *j, unsigned a, const twi_map *m, int64_t extent) {
    int64_t has = twi_map_extent(m);
    if (m->d[0].extent != 0 && has > INT64_C(1) << 48)
        return twi_refuse_map(j, a, m, "more than 2^48 positions");
    return has >= extent || twi_refuse_map(j, a, m, "M1: covers %lld of %lld positions",
                                           (long long)has, (long long)extent);
}

/* An axis whose extent is known at run time alone: a rolled loop outside, unrolled or lane digits
 * inside. */
static bool open_axis(const twi_judge *j, unsigned a, const twi_map *m) {
    if (m->d[0].level != TWI_LV_LOOP || m->d[0].extent != 0)
        return twi_refuse_map(
            j, a, m, "M2: the extent is known at run time, so the outermost digit is 'loop 0'");
    for (unsigned i = 1; i < m->n; i++)
        if (m->d[i].level != TWI_LV_SLOT && m->d[i].level != TWI_LV_LANE)
            return twi_refuse_map(j, a, m,
                                  "M2: right of a run-time loop stand slot and lane digits, not %s",
                                  twi_level_name(m->d[i].level));
    return true;
}

static bool axis_fits(const twi_judge *j, unsigned a, const twi_map *m) {
    const twi_axis *axis = &j->ir->axis.at[a];
    int64_t extent = 0;
    bool known = twi_axis_span(j->ir, a, &extent);
    if (!digits_fit(j, a, m))
        return false;
    if (axis->kind == TWI_AXIS_STEP) {
        if (m->d[0].level != TWI_LV_SERIAL)
            return twi_refuse_map(j, a, m, "the outermost digit of a serial axis is serial");
        if (!known && m->d[0].extent)
            return twi_refuse_map(j, a, m, "M2: the trip count is known at run time: 'serial 0'");
        return covers_blocks(j, a, m, extent);
    }
    if (!known && axis->kind != TWI_AXIS_FULL)
        return twi_refuse(j->why,
                          "axis %s: parallel ranges known at run time alone are not built yet",
                          twi_judge_axis(j, a)) ||
               twi_refused_for(j->why, TWI_WHY_LATER);
    if (!known)
        return open_axis(j, a, m);
    if (axis->kind == TWI_AXIS_BLOCK)
        return covers_blocks(j, a, m, extent) && covers_count(j, a, m, extent);
    return covers_count(j, a, m, extent);
}

/* ---- levels of a frame ---- */

/* M4: explicit lanes: one lane digit, innermost on its axis, a width the target has. */
static bool explicit_lanes(const twi_judge *j, uint64_t axes, const twi_map *maps,
                           const char *what) {
    int holder = -1;
    for (unsigned a = 1; a < j->ir->axis.n; a++)
        for (unsigned i = 0; (axes >> a & 1) && i < maps[a].n; i++) {
            const twi_digit *d = &maps[a].d[i];
            if (d->level != TWI_LV_LANE)
                continue;
            if (holder >= 0)
                return twi_refuse(j->why, "%s: M4: one axis has the lane digit, here %s and %s",
                                  what, twi_judge_axis(j, (unsigned)holder), twi_judge_axis(j, a));
            holder = (int)a;
            if (i + 1u != maps[a].n || twi_digit_stride(d) != 1)
                return twi_refuse(
                    j->why, "%s: M4: %s = %s: the lane digit is the last of its axis, stride 1",
                    what, twi_judge_axis(j, a), twi_judge_map(j, &maps[a]));
            if (d->extent > j->caps->lane || !power_of_two(d->extent))
                return twi_refuse(
                    j->why,
                    "%s: M4: %s = %s: lane %lld is no power of two up to the target's "
                    "%lu",
                    what, twi_judge_axis(j, a), twi_judge_map(j, &maps[a]), (long long)d->extent,
                    (unsigned long)j->caps->lane);
        }
    return true;
}

static bool level_fits(const twi_judge *j, uint64_t axes, const twi_map *maps, unsigned level,
                       uint32_t most, const char *what) {
    for (unsigned a = 1; a < j->ir->axis.n; a++)
        for (unsigned i = 0; (axes >> a & 1) && i < maps[a].n; i++) {
            const twi_digit *d = &maps[a].d[i];
            if (d->level != level || d->extent == 1)
                continue;
            if (d->extent > most || twi_digit_stride(d) * d->extent > most)
                return twi_refuse(
                    j->why, "%s: %s = %s: %s %lld@%lld ends at %lld, the target has %lu", what,
                    twi_judge_axis(j, a), twi_judge_map(j, &maps[a]), twi_level_name(level),
                    (long long)d->extent, (long long)twi_digit_stride(d),
                    (long long)twi_digit_stride(d) * (long long)d->extent, (unsigned long)most);
        }
    return true;
}

/* M3 on one level; on failure says which axes overlap. */
static bool disjoint(const twi_judge *j, uint64_t axes, const twi_map *maps, unsigned level,
                     const char *what) {
    const twi_map *list[TWI_MAX_AXES];
    unsigned id[TWI_MAX_AXES], n = 0, x, y;
    for (unsigned a = 1; a < j->ir->axis.n; a++)
        if (axes >> a & 1) {
            id[n] = a;
            list[n++] = &maps[a];
        }
    if (twi_map_disjoint(list, n, level, &x, &y))
        return true;
    return twi_refuse(j->why, "%s: M3: %s digits overlap: %s = %s and %s = %s", what,
                      twi_level_name(level), twi_judge_axis(j, id[x]), twi_judge_map(j, list[x]),
                      twi_judge_axis(j, id[y]), twi_judge_map(j, list[y]));
}

bool twi_judge_space(const twi_judge *j, uint64_t axes, const twi_map *maps, const char *what) {
    if (j->caps->family == TWI_FAMILY_CPU && !explicit_lanes(j, axes, maps, what))
        return false;
    return level_fits(j, axes, maps, TWI_LV_LANE, j->caps->lane, what) &&
           level_fits(j, axes, maps, TWI_LV_SUB, j->caps->sub, what) &&
           disjoint(j, axes, maps, TWI_LV_LANE, what) && disjoint(j, axes, maps, TWI_LV_SUB, what);
}

/* ---- frames -------------------------------------------------------------------------------------
 */

static uint64_t needed_axes(const twi_judge *j, unsigned frame) {
    uint64_t axes = 0;
    for (unsigned a = 1; a < j->ir->axis.n;
         a++) /* ranges of regions run whatever depends on them */
        if ((j->axes >> a & 1) && j->ir->axis.at[a].kind != TWI_AXIS_FULL)
            axes |= UINT64_C(1) << a;
    for (uint32_t i = 0; i < j->all.n; i++) {
        twi_id v = j->all.at[i];
        const twi_place *place = twi_plan_place(j->p, v);
        if ((place ? place->frame : 0u) != frame)
            continue;
        axes |= twi_ins_of(j->ir, v)->type.axes | twi_fold_axes(j->ir, v);
        for (unsigned k = 0; k < twi_ins_of(j->ir, v)->nargs; k++)
            axes |= twi_ins_of(j->ir, twi_arg(j->ir, v, k))->type.axes;
    }
    return axes & j->axes;
}

/* All rolled digits, each once, in the order. */
static bool ordered(const twi_judge *j, const twi_frame *f) {
    for (unsigned a = 1; a < j->ir->axis.n; a++)
        for (unsigned i = 0; (f->axes >> a & 1) && i < f->map[a].n; i++) {
            unsigned times = 0;
            for (unsigned k = 0; k < f->loops; k++)
                times += f->order[k].axis == a && f->order[k].digit == i;
            bool loop = f->map[a].d[i].level == TWI_LV_LOOP;
            if (times != (loop ? 1u : 0u))
                return twi_refuse(
                    j->why,
                    "order of frame %s: digit %u of %s = %s is %s and stands there %u "
                    "times",
                    twi_text(&j->ir->ctx->names, f->name), i, twi_judge_axis(j, a),
                    twi_judge_map(j, &f->map[a]), loop ? "a loop" : "no loop", times);
        }
    return true;
}

/* Loops around all phases run over instances: axes of the scope that nothing folds or scans. */
static bool around_fits(const twi_judge *j, const twi_frame *f) {
    uint64_t consumed = 0;
    for (uint32_t i = 0; i < j->all.n; i++) {
        const twi_ins *ins = twi_ins_of(j->ir, j->all.at[i]);
        for (unsigned k = 0; k < ins->nfold; k++)
            consumed |= UINT64_C(1) << ins->fold[k];
    }
    if (f->around && j->p->frames > 1)
        return twi_refuse(j->why, "frame %s: around %u, but the plan has %u frames: 1",
                          twi_text(&j->ir->ctx->names, f->name), f->around, j->p->frames);
    for (unsigned k = 0; k < f->around; k++) {
        unsigned a = f->order[k].axis, kind = j->ir->axis.at[a].kind;
        if ((kind != TWI_AXIS_INDEX && kind != TWI_AXIS_BLOCK) || consumed >> a & 1)
            return twi_refuse_map(j, a, &f->map[a],
                                  "only loops of parallel axes that nothing folds stand around "
                                  "all phases");
    }
    return true;
}

static bool frame_fits(const twi_judge *j, unsigned index) {
    const twi_frame *f = &j->p->frame[index];
    const char *name = twi_text(&j->ir->ctx->names, f->name);
    uint64_t needed = needed_axes(j, index);
    for (unsigned a = 1; a < j->ir->axis.n; a++) {
        if ((needed & ~f->axes) >> a & 1)
            return twi_refuse(j->why, "frame %s has no map for axis %s", name,
                              twi_judge_axis(j, a));
        if ((f->axes & ~j->axes) >> a & 1)
            return twi_refuse(j->why, "frame %s maps axis %u, which is none of the scope", name, a);
        if ((f->axes >> a & 1) && !axis_fits(j, a, &f->map[a]))
            return false;
    }
    return ordered(j, f) && around_fits(j, f) && twi_judge_space(j, f->axes, f->map, name);
}

static bool frames_fit(const twi_judge *j) {
    if (!j->p->frames)
        return twi_refuse(j->why, "the plan has no frame");
    for (unsigned i = 0; i < j->p->frames; i++)
        if (!frame_fits(j, i))
            return false;
    uint64_t workers = (uint64_t)twi_plan_subs(j->p) * j->caps->lane;
    if (j->caps->family == TWI_FAMILY_SIMT && workers > j->caps->workers)
        return twi_refuse(j->why, "%lu workers a group > %lu", (unsigned long)workers,
                          (unsigned long)j->caps->workers);
    return true;
}

/* ---- values ---- */

/* Positions of the loops inside phases. */
static int64_t kept_loops(const twi_frame *f, uint64_t axes) {
    twi_map map[TWI_MAX_AXES];
    twi_frame inner = *f;
    if (!f->around)
        return twi_judge_level(f, axes, TWI_LV_LOOP);
    memcpy(map, f->map, f->ids * sizeof *map);
    inner.map = map;
    for (unsigned k = 0; k < f->around; k++)
        inner.map[f->order[k].axis].d[f->order[k].digit].extent = 1;
    return twi_judge_level(&inner, axes, TWI_LV_LOOP);
}

/* What a worker keeps of the value between phases. */
static bool stripe_fits(const twi_judge *j, twi_id v, const char *what) {
    const twi_ins *ins = twi_ins_of(j->ir, v);
    const twi_frame *f = twi_judge_frame(j, v);
    const char *name = twi_value_name(j->ir, v);
    int64_t loops = kept_loops(f, ins->type.axes);
    int64_t slots = twi_judge_level(f, ins->type.axes, TWI_LV_SLOT);
    if (loops == 0)
        return twi_refuse(j->why, "%s %s: M6: a stripe over a loop of run-time count has no size",
                          what, name);
    if (loops > 1 && !j->caps->indexable)
        return twi_refuse(j->why,
                          "%s %s: M6: its stripe has loop digits (%lld x %lld elements), and the "
                          "target cannot index private memory",
                          what, name, (long long)loops, (long long)slots) ||
               twi_refused_for(j->why, TWI_WHY_SLOTS);
    int64_t width =
        j->caps->family == TWI_FAMILY_CPU ? twi_judge_level(f, ins->type.axes, TWI_LV_LANE) : 1;
    int64_t bytes = (int64_t)tw_elem_size((tw_elem)ins->type.elem) * slots * width;
    if (bytes > 0 && loops > TWI_STRIPE_BYTES / bytes)
        return twi_refuse(j->why, "%s %s: a stripe of %lld x %lld B > %d B", what, name,
                          (long long)loops, (long long)bytes, TWI_STRIPE_BYTES);
    int64_t workers = (int64_t)twi_plan_lanes(j->p) * twi_plan_subs(j->p);
    long long stripe = loops * bytes;
    if (j->caps->family != TWI_FAMILY_CPU && stripe > TWI_GROUP_STRIPE_BYTES / workers)
        return twi_refuse(j->why, "%s %s: stripes of %lld workers x %lld B > %d B a group", what,
                          name, (long long)workers, stripe, TWI_GROUP_STRIPE_BYTES) ||
               twi_refused_for(j->why, TWI_WHY_GROUP);
    return true;
}

static bool value_fits(const twi_judge *j, twi_id v) {
    const twi_ins *ins = twi_ins_of(j->ir, v);
    unsigned kind = twi_op_row(ins->op)->kind;
    /* A fold has an accumulator for each slot of its folded axes; a chain has one. */
    const twi_frame *f = twi_judge_frame(j, v);
    bool one = twi_fold_chains(j->ir, v) || twi_fold_streams(j->ir, f, v);
    uint64_t axes = ins->type.axes | (one ? 0 : twi_fold_axes(j->ir, v));
    int64_t slots = twi_judge_level(f, axes, TWI_LV_SLOT);
    if (slots > j->caps->slots)
        return twi_refuse(j->why, "value %s: M5: %lld slots > %lu", twi_value_name(j->ir, v),
                          (long long)slots, (unsigned long)j->caps->slots) ||
               twi_refused_for(j->why, TWI_WHY_SLOTS);
    if (kind == TWI_KIND_FOLD || ins->op == TWI_PART)
        return stripe_fits(j, v, "fold");
    if (kind == TWI_KIND_ORDER)
        return (twi_scan_streams(j->ir, v) || stripe_fits(j, v, "scan")) && twi_judge_scan(j, v);
    if (ins->op == TWI_CARRY || ins->op == TWI_RESULT)
        return stripe_fits(j, v, "carried value");
    return true;
}

bool twi_swizzle_fits(const char *what, const char *name, twi_swizzle s, tw_elem elem, int64_t row,
                      twi_why *why) {
    const int64_t size = (int64_t)tw_elem_size(elem);
    const char *fault = s.span ? twi_swizzle_fault(s, size, row) : NULL;
    return !fault ||
           twi_refuse(why, "%s %s: swizzle %u unit %u rows %u of rows of %lld x %lld B: %s", what,
                      name, s.span, s.unit, s.rows, (long long)row, (long long)size, fault);
}

static bool place_fits(const twi_judge *j, const twi_place *v) {
    bool here = !(v->frame || v->keep || v->fold || v->atom || v->to); /* says nothing */
    for (uint32_t i = 0; i < j->all.n; i++)
        here = here || j->all.at[i] == v->value;
    if (!here)
        return twi_refuse(j->why, "value %lu is none of the scope", (unsigned long)v->value);
    const char *name = twi_value_name(j->ir, v->value);
    const twi_ins *ins = twi_ins_of(j->ir, v->value);
    unsigned kind = twi_op_row(ins->op)->kind;
    if (v->frame >= j->p->frames || v->to > j->p->frames)
        return twi_refuse(j->why, "value %s: the plan has %u frames", name, j->p->frames);
    if (!v->to != !v->via)
        return twi_refuse(j->why, "value %s: a conversion names a frame and a carrier", name);
    if (v->pad && v->via != TWI_TO_SHARED)
        return twi_refuse(j->why, "value %s: pad %u without a shared carrier", name, v->pad);
    if (v->swizzle.span && v->via != TWI_TO_SHARED)
        return twi_refuse(j->why, "value %s: swizzle %u without a shared carrier", name,
                          v->swizzle.span);
    if (v->swizzle.span && v->pad)
        return twi_refuse(j->why, "value %s: pad %u and swizzle %u: one of them", name, v->pad,
                          v->swizzle.span);
    if (v->to == v->frame + 1)
        return twi_refuse(j->why, "value %s: it is made in that frame", name);
    if (v->keep == TWI_KEEP_SHARED && j->caps->family != TWI_FAMILY_SIMT)
        return twi_refuse(j->why, "value %s: keep shared, but a group is 1 worker: keep stripe",
                          name);
    if (v->keep == TWI_KEEP_SCRATCH && j->caps->family == TWI_FAMILY_SIMT)
        return twi_refuse(j->why,
                          "value %s: keep scratch, but a launch carries 0 B of workspace a group: "
                          "keep stripe or shared",
                          name);
    if (v->keep == TWI_KEEP_SHARED && v->to)
        return twi_refuse(
            j->why, "value %s: keep shared serves all frames, a second carrier is of no use", name);
    if (v->keep && kind != TWI_KIND_LOCAL)
        return twi_refuse(j->why,
                          "value %s: only values computed element by element are kept, %s %s", name,
                          twi_op_row(ins->op)->name,
                          kind == TWI_KIND_FOLD ? "results are in any case" : "is none");
    if (v->fold && kind != TWI_KIND_FOLD)
        return twi_refuse(j->why, "value %s: fold weight, but %s is no fold", name,
                          twi_op_row(ins->op)->name);
    if (v->atom && ins->op != TWI_DOT)
        return twi_refuse(j->why, "value %s: an atom, but %s is no dot", name,
                          twi_op_row(ins->op)->name);
    if (v->atom == TWI_ATOM_MULADD && ins->order != TWI_ORDER_FREE && ins->order != TWI_ORDER_TREE)
        return twi_refuse(j->why, "value %s: its order is a chain of fma, muladd rounds twice",
                          name);
    return !v->keep || v->keep == TWI_KEEP_SHARED || stripe_fits(j, v->value, "value");
}

static bool entries_fit(const twi_judge *j) {
    static const char main_name[] = "main";
    if (!j->p->entry.n)
        return twi_refuse(j->why, "the plan has no entry main");
    const twi_entry_plan *e = &j->p->entry.at[0];
    if (strcmp(twi_text(&j->ir->ctx->names, e->name), main_name) != 0)
        return twi_refuse(j->why, "the first entry is main, not %s",
                          twi_text(&j->ir->ctx->names, e->name));
    for (uint32_t a = 1; a < e->align.n; a++)
        if (e->align.at[a])
            return twi_refuse(j->why, "entry main assumes nothing, here align%lu of %s",
                              (unsigned long)e->align.at[a],
                              twi_text(&j->ir->ctx->names, j->ir->array.at[a].name));
    return true;
}

/* The launch line says something. */
static bool launch_fits(const twi_judge *j) {
    int64_t all = twi_plan_blocks(j->p);
    if (j->p->persistent && j->p->persistent >= all)
        return twi_refuse(j->why, "persistent %lld: there are %lld groups",
                          (long long)j->p->persistent, (long long)all);
    return all < INT64_MAX || !j->p->persistent ||
           twi_refuse(j->why, "persistent %lld: too many groups", (long long)j->p->persistent);
}

static bool judged(const twi_judge *j) {
    unsigned klass = twi_ir_class(j->ir);
    if (!j->par)
        return twi_refuse(j->why, "the kernel has %lu scopes, none is number %lu",
                          (unsigned long)twi_par_count(j->ir), (unsigned long)j->p->scope);
    if (j->p->klass != klass)
        return twi_refuse(j->why, "class=%s, but the kernel's folds are of class %s",
                          twi_plan_words[TWI_WORDS_CLASS][j->p->klass],
                          twi_plan_words[TWI_WORDS_CLASS][klass]);
    if (!entries_fit(j) || !frames_fit(j) || !launch_fits(j))
        return false;
    for (uint32_t i = 0; i < j->all.n; i++)
        if (!value_fits(j, j->all.at[i]))
            return false;
    for (uint32_t i = 0; i < j->p->place.n; i++)
        if (!place_fits(j, &j->p->place.at[i]))
            return false;
    return (!j->split || twi_judge_split(j)) && twi_judge_atoms(j) && twi_judge_folds(j) &&
           twi_judge_stages(j);
}

bool twi_plan_rules(const tw_ir *ir, const twi_caps *caps, const twi_plan *plan, twi_why *why) {
    twi_mark mark = twi_arena_mark(ir->arena);
    twi_judge j = {.ir = ir, .caps = caps, .p = plan, .why = why, .arena = ir->arena};
    why->text[0] = 0;
    j.par = twi_par_region(ir, plan->scope);
    if (j.par) {
        j.axes = twi_scope_axes(ir, j.par);
        j.split = twi_split_axis(ir, plan);
        twi_split_needs(j.arena, ir, plan, &j.all);
        if (!j.all.n)
            twi_scope_values(j.arena, ir, j.par, &j.all);
    }
    bool good = judged(&j);
    twi_arena_reset(ir->arena, mark);
    return good;
}
