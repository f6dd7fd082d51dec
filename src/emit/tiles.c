/* SPDX-License-Identifier: Apache-2.0
 * Nests of dots that tiles hold: a rolled loop that reads a box of each row and of each vector of
 * columns and adds all their products to a private array of sums. The sums stay in tiles for all
 * trips, and one instruction does 16 rows. Where the compiler is told of no tiles the nest stands
 * as any other does.
 */
#include "emit/dialect.h"

enum { BOX = 32, TILE_ROWS = 16, MOST_ROWS = 2 * TILE_ROWS, MOST_COLUMNS = 2 };

/* An operand: the load of its boxes, the unrolled loop around that and the one that uses them; 0:
 * there is one box. */
typedef struct {
    twi_lid load, fill, use;
    unsigned count;
} operand;

typedef struct {
    const twi_func *f;
    twi_lid loop, dots, *around; /* around: by instruction of the loop, the unrolled one */
    TWI_VEC(twi_lid) stores;
    unsigned loads;
    operand side[2]; /* rows, columns */
    uint32_t sums;   /* object */
    int64_t stride[2];
} nest;

static const twi_lins *at(const nest *n, twi_lid v) { return twi_lins_of(n->f, v); }

static const twi_laccess *access_of(const nest *n, twi_lid v) {
    return &n->f->access.at[at(n, v)->attr];
}

static bool is_private(const nest *n, twi_lid v) {
    return n->f->object.at[access_of(n, v)->object].kind == TWI_OBJ_PRIVATE;
}

/* What indices are made of. */
static bool is_number(const nest *n, twi_lid v) {
    const twi_lins *i = at(n, v);
    return i->op == TWI_L_LCONST ||
           (i->op < TWI_ELEMENTWISE_END && i->count == 1 && twi_is_int((tw_elem)i->elem));
}

/* Accesses without masks, index arithmetic, one `dots`: false if there is more. */
static bool gather(twi_emitter *e, nest *n, twi_lid first, twi_lid around) {
    for (twi_lid v = first; v; v = at(n, v)->next) {
        const twi_lins *i = at(n, v);
        n->around[v] = around;
        bool fits = is_number(n, v);
        if (i->op == TWI_L_UNROLL) {
            fits = gather(e, n, i->body, v);
        } else if (i->op == TWI_L_LLOAD || i->op == TWI_L_LSTORE) {
            fits = access_of(n, v)->mask == TWI_MASK_NONE && !access_of(n, v)->merge;
            if (i->op == TWI_L_LSTORE)
                twi_push(e->arena, &n->stores, v);
            n->loads += i->op == TWI_L_LLOAD;
        } else if (i->op == TWI_L_DOTS) {
            fits = !n->dots && at(n, twi_larg(n->f, v, 0))->count == BOX;
            n->dots = v;
        }
        if (!fits)
            return false;
    }
    return true;
}

/* The only store to an object; 0: there are others. */
static twi_lid only_store(const nest *n, uint32_t object) {
    twi_lid found = 0;
    for (uint32_t k = 0; k < n->stores.n; k++) {
        if (access_of(n, n->stores.at[k])->object != object)
            continue;
        if (found)
            return 0;
        found = n->stores.at[k];
    }
    return found;
}

static bool is_first(const nest *n, twi_lid index) {
    return at(n, index)->op == TWI_L_LCONST && n->f->constant.at[at(n, index)->attr] == 0;
}

/* The slot's number, where all slots of a private array are numbered by one unrolled loop. */
static bool slot(const nest *n, twi_lid v, twi_lid *loop) {
    const twi_object *o = &n->f->object.at[access_of(n, v)->object];
    *loop = o->rank && !is_first(n, twi_larg(n->f, v, 0)) ? twi_larg(n->f, v, 0) : 0;
    return o->rank <= 1 && (!*loop || at(n, *loop)->op == TWI_L_UNROLL);
}

/* Do a box's elements lie side by side? */
static bool is_close(const nest *n, twi_lid load) {
    const twi_laccess *a = access_of(n, load);
    const twi_object *o = &n->f->object.at[a->object];
    for (unsigned d = 0; d < o->rank; d++)
        if (at(n, twi_larg(n->f, load, d))->count > 1)
            return false;
    return o->rank && o->count == 1 && !(o->dynamic >> a->dim & 1u) && o->stride[a->dim] == 1;
}

/* Does v grow by the same from each slot to the next? */
static bool is_even(const nest *n, twi_lid v, twi_lid slots) {
    const twi_lins *i = at(n, v);
    if (v == slots || n->around[v] != slots || i->op == TWI_L_LCONST)
        return true;
    const twi_lid a = i->nargs > 1 ? twi_larg(n->f, v, 0) : 0;
    const twi_lid b = i->nargs > 1 ? twi_larg(n->f, v, 1) : 0;
    if (i->op == TWI_ADD || i->op == TWI_SUB)
        return is_even(n, a, slots) && is_even(n, b, slots);
    return i->op == TWI_MUL && ((at(n, a)->op == TWI_L_LCONST && is_even(n, b, slots)) ||
                                (at(n, b)->op == TWI_L_LCONST && is_even(n, a, slots)));
}

static bool lies_evenly(const nest *n, const operand *o) {
    const unsigned rank = n->f->object.at[access_of(n, o->load)->object].rank;
    for (unsigned d = 0; d < rank; d++)
        if (o->fill && !is_even(n, twi_larg(n->f, o->load, d), o->fill))
            return false;
    return true;
}

/* Is v made of the other number, too? */
static bool is_made_of(const nest *n, twi_lid v, twi_lid of) {
    bool is = v == of;
    if (at(n, v)->op != TWI_L_UNROLL && is_number(n, v))
        for (unsigned k = 0; !is && k < at(n, v)->nargs; k++)
            is = is_made_of(n, twi_larg(n->f, v, k), of);
    return is;
}

static bool is_placed_by(const nest *n, twi_lid load, twi_lid number) {
    bool is = false;
    for (unsigned d = 0; d < n->f->object.at[access_of(n, load)->object].rank; d++)
        is = is || is_made_of(n, twi_larg(n->f, load, d), number);
    return is;
}

/* Is v known wherever the number is? */
static bool is_known_with(const nest *n, twi_lid v, twi_lid number) {
    bool is = v == number || at(n, v)->op == TWI_L_LCONST || n->around[v] == 0;
    if (!is && n->around[v] == number) {
        is = true;
        for (unsigned k = 0; is && k < at(n, v)->nargs; k++)
            is = is_known_with(n, twi_larg(n->f, v, k), number);
    }
    return is;
}

/* Read where it is used: of the unrolled loops around, one at most says which box it is. */
static bool is_read_there(const nest *n, operand *o) {
    for (twi_lid loop = n->around[o->load]; loop; loop = n->around[loop]) {
        if (!is_placed_by(n, o->load, loop))
            continue;
        if (o->fill)
            return false;
        o->fill = o->use = loop;
        o->count = at(n, loop)->attr;
    }
    for (unsigned d = 0; d < n->f->object.at[access_of(n, o->load)->object].rank; d++)
        if (!is_known_with(n, twi_larg(n->f, o->load, d), o->fill))
            return false;
    return is_close(n, o->load) && lies_evenly(n, o);
}

static bool operand_fits(const nest *n, unsigned k, operand *out) {
    const twi_lid x = twi_larg(n->f, n->dots, k);
    *out = (operand){.load = x, .count = 1};
    if (at(n, x)->op != TWI_L_LLOAD)
        return false;
    if (!is_private(n, x))
        return is_read_there(n, out);
    const twi_lid from = only_store(n, access_of(n, x)->object);
    if (!from || !slot(n, x, &out->use) || !slot(n, from, &out->fill))
        return false;
    out->load = twi_larg(n->f, from, n->f->object.at[access_of(n, from)->object].rank);
    if (out->fill)
        out->count = at(n, out->fill)->attr;
    return at(n, out->load)->op == TWI_L_LLOAD && !is_private(n, out->load) &&
           is_close(n, out->load) && lies_evenly(n, out) && n->around[out->load] == out->fill &&
           n->around[from] == out->fill && (!out->fill || n->around[out->fill] == 0) &&
           !out->use == !out->fill && (!out->use || at(n, out->use)->attr == out->count);
}

/* Both operands' slots number the sums, and nothing else does. */
static bool sums_fit(nest *n) {
    const twi_lid was = twi_larg(n->f, n->dots, 2);
    if (at(n, was)->op != TWI_L_LLOAD || !is_private(n, was))
        return false;
    n->sums = access_of(n, was)->object;
    const twi_object *o = &n->f->object.at[n->sums];
    const twi_lid now = only_store(n, n->sums);
    if (!now || twi_larg(n->f, now, o->rank) != n->dots)
        return false;
    for (unsigned d = 0; d < o->rank; d++) {
        const twi_lid index = twi_larg(n->f, was, d);
        if (is_first(n, index) && index == twi_larg(n->f, now, d))
            continue;
        const unsigned side = index != n->side[0].use;
        if (index != twi_larg(n->f, now, d) || index != n->side[side].use || n->stride[side])
            return false;
        n->stride[side] = o->stride[d];
    }
    const twi_lid inner = n->around[n->dots], outer = inner ? n->around[inner] : 0;
    unsigned used = 0, stored = 0;
    for (unsigned k = 0; k < 2; k++) {
        const twi_lid use = n->side[k].use;
        if (use && ((use != inner && use != outer) || !n->stride[k]))
            return false;
        used += use ? 1u : 0u;
        stored += n->side[k].load != twi_larg(n->f, n->dots, k) ? 1u : 0u;
    }
    const unsigned around = (inner ? 1u : 0u) + (outer ? 1u : 0u);
    return used == around && n->stores.n == 1u + stored && n->loads == 3u + stored;
}

static bool find(twi_emitter *e, nest *n) {
    n->around = TWI_NEW_N(e->arena, twi_lid, n->f->ins.n);
    return gather(e, n, at(n, n->loop)->body, 0) && n->dots && operand_fits(n, 0, &n->side[0]) &&
           operand_fits(n, 1, &n->side[1]) && n->side[0].count <= MOST_ROWS &&
           n->side[1].count <= MOST_COLUMNS && sums_fit(n);
}

/* Index arithmetic of one body; of a load: what says where it lies. */
static void numbers(twi_emitter *e, const nest *n, twi_lid first, twi_lid load) {
    for (twi_lid v = first; v; v = at(n, v)->next)
        if (is_number(n, v) && (!load || is_placed_by(n, load, v)))
            twi_emit_value(e, v);
}

/* Where an operand's box of that number lies. */
static void place(twi_emitter *e, const nest *n, const operand *o, const char *name,
                  unsigned number) {
    const char *slot = o->fill ? twi_value_text(e, o->fill) : NULL;
    twi_line(e, "const char *%s;", name);
    twi_line(e, "{");
    e->depth++;
    if (slot) {
        twi_line(e, "const %s %s = %u;", e->d->type[TW_I64], slot, number);
        e->value[o->fill].text = slot;
        numbers(e, n, at(n, o->fill)->body, o->load);
    }
    twi_line(e, "%s = (const char *)(%s);", name, twi_emit_address(e, o->load));
    e->depth--;
    twi_line(e, "}");
}

/* What an unrolled nest starts with, where one loop holds nothing but the next. */
static twi_lid innermost(const twi_func *f, twi_lid fill) {
    twi_lid v = fill;
    while (v && twi_lins_of(f, v)->op == TWI_L_UNROLL && (v == fill || !twi_lins_of(f, v)->next))
        v = twi_lins_of(f, v)->body;
    return v;
}

/* The store of an unrolled nest that does no more than set elements of a private array to +0; 0: it
 * does something else. */
static twi_lid zeros(const twi_func *f, twi_lid fill) {
    const twi_lid v = innermost(f, fill);
    const twi_lins *store = twi_lins_of(f, v);
    if (!v || store->op != TWI_L_LSTORE || store->next)
        return 0;
    const twi_laccess *a = &f->access.at[store->attr];
    const twi_object *o = &f->object.at[a->object];
    const twi_lins *x = twi_lins_of(f, twi_larg(f, v, o->rank));
    if (x->op == TWI_L_SPLAT)
        x = twi_lins_of(f, twi_larg(f, twi_larg(f, v, o->rank), 0));
    const bool zero = x->op == TWI_L_LCONST && f->constant.at[x->attr] == 0;
    return zero && o->kind == TWI_OBJ_PRIVATE && a->mask == TWI_MASK_NONE && !a->merge ? v : 0;
}

/* Does the access reach every sum? A loop for each dimension, as long as the sums' own. */
static bool reaches_sums(const nest *n, twi_lid access) {
    const twi_lid was = twi_larg(n->f, n->dots, 2);
    const unsigned rank = n->f->object.at[n->sums].rank;
    if (access_of(n, access)->object != n->sums)
        return false;
    for (unsigned d = 0; d < rank; d++) {
        const twi_lid to = twi_larg(n->f, access, d), of = twi_larg(n->f, was, d);
        const bool both = is_first(n, to) && is_first(n, of);
        const bool loops = at(n, to)->op == TWI_L_UNROLL && at(n, of)->op == TWI_L_UNROLL;
        if (!both && (!loops || at(n, to)->attr != at(n, of)->attr))
            return false;
        for (unsigned other = 0; other < d; other++)
            if (loops && twi_larg(n->f, access, other) == to)
                return false;
    }
    return true;
}

static twi_lid behind(const nest *n, twi_lid v) {
    do
        v = at(n, v)->next;
    while (v && is_number(n, v));
    return v;
}

static unsigned loads_of(const nest *n, uint32_t object) {
    unsigned count = 0;
    for (twi_lid v = 1; v < n->f->ins.n; v++)
        count += at(n, v)->op == TWI_L_LLOAD && access_of(n, v)->object == object;
    return count;
}

static bool same_shape(const twi_object *a, const twi_object *b) {
    bool same =
        a->kind == b->kind && a->elem == b->elem && a->count == b->count && a->rank == b->rank;
    for (unsigned d = 0; same && d < a->rank; d++)
        same = a->extent[d] == b->extent[d] && a->stride[d] == b->stride[d];
    return same;
}

/* The private array that the unrolled nest behind the loop moves all sums to, where nothing else
 * reads them, nor the loop itself when it runs again: tiles are stored there. 0: none. */
static uint32_t moved_to(const nest *n, twi_lid *move) {
    *move = behind(n, n->loop);
    const twi_lid load = *move && at(n, *move)->op == TWI_L_UNROLL ? innermost(n->f, *move) : 0;
    const twi_lid store = load ? at(n, load)->next : 0;
    if (!store || at(n, load)->op != TWI_L_LLOAD || at(n, store)->op != TWI_L_LSTORE ||
        at(n, store)->next || access_of(n, load)->mask || access_of(n, store)->mask ||
        access_of(n, store)->merge || !reaches_sums(n, load) || loads_of(n, n->sums) != 2)
        return 0;
    const uint32_t to = access_of(n, store)->object;
    const twi_object *o = &n->f->object.at[to];
    bool same = same_shape(o, &n->f->object.at[n->sums]);
    for (unsigned d = 0; same && d <= o->rank; d++)
        same = twi_larg(n->f, store, d) == (d < o->rank ? twi_larg(n->f, load, d) : load);
    return same ? to : 0;
}

/* Operands that come from beyond the first cache: bit 0 rows, 1 columns. */
static unsigned far(const nest *n) {
    unsigned set = 0;
    for (unsigned k = 0; k < 2; k++)
        set |= access_of(n, n->side[k].load)->ahead ? 1u << k : 0u;
    return set;
}

static void print(twi_emitter *e, const nest *n) {
    const unsigned rows = n->side[0].count, columns = n->side[1].count;
    const int64_t vector = at(n, n->dots)->count * (int64_t)sizeof(float);
    const long long step[2] = {n->stride[0] * vector, n->stride[1] * vector};
    twi_lid move = 0;
    const uint32_t to = e->zeroed == n->loop ? moved_to(n, &move) : 0;
    e->moved = to ? move : 0;
    for (unsigned k = 0; k < 2; k++)
        if (n->side[k].load != twi_larg(n->f, n->dots, k)) /* the compiler has no use for it then */
            twi_line(e, "(void)%s;",
                     twi_object_text(e, access_of(n, twi_larg(n->f, n->dots, k))->object));
    if (to)
        twi_line(e, "(void)%s;", twi_object_text(e, n->sums));
    twi_line(e, "tw_tiles_for(%u, &rows_);", rows);
    if (e->zeroed == n->loop)
        twi_line(e, "tw_tiles_load(%u, %u, 0, 0, 0);", rows, columns);
    else
        twi_line(e, "tw_tiles_load(%u, %u, (char *)%s, %lld, %lld);", rows, columns,
                 twi_object_text(e, n->sums), step[0], step[1]);
    twi_emit_open(e, n->loop);
    e->depth++;
    numbers(e, n, at(n, n->loop)->body, 0);
    place(e, n, &n->side[0], "a_", 0);
    place(e, n, &n->side[0], "next_a_", rows > 1);
    place(e, n, &n->side[1], "b_", 0);
    place(e, n, &n->side[1], "next_b_", columns > 1);
    twi_line(e, "tw_tiles_add(%u, %u, %u, a_, next_a_ - a_, b_, next_b_ - b_);", rows, columns,
             far(n));
    e->depth--;
    twi_line(e, "}");
    twi_line(e, "tw_tiles_store(%u, %u, (char *)%s, %lld, %lld);", rows, columns,
             twi_object_text(e, to ? to : n->sums), step[0], step[1]);
}

bool twi_emit_tiles(twi_emitter *e, twi_lid loop) {
    nest n = {.f = e->f, .loop = loop};
    if (!e->d->tiles || !find(e, &n))
        return false;
    if (twi_need(e, "tiles"))
        twi_sb_str(&e->head, e->d->tiles);
    twi_once(e, "int rows_ = 0;");
    e->tiled = true;
    twi_line(e, "#ifdef TW_TILED");
    print(e, &n);
    twi_line(e, "#else");
    twi_emit_open(e, loop);
    e->depth++;
    twi_emit_body(e, at(&n, loop)->body);
    e->depth--;
    twi_line(e, "}");
    twi_line(e, "#endif");
    return true;
}

/* A nest that tiles have no use for. */
static void print_plain(twi_emitter *e, twi_lid fill) {
    twi_line(e, "#ifndef TW_TILED");
    twi_emit_open(e, fill);
    e->depth++;
    twi_emit_body(e, twi_lins_of(e->f, fill)->body);
    e->depth--;
    twi_line(e, "}");
    twi_line(e, "#endif");
}

bool twi_emit_beside(twi_emitter *e, twi_lid fill) {
    nest n = {.f = e->f};
    const twi_lid store = e->d->tiles ? zeros(e->f, fill) : 0;
    n.loop = store ? behind(&n, fill) : 0;
    const bool zero =
        n.loop && at(&n, n.loop)->op == TWI_L_FOR && find(e, &n) && reaches_sums(&n, store);
    if (zero)
        e->zeroed = n.loop;
    if (!zero && e->moved != fill)
        return false;
    print_plain(e, fill);
    return true;
}
