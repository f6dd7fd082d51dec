/* SPDX-License-Identifier: Apache-2.0
 * Aligned tables: columns as wide as their widest cell, numbers to the right.
 */
#ifndef TWI_CLI_TABLE_H
#define TWI_CLI_TABLE_H

#include "cli/tool.h"

typedef struct table {
    tool *t;
    size_t columns, n, cap;
    const char **cell; /* row-major; row 0 is the head */
} table;

void table_init(table *b, tool *t, const char *const *head, size_t columns);
void table_row(table *b, const char *const *cells);
void table_print(const table *b, text *out); /* colour as the tool has it */
const char *table_time(tool *t, double ns);  /* "12.3 us" */

#endif
