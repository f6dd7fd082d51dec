/* SPDX-License-Identifier: Apache-2.0
 * A case from plans to rows, in a process of its own.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "judge/unit.h"

#include "judge/child.h"
#include "judge/row.h"

#include <sys/mman.h>

static size_t bytes_of(const tw_ir *ir, uint32_t array) {
    int64_t extent[TWI_MAX_RANK];
    return twi_array_extents(ir, array, extent) * tw_elem_size((tw_elem)ir->array.at[array].elem);
}

static size_t aligned(size_t n) { return (n + 63) & ~(size_t)63; }

char *twi_result_of(const twi_unit *u, uint32_t trial, unsigned pass, uint32_t array) {
    return u->shared + (size_t)(u->fixture - u->from) * u->slot +
           aligned(u->trials * sizeof(twi_outcome)) + (trial * TWI_PASSES + pass) * u->results +
           u->offset[array];
}

const char *twi_first_error(tw_context *ctx, const char *otherwise) {
    for (uint32_t k = 0; k < ctx->diags.list.n; k++)
        if (ctx->diags.list.at[k].severity == TWI_ERROR)
            return ctx->diags.list.at[k].text;
    return otherwise;
}

void twi_unit_row(twi_unit *u, tw_verify_row *row) {
    twi_sb sb;
    row->kernel = twi_text(&u->ctx->names, u->c->ir->kernel);
    row->types = u->c->types;
    row->text = u->c->text;
    row->target = u->o->target ? u->o->target : "cpu";
    twi_sb_init(&sb, u->arena);
    twi_row_print(row, &sb);
    (void)twi_child_write(u->fd, twi_sb_text(&sb), sb.n);
}

static void refused(twi_unit *u, const char *how, const char *why) {
    tw_verify_row row = {
        .plan = "-", .how = how, .fixture = "-", .verdict = "refused", .note = why, .failed = true};
    twi_unit_row(u, &row);
}

/* The memory that parent and children share, and the tables of one pass. */
static bool make_shared(twi_unit *u) {
    u->offset = TWI_NEW_N(u->arena, size_t, u->ir->array.n + 1);
    u->input = TWI_NEW_N(u->arena, void *, u->ir->array.n + 1);
    u->scalar = TWI_NEW_N(u->arena, uint64_t, u->ir->scalar.n + 1);
    for (uint32_t a = 1; a < u->ir->array.n; a++) {
        u->offset[a] = u->results;
        if (twi_is_result(u->ir, a))
            u->results += aligned(bytes_of(u->ir, a) + 1);
        if (u->ir->array.at[a].role == TWI_IN || u->ir->array.at[a].role == TWI_INOUT)
            u->input[a] = twi_alloc(u->arena, bytes_of(u->ir, a) + 1);
    }
    u->slot =
        aligned(u->trials * sizeof(twi_outcome)) + aligned(u->trials * TWI_PASSES * u->results + 1);
    const size_t n = u->slot * (size_t)(u->to - u->from + 1);
    void *map = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    u->shared = map == MAP_FAILED ? NULL : map;
    return u->shared != NULL;
}

void twi_unit_inputs(twi_unit *u) {
    if (u->filled == u->fixture)
        return;
    u->filled = u->fixture;
    for (uint32_t a = 1; a < u->ir->array.n; a++)
        if (u->input[a])
            twi_fixture_fill(u->ir, a, u->fixture, u->o->seed, u->input[a]);
    for (uint32_t s = 1; s < u->ir->scalar.n; s++) {
        u->scalar[s] = twi_fixture_scalar(u->ir, s, u->fixture);
        for (size_t k = 0; k < u->c->n_scalars; k++)
            if (strcmp(u->c->scalars[k].name, twi_text(&u->ctx->names, u->ir->scalar.at[s].name)) ==
                0)
                u->scalar[s] = u->c->scalars[k].bits;
    }
}

bool twi_unit_wants(const twi_unit *u, twi_fixture fixture) {
    const char *list = u->c->fixture ? u->c->fixture : u->o->fixture;
    return list ? twi_fixtures_named(list) >> fixture & 1u : fixture != TWI_FIX_ZERO;
}

/* Those from .. to: run, then judged one by one. Inputs of one alone are made before there is a
 * child, which finds them; of several each side makes its own. */
static void fixtures(twi_unit *u) {
    u->fixture = u->from;
    if (u->from == u->to && twi_unit_wants(u, u->fixture))
        twi_unit_inputs(u);
    if (!twi_trials_run(u)) {
        refused(u, "-", "a child process could not be made");
        return;
    }
    for (u->fixture = u->from; u->fixture <= u->to; u->fixture++) {
        if (!twi_unit_wants(u, u->fixture))
            continue;
        twi_unit_inputs(u);
        twi_unit_judge(u);
    }
}

void twi_unit_run(twi_unit *u) {
    const tw_compile_options options = {.dims = u->c->dims, .n_dims = u->c->n_dims};
    twi_path p = {.ctx = u->ctx, .arena = u->arena};
    tw_diag_clear(u->ctx);
    if (!twi_where_find(u->ctx, u->o->target, &u->o->caps, u->o->pins, u->o->n_pins, &u->where)) {
        refused(u, "-", twi_first_error(u->ctx, "no such target"));
        return;
    }
    (void)twi_where_stored_model(u->ctx, &u->where); /* as run plans */
    p.where = u->where;
    if (!twi_path_specialise(&p, u->c->ir, &options)) {
        refused(u, "-", twi_first_error(u->ctx, "the case cannot be had"));
        return;
    }
    u->ir = p.spec;
    if (!twi_unit_plans(u))
        return;
    const bool together = twi_where_is_device(&u->where);
    u->from = TWI_FIX_NONE + 1;
    u->to = together ? TWI_FIXTURES - 1 : u->from;
    if (!make_shared(u)) {
        refused(u, "-", "no memory for the results");
        return;
    }
    while (u->from < TWI_FIXTURES) {
        fixtures(u);
        u->from = u->to + 1;
        u->to = u->from;
    }
}
