/* SPDX-License-Identifier: Apache-2.0
 * Rule V9: a legalized module holds only what its target speaks: a table of (operation, condition,
 * reason). legalize.c is the table of what takes those out; what it cannot take out (lanes where
 * there is no way between them, accesses wider than the widest) no plan for the target has.
 */
#include "loop/codes.h"
#include "loop/legalize.h"

#include "base/context.h"

typedef struct {
    const twi_caps *caps;
    const twi_func *f;
} target;

typedef struct {
    uint16_t op;
    bool (*when)(const target *t, twi_lid v);
    const char *why;
} refusal;

static const twi_lins *operand(const target *t, twi_lid v) {
    return &t->f->ins.at[twi_larg(t->f, v, 0)];
}

static bool function(const target *t, twi_lid v) { return t->f->ins.at[v].elem == TW_F32; }

static bool implicit(const target *t, twi_lid v) {
    (void)v;
    return !t->f->explicit_lanes;
}

static bool cast(const target *t, twi_lid v) {
    return !twi_cast_spoken(t->caps, (tw_elem)operand(t, v)->elem, (tw_elem)t->f->ins.at[v].elem);
}

static bool between(const target *t, twi_lid v) {
    const unsigned lanes = t->f->explicit_lanes ? operand(t, v)->count : t->f->lanes;
    return lanes > 1 && !t->caps->lane_ops;
}

static bool dots(const target *t, twi_lid v) { return !twi_dots_spoken(t->caps, t->f, v); }

/* Of vectors a dialect prints its own tree; between workers there are only exchanges. */
static bool fold(const target *t, twi_lid v) {
    const bool rounds = t->f->ins.at[v].attr >> 16 > 0;
    return between(t, v) || (!t->f->explicit_lanes && rounds);
}

static bool wide(const target *t, twi_lid v) {
    const twi_laccess *a = &t->f->access.at[t->f->ins.at[v].attr];
    const twi_object *o = &t->f->object.at[a->object];
    const twi_lid moved = twi_loop_stores(t->f->ins.at[v].op) ? twi_larg(t->f, v, o->rank) : v;
    const unsigned count = t->f->ins.at[moved].count;
    return !t->f->explicit_lanes && count > 1 &&
           count * tw_elem_size((tw_elem)o->elem) > t->caps->access_bytes;
}

static bool plain_copy(const target *t, twi_lid v) { return !twi_async_spoken(t->caps, t->f, v); }

static bool none_async(const target *t, twi_lid v) {
    (void)v;
    return !t->caps->async_bytes;
}

#define ASYNC "no copy of these bytes runs beside its worker"
#define FUNCTION "a function is written out in IEEE operations"
#define LANES "there are no operations between lanes"
#define WIDE "no worker accesses so many bytes at once"
static const refusal refusals[] = {
    {TWI_EXP, function, FUNCTION},
    {TWI_LOG, function, FUNCTION},
    {TWI_TANH, function, FUNCTION},
    {TWI_ERF, function, FUNCTION},
    {TWI_SCALE, implicit, "workers scale by products with powers of two"},
    {TWI_CAST, cast, "a narrow float is cast by integer operations, or from and to f32 alone"},
    {TWI_L_LANE_FOLD, fold, "a fold between lanes is made of exchanges, which some target lacks"},
    {TWI_L_LANE_XOR, between, LANES},
    {TWI_L_LANE_READ, between, LANES},
    {TWI_L_LANE_SHIFT, between, LANES},
    {TWI_L_DOTS, dots, "there is no instruction for dot products of these types and this width"},
    {TWI_L_LLOAD, wide, WIDE},
    {TWI_L_LSTORE, wide, WIDE},
    {TWI_L_ASYNC_COPY, plain_copy, ASYNC},
    {TWI_L_ASYNC_COMMIT, none_async, ASYNC},
    {TWI_L_ASYNC_WAIT, none_async, ASYNC},
};

static bool body(const twi_loop *loop, const target *t, uint32_t func, twi_lid first) {
    bool fine = true;
    for (twi_lid v = first; v; v = t->f->ins.at[v].next) {
        const twi_lins *i = &t->f->ins.at[v];
        for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
            if (refusals[k].op != i->op || !refusals[k].when(t, v))
                continue;
            twi_sb text;
            twi_sb_init(&text, &loop->ctx->arena);
            twi_loop_show(loop, func, v, &text);
            twi_error(&loop->ctx->diags, TWI_LOOP_E_V9, i->loc, NULL, "%s: on %s %s, in: %s",
                      twi_text(&loop->ctx->names, t->f->name),
                      twi_text(&loop->ctx->names, t->caps->name), refusals[k].why,
                      twi_sb_text(&text));
            fine = false;
        }
        fine = body(loop, t, func, i->body) && fine;
    }
    return fine;
}

bool twi_loop_spoken(const twi_loop *loop, const twi_caps *caps) {
    bool fine = true;
    for (uint32_t k = 0; k < loop->func.n; k++) {
        const target t = {caps, &loop->func.at[k]};
        fine = body(loop, &t, k, t.f->first) && fine;
    }
    return fine;
}
