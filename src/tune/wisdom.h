/* SPDX-License-Identifier: Apache-2.0
 * Columns of wisdom: what the index and the text form hold of a row, in order.
 */
#ifndef TWI_TUNE_WISDOM_H
#define TWI_TUNE_WISDOM_H

#include "tune/store.h"

typedef struct {
    const char *name;
    char kind; /* 't' text, 'i' integer, 'f' float */
    size_t offset;
} twi_wisdom_column;
enum { TWI_WISDOM_COLUMNS = 24 };
extern const twi_wisdom_column twi_wisdom_columns[TWI_WISDOM_COLUMNS];

#endif
