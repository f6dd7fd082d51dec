/* SPDX-License-Identifier: Apache-2.0
 * Accesses: each subscript is proved to lie inside its array, or guarded by `else`, or refused with
 * the `requires` that is missing. The ledger lists what came of it.
 */
#include "ir/codes.h"
#include "ir/poly.h"
#include "ir/whole.h"

/* A divisor in the subscript that may be 0: then x % 0 = x leaves all bounds. NULL: none. */
static const char *divisor(twi_prover *p, twi_ix x) {
    const twi_ix_node *n = &p->ir->ix.at[x];
    const char *found = NULL;
    if (n->op < TWI_IX_ADD)
        return NULL;
    if ((n->op == TWI_IX_DIV || n->op == TWI_IX_MOD) && p->ir->ix.at[n->b].axes == 0 &&
        !twi_prove_ge(p, twi_poly_of(p, n->b), 1)) {
        twi_sb sb;
        twi_sb_init(&sb, p->arena);
        twi_sb_str(&sb, "requires ");
        twi_ix_text(p->ir, &sb, n->b);
        twi_sb_str(&sb, " >= 1");
        found = twi_sb_text(&sb);
    }
    found = found ? found : divisor(p, n->a);
    return found ? found : divisor(p, n->b);
}

/* "requires a <= b", unless that can never hold. */
static const char *wanted(twi_prover *p, twi_poly a, twi_poly b) {
    int64_t k;
    twi_sb sb;
    if (twi_poly_is_const(twi_poly_add(p, b, a, -1), &k))
        return NULL;
    twi_sb_init(&sb, p->arena);
    twi_sb_str(&sb, "requires ");
    twi_poly_text(p, a, &sb);
    twi_sb_str(&sb, " <= ");
    twi_poly_text(p, b, &sb);
    return twi_sb_text(&sb);
}

static bool inside(twi_prover *p, twi_ix x, twi_ix extent, const char **missing) {
    twi_poly at = twi_poly_of(p, x), n = twi_poly_of(p, extent), most, least;
    bool low = twi_prove_ge(p, at, 0);
    bool high = twi_prove_ge(p, twi_poly_add(p, n, at, -1), 1);
    *missing = NULL;
    if (low && high)
        return true;
    *missing = divisor(p, x);
    if (*missing)
        return false;
    if (!high && low && twi_poly_extreme(p, at, true, &most))
        *missing = wanted(p, twi_poly_plus(p, most, 1), n);
    else if (high && !low && twi_poly_extreme(p, at, false, &least))
        *missing = wanted(p, twi_poly_const(p, 0), least);
    return false;
}

bool twi_prove_inside(const tw_ir *ir, twi_arena *arena, twi_ix x, twi_ix extent,
                      const char **missing) {
    twi_prover p;
    twi_prover_init(&p, ir, arena, ir->ix.at[x].axes);
    return inside(&p, x, extent, missing);
}

bool twi_prove(const tw_ir *ir, twi_arena *arena, twi_op relation, twi_ix a, twi_ix b) {
    twi_prover p;
    twi_prover_init(&p, ir, arena, ir->ix.at[a].axes | ir->ix.at[b].axes);
    twi_poly up = twi_poly_add(&p, twi_poly_of(&p, b), twi_poly_of(&p, a), -1);
    twi_poly down = twi_poly_add(&p, twi_poly_of(&p, a), twi_poly_of(&p, b), -1);
    if (relation == TWI_EQ)
        return twi_prove_ge(&p, up, 0) && twi_prove_ge(&p, down, 0);
    if (relation == TWI_NE)
        return twi_prove_ge(&p, up, 1) || twi_prove_ge(&p, down, 1);
    if (relation == TWI_LT || relation == TWI_LE)
        return twi_prove_ge(&p, up, relation == TWI_LT);
    return twi_prove_ge(&p, down, relation == TWI_GT);
}

static const char *ix_text(const tw_ir *ir, twi_ix x) {
    twi_sb sb;
    twi_sb_init(&sb, ir->arena);
    twi_ix_text(ir, &sb, x);
    return twi_sb_text(&sb);
}

/* The dims of an access that are not proved, as a set. What the search used is given back at once.
 */
static unsigned unproved(const tw_ir *ir, const twi_access *a, uint64_t live) {
    const twi_array *array = &ir->array.at[a->array];
    twi_mark mark = twi_arena_mark(ir->arena);
    unsigned dims = 0;
    twi_prover p;
    twi_prover_init(&p, ir, ir->arena, live);
    for (unsigned d = 0; d < array->rank; d++) {
        const char *missing;
        if (a->gather[d] || !inside(&p, a->ix[d], array->dim[d], &missing))
            dims |= 1u << d;
    }
    twi_arena_reset(ir->arena, mark);
    return dims;
}

/* The search again, for the words: diagnostics may live in the same arena, so nothing is given
 * back. */
static void report(const tw_ir *ir, const twi_ins *ins, unsigned d, uint64_t live) {
    const twi_access *a = &ir->access.at[ins->attr];
    const twi_array *array = &ir->array.at[a->array];
    const char *help = NULL;
    twi_prover p;
    twi_prover_init(&p, ir, ir->arena, live);
    (void)inside(&p, a->ix[d], array->dim[d], &help);
    if (!help && ins->op == TWI_LOAD)
        help = "add `else` with the value outside";
    twi_error(&ir->ctx->diags, TWI_E_OUTSIDE, ins->loc, help,
              "%s of %s: subscript %u, %s, is not proved to lie in 0 .. %s",
              twi_op_row(ins->op)->name, twi_text(&ir->ctx->names, array->name), d,
              ix_text(ir, a->ix[d]), ix_text(ir, array->dim[d]));
}

/* Does a position in the subscript run over an axis whose bounds are values? */
static bool loaded(const tw_ir *ir, twi_ix x) {
    uint64_t seen = 0, axes = ir->ix.at[x].axes;
    while (axes & ~seen) { /* bounds speak of other axes */
        for (unsigned a = 1; a < ir->axis.n; a++) {
            if (!((axes & ~seen) >> a & 1u))
                continue;
            if (twi_is_loaded_axis(ir, a))
                return true;
            seen |= UINT64_C(1) << a;
            axes |= ir->ix.at[ir->axis.at[a].lo].axes | ir->ix.at[ir->axis.at[a].hi].axes;
        }
    }
    return false;
}

static void prove_access(tw_ir *ir, twi_id v, uint64_t around) {
    const twi_ins *ins = &ir->ins.at[v];
    twi_access *a = &ir->access.at[ins->attr];
    uint64_t live = around | ins->type.axes;
    unsigned dims = unproved(ir, a, live), unknown = 0;
    bool guarded = ins->op == TWI_LOAD && twi_plain_args(ir, v) != 0;
    for (unsigned d = 0; !guarded && d < ir->array.at[a->array].rank; d++)
        if ((dims >> d & 1u) && !a->gather[d] && !loaded(ir, a->ix[d])) {
            unknown |= 1u << d;
            report(ir, ins, d, live);
        }
    a->proof = (uint8_t)(dims == 0      ? TWI_ACCESS_PROVED
                         : guarded      ? TWI_ACCESS_GUARDED
                         : unknown == 0 ? TWI_ACCESS_CHECKED
                                        : TWI_ACCESS_UNKNOWN);
}

static void prove_region(tw_ir *ir, uint32_t region) {
    uint64_t around = twi_axes_around(ir, region);
    for (uint32_t k = 0; k < ir->region.at[region].body.n; k++) {
        twi_id v = ir->region.at[region].body.at[k];
        const twi_ins *ins = &ir->ins.at[v];
        if (twi_is_access(ins->op))
            prove_access(ir, v, around);
        else if (twi_op_row(ins->op)->kind == TWI_KIND_REGION)
            prove_region(ir, ins->attr);
    }
}

void twi_prove_accesses(tw_ir *ir) { prove_region(ir, 1); }

/* ---- the ledger ---- */
static const char *offset_width(const tw_ir *ir, const twi_array *a) {
    int64_t count = 1;
    for (unsigned d = 0; d < a->rank; d++) {
        int64_t n;
        if (!twi_ix_is_const(ir, a->dim[d], &n) || n < 0 || twi_ix_overflows(TWI_IX_MUL, count, n))
            return "i64";
        count *= n;
    }
    return count <= INT64_C(0x80000000) ? "i32" : "i64";
}

static void ledger_line(const tw_ir *ir, twi_sb *out, twi_id v) {
    static const char *const proofs[] = {"unproved", "proved", "guarded", "checked"};
    const twi_access *a = &ir->access.at[ir->ins.at[v].attr];
    const twi_array *array = &ir->array.at[a->array];
    twi_sb_str(out, twi_op_row(ir->ins.at[v].op)->name);
    twi_sb_pad(out, 7);
    twi_sb_str(out, twi_text(&ir->ctx->names, array->name));
    twi_sb_char(out, '[');
    for (unsigned d = 0; d < array->rank; d++) {
        twi_sb_str(out, d ? ", " : "");
        if (a->gather[d])
            twi_sb_printf(out, "$%s", twi_value_name(ir, twi_gathered(ir, v, d)));
        else
            twi_ix_text(ir, out, a->ix[d]);
    }
    twi_sb_str(out, "] ");
    twi_sb_pad(out, 48);
    twi_sb_str(out, proofs[a->proof]);
    twi_sb_pad(out, 58);
    twi_sb_printf(out, "%s\n", offset_width(ir, array));
}

static void ledger_region(const tw_ir *ir, twi_sb *out, uint32_t region) {
    for (uint32_t k = 0; k < ir->region.at[region].body.n; k++) {
        twi_id v = ir->region.at[region].body.at[k];
        const twi_ins *ins = &ir->ins.at[v];
        if (twi_is_access(ins->op))
            ledger_line(ir, out, v);
        else if (twi_op_row(ins->op)->kind == TWI_KIND_REGION)
            ledger_region(ir, out, ins->attr);
    }
}

void twi_ir_ledger(const tw_ir *ir, twi_sb *out) { ledger_region(ir, out, 1); }
