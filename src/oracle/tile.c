/* SPDX-License-Identifier: Apache-2.0
 * Tiles: shapes, stored forms, walks; axes of the instance at hand; index expressions.
 */
#include "oracle/eval.h"

void twi_fail(twi_oracle *o, const char *format, ...) {
    va_list args;
    twi_sb sb;
    if (o->error)
        return;
    va_start(args, format);
    twi_sb_init(&sb, o->arena);
    twi_sb_vprintf(&sb, format, args);
    va_end(args);
    o->error = twi_sb_text(&sb);
}

double *twi_scratch(twi_oracle *o, size_t n) {
    if (n >= UINT32_MAX / 2) {
        twi_fail(o, "a fold over %zu elements is more than the oracle evaluates", n);
        n = 1;
    }
    twi_reserve(o->arena, &o->scratch, (uint32_t)n);
    return o->scratch.at;
}

/* ---- index expressions ---- */

static int64_t floor_div(int64_t a, int64_t b) {
    if (b == 0)
        return 0;
    if (b == -1)
        return (int64_t)(0u - (uint64_t)a);
    int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static int64_t leaf(twi_oracle *o, const twi_ix_node *node, const int64_t *position) {
    switch (node->op) {
    case TWI_IX_CONST:
        return node->k;
    case TWI_IX_DIM:
        return o->ir->dim.at[node->a].value;
    case TWI_IX_AXIS:
        if ((o->tile_axes >> node->a & 1u) == 0)
            return o->axis[node->a].at;
        if (!position) {
            twi_fail(o, "an index needs a position on an axis that is not open here");
            return 0;
        }
        return position[node->a];
    case TWI_IX_LO:
    case TWI_IX_HI:
        if (!twi_axis_ready(o, (uint8_t)node->a))
            return 0;
        return node->op == TWI_IX_LO ? o->axis[node->a].lo : o->axis[node->a].hi;
    default: { /* VALUE */
        const twi_tile *t = &o->tile[node->a];
        if (t->total != 1) {
            twi_fail(o, "an index uses a value that has not been evaluated");
            return 0;
        }
        twi_form x = twi_tile_get(t, 0);
        if (x.kind != TWI_EXACT)
            twi_fail(o, "an index depends on a value that rounding leaves undecided");
        return twi_int_of((tw_elem)t->elem, x.bits);
    }
    }
}

int64_t twi_index(twi_oracle *o, twi_ix x, const int64_t *position) {
    const twi_ix_node *node = &o->ir->ix.at[x];
    if (node->op < TWI_IX_ADD)
        return leaf(o, node, position);
    int64_t a = twi_index(o, node->a, position), b = twi_index(o, node->b, position);
    switch (node->op) {
    case TWI_IX_ADD:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case TWI_IX_SUB:
        return (int64_t)((uint64_t)a - (uint64_t)b);
    case TWI_IX_MUL:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case TWI_IX_DIV:
        return floor_div(a, b);
    case TWI_IX_MOD:
        return b == 0 ? a : (int64_t)((uint64_t)a - (uint64_t)b * (uint64_t)floor_div(a, b));
    case TWI_IX_MIN:
        return a < b ? a : b;
    default:
        return a > b ? a : b;
    }
}

bool twi_axis_ready(twi_oracle *o, uint8_t axis) {
    twi_axis_state *s = &o->axis[axis];
    if (!s->ready && o->ir->axis.at[axis].kind == TWI_AXIS_FULL) {
        s->lo = twi_index(o, o->ir->axis.at[axis].lo, NULL);
        s->hi = twi_index(o, o->ir->axis.at[axis].hi, NULL);
        s->hi = s->hi < s->lo ? s->lo : s->hi;
        s->ready = true;
    }
    if (!s->ready)
        twi_fail(o, "axis %s is used outside its region",
                 twi_text(&o->ir->ctx->names, o->ir->axis.at[axis].name));
    return s->ready;
}

/* ---- tiles ---- */

bool twi_tile_shape(twi_oracle *o, twi_tile *t, uint64_t axes) {
    t->n = 0;
    t->total = 1;
    t->pool.n = 0;
    axes &= o->tile_axes;
    for (uint8_t a = 1; a < TWI_MAX_AXES && axes >> a != 0; a++) {
        if ((axes >> a & 1u) == 0)
            continue;
        if (t->n == TWI_TILE_AXES || !twi_axis_ready(o, a)) {
            twi_fail(o, "a tile of more than %d axes", TWI_TILE_AXES);
            return false;
        }
        t->axis[t->n] = a;
        t->extent[t->n] = o->axis[a].hi - o->axis[a].lo;
        t->n++;
    }
    for (unsigned d = t->n; d-- > 0;) {
        t->stride[d] = (int64_t)t->total;
        if (t->extent[d] != 0 && t->total > ((size_t)1 << 30) / (size_t)t->extent[d]) {
            twi_fail(o, "a tile of more than 2^30 elements");
            return false;
        }
        t->total *= (size_t)t->extent[d];
    }
    if (t->total > t->cap || (!t->bits && !t->el)) {
        t->cap = t->total;
        if (t->bounded)
            t->el = TWI_NEW_N(o->arena, twi_el, t->cap + 1);
        else
            t->bits = TWI_NEW_N(o->arena, uint64_t, t->cap + 1);
    }
    return true;
}

twi_form twi_el_form(const twi_el *e, const twi_part *pool) {
    return (twi_form){.v = e->v,
                      .lo = e->lo,
                      .hi = e->hi,
                      .r = e->r,
                      .bits = e->bits,
                      .part = e->n != 0 ? pool + e->off : NULL,
                      .n = e->n,
                      .kind = e->kind,
                      .flags = e->flags};
}

twi_form twi_tile_get(const twi_tile *t, size_t k) {
    return t->bounded ? twi_el_form(&t->el[k], t->pool.at)
                      : twi_form_exact((tw_elem)t->elem, t->bits[k]);
}

void twi_tile_put(twi_oracle *o, twi_tile *t, size_t k, const twi_form *x) {
    twi_form y = *x;
    twi_part room[TWI_ROOM];
    if (t->named)
        twi_form_name(&y, ++o->symbol, room);
    t->el[k] = (twi_el){
        y.v,    y.lo,   y.hi, y.r, y.bits, t->pool.n, y.kind == TWI_RANGE && y.part ? y.n : 0,
        y.kind, y.flags};
    for (uint32_t p = 0; y.part && p < t->el[k].n; p++)
        twi_push(o->arena, &t->pool, y.part[p]);
}

void twi_walk_begin(twi_walk *w, const twi_tile *over) {
    w->n = over->n;
    w->k = 0;
    w->left = over->total;
    for (unsigned d = 0; d < w->n; d++) {
        w->at[d] = 0;
        w->extent[d] = over->extent[d];
    }
}

void twi_walk_add(twi_walk *w, const twi_tile *over, const twi_tile *operand) {
    unsigned k = w->k++;
    w->off[k] = 0;
    for (unsigned d = 0; d < over->n; d++) {
        w->step[k][d] = 0;
        for (unsigned e = 0; e < operand->n; e++)
            if (operand->axis[e] == over->axis[d])
                w->step[k][d] = operand->stride[e];
    }
}

void twi_tile_copy(twi_oracle *o, twi_tile *to, const twi_tile *from) {
    twi_walk w;
    twi_walk_begin(&w, to);
    twi_walk_add(&w, to, from);
    for (size_t k = 0; w.left > 0; k++, twi_walk_next(&w)) {
        size_t at = (size_t)w.off[0];
        if (!to->bounded) {
            to->bits[k] = from->bits[at];
            continue;
        }
        twi_form x = twi_tile_get(from, at);
        twi_tile_put(o, to, k, &x);
    }
}
