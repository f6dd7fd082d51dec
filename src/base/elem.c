/* SPDX-License-Identifier: Apache-2.0
 * Element types: names, sizes, DLPack codes.
 */
#include "tilewright/types.h"

#include <string.h>

/* Codes of DLPack's DLDataTypeCode. */
enum {
    DL_INT = 0,
    DL_UINT = 1,
    DL_FLOAT = 2,
    DL_BFLOAT = 4,
    DL_BOOL = 6,
    DL_F8E4M3FN = 10,
    DL_F8E5M2 = 12
};

typedef struct {
    const char *name;
    uint8_t code, bits;
} row;
static const row table[TW_ELEMS] = {
    [TW_NONE] = {"none", 0, 0},
    [TW_BOOL] = {"bool", DL_BOOL, 8},
    [TW_I8] = {"i8", DL_INT, 8},
    [TW_I16] = {"i16", DL_INT, 16},
    [TW_I32] = {"i32", DL_INT, 32},
    [TW_I64] = {"i64", DL_INT, 64},
    [TW_U8] = {"u8", DL_UINT, 8},
    [TW_U16] = {"u16", DL_UINT, 16},
    [TW_U32] = {"u32", DL_UINT, 32},
    [TW_U64] = {"u64", DL_UINT, 64},
    [TW_F8E4M3] = {"f8e4m3", DL_F8E4M3FN, 8},
    [TW_F8E5M2] = {"f8e5m2", DL_F8E5M2, 8},
    [TW_BF16] = {"bf16", DL_BFLOAT, 16},
    [TW_F16] = {"f16", DL_FLOAT, 16},
    [TW_F32] = {"f32", DL_FLOAT, 32},
    [TW_F64] = {"f64", DL_FLOAT, 64},
};

static const row *row_of(tw_elem elem) {
    return &table[(unsigned)elem < TW_ELEMS ? (unsigned)elem : 0u];
}

size_t tw_elem_size(tw_elem elem) { return row_of(elem)->bits / 8u; }

const char *tw_elem_name(tw_elem elem) { return row_of(elem)->name; }

tw_elem tw_elem_named(const char *name) {
    if (name)
        for (unsigned e = 1; e < TW_ELEMS; e++)
            if (strcmp(table[e].name, name) == 0)
                return (tw_elem)e;
    return TW_NONE;
}

tw_dtype tw_elem_dtype(tw_elem elem) {
    const row *r = row_of(elem);
    return (tw_dtype){r->code, r->bits, 1};
}

tw_elem tw_dtype_elem(tw_dtype dtype) {
    if (dtype.lanes == 1 && dtype.bits != 0)
        for (unsigned e = 1; e < TW_ELEMS; e++)
            if (table[e].code == dtype.code && table[e].bits == dtype.bits)
                return (tw_elem)e;
    return TW_NONE;
}
