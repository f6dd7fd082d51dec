/* SPDX-License-Identifier: Apache-2.0
 * The loop IR builder as the walk uses it: operands of differing counts are splatted, instructions that really
 * arise are counted (the tally), index arithmetic is marked and left out of the count.
 */
#include "lower/walk.h"

unsigned
twi_w_count(const twi_lowering *w, twi_lid a)
{
    return twi_lins_of(w->c.f, a)->count;
}

/* Counts of the operands made equal; the count. */
static unsigned
even_out(twi_lowering *w, twi_lid *a, unsigned n)
{
    unsigned count = 1;
    for (unsigned k = 0; k < n; k++)
        if (a[k] && twi_w_count(w, a[k]) > count)
            count = twi_w_count(w, a[k]);
    for (unsigned k = 0; k < n; k++)
        if (a[k])
            a[k] = twi_w_splat(w, a[k], count);
    return count;
}

twi_lid
twi_w_splat(twi_lowering *w, twi_lid a, unsigned count)
{
    return twi_lb_splat(&w->c, a, count);
}

twi_lid
twi_w_op(twi_lowering *w, unsigned op, twi_lid a, twi_lid b, twi_lid d)
{
    twi_lid x[3] = {a, b, d};
    even_out(w, x, 3);
    uint32_t before = w->c.f->ins.n;
    twi_lid r = twi_lb_op(&w->c, op, x[0], x[1], x[2]);
    if (w->tally && w->c.f->ins.n > before && twi_lins_of(w->c.f, r)->op == op)
        w->tally->ops[twi_op_row(op)->price] += w->trips;
    return r;
}

twi_lid
twi_w_ix(twi_lowering *w, unsigned op, twi_lid a, twi_lid b)
{
    twi_lid x[2] = {a, b};
    even_out(w, x, 2);
    uint32_t before = w->c.f->ins.n, fold = w->c.fold;
    w->c.fold = 0;
    twi_lid r = twi_lb_op(&w->c, op, x[0], x[1], 0);
    w->c.fold = fold;
    for (uint32_t k = before; k < w->c.f->ins.n; k++)
        w->c.f->ins.at[k].flags |= TWI_FLAG_INDEX;
    return r;
}

twi_lid
twi_w_ix_select(twi_lowering *w, twi_lid condition, twi_lid a, twi_lid b)
{
    uint32_t before = w->c.f->ins.n;
    twi_lid r = twi_lb_op(&w->c, TWI_SELECT, condition, a, b);
    for (uint32_t k = before; k < w->c.f->ins.n; k++)
        w->c.f->ins.at[k].flags |= TWI_FLAG_INDEX;
    return r;
}

twi_lid
twi_w_cast(twi_lowering *w, tw_elem elem, twi_lid a)
{
    if (twi_lins_of(w->c.f, a)->elem == elem)
        return a;
    uint32_t before = w->c.f->ins.n;
    twi_lid r = twi_lb_cast(&w->c, elem, a);
    if (w->tally && w->c.f->ins.n > before && twi_lins_of(w->c.f, r)->op == TWI_CAST)
        w->tally->ops[TWI_PRICE_CHEAP] += w->trips;
    return r;
}

twi_lid
twi_w_const(twi_lowering *w, tw_elem elem, uint64_t bits, unsigned flags)
{
    return twi_lb_bits(&w->c, elem, bits, flags);
}

twi_lid
twi_w_int(twi_lowering *w, int64_t k)
{
    return twi_lb_i64(&w->c, k);
}

twi_lid
twi_w_lane_fold(twi_lowering *w, unsigned merge, twi_lid a, unsigned log_stride, unsigned log_extent)
{
    if (w->tally)
        w->tally->lane_rounds += w->trips * log_extent;
    return twi_lb_lane_fold(&w->c, merge, a, log_stride, log_extent);
}

twi_lid
twi_w_lane_xor(twi_lowering *w, twi_lid a, uint32_t mask)
{
    if (w->tally)
        w->tally->lane_rounds += w->trips;
    return twi_lb_lane_xor(&w->c, a, mask);
}

/* Elements of an object that an access of this count moves. */
static void
count_access(twi_lowering *w, const twi_laccess *a, unsigned count, bool store)
{
    if (!w->tally)
        return;
    const twi_object *o = &w->c.f->object.at[a->object];
    double bytes = w->trips * count * (double)tw_elem_size((tw_elem)o->elem);
    if (o->kind != TWI_OBJ_ARRAY) { /* private objects are meant for registers */
        w->tally->near_bytes += o->kind == TWI_OBJ_PRIVATE ? 0 : bytes;
        return;
    }
    (store ? w->tally->store_bytes : w->tally->load_bytes)[o->array] += bytes;
    (store ? w->tally->stores : w->tally->loads)[o->array] += w->trips;
}

twi_lid
twi_w_load(twi_lowering *w, twi_laccess access, const twi_lid *index, unsigned count, twi_lid mask, twi_lid other)
{
    count_access(w, &access, count, false);
    return twi_lb_load(&w->c, access, index, count, mask, other);
}

void
twi_w_store(twi_lowering *w, twi_laccess access, const twi_lid *index, twi_lid value, twi_lid mask)
{
    count_access(w, &access, twi_w_count(w, value), true);
    twi_lb_store(&w->c, access, index, value, mask);
}

static void
opened(twi_lowering *w, double trips)
{
    twi_push(w->arena, &w->open_trips, w->trips);
    w->trips *= trips;
}

twi_lid
twi_w_for(twi_lowering *w, twi_lid lo, twi_lid hi)
{
    double groups = (double)twi_plan_groups(w->plan);
    double trips = twi_estimate(w->c.f, hi, groups) - twi_estimate(w->c.f, lo, groups);
    twi_lid i = twi_lb_for(&w->c, lo, hi, 1);
    opened(w, trips > 0 ? trips : 0);
    if (w->tally)
        w->tally->trips += w->trips;
    return i;
}

twi_lid
twi_w_unroll(twi_lowering *w, uint32_t n)
{
    twi_lid i = twi_lb_unroll(&w->c, n);
    opened(w, n);
    return i;
}

void
twi_w_if(twi_lowering *w, twi_lid condition)
{
    twi_lb_if(&w->c, condition);
    opened(w, 1);
}

void
twi_w_close(twi_lowering *w)
{
    w->trips = w->open_trips.at[--w->open_trips.n];
    twi_lb_close(&w->c);
}
