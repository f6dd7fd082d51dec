/* SPDX-License-Identifier: Apache-2.0
 * Lawson and Hanson, "Solving Least Squares Problems" (1974), chapter 23: an active set. Columns
 * enter one by one, the one first along which the residual falls most steeply; the unconstrained
 * solution over those that are in is gone towards until a coefficient would turn negative, which
 * then leaves. Columns are scaled to length 1, so that units do not decide who enters. The inner
 * problem is solved by Householder reflections on the columns themselves: normal equations would
 * square the condition number.
 */
#include "tune/nnls.h"

#include <math.h>
#include <string.h>

typedef struct {
    twi_arena *arena;
    unsigned rows, cols;
    double *a, *b; /* scaled columns, one after the other */
    bool *in;
    double *x, *z; /* so far; the unconstrained one over the columns that are in */
} nnls;

static double dot(const double *x, const double *y, unsigned n) {
    double sum = 0;
    for (unsigned k = 0; k < n; k++)
        sum += x[k] * y[k];
    return sum;
}

/* v -= 2 u (u v) / (u u), from row k on. */
static void reflect(const double *u, double square, double *v, unsigned k, unsigned rows) {
    const double f = 2 * dot(&u[k], &v[k], rows - k) / square;
    for (unsigned i = k; i < rows; i++)
        v[i] -= f * u[i];
}

/* Solves over the columns that are in. False: they depend on each other. */
static bool solve(nnls *s) {
    const twi_mark mark = twi_arena_mark(s->arena);
    unsigned *which = TWI_NEW_N(s->arena, unsigned, s->cols + 1), n = 0;
    double *q = TWI_NEW_N(s->arena, double, (size_t)s->rows * s->cols + 1);
    double *r = TWI_NEW_N(s->arena, double, s->cols + 1); /* the diagonal */
    double *y = TWI_NEW_N(s->arena, double, s->rows + 1);
    bool ok = true;
    for (unsigned c = 0; c < s->cols; c++)
        if (s->in[c])
            which[n++] = c;
    for (unsigned k = 0; k < n; k++)
        memcpy(&q[(size_t)k * s->rows], &s->a[(size_t)which[k] * s->rows], s->rows * sizeof *q);
    memcpy(y, s->b, s->rows * sizeof *y);
    for (unsigned k = 0; k < n && ok; k++) {
        double *u = &q[(size_t)k * s->rows];
        const double length = k < s->rows ? sqrt(dot(&u[k], &u[k], s->rows - k)) : 0;
        ok = length > 1e-10; /* of columns that had length 1 */
        if (!ok)
            break;
        r[k] = u[k] > 0 ? -length : length;
        u[k] -= r[k];
        const double square = dot(&u[k], &u[k], s->rows - k);
        for (unsigned c = k + 1; c < n; c++)
            reflect(u, square, &q[(size_t)c * s->rows], k, s->rows);
        reflect(u, square, y, k, s->rows);
    }
    memset(s->z, 0, s->cols * sizeof *s->z);
    for (unsigned k = n; ok && k-- > 0;) {
        double v = y[k];
        for (unsigned c = k + 1; c < n; c++)
            v -= q[(size_t)c * s->rows + k] * s->z[which[c]];
        s->z[which[k]] = v / r[k];
    }
    twi_arena_reset(s->arena, mark);
    return ok;
}

/* The column outside along which the residual falls most steeply; cols: along none. */
static unsigned steepest(const nnls *s, const bool *barred) {
    double *left = TWI_NEW_N(s->arena, double, s->rows + 1), most = 1e-10;
    unsigned best = s->cols;
    memcpy(left, s->b, s->rows * sizeof *left);
    for (unsigned c = 0; c < s->cols; c++)
        for (unsigned i = 0; s->x[c] > 0 && i < s->rows; i++)
            left[i] -= s->a[(size_t)c * s->rows + i] * s->x[c];
    most *= sqrt(dot(s->b, s->b, s->rows));
    for (unsigned c = 0; c < s->cols; c++) {
        const double slope = dot(&s->a[(size_t)c * s->rows], left, s->rows);
        if (!s->in[c] && !barred[c] && slope > most) {
            most = slope;
            best = c;
        }
    }
    return best;
}

/* From x towards z until a coefficient is 0, which leaves. True: z itself is allowed. */
static bool go(nnls *s) {
    double share = 1;
    unsigned leaves = s->cols;
    for (unsigned c = 0; c < s->cols; c++) {
        if (!s->in[c] || s->z[c] > 0)
            continue;
        const double way = s->x[c] / (s->x[c] - s->z[c]);
        if (leaves == s->cols || way < share) {
            share = way;
            leaves = c;
        }
    }
    for (unsigned c = 0; c < s->cols; c++)
        if (s->in[c])
            s->x[c] += (leaves == s->cols ? 1 : share) * (s->z[c] - s->x[c]);
    for (unsigned c = 0; c < s->cols && leaves < s->cols; c++)
        if (s->in[c] && (c == leaves || s->x[c] <= 0)) {
            s->in[c] = false;
            s->x[c] = 0;
        }
    return leaves == s->cols;
}

static bool run(nnls *s) {
    bool *barred = TWI_NEW_N(s->arena, bool, s->cols + 1);
    for (unsigned turn = 0; turn < 10 * (s->cols + 1); turn++) {
        const unsigned c = steepest(s, barred);
        if (c == s->cols)
            return true;
        s->in[c] = true;
        if (!solve(s) || s->z[c] <= 0) { /* rounding alone made it look steep */
            s->in[c] = false;
            barred[c] = true;
            continue;
        }
        while (!go(s))
            if (!solve(s))
                return false;
        memset(barred, 0, s->cols * sizeof *barred);
    }
    return false;
}

bool twi_nnls(twi_arena *arena, const double *a, const double *b, unsigned rows, unsigned cols,
              double *x) {
    const twi_mark mark = twi_arena_mark(arena);
    nnls s = {.arena = arena,
              .rows = rows,
              .cols = cols,
              .a = TWI_NEW_N(arena, double, (size_t)rows *cols + 1),
              .b = TWI_NEW_N(arena, double, rows + 1),
              .in = TWI_NEW_N(arena, bool, cols + 1),
              .x = TWI_NEW_N(arena, double, cols + 1),
              .z = TWI_NEW_N(arena, double, cols + 1)};
    double *length = TWI_NEW_N(arena, double, cols + 1);
    memcpy(s.b, b, rows * sizeof *b);
    for (unsigned c = 0; c < cols; c++) {
        double *column = &s.a[(size_t)c * rows];
        for (unsigned i = 0; i < rows; i++)
            column[i] = a[(size_t)i * cols + c];
        length[c] = sqrt(dot(column, column, rows));
        for (unsigned i = 0; length[c] > 0 && i < rows; i++)
            column[i] /= length[c];
    }
    const bool ended = run(&s);
    for (unsigned c = 0; c < cols; c++)
        x[c] = length[c] > 0 ? s.x[c] / length[c] : 0;
    twi_arena_reset(arena, mark);
    return ended;
}
