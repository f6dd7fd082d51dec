/* SPDX-License-Identifier: Apache-2.0
 * The walk of a phase: roots are grouped so that each one's loops stand outermost in its group; a
 * group's values go to the innermost open loop among their axes (hoisting by construction); in one
 * loop body they form nests of equal slot domain, unrolled as one. Values that leave a nest live in
 * slot arrays.
 */
#include "lower/walk.h"
#include <stdlib.h>

/* FETCH, FLUSH: the wide access of a load, before its value is asked for, and of a store, after. */
typedef enum {
    ITEM_FETCH,
    ITEM_VALUE,
    ITEM_UPDATE,
    ITEM_SCAN,
    ITEM_STORE,
    ITEM_FLUSH,
    ITEM_YIELD
} item_kind;
typedef struct {
    uint8_t kind;
    bool leaves;     /* VALUE: used outside its nest */
    uint8_t frame;   /* roots */
    twi_id id;       /* YIELD: the CARRY */
    uint32_t at;     /* place in the text */
    twi_id value;    /* YIELD: its new value */
    uint32_t object; /* YIELD: where to */
    uint64_t axes, slots;
    int level;
    uint32_t nest, fold;
} item;

typedef struct {
    twi_lowering *w;
    uint32_t region;
    TWI_VEC(item) roots; /* of the group */
    TWI_VEC(item) items;
    TWI_VEC(twi_fold) folds;
    twi_axis_digit loop[TWI_MAX_LOOPS + 8];
    unsigned loops;
    twi_axis_digit slot[64];
    unsigned slots;
    uint64_t staged; /* stages filled in this walk */
    unsigned frame;
} walk;

/* ---- loops and slots
 * --------------------------------------------------------------------------------- */
static unsigned loops_of(const twi_lowering *w, uint64_t axes, twi_axis_digit *out) {
    unsigned n = 0;
    for (unsigned a = 0; a < w->ir->axis.n; a++) {
        const twi_map *m = twi_w_map(w, a);
        if (!(axes >> a & 1) || w->ir->axis.at[a].kind == TWI_AXIS_STEP)
            continue;
        for (unsigned d = 0; d < m->n; d++)
            if (m->d[d].level == TWI_LV_SERIAL && m->d[d].extent != 1)
                out[n++] = (twi_axis_digit){(uint8_t)a, (uint8_t)d};
    }
    for (unsigned k = w->frame->around; k < w->frame->loops; k++) {
        twi_axis_digit l = w->frame->order[k];
        if (axes >> l.axis & 1 && twi_w_runs(w, l.axis, l.digit))
            out[n++] = l;
    }
    return n;
}

/* Do the loops of `axes` come first among those of the group? */
static bool is_prefix(const twi_axis_digit *loop, unsigned n, uint64_t axes) {
    bool out = false;
    for (unsigned k = 0; k < n; k++) {
        bool mine = axes >> loop[k].axis & 1;
        if (mine && out)
            return false;
        out |= !mine;
    }
    return true;
}

static int level_of(const walk *g, uint64_t axes) {
    int level = 0;
    for (unsigned k = 0; k < g->loops; k++)
        if (axes >> g->loop[k].axis & 1)
            level = (int)k + 1;
    return level;
}

static void find_slots(walk *g, uint64_t axes) {
    for (unsigned a = 0; a < g->w->ir->axis.n; a++) {
        const twi_map *m = twi_w_map(g->w, a);
        for (unsigned d = 0; (axes >> a & 1) && d < m->n; d++)
            if (m->d[d].level == TWI_LV_SLOT && m->d[d].extent > 1 && g->slots < 64)
                g->slot[g->slots++] = (twi_axis_digit){(uint8_t)a, (uint8_t)d};
    }
}

static uint64_t slots_of(const walk *g, uint64_t axes) {
    uint64_t set = 0;
    for (unsigned k = 0; k < g->slots; k++)
        if (axes >> g->slot[k].axis & 1)
            set |= 1ull << k;
    return set;
}

/* ---- items
 * --------------------------------------------------------------------------------------------- */
static item *find_value(walk *g, twi_id v) {
    for (uint32_t k = 0; k < g->items.n; k++)
        if (g->items.at[k].kind == ITEM_VALUE && g->items.at[k].id == v)
            return &g->items.at[k];
    return NULL;
}

/* Is the load, or what its stage holds of it, read by wide accesses? */
static bool is_fetched(const twi_lowering *w, twi_id load) {
    twi_run run;
    for (unsigned s = 0; s < w->plan->stages; s++)
        if (w->plan->stage[s].value == load)
            return twi_w_stage_run(w, s, &run);
    return twi_w_is_wide(w, load);
}

static void need_value(walk *g, twi_id v);

/* A load's wide access, once; false: it has none. It asks for its subscripts itself, but for those
 * that outer loops hold. */
static bool need_fetch(walk *g, twi_id load) {
    const tw_ir *ir = g->w->ir;
    for (uint32_t k = 0; k < g->items.n; k++)
        if (g->items.at[k].kind == ITEM_FETCH && g->items.at[k].id == load)
            return true;
    if (!is_fetched(g->w, load))
        return false;
    item it = {.kind = ITEM_FETCH, .id = load, .axes = twi_access_axes(ir, load)};
    for (unsigned k = 0; k < twi_ins_of(ir, load)->nargs; k++) {
        const twi_id tile = twi_arg(ir, load, k);
        if (level_of(g, twi_ins_of(ir, tile)->type.axes) < level_of(g, it.axes))
            need_value(g, tile);
    }
    twi_push(g->w->arena, &g->items, it);
    return true;
}

static void need_value(walk *g, twi_id v) {
    twi_lowering *w = g->w;
    const twi_ins *i = twi_ins_of(w->ir, v);
    if (!twi_is_local(w->ir, v) || w->home[v].kind || find_value(g, v))
        return;
    if (i->op != TWI_LOAD || !need_fetch(g, v))
        for (unsigned k = 0; k < i->nargs; k++)
            need_value(g, twi_arg(w->ir, v, k));
    item it = {.kind = ITEM_VALUE, .id = v, .axes = i->type.axes};
    twi_push(w->arena, &g->items, it);
}

static void need_root(walk *g, const item *root) {
    twi_lowering *w = g->w;
    const twi_ins *i = twi_ins_of(w->ir, root->id);
    switch ((item_kind)root->kind) {
    case ITEM_VALUE:
        need_value(g, root->id);
        return;
    case ITEM_YIELD:
        need_value(g, root->value);
        break;
    case ITEM_STORE:
        if (twi_is_move(w, root->id))
            need_fetch(g, twi_arg(w->ir, root->id, 0));
        for (unsigned k = twi_is_move(w, root->id) ? 1 : 0; k < i->nargs; k++)
            need_value(g, twi_arg(w->ir, root->id, k));
        break;
    case ITEM_UPDATE:
    case ITEM_SCAN:
        for (unsigned k = 0; k < twi_fold_operands(w->ir, root->id); k++)
            need_value(g, twi_arg(w->ir, root->id, k));
        break;
    case ITEM_FETCH:
    case ITEM_FLUSH:
        break; /* no roots */
    }
    twi_push(w->arena, &g->items, *root);
    if (root->kind == ITEM_STORE && twi_w_is_wide(w, root->id)) {
        item it = {.kind = ITEM_FLUSH, .id = root->id, .axes = root->axes};
        twi_push(w->arena, &g->items, it);
    }
}

/* Fetches first, so that what a worker needs is under way before its first use; then in the order
 * of the text, in which values come before what reads them; yields last. */
static int by_place(const void *a, const void *b) {
    const item *x = a, *y = b;
    int xr = x->kind == ITEM_FETCH ? -1 : x->kind == ITEM_YIELD;
    int yr = y->kind == ITEM_FETCH ? -1 : y->kind == ITEM_YIELD;
    if (xr != yr)
        return xr - yr;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->kind - y->kind;
}

/* Does item b read what item a makes? */
static bool reads(const walk *g, const item *a, const item *b) {
    const tw_ir *ir = g->w->ir;
    const twi_ins *i = twi_ins_of(ir, b->id);
    if (b->kind == ITEM_YIELD)
        return b->value == a->id;
    for (unsigned k = 0; k < i->nargs; k++)
        if (twi_arg(ir, b->id, k) == a->id)
            return true;
    return false;
}

static bool same_array(const walk *g, const item *a, const item *b) {
    const twi_ins *x = twi_ins_of(g->w->ir, a->id), *y = twi_ins_of(g->w->ir, b->id);
    bool xm = a->kind == ITEM_STORE || a->kind == ITEM_FLUSH ||
              (a->kind == ITEM_VALUE && x->op == TWI_LOAD);
    return xm && b->kind == ITEM_STORE &&
           g->w->ir->access.at[x->attr].array == g->w->ir->access.at[y->attr].array;
}

/* Must b stand in a's nest or a later one (both on one level, a before b)? */
static bool follows(const walk *g, const item *a, const item *b) {
    if (a->kind == ITEM_FETCH || b->kind == ITEM_FETCH)
        return a->kind == ITEM_FETCH;
    if (b->kind == ITEM_FLUSH)
        return a->kind == ITEM_STORE && a->id == b->id;
    if (a->kind == ITEM_VALUE && reads(g, a, b))
        return true;
    if (b->kind == ITEM_YIELD && a->kind != ITEM_YIELD) { /* reads of the carry come first */
        item carry = {.id = b->id};
        if (reads(g, &carry, a))
            return true;
    }
    return b->kind == ITEM_STORE && same_array(g, a, b);
}

/* May both stand in one nest? */
static bool alike(const item *a, const item *b) {
    bool wide = a->kind == ITEM_FETCH || a->kind == ITEM_FLUSH || b->kind == ITEM_FETCH ||
                b->kind == ITEM_FLUSH;
    return a->slots == b->slots && !wide;
}

static void assign_nests(walk *g) {
    for (uint32_t k = 0; k < g->items.n; k++) {
        item *b = &g->items.at[k];
        uint32_t nest = 1, last = 0;
        for (uint32_t j = 0; j < k; j++) {
            const item *a = &g->items.at[j];
            if (a->level != b->level)
                continue;
            last = a->nest > last ? a->nest : last;
            if (!follows(g, a, b))
                continue;
            uint32_t least = alike(a, b) ? a->nest : a->nest + 1;
            nest = least > nest ? least : nest;
        }
        b->nest = 0;
        for (uint32_t j = 0; j < k; j++) {
            const item *a = &g->items.at[j];
            if (a->level == b->level && alike(a, b) && a->nest >= nest &&
                (!b->nest || a->nest < b->nest))
                b->nest = a->nest;
        }
        if (!b->nest)
            b->nest = last >= nest ? last + 1 : nest;
    }
    for (uint32_t k = 0; k < g->items.n; k++)
        for (uint32_t j = 0; j < k; j++) {
            item *a = &g->items.at[j], *b = &g->items.at[k];
            if (a->kind == ITEM_VALUE && reads(g, a, b) &&
                (a->level != b->level || a->nest != b->nest))
                a->leaves = true;
        }
}

static void make_items(walk *g) {
    twi_lowering *w = g->w;
    for (uint32_t k = 0; k < g->roots.n; k++)
        need_root(g, &g->roots.at[k]);
    for (uint32_t k = 0; k < g->items.n; k++)
        g->items.at[k].at = w->cut.value[g->items.at[k].id].at;
    if (g->items.n)
        qsort(g->items.at, g->items.n, sizeof *g->items.at, by_place);
    for (uint32_t k = 0; k < g->items.n; k++) {
        item *it = &g->items.at[k];
        it->level = level_of(g, it->axes);
        it->slots = slots_of(g, it->axes);
        if (it->kind == ITEM_VALUE && twi_scan_streams(w->ir, it->id)) {
            w->stream[it->id] = TWI_NEW(w->arena, twi_fold);
            twi_fold_plan(w, it->id, g->loop, g->loops, w->stream[it->id]);
        }
        if (it->kind != ITEM_UPDATE)
            continue;
        twi_fold f;
        twi_fold_plan(w, it->id, g->loop, g->loops, &f);
        it->fold = g->folds.n;
        twi_push(w->arena, &g->folds, f);
    }
    assign_nests(g);
}

/* ---- emission
 * ------------------------------------------------------------------------------------------- */
static void slot_array_store(walk *g, const item *it, twi_lid x) {
    twi_lowering *w = g->w;
    twi_object o = {.kind = TWI_OBJ_PRIVATE, .name = twi_ins_of(w->ir, it->id)->name};
    o.elem = twi_lins_of(w->c.f, x)->elem;
    o.count = (uint16_t)twi_w_count(w, x);
    twi_lid index[TWI_MAX_RANK];
    o.rank = (uint8_t)twi_w_slot_index(w, it->axes, index, o.extent);
    twi_laccess acc = {.object = twi_lb_object(&w->c, &o)};
    twi_lb_store(&w->c, acc, index, x, 0);
    w->slot_array[it->id] = acc.object;
}

/* A nest of its own. */
static void emit_wide(twi_lowering *w, const item *it) {
    uint32_t mark = twi_w_scope(w);
    w->c.loc = twi_ins_of(w->ir, it->id)->loc;
    const int stage = twi_w_stage_of(w, it->id);
    if (it->kind == ITEM_FLUSH)
        twi_w_flush(w, it->id);
    else if (stage >= 0)
        twi_w_stage_fetch(w, (unsigned)stage);
    else
        twi_w_fetch(w, it->id);
    twi_w_forget(w, mark);
}

/* One nest: values first to last; what is yielded is fetched before any carry is overwritten. */
static void emit_nest(walk *g, uint32_t first, int level, uint32_t nest) {
    twi_lowering *w = g->w;
    uint64_t slots = g->items.at[first].slots;
    uint32_t mark = twi_w_scope(w);
    unsigned depth = twi_w_depth(w);
    TWI_VEC(twi_lid) out = {0};
    twi_w_cut_off(w);
    if (g->items.at[first].kind == ITEM_FETCH || g->items.at[first].kind == ITEM_FLUSH) {
        emit_wide(w, &g->items.at[first]);
        return;
    }
    for (unsigned k = 0; k < g->slots; k++)
        if (slots >> k & 1)
            twi_w_open(w, g->slot[k].axis, g->slot[k].digit);
    for (uint32_t k = first; k < g->items.n; k++) {
        const item *it = &g->items.at[k];
        twi_lid x = 0;
        twi_push(w->arena, &out, x);
        if (it->level != level || it->nest != nest)
            continue;
        w->c.loc = twi_ins_of(w->ir, it->id)->loc;
        if (it->kind == ITEM_UPDATE)
            twi_fold_update(w, &g->folds.at[it->fold]);
        else if (it->kind == ITEM_SCAN)
            twi_scan_element(w, it->id);
        else if (it->kind == ITEM_STORE)
            twi_w_array_store(w, it->id);
        else
            out.at[k - first] = twi_w_value(w, it->kind == ITEM_YIELD ? it->value : it->id);
        if (it->kind == ITEM_VALUE && w->home[it->id].object) {
            if (w->home[it->id].object != w->home[it->id].carrier)
                twi_w_keep(w, it->id, out.at[k - first]);
            twi_w_carry(w, it->id, out.at[k - first]);
        }
    }
    for (uint32_t k = first; k < g->items.n; k++) {
        const item *it = &g->items.at[k];
        if (it->level != level || it->nest != nest)
            continue;
        if (it->kind == ITEM_YIELD)
            twi_w_stripe_store(w, it->object, it->axes, out.at[k - first]);
        if (it->kind == ITEM_VALUE && it->leaves && slots)
            slot_array_store(g, it, out.at[k - first]);
    }
    twi_w_shut(w, depth);
    if (slots)
        twi_w_forget(w, mark);
}

static void emit_nests(walk *g, int level) {
    uint32_t last = 0;
    for (uint32_t k = 0; k < g->items.n; k++)
        if (g->items.at[k].level == level && g->items.at[k].nest > last)
            last = g->items.at[k].nest;
    for (uint32_t nest = 1; nest <= last; nest++)
        for (uint32_t k = 0; k < g->items.n; k++)
            if (g->items.at[k].level == level && g->items.at[k].nest == nest) {
                emit_nest(g, k, level, nest);
                break;
            }
}

static bool fills(walk *g, unsigned stage, int level) {
    return !twi_w_stage_around(g->w, stage) && find_value(g, g->w->plan->stage[stage].value) &&
           twi_w_stage_level(g->w, stage, g->loop, g->loops) == level;
}

/* Stages whose outer digits are all open there. */
static uint64_t stages_at(walk *g, int level) {
    uint64_t set = 0;
    for (unsigned s = 0; s < g->w->plan->stages; s++)
        set |= fills(g, s, level) ? UINT64_C(1) << s : 0;
    g->staged |= set;
    return set;
}

static void leave_item(twi_lowering *w, const item *it) {
    w->buffer[it->id] = 0;
    if (it->kind == ITEM_VALUE)
        w->slot_array[it->id] = 0;
}

static void emit_level(walk *g, int level);

/* The next loop, what it holds, and what folds leave behind it. */
static void emit_loop(walk *g, int level) {
    twi_lowering *w = g->w;
    const twi_axis_digit loop = g->loop[level];
    const bool top = level == 0;
    const bool trips = twi_w_map(w, loop.axis)->d[loop.digit].level == TWI_LV_SERIAL;
    if (trips)
        twi_w_window_prime(w, stages_at(g, level + 1));
    const uint32_t mark = twi_w_scope(w);
    const unsigned depth = twi_w_depth(w);
    twi_w_open(w, loop.axis, loop.digit);
    if (trips)
        twi_w_event_trips(w, loop.axis);
    else
        twi_w_event_loop(w, true);
    emit_level(g, level + 1);
    twi_w_event_loop(w, false);
    twi_w_shut(w, depth);
    twi_w_forget(w, mark);
    for (uint32_t k = 0; k < g->items.n; k++) /* slot arrays hold what the last trip left */
        if (g->items.at[k].level > level)
            leave_item(w, &g->items.at[k]);
    for (uint32_t k = 0; k < g->folds.n; k++) {
        if (g->folds.at[k].held && g->folds.at[k].held_loop == level)
            twi_held_end(w, &g->folds.at[k]);
        if (g->folds.at[k].first_loop == level)
            twi_fold_finish(w, &g->folds.at[k], top);
        if (twi_fold_carries(&g->folds.at[k]) && g->folds.at[k].chunk_loop == level)
            twi_carry_finish(w, &g->folds.at[k], top);
        else if (g->folds.at[k].chunk_loop == level)
            twi_fold_finish_chunks(w, &g->folds.at[k], top);
    }
}

static void emit_level(walk *g, int level) {
    twi_lowering *w = g->w;
    bool top = level == 0;
    const uint64_t stages = stages_at(g, level);
    twi_w_window_begin(w, stages);
    for (uint32_t k = 0; k < g->folds.n; k++) {
        twi_fold *f = &g->folds.at[k];
        if (twi_fold_carries(f) && f->chunk_loop == level)
            twi_carry_init(w, f);
        if (f->first_loop >= 0 ? f->first_loop == level : f->level == level)
            twi_fold_init(w, f);
    }
    for (uint32_t k = 0; k < g->items.n; k++) {
        const item *it = &g->items.at[k];
        if (it->kind == ITEM_VALUE && twi_scan_streams(w->ir, it->id) &&
            w->stream[it->id]->first_loop == level)
            twi_fold_init(w, w->stream[it->id]);
    }
    emit_nests(g, level);
    for (uint32_t k = 0; k < g->folds.n; k++)
        if (g->folds.at[k].first_loop < 0 && g->folds.at[k].level == level)
            twi_fold_finish(w, &g->folds.at[k], top);
    if (level > 0)
        twi_fold_collect(w, g->folds.at, g->folds.n, level);
    for (uint32_t k = 0; k < g->folds.n; k++)
        if (g->folds.at[k].held_loop == level)
            twi_held_begin(w, &g->folds.at[k]);
    if (level < (int)g->loops)
        emit_loop(g, level);
    twi_w_window_end(w, stages);
}

/* Shared carriers that the group writes, and the others that it reads. */
static void carrier_effects(const walk *g, uint64_t *reads, uint64_t *writes) {
    const twi_lowering *w = g->w;
    *reads = *writes = 0;
    for (uint32_t k = 0; k < g->items.n; k++) {
        const item *it = &g->items.at[k];
        const twi_ins *i = twi_ins_of(w->ir, it->id);
        if (it->kind == ITEM_VALUE || it->kind == ITEM_UPDATE)
            *writes |= w->home[it->id].effect;
        if (it->kind == ITEM_YIELD)
            *reads |= w->home[it->value].effect;
        for (unsigned a = 0; a < i->nargs; a++)
            *reads |= w->home[twi_arg(w->ir, it->id, a)].effect;
    }
    *reads &= ~*writes;
}

/* What the group's dots take in boxes is woven before them. */
static void carry_boxes(walk *g) {
    twi_lowering *w = g->w;
    for (uint32_t k = 0; k < g->folds.n; k++)
        for (unsigned a = 0; a < twi_fold_operands(w->ir, g->folds.at[k].id); a++) {
            const twi_id v = twi_arg(w->ir, g->folds.at[k].id, a);
            if (w->home[v].carrier && twi_w_box(w, v) > 1)
                twi_w_carry_boxes(w, v);
        }
}

static void emit_group(walk *g) {
    twi_lowering *w = g->w;
    uint64_t axes = 0, reads, writes;
    twi_w_enter(w, g->frame);
    for (uint32_t k = 0; k < g->roots.n; k++)
        axes |= g->roots.at[k].axes;
    g->loops = loops_of(w, axes, g->loop);
    find_slots(g, axes);
    make_items(g);
    for (uint32_t k = 0; k < g->folds.n; k++)
        twi_w_make_carrier(w, g->folds.at[k].id);
    carrier_effects(g, &reads, &writes);
    if (reads | writes)
        twi_w_event(w, reads, writes);
    uint32_t mark = twi_w_scope(w);
    carry_boxes(g);
    emit_level(g, 0);
    twi_fold_collect(w, g->folds.at, g->folds.n, -1);
    for (uint32_t k = 0; k < g->items.n; k++)
        if (g->items.at[k].kind == ITEM_SCAN)
            twi_scan_finish(w, g->items.at[k].id);
    twi_w_forget(w, mark);
    carrier_effects(g, &reads, &writes); /* behind barriers of stages and subgroups too */
    twi_w_event_touched(w, reads, writes);
    for (uint32_t k = 0; k < g->items.n; k++) {
        item *it = &g->items.at[k];
        leave_item(w, it);
        if (it->kind == ITEM_VALUE && w->home[it->id].object)
            w->home[it->id].kind = w->home[it->id].object == w->home[it->id].carrier
                                       ? TWI_HOME_SHARED
                                       : TWI_HOME_STRIPE;
    }
    for (unsigned s = 0; s < w->plan->stages; s++)
        if (g->staged >> s & 1)
            w->stage_object[s] = 0;
}

/* ---- roots
 * ------------------------------------------------------------------------------------------------
 */
static bool fits(const walk *g, const item *root) {
    uint64_t axes = root->axes;
    if (g->frame != root->frame)
        return false;
    for (uint32_t k = 0; k < g->roots.n; k++)
        axes |= g->roots.at[k].axes;
    twi_axis_digit loop[TWI_MAX_LOOPS + 8];
    unsigned n = loops_of(g->w, axes, loop);
    if (!is_prefix(loop, n, root->axes))
        return false;
    for (uint32_t k = 0; k < g->roots.n; k++)
        if (!is_prefix(loop, n, g->roots.at[k].axes))
            return false;
    return true;
}

static void add_root(twi_lowering *w, walk **groups, unsigned *n, uint32_t region, item root) {
    bool effect = root.kind == ITEM_STORE || root.kind == ITEM_YIELD || w->plan->frames > 1;
    root.frame = (uint8_t)twi_frame_of(w, root.id);
    twi_w_enter(w, root.frame);
    for (unsigned k = effect && *n ? *n - 1 : 0; k < *n; k++)
        if (fits(groups[k], &root)) {
            twi_push(w->arena, &groups[k]->roots, root);
            return;
        }
    walk *g = groups[(*n)++] = TWI_NEW(w->arena, walk);
    g->w = w;
    g->region = region;
    g->frame = root.frame;
    twi_push(w->arena, &g->roots, root);
}

/* A stripe for a value that is kept, or one object for all workers. */
static void make_home(twi_lowering *w, twi_id v) {
    const twi_type *t = &twi_ins_of(w->ir, v)->type;
    const twi_place *place = twi_plan_place(w->plan, v);
    twi_w_enter(w, twi_frame_of(w, v));
    twi_w_make_carrier(w, v);
    w->home[v].object = place && place->keep == TWI_KEEP_SHARED
                            ? w->home[v].carrier
                            : twi_w_stripe(w, v, twi_w_kept_elem(w, v), t->axes);
    w->home[v].frame = (uint8_t)w->frame_id;
}

static void add_body_roots(twi_lowering *w, uint32_t region, unsigned p, walk **groups,
                           unsigned *n) {
    const twi_region *r = &w->ir->region.at[region];
    for (uint32_t k = 0; k < r->body.n; k++) {
        twi_id v = r->body.at[k];
        const twi_ins *i = twi_ins_of(w->ir, v);
        const twi_cut_value *c = &w->cut.value[v];
        unsigned kind = twi_op_row(i->op)->kind;
        item it = {.id = v, .axes = i->type.axes};
        if (w->splits.n && !twi_w_is_split(w, v))
            continue;
        if (kind == TWI_KIND_FOLD && c->used && c->phase == p) {
            it.kind = ITEM_UPDATE;
            for (unsigned f = 0; f < i->nfold; f++)
                it.axes |= 1ull << i->fold[f];
            const int carry = twi_w_settles(w, region, v);
            if (carry >= 0)
                w->home[v].object = w->home[r->carries.at[carry]].object;
        } else if (kind == TWI_KIND_EFFECT && c->phase == p) {
            it.kind = ITEM_STORE;
            it.axes = twi_access_axes(w->ir, v);
        } else if (kind == TWI_KIND_ORDER && c->used && c->phase == p &&
                   !twi_scan_streams(w->ir, v)) {
            it.kind = ITEM_SCAN;
            make_home(w, v);
        } else if (kind == TWI_KIND_LOCAL && c->kept && c->avail == p && !w->home[v].object) {
            it.kind = ITEM_VALUE;
            make_home(w, v);
        } else {
            continue;
        }
        add_root(w, groups, n, region, it);
    }
}

static void add_yields(twi_lowering *w, uint32_t region, unsigned p, walk **groups, unsigned *n) {
    const twi_region *r = &w->ir->region.at[region];
    for (uint32_t k = 0; k < r->yields.n; k++) {
        twi_id y = r->yields.at[k], carry = r->carries.at[k];
        unsigned level = w->cut.value[y].region == region ? w->cut.value[y].avail : 0;
        if (y == carry || level != p || twi_w_settles(w, region, y) == (int)k)
            continue;
        item it = {.kind = ITEM_YIELD,
                   .id = carry,
                   .value = y,
                   .axes = twi_ins_of(w->ir, carry)->type.axes};
        it.object = w->home[carry].object;
        if (!twi_w_in_place(w, region, k))
            it.object = w->next_object[carry];
        add_root(w, groups, n, region, it);
    }
}

void twi_w_phase(twi_lowering *w, uint32_t region, unsigned p) {
    const twi_region *r = &w->ir->region.at[region];
    w->phases++;
    walk **groups = TWI_NEW_N(w->arena, walk *, r->body.n + r->yields.n + 1);
    unsigned n = 0;
    add_body_roots(w, region, p, groups, &n);
    add_yields(w, region, p, groups, &n);
    for (unsigned k = 0; k < n; k++)
        emit_group(groups[k]);
}
