/* SPDX-License-Identifier: Apache-2.0
 * From a group's number to its grid digits (groups.h), and the loop around the groups that one of a
 * fixed number works off. Digits count row-major: that of a split fold outermost, so that groups of
 * one part follow each other, then those of the parallel axes in their order. Bands and Hilbert's
 * curve arrange the last two digits of more than 1, as rows i and columns j; the others count as in
 * rows.
 */
#include "lower/groups.h"
#include "lower/walk.h"

/* ---- orders ---------------------------------------------------------------------------------- */

static uint32_t of(const twi_group_maker *m, unsigned op, uint32_t a, uint32_t b) {
    return m->op(m->user, op, a, b, 0);
}

static uint32_t num(const twi_group_maker *m, int64_t k) { return m->number(m->user, k); }

/* x / stride % extent, without what changes nothing. */
static uint32_t digit_of(const twi_group_maker *m, uint32_t x, int64_t stride, int64_t extent,
                         bool outermost) {
    if (extent == 1)
        return num(m, 0);
    if (stride > 1)
        x = of(m, TWI_IDIV, x, num(m, stride));
    return outermost ? x : of(m, TWI_IMOD, x, num(m, extent));
}

typedef struct {
    uint32_t i, j;
} place;

/* Bands of h rows; in a band column by column. The last band may have fewer rows. */
static place in_bands(const twi_group_maker *m, uint32_t x, int64_t rows, int64_t columns,
                      int64_t h) {
    h = h < rows ? h : rows;
    uint32_t band = digit_of(m, x, h * columns, (rows + h - 1) / h, true);
    uint32_t first = of(m, TWI_MUL, band, num(m, h));
    uint32_t in = of(m, TWI_SUB, x, of(m, TWI_MUL, first, num(m, columns)));
    uint32_t high =
        rows % h == 0 ? num(m, h) : of(m, TWI_MIN, of(m, TWI_SUB, num(m, rows), first), num(m, h));
    return (place){of(m, TWI_ADD, first, of(m, TWI_IMOD, in, high)), of(m, TWI_IDIV, in, high)};
}

/* Hilbert's curve over a square of side 2^levels, two bits of x a level from the lowest: a quadrant
 * of the next size is the curve so far, mirrored or moved. */
static place on_curve(const twi_group_maker *m, uint32_t x, unsigned levels) {
    place p = {num(m, 0), num(m, 0)};
    for (unsigned k = 0; k < levels; k++) {
        int64_t side = INT64_C(1) << k;
        uint32_t q = digit_of(m, x, side * side, 4, k + 1 == levels);
        uint32_t one = num(m, 1), last = num(m, side - 1);
        uint32_t di = of(m, TWI_IDIV, q, num(m, 2));
        uint32_t dj =
            of(m, TWI_IMOD, of(m, TWI_ADD, q, di), num(m, 2)); /* Gray code: 0 0 1 1, 0 1 1 0 */
        /* first quadrant: transposed; last one: transposed and turned over */
        uint32_t first = of(m, TWI_LT, q, one), end = of(m, TWI_LT, num(m, 2), q);
        place t = {m->op(m->user, TWI_SELECT, first, p.j,
                         m->op(m->user, TWI_SELECT, end, of(m, TWI_SUB, last, p.j), p.i)),
                   m->op(m->user, TWI_SELECT, first, p.i,
                         m->op(m->user, TWI_SELECT, end, of(m, TWI_SUB, last, p.i), p.j))};
        p.i = of(m, TWI_ADD, t.i, of(m, TWI_MUL, di, num(m, side)));
        p.j = of(m, TWI_ADD, t.j, of(m, TWI_MUL, dj, num(m, side)));
    }
    return p;
}

enum { MOST_LEVELS = 4 };

/* Squares of a power of two, up to 16, each along the curve, in rows of squares; then the columns
 * right of them, row by row, and the rows below them, column by column: three disjoint parts. */
static place in_squares(const twi_group_maker *m, uint32_t x, int64_t rows, int64_t columns) {
    unsigned levels = 0;
    while (levels < MOST_LEVELS && 2 << levels <= rows && 2 << levels <= columns)
        levels++;
    int64_t side = INT64_C(1) << levels, down = rows / side, across = columns / side;
    int64_t inside = down * across * side * side, right = columns - across * side;
    int64_t below = rows - down * side;
    uint32_t square = digit_of(m, x, side * side, down * across, true);
    place p = on_curve(m, digit_of(m, x, 1, side * side, inside == side * side), levels);
    uint32_t row = digit_of(m, square, across, down, true);
    uint32_t column = digit_of(m, square, 1, across, down == 1);
    p.i = of(m, TWI_ADD, p.i, of(m, TWI_MUL, row, num(m, side)));
    p.j = of(m, TWI_ADD, p.j, of(m, TWI_MUL, column, num(m, side)));
    if (right) { /* all rows, of `right` columns each */
        uint32_t in = of(m, TWI_LT, x, num(m, inside)), y = of(m, TWI_SUB, x, num(m, inside));
        p.i = m->op(m->user, TWI_SELECT, in, p.i, digit_of(m, y, right, rows, true));
        uint32_t j = of(m, TWI_ADD, digit_of(m, y, 1, right, false), num(m, across * side));
        p.j = m->op(m->user, TWI_SELECT, in, p.j, j);
    }
    if (below) { /* columns of the squares, of `below` rows each */
        int64_t from = inside + right * rows;
        uint32_t in = of(m, TWI_LT, x, num(m, from)), y = of(m, TWI_SUB, x, num(m, from));
        uint32_t i = of(m, TWI_ADD, digit_of(m, y, 1, below, false), num(m, down * side));
        p.i = m->op(m->user, TWI_SELECT, in, p.i, i);
        p.j = m->op(m->user, TWI_SELECT, in, p.j, digit_of(m, y, below, across * side, true));
    }
    return p;
}

/* x is below extent already: this says so to whoever reasons with intervals. */
static uint32_t within(const twi_group_maker *m, uint32_t x, int64_t extent) {
    return of(m, TWI_MAX, of(m, TWI_MIN, x, num(m, extent - 1)), num(m, 0));
}

/* Counted row-major, or with the first digit fastest (columns). */
static void count_digits(const twi_group_maker *m, bool columns, const int64_t *extent, unsigned n,
                         uint32_t group, uint32_t *digit) {
    int64_t stride = 1, total = 1;
    for (unsigned k = 0; k < n; k++)
        total *= extent[k];
    for (unsigned k = 0; k < n; k++) {
        unsigned at = columns ? k : n - 1 - k;
        digit[at] = digit_of(m, group, stride, extent[at], stride * extent[at] == total);
        stride *= extent[at];
    }
}

void twi_group_digits(const twi_group_maker *m, const twi_group_grid *g, uint32_t group,
                      uint32_t *digit) {
    unsigned j = g->n, i = g->n;
    for (unsigned k = 0; k < g->n; k++)
        if (g->extent[k] > 1) {
            i = j;
            j = k;
        }
    if (g->order == TWI_GROUPS_ROWS || g->order == TWI_GROUPS_COLS || i == g->n) {
        count_digits(m, g->order == TWI_GROUPS_COLS, g->extent, g->n, group, digit);
        return;
    }
    int64_t rest[TWI_MAX_AXES + 1], plane = g->extent[i] * g->extent[j], total = plane;
    for (unsigned k = 0; k < g->n; k++) {
        rest[k] = k == i || k == j ? 1 : g->extent[k];
        total *= rest[k];
    }
    count_digits(m, false, rest, g->n, digit_of(m, group, plane, total / plane, true), digit);
    uint32_t x = digit_of(m, group, 1, plane, total == plane);
    place p = g->order == TWI_GROUPS_BAND ? in_bands(m, x, g->extent[i], g->extent[j], g->band)
                                          : in_squares(m, x, g->extent[i], g->extent[j]);
    digit[i] = within(m, p.i, g->extent[i]);
    digit[j] = within(m, p.j, g->extent[j]);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static uint32_t make_number(void *user, int64_t k) { return twi_w_int(user, k); }

static uint32_t make_op(void *user, unsigned op, uint32_t a, uint32_t b, uint32_t c) {
    return op == TWI_SELECT ? twi_w_ix_select(user, a, b, c) : twi_w_ix(user, op, a, b);
}

/* The axes that have a grid digit, outermost first. */
static unsigned grid_axes(const twi_lowering *w, unsigned *axis) {
    const twi_region *scope = &w->ir->region.at[w->cut.scope];
    unsigned n = 0;
    axis[n] = twi_split_axis(w->ir, w->plan);
    n += axis[n] != 0;
    for (uint32_t k = 0; k < scope->axes.n; k++)
        axis[n++] = scope->axes.at[k];
    return n;
}

void twi_w_open_grid(twi_lowering *w) {
    const twi_group_maker make = {w, make_number, make_op};
    unsigned axis[TWI_MAX_AXES + 1], n = grid_axes(w, axis);
    int64_t extent[TWI_MAX_AXES + 1] = {0};
    twi_lid digit[TWI_MAX_AXES + 1];
    for (unsigned k = 0; k < n; k++)
        extent[k] = twi_w_map(w, axis[k])->d[0].extent;
    const twi_group_grid grid = {w->plan->order, w->plan->band, extent, n};
    twi_group_digits(&make, &grid, w->group, digit);
    for (unsigned k = 0; k < n; k++)
        w->digit[axis[k]][0] = digit[k];
}

void twi_w_open_groups(twi_lowering *w) {
    int64_t all = twi_plan_blocks(w->plan), groups = twi_plan_groups(w->plan);
    w->group = all > 1 ? twi_w_leaf(w, TWI_L_ID, 1, TWI_LV_GRID) : twi_w_int(w, 0);
    if (groups == all)
        return;
    w->group = twi_w_for(w, w->group, twi_w_int(w, all), (uint32_t)groups);
    twi_w_event_loop(w, true);
}

void twi_w_shut_groups(twi_lowering *w) {
    if (twi_plan_groups(w->plan) != twi_plan_blocks(w->plan))
        twi_w_event_loop(w, false);
}
