/* SPDX-License-Identifier: Apache-2.0
 * Arithmetic and text of swizzles.
 */
#include "map/swizzle.h"

static unsigned log2_of(int64_t n) {
    unsigned k = 0;
    while (n >> k > 1)
        k++;
    return k;
}

static bool is_power(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

twi_swizzle_bits twi_swizzle_bits_of(twi_swizzle s, int64_t elem) {
    const unsigned unit = log2_of(s.unit / elem), rows = log2_of(s.rows);
    return (twi_swizzle_bits){.left = unit > rows ? unit - rows : 0,
                              .right = rows > unit ? rows - unit : 0,
                              .mask = s.span / elem - s.unit / elem};
}

int64_t twi_swizzle_at(twi_swizzle s, int64_t elem, int64_t row, int64_t at) {
    if (!s.span)
        return at;
    const twi_swizzle_bits b = twi_swizzle_bits_of(s, elem);
    return at ^ (row << b.left >> b.right & b.mask);
}

bool twi_swizzle_equal(twi_swizzle s, twi_swizzle t) {
    return s.span == t.span && (!s.span || (s.unit == t.unit && s.rows == t.rows));
}

const char *twi_swizzle_fault(twi_swizzle s, int64_t elem, int64_t row_elements) {
    if (!is_power(s.span) || !is_power(s.unit) || !is_power(s.rows) || s.span > TWI_SWIZZLE_SPAN ||
        s.unit > TWI_SWIZZLE_UNIT || s.rows > TWI_SWIZZLE_ROWS)
        return "span, unit and rows are powers of two, up to 1024 bytes, 16 bytes and 128";
    if (s.unit >= s.span)
        return "a span has two units at least";
    if (s.unit < elem)
        return "a unit holds whole elements";
    return row_elements * elem % s.span ? "rows are not whole spans" : NULL;
}

void twi_swizzle_print(twi_swizzle s, twi_sb *out) {
    twi_sb_printf(out, "swizzle %u", s.span);
    if (s.unit != TWI_SWIZZLE_UNIT)
        twi_sb_printf(out, " unit %u", s.unit);
    if (s.rows != 1)
        twi_sb_printf(out, " rows %u", s.rows);
}
