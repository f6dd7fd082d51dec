/* SPDX-License-Identifier: Apache-2.0
 * Orders of folds as conditions on maps: what runs in time, in which order, and what a butterfly or
 * a row of partials can combine (docs/plans.md, docs/numerics.md).
 */
#include "plan/rules_parts.h"

static bool power_of_two(int64_t x) { return x > 0 && (x & (x - 1)) == 0; }

static bool refuse_fold(const twi_judge *j, twi_id v, unsigned axis, const twi_map *m,
                        const char *format, ...) TWI_PRINTF(5, 6);

/* "fold V: AXIS = MAP: " and what is said of them. */
static bool refuse_fold(const twi_judge *j, twi_id v, unsigned axis, const twi_map *m,
                        const char *format, ...) {
    twi_sb sb;
    va_list args;
    twi_sb_init(&sb, j->arena);
    twi_sb_printf(&sb, "fold %s: %s = ", twi_value_name(j->ir, v), twi_judge_axis(j, axis));
    twi_map_print(m, &sb);
    twi_sb_str(&sb, ": ");
    va_start(args, format);
    twi_sb_vprintf(&sb, format, args);
    va_end(args);
    return twi_refuse(j->why, "%s", twi_sb_text(&sb));
}

/* Digits of an axis that the fold combines in this launch: all but the trips of the axis's own
 * serial region and the groups that it is split over. */
static unsigned first_digit(const twi_judge *j, unsigned axis) {
    return j->ir->axis.at[axis].kind == TWI_AXIS_STEP || axis == j->split ? 1u : 0u;
}

/* Lanes fold by butterflies, subgroups by a row of partials, many of them by a tree. */
static bool collectives_fit(const twi_judge *j, twi_id v, const twi_frame *f, unsigned axis) {
    const twi_map *m = &f->map[axis];
    for (unsigned i = first_digit(j, axis); i < m->n; i++) {
        int64_t extent = m->d[i].extent, stride = twi_digit_stride(&m->d[i]);
        if (m->d[i].level == TWI_LV_LANE && !(power_of_two(extent) && power_of_two(stride)))
            return refuse_fold(j, v, axis, m,
                               "lanes that are folded are powers of two, here %lld@%lld",
                               (long long)extent, (long long)stride);
        if (m->d[i].level == TWI_LV_LANE && extent > 1 && !j->caps->lane_ops)
            return refuse_fold(j, v, axis, m, "the target has no lane operations");
        if (m->d[i].level == TWI_LV_SUB && !power_of_two(extent) &&
            twi_fold_subs_in_tree(j->ir, f, v))
            return refuse_fold(j, v, axis, m,
                               "more than 8 folded subgroups make a tree, which takes powers of "
                               "two, here %lld",
                               (long long)extent);
    }
    return true;
}

/* A chain over ascending positions: time digits alone; serial, then loops in the order in which
 * they are opened, then slots; over several axes row-major. */
static bool chain_fits(const twi_judge *j, twi_id v, const twi_frame *f) {
    const twi_ins *ins = twi_ins_of(j->ir, v);
    static const uint8_t rank[TWI_LEVELS] = {
        [TWI_LV_SERIAL] = 1, [TWI_LV_LOOP] = 2, [TWI_LV_SLOT] = 3};
    unsigned last = 0, opened = 0, unrolled = 0;
    for (unsigned k = 0; k < ins->nfold; k++) {
        unsigned axis = ins->fold[k];
        const twi_map *m = &f->map[axis];
        for (unsigned i = first_digit(j, axis); i < m->n; i++) {
            if (m->d[i].extent == 1)
                continue;
            unsigned at = rank[m->d[i].level];
            if (!at)
                return refuse_fold(j, v, axis, m,
                                   "its order is a chain, which runs in time; %s is space",
                                   twi_level_name(m->d[i].level));
            if (at < last)
                return refuse_fold(
                    j, v, axis, m,
                    "its order is a chain: no %s inside what is unrolled or looped inside it",
                    twi_level_name(m->d[i].level));
            last = at;
            if (at == rank[TWI_LV_SLOT] && axis < unrolled)
                return refuse_fold(j, v, axis, m,
                                   "its order is a chain: axes are unrolled in the order in which "
                                   "they are declared, so not inside %s",
                                   twi_judge_axis(j, unrolled));
            if (at == rank[TWI_LV_SLOT])
                unrolled = axis;
            if (m->d[i].level != TWI_LV_LOOP)
                continue;
            unsigned place = 0;
            while (place < f->loops &&
                   !(f->order[place].axis == axis && f->order[place].digit == i))
                place++;
            if (place + 1 <= opened)
                return refuse_fold(
                    j, v, axis, m,
                    "its order is a chain: loop %lld is opened outside one of greater weight",
                    (long long)m->d[i].extent);
            opened = place + 1;
        }
    }
    return true;
}

static int64_t cdiv(int64_t x, int64_t y) { return (x + y - 1) / y; }

/* The lanes of the canonical order: digits from the right, *end becomes the index behind what is
 * left. */
static bool canonical_lanes(const twi_judge *j, twi_id v, unsigned axis, const twi_map *m,
                            int64_t n, unsigned *end) {
    unsigned from = first_digit(j, axis), i = m->n;
    int64_t part = 1;
    while (i > from && part < TWI_LANES_CANONICAL) {
        const twi_digit *d = &m->d[i - 1];
        if (!power_of_two(d->extent) || d->level == TWI_LV_LOOP || d->level == TWI_LV_SERIAL ||
            part * d->extent > TWI_LANES_CANONICAL)
            break;
        part *= d->extent;
        i--;
    }
    while (i > from && m->d[i - 1].extent == 1)
        i--;
    *end = i;
    if (part == TWI_LANES_CANONICAL || (part >= n && i == from))
        return true;
    return refuse_fold(
        j, v, axis, m,
        "the canonical order's lanes are slot, lane and sub digits, powers of two with "
        "product %d: here %lld",
        TWI_LANES_CANONICAL, (long long)part);
}

/* Its accumulators: a row of lanes a level for each element of its own axes that is open inside the
 * folded loops. */
static bool stream_fits(const twi_judge *j, twi_id v, const twi_frame *f) {
    const twi_ins *ins = twi_ins_of(j->ir, v);
    int64_t lanes[TWI_STREAM_LEVELS];
    unsigned levels = twi_stream_lanes(j->ir, v, lanes), first = 0;
    int64_t rows = levels ? 0 : 1;
    uint64_t folded = twi_fold_axes(j->ir, v);
    bool cpu = j->caps->family == TWI_FAMILY_CPU;
    for (unsigned k = 0; k < levels; k++)
        rows += lanes[k];
    int64_t own = twi_judge_level(f, ins->type.axes, TWI_LV_SLOT) *
                  (cpu ? twi_judge_level(f, ins->type.axes, TWI_LV_LANE) : 1);
    while (first < f->loops && !(folded >> f->order[first].axis & 1))
        first++;
    for (unsigned k = first; k < f->loops; k++)
        if (ins->type.axes >> f->order[k].axis & 1)
            own *= f->map[f->order[k].axis].d[f->order[k].digit].extent;
    int64_t bytes = rows * (int64_t)tw_elem_size((tw_elem)ins->type.elem);
    int64_t workers = cpu ? 1 : (int64_t)twi_plan_lanes(j->p) * twi_plan_subs(j->p);
    int64_t most = cpu ? TWI_STRIPE_BYTES : TWI_GROUP_STRIPE_BYTES;
    return own <= most / workers / bytes ||
           twi_refuse(j->why,
                      "fold %s: canonical, element by element: accumulators of %lld workers x %lld "
                      "elements x %lld B > %lld B",
                      twi_value_name(j->ir, v), (long long)workers, (long long)own,
                      (long long)bytes, (long long)most);
}

/* canonical: [chunks of 2048 in a loop,] [up to 8 rows of 256 in time,] 256 lanes (or a power of
 * two from n on) that fold by ascending weight. */
static bool canonical_fits(const twi_judge *j, twi_id v, const twi_frame *f) {
    const twi_ins *ins = twi_ins_of(j->ir, v);
    unsigned axis = ins->fold[0], from = first_digit(j, axis), i;
    const twi_map *m = &f->map[axis];
    int64_t n = j->ir->axis.at[axis].block;
    if (axis == j->split)
        n = TWI_CHUNK; /* a chunk a group (split_fold_fits) */
    else if (!from)
        (void)twi_axis_span(j->ir, axis, &n);
    if (!canonical_lanes(j, v, axis, m, n, &i))
        return false;
    int64_t chunks = cdiv(n, TWI_CHUNK), most = TWI_CHUNK / TWI_LANES_CANONICAL;
    if (i > from) {
        const twi_digit *d = &m->d[--i];
        bool time = d->level == TWI_LV_LOOP || d->level == TWI_LV_SLOT;
        if (!time || (chunks > 1 ? d->extent != most : d->extent > most))
            return refuse_fold(
                j, v, axis, m,
                "the canonical order's digit of weight %d is a loop or slot of %s%lld, "
                "not %s %lld",
                TWI_LANES_CANONICAL, chunks > 1 ? "" : "at most ", (long long)most,
                twi_level_name(d->level), (long long)d->extent);
    }
    if (i > from && chunks > 1) {
        const twi_digit *d = &m->d[--i];
        if (d->level != TWI_LV_LOOP)
            return refuse_fold(j, v, axis, m, "canonical chunks of %d run in a loop, not in %s",
                               TWI_CHUNK, twi_level_name(d->level));
    }
    while (i > from && m->d[i - 1].extent == 1)
        i--;
    return i == from ||
           refuse_fold(
               j, v, axis, m, "the canonical order of %lld elements leaves no room for %s %lld",
               (long long)n, twi_level_name(m->d[i - 1].level), (long long)m->d[i - 1].extent);
}

static unsigned opened_at(const twi_frame *f, unsigned axis, unsigned digit) {
    unsigned k = 0;
    while (k < f->loops && !(f->order[k].axis == axis && f->order[k].digit == digit))
        k++;
    return k;
}

/* fold weight and order tree: row-major, rolled digits outside subgroups outside slots and lanes;
 * loops opened from the greatest weight. */
static bool weight_fits(const twi_judge *j, twi_id v, const twi_frame *f) {
    const twi_ins *ins = twi_ins_of(j->ir, v);
    static const uint8_t rank[TWI_LEVELS] = {[TWI_LV_SERIAL] = 1,
                                             [TWI_LV_LOOP] = 1,
                                             [TWI_LV_SUB] = 2,
                                             [TWI_LV_LANE] = 3,
                                             [TWI_LV_SLOT] = 3};
    const char *written = twi_weight_word(j->ir, v);
    unsigned last = 0, level = TWI_LV_GRID, next = 0;
    bool rolled = false;
    for (unsigned k = 0; k < ins->nfold; k++) {
        unsigned axis = ins->fold[k];
        const twi_map *m = &f->map[axis];
        for (unsigned i = first_digit(j, axis); i < m->n; i++) {
            unsigned at = rank[m->d[i].level], place = opened_at(f, axis, i);
            if (m->d[i].extent == 1)
                continue;
            if (!at)
                return refuse_fold(j, v, axis, m, "%s beside %s digits is not built yet", written,
                                   twi_level_name(m->d[i].level)) ||
                       twi_refused_for(j->why, TWI_WHY_LATER);
            if (at < last)
                return refuse_fold(j, v, axis, m,
                                   "%s: %s %lld weighs less than a %s digit: loops "
                                   "outermost, then sub digits, then slots and lanes",
                                   written, twi_level_name(m->d[i].level),
                                   (long long)m->d[i].extent, twi_level_name(level));
            if (m->d[i].level == TWI_LV_LOOP && place < next)
                return refuse_fold(j, v, axis, m,
                                   "%s: loop %lld is opened outside one of greater weight", written,
                                   (long long)m->d[i].extent);
            next = m->d[i].level == TWI_LV_LOOP ? place + 1 : next;
            last = at;
            rolled |= at == rank[TWI_LV_LOOP];
            level = m->d[i].level;
        }
    }
    uint64_t folded = twi_fold_axes(j->ir, v);
    int64_t own = twi_judge_level(f, ins->type.axes, TWI_LV_LOOP);
    return !rolled || own == 1 || twi_judge_level(f, folded, TWI_LV_SUB) == 1 ||
           twi_refuse(
               j->why,
               "fold %s: %s over subgroups inside %lld trips of loops of its own axes is not "
               "built yet",
               twi_value_name(j->ir, v), written, (long long)own) ||
           twi_refused_for(j->why, TWI_WHY_LATER);
}

static bool order_fits(const twi_judge *j, twi_id v, const twi_frame *f) {
    const twi_ins *ins = twi_ins_of(j->ir, v);
    const twi_place *place = twi_plan_place(j->p, v);
    unsigned order = ins->order == TWI_ORDER_DEFAULT ? j->ir->order : ins->order;
    if (!twi_fold_rounds(j->ir, v) || order == TWI_ORDER_FREE || order == TWI_ORDER_TREE)
        return !twi_folds_by_weight(j->ir, j->p, v) || weight_fits(j, v, f);
    if (place && place->fold)
        return twi_refuse(j->why, "fold %s: fold weight, but its order is fixed",
                          twi_value_name(j->ir, v));
    if (twi_fold_streams(j->ir, f, v))
        return chain_fits(j, v, f) && stream_fits(j, v, f);
    if (order == TWI_ORDER_CANONICAL && ins->op != TWI_DOT)
        return canonical_fits(j, v, f);
    return chain_fits(j, v, f);
}

/* A serial digit on a folded axis: the one fold phase of the scope becomes a serial region. */
static bool serial_fits(const twi_judge *j, unsigned axis, const twi_map *m) {
    unsigned folds = 0;
    for (uint32_t i = 0; i < j->all.n; i++) {
        twi_id v = j->all.at[i];
        const twi_ins *ins = twi_ins_of(j->ir, v);
        if (ins->op == TWI_SERIAL)
            return twi_refuse_map(j, axis, m,
                                  "a serial digit beside the serial region of the text");
        if (!twi_is_fold(j->ir, v))
            continue;
        folds++;
        if (!(twi_fold_axes(j->ir, v) >> axis & 1) || (ins->op != TWI_DOT && ins->op != TWI_SUM))
            return twi_refuse_map(
                j, axis, m,
                "a serial digit needs a scope whose one fold is a sum or dot over %s; %s is none",
                twi_judge_axis(j, axis), twi_value_name(j->ir, v));
    }
    return folds == 1 ||
           twi_refuse_map(j, axis, m, "a serial digit needs one fold, the scope has %u", folds);
}

bool twi_judge_folds(const twi_judge *j) {
    for (uint32_t i = 0; i < j->all.n; i++) {
        twi_id v = j->all.at[i];
        const twi_ins *ins = twi_ins_of(j->ir, v);
        const twi_frame *f = twi_judge_frame(j, v);
        if (!twi_is_fold(j->ir, v))
            continue;
        for (unsigned k = 0; k < ins->nfold; k++)
            if (!collectives_fit(j, v, f, ins->fold[k]))
                return false;
        if (!order_fits(j, v, f))
            return false;
    }
    unsigned serial = 0;
    const twi_frame *f = &j->p->frame[0];
    for (unsigned a = 1; a < j->ir->axis.n; a++) {
        if (!(f->axes >> a & 1) || j->ir->axis.at[a].kind != TWI_AXIS_FULL ||
            !twi_map_is_serial(&f->map[a]))
            continue;
        if (serial++)
            return twi_refuse_map(j, a, &f->map[a], "one axis of a scope has a serial digit");
        if (!serial_fits(j, a, &f->map[a]))
            return false;
    }
    return true;
}

/* ---- split folds ---- */

/* Partial results of the fold, and of its order whatever a group's block fixes. */
static bool split_fold_fits(const twi_judge *j, twi_id v) {
    const twi_ins *ins = twi_ins_of(j->ir, v);
    const twi_map *m = &j->p->frame[0].map[j->split];
    int64_t groups = m->d[0].extent, block = twi_map_weight(m, 0), n = 0, bytes = 8 * groups;
    unsigned order = ins->order == TWI_ORDER_DEFAULT ? j->ir->order : ins->order;
    if (!twi_axis_span(j->ir, j->split, &n) || n < 1)
        return refuse_fold(j, v, j->split, m, "only an extent known here, of 1 or more, is split");
    if (twi_is_merged(j->ir, v))
        return refuse_fold(j, v, j->split, m, "merged folds are not split yet") ||
               twi_refused_for(j->why, TWI_WHY_LATER);
    if (twi_fold_chains(j->ir, v))
        return refuse_fold(j, v, j->split, m, "its order is a chain, which no group can cut");
    if (ins->nfold > 1 && twi_fold_rounds(j->ir, v) && order != TWI_ORDER_FREE)
        return refuse_fold(j, v, j->split, m, "folds over %u axes are split in order free alone",
                           ins->nfold);
    if (ins->nfold > 1 && twi_fold_states(j->ir, v) > 1)
        return refuse_fold(j, v, j->split, m,
                           "a fold over %u axes that gives an index is not split", ins->nfold);
    if (twi_fold_rounds(j->ir, v) && order == TWI_ORDER_CANONICAL &&
        (block != TWI_CHUNK || groups != cdiv(n, TWI_CHUNK)))
        return refuse_fold(
            j, v, j->split, m, "canonical: %lld groups fold a chunk of %d each, here %lld of %lld",
            (long long)cdiv(n, TWI_CHUNK), TWI_CHUNK, (long long)groups, (long long)block);
    for (unsigned a = 1; a < j->ir->axis.n; a++) {
        int64_t extent = 0;
        if (!(ins->type.axes >> a & 1))
            continue;
        if (!twi_axis_span(j->ir, a, &extent))
            return refuse_fold(j, v, j->split, m, "partial results over %s have no fixed number",
                               twi_judge_axis(j, a));
        bytes = extent > 0 && bytes > INT64_MAX / extent ? INT64_MAX : bytes * extent;
    }
    return bytes <= TWI_PARTS_BYTES ||
           refuse_fold(j, v, j->split, m, "partial results take %lld B > %lld B", (long long)bytes,
                       (long long)TWI_PARTS_BYTES);
}

bool twi_judge_split(const twi_judge *j) {
    twi_id_list folds = {0}, all = {0};
    twi_scope_values(j->arena, j->ir, j->par, &all);
    for (uint32_t i = 0; i < all.n; i++)
        if (twi_ins_of(j->ir, all.at[i])->op == TWI_SERIAL)
            return twi_refuse(j->why, "a scope with a serial region of its own is not split");
    if (j->p->second)
        return twi_refuse(j->why, "a second launch is not split again");
    if (j->p->frames > 1)
        return twi_refuse(j->why, "%u frames where folds are split: 1", j->p->frames);
    twi_split_folds(j->arena, j->ir, j->p, &folds);
    if (!folds.n)
        return twi_refuse(j->why, "%s has a grid digit, but no fold over it comes first",
                          twi_judge_axis(j, j->split));
    for (uint32_t i = 0; i < folds.n; i++)
        if (!split_fold_fits(j, folds.at[i]))
            return false;
    for (uint32_t i = 0; i < j->p->place.n; i++)
        if (j->p->place.at[i].keep)
            return twi_refuse(j->why,
                              "value %s: nothing is kept where folds are split: their "
                              "results alone go on to the second launch",
                              twi_value_name(j->ir, j->p->place.at[i].value));
    return j->p->then || twi_refuse(j->why, "the plan of the second launch is missing");
}
