/* SPDX-License-Identifier: Apache-2.0
 * Words of plan text: one table for printer and parser. NULL: the default, which is not written.
 */
#ifndef TWI_PLAN_WORDS_H
#define TWI_PLAN_WORDS_H

#include "plan/plan.h"

enum {
    TWI_WORDS_KEEP,
    TWI_WORDS_FOLD,
    TWI_WORDS_ATOM,
    TWI_WORDS_VIA,
    TWI_WORDS_GROUPS,
    TWI_WORDS_COPY,
    TWI_WORDS_CLASS,
    TWI_WORD_SETS
};
#define TWI_MAX_WORDS 6
extern const char *const twi_plan_words[TWI_WORD_SETS][TWI_MAX_WORDS];

/* Digits that count elements inside a stage; the others choose which tile it holds. */
static inline bool twi_stage_inside(unsigned level) {
    return level != TWI_LV_GRID && level != TWI_LV_CLUSTER && level != TWI_LV_SERIAL;
}

#endif
