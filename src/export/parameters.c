/* SPDX-License-Identifier: Apache-2.0
 * Parameters of the exported functions: extents, arrays, scalars, in order of declaration. Each
 * stands behind a prefix, so that no keyword and no macro of the caller's is met: n_R, a_X, s_eps.
 */
#include "export/export.h"

const char *twi_export_type(tw_elem elem) {
    static const char *const types[TW_ELEMS] = {
        [TW_BOOL] = "uint8_t", [TW_I8] = "int8_t",     [TW_I16] = "int16_t",  [TW_I32] = "int32_t",
        [TW_I64] = "int64_t",  [TW_U8] = "uint8_t",    [TW_U16] = "uint16_t", [TW_U32] = "uint32_t",
        [TW_U64] = "uint64_t", [TW_BF16] = "uint16_t", [TW_F16] = "uint16_t", [TW_F32] = "float",
        [TW_F64] = "double"};
    return types[elem];
}

const char *twi_export_given(const twi_export *x, char prefix, twi_sym name) {
    return twi_format(x->arena, "%c_%s", prefix, twi_text(&x->ctx->names, name));
}

void twi_export_dims(const twi_export *x, twi_sb *out) {
    for (uint32_t d = 1; d < x->ir->dim.n; d++)
        twi_sb_printf(out, "%sint64_t %s", d > 1 ? ", " : "",
                      twi_export_given(x, 'n', x->ir->dim.at[d].name));
}

/* What stands before: extents, or nothing. */
static void comma(twi_sb *out) {
    if (out->n && out->at[out->n - 1] != '(')
        twi_sb_str(out, ", ");
}

void twi_export_arrays(const twi_export *x, twi_sb *out) {
    for (uint32_t a = 1; a < x->ir->array.n; a++) {
        const twi_array *array = &x->ir->array.at[a];
        if (array->role == TWI_TEMP)
            continue;
        comma(out);
        twi_sb_printf(out, "%s%s *%s", array->role == TWI_IN ? "const " : "",
                      twi_export_type((tw_elem)array->elem), twi_export_given(x, 'a', array->name));
    }
    for (uint32_t s = 1; s < x->ir->scalar.n; s++) {
        const twi_scalar *scalar = &x->ir->scalar.at[s];
        comma(out);
        twi_sb_printf(out, "%s %s", twi_export_type((tw_elem)scalar->elem),
                      twi_export_given(x, 's', scalar->name));
    }
    if (x->workspace)
        twi_sb_str(out, ", void *workspace");
}

void twi_export_shape_text(const twi_export *x, uint32_t id, twi_sb *out) {
    const twi_array *array = &x->ir->array.at[id];
    twi_sb_char(out, '[');
    for (unsigned d = 0; d < array->rank; d++) {
        twi_sb_str(out, d ? ", " : "");
        twi_ix_text(x->ir, out, array->dim[d]);
    }
    twi_sb_char(out, ']');
}
