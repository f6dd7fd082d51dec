/* SPDX-License-Identifier: Apache-2.0
 * Writing JSON.
 */
#include "cli/json.h"

#include <math.h>
#include <string.h>

/* Length of a well-formed UTF-8 sequence at the start of n bytes; 0: none. */
static size_t utf8(const unsigned char *c, size_t n) {
    static const struct {
        unsigned char from, to, low, high;
        size_t n;
    } rows[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
                {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
                {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        if (c[0] < rows[k].from || c[0] > rows[k].to || n < rows[k].n || c[1] < rows[k].low ||
            c[1] > rows[k].high)
            continue;
        for (size_t j = 2; j < rows[k].n; j++)
            if (c[j] < 0x80 || c[j] > 0xbf)
                return 0;
        return rows[k].n;
    }
    return 0;
}

void json_quote(text *s, const char *value, size_t n) {
    text_add(s, "\"", 1);
    for (size_t k = 0; k < n;) {
        unsigned char c = (unsigned char)value[k];
        size_t wide = c < 0x80 ? 1 : utf8((const unsigned char *)value + k, n - k);
        if (c == '"' || c == '\\')
            text_printf(s, "\\%c", c);
        else if (c == '\n')
            text_str(s, "\\n");
        else if (c < 0x20 || c == 0x7f)
            text_printf(s, "\\u%04x", (unsigned)c);
        else if (wide)
            text_add(s, value + k, wide);
        else
            text_str(s, "\\ufffd");
        k += wide ? wide : 1;
    }
    text_add(s, "\"", 1);
}

static void begin(text *s, const char *name) {
    if (s->n && s->at[s->n - 1] != '{' && s->at[s->n - 1] != '[')
        text_str(s, ",");
    if (name) {
        json_quote(s, name, strlen(name));
        text_str(s, ":");
    }
}

void json_open(text *s, const char *name, char bracket) {
    begin(s, name);
    text_add(s, &bracket, 1);
}

void json_close(text *s, char bracket) { text_add(s, &bracket, 1); }

void json_str(text *s, const char *name, const char *value) {
    begin(s, name);
    if (value)
        json_quote(s, value, strlen(value));
    else
        text_str(s, "null");
}

void json_int(text *s, const char *name, int64_t value) {
    begin(s, name);
    text_printf(s, "%lld", (long long)value);
}

void json_num(text *s, const char *name, double value) {
    begin(s, name);
    if (isfinite(value))
        text_number(s, value);
    else
        text_str(s, "null");
}

void json_bool(text *s, const char *name, bool value) {
    begin(s, name);
    text_str(s, value ? "true" : "false");
}
