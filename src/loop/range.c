/* SPDX-License-Identifier: Apache-2.0
 * Intervals of integer values.
 */
#include "loop/range.h"

#include "loop/rows.h"

int64_t twi_floor_div(int64_t a, int64_t b) {
    if (b == 0)
        return 0;
    if (b == -1)
        return (int64_t)(0 - (uint64_t)a);
    int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

int64_t twi_floor_mod(int64_t a, int64_t b) {
    if (b == 0)
        return a;
    if (b == -1)
        return 0;
    int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static bool add_fits(int64_t a, int64_t b, int64_t *sum) {
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
        return false;
    *sum = a + b;
    return true;
}

static bool mul_fits(int64_t a, int64_t b, int64_t *product) {
    const int64_t half = INT64_C(1) << 31; /* quick way for what occurs */
    if (a > -half && a < half && b > -half && b < half) {
        *product = a * b;
        return true;
    }
    if (a == 0 || b == 0) {
        *product = 0;
        return true;
    }
    if (a == INT64_MIN || b == INT64_MIN)
        return false;
    int64_t x = a < 0 ? -a : a, y = b < 0 ? -b : b;
    if (x > INT64_MAX / y)
        return false;
    *product = a * b;
    return true;
}

static twi_span add(twi_span a, twi_span b) {
    twi_span s;
    return add_fits(a.lo, b.lo, &s.lo) && add_fits(a.hi, b.hi, &s.hi) ? s : TWI_SPAN_ALL;
}

static twi_span neg(twi_span a) {
    return a.lo == INT64_MIN ? TWI_SPAN_ALL : (twi_span){-a.hi, -a.lo};
}

static twi_span hull(twi_span a, twi_span b) {
    return (twi_span){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

static twi_span mul(twi_span a, twi_span b) {
    int64_t p[4];
    if (!mul_fits(a.lo, b.lo, &p[0]) || !mul_fits(a.lo, b.hi, &p[1]) ||
        !mul_fits(a.hi, b.lo, &p[2]) || !mul_fits(a.hi, b.hi, &p[3]))
        return TWI_SPAN_ALL;
    twi_span s = {p[0], p[0]};
    for (int i = 1; i < 4; i++)
        s = hull(s, (twi_span){p[i], p[i]});
    return s;
}

static twi_span divided(twi_span a, twi_span b) {
    if (b.lo <= 0)
        return TWI_SPAN_ALL;
    twi_span s = {twi_floor_div(a.lo, a.lo < 0 ? b.lo : b.hi),
                  twi_floor_div(a.hi, a.hi < 0 ? b.hi : b.lo)};
    return s;
}

static twi_span modulo(twi_span a, twi_span b) {
    if (b.lo <= 0)
        return TWI_SPAN_ALL;
    if (a.lo >= 0 && a.hi < b.lo)
        return a;
    return (twi_span){0, b.hi - 1};
}

static twi_span of_elem(unsigned elem) {
    switch (elem) {
    case TW_BOOL:
        return (twi_span){0, 1};
    case TW_I8:
        return (twi_span){INT8_MIN, INT8_MAX};
    case TW_U8:
        return (twi_span){0, UINT8_MAX};
    case TW_I16:
        return (twi_span){INT16_MIN, INT16_MAX};
    case TW_U16:
        return (twi_span){0, UINT16_MAX};
    case TW_I32:
        return (twi_span){INT32_MIN, INT32_MAX};
    case TW_U32:
        return (twi_span){0, UINT32_MAX};
    default:
        return TWI_SPAN_ALL;
    }
}

static twi_span inside(twi_span s, twi_span type) {
    return s.lo >= type.lo && s.hi <= type.hi ? s : type;
}

static twi_span of_id(const twi_func *f, unsigned level, int64_t groups) {
    if (level == TWI_LV_GRID)
        return (twi_span){0, groups ? groups - 1 : INT64_MAX};
    uint32_t n = level == TWI_LV_SUB ? f->subs : f->lanes;
    return (twi_span){0, f->explicit_lanes || n == 0 ? 0 : (int64_t)n - 1};
}

static twi_span of_elementwise(const twi_lins *i, const twi_span *arg) {
    twi_span a = arg[0], b = arg[1];
    switch (i->op) {
    case TWI_ADD:
        return add(a, b);
    case TWI_SUB:
        return add(a, neg(b));
    case TWI_NEG:
        return neg(a);
    case TWI_MUL:
        return mul(a, b);
    case TWI_IDIV:
        return divided(a, b);
    case TWI_IMOD:
        return modulo(a, b);
    case TWI_ABS:
        return a.lo >= 0           ? a
               : a.lo == INT64_MIN ? TWI_SPAN_ALL
                                   : hull(hull(a, neg(a)), (twi_span){0, 0});
    case TWI_MIN:
        return (twi_span){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
    case TWI_MAX:
        return (twi_span){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
    case TWI_SELECT:
        return hull(b, arg[2]);
    case TWI_BAND:
        if (a.lo >= 0 || b.lo >= 0)
            return (twi_span){0, a.lo < 0 ? b.hi : b.lo < 0 ? a.hi : a.hi < b.hi ? a.hi : b.hi};
        return TWI_SPAN_ALL;
    case TWI_SHR:
        if (a.lo >= 0 && b.lo == b.hi && b.lo >= 0 && b.lo < 64)
            return (twi_span){a.lo >> b.lo, a.hi >> b.lo};
        return TWI_SPAN_ALL;
    case TWI_CAST:
        return a;
    default:
        return TWI_SPAN_ALL;
    }
}

bool twi_span_wraps(const twi_func *f, twi_lid v, const twi_span *arg) {
    const twi_lins *i = &f->ins.at[v];
    const twi_span s = of_elementwise(i, arg), type = of_elem(i->elem);
    return s.lo < type.lo || s.hi > type.hi;
}

int64_t twi_most_groups(const twi_loop *loop, uint32_t func) {
    int64_t most = 0;
    for (uint32_t e = 0; e < loop->entry.n; e++)
        for (uint32_t k = 0; k < loop->entry.at[e].recipe.n; k++) {
            const twi_step_do *s = &loop->entry.at[e].recipe.at[k];
            if (s->what == TWI_DO_LAUNCH && s->func == func && s->grid > most)
                most = s->grid;
        }
    return most;
}

twi_span twi_span_step(const twi_func *f, twi_lid v, const twi_span *arg, int64_t groups) {
    const twi_lins *i = &f->ins.at[v];
    twi_span type = of_elem(i->elem);
    if (i->op == TWI_CAST && twi_is_float((tw_elem)f->ins.at[twi_larg(f, v, 0)].elem))
        return type;
    if (twi_loop_elementwise(i->op))
        return twi_is_int((tw_elem)i->elem) && i->elem != TW_U64
                   ? inside(of_elementwise(i, arg), type)
                   : type;
    switch (i->op) {
    case TWI_L_FOR: {
        int64_t last = arg[1].hi == INT64_MIN ? INT64_MIN : arg[1].hi - 1;
        return (twi_span){arg[0].lo, last < arg[0].lo ? arg[0].lo : last};
    }
    case TWI_L_UNROLL:
        return (twi_span){0, i->attr ? (int64_t)i->attr - 1 : 0};
    case TWI_L_LCONST: {
        int64_t k = (int64_t)f->constant.at[i->attr];
        if (i->elem == TW_I32)
            k = (int32_t)(uint32_t)k;
        return i->elem == TW_I64 || i->elem == TW_I32 ? (twi_span){k, k} : type;
    }
    case TWI_L_ID:
        return of_id(f, i->attr, groups);
    case TWI_L_IOTA:
        return (twi_span){0, i->count ? i->count - 1 : 0};
    case TWI_L_TRIP:
        return TWI_SPAN_ALL;
    case TWI_L_SPLAT:
    case TWI_L_EXTRACT:
    case TWI_L_LANE_XOR:
    case TWI_L_LANE_READ:
    case TWI_L_LANE_SHIFT:
        return arg[0];
    default:
        return type;
    }
}

twi_span twi_span_of(const twi_func *f, twi_lid v, int depth) {
    const twi_lins *i = &f->ins.at[v];
    twi_span arg[3] = {TWI_SPAN_ALL, TWI_SPAN_ALL, TWI_SPAN_ALL};
    bool memory = twi_loop_accesses(i->op);
    for (unsigned k = 0; k < i->nargs && k < 3 && depth > 0 && !memory; k++)
        if (!twi_is_float((tw_elem)f->ins.at[twi_larg(f, v, k)].elem))
            arg[k] = twi_span_of(f, twi_larg(f, v, k), depth - 1);
    return twi_span_step(f, v, arg, 0);
}
