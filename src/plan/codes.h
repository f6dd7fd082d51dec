/* SPDX-License-Identifier: Apache-2.0
 * The codes of diag.def as numbers.
 */
#ifndef TWI_PLAN_CODES_H
#define TWI_PLAN_CODES_H

typedef enum twi_plan_code {
#define TWI_DIAG(NAME, code, title) TWI_##NAME = code,
#include "plan/diag.def"
#undef TWI_DIAG
    TWI_PLAN_CODES_END
} twi_plan_code;

#endif
