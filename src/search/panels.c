/* SPDX-License-Identifier: Apache-2.0
 * The matrix family on explicit lanes. A register tile of the result, rows in slots, columns in
 * slots and lanes, runs through all of k. A group works off a block of such tiles, row of tiles
 * after row of tiles; what it needs of the operand with columns is packed once, into panels as wide
 * as a tile, and stays in the second level of cache.
 */
#include "plan/atom.h"
#include "search/matrix.h"

/* Rows and vectors of a tile, columns of tiles in a block, rows and (at least) columns of blocks;
 * boxes of k that a strip takes at once. */
typedef struct {
    int64_t rm, rn, columns, blocks, across, deep;
    bool packed, near; /* near: what reads panels does not ask ahead for them */
    unsigned atom;
} panels;

/* The operand that varies along n and k, but not along m; 0: none. */
static twi_id column_load(const twi_view *v, const twi_matrix *x) {
    twi_id_list loads = {0};
    twi_matrix_loads(v, x->dot, &loads);
    for (uint32_t i = 0; i < loads.n; i++) {
        const twi_ins *ins = twi_ins_of(v->ir, loads.at[i]);
        bool mine = ins->type.axes >> x->n & 1 && ins->type.axes >> x->k & 1;
        if (mine && !(ins->type.axes >> x->m & 1) && !ins->nargs &&
            twi_view_unit(v, loads.at[i]) == (int)x->n)
            return loads.at[i];
    }
    return 0;
}

enum { AHEAD = 16 }; /* trips: what a panel gives in the time that the next cache takes */

static void pack(twi_plan *p, const twi_matrix *x, twi_id load, unsigned ahead) {
    const twi_frame *f = &p->frame[0];
    twi_stage_plan *s = &p->stage[p->stages++];
    const twi_map *n = &f->map[x->n], *k = &f->map[x->k];
    *s = (twi_stage_plan){.value = load, .window = 1, .ahead = (uint8_t)ahead};
    for (unsigned i = 0; i < n->n; i++)
        if (n->d[i].level == TWI_LV_LOOP)
            s->order[s->n++] = (twi_axis_digit){(uint8_t)x->n, (uint8_t)i};
    for (unsigned i = 0; i < k->n; i++)
        if (k->d[i].level != TWI_LV_ATOM && k->d[i].level != TWI_LV_SERIAL)
            s->order[s->n++] = (twi_axis_digit){(uint8_t)x->k, (uint8_t)i};
    for (unsigned i = 0; i < n->n; i++)
        if (n->d[i].level != TWI_LV_LOOP && n->d[i].level != TWI_LV_GRID)
            s->order[s->n++] = (twi_axis_digit){(uint8_t)x->n, (uint8_t)i};
    if (twi_atom_digit(f, x->k) >= 0)
        s->order[s->n++] = (twi_axis_digit){(uint8_t)x->k, (uint8_t)twi_atom_digit(f, x->k)};
}

bool twi_lies_in_boxes(const twi_view *v, const twi_matrix *x, twi_id load, int64_t box) {
    const twi_access *a = &v->ir->access.at[twi_ins_of(v->ir, load)->attr];
    const unsigned rank = v->ir->array.at[a->array].rank;
    if (v->ir->strided || !rank || v->axis[x->k].extent % box)
        return false;
    for (unsigned d = 0; d < rank; d++) {
        const twi_ix_node *n = &v->ir->ix.at[a->ix[d]];
        const bool last = d + 1 == rank && n->op == TWI_IX_AXIS && n->a == x->k;
        if (last != (n->axes >> x->k & 1))
            return false;
        const twi_affine sum = twi_ix_affine(v->ir, v->arena, a->ix[d]);
        for (uint32_t i = 0; i < sum.n; i++) {
            const twi_ix_node *atom = &v->ir->ix.at[sum.term[i].atom];
            if (atom->axes >> x->m & 1 && atom->op != TWI_IX_AXIS)
                return false;
        }
    }
    return true;
}

/* The other operand's boxes, of one row of tiles: side by side, whatever the array's strides. */
static void pack_rows(twi_plan *p, const twi_matrix *x, twi_id load) {
    twi_stage_plan *s = &p->stage[p->stages++];
    const twi_map *m = &p->frame[0].map[x->m], *k = &p->frame[0].map[x->k];
    *s = (twi_stage_plan){.value = load, .window = 1};
    for (unsigned i = 0; i + 1u < k->n; i++)
        s->order[s->n++] = (twi_axis_digit){(uint8_t)x->k, (uint8_t)i};
    for (unsigned i = 0; i < m->n; i++)
        if (m->d[i].level == TWI_LV_SLOT)
            s->order[s->n++] = (twi_axis_digit){(uint8_t)x->m, (uint8_t)i};
    s->order[s->n++] = (twi_axis_digit){(uint8_t)x->k, (uint8_t)(k->n - 1u)};
}

/* The folded axis in boxes of the atom; false: it is not made of whole ones, and operands are not
 * all packed. */
static bool box(const twi_view *v, twi_plan *p, const twi_matrix *x, unsigned atom) {
    const int64_t k = twi_atom_row_of(atom)->k, extent = v->axis[x->k].extent;
    if (k == 1)
        return true;
    p->frame[0].map[x->k] =
        (twi_map){.n = 2, .d = {{TWI_LV_LOOP, 0, twi_cdiv(extent, k)}, {TWI_LV_ATOM, 0, k}}};
    twi_plan_set_place(v->arena, p, x->dot)->atom = (uint8_t)atom;
    return extent % k == 0 || twi_atom_has_groups(twi_atom_row_of(atom));
}

static void offer(twi_offers *o, const twi_matrix *x, const panels *t, twi_id load) {
    const twi_view *v = o->view;
    const int64_t lanes = v->caps->lane;
    int64_t rows = twi_cdiv(v->axis[x->m].extent, t->rm);
    int64_t columns = twi_cdiv(v->axis[x->n].extent, t->rn * lanes);
    int64_t deep = twi_cdiv(rows, t->blocks), wide = twi_cdiv(columns, t->across);
    if (wide > t->columns)
        wide = t->columns;
    wide = twi_cdiv(columns, twi_cdiv(columns, wide)); /* blocks of equal width */
    if (deep * (t->blocks - 1) >= rows || t->across > columns || t->rm * t->rn > v->caps->slots)
        return;
    twi_plan *p = twi_view_plan(v);
    twi_frame *f = &p->frame[0];
    twi_cut_numbers m = {.rows = deep, .unroll = t->rm},
                    n = {.rows = wide, .unroll = t->rn, .lanes = lanes};
    if (!twi_view_map(v, x->m, m, &f->map[x->m]) || !twi_view_map(v, x->n, n, &f->map[x->n]))
        return;
    if (!box(v, p, x, t->atom))
        return;
    f->around = (uint8_t)((deep > 1) + (wide > 1));
    if (t->packed)
        pack(p, x, load, t->near ? 0 : AHEAD);
    const twi_atom_row *atom = twi_atom_row_of(t->atom);
    const twi_id rows_load =
        twi_atom_operand(v->ir, x->dot, load == twi_atom_operand(v->ir, x->dot, 0));
    if (twi_atom_has_groups(atom) && !twi_lies_in_boxes(v, x, rows_load, atom->k))
        pack_rows(p, x, rows_load);
    twi_offer(o, "matrix", p);
}

/* Vectors that a tile keeps: results, one row of columns, one element of a row. */
static bool fits_registers(const twi_view *v, int64_t rm, int64_t rn) {
    return rm * rn + rn + 1 <= (int64_t)v->caps->registers;
}

/* Columns of tiles whose panels take half of a cache. */
static int64_t block_columns(const twi_view *v, const twi_matrix *x, int64_t rn) {
    int64_t panel = v->axis[x->k].extent * rn * v->caps->lane * twi_view_bytes(v, x->k);
    int64_t columns = v->caps->cache_bytes / 2 / (panel > 0 ? panel : 1);
    return columns > 0 ? columns : 1;
}

static bool takes(const twi_view *v, const twi_matrix *x, unsigned atom) {
    twi_why why;
    return twi_atom_row_of(atom)->k > 1 && twi_atom_loads(v->ir, x->dot) &&
           twi_atom_fits(v->ir, v->caps, x->dot, atom, &why);
}

/* Threads that share columns read all rows each; those that share rows read and write all columns
 * each, to pack them. */
static bool is_tall(const twi_view *v, const twi_matrix *x) {
    return 2 * v->axis[x->m].extent >= 3 * v->axis[x->n].extent;
}

static void offer_cut(twi_offers *o, const twi_matrix *x, panels t, twi_id load, int64_t blocks,
                      int64_t across) {
    t.blocks = blocks;
    t.across = across;
    if (across == 1 || !is_tall(o->view, x))
        offer(o, x, &t, load);
}

/* Blocks of such tiles: one alone needs no parts but those that the cache makes; there is one for
 * each of many units too: all of them along one side, and as square as they get. Boxes are packed:
 * what is loaded as it lies would be woven again for every row of tiles. */
static void offer_cuts(twi_offers *o, const twi_matrix *x, panels t, twi_id load) {
    static const uint8_t cuts[][2] = {{1, 1}, {1, 2}, {1, 4}, {2, 1}, {4, 1}}; /* rows, columns */
    const int64_t units = o->view->caps->units;
    t.columns = block_columns(o->view, x, t.rn);
    for (unsigned c = 0; c < (units == 1 ? 1 : sizeof cuts / sizeof cuts[0]); c++)
        offer_cut(o, x, t, load, cuts[c][0], cuts[c][1]);
    if (units <= 4)
        return;
    int64_t side = 1;
    while (4 * side * side <= units)
        side *= 2;
    const int64_t rows[] = {1, side, 2 * side, units};
    for (unsigned c = 0; c < sizeof rows / sizeof rows[0]; c++)
        offer_cut(o, x, t, load, rows[c], twi_cdiv(units, rows[c]));
}

/* Tiles that one instruction works on: whole ones of 16 rows. A single row of them reads each panel
 * once, behind the copy: to ask ahead there may cost more than it brings. */
static void offer_rows(twi_offers *o, const twi_matrix *x, twi_id load) {
    static const uint8_t tiles[][2] = {{32, 2}, {16, 2}, {32, 1}, {16, 1}};
    for (unsigned atom = 1; load && atom < TWI_ATOMS; atom++)
        for (unsigned i = 0; i < sizeof tiles / sizeof tiles[0]; i++) {
            const int64_t rows = o->view->axis[x->m].extent;
            panels t = {.rm = tiles[i][0], .rn = tiles[i][1], .packed = true, .atom = atom};
            if (!takes(o->view, x, atom) || !twi_atom_has_groups(twi_atom_row_of(atom)) ||
                o->view->axis[x->k].extent <= twi_atom_row_of(atom)->k || t.rm >= 2 * rows)
                continue;
            offer_cuts(o, x, t, load);
            t.near = true;
            if (t.rm >= rows)
                offer_cuts(o, x, t, load);
        }
}

/* ---- few rows ---- */

/* The other operand's tile of a block of k, a row of the result beside the next. */
static void pack_block(twi_plan *p, const twi_matrix *x, twi_id load) {
    twi_stage_plan *s = &p->stage[p->stages++];
    const twi_map *m = &p->frame[0].map[x->m];
    *s = (twi_stage_plan){.value = load, .window = 1, .n = 1, .order = {{(uint8_t)x->k, 1}}};
    for (unsigned i = 0; i < m->n; i++)
        if (m->d[i].level == TWI_LV_SLOT)
            s->order[s->n++] = (twi_axis_digit){(uint8_t)x->m, (uint8_t)i};
}

/* A tile of all rows, rn vectors wide, of a block of k; groups share the columns. */
static void offer_strip(twi_offers *o, const twi_matrix *x, const panels *t, twi_id load) {
    const twi_view *v = o->view;
    const int64_t box = twi_atom_row_of(t->atom)->k, boxes = v->axis[x->k].extent / box;
    const int64_t columns = twi_cdiv(v->axis[x->n].extent, t->rn * v->caps->lane);
    const twi_id rows_load =
        twi_atom_operand(v->ir, x->dot, load == twi_atom_operand(v->ir, x->dot, 0));
    const twi_cut_numbers m = {.rows = 1, .unroll = t->rm},
                          n = {.rows = twi_cdiv(columns, twi_cdiv(columns, t->columns)),
                               .unroll = t->rn,
                               .lanes = v->caps->lane};
    twi_plan *p = twi_view_plan(v);
    twi_frame *f = &p->frame[0];
    if (!twi_view_map(v, x->m, m, &f->map[x->m]) || !twi_view_map(v, x->n, n, &f->map[x->n]))
        return;
    f->map[x->k] = (twi_map){.n = 2 + (box > 1),
                             .d = {{TWI_LV_SERIAL, 0, boxes / t->deep},
                                   {TWI_LV_LOOP, 0, t->deep},
                                   {TWI_LV_ATOM, 0, box}}};
    if (box > 1) {
        twi_plan_set_place(v->arena, p, x->dot)->atom = (uint8_t)t->atom;
        pack(p, x, load, AHEAD);
    } else {
        pack_block(p, x, rows_load);
    }
    twi_offer(o, "matrix", p);
}

/* Boxes of a block that divides the folded axis; 0: none. */
static int64_t block_boxes(const twi_view *v, const twi_matrix *x, unsigned atom) {
    const twi_atom_row *row = twi_atom_row_of(atom);
    const int64_t extent = v->axis[x->k].extent, least = twi_atom_has_groups(row) ? 8 : 16;
    for (int64_t deep = least; deep <= 2 * least && deep * row->k < extent; deep++)
        if (extent % (deep * row->k) == 0)
            return deep;
    return 0;
}

static int64_t element_bytes(const twi_view *v, twi_id load) {
    const uint32_t array = v->ir->access.at[twi_ins_of(v->ir, load)->attr].array;
    return (int64_t)tw_elem_size((tw_elem)v->ir->array.at[array].elem);
}

/* Elements of its type, of which a tile's sums fit into registers, or tiles of 16 rows whose boxes
 * lie in the array. */
static bool makes_strips(const twi_view *v, const twi_matrix *x, const panels *t, twi_id load) {
    const twi_atom_row *row = twi_atom_row_of(t->atom);
    const twi_id rows_load =
        twi_atom_operand(v->ir, x->dot, load == twi_atom_operand(v->ir, x->dot, 0));
    const twi_ins *rows = twi_ins_of(v->ir, rows_load);
    const uint64_t box = UINT64_C(1) << x->m | UINT64_C(1) << x->k;
    if (!t->deep || rows->op != TWI_LOAD || rows->nargs || (rows->type.axes & box) != box)
        return false;
    if (!t->atom)
        return fits_registers(v, t->rm, t->rn) &&
               twi_arg(v->ir, x->dot, 0) == twi_atom_operand(v->ir, x->dot, 0);
    return takes(v, x, t->atom) && twi_atom_has_groups(row) && t->rm <= 32 && t->rn <= 2 &&
           twi_lies_in_boxes(v, x, rows_load, row->k);
}

/* All rows in one tile: what has columns is needed once, and takes longest to come. By blocks of k,
 * all columns of a group one after the other, it comes as it lies, and not a few columns of each of
 * its rows at a time; the sums wait in the group's memory meanwhile. Not what the second level of
 * cache holds. */
static void offer_strips(twi_offers *o, const twi_matrix *x, twi_id load) {
    static const uint8_t wide[] = {1, 2, 4, 8};
    static const uint16_t parts[] = {0, 4096, 2048}; /* bytes of a row for a group: of a page */
    const twi_view *v = o->view;
    const int64_t columns = v->axis[x->n].extent, size = load ? element_bytes(v, load) : 1;
    if (!load || columns * v->axis[x->k].extent <= v->caps->cache_bytes / size)
        return;
    for (unsigned atom = 0; atom < TWI_ATOMS; atom++)
        for (unsigned w = 0; w < sizeof wide; w++)
            for (unsigned c = 0; c < sizeof parts / sizeof parts[0]; c++) {
                const int64_t part = parts[c] ? parts[c] / size : columns;
                const panels t = {.rm = v->axis[x->m].extent,
                                  .rn = wide[w],
                                  .columns = twi_cdiv(part, wide[w] * (int64_t)v->caps->lane),
                                  .atom = atom,
                                  .deep = block_boxes(v, x, atom)};
                if (part <= columns && makes_strips(v, x, &t, load))
                    offer_strip(o, x, &t, load);
            }
}

void twi_propose_panels(twi_offers *o, const twi_matrix *x) {
    static const uint8_t tiles[][2] = {{12, 2}, {6, 4}, {8, 3}, {9, 3}, {14, 2}, {13, 2},
                                       {11, 2}, {8, 2}, {4, 4}, {4, 2}, {16, 1}, {8, 1}};
    const twi_view *v = o->view;
    const twi_id load = column_load(v, x);
    if (!v->caps->cache_bytes || !v->axis[x->k].known || (v->canonical >> x->k & 1))
        return;
    offer_rows(o, x, load);
    offer_strips(o, x, load);
    for (unsigned i = 0; i < sizeof tiles / sizeof tiles[0]; i++) {
        panels t = {.rm = tiles[i][0], .rn = tiles[i][1]};
        if (!fits_registers(v, t.rm, t.rn) || t.rm >= 2 * v->axis[x->m].extent)
            continue;
        offer_cuts(o, x, t, load);
        t.packed = true;
        if (load)
            offer_cuts(o, x, t, load);
        for (t.atom = 1; load && t.atom < TWI_ATOMS; t.atom++)
            if (takes(v, x, t.atom) && !twi_atom_has_groups(twi_atom_row_of(t.atom)))
                offer_cuts(o, x, t, load);
    }
}
