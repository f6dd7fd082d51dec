/* SPDX-License-Identifier: Apache-2.0
 * The model's figures of a plan beside the same figures counted over its loop IR: cost must not
 * drift from code.
 */
#include "compile/path.h"

#include <stddef.h>

#define FIELD(member)                                                                              \
    { #member, offsetof(twi_features, member) }
static const struct {
    const char *name;
    size_t offset;
} doubles[] = {FIELD(near_bytes), FIELD(lane_rounds), FIELD(barriers), FIELD(trips),
               FIELD(scattered),  FIELD(jumps),       FIELD(masked),   FIELD(turns),
               FIELD(rounds),     FIELD(indexed),     FIELD(crowded),  FIELD(again)},
  counts[] = {FIELD(code), FIELD(shared_bytes)};
#undef FIELD

static double double_at(const twi_features *f, size_t offset) {
    double v;
    memcpy(&v, (const char *)f + offset, sizeof v);
    return v;
}

static double count_at(const twi_features *f, size_t offset) {
    uint32_t v;
    memcpy(&v, (const char *)f + offset, sizeof v);
    return (double)v;
}

/* Who is told, of which scope; `launch` stands before the names of figures. */
typedef struct {
    const twi_path *p;
    uint32_t scope;
    const char *launch;
    tw_figure_fn fn;
    void *user;
} teller;

static void figure(const teller *to, const char *name, double tally, double count) {
    to->fn(to->user, to->scope, twi_format(to->p->arena, "%s%s", to->launch, name), tally, count);
}

#define TABLE(member)                                                                              \
    { #member, offsetof(twi_features, member) }
static const struct {
    const char *name;
    size_t offset;
} tables[] = {TABLE(load_bytes), TABLE(store_bytes), TABLE(loads), TABLE(stores), TABLE(sectors)};
#undef TABLE

/* Of a row that one side lacks nothing is counted there. */
static double row_at(const twi_features *f, size_t offset, uint32_t row) {
    const double *table;
    memcpy(&table, (const char *)f + offset, sizeof table);
    return row < f->arrays ? table[row] : 0;
}

static const char *row_name(const twi_path *p, const twi_features *c, uint32_t row) {
    for (uint32_t a = 1; a < p->loop->array.n; a++)
        if (c->row[a] == row)
            return twi_text(&p->ctx->names, p->loop->array.at[a].name);
    return twi_format(p->arena, "%u, which is not in the module", row);
}

static void by_array(const teller *to, const twi_features *t, const twi_features *c) {
    for (uint32_t row = 1; row < t->arrays || row < c->arrays; row++)
        for (size_t k = 0; k < sizeof tables / sizeof tables[0]; k++) {
            const double tally = row_at(t, tables[k].offset, row),
                         count = row_at(c, tables[k].offset, row);
            if (row < c->arrays || tally != 0)
                figure(to,
                       twi_format(to->p->arena, "%s %s", tables[k].name, row_name(to->p, c, row)),
                       tally, count);
        }
}

static void by_launch(const teller *to, const twi_features *t, const twi_features *c) {
    for (unsigned k = 0; k < TWI_PRICES; k++)
        figure(to, twi_format(to->p->arena, "ops of price %u", k), t->ops[k], c->ops[k]);
    for (size_t k = 0; k < sizeof doubles / sizeof doubles[0]; k++)
        figure(to, doubles[k].name, double_at(t, doubles[k].offset),
               double_at(c, doubles[k].offset));
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        figure(to, counts[k].name, count_at(t, counts[k].offset), count_at(c, counts[k].offset));
    figure(to, "groups", (double)t->groups, (double)c->groups);
    by_array(to, t, c);
}

static void tell(const twi_path *p, uint32_t scope, tw_figure_fn fn, void *user) {
    twi_features t, c;
    teller to = {p, scope, "", fn, user};
    twi_tally(p->arena, p->ir, &p->where.caps, &p->plans->scope[scope], &t);
    twi_count(p->arena, p->loop, scope, &c);
    by_launch(&to, &t, &c);
    figure(&to, "launches", t.then ? 2 : 1, c.then ? 2 : 1);
    if (!t.then || !c.then)
        return;
    to.launch = "second launch: ";
    by_launch(&to, t.then, c.then);
}

tw_status tw_plan_figures(tw_context *ctx, const tw_ir *ir, const tw_compile_options *o,
                          tw_figure_fn fn, void *user) {
    jmp_buf spot, *saved;
    twi_path p = {.ctx = ctx, .arena = &ctx->arena};
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return TW_ERR_MEMORY;
    }
    const bool ok = ir && twi_where_of(ctx, o, &p.where) && twi_path_specialise(&p, ir, o) &&
                    twi_path_class(&p, o->canonical, o->strided) && twi_path_plan(&p, o) &&
                    twi_path_lower(&p);
    for (uint32_t s = 0; ok && s < p.plans->n; s++)
        tell(&p, s, fn, user);
    if (!ir)
        (void)twi_no_ir(ctx);
    TWI_UNGUARD(&ctx->mem, saved);
    return ok ? TW_OK : TW_ERR_INPUT;
}
