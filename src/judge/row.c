/* SPDX-License-Identifier: Apache-2.0
 * Rows as records: fields end with unit separators, records with record separators. Other control
 * bytes, which no field should hold, become spaces.
 */
#include "judge/row.h"

#include <stddef.h>
#include <stdlib.h>

enum { UNIT = 0x1f, RECORD = 0x1e };

static const size_t texts[] = {offsetof(tw_verify_row, kernel),  offsetof(tw_verify_row, types),
                               offsetof(tw_verify_row, text),    offsetof(tw_verify_row, target),
                               offsetof(tw_verify_row, plan),    offsetof(tw_verify_row, how),
                               offsetof(tw_verify_row, fixture), offsetof(tw_verify_row, source),
                               offsetof(tw_verify_row, element), offsetof(tw_verify_row, got),
                               offsetof(tw_verify_row, want),    offsetof(tw_verify_row, bound),
                               offsetof(tw_verify_row, verdict), offsetof(tw_verify_row, note)};
enum { TEXTS = sizeof texts / sizeof texts[0], NUMBERS = 6 };

void twi_row_print(const tw_verify_row *row, twi_sb *out) {
    uint64_t worst;
    memcpy(&worst, &row->worst_over_bound, sizeof worst);
    for (size_t k = 0; k < TEXTS; k++) {
        const char *text = *(const char *const *)((const char *)row + texts[k]);
        for (const char *c = text ? text : ""; *c; c++)
            twi_sb_char(out, (unsigned char)*c < 0x20 ? ' ' : *c);
        twi_sb_char(out, UNIT);
    }
    const uint64_t numbers[NUMBERS] = {row->depth,
                                       worst,
                                       (uint64_t)row->undecided,
                                       (uint64_t)row->elements,
                                       (uint64_t)row->covered,
                                       row->failed};
    for (size_t k = 0; k < NUMBERS; k++)
        twi_sb_printf(out, "%llx%c", (unsigned long long)numbers[k], UNIT);
    twi_sb_char(out, RECORD);
}

static char *field(char **at, char *end) {
    char *from = *at, *c = memchr(from, UNIT, (size_t)(end - from));
    if (!c)
        return NULL;
    *c = 0;
    *at = c + 1;
    return from;
}

bool twi_row_parse(char **text, char *end, tw_verify_row *row) {
    char *at = *text, *stop = memchr(at, RECORD, (size_t)(end - at));
    uint64_t numbers[NUMBERS];
    if (!stop)
        return false;
    *text = stop + 1;
    *row = (tw_verify_row){0};
    for (size_t k = 0; k < TEXTS; k++) {
        char *found = field(&at, stop);
        if (!found)
            return false;
        *(const char **)((char *)row + texts[k]) = found;
    }
    for (size_t k = 0; k < NUMBERS; k++) {
        char *found = field(&at, stop);
        if (!found)
            return false;
        numbers[k] = strtoull(found, NULL, 16);
    }
    row->depth = (uint32_t)numbers[0];
    memcpy(&row->worst_over_bound, &numbers[1], sizeof numbers[1]);
    row->undecided = (int64_t)numbers[2];
    row->elements = (int64_t)numbers[3];
    row->covered = (int64_t)numbers[4];
    row->failed = numbers[5] != 0;
    return true;
}
