/* SPDX-License-Identifier: Apache-2.0
 * Questions that a plan answers by itself. Holds: places are sorted by value; a frame that does not
 * map an axis has no digits for it.
 */
#include "plan/plan.h"
#include "plan/words.h"

/* Frames and stages are whole when they are added. Those that are not there are most of the bytes,
 * so that they are left as they are; where asserts are on, as what they never should be. */
twi_plan *twi_plan_new(twi_arena *arena) { return TWI_NEW(arena, twi_plan); }

twi_frame twi_frame_new(twi_arena *arena, twi_sym name, unsigned ids) {
    return (twi_frame){.name = name, .map = TWI_NEW_N(arena, twi_map, ids), .ids = (uint8_t)ids};
}

twi_frame twi_frame_copy(twi_arena *arena, const twi_frame *from) {
    twi_frame f = *from;
    f.map = twi_copy(arena, from->map, from->ids * sizeof *from->map);
    return f;
}

void twi_stage_add_copy(twi_arena *arena, twi_stage_plan *s, unsigned ids) {
    s->copy = TWI_NEW_N(arena, twi_map, ids);
    s->ids = (uint8_t)ids;
}

void twi_plan_copy(twi_arena *arena, twi_plan *to, const twi_plan *from) {
    *to = *from;
    for (unsigned f = 0; f < from->frames; f++)
        to->frame[f] = twi_frame_copy(arena, &from->frame[f]);
    for (unsigned s = 0; s < from->stages; s++)
        to->stage[s].copy =
            twi_copy(arena, from->stage[s].copy, from->stage[s].ids * sizeof(twi_map));
    to->place.cap = to->place.n;
    to->place.at = twi_copy(arena, from->place.at, from->place.n * sizeof *from->place.at);
    to->entry.cap = to->entry.n;
    to->entry.at = twi_copy(arena, from->entry.at, from->entry.n * sizeof *from->entry.at);
}

const twi_place *twi_plan_place(const twi_plan *p, twi_id value) {
    uint32_t low = 0, high = p->place.n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (p->place.at[mid].value < value)
            low = mid + 1;
        else
            high = mid;
    }
    return low < p->place.n && p->place.at[low].value == value ? &p->place.at[low] : NULL;
}

twi_place *twi_plan_set_place(twi_arena *arena, twi_plan *p, twi_id value) {
    const twi_place *found = twi_plan_place(p, value);
    if (found)
        return &p->place.at[found - p->place.at];
    uint32_t at = p->place.n;
    twi_push(arena, &p->place, (twi_place){.value = value});
    for (; at > 0 && p->place.at[at - 1].value > value; at--) {
        p->place.at[at] = p->place.at[at - 1];
        p->place.at[at - 1] = (twi_place){.value = value};
    }
    return &p->place.at[at];
}

const twi_map *twi_plan_map(const twi_plan *p, unsigned frame, unsigned axis) {
    if (frame >= p->frames || axis >= TWI_MAX_AXES || !(p->frame[frame].axes >> axis & 1))
        return NULL;
    return &p->frame[frame].map[axis];
}

/* Ids of a level that the digits of these maps need. */
static int64_t span_of(const twi_map *maps, unsigned ids, uint64_t axes, unsigned level) {
    int64_t most = 1;
    for (unsigned a = 1; a < ids; a++)
        for (unsigned i = 0; (axes >> a & 1) && i < maps[a].n; i++) {
            const twi_digit *d = &maps[a].d[i];
            if (d->level != level)
                continue;
            int64_t end =
                d->extent > UINT32_MAX / UINT16_MAX ? UINT32_MAX : twi_digit_stride(d) * d->extent;
            most = end > most ? end : most;
        }
    return most;
}

static uint32_t level_span(const twi_plan *p, unsigned level) {
    int64_t most = 1;
    for (unsigned f = 0; f < p->frames; f++) {
        int64_t here = span_of(p->frame[f].map, p->frame[f].ids, p->frame[f].axes, level);
        most = here > most ? here : most;
    }
    for (unsigned s = 0; s < p->stages; s++) {
        int64_t here = span_of(p->stage[s].copy, p->stage[s].ids, p->stage[s].copy_axes, level);
        most = here > most ? here : most;
    }
    return most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
}

uint32_t twi_plan_lanes(const twi_plan *p) { return level_span(p, TWI_LV_LANE); }

uint32_t twi_plan_subs(const twi_plan *p) { return level_span(p, TWI_LV_SUB); }

int64_t twi_plan_groups(const twi_plan *p) {
    int64_t all = twi_plan_blocks(p);
    return p->persistent && p->persistent < all ? p->persistent : all;
}

int64_t twi_plan_blocks(const twi_plan *p) {
    int64_t groups = 1;
    uint64_t done = 0;
    for (unsigned f = 0; f < p->frames; f++)
        for (unsigned a = 1; a < p->frame[f].ids; a++) {
            if (!(p->frame[f].axes >> a & 1) || (done >> a & 1))
                continue;
            done |= UINT64_C(1) << a;
            int64_t grid = twi_map_level_extent(&p->frame[f].map[a], TWI_LV_GRID);
            groups = grid && groups > INT64_MAX / grid ? INT64_MAX : groups * grid;
        }
    return groups;
}

/* Loops in the order of a frame that says nothing: by axis, most significant digit first. */
void twi_frame_default_order(twi_frame *f) {
    f->loops = 0;
    for (unsigned a = 1; a < f->ids; a++)
        for (unsigned i = 0; (f->axes >> a & 1) && i < f->map[a].n; i++)
            if (f->map[a].d[i].level == TWI_LV_LOOP && f->loops < TWI_MAX_LOOPS)
                f->order[f->loops++] = (twi_axis_digit){(uint8_t)a, (uint8_t)i};
}

const char *const twi_plan_words[TWI_WORD_SETS][TWI_MAX_WORDS] = {
    [TWI_WORDS_KEEP] = {[TWI_KEEP_STRIPE] = "stripe",
                        [TWI_KEEP_SHARED] = "shared",
                        [TWI_KEEP_SCRATCH] = "scratch"},
    [TWI_WORDS_FOLD] = {[TWI_FOLD_WEIGHT] = "weight"},
    [TWI_WORDS_ATOM] =
        {
#define TWI_ATOM(NAME, spelling, k, elem, sum, flushes, ops, caps) [TWI_ATOM_##NAME] = spelling,
#include "plan/atom.def"
#undef TWI_ATOM
        },
    [TWI_WORDS_VIA] = {[TWI_TO_RENAME] = "rename",
                       [TWI_TO_PRIVATE] = "private",
                       [TWI_TO_LANES] = "lanes",
                       [TWI_TO_SHARED] = "shared"},
    [TWI_WORDS_GROUPS] =
        {[TWI_GROUPS_COLS] = "cols", [TWI_GROUPS_BAND] = "band", [TWI_GROUPS_HILBERT] = "hilbert"},
    [TWI_WORDS_COPY] = {[TWI_VIA_REGS] = "regs", [TWI_VIA_ASYNC] = "async"},
    [TWI_WORDS_CLASS] =
        {[TWI_ORDER_FREE] = "free", [TWI_ORDER_TREE] = "tree", [TWI_ORDER_CANONICAL] = "canonical"},
};

bool twi_stage_trip(const tw_ir *ir, const twi_frame *f, const twi_stage_plan *s,
                    twi_axis_digit *out) {
    const uint64_t axes = twi_ins_of(ir, s->value)->type.axes;
    for (unsigned a = ir->axis.n; a-- > 1;)
        for (unsigned d = 0; (axes >> a & 1) && d < f->map[a].n; d++)
            if (f->map[a].d[d].level == TWI_LV_SERIAL) {
                *out = (twi_axis_digit){(uint8_t)a, (uint8_t)d};
                return true;
            }
    return false;
}

unsigned twi_stage_lead(const twi_stage_plan *s) {
    return s->via == TWI_VIA_SYNC ? 0 : s->via == TWI_VIA_REGS ? 1 : s->window - 1u;
}

bool twi_frame_is_around(const twi_frame *f, unsigned axis, unsigned digit) {
    for (unsigned k = 0; k < f->around; k++)
        if (f->order[k].axis == axis && f->order[k].digit == digit)
            return true;
    return false;
}
