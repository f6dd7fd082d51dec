/* SPDX-License-Identifier: Apache-2.0
 * The table of atoms, and what a dot must be for each.
 */
#include "plan/atom.h"
#include "plan/rules.h"
#include "plan/scope.h"

#include <stddef.h>

#define EVERY 0 /* no flag stands first in the caps */
#define CAP(member) offsetof(twi_caps, member)
static const twi_atom_row rows[] = {
    [TWI_ATOM_NONE] = {"fma", 1, TW_NONE, TW_NONE, false, 1, EVERY},
#define TWI_ATOM(NAME, spelling, k, elem, sum, flushes, ops, caps)                                 \
    [TWI_ATOM_##NAME] = {spelling, k, TW_##elem, TW_##sum, flushes, ops, caps},
#include "plan/atom.def"
#undef TWI_ATOM
};
#undef CAP
#undef EVERY

const twi_atom_row *twi_atom_row_of(unsigned atom) { return &rows[atom]; }

bool twi_caps_have_atom(const twi_caps *caps, unsigned atom) {
    bool has = true;
    if (rows[atom].cap)
        memcpy(&has, (const char *)caps + rows[atom].cap, sizeof has);
    return has;
}

const twi_atom_row *twi_atom_taking(tw_elem elem, unsigned k) {
    for (unsigned a = 1; a < TWI_ATOMS; a++)
        if (k > 1 && rows[a].k == k && rows[a].elem == elem)
            return &rows[a];
    return NULL;
}

unsigned twi_atom_group(tw_elem elem) { return 4u / (unsigned)tw_elem_size(elem); }

bool twi_atom_has_groups(const twi_atom_row *row) {
    return row->k > 1 && row->k > twi_atom_group((tw_elem)row->elem);
}

static tw_elem stored(const tw_ir *ir, twi_id load) {
    return (tw_elem)ir->array.at[ir->access.at[twi_ins_of(ir, load)->attr].array].elem;
}

/* Uses of a value. */
static unsigned uses(const tw_ir *ir, twi_id v) {
    unsigned n = 0;
    for (uint32_t i = 1; i < ir->ins.n; i++)
        for (unsigned k = 0; k < ir->ins.at[i].nargs; k++)
            n += twi_arg(ir, i, k) == v;
    return n;
}

twi_id twi_atom_operand(const tw_ir *ir, twi_id dot, unsigned k) {
    const twi_id x = twi_arg(ir, dot, k);
    return twi_ins_of(ir, x)->op == TWI_CAST ? twi_arg(ir, x, 0) : x;
}

bool twi_atom_loads(const tw_ir *ir, twi_id dot) {
    return twi_ins_of(ir, twi_atom_operand(ir, dot, 0))->op == TWI_LOAD &&
           twi_ins_of(ir, twi_atom_operand(ir, dot, 1))->op == TWI_LOAD;
}

static bool operand_fits(const tw_ir *ir, twi_id dot, unsigned k, const twi_atom_row *row,
                         twi_why *why) {
    const twi_id x = twi_atom_operand(ir, dot, k);
    const twi_ins *i = twi_ins_of(ir, x);
    const char *name = twi_value_name(ir, dot), *operand = twi_value_name(ir, x);
    if (i->op == TWI_NARROW && (tw_elem)i->attr == (tw_elem)row->elem)
        return uses(ir, x) == 1 || twi_refuse(why, "value %s: atom %s, but %s has other uses", name,
                                              row->name, operand);
    if (i->op != TWI_LOAD || i->nargs)
        return twi_refuse(
            why,
            "value %s: atom %s takes what arrays hold or what is rounded to %s, %s is "
            "computed",
            name, row->name, tw_elem_name((tw_elem)row->elem), operand);
    if (stored(ir, x) != (tw_elem)row->elem)
        return twi_refuse(why, "value %s: atom %s takes %s, %s is of %s", name, row->name,
                          tw_elem_name((tw_elem)row->elem), operand, tw_elem_name(stored(ir, x)));
    if (ir->access.at[i->attr].proof != TWI_ACCESS_PROVED)
        return twi_refuse(why, "value %s: atom %s, but some of %s may lie outside its array", name,
                          row->name, operand);
    return uses(ir, x) == 1 ||
           twi_refuse(why, "value %s: atom %s, but %s has other uses", name, row->name, operand);
}

bool twi_atom_fits(const tw_ir *ir, const twi_caps *caps, twi_id dot, unsigned atom, twi_why *why) {
    const twi_ins *i = twi_ins_of(ir, dot);
    const twi_atom_row *row = &rows[atom];
    const char *name = twi_value_name(ir, dot);
    unsigned order = i->order == TWI_ORDER_DEFAULT ? ir->order : i->order;
    if (row->k == 1)
        return true;
    if (!twi_caps_have_atom(caps, atom))
        return twi_refuse(why, "value %s: target %s has no atom %s", name,
                          twi_text(&ir->ctx->names, caps->name), row->name);
    if (i->nfold != 1 || i->parts)
        return twi_refuse(why, "value %s: atom %s folds one axis of products", name, row->name);
    if ((tw_elem)i->type.elem != (tw_elem)row->sum)
        return twi_refuse(why, "value %s: atom %s sums in %s, the dot in %s", name, row->name,
                          tw_elem_name((tw_elem)row->sum), tw_elem_name((tw_elem)i->type.elem));
    if (twi_is_float((tw_elem)row->sum) && order != TWI_ORDER_FREE)
        return twi_refuse(why, "value %s: atom %s has an order of its own: order free alone", name,
                          row->name);
    return operand_fits(ir, dot, 0, row, why) && operand_fits(ir, dot, 1, row, why);
}

int twi_atom_digit(const twi_frame *f, unsigned axis) {
    for (unsigned d = 0; d < f->map[axis].n; d++)
        if (f->map[axis].d[d].level == TWI_LV_ATOM)
            return (int)d;
    return -1;
}

unsigned twi_boxed_axis(const tw_ir *ir, const twi_frame *f, twi_id v) {
    for (unsigned a = 1; a < ir->axis.n; a++)
        if (f->axes >> a & 1 && twi_ins_of(ir, v)->type.axes >> a & 1 && twi_atom_digit(f, a) >= 0)
            return a;
    return 0;
}
