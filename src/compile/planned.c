/* SPDX-License-Identifier: Apache-2.0
 * The default plan. A search is a function of the tile IR, the caps with the model's prices, and
 * the pins: what a context has searched for already is read back from its text, and asked for
 * legality as every plan that was written down.
 */
#include "caps/costs.h"
#include "compile/path.h"

static const char *key_of(twi_path *p, const twi_caps *caps, const twi_wish *wish) {
    twi_sb sb;
    twi_sb_init(&sb, p->arena);
    twi_ir_print(p->ir, &sb);
    twi_sb_str(&sb, twi_path_caps(p));
    twi_sb_printf(&sb, "strided %d reversed %d units %u\n", p->ir->strided, caps->reversed,
                  (unsigned)caps->units);
    for (unsigned k = 0; caps->fitted && k < TWI_COSTS; k++) {
        uint64_t bits;
        memcpy(&bits, &caps->fitted[k], sizeof bits);
        twi_sb_printf(&sb, "price %llx\n", (unsigned long long)bits);
    }
    for (uint32_t k = 0; k < wish->n_pins; k++)
        twi_sb_printf(&sb, "pin %s\n", wish->pins[k]);
    return twi_sb_text(&sb);
}

bool twi_path_replay(twi_path *p, const char *name, const char *text, const uint64_t *hash) {
    twi_diags *diags = &p->ctx->diags;
    const twi_diags before = *diags;
    twi_plans *plans = TWI_NEW(p->arena, twi_plans);
    twi_why why = {.text = ""};
    const bool good = twi_plan_parse(p->arena, p->ir, name, text, strlen(text), plans) &&
                      (!hash || twi_plan_hash(plans->ir, plans) == *hash) &&
                      twi_search_legal(plans->ir, &p->where.caps, plans, &why);
    diags->files.n = before.files.n; /* nobody is shown a text that goes with this path */
    if (good) {
        p->plans = plans;
        return true;
    }
    diags->list.n = before.list.n; /* a miss; what the parser said of it is of no use to anybody */
    diags->errors = before.errors;
    diags->warnings = before.warnings;
    return false;
}

bool twi_path_default(twi_path *p, const twi_wish *wish, twi_why *why) {
    twi_notes *notes = &p->ctx->planned;
    const twi_caps caps = twi_where_shared(&p->where);
    const char *key = key_of(p, &caps, wish), *text = twi_notes_find(notes, key);
    if (text && twi_path_replay(p, "a plan of before", twi_strdup(p->arena, text), NULL))
        return true;
    p->plans = twi_search_default(p->arena, p->ir, &caps, wish, why);
    if (!p->plans)
        return false;
    twi_sb sb;
    twi_sb_init(&sb, p->arena);
    twi_plan_print(p->plans->ir, p->plans, NULL, &sb);
    twi_notes_add(notes, key, twi_sb_text(&sb));
    return true;
}
