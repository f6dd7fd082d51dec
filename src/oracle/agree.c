/* SPDX-License-Identifier: Apache-2.0
 * Whether a program that a pass has rewritten still means what the text says: both were run on the
 * same inputs, and where the rewritten one is known to lie, the text's value lies too.
 */
#include "oracle/eval.h"
#include <math.h>

/* q: of the storage type, to which one of them may be rounded already. */
static bool agree(const twi_allowed *x, const twi_allowed *text, twi_rounding q) {
    if (!x->covered || !text->covered || x->any || text->any)
        return true;
    if (x->nan || text->nan)
        return x->nan && text->nan;
    if (text->hi < x->lo || text->lo > x->hi)
        return false;
    double apart = fabs(text->v - x->v);
    return !(apart > (x->hi - x->lo) + 4.0 * (q.u * fabs(x->v) + q.eta));
}

const char *twi_oracle_agrees(twi_oracle *o, const twi_oracle *text) {
    for (uint32_t a = 1; a < o->ir->array.n; a++) {
        unsigned role = o->ir->array.at[a].role;
        if (role != TWI_OUT && role != TWI_INOUT)
            continue;
        for (size_t k = 0; k < o->array[a].total; k++) {
            twi_allowed x = twi_oracle_allowed(o, a, k), y = twi_oracle_allowed(text, a, k);
            if (agree(&x, &y, twi_rounding_of((tw_elem)o->array[a].elem)))
                continue;
            twi_sb sb;
            twi_sb_init(&sb, o->arena);
            twi_sb_printf(&sb, "element %zu of %s: the program as it was rewritten allows ", k,
                          twi_text(&o->ir->ctx->names, o->ir->array.at[a].name));
            twi_sb_f64(&sb, x.lo);
            twi_sb_str(&sb, " .. ");
            twi_sb_f64(&sb, x.hi);
            twi_sb_str(&sb, ", the text says ");
            twi_sb_f64(&sb, y.v);
            return twi_sb_text(&sb);
        }
    }
    return NULL;
}
