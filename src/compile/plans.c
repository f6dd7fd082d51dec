/* SPDX-License-Identifier: Apache-2.0
 * Plans that a kernel could have, and why one it cannot have is refused.
 */
#include "compile/path.h"

/* Both questions start alike: up to the lifted IR on the target's caps. */
static bool prepare(twi_path *p, const tw_ir *ir, const tw_compile_options *o) {
    return twi_where_of(p->ctx, o, &p->where) && twi_path_specialise(p, ir, o) &&
           twi_path_class(p, o->canonical, o->strided);
}

static tw_candidate view(twi_path *p, const twi_candidate *c) {
    twi_plans one = {.ir = c->ir, .n = 1, .scope = c->plan};
    twi_sb sb;
    twi_sb_init(&sb, p->arena);
    twi_plan_print(c->ir, &one, NULL, &sb);
    return (tw_candidate){
        .family = c->family,
        .plan = twi_sb_text(&sb),
        .derived = c->legal ? twi_plan_derived(p->arena, c->ir, &p->where.caps, c->plan) : "",
        .hash = twi_plan_hash(c->ir, &one),
        .score_ns = c->score,
        .refused = c->legal ? NULL : c->why.text,
        .features = c->legal ? twi_features_text(p->arena, &c->features) : ""};
}

static tw_status list(twi_path *p, const tw_ir *ir, const tw_compile_options *o, tw_candidate_fn fn,
                      void *user) {
    twi_wish wish = {o->pins, (uint32_t)o->n_pins};
    if (!prepare(p, ir, o) || !twi_search_pins(p->ir, &wish))
        return TW_ERR_INPUT;
    const twi_caps caps = twi_where_shared(&p->where);
    uint32_t scopes = 0;
    for (uint32_t r = 1; r < p->ir->region.n; r++)
        scopes += p->ir->region.at[r].kind == TWI_REGION_PAR;
    for (uint32_t s = 0; s < scopes; s++) {
        twi_candidate *all;
        uint32_t n = twi_search_list(p->arena, p->ir, &caps, &wish, s, &all);
        for (uint32_t k = 0; k < n; k++) {
            tw_candidate one = view(p, &all[k]);
            fn(user, &one);
        }
    }
    return TW_OK;
}

tw_status tw_plan_list(tw_context *ctx, const tw_ir *ir, const tw_compile_options *o,
                       tw_candidate_fn fn, void *user) {
    jmp_buf spot, *saved;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return TW_ERR_MEMORY;
    }
    twi_path p = {.ctx = ctx, .arena = &ctx->arena};
    tw_status status = ir ? list(&p, ir, o, fn, user) : twi_no_ir(ctx);
    TWI_UNGUARD(&ctx->mem, saved);
    return status;
}

const char *tw_plan_why_not(tw_context *ctx, const tw_ir *ir, const tw_compile_options *o,
                            const char *pin) {
    jmp_buf spot, *saved;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return NULL;
    }
    twi_path p = {.ctx = ctx, .arena = &ctx->arena};
    twi_wish wish = {&pin, 1};
    const char *answer = NULL;
    if (!ir)
        (void)twi_no_ir(ctx);
    else if (prepare(&p, ir, o) && twi_search_pins(p.ir, &wish)) {
        twi_why why = {.text = ""};
        const twi_caps caps = twi_where_shared(&p.where);
        bool legal = twi_search_why_not(p.arena, p.ir, &caps, pin, &why);
        answer = twi_format(p.arena, "%s%s", legal ? "legal: " : "", why.text);
    }
    TWI_UNGUARD(&ctx->mem, saved);
    return answer;
}
