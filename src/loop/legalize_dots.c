/* SPDX-License-Identifier: Apache-2.0
 * A dot product's step where there is no instruction for the whole: what loop.def says of `dots`,
 * in operations on f32 and i32.
 */
#include "loop/legalize.h"
#include "loop/legalize_math.h"

#include <float.h>

static twi_lid word(twi_cursor *c, uint32_t u) { return twi_lb_bits(c, TW_U32, u, 0); }

/* Subnormals become zeros of their sign. */
static twi_lid flushed(twi_cursor *c, twi_lid x) {
    static const float least = FLT_MIN;
    uint32_t bits;
    memcpy(&bits, &least, sizeof bits);
    twi_lid size = twi_lb_op(c, TWI_ABS, x, 0, 0);
    twi_lid small = twi_lb_op(c, TWI_LT, size, twi_lb_bits(c, TW_F32, bits, 0), 0);
    twi_lid sign =
        twi_lb_op(c, TWI_BAND, twi_lb_bitcast(c, TW_U32, x), word(c, UINT32_C(1) << 31), 0);
    return twi_lb_op(c, TWI_SELECT, small, twi_lb_bitcast(c, TW_F32, sign), x);
}

static twi_lid widened(twi_cursor *c, twi_lid half, const twi_caps *caps) {
    const tw_elem from = (tw_elem)c->f->ins.at[half].elem;
    if (twi_cast_spoken(caps, from, TW_F32))
        return twi_lb_cast(c, TW_F32, half);
    return twi_legal_cast(c, TW_F32, half, caps);
}

twi_lid twi_legal_dot_step(twi_cursor *c, twi_lid a, twi_lid b, twi_lid sum, const twi_caps *caps) {
    if (c->f->ins.at[sum].elem == TW_I32) {
        twi_lid x = twi_lb_cast(c, TW_I32, a), y = twi_lb_cast(c, TW_I32, b);
        return twi_lb_op(c, TWI_ADD, sum, twi_lb_op(c, TWI_MUL, x, y, 0), 0);
    }
    twi_lid x = flushed(c, widened(c, a, caps)), y = flushed(c, widened(c, b, caps));
    return flushed(c, twi_lb_op(c, TWI_FMA, x, y, flushed(c, sum)));
}

twi_lid twi_legal_dot_sum(twi_cursor *c, twi_lid x, twi_lid y) {
    return flushed(c, twi_lb_op(c, TWI_ADD, flushed(c, x), flushed(c, y), 0));
}
