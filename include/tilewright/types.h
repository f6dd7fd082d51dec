/* SPDX-License-Identifier: Apache-2.0
 * Tilewright: types that every part of the interface shares.
 */
#ifndef TILEWRIGHT_TYPES_H
#define TILEWRIGHT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TW_API __attribute__((visibility("default")))
#else
#define TW_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a call came to. Details are diagnostics of the context (context.h). */
typedef enum tw_status {
    TW_OK = 0,
    TW_ERR_WRONG,   /* a result was judged wrong (exit 1) */
    TW_ERR_INPUT,   /* wrong use or input: program, arguments, plan (exit 2) */
    TW_ERR_ENV,     /* the environment: compiler, driver, device, disk (exit 3) */
    TW_ERR_MEMORY,  /* out of memory (exit 3) */
    TW_ERR_INDEX,   /* a checked index of the program left its array */
    TW_ERR_INTERNAL /* a fault of Tilewright itself (exit 4) */
} tw_status;

/* Element types. Order never matters; names are those of the tile language. */
typedef enum tw_elem {
    TW_NONE = 0,
    TW_BOOL,
    TW_I8,
    TW_I16,
    TW_I32,
    TW_I64,
    TW_U8,
    TW_U16,
    TW_U32,
    TW_U64,
    TW_F8E4M3,
    TW_F8E5M2,
    TW_BF16,
    TW_F16,
    TW_F32,
    TW_F64,
    TW_ELEMS
} tw_elem;

/* Bytes of one element (bool: 1); "f32" and so on; TW_NONE for an unknown name. */
TW_API size_t tw_elem_size(tw_elem elem);
TW_API const char *tw_elem_name(tw_elem elem);
TW_API tw_elem tw_elem_named(const char *name);

/* A tensor somebody else owns. Layout and codes are those of DLPack's DLTensor. */
typedef struct tw_device {
    int32_t type; /* 1: CPU, 2: CUDA, 4: OpenCL */
    int32_t id;
} tw_device;
typedef struct tw_dtype {
    uint8_t code, bits;
    uint16_t lanes;
} tw_dtype;
typedef struct tw_tensor {
    void *data;
    tw_device device;
    int32_t rank;
    tw_dtype dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: dense, row-major */
    uint64_t byte_offset;
} tw_tensor;

TW_API tw_dtype tw_elem_dtype(tw_elem elem);
TW_API tw_elem tw_dtype_elem(tw_dtype dtype); /* TW_NONE: a type Tilewright does not know */

#ifdef __cplusplus
}
#endif
#endif
