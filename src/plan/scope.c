/* SPDX-License-Identifier: Apache-2.0
 * Scopes, axes and folds of a tile IR, as plans speak of them (scope.h).
 */
#include "plan/scope.h"

/* The k-th PAR at or below a region's body, counting down *k; 0: not here. */
static uint32_t find_par(const tw_ir *ir, uint32_t region, uint32_t *k) {
    const twi_region *r = &ir->region.at[region];
    for (uint32_t i = 0; i < r->body.n; i++) {
        const twi_ins *ins = twi_ins_of(ir, r->body.at[i]);
        if (ins->op == TWI_PAR) {
            if (*k == 0)
                return ins->attr;
            --*k;
        } else if (ins->op == TWI_SERIAL) {
            uint32_t found = find_par(ir, ins->attr, k);
            if (found)
                return found;
        }
    }
    return 0;
}

uint32_t twi_par_region(const tw_ir *ir, uint32_t scope) { return find_par(ir, 1, &scope); }

uint32_t twi_par_count(const tw_ir *ir) {
    uint32_t n = 0;
    for (uint32_t r = 1; r < ir->region.n; r++)
        n += ir->region.at[r].kind == TWI_REGION_PAR;
    return n;
}

uint32_t twi_region_scope(const tw_ir *ir, uint32_t region) {
    while (region && ir->region.at[region].kind != TWI_REGION_PAR)
        region = ir->region.at[region].parent;
    return region;
}

uint64_t twi_scope_axes(const tw_ir *ir, uint32_t par) {
    uint64_t axes = 0;
    for (uint32_t a = 1; a < ir->axis.n; a++)
        if (twi_region_scope(ir, ir->axis.at[a].region) == par)
            axes |= UINT64_C(1) << a;
    return axes;
}

void twi_scope_values(twi_arena *arena, const tw_ir *ir, uint32_t region, twi_id_list *out) {
    const twi_region *r = &ir->region.at[region];
    for (uint32_t i = 0; i < r->carries.n; i++)
        twi_push(arena, out, r->carries.at[i]);
    for (uint32_t i = 0; i < r->body.n; i++) {
        const twi_ins *ins = twi_ins_of(ir, r->body.at[i]);
        if (ins->op == TWI_CARRY)
            continue;
        twi_push(arena, out, r->body.at[i]);
        if (ins->op == TWI_SERIAL)
            twi_scope_values(arena, ir, ins->attr, out);
    }
}

bool twi_axis_span(const tw_ir *ir, unsigned axis, int64_t *extent) {
    int64_t lo, hi;
    const twi_axis *a = &ir->axis.at[axis];
    if (!twi_ix_is_const(ir, a->lo, &lo) || !twi_ix_is_const(ir, a->hi, &hi))
        return false;
    *extent = hi > lo ? hi - lo : 0;
    return true;
}

const char *twi_axis_text(const tw_ir *ir, twi_arena *arena, unsigned axis) {
    const twi_axis *a = &ir->axis.at[axis];
    const char *name = twi_text(&ir->ctx->names, a->name);
    uint32_t par = twi_region_scope(ir, a->region);
    unsigned before = 0;
    for (unsigned i = 1; i < axis; i++)
        before +=
            ir->axis.at[i].name == a->name && twi_region_scope(ir, ir->axis.at[i].region) == par;
    return before ? twi_format(arena, "%s.%u", name, before + 1) : name;
}

bool twi_axis_named(const tw_ir *ir, twi_arena *arena, uint32_t par, const char *name, size_t n,
                    unsigned *axis) {
    uint64_t axes = twi_scope_axes(ir, par);
    for (unsigned a = 1; a < ir->axis.n; a++) {
        if (!(axes >> a & 1))
            continue;
        const char *text = twi_axis_text(ir, arena, a);
        if (strlen(text) == n && memcmp(text, name, n) == 0) {
            *axis = a;
            return true;
        }
    }
    return false;
}

bool twi_is_fold(const tw_ir *ir, twi_id v) {
    return twi_op_row(twi_ins_of(ir, v)->op)->kind == TWI_KIND_FOLD;
}

uint64_t twi_fold_axes(const tw_ir *ir, twi_id v) {
    const twi_ins *ins = twi_ins_of(ir, v);
    uint64_t axes = 0;
    for (unsigned i = 0; twi_is_fold(ir, v) && i < ins->nfold; i++)
        axes |= UINT64_C(1) << ins->fold[i];
    return axes;
}

bool twi_fold_subs_in_tree(const tw_ir *ir, const twi_frame *f, twi_id v) {
    const twi_ins *ins = twi_ins_of(ir, v);
    int64_t n = 1;
    for (unsigned i = 0; twi_is_fold(ir, v) && i < ins->nfold; i++)
        n *= twi_map_level_extent(&f->map[ins->fold[i]], TWI_LV_SUB);
    return n > 8;
}

bool twi_is_merged(const tw_ir *ir, twi_id fold) {
    const unsigned op = twi_ins_of(ir, fold)->op;
    return op == TWI_LOGSUMEXP || op == TWI_MOMENTS;
}

bool twi_fold_rounds(const tw_ir *ir, twi_id v) {
    const twi_ins *ins = twi_ins_of(ir, v);
    if (!twi_has_bracket(ins->op))
        return false;
    return !twi_monoid_of(ins->op)->order_free && twi_is_float((tw_elem)ins->type.elem);
}

static unsigned order_of(const tw_ir *ir, twi_id v) {
    unsigned order = twi_ins_of(ir, v)->order;
    return order == TWI_ORDER_DEFAULT ? ir->order : order;
}

bool twi_fold_chains(const tw_ir *ir, twi_id v) {
    unsigned order = twi_fold_rounds(ir, v) ? order_of(ir, v) : TWI_ORDER_FREE;
    return order == TWI_ORDER_LEFT || order == TWI_ORDER_RIGHT ||
           (order == TWI_ORDER_CANONICAL && twi_ins_of(ir, v)->op == TWI_DOT);
}

static bool is_canonical_row(const tw_ir *ir, twi_id v) {
    return twi_fold_rounds(ir, v) && order_of(ir, v) == TWI_ORDER_CANONICAL &&
           twi_ins_of(ir, v)->op != TWI_DOT;
}

bool twi_fold_streams(const tw_ir *ir, const twi_frame *f, twi_id v) {
    const twi_ins *ins = twi_ins_of(ir, v);
    if (!is_canonical_row(ir, v))
        return false;
    unsigned axis = ins->fold[0], from = ir->axis.at[axis].kind == TWI_AXIS_STEP ? 1u : 0u;
    int64_t n;
    if (ins->nfold > 1 || (!from && !twi_axis_span(ir, axis, &n)))
        return true;
    const twi_map *m = &f->map[axis];
    bool loops = false;
    for (unsigned i = from; i < m->n; i++) {
        if (m->d[i].extent == 1)
            continue;
        if (m->d[i].level != TWI_LV_LOOP)
            return false;
        loops = true;
    }
    return loops;
}

bool twi_scan_streams(const tw_ir *ir, twi_id v) {
    const twi_ins *ins = twi_ins_of(ir, v);
    int64_t n;
    return twi_op_row(ins->op)->kind == TWI_KIND_ORDER &&
           ir->axis.at[ins->fold[0]].kind != TWI_AXIS_STEP && !twi_axis_span(ir, ins->fold[0], &n);
}

bool twi_axis_runs_down(const tw_ir *ir, unsigned axis) {
    for (twi_id v = 1; v < ir->ins.n; v++)
        if (twi_scan_streams(ir, v) && twi_ins_of(ir, v)->fold[0] == axis &&
            twi_ins_of(ir, v)->attr & TWI_SCAN_REVERSE)
            return true;
    return false;
}

bool twi_is_local(const tw_ir *ir, twi_id v) {
    return twi_op_row(twi_ins_of(ir, v)->op)->kind == TWI_KIND_LOCAL || twi_scan_streams(ir, v);
}

/* Positions of a folded axis at most: of a block of the text, or its range's. */
static int64_t most_positions(const tw_ir *ir, unsigned axis) {
    const twi_axis *a = &ir->axis.at[axis];
    int64_t n, least, lo;
    if (a->kind == TWI_AXIS_STEP)
        return a->block ? a->block : 1;
    if (twi_axis_span(ir, axis, &n))
        return n;
    if (!twi_ix_range(ir, a->lo, &lo, &least) || !twi_ix_range(ir, a->hi, &least, &n))
        return INT64_MAX;
    return n > lo ? n - lo : 0;
}

unsigned twi_stream_lanes(const tw_ir *ir, twi_id v, int64_t lanes[TWI_STREAM_LEVELS]) {
    const twi_ins *ins = twi_ins_of(ir, v);
    int64_t n = 1;
    unsigned levels = 0;
    for (unsigned k = 0; k < ins->nfold; k++) {
        int64_t e = most_positions(ir, ins->fold[k]);
        n = e && n > INT64_MAX / e ? INT64_MAX : n * e;
    }
    do {
        lanes[levels++] = n < 1 ? 1 : n < TWI_LANES_CANONICAL ? n : TWI_LANES_CANONICAL;
        n = n / TWI_CHUNK + (n % TWI_CHUNK > 0);
    } while (n > 1 && levels < TWI_STREAM_LEVELS);
    return levels;
}

bool twi_adds_loosely(const tw_ir *ir, twi_id v) {
    const twi_ins *ins = twi_ins_of(ir, v);
    const twi_access *a = &ir->access.at[ins->op == TWI_ATOMIC ? ins->attr : 0];
    return a->atomic == TWI_ADD && twi_is_float((tw_elem)ir->array.at[a->array].elem);
}

bool twi_folds_by_weight(const tw_ir *ir, const twi_plan *plan, twi_id v) {
    const twi_place *place = twi_plan_place(plan, v);
    return (place && place->fold == TWI_FOLD_WEIGHT) ||
           (twi_fold_rounds(ir, v) && order_of(ir, v) == TWI_ORDER_TREE);
}

const char *twi_weight_word(const tw_ir *ir, twi_id v) {
    const bool tree = twi_fold_rounds(ir, v) && order_of(ir, v) == TWI_ORDER_TREE;
    return tree ? "order tree" : "fold weight";
}

unsigned twi_ir_class(const tw_ir *ir) {
    unsigned klass = TWI_ORDER_CANONICAL;
    for (twi_id v = 1; v < ir->ins.n; v++) {
        if (twi_adds_loosely(ir, v))
            return TWI_ORDER_FREE;
        if (!twi_fold_rounds(ir, v))
            continue;
        unsigned order = order_of(ir, v);
        if (order == TWI_ORDER_FREE)
            return TWI_ORDER_FREE;
        if (order == TWI_ORDER_TREE)
            klass = TWI_ORDER_TREE;
    }
    return klass;
}

const char *twi_ir_spec(const tw_ir *ir, twi_arena *arena) {
    twi_sb sb;
    twi_sb_init(&sb, arena);
    if (ir->spec_note)
        twi_sb_str(&sb, twi_text(&ir->ctx->names, ir->spec_note));
    for (uint32_t d = 1; d < ir->dim.n; d++) {
        const twi_dim *dim = &ir->dim.at[d];
        if (dim->known)
            twi_sb_printf(&sb, "%s%s=%lld", sb.n ? " " : "", twi_text(&ir->ctx->names, dim->name),
                          (long long)dim->value);
    }
    return twi_sb_text(&sb);
}
