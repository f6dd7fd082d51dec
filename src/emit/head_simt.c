/* SPDX-License-Identifier: Apache-2.0
 * Kernels of implicit lanes: every worker of a group runs the body. A kernel takes the arrays that
 * it touches, then the scalars, strides and trips that it reads, and the number of the first group,
 * so that a grid larger than a launch may be is several launches. Words: twi_simt_words.
 */
#include "emit/dialect.h"

enum { ALIGN = 16 };

unsigned twi_emit_passed(const twi_func *f, const twi_dialect *dialect, twi_arena *arena,
                         twi_pass **out) {
    enum { USED = 1 << 15 };
    uint16_t *array = TWI_NEW_N(arena, uint16_t, f->object.n + 1);
    uint32_t scalars = 0, trips = 0, n = 0;
    for (uint32_t v = 1; v < f->ins.n; v++) {
        const twi_lins *ins = &f->ins.at[v];
        if (ins->op == TWI_L_LSCALAR && ins->attr >= scalars)
            scalars = ins->attr + 1;
        else if (ins->op == TWI_L_TRIP && ins->attr >= trips)
            trips = ins->attr + 1;
        else if (ins->op == TWI_L_STRIDE)
            array[ins->attr >> 4] |= (uint16_t)(1u << (ins->attr & 15));
        else if (twi_loop_accesses(ins->op))
            array[f->access.at[ins->attr].object] |=
                (uint16_t)(USED | f->object.at[f->access.at[ins->attr].object].dynamic);
    }
    bool *scalar = TWI_NEW_N(arena, bool, scalars + 1);
    for (uint32_t v = 1; v < f->ins.n; v++)
        if (f->ins.at[v].op == TWI_L_LSCALAR)
            scalar[f->ins.at[v].attr] = true;
    twi_pass *p =
        TWI_NEW_N(arena, twi_pass, f->object.n * (TWI_MAX_RANK + 2) + scalars + trips + 1);
    for (uint32_t i = 1; i < f->object.n; i++) {
        const twi_object *o = &f->object.at[i];
        if (o->kind != TWI_OBJ_ARRAY || !(array[i] & USED))
            continue;
        p[n++] = (twi_pass){.kind = TWI_PASS_ARRAY, .id = o->array};
        if (o->dynamic && dialect->simt->offsets) /* dense arrays start with element 0 */
            p[n++] = (twi_pass){.kind = TWI_PASS_OFFSET, .id = o->array};
    }
    for (uint32_t i = 0; i < scalars; i++)
        if (scalar[i])
            p[n++] = (twi_pass){.kind = TWI_PASS_SCALAR, .id = i};
    for (uint32_t i = 1; i < f->object.n; i++)
        for (uint8_t d = 0; d < TWI_MAX_RANK; d++)
            if (f->object.at[i].kind == TWI_OBJ_ARRAY && (unsigned)array[i] >> d & 1u)
                p[n++] = (twi_pass){.kind = TWI_PASS_STRIDE, .dim = d, .id = f->object.at[i].array};
    for (uint32_t i = 0; i < trips; i++)
        p[n++] = (twi_pass){.kind = TWI_PASS_TRIP, .id = i};
    p[n++] = (twi_pass){.kind = TWI_PASS_FIRST};
    *out = p;
    return n;
}

static uint64_t shared_before(const twi_func *f, uint32_t object) {
    uint64_t offset = 0;
    for (uint32_t i = 1; i < object; i++)
        if (f->object.at[i].kind == TWI_OBJ_SHARED)
            offset += (twi_object_bytes(&f->object.at[i]) + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
    return offset;
}

uint64_t twi_emit_shared(const twi_func *f) { return shared_before(f, f->object.n); }

static const char *number(twi_emitter *e, uint64_t n) {
    return twi_format(e->arena, "%llu", (unsigned long long)n);
}

/* The object of an array: objects of arrays stand first, but need not have their numbers. */
static uint32_t object_of(const twi_func *f, uint32_t array) {
    uint32_t i = 1;
    while (i < f->object.n &&
           (f->object.at[i].kind != TWI_OBJ_ARRAY || f->object.at[i].array != array))
        i++;
    return i;
}

static const char *stride(twi_emitter *e, uint32_t object, unsigned dim) {
    return twi_format(e->arena, "d%u_%s", dim, twi_object_text(e, object));
}

static const char *parameter(twi_emitter *e, const twi_pass *p) {
    const char *wide = e->d->type[TW_I64];
    const bool of_array = p->kind != TWI_PASS_SCALAR && p->kind < TWI_PASS_TRIP;
    const uint32_t object = of_array ? object_of(e->f, p->id) : 0;
    if (p->kind == TWI_PASS_ARRAY) {
        const twi_object *o = &e->f->object.at[object];
        const tw_elem elem = o->elem == TW_BOOL ? TW_U8 : (tw_elem)o->elem;
        const twi_spell s = {
            .from = elem,
            .to = elem,
            .count = 1,
            .arg = {o->role == TWI_IN ? "const " : "", twi_object_text(e, object)}};
        return twi_expand(e, e->d->simt->array, &s);
    }
    if (p->kind == TWI_PASS_SCALAR) {
        const uint8_t elem = e->loop->scalar.at[p->id].elem;
        return twi_format(e->arena, "%s s%u", e->d->type[elem == TW_BOOL ? TW_U8 : elem], p->id);
    }
    if (p->kind == TWI_PASS_OFFSET)
        return twi_format(e->arena, "%s from_%s", wide, twi_object_text(e, object));
    if (p->kind == TWI_PASS_STRIDE)
        return twi_format(e->arena, "%s %s", wide, stride(e, object, p->dim));
    if (p->kind == TWI_PASS_TRIP)
        return twi_format(e->arena, "%s trip%u", wide, p->id);
    return twi_format(e->arena, "%s first", wide);
}

static void signature(twi_emitter *e, uint32_t func, twi_sb *out) {
    const twi_spell s = {
        .from = TW_I64,
        .to = TW_I64,
        .count = 1,
        .arg = {number(e, (uint64_t)e->f->lanes * e->f->subs), number(e, e->f->lanes)}};
    twi_pass *pass;
    const unsigned n = twi_emit_passed(e->f, e->d, e->arena, &pass);
    twi_sb_char(out, '\n');
    if (e->d->simt->lanes && e->f->lanes > 1)
        twi_sb_str(out, twi_expand(e, e->d->simt->lanes, &s));
    twi_sb_printf(out, "%s %s(", twi_expand(e, e->d->simt->kernel, &s),
                  twi_emit_name(e->loop, e->d, func, e->arena));
    for (unsigned i = 0; i < n; i++)
        twi_sb_printf(out, "%s%s", i ? ",\n    " : "", parameter(e, &pass[i]));
    twi_sb_str(out, ")\n");
}

static void open_kernel(twi_emitter *e, twi_sb *out) {
    twi_pass *pass;
    const unsigned n = twi_emit_passed(e->f, e->d, e->arena, &pass);
    twi_sb_str(out, "{\n");
    for (unsigned i = 0; i < n; i++)
        if (pass[i].kind == TWI_PASS_OFFSET) {
            const char *name = twi_object_text(e, object_of(e->f, pass[i].id));
            twi_sb_printf(out, "    %s += from_%s;\n", name, name);
        }
    for (uint32_t i = 0; i < e->prologue.n; i++)
        twi_sb_printf(out, "    %s\n", e->prologue.at[i]);
    for (uint32_t i = 0; i < e->locals.n; i++)
        twi_sb_printf(out, "    %s\n", e->locals.at[i]);
}

static const char *id(twi_emitter *e, unsigned level, tw_elem elem) {
    const char *type = e->d->type[elem], *worker = e->d->simt->worker;
    const char *lanes = number(e, e->f->lanes);
    const char *name, *text;
    if (level == TWI_LV_GRID) {
        name = "group";
        text = twi_format(e->arena, "first + (%s)%s", e->d->type[TW_I64], e->d->simt->group);
        if (elem != TW_I64)
            text = twi_format(e->arena, "(%s)(%s)", type, text);
    } else if (level == TWI_LV_LANE) {
        name = "lane";
        text = e->d->simt->lane ? twi_format(e->arena, "(%s)%s", type, e->d->simt->lane)
                                : twi_format(e->arena, "(%s)(%s %% %s)", type, worker, lanes);
        if (e->f->lanes == 1)
            return "0";
    } else {
        name = "sub";
        text = e->f->lanes == 1  ? twi_format(e->arena, "(%s)%s", type, worker)
               : e->d->simt->sub ? twi_format(e->arena, "(%s)%s", type, e->d->simt->sub)
                                 : twi_format(e->arena, "(%s)(%s / %s)", type, worker, lanes);
    }
    twi_once(e, twi_format(e->arena, "const %s %s = %s;", type, name, text));
    return name;
}

static const char *argument(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    switch (ins->op) {
    case TWI_L_LSCALAR:
        return twi_format(e->arena, "s%u", ins->attr);
    case TWI_L_STRIDE:
        return stride(e, ins->attr >> 4, ins->attr & 15);
    case TWI_L_TRIP:
        return twi_format(e->arena, "trip%u", ins->attr);
    default:
        return id(e, ins->attr, (tw_elem)ins->elem);
    }
}

static void declare(twi_emitter *e, uint32_t object, const char *name) {
    const twi_object *o = &e->f->object.at[object];
    const tw_elem elem = o->elem == TW_BOOL ? TW_U8 : (tw_elem)o->elem;
    const twi_spell s = {
        .from = elem,
        .to = elem,
        .count = 1,
        .arg = {name, number(e, twi_object_elements(o)), number(e, shared_before(e->f, object))}};
    if (o->kind == TWI_OBJ_ARRAY) /* a parameter */
        return;
    const char *line;
    if (o->kind == TWI_OBJ_SHARED) {
        if (e->d->simt->shared_all)
            twi_once(e, e->d->simt->shared_all);
        line = twi_expand(e, e->d->simt->shared, &s);
    } else {
        line = twi_format(e->arena, "%s %s[%s];", e->d->type[elem], name, s.arg[1]);
    }
    twi_push(e->arena, &e->locals, line);
}

const twi_hooks twi_hooks_simt = {.signature = signature,
                                  .open = open_kernel,
                                  .close = "",
                                  .end = "}\n",
                                  .depth = 1,
                                  .argument = argument,
                                  .stride = stride,
                                  .declare = declare};
