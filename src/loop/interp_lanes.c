/* SPDX-License-Identifier: Apache-2.0
 * Vectors and lanes. The same operation acts inside a vector (explicit lanes) or between the
 * workers of a subgroup (implicit lanes).
 */
#include "loop/eval.h"
#include "loop/interp_run.h"
#include "loop/scalar.h"

/* A lane operation needs all lanes of every subgroup that takes part. */
static void together(twi_run *run, twi_lid v) {
    if (run->full)
        return;
    for (uint32_t s = 0; s < run->subs; s++) {
        uint32_t n = 0;
        for (uint32_t l = 0; l < run->lanes; l++)
            n += run->mask[s * run->lanes + l];
        if (n && n < run->lanes)
            twi_run_fault(run, TWI_FAULT_DIVERGED, v,
                          "%s with only %u of %u lanes of subgroup %u active",
                          twi_loop_op_name(run->f->ins.at[v].op), n, run->lanes, s);
    }
}

/* Lane l of a subgroup (element of a vector) takes x of lane l ^ mask. */
static void exchange(const twi_run *run, const unsigned char *x, unsigned char *to, size_t size,
                     uint32_t count, uint32_t mask) {
    if (run->f->explicit_lanes) {
        for (uint32_t e = 0; e < count; e++)
            memcpy(to + e * size, x + ((e ^ mask) < count ? e ^ mask : e) * size, size);
        return;
    }
    size_t all = size * count;
    for (uint32_t w = 0; w < run->workers; w++) {
        uint32_t lane = w % run->lanes, other = lane ^ mask;
        memcpy(to + w * all, x + (other < run->lanes ? w - lane + other : w) * all, all);
    }
}

/* The lower lane's value stands left in every combination, so all lanes get the same bits. */
static void in_order(const twi_run *run, unsigned char *x, unsigned char *y, size_t size,
                     uint32_t count, uint32_t bit) {
    unsigned char swap[8];
    for (size_t k = 0; k < (size_t)run->workers * count; k++) {
        size_t lane = run->f->explicit_lanes ? k : k / count % run->lanes;
        if (lane & bit) {
            memcpy(swap, x + k * size, size);
            memcpy(x + k * size, y + k * size, size);
            memcpy(y + k * size, swap, size);
        }
    }
}

static void fold(twi_run *run, twi_lid v) {
    const twi_lins *i = &run->f->ins.at[v];
    const twi_lins *a = &run->f->ins.at[twi_larg(run->f, v, 0)];
    unsigned merge = i->attr & 255u, log_stride = i->attr >> 8 & 255u, rounds = i->attr >> 16;
    size_t size = twi_run_width(run, v), n = (size_t)run->workers * a->count;
    twi_mark mark = twi_arena_mark(run->arena);
    unsigned char *x = twi_copy(run->arena, twi_run_arg(run, v, 0), n * size);
    unsigned char *y = twi_alloc_n(run->arena, n, size);
    const twi_rows rows = {x, x, y, NULL, n};
    for (unsigned round = 0; round < rounds; round++) {
        uint32_t bit = 1u << (log_stride + round);
        exchange(run, x, y, size, a->count, bit);
        in_order(run, x, y, size, a->count, bit);
        if (!twi_eval(merge, (tw_elem)i->elem, (tw_elem)i->elem, &rows))
            twi_run_fault(run, TWI_FAULT_OUTSIDE, v, "no meaning of lane_fold %s on %s",
                          twi_loop_op_name(merge), tw_elem_name((tw_elem)i->elem));
    }
    memcpy(run->value[v], x, size * run->workers * i->count);
    uint64_t subgroups = run->f->explicit_lanes ? 1 : (run->active + run->lanes - 1) / run->lanes;
    run->result->counts.lane_rounds += rounds * subgroups;
    if (run->shadow[v])
        twi_run_depth_lanes(run, v);
    twi_arena_reset(run->arena, mark);
}

size_t twi_run_shifted(const twi_run *run, uint32_t w, uint32_t e, size_t count, int32_t by) {
    bool vector = run->f->explicit_lanes;
    int64_t lane = vector ? e : w % run->lanes, n = vector ? (int64_t)count : run->lanes;
    int64_t from = lane - by >= 0 && lane - by < n ? lane - by : lane;
    return vector ? (size_t)from : (size_t)(w - lane + from) * count + e;
}

static void shift(twi_run *run, twi_lid v) {
    const twi_lins *i = &run->f->ins.at[v];
    const unsigned char *x = twi_run_arg(run, v, 0);
    unsigned char *to = run->value[v];
    size_t size = twi_run_width(run, v);
    run->result->counts.lane_rounds++;
    for (uint32_t w = 0; w < run->workers; w++)
        for (uint32_t e = 0; e < i->count; e++) {
            size_t from = twi_run_shifted(run, w, e, i->count, (int32_t)i->attr);
            memcpy(to + (w * (size_t)i->count + e) * size, x + from * size, size);
        }
}

static void read_lane(twi_run *run, twi_lid v) {
    const twi_lins *i = &run->f->ins.at[v];
    const twi_lins *a = &run->f->ins.at[twi_larg(run->f, v, 0)];
    const unsigned char *x = twi_run_arg(run, v, 0);
    unsigned char *to = run->value[v];
    size_t size = twi_run_width(run, v);
    int64_t n = run->f->explicit_lanes ? a->count : run->lanes;
    run->result->counts.lane_rounds++;
    for (uint32_t w = 0; w < run->workers; w++) {
        int64_t from = twi_run_index(run, twi_larg(run->f, v, 1), w);
        if (!run->mask[w])
            continue;
        if (from < 0 || from >= n) {
            twi_run_fault(run, TWI_FAULT_OUTSIDE, v, "worker %u reads lane %lld of %lld", w,
                          (long long)from, (long long)n);
            continue;
        }
        if (run->f->explicit_lanes)
            memcpy(to, x + (size_t)from * size, size);
        else
            memcpy(to + w * size * i->count,
                   x + ((size_t)(w - w % run->lanes) + (size_t)from) * size * a->count,
                   size * i->count);
    }
}

static void vector(twi_run *run, twi_lid v) {
    const twi_lins *i = &run->f->ins.at[v];
    unsigned char *to = run->value[v];
    size_t size = twi_run_width(run, v);
    for (uint32_t w = 0; w < run->workers; w++)
        for (uint32_t e = 0; e < i->count; e++) {
            uint32_t k = i->op == TWI_L_PACK ? e : 0;
            size_t from = i->op == TWI_L_EXTRACT ? i->attr : 0;
            if (i->op == TWI_L_PERMUTE) {
                from = (size_t)run->f->ints.at[i->attr + e];
                size_t first = run->f->ins.at[twi_larg(run->f, v, 0)].count;
                k = from >= first;
                from -= k ? first : 0;
            }
            size_t count = run->f->ins.at[twi_larg(run->f, v, k)].count;
            const unsigned char *x = twi_run_arg(run, v, k);
            memcpy(to + (w * (size_t)i->count + e) * size, x + (w * count + from) * size, size);
        }
}

/* One worker has all lanes: dots stand on explicit ones alone. */
static void dots_of_bytes(const twi_lins *i, const int8_t *a, const int8_t *b, const uint32_t *c,
                          uint32_t *to) {
    for (uint32_t l = 0; l < i->count; l++) {
        to[l] = c[l];
        for (uint32_t k = 0; k < 4; k++)
            to[l] += (uint32_t)(a[k] * b[4 * l + k]);
    }
}

static void dots_of_halves(const twi_lins *i, const uint16_t *a, const uint16_t *b, const float *c,
                           float *to) {
    for (uint32_t l = 0; l < i->count; l++) {
        to[l] = c[l];
        for (uint32_t k = 2; k-- > 0;)
            to[l] = twi_f32_dot_step(twi_f32_of_bf16(a[k]), twi_f32_of_bf16(b[2 * l + k]), to[l]);
    }
}

static void dots_of_rows(const twi_lins *i, const uint16_t *a, const uint16_t *b, const float *c,
                         float *to) {
    for (uint32_t l = 0; l < i->count; l++) {
        float sum[2] = {0, 0};
        for (uint32_t k = 0; k < 32; k++)
            sum[k % 2] = twi_f32_dot_step(twi_f32_of_bf16(a[k]),
                                          twi_f32_of_bf16(b[k / 2 * 2 * i->count + 2 * l + k % 2]),
                                          sum[k % 2]);
        to[l] = twi_f32_dot_step(1, c[l], twi_f32_dot_step(1, sum[0], sum[1]));
    }
}

static void dots(twi_run *run, twi_lid v) {
    const twi_lins *i = &run->f->ins.at[v];
    const bool rows = run->f->ins.at[twi_larg(run->f, v, 0)].count == 32;
    const void *a = twi_run_arg(run, v, 0), *b = twi_run_arg(run, v, 1),
               *c = twi_run_arg(run, v, 2);
    if (i->elem == TW_I32)
        dots_of_bytes(i, a, b, c, run->value[v]);
    else
        (rows ? dots_of_rows : dots_of_halves)(i, a, b, c, run->value[v]);
}

bool twi_run_lanes(twi_run *run, twi_lid v) {
    const twi_lins *i = &run->f->ins.at[v];
    switch (i->op) {
    case TWI_L_SPLAT:
    case TWI_L_EXTRACT:
    case TWI_L_PACK:
    case TWI_L_PERMUTE:
        vector(run, v);
        break;
    case TWI_L_DOTS:
        dots(run, v);
        break;
    case TWI_L_LANE_FOLD:
        together(run, v);
        fold(run, v);
        return true;
    case TWI_L_LANE_XOR:
        together(run, v);
        run->result->counts.lane_rounds++;
        exchange(run, twi_run_arg(run, v, 0), run->value[v], twi_run_width(run, v), i->count,
                 i->attr);
        break;
    case TWI_L_LANE_READ:
        together(run, v);
        read_lane(run, v);
        break;
    case TWI_L_LANE_SHIFT:
        together(run, v);
        shift(run, v);
        break;
    default:
        return false;
    }
    if (run->shadow[v])
        twi_run_depth_lanes(run, v);
    return true;
}
