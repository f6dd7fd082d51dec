/* SPDX-License-Identifier: Apache-2.0
 * What the lanes of one subgroup touch together (implicit lanes): the offsets of an access by lane,
 * where every other id and all trips are 0; from them sectors of far memory and turns of the banks
 * of shared memory.
 */
#include "loop/range.h"
#include "lower/walk.h"

#define MOST_LANES 64 /* wider subgroups are seen by their first lanes */
#define SECTOR 32     /* bytes that far memory moves at once */
#define BANK 4        /* bytes of one bank a turn */

typedef struct {
    bool same; /* at[0] is the value of all lanes */
    int64_t at[MOST_LANES];
} by_lane;

static int64_t apply(unsigned op, int64_t a, int64_t b) {
    switch (op) {
    case TWI_ADD:
        return a + b;
    case TWI_SUB:
        return a - b;
    case TWI_MUL:
        return a * b;
    case TWI_IDIV:
        return twi_floor_div(a, b);
    case TWI_IMOD:
        return twi_floor_mod(a, b);
    case TWI_MIN:
        return a < b ? a : b;
    case TWI_MAX:
        return a > b ? a : b;
    case TWI_BXOR:
        return a ^ b;
    case TWI_CAST:
        return a;
    default:
        return 0;
    }
}

/* An index by lane; what is loaded or varies with other ids and trips counts as 0. */
static void eval(const twi_func *f, twi_lid v, unsigned lanes, by_lane *out) {
    const twi_lins *i = &f->ins.at[v];
    out->same = true;
    out->at[0] = i->op == TWI_L_LCONST ? (int64_t)f->constant.at[i->attr] : 0;
    if (i->op == TWI_L_ID && i->attr == TWI_LV_LANE && lanes > 1) {
        out->same = false;
        for (unsigned l = 0; l < lanes; l++)
            out->at[l] = l;
    }
    if (i->op >= TWI_ELEMENTWISE_END || !i->nargs || i->nargs > 2)
        return;
    by_lane b = {.same = true};
    eval(f, f->args.at[i->arg], lanes, out);
    if (i->nargs > 1)
        eval(f, f->args.at[i->arg + 1], lanes, &b);
    bool same = out->same && b.same;
    for (unsigned l = 0; l < (same ? 1 : lanes); l++)
        out->at[l] = apply(i->op, out->at[out->same ? 0 : l], b.at[b.same ? 0 : l]);
    out->same = same;
}

static unsigned lanes_of(const twi_func *f) {
    return f->lanes < MOST_LANES ? f->lanes : MOST_LANES;
}

/* First byte of each lane's access; returns the lanes that differ: all, or 1. */
static unsigned offsets(const twi_func *f, const twi_touch *t, int64_t *out) {
    const twi_object *o = &f->object.at[t->access->object];
    int64_t size = (int64_t)tw_elem_size((tw_elem)o->elem);
    unsigned lanes = lanes_of(f);
    bool same = true;
    int64_t row[MOST_LANES] = {0};
    for (unsigned l = 0; l < lanes; l++)
        out[l] = 0;
    for (unsigned d = 0; d < o->rank; d++) {
        by_lane x;
        eval(f, t->index[d], lanes, &x);
        same = same && x.same;
        for (unsigned l = 0; l < lanes; l++) {
            int64_t k = x.at[x.same ? 0 : l];
            if (d + 1u == o->rank)
                k = twi_swizzle_at(o->swizzle, size, row[l], k);
            out[l] += k * o->stride[d] * size;
            row[l] = k;
        }
    }
    return same ? 1 : lanes;
}

/* Sectors under the lanes' accesses. Neighbours come in order nearly always. */
double twi_access_sectors(const twi_func *f, const twi_touch *t) {
    int64_t first[MOST_LANES] = {0}, found[MOST_LANES * 4];
    unsigned lanes = offsets(f, t, first), n = 0;
    int64_t elem = (int64_t)tw_elem_size((tw_elem)f->object.at[t->access->object].elem);
    for (unsigned l = 0; l < lanes; l++) {
        int64_t last = twi_floor_div(first[l] + elem * t->count - 1, SECTOR);
        for (int64_t u = twi_floor_div(first[l], SECTOR); u <= last; u++) {
            bool seen = false;
            for (unsigned k = n; k-- > 0 && !seen;)
                seen = found[k] == u;
            if (!seen && n < MOST_LANES * 4)
                found[n++] = u;
        }
    }
    return n;
}

/* Turns of the banks that the accesses of a run of lanes take together: as many as one bank has
 * words of them. */
static unsigned turns_of(const int64_t *first, unsigned lanes, int64_t bytes, unsigned banks) {
    int64_t word[MOST_LANES][MOST_LANES * 2];
    unsigned turns[MOST_LANES] = {0}, most = 1;
    for (unsigned l = 0; l < lanes; l++) {
        const int64_t last = twi_floor_div(first[l] + bytes - 1, BANK);
        for (int64_t u = twi_floor_div(first[l], BANK); u <= last; u++) {
            unsigned bank = (unsigned)((uint64_t)u % banks), k = 0;
            while (k < turns[bank] && word[bank][k] != u)
                k++;
            if (k < turns[bank] || k == MOST_LANES * 2)
                continue;
            word[bank][turns[bank]++] = u;
            most = turns[bank] > most ? turns[bank] : most;
        }
    }
    return most;
}

/* Does each lane read what the one beside it reads, by a bit of their numbers? */
static bool paired(const int64_t *first, unsigned lanes, unsigned bit) {
    for (unsigned l = 0; l < lanes; l++)
        if ((l ^ bit) >= lanes || first[l] != first[l ^ bit])
            return false;
    return true;
}

/* Wider accesses than a bank's go by as many lanes as fill all banks once; two such runs go
 * together where neighbours by the lowest or the next bit of their numbers read the same (reported
 * of NVIDIA's shared memory by others' microbenchmarks). */
double twi_access_turns(const twi_func *f, const twi_touch *t) {
    int64_t first[MOST_LANES] = {0};
    const unsigned banks = lanes_of(f), lanes = offsets(f, t, first);
    const int64_t elem = (int64_t)tw_elem_size((tw_elem)f->object.at[t->access->object].elem);
    const int64_t bytes = elem * t->count;
    const unsigned run = bytes > BANK ? (unsigned)(banks * BANK / bytes) : lanes;
    unsigned turns = 0;
    if (run == 0 || run >= lanes)
        return turns_of(first, lanes, bytes, banks);
    for (unsigned l = 0; l < lanes; l += 2 * run) {
        const unsigned both = lanes - l < 2 * run ? lanes - l : 2 * run;
        const bool together = paired(first + l, both, 1) || paired(first + l, both, 2);
        if (together || both <= run)
            turns += turns_of(first + l, both, bytes, banks);
        else
            turns += turns_of(first + l, run, bytes, banks) +
                     turns_of(first + l + run, both - run, bytes, banks);
    }
    return turns;
}
