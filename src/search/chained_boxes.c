/* SPDX-License-Identifier: Apache-2.0
 * Dots of a chain by an atom that works on rows of boxes: each in a frame of its own, where the
 * rows' lanes are the atom's, the dot's columns its rows, and what is folded ends in boxes. Loads
 * with lanes are packed; what the chain computes is taken there; the other operand is read as it
 * lies where that is in boxes, else packed too.
 */
#include "plan/atom.h"
#include "search/chained.h"
#include "search/matrix.h"

enum { MOST_ROWS = 32 }; /* of the atom, that its sums are kept of */

/* A dot and where its parts go. */
typedef struct {
    const twi_view *v;
    twi_plan *p;
    twi_id dot;
    unsigned rows, columns, folded; /* axes */
    int64_t box;
    unsigned frame;
} boxed;

static bool has(const twi_view *v, twi_id value, unsigned axis) {
    return twi_ins_of(v->ir, value)->type.axes >> axis & 1;
}

/* The axis beside the rows that slots may cut; 0: there is none, or several. */
static unsigned columns_of(const twi_view *v, twi_id dot, uint64_t cut) {
    const uint64_t axes = twi_ins_of(v->ir, dot)->type.axes & cut;
    unsigned a = 1;
    while (a < v->ir->axis.n && !(axes >> a & 1))
        a++;
    return axes && !(axes & (axes - 1)) ? a : 0;
}

/* Whole boxes. */
static bool cut_folded(const boxed *b, twi_map *m) {
    const twi_axis_view *x = &b->v->axis[b->folded];
    const int64_t extent = x->kind == TWI_AXIS_STEP ? x->block : x->extent;
    const twi_digit boxes = {TWI_LV_LOOP, 0, twi_cdiv(extent, b->box)},
                    atom = {TWI_LV_ATOM, 0, b->box};
    m->n = 0;
    if (x->kind == TWI_AXIS_STEP)
        m->d[m->n++] = (twi_digit){TWI_LV_SERIAL, 0, x->known ? twi_cdiv(x->extent, x->block) : 0};
    m->d[m->n++] = boxes;
    m->d[m->n++] = atom;
    return extent >= b->box && (x->kind == TWI_AXIS_FULL ? x->known : extent % b->box == 0);
}

/* As many rows of the atom as there are, the positions that the first frame has. */
static bool cut_columns(const boxed *b, twi_map *m) {
    const twi_map *first = &b->p->frame[0].map[b->columns];
    for (int64_t n = MOST_ROWS; n > 1; n /= 2)
        if (twi_view_map(b->v, b->columns, (twi_cut_numbers){.unroll = n}, m) &&
            twi_map_extent(m) == twi_map_extent(first) && twi_map_level_extent(m, TWI_LV_SLOT) == n)
            return true;
    return false;
}

static void add_digits(const boxed *b, twi_stage_plan *s, unsigned axis, unsigned level) {
    const twi_map *m = &b->p->frame[b->frame].map[axis];
    for (unsigned d = 0; has(b->v, s->value, axis) && d < m->n; d++)
        if (m->d[d].level == level && s->n < TWI_MAX_LOOPS)
            s->order[s->n++] = (twi_axis_digit){(uint8_t)axis, (uint8_t)d};
}

/* The load's boxes side by side, those that one step of the dot takes together. */
static bool pack(const boxed *b, twi_id load) {
    static const uint8_t levels[] = {TWI_LV_LOOP, TWI_LV_SLOT, TWI_LV_LANE, TWI_LV_ATOM};
    if (b->p->stages == TWI_MAX_STAGES)
        return false;
    twi_stage_plan *s = &b->p->stage[b->p->stages++];
    *s = (twi_stage_plan){.value = load, .window = 1};
    for (unsigned l = 0; l < sizeof levels; l++)
        for (unsigned a = 1; a < b->v->ir->axis.n; a++)
            add_digits(b, s, a, levels[l]);
    return true;
}

/* Is no tile of columns ragged? Then none of its rows is masked. */
static bool columns_are_whole(const boxed *b) {
    const twi_axis_view *x = &b->v->axis[b->columns];
    const int64_t block = x->kind == TWI_AXIS_STEP ? x->block : MOST_ROWS;
    return x->known ? x->extent % block == 0
                    : x->kind == TWI_AXIS_STEP &&
                          twi_ix_is_multiple(b->v->ir, b->v->ir->axis.at[b->columns].lo, block) &&
                          twi_ix_is_multiple(b->v->ir, b->v->ir->axis.at[b->columns].hi, block);
}

static bool place(const boxed *b, unsigned k) {
    const twi_id x = twi_atom_operand(b->v->ir, b->dot, k);
    twi_place *place = twi_plan_set_place(b->v->arena, b->p, x);
    if (twi_ins_of(b->v->ir, x)->op != TWI_LOAD) {
        place->to = (uint8_t)(b->frame + 1u);
        place->via = TWI_TO_PRIVATE;
        return true;
    }
    place->frame = (uint8_t)b->frame;
    const twi_matrix lies = {.dot = b->dot, .m = b->columns, .n = b->rows, .k = b->folded};
    return (!has(b->v, x, b->rows) && columns_are_whole(b) &&
            twi_lies_in_boxes(b->v, &lies, x, b->box)) ||
           pack(b, x);
}

static unsigned atom_of(const twi_view *v, twi_id dot) {
    twi_why why;
    for (unsigned a = 1; a < TWI_ATOMS; a++)
        if (twi_atom_has_groups(twi_atom_row_of(a)) && twi_atom_fits(v->ir, v->caps, dot, a, &why))
            return a;
    return TWI_ATOM_NONE;
}

bool twi_chained_boxes(const twi_view *v, twi_plan *p, unsigned rows, uint64_t cut, twi_id dot) {
    const unsigned atom = atom_of(v, dot);
    if (!atom || p->frames == TWI_MAX_FRAMES)
        return false;
    boxed b = {.v = v, .p = p, .dot = dot, .rows = rows, .box = twi_atom_row_of(atom)->k};
    b.folded = twi_ins_of(v->ir, dot)->fold[0];
    b.columns = columns_of(v, dot, cut);
    twi_frame f = twi_frame_copy(v->arena, &p->frame[0]);
    if (!b.columns || !cut_folded(&b, &f.map[b.folded]) || !cut_columns(&b, &f.map[b.columns]))
        return false;
    b.frame = twi_view_add_frame(v, p, &f);
    twi_place *own = twi_plan_set_place(v->arena, p, dot);
    own->frame = (uint8_t)b.frame;
    own->atom = (uint8_t)atom;
    return place(&b, 0) && place(&b, 1);
}
