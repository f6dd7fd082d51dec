/* SPDX-License-Identifier: Apache-2.0
 * Whether a program that a pass has rewritten still means what the text says: both were run on the
 * same inputs, and what one allows meets what the other allows. No more can be asked: a sum rounded
 * where its terms cancel afterwards has one value in one of them and several in the other.
 */
#include "oracle/eval.h"

static bool agree(const twi_allowed *x, const twi_allowed *text) {
    if (!x->covered || !text->covered || x->any || text->any)
        return true;
    if (x->nan || text->nan)
        return x->nan && text->nan;
    return text->hi >= x->lo && text->lo <= x->hi;
}

const char *twi_oracle_agrees(twi_oracle *o, const twi_oracle *text) {
    for (uint32_t a = 1; a < o->ir->array.n; a++) {
        unsigned role = o->ir->array.at[a].role;
        if (role != TWI_OUT && role != TWI_INOUT)
            continue;
        for (size_t k = 0; k < o->array[a].total; k++) {
            twi_allowed x = twi_oracle_allowed(o, a, k), y = twi_oracle_allowed(text, a, k);
            if (agree(&x, &y))
                continue;
            twi_sb sb;
            twi_sb_init(&sb, o->arena);
            twi_sb_printf(&sb, "element %zu of %s: the program as it was rewritten allows ", k,
                          twi_text(&o->ir->ctx->names, o->ir->array.at[a].name));
            twi_sb_f64(&sb, x.lo);
            twi_sb_str(&sb, " .. ");
            twi_sb_f64(&sb, x.hi);
            twi_sb_str(&sb, ", the text says ");
            twi_sb_f64(&sb, y.lo);
            twi_sb_str(&sb, " .. ");
            twi_sb_f64(&sb, y.hi);
            return twi_sb_text(&sb);
        }
    }
    return NULL;
}
