/* SPDX-License-Identifier: Apache-2.0
 * Merging: two folds of free order, the second of which waits for the first, become one fold of a
 * state with several components (ir/monoid.def):
 *
 *     m = max x ; l = sum exp(x - m)                 logsumexp x, its part 1
 *     mean = sum x / n ; q = sum (x - mean)^2        moments x, its part 1
 *
 * In exact arithmetic both are equal, which is what order free allows. x may have been centred more
 * than once before it is squared: each time leaves the sum of squares as it is. What the centring
 * in between needs (its own sum) stays. All ids stay: the first fold changes its operation, the
 * second one becomes a `part`.
 */
#include "pass/pass.h"

typedef struct {
    twi_id first, second; /* folds */
    twi_id mean;          /* moments: the division that becomes the fold itself; 0: logsumexp */
    twi_id x;
} match;

static bool is_op(const tw_ir *ir, twi_id v, unsigned op) { return ir->ins.at[v].op == op; }

/* Do both fold f32 over the same axes, in an order that the plan may choose? */
static bool same_fold(const tw_ir *ir, twi_id a, twi_id b) {
    const twi_ins *x = twi_ins_of(ir, a), *y = twi_ins_of(ir, b);
    return x->order == TWI_ORDER_FREE && y->order == TWI_ORDER_FREE && x->type.elem == TW_F32 &&
           y->type.elem == TW_F32 && x->type.axes == y->type.axes && x->nfold == y->nfold &&
           memcmp(x->fold, y->fold, x->nfold) == 0;
}

/* Elements that a fold takes; 0: not a number. */
static int64_t elements(const tw_ir *ir, twi_id fold) {
    const twi_ins *i = twi_ins_of(ir, fold);
    int64_t n = 1;
    for (unsigned k = 0; k < i->nfold; k++) {
        int64_t lo, hi;
        const twi_axis *a = &ir->axis.at[i->fold[k]];
        if (!twi_ix_is_const(ir, a->lo, &lo) || !twi_ix_is_const(ir, a->hi, &hi) || hi <= lo ||
            hi - lo > INT32_MAX / n)
            return 0;
        n *= hi - lo;
    }
    return n;
}

static bool is_number(const tw_ir *ir, twi_id v, int64_t n) {
    float f = (float)n;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return is_op(ir, v, TWI_CONST) && ir->constant.at[ir->ins.at[v].attr].known &&
           ir->constant.at[ir->ins.at[v].attr].bits == bits;
}

/* How often each value is used, by id. */
static uint32_t *count_uses(const tw_ir *ir) {
    uint32_t *uses = TWI_NEW_N(ir->arena, uint32_t, ir->ins.n);
    for (uint32_t r = 1; r < ir->region.n; r++) {
        const twi_region *at = &ir->region.at[r];
        for (uint32_t k = 0; k < at->body.n; k++)
            for (unsigned a = 0; a < ir->ins.at[at->body.at[k]].nargs; a++)
                uses[twi_arg(ir, at->body.at[k], a)]++;
        for (uint32_t k = 0; k < at->yields.n; k++)
            uses[at->yields.at[k]]++;
    }
    return uses;
}

static bool used_once(const tw_ir *ir, twi_id v) {
    twi_mark mark = twi_arena_mark(ir->arena);
    bool once = count_uses(ir)[v] == 1;
    twi_arena_reset(ir->arena, mark);
    return once;
}

static uint32_t region_of(const tw_ir *ir, twi_id v) {
    for (uint32_t r = 1; r < ir->region.n; r++)
        for (uint32_t k = 0; k < ir->region.at[r].body.n; k++)
            if (ir->region.at[r].body.at[k] == v)
                return r;
    return 0;
}

/* Sums of counts in f32 are exact as far as this. */
enum { MOST = 1 << 24 };

static bool match_logsumexp(const tw_ir *ir, twi_id sum, match *m) {
    twi_id e = twi_arg(ir, sum, 0);
    if (!is_op(ir, e, TWI_EXP) || !is_op(ir, twi_arg(ir, e, 0), TWI_SUB))
        return false;
    twi_id x = twi_arg(ir, twi_arg(ir, e, 0), 0), max = twi_arg(ir, twi_arg(ir, e, 0), 1);
    *m = (match){.first = max, .second = sum, .x = x};
    return is_op(ir, max, TWI_FMAX) && twi_arg(ir, max, 0) == x;
}

/* c = x - mean x, for c the second time too: the x farthest down whose sum is for its mean alone.
 */
static bool match_centred(const tw_ir *ir, twi_id c, match *m) {
    bool found = false;
    while (is_op(ir, c, TWI_SUB) && is_op(ir, twi_arg(ir, c, 1), TWI_DIV)) {
        twi_id x = twi_arg(ir, c, 0), mean = twi_arg(ir, c, 1), sum = twi_arg(ir, mean, 0);
        if (!is_op(ir, sum, TWI_SUM) || twi_arg(ir, sum, 0) != x ||
            !same_fold(ir, sum, m->second) ||
            !is_number(ir, twi_arg(ir, mean, 1), elements(ir, sum)) || !used_once(ir, sum))
            break;
        m->first = sum;
        m->mean = mean;
        m->x = c = x;
        found = true;
    }
    return found;
}

static bool match_moments(const tw_ir *ir, twi_id sum, match *m) {
    twi_id square = twi_arg(ir, sum, 0);
    *m = (match){.second = sum};
    return is_op(ir, square, TWI_MUL) && twi_arg(ir, square, 0) == twi_arg(ir, square, 1) &&
           match_centred(ir, twi_arg(ir, square, 0), m);
}

static bool find(const tw_ir *ir, twi_id sum, match *m) {
    if (!is_op(ir, sum, TWI_SUM) || (!match_logsumexp(ir, sum, m) && !match_moments(ir, sum, m)))
        return false;
    int64_t n = elements(ir, sum);
    return n > 0 && n <= MOST && ir->math == 0 && same_fold(ir, m->first, sum) &&
           region_of(ir, sum) && region_of(ir, m->first) == region_of(ir, sum);
}

bool twi_can_merge(const tw_ir *ir, twi_id v) {
    match m;
    return find(ir, v, &m);
}

static void replace(tw_ir *ir, twi_id old, twi_id now) {
    for (uint32_t k = 1; k < ir->args.n; k++)
        if (ir->args.at[k] == old)
            ir->args.at[k] = now;
    for (uint32_t r = 1; r < ir->region.n; r++)
        for (uint32_t k = 0; k < ir->region.at[r].yields.n; k++)
            if (ir->region.at[r].yields.at[k] == old)
                ir->region.at[r].yields.at[k] = now;
}

/* Local values that nothing uses any more leave their bodies, consumers first. */
static void drop_unused(tw_ir *ir) {
    twi_mark mark = twi_arena_mark(ir->arena);
    uint32_t *uses = count_uses(ir);
    for (uint32_t r = 1; r < ir->region.n; r++) {
        twi_region *at = &ir->region.at[r];
        for (uint32_t k = at->body.n; k-- > 0;) {
            twi_id v = at->body.at[k];
            if (twi_op_row(ir->ins.at[v].op)->kind != TWI_KIND_LOCAL || uses[v])
                continue;
            for (unsigned a = 0; a < ir->ins.at[v].nargs; a++)
                uses[twi_arg(ir, v, a)]--;
            memmove(&at->body.at[k], &at->body.at[k + 1], (at->body.n - k - 1) * sizeof(twi_id));
            at->body.n--;
        }
    }
    twi_arena_reset(ir->arena, mark);
}

/* The parts, in the order of their ids. */
static twi_sym names_of_parts(tw_ir *ir) {
    const char *names = NULL;
    for (twi_id v = 1; v < ir->ins.n; v++)
        if (is_op(ir, v, TWI_PART))
            names = names ? twi_format(ir->arena, "%s, %s", names, twi_value_name(ir, v))
                          : twi_value_name(ir, v);
    return twi_intern_str(&ir->ctx->names, names);
}

bool opt_merge(tw_ir *ir, twi_id v) {
    match m;
    if (!find(ir, v, &m))
        return false;
    twi_ins *first = &ir->ins.at[m.first], *second = &ir->ins.at[m.second];
    first->op = m.mean ? TWI_MOMENTS : TWI_LOGSUMEXP;
    ir->args.at[first->arg] = m.x;
    second->op = TWI_PART;
    second->attr = 1;
    second->order = second->nfold = 0;
    memset(second->fold, 0, sizeof second->fold);
    ir->args.at[second->arg] = m.first;
    if (m.mean)
        replace(ir, m.mean, m.first);
    drop_unused(ir);
    ir->merged = names_of_parts(ir);
    return true;
}
