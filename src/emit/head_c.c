/* SPDX-License-Identifier: Apache-2.0
 * Functions of explicit lanes in C: an entry runs a range of groups, one after the other; arguments
 * come in tables by the ids of tile IR.
 */
#include "emit/dialect.h"

static void lines(twi_sb *out, const char *indent, const char *const *line, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        twi_sb_printf(out, "%s%s\n", indent, line[i]);
}

static void signature(twi_emitter *e, uint32_t func, twi_sb *out) {
    twi_sb_printf(out, "\n%svoid %s(%s)\n", e->d->linkage ? e->d->linkage : "",
                  twi_emit_name(e->loop, e->d, func, e->arena), e->d->parameters);
}

static void open_function(twi_emitter *e, twi_sb *out) {
    static const char *const unused[] = {"scalar", "stride", "trip", "scratch"};
    twi_sb_str(out, "{\n    (void)array");
    for (unsigned i = 0; i < 4; i++)
        if (!(e->parameters >> i & 1u))
            twi_sb_printf(out, ", (void)%s", unused[i]);
    twi_sb_str(out, ";\n");
    lines(out, "    ", e->prologue.at, e->prologue.n);
    twi_sb_str(out, "    for (long long group = lo; group < hi; group++) {\n");
    lines(out, "        ", e->locals.at, e->locals.n);
}

static const char *scalar_argument(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    const char *name = twi_format(e->arena, "s%u", ins->attr);
    const char *type = e->d->type[ins->elem];
    e->parameters |= TWI_USES_SCALAR;
    if (twi_class_of(ins->elem) == TWI_CLASS_FLOAT)
        twi_once(e, twi_format(e->arena, "%s %s; __builtin_memcpy(&%s, scalar + %u, sizeof %s);",
                               type, name, name, ins->attr, name));
    else
        twi_once(
            e, twi_format(e->arena, "const %s %s = (%s)scalar[%u];", type, name, type, ins->attr));
    return name;
}

static const char *argument(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    switch (ins->op) {
    case TWI_L_LSCALAR:
        return scalar_argument(e, v);
    case TWI_L_STRIDE: {
        const twi_object *o = &e->f->object.at[ins->attr >> 4];
        e->parameters |= TWI_USES_STRIDE;
        return twi_format(e->arena, "stride[%u]", o->array * TWI_MAX_RANK + (ins->attr & 15));
    }
    case TWI_L_TRIP:
        e->parameters |= TWI_USES_TRIP;
        return twi_format(e->arena, "trip[%u]", ins->attr);
    default:
        return ins->attr == TWI_LV_GRID ? "group" : "0";
    }
}

static const char *stride(twi_emitter *e, uint32_t object, unsigned dim) {
    const char *name = twi_format(e->arena, "d%u_%s", dim, twi_object_text(e, object));
    e->parameters |= TWI_USES_STRIDE;
    twi_once(e, twi_format(e->arena, "const long long %s = stride[%u];", name,
                           e->f->object.at[object].array * TWI_MAX_RANK + dim));
    return name;
}

static uint64_t scratch_before(const twi_func *f, uint32_t object) {
    uint64_t offset = 0;
    for (uint32_t i = 1; i < object; i++)
        if (twi_in_scratch(&f->object.at[i]))
            offset += (twi_object_bytes(&f->object.at[i]) + 63) & ~UINT64_C(63);
    return offset;
}

uint64_t twi_emit_scratch(const twi_func *f) { return scratch_before(f, f->object.n); }

static void declare(twi_emitter *e, uint32_t object, const char *name) {
    const twi_object *o = &e->f->object.at[object];
    const char *type = twi_object_type(e, object);
    if (o->kind == TWI_OBJ_ARRAY) {
        twi_once(e, twi_format(e->arena, "%s%s *restrict const %s = array[%u];",
                               o->role == TWI_IN ? "const " : "", type, name, o->array));
    } else if (twi_in_scratch(o)) {
        e->parameters |= TWI_USES_SCRATCH;
        twi_once(e, twi_format(e->arena, "%s *restrict const %s = (void *)(scratch + %llu);", type,
                               name, (unsigned long long)scratch_before(e->f, object)));
    } else {
        const char *line = twi_format(e->arena, "%s %s[%llu];", type, name,
                                      (unsigned long long)twi_object_elements(o));
        twi_push(e->arena, &e->locals, line);
    }
}

const twi_hooks twi_hooks_c = {.signature = signature,
                               .open = open_function,
                               .close = "    }\n",
                               .end = "}\n",
                               .call =
                                   "{\n    %s(array, scalar, stride, trip, scratch, lo, hi);\n}\n",
                               .depth = 2,
                               .argument = argument,
                               .stride = stride,
                               .declare = declare};
