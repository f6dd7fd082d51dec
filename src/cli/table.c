/* SPDX-License-Identifier: Apache-2.0
 * Aligned tables.
 */
#include "cli/table.h"

#include <string.h>

void table_init(table *b, tool *t, const char *const *head, size_t columns) {
    *b = (table){.t = t, .columns = columns};
    table_row(b, head);
}

void table_row(table *b, const char *const *cells) {
    if (b->n == b->cap) {
        size_t cap = b->cap ? b->cap * 2 : 16;
        const char **grown = tool_alloc(b->t, cap * b->columns, sizeof *grown);
        if (b->n)
            memcpy(grown, b->cell, b->n * b->columns * sizeof *grown);
        b->cell = grown;
        b->cap = cap;
    }
    for (size_t k = 0; k < b->columns; k++)
        b->cell[b->n * b->columns + k] = cells[k] ? cells[k] : "";
    b->n++;
}

/* Columns on a screen: bytes that are no continuation of a UTF-8 sequence. */
static size_t width(const char *cell) {
    size_t n = 0;
    for (; *cell; cell++)
        n += ((unsigned char)*cell & 0xc0) != 0x80;
    return n;
}

/* Sixteen hex digits are the hash of a plan: a name, whatever digit it starts with. */
static bool numeric(const char *cell) {
    if (strspn(cell, "0123456789abcdef") == 16)
        return false;
    return (*cell >= '0' && *cell <= '9') || *cell == '-' || *cell == '.' ||
           strcmp(cell, "inf") == 0 || !*cell;
}

static const char *paint(const table *b, size_t row, const char *cell) {
    static const struct {
        const char *word, *color;
    } words[] = {{"right", "\033[32m"},   {"wrong", "\033[31m"},        {"crashed", "\033[31m"},
                 {"timeout", "\033[31m"}, {"fault", "\033[31m"},        {"stray", "\033[31m"},
                 {"refused", "\033[33m"}, {"not probative", "\033[33m"}};
    if (!b->t->color)
        return NULL;
    if (row == 0)
        return "\033[1m";
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        if (strcmp(cell, words[k].word) == 0)
            return words[k].color;
    return NULL;
}

void table_print(const table *b, text *out) {
    size_t *wide = tool_alloc(b->t, b->columns, sizeof *wide);
    bool *right = tool_alloc(b->t, b->columns, sizeof *right);
    for (size_t k = 0; k < b->columns; k++) {
        right[k] = b->n > 1;
        for (size_t r = 0; r < b->n; r++) {
            const char *cell = b->cell[r * b->columns + k];
            wide[k] = width(cell) > wide[k] ? width(cell) : wide[k];
            right[k] = right[k] && (r == 0 || numeric(cell));
        }
    }
    for (size_t r = 0; r < b->n; r++) {
        size_t pending = 0; /* blanks at the end of a line are not written */
        for (size_t k = 0; k < b->columns; k++) {
            const char *cell = b->cell[r * b->columns + k], *color = paint(b, r, cell);
            size_t blanks = wide[k] - width(cell);
            pending += right[k] ? blanks : 0;
            if (*cell) {
                text_printf(out, "%*s", (int)pending, "");
                text_printf(out, "%s%s%s", color ? color : "", cell, color ? "\033[0m" : "");
                pending = 0;
            }
            pending += (right[k] ? 0 : blanks) + 2;
        }
        text_str(out, "\n");
    }
}

const char *table_time(tool *t, double ns) {
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    text s = {.t = t};
    for (size_t k = 0; k < 3; k++)
        if (ns >= units[k].unit) {
            text_fixed(&s, ns / units[k].unit, 2);
            text_printf(&s, " %s", units[k].name);
            return s.at;
        }
    text_fixed(&s, ns, 0);
    text_str(&s, " ns");
    return s.at;
}
