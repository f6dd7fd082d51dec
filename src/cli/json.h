/* SPDX-License-Identifier: Apache-2.0
 * Writing JSON: members and items in order; commas come by themselves. Numbers that are not finite
 * become null.
 */
#ifndef TWI_CLI_JSON_H
#define TWI_CLI_JSON_H

#include "cli/tool.h"

/* name NULL: an item of an array. */
void json_open(text *s, const char *name, char bracket);     /* '{' or '[' */
void json_close(text *s, char bracket);                      /* '}' or ']' */
void json_str(text *s, const char *name, const char *value); /* NULL: null */
void json_int(text *s, const char *name, int64_t value);
void json_num(text *s, const char *name, double value);
void json_bool(text *s, const char *name, bool value);
void json_quote(text *s, const char *value, size_t n);

#endif
