/* SPDX-License-Identifier: Apache-2.0
 * Order descriptors: how a plan folds, as data for the oracle, and the depth that follows. Time
 * first (one chain over all rolled and serial digits, and over slots where they have no
 * accumulators of their own; an atom's positions, the last one first), then slots, lanes, subgroups
 * (a chain; of more than 8 a tree). Of scans the depth alone.
 */
#include "lower/walk.h"
#include "plan/atom.h"

enum { UNKNOWN = 1 << 20 }; /* trips of a loop whose bounds are values, as a depth counts them */

static unsigned log2_up(int64_t e) {
    unsigned n = 0;
    while (n < 62 && (INT64_C(1) << n) < e)
        n++;
    return n;
}

/* Extent of a digit; of a run-time one the most it can be, 0 where nothing is known. */
static int64_t digit_extent(const tw_ir *ir, const twi_map *m, unsigned axis, unsigned digit) {
    int64_t least, most, lo0, lo1, weight = twi_map_weight(m, digit);
    const twi_axis *a = &ir->axis.at[axis];
    if (m->d[digit].extent)
        return m->d[digit].extent;
    if (!twi_ix_range(ir, a->hi, &least, &most) || !twi_ix_range(ir, a->lo, &lo0, &lo1))
        return 0;
    if (most <= lo0)
        return 1;
    return (most - lo0 + weight - 1) / weight;
}

static bool is_folded(const twi_ins *i, unsigned axis) {
    for (unsigned k = 0; k < i->nfold; k++)
        if (i->fold[k] == axis)
            return true;
    return false;
}

typedef struct {
    const tw_ir *ir;
    const twi_frame *f;
    const twi_ins *i;
    twi_order *o;
} describer;

static void add(describer *d, unsigned axis, twi_how how, int64_t weight, int64_t extent) {
    if (d->o->n < sizeof d->o->digit / sizeof *d->o->digit)
        d->o->digit[d->o->n++] = (twi_order_digit){(uint8_t)axis, (uint8_t)how, weight, extent};
}

/* Folded digits on a level, fastest first; product of their extents, and rounds if they make trees.
 */
static int64_t add_level(describer *d, unsigned level, twi_how how, unsigned *rounds) {
    int64_t total = 1;
    for (unsigned a = d->ir->axis.n; a-- > 0;) {
        const twi_map *m = &d->f->map[a];
        if (!is_folded(d->i, a) ||
            (level == TWI_LV_SERIAL && d->ir->axis.at[a].kind == TWI_AXIS_STEP))
            continue;
        for (unsigned k = m->n; k-- > 0;) {
            int64_t e = m->d[k].level == level ? digit_extent(d->ir, m, a, k) : 1;
            if (e == 1)
                continue;
            add(d, a, how, twi_map_weight(m, k), e);
            total *= e ? e : UNKNOWN;
            *rounds += log2_up(e ? e : UNKNOWN);
        }
    }
    return total;
}

/* Rolled digits, in the order in which they are opened. */
static int64_t add_loops(describer *d) {
    int64_t total = 1;
    for (unsigned k = d->f->loops; k-- > 0;) {
        unsigned a = d->f->order[k].axis, digit = d->f->order[k].digit;
        int64_t e = digit_extent(d->ir, &d->f->map[a], a, digit);
        if (!is_folded(d->i, a) || e == 1)
            continue;
        add(d, a, TWI_HOW_CHAIN, twi_map_weight(&d->f->map[a], digit), e);
        total *= e ? e : UNKNOWN;
    }
    return total;
}

int64_t twi_row_major_weight(const twi_ins *fold, unsigned axis, const twi_map *m, unsigned digit) {
    int64_t outer = 0;
    for (unsigned k = 0; k < fold->nfold; k++)
        if (fold->fold[k] == axis)
            outer = (int64_t)(fold->nfold - 1 - k) << 56;
    return outer + twi_map_weight(m, digit);
}

/* Slots and lanes by ascending weight; rounds of their trees. */
static unsigned add_by_weight(describer *d) {
    unsigned rounds = 0;
    for (int64_t last = -1;;) {
        int64_t best = INT64_MAX;
        unsigned axis = 0, digit = 0;
        for (unsigned n = 0; n < d->i->nfold; n++) {
            const twi_map *m = &d->f->map[d->i->fold[n]];
            for (unsigned k = 0; k < m->n; k++) {
                bool part = m->d[k].level == TWI_LV_SLOT || m->d[k].level == TWI_LV_LANE;
                int64_t weight = twi_row_major_weight(d->i, d->i->fold[n], m, k);
                if (!part || m->d[k].extent == 1 || weight <= last || weight >= best)
                    continue;
                best = weight;
                axis = d->i->fold[n];
                digit = k;
            }
        }
        if (best == INT64_MAX)
            return rounds;
        const twi_map *m = &d->f->map[axis];
        add(d, axis, TWI_HOW_TREE, twi_map_weight(m, digit), m->d[digit].extent);
        rounds += log2_up(m->d[digit].extent);
        last = best;
    }
}

/* What fold weight does: slots and lanes, subgroups, then a carry over serial digits and loops. */
static void describe_by_weight(describer *d, uint32_t more) {
    unsigned rounds = add_by_weight(d), none = 0;
    const bool tree = twi_fold_subs_in_tree(d->ir, d->f, d->o->fold);
    int64_t subs =
        add_level(d, TWI_LV_SUB, tree ? TWI_HOW_TREE : TWI_HOW_CHAIN, tree ? &rounds : &none);
    bool split = d->o->n > 0;
    if (subs > 1) /* keeps the chain of subgroups apart from the chain in time */
        add(d, d->i->fold[0], TWI_HOW_TREE, 1, 1);
    const unsigned before = d->o->n;
    int64_t chain = add_loops(d);
    chain *= add_level(d, TWI_LV_SERIAL, TWI_HOW_CHAIN, &none);
    split |= d->o->n > before;
    d->o->depth = (uint32_t)(chain - 1 + rounds + (tree ? 0 : subs - 1)) + more +
                  (split && twi_dot_start(d->ir, d->o->fold) ? 1 : 0);
}

/* A box's positions; the roundings that they are from the sum they are added to: of one group all,
 * of several those of a chain and of the sum of the chains. */
static int64_t add_box(describer *d, const twi_atom_row *row) {
    const unsigned axis = d->i->fold[0];
    unsigned none = 0;
    if (!twi_atom_has_groups(row))
        return add_level(d, TWI_LV_ATOM, TWI_HOW_BACK, &none);
    const unsigned group = twi_atom_group((tw_elem)row->elem);
    add(d, axis, TWI_HOW_CHAIN, group, row->k / group);
    add(d, axis, TWI_HOW_TREE, 1, group);
    return 1;
}

/* What one launch does; partial: the fold is completed by a second one. */
static void describe_launch(const tw_ir *ir, const twi_plan *plan, twi_id fold, bool partial,
                            twi_order *o) {
    const twi_ins *i = twi_ins_of(ir, fold);
    const twi_place *place = twi_plan_place(plan, fold);
    describer d = {ir, &plan->frame[place ? place->frame : 0], i, o};
    bool product = i->op == TWI_DOT && !i->parts;
    const twi_atom_row *row = twi_atom_row_of(place ? place->atom : TWI_ATOM_NONE);
    unsigned rounds = 0, none = 0;
    memset(o, 0, sizeof *o);
    o->fold = fold;
    o->flushes = row->flushes;
    o->fused = product && !(place && place->atom == TWI_ATOM_MULADD);
    if (twi_folds_by_weight(ir, plan, fold)) {
        describe_by_weight(&d, product ? 1 : 0);
        return;
    }
    int64_t chain = add_box(&d, row);
    chain *= add_loops(&d);
    chain *= add_level(&d, TWI_LV_SERIAL, TWI_HOW_CHAIN, &none);
    unsigned before = o->n;
    add_level(&d, TWI_LV_SLOT, TWI_HOW_TREE, &rounds);
    add_level(&d, TWI_LV_LANE, TWI_HOW_TREE, &rounds);
    bool split = o->n > before;
    if (!split && before) /* keeps the chain of subgroups apart from the chain in time */
        add(&d, i->fold[0], TWI_HOW_TREE, 1, 1);
    const bool tree = twi_fold_subs_in_tree(ir, d.f, fold);
    int64_t subs =
        add_level(&d, TWI_LV_SUB, tree ? TWI_HOW_TREE : TWI_HOW_CHAIN, tree ? &rounds : &none);
    split |= subs > 1;
    /* A chain of products starts from the start itself; whatever else has one adds it. */
    bool starts = !partial && (split || i->parts) && twi_dot_start(ir, fold);
    if (twi_atom_has_groups(row)) /* before the first is added to the sum */
        rounds += row->k / twi_atom_group((tw_elem)row->elem) + 1;
    o->depth = (uint32_t)(chain - 1 + rounds + (tree ? 0 : subs - 1) + product + starts);
}

/* What the second launch does with the parts: their digits count blocks of the split axis. */
static void describe_parts(const tw_ir *then, const twi_plan *plan, twi_id fold, unsigned axis,
                           twi_order *o) {
    int64_t block = twi_map_weight(&plan->frame[0].map[axis], 0);
    describer d = {.o = o};
    twi_order second;
    describe_launch(then, plan->then, fold, false, &second);
    if (o->n) /* keeps its chains apart from those of the first */
        add(&d, axis, TWI_HOW_TREE, 1, 1);
    for (unsigned k = 0; k < second.n; k++)
        add(&d, axis, (twi_how)second.digit[k].how, second.digit[k].weight * block,
            second.digit[k].extent);
    o->depth += second.depth;
}

/* ---- scans: their depth alone ---- */

static int64_t extent_of(const describer *d, uint8_t digits) {
    const unsigned axis = d->i->fold[0];
    int64_t n = 1;
    for (unsigned k = 0; k < d->f->map[axis].n; k++) {
        int64_t e = digits >> k & 1 ? digit_extent(d->ir, &d->f->map[axis], axis, k) : 1;
        n *= e ? e : UNKNOWN;
    }
    return n;
}

static int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }

/* Of the last element of a row, as scan.c runs its digits. */
static uint32_t scan_depth(const describer *d, const twi_caps *caps) {
    const twi_map *m = &d->f->map[d->i->fold[0]];
    twi_scan_digits at;
    (void)twi_scan_split(d->ir, d->f, d->i->fold[0], &at);
    const int64_t low = extent_of(d, at.low), mid = extent_of(d, at.mid);
    int64_t total = low - 1 + mid - 1; /* of what a subgroup holds */
    if (at.lane >= 0)
        total += log2_up(m->d[at.lane].extent);
    int64_t element = total + (at.lane >= 0 && at.low ? 1 : 0);
    if (at.sub >= 0) {
        const int64_t high = extent_of(d, at.high), subs = m->d[at.sub].extent;
        int64_t before = total + subs - 2 + (high > 1 ? high : 0); /* of the last subgroup */
        if (twi_scan_by_lanes(d->ir, caps, d->f, d->o->fold))
            before = total + log2_up(caps->lane) + (high * subs - 1) / caps->lane;
        element = greater(element, before) + 1;
    }
    return (uint32_t)(element < UINT32_MAX ? element : UINT32_MAX);
}

static void describe_scan(const tw_ir *ir, const twi_caps *caps, const twi_plan *plan, twi_id scan,
                          twi_order *o) {
    const twi_place *place = twi_plan_place(plan, scan);
    *o = (twi_order){.fold = scan};
    describer d = {ir, &plan->frame[place ? place->frame : 0], twi_ins_of(ir, scan), o};
    o->depth = scan_depth(&d, caps);
}

/* Folds and scans of floats that are free to group their elements. */
static bool is_free(const tw_ir *ir, const twi_cut *cut, twi_id id) {
    const twi_ins *i = twi_ins_of(ir, id);
    const unsigned kind = twi_op_row(i->op)->kind;
    bool groups = kind == TWI_KIND_FOLD || kind == TWI_KIND_ORDER;
    return groups && twi_is_float((tw_elem)i->type.elem) && !twi_monoid_of(i->op)->order_free &&
           cut->value[id].used && (i->order == TWI_ORDER_FREE || i->order == TWI_ORDER_TREE);
}

uint32_t twi_plan_orders(twi_arena *arena, const tw_ir *ir, const twi_caps *caps,
                         const twi_plan *plan, twi_order **out) {
    twi_cut cut;
    twi_cut_scope(arena, ir, plan, twi_par_region(ir, plan->scope), &cut);
    TWI_VEC(twi_order) list = {0};
    twi_id_list splits = {0};
    unsigned axis = plan->then ? twi_split_axis(ir, plan) : 0;
    const tw_ir *then = axis ? twi_split_ir(arena, ir, plan) : NULL;
    twi_split_folds(arena, ir, plan, &splits);
    for (uint32_t k = 0; k < cut.all.n; k++) {
        if (!is_free(ir, &cut, cut.all.at[k]))
            continue;
        twi_order o;
        bool split = false;
        for (uint32_t n = 0; n < splits.n; n++)
            split |= splits.at[n] == cut.all.at[k];
        if (twi_op_row(twi_ins_of(ir, cut.all.at[k])->op)->kind == TWI_KIND_ORDER)
            describe_scan(ir, caps, then ? plan->then : plan, cut.all.at[k], &o);
        else if (then && !split)
            describe_launch(then, plan->then, cut.all.at[k], false, &o);
        else
            describe_launch(ir, plan, cut.all.at[k], then != NULL, &o);
        if (then && split)
            describe_parts(then, plan, cut.all.at[k], axis, &o);
        twi_push(arena, &list, o);
    }
    *out = list.at;
    return list.n;
}
