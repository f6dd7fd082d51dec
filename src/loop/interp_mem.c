/* SPDX-License-Identifier: Apache-2.0
 * Loads and stores, element by element where anybody watches: bounds, what was never written, races
 * between workers, outputs stored twice or never. An access is allowed to touch an element if it
 * was ordered after the last conflicting one: by the same worker, by a barrier that both took part
 * in (the subgroup's or the group's), or by a launch in between. What an asynchronous copy writes
 * is written when its batch has been waited for, and nobody may touch it before.
 */
#include "loop/eval.h"
#include "loop/interp_run.h"

/* One access under way. */
typedef struct {
    twi_run *run;
    twi_lid v;
    const twi_lins *ins;
    const twi_laccess *access;
    const twi_object *object;
    twi_store *store;
    bool write;
    uint32_t count; /* elements of the access; of them `inside` in each index */
    uint32_t steps; /* indices: count, or 1 where the object's own count is taken whole */
    twi_lid index[TWI_MAX_RANK], number; /* number: a COUNT mask */
    bool vector[TWI_MAX_RANK];
    bool gathers;
} access;

/* ---- conflicts ---- */

/* Was what `other` did at `time` ordered before what worker w does now? Workers of this group. */
static bool ordered(const twi_run *run, uint32_t other, uint32_t time, uint32_t w) {
    if (other == w || time < run->group_time)
        return true;
    uint32_t sub = w / run->lanes;
    return other / run->lanes == sub && time < run->sub_time[sub];
}

/* Arrays are touched by all groups of a launch: who = group * workers + worker. */
static bool array_ordered(const twi_run *run, uint32_t who, uint32_t time, uint32_t w) {
    if (time < run->launch_time)
        return true;
    uint32_t me = (uint32_t)run->group * run->workers;
    if (who < me || who >= me + run->workers)
        return false;
    return ordered(run, who - me, time, w);
}

static bool settled(const access *a, uint32_t who, uint32_t time, uint32_t w) {
    return a->object->kind == TWI_OBJ_ARRAY ? array_ordered(a->run, who, time, w)
                                            : ordered(a->run, who, time, w);
}

#define UNDER_WAY UINT32_MAX /* no enumerator in ISO C: they are int */

/* When what its writer left there was there, of this group's. */
static uint32_t written(const access *a, const twi_cell *c) {
    const twi_async *s = c->batch ? &a->run->async[c->writer - 1] : NULL;
    if (!s)
        return c->written;
    const uint32_t old = s->waited > TWI_BATCHES ? s->waited - TWI_BATCHES + 1 : 1;
    return c->batch > s->waited ? UNDER_WAY
                                : s->when[(c->batch > old ? c->batch : old) % TWI_BATCHES];
}

void twi_run_async_wait(twi_run *run, uint32_t under_way) {
    for (uint32_t w = 0; w < run->workers; w++) {
        twi_async *s = &run->async[w];
        while (run->mask[w] && s->waited + under_way < s->committed)
            s->when[++s->waited % TWI_BATCHES] = run->clock;
    }
}

static const char *spelled(twi_arena *arena, const char *name, const twi_object *o, int64_t k) {
    twi_sb text;
    twi_sb_init(&text, arena);
    twi_sb_printf(&text, "%s[", name);
    int64_t at[TWI_MAX_RANK];
    for (unsigned d = o->rank; d-- > 0;) {
        int64_t extent = o->extent[d] > 0 ? o->extent[d] : 1;
        at[d] = k % extent;
        k /= extent;
    }
    for (unsigned d = 0; d < o->rank; d++)
        twi_sb_printf(&text, d ? ", %lld" : "%lld", (long long)at[d]);
    twi_sb_char(&text, ']');
    return twi_sb_text(&text);
}

static const char *element(const access *a, int64_t k) {
    return spelled(a->run->arena, twi_run_name(a->run, a->access->object), a->object, k);
}

/* This worker's number among all of the launch (arrays) or of the group. */
static uint32_t number(const access *a, uint32_t w) {
    return a->object->kind == TWI_OBJ_ARRAY ? (uint32_t)a->run->group * a->run->workers + w : w;
}

/* Are the recorded reads ordered before what worker w does now, whoever of them it was? Its own
 * reads do not count, and where a set is kept by its subgroup, nor do they there. */
static bool reads_settled(const access *a, const twi_cell *c, uint32_t w) {
    const twi_run *run = a->run;
    bool array = a->object->kind == TWI_OBJ_ARRAY;
    uint32_t me = number(a, w);
    if (c->readers == TWI_READERS_NONE || c->read < (array ? run->launch_time : run->group_time))
        return true;
    if (c->readers == TWI_READERS_ONE)
        return settled(a, c->reader, c->read, w);
    if (c->readers == TWI_READERS_GROUPS || c->reader / run->workers != me / run->workers)
        return false;
    if (c->read < run->group_time)
        return true;
    uint32_t sub = w / run->lanes;
    return c->readers == TWI_READERS_SUBGROUP && c->reader % run->workers / run->lanes == sub &&
           c->read < run->sub_time[sub];
}

static void add_reader(const access *a, twi_cell *c, uint32_t w) {
    const twi_run *run = a->run;
    uint32_t me = number(a, w);
    bool self = c->readers == TWI_READERS_ONE && c->reader == me;
    if (reads_settled(a, c, w)) {
        c->readers = TWI_READERS_ONE;
    } else if (!self) {
        uint8_t kind = c->reader / run->workers != me / run->workers ? TWI_READERS_GROUPS
                       : c->reader / run->lanes != me / run->lanes   ? TWI_READERS_MANY
                                                                     : TWI_READERS_SUBGROUP;
        c->readers = c->readers > kind ? c->readers : kind;
    }
    c->reader = me;
    c->read = run->clock;
}

/* Only the first fault is told: nothing is spelled out for others. */
static bool told(const twi_run *run) { return run->result->fault.kind != TWI_FAULT_NONE; }

static const char *line_of(const twi_run *run, twi_lid v) {
    twi_sb text;
    twi_sb_init(&text, run->arena);
    twi_loop_show(run->loop, run->func, v, &text);
    return twi_sb_text(&text);
}

static void still_copied(const access *a, const twi_cell *c, int64_t k, uint32_t w) {
    twi_run *run = a->run;
    twi_run_fault(
        run, TWI_FAULT_RACE, a->v,
        "worker %u of group %lld %s %s, which worker %u copies and has not waited for: %s", w,
        (long long)run->group, a->write ? "writes" : "reads", element(a, k),
        (c->writer - 1) % run->workers, line_of(run, c->write_at));
}

static void watch_read(const access *a, twi_cell *c, int64_t k, uint32_t w) {
    twi_run *run = a->run;
    bool array = a->object->kind == TWI_OBJ_ARRAY;
    bool fresh = c->writer && (array || c->written >= run->shared_time);
    if (!fresh && !told(run))
        twi_run_fault(run, TWI_FAULT_UNWRITTEN, a->v,
                      "worker %u of group %lld reads %s, never written", w, (long long)run->group,
                      element(a, k));
    else if (fresh && written(a, c) == UNDER_WAY && !told(run))
        still_copied(a, c, k, w);
    else if (fresh && c->writer != TWI_FILLER && !settled(a, c->writer - 1, written(a, c), w) &&
             !told(run))
        twi_run_fault(run, TWI_FAULT_RACE, a->v,
                      "worker %u of group %lld reads %s, written by worker %u without a barrier in "
                      "between: %s",
                      w, (long long)run->group, element(a, k), (c->writer - 1) % run->workers,
                      line_of(run, c->write_at));
    add_reader(a, c, w);
}

static void judge_write(const access *a, const twi_cell *c, int64_t k, uint32_t w) {
    twi_run *run = a->run;
    bool array = a->object->kind == TWI_OBJ_ARRAY;
    bool other = c->writer && c->writer != TWI_FILLER && c->writer - 1 != number(a, w) &&
                 !(c->merged && a->access->merge);
    if (array && a->object->role != TWI_TEMP && other && c->written >= run->launch_time)
        twi_run_fault(run, TWI_FAULT_TWICE, a->v,
                      "%s is stored by worker %u of group %lld and before by worker %u of group "
                      "%u: %s",
                      element(a, k), w, (long long)run->group, (c->writer - 1) % run->workers,
                      (c->writer - 1) / run->workers, line_of(run, c->write_at));
    else if (!array && c->writer && c->written >= run->shared_time && written(a, c) == UNDER_WAY)
        still_copied(a, c, k, w);
    else if (other && (array || c->written >= run->shared_time) &&
             !settled(a, c->writer - 1, written(a, c), w))
        twi_run_fault(run, TWI_FAULT_RACE, a->v,
                      "worker %u of group %lld writes %s, written by worker %u without a barrier "
                      "in between: %s",
                      w, (long long)run->group, element(a, k), (c->writer - 1) % run->workers,
                      line_of(run, c->write_at));
    else if (!reads_settled(a, c, w))
        twi_run_fault(run, TWI_FAULT_RACE, a->v,
                      "worker %u of group %lld writes %s, read by worker %u without a barrier in "
                      "between",
                      w, (long long)run->group, element(a, k), c->reader % run->workers);
}

static void watch_write(const access *a, twi_cell *c, int64_t k, uint32_t w) {
    if (a->access->merge && !c->writer && !told(a->run))
        twi_run_fault(a->run, TWI_FAULT_UNWRITTEN, a->v,
                      "worker %u of group %lld merges into %s, never written", w,
                      (long long)a->run->group, element(a, k));
    if (!told(a->run))
        judge_write(a, c, k, w);
    c->writer = number(a, w) + 1;
    c->written = a->run->clock;
    c->write_at = a->v;
    c->merged = a->access->merge != 0;
    c->batch = a->ins->op == TWI_L_ASYNC_COPY ? a->run->async[w].committed + 1 : 0;
    c->readers = TWI_READERS_NONE;
}

/* k: dense element of the object. */
static void watch(const access *a, int64_t k, uint32_t w) {
    twi_store *s = a->store;
    if (s->cell) {
        if (a->write)
            watch_write(a, &s->cell[k], k, w);
        else
            watch_read(a, &s->cell[k], k, w);
    } else if (s->serial) {
        uint32_t *serial = &s->serial[(size_t)w * (size_t)s->size + (size_t)k];
        if (a->write)
            *serial = a->run->serial;
        else if (*serial != a->run->serial && !told(a->run))
            twi_run_fault(a->run, TWI_FAULT_UNWRITTEN, a->v,
                          "worker %u of group %lld reads %s of its own, never written", w,
                          (long long)a->run->group, element(a, k));
    }
}

/* ---- addresses ---- */

static int64_t index_of(const access *a, unsigned d, uint32_t w, uint32_t e) {
    if (a->vector[d])
        return twi_run_index(a->run, a->index[d], (size_t)w * a->count + e);
    int64_t k = twi_run_index(a->run, a->index[d], w);
    return !a->gathers && a->steps > 1 && d == a->access->dim ? (int64_t)((uint64_t)k + e) : k;
}

/* Where step e of worker w is: dense element and laid-out offset. False: outside. */
static bool address(const access *a, uint32_t w, uint32_t e, int64_t *dense, int64_t *offset) {
    const twi_object *o = a->object;
    int64_t row = 0;
    *dense = *offset = 0;
    for (unsigned d = 0; d < o->rank; d++) {
        int64_t k = index_of(a, d, w, e);
        if (k < 0 || k >= a->object->extent[d]) {
            twi_run_fault(
                a->run, TWI_FAULT_OUTSIDE, a->v,
                "worker %u of group %lld %s %s outside: index %lld of dimension %u, extent %lld", w,
                (long long)a->run->group, a->write ? "writes" : "reads",
                twi_run_name(a->run, a->access->object), (long long)k, d,
                (long long)a->object->extent[d]);
            return false;
        }
        *dense = *dense * o->extent[d] + k;
        if (d + 1u == o->rank)
            k = twi_swizzle_at(o->swizzle, (int64_t)tw_elem_size((tw_elem)o->elem), row, k);
        *offset += k * a->store->stride[d];
        row = k;
    }
    return true;
}

/* Does element e of worker w take part? */
static bool takes_part(const access *a, const void *mask, bool wide, uint32_t w, uint32_t e) {
    if (!a->run->mask[w])
        return false;
    if (a->access->mask == TWI_MASK_COUNT)
        return twi_run_index(a->run, a->number, w) > (int64_t)e;
    if (a->access->mask == TWI_MASK_BOOL)
        return ((const uint8_t *)mask)[wide ? (size_t)w * a->count + e : w] != 0;
    return true;
}

static void prepare(twi_run *run, twi_lid v, bool write, access *a) {
    const twi_func *f = run->f;
    *a = (access){.run = run, .v = v, .ins = &f->ins.at[v], .write = write};
    a->access = &f->access.at[a->ins->attr];
    a->object = &f->object.at[a->access->object];
    a->store = run->object[a->access->object];
    uint32_t rank = a->object->rank;
    a->count = write ? f->ins.at[twi_larg(f, v, rank)].count : a->ins->count;
    a->steps = a->object->count > 1 ? 1 : a->count;
    for (unsigned d = 0; d < rank; d++) {
        twi_lid index = twi_larg(f, v, d);
        a->index[d] = index;
        a->vector[d] = f->ins.at[index].count > 1;
        a->gathers = a->gathers || a->vector[d];
    }
    if (a->access->mask == TWI_MASK_COUNT)
        a->number = twi_larg(f, v, rank + (write ? 1u : 0u));
}

static unsigned char *place(const access *a, int64_t offset, uint32_t w) {
    size_t size = tw_elem_size((tw_elem)a->object->elem);
    int64_t own = a->object->kind == TWI_OBJ_PRIVATE || a->object->kind == TWI_OBJ_SCRATCH
                      ? (int64_t)w * a->store->span
                      : 0;
    return a->store->data + (own + offset) * (int64_t)a->object->count * (int64_t)size;
}

static twi_shadow *shadow_place(const access *a, int64_t dense, uint32_t w) {
    if (!a->store->shadow)
        return NULL;
    int64_t own = a->object->kind == TWI_OBJ_PRIVATE || a->object->kind == TWI_OBJ_SCRATCH
                      ? (int64_t)w * a->store->size
                      : 0;
    return a->store->shadow + (own + dense) * (int64_t)a->object->count;
}

/* Elements of one step: 1, or the object's own count, of which a COUNT mask may take the first. */
static uint32_t step_elements(const access *a) {
    return a->steps == 1 && a->object->count > 1 ? a->count : 1;
}

static void tally(const access *a, uint64_t elements) {
    if (a->object->kind != TWI_OBJ_ARRAY)
        return;
    uint64_t *n = a->write ? a->run->result->counts.stores : a->run->result->counts.loads;
    n[a->object->array] += elements;
}

/* ---- bank conflicts ---- */

/* Adds a word that a subgroup touches; returns how many different ones its bank holds now. */
static uint32_t touch_bank(twi_run *run, uint32_t word, uint32_t *in_bank) {
    uint32_t slot = word * 2654435761u % TWI_BANK_SLOTS;
    for (uint32_t tries = 0; tries < TWI_BANK_SLOTS; tries++, slot = (slot + 1) % TWI_BANK_SLOTS) {
        if (run->bank_stamp[slot] != run->stamp) {
            run->bank_stamp[slot] = run->stamp;
            run->bank_word[slot] = word;
            return ++in_bank[word % TWI_BANKS];
        }
        if (run->bank_word[slot] == word)
            break;
    }
    return in_bank[word % TWI_BANKS];
}

static void wavefronts(const access *a, const void *mask, bool wide) {
    twi_run *run = a->run;
    size_t size = tw_elem_size((tw_elem)a->object->elem) * a->object->count;
    for (uint32_t s = 0; s < run->subs; s++) {
        uint32_t in_bank[TWI_BANKS] = {0}, most = 0;
        run->stamp++;
        for (uint32_t w = s * run->lanes; w < (s + 1) * run->lanes; w++)
            for (uint32_t e = 0; e < a->steps; e++) {
                int64_t dense, offset;
                if (!takes_part(a, mask, wide, w, e) || !address(a, w, e, &dense, &offset))
                    continue;
                for (size_t b = 0; b < size; b += 4) {
                    uint32_t n =
                        touch_bank(run, (uint32_t)(((size_t)offset * size + b) / 4), in_bank);
                    most = n > most ? n : most;
                }
            }
        run->result->counts.shared_wavefronts += most;
    }
}

/* ---- loads and stores ---- */

/* The whole row of one worker from memory that nobody writes: one check, one copy. */
static bool quick(const access *a, uint32_t w, unsigned char *to, size_t size) {
    if (a->store->cell || a->store->serial || a->store->shadow || a->gathers || a->access->mask ||
        a->object->rank == 0 || a->object->swizzle.span)
        return false;
    int64_t dense, first, last;
    unsigned dim = a->access->dim;
    if (!address(a, w, 0, &dense, &first) || !address(a, w, a->steps - 1, &dense, &last))
        return false;
    if (a->steps > 1 && a->store->stride[dim] != 1)
        return false;
    memcpy(to, place(a, first, w), size * a->count);
    tally(a, a->count);
    return true;
}

/* An object's whole vector at once. */
static bool whole(const access *a, uint32_t w, unsigned char *row, twi_shadow *shade) {
    size_t bytes = tw_elem_size((tw_elem)a->object->elem) * a->count;
    int64_t dense, offset;
    if (a->object->count == 1 || a->access->mask)
        return false;
    if (!address(a, w, 0, &dense, &offset)) {
        if (!a->write)
            memset(row, 0, bytes);
        return true;
    }
    watch(a, dense, w);
    unsigned char *at = place(a, offset, w);
    memcpy(a->write ? at : row, a->write ? row : at, bytes);
    twi_shadow *kept = shadow_place(a, dense, w);
    for (uint32_t e = 0; e < a->count && (kept || shade); e++) {
        if (a->write && kept)
            kept[e] = shade ? shade[e] : 0;
        else if (!a->write && shade)
            shade[e] = kept ? kept[e] : 0;
    }
    tally(a, a->count);
    return true;
}

static void load_row(const access *a, uint32_t w, const void *mask, bool wide,
                     const unsigned char *other) {
    twi_run *run = a->run;
    size_t size = twi_run_width(run, a->v);
    unsigned char *to = (unsigned char *)run->value[a->v] + (size_t)w * a->count * size;
    twi_shadow *shade = run->shadow[a->v] ? run->shadow[a->v] + (size_t)w * a->count : NULL;
    const twi_shadow *else_shade = NULL;
    if (a->access->has_else)
        else_shade = run->shadow[twi_larg(run->f, a->v, a->ins->nargs - 1)];
    if (whole(a, w, to, shade) || (!shade && quick(a, w, to, size)))
        return;
    uint32_t each = step_elements(a);
    uint64_t n = 0;
    for (uint32_t e = 0; e < a->count; e++) {
        int64_t dense, offset;
        uint32_t step = e / each;
        bool real = takes_part(a, mask, wide, w, e) && address(a, w, step, &dense, &offset);
        if (real) {
            if (e % each == 0)
                watch(a, dense, w);
            memcpy(to + e * size, place(a, offset, w) + (e % each) * size, size);
            n++;
        } else if (other) {
            memcpy(to + e * size, other + ((size_t)w * a->count + e) * size, size);
        } else {
            memset(to + e * size, 0, size);
        }
        if (shade) {
            const twi_shadow *from = real ? shadow_place(a, dense, w) : NULL;
            shade[e] = from                  ? from[e % each]
                       : !real && else_shade ? else_shade[(size_t)w * a->count + e]
                                             : 0;
        }
    }
    tally(a, n);
}

void twi_run_load(twi_run *run, twi_lid v) {
    access a;
    prepare(run, v, false, &a);
    unsigned k = a.object->rank;
    const void *mask = NULL, *other = NULL;
    bool wide = false;
    if (a.access->mask) {
        wide = run->f->ins.at[twi_larg(run->f, v, k)].count > 1;
        mask = twi_run_arg(run, v, k++);
    }
    if (a.access->has_else)
        other = twi_run_arg(run, v, k);
    if (a.object->kind == TWI_OBJ_SHARED)
        wavefronts(&a, mask, wide);
    for (uint32_t w = 0; w < run->workers; w++)
        if (run->mask[w])
            load_row(&a, w, mask, wide, other);
}

static void put(const access *a, unsigned char *to, const unsigned char *from, size_t size) {
    uint64_t was;
    tw_elem elem = (tw_elem)a->object->elem;
    if (!a->access->merge) {
        memcpy(to, from, size);
        return;
    }
    memcpy(&was, to, size);
    const twi_rows rows = {to, &was, from, NULL, 1};
    (void)twi_eval(a->access->merge, elem, elem, &rows);
}

static void store_row(const access *a, uint32_t w, const void *mask, bool wide, twi_lid value) {
    twi_run *run = a->run;
    size_t size = tw_elem_size((tw_elem)a->object->elem);
    unsigned char *from = (unsigned char *)run->value[value] + (size_t)w * a->count * size;
    twi_shadow *shade = run->shadow[value] ? run->shadow[value] + (size_t)w * a->count : NULL;
    if (whole(a, w, from, shade))
        return;
    uint32_t each = step_elements(a);
    uint64_t n = 0;
    for (uint32_t e = 0; e < a->count; e++) {
        int64_t dense, offset;
        if (!takes_part(a, mask, wide, w, e) || !address(a, w, e / each, &dense, &offset))
            continue;
        if (e % each == 0)
            watch(a, dense, w);
        put(a, place(a, offset, w) + (e % each) * size, from + e * size, size);
        twi_shadow *to = shadow_place(a, dense, w);
        if (to)
            to[e % each] = shade ? shade[e] : 0;
        n++;
    }
    tally(a, n);
}

void twi_run_store(twi_run *run, twi_lid v) {
    access a;
    prepare(run, v, true, &a);
    unsigned k = a.object->rank;
    twi_lid value = twi_larg(run->f, v, k++);
    const void *mask = NULL;
    bool wide = false;
    if (a.access->mask) {
        wide = run->f->ins.at[twi_larg(run->f, v, k)].count > 1;
        mask = twi_run_arg(run, v, k);
    }
    if (a.object->kind == TWI_OBJ_SHARED)
        wavefronts(&a, mask, wide);
    for (uint32_t w = 0; w < run->workers; w++)
        if (run->mask[w])
            store_row(&a, w, mask, wide, value);
}

void twi_run_missing(twi_run *run) {
    for (uint32_t k = 1; k < run->loop->array.n; k++) {
        const twi_larray *array = &run->loop->array.at[k];
        const twi_store *s = &run->array[k];
        if (array->role != TWI_OUT || !s->cell)
            continue;
        for (int64_t e = 0; e < s->size; e++)
            if (!s->cell[e].writer) {
                twi_object o = {.rank = array->rank};
                memcpy(o.extent, array->extent, sizeof o.extent);
                twi_run_fault(run, TWI_FAULT_MISSING, 0, "%s is never stored",
                              spelled(run->arena, twi_run_text(run, array->name, k), &o, e));
                return;
            }
    }
}
