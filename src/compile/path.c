/* SPDX-License-Identifier: Apache-2.0
 * The path of a kernel, step by step:
 *
 *     specialise   dims become numbers                     ir/
 *     class        lift, and canonical orders if asked     pass/, search/
 *     plan         default, random, or a text              search/, plan/
 *     lower        tile IR and plan become loop IR         lower/, verified by loop/
 *     source       legalized, found spoken, and printed    loop/, emit/
 *     build        see kernel.c                            target/
 *
 * A step that fails has said why.
 */
#include "compile/path.h"

#include "emit/emit.h"
#include "loop/legalize.h"
#include "pass/pass.h"
#include "plan/scope.h"

tw_status twi_no_ir(tw_context *ctx) {
    if (!ctx->diags.errors)
        twi_error(&ctx->diags, TWI_E_PATH_ARGUMENT, (twi_loc){0, 0},
                  "tw_program_build, tw_build_finish and tw_ir_from_text make one",
                  "there is no tile IR");
    return TW_ERR_INPUT;
}

static bool path_error(twi_path *p, uint16_t code, const char *help, const char *text) {
    twi_error(&p->ctx->diags, code, (twi_loc){0, 0}, help, "%s", text);
    return false;
}

static uint32_t dim_named(const tw_ir *ir, const char *name) {
    for (uint32_t d = 1; name && d < ir->dim.n; d++)
        if (strcmp(twi_text(&ir->ctx->names, ir->dim.at[d].name), name) == 0)
            return d;
    return 0;
}

static const char *dim_names(const tw_ir *ir, twi_arena *arena) {
    twi_sb sb;
    twi_sb_init(&sb, arena);
    for (uint32_t d = 1; d < ir->dim.n; d++)
        twi_sb_printf(&sb, "%s%s", d > 1 ? ", " : "",
                      twi_text(&ir->ctx->names, ir->dim.at[d].name));
    return sb.n ? twi_sb_text(&sb) : "none";
}

static bool dim_values(twi_path *p, const tw_ir *ir, const tw_compile_options *o, int64_t *dims) {
    for (uint32_t d = 1; d < ir->dim.n; d++)
        dims[d] = ir->dim.at[d].known ? ir->dim.at[d].value : -1;
    for (size_t k = 0; k < o->n_dims; k++) {
        uint32_t d = dim_named(ir, o->dims[k].name);
        if (!d)
            return path_error(p, TWI_E_PATH_DIM, NULL,
                              twi_format(p->arena, "there is no dim %s; the kernel has %s",
                                         o->dims[k].name ? o->dims[k].name : "without a name",
                                         dim_names(ir, p->arena)));
        if (o->dims[k].value < 0)
            return path_error(p, TWI_E_PATH_DIM, "an extent is 0 or more",
                              twi_format(p->arena, "dim %s cannot be %lld", o->dims[k].name,
                                         (long long)o->dims[k].value));
        if (dims[d] >= 0 && dims[d] != o->dims[k].value)
            return path_error(p, TWI_E_PATH_DIM, NULL,
                              twi_format(p->arena, "dim %s cannot be %lld: it is %lld",
                                         o->dims[k].name, (long long)o->dims[k].value,
                                         (long long)dims[d]));
        dims[d] = o->dims[k].value;
    }
    for (uint32_t d = 1; d < ir->dim.n; d++)
        if (dims[d] < 0)
            return path_error(p, TWI_E_PATH_DIM, NULL,
                              twi_format(p->arena, "no value for dim %s",
                                         twi_text(&ir->ctx->names, ir->dim.at[d].name)));
    return true;
}

bool twi_path_specialise(twi_path *p, const tw_ir *ir, const tw_compile_options *o) {
    int64_t *dims = TWI_NEW_N(p->arena, int64_t, ir->dim.n + 1);
    if (!dim_values(p, ir, o, dims))
        return false;
    p->spec = twi_ir_specialise(ir, p->arena, dims);
    return p->spec != NULL;
}

bool twi_path_class(twi_path *p, bool canonical, bool strided) {
    if (canonical && p->where.caps.probe)
        return path_error(p, TWI_E_PATH_CLASS, NULL,
                          twi_format(p->arena,
                                     "class canonical: the bit probe of %s failed (set %u)",
                                     p->where.name, p->where.caps.probe));
    tw_ir *ir = twi_ir_clone(p->spec, p->arena);
    for (twi_id v = 1; canonical && v < ir->ins.n; v++) {
        if (!twi_adds_loosely(ir, v))
            continue;
        const twi_array *a = &ir->array.at[ir->access.at[ir->ins.at[v].attr].array];
        return path_error(p, TWI_E_PATH_CLASS, "add integers, or reduce in a scope of its own",
                          twi_format(p->arena,
                                     "class canonical: atomic additions to %s come in any order",
                                     twi_text(&p->ctx->names, a->name)));
    }
    if (canonical)
        (void)twi_canonical_orders(ir);
    (void)opt_lift(ir);
    ir->strided = strided;
    p->ir = ir;
    return true;
}

static bool plan_from_text(twi_path *p, const tw_source *text) {
    twi_why why = {.text = ""};
    p->plans = TWI_NEW(p->arena, twi_plans);
    if (!twi_plan_parse(p->arena, p->ir, text->name, text->text, text->n, p->plans))
        return false;
    if (twi_search_legal(p->plans->ir, &p->where.caps, p->plans, &why))
        return true;
    return path_error(p, TWI_E_PATH_ILLEGAL, NULL,
                      twi_format(p->arena, "%s: the plan is not legal on %s: %s", text->name,
                                 p->where.name, why.text));
}

twi_plan_key twi_path_key(twi_path *p, const tw_compile_options *o) {
    twi_sb tile, numeric;
    twi_sb_init(&tile, p->arena);
    twi_sb_init(&numeric, p->arena);
    twi_ir_print(p->spec, &tile);
    twi_sb_printf(&numeric, "%s%s", o->canonical ? "canonical" : "free",
                  o->strided ? " strided" : "");
    for (size_t k = 0; k < o->n_pins; k++)
        twi_sb_printf(&numeric, "; %s", o->pins[k]);
    return (twi_plan_key){.tile = twi_sb_text(&tile),
                          .numeric = twi_sb_text(&numeric),
                          .target = o->target ? o->target : "cpu",
                          .device = twi_where_device(p->ctx, &p->where),
                          .compiler = p->compiler,
                          .threads = o->threads};
}

/* The plan that tuning chose: read and judged anew, and believed only if it is what it was. */
static bool plan_from_store(twi_path *p, const tw_compile_options *o) {
    const twi_shelf *shelf = p->ctx->shelf;
    twi_kept_plan *kept = TWI_NEW(p->arena, twi_kept_plan);
    const twi_plan_key key = twi_path_key(p, o);
    if (!shelf->plan(shelf->user, p->arena, &key, kept) ||
        !twi_path_replay(p, "the store", kept->text, &kept->hash))
        return false;
    p->kept = kept;
    return true;
}

static const uint8_t *layouts(twi_path *p, bool strided) {
    if (!strided)
        return NULL;
    uint8_t *layout = TWI_NEW_N(p->arena, uint8_t, p->ir->array.n + 1);
    for (uint32_t a = 1; a < p->ir->array.n; a++)
        layout[a] = p->ir->array.at[a].role != TWI_TEMP && p->ir->array.at[a].rank > 0;
    return layout;
}

static bool plan_by_name(twi_path *p, const tw_compile_options *o) {
    const char *name = o->plan ? o->plan : "default";
    const bool best = strcmp(name, "best") == 0;
    twi_wish wish = {o->pins, (uint32_t)o->n_pins};
    twi_why why = {.text = ""};
    int64_t seed = 0;
    if (!twi_search_pins(p->ir, &wish))
        return false;
    if (best && p->ctx->shelf && plan_from_store(p, o))
        return true;
    if (best || strcmp(name, "default") == 0)
        (void)twi_path_default(p, &wish, &why);
    else if (strncmp(name, "random:", 7) == 0 && twi_parse_i64(name + 7, strlen(name + 7), &seed))
        p->plans = twi_search_random(p->arena, p->ir, &p->where.caps, &wish, (uint64_t)seed, &why);
    else
        return path_error(p, TWI_E_PATH_ARGUMENT, "default, best, random:SEED",
                          twi_format(p->arena, "there is no plan '%.200s'", name));
    return p->plans ||
           path_error(p, TWI_E_PATH_NO_PLAN, NULL,
                      twi_format(p->arena, "no legal plan on %s: %s", p->where.name, why.text));
}

bool twi_path_plan(twi_path *p, const tw_compile_options *o) {
    if (!(o->plan_text.text ? plan_from_text(p, &o->plan_text) : plan_by_name(p, o)))
        return false;
    p->ir = p->plans->ir;
    p->plans->layout = layouts(p, o->strided);
    p->derived = TWI_NEW_N(p->arena, const char *, p->plans->n + 1);
    for (uint32_t s = 0; s < p->plans->n; s++)
        p->derived[s] = twi_plan_derived(p->arena, p->ir, &p->where.caps, &p->plans->scope[s]);
    return true;
}

const char *twi_path_caps(twi_path *p) {
    if (!p->caps) {
        twi_sb sb;
        twi_sb_init(&sb, p->arena);
        twi_caps_print(p->ctx, &p->where.caps, &sb);
        p->caps = twi_sb_text(&sb);
    }
    return p->caps;
}

const char *twi_path_plan_text(const twi_path *p, bool derived) {
    twi_sb sb;
    twi_sb_init(&sb, p->arena);
    twi_plan_print(p->ir, p->plans, derived ? p->derived : NULL, &sb);
    return twi_sb_text(&sb);
}

bool twi_path_lower(twi_path *p) {
    p->loop = twi_lower(p->arena, p->ir, &p->where.caps, p->plans);
    if (p->loop && twi_loop_verify(p->loop))
        return true;
    return path_error(p, TWI_E_PATH_FAULTY, NULL,
                      "lowering made loop IR that does not verify; this is a fault of Tilewright, "
                      "please report the plan");
}

/* Is it a module for these arguments? Extents are those that the oracle and the launcher go by. */
static bool same_arguments(twi_path *p) {
    const tw_ir *ir = p->ir;
    const uint32_t arrays = p->loop->array.n - (p->loop->status ? 1u : 0u);
    bool same = arrays == ir->array.n && p->loop->scalar.n == ir->scalar.n;
    for (uint32_t a = 1; same && a < ir->array.n; a++) {
        const twi_larray *have = &p->loop->array.at[a];
        const twi_array *want = &ir->array.at[a];
        int64_t extent[TWI_MAX_RANK] = {0};
        same = have->elem == want->elem && have->rank == want->rank && have->role == want->role;
        for (unsigned d = 0; same && d < want->rank; d++)
            same = twi_ix_is_const(ir, want->dim[d], &extent[d]) && extent[d] == have->extent[d];
    }
    return same || path_error(p, TWI_E_PATH_LOOP, NULL,
                              "the loop IR is for other arguments than the tile IR has");
}

/* The loop IR was lowered from a program with merged folds: so is it judged. */
static bool same_merges(twi_path *p) {
    if (!p->loop->merge.n)
        return true;
    tw_ir *ir = twi_ir_clone(p->ir, p->arena);
    for (uint32_t k = 0; k < p->loop->merge.n; k++)
        if (p->loop->merge.at[k] >= ir->ins.n || !opt_merge(ir, p->loop->merge.at[k]))
            return path_error(p, TWI_E_PATH_LOOP, NULL,
                              twi_format(p->arena,
                                         "the loop IR merges value %u, which this tile IR does not",
                                         p->loop->merge.at[k]));
    p->loop->ir = p->ir = ir;
    return true;
}

bool twi_path_loop_text(twi_path *p, const tw_source *text, bool faults) {
    p->loop = twi_loop_parse(p->ctx, p->arena, p->ir, text->name, text->text, text->n);
    return p->loop && (!p->ir || (same_arguments(p) && same_merges(p))) &&
           (twi_loop_verify(p->loop) || faults);
}

const char *twi_path_source(twi_path *p) {
    const twi_dialect *dialect = twi_where_dialect(p->ctx, &p->where);
    if (!dialect) {
        (void)path_error(p, TWI_E_PATH_TARGET, NULL,
                         twi_format(p->arena, "no dialect speaks for %s; its loop IR can be shown",
                                    p->where.name));
        return NULL;
    }
    const twi_loop *lawful = twi_legalize(p->loop, p->arena, &p->where.caps);
    if (!twi_loop_spoken(lawful, &p->where.caps)) {
        if (p->plans) /* else the loop IR was the caller's, and V9 has said it all */
            (void)path_error(p, TWI_E_PATH_FAULTY, NULL,
                             "a legal plan became loop IR that its target does not speak; this is "
                             "a fault of Tilewright, please report the plan");
        return NULL;
    }
    twi_sb sb;
    twi_sb_init(&sb, p->arena);
    twi_emit(lawful, dialect, &sb);
    p->printed = (twi_printed){p->loop, lawful, dialect, twi_sb_text(&sb), sb.n};
    return p->printed.text;
}
