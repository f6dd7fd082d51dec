/* SPDX-License-Identifier: Apache-2.0
 * What the code of a shape needs: steps, temporaries, scratch memory; and which of its entries can
 * run on dense arrays at all.
 */
#include "export/export.h"

static uint64_t aligned(uint64_t n) { return (n + 63) & ~UINT64_C(63); }

uint64_t twi_export_bytes(const twi_loop *loop, uint32_t array) {
    const twi_larray *a = &loop->array.at[array];
    uint64_t n = tw_elem_size((tw_elem)a->elem);
    for (unsigned d = 0; d < a->rank; d++)
        n *= (uint64_t)a->extent[d];
    return n;
}

uint32_t twi_export_end(const twi_entry *entry, uint32_t at) {
    unsigned depth = 0;
    for (; at < entry->recipe.n; at++) {
        depth += entry->recipe.at[at].what == TWI_DO_LOOP;
        if (entry->recipe.at[at].what == TWI_DO_END && --depth == 0)
            break;
    }
    return at;
}

uint32_t twi_export_fills(const twi_entry *entry, uint32_t from, uint32_t to) {
    while (from < to && entry->recipe.at[from].what == TWI_DO_FILL)
        from++;
    return from;
}

int64_t twi_export_steps(const twi_entry *entry, uint32_t from, uint32_t to) {
    int64_t n = 0;
    for (uint32_t i = from; i < to; i++) {
        const twi_step_do *step = &entry->recipe.at[i];
        if (step->what == TWI_DO_LOOP) {
            const uint32_t end = twi_export_end(entry, i);
            const int64_t trips = step->hi > step->lo ? step->hi - step->lo : 0;
            n += trips * twi_export_steps(entry, i + 1, end);
            i = end;
            continue;
        }
        n++;
        if (step->what == TWI_DO_FILL)
            i = twi_export_fills(entry, i, to) - 1;
    }
    return n;
}

/* Strides that an entry promises to be aligned are known: the array is dense. */
static bool can_hold(const twi_loop *loop, const twi_entry *entry) {
    for (uint32_t a = 1; a < entry->align.n && a < loop->array.n; a++) {
        const twi_larray *array = &loop->array.at[a];
        const int64_t size = (int64_t)tw_elem_size((tw_elem)array->elem);
        int64_t stride = size;
        for (unsigned d = array->rank; d-- > 0 && entry->align.at[a] > 1;) {
            if (array->extent[d] > 1 && stride != size && stride % (int64_t)entry->align.at[a] != 0)
                return false;
            stride *= array->extent[d];
        }
    }
    return true;
}

void twi_export_measure(twi_arena *arena, const twi_loop *loop, twi_export_shape *s) {
    const twi_entry *entry = &loop->entry.at[0];
    s->entries = 1;
    for (uint32_t e = 1; e < loop->entry.n && e < 32; e++)
        if (can_hold(loop, &loop->entry.at[e]))
            s->entries |= 1u << e;
    s->steps = twi_export_steps(entry, 0, entry->recipe.n) + (loop->status != 0);
    s->temp = TWI_NEW_N(arena, uint64_t, loop->array.n + 1);
    s->shared_bytes = s->share_bytes = 0;
    for (uint32_t a = 1; a < loop->array.n; a++)
        if (loop->array.at[a].role == TWI_TEMP) {
            s->temp[a] = s->shared_bytes;
            s->shared_bytes = aligned(s->shared_bytes + twi_export_bytes(loop, a));
        }
    for (uint32_t f = 0; f < loop->func.n; f++) {
        const uint64_t scratch = aligned(twi_emit_scratch(&loop->func.at[f]));
        s->share_bytes = scratch > s->share_bytes ? scratch : s->share_bytes;
    }
}
