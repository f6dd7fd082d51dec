/* SPDX-License-Identifier: Apache-2.0
 * Split folds: where a family's plan has too few groups to fill the target, the outermost time
 * digit of a folded axis goes to groups too. The second launch's plan is the best for what the
 * split leaves, searched once for each number of parts.
 */
#include "plan/split.h"
#include "search/view.h"

enum { MOST_PARTS = 12 }; /* numbers of parts for which a second launch is searched */

/* Second launches found so far. */
typedef struct {
    unsigned n;
    struct {
        int64_t parts;
        twi_plan *plan; /* NULL: none is legal */
    } at[MOST_PARTS];
} seconds;

static twi_plan *search_second(const twi_view *v, const twi_plan *p) {
    const tw_ir *ir = twi_split_ir(v->arena, v->ir, p);
    twi_candidate *c;
    uint32_t n = ir ? twi_search_list(v->arena, ir, v->caps, NULL, v->scope, &c) : 0;
    if (!n || !c[0].legal)
        return NULL;
    c[0].plan->second = true;
    c[0].plan->entry = p->entry;
    return c[0].plan;
}

static twi_plan *second(seconds *s, const twi_view *v, const twi_plan *p, unsigned axis) {
    int64_t parts = p->frame[0].map[axis].d[0].extent;
    for (unsigned k = 0; k < s->n; k++)
        if (s->at[k].parts == parts)
            return s->at[k].plan;
    if (s->n == MOST_PARTS)
        return NULL;
    s->at[s->n].parts = parts;
    s->at[s->n].plan = search_second(v, p);
    return s->at[s->n++].plan;
}

/* The folded axis whose outermost digit runs in time and is longest; 0: none. */
static unsigned split_axis(const twi_view *v, const twi_plan *p) {
    unsigned best = 0;
    int64_t most = 1;
    for (unsigned a = 1; a < v->ir->axis.n; a++) {
        const twi_digit *d = &p->frame[0].map[a].d[0];
        bool time = d->level == TWI_LV_LOOP || d->level == TWI_LV_SERIAL;
        if (!(v->folded >> a & 1) || (v->chain >> a & 1) || v->axis[a].kind != TWI_AXIS_FULL ||
            !v->axis[a].known || !time || d->extent <= most)
            continue;
        most = d->extent;
        best = a;
    }
    return best;
}

/* The plan with `parts` groups where it had one. */
static void offer_parts(twi_offers *o, seconds *s, const char *family, const twi_plan *from,
                        unsigned axis, int64_t parts) {
    const twi_view *v = o->view;
    twi_plan *p = twi_copy(v->arena, from, sizeof *from);
    twi_map *m = &p->frame[0].map[axis];
    int64_t rest = twi_cdiv(m->d[0].extent, parts);
    p->place.at = NULL; /* what keeps values beyond the first launch goes */
    p->place.n = p->place.cap = 0;
    for (uint32_t k = 0; k < from->place.n; k++) {
        twi_place place = from->place.at[k];
        place.keep = TWI_KEEP_NONE;
        twi_push(v->arena, &p->place, place);
    }
    if (rest > 1) {
        if (m->n == TWI_MAX_DIGITS)
            return;
        memmove(&m->d[1], &m->d[0], m->n * sizeof m->d[0]);
        m->n++;
        m->d[1].extent = rest;
        for (unsigned k = 0; k < p->stages; k++) /* the same digits, one further right */
            for (unsigned i = 0; i < p->stage[k].n; i++)
                p->stage[k].order[i].digit =
                    (uint8_t)(p->stage[k].order[i].digit + (p->stage[k].order[i].axis == axis));
    } else if (m->d[0].level == TWI_LV_SERIAL) {
        return; /* stages need their trips */
    }
    m->d[0] = (twi_digit){.level = TWI_LV_GRID, .extent = twi_cdiv(m->d[0].extent, rest)};
    twi_view_finish(v, p);
    p->then = second(s, v, p, axis);
    if (p->then)
        twi_offer(o, family, p);
}

void twi_propose_splits(twi_offers *o) {
    const twi_view *v = o->view;
    seconds s = {0};
    uint32_t n = o->n;
    if (v->caps->family != TWI_FAMILY_SIMT || v->serial || v->again)
        return;
    for (uint32_t i = 0; i < n; i++) {
        const twi_plan *p = o->at[i].plan;
        int64_t groups = twi_plan_groups(p), units = v->caps->units;
        unsigned axis = p->frames == 1 && !p->then ? split_axis(v, p) : 0;
        if (!axis || groups < 1 || groups > units)
            continue;
        for (int64_t fill = 1; fill <= 4; fill *= 2) {
            int64_t parts = (fill * units + groups / 2) / groups;
            int64_t most = p->frame[0].map[axis].d[0].extent;
            bool all = parts > most || v->canonical >> axis & 1; /* a chunk a group */
            if (parts > 1)
                offer_parts(o, &s, o->at[i].family, p, axis, all ? most : parts);
        }
    }
}
