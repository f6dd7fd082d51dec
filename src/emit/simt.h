/* SPDX-License-Identifier: Apache-2.0
 * Rows of simt.def by the classes of operands that they serve.
 */
#ifndef TWI_EMIT_SIMT_H
#define TWI_EMIT_SIMT_H

#include "emit/dialect.h"

#define TWI_SIMT_SAME(text)                                                                        \
    {                                                                                              \
        [TWI_CLASS_SINT] = {text, NULL}, [TWI_CLASS_UINT] = {text, NULL}, [TWI_CLASS_FLOAT] = {    \
            text,                                                                                  \
            NULL                                                                                   \
        }                                                                                          \
    }
#define TWI_SIMT_ANY(text)                                                                         \
    {                                                                                              \
        [TWI_CLASS_BOOL] = {text, NULL}, [TWI_CLASS_SINT] = {text, NULL},                          \
        [TWI_CLASS_UINT] = {text, NULL}, [TWI_CLASS_FLOAT] = {                                     \
            text,                                                                                  \
            NULL                                                                                   \
        }                                                                                          \
    }
#define TWI_SIMT_INT(text)                                                                         \
    {                                                                                              \
        [TWI_CLASS_SINT] = {text, NULL}, [TWI_CLASS_UINT] = { text, NULL }                         \
    }
#define TWI_SIMT_FLOAT(text)                                                                       \
    {                                                                                              \
        [TWI_CLASS_FLOAT] = { text, NULL }                                                         \
    }
/* Atomics of one operation, of integers and of floats. */
#define TWI_SIMT_MERGE(narrow, wide, real)                                                         \
    {                                                                                              \
        [TWI_CLASS_SINT] = {narrow, wide}, [TWI_CLASS_UINT] = {narrow, wide},                      \
        [TWI_CLASS_FLOAT] = {                                                                      \
            real,                                                                                  \
            real                                                                                   \
        }                                                                                          \
    }
#define TWI_SIMT_BOOL(text)                                                                        \
    {                                                                                              \
        [TWI_CLASS_BOOL] = { text, NULL }                                                          \
    }

#endif
